/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most valuable filling of one machine whose tasks slow each other down: item i of class c is worth its
 * value times the product, over the other items of the filling, of pair[c][their class] (at most 1 each).
 *
 * The answer is an upper bound that holds whatever the rounding: see crowd.c.
 */
#ifndef FTH_OPTIMIZE_CROWD_H
#define FTH_OPTIMIZE_CROWD_H

#include "base/base.h"
#include "optimize/pricing.h"

/* How fast a task of one class is beside one of another, alone = 1. */
struct fth_pairs {
	uint32_t n;
	double *rate; /* n squared, [victim][neighbour], 0 .. 1 */
	double *loss; /* minus its logarithm; 50 where nothing gets done */
	double *loss_most; /* by victim */
};
/* rate is copied. */
void fth_pairs_init(struct fth_pairs *p, uint32_t n, const double *rate);
void fth_pairs_release(struct fth_pairs *p);

struct fth_crowd;

/* class[i]: of item i, below pairs->n; pairs must outlive it. usable[i] == 0: item i cannot run there. Items that need
 * nothing at all would fill a machine without end: they must not be usable. */
struct fth_crowd *fth_crowd_new(const struct fth_res *capacity, const struct fth_res *demand, const char *usable,
				const uint32_t *class, uint32_t nitems, const struct fth_pairs *pairs);
void fth_crowd_free(struct fth_crowd *p);

struct fth_crowded {
	bool found;    /* a filling worth more than the floor; the best one seen follows */
	double value;
	double bound;  /* no filling is worth more; never below the floor */
	bool complete; /* the search ended by itself */
	uint64_t nodes, work; /* work: in units of about 10 ns, the same on every machine */
	const struct fth_filling *parts; /* the crowd's, until its next use */
	uint32_t nparts;
};

/* The best filling if it is worth more than `floor` > 0; item i is worth value[i] alone (values <= 0 are left out).
 * It is cut short after about max_work. */
void fth_crowd_solve(struct fth_crowd *p, const double *value, double floor, uint64_t max_work, struct fth_crowded *ret);

/* The speed of each part of a filling beside the others. */
void fth_crowd_speeds(const struct fth_pairs *pairs, const uint32_t *class, const struct fth_filling *parts, uint32_t n,
		      double *ret);

#endif
