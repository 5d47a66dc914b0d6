/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/profile.h"

const double fth_error_borders[] = {-75, -50, -25, -10, 10, 25, 50, 100, 200};

struct tally {
	struct fth_error_profile *p;
	FTH_VEC(double) off; /* absolute errors, percent */
};

static void judge(struct tally *t, fth_time estimate, fth_time runtime)
{
	t->p->tasks++;
	if (!estimate) {
		t->p->unknown++;
		return;
	}
	double e = 100 * ((double)estimate / (double)FTH_MAX(runtime, 1) - 1);
	size_t k = 0;
	while (k < FTH_ERROR_BUCKETS - 1 && e >= fth_error_borders[k])
		k++;
	t->p->bucket[k]++;
	t->p->within_25 += e >= -25 && e <= 25;
	t->p->within_half_to_double += e >= -50 && e <= 100;
	fth_vec_push(&t->off, e < 0 ? -e : e);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void finish(struct tally *t)
{
	double known = (double)t->off.len;
	if (t->off.len) {
		qsort(t->off.data, t->off.len, sizeof(double), by_value);
		t->p->median_abs = t->off.data[t->off.len / 2];
		t->p->within_25 *= 100 / known;
		t->p->within_half_to_double *= 100 / known;
	}
	fth_vec_release(&t->off);
}

static struct fth_runtime_job describe(const struct fth_workload *w, const struct fth_job_spec *j)
{
	fth_sym klass = j->ngroups ? w->kinds->list.data[w->groups.data[j->first_group].kind].klass : 0;
	const char *user = fth_sym_str(w->syms, j->user), *class = fth_sym_str(w->syms, klass);
	return (struct fth_runtime_job){
		.user = *user ? fth_hash_bytes(user, strlen(user), 2) | 1 : 0,
		.name = fth_runtime_name(fth_sym_str(w->syms, j->key)),
		.klass = *class ? fth_hash_bytes(class, strlen(class), 3) | 1 : 0,
		.hour = (unsigned)(j->submit / FTH_HOUR % 24),
	};
}

static fth_time mean_runtime(const struct fth_job_item *item)
{
	double sum = 0, n = 0;
	for (uint32_t g = 0; g < item->spec->ngroups; g++)
		for (uint32_t i = 0; i < item->groups[g].count; i++, n++)
			sum += (double)fth_item_work(item, g, i);
	return (fth_time)(sum / FTH_MAX(n, 1));
}

static void judge_job(const struct fth_job_item *item, struct tally *history, struct tally *told, fth_time guess)
{
	size_t n = 0;
	for (uint32_t g = 0; g < item->spec->ngroups; g++)
		n += item->groups[g].count;
	fth_time *estimates = fth_alloc((n + 1) * sizeof(*estimates));
	fth_item_estimates(item, item->spec->estimate, false, estimates);
	for (uint32_t g = 0, k = 0; g < item->spec->ngroups; g++)
		for (uint32_t i = 0; i < item->groups[g].count; i++, k++) {
			judge(history, guess, fth_item_work(item, g, i));
			judge(told, estimates[k], fth_item_work(item, g, i));
		}
	free(estimates);
}

void fth_predict_profile(const struct fth_workload *w, struct fth_predict_report *ret)
{
	*ret = (struct fth_predict_report){.jobs = w->jobs.len};
	struct fth_runtime_predictor *p = fth_predictor_new();
	struct tally history = {.p = &ret->history}, told = {.p = &ret->told};
	struct fth_workload_source source;
	struct fth_job_item item;
	struct fth_heap ends = {0};
	fth_workload_source_init(&source, w);
	while (source.base.next(&source.base, &item, NULL) > 0) {
		while (ends.len && ends.data[0].time <= item.spec->submit) {
			uint32_t k = fth_heap_pop(&ends).a;
			struct fth_job_item done = {.spec = &w->jobs.data[k], .works = w->works.data};
			done.groups = &w->groups.data[done.spec->first_group];
			struct fth_runtime_job job = describe(w, done.spec);
			fth_predictor_learn(p, &job, mean_runtime(&done));
		}
		struct fth_runtime_job job = describe(w, item.spec);
		struct fth_runtime_guess guess = fth_predictor_guess(p, &job);
		if (guess.runtime)
			ret->chosen[guess.feature][guess.estimator]++;
		judge_job(&item, &history, &told, guess.runtime);
		fth_heap_push(&ends, item.spec->submit + fth_item_runtime(&item), 0, (uint32_t)item.index, 0, 0);
	}
	finish(&history);
	finish(&told);
	fth_heap_release(&ends);
	fth_predictor_free(p);
}
