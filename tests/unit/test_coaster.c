/* SPDX-License-Identifier: Apache-2.0 */
/* Stickiness, the transient part of the short partition (budget, drain, notices, copies) and surge's bank, worked by hand. */
#include "hybrid_rig.h"

#include "model/plan.h"

static struct fth_plan plan;
static struct fth_view view;
static struct fth_catalog catalog;
static struct fth_instance_type types[1];
static struct fth_offer offers[2];

/* Of eight servers, four short-only, two were given up: K = 2 r transients at half the price of the others. */
static struct fth_hybrid *coaster(double r, double threshold)
{
	struct fth_hybrid *h = rig();
	traits = (struct fth_hybrid_traits){.partition = true, .long_central = true, .hints = true, .srpt = true, .transients = true};
	params.r = r;
	params.p = 0.5;
	params.threshold = threshold;
	params.count_pending = true;
	types[0].capacity.v[FTH_CPU] = 1000;
	offers[0] = (struct fth_offer){.market = FTH_ON_DEMAND, .available = true, .price = FTH_USD};
	offers[1] = (struct fth_offer){.market = FTH_SPOT, .available = true, .price = FTH_USD / 2};
	catalog = (struct fth_catalog){.types = types, .ntypes = 1, .offers = offers, .noffers = 2};
	view = (struct fth_view){.catalog = &catalog};
	fth_plan_reset(&plan, 8);
	h->view = &view;
	h->plan = &plan;
	h->launched = true;
	h->waking = FTH_NEVER;
	h->slices = 1;
	h->coaster = fth_coaster_new(2);
	return h;
}

static void end(struct fth_hybrid *h)
{
	fth_hybrid_free(h);
	fth_plan_release(&plan);
	plan = (struct fth_plan){0};
}

static void happens(struct fth_hybrid *h, fth_time now, enum fth_event_kind kind, fth_task_id task, fth_instance_id i)
{
	struct fth_event ev = {.kind = kind, .time = now, .job = FTH_NONE, .task = task, .instance = i, .offer = FTH_NONE};
	struct fth_round round = {.view = &view, .now = now, .events = &ev, .nevents = kind != FTH_EV_TIMER};
	assert_int_equal(fth_hybrid_decide(h, &round, &plan), 0);
}

/* The actions of a kind; and the last one's instance and task. */
static unsigned count(enum fth_action_kind kind, fth_instance_id *ret_instance, fth_task_id *ret_task)
{
	unsigned n = 0;
	for (size_t k = 0; k < plan.actions.len; k++)
		if (plan.actions.data[k].kind == kind) {
			n++;
			if (ret_instance)
				*ret_instance = plan.actions.data[k].instance;
			if (ret_task)
				*ret_task = plan.actions.data[k].task;
		}
	return n;
}

static void busy(struct fth_hybrid *h, uint32_t n)
{
	uint32_t w[8];
	fth_central_assign(&h->central, n, 100 * FTH_SEC, h->now, w);
}

static void machines_come_until_the_ratio_or_the_budget(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(2, 0.4);
	busy(h, 4);
	fth_coaster_look(h); /* 4/8, 4/9, then 4/10 is not above 0.4 */
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 2);
	fth_coaster_look(h); /* equal: nothing */
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 2);
	params.threshold = 0.2; /* would take twelve; K = 4 */
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 4);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 4);
	/* One that drains still counts: two are up, one drains, one is asked for; no room for a fifth. */
	happens(h, FTH_SEC, FTH_EV_INSTANCE_READY, FTH_NONE, 8);
	happens(h, FTH_SEC, FTH_EV_INSTANCE_READY, FTH_NONE, 9);
	assert_int_equal(h->up.len, 2);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 4);
	end(h);

	h = coaster(2, 0.2);
	params.step = FTH_STEP_ONE;
	busy(h, 4);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 1);
	end(h);

	h = coaster(0.4, 0.2); /* K = floor(0.8) = 0 */
	busy(h, 4);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 0);
	end(h);
}

static void requests_are_taken_back_newest_first_one_at_a_look(void **state)
{
	(void)state;
	fth_instance_id last;
	struct fth_hybrid *h = coaster(2, 0.2);
	busy(h, 4);
	fth_coaster_look(h);
	for (uint32_t w = 0; w < 4; w++)
		fth_central_ended(&h->central, w, 0, 100 * FTH_SEC, 0);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_TERMINATE, &last, NULL), 1);
	assert_int_equal(last, 11);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_TERMINATE, &last, NULL), 2);
	assert_int_equal(last, 10);
	params.step = FTH_STEP_LOOP;
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_TERMINATE, &last, NULL), 4);
	assert_int_equal(last, 8);
	end(h);
}

/* A worker that was handed a task of the job asks it again for the next, without another probe; while it drains, once a probe. */
static void a_worker_sticks_to_its_probe_and_drains_without_losing_any(void **state)
{
	(void)state;
	fth_instance_id last;
	fth_task_id task;
	struct fth_hybrid *h = coaster(2, 0.45);
	busy(h, 4);
	fth_coaster_look(h); /* 4/8, then 4/9 is below */
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 1);
	h->central.nbusy = 5; /* 5/9: so that it is not let go as soon as it is there */
	params.r = 0.5;       /* nor another asked for */
	happens(h, FTH_SEC, FTH_EV_INSTANCE_READY, FTH_NONE, 8);
	assert_int_equal(h->up.len, 1);
	uint32_t w = h->up.data[0], s = job(h, 4, 10 * FTH_SEC, 40 * FTH_SEC, false);
	h->jobs.data[s].first = 100;
	queue(h, w, s, 0);
	fth_hybrid_serve(h, w);
	assert_int_equal(count(FTH_ACT_PLACE, &last, &task), 1);
	assert_int_equal(last, 8);
	assert_int_equal(task, 100);
	assert_int_equal(h->workers.data[w].len, 1); /* it stays */
	happens(h, 12 * FTH_SEC, FTH_EV_TASK_DONE, 100, 8);
	assert_int_equal(count(FTH_ACT_PLACE, NULL, &task), 2);
	assert_int_equal(task, 101);

	/* No long work any more: it leaves the lists at once, but goes on. */
	h->central.nbusy = 0;
	fth_coaster_look(h);
	assert_int_equal(h->up.len, 0);
	assert_int_equal(h->workers.data[w].state, FTH_WORKER_DRAINING);
	assert_int_equal(count(FTH_ACT_TERMINATE, NULL, NULL), 0);
	happens(h, 23 * FTH_SEC, FTH_EV_TASK_DONE, 101, 8);
	assert_int_equal(count(FTH_ACT_PLACE, NULL, &task), 3);
	assert_int_equal(task, 102);
	assert_int_equal(h->workers.data[w].len, 0); /* the probe is used up */
	assert_int_equal(count(FTH_ACT_TERMINATE, NULL, NULL), 0);
	happens(h, 34 * FTH_SEC, FTH_EV_TASK_DONE, 102, 8);
	assert_int_equal(count(FTH_ACT_PLACE, NULL, NULL), 3); /* the fourth task is for others */
	assert_int_equal(count(FTH_ACT_TERMINATE, &last, NULL), 1);
	assert_int_equal(last, 8);
	end(h);

	/* Without stickiness the probe goes with its first task. */
	h = coaster(2, 0.5);
	params.sticky = false;
	s = job(h, 2, 10 * FTH_SEC, 20 * FTH_SEC, false);
	queue(h, 0, s, 0);
	fth_hybrid_serve(h, 0);
	assert_int_equal(h->workers.data[0].len, 0);
	end(h);
}

static void an_idle_one_waits_for_probes_on_their_way(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(2, 0.45);
	busy(h, 4);
	fth_coaster_look(h);
	h->central.nbusy = 0;
	/* It is let go as it comes, but a probe may have been sent to it: 2.5 ms. */
	happens(h, FTH_SEC, FTH_EV_INSTANCE_READY, FTH_NONE, 8);
	assert_int_equal(h->workers.data[8].state, FTH_WORKER_DRAINING);
	happens(h, FTH_SEC + 2499, FTH_EV_TIMER, FTH_NONE, FTH_NONE);
	assert_int_equal(count(FTH_ACT_TERMINATE, NULL, NULL), 0);
	happens(h, FTH_SEC + 2500, FTH_EV_TIMER, FTH_NONE, FTH_NONE);
	assert_int_equal(count(FTH_ACT_TERMINATE, NULL, NULL), 1);
	end(h);
}

static void what_is_queued_on_a_machine_that_is_taken_goes_on_to_one_that_stays(void **state)
{
	(void)state;
	uint32_t to[16];
	struct fth_hybrid *h = coaster(2, 0.45);
	busy(h, 4);
	fth_coaster_look(h);
	h->central.nbusy = 5;
	params.r = 0.5;
	happens(h, FTH_SEC, FTH_EV_INSTANCE_READY, FTH_NONE, 8);
	uint32_t w = h->up.data[0], a = job(h, 2, 10 * FTH_SEC, 20 * FTH_SEC, false), b = job(h, 3, 20 * FTH_SEC, 60 * FTH_SEC, false);
	h->jobs.data[a].first = 100;
	queue(h, w, a, 0);
	queue(h, w, b, 0);
	fth_hybrid_serve(h, w); /* runs a's first; both probes are still queued */
	happens(h, 2 * FTH_SEC, FTH_EV_REVOCATION_NOTICE, FTH_NONE, 8);
	assert_int_equal(h->up.len, 0);
	assert_int_equal(h->workers.data[w].len, 0);
	assert_int_equal(sent(h, FTH_ONE_WAY, to), 2);
	assert_true(to[0] < 4 && to[1] < 4);
	/* The task that falls with it is handed out again, by a worker that stays. */
	happens(h, 3 * FTH_SEC, FTH_EV_TASK_LOST, 100, 8);
	bool again = false;
	for (size_t k = 0; k < plan.actions.len; k++)
		again |= plan.actions.data[k].kind == FTH_ACT_PLACE && plan.actions.data[k].task == 100 && plan.actions.data[k].instance < 4;
	assert_true(again);
	end(h);
}

static void enough_copies_are_on_workers_that_stay(void **state)
{
	(void)state;
	static const struct {
		int rule;
		uint32_t least, most;
	} cases[] = {{FTH_RULE_TASK, 5, 10}, {FTH_RULE_JOB, 1, 4}, {FTH_RULE_NONE, 0, 4}};
	for (size_t c = 0; c < FTH_COUNT(cases); c++) {
		struct fth_hybrid *h = coaster(2, 0.5);
		uint32_t to[64], near, far, stay = 0;
		params.rule = cases[c].rule;
		params.min_probes = 10;
		/* A hundred transients: of ten probes few would be elsewhere. */
		for (fth_instance_id i = 8; i < 108; i++)
			fth_vec_push(&h->up, fth_hybrid_add_workers(h, i, 1, true));
		fth_hybrid_arrive(h, job(h, 5, FTH_SEC, 5 * FTH_SEC, false));
		near = sent(h, FTH_ONE_WAY, to);
		far = sent(h, FTH_TWO_WAYS, to + near);
		assert_int_equal(near + far, 10);
		for (uint32_t k = 0; k < near + far; k++)
			stay += to[k] < 8;
		assert_in_range(stay, cases[c].least, cases[c].most);
		end(h);
	}
}

static void a_price_that_rises_takes_the_budget_down(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(0, 0.2); /* as the market has it: r = 2, K = 4 */
	busy(h, 4);
	fth_coaster_look(h);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 4);
	offers[1].price = FTH_USD; /* r = 1, K = 2 */
	happens(h, FTH_SEC, FTH_EV_OFFER_CHANGED, FTH_NONE, FTH_NONE);
	assert_int_equal(count(FTH_ACT_TERMINATE, NULL, NULL), 2);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 4);
	offers[1].price = FTH_USD / 2;
	happens(h, 2 * FTH_SEC, FTH_EV_OFFER_CHANGED, FTH_NONE, FTH_NONE);
	assert_int_equal(count(FTH_ACT_LAUNCH, NULL, NULL), 6); /* two again */
	end(h);
}

static void a_cancelled_job_leaves_nothing_booked(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(2, 0.95);
	uint32_t keep = job(h, 1, 50 * FTH_SEC, 50 * FTH_SEC, true), gone = job(h, 6, 100 * FTH_SEC, 600 * FTH_SEC, true), w[8];
	h->jobs.data[keep].central = h->jobs.data[gone].central = true;
	h->jobs.data[gone].id = 7;
	fth_map_put(&h->job_of, 7, gone);
	h->jobs.data[gone].first = 100;
	/* One task of it runs, four are queued, one is on its way; one of another job is queued as well. */
	fth_central_assign(&h->central, 1, 50 * FTH_SEC, 0, w);
	queue(h, h->nshort + w[0], keep, 0);
	fth_central_assign(&h->central, 6, 100 * FTH_SEC, 0, w);
	for (int k = 0; k < 5; k++)
		queue(h, h->nshort + w[k], gone, 0);
	fth_hybrid_send(h, h->nshort + w[5], gone, FTH_ONE_WAY);
	fth_hybrid_serve(h, h->nshort + w[0]);
	assert_int_equal(count(FTH_ACT_PLACE, NULL, NULL), 1);
	assert_int_equal(h->central.nbusy, 4);
	struct fth_event ev = {.kind = FTH_EV_JOB_CANCELLED, .time = 0, .job = 7, .task = FTH_NONE, .instance = FTH_NONE, .offer = FTH_NONE};
	struct fth_round round = {.view = &view, .now = 0, .events = &ev, .nevents = 1};
	assert_int_equal(fth_hybrid_decide(h, &round, &plan), 0);
	assert_int_equal(h->central.nbusy, 1);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(h->central.work[k], k ? 0 : 50 * FTH_SEC);
	end(h);
}

static uint32_t wanted(struct fth_hybrid *h, fth_time later, uint32_t have, uint32_t budget)
{
	h->now += later;
	fth_surge_pay(h, have, budget);
	return fth_surge_wanted(h, budget);
}

static void surge_spends_what_it_saved(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(2, 0.95);
	params.target = 20 * FTH_SEC;
	params.peak = 3;
	params.fund = FTH_FUND_BUDGET;
	h->short_work = 1000 * 20 * FTH_SEC; /* a thousand workers would be right */
	assert_int_equal(wanted(h, FTH_SEC, 0, 4), 4); /* nothing saved yet */
	assert_int_equal(wanted(h, FTH_MINUTE, 0, 4), 6); /* 4 x 1 min unused, within two minutes: two more */
	assert_int_equal(wanted(h, FTH_HOUR, 12, 4), 12); /* never more than peak x K */
	assert_int_equal(wanted(h, 31 * FTH_MINUTE, 12, 4), 2); /* 61 x 4 saved, 31 x 8 gone: four owed, two fewer for two minutes */
	assert_int_equal(wanted(h, FTH_MINUTE, 0, 4), 0); /* eight more, by those that were still there */
	assert_int_equal(wanted(h, 3 * FTH_MINUTE, 0, 4), 4);
	h->short_work = 0;
	assert_int_equal(wanted(h, 0, 4, 4), 0);
	end(h);
}

static void surge_spends_no_more_than_the_long_load_ratio_would(void **state)
{
	(void)state;
	struct fth_hybrid *h = coaster(2, 0.4);
	traits.surge = true;
	params.target = 20 * FTH_SEC;
	params.peak = 3;
	h->short_work = 1000 * 20 * FTH_SEC;
	h->lag = FTH_MINUTE;
	h->now = FTH_SEC;
	fth_coaster_look(h);
	assert_int_equal(wanted(h, 0, 0, 4), 0); /* no long work: cloudcoaster would have none */
	busy(h, 4);
	fth_coaster_look(h); /* 4/8, 4/9, then 4/10 is not above 0.4 */
	assert_int_equal(h->followed, 2);
	assert_int_equal(wanted(h, 0, 0, 4), 2);
	assert_int_equal(wanted(h, 59 * FTH_SEC, 0, 4), 2); /* they are not there yet, and not paid */
	assert_int_equal(wanted(h, 3 * FTH_MINUTE + FTH_SEC, 0, 4), 5); /* since three minutes: six saved */
	fth_central_ended(&h->central, 0, 0, 100 * FTH_SEC, h->now);
	fth_coaster_look(h); /* 3/10: one goes */
	assert_int_equal(h->followed, 1);
	busy(h, 1);
	fth_coaster_look(h); /* one is asked for again, and taken back before it comes */
	assert_int_equal(h->followed_coming, 1);
	fth_central_ended(&h->central, 0, 0, 100 * FTH_SEC, h->now);
	fth_coaster_look(h);
	assert_int_equal(h->followed_coming, 0);
	assert_int_equal(h->followed, 1);
	assert_int_equal(wanted(h, 0, 12, 4), 4);
	assert_int_equal(wanted(h, FTH_MINUTE, 0, 4), 0); /* 6 saved, 11 spent */
	end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_come_until_the_ratio_or_the_budget),
		cmocka_unit_test(requests_are_taken_back_newest_first_one_at_a_look),
		cmocka_unit_test(a_worker_sticks_to_its_probe_and_drains_without_losing_any),
		cmocka_unit_test(an_idle_one_waits_for_probes_on_their_way),
		cmocka_unit_test(what_is_queued_on_a_machine_that_is_taken_goes_on_to_one_that_stays),
		cmocka_unit_test(enough_copies_are_on_workers_that_stay),
		cmocka_unit_test(a_price_that_rises_takes_the_budget_down),
		cmocka_unit_test(a_cancelled_job_leaves_nothing_booked),
		cmocka_unit_test(surge_spends_what_it_saved),
		cmocka_unit_test(surge_spends_no_more_than_the_long_load_ratio_would),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
