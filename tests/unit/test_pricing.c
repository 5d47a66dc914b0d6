/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/pricing.h"

enum { MAXI = 6 };

struct knapsack {
	uint32_t n;
	struct fth_res cap, need[MAXI];
	char usable[MAXI];
	int64_t value[MAXI], limit[MAXI];
};

static int64_t below(struct fth_rng *r, uint64_t n)
{
	return (int64_t)fth_rng_below(r, n);
}

static void draw(struct knapsack *k, struct fth_rng *r)
{
	*k = (struct knapsack){.n = 1 + (uint32_t)below(r, MAXI)};
	int nres = 1 + (int)below(r, 4);
	for (int i = 0; i < nres; i++)
		k->cap.v[i] = 6 * below(r, 12);
	for (uint32_t i = 0; i < k->n; i++) {
		for (int j = 0; j < nres; j++)
			k->need[i].v[j] = below(r, 3) ? 3 * below(r, 8) : 0;
		k->usable[i] = below(r, 8) != 0;
		k->value[i] = below(r, 6) ? below(r, 1000000) : -below(r, 3);
		k->limit[i] = below(r, 5);
	}
}

/* Try every filling. */
static int64_t brute(const struct knapsack *k, uint32_t i, struct fth_res room)
{
	if (i >= k->n || i >= MAXI)
		return 0;
	int64_t best = brute(k, i + 1, room);
	for (int64_t n = 1; n <= k->limit[i] && k->usable[i] && fth_res_fits(&k->need[i], &room); n++) {
		fth_res_sub(&room, &k->need[i]);
		int64_t v = n * k->value[i] + brute(k, i + 1, room);
		best = FTH_MAX(best, v);
	}
	return best;
}

/* What is returned fits, respects the limits and is worth what is said. */
static void check_filling(const struct knapsack *k, const struct fth_priced *out)
{
	struct fth_res room = k->cap;
	int64_t worth = 0;
	for (uint32_t i = 0; i < out->nparts; i++) {
		struct fth_filling f = out->parts[i];
		assert_true(f.item < k->n && k->usable[f.item]);
		assert_true(f.copies > 0 && f.copies <= k->limit[f.item]);
		for (uint32_t c = 0; c < f.copies; c++) {
			assert_true(fth_res_fits(&k->need[f.item], &room));
			fth_res_sub(&room, &k->need[f.item]);
			worth += k->value[f.item];
		}
	}
	assert_int_equal(worth, out->value);
}

static void random_against_all_fillings(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 3, 0, 0);
	int found = 0, cut = 0;
	for (int t = 0; t < 20000; t++) {
		struct knapsack k;
		draw(&k, &r);
		int64_t best = brute(&k, 0, k.cap);
		struct fth_pricer *p = fth_pricer_new(&k.cap, k.need, k.usable, k.n);
		struct fth_priced out;
		fth_pricer_solve(p, k.value, k.limit, 0, 1000000, &out);
		assert_true(out.complete);
		assert_int_equal(out.value, best);
		assert_int_equal(out.bound, best);
		assert_int_equal(out.found, best > 0);
		if (out.found)
			check_filling(&k, &out);
		/* A floor at the optimum: nothing is found, and the floor is the bound. */
		fth_pricer_solve(p, k.value, k.limit, best, 1000000, &out);
		assert_false(out.found);
		assert_int_equal(out.bound, best);
		if (best > 0) {
			fth_pricer_solve(p, k.value, k.limit, best - 1, 1000000, &out);
			assert_true(out.found);
			assert_int_equal(out.value, best);
			found++;
		}
		/* Cut short, the bound still holds. */
		fth_pricer_solve(p, k.value, k.limit, 0, 1 + (uint64_t)below(&r, 4), &out);
		assert_true(out.bound >= best && out.value <= best);
		if (out.found)
			check_filling(&k, &out);
		cut += !out.complete;
		fth_pricer_free(p);
	}
	assert_true(found > 1000);
	assert_true(cut > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_against_all_fillings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
