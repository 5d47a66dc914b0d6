/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instance for each task: the cheapest on which it runs alone. Nothing ever moves; an instance is
 * let go at the first round at which it is empty. The yardstick of every other policy, and the
 * engine's fallback when one fails.
 */
#include "policies/shared/prices.h"
#include "policies/table.h"

struct params {
	fth_time round;
};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "300s", 1, 86400, NULL, "how often it decides"},
	{0},
};

struct no_packing {
	const struct params *params;
	struct fth_prices prices;
};

static int init(void **self, const struct fth_view *view, const void *p)
{
	(void)view;
	struct no_packing *n = fth_alloc(sizeof(*n));
	n->params = p;
	*self = n;
	return 0;
}

static fth_time period(void *self)
{
	return ((struct no_packing *)self)->params->round;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct no_packing *n = self;
	const struct fth_view *v = round->view;
	fth_prices_round(&n->prices, round);
	for (fth_task_id id = v->first_waiting; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		const struct fth_kind_price *p = fth_prices_of(&n->prices, v, t->kind);
		id = t->next_waiting;
		if (p->offer == FTH_NONE)
			continue; /* nothing on offer can hold it now */
		struct fth_reason why = {"the cheapest machine that holds it alone, $0/h",
					 {v->catalog->offers[p->offer].price, 0, 0}};
		fth_plan_place(plan, t->id, fth_plan_launch(plan, &p->offer, 1, why), why);
	}
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->next;
		if (!i->leaving && !i->ncommitted)
			fth_plan_terminate(plan, i->id,
					   (struct fth_reason){"empty, at $0/h",
							       {v->catalog->offers[i->offer].price, 0, 0}});
	}
	return 0;
}

static void fini(void *self)
{
	struct no_packing *n = self;
	fth_prices_release(&n->prices);
	free(n);
}

const struct fth_policy_ops fth_policy_no_packing = {
	.abi = FTH_POLICY_ABI,
	.name = "no-packing",
	.summary = "one instance for each task, the cheapest that holds it; nothing moves",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = period,
	.decide = decide,
	.fini = fini,
};
