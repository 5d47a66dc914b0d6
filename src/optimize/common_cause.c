/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/common_cause.h"

#include <math.h>

enum { MAX = FTH_CAUSES_MAX, SWEEPS = 200, HALVINGS = 40 };
static const double CLOSE = 1e-4; /* coefficients nearer than this are the same */

struct fit {
	const double *rho, *p;
	uint32_t n, causes;
	double *u;      /* n x MAX */
	double s[MAX];
	bool *full; /* n x n: pairs that a cause of their own has no room for */
};

void fth_causes_release(struct fth_causes *c)
{
	free(c->t);
	*c = (struct fth_causes){0};
}

static double wanted(const struct fit *f, uint32_t a, uint32_t b)
{
	return FTH_MAX(f->rho[(size_t)a * f->n + b], 0);
}

/* Covariance over p_a p_b of a coefficient of 1. */
static double unit(const double *p, uint32_t a, uint32_t b)
{
	return sqrt((1 - p[a]) * (1 - p[b]) / (p[a] * p[b]));
}

/* How much more often two kinds are up together than independent ones, by all causes but one. */
static double together(const struct fit *f, uint32_t a, uint32_t b, uint32_t without)
{
	double x = 1;
	for (uint32_t k = 0; k < f->causes; k++)
		if (k != without)
			x *= 1 + f->u[a * MAX + k] * f->u[b * MAX + k];
	return x;
}

/* The part of a kind's time that a cause takes, s t, given the load. */
static double taken(double u, double s)
{
	return u > 0 ? u / (sqrt((1 - s) / s) + u) : 0;
}

static void set_rarity(struct fit *f, uint32_t cause)
{
	double most = 0;
	for (uint32_t i = 0; i < f->n; i++)
		most = FTH_MAX(most, f->u[i * MAX + cause]);
	f->s[cause] = most * most / (1 + most * most);
}

/* Is the kind up often enough when all its failures by causes are taken off? */
static bool has_room(const struct fit *f, uint32_t i)
{
	double up = 1;
	for (uint32_t k = 0; k < f->causes; k++)
		up *= 1 - taken(f->u[i * MAX + k], f->s[k]);
	return up >= f->p[i];
}

/* A load; where it is more than some kind's availability leaves room for, the nearest to the old one's side that is not. */
static void set_load(struct fit *f, uint32_t i, uint32_t cause, double load)
{
	double *u = &f->u[i * MAX + cause], low = *u, high = load;
	for (int h = 0; h < HALVINGS; h++) {
		double was = f->s[cause];
		bool ok;
		*u = h ? (low + high) / 2 : load;
		set_rarity(f, cause);
		ok = has_room(f, i);
		for (uint32_t k = 0; k < f->n && ok && f->s[cause] > was; k++)
			ok = has_room(f, k);
		if (ok && !h)
			return;
		if (ok)
			low = *u;
		else
			high = *u;
		f->s[cause] = was;
	}
	*u = low;
	set_rarity(f, cause);
}

/* The load that fits the kind's coefficients best, everything else as it is: they are linear in it. */
static double best_load(const struct fit *f, uint32_t i, uint32_t cause)
{
	double up = 0, down = 0;
	for (uint32_t k = 0; k < f->n; k++) {
		double load = f->u[k * MAX + cause];
		if (k == i || load <= 0)
			continue;
		double others = together(f, i, k, cause), g = unit(f->p, i, k), slope = others * load / g;
		up += slope * (wanted(f, i, k) - (others - 1) / g);
		down += slope * slope;
	}
	return down > 0 ? FTH_MAX(up / down, 0) : f->u[i * MAX + cause];
}

/* The pair whose coefficient is furthest above what the causes give. */
static double worst_pair(const struct fit *f, uint32_t *ret_a, uint32_t *ret_b)
{
	double worst = 0;
	for (uint32_t a = 0; a < f->n; a++)
		for (uint32_t b = 0; b < a; b++) {
			double want = f->full[(size_t)a * f->n + b] ? 0 : wanted(f, a, b);
			double miss = want > worst ? want - (together(f, a, b, MAX) - 1) / unit(f->p, a, b) : 0;
			if (miss > worst) {
				worst = miss;
				*ret_a = a;
				*ret_b = b;
			}
		}
	return worst;
}

static void sweep_all(struct fit *f)
{
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double moved = 0;
		for (uint32_t k = 0; k < f->causes; k++)
			for (uint32_t i = 0; i < f->n; i++) {
				double was = f->u[i * MAX + k], load = best_load(f, i, k);
				if (load != was)
					set_load(f, i, k, load);
				moved = FTH_MAX(moved, fabs(f->u[i * MAX + k] - was) / (was + 1e-3));
			}
		if (moved < 1e-7)
			return;
	}
}

/* One cause after another, each begun with the pair that is furthest off, all loads fitted again. */
static void fit_shared(struct fit *f)
{
	uint32_t a = 0, b = 0;
	while (f->causes < MAX) {
		double miss = worst_pair(f, &a, &b);
		if (miss < CLOSE)
			return;
		double load = sqrt(miss * unit(f->p, a, b) / together(f, a, b, MAX));
		uint32_t k = f->causes++;
		set_load(f, a, k, load);
		set_load(f, b, k, load);
		if (f->u[a * MAX + k] * f->u[b * MAX + k] <= 0) { /* no room */
			f->u[a * MAX + k] = f->u[b * MAX + k] = 0;
			f->causes--;
			f->full[(size_t)a * f->n + b] = true;
			continue;
		}
		sweep_all(f);
	}
}

/* A cause for each pair: exact, where there are few pairs and room for all of them. */
static bool fit_pairs(struct fit *f)
{
	for (uint32_t a = 0; a < f->n; a++)
		for (uint32_t b = 0; b < a; b++) {
			double want = wanted(f, a, b);
			if (want <= 0)
				continue;
			if (f->causes == MAX)
				return false;
			uint32_t k = f->causes++;
			f->u[a * MAX + k] = f->u[b * MAX + k] = sqrt(want * unit(f->p, a, b));
			set_rarity(f, k);
		}
	for (uint32_t i = 0; i < f->n; i++)
		if (!has_room(f, i))
			return false;
	return true;
}

static double misfit(const struct fit *f)
{
	double most = 0;
	for (uint32_t a = 0; a < f->n; a++)
		for (uint32_t b = 0; b < a; b++)
			most = FTH_MAX(most, fabs(wanted(f, a, b) - (together(f, a, b, MAX) - 1) / unit(f->p, a, b)));
	return most;
}

void fth_causes_fit(struct fth_causes *ret, const double *rho, const double *p, uint32_t kinds)
{
	size_t size = (size_t)kinds * MAX;
	struct fit shared = {.rho = rho, .p = p, .n = kinds, .u = fth_alloc((size + 1) * sizeof(double))};
	struct fit pairs = shared, *best = &shared;
	pairs.u = fth_alloc((size + 1) * sizeof(double));
	shared.full = fth_alloc((size_t)kinds * kinds + 1);
	fit_shared(&shared);
	free(shared.full);
	if (misfit(&shared) > CLOSE && fit_pairs(&pairs))
		best = &pairs;
	*ret = (struct fth_causes){.n = best->causes, .t = fth_alloc((size + 1) * sizeof(double))};
	memcpy(ret->s, best->s, sizeof(ret->s));
	for (uint32_t i = 0; i < kinds; i++)
		for (uint32_t k = 0; k < best->causes; k++)
			ret->t[i * MAX + k] = best->s[k] > 0 ? FTH_MIN(taken(best->u[i * MAX + k], best->s[k]) / best->s[k], 1) : 0;
	free(shared.u);
	free(pairs.u);
}

double fth_causes_correlation(const struct fth_causes *c, const double *p, uint32_t a, uint32_t b)
{
	double x = 1;
	for (uint32_t k = 0; k < c->n; k++) {
		double s = c->s[k], ta = c->t[a * MAX + k], tb = c->t[b * MAX + k];
		x *= 1 + s * (1 - s) * ta * tb / ((1 - s * ta) * (1 - s * tb));
	}
	return (x - 1) / unit(p, a, b);
}
