/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first branch and bound over multisets, item by item in a fixed order.
 *
 * Let S be what is on the machine. Its members of class c are together worth A_c alone and run at speed m_c; a
 * newcomer of class c would run at speed r_c. For any further items T, with l_cd = -ln pair[c][d],
 *
 *     value(S + T) <= sum_c A_c m_c exp(-sum_{j in T} l_cj) + sum_{j in T} v_j r_j
 *
 * (that the newcomers slow each other down too is left out). exp(-x) is convex, so up to the most X that x can be it
 * lies below the chord 1 - x (1 - exp(-X)) / X. So each newcomer j adds at most
 *
 *     w_j = v_j r_j - sum_c A_c m_c l_cj (1 - exp(-X_c)) / X_c,
 *
 * and T is a knapsack of these. Its bound: for any prices y >= 0 of the resources, each w_j is at most a y.d_j with
 * a = max_j w_j / (y.d_j), hence their sum at most a y.rest. Several y are tried: the duals of the relaxation at the
 * root, every resource by itself, and all of them evenly. It gets better as S grows, because r_c falls.
 *
 * Rounding: every figure here is made of some hundred sums and products of doubles, each wrong by 2^-53 of the largest
 * term at most, which is no more than the machine's value alone; together well below SLACK of it. A filling is given up
 * only if its bound with SLACK on top does not pass the best one, and what is returned as a bound has SLACK on top.
 */
#include "optimize/crowd.h"

#include <math.h>

#include "optimize/lp.h"

#define SLACK 1e-9
enum { TABLE = 64, VECTORS = FTH_RES_MAX + 2, DEPTH_MAX = 1024 };

struct item {
	uint32_t id, class;
	int64_t need[FTH_RES_MAX];
	double value;
	double price[VECTORS]; /* what it needs, at each vector of prices */
	uint32_t copies;
};

struct fth_crowd {
	const struct fth_pairs *pairs;
	uint32_t n, nres;
	int64_t cap[FTH_RES_MAX];
	struct item *items;
	struct fth_lp *lp;
	double *chord; /* [class * (TABLE + 1) + most newcomers] */
	struct fth_filling *parts;
	uint32_t nparts;
	/* one search */
	uint32_t active, nvectors;
	struct item **order;
	double y[VECTORS][FTH_RES_MAX];
	double *stack;    /* of nodes: see struct node */
	struct item **lists; /* of items that fit, by depth */
	uint32_t depth_max;
	double best, floor, cut, top;
	uint64_t nodes, work, max_work;
};

/* What is on the machine, by class; and what a newcomer would add. */
struct node {
	double *alone;    /* A */
	double *members;  /* m */
	double *newcomer; /* r */
	double *harm;     /* sum_c A_c m_c l_cj chord_c, by class of j */
	double value;
};

/* ---- pairs ---- */

void fth_pairs_init(struct fth_pairs *p, uint32_t n, const double *rate)
{
	*p = (struct fth_pairs){.n = n};
	p->rate = fth_alloc(((size_t)n * n + 1) * sizeof(*p->rate));
	p->loss = fth_alloc(((size_t)n * n + 1) * sizeof(*p->loss));
	p->loss_most = fth_alloc((n + 1) * sizeof(*p->loss_most));
	for (size_t i = 0; i < (size_t)n * n; i++) {
		p->rate[i] = rate[i];
		p->loss[i] = rate[i] > 1e-20 ? FTH_MAX(0.0, -fth_log(rate[i])) : 50;
		p->loss_most[i / n] = FTH_MAX(p->loss_most[i / n], p->loss[i]);
	}
}

void fth_pairs_release(struct fth_pairs *p)
{
	free(p->rate);
	free(p->loss);
	free(p->loss_most);
	*p = (struct fth_pairs){0};
}

void fth_crowd_speeds(const struct fth_pairs *pairs, const uint32_t *class, const struct fth_filling *parts, uint32_t n,
		      double *ret)
{
	for (uint32_t a = 0; a < n; a++) {
		ret[a] = 1;
		for (uint32_t b = 0; b < n; b++)
			for (uint32_t k = a == b; k < parts[b].copies; k++)
				ret[a] *= pairs->rate[class[parts[a].item] * pairs->n + class[parts[b].item]];
	}
}

/* ---- making one ---- */

static double chord_of(double x)
{
	return x > 1e-9 ? (1 - fth_exp(-x)) / x : 1 - x;
}

static void take_items(struct fth_crowd *p, const struct fth_res *capacity, const struct fth_res *demand,
		       const char *usable, const uint32_t *class, uint32_t nitems)
{
	for (uint32_t i = 0; i < nitems; i++)
		if (usable[i] && fth_res_fits(&demand[i], capacity))
			p->items[p->n++] = (struct item){.id = i, .class = class[i]};
	for (int r = 0; r < FTH_RES_MAX; r++) {
		bool needed = false;
		for (uint32_t i = 0; i < p->n; i++)
			needed |= demand[p->items[i].id].v[r] > 0;
		if (!needed)
			continue;
		p->cap[p->nres] = capacity->v[r];
		for (uint32_t i = 0; i < p->n; i++)
			p->items[i].need[p->nres] = demand[p->items[i].id].v[r];
		p->nres++;
	}
}

static void build_relaxation(struct fth_crowd *p)
{
	p->lp = fth_lp_new(p->nres);
	for (uint32_t r = 0; r < p->nres; r++)
		fth_lp_set_row(p->lp, r, -INFINITY, 1);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t rows[FTH_RES_MAX], n = 0;
		double coefs[FTH_RES_MAX];
		for (uint32_t r = 0; r < p->nres; r++)
			if (p->items[i].need[r]) {
				rows[n] = r;
				coefs[n++] = (double)p->items[i].need[r] / (double)p->cap[r];
			}
		fth_lp_add_col(p->lp, 0, rows, coefs, n);
	}
}

/* The most items that fit at once: each takes at least some share of the whole. */
static uint32_t most_items(const struct fth_crowd *p)
{
	double least = INFINITY;
	for (uint32_t i = 0; i < p->n; i++) {
		double share = 0;
		for (uint32_t r = 0; r < p->nres; r++)
			share += (double)p->items[i].need[r] / (double)p->cap[r];
		least = FTH_MIN(least, share);
	}
	double most = p->n ? (double)p->nres / least + 2 : 1;
	return most < DEPTH_MAX ? (uint32_t)most : DEPTH_MAX; /* what is deeper counts as cut off */
}

struct fth_crowd *fth_crowd_new(const struct fth_res *capacity, const struct fth_res *demand, const char *usable,
				const uint32_t *class, uint32_t nitems, const struct fth_pairs *pairs)
{
	struct fth_crowd *p = fth_alloc(sizeof(*p));
	p->pairs = pairs;
	p->items = fth_alloc((nitems + 1) * sizeof(*p->items));
	p->order = fth_alloc((nitems + 1) * sizeof(*p->order));
	p->parts = fth_alloc((nitems + 1) * sizeof(*p->parts));
	take_items(p, capacity, demand, usable, class, nitems);
	build_relaxation(p);
	p->depth_max = most_items(p);
	p->stack = fth_alloc((size_t)(p->depth_max + 2) * 4 * (pairs->n + 1) * sizeof(*p->stack));
	p->lists = fth_alloc((size_t)(p->depth_max + 2) * (p->n + 1) * sizeof(*p->lists));
	p->chord = fth_alloc((size_t)(pairs->n + 1) * (TABLE + 1) * sizeof(*p->chord));
	for (uint32_t c = 0; c < pairs->n; c++)
		for (uint32_t k = 0; k <= TABLE; k++)
			p->chord[c * (TABLE + 1) + k] = chord_of(k * pairs->loss_most[c]);
	return p;
}

void fth_crowd_free(struct fth_crowd *p)
{
	if (!p)
		return;
	fth_lp_free(p->lp);
	free(p->items);
	free(p->order);
	free(p->parts);
	free(p->stack);
	free(p->lists);
	free(p->chord);
	free(p);
}

/* ---- one search ---- */

static bool dominates(const struct fth_crowd *p, const struct item *a, const struct item *b)
{
	if (a->class != b->class || a->value < b->value)
		return false;
	bool same = a->value == b->value;
	for (uint32_t r = 0; r < p->nres; r++) {
		if (a->need[r] > b->need[r])
			return false;
		same &= a->need[r] == b->need[r];
	}
	return !same || a->id < b->id;
}

static int by_value(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Vectors of prices for the resources: the relaxation's, each alone, all evenly. */
static void price_resources(struct fth_crowd *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		fth_lp_set_cost(p->lp, i, -p->items[i].value);
	bool solved = !fth_lp_solve(p->lp);
	uint32_t v = 0;
	for (uint32_t r = 0; r < p->nres && solved; r++)
		p->y[v][r] = FTH_MAX(0.0, -fth_lp_dual(p->lp, r)) / (double)p->cap[r];
	v += solved;
	for (uint32_t r = 0; r < p->nres; r++)
		p->y[v][r] = 1 / (double)p->cap[r];
	v++;
	for (uint32_t k = 0; k < p->nres; k++, v++) {
		for (uint32_t r = 0; r < p->nres; r++)
			p->y[v][r] = 0;
		p->y[v][k] = 1 / (double)p->cap[k];
	}
	p->nvectors = v;
}

static void prepare(struct fth_crowd *p, const double *value)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		p->items[i].value = value[p->items[i].id] > 0 ? value[p->items[i].id] : 0;
		p->items[i].copies = 0;
		if (p->items[i].value > 0)
			p->order[n++] = &p->items[i];
	}
	p->active = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool beaten = false;
		for (uint32_t k = 0; k < n && !beaten; k++)
			beaten = k != i && dominates(p, p->order[k], p->order[i]);
		p->order[i]->copies = beaten;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!p->order[i]->copies)
			p->order[p->active++] = p->order[i];
		p->order[i]->copies = 0;
	}
	qsort(p->order, p->active, sizeof(*p->order), by_value);
	price_resources(p);
	for (uint32_t i = 0; i < p->active; i++)
		for (uint32_t v = 0; v < p->nvectors; v++) {
			struct item *it = p->order[i];
			it->price[v] = 0;
			for (uint32_t r = 0; r < p->nres; r++)
				it->price[v] += p->y[v][r] * (double)it->need[r];
		}
}

static struct node node_at(const struct fth_crowd *p, uint32_t depth)
{
	double *at = p->stack + (size_t)depth * 4 * (p->pairs->n + 1);
	uint32_t n = p->pairs->n + 1;
	return (struct node){.alone = at, .members = at + n, .newcomer = at + 2 * n, .harm = at + 3 * n};
}

static void add_item(const struct fth_crowd *p, const struct node *from, const struct item *it, struct node *to)
{
	uint32_t n = p->pairs->n;
	to->value = 0;
	for (uint32_t c = 0; c < n; c++) {
		double rate = p->pairs->rate[c * n + it->class];
		to->alone[c] = from->alone[c];
		to->newcomer[c] = from->newcomer[c] * rate;
		to->members[c] = from->alone[c] > 0 ? from->members[c] * rate : from->newcomer[c];
		if (c == it->class)
			to->alone[c] += it->value;
		to->value += to->alone[c] * to->members[c];
	}
}

static bool fits(const struct fth_crowd *p, const struct item *it, const int64_t *rest)
{
	for (uint32_t r = 0; r < p->nres; r++)
		if (it->need[r] > rest[r])
			return false;
	return true;
}

/* At most so many more of these items fit. */
static uint32_t most_newcomers(const struct fth_crowd *p, struct item *const *list, uint32_t n, const double *paid)
{
	double most = TABLE;
	for (uint32_t v = 0; v < p->nvectors; v++) {
		double least = INFINITY;
		for (uint32_t i = 0; i < n; i++)
			least = FTH_MIN(least, list[i]->price[v]);
		if (least > 0)
			most = FTH_MIN(most, paid[v] / least * (1 + SLACK));
	}
	return most < TABLE ? (uint32_t)most : TABLE + 1;
}

static void find_harm(const struct fth_crowd *p, struct node *s, uint32_t newcomers)
{
	uint32_t n = p->pairs->n;
	for (uint32_t d = 0; d < n; d++)
		s->harm[d] = 0;
	for (uint32_t c = 0; c < n; c++) {
		if (!(s->alone[c] > 0))
			continue;
		double chord = newcomers <= TABLE ? p->chord[c * (TABLE + 1) + newcomers] : 0;
		for (uint32_t d = 0; d < n; d++)
			s->harm[d] += s->alone[c] * s->members[c] * p->pairs->loss[c * n + d] * chord;
	}
}

static double added(const struct node *s, const struct item *it)
{
	return it->value * s->newcomer[it->class] - s->harm[it->class];
}

/* a of each vector: the most that a newcomer adds for what it needs. */
static void find_ratios(const struct fth_crowd *p, const struct node *s, struct item *const *list, uint32_t n, double *ratio)
{
	for (uint32_t v = 0; v < p->nvectors; v++)
		ratio[v] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct item *it = list[i];
		double w = added(s, it);
		for (uint32_t v = 0; w > 0 && v < p->nvectors; v++) {
			if (it->price[v] > 0)
				ratio[v] = FTH_MAX(ratio[v], w / it->price[v]);
			else
				ratio[v] = INFINITY;
		}
	}
}

static void pay(const struct fth_crowd *p, const int64_t *rest, double *ret)
{
	for (uint32_t v = 0; v < p->nvectors; v++) {
		ret[v] = 0;
		for (uint32_t r = 0; r < p->nres; r++)
			ret[v] += p->y[v][r] * (double)rest[r];
	}
}

/* The most that what is left of the machine can add. `less`: an item that takes its part of it first. */
static double rest_bound(const struct fth_crowd *p, const double *ratio, const double *paid, const struct item *less)
{
	double least = INFINITY;
	for (uint32_t v = 0; v < p->nvectors; v++) {
		double left = paid[v] - (less ? less->price[v] : 0);
		double b = ratio[v] > 0 ? ratio[v] * FTH_MAX(left, 0.0) : 0;
		if (b < least) /* infinity times nothing is no number: passed over */
			least = b;
	}
	return least;
}

static void record(struct fth_crowd *p, double value)
{
	p->best = value;
	p->nparts = 0;
	for (uint32_t i = 0; i < p->active; i++)
		if (p->order[i]->copies)
			p->parts[p->nparts++] = (struct fth_filling){p->order[i]->id, p->order[i]->copies};
}

/* Whether nothing below a node with this bound need be looked at. */
static bool closed(struct fth_crowd *p, double bound)
{
	if (bound + SLACK * (bound + p->top) <= p->best)
		return true;
	if (p->work >= p->max_work) {
		p->cut = FTH_MAX(p->cut, bound);
		return true;
	}
	return false;
}

/* Items are added in the order of the list, those that fit no more are dropped from it on the way. */
static void search(struct fth_crowd *p, struct node *s, uint32_t depth, struct item *const *list, uint32_t n,
		   const int64_t *rest)
{
	double ratio[VECTORS], paid[VECTORS];
	struct item **here = p->lists + (size_t)depth * p->active;
	uint32_t nhere = 0;
	p->nodes++;
	p->work += 16 + 4 * n;
	if (s->value > p->best)
		record(p, s->value);
	for (uint32_t i = 0; i < n; i++)
		if (fits(p, list[i], rest))
			here[nhere++] = list[i];
	if (!nhere)
		return;
	pay(p, rest, paid);
	find_harm(p, s, most_newcomers(p, here, nhere, paid));
	find_ratios(p, s, here, nhere, ratio);
	double bound = s->value + rest_bound(p, ratio, paid, NULL);
	if (closed(p, bound))
		return;
	if (depth + 1 >= p->depth_max) {
		p->cut = FTH_MAX(p->cut, bound);
		return;
	}
	for (uint32_t i = 0; i < nhere; i++) {
		struct item *it = here[i];
		if (closed(p, s->value + added(s, it) + rest_bound(p, ratio, paid, it)))
			continue;
		int64_t next[FTH_RES_MAX];
		struct node child = node_at(p, depth + 1);
		for (uint32_t r = 0; r < p->nres; r++)
			next[r] = rest[r] - it->need[r];
		add_item(p, s, it, &child);
		it->copies++;
		search(p, &child, depth + 1, here + i, nhere - i, next);
		it->copies--;
	}
}

/* From each item on, always the one that raises the value most: a first best that is hard to beat. */
static void greedy(struct fth_crowd *p)
{
	struct node now = node_at(p, 0), next = node_at(p, 1), keep = node_at(p, 2);
	uint32_t n = p->pairs->n;
	for (uint32_t first = 0; first < p->active; first++) {
		int64_t rest[FTH_RES_MAX];
		memcpy(rest, p->cap, sizeof(rest));
		for (uint32_t c = 0; c < n; c++) {
			now.alone[c] = 0;
			now.newcomer[c] = now.members[c] = 1;
		}
		now.value = 0;
		for (uint32_t depth = 0; depth + 3 < p->depth_max; depth++) {
			uint32_t at = FTH_NONE;
			double most = now.value;
			for (uint32_t i = depth ? 0 : first; i < (depth ? p->active : first + 1); i++) {
				if (!fits(p, p->order[i], rest))
					continue;
				add_item(p, &now, p->order[i], &next);
				if (next.value > most) {
					most = next.value;
					at = i;
				}
			}
			if (at == FTH_NONE)
				break;
			add_item(p, &now, p->order[at], &keep);
			memcpy(now.alone, keep.alone, 3 * (n + 1) * sizeof(*now.alone));
			now.value = keep.value;
			p->order[at]->copies++;
			for (uint32_t r = 0; r < p->nres; r++)
				rest[r] -= p->order[at]->need[r];
		}
		if (now.value > p->best)
			record(p, now.value);
		for (uint32_t i = 0; i < p->active; i++)
			p->order[i]->copies = 0;
	}
}

void fth_crowd_solve(struct fth_crowd *p, const double *value, double floor, uint64_t max_work, struct fth_crowded *ret)
{
	prepare(p, value);
	p->best = p->floor = p->top = floor;
	p->cut = 0;
	p->nodes = p->work = 0;
	p->max_work = max_work;
	p->nparts = 0;
	struct node root = node_at(p, 0);
	if (p->active)
		greedy(p);
	for (uint32_t c = 0; c < p->pairs->n; c++) {
		root.alone[c] = 0;
		root.newcomer[c] = root.members[c] = 1;
	}
	if (p->active)
		search(p, &root, 0, p->order, p->active, p->cap);
	double most = FTH_MAX(p->best, p->cut);
	*ret = (struct fth_crowded){.found = p->best > floor,
				    .value = p->best,
				    .bound = p->active ? most + SLACK * (most + p->top) : floor,
				    .complete = p->cut <= p->best,
				    .nodes = p->nodes + 1,
				    .work = p->work + 50 + 10 * p->n,
				    .parts = p->parts,
				    .nparts = p->nparts};
}
