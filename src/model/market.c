/* SPDX-License-Identifier: Apache-2.0 */
#include "model/market.h"

void fth_market_init(struct fth_market_data *m)
{
	*m = (struct fth_market_data){.first = FTH_NEVER, .last = INT64_MIN, .first_made = FTH_NONE};
}

void fth_market_release(struct fth_market_data *m)
{
	for (size_t i = 0; i < m->series.len; i++)
		fth_vec_release(&m->series.data[i].steps);
	fth_vec_release(&m->series);
	fth_map_release(&m->index);
	fth_market_init(m);
}

void fth_market_copy(struct fth_market_data *to, const struct fth_market_data *from)
{
	for (size_t i = 0; i < from->series.len; i++) {
		const struct fth_market_series *s = &from->series.data[i];
		for (size_t k = 0; k < s->steps.len; k++)
			fth_market_add(to, s->offer, s->kind, s->from_start, s->steps.data[k].at, s->steps.data[k].value);
	}
	to->rows_read = from->rows_read;
	to->first_made = from->first_made;
}

static struct fth_market_series *series_of(struct fth_market_data *m, fth_offer_id offer, enum fth_market_kind kind, bool from_start)
{
	uint64_t key = (uint64_t)offer << 1 | kind, at;
	if (!fth_map_get(&m->index, key, &at)) {
		at = m->series.len;
		fth_map_put(&m->index, key, at);
		fth_vec_push(&m->series,
			     ((struct fth_market_series){.offer = offer, .kind = kind, .from_start = from_start}));
	}
	return &m->series.data[at];
}

void fth_market_add(struct fth_market_data *m, fth_offer_id offer, enum fth_market_kind kind, bool from_start, fth_time at,
		    int64_t value)
{
	struct fth_market_series *s = series_of(m, offer, kind, from_start);
	s->unsorted |= s->steps.len && at <= fth_vec_last(&s->steps).at;
	fth_vec_push(&s->steps, ((struct fth_market_step){at, value}));
	m->rows_kept++;
	if (!from_start) {
		m->first = FTH_MIN(m->first, at);
		m->last = FTH_MAX(m->last, at);
	}
}

/* Merge sort: stable, so that of two steps at one time the one added last stays last. */
static void sort_steps(struct fth_market_step *a, struct fth_market_step *tmp, size_t n)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_steps(a, tmp, half);
	sort_steps(a + half, tmp, n - half);
	if (a[half - 1].at <= a[half].at)
		return;
	while (i < half && j < n)
		tmp[k++] = a[j].at < a[i].at ? a[j++] : a[i++];
	while (i < half)
		tmp[k++] = a[i++];
	while (j < n)
		tmp[k++] = a[j++];
	memcpy(a, tmp, n * sizeof(*a));
}

static void drop_idle_steps(struct fth_market_series *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->steps.len; i++) {
		struct fth_market_step step = s->steps.data[i];
		if (n && s->steps.data[n - 1].at == step.at)
			n--; /* told twice: the later one holds */
		if (!n || s->steps.data[n - 1].value != step.value)
			s->steps.data[n++] = step;
	}
	s->steps.len = n;
}

void fth_market_finish(struct fth_market_data *m)
{
	for (size_t i = 0; i < m->series.len; i++) {
		struct fth_market_series *s = &m->series.data[i];
		if (s->unsorted) {
			struct fth_market_step *tmp = fth_alloc(s->steps.len * sizeof(*tmp));
			sort_steps(s->steps.data, tmp, s->steps.len);
			free(tmp);
			s->unsorted = false;
		}
		drop_idle_steps(s);
	}
}

/* The first step after a time. */
static size_t after(const struct fth_market_series *s, fth_time at)
{
	size_t lo = 0, hi = s->steps.len;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->steps.data[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int64_t fth_market_series_at(const struct fth_market_series *s, fth_time at)
{
	size_t i = after(s, at);
	return s->steps.data[i ? i - 1 : 0].value;
}

fth_price fth_catalog_on_demand(const struct fth_catalog *c, fth_offer_id offer)
{
	const struct fth_offer *o = &c->offers[offer];
	fth_price lowest = FTH_NEVER;
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *other = &c->offers[i];
		if (other->type != o->type || other->market != FTH_ON_DEMAND)
			continue;
		if (other->zone == o->zone)
			return other->price;
		lowest = FTH_MIN(lowest, other->price);
	}
	return lowest;
}

static int by_time(const void *a, const void *b)
{
	const struct fth_market_change *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
}

void fth_market_play(const struct fth_market_data *m, fth_time start, struct fth_market_tape *ret)
{
	fth_vec_clear(&ret->changes);
	for (uint32_t i = 0; i < m->series.len; i++) {
		const struct fth_market_series *s = &m->series.data[i];
		fth_time zero = s->from_start ? 0 : start;
		if (!s->steps.len)
			continue;
		fth_vec_push(&ret->changes, ((struct fth_market_change){0, i, fth_market_series_at(s, zero)}));
		/* A first step after the start changes nothing: its value holds before it too. */
		for (size_t k = FTH_MAX(after(s, zero), (size_t)1); k < s->steps.len; k++)
			fth_vec_push(&ret->changes, ((struct fth_market_change){s->steps.data[k].at - zero, i,
										s->steps.data[k].value}));
	}
	if (ret->changes.len)
		qsort(ret->changes.data, ret->changes.len, sizeof(*ret->changes.data), by_time);
}

void fth_market_tape_release(struct fth_market_tape *t)
{
	fth_vec_release(&t->changes);
}
