/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/shared/board.h"

void fth_board_release(struct fth_board *b)
{
	for (size_t i = 0; i < b->demand.len; i++)
		free(b->demand.data[i]);
	fth_vec_release(&b->demand);
	fth_vec_release(&b->tasks);
	fth_vec_release(&b->groups);
	fth_vec_release(&b->instances);
	fth_vec_release(&b->index);
	fth_vec_release(&b->single_group);
	fth_map_release(&b->group_of);
}

/* Kinds and types never change, so this is worked out once for each kind. */
static const struct fth_res *const *demand_of(struct fth_board *b, const struct fth_view *v, fth_kind_id kind)
{
	while (b->demand.len <= kind)
		fth_vec_push(&b->demand, NULL);
	if (!b->demand.data[kind]) {
		const struct fth_res **row = fth_alloc((v->catalog->ntypes + 1) * sizeof(*row));
		for (fth_type_id t = 0; t < v->catalog->ntypes; t++) {
			const struct fth_alt *a = fth_kind_on_type(&v->kinds[kind], &v->catalog->types[t]);
			row[t] = a && fth_res_fits(&a->demand, &v->catalog->types[t].capacity) ? &a->demand : NULL;
		}
		b->demand.data[kind] = row;
	}
	return b->demand.data[kind];
}

static uint32_t add_group(struct fth_board *b, const struct fth_view *v, struct fth_prices *prices, fth_kind_id kind,
			  uint32_t job_tasks)
{
	const struct fth_kind_price *p = fth_prices_of(prices, v, kind);
	struct fth_board_group g = {kind, job_tasks, FTH_NONE, p->offer, p->rp, demand_of(b, v, kind)};
	fth_vec_push(&b->groups, g);
	return (uint32_t)b->groups.len - 1;
}

static uint32_t group_of(struct fth_board *b, const struct fth_view *v, struct fth_prices *prices, fth_kind_id kind,
			 uint32_t job_tasks)
{
	uint64_t at, key = (uint64_t)kind << 32 | job_tasks;
	if (job_tasks == 1) {
		while (b->single_group.len <= kind)
			fth_vec_push(&b->single_group, FTH_NONE);
		/* Those of earlier rounds are recognised by what they point to. */
		at = b->single_group.data[kind];
		if (at < b->groups.len && b->groups.data[at].kind == kind && b->groups.data[at].job_tasks == 1)
			return (uint32_t)at;
		return b->single_group.data[kind] = add_group(b, v, prices, kind, 1);
	}
	if (fth_map_get(&b->group_of, key, &at))
		return (uint32_t)at;
	uint32_t g = add_group(b, v, prices, kind, job_tasks);
	fth_map_put(&b->group_of, key, g);
	return g;
}

static void look_at_instances(struct fth_board *b, const struct fth_view *v)
{
	fth_vec_clear(&b->instances);
	fth_vec_reserve(&b->index, v->instance_slots);
	b->index.len = v->instance_slots;
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->next;
		b->index.data[i->slot] = FTH_NONE;
		if (i->leaving)
			continue;
		b->index.data[i->slot] = (uint32_t)b->instances.len;
		struct fth_board_instance bi = {i->id, i->offer, i->type, i->state == FTH_INSTANCE_READY,
						i->ncommitted, fth_usd(v->catalog->offers[i->offer].price)};
		fth_vec_push(&b->instances, bi);
	}
}

static bool in_motion(const struct fth_task *t)
{
	return t->state == FTH_TASK_BOUND || t->state == FTH_TASK_STARTING || t->state == FTH_TASK_STOPPING;
}

/* Tasks that advance together move together: one on its way pins them all. */
static bool is_pinned(const struct fth_view *v, const struct fth_job *j)
{
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (t && in_motion(t))
			return true;
	}
	return false;
}

static void look_at_job(struct fth_board *b, const struct fth_view *v, struct fth_prices *prices,
			const struct fth_job *j)
{
	bool together = j->kind != FTH_JOB_INDEPENDENT && j->ntasks > 1;
	bool pinned = together && is_pinned(v, j);
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (!t || t->state == FTH_TASK_DONE)
			continue;
		struct fth_board_task bt = {t->id, j->id, 0, FTH_NONE, pinned || in_motion(t), j->anti_affinity};
		bt.group = group_of(b, v, prices, t->kind, together ? j->ntasks : 1);
		if (t->target != FTH_NONE)
			bt.at = b->index.data[fth_view_instance(v, t->target)->slot];
		/* What is committed to a leaving instance, or waits and fits nothing, is not ours to plan. */
		if (bt.at == FTH_NONE && (bt.pinned || t->target != FTH_NONE))
			continue;
		if (b->groups.data[bt.group].offer == FTH_NONE) {
			if (bt.at == FTH_NONE)
				continue;
			bt.pinned = true;
		}
		b->npinned += bt.pinned;
		fth_vec_push(&b->tasks, bt);
	}
}

void fth_board_look(struct fth_board *b, const struct fth_view *v, struct fth_prices *prices)
{
	fth_vec_clear(&b->tasks);
	fth_vec_clear(&b->groups);
	if (b->group_of.len)
		fth_map_clear(&b->group_of);
	b->npinned = 0;
	look_at_instances(b, v);
	for (fth_job_id id = v->first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_view_job(v, id);
		look_at_job(b, v, prices, j);
		id = j->next;
	}
}

/* ---- drafts ---- */

void fth_draft_release(struct fth_draft *l)
{
	fth_vec_release(&l->slots);
	fth_vec_release(&l->next);
	fth_vec_release(&l->slot_of);
	fth_vec_release(&l->slot_at);
}

void fth_draft_reset(struct fth_draft *l, const struct fth_board *b)
{
	fth_vec_clear(&l->slots);
	fth_vec_reserve(&l->next, b->tasks.len);
	fth_vec_reserve(&l->slot_of, b->tasks.len);
	fth_vec_reserve(&l->slot_at, b->instances.len);
	for (size_t i = 0; i < b->tasks.len; i++)
		l->slot_of.data[i] = FTH_NONE;
	for (size_t i = 0; i < b->instances.len; i++)
		l->slot_at.data[i] = FTH_NONE;
}

uint32_t fth_draft_add_slot(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v,
			     uint32_t instance, fth_offer_id offer)
{
	fth_type_id type = instance == FTH_NONE ? v->catalog->offers[offer].type : b->instances.data[instance].type;
	struct fth_draft_slot s = {.instance = instance,
			     .offer = instance == FTH_NONE ? offer : b->instances.data[instance].offer,
			     .room = v->catalog->types[type].capacity,
			     .first = FTH_NONE,
			     .last = FTH_NONE};
	if (instance != FTH_NONE)
		l->slot_at.data[instance] = (uint32_t)l->slots.len;
	fth_vec_push(&l->slots, s);
	return (uint32_t)l->slots.len - 1;
}

void fth_draft_add_task(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v, uint32_t slot,
			 uint32_t task)
{
	struct fth_draft_slot *s = &l->slots.data[slot];
	const struct fth_res *d =
		b->groups.data[b->tasks.data[task].group].demand[v->catalog->offers[s->offer].type];
	if (d)
		fth_res_sub(&s->room, d);
	l->next.data[task] = FTH_NONE;
	l->slot_of.data[task] = slot;
	if (s->first == FTH_NONE)
		s->first = task;
	else
		l->next.data[s->last] = task;
	s->last = task;
	s->n++;
}

bool fth_draft_keeps_apart(const struct fth_draft *l, const struct fth_board *b, uint32_t slot, uint32_t task)
{
	fth_sym apart = b->tasks.data[task].apart;
	for (uint32_t t = l->slots.data[slot].first; apart && t != FTH_NONE; t = l->next.data[t])
		if (b->tasks.data[t].apart == apart)
			return true;
	return false;
}

void fth_draft_keep(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v, uint32_t task)
{
	uint32_t at = b->tasks.data[task].at, slot = l->slot_at.data[at];
	if (slot == FTH_NONE)
		slot = fth_draft_add_slot(l, b, v, at, FTH_NONE);
	fth_draft_add_task(l, b, v, slot, task);
}

void fth_draft_seed(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v)
{
	for (uint32_t t = 0; b->npinned && t < b->tasks.len; t++)
		if (b->tasks.data[t].pinned)
			fth_draft_keep(l, b, v, t);
}

double fth_alignment(const struct fth_res *demand, const struct fth_res *room, const struct fth_res *capacity,
		     uint32_t nres)
{
	double score = 0;
	for (uint32_t i = 0; i < nres; i++) {
		double q = (double)capacity->v[i];
		if (capacity->v[i])
			score += ((double)demand->v[i] / q) * ((double)room->v[i] / q);
	}
	return score;
}

/* ---- carrying it out ---- */

static fth_money nano(double usd)
{
	return (fth_money)(usd * 1e9 + 0.5);
}

size_t fth_draft_apply(const struct fth_draft *l, const struct fth_board *b, const struct fth_view *v,
		      struct fth_plan *plan, const char *why, fth_instance_id *ids)
{
	size_t actions = 0;
	fth_instance_id *own = ids ? NULL : fth_alloc((l->slots.len + 1) * sizeof(*own)), *id = ids ? ids : own;
	for (size_t i = 0; i < l->slots.len; i++) {
		const struct fth_draft_slot *s = &l->slots.data[i];
		fth_price price = v->catalog->offers[s->offer].price;
		if (s->instance != FTH_NONE)
			id[i] = b->instances.data[s->instance].id;
		else
			id[i] = fth_plan_launch(plan, &s->offer, 1,
						(struct fth_reason){why, {nano(s->worth), price, 0}});
		actions += s->instance == FTH_NONE;
	}
	for (uint32_t t = 0; t < b->tasks.len; t++) {
		const struct fth_board_task *bt = &b->tasks.data[t];
		uint32_t slot = l->slot_of.data[t];
		if (slot == FTH_NONE || (bt->at != FTH_NONE && l->slots.data[slot].instance == bt->at))
			continue;
		const struct fth_draft_slot *s = &l->slots.data[slot];
		struct fth_reason reason = {why, {nano(s->worth), v->catalog->offers[s->offer].price, 0}};
		if (bt->at == FTH_NONE)
			fth_plan_place(plan, bt->id, id[slot], reason);
		else
			fth_plan_migrate(plan, bt->id, id[slot], reason);
		actions++;
	}
	for (size_t i = 0; i < b->instances.len; i++)
		if (l->slot_at.data[i] == FTH_NONE) {
			struct fth_reason idle = {"no task is planned for it; it costs $0/h",
						  {nano(b->instances.data[i].price), 0, 0}};
			fth_plan_terminate(plan, b->instances.data[i].id, idle);
			actions++;
		}
	free(own);
	return actions;
}
