/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least cost of any portfolio. Values of an hour in force, raised class by class and set by set, give a proven bound and suggest a
 * plan (reserve_improve.c), for demands of any size. Small ones are also solved by a linear programme over all purchases. For each interval the ways of sharing its
 * levels among the classes in force are columns, made as they are needed: given what an hour in force of
 * each class is worth (the duals), each level simply takes what is cheapest for it. At every step the sum of those
 * least costs is a proven bound, so stopping early costs only sharpness.
 */
#include "optimize/lp.h"
#include "optimize/reserve_internal.h"

#include <math.h>

enum { ROWS_MAX = 160, ROUNDS_MAX = 60 };

struct exact {
	const struct fth_reserve_market *m;
	const struct fth_demand *d;
	size_t n;          /* classes */
	struct fth_lp *lp;
	double *value;     /* rows x classes: duals */
	FTH_VEC(uint32_t) rows;
	FTH_VEC(double) coefs;
	int64_t *counts;   /* of a pattern */
};

static uint32_t cover_row(const struct exact *x, uint32_t row, size_t k)
{
	return (uint32_t)(row * x->n + k);
}

static uint32_t choice_row(const struct exact *x, uint32_t row)
{
	return (uint32_t)(x->d->rows * x->n + row);
}

static void add_purchases(struct exact *x)
{
	for (uint32_t row = 0; row < x->d->rows; row++)
		for (size_t k = 0; k < x->n; k++) {
			uint32_t until = fth_reserve_until(&x->m->classes.data[k], x->d, row);
			fth_vec_clear(&x->rows);
			fth_vec_clear(&x->coefs);
			for (uint32_t i = row; i < until; i++) {
				fth_vec_push(&x->rows, cover_row(x, i, k));
				fth_vec_push(&x->coefs, 1.0);
			}
			fth_lp_add_col(x->lp, fth_reserve_fee(x->m, x->d, row, k), x->rows.data, x->coefs.data, (uint32_t)x->rows.len);
		}
}

static void add_pattern(struct exact *x, uint32_t row, double cost)
{
	fth_vec_clear(&x->rows);
	fth_vec_clear(&x->coefs);
	for (size_t k = 0; k < x->n; k++)
		if (x->counts[k]) {
			fth_vec_push(&x->rows, cover_row(x, row, k));
			fth_vec_push(&x->coefs, -(double)x->counts[k]);
		}
	fth_vec_push(&x->rows, choice_row(x, row));
	fth_vec_push(&x->coefs, 1.0);
	fth_lp_add_col(x->lp, cost, x->rows.data, x->coefs.data, (uint32_t)x->rows.len);
}

/* The cheapest sharing of a row's levels at these values; its money, and with the values. */
static double cheapest(struct exact *x, uint32_t row, const double *value, double *ret_money)
{
	double with = 0, money = 0;
	memset(x->counts, 0, x->n * sizeof(*x->counts));
	for (uint32_t j = 0; j < x->d->levels; j++) {
		double used = fth_demand_at(x->d, row, j), least = used * x->m->on_demand, paid = least;
		size_t who = x->n;
		for (size_t k = 0; k < x->n && used > 0; k++) {
			const struct fth_reserve_class *c = &x->m->classes.data[k];
			double own = c->every_hour ? 0 : c->price * used;
			if (own + value[k] < least) {
				least = own + value[k];
				paid = own;
				who = k;
			}
		}
		if (who < x->n)
			x->counts[who]++;
		with += least;
		money += paid;
	}
	*ret_money = money;
	return with;
}

/* One round: solve, price every row, add what improves. Returns how many columns came. */
static int improve(struct exact *x, double *bound, uint32_t *ret_new)
{
	int r = fth_lp_solve(x->lp);
	*ret_new = 0;
	if (r && r != -EAGAIN)
		return r;
	double sum = 0, scale = FTH_MAX(1.0, fth_lp_objective(x->lp));
	for (uint32_t row = 0; row < x->d->rows; row++) {
		double *value = &x->value[(size_t)row * x->n], money;
		for (size_t k = 0; k < x->n; k++)
			value[k] = FTH_MAX(0.0, fth_lp_dual(x->lp, cover_row(x, row, k)));
		double with = cheapest(x, row, value, &money);
		sum += with;
		if (with < fth_lp_dual(x->lp, choice_row(x, row)) - 1e-9 * scale) {
			add_pattern(x, row, money);
			++*ret_new;
		}
	}
	/* The values must not be worth more than a purchase costs; rounding may leave them so by a hair. */
	double worst = 1;
	for (uint32_t row = 0; row < x->d->rows; row++)
		for (size_t k = 0; k < x->n; k++) {
			uint32_t until = fth_reserve_until(&x->m->classes.data[k], x->d, row);
			double worth = 0, fee = fth_reserve_fee(x->m, x->d, row, k);
			for (uint32_t i = row; i < until; i++)
				worth += x->value[(size_t)i * x->n + k];
			if (worth > fee)
				worst = FTH_MAX(worst, fee > 0 ? worth / fee : INFINITY);
		}
	if (worst < 1 + 1e-6)
		*bound = FTH_MAX(*bound, sum / worst);
	return r == -EAGAIN ? r : 0;
}

/* Whole contracts: what was bought so far never lags half a contract behind. */
static void round_plan(const struct exact *x, struct fth_portfolio *p)
{
	fth_vec_clear(&p->bought);
	for (size_t k = 0; k < x->n; k++) {
		double sum = 0;
		int64_t bought = 0;
		for (uint32_t row = 0; row < x->d->rows; row++) {
			sum += fth_lp_value(x->lp, (uint32_t)(row * x->n + k));
			int64_t due = (int64_t)(sum + 0.5 + 1e-9);
			if (due > bought)
				fth_vec_push(&p->bought, ((struct fth_purchase){row, (uint32_t)k, (uint32_t)(due - bought)}));
			bought = FTH_MAX(bought, due);
		}
	}
	fth_portfolio_price(p, x->m, x->d);
}

/* A bound and a plan by linear programme; false: too large for it, or not solved. */
static bool by_programme(struct fth_portfolio *p, double *ret_bound, const struct fth_reserve_market *m, const struct fth_demand *d)
{
	struct exact x = {.m = m, .d = d, .n = m->classes.len};
	uint32_t rows = (uint32_t)(d->rows * (x.n + 1)), fresh = 1;
	double bound = fth_reserve_lower_bound(m, d), money;
	int r = 0;
	if (!x.n || (uint64_t)d->rows * (x.n + 1) > ROWS_MAX)
		return false;
	x.lp = fth_lp_new(rows);
	x.value = fth_alloc((size_t)d->rows * x.n * sizeof(double));
	x.counts = fth_alloc((x.n + 1) * sizeof(*x.counts));
	for (uint32_t i = 0; i < d->rows * x.n; i++)
		fth_lp_set_row(x.lp, i, 0, INFINITY);
	for (uint32_t row = 0; row < d->rows; row++)
		fth_lp_set_row(x.lp, choice_row(&x, row), 1, 1);
	add_purchases(&x);
	for (uint32_t row = 0; row < d->rows; row++) {
		double no_value[64], free_value[64];
		for (size_t k = 0; k < x.n; k++) {
			const struct fth_reserve_class *c = &m->classes.data[k];
			double fee = c->upfront * (double)d->interval / (double)c->term;
			no_value[k] = INFINITY;
			free_value[k] = fee + (c->every_hour ? c->price * fth_demand_row_hours(d, row) : 0);
		}
		cheapest(&x, row, no_value, &money);
		add_pattern(&x, row, money);
		cheapest(&x, row, free_value, &money);
		add_pattern(&x, row, money);
	}
	for (int round = 0; round < ROUNDS_MAX && !r && fresh; round++)
		r = improve(&x, &bound, &fresh);
	if (r == -EAGAIN)
		r = 0;
	if (!r)
		round_plan(&x, p);
	*ret_bound = bound;
	fth_lp_free(x.lp);
	free(x.value);
	free(x.counts);
	fth_vec_release(&x.rows);
	fth_vec_release(&x.coefs);
	return !r;
}

static bool no_caps(const struct fth_reserve_market *m)
{
	for (size_t k = 0; k < m->classes.len; k++)
		if (m->classes.data[k].most >= 0)
			return false;
	return true;
}

/* Make q cheaper, and keep the cheaper of both in p. */
static void keep_better(struct fth_portfolio *p, struct fth_portfolio *q, const struct fth_reserve_market *m, const struct fth_demand *d)
{
	fth_reserve_improve(q, m, d);
	if (q->pure < p->pure) {
		struct fth_portfolio t = *p;
		*p = *q;
		*q = t;
	}
}

int fth_reserve_exact(struct fth_portfolio *p, double *ret_bound, const struct fth_reserve_market *m, const struct fth_demand *d,
		      struct fth_error *err)
{
	struct fth_portfolio q = {0};
	double bound = fth_reserve_lower_bound(m, d), programme = 0;
	int r = fth_reserve_plan(p, m, d, FTH_RESERVE_NONE, NULL, err);
	if (!r && m->classes.len && d->levels) {
		bound = fth_reserve_ascend(&q, m, d, bound);
		keep_better(p, &q, m, d);
		/* A bound that is met needs no better plan. */
		if (p->pure > bound * (1 + 1e-7) && !(r = fth_reserve_plan(&q, m, d, FTH_RESERVE_GREEDY, NULL, err)))
			keep_better(p, &q, m, d);
		if (!r && p->pure > bound * (1 + 1e-9) && by_programme(&q, &programme, m, d)) {
			bound = FTH_MAX(bound, programme);
			if (no_caps(m))
				keep_better(p, &q, m, d);
		}
	}
	*ret_bound = bound;
	fth_portfolio_release(&q);
	return r;
}
