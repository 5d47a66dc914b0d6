/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: the next thing on the virtual clock, the rounds, the end. See README.md. */
#include "sim/internal.h"

#include <time.h>

const struct fth_param fth_sim_param_table[] = {
	{"seed", FTH_PARAM_INT, offsetof(struct fth_sim_params, seed), "1", 0, 9e15, NULL, "seed of every random draw"},
	{"launch_failure", FTH_PARAM_REAL, offsetof(struct fth_sim_params, launch_failure), "0", 0, 1, NULL,
	 "probability that a launch fails for want of capacity"},
	{"job_delay_scale", FTH_PARAM_REAL, offsetof(struct fth_sim_params, job_delay_scale), "1", 0, 1000, NULL,
	 "times every stop, save, fetch, set-up and init of tasks"},
	{"boot_delay_scale", FTH_PARAM_REAL, offsetof(struct fth_sim_params, boot_delay_scale), "1", 0, 1000, NULL,
	 "times acquisition and set-up of instances"},
	{"pair_speed", FTH_PARAM_REAL, offsetof(struct fth_sim_params, pair_speed), "0", 0, 1, NULL,
	 "if above 0, the speed of every pair of co-located tasks, whatever the profile says"},
	{"max_instances", FTH_PARAM_INT, offsetof(struct fth_sim_params, max_instances), "1000000", 1, 4e9, NULL,
	 "launches beyond this many instances at once are refused"},
	{"horizon", FTH_PARAM_DURATION, offsetof(struct fth_sim_params, horizon), "0", 0, 1e12, NULL,
	 "stop here even if jobs are left; 0: run to the end"},
	{"exact_estimates", FTH_PARAM_BOOL, offsetof(struct fth_sim_params, exact_estimates), "false", 0, 0, NULL,
	 "tell every policy the true runtimes as estimates"},
	{"decide_limit", FTH_PARAM_DURATION, offsetof(struct fth_sim_params, decide_limit), "0", 0, 1e6, NULL,
	 "wall-clock limit of one decision, after which the fallback takes over; 0: none"},
	{0},
};

/* ---- shared with the other files ---- */

struct sim_task *fth_sim_task(struct sim *s, const struct fth_task *t)
{
	return &s->tasks.data[t->slot];
}

struct sim_instance *fth_sim_instance(struct sim *s, const struct fth_instance *i)
{
	while (s->instances.len <= i->slot)
		fth_vec_push(&s->instances, (struct sim_instance){0});
	return &s->instances.data[i->slot];
}

bool fth_sim_together(const struct fth_job *j)
{
	return j->kind == FTH_JOB_COUPLED || j->kind == FTH_JOB_RIGID;
}

const struct fth_task *fth_sim_lead(const struct sim *s, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	return fth_sim_together(j) ? fth_cluster_task(s->cluster, j->first_task) : t;
}

int fth_sim_feed(struct sim *s, enum fth_event_kind kind, fth_task_id task, fth_instance_id instance)
{
	struct fth_event ev = {.kind = kind,
			       .time = s->now,
			       .job = FTH_NONE,
			       .task = task,
			       .instance = instance,
			       .offer = FTH_NONE};
	return fth_engine_feed(s->engine, &ev, s->err);
}

/* ---- arrivals ---- */

static int fetch_next(struct sim *s)
{
	int r = s->source.base.next(&s->source.base, &s->next, s->err);
	s->has_next = r > 0;
	return r < 0 ? r : 0;
}

static int arrive(struct sim *s)
{
	const struct fth_job_item item = s->next;
	fth_time estimate = s->tell_runtime ? fth_progress_standalone(&item) : item.spec->estimate;
	fth_job_id id = fth_engine_submit(s->engine, s->now, &item, estimate);
	while (s->tasks.len < s->cluster->view.task_slots)
		fth_vec_push(&s->tasks, (struct sim_task){0});
	fth_progress_submit(s, fth_cluster_job(s->cluster, id), &item);
	return fetch_next(s);
}

/* ---- the loop ---- */

static int round_now(struct sim *s)
{
	struct fth_accepted acts;
	int r = fth_engine_round(s->engine, s->now, &acts, s->err);
	return r ? r : fth_cloud_act(s, &acts);
}

static int outcome(struct sim *s)
{
	struct fth_heap_item item = fth_heap_pop(&s->heap);
	return item.a == ACTIVE || item.a == COMPLETE ? fth_progress_outcome(s, &item) : fth_cloud_outcome(s, &item);
}

struct due {
	fth_time time;
	enum rank rank;
};

static void sooner(struct due *d, fth_time time, enum rank rank)
{
	if (time < d->time || (time == d->time && rank < d->rank))
		*d = (struct due){time, rank};
}

/* What comes next, not counting the settling of the present instant. */
static struct due look(struct sim *s, enum rank round_rank)
{
	struct due d = {FTH_NEVER, RANK_SETTLED};
	if (s->heap.len)
		sooner(&d, s->heap.data[0].time, (enum rank)s->heap.data[0].rank);
	if (s->has_next)
		sooner(&d, FTH_MAX(s->next.spec->submit, s->now), RANK_ARRIVAL);
	/* A periodic round comes before the endings of its instant, never after them. */
	bool past = round_rank == RANK_ROUND && s->ended_at == s->now;
	sooner(&d, fth_engine_next_round(s->engine, s->now + past), round_rank);
	return d;
}

static bool is_unsettled(const struct sim *s)
{
	return s->starts.len || s->dirty.len || s->dirty_tracks.len;
}

static int stuck(struct sim *s)
{
	return fth_fail(s->err, -EDEADLK, "%u jobs are left and nothing will ever happen again: %u tasks wait",
			s->cluster->view.njobs, s->cluster->view.nwaiting);
}

/* After this many rounds in a row that neither followed an event nor did anything, a policy sleeps. */
enum { IDLE_ROUNDS_MAX = 10000 };
/* How long instances may stay after the last job has ended before the run is closed for them. */
static const fth_time GRACE = FTH_HOUR;

static int run(struct sim *s, const struct fth_sim_progress *progress)
{
	fth_time over = FTH_NEVER; /* the run is closed here */
	unsigned idle = 0, calls = 0;
	for (;;) {
		enum rank round_rank = fth_engine_period(s->engine) ? RANK_ROUND : RANK_SETTLED;
		struct due d = look(s, round_rank);
		/* The present instant ends before time goes on, and before a round that is to see it whole. */
		if (is_unsettled(s) && (d.time > s->now || d.rank == RANK_SETTLED)) {
			int r = fth_cloud_start(s);
			if (!r)
				r = fth_progress_settle(s);
			if (r)
				return r;
			continue;
		}
		bool work_left = s->has_next || s->cluster->view.njobs;
		if (!work_left && over == FTH_NEVER)
			over = s->now + GRACE;
		if (!work_left && (!s->cluster->view.ninstances || d.time > over))
			return 0;
		if (d.time == FTH_NEVER || idle > IDLE_ROUNDS_MAX)
			return stuck(s);
		if (s->params->horizon && d.time > s->params->horizon) {
			s->now = s->params->horizon;
			return fth_fail(s->err, -ETIME, "the horizon was reached with %u jobs left",
					s->cluster->view.njobs);
		}
		if (d.time > s->now && progress && progress->report && (++calls & 0x3ff) == 0 &&
		    !progress->report(progress->arg, s->jobs_done, s->jobs_total, d.time))
			return fth_fail(s->err, -ECANCELED, "stopped");
		s->now = d.time;
		int r;
		if (d.rank == round_rank) {
			uint64_t before = fth_engine_stats(s->engine)->actions;
			r = round_now(s);
			/* A wake-up alone is an action too; only a waking policy can get here without events. */
			idle = fth_engine_stats(s->engine)->actions - before <= 1 && !s->heap.len && !s->has_next ? idle + 1
													 : 0;
		} else if (d.rank == RANK_ARRIVAL) {
			r = arrive(s);
		} else {
			if (d.rank == RANK_COMPLETION)
				s->ended_at = s->now;
			r = outcome(s);
		}
		if (r)
			return r;
	}
}

static int64_t clock_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void release(struct sim *s)
{
	fth_heap_release(&s->heap);
	fth_vec_release(&s->tasks);
	for (size_t i = 0; i < s->instances.len; i++) {
		fth_vec_release(&s->instances.data[i].held);
		fth_vec_release(&s->instances.data[i].images);
	}
	fth_vec_release(&s->instances);
	fth_vec_release(&s->dirty);
	fth_vec_release(&s->dirty_tracks);
	fth_vec_release(&s->starts);
	fth_vec_release(&s->rank_of);
}

int fth_sim_run(struct fth_engine **ret, const struct fth_world *w, const struct fth_policy_choice *policy,
		const struct fth_policy_ops *fallback, const struct fth_sim_params *params, struct fth_observer *observers,
		const struct fth_sim_progress *progress, struct fth_error *err)
{
	const struct fth_profile *truth = w->has_profile ? &w->profile : NULL;
	struct fth_engine_config cfg = {
		.syms = w->syms,
		.catalog = &w->catalog,
		.kinds = &w->kinds,
		.profile = truth,
		.policy = policy->ops,
		.params = policy->params,
		.fallback = fallback,
		.max_instances = (uint32_t)params->max_instances,
		.decide_limit_ns = params->decide_limit * 1000,
		.clock_ns = clock_ns,
	};
	struct sim s = {.world = w, .params = params, .profile = truth, .step = w->workload.step, .ended_at = -1, .err = err};
	int r = fth_engine_new(&s.engine, &cfg, err);
	if (r)
		return r;
	for (struct fth_observer *o = observers, *next; o; o = next) {
		next = o->next;
		fth_engine_observe(s.engine, o);
	}
	s.cluster = fth_engine_cluster(s.engine);
	s.jobs_total = w->workload.jobs.len;
	s.tell_runtime = params->exact_estimates || (policy->ops->flags & FTH_POLICY_WANTS_RUNTIME);
	fth_workload_source_init(&s.source, &w->workload);
	fth_progress_rank_classes(&s);
	r = fetch_next(&s);
	if (!r)
		r = run(&s, progress);
	fth_engine_finish(s.engine, s.now);
	release(&s);
	*ret = s.engine;
	return r;
}
