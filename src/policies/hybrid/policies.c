/* SPDX-License-Identifier: Apache-2.0 */
/* The policies of this folder: what each is made of, and its parameters. */
#include "policies/hybrid/core.h"
#include "policies/table.h"

#define P(field) offsetof(struct fth_hybrid_params, field)

static const char *const estimates[] = {"mean", "constant", "random", NULL};
static const char *const steps[] = {"aggressive", "one", "loop", NULL};
static const char *const rules[] = {"task", "job", "none", NULL};
static const char *const funds[] = {"ratio", "budget", NULL};
static const char *const pulls[] = {"short", "transient", "none", NULL};
static const char *const releases[] = {"idlest", "newest", "oldest", NULL};

/* clang-format off */
#define COMMON(probes) \
	{"workers", FTH_PARAM_INT, P(workers), "0", 0, 10000000, NULL, "how many workers there are (--workers sets it)"}, \
	{"slots", FTH_PARAM_INT, P(slots), "1", 1, 64, NULL, "slots of a worker, one CPU each"}, \
	{"delay", FTH_PARAM_DURATION, P(delay), "0.5ms", 0, 3600, NULL, "network delay, one way"}, \
	{"cutoff", FTH_PARAM_DURATION, P(cutoff), "90.5811s", 0, 1e9, NULL, "jobs whose tasks are estimated to take longer are long"}, \
	{"estimates", FTH_PARAM_CHOICE, P(estimates), "mean", 0, 0, estimates, \
	 "a job's estimate: its mean; constant: off by off_top of it; random: between off_bottom and off_top times it"}, \
	{"off_bottom", FTH_PARAM_REAL, P(off_bottom), "0", -1, 1000, NULL, "see estimates"}, \
	{"off_top", FTH_PARAM_REAL, P(off_top), "0", -1, 1000, NULL, "see estimates"}, \
	{"probe_ratio", FTH_PARAM_REAL, P(probe_ratio), "2", 1, 100, NULL, "probes for each task"}, \
	{"min_probes", FTH_PARAM_INT, P(min_probes), probes, 1, 100000, NULL, "probes of a job at least"}, \
	{"seed", FTH_PARAM_INT, P(seed), "123456798", 0, 9e15, NULL, "of the Mersenne Twister that workers are drawn with"}

#define GENERAL(def) \
	{"general", FTH_PARAM_REAL, P(general), def, 0.001, 100, NULL, "percent of the workers that take long work; the first ones do not"}

#define EAGLE \
	{"bypass_cap", FTH_PARAM_REAL, P(bypass_cap), "5", 0, 1e6, NULL, \
	 "a probe is overtaken by this many times its own estimate at most"}, \
	{"sticky", FTH_PARAM_BOOL, P(sticky), "true", 0, 0, NULL, "a worker asks the same job again for its next task"}

#define TRANSIENT \
	{"r", FTH_PARAM_REAL, P(r), "3", 0, 1000, NULL, "price of an on-demand worker over that of a transient one; 0: as the market has it now"}, \
	{"p", FTH_PARAM_REAL, P(p), "0.5", 0, 1, NULL, "share of the short-only workers that is given up for transient ones"}, \
	{"rule", FTH_PARAM_CHOICE, P(rule), "task", 0, 0, rules, \
	 "copies on on-demand workers: a probe for each task, one for the job, or none"}, \
	{"release", FTH_PARAM_CHOICE, P(release), "idlest", 0, 0, releases, "which of the transients goes first, after requests under way"}, \
	{"drain_after", FTH_PARAM_DURATION, P(drain_after), "2.5ms", 0, 3600, NULL, \
	 "a draining worker stays at least so long, for probes that are on their way"}
/* clang-format on */

static const struct fth_param sparrow_params[] = {COMMON("2"), {0}};

static const struct fth_param hawk_params[] = {
	COMMON("2"),
	GENERAL("98"),
	{"steal_tries", FTH_PARAM_INT, P(steal_tries), "10", 0, 1000000, NULL, "workers an idle one looks at for short probes that are stuck"},
	{"steal_max", FTH_PARAM_INT, P(steal_max), "10000", 1, 1000000000, NULL, "probes taken at once at most"},
	{0},
};

static const struct fth_param eagle_params[] = {COMMON("20"), GENERAL("98"), EAGLE, {0}};

static const struct fth_param central_params[] = {COMMON("2"), {0}};

static const struct fth_param coaster_params[] = {
	COMMON("20"),
	GENERAL("98"),
	EAGLE,
	TRANSIENT,
	{"threshold", FTH_PARAM_REAL, P(threshold), "0.95", 0, 1, NULL, "of the long-load ratio, above which transients come"},
	{"step", FTH_PARAM_CHOICE, P(step), "aggressive", 0, 0, steps,
	 "aggressive: as many as it takes come, one goes; one: one either way; loop: as many as it takes either way"},
	{"count_pending", FTH_PARAM_BOOL, P(count_pending), "true", 0, 0, NULL, "transients count in the ratio from their request on"},
	{0},
};

static const struct fth_param surge_params[] = {
	COMMON("20"),
	GENERAL("98"),
	EAGLE,
	TRANSIENT,
	{"target", FTH_PARAM_DURATION, P(target), "20s", 0.001, 1e6, NULL, "short work that waits is to be done within this time"},
	{"window", FTH_PARAM_DURATION, P(window), "300s", 0.001, 1e6, NULL, "over which the arriving short work is counted"},
	{"keep", FTH_PARAM_DURATION, P(keep), "20s", 0, 1e6, NULL, "machines go when they were not needed for so long"},
	{"threshold", FTH_PARAM_REAL, P(threshold), "0.95", 0, 1, NULL, "of the long-load ratio, above which machines are kept ready"},
	{"warm", FTH_PARAM_REAL, P(warm), "0.8", 0, 1, NULL, "share of K that is kept ready then"},
	{"peak", FTH_PARAM_REAL, P(peak), "3", 1, 1000, NULL,
	 "times K at once at most, paid from what was saved before"},
	{"fund", FTH_PARAM_CHOICE, P(fund), "ratio", 0, 0, funds,
	 "what may be spent in all; ratio: as much as cloudcoaster would; budget: K machines all the time"},
	{"pull", FTH_PARAM_CHOICE, P(pull), "short", 0, 0, pulls,
	 "workers that run dry and ask for the job that waits longest: all short-only ones, only transients, or none"},
	{0},
};

#define POLICY(id, text_name, text, table, ...)                                                          \
	static const struct fth_hybrid_traits id##_traits = {__VA_ARGS__};                               \
	static int id##_init(void **self, const struct fth_view *view, const void *p)                    \
	{                                                                                                \
		return fth_hybrid_new(self, view, p, &id##_traits);                                      \
	}                                                                                                \
	const struct fth_policy_ops fth_policy_##id = {                                                  \
		.abi = FTH_POLICY_ABI,                                                                   \
		.flags = FTH_POLICY_WANTS_WORKERS,                                                       \
		.name = text_name,                                                                       \
		.summary = text,                                                                         \
		.params = table,                                                                         \
		.params_size = sizeof(struct fth_hybrid_params),                                         \
		.ignores = 1u << FTH_EV_TASK_STARTING | 1u << FTH_EV_TASK_RUNNING | 1u << FTH_EV_THROUGHPUT | \
			   1u << FTH_EV_JOB_DONE | 1u << FTH_EV_INSTANCE_ACQUIRED,                       \
		.init = id##_init,                                                                       \
		.decide = fth_hybrid_decide,                                                             \
		.fini = fth_hybrid_free,                                                                 \
	}

POLICY(sparrow, "sparrow", "probes on workers drawn at random, tasks bound late; no difference between short and long", sparrow_params,
       .long_central = false);
POLICY(hawk, "hawk", "long jobs by least waiting time, short ones by probes; idle workers steal what is stuck", hawk_params,
       .long_central = true, .partition = true, .steal = true);
POLICY(eagle, "eagle", "short jobs avoid workers with long tasks, stick to their probes, and the shortest goes first", eagle_params,
       .long_central = true, .partition = true, .hints = true, .srpt = true);
POLICY(least_waiting, "least-waiting", "every job by the central book of who waits least: what probing is measured against",
       central_params, .long_central = true, .short_central = true);
POLICY(cloudcoaster, "cloudcoaster", "eagle whose short partition grows with transient machines as long work fills the cluster",
       coaster_params, .long_central = true, .partition = true, .hints = true, .srpt = true, .transients = true);
POLICY(surge, "surge", "eagle whose short partition follows the short work that waits and arrives; idle workers ask for it",
       surge_params, .long_central = true, .partition = true, .hints = true, .srpt = true, .transients = true, .surge = true);
