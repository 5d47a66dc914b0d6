/* SPDX-License-Identifier: Apache-2.0 */
/* How runs end, what they cost in work, and numbers at the edge. */
#include "sim_rig.h"

static fth_time five_minutes(void *self)
{
	(void)self;
	return 300 * FTH_SEC;
}
static const struct fth_policy_ops policy_periodic = {
	.abi = FTH_POLICY_ABI, .name = "periodic", .decide = one_each, .period = five_minutes};

/* ---- quiet time ---- */

static void quiet_time_costs_nothing(void **state)
{
	(void)state;
	const struct fth_policy_ops *const policies[] = {&policy_one_each, &policy_periodic};
	for (int step = 0; step < 2; step++)
		for (size_t k = 0; k < FTH_COUNT(policies); k++) {
			struct fth_world w;
			small_world(&w);
			w.workload.step = step ? FTH_SEC : 0;
			small_job(&w, "a", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, 30 * FTH_DAY);
			struct ran r = run_it(&w, policies[k], "");
			assert_int_equal(r.code, 0);
			assert_true(time_of(&r, "job-done j0") == 30 + 30 * 86400.0);
			assert_true(fth_engine_stats(r.e)->rounds < 10);
			assert_true(fth_engine_stats(r.e)->events < 15);
			ran_release(&r);
			fth_world_release(&w);
		}
}

/* ---- the horizon, and services ---- */

static void the_horizon_cuts_the_run_and_the_bill(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	small_job(&w, "a", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, FTH_HOUR);
	struct ran r = run_it(&w, &policy_one_each, "horizon=100s");
	assert_int_equal(r.code, -ETIME);
	assert_true(fth_engine_ledger(r.e)->charges.data[0].to == 100 * FTH_SEC);
	assert_true(fth_engine_ledger(r.e)->total == 90 * FTH_USD / 3600);
	ran_release(&r);
	r = run_it(&w, &policy_one_each, "horizon=2h");
	assert_int_equal(r.code, 0);
	ran_release(&r);
	fth_world_release(&w);
}

static void services_run_to_the_horizon_or_with_the_rest(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	fth_kind_id x = small_cpus(&w, "x", 1);
	small_job(&w, "web", FTH_JOB_SERVICE, x, 2, 0, FTH_HOUR);
	struct ran r = run_it(&w, &policy_one_each, "horizon=1d");
	assert_int_equal(r.code, 0); /* nothing was left undone */
	assert_int_equal(fth_engine_cluster(r.e)->view.njobs, 1);
	/* two from 10 s on */
	assert_true(fth_engine_ledger(r.e)->total == 2 * (fth_money)((__int128)FTH_USD * (86400 - 10) / 3600));
	ran_release(&r);
	r = run_it(&w, &policy_one_each, "");
	assert_int_equal(r.code, -EDEADLK);
	assert_non_null(strstr(r.err.text, "horizon"));
	ran_release(&r);
	/* Beside a job that ends, they go on until it has. */
	small_job(&w, "batch", FTH_JOB_INDEPENDENT, x, 1, 0, 1000 * FTH_SEC);
	r = run_it(&w, &policy_one_each, "");
	assert_int_equal(r.code, 0);
	assert_true(time_of(&r, "job-done j1") == 1030);
	for (size_t k = 0; k < 3; k++)
		assert_true(fth_engine_ledger(r.e)->charges.data[k].to >= 1030 * FTH_SEC);
	ran_release(&r);
	r = run_it(&w, &policy_one_each, "horizon=1d");
	assert_int_equal(r.code, 0);
	assert_true(fth_engine_ledger(r.e)->charges.data[2].to == FTH_DAY);
	ran_release(&r);
	fth_world_release(&w);
}

static int wake_often(void *self, const struct fth_round *r, struct fth_plan *p)
{
	one_each(self, r, p);
	fth_plan_wake(p, r->now + FTH_MINUTE);
	fth_plan_wake(p, r->now + 2 * FTH_MINUTE);
	return 0;
}
static const struct fth_policy_ops policy_waking = {.abi = FTH_POLICY_ABI, .name = "waking", .decide = wake_often};

static int wake_only(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_plan_wake(p, r->now + FTH_MINUTE);
	fth_plan_wake(p, r->now + 2 * FTH_MINUTE);
	return 0;
}
static const struct fth_policy_ops policy_sleepy = {.abi = FTH_POLICY_ABI, .name = "sleepy", .decide = wake_only};

static void endless_wake_ups_end_unless_there_is_a_horizon(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	small_job(&w, "web", FTH_JOB_SERVICE, small_cpus(&w, "x", 1), 1, 0, FTH_HOUR);
	/* 20,160 wake-ups of a policy that looks after a service: nothing is wrong with that. */
	struct ran r = run_it(&w, &policy_waking, "horizon=14d");
	assert_int_equal(r.code, 0);
	assert_true(fth_engine_stats(r.e)->rounds > 20000);
	ran_release(&r);
	r = run_it(&w, &policy_sleepy, "");
	assert_int_equal(r.code, -EDEADLK);
	ran_release(&r);
	fth_world_release(&w);
}

/* ---- no delay anywhere ---- */

/* To and fro between two instances, for ever. */
static int ping_pong(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = A_BIG;
	if (r->view->ninstances == 0) {
		fth_plan_place(p, 0, fth_plan_launch(p, &o, 1, why), why);
		fth_plan_launch(p, &o, 1, why);
	} else if (fth_view_task(r->view, 0)->state == FTH_TASK_RUNNING) {
		fth_plan_migrate(p, 0, 1 - fth_view_task(r->view, 0)->on, why);
	}
	return 0;
}
static const struct fth_policy_ops policy_ping_pong = {.abi = FTH_POLICY_ABI, .name = "ping-pong", .decide = ping_pong};

static void a_policy_that_goes_round_in_one_instant_is_found_out(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	for (int t = 0; t < NTYPES; t++)
		w.catalog.types.data[t].acquire = w.catalog.types.data[t].setup = w.catalog.types.data[t].terminate =
			fth_delay_fixed(0);
	small_job(&w, "a", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 7 * FTH_SEC, FTH_HOUR);
	struct ran r = run_it(&w, &policy_ping_pong, "");
	assert_int_equal(r.code, -ELOOP);
	assert_non_null(strstr(r.err.text, "7000000"));
	ran_release(&r);
	/* Without delays, a sane one has a plain life. */
	expect(&w, &policy_one_each, "",
	       "7 job-submitted j0\n"
	       "7 instance-acquired i0\n"
	       "7 instance-ready i0\n"
	       "7 task-starting t0 i0\n"
	       "7 task-running t0 i0\n"
	       "7 throughput t0 i0 1\n"
	       "3607 task-done t0 i0\n"
	       "3607 job-done j0\n"
	       "3607 instance-gone i0\n");
	fth_world_release(&w);
}

static void work_of_no_time_is_done_at_once(void **state)
{
	(void)state;
	for (int step = 0; step < 2; step++) {
		struct fth_world w;
		small_world(&w);
		w.workload.step = step ? FTH_SEC : 0;
		small_job(&w, "a", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, 0);
		struct ran r = run_it(&w, &policy_one_each, "");
		assert_int_equal(r.code, 0);
		assert_true(time_of(&r, "job-done j0") == 30 + step); /* with steps it is looked at at the next */
		ran_release(&r);
		fth_world_release(&w);
	}
}

/* ---- at the edge of the numbers ---- */

static void what_lies_after_the_end_of_time_never_happens(void **state)
{
	(void)state;
	const char *const sims[] = {"", "job_delay_scale=1000,boot_delay_scale=1000"};
	for (size_t k = 0; k < FTH_COUNT(sims); k++)
		for (int step = 0; step < 2; step++) {
			struct fth_world w;
			small_world(&w);
			struct fth_alt alt;
			struct fth_kind kind = small_kind(&w, "x", &alt, 1);
			fth_time millennium = 365250 * FTH_DAY; /* 3e16 us: the longest a file may say */
			alt.speed_ppm = k ? 1000000 : 1;        /* a millionth of full speed: 3e22 us */
			kind.delays.fetch = kind.delays.init = millennium;
			w.workload.step = step ? FTH_SEC : 0;
			small_job(&w, "a", FTH_JOB_INDEPENDENT, fth_kinds_intern(&w.kinds, &kind), 1, 0, millennium);
			struct ran r = run_it(&w, &policy_one_each, sims[k]);
			assert_int_equal(r.code, -EDEADLK);
			ran_release(&r);
			fth_world_release(&w);
		}
}

static void a_bill_beyond_the_scale_stays_at_its_end(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	w.catalog.offers.data[A_BIG].price = 1000000 * FTH_USD; /* an hour */
	small_job(&w, "a", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, 365250 * FTH_DAY);
	small_job(&w, "b", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, 365250 * FTH_DAY);
	struct ran r = run_it(&w, &policy_one_each, "");
	assert_int_equal(r.code, 0);
	assert_true(fth_engine_ledger(r.e)->total == INT64_MAX); /* not negative */
	ran_release(&r);
	fth_world_release(&w);
}

/* ---- keeping apart ---- */

/* At 100 s the first makes way for the second, of the same anti-affinity group. */
static int in_its_place(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = A_BIG;
	if (r->now == 0)
		fth_plan_place(p, 0, fth_plan_launch(p, &o, 1, why), why);
	else if (r->now == 100 * FTH_SEC && fth_view_task(r->view, 0)->state == FTH_TASK_RUNNING) {
		fth_plan_migrate(p, 0, fth_plan_launch(p, &o, 1, why), why);
		fth_plan_place(p, 1, 0, why);
	}
	return 0;
}
static const struct fth_policy_ops policy_in_its_place = {
	.abi = FTH_POLICY_ABI, .name = "in-its-place", .decide = in_its_place};

static void tasks_that_keep_apart_never_meet(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct fth_world w;
		small_world(&w);
		struct fth_alt alt;
		struct fth_kind k = small_kind(&w, "x", &alt, 1);
		k.delays.stop = k.delays.save = 20 * FTH_SEC;
		fth_kind_id kind = fth_kinds_intern(&w.kinds, &k);
		fth_sym apart = fth_sym_intern(w.syms, "apart");
		small_job(&w, "a", FTH_JOB_INDEPENDENT, kind, 1, 0, FTH_HOUR)->anti_affinity = apart;
		small_job(&w, "b", FTH_JOB_INDEPENDENT, kind, 1, 100 * FTH_SEC, FTH_HOUR)->anti_affinity = same ? apart : 0;
		struct ran r = run_it(&w, &policy_in_its_place, "");
		assert_int_equal(r.code, 0);
		assert_true(time_of(&r, "task-left t0 i0") == 140);
		assert_true(time_of(&r, "task-starting t1 i0") == (same ? 140 : 100));
		ran_release(&r);
		fth_world_release(&w);
	}
}

/* ---- a day of visitors ---- */

static void completions_that_were_only_foreseen_change_nothing(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	const fth_sym c[] = {fth_sym_intern(w.syms, "x")};
	fth_profile_set_classes(&w.profile, c, 1);
	fth_profile_set(&w.profile, c[0], c[0], 0.5);
	w.has_profile = true;
	fth_kind_id x = small_cpus(&w, "x", 1);
	/* A visitor every 100 s for 20 s of work, 40 s at half speed; the long one makes 80 s of progress each time.
	 * 3,000 visitors leave 6,000 completions of it behind that did not come. */
	small_job(&w, "long", FTH_JOB_INDEPENDENT, x, 1, 0, 300000 * FTH_SEC);
	for (int k = 0; k < 3000; k++) {
		char key[16];
		snprintf(key, sizeof(key), "v%d", k);
		small_job(&w, key, FTH_JOB_INDEPENDENT, x, 1, (100 + 100 * k) * FTH_SEC, 20 * FTH_SEC);
	}
	struct ran r = run_it(&w, &policy_all_on_one, "");
	assert_int_equal(r.code, 0);
	assert_true(time_of(&r, "job-done j3000") == 300000 + 40);
	/* 3000 times 20 s lost */
	assert_true(time_of(&r, "job-done j0") == 30 + 300000 + 3000 * 20);
	assert_true(fth_engine_ledger(r.e)->charges.data[0].to == 360030 * FTH_SEC);
	ran_release(&r);
	fth_world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_time_costs_nothing),
		cmocka_unit_test(the_horizon_cuts_the_run_and_the_bill),
		cmocka_unit_test(services_run_to_the_horizon_or_with_the_rest),
		cmocka_unit_test(endless_wake_ups_end_unless_there_is_a_horizon),
		cmocka_unit_test(a_policy_that_goes_round_in_one_instant_is_found_out),
		cmocka_unit_test(work_of_no_time_is_done_at_once),
		cmocka_unit_test(what_lies_after_the_end_of_time_never_happens),
		cmocka_unit_test(a_bill_beyond_the_scale_stays_at_its_end),
		cmocka_unit_test(tasks_that_keep_apart_never_meet),
		cmocka_unit_test(completions_that_were_only_foreseen_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
