/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a packing (so many instances of an offer, each with such tasks) to a draft (which task on which
 * instance): each filling is given to the running instance of the same offer whose tasks it has most
 * in common with, so that nothing moves that need not.
 */
#ifndef FTH_POLICIES_EVA_PLACE_H
#define FTH_POLICIES_EVA_PLACE_H

#include "optimize/full_reconfig.h"
#include "policies/shared/board.h"

struct fth_overlap {
	double value; /* reservation prices of the tasks that could stay */
	uint32_t instance, bin;
};

struct fth_placing {
	FTH_VEC(struct fth_overlap) overlaps;
	FTH_VEC(uint32_t) count;   /* by board group: in the bin in question */
	FTH_VEC(uint32_t) group_of; /* by packing item */
	FTH_VEC(uint32_t) left;    /* by bin: instances still to be found */
	FTH_VEC(uint32_t) bin_of;  /* by draft slot: the bin it is to hold; FTH_NONE: kept as it is */
	FTH_VEC(uint32_t) first, next; /* candidates of each instance, by board instance and task */
	FTH_VEC(uint32_t) waiting, running; /* by board group: next candidate, linked by chain */
	FTH_VEC(uint32_t) chain;
};
void fth_placing_release(struct fth_placing *p);
/*
 * candidates: board tasks, in order, that the packing was made of (item i of it is board group
 * group_of[i]). The draft already holds what stays.
 */
void fth_place(struct fth_placing *p, struct fth_draft *draft, const struct fth_board *b, const struct fth_view *v,
	       const struct fth_packing *packing, const uint32_t *candidates, uint32_t n);

#endif
