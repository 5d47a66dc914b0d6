/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first branch and bound with Lagrangian bounds.
 *
 * Let l be any non-negative integer price per unit of each resource. A filling a (copies of each item)
 * that leaves `rest` of the capacity unused is worth
 *
 *     sum_i a_i v_i = l.capacity - l.rest + sum_i a_i (v_i - l.d_i),
 *
 * hence no more than U = l.capacity + sum_i b_i max(0, v_i - l.d_i), b_i being the most copies. Call
 * g_i = v_i - l.d_i an item's gain. Against U, a filling loses (b_i - a_i) g_i for an item of positive
 * gain, a_i |g_i| for the others, and l.rest. Losses only add up, so the search walks over choices in order
 * of their loss and stops where the loss reaches U - floor. With l from the linear relaxation U is
 * tight, and at the end of column generation U is barely above the floor: few nodes are left. The
 * relaxation is solved in floating point, but l is then rounded to integers, and U holds for any l.
 *
 * Different orders of filling reach the same rest; a table of rests already seen with no more loss
 * (and no fewer items to come) cuts those.
 */
#include "optimize/pricing.h"

#include <math.h>

#include "optimize/lp.h"

enum { TABLE_BITS = 14 };

struct seen {
	uint64_t rest;   /* packed */
	int64_t loss;
	uint32_t from;
	uint32_t round;  /* of which search; others are void */
};

struct item {
	uint32_t id;       /* the caller's */
	int64_t need[FTH_RES_MAX];
	int64_t most;      /* copies that the machine alone allows */
	int64_t value, gain, copies, chosen;
	double relaxed; /* copies in the relaxation's optimum */
};

struct fth_pricer {
	uint32_t n, nres;
	int64_t cap[FTH_RES_MAX];
	uint32_t shift[FTH_RES_MAX]; /* bits of the packed rest */
	bool packable;
	struct item *items, **order; /* order: active ones, positive gains first */
	struct fth_lp *lp;
	struct seen *table;
	uint32_t round;
	struct fth_filling *parts;
	/* one search */
	uint32_t active, positive;
	int64_t price[FTH_RES_MAX];
	int64_t top, floor, best, cut; /* U; best value found; greatest bound of a node not visited */
	uint64_t nodes, max_nodes;
};

/* Resources in their largest common unit; those that nothing here needs are dropped. */
static void reduce_resources(struct fth_pricer *p, const struct fth_res *capacity, const struct fth_res *demand)
{
	uint32_t bits = 0;
	for (int r = 0; r < FTH_RES_MAX; r++) {
		int64_t unit = 0;
		for (uint32_t i = 0; i < p->n; i++)
			unit = fth_gcd(unit, demand[p->items[i].id].v[r]);
		if (!unit)
			continue;
		p->cap[p->nres] = capacity->v[r] / unit;
		for (uint32_t i = 0; i < p->n; i++)
			p->items[i].need[p->nres] = demand[p->items[i].id].v[r] / unit;
		p->shift[p->nres++] = bits;
		for (int64_t c = capacity->v[r] / unit; c; c >>= 1)
			bits++;
	}
	p->packable = bits <= 64;
}

static void build_relaxation(struct fth_pricer *p)
{
	p->lp = fth_lp_new(p->nres);
	for (uint32_t r = 0; r < p->nres; r++)
		fth_lp_set_row(p->lp, r, -INFINITY, (double)p->cap[r]);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t rows[FTH_RES_MAX], n = 0;
		double coefs[FTH_RES_MAX];
		for (uint32_t r = 0; r < p->nres; r++)
			if (p->items[i].need[r]) {
				rows[n] = r;
				coefs[n++] = (double)p->items[i].need[r];
			}
		fth_lp_add_col(p->lp, 0, rows, coefs, n);
	}
}

struct fth_pricer *fth_pricer_new(const struct fth_res *capacity, const struct fth_res *demand, const char *usable,
				  uint32_t nitems)
{
	struct fth_pricer *p = fth_alloc(sizeof(*p));
	p->items = fth_alloc((nitems + 1) * sizeof(*p->items));
	p->order = fth_alloc((nitems + 1) * sizeof(*p->order));
	p->parts = fth_alloc((nitems + 1) * sizeof(*p->parts));
	p->table = fth_alloc(sizeof(*p->table) << TABLE_BITS);
	for (uint32_t i = 0; i < nitems; i++)
		if (usable[i] && fth_res_fits(&demand[i], capacity))
			p->items[p->n++].id = i;
	reduce_resources(p, capacity, demand);
	for (uint32_t i = 0; i < p->n; i++) {
		p->items[i].most = INT64_MAX;
		for (uint32_t r = 0; r < p->nres; r++)
			if (p->items[i].need[r])
				p->items[i].most = FTH_MIN(p->items[i].most, p->cap[r] / p->items[i].need[r]);
	}
	build_relaxation(p);
	return p;
}

void fth_pricer_free(struct fth_pricer *p)
{
	if (!p)
		return;
	fth_lp_free(p->lp);
	free(p->items);
	free(p->order);
	free(p->parts);
	free(p->table);
	free(p);
}

/* Set p->price from the duals of the relaxation. */
static void price_resources(struct fth_pricer *p, const int64_t *limit)
{
	int64_t largest = 1;
	for (uint32_t k = 0; k < p->active; k++)
		largest = FTH_MAX(largest, p->order[k]->value);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct item *it = &p->items[i];
		int64_t most = it->value > 0 ? FTH_MIN(limit[it->id], it->most) : 0;
		fth_lp_set_cost(p->lp, i, -(double)it->value / (double)largest);
		fth_lp_set_col(p->lp, i, 0, (double)FTH_MAX(most, 0));
	}
	int r = fth_lp_solve(p->lp);
	for (uint32_t i = 0; i < p->n; i++)
		p->items[i].relaxed = r ? 0 : fth_lp_value(p->lp, i);
	for (uint32_t k = 0; k < p->nres; k++) {
		double l = r == 0 || r == -EAGAIN ? -fth_lp_dual(p->lp, k) * (double)largest : 0;
		p->price[k] = l > 0 ? (int64_t)(l + 0.5) : 0;
	}
}

/* Positive gains first, the greatest first; then by loss per copy, by value, by number. */
static int by_loss(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void prepare(struct fth_pricer *p, const int64_t *value, const int64_t *limit)
{
	p->active = p->positive = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct item *it = &p->items[i];
		it->value = limit[it->id] > 0 && value[it->id] > 0 ? value[it->id] : 0;
		it->copies = FTH_MIN(limit[it->id], it->most);
		it->chosen = 0;
		if (it->value)
			p->order[p->active++] = it;
	}
	price_resources(p, limit);
	p->top = 0;
	for (uint32_t r = 0; r < p->nres; r++)
		p->top += p->price[r] * p->cap[r];
	for (uint32_t k = 0; k < p->active; k++) {
		struct item *it = p->order[k];
		it->gain = it->value;
		for (uint32_t r = 0; r < p->nres; r++)
			it->gain -= p->price[r] * it->need[r];
		if (it->gain > 0) {
			p->positive++;
			p->top += it->gain * it->copies;
		}
	}
	qsort(p->order, p->active, sizeof(*p->order), by_loss);
}

/* ---- the search ---- */

static int64_t room_for(const struct fth_pricer *p, const struct item *it, const int64_t *rest)
{
	int64_t n = it->copies;
	for (uint32_t r = 0; r < p->nres; r++)
		if (it->need[r] > rest[r])
			return 0;
	for (uint32_t r = 0; r < p->nres && n > 1; r++)
		if (it->need[r] && it->need[r] * n > rest[r])
			n = rest[r] / it->need[r];
	return n;
}

static void take(const struct fth_pricer *p, const struct item *it, int64_t copies, const int64_t *rest, int64_t *ret)
{
	for (uint32_t r = 0; r < p->nres; r++)
		ret[r] = rest[r] - copies * it->need[r];
}

static void record(struct fth_pricer *p, int64_t value)
{
	p->best = value;
	for (uint32_t k = 0; k < p->active; k++)
		p->parts[k] = (struct fth_filling){p->order[k]->id, (uint32_t)p->order[k]->chosen};
}

/* Whether this rest was reached before with no more loss and no fewer items still to come. */
static bool seen_before(struct fth_pricer *p, uint32_t from, const int64_t *rest, int64_t loss)
{
	if (!p->packable)
		return false;
	uint64_t key = 0;
	for (uint32_t r = 0; r < p->nres; r++)
		key |= (uint64_t)rest[r] << p->shift[r];
	struct seen *s = &p->table[fth_hash_u64(key) >> (64 - TABLE_BITS)];
	bool same = s->round == p->round && s->rest == key;
	if (same && s->from <= from && s->loss <= loss)
		return true;
	*s = (struct seen){.rest = key, .loss = loss, .from = from, .round = p->round};
	return false;
}

/* Whether a node with this loss need not be entered: it cannot beat the best, or the budget is spent. */
static bool closed(struct fth_pricer *p, int64_t loss)
{
	if (p->top - loss <= p->best)
		return true;
	if (p->nodes >= p->max_nodes) {
		p->cut = FTH_MAX(p->cut, p->top - loss);
		return true;
	}
	return false;
}

/* The i-th number of copies to try, of 0 .. room: from the relaxation's on down, then up. */
static int64_t choice(const struct item *it, int64_t room, int64_t i)
{
	int64_t from = FTH_MIN(room, (int64_t)ceil(it->relaxed - 1e-6));
	return i <= from ? from - i : i;
}

/* The relaxation rounded down, then whatever still fits: a first best that is hard to beat. */
static void round_relaxation(struct fth_pricer *p)
{
	int64_t rest[FTH_RES_MAX], value = 0;
	memcpy(rest, p->cap, sizeof(rest));
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < p->active; k++) {
			struct item *it = p->order[k];
			int64_t n = room_for(p, it, rest);
			n = FTH_MIN(n, pass ? it->copies - it->chosen : (int64_t)floor(it->relaxed + 1e-6));
			take(p, it, n, rest, rest);
			it->chosen += n;
			value += n * it->value;
		}
	}
	if (value > p->best)
		record(p, value);
	for (uint32_t k = 0; k < p->active; k++)
		p->order[k]->chosen = 0;
}

/* Items of order[from..] have gain <= 0: each copy taken loses -gain. */
static void fill(struct fth_pricer *p, uint32_t from, const int64_t *rest, int64_t loss)
{
	p->nodes++;
	int64_t unused = 0, next[FTH_RES_MAX];
	for (uint32_t r = 0; r < p->nres; r++)
		unused += p->price[r] * rest[r];
	if (p->top - loss - unused > p->best)
		record(p, p->top - loss - unused);
	if (seen_before(p, from, rest, loss))
		return;
	for (uint32_t k = from; k < p->active; k++) {
		struct item *it = p->order[k];
		if (p->top - loss + it->gain <= p->best)
			return; /* later ones lose no less */
		int64_t room = room_for(p, it, rest);
		for (int64_t i = 0; i <= room; i++) {
			int64_t n = choice(it, room, i);
			if (!n || closed(p, loss - n * it->gain))
				continue; /* none: that is what the next item's turn means */
			take(p, it, n, rest, next);
			it->chosen = n;
			fill(p, k + 1, next, loss - n * it->gain);
		}
		it->chosen = 0;
	}
}

/* Items of positive gain: each copy left out loses its gain. */
static void fill_positive(struct fth_pricer *p, uint32_t k, const int64_t *rest, int64_t loss)
{
	if (k == p->positive) {
		fill(p, k, rest, loss);
		return;
	}
	p->nodes++;
	struct item *it = p->order[k];
	int64_t next[FTH_RES_MAX];
	int64_t room = room_for(p, it, rest);
	for (int64_t n = room; n >= 0; n--) {
		int64_t after = loss + (it->copies - n) * it->gain;
		if (closed(p, after))
			break; /* fewer copies lose more */
		take(p, it, n, rest, next);
		it->chosen = n;
		fill_positive(p, k + 1, next, after);
	}
	it->chosen = 0;
}

void fth_pricer_solve(struct fth_pricer *p, const int64_t *value, const int64_t *limit, int64_t floor,
		      uint64_t max_nodes, struct fth_priced *ret)
{
	*ret = (struct fth_priced){.value = floor, .bound = floor, .complete = true, .parts = p->parts};
	prepare(p, value, limit);
	p->best = p->floor = floor;
	p->cut = INT64_MIN;
	p->nodes = 0;
	p->max_nodes = max_nodes;
	p->round++;
	if (!closed(p, 0)) {
		round_relaxation(p);
		fill_positive(p, 0, p->cap, 0);
	}
	ret->nodes = p->nodes;
	ret->found = p->best > floor;
	ret->value = p->best;
	ret->bound = FTH_MAX(p->best, p->cut);
	ret->complete = p->cut <= p->best;
	if (!ret->found)
		return;
	for (uint32_t k = 0; k < p->active; k++)
		if (p->parts[k].copies)
			p->parts[ret->nparts++] = p->parts[k];
}
