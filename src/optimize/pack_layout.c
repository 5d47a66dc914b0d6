/* SPDX-License-Identifier: Apache-2.0 */
/* Integer plans: building them greedily, and making them a little cheaper. */
#include "optimize/pack_internal.h"

enum { GREEDY_NODES = 200 };

void fth_layout_release(struct fth_layout *p)
{
	fth_vec_release(&p->bins);
	fth_vec_release(&p->parts);
	*p = (struct fth_layout){0};
}

void fth_layout_add(const struct fth_pack_problem *p, struct fth_layout *plan, uint32_t type, int64_t repeat,
		  const struct fth_filling *parts, uint32_t n)
{
	struct fth_layout_bin bin = {.type = type, .first = (uint32_t)plan->parts.len, .n = n, .repeat = repeat};
	fth_vec_reserve(&plan->parts, plan->parts.len + n);
	for (uint32_t i = 0; i < n; i++)
		fth_vec_push(&plan->parts, parts[i]);
	fth_vec_push(&plan->bins, bin);
	plan->cost += p->price[type] * repeat;
}

static bool any_left(const struct fth_pack_problem *p, const int64_t *left)
{
	for (uint32_t g = 0; g < p->ngroups; g++)
		if (left[g] > 0)
			return true;
	return false;
}

/* Whether value a at price pa is a better buy than value b at price pb. */
static bool better_buy(int64_t a, fth_price pa, int64_t b, fth_price pb)
{
	__int128 x = (__int128)a * pb, y = (__int128)b * pa;
	return x > y || (x == y && a > b);
}

void fth_layout_greedy(const struct fth_pack_problem *p, struct fth_config_lp *l, const int64_t *value, int64_t *left,
		     struct fth_layout *plan)
{
	int64_t *v = fth_alloc((p->ngroups + 1) * sizeof(*v));
	struct fth_filling *parts = fth_alloc((p->ngroups + 1) * sizeof(*parts));
	for (uint32_t g = 0; g < p->ngroups; g++)
		v[g] = FTH_MAX(value[g], 1);
	while (any_left(p, left)) {
		int64_t best = 0;
		uint32_t type = FTH_NONE, n = 0;
		for (uint32_t t = 0; t < p->ntypes; t++) {
			struct fth_priced out;
			fth_pricer_solve(l->types[t].pricer, v, left, 0, GREEDY_NODES, &out);
			if (!out.found || (type != FTH_NONE && !better_buy(out.value, p->price[t], best, p->price[type])))
				continue;
			best = out.value;
			type = t;
			n = out.nparts;
			memcpy(parts, out.parts, n * sizeof(*parts));
		}
		assert(type != FTH_NONE); /* every group fits some type alone */
		int64_t repeat = INT64_MAX;
		for (uint32_t i = 0; i < n; i++)
			repeat = FTH_MIN(repeat, left[parts[i].item] / parts[i].copies);
		for (uint32_t i = 0; i < n; i++)
			left[parts[i].item] -= repeat * parts[i].copies;
		fth_layout_add(p, plan, type, repeat, parts, n);
	}
	free(v);
	free(parts);
}

/* ---- improvement ---- */

static bool holds(const struct fth_pack_problem *p, uint32_t type, const struct fth_filling *parts, uint32_t n,
		  struct fth_res *room)
{
	for (uint32_t i = 0; i < n; i++) {
		size_t at = (size_t)type * p->ngroups + parts[i].item;
		if (!p->usable[at])
			return false;
		for (int r = 0; r < FTH_RES_MAX; r++) {
			room->v[r] -= p->demand[at].v[r] * parts[i].copies;
			if (room->v[r] < 0)
				return false;
		}
	}
	return true;
}

/* The cheapest type, if cheaper than `below`, that holds both fillings. */
static uint32_t cheapest_holder(const struct fth_pack_problem *p, const struct fth_filling *a, uint32_t na,
				const struct fth_filling *b, uint32_t nb, fth_price below)
{
	uint32_t best = FTH_NONE;
	for (uint32_t t = 0; t < p->ntypes; t++) {
		struct fth_res room = p->capacity[t];
		if (p->price[t] >= below || !holds(p, t, a, na, &room) || !holds(p, t, b, nb, &room))
			continue;
		best = t;
		below = p->price[t];
	}
	return best;
}

uint32_t fth_layout_holder(const struct fth_pack_problem *p, const struct fth_filling *parts, uint32_t n,
			 fth_price below)
{
	return cheapest_holder(p, parts, n, NULL, 0, below);
}

static void downsize(const struct fth_pack_problem *p, struct fth_layout *plan)
{
	for (size_t i = 0; i < plan->bins.len; i++) {
		struct fth_layout_bin *b = &plan->bins.data[i];
		uint32_t t = fth_layout_holder(p, plan->parts.data + b->first, b->n, p->price[b->type]);
		if (t == FTH_NONE)
			continue;
		plan->cost -= (p->price[b->type] - p->price[t]) * b->repeat;
		b->type = t;
	}
}

/* The two fillings on one machine of type t, `times` times, instead of apart. */
static void join(const struct fth_pack_problem *p, struct fth_layout *plan, size_t i, size_t j, uint32_t t, int64_t times)
{
	uint32_t first = (uint32_t)plan->parts.len, n = 0;
	size_t from[2] = {i, j};
	for (int k = 0; k < 2; k++) {
		struct fth_layout_bin *b = &plan->bins.data[from[k]];
		for (uint32_t q = 0; q < b->n; q++) {
			struct fth_filling f = plan->parts.data[b->first + q];
			uint32_t at = 0;
			while (at < n && plan->parts.data[first + at].item != f.item)
				at++;
			if (at < n) {
				plan->parts.data[first + at].copies += f.copies;
			} else {
				fth_vec_push(&plan->parts, f);
				n++;
			}
		}
		b->repeat -= times;
		plan->cost -= p->price[b->type] * times;
	}
	struct fth_layout_bin both = {.type = t, .first = first, .n = n, .repeat = times};
	plan->cost += p->price[t] * times;
	fth_vec_push(&plan->bins, both);
}

static void merge_pairs(const struct fth_pack_problem *p, struct fth_layout *plan)
{
	for (size_t i = 0; i < plan->bins.len; i++) {
		for (size_t j = 0; j <= i && plan->bins.data[i].repeat; j++) {
			const struct fth_layout_bin *a = &plan->bins.data[i], *b = &plan->bins.data[j];
			int64_t times = i == j ? a->repeat / 2 : FTH_MIN(a->repeat, b->repeat);
			if (!times)
				continue;
			const struct fth_filling *parts = plan->parts.data;
			uint32_t t = cheapest_holder(p, parts + a->first, a->n, parts + b->first, b->n,
						     p->price[a->type] + p->price[b->type]);
			if (t != FTH_NONE)
				join(p, plan, i, j, t, times);
		}
	}
	size_t kept = 0;
	for (size_t i = 0; i < plan->bins.len; i++)
		if (plan->bins.data[i].repeat)
			plan->bins.data[kept++] = plan->bins.data[i];
	plan->bins.len = kept;
}

void fth_layout_improve(const struct fth_pack_problem *p, struct fth_layout *plan)
{
	fth_price before;
	do {
		before = plan->cost;
		downsize(p, plan);
		merge_pairs(p, plan);
	} while (plan->cost < before);
}
