/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reducer: how each event changes the cluster; fth_event_check has found it possible. Some events
 * imply others (the last task of a job, the tasks of a lost instance); those are made here, so that a
 * journal of the given events is enough to rebuild everything.
 */
#include "engine/internal.h"

static void imply(struct fth_engine *e, const struct fth_event *cause, enum fth_event_kind kind, fth_job_id job,
		  fth_task_id task, fth_instance_id instance)
{
	struct fth_event ev = {
		.kind = kind, .time = cause->time, .job = job, .task = task, .instance = instance, .offer = FTH_NONE};
	fth_engine_take(e, &ev);
}

/* A leaving instance with nothing on it is on its way out; the driver ends it. */
static void maybe_empty(struct fth_instance *i)
{
	if (!(i->leaving || i->until_empty) || i->nheld || i->ncommitted || i->state == FTH_INSTANCE_GONE)
		return;
	i->leaving = true;
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

static void task_done(struct fth_engine *e, const struct fth_event *ev, struct fth_task *t)
{
	struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	leave_room(e, t);
	give_up_target(e, t);
	fth_cluster_set_state(&e->cluster, t, FTH_TASK_DONE, ev->time);
	if (--j->tasks_left == 0)
		imply(e, ev, FTH_EV_JOB_DONE, j->id, FTH_NONE, FTH_NONE);
}

static void reduce_task(struct fth_engine *e, const struct fth_event *ev)
{
	struct fth_task *t = fth_cluster_task(&e->cluster, ev->task);
	switch (ev->kind) {
	case FTH_EV_TASK_STARTING:
		fth_cluster_hold(&e->cluster, t, fth_cluster_instance(&e->cluster, ev->instance));
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_STARTING, ev->time);
		return;
	case FTH_EV_TASK_RUNNING:
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_RUNNING, ev->time);
		return;
	case FTH_EV_TASK_STOPPED:
		t->rate = -1;
		return;
	case FTH_EV_TASK_LEFT:
		leave_room(e, t);
		fth_cluster_set_state(&e->cluster, t, t->target == FTH_NONE ? FTH_TASK_WAITING : FTH_TASK_BOUND,
				      ev->time);
		return;
	case FTH_EV_TASK_LOST:
		leave_room(e, t);
		give_up_target(e, t);
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_WAITING, ev->time);
		return;
	case FTH_EV_THROUGHPUT:
		t->rate = ev->rate;
		return;
	default:
		task_done(e, ev, t);
	}
}

/* A task falls; the rest of a rigid job, which runs as one, falls with it. But one that was only bound there
 * takes nobody with it: the others may still be on their way out, being saved. */
static void lose_task(struct fth_engine *e, const struct fth_event *ev, struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	bool whole = j->kind == FTH_JOB_RIGID && t->on != FTH_NONE;
	imply(e, ev, FTH_EV_TASK_LOST, FTH_NONE, t->id, t->on != FTH_NONE ? t->on : t->target);
	for (uint32_t k = 0; whole && k < j->ntasks; k++) {
		const struct fth_task *s = fth_cluster_task(&e->cluster, j->first_task + k);
		if (s->on != FTH_NONE)
			imply(e, ev, FTH_EV_TASK_LOST, FTH_NONE, s->id, s->on);
	}
}

/* Tasks committed to, or still holding room on, an instance that falls. */
static void lose_tasks(struct fth_engine *e, const struct fth_event *ev, struct fth_instance *i)
{
	while (i->first_committed != FTH_NONE) {
		struct fth_task *t = fth_cluster_task(&e->cluster, i->first_committed);
		/* One that is still being saved elsewhere is not lost: it will wait once it has left there. */
		if (t->on != FTH_NONE && t->on != i->id)
			fth_cluster_commit(&e->cluster, t, NULL);
		else
			lose_task(e, ev, t);
	}
	/* What is left is on its way to somewhere else: its saving was cut off. Rare, so we look for it. */
	for (fth_job_id id = e->cluster.view.first_job; i->nheld && id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(&e->cluster, id);
		for (uint32_t k = 0; k < j->ntasks; k++) {
			struct fth_task *t = fth_cluster_task(&e->cluster, j->first_task + k);
			if (t->on == i->id)
				lose_task(e, ev, t);
		}
		id = j->next;
	}
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
	fth_engine_drop_wish(e, i);
	fth_cluster_end_instance(&e->cluster, i);
}

static void launch_failed(struct fth_engine *e, const struct fth_event *ev, struct fth_instance *i)
{
	struct wish *w = fth_engine_wish(e, i);
	if (w && ++w->tried < w->offers.len && !i->leaving) {
		fth_cluster_set_offer(&e->cluster, i, w->offers.data[w->tried]);
		return;
	}
	lose_tasks(e, ev, i);
	imply(e, ev, FTH_EV_INSTANCE_GONE, FTH_NONE, FTH_NONE, i->id);
}

static void start_meter(struct fth_engine *e, const struct fth_instance *i, enum fth_bill_from from, fth_time now)
{
	const struct fth_offer *o = &e->cluster.catalog.offers.data[i->offer];
	if (o->billing.from == from)
		fth_ledger_open(&e->ledger, i->id, i->offer, &o->billing, o->price, now);
}

static void reduce_instance(struct fth_engine *e, const struct fth_event *ev)
{
	struct fth_instance *i = fth_cluster_instance(&e->cluster, ev->instance);
	fth_cluster_touch(&e->cluster, i);
	switch (ev->kind) {
	case FTH_EV_INSTANCE_ACQUIRED:
		i->acquired = ev->time;
		fth_engine_drop_wish(e, i);
		if (i->state == FTH_INSTANCE_REQUESTED)
			i->state = FTH_INSTANCE_BOOTING;
		/* The offer that answered decides; a bill from the request on counts back. */
		start_meter(e, i, FTH_BILL_FROM_REQUEST, i->requested);
		start_meter(e, i, FTH_BILL_FROM_ACQUIRED, ev->time);
		return;
	case FTH_EV_INSTANCE_READY:
		i->ready = ev->time;
		if (i->state == FTH_INSTANCE_BOOTING)
			i->state = i->leaving ? FTH_INSTANCE_DRAINING : FTH_INSTANCE_READY;
		start_meter(e, i, FTH_BILL_FROM_READY, ev->time);
		return;
	case FTH_EV_LAUNCH_FAILED:
		launch_failed(e, ev, i);
		return;
	case FTH_EV_REVOCATION_NOTICE:
		i->revoked = i->leaving = true;
		if (i->state == FTH_INSTANCE_READY)
			i->state = FTH_INSTANCE_DRAINING;
		return;
	case FTH_EV_INSTANCE_REVOKED:
		lose_tasks(e, ev, i);
		end_instance(e, i, ev->time, true);
		return;
	default: /* gone */
		end_instance(e, i, ev->time, false);
	}
}

static void reduce_offer(struct fth_engine *e, const struct fth_event *ev)
{
	struct fth_offer *o = &e->cluster.catalog.offers.data[ev->offer];
	fth_ledger_reprice(&e->ledger, ev->offer, o->price, ev->price, ev->time);
	o->price = ev->price;
	/* Containers are for policies that buy them, whatever the market says. */
	bool container = e->cluster.catalog.types.data[o->type].container;
	o->available = ev->available && (!container || (e->cfg.policy->flags & FTH_POLICY_WANTS_CONTAINERS));
}

/* A cancelled job's tasks vanish where they are. */
static void cancel_job(struct fth_engine *e, const struct fth_event *ev)
{
	struct fth_job *j = fth_cluster_job(&e->cluster, ev->job);
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
}

void fth_reduce(struct fth_engine *e, const struct fth_event *ev)
{
	switch (ev->kind) {
	case FTH_EV_JOB_DONE:
		fth_cluster_end_job(&e->cluster, fth_cluster_job(&e->cluster, ev->job));
		return;
	case FTH_EV_JOB_CANCELLED:
		cancel_job(e, ev);
		return;
	case FTH_EV_TASK_STARTING:
	case FTH_EV_TASK_RUNNING:
	case FTH_EV_TASK_STOPPED:
	case FTH_EV_TASK_LEFT:
	case FTH_EV_TASK_DONE:
	case FTH_EV_TASK_LOST:
	case FTH_EV_THROUGHPUT:
		reduce_task(e, ev);
		return;
	case FTH_EV_OFFER_CHANGED:
		reduce_offer(e, ev);
		return;
	case FTH_EV_INSTANCE_ACQUIRED:
	case FTH_EV_INSTANCE_READY:
	case FTH_EV_INSTANCE_GONE:
	case FTH_EV_LAUNCH_FAILED:
	case FTH_EV_REVOCATION_NOTICE:
	case FTH_EV_INSTANCE_REVOKED:
		reduce_instance(e, ev);
		return;
	case FTH_EV_JOB_SUBMITTED: /* fth_engine_submit has made it */
	case FTH_EV_TIMER:
	case FTH_EV_NKINDS:
		return;
	}
}
