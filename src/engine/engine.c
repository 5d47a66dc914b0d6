/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

#include "engine/registry.h"

static int start_policy(struct fth_engine *e, const struct fth_policy_ops *ops, const void *params,
			struct fth_error *err)
{
	e->policy = ops;
	e->self = NULL;
	e->view = e->cluster.view;
	if (!(ops->flags & FTH_POLICY_WANTS_PROFILE))
		e->view.profile = NULL;
	int r = ops->init ? ops->init(&e->self, &e->view, params) : 0;
	if (r == -ENODEV)
		return fth_fail(err, -EINVAL, "policy %s could not start: the catalog has no machine for sale that holds every task of the workload",
				ops->name);
	if (r)
		return fth_fail(err, r < 0 ? r : -EPROTO, "policy %s could not start: %s", ops->name, strerror(abs(r)));
	e->period = ops->period ? ops->period(e->self) : 0;
	if (e->period >= 0)
		return 0;
	if (ops->fini)
		ops->fini(e->self);
	return fth_fail(err, -EINVAL, "policy %s could not start: its period is negative", ops->name);
}

int fth_engine_new(struct fth_engine **ret, const struct fth_engine_config *cfg, struct fth_error *err)
{
	if (cfg->policy->abi != FTH_POLICY_ABI || !cfg->policy->decide)
		return fth_fail(err, -EINVAL, "policy %s: made for interface %u, this program has %u",
				cfg->policy->name, cfg->policy->abi, FTH_POLICY_ABI);
	struct fth_engine *e = fth_alloc(sizeof(*e));
	e->cfg = *cfg;
	e->last_round = -1;
	e->stirred = FTH_NEVER;
	fth_cluster_init(&e->cluster, cfg->syms, cfg->catalog, cfg->kinds, cfg->profile);
	for (size_t o = 0; o < e->cluster.catalog.offers.len && !(cfg->policy->flags & FTH_POLICY_WANTS_CONTAINERS); o++) {
		struct fth_offer *offer = &e->cluster.catalog.offers.data[o];
		offer->available = offer->available && !e->cluster.catalog.types.data[offer->type].container;
	}
	int r = start_policy(e, cfg->policy, cfg->params, err);
	if (r) {
		e->policy = NULL;
		fth_engine_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

void fth_engine_free(struct fth_engine *e)
{
	if (!e)
		return;
	if (e->policy && e->policy->fini)
		e->policy->fini(e->self);
	free(e->fallback_params);
	fth_cluster_release(&e->cluster);
	fth_ledger_release(&e->ledger);
	fth_plan_release(&e->plan);
	fth_vec_release(&e->events);
	fth_vec_release(&e->verdicts);
	fth_vec_release(&e->accepted);
	for (size_t i = 0; i < e->wishes.len; i++)
		fth_vec_release(&e->wishes.data[i].offers);
	fth_vec_release(&e->wishes);
	fth_vec_release(&e->free_wishes);
	fth_map_release(&e->wish_of);
	fth_vec_release(&e->departing);
	fth_vec_release(&e->departing_from);
	fth_vec_release(&e->arrivals);
	fth_vec_release(&e->announced);
	fth_heap_release(&e->wakes);
	fth_map_release(&e->waking);
	fth_vec_release(&e->spending.moves);
	fth_vec_release(&e->spending.disturbed);
	free(e);
}

void fth_engine_observe(struct fth_engine *e, struct fth_observer *o)
{
	struct fth_observer **at = &e->observers;
	while (*at)
		at = &(*at)->next;
	*at = o;
	o->next = NULL;
}

const struct fth_cluster *fth_engine_cluster(const struct fth_engine *e)
{
	return &e->cluster;
}

const struct fth_ledger *fth_engine_ledger(const struct fth_engine *e)
{
	return &e->ledger;
}

const struct fth_engine_stats *fth_engine_stats(const struct fth_engine *e)
{
	return &e->stats;
}

struct wish *fth_engine_wish(const struct fth_engine *e, const struct fth_instance *i)
{
	uint64_t at;
	return fth_map_get(&e->wish_of, i->id, &at) ? &e->wishes.data[at] : NULL;
}

void fth_engine_drop_wish(struct fth_engine *e, const struct fth_instance *i)
{
	struct wish *w = fth_engine_wish(e, i);
	if (!w)
		return;
	fth_map_del(&e->wish_of, i->id);
	fth_vec_push(&e->free_wishes, (uint32_t)(w - e->wishes.data));
}

void fth_engine_take(struct fth_engine *e, const struct fth_event *ev)
{
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->before_event)
			o->before_event(o, &e->cluster, ev);
	/* Remembered first, because reducing it may imply others that come after. */
	e->now = ev->time;
	fth_vec_push(&e->events, *ev);
	if (e->stirred == FTH_NEVER && !(e->policy->ignores >> ev->kind & 1))
		e->stirred = ev->time;
	fth_reduce(e, ev);
	e->stats.events++;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->after_event)
			o->after_event(o, &e->cluster, ev);
}

int fth_engine_feed(struct fth_engine *e, const struct fth_event *ev, struct fth_error *err)
{
	int r = fth_event_check(e, ev, err);
	if (!r)
		fth_engine_take(e, ev);
	return r;
}

fth_job_id fth_engine_submit(struct fth_engine *e, fth_time now, const struct fth_job_item *item, fth_time estimate)
{
	if (now < e->now || now == FTH_NEVER)
		return FTH_NONE;
	struct fth_job_item told = *item;
	if (e->cfg.policy->flags & FTH_POLICY_KNOWS_RUNTIME)
		told.told = NULL; /* whatever errors the workload has others told */
	struct fth_job *j = fth_cluster_add_job(&e->cluster, &told, now, estimate,
						e->cfg.policy->flags & FTH_POLICY_WANTS_RUNTIME);
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_submit)
			o->on_submit(o, &e->cluster, j);
	struct fth_event ev = {.kind = FTH_EV_JOB_SUBMITTED,
			       .time = now,
			       .job = j->id,
			       .task = FTH_NONE,
			       .instance = FTH_NONE,
			       .offer = FTH_NONE};
	fth_engine_take(e, &ev);
	return j->id;
}

fth_time fth_engine_now(const struct fth_engine *e)
{
	return e->now;
}

fth_time fth_engine_period(const struct fth_engine *e)
{
	return e->period;
}

static fth_time round_up(fth_time t, fth_time period)
{
	if (!period || t % period == 0)
		return t;
	return t > FTH_NEVER - period ? FTH_NEVER : t + period - t % period;
}

fth_time fth_engine_next_round(const struct fth_engine *e, fth_time from)
{
	fth_time at = FTH_NEVER;
	if (e->wakes.len)
		at = round_up(FTH_MAX(e->wakes.data[0].time, from), e->period);
	if (e->stirred != FTH_NEVER)
		at = FTH_MIN(at, round_up(FTH_MAX(from, e->stirred), e->period));
	/* One round an instant for those with a period: what comes after it in the same instant waits. */
	if (e->period && at <= e->last_round)
		at = round_up(e->last_round + 1, e->period);
	return at;
}

/* The wake-ups that are due, told as one event. */
static void ring(struct fth_engine *e, fth_time now)
{
	bool due = false;
	for (; e->wakes.len && e->wakes.data[0].time <= now; due = true)
		fth_map_del(&e->waking, (uint64_t)fth_heap_pop(&e->wakes).time);
	if (due)
		fth_engine_take(e, &(struct fth_event){.kind = FTH_EV_TIMER,
						       .time = now,
						       .job = FTH_NONE,
						       .task = FTH_NONE,
						       .instance = FTH_NONE,
						       .offer = FTH_NONE});
}

int fth_engine_fall_back(struct fth_engine *e, const char *why, struct fth_error *err)
{
	const struct fth_policy_ops *ops = e->cfg.fallback;
	if (e->stats.fell_back || !ops || ops == e->policy)
		return fth_fail(err, -EPROTO, "policy %s %s", e->policy->name, why);
	snprintf(e->stats.why_fallback, sizeof(e->stats.why_fallback), "policy %s %s; %s took over", e->policy->name,
		 why, ops->name);
	e->stats.fell_back = true;
	e->stats.fallback = ops->name;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_fallback)
			o->on_fallback(o, why);
	if (e->policy->fini)
		e->policy->fini(e->self);
	free(e->fallback_params); /* of an earlier policy's */
	e->fallback_params = fth_alloc(ops->params_size);
	if (ops->params)
		fth_params_defaults(ops->params, e->fallback_params);
	int r = start_policy(e, ops, e->fallback_params, err);
	if (r)
		e->policy = NULL;
	return r;
}

static int ask(struct fth_engine *e, fth_time now)
{
	struct fth_round round = {.now = now, .view = &e->view, .events = e->events.data, .nevents = e->events.len};
	const struct fth_profile *profile = e->view.profile;
	e->view = e->cluster.view;
	e->view.profile = profile;
	fth_plan_reset(&e->plan, e->cluster.instances.next_id);
	int64_t before = e->cfg.clock_ns ? e->cfg.clock_ns() : 0;
	int r = e->policy->decide(e->self, &round, &e->plan);
	int64_t took = e->cfg.clock_ns ? e->cfg.clock_ns() - before : 0;
	e->stats.decide_ns += took;
	e->stats.decide_max_ns = FTH_MAX(e->stats.decide_max_ns, took);
	if (r)
		return r < 0 ? r : -EPROTO;
	return e->cfg.decide_limit_ns && took > e->cfg.decide_limit_ns ? -ETIME : 0;
}

/* Launch ids were given in plan order; a refused launch leaves a gap that later launches fill, so a
 * plan's own ids are translated. Refused ones become FTH_NONE, and what depends on them is refused. */
static fth_instance_id translate(const fth_instance_id *map, fth_instance_id first, uint32_t n, fth_instance_id id)
{
	return id != FTH_NONE && id >= first && id - first < n ? map[id - first] : id;
}

static void judge_plan(struct fth_engine *e, fth_time now)
{
	fth_instance_id first = e->cluster.instances.next_id;
	uint32_t nlaunch = e->plan.next_instance - first, k = 0;
	fth_instance_id *map = nlaunch ? fth_alloc(nlaunch * sizeof(*map)) : NULL;
	fth_vec_recycle(&e->accepted);
	fth_vec_recycle(&e->verdicts);
	if (nlaunch)
		memset(map, 0xff, nlaunch * sizeof(*map)); /* not launched yet: unknown */
	fth_limits_begin(e, now);
	fth_judge_announce(e, now);
	for (size_t i = 0; i < e->plan.actions.len; i++) {
		struct fth_action *a = &e->plan.actions.data[i];
		size_t at = e->accepted.len;
		fth_instance_id will_be = e->cluster.instances.next_id;
		if (a->kind != FTH_ACT_LAUNCH)
			a->instance = translate(map, first, nlaunch, a->instance);
		fth_vec_push(&e->accepted, *a);
		enum fth_refusal r = fth_judge(e, now, a);
		if (a->kind == FTH_ACT_LAUNCH) {
			a->instance = r ? FTH_NONE : will_be;
			map[k++] = a->instance;
			e->accepted.data[at].instance = a->instance;
		}
		if (r)
			e->accepted.len = at;
		fth_vec_push(&e->verdicts, (uint8_t)r);
		e->stats.rejected += r != FTH_ACCEPTED;
		e->stats.rejected_by[r] += r != FTH_ACCEPTED;
	}
	fth_judge_repair(e, now);
	e->stats.actions += e->accepted.len;
	free(map);
}

int fth_engine_round(struct fth_engine *e, fth_time now, struct fth_accepted *ret, struct fth_error *err)
{
	if (now < e->now || now == FTH_NEVER)
		return fth_fail(err, -EINVAL, "a round at %lld us, before what has happened", (long long)now);
	e->now = now;
	ring(e, now);
	e->last_round = now;
	e->stats.rounds++;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->before_plan)
			o->before_plan(o, &e->cluster, now);
	int r = ask(e, now);
	if (r) {
		char why[96];
		snprintf(why, sizeof(why), r == -ETIME ? "took longer to decide than its limit" : "failed: %s",
			 strerror(-r));
		r = fth_engine_fall_back(e, why, err);
		if (r)
			return r;
		r = ask(e, now);
		if (r)
			return fth_fail(err, r, "the fallback policy %s failed", e->policy->name);
	}
	fth_cluster_seen(&e->cluster);
	judge_plan(e, now);
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_plan)
			o->on_plan(o, &e->cluster, now, &e->plan, e->verdicts.data, e->accepted.data, e->accepted.len);
	fth_vec_recycle(&e->events);
	e->stirred = FTH_NEVER;
	fth_cluster_sweep(&e->cluster);
	*ret = (struct fth_accepted){e->accepted.data, e->accepted.len, &e->plan};
	return 0;
}

/* A plan of one action that no policy asked for. */
enum fth_refusal fth_engine_order(struct fth_engine *e, fth_time now, const struct fth_action *order, const char *by,
				  struct fth_accepted *ret)
{
	bool known = order->kind == FTH_ACT_DRAIN || order->kind == FTH_ACT_TERMINATE || order->kind == FTH_ACT_PREEMPT;
	*ret = (struct fth_accepted){0};
	if (!known)
		return FTH_REFUSED_MALFORMED;
	if (now < e->now || now == FTH_NEVER)
		return FTH_REFUSED_IN_THE_PAST;
	e->now = now;
	fth_plan_reset(&e->plan, e->cluster.instances.next_id);
	fth_vec_push(&e->plan.actions, *order);
	e->ordered = true;
	judge_plan(e, now);
	e->ordered = false;
	enum fth_refusal verdict = (enum fth_refusal)e->verdicts.data[0];
	/* What an order has changed is for the policy to answer. */
	if (!verdict && e->stirred == FTH_NEVER)
		e->stirred = now;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_order)
			o->on_order(o, &e->cluster, now, order, verdict, by);
	*ret = (struct fth_accepted){e->accepted.data, e->accepted.len, &e->plan};
	return verdict;
}

int fth_engine_change_policy(struct fth_engine *e, fth_time now, const struct fth_policy_ops *ops, const void *params,
			     const char *text, struct fth_error *err)
{
	if (now < e->now || now == FTH_NEVER)
		return fth_fail(err, -EINVAL, "a change of policy before what has happened");
	if (ops->abi != FTH_POLICY_ABI || !ops->decide)
		return fth_fail(err, -EINVAL, "policy %s: made for interface %u, this program has %u", ops->name, ops->abi,
				FTH_POLICY_ABI);
	const struct fth_policy_ops *old = e->policy;
	void *self = e->self;
	fth_time period = e->period;
	int r = start_policy(e, ops, params, err);
	if (r) {
		e->policy = old;
		e->self = self;
		e->period = period;
		return r;
	}
	if (old->fini)
		old->fini(self);
	e->now = now;
	e->cfg.policy = ops;
	e->cfg.params = params;
	e->stats.fell_back = false;
	if (e->stirred == FTH_NEVER)
		e->stirred = now;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_policy)
			o->on_policy(o, now, text);
	return 0;
}

void fth_engine_change_limits(struct fth_engine *e, fth_time now, const struct fth_limits *limits)
{
	e->now = FTH_MAX(e->now, now);
	e->cfg.limits = *limits;
	for (struct fth_observer *o = e->observers; o; o = o->next)
		if (o->on_limits)
			o->on_limits(o, now, limits);
}

const struct fth_limits *fth_engine_limits(const struct fth_engine *e)
{
	return &e->cfg.limits;
}

void fth_engine_set_clock(struct fth_engine *e, int64_t decide_limit_ns, int64_t (*clock_ns)(void))
{
	e->cfg.decide_limit_ns = decide_limit_ns;
	e->cfg.clock_ns = clock_ns;
}

void fth_engine_finish(struct fth_engine *e, fth_time now)
{
	now = FTH_MAX(now, e->now);
	for (fth_instance_id id = e->cluster.view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(&e->cluster, id);
		const struct fth_charge *charge = fth_ledger_close(&e->ledger, id, now, false);
		for (struct fth_observer *o = e->observers; charge && o; o = o->next)
			if (o->on_charge)
				o->on_charge(o, &e->cluster, charge);
		id = i->next;
	}
}
