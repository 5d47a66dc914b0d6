/* SPDX-License-Identifier: Apache-2.0 */
/* compare: the same workload under several policies, side by side. */
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/verbs.h"

static int run(struct fth_args *a)
{
	return fth_results_run(a, (unsigned)fth_args_int(a, "jobs"), fth_comparison_table, fth_comparison_json);
}

static const struct fth_option options[] = {
	{.name = "policy", .letter = 'p', .type = FTH_OPT_POLICY, .many = true, .arg = "NAME[:KEY=VALUE,...]",
	 .def = "every built-in policy but the yardsticks", .help = "a policy to run, with parameters; a path with '/' loads one of your own"},
	{.name = "jobs", .letter = 'j', .type = FTH_OPT_INT, .arg = "N", .def = "number of cores", .min = 1, .max = 1024,
	 .help = "how many policies to run at a time"},
	{0},
};
static const char *const examples[] = {
	"farthing compare", "every policy on the bundled sample",
	"farthing compare -w jobs.csv -c types.json -p no-packing -p eva:round=300s --html report.html",
	"two policies on a workload of your own, with a report to send around",
	"farthing compare --policy ./my_policy.so:depth=3 --format json --out result.json",
	"a policy of your own, for a script to read",
	NULL,
};
const struct fth_verb fth_verb_compare = {
	.name = "compare",
	.summary = "Replay a workload under several policies and compare what they cost",
	.about = "Each policy runs the whole workload on the simulated cloud in a process of its own; one that crashes is "
		 "reported, and the others stand. The same inputs and seed give the same result, whatever --jobs is.\n\n"
		 "Files are recognised by content; see farthing-formats(5). Money is counted to the nano-dollar.",
	.options = {options, fth_options_inputs, fth_options_interference, fth_options_market, fth_options_formats, fth_options_import,
		    fth_options_runs, fth_options_results, fth_options_common},
	.examples = examples,
	.run = run,
};
