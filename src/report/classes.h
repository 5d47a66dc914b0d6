/* SPDX-License-Identifier: Apache-2.0 */
/* Watches a run of short and long jobs: delays of short tasks, times of both kinds of jobs, transient machines. */
#ifndef FTH_REPORT_CLASSES_H
#define FTH_REPORT_CLASSES_H

#include "engine/engine.h"
#include "report/run.h"

struct fth_classes;
/* Jobs with an estimate above the cut-off are long. */
struct fth_classes *fth_classes_new(fth_time cutoff);
struct fth_observer *fth_classes_observer(struct fth_classes *c);
/* After fth_metrics_finish: fills run->classes and what follows it. */
void fth_classes_finish(struct fth_classes *c, const struct fth_catalog *catalog, struct fth_run *run);
void fth_classes_free(struct fth_classes *c);

#endif
