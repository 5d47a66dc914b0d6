/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/correlated.h"

#include <math.h>

#include "optimize/common_cause.h"

struct fth_joint {
	uint32_t n;
	/* States, each once. */
	uint8_t *up; /* nstates x n */
	double *weight;
	size_t nstates;
	/* Causes. */
	double *p; /* availabilities; NULL: there are states */
	struct fth_causes causes;
};

void fth_joint_free(struct fth_joint *j)
{
	if (!j)
		return;
	free(j->up);
	free(j->weight);
	free(j->p);
	fth_causes_release(&j->causes);
	free(j);
}

uint32_t fth_joint_kinds(const struct fth_joint *j)
{
	return j->n;
}

/* ---- common causes ---- */

int fth_joint_from_matrix(struct fth_joint **ret, const double *matrix, const double *p, uint32_t n, struct fth_error *err)
{
	struct fth_joint *j = fth_alloc(sizeof(*j));
	int r = n ? 0 : fth_fail(err, -EINVAL, "the correlation matrix is empty");
	j->n = n;
	j->p = fth_alloc((n + 1) * sizeof(double));
	for (uint32_t i = 0; i < n && !r; i++) {
		j->p[i] = p[i];
		if (!(p[i] > 0) || !(p[i] < 1))
			r = fth_fail(err, -EINVAL, "row %u: availability %g is not between 0 and 1", i + 1, p[i]);
		else if (matrix[(size_t)i * n + i] != 1)
			r = fth_fail(err, -EINVAL, "row %u: a kind's correlation with itself is %g, not 1", i + 1, matrix[(size_t)i * n + i]);
		for (uint32_t k = 0; k < i && !r; k++) {
			double rho = matrix[(size_t)i * n + k];
			if (!(rho >= -1) || !(rho < 1))
				r = fth_fail(err, -EINVAL, "row %u, column %u: %g is not a correlation from -1 to below 1", i + 1, k + 1, rho);
			else if (!(fabs(rho - matrix[(size_t)k * n + i]) <= 1e-9))
				r = fth_fail(err, -EINVAL, "row %u, column %u: the matrix is not symmetric", i + 1, k + 1);
		}
	}
	if (r) {
		fth_joint_free(j);
		return r;
	}
	fth_causes_fit(&j->causes, matrix, p, n);
	*ret = j;
	return 0;
}

/* A pool or set of kinds while the cases of the causes are gone through. */
struct cases {
	const struct fth_joint *j;
	uint32_t *members; /* heaviest first */
	uint32_t cause[FTH_CAUSES_MAX], n; /* those that two or more members share: the others' doing is as good as a kind's own */
	struct fth_pool_part *parts;       /* of the members, in the case at hand */
	uint32_t nparts;
	uint64_t m;
	bool all_down; /* asked for: that all are down, not that the capacity is missing */
};

static int heavier(const void *a, const void *b)
{
	const struct fth_pool_part *x = a, *y = b;
	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

/* Probability that independent parts, heaviest first, have fewer than m units. */
static double independent_shortfall(const struct fth_pool_part *parts, uint32_t n, uint64_t m)
{
	double bad = fth_pool_shortfall(parts, n, m, 1e-16, 1, 1000000);
	return bad < 0 ? 1 - fth_pool_availability(parts, n, m) : bad;
}

static double settle(const struct cases *c)
{
	double all = 1;
	if (!c->all_down)
		return independent_shortfall(c->parts, c->nparts, c->m);
	for (uint32_t i = 0; i < c->nparts; i++)
		all *= 1 - c->parts[i].p;
	return all;
}

/* Probability of the bad event over all cases of the causes from k on. A case below 1e-15 counts as bad for a pool and as not so
 * for a set, so that errors are on the safe side of both uses. */
static double by_cause(struct cases *c, uint32_t k, double prob)
{
	if (prob < 1e-15)
		return c->all_down ? 0 : prob;
	if (k == c->n)
		return prob * settle(c);
	const struct fth_causes *causes = &c->j->causes;
	double was[c->nparts + 1], s = causes->s[c->cause[k]];
	double bad = by_cause(c, k + 1, prob * (1 - s));
	for (uint32_t i = 0; i < c->nparts; i++) {
		was[i] = c->parts[i].p;
		c->parts[i].p *= 1 - causes->t[c->members[i] * FTH_CAUSES_MAX + c->cause[k]];
	}
	bad += by_cause(c, k + 1, prob * s);
	for (uint32_t i = 0; i < c->nparts; i++)
		c->parts[i].p = was[i];
	return bad;
}

/* members: kinds of the pool or set; weights may be NULL. */
static double bad_by_causes(const struct fth_joint *j, const uint32_t *set, uint32_t n, const struct fth_pool_part *weights,
			    uint64_t m, double failure)
{
	const struct fth_causes *causes = &j->causes;
	uint32_t *members = fth_alloc((n + 1) * sizeof(*members));
	struct cases c = {.j = j, .members = members, .nparts = n, .m = m, .all_down = !weights,
			  .parts = fth_alloc(((size_t)n + 1) * sizeof(*c.parts))};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;
		for (; at && weights && weights[members[at - 1]].weight < weights[set[i]].weight; at--)
			members[at] = members[at - 1];
		members[at] = set[i];
	}
	for (uint32_t i = 0; i < n; i++)
		c.parts[i] = (struct fth_pool_part){weights ? weights[members[i]].weight : 1, j->p[members[i]] * (1 - failure)};
	for (uint32_t k = 0; k < causes->n; k++) {
		uint32_t sharing = 0;
		for (uint32_t i = 0; i < n; i++)
			sharing += causes->t[members[i] * FTH_CAUSES_MAX + k] > 0;
		if (sharing < 2)
			continue;
		c.cause[c.n++] = k;
		for (uint32_t i = 0; i < n; i++)
			c.parts[i].p = FTH_MIN(c.parts[i].p / (1 - causes->s[k] * causes->t[members[i] * FTH_CAUSES_MAX + k]), 1);
	}
	double bad = by_cause(&c, 0, 1);
	free(members);
	free(c.parts);
	return bad;
}

/* ---- states ---- */

static int compare_states(const void *a, const void *b, void *joint)
{
	const struct fth_joint *j = joint;
	return memcmp(j->up + *(const size_t *)a * j->n, j->up + *(const size_t *)b * j->n, j->n);
}

/* The same state measured at several times is one. */
static void merge_states(struct fth_joint *j)
{
	size_t *order = fth_alloc((j->nstates + 1) * sizeof(*order)), kept = 0;
	for (size_t i = 0; i < j->nstates; i++)
		order[i] = i;
	qsort_r(order, j->nstates, sizeof(*order), compare_states, j);
	uint8_t *up = fth_alloc(j->nstates * j->n + 1);
	double *weight = fth_alloc((j->nstates + 1) * sizeof(*weight));
	for (size_t i = 0; i < j->nstates; i++) {
		const uint8_t *row = j->up + order[i] * j->n;
		if (!kept || memcmp(up + (kept - 1) * j->n, row, j->n))
			memcpy(up + kept++ * j->n, row, j->n);
		weight[kept - 1] += j->weight[order[i]];
	}
	free(j->up);
	free(j->weight);
	free(order);
	j->up = up;
	j->weight = weight;
	j->nstates = kept;
}

int fth_joint_from_states(struct fth_joint **ret, const uint8_t *up, const double *weight, size_t nstates, uint32_t n,
			  struct fth_error *err)
{
	double sum = 0;
	for (size_t s = 0; s < nstates; s++) {
		if (!(weight[s] > 0) || !isfinite(weight[s]))
			return fth_fail(err, -EINVAL, "state %zu: weight %g is not a positive number", s + 1, weight[s]);
		sum += weight[s];
	}
	if (!nstates || !n)
		return fth_fail(err, -EINVAL, "there is no state to learn from");
	struct fth_joint *j = fth_alloc(sizeof(*j));
	j->n = n;
	j->nstates = nstates;
	j->up = fth_alloc(nstates * n);
	j->weight = fth_alloc(nstates * sizeof(double));
	for (size_t i = 0; i < nstates * n; i++)
		j->up[i] = up[i] != 0;
	for (size_t s = 0; s < nstates; s++)
		j->weight[s] = weight[s] / sum;
	merge_states(j);
	*ret = j;
	return 0;
}

void fth_joint_marginals(const struct fth_joint *j, double *p)
{
	for (uint32_t i = 0; i < j->n; i++) {
		p[i] = j->p ? j->p[i] : 0;
		for (size_t s = 0; s < j->nstates; s++)
			p[i] += j->up[s * j->n + i] ? j->weight[s] : 0;
	}
}

void fth_joint_correlations(const struct fth_joint *j, double *matrix)
{
	double *p = fth_alloc((j->n + 1) * sizeof(*p));
	fth_joint_marginals(j, p);
	for (uint32_t a = 0; a < j->n; a++)
		for (uint32_t b = 0; b < j->n; b++) {
			double both = 0, sd = sqrt(FTH_MAX(p[a] * (1 - p[a]) * p[b] * (1 - p[b]), 0));
			for (size_t s = 0; s < j->nstates; s++)
				both += j->up[s * j->n + a] && j->up[s * j->n + b] ? j->weight[s] : 0;
			matrix[(size_t)a * j->n + b] = a == b  ? 1
						       : j->p  ? fth_causes_correlation(&j->causes, p, a, b)
						       : sd > 1e-12 ? (both - p[a] * p[b]) / sd
								    : 0;
		}
	free(p);
}

/* Given a state, kinds that are up still fail on their own. */
static double state_shortfall(const struct fth_joint *j, const uint8_t *up, const struct fth_pool_part *parts, uint64_t m, double failure)
{
	uint64_t have = 0;
	for (uint32_t i = 0; i < j->n; i++)
		have += up[i] ? parts[i].weight : 0;
	if (have < m || failure == 0)
		return have < m;
	struct fth_pool_part *left = fth_alloc((j->n + 1) * sizeof(*left));
	uint32_t n = 0;
	for (uint32_t i = 0; i < j->n; i++)
		if (up[i] && parts[i].weight)
			left[n++] = (struct fth_pool_part){parts[i].weight, 1 - failure};
	qsort(left, n, sizeof(*left), heavier);
	double bad = independent_shortfall(left, n, m);
	free(left);
	return bad;
}

/* ---- both ---- */

double fth_joint_availability(const struct fth_joint *j, const struct fth_pool_part *parts, uint64_t m, double failure)
{
	double bad = 0;
	if (!m)
		return 1;
	if (!j->p) {
		for (size_t s = 0; s < j->nstates; s++)
			bad += j->weight[s] * state_shortfall(j, j->up + s * j->n, parts, m, failure);
		return FTH_MIN(1 - bad, FTH_JOINT_MEASURED_MAX);
	}
	uint32_t *members = fth_alloc((j->n + 1) * sizeof(*members)), n = 0;
	for (uint32_t i = 0; i < j->n; i++)
		if (parts[i].weight)
			members[n++] = i;
	bad = bad_by_causes(j, members, n, parts, m, failure);
	free(members);
	return 1 - bad;
}

double fth_joint_all_down(const struct fth_joint *j, const uint32_t *set, uint32_t n, double failure)
{
	if (j->p)
		return bad_by_causes(j, set, n, NULL, 0, failure);
	double sum = 0;
	for (size_t s = 0; s < j->nstates; s++) {
		double all = j->weight[s];
		for (uint32_t i = 0; i < n; i++)
			all *= j->up[s * j->n + set[i]] ? failure : 1;
		sum += all;
	}
	return sum;
}
