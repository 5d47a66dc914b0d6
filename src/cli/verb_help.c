/* SPDX-License-Identifier: Apache-2.0 */
/* help, version, completion: what the program says of itself. */
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/verbs.h"

static int print(struct fth_str *s)
{
	fputs(s->data ? s->data : "", stdout);
	fth_str_release(s);
	return FTH_EXIT_OK;
}

static unsigned text_width(void)
{
	unsigned width = fth_cli_width();
	return width < 60 ? 80 : FTH_MIN(width, 100u);
}

/* ---- help ---- */

static int run_help(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_str out = {0};
	const struct fth_verb *v = NULL;
	int words = 0;
	if (a->operands.len) {
		v = fth_verb_find((int)a->operands.len, (char **)a->operands.data, &words, &err);
		if (!v)
			return fth_cli_fail(&err);
		if ((size_t)words < a->operands.len) {
			fth_cli_error("help: '%s' is one word too many", a->operands.data[words]);
			return FTH_EXIT_USAGE;
		}
	}
	if (fth_args_flag(a, "man"))
		fth_help_man(&out, v);
	else if (fth_args_flag(a, "markdown"))
		fth_help_markdown(&out);
	else
		fth_help_text(&out, v, text_width());
	return print(&out);
}

static const struct fth_operand help_operands[] = {
	{.name = "VERB", .optional = true, .many = true, .help = "the verb to tell of; without it, all in brief"},
	{0},
};
static const struct fth_option help_options[] = {
	{.name = "man", .type = FTH_OPT_FLAG, .help = "print the man page in mdoc"},
	{.name = "markdown", .type = FTH_OPT_FLAG, .help = "print the reference of all verbs as Markdown"},
	{0},
};
const struct fth_verb fth_verb_help = {
	.name = "help",
	.summary = "Tell what the verbs and their options do",
	.about = "The same text as VERB --help. The man pages, docs/cli.md and the shell completions are made from the same "
		 "tables.",
	.operands = help_operands,
	.options = {help_options, fth_options_common},
	.run = run_help,
};

/* ---- version ---- */

static int run_version(struct fth_args *a)
{
	if (!strcmp(fth_args_text(a, "format"), "json"))
		printf("{\"schema\":\"farthing.version/1\",\"version\":\"%s\",\"policy_abi\":%d}\n", FTH_VERSION,
		       FTH_POLICY_ABI);
	else
		puts(FTH_VERSION_TEXT);
	return FTH_EXIT_OK;
}

static const char *const version_formats[] = {"table", "json", NULL};
static const struct fth_option version_options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table",
	 .choices = version_formats, .help = "how to print it"},
	{0},
};
const struct fth_verb fth_verb_version = {
	.name = "version",
	.summary = "Print the version",
	.about = "With --format json also the version of the policy interface, which a loaded policy must have been "
		 "built for.",
	.options = {version_options, fth_options_common},
	.run = run_version,
};

/* ---- completion ---- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int run_completion(struct fth_args *a)
{
	struct fth_str out = {0};
	for (int i = 0; shells[i]; i++)
		if (!strcmp(shells[i], a->operands.data[0])) {
			fth_help_completion(&out, shells[i]);
			return print(&out);
		}
	fth_cli_error("completion: no script for '%s'; there are bash, zsh and fish", a->operands.data[0]);
	return FTH_EXIT_USAGE;
}

static const struct fth_operand completion_operands[] = {
	{.name = "SHELL", .type = FTH_OPT_CHOICE, .choices = shells, .help = "the shell to print a script for"},
	{0},
};
static const char *const completion_examples[] = {
	"source <(farthing completion bash)", "complete in this bash session",
	NULL,
};
const struct fth_verb fth_verb_completion = {
	.name = "completion",
	.summary = "Print a completion script for a shell",
	.about = "'make install' puts the scripts where the shells look for them; this is for everyone else.",
	.operands = completion_operands,
	.options = {fth_options_common},
	.examples = completion_examples,
	.run = run_completion,
};
