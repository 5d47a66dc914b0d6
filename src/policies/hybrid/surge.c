/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own controller of the short partition. Two things set it apart from following the long-load ratio:
 *
 * - how many transients there are to be follows from the short work that waits and that keeps arriving, less what the
 *   workers that stay can take. What the budget did not spend in quiet times may be spent in a burst, up to `peak` times
 *   the machines at once: the money of a period is never more than the budget allows for that period.
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

/* The budget is that of K machines all the time; what is not used is kept. */
static void update_bank(struct fth_hybrid *h, uint32_t have, uint32_t budget)
{
	if (h->bank_at)
		h->bank += ((double)budget - (double)have) * (double)(h->now - h->bank_at);
	h->bank_at = h->now;
}

uint32_t fth_surge_wanted(struct fth_hybrid *h, uint32_t have, uint32_t budget)
{
	update_bank(h, have, budget);
	double idle = (double)h->nstatic - h->nshort - h->central.nbusy;
	double need = h->rate + (double)h->short_work / (double)h->params->target - h->nshort - idle;
	/* While few workers are free of long work, a burst would find nobody: some are kept ready for it. */
	if (fth_coaster_long_load(h) > h->params->threshold)
		need = FTH_MAX(need, h->params->warm * (double)budget);
	/* What is in the bank may be spent within ten minutes. */
	double most = (double)budget + FTH_MAX(h->bank, 0.0) / (double)(10 * FTH_MINUTE);
	most = FTH_MIN(most, (double)budget * h->params->peak);
	if (h->bank < 0)
		most = FTH_MIN(most, (double)budget);
	need = FTH_MIN(need, most);
	return need > 0 ? (uint32_t)need : 0;
}
