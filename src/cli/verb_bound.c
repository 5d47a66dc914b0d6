/* SPDX-License-Identifier: Apache-2.0 */
/* bound: what no policy can go below, and the mix of machines that would reach it. */
#include <time.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "report/bound.h"

static int find(const struct fth_args *a, struct fth_world *w, struct fth_bound *b, double *ret_wall, struct fth_error *err)
{
	struct fth_bound_options o = fth_bound_thorough();
	struct fth_sim_params sim;
	struct timespec from, to;
	int r = fth_cli_sim_params(a, &sim, err);
	if (!r)
		r = fth_cli_load_world(a, w, err);
	if (r)
		return r;
	fth_cli_bound_options(&sim, &o);
	clock_gettime(CLOCK_MONOTONIC, &from);
	r = fth_bound_find(b, w, NULL, &o, err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	*ret_wall = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	return r;
}

static int write_bound(const struct fth_args *a, const struct fth_world *w, const struct fth_bound *b, double wall,
		       struct fth_error *err)
{
	const char *format = fth_args_text(a, "format"), *path = fth_args_given(a, "out");
	const char *file = fth_args_given(a, "workload");
	struct fth_str out = {0};
	struct fth_bound_report report = {
		.bound = b,
		.catalog = &w->catalog.pub,
		.syms = w->syms,
		.workload = w->workload.name ? fth_sym_str(w->syms, w->workload.name) : file ? file : "bundled sample",
		.wall_s = wall,
	};
	fth_workload_summarize(&w->workload, &report.summary);
	if (!strcmp(format, "json"))
		fth_bound_json(&report, &out);
	else if (!strcmp(format, "csv"))
		fth_bound_csv(&report, &out);
	else
		fth_bound_table(&report, !path && fth_cli_color(a), &out);
	int r = fth_cli_write(path, out.data ? out.data : "", out.len, err);
	fth_str_release(&out);
	return r;
}

static int run(struct fth_args *a)
{
	struct fth_world w;
	struct fth_bound b = {0};
	struct fth_error err = {0};
	double wall = 0;
	fth_world_init(&w);
	int r = find(a, &w, &b, &wall, &err);
	if (!r)
		r = write_bound(a, &w, &b, wall, &err);
	fth_bound_release(&b);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const formats[] = {"table", "json", "csv", NULL};
static const struct fth_option options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the result; csv has a row for each kind of task"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the result; a file appears whole or not at all"},
	{.name = "sim", .type = FTH_OPT_SETTING, .many = true, .arg = "KEY=VALUE", .params = fth_sim_param_table,
	 .help = "a parameter of the simulated world; pair_speed, market_start and horizon (prices after it do not count) are what the bound depends on"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of what is drawn while reading (arrivals that the file does not tell)"},
	{0},
};
static const char *const examples[] = {
	"farthing bound", "the least that the bundled sample can cost",
	"farthing bound -w jobs.csv -c types.json -i interference.csv --format json", "for a workload of your own, for a script to read",
	NULL,
};
const struct fth_verb fth_verb_bound = {
	.name = "bound",
	.summary = "Prove what no policy can go below on a workload",
	.about = "A lower bound of the bill that holds for every policy, also one that knows the future: all the work is done on "
		 "machines filled as well as they can be, with tasks slowing each other down as the interference file says, and "
		 "waiting, booting and moving cost nothing. It is found by column generation with an exact search for the best "
		 "filling of each machine, and proven whatever the rounding; where that cannot be, it says that it is an "
		 "estimate, or gives none.\n\n"
		 "Beside it stand the machines of the ideal mix, and what an hour of work of each kind of task is worth there. "
		 "compare and sim print how far each run is above it.",
	.options = {options, fth_options_inputs, fth_options_interference, fth_options_market, fth_options_formats, fth_options_import,
		    fth_options_common},
	.examples = examples,
	.run = run,
};
