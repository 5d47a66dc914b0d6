/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes predicted from history, after JVuPredict: jobs are alike by features (user, name, hour of day, class and
 * pairs of them); in each group of alike jobs several estimators compete; the pair of group and estimator whose
 * normalised median absolute error has been lowest so far speaks for a new job. It learns as jobs end.
 *
 * What is predicted is the mean runtime of the job's tasks.
 */
#ifndef FTH_PREDICT_RUNTIME_H
#define FTH_PREDICT_RUNTIME_H

#include <farthing/policy.h>

#include "base/base.h"

enum fth_runtime_feature {
	FTH_FEATURE_USER_NAME_HOUR = 0,
	FTH_FEATURE_USER_NAME,
	FTH_FEATURE_NAME_HOUR,
	FTH_FEATURE_NAME,
	FTH_FEATURE_USER_HOUR,
	FTH_FEATURE_USER,
	FTH_FEATURE_CLASS,
	FTH_FEATURE_ALL,
	FTH_FEATURE_N
};
enum fth_runtime_estimator { FTH_BY_MEAN = 0, FTH_BY_MEDIAN, FTH_BY_MOVING, FTH_BY_RECENT, FTH_BY_N };

/* What is known of a job when it comes. */
struct fth_runtime_job {
	uint64_t user, name, klass; /* hashes; 0: unknown, and of no use */
	unsigned hour;
};

struct fth_runtime_guess {
	fth_time runtime; /* 0: nothing is known */
	enum fth_runtime_feature feature;
	enum fth_runtime_estimator estimator;
};

struct fth_runtime_predictor;
struct fth_runtime_predictor *fth_predictor_new(void);
void fth_predictor_free(struct fth_runtime_predictor *p); /* NULL is fine */
struct fth_runtime_guess fth_predictor_guess(const struct fth_runtime_predictor *p, const struct fth_runtime_job *job);
/* A job has ended: its tasks ran for so long on average. */
void fth_predictor_learn(struct fth_runtime_predictor *p, const struct fth_runtime_job *job, fth_time runtime);

/* The name that repeats: "etl-2024-03-01_17" is "etl". */
uint64_t fth_runtime_name(const char *key);
const char *fth_runtime_feature_name(enum fth_runtime_feature f);
const char *fth_runtime_estimator_name(enum fth_runtime_estimator e);

/* For policies: what is guessed of a job when it is submitted, and learning from its tasks when it is done. */
fth_time fth_predictor_submitted(struct fth_runtime_predictor *p, const struct fth_view *v, const struct fth_job *j);
void fth_predictor_done(struct fth_runtime_predictor *p, const struct fth_view *v, const struct fth_job *j);

#endif
