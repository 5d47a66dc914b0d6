/* SPDX-License-Identifier: Apache-2.0 */
/* How eva-artifact chooses between Partial and Full: events, D, M, and savings in cents. */
#ifndef FTH_POLICIES_EVA_ARTIFACT_CHOICE_H
#define FTH_POLICIES_EVA_ARTIFACT_CHOICE_H

#include "policies/shared/board.h"

/* Rounded to cents the way decimal rounding of the exact value does it, halves to even. */
double fth_round_cents(double x);

/* Job arrivals and ends as the program counts them. */
struct event_log {
	double first, last; /* seconds; the list's ends are all that its mean gap depends on */
	uint64_t n;
	FTH_VEC(fth_job_id) before; /* jobs that could be planned at the last round that planned */
	FTH_VEC(struct ended {
		fth_job_id job;
		fth_time at;
	}) ended; /* since then */
	uint64_t adopted; /* Full plans */
};
void fth_event_log_release(struct event_log *l);
void fth_event_log_ended(struct event_log *l, fth_job_id job, fth_time at);
/* Append what happened between the last planning round and this one. True if anything was. */
bool fth_event_log_update(struct event_log *l, const struct fth_view *v);
/* Remember which jobs can be planned now: those without a pinned task. */
void fth_event_log_remember(struct event_log *l, const struct fth_board *b);
/* The estimated seconds until the next Full Reconfiguration. */
double fth_event_log_horizon(const struct event_log *l, double now_s);

/* What was met of a task's delays so far, by task slot. */
struct met {
	fth_time launch, save;
};

#endif
