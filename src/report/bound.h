/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `farthing bound`, and its writers. */
#ifndef FTH_REPORT_BOUND_H
#define FTH_REPORT_BOUND_H

#include "optimize/bound.h"

struct fth_bound_report {
	const struct fth_bound *bound;
	const struct fth_catalog *catalog;
	const struct fth_symtab *syms;
	const char *workload; /* its name */
	struct fth_workload_summary summary;
	double wall_s;
};

/* `farthing.bound/1` */
void fth_bound_json(const struct fth_bound_report *r, struct fth_str *out);
/* One row per kind of task. */
void fth_bound_csv(const struct fth_bound_report *r, struct fth_str *out);
/* For people: the bound, the machines of the ideal mix, what an hour of each kind of task is worth. */
void fth_bound_table(const struct fth_bound_report *r, bool colour, struct fth_str *out);

#endif
