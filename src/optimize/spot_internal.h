/* SPDX-License-Identifier: Apache-2.0 */
/* What the spot planners share. Internal to this folder. */
#ifndef FTH_OPTIMIZE_SPOT_INTERNAL_H
#define FTH_OPTIMIZE_SPOT_INTERNAL_H

#include "optimize/spot.h"

/* A distribution over capacities is an array: this many units are enough, and 8 MiB. */
enum { FTH_SPOT_CAPACITY_MAX = 1000000 };

void fth_spot_plan_init(const struct fth_spot_problem *p, struct fth_spot_plan *plan);
double fth_spot_unit_price(const struct fth_spot_offer *o);
/* If machines on demand meet the target and the plan does not, or not for less, they become the plan. */
bool fth_spot_try_on_demand(const struct fth_spot_problem *p, struct fth_spot_plan *plan);
/* The lower bound, and the divisible pool that the search for it saw last: of the capacity, this share held by each offer. */
int fth_spot_relax(const struct fth_spot_problem *p, uint64_t nodes, struct fth_spot_bound *ret, double *share, struct fth_error *err);

#endif
