/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a pool of transient machines is there, with what probability.
 *
 * Machines of one kind (a type in a zone) come and go together: kind i is worth w_i units of capacity with
 * probability p_i, else nothing. Kinds are independent here (see correlated.h for those that are not), so the
 * distribution of the pool is the product of two-point distributions. Multiplying by one of them is one pass of a
 * shifted addition, cheaper than any transform: a pool of k kinds costs k x capacity additions and no rounding but theirs.
 */
#ifndef FTH_OPTIMIZE_AVAILABILITY_H
#define FTH_OPTIMIZE_AVAILABILITY_H

#include "base/base.h"

/* Probability of exactly c units for every c < len; what is above is not kept. */
struct fth_capacity_dist {
	double *pmf, *spare;
	size_t len;
};
void fth_capacity_dist_init(struct fth_capacity_dist *d, size_t len); /* of the empty pool; len >= 1 */
void fth_capacity_dist_release(struct fth_capacity_dist *d);
void fth_capacity_dist_reset(struct fth_capacity_dist *d);            /* back to the empty pool */
/* Lengths must be the same. */
void fth_capacity_dist_copy(struct fth_capacity_dist *to, const struct fth_capacity_dist *from);
/* A kind joins the pool; weight 0 changes nothing. */
void fth_capacity_dist_add(struct fth_capacity_dist *d, uint64_t weight, double p);
/* Two independent pools become one. */
void fth_capacity_dist_merge(struct fth_capacity_dist *d, const struct fth_capacity_dist *other);
/* Probability of fewer than m units, m <= len: the sum in increasing order of capacity. */
double fth_capacity_dist_below(const struct fth_capacity_dist *d, uint64_t m);

/* One kind in a pool. */
struct fth_pool_part {
	uint64_t weight;
	double p;
};

/* Probability that n parts give at least m units: 1 - (sum below m), as the published prototype computes it. */
double fth_pool_availability(const struct fth_pool_part *parts, size_t n, uint64_t m);

/* The probability of fewer than m units by branching over the parts, heaviest first: every branch ends as soon as m is reached or
 * out of reach. It does not grow with m, and for pools of up to some fifteen kinds it is much faster than the distribution. A branch
 * less probable than `floor` counts as falling short: with 0 the result is exact, else never below the true one. Once it is above
 * `enough` (1: never) it need not be told further. parts are sorted by weight, heaviest first. Gives up with a negative value after
 * max_steps (0: never). */
double fth_pool_shortfall(const struct fth_pool_part *parts, size_t n, uint64_t m, double floor, double enough, uint64_t max_steps);

/* ---- services of several tiers (all must have their capacity at the same time) ---- */

struct fth_tier {
	const struct fth_pool_part *parts; /* one per kind, in the same order for every tier; weight 0: not used */
	uint64_t capacity;
};
struct fth_tiers_availability {
	double independent; /* as if every tier had machines of its own fate */
	double lowest;      /* of the worst tier: what fully dependent tiers have */
	double actual;      /* kinds fall together wherever they serve */
};
/* All tiers draw on the same nkinds kinds (p of a kind is the same in all). -E2BIG: too many kinds
 * serve several tiers. */
enum { FTH_TIERS_SHARED_MAX = 40 };
int fth_tiers_availability(const struct fth_tier *tiers, size_t ntiers, size_t nkinds, struct fth_tiers_availability *ret,
			   struct fth_error *err);
/* What each of k independent tiers needs for the whole to have p: the k-th root. */
double fth_tier_target(double p, unsigned k);

#endif
