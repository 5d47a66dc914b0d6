/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's queue of probes: in order, or shortest remaining first with a cap on overtaking; and stealing. */
#include "policies/hybrid/core.h"

void fth_queue_push(struct fth_hybrid *h, uint32_t worker, struct fth_probe p)
{
	struct fth_worker *w = &h->workers.data[worker];
	if (w->head + w->len == w->cap) {
		if (w->head > w->len) {
			memmove(w->queue, w->queue + w->head, w->len * sizeof(*w->queue));
		} else {
			uint32_t cap = w->cap ? 2 * w->cap : 4;
			struct fth_probe *grown = fth_realloc(NULL, cap * sizeof(*grown));
			if (w->len)
				memcpy(grown, w->queue + w->head, w->len * sizeof(*grown));
			free(w->queue);
			w->queue = grown;
			w->cap = cap;
		}
		w->head = 0;
	}
	w->queue[w->head + w->len++] = p;
}

void fth_queue_remove(struct fth_worker *w, uint32_t k)
{
	struct fth_probe *q = w->queue + w->head;
	if (k < w->len / 2) {
		memmove(q + 1, q, k * sizeof(*q));
		w->head++;
	} else {
		memmove(q + k, q + k + 1, (w->len - k - 1) * sizeof(*q));
	}
	if (--w->len == 0)
		w->head = 0;
}

/*
 * From the head: a long probe there is taken at once. Otherwise the least remaining work wins, if its estimate is
 * within what each short probe ahead of it still lets pass (cap x its own estimate, less what has passed already).
 * A long one as the best so far ends the search.
 */
uint32_t fth_queue_choose(struct fth_hybrid *h, uint32_t worker)
{
	struct fth_worker *w = &h->workers.data[worker];
	struct fth_probe *q = w->queue + w->head;
	const double cap = h->params->bypass_cap;
	fth_time best = FTH_NEVER, room = FTH_NEVER;
	uint32_t kept = 0, choice = UINT32_MAX, i = 0;
	for (; i < w->len; i++) {
		const struct fth_hjob *j = &h->jobs.data[q[i].job];
		if (j->remaining < 0) {
			w->longs -= j->is_long;
			fth_hybrid_unref(h, q[i].job);
			continue;
		}
		q[kept] = q[i];
		uint32_t k = kept++;
		bool taken = k == 0 && j->is_long;
		if (taken || (j->remaining < best && j->est <= room)) {
			best = j->remaining;
			choice = k;
			if (j->is_long) {
				i++;
				break;
			}
		}
		if (!j->is_long)
			room = FTH_MIN(room, (fth_time)(cap * (double)j->est) - q[k].bypass);
	}
	if (kept < i)
		memmove(q + kept, q + i, (w->len - i) * sizeof(*q));
	w->len -= i - kept;
	if (!w->len)
		w->head = 0;
	return choice;
}

/* The first short probes of the victim that are behind a long one, or in front of all while it executes a long task. */
static uint32_t stuck_group(struct fth_hybrid *h, const struct fth_worker *v, uint32_t *ret_n)
{
	const struct fth_probe *q = v->queue + v->head;
	uint32_t from = 0;
	if (!v->long_runs)
		while (from < v->len && !h->jobs.data[q[from].job].is_long)
			from++;
	while (from < v->len && h->jobs.data[q[from].job].is_long)
		from++;
	uint32_t to = from;
	while (to < v->len && to - from < h->params->steal_max && !h->jobs.data[q[to].job].is_long)
		to++;
	*ret_n = to - from;
	return from;
}

bool fth_queue_steal(struct fth_hybrid *h, uint32_t worker)
{
	for (int64_t k = 0; k < h->params->steal_tries; k++) {
		uint32_t victim = h->nshort + fth_draw_below(&h->draw, h->nstatic - h->nshort), n;
		struct fth_worker *v = &h->workers.data[victim];
		uint32_t from = victim == worker ? 0 : stuck_group(h, v, &n);
		if (victim == worker || !n)
			continue;
		for (uint32_t i = 0; i < n; i++)
			fth_queue_push(h, worker, v->queue[v->head + from + i]);
		struct fth_probe *q = v->queue + v->head;
		memmove(q + from, q + from + n, (v->len - from - n) * sizeof(*q));
		v->len -= n;
		if (!v->len)
			v->head = 0;
		return true;
	}
	return false;
}
