/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synergy, as Eva's authors use it for comparison: a task that arrives goes to the running instance
 * where the whole set is worth most for its price, if it is worth the price at all; else it gets an
 * instance of its own. Nothing ever moves. Worth is counted with the learnt co-location table.
 */
#include "policies/shared/board.h"
#include "policies/shared/observe.h"
#include "policies/shared/tnrp.h"
#include "policies/table.h"

struct params {
	fth_time round;
	double t;
	int learn;
};

static const char *const learn_choices[] = {"label", "class", NULL};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{"t", FTH_PARAM_REAL, offsetof(struct params, t), "0.95", 0.01, 1, NULL,
	 "speed of a pair of tasks never seen together"},
	{"learn", FTH_PARAM_CHOICE, offsetof(struct params, learn), "label", 0, 0, learn_choices,
	 "what speeds are learnt by: a task's label or its workload class"},
	{0},
};

struct synergy {
	const struct params *params;
	struct fth_prices prices;
	struct fth_tnrp tnrp;
	struct fth_observer_log log;
	struct fth_board board;
	struct fth_draft layout;
	struct fth_party party;
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct synergy *s = fth_alloc(sizeof(*s));
	s->params = p;
	fth_tnrp_init(&s->tnrp, s->params->t);
	fth_observe_init(&s->log, s->params->learn == 1);
	*self = s;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct synergy *)self)->params->round;
}

static struct fth_member member(const struct synergy *s, uint32_t task)
{
	const struct fth_board_group *g = &s->board.groups.data[s->board.tasks.data[task].group];
	return (struct fth_member){g->key, g->job_tasks, g->rp};
}

struct score {
	double ratio, align, worth;
	uint32_t slot;
};

/* What the slot would be worth with the task, per dollar of its price. */
static void try_slot(struct synergy *s, const struct fth_view *v, uint32_t task, uint32_t at, struct score *best)
{
	const struct fth_draft_slot *slot = &s->layout.slots.data[at];
	fth_type_id type = v->catalog->offers[slot->offer].type;
	const struct fth_res *d = s->board.groups.data[s->board.tasks.data[task].group].demand[type];
	if (!d || !fth_fits(d, &slot->room, v->catalog->nres) ||
	    fth_draft_keeps_apart(&s->layout, &s->board, at, task))
		return;
	struct fth_member m = member(s, task);
	fth_party_clear(&s->party);
	for (uint32_t t = slot->first; t != FTH_NONE; t = s->layout.next.data[t]) {
		struct fth_member other = member(s, t);
		fth_party_add(&s->party, &s->tnrp, &other);
	}
	double worth = fth_tnrp_with(&s->tnrp, &s->party, &m, FTH_MULTI_PLAIN);
	double ratio = worth / fth_usd(v->catalog->offers[slot->offer].price);
	double align = fth_alignment(d, &slot->room, &v->catalog->types[type].capacity, v->catalog->nres);
	if (ratio >= 1 && (ratio > best->ratio || (ratio == best->ratio && align > best->align)))
		*best = (struct score){ratio, align, worth, at};
}

static void place(struct synergy *s, const struct fth_view *v, uint32_t task)
{
	const struct fth_board_group *g = &s->board.groups.data[s->board.tasks.data[task].group];
	struct score best = {-1, -1, 0, FTH_NONE};
	for (uint32_t i = 0; i < s->layout.slots.len; i++)
		try_slot(s, v, task, i, &best);
	if (best.slot == FTH_NONE) {
		best.slot = fth_draft_add_slot(&s->layout, &s->board, v, FTH_NONE, g->offer);
		best.worth = g->rp;
	}
	fth_draft_add_task(&s->layout, &s->board, v, best.slot, task);
	s->layout.slots.data[best.slot].worth = best.worth;
}

static bool something_happened(const struct fth_round *round)
{
	for (size_t i = 0; i < round->nevents; i++)
		if (round->events[i].kind != FTH_EV_TIMER)
			return true;
	return false;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct synergy *s = self;
	const struct fth_view *v = round->view;
	fth_prices_round(&s->prices, round);
	fth_observe_round(&s->log, s->tnrp.table, round, s->params->round, something_happened(round));
	fth_board_look(&s->board, v, &s->prices);
	for (size_t i = 0; i < s->board.groups.len; i++) {
		struct fth_board_group *g = &s->board.groups.data[i];
		g->key = fth_tnrp_key(&s->tnrp, v, fth_observe_key(&s->log, &v->kinds[g->kind]));
	}
	fth_draft_reset(&s->layout, &s->board);
	fth_draft_seed(&s->layout, &s->board, v);
	for (uint32_t t = 0; t < s->board.tasks.len; t++)
		if (!s->board.tasks.data[t].pinned && s->board.tasks.data[t].at != FTH_NONE)
			fth_draft_keep(&s->layout, &s->board, v, t);
	for (uint32_t t = 0; t < s->board.tasks.len; t++)
		if (s->board.tasks.data[t].at == FTH_NONE)
			place(s, v, t);
	fth_draft_apply(&s->layout, &s->board, v, plan, "the set is worth $0/h on a machine of $1/h", NULL);
	return 0;
}

static void fini(void *self)
{
	struct synergy *s = self;
	fth_prices_release(&s->prices);
	fth_tnrp_release(&s->tnrp);
	fth_observe_release(&s->log);
	fth_board_release(&s->board);
	fth_draft_release(&s->layout);
	fth_party_release(&s->party);
	free(s);
}

const struct fth_policy_ops fth_policy_synergy = {
	.abi = FTH_POLICY_ABI,
	.name = "synergy",
	.summary = "arriving tasks join the running instance that is worth most for its price; nothing moves",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
