/* SPDX-License-Identifier: Apache-2.0 */
/* CloudCoaster (2019): Figure 3, Table 1 and the headlines on the Yahoo window at hand; sweeps; and what is beyond the paper. */
#include <math.h>

#include "cli/cli.h"
#include "cli/repro_runs.h"

enum { NRATIOS = 3 };

/* The machines, and a trace. */
static const char yahoo[] = "YH1_sub.tr", google[] = "GOOG_subtrace.tr.gz";

static int make_world(struct fth_world *w, const char *data, const char *trace, struct fth_error *err)
{
	static const double ratios[NRATIOS] = {1, 2, 3};
	char path[4400];
	fth_world_init(w);
	snprintf(path, sizeof(path), "%s/hawk/%s", data, trace);
	int r = fth_cli_fleet(w, ratios, NRATIOS, 1, 120 * FTH_SEC, err);
	if (!r)
		r = fth_load_workload(&w->workload, path, FTH_FORMAT_HAWK_TR, NULL, err);
	if (r)
		fth_world_release(w);
	return r;
}

static int add_run(struct fth_repro_runs *runs, const struct fth_world *w, int servers, const char *policy, const char *params,
		   const char *sim, struct fth_error *err)
{
	char text[256];
	snprintf(text, sizeof(text), "%s:workers=%d%s%s", policy, servers, *params ? "," : "", params);
	return fth_repro_runs_add(runs, w, text, sim, err);
}

/* What the transients save of the short-only servers that were given up for them, in percent. */
static double saving(const struct fth_run *run, int servers, double r, double p)
{
	double given_up = floor(p * floor(0.02 * servers + 1e-9) + 1e-9);
	return 100 * (1 - run->transient.avg_active / r / given_up);
}

static void add_window_note(struct fth_repro_book *b, struct fth_repro_page *p)
{
	fth_repro_add_note(b, p,
			   "The paper runs the whole Yahoo trace, whose task list is not at hand; this is a window of it: 2,910 jobs and "
			   "122,878 tasks that arrive within 7.2 h. At 4,000 servers the window is less crowded than the paper's runs "
			   "(long work holds more than 95 %% of the servers for 47 %% of the time); 3,600 come closest.");
}

/* ---- a cluster size: Figure 3, Table 1, the headlines ---- */

struct paper_row {
	const char *id, *label, *unit;
	double paper[NRATIOS]; /* r = 1, 2, 3 */
};

static void add_ratio_row(struct fth_repro_book *b, struct fth_repro_page *p, const struct paper_row *row, int r, double ours)
{
	char id[64], label[128];
	snprintf(id, sizeof(id), "%s-r%d", row->id, r);
	snprintf(label, sizeof(label), "r = %d: %s", r, row->label);
	fth_repro_add_row(b, p, id, label, row->unit, row->paper[r - 1], ours);
}

static void add_ratio(struct fth_repro_book *b, struct fth_repro_page *p, int servers, int r, const struct fth_run *run,
		      const struct fth_run *base)
{
	static const struct paper_row rows[] = {
		{"short-delay-mean", "mean delay of short tasks", "s", {NAN, NAN, 48.25}},
		{"short-delay-p99", "its 99th percentile", "s", {NAN, NAN, NAN}},
		{"short-delay-max", "its maximum", "s", {NAN, NAN, 1737}},
		{"short-delay-gain", "mean delay, baseline over this", "x", {NAN, NAN, 4.8}},
		{"short-delay-max-gain", "maximum, baseline over this", "x", {NAN, NAN, 1.83}},
		{"lifetime-mean", "mean life of a transient", "h", {0.77, 0.82, 0.79}},
		{"lifetime-max", "longest life of a transient", "h", {12.8, 12.5, 12.5}},
		{"avg-active", "transients active, on average", "", {29.0, 56.5, 84.5}},
		{"avg-active-normalised", "the same over r", "", {29.0, 28.3, 28.2}},
		{"short-partition-saving", "saved of the servers given up", "%", {NAN, NAN, 29.5}},
		{"long-jobs-mean", "mean time of long jobs", "s", {NAN, NAN, NAN}},
	};
	const struct fth_run_spread *d = &run->short_task_delay, *was = &base->short_task_delay;
	const double ours[] = {d->mean,
			       d->p99,
			       d->max,
			       was->mean / d->mean,
			       was->max / d->max,
			       run->transient.lifetime_mean_h,
			       run->transient.lifetime_max_h,
			       run->transient.avg_active,
			       run->transient.avg_active / r,
			       saving(run, servers, r, 0.5),
			       run->long_jobs.mean};
	for (size_t k = 0; k < FTH_COUNT(rows); k++)
		add_ratio_row(b, p, &rows[k], r, ours[k]);
}

/* Figure 3: the distribution of the delay. */
static void add_cdf(struct fth_repro_book *b, struct fth_repro_page *p, int servers, const struct fth_run *const *runs)
{
	static const char *const names[] = {"baseline (eagle)", "r = 1", "r = 2", "r = 3"};
	struct fth_series *series = fth_arena_alloc(&b->arena, FTH_COUNT(names) * sizeof(*series));
	double *share = fth_arena_alloc(&b->arena, FTH_RUN_QUANTILES * sizeof(*share));
	char *id = fth_arena_alloc(&b->arena, 64), *title = fth_arena_alloc(&b->arena, 96);
	snprintf(id, 64, "figure3-%d", servers);
	snprintf(title, 96, "Figure 3 at %d servers: queueing delay of short tasks", servers);
	for (int k = 0; k < FTH_RUN_QUANTILES; k++)
		share[k] = (double)k / (FTH_RUN_QUANTILES - 1);
	for (unsigned i = 0; i < FTH_COUNT(names); i++) {
		double *x = fth_arena_alloc(&b->arena, FTH_RUN_QUANTILES * sizeof(*x));
		for (int k = 0; k < FTH_RUN_QUANTILES; k++)
			x[k] = FTH_MAX(runs[i]->delay_quantiles[k], 1e-3);
		series[i] = (struct fth_series){.name = names[i], .colour = i, .x = x, .y = share, .n = FTH_RUN_QUANTILES};
	}
	struct fth_plot plot = {.id = id,
				.title = title,
				.subtitle = "share of short tasks that waited no longer",
				.x = {.label = "delay in seconds", .log = true},
				.y = {.unit = FTH_UNIT_SHARE, .min = 0, .max = 1},
				.series = series,
				.nseries = FTH_COUNT(names)};
	fth_repro_add_plot(p, &plot);
}

static int make_size(int servers, const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	struct fth_world w;
	struct fth_repro_runs runs = {0};
	const struct fth_run *got[1 + NRATIOS];
	char name[32], title[96];
	int r = make_world(&w, req->data, yahoo, err);
	if (r)
		return r;
	r = add_run(&runs, &w, servers, "eagle", "", "", err);
	for (int k = 1; k <= NRATIOS && r >= 0; k++) {
		char params[16];
		snprintf(params, sizeof(params), "r=%d", k);
		r = add_run(&runs, &w, servers, "cloudcoaster", params, "", err);
	}
	r = r < 0 ? r : fth_repro_runs_go(&runs, req, err);
	if (!r) {
		snprintf(name, sizeof(name), "servers-%d", servers);
		snprintf(title, sizeof(title), "Figure 3 and Table 1 at %d servers, Yahoo window", servers);
		struct fth_repro_page *p = fth_repro_add_page(b, name, title);
		for (int k = 0; k <= NRATIOS; k++)
			got[k] = fth_repro_runs_get(&runs, k);
		fth_repro_add_row(b, p, "baseline-mean", "baseline: mean delay of short tasks", "s", 232.3, got[0]->short_task_delay.mean);
		fth_repro_add_row(b, p, "baseline-max", "baseline: its maximum", "s", 3194, got[0]->short_task_delay.max);
		fth_repro_add_row(b, p, "baseline-long-jobs-mean", "baseline: mean time of long jobs", "s", NAN, got[0]->long_jobs.mean);
		for (int k = 1; k <= NRATIOS; k++)
			add_ratio(b, p, servers, k, got[k], got[0]);
		add_cdf(b, p, servers, got);
		add_window_note(b, p);
	}
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

static int make_4000(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return make_size(4000, req, b, err);
}

static int make_3600(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return make_size(3600, req, b, err);
}

static int make_3000(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return make_size(3000, req, b, err);
}

/* ---- what if: one thing changed at a time ---- */

struct variant {
	const char *id, *label, *policy, *params, *sim;
	int servers;
	double p; /* share given up */
};

/* What one thing changed does to the delay: a line for each thing. */
struct swept {
	const char *id, *title, *label;
	double base;          /* its value in the first variant */
	const char *prefix;   /* of the variants' ids, which go on with the value */
};

static const struct swept swept[] = {
	{"sweep-threshold", "Threshold of the long-load ratio", "threshold", 0.95, "threshold-"},
	{"sweep-p", "Share of the short-only servers given up", "p", 0.5, "p-"},
	{"sweep-provisioning", "Provisioning delay", "seconds", 120, "provisioning-"},
	{"sweep-servers", "Cluster size", "servers", 3600, "servers-"},
};

static const struct variant sweep[] = {
	{"paper", "as the paper has it, 3,600 servers", "cloudcoaster", "", "", 3600, 0.5},
	{"threshold-0.5", "threshold 0.5", "cloudcoaster", "threshold=0.5", "", 3600, 0.5},
	{"threshold-0.8", "threshold 0.8", "cloudcoaster", "threshold=0.8", "", 3600, 0.5},
	{"threshold-0.9", "threshold 0.9", "cloudcoaster", "threshold=0.9", "", 3600, 0.5},
	{"threshold-0.97", "threshold 0.97", "cloudcoaster", "threshold=0.97", "", 3600, 0.5},
	{"p-0.25", "a quarter given up", "cloudcoaster", "p=0.25", "", 3600, 0.25},
	{"p-0.75", "three quarters given up", "cloudcoaster", "p=0.75", "", 3600, 0.75},
	{"provisioning-0", "provisioning takes no time", "cloudcoaster", "", "boot_delay_scale=0", 3600, 0.5},
	{"provisioning-60", "provisioning takes 60 s", "cloudcoaster", "", "boot_delay_scale=0.5", 3600, 0.5},
	{"provisioning-300", "provisioning takes 300 s", "cloudcoaster", "", "boot_delay_scale=2.5", 3600, 0.5},
	{"servers-4000", "4,000 servers", "cloudcoaster", "", "", 4000, 0.5},
	{"servers-3400", "3,400 servers", "cloudcoaster", "", "", 3400, 0.5},
	{"servers-3200", "3,200 servers", "cloudcoaster", "", "", 3200, 0.5},
	{"servers-3000", "3,000 servers", "cloudcoaster", "", "", 3000, 0.5},
	{"step-one", "one machine either way at a time", "cloudcoaster", "step=one", "", 3600, 0.5},
	{"step-loop", "as many as it takes either way", "cloudcoaster", "step=loop", "", 3600, 0.5},
	{"rule-none", "no copies on on-demand servers", "cloudcoaster", "rule=none", "", 3600, 0.5},
	{0},
};

static const struct variant on_google[] = {
	{"eagle", "eagle, 4,000 servers", "eagle", "", "", 4000, 0},
	{"coaster", "cloudcoaster, 4,000 servers", "cloudcoaster", "", "", 4000, 0.5},
	{"surge", "surge, 4,000 servers", "surge", "", "", 4000, 0.5},
	{"surge-capped", "surge that never has more than K, 4,000 servers", "surge", "peak=1", "", 4000, 0.5},
	{"coaster-15000", "cloudcoaster, 15,000 servers, Google's cut-off", "cloudcoaster", "cutoff=1129.5s,general=83,threshold=0.8", "", 15000, 0.5},
	{"surge-15000", "surge, 15,000 servers, Google's cut-off", "surge", "cutoff=1129.5s,general=83,threshold=0.8", "", 15000, 0.5},
	{"surge-budget-15000", "surge that may spend K machines all the time, 15,000 servers, Google's cut-off", "surge",
	 "cutoff=1129.5s,general=83,threshold=0.8,fund=budget", "", 15000, 0.5},
	{0},
};

static const struct variant beyond[] = {
	{"eagle-3600", "eagle, 3,600 servers", "eagle", "", "", 3600, 0},
	{"least-waiting-3600", "everything by the central book, 3,600 servers", "least-waiting", "", "", 3600, 0},
	{"coaster-4000", "cloudcoaster, 4,000 servers", "cloudcoaster", "", "", 4000, 0.5},
	{"surge-4000", "surge, 4,000 servers", "surge", "", "", 4000, 0.5},
	{"surge-capped-4000", "surge that never has more than K, 4,000 servers", "surge", "peak=1", "", 4000, 0.5},
	{"coaster-3600", "cloudcoaster, 3,600 servers", "cloudcoaster", "", "", 3600, 0.5},
	{"surge-3600", "surge, 3,600 servers", "surge", "", "", 3600, 0.5},
	{"surge-capped-3600", "surge that never has more than K, 3,600 servers", "surge", "peak=1", "", 3600, 0.5},
	{"coaster-3000", "cloudcoaster, 3,000 servers", "cloudcoaster", "", "", 3000, 0.5},
	{"surge-3000", "surge, 3,000 servers", "surge", "", "", 3000, 0.5},
	{"surge-capped-3000", "surge that never has more than K, 3,000 servers", "surge", "peak=1", "", 3000, 0.5},
	{"coaster-revoked-18h", "cloudcoaster, 3,600, taken every 18 h", "cloudcoaster", "", "revocation_rate=0.0555,notice=30s", 3600, 0.5},
	{"coaster-revoked-1h", "cloudcoaster, 3,600, taken every hour", "cloudcoaster", "", "revocation_rate=1,notice=30s", 3600, 0.5},
	{"coaster-revoked-6m", "cloudcoaster, 3,600, taken every 6 min", "cloudcoaster", "", "revocation_rate=10,notice=30s", 3600, 0.5},
	{"surge-revoked-1h", "surge, 3,600, taken every hour", "surge", "", "revocation_rate=1,notice=30s", 3600, 0.5},
	{"surge-revoked-6m", "surge, 3,600, taken every 6 min", "surge", "", "revocation_rate=10,notice=30s", 3600, 0.5},
	{0},
};

static void add_variant(struct fth_repro_book *b, struct fth_repro_page *p, const struct variant *v, const struct fth_run *run)
{
	const struct {
		const char *id, *label, *unit;
		double ours;
		bool skip;
	} rows[] = {
		{"mean", "mean delay of short tasks", "s", run->short_task_delay.mean, false},
		{"p99", "its 99th percentile", "s", run->short_task_delay.p99, false},
		{"avg-active", "transients active, on average", "", run->transient.avg_active, !(v->p > 0)},
		{"cost", "paid for transients", "$", run->transient.cost_usd, !(v->p > 0)},
		{"saving", "saved of the servers given up", "%", saving(run, v->servers, 3, v->p), !(v->p > 0) || v->servers == 15000},
		{"lost-tasks", "short tasks lost and run again", "", (double)run->transient.lost_tasks, !strstr(v->sim, "rate")},
		{"lost", "work lost with them", "s", run->transient.lost_s, !strstr(v->sim, "rate")},
		{"lost-cost", "paid for it", "$", run->transient.lost_usd, !strstr(v->sim, "rate")},
	};
	for (size_t k = 0; k < FTH_COUNT(rows); k++) {
		char id[64], label[160];
		if (rows[k].skip)
			continue;
		snprintf(id, sizeof(id), "%s-%s", v->id, rows[k].id);
		snprintf(label, sizeof(label), "%s: %s", v->label, rows[k].label);
		fth_repro_add_row(b, p, id, label, rows[k].unit, NAN, rows[k].ours);
	}
}

static void add_sweep(struct fth_repro_book *b, struct fth_repro_page *p, const struct swept *w, const struct fth_repro_runs *runs)
{
	struct fth_series *series = fth_arena_alloc(&b->arena, sizeof(*series));
	double *x = fth_arena_alloc(&b->arena, FTH_COUNT(sweep) * sizeof(*x)), *y = fth_arena_alloc(&b->arena, FTH_COUNT(sweep) * sizeof(*y));
	size_t n = 0;
	for (int k = 0; sweep[k].id; k++) {
		bool ours = !strncmp(sweep[k].id, w->prefix, strlen(w->prefix));
		if (k && !ours)
			continue;
		double value = ours ? atof(sweep[k].id + strlen(w->prefix)) : w->base;
		size_t at = n++;
		for (; at && x[at - 1] > value; at--) {
			x[at] = x[at - 1];
			y[at] = y[at - 1];
		}
		x[at] = value;
		y[at] = fth_repro_runs_get(runs, k)->short_task_delay.mean;
	}
	*series = (struct fth_series){.name = "cloudcoaster, r = 3", .x = x, .y = y, .n = n};
	struct fth_plot plot = {.id = w->id, .title = w->title, .subtitle = "mean delay of short tasks, seconds", .x = {.label = w->label},
				.series = series, .nseries = 1};
	fth_repro_add_plot(p, &plot);
}

static int make_variants(const char *name, const char *title, const char *trace, const struct variant *list,
			 const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	struct fth_world w;
	struct fth_repro_runs runs = {0};
	int r = make_world(&w, req->data, trace, err);
	if (r)
		return r;
	for (const struct variant *v = list; v->id && r >= 0; v++)
		r = add_run(&runs, &w, v->servers, v->policy, v->params, v->sim, err);
	r = r < 0 ? r : fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, name, title);
		for (int k = 0; list[k].id; k++)
			add_variant(b, p, &list[k], fth_repro_runs_get(&runs, k));
		for (size_t k = 0; list == sweep && k < FTH_COUNT(swept); k++)
			add_sweep(b, p, &swept[k], &runs);
		if (trace == yahoo)
			add_window_note(b, p);
	}
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

static int make_sweep(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return make_variants("sensitivity", "r = 3 with one thing changed at a time", yahoo, sweep, req, b, err);
}

static int make_beyond(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	int r = make_variants("beyond", "Beyond the paper: our own controller, and machines that are taken away", yahoo, beyond, req, b, err);
	if (!r)
		fth_repro_add_note(b, &fth_vec_last(&b->pages),
				   "surge may have up to three times K machines at once as long as it has spent no more than cloudcoaster would "
				   "have until then; the capped one never has more than K. Machines that are taken give 30 s of notice.");
	return r;
}

static int make_google(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	int r = make_variants("google", "The same controllers on the Google window", google, on_google, req, b, err);
	if (!r)
		fth_repro_add_note(b, &fth_vec_last(&b->pages),
				   "Not in the paper. With Google's own cut-off (1,129.5 s) 83 %% of 15,000 servers take long work, and the ratio is seldom "
				   "above 0.8: cloudcoaster buys next to nothing there, and surge, which may spend no more than that, has about the same mean. "
				   "Allowed K machines all the time (fund=budget) it pays several times as much for a quarter of the delay.");
	return r;
}

static const struct {
	const char *name;
	int (*make)(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
} makers[] = {
	{"servers-4000", make_4000}, {"servers-3600", make_3600}, {"servers-3000", make_3000},
	{"sensitivity", make_sweep}, {"beyond", make_beyond}, {"google", make_google},
};

static int make(const char *const *tables, const struct fth_repro_request *req, struct fth_repro_book *book,
		struct fth_error *err)
{
	int r = 0;
	for (; *tables && !r; tables++)
		for (size_t i = 0; i < FTH_COUNT(makers) && !r; i++)
			if (!strcmp(*tables, makers[i].name))
				r = makers[i].make(req, book, err);
	return r;
}

static const char *const names[] = {"servers-4000", "servers-3600", "servers-3000", "sensitivity", "beyond", "google", NULL};
static const struct fth_repro_alias aliases[] = {
	{"figure3", "servers-4000"}, {"figure3", "servers-3600"}, {"figure3", "servers-3000"},
	{"table1", "servers-4000"}, {"table1", "servers-3600"}, {"table1", "servers-3000"},
	{0},
};
const struct fth_repro_paper fth_repro_cloudcoaster = {
	.name = "cloudcoaster",
	.title = "CloudCoaster: Transient-aware Bursty Datacenter Workload Scheduling (2019)",
	.tables = names,
	.aliases = aliases,
	.make = make,
};
