/* SPDX-License-Identifier: Apache-2.0 */
/* The modelled cloud: instances come and go, tasks are started and stopped on them. See README.md. */
#include "sim/internal.h"

/* Streams of random draws, so that each kind of draw has its own. */
enum stream { DRAW_ACQUIRE = 1, DRAW_SETUP, DRAW_TERMINATE, DRAW_FAILURE };

static fth_time draw(struct sim *s, enum stream what, const struct fth_instance *i, const struct fth_delay *d)
{
	struct fth_rng rng;
	if (d->min == d->max)
		return d->min;
	fth_rng_seed(&rng, (uint64_t)s->params->seed, what, i->id);
	return fth_delay_draw(d, &rng);
}

static const struct fth_instance_type *type_of(struct sim *s, const struct fth_instance *i)
{
	return &s->cluster->catalog.types.data[i->type];
}

static void request(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	fth_time delay = draw(s, DRAW_ACQUIRE, i, &type_of(s, i)->acquire);
	fth_sim_schedule(s, fth_sim_scaled(delay, s->params->boot_delay_scale), RANK_OUTCOME, ACQUIRED, i->id, si->gen);
}

static void launch(struct sim *s, fth_instance_id id)
{
	const struct fth_instance *i = fth_cluster_instance(s->cluster, id);
	struct sim_instance *si = fth_sim_instance(s, i);
	si->gen++;
	si->dirty = si->going = si->waited_for = false;
	fth_vec_clear(&si->held);
	fth_vec_clear(&si->images);
	request(s, i);
}

/* A leaving instance that is empty goes now. */
static void maybe_go(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	if (i->state != FTH_INSTANCE_TERMINATING || si->going)
		return;
	si->going = true;
	si->gen++;
	fth_time delay = draw(s, DRAW_TERMINATE, i, &type_of(s, i)->terminate);
	fth_sim_schedule(s, delay, RANK_OUTCOME, GONE, i->id, si->gen);
}

/* ---- starting ---- */

static bool has_image(const struct sim_instance *si, fth_sym image)
{
	for (size_t k = 0; k < si->images.len; k++)
		if (si->images.data[k] == image)
			return true;
	return false;
}

static int start(struct sim *s, const struct fth_task *t, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	const struct fth_kind *k = &s->cluster->view.kinds[t->kind];
	fth_time delay = k->delays.fetch;
	if (!k->image || !has_image(si, k->image))
		delay += k->delays.setup; /* there once a launch with it is over, not before */
	fth_vec_push(&si->held, t->id);
	struct sim_task *st = fth_sim_task(s, t);
	st->stopping = false;
	delay = fth_sim_pause(s, t, PAUSE_START, delay);
	if (st->not_before > s->now)
		delay = FTH_MIN(delay, FTH_NEVER - st->not_before) + st->not_before - s->now;
	fth_sim_schedule(s, delay, RANK_OUTCOME, LAUNCHED, t->id, ++st->gen);
	return fth_sim_feed(s, FTH_EV_TASK_STARTING, t->id, i->id);
}

static bool is_up(const struct fth_instance *i)
{
	return i->ready != FTH_NEVER && i->state != FTH_INSTANCE_GONE && i->state != FTH_INSTANCE_TERMINATING;
}

static bool has_room(struct sim *s, const struct fth_task *t, const struct fth_instance *i, const struct fth_res *also)
{
	struct fth_res sum = fth_cluster_alt(s->cluster, t, i->type)->demand;
	fth_res_add(&sum, &i->held);
	if (also)
		fth_res_add(&sum, also);
	return fth_res_fits(&sum, &type_of(s, i)->capacity);
}

/* One on its way out counts no more for the judge, but it is still there. */
static bool is_apart(struct sim *s, const struct fth_task *t, const struct fth_instance *i)
{
	const struct sim_instance *si = fth_sim_instance(s, i);
	fth_sym group = fth_cluster_job(s->cluster, t->job)->anti_affinity;
	for (size_t k = 0; group && k < si->held.len; k++) {
		const struct fth_task *other = fth_cluster_task(s->cluster, si->held.data[k]);
		if (fth_cluster_job(s->cluster, other->job)->anti_affinity == group)
			return false;
	}
	return true;
}

/* All tasks of a rigid job at once, or none. */
static int try_start_rigid(struct sim *s, const struct fth_job *j)
{
	bool ok = true;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_cluster_task(s->cluster, j->first_task + k);
		const struct fth_instance *i = fth_cluster_instance(s->cluster, t->target);
		if (t->state != FTH_TASK_BOUND || !i || !is_up(i))
			return 0;
		fth_sim_instance(s, i)->pending = k; /* the last of them on an instance counts */
	}
	fth_vec_reserve(&s->pending, j->ntasks);
	memset(s->pending.data, 0, j->ntasks * sizeof(*s->pending.data));
	for (uint32_t k = 0; k < j->ntasks && ok; k++) {
		const struct fth_task *t = fth_cluster_task(s->cluster, j->first_task + k);
		const struct fth_instance *i = fth_cluster_instance(s->cluster, t->target);
		struct fth_res *pending = &s->pending.data[fth_sim_instance(s, i)->pending];
		ok = has_room(s, t, i, pending) && is_apart(s, t, i);
		fth_res_add(pending, &fth_cluster_alt(s->cluster, t, i->type)->demand);
	}
	int r = 0;
	for (uint32_t k = 0; ok && k < j->ntasks && !r; k++) {
		const struct fth_task *t = fth_cluster_task(s->cluster, j->first_task + k);
		r = start(s, t, fth_cluster_instance(s->cluster, t->target));
	}
	return r;
}

/* Tasks that advance together wait until none of them is still on its way out. */
static bool may_start(struct sim *s, const struct fth_job *j)
{
	if (j->kind != FTH_JOB_COUPLED)
		return true;
	for (uint32_t k = 0; k < j->ntasks; k++)
		if (fth_cluster_task(s->cluster, j->first_task + k)->state == FTH_TASK_STOPPING)
			return false;
	return true;
}

static int try_start_task(struct sim *s, const struct fth_task *t)
{
	const struct fth_instance *i = fth_cluster_instance(s->cluster, t->target);
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	if (t->state != FTH_TASK_BOUND || !i || !is_up(i))
		return 0;
	if (j->kind == FTH_JOB_RIGID)
		return try_start_rigid(s, j);
	return may_start(s, j) && has_room(s, t, i, NULL) && is_apart(s, t, i) ? start(s, t, i) : 0;
}

/* Tasks start when the instant is over: all that leaves in it has left by then, and who starts first
 * does not depend on the order in which room was freed. */
static void may_start_on(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	if (!si->waited_for) {
		si->waited_for = true;
		fth_vec_push(&s->starts, i->id);
	}
}

int fth_cloud_start(struct sim *s)
{
	int r = 0;
	for (size_t k = 0; k < s->starts.len; k++) {
		const struct fth_instance *i = fth_cluster_instance(s->cluster, s->starts.data[k]);
		if (!i)
			continue;
		fth_sim_instance(s, i)->waited_for = false;
		for (fth_task_id id = i->nbound ? i->first_committed : FTH_NONE; is_up(i) && id != FTH_NONE && !r;) {
			const struct fth_task *t = fth_cluster_task(s->cluster, id);
			id = t->next_committed;
			r = try_start_task(s, t);
		}
	}
	fth_vec_recycle(&s->starts);
	return r;
}

/* ---- stopping ---- */

void fth_cloud_released(struct sim *s, const struct fth_task *t, fth_instance_id from)
{
	const struct fth_instance *i = fth_cluster_instance(s->cluster, from);
	struct sim_instance *si = fth_sim_instance(s, i);
	for (size_t k = 0; k < si->held.len; k++)
		if (si->held.data[k] == t->id) {
			memmove(&si->held.data[k], &si->held.data[k + 1],
				(si->held.len - k - 1) * sizeof(*si->held.data));
			si->held.len--;
			return;
		}
}

int fth_cloud_after_release(struct sim *s, fth_instance_id from)
{
	const struct fth_instance *i = fth_cluster_instance(s->cluster, from);
	if (!i || i->state == FTH_INSTANCE_GONE)
		return 0;
	may_start_on(s, i);
	maybe_go(s, i);
	return 0;
}

static void stop(struct sim *s, const struct fth_task *t)
{
	struct sim_task *st = fth_sim_task(s, t);
	if (t->state != FTH_TASK_STOPPING || st->stopping)
		return; /* only bound so far, or stopped already with a sibling */
	st->stopping = true;
	fth_time delay = s->cluster->view.kinds[t->kind].delays.stop;
	fth_sim_schedule(s, fth_sim_pause(s, t, PAUSE_STOP, delay), RANK_OUTCOME, STOPPED, t->id, ++st->gen);
}

static int left(struct sim *s, const struct fth_task *t)
{
	fth_instance_id from = t->on;
	fth_sim_task(s, t)->stopping = false;
	fth_cloud_released(s, t, from);
	int r = fth_sim_feed(s, FTH_EV_TASK_LEFT, t->id, from);
	fth_progress_saved(s, t);
	if (!r)
		r = fth_cloud_after_release(s, from);
	/* It, or the whole job that waited for it, may start elsewhere now. */
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	bool together = fth_job_is_together(j);
	for (uint32_t k = 0; k < (together ? j->ntasks : 1); k++) {
		const struct fth_task *other = together ? fth_cluster_task(s->cluster, j->first_task + k) : t;
		if (other->target != FTH_NONE)
			may_start_on(s, fth_cluster_instance(s->cluster, other->target));
	}
	return r;
}

/* ---- actions and outcomes ---- */

static void place(struct sim *s, const struct fth_task *t, const struct fth_instance *i, fth_time at)
{
	fth_sim_task(s, t)->not_before = at;
	may_start_on(s, i);
}

int fth_cloud_act(struct sim *s, const struct fth_accepted *acts)
{
	for (size_t k = 0; k < acts->n; k++) {
		const struct fth_action *a = &acts->actions[k];
		const struct fth_task *t = a->task == FTH_NONE ? NULL : fth_cluster_task(s->cluster, a->task);
		const struct fth_instance *i =
			a->instance == FTH_NONE ? NULL : fth_cluster_instance(s->cluster, a->instance);
		if (a->kind == FTH_ACT_LAUNCH)
			launch(s, a->instance);
		else if (a->kind == FTH_ACT_PLACE)
			place(s, t, i, a->at);
		else if (a->kind == FTH_ACT_MIGRATE && t->state == FTH_TASK_BOUND)
			may_start_on(s, i);
		else if (a->kind == FTH_ACT_MIGRATE || a->kind == FTH_ACT_PREEMPT)
			stop(s, t);
		else if (a->kind == FTH_ACT_DRAIN || a->kind == FTH_ACT_TERMINATE)
			maybe_go(s, i);
	}
	return 0;
}

static int acquired(struct sim *s, const struct fth_instance *i)
{
	struct fth_rng rng;
	struct sim_instance *si = fth_sim_instance(s, i);
	fth_rng_seed(&rng, (uint64_t)s->params->seed, DRAW_FAILURE, (uint64_t)i->id << 32 | i->offer);
	bool offered = s->cluster->catalog.offers.data[i->offer].available;
	if (!offered || (s->params->launch_failure > 0 && fth_rng_real(&rng) < s->params->launch_failure)) {
		struct fth_event ev = {.kind = FTH_EV_LAUNCH_FAILED,
				       .why = FTH_FAIL_CAPACITY,
				       .time = s->now,
				       .job = FTH_NONE,
				       .task = FTH_NONE,
				       .instance = i->id,
				       .offer = i->offer};
		int r = fth_engine_feed(s->engine, &ev, s->err);
		if (!r && i->state == FTH_INSTANCE_REQUESTED)
			request(s, i); /* the next acceptable offer */
		return r;
	}
	const struct fth_instance_type *type = type_of(s, i);
	fth_time delay = type->boot[0].size ? fth_boot_time(type, i->together) : draw(s, DRAW_SETUP, i, &type->setup);
	fth_sim_schedule(s, fth_sim_scaled(delay, s->params->boot_delay_scale), RANK_OUTCOME, READY, i->id, si->gen);
	fth_market_acquired(s, i);
	return fth_sim_feed(s, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, i->id);
}

static int instance_outcome(struct sim *s, const struct fth_heap_item *item)
{
	const struct fth_instance *i = fth_cluster_instance(s->cluster, item->b);
	if (item->a == ACQUIRED)
		return acquired(s, i);
	if (item->a == GONE)
		return fth_sim_feed(s, FTH_EV_INSTANCE_GONE, FTH_NONE, i->id);
	may_start_on(s, i);
	return fth_sim_feed(s, FTH_EV_INSTANCE_READY, FTH_NONE, i->id);
}

int fth_cloud_outcome(struct sim *s, const struct fth_heap_item *item)
{
	if (item->a == ACQUIRED || item->a == READY || item->a == GONE)
		return instance_outcome(s, item);
	const struct fth_task *t = fth_cluster_task(s->cluster, item->b);
	if (item->a == LAUNCHED) {
		struct sim_instance *si = fth_sim_instance(s, fth_cluster_instance(s->cluster, t->on));
		fth_sym image = s->cluster->view.kinds[t->kind].image;
		if (image && !has_image(si, image))
			fth_vec_push(&si->images, image);
		int r = fth_sim_feed(s, FTH_EV_TASK_RUNNING, t->id, t->on);
		if (!r)
			fth_progress_launched(s, t);
		return r;
	}
	if (item->a == LEFT)
		return left(s, t);
	if (fth_progress_stopped(s, t, true))
		return fth_progress_complete(s, t); /* it got there while it was being stopped */
	fth_time delay = s->cluster->view.kinds[t->kind].delays.save;
	fth_sim_schedule(s, fth_sim_pause(s, t, PAUSE_SAVE, delay), RANK_OUTCOME, LEFT, t->id,
			 fth_sim_task(s, t)->gen);
	return fth_sim_feed(s, FTH_EV_TASK_STOPPED, t->id, t->on);
}
