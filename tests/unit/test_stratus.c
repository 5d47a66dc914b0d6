/* SPDX-License-Identifier: Apache-2.0 */
/* Stratus' heuristics, each on cases worked by hand from the paper (SoCC '18, section 3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/plan.h"
#include "policies/vc/vc.h"

enum { SMALL, LARGE, NTYPES };
static struct fth_instance_type types[NTYPES];
static struct fth_offer offers[NTYPES];
static struct fth_catalog catalog;
static struct fth_alt alts[8];
static struct fth_kind kinds[8];
static struct fth_view view;
static struct vc v;

/* Kind k needs k CPUs and k GiB. Types: 2 CPUs and 8 GiB, 8 CPUs and 16 GiB. */
static int setup(void **state)
{
	(void)state;
	static const int64_t cpus[] = {2, 8}, gib[] = {8, 16};
	for (int t = 0; t < NTYPES; t++) {
		types[t] = (struct fth_instance_type){0};
		types[t].capacity.v[FTH_CPU] = cpus[t] * 1000;
		types[t].capacity.v[FTH_MEM] = gib[t] * 1024;
		offers[t] = (struct fth_offer){.type = (fth_type_id)t, .price = cpus[t] * 50000000, .available = true};
	}
	for (int k = 0; k < 8; k++) {
		alts[k] = (struct fth_alt){.speed_ppm = 1000000};
		alts[k].demand.v[FTH_CPU] = k * 1000;
		alts[k].demand.v[FTH_MEM] = k * 1024;
		kinds[k] = (struct fth_kind){.nalts = 1, .alts = &alts[k]};
	}
	catalog = (struct fth_catalog){.types = types, .ntypes = NTYPES, .offers = offers, .noffers = NTYPES, .nres = 3};
	view = (struct fth_view){.catalog = &catalog, .kinds = kinds, .nkinds = 8};
	v = (struct vc){.cfg = {.pack = VC_PACK_BINS,
				.up_pack = true,
				.down_pack = true,
				.bins = true,
				.bin_unit = FTH_MINUTE,
				.readjust = true,
				.default_runtime = FTH_HOUR,
				.low = 0.5,
				.patience = 3},
			.view = &view};
	struct fth_round none = {.view = &view};
	vc_prices(&v, &none);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fth_vec_release(&v.inst);
	fth_vec_release(&v.tasks);
	fth_vec_release(&v.left);
	fth_vec_release(&v.list);
	fth_vec_release(&v.group);
	fth_vec_release(&v.sums);
	fth_vec_release(&v.runs);
	fth_vec_release(&v.run_least);
	fth_vec_release(&v.hopeless);
	fth_vec_release(&v.buys);
	fth_vec_release(&v.apart);
	fth_vec_release(&v.doubled);
	fth_vec_release(&v.pool_bought);
	vc_index_release(&v.index);
	return 0;
}

/* An instance of the large type with so many CPUs free, whose longest task runs for so many minutes. */
static uint32_t instance(int64_t free_cpus, double minutes)
{
	struct vc_inst i = {.id = 100 + (fth_instance_id)v.inst.len,
			    .type = LARGE,
			    .offer = LARGE,
			    .slot = FTH_NONE,
			    .remaining = (fth_time)(minutes * (double)FTH_MINUTE),
			    .ntasks = 1,
			    .open = true};
	i.room.v[FTH_CPU] = free_cpus * 1000;
	i.room.v[FTH_MEM] = free_cpus * 2048;
	fth_vec_push(&v.inst, i);
	return (uint32_t)v.inst.len - 1;
}

static struct vc_task task(fth_kind_id kind, double minutes)
{
	return (struct vc_task){.kind = kind,
				.remaining = (fth_time)(minutes * (double)FTH_MINUTE),
				.from = FTH_NONE,
				.at = FTH_NONE};
}

static void bins_are_powers_of_two(void **state)
{
	(void)state;
	static const struct {
		double minutes;
		unsigned bin;
	} cases[] = {{0, 0}, {0.99, 0}, {1, 1}, {1.99, 1}, {2, 2}, {3.99, 2}, {4, 3}, {8, 4}, {16, 5}, {31.9, 5}, {32, 6}};
	for (size_t i = 0; i < FTH_COUNT(cases); i++)
		assert_int_equal(vc_bin(&v, (fth_time)(cases[i].minutes * (double)FTH_MINUTE)), cases[i].bin);
	assert_true(vc_bin(&v, FTH_NEVER) < VC_BINS - 1);
}

/* "4 VCores and 1 GiB on 8 VCores and 16 GiB; the smallest has 2 VCores: 4 / 2 = 2", over the price. */
static void the_score_of_the_paper(void **state)
{
	(void)state;
	struct fth_res used = {.v = {0, 4000, 1024}};
	assert_true(vc_score(&v, &used, &types[LARGE].capacity, 1) == 2);
	assert_true(vc_score(&v, &used, &types[LARGE].capacity, 4) == 0.5);
	/* Memory constrains: 8 GiB of 16, in units of the smallest's 8. */
	struct fth_res memory = {.v = {0, 1000, 8192}};
	assert_true(vc_score(&v, &memory, &types[LARGE].capacity, 1) == 1);
}

static void native_bin_by_nearest_end(void **state)
{
	(void)state;
	instance(4, 17);
	uint32_t nearest = instance(1, 26);
	instance(8, 31);
	instance(8, 40);
	vc_index_build(&v);
	struct vc_task t = task(1, 25);
	assert_int_equal(vc_find(&v, &t), nearest);
	/* It takes one task only; the next nearest of the bin comes next, whatever its room. */
	vc_put(&v, &t, nearest);
	struct vc_task u = task(1, 25);
	assert_int_equal(vc_find(&v, &u), 2); /* 31 is 6 away, 17 is 8 */
}

/* Figure 2: an instance of four places, in bin [16,32), takes shorter tasks as it goes. */
static void figure_2(void **state)
{
	(void)state;
	uint32_t i = instance(3, 20);
	vc_index_build(&v);
	struct vc_task a = task(1, 18), b = task(1, 10), c = task(1, 9), d = task(1, 9);
	assert_int_equal(vc_find(&v, &a), i); /* its own bin */
	vc_put(&v, &a, i);
	assert_int_equal(vc_find(&v, &b), i); /* up from [8,16) */
	vc_put(&v, &b, i);
	assert_int_equal(vc_find(&v, &c), i);
	vc_put(&v, &c, i);
	assert_int_equal(vc_bin(&v, v.inst.data[i].remaining), vc_bin(&v, 20 * FTH_MINUTE)); /* shorter tasks do not move it */
	assert_int_equal(vc_find(&v, &d), FTH_NONE);			   /* full */
}

static void up_packing_goes_bin_by_bin_to_the_most_free(void **state)
{
	(void)state;
	instance(0, 20); /* own bin, full */
	instance(3, 40);
	uint32_t roomy = instance(5, 60);
	instance(8, 100); /* more room, but a bin further up */
	vc_index_build(&v);
	struct vc_task t = task(2, 25);
	assert_int_equal(vc_find(&v, &t), roomy);
	v.cfg.up_pack = false;
	assert_int_equal(vc_find(&v, &t), FTH_NONE);
}

static void down_packing_promotes(void **state)
{
	(void)state;
	instance(8, 3);
	uint32_t near = instance(4, 12);
	instance(2, 14);
	vc_index_build(&v);
	struct vc_task t = task(2, 25);
	assert_int_equal(vc_find(&v, &t), near); /* next lesser bin first, there the most free */
	vc_put(&v, &t, near);
	assert_int_equal(vc_bin(&v, v.inst.data[near].remaining), vc_bin(&v, 25 * FTH_MINUTE));
	assert_int_equal(v.inst.data[near].remaining, 25 * FTH_MINUTE);
	/* It is now the instance of choice for its new bin. */
	struct vc_task u = task(2, 17);
	assert_int_equal(vc_find(&v, &u), near);
	v.cfg.down_pack = false;
	struct vc_task w = task(3, 200);
	assert_int_equal(vc_find(&v, &w), FTH_NONE);
}

/* Shares of the largest type's CPUs and memory, as they are summed. */
static double free_of(const struct vc_inst *i)
{
	return (double)i->room.v[FTH_CPU] / 8000 + (double)i->room.v[FTH_MEM] / 16384;
}

/* The index finds what a look at every instance finds. */
static void the_index_finds_what_a_scan_finds(void **state)
{
	(void)state;
	struct fth_rng rng;
	fth_rng_seed(&rng, 11, 0, 0);
	for (int round = 0; round < 60; round++) {
		fth_vec_clear(&v.inst);
		for (int i = 0; i < 60; i++)
			instance((int64_t)fth_rng_below(&rng, 9), fth_exp(6 * fth_rng_real(&rng)));
		vc_index_build(&v);
		for (int k = 0; k < 80; k++) {
			struct vc_task t = task((fth_kind_id)(1 + fth_rng_below(&rng, 5)), fth_exp(6 * fth_rng_real(&rng)));
			unsigned own = vc_bin(&v, t.remaining), want_bin = FTH_NONE;
			bool any = false;
			for (unsigned step = 0; step < 130 && !any; step++) {
				int bin = step < 65 ? (int)(own + step) : (int)own - (int)(step - 64);
				for (uint32_t i = 0; bin >= 0 && i < v.inst.len; i++)
					if (vc_bin(&v, v.inst.data[i].remaining) == (unsigned)bin && vc_fits(&v, &t, i)) {
						any = true;
						want_bin = (unsigned)bin;
					}
			}
			uint32_t got = vc_find(&v, &t);
			assert_int_equal(got != FTH_NONE, any);
			if (!any)
				continue;
			assert_int_equal(vc_bin(&v, v.inst.data[got].remaining), want_bin);
			for (uint32_t i = 0; i < v.inst.len; i++) {
				const struct vc_inst *a = &v.inst.data[got], *b = &v.inst.data[i];
				if (vc_bin(&v, b->remaining) != want_bin || !vc_fits(&v, &t, i))
					continue;
				fth_time da = a->remaining > t.remaining ? a->remaining - t.remaining : t.remaining - a->remaining;
				fth_time db = b->remaining > t.remaining ? b->remaining - t.remaining : t.remaining - b->remaining;
				assert_true(want_bin == own ? da <= db : free_of(a) >= free_of(b));
			}
			vc_put(&v, &t, got);
		}
	}
}

static void half_life_rule(void **state)
{
	(void)state;
	struct fth_task t = {.state = FTH_TASK_RUNNING, .estimate = 10 * FTH_MINUTE};
	v.now = 4 * FTH_MINUTE;
	assert_int_equal(vc_remaining(&v, &t), 6 * FTH_MINUTE);
	v.now = 10 * FTH_MINUTE; /* as old as it was to become: half-way */
	assert_int_equal(vc_remaining(&v, &t), 10 * FTH_MINUTE);
	v.now = 15 * FTH_MINUTE; /* and so it is until it outlives that too */
	assert_int_equal(vc_remaining(&v, &t), 5 * FTH_MINUTE);
	v.now = 25 * FTH_MINUTE;
	assert_int_equal(vc_remaining(&v, &t), 25 * FTH_MINUTE);
	t.ran = 5 * FTH_MINUTE; /* what it ran elsewhere counts */
	assert_int_equal(vc_remaining(&v, &t), 20 * FTH_MINUTE);
	struct fth_task late = {.id = 1, .state = FTH_TASK_RUNNING, .estimate = FTH_SEC, .ran = 4 * FTH_MINUTE};
	v.now = 0; /* first seen long after its estimate */
	assert_int_equal(vc_remaining(&v, &late), 4 * FTH_MINUTE);
	v.now = 25 * FTH_MINUTE;
	v.cfg.readjust = false;
	assert_int_equal(vc_remaining(&v, &t), 0);
	/* Nothing known, and longer than time itself. */
	t = (struct fth_task){.state = FTH_TASK_WAITING};
	assert_int_equal(vc_remaining(&v, &t), FTH_HOUR);
	v.cfg.readjust = true;
	t.estimate = FTH_NEVER;
	t.ran = FTH_HOUR;
	assert_true(vc_remaining(&v, &t) > 0);
}

static size_t launches(const struct fth_plan *p, fth_offer_id offer)
{
	size_t n = 0;
	for (size_t i = 0; i < p->actions.len; i++)
		n += p->actions.data[i].kind == FTH_ACT_LAUNCH && p->offers.data[p->actions.data[i].first_offer] == offer;
	return n;
}

static void scale_out(struct fth_plan *plan, size_t n, fth_kind_id kind, const double *minutes)
{
	fth_vec_clear(&v.tasks);
	fth_vec_clear(&v.left);
	fth_vec_clear(&v.inst);
	for (size_t i = 0; i < n; i++) {
		fth_vec_push(&v.tasks, task(kind, minutes[i]));
		v.tasks.data[i].id = (fth_task_id)i;
		fth_vec_push(&v.left, (uint32_t)i);
	}
	fth_plan_reset(plan, 0);
	vc_scale_out(&v, plan);
}

static void groups_and_types_are_chosen_together(void **state)
{
	(void)state;
	struct fth_plan plan = {0};
	const double alike[] = {30, 29, 28, 27};
	/* Four tasks of two CPUs: at linear prices one of 8 scores as four of 2 do; the tie decides. */
	scale_out(&plan, 4, 2, alike);
	assert_int_equal(launches(&plan, LARGE), 1);
	assert_int_equal(launches(&plan, SMALL), 0);
	v.cfg.tie_smaller = true;
	scale_out(&plan, 4, 2, alike);
	assert_int_equal(launches(&plan, SMALL), 4);
	v.cfg.tie_smaller = false;
	/* The large one a little dearer: not worth it, whatever the tie. */
	offers[LARGE].price += 1;
	v.prices_known = false;
	struct fth_round none = {.view = &view};
	vc_prices(&v, &none);
	scale_out(&plan, 4, 2, alike);
	assert_int_equal(launches(&plan, SMALL), 4);
	/* Three CPUs fit the large one only: two fill 6 of 8. */
	scale_out(&plan, 4, 3, alike);
	assert_int_equal(launches(&plan, LARGE), 2);
	fth_plan_release(&plan);
}

static void groups_stay_within_a_bin(void **state)
{
	(void)state;
	struct fth_plan plan = {0};
	const double apart[] = {30, 29, 7, 6};
	scale_out(&plan, 4, 2, apart);
	/* Two and two: the short ones do not join the long ones, so neither fills a large one. */
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			if ((i < 2) != (k < 2))
				assert_int_not_equal(v.tasks.data[i].at, v.tasks.data[k].at);
	v.cfg.bins = false;
	scale_out(&plan, 4, 2, apart);
	assert_int_equal(launches(&plan, LARGE), 1);
	fth_plan_release(&plan);
}

static void those_to_be_kept_apart_are(void **state)
{
	(void)state;
	struct fth_plan plan = {0};
	fth_vec_clear(&v.tasks);
	fth_vec_clear(&v.left);
	for (uint32_t i = 0; i < 4; i++) {
		struct vc_task t = task(1, 30);
		t.id = i;
		t.apart = i < 2 ? 7 : 0;
		fth_vec_push(&v.tasks, t);
		fth_vec_push(&v.left, i);
	}
	fth_plan_reset(&plan, 0);
	vc_scale_out(&v, &plan);
	assert_int_not_equal(v.tasks.data[0].at, v.tasks.data[1].at);
	for (int i = 0; i < 4; i++)
		assert_int_not_equal(v.tasks.data[i].at, FTH_NONE);
	fth_plan_release(&plan);
}

static void what_nothing_holds_goes_on_waiting(void **state)
{
	(void)state;
	struct fth_plan plan = {0};
	alts[7].demand.v[FTH_CPU] = 9000;
	const double one[] = {30, 20};
	scale_out(&plan, 2, 7, one);
	assert_int_equal(plan.actions.len, 0);
	assert_int_equal(v.tasks.data[0].at, FTH_NONE);
	v.cfg.scale = VC_SCALE_FILL;
	scale_out(&plan, 2, 7, one);
	assert_int_equal(plan.actions.len, 0);
	v.cfg.scale = VC_SCALE_CHEAPEST;
	scale_out(&plan, 2, 7, one);
	assert_int_equal(plan.actions.len, 0);
	fth_plan_release(&plan);
}

static void greedy_fill_and_cheapest_fit(void **state)
{
	(void)state;
	struct fth_plan plan = {0};
	const double alike[] = {30, 29, 28, 27, 26};
	v.cfg.scale = VC_SCALE_FILL;
	scale_out(&plan, 5, 2, alike); /* 8 of 8 used scores as 2 of 2; ties to the larger, the last to the small one */
	assert_int_equal(launches(&plan, LARGE), 1);
	assert_int_equal(launches(&plan, SMALL), 1);
	v.cfg.scale = VC_SCALE_CHEAPEST;
	scale_out(&plan, 5, 1, alike); /* a task each */
	assert_int_equal(launches(&plan, SMALL), 5);
	v.cfg.share = true; /* later ones may join */
	v.cfg.pack = VC_PACK_LEAST;
	v.cfg.resource = FTH_CPU;
	fth_vec_clear(&v.inst);
	vc_index_build(&v);
	scale_out(&plan, 5, 1, alike);
	assert_int_equal(launches(&plan, SMALL), 3);
	fth_plan_release(&plan);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(bins_are_powers_of_two),
		T(the_score_of_the_paper),
		T(native_bin_by_nearest_end),
		T(figure_2),
		T(up_packing_goes_bin_by_bin_to_the_most_free),
		T(down_packing_promotes),
		T(the_index_finds_what_a_scan_finds),
		T(half_life_rule),
		T(groups_and_types_are_chosen_together),
		T(groups_stay_within_a_bin),
		T(those_to_be_kept_apart_are),
		T(what_nothing_holds_goes_on_waiting),
		T(greedy_fill_and_cheapest_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
