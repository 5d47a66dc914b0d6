/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/colocation.h"

enum { A = 11, B = 22, C = 33, D = 44 };

static struct fth_colocation *table;

static int setup(void **state)
{
	(void)state;
	table = fth_colocation_new(0.95);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fth_colocation_free(table);
	return 0;
}

static double rate(fth_sym key, const fth_sym *others, uint32_t n)
{
	return fth_colocation_rate(table, key, others, n);
}

static void unseen_pairs_count_t(void **state)
{
	(void)state;
	fth_sym bc[] = {B, C};
	assert_true(rate(A, bc, 0) == 1);
	assert_true(rate(A, bc, 1) == 0.95);
	assert_true(rate(A, bc, 2) == 0.95 * 0.95);
	fth_colocation_record(table, A, bc, 1, 0.8);
	assert_true(rate(A, bc, 2) == 0.8 * 0.95);
	/* The other direction is another entry. */
	assert_true(rate(B, (fth_sym[]){A}, 1) == 0.95);
}

static void a_set_once_seen_is_trusted_in_any_order(void **state)
{
	(void)state;
	double mean = 0;
	assert_false(fth_colocation_seen(table, A, (fth_sym[]){B, C, B}, 3, &mean));
	assert_true(fth_colocation_record(table, A, (fth_sym[]){B, C, B}, 3, 0.5));
	assert_true(fth_colocation_seen(table, A, (fth_sym[]){C, B, B}, 3, &mean));
	assert_true(mean == 0.5);
	assert_true(rate(A, (fth_sym[]){B, B, C}, 3) == 0.5);
	/* Not the same multiset, not the same key. */
	assert_false(fth_colocation_seen(table, A, (fth_sym[]){B, C}, 2, NULL));
	assert_false(fth_colocation_seen(table, A, (fth_sym[]){B, C, C}, 3, NULL));
	assert_false(fth_colocation_seen(table, B, (fth_sym[]){A, C, B}, 3, NULL));
	/* Equal keys within one set share one entry. */
	fth_colocation_record(table, B, (fth_sym[]){A, B, C}, 3, 0.7);
	assert_true(rate(B, (fth_sym[]){C, B, A}, 3) == 0.7);
	assert_true(rate(A, (fth_sym[]){B, B, C}, 3) == 0.5);
}

static void the_mean_is_a_sum_from_the_beginning(void **state)
{
	(void)state;
	fth_sym b = B;
	double sum = 0;
	bool moved = false;
	for (int i = 1; i <= 1000; i++) {
		double before = i > 1 ? sum / (i - 1) : -1;
		sum += 0.853;
		bool changed = fth_colocation_record(table, A, &b, 1, 0.853);
		assert_true(rate(A, &b, 1) == sum / i);
		assert_true(changed == (sum / i != before));
		moved = moved || (i > 1 && changed);
	}
	assert_true(moved); /* the rounding of repeated addition shows */
	/* Many at once have the very same bits. */
	struct fth_colocation *two = fth_colocation_new(0.95);
	uint32_t ka = fth_colocation_key(two, A), kb = fth_colocation_key(two, B);
	fth_colocation_add(two, fth_colocation_entry(two, ka, &kb, 1), 0.853, 1);
	fth_colocation_add(two, fth_colocation_entry(two, ka, &kb, 1), 0.853, 999);
	assert_true(fth_colocation_rate(two, A, &b, 1) == rate(A, &b, 1));
	fth_colocation_free(two);
}

static void dense_lookups_agree(void **state)
{
	(void)state;
	for (fth_sym s = 1; s <= 100; s++) {
		fth_sym others[] = {s + 1, s % 7 + 1, 3};
		fth_colocation_record(table, s, others, s % 4, 1.0 / s);
	}
	for (fth_sym s = 1; s <= 100; s++) {
		fth_sym others[] = {3, s % 7 + 1, s + 1};
		uint32_t n = s % 4, keys[4], first = 3 - n;
		uint64_t hash = 0;
		/* n of the three from the end are the n first of the recorded order, turned round */
		for (uint32_t i = 0; i < n; i++)
			keys[i] = fth_colocation_key(table, others[first + i]);
		keys[n] = fth_colocation_key(table, s);
		for (uint32_t i = 0; i <= n; i++)
			hash += fth_colocation_hash(keys[i]);
		uint32_t set = fth_colocation_find(table, hash, keys, n + 1);
		assert_true(set != FTH_NONE);
		assert_true(fth_colocation_member(table, set, keys[n]) == rate(s, others + first, n));
		if (n == 1) {
			struct fth_colocation_pairs p = fth_colocation_pairs(table);
			assert_true(p.mean[keys[1] * p.stride + keys[0]] == rate(s, others + 2, 1));
			assert_true(p.known[keys[1]]);
		}
	}
}

/* ---- the paper's rules, one by one: a job of three tasks ---- */

static const fth_sym one[] = {B}, two[] = {B, C}, three[] = {B, C, D};
static const struct fth_colocation_member job[] = {{A, one, 1}, {A, three, 3}, {A, two, 2}};

static void nothing_recorded_blames_the_most_crowded(void **state)
{
	(void)state;
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.8), 1);
	/* Equally crowded: the first. */
	const struct fth_colocation_member tie[] = {{A, one, 1}, {A, two, 2}, {D, two, 2}};
	assert_int_equal(fth_colocation_attribute(table, tie, 3, 0.8), 1);
}

static void a_lower_record_explains_the_observation(void **state)
{
	(void)state;
	fth_colocation_record(table, A, one, 1, 0.7);
	fth_colocation_record(table, A, two, 2, 0.75);
	/* The lowest recorded one, although a more crowded task is unrecorded. */
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.8), 0);
	/* One is lower, the other higher than what is seen: still the lowest. */
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.72), 0);
	/* Equal explains it as well. */
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.7), 0);
}

static void higher_records_blame_the_unrecorded(void **state)
{
	(void)state;
	fth_colocation_record(table, A, three, 3, 0.9);
	/* Of the two unrecorded ones, the more crowded. */
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.8), 2);
	fth_colocation_record(table, A, two, 2, 0.95);
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.8), 0);
}

static void all_recorded_and_higher_corrects_the_lowest(void **state)
{
	(void)state;
	fth_colocation_record(table, A, one, 1, 0.97);
	fth_colocation_record(table, A, two, 2, 0.9);
	fth_colocation_record(table, A, three, 3, 0.92);
	assert_int_equal(fth_colocation_attribute(table, job, 3, 0.8), 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(unseen_pairs_count_t),
		T(a_set_once_seen_is_trusted_in_any_order),
		T(the_mean_is_a_sum_from_the_beginning),
		T(dense_lookups_agree),
		T(nothing_recorded_blames_the_most_crowded),
		T(a_lower_record_explains_the_observation),
		T(higher_records_blame_the_unrecorded),
		T(all_recorded_and_higher_corrects_the_lowest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
