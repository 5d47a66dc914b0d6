/* SPDX-License-Identifier: Apache-2.0 */
/* jobs, cancel: what farthingd has to do, and what it no longer has to. */
#include "cli/client.h"
#include "cli/verbs.h"

static void table(const json_t *doc)
{
	static const char *const titles[] = {"JOB", "USER", "STATE", ">TASKS", ">RUNNING", "ON", "SUBMITTED", "ENDED", ">ESTIMATE", ">EXIT", NULL};
	struct fth_columns c = {.titles = titles};
	const json_t *jobs = json_object_get(doc, "jobs");
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		const json_t *j = json_array_get(jobs, i);
		double estimate = fth_number_at(j, "estimate_s");
		fth_columns_add(&c, "%s", fth_text_at(j, "job"));
		fth_columns_add(&c, "%s", fth_text_at(j, "user"));
		fth_columns_add(&c, "%s", fth_text_at(j, "state"));
		fth_columns_add(&c, "%.0f", fth_number_at(j, "tasks"));
		fth_columns_add(&c, "%.0f", fth_number_at(j, "running"));
		fth_columns_add(&c, "%s", *fth_text_at(j, "on") ? fth_text_at(j, "on") : "-");
		fth_columns_time(&c, json_object_get(j, "submitted"));
		fth_columns_time(&c, json_object_get(j, "ended"));
		if (estimate > 0)
			fth_columns_add(&c, "%.1fs", estimate);
		else
			fth_columns_add(&c, "-");
		if (json_is_integer(json_object_get(j, "exit")))
			fth_columns_add(&c, "%.0f", fth_number_at(j, "exit"));
		else
			fth_columns_add(&c, "-");
	}
	fth_columns_print(&c);
}

static int run(struct fth_args *a)
{
	struct fth_str path = {0};
	const char *state = fth_args_given(a, "state");
	fth_str_addf(&path, "/v1/jobs%s%s", state ? "?state=" : "", state ? state : "");
	int code = fth_client_show(a, "GET", path.data, NULL, table);
	fth_str_release(&path);
	return code;
}

static const char *const states[] = {"waiting", "bound", "running", "done", "failed", "cancelled", "held", "refused", NULL};
static const struct fth_option options[] = {
	{.name = "state", .type = FTH_OPT_CHOICE, .arg = "STATE", .choices = states, .help = "only those in this state"},
	{0},
};
static const char *const examples[] = {
	"farthing jobs", "all unfinished jobs, and the last thousand that ended",
	"farthing jobs --state running --format json", "for programs",
	NULL,
};
const struct fth_verb fth_verb_jobs = {
	.name = "jobs",
	.summary = "List the jobs of a running farthingd",
	.about = "Unfinished jobs in the order of their submission, then those that ended last.",
	.options = {options, fth_options_daemon, fth_options_common},
	.examples = examples,
	.run = run,
};

static void cancelled(const json_t *doc)
{
	printf("cancelled %s\n", fth_text_at(doc, "cancelled"));
}

static int run_cancel(struct fth_args *a)
{
	int code = FTH_EXIT_OK;
	for (size_t i = 0; i < a->operands.len; i++) {
		struct fth_str path = {0};
		char *part = fth_url_part(a->operands.data[i]);
		fth_str_addf(&path, "/v1/jobs/%s/cancel", part);
		int one = fth_client_show(a, "POST", path.data, NULL, cancelled);
		code = one ? one : code;
		fth_str_release(&path);
		free(part);
	}
	return code;
}

static const struct fth_operand cancel_operands[] = {
	{.name = "JOB", .type = FTH_OPT_TEXT, .many = true, .help = "the key of a job"},
	{0},
};
static const char *const cancel_examples[] = {"farthing cancel etl-17", "end it for good", NULL};
const struct fth_verb fth_verb_cancel = {
	.name = "cancel",
	.summary = "End jobs of a running farthingd for good",
	.about = "What runs of them is killed. Everybody may cancel jobs of their own; root and farthingd's user those of all.",
	.operands = cancel_operands,
	.options = {fth_options_daemon, fth_options_common},
	.examples = cancel_examples,
	.run = run_cancel,
};
