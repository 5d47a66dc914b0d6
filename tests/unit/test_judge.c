/* SPDX-License-Identifier: Apache-2.0 */
/* The judge: each reason to refuse, one by one, and what is accepted. */
#include "engine_rig.h"

/* ---- one state in which every refusal can be provoked ---- */

/* Tasks and instances of the state, by name. */
static fth_task_id waits, runs, starts, bound, only_a, apart, wide;
static fth_instance_id with_runs, with_starts, requested, on_b, going, with_apart;

static fth_instance_id launch(struct fth_plan *p, fth_offer_id o)
{
	return fth_plan_launch(p, &o, 1, why);
}

static void set_up_plan(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	with_runs = launch(p, A_BIG);
	with_starts = launch(p, A_BIG);
	requested = launch(p, A_BIG);
	on_b = launch(p, B_BIG);
	going = launch(p, A_SMALL);
	with_apart = launch(p, A_BIG);
	fth_plan_place(p, runs, with_runs, why);
	fth_plan_place(p, starts, with_starts, why);
	fth_plan_place(p, bound, requested, why);
	fth_plan_place(p, apart - 1, with_apart, why);
	fth_plan_terminate(p, going, why);
}

static void set_up(struct rig *r, uint32_t max_instances)
{
	rig_open(r, max_instances, NULL);
	struct fth_alt a = {0};
	struct fth_kind on_a_only = small_kind(&r->w, "only-a", &a, 1);
	a.family = fth_sym_intern(r->w.syms, "a");
	fth_kind_id one = small_cpus(&r->w, "one", 1), three = small_cpus(&r->w, "three", 3);
	fth_kind_id a_kind = fth_kinds_intern(&r->w.kinds, &on_a_only);
	r->now = FTH_HOUR;
	waits = rig_submit(r, "waits", FTH_JOB_INDEPENDENT, one, 1, NULL);
	runs = rig_submit(r, "runs", FTH_JOB_INDEPENDENT, three, 1, NULL);
	starts = rig_submit(r, "starts", FTH_JOB_INDEPENDENT, small_cpus(&r->w, "two", 2), 1, NULL);
	bound = rig_submit(r, "bound", FTH_JOB_INDEPENDENT, one, 1, NULL);
	only_a = rig_submit(r, "only-a", FTH_JOB_INDEPENDENT, a_kind, 1, NULL);
	rig_submit(r, "apart-1", FTH_JOB_INDEPENDENT, one, 1, "apart");
	apart = rig_submit(r, "apart-2", FTH_JOB_INDEPENDENT, one, 1, "apart");
	wide = rig_submit(r, "wide", FTH_JOB_INDEPENDENT, small_cpus(&r->w, "two", 2), 1, NULL);
	rig_round(r, set_up_plan);
	assert_int_equal(r->naccepted, 11);
	rig_ready(r, with_runs);
	rig_ready(r, with_starts);
	rig_ready(r, on_b);
	rig_ready(r, with_apart);
	rig_run(r, runs);
	rig_run(r, apart - 1);
	rig_feed(r, FTH_EV_TASK_STARTING, starts, with_starts);
	struct fth_event ev = {.kind = FTH_EV_OFFER_CHANGED, .time = r->now, .job = FTH_NONE, .task = FTH_NONE,
			       .instance = FTH_NONE, .offer = ARM_BIG, .price = 3 * FTH_USD, .available = false};
	assert_int_equal(fth_engine_feed(r->e, &ev, NULL), 0);
	rig_round(r, NULL); /* the policy has seen all this */
}

static void unknown_task(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, 999, on_b, why); }
static void no_task(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_preempt(p, FTH_NONE, why); }
static void unknown_instance(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, only_a, 999, why); }
static void no_instance(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_migrate(p, runs, FTH_NONE, why); }
static void unknown_drain(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_drain(p, 999, why); }
static void unknown_offer(struct rig *r, struct fth_plan *p) { (void)r; launch(p, 77); }
static void unavailable(struct rig *r, struct fth_plan *p) { (void)r; launch(p, ARM_BIG); }
static void second_unavailable(struct rig *r, struct fth_plan *p)
{
	(void)r;
	fth_plan_launch(p, (fth_offer_id[]){A_BIG, ARM_BIG}, 2, why);
}
static void place_running(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, runs, on_b, why); }
static void place_bound(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, bound, on_b, why); }
static void migrate_waiting(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_migrate(p, only_a, on_b, why); }
static void preempt_waiting(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_preempt(p, only_a, why); }
static void migrate_starting(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_migrate(p, starts, on_b, why); }
static void preempt_starting(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_preempt(p, starts, why); }
static void same(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_migrate(p, runs, with_runs, why); }
static void place_on_going(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, only_a, going, why); }
static void drain_going(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_drain(p, going, why); }
static void wrong_family(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, only_a, on_b, why); }
static void no_room(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, wide, with_runs, why); }
static void move_no_room(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_migrate(p, runs, with_starts, why); }
static void not_apart(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_place(p, apart, with_apart, why); }
static void has_tasks(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_terminate(p, with_runs, why); }
static void has_bound(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_terminate(p, requested, why); }
static void past(struct rig *r, struct fth_plan *p) { fth_plan_wake(p, r->now - 1); }
static void present(struct rig *r, struct fth_plan *p) { fth_plan_wake(p, r->now); }
static void nothing(struct rig *r, struct fth_plan *p) { (void)r; fth_plan_launch(p, NULL, 0, why); }

static const struct {
	enum fth_refusal want;
	void (*bad)(struct rig *r, struct fth_plan *p);
} refusals[] = {
	{FTH_REFUSED_UNKNOWN_TASK, unknown_task},
	{FTH_REFUSED_UNKNOWN_TASK, no_task},
	{FTH_REFUSED_UNKNOWN_INSTANCE, unknown_instance},
	{FTH_REFUSED_UNKNOWN_INSTANCE, no_instance},
	{FTH_REFUSED_UNKNOWN_INSTANCE, unknown_drain},
	{FTH_REFUSED_UNKNOWN_OFFER, unknown_offer},
	{FTH_REFUSED_OFFER_UNAVAILABLE, unavailable},
	{FTH_REFUSED_OFFER_UNAVAILABLE, second_unavailable},
	{FTH_REFUSED_NOT_WAITING, place_running},
	{FTH_REFUSED_NOT_WAITING, place_bound},
	{FTH_REFUSED_NOT_BOUND, migrate_waiting},
	{FTH_REFUSED_NOT_BOUND, preempt_waiting},
	{FTH_REFUSED_MOVING, migrate_starting},
	{FTH_REFUSED_MOVING, preempt_starting},
	{FTH_REFUSED_SAME_INSTANCE, same},
	{FTH_REFUSED_INSTANCE_LEAVING, place_on_going},
	{FTH_REFUSED_INSTANCE_LEAVING, drain_going},
	{FTH_REFUSED_CANNOT_RUN_THERE, wrong_family},
	{FTH_REFUSED_NO_ROOM, no_room},
	{FTH_REFUSED_NO_ROOM, move_no_room},
	{FTH_REFUSED_ANTI_AFFINITY, not_apart},
	{FTH_REFUSED_HAS_TASKS, has_tasks},
	{FTH_REFUSED_HAS_TASKS, has_bound},
	{FTH_REFUSED_IN_THE_PAST, past},
	{FTH_REFUSED_IN_THE_PAST, present},
	{FTH_REFUSED_MALFORMED, nothing},
};

static size_t at_case;

static void only_bad(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)round;
	refusals[at_case].bad(r, p);
}

static void bad_among_good(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)round;
	fth_plan_place(p, waits, on_b, why);
	refusals[at_case].bad(r, p);
	fth_plan_place(p, wide, launch(p, A_SMALL), why);
	fth_plan_preempt(p, bound, why);
	fth_plan_wake(p, r->now + 1);
}

static void each_refusal_alone_changes_nothing(void **state)
{
	(void)state;
	bool seen[FTH_REFUSED_NKINDS] = {false};
	for (at_case = 0; at_case < FTH_COUNT(refusals); at_case++) {
		struct rig r;
		set_up(&r, 0);
		enum fth_refusal want = refusals[at_case].want;
		uint64_t before = rig_state(&r), actions = fth_engine_stats(r.e)->actions;
		rig_round(&r, only_bad);
		assert_int_equal(r.nverdicts, 1);
		if (r.verdicts[0] != want)
			print_error("case %zu: %s, not %s\n", at_case, fth_refusal_name(r.verdicts[0]), fth_refusal_name(want));
		assert_int_equal(r.verdicts[0], want);
		assert_int_equal(r.naccepted, 0);
		assert_true(rig_state(&r) == before);
		assert_int_equal(fth_engine_stats(r.e)->rejected, 1);
		assert_int_equal(fth_engine_stats(r.e)->rejected_by[want], 1);
		assert_int_equal(fth_engine_stats(r.e)->actions, actions);
		assert_true(fth_engine_next_round(r.e, r.now) == FTH_NEVER);
		seen[want] = true;
		rig_close(&r);
	}
	seen[FTH_ACCEPTED] = seen[FTH_REFUSED_TOO_MANY_INSTANCES] = true; /* the latter has its own test */
	for (int k = FTH_REFUSED_HOURLY_BUDGET; k <= FTH_REFUSED_DISRUPTION_BUDGET; k++)
		seen[k] = true; /* test_limits */
	for (int k = 0; k < FTH_REFUSED_NKINDS; k++)
		assert_true(seen[k]);
}

static void the_rest_of_the_plan_stands(void **state)
{
	(void)state;
	for (at_case = 0; at_case < FTH_COUNT(refusals); at_case++) {
		struct rig r;
		set_up(&r, 0);
		rig_round(&r, bad_among_good);
		assert_int_equal(r.nverdicts, 6);
		for (int k = 0; k < 6; k++)
			assert_int_equal(r.verdicts[k], k == 1 ? refusals[at_case].want : FTH_ACCEPTED);
		assert_int_equal(r.naccepted, 5);
		assert_int_equal(rig_task(&r, waits)->target, on_b);
		assert_int_equal(rig_task(&r, wide)->target, r.c->view.last_instance);
		assert_int_equal(rig_instance(&r, r.c->view.last_instance)->type, A_SMALL);
		assert_int_equal(rig_task(&r, bound)->state, FTH_TASK_WAITING);
		assert_int_equal(fth_engine_stats(r.e)->rejected, 1);
		assert_true(fth_engine_next_round(r.e, r.now) == r.now + 1);
		rig_close(&r);
	}
}

static void launch_three(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	for (int k = 0; k < 3; k++)
		launch(p, A_BIG);
}

static void launches_beyond_the_limit_are_refused(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 2, NULL);
	rig_round(&r, launch_three);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[1], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[2], FTH_REFUSED_TOO_MANY_INSTANCES);
	assert_int_equal(r.c->view.ninstances, 2);
	/* One that has gone makes room for one. */
	rig_feed(&r, FTH_EV_INSTANCE_GONE, FTH_NONE, 0);
	rig_round(&r, launch_three);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[1], FTH_REFUSED_TOO_MANY_INSTANCES);
	assert_int_equal(fth_engine_stats(r.e)->rejected_by[FTH_REFUSED_TOO_MANY_INSTANCES], 3);
	rig_close(&r);
}

/* ---- ids ---- */

static void refused_launch_first(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_instance_id bad = launch(p, 77), good = launch(p, A_BIG), other = launch(p, B_BIG);
	fth_plan_place(p, 0, good, why);
	fth_plan_place(p, 1, bad, why);
	fth_plan_place(p, 1, other, why);
	fth_plan_place(p, 2, other + 1, why); /* none of this plan's */
}

static void ids_of_refused_launches_are_translated(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "one", 1), 3, NULL);
	rig_round(&r, refused_launch_first);
	const uint8_t want[] = {FTH_REFUSED_UNKNOWN_OFFER, 0, 0, 0, FTH_REFUSED_UNKNOWN_INSTANCE, 0, FTH_REFUSED_UNKNOWN_INSTANCE};
	assert_memory_equal(r.verdicts, want, sizeof(want));
	assert_int_equal(r.naccepted, 4);
	assert_int_equal(r.accepted[0].instance, 0); /* the ids the instances really have */
	assert_int_equal(r.accepted[1].instance, 1);
	assert_int_equal(rig_task(&r, 0)->target, 0);
	assert_int_equal(rig_instance(&r, 0)->type, A_BIG);
	assert_int_equal(rig_task(&r, 1)->target, 1);
	assert_int_equal(rig_instance(&r, 1)->type, B_BIG);
	assert_int_equal(rig_task(&r, 2)->state, FTH_TASK_WAITING);
	rig_close(&r);
}

/* ---- several acceptable offers ---- */

static void big_or_small(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_instance_id i = fth_plan_launch(p, (fth_offer_id[]){A_BIG, A_SMALL}, 2, why);
	for (fth_task_id t = 0; t < 3; t++)
		fth_plan_place(p, t, i, why);
}

static void room_must_be_there_on_every_acceptable_offer(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "one", 1), 3, NULL);
	rig_round(&r, big_or_small);
	/* Two fit on the small one; that the big one, wanted first, would hold three is no help. */
	assert_int_equal(r.verdicts[2], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[3], FTH_REFUSED_NO_ROOM);
	assert_int_equal(rig_instance(&r, 0)->type, A_BIG);
	rig_feed(&r, FTH_EV_LAUNCH_FAILED, FTH_NONE, 0);
	assert_int_equal(rig_instance(&r, 0)->type, A_SMALL);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_REQUESTED);
	assert_int_equal(rig_instance(&r, 0)->ncommitted, 2);
	/* No offer is left: it is gone, and its tasks wait again. */
	rig_feed(&r, FTH_EV_LAUNCH_FAILED, FTH_NONE, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_GONE);
	assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_WAITING);
	assert_int_equal(r.c->view.nwaiting, 3);
	assert_int_equal(r.charges, 0);
	rig_round(&r, NULL);
	assert_null(rig_instance(&r, 0));
	rig_close(&r);
}

static void a_or_b(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_instance_id i = fth_plan_launch(p, (fth_offer_id[]){A_BIG, B_BIG}, 2, why);
	fth_plan_place(p, 0, i, why);
	fth_plan_place(p, 1, i, why);
	i = launch(p, A_BIG);
	fth_plan_place(p, 1, i, why);
	fth_plan_place(p, 2, i, why);
	fth_plan_place(p, 3, launch(p, ARM_BIG), why);
}

static void demand_goes_by_family_and_architecture(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	/* On family b it needs 3 CPUs, anywhere else 2. */
	struct fth_alt alts[2];
	struct fth_kind k = small_kind(&r.w, "k", &alts[1], 2);
	alts[0] = alts[1];
	alts[0].family = fth_sym_intern(r.w.syms, "b");
	alts[0].demand.v[FTH_CPU] = 3000;
	k.alts = alts;
	k.nalts = 2;
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, fth_kinds_intern(&r.w.kinds, &k), 3, NULL);
	k.arch = fth_sym_intern(r.w.syms, "x86");
	rig_submit(&r, "x", FTH_JOB_INDEPENDENT, fth_kinds_intern(&r.w.kinds, &k), 1, NULL);
	rig_round(&r, a_or_b);
	/* Two would fit on a.big but not on b.big, to which it may fall. */
	const uint8_t want[] = {0, 0, FTH_REFUSED_NO_ROOM, 0, 0, 0, 0, FTH_REFUSED_CANNOT_RUN_THERE};
	assert_memory_equal(r.verdicts, want, sizeof(want));
	assert_int_equal(rig_instance(&r, 0)->committed.v[FTH_CPU], 2000);
	assert_int_equal(rig_instance(&r, 1)->committed.v[FTH_CPU], 4000);
	rig_feed(&r, FTH_EV_LAUNCH_FAILED, FTH_NONE, 0);
	assert_int_equal(rig_instance(&r, 0)->committed.v[FTH_CPU], 3000);
	rig_ready(&r, 0);
	rig_run(&r, 0);
	assert_int_equal(rig_instance(&r, 0)->held.v[FTH_CPU], 3000);
	rig_close(&r);
}

/* ---- tasks that advance together ---- */

static fth_instance_id extra;

static void place_two(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_place(p, 0, launch(p, A_BIG), why);
	fth_plan_place(p, 1, launch(p, A_BIG), why);
	extra = launch(p, B_BIG);
}

static void move_first(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 0, extra, why);
}

static void move_both(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 0, extra, why);
	fth_plan_migrate(p, 1, extra, why);
}

static void preempt_first(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_preempt(p, 0, why);
}

static void move_second(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 1, extra, why);
	fth_plan_preempt(p, 1, why);
}

static void run_two(struct rig *r, enum fth_job_kind kind)
{
	rig_open(r, 0, NULL);
	rig_submit(r, "j", kind, small_cpus(&r->w, "one", 1), 2, NULL);
	rig_round(r, place_two);
	for (fth_instance_id i = 0; i < 3; i++)
		rig_ready(r, i);
	rig_run(r, 0);
	rig_run(r, 1);
}

static void leave(struct rig *r, fth_task_id t)
{
	fth_instance_id on = rig_task(r, t)->on;
	rig_feed(r, FTH_EV_TASK_STOPPED, t, on);
	rig_feed(r, FTH_EV_TASK_LEFT, t, on);
}

static void coupled_tasks_restart_together(void **state)
{
	(void)state;
	const enum fth_job_kind kinds[] = {FTH_JOB_COUPLED, FTH_JOB_RIGID};
	for (int k = 0; k < 2; k++) {
		struct rig r;
		run_two(&r, kinds[k]);
		r.now = 10;
		rig_round(&r, move_first);
		assert_int_equal(r.naccepted, 2); /* the move, and the restart it implies */
		assert_int_equal(r.accepted[1].kind, FTH_ACT_MIGRATE);
		assert_int_equal(r.accepted[1].task, 1);
		assert_int_equal(r.accepted[1].instance, 1);
		assert_int_equal(rig_task(&r, 0)->moves, 1);
		assert_int_equal(rig_task(&r, 1)->moves, 0);
		assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_STOPPING);
		/* Later on its way is its own: the outcome has to be awaited. */
		r.now = 20;
		rig_round(&r, move_second);
		assert_int_equal(r.verdicts[0], FTH_REFUSED_MOVING);
		assert_int_equal(r.verdicts[1], FTH_REFUSED_MOVING);
		leave(&r, 0);
		leave(&r, 1);
		assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_BOUND);
		assert_int_equal(rig_task(&r, 0)->target, extra);
		assert_int_equal(rig_task(&r, 1)->target, 1);
		rig_run(&r, 0);
		rig_run(&r, 1);
		rig_close(&r);
	}
}

static void a_restarting_sibling_can_be_sent_elsewhere_in_the_same_plan(void **state)
{
	(void)state;
	struct rig r;
	run_two(&r, FTH_JOB_COUPLED);
	r.now = 10;
	rig_round(&r, move_both);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[1], FTH_ACCEPTED);
	assert_int_equal(rig_task(&r, 0)->target, extra);
	assert_int_equal(rig_task(&r, 1)->target, extra);
	assert_int_equal(rig_task(&r, 1)->moves, 1);
	rig_close(&r);
}

static void preempting_one_restarts_the_others(void **state)
{
	(void)state;
	struct rig r;
	run_two(&r, FTH_JOB_COUPLED);
	r.now = 10;
	rig_round(&r, preempt_first);
	assert_int_equal(r.naccepted, 2);
	leave(&r, 0);
	leave(&r, 1);
	assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_WAITING);
	assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_BOUND);
	assert_int_equal(rig_task(&r, 1)->target, 1);
	rig_close(&r);

	run_two(&r, FTH_JOB_INDEPENDENT);
	rig_round(&r, preempt_first);
	assert_int_equal(r.naccepted, 1);
	assert_int_equal(rig_task(&r, 1)->state, FTH_TASK_RUNNING);
	rig_close(&r);
}

/* ---- changing places ---- */

static void three_on_two(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_instance_id x = launch(p, A_BIG), y = launch(p, A_BIG);
	fth_plan_place(p, 0, x, why);
	fth_plan_place(p, 1, y, why);
}

static void change_places(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 0, 1, why);
	fth_plan_migrate(p, 1, 0, why);
}

static void change_with_nowhere(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_place(p, 2, 1, why);    /* in the room that 1 is to leave */
	fth_plan_migrate(p, 0, 1, why);  /* and so does this one, for whom there is none */
	fth_plan_migrate(p, 1, 77, why); /* but it does not leave */
}

static void tasks_change_places_in_one_plan(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "three", 3), 3, NULL);
	rig_round(&r, three_on_two);
	rig_ready(&r, 0);
	rig_ready(&r, 1);
	rig_run(&r, 0);
	rig_run(&r, 1);
	rig_round(&r, change_places);
	assert_int_equal(r.naccepted, 2);
	leave(&r, 0);
	leave(&r, 1);
	rig_run(&r, 0);
	rig_run(&r, 1);
	assert_int_equal(rig_task(&r, 0)->on, 1);
	assert_int_equal(rig_task(&r, 1)->on, 0);
	rig_close(&r);
}

static void who_came_for_one_that_did_not_leave_is_taken_back(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "three", 3), 3, NULL);
	rig_round(&r, three_on_two);
	rig_ready(&r, 0);
	rig_ready(&r, 1);
	rig_run(&r, 0);
	rig_run(&r, 1);
	r.now = 50;
	rig_round(&r, change_with_nowhere);
	const uint8_t want[] = {FTH_REFUSED_NO_ROOM, FTH_REFUSED_NO_ROOM, FTH_REFUSED_UNKNOWN_INSTANCE};
	assert_memory_equal(r.verdicts, want, sizeof(want));
	assert_int_equal(r.naccepted, 0);
	assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_RUNNING);
	assert_int_equal(rig_task(&r, 0)->target, 0);
	assert_int_equal(rig_task(&r, 0)->moves, 0);
	assert_int_equal(rig_task(&r, 2)->state, FTH_TASK_WAITING);
	assert_int_equal(fth_engine_stats(r.e)->rejected, 3);
	rig_close(&r);
}

static void bound_back(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_migrate(p, 0, 1, why);
	fth_plan_migrate(p, 1, 77, why);
}

static void a_bound_task_taken_back_is_bound_where_it_was(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	rig_submit(&r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "three", 3), 2, NULL);
	rig_round(&r, three_on_two);
	rig_round(&r, bound_back);
	assert_int_equal(r.naccepted, 0);
	assert_int_equal(rig_task(&r, 0)->state, FTH_TASK_BOUND);
	assert_int_equal(rig_task(&r, 0)->target, 0);
	rig_close(&r);
}

/* ---- letting instances go ---- */

static void place_one(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_place(p, 0, launch(p, A_BIG), why);
}

static void drain_it(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_drain(p, 0, why);
}

static void preempt_and_terminate(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_preempt(p, 0, why);
	fth_plan_terminate(p, 0, why);
}

static void rig_one(struct rig *r)
{
	rig_open(r, 0, NULL);
	rig_submit(r, "j", FTH_JOB_INDEPENDENT, small_cpus(&r->w, "one", 1), 1, NULL);
	rig_round(r, place_one);
}

static void a_draining_instance_goes_when_its_last_task_has_ended(void **state)
{
	(void)state;
	struct rig r;
	rig_one(&r);
	rig_ready(&r, 0);
	rig_run(&r, 0);
	rig_round(&r, drain_it);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_DRAINING);
	assert_true(rig_instance(&r, 0)->leaving);
	rig_feed(&r, FTH_EV_TASK_DONE, 0, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_TERMINATING);
	rig_feed(&r, FTH_EV_INSTANCE_GONE, FTH_NONE, 0);
	assert_int_equal(r.charges, 1);
	assert_int_equal(r.c->view.ninstances, 0);
	rig_close(&r);
}

static void one_that_boots_drains_once_it_is_ready(void **state)
{
	(void)state;
	struct rig r;
	rig_one(&r);
	rig_round(&r, drain_it);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_REQUESTED);
	rig_ready(&r, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_DRAINING);
	rig_run(&r, 0); /* it was committed before */
	rig_round(&r, preempt_and_terminate);
	assert_int_equal(r.naccepted, 2);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_DRAINING); /* it is still being saved there */
	leave(&r, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_TERMINATING);
	rig_close(&r);
}

static void a_draining_instance_from_which_the_last_bound_task_is_taken_goes(void **state)
{
	(void)state;
	struct rig r;
	rig_one(&r);
	rig_round(&r, drain_it);
	rig_round(&r, preempt_first);
	assert_int_equal(r.naccepted, 2); /* the driver is told to end it */
	assert_int_equal(r.accepted[1].kind, FTH_ACT_TERMINATE);
	assert_int_equal(r.accepted[1].instance, 0);
	assert_int_equal(rig_instance(&r, 0)->state, FTH_INSTANCE_TERMINATING);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_alone_changes_nothing),
		cmocka_unit_test(the_rest_of_the_plan_stands),
		cmocka_unit_test(launches_beyond_the_limit_are_refused),
		cmocka_unit_test(ids_of_refused_launches_are_translated),
		cmocka_unit_test(room_must_be_there_on_every_acceptable_offer),
		cmocka_unit_test(demand_goes_by_family_and_architecture),
		cmocka_unit_test(coupled_tasks_restart_together),
		cmocka_unit_test(a_restarting_sibling_can_be_sent_elsewhere_in_the_same_plan),
		cmocka_unit_test(preempting_one_restarts_the_others),
		cmocka_unit_test(tasks_change_places_in_one_plan),
		cmocka_unit_test(who_came_for_one_that_did_not_leave_is_taken_back),
		cmocka_unit_test(a_bound_task_taken_back_is_bound_where_it_was),
		cmocka_unit_test(a_draining_instance_goes_when_its_last_task_has_ended),
		cmocka_unit_test(one_that_boots_drains_once_it_is_ready),
		cmocka_unit_test(a_draining_instance_from_which_the_last_bound_task_is_taken_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
