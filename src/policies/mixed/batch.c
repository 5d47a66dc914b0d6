/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch work beside the services: first come first served on the room that is left, or on machines of its own where it may rent them.
 *
 * Jobs go by the order in which they came. One that was running and lost its place was there before all that have not started, so it
 * goes before them. A job whose tasks go together is placed as a whole; if it has lost a part and cannot be made whole at once it gives the
 * rest back, since the rest makes no progress: two such jobs that each kept a part would wait for one another for ever.
 */
#include "policies/mixed/mixed.h"

/* ---- can the services' pool ever hold it? ---- */

/* The first machine from this one on that holds the task; the number of machines: none. */
static size_t first_fit(const struct mixed *m, const struct fth_view *v, const struct fth_task *t, size_t from)
{
	for (; from < m->ideal.len; from++) {
		const struct fth_alt *alt = mixed_alt(v, t, m->ideal.data[from].type);
		if (alt && fth_res_fits(&alt->demand, &m->ideal.data[from].room))
			break;
	}
	return from;
}

/* All tasks of a job, or as many as there is room for; whether that is all. */
static bool imagine_job(struct mixed *m, const struct fth_view *v, const struct fth_job *j)
{
	size_t at = 0, left_out = 0;
	fth_kind_id kind = FTH_NONE;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (!t || t->state == FTH_TASK_DONE)
			continue;
		at = t->kind != kind && !j->anti_affinity ? 0 : at; /* where one of a kind did not fit, the next does not */
		at = first_fit(m, v, t, at);
		kind = t->kind;
		if (at < m->ideal.len)
			fth_res_sub(&m->ideal.data[at].room, &mixed_alt(v, t, m->ideal.data[at].type)->demand);
		else
			left_out++;
		at += j->anti_affinity && at < m->ideal.len;
	}
	return !left_out;
}

/* The pool as it is when all of it is there, with the services on it. */
static void imagine_pool(struct mixed *m, const struct fth_view *v)
{
	fth_vec_clear(&m->ideal);
	fth_map_clear(&m->holds);
	m->imagined = true;
	for (fth_offer_id i = 0; i < m->noffers; i++)
		for (uint32_t n = 0; n < m->want[i]; n++) {
			struct mixed_spot s = {.id = FTH_NONE, .offer = i, .type = v->catalog->offers[i].type};
			s.room = v->catalog->types[s.type].capacity;
			fth_vec_push(&m->ideal, s);
		}
	for (fth_job_id id = v->first_job; id != FTH_NONE && m->ideal.len;) {
		const struct fth_job *j = fth_view_job(v, id);
		id = j->next;
		if (j->kind == FTH_JOB_SERVICE)
			imagine_job(m, v, j);
	}
}

static bool gang_in_pool(struct mixed *m, const struct fth_view *v, const struct fth_job *j)
{
	struct mixed_spot *before = fth_alloc(m->ideal.len * sizeof(*before));
	memcpy(before, m->ideal.data, m->ideal.len * sizeof(*before));
	bool holds = imagine_job(m, v, j);
	memcpy(m->ideal.data, before, m->ideal.len * sizeof(*before));
	free(before);
	return holds;
}

static bool pool_holds(struct mixed *m, const struct fth_view *v, const struct fth_job *j, const struct fth_task *t)
{
	bool gang = fth_job_is_together(j);
	uint64_t key = gang ? (uint64_t)1 << 32 | j->id : t->kind, known;
	if (!m->imagined)
		imagine_pool(m, v);
	if (!m->ideal.len)
		return false;
	if (!fth_map_get(&m->holds, key, &known)) {
		known = gang ? gang_in_pool(m, v, j) : first_fit(m, v, t, 0) < m->ideal.len;
		fth_map_put(&m->holds, key, known);
	}
	return known;
}

/* ---- machines of its own ---- */

static bool could_run(const struct fth_view *v, const struct fth_task *t, fth_offer_id i)
{
	const struct fth_instance_type *type = &v->catalog->types[v->catalog->offers[i].type];
	const struct fth_alt *alt = fth_kind_on_type(&v->kinds[t->kind], type);
	return alt && fth_res_fits(&alt->demand, &type->capacity);
}

static fth_offer_id cheapest_for(const struct fth_view *v, const struct fth_task *t, enum fth_market market)
{
	const struct fth_offer *offers = v->catalog->offers;
	fth_offer_id best = FTH_NONE;
	for (fth_offer_id i = 0; i < v->catalog->noffers; i++)
		if (offers[i].market == market && offers[i].available && could_run(v, t, i) &&
		    (best == FTH_NONE || offers[i].price < offers[best].price))
			best = i;
	return best;
}

static bool may_rent(struct mixed *m, const struct fth_view *v, const struct fth_job *j, const struct fth_task *t)
{
	return m->params->batch != BATCH_NONE && !(m->params->batch == BATCH_STUCK && pool_holds(m, v, j, t));
}

static fth_offer_id offer_for(struct mixed *m, const struct fth_view *v, const struct fth_job *j, const struct fth_task *t)
{
	if (!may_rent(m, v, j, t))
		return FTH_NONE;
	fth_offer_id spot = m->params->batch == BATCH_ON_DEMAND ? FTH_NONE : cheapest_for(v, t, FTH_SPOT);
	return spot != FTH_NONE ? spot : cheapest_for(v, t, FTH_ON_DEMAND);
}

/* It will not run whatever comes, so it must not keep others waiting. */
static bool is_hopeless(struct mixed *m, const struct fth_view *v, const struct fth_job *j, const struct fth_task *t)
{
	if (m->params->batch == BATCH_NONE)
		return !pool_holds(m, v, j, t);
	for (fth_offer_id i = 0; i < m->noffers; i++)
		if (could_run(v, t, i))
			return false;
	return true;
}

/* ---- placing ---- */

static bool place_task(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_job *j, const struct fth_task *t)
{
	struct mixed_spot *s = mixed_find_room(m, v, t);
	if (!s) {
		fth_offer_id offer = offer_for(m, v, j, t);
		if (offer == FTH_NONE)
			return false;
		s = mixed_rent(m, v, plan, offer, "rented for batch work, $0/h");
	}
	mixed_send(m, v, plan, t, s, "batch work on a machine of $0/h");
	return true;
}

/* Whether what waits of it finds room now; nothing is changed. */
static bool gang_fits(struct mixed *m, const struct fth_view *v, const struct fth_job *j)
{
	size_t n = m->board.len, napart = m->apart.len;
	struct mixed_spot *before = fth_alloc((n + 1) * sizeof(*before));
	bool ok = true;
	if (n)
		memcpy(before, m->board.data, n * sizeof(*before));
	for (uint32_t k = 0; k < j->ntasks && ok; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (!t || t->state != FTH_TASK_WAITING)
			continue;
		struct mixed_spot *s = mixed_find_room(m, v, t);
		if (s)
			mixed_take_room(m, v, t, s);
		else
			ok = offer_for(m, v, j, t) != FTH_NONE;
	}
	if (n)
		memcpy(m->board.data, before, n * sizeof(*before));
	m->apart.len = napart;
	free(before);
	return ok;
}

/* What of it has a place gives it up, unless some of it is half-way: then when that is over. */
static void give_back(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_job *j)
{
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (t && (t->state == FTH_TASK_STARTING || t->state == FTH_TASK_STOPPING))
			return;
	}
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		const struct fth_instance *i = t && t->target != FTH_NONE ? fth_view_instance(v, t->target) : NULL;
		if (!i || t->state == FTH_TASK_DONE)
			continue;
		fth_plan_preempt(plan, t->id, (struct fth_reason){"a part of its job has no place; its room of $0/h goes back",
								 {mixed_price(v, i->offer), 0, 0}});
		m->displaced = true;
	}
}

/* Walks over waiting tasks; tasks of one job are neighbours. */
struct queue {
	bool blocked; /* one found no room: those behind it wait, too */
	fth_job_id seen;
	bool whole;   /* the job seen last is placed as a whole, or goes task by task */
};

static void next_in_line(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, struct queue *q, const struct fth_task *t)
{
	const struct fth_job *j = fth_view_job(v, t->job);
	if (!j || j->kind == FTH_JOB_SERVICE)
		return;
	if (q->seen != j->id) {
		q->seen = j->id;
		q->whole = !fth_job_is_together(j) || (!q->blocked && gang_fits(m, v, j));
		if (!q->whole)
			give_back(m, v, plan, j);
	}
	if (!q->blocked && !(q->whole && place_task(m, v, plan, j, t)))
		q->blocked = !is_hopeless(m, v, j, t);
}

static int by_id(const void *a, const void *b)
{
	fth_task_id x = *(const fth_task_id *)a, y = *(const fth_task_id *)b;
	return (x > y) - (x < y);
}

static bool waits_again(const struct fth_view *v, const struct fth_task *t)
{
	return t && t->state == FTH_TASK_WAITING && t->since > fth_view_job(v, t->job)->submitted;
}

/* The tasks that lost their place, by the order in which their jobs came. All waiting tasks are looked at only when one can have. */
static void gather_again(struct mixed *m, const struct fth_view *v)
{
	size_t n = 0;
	if (m->displaced) {
		m->displaced = false;
		fth_vec_clear(&m->again);
		for (fth_task_id id = v->first_waiting; id != FTH_NONE; id = fth_view_task(v, id)->next_waiting)
			if (waits_again(v, fth_view_task(v, id)))
				fth_vec_push(&m->again, id);
		if (m->again.len)
			qsort(m->again.data, m->again.len, sizeof(*m->again.data), by_id);
		return;
	}
	for (size_t k = 0; k < m->again.len; k++)
		if (waits_again(v, fth_view_task(v, m->again.data[k])))
			m->again.data[n++] = m->again.data[k];
	m->again.len = n;
}

void mixed_place_batch(struct mixed *m, const struct fth_view *v, struct fth_plan *plan)
{
	struct queue q = {.seen = FTH_NONE};
	gather_again(m, v);
	for (size_t k = 0; k < m->again.len; k++)
		next_in_line(m, v, plan, &q, fth_view_task(v, m->again.data[k]));
	for (fth_task_id id = v->first_waiting; id != FTH_NONE && !q.blocked;) {
		const struct fth_task *t = fth_view_task(v, id);
		id = t->next_waiting;
		if (!waits_again(v, t))
			next_in_line(m, v, plan, &q, t);
	}
}
