/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of `farthing bound`: processor time and what is proven, by kinds of tasks and by tasks, and Eva's traces. */
#include <time.h>

#include "optimize/bound.h"
#include "trace/trace.h"

enum { CLASSES = 9 };

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void row(const char *name, const struct fth_world *w, bool thorough)
{
	struct fth_bound_options o = thorough ? fth_bound_thorough() : fth_bound_quick();
	struct fth_bound b;
	double start = cpu_ms();
	if (fth_bound_find(&b, w, NULL, &o, NULL))
		return;
	double ms = cpu_ms() - start;
	printf("%-34s %8zu %6llu %5zu %13.2f %8.4f%% %6llu %7llu %10llu %10.1f\n", name, w->workload.jobs.len,
	       (unsigned long long)b.kinds, b.rows.len, fth_usd(b.usd), 100 * (1 - fth_usd(b.usd) / b.lp_usd),
	       (unsigned long long)b.mix.rounds, (unsigned long long)b.mix.columns, (unsigned long long)b.mix.nodes, ms);
	fflush(stdout);
	fth_bound_release(&b);
}

static void add_types(struct fth_world *w)
{
	for (int size = 1; size <= 32; size *= 2)
		for (int f = 0; f < 3; f++) {
			char name[32];
			snprintf(name, sizeof(name), "f%d.%d", f, size);
			struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name)};
			t.capacity.v[FTH_GPU] = f ? 0 : size * 1000;
			t.capacity.v[FTH_CPU] = size * (f ? 4000 : 8000);
			t.capacity.v[FTH_MEM] = (int64_t)size * (f == 0 ? 61 : f == 1 ? 8 : 32) * 1024;
			struct fth_offer o = {.type = (fth_type_id)w->catalog.types.len, .available = true, .billing = fth_billing_default()};
			o.price = (fth_price)size * (f == 0 ? 3060000000 : f == 1 ? 178500000 : 264600000);
			fth_vec_push(&w->catalog.types, t);
			fth_vec_push(&w->catalog.offers, o);
		}
	fth_catalog_finish(&w->catalog, NULL);
}

static void add_profile(struct fth_world *w, struct fth_rng *r)
{
	fth_sym classes[CLASSES];
	for (int c = 0; c < CLASSES; c++) {
		char name[8];
		snprintf(name, sizeof(name), "c%d", c);
		classes[c] = fth_sym_intern(w->syms, name);
	}
	fth_profile_set_classes(&w->profile, classes, CLASSES);
	for (int i = 0; i < CLASSES * CLASSES; i++)
		fth_profile_set(&w->profile, classes[i / CLASSES], classes[i % CLASSES], 0.8 + 0.2 * fth_rng_real(r));
	w->has_profile = true;
}

static void drawn(uint32_t kinds, uint32_t jobs, bool interference, bool thorough)
{
	struct fth_world w;
	struct fth_rng r;
	fth_rng_seed(&r, 1, kinds, 0);
	fth_world_init(&w);
	add_types(&w);
	add_profile(&w, &r);
	w.has_profile = interference;
	for (uint32_t j = 0; j < jobs; j++) {
		char text[32];
		uint32_t k = j < kinds ? j : (uint32_t)fth_rng_below(&r, kinds);
		struct fth_rng of;
		fth_rng_seed(&of, 2, k, 0);
		struct fth_alt alt = {.speed_ppm = 1000000};
		alt.demand.v[FTH_GPU] = (int64_t)fth_rng_below(&of, 3) * 1000;
		alt.demand.v[FTH_CPU] = (int64_t)(1 + fth_rng_below(&of, 20)) * 1000;
		alt.demand.v[FTH_MEM] = (int64_t)(1 + fth_rng_below(&of, 60)) * 1024;
		snprintf(text, sizeof(text), "c%u", (unsigned)fth_rng_below(&of, CLASSES));
		struct fth_kind kind = {.klass = fth_sym_intern(w.syms, text), .nalts = 1, .alts = &alt};
		struct fth_task_group g = {.kind = fth_kinds_intern(&w.kinds, &kind), .count = 1, .first_own = FTH_NONE};
		g.work = (fth_time)fth_rng_below(&r, 40000) * FTH_SEC;
		snprintf(text, sizeof(text), "j%u", j);
		struct fth_job_spec s = {.key = fth_sym_intern(w.syms, text), .deadline = FTH_NEVER};
		fth_workload_add(&w.workload, &s, &g, 1);
	}
	char name[64];
	snprintf(name, sizeof(name), "drawn%s%s", interference ? ", interference" : "", thorough ? ", thorough" : "");
	row(name, &w, thorough);
	fth_world_release(&w);
}

static void eva(const char *file, bool interference)
{
	const char *data = getenv("FARTHING_DATA");
	struct fth_import_options o = {.seed = 1};
	struct fth_world w;
	char path[4096];
	fth_world_init(&w);
	snprintf(path, sizeof(path), "%s/eva/instance_types.json", data ? data : ".");
	int r = fth_load_catalog(&w.catalog, path, FTH_FORMAT_AUTO, &o, NULL);
	snprintf(path, sizeof(path), "%s/eva/%s", data ? data : ".", file);
	if (!r)
		r = fth_load_workload(&w.workload, path, FTH_FORMAT_AUTO, &o, NULL);
	snprintf(path, sizeof(path), "%s/eva/contention_matrix.csv", data ? data : ".");
	if (!r && interference)
		r = fth_load_profile(&w.profile, path, FTH_FORMAT_AUTO, NULL);
	w.has_profile = interference;
	snprintf(path, sizeof(path), "%.24s%s", file, interference ? ", int." : "");
	if (r)
		printf("%-34s no data (FARTHING_DATA)\n", path);
	else
		row(path, &w, false);
	fth_world_release(&w);
}

int main(void)
{
	printf("%-34s %8s %6s %5s %13s %9s %6s %7s %10s %10s\n", "workload", "jobs", "kinds", "rows", "bound", "cut", "rounds", "columns",
	       "nodes", "CPU ms");
	for (int i = 0; i < 2; i++) {
		eva("pai_full_gavel.csv", i);
		eva("pai_full_alibaba_dur.csv", i);
	}
	for (uint32_t kinds = 10; kinds <= 1280; kinds *= 2)
		for (int i = 0; i < 2; i++)
			drawn(kinds, 5000, i, false);
	drawn(640, 5000, false, true);
	for (uint32_t jobs = 10000; jobs <= 1000000; jobs *= 10)
		drawn(40, jobs, true, false);
	return 0;
}
