/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual-cluster schedulers: policies that pack tasks onto rented instances, rent more when tasks are left,
 * and let go of what is empty. Stratus and everything it is measured against are settings of these parts:
 *
 *   look   what is there: instances with their room and longest remaining runtime, waiting tasks
 *   pack   waiting tasks onto instances (runtime bins, binpack, dot product, not at all)
 *   scale  new instances for what is left (groups x types by score, cheapest fit, greedy fill)
 *   move   clearing of under-used instances, moves to cheaper ones
 */
#ifndef FTH_POLICIES_VC_H
#define FTH_POLICIES_VC_H

#include <farthing/policy.h>

#include "base/base.h"

struct fth_runtime_predictor;

enum vc_pack { VC_PACK_NONE = 0, VC_PACK_BINS, VC_PACK_DOT, VC_PACK_LEAST };
enum vc_scale { VC_SCALE_GROUPS = 0, VC_SCALE_CHEAPEST, VC_SCALE_FILL };
enum vc_order { VC_ORDER_RUNTIME = 0, VC_ORDER_ARRIVAL, VC_ORDER_DEMAND, VC_ORDER_RANDOM };
enum { VC_BINS = 66 };
enum vc_markets { VC_MARKET_ANY = 0, VC_MARKET_SPOT, VC_MARKET_ON_DEMAND };

struct vc_config {
	fth_time round;
	enum vc_pack pack;
	enum vc_scale scale;
	enum vc_order order;    /* of the tasks that are packed and scaled out for */
	enum vc_markets market; /* offers to buy */
	bool containers;        /* only container sizes */
	bool up_pack, down_pack; /* bins: also onto longer, shorter lived instances */
	bool bins;              /* groups are made within a bin */
	fth_time bin_unit;
	bool pack_booting;      /* also onto instances that still boot */
	bool share;             /* later tasks of a batch may join an instance bought in it */
	bool diversify;         /* buy from the pool that has been bought from least */
	bool tie_smaller;       /* of equal scores the smaller type, else the larger */
	bool own_capacity;      /* dot product in shares of the instance's own capacity, else of the largest type's */
	int resource;           /* VC_PACK_LEAST: by this one */
	bool readjust;          /* half-life rule for overrun estimates */
	bool history;           /* predict runtimes from ended jobs instead of what is told */
	fth_time default_runtime; /* where nothing is known */
	bool clear;
	double low;             /* utilisation below which an instance is under-used, in every dimension */
	int64_t patience;       /* for more than so many rounds */
	bool price_moves;       /* move an instance's tasks when another type is cheaper and it pays */
	fth_time spin_up;       /* expected, for the decision to move */
};

/* An instance as it is planned with: there already and remembered from round to round, or bought in this round. */
struct vc_inst {
	fth_instance_id id;
	fth_type_id type;
	fth_offer_id offer;
	uint32_t slot;       /* of the cluster; FTH_NONE: bought in this round */
	struct fth_res room;
	fth_time remaining;  /* longest of its tasks */
	fth_time until;      /* when the last of its running tasks is expected to end */
	fth_time pending;    /* longest of those that do not run */
	fth_time adjust;     /* when the first of them outlives its estimate */
	uint32_t ntasks;
	uint32_t low;        /* rounds in a row below the mark */
	bool ready, gone;
	bool open;           /* takes tasks */
	bool settled;        /* all its tasks run and may be moved */
	bool is_low;         /* below the mark */
	bool cleared;        /* takes no tasks any more */
	bool reserved;       /* waits for the tasks of another one */
	bool planned;        /* changed by what was planned in this round: to be looked at again */
};

struct vc_task {
	fth_task_id id;
	fth_kind_id kind;
	fth_sym apart;       /* anti-affinity */
	int32_t priority;
	fth_time remaining;
	fth_instance_id from; /* to be moved away from there; FTH_NONE: it waits */
	uint32_t at;          /* index of the instance it goes to; FTH_NONE: none yet */
	uint64_t key;         /* of the order, before the id */
};

/* Tasks of `from` go to `to` when that is ready. */
struct vc_move {
	fth_instance_id from, to;
};

/* A type with its cheapest offer now. */
struct vc_buy {
	fth_type_id type;
	fth_offer_id offer;
	fth_price price;
};

/* What a task is taken to run in all since it was seen to outlive its estimate. */
struct vc_doubled {
	fth_task_id task;
	fth_time total;
};

struct vc_node {
	int64_t key;
	uint32_t rank; /* of equal keys */
	uint32_t left, right, weight;
	bool in;
};

struct vc_keyed {
	int64_t key;
	uint32_t rank, inst;
};

/* Finds an instance with room: a search tree (treap) over the instances that take tasks, which knows of each
 * subtree the most room in each dimension and the greatest values. The order is what the packer looks for. */
struct vc_index {
	bool built;
	uint32_t root, nres, nval;
	FTH_VEC(struct vc_node) nodes; /* by instance */
	FTH_VEC(int64_t) room; /* of the subtree, nres each */
	FTH_VEC(double) val;   /* of the subtree, nval each */
	FTH_VEC(double) own;   /* of the instance, nval each */
	FTH_VEC(struct vc_keyed) sorted, other; /* scratch */
	FTH_VEC(uint32_t) spine; /* scratch */
};

struct vc {
	struct vc_config cfg;
	struct fth_runtime_predictor *predictor;
	FTH_VEC(fth_time) predicted; /* by job slot */
	FTH_VEC(struct vc_doubled) doubled; /* by task slot */
	FTH_VEC(struct vc_move) moves;
	struct fth_map arriving; /* instances bought for moves: they take nothing else */
	FTH_VEC(struct vc_buy) buys; /* what can be bought now, cheapest first */
	FTH_VEC(uint64_t) pool_bought; /* by offer */
	struct fth_res least, most;  /* smallest positive and largest capacity of what can be bought, per resource */
	bool prices_known, price_changed, looked;
	FTH_VEC(struct vc_inst) inst; /* by id */
	FTH_VEC(uint32_t) inst_of;    /* by instance slot; FTH_NONE: not planned with */
	FTH_VEC(fth_instance_id) fleeing; /* about to be taken */
	struct fth_map is_fleeing;
	bool watching; /* some instance is on its way to being cleared */
	FTH_VEC(uint64_t) hopeless;   /* by kind: the round in which it found no place */
	uint64_t rounds;

	/* of the round */
	const struct fth_view *view;
	fth_time now;
	FTH_VEC(struct vc_task) tasks;
	FTH_VEC(uint32_t) left;    /* tasks that found no place */
	FTH_VEC(uint32_t) list, group; /* scratch */
	FTH_VEC(struct vc_run {
		fth_kind_id kind;
		uint32_t first; /* place in left */
		uint32_t n;
		bool alone;
	}) runs; /* scratch */
	FTH_VEC(int64_t) run_least; /* scratch: a tree over the runs, with the least demand below each node */
	size_t run_leaves;
	FTH_VEC(struct fth_res) sums;  /* scratch, by place in buys */
	FTH_VEC(struct vc_task) moving; /* scratch */
	FTH_VEC(struct vc_inst) before; /* scratch */
	FTH_VEC(fth_kind_id) kinds;     /* scratch */
	FTH_VEC(struct vc_apart {
		uint32_t inst;
		fth_sym group;
	}) apart; /* anti-affine tasks planned in this round */
	struct vc_index index;
	uint64_t cleared, to_new, moved; /* in this round: instances cleared, of those onto a new one; moved for their price */
};

/* ---- look.c ---- */
fth_time vc_estimate(struct vc *v, const struct fth_task *t);
/* How long the task will still run, with the half-life rule. */
fth_time vc_remaining(struct vc *v, const struct fth_task *t);
unsigned vc_bin(const struct vc *v, fth_time remaining);
/* The shortest remaining runtime of a bin; of one beyond the last, more than any. */
fth_time vc_bin_start(const struct vc *v, unsigned bin);
/* Where an instance is among those planned with; NULL: it is not. */
struct vc_inst *vc_known(struct vc *v, fth_instance_id id);
void vc_look(struct vc *v, const struct fth_round *round);
/* What a task of this kind needs on a type; NULL: cannot run there. */
const struct fth_res *vc_demand(const struct vc *v, fth_kind_id kind, fth_type_id type);
/* How long a task is away when it moves: stopped, saved, fetched, set up, started. */
fth_time vc_pause(const struct vc *v, fth_kind_id kind);

/* ---- index.c ---- */
void vc_index_release(struct vc_index *x);
void vc_index_build(struct vc *v);
/* Room, values, remaining runtime or openness of an instance have changed. */
void vc_index_touch(struct vc *v, uint32_t inst);
/* The instance that fits with the greatest sum of coef[k] x value[k], among those with keys from lo to below hi. */
uint32_t vc_index_best(struct vc *v, const struct vc_task *t, int64_t lo, int64_t hi, const double *coef);
/* The first one that fits with a key from lo to below hi, or the last one. */
uint32_t vc_index_first(struct vc *v, const struct vc_task *t, int64_t lo, int64_t hi, bool last);
/* The least a task needs in each dimension, whatever the type. */
void vc_least_demand(const struct vc *v, fth_kind_id kind, int64_t *ret);
bool vc_fits(const struct vc *v, const struct vc_task *t, uint32_t inst);

/* ---- pack.c ---- */
/* Where the packer would put the task; FTH_NONE. */
uint32_t vc_find(struct vc *v, const struct vc_task *t);
void vc_put(struct vc *v, struct vc_task *t, uint32_t inst);
/* Undo the last vc_put, which found the instance so. */
void vc_take_off(struct vc *v, struct vc_task *t, const struct vc_inst *before);
/* All tasks of the round; what finds no place is left. */
void vc_pack(struct vc *v);

/* ---- scale.c ---- */
void vc_prices(struct vc *v, const struct fth_round *round);
void vc_scale_out(struct vc *v, struct fth_plan *plan);
/* Rent one instance; its index among the round's. */
uint32_t vc_rent(struct vc *v, struct fth_plan *plan, fth_offer_id offer, const char *why);
/* The cheapest thing to buy that holds the demand of these kinds together; FTH_NONE. */
uint32_t vc_cheapest(const struct vc *v, const fth_kind_id *kinds, size_t n);
double vc_score(const struct vc *v, const struct fth_res *used, const struct fth_res *capacity, fth_price price);

/* ---- move.c ---- */
void vc_clear(struct vc *v, struct fth_plan *plan);
void vc_price_moves(struct vc *v, struct fth_plan *plan);
/* Tasks whose new instance is ready go there now. */
void vc_go_on(struct vc *v, struct fth_plan *plan);

/* ---- decide.c ---- */
int vc_new(void **self, const struct vc_config *cfg);
int vc_decide(void *self, const struct fth_round *round, struct fth_plan *plan);
fth_time vc_period(void *self);
void vc_free(void *self);

#endif
