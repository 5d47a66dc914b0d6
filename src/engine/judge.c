/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: every action of a plan on its own, against the state as the actions before it have left
 * it. What is accepted is applied at once as an intention; the outcome will come as events.
 */
#include "engine/internal.h"

static struct fth_task *live_task(struct fth_engine *e, fth_task_id id)
{
	struct fth_task *t = fth_cluster_task(&e->cluster, id);
	return t && t->state != FTH_TASK_DONE ? t : NULL;
}

static struct fth_instance *live_instance(struct fth_engine *e, fth_instance_id id)
{
	struct fth_instance *i = fth_cluster_instance(&e->cluster, id);
	return i && i->state != FTH_INSTANCE_GONE ? i : NULL;
}

static void add_wish(struct fth_engine *e, const struct fth_instance *i, const fth_offer_id *offers, uint32_t n)
{
	if (!e->free_wishes.len) {
		fth_vec_push(&e->free_wishes, (uint32_t)e->wishes.len);
		fth_vec_push(&e->wishes, (struct wish){0});
	}
	uint32_t at = fth_vec_pop(&e->free_wishes);
	struct wish *w = &e->wishes.data[at];
	fth_vec_clear(&w->offers);
	w->tried = 0;
	for (uint32_t k = 0; k < n; k++)
		fth_vec_push(&w->offers, offers[k]);
	fth_map_put(&e->wish_of, i->id, at);
}

static enum fth_refusal judge_launch(struct fth_engine *e, fth_time now, const struct fth_action *a)
{
	const struct fth_catalog_store *c = &e->cluster.catalog;
	const fth_offer_id *offers = e->plan.offers.data + a->first_offer;
	if (!a->noffers)
		return FTH_REFUSED_MALFORMED;
	for (uint32_t k = 0; k < a->noffers; k++) {
		if (offers[k] >= c->offers.len)
			return FTH_REFUSED_UNKNOWN_OFFER;
		if (!c->offers.data[offers[k]].available)
			return FTH_REFUSED_OFFER_UNAVAILABLE;
	}
	if (e->cfg.limits.max_instances && e->cluster.view.ninstances >= e->cfg.limits.max_instances)
		return FTH_REFUSED_TOO_MANY_INSTANCES;
	enum fth_refusal r = fth_limits_launch(e, offers, a->noffers);
	if (r)
		return r;
	struct fth_instance *i = fth_cluster_add_instance(&e->cluster, offers[0], now);
	i->together = FTH_MAX(a->together, 1u);
	if (a->noffers > 1)
		add_wish(e, i, offers, a->noffers);
	fth_limits_launched(e, i);
	return FTH_ACCEPTED;
}

/* Room on one type, counting the tasks committed to the instance but for those this plan sends away.
 * Should such a task's move be refused after all, fth_judge_repair takes back who came in its place. */
static enum fth_refusal room_on(struct fth_engine *e, const struct fth_task *t, const struct fth_instance *i,
				fth_type_id type)
{
	const struct fth_instance_type *it = &e->cluster.catalog.types.data[type];
	const struct fth_alt *alt = fth_cluster_alt(&e->cluster, t, type);
	if (!alt)
		return FTH_REFUSED_CANNOT_RUN_THERE;
	struct fth_res sum = alt->demand;
	if (type == i->type) {
		fth_res_add(&sum, &i->committed);
		uint32_t from = i->slot < e->departing_from.len ? e->departing_from.data[i->slot] : 0;
		if (from)
			fth_res_sub(&sum, &e->departing.data[from - 1]);
	} else {
		for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
			const struct fth_task *other = fth_cluster_task(&e->cluster, id);
			const struct fth_alt *there = fth_cluster_alt(&e->cluster, other, type);
			if (there)
				fth_res_add(&sum, &there->demand);
			id = other->next_committed;
		}
	}
	return fth_res_fits(&sum, &it->capacity) ? FTH_ACCEPTED : FTH_REFUSED_NO_ROOM;
}

static enum fth_refusal affinity_on(struct fth_engine *e, const struct fth_task *t, const struct fth_instance *i)
{
	fth_sym group = fth_cluster_job(&e->cluster, t->job)->anti_affinity;
	for (fth_task_id id = i->first_committed; group && id != FTH_NONE;) {
		const struct fth_task *other = fth_cluster_task(&e->cluster, id);
		if (fth_cluster_job(&e->cluster, other->job)->anti_affinity == group)
			return FTH_REFUSED_ANTI_AFFINITY;
		id = other->next_committed;
	}
	return FTH_ACCEPTED;
}

/* A task may be committed to an instance whatever acceptable offer it will come from. */
static enum fth_refusal may_commit(struct fth_engine *e, const struct fth_task *t, const struct fth_instance *i)
{
	if (i->leaving)
		return FTH_REFUSED_INSTANCE_LEAVING;
	enum fth_refusal r = room_on(e, t, i, i->type);
	if (!r && i->state == FTH_INSTANCE_REQUESTED) {
		const struct wish *w = fth_engine_wish(e, i);
		for (size_t k = w ? w->tried + 1 : 0; w && k < w->offers.len && !r; k++) {
			fth_type_id type = e->cluster.catalog.offers.data[w->offers.data[k]].type;
			r = type == i->type ? FTH_ACCEPTED : room_on(e, t, i, type);
		}
	}
	return r ? r : affinity_on(e, t, i);
}

/* About to be committed by the action that is being judged (the last one pushed). */
static void arrive(struct fth_engine *e, const struct fth_task *t)
{
	if (!e->departing.len)
		return; /* nobody was to make room, so nobody can come in vain */
	bool alone = !fth_job_is_together(fth_cluster_job(&e->cluster, t->job));
	fth_vec_push(&e->arrivals, ((struct arrival){.action = e->verdicts.len,
						     .accepted = e->accepted.len - 1,
						     .task = t->id,
						     .from = t->target,
						     .ran = t->state == FTH_TASK_RUNNING && alone,
						     .since = t->since,
						     .ran_before = t->ran}));
}

static enum fth_refusal judge_place(struct fth_engine *e, fth_time now, const struct fth_action *a)
{
	struct fth_task *t = live_task(e, a->task);
	struct fth_instance *i = live_instance(e, a->instance);
	if (!t)
		return FTH_REFUSED_UNKNOWN_TASK;
	if (!i)
		return FTH_REFUSED_UNKNOWN_INSTANCE;
	if (t->state != FTH_TASK_WAITING)
		return FTH_REFUSED_NOT_WAITING;
	enum fth_refusal r = may_commit(e, t, i);
	if (r)
		return r;
	arrive(e, t);
	fth_cluster_commit(&e->cluster, t, i);
	fth_cluster_set_state(&e->cluster, t, FTH_TASK_BOUND, now);
	return FTH_ACCEPTED;
}

/*
 * Half-way, and to be left alone until the outcome is known. Tasks that advance together are stopped
 * together, so none of them may be half-way; but one that is being stopped only since this instant,
 * because a sibling moves, can still be given another target.
 */
static bool is_moving(struct fth_engine *e, fth_time now, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	if (!fth_job_is_together(j))
		return t->state == FTH_TASK_STARTING || t->state == FTH_TASK_STOPPING;
	if (t->state == FTH_TASK_STOPPING)
		return t->since != now;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		enum fth_task_state s = fth_cluster_task(&e->cluster, j->first_task + k)->state;
		if (s == FTH_TASK_STARTING || s == FTH_TASK_STOPPING)
			return true;
	}
	return false;
}

static void depart(struct fth_engine *e, const struct fth_task *t, bool announce)
{
	const struct fth_instance *from = fth_cluster_instance(&e->cluster, t->target);
	const struct fth_res *demand = &fth_cluster_alt(&e->cluster, t, from->type)->demand;
	uint32_t *at = &e->departing_from.data[from->slot];
	if (!*at) {
		fth_vec_push(&e->departing, (struct fth_res){0});
		*at = (uint32_t)e->departing.len;
	}
	if (announce)
		fth_res_add(&e->departing.data[*at - 1], demand);
	else
		fth_res_sub(&e->departing.data[*at - 1], demand);
	e->announced.data[t->slot] = announce;
}

void fth_judge_announce(struct fth_engine *e, fth_time now)
{
	fth_vec_recycle(&e->arrivals);
	if (e->departing.len)
		memset(e->departing_from.data, 0, e->departing_from.len * sizeof(*e->departing_from.data));
	fth_vec_recycle(&e->departing);
	while (e->departing_from.len < e->cluster.view.instance_slots)
		fth_vec_push(&e->departing_from, 0);
	while (e->announced.len < e->cluster.view.task_slots)
		fth_vec_push(&e->announced, false);
	for (size_t i = 0; i < e->plan.actions.len; i++) {
		const struct fth_action *a = &e->plan.actions.data[i];
		if (a->kind != FTH_ACT_MIGRATE && a->kind != FTH_ACT_PREEMPT)
			continue;
		const struct fth_task *t = live_task(e, a->task);
		if (t && t->target != FTH_NONE && !e->announced.data[t->slot] && !is_moving(e, now, t))
			depart(e, t, true);
	}
}

/* Its turn has come: from here on it counts where it is committed. */
static void retract(struct fth_engine *e, fth_task_id id)
{
	const struct fth_task *t = live_task(e, id);
	if (t && e->announced.data[t->slot])
		depart(e, t, false);
}

/* Stop the rest of the job where it is, to be started again there. */
static void restart_siblings(struct fth_engine *e, fth_time now, const struct fth_task *t, const struct fth_action *a)
{
	const struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	for (uint32_t k = 0; fth_job_is_together(j) && k < j->ntasks; k++) {
		struct fth_task *s = fth_cluster_task(&e->cluster, j->first_task + k);
		if (s == t || s->state != FTH_TASK_RUNNING)
			continue;
		fth_cluster_set_state(&e->cluster, s, FTH_TASK_STOPPING, now);
		fth_vec_push(&e->accepted, ((struct fth_action){.kind = FTH_ACT_MIGRATE,
								.task = s->id,
								.instance = s->target,
								.reason = a->reason}));
	}
}

/* A draining instance whose last bound task was sent elsewhere has nothing to wait for. */
static void terminate_if_empty(struct fth_engine *e, struct fth_instance *i, const struct fth_action *a)
{
	if (!(i->leaving || i->until_empty) || i->nheld || i->ncommitted)
		return;
	i->leaving = true;
	i->state = FTH_INSTANCE_TERMINATING;
	fth_cluster_touch(&e->cluster, i);
	if (a->kind == FTH_ACT_MIGRATE || a->kind == FTH_ACT_PREEMPT)
		fth_vec_push(&e->accepted, ((struct fth_action){.kind = FTH_ACT_TERMINATE,
								.task = FTH_NONE,
								.instance = i->id,
								.reason = a->reason}));
}

static enum fth_refusal judge_migrate(struct fth_engine *e, fth_time now, const struct fth_action *a)
{
	struct fth_task *t = live_task(e, a->task);
	struct fth_instance *i = live_instance(e, a->instance);
	if (!t)
		return FTH_REFUSED_UNKNOWN_TASK;
	if (!i)
		return FTH_REFUSED_UNKNOWN_INSTANCE;
	if (t->state == FTH_TASK_WAITING || t->target == FTH_NONE)
		return FTH_REFUSED_NOT_BOUND;
	if (t->target == i->id)
		return FTH_REFUSED_SAME_INSTANCE;
	if (is_moving(e, now, t))
		return FTH_REFUSED_MOVING;
	enum fth_refusal r = may_commit(e, t, i);
	if (!r)
		r = fth_limits_move(e, now, t);
	if (r)
		return r;
	struct fth_instance *from = fth_cluster_instance(&e->cluster, t->target);
	arrive(e, t);
	fth_cluster_commit(&e->cluster, t, i);
	terminate_if_empty(e, from, a);
	if (t->state == FTH_TASK_RUNNING) {
		t->moves++;
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_STOPPING, now);
		restart_siblings(e, now, t, a);
	} else if (t->state == FTH_TASK_STOPPING) {
		t->moves++;
	}
	return FTH_ACCEPTED;
}

static enum fth_refusal judge_preempt(struct fth_engine *e, fth_time now, const struct fth_action *a)
{
	struct fth_task *t = live_task(e, a->task);
	if (!t)
		return FTH_REFUSED_UNKNOWN_TASK;
	if (t->state == FTH_TASK_WAITING || t->target == FTH_NONE)
		return FTH_REFUSED_NOT_BOUND;
	if (is_moving(e, now, t))
		return FTH_REFUSED_MOVING;
	enum fth_refusal r = fth_limits_move(e, now, t);
	if (r)
		return r;
	struct fth_instance *from = fth_cluster_instance(&e->cluster, t->target);
	fth_cluster_commit(&e->cluster, t, NULL);
	terminate_if_empty(e, from, a);
	if (t->state == FTH_TASK_RUNNING) {
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_STOPPING, now);
		restart_siblings(e, now, t, a);
	} else if (t->state == FTH_TASK_BOUND) {
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_WAITING, now);
	}
	return FTH_ACCEPTED;
}

static enum fth_refusal judge_leave(struct fth_engine *e, const struct fth_action *a)
{
	struct fth_instance *i = live_instance(e, a->instance);
	if (!i)
		return FTH_REFUSED_UNKNOWN_INSTANCE;
	if (a->kind == FTH_ACT_TERMINATE && i->ncommitted)
		return FTH_REFUSED_HAS_TASKS;
	if (i->state == FTH_INSTANCE_TERMINATING)
		return FTH_REFUSED_INSTANCE_LEAVING;
	i->leaving = true;
	fth_cluster_touch(&e->cluster, i);
	if (i->state == FTH_INSTANCE_READY)
		i->state = FTH_INSTANCE_DRAINING;
	terminate_if_empty(e, i, a);
	return FTH_ACCEPTED;
}

static enum fth_refusal judge_until_empty(struct fth_engine *e, const struct fth_action *a)
{
	struct fth_instance *i = live_instance(e, a->instance);
	if (!i)
		return FTH_REFUSED_UNKNOWN_INSTANCE;
	if (i->leaving)
		return FTH_REFUSED_INSTANCE_LEAVING;
	i->until_empty = true;
	fth_cluster_touch(&e->cluster, i);
	return FTH_ACCEPTED;
}

static bool overflows(struct fth_engine *e, const struct fth_instance *i)
{
	return !fth_res_fits(&i->committed, &e->cluster.catalog.types.data[i->type].capacity);
}

/* Back to where it was if that is still possible, else it waits (once it has left, if it was stopped). */
static void take_back(struct fth_engine *e, fth_time now, const struct arrival *v)
{
	struct fth_task *t = fth_cluster_task(&e->cluster, v->task);
	struct fth_instance *from = v->from == FTH_NONE ? NULL : live_instance(e, v->from);
	struct fth_action *a = &e->accepted.data[v->accepted];
	fth_cluster_commit(&e->cluster, t, NULL);
	bool back = from && !may_commit(e, t, from);
	if (back)
		fth_cluster_commit(&e->cluster, t, from);
	if (t->state == FTH_TASK_STOPPING)
		t->moves--;
	a->kind = FTH_ACT_NKINDS; /* void */
	if (t->state == FTH_TASK_BOUND && !back) {
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_WAITING, now);
	} else if (v->ran && back) {
		fth_cluster_set_state(&e->cluster, t, FTH_TASK_RUNNING, v->since);
		t->ran = v->ran_before;
	} else if (t->state == FTH_TASK_STOPPING) {
		a->kind = back ? FTH_ACT_MIGRATE : FTH_ACT_PREEMPT;
		a->instance = t->target;
	}
	e->verdicts.data[v->action] = FTH_REFUSED_NO_ROOM;
	e->stats.rejected++;
	e->stats.rejected_by[FTH_REFUSED_NO_ROOM]++;
}

void fth_judge_repair(struct fth_engine *e, fth_time now)
{
	bool again = true, any = false;
	while (again) {
		again = false;
		for (size_t k = e->arrivals.len; k-- > 0;) {
			struct arrival *v = &e->arrivals.data[k];
			const struct fth_task *t = v->task == FTH_NONE ? NULL : fth_cluster_task(&e->cluster, v->task);
			if (!t || t->target == FTH_NONE || !overflows(e, fth_cluster_instance(&e->cluster, t->target)))
				continue;
			take_back(e, now, v);
			v->task = FTH_NONE;
			again = any = true;
		}
	}
	for (size_t from = 0, to = 0; any; from++) {
		if (from == e->accepted.len) {
			e->accepted.len = to;
			break;
		}
		if (e->accepted.data[from].kind != FTH_ACT_NKINDS)
			e->accepted.data[to++] = e->accepted.data[from];
	}
}

/* Every one is kept; the same time asked for again is one. */
void fth_judge_wake(struct fth_engine *e, fth_time at)
{
	if (at == FTH_NEVER || fth_map_get(&e->waking, (uint64_t)at, NULL))
		return;
	fth_map_put(&e->waking, (uint64_t)at, 1);
	fth_heap_push(&e->wakes, at, 0, 0, 0, 0);
}

enum fth_refusal fth_judge(struct fth_engine *e, fth_time now, const struct fth_action *a)
{
	if (a->kind == FTH_ACT_MIGRATE || a->kind == FTH_ACT_PREEMPT)
		retract(e, a->task);
	switch (a->kind) {
	case FTH_ACT_LAUNCH:
		return judge_launch(e, now, a);
	case FTH_ACT_PLACE:
		return judge_place(e, now, a);
	case FTH_ACT_MIGRATE:
		return judge_migrate(e, now, a);
	case FTH_ACT_PREEMPT:
		return judge_preempt(e, now, a);
	case FTH_ACT_DRAIN:
	case FTH_ACT_TERMINATE:
		return judge_leave(e, a);
	case FTH_ACT_UNTIL_EMPTY:
		return judge_until_empty(e, a);
	case FTH_ACT_WAKE:
		if (a->at <= now)
			return FTH_REFUSED_IN_THE_PAST;
		fth_judge_wake(e, a->at);
		return FTH_ACCEPTED;
	case FTH_ACT_NKINDS:
		break;
	}
	return FTH_REFUSED_MALFORMED;
}
