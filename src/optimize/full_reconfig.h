/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eva's Full Reconfiguration (Algorithm 1), on a set of tasks described by kind and count. Tasks of
 * one kind are alike, so the cost grows with the number of different fillings, not of tasks.
 */
#ifndef FTH_OPTIMIZE_FULL_RECONFIG_H
#define FTH_OPTIMIZE_FULL_RECONFIG_H

#include <farthing/policy.h>

#include "base/base.h"

struct fth_pack_item {
	fth_kind_id kind;
	uint32_t count;
	uint32_t job_tasks; /* tasks in the job each belongs to; 1 (or 0) where tasks are independent */
	uint32_t alike;     /* items with the same number slow others and are slowed alike; 0: as their kind */
};

/* Speed of one task of kind k beside n others (kinds, any order), at most 1, without its family's own
 * speed. NULL function: 1. */
typedef double fth_rate_fn(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n);

/* `repeat` instances of this offer, each holding the same n items (indices into the input, repeated
 * as often as there are such tasks). */
struct fth_packed {
	fth_offer_id offer;
	uint32_t repeat;
	uint32_t first, n; /* slice of fth_packing.items */
};
struct fth_packing {
	FTH_VEC(struct fth_packed) bins;
	FTH_VEC(uint32_t) items;
	fth_price price; /* sum over instances */
};
void fth_packing_release(struct fth_packing *p);

/* The cheapest offer on which one task of this kind runs alone, by price per full-speed hour, and that
 * price (the reservation price); FTH_NONE if there is none. On-demand offers that are available. */
fth_offer_id fth_reservation_offer(const struct fth_catalog *c, const struct fth_kind *k, fth_price *ret_price);
/* The same price in dollars, unrounded (price / speed). */
fth_offer_id fth_reservation_usd(const struct fth_catalog *c, const struct fth_kind *k, double *ret_usd);

/* What a task of a job of n tasks that move together is worth at this speed, as a share of its
 * reservation price: the whole job slows down with it (section 4.4). It may be negative, as in the
 * paper: a task that holds up many others costs more than it brings. */
static inline double fth_multi_task_rate(double rate, uint32_t n)
{
	return n > 1 ? 1 - (1 - rate) * n : rate;
}

/*
 * Algorithm 1: offers in descending price; each instance is filled with the task that raises the
 * throughput-normalised reservation price (TNRP) of the filling most, until nothing fits or it would
 * fall; the filling is bought if it is worth the price, else the next cheaper offer is tried. Where
 * the paper leaves a tie open, the task whose demand lies best along the free room is taken (larger
 * inner product), then one of the first item among those with the same demand. A task left over on its own reservation offer (one that was
 * observed to be slow even alone) gets an instance of it.
 *
 * Every item must have a reservation offer (-ENOENT else, naming it in err). What ret held is replaced.
 */
int fth_full_reconfig(const struct fth_catalog *c, const struct fth_kind *kinds, const struct fth_pack_item *items,
		      uint32_t nitems, fth_rate_fn *rate, void *rate_arg, struct fth_packing *ret,
		      struct fth_error *err);

#endif
