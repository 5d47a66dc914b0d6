/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when: probes arrive, tasks are handed out, started and ended. See README.md. */
#include "policies/hybrid/core.h"

/* ---- what is to come ---- */

static void push_due(struct fth_due_queue *q, struct fth_due due)
{
	if (q->len == q->cap) {
		uint32_t cap = q->cap ? 2 * q->cap : 256;
		struct fth_due *ring = fth_realloc(NULL, cap * sizeof(*ring));
		for (uint32_t k = 0; k < q->len; k++)
			ring[k] = q->ring[(q->head + k) & (q->cap - 1)];
		free(q->ring);
		q->ring = ring;
		q->cap = cap;
		q->head = 0;
	}
	q->ring[(q->head + q->len++) & (q->cap - 1)] = due;
}

void fth_hybrid_later(struct fth_hybrid *h, int queue, enum fth_due_kind kind, uint32_t worker, uint32_t job)
{
	struct fth_due_queue *q = &h->queues[queue];
	h->workers.data[worker].coming++;
	push_due(q, (struct fth_due){h->now + q->delay, h->when + q->seconds, ++h->order, kind, worker, job});
}

void fth_hybrid_send(struct fth_hybrid *h, uint32_t worker, uint32_t job, int queue)
{
	h->jobs.data[job].refs++;
	fth_hybrid_later(h, queue, FTH_DUE_PROBE, worker, job);
}

/* ---- jobs ---- */

bool fth_hybrid_has_task(const struct fth_hjob *j)
{
	return j->live && (j->next < j->ntasks || j->back.len);
}

static fth_task_id next_task(struct fth_hjob *j)
{
	return j->back.len ? fth_vec_pop(&j->back) : j->first + j->next++;
}

void fth_hybrid_unref(struct fth_hybrid *h, uint32_t job)
{
	struct fth_hjob *j = &h->jobs.data[job];
	if (--j->refs || j->live)
		return;
	fth_vec_release(&j->back);
	fth_vec_push(&h->free_jobs, job);
}

/* The estimate as the parameters have it, cut to whole seconds if the mean is whole seconds too. */
static fth_time estimate(struct fth_hybrid *h, fth_time mean)
{
	const struct fth_hybrid_params *p = h->params;
	double x = (double)mean;
	if (p->estimates == FTH_ESTIMATE_CONSTANT)
		x += p->off_top * x;
	else if (p->estimates == FTH_ESTIMATE_RANDOM)
		x = p->off_bottom * x + (p->off_top - p->off_bottom) * x * fth_draw_real(&h->draw);
	else
		return mean;
	fth_time est = (fth_time)FTH_MIN(FTH_MAX(x, 0.0), 9e17);
	return mean % FTH_SEC ? est : est - est % FTH_SEC;
}

static void arrive(struct fth_hybrid *h, fth_job_id id)
{
	const struct fth_job *job = fth_view_job(h->view, id);
	uint32_t at;
	if (!job)
		return;
	if (h->free_jobs.len) {
		at = fth_vec_pop(&h->free_jobs);
	} else {
		at = (uint32_t)h->jobs.len;
		fth_vec_push(&h->jobs, (struct fth_hjob){0});
	}
	struct fth_hjob *j = &h->jobs.data[at];
	*j = (struct fth_hjob){.id = id, .first = job->first_task, .ntasks = job->ntasks, .left = job->ntasks, .live = true};
	j->is_long = job->estimate > h->params->cutoff;
	j->central = j->is_long ? h->traits->long_central : h->traits->short_central;
	j->est = estimate(h, job->estimate);
	j->remaining = j->est > FTH_NEVER / 2 / j->ntasks ? FTH_NEVER / 2 : j->est * j->ntasks;
	j->refs = 1; /* while it lives; see end_task */
	h->short_work += j->is_long ? 0 : j->remaining;
	fth_map_put(&h->job_of, id, at);
	if (h->traits->surge && !j->is_long)
		fth_surge_list(h, at);
	fth_hybrid_arrive(h, at);
	h->next_arrival = ++h->order; /* the next job is looked at when this one has been dealt with */
}

static void end_job(struct fth_hybrid *h, uint32_t job)
{
	struct fth_hjob *j = &h->jobs.data[job];
	if (j->listed)
		fth_surge_unlist(h, job);
	j->live = false; /* its probes are found dead once the last update has come */
	fth_map_del(&h->job_of, j->id);
	fth_hybrid_unref(h, job);
}

/* ---- workers ---- */

/* The numbers of a gone transient of the same size; few sizes, so the last one nearly always fits. */
static uint32_t take_idle(struct fth_hybrid *h, uint32_t n)
{
	for (size_t k = h->idle.len; k-- > 0;)
		if (h->idle.data[k].n == n) {
			uint32_t first = h->idle.data[k].first;
			h->idle.data[k] = fth_vec_last(&h->idle);
			h->idle.len--;
			return first;
		}
	return FTH_NONE;
}

uint32_t fth_hybrid_add_workers(struct fth_hybrid *h, fth_instance_id i, uint32_t n, bool transient)
{
	uint32_t first = (uint32_t)h->workers.len;
	const struct fth_worker fresh = {.instance = i, .transient = transient, .free = (uint32_t)h->params->slots, .hint = FTH_NONE};
	uint32_t again = transient ? take_idle(h, n) : FTH_NONE;
	if (again != FTH_NONE) {
		first = again;
		for (uint32_t k = 0; k < n; k++)
			h->workers.data[first + k] = fresh;
	} else {
		for (uint32_t k = 0; k < n; k++) {
			fth_vec_push(&h->workers, fresh);
			for (int64_t s = 0; s < h->params->slots; s++)
				fth_vec_push(&h->slots, (struct fth_slot){.task = FTH_NONE});
		}
	}
	while (h->first_worker.len <= i - h->first_instance)
		fth_vec_push(&h->first_worker, FTH_NONE);
	h->first_worker.data[i - h->first_instance] = first;
	return first;
}

static void maybe_reuse(struct fth_hybrid *h, uint32_t w)
{
	const struct fth_worker *x = &h->workers.data[w];
	if (x->state != FTH_WORKER_OFF || x->coming)
		return;
	uint32_t first = w - x->slice, n = x->slices;
	for (uint32_t k = first; k < first + n; k++)
		if (h->workers.data[k].state != FTH_WORKER_OFF || h->workers.data[k].coming)
			return;
	for (uint32_t k = first; k < first + n; k++)
		h->workers.data[k].state = FTH_WORKER_IDLE_NUMBER;
	fth_vec_push(&h->idle, ((struct fth_idle){first, n}));
}

void fth_hybrid_retire(struct fth_hybrid *h, uint32_t first, uint32_t n)
{
	for (uint32_t w = first; w < first + n; w++) {
		struct fth_worker *x = &h->workers.data[w];
		for (uint32_t k = 0; k < x->len; k++)
			fth_hybrid_unref(h, x->queue[x->head + k].job);
		free(x->queue);
		x->queue = NULL;
		x->head = x->len = x->cap = x->longs = 0;
		x->state = FTH_WORKER_OFF;
		x->slice = w - first;
		x->slices = n;
	}
	maybe_reuse(h, first);
	h->first_worker.data[h->workers.data[first].instance - h->first_instance] = FTH_NONE;
}

static struct fth_slot *slots_of(struct fth_hybrid *h, uint32_t w)
{
	return &h->slots.data[w * (uint32_t)h->params->slots];
}

uint32_t fth_hybrid_safe_worker(struct fth_hybrid *h)
{
	return fth_draw_below(&h->draw, h->nshort ? h->nshort : h->nstatic);
}

/* ---- handing out ---- */

static uint32_t free_slot(struct fth_hybrid *h, uint32_t w)
{
	const struct fth_slot *s = slots_of(h, w);
	uint32_t k = 0;
	while (s[k].task != FTH_NONE)
		k++;
	return k;
}

/* The worker asks the job for a task: two messages later it starts it, or knows that there is none. */
static bool hand_out(struct fth_hybrid *h, uint32_t w, uint32_t job)
{
	const struct fth_due_queue *two = &h->queues[FTH_TWO_WAYS];
	struct fth_worker *x = &h->workers.data[w];
	struct fth_hjob *j = &h->jobs.data[job];
	x->free--;
	if (!fth_hybrid_has_task(j)) {
		fth_hybrid_later(h, FTH_TWO_WAYS, FTH_DUE_NOOP, w, 0);
		return false;
	}
	uint32_t slot = free_slot(h, w);
	struct fth_slot *s = &slots_of(h, w)[slot];
	*s = (struct fth_slot){next_task(j), job, ++h->order, h->when + two->seconds, h->now + two->delay};
	fth_plan_place_at(h->plan, s->task, x->instance, s->start, (struct fth_reason){"its worker asked for it", {0}});
	x->long_runs += j->is_long;
	h->short_work -= j->is_long ? 0 : j->est;
	if (j->central)
		fth_central_started(&h->central, w - h->nshort, slot, j->est, h->now, h->when);
	j->refs++; /* the slot's */
	if (j->listed && !fth_hybrid_has_task(j))
		fth_surge_unlist(h, job);
	if (h->traits->srpt) {
		j->refs++;
		fth_hybrid_later(h, FTH_TWO_WAYS, FTH_DUE_UPDATE, w, job);
	}
	return true;
}

static void serve_in_order(struct fth_hybrid *h, uint32_t w)
{
	struct fth_worker *x = &h->workers.data[w];
	uint32_t job = x->queue[x->head].job;
	fth_queue_remove(x, 0);
	x->longs -= h->jobs.data[job].is_long;
	hand_out(h, w, job);
	fth_hybrid_unref(h, job);
}

static void serve_shortest(struct fth_hybrid *h, uint32_t w)
{
	uint32_t k = fth_queue_choose(h, w);
	struct fth_worker *x = &h->workers.data[w];
	if (k == UINT32_MAX) {
		/* All that was queued is dead: known at once, but the slot takes its turn. */
		x->free--;
		fth_hybrid_later(h, FTH_AT_ONCE, FTH_DUE_NOOP, w, 0);
		return;
	}
	uint32_t job = x->queue[x->head + k].job;
	const struct fth_hjob *j = &h->jobs.data[job];
	bool is_long = j->is_long, ok = hand_out(h, w, job);
	if (ok && !is_long) {
		fth_time est = h->jobs.data[job].est;
		for (uint32_t i = 0; i < k; i++)
			x->queue[x->head + i].bypass += est;
		if (h->params->sticky && x->state == FTH_WORKER_UP)
			return; /* it stays, and asks the same job again */
	}
	x->longs -= is_long;
	fth_queue_remove(x, k);
	fth_hybrid_unref(h, job);
}

void fth_hybrid_serve(struct fth_hybrid *h, uint32_t w)
{
	struct fth_worker *x = &h->workers.data[w];
	while (x->free && x->state <= FTH_WORKER_DRAINING) {
		if (!x->len && (!h->traits->steal || !fth_queue_steal(h, w)))
			break;
		if (h->traits->srpt)
			serve_shortest(h, w);
		else
			serve_in_order(h, w);
	}
	if (x->state == FTH_WORKER_DRAINING)
		fth_coaster_drained(h, w);
	else if (h->traits->surge && x->free && !x->coming && x->state == FTH_WORKER_UP)
		fth_surge_pull(h, w);
}

/* ---- what happens ---- */

void fth_hybrid_give_back(struct fth_hybrid *h, uint32_t job, fth_task_id task)
{
	struct fth_hjob *j = &h->jobs.data[job];
	if (!j->live)
		return;
	fth_vec_push(&j->back, task);
	j->remaining = FTH_MAX(j->remaining, 0) + j->est;
	h->short_work += j->is_long ? 0 : j->est;
	if (h->traits->surge && !j->is_long && !j->listed)
		fth_surge_list(h, job);
	if (!j->central) {
		fth_hybrid_send(h, fth_hybrid_safe_worker(h), job, FTH_ONE_WAY);
		return;
	}
	uint32_t w;
	fth_central_assign(&h->central, 1, j->est, h->now, &w);
	fth_hybrid_send(h, h->nshort + w, job, FTH_ONE_WAY);
}

/* The slot is free again; what ran in it has ended, or was lost. */
static void clear_slot(struct fth_hybrid *h, uint32_t w, uint32_t slot)
{
	struct fth_slot *s = &slots_of(h, w)[slot];
	const struct fth_hjob *j = &h->jobs.data[s->job];
	struct fth_worker *x = &h->workers.data[w];
	x->long_runs -= j->is_long;
	x->free++;
	if (j->central)
		fth_central_ended(&h->central, w - h->nshort, slot, j->est, h->now);
	*s = (struct fth_slot){.task = FTH_NONE};
}

static void end_task(struct fth_hybrid *h, uint32_t w, uint32_t slot)
{
	uint32_t job = slots_of(h, w)[slot].job;
	bool is_long = h->jobs.data[job].is_long;
	clear_slot(h, w, slot);
	if (--h->jobs.data[job].left == 0)
		end_job(h, job);
	fth_hybrid_unref(h, job); /* the slot's */
	if (is_long && h->coaster)
		fth_coaster_look(h);
	fth_hybrid_serve(h, w);
}

/* The schedulers hear that a task of the job was handed out. */
static void update(struct fth_hybrid *h, uint32_t job)
{
	struct fth_hjob *j = &h->jobs.data[job];
	if (j->remaining >= 0)
		j->remaining -= j->est;
	if (!fth_hybrid_has_task(j))
		j->remaining = -1;
	fth_hybrid_unref(h, job);
}

static void probe_arrives(struct fth_hybrid *h, const struct fth_due *d)
{
	if (d->kind == FTH_DUE_PULL)
		h->jobs.data[d->job].asked--;
	struct fth_worker *x = &h->workers.data[d->worker];
	const struct fth_hjob *j = &h->jobs.data[d->job];
	if (x->state >= FTH_WORKER_TAKEN) {
		/* It comes too late: try a machine that stays. */
		if (fth_hybrid_has_task(j))
			fth_hybrid_send(h, fth_hybrid_safe_worker(h), d->job, FTH_ONE_WAY);
		fth_hybrid_unref(h, d->job);
		return;
	}
	if (j->is_long && h->traits->hints) {
		x->hint = fth_hints_keep(&h->hints, x->hint);
		x->hint_time = h->when;
	}
	x->longs += j->is_long;
	fth_queue_push(h, d->worker, (struct fth_probe){.job = d->job});
	fth_hybrid_serve(h, d->worker);
}

static void come_due(struct fth_hybrid *h, const struct fth_due *d)
{
	h->workers.data[d->worker].coming--;
	switch (d->kind) {
	case FTH_DUE_PROBE:
	case FTH_DUE_PULL:
		probe_arrives(h, d);
		break;
	case FTH_DUE_NOOP:
		h->workers.data[d->worker].free++;
		fth_hybrid_serve(h, d->worker);
		break;
	case FTH_DUE_UPDATE:
		update(h, d->job);
		break;
	case FTH_DUE_DRAINED:
		fth_coaster_drained(h, d->worker);
		break;
	}
	maybe_reuse(h, d->worker);
}

/* ---- a round ---- */

/* The static workers, all at once. */
static void launch(struct fth_hybrid *h)
{
	uint32_t n = (h->nstatic + h->slices - 1) / h->slices;
	struct fth_reason why = {"one of the workers, at $0/h", {h->view->catalog->offers[h->offer].price}};
	for (uint32_t i = 0; i < n; i++) {
		fth_instance_id id = fth_plan_launch(h->plan, &h->offer, 1, why);
		if (!i)
			h->first_instance = id;
		fth_hybrid_add_workers(h, id, FTH_MIN(h->slices, h->nstatic - i * h->slices), false);
	}
	h->launched = true;
}

/* Where the task is that an event is about; UINT32_MAX: nowhere of ours. */
static uint32_t find_slot(struct fth_hybrid *h, const struct fth_event *ev, uint32_t *ret_slot)
{
	size_t k = ev->instance - h->first_instance;
	uint32_t w = k < h->first_worker.len ? h->first_worker.data[k] : FTH_NONE;
	for (; w < h->workers.len && h->workers.data[w].instance == ev->instance; w++)
		for (uint32_t s = 0; s < (uint32_t)h->params->slots; s++)
			if (slots_of(h, w)[s].task == ev->task) {
				*ret_slot = s;
				return w;
			}
	return UINT32_MAX;
}

static void lose_task(struct fth_hybrid *h, const struct fth_event *ev)
{
	uint32_t slot, w = find_slot(h, ev, &slot);
	if (w == UINT32_MAX)
		return;
	uint32_t job = slots_of(h, w)[slot].job;
	clear_slot(h, w, slot);
	fth_hybrid_give_back(h, job, ev->task);
	fth_hybrid_unref(h, job);
}

/* What is booked for tasks that have not started leaves the book: each has a probe, queued or on its way. */
static void unbook(struct fth_hybrid *h, uint32_t job)
{
	fth_time est = h->jobs.data[job].est;
	const struct fth_due_queue *q = &h->queues[FTH_ONE_WAY];
	for (uint32_t w = h->nshort; w < h->nstatic; w++) {
		const struct fth_worker *x = &h->workers.data[w];
		for (uint32_t k = 0; k < x->len; k++)
			if (x->queue[x->head + k].job == job)
				fth_central_unbook(&h->central, w - h->nshort, est, h->now);
	}
	for (uint32_t k = 0; k < q->len; k++) {
		const struct fth_due *d = &q->ring[(q->head + k) & (q->cap - 1)];
		if (d->kind == FTH_DUE_PROBE && d->job == job)
			fth_central_unbook(&h->central, d->worker - h->nshort, est, h->now);
	}
}

/* Its tasks have vanished from where they ran; its probes will be found dead. Rare, so we look everywhere. */
static void cancel_job(struct fth_hybrid *h, uint32_t job)
{
	const struct fth_hjob *j = &h->jobs.data[job];
	if (!j->is_long)
		h->short_work -= j->est * (fth_time)(j->ntasks - j->next + j->back.len);
	if (j->central)
		unbook(h, job);
	end_job(h, job);
	h->jobs.data[job].remaining = -1;
	for (uint32_t w = 0; w < h->workers.len; w++)
		for (uint32_t s = 0; s < (uint32_t)h->params->slots; s++) {
			const struct fth_slot *x = &slots_of(h, w)[s];
			if (x->task == FTH_NONE || x->job != job)
				continue;
			clear_slot(h, w, s);
			fth_hybrid_unref(h, job);
			fth_hybrid_serve(h, w);
		}
	if (h->coaster)
		fth_coaster_look(h);
}

/* A static instance could not be had, or went: put another in its place. */
static void replace(struct fth_hybrid *h, fth_instance_id id)
{
	size_t k = id - h->first_instance;
	uint32_t first = k < h->first_worker.len ? h->first_worker.data[k] : FTH_NONE;
	if (first == FTH_NONE || first >= h->nstatic)
		return;
	fth_instance_id next = fth_plan_launch(h->plan, &h->offer, 1, (struct fth_reason){"in place of one that went", {0}});
	h->first_worker.data[k] = FTH_NONE;
	while (h->first_worker.len <= next - h->first_instance)
		fth_vec_push(&h->first_worker, FTH_NONE);
	h->first_worker.data[next - h->first_instance] = first;
	for (uint32_t w = first; w < h->nstatic && h->workers.data[w].instance == id; w++)
		h->workers.data[w].instance = next;
}

static void note_end(struct fth_hybrid *h, uint32_t w, uint32_t slot)
{
	const struct fth_slot *s = &slots_of(h, w)[slot];
	double when = (double)(h->now - s->start) / (double)FTH_SEC + s->when;
	fth_vec_push(&h->ends, ((struct fth_end){when, s->order, w, slot}));
}

static void take_event(struct fth_hybrid *h, const struct fth_event *ev)
{
	uint32_t slot, w;
	uint64_t job;
	switch (ev->kind) {
	case FTH_EV_JOB_SUBMITTED:
		fth_vec_push(&h->arrivals, ev->job);
		break;
	case FTH_EV_JOB_CANCELLED:
		if (fth_map_get(&h->job_of, ev->job, &job))
			cancel_job(h, (uint32_t)job);
		break;
	case FTH_EV_TASK_DONE:
		w = find_slot(h, ev, &slot);
		if (w != UINT32_MAX)
			note_end(h, w, slot);
		break;
	case FTH_EV_TASK_LOST:
		lose_task(h, ev);
		break;
	case FTH_EV_INSTANCE_GONE:
	case FTH_EV_INSTANCE_REVOKED:
		fth_vec_push(&h->gone, *ev);
		if (h->coaster)
			fth_coaster_doomed(h, ev->instance);
		break;
	case FTH_EV_OFFER_CHANGED:
		if (h->coaster)
			fth_coaster_offer_changed(h);
		break;
	default:
		if (h->coaster)
			fth_coaster_event(h, ev);
	}
}

static void lose_instances(struct fth_hybrid *h)
{
	for (size_t k = 0; k < h->gone.len; k++)
		if (!h->coaster || !fth_coaster_event(h, &h->gone.data[k]))
			replace(h, h->gone.data[k].instance);
	fth_vec_clear(&h->gone);
}

static bool is_before(double when, uint64_t order, double other, uint64_t other_order)
{
	return when < other || (when == other && order < other_order);
}

/* Few, and nearly always one. */
static void sort_ends(struct fth_hybrid *h)
{
	for (size_t i = 1; i < h->ends.len; i++) {
		struct fth_end e = h->ends.data[i];
		size_t k = i;
		for (; k && is_before(e.when, e.order, h->ends.data[k - 1].when, h->ends.data[k - 1].order); k--)
			h->ends.data[k] = h->ends.data[k - 1];
		h->ends.data[k] = e;
	}
}

/* What is next, and its place in the order. */
struct next {
	enum { NEXT_NONE, NEXT_DUE, NEXT_END, NEXT_ARRIVAL } what;
	int queue;
	double when;
	uint64_t order;
};

static void sooner(struct next *n, struct next other)
{
	if (n->what == NEXT_NONE || is_before(other.when, other.order, n->when, n->order))
		*n = other;
}

static struct next look(const struct fth_hybrid *h, size_t end, size_t arrival)
{
	struct next n = {.what = NEXT_NONE};
	for (int q = 0; q < FTH_NQUEUES; q++) {
		const struct fth_due_queue *x = &h->queues[q];
		const struct fth_due *d = &x->ring[x->head];
		if (x->len && d->at <= h->now)
			sooner(&n, (struct next){NEXT_DUE, q, d->when, d->order});
	}
	if (end < h->ends.len)
		sooner(&n, (struct next){NEXT_END, 0, h->ends.data[end].when, h->ends.data[end].order});
	if (arrival < h->arrivals.len)
		sooner(&n, (struct next){NEXT_ARRIVAL, 0, (double)h->now / (double)FTH_SEC, h->next_arrival});
	return n;
}

/* Everything of this instant, in order. */
static void play(struct fth_hybrid *h)
{
	size_t end = 0, arrival = 0;
	for (;;) {
		struct next n = look(h, end, arrival);
		h->when = n.when;
		if (n.what == NEXT_NONE) {
			return;
		} else if (n.what == NEXT_ARRIVAL) {
			arrive(h, h->arrivals.data[arrival++]);
		} else if (n.what == NEXT_END) {
			end_task(h, h->ends.data[end].worker, h->ends.data[end].slot);
			end++;
		} else {
			struct fth_due_queue *x = &h->queues[n.queue];
			struct fth_due d = x->ring[x->head];
			x->head = (x->head + 1) & (x->cap - 1);
			x->len--;
			come_due(h, &d);
		}
	}
}

static void ask_to_be_woken(struct fth_hybrid *h)
{
	fth_time at = FTH_NEVER;
	for (int q = 0; q < FTH_NQUEUES; q++)
		if (h->queues[q].len)
			at = FTH_MIN(at, h->queues[q].ring[h->queues[q].head].at);
	if (at != FTH_NEVER && at != h->waking)
		fth_plan_wake(h->plan, at);
	h->waking = at;
}

int fth_hybrid_decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct fth_hybrid *h = self;
	h->view = round->view;
	h->plan = plan;
	h->now = round->now;
	h->when = (double)h->now / (double)FTH_SEC;
	fth_vec_clear(&h->ends);
	fth_vec_clear(&h->arrivals);
	if (!h->launched)
		launch(h);
	for (size_t i = 0; i < round->nevents; i++)
		take_event(h, &round->events[i]);
	if (h->ends.len > 1)
		sort_ends(h);
	play(h);
	if (h->gone.len)
		lose_instances(h);
	if (h->coaster)
		fth_coaster_round(h);
	ask_to_be_woken(h);
	return 0;
}

/* ---- life ---- */

/* The cheapest way to a slot of one CPU. */
static int choose_offer(struct fth_hybrid *h, const struct fth_view *v)
{
	const struct fth_catalog *c = v->catalog;
	int64_t need = 1000 * h->params->slots;
	double best = 0;
	h->offer = FTH_NONE;
	for (uint32_t i = 0; i < c->noffers; i++) {
		int64_t slices = c->types[c->offers[i].type].capacity.v[FTH_CPU] / need;
		if (c->offers[i].market != FTH_ON_DEMAND || slices < 1)
			continue;
		double price = (double)c->offers[i].price / (double)slices;
		if (h->offer != FTH_NONE && price >= best)
			continue;
		best = price;
		h->offer = i;
		h->slices = (uint32_t)FTH_MIN(slices, (int64_t)1 << 20);
	}
	return h->offer == FTH_NONE ? -ENODEV : 0;
}

int fth_hybrid_new(void **self, const struct fth_view *view, const struct fth_hybrid_params *p,
		   const struct fth_hybrid_traits *t)
{
	if (p->workers < 1)
		return -EINVAL;
	struct fth_hybrid *h = fth_alloc(sizeof(*h));
	const fth_time delays[FTH_NQUEUES] = {0, p->delay, 2 * p->delay, p->drain_after};
	uint32_t workers = (uint32_t)p->workers, replaced = 0;
	h->params = p;
	h->traits = t;
	h->view = view;
	h->waking = FTH_NEVER;
	h->oldest = h->newest = FTH_NONE;
	fth_draw_seed(&h->draw, (uint64_t)p->seed);
	for (int q = 0; q < FTH_NQUEUES; q++) {
		h->queues[q].delay = delays[q];
		h->queues[q].seconds = (double)delays[q] / (double)FTH_SEC;
	}
	int r = choose_offer(h, view);
	if (r) {
		free(h);
		return r;
	}
	uint32_t nshort = t->partition ? (uint32_t)((100 - p->general) * (double)workers / 100) : 0;
	if (t->transients)
		replaced = (uint32_t)(p->p * nshort + 1e-9);
	h->nstatic = workers - replaced;
	h->nshort = nshort - replaced;
	fth_central_init(&h->central, h->nstatic - h->nshort, (uint32_t)p->slots, p->delay);
	fth_hints_init(&h->hints, &h->central);
	if (t->transients)
		h->coaster = fth_coaster_new(replaced);
	*self = h;
	return 0;
}

void fth_hybrid_free(void *self)
{
	struct fth_hybrid *h = self;
	for (size_t i = 0; i < h->workers.len; i++)
		free(h->workers.data[i].queue);
	for (size_t i = 0; i < h->jobs.len; i++)
		fth_vec_release(&h->jobs.data[i].back);
	for (int q = 0; q < FTH_NQUEUES; q++)
		free(h->queues[q].ring);
	fth_central_release(&h->central);
	fth_hints_release(&h->hints);
	fth_coaster_free(h->coaster);
	fth_vec_release(&h->workers);
	fth_vec_release(&h->slots);
	fth_vec_release(&h->idle);
	fth_vec_release(&h->up);
	fth_vec_release(&h->first_worker);
	fth_vec_release(&h->jobs);
	fth_vec_release(&h->free_jobs);
	fth_map_release(&h->job_of);
	fth_vec_release(&h->chosen);
	fth_vec_release(&h->on_transients);
	fth_vec_release(&h->ends);
	fth_vec_release(&h->arrivals);
	fth_vec_release(&h->gone);
	fth_vec_release(&h->followed_asked);
	free(h);
}
