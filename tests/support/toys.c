/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that a core must survive. */
#include <time.h>

#include "support.h"

static const struct fth_reason why = {.text = "a toy"};

/* The cheapest offer one task of this kind fits on; FTH_NONE. */
static fth_offer_id cheapest(const struct fth_view *v, fth_kind_id kind)
{
	fth_offer_id best = FTH_NONE;
	for (fth_offer_id o = 0; o < v->catalog->noffers; o++) {
		const struct fth_instance_type *t = &v->catalog->types[v->catalog->offers[o].type];
		const struct fth_alt *a = fth_kind_on_type(&v->kinds[kind], t);
		if (a && v->catalog->offers[o].available && fth_res_fits(&a->demand, &t->capacity) &&
		    (best == FTH_NONE || v->catalog->offers[o].price < v->catalog->offers[best].price))
			best = o;
	}
	return best;
}

/* One new instance for each waiting task; empty ones go. */
static void serve(const struct fth_round *r, struct fth_plan *p)
{
	const struct fth_view *v = r->view;
	for (fth_task_id id = v->first_waiting; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		fth_offer_id o = cheapest(v, t->kind);
		if (o != FTH_NONE)
			fth_plan_place(p, id, fth_plan_launch(p, &o, 1, why), why);
		id = t->next_waiting;
	}
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		if (!i->leaving && !i->ncommitted)
			fth_plan_terminate(p, id, why);
		id = i->next;
	}
}

static int serve_only(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	serve(r, p);
	return 0;
}
const struct fth_policy_ops toy_serve = {.abi = FTH_POLICY_ABI, .name = "serve", .decide = serve_only};

static int nothing(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self, (void)r, (void)p;
	return 0;
}
const struct fth_policy_ops toy_do_nothing = {.abi = FTH_POLICY_ABI, .name = "do-nothing", .decide = nothing};

static int lie(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	struct fth_rng rng;
	fth_rng_seed(&rng, 5, (uint64_t)r->now, 0);
	for (int i = 0; i < 40; i++) {
		uint32_t any = (uint32_t)fth_rng_u64(&rng), near = (uint32_t)fth_rng_below(&rng, 60);
		fth_offer_id o = i % 2 ? any : (fth_offer_id)fth_rng_below(&rng, 40);
		switch (fth_rng_below(&rng, 7)) {
		case 0:
			fth_plan_launch(p, &o, i % 3 == 0 ? 0 : 1, why);
			break;
		case 1:
			fth_plan_place(p, near, any, why);
			break;
		case 2:
			fth_plan_place(p, any, near, why);
			break;
		case 3:
			fth_plan_migrate(p, near, p->next_instance + near, why);
			break;
		case 4:
			fth_plan_preempt(p, any, why);
			break;
		case 5:
			fth_plan_terminate(p, near, why); /* often true enough: it has tasks */
			break;
		default:
			fth_plan_wake(p, r->now - 1);
		}
	}
	/* Everything onto one instance: the first may fit, the rest cannot. */
	if (r->view->first_instance != FTH_NONE)
		for (fth_job_id id = r->view->first_job; id != FTH_NONE;) {
			const struct fth_job *j = fth_view_job(r->view, id);
			fth_plan_place(p, j->first_task, r->view->first_instance, why);
			fth_plan_place(p, j->first_task, r->view->first_instance, why);
			id = j->next;
		}
	serve(r, p);
	return 0;
}
const struct fth_policy_ops toy_liar = {.abi = FTH_POLICY_ABI, .name = "liar", .decide = lie};

static int sleep_through(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self, (void)r, (void)p;
	nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
	return 0;
}
const struct fth_policy_ops toy_sleeper = {.abi = FTH_POLICY_ABI, .name = "sleeper", .decide = sleep_through};

static int wake(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	fth_plan_wake(p, r->now + FTH_MINUTE);
	return 0;
}
const struct fth_policy_ops toy_waker = {.abi = FTH_POLICY_ABI, .name = "waker", .decide = wake};

static int launch_all(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	for (int i = 0; i < 50; i++) {
		fth_offer_id o = (fth_offer_id)i % r->view->catalog->noffers;
		fth_plan_launch(p, &o, 1, why);
	}
	return 0;
}
const struct fth_policy_ops toy_launch_all = {.abi = FTH_POLICY_ABI, .name = "launch-all", .decide = launch_all};

static int fail_soon(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	if (r->now > 2 * FTH_HOUR)
		return -EIO;
	serve(r, p);
	return 0;
}
const struct fth_policy_ops toy_failing = {.abi = FTH_POLICY_ABI, .name = "failing", .decide = fail_soon};

/* Legal mischief: to and fro between instances with room, and back to waiting. */
static int move_about(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	const struct fth_view *v = r->view;
	struct fth_rng rng;
	fth_rng_seed(&rng, 9, (uint64_t)r->now, 0);
	for (fth_job_id id = v->first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_view_job(v, id);
		id = j->next;
		if (fth_rng_below(&rng, 3) || r->now - j->submitted > 12 * FTH_HOUR)
			continue;
		fth_task_id t = j->first_task + (fth_task_id)fth_rng_below(&rng, j->ntasks);
		uint64_t what = fth_rng_below(&rng, 4);
		if (what == 0)
			fth_plan_preempt(p, t, why);
		else if (what == 1 && v->last_instance != FTH_NONE)
			fth_plan_migrate(p, t, v->last_instance, why);
		else if (what == 2 && v->first_instance != FTH_NONE)
			fth_plan_drain(p, v->first_instance, why);
		else {
			fth_offer_id o = cheapest(v, fth_view_task(v, t)->kind);
			fth_plan_migrate(p, t, fth_plan_launch(p, &o, 1, why), why);
		}
	}
	serve(r, p);
	return 0;
}

static fth_time ten_minutes(void *self)
{
	(void)self;
	return 10 * FTH_MINUTE;
}
const struct fth_policy_ops toy_mover = {
	.abi = FTH_POLICY_ABI, .name = "mover", .decide = move_about, .period = ten_minutes};
