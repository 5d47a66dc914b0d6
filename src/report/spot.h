/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `farthing plan spot`, and its writers. */
#ifndef FTH_REPORT_SPOT_H
#define FTH_REPORT_SPOT_H

#include "optimize/spot.h"
#include "report/format.h"

/* Another way to buy the capacity, for comparison. */
struct fth_spot_alternative {
	const char *policy;
	double cost, availability;
	uint64_t total;
	bool met, on_demand;
};

struct fth_spot_report {
	const char *policy;
	const struct fth_spot_problem *problem;
	const struct fth_spot_plan *plan;
	double on_demand; /* reference per hour; 0: none known */
	double bound;     /* proven lower bound per hour */
	bool bound_exact;
	double wall_s;
	const struct fth_spot_alternative *alternatives; /* the table's; may be none */
	size_t nalternatives;
	const char *iam_fleet_role; /* of node pools */
};

double fth_spot_report_gap(const struct fth_spot_report *r); /* (cost - bound) / bound */

void fth_spot_json(const struct fth_spot_report *r, struct fth_str *out); /* `farthing.plan.spot/1` */
void fth_spot_json_in(const struct fth_spot_report *r, struct fth_json *j, const char *key); /* the same, within another */
void fth_spot_table(const struct fth_spot_report *r, bool colour, struct fth_str *out);
void fth_spot_csv(const struct fth_spot_report *r, struct fth_str *out);

/* Files to apply. */
void fth_spot_create_fleet(const struct fth_spot_report *r, struct fth_str *out); /* EC2 CreateFleet request, JSON */
void fth_spot_karpenter(const struct fth_spot_report *r, struct fth_str *out);    /* Karpenter NodePools, YAML */
void fth_spot_kube_aws(const struct fth_spot_report *r, struct fth_str *out);     /* kube-aws worker node pools, YAML */

#endif
