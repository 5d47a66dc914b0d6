/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report page that is about short tasks: how long they waited, and the transient machines that were there for them. */
#include "report/figures.h"
#include "report/format.h"
#include "report/page.h"
#include "report/plot.h"

bool fth_figures_have_classes(const struct fth_figures *f)
{
	for (size_t i = 0; i < f->c->nruns; i++)
		if (f->c->runs[i].classes)
			return true;
	return false;
}

void fth_figure_short_delay(const struct fth_figures *f, struct fth_str *out)
{
	static double share[FTH_RUN_QUANTILES];
	size_t n = 0;
	struct fth_series *series = fth_alloc((f->c->nruns + 1) * sizeof(*series));
	double *x = fth_alloc((f->c->nruns + 1) * FTH_RUN_QUANTILES * sizeof(*x));
	for (int k = 0; k < FTH_RUN_QUANTILES; k++)
		share[k] = (double)k / (FTH_RUN_QUANTILES - 1);
	for (size_t i = 0; i < f->c->nruns; i++) {
		const struct fth_run *r = &f->c->runs[i];
		double *own = &x[i * FTH_RUN_QUANTILES];
		if (!r->classes)
			continue;
		for (int k = 0; k < FTH_RUN_QUANTILES; k++)
			own[k] = FTH_MAX(r->delay_quantiles[k], 1e-3);
		series[n++] = (struct fth_series){.name = f->labels[i].data, .colour = fth_run_colour(i), .dash = fth_run_dash(i),
						  .x = own, .y = share, .n = FTH_RUN_QUANTILES};
	}
	struct fth_plot p = {.id = "short-delay", .title = "Queueing delay of short tasks",
			     .subtitle = "share of short tasks that waited at most this long",
			     .desc = "One line per policy: cumulative distribution of the delay, logarithmic time axis.",
			     .x = {.unit = FTH_UNIT_SECONDS, .log = true}, .y = {.unit = FTH_UNIT_SHARE, .max = 1},
			     .series = series, .nseries = n};
	fth_plot_html(&p, out);
	free(x);
	free(series);
}

static void row(const struct fth_run *r, const char *label, struct fth_str *out)
{
	const struct fth_run_spread *d = &r->short_task_delay;
	const struct fth_run_transient *t = &r->transient;
	fth_str_add(out, "<tr><th scope=\"row\">");
	fth_html_text(out, label);
	fth_str_addf(out, "</th><td>%.2f s</td><td>%.3f s</td><td>%.1f s</td><td>%.1f s</td><td>%.0f s</td><td>%.1f s</td><td>%.0f s</td>",
		     d->mean, d->p50, d->p90, d->p99, d->max, r->short_jobs.mean, r->long_jobs.mean);
	fth_str_addf(out, "<td>%.1f</td><td>%.2f h</td><td>%.2f h</td><td>", t->avg_active, t->lifetime_mean_h, t->lifetime_max_h);
	fth_human_usd(out, t->cost_usd, 2);
	fth_str_addf(out, "</td><td>%llu</td><td>", (unsigned long long)t->lost_tasks);
	fth_human_usd(out, t->lost_usd, 2);
	fth_str_add(out, "</td></tr>\n");
}

void fth_table_short(const struct fth_figures *f, struct fth_str *out)
{
	static const char *const heads[] = {"Policy", "Delay, mean", "median", "p90", "p99", "greatest", "Short jobs, mean", "Long jobs, mean",
					    "Transients active", "Life, mean", "longest", "Paid for them", "Tasks lost", "Paid for those"};
	fth_str_add(out, "<h2>Short tasks and transient machines</h2>\n<div class=\"card scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"Short tasks and transient machines\"><table><thead><tr>");
	for (size_t i = 0; i < FTH_COUNT(heads); i++)
		fth_str_addf(out, "<th scope=\"col\">%s</th>", heads[i]);
	fth_str_add(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < f->c->nruns; i++)
		if (f->c->runs[i].classes)
			row(&f->c->runs[i], f->labels[i].data, out);
	fth_str_add(out, "</tbody></table></div>\n");
}
