/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `farthing`: its parameters, and how what was found becomes a plan. */
#include "policies/farthing/own.h"
#include "policies/table.h"

static const char *const value_choices[] = {"share", "alone", NULL};
static const char *const interference_choices[] = {"learnt", "constant", "ignored", NULL};
static const char *const contract_choices[] = {"on-demand", "hybrid", "online", "committed", NULL};
static const char *const market_choices[] = {"any", "spot", "on-demand", NULL};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct own_params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{"waiting", FTH_PARAM_REAL, offsetof(struct own_params, waiting), "-1", -1, 1e6, NULL,
	 "what an hour of a job's time is worth beside the machines it needs, in dollars: more buys speed, less buys savings; "
	 "-1: 0.7 of the hourly price in the middle of the catalog"},
	{"max_wait", FTH_PARAM_DURATION, offsetof(struct own_params, max_wait), "2h", 0, 1e9, NULL,
	 "how long a task may be left waiting for a cheap place; 0: not at all"},
	{"horizon", FTH_PARAM_DURATION, offsetof(struct own_params, horizon), "2h", 60, 1e9, NULL,
	 "over what time a move must pay for itself"},
	{"moves", FTH_PARAM_BOOL, offsetof(struct own_params, moves), "true", 0, 0, NULL, "whether running tasks may be moved at all"},
	{"moves_per_hour", FTH_PARAM_INT, offsetof(struct own_params, moves_per_hour), "0", 0, 1e9, NULL,
	 "disruption budget: running tasks moved in any hour, at most; 0: no limit"},
	{"committed", FTH_PARAM_INT, offsetof(struct own_params, committed), "0", 0, 1e9, NULL,
	 "machines of each type with a contract in the catalog that are bought already: using one adds what the contract says to the bill"},
	{"contract", FTH_PARAM_CHOICE, offsetof(struct own_params, contract), "on-demand", 0, 0, contract_choices,
	 "how the use is paid for in the end: on demand, or with the catalog's contracts bought with hindsight (hybrid), by forecast "
	 "(online), or with hindsight over whole terms with fees in full (committed)"},
	{"market", FTH_PARAM_CHOICE, offsetof(struct own_params, market), "any", 0, 0, market_choices, "what it may buy"},
	{"pool", FTH_PARAM_INT, offsetof(struct own_params, pool), "10", 2, OWN_ITEMS, NULL, "tasks that are re-partitioned together, at most"},
	{"triples", FTH_PARAM_INT, offsetof(struct own_params, triples), "3", 0, 64, NULL,
	 "most wasteful machines of which every two are tried with one that changed"},
	{"sweep", FTH_PARAM_INT, offsetof(struct own_params, sweep), "24", 0, 1e6, NULL,
	 "rounds after which all machines are looked at again if anything has changed; 0: never"},
	{"markup", FTH_PARAM_REAL, offsetof(struct own_params, markup), "1", 0.1, 10, NULL,
	 "worth of a task's progress, times the fair price of its demand"},
	{"value", FTH_PARAM_CHOICE, offsetof(struct own_params, value), "share", 0, 0, value_choices,
	 "fair price of a task: its share of machines, or a machine of its own"},
	{"interference", FTH_PARAM_CHOICE, offsetof(struct own_params, interference), "learnt", 0, 0, interference_choices,
	 "speed of tasks that share a machine: learnt, taken as t for every pair, or ignored"},
	{"t", FTH_PARAM_REAL, offsetof(struct own_params, t), "0.95", 0.01, 1, NULL, "speed of a pair of tasks never seen together"},
	{0},
};

/* Where machines may be taken it is asked this often, to see a notice in time. */
static const fth_time WATCH = FTH_MINUTE;

/* What an hour of a job is worth where it is not told, of the price in the middle of the list. */
static const double OF_MIDDLE = 0.7;

static int init(void **self, const struct fth_view *view, const void *p)
{
	struct own *o = fth_alloc(sizeof(*o));
	o->params = p;
	o->period = o->params->round;
	for (fth_offer_id id = 0; id < view->catalog->noffers; id++)
		if (view->catalog->offers[id].market == FTH_SPOT && o->params->market != OWN_ON_DEMAND)
			o->period = o->params->round / ((o->params->round + WATCH - 1) / WATCH);
	o->work = own_work_new();
	o->market.notice = 2 * FTH_MINUTE;
	o->job_hour = o->params->waiting < 0 ? OF_MIDDLE * own_middle_price(view->catalog) : o->params->waiting;
	own_speeds_init(&o->speeds, o->params->t, o->params->interference == OWN_LEARNT, o->params->interference == OWN_IGNORED);
	*self = o;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct own *)self)->period;
}

static void fini(void *self)
{
	struct own *o = self;
	own_speeds_release(&o->speeds);
	own_market_release(&o->market);
	own_work_free(o->work);
	for (size_t i = 0; i < o->alts.len; i++)
		free(o->alts.data[i]);
	fth_vec_release(&o->alts);
	fth_vec_release(&o->memory);
	fth_vec_release(&o->moved);
	fth_vec_release(&o->buys);
	fth_vec_release(&o->held);
	fth_vec_release(&o->tasks);
	fth_vec_release(&o->machines);
	fth_vec_release(&o->machine_of);
	fth_vec_release(&o->waiting);
	fth_vec_release(&o->todo);
	fth_vec_release(&o->partners);
	fth_vec_release(&o->changes);
	fth_map_release(&o->seen);
	fth_vec_release(&o->classes);
	fth_vec_release(&o->order);
	fth_vec_release(&o->known);
	fth_vec_release(&o->members);
	free(o);
}

static fth_money nano(double usd)
{
	return (fth_money)(usd * 1e9 + (usd < 0 ? -0.5 : 0.5));
}

/* Moves of the last hour count against the budget. */
static void count_moves(struct own *o)
{
	size_t keep = 0;
	for (size_t i = 0; i < o->moved.len; i++)
		if (o->moved.data[i] > o->now - FTH_HOUR)
			o->moved.data[keep++] = o->moved.data[i];
	o->moved.len = keep;
	o->moves_left = INT64_MAX;
	if (o->params->moves_per_hour)
		o->moves_left = FTH_MAX(0, o->params->moves_per_hour - (int64_t)keep);
}

/* ---- the plan ---- */

/* Tasks that advance together are started together: if one finds no place now, none does. */
static void hold_back(struct own *o)
{
	for (uint32_t a = 0, n; a < o->tasks.len; a += n) {
		bool all = true;
		for (n = 1; a + n < o->tasks.len && o->tasks.data[a].together && o->tasks.data[a + n].job == o->tasks.data[a].job; n++)
			;
		for (uint32_t k = 0; k < n; k++)
			all &= o->tasks.data[a + k].to != FTH_NONE || o->tasks.data[a + k].doomed;
		for (uint32_t k = 0; k < n && !all; k++)
			if (o->tasks.data[a + k].at == FTH_NONE && o->tasks.data[a + k].to != FTH_NONE)
				own_take(o, a + k);
	}
}

/* Launch, with other offers of the same type to fall back on. */
static fth_instance_id launch(struct own *o, struct fth_plan *plan, uint32_t machine)
{
	const struct own_machine *m = &o->machines.data[machine];
	const struct fth_catalog *c = o->view->catalog;
	fth_offer_id offers[8] = {m->as.offer};
	uint32_t n = 1;
	for (size_t k = 0; k < o->market.buys.len && n < FTH_COUNT(offers); k++)
		if (o->market.buys.data[k].type == m->as.type && o->market.buys.data[k].offer != m->as.offer)
			offers[n++] = o->market.buys.data[k].offer;
	double h = 0;
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next)
		h = FTH_MAX(h, o->tasks.data[t].item.hours);
	struct fth_reason why = {"for $0/h it does work worth $1/h; nothing running would do it for less",
				 {c->offers[m->as.offer].price, nano(m->as.price - m->waste / h), 0}};
	return fth_plan_launch(plan, offers, n, why);
}

/* What its place costs over the horizon, its worth counted, and what the other ways would. */
static void place(struct own *o, struct fth_plan *plan, uint32_t task)
{
	const struct own_task *x = &o->tasks.data[task];
	uint32_t to = x->to;
	bool may_wait = x->may_wait;
	/* One like it on the same machine comes to the same. */
	if (o->told == FTH_NONE || o->tasks.data[o->told].to != to || !own_is_alike(&o->tasks.data[o->told], x)) {
		double with = own_waste(o, to, FTH_NONE);
		own_take(o, task);
		o->told_here = with - own_waste(o, to, FTH_NONE) + x->item.move;
		o->told_alone = own_alone(o, task);
		own_put(o, task, to);
		o->told = task;
	}
	double here = o->told_here, alone = o->told_alone;
	struct fth_reason why = {NULL, {nano(here), alone < OWN_NEVER ? nano(alone) : 0, 0}};
	if (alone >= OWN_NEVER)
		why.text = "here it adds $0 within the horizon, its work counted as a gain; no machine of its own can be had";
	else if (may_wait)
		why.text = "here it adds $0 within the horizon, its work counted as a gain; a machine of its own would add $1, waiting on $2";
	else
		why.text = "here it adds $0 within the horizon, its work counted as a gain; a machine of its own would add $1; it may not wait";
	fth_plan_place(plan, o->tasks.data[task].id, o->machines.data[to].id, why);
}

static void move(struct own *o, struct fth_plan *plan, const struct own_task *t)
{
	static const char *const by_pool[] = {
		"a place was found for it",
		"re-packing its machine: price less work done is $1 within the horizon instead of $0, this move's $2 paid",
		"re-packing its machine with one other: price less work done is $1 within the horizon instead of $0, this move's $2 paid",
		"re-packing its machine with two others: price less work done is $1 within the horizon instead of $0, this move's $2 paid",
	};
	struct fth_reason why = {by_pool[FTH_MIN(t->pooled, 3u)], {nano(t->before), nano(t->after), nano(t->item.move)}};
	if (t->doomed)
		why = (struct fth_reason){"its machine is about to be taken", {0}};
	fth_plan_migrate(plan, t->id, o->machines.data[t->to].id, why);
	fth_vec_push(&o->moved, o->now);
}

static void send(struct own *o, struct fth_plan *plan, uint32_t task)
{
	if (o->tasks.data[task].at == FTH_NONE)
		place(o, plan, task);
	else
		move(o, plan, &o->tasks.data[task]);
}

static void carry_out(struct own *o, struct fth_plan *plan)
{
	o->told = FTH_NONE;
	for (uint32_t k = 0; k < o->machines.len; k++) {
		struct own_machine *m = &o->machines.data[k];
		if (m->id == FTH_NONE && m->n)
			m->id = launch(o, plan, k);
	}
	for (uint32_t k = 0; k < o->tasks.len; k++)
		if (o->tasks.data[k].to != FTH_NONE && o->tasks.data[k].to != o->tasks.data[k].at)
			send(o, plan, k);
	for (size_t k = 0; k < o->machines.len; k++) {
		const struct own_machine *m = &o->machines.data[k];
		if (m->id == FTH_NONE || !m->usable)
			continue;
		if (!m->n)
			fth_plan_terminate(plan, m->id, (struct fth_reason){"nothing is worth its $0/h now", {nano(m->as.price), 0, 0}});
		if (m->slot == FTH_NONE)
			continue;
		uint64_t hash = m->id;
		for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next)
			hash += fth_hash_u64(o->tasks.data[t].id);
		o->memory.data[m->slot].laid = hash;
	}
}

/* Rounds after which it is given up as hopeless: nothing but the clock has moved in all the time. */
static const fth_time MOST_PATIENCE = 8192;

/* Be asked again when somebody has waited long enough, or when all machines are to be looked at. Where a task was given a
 * place, or could not be, it is looked at again in any case: the place may have been refused. The longer nothing has
 * happened, the later. */
static void ask_again(struct own *o, struct fth_plan *plan, bool changed)
{
	fth_time first = FTH_NEVER, round = o->params->round;
	o->patience = changed || !o->patience ? 1 : FTH_MIN(2 * o->patience, 2 * MOST_PATIENCE);
	for (size_t k = 0; k < o->waiting.len; k++) {
		const struct own_task *t = &o->tasks.data[o->waiting.data[k]];
		if (t->to == FTH_NONE && t->may_wait)
			first = FTH_MIN(first, t->until);
		else if (o->patience <= MOST_PATIENCE)
			first = FTH_MIN(first, o->now + o->patience * round);
	}
	if (o->unswept && o->params->sweep && o->machines.len)
		first = FTH_MIN(first, o->next_sweep);
	if (first != FTH_NEVER)
		fth_plan_wake(plan, FTH_MAX((first + round - 1) / round * round, o->now + round));
}

static bool has_changed(const struct fth_round *round)
{
	for (size_t i = 0; i < round->nevents; i++)
		if (round->events[i].kind != FTH_EV_TIMER)
			return true;
	return false;
}

/* Between two rounds only a notice that a machine will be taken is acted on at once. */
static bool is_time(const struct own *o, const struct fth_round *round)
{
	for (size_t i = 0; i < round->nevents; i++)
		if (round->events[i].kind == FTH_EV_REVOCATION_NOTICE)
			return true;
	return round->now >= o->next_round;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct own *o = self;
	own_market_round(&o->market, round, o->params);
	own_count_arrivals(o, round);
	o->pending |= has_changed(round);
	if (!is_time(o, round)) {
		fth_plan_wake(plan, o->next_round);
		return 0;
	}
	o->next_round = (round->now / o->params->round + 1) * o->params->round;
	own_look(o, round);
	count_moves(o);
	o->tried = o->solved = o->taken = 0;
	bool changed = o->pending;
	o->pending = false;
	o->unswept |= changed;
	own_search(o);
	hold_back(o);
	carry_out(o, plan);
	ask_again(o, plan, changed);
	if (o->tried) {
		fth_plan_note(plan, "pools_tried", (double)o->tried);
		fth_plan_note(plan, "steps", (double)(own_work_steps(o->work) - o->steps_before + o->spent));
		fth_plan_note(plan, "pools_solved", (double)o->solved);
		fth_plan_note(plan, "pools_changed", (double)o->taken);
	}
	return 0;
}

const struct fth_policy_ops fth_policy_farthing = {
	.abi = FTH_POLICY_ABI,
	.name = "farthing",
	.summary = "re-packs small pools of machines exactly, every move paying for itself; one objective in dollars",
	.params = params,
	.params_size = sizeof(struct own_params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
