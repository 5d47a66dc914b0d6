/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stratus (SoCC'18): tasks that will end at about the same time share instances, so that these are either full or
 * empty. Tasks go by runtime bins [0,1), [1,2), [2,4) ... minutes: to the instance of their own bin that ends
 * nearest, else up to longer-lived ones, else down to shorter-lived ones, which are promoted. For what is left,
 * instances are bought by the score of every <group, type> pair. Under-used instances are cleared. Each part can
 * be switched off.
 */
#include "policies/table.h"
#include "policies/vc/vc.h"

struct params {
	fth_time round, bin_unit, unknown, spin_up;
	bool up_pack, down_pack, groups, clearing, readjust, booting;
	int ties, market, estimates;
	double low;
	int64_t patience;
};

static const char *const ties[] = {"larger", "smaller", NULL};
static const char *const markets[] = {"any", "spot", "on-demand", NULL};
static const char *const estimates[] = {"told", "history", NULL};

static const struct fth_param params[] = {
	{"round", FTH_PARAM_DURATION, offsetof(struct params, round), "60s", 1, 86400, NULL, "how often it decides"},
	{"estimates", FTH_PARAM_CHOICE, offsetof(struct params, estimates), "told", 0, 0, estimates,
	 "runtimes as told (in a simulation the truth, unless the workload or --estimates says otherwise), or predicted from ended jobs"},
	{"unknown", FTH_PARAM_DURATION, offsetof(struct params, unknown), "1h", 1e-6, 1e9, NULL,
	 "runtime of a task of which nothing is known"},
	{"bin", FTH_PARAM_DURATION, offsetof(struct params, bin_unit), "60s", 1e-6, 86400, NULL,
	 "width of the first runtime bin; each further one ends at twice the time"},
	{"up", FTH_PARAM_BOOL, offsetof(struct params, up_pack), "true", 0, 0, NULL, "pack onto longer-lived instances"},
	{"down", FTH_PARAM_BOOL, offsetof(struct params, down_pack), "true", 0, 0, NULL,
	 "pack onto shorter-lived instances, which promotes them"},
	{"booting", FTH_PARAM_BOOL, offsetof(struct params, booting), "false", 0, 0, NULL,
	 "pack onto instances that still boot"},
	{"groups", FTH_PARAM_BOOL, offsetof(struct params, groups), "true", 0, 0, NULL,
	 "buy by groups of tasks and types together; else the cheapest type that holds each task"},
	{"ties", FTH_PARAM_CHOICE, offsetof(struct params, ties), "larger", 0, 0, ties, "which type of equal scores"},
	{"clearing", FTH_PARAM_BOOL, offsetof(struct params, clearing), "true", 0, 0, NULL,
	 "move tasks off under-used instances"},
	{"low", FTH_PARAM_REAL, offsetof(struct params, low), "0.5", 0, 1, NULL,
	 "under-used: less than this share of every resource"},
	{"patience", FTH_PARAM_INT, offsetof(struct params, patience), "3", 0, 1e6, NULL,
	 "cleared when under-used for more than so many rounds"},
	{"readjust", FTH_PARAM_BOOL, offsetof(struct params, readjust), "true", 0, 0, NULL,
	 "a task that outlives its estimate is taken to be half-way"},
	{"spin_up", FTH_PARAM_DURATION, offsetof(struct params, spin_up), "0", 0, 86400, NULL,
	 "expected time until a new instance is ready; 0: what the catalog says"},
	{"market", FTH_PARAM_CHOICE, offsetof(struct params, market), "any", 0, 0, markets, "offers to buy"},
	{0},
};

static int init(void **self, const struct fth_view *view, const void *arg)
{
	(void)view;
	const struct params *p = arg;
	struct vc_config cfg = {
		.round = p->round,
		.pack = VC_PACK_BINS,
		.scale = p->groups ? VC_SCALE_GROUPS : VC_SCALE_CHEAPEST,
		.market = (enum vc_markets)p->market,
		.up_pack = p->up_pack,
		.down_pack = p->down_pack,
		.bins = true,
		.bin_unit = p->bin_unit,
		.pack_booting = p->booting,
		.tie_smaller = p->ties == 1,
		.readjust = p->readjust,
		.history = p->estimates == 1,
		.default_runtime = p->unknown,
		.clear = p->clearing,
		.low = p->low,
		.patience = p->patience,
		.spin_up = p->spin_up,
	};
	return vc_new(self, &cfg);
}

const struct fth_policy_ops fth_policy_stratus = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_RUNTIME,
	.name = "stratus",
	.summary = "tasks that end together share instances; bought by group and type together, cleared when under-used",
	.params = params,
	.params_size = sizeof(struct params),
	.init = init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};
