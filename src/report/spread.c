/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spread.h"

enum { KEPT = 1 << 20, FINE = 11, NBUCKETS = (64 - FINE) << FINE };

/* The leading bits of a value: as it is below 2,048, then 11 bits and a power of two. */
static uint32_t bucket_of(fth_time v)
{
	uint64_t x = (uint64_t)v;
	if (x < (1u << FINE))
		return (uint32_t)x;
	int shift = 63 - __builtin_clzll(x) - FINE;
	return ((uint32_t)shift << FINE) + (uint32_t)(x >> shift);
}

static double bucket_value(uint32_t b)
{
	if (b < (2u << FINE))
		return (double)b;
	uint32_t shift = (b >> FINE) - 1;
	uint64_t from = (uint64_t)((b & ((1u << FINE) - 1)) | (1u << FINE)) << shift;
	return (double)from + (double)((uint64_t)1 << shift) / 2;
}

void fth_spread_add(struct fth_spread *s, fth_time v)
{
	s->n++;
	s->sum += (double)v;
	s->max = FTH_MAX(s->max, v);
	if (s->buckets) {
		s->buckets[bucket_of(v)]++;
		return;
	}
	fth_vec_push(&s->values, v);
	if (s->values.len < KEPT)
		return;
	s->buckets = fth_alloc(NBUCKETS * sizeof(*s->buckets));
	for (size_t i = 0; i < s->values.len; i++)
		s->buckets[bucket_of(s->values.data[i])]++;
	fth_vec_release(&s->values);
}

static double kept_at(const struct fth_spread *s, double q)
{
	double at = q * (double)(s->n - 1);
	size_t i = (size_t)at;
	double low = (double)s->values.data[i];
	return i + 1 < s->n ? low + (at - (double)i) * ((double)s->values.data[i + 1] - low) : low;
}

static double counted_at(const struct fth_spread *s, double q)
{
	uint64_t rank = (uint64_t)(q * (double)(s->n - 1)), seen = 0;
	for (uint32_t b = 0; b < NBUCKETS; b++) {
		seen += s->buckets[b];
		if (seen > rank)
			return FTH_MIN(bucket_value(b), (double)s->max);
	}
	return (double)s->max;
}

double fth_spread_at(const struct fth_spread *s, double q)
{
	if (!s->n)
		return 0;
	return (s->buckets ? counted_at(s, q) : kept_at(s, q)) / (double)FTH_SEC;
}

static int by_value(const void *a, const void *b)
{
	fth_time x = *(const fth_time *)a, y = *(const fth_time *)b;
	return (x > y) - (x < y);
}

void fth_spread_figures(struct fth_spread *s, struct fth_run_spread *ret)
{
	if (s->values.len)
		qsort(s->values.data, s->values.len, sizeof(*s->values.data), by_value);
	*ret = (struct fth_run_spread){
		.n = s->n,
		.mean = s->n ? s->sum / (double)s->n / (double)FTH_SEC : 0,
		.p50 = fth_spread_at(s, 0.5),
		.p90 = fth_spread_at(s, 0.9),
		.p99 = fth_spread_at(s, 0.99),
		.max = (double)s->max / (double)FTH_SEC,
	};
}

void fth_spread_release(struct fth_spread *s)
{
	fth_vec_release(&s->values);
	free(s->buckets);
	*s = (struct fth_spread){0};
}
