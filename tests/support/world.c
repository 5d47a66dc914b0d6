/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

static void make_catalog(struct fth_world *w, const struct random_world_options *o, struct fth_rng *rng)
{
	static const char *const families[] = {"g", "c", "r"};
	for (int f = 0; f < 3; f++)
		for (int size = 1; size <= 8; size *= 2) {
			if (o->one_type && (f || size < 8))
				continue;
			char name[32];
			snprintf(name, sizeof(name), "%s.%dx", families[f], size);
			struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name),
						      .family = fth_sym_intern(w->syms, families[f])};
			t.capacity.v[FTH_GPU] = f == 0 ? size * 1000 : 0;
			t.capacity.v[FTH_CPU] = size * (f == 0 ? 8000 : 4000);
			t.capacity.v[FTH_MEM] = (int64_t)size * (f == 0 ? 61 : f == 1 ? 8 : 32) * 1024;
			t.acquire = o->drawn_delays ? (struct fth_delay){6 * FTH_SEC, 19 * FTH_SEC, 83 * FTH_SEC}
						    : fth_delay_fixed(20 * FTH_SEC);
			t.setup = o->drawn_delays ? (struct fth_delay){140 * FTH_SEC, 190 * FTH_SEC, 251 * FTH_SEC}
						  : fth_delay_fixed(150 * FTH_SEC);
			t.terminate = fth_delay_fixed(FTH_SEC);
			fth_vec_push(&w->catalog.types, t);
			struct fth_offer offer = {
				.type = (fth_type_id)w->catalog.types.len - 1,
				.price = (fth_price)size * (f == 0 ? 3060000000 : f == 1 ? 178500000 : 264600000) +
					 (fth_price)fth_rng_below(rng, 1000),
				.billing = {.increment = FTH_SEC, .minimum = fth_rng_below(rng, 2) ? FTH_MINUTE : 0},
				.available = true,
			};
			fth_vec_push(&w->catalog.offers, offer);
		}
	fth_catalog_finish(&w->catalog, NULL);
}

/* A spot offer for each type, with a price that wanders about and now and then passes the on-demand price. */
static void make_market(struct fth_world *w, struct fth_rng *rng)
{
	size_t n = w->catalog.offers.len;
	for (size_t i = 0; i < n; i++) {
		struct fth_offer spot = w->catalog.offers.data[i];
		spot.market = FTH_SPOT;
		spot.zone = fth_sym_intern(w->syms, "z");
		spot.price /= 3;
		spot.interruptions_ppm = fth_rng_below(rng, 3) ? 0 : 100000;
		fth_vec_push(&w->catalog.offers, spot);
		fth_time at = 0;
		for (int k = 0; k < 60; k++) {
			double share = 0.2 + 0.6 * fth_rng_real(rng) + (fth_rng_below(rng, 12) ? 0 : 0.5);
			fth_market_add(&w->market, (fth_offer_id)(n + i), FTH_MARKET_PRICE, i % 2, at,
				       (int64_t)(share * (double)w->catalog.offers.data[i].price));
			at += (fth_time)fth_rng_exponential(rng, 3000) * FTH_SEC;
		}
		for (int k = 0; i % 3 == 0 && k < 20; k++)
			fth_market_add(&w->market, (fth_offer_id)(n + i), FTH_MARKET_AVAILABLE, true, k * FTH_HOUR,
				       fth_rng_below(rng, 4) != 0);
	}
	fth_market_finish(&w->market);
	fth_catalog_finish(&w->catalog, NULL);
	w->has_market = true;
}

static fth_kind_id make_kind(struct fth_world *w, const struct random_world_options *o, struct fth_rng *rng, int n)
{
	static const char *const classes[] = {"alpha", "beta", "gamma", "delta"};
	char label[32];
	const char *klass = classes[fth_rng_below(rng, 4)];
	snprintf(label, sizeof(label), "%s[%d]", klass, n);
	struct fth_alt alts[2] = {{.speed_ppm = 1000000}, {.speed_ppm = 1000000}};
	uint32_t nalts = 1;
	int64_t cpu = 1 + (int64_t)fth_rng_below(rng, 12), gpu = (int64_t)fth_rng_below(rng, 3);
	alts[0].demand.v[FTH_GPU] = gpu * 1000;
	alts[0].demand.v[FTH_CPU] = cpu * 1000;
	alts[0].demand.v[FTH_MEM] = (int64_t)(1 + fth_rng_below(rng, 40)) * 1024;
	if (o->by_family && !gpu) {
		/* On c, fewer CPUs, or fewer and slower. A family alternative comes first. */
		alts[1] = alts[0];
		alts[0].family = fth_sym_intern(w->syms, "c");
		alts[0].demand.v[FTH_CPU] = (cpu + 1) / 2 * 1000;
		alts[0].speed_ppm = fth_rng_below(rng, 2) ? 1000000 : 800000;
		nalts = 2;
	}
	struct fth_kind k = {
		.label = fth_sym_intern(w->syms, label),
		.klass = fth_sym_intern(w->syms, klass),
		.image = fth_sym_intern(w->syms, klass),
		.delays = {.fetch = FTH_SEC,
			   .setup = 10 * FTH_SEC,
			   .init = (fth_time)fth_rng_below(rng, 100) * FTH_SEC,
			   .stop = FTH_SEC,
			   .save = (fth_time)fth_rng_below(rng, 20) * FTH_SEC},
		.nalts = nalts,
		.alts = alts,
	};
	return fth_kinds_intern(&w->kinds, &k);
}

void random_world(struct fth_world *w, const struct random_world_options *o)
{
	struct fth_rng rng;
	fth_rng_seed(&rng, o->seed, 77, 0);
	fth_world_init(w);
	make_catalog(w, o, &rng);
	fth_kind_id kinds[16];
	for (int i = 0; i < 16; i++)
		kinds[i] = make_kind(w, o, &rng, i);
	fth_time at = 0;
	w->workload.step = o->step ? FTH_SEC : 0;
	for (uint32_t j = 0; j < o->jobs; j++) {
		char key[32];
		snprintf(key, sizeof(key), "job-%u", j);
		at += (fth_time)(fth_rng_exponential(&rng, 400)) * FTH_SEC;
		bool together = o->coupled && fth_rng_below(&rng, 3) == 0;
		struct fth_task_group g = {
			.kind = kinds[fth_rng_below(&rng, 16)],
			.count = together ? 2 + (uint32_t)fth_rng_below(&rng, 3) : o->one_type ? 1 + (uint32_t)fth_rng_below(&rng, 4) : 1,
			.work = (fth_time)(60 + fth_rng_below(&rng, 20000)) * FTH_SEC,
			.first_own = FTH_NONE,
		};
		bool service = o->services && j % 20 == 0;
		struct fth_job_spec spec = {
			.key = fth_sym_intern(w->syms, key),
			.kind = service ? FTH_JOB_SERVICE : !together ? FTH_JOB_INDEPENDENT : o->rigid ? FTH_JOB_RIGID : FTH_JOB_COUPLED,
			.submit = at,
			.deadline = FTH_NEVER,
			.anti_affinity = o->anti_affinity && fth_rng_below(&rng, 4) == 0 ? fth_sym_intern(w->syms, "apart") : 0,
		};
		fth_workload_add(&w->workload, &spec, &g, 1);
	}
	fth_workload_finish(&w->workload);
	fth_sym classes[4];
	const char *const names[] = {"alpha", "beta", "gamma", "delta"};
	for (int i = 0; i < 4; i++)
		classes[i] = fth_sym_intern(w->syms, names[i]);
	fth_profile_set_classes(&w->profile, classes, 4);
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
			fth_profile_set(&w->profile, classes[a], classes[b], 0.7 + 0.3 * fth_rng_real(&rng));
	w->has_profile = true;
	if (o->market)
		make_market(w, &rng);
}
