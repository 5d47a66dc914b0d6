/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owl, as Eva's authors use it for comparison: pairs of tasks that are known not to disturb each other
 * share an instance, at most two on one. It is given the profile of pair speeds. Every round, tasks
 * that wait and tasks that are alone are paired anew, the pair worth most for its price first; a pair
 * stays until one of the two ends.
 */
#include "optimize/full_reconfig.h"
#include "policies/shared/board.h"
#include "policies/table.h"

struct params {
	fth_time round;
};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{0},
};

/* Two kinds that are worth more together than their cheapest machine costs. */
struct pair {
	fth_kind_id a, b;
	fth_offer_id offer;
	double worth, ratio;
};

struct owl {
	const struct params *params;
	struct fth_prices prices;
	struct fth_board board;
	struct fth_draft layout;
	FTH_VEC(fth_kind_id) known;      /* kinds met, by label */
	FTH_VEC(struct pair) pairs;      /* of known kinds, best first */
	FTH_VEC(uint32_t) rank;          /* by kind: place in known; FTH_NONE */
	FTH_VEC(uint32_t) head, tail;    /* by kind: candidates of it, in order */
	FTH_VEC(uint32_t) next;          /* by board task */
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct owl *o = fth_alloc(sizeof(*o));
	o->params = p;
	*self = o;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct owl *)self)->params->round;
}

/* ---- pairs worth their price ---- */

static double speed(const struct fth_view *v, fth_kind_id a, fth_kind_id beside)
{
	return v->profile ? fth_profile_rate(v->profile, v->kinds[a].klass, v->kinds[beside].klass) : 1;
}

static bool holds_both(const struct fth_view *v, fth_kind_id a, fth_kind_id b, const struct fth_instance_type *t)
{
	const struct fth_alt *x = fth_kind_on_type(&v->kinds[a], t), *y = fth_kind_on_type(&v->kinds[b], t);
	if (!x || !y)
		return false;
	struct fth_res sum = x->demand;
	fth_res_add(&sum, &y->demand);
	return fth_res_fits(&sum, &t->capacity);
}

static void consider(struct owl *o, const struct fth_view *v, fth_kind_id a, fth_kind_id b)
{
	struct pair p = {a, b, FTH_NONE, 0, 0};
	const struct fth_catalog *c = v->catalog;
	for (fth_offer_id i = 0; i < c->noffers; i++) {
		const struct fth_offer *f = &c->offers[i];
		if (f->market == FTH_ON_DEMAND && f->available && holds_both(v, a, b, &c->types[f->type]) &&
		    (p.offer == FTH_NONE || f->price < c->offers[p.offer].price))
			p.offer = i;
	}
	if (p.offer == FTH_NONE)
		return;
	p.worth = fth_prices_of(&o->prices, v, a)->rp * speed(v, a, b);
	p.worth += fth_prices_of(&o->prices, v, b)->rp * speed(v, b, a);
	p.ratio = p.worth / fth_usd(c->offers[p.offer].price);
	/* A task alone is worth exactly its price, so what is not better than that is never used. */
	if (p.ratio > 1)
		fth_vec_push(&o->pairs, p);
}

static int best_first(const void *x, const void *y, void *arg)
{
	const struct pair *p = x, *q = y;
	const uint32_t *rank = arg;
	if (p->ratio != q->ratio)
		return p->ratio > q->ratio ? -1 : 1;
	if (rank[p->a] != rank[q->a])
		return rank[p->a] < rank[q->a] ? -1 : 1;
	return rank[p->b] < rank[q->b] ? -1 : rank[p->b] > rank[q->b];
}

/* Meet a kind: place it among the known ones by label, and look at its pairs with all of them. */
static void meet(struct owl *o, const struct fth_view *v, fth_kind_id kind)
{
	while (o->rank.len <= kind) {
		fth_vec_push(&o->rank, FTH_NONE);
		fth_vec_push(&o->head, FTH_NONE);
		fth_vec_push(&o->tail, FTH_NONE);
	}
	if (o->rank.data[kind] != FTH_NONE)
		return;
	const char *label = fth_sym_name(v, v->kinds[kind].label);
	fth_vec_push(&o->known, kind);
	size_t at = o->known.len - 1;
	for (; at && strcmp(fth_sym_name(v, v->kinds[o->known.data[at - 1]].label), label) > 0; at--)
		o->known.data[at] = o->known.data[at - 1];
	o->known.data[at] = kind;
	for (uint32_t i = 0; i < o->known.len; i++)
		o->rank.data[o->known.data[i]] = i;
	for (uint32_t i = 0; i < o->known.len; i++)
		consider(o, v, o->known.data[FTH_MIN(i, at)], o->known.data[FTH_MAX(i, at)]);
	if (o->pairs.len)
		qsort_r(o->pairs.data, o->pairs.len, sizeof(*o->pairs.data), best_first, o->rank.data);
}

/* ---- one round ---- */

static void add_candidate(struct owl *o, uint32_t task)
{
	fth_kind_id k = o->board.groups.data[o->board.tasks.data[task].group].kind;
	o->next.data[task] = FTH_NONE;
	if (o->head.data[k] == FTH_NONE)
		o->head.data[k] = task;
	else
		o->next.data[o->tail.data[k]] = task;
	o->tail.data[k] = task;
}

static uint32_t take_candidate(struct owl *o, fth_kind_id k)
{
	uint32_t task = o->head.data[k];
	o->head.data[k] = o->next.data[task];
	return task;
}

/* A task with enemies is never paired, and stays where it once is. */
static void set_apart(struct owl *o, const struct fth_view *v, uint32_t task)
{
	const struct fth_board_task *bt = &o->board.tasks.data[task];
	const struct fth_board_group *g = &o->board.groups.data[bt->group];
	if (bt->at != FTH_NONE) {
		fth_draft_keep(&o->layout, &o->board, v, task);
		return;
	}
	uint32_t slot = fth_draft_add_slot(&o->layout, &o->board, v, FTH_NONE, g->offer);
	o->layout.slots.data[slot].worth = g->rp;
	fth_draft_add_task(&o->layout, &o->board, v, slot, task);
}

/* Waiting tasks in order, then tasks that are alone by instance; all others stay where they are. */
static void gather(struct owl *o, const struct fth_view *v)
{
	struct fth_board *b = &o->board;
	FTH_VEC(uint32_t) alone = {0};
	fth_vec_reserve(&o->next, b->tasks.len);
	fth_vec_reserve(&alone, b->instances.len);
	for (size_t i = 0; i < b->instances.len; i++)
		alone.data[i] = FTH_NONE;
	for (uint32_t t = 0; t < b->tasks.len; t++) {
		const struct fth_board_task *bt = &b->tasks.data[t];
		if (bt->pinned)
			continue;
		meet(o, v, b->groups.data[bt->group].kind);
		if (bt->apart)
			set_apart(o, v, t);
		else if (bt->at == FTH_NONE)
			add_candidate(o, t);
		else if (o->layout.slot_at.data[bt->at] != FTH_NONE || b->instances.data[bt->at].committed >= 2)
			fth_draft_keep(&o->layout, b, v, t);
		else
			alone.data[bt->at] = t;
	}
	for (size_t i = 0; i < b->instances.len; i++)
		if (alone.data[i] != FTH_NONE)
			add_candidate(o, alone.data[i]);
	fth_vec_release(&alone);
}

static void pair_up(struct owl *o, const struct fth_view *v)
{
	for (size_t i = 0; i < o->pairs.len; i++) {
		const struct pair *p = &o->pairs.data[i];
		for (;;) {
			uint32_t x = o->head.data[p->a], y = o->head.data[p->b];
			if (p->a == p->b && x != FTH_NONE)
				y = o->next.data[x];
			if (x == FTH_NONE || y == FTH_NONE)
				break;
			uint32_t slot = fth_draft_add_slot(&o->layout, &o->board, v, FTH_NONE, p->offer);
			o->layout.slots.data[slot].worth = p->worth;
			fth_draft_add_task(&o->layout, &o->board, v, slot, take_candidate(o, p->a));
			fth_draft_add_task(&o->layout, &o->board, v, slot, take_candidate(o, p->b));
		}
	}
}

/* What found no partner: on a machine of its own, where it is if that is the cheapest one for it. */
static void stay_alone(struct owl *o, const struct fth_view *v)
{
	for (size_t i = 0; i < o->known.len; i++)
		while (o->head.data[o->known.data[i]] != FTH_NONE) {
			uint32_t task = take_candidate(o, o->known.data[i]);
			const struct fth_board_task *bt = &o->board.tasks.data[task];
			const struct fth_board_group *g = &o->board.groups.data[bt->group];
			if (bt->at != FTH_NONE && o->board.instances.data[bt->at].offer == g->offer) {
				fth_draft_keep(&o->layout, &o->board, v, task);
				continue;
			}
			uint32_t slot = fth_draft_add_slot(&o->layout, &o->board, v, FTH_NONE, g->offer);
			o->layout.slots.data[slot].worth = g->rp;
			fth_draft_add_task(&o->layout, &o->board, v, slot, task);
		}
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct owl *o = self;
	const struct fth_view *v = round->view;
	bool was_fresh = o->prices.fresh;
	fth_prices_round(&o->prices, round);
	for (size_t i = 0; i < round->nevents; i++)
		was_fresh &= round->events[i].kind != FTH_EV_OFFER_CHANGED;
	if (!was_fresh) { /* other prices, other pairs */
		fth_vec_clear(&o->known);
		fth_vec_clear(&o->pairs);
		for (size_t i = 0; i < o->rank.len; i++)
			o->rank.data[i] = FTH_NONE;
	}
	fth_board_look(&o->board, v, &o->prices);
	fth_draft_reset(&o->layout, &o->board);
	fth_draft_seed(&o->layout, &o->board, v);
	gather(o, v);
	pair_up(o, v);
	stay_alone(o, v);
	fth_draft_apply(&o->layout, &o->board, v, plan, "a pair worth $0/h on a machine of $1/h", NULL);
	return 0;
}

static void fini(void *self)
{
	struct owl *o = self;
	fth_prices_release(&o->prices);
	fth_board_release(&o->board);
	fth_draft_release(&o->layout);
	fth_vec_release(&o->known);
	fth_vec_release(&o->pairs);
	fth_vec_release(&o->rank);
	fth_vec_release(&o->head);
	fth_vec_release(&o->tail);
	fth_vec_release(&o->next);
	free(o);
}

const struct fth_policy_ops fth_policy_owl = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_PROFILE,
	.name = "owl",
	.summary = "pairs of tasks that are known not to disturb each other share an instance",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
