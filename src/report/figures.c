/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figures.h"

#include <math.h>

#include "report/format.h"
#include "report/plot.h"

enum { POINTS = 240, CDF_POINTS = 160, GANTT_ROWS = 60, TYPES_SHOWN = 7 };

unsigned fth_run_colour(size_t run)
{
	return (unsigned)(run % FTH_COLOURS);
}

unsigned fth_run_dash(size_t run)
{
	return (unsigned)(run / 2 % 4);
}

/* ---- set-up ---- */

static void rank_types(struct fth_figures *f)
{
	double *total = fth_alloc(FTH_MAX(f->ntypes, 1u) * sizeof(*total));
	for (size_t i = 0; i < f->c->nruns; i++) {
		const struct fth_run *r = &f->c->runs[i];
		for (size_t k = 0; k < r->type_seconds.len; k++)
			if (k % r->ntypes < f->ntypes)
				total[k % r->ntypes] += r->type_seconds.data[k];
	}
	f->shown_types = fth_alloc(TYPES_SHOWN * sizeof(*f->shown_types));
	while (f->nshown < TYPES_SHOWN) {
		uint32_t best = FTH_NONE;
		for (uint32_t t = 0; t < f->ntypes; t++)
			if (total[t] > 0 && (best == FTH_NONE || total[t] > total[best]))
				best = t;
		if (best == FTH_NONE)
			break;
		total[best] = 0;
		f->shown_types[f->nshown++] = best;
	}
	free(total);
}

void fth_figures_init(struct fth_figures *f, const struct fth_comparison *c)
{
	memset(f, 0, sizeof(*f));
	f->c = c;
	f->labels = fth_alloc((c->nruns + 1) * sizeof(*f->labels));
	for (size_t i = 0; i < c->nruns; i++)
		fth_comparison_label(c, i, &f->labels[i]);
	f->ntypes = c->nruns ? c->runs[0].ntypes : 0;
	f->type_names = fth_alloc((f->ntypes + 1) * sizeof(*f->type_names));
	for (uint32_t t = 0; t < f->ntypes; t++)
		f->type_names[t] = fth_run_type_name(&c->runs[0], t);
	rank_types(f);
}

void fth_figures_release(struct fth_figures *f)
{
	for (size_t i = 0; i < f->c->nruns; i++)
		fth_str_release(&f->labels[i]);
	free(f->labels);
	free(f->type_names);
	free(f->shown_types);
	memset(f, 0, sizeof(*f));
}

static unsigned type_colour(const struct fth_figures *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->nshown; i++)
		if (f->shown_types[i] == type)
			return i;
	return FTH_GREY;
}

/* ---- bars ---- */

static void simple_bars(const struct fth_figures *f, struct fth_bars *b, const double *values, struct fth_str *texts,
			struct fth_str *out)
{
	struct fth_bar *bars = fth_alloc((b->nbars + 1) * sizeof(*bars));
	size_t best = fth_comparison_cheapest(f->c);
	for (size_t i = 0; i < b->nbars; i++)
		bars[i] = (struct fth_bar){.label = f->labels[i].data,
					   .text = texts[i].data,
					   .parts = &values[i * b->nparts],
					   .colour = fth_run_colour(i),
					   .strong = i == best};
	b->bars = bars;
	fth_bars_html(b, out);
	free(bars);
	for (size_t i = 0; i < b->nbars; i++)
		fth_str_release(&texts[i]);
}

/* " (-38.8%)" against the baseline */
static void against(const struct fth_figures *f, size_t run, double value, double base, struct fth_str *out)
{
	if (isnan(fth_comparison_saved(f->c, run)) || base <= 0)
		return;
	double d = value / base - 1;
	fth_str_addf(out, "  (%s", d >= 0 ? "+" : "-");
	fth_human_percent(out, fabs(d), 1);
	fth_str_addc(out, ')');
}

void fth_figure_cost(const struct fth_figures *f, struct fth_str *out)
{
	size_t n = f->c->nruns, base = fth_comparison_baseline(f->c);
	double *v = fth_alloc((n + 1) * sizeof(*v)), most = 0;
	struct fth_str *texts = fth_alloc((n + 1) * sizeof(*texts));
	for (size_t i = 0; i < n; i++)
		most = FTH_MAX(most, v[i] = fth_usd(f->c->runs[i].cost));
	for (size_t i = 0; i < n; i++) {
		fth_human_usd(&texts[i], v[i], most >= 1000 ? 0 : 2);
		against(f, i, v[i], fth_usd(f->c->runs[base].cost), &texts[i]);
	}
	struct fth_bars b = {.id = "cost", .title = "Total cost", .subtitle = "dollars for the whole workload",
			     .unit = FTH_UNIT_USD, .nparts = 1, .nbars = n,
			     .desc = "One bar per policy: dollars paid for all instances."};
	simple_bars(f, &b, v, texts, out);
	free(texts);
	free(v);
}

void fth_figure_jct(const struct fth_figures *f, struct fth_str *out)
{
	size_t n = f->c->nruns, base = fth_comparison_baseline(f->c);
	double *v = fth_alloc((n + 1) * sizeof(*v)), longest = 0;
	struct fth_str *texts = fth_alloc((n + 1) * sizeof(*texts));
	for (size_t i = 0; i < n; i++)
		longest = FTH_MAX(longest, v[i] = f->c->runs[i].jct_mean_s);
	for (size_t i = 0; i < n; i++) {
		fth_human_duration(&texts[i], v[i], fth_human_unit(longest));
		against(f, i, v[i], v[base], &texts[i]);
	}
	struct fth_bars b = {.id = "jct", .title = "Mean completion time", .subtitle = "from a job\xe2\x80\x99s submission to its end",
			     .unit = FTH_UNIT_SECONDS, .nparts = 1, .nbars = n,
			     .desc = "One bar per policy: mean time from submission to end of a job."};
	simple_bars(f, &b, v, texts, out);
	free(texts);
	free(v);
}

void fth_figure_waste(const struct fth_figures *f, struct fth_str *out)
{
	static const char *const names[] = {"used", "room left beside tasks", "ready but empty", "booting", "rounded up at the end"};
	static const unsigned colours[] = {7, 3, 1, 5, 6};
	enum { NPARTS = FTH_COUNT(names) };
	size_t n = f->c->nruns;
	double *v = fth_alloc((NPARTS * n + 1) * sizeof(*v));
	struct fth_str *texts = fth_alloc((n + 1) * sizeof(*texts));
	for (size_t i = 0; i < n; i++) {
		const struct fth_run *r = &f->c->runs[i];
		double wasted = r->waste_boot_usd + r->waste_idle_usd + r->waste_fragmentation_usd + r->waste_rounding_usd;
		double cost = FTH_MAX(fth_usd(r->cost), wasted);
		v[NPARTS * i] = cost - wasted;
		v[NPARTS * i + 1] = r->waste_fragmentation_usd;
		v[NPARTS * i + 2] = r->waste_idle_usd;
		v[NPARTS * i + 3] = r->waste_boot_usd;
		v[NPARTS * i + 4] = r->waste_rounding_usd;
		fth_human_percent(&texts[i], cost > 0 ? 1 - wasted / cost : 0, 0);
		fth_str_add(&texts[i], " used");
	}
	struct fth_bars b = {.id = "waste", .title = "Where the money went",
			     .subtitle = "dollars, by what the machines did meanwhile", .unit = FTH_UNIT_USD, .nparts = NPARTS,
			     .nbars = n, .part_names = names, .part_colours = colours,
			     .desc = "One bar per policy, split into used, room left beside tasks, ready but empty, booting, and rounded up when they went."};
	simple_bars(f, &b, v, texts, out);
	free(texts);
	free(v);
}

/* ---- all runs over time ---- */

/* Points of a run's buckets taken together until there are few enough. */
struct sampled {
	size_t n;
	double width_s;             /* of one point */
	double *x;                  /* middle, seconds */
	struct fth_run_bucket *sum; /* integrals */
};

static size_t per_point(const struct fth_run *r)
{
	return FTH_MAX((r->buckets.len + POINTS - 1) / POINTS, (size_t)1);
}

/* Where the time axis of a run ends, seconds. */
static double end_of(const struct fth_run *r)
{
	double buckets = (double)r->bucket_width / (double)FTH_SEC * (double)r->buckets.len;
	double end = r->ended_at > 0 ? (double)r->ended_at / (double)FTH_SEC : buckets;
	return FTH_MAX(end, 1.0);
}

/* Where the time axis begins, seconds: with the first job, if nothing happens for long before it. */
static double start_of(const struct fth_figures *f, double end)
{
	double first = (double)f->c->workload.first_submit / (double)FTH_SEC;
	return first > end / 4 ? first : 0;
}

static struct sampled sample(const struct fth_figures *f, const struct fth_run *r)
{
	size_t step = per_point(r);
	struct sampled s = {.n = (r->buckets.len + step - 1) / step};
	s.width_s = (double)r->bucket_width / (double)FTH_SEC * (double)step;
	s.x = fth_alloc((s.n + 1) * sizeof(*s.x));
	s.sum = fth_alloc((s.n + 1) * sizeof(*s.sum));
	for (size_t i = 0; i < r->buckets.len; i++) {
		const struct fth_run_bucket *b = &r->buckets.data[i];
		struct fth_run_bucket *t = &s.sum[i / step];
		t->cost_usd += b->cost_usd;
		t->instances += b->instances;
		t->tasks += b->tasks;
		t->waiting += b->waiting;
		for (int k = 0; k < 3; k++) {
			t->used[k] += b->used[k];
			t->capacity[k] += b->capacity[k];
		}
	}
	double start = start_of(f, end_of(r)); /* the points before it are at nothing */
	for (size_t i = 0; i < s.n; i++)
		s.x[i] = FTH_MAX(((double)i + 0.5) * s.width_s, start);
	return s;
}

static void sampled_release(struct sampled *s)
{
	free(s->x);
	free(s->sum);
}

/* How long point i really lasted: the last one may be cut by the end of the run. */
static double lasted(const struct fth_run *r, const struct sampled *s, size_t i)
{
	double end = (double)r->ended_at / (double)FTH_SEC, from = (double)i * s->width_s;
	return end > from && end < from + s->width_s ? end - from : s->width_s;
}

static void all_runs_plot(const struct fth_figures *f, struct fth_plot *p, bool cumulative, struct fth_str *out)
{
	size_t n = f->c->nruns;
	struct fth_series *series = fth_alloc((n + 1) * sizeof(*series));
	double end = 0;
	for (size_t i = 0; i < n; i++)
		end = FTH_MAX(end, end_of(&f->c->runs[i]));
	double start = start_of(f, end);
	for (size_t i = 0; i < n; i++) {
		const struct fth_run *r = &f->c->runs[i];
		struct sampled s = sample(f, r);
		size_t extra = cumulative; /* a first point at nothing */
		double *x = fth_alloc((s.n + 1) * sizeof(*x)), *y = fth_alloc((s.n + 1) * sizeof(*y)), sum = 0;
		x[0] = start;
		for (size_t k = 0; k < s.n; k++) {
			sum += s.sum[k].cost_usd;
			x[k + extra] = cumulative ? FTH_MAX((double)k * s.width_s + lasted(r, &s, k), start) : s.x[k];
			y[k + extra] = cumulative ? sum : s.sum[k].cost_usd / (lasted(r, &s, k) / 3600);
		}
		series[i] = (struct fth_series){.name = f->labels[i].data, .kind = FTH_SERIES_LINE,
						.colour = fth_run_colour(i), .dash = fth_run_dash(i), .x = x, .y = y,
						.n = s.n + (s.n ? extra : 0)};
		sampled_release(&s);
	}
	p->x = (struct fth_axis){.unit = FTH_UNIT_SECONDS, .min = start, .max = end};
	p->y.unit = FTH_UNIT_USD;
	p->series = series;
	p->nseries = n;
	fth_plot_html(p, out);
	for (size_t i = 0; i < n; i++) {
		free((void *)series[i].x);
		free((void *)series[i].y);
	}
	free(series);
}

void fth_figure_cost_total(const struct fth_figures *f, struct fth_str *out)
{
	struct fth_plot p = {.id = "spent", .title = "Spent so far", .subtitle = "dollars, cumulative, before rounding up to whole billing periods",
			     .desc = "One line per policy: dollars spent up to each moment of the run."};
	all_runs_plot(f, &p, true, out);
}

void fth_figure_cost_rate(const struct fth_figures *f, struct fth_str *out)
{
	struct fth_plot p = {.id = "rate", .title = "Spending rate", .subtitle = "dollars per hour",
			     .desc = "One line per policy: price of all rented instances at each moment of the run."};
	all_runs_plot(f, &p, false, out);
}

void fth_figure_cdf(const struct fth_figures *f, struct fth_str *out)
{
	size_t n = f->c->nruns;
	struct fth_series *series = fth_alloc((n + 1) * sizeof(*series));
	for (size_t i = 0; i < n; i++) {
		const struct fth_run *r = &f->c->runs[i];
		fth_time *sorted = fth_alloc((r->job_list.len + 1) * sizeof(*sorted));
		size_t jobs = fth_run_sorted_jcts(r, sorted), points = FTH_MIN(jobs, (size_t)CDF_POINTS);
		double *x = fth_alloc((points + 1) * sizeof(*x)), *y = fth_alloc((points + 1) * sizeof(*y));
		for (size_t k = 0; k < points; k++) {
			size_t rank = points < 2 ? jobs : 1 + (size_t)((double)k / (double)(points - 1) * (double)(jobs - 1));
			x[k] = FTH_MAX((double)sorted[rank - 1] / (double)FTH_SEC, 0.001);
			y[k] = (double)rank / (double)jobs;
		}
		series[i] = (struct fth_series){.name = f->labels[i].data, .kind = FTH_SERIES_LINE,
						.colour = fth_run_colour(i), .dash = fth_run_dash(i), .x = x, .y = y, .n = points};
		free(sorted);
	}
	struct fth_plot p = {.id = "cdf", .title = "Completion times of jobs",
			     .subtitle = "share of jobs that took at most this long",
			     .desc = "One line per policy: cumulative distribution of completion times, logarithmic time axis.",
			     .x = {.unit = FTH_UNIT_SECONDS, .log = true}, .y = {.unit = FTH_UNIT_SHARE, .max = 1},
			     .series = series, .nseries = n};
	fth_plot_html(&p, out);
	for (size_t i = 0; i < n; i++) {
		free((void *)series[i].x);
		free((void *)series[i].y);
	}
	free(series);
}

/* ---- one run ---- */

static void id_of(char id[32], const char *what, size_t run)
{
	snprintf(id, 32, "%s%zu", what, run);
}

void fth_figure_types(const struct fth_figures *f, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &f->c->runs[run];
	struct sampled s = sample(f, r);
	size_t step = per_point(r), nseries = 0;
	double *y = fth_alloc((TYPES_SHOWN + 1) * (s.n + 1) * sizeof(*y)), total[TYPES_SHOWN + 1] = {0};
	struct fth_series series[TYPES_SHOWN + 1];
	for (size_t b = 0; b < r->buckets.len; b++) {
		for (uint32_t t = 0; t < r->ntypes; t++) {
			double seconds = r->type_seconds.data[b * r->ntypes + t];
			unsigned colour = seconds > 0 ? type_colour(f, t) : 0;
			size_t row = colour == FTH_GREY ? TYPES_SHOWN : colour;
			y[row * s.n + b / step] += seconds / lasted(r, &s, b / step);
			total[row] += seconds;
		}
	}
	for (size_t k = 0; k <= TYPES_SHOWN; k++) {
		if (total[k] <= 0)
			continue;
		bool other = k == TYPES_SHOWN;
		series[nseries++] = (struct fth_series){.name = other ? "other types" : f->type_names[f->shown_types[k]],
							.kind = FTH_SERIES_AREA, .colour = other ? FTH_GREY : (unsigned)k,
							.x = s.x, .y = &y[k * s.n], .n = s.n};
	}
	char id[32];
	id_of(id, "types", run);
	struct fth_plot p = {.id = id, .title = "Instances by type", .subtitle = "instances rented",
			     .desc = "Stacked areas: number of rented instances of each type over time.",
			     .x = {.unit = FTH_UNIT_SECONDS, .min = start_of(f, end_of(r)), .max = end_of(r)}, .series = series, .nseries = nseries};
	fth_plot_html(&p, out);
	free(y);
	sampled_release(&s);
}

void fth_figure_utilisation(const struct fth_figures *f, size_t run, struct fth_str *out)
{
	static const char *const names[] = {"GPU", "CPU", "memory"};
	const struct fth_run *r = &f->c->runs[run];
	struct sampled s = sample(f, r);
	double *y = fth_alloc(3 * (s.n + 1) * sizeof(*y));
	struct fth_series series[3];
	size_t nseries = 0;
	for (int k = 0; k < 3; k++) {
		bool any = false;
		double *row = &y[(size_t)k * s.n];
		for (size_t i = 0; i < s.n; i++) {
			any |= s.sum[i].capacity[k] > 0;
			row[i] = s.sum[i].capacity[k] > 0 ? s.sum[i].used[k] / s.sum[i].capacity[k] : NAN;
		}
		if (any)
			series[nseries++] = (struct fth_series){.name = names[k], .colour = (unsigned)k, .dash = (unsigned)k,
								.x = s.x, .y = row, .n = s.n};
	}
	char id[32];
	id_of(id, "util", run);
	struct fth_plot p = {.id = id, .title = "Utilisation", .subtitle = "share of rented capacity given to tasks",
			     .desc = "One line per resource: allocated share of the rented capacity over time.",
			     .x = {.unit = FTH_UNIT_SECONDS, .min = start_of(f, end_of(r)), .max = end_of(r)}, .y = {.unit = FTH_UNIT_SHARE, .max = 1},
			     .series = series, .nseries = nseries};
	fth_plot_html(&p, out);
	free(y);
	sampled_release(&s);
}

void fth_figure_tasks(const struct fth_figures *f, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &f->c->runs[run];
	struct sampled s = sample(f, r);
	double *placed = fth_alloc((s.n + 1) * sizeof(*placed)), *waiting = fth_alloc((s.n + 1) * sizeof(*waiting));
	for (size_t i = 0; i < s.n; i++) {
		placed[i] = s.sum[i].tasks / lasted(r, &s, i);
		waiting[i] = s.sum[i].waiting / lasted(r, &s, i);
	}
	struct fth_series series[] = {
		{.name = "placed", .kind = FTH_SERIES_AREA, .colour = 0, .x = s.x, .y = placed, .n = s.n},
		{.name = "waiting for a machine", .kind = FTH_SERIES_AREA, .colour = 1, .x = s.x, .y = waiting, .n = s.n},
	};
	char id[32];
	id_of(id, "tasks", run);
	struct fth_plot p = {.id = id, .title = "Tasks", .subtitle = "tasks placed on machines and tasks waiting",
			     .desc = "Stacked areas: tasks placed on rented instances, and tasks waiting, over time.",
			     .x = {.unit = FTH_UNIT_SECONDS, .min = start_of(f, end_of(r)), .max = end_of(r)}, .series = series, .nseries = 2};
	fth_plot_html(&p, out);
	free(placed);
	free(waiting);
	sampled_release(&s);
}

/* ---- lifetimes ---- */

static int by_cost(const void *a, const void *b)
{
	const struct fth_run_instance *x = *(const struct fth_run_instance *const *)a;
	const struct fth_run_instance *y = *(const struct fth_run_instance *const *)b;
	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_start(const void *a, const void *b)
{
	const struct fth_run_instance *x = *(const struct fth_run_instance *const *)a;
	const struct fth_run_instance *y = *(const struct fth_run_instance *const *)b;
	if (x->acquired != y->acquired)
		return x->acquired > y->acquired ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void gantt_subtitle(const struct fth_run *r, size_t shown, fth_money cost, struct fth_str *out)
{
	if (shown < r->instance_list.len) {
		fth_str_addf(out, "the %zu costliest of ", shown);
		fth_human_int(out, (int64_t)r->instance_list.len);
		fth_str_add(out, " instances (");
		fth_human_percent(out, r->cost > 0 ? (double)cost / (double)r->cost : 0, 0);
		fth_str_add(out, " of the bill); pale: booting");
	} else {
		fth_str_addf(out, "all %zu instances; pale: booting", shown);
	}
}

static void span_title(const struct fth_figures *f, const struct fth_run_instance *i, fth_time end, struct fth_str *out)
{
	double s = (double)(end - i->acquired) / (double)FTH_SEC;
	fth_str_addf(out, "#%u %s, %u task%s, ", i->id, i->type < f->ntypes ? f->type_names[i->type] : "", i->tasks,
		     i->tasks == 1 ? "" : "s");
	fth_human_duration(out, s, fth_human_unit(s));
	fth_str_add(out, ", ");
	fth_human_usd(out, fth_usd(i->cost), 2);
}

static size_t gantt_legend(const struct fth_figures *f, const struct fth_span *spans, size_t n, const char **names,
			   unsigned *colours)
{
	size_t k = 0;
	for (unsigned c = 0; c <= FTH_GREY; c++) {
		bool used = false;
		for (size_t i = 0; i < n; i++)
			used |= spans[i].colour == c;
		if (!used)
			continue;
		names[k] = c == FTH_GREY ? "other types" : f->type_names[f->shown_types[c]];
		colours[k++] = c;
	}
	return k;
}

void fth_figure_gantt(const struct fth_figures *f, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &f->c->runs[run];
	size_t all = r->instance_list.len, n = FTH_MIN(all, (size_t)GANTT_ROWS);
	const struct fth_run_instance **list = fth_alloc((all + 1) * sizeof(*list));
	struct fth_span spans[GANTT_ROWS];
	struct fth_str titles[GANTT_ROWS] = {0}, subtitle = {0};
	const char *names[FTH_GREY + 1];
	unsigned colours[FTH_GREY + 1];
	fth_money cost = 0;
	for (size_t i = 0; i < all; i++)
		list[i] = &r->instance_list.data[i];
	qsort(list, all, sizeof(*list), by_cost);
	qsort(list, n, sizeof(*list), by_start);
	for (size_t i = 0; i < n; i++) {
		fth_time end = list[i]->gone == FTH_NEVER ? r->ended_at : list[i]->gone;
		fth_time ready = list[i]->ready == FTH_NEVER ? end : list[i]->ready;
		span_title(f, list[i], end, &titles[i]);
		spans[i] = (struct fth_span){.from = (double)list[i]->acquired / 1e6, .begun = (double)ready / 1e6,
					     .to = (double)end / 1e6, .colour = type_colour(f, list[i]->type),
					     .title = titles[i].data};
		cost += list[i]->cost;
	}
	gantt_subtitle(r, n, cost, &subtitle);
	char id[32];
	id_of(id, "gantt", run);
	struct fth_gantt g = {.id = id, .title = "Lifetimes of instances", .subtitle = subtitle.data, .spans = spans,
			      .nspans = n, .min = start_of(f, end_of(r)), .max = end_of(r), .names = names,
			      .colours = colours, .nnames = gantt_legend(f, spans, n, names, colours),
			      .desc = "One row per instance, from the moment it was rented until it was gone."};
	fth_gantt_html(&g, out);
	for (size_t i = 0; i < n; i++)
		fth_str_release(&titles[i]);
	fth_str_release(&subtitle);
	free(list);
}
