/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of rigid jobs as their number grows, and portfolios over three years.
 *
 * Jobs of 1 to 64 nodes arrive faster and faster relative to what a fixed cluster can do, so its queue grows with the number
 * of jobs: if looking through it were linear, the whole would be quadratic. Prints one line a size with the processor
 * time, and the growth per doubling; fails if the last doubling costs more than 2.7 times, or three years of hourly
 * demand for 1,000 machines more than a second. With FARTHING_DATA, DataStar under sec is timed too.
 */
#include <time.h>

#include "engine/registry.h"
#include "optimize/reserve.h"
#include "policies/table.h"
#include "sim/sim.h"
#include "trace/trace.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_world(struct fth_world *w, uint32_t jobs)
{
	struct fth_rng r;
	fth_world_init(w);
	fth_rng_seed(&r, 1, 0, 0);
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, "node"), .capacity = {{0, 16000, 1024}},
				      .boot = {{1, 126 * FTH_SEC}, {16, 300 * FTH_SEC}}};
	struct fth_offer o = {.price = 2 * FTH_USD, .available = true, .billing = {FTH_HOUR, 0, FTH_BILL_FROM_READY, false, false}};
	fth_vec_push(&w->catalog.types, t);
	fth_vec_push(&w->catalog.offers, o);
	fth_catalog_finish(&w->catalog, NULL);
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = {{0, 16000, 0}}};
	struct fth_kind k = {.label = fth_sym_intern(w->syms, "job"), .klass = fth_sym_intern(w->syms, "job"), .nalts = 1, .alts = &alt};
	fth_kind_id kind = fth_kinds_intern(&w->kinds, &k);
	fth_time at = 0;
	for (uint32_t i = 0; i < jobs; i++) {
		char key[16];
		snprintf(key, sizeof(key), "%u", i);
		at += (fth_time)fth_rng_below(&r, 120) * FTH_SEC;
		struct fth_task_group g = {.kind = kind, .count = 1 + (uint32_t)fth_rng_below(&r, fth_rng_below(&r, 8) ? 4 : 64),
					   .work = (60 + (fth_time)fth_rng_below(&r, 7200)) * FTH_SEC, .first_own = FTH_NONE};
		struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key), .kind = FTH_JOB_RIGID, .submit = at, .deadline = FTH_NEVER,
					 .estimate = g.work * 2};
		fth_workload_add(&w->workload, &j, &g, 1);
	}
	fth_workload_finish(&w->workload);
}

static double time_run(const struct fth_world *w, const char *policy)
{
	struct fth_policy_choice choice;
	struct fth_sim_params p = {0};
	struct fth_engine *e = NULL;
	struct fth_error err = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	if (fth_policy_choose(&choice, fth_policies, policy, &err))
		return -1;
	double from = seconds();
	int r = fth_sim_run(&e, w, &choice, NULL, &p, NULL, NULL, &err);
	double took = seconds() - from;
	if (r)
		printf("%s: %s\n", policy, err.text);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return r ? -1 : took;
}

static bool growth_of(const char *policy)
{
	double last = 0, growth = 0;
	for (uint32_t jobs = 10000; jobs <= 80000; jobs *= 2) {
		struct fth_world w;
		make_world(&w, jobs);
		double took = time_run(&w, policy);
		growth = last > 0 ? took / last : 0;
		printf("%-36s %6u jobs  %7.3f s", policy, jobs, took);
		if (last > 0)
			printf("  x %.2f", growth);
		printf("\n");
		last = took;
		fth_world_release(&w);
		if (took < 0)
			return false;
	}
	return growth < 2.7;
}

static bool portfolio(void)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
	FTH_VEC(struct fth_demand_step) steps = {0};
	struct fth_demand d = {0};
	struct fth_portfolio p = {0};
	struct fth_rng r;
	int64_t now = 0;
	fth_rng_seed(&r, 2, 0, 0);
	for (int y = 1; y <= 3; y += 2) {
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, y * 365 * FTH_DAY, 5000 + 1335 * (y - 1), 0.361, true, false, -1}));
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, y * 365 * FTH_DAY, 4146 + 1116 * (y - 1), 0.540, false, false, -1}));
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, y * 365 * FTH_DAY, 1762 + 474 * (y - 1), 0.904, false, false, -1}));
	}
	double from = seconds();
	for (int64_t h = 0; h < 3 * 8760; h++) {
		int64_t count = 400 + (h % 24 > 8 ? 300 : 0) + (int64_t)fth_rng_below(&r, 301);
		fth_vec_push(&steps, ((struct fth_demand_step){h * FTH_HOUR, count - now}));
		now = count;
	}
	bool ok = !fth_reserve_market_finish(&m, NULL) &&
		  !fth_demand_build(&d, steps.data, steps.len, 0, 3 * 8760 * FTH_HOUR, 7 * FTH_DAY, NULL);
	for (int method = FTH_RESERVE_NONE; ok && method <= FTH_RESERVE_ONLINE_LEVEL; method++)
		ok = !fth_reserve_plan(&p, &m, &d, (enum fth_reserve_method)method, NULL, NULL);
	double took = seconds() - from;
	printf("portfolios, 3 years hourly, %u machines, 6 classes, 5 methods: %.3f s\n", d.levels, took);
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_vec_release(&steps);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
	return ok && took <= 1;
}

static void datastar(void)
{
	struct fth_import_options o = {.node_cpus = 16};
	struct fth_world w, any;
	struct fth_error err = {0};
	char path[4096];
	make_world(&any, 1);
	fth_world_init(&w);
	fth_vec_push(&w.catalog.types, any.catalog.types.data[0]);
	fth_vec_push(&w.catalog.offers, any.catalog.offers.data[0]);
	fth_catalog_finish(&w.catalog, NULL);
	snprintf(path, sizeof(path), "%s/swf/SDSC-DS-2004-2.1-cln.swf.gz", getenv("FARTHING_DATA") ? getenv("FARTHING_DATA") : "");
	double from = seconds();
	if (fth_load_workload(&w.workload, path, FTH_FORMAT_SWF, &o, &err))
		printf("DataStar: not timed (%s)\n", err.text);
	else {
		double read = seconds() - from;
		printf("DataStar: %zu jobs read in %.3f s, replayed under sec in %.3f s\n", w.workload.jobs.len, read, time_run(&w, "sec"));
	}
	fth_world_release(&w);
	fth_world_release(&any);
}

int main(void)
{
	bool ok = growth_of("sec");
	ok &= growth_of("local:nodes=64");
	ok &= growth_of("sec:max_nodes=64,order=shortest");
	ok &= portfolio();
	datastar();
	return ok ? 0 : 1;
}
