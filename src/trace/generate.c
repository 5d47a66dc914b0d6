/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/generate.h"

#include "trace/classes.h"
#include "trace/draw.h"

#define OFFSET(field) offsetof(struct fth_generate_params, field)

static const char *const arrivals[] = {"poisson", "diurnal", "bursty", "sample", NULL};
static const char *const durations[] = {"gavel", "alibaba", "uniform", "log-uniform", NULL};
static const char *const mixes[] = {"table7", "alibaba", NULL};

const struct fth_param fth_generate_param_table[] = {
	{"jobs", FTH_PARAM_INT, OFFSET(jobs), "1000", 1, 100000000, NULL, "how many jobs"},
	{"seed", FTH_PARAM_INT, OFFSET(seed), "1", 0, 9e15, NULL, "same seed, same workload"},
	{"arrivals", FTH_PARAM_CHOICE, OFFSET(arrivals), "poisson", 0, 0, arrivals,
	 "poisson; diurnal (more by day than by night); bursty (some come in crowds); sample (both)"},
	{"gap", FTH_PARAM_DURATION, OFFSET(gap), "20m", 0.001, 31557600, NULL, "mean time between jobs"},
	{"amplitude", FTH_PARAM_REAL, OFFSET(amplitude), "0.7", 0, 1, NULL,
	 "diurnal: how far the rate swings above and below its mean"},
	{"burst_jobs", FTH_PARAM_REAL, OFFSET(burst_jobs), "12", 1, 1e6, NULL, "bursty: mean jobs in a burst"},
	{"bursts_per_day", FTH_PARAM_REAL, OFFSET(bursts_per_day), "2", 0, 1e5, NULL, "bursty: mean bursts in a day"},
	{"durations", FTH_PARAM_CHOICE, OFFSET(durations), "gavel", 0, 0, durations,
	 "gavel; alibaba (half are shorter than 12 minutes); uniform or log-uniform (min_duration to max_duration)"},
	{"min_duration", FTH_PARAM_DURATION, OFFSET(min_duration), "30m", 1, 3.1e10, NULL, "uniform, log-uniform: the least"},
	{"max_duration", FTH_PARAM_DURATION, OFFSET(max_duration), "16h", 1, 3.1e10, NULL,
	 "uniform, log-uniform: the greatest"},
	{"workloads", FTH_PARAM_CHOICE, OFFSET(workloads), "table7", 0, 0, mixes,
	 "table7 (Eva's nine classes, ResNet18 in two sizes; demands by family, two vCPUs for each core of Table 7); alibaba (mostly one GPU and many CPUs)"},
	{"multi_gpu", FTH_PARAM_REAL, OFFSET(multi_gpu), "0", 0, 1, NULL,
	 "share of all jobs that ask for 2, 4 or 8 GPUs (5:4:1), the other GPU jobs for one; 0 leaves the mix"},
	{"multi_task", FTH_PARAM_REAL, OFFSET(multi_task), "0", 0, 1, NULL,
	 "share of the jobs that have 2 or 4 tasks (1:1) advancing together"},
	{"tasks_per_job", FTH_PARAM_INT, OFFSET(tasks_per_job), "1", 1, 100000, NULL, "tasks of each job that multi_task leaves alone"},
	{"users", FTH_PARAM_INT, OFFSET(users), "8", 0, 1000000, NULL, "users the jobs belong to; 0 none"},
	{0},
};

/* One stream of draws for each question, so that an answer to one does not move the others. */
enum stream { ARRIVAL = 10, BURST, DURATION, CLASS, SHAPE, USER, TRIPLE };

/* ---- arrivals ---- */

struct clock {
	const struct fth_generate_params *p;
	struct fth_rng single, burst;
	bool swings;
	double single_gap; /* seconds, of the jobs that come one by one */
	double burst_gap;  /* of bursts; 0 none */
	double next_single, next_burst;
	uint32_t burst_left;
};

/* The day's wave between -1 and 1, highest at two in the afternoon: two parabolas, no sine. */
static double wave(double seconds)
{
	double days = seconds / 86400 - 8.0 / 24, x = days - (double)(int64_t)days;
	if (x < 0)
		x += 1;
	return x < 0.5 ? 16 * x * (0.5 - x) : -16 * (x - 0.5) * (1 - x);
}

/* Draw at the day's highest rate, and keep as many as the hour deserves. */
static double next_single(struct clock *c, double from)
{
	if (!c->swings)
		return from + fth_rng_exponential(&c->single, c->single_gap);
	double top = 1 + c->p->amplitude;
	do
		from += fth_rng_exponential(&c->single, c->single_gap / top);
	while (fth_rng_real(&c->single) * top >= 1 + c->p->amplitude * wave(from));
	return from;
}

static void clock_init(struct clock *c, const struct fth_generate_params *p)
{
	bool bursts = p->arrivals == FTH_ARRIVALS_BURSTY || p->arrivals == FTH_ARRIVALS_SAMPLE;
	double gap = (double)p->gap / (double)FTH_SEC;
	*c = (struct clock){.p = p, .single_gap = gap, .next_burst = -1};
	c->swings = p->arrivals == FTH_ARRIVALS_DIURNAL || p->arrivals == FTH_ARRIVALS_SAMPLE;
	fth_rng_seed(&c->single, (uint64_t)p->seed, ARRIVAL, 0);
	fth_rng_seed(&c->burst, (uint64_t)p->seed, BURST, 0);
	if (bursts && p->bursts_per_day > 0) {
		/* The mean gap is that of all jobs: bursts take their share, but never more than nine tenths. */
		double share = p->bursts_per_day * p->burst_jobs / 86400 * gap;
		share = FTH_MIN(share, 0.9);
		c->single_gap = gap / (1 - share);
		c->burst_gap = gap * p->burst_jobs / share;
		c->next_burst = fth_rng_exponential(&c->burst, c->burst_gap);
	}
	c->next_single = next_single(c, 0);
}

static double clock_next(struct clock *c)
{
	if (c->next_burst < 0 || c->next_single <= c->next_burst) {
		double t = c->next_single;
		c->next_single = next_single(c, t);
		return t;
	}
	double t = c->next_burst;
	if (!c->burst_left)
		c->burst_left = 1 + (uint32_t)fth_rng_exponential(&c->burst, c->p->burst_jobs - 0.5);
	c->burst_left--;
	/* Within a burst jobs follow after seconds; then comes the time to the next burst. */
	c->next_burst = t + fth_rng_exponential(&c->burst, c->burst_left ? 5 : c->burst_gap);
	return t;
}

/* ---- what the jobs are ---- */

/* Demands like the Alibaba trace's: shares by GPUs as in Table 8, many CPUs to a GPU. */
static const struct triple {
	int weight; /* of 10,000 */
	int gpus, cpus, gib;
} triples[] = {
	{600, 0, 14, 54},  {420, 0, 32, 52},  {200, 0, 8, 28},   {121, 0, 16, 48},  {2500, 1, 12, 46},
	{1600, 1, 12, 30}, {1200, 1, 8, 30},  {900, 1, 18, 62},  {750, 1, 4, 20},   {617, 1, 16, 56},
	{500, 1, 4, 8},    {350, 1, 6, 14},   {200, 1, 12, 76},  {20, 2, 16, 100},  {18, 4, 32, 200},
	{4, 8, 64, 400},
};

struct maker {
	struct fth_workload *w;
	const struct fth_generate_params *p;
	struct clock clock;
	struct {
		fth_kind_id kind;
		const struct fth_class *class;
	} mix[FTH_COUNT(triples)];
};

static void class_of_triples(struct maker *m)
{
	uint32_t counts[FTH_NCLASSES] = {0};
	for (size_t i = 0; i < FTH_COUNT(triples); i++) {
		struct fth_rng r;
		fth_rng_seed(&r, (uint64_t)m->p->seed, TRIPLE, i);
		size_t at = (size_t)fth_rng_below(&r, FTH_NCLASSES);
		const struct fth_class *c = &fth_classes[at];
		char label[64];
		snprintf(label, sizeof(label), "%s[%u]", c->name, counts[at]++);
		struct fth_alt alt = {.speed_ppm = 1000000,
				      .demand = {{triples[i].gpus * 1000, triples[i].cpus * 1000, triples[i].gib * 1024}}};
		struct fth_kind k = {.label = fth_sym_intern(m->w->syms, label),
				     .klass = fth_sym_intern(m->w->syms, c->name),
				     .delays = fth_class_delays(c),
				     .nalts = 1,
				     .alts = &alt};
		k.image = k.klass;
		m->mix[i].kind = fth_kinds_intern(m->w->kinds, &k);
		m->mix[i].class = c;
	}
}

/* Table 7 has ten rows, two of them ResNet18. */
static const struct fth_class *draw_row(struct fth_rng *r)
{
	uint64_t i = fth_rng_below(r, FTH_NCLASSES + 1);
	return i < FTH_NCLASSES ? &fth_classes[i] : fth_class_find("resnet18");
}

static fth_kind_id draw_kind(struct maker *m, uint64_t job, const struct fth_class **ret_class)
{
	struct fth_rng r;
	fth_rng_seed(&r, (uint64_t)m->p->seed, CLASS, job);
	if (m->p->workloads == FTH_MIX_TABLE7) {
		*ret_class = draw_row(&r);
		return fth_class_kind(m->w->kinds, *ret_class, (*ret_class)->name);
	}
	int64_t at = (int64_t)fth_rng_below(&r, 10000);
	size_t i = 0;
	while (at >= triples[i].weight)
		at -= triples[i++].weight;
	*ret_class = m->mix[i].class;
	return m->mix[i].kind;
}

static fth_time draw_duration(const struct fth_generate_params *p, uint64_t job)
{
	struct fth_rng r;
	fth_rng_seed(&r, (uint64_t)p->seed, DURATION, job);
	if (p->durations == FTH_DURATIONS_GAVEL)
		return fth_draw_gavel(&r);
	if (p->durations == FTH_DURATIONS_ALIBABA)
		return fth_draw_alibaba(&r);
	double min = (double)p->min_duration, max = (double)p->max_duration, u = fth_rng_real(&r);
	bool uniform = p->durations == FTH_DURATIONS_UNIFORM;
	fth_time t = (fth_time)(uniform ? min + u * (max - min) : min * fth_exp(u * fth_log(max / min)));
	return FTH_MAX(t / FTH_SEC, 1) * FTH_SEC;
}

/* 2, 4 or 8 as 5:4:1. */
static int draw_gpus(struct fth_rng *r)
{
	uint64_t x = fth_rng_below(r, 10);
	return x < 5 ? 2 : x < 9 ? 4 : 8;
}

/* Of the jobs, those that use GPUs at all. */
static double gpu_share(const struct fth_generate_params *p)
{
	int with = 0;
	if (p->workloads == FTH_MIX_ALIBABA) {
		for (size_t i = 0; i < FTH_COUNT(triples); i++)
			with += triples[i].gpus ? triples[i].weight : 0;
		return with / 10000.0;
	}
	for (size_t i = 0; i < FTH_NCLASSES; i++)
		with += fth_classes[i].gpus > 0;
	return (with + 1) / (double)(FTH_NCLASSES + 1); /* ResNet18's second row */
}

/* How many tasks it has, and whether it asks for several GPUs. */
static void shape(struct maker *m, uint64_t job, struct fth_task_group *g)
{
	const struct fth_generate_params *p = m->p;
	struct fth_rng r;
	fth_rng_seed(&r, (uint64_t)p->seed, SHAPE, job);
	double gpu = fth_rng_real(&r), task = fth_rng_real(&r);
	int gpus = draw_gpus(&r);
	g->count = (uint32_t)p->tasks_per_job;
	if (task < p->multi_task)
		g->count = fth_rng_below(&r, 2) ? 2 : 4;
	if (p->multi_gpu > 0 && fth_kind_needs_gpu(&m->w->kinds->list.data[g->kind]))
		g->kind = fth_kind_with_gpus(m->w->kinds, g->kind, gpu * gpu_share(p) < p->multi_gpu ? gpus : 1);
}

static fth_sym draw_user(struct maker *m, uint64_t job)
{
	struct fth_rng r;
	if (!m->p->users)
		return 0;
	fth_rng_seed(&r, (uint64_t)m->p->seed, USER, job);
	char name[32];
	snprintf(name, sizeof(name), "user-%llu", (unsigned long long)fth_rng_below(&r, (uint64_t)m->p->users));
	return fth_sym_intern(m->w->syms, name);
}

static void make_job(struct maker *m, uint64_t i)
{
	struct fth_task_group g = {.first_own = FTH_NONE};
	struct fth_job_spec j = {.deadline = FTH_NEVER};
	const struct fth_class *class;
	char key[32];
	snprintf(key, sizeof(key), "%llu", (unsigned long long)i);
	j.key = fth_sym_intern(m->w->syms, key);
	j.user = draw_user(m, i);
	j.submit = (fth_time)clock_next(&m->clock) * FTH_SEC;
	g.kind = draw_kind(m, i, &class);
	g.work = draw_duration(m->p, i);
	shape(m, i, &g);
	j.kind = g.count > 1 ? FTH_JOB_COUPLED : FTH_JOB_INDEPENDENT;
	j.iter_rate = class->rate;
	j.iters = fth_class_iters(g.work, j.iter_rate);
	fth_workload_add(m->w, &j, &g, 1);
}

int fth_generate(struct fth_workload *w, const struct fth_generate_params *p, struct fth_error *err)
{
	struct maker m = {.w = w, .p = p};
	if (p->min_duration > p->max_duration)
		return fth_fail(err, -EINVAL, "generate: min_duration is greater than max_duration");
	clock_init(&m.clock, p);
	if (p->workloads == FTH_MIX_ALIBABA)
		class_of_triples(&m);
	w->name = fth_sym_intern(w->syms, "generated");
	w->step = FTH_SEC;
	for (uint64_t i = 0; i < (uint64_t)p->jobs; i++)
		make_job(&m, i);
	fth_workload_finish(w);
	return 0;
}

void fth_table7_pack(struct fth_workload *w, uint32_t n, uint64_t seed)
{
	w->name = fth_sym_intern(w->syms, "table7");
	w->step = FTH_SEC;
	for (uint32_t i = 0; i < n; i++) {
		struct fth_rng r;
		fth_rng_seed(&r, seed, CLASS, i);
		const struct fth_class *c = draw_row(&r);
		struct fth_task_group g = {fth_class_kind(w->kinds, c, c->name), 1, FTH_HOUR, FTH_NONE};
		struct fth_job_spec j = {.deadline = FTH_NEVER, .iter_rate = c->rate};
		char key[32];
		snprintf(key, sizeof(key), "%u", i);
		j.key = fth_sym_intern(w->syms, key);
		j.iters = fth_class_iters(g.work, c->rate);
		fth_workload_add(w, &j, &g, 1);
	}
	fth_workload_finish(w);
}
