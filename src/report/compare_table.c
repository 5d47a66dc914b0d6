/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and runs as text for a terminal. */
#include <math.h>

#include "report/compare.h"
#include "report/format.h"

#define BOLD "\033[1m"
#define GREEN "\033[1;32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

enum column {
	COL_POLICY, COL_COST, COL_SAVED, COL_SERVICES, COL_GAP, COL_RATE, COL_USED, COL_DELAY, COL_DELAY_P99, COL_JCT, COL_P95, COL_WAIT, COL_IDLE, COL_INSTANCES, COL_MOVES,
	COL_TASKS, COL_GPU, COL_CPU, COL_MEM, COL_SPEED, COL_REJECTED, COL_WALL, NCOLS
};

static const char *const titles[NCOLS] = {
	"policy", "cost", "saved", "services", "gap", "$/node-h", "used", "short delay", "its p99", "JCT mean", "JCT p95", "wait", "idle", "inst.", "moves",
	"tasks/i", "GPU", "CPU", "mem", "speed", "refused", "wall",
};

/* Left out in this order when there is no room for all. */
static const uint8_t first_to_go[] = {
	COL_WALL, COL_REJECTED, COL_MEM, COL_CPU, COL_WAIT, COL_SPEED, COL_P95, COL_GPU, COL_IDLE, COL_TASKS,
	COL_INSTANCES, COL_MOVES, COL_USED, COL_SAVED, COL_GAP, COL_JCT,
};

/* Of each column of times the unit in which its longest one reads well. */
struct units {
	struct fth_time_unit jct, p95, wait, idle;
};

static struct units units_of(const struct fth_comparison *c)
{
	double jct = 0, p95 = 0, wait = 0, idle = 0;
	for (size_t i = 0; i < c->nruns; i++) {
		jct = FTH_MAX(jct, c->runs[i].jct_mean_s);
		p95 = FTH_MAX(p95, c->runs[i].jct_p95_s);
		wait = FTH_MAX(wait, c->runs[i].wait_mean_s);
		idle = FTH_MAX(idle, c->runs[i].idle_mean_s);
	}
	return (struct units){fth_human_unit(jct), fth_human_unit(p95), fth_human_unit(wait), fth_human_unit(idle)};
}

static void cell(const struct fth_comparison *c, const struct units *u, size_t run, enum column col,
		 struct fth_str *out)
{
	const struct fth_run *r = &c->runs[run];
	switch (col) {
	case COL_POLICY: fth_comparison_label(c, run, out); break;
	case COL_COST: fth_human_usd(out, fth_usd(r->cost), 2); break;
	case COL_SAVED:
		if (isnan(fth_comparison_saved(c, run)))
			fth_str_add(out, "-");
		else
			fth_human_percent(out, fth_comparison_saved(c, run), 1);
		break;
	case COL_SERVICES:
		fth_human_availability(out, fth_run_worst_service(r) ? fth_run_service_availability(fth_run_worst_service(r)) : NAN);
		break;
	case COL_GAP:
		if (isnan(fth_comparison_gap(c, run)))
			fth_str_add(out, "-");
		else
			fth_human_percent(out, fth_comparison_gap(c, run), 1);
		break;
	case COL_RATE: fth_human_usd(out, fth_run_node_rate(r), 3); break;
	case COL_USED: fth_human_percent(out, r->utilization, 1); break;
	case COL_DELAY: fth_str_addf(out, r->classes ? "%.2f s" : "-", r->short_task_delay.mean); break;
	case COL_DELAY_P99: fth_str_addf(out, r->classes ? "%.1f s" : "-", r->short_task_delay.p99); break;
	case COL_JCT: fth_human_duration(out, r->jct_mean_s, u->jct); break;
	case COL_P95: fth_human_duration(out, r->jct_p95_s, u->p95); break;
	case COL_WAIT: fth_human_duration(out, r->wait_mean_s, u->wait); break;
	case COL_IDLE: fth_human_duration(out, r->idle_mean_s, u->idle); break;
	case COL_INSTANCES: fth_human_int(out, (int64_t)r->instances_launched); break;
	case COL_MOVES: fth_human_int(out, (int64_t)r->migrations); break;
	case COL_TASKS: fth_human_real(out, r->tasks_per_instance, 2); break;
	case COL_GPU: fth_human_percent(out, r->alloc[0], 0); break;
	case COL_CPU: fth_human_percent(out, r->alloc[1], 0); break;
	case COL_MEM: fth_human_percent(out, r->alloc[2], 0); break;
	case COL_SPEED: fth_human_real(out, r->norm_throughput, 3); break;
	case COL_REJECTED: fth_human_int(out, (int64_t)r->rejected_actions); break;
	case COL_WALL: fth_str_addf(out, "%.2f s", r->wall_s); break;
	case NCOLS: break;
	}
}

/* Which columns fit, given the width each needs. */
static void choose_columns(const struct fth_comparison *c, const size_t widths[NCOLS], unsigned width, bool show[NCOLS])
{
	size_t total = 0;
	bool refusals = false, classes = false, services = false;
	for (size_t i = 0; i < c->nruns; i++) {
		refusals |= c->runs[i].rejected_actions > 0;
		classes |= c->runs[i].classes;
		services |= c->runs[i].services.len > 0;
	}
	for (int k = 0; k < NCOLS; k++) {
		show[k] = k == COL_DELAY || k == COL_DELAY_P99 ? classes
			  : k == COL_RATE || k == COL_USED     ? c->workload.rigid_jobs > 0
			  : k == COL_SERVICES                  ? services
			  : k == COL_GAP			? c->bound && c->bound->known
								: true;
		total += show[k] ? widths[k] + (k ? 2 : 0) : 0;
	}
	for (size_t i = 0; width && total > width && i < FTH_COUNT(first_to_go); i++) {
		int k = first_to_go[i];
		if ((k == COL_REJECTED && refusals) || !show[k])
			continue;
		total -= widths[k] + 2;
		show[k] = false;
	}
}

static void pad(struct fth_str *out, const char *text, size_t width, bool left)
{
	size_t have = fth_text_width(text);
	int fill = have < width ? (int)(width - have) : 0;
	if (left)
		fth_str_addf(out, "%s%*s", text, fill, "");
	else
		fth_str_addf(out, "%*s%s", fill, "", text);
}

static void trim_right(struct fth_str *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

static void heading(const struct fth_comparison *c, bool colour, struct fth_str *out)
{
	const struct fth_workload_summary *w = &c->workload;
	fth_str_add(out, colour ? BOLD : "");
	fth_shown_text(out, fth_comparison_workload(c));
	fth_str_addf(out, "%s: ", colour ? PLAIN : "");
	fth_human_int(out, (int64_t)w->jobs);
	fth_str_add(out, w->jobs == 1 ? " job, " : " jobs, ");
	fth_human_int(out, (int64_t)w->tasks);
	fth_str_add(out, w->tasks == 1 ? " task over " : " tasks over ");
	double span = (double)(w->last_submit - w->first_submit) / (double)FTH_SEC;
	fth_human_duration(out, span, span >= 4 * 86400 ? (struct fth_time_unit){"d", 86400} : fth_human_unit(span));
	fth_str_addf(out, "; %u instance type%s, %u offer%s\n\n", c->catalog_types, c->catalog_types == 1 ? "" : "s", c->catalog_offers,
		     c->catalog_offers == 1 ? "" : "s");
}

/* What no policy can go below, as a sentence. */
static void bound_line(const struct fth_comparison *c, struct fth_str *out)
{
	const struct fth_bound *b = c->bound;
	if (!b)
		return;
	if (!b->known) {
		fth_str_addf(out, "no bound: %s\n", b->why);
		return;
	}
	fth_str_add(out, "gap: above the least that any policy can cost, ");
	fth_human_usd(out, fth_usd(b->usd), 2);
	if (b->certified && b->slack_per_launch)
		fth_str_addf(out, " (proven, to $%.4f a launch)\n", fth_usd(b->slack_per_launch));
	else if (b->certified)
		fth_str_add(out, " (proven)\n");
	else
		fth_str_addf(out, " (an estimate: %s)\n", b->why);
}

static void service_remarks(const struct fth_run *r, const char *label, struct fth_str *out)
{
	for (size_t i = 0; i < r->services.len; i++) {
		const struct fth_run_service *s = &r->services.data[i];
		if (!fth_run_service_missed(s))
			continue;
		fth_str_addf(out, "! %s: ", label);
		fth_run_service_remark(s, out);
		fth_str_addc(out, '\n');
	}
}

/* What a reader must know before trusting a row. */
static void remarks(const struct fth_comparison *c, struct fth_str *out)
{
	for (size_t i = 0; i < c->nruns; i++) {
		const struct fth_run *r = &c->runs[i];
		struct fth_str label = {0};
		fth_comparison_label(c, i, &label);
		if (r->jobs_unfinished)
			fth_str_addf(out, "! %s: %llu job%s did not end\n", label.data, (unsigned long long)r->jobs_unfinished,
				     r->jobs_unfinished == 1 ? "" : "s");
		service_remarks(r, label.data, out);
		if (r->list_cost && r->cost != r->list_cost) {
			fth_str_addf(out, "  %s: ", label.data);
			fth_run_paid_as(r, out);
			fth_str_add(out, "; ");
			fth_human_usd(out, fth_usd(r->list_cost), 2);
			fth_str_add(out, r->prorated ? " at list price; fees by the time held, what is left of contracts not counted\n"
						     : " at list price\n");
		}
		if (r->fallback[0] && r->note.len) /* which says who took over */
			fth_str_addf(out, "! %s: %s\n", label.data, r->note.data);
		else if (r->fallback[0])
			fth_str_addf(out, "! %s: failed; %s took over\n", label.data, r->fallback);
		if (r->rejected_actions)
			fth_str_addf(out, "! %s: %llu actions refused %s\n", label.data,
				     (unsigned long long)r->rejected_actions,
				     r->rejected_by.len ? r->rejected_by.data : "");
		fth_str_release(&label);
	}
}

void fth_comparison_table(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out)
{
	size_t widths[NCOLS], best = fth_comparison_decided(c) ? fth_comparison_cheapest(c) : SIZE_MAX;
	struct fth_str *cells = fth_alloc((c->nruns * NCOLS + 1) * sizeof(*cells));
	struct units u = units_of(c);
	bool show[NCOLS], residual = false;
	for (size_t i = 0; i < c->nruns; i++)
		residual |= c->runs[i].prorated;
	for (int k = 0; k < NCOLS; k++)
		widths[k] = strlen(titles[k]);
	for (size_t n = 0; n < c->nruns * NCOLS; n++) {
		cell(c, &u, n / NCOLS, (enum column)(n % NCOLS), &cells[n]);
		if (n % NCOLS == COL_COST) {
			if (residual)
				fth_str_addc(&cells[n], c->runs[n / NCOLS].prorated ? '~' : ' ');
			fth_str_addc(&cells[n], n / NCOLS == best ? '*' : ' ');
		}
		widths[n % NCOLS] = FTH_MAX(widths[n % NCOLS], fth_text_width(cells[n].data));
	}
	choose_columns(c, widths, width, show);
	heading(c, colour, out);
	fth_str_add(out, colour ? DIM : "");
	for (int k = 0; k < NCOLS; k++) {
		if (show[k]) {
			fth_str_add(out, k ? "  " : "");
			pad(out, titles[k], widths[k], k == COL_POLICY);
		}
	}
	fth_str_addf(out, "%s\n", colour ? PLAIN : "");
	for (size_t i = 0; i < c->nruns; i++) {
		fth_str_add(out, colour && i == best ? GREEN : "");
		for (int k = 0; k < NCOLS; k++) {
			if (show[k]) {
				fth_str_add(out, k ? "  " : "");
				pad(out, cells[i * NCOLS + (size_t)k].data, widths[k], k == COL_POLICY);
			}
		}
		trim_right(out);
		fth_str_addf(out, "%s\n", colour && i == best ? PLAIN : "");
	}
	for (size_t n = 0; n < c->nruns * NCOLS; n++)
		fth_str_release(&cells[n]);
	free(cells);
	if (c->nruns > 1) {
		fth_str_add(out, "\n* cheapest; saved: against ");
		fth_comparison_label(c, fth_comparison_baseline(c), out);
		fth_str_add(out, "; JCT: submitted to done\n");
	}
	if (residual)
		fth_str_add(out, "~ less what contracts are still worth after the run: more is paid than this\n");
	bound_line(c, out);
	remarks(c, out);
}

/* ---- one run ---- */

static void line(struct fth_str *out, const char *name, struct fth_str *value)
{
	fth_str_addf(out, "  %-26s %s\n", name, value->data ? value->data : "");
	fth_str_clear(value);
}

static void jobs_block(const struct fth_run *r, struct fth_str *out)
{
	struct fth_str v = {0};
	struct fth_time_unit jct = fth_human_unit(r->jct_mean_s), p95 = fth_human_unit(r->jct_p95_s);
	fth_human_int(&v, (int64_t)r->jobs);
	fth_str_add(&v, " done (");
	fth_human_int(&v, (int64_t)r->tasks);
	fth_str_add(&v, " tasks)");
	line(out, "jobs", &v);
	fth_human_duration(&v, r->jct_mean_s, jct);
	fth_str_add(&v, " mean, ");
	fth_human_duration(&v, r->jct_p50_s, jct);
	fth_str_add(&v, " median, ");
	fth_human_duration(&v, r->jct_p95_s, p95);
	fth_str_add(&v, " p95, ");
	fth_human_duration(&v, r->jct_p99_s, p95);
	fth_str_add(&v, " p99");
	line(out, "completion time", &v);
	fth_human_duration(&v, r->wait_mean_s, fth_human_unit(r->wait_mean_s));
	line(out, "wait for the first launch", &v);
	fth_human_duration(&v, r->idle_mean_s, fth_human_unit(r->idle_mean_s));
	line(out, "not executing", &v);
	fth_str_addf(&v, "%.3f of full speed while launched, mean over jobs", r->norm_throughput);
	line(out, "speed", &v);
	fth_human_int(&v, (int64_t)r->migrations);
	fth_str_addf(&v, " (%.2f per job)", r->jobs ? (double)r->migrations / (double)r->jobs : 0);
	line(out, "moves", &v);
	for (size_t i = 0; i < r->services.len; i++) {
		const struct fth_run_service *s = &r->services.data[i];
		fth_str_addf(&v, "%s there ", s->name);
		fth_human_availability(&v, fth_run_service_availability(s));
		fth_str_add(&v, " of the time");
		if (s->target > 0)
			fth_str_addf(&v, ", asked for %.10g", s->target);
		line(out, "service", &v);
	}
	fth_str_release(&v);
}

/* Policies that part short tasks from long ones, and have transient machines for the short. */
static void short_block(const struct fth_run *r, struct fth_str *out)
{
	const struct fth_run_spread *d = &r->short_task_delay;
	const struct fth_run_transient *t = &r->transient;
	struct fth_str v = {0};
	if (!r->classes)
		return;
	fth_str_addf(&v, "%.2f s mean, %.3f s median, %.1f s p90, %.1f s p99, %.1f s max", d->mean, d->p50, d->p90, d->p99, d->max);
	line(out, "delay of short tasks", &v);
	fth_str_addf(&v, "%.1f s mean, %.1f s p99; long ones %.1f s mean, %.1f s p99", r->short_jobs.mean, r->short_jobs.p99,
		     r->long_jobs.mean, r->long_jobs.p99);
	line(out, "short jobs", &v);
	if (t->count) {
		fth_str_addf(&v, "%.1f slots active, %llu machines, life %.2f h mean, %.2f h longest, ", t->avg_active,
			     (unsigned long long)t->count, t->lifetime_mean_h, t->lifetime_max_h);
		fth_human_usd(&v, t->cost_usd, 2);
		line(out, "transient machines", &v);
		fth_str_addf(&v, "%llu short tasks, %.0f s of work, ", (unsigned long long)t->lost_tasks, t->lost_s);
		fth_human_usd(&v, t->lost_usd, 2);
		line(out, "  lost with them", &v);
	}
	fth_str_release(&v);
}

/* Where contracts or discounts by month paid: what it would have been, and hours by how they were paid for. */
static void contracts_block(const struct fth_run *r, struct fth_str *out)
{
	struct fth_str v = {0};
	if (!r->list_cost || r->cost == r->list_cost)
		return;
	fth_human_usd(&v, fth_usd(r->list_cost), 2);
	line(out, "  at list price", &v);
	fth_run_paid_as(r, &v);
	line(out, "  paid as", &v);
	fth_str_release(&v);
}

/* How far it is above what no policy can go below. */
static void gap_line(const struct fth_comparison *c, size_t run, struct fth_str *out)
{
	struct fth_str v = {0};
	double gap = fth_comparison_gap(c, run);
	if (!isnan(gap)) {
		fth_human_percent(&v, gap, 1);
		fth_str_add(&v, " above ");
		fth_human_usd(&v, fth_usd(c->bound->usd), 2);
		fth_str_add(&v, c->bound->certified ? ", proven" : ", an estimate");
		line(out, "  above the lower bound", &v);
	}
	fth_str_release(&v);
}

static void money_block(const struct fth_comparison *c, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &c->runs[run];
	struct fth_str v = {0};
	double cost = fth_usd(r->cost);
	const struct {
		const char *name;
		double usd;
	} parts[] = {
		{"  while booting", r->waste_boot_usd},
		{"  ready but empty", r->waste_idle_usd},
		{"  room beside tasks", r->waste_fragmentation_usd},
		{"  rounded up at the end", r->waste_rounding_usd},
	};
	fth_human_usd(&v, cost, 2);
	if (r->jobs) {
		fth_str_add(&v, " (");
		fth_human_usd(&v, cost / (double)r->jobs, 2);
		fth_str_add(&v, " per job)");
	}
	line(out, "cost", &v);
	gap_line(c, run, out);
	contracts_block(r, out);
	if (c->workload.rigid_jobs > 0 && r->used_node_hours > 0) {
		fth_human_usd(&v, fth_run_node_rate(r), 4);
		line(out, "  per used node-hour", &v);
		fth_human_percent(&v, r->utilization, 1);
		line(out, "  of it used", &v);
	}
	for (size_t i = 0; i < FTH_COUNT(parts); i++) {
		fth_human_usd(&v, parts[i].usd, 2);
		if (cost > 0)
			fth_str_addf(&v, " (%.1f%%)", 100 * parts[i].usd / cost);
		line(out, parts[i].name, &v);
	}
	fth_human_int(&v, (int64_t)r->instances_launched);
	if (r->launch_failures)
		fth_str_addf(&v, " (%llu launches failed)", (unsigned long long)r->launch_failures);
	line(out, "instances", &v);
	fth_str_addf(&v, "%.2f", r->tasks_per_instance);
	line(out, "tasks per instance", &v);
	fth_str_addf(&v, "GPU %.1f%%, CPU %.1f%%, memory %.1f%%", 100 * r->alloc[0], 100 * r->alloc[1],
		     100 * r->alloc[2]);
	line(out, "allocated", &v);
	fth_str_release(&v);
}

void fth_comparison_table_one(const struct fth_comparison *c, size_t run, bool colour, struct fth_str *out)
{
	const struct fth_run *r = &c->runs[run];
	struct fth_str v = {0};
	struct fth_comparison one = *c;
	heading(c, colour, out);
	fth_str_addf(out, "%s%s%s\n", colour ? BOLD : "", r->policy, colour ? PLAIN : "");
	money_block(c, run, out);
	jobs_block(r, out);
	short_block(r, out);
	fth_human_int(&v, (int64_t)r->rounds);
	fth_str_add(&v, " rounds, ");
	fth_human_int(&v, (int64_t)r->events);
	fth_str_addf(&v, " events in %.2f s (deciding %.2f s, longest %.1f ms)", r->wall_s, r->decide_s,
		     r->decide_max_s * 1e3);
	line(out, "simulated", &v);
	fth_str_addf(&v, "%.1f MB", r->peak_rss_mb);
	line(out, "peak memory", &v);
	for (size_t i = 0; i < r->notes.len; i++) {
		const struct fth_run_note *n = &r->notes.data[i];
		fth_str_addf(&v, "sum %.6g, mean %.6g, last %.6g", n->sum, n->count ? n->sum / (double)n->count : 0,
			     n->last);
		line(out, n->name, &v);
	}
	fth_str_release(&v);
	one.runs = r;
	one.nruns = 1;
	remarks(&one, out);
}
