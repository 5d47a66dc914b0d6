/* SPDX-License-Identifier: Apache-2.0 */
/* instances, drain, pause, resume: the machines of a running farthingd, and an operator's orders. */
#include "cli/client.h"
#include "cli/verbs.h"

static void table(const json_t *doc)
{
	static const char *const titles[] = {"INSTANCE", "NODE", "OFFER", "STATE", ">TASKS", ">USED", ">$/HOUR", ">COST", "READY", NULL};
	struct fth_columns c = {.titles = titles};
	const json_t *list = json_object_get(doc, "instances");
	for (size_t n = 0; n < json_array_size(list); n++) {
		const json_t *i = json_array_get(list, n);
		fth_columns_add(&c, "%s", fth_text_at(i, "instance"));
		fth_columns_add(&c, "%s", fth_text_at(i, "node"));
		fth_columns_add(&c, "%s", fth_text_at(i, "offer"));
		fth_columns_add(&c, "%s%s", fth_text_at(i, "state"), json_is_true(json_object_get(i, "revoked")) ? " (revoked)" : "");
		fth_columns_add(&c, "%.0f", fth_number_at(i, "tasks"));
		fth_columns_add(&c, "%.0f%%", 100 * fth_number_at(i, "used"));
		fth_columns_add(&c, "%.4f", fth_number_at(i, "usd_per_hour"));
		fth_columns_add(&c, "$%.6f", fth_number_at(i, "accrued"));
		fth_columns_time(&c, json_object_get(i, "ready"));
	}
	fth_columns_print(&c);
}

static int run(struct fth_args *a)
{
	return fth_client_show(a, "GET", "/v1/instances", NULL, table);
}

static const char *const examples[] = {"farthing instances", "what is rented now, what is on it, what it costs", NULL};
const struct fth_verb fth_verb_instances = {
	.name = "instances",
	.summary = "List the instances of a running farthingd",
	.about = "All that are not gone. USED is the share of the resource of which most is taken.",
	.options = {fth_options_daemon, fth_options_common},
	.examples = examples,
	.run = run,
};

static void drained(const json_t *doc)
{
	const json_t *n = json_object_get(doc, "draining");
	if (json_is_integer(n))
		printf("draining %lld instances; paused: 'farthing resume' goes on\n", (long long)json_integer_value(n));
	else
		printf("draining %s\n", fth_text_at(doc, "draining"));
}

static int run_drain(struct fth_args *a)
{
	int code = FTH_EXIT_OK;
	if (fth_args_flag(a, "all") == (a->operands.len > 0)) {
		fth_cli_error("drain: name instances, or say --all");
		return FTH_EXIT_USAGE;
	}
	if (fth_args_flag(a, "all"))
		return fth_client_show(a, "POST", "/v1/drain", NULL, drained);
	for (size_t i = 0; i < a->operands.len; i++) {
		struct fth_str path = {0};
		char *part = fth_url_part(a->operands.data[i]);
		fth_str_addf(&path, "/v1/instances/%s/drain", part);
		int one = fth_client_show(a, "POST", path.data, NULL, drained);
		code = one ? one : code;
		fth_str_release(&path);
		free(part);
	}
	return code;
}

static const struct fth_operand drain_operands[] = {
	{.name = "INSTANCE", .type = FTH_OPT_TEXT, .optional = true, .many = true, .help = "an instance, as i12"},
	{0},
};
static const struct fth_option drain_options[] = {
	{.name = "all", .type = FTH_OPT_FLAG, .help = "every instance; and pause, so that no new one is rented"},
	{0},
};
static const char *const drain_examples[] = {
	"farthing drain i3", "let it go when what runs on it has ended",
	"farthing drain --all", "let the cluster run empty",
	NULL,
};
const struct fth_verb fth_verb_drain = {
	.name = "drain",
	.summary = "Let instances of a running farthingd go when they are empty",
	.about = "A drained instance takes no new task, and goes when its last one has ended. For root and farthingd's own user.",
	.operands = drain_operands,
	.options = {drain_options, fth_options_daemon, fth_options_common},
	.examples = drain_examples,
	.run = run_drain,
};

static void state(const json_t *doc)
{
	printf("%s\n", fth_text_at(doc, "state"));
}

static int run_pause(struct fth_args *a)
{
	return fth_client_show(a, "POST", "/v1/pause", NULL, state);
}

static int run_resume(struct fth_args *a)
{
	return fth_client_show(a, "POST", "/v1/resume", NULL, state);
}

static const char *const pause_examples[] = {"farthing pause", "decide nothing for now", NULL};
const struct fth_verb fth_verb_pause = {
	.name = "pause",
	.summary = "Let a running farthingd decide nothing for now",
	.about = "What runs goes on, what was decided is carried out; nothing new is rented, placed or let go until 'farthing resume'. It holds over "
		 "a restart. For root and farthingd's own user.",
	.options = {fth_options_daemon, fth_options_common},
	.examples = pause_examples,
	.run = run_pause,
};
static const char *const resume_examples[] = {"farthing resume", "decide again", NULL};
const struct fth_verb fth_verb_resume = {
	.name = "resume",
	.summary = "Let a paused farthingd decide again",
	.about = "Undoes 'farthing pause', and the pause of 'farthing drain --all'.",
	.options = {fth_options_daemon, fth_options_common},
	.examples = resume_examples,
	.run = run_resume,
};
