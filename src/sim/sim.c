/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: the next thing on the virtual clock, the rounds, the end. See README.md. */
#include "sim/internal.h"

#include <time.h>

const struct fth_param fth_sim_param_table[] = {
	{"seed", FTH_PARAM_INT, offsetof(struct fth_sim_params, seed), "1", 0, 9e15, NULL, "seed of every random draw"},
	{"launch_failure", FTH_PARAM_REAL, offsetof(struct fth_sim_params, launch_failure), "0", 0, 0.99, NULL,
	 "probability that a launch fails for want of capacity"},
	{"job_delay_scale", FTH_PARAM_REAL, offsetof(struct fth_sim_params, job_delay_scale), "1", 0, 1000, NULL,
	 "times every stop, save, fetch, set-up and init of tasks"},
	{"job_delay_spread", FTH_PARAM_REAL, offsetof(struct fth_sim_params, job_delay_spread), "0", 0, 1, NULL,
	 "each of these is drawn evenly between 1 - this and 1 + this times its length; 0: as the workload says"},
	{"boot_delay_scale", FTH_PARAM_REAL, offsetof(struct fth_sim_params, boot_delay_scale), "1", 0, 1000, NULL,
	 "times acquisition and set-up of instances"},
	{"pair_speed", FTH_PARAM_REAL, offsetof(struct fth_sim_params, pair_speed), "0", 0, 1, NULL,
	 "if above 0, the speed of every pair of co-located tasks, whatever the profile says"},
	{"crowd", FTH_PARAM_REAL, offsetof(struct fth_sim_params, crowd), "1", 0.01, 1, NULL,
	 "times the speed of every task of an instance, for each launched task there beyond the second: what pairs do not tell"},
	{"max_instances", FTH_PARAM_INT, offsetof(struct fth_sim_params, max_instances), "1000000", 1, 4e9, NULL,
	 "guard against a policy that runs away: launches beyond this many instances at once are refused; policies are not told"},
	{"horizon", FTH_PARAM_DURATION, offsetof(struct fth_sim_params, horizon), "0", 0, 1e12, NULL,
	 "stop here even if jobs are left; 0: run to the end"},
	{"exact_estimates", FTH_PARAM_BOOL, offsetof(struct fth_sim_params, exact_estimates), "false", 0, 0, NULL,
	 "tell every policy the true runtimes as estimates"},
	{"decide_limit", FTH_PARAM_DURATION, offsetof(struct fth_sim_params, decide_limit), "0", 0, 1e6, NULL,
	 "wall-clock limit of one decision, after which the fallback takes over; 0: none"},
	{"bid", FTH_PARAM_REAL, offsetof(struct fth_sim_params, bid), "1", 0, 1e6, NULL,
	 "bid for spot offers, times the on-demand price of the type (in the offer's zone, else the lowest); above it the "
	 "offer cannot be had and its instances are taken; types without an on-demand price have no bid"},
	{"notice", FTH_PARAM_DURATION, offsetof(struct fth_sim_params, notice), "120s", 0, 1e6, NULL,
	 "time between the notice of a revocation and the revocation"},
	{"revocation_rate", FTH_PARAM_REAL, offsetof(struct fth_sim_params, revocation_rate), "0", 0, 1e6, NULL,
	 "mean revocations per hour of a spot instance, at random; 0: what the catalog says of each offer"},
	{"usd_per_hour", FTH_PARAM_REAL, offsetof(struct fth_sim_params, usd_per_hour), "0", 0, 1e6, NULL,
	 "budget: launches that would bring the prices of all instances above this are refused, and work waits; 0: none"},
	{"usd_per_month", FTH_PARAM_REAL, offsetof(struct fth_sim_params, usd_per_month), "0", 0, 1e9, NULL,
	 "budget: once a calendar month (UTC) has cost this, its launches are refused; what runs goes on; 0: none"},
	{"moves_per_hour", FTH_PARAM_INT, offsetof(struct fth_sim_params, moves_per_hour), "0", 0, 4e9, NULL,
	 "disruption budget: running tasks moved or preempted within any hour; 0: no limit"},
	{"disturbed", FTH_PARAM_REAL, offsetof(struct fth_sim_params, disturbed), "0", 0, 1, NULL,
	 "disruption budget: share of the ready instances, rounded up, that tasks are taken off at once; 0: no limit"},
	{"market_start", FTH_PARAM_INT, offsetof(struct fth_sim_params, market_start), "0", 0, 9e9, NULL,
	 "seconds since 1970 on the clock of the market's prices at which the run begins; 0: at its first price"},
	{0},
};

struct fth_limits fth_sim_limits(const struct fth_sim_params *p, const struct fth_world *w)
{
	return (struct fth_limits){
		.usd_per_hour = (fth_price)(p->usd_per_hour * FTH_USD + 0.5),
		.usd_per_month = (fth_money)(p->usd_per_month * FTH_USD + 0.5),
		.moves_per_hour = (uint32_t)p->moves_per_hour,
		.disturbed_ppm = (uint32_t)(p->disturbed * 1e6 + 0.5),
		.epoch_us = w->workload.epoch,
		.max_instances = (uint32_t)p->max_instances,
	};
}

/* ---- shared with the other files ---- */

const struct fth_task *fth_sim_lead(const struct sim *s, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	return fth_job_is_together(j) ? fth_cluster_task(s->cluster, j->first_task) : t;
}

fth_time fth_sim_scaled(fth_time t, double scale)
{
	double x = (double)t * scale + 0.5;
	return scale == 1 ? t : x < 9e18 ? (fth_time)x : FTH_NEVER;
}

fth_time fth_sim_pause(const struct sim *s, const struct fth_task *t, enum pause which, fth_time delay)
{
	double scale = s->params->job_delay_scale, spread = s->params->job_delay_spread;
	if (spread > 0) {
		struct fth_rng rng;
		fth_rng_seed(&rng, (uint64_t)s->params->seed, which, (uint64_t)t->id << 24 ^ t->moves);
		scale *= 1 - spread + 2 * spread * fth_rng_real(&rng);
	}
	return fth_sim_scaled(delay, scale);
}

bool fth_sim_is_void(const struct sim *s, const struct fth_heap_item *item)
{
	if (item->a == MARKET)
		return false;
	if (item->a == NOTICE || item->a == REVOKED) {
		const struct fth_instance *i = fth_cluster_instance(s->cluster, item->b);
		return !i || i->state == FTH_INSTANCE_GONE;
	}
	if (item->a == ACQUIRED || item->a == READY || item->a == GONE) {
		const struct fth_instance *i = fth_cluster_instance(s->cluster, item->b);
		return !i || i->state == FTH_INSTANCE_GONE || s->instances.data[i->slot].gen != item->c;
	}
	const struct fth_task *t = fth_cluster_task(s->cluster, item->b);
	if (!t || t->state == FTH_TASK_DONE)
		return true;
	const struct sim_task *st = &s->tasks.data[t->slot];
	return (item->a == ACTIVE || item->a == COMPLETE ? st->track_gen : st->gen) != item->c;
}

/* Each change of speed makes the completion foreseen before void. At most three things are ahead of a task and
 * its instance; when there is far more on the clock, the rest is swept, at a cost that the pushes have paid. */
static void sweep_clock(struct sim *s)
{
	struct fth_heap *h = &s->heap;
	if (h->len < 1024 || h->len / 8 < s->tasks.len + s->instances.len)
		return;
	size_t n = 0;
	for (size_t k = 0; k < h->len; k++)
		if (!fth_sim_is_void(s, &h->data[k]))
			h->data[n++] = h->data[k];
	h->len = n;
	fth_heap_rebuild(h);
}

void fth_sim_schedule(struct sim *s, fth_time delay, enum rank rank, enum what what, uint32_t entity, uint32_t gen)
{
	if (delay >= FTH_NEVER - s->now)
		return;
	if (!delay && rank == RANK_OUTCOME) {
		fth_vec_push(&s->soon, ((struct fth_heap_item){.time = s->now, .rank = rank, .a = what, .b = entity, .c = gen}));
		return;
	}
	sweep_clock(s);
	fth_heap_push(&s->heap, s->now + delay, rank, what, entity, gen);
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
	int r = s->jobs->next(s->jobs, &s->next, s->err);
	s->has_next = r > 0;
	return r < 0 ? r : 0;
}

static int arrive(struct sim *s)
{
	const struct fth_job_item item = s->next;
	struct fth_job_item told = item;
	if (s->knows_runtime)
		told.told = NULL;
	fth_time estimate = fth_item_estimate(&told, item.spec->estimate, s->tell_runtime);
	fth_job_id id = fth_engine_submit(s->engine, s->now, &item, estimate);
	s->services += item.spec->kind == FTH_JOB_SERVICE;
	while (s->tasks.len < s->cluster->view.task_slots)
		fth_vec_push(&s->tasks, (struct sim_task){0});
	fth_progress_submit(s, fth_cluster_job(s->cluster, id), &item);
	return fetch_next(s);
}

/* ---- the loop ---- */

/* It comes before long: what it is about is asked for, and then (again) what that names. */
static void expect(const struct sim *s, const struct fth_heap_item *item, bool again)
{
	if (item->a >= MARKET)
		return;
	const struct fth_cluster *c = s->cluster;
	bool of_instance = item->a == ACQUIRED || item->a == READY || item->a == GONE;
	uint32_t at = of_instance ? FTH_NONE : fth_table_slot(&c->tasks, item->b), on = of_instance ? item->b : FTH_NONE;
	if (at != FTH_NONE) {
		const struct fth_task *t = fth_table_at(&c->tasks, at);
		fth_expect(t, again ? 0 : sizeof(*t));
		fth_expect(&s->tasks.data[at], again ? 0 : sizeof(s->tasks.data[at]));
		on = again ? t->on : FTH_NONE;
	}
	at = fth_table_slot(&c->instances, on);
	if (at == FTH_NONE)
		return;
	fth_expect(fth_table_at(&c->instances, at), sizeof(struct fth_instance));
	if (at < s->instances.len)
		fth_expect(&s->instances.data[at], sizeof(s->instances.data[at]));
}

static struct fth_heap_item take_foreseen(struct sim *s)
{
	struct fth_heap *h = &s->heap;
	struct fth_heap_item item = fth_heap_pop(h);
	for (int k = 0; k < 2; k++)
		if (h->rose[k] && h->rose[k] < h->len)
			expect(s, &h->data[h->rose[k]], k == 0);
	return item;
}

static struct fth_heap_item take_soon(struct sim *s)
{
	enum { AHEAD = 8 };
	for (size_t k = 1; k <= 2 && s->soon_at + k * AHEAD < s->soon.len; k++)
		expect(s, &s->soon.data[s->soon_at + k * AHEAD], k == 1);
	return s->soon.data[s->soon_at++];
}

static int outcome(struct sim *s)
{
	struct fth_heap_item item;
	/* What was foreseen for this instant comes first. */
	if (s->heap.len && s->heap.data[0].time == s->now && s->heap.data[0].rank == RANK_OUTCOME)
		item = take_foreseen(s);
	else if (s->soon_at < s->soon.len)
		item = take_soon(s);
	else
		item = take_foreseen(s);
	if (item.a == MARKET || item.a == NOTICE || item.a == REVOKED)
		return fth_market_outcome(s, &item);
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
	while (s->heap.len && fth_sim_is_void(s, &s->heap.data[0]))
		fth_heap_pop(&s->heap);
	while (s->soon_at < s->soon.len && fth_sim_is_void(s, &s->soon.data[s->soon_at]))
		s->soon_at++;
	if (s->soon_at < s->soon.len) {
		sooner(&d, s->now, RANK_OUTCOME);
		return d; /* nothing comes before it */
	}
	s->soon.len = s->soon_at = 0;
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
	if (s->services == s->cluster->view.njobs && !s->cluster->view.nwaiting)
		return fth_fail(s->err, -EDEADLK, "there are only services, which never end: give the run a horizon");
	return fth_fail(s->err, -EDEADLK, "%u jobs are left and nothing will ever happen again: %u tasks wait",
			s->cluster->view.njobs, s->cluster->view.nwaiting);
}

/* The run stops at its horizon; that is its good end when only services are left. */
static int horizon_reached(struct sim *s)
{
	s->now = s->params->horizon;
	if (!s->has_next && s->services == s->cluster->view.njobs)
		return 0;
	uint64_t later = s->jobs_total - s->jobs_done - s->cluster->view.njobs;
	return fth_fail(s->err, -ETIME, "the horizon was reached with %u jobs left and %llu not yet submitted",
			s->cluster->view.njobs, (unsigned long long)later);
}

/* After this many rounds in a row that led to nothing, a policy sleeps; and after as many in one instant it
 * goes round in circles, where no delay ever lets time go on. */
enum { IDLE_ROUNDS_MAX = 10000, ROUNDS_AT_ONCE_MAX = 10000 };
/* How long instances may stay after the last job has ended before the run is closed for them. */
static const fth_time GRACE = FTH_HOUR;

/* What tells a run that goes on from one that goes nowhere. */
struct watch {
	unsigned idle;    /* rounds in a row after which nothing was under way */
	unsigned at_once; /* rounds at the present instant */
};

/* Ask the policy and carry out its plan. */
static int decide(struct sim *s, struct watch *w)
{
	if (++w->at_once > ROUNDS_AT_ONCE_MAX)
		return fth_fail(s->err, -ELOOP, "the policy decides again and again at %lld us, and time stands still",
				(long long)s->now);
	struct fth_accepted acts;
	int r = fth_engine_round(s->engine, s->now, &acts, s->err);
	if (!r)
		r = fth_cloud_act(s, &acts);
	/* Nothing is under way and nothing will come: only its own wake-ups brought it here. */
	bool idle = !s->heap.len && s->soon_at == s->soon.len && !s->has_next && !s->starts.len && !s->params->horizon;
	w->idle = idle ? w->idle + 1 : 0;
	return r;
}

static int step(struct sim *s, struct due d, enum rank round_rank, struct watch *w)
{
	if (d.time > s->now)
		w->at_once = 0;
	s->now = d.time;
	if (d.rank == round_rank)
		return decide(s, w);
	if (d.rank == RANK_ARRIVAL)
		return arrive(s);
	if (d.rank == RANK_COMPLETION)
		s->ended_at = s->now;
	return outcome(s);
}

static int settle(struct sim *s)
{
	int r = fth_cloud_start(s);
	return r ? r : fth_progress_settle(s);
}

/* Services run for as long as there is anything else to do, or to the horizon. */
static bool is_over(const struct sim *s)
{
	bool for_services = s->params->horizon || s->jobs_total == s->services;
	return !s->has_next && s->cluster->view.njobs <= (for_services ? 0 : s->services);
}

static int run(struct sim *s, const struct fth_sim_progress *progress)
{
	fth_time close = FTH_NEVER; /* the run is closed here */
	unsigned calls = 0;
	struct watch w = {0};
	int r = 0;
	while (!r) {
		enum rank round_rank = fth_engine_period(s->engine) ? RANK_ROUND : RANK_SETTLED;
		struct due d = look(s, round_rank);
		/* The present instant ends before time goes on, and before a round that is to see it whole. */
		if (is_unsettled(s) && (d.time > s->now || d.rank == RANK_SETTLED)) {
			r = settle(s);
			continue;
		}
		bool over = is_over(s);
		if (over && close == FTH_NEVER)
			close = s->now + GRACE;
		if (over && (!s->cluster->view.ninstances || s->services || d.time > close))
			return 0;
		if (s->params->horizon && d.time > s->params->horizon)
			return horizon_reached(s);
		if (d.time == FTH_NEVER || w.idle > IDLE_ROUNDS_MAX)
			return stuck(s);
		if (d.time > s->now && progress && progress->report && (++calls & 0x3ff) == 0 &&
		    !progress->report(progress->arg, s->jobs_done, s->jobs_total, d.time))
			return fth_fail(s->err, -ECANCELED, "stopped");
		r = step(s, d, round_rank, &w);
	}
	return r;
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
	fth_vec_release(&s->pending);
	fth_vec_release(&s->rank_of);
	fth_vec_release(&s->offers);
	fth_vec_release(&s->soon);
	fth_vec_release(&s->touched);
	fth_market_tape_release(&s->tape);
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
		.limits = fth_sim_limits(params, w),
		.decide_limit_ns = params->decide_limit * 1000,
		.clock_ns = clock_ns,
	};
	int wide = fth_workload_check_widths(&w->workload, (uint64_t)params->max_instances, NULL, err);
	if (wide)
		return wide;
	struct sim s = {.world = w, .params = params, .profile = truth, .step = w->workload.step, .ended_at = -1, .err = err};
	int r = fth_engine_new(&s.engine, &cfg, err);
	if (r)
		return r;
	for (struct fth_observer *o = observers, *next; o; o = next) {
		next = o->next;
		fth_engine_observe(s.engine, o);
	}
	s.cluster = fth_engine_cluster(s.engine);
	s.silent = policy->ops->ignores >> FTH_EV_THROUGHPUT & 1;
	s.jobs_total = w->stream.open ? w->stream.summary.jobs : w->workload.jobs.len;
	s.tell_runtime = params->exact_estimates || (policy->ops->flags & FTH_POLICY_WANTS_RUNTIME);
	s.knows_runtime = policy->ops->flags & FTH_POLICY_KNOWS_RUNTIME;
	fth_workload_source_init(&s.source, &w->workload);
	s.jobs = &s.source.base;
	if (w->stream.open)
		r = w->stream.open(w, &s.jobs, err);
	fth_progress_rank_classes(&s);
	if (!r)
		r = fth_market_start(&s);
	if (!r)
		r = fetch_next(&s);
	if (!r)
		r = run(&s, progress);
	fth_engine_finish(s.engine, s.now);
	if (w->stream.open && s.jobs != &s.source.base)
		w->stream.close(s.jobs);
	release(&s);
	*ret = s.engine;
	return r;
}
