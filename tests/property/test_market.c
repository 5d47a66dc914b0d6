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


static struct law_watcher run(const struct fth_policy_ops *const *table, const char *policy,
			      const struct random_world_options *o, const char *sim, bool thorough)
{
	struct fth_world w;
	random_world(&w, o);
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	struct fth_policy_choice choice;
	struct fth_error err = {0};
	assert_int_equal(fth_policy_choose(&choice, table, policy, &err), 0);
	struct law_watcher laws;
	law_watcher_init(&laws, &w.catalog.pub, thorough);
	struct fth_engine *e = NULL;
	int code = fth_sim_run(&e, &w, &choice, NULL, &p, &laws.base, NULL, &err);
	if (code)
		print_error("%s, seed %llu: %s\n", policy, (unsigned long long)o->seed, err.text);
	assert_int_equal(code, 0);
	if (!laws_hold(&laws, e, true))
		print_error("%s, seed %llu: %s\n", policy, (unsigned long long)o->seed, laws.broken);
	assert_string_equal(laws.broken, "");
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return laws;
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
		const struct fth_policy_ops *const toy[] = {seed % 2 ? &toy_serve : &toy_mover, NULL};
		struct law_watcher laws = run(toy, toy[0]->name, &o, sim, true);
		struct law_watcher again = run(toy, toy[0]->name, &o, sim, true);
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

/* Policies for tasks that can wait, where spot instances are taken from them: all jobs end all the same, and a run again
 * takes the same way. Those with a world of their own (workers, rigid jobs, containers) are not here. */
static const char *const batch[] = {
	"farthing", "farthing:round=60s,moves_per_hour=2", "farthing:moves=false,max_wait=0", "farthing:pool=8,triples=4,committed=2",
	"farthing:interference=ignored,value=alone,waiting=0", "farthing:market=on-demand",
	"no-packing", "eva", "synergy", "owl", "stratus", "hotspot", "fleet", "fleet-diversified", "scloud", "eva-artifact",
	"stratus-artifact", "stratus:estimates=history", "stratus:groups=false", "stratus:booting=true", "stratus:down=false",
	"stratus:up=false", "stratus:patience=0,low=0.9", "stratus:readjust=false", "fleet:binpack=mem", "scloud:order=random",
	"scloud:packing=true", "scloud:packing=true,dot=largest", "scloud:packing=true,groups=true",
	"scloud:packing=true,groups=true,clearing=true", "scloud:packing=true,groups=true,clearing=true,binning=true",
	"tr", "on-demand", "on-demand+transient"};

static void batch_policies_survive_a_market(void **state)
{
	(void)state;
	for (size_t p = 0; p < FTH_COUNT(batch); p++)
		for (uint64_t seed = 50; seed < 53; seed++) {
			struct random_world_options o = {.seed = seed,
							 .jobs = 60,
							 .coupled = seed & 1,
							 .anti_affinity = seed & 2,
							 .drawn_delays = true,
							 .market = true};
			const char *sim = seed % 3 ? "revocation_rate=0.5" : "notice=10s";
			struct law_watcher laws = run(fth_policies, batch[p], &o, sim, false);
			struct law_watcher again = run(fth_policies, batch[p], &o, sim, false);
			assert_true(laws.hash == again.hash);
			law_watcher_release(&laws);
			law_watcher_release(&again);
		}
}

/* Services that stay, beside batch jobs of every kind that give way to them: all batch jobs end, whatever batch may rent. */
static void batch_ends_beside_services(void **state)
{
	(void)state;
	static const char *const as[] = {"farthing", "farthing:round=60s", "tr:availability=0.99", "tr:availability=0.99,batch=spot,pool=tr", "tr:availability=0.9,batch=on-demand,checkpoint=no,pool=tr-artifact",
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
		struct law_watcher laws = run(fth_policies, a, &o, seed % 5 ? "revocation_rate=0.1" : "notice=0s", false);
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
