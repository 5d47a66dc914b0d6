/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board: the cluster as a policy that plans whole configurations sees it at one round, and the
 * drafts (which task on which instance, in which order) that it draws on it.
 *
 * Tasks are listed by job and task id. A task that is on its way somewhere is pinned: it stays
 * committed where it is. Tasks of one kind, in jobs of one size, form a group: they are alike but for
 * where they are now.
 */
#ifndef FTH_POLICIES_BOARD_H
#define FTH_POLICIES_BOARD_H

#include <farthing/policy.h>

#include "base/base.h"
#include "policies/shared/prices.h"

struct fth_board_group {
	fth_kind_id kind;
	uint32_t job_tasks; /* that advance together */
	uint32_t key;       /* the policy's own */
	fth_offer_id offer; /* reservation offer; FTH_NONE: none can be had now */
	double rp;
	const struct fth_res *const *demand; /* by type; NULL where it cannot run or does not fit alone */
};

struct fth_board_task {
	fth_task_id id;
	fth_job_id job;
	uint32_t group;
	uint32_t at; /* instance (index into the board's) it is committed to; FTH_NONE: it waits */
	bool pinned;
	fth_sym apart; /* never beside a task with the same value; 0 none */
};

struct fth_board_instance {
	fth_instance_id id;
	fth_offer_id offer;
	fth_type_id type;
	bool ready;
	uint32_t committed; /* tasks */
	double price;       /* dollars per hour */
};

struct fth_board {
	FTH_VEC(struct fth_board_task) tasks;
	FTH_VEC(struct fth_board_group) groups;
	FTH_VEC(struct fth_board_instance) instances; /* that take tasks, by id */
	uint32_t npinned;
	struct fth_map group_of;         /* of jobs that move together */
	FTH_VEC(uint32_t) single_group;  /* by kind: of tasks on their own */
	FTH_VEC(const struct fth_res **) demand; /* by kind, once met */
	FTH_VEC(uint32_t) index; /* instance slot -> place in instances */
};
void fth_board_release(struct fth_board *b);
void fth_board_look(struct fth_board *b, const struct fth_view *v, struct fth_prices *prices);

/* ---- drafts ---- */

struct fth_draft_slot {
	uint32_t instance; /* on the board; FTH_NONE: to be launched */
	fth_offer_id offer;
	struct fth_res room;
	uint32_t n, first, last; /* tasks, linked by fth_draft.next */
	double worth; /* the policy's own, for the reasons given */
};

struct fth_draft {
	FTH_VEC(struct fth_draft_slot) slots;
	FTH_VEC(uint32_t) next;    /* by board task */
	FTH_VEC(uint32_t) slot_of; /* by board task; FTH_NONE: placed nowhere */
	FTH_VEC(uint32_t) slot_at; /* by board instance */
};
void fth_draft_release(struct fth_draft *l);
void fth_draft_reset(struct fth_draft *l, const struct fth_board *b);
/* A new slot for an instance of the board, or (FTH_NONE) for one to be launched. */
uint32_t fth_draft_add_slot(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v,
			     uint32_t instance, fth_offer_id offer);
void fth_draft_add_task(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v, uint32_t slot,
			 uint32_t task);
/* Whether the slot holds a task that must be kept apart from this one. */
bool fth_draft_keeps_apart(const struct fth_draft *l, const struct fth_board *b, uint32_t slot, uint32_t task);
/* The task stays where it is committed. */
void fth_draft_keep(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v, uint32_t task);
/* All pinned tasks stay. */
void fth_draft_seed(struct fth_draft *l, const struct fth_board *b, const struct fth_view *v);
static inline bool fth_fits(const struct fth_res *need, const struct fth_res *room, uint32_t nres)
{
	bool ok = true;
	for (uint32_t i = 0; i < nres; i++)
		ok &= need->v[i] <= room->v[i];
	return ok;
}
/* Inner product of demand and room, both as shares of the capacity. */
double fth_alignment(const struct fth_res *demand, const struct fth_res *room, const struct fth_res *capacity,
		     uint32_t nres);

/* Carry a draft out: launches in slot order, tasks in board order, then every instance of the board without a
 * slot is let go. Sets the slots' ids in ids[] (by slot; may be NULL). Returns how many actions it took. */
size_t fth_draft_apply(const struct fth_draft *l, const struct fth_board *b, const struct fth_view *v,
		      struct fth_plan *plan, const char *why, fth_instance_id *ids);

#endif
