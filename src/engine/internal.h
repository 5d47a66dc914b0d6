/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share; nobody else includes it. */
#ifndef FTH_ENGINE_INTERNAL_H
#define FTH_ENGINE_INTERNAL_H

#include "engine/engine.h"

/* The acceptable offers of an instance that is not acquired yet, if there is more than one. */
struct wish {
	FTH_VEC(fth_offer_id) offers;
	size_t tried;
};

/* A task that an action of this plan committed to an instance, and how to take it back. */
struct arrival {
	size_t action, accepted; /* indices */
	fth_task_id task;
	fth_instance_id from;    /* FTH_NONE: it waited */
	bool ran;                /* it was running alone, and can go on as if nothing was */
	fth_time since, ran_before;
};

/* What the limits are held against. Kept only for limits that are set. */
struct fth_spending {
	fth_price rate;          /* of all instances, while a plan is judged */
	int64_t month;           /* 1 is January 1970; 0: none yet */
	fth_money month_base;    /* spent before it */
	fth_money month_spent;
	FTH_VEC(fth_time) moves; /* of running tasks, within the last hour */
	FTH_VEC(bool) disturbed; /* by instance slot: tasks are being taken off it */
	uint32_t ndisturbed, nready;
};

struct fth_engine {
	struct fth_engine_config cfg;
	struct fth_cluster cluster;
	struct fth_ledger ledger;
	struct fth_observer *observers;
	struct fth_engine_stats stats;
	struct fth_spending spending;
	bool ordered; /* an operator's order is being judged: limits do not hold */

	const struct fth_policy_ops *policy; /* now in charge */
	void *self;
	void *fallback_params;
	fth_time period;
	fth_time now;        /* of the last event or round */
	struct fth_heap wakes; /* wake-ups asked for, each time once */
	struct fth_map waking; /* the times in it */
	fth_time last_round; /* -1: none yet */
	struct fth_view view; /* the cluster's, less what this policy may not see */

	FTH_VEC(struct fth_event) events; /* since the last round */
	fth_time stirred; /* time of the first of them that is a reason for a round; FTH_NEVER */
	struct fth_plan plan;
	FTH_VEC(uint8_t) verdicts;
	FTH_VEC(struct fth_action) accepted;
	FTH_VEC(struct wish) wishes;
	FTH_VEC(uint32_t) free_wishes;
	struct fth_map wish_of; /* instance -> index into wishes */
	FTH_VEC(struct fth_res) departing; /* demand of tasks this plan sends away from an instance */
	FTH_VEC(uint32_t) departing_from;  /* by instance slot: 1 + index into it; 0 none */
	FTH_VEC(struct arrival) arrivals;
	FTH_VEC(bool) announced;           /* by task slot: counted there, not yet judged */
};

/* NULL if there is (or was) one acceptable offer only. */
struct wish *fth_engine_wish(const struct fth_engine *e, const struct fth_instance *i);
void fth_engine_drop_wish(struct fth_engine *e, const struct fth_instance *i);

/* check.c: -EINVAL if the event contradicts the state. */
int fth_event_check(const struct fth_engine *e, const struct fth_event *ev, struct fth_error *err);
/* reduce.c: apply one event, which was checked, to the state. */
void fth_reduce(struct fth_engine *e, const struct fth_event *ev);
/* Tell observers, reduce, remember for the policy. */
void fth_engine_take(struct fth_engine *e, const struct fth_event *ev);

/* judge.c: note which tasks a plan sends away, so that others may take their room in the same plan
 * whatever the order of its actions (two tasks can only change places so). */
void fth_judge_announce(struct fth_engine *e, fth_time now);
/* At the end of a plan: where a task announced as leaving was not let go after all, take back the last to
 * come until everything fits. */
void fth_judge_repair(struct fth_engine *e, fth_time now);
/* Ask the policy again at this time. */
void fth_judge_wake(struct fth_engine *e, fth_time at);
/* Judge one action against the state and, if it is accepted, apply it. */
enum fth_refusal fth_judge(struct fth_engine *e, fth_time now, const struct fth_action *a);

/* limits.c: look at what is spent and disturbed before a plan is judged; then ask for each launch and move. A move
 * that is accepted is counted. */
void fth_limits_begin(struct fth_engine *e, fth_time now);
enum fth_refusal fth_limits_launch(struct fth_engine *e, const fth_offer_id *offers, uint32_t n);
void fth_limits_launched(struct fth_engine *e, const struct fth_instance *i);
enum fth_refusal fth_limits_move(struct fth_engine *e, fth_time now, const struct fth_task *t);

#endif
