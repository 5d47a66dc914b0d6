/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies with queues at workers, on random bursts: every task runs once and on one slot at a time (the laws), none is lost by
 * a drain or a revocation, the transients never exceed the budget at any instant, the same seed gives the same bytes, and
 * cloudcoaster that replaces nothing is eagle, event for event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

/* Bursts of short jobs, some long ones: one-slot machines, and transient ones that take a while to come. */
static void burst_world(struct fth_world *w, uint64_t seed, fth_time provisioning, int64_t worker_cpus, int64_t transient_slots)
{
	struct fth_rng rng;
	fth_world_init(w);
	fth_rng_seed(&rng, seed, 1, 0);
	for (int k = 0; k < 2; k++) {
		struct fth_instance_type t = {.name = fth_sym_intern(w->syms, k ? "transient" : "worker")};
		t.family = fth_sym_intern(w->syms, "worker");
		t.capacity.v[FTH_CPU] = 1000 * (k ? transient_slots : worker_cpus);
		t.acquire = fth_delay_fixed(k ? provisioning : 0);
		fth_vec_push(&w->catalog.types, t);
		struct fth_offer o = {.type = (fth_type_id)k, .market = k ? FTH_SPOT : FTH_ON_DEMAND, .available = true};
		o.price = k ? transient_slots * FTH_USD / 3 : FTH_USD;
		o.billing = fth_billing_default();
		fth_vec_push(&w->catalog.offers, o);
	}
	assert_int_equal(fth_catalog_finish(&w->catalog, NULL), 0);
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = 1000;
	struct fth_kind kind = {.label = fth_sym_intern(w->syms, "task"), .nalts = 1, .alts = &alt};
	fth_kind_id id = fth_kinds_intern(&w->kinds, &kind);
	fth_time at = 0;
	for (int k = 0; k < 120; k++) {
		char key[16];
		bool is_long = fth_rng_below(&rng, 6) == 0;
		at += fth_rng_below(&rng, 4) ? (fth_time)fth_rng_below(&rng, 3) * FTH_SEC : (fth_time)fth_rng_below(&rng, 200) * FTH_SEC;
		uint32_t n = 1 + (uint32_t)fth_rng_below(&rng, is_long ? 25 : 12);
		fth_time est = is_long ? 100 * FTH_SEC + (fth_time)fth_rng_below(&rng, 300) * FTH_SEC : (fth_time)fth_rng_below(&rng, 80) * FTH_SEC;
		struct fth_task_group g = {.kind = id, .count = n, .work = est, .first_own = (uint32_t)w->workload.works.len};
		for (uint32_t i = 0; i < n; i++)
			fth_vec_push(&w->workload.works, (fth_time)fth_rng_below(&rng, 2 * (uint64_t)(est / FTH_SEC) + 1) * FTH_SEC);
		snprintf(key, sizeof(key), "j%d", k);
		struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key), .submit = at, .estimate = est, .deadline = FTH_NEVER};
		assert_int_equal(fth_workload_add(&w->workload, &j, &g, 1), 0);
	}
	fth_workload_finish(&w->workload);
}

/* Watches how many transients there are; and hashes what happens to tasks and jobs, whoever decides. */
struct budget_watcher {
	struct fth_observer base;
	uint32_t most;      /* asked for and not gone */
	uint32_t paid;      /* there now, since then */
	fth_time since, spent; /* machine time of all so far */
	uint64_t hash;
};

static void watch_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct budget_watcher *b = (struct budget_watcher *)o;
	uint32_t now = 0;
	b->spent += b->paid * (ev->time - b->since);
	b->since = ev->time;
	b->paid = 0;
	for (fth_instance_id id = c->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(c, id);
		b->paid += c->catalog.offers.data[i->offer].market == FTH_SPOT && i->acquired != FTH_NEVER;
		/* A request that was taken back does not count any more. */
		now += c->catalog.offers.data[i->offer].market == FTH_SPOT && (i->acquired != FTH_NEVER || !i->leaving);
		id = i->next;
	}
	b->most = FTH_MAX(b->most, now);
	if (ev->kind == FTH_EV_TIMER)
		return;
	int64_t seen[] = {ev->kind, ev->time, ev->job, ev->task, ev->instance};
	b->hash = fth_hash_bytes(seen, sizeof(seen), b->hash);
}

struct outcome {
	uint64_t hash, events;
	uint32_t most;
	fth_time spent;
};

static struct outcome run_one(const char *policy, const char *sim, uint64_t seed, int64_t transient_slots)
{
	struct fth_world w;
	struct fth_error err = {0};
	struct fth_policy_choice choice;
	struct fth_sim_params p = {0};
	/* Workers of several slots are slices of machines of twelve. */
	burst_world(&w, seed, 30 * FTH_SEC, strstr(policy, "slots=") ? 12 : 1, transient_slots);
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	assert_int_equal(fth_policy_choose(&choice, fth_policies, policy, &err), 0);
	struct law_watcher laws;
	struct budget_watcher budget = {.base.after_event = watch_event};
	law_watcher_init(&laws, &w.catalog.pub, true);
	laws.base.next = &budget.base;
	struct fth_engine *e = NULL;
	int code = fth_sim_run(&e, &w, &choice, NULL, &p, &laws.base, NULL, &err);
	if (code)
		print_error("%s, seed %llu: %s\n", policy, (unsigned long long)seed, err.text);
	assert_int_equal(code, 0);
	laws_hold(&laws, e, true);
	assert_string_equal(laws.broken, "");
	for (int i = 0; i < FTH_REFUSED_NKINDS; i++)
		if (fth_engine_stats(e)->rejected_by[i])
			print_error("%s, %s, seed %llu: refused: %s\n", policy, sim, (unsigned long long)seed,
				    fth_refusal_name((enum fth_refusal)i));
	assert_int_equal(fth_engine_stats(e)->rejected, 0);
	assert_int_equal(laws.done_tasks, laws.submitted_tasks);
	assert_true(cost_over_bound(&w, &p, e, 0) > 0);
	struct outcome out = {budget.hash, laws.events, budget.most, budget.spent};
	fth_engine_free(e);
	law_watcher_release(&laws);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return out;
}

static void laws_hold_for_all_of_them(void **state)
{
	(void)state;
	static const char *const policies[] = {
		"sparrow:workers=12", "hawk:workers=12,general=75", "eagle:workers=12,general=75", "least-waiting:workers=12",
		"eagle:workers=12,general=100", "eagle:workers=12,general=75,slots=2", "hawk:workers=12,general=75,slots=3", "eagle:workers=12,general=75,sticky=false,delay=0s",
		"eagle:workers=12,general=75,estimates=random,off_bottom=0.5,off_top=2", "hawk:workers=1,general=50",
		"cloudcoaster:workers=12,general=50,r=2", "cloudcoaster:workers=12,general=50,r=3,step=loop,rule=none",
		"cloudcoaster:workers=12,general=50,p=1,step=one", "surge:workers=12,general=50,threshold=0.3", "surge:workers=12,general=50,fund=budget",
		"surge:workers=12,general=50,fund=budget,peak=1,pull=none",
		NULL};
	for (int k = 0; policies[k]; k++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct outcome a = run_one(policies[k], "", seed, 1), b = run_one(policies[k], "", seed, 1);
			assert_true(a.hash == b.hash);
		}
}

static void nothing_is_lost_by_a_revocation(void **state)
{
	(void)state;
	static const char *const policies[] = {"cloudcoaster:workers=12,general=50,threshold=0.3", "surge:workers=12,general=50,fund=budget",
					       "surge:workers=12,general=50,threshold=0.3", NULL};
	static const char *const sims[] = {"revocation_rate=20,notice=5s", "revocation_rate=100,notice=0s",
					   "revocation_rate=20,launch_failure=0.2", NULL};
	for (int k = 0; policies[k]; k++)
		for (int s = 0; sims[s]; s++)
			for (uint64_t seed = 1; seed <= 4; seed++)
				run_one(policies[k], sims[s], seed, 1 + (int64_t)(seed % 3));
}

static void the_budget_is_never_exceeded(void **state)
{
	(void)state;
	/* 12 workers, half short-only, half of those given up: K = 3 r, whatever happens. */
	for (uint64_t seed = 1; seed <= 8; seed++) {
		assert_true(run_one("cloudcoaster:workers=12,general=50,r=2,threshold=0.2", "", seed, 1).most <= 6);
		assert_true(run_one("cloudcoaster:workers=12,general=50,r=3,threshold=0.2", "revocation_rate=30,notice=10s", seed, 1).most <= 9);
		assert_true(run_one("surge:workers=12,general=50,r=3,fund=budget,peak=1", "", seed, 1).most <= 9);
		assert_true(run_one("surge:workers=12,general=50,r=3,fund=budget,peak=2", "", seed, 1).most <= 18);
		/* Machines of four slots: two of them are eight workers. */
		assert_true(run_one("cloudcoaster:workers=12,general=50,r=3,threshold=0.2", "", seed, 4).most <= 2);
		assert_int_equal(run_one("cloudcoaster:workers=12,general=50,r=0.3,threshold=0.2", "", seed, 1).most, 0);
	}
}

/* What it may spend is what cloudcoaster would have; a machine that drains when the bank is empty may go on for a task. */
static void surge_costs_no_more_than_cloudcoaster(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		fth_time coaster = run_one("cloudcoaster:workers=12,general=50,threshold=0.3", "", seed, 1).spent;
		fth_time surge = run_one("surge:workers=12,general=50,threshold=0.3", "", seed, 1).spent;
		assert_true(surge > 0);
		assert_true(surge <= coaster + 9 * 160 * FTH_SEC); /* K, and the longest short task */
	}
}

static void replacing_nothing_is_eagle(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct outcome a = run_one("eagle:workers=12,general=75", "", seed, 1);
		struct outcome b = run_one("cloudcoaster:workers=12,general=75,p=0", "", seed, 1);
		assert_true(a.hash == b.hash);
		assert_int_equal(a.events, b.events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laws_hold_for_all_of_them),
		cmocka_unit_test(nothing_is_lost_by_a_revocation),
		cmocka_unit_test(the_budget_is_never_exceeded),
		cmocka_unit_test(surge_costs_no_more_than_cloudcoaster),
		cmocka_unit_test(replacing_nothing_is_eagle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
