/* SPDX-License-Identifier: Apache-2.0 */
/* explain: why a recorded run, or a running farthingd, did what it did with a job or an instance. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "report/format.h"
#include "store/journal.h"

static int ask_daemon(const struct fth_args *a, const char *what, struct fth_str *out, struct fth_error *err)
{
	struct fth_str path = {0};
	char *part = fth_url_part(what);
	json_t *doc = NULL;
	fth_str_addf(&path, "/v1/explain/%s", part);
	int r = fth_client_ask(a, "GET", path.data, NULL, &doc, NULL, err);
	if (!r)
		fth_str_add(out, fth_text_at(doc, "text"));
	json_decref(doc);
	free(part);
	fth_str_release(&path);
	return r;
}

static void as_json(const char *what, struct fth_str *out)
{
	struct fth_str text = *out;
	*out = (struct fth_str){0};
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "about", what);
	fth_json_text(&j, "text", text.data ? text.data : "");
	fth_json_end(&j, '}');
	fth_str_release(&text);
}

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_str out = {0};
	bool live = a->operands.len == 1;
	const char *what = a->operands.data[live ? 0 : 1];
	int r = live ? ask_daemon(a, what, &out, &err) : fth_journal_explain(a->operands.data[0], what, &out, &err);
	if (!r && !strcmp(fth_args_text(a, "format"), "json"))
		as_json(what, &out);
	if (!r)
		r = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, &err);
	fth_str_release(&out);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const struct fth_operand operands[] = {
	{.name = "JOURNAL", .type = FTH_OPT_FILE, .optional = true,
	 .help = "a run recorded with --journal, or a farthingd's; without it, the running farthingd is asked"},
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
	"farthing explain etl-17", "why does the running farthingd have this job where it is?",
	NULL,
};
const struct fth_verb fth_verb_explain = {
	.name = "explain",
	.summary = "Say why a recorded run or a running farthingd did what it did with a job or an instance",
	.about = "Prints, in order, what was decided about the job or instance, each decision with the policy's reason in words and "
		 "dollars, and what came of it.",
	.operands = operands,
	.options = {options, fth_options_daemon, fth_options_common},
	.examples = examples,
	.run = run,
};
