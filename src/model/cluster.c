/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cluster.h"

void fth_cluster_init(struct fth_cluster *c, struct fth_symtab *syms, const struct fth_catalog_store *catalog,
		      const struct fth_kinds *kinds, const struct fth_profile *profile)
{
	*c = (struct fth_cluster){.syms = syms, .kinds = kinds};
	fth_catalog_copy(&c->catalog, catalog);
	fth_table_init(&c->jobs, sizeof(struct fth_job));
	fth_table_init(&c->tasks, sizeof(struct fth_task));
	fth_table_init(&c->instances, sizeof(struct fth_instance));
	c->view = (struct fth_view){
		.catalog = &c->catalog.pub,
		.kinds = kinds->list.data,
		.nkinds = (uint32_t)kinds->list.len,
		.profile = profile,
		.first_job = FTH_NONE,
		.last_job = FTH_NONE,
		.first_instance = FTH_NONE,
		.last_instance = FTH_NONE,
		.first_waiting = FTH_NONE,
		.last_waiting = FTH_NONE,
		.cluster = c,
	};
}

void fth_cluster_release(struct fth_cluster *c)
{
	fth_catalog_release(&c->catalog);
	fth_table_release(&c->jobs);
	fth_table_release(&c->tasks);
	fth_table_release(&c->instances);
	fth_vec_release(&c->estimates);
	fth_vec_release(&c->dead_jobs);
	fth_vec_release(&c->dead_instances);
	fth_vec_release(&c->changed);
}

const struct fth_job *fth_view_job(const struct fth_view *v, fth_job_id id)
{
	return fth_cluster_job(v->cluster, id);
}

const struct fth_task *fth_view_task(const struct fth_view *v, fth_task_id id)
{
	return fth_cluster_task(v->cluster, id);
}

const struct fth_instance *fth_view_instance(const struct fth_view *v, fth_instance_id id)
{
	return fth_cluster_instance(v->cluster, id);
}

const char *fth_sym_name(const struct fth_view *v, fth_sym sym)
{
	return fth_sym_str(v->cluster->syms, sym);
}

/* ---- what has changed ---- */

void fth_cluster_touch(struct fth_cluster *c, struct fth_instance *i)
{
	if (i->changed)
		return;
	i->changed = true;
	fth_vec_push(&c->changed, i->id);
	c->view.changed = c->changed.data;
	c->view.nchanged = (uint32_t)c->changed.len;
}

void fth_cluster_seen(struct fth_cluster *c)
{
	for (size_t k = 0; k < c->changed.len; k++) {
		struct fth_instance *i = fth_cluster_instance(c, c->changed.data[k]);
		if (i)
			i->changed = false;
	}
	fth_vec_recycle(&c->changed);
	c->view.changed = NULL;
	c->view.nchanged = 0;
}

/* ---- waiting tasks ---- */

static void wait_append(struct fth_cluster *c, struct fth_task *t)
{
	struct fth_view *v = &c->view;
	t->prev_waiting = v->last_waiting;
	t->next_waiting = FTH_NONE;
	if (v->last_waiting == FTH_NONE)
		v->first_waiting = t->id;
	else
		fth_cluster_task(c, v->last_waiting)->next_waiting = t->id;
	v->last_waiting = t->id;
	v->nwaiting++;
}

static void wait_remove(struct fth_cluster *c, struct fth_task *t)
{
	struct fth_view *v = &c->view;
	if (t->prev_waiting == FTH_NONE)
		v->first_waiting = t->next_waiting;
	else
		fth_cluster_task(c, t->prev_waiting)->next_waiting = t->next_waiting;
	if (t->next_waiting == FTH_NONE)
		v->last_waiting = t->prev_waiting;
	else
		fth_cluster_task(c, t->next_waiting)->prev_waiting = t->prev_waiting;
	t->next_waiting = t->prev_waiting = FTH_NONE;
	v->nwaiting--;
}

void fth_cluster_set_state(struct fth_cluster *c, struct fth_task *t, enum fth_task_state s, fth_time now)
{
	if (t->state == FTH_TASK_WAITING && s != FTH_TASK_WAITING)
		wait_remove(c, t);
	else if (t->state != FTH_TASK_WAITING && s == FTH_TASK_WAITING)
		wait_append(c, t);
	if (t->target != FTH_NONE && (t->state == FTH_TASK_BOUND) != (s == FTH_TASK_BOUND)) {
		struct fth_instance *i = fth_cluster_instance(c, t->target);
		i->nbound = s == FTH_TASK_BOUND ? i->nbound + 1 : i->nbound - 1;
	}
	if (t->target != FTH_NONE)
		fth_cluster_touch(c, fth_cluster_instance(c, t->target));
	if (t->state == FTH_TASK_RUNNING && s != FTH_TASK_RUNNING)
		t->ran += now - t->since;
	t->state = s;
	t->since = now;
}

/* ---- jobs ---- */

static void add_task(struct fth_cluster *c, struct fth_job *j, fth_kind_id kind, fth_time estimate, fth_time now)
{
	fth_task_id id;
	uint32_t slot;
	struct fth_task *t = fth_table_add(&c->tasks, &id, &slot);
	*t = (struct fth_task){
		.id = id,
		.job = j->id,
		.kind = kind,
		.slot = slot,
		.state = FTH_TASK_WAITING,
		.target = FTH_NONE,
		.on = FTH_NONE,
		.since = now,
		.estimate = estimate,
		.rate = -1,
		.next_committed = FTH_NONE,
		.prev_committed = FTH_NONE,
	};
	wait_append(c, t);
	c->view.ntasks++;
}

struct fth_job *fth_cluster_add_job(struct fth_cluster *c, const struct fth_job_item *item, fth_time now,
				    fth_time estimate, bool exactly)
{
	const struct fth_job_spec *s = item->spec;
	struct fth_view *v = &c->view;
	fth_job_id id;
	uint32_t slot;
	struct fth_job *j = fth_table_add(&c->jobs, &id, &slot);
	*j = (struct fth_job){
		.id = id,
		.slot = slot,
		.name = s->key,
		.user = s->user,
		.anti_affinity = s->anti_affinity,
		.kind = s->kind,
		.priority = s->priority,
		.first_task = c->tasks.next_id,
		.submitted = now,
		.deadline = s->deadline,
		.estimate = estimate,
		.next = FTH_NONE,
		.prev = v->last_job,
		.availability = s->availability,
	};
	if (v->last_job == FTH_NONE)
		v->first_job = id;
	else
		fth_cluster_job(c, v->last_job)->next = id;
	v->last_job = id;
	v->njobs++;
	size_t n = 0;
	for (uint32_t g = 0; g < s->ngroups; g++)
		n += item->groups[g].count;
	fth_vec_reserve(&c->estimates, n);
	fth_item_estimates(item, estimate, exactly, c->estimates.data);
	for (uint32_t g = 0; g < s->ngroups; g++)
		for (uint32_t i = 0; i < item->groups[g].count; i++, j->ntasks++)
			add_task(c, j, item->groups[g].kind, c->estimates.data[j->ntasks], now);
	j->tasks_left = j->ntasks;
	v->kinds = c->kinds->list.data;
	v->nkinds = (uint32_t)c->kinds->list.len;
	v->job_slots = c->jobs.nslots;
	v->task_slots = c->tasks.nslots;
	return j;
}

void fth_cluster_end_job(struct fth_cluster *c, struct fth_job *j)
{
	struct fth_view *v = &c->view;
	if (j->prev == FTH_NONE)
		v->first_job = j->next;
	else
		fth_cluster_job(c, j->prev)->next = j->next;
	if (j->next == FTH_NONE)
		v->last_job = j->prev;
	else
		fth_cluster_job(c, j->next)->prev = j->prev;
	v->njobs--;
	v->ntasks -= j->ntasks;
	fth_vec_push(&c->dead_jobs, j->id);
}

/* ---- instances ---- */

struct fth_instance *fth_cluster_add_instance(struct fth_cluster *c, fth_offer_id offer, fth_time now)
{
	struct fth_view *v = &c->view;
	fth_instance_id id;
	uint32_t slot;
	struct fth_instance *i = fth_table_add(&c->instances, &id, &slot);
	*i = (struct fth_instance){
		.id = id,
		.slot = slot,
		.offer = offer,
		.type = c->catalog.offers.data[offer].type,
		.state = FTH_INSTANCE_REQUESTED,
		.first_committed = FTH_NONE,
		.last_committed = FTH_NONE,
		.requested = now,
		.acquired = FTH_NEVER,
		.ready = FTH_NEVER,
		.together = 1,
		.next = FTH_NONE,
		.prev = v->last_instance,
	};
	if (v->last_instance == FTH_NONE)
		v->first_instance = id;
	else
		fth_cluster_instance(c, v->last_instance)->next = id;
	v->last_instance = id;
	v->ninstances++;
	v->instance_slots = c->instances.nslots;
	fth_cluster_touch(c, i);
	return i;
}

void fth_cluster_end_instance(struct fth_cluster *c, struct fth_instance *i)
{
	struct fth_view *v = &c->view;
	if (i->prev == FTH_NONE)
		v->first_instance = i->next;
	else
		fth_cluster_instance(c, i->prev)->next = i->next;
	if (i->next == FTH_NONE)
		v->last_instance = i->prev;
	else
		fth_cluster_instance(c, i->next)->prev = i->prev;
	v->ninstances--;
	i->state = FTH_INSTANCE_GONE;
	i->leaving = true;
	fth_cluster_touch(c, i);
	fth_vec_push(&c->dead_instances, i->id);
}

void fth_cluster_sweep(struct fth_cluster *c)
{
	for (size_t k = 0; k < c->dead_jobs.len; k++) {
		struct fth_job *j = fth_cluster_job(c, c->dead_jobs.data[k]);
		for (uint32_t i = 0; i < j->ntasks; i++)
			fth_table_remove(&c->tasks, j->first_task + i);
		fth_table_remove(&c->jobs, j->id);
	}
	for (size_t k = 0; k < c->dead_instances.len; k++)
		fth_table_remove(&c->instances, c->dead_instances.data[k]);
	fth_vec_clear(&c->dead_jobs);
	fth_vec_clear(&c->dead_instances);
}

/* ---- where tasks are ---- */

const struct fth_alt *fth_cluster_alt(const struct fth_cluster *c, const struct fth_task *t, fth_type_id type)
{
	return fth_kind_on_type(&c->view.kinds[t->kind], &c->catalog.types.data[type]);
}

static void uncommit(struct fth_cluster *c, struct fth_task *t)
{
	struct fth_instance *i = fth_cluster_instance(c, t->target);
	if (t->prev_committed == FTH_NONE)
		i->first_committed = t->next_committed;
	else
		fth_cluster_task(c, t->prev_committed)->next_committed = t->next_committed;
	if (t->next_committed == FTH_NONE)
		i->last_committed = t->prev_committed;
	else
		fth_cluster_task(c, t->next_committed)->prev_committed = t->prev_committed;
	t->next_committed = t->prev_committed = FTH_NONE;
	i->ncommitted--;
	i->nbound -= t->state == FTH_TASK_BOUND;
	fth_res_sub(&i->committed, &fth_cluster_alt(c, t, i->type)->demand);
	fth_cluster_touch(c, i);
	t->target = FTH_NONE;
}

void fth_cluster_commit(struct fth_cluster *c, struct fth_task *t, struct fth_instance *to)
{
	if (t->target != FTH_NONE)
		uncommit(c, t);
	if (!to)
		return;
	t->target = to->id;
	t->prev_committed = to->last_committed;
	t->next_committed = FTH_NONE;
	if (to->last_committed == FTH_NONE)
		to->first_committed = t->id;
	else
		fth_cluster_task(c, to->last_committed)->next_committed = t->id;
	to->last_committed = t->id;
	to->ncommitted++;
	to->nbound += t->state == FTH_TASK_BOUND;
	fth_res_add(&to->committed, &fth_cluster_alt(c, t, to->type)->demand);
	fth_cluster_touch(c, to);
}

void fth_cluster_hold(struct fth_cluster *c, struct fth_task *t, struct fth_instance *on)
{
	if (t->on != FTH_NONE) {
		struct fth_instance *i = fth_cluster_instance(c, t->on);
		fth_res_sub(&i->held, &fth_cluster_alt(c, t, i->type)->demand);
		i->nheld--;
		fth_cluster_touch(c, i);
		t->on = FTH_NONE;
	}
	if (on) {
		fth_res_add(&on->held, &fth_cluster_alt(c, t, on->type)->demand);
		on->nheld++;
		fth_cluster_touch(c, on);
		t->on = on->id;
	}
}

void fth_cluster_set_offer(struct fth_cluster *c, struct fth_instance *i, fth_offer_id offer)
{
	i->offer = offer;
	i->type = c->catalog.offers.data[offer].type;
	fth_cluster_touch(c, i);
	/* Demand may differ by family: count the committed tasks again. */
	i->committed = (struct fth_res){0};
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_cluster_task(c, id);
		fth_res_add(&i->committed, &fth_cluster_alt(c, t, i->type)->demand);
		id = t->next_committed;
	}
}
