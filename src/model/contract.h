/* SPDX-License-Identifier: Apache-2.0 */
/* Contracts as a planner sees them, and the use of machines over time that they are bought for. */
#ifndef FTH_MODEL_CONTRACT_H
#define FTH_MODEL_CONTRACT_H

#include "base/base.h"
#include "model/catalog.h"

struct fth_reserve_class {
	fth_sym name;
	fth_time term;      /* > 0 */
	double upfront;     /* dollars */
	double price;       /* dollars per hour */
	bool every_hour;    /* paid for the whole term, used or not */
	bool savings_plan;  /* told as dollars per hour committed; the price is that of a machine under it */
	int64_t most;       /* never hold more than this many at once; -1: no limit */
};

/* Classes, deepest discount (lowest price per hour) first, and of one price the longest term first. */
struct fth_reserve_market {
	struct fth_symtab *syms; /* borrowed */
	double on_demand;        /* dollars per hour */
	FTH_VEC(struct fth_reserve_class) classes;
};
void fth_reserve_market_release(struct fth_reserve_market *m);
/* Order the classes; -EINVAL if one has no term, or an hourly price above on demand. */
int fth_reserve_market_finish(struct fth_reserve_market *m, struct fth_error *err);
/* The contracts of a catalog for the type of this offer. -ENOENT: it has none. */
int fth_reserve_market_of(struct fth_reserve_market *m, struct fth_symtab *syms, const struct fth_catalog *c, fth_offer_id o,
			  struct fth_error *err);
/* So many machines more (or less) are in use from then on. */
struct fth_demand_step {
	fth_time at;
	int64_t change;
};
/* A series of use: steps in any order, and the time it speaks of. */
struct fth_demand_series {
	FTH_VEC(struct fth_demand_step) steps;
	fth_time start, end;
};
void fth_demand_series_release(struct fth_demand_series *s);

#endif
