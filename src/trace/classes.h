/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nine workloads of Eva's Table 7, as its released program has them: iterations per second alone,
 * the pauses around a run, and what a task needs on P3, C7i and R7i machines.
 */
#ifndef FTH_TRACE_CLASSES_H
#define FTH_TRACE_CLASSES_H

#include "base/base.h"
#include "model/workload.h"

struct fth_class {
	const char *name;
	double rate; /* iterations per second at full speed */
	int fetch, setup, init, stop, save; /* seconds */
	int gpus, cores, gib;  /* on P3, and anywhere else if other_cores is 0 */
	int other_cores;       /* cores needed on C7i and R7i; 0: the same demand everywhere */
};

enum { FTH_NCLASSES = 9 };
extern const struct fth_class fth_classes[FTH_NCLASSES];

const struct fth_class *fth_class_find(const char *name); /* NULL */
struct fth_task_delays fth_class_delays(const struct fth_class *c);
/* The exact rate of which `printed` shows six significant digits; printed itself if it does not. */
double fth_class_exact_rate(const char *name, double printed);
/* Iterations of a job that lasts this long: whole ones only, as the released program counts. */
int64_t fth_class_iters(fth_time duration, double rate);
/* The kind of one task of this class with Table 7's demands. */
fth_kind_id fth_class_kind(struct fth_kinds *kinds, const struct fth_class *c, const char *label);

#endif
