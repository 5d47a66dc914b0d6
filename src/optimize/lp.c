/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revised simplex with bounded variables and an explicit dense basis inverse.
 *
 * Row i gets a logical variable s_i with A x - s = 0, whose bounds are the row's. Variables are
 * numbered logicals first (0 .. m-1), then columns. The first basis is all logicals.
 *
 * One solve: the dual simplex until the basis is primal feasible, with the cost of dual infeasible
 * variables shifted so that their reduced cost is 0 (hence any basis can start); then the primal
 * simplex with the true costs. After bounds moved, the first part does the work; after columns came,
 * the second. Steps are chosen by largest infeasibility; after a run of steps that change nothing, by
 * Bland's rule, which cannot cycle. Ties go to the lowest number: the result does not depend on chance.
 */
#include "optimize/lp.h"

#include <math.h>

enum { AT_LO, AT_HI, AT_ZERO, BASIC }; /* AT_ZERO: nonbasic without bounds */

static const double PRIMAL_TOL = 1e-9, DUAL_TOL = 1e-10, PIVOT_TOL = 1e-9;

struct fth_lp {
	uint32_t m;   /* rows */
	uint64_t steps, work_done;
	FTH_VEC(double) cost, lo, hi, work, d, alpha; /* by variable; work: costs with shifts; d: reduced */
	FTH_VEC(unsigned char) state;
	FTH_VEC(uint32_t) pos;                        /* place in the basis, where basic */
	FTH_VEC(uint32_t) start, idx;                 /* columns: of variable v, start[v-m] .. start[v-m+1] */
	FTH_VEC(double) val;
	uint32_t *head;                               /* variable at each place of the basis */
	double *binv, *xb, *w, *y;                    /* m x m by place; values by place; scratch; duals */
	bool fresh;                                   /* binv was computed anew since the last pivot */
	uint32_t age;                                 /* pivots since then */
};

static void add_var(struct fth_lp *lp, double cost, double lo, double hi, unsigned char state, uint32_t pos)
{
	fth_vec_push(&lp->cost, cost);
	fth_vec_push(&lp->work, cost);
	fth_vec_push(&lp->d, 0.0);
	fth_vec_push(&lp->alpha, 0.0);
	fth_vec_push(&lp->lo, lo);
	fth_vec_push(&lp->hi, hi);
	fth_vec_push(&lp->state, state);
	fth_vec_push(&lp->pos, pos);
}

struct fth_lp *fth_lp_new(uint32_t rows)
{
	struct fth_lp *lp = fth_alloc(sizeof(*lp));
	size_t m = rows;
	lp->m = rows;
	lp->head = fth_alloc((m + 1) * sizeof(*lp->head));
	lp->binv = fth_alloc((m * m + 1) * sizeof(double));
	lp->xb = fth_alloc((m + 1) * sizeof(double));
	lp->w = fth_alloc((m + 1) * sizeof(double));
	lp->y = fth_alloc((m + 1) * sizeof(double));
	for (uint32_t i = 0; i < rows; i++) {
		add_var(lp, 0, -INFINITY, INFINITY, BASIC, i);
		lp->head[i] = i;
		lp->binv[i * m + i] = -1;
	}
	fth_vec_push(&lp->start, 0u);
	lp->fresh = true;
	return lp;
}

void fth_lp_free(struct fth_lp *lp)
{
	if (!lp)
		return;
	fth_vec_release(&lp->cost);
	fth_vec_release(&lp->work);
	fth_vec_release(&lp->d);
	fth_vec_release(&lp->alpha);
	fth_vec_release(&lp->lo);
	fth_vec_release(&lp->hi);
	fth_vec_release(&lp->state);
	fth_vec_release(&lp->pos);
	fth_vec_release(&lp->start);
	fth_vec_release(&lp->idx);
	fth_vec_release(&lp->val);
	free(lp->head);
	free(lp->binv);
	free(lp->xb);
	free(lp->w);
	free(lp->y);
	free(lp);
}

/* A nonbasic variable rests at the bound it was at, if that is still there, else at the other. */
static void rest(struct fth_lp *lp, uint32_t v)
{
	bool lo = lp->lo.data[v] > -INFINITY, hi = lp->hi.data[v] < INFINITY;
	unsigned char *s = &lp->state.data[v];
	if (*s == BASIC)
		return;
	if (*s == AT_HI && hi)
		return;
	*s = lo ? AT_LO : hi ? AT_HI : AT_ZERO;
}

static void set_bounds(struct fth_lp *lp, uint32_t v, double lo, double hi)
{
	assert(lo <= hi);
	lp->lo.data[v] = lo;
	lp->hi.data[v] = hi;
	rest(lp, v);
}

void fth_lp_set_row(struct fth_lp *lp, uint32_t row, double lo, double hi)
{
	set_bounds(lp, row, lo, hi);
}

uint32_t fth_lp_add_col(struct fth_lp *lp, double cost, const uint32_t *rows, const double *coefs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		fth_vec_push(&lp->idx, rows[i]);
		fth_vec_push(&lp->val, coefs[i]);
	}
	fth_vec_push(&lp->start, (uint32_t)lp->idx.len);
	add_var(lp, cost, 0, INFINITY, AT_LO, 0);
	return (uint32_t)lp->start.len - 2;
}

void fth_lp_set_col(struct fth_lp *lp, uint32_t col, double lo, double hi)
{
	set_bounds(lp, lp->m + col, lo, hi);
}

void fth_lp_set_cost(struct fth_lp *lp, uint32_t col, double cost)
{
	lp->cost.data[lp->m + col] = cost;
}

uint32_t fth_lp_cols(const struct fth_lp *lp)
{
	return (uint32_t)lp->start.len - 1;
}

uint64_t fth_lp_steps(const struct fth_lp *lp)
{
	return lp->steps;
}

uint64_t fth_lp_work(const struct fth_lp *lp)
{
	return lp->work_done;
}

/* ---- linear algebra ---- */

static double resting_value(const struct fth_lp *lp, uint32_t v)
{
	unsigned char s = lp->state.data[v];
	return s == AT_LO ? lp->lo.data[v] : s == AT_HI ? lp->hi.data[v] : 0;
}

/* row . (column of variable v) */
static double dot(const struct fth_lp *lp, const double *row, uint32_t v)
{
	if (v < lp->m)
		return -row[v];
	double sum = 0;
	for (uint32_t k = lp->start.data[v - lp->m], e = lp->start.data[v - lp->m + 1]; k < e; k++)
		sum += row[lp->idx.data[k]] * lp->val.data[k];
	return sum;
}

/* w = B^-1 (column of v) */
static void ftran(struct fth_lp *lp, uint32_t v)
{
	for (uint32_t p = 0; p < lp->m; p++)
		lp->w[p] = dot(lp, lp->binv + (size_t)p * lp->m, v);
}

static void load_basis(const struct fth_lp *lp, double *b)
{
	size_t m = lp->m;
	for (size_t p = 0; p < m; p++) {
		uint32_t v = lp->head[p];
		if (v < m) {
			b[v * m + p] = -1;
			continue;
		}
		for (uint32_t k = lp->start.data[v - m]; k < lp->start.data[v - m + 1]; k++)
			b[lp->idx.data[k] * m + p] = lp->val.data[k];
	}
}

/* Gauss-Jordan with row pivoting on [b | inv]; row_of[p] is the row that ends as unit row of place p,
 * FTH_NONE where there was no pivot left. */
static void eliminate(size_t m, double *b, double *inv, uint32_t *row_of, char *used)
{
	for (size_t p = 0; p < m; p++) {
		size_t best = m;
		for (size_t i = 0; i < m; i++)
			if (!used[i] && (best == m || fabs(b[i * m + p]) > fabs(b[best * m + p])))
				best = i;
		row_of[p] = FTH_NONE;
		if (fabs(b[best * m + p]) < 1e-11)
			continue;
		used[best] = 1;
		row_of[p] = (uint32_t)best;
		double f = 1 / b[best * m + p];
		for (size_t k = 0; k < m; k++) {
			b[best * m + k] *= f;
			inv[best * m + k] *= f;
		}
		for (size_t i = 0; i < m; i++) {
			double g = b[i * m + p];
			if (i == best || g == 0)
				continue;
			for (size_t k = p; k < m; k++)
				b[i * m + k] -= g * b[best * m + k];
			for (size_t k = 0; k < m; k++)
				inv[i * m + k] -= g * inv[best * m + k];
		}
	}
}

/* Variables without a pivot leave the basis for the logicals of the rows without one. */
static bool repair_basis(struct fth_lp *lp, const uint32_t *row_of, char *used)
{
	bool repaired = false;
	for (uint32_t p = 0; p < lp->m; p++) {
		if (row_of[p] != FTH_NONE)
			continue;
		uint32_t i = 0, out = lp->head[p];
		while (used[i])
			i++;
		used[i] = 1;
		repaired = true;
		lp->state.data[out] = AT_LO;
		rest(lp, out);
		lp->head[p] = i;
		lp->state.data[i] = BASIC;
		lp->pos.data[i] = p;
	}
	return repaired;
}

/* The inverse of the basis, from scratch. A basis become singular by rounding is repaired first. */
static void invert(struct fth_lp *lp)
{
	size_t m = lp->m;
	double *b = fth_alloc((m * m + 1) * sizeof(double)), *inv = fth_alloc((m * m + 1) * sizeof(double));
	char *used = fth_alloc(m + 1);
	uint32_t *row_of = fth_alloc((m + 1) * sizeof(*row_of));
	do {
		memset(b, 0, m * m * sizeof(double));
		memset(inv, 0, m * m * sizeof(double));
		memset(used, 0, m);
		for (size_t i = 0; i < m; i++)
			inv[i * m + i] = 1;
		load_basis(lp, b);
		eliminate(m, b, inv, row_of, used);
	} while (repair_basis(lp, row_of, used));
	for (size_t p = 0; p < m; p++)
		memcpy(lp->binv + p * m, inv + row_of[p] * m, m * sizeof(double));
	free(b);
	free(inv);
	free(used);
	free(row_of);
	lp->fresh = true;
	lp->age = 0;
}

/* x_B = -B^-1 N x_N, from the bounds as they are now. */
static void compute_primal(struct fth_lp *lp)
{
	size_t m = lp->m;
	double *r = lp->w;
	memset(r, 0, m * sizeof(double));
	for (uint32_t v = 0; v < lp->cost.len; v++) {
		if (lp->state.data[v] == BASIC)
			continue;
		double x = resting_value(lp, v);
		if (x == 0)
			continue;
		if (v < m)
			r[v] += x;
		else
			for (uint32_t k = lp->start.data[v - m]; k < lp->start.data[v - m + 1]; k++)
				r[lp->idx.data[k]] -= lp->val.data[k] * x;
	}
	for (size_t p = 0; p < m; p++) {
		double sum = 0;
		for (size_t i = 0; i < m; i++)
			sum += lp->binv[p * m + i] * r[i];
		lp->xb[p] = sum;
	}
}

/* Basic, or fixed so that it cannot move: its reduced cost and pivot row are never looked at. */
static bool still(const struct fth_lp *lp, uint32_t v)
{
	return lp->state.data[v] == BASIC || lp->lo.data[v] == lp->hi.data[v];
}

/* y = c_B B^-1 and d = c - y N, for the costs in work. */
static void compute_dual(struct fth_lp *lp)
{
	size_t m = lp->m;
	memset(lp->y, 0, m * sizeof(double));
	for (size_t p = 0; p < m; p++) {
		double c = lp->work.data[lp->head[p]];
		if (c == 0)
			continue;
		for (size_t i = 0; i < m; i++)
			lp->y[i] += c * lp->binv[p * m + i];
	}
	for (uint32_t v = 0; v < lp->cost.len; v++)
		lp->d.data[v] = still(lp, v) ? 0 : lp->work.data[v] - dot(lp, lp->y, v);
}

/* alpha = row r of B^-1 N, for nonbasic variables. */
static void compute_row(struct fth_lp *lp, uint32_t r)
{
	const double *rho = lp->binv + (size_t)r * lp->m;
	for (uint32_t v = 0; v < lp->cost.len; v++)
		lp->alpha.data[v] = still(lp, v) ? 0 : dot(lp, rho, v);
}

/* q enters at place r; w = B^-1 a_q; the leaving one rests at `to`; step t of q. */
static void pivot(struct fth_lp *lp, uint32_t r, uint32_t q, double t, unsigned char to)
{
	size_t m = lp->m;
	uint32_t out = lp->head[r];
	double value = resting_value(lp, q) + t, f = 1 / lp->w[r], *row = lp->binv + r * m;
	for (size_t p = 0; p < m; p++)
		lp->xb[p] -= t * lp->w[p];
	lp->xb[r] = value;
	for (size_t i = 0; i < m; i++)
		row[i] *= f;
	for (size_t p = 0; p < m; p++) {
		double g = lp->w[p];
		if (p == r || g == 0)
			continue;
		double *other = lp->binv + p * m;
		for (size_t i = 0; i < m; i++)
			other[i] -= g * row[i];
	}
	double theta = lp->d.data[q] / lp->alpha.data[q];
	if (theta != 0)
		for (uint32_t v = 0; v < lp->cost.len; v++)
			lp->d.data[v] -= theta * lp->alpha.data[v];
	lp->d.data[out] = -theta;
	lp->d.data[q] = 0;
	lp->head[r] = q;
	lp->pos.data[q] = r;
	lp->state.data[q] = BASIC;
	lp->state.data[out] = to;
	lp->fresh = false;
	lp->age++;
	lp->steps++;
	lp->work_done += 2 * m * m + lp->idx.len + 4 * lp->cost.len;
}

static void refresh(struct fth_lp *lp)
{
	invert(lp);
	compute_primal(lp);
	compute_dual(lp);
}

/* ---- dual simplex ---- */

static double primal_slack(double bound)
{
	return PRIMAL_TOL * FTH_MAX(1.0, fabs(bound));
}

/* The place with the largest infeasibility (the lowest variable under Bland's rule); FTH_NONE: feasible. */
static uint32_t dual_leaving(const struct fth_lp *lp, bool bland)
{
	uint32_t best = FTH_NONE;
	double worst = 0;
	for (uint32_t p = 0; p < lp->m; p++) {
		uint32_t v = lp->head[p];
		double below = lp->lo.data[v] - lp->xb[p], above = lp->xb[p] - lp->hi.data[v];
		double by = FTH_MAX(below, above), slack = primal_slack(below > above ? lp->lo.data[v] : lp->hi.data[v]);
		if (!(by > slack))
			continue;
		bool take = best == FTH_NONE || (bland ? v < lp->head[best] : by > worst || (by == worst && v < lp->head[best]));
		if (take) {
			best = p;
			worst = by;
		}
	}
	return best;
}

/* Whether x_v, moved the way it may, brings the leaving variable back; dir: +1 it must rise. */
static bool dual_eligible(const struct fth_lp *lp, uint32_t v, int dir)
{
	double a = lp->alpha.data[v] * dir;
	unsigned char s = lp->state.data[v];
	if (s == BASIC || fabs(a) < PIVOT_TOL || lp->lo.data[v] == lp->hi.data[v])
		return false;
	return s == AT_ZERO || (s == AT_LO ? a < 0 : a > 0);
}

/* Smallest ratio |d/alpha|; among those within the tolerance the largest |alpha|, then the lowest. */
static uint32_t dual_entering(const struct fth_lp *lp, int dir, bool bland)
{
	double limit = INFINITY;
	for (uint32_t v = 0; v < lp->cost.len; v++)
		if (dual_eligible(lp, v, dir)) {
			double tol = bland ? 0 : DUAL_TOL;
			limit = FTH_MIN(limit, (fabs(lp->d.data[v]) + tol) / fabs(lp->alpha.data[v]));
		}
	uint32_t best = FTH_NONE;
	for (uint32_t v = 0; v < lp->cost.len; v++) {
		if (!dual_eligible(lp, v, dir) || fabs(lp->d.data[v]) / fabs(lp->alpha.data[v]) > limit)
			continue;
		if (best == FTH_NONE || (!bland && fabs(lp->alpha.data[v]) > fabs(lp->alpha.data[best])))
			best = v;
	}
	return best;
}

/* Give every variable whose reduced cost has the wrong sign the cost that makes it 0. */
static void shift_costs(struct fth_lp *lp)
{
	for (uint32_t v = 0; v < lp->cost.len; v++) {
		unsigned char s = lp->state.data[v];
		double d = lp->d.data[v];
		if (s == BASIC || lp->lo.data[v] == lp->hi.data[v])
			continue;
		if ((s == AT_LO && d < 0) || (s == AT_HI && d > 0) || (s == AT_ZERO && d != 0)) {
			lp->work.data[v] -= d;
			lp->d.data[v] = 0;
		}
	}
}

/* A run of steps that gain nothing longer than this is taken for a cycle. */
static uint32_t patience(const struct fth_lp *lp)
{
	return 50 + lp->m;
}

static int dual_simplex(struct fth_lp *lp, uint64_t limit)
{
	uint32_t idle = 0;
	shift_costs(lp);
	for (uint64_t n = 0; n < limit; n++) {
		bool bland = idle > patience(lp);
		uint32_t r = dual_leaving(lp, bland);
		if (r == FTH_NONE)
			return 0;
		uint32_t out = lp->head[r];
		bool up = lp->xb[r] < lp->lo.data[out];
		compute_row(lp, r);
		uint32_t q = dual_entering(lp, up ? 1 : -1, bland);
		if (q != FTH_NONE)
			ftran(lp, q);
		bool doubtful = q == FTH_NONE || fabs(lp->w[r] - lp->alpha.data[q]) > 1e-6 * (1 + fabs(lp->w[r]));
		if (doubtful && !lp->fresh) {
			refresh(lp);
			shift_costs(lp);
			continue;
		}
		if (q == FTH_NONE)
			return -ENOENT;
		idle = fabs(lp->d.data[q]) > DUAL_TOL ? 0 : idle + 1;
		double bound = up ? lp->lo.data[out] : lp->hi.data[out];
		pivot(lp, r, q, (lp->xb[r] - bound) / lp->w[r], up ? AT_LO : AT_HI);
		if (lp->age > 100 + lp->m) {
			refresh(lp);
			shift_costs(lp);
		}
	}
	return -EAGAIN;
}

/* ---- primal simplex ---- */

static double dual_infeasibility(const struct fth_lp *lp, uint32_t v)
{
	unsigned char s = lp->state.data[v];
	double d = lp->d.data[v];
	if (s == BASIC || lp->lo.data[v] == lp->hi.data[v])
		return 0;
	return s == AT_LO ? -d : s == AT_HI ? d : fabs(d);
}

static uint32_t primal_entering(const struct fth_lp *lp, bool bland)
{
	uint32_t best = FTH_NONE;
	double most = DUAL_TOL;
	for (uint32_t v = 0; v < lp->cost.len; v++) {
		double by = dual_infeasibility(lp, v);
		if (by > most) {
			best = v;
			most = by;
			if (bland)
				break;
		}
	}
	return best;
}

/* How far basic place p lets q move (dir +1 up); slack widens the bounds. */
static double primal_limit(const struct fth_lp *lp, uint32_t p, int dir, double widen)
{
	double rate = -dir * lp->w[p];
	uint32_t v = lp->head[p];
	if (fabs(rate) < PIVOT_TOL)
		return INFINITY;
	double bound = rate > 0 ? lp->hi.data[v] : lp->lo.data[v];
	if (!(fabs(bound) < INFINITY))
		return INFINITY;
	double room = (bound - lp->xb[p]) * (rate > 0 ? 1 : -1) + widen * primal_slack(bound);
	return FTH_MAX(room, 0.0) / fabs(rate);
}

/* The place that stops q first, FTH_NONE: none does; ties as in dual_entering. */
static uint32_t primal_leaving(const struct fth_lp *lp, int dir, bool bland, double *ret_step)
{
	double limit = INFINITY;
	for (uint32_t p = 0; p < lp->m; p++)
		limit = FTH_MIN(limit, primal_limit(lp, p, dir, bland ? 0 : 1));
	uint32_t best = FTH_NONE;
	for (uint32_t p = 0; p < lp->m && limit < INFINITY; p++) {
		if (primal_limit(lp, p, dir, 0) > limit)
			continue;
		bool take = best == FTH_NONE;
		if (!take && bland)
			take = lp->head[p] < lp->head[best];
		else if (!take)
			take = fabs(lp->w[p]) > fabs(lp->w[best]) ||
			       (fabs(lp->w[p]) == fabs(lp->w[best]) && lp->head[p] < lp->head[best]);
		if (take)
			best = p;
	}
	*ret_step = best == FTH_NONE ? INFINITY : primal_limit(lp, best, dir, 0);
	return best;
}

/* q goes from one of its bounds to the other; the basis stays. */
static void flip(struct fth_lp *lp, uint32_t q, int dir)
{
	double t = dir * (lp->hi.data[q] - lp->lo.data[q]);
	for (uint32_t p = 0; p < lp->m; p++)
		lp->xb[p] -= t * lp->w[p];
	lp->state.data[q] = dir > 0 ? AT_HI : AT_LO;
	lp->steps++;
}

static int primal_simplex(struct fth_lp *lp, uint64_t limit)
{
	uint32_t idle = 0;
	for (uint64_t n = 0; n < limit; n++) {
		bool bland = idle > patience(lp);
		uint32_t q = primal_entering(lp, bland);
		if (q == FTH_NONE)
			return 0;
		int dir = lp->d.data[q] < 0 ? 1 : -1;
		double t;
		ftran(lp, q);
		uint32_t r = primal_leaving(lp, dir, bland, &t);
		double span = lp->hi.data[q] - lp->lo.data[q];
		if (span <= t && span < INFINITY) {
			flip(lp, q, dir);
			idle = 0;
			continue;
		}
		if (r == FTH_NONE) {
			if (lp->fresh)
				return -ERANGE;
			refresh(lp);
			continue;
		}
		bool to_hi = -dir * lp->w[r] > 0;
		compute_row(lp, r);
		if (fabs(lp->w[r] - lp->alpha.data[q]) > 1e-6 * (1 + fabs(lp->w[r])) && !lp->fresh) {
			refresh(lp);
			continue;
		}
		idle = t * fabs(lp->d.data[q]) > 0 ? 0 : idle + 1;
		pivot(lp, r, q, dir * t, to_hi ? AT_HI : AT_LO);
		if (lp->age > 100 + lp->m)
			refresh(lp);
	}
	return -EAGAIN;
}

/* ---- the whole ---- */

static void true_costs(struct fth_lp *lp)
{
	for (size_t v = 0; v < lp->cost.len; v++)
		lp->work.data[v] = lp->cost.data[v];
}

int fth_lp_solve(struct fth_lp *lp)
{
	uint64_t limit = 2000 + 50 * ((uint64_t)lp->m + lp->cost.len);
	int r = 0;
	/* Each turn ends optimal for the inverse as updated; it stands when a new inverse agrees. */
	for (int turn = 0; turn < 20; turn++) {
		true_costs(lp);
		compute_primal(lp);
		compute_dual(lp);
		r = dual_simplex(lp, limit);
		if (r)
			return r;
		true_costs(lp);
		compute_dual(lp);
		r = primal_simplex(lp, limit);
		if (r)
			return r;
		if (!lp->fresh && lp->age > 20)
			invert(lp);
		compute_primal(lp);
		compute_dual(lp);
		if (dual_leaving(lp, false) == FTH_NONE && primal_entering(lp, false) == FTH_NONE)
			return 0;
	}
	return -EAGAIN;
}

double fth_lp_objective(const struct fth_lp *lp)
{
	double sum = 0;
	for (uint32_t v = lp->m; v < lp->cost.len; v++)
		sum += lp->cost.data[v] * fth_lp_value(lp, v - lp->m);
	return sum;
}

double fth_lp_value(const struct fth_lp *lp, uint32_t col)
{
	uint32_t v = lp->m + col;
	return lp->state.data[v] == BASIC ? lp->xb[lp->pos.data[v]] : resting_value(lp, v);
}

double fth_lp_dual(const struct fth_lp *lp, uint32_t row)
{
	return lp->y[row];
}
