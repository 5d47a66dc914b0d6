/* SPDX-License-Identifier: Apache-2.0 */
/* submit: hand a job to farthingd. */
#include <unistd.h>

#include "cli/client.h"
#include "cli/verbs.h"

static int read_spec(const char *path, json_t **ret, struct fth_error *err)
{
	json_error_t bad;
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!f)
		return fth_fail(err, -errno, "%s: %s", path, strerror(errno));
	*ret = json_loadf(f, JSON_REJECT_DUPLICATES, &bad);
	if (f != stdin)
		fclose(f);
	if (!json_is_object(*ret)) {
		json_decref(*ret);
		return fth_fail_at(err, -EINVAL, path, *ret ? 1 : (uint64_t)FTH_MAX(bad.line, 1), "%s", *ret ? "a JSON object is needed" : bad.text);
	}
	return 0;
}

/* One word is for the shell, several are a program with its arguments. */
static void set_command(const struct fth_args *a, json_t *spec)
{
	if (a->operands.len == 1) {
		json_object_set_new(spec, "command", json_string(a->operands.data[0]));
	} else if (a->operands.len > 1) {
		json_t *argv = json_array();
		for (size_t i = 0; i < a->operands.len; i++)
			json_array_append_new(argv, json_string(a->operands.data[i]));
		json_object_set_new(spec, "command", argv);
	}
}

static int set_env(const struct fth_args *a, json_t *spec, struct fth_error *err)
{
	size_t pos = 0;
	json_t *env = json_object_get(spec, "env");
	for (const char *v; (v = fth_args_each(a, "env", &pos));) {
		const char *equals = strchr(v, '=');
		if (!equals || equals == v)
			return fth_fail(err, -EINVAL, "--env %s: NAME=VALUE is needed", v);
		if (!env) {
			env = json_object();
			json_object_set_new(spec, "env", env);
		}
		char *name = fth_strndup(v, (size_t)(equals - v));
		json_object_set_new(env, name, json_string(equals + 1));
		free(name);
	}
	return 0;
}

static int make_spec(const struct fth_args *a, json_t **ret, struct fth_error *err)
{
	static const char *const texts[] = {"key", "name", "kind", "estimate", "limit", "class", "cwd", "checkpoint", "grace"};
	const char *path = fth_args_given(a, "file"), *demand = fth_args_given(a, "demand"), *count = fth_args_given(a, "tasks");
	json_t *spec = NULL;
	int r = path ? read_spec(path, &spec, err) : 0;
	if (r)
		return r;
	spec = spec ? spec : json_object();
	*ret = spec;
	for (size_t i = 0; i < FTH_COUNT(texts); i++)
		if (fth_args_given(a, texts[i]))
			json_object_set_new(spec, texts[i], json_string(fth_args_given(a, texts[i])));
	if (fth_args_given(a, "priority"))
		json_object_set_new(spec, "priority", json_integer(fth_args_int(a, "priority")));
	if (demand || count || !json_object_get(spec, "tasks"))
		json_object_set_new(spec, "tasks", json_pack("[{s:I, s:s}]", "count", (json_int_t)fth_args_int(a, "tasks"), "demand",
							     fth_args_text(a, "demand")));
	if (!json_object_get(spec, "cwd")) {
		char *here = getcwd(NULL, 0);
		json_object_set_new(spec, "cwd", json_string(here ? here : "/"));
		free(here);
	}
	set_command(a, spec);
	if (!json_object_get(spec, "command"))
		return fth_fail(err, -EINVAL, "submit: what is to run? A command is needed, or --file");
	return set_env(a, spec, err);
}

/* Its exit code once it has ended. */
static int await_job(const struct fth_args *a, const char *key, struct fth_error *err)
{
	char *part = fth_url_part(key);
	struct fth_str path = {0};
	int code = -1;
	fth_str_addf(&path, "/v1/jobs/%s", part);
	free(part);
	while (code < 0) {
		json_t *doc = NULL;
		int r = fth_client_ask(a, "GET", path.data, NULL, &doc, NULL, err);
		if (r && r != -ENOENT) /* it may not have been looked at yet */
			code = fth_cli_fail(err);
		const json_t *job = json_object_get(doc, "job");
		if (json_is_integer(json_object_get(job, "exit")))
			code = !strcmp(fth_text_at(job, "state"), "cancelled") ? FTH_EXIT_INTERRUPTED : (int)json_integer_value(json_object_get(job, "exit"));
		json_decref(doc);
		if (code < 0)
			usleep(200000);
	}
	fth_str_release(&path);
	return code;
}

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_str text = {0};
	json_t *spec = NULL, *doc = NULL;
	int r = make_spec(a, &spec, &err), code = FTH_EXIT_OK;
	if (!r)
		r = fth_client_ask(a, "POST", "/v1/jobs", spec, &doc, &text, &err);
	if (r)
		code = fth_cli_fail(&err);
	else if (!strcmp(fth_args_text(a, "format"), "json"))
		fputs(text.data, stdout);
	else
		printf("%s\n", fth_text_at(doc, "job"));
	if (!r && fth_args_flag(a, "wait")) {
		fflush(stdout);
		code = await_job(a, fth_text_at(doc, "job"), &err);
	}
	json_decref(spec);
	json_decref(doc);
	fth_str_release(&text);
	return code;
}

static const struct fth_operand operands[] = {
	{.name = "COMMAND", .type = FTH_OPT_TEXT, .optional = true, .many = true,
	 .help = "one word: a line for the shell; several: a program with its arguments (after --)"},
	{0},
};
static const char *const kinds[] = {"independent", "coupled", "rigid", "service", NULL};
static const struct fth_option options[] = {
	{.name = "name", .letter = 'n', .type = FTH_OPT_TEXT, .arg = "NAME", .help = "what jobs like this are called: runtimes are learnt by it"},
	{.name = "demand", .letter = 'd', .type = FTH_OPT_TEXT, .arg = "DEMAND", .def = "cpu:1", .help = "what each task needs, as in cpu:2,mem:4GiB,gpu:1"},
	{.name = "tasks", .letter = 't', .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 1, .max = 100000, .help = "how many tasks it has"},
	{.name = "kind", .type = FTH_OPT_CHOICE, .arg = "KIND", .def = "independent", .choices = kinds, .help = "how its tasks belong together"},
	{.name = "estimate", .type = FTH_OPT_TEXT, .arg = "TIME", .help = "how long it will run, as in 20m; else guessed from jobs like it"},
	{.name = "limit", .type = FTH_OPT_TEXT, .arg = "TIME", .help = "end it when it has run for so long"},
	{.name = "priority", .type = FTH_OPT_INT, .arg = "N", .def = "0", .min = -2147483647, .max = 2147483647, .help = "greater goes first"},
	{.name = "class", .type = FTH_OPT_TEXT, .arg = "CLASS", .help = "workload class, for interference"},
	{.name = "env", .letter = 'e', .type = FTH_OPT_TEXT, .many = true, .arg = "NAME=VALUE", .help = "set this in its environment"},
	{.name = "cwd", .type = FTH_OPT_DIR, .arg = "DIR", .def = "the present one", .help = "where it runs"},
	{.name = "checkpoint", .type = FTH_OPT_TEXT, .arg = "COMMAND", .help = "run this before it is stopped to be moved"},
	{.name = "grace", .type = FTH_OPT_TEXT, .arg = "TIME", .help = "how long it may take to stop"},
	{.name = "key", .type = FTH_OPT_TEXT, .arg = "KEY", .help = "its own name; the same key again is the same job, so that submitting can be repeated"},
	{.name = "file", .type = FTH_OPT_FILE, .arg = "FILE", .help = "the job as a JSON object (- is standard input); options add to it"},
	{.name = "wait", .letter = 'w', .type = FTH_OPT_FLAG, .help = "wait until it has ended; the exit code is its own"},
	{0},
};
static const char *const examples[] = {
	"farthing submit --demand cpu:2,mem:4GiB --limit 1h 'make -j2 all'", "a line for the shell",
	"farthing submit --wait -- python3 train.py --epochs 3", "a program with its arguments; wait for it",
	NULL,
};
const struct fth_verb fth_verb_submit = {
	.name = "submit",
	.summary = "Hand a job to farthingd",
	.about = "Prints the key of the job. It runs when and where the policy of the running farthingd decides; its output is kept by the workload driver "
		 "(docs/daemon.md). It runs as the user who submits it.",
	.operands = operands,
	.options = {options, fth_options_daemon, fth_options_common},
	.examples = examples,
	.run = run,
};
