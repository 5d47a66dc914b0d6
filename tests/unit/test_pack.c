/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "pack_fixture.h"

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Every machine holds its tasks, every task is placed once, the price is the sum. */
static void check_packing(const struct pack_fixture *f, const struct fth_packing *p)
{
	uint64_t *placed = fth_alloc((f->items.len + 1) * sizeof(*placed));
	fth_price price = 0;
	for (size_t b = 0; b < p->bins.len; b++) {
		const struct fth_packed *bin = &p->bins.data[b];
		const struct fth_offer *o = &f->catalog.offers.data[bin->offer];
		const struct fth_instance_type *t = &f->catalog.types.data[o->type];
		struct fth_res room = t->capacity;
		assert_true(bin->repeat > 0 && bin->n > 0);
		assert_true(o->available && o->market == FTH_ON_DEMAND);
		for (uint32_t i = 0; i < bin->n; i++) {
			uint32_t item = p->items.data[bin->first + i];
			assert_true(item < f->items.len);
			const struct fth_alt *a = fth_kind_on_type(&f->kinds.list.data[f->items.data[item].kind], t);
			assert_non_null(a);
			assert_true(fth_res_fits(&a->demand, &room));
			fth_res_sub(&room, &a->demand);
			placed[item] += bin->repeat;
		}
		price += o->price * bin->repeat;
	}
	for (size_t i = 0; i < f->items.len; i++)
		assert_int_equal(placed[i], f->items.data[i].count);
	assert_int_equal(price, p->price);
	free(placed);
}

/* ---- the paper's example ---- */

static void table3_costs_12_80(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_type(&f, "it1", fixture_res(4, 16, 244), 12000000000);
	fixture_type(&f, "it2", fixture_res(1, 4, 61), 3000000000);
	fixture_type(&f, "it3", fixture_res(0, 8, 32), 800000000);
	fixture_type(&f, "it4", fixture_res(0, 4, 16), 400000000);
	fixture_item(&f, fixture_plain_kind(&f, "t1", fixture_res(2, 8, 24)), 1);
	fixture_item(&f, fixture_plain_kind(&f, "t2", fixture_res(1, 4, 10)), 1);
	fixture_item(&f, fixture_plain_kind(&f, "t3", fixture_res(0, 6, 20)), 1);
	fixture_item(&f, fixture_plain_kind(&f, "t4", fixture_res(0, 4, 12)), 1);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	assert_int_equal(r.packing.price, 12800000000);
	assert_int_equal(r.lower_bound, 12800000000);
	assert_int_equal(r.no_packing, 16200000000);
	assert_true(r.proven && r.gap == 0);
	check_packing(&f, &r.packing);
	fth_pack_result_release(&r);
	fixture_release(&f);
}

/* ---- small instances against every partition ---- */

enum { MAX_TASKS = 7, MAX_TYPES = 5 };

struct blocks {
	const struct pack_fixture *f;
	uint32_t n, task[MAX_TASKS]; /* the item of each task */
	uint32_t block[MAX_TASKS];
};

static fth_price block_price(const struct blocks *b, uint32_t upto, uint32_t which)
{
	fth_price best = INT64_MAX;
	for (size_t o = 0; o < b->f->catalog.offers.len; o++) {
		const struct fth_offer *offer = &b->f->catalog.offers.data[o];
		const struct fth_instance_type *t = &b->f->catalog.types.data[offer->type];
		struct fth_res room = t->capacity;
		bool fits = offer->available && offer->market == FTH_ON_DEMAND;
		for (uint32_t i = 0; i < upto && fits; i++) {
			if (b->block[i] != which)
				continue;
			const struct fth_alt *a =
				fth_kind_on_type(&b->f->kinds.list.data[b->f->items.data[b->task[i]].kind], t);
			fits = a && fth_res_fits(&a->demand, &room);
			if (fits)
				fth_res_sub(&room, &a->demand);
		}
		if (fits)
			best = FTH_MIN(best, offer->price);
	}
	return best;
}

/* Every way to split the tasks into machines, each on its cheapest type. */
static fth_price brute(struct blocks *b, uint32_t i, uint32_t nblocks)
{
	if (i == b->n) {
		fth_price sum = 0;
		for (uint32_t k = 0; k < nblocks; k++) {
			fth_price p = block_price(b, b->n, k);
			if (p == INT64_MAX)
				return INT64_MAX;
			sum += p;
		}
		return sum;
	}
	fth_price best = INT64_MAX;
	for (uint32_t k = 0; k <= nblocks; k++) {
		b->block[i] = k;
		fth_price p = brute(b, i + 1, FTH_MAX(nblocks, k + 1));
		best = FTH_MIN(best, p);
	}
	return best;
}

static void draw_small(struct pack_fixture *f, struct fth_rng *r)
{
	uint32_t types = 1 + (uint32_t)fth_rng_below(r, MAX_TYPES), kinds = 1 + (uint32_t)fth_rng_below(r, 5), left = MAX_TASKS;
	const char *families[] = {"a", "b"};
	/* One that holds anything, so that there is always an answer. */
	fixture_type(f, "a", fixture_res(4, 16, 64), 1000000000 + 7 * (fth_price)fth_rng_below(r, 500000000));
	for (uint32_t t = 1; t < types; t++) {
		fixture_type(f, families[fth_rng_below(r, 2)],
			     fixture_res((int64_t)fth_rng_below(r, 5), 1 + (int64_t)fth_rng_below(r, 16),
					 1 + (int64_t)fth_rng_below(r, 64)),
			     10000000 * (1 + (fth_price)fth_rng_below(r, 300)));
		f->catalog.offers.data[t].available = fth_rng_below(r, 8) != 0;
		if (!fth_rng_below(r, 8))
			f->catalog.offers.data[t].market = FTH_SPOT;
	}
	for (uint32_t k = 0; k < kinds; k++) {
		char name[16];
		struct fth_alt alts[2] = {{fth_sym_intern(f->syms, "b"), 1000000, {{0}}}, {0, 1000000, {{0}}}};
		for (int a = 0; a < 2; a++)
			alts[a].demand = fixture_res((int64_t)fth_rng_below(r, 3), (int64_t)fth_rng_below(r, 9),
						     (int64_t)fth_rng_below(r, 40));
		snprintf(name, sizeof(name), "k%u", k);
		uint32_t n = (uint32_t)fth_rng_below(r, left + 1);
		fixture_item(f, fixture_kind(f, name, alts, 2), n);
		left -= n;
	}
}

static void random_against_all_partitions(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 5, 0, 0);
	int proven = 0, tries = 1500;
	for (int t = 0; t < tries; t++) {
		struct pack_fixture f;
		struct fth_pack_result out;
		struct fth_error err = {0};
		fixture_init(&f);
		draw_small(&f, &r);
		assert_int_equal(fixture_pack(&f, NULL, &out, &err), 0);
		struct blocks b = {.f = &f};
		for (uint32_t i = 0; i < f.items.len; i++)
			for (uint32_t k = 0; k < f.items.data[i].count; k++)
				b.task[b.n++] = i;
		fth_price best = brute(&b, 0, 0);
		check_packing(&f, &out.packing);
		assert_true(out.lower_bound <= best);
		assert_true(out.packing.price >= best);
		assert_true(out.proven == (out.packing.price == out.lower_bound));
		proven += out.proven;
		fth_pack_result_release(&out);
		fixture_release(&f);
	}
	print_message("proven %d of %d\n", proven, tries);
	assert_true(proven >= tries * 99 / 100);
}

/* ---- 200 tasks of Table 7 ---- */

static void table7_within_one_percent(void **state)
{
	(void)state;
	int proven = 0;
	double worst = 0, slowest = 0, total = 0;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct pack_fixture f;
		struct fth_pack_result r;
		struct fth_error err = {0};
		fixture_init(&f);
		fixture_draw_table7(&f, 200, seed);
		double start = cpu_ms();
		assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
		double ms = cpu_ms() - start;
		check_packing(&f, &r.packing);
		assert_true(r.gap < 0.01);
		assert_true(r.packing.price < r.no_packing);
		proven += r.proven;
		worst = FTH_MAX(worst, r.gap);
		slowest = FTH_MAX(slowest, ms);
		total += ms;
		fth_pack_result_release(&r);
		fixture_release(&f);
	}
	print_message("30 x 200 tasks: %d proven, worst gap %.5f %%, mean %.1f ms, slowest %.1f ms\n", proven,
		      100 * worst, total / 30, slowest);
	assert_true(proven >= 24 && worst < 0.001);
}

/* Full Reconfiguration is a start; the optimum is never dearer, and says how far off it was. */
static void full_reconfiguration_is_improved(void **state)
{
	(void)state;
	double sum = 0;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct pack_fixture f;
		struct fth_pack_result r;
		struct fth_packing full = {0};
		struct fth_error err = {0};
		fixture_init(&f);
		fixture_draw_table7(&f, 200, seed);
		assert_int_equal(fth_catalog_finish(&f.catalog, &err), 0);
		assert_int_equal(fth_full_reconfig(&f.catalog.pub, f.kinds.list.data, f.items.data,
						   (uint32_t)f.items.len, NULL, NULL, &full, &err), 0);
		struct fth_pack_options o = {.start = &full, .start_method = "full-reconfiguration"};
		assert_int_equal(fixture_pack(&f, &o, &r, &err), 0);
		assert_true(r.packing.price <= full.price);
		assert_true(r.lower_bound <= full.price);
		sum += (double)full.price / (double)r.packing.price - 1;
		fth_pack_result_release(&r);
		fth_packing_release(&full);
		fixture_release(&f);
	}
	print_message("Full Reconfiguration is %.2f %% above the optimum on average\n", 100 * sum / 30);
}

static void same_input_same_bytes(void **state)
{
	(void)state;
	struct fth_pack_result r[2];
	struct pack_fixture f[2];
	struct fth_error err = {0};
	for (int i = 0; i < 2; i++) {
		fixture_init(&f[i]);
		fixture_draw_table7(&f[i], 777, 4);
		assert_int_equal(fixture_pack(&f[i], NULL, &r[i], &err), 0);
	}
	const struct fth_packing *a = &r[0].packing, *b = &r[1].packing;
	assert_int_equal(a->bins.len, b->bins.len);
	assert_int_equal(a->items.len, b->items.len);
	assert_memory_equal(a->bins.data, b->bins.data, a->bins.len * sizeof(*a->bins.data));
	assert_memory_equal(a->items.data, b->items.data, a->items.len * sizeof(*a->items.data));
	assert_int_equal(r[0].work, r[1].work);
	for (int i = 0; i < 2; i++) {
		fth_pack_result_release(&r[i]);
		fixture_release(&f[i]);
	}
}

/* ---- what goes in ---- */

/* Kinds that differ by name only are one group, and come out as the items they were. */
static void alike_tasks_are_one_group(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_ec2(&f);
	fixture_item(&f, fixture_plain_kind(&f, "one", fixture_res(0, 3, 5)), 40);
	fixture_item(&f, fixture_plain_kind(&f, "two", fixture_res(0, 3, 5)), 3);
	fixture_item(&f, fixture_plain_kind(&f, "none of", fixture_res(1, 3, 5)), 0);
	fixture_item(&f, fixture_plain_kind(&f, "three", fixture_res(0, 3, 5)), 7);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	assert_int_equal(r.groups, 1);
	check_packing(&f, &r.packing);
	assert_true(r.proven);
	fth_pack_result_release(&r);
	fixture_release(&f);
}

static void nothing_and_the_impossible(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_ec2(&f);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	assert_true(r.proven && r.packing.price == 0 && r.packing.bins.len == 0);
	fth_pack_result_release(&r);
	fixture_item(&f, fixture_plain_kind(&f, "small", fixture_res(0, 3, 5)), 1);
	fixture_item(&f, fixture_plain_kind(&f, "giant", fixture_res(9, 3, 5)), 1);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "item 1"));
	fixture_release(&f);
}

/* Where a kind is slow it does not go, unless it is slow everywhere: then where it is least slow. */
static void slow_families_are_left_out(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_type(&f, "slow", fixture_res(0, 8, 8), 100000000);
	fixture_type(&f, "fast", fixture_res(0, 8, 8), 150000000);
	struct fth_alt alts[2] = {{fth_sym_intern(f.syms, "slow"), 500000, fixture_res(0, 4, 4)},
				  {fth_sym_intern(f.syms, "fast"), 1000000, fixture_res(0, 4, 4)}};
	fixture_item(&f, fixture_kind(&f, "both", alts, 2), 4);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	assert_int_equal(r.packing.price, 300000000);
	fth_pack_result_release(&r);
	/* A start that has them there is not ours. */
	struct fth_packing start = {0};
	fth_vec_push(&start.bins, ((struct fth_packed){.offer = 0, .repeat = 4, .n = 1}));
	fth_vec_push(&start.items, 0u);
	start.price = 4 * f.catalog.offers.data[0].price;
	struct fth_pack_options o = {.start = &start, .start_method = "given"};
	assert_int_equal(fixture_pack(&f, &o, &r, &err), 0);
	assert_int_equal(r.packing.price, 300000000);
	fth_pack_result_release(&r);
	fth_packing_release(&start);
	fixture_item(&f, fixture_kind(&f, "only slow", alts, 1), 2);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	assert_int_equal(r.packing.price, 400000000);
	check_packing(&f, &r.packing);
	fth_pack_result_release(&r);
	fixture_release(&f);
}

static void a_free_machine_is_used(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_ec2(&f);
	fixture_type(&f, "own", fixture_res(0, 4, 8), 0);
	fixture_item(&f, fixture_plain_kind(&f, "small", fixture_res(0, 3, 5)), 9);
	fixture_item(&f, fixture_plain_kind(&f, "large", fixture_res(0, 5, 5)), 3);
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	check_packing(&f, &r.packing);
	assert_true(r.lower_bound <= r.packing.price);
	assert_int_equal(r.packing.price, 714000000); /* three of 5 CPUs: one machine of 16 */
	fth_pack_result_release(&r);
	fixture_release(&f);
}

/* A packing to start from is taken when it is the best, and refused when it is not one. */
static void a_start_is_checked_and_used(void **state)
{
	(void)state;
	struct pack_fixture f;
	struct fth_pack_result first, second;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_draw_table7(&f, 200, 1);
	assert_int_equal(fixture_pack(&f, NULL, &first, &err), 0);
	struct fth_pack_options o = {.start = &first.packing, .start_method = "given"};
	assert_int_equal(fixture_pack(&f, &o, &second, &err), 0);
	assert_int_equal(second.packing.price, first.packing.price);
	assert_string_equal(second.method, "given");
	check_packing(&f, &second.packing);
	first.packing.bins.data[0].repeat++;
	struct fth_pack_result third;
	assert_int_equal(fixture_pack(&f, &o, &third, &err), -EINVAL);
	fth_pack_result_release(&first);
	fth_pack_result_release(&second);
	fixture_release(&f);
}

/* All jobs of Eva's full trace at once: 94 different demands. */
static void the_whole_alibaba_trace_at_once(void **state)
{
	(void)state;
	const char *env = getenv("FARTHING_DATA"), *dir = env ? env : FTH_TEST_DATA;
	struct pack_fixture f;
	struct fth_pack_result r;
	struct fth_error err = {0};
	fixture_init(&f);
	fixture_ec2(&f);
	if (!dir || fixture_read_pai(&f, dir, UINT32_MAX)) {
		fixture_release(&f);
		if (getenv("CI"))
			fail_msg("no eva/pai_full_gavel.csv under FARTHING_DATA");
		print_message("no eva/pai_full_gavel.csv under FARTHING_DATA: skipped\n");
		skip();
	}
	assert_int_equal(f.items.len, 94);
	double start = cpu_ms();
	assert_int_equal(fixture_pack(&f, NULL, &r, &err), 0);
	print_message("6,274 tasks of 94 kinds: %.4f $/h, bound %.4f, gap %.5f %%, %.0f ms\n", fth_usd(r.packing.price),
		      fth_usd(r.lower_bound), 100 * r.gap, cpu_ms() - start);
	check_packing(&f, &r.packing);
	assert_true(r.gap < 0.001);
	fth_pack_result_release(&r);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table3_costs_12_80),
		cmocka_unit_test(random_against_all_partitions),
		cmocka_unit_test(table7_within_one_percent),
		cmocka_unit_test(full_reconfiguration_is_improved),
		cmocka_unit_test(same_input_same_bytes),
		cmocka_unit_test(alike_tasks_are_one_group),
		cmocka_unit_test(nothing_and_the_impossible),
		cmocka_unit_test(slow_families_are_left_out),
		cmocka_unit_test(a_free_machine_is_used),
		cmocka_unit_test(a_start_is_checked_and_used),
		cmocka_unit_test(the_whole_alibaba_trace_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
