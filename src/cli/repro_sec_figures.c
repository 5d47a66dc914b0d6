/* SPDX-License-Identifier: Apache-2.0 */
/* Figures 5 to 9 of the semi-elastic cluster paper. */
#include <math.h>

#include "cli/repro_sec.h"

static void add(struct fth_repro_book *b, struct fth_repro_page *p, const char *unit, double paper, double ours, const char *id,
		const char *label)
{
	fth_repro_add_row(b, p, id, label, unit, paper, ours);
}

/* ---- Figure 5: how long the first job may wait, and what is short ---- */

static const struct {
	const char *name, *value;
} waits[] = {{"0", "0"}, {"5min", "300"}, {"20min", "1200"}, {"60min", "3600"}},
  shorts[] = {{"0", "0"}, {"10min", "600"}, {"1h", "3600"}, {"4h", "14400"}, {"inf", "1000000000"}};
enum { NWAITS = FTH_COUNT(waits), NSHORTS = FTH_COUNT(shorts) };

static void plot_figure5(struct fth_repro_book *b, struct fth_repro_page *p, const double *wait, const double *rate)
{
	static const double minutes[NWAITS] = {0, 5, 20, 60};
	static const char *const names[NSHORTS] = {"T_short 0 (SumSize)", "10 min", "1 h", "4 h", "infinite (FirstSize)"};
	struct sec_plot plot = {.id = "sec-figure5a", .title = "Figure 5a: mean wait", .subtitle = "by T_short", .x_label = "T_waitlmt, minutes",
				.y_unit = FTH_UNIT_SECONDS, .nseries = NSHORTS, .n = NWAITS, .names = names, .x = minutes, .y = wait};
	fth_sec_add_plot(b, p, &plot);
	plot.id = "sec-figure5b";
	plot.title = "Figure 5b: dollars per used node-hour";
	plot.tight = true;
	plot.y_unit = FTH_UNIT_USD;
	plot.y = rate;
	fth_sec_add_plot(b, p, &plot);
}

int fth_sec_figure5(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	struct sec_setup u = {.trace = DATASTAR, .catalog = SEC_EC2, .alpha = 1};
	struct fth_world w;
	struct fth_repro_runs runs = {0};
	int number[NWAITS][NSHORTS], r = fth_sec_world(&w, req->data, &u, err);
	if (r)
		return r;
	for (size_t i = 0; i < NWAITS; i++)
		for (size_t k = 0; k < NSHORTS && !r; k++) {
			char policy[96];
			snprintf(policy, sizeof(policy), "sec:on_ready=false,t_wait=%s,t_short=%s", waits[i].value, shorts[k].value);
			number[i][k] = fth_repro_runs_add(&runs, &w, policy, "", err);
			r = number[i][k] < 0 ? number[i][k] : 0;
		}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, "figure5", "Wait and rate by T_waitlmt and T_short, DataStar");
		double wait[NSHORTS * NWAITS], rate[NSHORTS * NWAITS];
		for (size_t i = 0; i < NWAITS; i++)
			for (size_t k = 0; k < NSHORTS; k++) {
				const struct fth_run *run = fth_repro_runs_get(&runs, number[i][k]);
				char id[64], label[96];
				snprintf(id, sizeof(id), "wait-tw%s-ts%s", waits[i].name, shorts[k].name);
				snprintf(label, sizeof(label), "T_wait %s, T_short %s: mean wait", waits[i].name, shorts[k].name);
				add(b, p, "s", NAN, run->wait_mean_s, id, label);
				snprintf(id, sizeof(id), "rate-tw%s-ts%s", waits[i].name, shorts[k].name);
				snprintf(label, sizeof(label), "T_wait %s, T_short %s: dollars per used node-hour", waits[i].name,
					 shorts[k].name);
				add(b, p, "$", NAN, fth_run_node_rate(run), id, label);
				wait[k * NWAITS + i] = run->wait_mean_s;
				rate[k * NWAITS + i] = fth_run_node_rate(run);
			}
		plot_figure5(b, p, wait, rate);
		fth_repro_add_note(b, p, "The paper shows this as pictures: the wait grows with both thresholds and the rate falls.");
	}
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

/* ---- Figure 6: how wrong estimates are ---- */

int fth_sec_figure6(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const double alphas[] = {0, 0.5, 1, 2};
	static const char *const sizes[] = {"first", "sum", "best"};
	struct fth_world w[FTH_COUNT(alphas)];
	struct fth_repro_runs runs = {0};
	int number[3][FTH_COUNT(alphas)], r = 0;
	size_t made = 0;
	for (; made < FTH_COUNT(alphas) && !r; made += !r) {
		struct sec_setup u = {.trace = DATASTAR, .catalog = SEC_EC2, .alpha = alphas[made]};
		r = fth_sec_world(&w[made], req->data, &u, err);
	}
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < made && !r; k++) {
			char policy[64];
			snprintf(policy, sizeof(policy), "sec:on_ready=false,size=%s", sizes[i]);
			number[i][k] = fth_repro_runs_add(&runs, &w[k], policy, "", err);
			r = number[i][k] < 0 ? number[i][k] : 0;
		}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, "figure6", "Overestimated runtimes, DataStar");
		double wait[3 * FTH_COUNT(alphas)], rate[3 * FTH_COUNT(alphas)];
		for (size_t i = 0; i < 3; i++) {
			double lo = 2, hi = 0;
			char id[64], label[96];
			for (size_t k = 0; k < FTH_COUNT(alphas); k++) {
				const struct fth_run *run = fth_repro_runs_get(&runs, number[i][k]);
				snprintf(id, sizeof(id), "wait-%s-a%g", sizes[i], alphas[k]);
				snprintf(label, sizeof(label), "%s size, alpha %g: mean wait", sizes[i], alphas[k]);
				add(b, p, "s", NAN, run->wait_mean_s, id, label);
				snprintf(id, sizeof(id), "rate-%s-a%g", sizes[i], alphas[k]);
				snprintf(label, sizeof(label), "%s size, alpha %g: dollars per used node-hour", sizes[i], alphas[k]);
				add(b, p, "$", NAN, fth_run_node_rate(run), id, label);
				wait[i * FTH_COUNT(alphas) + k] = run->wait_mean_s;
				rate[i * FTH_COUNT(alphas) + k] = fth_run_node_rate(run);
				lo = FTH_MIN(lo, run->utilization);
				hi = FTH_MAX(hi, run->utilization);
			}
			snprintf(id, sizeof(id), "utilization-span-%s", sizes[i]);
			snprintf(label, sizeof(label), "%s size: utilization, greatest less least", sizes[i]);
			add(b, p, "%", 0.95, 100 * (hi - lo), id, label);
		}
		struct sec_plot plot = {.id = "sec-figure6a", .title = "Figure 6a: mean wait", .subtitle = "by how many nodes are asked for",
					.x_label = "alpha: 0 exact, 1 as users say", .y_unit = FTH_UNIT_SECONDS, .nseries = 3,
					.n = FTH_COUNT(alphas), .names = sizes, .x = alphas, .y = wait};
		fth_sec_add_plot(b, p, &plot);
		plot.id = "sec-figure6b";
		plot.title = "Figure 6b: dollars per used node-hour";
		plot.tight = true;
		plot.y_unit = FTH_UNIT_USD;
		plot.y = rate;
		fth_sec_add_plot(b, p, &plot);
		fth_repro_add_note(b, p, "The paper says the span of utilization stays below 0.95 %%.");
	}
	fth_repro_runs_release(&runs);
	for (size_t k = 0; k < made; k++)
		fth_world_release(&w[k]);
	return r;
}

/* ---- Figure 7: portfolios ---- */

/* Weekly means of a service that grows, grows less and less, or rises and declines with a daily and a weekly rhythm. */
enum growth { GROWTH, SLOWED, DECLINE };

static double mean_at(enum growth g, double x)
{
	if (g == GROWTH)
		return 10 + 90 * x;
	if (g == SLOWED)
		return 10 + 90 * x * (2 - x);
	return x < 0.5 ? 10 + 180 * x : 100 - 160 * (x - 0.5);
}

static int series_demand(struct fth_demand *d, enum growth g, struct fth_error *err)
{
	FTH_VEC(struct fth_demand_step) steps = {0};
	int64_t now = 0;
	const int64_t hours = 5 * 52 * 168;
	for (int64_t h = 0; h < hours; h++) {
		struct fth_rng rng;
		fth_rng_seed(&rng, 7, (uint64_t)g, (uint64_t)h / 6);
		double day = (double)(h % 24) / 24, week = (double)(h / 24 % 7);
		double shape = (day > 0.3 && day < 0.8 ? 1.25 : 0.75) * (week < 5 ? 1.1 : 0.75) * (0.7 + 0.6 * fth_rng_real(&rng));
		int64_t count = (int64_t)(mean_at(g, (double)h / (double)hours) * shape + 0.5);
		if (count != now)
			fth_vec_push(&steps, ((struct fth_demand_step){h * FTH_HOUR, count - now}));
		now = count;
	}
	int r = fth_demand_build(d, steps.data, steps.len, 0, hours * FTH_HOUR, 7 * FTH_DAY, err);
	fth_vec_release(&steps);
	return r;
}

/* Rows for one demand: dollars per used hour under each method; ret_rates: bound, optimum, and the methods. */
enum { NRATES = 8 };
static int portfolios(struct fth_repro_book *b, struct fth_repro_page *p, const char *name, const struct fth_reserve_market *m,
		      const struct fth_demand *d, double used, double ret_rates[NRATES], struct fth_error *err)
{
	const struct {
		const char *id, *label;
		enum fth_reserve_method method;
		fth_time term;
	} methods[] = {
		{"offline-greedy", "offline greedy", FTH_RESERVE_GREEDY, 0},
		{"online", "online, quadratic forecast", FTH_RESERVE_ONLINE, 0},
		{"online-level", "online, level forecast", FTH_RESERVE_ONLINE_LEVEL, 0},
		{"online-1y-only", "online, one-year classes only", FTH_RESERVE_ONLINE_LEVEL, 365 * FTH_DAY},
		{"online-3y-only", "online, three-year classes only", FTH_RESERVE_ONLINE_LEVEL, 1095 * FTH_DAY},
		{"on-demand-only", "on demand only", FTH_RESERVE_NONE, 0},
	};
	char id[96], label[128];
	struct fth_portfolio best = {0};
	double bound = 0;
	snprintf(id, sizeof(id), "%s-optimal-competitive", name);
	snprintf(label, sizeof(label), "%s: optimal-competitive bound", name);
	ret_rates[0] = fth_reserve_lower_bound(m, d) / used;
	add(b, p, "$", NAN, ret_rates[0], id, label);
	int r = fth_reserve_exact(&best, &bound, m, d, err);
	ret_rates[1] = best.pure / used;
	snprintf(id, sizeof(id), "%s-optimum", name);
	snprintf(label, sizeof(label), "%s: best plan, %.3f %% above its bound", name, bound > 0 ? FTH_MAX(100 * (best.pure / bound - 1), 0.0) : 0);
	if (!r)
		add(b, p, "$", NAN, ret_rates[1], id, label);
	fth_portfolio_release(&best);
	for (size_t i = 0; i < FTH_COUNT(methods) && !r; i++) {
		struct fth_portfolio plan = {0};
		struct fth_reserve_options o = {.only = methods[i].term ? fth_reserve_of_term(m, methods[i].term) : 0};
		r = fth_reserve_plan(&plan, m, d, methods[i].method, &o, err);
		snprintf(id, sizeof(id), "%s-%s", name, methods[i].id);
		snprintf(label, sizeof(label), "%s: %s", name, methods[i].label);
		ret_rates[2 + i] = plan.pure / used;
		if (!r)
			add(b, p, "$", NAN, ret_rates[2 + i], id, label);
		fth_portfolio_release(&plan);
	}
	return r;
}

static int portfolio_of_trace(const struct fth_repro_request *req, struct fth_repro_book *b, const char *trace, const char *name,
			      double ret_rates[NRATES], struct fth_error *err)
{
	struct sec_setup u = {.trace = trace, .catalog = SEC_EC2_HL, .alpha = 1};
	struct fth_world w;
	struct fth_repro_runs runs = {0};
	struct fth_reserve_market m = {0};
	struct fth_demand d = {0};
	int r = fth_sec_world(&w, req->data, &u, err);
	if (r)
		return r;
	int number = fth_repro_runs_add(&runs, &w, "sec:on_ready=false", "", err);
	r = number < 0 ? number : fth_repro_runs_go(&runs, req, err);
	if (!r)
		r = fth_reserve_market_of(&m, w.syms, &w.catalog.pub, 0, err);
	if (!r)
		r = fth_sec_demand(&d, fth_repro_runs_get(&runs, number), err);
	if (!r)
		r = portfolios(b, &fth_vec_last(&b->pages), name, &m, &d, fth_repro_runs_get(&runs, number)->used_node_hours,
			       ret_rates, err);
	fth_reserve_market_release(&m);
	fth_demand_release(&d);
	fth_repro_runs_release(&runs);
	fth_world_release(&w);
	return r;
}

static void plot_rates(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *title, const char *const *names,
		       const double *rates, size_t n)
{
	double at[8 * NRATES];
	for (size_t i = 0; i < n * NRATES; i++)
		at[i] = (double)(i % NRATES + 1);
	fth_sec_add_plot(b, p, &(struct sec_plot){.id = id, .title = title,
						  .subtitle = "dollars per used node-hour. 1 bound, 2 best plan, 3 offline greedy, 4 online, 5 online level, "
							      "6 one year only, 7 three years only, 8 on demand",
						  .x_label = "method", .y_unit = FTH_UNIT_USD, .points = true, .nseries = n, .n = NRATES, .names = names,
						  .x = at, .y = rates});
}

int fth_sec_figure7a(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const char *const traces[] = {DATASTAR, "SDSC-SP2-1998-4.2-cln", "CTC-SP2-1996-3.1-cln", "KTH-SP2-1996-2.1-cln"};
	static const char *const names[] = {"sdsc-ds", "sdsc-sp2", "ctc-sp2", "kth-sp2"};
	double rates[FTH_COUNT(names) * NRATES] = {0};
	int r = 0;
	fth_repro_add_page(b, "figure7a", "Reserved portfolios, HPC traces: dollars per used node-hour, residual value taken out");
	for (size_t i = 0; i < FTH_COUNT(traces) && !r; i++)
		r = portfolio_of_trace(req, b, traces[i], names[i], &rates[i * NRATES], err);
	struct fth_repro_page *p = &fth_vec_last(&b->pages);
	if (!r)
		plot_rates(b, p, "sec-figure7a", "Figure 7a: portfolios for HPC traces", names, rates, FTH_COUNT(names));
	fth_repro_add_note(b, p, "Classes of section 8.5. Sandia Ross and HPC2N are not at hand. The paper: online is very close to both "
				 "offline methods, and better than one term alone.");
	return r;
}

int fth_sec_figure7b(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const char *const growths[] = {"growth", "slowed-growth", "rise-and-decline"};
	double rates[FTH_COUNT(growths) * NRATES] = {0};
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
	const struct fth_reserve_class hl[] = {{0, 1095 * FTH_DAY, 7670, 0.361, true, false, -1}, {0, 365 * FTH_DAY, 5000, 0.361, true, false, -1},
					       {0, 1095 * FTH_DAY, 2710, 0.904, false, false, -1}, {0, 365 * FTH_DAY, 1762, 0.904, false, false, -1}};
	(void)req;
	for (size_t i = 0; i < FTH_COUNT(hl); i++)
		fth_vec_push(&m.classes, hl[i]);
	struct fth_repro_page *p = fth_repro_add_page(b, "figure7b", "Reserved portfolios, made-up series: dollars per used node-hour");
	int r = fth_reserve_market_finish(&m, err);
	for (int g = GROWTH; g <= DECLINE && !r; g++) {
		struct fth_demand d = {0};
		r = series_demand(&d, (enum growth)g, err);
		if (!r)
			r = portfolios(b, p, growths[g], &m, &d, fth_demand_total(&d), &rates[g * NRATES], err);
		fth_demand_release(&d);
	}
	if (!r)
		plot_rates(b, p, "sec-figure7b", "Figure 7b: portfolios for made-up series", growths, rates, FTH_COUNT(growths));
	fth_repro_add_note(b, p, "The growing, slowing and declining series stand for the paper's social networks and are made up: five years of weekly "
				 "means with a daily and weekly rhythm. Here the offline greedy plan is dearer than the online ones: it buys at the start "
				 "for levels that are busy for most of a term only in its later years, since it looks at shares of whole terms, while "
				 "the online plans do not see the growth and buy as it comes. The best plan is the yardstick.");
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
	return r;
}

/* ---- Figure 8: two clouds ---- */

/* How many contracts the use of EC2 alone would justify over whole terms, and what an hour under them costs. */
static int held_of(const struct fth_world *w, const struct fth_run *run, int64_t *ret_count, double *ret_price, struct fth_error *err)
{
	struct fth_reserve_market m = {0};
	struct fth_demand d = {0};
	struct fth_portfolio p = {0};
	struct fth_reserve_options o = {.full_term = true};
	double hours = 0, paid = 0;
	int r = fth_reserve_market_of(&m, w->syms, &w->catalog.pub, 0, err);
	if (!r)
		r = fth_sec_demand(&d, run, err);
	if (!r)
		r = fth_reserve_plan(&p, &m, &d, FTH_RESERVE_GREEDY, &o, err);
	*ret_count = 0;
	for (size_t i = 0; !r && i < p.bought.len; i++)
		*ret_count += p.bought.data[i].count;
	for (size_t k = 0; !r && k < m.classes.len; k++) {
		hours += p.hours.data[k];
		paid += p.hours.data[k] * m.classes.data[k].price;
	}
	*ret_price = hours > 0 ? paid / hours : 0;
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	return r;
}

static const double ratios[] = {1, 0.9, 0.8, 0.7};

static void add_ratio(struct fth_repro_book *b, const char *name, double ratio, double ec2, double gce, double both)
{
	char id[64], label[96];
	const struct {
		const char *id, *label, *unit;
		double ours;
	} rows[] = {{"ec2", "EC2 alone", "$", ec2},
		    {"gce", "by the minute alone", "$", gce},
		    {"both", "both clouds", "$", both},
		    {"saving", "both, saved against the better one", "%", 100 * (1 - both / FTH_MIN(ec2, gce))}};
	for (size_t i = 0; i < FTH_COUNT(rows); i++) {
		snprintf(id, sizeof(id), "%s-r%g-%s", name, ratio, rows[i].id);
		snprintf(label, sizeof(label), "%s, r %g: %s", name, ratio, rows[i].label);
		add(b, &fth_vec_last(&b->pages), rows[i].unit, NAN, rows[i].ours, id, label);
	}
}

static void plot_ratios(struct fth_repro_book *b, const char *name, const double *y)
{
	static const char *const names[] = {"EC2 alone", "by the minute alone", "both clouds"};
	char id[64], title[96];
	snprintf(id, sizeof(id), "sec-figure8-%s", name);
	snprintf(title, sizeof(title), "Figure 8: one cloud and two, %s", name);
	fth_sec_add_plot(b, &fth_vec_last(&b->pages),
			 &(struct sec_plot){.id = id, .title = title, .subtitle = "dollars per used node-hour, fees in full",
					    .x_label = "r: price by the minute, EC2's 1", .y_unit = FTH_UNIT_USD, .tight = true, .nseries = 3,
					    .n = FTH_COUNT(ratios), .names = names, .x = ratios, .y = y});
}

/* First each cloud alone; then both, told what the contracts of the first would be. */
static int two_clouds(const struct fth_repro_request *req, struct fth_repro_book *b, const char *trace, const char *name,
		      double *ret_saving, struct fth_error *err)
{
	struct fth_world w[6];
	struct fth_repro_runs alone = {0}, runs = {0};
	int number[6], r = 0;
	size_t made = 0;
	int64_t held = 0;
	double price = 0;
	for (; made < FTH_COUNT(w) && !r; made += !r) {
		struct sec_setup u = {.trace = trace, .catalog = made == 0 ? SEC_EC2_HL : made == 1 ? SEC_GCE : SEC_BOTH, .alpha = 1,
				      .ratio = made < 2 ? 1 : ratios[made - 2]};
		r = fth_sec_world(&w[made], req->data, &u, err);
	}
	for (size_t k = 0; k < 2 && !r; k++) {
		number[k] = fth_repro_runs_add(&alone, &w[k], "sec:on_ready=false,contract=committed", "", err);
		r = number[k] < 0 ? number[k] : 0;
	}
	if (!r)
		r = fth_repro_runs_go(&alone, req, err);
	if (!r)
		r = held_of(&w[0], fth_repro_runs_get(&alone, number[0]), &held, &price, err);
	for (size_t k = 2; k < FTH_COUNT(w) && !r; k++) {
		char policy[128];
		snprintf(policy, sizeof(policy), "sec:on_ready=false,contract=committed,clouds=true,reserved=%lld,reserved_price=%.4f", (long long)held, price);
		number[k] = fth_repro_runs_add(&runs, &w[k], policy, "", err);
		r = number[k] < 0 ? number[k] : 0;
	}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	double y[3 * FTH_COUNT(ratios)];
	for (size_t k = 0; !r && k < FTH_COUNT(ratios); k++) {
		double ec2 = fth_run_node_rate(fth_repro_runs_get(&alone, number[0])), gce = ratios[k] * fth_run_node_rate(fth_repro_runs_get(&alone, number[1]));
		double both = fth_run_node_rate(fth_repro_runs_get(&runs, number[k + 2]));
		add_ratio(b, name, ratios[k], ec2, gce, both);
		y[k] = ec2;
		y[FTH_COUNT(ratios) + k] = gce;
		y[2 * FTH_COUNT(ratios) + k] = both;
		if (ratios[k] == 0.8)
			*ret_saving = 100 * (1 - both / FTH_MIN(ec2, gce));
	}
	if (!r)
		plot_ratios(b, name, y);
	fth_repro_runs_release(&alone);
	fth_repro_runs_release(&runs);
	for (size_t k = 0; k < made; k++)
		fth_world_release(&w[k]);
	return r;
}

int fth_sec_figure8(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const char *const traces[][2] = {{DATASTAR, "sdsc-ds"}, {"SDSC-SP2-1998-4.2-cln", "sdsc-sp2"},
						{"CTC-SP2-1996-3.1-cln", "ctc-sp2"}, {"KTH-SP2-1996-2.1-cln", "kth-sp2"}};
	double least = INFINITY, most = -INFINITY;
	int r = 0;
	fth_repro_add_page(b, "figure8", "One cloud and two: dollars per used node-hour");
	for (size_t i = 0; i < FTH_COUNT(traces) && !r; i++) {
		double saving = 0;
		r = two_clouds(req, b, traces[i][0], traces[i][1], &saving, err);
		least = FTH_MIN(least, saving);
		most = FTH_MAX(most, saving);
	}
	struct fth_repro_page *p = &fth_vec_last(&b->pages);
	if (!r) {
		add(b, p, "%", 2.8, least, "saving-r0.8-least", "r 0.8: saved by both clouds, least of the traces");
		add(b, p, "%", 10.9, most, "saving-r0.8-most", "r 0.8: saved by both clouds, most of the traces");
	}
	fth_repro_add_note(b, p, "r is the price by the minute, EC2's 1. Contracts of section 8.5, judged over whole terms with hindsight, fees in full; the "
				 "paper buys them by forecast. docs/sec.md says why less is saved here.");
	return r;
}

/* ---- Figure 9: overhead of management ---- */

enum { NCASES = 5 };

/* A bar for each case. */
static void add_changes(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *title, const double *change)
{
	static const char *const labels[NCASES] = {"T_wait 5 min", "T_wait 1 min", "T_wait 10 min", "SumSize", "FirstSize"};
	struct fth_bar *bars = fth_arena_alloc(&b->arena, NCASES * sizeof(*bars));
	double *share = fth_arena_alloc(&b->arena, NCASES * sizeof(*share));
	for (int i = 0; i < NCASES; i++) {
		char *text = fth_arena_alloc(&b->arena, 32);
		snprintf(text, 32, "%.2f %%", change[i]);
		share[i] = FTH_MAX(change[i], 0.0) / 100;
		bars[i] = (struct fth_bar){.label = labels[i], .text = text, .parts = &share[i], .colour = 0};
	}
	fth_repro_add_bars(p, &(struct fth_bars){.id = id, .title = title, .subtitle = "percent more than without", .unit = FTH_UNIT_SHARE,
						 .nparts = 1, .bars = bars, .nbars = NCASES});
}

int fth_sec_figure9(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err)
{
	static const char *const cases[NCASES][2] = {{"tw5-best", "t_wait=300"}, {"tw1-best", "t_wait=60"}, {"tw10-best", "t_wait=600"},
					       {"tw5-sum", "size=sum"},	   {"tw5-first", "size=first"}};
	struct fth_world w[2];
	struct fth_repro_runs runs = {0};
	int number[FTH_COUNT(cases)][2], r = 0;
	size_t made = 0;
	for (; made < 2 && !r; made += !r) {
		struct sec_setup u = {.trace = DATASTAR, .catalog = SEC_EC2, .alpha = 1, .overhead = made == 1};
		r = fth_sec_world(&w[made], req->data, &u, err);
	}
	for (size_t i = 0; i < FTH_COUNT(cases); i++)
		for (size_t k = 0; k < made && !r; k++) {
			char policy[64];
			snprintf(policy, sizeof(policy), "sec:on_ready=false,%s", cases[i][1]);
			number[i][k] = fth_repro_runs_add(&runs, &w[k], policy, "", err);
			r = number[i][k] < 0 ? number[i][k] : 0;
		}
	if (!r)
		r = fth_repro_runs_go(&runs, req, err);
	if (!r) {
		struct fth_repro_page *p = fth_repro_add_page(b, "figure9", "Overhead of management, DataStar");
		double change[2][FTH_COUNT(cases)], lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
		for (size_t i = 0; i < FTH_COUNT(cases); i++) {
			const struct fth_run *without = fth_repro_runs_get(&runs, number[i][0]), *with = fth_repro_runs_get(&runs, number[i][1]);
			char id[64], label[96];
			snprintf(id, sizeof(id), "wait-%s", cases[i][0]);
			snprintf(label, sizeof(label), "%s: change of the mean wait", cases[i][0]);
			add(b, p, "%", NAN, 100 * (with->wait_mean_s / without->wait_mean_s - 1), id, label);
			snprintf(id, sizeof(id), "rate-%s", cases[i][0]);
			snprintf(label, sizeof(label), "%s: change of the rate", cases[i][0]);
			change[0][i] = 100 * (with->wait_mean_s / without->wait_mean_s - 1);
			change[1][i] = 100 * (fth_run_node_rate(with) / fth_run_node_rate(without) - 1);
			add(b, p, "%", NAN, change[1][i], id, label);
			for (int k = 0; k < 2; k++) {
				lo[k] = FTH_MIN(lo[k], change[k][i]);
				hi[k] = FTH_MAX(hi[k], change[k][i]);
			}
		}
		add(b, p, "%", 0.5, lo[0], "wait-least", "change of the mean wait, least");
		add(b, p, "%", 4.9, hi[0], "wait-most", "change of the mean wait, most");
		add(b, p, "%", 0.02, lo[1], "rate-least", "change of the rate, least");
		add(b, p, "%", 0.37, hi[1], "rate-most", "change of the rate, most");
		add_changes(b, p, "sec-figure9-wait", "Figure 9: mean wait, change by the overhead of management", change[0]);
		add_changes(b, p, "sec-figure9-rate", "Figure 9: rate, change by the overhead of management", change[1]);
		fth_repro_add_note(b, p, "Table 4's own configuration time per request and 3.4 s of formatting before each job; the paper says 0.5 "
					 "to 4.9 %% of wait and 0.02 to 0.37 %% of rate in most cases.");
	}
	fth_repro_runs_release(&runs);
	for (size_t k = 0; k < made; k++)
		fth_world_release(&w[k]);
	return r;
}
