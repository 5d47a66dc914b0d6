/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services with a capacity that must be there, and batch jobs on what is left.
 *
 * The pool for the services is chosen when they come or go (pool.c) and then held by persistent requests: whatever of it is taken is
 * asked for again as soon as it can be had. Services go first: a service task that waits, or whose machine has been given notice,
 * takes the room of batch tasks, which wait again. Batch jobs come first come first served on the room that is left; they may also
 * be allowed to rent machines of their own, which go when they are empty.
 */
#include "policies/mixed/mixed.h"
#include "policies/table.h"

static bool is_service(const struct fth_view *v, const struct fth_task *t)
{
	const struct fth_job *j = fth_view_job(v, t->job);
	return j && j->kind == FTH_JOB_SERVICE;
}

/* Must the task go if a service with this target needs its room? Batch must, and services that may be away more often. */
static bool gives_way(const struct mixed *m, const struct fth_view *v, const struct fth_task *t, double target)
{
	const struct fth_job *j = fth_view_job(v, t->job);
	return t->state != FTH_TASK_STOPPING && !fth_map_get(&m->sent, t->id, NULL) &&
	       (j->kind != FTH_JOB_SERVICE || mixed_target(m, j) < target);
}

fth_price mixed_price(const struct fth_view *v, fth_offer_id o)
{
	return v->catalog->offers[o].price;
}

/* ---- the machines at this round ---- */

static void add_spot(struct mixed *m, const struct fth_view *v, fth_instance_id id, fth_offer_id offer, const struct fth_res *committed,
		     bool ready)
{
	struct mixed_spot s = {.id = id, .type = v->catalog->offers[offer].type, .offer = offer, .ready = ready};
	s.room = v->catalog->types[s.type].capacity;
	fth_res_sub(&s.room, committed);
	fth_vec_push(&m->board, s);
}

static void look_around(struct mixed *m, const struct fth_view *v)
{
	fth_vec_clear(&m->board);
	fth_vec_clear(&m->apart);
	fth_map_clear(&m->sent);
	memset(m->have, 0, (m->noffers + 1) * sizeof(*m->have));
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->next;
		if (i->leaving || i->revoked || i->state >= FTH_INSTANCE_DRAINING)
			continue;
		m->have[i->offer]++;
		add_spot(m, v, i->id, i->offer, &i->committed, i->state == FTH_INSTANCE_READY);
	}
}

struct mixed_spot *mixed_rent(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, fth_offer_id offer, const char *why)
{
	static const struct fth_res none;
	fth_instance_id id = fth_plan_launch(plan, &offer, 1, (struct fth_reason){why, {mixed_price(v, offer), 0, 0}});
	m->have[offer]++;
	add_spot(m, v, id, offer, &none, false);
	return &fth_vec_last(&m->board);
}

/* Persistent requests: what is missing of the pool is asked for whenever it can be had. */
static void hold_pool(struct mixed *m, const struct fth_view *v, struct fth_plan *plan)
{
	for (fth_offer_id i = 0; i < m->noffers; i++)
		while (m->have[i] < m->want[i] && v->catalog->offers[i].available)
			mixed_rent(m, v, plan, i, "held for the services, $0/h");
}

/* ---- placing ---- */

const struct fth_alt *mixed_alt(const struct fth_view *v, const struct fth_task *t, fth_type_id type)
{
	return fth_kind_on_type(&v->kinds[t->kind], &v->catalog->types[type]);
}

/* Is there a task on it, or sent to it by this plan, that this one must be kept apart from? */
static bool clashes(const struct mixed *m, const struct fth_view *v, const struct fth_task *t, const struct mixed_spot *s, bool services_only)
{
	fth_sym group = fth_view_job(v, t->job)->anti_affinity;
	const struct fth_instance *i = group ? fth_view_instance(v, s->id) : NULL;
	for (fth_task_id id = i ? i->first_committed : FTH_NONE; id != FTH_NONE;) {
		const struct fth_task *other = fth_view_task(v, id);
		const struct fth_job *j = fth_view_job(v, other->job);
		id = other->next_committed;
		if (j->anti_affinity == group && !fth_map_get(&m->sent, other->id, NULL) &&
		    !(services_only && j->kind != FTH_JOB_SERVICE))
			return true;
	}
	for (size_t k = 0; group && k < m->apart.len; k++)
		if (m->apart.data[k].instance == s->id && m->apart.data[k].group == group)
			return true;
	return false;
}

static bool fits(const struct mixed *m, const struct fth_view *v, const struct fth_task *t, const struct mixed_spot *s)
{
	const struct fth_alt *alt = mixed_alt(v, t, s->type);
	return alt && fth_res_fits(&alt->demand, &s->room) && !clashes(m, v, t, s, false);
}

static struct mixed_spot *find_among(struct mixed *m, const struct fth_view *v, const struct fth_task *t, bool ready)
{
	for (size_t k = 0; k < m->board.len; k++)
		if (m->board.data[k].ready == ready && fits(m, v, t, &m->board.data[k]))
			return &m->board.data[k];
	return NULL;
}

struct mixed_spot *mixed_find_room(struct mixed *m, const struct fth_view *v, const struct fth_task *t)
{
	struct mixed_spot *s = find_among(m, v, t, true);
	return s ? s : find_among(m, v, t, false);
}

void mixed_take_room(struct mixed *m, const struct fth_view *v, const struct fth_task *t, struct mixed_spot *s)
{
	fth_sym group = fth_view_job(v, t->job)->anti_affinity;
	fth_res_sub(&s->room, &mixed_alt(v, t, s->type)->demand);
	if (group)
		fth_vec_push(&m->apart, ((struct mixed_apart){s->id, group}));
}

void mixed_send(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_task *t, struct mixed_spot *s,
		const char *why)
{
	struct fth_reason reason = {why, {mixed_price(v, s->offer), 0, 0}};
	mixed_take_room(m, v, t, s);
	if (t->state == FTH_TASK_WAITING)
		fth_plan_place(plan, t->id, s->id, reason);
	else
		fth_plan_migrate(plan, t->id, s->id, reason);
}

/* Would the machine hold the task if those that give way went? */
static bool would_fit(const struct mixed *m, const struct fth_view *v, const struct fth_task *t, const struct mixed_spot *s)
{
	const struct fth_instance *i = fth_view_instance(v, s->id);
	const struct fth_alt *alt = mixed_alt(v, t, s->type);
	struct fth_res room = s->room;
	double target = mixed_target(m, fth_view_job(v, t->job));
	if (!alt || !i || clashes(m, v, t, s, true))
		return false;
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *other = fth_view_task(v, id);
		const struct fth_alt *there = mixed_alt(v, other, s->type);
		id = other->next_committed;
		if (there && gives_way(m, v, other, target))
			fth_res_add(&room, &there->demand);
	}
	return fth_res_fits(&alt->demand, &room);
}

/* Tasks leave, the one that came last first, until there is room. A task is sent away once: its room is in s->room from then on. */
static void evict_for(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_task *t, struct mixed_spot *s)
{
	const struct fth_instance *i = fth_view_instance(v, s->id);
	double target = mixed_target(m, fth_view_job(v, t->job));
	for (fth_task_id id = i->last_committed; id != FTH_NONE && !fits(m, v, t, s);) {
		const struct fth_task *other = fth_view_task(v, id);
		const struct fth_alt *there = mixed_alt(v, other, s->type);
		id = other->prev_committed;
		if (!there || !gives_way(m, v, other, target))
			continue;
		m->unserved |= is_service(v, other);
		fth_map_put(&m->sent, other->id, 1);
		fth_plan_preempt(plan, other->id, (struct fth_reason){"a service needs its room at $0/h", {mixed_price(v, s->offer), 0, 0}});
		fth_res_add(&s->room, &there->demand);
	}
}

static bool place_service(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_task *t)
{
	struct mixed_spot *s = find_among(m, v, t, true);
	for (size_t k = 0; k < m->board.len && !s; k++)
		if (m->board.data[k].ready && would_fit(m, v, t, &m->board.data[k])) {
			evict_for(m, v, plan, t, &m->board.data[k]);
			s = fits(m, v, t, &m->board.data[k]) ? &m->board.data[k] : NULL;
		}
	if (!s && t->state == FTH_TASK_WAITING)
		s = find_among(m, v, t, false);
	if (s)
		mixed_send(m, v, plan, t, s, "a service task, on a machine of $0/h");
	return s != NULL;
}

/* Only when a service can have lost its place, or one was left without: most rounds are about batch alone. */
static bool services_stirred(const struct mixed *m, const struct fth_round *round)
{
	for (size_t e = 0; e < round->nevents; e++)
		switch (round->events[e].kind) {
		case FTH_EV_JOB_CANCELLED:
		case FTH_EV_TASK_LOST:
		case FTH_EV_TASK_LEFT:
		case FTH_EV_LAUNCH_FAILED:
		case FTH_EV_REVOCATION_NOTICE:
		case FTH_EV_INSTANCE_REVOKED:
		case FTH_EV_INSTANCE_GONE:
			return true;
		default:
			break;
		}
	return m->unserved;
}

static void place_services(struct mixed *m, const struct fth_view *v, struct fth_plan *plan)
{
	m->unserved = false;
	for (size_t n = 0; n < m->services.len; n++) {
		const struct fth_job *j = fth_view_job(v, m->services.data[n].job);
		for (uint32_t k = 0; j && k < j->ntasks; k++) {
			const struct fth_task *t = fth_view_task(v, j->first_task + k);
			const struct fth_instance *at = t && t->target != FTH_NONE ? fth_view_instance(v, t->target) : NULL;
			bool doomed = at && at->revoked && t->state != FTH_TASK_STOPPING;
			if (t && (t->state == FTH_TASK_WAITING || doomed))
				m->unserved |= !place_service(m, v, plan, t);
		}
	}
}

/* A machine that is about to be taken: with checkpoints, batch tasks save their state while there is time. */
static void save_batch(struct mixed *m, const struct fth_view *v, const struct fth_round *round, struct fth_plan *plan)
{
	for (size_t e = 0; e < round->nevents && m->params->checkpoint; e++) {
		const struct fth_instance *i = round->events[e].kind == FTH_EV_REVOCATION_NOTICE
						       ? fth_view_instance(v, round->events[e].instance) : NULL;
		for (fth_task_id id = i ? i->first_committed : FTH_NONE; id != FTH_NONE;) {
			const struct fth_task *t = fth_view_task(v, id);
			id = t->next_committed;
			if (!is_service(v, t) && t->state != FTH_TASK_STOPPING)
				fth_plan_preempt(plan, t->id, (struct fth_reason){"its machine of $0/h will be taken", {mixed_price(v, i->offer), 0, 0}});
		}
	}
}

/* What is empty and not of the pool goes. The board has the instances by id, too. */
static void release_empty(struct mixed *m, const struct fth_view *v, struct fth_plan *plan)
{
	size_t k = m->board.len;
	for (fth_instance_id id = v->last_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->prev;
		if (i->leaving || i->revoked || i->ncommitted || i->nheld || m->have[i->offer] <= m->want[i->offer])
			continue;
		while (k && m->board.data[k - 1].id > i->id)
			k--;
		if (k && m->board.data[k - 1].id == i->id &&
		    !fth_res_equal(&m->board.data[k - 1].room, &v->catalog->types[i->type].capacity))
			continue; /* this plan uses it */
		m->have[i->offer]--;
		fth_plan_terminate(plan, i->id, (struct fth_reason){"empty, and not needed for the services, at $0/h", {mixed_price(v, i->offer), 0, 0}});
	}
}

/* ---- the policy ---- */

static int start(void **self, const struct fth_view *view, const void *p, bool transient)
{
	struct mixed *m = fth_alloc(sizeof(*m));
	uint32_t n = view->catalog->noffers;
	m->params = p;
	m->transient = transient;
	m->noffers = n;
	m->want = fth_alloc((n + 1) * sizeof(*m->want));
	m->have = fth_alloc((n + 1) * sizeof(*m->have));
	m->up = fth_alloc((n + 1) * sizeof(*m->up));
	m->seen = fth_alloc((n + 1) * sizeof(*m->seen));
	m->was_up = fth_alloc((n + 1) * sizeof(*m->was_up));
	*self = m;
	return 0;
}

static void fini(void *self)
{
	struct mixed *m = self;
	free(m->want);
	free(m->have);
	free(m->up);
	free(m->seen);
	free(m->was_up);
	fth_vec_release(&m->board);
	fth_vec_release(&m->services);
	fth_vec_release(&m->apart);
	fth_vec_release(&m->again);
	fth_vec_release(&m->ideal);
	fth_map_release(&m->holds);
	fth_map_release(&m->sent);
	free(m);
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct mixed *m = self;
	const struct fth_view *v = round->view;
	mixed_watch(m, round);
	for (size_t e = 0; e < round->nevents; e++) {
		const struct fth_event *ev = &round->events[e];
		const struct fth_job *j = ev->kind == FTH_EV_JOB_SUBMITTED ? fth_view_job(v, ev->job) : NULL;
		m->displaced |= ev->kind == FTH_EV_TASK_LOST || ev->kind == FTH_EV_TASK_LEFT;
		m->replan |= (j && j->kind == FTH_JOB_SERVICE) || (ev->kind == FTH_EV_JOB_CANCELLED && m->services.len);
	}
	if (m->replan) {
		int r = mixed_plan_pool(m, v, plan);
		m->unserved = true;
		m->imagined = false;
		if (r)
			return r;
	}
	look_around(m, v);
	hold_pool(m, v, plan);
	save_batch(m, v, round, plan);
	if (m->services.len && services_stirred(m, round))
		place_services(m, v, plan);
	if (m->sent.len)
		m->displaced = true;
	else /* what was sent away must not come back into the room before the service is there */
		mixed_place_batch(m, v, plan);
	release_empty(m, v, plan);
	return 0;
}

static int init_on_demand(void **self, const struct fth_view *view, const void *p)
{
	return start(self, view, p, false);
}

static int init_transient(void **self, const struct fth_view *view, const void *p)
{
	return start(self, view, p, true);
}

static const char *const pools[] = {"search", "tr", "tr-artifact", NULL};
static const char *const batches[] = {"stuck", "none", "spot", "on-demand", NULL};
#define BATCH_PARAM(def)                                                                                                             \
	{"batch", FTH_PARAM_CHOICE, offsetof(struct mixed_params, batch), def, 0, 0, batches,                                         \
	 "where batch work may rent machines beside the services': none, only when stuck (the pool could never hold it), spot, on-demand"}
#define CHECKPOINT_PARAM                                                                                                             \
	{"checkpoint", FTH_PARAM_BOOL, offsetof(struct mixed_params, checkpoint), "yes", 0, 0, NULL,                                  \
	 "batch tasks save their state when their machine is given notice"}

static const struct fth_param tr_params[] = {
	{"availability", FTH_PARAM_REAL, offsetof(struct mixed_params, availability), "0.99999", 0.000001, 0.999999999, NULL,
	 "share of time for which a service that does not say so itself must be there"},
	{"failure", FTH_PARAM_REAL, offsetof(struct mixed_params, failure), "0", 0, 0.5, NULL, "share of time for which any machine has failed"},
	{"pool", FTH_PARAM_CHOICE, offsetof(struct mixed_params, pool), "search", 0, 0, pools, "what chooses the pool"},
	BATCH_PARAM("stuck"),
	CHECKPOINT_PARAM,
	{0},
};
static const struct fth_param on_demand_params[] = {BATCH_PARAM("on-demand"), CHECKPOINT_PARAM, {0}};
static const struct fth_param transient_params[] = {BATCH_PARAM("spot"), CHECKPOINT_PARAM, {0}};

const struct fth_policy_ops fth_policy_tr = {
	.abi = FTH_POLICY_ABI,
	.name = "tr",
	.summary = "TR-Kubernetes: services on enough transient machines to be there, batch work on the excess",
	.params = tr_params,
	.params_size = sizeof(struct mixed_params),
	.init = init_transient,
	.decide = decide,
	.fini = fini,
};

const struct fth_policy_ops fth_policy_on_demand = {
	.abi = FTH_POLICY_ABI,
	.name = "on-demand",
	.summary = "services and batch work on machines on demand, batch machines rented as needed",
	.params = on_demand_params,
	.params_size = sizeof(struct mixed_params),
	.init = init_on_demand,
	.decide = decide,
	.fini = fini,
};

const struct fth_policy_ops fth_policy_on_demand_transient = {
	.abi = FTH_POLICY_ABI,
	.name = "on-demand+transient",
	.summary = "services on machines on demand, batch work on transient ones rented as needed",
	.params = transient_params,
	.params_size = sizeof(struct mixed_params),
	.init = init_on_demand,
	.decide = decide,
	.fini = fini,
};
