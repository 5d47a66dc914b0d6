/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The co-location throughput table, learnt online (Eva, section 4.3 and 4.4): how fast a task of one
 * key is beside a set of others. Keys are symbols: workload classes or kind labels.
 */
#ifndef FTH_PREDICT_COLOCATION_H
#define FTH_PREDICT_COLOCATION_H

#include "base/base.h"

struct fth_colocation;
/* t: what a pair never seen is taken for. */
struct fth_colocation *fth_colocation_new(double t);
void fth_colocation_free(struct fth_colocation *c);
/* others: n keys in any order. Seen as a set: the mean of what was recorded; else the product of the
 * pairs, an unseen pair counting t. Alone: 1 unless recorded. */
double fth_colocation_rate(const struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n);
/* Whether this very set was recorded, and its mean. */
bool fth_colocation_seen(const struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n, double *ret);
/* Record one observation; true if the mean of the entry changed by it. */
bool fth_colocation_record(struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n, double rate);

/* One task of a coupled job, with its neighbours, when the job's speed is observed. */
struct fth_colocation_member {
	fth_sym key;
	const fth_sym *others;
	uint32_t n;
};
/* The paper's rules for the source of interference: which one entry an observation of the whole job
 * is recorded under. Returns the index of the member. */
uint32_t fth_colocation_attribute(const struct fth_colocation *c, const struct fth_colocation_member *m, uint32_t n,
				  double observed);

#endif
