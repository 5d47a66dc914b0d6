/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reducer: how each event changes the cluster. An event that contradicts the state is refused
 * whole. Some events imply others (the last task of a job, the tasks of a lost instance); those are
 * made here, so that a journal of the given events is enough to rebuild everything.
 */
#include "engine/internal.h"

static int contradiction(struct fth_error *err, const struct fth_event *ev, const char *what)
{
	return fth_fail(err, -EINVAL, "event %s at %lld us: %s", fth_event_name(ev->kind), (long long)ev->time, what);
}

static int imply(struct fth_engine *e, const struct fth_event *cause, enum fth_event_kind kind, fth_job_id job,
		 fth_task_id task, fth_instance_id instance, struct fth_error *err)
{
	struct fth_event ev = {
		.kind = kind, .time = cause->time, .job = job, .task = task, .instance = instance, .offer = FTH_NONE};
	return fth_engine_take(e, &ev, err);
}

/* A leaving instance with nothing on it is on its way out; the driver ends it. */
static void maybe_empty(struct fth_instance *i)
{
	if (i->leaving && !i->nheld && !i->ncommitted && i->state != FTH_INSTANCE_GONE)
		i->state = FTH_INSTANCE_TERMINATING;
}

static void leave_room(struct fth_engine *e, struct fth_task *t)
{
	struct fth_instance *i = t->on == FTH_NONE ? NULL : fth_cluster_instance(&e->cluster, t->on);
	fth_cluster_hold(&e->cluster, t, NULL);
	t->rate = -1;
	if (i)
		maybe_empty(i);
}

static void give_up_target(struct fth_engine *e, struct fth_task *t)
{
	struct fth_instance *i = t->target == FTH_NONE ? NULL : fth_cluster_instance(&e->cluster, t->target);
	fth_cluster_commit(&e->cluster, t, NULL);
	if (i)
		maybe_empty(i);
}

static int task_done(struct fth_engine *e, const struct fth_event *ev, struct fth_task *t, struct fth_error *err)
{
	if (t->state != FTH_TASK_RUNNING && t->state != FTH_TASK_STOPPING)
		return contradiction(err, ev, "the task was not running");
	struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	leave_room(e, t);
	give_up_target(e, t);
	fth_cluster_set_state(&e->cluster, t, FTH_TASK_DONE, ev->time);
	if (--j->tasks_left == 0)
		return imply(e, ev, FTH_EV_JOB_DONE, j->id, FTH_NONE, FTH_NONE, err);
	return 0;
}

static int reduce_task(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	struct fth_task *t = fth_cluster_task(&e->cluster, ev->task);
	if (!t || t->state == FTH_TASK_DONE)
		return contradiction(err, ev, "no such task");
	switch (ev->kind) {
	case FTH_EV_TASK_STARTING:
		if (t->state != FTH_TASK_BOUND || t->target != ev->instance)
			return contradiction(err, ev, "the task is not bound there");
		fth_cluster_hold(&e->cluster, t, fth_cluster_instance(&e->cluster, ev->instance));
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_STARTING, ev->time);
		return 0;
	case FTH_EV_TASK_RUNNING:
		if (t->state != FTH_TASK_STARTING)
			return contradiction(err, ev, "the task was not starting");
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_RUNNING, ev->time);
		return 0;
	case FTH_EV_TASK_STOPPED:
		if (t->state != FTH_TASK_STOPPING)
			return contradiction(err, ev, "the task was not being stopped");
		t->rate = -1;
		return 0;
	case FTH_EV_TASK_LEFT:
		if (t->state != FTH_TASK_STOPPING)
			return contradiction(err, ev, "the task was not being stopped");
		leave_room(e, t);
		fth_cluster_set_state(&e->cluster, t, t->target == FTH_NONE ? FTH_TASK_WAITING : FTH_TASK_BOUND,
				      ev->time);
		return 0;
	case FTH_EV_TASK_LOST:
		leave_room(e, t);
		give_up_target(e, t);
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_WAITING, ev->time);
		return 0;
	case FTH_EV_THROUGHPUT:
		t->rate = ev->rate;
		return 0;
	default:
		return task_done(e, ev, t, err);
	}
}

/* A task falls; the rest of a rigid job, which runs as one, falls with it. */
static int lose_task(struct fth_engine *e, const struct fth_event *ev, struct fth_task *t, struct fth_error *err)
{
	const struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	int r = imply(e, ev, FTH_EV_TASK_LOST, FTH_NONE, t->id, t->on != FTH_NONE ? t->on : t->target, err);
	for (uint32_t k = 0; j->kind == FTH_JOB_RIGID && k < j->ntasks && !r; k++) {
		const struct fth_task *s = fth_cluster_task(&e->cluster, j->first_task + k);
		if (s->on != FTH_NONE)
			r = imply(e, ev, FTH_EV_TASK_LOST, FTH_NONE, s->id, s->on, err);
	}
	return r;
}

/* Tasks committed to, or still holding room on, an instance that falls. */
static int lose_tasks(struct fth_engine *e, const struct fth_event *ev, struct fth_instance *i, struct fth_error *err)
{
	int r = 0;
	while (i->first_committed != FTH_NONE && !r) {
		struct fth_task *t = fth_cluster_task(&e->cluster, i->first_committed);
		/* One that is still being saved elsewhere is not lost: it will wait once it has left there. */
		if (t->on != FTH_NONE && t->on != i->id)
			fth_cluster_commit(&e->cluster, t, NULL);
		else
			r = lose_task(e, ev, t, err);
	}
	/* What is left is on its way to somewhere else: its saving was cut off. Rare, so we look for it. */
	for (fth_job_id id = e->cluster.view.first_job; i->nheld && id != FTH_NONE && !r;) {
		const struct fth_job *j = fth_cluster_job(&e->cluster, id);
		for (uint32_t k = 0; k < j->ntasks && !r; k++) {
			struct fth_task *t = fth_cluster_task(&e->cluster, j->first_task + k);
			if (t->on == i->id)
				r = lose_task(e, ev, t, err);
		}
		id = j->next;
	}
	return r;
}

static void close_meter(struct fth_engine *e, fth_instance_id id, fth_time now, bool cut)
{
	const struct fth_charge *charge = fth_ledger_close(&e->ledger, id, now, cut);
	for (struct fth_observer *o = e->observers; charge && o; o = o->next)
		if (o->on_charge)
			o->on_charge(o, &e->cluster, charge);
}

static void end_instance(struct fth_engine *e, struct fth_instance *i, fth_time now, bool cut)
{
	close_meter(e, i->id, now, cut);
	fth_cluster_end_instance(&e->cluster, i);
}

static int launch_failed(struct fth_engine *e, const struct fth_event *ev, struct fth_instance *i, struct fth_error *err)
{
	if (i->state != FTH_INSTANCE_REQUESTED && !(i->leaving && i->acquired == FTH_NEVER))
		return contradiction(err, ev, "the instance was already acquired");
	struct wish *w = &e->wishes.data[i->slot];
	w->tried++;
	if (w->tried < w->offers.len && !i->leaving) {
		fth_cluster_set_offer(&e->cluster, i, w->offers.data[w->tried]);
		return 0;
	}
	int r = lose_tasks(e, ev, i, err);
	return r ? r : imply(e, ev, FTH_EV_INSTANCE_GONE, FTH_NONE, FTH_NONE, i->id, err);
}

static void start_meter(struct fth_engine *e, const struct fth_instance *i, enum fth_bill_from from, fth_time now)
{
	const struct fth_offer *o = &e->cluster.catalog.offers.data[i->offer];
	if (o->billing.from == from)
		fth_ledger_open(&e->ledger, i->id, i->offer, &o->billing, o->price, now);
}

static int reduce_instance(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	struct fth_instance *i = fth_cluster_instance(&e->cluster, ev->instance);
	if (!i || i->state == FTH_INSTANCE_GONE)
		return contradiction(err, ev, "no such instance");
	switch (ev->kind) {
	case FTH_EV_INSTANCE_ACQUIRED:
		if (i->acquired != FTH_NEVER)
			return contradiction(err, ev, "the instance was already acquired");
		i->acquired = ev->time;
		if (i->state == FTH_INSTANCE_REQUESTED)
			i->state = FTH_INSTANCE_BOOTING;
		/* The offer that answered decides; a bill from the request on counts back. */
		start_meter(e, i, FTH_BILL_FROM_REQUEST, i->requested);
		start_meter(e, i, FTH_BILL_FROM_ACQUIRED, ev->time);
		return 0;
	case FTH_EV_INSTANCE_READY:
		if (i->acquired == FTH_NEVER || i->ready != FTH_NEVER)
			return contradiction(err, ev, "the instance was not booting");
		i->ready = ev->time;
		if (i->state == FTH_INSTANCE_BOOTING)
			i->state = FTH_INSTANCE_READY;
		start_meter(e, i, FTH_BILL_FROM_READY, ev->time);
		return 0;
	case FTH_EV_LAUNCH_FAILED:
		return launch_failed(e, ev, i, err);
	case FTH_EV_REVOCATION_NOTICE:
		i->revoked = i->leaving = true;
		if (i->state == FTH_INSTANCE_READY)
			i->state = FTH_INSTANCE_DRAINING;
		return 0;
	case FTH_EV_INSTANCE_REVOKED: {
		int r = lose_tasks(e, ev, i, err);
		if (!r)
			end_instance(e, i, ev->time, true);
		return r;
	}
	default: /* gone */
		if (i->nheld || i->ncommitted)
			return contradiction(err, ev, "tasks are still there");
		end_instance(e, i, ev->time, false);
		return 0;
	}
}

static int reduce_offer(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	struct fth_catalog_store *c = &e->cluster.catalog;
	if (ev->offer >= c->offers.len || ev->price < 0)
		return contradiction(err, ev, "no such offer, or a negative price");
	struct fth_offer *o = &c->offers.data[ev->offer];
	fth_ledger_reprice(&e->ledger, ev->offer, o->price, ev->price, ev->time);
	o->price = ev->price;
	o->available = ev->available;
	return 0;
}

/* A cancelled job's tasks vanish where they are. */
static int cancel_job(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	struct fth_job *j = fth_cluster_job(&e->cluster, ev->job);
	if (!j || !j->tasks_left)
		return contradiction(err, ev, "no such job");
	for (uint32_t k = 0; k < j->ntasks; k++) {
		struct fth_task *t = fth_cluster_task(&e->cluster, j->first_task + k);
		if (t->state == FTH_TASK_DONE)
			continue;
		leave_room(e, t);
		give_up_target(e, t);
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_DONE, ev->time);
	}
	j->tasks_left = 0;
	fth_cluster_end_job(&e->cluster, j);
	return 0;
}

int fth_reduce(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	switch (ev->kind) {
	case FTH_EV_JOB_SUBMITTED:
	case FTH_EV_TIMER:
		return 0;
	case FTH_EV_JOB_DONE:
		fth_cluster_end_job(&e->cluster, fth_cluster_job(&e->cluster, ev->job));
		return 0;
	case FTH_EV_JOB_CANCELLED:
		return cancel_job(e, ev, err);
	case FTH_EV_TASK_STARTING:
	case FTH_EV_TASK_RUNNING:
	case FTH_EV_TASK_STOPPED:
	case FTH_EV_TASK_LEFT:
	case FTH_EV_TASK_DONE:
	case FTH_EV_TASK_LOST:
	case FTH_EV_THROUGHPUT:
		return reduce_task(e, ev, err);
	case FTH_EV_OFFER_CHANGED:
		return reduce_offer(e, ev, err);
	case FTH_EV_INSTANCE_ACQUIRED:
	case FTH_EV_INSTANCE_READY:
	case FTH_EV_INSTANCE_GONE:
	case FTH_EV_LAUNCH_FAILED:
	case FTH_EV_REVOCATION_NOTICE:
	case FTH_EV_INSTANCE_REVOKED:
		return reduce_instance(e, ev, err);
	case FTH_EV_NKINDS:
		break;
	}
	return contradiction(err, ev, "unknown kind");
}
