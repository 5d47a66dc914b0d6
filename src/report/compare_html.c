/* SPDX-License-Identifier: Apache-2.0 */
/* The report page: what to conclude, the figures behind it, and how they are defined. */
#include <math.h>

#include "report/compare.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/page.h"

/* ---- headline ---- */

static int money_decimals(double usd)
{
	return fabs(usd) >= 1000 ? 0 : 2;
}

static void money(struct fth_str *out, double usd)
{
	fth_human_usd(out, usd, money_decimals(usd));
}

static void headline(const struct fth_figures *f, struct fth_str *out)
{
	const struct fth_comparison *c = f->c;
	size_t best = fth_comparison_cheapest(c), base = fth_comparison_baseline(c);
	const struct fth_run *b = &c->runs[best], *z = &c->runs[base];
	bool decided = fth_comparison_decided(c);
	double saved = decided ? fth_usd(z->cost) - fth_usd(b->cost) : 0;
	fth_str_add(out, "<h1>");
	if (decided) {
		fth_html_text(out, f->labels[best].data);
		fth_str_add(out, c->nruns > 1 ? " is cheapest: " : " runs this workload for ");
		money(out, fth_usd(b->cost));
	} else {
		fth_str_add(out, "No policy ran this workload to its end by itself");
	}
	if (best != base && saved > 0) {
		fth_str_add(out, ", ");
		fth_human_percent(out, saved / fth_usd(z->cost), 1);
		fth_str_add(out, " less than ");
		fth_html_text(out, f->labels[base].data);
	}
	fth_str_add(out, "</h1>\n<p class=\"lead\">");
	if (best != base && saved > 0) {
		double d = z->jct_mean_s > 0 ? b->jct_mean_s / z->jct_mean_s - 1 : 0;
		struct fth_time_unit unit = fth_human_unit(FTH_MAX(b->jct_mean_s, z->jct_mean_s));
		fth_str_add(out, "It saves ");
		money(out, saved);
		fth_str_add(out, ". The price: a job takes ");
		fth_human_duration(out, b->jct_mean_s, unit);
		fth_str_add(out, " on average instead of ");
		fth_human_duration(out, z->jct_mean_s, unit);
		fth_str_add(out, " (");
		fth_human_percent(out, fabs(d), 1);
		fth_str_add(out, d >= 0 ? " longer), " : " shorter), ");
		if (b->migrations && b->jobs) {
			fth_str_add(out, "and is moved ");
			fth_human_real(out, (double)b->migrations / (double)b->jobs, 1);
			fth_str_add(out, " times. ");
		} else {
			fth_str_add(out, "and is never moved. ");
		}
	}
	fth_str_add(out, "Simulated on <b>");
	fth_html_text(out, fth_comparison_workload(c));
	fth_str_add(out, "</b>: ");
	fth_human_int(out, (int64_t)c->workload.jobs);
	fth_str_add(out, " jobs submitted over ");
	double span = (double)(c->workload.last_submit - c->workload.first_submit) / (double)FTH_SEC;
	fth_human_duration(out, span, span >= 4 * 86400 ? (struct fth_time_unit){"days", 86400} : fth_human_unit(span));
	fth_str_addf(out, ", %u instance types on offer.", c->catalog_types);
	if (!isnan(fth_comparison_gap(c, best))) {
		fth_str_add(out, c->bound->certified ? " No policy can run it for less than " : " The least it could cost is estimated at ");
		money(out, fth_usd(c->bound->usd));
		fth_str_add(out, c->bound->certified ? ": that is proven." : ".");
	}
	fth_str_add(out, "</p>\n");
}

static void tile(struct fth_str *out, const char *class, const char *text, struct fth_str *value)
{
	fth_str_addf(out, "<div class=\"tile%s\"><b>", class);
	fth_html_text(out, value->data ? value->data : "");
	fth_str_addf(out, "</b><span>%s</span></div>", text);
	fth_str_clear(value);
}

static void tiles(const struct fth_figures *f, struct fth_str *out)
{
	const struct fth_comparison *c = f->c;
	size_t best = fth_comparison_cheapest(c), base = fth_comparison_baseline(c);
	const struct fth_run *b = &c->runs[best];
	double cost = fth_usd(b->cost), saved = fth_usd(c->runs[base].cost) - cost;
	struct fth_str v = {0};
	fth_str_add(out, "<div class=\"tiles\">");
	money(&v, cost);
	tile(out, "", "total cost", &v);
	if (best != base && fth_comparison_decided(c)) {
		money(&v, saved);
		tile(out, " good", "saved", &v);
	}
	if (b->jobs) {
		fth_human_usd(&v, cost / (double)b->jobs, 2);
		tile(out, "", "per job", &v);
	}
	if (!isnan(fth_comparison_gap(c, best))) {
		fth_human_percent(&v, fth_comparison_gap(c, best), 1);
		tile(out, "", c->bound->certified ? "above the proven lower bound" : "above the estimated least", &v);
	}
	fth_human_duration(&v, b->jct_mean_s, fth_human_unit(b->jct_mean_s));
	tile(out, "", "mean completion time", &v);
	fth_human_duration(&v, b->wait_mean_s, fth_human_unit(b->wait_mean_s));
	tile(out, "", "mean wait for the first start", &v);
	fth_human_percent(&v, b->utilization, 0);
	tile(out, "", "of what is paid is used", &v);
	fth_str_add(out, "</div>\n");
	fth_str_release(&v);
}

static void service_warnings(const struct fth_run *r, struct fth_str *out)
{
	for (size_t k = 0; k < r->services.len; k++) {
		struct fth_str text = {0};
		if (!fth_run_service_missed(&r->services.data[k]))
			continue;
		fth_run_service_remark(&r->services.data[k], &text);
		fth_html_text(out, text.data);
		fth_str_add(out, ". ");
		fth_str_release(&text);
	}
}

/* What a reader must know before trusting a figure. */
static void warnings(const struct fth_figures *f, struct fth_str *out)
{
	for (size_t i = 0; i < f->c->nruns; i++) {
		const struct fth_run *r = &f->c->runs[i];
		bool missed = false;
		for (size_t k = 0; k < r->services.len; k++)
			missed |= fth_run_service_missed(&r->services.data[k]);
		if (!r->jobs_unfinished && !r->fallback[0] && !r->rejected_actions && !missed)
			continue;
		fth_str_add(out, "<p class=\"warn\"><b>");
		fth_html_text(out, f->labels[i].data);
		fth_str_add(out, "</b>: ");
		if (r->jobs_unfinished) {
			fth_human_int(out, (int64_t)r->jobs_unfinished);
			fth_str_add(out, r->jobs_unfinished == 1 ? " job did not end; its cost cannot be compared. " : " jobs did not end; its cost cannot be compared. ");
		}
		service_warnings(r, out);
		if (r->fallback[0]) {
			fth_html_text(out, r->note.len ? r->note.data : "the policy failed; a fallback took over");
			fth_str_add(out, ". ");
		}
		if (r->rejected_actions) {
			fth_human_int(out, (int64_t)r->rejected_actions);
			fth_str_add(out, " of its actions were refused: ");
			fth_html_text(out, r->rejected_by.len ? r->rejected_by.data : "");
		}
		fth_str_add(out, "</p>\n");
	}
}

/* ---- table ---- */

static void td(struct fth_str *out, struct fth_str *value)
{
	fth_str_add(out, "<td>");
	fth_html_text(out, value->data ? value->data : "");
	fth_str_add(out, "</td>");
	fth_str_clear(value);
}

static void td_time(struct fth_str *out, double s, double longest)
{
	struct fth_str v = {0};
	fth_human_duration(&v, s, fth_human_unit(longest));
	td(out, &v);
	fth_str_release(&v);
}

static void td_int(struct fth_str *out, uint64_t n)
{
	struct fth_str v = {0};
	fth_human_int(&v, (int64_t)n);
	td(out, &v);
	fth_str_release(&v);
}

static bool any_service(const struct fth_comparison *c)
{
	for (size_t i = 0; i < c->nruns; i++)
		if (c->runs[i].services.len)
			return true;
	return false;
}

static void table_row(const struct fth_figures *f, size_t run, const struct fth_run *longest, struct fth_str *out)
{
	const struct fth_comparison *c = f->c;
	const struct fth_run *r = &c->runs[run];
	size_t best = fth_comparison_decided(c) ? fth_comparison_cheapest(c) : SIZE_MAX;
	struct fth_str v = {0};
	fth_str_add(out, run == best ? "<tr class=\"best\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
	fth_html_text(out, f->labels[run].data);
	fth_str_add(out, run == best && c->nruns > 1 ? "<span class=\"tag\">cheapest</span></th>" : "</th>");
	fth_human_usd(&v, fth_usd(r->cost), 2);
	td(out, &v);
	if (isnan(fth_comparison_saved(c, run)))
		fth_str_add(&v, "\xe2\x80\x93");
	else
		fth_human_percent(&v, fth_comparison_saved(c, run), 1);
	td(out, &v);
	if (isnan(fth_comparison_gap(c, run)))
		fth_str_add(&v, "\xe2\x80\x93");
	else
		fth_human_percent(&v, fth_comparison_gap(c, run), 1);
	td(out, &v);
	td_time(out, r->jct_mean_s, longest->jct_mean_s);
	td_time(out, r->jct_p95_s, longest->jct_p95_s);
	td_time(out, r->wait_mean_s, longest->wait_mean_s);
	td_time(out, r->idle_mean_s, longest->idle_mean_s);
	td_int(out, r->instances_launched);
	td_int(out, r->migrations);
	fth_human_real(&v, r->tasks_per_instance, 2);
	td(out, &v);
	for (int k = 0; k < 3; k++) {
		fth_human_percent(&v, r->alloc[k], 0);
		td(out, &v);
	}
	fth_human_real(&v, r->norm_throughput, 3);
	td(out, &v);
	td_int(out, r->rejected_actions);
	if (any_service(c)) {
		const struct fth_run_service *worst = fth_run_worst_service(r);
		fth_human_availability(&v, worst ? fth_run_service_availability(worst) : NAN);
		td(out, &v);
	}
	fth_str_add(out, "</tr>\n");
	fth_str_release(&v);
}

static void table(const struct fth_figures *f, struct fth_str *out)
{
	static const char *const heads[] = {"Policy", "Cost",	   "Saved",  "Gap", "JCT mean", "JCT p95",
					    "Wait",   "Not executing", "Instances", "Moves", "Tasks / instance", "GPU",
					    "CPU",    "Memory",	   "Speed",  "Refused"};
	struct fth_run longest = {0};
	for (size_t i = 0; i < f->c->nruns; i++) {
		const struct fth_run *r = &f->c->runs[i];
		longest.jct_mean_s = FTH_MAX(longest.jct_mean_s, r->jct_mean_s);
		longest.jct_p95_s = FTH_MAX(longest.jct_p95_s, r->jct_p95_s);
		longest.wait_mean_s = FTH_MAX(longest.wait_mean_s, r->wait_mean_s);
		longest.idle_mean_s = FTH_MAX(longest.idle_mean_s, r->idle_mean_s);
	}
	fth_str_add(out, "<h2>All figures</h2>\n<div class=\"card scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"All figures\"><table><thead><tr>");
	for (size_t i = 0; i < FTH_COUNT(heads); i++)
		fth_str_addf(out, "<th scope=\"col\">%s</th>", heads[i]);
	if (any_service(f->c))
		fth_str_add(out, "<th scope=\"col\">Services there</th>");
	fth_str_add(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < f->c->nruns; i++)
		table_row(f, i, &longest, out);
	fth_str_add(out, "</tbody></table></div>\n");
}

/* Of rigid jobs: what a used node-hour costs, and who paid for the hours. */
static void payment_table(const struct fth_figures *f, struct fth_str *out)
{
	static const char *const heads[] = {"Policy", "Per used node-hour", "Used of what is paid", "At list price", "Hours paid as"};
	struct fth_str v = {0};
	bool prorated = false;
	if (!f->c->workload.rigid_jobs)
		return;
	fth_str_add(out, "<h2>How the hours were paid for</h2>\n<div class=\"card scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"How the hours were paid for\"><table><thead><tr>");
	for (size_t i = 0; i < FTH_COUNT(heads); i++)
		fth_str_addf(out, "<th scope=\"col\">%s</th>", heads[i]);
	fth_str_add(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < f->c->nruns; i++) {
		const struct fth_run *r = &f->c->runs[i];
		prorated |= r->prorated;
		fth_str_add(out, "<tr><th scope=\"row\">");
		fth_html_text(out, f->labels[i].data);
		fth_str_add(out, "</th>");
		fth_human_usd(&v, fth_run_node_rate(r), 3);
		td(out, &v);
		fth_human_percent(&v, r->utilization, 1);
		td(out, &v);
		fth_human_usd(&v, fth_usd(r->list_cost), 2);
		td(out, &v);
		fth_run_paid_as(r, &v);
		td(out, &v);
		fth_str_add(out, "</tr>\n");
	}
	fth_str_add(out, "</tbody></table></div>\n");
	if (prorated)
		fth_str_add(out, "<p>With contract=hybrid and contract=online the fees of contracts are counted by the time they were held: "
				 "what is left of them after the run is not in the cost.</p>\n");
	fth_str_release(&v);
}

/* ---- one policy ---- */

static void run_notes(const struct fth_run *r, struct fth_str *out)
{
	fth_str_add(out, "<details><summary>Parameters and counts</summary><dl class=\"defs\">");
	fth_str_add(out, "<dt>Parameters</dt><dd><code>");
	fth_html_text(out, r->params.len ? r->params.data : "{}");
	fth_str_add(out, "</code></dd><dt>Decisions</dt><dd>");
	fth_human_int(out, (int64_t)r->rounds);
	fth_str_add(out, " rounds, of which ");
	fth_human_int(out, (int64_t)r->rounds_decided);
	fth_str_add(out, " changed something; ");
	fth_human_int(out, (int64_t)r->events);
	fth_str_addf(out, " events; simulated in %.2f s, longest decision %.1f ms</dd><dt>Troubles</dt><dd>", r->wall_s,
		     r->decide_max_s * 1e3);
	fth_human_int(out, (int64_t)r->rejected_actions);
	fth_str_add(out, " actions refused, ");
	fth_human_int(out, (int64_t)r->launch_failures);
	fth_str_add(out, " launches failed, ");
	fth_human_int(out, (int64_t)r->lost_tasks);
	fth_str_add(out, " tasks fell with their machine, ");
	fth_human_int(out, (int64_t)r->preemptions);
	fth_str_add(out, " were preempted</dd>");
	for (size_t i = 0; i < r->services.len; i++) {
		const struct fth_run_service *s = &r->services.data[i];
		fth_str_add(out, "<dt>Service ");
		fth_html_text(out, s->name);
		fth_str_add(out, "</dt><dd>all of it there ");
		fth_human_availability(out, fth_run_service_availability(s));
		fth_str_add(out, " of the time from when it first was");
		if (s->target > 0)
			fth_str_addf(out, "; asked for: %.10g", s->target);
		fth_str_add(out, "</dd>");
	}
	for (size_t i = 0; i < r->notes.len; i++) {
		const struct fth_run_note *n = &r->notes.data[i];
		fth_str_add(out, "<dt>");
		fth_html_text(out, n->name);
		fth_str_addf(out, "</dt><dd>sum %.6g, mean %.6g, greatest %.6g, last %.6g</dd>", n->sum,
			     n->count ? n->sum / (double)n->count : 0, n->max, n->last);
	}
	fth_str_add(out, "</dl></details>\n");
}

static void panel(const struct fth_figures *f, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &f->c->runs[run];
	fth_str_addf(out, "<input type=\"radio\" name=\"run\" id=\"t%zu\"%s><label for=\"t%zu\">", run,
		     run == fth_comparison_cheapest(f->c) ? " checked" : "", run);
	fth_html_text(out, f->labels[run].data);
	fth_str_add(out, "</label>\n<div class=\"panel\"><div class=\"grid\">\n");
	fth_figure_types(f, run, out);
	fth_figure_utilisation(f, run, out);
	fth_figure_tasks(f, run, out);
	fth_figure_gantt(f, run, out);
	fth_str_add(out, "</div>");
	run_notes(r, out);
	fth_str_add(out, "</div>\n");
}

/* ---- definitions ---- */

static void source(struct fth_str *out, const char *name, const char *path)
{
	if (!path)
		return;
	fth_str_addf(out, "<dt>%s</dt><dd><code>", name);
	fth_html_text(out, path);
	fth_str_add(out, "</code></dd>");
}

static void definitions(const struct fth_comparison *c, struct fth_str *out)
{
	static const struct {
		const char *word, *meaning;
	} defs[] = {
		{"Cost", "every instance at its price, from the moment its bill starts to the moment it is given back, "
			 "by the billing rule of its offer; summed to the nano-dollar; after contracts and discounts by month where a run has them."},
		{"Saved", "against no-packing (every task alone on the cheapest machine that holds it) where it ran, else "
			  "against the first policy; runs that left jobs save nothing that counts."},
		{"Gap", "how far the cost is above a lower bound that no policy can pass, clairvoyant or not: every hour of work done "
			"on the best-filled machines that exist, nothing for waiting, booting and moving."},
		{"Completion time (JCT)", "from a job\xe2\x80\x99s submission to the end of its last task; p95: 95% of jobs "
					  "take no longer."},
		{"Wait", "from submission until the first task of the job is launched for the first time."},
		{"Not executing", "the part of the completion time in which the job does not run: waiting, set-up, and "
				  "being moved."},
		{"Moves", "migrations of jobs that had been launched; a job whose tasks move together counts once."},
		{"Tasks / instance; GPU, CPU, memory", "tasks given to rented machines, and the share of their capacity "
						       "given to tasks, weighted by time."},
		{"Speed", "observed speed of a job\xe2\x80\x99s launched tasks, mean over jobs: 1 means that no neighbour slowed a job down."},
		{"Where the money went", "booting: rented but not yet ready. Ready but empty: no task. Room left beside "
					 "tasks: the part of a machine with tasks that even its most used resource leaves "
					 "free. Rounded up at the end: charged beyond the time a machine was there. Used: the rest."},
		{"Short tasks", "those of jobs whose estimate is within the policy\xe2\x80\x99s cutoff; delay: from the job\xe2\x80\x99s arrival to the start of the "
				"task. Transients active: spot slots that were up, mean between the first and the last arrival."},
		{"Refused", "actions of the policy that were impossible or stale, and were not carried out."},
	};
	fth_str_add(out, "<h2>Assumptions and definitions</h2>\n<div class=\"card\"><dl class=\"defs\">");
	source(out, "Workload", c->workload_path);
	source(out, "Catalog", c->catalog_path);
	source(out, "Interference", c->interference_path);
	source(out, "Market", c->market_path);
	fth_str_addf(out, "<dt>Seed</dt><dd>%lld; the same input gives the same figures</dd>", (long long)c->seed);
	for (size_t i = 0; i < c->nassumptions; i++) {
		fth_str_add(out, i ? "<dt></dt><dd>" : "<dt>Modelled world</dt><dd>");
		fth_html_text(out, c->assumptions[i]);
		fth_str_add(out, "</dd>");
	}
	for (size_t i = 0; i < FTH_COUNT(defs); i++)
		fth_str_addf(out, "<dt>%s</dt><dd>%s</dd>\n", defs[i].word, defs[i].meaning);
	fth_str_add(out, "</dl></div>\n");
}

void fth_comparison_html(const struct fth_comparison *c, struct fth_str *out)
{
	struct fth_figures f;
	struct fth_str title = {0};
	fth_str_addf(&title, "%s: cost report", fth_comparison_workload(c));
	fth_page_begin(out, title.data);
	fth_str_release(&title);
	if (!c->nruns) {
		fth_str_add(out, "<h1>No runs</h1>\n");
		fth_page_end(out, c->version, c->command);
		return;
	}
	fth_figures_init(&f, c);
	fth_str_add(out, c->nruns > 1 ? "<p class=\"kind\">Cost comparison of cluster policies</p>"
				      : "<p class=\"kind\">Cost of a workload</p>");
	headline(&f, out);
	warnings(&f, out);
	tiles(&f, out);
	fth_str_add(out, "<div class=\"grid\">\n");
	if (c->nruns > 1) {
		fth_figure_cost(&f, out);
		fth_figure_jct(&f, out);
	}
	fth_figure_waste(&f, out);
	fth_figure_cdf(&f, out);
	if (fth_figures_have_classes(&f))
		fth_figure_short_delay(&f, out);
	fth_str_add(out, "</div>\n");
	if (fth_figures_have_classes(&f))
		fth_table_short(&f, out);
	table(&f, out);
	payment_table(&f, out);
	fth_str_add(out, "<h2>Cost over time</h2>\n<div class=\"grid\">\n");
	fth_figure_cost_total(&f, out);
	fth_figure_cost_rate(&f, out);
	fth_str_add(out, "</div>\n<h2>The cluster over time</h2>\n<div class=\"tabs\">\n");
	for (size_t i = 0; i < c->nruns; i++)
		panel(&f, i, out);
	fth_str_add(out, "</div>\n");
	definitions(c, out);
	fth_page_end(out, c->version, c->command);
	fth_figures_release(&f);
}
