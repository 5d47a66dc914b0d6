/* SPDX-License-Identifier: Apache-2.0 */
/* Stratus (SoCC '18): Figures 4 to 8 and Tables 2 and 3, in shape, on public data. */
#include <math.h>

#include "cli/repro.h"
#include "cli/repro_runs.h"
#include "trace/batch.h"
#include "trace/generate.h"

enum { GOOGLE = 0, TWOSIGMA = 1, ALIBABA = 2, NWORKLOADS = 3, WINDOWS = 3 };
static const char *const workload_ids[] = {"google", "twosigma", "alibaba"};
static const char *const workload_labels[] = {"Google-like", "TwoSigma-like", "Alibaba 2017"};

/* Noon of three days of the 2024 market, spread over the year. */
static const int64_t starts[WINDOWS] = {1707566400, 1717243200, 1728993600};

struct asked {
	int number; /* of the run */
	const struct fth_world *world;
	char policy[128];
	int window;
};

struct lab {
	const struct fth_repro_request *req;
	struct fth_world worlds[NWORKLOADS][WINDOWS];
	bool made[NWORKLOADS][WINDOWS];
	FTH_VEC(struct fth_world *) variants; /* the same worlds with other things told */
	FTH_VEC(struct asked) asked;
	struct fth_repro_runs runs;
	bool filling; /* the runs are there; before that, tables only say which they need */
	int code;
	struct fth_error *err;
};

/* ---- worlds ---- */

static const char catalog[] =
	"farthing-catalog 1\n"
	"type m4.large family=m4 holds=cpu:2,mem:8GiB setup=30s..95s..160s\n"
	"type m4.xlarge family=m4 holds=cpu:4,mem:16GiB setup=30s..95s..160s\n"
	"type m4.2xlarge family=m4 holds=cpu:8,mem:32GiB setup=30s..95s..160s\n"
	"type m4.4xlarge family=m4 holds=cpu:16,mem:64GiB setup=30s..95s..160s\n"
	"type m4.10xlarge family=m4 holds=cpu:40,mem:160GiB setup=30s..95s..160s\n"
	"type m4.16xlarge family=m4 holds=cpu:64,mem:256GiB setup=30s..95s..160s\n"
	"offer m4.large price=0.1 from=ready\n"
	"offer m4.xlarge price=0.2 from=ready\n"
	"offer m4.2xlarge price=0.4 from=ready\n"
	"offer m4.4xlarge price=0.8 from=ready\n"
	"offer m4.10xlarge price=2 from=ready\n"
	"offer m4.16xlarge price=3.2 from=ready\n";

static int load_market(struct fth_world *w, const char *data, struct fth_error *err)
{
	char path[4400];
	struct fth_input *in;
	struct fth_market_options o = {.zones = "us-west-2b"};
	int r = fth_input_open_memory(&in, "m4 types", catalog, strlen(catalog), err);
	if (r)
		return r;
	r = fth_read_catalog(&w->catalog, in, FTH_FORMAT_FARTHING_CATALOG, NULL, err);
	fth_input_close(in);
	snprintf(path, sizeof(path), "%s/spot/us-west-2_families_2024.csv.zst", data);
	if (!r)
		r = fth_load_market(&w->market, &w->catalog, path, FTH_FORMAT_SPOT_CSV, &o, err);
	w->has_market = true;
	return r;
}

static int load_workload(struct fth_world *w, const char *data, int workload, int window, uint64_t seed,
			 struct fth_error *err)
{
	char path[4400];
	struct fth_input *in;
	struct fth_batch_options o = {
		.jobs_per_hour = 60, .length = FTH_DAY, .seed = seed * 100 + (uint64_t)window + 1, .spread = 0.1};
	if (workload == TWOSIGMA) {
		fth_twosigma_like(&w->workload, &o);
		return 0;
	}
	if (workload == ALIBABA) {
		snprintf(path, sizeof(path), "%s/alibaba-2017/jobs.csv.gz", data);
		int r = fth_load_workload(&w->workload, path, FTH_FORMAT_ALIBABA_2017, NULL, err);
		if (!r)
			fth_vary_migration(&w->workload, FTH_BATCH_MBIT);
		return r;
	}
	o.jobs_per_hour = 965;
	snprintf(path, sizeof(path), "%s/hawk/GOOG_subtrace.tr.gz", data);
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_google_like(&w->workload, in, &o, err);
	fth_input_close(in);
	return r;
}

static struct fth_world *world_of(struct lab *l, int workload, int window)
{
	struct fth_world *w = &l->worlds[workload][window];
	if (l->made[workload][window] || l->code)
		return w;
	fth_world_init(w);
	l->made[workload][window] = true;
	l->code = load_market(w, l->req->data, l->err);
	if (!l->code)
		l->code = load_workload(w, l->req->data, workload, window, (uint64_t)l->req->seed, l->err);
	/* What Stratus is told unless a table says otherwise: errors of a predictor, one a job. */
	w->workload.told = (struct fth_told){.by = FTH_TOLD_LOGNORMAL, .error = workload == GOOGLE ? 0.5 : 0.8, .seed = 1};
	return w;
}

/* The world with something else told of runtimes. */
static const struct fth_world *variant(struct lab *l, struct fth_world *base, const struct fth_told *told)
{
	if (!told)
		return base;
	for (size_t i = 0; i < l->variants.len; i++) {
		const struct fth_world *v = l->variants.data[i];
		if (v->syms == base->syms && !memcmp(&v->workload.told, told, sizeof(*told)))
			return v;
	}
	struct fth_world *v = fth_alloc(sizeof(*v));
	*v = *base; /* borrows everything from it */
	v->workload.told = *told;
	fth_vec_push(&l->variants, v);
	return v;
}

/* ---- runs ---- */

/* The run of this policy; NULL as long as it has only been asked for. */
static const struct fth_run *run_of(struct lab *l, int workload, int window, const char *policy, bool spot,
				    const struct fth_told *told)
{
	struct fth_world *base = world_of(l, workload, window);
	if (l->code)
		return NULL;
	const struct fth_world *w = variant(l, base, told);
	struct asked a = {.world = w, .window = window};
	snprintf(a.policy, sizeof(a.policy), "%s%smarket=%s", policy, strchr(policy, ':') ? "," : ":",
		 spot ? "spot" : "on-demand");
	for (size_t i = 0; i < l->asked.len; i++)
		if (l->asked.data[i].world == w && l->asked.data[i].window == window &&
		    !strcmp(l->asked.data[i].policy, a.policy))
			return l->filling ? fth_repro_runs_get(&l->runs, l->asked.data[i].number) : NULL;
	char sim[64];
	snprintf(sim, sizeof(sim), "market_start=%lld,seed=%d", (long long)starts[window], window + 1);
	a.number = fth_repro_runs_add(&l->runs, w, a.policy, sim, l->err);
	if (a.number < 0)
		l->code = a.number;
	else
		fth_vec_push(&l->asked, a);
	return NULL;
}

/* ---- figures of a run ---- */

/* What tasks did over what was paid for, of the resource that constrains. */
static double utilization(const struct lab *l, int workload, int window, const struct fth_run *run)
{
	const struct fth_world *w = &l->worlds[workload][window];
	int r = workload == GOOGLE ? FTH_CPU : FTH_MEM;
	double work = 0, paid = 0;
	for (size_t i = 0; i < w->workload.groups.len; i++) {
		const struct fth_task_group *g = &w->workload.groups.data[i];
		double need = (double)w->kinds.list.data[g->kind].alts[0].demand.v[r];
		for (uint32_t k = 0; k < g->count; k++)
			work += need * (double)fth_group_work(&w->workload, g, k);
	}
	for (size_t i = 0; i < run->instance_list.len; i++) {
		const struct fth_run_instance *n = &run->instance_list.data[i];
		if (n->ready != FTH_NEVER && n->gone != FTH_NEVER)
			paid += (double)w->catalog.types.data[n->type].capacity.v[r] * (double)(n->gone - n->ready);
	}
	return paid > 0 ? 100 * work / paid : NAN;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Completion time over runtime alone, at this percentile of the jobs. */
static double latency(const struct fth_run *run, double percentile)
{
	double *all = fth_alloc((run->job_list.len + 1) * sizeof(*all));
	size_t n = 0;
	for (size_t i = 0; i < run->job_list.len; i++) {
		const struct fth_run_job *j = &run->job_list.data[i];
		if (j->ended != FTH_NEVER && j->standalone > 0)
			all[n++] = (double)(j->ended - j->submitted) / (double)j->standalone;
	}
	qsort(all, n, sizeof(*all), by_value);
	double x = n ? all[(size_t)(percentile / 100 * (double)(n - 1))] : NAN;
	free(all);
	return x;
}

struct spread {
	double sum, least, most;
	int n;
};

static void take(struct spread *s, double x)
{
	s->least = s->n ? FTH_MIN(s->least, x) : x;
	s->most = s->n ? FTH_MAX(s->most, x) : x;
	s->sum += x;
	s->n++;
}

static double mean(const struct spread *s)
{
	return s->n ? s->sum / s->n : NAN;
}

static void add_spread(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p, int workload, const char *id,
		       const char *label, const char *unit, double paper, const struct spread *s)
{
	char row[96], text[160];
	if (!l->filling)
		return;
	snprintf(row, sizeof(row), "%s-%s", workload_ids[workload], id);
	if (s->n > 1)
		snprintf(text, sizeof(text), "%s: %s [%.3g..%.3g]", workload_labels[workload], label, s->least, s->most);
	else
		snprintf(text, sizeof(text), "%s: %s", workload_labels[workload], label);
	fth_repro_add_row(b, p, row, text, unit, paper, mean(s));
}

/* 1 - cost(Stratus) / cost(other), in percent, over the windows. */
static struct spread saving(struct lab *l, int workload, const char *other, bool spot, int windows)
{
	struct spread s = {0};
	for (int k = 0; k < windows; k++) {
		const struct fth_run *a = run_of(l, workload, k, "stratus", spot, NULL);
		const struct fth_run *c = run_of(l, workload, k, other, spot, NULL);
		if (a && c)
			take(&s, 100 * (1 - (double)a->cost / (double)c->cost));
	}
	return s;
}

static const char *fleet_of(int workload)
{
	return workload == GOOGLE ? "fleet:binpack=cpu" : "fleet:binpack=mem";
}

static struct fth_repro_page *page(struct lab *l, struct fth_repro_book *b, const char *name, const char *title)
{
	return l->filling ? fth_repro_add_page(b, name, title) : NULL;
}

static void common_note(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p)
{
	if (l->filling)
		fth_repro_add_note(b, p,
				   "Not the paper's data: its Google demands, its TwoSigma trace and its 2017 spot prices are not public. "
				   "Here: real Google task durations with demands drawn, a TwoSigma-like workload of our own, m4 types at "
				   "list prices and 2024 spot prices of us-west-2b, %d one-day windows. Who has the Google 2011 task_events "
				   "can run them: farthing compare --workload-format google-tasks.",
				   WINDOWS);
}

/* ---- the tables ---- */

static void figure4(struct lab *l, struct fth_repro_book *b)
{
	static const double paper[2][3] = {{25, 17, 44}, {31, 22, 17}};
	struct fth_repro_page *p = page(l, b, "figure4", "Cost against the other schedulers, spot market: what Stratus saves");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		struct spread s = saving(l, w, "hotspot", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-hotspot", "Stratus saves against HotSpot", "%", paper[w][0], &s);
		s = saving(l, w, fleet_of(w), true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-fleet", "Stratus saves against Spot Fleet + ECS", "%", paper[w][1], &s);
		s = saving(l, w, "scloud", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-scloud", "Stratus saves against SuperCloud-Spot", "%", paper[w][2], &s);
		s = saving(l, w, "scloud:order=random", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-scloud-random", "... with its batches in random order", "%", paper[w][2], &s);
		s = saving(l, w, w == GOOGLE ? "fleet-diversified:binpack=cpu" : "fleet-diversified:binpack=mem", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-fleet-diversified", "Stratus saves against a diversified fleet", "%", NAN, &s);
	}
	common_note(l, b, p);
	if (l->filling)
		fth_repro_add_note(b, p, "SuperCloud-Spot's paper does not say in which order a batch is packed, and nothing moves its "
					 "bill more: by falling demand it is near Stratus, at random far from it. See docs/stratus.md.");
}

static void figure5(struct lab *l, struct fth_repro_book *b)
{
	static const struct {
		const char *id, *label, *policy;
		double paper[2];
	} rows[] = {{"utilization", "Stratus", "stratus", {86, 79}},
		    {"utilization-hotspot", "HotSpot", "hotspot", {NAN, NAN}},
		    {"utilization-fleet", "Spot Fleet + ECS", NULL, {NAN, NAN}},
		    {"utilization-scloud", "SuperCloud-Spot", "scloud", {NAN, NAN}}};
	struct fth_repro_page *p = page(l, b, "figure5", "Utilisation of the constraining resource, spot market");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct spread s = {0};
			for (int k = 0; k < WINDOWS; k++) {
				const struct fth_run *run =
					run_of(l, w, k, rows[i].policy ? rows[i].policy : fleet_of(w), true, NULL);
				if (run)
					take(&s, utilization(l, w, k, run));
			}
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
		}
	if (l->filling)
		fth_repro_add_note(b, p, "Run time of tasks times demand, over capacity paid for: vCPUs of the Google-like, memory of the "
					 "TwoSigma-like workload. The paper counts reservations, which is 2-3 points more for policies that "
					 "move tasks; it shows bars without figures for the others.");
}

static void table2(struct lab *l, struct fth_repro_book *b)
{
	static const struct {
		const char *id, *label, *policy;
		double paper[2][2];
	} rows[] = {{"stratus", "Stratus", "stratus", {{1.3, 3.2}, {1.1, 1.6}}},
		    {"fleet", "Fleet", NULL, {{1.2, 3.1}, {1.0, 1.4}}},
		    {"hotspot", "HSpot", "hotspot", {{2.2, 7.0}, {1.1, 1.5}}},
		    {"scloud", "SCloud", "scloud", {{2.5, 11.4}, {1.2, 2.0}}}};
	struct fth_repro_page *p = page(l, b, "table2", "Normalised job latency, spot market");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++)
			for (int q = 0; q < 2; q++) {
				struct spread s = {0};
				char id[64], label[64];
				for (int k = 0; k < WINDOWS; k++) {
					const struct fth_run *run =
						run_of(l, w, k, rows[i].policy ? rows[i].policy : fleet_of(w), true, NULL);
					if (run)
						take(&s, latency(run, q ? 95 : 50));
				}
				snprintf(id, sizeof(id), "latency-%s-%s", rows[i].id, q ? "p95" : "p50");
				snprintf(label, sizeof(label), "%s, %s percentile", rows[i].label, q ? "95th" : "50th");
				add_spread(l, b, p, w, id, label, "", rows[i].paper[w][q], &s);
			}
}

static void figure6(struct lab *l, struct fth_repro_book *b)
{
	static const struct {
		const char *id, *label, *policy;
		double paper[2];
	} rows[] = {{"ladder-scloud", "SuperCloud-Spot, random order", "scloud:order=random", {44, 17}},
		    {"ladder-packing", "+ online packing", "scloud:order=random,packing=true", {17, 11}},
		    {"ladder-groups", "+ Stratus scale-out", "scloud:packing=true,groups=true", {9, 8}},
		    {"ladder-clearing", "+ clearing", "scloud:packing=true,groups=true,clearing=true", {8, 7}}};
	struct fth_repro_page *p = page(l, b, "figure6", "From SuperCloud-Spot to Stratus: what is left to save after each step");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct spread s = saving(l, w, rows[i].policy, true, WINDOWS);
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
		}
	if (l->filling)
		fth_repro_add_note(b, p, "The last step, runtime bins, makes it Stratus: nothing is left. The steps before it know true "
					 "runtimes where they use any, as in the paper.");
}

static void figure7(struct lab *l, struct fth_repro_book *b)
{
	struct fth_repro_page *p = page(l, b, "figure7", "Cost at list prices: what Stratus saves");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		struct spread s = saving(l, w, "hotspot", false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-hotspot", "against HotSpot", "%", NAN, &s);
		s = saving(l, w, fleet_of(w), false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-fleet", "against Spot Fleet + ECS", "%", NAN, &s);
		s = saving(l, w, "scloud", false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-scloud", "against SuperCloud-Spot", "%", NAN, &s);
	}
	if (l->filling)
		fth_repro_add_note(b, p, "The paper gives ranges over the three: 10-29 %% (Google), 14-25 %% (TwoSigma). With prices linear in "
					 "size a small instance costs the same per vCPU, so there is less to gain against Fleet.");
}

static void ablations(struct lab *l, struct fth_repro_book *b)
{
	static const struct fth_told exact = {.by = FTH_TOLD_EXACTLY};
	static const struct {
		const char *id, *label, *policy;
		const struct fth_told *told;
		double paper[2];
	} rows[] = {{"cost-no-clearing", "without clearing, cost", "stratus:clearing=false", NULL, {128, 115}},
		    {"cost-best-fit", "cheapest type for each task, cost", "stratus:groups=false", NULL, {117, 125}},
		    {"cost-no-down", "without down-packing, cost", "stratus:down=false", NULL, {NAN, NAN}},
		    {"cost-no-up", "without up-packing, cost", "stratus:up=false", NULL, {NAN, NAN}},
		    {"cost-perfect", "with perfect estimates, cost", "stratus", &exact, {95, 91}}};
	struct fth_repro_page *p = page(l, b, "ablations", "Stratus without its parts, cost as percent of the whole (sections 5.1, 5.2, 5.4.1)");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct spread s = {0};
			for (int k = 0; k < WINDOWS; k++) {
				const struct fth_run *base = run_of(l, w, k, "stratus", true, NULL);
				const struct fth_run *run = run_of(l, w, k, rows[i].policy, true, rows[i].told);
				if (base && run)
					take(&s, 100 * (double)run->cost / (double)base->cost);
			}
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
		}
}

static const double errors[] = {0.01, 0.1, 0.5, 1, 2, 10, 100};

static void figure8(struct lab *l, struct fth_repro_book *b)
{
	struct fth_repro_page *p = page(l, b, "figure8", "Errors of estimates, h from 0.01 to 100: cost as percent of that at h = 1 with clearing");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		struct fth_told one = {.by = FTH_TOLD_WITHIN, .error = 1, .seed = 1};
		const struct fth_run *base = run_of(l, w, 0, "stratus", true, &one);
		for (size_t i = 0; i < FTH_COUNT(errors); i++) {
			struct fth_told told = {.by = FTH_TOLD_WITHIN, .error = errors[i], .seed = 1};
			const struct fth_run *with = run_of(l, w, 0, "stratus", true, &told);
			const struct fth_run *without = run_of(l, w, 0, "stratus:clearing=false", true, &told);
			const struct {
				const char *id, *label, *unit;
				double x;
			} rows[] = {
				{"with", "cost with clearing", "%", base && with ? 100 * (double)with->cost / (double)base->cost : NAN},
				{"without", "cost without clearing", "%",
				 base && without ? 100 * (double)without->cost / (double)base->cost : NAN},
				{"acquired", "instances acquired", "", with ? (double)with->instances_launched : NAN},
				{"cleared", "instances cleared", "", with ? fth_repro_note_sum(with, "cleared") : NAN},
			};
			for (size_t k = 0; k < FTH_COUNT(rows); k++) {
				char id[64], label[64];
				struct spread s = {rows[k].x, rows[k].x, rows[k].x, 1};
				snprintf(id, sizeof(id), "h%g-%s", errors[i], rows[k].id);
				snprintf(label, sizeof(label), "h = %g, %s", errors[i], rows[k].label);
				add_spread(l, b, p, w, id, label, rows[k].unit, NAN, &s);
			}
		}
	}
	if (l->filling)
		fth_repro_add_note(b, p, "One window. The paper's figure is read in shape: a V around h = 1, clearing worth 31 %% (Google) and 14 %% "
					 "(TwoSigma) at h = 0.01 and 4 and 3 %% at h = 1; fewer instances acquired and more cleared as errors grow.");
}

static void table3(struct lab *l, struct fth_repro_book *b)
{
	static const struct {
		double h, paper[2][2];
	} rows[] = {{0.01, {{1.3, 3.2}, {1.1, 1.7}}}, {1, {{1.3, 3.3}, {1.0, 1.6}}}, {100, {{1.3, 3.2}, {1.1, 1.8}}}};
	struct fth_repro_page *p = page(l, b, "table3", "Normalised job latency by error of estimates");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct fth_told told = {.by = FTH_TOLD_WITHIN, .error = rows[i].h, .seed = 1};
			const struct fth_run *run = run_of(l, w, 0, "stratus", true, &told);
			for (int q = 0; q < 2; q++) {
				char id[64], label[64];
				double x = run ? latency(run, q ? 95 : 50) : NAN;
				struct spread s = {x, x, x, 1};
				snprintf(id, sizeof(id), "latency-h%g-%s", rows[i].h, q ? "p95" : "p50");
				snprintf(label, sizeof(label), "h = %g, %s percentile", rows[i].h, q ? "95th" : "50th");
				add_spread(l, b, p, w, id, label, "", rows[i].paper[w][q], &s);
			}
		}
}

static void scale(struct lab *l, struct fth_repro_book *b)
{
	static const struct {
		const char *id, *label, *policy;
	} rows[] = {{"saving-vs-hotspot", "Stratus saves against HotSpot", "hotspot"},
		    {"saving-vs-fleet", "Stratus saves against Spot Fleet + ECS", "fleet:binpack=mem"},
		    {"saving-vs-scloud", "Stratus saves against SuperCloud-Spot", "scloud"}};
	struct fth_repro_page *p = page(l, b, "scale", "Alibaba 2017, all 2,551,075 task instances, spot market");
	for (size_t i = 0; i < FTH_COUNT(rows); i++) {
		struct spread s = saving(l, ALIBABA, rows[i].policy, true, 1);
		add_spread(l, b, p, ALIBABA, rows[i].id, rows[i].label, "%", NAN, &s);
	}
	const struct fth_run *run = run_of(l, ALIBABA, 0, "stratus", true, NULL);
	if (!run || !l->filling)
		return;
	struct spread u = {0};
	take(&u, utilization(l, ALIBABA, 0, run));
	add_spread(l, b, p, ALIBABA, "utilization", "Stratus, utilisation of memory", "%", NAN, &u);
	struct spread t = {run->wall_s, run->wall_s, run->wall_s, 1}, m = {run->peak_rss_mb, run->peak_rss_mb, run->peak_rss_mb, 1};
	add_spread(l, b, p, ALIBABA, "wall", "wall time of the run under Stratus", "s", NAN, &t);
	add_spread(l, b, p, ALIBABA, "memory", "its peak memory, MB", "", NAN, &m);
	fth_repro_add_note(b, p, "A test of scale, not of the paper's claims: half of these tasks are shorter than a boot, and all of a row "
				 "last equally long.");
}

static const struct {
	const char *name;
	void (*make)(struct lab *l, struct fth_repro_book *b);
} makers[] = {{"figure4", figure4}, {"figure5", figure5}, {"table2", table2},	      {"figure6", figure6}, {"figure7", figure7},
	      {"figure8", figure8}, {"table3", table3},	  {"ablations", ablations}, {"scale", scale}};

static void make_all(struct lab *l, const char *const *tables, struct fth_repro_book *book)
{
	for (; *tables; tables++)
		for (size_t i = 0; i < FTH_COUNT(makers); i++)
			if (!strcmp(*tables, makers[i].name))
				makers[i].make(l, book);
}

static int make(const char *const *tables, const struct fth_repro_request *req, struct fth_repro_book *book,
		struct fth_error *err)
{
	struct lab *l = fth_alloc(sizeof(*l));
	*l = (struct lab){.req = req, .err = err};
	make_all(l, tables, book); /* which runs are needed */
	int r = l->code;
	if (!r)
		r = fth_repro_runs_go(&l->runs, req, err);
	l->filling = true;
	if (!r)
		make_all(l, tables, book);
	fth_repro_runs_release(&l->runs);
	for (size_t i = 0; i < l->variants.len; i++)
		free(l->variants.data[i]);
	fth_vec_release(&l->variants);
	fth_vec_release(&l->asked);
	for (int w = 0; w < NWORKLOADS; w++)
		for (int k = 0; k < WINDOWS; k++)
			if (l->made[w][k])
				fth_world_release(&l->worlds[w][k]);
	free(l);
	return r;
}

static const char *const names[] = {"figure4", "figure5", "table2",    "figure6", "figure7",
				    "figure8", "table3",  "ablations", "scale",	  NULL};
const struct fth_repro_paper fth_repro_stratus = {
	.name = "stratus",
	.title = "Stratus: cost-aware container scheduling in the public cloud (SoCC '18)",
	.tables = names,
	.make = make,
};
