/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a batch queue against plain ones: the ordered set, the free profile, predictions, boot times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/catalog.h"
#include "policies/sec/batch.h"

/* ---- the ordered set ---- */

enum { MANY = 120 };

struct plain {
	struct fth_order_item item[MANY];
	bool there[MANY];
};

static int before(const struct fth_order_item *a, const struct fth_order_item *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

/* The first in order after `after` for which ok holds. */
static const struct fth_order_item *plain_next(const struct plain *p, const struct fth_order_item *after, const struct fth_hole *h)
{
	const struct fth_order_item *best = NULL;
	for (int i = 0; i < MANY; i++) {
		const struct fth_order_item *x = &p->item[i];
		bool fits = x->size <= h->size && (x->size <= h->beside || x->length <= h->window);
		if (p->there[i] && fits && (!after || before(after, x)) && (!best || before(x, best)))
			best = x;
	}
	return best;
}

static bool plain_reach(const struct plain *p, uint64_t need, int64_t *key, uint64_t *sum)
{
	bool found = false;
	for (int i = 0; i < MANY; i++) {
		uint64_t upto = 0;
		for (int k = 0; k < MANY; k++)
			upto += p->there[k] && p->item[k].key <= p->item[i].key ? p->item[k].size : 0;
		if (p->there[i] && upto >= need && (!found || p->item[i].key < *key)) {
			*key = p->item[i].key;
			*sum = upto;
			found = true;
		}
	}
	return found;
}

static void compare_sets(const struct fth_order *o, const struct plain *p, struct fth_rng *r)
{
	struct fth_hole h = {fth_rng_below(r, 20), fth_rng_below(r, 10), (fth_time)fth_rng_below(r, 100)};
	const struct fth_order_item *after = NULL, *a, *b;
	do {
		a = fth_order_next_fit(o, after, &h);
		b = plain_next(p, after, &h);
		assert_int_equal(a != NULL, b != NULL);
		if (a)
			assert_int_equal(a->id, b->id);
		after = b;
	} while (a);
	int64_t key = 0, plain_key = 0;
	uint64_t sum = 0, plain_sum = 0, need = 1 + fth_rng_below(r, 400);
	bool found = fth_order_reach(o, need, &key, &sum);
	assert_int_equal(found, plain_reach(p, need, &plain_key, &plain_sum));
	if (found) {
		assert_int_equal(key, plain_key);
		assert_int_equal(sum, plain_sum);
	}
	h = (struct fth_hole){UINT64_MAX, 0, (fth_time)fth_rng_below(r, 100)};
	a = fth_order_first_short(o, h.window);
	b = plain_next(p, NULL, &h);
	/* size 0 does not occur, so "beside 0" leaves the length alone */
	assert_int_equal(a ? a->id : FTH_NONE, b ? b->id : FTH_NONE);
}

static void ordered_set_like_a_plain_list(void **state)
{
	struct fth_order o = {0};
	struct plain p = {0};
	struct fth_rng r;
	(void)state;
	fth_rng_seed(&r, 5, 0, 0);
	for (int step = 0; step < 4000; step++) {
		uint32_t i = (uint32_t)fth_rng_below(&r, MANY);
		if (p.there[i]) {
			assert_true(fth_order_remove(&o, p.item[i].key, i));
			assert_false(fth_order_remove(&o, p.item[i].key, i));
		} else {
			p.item[i] = (struct fth_order_item){(int64_t)fth_rng_below(&r, 40), i, 1 + (uint32_t)fth_rng_below(&r, 16),
							    (fth_time)fth_rng_below(&r, 100)};
			fth_order_add(&o, &p.item[i]);
		}
		p.there[i] = !p.there[i];
		if (step % 4 == 0)
			compare_sets(&o, &p, &r);
	}
	fth_order_release(&o);
}

/* ---- the free profile ---- */

enum { HORIZON = 60 };

/* Free nodes second by second; after the horizon as in its last second. */
static int64_t plain_find(const int64_t *free, uint32_t size, int64_t length)
{
	for (int64_t at = 0; at < HORIZON; at++) {
		bool ok = true;
		for (int64_t t = at; t < at + length && ok; t++)
			ok = free[t < HORIZON ? t : HORIZON - 1] >= size;
		if (ok)
			return at;
	}
	return -1;
}

static void profile_like_second_by_second(void **state)
{
	struct fth_rng r;
	(void)state;
	fth_rng_seed(&r, 9, 0, 0);
	for (int round = 0; round < 300; round++) {
		struct sec_step p[128] = {{0, (int64_t)fth_rng_below(&r, 5)}};
		int64_t free[HORIZON];
		size_t n = 1;
		for (fth_time at = 1 + (fth_time)fth_rng_below(&r, 5); at < 30; at += 1 + (fth_time)fth_rng_below(&r, 8), n++)
			p[n] = (struct sec_step){at, p[n - 1].free + 1 + (int64_t)fth_rng_below(&r, 4)};
		for (int64_t t = 0, k = 0; t < HORIZON; t++) {
			while (k + 1 < (int64_t)n && p[k + 1].at <= t)
				k++;
			free[t] = p[k].free;
		}
		for (int job = 0; job < 12; job++) {
			uint32_t size = 1 + (uint32_t)fth_rng_below(&r, 8);
			fth_time length = 1 + (fth_time)fth_rng_below(&r, 9), at = sec_profile_find(p, n, size, length);
			int64_t plain = plain_find(free, size, length);
			if (plain < 0 || plain + length >= HORIZON)
				break;
			assert_int_equal(at, plain);
			n = sec_profile_take(p, n, at, size, length);
			for (int64_t t = at; t < at + length; t++)
				free[t] -= size;
		}
	}
}

/* ---- boot times ---- */

static void boot_times_of_table_2(void **state)
{
	struct fth_instance_type t = {.boot = {{1, 126 * FTH_SEC}, {2, 186 * FTH_SEC}, {4, 252 * FTH_SEC}, {8, 270 * FTH_SEC}, {16, 300 * FTH_SEC}}};
	(void)state;
	assert_int_equal(fth_boot_time(&t, 1), 126 * FTH_SEC);
	assert_int_equal(fth_boot_time(&t, 2), 186 * FTH_SEC);
	assert_int_equal(fth_boot_time(&t, 3), 219 * FTH_SEC);
	assert_int_equal(fth_boot_time(&t, 16), 300 * FTH_SEC);
	assert_int_equal(fth_boot_time(&t, 21), 312 * FTH_SEC); /* 5 min + 0.5 min x log2(21/16) */
	assert_int_equal(fth_boot_time(&t, 32), 330 * FTH_SEC);
	assert_int_equal(fth_boot_time(&t, 64), 360 * FTH_SEC);
	struct fth_instance_type one = {.boot = {{1, 90 * FTH_SEC}}};
	assert_int_equal(fth_boot_time(&one, 50), 90 * FTH_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordered_set_like_a_plain_list),
		cmocka_unit_test(profile_like_second_by_second),
		cmocka_unit_test(boot_times_of_table_2),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
