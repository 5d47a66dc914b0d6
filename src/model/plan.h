/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: the actions a policy wants, in order, each with its reason. */
#ifndef FTH_MODEL_PLAN_H
#define FTH_MODEL_PLAN_H

#include <farthing/policy.h>

#include "base/base.h"

struct fth_plan_note {
	const char *name;
	double value;
};

struct fth_plan {
	fth_instance_id next_instance; /* the id the next launched instance would have */
	FTH_VEC(struct fth_action) actions;
	FTH_VEC(fth_offer_id) offers;
	FTH_VEC(struct fth_plan_note) notes;
};
void fth_plan_reset(struct fth_plan *p, fth_instance_id next_instance);
void fth_plan_release(struct fth_plan *p);

/* Why an action was refused; 0 is "accepted". */
enum fth_refusal {
	FTH_ACCEPTED = 0,
	FTH_REFUSED_UNKNOWN_TASK,
	FTH_REFUSED_UNKNOWN_INSTANCE,
	FTH_REFUSED_UNKNOWN_OFFER,
	FTH_REFUSED_OFFER_UNAVAILABLE,
	FTH_REFUSED_NOT_WAITING,      /* place of a task that is bound already */
	FTH_REFUSED_NOT_BOUND,        /* migrate or preempt of a task that is nowhere */
	FTH_REFUSED_MOVING,           /* the task is being started or stopped: wait for the outcome */
	FTH_REFUSED_SAME_INSTANCE,
	FTH_REFUSED_INSTANCE_LEAVING,
	FTH_REFUSED_CANNOT_RUN_THERE, /* family, architecture */
	FTH_REFUSED_NO_ROOM,
	FTH_REFUSED_ANTI_AFFINITY,
	FTH_REFUSED_HAS_TASKS,        /* terminate of an instance to which tasks are committed */
	FTH_REFUSED_TOO_MANY_INSTANCES,
	FTH_REFUSED_IN_THE_PAST,
	FTH_REFUSED_MALFORMED,
	FTH_REFUSED_HOURLY_BUDGET,    /* limits: dollars an hour */
	FTH_REFUSED_MONTHLY_BUDGET,
	FTH_REFUSED_MOVES_BUDGET,     /* limits: moves an hour */
	FTH_REFUSED_DISRUPTION_BUDGET, /* limits: share of instances disturbed at once */
	FTH_REFUSED_NKINDS
};
const char *fth_refusal_name(enum fth_refusal r);      /* "no-room" */
const char *fth_action_name(enum fth_action_kind k);   /* "launch" */
const char *fth_event_name(enum fth_event_kind k);     /* "job-submitted" */
/* The reason with its amounts filled in. */
void fth_reason_text(const struct fth_reason *r, struct fth_str *out);

#endif
