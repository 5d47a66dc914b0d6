/* SPDX-License-Identifier: Apache-2.0 */
/* plan reserve: how much of a demand to commit to, under which contracts, and when. */
#include <time.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "report/reserve.h"

#define WEEK (7 * FTH_DAY)

struct reserve {
	struct fth_symtab *syms;
	struct fth_reserve_market market;
	struct fth_demand_series series;
	struct fth_demand demand;
	struct fth_reserve_report report;
};

static int add_plan(struct reserve *v, const char *name, enum fth_reserve_method method, const struct fth_reserve_options *o,
		    struct fth_error *err)
{
	struct fth_reserve_report_plan plan = {0};
	snprintf(plan.method, sizeof(plan.method), "%s", name);
	int r = fth_reserve_plan(&plan.portfolio, &v->market, &v->demand, method, o, err);
	if (r)
		fth_portfolio_release(&plan.portfolio);
	else
		fth_vec_push(&v->report.plans, plan);
	return r;
}

/* By forecast with classes of one term only; and with hindsight one class alone. */
static int add_restricted(struct reserve *v, const struct fth_reserve_options *base, struct fth_error *err)
{
	const struct fth_reserve_market *m = &v->market;
	uint64_t done = 0;
	int r = 0;
	for (size_t k = 0; k < m->classes.len && !r; k++) {
		struct fth_reserve_options o = *base;
		char name[64];
		fth_time term = m->classes.data[k].term;
		o.only = fth_reserve_of_term(m, term);
		double years = (double)term / (double)(365 * FTH_DAY);
		snprintf(name, sizeof(name), "online-%gy-only", years);
		if (!(done >> k & 1))
			r = add_plan(v, name, FTH_RESERVE_ONLINE_LEVEL, &o, err);
		done |= o.only;
	}
	for (size_t k = 0; k < m->classes.len && !r; k++) {
		struct fth_reserve_options o = *base;
		char name[64];
		o.only = 1ull << k;
		snprintf(name, sizeof(name), "only-%s", fth_sym_str(v->syms, m->classes.data[k].name));
		r = add_plan(v, name, FTH_RESERVE_GREEDY, &o, err);
	}
	return r;
}

/* A better bound than the paper's, and the plan that meets it or comes nearest to it. */
static int add_exact(struct reserve *v, struct fth_error *err)
{
	struct fth_reserve_report_plan plan = {0};
	double bound = 0;
	int r = fth_reserve_exact(&plan.portfolio, &bound, &v->market, &v->demand, err);
	if (r) {
		fth_portfolio_release(&plan.portfolio);
		return r;
	}
	v->report.dual_bound = bound > v->report.lower_bound;
	v->report.lower_bound = FTH_MAX(bound, v->report.lower_bound);
	bool exact = plan.portfolio.pure <= bound * (1 + 1e-6);
	snprintf(plan.method, sizeof(plan.method), "%s", exact ? "exact" : "near-exact");
	fth_vec_push(&v->report.plans, plan);
	return 0;
}

static void add_curves(struct reserve *v)
{
	const struct fth_demand *d = &v->demand;
	double span = (double)(d->end - d->start) / (double)FTH_HOUR;
	double *used = fth_alloc((size_t)(d->levels + 1) * sizeof(*used)), all = 0;
	for (uint32_t j = 0; j < d->levels; j++) {
		for (uint32_t row = 0; row < d->rows; row++)
			used[j] += fth_demand_at(d, row, j);
		all += used[j];
	}
	uint32_t step = (d->levels + 199) / 200;
	for (size_t k = 0; k < v->market.classes.len; k++) {
		const struct fth_reserve_class *c = &v->market.classes.data[k];
		struct fth_reserve_curve curve = {.class = (uint32_t)k};
		double fee = c->upfront * span / ((double)c->term / (double)FTH_HOUR), usd = all * v->market.on_demand;
		for (uint32_t j = 0; j <= d->levels; j++) {
			if (step && j % step == 0) {
				fth_vec_push(&curve.count, (double)j);
				fth_vec_push(&curve.usd, usd);
			}
			usd += fee + c->price * (c->every_hour ? span : used[j]) - used[j] * v->market.on_demand;
		}
		fth_vec_push(&v->report.curves, curve);
	}
	free(used);
}

static int make_plans(struct reserve *v, const struct fth_args *a, struct fth_error *err)
{
	struct fth_reserve_options o = {.prefer_short = fth_args_flag(a, "prefer-short"),
					.full_term = fth_args_flag(a, "full-term"),
					.warm_up = (uint32_t)fth_args_int(a, "warm-up")};
	v->report.competitive = v->report.lower_bound = fth_reserve_lower_bound(&v->market, &v->demand);
	int r = add_plan(v, "on-demand", FTH_RESERVE_NONE, &o, err);
	if (!r)
		r = add_plan(v, "offline-greedy", FTH_RESERVE_GREEDY, &o, err);
	if (!r)
		r = add_plan(v, "offline-static", FTH_RESERVE_STATIC, &o, err);
	if (!r)
		r = add_plan(v, "online", FTH_RESERVE_ONLINE, &o, err);
	if (!r)
		r = add_plan(v, "online-level", FTH_RESERVE_ONLINE_LEVEL, &o, err);
	if (!r)
		r = add_restricted(v, &o, err);
	if (!r && !fth_args_flag(a, "no-exact"))
		r = add_exact(v, err);
	if (!r)
		add_curves(v);
	return r;
}

/* "3y-heavy=10": never more than ten of these at once. */
static int apply_caps(struct reserve *v, const struct fth_args *a, struct fth_error *err)
{
	const char *text;
	size_t pos = 0;
	while ((text = fth_args_each(a, "max", &pos))) {
		const char *eq = strchr(text, '=');
		int64_t most = -1;
		bool found = false;
		if (!eq || fth_parse_i64(eq + 1, strlen(eq + 1), &most) || most < 0)
			return fth_fail(err, -EINVAL, "--max: '%s' is not CLASS=NUMBER", text);
		for (size_t k = 0; k < v->market.classes.len; k++) {
			const char *name = fth_sym_str(v->syms, v->market.classes.data[k].name);
			if (strlen(name) == (size_t)(eq - text) && !memcmp(name, text, (size_t)(eq - text))) {
				v->market.classes.data[k].most = most;
				found = true;
			}
		}
		if (!found)
			return fth_fail(err, -EINVAL, "--max: no class '%.*s' among the classes", (int)(eq - text), text);
	}
	return 0;
}

static int load(struct reserve *v, const struct fth_args *a, struct fth_error *err)
{
	const char *demand = fth_args_given(a, "demand"), *classes = fth_args_given(a, "classes");
	if (!demand || !classes)
		return fth_fail(err, -EINVAL, "--%s is needed", demand ? "classes" : "demand");
	v->market.syms = v->syms;
	int r = fth_load_classes(&v->market, classes, err);
	if (!r)
		r = apply_caps(v, a, err);
	if (!r)
		r = fth_load_demand(&v->series, demand, err);
	if (!r)
		r = fth_demand_build(&v->demand, v->series.steps.data, v->series.steps.len, v->series.start, v->series.end, WEEK, err);
	return r;
}

static int write_report(const struct reserve *v, const struct fth_args *a, struct fth_error *err)
{
	const char *format = fth_args_text(a, "format"), *path = fth_args_given(a, "out");
	struct fth_str out = {0};
	if (!strcmp(format, "json"))
		fth_reserve_json(&v->report, &out);
	else if (!strcmp(format, "csv"))
		fth_reserve_csv(&v->report, &out);
	else if (!strcmp(format, "html"))
		fth_reserve_html(&v->report, &out);
	else
		fth_reserve_table(&v->report, !path && fth_cli_color(a), &out);
	int r = fth_cli_write(path, out.data, out.len, err);
	fth_str_release(&out);
	return r;
}

static int run(struct fth_args *a)
{
	struct reserve v = {.syms = fth_symtab_new()};
	struct fth_error err = {0};
	struct timespec from, to;
	int r = load(&v, a, &err);
	v.report.market = &v.market;
	v.report.demand = &v.demand;
	v.report.version = FTH_VERSION;
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (!r)
		r = make_plans(&v, a, &err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	v.report.wall_s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	if (!r)
		r = write_report(&v, a, &err);
	fth_reserve_report_release(&v.report);
	fth_demand_release(&v.demand);
	fth_demand_series_release(&v.series);
	fth_reserve_market_release(&v.market);
	fth_symtab_free(v.syms);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const formats[] = {"table", "json", "csv", "html", NULL};
static const struct fth_option options[] = {
	{.name = "demand", .letter = 'd', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "the use of machines over time: CSV of instances (one number an hour), of time_s,instances, or of machines "
		 "with ready_s and gone_s; needed"},
	{.name = "classes", .letter = 'c', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "what can be bought: CSV of class,term,upfront_usd,hourly_usd[,every_hour,kind,max], on-demand first; or a "
		 "catalog with contracts; needed"},
	{.name = "max", .type = FTH_OPT_TEXT, .many = true, .arg = "CLASS=N", .help = "never hold more than this many of a class"},
	{.name = "prefer-short", .type = FTH_OPT_FLAG, .help = "where a shorter term is worth it too, take that one"},
	{.name = "full-term", .type = FTH_OPT_FLAG, .help = "judge a class by its whole term, taking what lies beyond the demand as unused"},
	{.name = "warm-up", .type = FTH_OPT_INT, .arg = "WEEKS", .def = "1", .min = 1, .max = 1000,
	 .help = "weeks that the online plans watch before they buy"},
	{.name = "no-exact", .type = FTH_OPT_FLAG, .help = "leave out the exact plan and its bound"},
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the plans"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write them; a file appears whole or not at all"},
	{0},
};
static const char *const examples[] = {
	"farthing plan reserve --demand use.csv --classes classes.csv", "what should have been bought, and what a forecast would buy",
	"farthing plan reserve -d use.csv -c classes.csv --max 3y-heavy=10 --format json", "with a limit on a class, for a script to read",
	NULL,
};
const struct fth_verb fth_verb_plan_reserve = {
	.name = "plan reserve",
	.summary = "Find how many machines to commit to, under which contracts and when",
	.about = "Demand is gathered by week and level: the j-th machine is busy while at least j are. Contracts pay for the "
		 "lowest levels, the lowest hourly price first. Plans with hindsight (offline) and by forecast (online) stand beside "
		 "a proven lower bound of any plan's cost; the cost less residual leaves out the part of each fee that belongs to "
		 "the time after the demand's end.",
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
