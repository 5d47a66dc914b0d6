/* SPDX-License-Identifier: Apache-2.0 */
/* The services' pool: how much they need, and which machines hold that with the availability asked for. */
#include "policies/mixed/mixed.h"

enum { TASKS_MAX = 1000000 };

/* How long each offer could be had: what its availability is estimated from where the catalog does not tell it. */
void mixed_watch(struct mixed *m, const struct fth_round *round)
{
	const struct fth_catalog *c = round->view->catalog;
	for (fth_offer_id i = 0; i < m->noffers; i++) {
		m->seen[i] += round->now - m->watched;
		m->up[i] += m->was_up[i] ? round->now - m->watched : 0;
		m->was_up[i] = c->offers[i].available;
	}
	m->watched = round->now;
}

/* Never seen to fall is no proof: five nines at most. A day of having been there stands at the beginning. */
static double availability_of(const struct mixed *m, const struct fth_offer *o, fth_offer_id id)
{
	double p = o->unavailable_ppb ? 1 - (double)o->unavailable_ppb / 1e9
				      : (double)(m->up[id] + FTH_DAY) / (double)(m->seen[id] + FTH_DAY);
	return FTH_MAX(FTH_MIN(p, 0.99999), 1e-6);
}

double mixed_target(const struct mixed *m, const struct fth_job *j)
{
	return j->availability > 0 ? j->availability : m->params->availability;
}

static int by_target(const void *a, const void *b)
{
	const struct mixed_service *x = a, *y = b;
	if (x->target != y->target)
		return x->target > y->target ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static void list_services(struct mixed *m, const struct fth_view *v)
{
	fth_vec_clear(&m->services);
	for (fth_job_id id = v->first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_view_job(v, id);
		id = j->next;
		if (j->kind == FTH_JOB_SERVICE)
			fth_vec_push(&m->services, ((struct mixed_service){j->id, mixed_target(m, j)}));
	}
	if (m->services.len)
		qsort(m->services.data, m->services.len, sizeof(*m->services.data), by_target);
}

typedef FTH_VEC(struct mixed_group) groups;

static void add_job(const struct fth_view *v, fth_job_id job, groups *list)
{
	const struct fth_job *j = fth_view_job(v, job);
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		struct mixed_group g = {t ? t->kind : 0, j->anti_affinity != 0, 1};
		size_t at = 0;
		if (!t || t->state == FTH_TASK_DONE)
			continue;
		while (at < list->len && (list->data[at].kind != g.kind || list->data[at].apart != g.apart))
			at++;
		if (at < list->len)
			list->data[at].tasks++;
		else
			fth_vec_push(list, g);
	}
}

static uint64_t tasks_on(const struct fth_view *v, const struct mixed_group *g, fth_type_id type)
{
	const struct fth_instance_type *t = &v->catalog->types[type];
	const struct fth_alt *alt = fth_kind_on_type(&v->kinds[g->kind], t);
	int64_t most = alt ? (g->apart ? 1 : TASKS_MAX) : 0;
	for (int i = 0; i < FTH_RES_MAX && most; i++)
		if (alt->demand.v[i] > 0)
			most = FTH_MIN(most, t->capacity.v[i] / alt->demand.v[i]);
	return (uint64_t)FTH_MAX(most, 0);
}

static fth_price on_demand_price(const struct fth_catalog *c, fth_type_id type)
{
	fth_price best = 0;
	for (fth_offer_id i = 0; i < c->noffers; i++)
		if (c->offers[i].type == type && c->offers[i].market == FTH_ON_DEMAND && (!best || c->offers[i].price < best))
			best = c->offers[i].price;
	return best;
}

static void hold_on_demand(struct mixed *m, const struct fth_view *v, const struct mixed_group *g)
{
	const struct fth_catalog *c = v->catalog;
	fth_offer_id best = FTH_NONE;
	uint64_t best_n = 0;
	double best_cost = 0;
	for (fth_offer_id i = 0; i < m->noffers; i++) {
		uint64_t each = c->offers[i].market == FTH_ON_DEMAND ? tasks_on(v, g, c->offers[i].type) : 0;
		if (!each)
			continue;
		uint64_t n = (g->tasks + each - 1) / each;
		double cost = (double)n * (double)c->offers[i].price;
		if (best == FTH_NONE || cost < best_cost) {
			best = i;
			best_n = n;
			best_cost = cost;
		}
	}
	if (best != FTH_NONE)
		m->want[best] += (uint32_t)best_n;
}

static fth_spot_planner *planner(const struct mixed *m)
{
	return m->params->pool == POOL_TR ? fth_spot_tr : m->params->pool == POOL_TR_ARTIFACT ? fth_spot_tr_artifact : fth_spot_search;
}

/* What the pools of all targets have together. */
struct pool_sum {
	double cost, units, availability;
};

/* Machines that hold service tasks stay until they are taken or empty, for to move a task is to be without it for a while. So a new pool of
 * another shape is paid for beside what it leaves of the old one: where the old pool and one for the tasks that came are cheaper than that
 * and meet the target, they are the plan. */
static void grow_pool(const struct mixed *m, const uint32_t *held, const struct fth_spot_problem *p, const fth_offer_id *ids,
		      struct fth_spot_plan *pool)
{
	struct fth_spot_problem more = *p;
	struct fth_spot_plan grown;
	double beside = 0;
	more.capacity = p->capacity - m->grown_for.tasks;
	if (planner(m)(&more, &grown, NULL))
		return;
	bool spot = grown.met && !grown.fallback;
	for (uint32_t k = 0; k < p->noffers; k++) {
		grown.count[k] += held[ids[k]];
		beside += FTH_MAX(pool->count[k], held[ids[k]]) * p->offers[k].price;
	}
	fth_spot_measure(p, &grown);
	if (spot && grown.met && grown.cost < beside) {
		struct fth_spot_plan t = *pool;
		*pool = grown;
		grown = t;
	}
	fth_spot_plan_release(&grown);
}

/* The pool of spot offers; false: there is none that meets the target for less than on demand. held: machines of a pool for some of these
 * tasks, or NULL. */
static bool hold_spot(struct mixed *m, const struct fth_view *v, const struct mixed_group *g, double target, const uint32_t *held,
		      struct pool_sum *sum)
{
	const struct fth_catalog *c = v->catalog;
	struct fth_spot_offer *offers = fth_alloc((m->noffers + 1) * sizeof(*offers));
	fth_offer_id *ids = fth_alloc((m->noffers + 1) * sizeof(*ids));
	struct fth_spot_problem p = {.offers = offers, .capacity = g->tasks, .target = target, .failure = m->params->failure};
	for (fth_offer_id i = 0; i < m->noffers; i++) {
		const struct fth_offer *o = &c->offers[i];
		uint64_t each = o->market == FTH_SPOT && o->price > 0 ? tasks_on(v, g, o->type) : 0;
		if (!each)
			continue;
		ids[p.noffers] = i;
		offers[p.noffers++] = (struct fth_spot_offer){.type = "", .zone = "", .capacity = each, .price = fth_usd(o->price),
							      .on_demand = fth_usd(on_demand_price(c, o->type)), .availability = availability_of(m, o, i)};
	}
	struct fth_spot_plan pool;
	bool found = false;
	if (p.noffers && !planner(m)(&p, &pool, NULL)) {
		found = pool.met && !pool.fallback;
		if (found && held)
			grow_pool(m, held, &p, ids, &pool);
		for (uint32_t k = 0; k < p.noffers && found; k++)
			m->want[ids[k]] += pool.count[k];
		sum->cost += pool.cost;
		sum->units += (double)pool.total;
		sum->availability *= pool.availability;
		fth_spot_plan_release(&pool);
	}
	free(offers);
	free(ids);
	return found;
}

/* Is this the group that the last pool was for, with tasks that came since? */
static bool grows(const struct mixed *m, const struct mixed_group *g, double target)
{
	const struct mixed_group *was = &m->grown_for;
	return was->tasks && was->kind == g->kind && was->apart == g->apart && was->tasks < g->tasks && m->grown_target == target;
}

/*
 * One pool for each target and kind of task, the strictest target first, all in one: who must be there most is served first, from any of
 * it. The second target's pools are asked for a2 / a1 together, so that all are there for a2, and k pools of one target for the k-th root
 * each (pools that share kinds of machines are there together at least as often as independent ones).
 */
int mixed_plan_pool(struct mixed *m, const struct fth_view *v, struct fth_plan *plan)
{
	struct pool_sum sum = {.availability = 1};
	double stricter = 1;
	groups list = {0};
	uint32_t *before = fth_alloc((m->noffers + 1) * sizeof(*before));
	struct mixed_group grown = {0};
	bool alone = true; /* one pool, of spot machines */
	m->replan = false;
	list_services(m, v);
	memcpy(before, m->want, (m->noffers + 1) * sizeof(*before));
	memset(m->want, 0, (m->noffers + 1) * sizeof(*m->want));
	for (size_t k = 0; k < m->services.len;) {
		double target = m->services.data[k].target;
		fth_vec_clear(&list);
		for (; k < m->services.len && (m->services.data[k].target == target || !m->transient); k++)
			add_job(v, m->services.data[k].job, &list);
		alone &= list.len == 1 && k == m->services.len && stricter == 1;
		const uint32_t *held = alone && list.len && grows(m, &list.data[0], target) ? before : NULL;
		for (size_t g = 0; g < list.len; g++) {
			double each = fth_tier_target(target / stricter, (unsigned)list.len);
			if (m->transient && hold_spot(m, v, &list.data[g], each, held, &sum))
				continue;
			hold_on_demand(m, v, &list.data[g]);
			alone = false;
		}
		if (alone)
			grown = list.data[0];
		stricter = target;
	}
	m->grown_for = grown;
	m->grown_target = stricter;
	fth_vec_release(&list);
	free(before);
	if (sum.units > 0) {
		fth_plan_note(plan, "pool cost/h", sum.cost);
		fth_plan_note(plan, "pool availability", sum.availability);
		fth_plan_note(plan, "pool units", sum.units);
	}
	return 0;
}
