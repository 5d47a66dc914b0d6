/* SPDX-License-Identifier: Apache-2.0 */
/* explain: why a recorded run did what it did with a job or an instance. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "store/journal.h"

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_str out = {0};
	int r = fth_journal_explain(a->operands.data[0], a->operands.data[1], &out, &err);
	if (!r)
		r = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, &err);
	fth_str_release(&out);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const struct fth_operand operands[] = {
	{.name = "JOURNAL", .type = FTH_OPT_FILE, .help = "a run recorded with --journal; plain, gzip or zstd"},
	{.name = "JOB|INSTANCE", .type = FTH_OPT_TEXT, .help = "the key of a job, or an instance as i12"},
	{0},
};
static const struct fth_option options[] = {
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the result; a file appears whole or not at all"},
	{0},
};
static const char *const examples[] = {
	"farthing sim --policy eva --journal run.journal && farthing explain run.journal i12",
	"why was instance 12 rented, what ran on it, why did it go, and what did it cost?",
	NULL,
};
const struct fth_verb fth_verb_explain = {
	.name = "explain",
	.summary = "Say why a recorded run did what it did with a job or an instance",
	.about = "Prints, in order, what was decided about the job or instance, each decision with the policy's reason in words and "
		 "dollars, and what came of it.",
	.operands = operands,
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
