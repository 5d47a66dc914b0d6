/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eva-artifact: Eva as its authors' released program does it. It decides at every round, whether
 * anything has happened or not, because it records observations at each, and their means, hence the
 * ties between plans, depend on how many there are.
 */
#include <math.h>

#include "policies/shared/observe.h"
#include "policies/table.h"
#include "policies/yardsticks/eva_artifact/choice.h"
#include "policies/yardsticks/eva_artifact/search.h"

enum mode { ENSEMBLE, NO_FULL, NO_PARTIAL };

struct params {
	fth_time round;
	double t;
	int mode, value;
};

static const char *const mode_choices[] = {"ensemble", "no-full", "no-partial", NULL};
static const char *const value_choices[] = {"tnrp", "rp", NULL};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{"t", FTH_PARAM_REAL, offsetof(struct params, t), "0.95", 0.01, 1, NULL,
	 "speed of a pair of tasks never seen together"},
	{"mode", FTH_PARAM_CHOICE, offsetof(struct params, mode), "ensemble", 0, 0, mode_choices,
	 "which reconfigurations are tried"},
	{"value", FTH_PARAM_CHOICE, offsetof(struct params, value), "tnrp", 0, 0, value_choices,
	 "worth of a task: its reservation price at the speed expected, or plain"},
	{0},
};

/* The order in which tasks were planned onto each instance: sums are made in it. */
struct record {
	struct fth_map first; /* instance -> start in tasks, a list ended by FTH_NONE */
	FTH_VEC(fth_task_id) tasks;
};

struct artifact {
	const struct params *params;
	struct fth_prices prices;
	struct fth_tnrp tnrp, untaught;
	struct fth_observer_log log;
	struct fth_board board;
	struct fth_draft partial, full;
	struct search search;
	struct event_log events;
	struct record record, next_record;
	FTH_VEC(uint32_t) committed_first, committed_next; /* by board instance; by board task */
	FTH_VEC(struct met) met;                           /* by task slot */
	FTH_VEC(fth_instance_id) ids;
	struct fth_map standalone; /* job of several tasks -> nano-dollars per hour of its own plan */
	bool stale;   /* board and drafts are not those of the state any more */
	double mp, mf; /* M of the drafts */
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct artifact *a = fth_alloc(sizeof(*a));
	a->params = p;
	fth_tnrp_init(&a->tnrp, a->params->t);
	fth_tnrp_init(&a->untaught, a->params->t);
	a->tnrp.ignore_interference = a->untaught.ignore_interference = a->params->value == 1;
	fth_observe_init(&a->log, false);
	a->stale = true;
	*self = a;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct artifact *)self)->params->round;
}

static void fini(void *self)
{
	struct artifact *a = self;
	fth_prices_release(&a->prices);
	fth_tnrp_release(&a->tnrp);
	fth_tnrp_release(&a->untaught);
	fth_observe_release(&a->log);
	fth_board_release(&a->board);
	fth_draft_release(&a->partial);
	fth_draft_release(&a->full);
	fth_search_release(&a->search);
	fth_event_log_release(&a->events);
	fth_map_release(&a->record.first);
	fth_vec_release(&a->record.tasks);
	fth_map_release(&a->next_record.first);
	fth_vec_release(&a->next_record.tasks);
	fth_vec_release(&a->committed_first);
	fth_vec_release(&a->committed_next);
	fth_vec_release(&a->met);
	fth_vec_release(&a->ids);
	fth_map_release(&a->standalone);
	free(a);
}

/* ---- what happened ---- */

static void meet_job(struct artifact *a, const struct fth_view *v, const struct fth_job *j)
{
	while (a->met.len < v->task_slots)
		fth_vec_push(&a->met, (struct met){0});
	for (uint32_t k = 0; j && k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (t)
			a->met.data[t->slot] = (struct met){0};
	}
}

/* A task's delays are known once they were met: fetching and set-up (even if the image was there
 * already) after its first launch, saving after its first move. */
static void meet_delay(struct artifact *a, const struct fth_view *v, const struct fth_event *ev)
{
	const struct fth_task *t = fth_view_task(v, ev->task);
	if (!t)
		return;
	const struct fth_task_delays *d = &v->kinds[t->kind].delays;
	if (ev->kind == FTH_EV_TASK_RUNNING)
		a->met.data[t->slot].launch = d->fetch + d->setup;
	else
		a->met.data[t->slot].save = d->save;
}

/* Returns whether anything happened but the passing of time. */
static bool read_events(struct artifact *a, const struct fth_round *round)
{
	bool any = false;
	for (size_t i = 0; i < round->nevents; i++) {
		const struct fth_event *ev = &round->events[i];
		any |= ev->kind != FTH_EV_TIMER;
		switch (ev->kind) {
		case FTH_EV_JOB_SUBMITTED:
			meet_job(a, round->view, fth_view_job(round->view, ev->job));
			break;
		case FTH_EV_JOB_DONE:
		case FTH_EV_JOB_CANCELLED:
			fth_event_log_ended(&a->events, ev->job, ev->time);
			fth_map_del(&a->standalone, ev->job);
			break;
		case FTH_EV_TASK_RUNNING:
		case FTH_EV_TASK_LEFT:
			meet_delay(a, round->view, ev);
			break;
		default:
			break;
		}
	}
	return any;
}

/* ---- the committed order ---- */

static uint32_t find_task(const struct fth_board *b, fth_task_id id)
{
	size_t lo = 0, hi = b->tasks.len;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (b->tasks.data[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->tasks.len && b->tasks.data[lo].id == id ? (uint32_t)lo : FTH_NONE;
}

/* Link each instance's tasks in the order in which they were planned. */
static void link_committed(struct artifact *a)
{
	const struct fth_board *b = &a->board;
	fth_vec_reserve(&a->committed_first, b->instances.len);
	fth_vec_reserve(&a->committed_next, b->tasks.len);
	for (size_t t = 0; t < b->tasks.len; t++)
		a->committed_next.data[t] = (uint32_t)t; /* linked nowhere yet */
	for (uint32_t i = 0; i < b->instances.len; i++) {
		uint32_t *link = &a->committed_first.data[i];
		uint64_t at;
		if (fth_map_get(&a->record.first, b->instances.data[i].id, &at))
			for (; a->record.tasks.data[at] != FTH_NONE; at++) {
				uint32_t t = find_task(b, a->record.tasks.data[at]);
				if (t == FTH_NONE || b->tasks.data[t].at != i)
					continue;
				*link = t;
				link = &a->committed_next.data[t];
			}
		*link = FTH_NONE;
	}
	/* Tasks that somebody else put there come last. */
	for (uint32_t t = 0; t < b->tasks.len; t++)
		if (a->committed_next.data[t] == t) {
			a->committed_next.data[t] = FTH_NONE;
			if (b->tasks.data[t].at == FTH_NONE)
				continue;
			uint32_t *link = &a->committed_first.data[b->tasks.data[t].at];
			while (*link != FTH_NONE)
				link = &a->committed_next.data[*link];
			*link = t;
		}
}

/* Returns whether any order is not what it was. */
static bool remember_order(struct artifact *a, const struct fth_draft *l)
{
	struct record *r = &a->next_record;
	fth_map_clear(&r->first);
	fth_vec_clear(&r->tasks);
	for (size_t i = 0; i < l->slots.len; i++) {
		fth_map_put(&r->first, a->ids.data[i], r->tasks.len);
		for (uint32_t t = l->slots.data[i].first; t != FTH_NONE; t = l->next.data[t])
			fth_vec_push(&r->tasks, a->board.tasks.data[t].id);
		fth_vec_push(&r->tasks, FTH_NONE);
	}
	/* A draft lists its slots in the same order as long as nothing moves. */
	struct record old = a->record;
	a->record = a->next_record;
	a->next_record = old;
	if (r->tasks.len != a->record.tasks.len)
		return true;
	return r->tasks.len &&
	       memcmp(r->tasks.data, a->record.tasks.data, r->tasks.len * sizeof(*r->tasks.data)) != 0;
}

/* ---- the state of the round ---- */

static void look(struct artifact *a, const struct fth_view *v)
{
	fth_board_look(&a->board, v, &a->prices);
	for (size_t i = 0; i < a->board.groups.len; i++) {
		struct fth_board_group *g = &a->board.groups.data[i];
		g->key = fth_tnrp_key(&a->tnrp, v, v->kinds[g->kind].label);
	}
	link_committed(a);
	a->search.view = v;
	a->search.board = &a->board;
	a->search.prices = &a->prices;
	a->search.tnrp = &a->tnrp;
	a->search.multi_everywhere = a->params->mode != ENSEMBLE;
	a->search.committed_first = a->committed_first.data;
	a->search.committed_next = a->committed_next.data;
}

/* Dollars per second of a plan for the job alone, with nothing learnt. */
static double standalone(struct artifact *a, const struct fth_view *v, uint32_t first, uint32_t n)
{
	const struct fth_board *b = &a->board;
	double usd = 0;
	uint64_t bits;
	if (n == 1)
		return b->groups.data[b->tasks.data[first].group].rp / 3600;
	if (fth_map_get(&a->standalone, b->tasks.data[first].job, &bits)) {
		memcpy(&usd, &bits, sizeof(usd));
		return usd;
	}
	struct fth_board own = {0};
	struct fth_draft layout = {0};
	for (uint32_t i = 0; i < n; i++) {
		struct fth_board_task t = b->tasks.data[first + i];
		t.at = FTH_NONE;
		t.pinned = false;
		fth_vec_push(&own.tasks, t);
	}
	for (size_t g = 0; g < b->groups.len; g++) {
		struct fth_board_group bg = b->groups.data[g];
		bg.key = fth_tnrp_key(&a->untaught, v, v->kinds[bg.kind].label);
		fth_vec_push(&own.groups, bg);
	}
	struct search s = {.view = v, .board = &own, .prices = &a->prices, .tnrp = &a->untaught,
			   .multi_everywhere = a->search.multi_everywhere};
	fth_draft_reset(&layout, &own);
	fth_search_partial(&s, &layout);
	for (size_t i = 0; i < layout.slots.len; i++)
		usd += fth_usd(v->catalog->offers[layout.slots.data[i].offer].price) / 3600;
	memcpy(&bits, &usd, sizeof(bits));
	fth_map_put(&a->standalone, b->tasks.data[first].job, bits);
	fth_search_release(&s);
	fth_draft_release(&layout);
	fth_board_release(&own);
	return usd;
}

static bool is_moved(const struct artifact *a, const struct fth_draft *l, uint32_t task)
{
	uint32_t slot = l->slot_of.data[task], at = a->board.tasks.data[task].at;
	return slot != FTH_NONE && (at == FTH_NONE || l->slots.data[slot].instance != at);
}

/* M: the delays met so far of every job that moves, and 300 s of every new instance, in dollars. */
static double migration_cost(struct artifact *a, const struct fth_view *v, const struct fth_draft *l)
{
	const struct fth_board *b = &a->board;
	double jobs = 0, machines = 0;
	for (uint32_t t = 0, n; t < b->tasks.len; t += n) {
		bool moved = false;
		double longest = 0;
		for (n = 0; t + n < b->tasks.len && b->tasks.data[t + n].job == b->tasks.data[t].job; n++) {
			const struct met *m = &a->met.data[fth_view_task(v, b->tasks.data[t + n].id)->slot];
			moved |= is_moved(a, l, t + n);
			longest = FTH_MAX(longest, (double)(m->launch + m->save) / 1e6);
		}
		if (!moved)
			continue;
		const struct fth_kind *k = &v->kinds[b->groups.data[b->tasks.data[t].group].kind];
		jobs += (longest + (double)k->delays.init / 1e6) * standalone(a, v, t, n);
	}
	for (size_t i = 0; i < l->slots.len; i++)
		if (l->slots.data[i].instance == FTH_NONE)
			machines += fth_usd(v->catalog->offers[l->slots.data[i].offer].price) / 3600 * 300;
	return jobs + machines;
}

/* S: dollars per second that the plan's work is worth above what it costs. */
static double saving(struct artifact *a, const struct fth_view *v, struct fth_draft *l)
{
	double price = 0;
	for (size_t i = 0; i < l->slots.len; i++)
		price += fth_usd(v->catalog->offers[l->slots.data[i].offer].price);
	return fth_search_worth(&a->search, l) / 3600 - fth_round_cents(price) / 3600;
}

/* ---- deciding ---- */

static struct fth_draft *choose(struct artifact *a, const struct fth_round *round, struct fth_plan *plan)
{
	const struct fth_view *v = round->view;
	fth_event_log_update(&a->events, v);
	double d = fth_event_log_horizon(&a->events, (double)round->now / 1e6);
	double sp = saving(a, v, &a->partial), sf = saving(a, v, &a->full);
	bool full = fth_round_cents(sf * d - a->mf) - fth_round_cents(sp * d - a->mp) > 0;
	a->events.adopted += full;
	fth_plan_note(plan, "S_full", sf);
	fth_plan_note(plan, "M_full", a->mf);
	fth_plan_note(plan, "S_partial", sp);
	fth_plan_note(plan, "M_partial", a->mp);
	fth_plan_note(plan, "D", d);
	fth_plan_note(plan, "full_adopted", full);
	return full ? &a->full : &a->partial;
}

/* Draw both plans afresh. */
static void search(struct artifact *a, const struct fth_view *v)
{
	enum mode mode = (enum mode)a->params->mode;
	look(a, v);
	fth_close_clear(&a->search.close);
	fth_draft_reset(&a->partial, &a->board);
	fth_draft_seed(&a->partial, &a->board, v);
	if (a->board.npinned == a->board.tasks.len)
		return;
	if (mode != NO_PARTIAL) {
		fth_search_partial(&a->search, &a->partial);
		a->mp = mode == ENSEMBLE ? migration_cost(a, v, &a->partial) : 0;
	}
	if (mode != NO_FULL) {
		fth_draft_reset(&a->full, &a->board);
		fth_draft_seed(&a->full, &a->board, v);
		fth_search_full(&a->search, &a->full);
		a->mf = mode == ENSEMBLE ? migration_cost(a, v, &a->full) : 0;
	}
}

static struct fth_draft *pick(struct artifact *a, const struct fth_round *round, struct fth_plan *plan)
{
	if (a->board.npinned == a->board.tasks.len)
		return &a->partial; /* nothing to plan: nothing is learnt of events either */
	struct fth_draft *chosen = a->params->mode == NO_PARTIAL ? &a->full : &a->partial;
	if (a->params->mode == ENSEMBLE)
		chosen = choose(a, round, plan);
	else
		fth_search_worth(&a->search, chosen);
	fth_event_log_remember(&a->events, &a->board);
	return chosen;
}

/*
 * If nothing has happened since the last round, and that one changed nothing, only the means of the
 * table differ, by the rounding of one more addition. Then the search would go the same way again
 * unless a close call of it comes out otherwise, and its plans still stand; what they are worth, and
 * the choice between them, is worked out anew every time.
 */
static bool still_stands(struct artifact *a, bool happened)
{
	return !happened && !a->stale && fth_colocation_moved(a->tnrp.table) < 1e-12 &&
	       fth_close_same(&a->search.close, &a->tnrp);
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct artifact *a = self;
	const struct fth_view *v = round->view;
	bool happened = read_events(a, round);
	fth_prices_round(&a->prices, round);
	fth_observe_round(&a->log, a->tnrp.table, round, a->params->round, happened);
	if (v->njobs)
		fth_plan_wake(plan, round->now + a->params->round);
	a->search.view = v;
	if (!still_stands(a, happened)) {
		search(a, v);
		fth_colocation_moved(a->tnrp.table);
	}
	struct fth_draft *chosen = pick(a, round, plan);
	fth_vec_reserve(&a->ids, chosen->slots.len);
	a->stale = fth_draft_apply(chosen, &a->board, v, plan,
				   chosen == &a->full ? "Full Reconfiguration: worth $0/h on a machine of $1/h"
						      : "Partial Reconfiguration: worth $0/h on a machine of $1/h",
				   a->ids.data) > 0;
	a->stale |= remember_order(a, chosen);
	return 0;
}

const struct fth_policy_ops fth_policy_eva_artifact = {
	.abi = FTH_POLICY_ABI,
	.name = "eva-artifact",
	.summary = "yardstick: Eva as its authors' released program does it, differences from the paper included",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
