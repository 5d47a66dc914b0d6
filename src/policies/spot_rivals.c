/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Stratus is measured against: one task an instance with moves to cheaper ones (hotspot), a fleet of the
 * cheapest instances with binpacking (fleet, fleet-diversified), greedy filling of instances batch by batch
 * (scloud, which can be given each part of Stratus in turn), and containers billed by what they hold (fargate).
 */
#include "policies/table.h"
#include "policies/vc/vc.h"

static const char *const markets[] = {"any", "spot", "on-demand", NULL};
static const char *const resources[] = {"cpu", "mem", "gpu", NULL};
static const char *const orders[] = {"demand", "random", "arrival", NULL};
static const char *const dots[] = {"own", "largest", NULL};

struct params {
	fth_time round, spin_up;
	int market, resource, order, dot;
	bool moves, packing, groups, clearing, binning;
	double vcpu, gib; /* read by who makes the catalog */
};

#define ROUND {"round", FTH_PARAM_DURATION, offsetof(struct params, round), "60s", 1, 86400, NULL, "how often it decides"}
#define MARKET {"market", FTH_PARAM_CHOICE, offsetof(struct params, market), "any", 0, 0, markets, "offers to buy"}
#define MOVES                                                                                              \
	{"moves", FTH_PARAM_BOOL, offsetof(struct params, moves), "true", 0, 0, NULL,                      \
	 "when prices change, move the tasks of an instance where they are cheaper, if that pays"}
#define SPIN_UP                                                                                            \
	{"spin_up", FTH_PARAM_DURATION, offsetof(struct params, spin_up), "0", 0, 86400, NULL,             \
	 "expected time until a new instance is ready; 0: what the catalog says"}

static struct vc_config base_of(const struct params *p)
{
	return (struct vc_config){.round = p->round,
				  .market = (enum vc_markets)p->market,
				  .spin_up = p->spin_up,
				  .bin_unit = FTH_MINUTE,
				  .default_runtime = FTH_HOUR,
				  .readjust = true,
				  .order = VC_ORDER_ARRIVAL};
}

/* ---- hotspot ---- */

static const struct fth_param hotspot_params[] = {ROUND, MARKET, MOVES, SPIN_UP, {0}};

static int hotspot_init(void **self, const struct fth_view *view, const void *arg)
{
	(void)view;
	const struct params *p = arg;
	struct vc_config cfg = base_of(p);
	cfg.scale = VC_SCALE_CHEAPEST;
	cfg.price_moves = p->moves;
	return vc_new(self, &cfg);
}

const struct fth_policy_ops fth_policy_hotspot = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_RUNTIME | FTH_POLICY_KNOWS_RUNTIME,
	.name = "hotspot",
	.summary = "one task an instance, the cheapest that holds it; moves when another becomes cheaper and it pays",
	.params = hotspot_params,
	.params_size = sizeof(struct params),
	.init = hotspot_init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};

/* ---- fleet ---- */

static const struct fth_param fleet_params[] = {
	ROUND,
	MARKET,
	{"binpack", FTH_PARAM_CHOICE, offsetof(struct params, resource), "cpu", 0, 0, resources,
	 "a task joins the instance with the least of this resource free that holds it"},
	{0},
};

static int fleet_start(void **self, const void *arg, bool diversify)
{
	static const int resource_of[] = {FTH_CPU, FTH_MEM, FTH_GPU};
	const struct params *p = arg;
	struct vc_config cfg = base_of(p);
	cfg.pack = VC_PACK_LEAST;
	cfg.resource = resource_of[p->resource];
	cfg.scale = VC_SCALE_CHEAPEST;
	cfg.share = true;
	cfg.diversify = diversify;
	return vc_new(self, &cfg);
}

static int fleet_init(void **self, const struct fth_view *view, const void *arg)
{
	(void)view;
	return fleet_start(self, arg, false);
}

static int diversified_init(void **self, const struct fth_view *view, const void *arg)
{
	(void)view;
	return fleet_start(self, arg, true);
}

const struct fth_policy_ops fth_policy_fleet = {
	.abi = FTH_POLICY_ABI,
	.name = "fleet",
	.summary = "Spot Fleet lowestPrice with ECS binpack: tasks fill instances, the cheapest that holds a task is added",
	.params = fleet_params,
	.params_size = sizeof(struct params),
	.init = fleet_init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};

const struct fth_policy_ops fth_policy_fleet_diversified = {
	.abi = FTH_POLICY_ABI,
	.name = "fleet-diversified",
	.summary = "Spot Fleet diversified with ECS binpack: what is added comes from the pool used least",
	.params = fleet_params,
	.params_size = sizeof(struct params),
	.init = diversified_init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};

/* ---- scloud, and the ladder up to Stratus ---- */

static const struct fth_param scloud_params[] = {
	ROUND,
	MARKET,
	MOVES,
	SPIN_UP,
	{"order", FTH_PARAM_CHOICE, offsetof(struct params, order), "demand", 0, 0, orders,
	 "in which order a batch is packed: largest demand first, at random, or as it came; with groups always as it came, with "
	 "binning always the longest first"},
	{"packing", FTH_PARAM_BOOL, offsetof(struct params, packing), "false", 0, 0, NULL,
	 "pack new tasks onto running instances, by dot product"},
	{"dot", FTH_PARAM_CHOICE, offsetof(struct params, dot), "own", 0, 0, dots,
	 "dot product in shares of the instance's own capacity, or of the largest type's"},
	{"groups", FTH_PARAM_BOOL, offsetof(struct params, groups), "false", 0, 0, NULL,
	 "buy as Stratus does, by groups and types together"},
	{"clearing", FTH_PARAM_BOOL, offsetof(struct params, clearing), "false", 0, 0, NULL,
	 "clear under-used instances as Stratus does; without packing or binning only onto new ones"},
	{"binning", FTH_PARAM_BOOL, offsetof(struct params, binning), "false", 0, 0, NULL,
	 "runtime bins for packing and groups: with all of these it is Stratus with true runtimes"},
	{0},
};

static int scloud_init(void **self, const struct fth_view *view, const void *arg)
{
	static const enum vc_order order_of[] = {VC_ORDER_DEMAND, VC_ORDER_RANDOM, VC_ORDER_ARRIVAL};
	(void)view;
	const struct params *p = arg;
	struct vc_config cfg = base_of(p);
	cfg.pack = p->binning ? VC_PACK_BINS : p->packing ? VC_PACK_DOT : VC_PACK_NONE;
	cfg.own_capacity = p->dot == 0;
	cfg.scale = p->groups ? VC_SCALE_GROUPS : VC_SCALE_FILL;
	cfg.order = p->binning ? VC_ORDER_RUNTIME : p->groups ? VC_ORDER_ARRIVAL : order_of[p->order];
	cfg.bins = cfg.up_pack = cfg.down_pack = p->binning;
	cfg.clear = p->clearing;
	cfg.low = 0.5;
	cfg.patience = 3;
	cfg.price_moves = p->moves;
	return vc_new(self, &cfg);
}

const struct fth_policy_ops fth_policy_scloud = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_RUNTIME | FTH_POLICY_KNOWS_RUNTIME,
	.name = "scloud",
	.summary = "SuperCloud-Spot: each batch fills new instances greedily; can be given each part of Stratus in turn",
	.params = scloud_params,
	.params_size = sizeof(struct params),
	.init = scloud_init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};

/* ---- fargate ---- */

static const struct fth_param fargate_params[] = {
	ROUND,
	{"vcpu", FTH_PARAM_REAL, offsetof(struct params, vcpu), "0.0506", 0, 1e6, NULL,
	 "dollars per vCPU and hour (AWS Fargate, May 2018), where the catalog has no container sizes of its own"},
	{"gib", FTH_PARAM_REAL, offsetof(struct params, gib), "0.0127", 0, 1e6, NULL, "dollars per GiB and hour, likewise"},
	{0},
};

/* Each task gets the cheapest container that holds it. */
static int fargate_init(void **self, const struct fth_view *view, const void *arg)
{
	(void)view;
	struct vc_config cfg = base_of(arg);
	cfg.scale = VC_SCALE_CHEAPEST;
	cfg.containers = true;
	return vc_new(self, &cfg);
}

const struct fth_policy_ops fth_policy_fargate = {
	.abi = FTH_POLICY_ABI,
	.flags = FTH_POLICY_WANTS_CONTAINERS,
	.name = "fargate",
	.summary = "no instances to manage: each task a container billed by its vCPUs and memory",
	.params = fargate_params,
	.params_size = sizeof(struct params),
	.init = fargate_init,
	.period = vc_period,
	.decide = vc_decide,
	.fini = vc_free,
};
