/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stratus as the program released with Eva has it: see README.md here for how it differs from the paper and from
 * our `stratus`. Everything goes by ascending id; comparisons are strict, so the first found wins.
 */
#include <math.h>

#include "policies/shared/board.h"
#include "policies/table.h"

struct params {
	fth_time round;
};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{0},
};

struct spot {
	uint32_t instance; /* of the board; FTH_NONE: to be launched */
	fth_offer_id offer;
	struct fth_res room;
	bool dropped, pinned;
	FTH_VEC(uint32_t) tasks;
};

struct artifact {
	const struct params *params;
	struct fth_prices prices;
	struct fth_board board;
	struct fth_draft layout;
	FTH_VEC(struct spot) spots;
	FTH_VEC(uint32_t) queue, rest;
	const struct fth_view *view;
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct artifact *a = fth_alloc(sizeof(*a));
	a->params = p;
	*self = a;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct artifact *)self)->params->round;
}

/* The whole runtime, in seconds: what has been run is never taken off. */
static double runtime(const struct artifact *a, uint32_t task)
{
	const struct fth_job *j = fth_view_job(a->view, a->board.tasks.data[task].job);
	return FTH_MAX(1, ceil((double)j->estimate / 1e6)); /* whole iterations take a little less than what was asked for */
}

static double longest(const struct artifact *a, const struct spot *s)
{
	double most = 0;
	for (size_t k = 0; k < s->tasks.len; k++)
		most = FTH_MAX(most, runtime(a, s->tasks.data[k]));
	return most;
}

/* floor(log2(x)), and of an instance without tasks less than any. */
static int bin_of(double x)
{
	int e;
	if (x <= 0)
		return -1;
	frexp(x, &e);
	return e - 1;
}

static const struct fth_res *demand_on(const struct artifact *a, uint32_t task, fth_offer_id offer)
{
	const struct fth_kind *k = &a->view->kinds[a->board.groups.data[a->board.tasks.data[task].group].kind];
	const struct fth_alt *alt = fth_kind_on_type(k, &a->view->catalog->types[a->view->catalog->offers[offer].type]);
	return alt ? &alt->demand : NULL;
}

static void put(struct artifact *a, uint32_t spot, uint32_t task)
{
	struct spot *s = &a->spots.data[spot];
	const struct fth_res *d = demand_on(a, task, s->offer);
	if (d)
		fth_res_sub(&s->room, d);
	s->pinned |= a->board.tasks.data[task].pinned;
	fth_vec_push(&s->tasks, task);
}

static uint32_t new_spot(struct artifact *a, uint32_t instance, fth_offer_id offer)
{
	struct spot s = {.instance = instance, .offer = offer};
	s.room = a->view->catalog->types[a->view->catalog->offers[offer].type].capacity;
	fth_vec_push(&a->spots, s);
	return (uint32_t)a->spots.len - 1;
}

/* ---- packing ---- */

/* Not in the program: tasks that must not share an instance do not. */
static bool is_apart(const struct artifact *a, const uint32_t *tasks, size_t n, uint32_t task)
{
	fth_sym apart = a->board.tasks.data[task].apart;
	for (size_t k = 0; apart && k < n; k++)
		if (a->board.tasks.data[tasks[k]].apart == apart)
			return false;
	return true;
}

static double free_sum(const struct fth_res *room)
{
	return (double)room->v[FTH_GPU] / 1000 + (double)room->v[FTH_CPU] / 1000 + (double)room->v[FTH_MEM] / 1024;
}

/* Own bin: nearest runtime; else a higher one: most free; else a lower one: most free. */
static uint32_t find_spot(const struct artifact *a, uint32_t task)
{
	double own = runtime(a, task), near = INFINITY, higher = -1, lower = -1;
	uint32_t same_at = FTH_NONE, higher_at = FTH_NONE, lower_at = FTH_NONE;
	for (uint32_t k = 0; k < a->spots.len; k++) {
		const struct spot *s = &a->spots.data[k];
		const struct fth_res *d = s->dropped ? NULL : demand_on(a, task, s->offer);
		if (!d || !fth_res_fits(d, &s->room) || !is_apart(a, s->tasks.data, s->tasks.len, task))
			continue;
		double life = longest(a, s), free = free_sum(&s->room), off = fabs(life - own);
		int bin = bin_of(life), mine = bin_of(own);
		if (bin == mine && off < near) {
			near = off;
			same_at = k;
		} else if (bin > mine && free > higher) {
			higher = free;
			higher_at = k;
		} else if (bin < mine && free > lower) {
			lower = free;
			lower_at = k;
		}
	}
	return same_at != FTH_NONE ? same_at : higher_at != FTH_NONE ? higher_at : lower_at;
}

/* ---- scaling out ---- */

static fth_offer_id cheapest_offer(const struct fth_catalog *c)
{
	fth_offer_id best = FTH_NONE;
	for (fth_offer_id o = 0; o < c->noffers; o++)
		if (c->offers[o].market == FTH_ON_DEMAND && c->offers[o].available &&
		    (best == FTH_NONE || c->offers[o].price < c->offers[best].price))
			best = o;
	return best;
}

/* Infinite where the cheapest type has none of the constraining resource. */
static double score(const struct artifact *a, const struct fth_res *sum, fth_offer_id offer, fth_offer_id cheapest)
{
	const struct fth_catalog *c = a->view->catalog;
	const struct fth_res *cap = &c->types[c->offers[offer].type].capacity;
	const struct fth_res *unit = &c->types[c->offers[cheapest].type].capacity;
	int constraining = FTH_GPU;
	double most = -1;
	for (int r = FTH_GPU; r <= FTH_MEM; r++) {
		double share = cap->v[r] ? (double)sum->v[r] / (double)cap->v[r] : 0;
		if (share > most) {
			most = share;
			constraining = r;
		}
	}
	if (!unit->v[constraining])
		return sum->v[constraining] ? INFINITY : -1;
	return (double)sum->v[constraining] / (double)unit->v[constraining] / fth_usd(c->offers[offer].price);
}

static bool sum_of(const struct artifact *a, size_t n, fth_offer_id offer, struct fth_res *ret)
{
	const struct fth_catalog *c = a->view->catalog;
	*ret = (struct fth_res){0};
	for (size_t k = 0; k < n; k++) {
		const struct fth_res *d = demand_on(a, a->rest.data[k], offer);
		if (!d || !is_apart(a, a->rest.data, k, a->rest.data[k]))
			return false;
		fth_res_add(ret, d);
	}
	return fth_res_fits(ret, &c->types[c->offers[offer].type].capacity);
}

/* One instance for the first tasks of the rest: how many of them, and what. */
static void buy_one(struct artifact *a, fth_offer_id cheapest)
{
	const struct fth_catalog *c = a->view->catalog;
	double best = -1;
	fth_offer_id offer = FTH_NONE;
	size_t count = 0;
	for (size_t n = 1; n <= a->rest.len; n++) {
		bool any = false;
		if (bin_of(runtime(a, a->rest.data[n - 1])) != bin_of(runtime(a, a->rest.data[0])))
			break;
		for (fth_offer_id o = 0; o < c->noffers; o++) {
			struct fth_res sum;
			if (c->offers[o].market != FTH_ON_DEMAND || !c->offers[o].available || !sum_of(a, n, o, &sum))
				continue;
			any = true;
			double s = score(a, &sum, o, cheapest);
			if (s > best || offer == FTH_NONE) {
				best = s;
				offer = o;
				count = n;
			}
		}
		if (!any)
			break;
	}
	if (offer == FTH_NONE)
		count = 1; /* nothing holds it */
	else
		for (size_t k = 0, at = new_spot(a, FTH_NONE, offer); k < count; k++)
			put(a, (uint32_t)at, a->rest.data[k]);
	memmove(a->rest.data, a->rest.data + count, (a->rest.len - count) * sizeof(*a->rest.data));
	a->rest.len -= count;
}

static void place_queue(struct artifact *a)
{
	fth_vec_clear(&a->rest);
	for (size_t k = 0; k < a->queue.len; k++) {
		uint32_t task = a->queue.data[k], at = find_spot(a, task);
		if (at != FTH_NONE) {
			put(a, at, task);
			continue;
		}
		/* by falling runtime; of equal ones the first stays first */
		fth_vec_push(&a->rest, task);
		size_t i = a->rest.len - 1;
		for (; i && runtime(a, a->rest.data[i - 1]) < runtime(a, task); i--)
			a->rest.data[i] = a->rest.data[i - 1];
		a->rest.data[i] = task;
	}
	fth_offer_id cheapest = cheapest_offer(a->view->catalog);
	while (a->rest.len && cheapest != FTH_NONE)
		buy_one(a, cheapest);
}

/* ---- under-used instances ---- */

static bool is_low(const struct artifact *a, const struct spot *s)
{
	const struct fth_catalog *c = a->view->catalog;
	const struct fth_res *cap = &c->types[c->offers[s->offer].type].capacity;
	for (int r = FTH_GPU; r <= FTH_MEM; r++)
		if (2 * (cap->v[r] - s->room.v[r]) >= cap->v[r])
			return false;
	if (s->tasks.len != 1)
		return true;
	return a->board.groups.data[a->board.tasks.data[s->tasks.data[0]].group].offer != s->offer;
}

/* One after the other: the tasks of the first may fill up the next. */
static void clear_low(struct artifact *a)
{
	for (size_t k = 0, n = a->spots.len; k < n; k++) {
		struct spot *s = &a->spots.data[k];
		if (s->pinned || !s->tasks.len || !is_low(a, s))
			continue;
		s->dropped = true;
		fth_vec_clear(&a->queue);
		for (size_t i = 0; i < s->tasks.len; i++)
			fth_vec_push(&a->queue, s->tasks.data[i]);
		place_queue(a);
	}
}

/* ---- the round ---- */

static void seed(struct artifact *a)
{
	for (size_t k = 0; k < a->spots.len; k++)
		fth_vec_release(&a->spots.data[k].tasks);
	fth_vec_clear(&a->spots);
	fth_vec_clear(&a->queue);
	for (uint32_t i = 0; i < a->board.instances.len; i++)
		new_spot(a, i, a->board.instances.data[i].offer);
	for (uint32_t t = 0; t < a->board.tasks.len; t++) {
		if (a->board.tasks.data[t].at == FTH_NONE)
			fth_vec_push(&a->queue, t);
		else
			put(a, a->board.tasks.data[t].at, t);
	}
}

static void carry_out(struct artifact *a, struct fth_plan *plan)
{
	fth_draft_reset(&a->layout, &a->board);
	for (size_t k = 0; k < a->spots.len; k++) {
		const struct spot *s = &a->spots.data[k];
		if (s->dropped || !s->tasks.len)
			continue;
		uint32_t slot = fth_draft_add_slot(&a->layout, &a->board, a->view, s->instance, s->offer);
		for (size_t i = 0; i < s->tasks.len; i++)
			fth_draft_add_task(&a->layout, &a->board, a->view, slot, s->tasks.data[i]);
	}
	fth_draft_apply(&a->layout, &a->board, a->view, plan, "by runtime bin, on a machine of $1/h", NULL);
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct artifact *a = self;
	a->view = round->view;
	fth_prices_round(&a->prices, round);
	fth_board_look(&a->board, a->view, &a->prices);
	seed(a);
	place_queue(a);
	clear_low(a);
	carry_out(a, plan);
	return 0;
}

static void fini(void *self)
{
	struct artifact *a = self;
	for (size_t k = 0; k < a->spots.len; k++)
		fth_vec_release(&a->spots.data[k].tasks);
	fth_vec_release(&a->spots);
	fth_vec_release(&a->queue);
	fth_vec_release(&a->rest);
	fth_prices_release(&a->prices);
	fth_board_release(&a->board);
	fth_draft_release(&a->layout);
	free(a);
}

const struct fth_policy_ops fth_policy_stratus_artifact = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_RUNTIME,
	.name = "stratus-artifact",
	.summary = "Stratus as the program released with Eva has it (a yardstick)",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
