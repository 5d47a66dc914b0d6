/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eva (EuroSys'25), as the paper describes it.
 *
 * Every round in which something happened it draws two configurations. Partial keeps every instance
 * that is worth its price and sends the rest of the tasks, with those that wait, through Algorithm 1;
 * before that (unless fill=false) each of them may take room left on a kept instance where that makes
 * the instance's tasks worth more. Full sends all tasks through Algorithm 1. Full is adopted if what it saves over the time it is expected to last, less
 * what the moves cost, is more than the same of Partial. Worth is the throughput-normalised
 * reservation price, with speeds learnt as they are observed.
 */
#include "policies/eva/choice.h"
#include "policies/eva/place.h"
#include "policies/shared/observe.h"
#include "policies/shared/tnrp.h"
#include "policies/table.h"

enum mode { ENSEMBLE, FULL, PARTIAL };

struct params {
	fth_time round;
	double t, events_per_hour, p;
	int mode, value, learn, attribution;
	bool multi_task, fill;
};

static const char *const mode_choices[] = {"ensemble", "full", "partial", NULL};
static const char *const value_choices[] = {"tnrp", "rp", NULL};
static const char *const learn_choices[] = {"class", "label", NULL};

static const char *const attribution_choices[] = {"rules", "all", NULL};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{"mode", FTH_PARAM_CHOICE, offsetof(struct params, mode), "ensemble", 0, 0, mode_choices,
	 "which reconfigurations are tried"},
	{"value", FTH_PARAM_CHOICE, offsetof(struct params, value), "tnrp", 0, 0, value_choices,
	 "worth of a task: its reservation price at the speed expected, or plain"},
	{"t", FTH_PARAM_REAL, offsetof(struct params, t), "0.95", 0.01, 1, NULL,
	 "speed of a pair of tasks never seen together"},
	{"learn", FTH_PARAM_CHOICE, offsetof(struct params, learn), "class", 0, 0, learn_choices,
	 "what speeds are learnt by: a task's workload class or its label"},
	{"multi_task", FTH_PARAM_BOOL, offsetof(struct params, multi_task), "true", 0, 0, NULL,
	 "count what a slow task costs the other tasks of its job"},
	{"attribution", FTH_PARAM_CHOICE, offsetof(struct params, attribution), "rules", 0, 0, attribution_choices,
	 "whose slowness explains that of a job of several tasks: one task's, by the paper's rules, or each one's own"},
	{"events_per_hour", FTH_PARAM_REAL, offsetof(struct params, events_per_hour), "0", 0, 1e9, NULL,
	 "arrivals and ends of jobs (lambda) in the estimate of how long a configuration lasts; 0: as seen so far"},
	{"p", FTH_PARAM_REAL, offsetof(struct params, p), "0", 0, 0.999999, NULL,
	 "chance that one of them leads to a Full Reconfiguration; 0: (Fulls + 1) / (events + 2) as seen so far"},
	{"fill", FTH_PARAM_BOOL, offsetof(struct params, fill), "true", 0, 0, NULL,
	 "Partial first offers the room left on kept instances; false: the paper's text to the letter"},
	{0},
};

struct eva {
	const struct params *params;
	struct fth_prices prices;
	struct fth_tnrp tnrp;
	struct fth_observer_log log;
	struct fth_board board;
	struct fth_draft partial, full;
	struct fth_eva_clock clock;
	struct fth_packing packing;
	struct fth_placing placing;
	struct fth_party party;
	FTH_VEC(uint32_t) key;         /* by kind */
	FTH_VEC(uint32_t) keys;        /* scratch */
	FTH_VEC(uint32_t) candidates;  /* board tasks */
	FTH_VEC(uint32_t) item_of;     /* by board group: packing item; FTH_NONE */
	FTH_VEC(struct fth_pack_item) items;
	FTH_VEC(double) worth;         /* by board instance: of the tasks committed to it */
	FTH_VEC(uint32_t) first, next; /* tasks of each board instance */
	FTH_VEC(bool) fixed;           /* by board instance: hosts a task that cannot be planned */
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct eva *e = fth_alloc(sizeof(*e));
	e->params = p;
	fth_tnrp_init(&e->tnrp, e->params->t);
	e->tnrp.ignore_interference = e->params->value == 1;
	fth_observe_init(&e->log, e->params->learn == 0);
	e->log.each_its_own = e->params->attribution == 1;
	fth_eva_clock_init(&e->clock);
	*self = e;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct eva *)self)->params->round;
}

static void fini(void *self)
{
	struct eva *e = self;
	fth_prices_release(&e->prices);
	fth_tnrp_release(&e->tnrp);
	fth_observe_release(&e->log);
	fth_board_release(&e->board);
	fth_draft_release(&e->partial);
	fth_draft_release(&e->full);
	fth_packing_release(&e->packing);
	fth_placing_release(&e->placing);
	fth_party_release(&e->party);
	fth_vec_release(&e->key);
	fth_vec_release(&e->keys);
	fth_vec_release(&e->candidates);
	fth_vec_release(&e->item_of);
	fth_vec_release(&e->items);
	fth_vec_release(&e->worth);
	fth_vec_release(&e->first);
	fth_vec_release(&e->next);
	fth_vec_release(&e->fixed);
	free(e);
}

/* ---- worth ---- */

/* A task on a type: its reservation price is per full-speed hour, families have their own speed. */
static void join(struct eva *e, const struct fth_view *v, uint32_t task, fth_type_id type)
{
	const struct fth_board_group *g = &e->board.groups.data[e->board.tasks.data[task].group];
	const struct fth_alt *a = fth_kind_on_type(&v->kinds[g->kind], &v->catalog->types[type]);
	double speed = a ? a->speed_ppm / 1e6 : 0;
	struct fth_member m = {g->key, e->params->multi_task ? g->job_tasks : 1, g->rp * speed};
	fth_party_add(&e->party, &e->tnrp, &m);
}

static double speed_beside(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n)
{
	struct eva *e = arg;
	fth_vec_reserve(&e->keys, n);
	for (uint32_t i = 0; i < n; i++)
		e->keys.data[i] = e->key.data[others[i]];
	return fth_tnrp_rate(&e->tnrp, e->key.data[k], e->keys.data, n);
}

/* ---- the state of the round ---- */

static void look(struct eva *e, const struct fth_view *v)
{
	struct fth_board *b = &e->board;
	fth_board_look(b, v, &e->prices);
	fth_vec_reserve(&e->key, v->nkinds);
	for (size_t i = 0; i < b->groups.len; i++) {
		struct fth_board_group *g = &b->groups.data[i];
		g->key = fth_tnrp_key(&e->tnrp, v, fth_observe_key(&e->log, &v->kinds[g->kind]));
		e->key.data[g->kind] = g->key;
	}
	fth_vec_reserve(&e->first, b->instances.len);
	fth_vec_reserve(&e->worth, b->instances.len);
	fth_vec_reserve(&e->fixed, b->instances.len);
	fth_vec_reserve(&e->next, b->tasks.len);
	for (size_t i = 0; i < b->instances.len; i++) {
		e->first.data[i] = FTH_NONE;
		e->fixed.data[i] = false;
	}
	for (uint32_t t = (uint32_t)b->tasks.len; t-- > 0;) {
		const struct fth_board_task *bt = &b->tasks.data[t];
		if (bt->at == FTH_NONE)
			continue;
		e->next.data[t] = e->first.data[bt->at];
		e->first.data[bt->at] = t;
		/* Who must be kept apart from others has a machine that is left alone. */
		e->fixed.data[bt->at] |= bt->pinned || bt->apart;
	}
	for (uint32_t i = 0; i < b->instances.len; i++) {
		fth_party_clear(&e->party);
		for (uint32_t t = e->first.data[i]; t != FTH_NONE; t = e->next.data[t])
			join(e, v, t, b->instances.data[i].type);
		e->worth.data[i] = fth_tnrp_of(&e->tnrp, &e->party, FTH_MULTI_PAPER);
	}
}

/* An instance worth less than it costs gives up its tasks; one task on its own cheapest machine stays. */
static bool is_worth_it(const struct eva *e, uint32_t i)
{
	const struct fth_board_instance *bi = &e->board.instances.data[i];
	uint32_t first = e->first.data[i];
	bool own = bi->committed == 1 && e->board.groups.data[e->board.tasks.data[first].group].offer == bi->offer;
	return own || e->worth.data[i] >= bi->price * (1 - 1e-9);
}

/* ---- drawing ---- */

static void add_candidate(struct eva *e, uint32_t task)
{
	uint32_t g = e->board.tasks.data[task].group;
	const struct fth_board_group *bg = &e->board.groups.data[g];
	if (e->item_of.data[g] == FTH_NONE) {
		e->item_of.data[g] = (uint32_t)e->items.len;
		struct fth_pack_item item = {bg->kind, 0, e->params->multi_task ? bg->job_tasks : 1, bg->key + 1};
		fth_vec_push(&e->items, item);
		fth_vec_reserve(&e->placing.group_of, e->items.len);
		e->placing.group_of.data[e->items.len - 1] = g;
	}
	e->items.data[e->item_of.data[g]].count++;
	fth_vec_push(&e->candidates, task);
}

/* Worth of the slot's tasks, with one more if it is not FTH_NONE. */
static double worth_with(struct eva *e, const struct fth_view *v, const struct fth_draft *draft, uint32_t slot, uint32_t task)
{
	fth_type_id type = v->catalog->offers[draft->slots.data[slot].offer].type;
	fth_party_clear(&e->party);
	for (uint32_t t = draft->slots.data[slot].first; t != FTH_NONE; t = draft->next.data[t])
		join(e, v, t, type);
	if (task != FTH_NONE)
		join(e, v, task, type);
	return fth_tnrp_of(&e->tnrp, &e->party, FTH_MULTI_PAPER);
}

/* The kept slot in which one more task of this group is worth most; FTH_NONE if it is worth nothing anywhere. */
static uint32_t best_room(struct eva *e, const struct fth_view *v, const struct fth_draft *draft, uint32_t task)
{
	const struct fth_board_group *g = &e->board.groups.data[e->board.tasks.data[task].group];
	uint32_t best = FTH_NONE;
	double most = 0;
	for (uint32_t s = 0; s < draft->slots.len; s++) {
		const struct fth_draft_slot *slot = &draft->slots.data[s];
		const struct fth_res *demand = g->demand[v->catalog->offers[slot->offer].type];
		if (!demand || slot->instance == FTH_NONE || !fth_fits(demand, &slot->room, v->catalog->nres) ||
		    fth_draft_keeps_apart(draft, &e->board, s, task))
			continue;
		double gain = worth_with(e, v, draft, s, task) - worth_with(e, v, draft, s, FTH_NONE);
		if (gain > most) {
			most = gain;
			best = s;
		}
	}
	return best;
}

/* Room that is paid for already, to those to whom it is worth most first. */
static void fill_rooms(struct eva *e, const struct fth_view *v, struct fth_draft *draft)
{
	uint32_t n = (uint32_t)e->candidates.len, left = 0;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t t = e->candidates.data[i], k = i;
		double rp = e->board.groups.data[e->board.tasks.data[t].group].rp;
		for (; k && e->board.groups.data[e->board.tasks.data[e->candidates.data[k - 1]].group].rp < rp; k--)
			e->candidates.data[k] = e->candidates.data[k - 1];
		e->candidates.data[k] = t;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = e->candidates.data[i], slot = best_room(e, v, draft, t);
		if (slot == FTH_NONE) {
			e->candidates.data[left++] = t;
			continue;
		}
		fth_draft_add_task(draft, &e->board, v, slot, t);
		e->items.data[e->item_of.data[e->board.tasks.data[t].group]].count--;
	}
	e->candidates.len = left;
}

static int draw(struct eva *e, const struct fth_view *v, struct fth_draft *draft, bool full)
{
	struct fth_board *b = &e->board;
	fth_draft_reset(draft, b);
	fth_vec_clear(&e->candidates);
	fth_vec_clear(&e->items);
	fth_vec_reserve(&e->item_of, b->groups.len);
	for (size_t i = 0; i < b->groups.len; i++)
		e->item_of.data[i] = FTH_NONE;
	for (uint32_t t = 0; t < b->tasks.len; t++) {
		const struct fth_board_task *bt = &b->tasks.data[t];
		if (bt->at != FTH_NONE && (e->fixed.data[bt->at] || (!full && is_worth_it(e, bt->at)))) {
			fth_draft_keep(draft, b, v, t);
		} else if (bt->apart) {
			uint32_t slot = fth_draft_add_slot(draft, b, v, FTH_NONE, b->groups.data[bt->group].offer);
			fth_draft_add_task(draft, b, v, slot, t);
		} else {
			add_candidate(e, t);
		}
	}
	if (!full && e->params->fill)
		fill_rooms(e, v, draft);
	int r = fth_full_reconfig(v->catalog, v->kinds, e->items.data, (uint32_t)e->items.len,
				  e->tnrp.ignore_interference ? NULL : speed_beside, e, &e->packing, NULL);
	if (!r)
		fth_place(&e->placing, draft, b, v, &e->packing, e->candidates.data, (uint32_t)e->candidates.len);
	return r;
}

/* ---- S and M ---- */

static double saving(struct eva *e, const struct fth_view *v, struct fth_draft *draft)
{
	double sum = 0;
	for (size_t i = 0; i < draft->slots.len; i++) {
		struct fth_draft_slot *s = &draft->slots.data[i];
		fth_party_clear(&e->party);
		for (uint32_t t = s->first; t != FTH_NONE; t = draft->next.data[t])
			join(e, v, t, v->catalog->offers[s->offer].type);
		s->worth = fth_tnrp_of(&e->tnrp, &e->party, FTH_MULTI_PAPER);
		sum += s->worth - fth_usd(v->catalog->offers[s->offer].price);
	}
	return sum / 3600;
}

static double boot_seconds(const struct fth_view *v, fth_offer_id offer, bool billed)
{
	const struct fth_offer *o = &v->catalog->offers[offer];
	const struct fth_instance_type *t = &v->catalog->types[o->type];
	fth_time all = t->acquire.mean + t->setup.mean;
	if (billed && o->billing.from == FTH_BILL_FROM_ACQUIRED)
		all = t->setup.mean;
	else if (billed && o->billing.from == FTH_BILL_FROM_READY)
		all = 0;
	return (double)all / 1e6;
}

/* Seconds a task makes no progress because of a move (or until its start) into this slot. */
static double pause(const struct eva *e, const struct fth_view *v, const struct fth_draft *draft, uint32_t task)
{
	const struct fth_board_task *bt = &e->board.tasks.data[task];
	const struct fth_draft_slot *s = &draft->slots.data[draft->slot_of.data[task]];
	const struct fth_task_delays *d = &v->kinds[e->board.groups.data[bt->group].kind].delays;
	fth_time t = d->fetch + d->setup + d->init;
	if (bt->at != FTH_NONE)
		t += d->stop + d->save;
	return (double)t / 1e6 + (s->instance == FTH_NONE ? boot_seconds(v, s->offer, false) : 0);
}

/*
 * What switching costs: a job that moves stands still for the longest pause of its tasks, all of them,
 * at its reservation price; and a new machine is paid for while it boots.
 */
static double migration(const struct eva *e, const struct fth_view *v, const struct fth_draft *draft)
{
	const struct fth_board *b = &e->board;
	double sum = 0;
	for (uint32_t t = 0, n; t < b->tasks.len; t += n) {
		double longest = 0, rp = 0;
		bool together = b->groups.data[b->tasks.data[t].group].job_tasks > 1;
		for (n = 0; t + n < b->tasks.len && b->tasks.data[t + n].job == b->tasks.data[t].job && (!n || together);
		     n++) {
			uint32_t slot = draft->slot_of.data[t + n], at = b->tasks.data[t + n].at;
			rp += b->groups.data[b->tasks.data[t + n].group].rp;
			if (slot != FTH_NONE && (at == FTH_NONE || draft->slots.data[slot].instance != at))
				longest = FTH_MAX(longest, pause(e, v, draft, t + n));
		}
		sum += longest * rp / 3600;
	}
	for (size_t i = 0; i < draft->slots.len; i++) {
		const struct fth_draft_slot *s = &draft->slots.data[i];
		if (s->instance == FTH_NONE)
			sum += boot_seconds(v, s->offer, true) * fth_usd(v->catalog->offers[s->offer].price) / 3600;
	}
	return sum;
}

/* ---- deciding ---- */

/* Full is adopted only when a job came or went: else the set of tasks is what it was. */
static bool read_events(struct eva *e, const struct fth_round *round)
{
	bool jobs = false;
	for (size_t i = 0; i < round->nevents; i++) {
		enum fth_event_kind k = round->events[i].kind;
		if (k != FTH_EV_JOB_SUBMITTED && k != FTH_EV_JOB_DONE && k != FTH_EV_JOB_CANCELLED)
			continue;
		fth_eva_clock_event(&e->clock, round->events[i].time);
		jobs = true;
	}
	return jobs;
}

static bool weigh(struct eva *e, const struct fth_round *round, struct fth_plan *plan)
{
	const struct fth_view *v = round->view;
	struct fth_eva_option f = {saving(e, v, &e->full), migration(e, v, &e->full)};
	struct fth_eva_option p = {saving(e, v, &e->partial), migration(e, v, &e->partial)};
	const struct params *q = e->params;
	double lambda = q->events_per_hour > 0 ? q->events_per_hour / 3600
					       : fth_eva_lambda(&e->clock, round->now, q->round);
	double d = fth_eva_horizon(lambda, q->p > 0 ? q->p : fth_eva_p(&e->clock));
	bool full = fth_eva_prefers_full(&f, &p, d);
	e->clock.fulls += full;
	fth_plan_note(plan, "S_full", f.saving);
	fth_plan_note(plan, "M_full", f.migration);
	fth_plan_note(plan, "S_partial", p.saving);
	fth_plan_note(plan, "M_partial", p.migration);
	fth_plan_note(plan, "D", d);
	fth_plan_note(plan, "full_adopted", full);
	return full;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct eva *e = self;
	const struct fth_view *v = round->view;
	enum mode mode = (enum mode)e->params->mode;
	bool jobs = read_events(e, round);
	fth_prices_round(&e->prices, round);
	fth_observe_round(&e->log, e->tnrp.table, round, e->params->round, round->nevents > 0);
	look(e, v);
	bool try_full = mode != PARTIAL && jobs, try_partial = mode != FULL || !jobs;
	int r = try_partial ? draw(e, v, &e->partial, false) : 0;
	if (!r && try_full)
		r = draw(e, v, &e->full, true);
	if (r)
		return r;
	bool full = try_full && (!try_partial || weigh(e, round, plan));
	struct fth_draft *chosen = full ? &e->full : &e->partial;
	if (!(try_full && try_partial)) {
		saving(e, v, chosen); /* for the reasons */
		fth_plan_note(plan, "full_adopted", full);
	}
	fth_draft_apply(chosen, &e->board, v, plan,
			full ? "Full Reconfiguration: worth $0/h on a machine of $1/h"
			     : "Partial Reconfiguration: worth $0/h on a machine of $1/h",
			NULL);
	return 0;
}

const struct fth_policy_ops fth_policy_eva = {
	.abi = FTH_POLICY_ABI,
	.name = "eva",
	.summary = "packs by throughput-normalised reservation price; Full or Partial Reconfiguration each round",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
