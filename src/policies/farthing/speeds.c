/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a task is beside others, by class: the logarithm of its speed is a sum of one term for each neighbour. The
 * terms are fitted by least squares as speeds are observed (recursively, one observation at a time), drawn towards
 * a prior by a ridge, so that sets of three and more teach about their pairs. Where a set keeps away from what
 * the terms say, what was observed of it is remembered and counts for itself.
 */
#include "policies/farthing/own.h"

enum { MOST_NEIGHBOURS = 48 };

struct own_victim {
	uint32_t n, cap;
	uint32_t *neighbour;  /* classes, in the order met */
	double *term;         /* log of the pair's speed */
	double *spread;       /* [cap * cap]: the inverse of what the squares sum to */
};

/* How many pairs seen for the first time the speed told for all of them is worth. */
static const double TOLD = 20;

void own_speeds_init(struct own_speeds *s, double prior, bool learn, bool ignore)
{
	*s = (struct own_speeds){.told = prior, .prior = prior, .ridge = 0.02, .learn = learn, .ignore = ignore,
				 .firsts = TOLD * fth_log(prior), .nfirsts = TOLD};
}

void own_speeds_release(struct own_speeds *s)
{
	for (size_t i = 0; i < s->victims.len; i++) {
		free(s->victims.data[i]->neighbour);
		free(s->victims.data[i]->term);
		free(s->victims.data[i]->spread);
		free(s->victims.data[i]);
	}
	fth_vec_release(&s->victims);
	fth_vec_release(&s->class_of);
	fth_vec_release(&s->sets);
	fth_map_release(&s->set_of);
	free(s->pair);
}

static void grow(struct own_speeds *s)
{
	uint32_t stride = FTH_MAX(16u, s->stride * 2);
	double *pair = fth_alloc((size_t)stride * stride * sizeof(*pair));
	for (uint32_t a = 0; a < s->stride; a++)
		memcpy(pair + (size_t)a * stride, s->pair + (size_t)a * s->stride, s->stride * sizeof(*pair));
	free(s->pair);
	s->pair = pair;
	s->stride = stride;
}

uint32_t own_speeds_class(struct own_speeds *s, fth_sym klass)
{
	while (s->class_of.len <= klass)
		fth_vec_push(&s->class_of, FTH_NONE);
	if (s->class_of.data[klass] == FTH_NONE) {
		s->class_of.data[klass] = s->n++;
		if (s->n > s->stride)
			grow(s);
		fth_vec_push(&s->victims, fth_alloc(sizeof(struct own_victim)));
	}
	return s->class_of.data[klass];
}

/* The place of a neighbour among a victim's terms; FTH_NONE: it has too many. */
static uint32_t term_of(const struct own_speeds *s, struct own_victim *v, uint32_t neighbour)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->neighbour[i] == neighbour)
			return i;
	if (v->n == MOST_NEIGHBOURS)
		return FTH_NONE;
	if (v->n == v->cap) {
		uint32_t cap = FTH_MIN((uint32_t)MOST_NEIGHBOURS, FTH_MAX(8u, v->cap * 2));
		double *spread = fth_alloc((size_t)cap * cap * sizeof(*spread));
		for (uint32_t a = 0; a < v->n; a++)
			memcpy(spread + (size_t)a * cap, v->spread + (size_t)a * v->cap, v->n * sizeof(*spread));
		free(v->spread);
		v->spread = spread;
		v->neighbour = fth_realloc(v->neighbour, cap * sizeof(*v->neighbour));
		v->term = fth_realloc(v->term, cap * sizeof(*v->term));
		v->cap = cap;
	}
	v->neighbour[v->n] = neighbour;
	v->term[v->n] = fth_log(s->prior);
	for (uint32_t a = 0; a <= v->n; a++)
		v->spread[(size_t)a * v->cap + v->n] = v->spread[(size_t)v->n * v->cap + a] = 0;
	v->spread[(size_t)v->n * v->cap + v->n] = 1 / s->ridge;
	return v->n++;
}

double own_speeds_product(const struct own_speeds *s, uint32_t victim, const uint32_t *others, uint32_t n)
{
	double rate = 1;
	for (uint32_t i = 0; i < n; i++)
		rate *= own_pair(s, victim, others[i]);
	return rate;
}

static uint64_t set_key(uint32_t victim, uint64_t hash)
{
	return fth_hash_u64(hash ^ (uint64_t)victim << 40);
}

double own_speeds_in_set(const struct own_speeds *s, uint32_t victim, uint64_t hash, double product)
{
	uint64_t at;
	if (!own_speeds_has_sets(s) || !fth_map_get(&s->set_of, set_key(victim, hash), &at))
		return product;
	const struct own_set *e = &s->sets.data[at];
	double weight = e->n / (e->n + 0.5);
	return product + weight * (e->rate - product);
}

/* The set's own memory is opened once the fitted terms are off by more than this. */
static const double OFF = 0.005;

static void remember(struct own_speeds *s, uint32_t victim, const uint32_t *others, uint32_t n, double rate)
{
	uint64_t hash = own_class_hash(victim), at;
	for (uint32_t i = 0; i < n; i++)
		hash += own_class_hash(others[i]);
	double product = own_speeds_product(s, victim, others, n);
	bool off = product - rate > OFF || rate - product > OFF;
	if (fth_map_get(&s->set_of, set_key(victim, hash), &at)) {
		struct own_set *e = &s->sets.data[at];
		e->n = FTH_MIN(e->n + 1, 16u);
		e->rate += (rate - e->rate) / e->n;
		if (off)
			return;
		fth_map_del(&s->set_of, set_key(victim, hash));
		s->nsets--;
	} else if (off) {
		fth_map_put(&s->set_of, set_key(victim, hash), s->sets.len);
		fth_vec_push(&s->sets, ((struct own_set){rate, 1}));
		s->nsets++;
	}
}

/* Pairs never seen are thought to be as good as those that were: else classes that do not come back would never teach anything. */
static void learn_of_new(struct own_speeds *s, uint32_t n, double term)
{
	if (!n)
		return;
	s->firsts += n * term;
	s->nfirsts += n;
	s->prior = FTH_MAX(s->told, fth_exp(s->firsts / s->nfirsts));
}

void own_speeds_observe(struct own_speeds *s, uint32_t victim, const uint32_t *others, uint32_t n, double rate)
{
	struct own_victim *v = s->victims.data[victim];
	uint32_t known = v->n;
	double x[MOST_NEIGHBOURS] = {0}, gain[MOST_NEIGHBOURS], said = 0, size = 1;
	if (!s->learn || s->ignore || !n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = term_of(s, v, others[i]);
		if (place == FTH_NONE)
			return;
		x[place]++;
	}
	learn_of_new(s, v->n - known, fth_log(FTH_MIN(1, FTH_MAX(rate, 0.01))) / n);
	for (uint32_t a = 0; a < v->n; a++) {
		gain[a] = 0;
		for (uint32_t b = 0; b < v->n; b++)
			gain[a] += v->spread[(size_t)a * v->cap + b] * x[b];
		said += x[a] * v->term[a];
	}
	for (uint32_t a = 0; a < v->n; a++)
		size += x[a] * gain[a];
	double error = own_speeds_product(s, victim, others, n) - rate;
	s->off += ((error < 0 ? -error : error) - s->off) / 64;
	double off = fth_log(FTH_MIN(1, FTH_MAX(rate, 0.01))) - said;
	for (uint32_t a = 0; a < v->n; a++) {
		v->term[a] += gain[a] / size * off;
		for (uint32_t b = 0; b < v->n; b++)
			v->spread[(size_t)a * v->cap + b] -= gain[a] * gain[b] / size;
		s->pair[(size_t)victim * s->stride + v->neighbour[a]] = FTH_MIN(1, FTH_MAX(fth_exp(v->term[a]), 0.05));
	}
	remember(s, victim, others, n, rate);
}
