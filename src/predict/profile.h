/* SPDX-License-Identifier: Apache-2.0 */
/* How well runtimes of a workload could have been predicted: jobs come and end as if each ran alone at once. */
#ifndef FTH_PREDICT_PROFILE_H
#define FTH_PREDICT_PROFILE_H

#include "model/workload.h"
#include "predict/runtime.h"

enum { FTH_ERROR_BUCKETS = 10 };
extern const double fth_error_borders[FTH_ERROR_BUCKETS - 1]; /* percent, ascending */

struct fth_error_profile {
	uint64_t tasks, unknown;             /* judged; of which nothing was known */
	uint64_t bucket[FTH_ERROR_BUCKETS]; /* by (estimate - runtime) / runtime */
	double median_abs;                   /* percent */
	double within_25, within_half_to_double; /* shares, percent */
};

struct fth_predict_report {
	uint64_t jobs;
	struct fth_error_profile history; /* predicted from ended jobs */
	struct fth_error_profile told;    /* as the workload tells it */
	uint64_t chosen[FTH_FEATURE_N][FTH_BY_N]; /* which pair spoke for how many jobs */
};
void fth_predict_profile(const struct fth_workload *w, struct fth_predict_report *ret);

#endif
