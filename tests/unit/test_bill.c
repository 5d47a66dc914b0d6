/* SPDX-License-Identifier: Apache-2.0 */
/* The bill: worked by hand, and summing to the ledger whatever happens. */
#include "engine_rig.h"

#include "report/bill.h"

static fth_task_id first, second;
static fth_instance_id machine;

static void launch_and_place(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_offer_id offer = A_BIG;
	machine = fth_plan_launch(p, &offer, 1, why);
	fth_plan_place(p, first, machine, why);
	fth_plan_place(p, second, machine, why);
}

static void end(struct rig *r, const struct fth_round *round, struct fth_plan *p)
{
	(void)r, (void)round;
	fth_plan_terminate(p, machine, why);
}

static void assert_sums(struct fth_biller *b, struct rig *r, fth_money open)
{
	struct fth_bill bill;
	fth_money jobs = 0, users = 0, parts = 0;
	fth_biller_bill(b, r->e, r->now, &bill);
	for (size_t i = 0; i < bill.jobs.len; i++)
		jobs += bill.jobs.data[i].used + bill.jobs.data[i].lost;
	for (size_t i = 0; i < bill.users.len; i++)
		users += bill.users.data[i].used + bill.users.data[i].lost;
	for (int k = 0; k < FTH_BILL_NPARTS; k++)
		parts += bill.part[k];
	assert_int_equal(bill.total, fth_engine_ledger(r->e)->total + open);
	assert_int_equal(parts, bill.total);
	assert_int_equal(jobs, bill.part[FTH_BILL_USED] + bill.part[FTH_BILL_LOST]);
	assert_int_equal(users, jobs);
	fth_bill_release(&bill);
}

/* One dollar an hour. An hour of boot, an hour of both (1 and 2 of 4 CPUs: a quarter and a half used, a quarter
 * left over), an hour of the first alone, an hour of nothing. */
static void worked_by_hand(void **state)
{
	(void)state;
	struct rig r;
	rig_open(&r, 0, NULL);
	struct fth_biller *b = fth_biller_new();
	fth_engine_observe(r.e, fth_biller_observer(b));
	first = rig_submit(&r, "one", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "x", 1), 1, NULL);
	second = rig_submit(&r, "two", FTH_JOB_INDEPENDENT, small_cpus(&r.w, "y", 2), 1, NULL);
	rig_round(&r, launch_and_place);
	rig_feed(&r, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, machine);
	r.now = FTH_HOUR;
	rig_feed(&r, FTH_EV_INSTANCE_READY, FTH_NONE, machine);
	rig_run(&r, first);
	rig_run(&r, second);
	r.now = FTH_HOUR + FTH_HOUR / 2;
	assert_sums(b, &r, FTH_USD + FTH_USD / 2); /* looked at on the way, which must change nothing */
	r.now = 2 * FTH_HOUR;
	rig_feed(&r, FTH_EV_TASK_LOST, second, machine);
	r.now = 3 * FTH_HOUR;
	rig_feed(&r, FTH_EV_TASK_DONE, first, machine);
	r.now = 4 * FTH_HOUR;
	rig_round(&r, end);
	rig_feed(&r, FTH_EV_INSTANCE_GONE, FTH_NONE, machine);
	assert_int_equal(fth_engine_ledger(r.e)->total, 4 * FTH_USD);
	struct fth_bill bill;
	fth_biller_bill(b, r.e, r.now, &bill);
	assert_int_equal(bill.total, 4 * FTH_USD);
	assert_int_equal(bill.part[FTH_BILL_BOOT], FTH_USD);
	assert_int_equal(bill.part[FTH_BILL_IDLE], FTH_USD);
	assert_int_equal(bill.part[FTH_BILL_USED], FTH_USD / 2);
	assert_int_equal(bill.part[FTH_BILL_LOST], FTH_USD / 2);
	assert_int_equal(bill.part[FTH_BILL_FRAGMENTED], FTH_USD);
	assert_int_equal(bill.jobs.data[0].used, FTH_USD / 2);
	assert_int_equal(bill.jobs.data[0].ran, 2 * FTH_HOUR);
	assert_int_equal(bill.jobs.data[1].used, 0);
	assert_int_equal(bill.jobs.data[1].lost, FTH_USD / 2);
	assert_int_equal(bill.instances.len, 1);
	assert_int_equal(bill.instances.data[0].gone, 4 * FTH_HOUR);
	fth_bill_release(&bill);
	assert_sums(b, &r, 0);
	rig_close(&r);
	fth_biller_free(b);
}

/* Awkward amounts and random lengths: the parts must sum to the last nano-dollar. */
static void sums_to_the_nano_dollar(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct fth_rng rng;
		struct rig r;
		fth_rng_seed(&rng, seed, 1, 0);
		rig_open(&r, 0, NULL);
		struct fth_biller *b = fth_biller_new();
		fth_engine_observe(r.e, fth_biller_observer(b));
		for (int k = 0; k < 6; k++) {
			char key[8];
			snprintf(key, sizeof(key), "a%d", k);
			first = rig_submit(&r, key, FTH_JOB_INDEPENDENT, small_cpus(&r.w, "x", 1 + k % 2), 1, NULL);
			snprintf(key, sizeof(key), "b%d", k);
			second = rig_submit(&r, key, FTH_JOB_INDEPENDENT, small_cpus(&r.w, "y", 1), 1, NULL);
			rig_round(&r, launch_and_place);
			rig_feed(&r, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, machine);
			r.now += (fth_time)(fth_rng_u64(&rng) % 7777777);
			rig_feed(&r, FTH_EV_INSTANCE_READY, FTH_NONE, machine);
			rig_run(&r, first);
			r.now += (fth_time)(fth_rng_u64(&rng) % 77777777777);
			rig_run(&r, second);
			r.now += (fth_time)(fth_rng_u64(&rng) % 777);
			assert_sums(b, &r, fth_ledger_accrued(fth_engine_ledger(r.e), machine, r.now));
			rig_feed(&r, FTH_EV_TASK_DONE, first, machine);
			r.now += (fth_time)(fth_rng_u64(&rng) % 7777777);
			if (fth_rng_u64(&rng) & 1) {
				rig_feed(&r, FTH_EV_INSTANCE_REVOKED, FTH_NONE, machine);
			} else {
				rig_feed(&r, FTH_EV_TASK_DONE, second, machine);
				rig_round(&r, end);
				rig_feed(&r, FTH_EV_INSTANCE_GONE, FTH_NONE, machine);
			}
			assert_sums(b, &r, 0);
		}
		rig_close(&r);
		fth_biller_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(worked_by_hand), cmocka_unit_test(sums_to_the_nano_dollar)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
