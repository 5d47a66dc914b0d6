/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `farthing plan pack`, and its writers. */
#ifndef FTH_REPORT_PACK_H
#define FTH_REPORT_PACK_H

#include "base/base.h"

struct fth_pack_instance {
	const char *type;
	uint32_t repeat; /* this many in a row hold the same number of tasks each; >= 1 */
	fth_price price; /* of one */
	const char *const *tasks; /* ntasks names for each of the repeat instances, one after another */
	uint32_t ntasks;          /* on one instance */
};

struct fth_pack_report {
	const char *method;  /* what made the plan, e.g. "full-reconfiguration" */
	fth_price cost;      /* of all, per hour */
	fth_price bound;     /* proven: no plan is cheaper */
	double gap;          /* (cost - bound) / bound */
	fth_price no_packing; /* every task alone on its cheapest type */
	bool optimal;        /* proven */
	const struct fth_pack_instance *instances;
	size_t ninstances;
	double wall_s;
	const char *workload, *version, *command; /* for the page; may be NULL */
};

/* `farthing.plan.pack/1` */
void fth_pack_json(const struct fth_pack_report *p, struct fth_str *out);
/* Equal instances in one line. */
void fth_pack_table(const struct fth_pack_report *p, bool colour, struct fth_str *out);
/* A page of its own. */
void fth_pack_html(const struct fth_pack_report *p, struct fth_str *out);
/* One row per task: instance number, type, price, task. */
void fth_pack_csv(const struct fth_pack_report *p, struct fth_str *out);

#endif
