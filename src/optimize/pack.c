/* SPDX-License-Identifier: Apache-2.0 */
/* From catalog and tasks to groups and types, and from the plan found back to instances with tasks. */
#include "optimize/pack.h"

#include "optimize/pack_internal.h"

static const uint64_t DEFAULT_WORK = 20000000;

static void problem_release(struct fth_pack_problem *p)
{
	free(p->count);
	free(p->group_of);
	free(p->offer);
	free(p->family);
	free(p->price);
	free(p->capacity);
	free(p->demand);
	free(p->usable);
}

/* ---- types ---- */

/* The cheapest on-demand offer of each instance type. */
static void list_types(struct fth_pack_problem *p, const struct fth_catalog *c)
{
	fth_offer_id *best = fth_alloc((c->ntypes + 1) * sizeof(*best));
	for (uint32_t t = 0; t < c->ntypes; t++)
		best[t] = FTH_NONE;
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *o = &c->offers[i];
		if (o->market == FTH_ON_DEMAND && o->available &&
		    (best[o->type] == FTH_NONE || o->price < c->offers[best[o->type]].price))
			best[o->type] = i;
	}
	p->offer = fth_alloc((c->ntypes + 1) * sizeof(*p->offer));
	p->family = fth_alloc((c->ntypes + 1) * sizeof(*p->family));
	p->price = fth_alloc((c->ntypes + 1) * sizeof(*p->price));
	p->capacity = fth_alloc((c->ntypes + 1) * sizeof(*p->capacity));
	for (uint32_t t = 0; t < c->ntypes; t++) {
		if (best[t] == FTH_NONE)
			continue;
		p->offer[p->ntypes] = best[t];
		p->family[p->ntypes] = c->types[t].family;
		p->price[p->ntypes] = c->offers[best[t]].price;
		p->capacity[p->ntypes++] = c->types[t].capacity;
	}
	free(best);
}

/* What holds t holds as much or more, for no more money. */
static bool dominates(const struct fth_pack_problem *p, uint32_t by, uint32_t t)
{
	if (p->price[by] > p->price[t] || !fth_res_fits(&p->capacity[t], &p->capacity[by]))
		return false;
	for (uint32_t g = 0; g < p->ngroups; g++) {
		size_t a = (size_t)t * p->ngroups + g, b = (size_t)by * p->ngroups + g;
		if (p->usable[a] && (!p->usable[b] || !fth_res_fits(&p->demand[b], &p->demand[a])))
			return false;
	}
	return true;
}

static bool useless(const struct fth_pack_problem *p, uint32_t t)
{
	for (uint32_t g = 0; g < p->ngroups; g++)
		if (p->usable[(size_t)t * p->ngroups + g])
			return false;
	return true;
}

/* Drop types that nothing needs or that another one replaces (of equals the first stays). */
static void drop_types(struct fth_pack_problem *p)
{
	char *gone = fth_alloc(p->ntypes + 1);
	for (uint32_t t = 0; t < p->ntypes; t++) {
		gone[t] = useless(p, t);
		for (uint32_t by = 0; by < p->ntypes && !gone[t]; by++)
			gone[t] = by != t && dominates(p, by, t) && (by < t || !dominates(p, t, by));
	}
	uint32_t n = 0;
	for (uint32_t t = 0; t < p->ntypes; t++) {
		if (gone[t])
			continue;
		p->offer[n] = p->offer[t];
		p->family[n] = p->family[t];
		p->price[n] = p->price[t];
		p->capacity[n] = p->capacity[t];
		memmove(p->demand + (size_t)n * p->ngroups, p->demand + (size_t)t * p->ngroups,
			p->ngroups * sizeof(*p->demand));
		memmove(p->usable + (size_t)n * p->ngroups, p->usable + (size_t)t * p->ngroups, p->ngroups);
		n++;
	}
	p->ntypes = n;
	free(gone);
}

/* ---- groups ---- */

/* What a kind needs on every type, where it may run: at full speed; where it is nowhere at full speed,
 * at the greatest speed there is. False: nowhere. */
static bool kind_needs(const struct fth_pack_problem *p, const struct fth_catalog *c, const struct fth_kind *k,
		       struct fth_res *need, char *usable)
{
	uint32_t fastest = 0;
	const uint32_t full = 1000000;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t t = 0; t < p->ntypes; t++) {
			const struct fth_instance_type *type = &c->types[c->offers[p->offer[t]].type];
			const struct fth_alt *alt = fth_kind_on_type(k, type);
			need[t] = (struct fth_res){0};
			usable[t] = 0;
			if (!alt || !alt->speed_ppm || !fth_res_fits(&alt->demand, &type->capacity))
				continue;
			uint32_t speed = FTH_MIN(alt->speed_ppm, full);
			fastest = FTH_MAX(fastest, speed);
			if (speed < fastest)
				continue;
			need[t] = alt->demand;
			usable[t] = 1;
		}
	}
	return fastest > 0;
}

struct grouping {
	FTH_VEC(struct fth_res) need; /* ntypes per group */
	FTH_VEC(char) usable;
	FTH_VEC(int64_t) count;
	FTH_VEC(uint32_t) chain;
	struct fth_map by_hash;
};

static uint32_t find_group(struct grouping *g, uint32_t ntypes, const struct fth_res *need, const char *usable)
{
	uint64_t hash = fth_hash_bytes(need, ntypes * sizeof(*need), fth_hash_bytes(usable, ntypes, 1)), first = FTH_NONE;
	fth_map_get(&g->by_hash, hash, &first);
	for (uint32_t i = (uint32_t)first; i != FTH_NONE; i = g->chain.data[i])
		if (!memcmp(g->need.data + (size_t)i * ntypes, need, ntypes * sizeof(*need)) &&
		    !memcmp(g->usable.data + (size_t)i * ntypes, usable, ntypes))
			return i;
	uint32_t id = (uint32_t)g->count.len;
	for (uint32_t t = 0; t < ntypes; t++) {
		fth_vec_push(&g->need, need[t]);
		fth_vec_push(&g->usable, usable[t]);
	}
	fth_vec_push(&g->count, (int64_t)0);
	fth_vec_push(&g->chain, (uint32_t)first);
	fth_map_put(&g->by_hash, hash, id);
	return id;
}

/* By type, then by group: how the pricers want it. */
static void transpose(struct fth_pack_problem *p, const struct grouping *g)
{
	size_t n = (size_t)p->ntypes * p->ngroups + 1;
	p->demand = fth_alloc(n * sizeof(*p->demand));
	p->usable = fth_alloc(n);
	for (uint32_t t = 0; t < p->ntypes; t++)
		for (uint32_t i = 0; i < p->ngroups; i++) {
			p->demand[(size_t)t * p->ngroups + i] = g->need.data[(size_t)i * p->ntypes + t];
			p->usable[(size_t)t * p->ngroups + i] = g->usable.data[(size_t)i * p->ntypes + t];
		}
}

static int make_groups(struct fth_pack_problem *p, const struct fth_catalog *c, const struct fth_kind *kinds,
		       const struct fth_pack_item *items, uint32_t nitems, struct fth_error *err)
{
	struct grouping g = {0};
	struct fth_res *need = fth_alloc((p->ntypes + 1) * sizeof(*need));
	char *usable = fth_alloc(p->ntypes + 1);
	int r = 0;
	p->group_of = fth_alloc((nitems + 1) * sizeof(*p->group_of));
	for (uint32_t i = 0; i < nitems && !r; i++) {
		p->group_of[i] = FTH_NONE;
		if (!items[i].count)
			continue;
		if (!kind_needs(p, c, &kinds[items[i].kind], need, usable)) {
			r = fth_fail(err, -ENOENT, "item %u (kind %u) fits no on-demand offer", i, items[i].kind);
			break;
		}
		p->group_of[i] = find_group(&g, p->ntypes, need, usable);
		g.count.data[p->group_of[i]] += items[i].count;
	}
	if (!r) {
		p->ngroups = (uint32_t)g.count.len;
		p->count = fth_alloc((p->ngroups + 1) * sizeof(*p->count));
		memcpy(p->count, g.count.data ? g.count.data : p->count, p->ngroups * sizeof(*p->count));
		transpose(p, &g);
	}
	fth_vec_release(&g.need);
	fth_vec_release(&g.usable);
	fth_vec_release(&g.count);
	fth_vec_release(&g.chain);
	fth_map_release(&g.by_hash);
	free(need);
	free(usable);
	return r;
}

/* ---- plans in and out ---- */

/* The start in our words; every bin on the cheapest type that holds it. *ret_usable is false when it has
 * tasks where we would not put them (on a family where they are slow): it is then no plan of ours. */
static int read_start(const struct fth_pack_problem *p, uint32_t nitems, const struct fth_packing *from,
		      struct fth_layout *plan, bool *ret_usable, struct fth_error *err)
{
	int64_t *left = fth_alloc((p->ngroups + 1) * sizeof(*left));
	uint32_t *copies = fth_alloc((p->ngroups + 1) * sizeof(*copies));
	struct fth_filling *parts = fth_alloc((p->ngroups + 1) * sizeof(*parts));
	int r = 0;
	memcpy(left, p->count, p->ngroups * sizeof(*left));
	for (size_t b = 0; b < from->bins.len && !r; b++) {
		const struct fth_packed *bin = &from->bins.data[b];
		uint32_t n = 0;
		memset(copies, 0, p->ngroups * sizeof(*copies));
		for (uint32_t i = 0; i < bin->n; i++) {
			uint32_t item = from->items.data[bin->first + i];
			uint32_t g = item < nitems ? p->group_of[item] : FTH_NONE;
			if (g == FTH_NONE)
				r = -EINVAL;
			else
				copies[g]++;
		}
		for (uint32_t g = 0; g < p->ngroups; g++)
			if (copies[g]) {
				parts[n++] = (struct fth_filling){g, copies[g]};
				left[g] -= (int64_t)copies[g] * bin->repeat;
			}
		uint32_t t = fth_layout_holder(p, parts, n, INT64_MAX);
		if (t == FTH_NONE)
			*ret_usable = false;
		else if (n && bin->repeat)
			fth_layout_add(p, plan, t, bin->repeat, parts, n);
	}
	for (uint32_t g = 0; g < p->ngroups; g++)
		r = left[g] ? -EINVAL : r;
	free(left);
	free(copies);
	free(parts);
	return r ? fth_fail(err, r, "the packing to start from does not hold the tasks") : 0;
}

/* Tasks of one group not handed out yet: items in input order. */
struct queue {
	FTH_VEC(uint32_t) items;
	size_t at;
	int64_t left; /* of items.data[at] */
};

static uint32_t next_task(struct queue *q, const struct fth_pack_item *items)
{
	uint32_t item = q->items.data[q->at];
	if (--q->left == 0 && ++q->at < q->items.len)
		q->left = items[q->items.data[q->at]].count;
	return item;
}

/* Hand out tasks to `bin`, as often as the same items can fill it; how often that was. */
static int64_t write_bin(const struct fth_layout *plan, const struct fth_layout_bin *bin, int64_t most, struct queue *queues,
			 const struct fth_pack_item *items, fth_offer_id offer, struct fth_packing *ret)
{
	int64_t times = most;
	struct fth_packed out = {.offer = offer, .first = (uint32_t)ret->items.len};
	for (uint32_t i = 0; i < bin->n; i++) {
		const struct fth_filling *f = &plan->parts.data[bin->first + i];
		times = FTH_MIN(times, queues[f->item].left / f->copies);
	}
	times = FTH_MAX(times, 1);
	for (uint32_t i = 0; i < bin->n; i++) {
		const struct fth_filling *f = &plan->parts.data[bin->first + i];
		struct queue *q = &queues[f->item];
		q->left -= (times - 1) * f->copies; /* the head serves all of them but the last as well */
		for (uint32_t k = 0; k < f->copies; k++)
			fth_vec_push(&ret->items, next_task(q, items));
	}
	out.n = (uint32_t)ret->items.len - out.first;
	out.repeat = (uint32_t)times;
	fth_vec_push(&ret->bins, out);
	return times;
}

static void write_plan(const struct fth_pack_problem *p, const struct fth_layout *plan, const struct fth_pack_item *items,
		       uint32_t nitems, struct fth_packing *ret)
{
	struct queue *queues = fth_alloc((p->ngroups + 1) * sizeof(*queues));
	for (uint32_t i = 0; i < nitems; i++)
		if (p->group_of[i] != FTH_NONE) {
			struct queue *q = &queues[p->group_of[i]];
			if (!q->items.len)
				q->left = items[i].count;
			fth_vec_push(&q->items, i);
		}
	for (size_t b = 0; b < plan->bins.len; b++) {
		const struct fth_layout_bin *bin = &plan->bins.data[b];
		int64_t rest = bin->repeat;
		while (rest > 0)
			rest -= write_bin(plan, bin, rest, queues, items, p->offer[bin->type], ret);
	}
	ret->price = plan->cost;
	for (uint32_t g = 0; g < p->ngroups; g++)
		fth_vec_release(&queues[g].items);
	free(queues);
}

static fth_price alone_price(const struct fth_pack_problem *p)
{
	fth_price sum = 0;
	for (uint32_t g = 0; g < p->ngroups; g++) {
		struct fth_filling one = {g, 1};
		sum += p->count[g] * p->price[fth_layout_holder(p, &one, 1, INT64_MAX)];
	}
	return sum;
}

static void report(const struct fth_pack_problem *p, const struct fth_pack_outcome *o, struct fth_pack_result *ret)
{
	ret->method = o->plan.method;
	ret->lower_bound = o->lower_bound;
	ret->no_packing = alone_price(p);
	ret->proven = o->plan.cost == o->lower_bound;
	ret->gap = ret->proven ? 0 : o->lower_bound ? (double)(o->plan.cost - o->lower_bound) / (double)o->lower_bound : 1;
	ret->groups = p->ngroups;
	ret->types = p->ntypes;
	ret->columns = o->columns;
	ret->nodes = o->nodes;
	ret->pricing_nodes = o->pricing_nodes;
	ret->lp_steps = o->lp_steps;
	ret->work = o->work;
}

int fth_pack(const struct fth_catalog *c, const struct fth_kind *kinds, const struct fth_pack_item *items,
	     uint32_t nitems, const struct fth_pack_options *options, struct fth_pack_result *ret, struct fth_error *err)
{
	struct fth_pack_problem p = {0};
	struct fth_pack_options o = options ? *options : (struct fth_pack_options){0};
	struct fth_layout start = {.method = o.start_method ? o.start_method : "start"};
	struct fth_pack_outcome outcome = {.plan.method = "nothing to pack"};
	*ret = (struct fth_pack_result){0};
	list_types(&p, c);
	int r = make_groups(&p, c, kinds, items, nitems, err);
	if (!r)
		drop_types(&p);
	bool has_start = o.start != NULL;
	if (!r && has_start)
		r = read_start(&p, nitems, o.start, &start, &has_start, err);
	if (!r && p.ngroups)
		r = fth_pack_search(&p, has_start ? &start : NULL, o.max_work ? o.max_work : DEFAULT_WORK, &outcome, err);
	if (!r) {
		write_plan(&p, &outcome.plan, items, nitems, &ret->packing);
		report(&p, &outcome, ret);
	}
	fth_layout_release(&outcome.plan);
	fth_layout_release(&start);
	problem_release(&p);
	return r;
}

void fth_pack_result_release(struct fth_pack_result *r)
{
	fth_vec_release(&r->packing.bins);
	fth_vec_release(&r->packing.items);
	*r = (struct fth_pack_result){0};
}
