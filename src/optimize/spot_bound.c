/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proven lower bound of the cost of a pool.
 *
 * Machines are taken as divisible: x_i is the share of the capacity that kind i holds, at s_i dollars for all of it. A set of
 * kinds is critical in a pool if losing it leaves less than the capacity, else it is safe, which is a linear condition: the kinds
 * outside the set hold at least 1. Whatever contains a critical set is critical, and the pool misses its target exactly when
 * the kinds that are down contain a critical set with more than the allowed probability.
 *
 * So: solve the linear programme of the sets that are known to be safe. If its pool meets the target, the cost is the bound. If
 * not, take its critical sets by falling probability until together they are too probable: every pool that meets the target
 * has one of them safe. Branch: the first is safe; or the first is critical and the second safe; and so on. Best bound first. The
 * tree may be left at any time: the least bound of its open nodes is proven.
 *
 * Unions of events are estimated from below (Bonferroni), linear programmes lowered by a rounding margin: errors make the bound
 * weaker, never wrong. With offers that fall together, only sets of a probability known to be too high are used, as cuts.
 */
#include <math.h>

#include "optimize/lp.h"
#include "optimize/spot.h"
#include "optimize/spot_internal.h"

enum { SET_MAX = 6, SAFE_MAX = 512, CRITICAL_MAX = 512, BAD_MAX = 512, DEFAULT_NODES = 1500, WORK_PER_NODE = 4000, MUST_MAX = 400, IDLE_SOLVES = 40 };

static const double MARGIN = 1 + 1e-9; /* of a probability that is surely above another */

struct set {
	double prob; /* that all of it is down */
	uint32_t n;
	uint32_t kind[SET_MAX];
	uint64_t used; /* the last programme that it decided */
};

struct node {
	double bound;
	uint32_t parent;                    /* FTH_NONE: the root */
	uint32_t first_critical, ncritical; /* sets declared critical here */
	uint32_t safe;                      /* set declared safe here; FTH_NONE at the root */
	uint32_t depth;
};

struct tree {
	const struct fth_spot_problem *p;
	double *unit;    /* dollars for the whole capacity held by this kind */
	double *q;
	double *mem;     /* share of the memory wanted that the whole capacity held by this kind brings */
	double budget;   /* probability of falling short that is allowed */
	FTH_VEC(struct set) sets;
	FTH_VEC(struct node) nodes;
	FTH_VEC(uint32_t) open; /* heap by bound, then number */
	/* Of the node at hand. */
	uint32_t safe[SAFE_MAX], nsafe;
	uint32_t critical[CRITICAL_MAX], ncritical;
	uint32_t *col;   /* kinds that may be in its programme */
	uint32_t ncols;
	bool stands;     /* the last column stands for all kinds that are in no set */
	double *x;       /* by column */
	struct set bad[BAD_MAX];
	uint32_t nbad;
	FTH_VEC(uint32_t) must; /* sets that are too probable by themselves: safe in every pool that meets the target */
	uint32_t *at;    /* a programme's column while it is made */
	double *coef;
	uint64_t nsolved;
	uint64_t work; /* done, in units of about a row of a programme times a column */
};

/* ---- the open nodes ---- */

static bool sooner(const struct tree *t, uint32_t a, uint32_t b)
{
	const struct node *x = &t->nodes.data[a], *y = &t->nodes.data[b];
	if (x->bound != y->bound)
		return x->bound < y->bound;
	return a > b; /* the newer: deeper, nearer to an answer */
}

static void heap_push(struct tree *t, uint32_t n)
{
	fth_vec_push(&t->open, n);
	for (size_t i = t->open.len - 1; i && sooner(t, t->open.data[i], t->open.data[(i - 1) / 2]); i = (i - 1) / 2) {
		uint32_t s = t->open.data[i];
		t->open.data[i] = t->open.data[(i - 1) / 2];
		t->open.data[(i - 1) / 2] = s;
	}
}

static uint32_t heap_pop(struct tree *t)
{
	uint32_t top = t->open.data[0];
	t->open.data[0] = t->open.data[--t->open.len];
	for (size_t i = 0;;) {
		size_t least = i;
		for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < t->open.len && sooner(t, t->open.data[c], t->open.data[least]))
				least = c;
		if (least == i)
			return top;
		uint32_t s = t->open.data[i];
		t->open.data[i] = t->open.data[least];
		t->open.data[least] = s;
		i = least;
	}
}

/* ---- a node's linear programme ---- */

static bool in_set(const struct set *s, uint32_t kind)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->kind[i] == kind)
			return true;
	return false;
}

static bool contains(const struct set *big, const struct set *small)
{
	for (uint32_t i = 0; i < small->n; i++)
		if (!in_set(big, small->kind[i]))
			return false;
	return true;
}

/* A set within a safe one is safe, one that holds a critical one is critical: those say nothing new. */
static void add_safe(struct tree *t, uint32_t set)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < t->nsafe; i++)
		if (contains(&t->sets.data[t->safe[i]], &t->sets.data[set]))
			return;
	for (uint32_t i = 0; i < t->nsafe; i++)
		if (!contains(&t->sets.data[set], &t->sets.data[t->safe[i]]))
			t->safe[kept++] = t->safe[i];
	t->nsafe = kept;
	t->safe[t->nsafe++] = set;
}

static void add_critical(struct tree *t, uint32_t set)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < t->ncritical; i++)
		if (contains(&t->sets.data[set], &t->sets.data[t->critical[i]]))
			return;
	for (uint32_t i = 0; i < t->ncritical; i++)
		if (!contains(&t->sets.data[t->critical[i]], &t->sets.data[set]))
			t->critical[kept++] = t->critical[i];
	t->ncritical = kept;
	t->critical[t->ncritical++] = set;
}

/* The decisions on the way to a node. False: there are more than we keep, the node is left as it is. */
static bool gather(struct tree *t, uint32_t n)
{
	t->nsafe = t->ncritical = 0;
	for (size_t i = 0; i < t->must.len; i++)
		t->safe[t->nsafe++] = t->must.data[i];
	for (; n != FTH_NONE; n = t->nodes.data[n].parent) {
		const struct node *node = &t->nodes.data[n];
		if (t->nsafe == SAFE_MAX || t->ncritical + node->ncritical > CRITICAL_MAX)
			return false;
		if (node->safe != FTH_NONE)
			add_safe(t, node->safe);
		for (uint32_t i = 0; i < node->ncritical; i++)
			add_critical(t, node->first_critical + i);
	}
	return true;
}

static bool mentioned(const struct tree *t, uint32_t kind)
{
	for (uint32_t s = 0; s < t->nsafe; s++)
		if (in_set(&t->sets.data[t->safe[s]], kind))
			return true;
	return false;
}

/* Kinds in none of the sets are alike to the programme but for their price (and memory): the cheapest stands for all. */
static void choose_columns(struct tree *t)
{
	uint32_t cheapest = FTH_NONE;
	t->ncols = 0;
	for (uint32_t i = 0; i < t->p->noffers; i++) {
		if (t->p->memory || mentioned(t, i))
			t->col[t->ncols++] = i;
		else if (cheapest == FTH_NONE || t->unit[i] < t->unit[cheapest])
			cheapest = i;
	}
	t->stands = cheapest != FTH_NONE;
	if (t->stands)
		t->col[t->ncols++] = cheapest;
}

/*
 * Of two kinds, the one no dearer, no less available (and with no less memory) holds at least as much as the other: exchanging their
 * shares would not hurt, so some cheapest pool is like that for all pairs at once. Equal ones go by number.
 */
static bool dominates(const struct tree *t, uint32_t a, uint32_t b)
{
	if (t->unit[a] > t->unit[b] || t->q[a] > t->q[b] || t->mem[a] < t->mem[b])
		return false;
	return t->unit[a] < t->unit[b] || t->q[a] < t->q[b] || t->mem[a] > t->mem[b] || a < b;
}

/* A price for each pair of kinds of which one holds at least as much as the other, where none is between them. */
static void add_links(struct tree *t, struct fth_lp *lp)
{
	uint32_t n = t->ncols - t->stands;
	for (uint32_t b = 0; b < n && !t->p->joint; b++)
		for (uint32_t a = 0; a < n; a++) {
			bool near = dominates(t, t->col[a], t->col[b]);
			for (uint32_t c = 0; c < n && near; c++)
				near = !(dominates(t, t->col[a], t->col[c]) && dominates(t, t->col[c], t->col[b]));
			if (near)
				fth_lp_add_col(lp, 0, (uint32_t[]){a, b}, (double[]){1, -1}, 2);
		}
}

/*
 * Cost of the cheapest divisible pool in which the node's safe sets are safe; INFINITY: there is none. Negative: not solved.
 *
 * What is solved is the dual: a price y_s for each set's being safe, such that no kind is worth more than it costs; the shares are
 * its duals. There are many more sets than kinds in them, and any prices that keep to the costs prove a bound.
 */
static double solve(struct tree *t)
{
	choose_columns(t);
	uint32_t n, *at = t->at;
	double *coef = t->coef;
	struct fth_lp *lp = fth_lp_new(t->ncols);
	for (uint32_t c = 0; c < t->ncols; c++) {
		fth_lp_set_row(lp, c, -INFINITY, t->unit[t->col[c]]);
		at[c] = c;
		coef[c] = 1;
	}
	fth_lp_add_col(lp, -1, at, coef, t->ncols); /* nothing lost: the capacity is there */
	for (uint32_t s = 0; s < t->nsafe; s++) {
		n = 0;
		for (uint32_t c = 0; c < t->ncols; c++)
			if (!in_set(&t->sets.data[t->safe[s]], t->col[c])) {
				at[n] = c;
				coef[n++] = 1;
			}
		fth_lp_add_col(lp, -1, at, coef, n);
	}
	n = 0;
	for (uint32_t c = 0; c < t->ncols && t->p->memory; c++)
		if (t->mem[t->col[c]] > 0) {
			at[n] = c;
			coef[n++] = t->mem[t->col[c]];
		}
	if (t->p->memory)
		fth_lp_add_col(lp, -1, at, coef, n);
	add_links(t, lp);
	int r = fth_lp_solve(lp);
	t->work += (uint64_t)t->ncols * (t->ncols + t->nsafe) + 1000;
	double cost = r == -ERANGE ? INFINITY : r ? -1 : -fth_lp_objective(lp);
	for (uint32_t c = 0; c < t->ncols; c++)
		t->x[c] = r ? 0 : FTH_MAX(-fth_lp_dual(lp, c), 0);
	t->nsolved++;
	for (uint32_t s = 0; s < t->nsafe && !r; s++)
		if (fth_lp_value(lp, s + 1) > 0)
			t->sets.data[t->safe[s]].used = t->nsolved;
	fth_lp_free(lp);
	return cost;
}

/* ---- the critical sets of a solution ---- */

/* Sets of exactly `size` kinds of the support, from place `from`, that leave less than the capacity. */
static void find_bad(struct tree *t, struct set *s, uint32_t size, uint32_t from, double left, double least)
{
	if (t->nbad == BAD_MAX)
		return;
	t->work++;
	if (s->n == size) {
		if (left >= 1 - 1e-7)
			return;
		for (uint32_t b = 0; b < t->nbad; b++)
			if (contains(s, &t->bad[b]))
				return; /* not minimal */
		t->bad[t->nbad++] = *s;
		return;
	}
	for (uint32_t c = from; c < t->ncols; c++) {
		uint32_t kind = t->col[c];
		double prob = s->prob * t->q[kind];
		if (t->x[c] <= 1e-9 || prob < least)
			continue;
		struct set more = *s;
		more.kind[more.n++] = kind;
		more.prob = prob;
		find_bad(t, &more, size, c + 1, left - t->x[c], least);
	}
}

static int by_falling_probability(const void *a, const void *b)
{
	const struct set *x = a, *y = b;
	if (x->prob != y->prob)
		return x->prob > y->prob ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return memcmp(x->kind, y->kind, x->n * sizeof(x->kind[0]));
}

static double both_down(const struct tree *t, const struct set *a, const struct set *b)
{
	double prob = a->prob;
	for (uint32_t i = 0; i < b->n; i++)
		if (!in_set(a, b->kind[i]))
			prob *= t->q[b->kind[i]];
	return prob;
}

/* The union of the node's critical sets and the first n of its bad ones, from below. */
struct sum {
	const struct set *part[CRITICAL_MAX + BAD_MAX];
	uint32_t n;
	double prob;
};

static void sum_add(const struct tree *t, struct sum *u, const struct set *s)
{
	double add = s->prob;
	for (uint32_t i = 0; i < u->n && add > 0; i++)
		add -= both_down(t, s, u->part[i]);
	u->part[u->n++] = s;
	if (add > 0) /* leaving a term out leaves a lower estimate only if it does not lower it: the sum of the others stands */
		u->prob += add;
	else
		u->n--;
}

/* How many of the bad sets, most probable first, are too probable together; 0: all of them are not (or we cannot tell). */
static uint32_t too_many(struct tree *t)
{
	if (t->p->joint)
		return t->nbad && t->bad[0].prob > t->budget * MARGIN ? 1 : 0;
	struct sum u = {.n = 0};
	for (uint32_t i = 0; i < t->ncritical; i++)
		sum_add(t, &u, &t->sets.data[t->critical[i]]);
	for (uint32_t b = 0; b < t->nbad; b++) {
		sum_add(t, &u, &t->bad[b]);
		if (u.prob > t->budget * MARGIN)
			return b + 1;
	}
	return 0;
}

/* The minimal critical sets of the solution, small ones first, until they are too probable together. Returns how many of them,
 * most probable first, are; 0: all of them are not (or we cannot tell). */
static uint32_t critical_sets(struct tree *t)
{
	double total = 0;
	uint32_t count = 0;
	t->nbad = 0;
	for (uint32_t c = 0; c < t->ncols; c++)
		total += t->x[c];
	for (uint32_t size = 1; size <= SET_MAX && !count && t->nbad < BAD_MAX; size++) {
		struct set none = {.prob = 1};
		uint32_t before = t->nbad;
		find_bad(t, &none, size, 0, total, t->budget * 1e-3);
		if (t->p->joint)
			for (uint32_t b = before; b < t->nbad; b++)
				t->bad[b].prob = fth_joint_all_down(t->p->joint, t->bad[b].kind, t->bad[b].n, t->p->failure);
		qsort(t->bad, t->nbad, sizeof(*t->bad), by_falling_probability);
		count = too_many(t);
	}
	return count;
}

/* ---- the tree ---- */

static void branch(struct tree *t, uint32_t n, uint32_t count)
{
	uint32_t first = (uint32_t)t->sets.len;
	struct node from = t->nodes.data[n];
	for (uint32_t i = 0; i < count; i++)
		fth_vec_push(&t->sets, t->bad[i]);
	for (uint32_t i = 0; i < count; i++) {
		struct node child = {.bound = from.bound, .parent = n, .first_critical = first, .ncritical = i, .safe = first + i,
				     .depth = from.depth + 1};
		fth_vec_push(&t->nodes, child);
		heap_push(t, (uint32_t)t->nodes.len - 1);
	}
}

/* Does the node's divisible pool meet the target? Shares become whole numbers of a fine grain, rounded up by less than a grain. */
static bool meets(const struct tree *t)
{
	enum { GRAIN = 1 << 30 };
	struct fth_pool_part parts[64];
	uint32_t n = 0;
	for (uint32_t c = 0; c < t->ncols; c++) {
		if (t->x[c] <= 1e-9)
			continue;
		if (n == FTH_COUNT(parts))
			return false;
		struct fth_pool_part part = {(uint64_t)ceil(t->x[c] * GRAIN), 1 - t->q[t->col[c]]};
		uint32_t k = n++;
		for (; k && parts[k - 1].weight < part.weight; k--)
			parts[k] = parts[k - 1];
		parts[k] = part;
	}
	double bad = fth_pool_shortfall(parts, n, GRAIN - 64, t->budget * 1e-9, t->budget, 100000);
	return bad >= 0 && bad <= t->budget;
}

/* The bad sets that are too probable each by itself become known as safe, in all nodes; those that have not decided anything for
 * long are forgotten (and found again if need be). */
static bool learn_must(struct tree *t)
{
	uint32_t n = 0, kept = 0;
	while (n < t->nbad && t->bad[n].prob > t->budget * MARGIN)
		n++;
	for (size_t i = 0; i < t->must.len; i++) {
		const struct set *old = &t->sets.data[t->must.data[i]];
		bool within = false;
		for (uint32_t b = 0; b < n && !within; b++)
			within = contains(&t->bad[b], old);
		if (!within && old->used + IDLE_SOLVES > t->nsolved)
			t->must.data[kept++] = t->must.data[i];
	}
	t->must.len = kept;
	for (uint32_t b = 0; b < n && t->must.len < MUST_MAX; b++) {
		t->bad[b].used = t->nsolved;
		fth_vec_push(&t->must, (uint32_t)t->sets.len);
		fth_vec_push(&t->sets, t->bad[b]);
	}
	return n && kept < MUST_MAX;
}

/* Solve a node, with all the sets that its pool must not lose. Returns its cost as solve() does; ret_count: what critical_sets() says. */
static double solve_node(struct tree *t, uint32_t n, uint32_t *ret_count)
{
	double cost;
	do {
		*ret_count = 0;
		if (!gather(t, n))
			return -1;
		cost = solve(t);
		if (cost < 0 || isinf(cost))
			return cost;
		t->nodes.data[n].bound = FTH_MAX(t->nodes.data[n].bound, cost * (1 - 1e-9));
		/* Another one is more promising by now: this one is solved again when its turn comes. */
		if (t->open.len && t->nodes.data[n].bound > t->nodes.data[t->open.data[0]].bound)
			return cost;
		*ret_count = critical_sets(t);
	} while (*ret_count && learn_must(t));
	return cost;
}

/* Look at the most promising node. True: the bound of the whole tree is found, nothing more can be gained. */
static bool step(struct tree *t, double *ret_bound, bool *ret_exact)
{
	uint32_t n = heap_pop(t), count;
	double cost = solve_node(t, n, &count);
	*ret_bound = t->nodes.data[n].bound;
	*ret_exact = false;
	if (cost < 0)
		return true;
	if (isinf(cost)) {
		*ret_bound = 0; /* it says nothing of the others */
		return false;
	}
	if (t->open.len && t->nodes.data[n].bound > t->nodes.data[t->open.data[0]].bound) {
		*ret_bound = 0;
		heap_push(t, n);
		return false;
	}
	if (!count) {
		*ret_exact = !t->p->joint && meets(t);
		return true;
	}
	branch(t, n, count);
	return false;
}

static void prepare(struct tree *t, const struct fth_spot_problem *p)
{
	uint32_t n = p->noffers;
	t->p = p;
	t->unit = fth_alloc(n * sizeof(double));
	t->q = fth_alloc(n * sizeof(double));
	t->mem = fth_alloc(n * sizeof(double));
	t->x = fth_alloc((n + 1) * sizeof(double));
	t->col = fth_alloc((n + 1) * sizeof(uint32_t));
	t->at = fth_alloc((n + 1) * sizeof(uint32_t));
	t->coef = fth_alloc((n + 1) * sizeof(double));
	t->budget = 1 - p->target;
	for (uint32_t i = 0; i < n; i++) {
		double machines = (double)p->capacity / (double)p->offers[i].capacity;
		t->unit[i] = p->offers[i].price * machines;
		t->q[i] = 1 - fth_spot_p(p, i);
		t->mem[i] = p->memory ? machines * (double)p->offers[i].memory / (double)p->memory : 0;
	}
	struct node root = {.parent = FTH_NONE, .safe = FTH_NONE};
	fth_vec_push(&t->nodes, root);
	heap_push(t, 0);
}

static void tree_release(struct tree *t)
{
	free(t->unit);
	free(t->q);
	free(t->mem);
	free(t->x);
	free(t->col);
	free(t->at);
	free(t->coef);
	fth_vec_release(&t->must);
	fth_vec_release(&t->sets);
	fth_vec_release(&t->nodes);
	fth_vec_release(&t->open);
}

int fth_spot_relax(const struct fth_spot_problem *p, uint64_t nodes, struct fth_spot_bound *ret, double *share, struct fth_error *err)
{
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	struct tree *t = fth_alloc(sizeof(*t));
	prepare(t, p);
	*ret = (struct fth_spot_bound){0};
	if (!nodes)
		nodes = DEFAULT_NODES;
	bool done = false;
	while (!done && t->open.len && ret->nodes < nodes && t->work < nodes * WORK_PER_NODE) {
		double bound;
		done = step(t, &bound, &ret->exact);
		ret->cost = FTH_MAX(ret->cost, bound);
		ret->nodes++;
	}
	if (!done && t->open.len)
		ret->cost = FTH_MAX(ret->cost, t->nodes.data[t->open.data[0]].bound);
	if (!done && !t->open.len)
		ret->cost = INFINITY; /* every branch ended without a pool */
	if (share) {
		memset(share, 0, p->noffers * sizeof(*share));
		for (uint32_t c = 0; c < t->ncols; c++)
			share[t->col[c]] = t->x[c];
	}
	tree_release(t);
	free(t);
	return 0;
}

int fth_spot_lower_bound(const struct fth_spot_problem *p, uint64_t nodes, struct fth_spot_bound *ret, struct fth_error *err)
{
	return fth_spot_relax(p, nodes, ret, NULL, err);
}
