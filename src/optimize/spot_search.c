/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our search for the cheapest pool.
 *
 * A pool scaled by k serves k times the capacity with the same availability, so what matters is the shape: the share of the
 * capacity that each kind holds. Shapes come from two sources: the divisible pool of the lower bound's search (often the
 * optimum but for rounding), and annealing over coarse shapes, in which every kind holds a whole number of m-ths of the
 * capacity, where a pool's availability is a handful of additions. Each shape is rounded to machines and polished by
 * annealing over counts with the exact availability; the cheapest pool that meets the target is the answer.
 */
#include <math.h>

#include "optimize/spot.h"
#include "optimize/spot_internal.h"

enum { PARTS_MAX = 16, MEMBERS_MAX = 24, EVAL_STEPS = 1500, KEPT_DOMINATORS = 12, POLISHED = 8, GREEDY_MAX = 20000, SHAPES_MAX = 2 * PARTS_MAX + 4 };

struct search {
	const struct fth_spot_problem *p;
	uint32_t *cand; /* offers worth a share: fewer than KEPT_DOMINATORS others are both cheaper and more available */
	uint32_t ncand;
	double *prob;   /* by offer */
	struct fth_pool_part *all; /* room for one per offer */
	double budget;
	struct fth_rng rng;
	uint64_t effort, looked;
	struct fth_spot_bound bound;
};

/* A pool while it is changed: the members are the offers with a count. */
struct pool {
	uint32_t *count; /* by offer */
	uint32_t member[MEMBERS_MAX], n;
	double cost;
	uint64_t total;
	int64_t memory;
};

/* ---- pools ---- */

static bool pool_change(const struct search *s, struct pool *b, uint32_t offer, int64_t by)
{
	const struct fth_spot_offer *o = &s->p->offers[offer];
	if (by > 0 && !b->count[offer]) {
		if (b->n == MEMBERS_MAX)
			return false;
		b->member[b->n++] = offer;
	}
	if ((int64_t)b->count[offer] + by < 0)
		return false;
	b->count[offer] = (uint32_t)((int64_t)b->count[offer] + by);
	b->cost += (double)by * o->price;
	b->total = (uint64_t)((int64_t)b->total + by * (int64_t)o->capacity);
	b->memory += by * o->memory;
	if (!b->count[offer])
		for (uint32_t i = 0; i < b->n; i++)
			if (b->member[i] == offer) {
				b->member[i] = b->member[--b->n];
				break;
			}
	return true;
}

static double joint_shortfall(struct search *s, const struct pool *b)
{
	for (uint32_t i = 0; i < s->p->noffers; i++)
		s->all[i] = (struct fth_pool_part){b->count[i] * s->p->offers[i].capacity, s->p->offers[i].availability};
	return 1 - fth_joint_availability(s->p->joint, s->all, s->p->capacity, s->p->failure);
}

/* The probability that the pool falls short; above `enough` it need not be exact. */
static double pool_shortfall(struct search *s, const struct pool *b, double enough)
{
	struct fth_pool_part parts[MEMBERS_MAX];
	s->looked++;
	if (b->total < s->p->capacity)
		return 1;
	if (s->p->joint)
		return joint_shortfall(s, b);
	for (uint32_t i = 0; i < b->n; i++) {
		struct fth_pool_part part = {b->count[b->member[i]] * s->p->offers[b->member[i]].capacity, s->prob[b->member[i]]};
		uint32_t k = i;
		for (; k && parts[k - 1].weight < part.weight; k--)
			parts[k] = parts[k - 1];
		parts[k] = part;
	}
	double bad = fth_pool_shortfall(parts, b->n, s->p->capacity, s->budget * 1e-5, enough, EVAL_STEPS);
	return bad >= 0 ? bad : 1; /* spread so wide that we cannot look at it for long: not for us */
}

static bool pool_meets(struct search *s, const struct pool *b)
{
	return b->memory >= s->p->memory && 1 - pool_shortfall(s, b, s->budget) >= s->p->target;
}

static void pool_set(const struct search *s, struct pool *b, const uint32_t *count)
{
	b->n = 0;
	b->cost = 0;
	b->total = 0;
	b->memory = 0;
	memset(b->count, 0, s->p->noffers * sizeof(*b->count));
	for (uint32_t i = 0; i < s->p->noffers; i++)
		if (count[i])
			pool_change(s, b, i, count[i]);
}

/* ---- coarse shapes: whole numbers of m-ths of the capacity ---- */

struct shape {
	uint32_t m;
	bool nearest; /* machines are rounded to the nearest number, which repair() may have to mend; else up */
	uint32_t member[MEMBERS_MAX], units[MEMBERS_MAX], n;
	double cost;
};

static uint32_t units_machines(const struct search *s, const struct shape *h, uint32_t offer, uint32_t units)
{
	double machines = (double)s->p->capacity * units / h->m / (double)s->p->offers[offer].capacity;
	double whole = h->nearest ? floor(machines + 0.5) : ceil(machines - 1e-9);
	return (uint32_t)FTH_MAX(whole, 1);
}

static double units_cost(const struct search *s, const struct shape *h, uint32_t offer, uint32_t units)
{
	return s->p->offers[offer].price * units_machines(s, h, offer, units);
}

static double shape_shortfall(struct search *s, const struct shape *h)
{
	double pmf[PARTS_MAX] = {1};
	uint32_t m = h->m, total = 0;
	s->looked++;
	for (uint32_t i = 0; i < h->n; i++) {
		double p = s->prob[h->member[i]], q = 1 - p;
		uint32_t w = FTH_MIN(h->units[i], m);
		total += w;
		for (uint32_t c = m; c-- > w;)
			pmf[c] = q * pmf[c] + p * pmf[c - w];
		for (uint32_t c = 0; c < w; c++)
			pmf[c] *= q;
	}
	double sum = 0;
	for (uint32_t c = 0; c < m; c++)
		sum += pmf[c];
	return total < m ? 1 : sum;
}

static bool shape_change(const struct search *s, struct shape *h, uint32_t offer, int by)
{
	uint32_t i = 0;
	while (i < h->n && h->member[i] != offer)
		i++;
	if (i == h->n) {
		if (by < 0 || h->n == MEMBERS_MAX)
			return false;
		h->member[h->n] = offer;
		h->units[h->n++] = 0;
	}
	h->cost -= h->units[i] ? units_cost(s, h, offer, h->units[i]) : 0;
	h->units[i] = (uint32_t)((int)h->units[i] + by);
	if (h->units[i]) {
		h->cost += units_cost(s, h, offer, h->units[i]);
	} else {
		h->member[i] = h->member[--h->n];
		h->units[i] = h->units[h->n];
	}
	return true;
}

/* What an annealing step compares: the cost, raised for every decade by which the target is missed. */
static const double MISSED = 1.01, PER_DECADE = 0.35, LN_10 = 2.302585092994046;

static double penalised(const struct search *s, double cost, double bad)
{
	if (bad <= s->budget)
		return cost;
	return cost * (MISSED + PER_DECADE * fth_log(bad / s->budget) / LN_10);
}

/* The greatest shortfall with which such a cost is no worse than `most`. */
static double shortfall_for(const struct search *s, double cost, double most)
{
	double decades = (most / cost - MISSED) / PER_DECADE;
	return decades <= 0 ? s->budget : decades > 12 ? 1 : s->budget * fth_exp(decades * LN_10);
}

/* The greatest value that this step takes, from where it is now; drawn before a neighbour is looked at, since most are
 * then seen to be too dear without looking at their availability. */
static double draw_most(struct search *s, double now, double heat)
{
	return now * (1 - heat * fth_log(1 - fth_rng_real(&s->rng)));
}

static uint32_t any_candidate(struct search *s)
{
	return s->cand[fth_rng_below(&s->rng, s->ncand)];
}

static void anneal_shape(struct search *s, uint32_t m, bool nearest, struct shape *best)
{
	uint64_t steps = 2000 * s->effort;
	struct shape h = {.m = m, .nearest = nearest};
	*best = h;
	best->cost = INFINITY;
	double now = INFINITY, heat = 0.04, cool = fth_exp(fth_log(0.02) / (double)steps);
	/* Twice the capacity in the first candidates is a start near feasible pools. */
	for (uint32_t u = 0; u < 2 * m; u++)
		shape_change(s, &h, s->cand[u % FTH_MIN(s->ncand, (uint32_t)8)], 1);
	now = penalised(s, h.cost, shape_shortfall(s, &h));
	for (uint64_t i = 0; i < steps; i++, heat *= cool) {
		struct shape next = h;
		uint64_t move = fth_rng_below(&s->rng, 4);
		if (move != 0 && next.n && !shape_change(s, &next, next.member[fth_rng_below(&s->rng, next.n)], -1))
			continue;
		if (move != 1 && !shape_change(s, &next, any_candidate(s), 1))
			continue;
		double most = draw_most(s, now, heat);
		if (next.cost > most)
			continue;
		double bad = shape_shortfall(s, &next), then = penalised(s, next.cost, bad);
		if (bad <= s->budget && next.cost < best->cost)
			*best = next;
		if (then <= most) {
			h = next;
			now = then;
		}
	}
}

static void shape_to_pool(const struct search *s, const struct shape *h, struct pool *b)
{
	uint32_t *count = fth_alloc(s->p->noffers * sizeof(*count));
	for (uint32_t i = 0; i < h->n; i++)
		count[h->member[i]] = units_machines(s, h, h->member[i], h->units[i]);
	pool_set(s, b, count);
	free(count);
}

/* ---- polishing: whole machines, exact availability ---- */

/* Take off what is not needed, the dearest machines first. */
static void trim(struct search *s, struct pool *b)
{
	bool any = true;
	while (any) {
		any = false;
		uint32_t order[MEMBERS_MAX], n = b->n;
		memcpy(order, b->member, n * sizeof(*order));
		for (uint32_t i = 1; i < n; i++)
			for (uint32_t k = i; k && s->p->offers[order[k]].price > s->p->offers[order[k - 1]].price; k--) {
				uint32_t t = order[k];
				order[k] = order[k - 1];
				order[k - 1] = t;
			}
		for (uint32_t i = 0; i < n; i++) {
			pool_change(s, b, order[i], -1);
			if (pool_meets(s, b))
				any = true;
			else
				pool_change(s, b, order[i], 1);
		}
	}
}

/* A change of a pool that can be undone. */
struct move {
	uint32_t from, to;
	int64_t less, more;
};

static struct move draw_move(struct search *s, const struct pool *b)
{
	struct move m = {.from = FTH_NONE, .to = FTH_NONE};
	uint64_t kind = fth_rng_below(&s->rng, 8);
	if (kind != 0 && b->n) {
		m.from = b->member[fth_rng_below(&s->rng, b->n)];
		uint64_t most = kind < 4 ? 1 : FTH_MAX(b->count[m.from] / 4, 1u);
		m.less = 1 + (int64_t)fth_rng_below(&s->rng, most);
	}
	if (kind == 1)
		return m;
	m.to = kind & 1 && b->n ? b->member[fth_rng_below(&s->rng, b->n)] : any_candidate(s);
	m.more = 1;
	if (m.from != FTH_NONE) { /* about as much capacity as is taken away */
		double same = (double)m.less * (double)s->p->offers[m.from].capacity / (double)s->p->offers[m.to].capacity;
		m.more = (int64_t)floor(same + fth_rng_real(&s->rng));
	}
	return m;
}

static bool do_move(const struct search *s, struct pool *b, const struct move *m, int sign)
{
	bool ok = true;
	if (m->from != FTH_NONE)
		ok = pool_change(s, b, m->from, -sign * m->less);
	if (ok && m->to != FTH_NONE && m->more) {
		ok = pool_change(s, b, m->to, sign * m->more);
		if (!ok && m->from != FTH_NONE)
			pool_change(s, b, m->from, sign * m->less);
	}
	return ok;
}

static double pool_value(struct search *s, const struct pool *b, double *ret_bad)
{
	*ret_bad = pool_shortfall(s, b, 1);
	double value = penalised(s, b->cost, *ret_bad);
	if (b->memory < s->p->memory)
		value *= 1.02 + (double)(s->p->memory - b->memory) / (double)s->p->memory;
	return value;
}

/* The value of a pool if it is at most `most`, else INFINITY; if it is, *ret_bad is its shortfall. */
static double value_within(struct search *s, const struct pool *b, double most, double *ret_bad)
{
	double factor = 1;
	if (b->memory < s->p->memory)
		factor = 1.02 + (double)(s->p->memory - b->memory) / (double)s->p->memory;
	if (b->cost * factor > most)
		return INFINITY;
	*ret_bad = pool_shortfall(s, b, shortfall_for(s, b->cost, most / factor));
	double value = penalised(s, b->cost, *ret_bad) * factor;
	return value <= most ? value : INFINITY;
}

/* b starts and ends as a pool that meets the target. */
static void polish(struct search *s, struct pool *b, uint64_t steps, double heat)
{
	uint32_t *best = fth_alloc(s->p->noffers * sizeof(*best));
	double bad, best_cost = b->cost, now = pool_value(s, b, &bad), cool = fth_exp(fth_log(0.01) / (double)steps);
	memcpy(best, b->count, s->p->noffers * sizeof(*best));
	for (uint64_t i = 0; i < steps; i++, heat *= cool) {
		struct move m = draw_move(s, b);
		if (m.from == m.to || !do_move(s, b, &m, 1))
			continue;
		double then = value_within(s, b, draw_most(s, now, heat), &bad);
		if (isinf(then)) {
			do_move(s, b, &m, -1);
			continue;
		}
		now = then;
		if (b->cost < best_cost * (1 - 1e-12) && 1 - bad >= s->p->target && b->memory >= s->p->memory) {
			best_cost = b->cost;
			memcpy(best, b->count, s->p->noffers * sizeof(*best));
		}
	}
	pool_set(s, b, best);
	trim(s, b);
	free(best);
}

/* ---- the whole ---- */

/* Of two offers, one no dearer and no less available is never held less than the other (exchanging them would not hurt): one
 * with many such betters gets a share only of pools that are spread wider than any we keep. */
static void choose_candidates(struct search *s)
{
	uint32_t n = s->p->noffers;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t better = 0;
		double unit = fth_spot_unit_price(&s->p->offers[i]);
		for (uint32_t k = 0; k < n && better < KEPT_DOMINATORS; k++) {
			double other = fth_spot_unit_price(&s->p->offers[k]);
			bool same = other == unit && s->prob[k] == s->prob[i];
			better += k != i && other <= unit && s->prob[k] >= s->prob[i] && (!same || k < i);
		}
		if (better < KEPT_DOMINATORS)
			s->cand[s->ncand++] = i;
	}
	for (uint32_t i = 1; i < s->ncand; i++) /* cheapest first */
		for (uint32_t k = i; k && fth_spot_unit_price(&s->p->offers[s->cand[k]]) <
					  fth_spot_unit_price(&s->p->offers[s->cand[k - 1]]); k--) {
			uint32_t t = s->cand[k];
			s->cand[k] = s->cand[k - 1];
			s->cand[k - 1] = t;
		}
}

/* A divisible pool, each share rounded up. */
static bool from_shares(struct search *s, const double *share, struct pool *b)
{
	uint32_t *count = fth_alloc(s->p->noffers * sizeof(*count)), members = 0;
	for (uint32_t i = 0; i < s->p->noffers; i++) {
		double machines = share[i] * (double)s->p->capacity / (double)s->p->offers[i].capacity;
		count[i] = machines > 1e-6 ? (uint32_t)ceil(machines - 1e-6) : 0;
		members += count[i] > 0;
	}
	if (members <= MEMBERS_MAX)
		pool_set(s, b, count);
	free(count);
	return members <= MEMBERS_MAX;
}

/* Make a pool that may miss the target meet it, by adding the machine that helps most for its price. */
static bool repair(struct search *s, struct pool *b)
{
	for (uint32_t tries = 0; tries < 400; tries++) {
		double bad, best = INFINITY;
		uint32_t chosen = FTH_NONE;
		if (pool_meets(s, b))
			return true;
		double now = pool_value(s, b, &bad);
		for (uint32_t i = 0; i < s->ncand; i++) {
			const struct fth_spot_offer *o = &s->p->offers[s->cand[i]];
			if (!pool_change(s, b, s->cand[i], 1))
				continue;
			double then = pool_value(s, b, &bad), worth = (then - now) / o->price;
			pool_change(s, b, s->cand[i], -1);
			if (worth < best) {
				best = worth;
				chosen = s->cand[i];
			}
		}
		if (chosen == FTH_NONE || !pool_change(s, b, chosen, 1))
			return false;
	}
	return false;
}

struct best {
	uint32_t *count;
	double cost;
};

static void keep_if_better(const struct search *s, const struct pool *b, struct best *best)
{
	if (b->cost < best->cost) {
		best->cost = b->cost;
		memcpy(best->count, b->count, s->p->noffers * sizeof(*best->count));
	}
}

/* Pools to polish, cheapest first. */
struct starts {
	uint32_t *count[SHAPES_MAX];
	double cost[SHAPES_MAX];
	uint32_t n;
};

static void add_start(struct search *s, struct pool *b, struct starts *t)
{
	if (t->n == SHAPES_MAX || !repair(s, b))
		return;
	trim(s, b);
	uint32_t at = t->n++;
	for (; at && t->cost[at - 1] > b->cost; at--) {
		t->cost[at] = t->cost[at - 1];
		t->count[at] = t->count[at - 1];
	}
	t->cost[at] = b->cost;
	t->count[at] = fth_alloc(s->p->noffers * sizeof(*t->count[at]));
	memcpy(t->count[at], b->count, s->p->noffers * sizeof(*t->count[at]));
}

/* Nothing is cheaper than what is proven. */
static bool is_best(const struct search *s, double cost)
{
	return cost <= s->bound.cost * (1 + 1e-9);
}

static void find_starts(struct search *s, struct pool *b, struct starts *t)
{
	double *share = fth_alloc(s->p->noffers * sizeof(*share));
	struct fth_spot_plan greedy;
	if (!fth_spot_relax(s->p, 150 * s->effort, &s->bound, share, NULL) && from_shares(s, share, b))
		add_start(s, b, t);
	bool done = t->n && is_best(s, t->cost[0]);
	for (uint32_t i = 2; i < 2 * PARTS_MAX && !done; i++) {
		struct shape h;
		anneal_shape(s, i / 2, i & 1, &h);
		if (h.n) {
			shape_to_pool(s, &h, b);
			add_start(s, b, t);
		}
		done = t->n && is_best(s, t->cost[0]);
	}
	/* The greedy's own pool, so that we are never dearer. */
	if (!done && s->p->capacity <= GREEDY_MAX && !fth_spot_tr(s->p, &greedy, NULL)) {
		if (!greedy.fallback && greedy.met) {
			uint32_t members = 0;
			for (uint32_t i = 0; i < s->p->noffers; i++)
				members += greedy.count[i] > 0;
			if (members <= MEMBERS_MAX) {
				pool_set(s, b, greedy.count);
				add_start(s, b, t);
			}
		}
		fth_spot_plan_release(&greedy);
	}
	free(share);
}

static void search_all(struct search *s, struct best *best)
{
	struct pool b = {.count = fth_alloc(s->p->noffers * sizeof(*b.count))};
	struct starts t = {.n = 0};
	/* A small capacity is a few machines of each kind: there rounding decides, and looking is cheap. */
	uint64_t steps = (s->p->capacity < 2000 ? 10000 : 2000) * s->effort;
	if (s->p->joint)
		steps /= 10; /* each look is a sum over states or causes */
	find_starts(s, &b, &t);
	for (uint32_t i = 0; i < t.n; i++) {
		pool_set(s, &b, t.count[i]);
		keep_if_better(s, &b, best);
		bool wide = best->cost > 1.03 * s->bound.cost; /* far from what is proven: look on */
		bool few = s->p->capacity < 2000;
		if (!is_best(s, best->cost) && (i < (few ? POLISHED : POLISHED / 2) || (wide && few))) {
			polish(s, &b, steps, 0.003);
			keep_if_better(s, &b, best);
		}
		free(t.count[i]);
	}
	free(b.count);
}

/* Where we have found nothing: every kind with the whole capacity, of which kinds are left out, the dearest first, while it still meets
 * the target. */
static bool from_all_kinds(struct search *s, struct fth_spot_plan *plan)
{
	uint32_t n = s->p->noffers, *order = fth_alloc((n + 1) * sizeof(*order));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;
		double price = fth_spot_unit_price(&s->p->offers[i]);
		plan->count[i] = (uint32_t)((s->p->capacity + s->p->offers[i].capacity - 1) / s->p->offers[i].capacity);
		for (; k && fth_spot_unit_price(&s->p->offers[order[k - 1]]) < price; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	fth_spot_measure(s->p, plan);
	bool met = plan->met;
	for (uint32_t i = 0; i < n && met; i++) {
		uint32_t was = plan->count[order[i]];
		plan->count[order[i]] = 0;
		fth_spot_measure(s->p, plan);
		if (!plan->met)
			plan->count[order[i]] = was;
	}
	if (!met)
		memset(plan->count, 0, n * sizeof(*plan->count));
	free(order);
	return met;
}

int fth_spot_search(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	struct search s = {
		.p = p,
		.cand = fth_alloc(p->noffers * sizeof(*s.cand)),
		.prob = fth_alloc(p->noffers * sizeof(*s.prob)),
		.all = fth_alloc(p->noffers * sizeof(*s.all)),
		.budget = 1 - p->target,
		.effort = p->effort ? p->effort : 10,
	};
	for (uint32_t i = 0; i < p->noffers; i++)
		s.prob[i] = fth_spot_p(p, i);
	fth_rng_seed(&s.rng, 1, 0x5b07, 0);
	choose_candidates(&s);
	fth_spot_plan_init(p, ret);
	struct best best = {.count = fth_alloc(p->noffers * sizeof(*best.count)), .cost = INFINITY};
	search_all(&s, &best);
	memcpy(ret->count, best.count, p->noffers * sizeof(*best.count));
	if (isinf(best.cost))
		from_all_kinds(&s, ret);
	fth_spot_measure(p, ret);
	ret->steps = s.looked;
	fth_spot_try_on_demand(p, ret);
	ret->bound = s.bound;
	free(best.count);
	free(s.cand);
	free(s.prob);
	free(s.all);
	return 0;
}
