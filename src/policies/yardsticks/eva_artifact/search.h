/* SPDX-License-Identifier: Apache-2.0 */
/* The two searches of eva-artifact: Partial and Full Reconfiguration as its program does them. */
#ifndef FTH_POLICIES_EVA_ARTIFACT_SEARCH_H
#define FTH_POLICIES_EVA_ARTIFACT_SEARCH_H

#include "policies/shared/board.h"
#include "policies/shared/tnrp.h"
#include "policies/yardsticks/eva_artifact/close.h"

/* A group's tasks that are still to be placed, in candidate order. */
struct candidates {
	const struct fth_res *demand; /* on the type in question */
	struct fth_member member;
	uint32_t left;
	uint32_t head;       /* first that is not taken */
	uint32_t there;      /* first that is on the slot in question; FTH_NONE */
	uint32_t group;
	uint32_t first, n;   /* slice of search.order */
};

/* How good it would be to put the next task of one group into one slot. */
struct score {
	double tnrp, align;
	bool there;
	uint32_t task;
};

struct search {
	const struct fth_view *view;
	const struct fth_board *board;
	const struct fth_prices *prices;
	struct fth_tnrp *tnrp;
	bool multi_everywhere; /* apply the multi-task rule outside Algorithm 1 too */
	const uint32_t *committed_first, *committed_next; /* tasks of each board instance, in committed order */

	struct fth_draft *layout;  /* being drawn */
	FTH_VEC(uint32_t) list;     /* candidates: board tasks in order */
	FTH_VEC(uint32_t) position; /* by board task: place in list */
	FTH_VEC(uint32_t) order;    /* candidates by group, then place */
	FTH_VEC(struct candidates) groups; /* by worth, descending */
	FTH_VEC(uint32_t) start;    /* scratch, by board group */
	FTH_VEC(uint32_t) place;    /* by board group: index into groups */
	FTH_VEC(bool) taken;        /* by board task */
	FTH_VEC(uint32_t) fits;     /* groups that fit the type in question */
	FTH_VEC(uint32_t) open;     /* of these, what may still fit beside the filling so far */
	FTH_VEC(uint32_t) touched;  /* groups with a candidate on the slot in question */
	FTH_VEC(uint32_t) pool;     /* running instances of the type that are free */
	FTH_VEC(uint32_t) chosen;   /* groups' tasks of the current filling */
	FTH_VEC(struct score) row;  /* slots x groups */
	struct fth_party party;
	struct close_log close;
};
void fth_search_release(struct search *s);
/* Both fill a layout that was reset and seeded with the pinned tasks. */
void fth_search_partial(struct search *s, struct fth_draft *layout);
void fth_search_full(struct search *s, struct fth_draft *layout);
/* Sum of the worth of a layout's slots (also noted in each), plain speeds, in slot order. */
double fth_search_worth(struct search *s, struct fth_draft *layout);

#endif
