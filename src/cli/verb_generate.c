/* SPDX-License-Identifier: Apache-2.0 */
/* generate: a workload of our own making. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "trace/batch.h"
#include "trace/generate.h"

static int read_params(const struct fth_args *a, struct fth_generate_params *p, struct fth_error *err)
{
	size_t pos = 0;
	const char *text;
	fth_params_defaults(fth_generate_param_table, p);
	while ((text = fth_args_each(a, "set", &pos))) {
		const char *eq = strchr(text, '=');
		int r = fth_params_set(fth_generate_param_table, p, "generate", text, (size_t)(eq - text), eq + 1,
				       strlen(eq + 1), err);
		if (r)
			return r;
	}
	return 0;
}

static int write_workload(void *arg, struct fth_output *o, struct fth_error *err)
{
	return fth_write_workload(arg, o, err);
}

/* ---- like those that Stratus was measured on ---- */

static int check_like(const struct fth_args *a, bool google, struct fth_error *err)
{
	size_t pos = 0;
	const char *text;
	while ((text = fth_args_each(a, "set", &pos)))
		if (strncmp(text, "seed=", 5))
			return fth_fail(err, -EINVAL, "--like takes its jobs as they are: of the generator's parameters only seed, not '%.60s'",
					text);
	if (google != (fth_args_given(a, "runtimes") != NULL))
		return fth_fail(err, -EINVAL, google ? "--like google needs --runtimes: the file that its jobs are drawn from"
						     : "--runtimes is for --like google");
	return 0;
}

static int make_like(const struct fth_args *a, const char *like, uint64_t seed, struct fth_workload *w, struct fth_error *err)
{
	bool google = !strcmp(like, "google");
	int64_t rate = fth_args_int(a, "rate");
	struct fth_batch_options o = {.jobs_per_hour = rate ? (double)rate : google ? 965 : 60,
				      .length = fth_args_int(a, "hours") * FTH_HOUR,
				      .seed = seed,
				      .spread = 0.1};
	struct fth_input *in;
	int r = check_like(a, google, err);
	if (r)
		return r;
	if (!google) {
		fth_twosigma_like(w, &o);
		return 0;
	}
	r = fth_input_open(&in, fth_args_given(a, "runtimes"), err);
	if (r)
		return r;
	r = fth_google_like(w, in, &o, err);
	fth_input_close(in);
	return r;
}

static int generate(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	struct fth_generate_params p = {0};
	const char *like = fth_args_given(a, "like");
	int r = read_params(a, &p, err);
	if (!r && !like && fth_args_given(a, "runtimes"))
		r = fth_fail(err, -EINVAL, "--runtimes is for --like google");
	if (!r)
		r = like ? make_like(a, like, (uint64_t)p.seed, &w->workload, err) : fth_generate(&w->workload, &p, err);
	if (!r)
		r = fth_cli_produce(fth_args_given(a, "out"), write_workload, &w->workload, err);
	return r;
}

static int run(struct fth_args *a)
{
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = generate(a, &w, &err);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const kinds[] = {"google", "twosigma", NULL};
static const struct fth_option options[] = {
	{.name = "like", .type = FTH_OPT_CHOICE, .arg = "KIND", .choices = kinds,
	 .help = "a window of many short tasks, as 'repro stratus' runs: google (CPU constrains) or twosigma (longer, larger in memory); "
		 "its windows of seed 1 are the seeds 101, 102, ..."},
	{.name = "runtimes", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "with --like google: jobs to draw from, lines of 'arrival tasks mean runtime...' in seconds (the first 75 are "
		 "left out: they ran when the trace began)"},
	{.name = "hours", .type = FTH_OPT_INT, .arg = "N", .def = "24", .min = 1, .max = 8760,
	 .help = "with --like: length of the window; jobs that would end after it are left out"},
	{.name = "rate", .type = FTH_OPT_INT, .arg = "N", .def = "0", .min = 0, .max = 1000000,
	 .help = "with --like: jobs an hour; 0: 965 for google, 60 for twosigma"},
	{.name = "set", .type = FTH_OPT_SETTING, .many = true, .arg = "KEY=VALUE", .params = fth_generate_param_table,
	 .help = "a parameter of the generator"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write; .gz and .zst are compressed, and a file appears whole or not at all"},
	{0},
};
static const char *const examples[] = {
	"farthing generate --jobs 1000 --arrivals diurnal --seed 3 --out jobs.fw", "a thousand jobs with quiet nights",
	"farthing generate --jobs 500 | farthing compare --workload -", "a workload made and run at once",
	"farthing generate --like twosigma --seed 101 --out day.fw", "the first day of 'repro stratus'",
	NULL,
};
const struct fth_verb fth_verb_generate = {
	.name = "generate",
	.summary = "Make a workload",
	.about = "Draws arrivals, durations and demands of jobs and writes them in the canonical form. The same parameters give "
		 "the same bytes on every machine.",
	.options = {options, fth_options_common},
	.spread = "set",
	.examples = examples,
	.run = run,
};
