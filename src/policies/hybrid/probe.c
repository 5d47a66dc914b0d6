/* SPDX-License-Identifier: Apache-2.0 */
/* Where the probes of a new job go. */
#include "policies/hybrid/core.h"

bool fth_hybrid_refuses(const struct fth_worker *w)
{
	return w->longs || w->long_runs;
}

static uint32_t count_probes(const struct fth_hybrid *h, const struct fth_hjob *j)
{
	double n = h->params->probe_ratio * (double)j->ntasks;
	return (uint32_t)FTH_MAX((int64_t)n, h->params->min_probes);
}

/* All static workers, then the transients that are up. */
static uint32_t any_worker(struct fth_hybrid *h)
{
	uint32_t k = fth_draw_below(&h->draw, h->nstatic + (uint32_t)h->up.len);
	return k < h->nstatic ? k : h->up.data[k - h->nstatic];
}

/* For a short job the authors' program draws a worker that it does not use. */
static void draw_in_vain(struct fth_hybrid *h)
{
	fth_draw_below(&h->draw, h->nstatic - h->nshort);
}

static void probe_anywhere(struct fth_hybrid *h, uint32_t job)
{
	uint32_t n = count_probes(h, &h->jobs.data[job]);
	if (!h->jobs.data[job].is_long)
		draw_in_vain(h);
	for (uint32_t k = 0; k < n; k++)
		fth_hybrid_send(h, any_worker(h), job, FTH_ONE_WAY);
}

static void assign(struct fth_hybrid *h, uint32_t job)
{
	const struct fth_hjob *j = &h->jobs.data[job];
	fth_vec_reserve(&h->chosen, j->ntasks);
	fth_central_assign(&h->central, j->ntasks, j->est, h->now, h->chosen.data);
	for (uint32_t k = 0, n = j->ntasks; k < n; k++)
		fth_hybrid_send(h, h->nshort + h->chosen.data[k], job, FTH_ONE_WAY);
}

/* ---- Eagle: workers refuse, and tell what they know ---- */

/* A scheduler while it places one job. */
struct search {
	uint32_t hint; /* the freshest bit map seen; FTH_NONE */
	double hint_time;
	uint32_t first; /* of chosen: probes of the first round; those of the others are behind */
};

static bool contact(struct fth_hybrid *h, struct search *s, uint32_t w)
{
	const struct fth_worker *x = &h->workers.data[w];
	if (x->hint != FTH_NONE && x->hint_time > s->hint_time) {
		s->hint = x->hint;
		s->hint_time = x->hint_time;
	}
	return !fth_hybrid_refuses(x);
}

/* Static short-only workers, transients, those of the others that the bit map calls free of long work. */
static uint32_t hinted_count(struct fth_hybrid *h, uint32_t hint)
{
	uint32_t clear = hint == FTH_NONE ? h->nstatic - h->nshort : fth_hints_clear_count(&h->hints, hint);
	return h->nshort + clear + (uint32_t)h->up.len;
}

static uint32_t hinted_worker(struct fth_hybrid *h, uint32_t hint, uint32_t n)
{
	uint32_t k = fth_draw_below(&h->draw, n), up = (uint32_t)h->up.len;
	if (k < h->nshort)
		return k;
	k -= h->nshort;
	if (k < up)
		return h->up.data[k];
	k -= up;
	return h->nshort + (hint == FTH_NONE ? k : fth_hints_clear_at(&h->hints, hint, k));
}

static uint32_t fallback_worker(struct fth_hybrid *h)
{
	uint32_t n = h->nshort + (uint32_t)h->up.len;
	if (!n) /* no short-only partition: anywhere, and wait */
		return fth_draw_below(&h->draw, h->nstatic);
	uint32_t k = fth_draw_below(&h->draw, n);
	return k < h->nshort ? k : h->up.data[k - h->nshort];
}

static void first_round(struct fth_hybrid *h, struct search *s, uint32_t probes)
{
	draw_in_vain(h);
	for (uint32_t k = 0; k < probes; k++) {
		uint32_t w = any_worker(h);
		if (contact(h, s, w))
			fth_vec_push(&h->chosen, w);
	}
	s->first = (uint32_t)h->chosen.len;
}

static void second_round(struct fth_hybrid *h, struct search *s, uint32_t probes)
{
	uint32_t hint = s->hint, n = hinted_count(h, hint);
	for (uint32_t k = 0; k < probes && n; k++) {
		uint32_t w = hinted_worker(h, hint, n);
		if (contact(h, s, w))
			fth_vec_push(&h->chosen, w);
	}
}

static void third_round(struct fth_hybrid *h, struct search *s, uint32_t probes)
{
	if (!probes)
		return;
	uint32_t n = hinted_count(h, s->hint);
	for (uint32_t k = 0; k < probes && n; k++)
		fth_draw_below(&h->draw, n); /* drawn and not used, likewise */
	for (uint32_t k = 0; k < probes; k++)
		fth_vec_push(&h->chosen, fallback_worker(h));
}

/* Enough probes must be where nobody can take the machine away: while too many are on transients, one of those, drawn,
 * goes to a worker that stays, drawn too. */
static void keep_copies(struct fth_hybrid *h, const struct fth_hjob *j)
{
	uint32_t need = h->params->rule == FTH_RULE_TASK ? j->ntasks : h->params->rule == FTH_RULE_JOB ? 1 : 0;
	uint32_t may = (uint32_t)h->chosen.len - FTH_MIN(need, (uint32_t)h->chosen.len);
	if (!h->up.len)
		return;
	fth_vec_clear(&h->on_transients);
	for (uint32_t k = 0; k < h->chosen.len; k++)
		if (h->workers.data[h->chosen.data[k]].transient)
			fth_vec_push(&h->on_transients, k);
	uint32_t *at = h->on_transients.data;
	for (uint32_t n = (uint32_t)h->on_transients.len; n > may; n--) {
		uint32_t k = fth_draw_below(&h->draw, n), probe = at[k];
		memmove(at + k, at + k + 1, (n - k - 1) * sizeof(*at));
		h->chosen.data[probe] = fth_hybrid_safe_worker(h);
	}
}

static void probe_with_hints(struct fth_hybrid *h, uint32_t job)
{
	struct search s = {.hint = FTH_NONE, .hint_time = -1};
	uint32_t probes = count_probes(h, &h->jobs.data[job]);
	fth_vec_clear(&h->chosen);
	first_round(h, &s, probes);
	second_round(h, &s, probes - (uint32_t)h->chosen.len);
	third_round(h, &s, probes - (uint32_t)h->chosen.len);
	if (h->coaster)
		keep_copies(h, &h->jobs.data[job]);
	for (uint32_t k = 0; k < h->chosen.len; k++)
		fth_hybrid_send(h, h->chosen.data[k], job, k < s.first ? FTH_ONE_WAY : FTH_TWO_WAYS);
}

void fth_hybrid_arrive(struct fth_hybrid *h, uint32_t job)
{
	const struct fth_hjob *j = &h->jobs.data[job];
	bool is_long = j->is_long;
	if (j->central)
		assign(h, job);
	else if (!is_long && h->traits->hints)
		probe_with_hints(h, job);
	else
		probe_anywhere(h, job);
	if (h->coaster) {
		if (is_long)
			fth_coaster_look(h);
		else
			fth_coaster_job(h, &h->jobs.data[job]);
	}
}
