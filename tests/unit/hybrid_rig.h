/* SPDX-License-Identifier: Apache-2.0 */
/* A rig for policies with queues at workers, without an engine: four short-only workers, four others, and jobs by hand. */
#ifndef FTH_TEST_HYBRID_RIG_H
#define FTH_TEST_HYBRID_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/hybrid/core.h"

static struct fth_hybrid_params params;
static struct fth_hybrid_traits traits;

static inline struct fth_hybrid *rig(void)
{
	struct fth_hybrid *h = fth_alloc(sizeof(*h));
	params = (struct fth_hybrid_params){.slots = 1, .delay = 500, .probe_ratio = 2, .min_probes = 2, .bypass_cap = 5, .sticky = true,
					    .steal_tries = 10, .steal_max = 10000, .drain_after = 2500};
	traits = (struct fth_hybrid_traits){.partition = true};
	h->params = &params;
	h->traits = &traits;
	h->nshort = 4;
	h->nstatic = 8;
	h->oldest = h->newest = FTH_NONE;
	h->queues[FTH_ONE_WAY].delay = 500;
	h->queues[FTH_TWO_WAYS].delay = 1000;
	h->queues[FTH_DRAIN_WAIT].delay = params.drain_after;
	fth_draw_seed(&h->draw, 1);
	for (fth_instance_id i = 0; i < 8; i++)
		fth_hybrid_add_workers(h, i, 1, false);
	fth_central_init(&h->central, 4, 1, 500);
	fth_hints_init(&h->hints, &h->central);
	return h;
}

static inline uint32_t job(struct fth_hybrid *h, uint32_t ntasks, fth_time est, fth_time remaining, bool is_long)
{
	struct fth_hjob j = {.ntasks = ntasks, .left = ntasks, .live = true, .refs = 1, .est = est, .is_long = is_long};
	j.remaining = remaining;
	j.first = (fth_task_id)h->jobs.len * 100;
	fth_vec_push(&h->jobs, j);
	return (uint32_t)h->jobs.len - 1;
}

static inline void queue(struct fth_hybrid *h, uint32_t w, uint32_t j, fth_time bypass)
{
	h->jobs.data[j].refs++;
	h->workers.data[w].longs += h->jobs.data[j].is_long;
	fth_queue_push(h, w, (struct fth_probe){j, bypass});
}

static inline uint32_t queued(const struct fth_hybrid *h, uint32_t w, uint32_t k)
{
	return h->workers.data[w].queue[h->workers.data[w].head + k].job;
}

/* Where the probes on their way go. */
static inline uint32_t sent(const struct fth_hybrid *h, int q, uint32_t *ret_to)
{
	const struct fth_due_queue *x = &h->queues[q];
	for (uint32_t k = 0; k < x->len; k++)
		ret_to[k] = x->ring[(x->head + k) & (x->cap - 1)].worker;
	return x->len;
}

#endif
