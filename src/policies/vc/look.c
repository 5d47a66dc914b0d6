/* SPDX-License-Identifier: Apache-2.0 */
/* What is there at a round: instances with room and remaining runtime, tasks to be placed. */
#include "policies/vc/vc.h"

#include "predict/runtime.h"

/* ---- runtimes ---- */

fth_time vc_estimate(struct vc *v, const struct fth_task *t)
{
	fth_time e = t->estimate;
	if (v->predictor) {
		const struct fth_job *j = fth_view_job(v->view, t->job);
		e = j->slot < v->predicted.len ? v->predicted.data[j->slot] : 0;
	}
	return e > 0 ? e : v->cfg.default_runtime;
}

fth_time vc_remaining(struct vc *v, const struct fth_task *t)
{
	fth_time total = vc_estimate(v, t), ran = t->ran + (t->state == FTH_TASK_RUNNING ? v->now - t->since : 0);
	/* One that has run for T lasts for another T with even odds: seen to have outlived what was thought, it is taken
	 * to be half-way, until it outlives that. */
	if (v->cfg.readjust && total <= ran) {
		while (v->doubled.len <= t->slot)
			fth_vec_push(&v->doubled, ((struct vc_doubled){.task = FTH_NONE}));
		struct vc_doubled *d = &v->doubled.data[t->slot];
		if (d->task != t->id || d->total <= ran)
			*d = (struct vc_doubled){t->id, ran < FTH_NEVER / 2 ? 2 * ran : FTH_NEVER};
		total = d->total;
	}
	return total > ran ? total - ran : 0;
}

unsigned vc_bin(const struct vc *v, fth_time remaining)
{
	uint64_t units = (uint64_t)(remaining / v->cfg.bin_unit);
	return units ? 64 - (unsigned)__builtin_clzll(units) : 0;
}

fth_time vc_bin_start(const struct vc *v, unsigned bin)
{
	return !bin ? 0 : bin > 63 || v->cfg.bin_unit > INT64_MAX >> (bin - 1) ? INT64_MAX : v->cfg.bin_unit << (bin - 1);
}

fth_time vc_pause(const struct vc *v, fth_kind_id kind)
{
	const struct fth_task_delays *d = &v->view->kinds[kind].delays;
	return d->stop + d->save + d->fetch + d->setup + d->init;
}

/* ---- instances ---- */

struct vc_inst *vc_known(struct vc *v, fth_instance_id id)
{
	size_t a = 0, z = v->inst.len;
	if (!z || v->inst.data[z - 1].id < id)
		return NULL; /* a new one, as most that are not known */
	while (a < z) {
		size_t mid = a + (z - a) / 2;
		if (v->inst.data[mid].id < id)
			a = mid + 1;
		else
			z = mid;
	}
	return a < v->inst.len && v->inst.data[a].id == id ? &v->inst.data[a] : NULL;
}

static bool is_low(const struct vc *v, const struct fth_instance *i)
{
	const struct fth_res *cap = &v->view->catalog->types[i->type].capacity;
	for (uint32_t r = 0; r < v->view->catalog->nres; r++)
		if (cap->v[r] > 0 && (double)i->committed.v[r] >= v->cfg.low * (double)cap->v[r])
			return false;
	return true;
}

/* Tasks that advance together stop together: their instances are left alone. */
static bool may_move(const struct vc *v, const struct fth_task *t)
{
	if (t->state != FTH_TASK_RUNNING)
		return false;
	const struct fth_job *j = fth_view_job(v->view, t->job);
	return j->ntasks == 1 || j->kind == FTH_JOB_INDEPENDENT;
}

/* As long as no task comes, goes, starts or stops, what remains shrinks with time, until one outlives its estimate. */
static void look_at_tasks(struct vc *v, const struct fth_instance *i, struct vc_inst *vi)
{
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		fth_time left = vc_remaining(v, t), end = left < FTH_NEVER - v->now ? v->now + left : FTH_NEVER;
		if (t->state == FTH_TASK_RUNNING) {
			vi->until = FTH_MAX(vi->until, end);
			vi->adjust = FTH_MIN(vi->adjust, end);
		} else {
			vi->pending = FTH_MAX(vi->pending, left);
		}
		vi->settled = vi->settled && may_move(v, t);
		id = t->next_committed;
	}
	if (!v->cfg.readjust)
		vi->adjust = FTH_NEVER;
}

/* Where its tasks can still be saved, an instance about to be taken sends them away. */
static void flee(struct vc *v, const struct fth_instance *i)
{
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		id = t->next_committed;
		const struct fth_job *j = fth_view_job(v->view, t->job);
		bool alone = j->ntasks == 1 || j->kind == FTH_JOB_INDEPENDENT;
		if (!(alone && t->state == FTH_TASK_BOUND && t->on == FTH_NONE) && !may_move(v, t))
			continue;
		struct vc_task f = {.id = t->id, .kind = t->kind, .from = i->id, .at = FTH_NONE};
		f.apart = j->anti_affinity;
		f.priority = j->priority;
		f.remaining = vc_remaining(v, t);
		fth_vec_push(&v->tasks, f);
	}
}

static void look_at_instance(struct vc *v, const struct fth_instance *i, struct vc_inst *vi)
{
	bool ready = i->state == FTH_INSTANCE_READY;
	vi->id = i->id;
	vi->type = i->type;
	vi->offer = i->offer;
	vi->slot = i->slot;
	vi->room = v->view->catalog->types[i->type].capacity;
	fth_res_sub(&vi->room, &i->committed);
	vi->until = vi->pending = 0;
	vi->adjust = FTH_NEVER;
	vi->ntasks = i->ncommitted;
	vi->ready = ready;
	vi->settled = ready && i->nheld == i->ncommitted;
	vi->is_low = ready && v->cfg.clear && i->ncommitted && is_low(v, i);
	vi->planned = false;
	if (v->cfg.clear || v->cfg.price_moves || v->cfg.pack == VC_PACK_BINS)
		look_at_tasks(v, i, vi);
}

/* An instance of which something has changed. */
static void look_again(struct vc *v, fth_instance_id id)
{
	const struct fth_instance *i = fth_view_instance(v->view, id);
	uint32_t at = i ? v->inst_of.data[i->slot] : FTH_NONE;
	struct vc_inst *known = at < v->inst.len && v->inst.data[at].id == id ? &v->inst.data[at] : vc_known(v, id);
	if (i && i->revoked && !fth_map_get(&v->is_fleeing, id, NULL)) {
		fth_map_put(&v->is_fleeing, id, 1);
		fth_vec_push(&v->fleeing, id);
	}
	if (!i || i->leaving) {
		if (known) {
			known->gone = true;
			v->inst_of.data[known->slot] = FTH_NONE;
		}
		return;
	}
	if (!known) {
		fth_vec_push(&v->inst, ((struct vc_inst){.reserved = fth_map_get(&v->arriving, id, NULL)}));
		known = &fth_vec_last(&v->inst);
	}
	look_at_instance(v, i, known);
}

/* Those that are there, without the ones that went, as they are now. */
static void keep(struct vc *v)
{
	size_t n = 0;
	v->watching = false;
	for (size_t k = 0; k < v->inst.len; k++) {
		struct vc_inst *i = &v->inst.data[k];
		if (i->gone)
			continue;
		if (i->planned || i->adjust <= v->now)
			look_at_instance(v, fth_view_instance(v->view, i->id), i);
		i->remaining = FTH_MAX(i->pending, i->until - v->now);
		i->open = (i->ready || v->cfg.pack_booting) && !i->cleared && !i->reserved;
		i->low = i->is_low ? i->low + 1 : 0;
		v->watching |= i->is_low;
		v->inst_of.data[i->slot] = (uint32_t)n;
		if (n != k)
			v->inst.data[n] = *i;
		n++;
	}
	v->inst.len = n;
}

static void look_at_instances(struct vc *v)
{
	size_t n = v->inst.len;
	while (n && v->inst.data[n - 1].slot == FTH_NONE) /* bought in the last round: they have come, or not */
		n--;
	v->inst.len = n;
	while (v->inst_of.len < v->view->instance_slots)
		fth_vec_push(&v->inst_of, FTH_NONE);
	if (v->looked) {
		for (uint32_t k = 0; k < v->view->nchanged; k++)
			look_again(v, v->view->changed[k]);
	} else {
		for (fth_instance_id id = v->view->first_instance; id != FTH_NONE; id = fth_view_instance(v->view, id)->next)
			look_again(v, id);
	}
	v->looked = true;
	keep(v);
}

/* Every round anew: what could not move before may be able to now. */
static void flee_all(struct vc *v)
{
	size_t left = 0;
	for (size_t k = 0; k < v->fleeing.len; k++) {
		const struct fth_instance *i = fth_view_instance(v->view, v->fleeing.data[k]);
		if (!i || i->state == FTH_INSTANCE_TERMINATING || i->state == FTH_INSTANCE_GONE) {
			fth_map_del(&v->is_fleeing, v->fleeing.data[k]);
			continue;
		}
		flee(v, i);
		v->fleeing.data[left++] = i->id;
	}
	v->fleeing.len = left;
}

/* ---- tasks ---- */

/* Share of the largest type in its most demanding dimension. */
static double size_of(const struct vc *v, fth_kind_id kind)
{
	const struct fth_kind *k = &v->view->kinds[kind];
	double most = 0;
	for (uint32_t r = 0; r < v->view->catalog->nres; r++)
		if (v->most.v[r] > 0)
			most = FTH_MAX(most, (double)k->alts[k->nalts - 1].demand.v[r] / (double)v->most.v[r]);
	return most;
}

/* Where a task stands among those of its priority: smaller comes first. */
static uint64_t order_key(const struct vc *v, const struct vc_task *t)
{
	switch (v->cfg.order) {
	case VC_ORDER_RUNTIME:
		return (uint64_t)(INT64_MAX - t->remaining);
	case VC_ORDER_DEMAND:
		return UINT64_MAX - (uint64_t)(size_of(v, t->kind) * 1e15);
	case VC_ORDER_RANDOM:
		return fth_hash_u64(((uint64_t)t->id << 20) + 12345);
	case VC_ORDER_ARRIVAL:
		break;
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct vc_task *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void look_at_waiting(struct vc *v)
{
	for (fth_task_id id = v->view->first_waiting; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v->view, id);
		const struct fth_job *j = fth_view_job(v->view, t->job);
		id = t->next_waiting;
		fth_vec_push(&v->tasks, ((struct vc_task){.id = t->id,
							  .kind = t->kind,
							  .apart = j->anti_affinity,
							  .priority = j->priority,
							  .remaining = vc_remaining(v, t),
							  .from = FTH_NONE,
							  .at = FTH_NONE}));
	}
	bool sorted = true;
	for (size_t k = 0; k < v->tasks.len; k++) {
		v->tasks.data[k].key = order_key(v, &v->tasks.data[k]);
		sorted &= !k || by_order(&v->tasks.data[k - 1], &v->tasks.data[k]) < 0;
	}
	if (!sorted)
		qsort(v->tasks.data, v->tasks.len, sizeof(*v->tasks.data), by_order);
}

/* What the predictor says of jobs is asked once, when they come. */
static void predict(struct vc *v, const struct fth_round *round)
{
	for (size_t k = 0; k < round->nevents; k++) {
		const struct fth_event *ev = &round->events[k];
		const struct fth_job *j = ev->job == FTH_NONE ? NULL : fth_view_job(v->view, ev->job);
		if (ev->kind == FTH_EV_JOB_SUBMITTED && j) {
			while (v->predicted.len <= j->slot)
				fth_vec_push(&v->predicted, 0);
			v->predicted.data[j->slot] = fth_predictor_submitted(v->predictor, v->view, j);
		} else if (ev->kind == FTH_EV_JOB_DONE && j) {
			fth_predictor_done(v->predictor, v->view, j);
		}
	}
}

void vc_look(struct vc *v, const struct fth_round *round)
{
	v->view = round->view;
	v->now = round->now;
	v->rounds++;
	v->index.built = false;
	fth_vec_clear(&v->tasks);
	fth_vec_clear(&v->left);
	fth_vec_clear(&v->apart);
	if (v->predictor)
		predict(v, round);
	vc_prices(v, round);
	look_at_instances(v);
	flee_all(v);
	look_at_waiting(v);
}
