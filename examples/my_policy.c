/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An out-of-tree policy: best fit. A waiting task goes to the rented instance it leaves the least room
 * on; if there is none, to a new instance of the type that is cheapest for it. Empty instances go.
 *
 *     make                                                # needs the installed <farthing/policy.h>
 *     farthing compare --policy no-packing --policy ./libmy_policy.so:reserve=0.1
 */
#include <farthing/policy.h>

struct params {
	double reserve; /* share of each CPU kept free for the tasks' bursts */
};

static const struct fth_param param_table[] = {
	{"reserve", FTH_PARAM_REAL, offsetof(struct params, reserve), "0", 0, 0.5, NULL,
	 "share of an instance's CPU that is left free"},
	{0},
};

static const struct params *params; /* one policy per process: a file-static pointer will do */

static int init(void **self, const struct fth_view *view, const void *given)
{
	(void)self, (void)view;
	params = given;
	return 0;
}

/* Milli-CPU left if the task joins what is committed already; negative: it does not fit. */
static int64_t room_left(const struct fth_kind *k, const struct fth_instance_type *t, const struct fth_res *used)
{
	const struct fth_alt *alt = fth_kind_on_type(k, t);
	struct fth_res sum = *used, room = t->capacity;
	if (!alt)
		return -1;
	fth_res_add(&sum, &alt->demand);
	if (used->v[FTH_CPU] > 0) /* alone it may have all */
		room.v[FTH_CPU] -= (int64_t)(params->reserve * (double)room.v[FTH_CPU]);
	return fth_res_fits(&sum, &room) ? room.v[FTH_CPU] - sum.v[FTH_CPU] : -1;
}

static fth_offer_id cheapest(const struct fth_catalog *c, const struct fth_kind *k)
{
	static const struct fth_res nothing;
	fth_offer_id best = FTH_NONE;
	for (fth_offer_id o = 0; o < c->noffers; o++)
		if (c->offers[o].available && c->offers[o].market == FTH_ON_DEMAND &&
		    room_left(k, &c->types[c->offers[o].type], &nothing) >= 0 &&
		    (best == FTH_NONE || c->offers[o].price < c->offers[best].price))
			best = o;
	return best;
}

static int decide(void *self, const struct fth_round *r, struct fth_plan *plan)
{
	const struct fth_view *v = r->view;
	(void)self;
	/* One task a round: what was placed is in the view of the next, which comes at once. */
	const struct fth_task *t = v->nwaiting ? fth_view_task(v, v->first_waiting) : NULL;
	fth_instance_id best = FTH_NONE;
	int64_t least = INT64_MAX;
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		int64_t left = t && !i->leaving
				       ? room_left(&v->kinds[t->kind], &v->catalog->types[i->type], &i->committed) : -1;
		if (left >= 0 && left < least)
			least = left, best = id;
		if (!t && !i->leaving && !i->ncommitted)
			fth_plan_terminate(plan, id, (struct fth_reason){"no task is left on it", {0}});
		id = i->next;
	}
	if (!t)
		return 0;
	if (best == FTH_NONE) {
		fth_offer_id o = cheapest(v->catalog, &v->kinds[t->kind]);
		if (o == FTH_NONE)
			return 0;
		best = fth_plan_launch(plan, &o, 1, (struct fth_reason){"no room elsewhere; $0/h", {v->catalog->offers[o].price}});
	}
	fth_plan_place(plan, t->id, best, (struct fth_reason){"the tightest fit", {0}});
	if (v->nwaiting > 1)
		fth_plan_wake(plan, r->now + 1);
	return 0;
}

FTH_EXPORT const struct fth_policy_ops *farthing_policy(void);
FTH_EXPORT const struct fth_policy_ops *farthing_policy(void)
{
	static const struct fth_policy_ops ops = {
		.abi = FTH_POLICY_ABI, .name = "best-fit", .summary = "tightest rented instance, else the cheapest new one",
		.params = param_table, .params_size = sizeof(struct params), .init = init, .decide = decide,
	};
	return &ops;
}
