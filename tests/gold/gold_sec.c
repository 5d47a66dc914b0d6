/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our simulator and policies for rigid jobs against an independent reference of the semi-elastic cluster paper.
 *
 *   gold_sec TRACE CATALOGS     cost within 1 %, mean wait within 3 %, under the reference's own choices
 *
 * Data and gold results are kept beside the project (FARTHING_DATA, FARTHING_GOLD); without them the test is
 * skipped, unless CI is set.
 */
#include <math.h>

#include <jansson.h>

#include "engine/registry.h"
#include "policies/table.h"
#include "report/metrics.h"
#include "report/settle.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { SKIP = 77, HEADLINE = 5 };

static const struct {
	const char *gold, *policy, *catalog;
	enum fth_settlement how;
} modes[] = {
	{"Individual", "individual", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"NoWait", "nowait", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"SEC-On-Demand", "sec:on_ready=false", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"SEC-Hybrid", "sec:on_ready=false", "catalog-hpc-2013.txt", FTH_SETTLE_HINDSIGHT},
	{"SEC-GCE", "sec:on_ready=false", "catalog-gce-2014.txt", FTH_SETTLE_LIST},
	{"Local-93", "local:nodes=93", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"Local-140", "local:nodes=140", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"place-minmargin", "sec:on_ready=false,placement=min-margin", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"fig6-first-a1", "sec:on_ready=false,size=first", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
	{"fig6-sum-a1", "sec:on_ready=false,size=sum", "catalog-hpc-2013.txt", FTH_SETTLE_LIST},
};

static int load(struct fth_world *w, const char *trace, const char *folder, const char *catalog, struct fth_error *err)
{
	struct fth_import_options o = {.node_cpus = 16};
	char path[4096];
	fth_world_init(w);
	snprintf(path, sizeof(path), "%s/%s", folder, catalog);
	int r = fth_load_catalog(&w->catalog, path, FTH_FORMAT_AUTO, NULL, err);
	snprintf(path, sizeof(path), "%s/swf/%s.swf.gz", getenv("FARTHING_DATA") ? getenv("FARTHING_DATA") : FTH_TEST_DATA, trace);
	return r ? r : fth_load_workload(&w->workload, path, FTH_FORMAT_SWF, &o, err);
}

static int run(struct fth_run *run, const struct fth_world *w, const char *policy, enum fth_settlement how, struct fth_error *err)
{
	struct fth_policy_choice choice;
	struct fth_sim_params p = {0};
	struct fth_engine *e = NULL;
	fth_params_defaults(fth_sim_param_table, &p);
	int r = fth_policy_choose(&choice, fth_policies, policy, err);
	if (r)
		return r;
	struct fth_metrics *m = fth_metrics_new(&w->catalog.pub, 0, 0);
	r = fth_sim_run(&e, w, &choice, NULL, &p, fth_metrics_observer(m), NULL, err);
	fth_run_init(run);
	if (!r) {
		fth_metrics_finish(m, e, 0, run);
		r = fth_settle(run, e, how, w->workload.epoch, err);
	}
	fth_metrics_free(m);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return r;
}

/* Both within their bounds? */
static bool agrees(const char *what, const struct fth_run *ours, const json_t *gold)
{
	double cost = json_number_value(json_object_get(gold, "cost")), wait = json_number_value(json_object_get(gold, "wait_mean"));
	double off_cost = fth_usd(ours->cost) / cost - 1, off_wait = ours->wait_mean_s / wait - 1;
	bool ok = fabs(off_cost) <= 0.01 && fabs(off_wait) <= 0.03;
	printf("%-16s cost %.2f (%+.3f %%), wait %.2f s (%+.2f %%)%s\n", what, fth_usd(ours->cost), 100 * off_cost, ours->wait_mean_s,
	       100 * off_wait, ok ? "" : "  TOO FAR");
	return ok;
}

int main(int argc, char **argv)
{
	char path[4096];
	if (argc != 3)
		return 2;
	snprintf(path, sizeof(path), "%s/sec_gold.json", getenv("FARTHING_GOLD") ? getenv("FARTHING_GOLD") : FTH_TEST_GOLD);
	json_t *gold = json_load_file(path, 0, NULL);
	if (!gold) {
		printf("skipped: %s is not there (FARTHING_GOLD)\n", path);
		return getenv("CI") ? 1 : SKIP;
	}
	json_t *runs = json_object_get(json_object_get(json_object_get(json_object_get(gold, "traces"), argv[1]), "base"), "runs");
	int bad = runs ? 0 : 1;
	for (size_t i = 0; i < FTH_COUNT(modes) && runs; i++) {
		const json_t *want = json_object_get(runs, modes[i].gold);
		struct fth_world w;
		struct fth_run ours;
		struct fth_error err = {0};
		if (!want) { /* the headline is in every trace's gold */
			bad += i < HEADLINE;
			continue;
		}
		int r = load(&w, argv[1], argv[2], modes[i].catalog, &err);
		if (!r)
			r = run(&ours, &w, modes[i].policy, modes[i].how, &err);
		if (r) {
			printf("%s: %s\n", modes[i].gold, err.text);
			bad++;
		} else {
			bad += !agrees(modes[i].gold, &ours, want);
			fth_run_release(&ours);
		}
		fth_world_release(&w);
	}
	json_decref(gold);
	return bad ? 1 : 0;
}
