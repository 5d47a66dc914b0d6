/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a small world under a policy of the test, with everything that happened as lines of text. */
#ifndef FTH_TESTS_SIM_RIG_H
#define FTH_TESTS_SIM_RIG_H

#include "sim/sim.h"
#include "small_world.h"

static const struct fth_reason why = {.text = "a test"};

struct log {
	struct fth_observer base;
	struct fth_str text;
	uint64_t events;
};

/* "130 task-starting t0 i0": seconds, with as many digits as they have. */
static inline void log_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	struct log *l = (struct log *)o;
	l->events++;
	fth_str_real(&l->text, (double)ev->time / 1e6);
	fth_str_addf(&l->text, " %s", fth_event_name(ev->kind));
	if (ev->job != FTH_NONE)
		fth_str_addf(&l->text, " j%u", ev->job);
	if (ev->task != FTH_NONE)
		fth_str_addf(&l->text, " t%u", ev->task);
	if (ev->instance != FTH_NONE)
		fth_str_addf(&l->text, " i%u", ev->instance);
	if (ev->kind == FTH_EV_THROUGHPUT) {
		fth_str_addc(&l->text, ' ');
		fth_str_real(&l->text, ev->rate);
	}
	fth_str_addc(&l->text, '\n');
}

struct ran {
	int code;
	struct fth_engine *e;
	struct log log;
	struct fth_error err;
};

static inline struct ran run_it(struct fth_world *w, const struct fth_policy_ops *ops, const char *sim)
{
	struct ran r = {.log = {.base = {.before_event = log_event}}};
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, NULL), 0);
	fth_workload_finish(&w->workload);
	struct fth_policy_choice choice = {.ops = ops};
	r.code = fth_sim_run(&r.e, w, &choice, NULL, &p, &r.log.base, NULL, &r.err);
	fth_str_add(&r.log.text, "");
	return r;
}

static inline void ran_release(struct ran *r)
{
	fth_engine_free(r->e);
	fth_str_release(&r->log.text);
}

/* The run must have ended well, with exactly these lines. */
static inline void expect(struct fth_world *w, const struct fth_policy_ops *ops, const char *sim, const char *lines)
{
	struct ran r = run_it(w, ops, sim);
	if (r.code)
		print_error("%s\n", r.err.text);
	assert_int_equal(r.code, 0);
	if (strcmp(r.log.text.data, lines))
		print_error("--- expected\n%s--- was\n%s", lines, r.log.text.data);
	assert_string_equal(r.log.text.data, lines);
	ran_release(&r);
}

/* When a line ends in this, in seconds; -1 if there is none. */
static inline double time_of(const struct ran *r, const char *what)
{
	char needle[64];
	snprintf(needle, sizeof(needle), " %s\n", what);
	const char *at = strstr(r->log.text.data, needle);
	if (!at)
		return -1;
	while (at > r->log.text.data && at[-1] != '\n')
		at--;
	return strtod(at, NULL);
}

/* ---- policies ---- */

static inline void end_empty(const struct fth_round *r, struct fth_plan *p)
{
	for (fth_instance_id id = r->view->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(r->view, id);
		if (!i->leaving && !i->ncommitted && !i->nheld)
			fth_plan_terminate(p, id, why);
		id = i->next;
	}
}

/* An a.big for each task; it goes when the task has ended. */
static inline int one_each(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = A_BIG;
	for (fth_task_id t = r->view->first_waiting; t != FTH_NONE; t = fth_view_task(r->view, t)->next_waiting)
		fth_plan_place(p, t, fth_plan_launch(p, &o, 1, why), why);
	end_empty(r, p);
	return 0;
}
static const struct fth_policy_ops policy_one_each = {.abi = FTH_POLICY_ABI, .name = "one-each", .decide = one_each};

/* Everything on one a.big, which is never let go. */
static inline int all_on_one(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_offer_id o = A_BIG;
	fth_instance_id i = r->view->first_instance;
	for (fth_task_id t = r->view->first_waiting; t != FTH_NONE; t = fth_view_task(r->view, t)->next_waiting) {
		if (i == FTH_NONE)
			i = fth_plan_launch(p, &o, 1, why);
		fth_plan_place(p, t, i, why);
	}
	return 0;
}
static const struct fth_policy_ops policy_all_on_one = {.abi = FTH_POLICY_ABI, .name = "all-on-one", .decide = all_on_one};

#endif
