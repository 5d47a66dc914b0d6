/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most valuable filling of one machine: an exact bounded knapsack in several resources.
 *
 * Values, demands and capacities are integers and so is every comparison, so that what is reported as
 * an upper bound is one, whatever the rounding of the duals that were turned into values.
 */
#ifndef FTH_OPTIMIZE_PRICING_H
#define FTH_OPTIMIZE_PRICING_H

#include "base/base.h"

/* One machine: its capacity, and what each item needs there. */
struct fth_pricer;

/* usable[i] == 0: item i cannot run there; demand is copied. */
struct fth_pricer *fth_pricer_new(const struct fth_res *capacity, const struct fth_res *demand, const char *usable,
				  uint32_t nitems);
void fth_pricer_free(struct fth_pricer *p);

struct fth_filling {
	uint32_t item, copies;
};

struct fth_priced {
	bool found;     /* a filling worth more than the floor; the best one seen follows */
	int64_t value;
	int64_t bound;  /* no filling is worth more (never below the floor) */
	bool complete;  /* the search ended by itself, so that value (or the floor) is the optimum */
	uint64_t nodes;
	const struct fth_filling *parts; /* the pricer's, until its next use; in no special order */
	uint32_t nparts;
};

/*
 * The best filling with at most limit[i] copies of item i, of value value[i] each (values <= 0 are left
 * out), if it is worth more than `floor`; at most max_nodes nodes are visited. The sum of limit x value
 * must stay below 2^61.
 */
void fth_pricer_solve(struct fth_pricer *p, const int64_t *value, const int64_t *limit, int64_t floor,
		      uint64_t max_nodes, struct fth_priced *ret);

#endif
