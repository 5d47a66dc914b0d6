/* SPDX-License-Identifier: Apache-2.0 */
/* Services on transient machines, batch work on the excess: the policies tr, on-demand, on-demand+transient. */


#include "policies/table.h"
#include "report/metrics.h"
#include "sim_rig.h"

/* Spot offers of two kinds of 4 CPUs at 0.2 and 0.3 $/h, each there for 90 %; on demand they are 1 and 2 $/h. */
static void mixed_world(struct fth_world *w)
{
	small_world(w);
	for (int k = 0; k < 2; k++) {
		struct fth_offer o = w->catalog.offers.data[k ? B_BIG : A_BIG];
		o.market = FTH_SPOT;
		o.price = k ? FTH_USD * 3 / 10 : FTH_USD / 5;
		o.unavailable_ppb = 100000000;
		fth_vec_push(&w->catalog.offers, o);
	}
	assert_int_equal(fth_catalog_finish(&w->catalog, NULL), 0);
}

/* The first kind is gone from 1000 s to 5000 s. */
static void lose_first_kind(struct fth_world *w)
{
	w->has_market = true;
	fth_market_add(&w->market, NTYPES, FTH_MARKET_AVAILABLE, true, 0, 1);
	fth_market_add(&w->market, NTYPES, FTH_MARKET_AVAILABLE, true, 1000 * FTH_SEC, 0);
	fth_market_add(&w->market, NTYPES, FTH_MARKET_AVAILABLE, true, 5000 * FTH_SEC, 1);
	fth_market_finish(&w->market);
}

/* `beside`: another observer, or NULL. */
static struct ran run_beside(struct fth_world *w, const struct fth_policy_ops *ops, const char *params, struct fth_observer *beside)
{
	struct ran r = {.log = {.base = {.before_event = log_event, .next = beside}}};
	struct fth_sim_params p = {0};
	struct fth_policy_choice choice;
	char text[200];
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", "notice=120s", NULL), 0);
	fth_workload_finish(&w->workload);
	snprintf(text, sizeof(text), "%s%s%s", ops->name, *params ? ":" : "", params);
	assert_int_equal(fth_policy_choose(&choice, fth_policies, text, &r.err), 0);
	r.code = fth_sim_run(&r.e, w, &choice, &fth_policy_no_packing, &p, &r.log.base, NULL, &r.err);
	fth_policy_choice_release(&choice);
	fth_str_add(&r.log.text, "");
	return r;
}

static struct ran run_with(struct fth_world *w, const struct fth_policy_ops *ops, const char *params)
{
	return run_beside(w, ops, params, NULL);
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;
	for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
		n++;
	return n;
}

static void batch_runs_on_the_excess_and_gives_way(void **state)
{
	(void)state;
	struct fth_world w;
	mixed_world(&w);
	fth_kind_id x = small_cpus(&w, "x", 4);
	small_job(&w, "web", FTH_JOB_SERVICE, x, 1, 0, FTH_HOUR);
	small_job(&w, "batch", FTH_JOB_INDEPENDENT, x, 1, 10 * FTH_SEC, 6000 * FTH_SEC);
	lose_first_kind(&w);
	struct ran r = run_with(&w, &fth_policy_tr, "availability=0.98,batch=none");
	assert_int_equal(r.code, 0);
	/* One of each kind is held. The service starts on the first, batch on the second; when the first is given notice, batch goes
	 * and the service comes; when the first can be had again it is asked for again, and batch runs there. */
	assert_int_equal(count(r.log.text.data, "instance-acquired"), 3);
	assert_int_equal(count(r.log.text.data, "revocation-notice"), 1);
	assert_int_equal(count(r.log.text.data, "task-lost"), 0); /* moved in time */
	assert_non_null(strstr(r.log.text.data, "1000 task-left t1 i1"));
	assert_non_null(strstr(r.log.text.data, "1000 task-running t0 i1"));
	assert_non_null(strstr(r.log.text.data, "5030 task-running t1 i2"));
	assert_true(time_of(&r, "job-done j1") == 5030 + 6000 - (1000 - 30)); /* its state was saved */
	ran_release(&r);
	fth_world_release(&w);
}

/* Two batch tasks beside the service, the first kind lost: whoever plans, one of each kind is held; batch on the machine that is lost begins
 * again where it saved nothing. */
static void pools_and_checkpoints(void **state)
{
	(void)state;
	static const char *const params[] = {"checkpoint=yes", "pool=tr,checkpoint=yes", "pool=tr-artifact,checkpoint=yes", "checkpoint=no"};
	double done[FTH_COUNT(params)];
	for (size_t k = 0; k < FTH_COUNT(params); k++) {
		struct fth_world w;
		char text[100];
		mixed_world(&w);
		small_job(&w, "web", FTH_JOB_SERVICE, small_cpus(&w, "x", 2), 1, 0, FTH_HOUR);
		small_job(&w, "batch", FTH_JOB_INDEPENDENT, small_cpus(&w, "y", 2), 3, 10 * FTH_SEC, 2000 * FTH_SEC);
		lose_first_kind(&w);
		snprintf(text, sizeof(text), "availability=0.98,batch=none,%s", params[k]);
		struct ran r = run_with(&w, &fth_policy_tr, text);
		assert_int_equal(r.code, 0);
		assert_true(count(r.log.text.data, "instance-acquired") >= 2); /* and a third where the first kind is back before the end */
		assert_int_equal(count(r.log.text.data, "task-running t0"), 2); /* the service moved, once */
		done[k] = (double)time_of(&r, "job-done j1");
		ran_release(&r);
		fth_world_release(&w);
	}
	assert_true(done[0] == done[1] && done[0] == done[2]);
	assert_true(done[3] > done[0]);
}

/* A batch task that the pool could never hold: batch=stuck rents a machine for it, batch=none leaves it waiting. */
static void stuck_batch_rents(void **state)
{
	(void)state;
	for (int stuck = 0; stuck < 2; stuck++) {
		struct fth_world w;
		mixed_world(&w);
		small_job(&w, "web", FTH_JOB_SERVICE, small_cpus(&w, "x", 4), 1, 0, FTH_HOUR);
		small_job(&w, "batch", FTH_JOB_RIGID, small_cpus(&w, "y", 4), 3, 10 * FTH_SEC, 500 * FTH_SEC);
		struct ran r = run_with(&w, &fth_policy_tr, stuck ? "availability=0.98,batch=stuck" : "availability=0.98,batch=none");
		assert_int_equal(r.code, stuck ? 0 : -EDEADLK);
		assert_int_equal(count(r.log.text.data, "job-done j1"), stuck);
		ran_release(&r);
		fth_world_release(&w);
	}
}

static void rivals_rent_on_demand(void **state)
{
	(void)state;
	const struct fth_policy_ops *const rivals[] = {&fth_policy_on_demand, &fth_policy_on_demand_transient};
	double bill[2];
	for (int k = 0; k < 2; k++) {
		struct fth_world w;
		mixed_world(&w);
		fth_kind_id x = small_cpus(&w, "x", 4);
		small_job(&w, "web", FTH_JOB_SERVICE, x, 1, 0, FTH_HOUR);
		small_job(&w, "batch", FTH_JOB_INDEPENDENT, x, 2, 10 * FTH_SEC, 900 * FTH_SEC);
		struct ran r = run_with(&w, rivals[k], "");
		assert_int_equal(r.code, 0);
		assert_int_equal(count(r.log.text.data, "instance-acquired"), 3);
		bill[k] = (double)fth_engine_ledger(r.e)->total;
		ran_release(&r);
		fth_world_release(&w);
	}
	assert_true(bill[1] < bill[0]); /* batch work on spot is cheaper */
}

/* Two services, the first with a low target: pools for both are held, and when a kind is gone the second is served, from the room
 * of the first. */
static void the_stricter_service_is_served_first(void **state)
{
	(void)state;
	struct fth_world w;
	mixed_world(&w);
	fth_kind_id x = small_cpus(&w, "x", 4);
	small_job(&w, "blog", FTH_JOB_SERVICE, x, 1, 0, FTH_HOUR)->availability = 0.8;
	small_job(&w, "shop", FTH_JOB_SERVICE, x, 1, 0, FTH_HOUR)->availability = 0.98;
	small_job(&w, "batch", FTH_JOB_INDEPENDENT, x, 1, 2000 * FTH_SEC, 6000 * FTH_SEC);
	lose_first_kind(&w);
	struct fth_metrics *m = fth_metrics_new(&w.catalog.pub, 0, 0);
	struct fth_run run;
	struct ran r = run_beside(&w, &fth_policy_tr, "availability=0.5,batch=none", fth_metrics_observer(m));
	assert_int_equal(r.code, 0);
	fth_run_init(&run);
	fth_metrics_finish(m, r.e, 0, &run);
	/* Shop has one of each kind, blog one of the first: three machines, one of which stands while the first kind is gone. */
	assert_int_equal(run.services.len, 2);
	const struct fth_run_service *blog = &run.services.data[0], *shop = &run.services.data[1];
	assert_string_equal(blog->name, "blog");
	assert_true(shop->target == 0.98 && blog->target == 0.8);
	assert_int_equal(count(r.log.text.data, "instance-acquired"), 5); /* the two that were lost come back */
	assert_true(fth_run_service_availability(shop) > 0.999);
	/* Blog stays on its machine until that is taken, at 1120 s, and is back when another has booted after 5000 s. */
	assert_true(blog->over - blog->whole > 3880 * FTH_SEC && blog->over - blog->whole < 3960 * FTH_SEC);
	assert_int_equal(count(r.log.text.data, "job-done j2"), 1);
	fth_run_release(&run);
	fth_metrics_free(m);
	ran_release(&r);
	fth_world_release(&w);
}

/* Tasks of 3 CPUs: a machine of 4 holds one, a machine of 2 none, however cheap. */
static void machines_are_counted_in_tasks(void **state)
{
	(void)state;
	const struct fth_policy_ops *const all[] = {&fth_policy_tr, &fth_policy_on_demand, &fth_policy_on_demand_transient};
	for (int k = 0; k < 3; k++) {
		struct fth_world w;
		mixed_world(&w);
		struct fth_offer tiny = w.catalog.offers.data[A_SMALL];
		tiny.market = FTH_SPOT;
		tiny.price = FTH_USD / 1000;
		tiny.unavailable_ppb = 1000;
		fth_vec_push(&w.catalog.offers, tiny);
		assert_int_equal(fth_catalog_finish(&w.catalog, NULL), 0);
		small_job(&w, "web", FTH_JOB_SERVICE, small_cpus(&w, "x", 3), 4, 0, FTH_HOUR);
		small_job(&w, "batch", FTH_JOB_INDEPENDENT, small_cpus(&w, "y", 1), 1, 10 * FTH_SEC, 900 * FTH_SEC);
		struct ran r = run_with(&w, all[k], k ? "" : "availability=0.8");
		assert_int_equal(r.code, 0);
		for (int t = 0; t < 4; t++) {
			char text[40];
			snprintf(text, sizeof(text), "task-running t%d", t);
			assert_int_equal(count(r.log.text.data, text), 1);
		}
		ran_release(&r);
		fth_world_release(&w);
	}
}

static void without_spot_offers_on_demand(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	fth_kind_id x = small_cpus(&w, "x", 2);
	small_job(&w, "web", FTH_JOB_SERVICE, x, 4, 0, FTH_HOUR);
	small_job(&w, "batch", FTH_JOB_RIGID, x, 3, 10 * FTH_SEC, 500 * FTH_SEC);
	struct ran r = run_with(&w, &fth_policy_tr, "batch=spot");
	assert_int_equal(r.code, 0);
	assert_int_equal(count(r.log.text.data, "job-done"), 1);
	ran_release(&r);
	fth_world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_runs_on_the_excess_and_gives_way),
		cmocka_unit_test(pools_and_checkpoints),
		cmocka_unit_test(stuck_batch_rents),
		cmocka_unit_test(rivals_rent_on_demand),
		cmocka_unit_test(without_spot_offers_on_demand),
		cmocka_unit_test(machines_are_counted_in_tasks),
		cmocka_unit_test(the_stricter_service_is_served_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
