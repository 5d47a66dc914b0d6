/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "optimize/availability.h"
#include "optimize/common_cause.h"
#include "optimize/correlated.h"

static size_t random_pool(struct fth_pool_part *parts, uint64_t id, size_t most)
{
	struct fth_rng r;
	fth_rng_seed(&r, 11, 3, id);
	size_t n = 1 + fth_rng_below(&r, most);
	for (size_t i = 0; i < n; i++)
		parts[i] = (struct fth_pool_part){fth_rng_below(&r, 40), 0.5 + 0.4999 * fth_rng_real(&r)};
	return n;
}

/* Every combination of kinds that are up. */
static double brute_force(const struct fth_pool_part *parts, size_t n, uint64_t m)
{
	double sum = 0;
	for (uint32_t mask = 0; mask < 1u << n; mask++) {
		double prob = 1;
		uint64_t have = 0;
		for (size_t i = 0; i < n; i++) {
			prob *= mask >> i & 1 ? parts[i].p : 1 - parts[i].p;
			have += mask >> i & 1 ? parts[i].weight : 0;
		}
		sum += have >= m ? prob : 0;
	}
	return sum;
}

static int heavier(const void *a, const void *b)
{
	const struct fth_pool_part *x = a, *y = b;
	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

static void test_brute_force(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 300; id++) {
		struct fth_pool_part parts[12];
		size_t n = random_pool(parts, id, 10);
		for (uint64_t m = 0; m < 260; m += 13) {
			double want = brute_force(parts, n, m);
			assert_true(fabs(fth_pool_availability(parts, n, m) - want) < 1e-13);
			struct fth_pool_part sorted[12];
			memcpy(sorted, parts, sizeof(parts));
			qsort(sorted, n, sizeof(*sorted), heavier);
			assert_true(fabs(1 - fth_pool_shortfall(sorted, n, m, 0, 1, 0) - want) < 1e-13);
			/* Leaving improbable branches out never makes a pool look better than it is. */
			assert_true(fth_pool_shortfall(sorted, n, m, 1e-3, 1, 0) >= 1 - want - 1e-13);
		}
	}
}

/* The paper's example: two types, 1 ECU each, 90 %: 1 ECU is there for 99 %. */
static void test_paper_example(void **state)
{
	(void)state;
	const struct fth_pool_part parts[] = {{1, 0.9}, {1, 0.9}};
	assert_true(fabs(fth_pool_availability(parts, 2, 1) - 0.99) < 1e-15);
	assert_true(fabs(fth_pool_availability(parts, 2, 2) - 0.81) < 1e-15);
	assert_true(fabs(fth_pool_availability(parts, 1, 1) - 0.9) < 1e-15);
}

static void test_one_more_never_hurts(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 200; id++) {
		struct fth_pool_part parts[12];
		size_t n = random_pool(parts, 1000 + id, 10);
		for (uint64_t m = 1; m < 200; m += 17) {
			double before = fth_pool_availability(parts, n, m);
			for (size_t i = 0; i < n; i++) {
				parts[i].weight += 5;
				assert_true(fth_pool_availability(parts, n, m) >= before - 1e-15);
				parts[i].weight -= 5;
			}
		}
	}
}

static void test_merge(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 50; id++) {
		struct fth_pool_part parts[12];
		size_t n = random_pool(parts, 5000 + id, 10), half = n / 2;
		struct fth_capacity_dist a, b;
		fth_capacity_dist_init(&a, 150);
		fth_capacity_dist_init(&b, 150);
		for (size_t i = 0; i < n; i++)
			fth_capacity_dist_add(i < half ? &a : &b, parts[i].weight, parts[i].p);
		fth_capacity_dist_merge(&a, &b);
		assert_true(fabs(1 - fth_capacity_dist_below(&a, 150) - fth_pool_availability(parts, n, 150)) < 1e-13);
		fth_capacity_dist_release(&a);
		fth_capacity_dist_release(&b);
	}
}

static void test_monte_carlo(void **state)
{
	(void)state;
	enum { DRAWS = 200000 };
	for (uint64_t id = 0; id < 5; id++) {
		struct fth_pool_part parts[12];
		size_t n = random_pool(parts, 9000 + id, 10);
		struct fth_rng r;
		fth_rng_seed(&r, 5, 5, id);
		uint64_t good = 0, m = 60;
		for (int d = 0; d < DRAWS; d++) {
			uint64_t have = 0;
			for (size_t i = 0; i < n; i++)
				have += fth_rng_real(&r) < parts[i].p ? parts[i].weight : 0;
			good += have >= m;
		}
		double a = fth_pool_availability(parts, n, m), sd = sqrt(a * (1 - a) / DRAWS);
		assert_true(fabs((double)good / DRAWS - a) <= 5 * sd + 1e-12);
	}
}

/* ---- tiers ---- */

static double tiers_brute(const struct fth_tier *t, size_t nt, size_t n)
{
	double sum = 0;
	for (uint32_t mask = 0; mask < 1u << n; mask++) {
		double prob = 1;
		bool all = true;
		for (size_t i = 0; i < n; i++)
			prob *= mask >> i & 1 ? t[0].parts[i].p : 1 - t[0].parts[i].p;
		for (size_t k = 0; k < nt; k++) {
			uint64_t have = 0;
			for (size_t i = 0; i < n; i++)
				have += mask >> i & 1 ? t[k].parts[i].weight : 0;
			all &= have >= t[k].capacity;
		}
		sum += all ? prob : 0;
	}
	return sum;
}

static void test_tiers(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 100; id++) {
		struct fth_rng r;
		struct fth_pool_part parts[3][8];
		struct fth_tier tiers[3];
		struct fth_tiers_availability a;
		fth_rng_seed(&r, 2, 2, id);
		for (int k = 0; k < 3; k++)
			tiers[k] = (struct fth_tier){parts[k], 20 + fth_rng_below(&r, 40)};
		for (int i = 0; i < 8; i++) {
			double p = 0.6 + 0.39 * fth_rng_real(&r);
			for (int k = 0; k < 3; k++)
				parts[k][i] = (struct fth_pool_part){fth_rng_below(&r, 2) * fth_rng_below(&r, 30), p};
		}
		assert_int_equal(fth_tiers_availability(tiers, 3, 8, &a, NULL), 0);
		assert_true(fabs(a.actual - tiers_brute(tiers, 3, 8)) < 1e-12);
		assert_true(a.actual <= a.lowest + 1e-12 && a.independent <= a.lowest + 1e-12);
		assert_true(a.actual >= a.independent - 1e-12); /* falling together helps */
	}
	/* The same machines in every tier: as available as one of them. */
	const struct fth_pool_part same[] = {{10, 0.9}, {10, 0.95}};
	struct fth_tier twice[] = {{same, 10}, {same, 10}};
	struct fth_tiers_availability a;
	assert_int_equal(fth_tiers_availability(twice, 2, 2, &a, NULL), 0);
	assert_true(fabs(a.actual - 0.995) < 1e-12 && fabs(a.independent - 0.995 * 0.995) < 1e-12);
	assert_true(fabs(fth_tier_target(0.9999, 4) - 0.99997499906) < 1e-9);
}

/* ---- offers that fall together ---- */

static void test_matrix(void **state)
{
	(void)state;
	const double p[] = {0.9, 0.95, 0.99};
	const double m[] = {1, 0.3, 0, 0.3, 1, 0.1, 0, 0.1, 1};
	struct fth_joint *j;
	assert_int_equal(fth_joint_from_matrix(&j, m, p, 3, NULL), 0);
	/* Pairs fall together exactly as often as their coefficient says. */
	double back[9], both = 0.1 * 0.05 + 0.3 * sqrt(0.9 * 0.1 * 0.95 * 0.05);
	fth_joint_correlations(j, back);
	for (int i = 0; i < 9; i++)
		assert_true(fabs(back[i] - m[i]) < 1e-9);
	uint32_t pair[] = {0, 1};
	assert_true(fabs(fth_joint_all_down(j, pair, 2, 0) - both) < 1e-12);
	const struct fth_pool_part one[] = {{5, 0.9}, {0, 0.95}, {0, 0.99}}, two[] = {{5, 0.9}, {5, 0.95}, {0, 0.99}};
	assert_true(fabs(fth_joint_availability(j, one, 5, 0) - 0.9) < 1e-12);
	assert_true(fabs(fth_joint_availability(j, two, 5, 0) - (1 - both)) < 1e-12);
	assert_true(fth_joint_availability(j, two, 5, 0.01) < fth_joint_availability(j, two, 5, 0));
	fth_joint_free(j);
	/* Without correlation: the independent pool. */
	const double none[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	const struct fth_pool_part three[] = {{5, 0.9}, {7, 0.95}, {9, 0.99}};
	assert_int_equal(fth_joint_from_matrix(&j, none, p, 3, NULL), 0);
	assert_true(fabs(fth_joint_availability(j, three, 12, 0) - fth_pool_availability(three, 3, 12)) < 1e-12);
	fth_joint_free(j);
}

static void test_matrix_refused(void **state)
{
	(void)state;
	struct fth_joint *j;
	struct fth_error err = {0};
	const double p[] = {0.9, 0.999}, odd[] = {1, 0.5, 0.4, 1}, diagonal[] = {1, 0, 0, 0.5}, beyond[] = {1, NAN, NAN, 1};
	assert_int_equal(fth_joint_from_matrix(&j, odd, p, 2, &err), -EINVAL);
	assert_int_equal(fth_joint_from_matrix(&j, diagonal, p, 2, &err), -EINVAL);
	assert_int_equal(fth_joint_from_matrix(&j, beyond, p, 2, &err), -EINVAL);
}

/* One that is hardly ever down cannot be down whenever the other is: what there is room for is taken, and availabilities stay. */
static void test_matrix_without_room(void **state)
{
	(void)state;
	struct fth_joint *j;
	const double p[] = {0.9, 0.999}, impossible[] = {1, 0.9, 0.9, 1};
	double back[4];
	assert_int_equal(fth_joint_from_matrix(&j, impossible, p, 2, NULL), 0);
	fth_joint_correlations(j, back);
	double most = sqrt(0.001 * 0.9 / (0.999 * 0.1)); /* of any two such events */
	assert_true(back[1] > 0.5 * most && back[1] <= most + 1e-9 && back[1] == back[2]);
	for (int k = 0; k < 2; k++) {
		struct fth_pool_part parts[] = {{k ? 0 : 1, p[0]}, {k ? 1 : 0, p[1]}};
		assert_true(fabs(fth_joint_availability(j, parts, 1, 0) - p[k]) < 1e-12);
	}
	fth_joint_free(j);
}

/* Draw the causes and then the kinds, and count. */
static double draw_availability(const struct fth_causes *c, const double *p, const struct fth_pool_part *parts, uint32_t n, uint64_t m,
				double *both)
{
	enum { DRAWS = 400000 };
	struct fth_rng r;
	uint64_t enough = 0, down = 0;
	fth_rng_seed(&r, 5, 6, n);
	for (int d = 0; d < DRAWS; d++) {
		bool struck[FTH_CAUSES_MAX], up[32];
		uint64_t have = 0;
		for (uint32_t k = 0; k < c->n; k++)
			struck[k] = fth_rng_real(&r) < c->s[k];
		for (uint32_t i = 0; i < n; i++) {
			double own = p[i];
			for (uint32_t k = 0; k < c->n; k++)
				own *= (struck[k] ? 1 - c->t[i * FTH_CAUSES_MAX + k] : 1) / (1 - c->s[k] * c->t[i * FTH_CAUSES_MAX + k]);
			assert_true(own <= 1 + 1e-9);
			up[i] = fth_rng_real(&r) < own;
			have += up[i] ? parts[i].weight : 0;
		}
		enough += have >= m;
		down += !up[0] && !up[1];
	}
	*both = (double)down / DRAWS;
	return (double)enough / DRAWS;
}

/* Many kinds, a little of everything in common; and two regions that have something in common. */
static void test_common_causes(void **state)
{
	(void)state;
	enum { N = 24 };
	double p[N], m[N * N], back[N * N], both;
	struct fth_pool_part parts[N];
	for (int kind = 0; kind < 2; kind++) {
		struct fth_joint *j;
		struct fth_causes c;
		for (int i = 0; i < N; i++) {
			p[i] = kind ? 0.6 + 0.01 * i : 0.95 + 0.002 * i;
			parts[i] = (struct fth_pool_part){(uint64_t)(3 + i % 5), p[i]};
			for (int k = 0; k < N; k++)
				m[i * N + k] = i == k ? 1 : !kind ? 0.1 : (i < N / 2) == (k < N / 2) ? 0.25 : 0.05;
		}
		assert_int_equal(fth_joint_from_matrix(&j, m, p, N, NULL), 0);
		fth_joint_correlations(j, back);
		for (int i = 0; i < N * N; i++)
			assert_true(fabs(back[i] - m[i]) < 0.02);
		fth_causes_fit(&c, m, p, N);
		double a = fth_joint_availability(j, parts, kind ? 60 : 95, 0);
		double drawn = draw_availability(&c, p, parts, N, kind ? 60 : 95, &both);
		uint32_t pair[] = {0, 1};
		assert_true(a > 0.5 && a < 0.999 && fabs(a - drawn) < 0.004);
		assert_true(fabs(fth_joint_all_down(j, pair, 2, 0) - both) < 0.004);
		assert_true(a < fth_pool_availability(parts, N, kind ? 60 : 95)); /* independence is too good */
		fth_causes_release(&c);
		fth_joint_free(j);
	}
}

static void test_states(void **state)
{
	(void)state;
	const uint8_t up[] = {1, 1, 1, 0, 0, 1, 1, 1};
	const double weight[] = {6, 1, 1, 2};
	struct fth_joint *j;
	double p[2];
	assert_int_equal(fth_joint_from_states(&j, up, weight, 4, 2, NULL), 0);
	fth_joint_marginals(j, p);
	assert_true(fabs(p[0] - 0.9) < 1e-12 && fabs(p[1] - 0.9) < 1e-12);
	/* Never down together: 1 of 2 is always there, though independence would say 0.99. */
	const struct fth_pool_part parts[] = {{5, 0.9}, {5, 0.9}};
	assert_true(fth_joint_availability(j, parts, 5, 0) == FTH_JOINT_MEASURED_MAX); /* as far as a window can tell */
	assert_true(fabs(fth_joint_availability(j, parts, 10, 0) - 0.8) < 1e-12);
	assert_true(fabs(fth_joint_availability(j, parts, 10, 0.5) - 0.8 * 0.25) < 1e-12);
	fth_joint_free(j);
	const double bad[] = {1, 0, 1, 1};
	assert_int_equal(fth_joint_from_states(&j, up, bad, 4, 2, NULL), -EINVAL);
	assert_int_equal(fth_joint_from_states(&j, up, weight, 0, 2, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force), cmocka_unit_test(test_paper_example), cmocka_unit_test(test_one_more_never_hurts),
		cmocka_unit_test(test_merge),       cmocka_unit_test(test_monte_carlo),   cmocka_unit_test(test_tiers),
		cmocka_unit_test(test_matrix),      cmocka_unit_test(test_matrix_refused), cmocka_unit_test(test_matrix_without_room), cmocka_unit_test(test_common_causes), cmocka_unit_test(test_states),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
