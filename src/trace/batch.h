/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch workloads of the kind that Stratus was measured on: Google-like (short tasks, CPU constrains) from the real
 * task durations of a Google subtrace, and TwoSigma-like (longer, larger in memory) of our own making. Tasks that
 * move are away for their memory footprint over 160 Mbit/s.
 */
#ifndef FTH_TRACE_BATCH_H
#define FTH_TRACE_BATCH_H

#include "trace/trace.h"

#define FTH_BATCH_MBIT 160.0

struct fth_batch_options {
	double jobs_per_hour;
	fth_time length;  /* jobs come within this time; those that would end after it are left out. 0: no limit */
	int64_t max_jobs; /* 0: no limit */
	uint64_t seed;
	double spread;    /* TwoSigma-like: sigma of runtimes within a job */
};

/* in: lines of "arrival tasks mean d_1 .. d_n" in seconds. Jobs are drawn with replacement into a Poisson stream;
 * each job's tasks need a CPU share drawn lognormally, and memory in proportion. */
int fth_google_like(struct fth_workload *w, struct fth_input *in, const struct fth_batch_options *o,
		    struct fth_error *err);
void fth_twosigma_like(struct fth_workload *w, const struct fth_batch_options *o);

#endif
