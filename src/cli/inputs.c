/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs read: option tables, files or bundled samples, policies. */
#include "cli/cli.h"
#include "policies/table.h"
#include "trace/generate.h"
#include "trace/samples.h"

#include <sys/stat.h>

enum { LARGE_FILE = 32 << 20 };

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

const char *fth_cli_nth_format(unsigned i)
{
	return i + 1 < FTH_FORMAT_NKINDS ? fth_format_name((enum fth_format)(i + 1)) : NULL;
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
	{0},
};

const struct fth_option fth_options_interference[] = {
	{.name = "interference", .letter = 'i', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "how fast each class of tasks is beside each other one; without it tasks do not slow each other down, "
		 "unless the bundled workload is used: it brings its own"},
	{.name = "interference-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_profile_format, .help = "format of the interference file"},
	{0},
};

const struct fth_option fth_options_market[] = {
	{.name = "market", .type = FTH_OPT_TEXT, .many = true, .arg = "[TYPE@ZONE=]FILE",
	 .help = "spot prices over time (EC2 DescribeSpotPriceHistory, or CSV of epoch,az,instance_type,price), or probes of "
		 "the availability of a type in a zone; types the catalog offers on demand only get spot offers in the "
		 "file's zones"},
	{.name = "market-zones", .type = FTH_OPT_TEXT, .arg = "LIST", .help = "only these zones of the market, parted by commas"},
	{.name = "market-start", .type = FTH_OPT_TEXT, .arg = "WHEN", .def = "the market's first price",
	 .help = "when the run begins on the market's clock: 2024-03-01, 2024-03-01T12:00:00Z or seconds since 1970"},
	{0},
};

const struct fth_option fth_options_formats[] = {
	{.name = "workload-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_workload_format, .help = "format of the workload"},
	{.name = "catalog-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_catalog_format, .help = "format of the catalog"},
	{0},
};

const struct fth_option fth_options_import[] = {
	{.name = "prices", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "prices for a catalog without any (ec2-types): CSV of type,price or a SkyPilot catalog"},
	{.name = "region", .type = FTH_OPT_TEXT, .arg = "NAME", .help = "only this region of the catalog: offers in its zones"},
	{.name = "families", .type = FTH_OPT_TEXT, .arg = "LIST", .help = "only these instance families, parted by commas"},
	{.name = "fractions", .type = FTH_OPT_FLAG,
	 .help = "keep the fractions of a second of a hawk-tr workload, which its own simulators cut off"},
	{.name = "node-cpus", .type = FTH_OPT_INT, .arg = "N", .def = "the CPUs of the catalog's first type", .min = 1, .max = 1000000,
	 .help = "processors of a node, for workloads that count processors (swf, sacct)"},
	{.name = "migration-rate", .type = FTH_OPT_TEXT, .arg = "MBIT/S",
	 .help = "a task that moves is away for its memory footprint over this rate (Stratus: 160), whatever the workload says"},
	{.name = "estimates", .type = FTH_OPT_TEXT, .arg = "HOW",
	 .help = "what policies are told of runtimes: wanted (exact to those that ask for it, to others as given), given (the job's own "
		 "estimate), exact, within:H (runtime times a draw from [H,1] or [1,H]) or "
		 "lognormal:JOB[:TASK] (the job's mean times errors of these sigmas)"},
	{.name = "mean-gap", .type = FTH_OPT_TEXT, .arg = "DURATION",
	 .help = "mean time between arrivals, in seconds or with a unit, for a workload that does not tell when jobs came"},
	{.name = "drop-unfit", .type = FTH_OPT_FLAG,
	 .help = "leave out jobs of which a task fits no instance type of the catalog, and say how many; without it such a job is an error"},
	{0},
};

const struct fth_option fth_options_runs[] = {
	{.name = "sim", .type = FTH_OPT_SETTING, .many = true, .arg = "KEY=VALUE", .params = fth_sim_param_table,
	 .help = "a parameter of the simulated world"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of everything that is drawn"},
	{.name = "workers", .type = FTH_OPT_INT, .arg = "N", .min = 1, .max = 10000000,
	 .help = "how many workers the policies with a fixed set of them have; without --catalog the machines have one slot and "
		 "cost a dollar an hour, transient ones a dollar over the policy's r"},
	{.name = "provisioning", .type = FTH_OPT_TEXT, .arg = "DURATION", .def = "120s",
	 .help = "with --workers: from the request of a transient machine until it is there"},
	{0},
};

/* ---- files ---- */

static int duration_option(const struct fth_args *a, const char *name, fth_time *ret, struct fth_error *err)
{
	const char *v = fth_args_text(a, name);
	if (v && fth_parse_duration(v, strlen(v), ret))
		return fth_fail(err, -EINVAL, "--%s: '%s' is not a duration such as 30, 90s, 5m or 2h", name, v);
	if (v && *ret <= 0)
		return fth_fail(err, -EINVAL, "--%s: must be above 0", name);
	return 0;
}

int fth_cli_import_options(const struct fth_args *a, struct fth_import_options *ret, struct fth_error *err)
{
	*ret = (struct fth_import_options){
		.prices = fth_args_text(a, "prices"),
		.region = fth_args_text(a, "region"),
		.families = fth_args_text(a, "families"),
		.seed = (uint64_t)fth_args_int(a, "seed"),
		.fractions = fth_args_flag(a, "fractions"),
		.node_cpus = (uint32_t)fth_args_int(a, "node-cpus"),
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

/* A hawk-tr file of which a run is to hold only the jobs that are there at the time. A journal needs them all. */
static bool is_large(const struct fth_args *a, const char *path, enum fth_format f)
{
	struct stat st;
	bool journal = fth_verb_option(a->verb, "journal", strlen("journal")) && fth_args_given(a, "journal");
	bool runs = fth_verb_option(a->verb, "workers", strlen("workers"));
	if (!runs || journal || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size < LARGE_FILE)
		return false;
	return f == FTH_FORMAT_HAWK_TR || (f == FTH_FORMAT_AUTO && !fth_recognise(path, &f, NULL) && f == FTH_FORMAT_HAWK_TR);
}

/* A file, or the bundled sample of its kind. */
static int load_workload(const struct fth_args *a, struct fth_world *w, const struct fth_import_options *o,
			 struct fth_error *err)
{
	const char *path = fth_args_given(a, "workload");
	struct fth_input *in = NULL;
	enum fth_format f = format_of(a, "workload-format", FTH_CONTENT_WORKLOAD);
	if (path && is_large(a, path, f))
		return fth_stream_world(w, path, o->fractions, err);
	if (path)
		return fth_load_workload(&w->workload, path, f, o, err);
	int r = fth_sample_open(&in, FTH_CONTENT_WORKLOAD, err);
	if (r)
		return r;
	r = fth_read_workload(&w->workload, in, FTH_FORMAT_AUTO, o, err);
	fth_input_close(in);
	return r;
}

static int load_catalog(const struct fth_args *a, struct fth_world *w, const struct fth_import_options *o,
			struct fth_error *err)
{
	const char *path = fth_args_given(a, "catalog");
	struct fth_input *in = NULL;
	if (path)
		return fth_load_catalog(&w->catalog, path, format_of(a, "catalog-format", FTH_CONTENT_CATALOG), o, err);
	if (w->catalog.types.len)
		return 0; /* made for --workers */
	int r = fth_sample_open(&in, FTH_CONTENT_CATALOG, err);
	if (r)
		return r;
	r = fth_read_catalog(&w->catalog, in, FTH_FORMAT_AUTO, o, err);
	fth_input_close(in);
	return r;
}

/* The bundled profile is about the bundled workload's classes: it goes with that one only. */
static int load_profile(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	const char *path = fth_args_given(a, "interference");
	struct fth_input *in = NULL;
	w->has_profile = path || !fth_args_given(a, "workload");
	if (path)
		return fth_load_profile(&w->profile, path, format_of(a, "interference-format", FTH_CONTENT_PROFILE), err);
	if (!w->has_profile)
		return 0;
	int r = fth_sample_open(&in, FTH_CONTENT_PROFILE, err);
	if (r)
		return r;
	r = fth_read_profile(&w->profile, in, FTH_FORMAT_AUTO, err);
	fth_input_close(in);
	return r;
}

/* "p3.2xlarge@us-west-2a=probes.json", or a file alone. */
static int load_one_market(struct fth_world *w, const char *text, const char *zones, struct fth_error *err)
{
	const char *at = strchr(text, '@'), *eq = at ? strchr(at, '=') : NULL;
	struct fth_market_options o = {.zones = zones};
	char *type = NULL, *zone = NULL;
	if (eq && !memchr(text, '/', (size_t)(eq - text))) {
		o.type = type = fth_strndup(text, (size_t)(at - text));
		o.zone = zone = fth_strndup(at + 1, (size_t)(eq - at - 1));
		text = eq + 1;
	}
	int r = fth_load_market(&w->market, &w->catalog, text, FTH_FORMAT_AUTO, &o, err);
	free(type);
	free(zone);
	return r;
}

static int load_markets(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	const char *text;
	size_t pos = 0;
	int r = 0;
	while (!r && (text = fth_args_each(a, "market", &pos))) {
		r = load_one_market(w, text, fth_args_given(a, "market-zones"), err);
		w->has_market = true;
	}
	if (!r && w->has_market && !w->market.rows_kept)
		r = fth_fail(err, -EINVAL, "--market: none of its %llu rows is about a type of the catalog and a zone asked for",
			     (unsigned long long)w->market.rows_read);
	return r;
}

int fth_cli_drop_unfit(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	struct fth_workload fitting;
	size_t all = w->workload.jobs.len;
	if (!fth_args_flag(a, "drop-unfit"))
		return 0;
	fth_workload_init(&fitting, w->syms, &w->kinds);
	w->dropped_jobs = fth_vary_fitting(&fitting, &w->workload, &w->catalog.pub);
	fth_workload_finish(&fitting);
	fth_workload_release(&w->workload);
	w->workload = fitting;
	if (w->dropped_jobs == all)
		return fth_fail(err, -EINVAL, "--drop-unfit: no job is left, each has a task that fits no instance type");
	if (w->dropped_jobs && !fth_args_flag(a, "quiet"))
		fth_cli_error("left out %u of %zu jobs: a task of theirs fits no instance type", w->dropped_jobs, all);
	return 0;
}

/* What only says something about a file that was not given would go unheard. */
static int check_belongings(const struct fth_args *a, struct fth_error *err)
{
	static const struct {
		const char *option, *of;
	} belongs[] = {
		{"workload-format", "workload"}, {"catalog-format", "catalog"}, {"interference-format", "interference"},
		{"market-zones", "market"}, {"market-start", "market"}, {"mean-gap", "workload"},
	};
	for (size_t i = 0; i < FTH_COUNT(belongs); i++)
		if (fth_verb_option(a->verb, belongs[i].option, strlen(belongs[i].option)) && fth_args_given(a, belongs[i].option) &&
		    !fth_args_given(a, belongs[i].of))
			return fth_fail(err, -EINVAL, "--%s is of no use without --%s", belongs[i].option, belongs[i].of);
	return 0;
}

/* "within:0.1", "lognormal:0.5:0.2" */
static int told_option(const struct fth_args *a, struct fth_told *ret, struct fth_error *err)
{
	static const char *const names[] = {"wanted", "given", "exact", "within", "lognormal"};
	const char *text = fth_args_given(a, "estimates");
	if (!text)
		return 0;
	size_t n = strcspn(text, ":");
	for (int i = 0; i < 5; i++) {
		if (strlen(names[i]) != n || strncmp(names[i], text, n))
			continue;
		struct fth_told told = {.by = (enum fth_told_by)i, .seed = fth_args_int(a, "seed")};
		const char *p = text[n] ? text + n + 1 : "", *colon = strchr(p, ':');
		size_t first = colon ? (size_t)(colon - p) : strlen(p);
		bool wrong = i >= FTH_TOLD_WITHIN ? fth_parse_real(p, first, &told.error) || told.error < 0 : *p != 0;
		if (colon)
			wrong |= i != FTH_TOLD_LOGNORMAL || fth_parse_real(colon + 1, strlen(colon + 1), &told.spread) || told.spread < 0;
		if (wrong || (i == FTH_TOLD_WITHIN && told.error > 1e6) ||
		    (i == FTH_TOLD_LOGNORMAL && (told.error > 20 || told.spread > 20)))
			break;
		*ret = told;
		return 0;
	}
	return fth_fail(err, -EINVAL, "--estimates: '%s' is none of wanted, given, exact, within:H, lognormal:JOB[:TASK]", text);
}

static int vary(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	const char *rate = fth_args_given(a, "migration-rate");
	double mbit;
	if (rate && (fth_parse_real(rate, strlen(rate), &mbit) || mbit < 1e-3 || mbit > 1e9))
		return fth_fail(err, -EINVAL, "--migration-rate: '%s' is not a number of megabits a second", rate);
	if (rate)
		fth_vary_migration(&w->workload, mbit);
	return told_option(a, &w->workload.told, err);
}

const struct fth_option fth_options_market_only[] = {
	{.name = "market", .type = FTH_OPT_TEXT, .many = true, .arg = "[TYPE@ZONE=]FILE",
	 .help = "spot prices over time (EC2 DescribeSpotPriceHistory, or CSV of epoch,az,instance_type,price), or probes of "
		 "the availability of a type in a zone"},
	{.name = "market-zones", .type = FTH_OPT_TEXT, .arg = "LIST", .help = "only these zones of the market, parted by commas"},
	{.name = "catalog", .letter = 'c', .type = FTH_OPT_FILE, .arg = "FILE", .def = "the bundled sample",
	 .help = "the instance types and what they cost on demand"},
	{.name = "catalog-format", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content",
	 .nth_choice = nth_catalog_format, .help = "format of the catalog"},
	{.name = "prices", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "prices for a catalog without any (ec2-types): CSV of type,price or a SkyPilot catalog"},
	{.name = "region", .type = FTH_OPT_TEXT, .arg = "NAME", .help = "only this region of the catalog"},
	{.name = "families", .type = FTH_OPT_TEXT, .arg = "LIST", .help = "only these instance families, parted by commas"},
	{0},
};

int fth_cli_load_market(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	struct fth_import_options o = {
		.prices = fth_args_given(a, "prices"),
		.region = fth_args_given(a, "region"),
		.families = fth_args_given(a, "families"),
	};
	if (!fth_args_given(a, "market"))
		return fth_fail(err, -EINVAL, "--market is needed: prices or availability over time");
	int r = load_catalog(a, w, &o, err);
	return r ? r : load_markets(a, w, err);
}

int fth_cli_load_world(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	struct fth_import_options o;
	const char *path = fth_args_given(a, "workload"), *catalog = fth_args_given(a, "catalog");
	bool with_profile = fth_verb_option(a->verb, "interference", strlen("interference")) != NULL;
	int r = check_belongings(a, err);
	if (!r)
		r = fth_cli_import_options(a, &o, err);
	if (r)
		return r;
	if (path && catalog && !strcmp(path, "-") && !strcmp(catalog, "-"))
		return fth_fail(err, -EINVAL, "--workload and --catalog cannot both be standard input");
	/* The catalog first: it names the resources that demands may speak of. */
	r = load_catalog(a, w, &o, err);
	if (!r && fth_verb_option(a->verb, "market", strlen("market")))
		r = load_markets(a, w, err);
	if (!r) {
		fth_kinds_adopt_resources(&w->kinds, w->catalog.nres, w->catalog.res_names);
		if (!o.node_cpus && w->catalog.types.len)
			o.node_cpus = (uint32_t)(w->catalog.types.data[0].capacity.v[FTH_CPU] / 1000);
		r = load_workload(a, w, &o, err);
	}
	if (!r)
		r = fth_cli_drop_unfit(a, w, err);
	if (!r && fth_verb_option(a->verb, "estimates", strlen("estimates")))
		r = vary(a, w, err);
	if (!r && with_profile)
		r = load_profile(a, w, err);
	if (!r)
		r = fth_workload_check(&w->workload, &w->catalog.pub, path ? path : "the bundled workload", err);
	return r;
}

int fth_cli_sim_params(const struct fth_args *a, struct fth_sim_params *ret, struct fth_error *err)
{
	size_t pos = 0;
	const char *text;
	fth_params_defaults(fth_sim_param_table, ret);
	ret->seed = fth_args_int(a, "seed");
	if (fth_verb_option(a->verb, "market-start", strlen("market-start")) && (text = fth_args_given(a, "market-start"))) {
		fth_time at;
		if (fth_parse_when(text, strlen(text), &at))
			return fth_fail(err, -EINVAL, "--market-start: '%s' is not a time such as 2024-03-01 or 1709251200", text);
		ret->market_start = at / FTH_SEC;
	}
	while ((text = fth_args_each(a, "sim", &pos))) {
		const char *eq = strchr(text, '=');
		if ((!strncmp(text, "seed=", 5) && fth_args_given(a, "seed")) || (ret->market_start && !strncmp(text, "market_start=", 13)))
			return fth_fail(err, -EINVAL, "--sim %.*s says again what an option of its own says", (int)(eq - text), text);
		int r = fth_params_set(fth_sim_param_table, ret, "--sim", text, (size_t)(eq - text), eq + 1,
				       strlen(eq + 1), err);
		if (r)
			return r;
	}
	return 0;
}

void fth_cli_bound_options(const struct fth_sim_params *sim, struct fth_bound_options *ret)
{
	ret->pair_speed = sim->pair_speed;
	ret->market_start = sim->market_start * FTH_SEC;
	ret->until = sim->horizon;
	ret->uneven_delays = sim->boot_delay_scale != 1 || sim->job_delay_scale != 1 || sim->job_delay_spread > 0;
}

/* ---- policies ---- */

/* A name without '/' or ".so" that is no policy's: say which one is near. */
static int check_policy_name(const char *text, size_t len, struct fth_error *err)
{
	struct fth_nearest near;
	char hint[128];
	if (memchr(text, '/', len) || (len > 3 && !memcmp(text + len - 3, ".so", 3)))
		return 0;
	fth_nearest_init(&near, text, len);
	for (int i = 0; fth_policies[i]; i++) {
		if (strlen(fth_policies[i]->name) == len && !memcmp(fth_policies[i]->name, text, len))
			return 0;
		fth_nearest_try(&near, fth_policies[i]->name);
	}
	return fth_fail(err, -EINVAL, "no policy '%.*s'%s; 'farthing policies' lists them, and one of your own is given as a "
			"path: ./%.*s.so", (int)len, text, fth_nearest_hint(&near, "", hint, sizeof(hint)), (int)len, text);
}

/* The policy is known but one of its settings was refused: if it is a misspelt key, say which is near. */
static void hint_parameter(const char *text, struct fth_error *err)
{
	const struct fth_policy_ops *ops = NULL;
	size_t len = strcspn(text, ":");
	for (int i = 0; fth_policies[i]; i++)
		if (strlen(fth_policies[i]->name) == len && !memcmp(fth_policies[i]->name, text, len))
			ops = fth_policies[i];
	for (const char *p = text + len; ops && ops->params && *p; p += strcspn(p, ",")) {
		struct fth_nearest near;
		char hint[128];
		bool known = false;
		p++;
		fth_nearest_init(&near, p, strcspn(p, "=,"));
		for (const struct fth_param *q = ops->params; q->name; q++) {
			known |= strlen(q->name) == near.len && !memcmp(q->name, p, near.len);
			fth_nearest_try(&near, q->name);
		}
		if (known || !near.best)
			continue;
		size_t n = strlen(err->text);
		snprintf(err->text + n, sizeof(err->text) - n, "%s", fth_nearest_hint(&near, "", hint, sizeof(hint)));
		return;
	}
}

/* "eva:round=300s,round=400s": one of them would go unheard. */
static int check_repeated(const char *text, struct fth_error *err)
{
	const char *first = strchr(text, ':');
	for (const char *p = first ? first + 1 : ""; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t n = strcspn(p, "=,");
		for (const char *q = first + 1; q < p; q += strcspn(q, ",") + 1)
			if (!strncmp(p, q, n) && q[n] == '=' && p[n] == '=')
				return fth_fail(err, -EINVAL, "policy %.*s: %.*s is given twice", (int)(first - text), text, (int)n, p);
	}
	return 0;
}

int fth_cli_policy(struct fth_policy_choice *ret, const char *text, struct fth_error *err)
{
	int r = check_policy_name(text, strcspn(text, ":"), err);
	if (!r)
		r = check_repeated(text, err);
	if (r)
		return r;
	r = fth_policy_choose(ret, fth_policies, text, err);
	if (r)
		hint_parameter(text, err);
	return r;
}

bool fth_cli_is_yardstick(const struct fth_policy_ops *ops)
{
	for (int i = 0; fth_yardsticks[i]; i++)
		if (fth_yardsticks[i] == ops)
			return true;
	return false;
}

static int add_policy(struct fth_cli_policies *p, const char *text, struct fth_error *err)
{
	p->list = fth_realloc(p->list, (p->n + 1) * sizeof(*p->list));
	int r = fth_cli_policy(&p->list[p->n], text, err);
	p->n += !r;
	return r;
}

int fth_cli_policies(const struct fth_args *a, struct fth_cli_policies *ret, struct fth_error *err)
{
	/* A verb that takes one policy has a default for it; the others run them all. */
	bool one = !fth_verb_option(a->verb, "policy", strlen("policy"))->many;
	size_t pos = 0;
	const char *text;
	int r = 0;
	*ret = (struct fth_cli_policies){0};
	while (!r && (text = fth_args_each(a, "policy", &pos)))
		r = add_policy(ret, text, err);
	if (!r && !ret->n && one)
		r = add_policy(ret, fth_args_text(a, "policy"), err);
	bool workers = fth_verb_option(a->verb, "workers", strlen("workers")) && fth_args_given(a, "workers");
	for (int i = 0; !r && !one && !fth_args_given(a, "policy") && fth_policies[i]; i++)
		if (!fth_cli_is_yardstick(fth_policies[i]) && !(fth_policies[i]->flags & FTH_POLICY_WANTS_CONTAINERS) && workers == !!(fth_policies[i]->flags & FTH_POLICY_WANTS_WORKERS))
			r = add_policy(ret, fth_policies[i]->name, err);
	if (!r && fth_verb_option(a->verb, "workers", strlen("workers")))
		r = fth_cli_set_workers(a, ret, err);
	if (r)
		fth_cli_policies_release(ret);
	return r;
}

void fth_cli_policies_release(struct fth_cli_policies *p)
{
	for (size_t i = 0; i < p->n; i++)
		fth_policy_choice_release(&p->list[i]);
	free(p->list);
	*p = (struct fth_cli_policies){0};
}
