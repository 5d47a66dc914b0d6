/* SPDX-License-Identifier: Apache-2.0 */
/* Moving tasks: off under-used instances, and to cheaper ones. */
#include "policies/vc/vc.h"

static int longest_first(const void *a, const void *b)
{
	const struct vc_task *x = a, *y = b;
	if (x->remaining != y->remaining)
		return x->remaining > y->remaining ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* The tasks of an instance, longest first; the slowest to move is returned. */
static fth_time gather(struct vc *v, const struct fth_instance *i)
{
	fth_time slowest = 0;
	fth_vec_clear(&v->moving);
	fth_vec_clear(&v->kinds);
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		const struct fth_job *j = fth_view_job(v->view, t->job);
		struct vc_task m = {.id = t->id, .kind = t->kind, .from = i->id, .at = FTH_NONE};
		m.apart = j->anti_affinity;
		m.remaining = vc_remaining(v, t);
		slowest = FTH_MAX(slowest, vc_pause(v, t->kind));
		fth_vec_push(&v->moving, m);
		fth_vec_push(&v->kinds, t->kind);
		id = t->next_committed;
	}
	if (v->moving.len > 1)
		qsort(v->moving.data, v->moving.len, sizeof(*v->moving.data), longest_first);
	return slowest;
}

/* All of them onto instances that are there, or none. */
static bool repack(struct vc *v)
{
	size_t n = 0;
	fth_vec_clear(&v->before);
	for (; n < v->moving.len; n++) {
		struct vc_task *t = &v->moving.data[n];
		uint32_t at = vc_find(v, t);
		if (at == FTH_NONE)
			break;
		fth_vec_push(&v->before, v->inst.data[at]);
		vc_put(v, t, at);
	}
	if (n == v->moving.len)
		return true;
	while (n--)
		vc_take_off(v, &v->moving.data[n], &v->before.data[n]);
	return false;
}

static void send(struct vc *v, struct fth_plan *plan, const struct vc_inst *from, const char *why)
{
	struct fth_reason reason = {why, {v->view->catalog->offers[from->offer].price, 0, 0}};
	for (size_t k = 0; k < v->moving.len; k++)
		fth_plan_migrate(plan, v->moving.data[k].id, v->inst.data[v->moving.data[k].at].id, reason);
	fth_plan_drain(plan, from->id, reason);
}

/* Buy another one and go there when it is ready; until then the tasks run on where they are. */
static void change_later(struct vc *v, struct fth_plan *plan, fth_instance_id from, fth_offer_id offer, const char *why)
{
	uint32_t inst = vc_rent(v, plan, offer, why);
	v->inst.data[inst].open = false;
	fth_map_put(&v->arriving, v->inst.data[inst].id, 1);
	fth_vec_push(&v->moves, ((struct vc_move){from, v->inst.data[inst].id}));
}

static bool clear_one(struct vc *v, struct fth_plan *plan, uint32_t at)
{
	struct vc_inst from = v->inst.data[at];
	const struct fth_instance *i = fth_view_instance(v->view, from.id);
	fth_time slowest = gather(v, i);
	if (from.remaining <= slowest)
		return false; /* it will be empty before that */
	v->inst.data[at].open = false;
	vc_index_touch(v, at);
	if (repack(v)) {
		send(v, plan, &from, "under-used at $0/h: its tasks fit elsewhere");
		return true;
	}
	uint32_t buy = from.remaining > slowest + v->cfg.spin_up ? vc_cheapest(v, v->kinds.data, v->kinds.len) : FTH_NONE;
	if (buy != FTH_NONE && v->buys.data[buy].price < v->view->catalog->offers[from.offer].price) {
		change_later(v, plan, from.id, v->buys.data[buy].offer, "holds the tasks of an under-used instance for $0/h");
		v->to_new++;
		return true;
	}
	v->inst.data[at].open = from.open;
	vc_index_touch(v, at);
	return false;
}

struct candidate {
	double score;
	uint32_t inst;
};

static int dearest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	return (x->inst > y->inst) - (x->inst < y->inst);
}

void vc_clear(struct vc *v, struct fth_plan *plan)
{
	FTH_VEC(struct candidate) list = {0};
	for (uint32_t k = 0; k < v->inst.len; k++) {
		const struct vc_inst *i = &v->inst.data[k];
		if (i->slot == FTH_NONE || !i->settled || !i->open || i->low <= v->cfg.patience)
			continue;
		const struct fth_instance *real = fth_view_instance(v->view, i->id);
		const struct fth_res *cap = &v->view->catalog->types[i->type].capacity;
		double score = vc_score(v, &real->committed, cap, v->view->catalog->offers[i->offer].price);
		fth_vec_push(&list, ((struct candidate){score, k}));
	}
	if (list.len > 1)
		qsort(list.data, list.len, sizeof(*list.data), dearest_first);
	for (size_t k = 0; k < list.len; k++) {
		uint32_t at = list.data[k].inst;
		/* It may have received the tasks of another one just now. */
		if (v->inst.data[at].settled && clear_one(v, plan, at)) {
			v->inst.data[at].cleared = true;
			v->cleared++;
		}
	}
	fth_vec_release(&list);
}

/* ---- cheaper elsewhere ---- */

/* Staying costs the old price to the end; moving costs it until the new instance is ready and the tasks are
 * there, and then the new one. */
static bool pays(const struct vc *v, fth_price old, fth_price new, fth_time remaining, fth_time pause)
{
	double r = (double)remaining, m = (double)pause, spin = (double)v->cfg.spin_up;
	return r > spin && (double)old * (spin + m) + (double)new * (m + r - spin) < (double)old * r;
}

void vc_price_moves(struct vc *v, struct fth_plan *plan)
{
	size_t n = v->inst.len;
	for (uint32_t k = 0; k < n && v->buys.len; k++) {
		struct vc_inst i = v->inst.data[k];
		fth_price old = v->view->catalog->offers[i.offer].price;
		if (i.slot == FTH_NONE || !i.settled || !i.ntasks || i.cleared || i.reserved ||
		    v->buys.data[0].price >= old)
			continue;
		fth_time pause = gather(v, fth_view_instance(v->view, i.id));
		uint32_t buy = vc_cheapest(v, v->kinds.data, v->kinds.len);
		if (buy == FTH_NONE || !pays(v, old, v->buys.data[buy].price, i.remaining, pause))
			continue;
		change_later(v, plan, i.id, v->buys.data[buy].offer, "the same tasks run here for $0/h");
		v->inst.data[k].cleared = true;
		v->inst.data[k].open = false;
		vc_index_touch(v, k);
		v->moved++;
	}
}

/* ---- going on with what was begun ---- */

static bool can_go(const struct vc *v, const struct fth_instance *from, const struct fth_instance *to)
{
	struct fth_res sum = to->committed;
	for (fth_task_id id = from->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		const struct fth_res *d = vc_demand(v, t->kind, to->type);
		if (!d || t->state != FTH_TASK_RUNNING)
			return false;
		fth_res_add(&sum, d);
		id = t->next_committed;
	}
	return fth_res_fits(&sum, &v->view->catalog->types[to->type].capacity);
}

static void close_to_tasks(struct vc_inst *i)
{
	if (!i)
		return;
	i->open = i->settled = false;
	i->ntasks = 1; /* not to be let go as empty */
	i->planned = true;
}

static void take_tasks_again(struct vc_inst *i)
{
	if (i)
		i->cleared = false;
}

/* True if the move is over, one way or the other. */
static bool go_on(struct vc *v, struct fth_plan *plan, const struct vc_move *m)
{
	const struct fth_instance *from = fth_view_instance(v->view, m->from), *to = fth_view_instance(v->view, m->to);
	struct fth_reason why = {"its tasks go to a cheaper instance", {0}};
	bool has_from = from && from->state != FTH_INSTANCE_GONE && !from->leaving && from->ncommitted;
	if (!to || to->state == FTH_INSTANCE_GONE || to->leaving) {
		if (has_from)
			take_tasks_again(vc_known(v, m->from));
		return true;
	}
	if (!has_from)
		return true; /* the new one is empty, and let go as such */
	struct vc_inst *new = vc_known(v, m->to);
	close_to_tasks(new);
	if (to->state != FTH_INSTANCE_READY)
		return false;
	if (!can_go(v, from, to)) {
		new->ntasks = 0;
		take_tasks_again(vc_known(v, m->from));
		return true;
	}
	close_to_tasks(vc_known(v, m->from));
	for (fth_task_id id = from->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		id = t->next_committed;
		fth_plan_migrate(plan, t->id, to->id, why);
	}
	fth_plan_drain(plan, from->id, why);
	return true;
}

void vc_go_on(struct vc *v, struct fth_plan *plan)
{
	size_t n = 0;
	for (size_t k = 0; k < v->moves.len; k++) {
		struct vc_move m = v->moves.data[k];
		if (!go_on(v, plan, &m)) {
			v->moves.data[n++] = m;
			continue;
		}
		struct vc_inst *to = vc_known(v, m.to);
		fth_map_del(&v->arriving, m.to);
		if (to)
			to->reserved = false;
	}
	v->moves.len = n;
}
