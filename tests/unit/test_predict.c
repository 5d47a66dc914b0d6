/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes: predicted from history, and told with errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/workload.h"
#include "predict/profile.h"

static struct fth_runtime_job job(uint64_t user, uint64_t name, unsigned hour)
{
	return (struct fth_runtime_job){.user = user, .name = name, .hour = hour};
}

static void nothing_is_known_at_first(void **state)
{
	(void)state;
	struct fth_runtime_predictor *p = fth_predictor_new();
	struct fth_runtime_job a = job(1, 2, 3);
	assert_int_equal(fth_predictor_guess(p, &a).runtime, 0);
	fth_predictor_learn(p, &a, 90 * FTH_SEC);
	assert_int_equal(fth_predictor_guess(p, &a).runtime, 90 * FTH_SEC);
	/* Another's first job: all that is known is that jobs last so long. */
	struct fth_runtime_job b = job(9, 9, 9);
	assert_int_equal(fth_predictor_guess(p, &b).runtime, 90 * FTH_SEC);
	assert_int_equal(fth_predictor_guess(p, &b).feature, FTH_FEATURE_ALL);
	fth_predictor_free(p);
}

static void the_feature_that_tells_most_speaks(void **state)
{
	(void)state;
	struct fth_runtime_predictor *p = fth_predictor_new();
	/* One user, two names: "long" jobs take an hour, "short" ones a minute. */
	for (int i = 0; i < 40; i++) {
		struct fth_runtime_job j = job(1, i % 2 ? 10 : 20, (unsigned)i % 24);
		fth_predictor_learn(p, &j, i % 2 ? FTH_HOUR : FTH_MINUTE);
	}
	struct fth_runtime_job j = job(1, 10, 5);
	struct fth_runtime_guess g = fth_predictor_guess(p, &j);
	assert_int_equal(g.runtime, FTH_HOUR);
	assert_true(g.feature <= FTH_FEATURE_NAME);
	j.name = 20;
	assert_int_equal(fth_predictor_guess(p, &j).runtime, FTH_MINUTE);
	fth_predictor_free(p);
}

static void the_estimator_that_errs_least_speaks(void **state)
{
	(void)state;
	struct fth_runtime_predictor *p = fth_predictor_new();
	/* Mostly ten minutes, now and then a day: the mean is off, the median is not. */
	struct fth_runtime_job j = job(1, 2, 3);
	for (int i = 0; i < 60; i++)
		fth_predictor_learn(p, &j, i % 7 == 3 ? FTH_DAY : 10 * FTH_MINUTE);
	struct fth_runtime_guess g = fth_predictor_guess(p, &j);
	assert_int_equal(g.runtime, 10 * FTH_MINUTE);
	assert_int_equal(g.estimator, FTH_BY_MEDIAN);
	fth_predictor_free(p);
}

static void names_repeat_without_their_numbers(void **state)
{
	(void)state;
	assert_true(fth_runtime_name("etl-2024-03-01") == fth_runtime_name("etl_17"));
	assert_true(fth_runtime_name("etl-1") != fth_runtime_name("train-1"));
	assert_int_equal(fth_runtime_name("12345"), 0);
	assert_int_equal(fth_runtime_name(""), 0);
}

static void estimates_are_told_as_the_workload_says(void **state)
{
	(void)state;
	fth_time works[] = {100 * FTH_SEC, 300 * FTH_SEC}, out[2], again[2];
	struct fth_task_group g = {.count = 2, .first_own = 0};
	struct fth_job_spec spec = {.ngroups = 1};
	struct fth_told told = {0};
	struct fth_job_item item = {.spec = &spec, .groups = &g, .works = works, .told = &told, .index = 5};
	fth_item_estimates(&item, 42, false, out);
	assert_true(out[0] == 42 && out[1] == 42);
	fth_item_estimates(&item, 42, true, out);
	assert_true(out[0] == works[0] && out[1] == works[1]);
	assert_int_equal(fth_item_estimate(&item, 42, true), works[1]);
	for (uint64_t i = 0; i < 200; i++) {
		item.index = i;
		told = (struct fth_told){.by = FTH_TOLD_WITHIN, .error = i % 2 ? 0.01 : 100, .seed = 3};
		fth_item_estimates(&item, 0, false, out);
		fth_item_estimates(&item, 0, false, again);
		assert_memory_equal(out, again, sizeof(out));
		for (int k = 0; k < 2; k++) {
			double ratio = (double)out[k] / (double)works[k];
			assert_true(i % 2 ? ratio >= 0.0099 && ratio <= 1 : ratio >= 1 && ratio <= 100);
		}
		told = (struct fth_told){.by = FTH_TOLD_LOGNORMAL, .error = 0.5, .seed = 3};
		fth_item_estimates(&item, 0, false, out);
		assert_true(out[0] == out[1] && out[0] > 0); /* one draw a job */
	}
	/* An error that no clock can hold stays within time. */
	told = (struct fth_told){.by = FTH_TOLD_WITHIN, .error = 1e300, .seed = 1};
	fth_item_estimates(&item, 0, false, out);
	assert_true(out[0] > 0 && out[0] < FTH_NEVER / 4);
	/* h = 1 is perfect knowledge. */
	told = (struct fth_told){.by = FTH_TOLD_WITHIN, .error = 1, .seed = 1};
	fth_item_estimates(&item, 0, false, out);
	assert_true(out[0] == works[0] && out[1] == works[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(the_feature_that_tells_most_speaks),
		cmocka_unit_test(the_estimator_that_errs_least_speaks),
		cmocka_unit_test(names_repeat_without_their_numbers),
		cmocka_unit_test(estimates_are_told_as_the_workload_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
