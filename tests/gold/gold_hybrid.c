/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparrow, Hawk and Eagle against their authors' simulator, CloudCoaster against a reference of it, on the Yahoo window.
 *
 *   gold_hybrid eagle SYSTEM SLOTS TOLERANCE     "Eagle" 3600: delays of short tasks, times of short and long jobs
 *   gold_hybrid coaster TAG SLOTS TOLERANCE POLICY
 *
 * Data and gold results are kept beside the project (FARTHING_DATA, FARTHING_GOLD); without them the
 * test is skipped, unless CI is set.
 */
#include <math.h>
#include <unistd.h>

#include <jansson.h>

#include "policies/table.h"
#include "report/classes.h"
#include "report/metrics.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { SKIP = 77 };

static int load(struct fth_world *w, const char *data, struct fth_error *err)
{
	char path[4096];
	fth_world_init(w);
	for (int k = 0; k < 2; k++) {
		struct fth_instance_type t = {.name = fth_sym_intern(w->syms, k ? "transient" : "worker")};
		t.capacity.v[FTH_CPU] = 1000;
		t.acquire = fth_delay_fixed(k ? 120 * FTH_SEC : 0);
		fth_vec_push(&w->catalog.types, t);
		for (int r = 1; r <= (k ? 3 : 1); r++) {
			struct fth_offer o = {.type = (fth_type_id)k, .market = k ? FTH_SPOT : FTH_ON_DEMAND, .available = true};
			char zone[8];
			snprintf(zone, sizeof(zone), "r%d", r);
			o.zone = fth_sym_intern(w->syms, k ? zone : "");
			o.price = FTH_USD / r;
			o.billing = fth_billing_default();
			fth_vec_push(&w->catalog.offers, o);
		}
	}
	int r = fth_catalog_finish(&w->catalog, err);
	snprintf(path, sizeof(path), "%s/hawk/YH1_sub.tr", data);
	return r ? r : fth_load_workload(&w->workload, path, FTH_FORMAT_AUTO, NULL, err);
}

static int run(const struct fth_world *w, const char *policy, struct fth_run *ret, struct fth_error *err)
{
	struct fth_policy_choice choice;
	struct fth_sim_params params;
	struct fth_engine *e = NULL;
	int r = fth_policy_choose(&choice, fth_policies, policy, err);
	if (r)
		return r;
	struct fth_metrics *m = fth_metrics_new(&w->catalog.pub, 0, 0);
	struct fth_classes *c = fth_classes_new(90581100);
	fth_metrics_observer(m)->next = fth_classes_observer(c);
	fth_params_defaults(fth_sim_param_table, &params);
	r = fth_sim_run(&e, w, &choice, NULL, &params, fth_metrics_observer(m), NULL, err);
	if (!r) {
		fth_metrics_finish(m, e, 0, ret);
		fth_classes_finish(c, &w->catalog.pub, ret);
		if (fth_engine_stats(e)->rejected)
			r = fth_fail(err, -EPROTO, "actions were refused");
	}
	fth_classes_free(c);
	fth_metrics_free(m);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return r;
}

static int check(const json_t *gold, const char *key, double ours, double tolerance)
{
	double want = json_number_value(json_object_get(gold, key));
	bool ok = fabs(ours - want) <= tolerance * fabs(want);
	printf("%s %-12s %14.4f, gold %14.4f (%+.3f %%)\n", ok ? "  " : "! ", key, ours, want, want ? 100 * (ours / want - 1) : 0);
	return !ok;
}

static int check_spread(const json_t *run, const char *name, const struct fth_run_spread *s, double tolerance)
{
	const json_t *g = json_object_get(run, name);
	printf("%s\n", name);
	return check(g, "n", (double)s->n, 0) | check(g, "mean", s->mean, tolerance) | check(g, "p50", s->p50, tolerance) |
	       check(g, "p90", s->p90, tolerance) | check(g, "p99", s->p99, tolerance) | check(g, "max", s->max, tolerance);
}

static const json_t *find(const json_t *list, const char *key, const char *value, int slots)
{
	size_t i;
	json_t *x;
	json_array_foreach(list, i, x) {
		const char *name = json_string_value(json_object_get(x, key)), *trace = json_string_value(json_object_get(x, "trace"));
		if (name && !strcmp(name, value) && trace && !strcmp(trace, "YH1_sub.tr") &&
		    json_integer_value(json_object_get(x, "slots")) == slots)
			return x;
	}
	return NULL;
}

static int compare(const json_t *doc, bool eagle, const char *name, int slots, double tolerance, const struct fth_run *run)
{
	const json_t *g = find(json_object_get(doc, eagle ? "runs" : "table"), eagle ? "system" : "tag", name, slots);
	if (!g) {
		printf("no gold run %s at %d slots\n", name, slots);
		return 1;
	}
	if (eagle)
		return check_spread(g, "short_task_delay", &run->short_task_delay, tolerance) |
		       check_spread(g, "short_jobs", &run->short_jobs, tolerance) |
		       check_spread(g, "long_jobs", &run->long_jobs, tolerance);
	return check(g, "mean", run->short_task_delay.mean, tolerance) | check(g, "p50", run->short_task_delay.p50, tolerance) |
	       check(g, "p90", run->short_task_delay.p90, tolerance) | check(g, "p99", run->short_task_delay.p99, tolerance) |
	       check(g, "max", run->short_task_delay.max, tolerance) | check(g, "avg_active", run->transient.avg_active, tolerance) |
	       check(g, "lifetime_avg_h", run->transient.lifetime_mean_h, tolerance) |
	       check(g, "long_jobs_mean", run->long_jobs.mean, tolerance);
}

int main(int argc, char **argv)
{
	const char *data = getenv("FARTHING_DATA"), *gold = getenv("FARTHING_GOLD");
	data = data ? data : FTH_TEST_DATA;
	gold = gold ? gold : FTH_TEST_GOLD;
	char path[4096], policy[256];
	if (argc < 5) {
		printf("usage: gold_hybrid eagle|coaster NAME SLOTS TOLERANCE [POLICY]\n");
		return 2;
	}
	bool eagle = !strcmp(argv[1], "eagle");
	snprintf(path, sizeof(path), "%s/%s", gold, eagle ? "eagle_gold.json" : "cloudcoaster_gold.json");
	json_t *doc = json_load_file(path, 0, NULL);
	if (!doc) {
		printf("no gold results (FARTHING_DATA, FARTHING_GOLD)\n");
		return getenv("CI") ? 1 : SKIP;
	}
	if (argc > 5)
		snprintf(policy, sizeof(policy), "%s,workers=%s", argv[5], argv[3]);
	else
		snprintf(policy, sizeof(policy), "%c%s:workers=%s", argv[2][0] | 32, argv[2] + 1, argv[3]);
	struct fth_error err = {0};
	struct fth_world w;
	struct fth_run result;
	fth_run_init(&result);
	snprintf(path, sizeof(path), "%s/hawk/YH1_sub.tr", data);
	if (access(path, R_OK)) {
		printf("no data (FARTHING_DATA)\n");
		json_decref(doc);
		return getenv("CI") ? 1 : SKIP;
	}
	int bad = load(&w, data, &err) || run(&w, policy, &result, &err);
	if (bad)
		printf("%s: %s\n", policy, err.text);
	else
		bad = compare(doc, eagle, argv[2], atoi(argv[3]), atof(argv[4]), &result);
	fth_run_release(&result);
	fth_world_release(&w);
	json_decref(doc);
	return bad ? 1 : 0;
}
