/* SPDX-License-Identifier: Apache-2.0 */
/* The reducer and the rounds: contradictions, losses, cancellations, wake-ups, periods, the fallback. */
#include "engine_rig.h"

static void launch_and_place(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)round;
	fth_offer_id o = A_BIG;
	for (fth_task_id t = r->c->view.first_waiting; t != FTH_NONE; t = rig_task(r, t)->next_waiting)
		fth_plan_place(p, t, fth_plan_launch(p, &o, 1, why), why);
}

/* One job of n tasks, each on an instance of its own (the same number); the first `running` of them run. */
static void rig_tasks(struct rig *r, enum fth_job_kind kind, uint32_t n, uint32_t running)
{
	rig_open(r, 0, NULL);
	rig_submit(r, "j", kind, small_cpus(&r->w, "one", 1), n, NULL);
	rig_round(r, launch_and_place);
	for (uint32_t k = 0; k < running; k++) {
		rig_ready(r, k);
		rig_run(r, k);
	}
}

/* ---- contradictions ---- */

static int feed_full(struct rig *r, struct fth_event ev)
{
	return fth_engine_feed(r->e, &ev, NULL);
}

static void an_event_that_contradicts_the_state_is_refused_whole(void **state)
{
	(void)state;
	struct rig r;
	rig_tasks(&r, FTH_JOB_INDEPENDENT, 3, 1); /* 0 runs on 0; 1 is bound to 1, 2 to 2, which were only requested */
	r.now = FTH_HOUR;
	rig_feed(&r, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, 2);
	rig_round(&r, NULL);
	const struct {
		enum fth_event_kind kind;
		fth_task_id task;
		fth_instance_id instance;
	} wrong[] = {
		{FTH_EV_TASK_STARTING, 0, 0},          /* it runs */
		{FTH_EV_TASK_STARTING, 1, 0},          /* bound elsewhere */
		{FTH_EV_TASK_STARTING, 1, 1},          /* the instance is not there yet */
		{FTH_EV_TASK_STARTING, 2, 2},          /* acquired, but not ready */
		{FTH_EV_TASK_STARTING, 99, 0},         /* no such task */
		{FTH_EV_TASK_RUNNING, 0, 0},           /* not starting */
		{FTH_EV_TASK_RUNNING, 1, 1},
		{FTH_EV_TASK_STOPPED, 0, 0},           /* nobody asked it to stop */
		{FTH_EV_TASK_LEFT, 0, 0},
		{FTH_EV_TASK_DONE, 1, 1},              /* never ran */
		{FTH_EV_TASK_DONE, 0, 1},              /* ran elsewhere */
		{FTH_EV_TASK_LOST, 0, 1},
		{FTH_EV_TASK_LOST, 1, 0},
		{FTH_EV_THROUGHPUT, 1, 1},             /* holds no room anywhere */
		{FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, 0}, /* twice */
		{FTH_EV_INSTANCE_READY, FTH_NONE, 0},
		{FTH_EV_INSTANCE_READY, FTH_NONE, 1},  /* not acquired */
		{FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, 99},
		{FTH_EV_INSTANCE_GONE, FTH_NONE, 0},   /* a task runs there */
		{FTH_EV_INSTANCE_GONE, FTH_NONE, 1},   /* a task is committed to it */
		{FTH_EV_INSTANCE_REVOKED, FTH_NONE, 1}, /* never ours */
		{FTH_EV_LAUNCH_FAILED, FTH_NONE, 0},   /* it is there */
		{FTH_EV_REVOCATION_NOTICE, FTH_NONE, 99},
		{FTH_EV_JOB_SUBMITTED, 0, FTH_NONE},   /* the engine's own */
		{FTH_EV_JOB_DONE, 0, FTH_NONE},
		{FTH_EV_TIMER, FTH_NONE, FTH_NONE},
		{FTH_EV_JOB_CANCELLED, FTH_NONE, FTH_NONE}, /* which? */
		{FTH_EV_NKINDS, FTH_NONE, FTH_NONE},
	};
	uint64_t before = rig_state(&r), told = r.before, events = fth_engine_stats(r.e)->events;
	for (size_t k = 0; k < FTH_COUNT(wrong); k++) {
		int code = rig_try(&r, wrong[k].kind, wrong[k].task, wrong[k].instance);
		if (code != -EINVAL)
			print_error("case %zu was not refused\n", k);
		assert_int_equal(code, -EINVAL);
	}
	struct fth_event ev = {.kind = FTH_EV_THROUGHPUT, .time = r.now, .task = 0, .instance = 0, .rate = 0.0 / 0.0};
	assert_int_equal(feed_full(&r, ev), -EINVAL);
	ev = (struct fth_event){.kind = FTH_EV_OFFER_CHANGED, .time = r.now, .offer = 99, .price = 1};
	assert_int_equal(feed_full(&r, ev), -EINVAL);
	ev = (struct fth_event){.kind = FTH_EV_OFFER_CHANGED, .time = r.now, .offer = 0, .price = -1};
	assert_int_equal(feed_full(&r, ev), -EINVAL);
	ev = (struct fth_event){.kind = FTH_EV_LAUNCH_FAILED, .time = r.now, .instance = 1, .offer = B_BIG};
	assert_int_equal(feed_full(&r, ev), -EINVAL);
	ev = (struct fth_event){.kind = FTH_EV_TASK_DONE, .time = r.now - 1, .task = 0, .instance = 0};
	assert_int_equal(feed_full(&r, ev), -EINVAL); /* before what was told */
	ev.time = FTH_NEVER;
	assert_int_equal(feed_full(&r, ev), -EINVAL);
	assert_true(rig_state(&r) == before);
	assert_int_equal(fth_engine_stats(r.e)->events, events);
	assert_int_equal(r.before, told); /* nobody heard of them, so a journal has none of them */
	assert_int_equal(r.before, r.after);
	assert_true(fth_engine_next_round(r.e, r.now) == FTH_NEVER);
	struct fth_accepted acts;
	assert_int_equal(fth_engine_round(r.e, r.now - 1, &acts, NULL), -EINVAL);
	rig_close(&r);
}

/* ---- losses ---- */

static void to_and_from_two(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 1, 2, why); /* from 1 to 2 */
	fth_plan_migrate(p, 2, 0, why); /* from 2 to 0 */
	fth_plan_migrate(p, 3, 2, why); /* only bound so far */
}

static void a_revoked_instance_loses_what_it_holds(void **state)
{
	(void)state;
	struct rig r;
	rig_tasks(&r, FTH_JOB_INDEPENDENT, 5, 3);
	r.now = 100 * FTH_SEC;
	rig_round(&r, to_and_from_two);
	assert_int_equal(r.naccepted, 3);
	/* Instance 2 holds task 2 (being saved), and 1 (being saved on 1) and 3 (bound) are committed to it. */
	r.now = 110 * FTH_SEC;
	struct fth_event ev = {.kind = FTH_EV_REVOCATION_NOTICE, .time = r.now, .job = FTH_NONE, .task = FTH_NONE,
			       .instance = 2, .offer = FTH_NONE, .at = r.now + 120 * FTH_SEC};
	assert_int_equal(feed_full(&r, ev), 0);
	assert_true(rig_instance(&r, 2)->revoked && rig_instance(&r, 2)->leaving);
	assert_int_equal(rig_instance(&r, 2)->state, FTH_INSTANCE_DRAINING);
	r.now = 230 * FTH_SEC;
	uint64_t told = r.before;
	rig_feed(&r, FTH_EV_INSTANCE_REVOKED, FTH_NONE, 2);
	assert_int_equal(r.before - told, 3); /* itself, and the loss of 3 and 2 */
	assert_int_equal(rig_instance(&r, 2)->state, FTH_INSTANCE_GONE);
	assert_int_equal(rig_task(&r, 2)->state, FTH_TASK_WAITING);
	assert_int_equal(rig_task(&r, 2)->target, FTH_NONE);
	assert_int_equal(rig_task(&r, 2)->on, FTH_NONE);
	assert_int_equal(rig_instance(&r, 0)->ncommitted, 1); /* task 2 comes no more */
	assert_int_equal(rig_task(&r, 3)->state, FTH_TASK_WAITING);
	assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_STOPPING); /* still being saved where it was */
	assert_int_equal(rig_task(&r, 1)->target, FTH_NONE);
	rig_feed(&r, FTH_EV_TASK_LEFT, 1, 1);
	assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_WAITING);
	assert_int_equal(r.c->view.nwaiting, 3);
	assert_int_equal(r.charges, 1);
	/* 230 s at 1 $/h: acquired at 0 */
	assert_true(fth_engine_ledger(r.e)->total == 230 * FTH_USD / 3600);
	rig_round(&r, NULL);
	assert_null(rig_instance(&r, 2));
	rig_close(&r);
}

static void a_lost_task_waits_and_its_instance_stays(void **state)
{
	(void)state;
	struct rig r;
	rig_tasks(&r, FTH_JOB_COUPLED, 2, 2);
	rig_feed(&r, FTH_EV_TASK_LOST, 0, 0);
	assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_WAITING);
	assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_RUNNING);
	assert_int_equal(rig_instance(&r, 0)->nheld, 0);
	assert_int_equal(rig_instance(&r, 0)->ncommitted, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_READY);
	assert_int_equal(rig_try(&r, FTH_EV_TASK_LOST, 0, 0), -EINVAL); /* once is enough */
	rig_close(&r);
}

/* ---- cancellation ---- */

static void drain_one(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_drain(p, 1, why);
}

static void a_cancelled_job_vanishes_where_it_is(void **state)
{
	(void)state;
	struct rig r;
	rig_tasks(&r, FTH_JOB_SERVICE, 3, 2);
	rig_feed(&r, FTH_EV_TASK_DONE, 0, 0); /* one had ended by itself */
	rig_round(&r, drain_one);
	struct fth_event ev = {.kind = FTH_EV_JOB_CANCELLED, .time = r.now, .job = 0, .task = FTH_NONE,
			       .instance = FTH_NONE, .offer = FTH_NONE};
	assert_int_equal(feed_full(&r, ev), 0);
	assert_int_equal(r.c->view.njobs, 0);
	assert_int_equal(r.c->view.ntasks, 0);
	assert_int_equal(r.c->view.first_job, FTH_NONE);
	for (fth_instance_id i = 0; i < 3; i++)
		assert_int_equal(rig_instance(&r, i)->nheld + rig_instance(&r, i)->ncommitted, 0);
	assert_int_equal(rig_instance(&r, 1)->state, FTH_INSTANCE_TERMINATING);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_READY);
	assert_int_equal(feed_full(&r, ev), -EINVAL); /* once */
	assert_int_equal(rig_try(&r, FTH_EV_TASK_DONE, 1, 1), -EINVAL);
	assert_non_null(fth_cluster_job(r.c, 0)); /* for the round that is told of it */
	rig_round(&r, NULL);
	assert_null(fth_cluster_job(r.c, 0));
	assert_null(rig_task(&r, 1));
	rig_close(&r);
}

/* ---- prices ---- */

static void a_changed_price_counts_from_then_on(void **state)
{
	(void)state;
	struct rig r;
	rig_tasks(&r, FTH_JOB_INDEPENDENT, 1, 1);
	r.now = FTH_HOUR / 2;
	struct fth_event ev = {.kind = FTH_EV_OFFER_CHANGED, .time = r.now, .job = FTH_NONE, .task = FTH_NONE,
			       .instance = FTH_NONE, .offer = A_BIG, .price = 4 * FTH_USD, .available = false};
	assert_int_equal(feed_full(&r, ev), 0);
	assert_true(r.c->view.catalog->offers[A_BIG].price == 4 * FTH_USD);
	assert_true(r.w.catalog.offers.data[A_BIG].price == FTH_USD); /* of this run only */
	r.now = FTH_HOUR;
	rig_feed(&r, FTH_EV_TASK_DONE, 0, 0);
	rig_feed(&r, FTH_EV_INSTANCE_GONE, FTH_NONE, 0);
	assert_true(fth_engine_ledger(r.e)->total == 5 * FTH_USD / 2); /* half an hour at 1, half at 4 */
	rig_close(&r);
}

/* ---- rounds ---- */

static void wake_at_three_times(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_wake(p, 200);
	fth_plan_wake(p, 100);
	fth_plan_wake(p, 200);
	fth_plan_wake(p, FTH_NEVER);
}

static void every_wake_up_comes_once(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_round(&r, wake_at_three_times);
	assert_int_equal(r.naccepted, 4);
	assert_true(fth_engine_next_round(r.e, 0) == 100);
	r.now = 100;
	rig_round(&r, NULL);
	assert_int_equal(r.timers, 1);
	assert_true(fth_engine_next_round(r.e, 100) == 200);
	r.now = 150;
	rig_round(&r, NULL); /* an early round is not it */
	assert_int_equal(r.timers, 1);
	r.now = 200;
	rig_round(&r, NULL);
	assert_int_equal(r.timers, 2);
	assert_true(fth_engine_next_round(r.e, 200) == FTH_NEVER);
	rig_close(&r);
}

static void wake_at_the_end_of_time(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_wake(p, FTH_NEVER - 1);
}

static void rounds_of_a_policy_with_a_period_are_at_its_multiples(void **state)
{
	(void)state;
	struct rig r;
	script_period = 300;
	rig_open(&r, 0, NULL);
	assert_true(fth_engine_period(r.e) == 300);
	assert_true(fth_engine_next_round(r.e, 0) == FTH_NEVER); /* nothing has happened */
	fth_kind_id one = small_cpus(&r.w, "one", 1);
	r.now = 10;
	rig_submit(&r, "a", FTH_JOB_INDEPENDENT, one, 1, NULL);
	assert_true(fth_engine_next_round(r.e, 10) == 300);
	assert_true(fth_engine_next_round(r.e, 301) == 600); /* too late for that one */
	r.now = 300;
	rig_round(&r, NULL);
	assert_true(fth_engine_next_round(r.e, 300) == FTH_NEVER);
	rig_submit(&r, "b", FTH_JOB_INDEPENDENT, one, 1, NULL); /* after the round, in its instant */
	assert_true(fth_engine_next_round(r.e, 300) == 600);
	r.now = 600;
	rig_round(&r, wake_at_the_end_of_time);
	assert_true(fth_engine_next_round(r.e, 600) == FTH_NEVER); /* no multiple is left before the end of time */
	r.now = 900;
	rig_submit(&r, "c", FTH_JOB_INDEPENDENT, one, 1, NULL); /* at a multiple, before its round */
	assert_true(fth_engine_next_round(r.e, 900) == 900);
	rig_close(&r);
}

static void without_a_period_a_round_follows_each_moment(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	r.now = 10;
	rig_submit(&r, "a", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "one", 1), 1, NULL);
	assert_true(fth_engine_next_round(r.e, 10) == 10);
	rig_round(&r, NULL);
	assert_true(fth_engine_next_round(r.e, 10) == FTH_NEVER);
	rig_submit(&r, "b", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "one", 1), 1, NULL);
	assert_true(fth_engine_next_round(r.e, 10) == 10); /* the same instant again: something has happened */
	rig_close(&r);
}

/* ---- the fallback ---- */

static unsigned fallback_rounds;
static int fallback_answer;

static int plain_decide(void *self, const struct fth_round *round, struct fth_plan *p)
{
	(void)self;
	fallback_rounds++;
	assert_int_equal(round->nevents, 1); /* what the failed policy was told */
	fth_offer_id o = A_BIG;
	fth_plan_place(p, round->view->first_waiting, fth_plan_launch(p, &o, 1, why), why);
	return fallback_answer;
}

static fth_time plain_period(void *self)
{
	(void)self;
	return 300;
}

static const struct fth_policy_ops plain = {
	.abi = FTH_POLICY_ABI, .name = "plain", .decide = plain_decide, .period = plain_period};

static void half_a_plan(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_offer_id o = B_BIG;
	fth_plan_launch(p, &o, 1, why);
}

static void a_policy_that_fails_is_replaced_within_the_round(void **state)
{
	(void)state;
	struct rig r;
	struct fth_accepted acts;
	struct fth_error err;
	fallback_rounds = 0;
	fallback_answer = 0;
	rig_open(&r, 0, &plain);
	r.now = 7;
	rig_submit(&r, "a", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "one", 1), 1, NULL);
	script = half_a_plan;
	script_answer = -EIO;
	assert_int_equal(fth_engine_round(r.e, r.now, &acts, &err), 0);
	assert_int_equal(fallback_rounds, 1);
	assert_int_equal(acts.n, 2);
	assert_int_equal(r.c->view.ninstances, 1);
	assert_int_equal(rig_instance(&r, 0)->type, A_BIG); /* nothing of the half plan */
	assert_true(fth_engine_stats(r.e)->fell_back);
	assert_non_null(strstr(fth_engine_stats(r.e)->why_fallback, "scripted failed"));
	assert_non_null(strstr(fth_engine_stats(r.e)->why_fallback, "plain took over"));
	/* From here on its period counts: at multiples, not 300 after the last round. */
	rig_feed(&r, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, 0);
	assert_true(fth_engine_next_round(r.e, 7) == 300);
	/* When it fails as well there is nobody left. */
	fallback_answer = -EIO;
	r.now = 300;
	assert_int_equal(fth_engine_round(r.e, r.now, &acts, &err), -EPROTO);
	assert_non_null(strstr(err.text, "plain"));
	rig_close(&r);

	rig_open(&r, 0, NULL);
	script_answer = 5; /* not even an errno */
	assert_int_equal(fth_engine_round(r.e, 0, &acts, &err), -EPROTO);
	rig_close(&r);
}

static int bad_init(void **self, const struct fth_view *v, const void *params)
{
	(void)self, (void)v, (void)params;
	return -ENOMEM;
}

static fth_time negative(void *self)
{
	(void)self;
	return -1;
}

static void a_policy_that_cannot_start_is_told_by_name(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	const struct fth_policy_ops bad[] = {
		{.abi = FTH_POLICY_ABI + 1, .name = "newer", .decide = scripted},
		{.abi = FTH_POLICY_ABI, .name = "idle"},
		{.abi = FTH_POLICY_ABI, .name = "broken", .decide = scripted, .init = bad_init},
		{.abi = FTH_POLICY_ABI, .name = "backwards", .decide = scripted, .period = negative},
	};
	for (size_t k = 0; k < FTH_COUNT(bad); k++) {
		struct fth_engine *e;
		struct fth_error err = {0};
		struct fth_engine_config cfg = {
			.syms = w.syms, .catalog = &w.catalog, .kinds = &w.kinds, .policy = &bad[k]};
		assert_true(fth_engine_new(&e, &cfg, &err) < 0);
		assert_non_null(strstr(err.text, bad[k].name));
	}
	fth_world_release(&w);
}

static void kinds_may_be_added_while_the_engine_runs(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	for (int k = 0; k < 200; k++) { /* the list of kinds moves as it grows */
		char name[16];
		snprintf(name, sizeof(name), "k%d", k);
		fth_task_id t = rig_submit(&r, name, FTH_JOB_INDEPENDENT, small_cpus(&r.w, name, 1), 1, NULL);
		assert_int_equal(r.c->view.nkinds, k + 1);
		assert_string_equal(fth_sym_str(r.w.syms, r.c->view.kinds[rig_task(&r, t)->kind].klass), name);
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_that_contradicts_the_state_is_refused_whole),
		cmocka_unit_test(a_revoked_instance_loses_what_it_holds),
		cmocka_unit_test(a_lost_task_waits_and_its_instance_stays),
		cmocka_unit_test(a_cancelled_job_vanishes_where_it_is),
		cmocka_unit_test(a_changed_price_counts_from_then_on),
		cmocka_unit_test(every_wake_up_comes_once),
		cmocka_unit_test(rounds_of_a_policy_with_a_period_are_at_its_multiples),
		cmocka_unit_test(without_a_period_a_round_follows_each_moment),
		cmocka_unit_test(a_policy_that_fails_is_replaced_within_the_round),
		cmocka_unit_test(a_policy_that_cannot_start_is_told_by_name),
		cmocka_unit_test(kinds_may_be_added_while_the_engine_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
