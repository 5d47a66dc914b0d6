/* SPDX-License-Identifier: Apache-2.0 */
/* replay: does the policy, told the same, answer the same? */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "policies/table.h"
#include "report/format.h"
#include "store/journal.h"

static void add_json(const struct fth_replay *r, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.replay/1");
	fth_json_text(&j, "policy", r->policy);
	fth_json_bool(&j, "same", r->same);
	fth_json_int(&j, "jobs", (int64_t)r->submits);
	fth_json_int(&j, "events", (int64_t)r->events);
	fth_json_int(&j, "rounds", (int64_t)r->rounds);
	fth_json_int(&j, "actions", (int64_t)r->actions);
	fth_json_usd(&j, "cost_usd", r->cost);
	if (!r->same) {
		fth_json_int(&j, "line", (int64_t)r->line);
		fth_json_text(&j, "recorded", r->recorded);
		fth_json_text(&j, "again", r->again);
	}
	fth_json_end(&j, '}');
	fth_str_addc(out, '\n');
}

static void add_text(const struct fth_replay *r, const char *path, struct fth_str *out)
{
	struct fth_str cost = {0};
	fth_human_usd(&cost, fth_usd(r->cost), 2);
	if (r->same)
		fth_str_addf(out, "The same: %s, %llu jobs, %llu events, %llu rounds, %llu actions, %s.\n", r->policy,
			     (unsigned long long)r->submits, (unsigned long long)r->events,
			     (unsigned long long)r->rounds, (unsigned long long)r->actions, cost.data);
	else
		fth_str_addf(out, "%s:%llu: differs under %s\n  recorded: %s\n  now:      %s\n", path,
			     (unsigned long long)r->line, r->policy, r->recorded, r->again);
	fth_str_release(&cost);
}

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_replay r = {0};
	struct fth_str out = {0};
	const char *path = a->operands.data[0];
	if (fth_journal_replay(path, fth_policies, &r, &err))
		return fth_cli_fail(&err);
	if (!strcmp(fth_args_text(a, "format"), "json"))
		add_json(&r, &out);
	else
		add_text(&r, path, &out);
	int e = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, &err);
	fth_str_release(&out);
	if (e)
		return fth_cli_fail(&err);
	return r.same ? FTH_EXIT_OK : FTH_EXIT_FAILED;
}

static const struct fth_operand operands[] = {
	{.name = "JOURNAL", .type = FTH_OPT_FILE, .help = "a run recorded with --journal; plain, gzip or zstd"},
	{0},
};
static const char *const formats[] = {"table", "json", NULL};
static const struct fth_option options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the result"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the result; a file appears whole or not at all"},
	{0},
};
static const char *const examples[] = {
	"farthing sim --policy eva --journal run.journal.zst && farthing replay run.journal.zst",
	"record a run, and see that the policy decides the same again",
	NULL,
};
const struct fth_verb fth_verb_replay = {
	.name = "replay",
	.summary = "Feed a recorded run to its policy again and see that it decides the same",
	.about = "The journal holds the world, every event and every decision. The events are fed to the policy without the "
		 "simulator; each plan must come out as recorded, to the byte. If one does not, the first line that differs "
		 "is shown and the exit code is 1.",
	.operands = operands,
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
