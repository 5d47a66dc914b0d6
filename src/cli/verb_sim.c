/* SPDX-License-Identifier: Apache-2.0 */
/* sim: one policy in detail. */
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/verbs.h"

static void table(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out)
{
	(void)width; /* one run is written as lines, not columns */
	fth_comparison_table_one(c, 0, colour, out);
}

static int run(struct fth_args *a)
{
	return fth_results_run(a, 1, table, fth_comparison_json_one);
}

static const struct fth_option options[] = {
	{.name = "policy", .letter = 'p', .type = FTH_OPT_POLICY, .arg = "NAME[:KEY=VALUE,...]", .def = "farthing",
	 .help = "the policy to run, with parameters; a path with '/' loads one of your own"},
	{0},
};
static const char *const examples[] = {
	"farthing sim --jobs-csv jobs.csv", "one policy, farthing unless another is named, on the bundled sample, and what became of each job",
	"farthing sim --journal run.journal && farthing explain run.journal i12",
	"why was instance 12 rented, and why did it go?",
	NULL,
};
const struct fth_verb fth_verb_sim = {
	.name = "sim",
	.summary = "Replay a workload under one policy, in detail",
	.about = "What compare does, for one policy, with all that is known of the run: where time and money went, what was "
		 "refused and why, what the policy itself noted.",
	.options = {options, fth_options_inputs, fth_options_interference, fth_options_market, fth_options_formats, fth_options_import,
		    fth_options_runs, fth_options_results, fth_options_common},
	.examples = examples,
	.run = run,
};
