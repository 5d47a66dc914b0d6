/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does an event contradict the state? Asked before anyone is told of it and before anything changes, so
 * that a refused event leaves no trace: not in the cluster, not with the policy, not in a journal.
 */
#include "engine/internal.h"

#include <math.h>

static const char *check_task(const struct fth_engine *e, const struct fth_event *ev)
{
	const struct fth_task *t = fth_cluster_task(&e->cluster, ev->task);
	if (!t || t->state == FTH_TASK_DONE)
		return "no such task";
	if (ev->kind == FTH_EV_TASK_STARTING) {
		if (t->state != FTH_TASK_BOUND || t->target != ev->instance)
			return "the task is not bound there";
		return fth_cluster_instance(&e->cluster, ev->instance)->ready == FTH_NEVER ? "the instance is not ready"
											  : NULL;
	}
	if (ev->kind == FTH_EV_TASK_LOST && t->on == FTH_NONE)
		return t->target == FTH_NONE || t->target != ev->instance ? "the task was not there" : NULL;
	if (t->on == FTH_NONE || t->on != ev->instance)
		return "the task was not there";
	switch (ev->kind) {
	case FTH_EV_TASK_RUNNING:
		return t->state != FTH_TASK_STARTING ? "the task was not starting" : NULL;
	case FTH_EV_TASK_STOPPED:
	case FTH_EV_TASK_LEFT:
		return t->state != FTH_TASK_STOPPING ? "the task was not being stopped" : NULL;
	case FTH_EV_TASK_DONE:
		return t->state != FTH_TASK_RUNNING && t->state != FTH_TASK_STOPPING ? "the task was not running" : NULL;
	case FTH_EV_THROUGHPUT:
		return isfinite(ev->rate) ? NULL : "the speed is not a number";
	default:
		return NULL;
	}
}

static const char *check_instance(const struct fth_engine *e, const struct fth_event *ev)
{
	const struct fth_instance *i = fth_cluster_instance(&e->cluster, ev->instance);
	if (!i || i->state == FTH_INSTANCE_GONE)
		return "no such instance";
	switch (ev->kind) {
	case FTH_EV_INSTANCE_ACQUIRED:
		return i->acquired != FTH_NEVER ? "the instance was already acquired" : NULL;
	case FTH_EV_INSTANCE_READY:
		return i->acquired == FTH_NEVER || i->ready != FTH_NEVER ? "the instance was not booting" : NULL;
	case FTH_EV_LAUNCH_FAILED:
		if (i->acquired != FTH_NEVER)
			return "the instance was already acquired";
		return ev->offer != FTH_NONE && ev->offer != i->offer ? "it was not asked for on that offer" : NULL;
	case FTH_EV_INSTANCE_REVOKED:
		return i->acquired == FTH_NEVER ? "the instance was never acquired" : NULL;
	case FTH_EV_INSTANCE_GONE:
		return i->nheld || i->ncommitted ? "tasks are still there" : NULL;
	default:
		return NULL;
	}
}

static const char *check(const struct fth_engine *e, const struct fth_event *ev)
{
	if (ev->time < e->now || ev->time == FTH_NEVER)
		return "time does not run backwards, nor to its end";
	switch (ev->kind) {
	case FTH_EV_JOB_SUBMITTED:
	case FTH_EV_JOB_DONE:
	case FTH_EV_TIMER:
		return "it is the engine's own";
	case FTH_EV_JOB_CANCELLED: {
		const struct fth_job *j = fth_cluster_job(&e->cluster, ev->job);
		return !j || !j->tasks_left ? "no such job" : NULL;
	}
	case FTH_EV_TASK_STARTING:
	case FTH_EV_TASK_RUNNING:
	case FTH_EV_TASK_STOPPED:
	case FTH_EV_TASK_LEFT:
	case FTH_EV_TASK_DONE:
	case FTH_EV_TASK_LOST:
	case FTH_EV_THROUGHPUT:
		return check_task(e, ev);
	case FTH_EV_OFFER_CHANGED:
		return ev->offer >= e->cluster.catalog.offers.len || ev->price < 0 ? "no such offer, or a negative price"
										   : NULL;
	case FTH_EV_INSTANCE_ACQUIRED:
	case FTH_EV_INSTANCE_READY:
	case FTH_EV_INSTANCE_GONE:
	case FTH_EV_LAUNCH_FAILED:
	case FTH_EV_REVOCATION_NOTICE:
	case FTH_EV_INSTANCE_REVOKED:
		return check_instance(e, ev);
	case FTH_EV_NKINDS:
		break;
	}
	return "unknown kind";
}

int fth_event_check(const struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	const char *wrong = check(e, ev);
	if (!wrong)
		return 0;
	return fth_fail(err, -EINVAL, "event %s at %lld us: %s", fth_event_name(ev->kind), (long long)ev->time, wrong);
}
