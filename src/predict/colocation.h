/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The co-location throughput table, learnt online (Eva, section 4.3 and 4.4): how fast a task of one
 * key is beside a set of others. Keys are symbols: workload classes or kind labels.
 *
 * What is recorded is a running sum and count, added one observation at a time; the mean therefore
 * carries the rounding of repeated addition, as a list summed from its beginning would.
 */
#ifndef FTH_PREDICT_COLOCATION_H
#define FTH_PREDICT_COLOCATION_H

#include "base/base.h"

struct fth_colocation;
/* t: what a pair never seen is taken for. */
struct fth_colocation *fth_colocation_new(double t);
void fth_colocation_free(struct fth_colocation *c);
/* others: n keys in any order. Seen as a set: the mean of what was recorded; else the product of the
 * pairs in the order given, an unseen pair counting t. Alone: 1 unless recorded. */
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

/* ---- the same by dense index, for searches that look up millions of sets ----
 *
 * A set of tasks is looked up once and then asked for each of its members. Its hash is the sum of
 * its keys' hashes, so that a search can keep it up to date as it adds and removes tasks. */

uint32_t fth_colocation_key(struct fth_colocation *c, fth_sym sym); /* made if new */
uint32_t fth_colocation_nkeys(const struct fth_colocation *c);
fth_sym fth_colocation_sym(const struct fth_colocation *c, uint32_t key);
static inline uint64_t fth_colocation_hash(uint32_t key)
{
	uint64_t x = (key + 1) * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	return x ^ (x >> 32);
}
/* The set of these n keys (any order, the looked-up task included); FTH_NONE if nothing was ever
 * recorded of any member of it. hash: the sum of their hashes. */
uint32_t fth_colocation_find(const struct fth_colocation *c, uint64_t hash, const uint32_t *keys, uint32_t n);
/* Mean speed recorded of a member within a set found so; negative if this member was not seen. */
double fth_colocation_member(const struct fth_colocation *c, uint32_t set, uint32_t key);

struct fth_colocation_pairs {
	const double *mean; /* [key * stride + neighbour]; t where unseen */
	uint32_t stride;
	const double *solo; /* by key: alone; 1 where unseen */
	const bool *known;  /* whether anything was ever recorded of a key */
};
/* Valid until a key is made. */
struct fth_colocation_pairs fth_colocation_pairs(const struct fth_colocation *c);

/* By how much means have moved in all since this was last asked for; 1 or more if an entry is new. */
double fth_colocation_moved(struct fth_colocation *c);

/* An entry to which the same observation is added again and again. */
uint32_t fth_colocation_entry(struct fth_colocation *c, uint32_t key, const uint32_t *others, uint32_t n);
/* Add a rate this many times, one rounding each; true if the mean changed by it. */
bool fth_colocation_add(struct fth_colocation *c, uint32_t entry, double rate, uint64_t times);

#endif
