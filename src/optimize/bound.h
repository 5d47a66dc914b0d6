/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no policy can go below: a lower bound of the bill for a workload on a catalog, in a world where tasks slow
 * each other down as the profile says. From a world to the LP of blend.h and back. docs/bound.md says in words why it
 * holds and where it is weak.
 */
#ifndef FTH_OPTIMIZE_BOUND_H
#define FTH_OPTIMIZE_BOUND_H

#include "model/world.h"
#include "optimize/blend.h"

struct fth_bound_options {
	double pair_speed;      /* > 0: that of every pair, whatever the profile */
	fth_time market_start;  /* as for a run; 0: with the market's first price */
	fth_time until;         /* > 0: the bound is for runs that end by then; later prices do not count */
	bool uneven_delays;     /* delays are drawn or scaled by the run: they may be no whole steps of progress */
	uint32_t rows_max;      /* more kinds of tasks than this are joined */
	struct fth_blend_effort effort;
};
/* For a comparison (about a second at most), and for who asks for the bound itself. */
struct fth_bound_options fth_bound_quick(void);
struct fth_bound_options fth_bound_thorough(void);

/* Tasks that are alike to the bound: same class, demand and speed wherever they may run. */
struct fth_bound_row {
	fth_sym label, klass; /* of the first kind in it */
	uint32_t kinds;
	uint64_t tasks;
	struct fth_res demand; /* that of its first alternative; rounded down where kinds were joined */
	double hours;          /* of work alone at full speed */
	double value;          /* dollars per hour of it */
};

struct fth_bound {
	bool known;      /* else there is none, and why[] says why */
	bool certified;  /* else it is an estimate, and why[] says why */
	bool exact;      /* the LP was solved: no better bound of this kind */
	bool interference;
	char why[160];
	fth_money usd;
	/* Where progress is counted in steps and something may happen within one: a run may come to lie below the bound by
	 * this much for each launch of a task. 0: it may not. */
	fth_money slack_per_launch;
	double lp_usd;   /* of the LP as far as it was solved: what waiting without end and no boots would allow */
	uint64_t kinds;  /* of tasks with work to do, before any were joined */
	FTH_VEC(struct fth_bound_row) rows; /* by dollars, most first */
	struct fth_blend mix;                 /* its rows are ours; configs[].type is the catalog's */
	FTH_VEC(char *) remarks;            /* what it leaves out */
};
/* jobs: where they come from if not from the world's workload; NULL: from there. 0, or -errno of reading them. */
int fth_bound_find(struct fth_bound *b, const struct fth_world *w, struct fth_job_source *jobs, const struct fth_bound_options *o,
		   struct fth_error *err);
void fth_bound_release(struct fth_bound *b);

#endif
