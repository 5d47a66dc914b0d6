/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `farthing plan reserve`, and its writers. */
#ifndef FTH_REPORT_RESERVE_H
#define FTH_REPORT_RESERVE_H

#include "optimize/reserve.h"

struct fth_reserve_report_plan {
	char method[64];
	struct fth_portfolio portfolio;
};
/* Cost against the number committed of one class for the whole time. */
struct fth_reserve_curve {
	uint32_t class;
	FTH_VEC(double) count, usd;
};
struct fth_reserve_report {
	const struct fth_reserve_market *market;
	const struct fth_demand *demand;
	double lower_bound;  /* of the pure cost of any portfolio */
	double competitive;  /* the paper's bound, equation 5 */
	bool dual_bound;     /* the bound is that of the exact planner, better than the paper's */
	FTH_VEC(struct fth_reserve_report_plan) plans;
	FTH_VEC(struct fth_reserve_curve) curves;
	double wall_s;
	const char *version, *command;
};
void fth_reserve_report_release(struct fth_reserve_report *r);
/* The plan of least pure cost. */
size_t fth_reserve_report_best(const struct fth_reserve_report *r);
/* `farthing.plan.reserve/1` */
void fth_reserve_json(const struct fth_reserve_report *r, struct fth_str *out);
void fth_reserve_csv(const struct fth_reserve_report *r, struct fth_str *out); /* a row per purchase */
void fth_reserve_table(const struct fth_reserve_report *r, bool colour, struct fth_str *out);
void fth_reserve_html(const struct fth_reserve_report *r, struct fth_str *out);

#endif
