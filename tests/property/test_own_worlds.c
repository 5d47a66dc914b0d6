/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `farthing` in small worlds of one type where it is plain what is right: how soon all is done, and for how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "policies/table.h"
#include "support.h"

struct outcome {
	struct fth_observer base;
	fth_time done; /* the last task */
	double usd;
	uint64_t machines;
};

static void note(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	struct outcome *r = (struct outcome *)o;
	if (ev->kind == FTH_EV_TASK_DONE)
		r->done = ev->time;
	r->machines += ev->kind == FTH_EV_INSTANCE_READY;
}

/* One type of so many CPUs at a dollar an hour. */
static void begin(struct fth_world *w, int64_t cpus)
{
	fth_world_init(w);
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, "m"),
				      .family = fth_sym_intern(w->syms, "f"),
				      .acquire = fth_delay_fixed(30 * FTH_SEC),
				      .setup = fth_delay_fixed(30 * FTH_SEC)};
	t.capacity.v[FTH_CPU] = cpus * 1000;
	fth_vec_push(&w->catalog.types, t);
	fth_vec_push(&w->catalog.offers, ((struct fth_offer){.price = FTH_USD, .billing = {.increment = FTH_SEC}, .available = true}));
}

static void add_job(struct fth_world *w, const char *klass, uint32_t tasks, int64_t mcpus, fth_time work, fth_time submit)
{
	char key[32];
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = mcpus;
	struct fth_kind k = {.label = fth_sym_intern(w->syms, klass),
			     .klass = fth_sym_intern(w->syms, klass),
			     .delays = {.init = FTH_SEC, .stop = FTH_SEC, .save = FTH_SEC},
			     .nalts = 1,
			     .alts = &alt};
	snprintf(key, sizeof(key), "job-%zu", w->workload.jobs.len);
	struct fth_task_group g = {.kind = fth_kinds_intern(&w->kinds, &k), .count = tasks, .work = work, .first_own = FTH_NONE};
	struct fth_job_spec spec = {.key = fth_sym_intern(w->syms, key), .kind = FTH_JOB_INDEPENDENT, .submit = submit, .deadline = FTH_NEVER};
	fth_workload_add(&w->workload, &spec, &g, 1);
}

static struct outcome run(struct fth_world *w, const char *policy)
{
	struct outcome r = {.base = {.after_event = note}};
	struct fth_sim_params p = {0};
	struct fth_policy_choice choice;
	struct fth_engine *e = NULL;
	struct fth_error err = {0};
	fth_workload_finish(&w->workload);
	fth_catalog_finish(&w->catalog, NULL);
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_policy_choose(&choice, fth_policies, policy, &err), 0);
	if (fth_sim_run(&e, w, &choice, NULL, &p, &r.base, NULL, &err))
		fail_msg("%s: %s", policy, err.text);
	r.usd = fth_usd(fth_engine_ledger(e)->total);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(w);
	return r;
}

/* All on one machine, at once, and quickly. */
static void thousands_fit_on_one_machine(void **state)
{
	(void)state;
	struct fth_world w;
	begin(&w, 192);
	add_job(&w, "a", 3000, 50, FTH_HOUR, 0);
	clock_t before = clock();
	struct outcome r = run(&w, "farthing");
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 10); /* a hundredth of it where nothing is slow */
	assert_int_equal(r.machines, 1);
	assert_true(r.done < 70 * FTH_MINUTE);
}

/* Company saves nothing to those that fill a machine; nobody comes to one that is alone. */
static void nobody_waits_in_vain(void **state)
{
	(void)state;
	struct fth_world w;
	begin(&w, 4);
	add_job(&w, "a", 20, 4000, 10 * FTH_HOUR, 0);
	struct outcome r = run(&w, "farthing");
	assert_true(r.done < 10 * FTH_HOUR + 10 * FTH_MINUTE);
	begin(&w, 192);
	add_job(&w, "a", 500, 50, FTH_HOUR, 0);
	assert_true(run(&w, "farthing").done < 70 * FTH_MINUTE);
}

/* Notices of two minutes are seen in time although rounds are five minutes apart: no work is lost with a machine. */
static void notices_are_acted_on_in_time(void **state)
{
	(void)state;
	struct fth_world w;
	begin(&w, 4);
	struct fth_offer spot = w.catalog.offers.data[0];
	spot.market = FTH_SPOT;
	spot.price = FTH_USD * 3 / 10;
	spot.interruptions_ppm = 100000;
	fth_vec_push(&w.catalog.offers, spot);
	add_job(&w, "a", 50, 4000, 10 * FTH_HOUR, 0);
	struct outcome r = run(&w, "farthing");
	assert_true(r.machines > 60); /* some were taken */
	assert_true(r.done < 11 * FTH_HOUR);
	assert_true(r.usd < 50 * 3.2);
}

/* Every job has a class of its own, and nothing slows anything. */
static void classes_that_do_not_come_back_are_packed(void **state)
{
	(void)state;
	struct fth_world w;
	begin(&w, 192);
	for (uint32_t j = 0; j < 600; j++) {
		char klass[32];
		snprintf(klass, sizeof(klass), "class-%u", j);
		add_job(&w, klass, 1, 1000, 10 * FTH_MINUTE, (fth_time)j * 30 * FTH_SEC);
	}
	struct outcome r = run(&w, "farthing");
	assert_true(r.usd < 1.3 * (double)r.done / (double)FTH_HOUR); /* one machine does it */
}

/* The same prices in other money: the same decisions, nearly. */
static void prices_may_be_in_any_money(void **state)
{
	(void)state;
	double usd[2];
	for (int cheap = 0; cheap < 2; cheap++) {
		struct fth_world w;
		struct random_world_options o = {.seed = 7, .jobs = 120};
		random_world(&w, &o);
		for (size_t i = 0; i < w.catalog.offers.len; i++)
			w.catalog.offers.data[i].price /= cheap ? 100 : 1;
		usd[cheap] = run(&w, "farthing").usd;
	}
	assert_true(usd[1] * 100 < usd[0] * 1.02);
	assert_true(usd[1] * 100 > usd[0] * 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_fit_on_one_machine),
		cmocka_unit_test(nobody_waits_in_vain),
		cmocka_unit_test(notices_are_acted_on_in_time),
		cmocka_unit_test(classes_that_do_not_come_back_are_packed),
		cmocka_unit_test(prices_may_be_in_any_money),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
