/* SPDX-License-Identifier: Apache-2.0 */
/* What is lost when instances fail to come or are taken back, on cases worked by hand. */
#include "sim_rig.h"

/* fetch 3, set-up 7, init 5, stop 2 seconds; one CPU */
static fth_kind_id saving(struct fth_world *w, const char *klass, fth_time save)
{
	struct fth_alt alt;
	struct fth_kind k = small_kind(w, klass, &alt, 1);
	k.delays = (struct fth_task_delays){
		.fetch = 3 * FTH_SEC, .setup = 7 * FTH_SEC, .init = 5 * FTH_SEC, .stop = 2 * FTH_SEC, .save = save};
	return fth_kinds_intern(&w->kinds, &k);
}

/* Spot instances of a.big are taken at this time, without notice worth the name. */
static void spot_world(struct fth_world *w, fth_time taken)
{
	small_world(w);
	w->catalog.offers.data[A_BIG].market = FTH_SPOT;
	assert_int_equal(fth_catalog_finish(&w->catalog, NULL), 0);
	fth_market_add(&w->market, A_BIG, FTH_MARKET_AVAILABLE, true, 0, 1);
	fth_market_add(&w->market, A_BIG, FTH_MARKET_AVAILABLE, true, taken, 0);
	fth_market_finish(&w->market);
	w->has_market = true;
}

/* At first a.big, later b.big for each waiting task; at 100 s task 0 is moved to a new b.big. */
static bool moves;
static int spot_then_plain(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = r->now == 0 ? A_BIG : B_BIG;
	for (fth_task_id t = r->view->first_waiting; t != FTH_NONE; t = fth_view_task(r->view, t)->next_waiting)
		fth_plan_place(p, t, fth_plan_launch(p, &o, 1, why), why);
	if (r->now == 0)
		fth_plan_wake(p, 100 * FTH_SEC);
	if (moves && r->now == 100 * FTH_SEC)
		fth_plan_migrate(p, 0, fth_plan_launch(p, &o, 1, why), why);
	end_empty(r, p);
	return 0;
}
static const struct fth_policy_ops policy_spot = {.abi = FTH_POLICY_ABI, .name = "spot", .decide = spot_then_plain};

static void work_since_the_last_saving_is_lost(void **state)
{
	(void)state;
	struct fth_world w;
	spot_world(&w, 90 * FTH_SEC);
	small_job(&w, "a", FTH_JOB_INDEPENDENT, saving(&w, "x", 4 * FTH_SEC), 1, 0, 200 * FTH_SEC);
	moves = false;
	struct ran r = run_it(&w, &policy_spot, "notice=0s");
	assert_int_equal(r.code, 0);
	assert_true(time_of(&r, "task-lost t0 i0") == 90);
	assert_true(time_of(&r, "instance-revoked i0") == 90);
	/* the next one: 90 + 10 + 20 + 3 + 7 + 5, and all of the work again */
	assert_true(time_of(&r, "job-done j0") == 135 + 200);
	ran_release(&r);
	fth_world_release(&w);
}

static void a_saving_that_is_cut_off_saves_nothing(void **state)
{
	(void)state;
	/* It is stopped at 102 after 57 s of work, and saved at 106. */
	for (fth_time taken = 104; taken <= 107; taken += 3) {
		struct fth_world w;
		spot_world(&w, taken * FTH_SEC);
		small_job(&w, "a", FTH_JOB_INDEPENDENT, saving(&w, "x", 4 * FTH_SEC), 1, 0, 200 * FTH_SEC);
		moves = true;
		struct ran r = run_it(&w, &policy_spot, "notice=0s");
		assert_int_equal(r.code, 0);
		if (taken == 104) {
			assert_true(time_of(&r, "task-lost t0 i0") == 104);
			/* it waits anew, for an instance asked for at 104: 104 + 45, from the beginning */
			assert_true(time_of(&r, "job-done j0") == 149 + 200);
		} else {
			assert_true(time_of(&r, "task-lost t0 i0") == -1);
			assert_true(time_of(&r, "job-done j0") == 145 + 143);
		}
		ran_release(&r);
		fth_world_release(&w);
	}
}

/* A rigid job of two tasks, the second of which takes long to save, is moved at 100 s: the first one to a new
 * instance of two acceptable offers. */
static int move_rigid(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = r->now == 0 ? A_BIG : B_BIG;
	for (fth_task_id t = r->view->first_waiting; t != FTH_NONE; t = fth_view_task(r->view, t)->next_waiting)
		fth_plan_place(p, t, fth_plan_launch(p, &o, 1, why), why);
	if (r->now == 0)
		fth_plan_wake(p, 100 * FTH_SEC);
	const struct fth_task *first = fth_view_task(r->view, 0);
	if (r->now == 100 * FTH_SEC && first && first->state == FTH_TASK_RUNNING)
		fth_plan_migrate(p, 0, fth_plan_launch(p, &o, 1, why), why);
	end_empty(r, p);
	return 0;
}
static const struct fth_policy_ops policy_move_rigid = {.abi = FTH_POLICY_ABI, .name = "move-rigid", .decide = move_rigid};

static void a_launch_that_fails_does_not_cut_off_the_saving_of_others(void **state)
{
	(void)state;
	int seen = 0;
	const enum fth_job_kind kinds[] = {FTH_JOB_RIGID, FTH_JOB_COUPLED};
	for (int seed = 0; seed < 80; seed++) {
		struct fth_world w;
		small_world(&w);
		struct fth_task_group g[2] = {
			{.kind = saving(&w, "x", 4 * FTH_SEC), .count = 1, .work = 200 * FTH_SEC, .first_own = FTH_NONE},
			{.kind = saving(&w, "y", 60 * FTH_SEC), .count = 1, .work = 200 * FTH_SEC, .first_own = FTH_NONE}};
		struct fth_job_spec spec = {
			.key = fth_sym_intern(w.syms, "a"), .kind = kinds[seed % 2], .deadline = FTH_NEVER};
		assert_int_equal(fth_workload_add(&w.workload, &spec, g, 2), 0);
		char sim[64];
		snprintf(sim, sizeof(sim), "launch_failure=0.4,seed=%d", seed);
		struct ran r = run_it(&w, &policy_move_rigid, sim);
		if (r.code)
			print_error("seed %d: %s\n", seed, r.err.text);
		assert_int_equal(r.code, 0);
		/* 0 is stopped at 102, has left at 106; the launch for it fails at 110, while 1 is saved until 162. */
		if (time_of(&r, "launch-failed i2") == 110 && time_of(&r, "task-stopped t0 i0") == 102) {
			seen++;
			assert_true(time_of(&r, "task-left t1 i1") == 162);
			assert_true(time_of(&r, "task-lost t1 i1") == -1);
			/* nothing of the work was lost: 57 s of 200 s are done */
			double again = time_of(&r, "job-done j0") - 143;
			assert_true(again > 162 && again < 1000);
		}
		ran_release(&r);
		fth_world_release(&w);
	}
	assert_true(seen >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_since_the_last_saving_is_lost),
		cmocka_unit_test(a_saving_that_is_cut_off_saves_nothing),
		cmocka_unit_test(a_launch_that_fails_does_not_cut_off_the_saving_of_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
