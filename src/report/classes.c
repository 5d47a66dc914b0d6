/* SPDX-License-Identifier: Apache-2.0 */
#include "report/classes.h"

#include <math.h>

#include "report/spread.h"

struct fth_classes {
	struct fth_observer observer;
	fth_time cutoff;
	struct fth_spread delay, short_jobs, long_jobs;
	fth_time first, last; /* arrivals */
	bool any;
	fth_time lost;        /* run by short tasks that fell with their machine */
	uint64_t lost_tasks;
	double lost_usd;      /* paid for that time, in its share of the machine */
};

static void on_submit(struct fth_observer *o, const struct fth_cluster *cluster, const struct fth_job *job)
{
	struct fth_classes *c = (struct fth_classes *)o;
	(void)cluster;
	if (!c->any)
		c->first = job->submitted;
	c->any = true;
	c->last = job->submitted;
}

static bool is_spot(const struct fth_cluster *cluster, fth_instance_id id)
{
	const struct fth_instance *i = fth_cluster_instance(cluster, id);
	return i && cluster->catalog.offers.data[i->offer].market == FTH_SPOT;
}

/* What a task's share of its machine costs for so long, at the price of the moment. */
static double paid_for(const struct fth_cluster *cluster, const struct fth_task *t, fth_time time)
{
	const struct fth_instance *i = fth_cluster_instance(cluster, t->on);
	if (!i)
		return 0;
	int64_t of = cluster->catalog.types.data[i->type].capacity.v[FTH_CPU];
	double share = of ? (double)fth_cluster_alt(cluster, t, i->type)->demand.v[FTH_CPU] / (double)of : 1;
	return share * fth_usd(cluster->catalog.offers.data[i->offer].price) * (double)time / (double)FTH_HOUR;
}

/* Before: a task that ends still has the time at which it began to run. */
static void before_event(struct fth_observer *o, const struct fth_cluster *cluster, const struct fth_event *ev)
{
	struct fth_classes *c = (struct fth_classes *)o;
	if (ev->kind == FTH_EV_TASK_DONE || ev->kind == FTH_EV_TASK_LOST) {
		const struct fth_task *t = fth_cluster_task(cluster, ev->task);
		const struct fth_job *j = t ? fth_cluster_job(cluster, t->job) : NULL;
		if (!j || j->estimate > c->cutoff || t->state != FTH_TASK_RUNNING)
			return;
		if (ev->kind == FTH_EV_TASK_DONE) {
			fth_spread_add(&c->delay, t->since - j->submitted);
			return;
		}
		if (!is_spot(cluster, t->on))
			return;
		c->lost += ev->time - t->since;
		c->lost_tasks++;
		c->lost_usd += paid_for(cluster, t, ev->time - t->since);
	} else if (ev->kind == FTH_EV_JOB_DONE) {
		const struct fth_job *j = fth_cluster_job(cluster, ev->job);
		if (j)
			fth_spread_add(j->estimate > c->cutoff ? &c->long_jobs : &c->short_jobs, ev->time - j->submitted);
	}
}

struct fth_classes *fth_classes_new(fth_time cutoff)
{
	struct fth_classes *c = fth_alloc(sizeof(*c));
	c->cutoff = cutoff;
	c->observer = (struct fth_observer){.before_event = before_event, .on_submit = on_submit};
	return c;
}

struct fth_observer *fth_classes_observer(struct fth_classes *c)
{
	return &c->observer;
}

void fth_classes_free(struct fth_classes *c)
{
	if (!c)
		return;
	fth_spread_release(&c->delay);
	fth_spread_release(&c->short_jobs);
	fth_spread_release(&c->long_jobs);
	free(c);
}

/* Spot machines that were up, counted in CPUs, which are slots. */
static void transient_figures(struct fth_classes *c, const struct fth_catalog *catalog, struct fth_run *run)
{
	struct fth_run_transient *t = &run->transient;
	double active = 0, hours[2] = {0}, usd[2] = {0}, lifetimes = 0;
	for (size_t i = 0; i < run->instance_list.len; i++) {
		const struct fth_run_instance *n = &run->instance_list.data[i];
		double slots = (double)catalog->types[n->type].capacity.v[FTH_CPU] / 1000;
		fth_time gone = n->gone == FTH_NEVER ? run->ended_at : n->gone;
		bool spot = n->market == FTH_SPOT;
		hours[spot] += slots * (double)(gone - n->acquired) / (double)FTH_HOUR;
		usd[spot] += fth_usd(n->cost);
		if (!spot || n->ready == FTH_NEVER)
			continue;
		double life = (double)(gone - n->ready) / (double)FTH_HOUR;
		fth_time from = FTH_MAX(n->ready, c->first), to = FTH_MIN(gone, c->last);
		active += to > from ? slots * (double)(to - from) : 0;
		lifetimes += life;
		t->lifetime_max_h = FTH_MAX(t->lifetime_max_h, life);
		t->count++;
	}
	t->avg_active = c->last > c->first ? active / (double)(c->last - c->first) : 0;
	t->lifetime_mean_h = t->count ? lifetimes / (double)t->count : 0;
	/* Prices are whole nano-dollars: beyond the sixth digit a ratio of them says nothing. */
	t->cost_ratio = usd[1] > 0 && hours[0] > 0 ? round(usd[0] / hours[0] / (usd[1] / hours[1]) * 1e6) / 1e6 : 0;
	t->cost_usd = usd[1];
	t->lost_s = (double)c->lost / (double)FTH_SEC;
	t->lost_tasks = c->lost_tasks;
	t->lost_usd = c->lost_usd;
}

void fth_classes_finish(struct fth_classes *c, const struct fth_catalog *catalog, struct fth_run *run)
{
	run->classes = true;
	fth_spread_figures(&c->delay, &run->short_task_delay);
	fth_spread_figures(&c->short_jobs, &run->short_jobs);
	fth_spread_figures(&c->long_jobs, &run->long_jobs);
	for (int k = 0; k < FTH_RUN_QUANTILES; k++)
		run->delay_quantiles[k] = fth_spread_at(&c->delay, (double)k / (FTH_RUN_QUANTILES - 1));
	transient_figures(c, catalog, run);
}
