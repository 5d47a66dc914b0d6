/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs of policies on worlds and variants of them: what the repro tables are made from. */
#ifndef FTH_CLI_REPRO_RUNS_H
#define FTH_CLI_REPRO_RUNS_H

#include "cli/repro.h"
#include "cli/runner.h"

struct fth_repro_runs {
	FTH_VEC(struct fth_runner_job) jobs;
	FTH_VEC(struct fth_policy_choice *) policies;
	fth_time window_from, window_to; /* of the runs added from now on */
};
/* Add a run (policy and parameters as on the command line, sim: "key=value,..."); its number, or -errno. A policy
 * that this program does not have gives -ENOENT. */
int fth_repro_runs_add(struct fth_repro_runs *r, const struct fth_world *w, const char *policy, const char *sim,
		       struct fth_error *err);
int fth_repro_runs_go(struct fth_repro_runs *r, const struct fth_repro_request *req, struct fth_error *err);
/* NULL for a negative number. */
const struct fth_run *fth_repro_runs_get(const struct fth_repro_runs *r, int number);
void fth_repro_runs_release(struct fth_repro_runs *r);

bool fth_repro_has_policy(const char *name);
/* A figure the policy noted, summed over its rounds; 0 if it never did. */
double fth_repro_note_sum(const struct fth_run *run, const char *name);

#endif
