/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to buy: the forward greedy plan over a demand that is known, or forecast. At the beginning of each interval
 * every level is given the deepest class (the cheapest when always busy) whose break-even share it will reach over that class's term; what is in
 * force is counted (by the time it has left: a long contract near its end stands for a short one), and the
 * difference is bought, so that first the sum and then each class comes as near as it can to what is wanted.
 */
#include "optimize/reserve.h"

/* What is still in force of each class, by row of its end. */
struct inventory {
	const struct fth_reserve_market *m;
	const struct fth_demand *d;
	int64_t *ends; /* rows x classes: so many end with the beginning of this row */
	int64_t *held; /* by class as bought */
};

static bool may_buy(const struct fth_reserve_options *o, size_t k)
{
	return !o->only || (o->only >> k & 1);
}

/* The class that stands for one of class k with so many rows left: the longest of its kind (price and way of paying)
 * whose term is not longer than that; k itself if there is none. */
static size_t stands_for(const struct inventory *v, size_t k, uint32_t left)
{
	const struct fth_reserve_class *c = &v->m->classes.data[k];
	size_t best = k;
	for (size_t i = 0; i < v->m->classes.len; i++) {
		const struct fth_reserve_class *b = &v->m->classes.data[i];
		if (b->price != c->price || b->every_hour != c->every_hour || b->term >= c->term)
			continue;
		/* Under a year left of three years: as good as one year's. */
		if (left <= fth_reserve_rows(b, v->d) && (best == k || b->term < v->m->classes.data[best].term))
			best = i;
	}
	return best;
}

static void count_held(const struct inventory *v, uint32_t row, int64_t *as)
{
	size_t n = v->m->classes.len;
	memset(as, 0, n * sizeof(*as));
	for (size_t k = 0; k < n; k++) {
		int64_t seen = 0;
		uint32_t last = fth_reserve_until(&v->m->classes.data[k], v->d, row);
		for (uint32_t end = row + 1; end < last && seen < v->held[k]; end++) {
			int64_t ending = v->ends[(size_t)end * n + k];
			as[stands_for(v, k, end - row)] += ending;
			seen += ending;
		}
		as[k] += v->held[k] - seen; /* they end beyond the demand */
	}
}

/* ---- what is wanted ---- */

/* Shares of time a level is busy over the term of each class, from some row on. */
struct outlook {
	const struct fth_reserve_market *m;
	const struct fth_reserve_options *o;
	const double *least; /* break-even by class */
	size_t order[64];    /* classes, the cheapest when always busy first */
};

/* The class for the next level, when so many of each are wanted for the levels below it. A class that has reached its cap leaves the
 * level to the next best. */
static size_t class_for(const struct outlook *w, const double *share, const int64_t *wanted)
{
	size_t n = w->m->classes.len, found = n;
	for (size_t i = 0; i < n; i++) {
		size_t k = w->order[i];
		int64_t most = w->m->classes.data[k].most;
		if (!may_buy(w->o, k) || share[k] < w->least[k] || (most >= 0 && wanted[k] >= most))
			continue;
		if (found == n)
			found = k;
		else if (w->o->prefer_short && w->m->classes.data[k].term < w->m->classes.data[found].term)
			found = k;
		if (!w->o->prefer_short)
			break;
	}
	return found;
}

/* By what an hour costs when every hour is used, fee and all: the deepest discount first. */
static void order_classes(struct outlook *w)
{
	for (size_t i = 0; i < w->m->classes.len; i++) {
		const struct fth_reserve_class *c = &w->m->classes.data[i];
		double rate = c->price + c->upfront / ((double)c->term / (double)FTH_HOUR);
		size_t at = i;
		for (; at; at--) {
			const struct fth_reserve_class *b = &w->m->classes.data[w->order[at - 1]];
			if (b->price + b->upfront / ((double)b->term / (double)FTH_HOUR) <= rate)
				break;
			w->order[at] = w->order[at - 1];
		}
		w->order[at] = i;
	}
}

/* Buy the difference. Of all ways that are equally near, the deepest discount first. */
static void buy(struct fth_portfolio *p, struct inventory *v, uint32_t row, const int64_t *wanted, int64_t *as)
{
	size_t n = v->m->classes.len;
	int64_t missing = 0;
	for (size_t k = 0; k < n; k++)
		missing += wanted[k] - as[k];
	for (size_t k = 0; k < n && missing > 0; k++) {
		const struct fth_reserve_class *c = &v->m->classes.data[k];
		int64_t count = FTH_MIN(missing, FTH_MAX(wanted[k] - as[k], 0));
		if (c->most >= 0)
			count = FTH_MIN(count, FTH_MAX(c->most - v->held[k], 0));
		if (count <= 0)
			continue;
		missing -= count;
		v->held[k] += count;
		uint32_t end = fth_reserve_until(c, v->d, row);
		if (end < v->d->rows)
			v->ends[(size_t)end * n + k] += count;
		fth_vec_push(&p->bought, ((struct fth_purchase){row, (uint32_t)k, (uint32_t)count}));
	}
}

static void expire(struct inventory *v, uint32_t row)
{
	size_t n = v->m->classes.len;
	for (size_t k = 0; k < n; k++)
		v->held[k] -= v->ends[(size_t)row * n + k];
}

/* ---- with hindsight ---- */

/* Sums over rows by level, so that a window costs one subtraction. */
static double *prefix_sums(const struct fth_demand *d)
{
	double *sum = fth_alloc((size_t)(d->rows + 1) * FTH_MAX(d->levels, 1u) * sizeof(*sum));
	for (uint32_t r = 0; r < d->rows; r++)
		for (uint32_t j = 0; j < d->levels; j++)
			sum[(size_t)(r + 1) * d->levels + j] = sum[(size_t)r * d->levels + j] + fth_demand_at(d, r, j);
	return sum;
}

static void look_back(const struct outlook *w, const struct fth_demand *d, const double *sum, uint32_t row, int64_t *wanted)
{
	size_t n = w->m->classes.len;
	double share[64], hours[64];
	uint32_t until[64];
	for (size_t k = 0; k < n; k++) {
		const struct fth_reserve_class *c = &w->m->classes.data[k];
		fth_time from = d->start + (fth_time)row * d->interval;
		until[k] = fth_reserve_until(c, d, row);
		fth_time window = FTH_MIN(d->start + (fth_time)until[k] * d->interval, d->end) - from;
		hours[k] = (double)(w->o->full_term ? c->term : window) / (double)FTH_HOUR;
	}
	memset(wanted, 0, n * sizeof(*wanted));
	for (uint32_t j = 0; j < d->levels; j++) {
		for (size_t k = 0; k < n; k++)
			share[k] = (sum[(size_t)until[k] * d->levels + j] - sum[(size_t)row * d->levels + j]) / hours[k];
		size_t k = class_for(w, share, wanted);
		if (k < n)
			wanted[k]++;
	}
}

/* ---- forecast ---- */

void fth_smooth_add(struct fth_smooth *s, double value)
{
	const double phi = 0.2;
	if (!s->seen++) {
		s->level = value;
		return;
	}
	double level = s->level, trend = s->trend;
	double foreseen = level + trend + s->bend / 2, error = value - foreseen;
	s->error = phi * error + (1 - phi) * s->error;
	s->spread = phi * (error < 0 ? -error : error) + (1 - phi) * s->spread;
	double bias = s->error < 0 ? -s->error : s->error;
	double a = s->spread > 0 ? FTH_MIN(bias / s->spread, 1.0) : phi, b = a / 2, c = a * a / 4;
	s->level = a * value + (1 - a) * foreseen;
	s->trend = b * (s->level - level) + (1 - b) * (trend + s->bend);
	s->bend = c * (s->trend - trend) + (1 - c) * s->bend;
}

double fth_smooth_ahead(const struct fth_smooth *s, double t)
{
	return s->level + s->trend * t + s->bend * t * t / 2;
}

/* The shape of past intervals: how much of the time there were at least x times the mean. */
enum { SHAPE_STEPS = 2000 };
static const double SHAPE_STEP = 0.01;

struct forecast {
	struct fth_smooth smooth;
	double shape[SHAPE_STEPS]; /* hours with at least (i + 0.5) steps of the mean */
	double hours;
	double greatest; /* mean of any interval */
};

static void watch(struct forecast *f, const struct fth_demand *d, uint32_t row)
{
	double length = fth_demand_row_hours(d, row), used = 0;
	for (uint32_t j = 0; j < d->levels; j++)
		used += fth_demand_at(d, row, j);
	double mean = used / length;
	fth_smooth_add(&f->smooth, mean);
	f->greatest = FTH_MAX(f->greatest, mean);
	f->hours += length;
	for (int i = 0; i < SHAPE_STEPS && mean > 0; i++) {
		double at = ((double)i + 0.5) * SHAPE_STEP * mean; /* machines: level j is busy while there are more than j - 1 */
		uint32_t j = (uint32_t)at;
		if (j >= d->levels)
			break;
		f->shape[i] += fth_demand_at(d, row, j);
	}
}

/* Hours of busy time of a level in an interval with this mean. */
static double share_of(const struct forecast *f, double mean, double level)
{
	if (mean <= 0 || f->hours <= 0)
		return 0;
	double x = (level + 0.5) / mean / SHAPE_STEP;
	return x >= SHAPE_STEPS ? 0 : f->shape[(int)x] / f->hours;
}

static void look_ahead(const struct outlook *w, const struct fth_demand *d, const struct forecast *f, bool level_only,
		       int64_t *wanted)
{
	size_t n = w->m->classes.len;
	uint32_t longest = 1;
	uint32_t upto[64];
	double share[64];
	for (size_t k = 0; k < n; k++)
		longest = FTH_MAX(longest, fth_reserve_rows(&w->m->classes.data[k], d));
	longest = FTH_MIN(longest, 100000u);
	/* Means ahead, in at most 64 steps: a forecast is smooth. */
	uint32_t step = (longest + 63) / 64;
	double means[64];
	uint32_t nmeans = 0;
	for (uint32_t t = 1; t <= longest && nmeans < 64; t += step) {
		double mean = level_only ? f->smooth.level : fth_smooth_ahead(&f->smooth, (double)t);
		means[nmeans++] = FTH_MIN(FTH_MAX(mean, 0.0), f->greatest);
	}
	for (size_t k = 0; k < n; k++)
		upto[k] = FTH_MIN((fth_reserve_rows(&w->m->classes.data[k], d) + step - 1) / step, nmeans);
	memset(wanted, 0, n * sizeof(*wanted));
	for (uint32_t j = 0; n; j++) {
		double sum[65] = {0};
		for (uint32_t i = 0; i < nmeans; i++)
			sum[i + 1] = sum[i] + share_of(f, means[i], (double)j);
		for (size_t k = 0; k < n; k++)
			share[k] = sum[upto[k]] / (double)upto[k];
		size_t k = class_for(w, share, wanted);
		if (k == n)
			break; /* higher levels are busy for even less */
		wanted[k]++;
	}
}

/* ---- */

static void plan_rows(struct fth_portfolio *p, struct inventory *v, const struct outlook *w, enum fth_reserve_method method)
{
	const struct fth_demand *d = v->d;
	size_t n = v->m->classes.len;
	int64_t *wanted = fth_alloc((n + 1) * sizeof(*wanted)), *as = fth_alloc((n + 1) * sizeof(*as));
	bool online = method == FTH_RESERVE_ONLINE || method == FTH_RESERVE_ONLINE_LEVEL;
	double *sum = online ? NULL : prefix_sums(d);
	struct forecast *f = online ? fth_alloc(sizeof(*f)) : NULL;
	uint32_t first = online ? FTH_MAX(w->o->warm_up, 1u) : 0;
	for (uint32_t row = 0; row < d->rows; row++) {
		if (row)
			expire(v, row);
		if (row && online)
			watch(f, d, row - 1);
		if (row < first || (method == FTH_RESERVE_STATIC && row))
			continue;
		if (online)
			look_ahead(w, d, f, method == FTH_RESERVE_ONLINE_LEVEL, wanted);
		else
			look_back(w, d, sum, row, wanted);
		count_held(v, row, as);
		buy(p, v, row, wanted, as);
	}
	free(wanted);
	free(as);
	free(sum);
	free(f);
}

int fth_reserve_plan(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d,
		     enum fth_reserve_method method, const struct fth_reserve_options *o, struct fth_error *err)
{
	static const struct fth_reserve_options none;
	double least[64];
	o = o ? o : &none;
	if (m->classes.len > FTH_COUNT(least))
		return fth_fail(err, -EINVAL, "more than %zu classes", FTH_COUNT(least));
	fth_vec_clear(&p->bought);
	for (size_t k = 0; k < m->classes.len; k++)
		least[k] = fth_reserve_break_even(m, k, o->only);
	if (method != FTH_RESERVE_NONE && m->classes.len) {
		struct outlook w = {.m = m, .o = o, .least = least};
		order_classes(&w);
		struct inventory v = {.m = m, .d = d};
		v.ends = fth_alloc((size_t)(d->rows + 1) * m->classes.len * sizeof(*v.ends));
		v.held = fth_alloc(m->classes.len * sizeof(*v.held));
		plan_rows(p, &v, &w, method);
		free(v.ends);
		free(v.held);
	}
	fth_portfolio_price(p, m, d);
	return 0;
}
