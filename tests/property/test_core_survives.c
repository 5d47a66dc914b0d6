/* SPDX-License-Identifier: Apache-2.0 */
/* The core against policies that do nothing, lie, sleep, fail, hoard and move about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

struct outcome {
	int code;
	uint64_t rejected, done_jobs, jobs, hash;
	bool fell_back;
	uint32_t live_instances;
	char broken[256];
};

static struct outcome run_toy(const struct fth_policy_ops *ops, uint64_t seed, const char *sim_params)
{
	struct fth_world w;
	struct random_world_options o = {.seed = seed, .jobs = 60, .coupled = seed % 2, .by_family = seed % 3 == 0,
					 .drawn_delays = seed % 2, .step = seed % 4 < 2, .anti_affinity = true};
	random_world(&w, &o);
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim_params, NULL), 0);
	struct fth_policy_choice choice = {.ops = ops};
	struct law_watcher laws;
	law_watcher_init(&laws, &w.catalog.pub, true);
	struct fth_engine *e = NULL;
	struct fth_error err = {0};
	struct outcome r = {.jobs = o.jobs};
	r.code = fth_sim_run(&e, &w, &choice, &fth_policy_no_packing, &p, &laws.base, NULL, &err);
	assert_non_null(e);
	laws_hold(&laws, e, r.code == 0);
	r.rejected = fth_engine_stats(e)->rejected;
	r.fell_back = fth_engine_stats(e)->fell_back;
	r.done_jobs = laws.done_jobs;
	r.hash = laws.hash;
	r.live_instances = fth_engine_cluster(e)->view.ninstances;
	memcpy(r.broken, laws.broken, sizeof(r.broken));
	fth_engine_free(e);
	law_watcher_release(&laws);
	fth_world_release(&w);
	return r;
}

static void do_nothing_is_seen_to_be_stuck(void **state)
{
	(void)state;
	struct outcome r = run_toy(&toy_do_nothing, 1, "");
	assert_int_equal(r.code, -EDEADLK);
	assert_string_equal(r.broken, "");
	assert_int_equal(r.done_jobs, 0);
}

static void endless_waking_is_seen_to_be_stuck(void **state)
{
	(void)state;
	assert_int_equal(run_toy(&toy_waker, 1, "").code, -EDEADLK);
}

static void a_liar_is_refused_and_the_rest_of_its_plan_stands(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct outcome r = run_toy(&toy_liar, seed, "");
		assert_string_equal(r.broken, "");
		assert_int_equal(r.code, 0);
		assert_int_equal(r.done_jobs, r.jobs);
		assert_true(r.rejected > 100);
		assert_true(r.hash == run_toy(&toy_liar, seed, "").hash);
	}
}

static void a_sleeper_is_replaced(void **state)
{
	(void)state;
	struct outcome r = run_toy(&toy_sleeper, 2, "decide_limit=5ms");
	assert_true(r.fell_back);
	assert_int_equal(r.code, 0);
	assert_int_equal(r.done_jobs, r.jobs);
	assert_string_equal(r.broken, "");
}

static void a_failing_policy_is_replaced_where_it_stands(void **state)
{
	(void)state;
	struct outcome r = run_toy(&toy_failing, 3, "");
	assert_true(r.fell_back);
	assert_int_equal(r.code, 0);
	assert_int_equal(r.done_jobs, r.jobs);
	assert_string_equal(r.broken, "");
}

static void a_hoarder_meets_the_limit(void **state)
{
	(void)state;
	struct outcome r = run_toy(&toy_launch_all, 4, "max_instances=120");
	assert_int_equal(r.code, -EDEADLK);
	assert_int_equal(r.live_instances, 120);
	assert_true(r.rejected > 0);
	assert_string_equal(r.broken, "");
}

static void moving_about_breaks_no_law(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const char *sim = seed % 3 == 0 ? "launch_failure=0.2" : "";
		struct outcome r = run_toy(&toy_mover, seed, sim);
		assert_string_equal(r.broken, "");
		assert_int_equal(r.code, 0);
		assert_int_equal(r.done_jobs, r.jobs);
		assert_true(r.hash == run_toy(&toy_mover, seed, sim).hash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(do_nothing_is_seen_to_be_stuck),
		cmocka_unit_test(endless_waking_is_seen_to_be_stuck),
		cmocka_unit_test(a_liar_is_refused_and_the_rest_of_its_plan_stands),
		cmocka_unit_test(a_sleeper_is_replaced),
		cmocka_unit_test(a_failing_policy_is_replaced_where_it_stands),
		cmocka_unit_test(a_hoarder_meets_the_limit),
		cmocka_unit_test(moving_about_breaks_no_law),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
