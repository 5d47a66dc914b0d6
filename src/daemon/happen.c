/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened: the drivers' lists are held against the engine, and every difference is fed to it as an event, in the order of the times the
 * drivers tell. Time does not run backwards in the journal, so what is learnt late is booked as early as order allows.
 */
#include "daemon/keeper.h"

#include "daemon/log.h"

#define END_PATIENCE_NS (5 * 1000000000LL)

enum what { ACQUIRED, READY, RUNNING, DONE, LEFT, LOST, NOTICE, ENDED, CANCELLED, HELD, SUBMITTED };

struct happening {
	int64_t at; /* since 1970 */
	enum what what;
	uint32_t seq, a; /* a: instance or task */
	const struct fth_listed_job *job;
};
typedef FTH_VEC(struct happening) happenings;

int fth_happen_feed(struct fth_keeper *k, struct fth_event ev, int64_t at)
{
	struct fth_error err = {0};
	fth_time t = at - k->epoch;
	t = FTH_MAX(FTH_MIN(t, k->now), fth_live_now(k->live));
	ev.time = t;
	int r = fth_engine_feed(k->engine, &ev, &err);
	if (r) {
		k->stats.refused_events++;
		fth_say(FTH_LOG_WARN, "event refused", "error:s", err.text);
	}
	k->dirty = true;
	return r;
}

static struct fth_event event(enum fth_event_kind kind)
{
	return (struct fth_event){.kind = kind, .job = FTH_NONE, .task = FTH_NONE, .instance = FTH_NONE, .offer = FTH_NONE};
}

static int feed_instance(struct fth_keeper *k, enum fth_event_kind kind, fth_instance_id id, int64_t at)
{
	struct fth_event ev = event(kind);
	ev.instance = id;
	return fth_happen_feed(k, ev, at);
}

static int feed_task(struct fth_keeper *k, enum fth_event_kind kind, const struct fth_task *t, int64_t at)
{
	struct fth_event ev = event(kind);
	ev.task = t->id;
	ev.instance = t->on != FTH_NONE ? t->on : t->target;
	return fth_happen_feed(k, ev, at);
}

/* ---- launches that fail, offers that rest ---- */

static int64_t pause_ns(const struct fth_keeper *k, unsigned failures)
{
	int64_t us = k->cfg->retry_first;
	while (--failures && us < k->cfg->retry_most)
		us *= 2;
	return FTH_MIN(us, k->cfg->retry_most) * 1000;
}

static void set_offer(struct fth_keeper *k, fth_offer_id o, bool available)
{
	struct fth_event ev = event(FTH_EV_OFFER_CHANGED);
	ev.offer = o;
	ev.price = k->cluster->catalog.offers.data[o].price;
	ev.available = available;
	fth_happen_feed(k, ev, k->epoch + k->now);
}

/* An offer whose launch failed is left alone for a while, ever longer: policies see it as unavailable. Those that fail while it rests
 * were asked for before: they are no reason to wait longer. */
static void rest_offer(struct fth_keeper *k, fth_offer_id o)
{
	struct fth_offer_retry *r = &k->offers.data[o];
	if (r->until_ns > k->now_ns)
		return;
	r->failures++;
	r->until_ns = k->now_ns + pause_ns(k, r->failures);
	if (k->cluster->catalog.offers.data[o].available)
		set_offer(k, o, false);
}

void fth_retry_offers(struct fth_keeper *k)
{
	for (fth_offer_id o = 0; o < k->offers.len; o++) {
		struct fth_offer_retry *r = &k->offers.data[o];
		if (!r->until_ns || k->now_ns < r->until_ns)
			continue;
		r->until_ns = 0;
		if (!k->cluster->catalog.offers.data[o].available)
			set_offer(k, o, true);
	}
}

int64_t fth_retry_due_ns(const struct fth_keeper *k)
{
	int64_t due = k->hold_launches_ns > k->now_ns ? k->hold_launches_ns : INT64_MAX;
	for (size_t i = 0; i < k->offers.len; i++)
		if (k->offers.data[i].until_ns)
			due = FTH_MIN(due, k->offers.data[i].until_ns);
	for (size_t i = 0; i < k->jobs.len; i++)
		if (k->jobs.data[i]->aside_until > k->now_ns)
			due = FTH_MIN(due, k->jobs.data[i]->aside_until);
	for (size_t i = 0; i < k->begun.len; i++)
		if (k->begun.data[i].task != FTH_NONE && k->begun.data[i].wait_until > k->now_ns)
			due = FTH_MIN(due, k->begun.data[i].wait_until);
	return due;
}

void fth_happen_launch_failed(struct fth_keeper *k, struct fth_rented *r, enum fth_launch_failure why, const char *text)
{
	static const char *const names[] = {"none", "capacity", "quota", "throttled", "other"};
	fth_instance_id id = r->id;
	const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
	struct fth_str offer = {0};
	fth_offer_id o = i->offer;
	fth_offer_name(k->cluster, o, &offer);
	fth_say(FTH_LOG_WARN, "launch failed", "instance:u offer:s why:s error:s", id, offer.data, names[why], text);
	fth_str_release(&offer);
	k->stats.launches_failed[why]++;
	if (why == FTH_FAIL_THROTTLED) {
		/* Not this offer is at fault, but our haste: the same again, later. */
		k->throttled++;
		k->hold_launches_ns = k->now_ns + pause_ns(k, k->throttled);
		fth_rented_again(k, id);
		return;
	}
	struct fth_event ev = event(FTH_EV_LAUNCH_FAILED);
	ev.instance = id;
	ev.offer = o;
	ev.why = why;
	if (fth_happen_feed(k, ev, k->epoch + k->now))
		return;
	rest_offer(k, o);
	i = fth_cluster_instance(k->cluster, id);
	if (i && i->state != FTH_INSTANCE_GONE)
		fth_rented_again(k, id);
	else
		fth_rented_ended(k, id);
}

/* ---- tasks ---- */

/* A task falls: with it the rest of a rigid job, which runs as one. */
void fth_happen_task_lost(struct fth_keeper *k, const struct fth_task *t, int64_t at)
{
	const struct fth_job *j = fth_cluster_job(k->cluster, t->job);
	bool whole = j->kind == FTH_JOB_RIGID && t->on != FTH_NONE;
	feed_task(k, FTH_EV_TASK_LOST, t, at);
	for (uint32_t n = 0; whole && n < j->ntasks; n++) {
		const struct fth_task *s = fth_cluster_task(k->cluster, j->first_task + n);
		if (s->on != FTH_NONE)
			feed_task(k, FTH_EV_TASK_LOST, s, at);
	}
}

void fth_happen_done(struct fth_keeper *k, const struct fth_task *t, const struct fth_listed_run *run, struct fth_listed_job *lj)
{
	fth_task_id id = t->id;
	const struct fth_job *j = fth_cluster_job(k->cluster, t->job);
	uint32_t first = j->first_task, n = j->ntasks;
	if (t->state == FTH_TASK_STARTING)
		feed_task(k, FTH_EV_TASK_RUNNING, t, run->started ? run->started : run->ended);
	if (run->exit) {
		char name[32], code[16];
		snprintf(name, sizeof(name), "x/%u", t->job);
		snprintf(code, sizeof(code), "%d", run->exit);
		fth_live_put(k->live, name, code);
		fth_tally_exit(k->tally, t->job, run->exit);
	}
	bool last = j->tasks_left == 1;
	if (feed_task(k, FTH_EV_TASK_DONE, t, run->ended))
		return;
	fth_say(FTH_LOG_DEBUG, "task ended", "job:s run:s exit:d", lj->key, run->name, run->exit);
	fth_begun_drop(k, id);
	if (!last)
		return;
	for (uint32_t i = 0; i < n; i++)
		fth_begun_drop(k, first + i);
	lj->over = true;
}

static void cancelled(struct fth_keeper *k, struct fth_listed_job *lj)
{
	const struct fth_job *j = fth_cluster_job(k->cluster, lj->id);
	struct fth_event ev = event(FTH_EV_JOB_CANCELLED);
	uint32_t first = j->first_task, n = j->ntasks;
	ev.job = lj->id;
	if (fth_happen_feed(k, ev, k->epoch + k->now))
		return;
	fth_say(FTH_LOG_INFO, "job cancelled", "job:s", lj->key);
	for (uint32_t i = 0; i < n; i++)
		fth_begun_drop(k, first + i);
	lj->over = true;
}

/* ---- instances ---- */

/* It has gone by itself: what was on it falls. */
static void instance_ended(struct fth_keeper *k, fth_instance_id id, int64_t at)
{
	const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
	while (i->first_committed != FTH_NONE) {
		const struct fth_task *t = fth_cluster_task(k->cluster, i->first_committed);
		if (t->on != FTH_NONE && t->on != id)
			break; /* it is still being saved elsewhere: taken care of below */
		fth_happen_task_lost(k, t, at);
	}
	/* Who is in the way of a plain end (on its way here, or away from here) falls as with a revocation. */
	bool plain = !i->nheld && !i->ncommitted;
	feed_instance(k, plain ? FTH_EV_INSTANCE_GONE : FTH_EV_INSTANCE_REVOKED, id, at);
}

static void instance_gone(struct fth_keeper *k, struct fth_rented *r)
{
	fth_instance_id id = r->id;
	const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
	int64_t at = r->gone ? r->gone : k->epoch + k->now;
	if (i->acquired == FTH_NEVER && r->state == FTH_LISTED_GONE && i->state != FTH_INSTANCE_TERMINATING) {
		fth_happen_launch_failed(k, r, r->why, r->error ? r->error : "it was launched and went before it was ours");
		return;
	}
	fth_say(FTH_LOG_INFO, r->taken ? "instance revoked" : "instance gone", "instance:u node:s", id, r->node);
	if (i->acquired == FTH_NEVER)
		feed_instance(k, FTH_EV_INSTANCE_GONE, id, at);
	else if (r->taken)
		feed_instance(k, FTH_EV_INSTANCE_REVOKED, id, at);
	else
		instance_ended(k, id, at);
	fth_rented_ended(k, id);
}

static bool node_is_there(const struct fth_keeper *k, const struct fth_rented *r)
{
	return !k->side[FTH_WORKLOAD].nodes || fth_node_is_ready(k, r->node);
}

static void add(happenings *h, int64_t at, enum what what, uint32_t a, const struct fth_listed_job *job)
{
	fth_vec_push(h, ((struct happening){.at = at, .what = what, .seq = (uint32_t)h->len, .a = a, .job = job}));
}

/*
 * Whether its end can be booked: what ran on it may have ended before, so we want a list of the workload's that was asked for after we
 * learnt of it; but not for ever.
 */
static bool end_is_clear(struct fth_keeper *k, const struct fth_instance *i, struct fth_rented *r)
{
	struct fth_side *w = &k->side[FTH_WORKLOAD];
	if (!i->nheld)
		return true;
	if (!r->end_seen_ns) {
		r->end_seen_ns = k->now_ns;
		r->end_seen_id = w->next_id;
		w->list_wanted = true;
	}
	return (w->synced && w->last_list > r->end_seen_id) || k->now_ns - r->end_seen_ns > END_PATIENCE_NS;
}

static void look_at_instance(struct fth_keeper *k, happenings *h, struct fth_rented *r)
{
	const struct fth_instance *i = fth_cluster_instance(k->cluster, r->id);
	int64_t now = k->epoch + k->now;
	if (!i || i->state == FTH_INSTANCE_GONE)
		return;
	bool vanished = r->state == FTH_LISTED_NOT && k->side[FTH_CAPACITY].synced && i->acquired != FTH_NEVER;
	if (r->acquired && i->acquired == FTH_NEVER)
		add(h, r->acquired, ACQUIRED, i->id, NULL);
	if (r->ready && i->ready == FTH_NEVER && r->state == FTH_LISTED_READY && node_is_there(k, r))
		add(h, k->side[FTH_WORKLOAD].nodes ? now : r->ready, READY, i->id, NULL);
	if (r->take_at && !i->revoked && r->state != FTH_LISTED_GONE)
		add(h, now, NOTICE, i->id, NULL);
	if ((r->state == FTH_LISTED_GONE || vanished) && end_is_clear(k, i, r))
		add(h, r->gone ? r->gone : now, ENDED, i->id, NULL);
}

/* One that is not wanted any more and was never asked for. */
static void look_at_unasked(struct fth_keeper *k, happenings *h)
{
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		const struct fth_rented *r = fth_rented_of(k, id);
		bool asked = r && (r->state != FTH_LISTED_NOT || r->launching || r->launched_by > k->side[FTH_CAPACITY].last_list);
		if (i->state == FTH_INSTANCE_TERMINATING && i->acquired == FTH_NEVER && !asked && k->side[FTH_CAPACITY].synced)
			add(h, k->epoch + k->now, ENDED, id, NULL);
		id = i->next;
	}
}

/* What has ended has, though its machine was taken a moment before: it is booked as of then. */
static int64_t done_at(const struct fth_keeper *k, const struct fth_task *t, int64_t ended)
{
	const struct fth_rented *r = fth_rented_of(k, t->on);
	return r && r->gone ? FTH_MIN(ended, r->gone) : ended;
}

static void look_at_run(struct fth_keeper *k, happenings *h, const struct fth_listed_job *j, const struct fth_listed_run *run)
{
	const struct fth_job *job = fth_cluster_job(k->cluster, j->id);
	if (run->job != j->id || run->task >= job->ntasks)
		return;
	const struct fth_task *t = fth_cluster_task(k->cluster, job->first_task + run->task);
	int64_t now = k->epoch + k->now;
	if (t->state == FTH_TASK_DONE || t->on == FTH_NONE || fth_begun_of(k, t->id)->attempt != run->attempt)
		return;
	if (run->state == FTH_SEEN_RUNNING && t->state == FTH_TASK_STARTING)
		add(h, run->started ? run->started : now, RUNNING, t->id, j);
	else if (run->state == FTH_SEEN_ENDED)
		add(h, done_at(k, t, run->ended ? run->ended : now), DONE, t->id, j);
	else if (run->state == FTH_SEEN_STOPPED)
		add(h, run->ended ? run->ended : now, t->state == FTH_TASK_STOPPING ? LEFT : LOST, t->id, j);
	else if (run->state == FTH_SEEN_LOST)
		add(h, run->ended ? run->ended : now, LOST, t->id, j);
}

/* A run that should be there and is not, by a list asked for after it was started. */
static void look_for_runs(struct fth_keeper *k, happenings *h, struct fth_listed_job *j)
{
	const struct fth_job *job = fth_cluster_job(k->cluster, j->id);
	for (uint32_t n = 0; n < job->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, job->first_task + n);
		if (t->state != FTH_TASK_RUNNING && t->state != FTH_TASK_STOPPING)
			continue;
		if (!fth_run_of(j, n, fth_begun_of(k, t->id)->attempt))
			add(h, k->epoch + k->now, LOST, t->id, j);
	}
}

static bool has_begun(const struct fth_keeper *k, const struct fth_job *job)
{
	for (uint32_t n = 0; n < job->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, job->first_task + n);
		if (t->state != FTH_TASK_WAITING && t->state != FTH_TASK_BOUND)
			return true;
	}
	return false;
}

/* Whether each unfinished task has a run that ended: those that we took for lost meanwhile are done as soon as they have a place again (starts.c). */
static bool all_have_ended(const struct fth_keeper *k, const struct fth_listed_job *j, const struct fth_job *job)
{
	for (uint32_t n = 0; n < job->ntasks; n++)
		if (fth_cluster_task(k->cluster, job->first_task + n)->state != FTH_TASK_DONE && !fth_run_ended(j, n))
			return false;
	return true;
}

static void count_life(struct fth_keeper *k, const struct fth_listed_job *j)
{
	struct fth_str fact = {0};
	char lives[16];
	fth_str_addf(&fact, "k/%s", j->key);
	const char *before = fth_live_get(k->live, fact.data);
	snprintf(lives, sizeof(lives), "%d", (before ? atoi(before) : 0) + 1);
	fth_live_put(k->live, fact.data, lives);
	fth_str_release(&fact);
}

/* After its end, by its user or an administrator: it waits, and what has run of it does not count as an end any more. */
static bool was_put_back(const struct fth_listed_job *j)
{
	bool back = j->runs.len && j->state == FTH_JOB_WAITS && !j->gone;
	for (size_t i = 0; i < j->runs.len; i++)
		back &= j->runs.data[i].state == FTH_SEEN_STOPPED || j->runs.data[i].state == FTH_SEEN_LOST;
	return back;
}

static void another_life(struct fth_keeper *k, struct fth_listed_job *j)
{
	count_life(k, j);
	fth_job_set_id(k, j, FTH_NONE);
	j->over = j->overdue = false;
}

static void look_at_job(struct fth_keeper *k, happenings *h, struct fth_listed_job *j)
{
	int64_t now = k->epoch + k->now;
	if (j->over && was_put_back(j))
		another_life(k, j);
	if (j->id == FTH_NONE) {
		if (j->state == FTH_JOB_WAITS && !j->over && !j->gone && !j->refused && k->now_ns >= j->aside_until)
			add(h, now, SUBMITTED, 0, j);
		return;
	}
	const struct fth_job *job = j->over ? NULL : fth_cluster_job(k->cluster, j->id);
	if (!job || !job->tasks_left)
		return;
	for (size_t i = 0; i < j->runs.len; i++)
		look_at_run(k, h, j, &j->runs.data[i]);
	look_for_runs(k, h, j);
	if (j->state == FTH_JOB_CANCELLED || (j->state == FTH_JOB_ENDED && !all_have_ended(k, j, job)) || j->gone)
		add(h, now, CANCELLED, 0, j); /* after its runs have had their say */
	else if (j->state == FTH_JOB_HELD && !has_begun(k, job))
		add(h, now, HELD, 0, j);
}

/* ---- jobs that come ---- */

/* Another life of a key that was submitted before gets a name of its own: KEY~2. */
void fth_engine_key(const struct fth_keeper *k, const struct fth_listed_job *j, struct fth_str *out)
{
	struct fth_str fact = {0};
	int64_t again = json_integer_value(json_object_get(j->doc, "again"));
	fth_str_addf(&fact, "k/%s", j->key);
	const char *lives = fth_live_get(k->live, fact.data);
	again += lives ? atoi(lives) : 0;
	fth_str_add(out, j->key);
	if (again > 0)
		fth_str_addf(out, "~%lld", (long long)again + 1);
	fth_str_release(&fact);
}

/* A waiting job whose name the journal has: what has run to its end is the one that ended there, and its driver may forget it; what has not is another
 * one, and gets a name of its own. Nothing that a driver lets in is dropped without a word. */
static void submitted_before(struct fth_keeper *k, struct fth_listed_job *j, const char *key)
{
	if (j->runs.len && !was_put_back(j))
		j->over = true;
	else
		count_life(k, j); /* and is looked at again */
	k->side[FTH_WORKLOAD].list_wanted = true;
	fth_say(FTH_LOG_WARN, j->over ? "job has ended before, by the journal" : "job bears the name of one that has ended: it gets another", "job:s", key);
}

static void submitted(struct fth_keeper *k, struct fth_listed_job *j)
{
	struct fth_world w;
	struct fth_error err = {0};
	struct fth_str key = {0};
	fth_job_id id = FTH_NONE;
	fth_time estimate = 0, at = FTH_MAX(k->now, fth_live_now(k->live));
	fth_engine_key(k, j, &key);
	int r = fth_job_read(&w, k->cluster, j->doc, key.data, at, &err);
	if (!r) {
		estimate = w.workload.jobs.data[0].estimate;
		if (!estimate)
			estimate = fth_learner_guess(k->learner, &w, at);
		for (size_t g = 0; g < w.workload.groups.len; g++)
			w.workload.groups.data[g].work = estimate; /* all that anybody can know of it */
		r = fth_live_submit(k->live, at, &w.workload, 0, estimate, &id, &err);
	}
	fth_world_release(&w);
	if (!r) {
		fth_job_set_id(k, j, id);
		fth_say(FTH_LOG_INFO, "job submitted", "job:s estimate_s:f", key.data, (double)estimate / 1e6);
	} else if (r == -EEXIST) {
		submitted_before(k, j, key.data);
	} else {
		j->refused = true;
		fth_say(FTH_LOG_WARN, "job refused", "job:s error:s", key.data, err.text);
	}
	k->dirty = true;
	fth_str_release(&key);
}

/* Held after it was let in, before it ran: it leaves, and comes again under another name when it is released. */
static void held(struct fth_keeper *k, struct fth_listed_job *j)
{
	cancelled(k, j);
	another_life(k, j);
}

enum { STARTS = 3 };

void fth_happen_not_started(struct fth_keeper *k, struct fth_listed_job *j)
{
	const struct fth_job *job = j->id == FTH_NONE || j->over ? NULL : fth_cluster_job(k->cluster, j->id);
	j->not_started = FTH_MIN(j->not_started + 1, 30u);
	if (j->not_started < STARTS || !job || !job->tasks_left || has_begun(k, job))
		return;
	int64_t pause = pause_ns(k, j->not_started - STARTS + 1);
	fth_say(FTH_LOG_WARN, "job does not start where it is put: it is put aside for a while", "job:s starts:u seconds:f", j->key, j->not_started,
		(double)pause / 1e9);
	j->aside_until = k->now_ns + pause;
	held(k, j);
}

static int by_time(const void *pa, const void *pb)
{
	const struct happening *a = pa, *b = pb;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void take_task(struct fth_keeper *k, const struct happening *h)
{
	const struct fth_task *t = fth_cluster_task(k->cluster, h->a);
	struct fth_listed_job *j = (struct fth_listed_job *)h->job;
	if (!t || t->state == FTH_TASK_DONE || t->on == FTH_NONE)
		return; /* it fell with its instance, or with its job, meanwhile */
	const struct fth_listed_run *run = fth_run_of(j, fth_task_index(k, t), fth_begun_of(k, t->id)->attempt);
	bool starting = t->state == FTH_TASK_STARTING;
	if (h->what == RUNNING) {
		j->not_started = 0;
		feed_task(k, FTH_EV_TASK_RUNNING, t, h->at);
	} else if (h->what == DONE && run)
		fth_happen_done(k, t, run, j);
	else if (h->what == LEFT)
		feed_task(k, FTH_EV_TASK_LEFT, t, h->at);
	else
		fth_happen_task_lost(k, t, h->at);
	if (starting && h->what == LOST)
		fth_happen_not_started(k, j);
}

static void take(struct fth_keeper *k, const struct happening *h)
{
	struct fth_rented *r;
	switch (h->what) {
	case ACQUIRED:
		k->offers.data[fth_cluster_instance(k->cluster, h->a)->offer].failures = 0;
		feed_instance(k, FTH_EV_INSTANCE_ACQUIRED, h->a, h->at);
		return;
	case READY:
		feed_instance(k, FTH_EV_INSTANCE_READY, h->a, h->at);
		return;
	case NOTICE:
		r = fth_rented_of(k, h->a);
		if (r) {
			struct fth_event ev = event(FTH_EV_REVOCATION_NOTICE);
			ev.instance = h->a;
			ev.at = FTH_MAX(r->take_at - k->epoch, k->now);
			fth_happen_feed(k, ev, h->at);
		}
		return;
	case ENDED:
		r = fth_rented_of(k, h->a);
		if (r)
			instance_gone(k, r);
		else
			feed_instance(k, FTH_EV_INSTANCE_GONE, h->a, h->at);
		return;
	case CANCELLED:
	case HELD: {
		struct fth_listed_job *j = (struct fth_listed_job *)h->job;
		const struct fth_job *job = fth_cluster_job(k->cluster, j->id);
		if (job && job->tasks_left)
			(h->what == HELD ? held : cancelled)(k, j);
		return;
	}
	case SUBMITTED:
		submitted(k, (struct fth_listed_job *)h->job);
		return;
	default:
		take_task(k, h);
	}
}

void fth_happen(struct fth_keeper *k)
{
	happenings h = {0};
	for (size_t i = 0; i < k->rented.len; i++)
		if (k->rented.data[i]->current)
			look_at_instance(k, &h, k->rented.data[i]);
	look_at_unasked(k, &h);
	for (size_t i = 0; k->side[FTH_WORKLOAD].synced && i < k->jobs.len; i++)
		look_at_job(k, &h, k->jobs.data[i]);
	if (h.len)
		qsort(h.data, h.len, sizeof(*h.data), by_time);
	for (size_t i = 0; i < h.len; i++)
		take(k, &h.data[i]);
	fth_vec_release(&h);
	fth_retry_offers(k);
}
