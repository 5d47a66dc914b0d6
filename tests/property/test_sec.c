/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of rigid jobs on random worlds: the laws of the house hold, no node runs two jobs at once, all jobs end,
 * and with exact estimates no job that overtakes delays the start that was promised to the first in the queue (easy), or
 * anybody (conservative).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

enum { NODES = 24 };

static void rigid_world(struct fth_world *w, uint64_t seed, bool exact)
{
	fth_world_init(w);
	struct fth_rng r;
	fth_rng_seed(&r, seed, 1, 0);
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, "node"), .capacity = {{0, 16000, 1024}},
				      .boot = {{1, 126 * FTH_SEC}, {4, 252 * FTH_SEC}, {16, 300 * FTH_SEC}}};
	struct fth_offer o = {.price = 2 * FTH_USD, .available = true, .billing = {FTH_HOUR, 0, FTH_BILL_FROM_ACQUIRED, false, false}};
	if (seed & 1) /* by the minute */
		o.billing = (struct fth_billing){FTH_MINUTE, 10 * FTH_MINUTE, FTH_BILL_FROM_ACQUIRED, false, false};
	fth_vec_push(&w->catalog.types, t);
	fth_vec_push(&w->catalog.offers, o);
	assert_int_equal(fth_catalog_finish(&w->catalog, NULL), 0);
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = {{0, 16000, 0}}};
	struct fth_kind k = {.label = fth_sym_intern(w->syms, "job"), .klass = fth_sym_intern(w->syms, "job"), .nalts = 1, .alts = &alt};
	fth_kind_id kind = fth_kinds_intern(&w->kinds, &k);
	fth_time at = 0;
	for (int i = 0; i < 150; i++) {
		char key[16];
		snprintf(key, sizeof(key), "j%d", i);
		at += (fth_time)fth_rng_below(&r, 600) * FTH_SEC;
		struct fth_task_group g = {.kind = kind, .count = 1 + (uint32_t)fth_rng_below(&r, fth_rng_below(&r, 4) ? 4 : NODES),
					   .work = (1 + (fth_time)fth_rng_below(&r, 7200)) * FTH_SEC, .first_own = FTH_NONE};
		struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key), .kind = FTH_JOB_RIGID, .submit = at, .deadline = FTH_NEVER,
					 .priority = (int32_t)fth_rng_below(&r, 3)};
		j.estimate = exact ? g.work : g.work * (1 + (fth_time)fth_rng_below(&r, 5));
		assert_int_equal(fth_workload_add(&w->workload, &j, &g, 1), 0);
	}
	fth_workload_finish(&w->workload);
}

struct starts {
	struct fth_observer base;
	fth_time start[256];
	uint32_t on_node[4096]; /* job + 1 by instance id */
	bool shared;
};

static void see(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct starts *s = (struct starts *)o;
	if (ev->kind != FTH_EV_TASK_STARTING && ev->kind != FTH_EV_TASK_DONE)
		return;
	const struct fth_task *t = fth_cluster_task(c, ev->task);
	uint32_t *at = &s->on_node[ev->instance % 4096];
	if (ev->kind == FTH_EV_TASK_DONE) {
		*at = 0;
		return;
	}
	s->shared |= *at != 0;
	*at = t->job + 1;
	s->start[t->job] = ev->time;
}

static void run(struct starts *s, uint64_t seed, bool exact, const char *policy, const char *sim)
{
	struct fth_world w;
	struct fth_sim_params p = {0};
	struct fth_policy_choice choice;
	struct fth_error err = {0};
	struct law_watcher laws;
	struct fth_engine *e = NULL;
	rigid_world(&w, seed, exact);
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	assert_int_equal(fth_policy_choose(&choice, fth_policies, policy, &err), 0);
	law_watcher_init(&laws, &w.catalog.pub, true);
	*s = (struct starts){.base = {.after_event = see}};
	laws.base.next = &s->base;
	int code = fth_sim_run(&e, &w, &choice, NULL, &p, &laws.base, NULL, &err);
	if (code || !laws_hold(&laws, e, true))
		print_error("%s, seed %llu: %s %s\n", policy, (unsigned long long)seed, err.text, laws.broken);
	assert_int_equal(code, 0);
	assert_string_equal(laws.broken, "");
	assert_int_equal(fth_engine_stats(e)->rejected, 0);
	assert_int_equal(laws.done_jobs, 150);
	assert_false(s->shared);
	assert_true(cost_over_bound(&w, &p, e, 0) > 0);
	fth_engine_free(e);
	law_watcher_release(&laws);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
}

static void laws_hold_and_no_node_is_shared(void **state)
{
	static const char *const policies[] = {
		"individual", "individual:reuse=true", "nowait", "nowait:placement=random", "local:nodes=24", "local:nodes=24,backfill=conservative",
		"sec", "sec:on_ready=false,size=first", "sec:size=sum,placement=min-margin", "sec:backfill=conservative,order=shortest",
		"sec:order=priority,placement=max-idle", "sec:backfill=none,placement=min-idle,predict=now", "sec:max_nodes=24,t_wait=3600",
	};
	struct starts s;
	(void)state;
	for (size_t i = 0; i < FTH_COUNT(policies); i++)
		for (uint64_t seed = 1; seed <= 8; seed++)
			run(&s, seed, seed & 2, policies[i], seed >= 7 ? "launch_failure=0.2" : "");
}

/* Under conservative backfilling nobody starts later than without any. */
static void conservative_delays_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 20; seed < 24; seed++) {
		struct starts with, without;
		run(&with, seed, true, "local:nodes=24,backfill=conservative", "");
		run(&without, seed, true, "local:nodes=24,backfill=none", "");
		for (int j = 0; j < 150; j++)
			assert_true(with.start[j] <= without.start[j]);
	}
}

/* ---- what was promised to the first in the queue ---- */

struct life {
	fth_time submit, start, end;
	uint32_t size;
};

/* When so many nodes are free, given who runs after the decisions of this instant. */
static fth_time promised(const struct life *jobs, int n, fth_time now, uint32_t size)
{
	uint32_t busy = 0;
	for (int i = 0; i < n; i++)
		busy += jobs[i].start <= now && jobs[i].end > now ? jobs[i].size : 0;
	fth_time best = NODES - busy >= size ? now : FTH_NEVER;
	for (int i = 0; i < n && best != now; i++) {
		uint32_t left = 0;
		if (jobs[i].start > now || jobs[i].end <= now || jobs[i].end >= best)
			continue;
		for (int k = 0; k < n; k++)
			left += jobs[k].start <= now && jobs[k].end > jobs[i].end ? jobs[k].size : 0;
		if (NODES - left >= size)
			best = jobs[i].end;
	}
	return best;
}

/* At every start and end the first in the queue has a promise: it must not start later than that. */
static int late_starts(const struct life *jobs, int n, int *ret_overtaken)
{
	int late = 0;
	for (int at = 0; at < 2 * n; at++) {
		fth_time now = at < n ? jobs[at].start : jobs[at - n].end;
		int top = -1;
		if (now < FTH_HOUR) /* the nodes come up first */
			continue;
		for (int i = 0; i < n; i++)
			if (jobs[i].submit <= now && jobs[i].start > now && (top < 0 || jobs[i].submit < jobs[top].submit))
				top = i;
		if (top < 0)
			continue;
		*ret_overtaken += at < n && jobs[at].submit > jobs[top].submit;
		late += jobs[top].start > promised(jobs, n, now, jobs[top].size);
	}
	return late;
}

static void overtaking_keeps_what_the_first_was_promised(void **state)
{
	int overtaken = 0;
	(void)state;
	for (uint64_t seed = 30; seed < 42; seed++) {
		struct starts s;
		struct fth_world w;
		struct life jobs[150];
		run(&s, seed, true, "local:nodes=24", "");
		rigid_world(&w, seed, true);
		for (int j = 0; j < 150; j++) {
			const struct fth_job_spec *spec = &w.workload.jobs.data[j];
			const struct fth_task_group *g = &w.workload.groups.data[spec->first_group];
			jobs[j] = (struct life){spec->submit, s.start[j], s.start[j] + g->work, g->count};
		}
		fth_world_release(&w);
		assert_int_equal(late_starts(jobs, 150, &overtaken), 0);
		/* The test can fail: a job that ran for an hour longer would have broken promises. */
		if (seed == 30) {
			int ignored = 0;
			for (int j = 0; j < 150; j++)
				jobs[j].start += j % 3 ? 0 : FTH_HOUR;
			assert_true(late_starts(jobs, 150, &ignored) > 0);
		}
	}
	assert_true(overtaken > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laws_hold_and_no_node_is_shared),
		cmocka_unit_test(conservative_delays_nobody),
		cmocka_unit_test(overtaking_keeps_what_the_first_was_promised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
