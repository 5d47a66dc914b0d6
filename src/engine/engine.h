/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: reduce events into the cluster's state, ask the policy, judge its plan.
 *
 *            events                       plan                        accepted actions
 *  driver ───────────▶ fth_engine_feed ─▶ policy.decide ─▶ validate ───────────────────▶ driver
 *
 * It reads no clock, file, socket or random device. Whoever drives it (the simulator, the daemon, a
 * replay) owns time, and hands in outcomes as events.
 */
#ifndef FTH_ENGINE_ENGINE_H
#define FTH_ENGINE_ENGINE_H

#include <farthing/policy.h>

#include "base/base.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "model/ledger.h"
#include "model/plan.h"
#include "model/workload.h"

/* What may be spent and disturbed at most; 0: no limit. What exceeds it is refused, action by action, with a
 * reason of its own. Nothing that runs is ever ended for it: work waits. */
struct fth_limits {
	fth_price usd_per_hour;   /* the prices of all instances not gone, at any moment */
	fth_money usd_per_month;  /* charged and accrued in a calendar month (UTC); no launch once it is reached */
	uint32_t moves_per_hour;  /* running tasks moved or preempted within any hour */
	uint32_t disturbed_ppm;   /* share of the ready instances that tasks are being taken off at once */
	uint32_t max_instances;   /* at once, the requested ones included */
	int64_t epoch_us;         /* what the clock's zero is, since 1970: for the calendar */
};

/* Watches what happens: metrics, journal. All optional. */
struct fth_observer {
	void (*before_event)(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev);
	void (*after_event)(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev);
	/* A job was submitted (its event follows). */
	void (*on_submit)(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *job);
	/* The policy is about to be asked: the last look at the state before its plan changes it. */
	void (*before_plan)(struct fth_observer *o, const struct fth_cluster *c, fth_time now);
	/* A plan was judged and what was accepted of it applied: verdicts[i] is 0 or why plan action i was
	 * refused. accepted also holds the restarts that a move implies for the rest of a coupled job. */
	void (*on_plan)(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
			const uint8_t *verdicts, const struct fth_action *accepted, size_t naccepted);
	/* The policy failed ("failed: ...", "took longer ..."); the fallback is in charge from this round on. */
	void (*on_fallback)(struct fth_observer *o, const char *why);
	/* An operator's order was judged; another policy, other limits are in charge. */
	void (*on_order)(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_action *order,
			 enum fth_refusal verdict, const char *by);
	void (*on_policy)(struct fth_observer *o, fth_time now, const char *text);
	void (*on_limits)(struct fth_observer *o, fth_time now, const struct fth_limits *limits);
	/* An instance's meter was closed. */
	void (*on_charge)(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge);
	struct fth_observer *next;
};

struct fth_engine_config {
	struct fth_symtab *syms;
	const struct fth_catalog_store *catalog; /* copied: prices change within a run */
	const struct fth_kinds *kinds;
	const struct fth_profile *profile; /* handed to policies that ask */
	const struct fth_policy_ops *policy;
	const void *params;
	const struct fth_policy_ops *fallback; /* takes over when the policy fails; its defaults are used */
	struct fth_limits limits;
	/* How long decide may take, by the driver's clock; 0 or no clock: no limit. */
	int64_t decide_limit_ns;
	int64_t (*clock_ns)(void);
};

struct fth_engine;
int fth_engine_new(struct fth_engine **ret, const struct fth_engine_config *cfg, struct fth_error *err);
void fth_engine_free(struct fth_engine *e);
void fth_engine_observe(struct fth_engine *e, struct fth_observer *o); /* called in the order added */

const struct fth_cluster *fth_engine_cluster(const struct fth_engine *e);
const struct fth_ledger *fth_engine_ledger(const struct fth_engine *e);

/* Of the last event or round. */
fth_time fth_engine_now(const struct fth_engine *e);
/* Time never runs backwards: what lies before the last event or round is refused. */
/* A job arrives: makes the job and its tasks, and feeds JOB_SUBMITTED. FTH_NONE if it is refused. */
fth_job_id fth_engine_submit(struct fth_engine *e, fth_time now, const struct fth_job_item *item, fth_time estimate);
/* Anything else that happened. -EINVAL if it contradicts the state (nothing is changed then). */
int fth_engine_feed(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err);

/* How often the policy in charge decides; 0: after every moment at which something happened. */
fth_time fth_engine_period(const struct fth_engine *e);
/* When the policy wants to be asked next, not before `from`, given what was fed: FTH_NEVER if not at all. */
fth_time fth_engine_next_round(const struct fth_engine *e, fth_time from);
/* Ask the policy and judge its plan. The accepted actions (in plan order; valid until the next call)
 * are already applied to the state as intentions; the driver carries them out. */
struct fth_accepted {
	const struct fth_action *actions;
	size_t n;
	const struct fth_plan *plan; /* owner of the launch offers */
};
int fth_engine_round(struct fth_engine *e, fth_time now, struct fth_accepted *ret, struct fth_error *err);
/* Put the fallback in charge, from the state as it is. A round does so by itself when the policy fails; a
 * replay does where the record says so. */
int fth_engine_fall_back(struct fth_engine *e, const char *why, struct fth_error *err);
/* An operator's order outside of any plan: drain or terminate an instance, preempt a task. Judged like a plan's
 * action, but for the limits. The accepted actions are as those of a round. */
enum fth_refusal fth_engine_order(struct fth_engine *e, fth_time now, const struct fth_action *order, const char *by,
				  struct fth_accepted *ret);
/* Put another policy in charge, from the state as it is; params must outlive the engine's use of them. The old
 * one stays in charge if the new one cannot start. */
int fth_engine_change_policy(struct fth_engine *e, fth_time now, const struct fth_policy_ops *ops, const void *params,
			     const char *text, struct fth_error *err);
void fth_engine_change_limits(struct fth_engine *e, fth_time now, const struct fth_limits *limits);
const struct fth_limits *fth_engine_limits(const struct fth_engine *e);
/* From here on decisions are timed and limited; a recovery has none of it. */
void fth_engine_set_clock(struct fth_engine *e, int64_t decide_limit_ns, int64_t (*clock_ns)(void));
/* Close what is open at the end of a run, so that the ledger is whole. */
void fth_engine_finish(struct fth_engine *e, fth_time now);

struct fth_engine_stats {
	uint64_t events, rounds, actions;
	uint64_t rejected, rejected_by[FTH_REFUSED_NKINDS];
	int64_t decide_ns, decide_max_ns;
	bool fell_back;
	const char *fallback; /* the name of the policy that took over */
	char why_fallback[160];
};
const struct fth_engine_stats *fth_engine_stats(const struct fth_engine *e);

#endif
