/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of rigid jobs as their number grows, and portfolios over three years.
 *
 * Jobs of 1 to 64 nodes arrive faster and faster relative to what a fixed cluster can do, so its queue grows with the number
 * of jobs: if looking through it were linear, the whole would be quadratic. Prints one line a size with the processor
 * time, and the growth per doubling; fails if the last doubling costs more than 2.7 times, if all that `plan reserve` does
 * for three years of hourly demand for 1,000 machines takes more than a second, or 243,306 jobs (the size of the largest traces
 * of the paper) read from SWF and replayed under sec more than three. With FARTHING_DATA, DataStar's 96,069 are not to take more
 * than one.
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
	for (size_t k = 0; ok && k < m.classes.len + 2; k++) { /* one class, and one term, alone */
		struct fth_reserve_options only = {.only = k < m.classes.len ? 1ull << k : 0x15ull << (k - m.classes.len)};
		ok = !fth_reserve_plan(&p, &m, &d, k < m.classes.len ? FTH_RESERVE_GREEDY : FTH_RESERVE_ONLINE_LEVEL, &only, NULL);
	}
	double plans = seconds() - from, bound = 0;
	ok = ok && !fth_reserve_exact(&p, &bound, &m, &d, NULL);
	double took = seconds() - from;
	printf("3 years hourly, %u machines, 6 classes: 13 portfolios %.3f s, all with the exact one %.3f s, which is %.4f %% above its bound\n",
	       d.levels, plans, took, 100 * (p.pure / bound - 1));
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_vec_release(&steps);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
	return ok && took <= 1;
}

/* A catalog of one node type, and nothing else. */
static void empty_world(struct fth_world *w)
{
	struct fth_world any;
	make_world(&any, 1);
	fth_world_init(w);
	fth_vec_push(&w->catalog.types, any.catalog.types.data[0]);
	fth_vec_push(&w->catalog.offers, any.catalog.offers.data[0]);
	fth_catalog_finish(&w->catalog, NULL);
	fth_world_release(&any);
}

static bool told(const struct fth_world *w, const char *what, double read, double limit)
{
	double run = time_run(w, "sec");
	printf("%s: %zu jobs read in %.3f s, replayed under sec in %.3f s\n", what, w->workload.jobs.len, read, run);
	return run >= 0 && read + run <= limit;
}

static bool datastar(void)
{
	struct fth_import_options o = {.node_cpus = 16};
	struct fth_world w;
	struct fth_error err = {0};
	char path[4096];
	bool ok = true;
	empty_world(&w);
	snprintf(path, sizeof(path), "%s/swf/SDSC-DS-2004-2.1-cln.swf.gz", getenv("FARTHING_DATA") ? getenv("FARTHING_DATA") : "");
	double from = seconds();
	if (fth_load_workload(&w.workload, path, FTH_FORMAT_SWF, &o, &err))
		printf("DataStar: not timed (%s)\n", err.text);
	else
		ok = told(&w, "DataStar", seconds() - from, 1);
	fth_world_release(&w);
	return ok;
}

/* As many jobs as the largest of the archive's traces that the paper used, with DataStar's mean of four nodes. */
static bool largest(void)
{
	enum { JOBS = 243306 };
	struct fth_import_options o = {.node_cpus = 16};
	struct fth_str text = {0};
	struct fth_input *in = NULL;
	struct fth_world w;
	struct fth_rng r;
	struct fth_error err = {0};
	int64_t at = 0;
	fth_rng_seed(&r, 4, 0, 0);
	for (int i = 1; i <= JOBS; i++) {
		int64_t nodes = 1 + (int64_t)fth_rng_below(&r, fth_rng_below(&r, 10) ? 4 : 32), run = 10 + (int64_t)fth_rng_below(&r, 7200);
		at += (int64_t)fth_rng_below(&r, 520);
		fth_str_addf(&text, "%d %lld -1 %lld %lld -1 -1 %lld %lld -1 1 %d 1 1 1 1 -1 -1\n", i, (long long)at, (long long)run,
			     (long long)nodes * 16, (long long)nodes * 16, (long long)run * 2, i % 97);
	}
	empty_world(&w);
	double from = seconds();
	int e = fth_input_open_memory(&in, "generated", text.data, text.len, &err);
	if (!e)
		e = fth_read_workload(&w.workload, in, FTH_FORMAT_SWF, &o, &err);
	bool ok = !e && told(&w, "generated", seconds() - from, 3);
	if (e)
		printf("generated: %s\n", err.text);
	fth_input_close(in);
	fth_str_release(&text);
	fth_world_release(&w);
	return ok;
}

int main(void)
{
	bool ok = growth_of("sec");
	ok &= growth_of("local:nodes=64");
	ok &= growth_of("sec:max_nodes=64,order=shortest");
	ok &= portfolio();
	ok &= datastar();
	ok &= largest();
	return ok ? 0 : 1;
}
