/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Farthing's own policy: one objective in dollars, and exact re-packing of small pools of machines. docs/own-policy.md
 * says what it does and why; here is how it is cut into parts:
 *
 *   value        what an hour of a task's progress is worth, from what can be bought now
 *   speeds       how tasks that share a machine slow each other down, learnt as it is observed
 *   market       the offers that can be bought, with the risk of losing them
 *   look         the cluster of this round, as tasks and machines to plan with
 *   repartition  the cheapest way to lay a small pool of tasks on machines, by dynamic programming over subsets
 *   search       which pools are looked at, and what is done with the answer
 *   policy       parameters, and the plan
 */
#ifndef FTH_POLICIES_FARTHING_OWN_H
#define FTH_POLICIES_FARTHING_OWN_H

#include <farthing/policy.h>

#include "base/base.h"

/* ---- speeds.c ---- */

struct own_victim;
struct own_speeds {
	double told;   /* speed of a pair never seen */
	double prior;  /* ... or more, if pairs were better when first seen; not less: what is never tried is never learnt */
	double firsts, nfirsts; /* logarithms of those speeds; how many, what was told among them */
	double ridge;  /* how many observations the prior is worth */
	bool ignore;   /* every speed is 1 */
	bool learn;
	uint32_t n, stride;        /* classes; room in pair */
	double *pair;              /* [victim * stride + neighbour]; 0: never seen */
	FTH_VEC(uint32_t) class_of; /* by symbol; FTH_NONE */
	FTH_VEC(struct own_victim *) victims;
	/* Sets whose speed is not the product of their pairs: what was observed. */
	uint32_t nsets;
	double off; /* by how much what was said has been off of late */
	struct fth_map set_of;
	FTH_VEC(struct own_set {
		double rate;
		uint32_t n;
	}) sets;
};
void own_speeds_init(struct own_speeds *s, double prior, bool learn, bool ignore);
void own_speeds_release(struct own_speeds *s);
uint32_t own_speeds_class(struct own_speeds *s, fth_sym klass);
static inline double own_pair(const struct own_speeds *s, uint32_t victim, uint32_t neighbour)
{
	if (s->ignore)
		return 1;
	double seen = s->pair[(size_t)victim * s->stride + neighbour];
	return seen > 0 ? seen : s->prior;
}
/* A task of this class was seen at this speed beside these (n > 0). */
void own_speeds_observe(struct own_speeds *s, uint32_t victim, const uint32_t *others, uint32_t n, double rate);
/* Product of the pairs. */
double own_speeds_product(const struct own_speeds *s, uint32_t victim, const uint32_t *others, uint32_t n);
/* Whether sets differ from the product of their pairs often enough to be looked up. */
static inline bool own_speeds_has_sets(const struct own_speeds *s)
{
	return s->nsets && s->off > 0.004;
}
/* What a set's hash is summed from: one term a member. */
static inline uint64_t own_class_hash(uint32_t c)
{
	return fth_hash_u64(c + 1);
}
/* The speed expected of a victim in a set of this hash (itself included), of which the pairs' product is given. */
double own_speeds_in_set(const struct own_speeds *s, uint32_t victim, uint64_t hash, double product);

/* ---- market.c ---- */

/* Something that can be bought now. */
struct own_buy {
	fth_offer_id offer;
	fth_type_id type;
	double price;  /* dollars per hour */
	double risk;   /* interruptions per hour */
	double boot;   /* hours from the request to its first task */
	double billed; /* of those, hours that are paid for */
};
struct own_market {
	FTH_VEC(struct own_buy) buys; /* cheapest first */
	FTH_VEC(double) share;        /* by kind: fair hourly cost; negative: not known yet */
	FTH_VEC(struct own_record {
		double hours; /* for which machines of the offer were held */
		double lost;
	}) record; /* by offer */
	fth_time notice; /* before a machine is taken, as last met */
	bool known;
};
struct own_params;
void own_market_release(struct own_market *m);
void own_market_round(struct own_market *m, const struct fth_round *round, const struct own_params *p);
struct own_buy own_buy_of(const struct own_market *m, const struct fth_catalog *c, fth_offer_id offer);
/* The middle one of the prices on demand (of all, where nothing is sold on demand), in dollars. */
double own_middle_price(const struct fth_catalog *c);
/* What an hour of one more machine adds to the bill when so many of its type are held and so many are paid for in any case. */
double own_marginal(const struct fth_catalog *c, const struct own_buy *b, uint32_t held, int64_t committed);

/* ---- value.c ---- */

/* The cheapest fractional mix of what can be bought that holds a task of this kind at full speed, in dollars per hour; 0
 * where nothing holds it. */
double own_fair_share(const struct fth_view *v, fth_kind_id kind, const struct own_buy *buys, size_t n);

/* ---- repartition.c ---- */

enum { OWN_ITEMS = 12, OWN_BINS = 3, OWN_FIXED = 12 };
#define OWN_NEVER 1e30

/* Tasks that go together: one, or several alike. */
struct own_item {
	uint32_t klass;
	uint32_t count;
	double value;   /* dollars for its progress over its horizon, at full speed */
	double drag;    /* the same for the rest of its job, which goes no faster than it */
	double pace;    /* ... nor faster than this */
	double hours;   /* horizon */
	double hourly;  /* dollars an hour of standing still costs */
	double move;    /* dollars to be started on a machine that is not its home */
	double loss;    /* dollars lost with its machine, times its horizon */
	double queue;   /* dollars for leaving it waiting; OWN_NEVER: it may not */
	uint32_t home;  /* bin it is on; FTH_NONE */
	double linger;  /* hours for which it keeps its room there when it leaves */
	fth_sym apart;  /* never beside another with the same value */
	uint32_t barred; /* bins which one of the same value has yet to leave */
	const struct fth_alt *const *alt; /* by type; NULL where it cannot run */
};

/* A machine that is there. */
struct own_bin {
	struct own_buy as; /* boot and billed do not matter */
	struct fth_res room;   /* without those that stay */
	bool occupied;         /* by tasks that stay: it is paid for in any case */
	uint32_t nfixed;       /* their classes, with the value of each */
	struct own_item fixed[OWN_FIXED];
	double hours;          /* longest horizon of those that stay */
	double linger;         /* hours until it is empty if all others leave */
};

struct own_pool {
	uint32_t nitems, nbins;
	struct own_item item[OWN_ITEMS];
	struct own_bin bin[OWN_BINS];
};

/* Who goes where, as sets of items. */
struct own_split {
	double cost;
	uint32_t bin[OWN_BINS];
	uint32_t queued;
	uint32_t nnew;
	struct {
		uint32_t items;
		uint32_t buy;
	} fresh[OWN_ITEMS];
};

struct own_work; /* scratch of one size */
struct own_work *own_work_new(void);
void own_work_free(struct own_work *w);
/* Price every set of items of the pool on each of its bins and on the best new machine. */
void own_price_pool(struct own_work *w, const struct own_pool *p, const struct own_speeds *s, const struct fth_catalog *c,
		    const struct own_buy *buys, size_t nbuys);
/* Of the pool priced last: a set of items on a bin; on the best new machine. OWN_NEVER where it does not fit. */
double own_cost_on_bin(const struct own_work *w, uint32_t bin, uint32_t items);
double own_cost_on_new(const struct own_work *w, uint32_t items);
/* No split of it costs less than this. blocks: how its items are laid now (n sets that cover it), a hint. */
double own_bound(struct own_work *w, const uint32_t *blocks, uint32_t n);
/* After own_bound: its cheapest split, if that is cheaper than `now`. */
bool own_improve(struct own_work *w, double now, double bound, struct own_split *ret);
/* Its cheapest split. */
void own_repartition(struct own_work *w, struct own_split *ret);
uint64_t own_work_steps(const struct own_work *w);

/* ---- look.c ---- */

struct own_params {
	fth_time round;
	double waiting;       /* dollars per job-hour; negative: by the price list */
	double markup;        /* times the fair share */
	fth_time max_wait;
	fth_time horizon;
	int64_t pool;         /* tasks */
	int64_t triples;      /* most wasteful machines that are tried as third ones */
	int64_t sweep;        /* rounds between looking at all machines */
	int64_t moves_per_hour;
	int64_t committed;    /* machines of each type with a contract that are paid for in any case */
	double t;
	int value, interference, market, contract;
	bool moves;
};
enum own_value { OWN_SHARE = 0, OWN_ALONE };
enum own_interference { OWN_LEARNT = 0, OWN_CONSTANT, OWN_IGNORED };
enum own_markets { OWN_ANY = 0, OWN_SPOT, OWN_ON_DEMAND };

struct own_task {
	fth_task_id id;
	fth_job_id job;
	fth_kind_id kind;
	uint32_t at;   /* machine it is committed to; FTH_NONE: it waits */
	uint32_t to;   /* machine it is planned for; FTH_NONE: it waits on */
	uint32_t next, prev; /* planned for the same machine */
	bool pinned;   /* stays */
	bool may_wait;
	bool doomed;   /* its machine is about to be taken */
	bool together; /* its job's tasks advance together */
	double rate;   /* its own, as expected where it is */
	int32_t priority;
	fth_time since, until; /* it waits, and may wait */
	struct own_item item;
	/* For the reason given: machines of the pool that was re-packed last with it, what that cost before and after. */
	uint32_t pooled;
	double before, after;
};

struct own_machine {
	fth_instance_id id; /* FTH_NONE: to be launched */
	uint32_t slot;
	struct own_buy as;
	struct fth_res room;
	uint32_t first, n;
	bool usable, changed, ready;
	double waste; /* dollars over the horizon: price less worth */
	uint64_t sign; /* the same for machines that are alike in all that matters to a pool */
};

struct own_memory {
	fth_instance_id id;
	uint64_t laid;     /* hash of what was planned for it */
	uint64_t observed; /* hash of what was last learnt from */
};

struct own {
	const struct own_params *params;
	struct own_speeds speeds;
	struct own_market market;
	double job_hour; /* dollars */
	struct own_work *work;
	FTH_VEC(struct own_memory) memory; /* by instance slot */
	FTH_VEC(const struct fth_alt **) alts; /* by kind */
	FTH_VEC(fth_time) moved; /* times of moves within the last hour */
	fth_time period;  /* between two times it is asked, at least */
	fth_time next_round;
	bool pending;     /* something has changed since the last round */
	double came;      /* tasks since then */
	fth_time last;    /* round */
	double arrivals;  /* tasks an hour, of late */
	bool company;     /* can be expected by those that wait */
	double refill;    /* hours until a machine has met new tasks */
	fth_time next_sweep;
	fth_time patience; /* until a plan that came to nothing is made again */
	bool unswept; /* something has changed since all machines were looked at */
	uint64_t tried, solved, taken; /* pools, in this round */
	/* of the round */
	fth_time now;
	const struct fth_view *view;
	FTH_VEC(struct own_buy) buys; /* what can be bought at what it adds to the bill, cheapest first */
	FTH_VEC(uint32_t) held;       /* machines by type */
	FTH_VEC(struct own_task) tasks;
	FTH_VEC(struct own_machine) machines;
	FTH_VEC(uint32_t) machine_of; /* by instance slot */
	FTH_VEC(uint32_t) waiting;    /* tasks, most urgent first */
	FTH_VEC(uint32_t) todo;       /* machines to look at */
	FTH_VEC(uint32_t) partners;
	FTH_VEC(double) changes;      /* by machine */
	struct fth_map seen;          /* likenesses of machines */
	FTH_VEC(uint32_t) classes;    /* scratch */
	FTH_VEC(uint32_t) order;      /* scratch */
	FTH_VEC(struct own_rate {
		double rate;
		uint64_t asked; /* for the how manieth machine */
	}) known; /* by class */
	uint64_t asked;
	uint32_t told; /* task whose place was last explained, with what it adds here and alone */
	double told_here, told_alone;
	struct own_pool pool;
	FTH_VEC(struct own_membership {
		uint32_t task;
		uint32_t item;
	}) members; /* of the pool's items */
	uint32_t pooled[OWN_BINS]; /* machines of the pool */
	uint32_t npooled;
	uint32_t bin_machine[OWN_BINS]; /* of them, those that are there */
	int64_t moves_left;
	uint64_t steps_before, spent;
};
/* What has happened since it was last asked; what there is now. */
void own_count_arrivals(struct own *o, const struct fth_round *round);
void own_look(struct own *o, const struct fth_round *round);
void own_put(struct own *o, uint32_t task, uint32_t machine);
void own_take(struct own *o, uint32_t task);
uint32_t own_add_machine(struct own *o, const struct own_buy *buy);
const struct fth_res *own_demand(const struct own *o, uint32_t task, fth_type_id type);
/* Prices of new machines, as many being held as are planned now. */
void own_price_buys(struct own *o);
/* Whether a task that is to keep apart from others meets one there, be it about to leave. */
bool own_is_barred(const struct own *o, uint32_t task, uint32_t machine);
bool own_fits(const struct own *o, uint32_t task, uint32_t machine);
double own_waste(struct own *o, uint32_t machine, uint32_t with);

/* ---- search.c ---- */
void own_insert(struct own *o);
void own_search(struct own *o);
/* Where one goes, the other may go for the same. */
bool own_is_alike(const struct own_task *a, const struct own_task *b);
/* Dollars over its horizon, its worth counted, on the best machine of its own. */
double own_alone(const struct own *o, uint32_t task);

#endif
