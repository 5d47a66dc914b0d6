/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of fth_pack share. */
#ifndef FTH_OPTIMIZE_PACK_INTERNAL_H
#define FTH_OPTIMIZE_PACK_INTERNAL_H

#include "optimize/config_lp.h"
#include "optimize/pack.h"

/* Tasks that need the same everywhere are one group; types are the offers worth buying. */
struct fth_pack_problem {
	uint32_t ngroups, ntypes;
	int64_t *count;           /* by group */
	uint32_t *group_of;       /* by input item */
	fth_offer_id *offer;      /* by type */
	fth_sym *family;
	fth_price *price;
	struct fth_res *capacity;
	struct fth_res *demand;   /* [type * ngroups + group] */
	char *usable;
};

struct fth_layout_bin {
	uint32_t type, first, n; /* parts: group and copies */
	int64_t repeat;
};
struct fth_layout {
	FTH_VEC(struct fth_layout_bin) bins;
	FTH_VEC(struct fth_filling) parts;
	fth_price cost;
	const char *method;
};
void fth_layout_release(struct fth_layout *p);
void fth_layout_add(const struct fth_pack_problem *p, struct fth_layout *plan, uint32_t type, int64_t repeat,
		  const struct fth_filling *parts, uint32_t n);
/* Cover what is left (counts by group, used up) by the filling of most value per dollar, again and again. */
void fth_layout_greedy(const struct fth_pack_problem *p, struct fth_config_lp *l, const int64_t *value, int64_t *left,
		     struct fth_layout *plan);
/* The cheapest type, if cheaper than `below`, that holds this filling; FTH_NONE. */
uint32_t fth_layout_holder(const struct fth_pack_problem *p, const struct fth_filling *parts, uint32_t n,
			 fth_price below);
/* Put every filling on the cheapest type that holds it, and pairs on one machine where that is cheaper. */
void fth_layout_improve(const struct fth_pack_problem *p, struct fth_layout *plan);

struct fth_pack_outcome {
	struct fth_layout plan;
	fth_price lower_bound;
	uint64_t columns, nodes, pricing_nodes, lp_steps, work;
};
/* start: a complete plan, or NULL. */
int fth_pack_search(const struct fth_pack_problem *p, const struct fth_layout *start, uint64_t max_work,
		    struct fth_pack_outcome *ret, struct fth_error *err);

#endif
