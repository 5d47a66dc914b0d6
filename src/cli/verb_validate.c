/* SPDX-License-Identifier: Apache-2.0 */
/* validate: read files whole and say what they are, or where they are wrong. */
#include "cli/cli.h"
#include "cli/verbs.h"

static int run(struct fth_args *a)
{
	int code = FTH_EXIT_OK;
	enum fth_format f = FTH_FORMAT_AUTO;
	const char *from = fth_args_given(a, "from");
	for (int c = FTH_CONTENT_WORKLOAD; from && c <= FTH_CONTENT_MARKET; c++)
		if (!fth_format_find(from, (enum fth_content)c, &f))
			break;
	for (size_t i = 0; i < a->operands.len; i++) {
		struct fth_error err = {0};
		struct fth_str summary = {0};
		if (fth_validate(a->operands.data[i], f, &summary, &err)) {
			int one = fth_cli_fail(&err);
			code = FTH_MAX(code, one);
		} else if (!fth_args_flag(a, "quiet")) {
			fputs(summary.data, stdout);
		}
		fth_str_release(&summary);
	}
	return code;
}

static const struct fth_operand operands[] = {
	{.name = "FILE", .type = FTH_OPT_FILE, .many = true, .help = "workloads, catalogs, interference or market files"},
	{0},
};
static const struct fth_option options[] = {
	{.name = "from", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content", .nth_choice = fth_cli_nth_format,
	 .help = "format of the files"},
	{0},
};
static const char *const examples[] = {
	"farthing validate jobs.fw catalog.fc", "exit code 0 if both are right, else 2 with file and line",
	NULL,
};
const struct fth_verb fth_verb_validate = {
	.name = "validate",
	.summary = "Check files, and say what they hold",
	.about = "Reads each file whole, plain or compressed, as a run would. Of a file that is right it prints a short summary; of "
		 "one that is wrong, the line and why.",
	.operands = operands,
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
