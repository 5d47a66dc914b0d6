/* SPDX-License-Identifier: Apache-2.0 */
/* Every registered policy on random worlds: the laws hold, nothing of its plans is refused, all jobs end, and the
 * same seed gives the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

static uint64_t run_policy(const struct fth_policy_ops *ops, const struct random_world_options *o, const char *sim,
			   bool thorough)
{
	struct fth_world w;
	random_world(&w, o);
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	struct fth_policy_choice choice;
	struct fth_error err = {0};
	assert_int_equal(fth_policy_choose(&choice, fth_policies, ops->name, &err), 0);
	struct law_watcher laws;
	law_watcher_init(&laws, &w.catalog.pub, thorough);
	struct fth_engine *e = NULL;
	int code = fth_sim_run(&e, &w, &choice, NULL, &p, &laws.base, NULL, &err);
	if (code)
		print_error("%s, seed %llu: %s\n", ops->name, (unsigned long long)o->seed, err.text);
	assert_int_equal(code, 0);
	if (!laws_hold(&laws, e, true))
		print_error("%s, seed %llu: %s\n", ops->name, (unsigned long long)o->seed, laws.broken);
	assert_string_equal(laws.broken, "");
	const struct fth_engine_stats *st = fth_engine_stats(e);
	for (int i = 0; i < FTH_REFUSED_NKINDS; i++)
		if (st->rejected_by[i])
			print_error("%s, seed %llu: %llu refused: %s\n", ops->name, (unsigned long long)o->seed,
				    (unsigned long long)st->rejected_by[i], fth_refusal_name((enum fth_refusal)i));
	assert_int_equal(st->rejected, 0);
	assert_int_equal(fth_engine_cluster(e)->view.ninstances, 0);
	uint64_t hash = laws.hash;
	fth_engine_free(e);
	law_watcher_release(&laws);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return hash;
}

/* Those that keep a set of workers or buy containers, and those for rigid jobs (one type that holds every task, whole nodes), have worlds and
 * property tests of their own: test_hybrid.c, test_sec.c. */
static bool is_special(const struct fth_policy_ops *ops)
{
	for (const struct fth_policy_ops *const *p = fth_batch_policies; *p; p++)
		if (*p == ops)
			return true;
	return ops->flags & (FTH_POLICY_WANTS_WORKERS | FTH_POLICY_WANTS_CONTAINERS);
}

static void laws_hold_for_every_policy(void **state)
{
	(void)state;
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++)
		for (uint64_t seed = 1; seed <= 16 && !is_special(*p); seed++) {
			struct random_world_options o = {.seed = seed,
							 .jobs = 40 + (uint32_t)seed * 5,
							 .coupled = seed & 1,
							 .by_family = seed & 2,
							 .drawn_delays = seed & 4,
							 .step = seed & 8};
			run_policy(*p, &o, seed % 5 == 0 ? "launch_failure=0.1" : "", true);
		}
}

/* Where tasks keep apart and there is one type, on demand and spot, places are often only free once another has left. */
static void those_that_keep_apart_are_not_left_waiting(void **state)
{
	(void)state;
	for (uint64_t seed = 500; seed < 516; seed++) {
		struct random_world_options o = {.seed = seed,
						 .jobs = 24,
						 .anti_affinity = true,
						 .one_type = true,
						 .coupled = seed & 1,
						 .rigid = seed & 2,
						 .step = seed & 4,
						 .market = seed & 8};
		run_policy(&fth_policy_farthing, &o, "", true);
	}
}

static void same_seed_same_bytes(void **state)
{
	(void)state;
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++)
		for (uint64_t seed = 100; seed < 104 && !is_special(*p); seed++) {
			struct random_world_options o = {
				.seed = seed, .jobs = 120, .coupled = true, .by_family = seed & 1, .drawn_delays = true};
			assert_true(run_policy(*p, &o, "", false) == run_policy(*p, &o, "", false));
		}
}

static void names_and_parameters_are_in_order(void **state)
{
	(void)state;
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++) {
		assert_int_equal((*p)->abi, FTH_POLICY_ABI);
		assert_true((*p)->summary && (*p)->summary[0]);
		for (const struct fth_policy_ops *const *q = fth_policies; q != p; q++)
			assert_string_not_equal((*p)->name, (*q)->name);
		struct fth_policy_choice c;
		assert_int_equal(fth_policy_choose(&c, fth_policies, (*p)->name, NULL), 0);
		for (const struct fth_param *f = (*p)->params; f && f->name; f++)
			assert_true(f->help && f->help[0] && f->offset < (*p)->params_size);
		fth_policy_choice_release(&c);
	}
	struct fth_error err;
	struct fth_policy_choice c;
	assert_int_equal(fth_policy_choose(&c, fth_policies, "no-such", &err), -EINVAL);
	assert_int_equal(fth_policy_choose(&c, fth_policies, "no-packing:nonsense=1", &err), -EINVAL);
	assert_non_null(strstr(err.text, "nonsense"));
	assert_int_equal(fth_policy_choose(&c, fth_policies, "no-packing:round=-5s", &err), -EINVAL);
}

struct stops {
	struct fth_observer base;
	FTH_VEC(fth_time) at;
};

static void note_stop(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	if (ev->kind == FTH_EV_TASK_STOPPED)
		fth_vec_push(&((struct stops *)o)->at, ev->time);
}

static size_t stops_of(struct stops *l, const struct fth_world *w, const char *policy)
{
	struct fth_sim_params p = {0};
	struct fth_policy_choice choice;
	struct fth_engine *e = NULL;
	struct fth_error err = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	*l = (struct stops){.base = {.after_event = note_stop}};
	assert_int_equal(fth_policy_choose(&choice, fth_policies, policy, &err), 0);
	assert_int_equal(fth_sim_run(&e, w, &choice, NULL, &p, &l->base, NULL, &err), 0);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return l->at.len;
}

/* At most so many moves in any hour, give or take the seconds a task takes to stop. */
static void a_disruption_budget_is_kept(void **state)
{
	(void)state;
	size_t without = 0, with = 0, none = 0;
	for (uint64_t seed = 400; seed < 404; seed++) {
		struct random_world_options o = {.seed = seed, .jobs = 150};
		struct fth_world w;
		struct stops l;
		random_world(&w, &o);
		without += stops_of(&l, &w, "farthing:round=60s");
		fth_vec_release(&l.at);
		none += stops_of(&l, &w, "farthing:round=60s,moves=false");
		fth_vec_release(&l.at);
		with += stops_of(&l, &w, "farthing:round=60s,moves_per_hour=3");
		for (size_t i = 0; i + 3 < l.at.len; i++)
			assert_true(l.at.data[i + 3] - l.at.data[i] > FTH_HOUR - FTH_MINUTE);
		fth_vec_release(&l.at);
		fth_world_release(&w);
	}
	assert_int_equal(none, 0);
	assert_true(with > 0);
	assert_true(without > with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_parameters_are_in_order),
		cmocka_unit_test(laws_hold_for_every_policy),
		cmocka_unit_test(those_that_keep_apart_are_not_left_waiting),
		cmocka_unit_test(same_seed_same_bytes),
		cmocka_unit_test(a_disruption_budget_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
