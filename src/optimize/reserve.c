/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, demand by level, and what a portfolio costs. */
#include "optimize/reserve_internal.h"

static const double HOUR = (double)FTH_HOUR;

/* The least share at which class k is no dearer than n (NULL: than on demand); above 1: never. */
static double break_even_against(const struct fth_reserve_market *m, const struct fth_reserve_class *k,
				 const struct fth_reserve_class *n)
{
	double term = (double)k->term / HOUR;
	double fee = n ? n->upfront : 0, price = n ? n->price : m->on_demand;
	bool every = n && n->every_hour;
	double slope = (every ? 0 : price) - (k->every_hour ? 0 : k->price);
	double more = k->upfront + (k->every_hour ? k->price * term : 0) - fee - (every ? price * term : 0);
	if (more <= 0)
		return 0;
	return slope > 0 ? more / (slope * term) : 2;
}

double fth_reserve_break_even(const struct fth_reserve_market *m, size_t k, uint64_t only)
{
	const struct fth_reserve_class *c = &m->classes.data[k];
	double share = break_even_against(m, c, NULL);
	for (size_t i = k + 1; i < m->classes.len; i++)
		if (m->classes.data[i].term == c->term && (!only || (only >> i & 1)))
			share = FTH_MAX(share, break_even_against(m, c, &m->classes.data[i]));
	return share;
}

uint64_t fth_reserve_of_term(const struct fth_reserve_market *m, fth_time term)
{
	uint64_t mask = 0;
	for (size_t k = 0; k < m->classes.len; k++)
		mask |= m->classes.data[k].term == term ? 1ull << k : 0;
	return mask;
}

/* ---- demand ---- */

void fth_demand_release(struct fth_demand *d)
{
	free(d->hours);
	d->hours = NULL;
	d->rows = d->levels = 0;
}

static int compare_steps(const void *a, const void *b)
{
	const struct fth_demand_step *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

/* The greatest number at once, within [start, end). */
static int64_t peak_of(const struct fth_demand_step *steps, size_t n, fth_time start, fth_time end)
{
	int64_t count = 0, peak = 0;
	for (size_t i = 0; i < n; i++) {
		count += steps[i].change;
		bool last = i + 1 == n || steps[i + 1].at > steps[i].at;
		fth_time until = i + 1 == n ? end : steps[i + 1].at;
		if (last && steps[i].at < end && until > start)
			peak = FTH_MAX(peak, count);
	}
	return peak;
}

/* Time at each number of machines, by row; then how long there were at least so many. */
static void fill(struct fth_demand *d, const struct fth_demand_step *steps, size_t n)
{
	int64_t count = 0;
	for (size_t i = 0; i < n; i++) {
		count += steps[i].change;
		fth_time from = FTH_MAX(steps[i].at, d->start), to = i + 1 == n ? d->end : FTH_MIN(steps[i + 1].at, d->end);
		while (count > 0 && from < to) {
			uint32_t row = (uint32_t)((from - d->start) / d->interval);
			fth_time end = FTH_MIN(to, d->start + (fth_time)(row + 1) * d->interval);
			d->hours[(size_t)row * d->levels + (size_t)count - 1] += (double)(end - from) / HOUR;
			from = end;
		}
	}
	for (uint32_t row = 0; row < d->rows; row++)
		for (uint32_t j = d->levels; j-- > 1;)
			d->hours[(size_t)row * d->levels + j - 1] += d->hours[(size_t)row * d->levels + j];
}

int fth_demand_build(struct fth_demand *d, struct fth_demand_step *steps, size_t n, fth_time start, fth_time end,
		     fth_time interval, struct fth_error *err)
{
	if (end <= start || interval <= 0)
		return fth_fail(err, -EINVAL, "the demand has no length");
	qsort(steps, n, sizeof(*steps), compare_steps);
	int64_t peak = peak_of(steps, n, start, end), rows = (end - start - 1) / interval + 1;
	if (peak > 10000000 || rows > 1000000 || peak * rows > 200000000)
		return fth_fail(err, -E2BIG, "a demand of %lld machines over %lld intervals is too large", (long long)peak, (long long)rows);
	*d = (struct fth_demand){.start = start, .end = end, .interval = interval, .rows = (uint32_t)rows, .levels = (uint32_t)peak};
	d->hours = fth_alloc(FTH_MAX((size_t)rows * (size_t)peak, (size_t)1) * sizeof(double));
	fill(d, steps, n);
	return 0;
}

double fth_demand_row_hours(const struct fth_demand *d, uint32_t row)
{
	fth_time from = d->start + (fth_time)row * d->interval;
	return (double)(FTH_MIN(from + d->interval, d->end) - from) / HOUR;
}

double fth_demand_total(const struct fth_demand *d)
{
	double sum = 0;
	for (size_t i = 0; i < (size_t)d->rows * d->levels; i++)
		sum += d->hours[i];
	return sum;
}

/* ---- what a portfolio costs ---- */

void fth_portfolio_release(struct fth_portfolio *p)
{
	fth_vec_release(&p->bought);
	fth_vec_release(&p->hours);
}

uint32_t fth_reserve_rows(const struct fth_reserve_class *c, const struct fth_demand *d)
{
	return (uint32_t)FTH_MIN(FTH_MAX(c->term / d->interval, 1), (int64_t)UINT32_MAX / 2);
}

uint32_t fth_reserve_until(const struct fth_reserve_class *c, const struct fth_demand *d, uint32_t row)
{
	if (d->end - (d->start + (fth_time)row * d->interval) <= c->term)
		return d->rows; /* the last row may be shorter than the others */
	return FTH_MIN(row + fth_reserve_rows(c, d), d->rows);
}

double fth_reserve_marginal(const struct fth_reserve_market *m, size_t k)
{
	if (k >= m->classes.len)
		return m->on_demand;
	return m->classes.data[k].every_hour ? 0 : m->classes.data[k].price;
}

double fth_reserve_fee(const struct fth_reserve_market *m, const struct fth_demand *d, uint32_t row, size_t k)
{
	const struct fth_reserve_class *c = &m->classes.data[k];
	fth_time from = d->start + (fth_time)row * d->interval;
	double fee = c->upfront * FTH_MIN(1.0, (double)(d->end - from) / (double)c->term);
	uint32_t until = fth_reserve_until(c, d, row);
	for (uint32_t i = row; c->every_hour && i < until; i++)
		fee += c->price * fth_demand_row_hours(d, i);
	return fee;
}

static void price_row(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d, uint32_t row,
		      const int64_t *held, double *cost)
{
	size_t n = m->classes.len;
	uint32_t level = 0;
	for (size_t k = 0; k < n; k++) {
		const struct fth_reserve_class *c = &m->classes.data[k];
		if (c->every_hour)
			*cost += (double)held[k] * c->price * fth_demand_row_hours(d, row);
		for (int64_t i = 0; i < held[k] && level < d->levels; i++, level++) {
			double used = fth_demand_at(d, row, level);
			p->hours.data[k] += used;
			if (!c->every_hour)
				*cost += used * c->price;
		}
	}
	for (; level < d->levels; level++) {
		double used = fth_demand_at(d, row, level);
		p->hours.data[n] += used;
		*cost += used * m->on_demand;
	}
}

void fth_portfolio_price(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d)
{
	size_t n = m->classes.len;
	int64_t *change = fth_alloc((d->rows + 1) * (n + 1) * sizeof(*change)), *held = fth_alloc((n + 1) * sizeof(*held));
	fth_vec_clear(&p->hours);
	for (size_t k = 0; k <= n; k++)
		fth_vec_push(&p->hours, 0.0);
	p->cost = p->pure = 0;
	for (size_t i = 0; i < p->bought.len; i++) {
		const struct fth_purchase *b = &p->bought.data[i];
		const struct fth_reserve_class *c = &m->classes.data[b->class];
		fth_time from = d->start + (fth_time)b->row * d->interval;
		double held_share = FTH_MIN(1.0, (double)(d->end - from) / (double)c->term);
		uint32_t until = fth_reserve_until(c, d, b->row);
		change[(size_t)b->row * n + b->class] += b->count;
		if (until < d->rows)
			change[(size_t)until * n + b->class] -= b->count;
		p->cost += (double)b->count * c->upfront;
		p->pure += (double)b->count * c->upfront * held_share;
	}
	double hourly = 0;
	for (uint32_t row = 0; row < d->rows; row++) {
		for (size_t k = 0; k < n; k++)
			held[k] += change[(size_t)row * n + k];
		price_row(p, m, d, row, held, &hourly);
	}
	p->cost += hourly;
	p->pure += hourly;
	free(change);
	free(held);
}

double fth_reserve_lower_bound(const struct fth_reserve_market *m, const struct fth_demand *d)
{
	double sum = 0;
	for (uint32_t row = 0; row < d->rows; row++) {
		double length = fth_demand_row_hours(d, row);
		for (uint32_t j = 0; j < d->levels; j++) {
			double used = fth_demand_at(d, row, j), least = used * m->on_demand;
			for (size_t k = 0; k < m->classes.len && used > 0; k++) {
				const struct fth_reserve_class *c = &m->classes.data[k];
				double fee = c->upfront * length / ((double)c->term / HOUR);
				least = FTH_MIN(least, fee + c->price * (c->every_hour ? length : used));
			}
			sum += least;
		}
	}
	return sum;
}
