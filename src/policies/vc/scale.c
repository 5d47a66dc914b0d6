/* SPDX-License-Identifier: Apache-2.0 */
/* Buying instances for the tasks that found no place. */
#include "policies/vc/vc.h"

/* ---- what can be bought ---- */

static bool is_wanted(const struct vc *v, const struct fth_offer *o)
{
	if (!o->available || (v->cfg.market == VC_MARKET_SPOT && o->market != FTH_SPOT) ||
	    (v->cfg.market == VC_MARKET_ON_DEMAND && o->market != FTH_ON_DEMAND) || o->market == FTH_RESERVED)
		return false;
	return v->view->catalog->types[o->type].container == v->cfg.containers;
}

static int by_price(const void *a, const void *b)
{
	const struct vc_buy *x = a, *y = b;
	if (x->price != y->price)
		return x->price < y->price ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

static void measure(struct vc *v)
{
	v->least = v->most = (struct fth_res){0};
	for (size_t k = 0; k < v->buys.len; k++) {
		const struct fth_res *cap = &v->view->catalog->types[v->buys.data[k].type].capacity;
		for (int r = 0; r < FTH_RES_MAX; r++) {
			v->most.v[r] = FTH_MAX(v->most.v[r], cap->v[r]);
			if (cap->v[r] > 0 && (!v->least.v[r] || cap->v[r] < v->least.v[r]))
				v->least.v[r] = cap->v[r];
		}
	}
}

/* Of each type the cheapest offer. */
static void list_buys(struct vc *v)
{
	const struct fth_catalog *c = v->view->catalog;
	fth_offer_id *best = fth_alloc(c->ntypes * sizeof(*best));
	memset(best, 0xff, c->ntypes * sizeof(*best));
	for (fth_offer_id o = 0; o < c->noffers; o++) {
		fth_offer_id *b = &best[c->offers[o].type];
		if (is_wanted(v, &c->offers[o]) && (*b == FTH_NONE || c->offers[o].price < c->offers[*b].price))
			*b = o;
	}
	fth_vec_clear(&v->buys);
	for (fth_type_id t = 0; t < c->ntypes; t++)
		if (best[t] != FTH_NONE)
			fth_vec_push(&v->buys, ((struct vc_buy){t, best[t], c->offers[best[t]].price}));
	free(best);
	if (v->buys.len)
		qsort(v->buys.data, v->buys.len, sizeof(*v->buys.data), by_price);
	measure(v);
}

void vc_prices(struct vc *v, const struct fth_round *round)
{
	v->price_changed = false;
	for (size_t k = 0; k < round->nevents; k++)
		v->price_changed |= round->events[k].kind == FTH_EV_OFFER_CHANGED;
	if (v->price_changed || !v->prices_known)
		list_buys(v);
	if (!v->prices_known && !v->cfg.spin_up && v->buys.len) {
		const struct fth_instance_type *t = &v->view->catalog->types[v->buys.data[0].type];
		v->cfg.spin_up = t->acquire.mean + t->setup.mean;
	}
	v->prices_known = true;
}

/* Other offers of the type are as good when this one cannot be had. */
static uint32_t acceptable(const struct vc *v, fth_offer_id first, fth_offer_id *offers, uint32_t max)
{
	const struct fth_catalog *c = v->view->catalog;
	uint32_t n = 0;
	offers[n++] = first;
	for (fth_offer_id o = 0; o < c->noffers && n < max; o++)
		if (o != first && c->offers[o].type == c->offers[first].type && is_wanted(v, &c->offers[o]))
			offers[n++] = o;
	return n;
}

uint32_t vc_rent(struct vc *v, struct fth_plan *plan, fth_offer_id offer, const char *why)
{
	const struct fth_offer *o = &v->view->catalog->offers[offer];
	fth_offer_id offers[4];
	struct fth_reason reason = {why, {o->price, 0, 0}};
	uint32_t n = acceptable(v, offer, offers, FTH_COUNT(offers));
	fth_instance_id id = fth_plan_launch(plan, offers, n, reason);
	fth_plan_until_empty(plan, id, reason);
	while (v->pool_bought.len <= offer)
		fth_vec_push(&v->pool_bought, 0);
	v->pool_bought.data[offer]++;
	fth_vec_push(&v->inst, ((struct vc_inst){.id = id,
						 .type = o->type,
						 .offer = offer,
						 .slot = FTH_NONE,
						 .room = v->view->catalog->types[o->type].capacity,
						 .open = v->cfg.share}));
	return (uint32_t)v->inst.len - 1;
}

static bool all_fit(const struct vc *v, const fth_kind_id *kinds, size_t n, fth_type_id type)
{
	struct fth_res sum = {0};
	for (size_t k = 0; k < n; k++) {
		const struct fth_res *d = vc_demand(v, kinds[k], type);
		if (!d)
			return false;
		fth_res_add(&sum, d);
	}
	return fth_res_fits(&sum, &v->view->catalog->types[type].capacity);
}

uint32_t vc_cheapest(const struct vc *v, const fth_kind_id *kinds, size_t n)
{
	for (uint32_t k = 0; k < v->buys.len; k++)
		if (all_fit(v, kinds, n, v->buys.data[k].type))
			return k;
	return FTH_NONE;
}

double vc_score(const struct vc *v, const struct fth_res *used, const struct fth_res *capacity, fth_price price)
{
	uint32_t constraining = 0;
	double most = -1;
	for (uint32_t r = 0; r < v->view->catalog->nres; r++) {
		double share = capacity->v[r] > 0 ? (double)used->v[r] / (double)capacity->v[r] : -1;
		if (share > most) {
			most = share;
			constraining = r;
		}
	}
	double unit = v->least.v[constraining] > 0 ? (double)v->least.v[constraining] : 1;
	return (double)used->v[constraining] / unit / (double)FTH_MAX(price, 1);
}

/* ---- groups x types ---- */

struct choice {
	double score;
	uint32_t buy;
	size_t n; /* tasks of v->group */
};

static bool is_larger(const struct vc *v, uint32_t a, uint32_t b)
{
	const struct fth_res *x = &v->view->catalog->types[v->buys.data[a].type].capacity;
	const struct fth_res *y = &v->view->catalog->types[v->buys.data[b].type].capacity;
	double p = 0, q = 0;
	for (uint32_t r = 0; r < v->view->catalog->nres; r++)
		if (v->most.v[r] > 0) {
			p += (double)x->v[r] / (double)v->most.v[r];
			q += (double)y->v[r] / (double)v->most.v[r];
		}
	return p > q;
}

static void consider(const struct vc *v, struct choice *best, uint32_t buy, size_t n)
{
	const struct fth_res *cap = &v->view->catalog->types[v->buys.data[buy].type].capacity;
	double score = vc_score(v, &v->sums.data[buy], cap, v->buys.data[buy].price);
	bool better = best->buy == FTH_NONE || score > best->score;
	if (!better && score == best->score && buy != best->buy)
		better = is_larger(v, buy, best->buy) != v->cfg.tie_smaller;
	if (better)
		*best = (struct choice){score, buy, n};
}

/* Those that must be apart are not in one group. */
static bool is_apart_in_group(const struct vc *v, const struct vc_task *t)
{
	for (size_t k = 0; t->apart && k < v->group.len; k++)
		if (v->tasks.data[v->group.data[k]].apart == t->apart)
			return false;
	return true;
}

/* Add the task to the group, on every type that still holds it; false: none does. */
static bool extend(struct vc *v, const struct vc_task *t)
{
	bool any = false;
	for (uint32_t b = 0; b < v->buys.len; b++) {
		struct fth_res *sum = &v->sums.data[b];
		const struct fth_res *d = sum->v[0] < 0 ? NULL : vc_demand(v, t->kind, v->buys.data[b].type);
		if (d)
			fth_res_add(sum, d);
		if (d && fth_res_fits(sum, &v->view->catalog->types[v->buys.data[b].type].capacity))
			any = true;
		else
			sum->v[0] = -1; /* out of the race: greater groups do not fit either */
	}
	return any;
}

/* The first task, the first two, the first three ...: the group and the type with the best score. */
static struct choice best_group(struct vc *v, size_t from)
{
	struct choice best = {.buy = FTH_NONE};
	fth_vec_clear(&v->group);
	fth_vec_reserve(&v->sums, v->buys.len);
	memset(v->sums.data, 0, v->buys.len * sizeof(*v->sums.data));
	for (size_t k = from; k < v->list.len; k++) {
		const struct vc_task *t = &v->tasks.data[v->list.data[k]];
		if (t->at != FTH_NONE || !is_apart_in_group(v, t))
			continue;
		if (!extend(v, t))
			break;
		fth_vec_push(&v->group, v->list.data[k]);
		for (uint32_t b = 0; b < v->buys.len; b++)
			if (v->sums.data[b].v[0] >= 0)
				consider(v, &best, b, v->group.len);
	}
	return best;
}

static void scale_list(struct vc *v, struct fth_plan *plan)
{
	for (size_t from = 0; from < v->list.len;) {
		if (v->tasks.data[v->list.data[from]].at != FTH_NONE) {
			from++;
			continue;
		}
		struct choice c = best_group(v, from);
		if (c.buy == FTH_NONE) {
			from++; /* nothing that can be bought holds it: it goes on waiting */
			continue;
		}
		uint32_t inst = vc_rent(v, plan, v->buys.data[c.buy].offer,
					"the group of tasks uses it best for its price of $0/h");
		for (size_t k = 0; k < c.n; k++)
			vc_put(v, &v->tasks.data[v->group.data[k]], inst);
	}
}

static void scale_groups(struct vc *v, struct fth_plan *plan)
{
	for (size_t k = 0; k < v->left.len;) {
		const struct vc_task *first = &v->tasks.data[v->left.data[k]];
		unsigned bin = vc_bin(v, first->remaining);
		fth_vec_clear(&v->list);
		for (; k < v->left.len; k++) {
			const struct vc_task *t = &v->tasks.data[v->left.data[k]];
			if (v->cfg.bins && (t->priority != first->priority || vc_bin(v, t->remaining) != bin))
				break;
			fth_vec_push(&v->list, v->left.data[k]);
		}
		scale_list(v, plan);
	}
}

/* ---- the cheapest for each task ---- */

/* The pool bought from least, of equal ones the cheapest. */
static fth_offer_id diverse_offer(const struct vc *v, fth_kind_id kind)
{
	const struct fth_catalog *c = v->view->catalog;
	fth_offer_id best = FTH_NONE;
	uint64_t least = 0;
	for (fth_offer_id o = 0; o < c->noffers; o++) {
		uint64_t bought = o < v->pool_bought.len ? v->pool_bought.data[o] : 0;
		if (!is_wanted(v, &c->offers[o]) || !all_fit(v, &kind, 1, c->offers[o].type))
			continue;
		if (best == FTH_NONE || bought < least || (bought == least && c->offers[o].price < c->offers[best].price)) {
			best = o;
			least = bought;
		}
	}
	return best;
}

static void scale_cheapest(struct vc *v, struct fth_plan *plan)
{
	for (size_t k = 0; k < v->left.len; k++) {
		struct vc_task *t = &v->tasks.data[v->left.data[k]];
		uint32_t inst = v->cfg.share ? vc_find(v, t) : FTH_NONE;
		if (inst == FTH_NONE) {
			uint32_t buy = v->cfg.diversify ? FTH_NONE : vc_cheapest(v, &t->kind, 1);
			fth_offer_id offer = v->cfg.diversify ? diverse_offer(v, t->kind)
					     : buy == FTH_NONE ? FTH_NONE
							       : v->buys.data[buy].offer;
			if (offer == FTH_NONE)
				continue;
			inst = vc_rent(v, plan, offer,
				       v->cfg.diversify ? "of the pool used least that holds the task, $0/h"
							: "the cheapest that holds the task, $0/h");
		}
		vc_put(v, t, inst);
	}
}

/* ---- greedy fill of each type ---- */

static uint32_t constraining_of_batch(const struct vc *v)
{
	double sum[FTH_RES_MAX] = {0};
	uint32_t most = FTH_CPU;
	for (size_t k = 0; k < v->left.len; k++) {
		const struct fth_kind *kind = &v->view->kinds[v->tasks.data[v->left.data[k]].kind];
		for (uint32_t r = 0; r < v->view->catalog->nres; r++)
			if (v->most.v[r] > 0)
				sum[r] += (double)kind->alts[kind->nalts - 1].demand.v[r] / (double)v->most.v[r];
	}
	for (uint32_t r = 0; r < v->view->catalog->nres; r++)
		if (sum[r] > sum[most])
			most = r;
	return most;
}

/* How many of them fit. */
static uint32_t how_many(const struct vc *v, const struct fth_res *d, const struct fth_res *room, uint32_t most)
{
	for (uint32_t r = 0; r < v->view->catalog->nres; r++)
		if (d->v[r] > 0 && room->v[r] < d->v[r] * most)
			most = (uint32_t)(room->v[r] / d->v[r]);
	return most;
}

/* The least that a task of the runs below a node of the tree needs in each dimension. */
static void set_run(struct vc *v, size_t run)
{
	uint32_t nres = v->view->catalog->nres;
	size_t n = v->run_leaves + run;
	int64_t *least = &v->run_least.data[n * nres];
	for (uint32_t r = 0; r < nres; r++)
		least[r] = INT64_MAX;
	if (run < v->runs.len && v->runs.data[run].n)
		vc_least_demand(v, v->runs.data[run].kind, least);
}

static void join_runs(struct vc *v, size_t n)
{
	uint32_t nres = v->view->catalog->nres;
	int64_t *least = &v->run_least.data[n * nres];
	const int64_t *a = &v->run_least.data[2 * n * nres], *b = a + nres;
	for (uint32_t r = 0; r < nres; r++)
		least[r] = FTH_MIN(a[r], b[r]);
}

/* The first run from `from` on of which a task may fit; their number if there is none. */
static size_t next_run(const struct vc *v, const struct fth_res *room, size_t from)
{
	uint32_t nres = v->view->catalog->nres;
	size_t n = v->run_leaves + from;
	bool fits = false;
	while (from < v->runs.len) {
		fits = true;
		for (uint32_t r = 0; r < nres && fits; r++)
			fits = v->run_least.data[n * nres + r] <= room->v[r];
		if (fits && n >= v->run_leaves)
			return n - v->run_leaves;
		if (fits) {
			n *= 2;
			continue;
		}
		while (n & 1) /* the last one below its parent */
			n /= 2;
		if (!n)
			break;
		n++;
	}
	return v->runs.len;
}

/* Take tasks of the batch in order as long as they fit, run by run of one kind; what is used of the resource. */
static int64_t fill(struct vc *v, fth_type_id type, uint32_t resource, bool keep)
{
	struct fth_res room = v->view->catalog->types[type].capacity;
	bool has_it = room.v[resource] > 0;
	int64_t used = 0;
	fth_vec_clear(&v->group);
	fth_vec_clear(&v->list);
	for (size_t k = next_run(v, &room, 0); k < v->runs.len && (!has_it || room.v[resource] > 0);
	     k = next_run(v, &room, k + 1)) {
		const struct vc_run *run = &v->runs.data[k];
		const struct vc_task *t = &v->tasks.data[v->left.data[run->first]];
		const struct fth_res *d = vc_demand(v, t->kind, type);
		uint32_t n = d && is_apart_in_group(v, t) ? how_many(v, d, &room, run->n) : 0;
		for (int r = 0; n && r < FTH_RES_MAX; r++)
			room.v[r] -= d->v[r] * n;
		used += n ? d->v[resource] * n : 0;
		if (n && keep)
			fth_vec_push(&v->list, (uint32_t)k);
		for (uint32_t i = 0; i < n && (keep || t->apart); i++)
			fth_vec_push(&v->group, v->left.data[run->first + i]);
	}
	return used;
}

/* Runs of tasks of one kind; those that must be apart stand alone. */
static void list_runs(struct vc *v)
{
	fth_vec_clear(&v->runs);
	for (uint32_t k = 0; k < v->left.len; k++) {
		const struct vc_task *t = &v->tasks.data[v->left.data[k]];
		struct vc_run *last = v->runs.len ? &fth_vec_last(&v->runs) : NULL;
		if (last && !t->apart && last->kind == t->kind && last->first + last->n == k && !last->alone) {
			last->n++;
			continue;
		}
		if (vc_cheapest(v, &t->kind, 1) != FTH_NONE)
			fth_vec_push(&v->runs, ((struct vc_run){t->kind, k, 1, t->apart != 0}));
	}
	for (v->run_leaves = 1; v->run_leaves < v->runs.len; v->run_leaves *= 2)
		;
	fth_vec_reserve(&v->run_least, 2 * v->run_leaves * v->view->catalog->nres);
	for (size_t k = 0; k < v->run_leaves; k++)
		set_run(v, k);
	for (size_t n = v->run_leaves - 1; n >= 1; n--)
		join_runs(v, n);
}

/* What has been taken is at the front of the runs that were filled from. */
static void drop_taken(struct vc *v)
{
	for (size_t k = 0; k < v->list.len; k++) {
		struct vc_run *run = &v->runs.data[v->list.data[k]];
		while (run->n && v->tasks.data[v->left.data[run->first]].at != FTH_NONE) {
			run->first++;
			run->n--;
		}
		if (run->n)
			continue;
		set_run(v, v->list.data[k]);
		for (size_t n = (v->run_leaves + v->list.data[k]) / 2; n >= 1; n /= 2)
			join_runs(v, n);
	}
}

static void scale_fill(struct vc *v, struct fth_plan *plan)
{
	uint32_t resource = constraining_of_batch(v);
	size_t first = 0;
	list_runs(v);
	for (;;) {
		while (first < v->runs.len && !v->runs.data[first].n)
			first++;
		if (first == v->runs.len)
			return;
		double most = -1;
		uint32_t best = FTH_NONE;
		for (uint32_t b = 0; b < v->buys.len; b++) {
			int64_t used = fill(v, v->buys.data[b].type, resource, false);
			double score = (double)used / (double)FTH_MAX(v->buys.data[b].price, 1);
			if (used > 0 && (score > most || (score == most && is_larger(v, b, best)))) {
				most = score;
				best = b;
			}
		}
		if (best == FTH_NONE) /* no use of that resource: whatever holds the first task */
			best = vc_cheapest(v, &v->runs.data[first].kind, 1);
		fill(v, v->buys.data[best].type, resource, true);
		uint32_t inst = vc_rent(v, plan, v->buys.data[best].offer,
					"filled greedily it has the most resource for its price of $0/h");
		for (size_t k = 0; k < v->group.len; k++)
			vc_put(v, &v->tasks.data[v->group.data[k]], inst);
		drop_taken(v);
	}
}

void vc_scale_out(struct vc *v, struct fth_plan *plan)
{
	if (!v->left.len || !v->buys.len)
		return;
	if (v->cfg.scale == VC_SCALE_GROUPS)
		scale_groups(v, plan);
	else if (v->cfg.scale == VC_SCALE_CHEAPEST)
		scale_cheapest(v, plan);
	else
		scale_fill(v, plan);
}
