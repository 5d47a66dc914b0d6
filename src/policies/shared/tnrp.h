/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput-normalised reservation price of sets of tasks, from the learnt co-location table.
 *
 * Written to give the same bits as a plain evaluation in double precision, in a fixed order: a task's
 * speed is the recorded mean of its very set, else the product of its pairs in the order of the names'
 * strings; the set's worth is the sum over its tasks in the order in which they were added.
 */
#ifndef FTH_POLICIES_TNRP_H
#define FTH_POLICIES_TNRP_H

#include <farthing/policy.h>

#include "base/base.h"
#include "predict/colocation.h"

/* How a task's speed enters its worth when its job has n tasks that advance together. */
enum fth_multi {
	FTH_MULTI_PLAIN,   /* not at all */
	FTH_MULTI_CLAMPED, /* max(0, 1 - n (1 - rate)), also for n = 1 */
	FTH_MULTI_PAPER,   /* 1 - n (1 - rate) for n > 1: fth_multi_task_rate */
};

struct fth_tnrp {
	struct fth_colocation *table;
	bool ignore_interference;       /* every speed is 1 */
	struct fth_colocation_pairs pairs; /* refreshed by fth_tnrp_key */
	FTH_VEC(fth_sym) names;         /* by key */
	FTH_VEC(uint32_t) rank;         /* by key: place in the order of the strings */
	FTH_VEC(double) power;          /* t to the n */
	double t;
};
void fth_tnrp_init(struct fth_tnrp *r, double t);
void fth_tnrp_release(struct fth_tnrp *r);
/* The key of a name; new names are ranked. */
uint32_t fth_tnrp_key(struct fth_tnrp *r, const struct fth_view *v, fth_sym name);

struct fth_member {
	uint32_t key;
	uint32_t job_tasks;
	double rp;
};

/* Tasks that share an instance, in list order. */
struct fth_party {
	FTH_VEC(struct fth_member) list;
	FTH_VEC(uint32_t) sorted; /* their keys by rank, with room for one more */
	uint64_t hash;
	double worth;             /* sum of rp: no speed makes it more */
};
void fth_party_release(struct fth_party *p);
void fth_party_clear(struct fth_party *p);
void fth_party_add(struct fth_party *p, const struct fth_tnrp *r, const struct fth_member *m);

/* Speed of one task beside others (their keys, in any order). */
double fth_tnrp_rate(struct fth_tnrp *r, uint32_t key, const uint32_t *others, uint32_t n);
double fth_tnrp_of(struct fth_tnrp *r, const struct fth_party *p, enum fth_multi multi);
/* With one more task, added last. */
double fth_tnrp_with(struct fth_tnrp *r, const struct fth_party *p, const struct fth_member *m, enum fth_multi multi);

#endif
