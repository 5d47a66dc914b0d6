/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of tasks' runtimes: exactly, or with errors drawn per job and task. */
#include "model/workload.h"

enum { DRAW_TASK = 201, DRAW_JOB = 202 };
/* Longer than any file may say; keeps sums of estimates far from the end of time. */
static const fth_time LONGEST = 365250 * FTH_DAY;

fth_time fth_item_work(const struct fth_job_item *item, uint32_t g, uint32_t i)
{
	const struct fth_task_group *group = &item->groups[g];
	if (item->spec->iter_rate > 0)
		return (fth_time)((double)item->spec->iters / item->spec->iter_rate * 1e6);
	return group->first_own == FTH_NONE ? group->work : item->works[group->first_own + i];
}

fth_time fth_item_runtime(const struct fth_job_item *item)
{
	fth_time longest = 0;
	for (uint32_t g = 0; g < item->spec->ngroups; g++)
		for (uint32_t i = 0; i < (item->groups[g].first_own == FTH_NONE ? 1 : item->groups[g].count); i++)
			longest = FTH_MAX(longest, fth_item_work(item, g, i));
	return longest;
}

static fth_time scaled(fth_time t, double factor)
{
	double x = (double)t * factor;
	return x >= (double)LONGEST ? LONGEST : x < 1 ? 1 : (fth_time)x;
}

static fth_time mean_work(const struct fth_job_item *item)
{
	double sum = 0, n = 0;
	for (uint32_t g = 0; g < item->spec->ngroups; g++)
		for (uint32_t i = 0; i < item->groups[g].count; i++, n++)
			sum += (double)fth_item_work(item, g, i);
	return (fth_time)(sum / FTH_MAX(n, 1));
}

void fth_item_estimates(const struct fth_job_item *item, fth_time given, bool exactly, fth_time *out)
{
	static const struct fth_told as_wanted;
	const struct fth_told *told = item->told ? item->told : &as_wanted;
	exactly = told->by == FTH_TOLD_EXACTLY || (exactly && told->by == FTH_TOLD_AS_WANTED);
	fth_time base = 0;
	struct fth_rng rng;
	if (told->by == FTH_TOLD_LOGNORMAL) {
		fth_rng_seed(&rng, (uint64_t)told->seed, DRAW_JOB, item->index);
		base = scaled(mean_work(item), fth_exp(told->error * fth_rng_normal(&rng)));
	}
	if (told->by > FTH_TOLD_EXACTLY)
		fth_rng_seed(&rng, (uint64_t)told->seed, DRAW_TASK, item->index);
	for (uint32_t g = 0, n = 0; g < item->spec->ngroups; g++)
		for (uint32_t i = 0; i < item->groups[g].count; i++, n++) {
			if (told->by == FTH_TOLD_WITHIN)
				out[n] = scaled(fth_item_work(item, g, i), 1 + (told->error - 1) * fth_rng_real(&rng));
			else if (told->by == FTH_TOLD_LOGNORMAL)
				out[n] = told->spread > 0 ? scaled(base, fth_exp(told->spread * fth_rng_normal(&rng))) : base;
			else
				out[n] = exactly ? fth_item_work(item, g, i) : given;
		}
}

fth_time fth_item_estimate(const struct fth_job_item *item, fth_time given, bool exactly)
{
	fth_time longest = 0;
	size_t n = 0;
	if (!item->told || item->told->by == FTH_TOLD_AS_WANTED)
		return exactly ? fth_item_runtime(item) : given;
	if (item->told->by == FTH_TOLD_AS_GIVEN)
		return given;
	for (uint32_t g = 0; g < item->spec->ngroups; g++)
		n += item->groups[g].count;
	fth_time *all = fth_alloc(n * sizeof(*all));
	fth_item_estimates(item, given, exactly, all);
	for (size_t i = 0; i < n; i++)
		longest = FTH_MAX(longest, all[i]);
	free(all);
	return longest;
}
