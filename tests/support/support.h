/* SPDX-License-Identifier: Apache-2.0 */
/* What several tests share: random worlds, toy policies, and a watcher that checks the laws of the house. */
#ifndef FTH_TESTS_SUPPORT_H
#define FTH_TESTS_SUPPORT_H

#include "engine/engine.h"
#include "sim/sim.h"

/* ---- a random world: a small catalog, a profile and a mixed workload ---- */

struct random_world_options {
	uint64_t seed;
	uint32_t jobs;
	bool coupled;        /* some jobs advance together */
	bool by_family;      /* demands and speeds differ by family */
	bool drawn_delays;   /* boot delays drawn, else fixed */
	bool step;           /* progress in steps of a second */
	bool anti_affinity;
	bool one_type;       /* the largest alone; jobs have more tasks */
	bool market;         /* spot offers beside the others: prices that pass the bid, probes, random revocations */
	bool rigid;          /* those that advance together start together too */
	bool services;       /* one job in twenty is a service, which does not end */
};
void random_world(struct fth_world *w, const struct random_world_options *o);

/* ---- the laws ---- */

/*
 * Attached to a run, it checks after every event and every plan, from the tasks up and by itself:
 * - no instance is over-committed or holds more than it has, in any dimension;
 * - the sums, counts and lists of the cluster agree with its tasks;
 * - every task ends once, every job ends once;
 * - at the end: the ledger's total is the sum of its charges, and each charge is its instance's time from
 *   acquisition to its end, by the events, times its price, by the billing rule.
 * It also hashes everything seen, so that two runs can be compared to the byte.
 */
struct law_watcher {
	struct fth_observer base;
	const struct fth_catalog *catalog;
	bool thorough; /* look at the whole cluster each time, not only at what was touched */
	uint64_t hash, events, plans, actions;
	uint64_t submitted_jobs, submitted_tasks, done_jobs, done_tasks;
	struct fth_map task_done, acquired, offer_of, cut;
	FTH_VEC(struct law_price {
		fth_offer_id offer;
		fth_time at;
		fth_price price;
	}) prices; /* changes, in order */
	fth_money expected_total;
	uint64_t charges;
	char broken[256]; /* the first law broken; empty: none */
};
void law_watcher_init(struct law_watcher *w, const struct fth_catalog *c, bool thorough);
void law_watcher_release(struct law_watcher *w);
/* At the end; false (and w->broken) if any law was broken. */
bool laws_hold(struct law_watcher *w, const struct fth_engine *e, bool all_done);

/* The cost of a run that ended all jobs over the lower bound of any run; below 1 but for what may be rounded: the bound is
 * wrong, and -1 is returned. launches: of tasks, or more. */
double cost_over_bound(const struct fth_world *w, const struct fth_sim_params *p, const struct fth_engine *e, uint64_t launches);

/* ---- toy policies ---- */

extern const struct fth_policy_ops toy_do_nothing; /* never acts */
extern const struct fth_policy_ops toy_serve;      /* a new instance for each waiting task, on the cheapest offer */
extern const struct fth_policy_ops toy_liar;       /* serves the tasks, among hundreds of impossible actions */
extern const struct fth_policy_ops toy_sleeper;    /* sleeps through its decision, then fails to decide */
extern const struct fth_policy_ops toy_waker;      /* asks to be woken for ever, does nothing */
extern const struct fth_policy_ops toy_launch_all; /* launches all it can, places nothing */
extern const struct fth_policy_ops toy_failing;    /* returns an error after a few rounds */
extern const struct fth_policy_ops toy_mover;      /* keeps moving and preempting tasks at random, but legally */

#endif
