/* SPDX-License-Identifier: Apache-2.0 */
/* plan spot: the cheapest transient machines that hold a capacity with a given availability. */
#include <math.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/spot_inputs.h"
#include "cli/verbs.h"
#include "report/format.h"
#include "report/spot.h"

enum { COMPARED_OFFERS = 64, COMPARED_CAPACITY = 20000, ALTERNATIVES_MAX = 16 }; /* above these the slow rivals are left out of the table */

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The plan and what proves it. */
static int make_plan(const struct fth_spot_problem *p, const struct fth_spot_method *m, struct fth_spot_plan *plan,
		     struct fth_spot_report *report, struct fth_error *err)
{
	double from = seconds();
	int r = m->plan(p, plan, err);
	if (r)
		return r;
	struct fth_spot_bound bound = plan->bound;
	if (!bound.nodes)
		r = fth_spot_lower_bound(p, 0, &bound, err);
	*report = (struct fth_spot_report){
		.policy = m->name,
		.problem = p,
		.plan = plan,
		.on_demand = fth_spot_on_demand(p),
		.bound = bound.cost,
		.bound_exact = bound.exact,
		.wall_s = seconds() - from,
	};
	/* Machines on demand may be below what spot pools must cost; of a mix each part costs at least its share of one or the other. */
	if (report->on_demand > 0 && report->on_demand < report->bound) {
		report->bound = report->on_demand;
		report->bound_exact = false;
	}
	return r;
}

static int unreachable(const struct fth_spot_problem *p, const char *who, struct fth_error *err)
{
	double cost, best = fth_spot_best_reachable(p, &cost);
	struct fth_str text = {0};
	fth_str_real(&text, best);
	int r = fth_fail(err, -ERANGE,
			 "%sno pool of these offers is there for %.10g of the time: the best reachable is %s, with every kind holding the "
			 "whole capacity, for $%.4f/h", who, p->target, text.data, cost);
	fth_str_release(&text);
	return r;
}

/* A policy has missed the target. The search misses only what cannot be reached, which is an error; the plan of another is written
 * all the same, and a remark says what there would have been. */
static int missed(const struct fth_spot_problem *p, const struct fth_spot_method *m, const struct fth_spot_plan *plan, const char *who,
		  bool quiet, struct fth_error *err)
{
	if (plan->met)
		return 0;
	if (m->plan == fth_spot_search)
		return unreachable(p, who, err);
	double cost, best = fth_spot_best_reachable(p, &cost);
	if (!quiet)
		fth_cli_error("%s%s misses %.10g: its pool is there for %.10g of the time; the best reachable with these offers is %.10g, with "
			      "every kind holding the whole capacity, for $%.4f/h", who, m->name, p->target, plan->availability, best, cost);
	return 0;
}

static void tell_fallback(const struct fth_spot_problem *p, const struct fth_spot_method *m, const struct fth_spot_plan *plan, const char *who,
			  bool quiet)
{
	if (plan->fallback && m->plan != fth_spot_all_on_demand && !quiet)
		fth_cli_error("%sno pool of spot machines is there for %.10g of the time for less than on demand: rent on demand", who, p->target);
}

static size_t compare_all(const struct fth_spot_problem *p, const struct fth_spot_report *chosen, struct fth_spot_alternative *list)
{
	size_t n = 0;
	bool small = p->noffers <= COMPARED_OFFERS && p->capacity <= COMPARED_CAPACITY;
	for (size_t i = 0; fth_spot_methods[i].name; i++) {
		const struct fth_spot_method *m = &fth_spot_methods[i];
		struct fth_spot_plan plan;
		bool same = !strcmp(m->name, chosen->policy);
		if (!small && !same && (m->plan == fth_spot_tr_artifact || m->plan == fth_spot_available))
			continue;
		if (!same && m->plan == fth_spot_tr && p->capacity > COMPARED_CAPACITY)
			continue;
		if (same)
			plan = *chosen->plan;
		else if (m->plan(p, &plan, NULL))
			continue;
		list[n++] = (struct fth_spot_alternative){m->name, plan.cost, plan.availability, plan.total, plan.met, plan.fallback};
		if (!same)
			fth_spot_plan_release(&plan);
	}
	return n;
}

static void write_report(struct fth_spot_report *r, const struct fth_args *a, const char *path, struct fth_str *out)
{
	const char *format = fth_args_text(a, "format");
	struct fth_spot_alternative list[ALTERNATIVES_MAX];
	if (!strcmp(format, "json")) {
		fth_spot_json(r, out);
	} else if (!strcmp(format, "csv")) {
		fth_spot_csv(r, out);
	} else if (!strcmp(format, "create-fleet")) {
		fth_spot_create_fleet(r, out);
	} else if (!strcmp(format, "karpenter")) {
		fth_spot_karpenter(r, out);
	} else if (!strcmp(format, "kube-aws")) {
		fth_spot_kube_aws(r, out);
	} else {
		r->nalternatives = compare_all(r->problem, r, list);
		r->alternatives = list;
		fth_spot_table(r, !path && fth_cli_color(a), out);
	}
}

/* ---- tiers ---- */

struct tier {
	const char *name;
	struct fth_spot_problem problem;
	struct fth_spot_plan plan;
	struct fth_spot_report report;
	struct fth_pool_part *parts;
};

static int parse_tier(const char *text, const struct fth_spot_problem *p, const struct tier *earlier, size_t before, struct tier *ret,
		      struct fth_error *err)
{
	const char *eq = strchr(text, '=');
	int64_t capacity;
	if (!eq || eq == text || fth_parse_i64(eq + 1, strlen(eq + 1), &capacity) || capacity < 1)
		return fth_fail(err, -EINVAL, "--tier: '%s' is not NAME=CAPACITY", text);
	for (size_t i = 0; i < before; i++)
		if (strlen(earlier[i].name) == (size_t)(eq - text) && !strncmp(earlier[i].name, text, (size_t)(eq - text)))
			return fth_fail(err, -EINVAL, "--tier: two tiers are called %s", earlier[i].name);
	*ret = (struct tier){.name = fth_strndup(text, (size_t)(eq - text)), .problem = *p};
	ret->problem.capacity = (uint64_t)capacity;
	return 0;
}

/* Machines on demand are one more kind, which all tiers share. */
static void tier_parts(struct tier *t)
{
	uint32_t n = t->problem.noffers;
	t->parts = fth_alloc((n + 1) * sizeof(*t->parts));
	t->parts[n].p = 1 - t->problem.failure;
	for (uint32_t i = 0; i < n; i++) {
		t->parts[i] = (struct fth_pool_part){t->plan.count[i] * t->problem.offers[i].capacity, fth_spot_p(&t->problem, i)};
		t->parts[n].weight += t->plan.on_demand[i] * t->problem.offers[i].capacity;
	}
}

static void tiers_text(const struct tier *t, size_t n, const struct fth_tiers_availability *av, bool json, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	if (json) {
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "schema", "farthing.plan.spot.tiers/1");
		fth_json_real(&j, "availability", av->actual);
		fth_json_real(&j, "availability_independent", av->independent);
		fth_json_real(&j, "availability_lowest_tier", av->lowest);
		fth_json_real(&j, "tier_target_if_independent", fth_tier_target(t[0].problem.target, (unsigned)n));
		fth_json_begin(&j, "tiers", '[');
	}
	for (size_t i = 0; i < n; i++) {
		if (json) {
			fth_json_begin(&j, NULL, '{');
			fth_json_text(&j, "name", t[i].name);
			fth_spot_json_in(&t[i].report, &j, "plan");
			fth_json_end(&j, '}');
		} else {
			struct fth_spot_alternative list[ALTERNATIVES_MAX];
			struct fth_spot_report with = t[i].report;
			with.nalternatives = compare_all(with.problem, &with, list);
			with.alternatives = list;
			fth_str_addf(out, "tier %s: ", t[i].name);
			fth_spot_table(&with, false, out);
			fth_str_addc(out, '\n');
		}
	}
	if (json) {
		fth_json_end(&j, ']');
		fth_json_end(&j, '}');
		return;
	}
	fth_str_add(out, "the whole service is there for ");
	fth_str_real(out, av->actual);
	fth_str_addf(out, " of the time; if its tiers fell independently, for ");
	fth_str_real(out, av->independent);
	fth_str_add(out, "; its lowest tier, for ");
	fth_str_real(out, av->lowest);
	fth_str_addf(out, "\n%zu independent tiers would each need ", n);
	fth_str_real(out, fth_tier_target(t[0].problem.target, (unsigned)n));
	fth_str_addc(out, '\n');
}

static int plan_tiers(const struct fth_args *a, const struct fth_spot_inputs *in, const struct fth_spot_method *m, struct fth_error *err)
{
	enum { TIERS_MAX = 16 };
	struct tier tiers[TIERS_MAX];
	struct fth_tier views[TIERS_MAX];
	struct fth_tiers_availability av;
	struct fth_str out = {0};
	size_t n = 0;
	const char *text;
	const char *format = fth_args_text(a, "format");
	int r = in->joint ? fth_fail(err, -EINVAL, "--tier takes offers as independent: leave --joint out") : 0;
	if (!r && strcmp(format, "table") && strcmp(format, "json"))
		r = fth_fail(err, -EINVAL, "--tier: a plan of tiers is written as table or json; for files to apply, plan each tier alone");
	for (size_t pos = 0; !r && (text = fth_args_each(a, "tier", &pos));) {
		if (n == TIERS_MAX)
			return fth_fail(err, -EINVAL, "more than %d tiers", TIERS_MAX);
		r = parse_tier(text, &in->problem, tiers, n, &tiers[n], err);
		if (r)
			break;
		struct tier *t = &tiers[n++];
		r = make_plan(&t->problem, m, &t->plan, &t->report, err);
		if (!r) {
			struct fth_str who = {0};
			fth_str_addf(&who, "tier %s: ", t->name);
			r = missed(&t->problem, m, &t->plan, who.data, fth_args_flag(a, "quiet"), err);
			if (!r)
				tell_fallback(&t->problem, m, &t->plan, who.data, fth_args_flag(a, "quiet"));
			fth_str_release(&who);
			tier_parts(t);
			views[n - 1] = (struct fth_tier){t->parts, t->problem.capacity};
		}
	}
	if (!r)
		r = fth_tiers_availability(views, n, in->problem.noffers + 1, &av, err);
	if (!r) {
		tiers_text(tiers, n, &av, !strcmp(format, "json"), &out);
		r = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, err);
	}
	for (size_t i = 0; i < n; i++) {
		free((char *)tiers[i].name);
		free(tiers[i].parts);
		fth_spot_plan_release(&tiers[i].plan);
	}
	fth_str_release(&out);
	return r;
}

/* ---- the verb ---- */

static int plan_one(const struct fth_args *a, const struct fth_spot_inputs *in, const struct fth_spot_method *m, struct fth_error *err)
{
	struct fth_spot_report report;
	struct fth_spot_plan plan = {0};
	struct fth_str out = {0};
	const char *path = fth_args_given(a, "out");
	int r = make_plan(&in->problem, m, &plan, &report, err);
	if (!r)
		r = missed(&in->problem, m, &plan, "", fth_args_flag(a, "quiet"), err);
	if (!r) {
		report.iam_fleet_role = fth_args_given(a, "iam-fleet-role");
		write_report(&report, a, path, &out);
		r = fth_cli_write(path, out.data, out.len, err);
	}
	if (!r)
		tell_fallback(&in->problem, m, &plan, "", fth_args_flag(a, "quiet"));
	fth_spot_plan_release(&plan);
	fth_str_release(&out);
	return r;
}

static int run(struct fth_args *a)
{
	struct fth_spot_inputs in = {0};
	struct fth_error err = {0};
	const struct fth_spot_method *m = fth_cli_spot_method(fth_args_text(a, "policy"));
	int r = fth_cli_spot_inputs(a, &in, &err);
	bool tiers = fth_args_given(a, "tier") != NULL;
	if (!r && !tiers && !fth_args_given(a, "capacity"))
		r = fth_fail(&err, -EINVAL, "--capacity is needed");
	if (!r && tiers && fth_args_given(a, "capacity"))
		r = fth_fail(&err, -EINVAL, "--tier: a tier says its own capacity; leave --capacity out");
	if (!r && tiers)
		r = plan_tiers(a, &in, m, &err);
	if (!r && !tiers) {
		in.problem.capacity = (uint64_t)fth_args_int(a, "capacity");
		r = plan_one(a, &in, m, &err);
	}
	fth_cli_spot_inputs_release(&in);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *nth_method(unsigned i)
{
	return fth_spot_methods[i].name;
}

static const char *const formats[] = {"table", "json", "csv", "create-fleet", "karpenter", "kube-aws", NULL};
static const struct fth_option options[] = {
	{.name = "capacity", .letter = 'c', .type = FTH_OPT_INT, .arg = "N", .min = 1, .max = 1000000,
	 .help = "units of capacity that must be there, as the tables count them (ECU)"},
	{.name = "tier", .type = FTH_OPT_TEXT, .many = true, .arg = "NAME=N",
	 .help = "instead of --capacity: a tier of a service, each with machines of its own; the availability of the whole is told"},
	{.name = "policy", .type = FTH_OPT_CHOICE, .arg = "POLICY", .def = "search", .nth_choice = nth_method, .help = "what chooses the pool"},
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the plan; the last three are files to apply: EC2 CreateFleet requests, Karpenter node pools, kube-aws "
		 "node pools"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the plan; a file appears whole or not at all"},
	{.name = "iam-fleet-role", .type = FTH_OPT_TEXT, .arg = "ARN", .help = "role named in kube-aws node pools"},
	{0},
};
static const char *const examples[] = {
	"farthing plan spot --capacity 5000 --availability 0.99999 --pool record-us-east-1a.csv",
	"which spot machines hold 5,000 ECU for all but 26 seconds a month",
	"farthing plan spot -c 5000 -a 0.99999 -p a.csv -p b.csv --format karpenter --out pools.yaml",
	"over two zones, as node pools to apply",
	NULL,
};
const struct fth_verb fth_verb_plan_spot = {
	.name = "plan spot",
	.summary = "Find the cheapest spot machines that hold a capacity with a given availability",
	.about = "Spot machines of one type in one zone come and go together; different kinds fall independently unless --joint says "
		 "otherwise. The plan holds more than the capacity, so that what is left is enough for the given share of the time; its "
		 "availability is computed exactly. A lower bound that no pool can undercut is proven, and the gap to it printed. Where "
		 "machines on demand are cheaper, they are the plan.\n\n"
		 "The policy tr is the greedy of the TR-Kubernetes paper, tr-artifact that of its released program; the others are its rivals.",
	.options = {options, fth_options_spot_pool, fth_options_common},
	.examples = examples,
	.run = run,
};
