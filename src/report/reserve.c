/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reserve.h"

#include "report/format.h"
#include "report/page.h"
#include "report/plot.h"

void fth_reserve_report_release(struct fth_reserve_report *r)
{
	for (size_t i = 0; i < r->plans.len; i++)
		fth_portfolio_release(&r->plans.data[i].portfolio);
	for (size_t i = 0; i < r->curves.len; i++) {
		fth_vec_release(&r->curves.data[i].count);
		fth_vec_release(&r->curves.data[i].usd);
	}
	fth_vec_release(&r->plans);
	fth_vec_release(&r->curves);
}

size_t fth_reserve_report_best(const struct fth_reserve_report *r)
{
	size_t best = 0;
	for (size_t i = 1; i < r->plans.len; i++)
		if (r->plans.data[i].portfolio.pure < r->plans.data[best].portfolio.pure)
			best = i;
	return best;
}

static const char *class_name(const struct fth_reserve_report *r, size_t k)
{
	return k < r->market->classes.len ? fth_sym_str(r->market->syms, r->market->classes.data[k].name) : "on-demand";
}

static double gap_of(const struct fth_reserve_report *r, const struct fth_portfolio *p)
{
	double gap = r->lower_bound > 0 ? p->pure / r->lower_bound - 1 : 0;
	return gap < 0 && gap > -1e-9 ? 0 : gap; /* rounding of sums */
}

static double at_s(const struct fth_reserve_report *r, const struct fth_purchase *b)
{
	return (double)(r->demand->start + (fth_time)b->row * r->demand->interval) / (double)FTH_SEC;
}

/* ---- JSON ---- */

static void json_plan(const struct fth_reserve_report *r, const struct fth_reserve_report_plan *plan, struct fth_json *j)
{
	const struct fth_portfolio *p = &plan->portfolio;
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "method", plan->method);
	fth_json_real(j, "cost_usd", p->cost);
	fth_json_real(j, "pure_cost_usd", p->pure);
	fth_json_real(j, "gap", gap_of(r, p));
	fth_json_begin(j, "purchases", '[');
	for (size_t i = 0; i < p->bought.len; i++) {
		const struct fth_purchase *b = &p->bought.data[i];
		const struct fth_reserve_class *c = &r->market->classes.data[b->class];
		fth_json_begin(j, NULL, '{');
		fth_json_real(j, "at", at_s(r, b));
		fth_json_text(j, "class", class_name(r, b->class));
		fth_json_int(j, "count", b->count);
		if (c->savings_plan)
			fth_json_real(j, "commit_usd_per_hour", (double)b->count * c->price);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
	fth_json_begin(j, "hours", '{');
	for (size_t k = 0; k < p->hours.len; k++)
		fth_json_real(j, class_name(r, k), p->hours.data[k]);
	fth_json_end(j, '}');
	fth_json_end(j, '}');
}

void fth_reserve_json(const struct fth_reserve_report *r, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.plan.reserve/1");
	fth_json_real(&j, "lower_bound_usd", r->lower_bound);
	fth_json_text(&j, "lower_bound_by", r->dual_bound ? "dual" : "optimal-competitive");
	fth_json_real(&j, "optimal_competitive_usd", r->competitive);
	fth_json_real(&j, "demand_hours", fth_demand_total(r->demand));
	fth_json_int(&j, "peak_instances", r->demand->levels);
	fth_json_text(&j, "best", r->plans.len ? r->plans.data[fth_reserve_report_best(r)].method : NULL);
	fth_json_begin(&j, "plans", '[');
	for (size_t i = 0; i < r->plans.len; i++)
		json_plan(r, &r->plans.data[i], &j);
	fth_json_end(&j, ']');
	fth_json_begin(&j, "regret", '[');
	for (size_t i = 0; i < r->curves.len; i++) {
		const struct fth_reserve_curve *c = &r->curves.data[i];
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "class", class_name(r, c->class));
		fth_json_begin(&j, "committed", '[');
		for (size_t k = 0; k < c->count.len; k++)
			fth_json_real(&j, NULL, c->count.data[k]);
		fth_json_end(&j, ']');
		fth_json_begin(&j, "cost_usd", '[');
		for (size_t k = 0; k < c->usd.len; k++)
			fth_json_real(&j, NULL, c->usd.data[k]);
		fth_json_end(&j, ']');
		fth_json_end(&j, '}');
	}
	fth_json_end(&j, ']');
	fth_json_real(&j, "wall_s", r->wall_s);
	fth_json_end(&j, '}');
}

void fth_reserve_csv(const struct fth_reserve_report *r, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	fth_str_add(out, "method,at_s,class,count,cost_usd,pure_cost_usd\r\n");
	for (size_t i = 0; i < r->plans.len; i++) {
		const struct fth_portfolio *p = &r->plans.data[i].portfolio;
		for (size_t k = 0; k < FTH_MAX(p->bought.len, (size_t)1); k++) {
			const struct fth_purchase *b = k < p->bought.len ? &p->bought.data[k] : NULL;
			fth_csvout_text(&v, r->plans.data[i].method);
			fth_csvout_seconds(&v, b ? r->demand->start + (fth_time)b->row * r->demand->interval : FTH_NEVER);
			fth_csvout_text(&v, b ? class_name(r, b->class) : "");
			fth_csvout_int(&v, b ? b->count : 0);
			fth_csvout_real(&v, p->cost);
			fth_csvout_real(&v, p->pure);
			fth_csvout_end(&v);
		}
	}
}

/* ---- for people ---- */

static void money(struct fth_str *out, double usd, int width)
{
	struct fth_str s = {0};
	fth_human_usd(&s, usd, 0);
	fth_str_addf(out, "%*s", width, s.data);
	fth_str_release(&s);
}

static void held_line(const struct fth_reserve_report *r, const struct fth_portfolio *p, struct fth_str *out)
{
	bool any = false;
	for (size_t k = 0; k < r->market->classes.len; k++) {
		uint64_t count = 0;
		for (size_t i = 0; i < p->bought.len; i++)
			count += p->bought.data[i].class == k ? p->bought.data[i].count : 0;
		if (count)
			fth_str_addf(out, "%s%llu %s", any ? ", " : "", (unsigned long long)count, class_name(r, k));
		any |= count > 0;
	}
	fth_str_add(out, any ? "\n" : "nothing\n");
}

void fth_reserve_table(const struct fth_reserve_report *r, bool colour, struct fth_str *out)
{
	const struct fth_demand *d = r->demand;
	double days = (double)(d->end - d->start) / (double)FTH_DAY;
	fth_str_addf(out, "%.0f instance-hours over %.1f days, at most %u at once; lower bound ", fth_demand_total(d), days, d->levels);
	fth_human_usd(out, r->lower_bound, 0);
	fth_str_addf(out, " (%s)\n\n%-26s %14s %14s %9s  %s\n", r->dual_bound ? "dual" : "optimal-competitive", "method", "cost",
		     "less residual", "above", "bought");
	size_t best = fth_reserve_report_best(r);
	for (size_t i = 0; i < r->plans.len; i++) {
		const struct fth_portfolio *p = &r->plans.data[i].portfolio;
		bool strong = colour && i == best;
		fth_str_addf(out, "%s%-26s%s ", strong ? "\033[1m" : "", r->plans.data[i].method, strong ? "\033[0m" : "");
		money(out, p->cost, 14);
		money(out, p->pure, 15);
		fth_str_addf(out, " %8.3f%%  ", 100 * gap_of(r, p));
		held_line(r, p, out);
	}
}

void fth_reserve_html(const struct fth_reserve_report *r, struct fth_str *out)
{
	FTH_VEC(struct fth_series) lines = {0};
	fth_page_begin(out, "How much to commit");
	struct fth_str text = {0};
	fth_reserve_table(r, false, &text);
	fth_str_add(out, "<h1>How much to commit</h1><pre>");
	fth_html_text(out, text.data);
	fth_str_add(out, "</pre>");
	for (size_t i = 0; i < r->curves.len; i++) {
		const struct fth_reserve_curve *c = &r->curves.data[i];
		fth_vec_push(&lines, ((struct fth_series){.name = class_name(r, c->class),
							  .kind = FTH_SERIES_LINE,
							  .colour = (unsigned)(i % FTH_COLOURS),
							  .dash = (unsigned)(i / FTH_COLOURS),
							  .x = c->count.data,
							  .y = c->usd.data,
							  .n = c->count.len}));
	}
	struct fth_plot plot = {.id = "regret",
				.title = "Cost against the number committed",
				.subtitle = "one class, held for the whole time; fees by the time held",
				.x = {.label = "committed"},
				.y = {.unit = FTH_UNIT_USD},
				.series = lines.data,
				.nseries = lines.len};
	if (lines.len)
		fth_plot_html(&plot, out);
	fth_page_end(out, r->version, r->command);
	fth_str_release(&text);
	fth_vec_release(&lines);
}
