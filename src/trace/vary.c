/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of a workload: more GPUs, more tasks, other arrivals. */
#include <math.h>

#include "trace/generate.h"

enum { STREAM_WHO = 30 };

bool fth_kind_needs_gpu(const struct fth_kind *k)
{
	for (uint32_t i = 0; i < k->nalts; i++)
		if (k->alts[i].demand.v[FTH_GPU] > 0)
			return true;
	return false;
}

fth_kind_id fth_kind_with_gpus(struct fth_kinds *kinds, fth_kind_id id, int gpus)
{
	struct fth_kind k = kinds->list.data[id];
	struct fth_alt *alts = fth_alloc(k.nalts * sizeof(*alts));
	bool changed = false;
	memcpy(alts, k.alts, k.nalts * sizeof(*alts));
	for (uint32_t i = 0; i < k.nalts; i++) {
		int64_t *v = alts[i].demand.v, was = v[FTH_GPU], now = gpus * 1000;
		if (was <= 0 || was == now)
			continue;
		changed = true;
		v[FTH_GPU] = now;
		v[FTH_CPU] = FTH_MIN((v[FTH_CPU] * now + was - 1) / was, 64000);
		v[FTH_MEM] = FTH_MIN((v[FTH_MEM] * now + was - 1) / was, 488 * 1024);
	}
	if (changed) {
		struct fth_str label = {0};
		fth_str_addf(&label, "%s-%dgpu", fth_sym_str(kinds->syms, k.label), gpus);
		k.label = fth_sym_intern(kinds->syms, label.data);
		fth_str_release(&label);
		k.alts = alts;
		id = fth_kinds_intern(kinds, &k);
	}
	free(alts);
	return id;
}

/* The job with its groups as they are, or changed by the caller. */
static void add(struct fth_workload *to, const struct fth_workload *from, const struct fth_job_spec *j,
		const struct fth_task_group *groups)
{
	for (uint32_t i = 0; i < j->ngroups; i++) {
		struct fth_task_group g = groups[i];
		fth_vec_push(&to->groups, g);
		if (g.first_own == FTH_NONE)
			continue;
		/* Tasks with runtimes of their own: what was there is repeated as often as needed. */
		const struct fth_task_group *old = &from->groups.data[j->first_group + i];
		fth_vec_last(&to->groups).first_own = (uint32_t)to->works.len;
		for (uint32_t t = 0; t < g.count; t++)
			fth_vec_push(&to->works, fth_group_work(from, old, t % old->count));
	}
	struct fth_job_spec copy = *j;
	copy.first_group = (uint32_t)to->groups.len - j->ngroups;
	fth_vec_push(&to->jobs, copy);
}

static void begin(struct fth_workload *to, const struct fth_workload *from)
{
	to->name = from->name;
	to->step = from->step;
	to->epoch = from->epoch;
}

/* A random order of the numbers below n: the first k of them are a fair choice. */
static uint32_t *shuffled(size_t n, uint64_t seed)
{
	uint32_t *order = fth_alloc(n * sizeof(*order));
	struct fth_rng r;
	fth_rng_seed(&r, seed, STREAM_WHO, 0);
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)fth_rng_below(&r, i + 1);
		order[i] = order[at];
		order[at] = (uint32_t)i;
	}
	return order;
}

static bool job_needs_gpu(const struct fth_workload *w, const struct fth_job_spec *j)
{
	for (uint32_t i = 0; i < j->ngroups; i++)
		if (fth_kind_needs_gpu(&w->kinds->list.data[w->groups.data[j->first_group + i].kind]))
			return true;
	return false;
}

/* For each job: 0 leave as it is, else GPUs per task. */
static unsigned char *choose_gpus(const struct fth_workload *w, double share, uint64_t seed)
{
	unsigned char *gpus = fth_alloc(w->jobs.len + 1);
	uint32_t *order = shuffled(w->jobs.len, seed);
	size_t want = (size_t)floor(share * (double)w->jobs.len + 0.5), have = 0;
	for (size_t i = 0; i < w->jobs.len; i++) {
		size_t at = order[i];
		if (!job_needs_gpu(w, &w->jobs.data[at]))
			continue;
		gpus[at] = 1;
		if (have++ < want) {
			/* Exactly 5:4:1, whatever the number: the ten are dealt round. */
			static const unsigned char deal[10] = {2, 4, 2, 4, 2, 8, 4, 2, 4, 2};
			gpus[at] = deal[(have - 1) % 10];
		}
	}
	free(order);
	return gpus;
}

static struct fth_task_group *copy_groups(const struct fth_workload *w, const struct fth_job_spec *j)
{
	struct fth_task_group *g = fth_alloc(j->ngroups * sizeof(*g));
	memcpy(g, &w->groups.data[j->first_group], j->ngroups * sizeof(*g));
	return g;
}

void fth_vary_multi_gpu(struct fth_workload *to, const struct fth_workload *from, double share, uint64_t seed)
{
	unsigned char *gpus = choose_gpus(from, share, seed);
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len; i++) {
		const struct fth_job_spec *j = &from->jobs.data[i];
		struct fth_task_group *groups = copy_groups(from, j);
		for (uint32_t g = 0; g < j->ngroups && gpus[i]; g++)
			groups[g].kind = fth_kind_with_gpus(to->kinds, groups[g].kind, gpus[i]);
		add(to, from, j, groups);
		free(groups);
	}
	free(gpus);
}

static fth_kind_id with_delays(struct fth_kinds *kinds, fth_kind_id id, double factor)
{
	struct fth_kind k = kinds->list.data[id];
	fth_time *d[] = {&k.delays.fetch, &k.delays.setup, &k.delays.init, &k.delays.stop, &k.delays.save};
	for (size_t i = 0; i < FTH_COUNT(d); i++)
		*d[i] = (fth_time)floor((double)*d[i] * factor + 0.5);
	return fth_kinds_intern(kinds, &k);
}

void fth_vary_delays(struct fth_workload *to, const struct fth_workload *from, double factor)
{
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len; i++) {
		const struct fth_job_spec *j = &from->jobs.data[i];
		struct fth_task_group *groups = copy_groups(from, j);
		for (uint32_t g = 0; g < j->ngroups; g++)
			groups[g].kind = with_delays(to->kinds, groups[g].kind, factor);
		add(to, from, j, groups);
		free(groups);
	}
}

void fth_vary_multi_task(struct fth_workload *to, const struct fth_workload *from, double share, uint64_t seed)
{
	uint32_t *order = shuffled(from->jobs.len, seed);
	unsigned char *times = fth_alloc(from->jobs.len + 1);
	size_t want = (size_t)floor(share * (double)from->jobs.len + 0.5);
	for (size_t i = 0; i < from->jobs.len; i++)
		times[order[i]] = i >= want ? 1 : i % 2 ? 4 : 2;
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len; i++) {
		struct fth_job_spec j = from->jobs.data[i];
		struct fth_task_group *groups = copy_groups(from, &j);
		for (uint32_t g = 0; g < j.ngroups; g++)
			groups[g].count *= times[i];
		if (times[i] > 1 && j.kind == FTH_JOB_INDEPENDENT)
			j.kind = FTH_JOB_COUPLED;
		add(to, from, &j, groups);
		free(groups);
	}
	free(order);
	free(times);
}

void fth_vary_gap(struct fth_workload *to, const struct fth_workload *from, double factor)
{
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len; i++) {
		struct fth_job_spec j = from->jobs.data[i];
		j.submit = (fth_time)((double)j.submit / (double)FTH_SEC * factor) * FTH_SEC;
		add(to, from, &j, &from->groups.data[j.first_group]);
	}
}

void fth_vary_head(struct fth_workload *to, const struct fth_workload *from, size_t n)
{
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len && i < n; i++)
		add(to, from, &from->jobs.data[i], &from->groups.data[from->jobs.data[i].first_group]);
}

static bool fits(const struct fth_kind *k, const struct fth_catalog *c)
{
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_instance_type *t = &c->types[c->offers[i].type];
		const struct fth_alt *a = fth_kind_on_type(k, t);
		if (a && fth_res_fits(&a->demand, &t->capacity))
			return true;
	}
	return false;
}

uint32_t fth_vary_fitting(struct fth_workload *to, const struct fth_workload *from, const struct fth_catalog *c)
{
	uint32_t dropped = 0;
	bool *ok = fth_alloc(from->kinds->list.len + 1);
	for (size_t i = 0; i < from->kinds->list.len; i++)
		ok[i] = fits(&from->kinds->list.data[i], c);
	begin(to, from);
	for (size_t i = 0; i < from->jobs.len; i++) {
		const struct fth_job_spec *j = &from->jobs.data[i];
		bool all = true;
		for (uint32_t g = 0; g < j->ngroups; g++)
			all &= ok[from->groups.data[j->first_group + g].kind];
		if (all)
			add(to, from, j, &from->groups.data[j->first_group]);
		dropped += !all;
	}
	free(ok);
	return dropped;
}
