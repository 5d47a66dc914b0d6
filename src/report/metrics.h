/* SPDX-License-Identifier: Apache-2.0 */
/* Watches an engine and gathers what a run gave (run.h). */
#ifndef FTH_REPORT_METRICS_H
#define FTH_REPORT_METRICS_H

#include "engine/engine.h"
#include "report/run.h"

struct fth_metrics;
/* window_from/to: also measure allocation over this part of the run (0, 0: no). */
struct fth_metrics *fth_metrics_new(const struct fth_catalog *c, fth_time window_from, fth_time window_to);
struct fth_observer *fth_metrics_observer(struct fth_metrics *m);
/* The true runtimes of jobs alone, which no event carries: from the workload whose jobs are submitted, in its
 * order (it must outlive the run); or told one by one. */
void fth_metrics_workload(struct fth_metrics *m, const struct fth_workload *w);
void fth_metrics_standalone(struct fth_metrics *m, fth_job_id job, fth_time standalone);
/* Fill run's figures at the end (now: or the last moment seen, whichever is later); wall-clock and memory
 * figures are the caller's. Once only. */
void fth_metrics_finish(struct fth_metrics *m, const struct fth_engine *e, fth_time now, struct fth_run *run);
void fth_metrics_free(struct fth_metrics *m);

#endif
