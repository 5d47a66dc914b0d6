/* SPDX-License-Identifier: Apache-2.0 */
/* The picture as Prometheus reads it. */
#include "daemon/api.h"
#include "model/plan.h"

static const char *const markets[] = {"on-demand", "spot", "reserved"};

static void head(struct fth_str *s, const char *name, const char *type, const char *help)
{
	fth_str_addf(s, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(struct fth_str *s, const char *name, const char *help, double v)
{
	head(s, name, "gauge", help);
	fth_str_addf(s, "%s %.9g\n", name, v);
}

static void counter(struct fth_str *s, const char *name, const char *help, uint64_t v)
{
	head(s, name, "counter", help);
	fth_str_addf(s, "%s %llu\n", name, (unsigned long long)v);
}

/* A label's value: what would end it is left out. */
static void label(struct fth_str *s, const char *name, const char *value)
{
	fth_str_addf(s, "%s=\"", name);
	for (; *value; value++)
		if (*value != '"' && *value != '\\' && (unsigned char)*value >= ' ')
			fth_str_addc(s, *value);
	fth_str_addc(s, '"');
}

static void money(const struct fth_picture *p, struct fth_str *s)
{
	double total = 0;
	head(s, "farthing_hourly_cost_dollars", "gauge", "Price of all instances that are ours, by capacity type.");
	for (int m = 0; m < 3; m++) {
		fth_str_addf(s, "farthing_hourly_cost_dollars{capacity_type=\"%s\"} %.9g\n", markets[m], fth_usd(p->hourly[m]));
		total += fth_usd(p->hourly[m]);
	}
	head(s, "farthing_cost_dollars_total", "counter", "Charged and accrued, by capacity type.");
	for (int m = 0; m < 3; m++)
		fth_str_addf(s, "farthing_cost_dollars_total{capacity_type=\"%s\"} %.9f\n", markets[m], fth_usd(p->charged[m] + p->accrued[m]));
	gauge(s, "node_total_hourly_cost", "Price of all instances that are ours.", total);
	head(s, "node_hourly_cost", "gauge", "Price of each instance.");
	for (size_t i = 0; i < p->instances.len; i++) {
		const struct fth_picture_instance *r = &p->instances.data[i];
		fth_str_addf(s, "node_hourly_cost{instance=\"i%u\",", r->id);
		label(s, "node", r->node);
		fth_str_addc(s, ',');
		label(s, "offer", r->offer);
		fth_str_addf(s, ",capacity_type=\"%s\"} %.9g\n", r->market, r->acquired ? fth_usd(r->price) : 0);
	}
}

static void cluster(const struct fth_picture *p, struct fth_str *s)
{
	static const char *const states[] = {"requested", "booting", "ready", "draining", "terminating"};
	head(s, "farthing_instances", "gauge", "Instances by state.");
	for (int i = 0; i < 5; i++)
		fth_str_addf(s, "farthing_instances{state=\"%s\"} %u\n", states[i], p->by_state[i]);
	head(s, "farthing_tasks", "gauge", "Tasks of unfinished jobs by state.");
	fth_str_addf(s, "farthing_tasks{state=\"waiting\"} %u\nfarthing_tasks{state=\"bound\"} %u\nfarthing_tasks{state=\"running\"} %u\n", p->waiting, p->bound,
		     p->running);
	counter(s, "farthing_jobs_submitted_total", "Jobs let in.", p->submitted);
	counter(s, "farthing_jobs_done_total", "Jobs that have ended.", p->done);
	counter(s, "farthing_jobs_cancelled_total", "Jobs cancelled.", p->cancelled);
	counter(s, "farthing_tasks_lost_total", "Runs that fell.", p->tasks_lost);
	counter(s, "farthing_task_moves_total", "Tasks moved or preempted.", p->moves);
	counter(s, "farthing_instances_revoked_total", "Instances taken from us.", p->revoked);
	head(s, "farthing_instances_acquired_total", "counter", "Instances had, by capacity type.");
	for (int m = 0; m < 3; m++)
		fth_str_addf(s, "farthing_instances_acquired_total{capacity_type=\"%s\"} %llu\n", markets[m], (unsigned long long)p->launched[m]);
}

static void decisions(const struct fth_picture *p, struct fth_str *s)
{
	static const double limits[] = FTH_ROUND_BUCKETS;
	static const char *const whys[] = {"none", "capacity", "quota", "throttled", "other"};
	head(s, "farthing_decision_seconds", "histogram", "Time the policy and the judge take for a round.");
	for (size_t i = 0; i < FTH_COUNT(limits); i++)
		fth_str_addf(s, "farthing_decision_seconds_bucket{le=\"%g\"} %llu\n", limits[i], (unsigned long long)p->round_buckets[i]);
	fth_str_addf(s, "farthing_decision_seconds_bucket{le=\"+Inf\"} %llu\n", (unsigned long long)p->rounds);
	fth_str_addf(s, "farthing_decision_seconds_sum %.9f\nfarthing_decision_seconds_count %llu\n", (double)p->round_ns / 1e9, (unsigned long long)p->rounds);
	gauge(s, "farthing_decision_seconds_max", "The longest round so far.", (double)p->round_worst_ns / 1e9);
	head(s, "farthing_actions_rejected_total", "counter", "Actions the judge refused, by reason.");
	for (int i = 1; i < FTH_REFUSED_NKINDS; i++)
		fth_str_addf(s, "farthing_actions_rejected_total{reason=\"%s\"} %llu\n", fth_refusal_name((enum fth_refusal)i),
			     (unsigned long long)p->rejected_by[i]);
	head(s, "farthing_launches_failed_total", "counter", "Launches that failed, by reason.");
	for (int i = 1; i < 5; i++)
		fth_str_addf(s, "farthing_launches_failed_total{reason=\"%s\"} %llu\n", whys[i], (unsigned long long)p->launches_failed[i]);
}

void fth_render_metrics(const struct fth_picture *p, const struct fth_loop_lag *lag, struct fth_str *out)
{
	money(p, out);
	cluster(p, out);
	decisions(p, out);
	gauge(out, "farthing_loop_lag_seconds_max", "The longest the main loop was away so far.", (double)atomic_load(&lag->worst) / 1e9);
	gauge(out, "farthing_commit_seconds_max", "The longest commit of the journal so far.", (double)p->commit_worst_ns / 1e9);
	gauge(out, "farthing_journal_lines", "Lines in the journal.", (double)p->lines);
	gauge(out, "farthing_paused", "1 while no decision is made.", p->paused);
	gauge(out, "farthing_fell_back", "1 if the policy failed and the fallback decides.", p->fell_back);
	head(out, "farthing_driver_up", "gauge", "1 while the driver lists.");
	for (int r = 0; r < FTH_NROLES; r++)
		fth_str_addf(out, "farthing_driver_up{role=\"%s\"} %d\n", fth_role_names[r], p->up[r]);
	counter(out, "farthing_driver_ends_total", "Drivers that ended and were started again.", p->drivers_lost);
	counter(out, "farthing_requests_failed_total", "Requests that drivers refused.", p->requests_failed);
	counter(out, "farthing_events_refused_total", "Reports of drivers that contradict the state.", p->refused_events);
}
