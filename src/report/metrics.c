/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job figures are kept per job (48 bytes for good, a little more while it lives); everything about
 * rented machines is integrated by usage.c. Each event costs the same whatever the cluster's size.
 */
#include "report/metrics.h"

#include "report/usage.h"

enum { MAX_NOTES = 64 };

/* A job while it is unfinished; by slot. */
struct live_job {
	fth_time since;   /* executing since; FTH_NEVER: it does not */
	fth_time moved;   /* when it was last told to move; FTH_NEVER: not yet */
	uint32_t running; /* tasks launched and not told to stop */
	double observed, done; /* time of its tasks under observation, and speed x that time */
	uint32_t service; /* its place among the services, from 1; 0: it is none */
	fth_time served;  /* service: accounted for up to here */
};

/* A task as it was when last looked at; by slot. */
struct live_task {
	bool executing;
	double rate;       /* observed while executing; negative: none */
	fth_time rate_since, since; /* executing since */
	fth_instance_id target, on;
};

struct fth_metrics {
	struct fth_observer observer;
	struct fth_usage usage;
	FTH_VEC(struct fth_run_job) jobs; /* by id */
	FTH_VEC(struct live_job) live;    /* by job slot */
	FTH_VEC(struct live_task) tasks;  /* by task slot */
	const struct fth_workload *workload;
	FTH_VEC(struct fth_run_instance) instances; /* by id; never acquired: dropped at the end */
	FTH_VEC(struct fth_run_note) notes;
	FTH_VEC(struct fth_run_service) services;
	uint64_t rounds_decided, tasks_done;
	uint64_t launched, launch_failures, migrations, preemptions, lost_tasks;
	uint32_t live_tasks_max;
	__int128 used; /* microseconds of executing tasks */
};

/* Make room for v.data[index], new items filled with `empty`. */
#define FILL_TO(v, index, empty)                              \
	do {                                                  \
		while ((v)->len <= (size_t)(index))           \
			fth_vec_push(v, empty);               \
	} while (0)

static struct fth_metrics *metrics_of(struct fth_observer *o)
{
	return (struct fth_metrics *)((char *)o - offsetof(struct fth_metrics, observer));
}

static struct fth_run_instance *instance_record(struct fth_metrics *m, fth_instance_id id)
{
	const struct fth_run_instance none = {
		.requested = FTH_NEVER, .acquired = FTH_NEVER, .ready = FTH_NEVER, .gone = FTH_NEVER};
	FILL_TO(&m->instances, id, none);
	return &m->instances.data[id];
}

static struct live_job *live_of(struct fth_metrics *m, const struct fth_job *j)
{
	const struct live_job none = {.since = FTH_NEVER, .moved = FTH_NEVER};
	FILL_TO(&m->live, j->slot, none);
	return &m->live.data[j->slot];
}

static struct live_task *task_of(struct fth_metrics *m, const struct fth_task *t)
{
	const struct live_task none = {.rate = -1, .target = FTH_NONE, .on = FTH_NONE};
	FILL_TO(&m->tasks, t->slot, none);
	return &m->tasks.data[t->slot];
}

static struct fth_run_job *job_record(struct fth_metrics *m, fth_job_id id)
{
	const struct fth_run_job none = {.started = FTH_NEVER, .ended = FTH_NEVER};
	FILL_TO(&m->jobs, id, none);
	return &m->jobs.data[id];
}

/* A job executes while any of its tasks does; one whose tasks advance together, while all that are
 * left do. Open or close its interval accordingly. */
static void update_executing(struct fth_metrics *m, const struct fth_job *j, fth_time now)
{
	struct live_job *l = live_of(m, j);
	uint32_t need = fth_job_is_together(j) ? FTH_MAX(j->tasks_left, 1u) : 1;
	bool executes = l->running >= need;
	if (executes && l->since == FTH_NEVER) {
		l->since = now;
	} else if (!executes && l->since != FTH_NEVER) {
		job_record(m, j->id)->executing += now - l->since;
		l->since = FTH_NEVER;
	}
}

/* The speed observed until now counts until now. */
static void observe_speed(struct fth_metrics *m, const struct fth_job *j, struct live_task *t, double rate, fth_time now)
{
	if (t->executing && t->rate >= 0) {
		struct live_job *l = live_of(m, j);
		l->observed += (double)(now - t->rate_since);
		l->done += t->rate * (double)(now - t->rate_since);
	}
	t->rate = rate;
	t->rate_since = now;
}

static void on_throughput(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_event *ev)
{
	const struct fth_task *t = fth_cluster_task(c, ev->task);
	const struct fth_job *j = t ? fth_cluster_job(c, t->job) : NULL;
	if (j)
		observe_speed(m, j, task_of(m, t), ev->rate, ev->time);
}

/* A service's tasks ran as they do until now; its time counts from when all of them did. */
static void account_service(struct fth_metrics *m, struct live_job *l, fth_time now)
{
	struct fth_run_service *s = l->service ? &m->services.data[l->service - 1] : NULL;
	if (!s)
		return;
	if (s->first != FTH_NEVER) {
		s->over += now - l->served;
		s->whole += l->running == s->tasks ? now - l->served : 0;
		s->task_seconds += (double)l->running * (double)(now - l->served) / (double)FTH_SEC;
	}
	l->served = now;
}

static void set_executing(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_task *t, bool on,
			  fth_time now)
{
	const struct fth_job *j = fth_cluster_job(c, t->job);
	struct live_task *l = task_of(m, t);
	if (!j || l->executing == on)
		return;
	observe_speed(m, j, l, -1, now);
	l->executing = on;
	if (on)
		l->since = now;
	else
		m->used += now - l->since;
	struct live_job *job = live_of(m, j);
	account_service(m, job, now);
	job->running += on ? 1 : (uint32_t)-1;
	if (job->service && job->running == j->ntasks && m->services.data[job->service - 1].first == FTH_NEVER)
		m->services.data[job->service - 1].first = now;
	update_executing(m, j, now);
}

/* ---- events ---- */

static void touch(struct fth_metrics *m, const struct fth_cluster *c, fth_instance_id id)
{
	const struct fth_instance *i = id == FTH_NONE ? NULL : fth_cluster_instance(c, id);
	if (i)
		fth_usage_touch(&m->usage, i);
}

/* A task may have changed the instances where it was, and those where it is. */
static void touch_task(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_task *t)
{
	struct live_task *l = task_of(m, t);
	touch(m, c, l->target);
	if (l->on != l->target)
		touch(m, c, l->on);
	if (t->target != l->target && t->target != l->on)
		touch(m, c, t->target);
	if (t->on != l->target && t->on != l->on && t->on != t->target)
		touch(m, c, t->on);
	l->target = t->target;
	l->on = t->on;
}

static bool is_task_event(enum fth_event_kind k)
{
	return k >= FTH_EV_TASK_STARTING && k <= FTH_EV_TASK_LOST;
}

static void before_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	fth_usage_advance(&metrics_of(o)->usage, ev->time);
}

static void on_task_done(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_task *t, fth_time now)
{
	const struct fth_job *j = fth_cluster_job(c, t->job);
	m->tasks_done++;
	/* Of tasks that advance together one less is left: the others may be all there are. */
	if (!j)
		return;
	update_executing(m, j, now);
	const struct live_job *l = live_of(m, j);
	job_record(m, j->id)->speed = l->observed > 0 ? l->done / l->observed : 0;
}

static void on_task_event(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_event *ev)
{
	const struct fth_task *t = fth_cluster_task(c, ev->task);
	if (!t)
		return;
	if (ev->kind == FTH_EV_TASK_RUNNING) {
		struct fth_run_job *r = job_record(m, t->job);
		if (r->started == FTH_NEVER)
			r->started = ev->time;
		set_executing(m, c, t, true, ev->time);
		/* At full speed until something else is observed: not every run has that reported. */
		observe_speed(m, fth_cluster_job(c, t->job), task_of(m, t), 1, ev->time);
		instance_record(m, ev->instance)->tasks++;
	} else if (ev->kind != FTH_EV_TASK_STARTING) {
		set_executing(m, c, t, false, ev->time);
		m->lost_tasks += ev->kind == FTH_EV_TASK_LOST;
		if (ev->kind == FTH_EV_TASK_DONE)
			on_task_done(m, c, t, ev->time);
	}
	touch_task(m, c, t);
}

/* The job is over; if it is a service, its time no longer counts. */
static void end_service(struct fth_metrics *m, const struct fth_job *j, fth_time now)
{
	struct live_job *l = j ? live_of(m, j) : NULL;
	if (!l || !l->service)
		return;
	account_service(m, l, now);
	m->services.data[l->service - 1].done = job_record(m, j->id)->ended != FTH_NEVER;
	l->service = 0;
}

static void on_cancelled(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_event *ev)
{
	const struct fth_job *j = fth_cluster_job(c, ev->job);
	for (uint32_t n = 0; j && n < j->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(c, j->first_task + n);
		if (!t)
			continue;
		set_executing(m, c, t, false, ev->time);
		touch_task(m, c, t);
	}
	end_service(m, j, ev->time);
}

static void on_instance_event(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_event *ev)
{
	const struct fth_instance *i = fth_cluster_instance(c, ev->instance);
	struct fth_run_instance *r = instance_record(m, ev->instance);
	if (ev->kind == FTH_EV_INSTANCE_ACQUIRED && i) {
		*r = (struct fth_run_instance){.id = i->id,
					       .type = i->type,
					       .market = m->usage.catalog->offers[i->offer].market,
					       .requested = i->requested,
					       .acquired = ev->time,
					       .ready = FTH_NEVER,
					       .gone = FTH_NEVER};
		m->launched++;
	} else if (ev->kind == FTH_EV_INSTANCE_READY) {
		r->ready = ev->time;
	} else if (ev->kind == FTH_EV_INSTANCE_GONE || ev->kind == FTH_EV_INSTANCE_REVOKED) {
		if (r->gone == FTH_NEVER)
			r->gone = ev->time;
	}
	touch(m, c, ev->instance);
}

static void after_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct fth_metrics *m = metrics_of(o);
	if (is_task_event(ev->kind)) {
		on_task_event(m, c, ev);
	} else if (ev->kind == FTH_EV_JOB_DONE) {
		job_record(m, ev->job)->ended = ev->time;
		end_service(m, fth_cluster_job(c, ev->job), ev->time);
	} else if (ev->kind == FTH_EV_THROUGHPUT) {
		on_throughput(m, c, ev);
	} else if (ev->kind == FTH_EV_LAUNCH_FAILED) {
		m->launch_failures++;
	} else if (ev->kind == FTH_EV_OFFER_CHANGED) {
		fth_usage_reprice(&m->usage, ev->offer, ev->price);
	} else if (ev->kind == FTH_EV_INSTANCE_ACQUIRED || ev->kind == FTH_EV_INSTANCE_READY ||
		   ev->kind == FTH_EV_INSTANCE_GONE || ev->kind == FTH_EV_INSTANCE_REVOKED) {
		on_instance_event(m, c, ev);
	} else if (ev->kind == FTH_EV_JOB_CANCELLED) {
		on_cancelled(m, c, ev);
	}
	m->usage.waiting = c->view.nwaiting;
	m->live_tasks_max = FTH_MAX(m->live_tasks_max, c->view.ntasks);
}

static fth_time runtime_alone(const struct fth_workload *w, const struct fth_job_spec *j)
{
	fth_time longest = 0;
	if (j->iter_rate > 0)
		return (fth_time)((double)j->iters / j->iter_rate * (double)FTH_SEC);
	for (uint32_t g = 0; g < j->ngroups; g++) {
		const struct fth_task_group *group = &w->groups.data[j->first_group + g];
		for (uint32_t i = 0; i < (group->first_own == FTH_NONE ? 1 : group->count); i++)
			longest = FTH_MAX(longest, fth_group_work(w, group, i));
	}
	return longest;
}

static void add_service(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_job *job)
{
	struct fth_run_service s = {.target = job->availability, .tasks = job->ntasks, .first = FTH_NEVER};
	snprintf(s.name, sizeof(s.name), "%s", fth_sym_str(c->syms, job->name));
	fth_vec_push(&m->services, s);
	live_of(m, job)->service = (uint32_t)m->services.len;
}

static void on_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *job)
{
	struct fth_metrics *m = metrics_of(o);
	struct fth_run_job *r = job_record(m, job->id);
	r->key = job->name;
	r->submitted = job->submitted;
	*live_of(m, job) = (struct live_job){.since = FTH_NEVER, .moved = FTH_NEVER};
	if (job->kind == FTH_JOB_SERVICE)
		add_service(m, c, job);
	for (uint32_t n = 0; n < job->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(c, job->first_task + n);
		if (t)
			*task_of(m, t) = (struct live_task){.rate = -1, .target = FTH_NONE, .on = FTH_NONE};
	}
	/* Jobs are submitted in the workload's order, so its job of this number is this one. */
	const struct fth_workload *w = m->workload;
	if (w && job->id < w->jobs.len && w->jobs.data[job->id].key == job->name)
		r->standalone = runtime_alone(w, &w->jobs.data[job->id]);
}

/* ---- plans ---- */

static void add_note(struct fth_metrics *m, const struct fth_plan_note *note)
{
	struct fth_run_note *n = NULL;
	for (size_t i = 0; i < m->notes.len && !n; i++)
		if (!strncmp(m->notes.data[i].name, note->name, sizeof(n->name) - 1))
			n = &m->notes.data[i];
	if (!n && m->notes.len < MAX_NOTES) {
		struct fth_run_note fresh = {.max = note->value};
		snprintf(fresh.name, sizeof(fresh.name), "%s", note->name);
		fth_vec_push(&m->notes, fresh);
		n = &fth_vec_last(&m->notes);
	}
	if (!n)
		return;
	n->last = note->value;
	n->sum += note->value;
	n->max = FTH_MAX(n->max, note->value);
	n->count++;
}

/* A task was told to go elsewhere or to wait. Of a job whose tasks move together all are told so in the
 * same round, which counts once; and it counts only once the job has been launched. */
static void on_move(struct fth_metrics *m, const struct fth_cluster *c, const struct fth_action *a, fth_time now)
{
	const struct fth_task *t = fth_cluster_task(c, a->task);
	const struct fth_job *j = t ? fth_cluster_job(c, t->job) : NULL;
	if (!j)
		return;
	struct fth_run_job *r = job_record(m, j->id);
	struct live_job *l = live_of(m, j);
	m->preemptions += a->kind == FTH_ACT_PREEMPT;
	bool counted = fth_job_is_together(j) && l->moved == now;
	if (a->kind == FTH_ACT_MIGRATE && r->started != FTH_NEVER && !counted) {
		r->moves++;
		m->migrations++;
		l->moved = now;
	}
	if (t->state != FTH_TASK_RUNNING)
		set_executing(m, c, t, false, now);
}

static void on_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
		    const uint8_t *verdicts, const struct fth_action *accepted, size_t naccepted)
{
	struct fth_metrics *m = metrics_of(o);
	(void)verdicts;
	fth_usage_advance(&m->usage, now);
	for (size_t n = 0; n < naccepted; n++) {
		const struct fth_action *a = &accepted[n];
		if (a->kind == FTH_ACT_MIGRATE || a->kind == FTH_ACT_PREEMPT)
			on_move(m, c, a, now);
		else if (a->kind == FTH_ACT_DRAIN || a->kind == FTH_ACT_TERMINATE)
			touch(m, c, a->instance);
	}
	/* Also of refused actions: a task may be taken back from where it was first sent, and then wait. */
	for (size_t n = 0; n < plan->actions.len; n++) {
		enum fth_action_kind kind = plan->actions.data[n].kind;
		bool of_task = kind == FTH_ACT_PLACE || kind == FTH_ACT_MIGRATE || kind == FTH_ACT_PREEMPT;
		const struct fth_task *t = of_task ? fth_cluster_task(c, plan->actions.data[n].task) : NULL;
		if (t)
			touch_task(m, c, t);
	}
	m->rounds_decided += naccepted > 0;
	for (size_t n = 0; n < plan->notes.len; n++)
		add_note(m, &plan->notes.data[n]);
	m->usage.waiting = c->view.nwaiting;
}

static void on_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	(void)c;
	instance_record(metrics_of(o), charge->instance)->cost += charge->amount;
}

/* ---- life ---- */

struct fth_metrics *fth_metrics_new(const struct fth_catalog *c, fth_time window_from, fth_time window_to)
{
	struct fth_metrics *m = fth_alloc(sizeof(*m));
	fth_usage_init(&m->usage, c, window_from, window_to);
	m->observer = (struct fth_observer){
		.before_event = before_event,
		.after_event = after_event,
		.on_submit = on_submit,
		.on_plan = on_plan,
		.on_charge = on_charge,
	};
	return m;
}

struct fth_observer *fth_metrics_observer(struct fth_metrics *m)
{
	return &m->observer;
}

void fth_metrics_standalone(struct fth_metrics *m, fth_job_id job, fth_time standalone)
{
	job_record(m, job)->standalone = standalone;
}

void fth_metrics_workload(struct fth_metrics *m, const struct fth_workload *w)
{
	m->workload = w;
}

void fth_metrics_free(struct fth_metrics *m)
{
	if (!m)
		return;
	fth_usage_release(&m->usage);
	fth_vec_release(&m->jobs);
	fth_vec_release(&m->live);
	fth_vec_release(&m->tasks);
	fth_vec_release(&m->instances);
	fth_vec_release(&m->notes);
	fth_vec_release(&m->services);
	free(m);
}

/* ---- the end ---- */

/* Hand a vector over to another of the same item type. */
#define MOVE_VEC(to, from)                                        \
	do {                                                      \
		static_assert(sizeof(*(to)->data) == sizeof(*(from)->data), "items"); \
		free((to)->data);                                 \
		(to)->data = (from)->data;                        \
		(to)->len = (from)->len;                          \
		(to)->cap = (from)->cap;                          \
		memset((from), 0, sizeof(*(from)));               \
	} while (0)

static void drop_never_acquired(struct fth_metrics *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->instances.len; i++)
		if (m->instances.data[i].acquired != FTH_NEVER)
			m->instances.data[kept++] = m->instances.data[i];
	m->instances.len = kept;
}

static void engine_figures(struct fth_run *run, const struct fth_engine *e)
{
	const struct fth_engine_stats *s = fth_engine_stats(e);
	const struct fth_cluster *c = fth_engine_cluster(e);
	const struct fth_ledger *l = fth_engine_ledger(e);
	run->cost = run->list_cost = l->total;
	run->billed_node_hours = 0;
	for (size_t i = 0; i < l->charges.len; i++)
		run->billed_node_hours += (double)l->charges.data[i].billed / (double)FTH_HOUR;
	/* What is charged beyond the time a machine was there (whole hours, minimum) ran nothing either. */
	double listed = fth_usd(l->total), integrated = run->spent_usd;
	run->waste_rounding_usd = FTH_MAX(listed - integrated, 0.0);
	if (listed > integrated && integrated > 0)
		run->utilization *= integrated / listed;
	run->events = s->events;
	run->rounds = s->rounds;
	run->rejected_actions = s->rejected;
	run->decide_s = (double)s->decide_ns / 1e9;
	run->decide_max_s = (double)s->decide_max_ns / 1e9;
	if (s->fell_back) {
		snprintf(run->fallback, sizeof(run->fallback), "%s", s->fallback);
		fth_str_clear(&run->note);
		fth_str_add(&run->note, s->why_fallback);
	}
	fth_str_clear(&run->rejected_by);
	fth_str_addc(&run->rejected_by, '{');
	for (int k = 1; k < FTH_REFUSED_NKINDS; k++)
		if (s->rejected_by[k])
			fth_str_addf(&run->rejected_by, "%s\"%s\": %llu", run->rejected_by.len > 1 ? ", " : "",
				     fth_refusal_name((enum fth_refusal)k), (unsigned long long)s->rejected_by[k]);
	fth_str_addc(&run->rejected_by, '}');
	fth_str_clear(&run->type_names);
	for (uint32_t t = 0; t < c->view.catalog->ntypes; t++) {
		const char *name = fth_sym_str(c->syms, c->view.catalog->types[t].name);
		fth_str_addn(&run->type_names, name, strlen(name) + 1);
	}
}

void fth_metrics_finish(struct fth_metrics *m, const struct fth_engine *e, fth_time now, struct fth_run *run)
{
	now = FTH_MAX(now, m->usage.now);
	fth_usage_advance(&m->usage, now);
	fth_usage_finish(&m->usage, run);
	engine_figures(run, e);
	drop_never_acquired(m);
	for (size_t i = 0; i < m->live.len; i++)
		account_service(m, &m->live.data[i], now);
	MOVE_VEC(&run->job_list, &m->jobs);
	MOVE_VEC(&run->instance_list, &m->instances);
	MOVE_VEC(&run->notes, &m->notes);
	MOVE_VEC(&run->services, &m->services);
	run->tasks = m->tasks_done;
	run->instances_launched = m->launched;
	run->launch_failures = m->launch_failures;
	run->migrations = m->migrations;
	run->preemptions = m->preemptions;
	run->lost_tasks = m->lost_tasks;
	run->rounds_decided = m->rounds_decided;
	run->live_tasks_max = m->live_tasks_max;
	run->ended_at = now;
	run->used_node_hours = (double)m->used / (double)FTH_HOUR;
	fth_run_job_figures(run);
}
