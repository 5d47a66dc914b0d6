/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own controller of the short partition. Two things set it apart from following the long-load ratio:
 *
 * - how many transients there are to be follows from the short work that waits and that keeps arriving, less what the
 *   workers that stay can take. It may spend what cloudcoaster would have spent on the same long load (or, if so asked, K
 *   machines all the time), no more: what was not used in quiet times is kept and may be spent in a burst, up to `peak` times
 *   the machines at once.
 * - a worker of the short partition that runs dry asks for a probe of the short job that waits longest, so that machines
 *   which come during a burst serve the jobs that were there before them.
 */
#include "policies/hybrid/core.h"

/* ---- who waits ---- */

void fth_surge_list(struct fth_hybrid *h, uint32_t job)
{
	struct fth_hjob *j = &h->jobs.data[job];
	j->older = h->newest;
	j->newer = FTH_NONE;
	if (h->newest == FTH_NONE)
		h->oldest = job;
	else
		h->jobs.data[h->newest].newer = job;
	h->newest = job;
	j->listed = true;
}

void fth_surge_unlist(struct fth_hybrid *h, uint32_t job)
{
	struct fth_hjob *j = &h->jobs.data[job];
	if (j->older == FTH_NONE)
		h->oldest = j->newer;
	else
		h->jobs.data[j->older].newer = j->newer;
	if (j->newer == FTH_NONE)
		h->newest = j->older;
	else
		h->jobs.data[j->newer].older = j->older;
	j->listed = false;
}

void fth_surge_pull(struct fth_hybrid *h, uint32_t w)
{
	const struct fth_worker *x = &h->workers.data[w];
	int pull = h->params->pull;
	if (pull == FTH_PULL_NONE || (!x->transient && (pull == FTH_PULL_TRANSIENT || w >= h->nshort)))
		return;
	for (uint32_t k = h->oldest; k != FTH_NONE; k = h->jobs.data[k].newer) {
		struct fth_hjob *j = &h->jobs.data[k];
		if (j->asked >= j->ntasks - j->next + j->back.len)
			continue; /* enough are on their way to it */
		j->asked++;
		j->refs++;
		fth_hybrid_later(h, FTH_ONE_WAY, FTH_DUE_PULL, w, k);
		return;
	}
}

/* ---- how many there are to be ---- */

void fth_surge_arrival(struct fth_hybrid *h, const struct fth_hjob *j)
{
	double window = (double)FTH_MAX(h->params->window, 1), past = (double)(h->now - h->rate_at);
	/* Fades linearly within the window: no power function needed, and all gone after it. */
	h->rate *= past < window ? 1 - past / window : 0;
	h->rate += (double)j->est * j->ntasks / window;
	h->rate_at = h->now;
}

/* One of the followed goes: the newest request, else one that is there. */
static void follow_down(struct fth_hybrid *h)
{
	h->followed--;
	if (!h->followed_coming)
		return;
	h->followed_coming--;
	if (--fth_vec_last(&h->followed_asked).n == 0)
		h->followed_asked.len--;
}

/* What cloudcoaster would do now: as many as it takes come, one goes. */
void fth_surge_follow(struct fth_hybrid *h, uint32_t budget)
{
	const double limit = h->params->threshold, busy = (double)h->central.nbusy;
	uint32_t n = 0;
	while (h->followed > budget)
		follow_down(h);
	while (h->followed + n < budget && busy > limit * (double)(h->nstatic + h->followed + n))
		n++;
	if (n) {
		h->followed += n;
		h->followed_coming += n;
		fth_vec_push(&h->followed_asked, ((struct fth_followed){h->now + h->lag, n}));
	} else if (h->followed && busy < limit * (double)(h->nstatic + h->followed)) {
		follow_down(h);
	}
}

/* Those that would be there by now are paid from the moment they came. */
static void followed_come(struct fth_hybrid *h)
{
	for (; h->first_asked < h->followed_asked.len && h->followed_asked.data[h->first_asked].due <= h->now; h->first_asked++) {
		const struct fth_followed *a = &h->followed_asked.data[h->first_asked];
		h->followed_coming -= a->n;
		h->bank += (double)a->n * (double)(h->now - a->due);
	}
	if (h->first_asked && 2 * h->first_asked >= h->followed_asked.len) {
		h->followed_asked.len -= h->first_asked;
		memmove(h->followed_asked.data, h->followed_asked.data + h->first_asked, h->followed_asked.len * sizeof(struct fth_followed));
		h->first_asked = 0;
	}
}

void fth_surge_pay(struct fth_hybrid *h, uint32_t have, uint32_t budget)
{
	h->bank += ((double)h->bank_in - (double)h->bank_out) * (double)(h->now - h->bank_at);
	h->bank_at = h->now;
	followed_come(h);
	h->bank_in = h->params->fund == FTH_FUND_BUDGET ? budget : h->followed - h->followed_coming;
	h->bank_out = have;
}

uint32_t fth_surge_wanted(struct fth_hybrid *h, uint32_t budget)
{
	double idle = (double)h->nstatic - h->nshort - h->central.nbusy;
	double need = h->rate + (double)h->short_work / (double)h->params->target - h->nshort - idle;
	/* While few workers are free of long work, a burst would find nobody: some are kept ready for it. */
	if (fth_coaster_long_load(h) > h->params->threshold)
		need = FTH_MAX(need, h->params->warm * (double)budget);
	/* What is in the bank may be spent within two minutes, and what is owed to it is saved within two. */
	double most = h->params->fund == FTH_FUND_BUDGET ? (double)budget : (double)h->followed;
	most += h->bank / (double)(2 * FTH_MINUTE);
	need = FTH_MIN(need, FTH_MIN(most, (double)budget * h->params->peak));
	return need > 0 ? (uint32_t)need : 0;
}
