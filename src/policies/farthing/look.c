/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster of this round as tasks and machines to plan with: what each task is worth, what moving or losing it would
 * cost, and who must stay where it is. Also feeds what is seen of speeds to the model of interference.
 */
#include "policies/farthing/own.h"

/* A machine is another one when it has met so many new tasks. */
static const double MET = 3;

static double hours(fth_time t)
{
	return (double)t / (double)FTH_HOUR;
}

/* Kinds and types never change, so this is worked out once for each kind. */
static const struct fth_alt *const *alternatives(struct own *o, fth_kind_id kind)
{
	const struct fth_catalog *c = o->view->catalog;
	while (o->alts.len <= kind)
		fth_vec_push(&o->alts, NULL);
	if (!o->alts.data[kind]) {
		const struct fth_alt **row = fth_alloc((c->ntypes + 1) * sizeof(*row));
		for (fth_type_id t = 0; t < c->ntypes; t++) {
			const struct fth_alt *a = fth_kind_on_type(&o->view->kinds[kind], &c->types[t]);
			row[t] = a && a->speed_ppm && fth_res_fits(&a->demand, &c->types[t].capacity) ? a : NULL;
		}
		o->alts.data[kind] = row;
	}
	return o->alts.data[kind];
}

const struct fth_res *own_demand(const struct own *o, uint32_t task, fth_type_id type)
{
	const struct fth_alt *a = o->tasks.data[task].item.alt[type];
	return a ? &a->demand : NULL;
}

/* ---- machines ---- */

static void look_at_machines(struct own *o)
{
	const struct fth_view *v = o->view;
	fth_vec_clear(&o->machines);
	fth_vec_reserve(&o->machine_of, v->instance_slots);
	fth_vec_reserve(&o->held, v->catalog->ntypes);
	memset(o->held.data, 0, v->catalog->ntypes * sizeof(*o->held.data));
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->next;
		o->machine_of.data[i->slot] = FTH_NONE;
		if (i->leaving && !i->revoked)
			continue;
		o->machine_of.data[i->slot] = (uint32_t)o->machines.len;
		struct own_machine m = {.id = i->id,
					.slot = i->slot,
					.as = own_buy_of(&o->market, v->catalog, i->offer),
					.room = v->catalog->types[i->type].capacity,
					.first = FTH_NONE,
					.usable = !i->leaving && !i->revoked,
					.ready = i->state == FTH_INSTANCE_READY};
		if (m.usable)
			m.as.price = own_marginal(v->catalog, &m.as, o->held.data[i->type]++, o->params->committed);
		fth_vec_push(&o->machines, m);
	}
	own_price_buys(o);
}

void own_price_buys(struct own *o)
{
	fth_vec_clear(&o->buys);
	for (size_t k = 0; k < o->market.buys.len; k++) {
		struct own_buy b = o->market.buys.data[k];
		b.price = own_marginal(o->view->catalog, &b, o->held.data[b.type], o->params->committed);
		/* The more of them there are already, the more would fall together. */
		b.risk *= 1 + (double)o->held.data[b.type] / (double)(o->machines.len + 1);
		fth_vec_push(&o->buys, b);
		size_t at = o->buys.len - 1;
		for (; at && o->buys.data[at - 1].price > b.price; at--)
			o->buys.data[at] = o->buys.data[at - 1];
		o->buys.data[at] = b;
	}
}

uint32_t own_add_machine(struct own *o, const struct own_buy *buy)
{
	struct own_machine m = {.id = FTH_NONE,
				.slot = FTH_NONE,
				.as = *buy,
				.room = o->view->catalog->types[buy->type].capacity,
				.first = FTH_NONE,
				.usable = true,
				.changed = true};
	fth_vec_push(&o->machines, m);
	o->held.data[buy->type]++;
	return (uint32_t)o->machines.len - 1;
}

void own_put(struct own *o, uint32_t task, uint32_t machine)
{
	struct own_task *t = &o->tasks.data[task];
	struct own_machine *m = &o->machines.data[machine];
	const struct fth_res *d = own_demand(o, task, m->as.type);
	if (d)
		fth_res_sub(&m->room, d);
	t->to = machine;
	t->prev = FTH_NONE;
	t->next = m->first;
	if (m->first != FTH_NONE)
		o->tasks.data[m->first].prev = task;
	m->first = task;
	m->n++;
}

void own_take(struct own *o, uint32_t task)
{
	struct own_task *t = &o->tasks.data[task];
	struct own_machine *m = &o->machines.data[t->to];
	const struct fth_res *d = own_demand(o, task, m->as.type);
	if (d)
		fth_res_add(&m->room, d);
	if (t->prev == FTH_NONE)
		m->first = t->next;
	else
		o->tasks.data[t->prev].next = t->next;
	if (t->next != FTH_NONE)
		o->tasks.data[t->next].prev = t->prev;
	t->to = FTH_NONE;
	m->n--;
}

bool own_is_barred(const struct own *o, uint32_t task, uint32_t machine)
{
	const struct own_task *x = &o->tasks.data[task];
	fth_instance_id id = o->machines.data[machine].id;
	if (!x->item.apart || id == FTH_NONE)
		return false;
	for (fth_task_id t = fth_view_instance(o->view, id)->first_committed; t != FTH_NONE;) {
		const struct fth_task *there = fth_view_task(o->view, t);
		if (t != x->id && fth_view_job(o->view, there->job)->anti_affinity == x->item.apart)
			return true;
		t = there->next_committed;
	}
	return false;
}

bool own_fits(const struct own *o, uint32_t task, uint32_t machine)
{
	const struct own_machine *m = &o->machines.data[machine];
	const struct fth_res *d = own_demand(o, task, m->as.type);
	fth_sym apart = o->tasks.data[task].item.apart;
	if (!m->usable || !d || !fth_res_fits(d, &m->room))
		return false;
	for (uint32_t t = m->first; apart && t != FTH_NONE; t = o->tasks.data[t].next)
		if (o->tasks.data[t].item.apart == apart)
			return false;
	return !own_is_barred(o, task, machine);
}

/* Tasks of a class are equally fast on one machine: worked out for the first of them, it is kept for the others. */
static double rate_beside(struct own *o, size_t k, uint64_t hash)
{
	uint32_t klass = o->tasks.data[o->order.data[k]].item.klass;
	while (o->known.len <= klass)
		fth_vec_push(&o->known, (struct own_rate){0});
	struct own_rate *r = &o->known.data[klass];
	if (r->asked == o->asked)
		return r->rate;
	double rate = 1;
	for (size_t n = 0; n < o->order.len; n++)
		if (n != k)
			rate *= own_pair(&o->speeds, klass, o->tasks.data[o->order.data[n]].item.klass);
	o->spent += o->order.len / 4;
	*r = (struct own_rate){own_speeds_in_set(&o->speeds, klass, hash, rate), o->asked};
	return r->rate;
}

/* Price less worth over the horizon, perhaps with one more task. */
double own_waste(struct own *o, uint32_t machine, uint32_t with)
{
	const struct own_machine *m = &o->machines.data[machine];
	double sum = 0, longest = 0;
	uint64_t hash = 0;
	fth_vec_clear(&o->order);
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next)
		fth_vec_push(&o->order, t);
	if (with != FTH_NONE)
		fth_vec_push(&o->order, with);
	for (size_t k = 0; k < o->order.len; k++)
		hash += own_class_hash(o->tasks.data[o->order.data[k]].item.klass);
	o->asked++;
	for (size_t k = 0; k < o->order.len; k++) {
		const struct own_item *i = &o->tasks.data[o->order.data[k]].item;
		double rate = rate_beside(o, k, hash);
		o->tasks.data[o->order.data[k]].rate = rate;
		const struct fth_alt *a = i->alt[m->as.type];
		rate *= a ? a->speed_ppm / 1e6 : 0;
		sum += i->value * rate + i->drag * FTH_MIN(rate, i->pace) - m->as.risk * i->loss;
		longest = FTH_MAX(longest, i->hours);
	}
	o->spent += o->order.len;
	return m->as.price * longest - sum;
}

/* ---- tasks ---- */

static bool in_motion(const struct fth_task *t)
{
	return t->state == FTH_TASK_BOUND || t->state == FTH_TASK_STARTING || t->state == FTH_TASK_STOPPING;
}

static bool any_in_motion(const struct fth_view *v, const struct fth_job *j)
{
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (t && in_motion(t))
			return true;
	}
	return false;
}

/* An hour of a task's progress on a machine of its own. */
static double price_alone(struct own *o, fth_kind_id kind)
{
	const struct fth_alt *const *alt = alternatives(o, kind);
	double least = 0;
	for (size_t i = 0; i < o->market.buys.len; i++) {
		const struct own_buy *b = &o->market.buys.data[i];
		double alone = alt[b->type] ? b->price * 1e6 / alt[b->type]->speed_ppm : 0;
		if (alone > 0 && (least == 0 || alone < least))
			least = alone;
	}
	return least;
}

/* What an hour of a task's progress costs at a fair price. */
static double share_of(struct own *o, fth_kind_id kind)
{
	while (o->market.share.len <= kind)
		fth_vec_push(&o->market.share, -1);
	double *y = &o->market.share.data[kind];
	if (*y >= 0)
		return *y;
	*y = 0;
	if (o->params->value == OWN_SHARE)
		return *y = own_fair_share(o->view, kind, o->market.buys.data, o->market.buys.len);
	return *y = price_alone(o, kind);
}

/* How long it will still run, of the horizon; one that has outrun its estimate is half done. */
static double horizon_of(const struct own *o, const struct fth_task *t)
{
	fth_time ran = t->ran;
	if (t->state == FTH_TASK_RUNNING)
		ran += o->now - t->since;
	if (!t->estimate)
		return hours(o->params->horizon);
	fth_time left = t->estimate > ran ? t->estimate - ran : FTH_MAX(ran, o->params->round);
	left = FTH_MAX(left, o->params->round);
	return hours(FTH_MIN(left, o->params->horizon));
}

/* Over how many hours a move is written off: where no runtime was told, a task is expected to go on for as long as it has
 * run, within bounds; with an estimate, which may be far off, over an eighth of what it leaves. Nor does what a move makes of a machine last
 * longer than until other tasks have come to it. */
static double lasting(const struct own *o, const struct fth_task *t, double horizon)
{
	if (t->state != FTH_TASK_RUNNING)
		return horizon;
	double age = hours(t->ran + o->now - t->since);
	double lasts = t->estimate ? horizon / 8 : FTH_MAX(horizon / 2, FTH_MIN(age, 8 * horizon));
	return FTH_MIN(lasts, o->refill);
}

/* A task that takes nearly all of what its own machine has saves nothing by company. */
static const double NEARLY_ALL = 0.95;

/* Until when a task may be left waiting: not at all if others wait for it, its deadline is near, or nobody can be expected
 * to share a machine with it. */
static fth_time wait_until(struct own *o, const struct fth_job *j, const struct fth_task *t, bool together)
{
	if (t->state != FTH_TASK_WAITING || together || j->kind == FTH_JOB_SERVICE || !o->company)
		return 0;
	if (o->params->value == OWN_SHARE && share_of(o, t->kind) > NEARLY_ALL * price_alone(o, t->kind))
		return 0;
	if (j->deadline != FTH_NEVER && j->deadline - o->now < 2 * (t->estimate + o->params->max_wait))
		return 0;
	return t->since + (t->estimate ? FTH_MIN(o->params->max_wait, t->estimate / 8) : o->params->max_wait);
}

static void set_item(struct own *o, const struct fth_job *j, const struct fth_task *t, struct own_task *x)
{
	const struct fth_kind *k = &o->view->kinds[t->kind];
	const struct fth_task_delays *d = &k->delays;
	struct own_item *i = &x->item;
	double hourly = o->params->markup * share_of(o, t->kind) + o->job_hour / j->ntasks;
	i->klass = own_speeds_class(&o->speeds, k->klass);
	i->count = 1;
	i->hours = horizon_of(o, t);
	i->value = hourly * i->hours;
	i->pace = 1;
	if (x->together) {
		double all = 0;
		for (uint32_t n = 0; n < j->ntasks; n++) {
			const struct fth_task *s = fth_view_task(o->view, j->first_task + n);
			all += s ? o->params->markup * share_of(o, s->kind) + o->job_hour / j->ntasks : 0;
		}
		i->drag = (all - hourly) * i->hours;
		hourly = all;
	}
	fth_time begin = d->fetch + d->setup + d->init, end = d->stop + d->save;
	if (!begin && !end)
		begin = FTH_MINUTE; /* nothing was said of them: not nothing */
	i->hourly = hourly;
	/* While its state is saved it keeps its room there, and what it goes to stands ready: both are paid for. */
	i->move = hourly * hours(begin + (x->at == FTH_NONE ? 0 : 2 * end)) * (i->hours / lasting(o, t, i->hours));
	/* Saved if it is noticed in time; else what it did since it was started is lost. */
	bool saved = end + o->period <= o->market.notice;
	fth_time lost = begin + (!saved && t->state == FTH_TASK_RUNNING ? o->now - t->since : 0);
	i->loss = hourly * (hours(lost) + (saved ? 0 : i->hours / 2)) * i->hours;
	i->queue = x->may_wait ? 0 : OWN_NEVER;
	i->home = FTH_NONE;
	i->linger = x->at == FTH_NONE ? 0 : hours(end);
	i->apart = j->anti_affinity;
	i->alt = alternatives(o, t->kind);
}

static bool can_run(const struct own *o, const struct own_task *x)
{
	for (size_t k = 0; k < o->market.buys.len; k++)
		if (x->item.alt[o->market.buys.data[k].type])
			return true;
	return false;
}

static void look_at_job(struct own *o, const struct fth_job *j)
{
	const struct fth_view *v = o->view;
	bool together = fth_job_is_together(j) && j->ntasks > 1;
	bool pinned = together && any_in_motion(v, j);
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (!t || t->state == FTH_TASK_DONE)
			continue;
		struct own_task x = {.id = t->id, .job = j->id, .kind = t->kind, .at = FTH_NONE, .to = FTH_NONE, .next = FTH_NONE,
				     .prev = FTH_NONE, .pinned = pinned || in_motion(t), .together = together, .rate = 1,
				     .priority = j->priority, .since = t->since};
		if (t->target != FTH_NONE)
			x.at = o->machine_of.data[fth_view_instance(v, t->target)->slot];
		/* Committed to an instance that leaves, or left over from a job whose others are on their way. */
		if (x.at == FTH_NONE && (x.pinned || t->target != FTH_NONE))
			continue;
		x.doomed = x.at != FTH_NONE && !o->machines.data[x.at].usable;
		x.until = wait_until(o, j, t, together);
		x.may_wait = o->now < x.until;
		set_item(o, j, t, &x);
		if (x.at == FTH_NONE && !can_run(o, &x))
			continue;
		x.pinned |= !x.doomed && x.at != FTH_NONE && !o->params->moves;
		fth_vec_push(&o->tasks, x);
		uint32_t n = (uint32_t)o->tasks.len - 1;
		if (x.at != FTH_NONE && (!x.doomed || x.pinned))
			own_put(o, n, x.at);
		else
			fth_vec_push(&o->waiting, n);
	}
}

/* ---- learning ---- */

static bool is_observable(const struct fth_view *v, const struct fth_instance *i, uint64_t *hash)
{
	*hash = i->id;
	if (i->ncommitted < 2 || i->nheld != i->ncommitted)
		return false;
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		if (t->on != i->id || !(t->rate > 0))
			return false;
		uint64_t bits;
		memcpy(&bits, &t->rate, sizeof(bits));
		*hash += fth_hash_u64(fth_hash_u64(id) ^ bits);
		id = t->next_committed;
	}
	return true;
}

/* Tasks that advance together go at the pace of the slowest: it was the one thought slowest, or thought slower. */
static bool explains(const struct own *o, uint32_t task, double rate)
{
	const struct own_task *x = &o->tasks.data[task];
	if (!x->together || x->rate < rate)
		return true;
	for (uint32_t t = task; t-- > 0 && o->tasks.data[t].job == x->job;)
		if (o->tasks.data[t].rate <= x->rate)
			return false;
	for (uint32_t t = task + 1; t < o->tasks.len && o->tasks.data[t].job == x->job; t++)
		if (o->tasks.data[t].rate < x->rate)
			return false;
	return true;
}

/* On machines with more tasks than this, one of each class teaches enough. */
enum { CROWD = 64 };

static void observe(struct own *o, uint32_t machine)
{
	const struct own_machine *m = &o->machines.data[machine];
	fth_vec_clear(&o->classes);
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next)
		fth_vec_push(&o->classes, o->tasks.data[t].item.klass);
	uint32_t n = (uint32_t)o->classes.len, k = 0;
	o->asked++;
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next, k++) {
		const struct own_task *x = &o->tasks.data[t];
		const struct fth_alt *a = x->item.alt[m->as.type];
		double rate = fth_view_task(o->view, x->id)->rate;
		rate = a ? rate * 1e6 / a->speed_ppm : rate;
		uint32_t own = o->classes.data[k];
		if (!explains(o, t, rate) || (n > CROWD && o->known.data[own].asked == o->asked))
			continue;
		o->known.data[own].asked = o->asked;
		o->classes.data[k] = o->classes.data[n - 1];
		own_speeds_observe(&o->speeds, own, o->classes.data, n - 1, FTH_MIN(1, rate));
		o->classes.data[k] = own;
	}
}

/* What each machine is worth, whether it has changed since it was last planned for, and what it teaches. */
static void look_over(struct own *o)
{
	while (o->memory.len < o->view->instance_slots)
		fth_vec_push(&o->memory, ((struct own_memory){.id = FTH_NONE}));
	for (uint32_t m = 0; m < o->machines.len; m++)
		own_waste(o, m, FTH_NONE); /* the speeds expected */
	for (uint32_t m = 0; m < o->machines.len; m++) {
		const struct fth_instance *i = fth_view_instance(o->view, o->machines.data[m].id);
		struct own_memory *mem = &o->memory.data[i->slot];
		uint64_t hash;
		if (mem->id != i->id)
			*mem = (struct own_memory){.id = i->id};
		if (is_observable(o->view, i, &hash) && hash != mem->observed && o->machines.data[m].n == i->ncommitted) {
			mem->observed = hash;
			observe(o, m);
		}
	}
}

/* The rest of a job that advances together goes at the pace of the slowest elsewhere. */
static void set_paces(struct own *o)
{
	for (uint32_t a = 0, n; a < o->tasks.len; a += n) {
		const struct own_task *x = &o->tasks.data[a];
		double least = 1, second = 1;
		for (n = 1; a + n < o->tasks.len && x->together && x[n].job == x->job; n++)
			;
		for (uint32_t k = 0; k < n && x->together; k++) {
			double r = x[k].to == FTH_NONE ? 1 : x[k].rate;
			second = FTH_MIN(second, FTH_MAX(least, r));
			least = FTH_MIN(least, r);
		}
		for (uint32_t k = 0; k < n && x->together; k++)
			o->tasks.data[a + k].item.pace = x[k].to != FTH_NONE && x[k].rate == least ? second : least;
	}
}

/* Tasks that have come of late, by the hour, give the time until a machine has met some new ones. */
void own_count_arrivals(struct own *o, const struct fth_round *round)
{
	for (size_t i = 0; i < round->nevents; i++) {
		const struct fth_job *j = NULL;
		if (round->events[i].kind == FTH_EV_JOB_SUBMITTED)
			j = fth_view_job(round->view, round->events[i].job);
		o->came += j ? j->ntasks : 0;
	}
}

static void take_in_arrivals(struct own *o, const struct fth_round *round)
{
	if (o->last > 0 && round->now > o->last)
		o->arrivals *= fth_exp(-hours(round->now - o->last));
	o->last = round->now;
	o->arrivals += o->came;
	o->came = 0;
	o->refill = MET * (round->view->ninstances + 1) / (o->arrivals + 0.01);
}

/* Whether those that wait can expect company: somebody runs, or as many as one are likely to come before they have waited
 * long enough, by those that came of late. Those that still wait themselves are no sign of others. */
static bool expects_company(const struct own *o)
{
	const struct fth_view *v = o->view;
	double others = o->arrivals;
	for (fth_instance_id id = v->first_instance; id != FTH_NONE; id = fth_view_instance(v, id)->next)
		if (fth_view_instance(v, id)->ncommitted)
			return true;
	for (fth_job_id id = v->first_job; id != FTH_NONE; id = fth_view_job(v, id)->next) {
		const struct fth_job *j = fth_view_job(v, id);
		for (uint32_t k = 0; k < j->ntasks; k++) {
			const struct fth_task *t = fth_view_task(v, j->first_task + k);
			if (t && t->state == FTH_TASK_WAITING)
				others -= fth_exp(-hours(o->now - t->since));
		}
	}
	return others * hours(o->params->max_wait) >= 1;
}

void own_look(struct own *o, const struct fth_round *round)
{
	take_in_arrivals(o, round);
	o->now = round->now;
	o->view = round->view;
	fth_vec_clear(&o->tasks);
	fth_vec_clear(&o->waiting);
	look_at_machines(o);
	o->company = expects_company(o);
	for (fth_job_id id = o->view->first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_view_job(o->view, id);
		look_at_job(o, j);
		id = j->next;
	}
	look_over(o);
	set_paces(o);
	for (uint32_t m = 0; m < o->machines.len; m++) {
		struct own_machine *x = &o->machines.data[m];
		uint64_t hash = x->id;
		for (uint32_t t = x->first; t != FTH_NONE; t = o->tasks.data[t].next)
			hash += fth_hash_u64(o->tasks.data[t].id);
		x->waste = own_waste(o, m, FTH_NONE);
		x->changed = hash != o->memory.data[x->slot].laid;
		o->memory.data[x->slot].laid = hash;
	}
}
