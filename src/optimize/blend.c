/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/blend.h"

#include <math.h>

#include "optimize/lp.h"

/* All sums of this file are of positive terms: wrong by less than this share, whatever their order. */
#define ROUNDING 1e-9
/* The LP counts as solved once what is proven is this near. */
#define NEAR 1e-6
/* A configuration must be worth this much more than its price to become a column. */
#define WORTHWHILE 1e-7
enum { ROUNDS_MAX = 5000, NODE = 2 /* of the knapsack in integers, in units of work */ };

struct column {
	uint32_t type, first, n;
};

struct solver {
	const struct fth_blend_input *in;
	struct fth_crowd **crowds;   /* by type; NULL when nobody slows anybody down */
	struct fth_pricer **pricers; /* by type; then these */
	int64_t *limit, *values;     /* of the pricers, by row */
	double *alone;               /* value by row on one type */
	double *work;                /* scaled so that the greatest is 1 */
	double scale;
	struct fth_lp *lp;
	double *dual;                /* by row */
	FTH_VEC(struct column) columns;
	FTH_VEC(struct fth_blend_part) parts;
	struct fth_map seen;         /* hashes of columns */
	uint64_t spent, nodes;
};

/* ---- columns ---- */

static bool add_column(struct solver *s, uint32_t type, const struct fth_filling *parts, uint32_t n)
{
	const struct fth_blend_input *in = s->in;
	uint64_t hash = fth_hash_bytes(parts, n * sizeof(*parts), type + 1);
	if (fth_map_get(&s->seen, hash, NULL))
		return false;
	fth_map_put(&s->seen, hash, 1);
	uint32_t *rows = fth_alloc((n + 1) * sizeof(*rows));
	double *coefs = fth_alloc((n + 1) * sizeof(*coefs)), *speeds = fth_alloc((n + 1) * sizeof(*speeds));
	for (uint32_t i = 0; i < n; i++)
		speeds[i] = 1;
	if (in->pairs)
		fth_crowd_speeds(in->pairs, in->class, parts, n, speeds);
	struct column c = {type, (uint32_t)s->parts.len, n};
	for (uint32_t i = 0; i < n; i++) {
		struct fth_blend_part part = {parts[i].item, parts[i].copies,
					    speeds[i] * in->speed[(size_t)type * in->nrows + parts[i].item]};
		rows[i] = part.row;
		coefs[i] = part.speed * part.copies;
		fth_vec_push(&s->parts, part);
	}
	fth_vec_push(&s->columns, c);
	fth_lp_add_col(s->lp, in->price[type], rows, coefs, n);
	free(rows);
	free(coefs);
	free(speeds);
	return true;
}

static int64_t most_copies(const struct fth_res *need, const struct fth_res *capacity)
{
	int64_t most = INT64_MAX;
	for (int r = 0; r < FTH_RES_MAX; r++)
		if (need->v[r] > 0)
			most = FTH_MIN(most, capacity->v[r] / need->v[r]);
	return most;
}

/* Each row by itself on the type and in the number that does its work for the least. */
static void add_first_columns(struct solver *s)
{
	const struct fth_blend_input *in = s->in;
	for (uint32_t r = 0; r < in->nrows; r++) {
		double least = INFINITY;
		struct fth_filling best = {r, 0};
		uint32_t type = 0;
		for (uint32_t t = 0; t < in->ntypes; t++) {
			size_t at = (size_t)t * in->nrows + r;
			int64_t fit = in->speed[at] > 0 ? most_copies(&in->demand[at], &in->capacity[t]) : 0;
			uint32_t most = (uint32_t)FTH_MIN(fit, 1000000);
			double self = in->pairs ? in->pairs->rate[in->class[r] * (in->pairs->n + 1)] : 1, speed = 1;
			for (uint32_t k = 1; k <= FTH_MIN(most, 64u); k++, speed *= self) {
				uint32_t copies = self < 1 ? k : most;
				double price = in->price[t] / (in->speed[at] * speed * copies);
				if (price < least) {
					least = price;
					best.copies = copies;
					type = t;
				}
			}
		}
		add_column(s, type, &best, 1);
	}
}

/* ---- pricing ---- */

struct priced {
	double bound; /* no configuration of the type is worth more */
	bool added;   /* a new column */
	bool complete;
};

/* Without interference: the knapsack in integers. Values are rounded up, so that what it proves holds for ours. */
static struct priced price_apart(struct solver *s, uint32_t t, uint64_t max_work)
{
	const struct fth_blend_input *in = s->in;
	double total = in->price[t] * 2;
	for (uint32_t r = 0; r < in->nrows; r++) {
		size_t at = (size_t)t * in->nrows + r;
		s->limit[r] = in->speed[at] > 0 ? most_copies(&in->demand[at], &in->capacity[t]) : 0;
		total += (double)s->limit[r] * s->alone[r];
	}
	double unit = 0x1p58 / total;
	for (uint32_t r = 0; r < in->nrows; r++)
		s->values[r] = s->alone[r] > 0 ? (int64_t)ceil(s->alone[r] * unit) : 0;
	struct fth_priced out;
	fth_pricer_solve(s->pricers[t], s->values, s->limit, (int64_t)(in->price[t] * (1 + WORTHWHILE) * unit), max_work / NODE,
			 &out);
	s->nodes += out.nodes;
	s->spent += NODE * out.nodes;
	struct priced ret = {.bound = (double)out.bound / unit * (1 + ROUNDING), .complete = out.complete};
	if (out.found)
		ret.added = add_column(s, t, out.parts, out.nparts);
	return ret;
}

static struct priced price_crowded(struct solver *s, uint32_t t, uint64_t max_work)
{
	struct fth_crowded out;
	fth_crowd_solve(s->crowds[t], s->alone, s->in->price[t] * (1 + WORTHWHILE), max_work * 5, &out);
	s->nodes += out.nodes;
	s->spent += out.work / 5;
	struct priced ret = {.bound = out.bound, .complete = out.complete};
	if (out.found)
		ret.added = add_column(s, t, out.parts, out.nparts);
	return ret;
}

static struct priced price_type(struct solver *s, uint32_t t, uint64_t max_work)
{
	const struct fth_blend_input *in = s->in;
	for (uint32_t r = 0; r < in->nrows; r++)
		s->alone[r] = s->dual[r] * in->speed[(size_t)t * in->nrows + r];
	s->spent += 10 * in->nrows;
	return s->crowds ? price_crowded(s, t, max_work) : price_apart(s, t, max_work);
}

/* ---- the whole ---- */

static void open_solver(struct solver *s, const struct fth_blend_input *in)
{
	*s = (struct solver){.in = in, .scale = 0};
	char *usable = fth_alloc((size_t)in->nrows + 1);
	s->limit = fth_alloc((in->nrows + 1) * sizeof(*s->limit));
	s->values = fth_alloc((in->nrows + 1) * sizeof(*s->values));
	s->alone = fth_alloc((in->nrows + 1) * sizeof(*s->alone));
	s->work = fth_alloc((in->nrows + 1) * sizeof(*s->work));
	s->dual = fth_alloc((in->nrows + 1) * sizeof(*s->dual));
	if (in->pairs)
		s->crowds = fth_alloc((in->ntypes + 1) * sizeof(*s->crowds));
	else
		s->pricers = fth_alloc((in->ntypes + 1) * sizeof(*s->pricers));
	for (uint32_t t = 0; t < in->ntypes; t++) {
		const struct fth_res *need = in->demand + (size_t)t * in->nrows;
		for (uint32_t r = 0; r < in->nrows; r++)
			usable[r] = in->speed[(size_t)t * in->nrows + r] > 0;
		if (in->pairs)
			s->crowds[t] = fth_crowd_new(&in->capacity[t], need, usable, in->class, in->nrows, in->pairs);
		else
			s->pricers[t] = fth_pricer_new(&in->capacity[t], need, usable, in->nrows);
	}
	free(usable);
	for (uint32_t r = 0; r < in->nrows; r++)
		s->scale = FTH_MAX(s->scale, in->work[r]);
	s->lp = fth_lp_new(in->nrows);
	for (uint32_t r = 0; r < in->nrows; r++) {
		s->work[r] = in->work[r] / s->scale;
		fth_lp_set_row(s->lp, r, s->work[r], INFINITY);
	}
	add_first_columns(s);
}

static void close_solver(struct solver *s)
{
	for (uint32_t t = 0; t < s->in->ntypes; t++) {
		if (s->crowds)
			fth_crowd_free(s->crowds[t]);
		else
			fth_pricer_free(s->pricers[t]);
	}
	free(s->crowds);
	free(s->pricers);
	free(s->limit);
	free(s->values);
	free(s->alone);
	free(s->work);
	free(s->dual);
	fth_lp_free(s->lp);
	fth_vec_release(&s->columns);
	fth_vec_release(&s->parts);
	fth_map_release(&s->seen);
}

/* Keep what these duals prove, if it is more than what was. */
static void keep_bound(const struct solver *s, struct fth_blend *m, double factor)
{
	double sum = 0;
	for (uint32_t r = 0; r < s->in->nrows; r++)
		sum += s->in->work[r] * s->dual[r];
	sum *= factor * (1 - ROUNDING);
	if (!(sum > m->bound))
		return;
	m->bound = sum;
	for (uint32_t r = 0; r < s->in->nrows; r++)
		m->value[r] = s->dual[r] * factor;
}

/* Price every type under the present duals; exactly: with all the work that is left. Returns the number of new columns. */
static uint32_t price_all(struct solver *s, struct fth_blend *m, const struct fth_blend_effort *effort, bool exact,
			  bool *ret_complete)
{
	uint32_t added = 0;
	double factor = 1;
	*ret_complete = true;
	for (uint32_t t = 0; t < s->in->ntypes; t++) {
		uint64_t left = effort->work > s->spent ? (effort->work - s->spent) / (s->in->ntypes - t) : 0;
		struct priced p = price_type(s, t, exact ? FTH_MAX(left, effort->quick) : effort->quick);
		added += p.added;
		*ret_complete &= p.complete;
		factor = FTH_MIN(factor, s->in->price[t] / p.bound);
	}
	keep_bound(s, m, factor);
	return added;
}

static void generate(struct solver *s, struct fth_blend *m, const struct fth_blend_effort *effort)
{
	bool exact = false, complete;
	for (m->rounds = 0; m->rounds < ROUNDS_MAX; m->rounds++) {
		uint64_t before = fth_lp_work(s->lp);
		int r = fth_lp_solve(s->lp);
		s->spent += (fth_lp_work(s->lp) - before) / 100;
		if (r && r != -EAGAIN)
			break;
		m->objective = fth_lp_objective(s->lp) * s->scale;
		for (uint32_t k = 0; k < s->in->nrows; k++)
			s->dual[k] = FTH_MAX(0.0, fth_lp_dual(s->lp, k));
		uint32_t added = price_all(s, m, effort, exact, &complete);
		if (m->bound >= m->objective * (1 - NEAR) || s->spent > effort->work)
			break;
		if (!added && (exact || complete))
			break;
		exact = !added;
	}
}

static int by_dollars(const void *a, const void *b)
{
	const struct fth_blend_config *x = a, *y = b;
	return x->usd != y->usd ? (x->usd > y->usd ? -1 : 1) : (x->first > y->first) - (x->first < y->first);
}

static void keep_configs(struct solver *s, struct fth_blend *m)
{
	for (size_t c = 0; c < s->columns.len; c++) {
		double x = fth_lp_value(s->lp, (uint32_t)c) * s->scale;
		const struct column *k = &s->columns.data[c];
		double usd = x * s->in->price[k->type];
		if (!(usd > 1e-9 * m->objective))
			continue;
		fth_vec_push(&m->configs, ((struct fth_blend_config){k->type, (uint32_t)m->parts.len, k->n, x, usd}));
		for (uint32_t i = 0; i < k->n; i++)
			fth_vec_push(&m->parts, s->parts.data[k->first + i]);
	}
	if (m->configs.len)
		qsort(m->configs.data, m->configs.len, sizeof(*m->configs.data), by_dollars);
}

void fth_blend_solve(struct fth_blend *m, const struct fth_blend_input *in, const struct fth_blend_effort *effort)
{
	struct solver s;
	*m = (struct fth_blend){.value = fth_alloc((in->nrows + 1) * sizeof(*m->value)), .exact = true};
	if (!in->nrows)
		return;
	open_solver(&s, in);
	generate(&s, m, effort);
	m->exact = m->bound >= m->objective * (1 - 1e-4);
	m->columns = s.columns.len;
	m->nodes = s.nodes;
	keep_configs(&s, m);
	close_solver(&s);
}

void fth_blend_release(struct fth_blend *m)
{
	free(m->value);
	fth_vec_release(&m->configs);
	fth_vec_release(&m->parts);
	*m = (struct fth_blend){0};
}
