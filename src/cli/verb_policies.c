/* SPDX-License-Identifier: Apache-2.0 */
/* policies: what policies there are, and their parameters. */
#include <jansson.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/verbs.h"
#include "policies/table.h"

static json_t *param_json(const struct fth_param *p)
{
	static const char *const types[] = {"bool", "int", "real", "duration", "choice"};
	json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "name", p->name, "type", types[p->type], "default", p->def, "help",
			      p->help);
	if (p->type == FTH_PARAM_CHOICE) {
		json_t *list = json_array();
		for (int i = 0; p->choices[i]; i++)
			json_array_append_new(list, json_string(p->choices[i]));
		json_object_set_new(o, "choices", list);
	} else if (p->type != FTH_PARAM_BOOL) {
		json_object_set_new(o, "min", json_real(p->min));
		json_object_set_new(o, "max", json_real(p->max));
	}
	return o;
}

static json_t *policy_json(const struct fth_policy_ops *ops)
{
	json_t *o = json_pack("{s:s, s:s}", "name", ops->name, "summary", ops->summary), *list = json_array();
	for (const struct fth_param *p = ops->params; p && p->name; p++)
		json_array_append_new(list, param_json(p));
	json_object_set_new(o, "yardstick", json_boolean(fth_cli_is_yardstick(ops)));
	json_object_set_new(o, "workers", json_boolean(ops->flags & FTH_POLICY_WANTS_WORKERS));
	json_object_set_new(o, "containers", json_boolean(ops->flags & FTH_POLICY_WANTS_CONTAINERS));
	json_object_set_new(o, "params", list);
	return o;
}

static void print_json(const struct fth_policy_ops *const *list)
{
	json_t *all = json_array();
	for (; *list; list++)
		json_array_append_new(all, policy_json(*list));
	json_t *doc = json_pack("{s:s, s:o}", "schema", "farthing.policies/1", "policies", all);
	json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(doc);
}

static void print_list(const struct fth_policy_ops *const *list)
{
	for (; *list; list++)
		printf("%-20s %s%s%s%s\n", (*list)->name, (*list)->summary,
		       fth_cli_is_yardstick(*list) ? " (a yardstick: compare runs it only if named)" : "",
		       (*list)->flags & FTH_POLICY_WANTS_WORKERS ? " (with --workers)" : "",
		       (*list)->flags & FTH_POLICY_WANTS_CONTAINERS ? " (compare runs it only if named)" : "");
	puts("\n'farthing policies NAME' shows a policy's parameters.");
}

static void print_one(const struct fth_policy_ops *ops)
{
	struct fth_str out = {0};
	fth_str_addf(&out, "%s: %s\n", ops->name, ops->summary);
	if (!ops->params || !ops->params->name)
		fth_str_add(&out, "\nIt has no parameters.\n");
	else
		fth_str_addf(&out, "\nParameters, as --policy %s:key=value,key=value:\n", ops->name);
	for (const struct fth_param *p = ops->params; p && p->name; p++) {
		struct fth_str value = {0};
		fth_help_param(&value, p);
		fth_str_addf(&out, "  %s (%s)\n      ", p->name, value.data);
		fth_help_wrap(&out, p->help, 6, 6, 90);
		fth_str_release(&value);
	}
	fputs(out.data, stdout);
	fth_str_release(&out);
}

static int run_policies(struct fth_args *a)
{
	struct fth_error err = {0};
	bool json = !strcmp(fth_args_text(a, "format"), "json");
	if (!a->operands.len) {
		if (json)
			print_json(fth_policies);
		else
			print_list(fth_policies);
		return FTH_EXIT_OK;
	}
	for (size_t i = 0; i < a->operands.len; i++) {
		struct fth_policy_choice c;
		if (fth_cli_policy(&c, a->operands.data[i], &err))
			return fth_cli_fail(&err);
		const struct fth_policy_ops *one[] = {c.ops, NULL};
		if (json)
			print_json(one);
		else
			print_one(c.ops);
		fth_policy_choice_release(&c);
	}
	return FTH_EXIT_OK;
}

static const struct fth_operand operands[] = {
	{.name = "NAME", .type = FTH_OPT_POLICY, .optional = true, .many = true,
	 .help = "a policy, or the file of an out-of-tree one, whose parameters to show"},
	{0},
};
static const char *const formats[] = {"table", "json", NULL};
static const struct fth_option options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to print it"},
	{0},
};
static const char *const examples[] = {
	"farthing policies", "list them",
	"farthing policies eva", "the parameters of one, with type, range, default and meaning",
	NULL,
};
const struct fth_verb fth_verb_policies = {
	.name = "policies",
	.summary = "List the policies, or show the parameters of one",
	.about = "A policy decides which machines to rent, what runs where, when to move it and when to let a machine go. "
		 "Parameters are given with the policy: --policy eva:round=300s. A policy of your own is a shared object, "
		 "given as a path: --policy ./my_policy.so; farthing-policy(7) tells how to write one.",
	.operands = operands,
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run_policies,
};
