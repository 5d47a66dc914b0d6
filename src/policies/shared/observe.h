/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeding the co-location table: at every round, each instance all of whose tasks run and have an
 * observed speed gives one observation of each of its tasks.
 *
 * A policy need not be asked at rounds at which nothing has happened: what such rounds would have
 * recorded is what the last one asked saw, and is added here, once for each of them.
 */
#ifndef FTH_POLICIES_OBSERVE_H
#define FTH_POLICIES_OBSERVE_H

#include <farthing/policy.h>

#include "base/base.h"
#include "predict/colocation.h"

/* Tasks of jobs that advance together: their neighbours, for the rules of attribution. */
struct fth_together {
	fth_job_id job;
	uint32_t tasks;      /* the job has */
	fth_sym key;
	uint32_t first, n;   /* neighbours: slice of others[] */
	double rate;
};

struct fth_observer_log {
	bool by_class; /* learn by workload class; else by label */
	bool each_its_own; /* record a job's speed under each of its tasks, not by the rules of attribution */
	fth_time last; /* round of the last call; -1 none */
	FTH_VEC(struct fth_seen {
		uint32_t entry;
		double rate;
	}) seen;
	FTH_VEC(struct fth_together) together;
	FTH_VEC(fth_sym) others;
	FTH_VEC(uint32_t) keys; /* scratch */
	FTH_VEC(struct fth_colocation_member) members; /* scratch */
};
void fth_observe_init(struct fth_observer_log *o, bool by_class);
void fth_observe_release(struct fth_observer_log *o);
/* The key a kind is learnt under. */
static inline fth_sym fth_observe_key(const struct fth_observer_log *o, const struct fth_kind *k)
{
	return o->by_class ? k->klass : k->label;
}
/*
 * Record this round and the silent ones before it (rounds are `period` apart). changed: whether anything
 * has happened since the last call. Returns whether a mean changed in any bit.
 */
bool fth_observe_round(struct fth_observer_log *o, struct fth_colocation *table, const struct fth_round *round,
		       fth_time period, bool changed);

#endif
