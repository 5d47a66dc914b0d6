/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch and price. Nodes are bounds on sums of machine counts: of each family in units of its prices'
 * common divisor (so that the bound of a child rises by whole units of money), then of each type. At every
 * node a dive rounds the LP to a plan. The node of least bound goes first; the tree's lower bound is
 * the least of the nodes not closed. A node whose counts are whole but whose dive found nothing at its bound
 * stays open, and then the answer keeps a gap: nothing is claimed that was not proven.
 */
#include <math.h>

#include "optimize/pack_internal.h"

enum { DIVE_NODES = 300, DIVE_ROUNDS = 20, MAX_WEIGHT = 10000, MANY_TRIES = 10, MAX_REPLACED = 8 };

static const struct fth_config_effort EFFORT = {.quick_nodes = 2000, .exact_nodes = 1000000, .rounds = 3000};

struct node {
	fth_price bound;
	int64_t *lo, *hi;
};

struct search {
	const struct fth_pack_problem *p;
	struct fth_config_lp lp;
	struct fth_layout best;
	struct fth_arena arena;
	FTH_VEC(struct node) open;
	FTH_VEC(int64_t) fixed; /* by config, within a dive */
	int64_t *left;          /* by group */
	fth_price stuck;        /* least bound of nodes that could not be split */
	uint32_t nfamilies;     /* sums of families come first */
	int64_t *most;          /* by sum: some cheapest plan has no more; */
	int64_t *hi;            /* these and the bounds of the node in hand */
	fth_price dearest;
	struct fth_rng rng;     /* for further tries of a dive; always the same seed */
	uint64_t nodes, max_work;
};

/* ---- the dive ---- */

/* Keep the better plan; the other is freed, and plan is empty either way. */
static void offer_plan(struct search *s, struct fth_layout *plan)
{
	if (!s->best.bins.data || plan->cost < s->best.cost) {
		fth_layout_release(&s->best);
		s->best = *plan;
		*plan = (struct fth_layout){0};
	}
	fth_layout_release(plan);
}

static void fix(struct search *s, uint32_t c, int64_t n)
{
	const struct fth_config *k = &s->lp.configs.data[c];
	for (uint32_t i = 0; i < k->n; i++) {
		struct fth_filling f = s->lp.parts.data[k->first + i];
		s->left[f.item] -= (n - s->fixed.data[c]) * f.copies;
	}
	s->fixed.data[c] = n;
	fth_config_lp_fix(&s->lp, c, (double)n, INFINITY);
}

/* The first step of a dive: whole parts at once, in later tries one or two less, so that more is left to
 * choose from. False: no config has a whole part. */
static bool fix_whole(struct search *s, uint32_t attempt)
{
	bool any = false;
	for (uint32_t c = 0; c < s->lp.configs.len; c++) {
		double whole = floor(fth_config_lp_amount(&s->lp, c) + 1e-6);
		if (attempt)
			whole -= (double)fth_rng_below(&s->rng, 3);
		if (s->lp.configs.data[c].n && whole >= 1) {
			fix(s, c, (int64_t)whole);
			any = true;
		}
	}
	return any;
}

/* A further step: one config, whole amounts before fractions, large machines before small ones (the last
 * gaps are best closed by small ones); later tries take another order. False: nothing left to fix. */
static bool fix_one(struct search *s, uint32_t attempt)
{
	uint32_t best = FTH_NONE;
	double most = 0;
	for (uint32_t c = 0; c < s->lp.configs.len; c++) {
		double more = fth_config_lp_amount(&s->lp, c) - (double)s->fixed.data[c];
		if (!s->lp.configs.data[c].n || more < 1e-6)
			continue;
		double size = (double)s->p->price[s->lp.configs.data[c].type] / (double)s->dearest;
		double score = FTH_MIN(more, 1.0) + (more > 1 - 1e-6 ? 1 : 0) + 0.5 * size;
		if (attempt)
			score += fth_rng_real(&s->rng);
		if (best == FTH_NONE || score > most) {
			best = c;
			most = score;
		}
	}
	if (best == FTH_NONE)
		return false;
	double more = floor(fth_config_lp_amount(&s->lp, best) + 1e-6) - (double)s->fixed.data[best];
	fix(s, best, s->fixed.data[best] + (int64_t)FTH_MAX(more, 1.0));
	return true;
}

static bool fix_some(struct search *s, uint32_t attempt, uint32_t step)
{
	while (s->fixed.len < s->lp.configs.len)
		fth_vec_push(&s->fixed, (int64_t)0);
	return (step == 0 && fix_whole(s, attempt)) || fix_one(s, attempt);
}

/* Configs with more copies of a group than are left would be bought for a part of them: not any more. */
static void close_improper(struct search *s)
{
	for (uint32_t c = 0; c < s->lp.configs.len; c++) {
		const struct fth_config *k = &s->lp.configs.data[c];
		bool proper = true;
		for (uint32_t i = 0; i < k->n && proper; i++) {
			struct fth_filling f = s->lp.parts.data[k->first + i];
			proper = f.copies <= s->left[f.item];
		}
		if (!proper)
			fth_config_lp_fix(&s->lp, c, (double)s->fixed.data[c], (double)s->fixed.data[c]);
	}
}

/* Columns for what is left, priced with the duals of the present LP. False: no better plan down here. */
static bool resolve(struct search *s)
{
	close_improper(s);
	int64_t *limit = fth_alloc((s->p->ngroups + 1) * sizeof(*limit));
	for (uint32_t g = 0; g < s->p->ngroups; g++)
		limit[g] = FTH_MAX(s->left[g], 0);
	int r = fth_lp_solve(s->lp.lp);
	bool done = false;
	for (int k = 0; k < DIVE_ROUNDS && !r && !done; k++) {
		fth_config_lp_read_duals(&s->lp);
		done = !fth_config_lp_price(&s->lp, limit, DIVE_NODES);
		if (!done)
			r = fth_lp_solve(s->lp.lp);
	}
	free(limit);
	/* Before pricing is done the LP may still lean on stand-ins, and its objective says little. */
	return !r && !(done && fth_lp_objective(s->lp.lp) * 1e9 >= (double)s->best.cost);
}

/* The fixed configs as a plan; copies beyond what is needed are left out. */
static void gather(struct search *s, int64_t *need, struct fth_layout *plan)
{
	struct fth_filling *parts = fth_alloc((s->p->ngroups + 1) * sizeof(*parts));
	memcpy(need, s->p->count, s->p->ngroups * sizeof(*need));
	for (uint32_t c = 0; c < s->fixed.len; c++) {
		struct fth_config k = s->lp.configs.data[c];
		int64_t rest = s->fixed.data[c];
		while (rest > 0) {
			int64_t times = rest;
			uint32_t n = 0;
			for (uint32_t i = 0; i < k.n; i++) {
				struct fth_filling f = s->lp.parts.data[k.first + i];
				times = FTH_MIN(times, need[f.item] / f.copies);
			}
			times = FTH_MAX(times, 1);
			for (uint32_t i = 0; i < k.n; i++) {
				struct fth_filling f = s->lp.parts.data[k.first + i];
				f.copies = (uint32_t)FTH_MIN((int64_t)f.copies, need[f.item]);
				need[f.item] -= f.copies * times;
				if (f.copies)
					parts[n++] = f;
			}
			if (n)
				fth_layout_add(s->p, plan, k.type, times, parts, n);
			rest -= times;
		}
	}
	free(parts);
}

static void dive(struct search *s, uint32_t attempt)
{
	struct fth_layout plan = {.method = "column-generation"};
	int64_t *need = fth_alloc((s->p->ngroups + 1) * sizeof(*need));
	int64_t *value = fth_alloc((s->p->ngroups + 1) * sizeof(*value));
	bool hopeful = true;
	fth_config_lp_read_duals(&s->lp);
	memcpy(value, s->lp.value, s->p->ngroups * sizeof(*value));
	memcpy(s->left, s->p->count, s->p->ngroups * sizeof(*need));
	fth_vec_clear(&s->fixed);
	for (uint32_t step = 0; hopeful && fix_some(s, attempt, step); step++)
		hopeful = resolve(s);
	if (hopeful) {
		gather(s, need, &plan);
		fth_layout_greedy(s->p, &s->lp, value, need, &plan);
		fth_layout_improve(s->p, &plan);
		offer_plan(s, &plan);
	}
	for (uint32_t c = 0; c < s->fixed.len; c++)
		fth_config_lp_fix(&s->lp, c, 0, INFINITY);
	fth_layout_release(&plan);
	free(need);
	free(value);
}

/* ---- the tree ---- */

/* Dive from a node's solution, several times if need be; free to have many small machines on the way, since
 * plans are improved afterwards. */
static void dive_all(struct search *s, const struct node *n, fth_price bound, uint32_t tries)
{
	fth_price ignored;
	for (uint32_t k = 0; k < tries && bound < s->best.cost && (!k || fth_config_lp_work(&s->lp) < s->max_work); k++) {
		if (fth_config_lp_solve(&s->lp, n->lo, n->hi, s->best.cost, &EFFORT, &ignored))
			return;
		dive(s, k);
	}
}

static void push_node(struct search *s, const struct node *parent, fth_price bound, uint32_t sum, int64_t lo, int64_t hi)
{
	size_t size = (s->lp.nsums + 1) * sizeof(int64_t);
	struct node n = {bound, fth_arena_alloc(&s->arena, size), fth_arena_alloc(&s->arena, size)};
	for (uint32_t k = 0; k < s->lp.nsums; k++) {
		n.lo[k] = parent ? parent->lo[k] : FTH_NO_BOUND;
		n.hi[k] = parent ? parent->hi[k] : FTH_NO_BOUND;
	}
	if (lo != FTH_NO_BOUND)
		n.lo[sum] = lo;
	if (hi != FTH_NO_BOUND)
		n.hi[sum] = hi;
	fth_vec_push(&s->open, n);
}

/* Of least bound; the youngest of equals. */
static struct node pop_node(struct search *s)
{
	size_t best = s->open.len - 1;
	for (size_t i = s->open.len; i-- > 0;)
		if (s->open.data[i].bound < s->open.data[best].bound)
			best = i;
	struct node n = s->open.data[best];
	memmove(s->open.data + best, s->open.data + best + 1, (s->open.len - best - 1) * sizeof(n));
	s->open.len--;
	return n;
}

/* What one unit of a sum costs. */
static double sum_price(const struct search *s, uint32_t k)
{
	const int64_t *w = s->lp.weight + (size_t)k * s->p->ntypes;
	uint32_t t = 0;
	while (!w[t])
		t++;
	return fth_usd(s->p->price[t]) / (double)w[t];
}

/* The sum whose distance from a whole number is worth most, families before types; FTH_NONE: all are whole. */
static uint32_t choose_sum(const struct search *s, double *ret_value)
{
	uint32_t best = FTH_NONE;
	double most = 0;
	for (uint32_t k = 0; k < s->lp.nsums; k++) {
		if (k == s->nfamilies && best != FTH_NONE)
			break;
		double x = fth_config_lp_sum(&s->lp, k), off = fabs(x - floor(x + 0.5));
		if (off > 1e-5 && off * sum_price(s, k) > most) {
			most = off * sum_price(s, k);
			best = k;
			*ret_value = x;
		}
	}
	return best;
}

/*
 * Whether machine counts within the bounds of the types can meet those of the families. Families do not
 * overlap, so this is all there is to check: machines may be idle and stand-ins cover any group, hence a
 * node that passes has an LP solution.
 */
static bool node_possible(const struct search *s, const struct node *n)
{
	uint32_t types = s->p->ntypes;
	for (uint32_t t = 0; t < types; t++) {
		int64_t lo = n->lo[s->nfamilies + t], hi = s->hi[s->nfamilies + t];
		if (lo != FTH_NO_BOUND && lo > hi)
			return false;
	}
	for (uint32_t f = 0; f < s->nfamilies; f++) {
		__int128 least = 0, most = 0;
		for (uint32_t t = 0; t < types; t++) {
			int64_t w = s->lp.weight[(size_t)f * types + t];
			int64_t lo = n->lo[s->nfamilies + t], hi = s->hi[s->nfamilies + t];
			least += (__int128)w * (lo == FTH_NO_BOUND ? 0 : FTH_MAX(lo, 0));
			most += (__int128)w * hi;
		}
		if (least > s->hi[f] || (n->lo[f] != FTH_NO_BOUND && most < n->lo[f]))
			return false;
	}
	return true;
}

/* Solve a node; close it, split it, or note that it can be neither. */
static void expand(struct search *s, const struct node *n)
{
	fth_price bound = 0;
	double x = 0;
	s->nodes++;
	for (uint32_t k = 0; k < s->lp.nsums; k++)
		s->hi[k] = FTH_MIN(n->hi[k], s->most[k]);
	if (!node_possible(s, n))
		return;
	if (fth_config_lp_solve(&s->lp, n->lo, s->hi, s->best.cost, &EFFORT, &bound)) {
		/* Numbers too rough for the simplex: keep what the parent proved. */
		s->stuck = FTH_MIN(s->stuck, n->bound);
		return;
	}
	bound = FTH_MAX(bound, n->bound);
	if (bound >= s->best.cost)
		return;
	uint32_t sum = choose_sum(s, &x);
	dive_all(s, n, bound, sum == FTH_NONE || s->nodes == 1 ? MANY_TRIES : 1);
	if (bound >= s->best.cost)
		return;
	if (sum == FTH_NONE) {
		s->stuck = FTH_MIN(s->stuck, bound);
		return;
	}
	push_node(s, n, bound, sum, FTH_NO_BOUND, (int64_t)floor(x));
	push_node(s, n, bound, sum, (int64_t)floor(x) + 1, FTH_NO_BOUND);
}

static fth_price tree_bound(const struct search *s)
{
	fth_price bound = FTH_MIN(s->best.cost, s->stuck);
	for (size_t i = 0; i < s->open.len; i++)
		bound = FTH_MIN(bound, s->open.data[i].bound);
	return bound;
}

/* ---- setting up ---- */

/* Weights of the sums: families of several types whose prices have a fair common divisor, then types. */
static int64_t *build_sums(const struct fth_pack_problem *p, uint32_t *ret_families, uint32_t *ret_sums)
{
	int64_t *w = fth_alloc(((size_t)2 * p->ntypes * p->ntypes + 1) * sizeof(*w));
	uint32_t n = 0;
	for (uint32_t t = 0; t < p->ntypes; t++) {
		int64_t unit = 0, largest = 0;
		uint32_t members = 0, first = FTH_NONE;
		for (uint32_t k = 0; k < p->ntypes; k++) {
			if (p->family[k] != p->family[t])
				continue;
			first = FTH_MIN(first, k);
			unit = fth_gcd(unit, p->price[k]);
			largest = FTH_MAX(largest, p->price[k]);
			members++;
		}
		if (first != t || members < 2 || !unit || largest / unit > MAX_WEIGHT)
			continue;
		for (uint32_t k = 0; k < p->ntypes; k++)
			w[(size_t)n * p->ntypes + k] = p->family[k] == p->family[t] ? p->price[k] / unit : 0;
		n++;
	}
	*ret_families = n;
	for (uint32_t t = 0; t < p->ntypes; t++)
		w[(size_t)n++ * p->ntypes + t] = 1;
	*ret_sums = n;
	return w;
}

/* Whether k machines of type t can always give way to one of type `by`, for no more money. */
static bool replaces(const struct fth_pack_problem *p, uint32_t by, uint32_t t, int64_t k)
{
	if ((__int128)p->price[t] * k < p->price[by])
		return false;
	for (int r = 0; r < FTH_RES_MAX; r++)
		if ((__int128)p->capacity[t].v[r] * k > p->capacity[by].v[r])
			return false;
	for (uint32_t g = 0; g < p->ngroups; g++) {
		size_t a = (size_t)t * p->ngroups + g, b = (size_t)by * p->ngroups + g;
		if (p->usable[a] && (!p->usable[b] || !fth_res_fits(&p->demand[b], &p->demand[a])))
			return false;
	}
	return true;
}

/* Where k of a type can give way to one of another, some cheapest plan has fewer than k of it (giving way
 * leaves fewer machines, so it ends). Without this the tree would walk through plans that only differ in how
 * the same money is split into machines. */
static void find_replaceable(struct search *s)
{
	const struct fth_pack_problem *p = s->p;
	for (uint32_t k = 0; k < s->lp.nsums; k++)
		s->most[k] = FTH_NO_BOUND;
	for (uint32_t t = 0; t < p->ntypes; t++)
		for (int64_t k = 2; k <= MAX_REPLACED && s->most[s->nfamilies + t] == FTH_NO_BOUND; k++)
			for (uint32_t by = 0; by < p->ntypes; by++)
				if (by != t && replaces(p, by, t, k))
					s->most[s->nfamilies + t] = k - 1;
}

/* Each group alone on its cheapest type, as many as fit: a first solution of the LP. */
static void add_single_configs(struct search *s)
{
	const struct fth_pack_problem *p = s->p;
	int64_t *value = fth_alloc((p->ngroups + 1) * sizeof(*value));
	for (uint32_t g = 0; g < p->ngroups; g++) {
		value[g] = 1;
		for (uint32_t t = 0; t < p->ntypes; t++) {
			struct fth_priced out;
			if (p->price[t] != s->lp.worth_most[g])
				continue;
			fth_pricer_solve(s->lp.types[t].pricer, value, p->count, 0, 10, &out);
			if (out.found)
				fth_config_lp_add(&s->lp, t, (struct fth_filling *)out.parts, out.nparts);
		}
		value[g] = 0;
	}
	free(value);
}

static void add_plan_configs(struct search *s, const struct fth_layout *plan)
{
	for (size_t i = 0; i < plan->bins.len; i++) {
		const struct fth_layout_bin *b = &plan->bins.data[i];
		fth_config_lp_add(&s->lp, b->type, plan->parts.data + b->first, b->n);
	}
}

static void first_plans(struct search *s, const struct fth_layout *start)
{
	struct fth_layout copy = {0}, greedy = {.method = "greedy"};
	if (start) {
		copy.method = start->method;
		for (size_t i = 0; i < start->bins.len; i++) {
			const struct fth_layout_bin *b = &start->bins.data[i];
			fth_layout_add(s->p, &copy, b->type, b->repeat, start->parts.data + b->first, b->n);
		}
		offer_plan(s, &copy);
	}
	memcpy(s->left, s->p->count, s->p->ngroups * sizeof(*s->left));
	fth_layout_greedy(s->p, &s->lp, s->lp.worth_most, s->left, &greedy);
	fth_layout_improve(s->p, &greedy);
	offer_plan(s, &greedy);
	add_single_configs(s);
	add_plan_configs(s, &s->best);
}

int fth_pack_search(const struct fth_pack_problem *p, const struct fth_layout *start, uint64_t max_work,
		    struct fth_pack_outcome *ret, struct fth_error *err)
{
	struct search s = {.p = p, .stuck = INT64_MAX, .max_work = max_work};
	uint32_t nsums;
	int64_t *weight = build_sums(p, &s.nfamilies, &nsums);
	int r = fth_config_lp_init(&s.lp, p->ngroups, p->count, p->ntypes, p->capacity, p->price, p->demand, p->usable,
				   nsums, weight, err);
	free(weight);
	s.left = fth_alloc((p->ngroups + 1) * sizeof(*s.left));
	fth_rng_seed(&s.rng, 1, 0, 0);
	s.dearest = 1;
	for (uint32_t t = 0; t < p->ntypes; t++)
		s.dearest = FTH_MAX(s.dearest, p->price[t]);
	if (!r) {
		s.most = fth_arena_alloc(&s.arena, (nsums + 1) * sizeof(*s.most));
		s.hi = fth_arena_alloc(&s.arena, (nsums + 1) * sizeof(*s.hi));
		find_replaceable(&s);
		first_plans(&s, start);
		push_node(&s, NULL, 0, 0, FTH_NO_BOUND, FTH_NO_BOUND);
	}
	while (!r && s.open.len && tree_bound(&s) < s.best.cost && fth_config_lp_work(&s.lp) < s.max_work) {
		struct node n = pop_node(&s);
		expand(&s, &n);
	}
	if (!r)
		*ret = (struct fth_pack_outcome){
			.plan = s.best,
			.lower_bound = tree_bound(&s),
			.columns = s.lp.configs.len,
			.nodes = s.nodes,
			.pricing_nodes = s.lp.pricing_nodes,
			.lp_steps = fth_lp_steps(s.lp.lp),
			.work = fth_config_lp_work(&s.lp),
		};
	else
		fth_layout_release(&s.best);
	fth_config_lp_release(&s.lp);
	fth_arena_release(&s.arena);
	fth_vec_release(&s.open);
	fth_vec_release(&s.fixed);
	free(s.left);
	return r;
}
