/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

/* The loop is the definition; the fast form must have its very bits. */
static void repeated_addition_has_the_bits_of_the_loop(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 1, 2, 3);
	for (int i = 0; i < 20000; i++) {
		double scale[] = {3, 0.01, 12}, x = fth_rng_real(&r) * scale[i % 3];
		double from = fth_rng_real(&r) * 1000 * (i % 2);
		uint64_t n = fth_rng_below(&r, 3000);
		if (i % 7 == 0)
			x = 2.1;
		if (i % 11 == 0)
			x = 0.25 * (double)(1 + fth_rng_below(&r, 8));
		volatile double sum = from;
		for (uint64_t k = 0; k < n; k++)
			sum += x;
		double fast = fth_repeat_add(from, x, n);
		assert_memory_equal(&fast, (const void *)&sum, sizeof(fast));

		double goal = from + (double)n * x * fth_rng_real(&r);
		volatile double walk = from;
		uint64_t steps = 0;
		while (walk < goal) {
			walk += x;
			steps++;
		}
		assert_int_equal(fth_repeat_until(from, x, goal), steps);
	}
	assert_true(fth_repeat_until(0, 0, 1) == UINT64_MAX);
	assert_true(fth_repeat_until(5, 1, 5) == 0);
}

static void decimals_are_exact_or_refused(void **state)
{
	(void)state;
	int64_t v = -1;
	assert_int_equal(fth_parse_usd("0.08925", 7, &v), 0);
	assert_int_equal(v, 89250000);
	assert_int_equal(fth_parse_usd("0.0000000001", 12, &v), -EINVAL);
	assert_int_equal(fth_parse_usd("99999999999", 11, &v), -ERANGE);
	assert_int_equal(v, 89250000);
	assert_int_equal(fth_parse_duration("5m", 2, &v), 0);
	assert_int_equal(v, 5 * FTH_MINUTE);
	assert_int_equal(fth_parse_duration("250ms", 5, &v), 0);
	assert_int_equal(v, 250 * FTH_MS);
	assert_int_equal(fth_parse_duration("1.5", 3, &v), 0);
	assert_int_equal(v, 1500 * FTH_MS);
	assert_int_equal(fth_parse_i64("", 0, &v), -EINVAL);
	assert_int_equal(fth_parse_i64("12x", 3, &v), -EINVAL);
	assert_int_equal(fth_parse_i64("9223372036854775808", 19, &v), -ERANGE);
	double d;
	assert_int_equal(fth_parse_real("nan", 3, &d), -EINVAL);
	assert_int_equal(fth_parse_real("1e999", 5, &d), -ERANGE);
	struct fth_str s = {0};
	fth_str_usd(&s, 89250000);
	fth_str_addc(&s, ' ');
	fth_str_duration(&s, 1500 * FTH_MS);
	fth_str_addc(&s, ' ');
	fth_str_real(&s, 0.1);
	assert_string_equal(s.data, "0.08925 1.5s 0.1");
	fth_str_release(&s);
}

static void table_ids_are_never_reused_and_memory_is(void **state)
{
	(void)state;
	struct fth_table t;
	fth_table_init(&t, sizeof(uint64_t));
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t id, slot;
		uint64_t *p = fth_table_add(&t, &id, &slot);
		assert_int_equal(id, i);
		*p = i;
		if (i >= 10) {
			assert_int_equal(*(uint64_t *)fth_table_get(&t, i - 10), i - 10);
			fth_table_remove(&t, i - 10);
			assert_null(fth_table_get(&t, i - 10));
		}
		assert_true(slot < 12);
	}
	assert_int_equal(t.live, 10);
	assert_null(fth_table_get(&t, 100000));
	fth_table_release(&t);
}

static void heap_orders_by_time_rank_insertion(void **state)
{
	(void)state;
	struct fth_heap h = {0};
	fth_heap_push(&h, 5, 1, 1, 0, 0);
	fth_heap_push(&h, 5, 0, 2, 0, 0);
	fth_heap_push(&h, 4, 9, 3, 0, 0);
	fth_heap_push(&h, 5, 0, 4, 0, 0);
	uint32_t want[] = {3, 2, 4, 1};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(fth_heap_pop(&h).a, want[i]);
	fth_heap_release(&h);
}

static void maps_find_what_was_put(void **state)
{
	(void)state;
	struct fth_map m = {0};
	for (uint64_t i = 0; i < 5000; i++)
		fth_map_put(&m, i * 7919, i);
	for (uint64_t i = 0; i < 5000; i += 2)
		assert_true(fth_map_del(&m, i * 7919));
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t v = 0;
		assert_int_equal(fth_map_get(&m, i * 7919, &v), i % 2);
		if (i % 2)
			assert_int_equal(v, i);
	}
	fth_map_release(&m);
}

static void logarithm_and_exponential_are_close_to_libm(void **state)
{
	(void)state;
	for (double x = 1e-6; x < 1e9; x *= 1.37)
		assert_true(fth_exp(fth_log(x)) / x - 1 < 1e-13 && 1 - fth_exp(fth_log(x)) / x < 1e-13);
	assert_true(fth_log(1) == 0 && fth_exp(0) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_addition_has_the_bits_of_the_loop),
		cmocka_unit_test(decimals_are_exact_or_refused),
		cmocka_unit_test(table_ids_are_never_reused_and_memory_is),
		cmocka_unit_test(heap_orders_by_time_rank_insertion),
		cmocka_unit_test(maps_find_what_was_put),
		cmocka_unit_test(logarithm_and_exponential_are_close_to_libm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
