/* SPDX-License-Identifier: Apache-2.0 */
/* No run of any policy on any random world costs less than the bound: families, coupled and rigid jobs, drawn delays,
 * progress in steps, spot prices and revocations, with interference and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

struct launches {
	struct fth_observer base;
	uint64_t tasks;
};

static void count(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	((struct launches *)o)->tasks += ev->kind == FTH_EV_TASK_STARTING;
}

/* Returns the run's cost over the bound. */
static double run(const struct fth_policy_ops *ops, const struct fth_world *w, const char *sim)
{
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	const struct fth_policy_ops *const table[] = {ops, NULL};
	struct fth_policy_choice choice;
	struct fth_error err = {0};
	assert_int_equal(fth_policy_choose(&choice, table, ops->name, &err), 0);
	struct launches l = {.base = {.after_event = count}};
	struct fth_engine *e = NULL;
	assert_int_equal(fth_sim_run(&e, w, &choice, NULL, &p, &l.base, NULL, &err), 0);
	double ratio = cost_over_bound(w, &p, e, l.tasks);
	if (ratio < 0)
		fail_msg("%s costs %.9f: less than the bound", ops->name, fth_usd(fth_engine_ledger(e)->total));
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return ratio;
}

/* Those that need worlds of their own (workers, rigid jobs, containers) have tests of their own. */
static bool is_special(const struct fth_policy_ops *ops)
{
	for (const struct fth_policy_ops *const *p = fth_batch_policies; *p; p++)
		if (*p == ops)
			return true;
	return ops->flags & (FTH_POLICY_WANTS_WORKERS | FTH_POLICY_WANTS_CONTAINERS);
}

static void no_policy_costs_less(void **state)
{
	(void)state;
	double nearest = 1e9;
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++)
		for (uint64_t seed = 1; seed <= 16 && !is_special(*p); seed++) {
			struct fth_world w;
			struct random_world_options o = {.seed = 200 + seed, .jobs = 40, .coupled = seed & 1, .by_family = seed & 2,
							 .drawn_delays = seed & 4, .step = seed & 8};
			random_world(&w, &o);
			w.has_profile = seed % 5 != 0;
			double ratio = run(*p, &w, seed % 3 == 0 ? "job_delay_spread=0.2" : seed % 7 == 0 ? "pair_speed=0.9" : "");
			nearest = ratio < nearest ? ratio : nearest;
			fth_world_release(&w);
		}
	/* A bound that is far below everything would pass too. */
	assert_true(nearest < 1.3);
}

static void nor_do_those_that_wander(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct fth_world w;
		struct random_world_options o = {.seed = 300 + seed, .jobs = 40, .coupled = seed & 1, .rigid = seed & 2,
						 .by_family = seed & 4, .step = seed & 8, .drawn_delays = seed & 16, .market = seed % 3 == 0};
		random_world(&w, &o);
		run(seed & 1 ? &toy_mover : &toy_serve, &w, seed % 5 == 0 ? "revocation_rate=0.2" : "");
		fth_world_release(&w);
	}
}

/* One task that holds a whole machine for a day costs next to nothing beside the bound. */
static void it_can_be_reached(void **state)
{
	(void)state;
	struct fth_world w;
	struct random_world_options o = {.seed = 1, .jobs = 1};
	random_world(&w, &o);
	w.workload.groups.data[0].work = 1000 * FTH_HOUR;
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = w.catalog.types.data[0].capacity};
	struct fth_kind k = {.nalts = 1, .alts = &alt};
	w.workload.groups.data[0].kind = fth_kinds_intern(&w.kinds, &k);
	assert_true(run(&fth_policy_no_packing, &w, "") < 1.001);
	fth_world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_policy_costs_less),
		cmocka_unit_test(nor_do_those_that_wander),
		cmocka_unit_test(it_can_be_reached),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
