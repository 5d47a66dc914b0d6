/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/bound.h"
#include "support.h"

static void broken(struct law_watcher *w, const char *fmt, ...) FTH_PRINTF(2, 3);
static void broken(struct law_watcher *w, const char *fmt, ...)
{
	if (w->broken[0])
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(w->broken, sizeof(w->broken), fmt, ap);
	va_end(ap);
}

static void mix(struct law_watcher *w, const void *p, size_t n)
{
	w->hash = fth_hash_bytes(p, n, w->hash);
}

static void check_instance(struct law_watcher *w, const struct fth_cluster *c, const struct fth_instance *i)
{
	const struct fth_instance_type *type = &w->catalog->types[i->type];
	struct fth_res sum = {0};
	uint32_t n = 0;
	for (fth_task_id id = i->first_committed; id != FTH_NONE; n++) {
		const struct fth_task *t = fth_cluster_task(c, id);
		if (!t || t->target != i->id) {
			broken(w, "instance %u lists task %u, which is not committed to it", i->id, id);
			return;
		}
		fth_res_add(&sum, &fth_kind_on_type(&c->view.kinds[t->kind], type)->demand);
		id = t->next_committed;
	}
	if (n != i->ncommitted || !fth_res_equal(&sum, &i->committed))
		broken(w, "instance %u: its committed sum or count is wrong", i->id);
	if (!fth_res_fits(&sum, &type->capacity))
		broken(w, "instance %u is over-committed", i->id);
	if (!fth_res_fits(&i->held, &type->capacity))
		broken(w, "instance %u holds more than it has", i->id);
}

static void check_all(struct law_watcher *w, const struct fth_cluster *c)
{
	uint32_t ntasks = 0, nwaiting = 0, ninstances = 0, held = 0, listed_held = 0;
	for (fth_instance_id id = c->view.first_instance; id != FTH_NONE; ninstances++) {
		const struct fth_instance *i = fth_cluster_instance(c, id);
		check_instance(w, c, i);
		listed_held += i->nheld;
		id = i->next;
	}
	for (fth_job_id id = c->view.first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(c, id);
		for (uint32_t k = 0; k < j->ntasks; k++) {
			const struct fth_task *t = fth_cluster_task(c, j->first_task + k);
			nwaiting += t->state == FTH_TASK_WAITING;
			held += t->on != FTH_NONE;
			if ((t->state == FTH_TASK_RUNNING || t->state == FTH_TASK_STARTING) && t->on != t->target)
				broken(w, "task %u runs where it is not committed", t->id);
			if (t->state == FTH_TASK_WAITING && (t->on != FTH_NONE || t->target != FTH_NONE))
				broken(w, "task %u waits but is somewhere", t->id);
			ntasks++;
		}
		id = j->next;
	}
	if (ntasks != c->view.ntasks || nwaiting != c->view.nwaiting || ninstances != c->view.ninstances ||
	    held != listed_held)
		broken(w, "the view's counts are wrong: tasks %u/%u waiting %u/%u instances %u/%u held %u/%u", ntasks,
		       c->view.ntasks, nwaiting, c->view.nwaiting, ninstances, c->view.ninstances, held, listed_held);
}

static void on_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct law_watcher *w = (struct law_watcher *)o;
	w->events++;
	int64_t seen[] = {ev->kind, ev->time, ev->job, ev->task, ev->instance, ev->at};
	mix(w, seen, sizeof(seen));
	if (ev->kind == FTH_EV_TASK_DONE) {
		if (fth_map_get(&w->task_done, ev->task, NULL))
			broken(w, "task %u ended twice", ev->task);
		fth_map_put(&w->task_done, ev->task, 1);
		w->done_tasks++;
	}
	w->done_jobs += ev->kind == FTH_EV_JOB_DONE;
	const struct fth_instance *i = ev->instance == FTH_NONE ? NULL : fth_cluster_instance(c, ev->instance);
	if (ev->kind == FTH_EV_INSTANCE_ACQUIRED) {
		fth_map_put(&w->acquired, i->id, (uint64_t)ev->time);
		fth_map_put(&w->offer_of, i->id, i->offer);
	}
	if (ev->kind == FTH_EV_OFFER_CHANGED)
		fth_vec_push(&w->prices, ((struct law_price){ev->offer, ev->time, ev->price}));
	if (ev->kind == FTH_EV_INSTANCE_REVOKED)
		fth_map_put(&w->cut, ev->instance, 1);
	if (i && i->state != FTH_INSTANCE_GONE)
		check_instance(w, c, i);
	if (w->thorough)
		check_all(w, c);
}

static void on_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *j)
{
	(void)c;
	struct law_watcher *w = (struct law_watcher *)o;
	if (j->kind == FTH_JOB_SERVICE)
		return; /* does not end */
	w->submitted_jobs++;
	w->submitted_tasks += j->ntasks;
}

static void on_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
		    const uint8_t *verdicts, const struct fth_action *accepted, size_t naccepted)
{
	struct law_watcher *w = (struct law_watcher *)o;
	w->plans++;
	w->actions += naccepted;
	mix(w, &now, sizeof(now));
	if (plan->actions.len)
		mix(w, verdicts, plan->actions.len);
	for (size_t k = 0; k < naccepted; k++) {
		int64_t seen[] = {accepted[k].kind, accepted[k].task, accepted[k].instance, accepted[k].at};
		mix(w, seen, sizeof(seen));
		const struct fth_instance *i =
			accepted[k].instance == FTH_NONE ? NULL : fth_cluster_instance(c, accepted[k].instance);
		if (i)
			check_instance(w, c, i);
	}
	if (w->thorough)
		check_all(w, c);
}

static void on_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	(void)c;
	struct law_watcher *w = (struct law_watcher *)o;
	uint64_t acquired, offer;
	if (!fth_map_get(&w->acquired, charge->instance, &acquired) ||
	    !fth_map_get(&w->offer_of, charge->instance, &offer)) {
		broken(w, "instance %u was charged but never acquired", charge->instance);
		return;
	}
	const struct fth_offer *of = &w->catalog->offers[offer];
	fth_time used = charge->to - (fth_time)acquired;
	fth_time billed = used < of->billing.minimum ? of->billing.minimum : used;
	billed = (billed + of->billing.increment - 1) / of->billing.increment * of->billing.increment;
	/* The plainest way: a list of prices, walked from the beginning. */
	__int128 sum = 0;
	fth_price price = of->price;
	fth_time at = (fth_time)acquired;
	for (size_t k = 0; k < w->prices.len; k++) {
		const struct law_price *step = &w->prices.data[k];
		if (step->offer != offer || step->at > charge->to)
			continue;
		if (step->at > at) {
			sum += (__int128)price * (step->at - at);
			at = step->at;
		}
		price = step->price;
	}
	sum += (__int128)price * (charge->to - at + billed - used);
	fth_money want = (fth_money)(sum / FTH_HOUR);
	if (want != charge->amount)
		broken(w, "instance %u was charged %lld, not %lld", charge->instance, (long long)charge->amount,
		       (long long)want);
	w->expected_total += want;
	w->charges++;
	mix(w, &charge->amount, sizeof(charge->amount));
}

void law_watcher_init(struct law_watcher *w, const struct fth_catalog *c, bool thorough)
{
	*w = (struct law_watcher){
		.base = {.after_event = on_event, .on_submit = on_submit, .on_plan = on_plan, .on_charge = on_charge},
		.catalog = c,
		.thorough = thorough,
	};
}

void law_watcher_release(struct law_watcher *w)
{
	fth_map_release(&w->task_done);
	fth_map_release(&w->acquired);
	fth_map_release(&w->offer_of);
	fth_map_release(&w->cut);
	fth_vec_release(&w->prices);
}

bool laws_hold(struct law_watcher *w, const struct fth_engine *e, bool all_done)
{
	const struct fth_ledger *l = fth_engine_ledger(e);
	fth_money sum = 0;
	for (size_t i = 0; i < l->charges.len; i++)
		sum += l->charges.data[i].amount;
	if (sum != l->total || sum != w->expected_total || l->charges.len != w->charges)
		broken(w, "the ledger does not sum: total %lld, charges %lld, expected %lld", (long long)l->total,
		       (long long)sum, (long long)w->expected_total);
	if (all_done && (w->done_jobs != w->submitted_jobs || w->done_tasks != w->submitted_tasks))
		broken(w, "%llu of %llu tasks ended", (unsigned long long)w->done_tasks,
		       (unsigned long long)w->submitted_tasks);
	return !w->broken[0];
}

/* ---- the lower bound ---- */

double cost_over_bound(const struct fth_world *w, const struct fth_sim_params *p, const struct fth_engine *e, uint64_t launches)
{
	struct fth_bound_options o = fth_bound_quick();
	struct fth_bound b;
	o.pair_speed = p->pair_speed;
	o.market_start = p->market_start * FTH_SEC;
	o.uneven_delays = p->job_delay_spread > 0;
	int r = fth_bound_find(&b, w, NULL, &o, NULL);
	const struct fth_ledger *l = fth_engine_ledger(e);
	/* Each machine's charge is rounded down to the nano-dollar. */
	fth_money cost = l->total + (fth_money)l->charges.len + (fth_money)launches * b.slack_per_launch;
	bool ok = !r && b.known && b.certified && b.usd > 0 && cost >= b.usd;
	double ratio = ok ? (double)l->total / (double)b.usd : -1;
	fth_bound_release(&b);
	return ratio;
}
