/* SPDX-License-Identifier: Apache-2.0 */
/* An engine driven by hand: events are fed one by one, the policy is a function of the test. */
#ifndef FTH_TESTS_ENGINE_RIG_H
#define FTH_TESTS_ENGINE_RIG_H

#include "small_world.h"

struct rig {
	struct fth_observer watcher; /* first: it is cast back */
	struct fth_world w;
	struct fth_engine *e;
	const struct fth_cluster *c;
	fth_time now;
	uint64_t before, after, charges, timers;
	uint8_t verdicts[32];
	size_t nverdicts;
	struct fth_action accepted[32];
	size_t naccepted;
};

static const struct fth_reason why = {.text = "a test"};

/* What the policy does in the next round, and its answer. */
static void (*script)(struct rig *r, const struct fth_round *round, struct fth_plan *p);
static struct rig *script_rig;
static int script_answer;
static fth_time script_period;

static inline int scripted(void *self, const struct fth_round *round, struct fth_plan *p)
{
	(void)self;
	if (script)
		script(script_rig, round, p);
	return script_answer;
}

static inline fth_time scripted_period(void *self)
{
	(void)self;
	return script_period;
}

static const struct fth_policy_ops scripted_policy = {
	.abi = FTH_POLICY_ABI, .name = "scripted", .decide = scripted, .period = scripted_period};

static inline void rig_before(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	((struct rig *)o)->before++;
	((struct rig *)o)->timers += ev->kind == FTH_EV_TIMER;
}

static inline void rig_after(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c, (void)ev;
	((struct rig *)o)->after++;
}

static inline void rig_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
			    const uint8_t *verdicts, const struct fth_action *accepted, size_t naccepted)
{
	(void)c, (void)now;
	struct rig *r = (struct rig *)o;
	assert_true(plan->actions.len <= 32 && naccepted <= 32);
	r->nverdicts = plan->actions.len;
	r->naccepted = naccepted;
	if (plan->actions.len)
		memcpy(r->verdicts, verdicts, plan->actions.len);
	if (naccepted)
		memcpy(r->accepted, accepted, naccepted * sizeof(*accepted));
}

static inline void rig_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	(void)c, (void)charge;
	((struct rig *)o)->charges++;
}

static inline void rig_open(struct rig *r, uint32_t max_instances, const struct fth_policy_ops *fallback)
{
	*r = (struct rig){.watcher = {.before_event = rig_before, .after_event = rig_after, .on_plan = rig_plan,
				      .on_charge = rig_charge}};
	small_world(&r->w);
	struct fth_engine_config cfg = {.syms = r->w.syms, .catalog = &r->w.catalog, .kinds = &r->w.kinds,
					.policy = &scripted_policy, .fallback = fallback, .limits.max_instances = max_instances};
	assert_int_equal(fth_engine_new(&r->e, &cfg, NULL), 0);
	fth_engine_observe(r->e, &r->watcher);
	r->c = fth_engine_cluster(r->e);
	script_rig = r;
	script = NULL;
	script_answer = 0;
}

static inline void rig_close(struct rig *r)
{
	fth_engine_free(r->e);
	fth_world_release(&r->w);
	script_period = 0;
}

/* Submit a job and return its first task. */
static inline fth_task_id rig_submit(struct rig *r, const char *key, enum fth_job_kind kind, fth_kind_id of, uint32_t tasks,
				     const char *apart)
{
	struct fth_job_spec *spec = small_job(&r->w, key, kind, of, tasks, r->now, FTH_HOUR);
	spec->anti_affinity = apart ? fth_sym_intern(r->w.syms, apart) : 0;
	struct fth_job_item item = {.spec = spec, .groups = &r->w.workload.groups.data[spec->first_group]};
	fth_job_id id = fth_engine_submit(r->e, r->now, &item, 0);
	assert_int_not_equal(id, FTH_NONE);
	return fth_cluster_job(r->c, id)->first_task;
}

static inline int rig_try(struct rig *r, enum fth_event_kind kind, fth_task_id t, fth_instance_id i)
{
	struct fth_event ev = {.kind = kind, .time = r->now, .job = FTH_NONE, .task = t, .instance = i, .offer = FTH_NONE};
	return fth_engine_feed(r->e, &ev, NULL);
}

static inline void rig_feed(struct rig *r, enum fth_event_kind kind, fth_task_id t, fth_instance_id i)
{
	assert_int_equal(rig_try(r, kind, t, i), 0);
}

static inline void rig_round(struct rig *r, void (*what)(struct rig *r, const struct fth_round *round, struct fth_plan *p))
{
	struct fth_accepted acts;
	script = what;
	assert_int_equal(fth_engine_round(r->e, r->now, &acts, NULL), 0);
	script = NULL;
}

static inline const struct fth_task *rig_task(struct rig *r, fth_task_id t)
{
	return fth_cluster_task(r->c, t);
}

static inline const struct fth_instance *rig_instance(struct rig *r, fth_instance_id i)
{
	return fth_cluster_instance(r->c, i);
}

static inline void rig_ready(struct rig *r, fth_instance_id i)
{
	rig_feed(r, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, i);
	rig_feed(r, FTH_EV_INSTANCE_READY, FTH_NONE, i);
}

static inline void rig_run(struct rig *r, fth_task_id t)
{
	fth_instance_id on = rig_task(r, t)->target;
	rig_feed(r, FTH_EV_TASK_STARTING, t, on);
	rig_feed(r, FTH_EV_TASK_RUNNING, t, on);
}

/* Everything the cluster says, as one number. */
static inline uint64_t rig_state(const struct rig *r)
{
	const struct fth_view *v = &r->c->view;
	uint64_t h = fth_hash_bytes(&v->njobs, sizeof(uint32_t) * 7, v->first_waiting ^ v->last_waiting);
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(r->c, id);
		h = fth_hash_bytes(i, sizeof(*i), h);
		id = i->next;
	}
	for (fth_job_id id = v->first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(r->c, id);
		h = fth_hash_bytes(j, sizeof(*j), h);
		for (uint32_t k = 0; k < j->ntasks; k++)
			h = fth_hash_bytes(fth_cluster_task(r->c, j->first_task + k), sizeof(struct fth_task), h);
		id = j->next;
	}
	const struct fth_offer *o = r->c->catalog.offers.data;
	for (size_t k = 0; k < r->c->catalog.offers.len; k++)
		h = fth_hash_u64(h ^ (uint64_t)o[k].price ^ o[k].available);
	return h;
}

#endif
