/* SPDX-License-Identifier: Apache-2.0 */
/* bill: what a running farthingd has spent, on whom and for what. */
#include "cli/client.h"
#include "cli/verbs.h"

static double percent(const json_t *doc, const char *key)
{
	double total = fth_number_at(doc, "total");
	return total > 0 ? 100 * fth_number_at(doc, key) / total : 0;
}

static void users_table(const json_t *doc)
{
	static const char *const titles[] = {"USER", ">JOBS", ">USED", ">LOST", NULL};
	struct fth_columns c = {.titles = titles};
	const json_t *list = json_object_get(doc, "users");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *u = json_array_get(list, i);
		fth_columns_add(&c, "%s", fth_text_at(u, "user"));
		fth_columns_add(&c, "%.0f", fth_number_at(u, "jobs"));
		fth_columns_add(&c, "$%.6f", fth_number_at(u, "used"));
		fth_columns_add(&c, "$%.6f", fth_number_at(u, "lost"));
	}
	fth_columns_print(&c);
}

static void jobs_table(const json_t *doc)
{
	static const char *const titles[] = {"JOB", "USER", ">RAN", ">USED", ">LOST", NULL};
	struct fth_columns c = {.titles = titles};
	const json_t *list = json_object_get(doc, "jobs");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *j = json_array_get(list, i);
		fth_columns_add(&c, "%s", fth_text_at(j, "job"));
		fth_columns_add(&c, "%s", fth_text_at(j, "user"));
		fth_columns_add(&c, "%.1fs", fth_number_at(j, "ran_s"));
		fth_columns_add(&c, "$%.6f", fth_number_at(j, "used"));
		fth_columns_add(&c, "$%.6f", fth_number_at(j, "lost"));
	}
	fth_columns_print(&c);
}

static void instances_table(const json_t *doc)
{
	static const char *const titles[] = {"INSTANCE", "OFFER", ">UP", ">COST", ">USED", ">LOST", ">BOOT", ">IDLE", ">FRAGMENTED", NULL};
	static const char *const parts[] = {"total", "used", "lost", "boot", "idle", "fragmented"};
	struct fth_columns c = {.titles = titles};
	const json_t *list = json_object_get(doc, "instances");
	for (size_t n = 0; n < json_array_size(list); n++) {
		const json_t *i = json_array_get(list, n);
		double from = fth_number_at(i, "acquired"), to = json_is_integer(json_object_get(i, "gone")) ? fth_number_at(i, "gone") : fth_number_at(doc, "at");
		fth_columns_add(&c, "%s", fth_text_at(i, "instance"));
		fth_columns_add(&c, "%s", fth_text_at(i, "offer"));
		fth_columns_add(&c, "%.1fs", (to - from) / 1e6);
		for (size_t p = 0; p < FTH_COUNT(parts); p++)
			fth_columns_add(&c, "$%.6f", fth_number_at(i, parts[p]));
	}
	fth_columns_print(&c);
}

static void table(const json_t *doc)
{
	printf("$%.6f: used %.1f %%, lost work %.1f %%, boot %.1f %%, idle %.1f %%, fragmentation %.1f %%\n\n", fth_number_at(doc, "total"), percent(doc, "used"),
	       percent(doc, "lost"), percent(doc, "boot"), percent(doc, "idle"), percent(doc, "fragmented"));
}

static int run(struct fth_args *a)
{
	static const struct {
		const char *name;
		void (*print)(const json_t *doc);
	} tables[] = {{"users", users_table}, {"jobs", jobs_table}, {"instances", instances_table}};
	struct fth_error err = {0};
	struct fth_str text = {0};
	json_t *doc = NULL;
	int r = fth_client_ask(a, "GET", "/v1/bill", NULL, &doc, &text, &err);
	if (!r && !strcmp(fth_args_text(a, "format"), "json")) {
		fputs(text.data, stdout);
	} else if (!r) {
		table(doc);
		for (size_t i = 0; i < FTH_COUNT(tables); i++)
			if (!strcmp(tables[i].name, fth_args_text(a, "by")))
				tables[i].print(doc);
	}
	json_decref(doc);
	fth_str_release(&text);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const bys[] = {"users", "jobs", "instances", NULL};
static const struct fth_option options[] = {
	{.name = "by", .type = FTH_OPT_CHOICE, .arg = "WHAT", .def = "users", .choices = bys, .help = "whose parts to list"},
	{0},
};
static const char *const examples[] = {
	"farthing bill", "what was spent, and on whom",
	"farthing bill --by instances", "what of each machine was used and what was wasted, and how",
	NULL,
};
const struct fth_verb fth_verb_bill = {
	.name = "bill",
	.summary = "Say what a running farthingd has spent, on whom and for what",
	.about = "Every dollar is divided: what tasks used, what lost runs had used, and what was wasted on booting, idle and fragmented machines. The parts sum "
		 "to the ledger to the nano-dollar. Machines that still run count with what they have accrued.",
	.options = {options, fth_options_daemon, fth_options_common},
	.examples = examples,
	.run = run,
};
