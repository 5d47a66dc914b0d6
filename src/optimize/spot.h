/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which transient machines to hold so that a capacity is there with a given probability, for the fewest dollars.
 *
 * Every planner is deterministic: the same problem gives the same pool.
 */
#ifndef FTH_OPTIMIZE_SPOT_H
#define FTH_OPTIMIZE_SPOT_H

#include "base/base.h"
#include "model/spot.h"
#include "optimize/availability.h"
#include "optimize/correlated.h"

struct fth_spot_problem {
	const struct fth_spot_offer *offers;
	uint32_t noffers;
	uint64_t capacity; /* >= 1 */
	double target;     /* 0 < target < 1 */
	int64_t memory;    /* MiB that the whole pool must have at least; 0: no matter */
	double failure;    /* share of time by which failures lower every availability (0.0001 in the paper); 0: none */
	const struct fth_joint *joint; /* how offers fall together; NULL: each on its own */
	uint64_t effort;   /* of the search, 1..100; 0: 10 */
};

/* No pool of these offers that meets target and memory is cheaper. */
struct fth_spot_bound {
	double cost;    /* INFINITY: there is no pool at all */
	bool exact;     /* of divisible machines there is a pool at this price: the gap is rounding alone */
	uint64_t nodes; /* looked at */
};

struct fth_spot_plan {
	uint32_t *count;     /* of each offer */
	uint32_t *on_demand; /* of each offer's machine, rented on demand */
	bool met;            /* availability >= target, and memory */
	bool fallback;       /* on demand is what to rent */
	double cost;         /* per hour */
	double availability;
	uint64_t total;      /* capacity of the pool */
	int64_t memory;
	uint64_t steps;      /* machines added, or pools looked at */
	struct fth_spot_bound bound; /* of the search only; nodes is 0 if none was made */
};
void fth_spot_plan_release(struct fth_spot_plan *p);

/* Reject what cannot be planned: no offers, target or capacity out of range, an offer that is not as said above (named). */
int fth_spot_check(const struct fth_spot_problem *p, struct fth_error *err);

/* An offer's availability with failures taken off. */
double fth_spot_p(const struct fth_spot_problem *p, uint32_t offer);
/* The cheapest on-demand price of the capacity, machines divisible (the paper's reference); 0: no on-demand price is known. */
double fth_spot_on_demand(const struct fth_spot_problem *p);
/* Fill cost, availability, total, memory and met of a plan from its counts. */
void fth_spot_measure(const struct fth_spot_problem *p, struct fth_spot_plan *plan);

/* The planners. They fail only on what fth_spot_check refuses; a target missed is in the plan's `met`. */
typedef int fth_spot_planner(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err);

fth_spot_planner fth_spot_tr;           /* the paper's greedy, with its stop rules */
fth_spot_planner fth_spot_tr_artifact;  /* the released program's */
fth_spot_planner fth_spot_cheapest;     /* Spot Fleet: the cheapest only */
fth_spot_planner fth_spot_diverse;      /* Spot Fleet: the ten cheapest in turn */
fth_spot_planner fth_spot_available;    /* greedy by availability */
fth_spot_planner fth_spot_all_on_demand;
fth_spot_planner fth_spot_search;       /* ours */

struct fth_spot_method {
	const char *name, *summary;
	fth_spot_planner *plan;
};
extern const struct fth_spot_method fth_spot_methods[]; /* ended by a NULL name; the first is the default */

/* nodes: how long to look (0: the default). */
int fth_spot_lower_bound(const struct fth_spot_problem *p, uint64_t nodes, struct fth_spot_bound *ret, struct fth_error *err);

/* The best availability any pool of these offers can have, however dear: every kind alone holds the capacity. */
double fth_spot_best_reachable(const struct fth_spot_problem *p, double *ret_cost);

#endif
