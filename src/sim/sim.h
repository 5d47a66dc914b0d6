/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: a driver with a virtual clock and a modelled cloud. See README.md here for the
 * exact order of events and the life of a task.
 */
#ifndef FTH_SIM_SIM_H
#define FTH_SIM_SIM_H

#include "base/base.h"
#include "engine/engine.h"
#include "engine/registry.h"
#include "model/world.h"

/* Parameters of the modelled world, as `--sim key=value`. */
struct fth_sim_params {
	int64_t seed;
	double launch_failure;    /* probability that a launch fails for want of capacity */
	double job_delay_scale;   /* times every stop, save, fetch, set-up and init of tasks */
	double job_delay_spread;  /* each of them drawn within this share of its length; 0: fixed */
	double boot_delay_scale;  /* times acquisition and set-up of instances */
	double pair_speed;        /* > 0: every pair of co-located tasks has this speed, whatever the profile */
	double crowd;             /* times the speed of everybody on an instance, for each task there beyond the second */
	int64_t max_instances;
	fth_time horizon;         /* stop the run here; 0: when all jobs have ended */
	bool exact_estimates;     /* tell every policy the true runtimes as estimates */
	fth_time decide_limit;    /* wall-clock limit of one decision; 0 none */
	double bid;               /* for spot offers, times the on-demand price */
	fth_time notice;          /* between a revocation notice and the revocation */
	double revocation_rate;   /* per spot instance and hour; 0: each offer's own */
	double usd_per_hour, usd_per_month; /* budgets; 0: none */
	int64_t moves_per_hour;   /* of running tasks; 0: no limit */
	double disturbed;         /* share of instances that tasks are taken off at once; 0: no limit */
	int64_t market_start;     /* seconds since 1970 at which the run begins; 0: with the market's first price */
};
extern const struct fth_param fth_sim_param_table[];

/* Its budgets, as the engine takes them. */
struct fth_limits fth_sim_limits(const struct fth_sim_params *p, const struct fth_world *w);

struct fth_sim_progress {
	/* Now and then: jobs ended of total (0: unknown), virtual time. Return false to stop the run. */
	bool (*report)(void *arg, uint64_t jobs_done, uint64_t jobs_total, fth_time now);
	void *arg;
};

/* Run one policy to the end. observers: a list (linked by next) attached to the engine, may be NULL.
 * The engine is handed back for its ledger and counts; free it. -ETIME: the horizon was reached;
 * -EDEADLK: jobs are left and nothing will ever happen again; -ECANCELED: stopped by the report. */
int fth_sim_run(struct fth_engine **ret, const struct fth_world *w, const struct fth_policy_choice *policy,
		const struct fth_policy_ops *fallback, const struct fth_sim_params *params, struct fth_observer *observers,
		const struct fth_sim_progress *progress, struct fth_error *err);

#endif
