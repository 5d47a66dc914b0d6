/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons: which run is which, JSON and CSV. */
#include "report/compare.h"

#include <jansson.h>
#include <math.h>

#include "report/format.h"

static bool is_whole(const struct fth_run *r)
{
	return !r->jobs_unfinished && !r->fallback[0];
}

size_t fth_comparison_baseline(const struct fth_comparison *c)
{
	size_t first = c->nruns;
	for (size_t i = c->nruns; i-- > 0;)
		if (is_whole(&c->runs[i]))
			first = i;
	for (size_t i = 0; i < c->nruns; i++)
		if (!strcmp(c->runs[i].policy, "no-packing") && (is_whole(&c->runs[i]) || first == c->nruns))
			return i;
	return first < c->nruns ? first : 0;
}

double fth_comparison_saved(const struct fth_comparison *c, size_t run)
{
	size_t base = fth_comparison_baseline(c);
	bool both = is_whole(&c->runs[run]) && is_whole(&c->runs[base]) && c->runs[base].cost > 0;
	return run == base || !both ? NAN : 1 - (double)c->runs[run].cost / (double)c->runs[base].cost;
}

/* Work done, services there for as long as they ask for: what a cost is worth comparing by. */
static int worth(const struct fth_run *r)
{
	bool kept = true;
	for (size_t i = 0; i < r->services.len; i++)
		kept &= !fth_run_service_missed(&r->services.data[i]);
	return is_whole(r) ? 1 + kept : 0;
}

size_t fth_comparison_cheapest(const struct fth_comparison *c)
{
	size_t best = 0;
	for (size_t i = 1; i < c->nruns; i++) {
		const struct fth_run *a = &c->runs[i], *b = &c->runs[best];
		bool better = worth(a) != worth(b) ? worth(a) > worth(b) : a->cost < b->cost;
		if (better)
			best = i;
	}
	return best;
}

bool fth_comparison_decided(const struct fth_comparison *c)
{
	return c->nruns && is_whole(&c->runs[fth_comparison_cheapest(c)]);
}

double fth_comparison_gap(const struct fth_comparison *c, size_t run)
{
	const struct fth_run *r = &c->runs[run];
	if (!c->bound || !c->bound->known || c->bound->usd <= 0 || r->jobs_unfinished)
		return NAN;
	return (double)r->cost / (double)c->bound->usd - 1;
}

const char *fth_comparison_workload(const struct fth_comparison *c)
{
	if (c->workload_name && *c->workload_name)
		return c->workload_name;
	const char *path = c->workload_path ? c->workload_path : "workload";
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Whether another run of the same policy has another value for this parameter. */
static bool param_differs(const struct fth_comparison *c, size_t run, const char *key, const json_t *value)
{
	bool differs = false;
	for (size_t i = 0; i < c->nruns && !differs; i++) {
		if (i == run || strcmp(c->runs[i].policy, c->runs[run].policy) || !c->runs[i].params.len)
			continue;
		json_t *other = json_loadb(c->runs[i].params.data, c->runs[i].params.len, 0, NULL);
		differs = other && !json_equal(json_object_get(other, key), value);
		json_decref(other);
	}
	return differs;
}

static size_t same_policy(const struct fth_comparison *c, size_t run, size_t upto)
{
	size_t n = 0;
	for (size_t i = 0; i < upto; i++)
		n += !strcmp(c->runs[i].policy, c->runs[run].policy);
	return n;
}

void fth_comparison_label(const struct fth_comparison *c, size_t run, struct fth_str *out)
{
	const struct fth_run *r = &c->runs[run];
	fth_str_add(out, r->policy);
	if (same_policy(c, run, c->nruns) < 2)
		return;
	json_t *params = r->params.len ? json_loadb(r->params.data, r->params.len, 0, NULL) : NULL;
	const char *key;
	json_t *value;
	bool any = false;
	json_object_foreach(params, key, value) {
		if (!param_differs(c, run, key, value))
			continue;
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
		const char *from = text && *text == '"' ? text + 1 : text;
		size_t n = from ? strcspn(from, "\"") : 0;
		fth_str_addf(out, "%s%s=%.*s", any ? "," : ":", key, (int)n, from ? from : "");
		free(text);
		any = true;
	}
	json_decref(params);
	if (!any)
		fth_str_addf(out, " (%zu)", same_policy(c, run, run) + 1);
}

/* ---- JSON ---- */

static void json_workload(const struct fth_comparison *c, struct fth_json *j)
{
	const struct fth_workload_summary *w = &c->workload;
	fth_json_begin(j, "workload", '{');
	fth_json_text(j, "name", fth_comparison_workload(c));
	fth_json_text(j, "path", c->workload_path);
	fth_json_int(j, "jobs", (int64_t)w->jobs);
	fth_json_int(j, "tasks", (int64_t)w->tasks);
	fth_json_int(j, "classes", (int64_t)w->classes);
	fth_json_int(j, "users", (int64_t)w->users);
	fth_json_int(j, "coupled_jobs", (int64_t)w->coupled_jobs);
	fth_json_int(j, "rigid_jobs", (int64_t)w->rigid_jobs);
	fth_json_int(j, "gpu_jobs", (int64_t)w->gpu_jobs);
	fth_json_real(j, "first_submit_s", (double)w->first_submit / (double)FTH_SEC);
	fth_json_real(j, "last_submit_s", (double)w->last_submit / (double)FTH_SEC);
	fth_json_real(j, "task_hours", w->task_hours);
	fth_json_real(j, "runtime_mean_h", w->runtime_mean_h);
	fth_json_real(j, "runtime_p50_h", w->runtime_p50_h);
	fth_json_real(j, "runtime_p80_h", w->runtime_p80_h);
	fth_json_real(j, "runtime_p95_h", w->runtime_p95_h);
	fth_json_end(j, '}');
}

static void json_shares(struct fth_json *j, const char *key, const double v[3])
{
	fth_json_begin(j, key, '{');
	fth_json_real(j, "gpu", v[0]);
	fth_json_real(j, "cpu", v[1]);
	fth_json_real(j, "mem", v[2]);
	fth_json_end(j, '}');
}

static void json_window(const struct fth_run *r, struct fth_json *j)
{
	if (!r->window_to)
		return;
	fth_json_begin(j, "window", '{');
	fth_json_real(j, "from_s", (double)r->window_from / (double)FTH_SEC);
	fth_json_real(j, "to_s", (double)r->window_to / (double)FTH_SEC);
	fth_json_real(j, "tasks_per_instance", r->window_tasks_per_instance);
	json_shares(j, "alloc", r->window_alloc);
	fth_json_end(j, '}');
}

static void json_notes(const struct fth_run *r, struct fth_json *j)
{
	fth_json_begin(j, "notes", '{');
	for (size_t i = 0; i < r->notes.len; i++) {
		const struct fth_run_note *n = &r->notes.data[i];
		fth_json_begin(j, n->name, '{');
		fth_json_real(j, "last", n->last);
		fth_json_real(j, "sum", n->sum);
		fth_json_real(j, "max", n->max);
		fth_json_int(j, "count", (int64_t)n->count);
		fth_json_end(j, '}');
	}
	fth_json_end(j, '}');
}

static void json_spread(struct fth_json *j, const char *key, const struct fth_run_spread *s)
{
	fth_json_begin(j, key, '{');
	fth_json_real(j, "mean", s->mean);
	fth_json_real(j, "p50", s->p50);
	fth_json_real(j, "p90", s->p90);
	fth_json_real(j, "p99", s->p99);
	fth_json_real(j, "max", s->max);
	fth_json_int(j, "n", (int64_t)s->n);
	fth_json_end(j, '}');
}

static void json_classes(const struct fth_run *r, struct fth_json *j)
{
	if (!r->classes)
		return;
	json_spread(j, "short_task_delay_s", &r->short_task_delay);
	json_spread(j, "short_jobs_s", &r->short_jobs);
	json_spread(j, "long_jobs_s", &r->long_jobs);
	fth_json_begin(j, "transient", '{');
	fth_json_real(j, "avg_active", r->transient.avg_active);
	fth_json_real(j, "lifetime_mean_h", r->transient.lifetime_mean_h);
	fth_json_real(j, "lifetime_max_h", r->transient.lifetime_max_h);
	fth_json_real(j, "cost_ratio", r->transient.cost_ratio);
	fth_json_real(j, "cost_usd", r->transient.cost_usd);
	fth_json_int(j, "count", (int64_t)r->transient.count);
	fth_json_int(j, "lost_tasks", (int64_t)r->transient.lost_tasks);
	fth_json_real(j, "lost_s", r->transient.lost_s);
	fth_json_real(j, "lost_usd", r->transient.lost_usd);
	fth_json_end(j, '}');
}

void fth_run_service_remark(const struct fth_run_service *s, struct fth_str *out)
{
	fth_str_addf(out, "service %s ", s->name);
	if (s->first == FTH_NEVER) {
		fth_str_add(out, "never had all of its tasks running");
		return;
	}
	fth_str_add(out, "was there ");
	fth_human_availability(out, fth_run_service_availability(s));
	fth_str_addf(out, " of the time, below the %.10g asked for", s->target);
}

static void json_services(const struct fth_run *r, struct fth_json *j)
{
	if (!r->services.len)
		return;
	fth_json_begin(j, "services", '[');
	for (size_t i = 0; i < r->services.len; i++) {
		const struct fth_run_service *s = &r->services.data[i];
		bool once = s->first != FTH_NEVER;
		double wanted = (double)s->tasks * (double)s->over / (double)FTH_SEC;
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "job", s->name);
		fth_json_int(j, "tasks", s->tasks);
		fth_json_real(j, "target", s->target > 0 ? s->target : NAN);
		fth_json_real(j, "availability", fth_run_service_availability(s));
		fth_json_real(j, "capacity_share", wanted > 0 ? s->task_seconds / wanted : 0);
		fth_json_real(j, "whole_from_s", once ? (double)s->first / (double)FTH_SEC : NAN);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
}

double fth_run_node_rate(const struct fth_run *r)
{
	return r->used_node_hours > 0 ? fth_usd(r->cost) / r->used_node_hours : 0;
}

void fth_run_paid_as(const struct fth_run *r, struct fth_str *out)
{
	for (uint32_t i = 0; i < r->ncontracts; i++) {
		fth_str_add(out, i ? ", " : "");
		fth_human_int(out, (int64_t)(r->contracts[i].hours + 0.5));
		fth_str_addf(out, " h %s", r->contracts[i].name);
	}
}

/* Fields beyond those that scripts were promised. */
static void json_run_more(const struct fth_run *r, struct fth_json *j)
{
	fth_json_usd(j, "list_cost_usd", r->list_cost);
	fth_json_real(j, "rate_usd_per_node_hour", fth_run_node_rate(r));
	fth_json_real(j, "used_node_hours", r->used_node_hours);
	fth_json_real(j, "billed_node_hours", r->billed_node_hours);
	fth_json_bool(j, "fees_by_time_held", r->prorated);
	fth_json_begin(j, "hours_by_contract", '{');
	for (uint32_t i = 0; i < r->ncontracts; i++)
		fth_json_real(j, r->contracts[i].name, r->contracts[i].hours);
	fth_json_end(j, '}');
	fth_json_int(j, "tasks", (int64_t)r->tasks);
	fth_json_int(j, "jobs_unfinished", (int64_t)r->jobs_unfinished);
	fth_json_real(j, "jct_p99_s", r->jct_p99_s);
	fth_json_real(j, "stretch_mean", r->stretch_mean);
	fth_json_int(j, "launch_failures", (int64_t)r->launch_failures);
	fth_json_int(j, "preemptions", (int64_t)r->preemptions);
	fth_json_int(j, "lost_tasks", (int64_t)r->lost_tasks);
	fth_json_raw(j, "rejected_by", r->rejected_by.data);
	fth_json_real(j, "utilization", r->utilization);
	fth_json_int(j, "events", (int64_t)r->events);
	fth_json_int(j, "rounds", (int64_t)r->rounds);
	fth_json_int(j, "rounds_decided", (int64_t)r->rounds_decided);
	fth_json_int(j, "live_tasks_max", (int64_t)r->live_tasks_max);
	fth_json_real(j, "ended_at_s", (double)r->ended_at / (double)FTH_SEC);
	fth_json_real(j, "decide_s", r->decide_s);
	fth_json_real(j, "decide_max_s", r->decide_max_s);
	fth_json_text(j, "fallback", r->fallback[0] ? r->fallback : NULL);
	fth_json_text(j, "note", r->note.len ? r->note.data : NULL);
	json_classes(r, j);
	json_services(r, j);
	json_window(r, j);
	json_notes(r, j);
}

static void json_bound(const struct fth_comparison *c, struct fth_json *j)
{
	const struct fth_bound *b = c->bound;
	if (!b)
		return;
	fth_json_begin(j, "bound", '{');
	if (b->known)
		fth_json_usd(j, "bound_usd", b->usd);
	else
		fth_json_text(j, "bound_usd", NULL);
	fth_json_bool(j, "certified", b->certified);
	fth_json_bool(j, "exact", b->exact);
	fth_json_bool(j, "interference", b->interference);
	fth_json_text(j, "why", b->why[0] ? b->why : NULL);
	fth_json_usd(j, "slack_usd_per_launch", b->slack_per_launch);
	fth_json_begin(j, "remarks", '[');
	for (size_t i = 0; i < b->remarks.len; i++)
		fth_json_text(j, NULL, b->remarks.data[i]);
	fth_json_end(j, ']');
	fth_json_end(j, '}');
}

static void json_run(const struct fth_comparison *c, size_t run, struct fth_json *j, const char *key)
{
	const struct fth_run *r = &c->runs[run];
	fth_json_begin(j, key, '{');
	fth_json_text(j, "policy", r->policy);
	fth_json_raw(j, "params", r->params.data);
	fth_json_usd(j, "cost_usd", r->cost);
	fth_json_int(j, "jobs", (int64_t)r->jobs);
	fth_json_real(j, "jct_mean_s", r->jct_mean_s);
	fth_json_real(j, "jct_p50_s", r->jct_p50_s);
	fth_json_real(j, "jct_p95_s", r->jct_p95_s);
	fth_json_real(j, "wait_mean_s", r->wait_mean_s);
	fth_json_real(j, "idle_mean_s", r->idle_mean_s);
	fth_json_int(j, "instances_launched", (int64_t)r->instances_launched);
	fth_json_int(j, "migrations", (int64_t)r->migrations);
	fth_json_real(j, "tasks_per_instance", r->tasks_per_instance);
	json_shares(j, "alloc", r->alloc);
	fth_json_real(j, "norm_throughput", r->norm_throughput);
	fth_json_int(j, "rejected_actions", (int64_t)r->rejected_actions);
	fth_json_begin(j, "waste_usd", '{');
	fth_json_real(j, "boot", r->waste_boot_usd);
	fth_json_real(j, "idle", r->waste_idle_usd);
	fth_json_real(j, "fragmentation", r->waste_fragmentation_usd);
	fth_json_real(j, "rounding", r->waste_rounding_usd);
	fth_json_end(j, '}');
	fth_json_real(j, "wall_s", r->wall_s);
	fth_json_real(j, "peak_rss_mb", r->peak_rss_mb);
	if (c->bound && c->bound->known)
		fth_json_usd(j, "bound_usd", c->bound->usd);
	else
		fth_json_text(j, "bound_usd", NULL);
	fth_json_real(j, "gap", fth_comparison_gap(c, run));
	json_run_more(r, j);
	fth_json_end(j, '}');
}

static void json_head(const struct fth_comparison *c, struct fth_json *j, const char *schema)
{
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "schema", schema);
	fth_json_text(j, "version", c->version);
	fth_json_int(j, "seed", c->seed);
	json_workload(c, j);
	fth_json_begin(j, "catalog", '{');
	fth_json_text(j, "path", c->catalog_path);
	fth_json_int(j, "types", c->catalog_types);
	fth_json_int(j, "offers", c->catalog_offers);
	fth_json_end(j, '}');
	if (c->interference_path)
		fth_json_text(j, "interference", c->interference_path);
	if (c->market_path)
		fth_json_text(j, "market", c->market_path);
	json_bound(c, j);
}

void fth_comparison_json(const struct fth_comparison *c, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	json_head(c, &j, "farthing.compare/1");
	fth_json_begin(&j, "runs", '[');
	for (size_t i = 0; i < c->nruns; i++)
		json_run(c, i, &j, NULL);
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
}

void fth_comparison_json_one(const struct fth_comparison *c, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	json_head(c, &j, "farthing.sim/1");
	if (c->nruns)
		json_run(c, 0, &j, "run");
	fth_json_end(&j, '}');
}

/* ---- CSV ---- */

/* NAME=HOURS;... in one cell. */
static void csv_hours(struct fth_csvout *v, const struct fth_run *r)
{
	struct fth_str cell = {0};
	for (uint32_t i = 0; i < r->ncontracts; i++)
		fth_str_addf(&cell, "%s%s=%.6g", i ? ";" : "", r->contracts[i].name, r->contracts[i].hours);
	fth_csvout_text(v, cell.data ? cell.data : "");
	fth_str_release(&cell);
}

void fth_comparison_csv(const struct fth_comparison *c, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	fth_str_add(out, "policy,params,cost_usd,jobs,jobs_unfinished,jct_mean_s,jct_p50_s,jct_p95_s,jct_p99_s,"
			 "wait_mean_s,idle_mean_s,instances_launched,launch_failures,migrations,preemptions,"
			 "tasks_per_instance,alloc_gpu,alloc_cpu,alloc_mem,norm_throughput,rejected_actions,"
			 "waste_boot_usd,waste_idle_usd,waste_fragmentation_usd,waste_rounding_usd,utilization,fallback,wall_s,"
			 "peak_rss_mb,rate_usd_per_node_hour,used_node_hours,billed_node_hours,list_cost_usd,hours_by_contract,bound_usd,gap,service_availability\r\n");
	for (size_t i = 0; i < c->nruns; i++) {
		const struct fth_run *r = &c->runs[i];
		fth_csvout_text(&v, r->policy);
		fth_csvout_text(&v, r->params.len ? r->params.data : "{}");
		fth_csvout_usd(&v, r->cost);
		fth_csvout_int(&v, (int64_t)r->jobs);
		fth_csvout_int(&v, (int64_t)r->jobs_unfinished);
		const double times[] = {r->jct_mean_s, r->jct_p50_s,   r->jct_p95_s,
					r->jct_p99_s,  r->wait_mean_s, r->idle_mean_s};
		for (size_t k = 0; k < FTH_COUNT(times); k++)
			fth_csvout_real(&v, times[k]);
		const uint64_t counts[] = {r->instances_launched, r->launch_failures, r->migrations, r->preemptions};
		for (size_t k = 0; k < FTH_COUNT(counts); k++)
			fth_csvout_int(&v, (int64_t)counts[k]);
		const double shares[] = {r->tasks_per_instance, r->alloc[0], r->alloc[1], r->alloc[2],
					 r->norm_throughput};
		for (size_t k = 0; k < FTH_COUNT(shares); k++)
			fth_csvout_real(&v, shares[k]);
		fth_csvout_int(&v, (int64_t)r->rejected_actions);
		fth_csvout_real(&v, r->waste_boot_usd);
		fth_csvout_real(&v, r->waste_idle_usd);
		fth_csvout_real(&v, r->waste_fragmentation_usd);
		fth_csvout_real(&v, r->waste_rounding_usd);
		fth_csvout_real(&v, r->utilization);
		fth_csvout_text(&v, r->fallback);
		fth_csvout_real(&v, r->wall_s);
		fth_csvout_real(&v, r->peak_rss_mb);
		fth_csvout_real(&v, fth_run_node_rate(r));
		fth_csvout_real(&v, r->used_node_hours);
		fth_csvout_real(&v, r->billed_node_hours);
		fth_csvout_usd(&v, r->list_cost);
		csv_hours(&v, r);
		if (c->bound && c->bound->known)
			fth_csvout_usd(&v, c->bound->usd);
		else
			fth_csvout_text(&v, "");
		fth_csvout_real(&v, fth_comparison_gap(c, i));
		const struct fth_run_service *worst = fth_run_worst_service(r);
		fth_csvout_real(&v, worst ? fth_run_service_availability(worst) : NAN);
		fth_csvout_end(&v);
	}
}

void fth_run_jobs_csv(const struct fth_run *r, const struct fth_symtab *syms, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	fth_str_add(out, "job,submitted_s,started_s,ended_s,jct_s,wait_s,executing_s,standalone_s,migrations\r\n");
	for (size_t i = 0; i < r->job_list.len; i++) {
		const struct fth_run_job *j = &r->job_list.data[i];
		bool ended = j->ended != FTH_NEVER, started = j->started != FTH_NEVER;
		fth_csvout_text(&v, fth_sym_str(syms, j->key));
		fth_csvout_seconds(&v, j->submitted);
		fth_csvout_seconds(&v, j->started);
		fth_csvout_seconds(&v, j->ended);
		fth_csvout_seconds(&v, ended ? j->ended - j->submitted : FTH_NEVER);
		fth_csvout_seconds(&v, started ? j->started - j->submitted : FTH_NEVER);
		fth_csvout_seconds(&v, j->executing);
		fth_csvout_seconds(&v, j->standalone);
		fth_csvout_int(&v, j->moves);
		fth_csvout_end(&v);
	}
}

void fth_run_instances_csv(const struct fth_run *r, struct fth_str *out)
{
	static const char *const markets[] = {"on-demand", "spot", "reserved"};
	const char **names = fth_alloc(FTH_MAX(r->ntypes, 1u) * sizeof(*names));
	struct fth_csvout v = {.out = out};
	size_t pos = 0;
	for (uint32_t t = 0; t < r->ntypes && pos < r->type_names.len; t++) {
		names[t] = r->type_names.data + pos;
		pos += strlen(names[t]) + 1;
	}
	fth_str_add(out, "instance,type,capacity_type,requested_s,acquired_s,ready_s,gone_s,tasks,cost_usd\r\n");
	for (size_t i = 0; i < r->instance_list.len; i++) {
		const struct fth_run_instance *n = &r->instance_list.data[i];
		char id[16];
		snprintf(id, sizeof(id), "i%u", n->id);
		fth_csvout_text(&v, id);
		fth_csvout_text(&v, n->type < r->ntypes && names[n->type] ? names[n->type] : "");
		fth_csvout_text(&v, markets[n->market]);
		fth_csvout_seconds(&v, n->requested);
		fth_csvout_seconds(&v, n->acquired);
		fth_csvout_seconds(&v, n->ready);
		fth_csvout_seconds(&v, n->gone);
		fth_csvout_int(&v, n->tasks);
		fth_csvout_usd(&v, n->cost);
		fth_csvout_end(&v);
	}
	free(names);
}
