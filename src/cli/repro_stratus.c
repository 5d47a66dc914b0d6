/* SPDX-License-Identifier: Apache-2.0 */
/* Stratus (SoCC '18): Figures 4 to 8 and Tables 2 and 3, in shape, on public data. */
#include <math.h>

#include "cli/repro.h"
#include "cli/repro_runs.h"
#include "trace/batch.h"
#include "trace/generate.h"

enum { GOOGLE = 0, TWOSIGMA = 1, ALIBABA = 2, NWORKLOADS = 3, WINDOWS = 5, SWEEP_WINDOWS = 3 };
static const char *const workload_ids[] = {"google", "twosigma", "alibaba"};
static const char *const workload_labels[] = {"Google-like", "TwoSigma-like", "Alibaba 2017"};

/* Noon of days of the 2024 market, spread over the year. */
static const int64_t starts[WINDOWS] = {1707566400, 1717243200, 1728993600, 1712145600, 1722945600};

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
	if (!r) /* AWS Fargate, May 2018; other policies are not offered them */
		r = fth_catalog_add_containers(&w->catalog, 50600000, 12700000, err);
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
	if (!strcmp(policy, "fargate"))
		snprintf(a.policy, sizeof(a.policy), "%s", policy);
	else
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

static void add_spread(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p, int workload, const char *id,
		       const char *label, const char *unit, double paper, const struct fth_repro_range *s)
{
	char row[96], text[160];
	bool several = s->n > 1;
	if (!l->filling)
		return;
	snprintf(row, sizeof(row), "%s-%s", workload_ids[workload], id);
	snprintf(text, sizeof(text), "%s: %s", workload_labels[workload], label);
	fth_repro_add_spread(b, p, row, text, unit, paper,
			     (const double[]){fth_repro_range_mean(s), several ? s->least : NAN, several ? s->most : NAN});
}

static char *kept(struct fth_repro_book *b, const char *fmt, const char *text, double x)
{
	char buf[192];
	int n = snprintf(buf, sizeof(buf), fmt, text, x);
	return memcpy(fth_arena_alloc(&b->arena, (size_t)n + 1), buf, (size_t)n + 1);
}

/* The page's rows of this workload as bars, the paper's in grey above ours. */
static void add_bars(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p, int workload)
{
	if (!l->filling)
		return;
	struct fth_bar *bars = fth_arena_alloc(&b->arena, 2 * p->rows.len * sizeof(*bars));
	double *parts = fth_arena_alloc(&b->arena, 2 * p->rows.len * sizeof(*parts));
	size_t n = 0, prefix = strlen(workload_labels[workload]);
	for (size_t i = 0; i < p->rows.len; i++) {
		const struct fth_repro_row *r = &p->rows.data[i];
		if (strncmp(r->label, workload_labels[workload], prefix) || !isfinite(r->ours))
			continue;
		for (int ours = isfinite(r->paper) ? 0 : 1; ours < 2; ours++, n++) {
			double x = ours ? r->ours : r->paper;
			parts[n] = FTH_MAX(x, 0);
			bars[n] = (struct fth_bar){.label = kept(b, ours ? "%s" : "paper: %s", r->label + prefix + 2, 0),
						   .text = kept(b, "%s%.1f %%", "", x),
						   .parts = &parts[n],
						   .colour = ours ? 0 : FTH_GREY};
		}
	}
	struct fth_bars all = {.title = workload_labels[workload],
			       .subtitle = "percent; the paper's in grey, ours are means over windows",
			       .unit = FTH_UNIT_PLAIN,
			       .nparts = 1,
			       .bars = bars,
			       .nbars = n};
	char id[64];
	snprintf(id, sizeof(id), "%s-%s", p->name, workload_ids[workload]);
	all.id = kept(b, "%s", id, 0);
	if (n)
		fth_repro_add_bars(p, &all);
}

/* 1 - cost(Stratus) / cost(other), in percent, over the windows. */
static struct fth_repro_range saving(struct lab *l, int workload, const char *other, bool spot, int windows)
{
	struct fth_repro_range s = {0};
	for (int k = 0; k < windows; k++) {
		const struct fth_run *a = run_of(l, workload, k, "stratus", spot, NULL);
		const struct fth_run *c = run_of(l, workload, k, other, spot, NULL);
		if (a && c)
			fth_repro_range_add(&s, 100 * (1 - (double)a->cost / (double)c->cost));
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
				   "list prices and 2024 spot prices of us-west-2b, %d one-day windows. Who has a day of the Google 2011 "
				   "task_events can run the very experiment: farthing compare -w FILE --workload-format google-tasks "
				   "-c bench/m4.txt --market PRICES --migration-rate 160 --estimates lognormal:0.5 "
				   "-p stratus -p hotspot -p fleet -p scloud.",
				   WINDOWS);
}

/* ---- the tables ---- */

static void figure4(struct lab *l, struct fth_repro_book *b)
{
	static const double paper[2][3] = {{25, 17, 44}, {31, 22, 17}};
	struct fth_repro_page *p = page(l, b, "figure4", "Cost against the other schedulers, spot market: what Stratus saves");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		struct fth_repro_range s = saving(l, w, "hotspot", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-hotspot", "against HotSpot", "%", paper[w][0], &s);
		s = saving(l, w, fleet_of(w), true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-fleet", "against Spot Fleet + ECS", "%", paper[w][1], &s);
		s = saving(l, w, "scloud", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-scloud", "against SuperCloud-Spot", "%", paper[w][2], &s);
		s = saving(l, w, "scloud:order=random", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-scloud-random", "... in random order", "%", paper[w][2], &s);
		s = saving(l, w, w == GOOGLE ? "fleet-diversified:binpack=cpu" : "fleet-diversified:binpack=mem", true, WINDOWS);
		add_spread(l, b, p, w, "saving-vs-fleet-diversified", "against a diversified fleet", "%", NAN, &s);
		add_bars(l, b, p, w);
		s = (struct fth_repro_range){0};
		for (int k = 0; k < WINDOWS; k++) {
			const struct fth_run *boxes = run_of(l, w, k, "fargate", true, NULL), *hot = run_of(l, w, k, "hotspot", true, NULL);
			if (boxes && hot)
				fth_repro_range_add(&s, (double)boxes->cost / (double)hot->cost);
		}
		add_spread(l, b, p, w, "fargate-over-hotspot", "Fargate (May 2018) costs so many times HotSpot", "x", 4.4, &s);
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
			struct fth_repro_range s = {0};
			for (int k = 0; k < WINDOWS; k++) {
				const struct fth_run *run =
					run_of(l, w, k, rows[i].policy ? rows[i].policy : fleet_of(w), true, NULL);
				if (run)
					fth_repro_range_add(&s, utilization(l, w, k, run));
			}
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
			if (i + 1 == FTH_COUNT(rows))
				add_bars(l, b, p, w);
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
				struct fth_repro_range s = {0};
				char id[64], label[64];
				for (int k = 0; k < WINDOWS; k++) {
					const struct fth_run *run =
						run_of(l, w, k, rows[i].policy ? rows[i].policy : fleet_of(w), true, NULL);
					if (run)
						fth_repro_range_add(&s, latency(run, q ? 95 : 50));
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
	} rows[] = {{"ladder-scloud", "SCloud, random order", "scloud:order=random", {44, 17}},
		    {"ladder-packing", "+ online packing", "scloud:order=random,packing=true", {17, 11}},
		    {"ladder-groups", "+ Stratus scale-out", "scloud:packing=true,groups=true", {9, 8}},
		    {"ladder-clearing", "+ clearing", "scloud:packing=true,groups=true,clearing=true", {8, 7}},
		    {"ladder-binning", "+ runtime bins",
		     "scloud:packing=true,groups=true,clearing=true,binning=true", {NAN, NAN}}};
	struct fth_repro_page *p = page(l, b, "figure6", "From SuperCloud-Spot to Stratus: what is left to save after each step");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct fth_repro_range s = saving(l, w, rows[i].policy, true, WINDOWS);
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
			if (i + 1 == FTH_COUNT(rows))
				add_bars(l, b, p, w);
		}
	if (l->filling)
		fth_repro_add_note(b, p, "All steps know true runtimes where they use any, as in the paper, and Stratus does not: so the "
					 "last step, with which it is Stratus but for that, is below Stratus' cost.");
}

/* The least and the greatest of the page's last four rows: all that the paper tells. */
static void add_range(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p, int w)
{
	static const double paper[2][2] = {{10, 29}, {14, 25}};
	struct fth_repro_range all = {0};
	for (size_t k = 1; l->filling && k <= 4; k++)
		fth_repro_range_add(&all, p->rows.data[p->rows.len - k].ours);
	struct fth_repro_range least = {all.least, all.least, all.least, 1}, most = {all.most, all.most, all.most, 1};
	add_spread(l, b, p, w, "on-demand-least", "the least of these", "%", paper[w][0], &least);
	add_spread(l, b, p, w, "on-demand-greatest", "the greatest of these", "%", paper[w][1], &most);
}

static void figure7(struct lab *l, struct fth_repro_book *b)
{
	struct fth_repro_page *p = page(l, b, "figure7", "Cost at list prices: what Stratus saves");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		struct fth_repro_range s = saving(l, w, "hotspot", false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-hotspot", "against HotSpot", "%", NAN, &s);
		s = saving(l, w, fleet_of(w), false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-fleet", "against Spot Fleet + ECS", "%", NAN, &s);
		s = saving(l, w, "scloud", false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-scloud", "against SuperCloud-Spot", "%", NAN, &s);
		s = saving(l, w, "scloud:order=random", false, WINDOWS);
		add_spread(l, b, p, w, "on-demand-vs-scloud-random", "... in random order", "%", NAN, &s);
		add_bars(l, b, p, w);
		add_range(l, b, p, w);
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
		    {"cost-history", "with estimates learnt from ended jobs, cost", "stratus:estimates=history", NULL, {NAN, NAN}},
		    {"cost-perfect", "with perfect estimates, cost", "stratus", &exact, {95, 91}}};
	struct fth_repro_page *p = page(l, b, "ablations", "Stratus without its parts, cost as percent of the whole (sections 5.1, 5.2, 5.4.1)");
	for (int w = GOOGLE; w <= TWOSIGMA; w++)
		for (size_t i = 0; i < FTH_COUNT(rows); i++) {
			struct fth_repro_range s = {0};
			for (int k = 0; k < WINDOWS; k++) {
				const struct fth_run *base = run_of(l, w, k, "stratus", true, NULL);
				const struct fth_run *run = run_of(l, w, k, rows[i].policy, true, rows[i].told);
				if (base && run)
					fth_repro_range_add(&s, 100 * (double)run->cost / (double)base->cost);
			}
			add_spread(l, b, p, w, rows[i].id, rows[i].label, "%", rows[i].paper[w], &s);
		}
}

static const double errors[] = {0.01, 0.1, 0.5, 1, 2, 10, 100};

/* At one error: cost with and without clearing in percent of that at h = 1 with it, what clearing saves, instances
 * acquired and cleared. */
static void sweep(struct lab *l, int w, double h, struct fth_repro_range got[5])
{
	struct fth_told one = {.by = FTH_TOLD_WITHIN, .error = 1, .seed = 1}, told = {.by = FTH_TOLD_WITHIN, .error = h, .seed = 1};
	memset(got, 0, 5 * sizeof(*got));
	for (int k = 0; k < SWEEP_WINDOWS; k++) {
		const struct fth_run *base = run_of(l, w, k, "stratus", true, &one), *with = run_of(l, w, k, "stratus", true, &told);
		const struct fth_run *without = run_of(l, w, k, "stratus:clearing=false", true, &told);
		if (!base || !with || !without)
			continue;
		fth_repro_range_add(&got[0], 100 * (double)with->cost / (double)base->cost);
		fth_repro_range_add(&got[1], 100 * (double)without->cost / (double)base->cost);
		fth_repro_range_add(&got[2], 100 * (1 - (double)with->cost / (double)without->cost));
		fth_repro_range_add(&got[3], (double)with->instances_launched);
		fth_repro_range_add(&got[4], fth_repro_note_sum(with, "cleared"));
	}
}

static void add_sweep_plot(struct lab *l, struct fth_repro_book *b, struct fth_repro_page *p, int w,
			   double cost[2][FTH_COUNT(errors)])
{
	static const char *const names[] = {"with clearing", "without clearing"};
	if (!l->filling)
		return;
	struct fth_series *series = fth_arena_alloc(&b->arena, 2 * sizeof(*series));
	for (unsigned k = 0; k < 2; k++) {
		double *y = fth_arena_alloc(&b->arena, sizeof(cost[k]));
		memcpy(y, cost[k], sizeof(cost[k]));
		series[k] = (struct fth_series){.name = names[k], .colour = k, .dash = k, .x = errors, .y = y, .n = FTH_COUNT(errors)};
	}
	struct fth_plot plot = {.id = w == GOOGLE ? "figure8-google" : "figure8-twosigma",
				.title = workload_labels[w],
				.subtitle = "cost, percent of that at h = 1 with clearing",
				.x = {.label = "h: runtimes are told too short by up to 1/h, or too long by up to h", .log = true},
				.series = series,
				.nseries = 2};
	fth_repro_add_plot(p, &plot);
}

static void figure8(struct lab *l, struct fth_repro_book *b)
{
	struct fth_repro_page *p = page(l, b, "figure8", "Errors of estimates, h from 0.01 to 100: cost as percent of that at h = 1 with clearing");
	for (int w = GOOGLE; w <= TWOSIGMA; w++) {
		double cost[2][FTH_COUNT(errors)];
		for (size_t i = 0; i < FTH_COUNT(errors); i++) {
			struct fth_repro_range got[5];
			sweep(l, w, errors[i], got);
			cost[0][i] = fth_repro_range_mean(&got[0]);
			cost[1][i] = fth_repro_range_mean(&got[1]);
			for (size_t k = 0; k < FTH_COUNT(got); k++) {
				static const char *const ids[] = {"with", "without", "clearing-saves", "acquired", "cleared"};
				static const char *const labels[] = {"cost with clearing", "cost without clearing", "clearing saves",
								     "instances acquired", "instances cleared"};
				static const double saves[2][2] = {{31, 14}, {4, 3}};
				char id[64], label[64];
				double paper = k == 2 && (errors[i] == 0.01 || errors[i] == 1) ? saves[errors[i] == 1][w] : NAN;
				snprintf(id, sizeof(id), "h%g-%s", errors[i], ids[k]);
				snprintf(label, sizeof(label), "h = %g, %s", errors[i], labels[k]);
				add_spread(l, b, p, w, id, label, k < 3 ? "%" : "", paper, &got[k]);
			}
		}
		add_sweep_plot(l, b, p, w, cost);
	}
	if (l->filling)
		fth_repro_add_note(b, p, "%d windows. The paper's figure is read in shape: a V around h = 1, clearing worth 31 %% (Google) and 14 %% "
					 "(TwoSigma) at h = 0.01 and 4 and 3 %% at h = 1; fewer instances acquired and more cleared as errors grow.",
				   SWEEP_WINDOWS);
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
			for (int q = 0; q < 2; q++) {
				char id[64], label[64];
				struct fth_repro_range s = {0};
				for (int k = 0; k < SWEEP_WINDOWS; k++) {
					const struct fth_run *run = run_of(l, w, k, "stratus", true, &told);
					if (run)
						fth_repro_range_add(&s, latency(run, q ? 95 : 50));
				}
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
		struct fth_repro_range s = saving(l, ALIBABA, rows[i].policy, true, 1);
		add_spread(l, b, p, ALIBABA, rows[i].id, rows[i].label, "%", NAN, &s);
	}
	const struct fth_run *run = run_of(l, ALIBABA, 0, "stratus", true, NULL);
	if (!run || !l->filling)
		return;
	struct fth_repro_range u = {0};
	fth_repro_range_add(&u, utilization(l, ALIBABA, 0, run));
	add_spread(l, b, p, ALIBABA, "utilization", "Stratus, utilisation of memory", "%", NAN, &u);
	struct fth_repro_range t = {run->wall_s, run->wall_s, run->wall_s, 1}, m = {run->peak_rss_mb, run->peak_rss_mb, run->peak_rss_mb, 1};
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
