/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eva's Figures 4 to 8: sweeps over interference, migration delay, GPU mix, multi-task jobs and arrival
 * rate. The paper prints them as pictures only; its words about them are the rows with a paper's figure.
 */
#include "cli/repro_eva.h"

#include <math.h>

#include "trace/generate.h"

enum { MAX_POINTS = 8, MAX_POLICIES = 8 };

struct line {
	const char *id, *label, *policy;
};

/* A sweep: some policies at some points, each point with its own workload or simulator settings. The first
 * policy is No-Packing, against which cost is measured. */
struct sweep {
	const char *name, *title, *axis;
	const struct line *lines;
	double x[MAX_POINTS];
	int npoints;
	char sim[MAX_POINTS][64];
	struct fth_world base, worlds[MAX_POINTS];
	struct fth_workload loads[MAX_POINTS];
	bool own_loads;
	struct fth_repro_runs runs;
	int number[MAX_POLICIES][MAX_POINTS];
	int nlines;
};

static int sweep_begin(struct sweep *s, const struct fth_repro_request *req, const double *x, int n, struct fth_error *err)
{
	s->npoints = n;
	memcpy(s->x, x, (size_t)n * sizeof(*x));
	return fth_eva_world(&s->base, req->data, "pai_full_gavel.csv", err);
}

/* Each point with its variant of the workload; every kind is interned before worlds are copied. */
static void sweep_vary(struct sweep *s, uint64_t seed,
		       void (*vary)(struct fth_workload *to, const struct fth_workload *from, double x, uint64_t seed))
{
	s->own_loads = true;
	for (int i = 0; i < s->npoints; i++) {
		fth_workload_init(&s->loads[i], s->base.syms, &s->base.kinds);
		vary(&s->loads[i], &s->base.workload, s->x[i], seed);
	}
}

static int sweep_run(struct sweep *s, const struct fth_repro_request *req, struct fth_error *err)
{
	int r = 0;
	for (int i = 0; i < s->npoints; i++) {
		s->worlds[i] = s->base;
		if (s->own_loads)
			s->worlds[i].workload = s->loads[i];
	}
	for (s->nlines = 0; s->lines[s->nlines].id; s->nlines++)
		for (int i = 0; i < s->npoints && !r; i++) {
			int n = fth_repro_runs_add(&s->runs, &s->worlds[i], s->lines[s->nlines].policy, s->sim[i], err);
			s->number[s->nlines][i] = n;
			r = n < 0 && n != -ENOENT ? n : 0;
		}
	return r ? r : fth_repro_runs_go(&s->runs, req, err);
}

static const struct fth_run *at(const struct sweep *s, int line, int point)
{
	return fth_repro_runs_get(&s->runs, s->number[line][point]);
}

/* Cost as a share of No-Packing's; NAN where the policy is not there. */
static double cost_at(const struct sweep *s, int line, int point)
{
	const struct fth_run *run = at(s, line, point);
	return run ? 100 * (double)run->cost / (double)at(s, 0, point)->cost : NAN;
}

static double jct_at(const struct sweep *s, int line, int point)
{
	const struct fth_run *run = at(s, line, point);
	return run ? run->jct_mean_s / at(s, 0, point)->jct_mean_s * 100 : NAN;
}

static int line_of(const struct sweep *s, const char *id)
{
	for (int i = 0; i < s->nlines; i++)
		if (!strcmp(s->lines[i].id, id))
			return i;
	return -1;
}

static void add_rows(struct fth_repro_book *b, struct fth_repro_page *p, const struct sweep *s, const char *what,
		     const char *label, const char *unit, double (*figure)(const struct sweep *, int, int), int first)
{
	for (int l = first; l < s->nlines; l++)
		for (int i = 0; i < s->npoints; i++) {
			char id[80], text[128];
			if (!at(s, l, i))
				continue;
			snprintf(id, sizeof(id), "%s-%s-%g", s->lines[l].id, what, s->x[i]);
			snprintf(text, sizeof(text), "%s: %s, %s %g", s->lines[l].label, label, s->axis, s->x[i]);
			fth_repro_add_row(b, p, id, text, unit, NAN, figure(s, l, i));
		}
}

static void add_plot(struct fth_repro_book *b, struct fth_repro_page *p, const struct sweep *s, const char *what,
		     const char *title, const char *subtitle, double (*figure)(const struct sweep *, int, int), int first)
{
	struct fth_series *series = fth_arena_alloc(&b->arena, MAX_POLICIES * sizeof(*series));
	size_t n = 0;
	for (int l = first; l < s->nlines; l++) {
		double *x = fth_arena_alloc(&b->arena, MAX_POINTS * sizeof(*x));
		double *y = fth_arena_alloc(&b->arena, MAX_POINTS * sizeof(*y));
		if (!at(s, l, 0))
			continue;
		for (int i = 0; i < s->npoints; i++) {
			x[i] = s->x[i];
			y[i] = figure(s, l, i);
		}
		series[n] = (struct fth_series){.name = s->lines[l].label,
						.colour = (unsigned)n % FTH_COLOURS,
						.x = x,
						.y = y,
						.n = (size_t)s->npoints};
		n++;
	}
	char *id = fth_arena_alloc(&b->arena, 64);
	snprintf(id, 64, "%s-%s", s->name, what);
	struct fth_plot plot = {.id = id, .title = title, .subtitle = subtitle, .series = series, .nseries = n};
	plot.x.label = s->axis;
	fth_repro_add_plot(p, &plot);
}

static void sweep_end(struct sweep *s)
{
	fth_repro_runs_release(&s->runs);
	for (int i = 0; s->own_loads && i < s->npoints; i++)
		fth_workload_release(&s->loads[i]);
	fth_world_release(&s->base);
}

/* How much cheaper (percent) line a is than line b at its least and greatest over the points. */
static void saving(const struct sweep *s, const char *a, const char *b, double *least, double *greatest)
{
	int la = line_of(s, a), lb = line_of(s, b);
	*least = *greatest = NAN;
	for (int i = 0; i < s->npoints; i++) {
		double v = 100 * (1 - cost_at(s, la, i) / cost_at(s, lb, i));
		if (isnan(v))
			continue;
		*least = isnan(*least) || v < *least ? v : *least;
		*greatest = isnan(*greatest) || v > *greatest ? v : *greatest;
	}
}

static void add_saving(struct fth_repro_book *b, struct fth_repro_page *p, const struct sweep *s, const char *rival,
		       double paper_least, double paper_greatest)
{
	double least, greatest;
	char id[64], label[96];
	saving(s, "eva", rival, &least, &greatest);
	if (isnan(least))
		return;
	snprintf(id, sizeof(id), "eva-saving-vs-%s-least", rival);
	snprintf(label, sizeof(label), "Eva below %s, least over the sweep", s->lines[line_of(s, rival)].label);
	fth_repro_add_row(b, p, id, label, "%", paper_least, least);
	snprintf(id, sizeof(id), "eva-saving-vs-%s-greatest", rival);
	snprintf(label, sizeof(label), "Eva below %s, greatest over the sweep", s->lines[line_of(s, rival)].label);
	fth_repro_add_row(b, p, id, label, "%", paper_greatest, greatest);
}

static struct fth_repro_page *begin_page(struct fth_repro_book *b, const struct sweep *s)
{
	struct fth_repro_page *p = fth_repro_add_page(b, s->name, s->title);
	fth_repro_add_note(b, p, "The paper shows this figure as a picture; rows without a paper's figure have none in its text. "
				 "Ours is on the full trace with Gavel durations; the paper does not say which durations it took.");
	if (!fth_repro_has_policy("stratus-artifact"))
		fth_repro_add_note(b, p, "Stratus is not among this program's policies.");
	return p;
}

/* ---- Figure 4: interference ---- */

int fth_eva_figure4(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const struct line lines[] = {{"no-packing", "No-Packing", "no-packing"},
					    {"owl", "Owl", "owl"},
					    {"eva-rp", "Eva-RP", "eva:value=rp"},
					    {"eva-tnrp", "Eva-TNRP", "eva:value=tnrp"},
					    {0}};
	static const double x[] = {1, 0.95, 0.9, 0.85, 0.8};
	struct sweep s = {.name = "figure4", .title = "Impact of co-location interference", .axis = "pair throughput", .lines = lines};
	int r = sweep_begin(&s, req, x, FTH_COUNT(x), err);
	if (r)
		return r;
	for (int i = 0; i < s.npoints; i++)
		snprintf(s.sim[i], sizeof(s.sim[i]), "pair_speed=%g", s.x[i]);
	r = sweep_run(&s, req, err);
	if (!r) {
		struct fth_repro_page *p = begin_page(b, &s);
		add_rows(b, p, &s, "norm-cost", "cost, No-Packing = 100", "%", cost_at, 1);
		add_rows(b, p, &s, "norm-jct", "completion time, No-Packing = 100", "%", jct_at, 1);
		add_plot(b, p, &s, "cost", "Total cost", "percent of No-Packing", cost_at, 0);
		add_plot(b, p, &s, "jct", "Mean completion time", "percent of No-Packing", jct_at, 0);
	}
	sweep_end(&s);
	return r;
}

/* ---- Figure 5: migration delay ---- */

/* Of all scheduling rounds, one every 300 s, also those in which nothing happened and nothing was decided. */
static double full_share(const struct sweep *s, int line, int point)
{
	const struct fth_run *run = at(s, line, point);
	double rounds = run ? (double)run->ended_at / (double)(300 * FTH_SEC) : 0;
	return rounds > 0 ? 100 * fth_repro_note_sum(run, "full_adopted") / rounds : NAN;
}

static double moves_per_job(const struct sweep *s, int line, int point)
{
	const struct fth_run *run = at(s, line, point);
	return run ? (double)run->migrations / (double)run->jobs : NAN;
}

static void vary_delays(struct fth_workload *to, const struct fth_workload *from, double x, uint64_t seed)
{
	(void)seed;
	fth_vary_delays(to, from, x);
}

int fth_eva_figure5(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const struct line lines[] = {{"no-packing", "No-Packing", "no-packing"},
					    {"stratus", "Stratus", "stratus-artifact"},
					    {"eva-full-only", "Eva, Full only", "eva:mode=full"},
					    {"eva", "Eva", "eva"},
					    {0}};
	static const double x[] = {1, 2, 4, 8};
	struct sweep s = {.name = "figure5", .title = "Impact of migration overhead", .axis = "migration delay x", .lines = lines};
	int r = sweep_begin(&s, req, x, FTH_COUNT(x), err);
	if (r)
		return r;
	sweep_vary(&s, (uint64_t)req->seed, vary_delays);
	r = sweep_run(&s, req, err);
	if (!r) {
		struct fth_repro_page *p = begin_page(b, &s);
		int eva = line_of(&s, "eva");
		fth_repro_add_row(b, p, "eva-full-share-most", "Eva: rounds that adopt Full, delay x 1 (paper: less than)", "%",
				  12, full_share(&s, eva, 0));
		add_rows(b, p, &s, "full-share", "rounds that adopt Full", "%", full_share, eva);
		add_rows(b, p, &s, "moves", "migrations per job", "", moves_per_job, 2);
		add_rows(b, p, &s, "norm-cost", "cost, No-Packing = 100", "%", cost_at, 1);
		add_plot(b, p, &s, "cost", "Total cost", "percent of No-Packing", cost_at, 0);
		add_plot(b, p, &s, "moves", "Migrations per job", NULL, moves_per_job, 2);
	}
	sweep_end(&s);
	return r;
}

/* ---- Figures 6, 7, 8 ---- */

static int packing_sweep(struct sweep *s, const struct fth_repro_request *req, struct fth_repro_book *b, double least,
			 double greatest, struct fth_error *err)
{
	int r = sweep_run(s, req, err);
	if (r)
		return r;
	struct fth_repro_page *p = begin_page(b, s);
	static const char *const rivals[] = {"stratus", "synergy", "owl"};
	for (size_t i = 0; i < FTH_COUNT(rivals); i++)
		if (line_of(s, rivals[i]) >= 0)
			add_saving(b, p, s, rivals[i], least, greatest);
	add_rows(b, p, s, "norm-cost", "cost, No-Packing = 100", "%", cost_at, 1);
	add_plot(b, p, s, "cost", "Total cost", "percent of No-Packing", cost_at, 0);
	return 0;
}

/* What leaving something out costs, at its most over the sweep. */
static void add_without(struct fth_repro_book *b, const struct sweep *s, const char *without, const char *id,
			const char *label, double paper)
{
	double least, greatest;
	saving(s, "eva", without, &least, &greatest);
	/* eva = (1 - greatest) x without, so without = eva / (1 - greatest). */
	fth_repro_add_row(b, &fth_vec_last(&b->pages), id, label, "%", paper, 100 * (1 / (1 - greatest / 100) - 1));
}

static void vary_gpu(struct fth_workload *to, const struct fth_workload *from, double x, uint64_t seed)
{
	fth_vary_multi_gpu(to, from, x / 100, seed);
}

int fth_eva_figure6(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const struct line lines[] = {{"no-packing", "No-Packing", "no-packing"},
					    {"stratus", "Stratus", "stratus-artifact"},
					    {"synergy", "Synergy", "synergy"},
					    {"owl", "Owl", "owl"},
					    {"eva-partial-only", "Eva without Full", "eva:mode=partial"},
					    {"eva", "Eva", "eva"},
					    {0}};
	static const double x[] = {0, 20, 40, 60};
	struct sweep s = {.name = "figure6", .title = "Impact of workload composition", .axis = "% multi-GPU jobs", .lines = lines};
	int r = sweep_begin(&s, req, x, FTH_COUNT(x), err);
	if (r)
		return r;
	sweep_vary(&s, (uint64_t)req->seed, vary_gpu);
	r = packing_sweep(&s, req, b, 10, 15, err);
	if (!r)
		add_without(b, &s, "eva-partial-only", "without-full-most", "Eva without Full: dearer by at most", 8);
	sweep_end(&s);
	return r;
}

static void vary_tasks(struct fth_workload *to, const struct fth_workload *from, double x, uint64_t seed)
{
	fth_vary_multi_task(to, from, x / 100, seed);
}

int fth_eva_figure7(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const struct line lines[] = {{"no-packing", "No-Packing", "no-packing"},
					    {"stratus", "Stratus", "stratus-artifact"},
					    {"synergy", "Synergy", "synergy"},
					    {"owl", "Owl", "owl"},
					    {"eva-single", "Eva-Single", "eva:multi_task=false"},
					    {"eva", "Eva", "eva"},
					    {0}};
	static const double x[] = {0, 20, 40, 60};
	struct sweep s = {.name = "figure7", .title = "Impact of multi-task jobs", .axis = "% multi-task jobs", .lines = lines};
	int r = sweep_begin(&s, req, x, FTH_COUNT(x), err);
	if (r)
		return r;
	sweep_vary(&s, (uint64_t)req->seed, vary_tasks);
	r = packing_sweep(&s, req, b, 10, 37, err);
	if (!r)
		add_without(b, &s, "eva-single", "eva-single-most", "Eva-Single: dearer by at most", 13);
	sweep_end(&s);
	return r;
}

static void vary_rate(struct fth_workload *to, const struct fth_workload *from, double x, uint64_t seed)
{
	(void)seed;
	fth_vary_gap(to, from, 3 / x); /* the trace has three arrivals an hour */
}

int fth_eva_figure8(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const struct line lines[] = {{"no-packing", "No-Packing", "no-packing"},
					    {"stratus", "Stratus", "stratus-artifact"},
					    {"synergy", "Synergy", "synergy"},
					    {"owl", "Owl", "owl"},
					    {"eva", "Eva", "eva"},
					    {0}};
	static const double x[] = {0.5, 1, 2, 3, 6};
	struct sweep s = {.name = "figure8", .title = "Impact of job arrival rate", .axis = "jobs per hour", .lines = lines};
	int r = sweep_begin(&s, req, x, FTH_COUNT(x), err);
	if (r)
		return r;
	sweep_vary(&s, (uint64_t)req->seed, vary_rate);
	r = packing_sweep(&s, req, b, 10, 16, err);
	sweep_end(&s);
	return r;
}
