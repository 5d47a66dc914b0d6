/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/lp.h"

enum { MAXV = 5, MAXR = 4 };

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * (1 + fabs(b)))
		fail_msg("%.12g is not %.12g", a, b);
}

/* max 3x + 5y; x <= 4, 2y <= 12, 3x + 2y <= 18: 36 at (2, 6), shadow prices 0, 3/2, 1. */
static void the_textbook_example(void **state)
{
	(void)state;
	struct fth_lp *lp = fth_lp_new(3);
	fth_lp_set_row(lp, 0, -INFINITY, 4);
	fth_lp_set_row(lp, 1, -INFINITY, 12);
	fth_lp_set_row(lp, 2, -INFINITY, 18);
	fth_lp_add_col(lp, -3, (uint32_t[]){0, 2}, (double[]){1, 3}, 2);
	fth_lp_add_col(lp, -5, (uint32_t[]){1, 2}, (double[]){2, 2}, 2);
	assert_int_equal(fth_lp_solve(lp), 0);
	near(fth_lp_objective(lp), -36);
	near(fth_lp_value(lp, 0), 2);
	near(fth_lp_value(lp, 1), 6);
	near(fth_lp_dual(lp, 0), 0);
	near(fth_lp_dual(lp, 1), -1.5);
	near(fth_lp_dual(lp, 2), -1);
	/* x <= 1 moves the optimum to (1, 6); a better column takes over; both from the old basis. */
	fth_lp_set_col(lp, 0, 0, 1);
	assert_int_equal(fth_lp_solve(lp), 0);
	near(fth_lp_objective(lp), -33);
	fth_lp_add_col(lp, -10, (uint32_t[]){2}, (double[]){1}, 1);
	assert_int_equal(fth_lp_solve(lp), 0);
	near(fth_lp_objective(lp), -180);
	fth_lp_free(lp);
}

/* The example on which the plain simplex method with Dantzig's rule cycles (Beale). */
static void degenerate_and_cycling(void **state)
{
	(void)state;
	struct fth_lp *lp = fth_lp_new(3);
	fth_lp_set_row(lp, 0, -INFINITY, 0);
	fth_lp_set_row(lp, 1, -INFINITY, 0);
	fth_lp_set_row(lp, 2, -INFINITY, 1);
	fth_lp_add_col(lp, -0.75, (uint32_t[]){0, 1}, (double[]){0.25, 0.5}, 2);
	fth_lp_add_col(lp, 150, (uint32_t[]){0, 1}, (double[]){-60, -90}, 2);
	fth_lp_add_col(lp, -0.02, (uint32_t[]){0, 1, 2}, (double[]){-1.0 / 25, -1.0 / 50, 1}, 3);
	fth_lp_add_col(lp, 6, (uint32_t[]){0, 1}, (double[]){9, 3}, 2);
	assert_int_equal(fth_lp_solve(lp), 0);
	near(fth_lp_objective(lp), -0.05);
	fth_lp_free(lp);
}

static void infeasible_and_unbounded_are_told(void **state)
{
	(void)state;
	struct fth_lp *lp = fth_lp_new(2);
	fth_lp_set_row(lp, 0, 5, INFINITY);
	fth_lp_set_row(lp, 1, -INFINITY, 4);
	uint32_t c = fth_lp_add_col(lp, 1, (uint32_t[]){0, 1}, (double[]){1, 1}, 2);
	assert_int_equal(fth_lp_solve(lp), -ENOENT);
	fth_lp_set_row(lp, 1, -INFINITY, INFINITY);
	assert_int_equal(fth_lp_solve(lp), 0);
	near(fth_lp_objective(lp), 5);
	fth_lp_set_cost(lp, c, -1);
	assert_int_equal(fth_lp_solve(lp), -ERANGE);
	fth_lp_free(lp);
}

/* ---- random programmes against the enumeration of all vertices ---- */

struct dense {
	int rows, cols;
	double a[MAXR][MAXV], lo[MAXR], hi[MAXR], c[MAXV], xlo[MAXV], xhi[MAXV];
};

static double integer(struct fth_rng *r, int from, int to)
{
	return from + (double)fth_rng_below(r, (uint64_t)(to - from + 1));
}

static void draw(struct dense *p, struct fth_rng *r)
{
	p->rows = (int)integer(r, 1, MAXR);
	p->cols = (int)integer(r, 1, MAXV);
	for (int i = 0; i < p->rows; i++) {
		int sense = (int)integer(r, 0, 3);
		double b = integer(r, -4, 8);
		p->lo[i] = sense == 1 ? -INFINITY : b;
		p->hi[i] = sense == 0 ? INFINITY : sense == 3 ? b + integer(r, 0, 5) : b;
		for (int j = 0; j < p->cols; j++)
			p->a[i][j] = integer(r, 0, 2) ? integer(r, -3, 4) : 0;
	}
	for (int j = 0; j < p->cols; j++) {
		p->c[j] = integer(r, -4, 6);
		p->xlo[j] = integer(r, 0, 4) ? 0 : integer(r, -2, 2);
		p->xhi[j] = p->xlo[j] + integer(r, 0, 9);
	}
}

/* Solve the n equations a x = b by elimination; false when singular. */
static bool solve_square(int n, double a[MAXV][MAXV + 1], double *x)
{
	for (int k = 0; k < n; k++) {
		int best = k;
		for (int i = k; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[best][k]))
				best = i;
		if (fabs(a[best][k]) < 1e-9)
			return false;
		for (int j = 0; j <= n; j++) {
			double t = a[k][j];
			a[k][j] = a[best][j];
			a[best][j] = t;
		}
		for (int i = 0; i < n; i++) {
			double f = a[i][k] / a[k][k];
			for (int j = k; j <= n && i != k; j++)
				a[i][j] -= f * a[k][j];
		}
	}
	for (int k = 0; k < n; k++)
		x[k] = a[k][n] / a[k][k];
	return true;
}

static bool feasible(const struct dense *p, const double *x)
{
	for (int j = 0; j < p->cols; j++)
		if (x[j] < p->xlo[j] - 1e-7 || x[j] > p->xhi[j] + 1e-7)
			return false;
	for (int i = 0; i < p->rows; i++) {
		double sum = 0;
		for (int j = 0; j < p->cols; j++)
			sum += p->a[i][j] * x[j];
		if (sum < p->lo[i] - 1e-7 || sum > p->hi[i] + 1e-7)
			return false;
	}
	return true;
}

/* Every vertex of a bounded polytope has n independent active bounds: try all choices of n. */
static double best_vertex(const struct dense *p)
{
	int n = p->cols, planes = 2 * (p->rows + n), pick[MAXV];
	double best = INFINITY;
	for (int k = 0; k < n; k++)
		pick[k] = k;
	for (;;) {
		double a[MAXV][MAXV + 1] = {0}, x[MAXV];
		bool finite = true;
		for (int k = 0; k < n; k++) {
			int which = pick[k] / 2, high = pick[k] % 2;
			for (int j = 0; j < n; j++)
				a[k][j] = which < p->rows ? p->a[which][j] : j == which - p->rows;
			if (which < p->rows)
				a[k][n] = high ? p->hi[which] : p->lo[which];
			else
				a[k][n] = high ? p->xhi[which - p->rows] : p->xlo[which - p->rows];
			finite &= fabs(a[k][n]) < INFINITY;
		}
		if (finite && solve_square(n, a, x) && feasible(p, x)) {
			double z = 0;
			for (int j = 0; j < n; j++)
				z += p->c[j] * x[j];
			best = FTH_MIN(best, z);
		}
		int k = n - 1;
		while (k >= 0 && pick[k] == planes - n + k)
			k--;
		if (k < 0)
			return best;
		pick[k]++;
		for (int i = k + 1; i < n; i++)
			pick[i] = pick[i - 1] + 1;
	}
}

static struct fth_lp *build(const struct dense *p)
{
	struct fth_lp *lp = fth_lp_new((uint32_t)p->rows);
	for (int i = 0; i < p->rows; i++)
		fth_lp_set_row(lp, (uint32_t)i, p->lo[i], p->hi[i]);
	for (int j = 0; j < p->cols; j++) {
		uint32_t rows[MAXR], n = 0;
		double coefs[MAXR];
		for (int i = 0; i < p->rows; i++)
			if (p->a[i][j] != 0) {
				rows[n] = (uint32_t)i;
				coefs[n++] = p->a[i][j];
			}
		uint32_t c = fth_lp_add_col(lp, p->c[j], rows, coefs, n);
		fth_lp_set_col(lp, c, p->xlo[j], p->xhi[j]);
	}
	return lp;
}

static void agree(struct fth_lp *lp, const struct dense *p, int *feasible_count)
{
	double best = best_vertex(p), x[MAXV];
	int r = fth_lp_solve(lp);
	assert_int_equal(r, best < INFINITY ? 0 : -ENOENT);
	if (r)
		return;
	++*feasible_count;
	near(fth_lp_objective(lp), best);
	for (int j = 0; j < p->cols; j++)
		x[j] = fth_lp_value(lp, (uint32_t)j);
	assert_true(feasible(p, x));
	/* The duals prove it: cost of the best x against them is the same objective. */
	double dual = 0;
	for (int i = 0; i < p->rows; i++) {
		double y = fth_lp_dual(lp, (uint32_t)i);
		if (fabs(y) > 1e-9)
			dual += y * (y > 0 ? p->lo[i] : p->hi[i]);
	}
	for (int j = 0; j < p->cols; j++) {
		double d = p->c[j];
		for (int i = 0; i < p->rows; i++)
			d -= fth_lp_dual(lp, (uint32_t)i) * p->a[i][j];
		dual += d > 0 ? d * p->xlo[j] : d * p->xhi[j];
	}
	near(dual, best);
}

static void random_against_all_vertices(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 7, 0, 0);
	int feasible_count = 0, tries = 1000;
	for (int t = 0; t < tries; t++) {
		struct dense p = {0};
		draw(&p, &r);
		struct fth_lp *lp = build(&p);
		agree(lp, &p, &feasible_count);
		/* Bounds move, the basis stays: warm starts must say the same. */
		for (int again = 0; again < 3; again++) {
			int i = (int)integer(&r, 0, p.rows - 1), j = (int)integer(&r, 0, p.cols - 1);
			p.lo[i] = integer(&r, -4, 4);
			p.hi[i] = p.lo[i] + integer(&r, 0, 8);
			p.xhi[j] = p.xlo[j] + integer(&r, 0, 6);
			p.c[j] = integer(&r, -4, 6);
			fth_lp_set_row(lp, (uint32_t)i, p.lo[i], p.hi[i]);
			fth_lp_set_col(lp, (uint32_t)j, p.xlo[j], p.xhi[j]);
			fth_lp_set_cost(lp, (uint32_t)j, p.c[j]);
			agree(lp, &p, &feasible_count);
		}
		fth_lp_free(lp);
	}
	assert_true(feasible_count > tries);
}

/* A covering master of 300 rows that grows: weak duality holds to rounding, at every size. */
static void a_growing_cover(void **state)
{
	(void)state;
	enum { ROWS = 300 };
	struct fth_rng r;
	fth_rng_seed(&r, 9, 0, 0);
	struct fth_lp *lp = fth_lp_new(ROWS);
	for (uint32_t i = 0; i < ROWS; i++) {
		fth_lp_set_row(lp, i, 1 + (double)(i % 7), INFINITY);
		fth_lp_add_col(lp, 10, &i, (double[]){1}, 1);
	}
	double last = INFINITY;
	for (int round = 0; round < 10; round++) {
		for (int k = 0; k < 60; k++) {
			uint32_t rows[4], base = (uint32_t)fth_rng_below(&r, ROWS / 4);
			for (uint32_t q = 0; q < 4; q++)
				rows[q] = base + q * (ROWS / 4);
			fth_lp_add_col(lp, integer(&r, 8, 30), rows, (double[]){1, integer(&r, 1, 3), 1, integer(&r, 1, 2)}, 4);
		}
		assert_int_equal(fth_lp_solve(lp), 0);
		double dual = 0;
		for (uint32_t i = 0; i < ROWS; i++) {
			assert_true(fth_lp_dual(lp, i) > -1e-9);
			dual += fth_lp_dual(lp, i) * (1 + (double)(i % 7));
		}
		near(dual, fth_lp_objective(lp));
		assert_true(fth_lp_objective(lp) <= last + 1e-6);
		last = fth_lp_objective(lp);
	}
	fth_lp_free(lp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_textbook_example),
		cmocka_unit_test(degenerate_and_cycling),
		cmocka_unit_test(infeasible_and_unbounded_are_told),
		cmocka_unit_test(random_against_all_vertices),
		cmocka_unit_test(a_growing_cover),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
