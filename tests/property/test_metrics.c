/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of runs against a plain account of the same runs: one that looks at the whole cluster whenever
 * time passes and adds up what it sees. The policy moves and preempts at random.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/metrics.h"
#include "support.h"

struct plain_job {
	double observed, done; /* time of its running tasks with a speed, and speed x time */
	fth_time submitted, started, ended, executing;
};

struct plain {
	struct fth_observer base;
	fth_time now, window_from, window_to;
	double up, tasks, used[3], capacity[3], window_up, window_tasks;
	double cost, boot, idle, unused;
	FTH_VEC(struct plain_job) jobs;
	uint64_t launched, done_tasks;
	uint32_t live_max;
	fth_money charged;
};

static void look_at_instance(struct plain *p, const struct fth_cluster *c, const struct fth_instance *i, double s,
			     double window)
{
	double price = (double)c->view.catalog->offers[i->offer].price / 1e9 / 3600, greatest = 0;
	const struct fth_res *cap = &c->view.catalog->types[i->type].capacity;
	if (i->acquired == FTH_NEVER || i->state == FTH_INSTANCE_GONE)
		return;
	p->cost += price * s;
	if (i->ready == FTH_NEVER)
		p->boot += price * s;
	else if (!i->ncommitted && !i->nheld)
		p->idle += price * s;
	if (i->state == FTH_INSTANCE_TERMINATING)
		return;
	p->up += s;
	p->window_up += window;
	uint32_t n = 0;
	struct fth_res sum = {0};
	for (fth_task_id id = i->first_committed; id != FTH_NONE; n++) {
		const struct fth_task *t = fth_cluster_task(c, id);
		fth_res_add(&sum, &fth_cluster_alt(c, t, i->type)->demand);
		id = t->next_committed;
	}
	p->tasks += n * s;
	p->window_tasks += n * window;
	for (int r = 0; r < 3; r++) {
		p->used[r] += (double)sum.v[r] * s;
		p->capacity[r] += (double)cap->v[r] * s;
		if (cap->v[r])
			greatest = fmax(greatest, (double)sum.v[r] / (double)cap->v[r]);
	}
	if (i->ready != FTH_NEVER && (i->ncommitted || i->nheld))
		p->unused += price * s * (1 - greatest);
}

static void look_at_job(struct plain *p, const struct fth_cluster *c, const struct fth_job *j, fth_time d)
{
	uint32_t running = 0, left = 0;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		enum fth_task_state s = fth_cluster_task(c, j->first_task + k)->state;
		const struct fth_task *t = fth_cluster_task(c, j->first_task + k);
		if (s == FTH_TASK_RUNNING && t->rate >= 0) {
			p->jobs.data[j->id].observed += (double)d;
			p->jobs.data[j->id].done += t->rate * (double)d;
		}
		running += s == FTH_TASK_RUNNING;
		left += s != FTH_TASK_DONE;
	}
	if (j->kind == FTH_JOB_COUPLED ? running == left && left : running > 0)
		p->jobs.data[j->id].executing += d;
}

static void pass(struct plain *p, const struct fth_cluster *c, fth_time now)
{
	fth_time d = now - p->now;
	fth_time in = FTH_MIN(now, p->window_to) - FTH_MAX(p->now, p->window_from);
	assert_true(d >= 0);
	for (fth_instance_id id = c->view.first_instance; d && id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(c, id);
		look_at_instance(p, c, i, (double)d / 1e6, in > 0 ? (double)in / 1e6 : 0);
		id = i->next;
	}
	for (fth_job_id id = c->view.first_job; d && id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(c, id);
		look_at_job(p, c, j, d);
		id = j->next;
	}
	p->now = now;
}

static void plain_before_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct plain *p = (struct plain *)o;
	pass(p, c, ev->time);
	if (ev->kind == FTH_EV_JOB_DONE)
		p->jobs.data[ev->job].ended = ev->time;
	if (ev->kind == FTH_EV_TASK_RUNNING) {
		struct plain_job *j = &p->jobs.data[fth_cluster_task(c, ev->task)->job];
		j->started = FTH_MIN(j->started, ev->time);
	}
	p->launched += ev->kind == FTH_EV_INSTANCE_ACQUIRED;
	p->done_tasks += ev->kind == FTH_EV_TASK_DONE;
}

static void plain_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *j)
{
	struct plain *p = (struct plain *)o;
	struct plain_job fresh = {.submitted = j->submitted, .started = FTH_NEVER, .ended = FTH_NEVER};
	pass(p, c, j->submitted);
	assert_int_equal(p->jobs.len, j->id);
	fth_vec_push(&p->jobs, fresh);
	p->live_max = FTH_MAX(p->live_max, c->view.ntasks);
}

static void plain_before_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now)
{
	pass((struct plain *)o, c, now);
}

static void plain_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	(void)c;
	((struct plain *)o)->charged += charge->amount;
}

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fmax(1, fabs(b)))) {
		print_error("%.12g is not %.12g\n", a, b);
		fail();
	}
}

static void check_jobs(const struct plain *p, const struct fth_run *r, const struct fth_workload *w)
{
	double jct = 0, wait = 0, idle = 0, speed = 0;
	uint64_t moves = 0;
	assert_int_equal(r->job_list.len, p->jobs.len);
	for (size_t i = 0; i < p->jobs.len; i++) {
		const struct plain_job *a = &p->jobs.data[i];
		const struct fth_run_job *b = &r->job_list.data[i];
		assert_int_equal(a->submitted, b->submitted);
		assert_int_equal(a->started, b->started);
		assert_int_equal(a->ended, b->ended);
		assert_int_equal(a->executing, b->executing);
		assert_int_equal(b->standalone, w->groups.data[w->jobs.data[i].first_group].work);
		jct += (double)(a->ended - a->submitted) / 1e6;
		wait += (double)(a->started - a->submitted) / 1e6;
		idle += (double)(a->ended - a->submitted - a->executing) / 1e6;
		near(b->speed, a->done / a->observed);
		speed += b->speed;
		moves += b->moves;
	}
	double n = (double)p->jobs.len;
	assert_int_equal(r->jobs, p->jobs.len);
	assert_int_equal(r->jobs_unfinished, 0);
	assert_int_equal(r->migrations, moves);
	near(r->jct_mean_s, jct / n);
	near(r->wait_mean_s, wait / n);
	near(r->idle_mean_s, idle / n);
	near(r->norm_throughput, speed / n);
}

static void check_series(const struct plain *p, const struct fth_run *r)
{
	double cost = 0, up = 0, tasks = 0, by_type = 0, used[3] = {0};
	for (size_t i = 0; i < r->buckets.len; i++) {
		double here = 0;
		for (uint32_t t = 0; t < r->ntypes; t++)
			here += r->type_seconds.data[i * r->ntypes + t];
		near(here, r->buckets.data[i].instances);
		cost += r->buckets.data[i].cost_usd;
		up += r->buckets.data[i].instances;
		tasks += r->buckets.data[i].tasks;
		for (int k = 0; k < 3; k++)
			used[k] += r->buckets.data[i].used[k];
	}
	for (size_t i = 0; i < r->type_seconds.len; i++)
		by_type += r->type_seconds.data[i];
	near(cost, p->cost);
	near(up, p->up);
	near(tasks, p->tasks);
	near(by_type, p->up);
	for (int k = 0; k < 3; k++)
		near(used[k], p->used[k]);
	assert_true(r->buckets.len <= FTH_RUN_BUCKETS);
}

static void check_machines(const struct plain *p, const struct fth_run *r)
{
	fth_money sum = 0;
	near(r->tasks_per_instance, p->tasks / p->up);
	near(r->window_tasks_per_instance, p->window_tasks / p->window_up);
	for (int k = 0; k < 3; k++)
		near(r->alloc[k], p->used[k] / p->capacity[k]);
	near(r->waste_boot_usd, p->boot);
	near(r->waste_idle_usd, p->idle);
	/* Shares are counted in millionths. */
	assert_true(fabs(r->waste_fragmentation_usd - p->unused) <= 2e-6 * p->cost);
	assert_int_equal(r->cost, p->charged);
	assert_int_equal(r->instances_launched, p->launched);
	assert_int_equal(r->instance_list.len, p->launched);
	for (size_t i = 0; i < r->instance_list.len; i++)
		sum += r->instance_list.data[i].cost;
	assert_int_equal(sum, r->cost);
	assert_int_equal(r->tasks, p->done_tasks);
	assert_int_equal(r->live_tasks_max, p->live_max);
}

static void run_once(uint64_t seed, const struct fth_policy_ops *ops, const char *sim)
{
	struct random_world_options o = {.seed = seed, .jobs = 80, .coupled = seed & 1, .by_family = seed & 2,
					 .drawn_delays = seed & 4, .step = seed & 8};
	struct fth_world w;
	random_world(&w, &o);
	struct fth_sim_params params = {0};
	fth_params_defaults(fth_sim_param_table, &params);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &params, "sim", sim, NULL), 0);
	struct fth_policy_choice choice = {.ops = ops};
	struct plain p = {.window_from = FTH_HOUR, .window_to = 3 * FTH_HOUR};
	p.base = (struct fth_observer){.before_event = plain_before_event, .on_submit = plain_submit,
				       .before_plan = plain_before_plan, .on_charge = plain_charge};
	struct fth_metrics *m = fth_metrics_new(&w.catalog.pub, p.window_from, p.window_to);
	fth_metrics_workload(m, &w.workload);
	p.base.next = fth_metrics_observer(m);
	struct fth_engine *e = NULL;
	struct fth_error err = {0};
	int code = fth_sim_run(&e, &w, &choice, NULL, &params, &p.base, NULL, &err);
	if (code)
		print_error("%s: %s\n", ops->name, err.text);
	assert_int_equal(code, 0);
	struct fth_run run;
	fth_run_init(&run);
	fth_metrics_finish(m, e, p.now, &run);
	check_jobs(&p, &run, &w.workload);
	check_series(&p, &run);
	check_machines(&p, &run);
	assert_int_equal(run.ended_at, p.now);
	assert_string_equal(fth_run_type_name(&run, 0), "g.1x");
	if (ops == &toy_mover)
		assert_true(run.migrations > 0);
	fth_run_release(&run);
	fth_metrics_free(m);
	fth_engine_free(e);
	fth_vec_release(&p.jobs);
	fth_world_release(&w);
}

static void metrics_agree_with_a_plain_account(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 16; seed++)
		run_once(seed, &toy_mover, "");
}

static void metrics_agree_when_launches_fail_and_actions_are_refused(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		run_once(seed, &toy_mover, "launch_failure=0.2");
		run_once(seed, &toy_mover, "boot_delay_scale=8"); /* tasks are moved that have not started */
		run_once(seed, &toy_liar, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_agree_with_a_plain_account),
		cmocka_unit_test(metrics_agree_when_launches_fail_and_actions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
