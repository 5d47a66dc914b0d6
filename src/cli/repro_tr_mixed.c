/* SPDX-License-Identifier: Apache-2.0 */
/* TR-Kubernetes: Figures 17 and 18, services and batch work in the simulator. */
#include <math.h>

#include "cli/repro_runs.h"
#include "cli/repro_tr.h"
#include "model/catalog.h"
#include "model/world.h"

/*
 * The world: the machines of one zone table, an ECU being a CPU; each spot offer is there and gone by turns, drawn with the paper's mean
 * time to revocation (150 h) and the table's availability. Batch: jobs of one task of 1 ECU, at random times, durations drawn with a mean
 * of half an hour, so that BATCH_ECU are wanted on average. The service: tasks of 1 ECU, ratio times as much. Tasks as small as the unit pack
 * every machine to the full, as the paper does by slowing tasks down on smaller machines.
 */
enum { BATCH_ECU = 300, TASK_ECU = 1, DAYS = 1, MEAN_TASK_S = 1800, MTTR_H = 150, ZONES_RUN = 3 };

static void add_types(struct fth_world *w, const struct fth_spot_table *zone)
{
	for (size_t i = 0; i < zone->offers.len; i++) {
		const struct fth_spot_offer *o = &zone->offers.data[i];
		struct fth_instance_type t = {.name = fth_sym_intern(w->syms, o->type), .family = fth_sym_intern(w->syms, "ec2")};
		t.capacity.v[FTH_CPU] = (int64_t)o->capacity * 1000;
		t.acquire = fth_delay_fixed(60 * FTH_SEC);
		t.setup = fth_delay_fixed(60 * FTH_SEC);
		struct fth_offer offer = {.type = (fth_type_id)i, .price = (fth_price)(o->on_demand * 1e9), .available = true};
		offer.billing = fth_billing_default();
		fth_vec_push(&w->catalog.types, t);
		fth_vec_push(&w->catalog.offers, offer);
		offer.market = FTH_SPOT;
		offer.price = (fth_price)(o->price * 1e9);
		offer.unavailable_ppb = (uint32_t)((1 - o->availability) * 1e9);
		fth_vec_push(&w->catalog.offers, offer);
	}
}

static void add_turns(struct fth_world *w, const struct fth_spot_table *zone, uint64_t seed)
{
	w->has_market = true;
	for (size_t i = 0; i < zone->offers.len; i++) {
		struct fth_rng r;
		double p = zone->offers.data[i].availability, up = MTTR_H * 3600.0, down = up * (1 - p) / p;
		fth_rng_seed(&r, seed, 0x7412, i);
		bool is_up = true;
		double at = 0;
		while (at < DAYS * 2 * 86400.0) {
			fth_market_add(&w->market, (fth_offer_id)(2 * i + 1), FTH_MARKET_AVAILABLE, true, (fth_time)(at * 1e6), is_up);
			at += fth_rng_exponential(&r, is_up ? up : down);
			is_up = !is_up;
		}
	}
	fth_market_finish(&w->market);
}

static void add_job(struct fth_world *w, const char *key, enum fth_job_kind kind, fth_kind_id of, uint32_t tasks, fth_time submit, fth_time work)
{
	struct fth_task_group g = {.kind = of, .count = tasks, .work = work, .first_own = FTH_NONE};
	struct fth_job_spec s = {.key = fth_sym_intern(w->syms, key), .kind = kind, .submit = submit, .deadline = FTH_NEVER};
	fth_workload_add(&w->workload, &s, &g, 1);
}

static int make_world(struct fth_world *w, const struct fth_spot_table *zone, double ratio, uint64_t seed, struct fth_error *err)
{
	struct fth_alt alt = {.speed_ppm = 1000000};
	struct fth_rng r;
	fth_world_init(w);
	add_types(w, zone);
	int e = fth_catalog_finish(&w->catalog, err);
	if (e)
		return e;
	add_turns(w, zone, seed);
	alt.demand.v[FTH_CPU] = TASK_ECU * 1000;
	struct fth_kind k = {.label = fth_sym_intern(w->syms, "task"), .klass = fth_sym_intern(w->syms, "task"), .nalts = 1, .alts = &alt};
	fth_kind_id kind = fth_kinds_intern(&w->kinds, &k);
	add_job(w, "service", FTH_JOB_SERVICE, kind, (uint32_t)(ratio * BATCH_ECU / TASK_ECU + 0.5), 0, FTH_HOUR);
	fth_rng_seed(&r, seed, 0x7413, 0);
	double at = 600, gap = (double)MEAN_TASK_S * TASK_ECU / BATCH_ECU;
	for (unsigned n = 0; at < DAYS * 86400.0; n++, at += fth_rng_exponential(&r, gap)) {
		char key[32];
		snprintf(key, sizeof(key), "b%u", n);
		fth_time work = (fth_time)(fth_rng_exponential(&r, MEAN_TASK_S) * 1e6) + FTH_SEC;
		add_job(w, key, FTH_JOB_INDEPENDENT, kind, 1, (fth_time)(at * 1e6), work);
	}
	fth_workload_finish(&w->workload);
	return 0;
}

static void inputs_note(struct repro_tr *t, struct fth_repro_page *page)
{
	fth_repro_add_note(t->book, page,
			   "Inputs differ: the Google trace with demands is not at hand. Batch is drawn (seed %lld): tasks of %d ECU with a mean of %d s that want %d ECU on average over "
			   "%d day; machines of the first %d zone tables come and go by turns with the paper's mean time to revocation of %d h. Completion "
			   "times are relative to the time a task runs alone (the paper: to the original trace, which had queues of its own).",
			   (long long)t->req->seed, TASK_ECU, MEAN_TASK_S, BATCH_ECU, DAYS, ZONES_RUN, MTTR_H);
	fth_repro_add_note(t->book, page, "One day sees few revocations, so that these runs say little of checkpoints; and the greedy's excess does not grow evenly with the "
					  "capacity (its steps are whole machines), so that a higher ratio need not be faster.");
}

/* Runs of several policies on a zone and a ratio; figures are means over the zones. */
struct mixed_figure {
	double stretch, cost; /* completion time over time alone; dollars per hour */
	double service;       /* share of time for which the service was all there */
	unsigned n;
};

/* Time from submission to the end over time alone, both summed over the jobs. */
static double relative_time(const struct fth_run *run)
{
	double took = 0, alone = 0;
	for (size_t i = 0; i < run->job_list.len; i++) {
		const struct fth_run_job *j = &run->job_list.data[i];
		if (j->ended == FTH_NEVER)
			continue;
		took += (double)(j->ended - j->submitted);
		alone += (double)j->standalone;
	}
	return alone > 0 ? took / alone : NAN;
}

static int run_all(struct repro_tr *t, double ratio, const char *const *policies, struct mixed_figure *ret, size_t n, size_t zones,
		   struct fth_error *err)
{
	struct fth_world w[REPRO_TR_ZONES];
	struct fth_repro_runs runs = {0};
	int number[REPRO_TR_ZONES][4], r = 0;
	size_t made = 0;
	memset(ret, 0, n * sizeof(*ret));
	for (; made < zones && !r; made++) {
		r = make_world(&w[made], &t->zone[made], ratio, (uint64_t)t->req->seed, err);
		for (size_t k = 0; k < n && !r; k++) {
			number[made][k] = fth_repro_runs_add(&runs, &w[made], policies[k], "notice=120s", err);
			r = number[made][k] < 0 ? number[made][k] : 0;
		}
	}
	if (!r)
		r = fth_repro_runs_go(&runs, t->req, err);
	for (size_t z = 0; z < zones && !r; z++)
		for (size_t k = 0; k < n; k++) {
			const struct fth_run *run = fth_repro_runs_get(&runs, number[z][k]);
			if (!run)
				continue;
			ret[k].stretch += relative_time(run);
			ret[k].cost += fth_usd(run->cost) / ((double)run->ended_at / (double)FTH_HOUR);
			ret[k].service += fth_run_worst_service(run) ? fth_run_service_availability(fth_run_worst_service(run)) : 0;
			ret[k].n++;
		}
	for (size_t k = 0; k < n && !r; k++) {
		ret[k].stretch /= ret[k].n ? ret[k].n : 1;
		ret[k].cost /= ret[k].n ? ret[k].n : 1;
		ret[k].service /= ret[k].n ? ret[k].n : 1;
	}
	fth_repro_runs_release(&runs);
	for (size_t z = 0; z < made; z++)
		fth_world_release(&w[z]);
	return r;
}

int repro_tr_figure17(struct repro_tr *t, struct fth_error *err)
{
	static const double ratios[] = {1, 2, 3, 4};
	static const double paper_share[] = {33, NAN, 100, 100}, paper_time[] = {10, NAN, 1, NAN};
	static const char *const policies[] = {"tr:pool=tr-artifact,batch=none,checkpoint=yes", "tr:pool=tr-artifact,batch=none,checkpoint=no"};
	struct repro_tr_curve curves[] = {{.name = "with checkpoints"}, {.name = "without"}, {.name = "paper", .points = true}};
	size_t at = t->book->pages.len;
	fth_repro_add_page(t->book, "figure17", "Batch work on the excess, by the ratio of service to batch, five nines");
	for (size_t i = 0; i < FTH_COUNT(ratios); i++) {
		double share = 0;
		struct mixed_figure f[2];
		char id[80], label[120];
		for (size_t z = 0; z < REPRO_TR_ZONES; z++) {
			struct fth_spot_problem p = {.offers = t->zone[z].offers.data, .noffers = (uint32_t)t->zone[z].offers.len, .target = 0.99999,
						     .capacity = 5000};
			struct fth_spot_plan plan;
			int r = fth_spot_tr_artifact(&p, &plan, err);
			if (r)
				return r;
			share += FTH_MIN(100 * ((double)plan.total / 5000 - 1) * ratios[i], 100) / REPRO_TR_ZONES;
			fth_spot_plan_release(&plan);
		}
		int r = run_all(t, ratios[i], policies, f, 2, ZONES_RUN, err);
		if (r)
			return r;
		struct fth_repro_page *page = &t->book->pages.data[at];
		snprintf(id, sizeof(id), "figure17-share-%g", ratios[i]);
		snprintf(label, sizeof(label), "ratio %g: share of batch that the excess of 5,000 ECU can hold", ratios[i]);
		fth_repro_add_row(t->book, page, id, label, "%", paper_share[i], share);
		snprintf(id, sizeof(id), "figure17-time-%g", ratios[i]);
		snprintf(label, sizeof(label), "ratio %g: completion time, with checkpoints", ratios[i]);
		fth_repro_add_row(t->book, page, id, label, "x", paper_time[i], f[0].stretch);
		snprintf(id, sizeof(id), "figure17-time-no-checkpoint-%g", ratios[i]);
		snprintf(label, sizeof(label), "ratio %g: completion time, without", ratios[i]);
		fth_repro_add_row(t->book, page, id, label, "x", paper_time[i], f[1].stretch);
		const double y[] = {f[0].stretch, f[1].stretch, paper_time[i]};
		for (int k = 0; k < 3; k++) {
			curves[k].x[i] = ratios[i];
			curves[k].y[i] = y[k];
			curves[k].n = i + 1;
		}
	}
	repro_tr_plot(t, &t->book->pages.data[at], &(struct fth_plot){.id = "tr-figure17", .title = "Completion time of batch work", .subtitle = "times the time alone",
								     .x = {.label = "service to batch"}, .y = {.log = true}}, curves, FTH_COUNT(curves));
	inputs_note(t, &t->book->pages.data[at]);
	return 0;
}

int repro_tr_figure18(struct repro_tr *t, struct fth_error *err)
{
	static const char *const policies[] = {"tr:pool=tr-artifact,batch=none", "tr:pool=search,batch=none", "on-demand", "on-demand+transient"};
	static const char *const ids[] = {"tr", "tr-search", "on-demand", "on-demand-transient"};
	static const char *const labels[] = {"TR-Kubernetes", "TR-Kubernetes with our search", "on demand", "services on demand, batch on transient"};
	static const double paper_time[] = {10, NAN, 1, 1};
	struct mixed_figure f[4];
	struct repro_tr_curve points[4];
	struct fth_repro_page *page = fth_repro_add_page(t->book, "figure18", "Batch work against other ways to run it, ratio 1, five nines");
	int r = run_all(t, 1, policies, f, 4, ZONES_RUN, err);
	if (r)
		return r;
	for (int k = 0; k < 4; k++) {
		char id[80], label[120];
		snprintf(id, sizeof(id), "figure18-time-%s", ids[k]);
		snprintf(label, sizeof(label), "%s: completion time", labels[k]);
		fth_repro_add_row(t->book, page, id, label, "x", paper_time[k], f[k].stretch);
		snprintf(id, sizeof(id), "figure18-cost-%s", ids[k]);
		snprintf(label, sizeof(label), "%s: hourly bill, of on demand", labels[k]);
		fth_repro_add_row(t->book, page, id, label, "%", NAN, 100 * f[k].cost / f[2].cost);
		snprintf(id, sizeof(id), "figure18-service-%s", ids[k]);
		snprintf(label, sizeof(label), "%s: service all there", labels[k]);
		fth_repro_add_row(t->book, page, id, label, "%", k < 2 ? 99.999 : NAN, 100 * f[k].service);
		points[k] = (struct repro_tr_curve){.name = labels[k], .points = true, .n = 1, .x = {100 * f[k].cost / f[2].cost}, .y = {f[k].stretch}};
	}
	repro_tr_plot(t, page, &(struct fth_plot){.id = "tr-figure18", .title = "Completion time and bill", .subtitle = "times the time alone",
						  .x = {.label = "hourly bill, percent of on demand", .min = 0, .max = 100}, .y = {.log = true}}, points, 4);
	fth_repro_add_note(t->book, page, "The paper's batch costs (near $1M on demand, some $100k on transient machines, nothing on the excess) are for 76k ECU over a month; ours are the "
					  "whole bill per hour, services included, relative to on demand for all.");
	fth_repro_add_note(t->book, page, "At ratio 1 the excess is about a third of what batch wants: the queue grows for as long as batch comes, and with it the relative completion "
					  "time. Its size says how long that was (%d day here), not how good the policy is; the paper's factor 10 is of its own trace.", DAYS);
	inputs_note(t, page);
	return 0;
}
