/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static const char *const types[] = {"p3.2xlarge", "p3.8xlarge",  "p3.16xlarge", "c7i.large",   "c7i.xlarge",
				    "c7i.2xlarge", "c7i.4xlarge", "r7i.xlarge",  "r7i.2xlarge", "r7i.4xlarge"};
static const double prices[] = {3.06, 12.24, 24.48, 0.08925, 0.1785, 0.357, 0.714, 0.2646, 0.5292, 1.0584};
enum { NTYPES = 10 };

static const struct {
	const char *policy;
	double scale, stretch, packed;
	uint32_t moves;
} kinds[8] = {
	{"no-packing", 1, 1, 1, 0},	 {"eva", 0.6, 1.17, 2.6, 5}, {"synergy", 0.67, 1.13, 2.3, 0}, {"owl", 0.75, 1.07, 1.8, 0},
	{"eva-artifact", 0.61, 1.18, 2.5, 4}, {"stratus", 0.67, 1.12, 2.3, 0}, {"eva", 0.63, 1.1, 2.4, 1}, {"mine", 0.55, 1.2, 2.9, 6},
};

static void add_jobs(struct sample *s, struct fth_run *r, size_t kind, uint32_t jobs, uint64_t seed, fth_time span)
{
	struct fth_rng rng;
	fth_rng_seed(&rng, seed, 1, 0);
	for (uint32_t i = 0; i < jobs; i++) {
		char key[32];
		snprintf(key, sizeof(key), "job-%u", i);
		fth_time submitted = (fth_time)((double)span * i / jobs);
		fth_time alone = 300 * FTH_SEC + (fth_time)(fth_pow10(fth_rng_real(&rng) * 2.9) * 300) * FTH_SEC;
		fth_time executing = (fth_time)((double)alone * kinds[kind].stretch);
		fth_time wait = (fth_time)(200 + fth_rng_below(&rng, 300)) * FTH_SEC;
		struct fth_run_job j = {.key = fth_sym_intern(s->syms, key), .moves = kinds[kind].moves, .submitted = submitted,
					.started = submitted + wait, .ended = submitted + wait + executing,
					.executing = executing, .standalone = alone};
		fth_vec_push(&r->job_list, j);
		r->migrations += j.moves;
		r->ended_at = FTH_MAX(r->ended_at, j.ended);
	}
}

static void fill_buckets(struct fth_run *r, const struct fth_run_instance *n)
{
	for (fth_time at = n->acquired; at < n->gone;) {
		size_t index;
		struct fth_run_bucket *b = fth_run_bucket_at(r, at, &index);
		fth_time end = FTH_MIN(n->gone, (fth_time)(index + 1) * r->bucket_width);
		double sec = (double)(end - at) / 1e6, share = 0.5 + 0.4 * (n->id % 5) / 5;
		b->cost_usd += prices[n->type] * sec / 3600;
		b->instances += sec;
		b->tasks += sec * 2;
		b->waiting += sec * 0.1;
		for (int k = 0; k < 3; k++) {
			double cap = k || n->type < 3 ? 8000 : 0;
			b->capacity[k] += cap * sec;
			b->used[k] += cap * share * (1 - 0.15 * k) * sec;
		}
		r->type_seconds.data[index * NTYPES + n->type] += sec;
		at = end;
	}
}

static void add_instances(struct fth_run *r, size_t kind, uint32_t count, uint64_t seed, fth_time span)
{
	struct fth_rng rng;
	fth_rng_seed(&rng, seed, 2, kind);
	for (uint32_t i = 0; i < count; i++) {
		struct fth_run_instance n = {.id = i, .type = (fth_type_id)fth_rng_below(&rng, NTYPES), .tasks = 1 + i % 7};
		n.requested = (fth_time)((double)span * i / count * (0.7 + 0.3 * fth_rng_real(&rng)));
		n.acquired = n.requested + 19 * FTH_SEC;
		n.ready = n.acquired + 190 * FTH_SEC;
		n.gone = FTH_MIN(n.ready + (fth_time)(fth_rng_exponential(&rng, 12 * 3600) * 1e6), r->ended_at);
		n.gone = FTH_MAX(n.gone, n.ready + FTH_SEC);
		n.cost = (fth_money)(prices[n.type] * kinds[kind].scale * (double)(n.gone - n.acquired) / 3.6);
		r->cost += n.cost;
		fth_vec_push(&r->instance_list, n);
		fill_buckets(r, &n);
	}
}

static void make_run(struct sample *s, size_t kind, uint32_t jobs, uint64_t seed)
{
	struct fth_run *r = &s->runs[kind];
	fth_time span = (fth_time)jobs * 20 * FTH_MINUTE;
	fth_run_init(r);
	snprintf(r->policy, sizeof(r->policy), "%s", kinds[kind].policy);
	fth_str_addf(&r->params, "{\"round\": \"300s\", \"t\": 0.%zu}", 90 + kind);
	fth_str_add(&r->rejected_by, "{}");
	r->ntypes = NTYPES;
	for (int t = 0; t < NTYPES; t++)
		fth_str_addn(&r->type_names, types[t], strlen(types[t]) + 1);
	add_jobs(s, r, kind, jobs, seed, span);
	r->tasks = jobs;
	r->instances_launched = (uint64_t)((double)jobs / kinds[kind].packed);
	add_instances(r, kind, (uint32_t)r->instances_launched, seed, span);
	fth_run_job_figures(r);
	r->tasks_per_instance = kinds[kind].packed;
	for (int k = 0; k < 3; k++)
		r->alloc[k] = FTH_MIN(0.3 * kinds[kind].packed - 0.05 * k, 0.93);
	double cost = fth_usd(r->cost);
	r->waste_boot_usd = 0.02 * cost;
	r->waste_rounding_usd = 0.01 * cost;
	r->waste_idle_usd = 0.012 * cost * kinds[kind].packed;
	r->waste_fragmentation_usd = cost * (0.5 - 0.14 * kinds[kind].packed);
	r->utilization = 1 - (r->waste_boot_usd + r->waste_idle_usd + r->waste_fragmentation_usd) / cost;
	r->rounds = 2000 + 17 * kind;
	r->rounds_decided = 700;
	r->events = 40000;
	r->wall_s = 0.4;
	r->decide_s = 0.1;
	r->decide_max_s = 0.002;
	r->peak_rss_mb = 31.5;
	struct fth_run_note note = {.name = "full_adopted", .last = 1, .sum = 70 + (double)kind, .max = 1, .count = 700};
	fth_vec_push(&r->notes, note);
}

void sample_make(struct sample *s, size_t nruns, uint32_t jobs, uint64_t seed)
{
	static const char *const assumptions[] = {"A machine is ours 19 s after it was asked for, and ready 190 s later."};
	memset(s, 0, sizeof(*s));
	s->syms = fth_symtab_new();
	for (size_t i = 0; i < nruns; i++)
		make_run(s, i, jobs, seed);
	s->c = (struct fth_comparison){
		.version = "0.1.0",
		.command = "farthing compare --workload jobs.csv --catalog types.json",
		.seed = (int64_t)seed,
		.workload_name = "made-up",
		.workload_path = "jobs.csv",
		.workload = {.jobs = jobs, .tasks = jobs, .kinds = 3, .classes = 3, .users = 1,
			     .last_submit = (fth_time)jobs * 20 * FTH_MINUTE, .task_hours = 3.5 * jobs, .runtime_mean_h = 3.5,
			     .runtime_p50_h = 2, .runtime_p80_h = 6, .runtime_p95_h = 11},
		.catalog_path = "types.json",
		.catalog_types = NTYPES,
		.catalog_offers = NTYPES,
		.assumptions = assumptions,
		.nassumptions = 1,
		.runs = s->runs,
		.nruns = nruns,
	};
}

void sample_release(struct sample *s)
{
	for (size_t i = 0; i < s->c.nruns; i++)
		fth_run_release(&s->runs[i]);
	fth_symtab_free(s->syms);
}
