/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/availability.h"

void fth_capacity_dist_init(struct fth_capacity_dist *d, size_t len)
{
	d->len = len;
	d->pmf = fth_alloc(len * sizeof(double));
	d->spare = fth_alloc(len * sizeof(double));
	d->pmf[0] = 1;
}

void fth_capacity_dist_release(struct fth_capacity_dist *d)
{
	free(d->pmf);
	free(d->spare);
	*d = (struct fth_capacity_dist){0};
}

void fth_capacity_dist_reset(struct fth_capacity_dist *d)
{
	memset(d->pmf, 0, d->len * sizeof(double));
	d->pmf[0] = 1;
}

void fth_capacity_dist_copy(struct fth_capacity_dist *to, const struct fth_capacity_dist *from)
{
	assert(to->len == from->len);
	memcpy(to->pmf, from->pmf, from->len * sizeof(double));
}

static void shift_add(double *restrict out, const double *restrict in, size_t len, size_t w, double p)
{
	double q = 1 - p;
	size_t low = FTH_MIN(w, len);
	for (size_t c = 0; c < low; c++)
		out[c] = q * in[c];
	for (size_t c = low; c < len; c++)
		out[c] = q * in[c] + p * in[c - w];
}

void fth_capacity_dist_add(struct fth_capacity_dist *d, uint64_t weight, double p)
{
	if (!weight)
		return;
	shift_add(d->spare, d->pmf, d->len, (size_t)FTH_MIN(weight, (uint64_t)d->len), p);
	double *t = d->pmf;
	d->pmf = d->spare;
	d->spare = t;
}

void fth_capacity_dist_merge(struct fth_capacity_dist *d, const struct fth_capacity_dist *other)
{
	size_t n = FTH_MIN(d->len, other->len);
	memset(d->spare, 0, d->len * sizeof(double));
	for (size_t a = 0; a < n; a++) {
		double f = other->pmf[a];
		if (f == 0)
			continue;
		for (size_t c = a; c < d->len; c++)
			d->spare[c] += f * d->pmf[c - a];
	}
	double *t = d->pmf;
	d->pmf = d->spare;
	d->spare = t;
}

double fth_capacity_dist_below(const struct fth_capacity_dist *d, uint64_t m)
{
	double sum = 0;
	assert(m <= d->len);
	for (size_t c = 0; c < m; c++)
		sum += d->pmf[c];
	return sum;
}

double fth_pool_availability(const struct fth_pool_part *parts, size_t n, uint64_t m)
{
	struct fth_capacity_dist d;
	if (!m)
		return 1;
	fth_capacity_dist_init(&d, (size_t)m);
	for (size_t i = 0; i < n; i++)
		fth_capacity_dist_add(&d, parts[i].weight, parts[i].p);
	double a = 1 - fth_capacity_dist_below(&d, m);
	fth_capacity_dist_release(&d);
	return a;
}

/* ---- by branching ---- */

struct branching {
	const struct fth_pool_part *parts;
	double floor, enough, bad;
	uint64_t steps, max_steps;
};

/* need: units still wanting; left: units of the parts from i on. */
static void fall_short(struct branching *b, size_t i, uint64_t need, uint64_t left, double prob)
{
	if (left < need || prob < b->floor) {
		b->bad += prob;
		return;
	}
	if (b->bad > b->enough || ++b->steps > b->max_steps)
		return;
	const struct fth_pool_part *part = &b->parts[i];
	left -= part->weight;
	fall_short(b, i + 1, need, left, prob * (1 - part->p));
	if (part->weight < need)
		fall_short(b, i + 1, need - part->weight, left, prob * part->p);
}

double fth_pool_shortfall(const struct fth_pool_part *parts, size_t n, uint64_t m, double floor, double enough, uint64_t max_steps)
{
	struct branching b = {.parts = parts, .floor = floor, .enough = enough, .max_steps = max_steps ? max_steps : UINT64_MAX};
	uint64_t left = 0;
	if (!m)
		return 0;
	for (size_t i = 0; i < n; i++)
		left += parts[i].weight;
	fall_short(&b, 0, m, left, 1);
	return b.steps > b.max_steps ? -1 : b.bad;
}

/* ---- tiers ---- */

static bool shared_kind(const struct fth_tier *tiers, size_t ntiers, size_t kind)
{
	size_t users = 0;
	for (size_t t = 0; t < ntiers; t++)
		users += tiers[t].parts[kind].weight > 0;
	return users > 1;
}

struct tier_state {
	const struct fth_tier *tiers;
	size_t ntiers;
	const size_t *shared;
	size_t nshared;
	struct fth_capacity_dist *own; /* of the kinds a tier has for itself, one per tier; cumulated */
	uint64_t *have;                /* units of shared kinds that are up, per tier */
	uint64_t *left;                /* units of undecided shared kinds, per tier */
	uint64_t *alone;               /* units of its own kinds, per tier */
};

/* All tiers served whatever else falls: 1; some tier lost whatever else stands: 0; open: -1. */
static int settled(const struct tier_state *s)
{
	bool all = true;
	for (size_t t = 0; t < s->ntiers; t++) {
		if (s->have[t] + s->left[t] + s->alone[t] < s->tiers[t].capacity)
			return 0;
		all &= s->have[t] >= s->tiers[t].capacity;
	}
	return all ? 1 : -1;
}

/* Sum over the states of the shared kinds: given one, the tiers are independent. */
static double given_shared(struct tier_state *s, size_t i, double prob)
{
	int known = settled(s);
	if (known >= 0)
		return known ? prob : 0;
	if (i == s->nshared) {
		for (size_t t = 0; t < s->ntiers; t++)
			if (s->have[t] < s->tiers[t].capacity)
				prob *= 1 - s->own[t].pmf[s->tiers[t].capacity - s->have[t] - 1];
		return prob;
	}
	size_t kind = s->shared[i];
	double p = s->tiers[0].parts[kind].p;
	for (size_t t = 0; t < s->ntiers; t++)
		s->left[t] -= s->tiers[t].parts[kind].weight;
	double sum = given_shared(s, i + 1, prob * (1 - p));
	for (size_t t = 0; t < s->ntiers; t++)
		s->have[t] += s->tiers[t].parts[kind].weight;
	sum += given_shared(s, i + 1, prob * p);
	for (size_t t = 0; t < s->ntiers; t++) {
		s->have[t] -= s->tiers[t].parts[kind].weight;
		s->left[t] += s->tiers[t].parts[kind].weight;
	}
	return sum;
}

/* Distribution of what a tier has for itself, as P(at most c). */
static void own_kinds(struct tier_state *s, size_t t, size_t nkinds)
{
	const struct fth_tier *tier = &s->tiers[t];
	struct fth_capacity_dist *d = &s->own[t];
	fth_capacity_dist_init(d, (size_t)FTH_MAX(tier->capacity, (uint64_t)1));
	for (size_t k = 0; k < nkinds; k++) {
		if (shared_kind(s->tiers, s->ntiers, k)) {
			s->left[t] += tier->parts[k].weight;
			continue;
		}
		s->alone[t] += tier->parts[k].weight;
		fth_capacity_dist_add(d, tier->parts[k].weight, tier->parts[k].p);
	}
	for (size_t c = 1; c < d->len; c++)
		d->pmf[c] += d->pmf[c - 1];
}

int fth_tiers_availability(const struct fth_tier *tiers, size_t ntiers, size_t nkinds, struct fth_tiers_availability *ret,
			   struct fth_error *err)
{
	size_t *shared = fth_alloc((nkinds + 1) * sizeof(*shared)), nshared = 0;
	for (size_t k = 0; k < nkinds; k++)
		if (shared_kind(tiers, ntiers, k))
			shared[nshared++] = k;
	if (nshared > FTH_TIERS_SHARED_MAX) {
		free(shared);
		return fth_fail(err, -E2BIG, "%zu kinds serve several tiers; at most %d can be enumerated", nshared,
				FTH_TIERS_SHARED_MAX);
	}
	uint64_t *sums = fth_alloc((3 * ntiers + 1) * sizeof(*sums));
	struct tier_state s = {.tiers = tiers, .ntiers = ntiers, .shared = shared, .nshared = nshared,
			       .own = fth_alloc((ntiers + 1) * sizeof(*s.own)),
			       .have = sums, .left = sums + ntiers, .alone = sums + 2 * ntiers};
	struct fth_tiers_availability a = {.independent = 1, .lowest = 1};
	for (size_t t = 0; t < ntiers; t++) {
		double alone = fth_pool_availability(tiers[t].parts, nkinds, tiers[t].capacity);
		a.independent *= alone;
		a.lowest = FTH_MIN(a.lowest, alone);
		own_kinds(&s, t, nkinds);
	}
	a.actual = given_shared(&s, 0, 1);
	for (size_t t = 0; t < ntiers; t++)
		fth_capacity_dist_release(&s.own[t]);
	free(s.own);
	free(sums);
	free(shared);
	*ret = a;
	return 0;
}

double fth_tier_target(double p, unsigned k)
{
	return k < 2 ? p : fth_exp(fth_log(p) / k);
}
