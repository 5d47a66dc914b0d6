/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `farthing` taken apart: what each of its parts brings on Eva's traces, and how it stands on workloads that were
 * not used to choose its settings. The figures beside ours are those of an earlier exploration of the same ideas
 * under the same rules.
 */
#include <math.h>

#include "cli/repro_eva.h"
#include "cli/repro_runs.h"
#include "trace/generate.h"
#include "trace/trace.h"

/* ---- the parts, on the full Gavel trace ---- */

struct variant {
	const char *id, *label, *policy;
	double cost, jct; /* of the exploration; NAN: not tried there */
};

static const struct variant gavel[] = {
	{"eva-artifact", "Eva as released", "eva-artifact", 508616, 19.65},
	{"insertion", "farthing, nothing moves, nothing waits", "farthing:moves=false,max_wait=0", 595655, 18.11},
	{"ignored", "... interference ignored, nothing waits", "farthing:interference=ignored,max_wait=0", 471857, 19.94},
	{"constant", "... every pair at 0.95, nothing waits", "farthing:interference=constant,max_wait=0", 461030, 19.33},
	{"alone", "... worth of a task: a machine of its own", "farthing:value=alone,max_wait=0", 444188, 18.26},
	{"no-queue", "... nothing waits", "farthing:max_wait=0", 441605, 18.37},
	{"short", "... nothing waits, horizon 15 min", "farthing:max_wait=0,horizon=15m", 442245, 18.34},
	{"pairs", "... pairs of machines only", "farthing:triples=0", 436194, 18.63},
	{"farthing", "farthing", "farthing", NAN, NAN},
	{"patient", "... may wait 4 h, waiting free", "farthing:max_wait=4h,waiting=0", 433042, 20.35},
	{"budget", "... at most 5 moves an hour", "farthing:moves_per_hour=5", NAN, NAN},
	{0},
};

static const struct variant alibaba[] = {
	{"eva-artifact", "Eva as released", "eva-artifact", 288189, 11.03},
	{"no-queue", "farthing, nothing waits", "farthing:max_wait=0", 247337, 10.23},
	{"farthing", "farthing", "farthing", 245385, 10.41},
	{0},
};

static void add_variant(struct fth_repro_book *b, struct fth_repro_page *p, const struct variant *v, const struct fth_run *run)
{
	const struct {
		const char *id, *label, *unit;
		double notes, ours;
	} rows[] = {
		{"cost", "cost", "$", v->cost, fth_usd(run->cost)},
		{"jct", "mean completion time", "h", v->jct, run->jct_mean_s / 3600},
		{"jct-p95", "95th percentile of it", "h", NAN, run->jct_p95_s / 3600},
		{"jct-p99", "99th percentile of it", "h", NAN, run->jct_p99_s / 3600},
		{"moves", "moves", "", NAN, (double)run->migrations},
	};
	for (size_t i = 0; i < FTH_COUNT(rows); i++) {
		char id[64], label[128];
		snprintf(id, sizeof(id), "%s-%s", v->id, rows[i].id);
		snprintf(label, sizeof(label), "%s: %s", v->label, rows[i].label);
		fth_repro_add_row(b, p, id, label, rows[i].unit, rows[i].notes, rows[i].ours);
	}
}

static int variants(const struct fth_repro_request *req, struct fth_repro_book *b, const char *name, const char *title,
		    const char *trace, const struct variant *v, struct fth_error *err)
{
	struct fth_world w;
	struct fth_repro_runs runs = {0};
	int r = fth_eva_world(&w, req->data, trace, err), number[16];
	if (r)
		return r;
	for (int i = 0; v[i].id && !r; i++) {
		number[i] = fth_repro_runs_add(&runs, &w, v[i].policy, "", err);
		r = FTH_MIN(number[i], 0);
	}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, name, title);
		double wall = 0;
		for (int i = 0; v[i].id; i++) {
			add_variant(b, p, &v[i], fth_repro_runs_get(&runs, number[i]));
			wall += fth_repro_runs_get(&runs, number[i])->wall_s;
		}
		fth_repro_add_note(b, p, "The figures beside ours are of the exploration that the policy grew from; its percentiles and moves were "
					 "not kept. No policy can cost less than 403,010 $ on the Gavel and 233,738 $ on the Alibaba trace.");
		fth_repro_add_note(b, p, "The runs took %.2f s of wall time in all.", wall);
	}
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

static int make_gavel(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return variants(req, b, "gavel", "What each part brings: Gavel durations (6,274 jobs)", "pai_full_gavel.csv", gavel, err);
}

static int make_alibaba(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	return variants(req, b, "alibaba", "What each part brings: Alibaba durations (6,274 jobs)", "pai_full_alibaba_dur.csv", alibaba, err);
}

/* ---- workloads that chose no setting ---- */

static const char *const rivals[] = {"farthing", "eva-artifact", "eva", "synergy", "owl", "stratus-artifact", "no-packing"};

struct other {
	const char *id, *label, *sim;
	/* Drawn by our generator with these parameters... */
	const char *drawn;
	/* ... or pods of this file, at this mean gap unless it tells when they came, or a variant of Eva's first jobs. */
	const char *pods;
	fth_time gap;
	double multi_task, multi_gpu;
};

static const struct other others[] = {
	{"dense", "drawn anew, a job every 400 s", "", "seed=11,gap=400s", NULL, 0, 0, 0},
	{"usual", "drawn anew, a job every 1,200 s", "", "seed=12,gap=1200s", NULL, 0, 0, 0},
	{"sparse", "drawn anew, a job every 3,600 s", "", "seed=13,gap=3600s", NULL, 0, 0, 0},
	{"coupled", "40 % of the jobs with tasks that advance together", "", NULL, NULL, 0, 0.4, 0},
	{"multi-gpu", "40 % of the jobs with several GPUs", "", NULL, NULL, 0, 0, 0.4},
	{"crowded", "each task beyond the second slows all by 15 %", "crowd=0.85", "seed=14,gap=1200s", NULL, 0, 0, 0},
	{"multigpu20", "pods of openb_pod_list_multigpu20", "", NULL, "openb_pod_list_multigpu20.csv", 1200 * FTH_SEC, 0, 0},
	{"cpu100", "pods of openb_pod_list_cpu100", "", NULL, "openb_pod_list_cpu100.csv", 0, 0, 0},
};
enum { OTHERS = FTH_COUNT(others), RIVALS = FTH_COUNT(rivals), JOBS = 1000 };

static int draw_workload(struct fth_workload *w, const char *text, struct fth_error *err)
{
	struct fth_generate_params p = {0};
	fth_params_defaults(fth_generate_param_table, &p);
	p.jobs = JOBS;
	p.workloads = FTH_MIX_ALIBABA;
	int r = fth_params_parse(fth_generate_param_table, &p, "generate", text, err);
	return r ? r : fth_generate(w, &p, err);
}

/* The workload in *ret is the world's own or made beside it in *made, to be released by the caller. */
static int other_world(struct fth_world *w, struct fth_workload *made, const struct fth_repro_request *req, const struct other *o,
		       struct fth_error *err)
{
	char path[4400];
	struct fth_import_options import = {.mean_gap = o->gap, .seed = (uint64_t)req->seed};
	bool varied = o->multi_task > 0 || o->multi_gpu > 0;
	int r = fth_eva_world(w, req->data, varied ? "pai_full_gavel.csv" : NULL, err);
	if (r)
		return r;
	fth_workload_init(made, w->syms, &w->kinds);
	if (o->drawn)
		return draw_workload(&w->workload, o->drawn, err);
	if (o->pods) {
		snprintf(path, sizeof(path), "%s/alibaba-gpu-2023/%s", req->data, o->pods);
		r = fth_load_workload(&w->workload, path, FTH_FORMAT_ALIBABA_PODS, &import, err);
		if (!r)
			fth_vary_fitting(made, &w->workload, &w->catalog.pub);
	} else {
		struct fth_workload head;
		fth_workload_init(&head, w->syms, &w->kinds);
		fth_vary_head(&head, &w->workload, JOBS);
		if (o->multi_task > 0)
			fth_vary_multi_task(made, &head, o->multi_task, (uint64_t)req->seed);
		else
			fth_vary_multi_gpu(made, &head, o->multi_gpu, (uint64_t)req->seed);
		fth_workload_release(&head);
	}
	struct fth_workload whole = w->workload;
	fth_workload_init(&w->workload, w->syms, &w->kinds);
	if (!r)
		fth_vary_head(&w->workload, made, JOBS);
	fth_workload_release(&whole);
	return r;
}

static void add_other(struct fth_repro_book *b, struct fth_repro_page *p, const struct other *o, const struct fth_repro_runs *runs,
		      const int *number)
{
	const struct fth_run *own = fth_repro_runs_get(runs, number[0]);
	char id[64], label[128];
	for (int k = 0; k < RIVALS; k++) {
		const struct fth_run *run = fth_repro_runs_get(runs, number[k]);
		snprintf(id, sizeof(id), "%s-%s", o->id, rivals[k]);
		snprintf(label, sizeof(label), "%s: %s, cost", o->label, rivals[k]);
		fth_repro_add_row(b, p, id, label, "$", NAN, fth_usd(run->cost));
		snprintf(id, sizeof(id), "%s-%s-jct", o->id, rivals[k]);
		snprintf(label, sizeof(label), "%s: %s, mean completion time", o->label, rivals[k]);
		fth_repro_add_row(b, p, id, label, "h", NAN, run->jct_mean_s / 3600);
	}
	const struct fth_run *eva = fth_repro_runs_get(runs, number[1]);
	snprintf(id, sizeof(id), "%s-saving", o->id);
	snprintf(label, sizeof(label), "%s: farthing below eva-artifact by", o->label);
	fth_repro_add_row(b, p, id, label, "%", NAN, 100 * (1 - (double)own->cost / (double)eva->cost));
}

static int make_others(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	struct fth_world w[OTHERS];
	struct fth_workload made[OTHERS];
	int number[OTHERS][RIVALS], n = 0, r = 0;
	struct fth_repro_runs runs = {0};
	for (; n < OTHERS && !r; n++) {
		r = other_world(&w[n], &made[n], req, &others[n], err);
		if (r)
			break;
		for (int k = 0; k < RIVALS && !r; k++) {
			number[n][k] = fth_repro_runs_add(&runs, &w[n], rivals[k], others[n].sim, err);
			r = FTH_MIN(number[n][k], 0);
		}
	}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, "others", "Workloads that chose no setting (1,000 jobs each)");
		for (int k = 0; k < OTHERS; k++)
			add_other(b, p, &others[k], &runs, number[k]);
	}
	fth_repro_runs_release(&runs);
	for (int k = 0; k < n; k++) {
		fth_workload_release(&made[k]);
		fth_world_release(&w[k]);
	}
	return r;
}

/* ---- */

static const struct {
	const char *name;
	int (*make)(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
} makers[] = {{"gavel", make_gavel}, {"alibaba", make_alibaba}, {"others", make_others}};

static int make(const char *const *tables, const struct fth_repro_request *req, struct fth_repro_book *book, struct fth_error *err)
{
	int r = 0;
	for (; *tables && !r; tables++)
		for (size_t i = 0; i < FTH_COUNT(makers) && !r; i++)
			if (!strcmp(*tables, makers[i].name))
				r = makers[i].make(req, book, err);
	return r;
}

static const char *const names[] = {"gavel", "alibaba", "others", NULL};
const struct fth_repro_paper fth_repro_own = {
	.name = "own",
	.title = "farthing, the policy of our own: its parts one by one, and workloads that chose no setting",
	.tables = names,
	.make = make,
};
