/* SPDX-License-Identifier: Apache-2.0 */
/* generate: a workload of our own making. */
#include "cli/cli.h"
#include "cli/verbs.h"
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

static int generate(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	struct fth_generate_params p = {0};
	int r = read_params(a, &p, err);
	if (!r)
		r = fth_generate(&w->workload, &p, err);
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

static const struct fth_option options[] = {
	{.name = "set", .type = FTH_OPT_SETTING, .many = true, .arg = "KEY=VALUE", .params = fth_generate_param_table,
	 .help = "a parameter of the generator"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write; .gz and .zst are compressed, and a file appears whole or not at all"},
	{0},
};
static const char *const examples[] = {
	"farthing generate --jobs 1000 --arrivals diurnal --seed 3 --out jobs.fw", "a thousand jobs with quiet nights",
	"farthing generate --jobs 500 | farthing compare --workload -", "a workload made and run at once",
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
