/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 1 on the paper's own example (Table 3), step by step, and its generalisations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/catalog.h"
#include "model/workload.h"
#include "optimize/full_reconfig.h"

static struct fth_symtab *syms;
static struct fth_catalog_store catalog;
static struct fth_kinds kinds;
static struct fth_packing packing;

static struct fth_res res(int64_t gpu, int64_t cpu, int64_t gb)
{
	return (struct fth_res){{gpu * 1000, cpu * 1000, gb * 1024}};
}

static void add_type(const char *name, const char *family, struct fth_res cap, fth_price nano)
{
	struct fth_instance_type t = {.name = fth_sym_intern(syms, name), .family = fth_sym_intern(syms, family),
				      .capacity = cap};
	struct fth_offer o = {.type = (fth_type_id)catalog.types.len, .price = nano,
			      .billing = fth_billing_default(), .available = true};
	fth_vec_push(&catalog.types, t);
	fth_vec_push(&catalog.offers, o);
}

static fth_kind_id add_kind(const char *label, const struct fth_alt *alts, uint32_t n)
{
	struct fth_kind k = {.label = fth_sym_intern(syms, label), .nalts = n, .alts = alts};
	return fth_kinds_intern(&kinds, &k);
}

static fth_kind_id any(const char *label, struct fth_res demand)
{
	struct fth_alt a = {0, 1000000, demand};
	return add_kind(label, &a, 1);
}

/* Table 3: it1..it4, then tasks t1..t4 = kinds 0..3. */
static int setup(void **state)
{
	(void)state;
	syms = fth_symtab_new();
	fth_catalog_init(&catalog, syms);
	fth_kinds_init(&kinds, syms);
	add_type("it1", "g", res(4, 16, 244), 12 * FTH_USD);
	add_type("it2", "g", res(1, 4, 61), 3 * FTH_USD);
	add_type("it3", "c", res(0, 8, 32), FTH_USD * 8 / 10);
	add_type("it4", "c", res(0, 4, 16), FTH_USD * 4 / 10);
	struct fth_error err;
	assert_int_equal(fth_catalog_finish(&catalog, &err), 0);
	any("t1", res(2, 8, 24));
	any("t2", res(1, 4, 10));
	any("t3", res(0, 6, 20));
	any("t4", res(0, 4, 12));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fth_packing_release(&packing);
	fth_kinds_release(&kinds);
	fth_catalog_release(&catalog);
	fth_symtab_free(syms);
	return 0;
}

static const struct fth_packing *pack(const struct fth_pack_item *items, uint32_t n, fth_rate_fn *rate)
{
	struct fth_error err;
	assert_int_equal(fth_full_reconfig(&catalog.pub, kinds.list.data, items, n, rate, NULL, &packing, &err), 0);
	return &packing;
}

/* How many of an item one instance of the bin holds. */
static uint32_t holds(const struct fth_packing *p, uint32_t bin, uint32_t item)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->bins.data[bin].n; i++)
		n += p->items.data[p->bins.data[bin].first + i] == item;
	return n;
}

static void reservation_prices(void **state)
{
	(void)state;
	const fth_price want[] = {12 * FTH_USD, 3 * FTH_USD, FTH_USD * 8 / 10, FTH_USD * 4 / 10};
	for (fth_kind_id k = 0; k < 4; k++) {
		fth_price p = 0;
		assert_int_equal(fth_reservation_offer(&catalog.pub, &kinds.list.data[k], &p), k);
		assert_int_equal(p, want[k]);
	}
	fth_kind_id huge = any("huge", res(5, 1, 1));
	assert_int_equal(fth_reservation_offer(&catalog.pub, &kinds.list.data[huge], NULL), FTH_NONE);
	struct fth_error err = {0};
	const struct fth_pack_item item = {huge, 1, 1, 0};
	assert_int_equal(fth_full_reconfig(&catalog.pub, kinds.list.data, &item, 1, NULL, NULL, &packing, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "item 0"));
}

/* t1, t2 and t4 share it1 in this order (t3 does not fit beside t1 and t2), 15.4 > 12; t3 is not worth
 * another it1 (12) nor an it2 (3), but exactly an it3. */
static void walk_through(void **state)
{
	(void)state;
	const struct fth_pack_item items[] = {{0, 1, 1, 0}, {1, 1, 1, 0}, {2, 1, 1, 0}, {3, 1, 1, 0}};
	const struct fth_packing *p = pack(items, 4, NULL);
	assert_int_equal(p->bins.len, 2);
	assert_int_equal(p->bins.data[0].offer, 0);
	assert_int_equal(p->bins.data[0].n, 3);
	assert_int_equal(p->items.data[0], 0);
	assert_int_equal(p->items.data[1], 1);
	assert_int_equal(p->items.data[2], 3);
	assert_int_equal(p->bins.data[1].offer, 2);
	assert_int_equal(p->bins.data[1].n, 1);
	assert_int_equal(p->items.data[3], 2);
	assert_int_equal(p->price, FTH_USD * 128 / 10);
}

static void steps_of_the_walk_through(void **state)
{
	(void)state;
	/* t2 and t4 alone are not worth an it1: 3.4 < 12. */
	const struct fth_pack_item cheap[] = {{1, 1, 1, 0}, {3, 1, 1, 0}};
	assert_int_equal(pack(cheap, 2, NULL)->price, FTH_USD * 34 / 10);
	/* t3 alone: exactly its reservation price. */
	const struct fth_pack_item last = {2, 1, 1, 0};
	assert_int_equal(pack(&last, 1, NULL)->price, FTH_USD * 8 / 10);
	assert_int_equal(packing.bins.data[0].offer, 2);
	assert_int_equal(pack(NULL, 0, NULL)->bins.len, 0);
}

/* ---- interference ---- */

static double mild(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n)
{
	(void)arg, (void)others;
	return n == 0 ? 1 : k == 0 ? 0.8 : 0.9;
}

static double severe(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n)
{
	(void)arg, (void)others;
	return n == 0 ? 1 : k == 0 ? 0.7 : 0.8;
}

/* 12 x 0.8 + 3 x 0.9 = 12.3 > 12: together. 12 x 0.7 + 3 x 0.8 = 10.8: the sum would fall below the 12
 * of t1 alone, so t2 is not added. */
static void tnrp_decides(void **state)
{
	(void)state;
	const struct fth_pack_item items[] = {{0, 1, 1, 0}, {1, 1, 1, 0}};
	const struct fth_packing *p = pack(items, 2, mild);
	assert_int_equal(p->bins.len, 1);
	assert_int_equal(p->bins.data[0].n, 2);
	assert_int_equal(p->price, 12 * FTH_USD);
	p = pack(items, 2, severe);
	assert_int_equal(p->bins.len, 2);
	assert_int_equal(p->price, 15 * FTH_USD);
}

static void multi_task_formula(void **state)
{
	(void)state;
	assert_true(fth_multi_task_rate(0.9, 1) == 0.9);
	assert_true(fabs(fth_multi_task_rate(0.9, 4) - 0.6) < 1e-15);   /* RP - 4 x 0.1 RP */
	assert_true(fabs(fth_multi_task_rate(0.5, 4) - -1.0) < 1e-15);  /* not clamped */
	/* t2 belongs to a job of 4: beside t1 it is worth 3 - 4 x 0.1 x 3 = 1.8, and 9.6 + 1.8 < 12. */
	const struct fth_pack_item items[] = {{0, 1, 1, 0}, {1, 1, 4, 0}};
	assert_int_equal(pack(items, 2, mild)->bins.len, 2);
	/* A job of 2: 3 - 2 x 0.3 = 2.4, and 9.6 + 2.4 = 12 is not lower: together. */
	const struct fth_pack_item pair[] = {{0, 1, 1, 0}, {1, 1, 2, 0}};
	assert_int_equal(pack(pair, 2, mild)->bins.len, 1);
}

static double slow_alone(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n)
{
	(void)arg, (void)k, (void)others;
	return n ? 0.1 : 0.9;
}

static void slow_even_alone_is_still_hosted(void **state)
{
	(void)state;
	const struct fth_pack_item items[] = {{0, 3, 1, 0}, {2, 2, 1, 0}};
	const struct fth_packing *p = pack(items, 2, slow_alone);
	assert_int_equal(p->price, 3 * 12 * FTH_USD + 2 * FTH_USD * 8 / 10);
}

/* ---- counts, speeds, families ---- */

static void counts_repeat_fillings(void **state)
{
	(void)state;
	const struct fth_pack_item items[] = {{0, 1000, 1, 0}, {1, 1000, 1, 0}, {2, 1000, 1, 0}, {3, 1000, 1, 0}};
	const struct fth_packing *p = pack(items, 4, NULL);
	/* Two t1 fill an it1; then four t2; CPU tasks on their own machines. */
	uint32_t packed[4] = {0};
	fth_price price = 0;
	for (uint32_t b = 0; b < p->bins.len; b++) {
		for (uint32_t i = 0; i < 4; i++)
			packed[i] += holds(p, b, i) * p->bins.data[b].repeat;
		price += catalog.offers.data[p->bins.data[b].offer].price * p->bins.data[b].repeat;
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(packed[i], 1000);
	assert_int_equal(price, p->price);
	assert_true(p->bins.len < 20);
	assert_int_equal(p->bins.data[0].repeat, 500);
	assert_int_equal(holds(p, 0, 0), 2);
}

/* The same tasks one by one, as different items, must give the same bill. */
static void counts_equal_single_items(void **state)
{
	(void)state;
	struct fth_rng r;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct fth_pack_item grouped[4], single[64];
		uint32_t n = 0;
		fth_rng_seed(&r, seed, 1, 1);
		for (uint32_t k = 0; k < 4; k++) {
			grouped[k] = (struct fth_pack_item){k, (uint32_t)fth_rng_below(&r, 16), 1, 0};
			for (uint32_t i = 0; i < grouped[k].count; i++)
				single[n++] = (struct fth_pack_item){k, 1, 1, 0};
		}
		fth_price p = pack(grouped, 4, mild)->price;
		assert_int_equal(pack(single, n, mild)->price, p);
		p = pack(grouped, 4, NULL)->price;
		assert_int_equal(pack(single, n, NULL)->price, p);
	}
}

/* A task that runs at half speed on g: its reservation price is per full-speed hour. */
static void speeds_per_family(void **state)
{
	(void)state;
	fth_sym g = fth_sym_intern(syms, "g"), c = fth_sym_intern(syms, "c");
	struct fth_alt alts[] = {{g, 1000000, res(1, 2, 8)}, {c, 100000, res(0, 8, 8)}};
	fth_kind_id k = add_kind("gpu-or-slow", alts, 2);
	fth_price p = 0;
	/* it2 costs 3 per full hour; it3 0.8 / 0.1 = 8. */
	assert_int_equal(fth_reservation_offer(&catalog.pub, &kinds.list.data[k], &p), 1);
	assert_int_equal(p, 3 * FTH_USD);
	alts[1].speed_ppm = 400000;
	fth_kind_id fast = add_kind("gpu-or-fair", alts, 2);
	/* 0.8 / 0.4 = 2 is cheaper now, and that is what a full-speed hour is worth anywhere. */
	assert_int_equal(fth_reservation_offer(&catalog.pub, &kinds.list.data[fast], &p), 2);
	assert_int_equal(p, 2 * FTH_USD);
	const struct fth_pack_item item = {fast, 3, 1, 0};
	assert_int_equal(pack(&item, 1, NULL)->price, 3 * FTH_USD * 8 / 10);
	/* Beside a t1 with room left, it brings its full 2 an hour on g. */
	const struct fth_pack_item both[] = {{0, 1, 1, 0}, {fast, 2, 1, 0}};
	assert_int_equal(pack(both, 2, NULL)->price, 12 * FTH_USD);
}

/* Against the definition: every step by trying all items, on random demands. */
static fth_price by_definition(const struct fth_pack_item *items, uint32_t n)
{
	uint32_t left[64];
	fth_price total = 0;
	for (uint32_t i = 0; i < n; i++)
		left[i] = items[i].count;
	for (fth_offer_id o = 0; o < catalog.offers.len; o++) { /* in descending price already */
		const struct fth_res *cap = &catalog.types.data[catalog.offers.data[o].type].capacity;
		for (;;) {
			uint32_t taken[64] = {0};
			struct fth_res room = *cap;
			fth_price worth = 0;
			for (;;) {
				uint32_t best = FTH_NONE;
				fth_price value = 0, bv = 0;
				double ba = 0;
				for (uint32_t i = 0; i < n; i++) {
					const struct fth_kind *k = &kinds.list.data[items[i].kind];
					if (taken[i] == left[i] || !fth_res_fits(&k->alts[0].demand, &room))
						continue;
					fth_reservation_offer(&catalog.pub, k, &value);
					double a = 0;
					for (int r = 0; r < 3; r++)
						if (cap->v[r])
							a += (double)k->alts[0].demand.v[r] *
							     ((double)room.v[r] / (double)cap->v[r] / (double)cap->v[r]);
					if (best == FTH_NONE || value > bv || (value == bv && a > ba)) {
						best = i;
						bv = value;
						ba = a;
					}
				}
				if (best == FTH_NONE)
					break;
				taken[best]++;
				worth += bv;
				fth_res_sub(&room, &kinds.list.data[items[best].kind].alts[0].demand);
			}
			if (worth < catalog.offers.data[o].price || !worth)
				break;
			total += catalog.offers.data[o].price;
			for (uint32_t i = 0; i < n; i++)
				left[i] -= taken[i];
		}
	}
	return total;
}

static void agrees_with_the_definition(void **state)
{
	(void)state;
	struct fth_rng r;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct fth_pack_item items[40];
		char name[32];
		fth_rng_seed(&r, seed, 2, 2);
		uint32_t n = 1 + (uint32_t)fth_rng_below(&r, 40);
		for (uint32_t i = 0; i < n; i++) {
			int64_t gpu = (int64_t)fth_rng_below(&r, 3);
			snprintf(name, sizeof(name), "r%d-%u", (int)seed, i);
			fth_kind_id k = any(name, res(gpu, 1 + (int64_t)fth_rng_below(&r, gpu ? 16 : 8),
						      1 + (int64_t)fth_rng_below(&r, gpu ? 120 : 32)));
			items[i] = (struct fth_pack_item){k, 1 + (uint32_t)fth_rng_below(&r, 3), 1, 0};
		}
		assert_int_equal(pack(items, n, NULL)->price, by_definition(items, n));
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(reservation_prices),
		T(walk_through),
		T(steps_of_the_walk_through),
		T(tnrp_decides),
		T(multi_task_formula),
		T(slow_even_alone_is_still_hosted),
		T(counts_repeat_fillings),
		T(counts_equal_single_items),
		T(speeds_per_family),
		T(agrees_with_the_definition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
