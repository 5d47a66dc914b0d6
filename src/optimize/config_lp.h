/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration LP: machines of some types are bought by the fraction, each filled with a
 * configuration (a multiset of item groups that fits it), so that every group is covered.
 *
 *     minimise  sum price(type of c) x_c   with   sum_c copies(c, g) x_c >= count(g)  for every group g
 *
 * Solved by column generation. It also carries bounds on integer-weighted sums of machine counts (for
 * branching): lo <= sum_c weight(s, type of c) x_c <= hi.
 *
 * The bound it reports is proven in integers: see fth_config_lp_solve.
 */
#ifndef FTH_OPTIMIZE_CONFIG_LP_H
#define FTH_OPTIMIZE_CONFIG_LP_H

#include "base/base.h"
#include "optimize/lp.h"
#include "optimize/pricing.h"

#define FTH_NO_BOUND INT64_MAX

struct fth_config_type {
	fth_price price;
	struct fth_pricer *pricer; /* owned; its items are the groups */
};

struct fth_config {
	uint32_t type;
	uint32_t first, n; /* slice of parts, by group */
};

struct fth_config_lp {
	uint32_t ngroups, ntypes, nsums;
	int64_t *count;                /* by group */
	struct fth_config_type *types;
	int64_t *weight;               /* [sum * ntypes + type], >= 0 */
	fth_price unit;                /* every price is a multiple of it, hence every integer solution's cost */
	fth_price *worth_most;         /* by group: cheapest type that holds one */
	FTH_VEC(struct fth_config) configs; /* config c is column ngroups + c of the LP; the first are stand-ins */
	FTH_VEC(struct fth_filling) parts;
	FTH_VEC(uint32_t) next_same;   /* chains of configs with equal hash */
	struct fth_map by_hash;
	struct fth_lp *lp;
	int64_t scale;                 /* units of value per nano-dollar */
	int64_t *value;                /* by group, of the last solve */
	int64_t *sum_dual;             /* by sum; within dual_most, so that no product overflows */
	double dual_most;
	int64_t *reduced;              /* by type: price less the duals of the sums */
	uint64_t pricing_nodes, pricings, rounds;
};

/* demand[type * ngroups + group], usable likewise; weight may be NULL when nsums is 0.
 * -ERANGE when prices times counts are beyond what 64 bits hold; -ENOENT when a group fits no type. */
int fth_config_lp_init(struct fth_config_lp *l, uint32_t ngroups, const int64_t *count, uint32_t ntypes,
		       const struct fth_res *capacity, const fth_price *price, const struct fth_res *demand,
		       const char *usable, uint32_t nsums, const int64_t *weight, struct fth_error *err);
void fth_config_lp_release(struct fth_config_lp *l);

/* The config with these parts (sorted here), made if new. */
uint32_t fth_config_lp_add(struct fth_config_lp *l, uint32_t type, struct fth_filling *parts, uint32_t n);

struct fth_config_effort {
	uint64_t quick_nodes; /* per knapsack while columns are still found easily */
	uint64_t exact_nodes; /* per knapsack at the end; what is cut off weakens the bound, never falsifies it */
	uint32_t rounds;
};

/*
 * Solve with these bounds on the sums (lo, hi; FTH_NO_BOUND: none), and set ret_bound so that no integer
 * solution within them that costs at most `cutoff` costs less than ret_bound (a multiple of l->unit, at
 * most cutoff). Stops early once the bound reaches the cutoff.
 *
 * Why it is proven: the LP's duals are only a hint. They are rounded to integers v_g >= 0 (value of a
 * group) and u_s (of a sum's bound). For any purchase with counts N_t of machines, each worth at most
 * z_t = the exact knapsack optimum under v (or a proven upper bound of it),
 *
 *     cost = sum_t N_t price_t >= sum_g count_g v_g + sum_s u_s bound_s - sum_t N_t max(0, z_t - r_t),
 *     r_t = price_t - sum_s u_s weight_st,
 *
 * and with cost <= cutoff the last sum is at most cutoff x max_t (z_t - r_t) / price_t. All of it is
 * computed in integers, rounded against us.
 */
int fth_config_lp_solve(struct fth_config_lp *l, const int64_t *lo, const int64_t *hi, fth_price cutoff,
			const struct fth_config_effort *effort, fth_price *ret_bound);

/* One round of pricing with these limits per group; the number of new columns. */
uint32_t fth_config_lp_price(struct fth_config_lp *l, const int64_t *limit, uint64_t max_nodes);

/* Work done so far, in units of about 50 ns; a clock that gives the same on every machine. */
uint64_t fth_config_lp_work(const struct fth_config_lp *l);

/* Of the last solve. */
double fth_config_lp_amount(const struct fth_config_lp *l, uint32_t config);
double fth_config_lp_sum(const struct fth_config_lp *l, uint32_t sum);
/* Take integer values from the LP's duals as they stand. */
void fth_config_lp_read_duals(struct fth_config_lp *l);
/* Bounds on the amount of a config; 0 and INFINITY at first. */
void fth_config_lp_fix(struct fth_config_lp *l, uint32_t config, double lo, double hi);

#endif
