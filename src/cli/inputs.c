/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs read: option tables, files or bundled samples, policies. */
#include "cli/cli.h"
#include "policies/table.h"
#include "trace/samples.h"

/* ---- options ---- */

static const char *const color_choices[] = {"auto", "always", "never", NULL};

const struct fth_option fth_options_common[] = {
	{.name = "color", .type = FTH_OPT_CHOICE, .arg = "WHEN", .def = "auto", .choices = color_choices,
	 .help = "colour the table: auto does so on a terminal unless NO_COLOR is set"},
	{.name = "quiet", .letter = 'q', .type = FTH_OPT_FLAG, .help = "no progress and no remarks on standard error"},
	{.name = "help", .letter = 'h', .type = FTH_OPT_FLAG, .help = "print this and exit"},
	{0},
};

static const char *nth_format(unsigned i, enum fth_content content)
{
	for (int f = FTH_FORMAT_AUTO + 1; f < FTH_FORMAT_NKINDS; f++)
		if (fth_format_content(f) == content && i-- == 0)
			return fth_format_name(f);
	return NULL;
}

static const char *nth_workload_format(unsigned i)
{
	return nth_format(i, FTH_CONTENT_WORKLOAD);
}

static const char *nth_catalog_format(unsigned i)
{
	return nth_format(i, FTH_CONTENT_CATALOG);
}

static const char *nth_profile_format(unsigned i)
{
	return nth_format(i, FTH_CONTENT_PROFILE);
}

const struct fth_option fth_options_inputs[] = {
	{.name = "workload", .letter = 'w', .type = FTH_OPT_FILE, .arg = "FILE", .def = "the bundled sample",
	 .help = "the jobs; plain, gzip or zstd, '-' reads standard input"},
	{.name = "catalog", .letter = 'c', .type = FTH_OPT_FILE, .arg = "FILE", .def = "the bundled sample",
	 .help = "the instance types and what they cost"},
	{.name = "interference", .letter = 'i', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "how fast each class of tasks is beside each other one; without it tasks do not slow each other down, "
		 "unless the bundled workload is used: it brings its own"},
	{.name = "workload-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_workload_format, .help = "format of the workload"},
	{.name = "catalog-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_catalog_format, .help = "format of the catalog"},
	{.name = "interference-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_profile_format, .help = "format of the interference file"},
	{0},
};

const struct fth_option fth_options_import[] = {
	{.name = "prices", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "prices for a catalog without any (ec2-types): CSV of type,price or a SkyPilot catalog"},
	{.name = "region", .type = FTH_OPT_TEXT, .arg = "NAME", .help = "only this region of the catalog"},
	{.name = "families", .type = FTH_OPT_TEXT, .arg = "LIST", .help = "only these instance families, parted by commas"},
	{.name = "mean-gap", .type = FTH_OPT_TEXT, .arg = "DURATION",
	 .help = "mean time between arrivals, for a workload that does not tell when jobs came"},
	{0},
};

const struct fth_option fth_options_runs[] = {
	{.name = "sim", .type = FTH_OPT_SETTING, .many = true, .arg = "KEY=VALUE", .params = fth_sim_param_table,
	 .help = "a parameter of the simulated world"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = INT64_MAX,
	 .help = "seed of everything that is drawn"},
	{0},
};

/* ---- files ---- */

static int duration_option(const struct fth_args *a, const char *name, fth_time *ret, struct fth_error *err)
{
	const char *v = fth_args_text(a, name);
	if (v && fth_parse_duration(v, strlen(v), ret))
		return fth_fail(err, -EINVAL, "--%s: '%s' is not a duration such as 30, 90s, 5m or 2h", name, v);
	return 0;
}

int fth_cli_import_options(const struct fth_args *a, struct fth_import_options *ret, struct fth_error *err)
{
	*ret = (struct fth_import_options){
		.prices = fth_args_text(a, "prices"),
		.region = fth_args_text(a, "region"),
		.families = fth_args_text(a, "families"),
		.seed = (uint64_t)fth_args_int(a, "seed"),
	};
	return duration_option(a, "mean-gap", &ret->mean_gap, err);
}

static enum fth_format format_of(const struct fth_args *a, const char *option, enum fth_content content)
{
	enum fth_format f = FTH_FORMAT_AUTO;
	const char *name = fth_args_given(a, option);
	/* The option's choices are the formats' names, so this finds it. */
	if (name)
		fth_format_find(name, content, &f);
	return f;
}
