/* SPDX-License-Identifier: Apache-2.0 */
/* Eva's choice between Full and Partial, its worth of sets, and the arithmetic of the yardstick. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/cluster.h"
#include "model/world.h"
#include "policies/eva/choice.h"
#include "policies/eva/place.h"
#include "policies/shared/tnrp.h"
#include "policies/yardsticks/eva_artifact/choice.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* ---- D-hat, lambda, p ---- */

static void horizon_is_the_mean_time_to_a_success(void **state)
{
	(void)state;
	/* One event in 600 s, every second one brings a Full: -600 / ln(1/2). */
	near(fth_eva_horizon(1.0 / 600, 0.5), 600 / 0.69314718055994530942);
	/* Rare Fulls: about 1 / (lambda p). */
	near(fth_eva_horizon(2, 1e-6) * 2 * 1e-6, 1 - 0.5e-6);
	/* Twice as many events, half the time. */
	near(fth_eva_horizon(0.2, 0.3), fth_eva_horizon(0.1, 0.3) / 2);
	assert_true(fth_eva_horizon(0.1, 0.9) < fth_eva_horizon(0.1, 0.1));
}

static void lambda_and_p_are_counted(void **state)
{
	(void)state;
	struct fth_eva_clock c;
	fth_eva_clock_init(&c);
	assert_true(fth_eva_lambda(&c, 0, 300 * FTH_SEC) == 0);
	near(fth_eva_p(&c), 0.5); /* nothing known */
	fth_eva_clock_event(&c, 100 * FTH_SEC);
	/* The first round: within it, not in no time. */
	near(fth_eva_lambda(&c, 300 * FTH_SEC, 300 * FTH_SEC), 1.0 / 300);
	for (int i = 0; i < 9; i++)
		fth_eva_clock_event(&c, (200 + 100 * i) * FTH_SEC);
	near(fth_eva_lambda(&c, 2100 * FTH_SEC, 300 * FTH_SEC), 10.0 / 2000);
	near(fth_eva_p(&c), 1.0 / 12);
	c.fulls = 5;
	near(fth_eva_p(&c), 6.0 / 12);
}

static void full_must_earn_its_moves(void **state)
{
	(void)state;
	/* 1 cent a second more saving, 5 dollars of moves: worth it after 500 s. */
	struct fth_eva_option f = {0.03, 6}, p = {0.02, 1};
	assert_false(fth_eva_prefers_full(&f, &p, 499));
	assert_false(fth_eva_prefers_full(&f, &p, 400));
	assert_true(fth_eva_prefers_full(&f, &p, 501));
	/* No better and no cheaper: stay. */
	assert_false(fth_eva_prefers_full(&p, &p, 1e9));
}

/* ---- worth of a set ---- */

static struct fth_world world;
static struct fth_view view;
static struct fth_cluster cluster;

static int setup(void **state)
{
	(void)state;
	struct fth_error err;
	fth_world_init(&world);
	struct fth_instance_type t = {.name = fth_sym_intern(world.syms, "it1"), .family = fth_sym_intern(world.syms, "g"),
				      .capacity = {{4000, 16000, 244 * 1024}}};
	struct fth_offer o = {.price = 12 * FTH_USD, .billing = fth_billing_default(), .available = true};
	fth_vec_push(&world.catalog.types, t);
	fth_vec_push(&world.catalog.offers, o);
	assert_int_equal(fth_catalog_finish(&world.catalog, &err), 0);
	fth_cluster_init(&cluster, world.syms, &world.catalog, &world.kinds, NULL);
	view = cluster.view;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fth_cluster_release(&cluster);
	fth_world_release(&world);
	return 0;
}

static void worth_of_table_3(void **state)
{
	(void)state;
	fth_sym t1 = fth_sym_intern(world.syms, "t1"), t2 = fth_sym_intern(world.syms, "t2");
	struct fth_tnrp r;
	struct fth_party party = {0};
	fth_tnrp_init(&r, 0.95);
	struct fth_member a = {fth_tnrp_key(&r, &view, t1), 1, 12}, b = {fth_tnrp_key(&r, &view, t2), 1, 3};
	fth_party_add(&party, &r, &a);
	near(fth_tnrp_of(&r, &party, FTH_MULTI_PLAIN), 12);
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_PLAIN), 15 * 0.95); /* nothing seen yet */
	fth_colocation_record(r.table, t1, &t2, 1, 0.8);
	fth_colocation_record(r.table, t2, &t1, 1, 0.9);
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_PLAIN), 12.3);
	/* t2 in a job of four tasks: 3 - 4 x 0.3. */
	b.job_tasks = 4;
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_PAPER), 9.6 + 1.8);
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_CLAMPED), 9.6 + 1.8);
	b.job_tasks = 20; /* the paper's worth falls below nothing, the program's does not */
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_PAPER), 9.6 - 3);
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_CLAMPED), 9.6);
	r.ignore_interference = true;
	near(fth_tnrp_with(&r, &party, &b, FTH_MULTI_PLAIN), 15);
	fth_party_release(&party);
	fth_tnrp_release(&r);
}

/* The same as the plain evaluation, set by set and with one more, whatever was recorded. */
static void worth_agrees_with_the_table(void **state)
{
	(void)state;
	struct fth_rng rng;
	struct fth_tnrp r;
	struct fth_party party = {0};
	fth_sym name[6];
	uint32_t key[6];
	fth_tnrp_init(&r, 0.95);
	for (int i = 0; i < 6; i++) {
		char text[8] = {(char)('z' - i), 0}; /* not in the order of their names */
		name[i] = fth_sym_intern(world.syms, text);
		key[i] = fth_tnrp_key(&r, &view, name[i]);
	}
	fth_rng_seed(&rng, 7, 7, 7);
	for (int round = 0; round < 2000; round++) {
		uint32_t n = 1 + (uint32_t)fth_rng_below(&rng, 6), who[8];
		double want = 0;
		fth_party_clear(&party);
		for (uint32_t i = 0; i < n; i++)
			who[i] = (uint32_t)fth_rng_below(&rng, 6);
		for (uint32_t i = 0; i < n; i++) {
			fth_sym others[8];
			uint32_t m = 0;
			struct fth_member mem = {key[who[i]], 1, 1.0 + who[i]};
			for (uint32_t k = 0; k < n; k++)
				if (k != i)
					others[m++] = name[who[k]];
			want += mem.rp * fth_colocation_rate(r.table, name[who[i]], others, m);
			if (i + 1 < n) {
				fth_party_add(&party, &r, &mem);
				continue;
			}
			near(fth_tnrp_with(&r, &party, &mem, FTH_MULTI_PLAIN), want);
			fth_party_add(&party, &r, &mem);
			near(fth_tnrp_of(&r, &party, FTH_MULTI_PLAIN), want);
			if (fth_rng_below(&rng, 2))
				fth_colocation_record(r.table, name[who[i]], others, m, 0.5 + fth_rng_real(&rng) / 2);
		}
	}
	fth_party_release(&party);
	fth_tnrp_release(&r);
}

/* ---- placing a packing on what runs ---- */

static void fillings_stay_where_their_tasks_are(void **state)
{
	(void)state;
	/* Two running instances, A (0) with tasks x, y and B (1) with y; wanted: {y, y} and {x}. */
	struct fth_alt any = {0, 1000000, {{1000, 1000, 1024}}};
	struct fth_kind k = {.label = fth_sym_intern(world.syms, "x"), .nalts = 1, .alts = &any};
	fth_kind_id x = fth_kinds_intern(&world.kinds, &k);
	k.label = fth_sym_intern(world.syms, "y");
	fth_kind_id y = fth_kinds_intern(&world.kinds, &k);
	view.kinds = world.kinds.list.data;
	const struct fth_res *row[] = {&any.demand};
	struct fth_board b = {0};
	struct fth_board_group gx = {x, 1, 0, 0, 5, row}, gy = {y, 1, 0, 0, 3, row};
	fth_vec_push(&b.groups, gx);
	fth_vec_push(&b.groups, gy);
	for (uint32_t i = 0; i < 2; i++) {
		struct fth_board_instance bi = {i, 0, 0, true, 2 - i, 12};
		fth_vec_push(&b.instances, bi);
	}
	const uint32_t group[] = {0, 1, 1}, at[] = {0, 0, 1};
	for (uint32_t i = 0; i < 3; i++) {
		struct fth_board_task t = {i, i, group[i], at[i], false, 0};
		fth_vec_push(&b.tasks, t);
	}
	struct fth_packing packing = {0};
	const uint32_t items[] = {1, 1, 0}, all[] = {0, 1, 2};
	for (int i = 0; i < 3; i++)
		fth_vec_push(&packing.items, items[i]);
	struct fth_packed two = {0, 1, 0, 2}, one = {0, 1, 2, 1};
	fth_vec_push(&packing.bins, two);
	fth_vec_push(&packing.bins, one);
	struct fth_placing p = {0};
	struct fth_draft draft = {0};
	fth_vec_push(&p.group_of, 0);
	fth_vec_push(&p.group_of, 1);
	fth_draft_reset(&draft, &b);
	fth_place(&p, &draft, &b, &view, &packing, all, 3);
	/* x is worth most, so A keeps it; B keeps its y and gets the other: one move, not two. */
	assert_int_equal(draft.slots.len, 2);
	assert_int_equal(draft.slots.data[draft.slot_of.data[0]].instance, 0);
	assert_int_equal(draft.slots.data[draft.slot_of.data[1]].instance, 1);
	assert_int_equal(draft.slots.data[draft.slot_of.data[2]].instance, 1);
	fth_placing_release(&p);
	fth_draft_release(&draft);
	fth_packing_release(&packing);
	fth_vec_release(&b.groups);
	fth_vec_release(&b.instances);
	fth_vec_release(&b.tasks);
}

/* ---- the yardstick's arithmetic ---- */

static void cents_are_rounded_as_decimals(void **state)
{
	(void)state;
	assert_true(fth_round_cents(0.125) == 0.12);  /* an exact half goes to the even cent */
	assert_true(fth_round_cents(0.375) == 0.38);
	assert_true(fth_round_cents(2.675) == 2.67);  /* really 2.67499999... */
	assert_true(fth_round_cents(1.005) == 1.0);
	assert_true(fth_round_cents(1.015) == 1.01);  /* really 1.01499999... */
	assert_true(fth_round_cents(1.025) == 1.02);
	assert_true(fth_round_cents(1.115) == 1.11);
	assert_true(fth_round_cents(-0.125) == -0.12);
	assert_true(fth_round_cents(-2.675) == -2.67);
	assert_true(fth_round_cents(61.2) == 61.2);
	assert_true(isnan(fth_round_cents(NAN)));
	/* Against the C library, which prints the exact value correctly rounded. */
	struct fth_rng rng;
	fth_rng_seed(&rng, 1, 1, 1);
	for (int i = 0; i < 100000; i++) {
		double x = (fth_rng_real(&rng) - 0.5) * (i % 2 ? 10 : 1e6);
		if (i % 3 == 0)
			x = floor(x * 1000) / 1000;
		if (i % 5 == 0)
			x = floor(x * 8) / 8;
		char text[64];
		snprintf(text, sizeof(text), "%.2f", x);
		assert_true(fth_round_cents(x) == strtod(text, NULL));
	}
}

static void elapsed_time_until_full_was_adopted(void **state)
{
	(void)state;
	struct event_log l = {0};
	assert_true(fth_event_log_horizon(&l, 3300) == 3300);
	l = (struct event_log){.first = 100, .last = 1300, .n = 5, .adopted = 1};
	/* A mean gap of 300 s, and one Full in five events. */
	near(fth_event_log_horizon(&l, 9999), -300 / log(0.8));
	l.adopted = 5; /* always: no time at all */
	assert_true(fth_event_log_horizon(&l, 9999) == 0);
	l.adopted = 6; /* more than events: no answer, Partial is taken */
	assert_true(isnan(fth_event_log_horizon(&l, 9999)));
}

int main(void)
{
#define W(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(horizon_is_the_mean_time_to_a_success),
		cmocka_unit_test(lambda_and_p_are_counted),
		cmocka_unit_test(full_must_earn_its_moves),
		W(worth_of_table_3),
		W(worth_agrees_with_the_table),
		W(fillings_stay_where_their_tasks_are),
		cmocka_unit_test(cents_are_rounded_as_decimals),
		cmocka_unit_test(elapsed_time_until_full_was_adopted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
