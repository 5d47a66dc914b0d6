/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in which spot prices pass bids, probes fail and instances are taken at random: the laws hold, every task
 * ends once, and the ledger is the integral of the prices over the lives of the instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"


static struct law_watcher run_as(const struct fth_policy_ops *ops, const char *as, const struct random_world_options *o, const char *sim,
				 bool thorough)
{
	struct fth_world w;
	random_world(&w, o);
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	const struct fth_policy_ops *const table[] = {ops, NULL};
	struct fth_policy_choice choice;
	struct fth_error err = {0};
	assert_int_equal(fth_policy_choose(&choice, table, as, &err), 0);
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
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return laws;
}

static struct law_watcher run(const struct fth_policy_ops *ops, const struct random_world_options *o, const char *sim, bool thorough)
{
	return run_as(ops, ops->name, o, sim, thorough);
}

static void laws_hold_while_instances_are_taken(void **state)
{
	(void)state;
	size_t taken = 0, changes = 0;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct random_world_options o = {.seed = seed,
						 .jobs = 60,
						 .coupled = seed & 1,
						 .rigid = seed & 2,
						 .by_family = seed & 4,
						 .step = seed & 8,
						 .drawn_delays = true,
						 .market = true};
		const char *sim = seed % 3 == 0 ? "notice=0s" : seed % 3 == 1 ? "revocation_rate=0.3" : "launch_failure=0.1";
		struct law_watcher laws = run(seed % 2 ? &toy_serve : &toy_mover, &o, sim, true);
		struct law_watcher again = run(seed % 2 ? &toy_serve : &toy_mover, &o, sim, true);
		assert_true(laws.hash == again.hash);
		taken += laws.cut.len;
		changes += laws.prices.len;
		law_watcher_release(&laws);
		law_watcher_release(&again);
	}
	/* Or the test has shown nothing. */
	assert_true(taken > 100);
	assert_true(changes > 1000);
}

/* Policies for tasks that can wait, where spot instances are taken from them: all jobs end all the same. Those with
 * a world of their own (workers, rigid jobs) are not here. */
static bool is_for_batch(const struct fth_policy_ops *ops)
{
	static const char *const names[] = {"farthing", "no-packing", "eva", "synergy", "owl", "stratus", "hotspot", "fleet",
					    "fleet-diversified", "scloud", "fargate", "eva-artifact", "stratus-artifact",
					    "tr", "on-demand", "on-demand+transient"};
	for (size_t i = 0; i < FTH_COUNT(names); i++)
		if (!strcmp(ops->name, names[i]))
			return true;
	return false;
}

static void batch_policies_survive_a_market(void **state)
{
	(void)state;
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++)
		for (uint64_t seed = 50; seed < 53 && is_for_batch(*p); seed++) {
			struct random_world_options o = {.seed = seed,
							 .jobs = 60,
							 .coupled = seed & 1,
							 .anti_affinity = seed & 2,
							 .drawn_delays = true,
							 .market = true};
			struct law_watcher laws = run(*p, &o, seed % 3 ? "revocation_rate=0.5" : "notice=10s", false);
			law_watcher_release(&laws);
		}
}

/* Services that stay, beside batch jobs of every kind that give way to them: all batch jobs end, whatever batch may rent. */
static void batch_ends_beside_services(void **state)
{
	(void)state;
	static const char *const as[] = {"tr:availability=0.99", "tr:availability=0.99,batch=spot,pool=tr", "tr:availability=0.9,batch=on-demand,checkpoint=no,pool=tr-artifact",
					 "on-demand", "on-demand+transient", "on-demand:batch=stuck"};
	for (uint64_t seed = 60; seed < 78; seed++) {
		struct random_world_options o = {.seed = seed,
						 .jobs = 60,
						 .coupled = seed & 1,
						 .rigid = seed & 2,
						 .anti_affinity = seed & 4,
						 .drawn_delays = true,
						 .market = true,
						 .services = true};
		const char *a = as[seed % FTH_COUNT(as)];
		const struct fth_policy_ops *ops = a[0] == 't' ? &fth_policy_tr : a[9] == '+' ? &fth_policy_on_demand_transient : &fth_policy_on_demand;
		struct law_watcher laws = run_as(ops, a, &o, seed % 5 ? "revocation_rate=0.1" : "notice=0s", false);
		law_watcher_release(&laws);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laws_hold_while_instances_are_taken),
		cmocka_unit_test(batch_policies_survive_a_market),
		cmocka_unit_test(batch_ends_beside_services),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
