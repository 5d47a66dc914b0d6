/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the exact commitment planner share. */
#ifndef FTH_OPTIMIZE_RESERVE_INTERNAL_H
#define FTH_OPTIMIZE_RESERVE_INTERNAL_H

#include "optimize/reserve.h"

/*
 * How many to buy and when, if what c in force save in row i is known and each saves no more than the one
 * before it. Rows are nodes; what is in force flows from row to row, and a purchase leads from its end back to its
 * beginning: a flow with convex costs, so its optimum is whole, and its potentials prove it.
 */
struct fth_reserve_deal {
	uint32_t row, until; /* in force from the one to before the other */
	double fee;
	int64_t bought;      /* in: where to begin; out: the optimum */
};
struct fth_reserve_flow {
	uint32_t rows, levels;
	struct fth_reserve_deal *deals;
	size_t ndeals;
	const double *saved;   /* rows x (levels + 1): by the first c of them; more than `levels` save no more */
	int64_t most;          /* never more in force; -1: no limit */
	int64_t *held;         /* in force, as the deals have it */
	double *value;         /* out: what one in force in a row is worth; rows of them */
};
/* Steps of `step` (a power of two) first, then ever smaller ones. False: stopped early, it is no optimum yet. */
bool fth_reserve_flow_solve(struct fth_reserve_flow *f, int64_t step);

/* What one bought at this row costs within the demand: its share of the fee, and its hours if all are paid. */
double fth_reserve_fee(const struct fth_reserve_market *m, const struct fth_demand *d, uint32_t row, size_t k);
/* What an hour of use costs under a class in force; past the last class: on demand. */
double fth_reserve_marginal(const struct fth_reserve_market *m, size_t k);
/* A bound at least as good as `bound` by raising, class by class and set by set, what an hour in force of it is worth; and a plan
 * that these values suggest. */
double fth_reserve_ascend(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d, double bound);
/* The portfolio made cheaper until no class can do better while the others stay. */
void fth_reserve_improve(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d);

#endif
