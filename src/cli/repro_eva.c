/* SPDX-License-Identifier: Apache-2.0 */
/* Eva (EuroSys '25): which tables there are, and the end-to-end simulations of Tables 13 and 14. */
#include "cli/repro_eva.h"

#include <math.h>

#include "trace/trace.h"

int fth_eva_world(struct fth_world *w, const char *data, const char *trace, struct fth_error *err)
{
	char path[4400];
	fth_world_init(w);
	snprintf(path, sizeof(path), "%s/eva/instance_types.json", data);
	int r = fth_load_catalog(&w->catalog, path, FTH_FORMAT_EVA_TYPES, NULL, err);
	snprintf(path, sizeof(path), "%s/eva/contention_matrix.csv", data);
	if (!r)
		r = fth_load_profile(&w->profile, path, FTH_FORMAT_EVA_MATRIX, err);
	w->has_profile = true;
	snprintf(path, sizeof(path), "%s/eva/%s", data, trace ? trace : "");
	if (!r && trace)
		r = fth_load_workload(&w->workload, path, FTH_FORMAT_AUTO, NULL, err);
	if (r)
		fth_world_release(w);
	return r;
}

/* ---- Tables 13 and 14 ---- */

struct scheduler {
	const char *id, *label, *policy;
	/* The paper's: dollars, % of No-Packing, tasks per instance, throughput, completion and idle time in hours. */
	double cost, norm, tasks, throughput, jct, idle;
};

static const struct scheduler table13[] = {
	{"no-packing", "No-Packing", "no-packing", 480130, 100, 0.99, 1, 9.18, 0.10},
	{"stratus", "Stratus", "stratus-artifact", 344171, 72, 1.60, 0.94, 9.71, 0.05},
	{"synergy", "Synergy", "synergy", 368033, 77, 1.72, 0.93, 9.68, 0.05},
	{"owl", "Owl", "owl", 376678, 78, 1.81, 0.96, 9.84, 0.16},
	{"eva", "Eva (ours: Partial fills kept machines)", "eva", 289908, 60, 2.05, 0.91, 10.55, 0.11},
	{"eva-letter", "Eva (the paper's text to the letter)", "eva:fill=false", 289908, 60, 2.05, 0.91, 10.55, 0.11},
	{"eva-artifact", "Eva (as released)", "eva-artifact", 289908, 60, 2.05, 0.91, 10.55, 0.11},
	{0},
};

static const struct scheduler table14[] = {
	{"no-packing", "No-Packing", "no-packing", 831227, 100, 1, 1, 16.81, 0.10},
	{"stratus", "Stratus", "stratus-artifact", 560067, 67, 2.28, 0.90, 18.89, 0.05},
	{"synergy", "Synergy", "synergy", 556901, 67, 2.26, 0.89, 19.03, 0.06},
	{"owl", "Owl", "owl", 629673, 75, 1.84, 0.94, 18.05, 0.19},
	{"eva", "Eva (ours: Partial fills kept machines)", "eva", 483472, 58, 2.59, 0.89, 19.42, 0.17},
	{"eva-letter", "Eva (the paper's text to the letter)", "eva:fill=false", 483472, 58, 2.59, 0.89, 19.42, 0.17},
	{"eva-artifact", "Eva (as released)", "eva-artifact", 483472, 58, 2.59, 0.89, 19.42, 0.17},
	{0},
};

static void add_scheduler(struct fth_repro_book *b, struct fth_repro_page *p, const struct scheduler *s,
			  const struct fth_run *run, const struct fth_run *base)
{
	const struct {
		const char *id, *label, *unit;
		double paper, ours;
	} rows[] = {
		{"cost", "total cost", "$", s->cost, run ? fth_usd(run->cost) : NAN},
		{"norm-cost", "cost, No-Packing = 100", "%", s->norm,
		 run ? 100 * (double)run->cost / (double)base->cost : NAN},
		{"tasks-per-instance", "tasks per instance", "", s->tasks, run ? run->window_tasks_per_instance : NAN},
		{"throughput", "normalised job throughput", "", s->throughput, run ? run->norm_throughput : NAN},
		{"jct", "mean completion time", "h", s->jct, run ? run->jct_mean_s / 3600 : NAN},
		{"idle", "mean idle time", "h", s->idle, run ? run->idle_mean_s / 3600 : NAN},
	};
	for (size_t i = 0; i < FTH_COUNT(rows); i++) {
		char id[64], label[96];
		snprintf(id, sizeof(id), "%s-%s", s->id, rows[i].id);
		snprintf(label, sizeof(label), "%s: %s", s->label, rows[i].label);
		fth_repro_add_row(b, p, id, label, rows[i].unit, rows[i].paper, rows[i].ours);
	}
}

static void add_common_notes(struct fth_repro_book *b, struct fth_repro_page *p, double wall)
{
	if (!fth_repro_has_policy("stratus-artifact"))
		fth_repro_add_note(b, p, "Stratus is not among this program's policies, so its rows have no figure of ours.");
	fth_repro_add_note(b, p,
			   "Tasks per instance are over days 30 to 60 of the run. The contention map of the authors' program gives some "
			   "tasks another's throughput, in an order that depends on the hash seed of the process; ours is the matrix as "
			   "measured. All policies meet the same one.");
	fth_repro_add_note(b, p, "The runs took %.2f s of wall time in all.", wall);
}

static int end_to_end(const struct fth_repro_request *req, struct fth_repro_book *b, const char *name,
		      const char *title, const char *trace, const struct scheduler *s, struct fth_error *err)
{
	struct fth_world w;
	int r = fth_eva_world(&w, req->data, trace, err), number[8];
	if (r)
		return r;
	struct fth_repro_runs runs = {.window_from = 30 * FTH_DAY, .window_to = 60 * FTH_DAY};
	for (int i = 0; s[i].id && !r; i++) {
		number[i] = fth_repro_runs_add(&runs, &w, s[i].policy, "", err);
		r = number[i] < 0 && number[i] != -ENOENT ? number[i] : 0;
	}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, name, title);
		double wall = 0;
		for (int i = 0; s[i].id; i++) {
			const struct fth_run *run = fth_repro_runs_get(&runs, number[i]);
			add_scheduler(b, p, &s[i], run, fth_repro_runs_get(&runs, number[0]));
			wall += run ? run->wall_s : 0;
		}
		add_common_notes(b, p, wall);
	}
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

static int make_table13(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	int r = end_to_end(req, b, "table13", "End-to-end simulation, Alibaba durations (6,274 jobs)",
			   "pai_full_alibaba_dur.csv", table13, err);
	if (!r)
		fth_repro_add_note(b, &fth_vec_last(&b->pages),
				   "This table cannot come from the released program: its trace with Alibaba durations costs "
				   "about 442,000 $ under No-Packing, not 480,130 $, whatever the policy; the published run "
				   "must have paired durations and demands in another way.");
	return r;
}

static int make_table14(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	int r = end_to_end(req, b, "table14", "End-to-end simulation, Gavel durations (6,274 jobs)", "pai_full_gavel.csv",
			   table14, err);
	if (!r)
		fth_repro_add_note(b, &fth_vec_last(&b->pages),
				   "No-Packing is the paper's to the dollar. The released program gives Eva 508,616 $ (61.2 %%) with the "
				   "corrected contention map and sorted iteration, which is what `eva-artifact` repeats; with the map as "
				   "generated it gives 481,062 to 516,171 $ over four hash seeds, and the published 483,472 $ lies in that "
				   "range. `eva` follows the paper's text where the program differs from it, but for Partial, which to the letter never "
				   "puts a task beside a running one (docs/eva.md).");
	return r;
}

static const struct {
	const char *name;
	int (*make)(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
} makers[] = {
	{"table4", fth_eva_table4},   {"table5", fth_eva_table5},   {"table6", fth_eva_table6},
	{"table13", make_table13},    {"table14", make_table14},    {"figure4", fth_eva_figure4},
	{"figure5", fth_eva_figure5}, {"figure6", fth_eva_figure6}, {"figure7", fth_eva_figure7},
	{"figure8", fth_eva_figure8},
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

static const char *const names[] = {"table4",  "table5",  "table6",	 "table13", "table14", "figure4",
				    "figure5", "figure6", "figure7", "figure8", NULL};
const struct fth_repro_paper fth_repro_eva = {
	.name = "eva",
	.title = "Eva: Cost-Efficient Cloud-Based Cluster Scheduling (EuroSys '25)",
	.tables = names,
	.make = make,
};
