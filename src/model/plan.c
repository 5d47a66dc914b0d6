/* SPDX-License-Identifier: Apache-2.0 */
#include "model/plan.h"

void fth_plan_reset(struct fth_plan *p, fth_instance_id next_instance)
{
	p->next_instance = next_instance;
	fth_vec_recycle(&p->actions);
	fth_vec_recycle(&p->offers);
	fth_vec_recycle(&p->notes);
}

void fth_plan_release(struct fth_plan *p)
{
	fth_vec_release(&p->actions);
	fth_vec_release(&p->offers);
	fth_vec_release(&p->notes);
}

static struct fth_action *add(struct fth_plan *p, enum fth_action_kind kind, fth_task_id t, fth_instance_id i,
			      struct fth_reason why)
{
	fth_vec_push(&p->actions, ((struct fth_action){.kind = kind, .task = t, .instance = i, .reason = why}));
	return &fth_vec_last(&p->actions);
}

fth_instance_id fth_plan_launch(struct fth_plan *p, const fth_offer_id *offers, uint32_t n, struct fth_reason why)
{
	struct fth_action *a = add(p, FTH_ACT_LAUNCH, FTH_NONE, p->next_instance, why);
	a->first_offer = (uint32_t)p->offers.len;
	a->noffers = n;
	a->together = 1;
	for (uint32_t i = 0; i < n; i++)
		fth_vec_push(&p->offers, offers[i]);
	return p->next_instance++;
}

fth_instance_id fth_plan_launch_many(struct fth_plan *p, const fth_offer_id *offers, uint32_t n, uint32_t count,
				     struct fth_reason why)
{
	fth_instance_id first = p->next_instance;
	for (uint32_t i = 0; i < count; i++) {
		fth_plan_launch(p, offers, n, why);
		fth_vec_last(&p->actions).together = count;
	}
	return first;
}

void fth_plan_place(struct fth_plan *p, fth_task_id t, fth_instance_id i, struct fth_reason why)
{
	add(p, FTH_ACT_PLACE, t, i, why);
}

void fth_plan_place_at(struct fth_plan *p, fth_task_id t, fth_instance_id i, fth_time at, struct fth_reason why)
{
	add(p, FTH_ACT_PLACE, t, i, why)->at = at;
}

void fth_plan_migrate(struct fth_plan *p, fth_task_id t, fth_instance_id i, struct fth_reason why)
{
	add(p, FTH_ACT_MIGRATE, t, i, why);
}

void fth_plan_preempt(struct fth_plan *p, fth_task_id t, struct fth_reason why)
{
	add(p, FTH_ACT_PREEMPT, t, FTH_NONE, why);
}

void fth_plan_drain(struct fth_plan *p, fth_instance_id i, struct fth_reason why)
{
	add(p, FTH_ACT_DRAIN, FTH_NONE, i, why);
}

void fth_plan_terminate(struct fth_plan *p, fth_instance_id i, struct fth_reason why)
{
	add(p, FTH_ACT_TERMINATE, FTH_NONE, i, why);
}

void fth_plan_until_empty(struct fth_plan *p, fth_instance_id i, struct fth_reason why)
{
	add(p, FTH_ACT_UNTIL_EMPTY, FTH_NONE, i, why);
}

void fth_plan_wake(struct fth_plan *p, fth_time at)
{
	add(p, FTH_ACT_WAKE, FTH_NONE, FTH_NONE, (struct fth_reason){0})->at = at;
}

void fth_plan_note(struct fth_plan *p, const char *name, double value)
{
	fth_vec_push(&p->notes, ((struct fth_plan_note){name, value}));
}

const char *fth_refusal_name(enum fth_refusal r)
{
	static const char *const names[FTH_REFUSED_NKINDS] = {
		[FTH_ACCEPTED] = "accepted",
		[FTH_REFUSED_UNKNOWN_TASK] = "unknown-task",
		[FTH_REFUSED_UNKNOWN_INSTANCE] = "unknown-instance",
		[FTH_REFUSED_UNKNOWN_OFFER] = "unknown-offer",
		[FTH_REFUSED_OFFER_UNAVAILABLE] = "offer-unavailable",
		[FTH_REFUSED_NOT_WAITING] = "not-waiting",
		[FTH_REFUSED_NOT_BOUND] = "not-bound",
		[FTH_REFUSED_MOVING] = "moving",
		[FTH_REFUSED_SAME_INSTANCE] = "same-instance",
		[FTH_REFUSED_INSTANCE_LEAVING] = "instance-leaving",
		[FTH_REFUSED_CANNOT_RUN_THERE] = "cannot-run-there",
		[FTH_REFUSED_NO_ROOM] = "no-room",
		[FTH_REFUSED_ANTI_AFFINITY] = "anti-affinity",
		[FTH_REFUSED_HAS_TASKS] = "has-tasks",
		[FTH_REFUSED_TOO_MANY_INSTANCES] = "too-many-instances",
		[FTH_REFUSED_IN_THE_PAST] = "in-the-past",
		[FTH_REFUSED_MALFORMED] = "malformed",
		[FTH_REFUSED_HOURLY_BUDGET] = "hourly-budget",
		[FTH_REFUSED_MONTHLY_BUDGET] = "monthly-budget",
		[FTH_REFUSED_MOVES_BUDGET] = "moves-budget",
		[FTH_REFUSED_DISRUPTION_BUDGET] = "disruption-budget",
	};
	return (unsigned)r < FTH_REFUSED_NKINDS ? names[r] : "?";
}

const char *fth_action_name(enum fth_action_kind k)
{
	static const char *const names[FTH_ACT_NKINDS] = {
		[FTH_ACT_LAUNCH] = "launch",	     [FTH_ACT_PLACE] = "place", [FTH_ACT_MIGRATE] = "migrate",
		[FTH_ACT_PREEMPT] = "preempt",	     [FTH_ACT_DRAIN] = "drain", [FTH_ACT_TERMINATE] = "terminate",
		[FTH_ACT_WAKE] = "wake",	     [FTH_ACT_UNTIL_EMPTY] = "until-empty",
	};
	return (unsigned)k < FTH_ACT_NKINDS ? names[k] : "?";
}

const char *fth_event_name(enum fth_event_kind k)
{
	static const char *const names[FTH_EV_NKINDS] = {
		[FTH_EV_JOB_SUBMITTED] = "job-submitted",
		[FTH_EV_JOB_CANCELLED] = "job-cancelled",
		[FTH_EV_JOB_DONE] = "job-done",
		[FTH_EV_TASK_STARTING] = "task-starting",
		[FTH_EV_TASK_RUNNING] = "task-running",
		[FTH_EV_TASK_STOPPED] = "task-stopped",
		[FTH_EV_TASK_LEFT] = "task-left",
		[FTH_EV_TASK_DONE] = "task-done",
		[FTH_EV_TASK_LOST] = "task-lost",
		[FTH_EV_INSTANCE_ACQUIRED] = "instance-acquired",
		[FTH_EV_INSTANCE_READY] = "instance-ready",
		[FTH_EV_INSTANCE_GONE] = "instance-gone",
		[FTH_EV_LAUNCH_FAILED] = "launch-failed",
		[FTH_EV_REVOCATION_NOTICE] = "revocation-notice",
		[FTH_EV_INSTANCE_REVOKED] = "instance-revoked",
		[FTH_EV_OFFER_CHANGED] = "offer-changed",
		[FTH_EV_THROUGHPUT] = "throughput",
		[FTH_EV_TIMER] = "timer",
	};
	return (unsigned)k < FTH_EV_NKINDS ? names[k] : "?";
}

/* Dollars for people: cents, or as many digits as a small amount needs. */
static void add_amount(struct fth_str *out, fth_money m)
{
	double usd = fth_usd(m);
	if (usd < 0) {
		fth_str_addc(out, '-');
		usd = -usd;
	}
	fth_str_addf(out, usd >= 0.995 || usd == 0 ? "$%.2f" : "$%.4f", usd);
}

void fth_reason_text(const struct fth_reason *r, struct fth_str *out)
{
	for (const char *p = r->text ? r->text : ""; *p; p++) {
		if (*p == '$' && p[1] >= '0' && p[1] <= '2')
			add_amount(out, r->usd[*++p - '0']);
		else
			fth_str_addc(out, *p);
	}
}
