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

static double days_of(const struct fth_reserve_report *r, const struct fth_purchase *b)
{
	return (double)b->row * (double)r->demand->interval / (double)FTH_DAY;
}

/* Methods, costs and totals. */
static void plans_table(const struct fth_reserve_report *r, bool colour, struct fth_str *out)
{
	fth_str_addf(out, "%-26s %14s %14s %9s  %s\n", "method", "cost", "less residual", "above", "bought");
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
	fth_str_add(out, "\ncost: fees in full; less residual: without the part of the fees that belongs to the time after the demand;\n"
			 "above: cost less residual above the lower bound\n");
}

/* Contracts of which less than half lies within the demand: only fees by the time held make them look cheap. */
static uint64_t bought_late(const struct fth_reserve_report *r, const struct fth_portfolio *p)
{
	uint64_t late = 0;
	for (size_t i = 0; i < p->bought.len; i++) {
		const struct fth_reserve_class *c = &r->market->classes.data[p->bought.data[i].class];
		fth_time from = r->demand->start + (fth_time)p->bought.data[i].row * r->demand->interval;
		late += r->demand->end - from < c->term / 2 ? p->bought.data[i].count : 0;
	}
	return late;
}

/* When the best plan buys what, a line a day of purchase; a long list is cut. */
static void purchases_table(const struct fth_reserve_report *r, struct fth_str *out)
{
	enum { LINES_MAX = 20 };
	const struct fth_reserve_report_plan *plan = &r->plans.data[fth_reserve_report_best(r)];
	const struct fth_portfolio *p = &plan->portfolio;
	unsigned lines = 0;
	size_t i = 0;
	if (!p->bought.len)
		return;
	fth_str_addf(out, "\n%s buys, on day\n", plan->method);
	for (; i < p->bought.len && lines < LINES_MAX; lines++) {
		uint32_t row = p->bought.data[i].row;
		fth_str_addf(out, "%8.0f  ", days_of(r, &p->bought.data[i]));
		for (bool first = true; i < p->bought.len && p->bought.data[i].row == row; i++, first = false)
			fth_str_addf(out, "%s%u %s", first ? "" : ", ", p->bought.data[i].count, class_name(r, p->bought.data[i].class));
		fth_str_addc(out, '\n');
	}
	if (i < p->bought.len)
		fth_str_addf(out, "          and %zu more, which JSON and CSV tell\n", p->bought.len - i);
	uint64_t late = bought_late(r, p);
	if (late)
		fth_str_addf(out, "%llu of these run for more than half their term after the demand: worth it only if it goes on (see --full-term)\n",
			     (unsigned long long)late);
}

/* The regret curves at eleven numbers, and where each is lowest. */
static void regret_table(const struct fth_reserve_report *r, struct fth_str *out)
{
	if (!r->curves.len)
		return;
	fth_str_addf(out, "\ncost by number committed for the whole time (of one class; fees by the time held)\n%-10s", "committed");
	for (size_t i = 0; i < r->curves.len; i++)
		fth_str_addf(out, " %14.14s", class_name(r, r->curves.data[i].class));
	fth_str_addc(out, '\n');
	const struct fth_reserve_curve *any = &r->curves.data[0];
	size_t last = SIZE_MAX;
	for (size_t part = 0; part <= 10; part++) {
		size_t at = part * (any->count.len - 1) / 10;
		if (at == last)
			continue;
		fth_str_addf(out, "%-10.0f", any->count.data[at]);
		for (size_t i = 0; i < r->curves.len; i++)
			money(out, r->curves.data[i].usd.data[at], 15);
		fth_str_addc(out, '\n');
		last = at;
	}
	fth_str_addf(out, "%-10s", "best at");
	for (size_t i = 0; i < r->curves.len; i++) {
		const struct fth_reserve_curve *c = &r->curves.data[i];
		size_t best = 0;
		for (size_t k = 1; k < c->usd.len; k++)
			best = c->usd.data[k] < c->usd.data[best] ? k : best;
		fth_str_addf(out, " %14.0f", c->count.data[best]);
	}
	fth_str_addc(out, '\n');
}

void fth_reserve_table(const struct fth_reserve_report *r, bool colour, struct fth_str *out)
{
	const struct fth_demand *d = r->demand;
	double days = (double)(d->end - d->start) / (double)FTH_DAY;
	fth_str_addf(out, "%.0f instance-hours over %.1f days, at most %u at once; lower bound ", fth_demand_total(d), days, d->levels);
	fth_human_usd(out, r->lower_bound, 0);
	fth_str_addf(out, " (%s)\n\n", r->dual_bound ? "dual" : "optimal-competitive");
	plans_table(r, colour, out);
	purchases_table(r, out);
	regret_table(r, out);
}

/* ---- page ---- */

/* Of the best plan: contracts in force over time. */
static void held_plot(const struct fth_reserve_report *r, struct fth_str *out)
{
	const struct fth_demand *d = r->demand;
	const struct fth_portfolio *p = &r->plans.data[fth_reserve_report_best(r)].portfolio;
	size_t n = r->market->classes.len;
	FTH_VEC(struct fth_series) lines = {0};
	double *days = fth_alloc(d->rows * sizeof(*days)), *held = fth_alloc((n + 1) * d->rows * sizeof(*held));
	for (uint32_t row = 0; row < d->rows; row++) {
		double hours = fth_demand_row_hours(d, row);
		days[row] = (double)row * (double)d->interval / (double)FTH_DAY;
		for (uint32_t j = 0; j < d->levels; j++)
			held[n * d->rows + row] += fth_demand_at(d, row, j) / hours;
	}
	for (size_t i = 0; i < p->bought.len; i++) {
		const struct fth_purchase *b = &p->bought.data[i];
		for (uint32_t row = b->row; row < fth_reserve_until(&r->market->classes.data[b->class], d, b->row); row++)
			held[b->class * d->rows + row] += b->count;
	}
	for (size_t k = 0; k <= n; k++) {
		double most = 0;
		for (uint32_t row = 0; row < d->rows; row++)
			most = FTH_MAX(most, held[k * d->rows + row]);
		if (most > 0)
			fth_vec_push(&lines, ((struct fth_series){.name = k < n ? class_name(r, k) : "mean demand of the week",
								  .kind = FTH_SERIES_LINE,
								  .colour = (unsigned)(k % FTH_COLOURS),
								  .dash = (unsigned)(k / FTH_COLOURS),
								  .x = days,
								  .y = &held[k * d->rows],
								  .n = d->rows}));
	}
	struct fth_plot plot = {.id = "held",
				.title = "Contracts in force under the best plan",
				.subtitle = "by week, beside the mean number of machines in use",
				.x = {.label = "day"},
				.y = {.label = "contracts, machines"},
				.series = lines.data,
				.nseries = lines.len};
	if (lines.len)
		fth_plot_html(&plot, out);
	fth_vec_release(&lines);
	free(days);
	free(held);
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
				.y = {.label = "cost less residual", .unit = FTH_UNIT_USD},
				.series = lines.data,
				.nseries = lines.len};
	if (lines.len)
		fth_plot_html(&plot, out);
	held_plot(r, out);
	fth_page_end(out, r->version, r->command);
	fth_str_release(&text);
	fth_vec_release(&lines);
}
