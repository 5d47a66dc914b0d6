/* SPDX-License-Identifier: Apache-2.0 */
/* Instance clearing and moves for price from end to end, on cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/table.h"
#include "sim/sim.h"
#include "trace/trace.h"

/* When instances were asked for and tasks were told to move, in seconds. */
struct watch {
	struct fth_observer base;
	double launched[8], moved[32];
	size_t nlaunched, nmoved;
	fth_instance_id to[32];
};

static void on_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
		    const uint8_t *verdicts, const struct fth_action *acts, size_t n)
{
	struct watch *w = (struct watch *)o;
	(void)c;
	(void)plan;
	(void)verdicts;
	for (size_t k = 0; k < n; k++) {
		if (acts[k].kind == FTH_ACT_LAUNCH && w->nlaunched < FTH_COUNT(w->launched))
			w->launched[w->nlaunched++] = (double)now / 1e6;
		if (acts[k].kind == FTH_ACT_MIGRATE && w->nmoved < FTH_COUNT(w->moved)) {
			w->to[w->nmoved] = acts[k].instance;
			w->moved[w->nmoved++] = (double)now / 1e6;
		}
	}
}

static struct watch run(const char *catalog, const char *workload, const char *market, const char *policy)
{
	struct fth_world w;
	struct fth_error err = {0};
	struct fth_input *in;
	struct fth_policy_choice choice;
	struct fth_sim_params p = {0};
	struct fth_engine *e = NULL;
	struct watch seen = {.base = {.on_plan = on_plan}};
	fth_world_init(&w);
	assert_int_equal(fth_input_open_memory(&in, "catalog", catalog, strlen(catalog), &err), 0);
	assert_int_equal(fth_read_catalog(&w.catalog, in, FTH_FORMAT_FARTHING_CATALOG, NULL, &err), 0);
	fth_input_close(in);
	assert_int_equal(fth_input_open_memory(&in, "workload", workload, strlen(workload), &err), 0);
	int r = fth_read_workload(&w.workload, in, FTH_FORMAT_FARTHING_WORKLOAD, NULL, &err);
	if (r)
		print_error("%s\n", err.text);
	assert_int_equal(r, 0);
	fth_input_close(in);
	if (market) {
		assert_int_equal(fth_input_open_memory(&in, "market", market, strlen(market), &err), 0);
		assert_int_equal(fth_read_market(&w.market, &w.catalog, in, FTH_FORMAT_SPOT_CSV, &(struct fth_market_options){0}, &err), 0);
		fth_input_close(in);
		w.has_market = true;
	}
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_policy_choose(&choice, fth_policies, policy, &err), 0);
	r = fth_sim_run(&e, &w, &choice, NULL, &p, &seen.base, NULL, &err);
	if (r)
		print_error("%s\n", err.text);
	assert_int_equal(r, 0);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return seen;
}

/* A large machine for sixteen tasks, of which one stays: then a small one is enough. No boot, no pauses. */
static const char two_types[] = "farthing-catalog 1\n"
				"type large family=m holds=cpu:16,mem:16GiB\n"
				"type small family=m holds=cpu:2,mem:2GiB\n"
				"offer large price=0.6\n"
				"offer small price=0.1\n";
static const char one_stays[] = "farthing-workload 1\n"
				"workload estimates=given\n"
				"kind k any=cpu:1,mem:1GiB\n"
				"job short submit=0s estimate=10h tasks=15xk:600s\n"
				"job long submit=0s estimate=10h tasks=1xk:36000s\n";

static void cleared_when_under_used_for_more_than_three_rounds(void **state)
{
	(void)state;
	/* Told alike, all sixteen share the large one: 16/0.6 beats 2/0.1. From 600 s on it is used by a sixteenth: rounds at
	 * 660, 720 and 780 are not more than three, the one at 840 is. The small one is ready at once, and taken at 900. */
	struct watch w = run(two_types, one_stays, NULL, "stratus");
	assert_int_equal(w.nlaunched, 2);
	assert_true(w.launched[1] == 840);
	assert_int_equal(w.nmoved, 1);
	assert_int_equal(w.to[0], 1);
	w = run(two_types, one_stays, NULL, "stratus:patience=0");
	assert_true(w.nlaunched == 2 && w.launched[1] == 660);
	w = run(two_types, one_stays, NULL, "stratus:patience=10");
	assert_true(w.nlaunched == 2 && w.launched[1] == 1260);
}

static void not_cleared_when_it_is_not_worth_it(void **state)
{
	(void)state;
	/* A sixteenth is not below a twentieth; and it can be switched off. */
	assert_int_equal(run(two_types, one_stays, NULL, "stratus:low=0.05").nlaunched, 1);
	assert_int_equal(run(two_types, one_stays, NULL, "stratus:clearing=false").nlaunched, 1);
	/* What remains must be more than spin-up and migration: told 10 h, it is 35,160 s at 840 s. */
	assert_int_equal(run(two_types, one_stays, NULL, "stratus:spin_up=9.7h").nmoved, 1);
	assert_int_equal(run(two_types, one_stays, NULL, "stratus:spin_up=9.8h").nmoved, 0);
	/* No other instance is cheaper. */
	static const char dear[] = "farthing-catalog 1\n"
				   "type large family=m holds=cpu:16,mem:16GiB\n"
				   "type small family=m holds=cpu:2,mem:2GiB\n"
				   "offer large price=0.6\n"
				   "offer small price=0.61\n";
	assert_int_equal(run(dear, one_stays, NULL, "stratus").nlaunched, 1);
}

static void moves_to_what_is_there_first_all_or_none(void **state)
{
	(void)state;
	/* Sixteen and fifteen on two large ones. Each keeps a long task: the first to be cleared (both cost alike, so the older)
	 * sends it to the other, which is no longer settled then; no small one is bought. */
	static const char both[] = "farthing-workload 1\n"
				   "workload estimates=given\n"
				   "kind k any=cpu:1,mem:1GiB\n"
				   "job short submit=0s estimate=10h tasks=30xk:600s\n"
				   "job long submit=0s estimate=10h tasks=2xk:36000s\n";
	static const char large_only[] = "farthing-catalog 1\n"
					 "type large family=m holds=cpu:16,mem:16GiB\n"
					 "type wide family=m holds=cpu:17,mem:17GiB\n"
					 "offer large price=0.6\n"
					 "offer wide price=9\n";
	struct watch w = run(large_only, both, NULL, "stratus");
	assert_int_equal(w.nlaunched, 2);
	/* Both long tasks, submitted last, are on the second one: nothing else is there to go to, nothing is cheaper. */
	assert_int_equal(w.nmoved, 0);
	static const char apart[] = "farthing-workload 1\n"
				    "workload estimates=given\n"
				    "kind k any=cpu:1,mem:1GiB\n"
				    "job a submit=0s estimate=10h tasks=1xk:36000s\n"
				    "job b submit=0s estimate=10h tasks=30xk:600s\n"
				    "job c submit=0s estimate=10h tasks=1xk:36000s\n";
	w = run(large_only, apart, NULL, "stratus");
	assert_int_equal(w.nlaunched, 2);
	assert_int_equal(w.nmoved, 1);
	assert_true(w.moved[0] == 840);
	assert_int_equal(w.to[0], 1);
}

static void hotspot_moves_when_another_type_becomes_cheaper_and_it_pays(void **state)
{
	(void)state;
	static const char catalog[] = "farthing-catalog 1\n"
				      "type a family=m holds=cpu:2,mem:2GiB\n"
				      "type b family=m holds=cpu:2,mem:2GiB\n"
				      "offer a price=1\n"
				      "offer b price=1\n";
	static const char task[] = "farthing-workload 1\n"
				   "kind k stop=300s save=300s any=cpu:2,mem:2GiB\n"
				   "job j submit=0s tasks=1xk:7200s\n";
	/* a is the cheaper one until b falls at an hour to 0.2: staying costs 0.5 for the hour left, moving 0.5/6 + 0.2 x 7/6. */
	static const char falls[] = "epoch,az,instance_type,price\n0,z,a,0.5\n0,z,b,0.6\n3600,z,b,0.2\n";
	struct watch w = run(catalog, task, falls, "hotspot:market=spot");
	assert_int_equal(w.nlaunched, 2);
	assert_true(w.launched[1] == 3600);
	assert_int_equal(w.nmoved, 1);
	/* To 0.4: 0.5/6 + 0.4 x 7/6 = 0.55 is more than 0.5. */
	static const char less[] = "epoch,az,instance_type,price\n0,z,a,0.5\n0,z,b,0.6\n3600,z,b,0.4\n";
	assert_int_equal(run(catalog, task, less, "hotspot:market=spot").nlaunched, 1);
	assert_int_equal(run(catalog, task, falls, "hotspot:market=spot,moves=false").nlaunched, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleared_when_under_used_for_more_than_three_rounds),
		cmocka_unit_test(not_cleared_when_it_is_not_worth_it),
		cmocka_unit_test(moves_to_what_is_there_first_all_or_none),
		cmocka_unit_test(hotspot_moves_when_another_type_becomes_cheaper_and_it_pays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
