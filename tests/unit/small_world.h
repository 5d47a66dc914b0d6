/* SPDX-License-Identifier: Apache-2.0 */
/* A tiny world made by hand, and a policy that does what the test says. */
#ifndef FTH_TESTS_SMALL_WORLD_H
#define FTH_TESTS_SMALL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "model/world.h"

/* Four types, all of 4 CPUs and 8 GiB unless said: 0 "a.big" 1 $/h, 1 "a.small" 2 CPUs 0.5 $/h, 2 "b.big" 2 $/h,
 * 3 "arm.big" (architecture arm64) 3 $/h. One offer each, with the same number. Acquired after 10 s, set up in 20 s,
 * gone after 5 s; billed by the second. */
enum { A_BIG, A_SMALL, B_BIG, ARM_BIG, NTYPES };

static inline void small_type(struct fth_world *w, const char *name, const char *family, int cpus, const char *arch,
			      fth_price price)
{
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name), .family = fth_sym_intern(w->syms, family)};
	t.arch = fth_sym_intern(w->syms, arch);
	t.capacity.v[FTH_CPU] = cpus * 1000;
	t.capacity.v[FTH_MEM] = 8 * 1024;
	t.acquire = fth_delay_fixed(10 * FTH_SEC);
	t.setup = fth_delay_fixed(20 * FTH_SEC);
	t.terminate = fth_delay_fixed(5 * FTH_SEC);
	struct fth_offer o = {.type = (fth_type_id)w->catalog.types.len, .price = price, .available = true};
	o.billing = fth_billing_default();
	fth_vec_push(&w->catalog.types, t);
	fth_vec_push(&w->catalog.offers, o);
}

static inline void small_world(struct fth_world *w)
{
	fth_world_init(w);
	small_type(w, "a.big", "a", 4, "x86", FTH_USD);
	small_type(w, "a.small", "a", 2, "x86", FTH_USD / 2);
	small_type(w, "b.big", "b", 4, "x86", 2 * FTH_USD);
	small_type(w, "arm.big", "arm", 4, "arm64", 3 * FTH_USD);
	assert_int_equal(fth_catalog_finish(&w->catalog, NULL), 0);
}

/* A kind that needs this many CPUs everywhere, with no delays. */
static inline struct fth_kind small_kind(struct fth_world *w, const char *klass, struct fth_alt *alt, int cpus)
{
	*alt = (struct fth_alt){.speed_ppm = 1000000};
	alt->demand.v[FTH_CPU] = cpus * 1000;
	alt->demand.v[FTH_MEM] = 1024;
	return (struct fth_kind){.label = fth_sym_intern(w->syms, klass), .klass = fth_sym_intern(w->syms, klass),
				 .nalts = 1, .alts = alt};
}

static inline fth_kind_id small_cpus(struct fth_world *w, const char *klass, int cpus)
{
	struct fth_alt alt;
	struct fth_kind k = small_kind(w, klass, &alt, cpus);
	return fth_kinds_intern(&w->kinds, &k);
}

static inline struct fth_job_spec *small_job(struct fth_world *w, const char *key, enum fth_job_kind kind, fth_kind_id of,
					     uint32_t tasks, fth_time submit, fth_time work)
{
	struct fth_task_group g = {.kind = of, .count = tasks, .work = work, .first_own = FTH_NONE};
	struct fth_job_spec s = {.key = fth_sym_intern(w->syms, key), .kind = kind, .submit = submit, .deadline = FTH_NEVER};
	assert_int_equal(fth_workload_add(&w->workload, &s, &g, 1), 0);
	return &fth_vec_last(&w->workload.jobs);
}

#endif
