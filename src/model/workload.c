/* SPDX-License-Identifier: Apache-2.0 */
#include "model/workload.h"

#include <farthing/policy.h>

/* ---- kinds ---- */

void fth_kinds_init(struct fth_kinds *k, struct fth_symtab *syms)
{
	*k = (struct fth_kinds){.syms = syms, .nres = FTH_RES_EXTRA};
	k->res_names[FTH_GPU] = fth_sym_intern(syms, "gpu");
	k->res_names[FTH_CPU] = fth_sym_intern(syms, "cpu");
	k->res_names[FTH_MEM] = fth_sym_intern(syms, "mem");
}

int fth_kinds_resource(struct fth_kinds *k, const char *name)
{
	fth_sym sym = fth_sym_intern(k->syms, name);
	for (uint32_t i = 0; i < k->nres; i++)
		if (k->res_names[i] == sym)
			return (int)i;
	if (k->nres == FTH_RES_MAX)
		return -1;
	k->res_names[k->nres] = sym;
	return (int)k->nres++;
}

void fth_kinds_adopt_resources(struct fth_kinds *k, uint32_t nres, const fth_sym *res_names)
{
	k->nres = nres;
	memcpy(k->res_names, res_names, nres * sizeof(*res_names));
}

void fth_kinds_release(struct fth_kinds *k)
{
	fth_vec_release(&k->list);
	fth_vec_release(&k->next);
	fth_map_release(&k->by_hash);
	fth_arena_release(&k->alts);
}

static uint64_t kind_hash(const struct fth_kind *k)
{
	uint64_t h = fth_hash_bytes(&k->delays, sizeof(k->delays), k->label);
	h = fth_hash_u64(h ^ k->klass) ^ fth_hash_u64(((uint64_t)k->image << 32 | k->arch) + 1);
	for (uint32_t i = 0; i < k->nalts; i++) {
		const struct fth_alt *a = &k->alts[i];
		h = fth_hash_bytes(&a->demand, sizeof(a->demand), h ^ ((uint64_t)a->family << 32 | a->speed_ppm));
	}
	return h;
}

static bool kind_equal(const struct fth_kind *a, const struct fth_kind *b)
{
	if (a->label != b->label || a->klass != b->klass || a->image != b->image || a->arch != b->arch ||
	    a->nalts != b->nalts || memcmp(&a->delays, &b->delays, sizeof(a->delays)))
		return false;
	for (uint32_t i = 0; i < a->nalts; i++)
		if (a->alts[i].family != b->alts[i].family || a->alts[i].speed_ppm != b->alts[i].speed_ppm ||
		    !fth_res_equal(&a->alts[i].demand, &b->alts[i].demand))
			return false;
	return true;
}

fth_kind_id fth_kinds_intern(struct fth_kinds *k, const struct fth_kind *proto)
{
	uint64_t hash = kind_hash(proto), first = FTH_NONE;
	fth_map_get(&k->by_hash, hash, &first);
	for (fth_kind_id id = (fth_kind_id)first; id != FTH_NONE; id = k->next.data[id])
		if (kind_equal(&k->list.data[id], proto))
			return id;
	struct fth_kind copy = *proto;
	struct fth_alt *alts = fth_arena_alloc(&k->alts, proto->nalts * sizeof(*alts));
	memcpy(alts, proto->alts, proto->nalts * sizeof(*alts));
	copy.alts = alts;
	fth_kind_id id = (fth_kind_id)k->list.len;
	fth_vec_push(&k->list, copy);
	fth_vec_push(&k->next, (fth_kind_id)first);
	fth_map_put(&k->by_hash, hash, id);
	return id;
}

const struct fth_alt *fth_kind_on_family(const struct fth_kind *k, fth_sym family)
{
	for (uint32_t i = 0; i < k->nalts; i++)
		if (k->alts[i].family == family || k->alts[i].family == 0)
			return &k->alts[i];
	return NULL;
}

const struct fth_alt *fth_kind_on_type(const struct fth_kind *k, const struct fth_instance_type *t)
{
	if (k->arch && t->arch && k->arch != t->arch)
		return NULL;
	return fth_kind_on_family(k, t->family);
}

/* ---- jobs ---- */

void fth_workload_init(struct fth_workload *w, struct fth_symtab *syms, struct fth_kinds *kinds)
{
	*w = (struct fth_workload){.syms = syms, .kinds = kinds};
}

void fth_workload_release(struct fth_workload *w)
{
	fth_vec_release(&w->jobs);
	fth_vec_release(&w->groups);
	fth_vec_release(&w->works);
	fth_map_release(&w->by_key);
	fth_vec_release(&w->notes);
}

int fth_workload_add(struct fth_workload *w, const struct fth_job_spec *job, const struct fth_task_group *groups,
		     uint32_t ngroups)
{
	if (fth_map_get(&w->by_key, job->key, NULL))
		return -EEXIST;
	fth_map_put(&w->by_key, job->key, w->jobs.len);
	struct fth_job_spec copy = *job;
	copy.first_group = (uint32_t)w->groups.len;
	copy.ngroups = ngroups;
	for (uint32_t i = 0; i < ngroups; i++)
		fth_vec_push(&w->groups, groups[i]);
	fth_vec_push(&w->jobs, copy);
	return 0;
}

/* Merge sort: stable, and linear on what is sorted already. */
static void sort_jobs(struct fth_job_spec *a, struct fth_job_spec *tmp, size_t n)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_jobs(a, tmp, half);
	sort_jobs(a + half, tmp, n - half);
	if (a[half - 1].submit <= a[half].submit)
		return;
	while (i < half && j < n)
		tmp[k++] = a[j].submit < a[i].submit ? a[j++] : a[i++];
	while (i < half)
		tmp[k++] = a[i++];
	while (j < n)
		tmp[k++] = a[j++];
	memcpy(a, tmp, n * sizeof(*a));
}

void fth_workload_finish(struct fth_workload *w)
{
	struct fth_job_spec *tmp = fth_alloc(w->jobs.len * sizeof(*tmp));
	sort_jobs(w->jobs.data, tmp, w->jobs.len);
	free(tmp);
	fth_map_release(&w->by_key);
	fth_vec_trim(&w->jobs);
	fth_vec_trim(&w->groups);
	fth_vec_trim(&w->works);
}

static int next_from_workload(struct fth_job_source *base, struct fth_job_item *ret, struct fth_error *err)
{
	(void)err;
	struct fth_workload_source *s = (struct fth_workload_source *)base;
	if (s->pos >= s->workload->jobs.len)
		return 0;
	ret->spec = &s->workload->jobs.data[s->pos++];
	ret->groups = &s->workload->groups.data[ret->spec->first_group];
	ret->works = s->workload->works.data;
	ret->told = &s->workload->told;
	ret->index = s->pos - 1;
	return 1;
}

void fth_workload_source_init(struct fth_workload_source *s, const struct fth_workload *w)
{
	*s = (struct fth_workload_source){.base.next = next_from_workload, .workload = w};
}

/* ---- looking at a workload ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
	if (!n)
		return 0;
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;
	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

/* Longest task of a job, or its iterations' time. */
static double job_runtime_h(const struct fth_workload *w, const struct fth_job_spec *j, double *task_hours,
			    uint64_t *tasks, bool *gpu)
{
	double longest = 0;
	for (uint32_t g = 0; g < j->ngroups; g++) {
		const struct fth_task_group *group = &w->groups.data[j->first_group + g];
		const struct fth_kind *k = &w->kinds->list.data[group->kind];
		*tasks += group->count;
		for (uint32_t a = 0; a < k->nalts; a++)
			*gpu |= k->alts[a].demand.v[FTH_GPU] > 0;
		for (uint32_t i = 0; i < group->count; i++) {
			double h = (double)fth_group_work(w, group, i) / (double)FTH_HOUR;
			if (j->iter_rate > 0)
				h = (double)j->iters / j->iter_rate / 3600;
			*task_hours += h;
			longest = FTH_MAX(longest, h);
		}
	}
	return longest;
}

void fth_workload_summarize(const struct fth_workload *w, struct fth_workload_summary *ret)
{
	struct fth_workload_summary s = {.jobs = w->jobs.len, .kinds = w->kinds->list.len};
	double *runtime = fth_alloc(w->jobs.len * sizeof(*runtime)), total = 0;
	struct fth_map users = {0}, classes = {0};
	for (size_t i = 0; i < w->jobs.len; i++) {
		const struct fth_job_spec *j = &w->jobs.data[i];
		bool gpu = false;
		runtime[i] = job_runtime_h(w, j, &s.task_hours, &s.tasks, &gpu);
		total += runtime[i];
		s.gpu_jobs += gpu;
		s.coupled_jobs += j->kind == FTH_JOB_COUPLED;
		s.rigid_jobs += j->kind == FTH_JOB_RIGID;
		if (!fth_map_get(&users, j->user, NULL) && j->user) {
			fth_map_put(&users, j->user, 1);
			s.users++;
		}
	}
	for (size_t i = 0; i < w->kinds->list.len; i++) {
		fth_sym klass = w->kinds->list.data[i].klass;
		if (klass && !fth_map_get(&classes, klass, NULL)) {
			fth_map_put(&classes, klass, 1);
			s.classes++;
		}
	}
	if (w->jobs.len) {
		s.first_submit = w->jobs.data[0].submit;
		s.last_submit = w->jobs.data[w->jobs.len - 1].submit;
		s.runtime_mean_h = total / (double)w->jobs.len;
	}
	qsort(runtime, w->jobs.len, sizeof(*runtime), by_value);
	s.runtime_p50_h = quantile(runtime, w->jobs.len, 0.5);
	s.runtime_p80_h = quantile(runtime, w->jobs.len, 0.8);
	s.runtime_p95_h = quantile(runtime, w->jobs.len, 0.95);
	free(runtime);
	fth_map_release(&users);
	fth_map_release(&classes);
	*ret = s;
}

static bool kind_fits_somewhere(const struct fth_kind *k, const struct fth_catalog *c)
{
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_instance_type *t = &c->types[c->offers[i].type];
		const struct fth_alt *a = fth_kind_on_type(k, t);
		if (a && fth_res_fits(&a->demand, &t->capacity))
			return true;
	}
	return false;
}

int fth_workload_check_widths(const struct fth_workload *w, uint64_t most, const char *file, struct fth_error *err)
{
	for (size_t i = 0; i < w->jobs.len; i++) {
		const struct fth_job_spec *j = &w->jobs.data[i];
		uint64_t tasks = 0;
		for (uint32_t g = 0; j->kind == FTH_JOB_RIGID && g < j->ngroups; g++)
			tasks += w->groups.data[j->first_group + g].count;
		if (tasks > most)
			return fth_fail_at(err, -EINVAL, file, j->line, "job %s needs %llu machines at once, the cluster may have %llu (max_instances)",
					   fth_sym_str(w->syms, j->key), (unsigned long long)tasks, (unsigned long long)most);
	}
	return 0;
}

int fth_workload_check(const struct fth_workload *w, const struct fth_catalog *c, const char *file,
		       struct fth_error *err)
{
	for (uint32_t i = FTH_RES_EXTRA; i < w->kinds->nres; i++)
		if (i >= c->nres || c->res_names[i] != w->kinds->res_names[i])
			return fth_fail_at(err, -EINVAL, file, 0, "resource %s is not the catalog's resource %u",
					   fth_sym_str(w->syms, w->kinds->res_names[i]), i);
	char *fits = fth_alloc(w->kinds->list.len + 1); /* 0 not looked at, 1 fits, 2 does not */
	int r = 0;
	for (size_t i = 0; i < w->jobs.len && !r; i++) {
		const struct fth_job_spec *j = &w->jobs.data[i];
		for (uint32_t g = 0; g < j->ngroups && !r; g++) {
			fth_kind_id id = w->groups.data[j->first_group + g].kind;
			if (!fits[id])
				fits[id] = kind_fits_somewhere(&w->kinds->list.data[id], c) ? 1 : 2;
			if (fits[id] == 2)
				r = fth_fail_at(err, -EINVAL, file, j->line,
						"job %s: a task that no instance type of the catalog can hold",
						fth_sym_str(w->syms, j->key));
		}
	}
	free(fits);
	return r;
}
