/* SPDX-License-Identifier: Apache-2.0 */
/* Purchases of one class as a flow with convex costs: cycles that save money are pushed until there is none. */
#include "optimize/reserve_internal.h"

/* Pushes before it gives up; never met in practice. */
enum { PUSHES_MAX = 200000 };

enum { SELL = -3, HOLD_MORE = -1, HOLD_LESS = -2 }; /* arcs: deal e is bought by e, sold by SELL - e */
struct search {
	struct fth_reserve_flow *f;
	int64_t step;
	bool backward; /* distances to a node rather than from one */
	double eps;
	double *dist;
	uint32_t *from; /* node before, and the arc taken */
	int64_t *by;
	uint32_t *seen; /* by the walk back from which node, plus one */
};

static double saved_by(const struct fth_reserve_flow *f, uint32_t row, int64_t c)
{
	return f->saved[(size_t)row * (f->levels + 1) + (size_t)FTH_MIN(c, (int64_t)f->levels)];
}

static bool relax(struct search *s, uint32_t a, uint32_t b, double cost, int64_t by)
{
	if (s->backward) {
		uint32_t t = a;
		a = b;
		b = t;
	}
	if (s->dist[a] + cost >= s->dist[b] - s->eps)
		return false;
	s->dist[b] = s->dist[a] + cost;
	s->from[b] = a;
	s->by[b] = by;
	return true;
}

/* Forward along the rows, then back: most paths are found in one go. Deals are in the order of their rows. */
static bool sweep(struct search *s)
{
	struct fth_reserve_flow *f = s->f;
	const struct fth_reserve_deal *e = f->deals, *end = f->deals + f->ndeals;
	bool any = false;
	for (uint32_t i = 0; i < f->rows; i++) {
		if (f->most < 0 || f->held[i] + s->step <= f->most)
			any |= relax(s, i, i + 1, saved_by(f, i, f->held[i]) - saved_by(f, i, f->held[i] + s->step), HOLD_MORE);
		for (; e < end && e->row == i; e++)
			if (e->bought >= s->step)
				any |= relax(s, i, e->until, -e->fee * (double)s->step, SELL - (e - f->deals));
	}
	for (uint32_t i = f->rows; i-- > 0;) {
		if (f->held[i] >= s->step)
			any |= relax(s, i + 1, i, saved_by(f, i, f->held[i]) - saved_by(f, i, f->held[i] - s->step), HOLD_LESS);
		while (e > f->deals && e[-1].row == i) {
			e--;
			any |= relax(s, e->until, i, e->fee * (double)s->step, e - f->deals);
		}
	}
	return any;
}

/* A node on a cycle of the tree of arcs taken; FTH_NONE: it is a tree. */
static uint32_t find_cycle(struct search *s)
{
	memset(s->seen, 0, (s->f->rows + 1) * sizeof(*s->seen));
	for (uint32_t i = 0; i <= s->f->rows; i++) {
		uint32_t at = i;
		for (; at != FTH_NONE && !s->seen[at]; at = s->from[at])
			s->seen[at] = i + 1;
		if (at != FTH_NONE && s->seen[at] == i + 1)
			return at;
	}
	return FTH_NONE;
}

/* One arc of a cycle with `sign` steps more; returns what it costs. */
static double push_arc(struct search *s, uint32_t to, int sign)
{
	struct fth_reserve_flow *f = s->f;
	int64_t d = sign * s->step, by = s->by[to];
	uint32_t row = by == HOLD_MORE ? s->from[to] : to;
	if (by == HOLD_LESS || by <= SELL)
		d = -d;
	if (by == HOLD_MORE || by == HOLD_LESS) {
		double cost = saved_by(f, row, f->held[row]) - saved_by(f, row, f->held[row] + d);
		f->held[row] += d;
		return cost;
	}
	struct fth_reserve_deal *e = &f->deals[by <= SELL ? SELL - by : by];
	e->bought += d;
	return e->fee * (double)d;
}

static bool can_push(const struct search *s, uint32_t to)
{
	const struct fth_reserve_flow *f = s->f;
	int64_t by = s->by[to];
	if (by == HOLD_MORE)
		return f->most < 0 || f->held[s->from[to]] + s->step <= f->most;
	if (by == HOLD_LESS)
		return f->held[to] >= s->step;
	return by >= 0 || f->deals[SELL - by].bought >= s->step;
}

/* As often as it saves something. */
static uint32_t push_cycle(struct search *s, uint32_t at)
{
	for (uint32_t pushes = 0;; pushes++) {
		double cost = 0;
		bool can = true;
		uint32_t i = at;
		do
			can = can && can_push(s, i);
		while ((i = s->from[i]) != at);
		if (!can)
			return pushes;
		do
			cost += push_arc(s, i, 1);
		while ((i = s->from[i]) != at);
		if (cost < -s->eps)
			continue;
		do
			push_arc(s, i, -1);
		while ((i = s->from[i]) != at);
		return pushes;
	}
}

/* Until no cycle of this step saves anything. */
static bool cancel(struct search *s, uint32_t *pushes)
{
	uint32_t nodes = s->f->rows + 1, at = FTH_NONE;
	do {
		memset(s->dist, 0, nodes * sizeof(*s->dist));
		memset(s->from, 0xff, nodes * sizeof(*s->from));
		at = FTH_NONE;
		for (uint32_t k = 0; k <= nodes && at == FTH_NONE && sweep(s); k++)
			at = find_cycle(s);
		uint32_t done = at == FTH_NONE ? 0 : push_cycle(s, at);
		if (at != FTH_NONE && !done)
			return true; /* what is left is rounding */
		*pushes += done;
	} while (at != FTH_NONE && *pushes < PUSHES_MAX);
	return at == FTH_NONE;
}

/* Potentials are the distances from anywhere and, negated, to anywhere: the two ends of what they may be. Values from their middle
 * leave the most to the other classes. */
static void find_values(struct search *s)
{
	struct fth_reserve_flow *f = s->f;
	for (uint32_t i = 0; i < f->rows; i++)
		f->value[i] = s->dist[i] - s->dist[i + 1];
	memset(s->dist, 0, (f->rows + 1) * sizeof(*s->dist));
	s->step = 1;
	s->backward = true;
	for (uint32_t k = 0; k <= f->rows && sweep(s); k++)
		;
	for (uint32_t i = 0; i < f->rows; i++)
		f->value[i] = FTH_MAX((f->value[i] + s->dist[i + 1] - s->dist[i]) / 2, 0.0);
}

bool fth_reserve_flow_solve(struct fth_reserve_flow *f, int64_t step)
{
	uint32_t nodes = f->rows + 1, pushes = 0;
	struct search s = {.f = f};
	bool done = true;
	double most = 0;
	for (size_t i = 0; i < f->ndeals; i++)
		most = FTH_MAX(most, f->deals[i].fee);
	s.dist = fth_alloc(nodes * sizeof(*s.dist));
	s.from = fth_alloc(nodes * sizeof(*s.from));
	s.by = fth_alloc(nodes * sizeof(*s.by));
	s.seen = fth_alloc(nodes * sizeof(*s.seen));
	for (s.step = step; s.step >= 1 && done; s.step /= 2) {
		s.eps = 1e-9 * FTH_MAX(most, 1.0);
		done = cancel(&s, &pushes);
	}
	find_values(&s);
	free(s.dist);
	free(s.from);
	free(s.by);
	free(s.seen);
	return done;
}
