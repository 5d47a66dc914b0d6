/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds of independent jobs for the benchmarks of the simulator. */
#ifndef FTH_BENCH_WORLD_H
#define FTH_BENCH_WORLD_H

#include <time.h>

#include "model/world.h"
#include "policies/table.h"
#include "sim/sim.h"

static inline void bench_catalog(struct fth_world *w)
{
	for (int size = 1; size <= 8; size *= 2) {
		char name[16];
		snprintf(name, sizeof(name), "c.%dx", size);
		struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name), .family = fth_sym_intern(w->syms, "c")};
		t.capacity.v[FTH_CPU] = size * 4000;
		t.capacity.v[FTH_MEM] = (int64_t)size * 16 * 1024;
		t.acquire = (struct fth_delay){6 * FTH_SEC, 19 * FTH_SEC, 83 * FTH_SEC};
		t.setup = (struct fth_delay){140 * FTH_SEC, 190 * FTH_SEC, 251 * FTH_SEC};
		t.terminate = fth_delay_fixed(FTH_SEC);
		struct fth_offer o = {.type = (fth_type_id)w->catalog.types.len, .price = size * FTH_USD / 5, .available = true,
				      .billing = fth_billing_default()};
		fth_vec_push(&w->catalog.types, t);
		fth_vec_push(&w->catalog.offers, o);
	}
	fth_catalog_finish(&w->catalog, NULL);
}

/* n jobs of one task, a mean of gap apart, that run for `least` and up to as long again. */
static inline void bench_world(struct fth_world *w, uint32_t n, fth_time gap, fth_time least)
{
	struct fth_rng rng;
	fth_rng_seed(&rng, 1, 4242, n);
	fth_world_init(w);
	bench_catalog(w);
	fth_kind_id kinds[8];
	for (int k = 0; k < 8; k++) {
		char name[16];
		snprintf(name, sizeof(name), "class-%d", k);
		struct fth_alt alt = {.speed_ppm = 1000000};
		alt.demand.v[FTH_CPU] = (1 + k % 4) * 1000;
		alt.demand.v[FTH_MEM] = (1 + k) * 1024;
		struct fth_kind kind = {.label = fth_sym_intern(w->syms, name), .klass = fth_sym_intern(w->syms, name),
					.image = fth_sym_intern(w->syms, name), .nalts = 1, .alts = &alt,
					.delays = {.fetch = FTH_SEC, .setup = 5 * FTH_SEC, .init = 2 * FTH_SEC,
						   .stop = FTH_SEC, .save = 3 * FTH_SEC}};
		kinds[k] = fth_kinds_intern(&w->kinds, &kind);
	}
	fth_time at = 0;
	for (uint32_t j = 0; j < n; j++) {
		char key[16];
		snprintf(key, sizeof(key), "%u", j);
		if (gap)
			at += (fth_time)fth_rng_exponential(&rng, (double)gap);
		struct fth_task_group g = {.kind = kinds[fth_rng_below(&rng, 8)], .count = 1, .first_own = FTH_NONE,
					   .work = least + (fth_time)(fth_rng_real(&rng) * (double)least)};
		struct fth_job_spec spec = {.key = fth_sym_intern(w->syms, key), .submit = at, .deadline = FTH_NEVER};
		fth_workload_add(&w->workload, &spec, &g, 1);
	}
	fth_workload_finish(&w->workload);
}

static inline double bench_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Run a policy of the table (or ops) to its end; exits with a message if that fails. */
static inline struct fth_engine *bench_run(const struct fth_world *w, const char *policy, const struct fth_policy_ops *ops,
					   struct fth_observer *o)
{
	struct fth_sim_params p = {0};
	struct fth_policy_choice c = {.ops = ops};
	struct fth_error err = {0};
	struct fth_engine *e = NULL;
	fth_params_defaults(fth_sim_param_table, &p);
	int r = ops ? 0 : fth_policy_choose(&c, fth_policies, policy, &err);
	if (!r)
		r = fth_sim_run(&e, w, &c, NULL, &p, o, NULL, &err);
	if (r) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	if (!ops)
		fth_policy_choice_release(&c);
	return e;
}

#endif
