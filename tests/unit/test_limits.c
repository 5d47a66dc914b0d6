/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on dollars and disruption, an operator's orders, a change of policy. */
#include "engine_rig.h"

static fth_task_id tasks[4];
static fth_instance_id machines[4];

static void launch_three(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	for (int k = 0; k < 3; k++)
		fth_plan_launch(p, (fth_offer_id[]){A_SMALL, A_BIG}, 2, why);
}

/* Small ones cost half a dollar, but may become big ones of a dollar: two dollars an hour hold two. */
static void dollars_an_hour(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	fth_engine_change_limits(r.e, 0, &(struct fth_limits){.usd_per_hour = 2 * FTH_USD});
	rig_round(&r, launch_three);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[1], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[2], FTH_REFUSED_HOURLY_BUDGET);
	/* Once they are known to be small ones, there is room for one more. */
	rig_ready(&r, 0);
	rig_ready(&r, 1);
	rig_round(&r, launch_three);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[1], FTH_REFUSED_HOURLY_BUDGET);
	rig_close(&r);
}

static void launch_one(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_launch(p, (fth_offer_id[]){A_BIG}, 1, why);
}

/* The clock's zero is noon of 31 January 2024: half a day later the money of a new month can be spent. */
static void dollars_a_month(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	struct fth_limits l = {.usd_per_month = 5 * FTH_USD, .epoch_us = 1706702400 * (int64_t)FTH_SEC};
	fth_engine_change_limits(r.e, 0, &l);
	rig_round(&r, launch_one);
	rig_ready(&r, 0);
	r.now = 4 * FTH_HOUR;
	rig_round(&r, launch_one);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	r.now = 5 * FTH_HOUR;
	rig_round(&r, launch_one);
	assert_int_equal(r.verdicts[0], FTH_REFUSED_MONTHLY_BUDGET);
	assert_true(fth_engine_next_round(r.e, r.now) == 12 * FTH_HOUR); /* when there is money again */
	r.now = 12 * FTH_HOUR - 1;
	rig_round(&r, launch_one);
	assert_int_equal(r.verdicts[0], FTH_REFUSED_MONTHLY_BUDGET);
	r.now = 12 * FTH_HOUR;
	rig_round(&r, launch_one);
	assert_int_equal(r.verdicts[0], FTH_ACCEPTED);
	rig_close(&r);
}

/* A limit set late counts what this month has cost, not what was spent before. */
static void a_month_that_has_begun(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		struct rig r;
		rig_open(&r, 0, NULL);
		rig_round(&r, launch_one);
		rig_ready(&r, 0);
		r.now = (late ? 13 : 11) * FTH_HOUR;
		rig_feed(&r, FTH_EV_INSTANCE_REVOKED, FTH_NONE, 0); /* 11 or 13 dollars */
		r.now = 14 * FTH_HOUR;
		struct fth_limits l = {.usd_per_month = 5 * FTH_USD, .epoch_us = 1706702400 * (int64_t)FTH_SEC};
		fth_engine_change_limits(r.e, r.now, &l);
		rig_round(&r, launch_one);
		assert_int_equal(r.verdicts[0], late ? FTH_REFUSED_MONTHLY_BUDGET : FTH_ACCEPTED);
		rig_close(&r);
	}
}

static void launch_four(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	for (int k = 0; k < 4; k++) {
		machines[k] = fth_plan_launch(p, (fth_offer_id[]){A_BIG}, 1, why);
		fth_plan_place(p, tasks[k], machines[k], why);
	}
}

static void preempt_all(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	for (int k = 0; k < 4; k++)
		fth_plan_preempt(p, tasks[k], why);
}

static void four_running(struct rig *r)
{
	rig_open(r, 0, NULL);
	for (int k = 0; k < 4; k++) {
		char key[2] = {(char)('a' + k), '\0'};
		tasks[k] = rig_submit(r, key, FTH_JOB_INDEPENDENT, small_cpus(&r->w, "x", 1), 1, NULL);
	}
	rig_round(r, launch_four);
	for (int k = 0; k < 4; k++) {
		rig_ready(r, machines[k]);
		rig_run(r, tasks[k]);
	}
}

static int accepted(const struct rig *r, enum fth_refusal other)
{
	int n = 0;
	for (size_t k = 0; k < r->nverdicts; k++) {
		assert_true(r->verdicts[k] == FTH_ACCEPTED || r->verdicts[k] == other);
		n += r->verdicts[k] == FTH_ACCEPTED;
	}
	return n;
}

static void moves_an_hour(void **state)
{
	(void)state;
	struct rig r;
	four_running(&r);
	fth_engine_change_limits(r.e, 0, &(struct fth_limits){.moves_per_hour = 3});
	rig_round(&r, preempt_all);
	assert_int_equal(accepted(&r, FTH_REFUSED_MOVES_BUDGET), 3);
	r.now = FTH_HOUR - 1;
	rig_round(&r, preempt_all);
	assert_int_equal(r.verdicts[3], FTH_REFUSED_MOVES_BUDGET);
	r.now = FTH_HOUR;
	rig_round(&r, preempt_all);
	assert_int_equal(r.verdicts[3], FTH_ACCEPTED);
	rig_close(&r);
}

/* Of four ready instances 30 % are two, rounded up; when one is undisturbed again, another may be. */
static void share_disturbed(void **state)
{
	(void)state;
	struct rig r;
	four_running(&r);
	fth_engine_change_limits(r.e, 0, &(struct fth_limits){.disturbed_ppm = 300000});
	rig_round(&r, preempt_all);
	assert_int_equal(accepted(&r, FTH_REFUSED_DISRUPTION_BUDGET), 2);
	rig_feed(&r, FTH_EV_TASK_STOPPED, tasks[0], machines[0]);
	rig_feed(&r, FTH_EV_TASK_LEFT, tasks[0], machines[0]);
	rig_round(&r, preempt_all);
	assert_int_equal(r.verdicts[2], FTH_ACCEPTED);
	assert_int_equal(r.verdicts[3], FTH_REFUSED_DISRUPTION_BUDGET);
	rig_close(&r);
}

/* An operator may do what a policy may not. */
static void orders_are_judged_but_not_limited(void **state)
{
	(void)state;
	struct rig r;
	struct fth_accepted acts;
	four_running(&r);
	fth_engine_change_limits(r.e, 0, &(struct fth_limits){.moves_per_hour = 1, .disturbed_ppm = 1});
	struct fth_action a = {.kind = FTH_ACT_PREEMPT, .task = tasks[0], .instance = FTH_NONE};
	assert_int_equal(fth_engine_order(r.e, r.now, &a, "ann", &acts), FTH_ACCEPTED);
	a.task = tasks[1];
	assert_int_equal(fth_engine_order(r.e, r.now, &a, "ann", &acts), FTH_ACCEPTED);
	assert_int_equal(rig_task(&r, tasks[1])->state, FTH_TASK_STOPPING);
	a = (struct fth_action){.kind = FTH_ACT_TERMINATE, .task = FTH_NONE, .instance = machines[2]};
	assert_int_equal(fth_engine_order(r.e, r.now, &a, "ann", &acts), FTH_REFUSED_HAS_TASKS);
	a.kind = FTH_ACT_DRAIN;
	assert_int_equal(fth_engine_order(r.e, r.now, &a, "ann", &acts), FTH_ACCEPTED);
	assert_int_equal(rig_instance(&r, machines[2])->state, FTH_INSTANCE_DRAINING);
	a.kind = FTH_ACT_LAUNCH;
	assert_int_equal(fth_engine_order(r.e, r.now, &a, "ann", &acts), FTH_REFUSED_MALFORMED);
	/* and the policy is asked what to make of it */
	assert_true(fth_engine_next_round(r.e, r.now) == r.now);
	rig_close(&r);
}

static int asked;
static int other_decide(void *self, const struct fth_round *round, struct fth_plan *p)
{
	(void)self, (void)round, (void)p;
	asked++;
	return 0;
}
static int never_init(void **self, const struct fth_view *v, const void *params)
{
	(void)self, (void)v, (void)params;
	return -ENOMEM;
}

static void another_policy_takes_over(void **state)
{
	(void)state;
	struct rig r;
	four_running(&r);
	const struct fth_policy_ops bad = {.abi = FTH_POLICY_ABI, .name = "bad", .decide = other_decide, .init = never_init};
	const struct fth_policy_ops good = {.abi = FTH_POLICY_ABI, .name = "good", .decide = other_decide};
	assert_int_equal(fth_engine_change_policy(r.e, r.now, &bad, NULL, "bad", NULL), -ENOMEM);
	rig_round(&r, preempt_all); /* the old one is still there */
	assert_int_equal(r.nverdicts, 4);
	asked = 0;
	assert_int_equal(fth_engine_change_policy(r.e, r.now, &good, NULL, "good", NULL), 0);
	assert_true(fth_engine_next_round(r.e, r.now) == r.now);
	rig_round(&r, preempt_all);
	assert_int_equal(asked, 1);
	assert_int_equal(r.nverdicts, 0);
	rig_close(&r);
}

static void months(void **state)
{
	(void)state;
	for (int64_t m = 0; m < 12 * 200; m++) {
		int64_t us = fth_month_start_day(m) * FTH_DAY;
		assert_int_equal(fth_month_of(us), m);
		if (m)
			assert_int_equal(fth_month_of(us - 1), m - 1);
	}
	assert_int_equal(fth_month_start_day(54 * 12 + 2) - fth_month_start_day(54 * 12 + 1), 29); /* February 2024 */
	assert_int_equal(fth_month_start_day(130 * 12 + 2) - fth_month_start_day(130 * 12 + 1), 28); /* of 2100 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dollars_an_hour),
		cmocka_unit_test(dollars_a_month),
		cmocka_unit_test(a_month_that_has_begun),
		cmocka_unit_test(moves_an_hour),
		cmocka_unit_test(share_disturbed),
		cmocka_unit_test(orders_are_judged_but_not_limited),
		cmocka_unit_test(another_policy_takes_over),
		cmocka_unit_test(months),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
