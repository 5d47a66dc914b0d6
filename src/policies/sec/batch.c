/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the queue and of the nodes, kept in step with events. */
#include "policies/sec/batch.h"

static bool holds_all(const struct fth_view *v, const struct fth_instance_type *t)
{
	for (uint32_t k = 0; k < v->nkinds; k++) {
		const struct fth_alt *a = fth_kind_on_type(&v->kinds[k], t);
		if (!a || !fth_res_fits(&a->demand, &t->capacity))
			return false;
	}
	return true;
}

/* A node runs any job: offers whose machines hold every kind of task. The cheapest alone, or with clouds=true
 * the cheapest of each zone; in-house machines are those reserved without a term. */
int sec_choose_clouds(struct sec *s, const struct fth_view *v)
{
	const struct fth_catalog *c = v->catalog;
	enum fth_market market = FTH_ON_DEMAND;
	for (uint32_t i = 0; s->mode == SEC_LOCAL && i < c->noffers; i++)
		if (c->offers[i].market == FTH_RESERVED && !c->offers[i].contract.term)
			market = FTH_RESERVED;
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *o = &c->offers[i];
		if (o->market != market || o->contract.term || !holds_all(v, &c->types[o->type]))
			continue;
		size_t k = 0;
		while (k < s->clouds.len && s->params->clouds && c->offers[s->clouds.data[k].offer].zone != o->zone)
			k++;
		if (k == s->clouds.len)
			fth_vec_push(&s->clouds, ((struct sec_cloud){.offer = i}));
		else if (o->price < c->offers[s->clouds.data[k].offer].price)
			s->clouds.data[k].offer = i;
	}
	return s->clouds.len ? 0 : -ENODEV;
}

void sec_release(struct sec *s)
{
	for (size_t i = 0; i < s->clouds.len; i++) {
		fth_vec_release(&s->clouds.data[i].idle);
		fth_order_release(&s->clouds.data[i].releases);
	}
	fth_vec_release(&s->clouds);
	fth_vec_release(&s->nodes);
	fth_vec_release(&s->jobs);
	fth_vec_release(&s->requests);
	fth_vec_release(&s->open_requests);
	fth_order_release(&s->queue);
	fth_vec_release(&s->picks);
	fth_vec_release(&s->profile);
	free(s);
}

struct sec_job *sec_job_of(struct sec *s, const struct fth_job *j)
{
	while (s->jobs.len <= j->slot)
		fth_vec_push(&s->jobs, (struct sec_job){.id = FTH_NONE});
	return &s->jobs.data[j->slot];
}

struct sec_node *sec_node_at(struct sec *s, uint32_t slot)
{
	while (s->nodes.len <= slot)
		fth_vec_push(&s->nodes, ((struct sec_node){.id = FTH_NONE, .at = FTH_NONE, .job = FTH_NONE}));
	return &s->nodes.data[slot];
}

const struct fth_billing *sec_billing(const struct sec *s, const struct sec_cloud *c)
{
	return &s->view->catalog->offers[c->offer].billing;
}

/* ---- idle nodes ---- */

bool sec_keeps_idle(const struct sec *s)
{
	return s->mode == SEC_NOWAIT || s->mode == SEC_ELASTIC || (s->mode == SEC_INDIVIDUAL && s->params->reuse);
}

void sec_idle_add(struct sec *s, uint32_t slot)
{
	struct sec_node *n = sec_node_at(s, slot);
	struct sec_cloud *c = &s->clouds.data[n->cloud];
	if (n->at != FTH_NONE || n->leaving)
		return;
	n->job = FTH_NONE;
	n->idle_since = s->now;
	n->at = (uint32_t)c->idle.len;
	fth_vec_push(&c->idle, slot);
	if (sec_keeps_idle(s))
		s->next_check = FTH_MIN(s->next_check, sec_check_time(s, n));
}

void sec_idle_remove(struct sec *s, uint32_t slot)
{
	struct sec_node *n = sec_node_at(s, slot);
	struct sec_cloud *c = &s->clouds.data[n->cloud];
	if (n->at == FTH_NONE)
		return;
	uint32_t last = fth_vec_pop(&c->idle);
	if (last != slot) {
		c->idle.data[n->at] = last;
		s->nodes.data[last].at = n->at;
	}
	n->at = FTH_NONE;
}

/* Used so far, rounded up to what is billed for it, less what was used. A node that has just come up has its first period before
 * it. */
fth_time sec_margin(const struct sec *s, const struct sec_node *n)
{
	const struct fth_billing *b = sec_billing(s, &s->clouds.data[n->cloud]);
	fth_time used = s->now - n->meter, billed = FTH_MAX(FTH_MAX(used, b->minimum), 1), over = billed % b->increment;
	return billed + (over ? b->increment - over : 0) - used;
}

/* ---- the queue ---- */

/* An unknown length may be any. */
static fth_time length_of(const struct fth_job *j)
{
	return j->estimate ? j->estimate : FTH_NEVER;
}

static int64_t key_of(const struct sec *s, const struct fth_job *j)
{
	const struct sec_params *p = s->params;
	if (p->order == SEC_SHORTEST)
		return length_of(j);
	if (p->order == SEC_FCFS)
		return j->submitted;
	/* Everybody ages alike, so the order of two jobs never changes while they wait. */
	double seconds = p->age_weight * (double)(j->submitted / FTH_SEC) - p->level_weight * (double)j->priority -
			 p->size_weight * (double)j->ntasks;
	return (int64_t)(seconds * 1000);
}

/* One that can never run is not to keep others from it, nor nodes rented. */
static bool is_too_wide(const struct sec *s, const struct fth_job *j)
{
	int64_t most = s->mode == SEC_LOCAL ? s->params->nodes : s->mode == SEC_ELASTIC ? s->params->max_nodes : 0;
	return most && j->ntasks > most;
}

void sec_enqueue(struct sec *s, const struct fth_job *j)
{
	struct sec_job *q = sec_job_of(s, j);
	if ((q->id == j->id && q->queued) || is_too_wide(s, j))
		return;
	*q = (struct sec_job){.id = j->id, .key = key_of(s, j), .queued = true, .left = j->ntasks, .cloud = FTH_NONE};
	fth_order_add(&s->queue, &(struct fth_order_item){q->key, j->id, j->ntasks, length_of(j)});
	if (length_of(j) >= s->params->t_short)
		s->long_nodes += j->ntasks;
}

void sec_dequeue(struct sec *s, const struct fth_job *j)
{
	struct sec_job *q = sec_job_of(s, j);
	if (!q->queued)
		return;
	fth_order_remove(&s->queue, q->key, j->id);
	q->queued = false;
	if (length_of(j) >= s->params->t_short)
		s->long_nodes -= j->ntasks;
}

/* ---- events ---- */

static void meet(struct sec *s, uint32_t request)
{
	struct sec_request *r = &s->requests.data[request];
	struct sec_cloud *c = &s->clouds.data[r->cloud];
	const struct fth_job *owner = r->job == FTH_NONE ? NULL : fth_view_job(s->view, r->job);
	uint32_t refused = 0;
	for (uint32_t k = 0; k < r->count; k++) {
		const struct fth_instance *i = fth_view_instance(s->view, r->first + k);
		if (!i) {
			refused++;
			continue;
		}
		*sec_node_at(s, i->slot) = (struct sec_node){.id = i->id,
							     .cloud = r->cloud,
							     .at = FTH_NONE,
							     .request = r->job == FTH_NONE ? request : FTH_NONE,
							     .job = r->job,
							     .user = owner ? owner->user : 0,
							     .meter = FTH_NEVER};
	}
	c->nodes -= refused;
	if (r->job != FTH_NONE) {
		r->left = 0;
		if (refused && owner)
			sec_enqueue(s, owner);
	} else if (refused) {
		fth_order_remove(&c->releases, r->key, r->id);
		r->left -= refused;
		c->booting -= refused;
		if (r->left)
			fth_order_add(&c->releases, &(struct fth_order_item){r->key, r->id, r->left, 0});
	}
}

void sec_meet_nodes(struct sec *s)
{
	for (; s->known < s->requests.len; s->known++)
		meet(s, (uint32_t)s->known);
}

/* Of a request fewer nodes are awaited: its entry among the releases is made anew at the end of the round's events. */
static void one_less_awaited(struct sec *s, struct sec_node *n)
{
	if (n->request == FTH_NONE)
		return;
	struct sec_request *r = &s->requests.data[n->request];
	struct sec_cloud *c = &s->clouds.data[r->cloud];
	if (!r->open) {
		fth_order_remove(&c->releases, r->key, r->id);
		r->open = true;
		fth_vec_push(&s->open_requests, n->request);
	}
	r->left--;
	c->booting--;
	n->request = FTH_NONE;
}

static void close_requests(struct sec *s)
{
	for (size_t i = 0; i < s->open_requests.len; i++) {
		struct sec_request *r = &s->requests.data[s->open_requests.data[i]];
		r->open = false;
		if (r->left)
			fth_order_add(&s->clouds.data[r->cloud].releases,
				      &(struct fth_order_item){r->key, r->id, r->left, 0});
	}
	fth_vec_clear(&s->open_requests);
	while (s->requests.len && !fth_vec_last(&s->requests).left)
		s->requests.len--;
	s->known = s->requests.len;
}

static void job_off(struct sec *s, struct sec_job *q)
{
	if (q->running)
		fth_order_remove(&s->clouds.data[q->cloud].releases, q->end, q->id);
	q->running = false;
}

static void on_instance(struct sec *s, const struct fth_event *ev)
{
	const struct fth_instance *i = fth_view_instance(s->view, ev->instance);
	if (!i)
		return;
	struct sec_node *n = sec_node_at(s, i->slot);
	if (n->id != i->id)
		return;
	if (ev->kind == FTH_EV_INSTANCE_READY) {
		static const size_t from[] = {offsetof(struct fth_instance, acquired), offsetof(struct fth_instance, ready),
					      offsetof(struct fth_instance, requested)};
		enum fth_bill_from how = sec_billing(s, &s->clouds.data[n->cloud])->from;
		n->meter = *(const fth_time *)((const char *)i + from[how]);
		one_less_awaited(s, n);
		if (n->job == FTH_NONE)
			sec_idle_add(s, i->slot);
		s->trigger |= s->params->on_ready;
	} else { /* gone, revoked, or about to be */
		one_less_awaited(s, n);
		sec_idle_remove(s, i->slot);
		if (!n->leaving) {
			s->clouds.data[n->cloud].nodes--;
			s->lost++;
		}
		n->leaving = true;
		s->trigger |= ev->kind != FTH_EV_INSTANCE_GONE || i->ready == FTH_NEVER;
		if (ev->kind != FTH_EV_REVOCATION_NOTICE)
			n->id = FTH_NONE;
	}
}

static void on_task_off(struct sec *s, const struct fth_event *ev)
{
	const struct fth_instance *i = fth_view_instance(s->view, ev->instance);
	const struct fth_task *t = fth_view_task(s->view, ev->task);
	const struct fth_job *j = t ? fth_view_job(s->view, t->job) : NULL;
	if (i && i->ready != FTH_NEVER && s->nodes.len > i->slot && s->nodes.data[i->slot].id == i->id)
		sec_idle_add(s, i->slot);
	if (!j)
		return;
	struct sec_job *q = sec_job_of(s, j);
	if (ev->kind == FTH_EV_TASK_LOST && q->id == j->id) {
		job_off(s, q);
		sec_enqueue(s, j);
		s->trigger = true;
	}
}

/* Nodes of a cancelled job, wherever they are. Rare, so we look for them. */
static void on_cancelled(struct sec *s, const struct fth_event *ev)
{
	for (size_t i = 0; i < s->jobs.len; i++)
		if (s->jobs.data[i].id == ev->job) {
			struct sec_job *q = &s->jobs.data[i];
			const struct fth_job *j = fth_view_job(s->view, ev->job);
			job_off(s, q);
			if (q->queued && j)
				sec_dequeue(s, j);
			q->id = FTH_NONE;
		}
	for (size_t i = 0; i < s->nodes.len; i++) {
		struct sec_node *n = &s->nodes.data[i];
		if (n->id == FTH_NONE || n->job != ev->job)
			continue;
		n->job = FTH_NONE;
		if (n->meter != FTH_NEVER)
			sec_idle_add(s, (uint32_t)i);
	}
	s->trigger = true;
}

static void on_job_done(struct sec *s, const struct fth_event *ev)
{
	const struct fth_job *j = fth_view_job(s->view, ev->job);
	struct sec_job *q = j ? sec_job_of(s, j) : NULL;
	if (!q || q->id != j->id)
		return;
	job_off(s, q);
	q->id = FTH_NONE;
	s->trigger = true;
}

void sec_take_events(struct sec *s, const struct fth_round *round)
{
	for (size_t k = 0; k < round->nevents; k++) {
		const struct fth_event *ev = &round->events[k];
		switch (ev->kind) {
		case FTH_EV_JOB_SUBMITTED:
			sec_enqueue(s, fth_view_job(s->view, ev->job));
			s->trigger = true;
			break;
		case FTH_EV_JOB_DONE:
			on_job_done(s, ev);
			break;
		case FTH_EV_JOB_CANCELLED:
			on_cancelled(s, ev);
			break;
		case FTH_EV_TASK_DONE:
		case FTH_EV_TASK_LOST:
			on_task_off(s, ev);
			break;
		case FTH_EV_INSTANCE_READY:
		case FTH_EV_INSTANCE_GONE:
		case FTH_EV_INSTANCE_REVOKED:
		case FTH_EV_REVOCATION_NOTICE:
			on_instance(s, ev);
			break;
		default:
			break;
		}
	}
	close_requests(s);
}
