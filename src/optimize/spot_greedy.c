/* SPDX-License-Identifier: Apache-2.0 */
/* The planners that add one machine at a time: the paper's, the released program's, and their rivals. */
#include <math.h>

#include "optimize/spot.h"
#include "optimize/spot_internal.h"

/* Offers in some order, and a pool that grows over them. upto[k] is the distribution of the first k of them: a candidate's pool
 * differs from the present one in one place only, so only what stands behind that place is convolved again. */
struct growth {
	const struct fth_spot_problem *p;
	uint32_t *order, *count; /* by place in the order */
	double *prob;
	struct fth_capacity_dist *dist;         /* after each offer that is in the pool; made when it first is */
	const struct fth_capacity_dist **upto;  /* noffers + 1 */
	struct fth_capacity_dist scratch;
	uint64_t total;
	int64_t memory;
	double cost;
	uint64_t steps;
	double *keys; /* while sorting */
};

static double log10_of(double x)
{
	return fth_log(x) / fth_log(10);
}

static int by_key(const void *a, const void *b, void *keys)
{
	const double *k = keys;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (k[x] != k[y])
		return k[x] < k[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static double key_eq6(const struct fth_spot_problem *p, uint32_t i)
{
	return p->offers[i].price * log10_of(1 / fth_spot_p(p, i)) / (double)p->offers[i].capacity;
}

static double key_price(const struct fth_spot_problem *p, uint32_t i)
{
	return fth_spot_unit_price(&p->offers[i]);
}

static void growth_init(struct growth *g, const struct fth_spot_problem *p,
			double (*key)(const struct fth_spot_problem *p, uint32_t i))
{
	uint32_t n = p->noffers;
	*g = (struct growth){.p = p};
	g->order = fth_alloc(n * sizeof(*g->order));
	g->count = fth_alloc(n * sizeof(*g->count));
	g->prob = fth_alloc(n * sizeof(*g->prob));
	g->keys = fth_alloc(n * sizeof(*g->keys));
	for (uint32_t i = 0; i < n; i++) {
		g->order[i] = i;
		g->keys[i] = key(p, i);
	}
	qsort_r(g->order, n, sizeof(*g->order), by_key, g->keys);
	g->dist = fth_alloc((n + 1) * sizeof(*g->dist));
	g->upto = fth_alloc((n + 1) * sizeof(*g->upto));
	fth_capacity_dist_init(&g->dist[0], (size_t)p->capacity);
	for (uint32_t i = 0; i <= n; i++)
		g->upto[i] = &g->dist[0];
	fth_capacity_dist_init(&g->scratch, (size_t)p->capacity);
	for (uint32_t i = 0; i < n; i++)
		g->prob[i] = fth_spot_p(p, g->order[i]);
}

static const struct fth_spot_offer *at(const struct growth *g, uint32_t k)
{
	return &g->p->offers[g->order[k]];
}

/* Probability of at least m units with one machine more of k. */
static double availability_with(struct growth *g, uint32_t k, uint64_t m)
{
	struct fth_capacity_dist *d = &g->scratch;
	size_t len = d->len;
	d->len = (size_t)FTH_MAX(m, (uint64_t)1); /* what is not asked for need not be computed */
	memcpy(d->pmf, g->upto[k]->pmf, d->len * sizeof(double));
	fth_capacity_dist_add(d, (g->count[k] + 1) * at(g, k)->capacity, g->prob[k]);
	for (uint32_t i = k + 1; i < g->p->noffers; i++)
		fth_capacity_dist_add(d, g->count[i] * at(g, i)->capacity, g->prob[i]);
	double a = 1 - fth_capacity_dist_below(d, m);
	d->len = len;
	return a;
}

static double availability_now(const struct growth *g, uint64_t m)
{
	return 1 - fth_capacity_dist_below(g->upto[g->p->noffers], m);
}

static void count_in(struct growth *g, uint32_t k)
{
	g->count[k]++;
	g->total += at(g, k)->capacity;
	g->memory += at(g, k)->memory;
	g->cost += at(g, k)->price;
	g->steps++;
}

/* The distributions of the pool as it is now; nothing before k has changed. */
static void convolve_from(struct growth *g, uint32_t k)
{
	for (uint32_t i = k; i < g->p->noffers; i++) {
		struct fth_capacity_dist *d = &g->dist[i + 1];
		if (!g->count[i]) {
			g->upto[i + 1] = g->upto[i];
			continue;
		}
		if (!d->len)
			fth_capacity_dist_init(d, (size_t)g->p->capacity);
		fth_capacity_dist_copy(d, g->upto[i]);
		fth_capacity_dist_add(d, g->count[i] * at(g, i)->capacity, g->prob[i]);
		g->upto[i + 1] = d;
	}
}

static void grow(struct growth *g, uint32_t k)
{
	count_in(g, k);
	convolve_from(g, k);
}

/* The pool becomes the plan; the growth is done with. */
static void finish(struct growth *g, struct fth_spot_plan *ret)
{
	fth_spot_plan_init(g->p, ret);
	for (uint32_t k = 0; k < g->p->noffers; k++)
		ret->count[g->order[k]] = g->count[k];
	fth_spot_measure(g->p, ret);
	if (!g->p->joint && g->total >= g->p->capacity) {
		/* Convolved in the order of the greedy: the bits of the published figures. */
		ret->availability = availability_now(g, g->p->capacity);
		ret->met = ret->availability >= g->p->target && ret->memory >= g->p->memory;
	}
	ret->steps = g->steps;
	for (uint32_t i = 0; i <= g->p->noffers; i++)
		fth_capacity_dist_release(&g->dist[i]);
	fth_capacity_dist_release(&g->scratch);
	free(g->dist);
	free(g->upto);
	free(g->order);
	free(g->count);
	free(g->prob);
	free(g->keys);
}

/* ---- the paper ---- */

/* below[m]: probability of fewer than m units in the present pool. */
static void cumulate(const struct growth *g, double *below)
{
	const struct fth_capacity_dist *d = g->upto[g->p->noffers];
	below[0] = 0;
	for (size_t c = 0; c < d->len; c++)
		below[c + 1] = below[c] + d->pmf[c];
}

/* Availability of the capacity, or of the pool's own while it is smaller, with one machine more of k. A kind that is not in the
 * pool yet is one shifted look-up, so that only those that are in it are convolved. */
static double marginal(struct growth *g, const double *below, uint32_t k)
{
	uint64_t more = at(g, k)->capacity, m = FTH_MIN(g->total + more, g->p->capacity);
	if (g->count[k])
		return availability_with(g, k, m);
	double p = g->prob[k];
	return 1 - ((1 - p) * below[m] + p * below[m > more ? m - more : 0]);
}

/*
 * Equation 6 with the marginal availability of section 3.3: the machine with the least s log(1/A), where s is its price per unit
 * and A the availability that the pool then has. Until the target and the memory are met, or the pool costs more than the capacity
 * on demand: then that is rented.
 */
int fth_spot_tr(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	struct growth g;
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	double limit = fth_spot_on_demand(p), *below = fth_alloc((p->capacity + 1) * sizeof(*below));
	bool met = false;
	growth_init(&g, p, key_eq6);
	while (!met && (limit > 0 ? g.cost <= limit : g.total < 3 * p->capacity)) {
		double best = INFINITY;
		uint32_t chosen = 0;
		cumulate(&g, below);
		for (uint32_t k = 0; k < p->noffers; k++) {
			double score = key_price(p, g.order[k]) * fth_log(1 / FTH_MAX(marginal(&g, below, k), 1e-300));
			if (score < best) {
				best = score;
				chosen = k;
			}
		}
		grow(&g, chosen);
		met = g.total >= p->capacity && g.memory >= p->memory && availability_now(&g, p->capacity) >= p->target;
	}
	free(below);
	finish(&g, ret);
	if (limit > 0 && (!ret->met || ret->cost > limit))
		fth_spot_try_on_demand(p, ret);
	return 0;
}

/* ---- the released program ---- */

/*
 * It scores whole pools, K log10(1/A), for the first i+1 types of equation 6's order in step i; while the pool is below the
 * capacity, A is that of half of the pool; a candidate above the capacity is taken only if its A is no less than that of the
 * last one taken in this step. It stops when such a candidate met the target, or at three times the capacity.
 */
static uint32_t artifact_step(struct growth *g, uint32_t candidates, bool *ret_met)
{
	const struct fth_spot_problem *p = g->p;
	double best = INFINITY, best_a = -INFINITY;
	uint32_t chosen = FTH_NONE;
	*ret_met = false;
	for (uint32_t k = 0; k < candidates; k++) {
		double cost = 0;
		for (uint32_t i = 0; i < p->noffers; i++)
			cost += (g->count[i] + (i == k)) * at(g, i)->price;
		uint64_t total = g->total + at(g, k)->capacity;
		bool full = total >= p->capacity;
		double a = availability_with(g, k, full ? p->capacity : (total + 1) / 2);
		double score = cost * log10_of(1 / a);
		if (!(score < best) || (full && a < best_a))
			continue;
		best = score;
		chosen = k;
		*ret_met = full && a >= p->target;
		if (full)
			best_a = a;
	}
	return chosen;
}

int fth_spot_tr_artifact(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	struct growth g;
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	growth_init(&g, p, key_eq6);
	for (uint32_t i = 0;; i++) {
		bool met;
		uint32_t k = artifact_step(&g, FTH_MIN(i + 1, p->noffers), &met);
		if (k == FTH_NONE)
			break;
		grow(&g, k);
		if (met || g.total >= 3 * p->capacity)
			break;
	}
	finish(&g, ret);
	return 0;
}

/* ---- rivals ---- */

int fth_spot_cheapest(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	struct growth g;
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	growth_init(&g, p, key_price);
	while (g.total < p->capacity)
		count_in(&g, 0);
	convolve_from(&g, 0);
	finish(&g, ret);
	return 0;
}

int fth_spot_diverse(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	enum { DIVERSE = 10 };
	struct growth g;
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	growth_init(&g, p, key_price);
	uint32_t n = FTH_MIN((uint32_t)DIVERSE, p->noffers);
	for (uint32_t k = 0; g.total < p->capacity; k = (k + 1) % n)
		count_in(&g, k);
	convolve_from(&g, 0);
	finish(&g, ret);
	return 0;
}

/* The machine after which most is there; of equals the one with the cheapest capacity. */
int fth_spot_available(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	struct growth g;
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	growth_init(&g, p, key_price);
	for (;;) {
		double best = -1;
		uint32_t chosen = 0;
		for (uint32_t k = 0; k < p->noffers; k++) {
			uint64_t total = g.total + at(&g, k)->capacity;
			double a = availability_with(&g, k, total >= p->capacity ? p->capacity : (total + 1) / 2);
			if (a > best) {
				best = a;
				chosen = k;
			}
		}
		grow(&g, chosen);
		if (g.total >= 3 * p->capacity ||
		    (g.total >= p->capacity && availability_now(&g, p->capacity) >= p->target))
			break;
	}
	finish(&g, ret);
	return 0;
}
