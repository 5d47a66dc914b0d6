/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bound tasks can start now: their instance is up and has room, what they have run before has ended, all of a rigid job can. That a task
 * starts is an event; the driver is asked once it is committed.
 */
#include "daemon/keeper.h"

#include "daemon/log.h"

static bool is_up(const struct fth_instance *i)
{
	return i->ready != FTH_NEVER && i->state != FTH_INSTANCE_GONE && i->state != FTH_INSTANCE_TERMINATING;
}

static bool has_room(const struct fth_keeper *k, const struct fth_task *t, const struct fth_instance *i, const struct fth_res *also)
{
	struct fth_res sum = fth_cluster_alt(k->cluster, t, i->type)->demand;
	fth_res_add(&sum, &i->held);
	if (also)
		fth_res_add(&sum, also);
	return fth_res_fits(&sum, &k->cluster->catalog.types.data[i->type].capacity);
}

static bool may_start(struct fth_keeper *k, const struct fth_task *t)
{
	const struct fth_listed_job *j = fth_job_by_id(k, t->job);
	const struct fth_begun *b = fth_begun_of(k, t->id);
	bool through = j && fth_run_ended(j, fth_task_index(k, t));
	if (!j || j->gone || (j->state != FTH_JOB_WAITS && !through) || b->not_before > k->now || b->wait_until > k->now_ns)
		return false;
	/* The number of the next run is free of what went before. */
	return !fth_run_lingers(j, fth_task_index(k, t), b->attempt + 1);
}

static void start(struct fth_keeper *k, const struct fth_task *t)
{
	struct fth_event ev = {.kind = FTH_EV_TASK_STARTING, .job = FTH_NONE, .task = t->id, .instance = t->target, .offer = FTH_NONE};
	struct fth_begun *b = fth_begun_of(k, t->id);
	if (fth_happen_feed(k, ev, k->epoch + k->now))
		return;
	b->attempt++;
	b->starting = b->started_by = 0;
	fth_begun_save(k, b);
	/* It had got to its end when we took it for lost with its machine: that is booked here, and nothing is started. */
	struct fth_listed_job *j = fth_job_by_id(k, t->job);
	const struct fth_listed_run *ended = fth_run_ended(j, fth_task_index(k, t));
	if (ended)
		fth_happen_done(k, t, ended, j);
}

static bool start_rigid(struct fth_keeper *k, const struct fth_job *j)
{
	for (uint32_t n = 0; n < j->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, j->first_task + n);
		const struct fth_instance *i = t->target == FTH_NONE ? NULL : fth_cluster_instance(k->cluster, t->target);
		struct fth_res also = {{0}};
		if (t->state != FTH_TASK_BOUND || !i || !is_up(i) || !may_start(k, t))
			return false;
		for (uint32_t m = 0; m < n; m++) {
			const struct fth_task *s = fth_cluster_task(k->cluster, j->first_task + m);
			if (s->target == i->id)
				fth_res_add(&also, &fth_cluster_alt(k->cluster, s, i->type)->demand);
		}
		if (!has_room(k, t, i, &also))
			return false;
	}
	for (uint32_t n = 0; n < j->ntasks; n++)
		start(k, fth_cluster_task(k->cluster, j->first_task + n));
	return true;
}

/* Tasks that advance together wait until none of them is still on its way out. */
static bool is_clear(const struct fth_keeper *k, const struct fth_job *j)
{
	for (uint32_t n = 0; j->kind == FTH_JOB_COUPLED && n < j->ntasks; n++)
		if (fth_cluster_task(k->cluster, j->first_task + n)->state == FTH_TASK_STOPPING)
			return false;
	return true;
}

static bool start_on(struct fth_keeper *k, const struct fth_instance *i)
{
	bool any = false;
	for (fth_task_id id = i->nbound ? i->first_committed : FTH_NONE; id != FTH_NONE;) {
		const struct fth_task *t = fth_cluster_task(k->cluster, id);
		const struct fth_job *j = fth_cluster_job(k->cluster, t->job);
		id = t->next_committed;
		if (t->state != FTH_TASK_BOUND)
			continue;
		if (j->kind == FTH_JOB_RIGID) {
			any |= start_rigid(k, j);
		} else if (is_clear(k, j) && may_start(k, t) && has_room(k, t, i, NULL)) {
			start(k, t);
			any = true;
		}
	}
	return any;
}

bool fth_starts(struct fth_keeper *k)
{
	bool any = false;
	if (!k->side[FTH_WORKLOAD].synced)
		return false;
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		id = i->next;
		if (i->nbound && is_up(i))
			any |= start_on(k, i);
	}
	return any;
}
