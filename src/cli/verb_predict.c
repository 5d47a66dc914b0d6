/* SPDX-License-Identifier: Apache-2.0 */
/* predict: how well the runtimes of a workload can be predicted from its own past. */
#include <jansson.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "predict/profile.h"

static void bucket_label(size_t k, char *out, size_t n)
{
	if (k == 0)
		snprintf(out, n, "below %+.0f %%", fth_error_borders[0]);
	else if (k == FTH_ERROR_BUCKETS - 1)
		snprintf(out, n, "%+.0f %% and more", fth_error_borders[k - 1]);
	else
		snprintf(out, n, "%+.0f to %+.0f %%", fth_error_borders[k - 1], fth_error_borders[k]);
}

static double share(const struct fth_error_profile *p, uint64_t n)
{
	uint64_t known = p->tasks - p->unknown;
	return known ? 100 * (double)n / (double)known : 0;
}

static void print_table(const struct fth_predict_report *r)
{
	const struct fth_error_profile *h = &r->history, *t = &r->told;
	bool told = t->tasks > t->unknown;
	printf("%llu jobs, %llu tasks; nothing was known yet of %llu tasks\n\n", (unsigned long long)r->jobs,
	       (unsigned long long)h->tasks, (unsigned long long)h->unknown);
	printf("error of the estimate   from history%s\n", told ? "    as told" : "");
	for (size_t k = 0; k < FTH_ERROR_BUCKETS; k++) {
		char label[32];
		bucket_label(k, label, sizeof(label));
		printf("%-22s %12.1f%%", label, share(h, h->bucket[k]));
		printf(told ? "%10.1f%%\n" : "\n", share(t, t->bucket[k]));
	}
	printf("\n%-22s %12.1f%%", "median absolute error", h->median_abs);
	printf(told ? "%10.1f%%\n" : "\n", t->median_abs);
	printf("%-22s %12.1f%%", "within 25 %", h->within_25);
	printf(told ? "%10.1f%%\n" : "\n", t->within_25);
	puts("\nwhich history spoke, and how (jobs):");
	for (int f = 0; f < FTH_FEATURE_N; f++)
		for (int e = 0; e < FTH_BY_N; e++)
			if (r->chosen[f][e])
				printf("  %-16s %-15s %8llu\n", fth_runtime_feature_name((enum fth_runtime_feature)f),
				       fth_runtime_estimator_name((enum fth_runtime_estimator)e),
				       (unsigned long long)r->chosen[f][e]);
}

static json_t *profile_json(const struct fth_error_profile *p)
{
	json_t *buckets = json_array();
	for (size_t k = 0; k < FTH_ERROR_BUCKETS; k++) {
		char label[32];
		bucket_label(k, label, sizeof(label));
		json_array_append_new(buckets, json_pack("{s:s, s:I}", "error", label, "tasks", (json_int_t)p->bucket[k]));
	}
	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:o}", "tasks", (json_int_t)p->tasks, "unknown", (json_int_t)p->unknown,
			 "median_abs_percent", p->median_abs, "within_25_percent", p->within_25, "within_half_to_double",
			 p->within_half_to_double, "buckets", buckets);
}

static void print_json(const struct fth_predict_report *r)
{
	json_t *chosen = json_array();
	for (int f = 0; f < FTH_FEATURE_N; f++)
		for (int e = 0; e < FTH_BY_N; e++)
			if (r->chosen[f][e])
				json_array_append_new(chosen, json_pack("{s:s, s:s, s:I}", "feature",
									fth_runtime_feature_name((enum fth_runtime_feature)f), "estimator",
									fth_runtime_estimator_name((enum fth_runtime_estimator)e), "jobs",
									(json_int_t)r->chosen[f][e]));
	json_t *doc = json_pack("{s:s, s:I, s:o, s:o, s:o}", "schema", "farthing.predict/1", "jobs", (json_int_t)r->jobs,
				"history", profile_json(&r->history), "told", profile_json(&r->told), "chosen", chosen);
	json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(doc);
}

static int run(struct fth_args *a)
{
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = fth_cli_load_world(a, &w, &err);
	if (!r) {
		struct fth_predict_report report;
		fth_predict_profile(&w.workload, &report);
		if (!strcmp(fth_args_text(a, "format"), "json"))
			print_json(&report);
		else
			print_table(&report);
	}
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const formats[] = {"table", "json", NULL};
static const struct fth_option options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the result"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of everything that is drawn"},
	{0},
};
static const char *const examples[] = {
	"farthing predict", "the bundled sample",
	"farthing predict -w jobs.csv --estimates lognormal:0.5", "beside errors as they are drawn for a simulation",
	NULL,
};
const struct fth_verb fth_verb_predict = {
	.name = "predict",
	.summary = "Say how well runtimes can be predicted from a workload's own past",
	.about = "Jobs come and end in the order of the workload, each as if it ran alone at once. Before a job comes, its tasks' mean "
		 "runtime is guessed from the jobs that have ended: those with the same user, name, hour of day or class; by their mean, "
		 "median, moving average or the most recent one; the pair that erred least so far speaks. What is printed is how far off "
		 "the guesses were, task by task.",
	.options = {options, fth_options_inputs, fth_options_formats, fth_options_import, fth_options_common},
	.examples = examples,
	.run = run,
};
