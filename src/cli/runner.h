/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs policies on a world, each in a process of its own: a policy that crashes takes only its own
 * run with it, each run's peak memory is its own, and several run side by side.
 */
#ifndef FTH_CLI_RUNNER_H
#define FTH_CLI_RUNNER_H

#include "report/run.h"
#include "sim/sim.h"

struct fth_runner_job {
	/* In. */
	const struct fth_world *world;
	const struct fth_policy_choice *policy;
	struct fth_sim_params sim;
	/* Record the run to this file; NULL: do not. The world must come from fth_journal_world then. */
	const char *journal;
	fth_time window_from, window_to;  /* see fth_metrics_new; 0, 0: none */

	/* Out. The figures are there if has_run, also of a run that left jobs unfinished. */
	struct fth_run run;
	bool has_run;
	struct fth_error error; /* code 0: the run ended well */
	int signal;             /* its process died of this signal; 0: it did not */
};

enum fth_progress { FTH_PROGRESS_AUTO = 0, FTH_PROGRESS_OFF };

/* Run all of them, at most `parallel` at a time (0: as many as there are cores), results in the order
 * given. Returns 0 when all were run, whatever became of each; -ECANCELED when interrupted, with all
 * processes ended. Progress goes to standard error if that is a terminal. */
int fth_runner_run(struct fth_runner_job *jobs, size_t n, unsigned parallel, enum fth_progress progress,
		   struct fth_error *err);
void fth_runner_release(struct fth_runner_job *jobs, size_t n);

/* What became of the jobs, as the program's exit code; failures are told on standard error. */
int fth_runner_exit_code(const struct fth_runner_job *jobs, size_t n);

#endif
