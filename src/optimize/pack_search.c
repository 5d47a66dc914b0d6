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

enum { DIVE_NODES = 300, DIVE_ROUNDS = 3, MAX_WEIGHT = 10000 };

static const struct fth_config_effort EFFORT = {.quick_nodes = 2000, .exact_nodes = 3000000, .rounds = 3000};

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
	uint64_t nodes;
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
	fth_config_lp_fix(&s->lp, c, (double)n);
}

/* Fix whole parts; when there are none, round the largest fraction up. False: nothing left to fix. */
static bool fix_some(struct search *s)
{
	bool any = false;
	uint32_t best = FTH_NONE;
	double most = 1e-6;
	while (s->fixed.len < s->lp.configs.len)
		fth_vec_push(&s->fixed, (int64_t)0);
	for (uint32_t c = 0; c < s->lp.configs.len; c++) {
		double x = fth_config_lp_amount(&s->lp, c), whole = floor(x + 1e-6);
		if (!s->lp.configs.data[c].n)
			continue;
		if (whole > (double)s->fixed.data[c]) {
			fix(s, c, (int64_t)whole);
			any = true;
		}
		if (x - whole > most) {
			most = x - whole;
			best = c;
		}
	}
	if (any || best == FTH_NONE)
		return any;
	fix(s, best, s->fixed.data[best] + 1);
	return true;
}

/* Columns for what is left, priced with the duals of the present LP. */
static bool resolve(struct search *s)
{
	int64_t *limit = fth_alloc((s->p->ngroups + 1) * sizeof(*limit));
	for (uint32_t g = 0; g < s->p->ngroups; g++)
		limit[g] = FTH_MAX(s->left[g], 0);
	int r = fth_lp_solve(s->lp.lp);
	for (int k = 0; k < DIVE_ROUNDS && !r; k++) {
		fth_config_lp_read_duals(&s->lp);
		if (!fth_config_lp_price(&s->lp, limit, DIVE_NODES))
			break;
		r = fth_lp_solve(s->lp.lp);
	}
	free(limit);
	return !r || r == -EAGAIN;
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

static void dive(struct search *s)
{
	struct fth_layout plan = {.method = "column-generation"};
	int64_t *need = fth_alloc((s->p->ngroups + 1) * sizeof(*need));
	int64_t *value = fth_alloc((s->p->ngroups + 1) * sizeof(*value));
	bool hopeful = true;
	fth_config_lp_read_duals(&s->lp);
	memcpy(value, s->lp.value, s->p->ngroups * sizeof(*value));
	memcpy(s->left, s->p->count, s->p->ngroups * sizeof(*need));
	fth_vec_clear(&s->fixed);
	while (hopeful && fix_some(s)) {
		hopeful = resolve(s);
		hopeful &= fth_lp_objective(s->lp.lp) * 1e9 < (double)s->best.cost;
	}
	if (hopeful) {
		gather(s, need, &plan);
		fth_layout_greedy(s->p, &s->lp, value, need, &plan);
		fth_layout_improve(s->p, &plan);
		offer_plan(s, &plan);
	}
	for (uint32_t c = 0; c < s->fixed.len; c++)
		fth_config_lp_fix(&s->lp, c, 0);
	fth_layout_release(&plan);
	free(need);
	free(value);
}

/* ---- the tree ---- */

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

/* The sum farthest from a whole number, families before types; FTH_NONE: all are whole. */
static uint32_t choose_sum(const struct search *s, double *ret_value)
{
	uint32_t best = FTH_NONE;
	double most = 1e-5;
	for (uint32_t k = 0; k < s->lp.nsums; k++) {
		if (k == s->nfamilies && best != FTH_NONE)
			break;
		double x = fth_config_lp_sum(&s->lp, k), off = fabs(x - floor(x + 0.5));
		if (off > most) {
			most = off;
			best = k;
			*ret_value = x;
		}
	}
	return best;
}

static int expand(struct search *s, struct node *n)
{
	fth_price bound;
	double x = 0;
	s->nodes++;
	int r = fth_config_lp_solve(&s->lp, n->lo, n->hi, s->best.cost, &EFFORT, &bound);
	if (r)
		return r;
	bound = FTH_MAX(bound, n->bound);
	if (bound >= s->best.cost)
		return 0;
	uint32_t sum = choose_sum(s, &x);
	dive(s);
	if (bound >= s->best.cost)
		return 0;
	if (sum == FTH_NONE) {
		s->stuck = FTH_MIN(s->stuck, bound);
		return 0;
	}
	push_node(s, n, bound, sum, FTH_NO_BOUND, (int64_t)floor(x));
	push_node(s, n, bound, sum, (int64_t)floor(x) + 1, FTH_NO_BOUND);
	return 0;
}

static fth_price tree_bound(const struct search *s)
{
	fth_price bound = FTH_MIN(s->best.cost, s->stuck);
	for (size_t i = 0; i < s->open.len; i++)
		bound = FTH_MIN(bound, s->open.data[i].bound);
	return bound;
}

/* ---- setting up ---- */

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

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
			unit = gcd(unit, p->price[k]);
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

int fth_pack_search(const struct fth_pack_problem *p, const struct fth_layout *start, uint32_t max_nodes,
		    struct fth_pack_outcome *ret, struct fth_error *err)
{
	struct search s = {.p = p, .stuck = INT64_MAX};
	uint32_t nsums;
	int64_t *weight = build_sums(p, &s.nfamilies, &nsums);
	int r = fth_config_lp_init(&s.lp, p->ngroups, p->count, p->ntypes, p->capacity, p->price, p->demand, p->usable,
				   nsums, weight, err);
	free(weight);
	s.left = fth_alloc((p->ngroups + 1) * sizeof(*s.left));
	if (!r) {
		first_plans(&s, start);
		push_node(&s, NULL, 0, 0, FTH_NO_BOUND, FTH_NO_BOUND);
	}
	while (!r && s.open.len && s.nodes < max_nodes && tree_bound(&s) < s.best.cost) {
		struct node n = pop_node(&s);
		r = expand(&s, &n);
		if (r)
			fth_fail(err, r, "configuration LP: %s", strerror(-r));
	}
	if (!r)
		*ret = (struct fth_pack_outcome){
			.plan = s.best,
			.lower_bound = tree_bound(&s),
			.columns = s.lp.configs.len,
			.nodes = s.nodes,
			.pricing_nodes = s.lp.pricing_nodes,
			.lp_steps = fth_lp_steps(s.lp.lp),
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
