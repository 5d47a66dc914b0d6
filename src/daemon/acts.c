/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to ask of the drivers, by level: what the engine wants and the lists do not show. Only what is committed is asked for; what was asked
 * for and not answered is not asked again by the same driver, what was answered and does not show is, after a while.
 */
#include "daemon/keeper.h"

#include "daemon/log.h"

#define AGAIN_NS (5 * 1000000000LL)

/* ---- capacity ---- */

static void launch(struct fth_keeper *k, const struct fth_instance *i, struct fth_rented *r)
{
	const struct fth_catalog_store *c = &k->cluster->catalog;
	const struct fth_offer *o = &c->offers.data[i->offer];
	static const char *const markets[] = {"on-demand", "spot", "reserved"};
	struct fth_str name = {0};
	fth_offer_name(k->cluster, i->offer, &name);
	json_t *offer = json_pack("{s:s, s:s, s:s, s:s, s:f}", "name", name.data, "type", fth_sym_str(c->syms, c->types.data[o->type].name), "zone",
				  fth_sym_str(c->syms, o->zone), "market", markets[o->market], "price", fth_usd(o->price));
	fth_say(FTH_LOG_INFO, "launch", "instance:u offer:s node:s token:s", i->id, name.data, r->node, r->token);
	r->launching = fth_side_ask(k, FTH_CAPACITY, FTH_OP_LAUNCH, json_pack("{s:s, s:s, s:o}", "token", r->token, "node", r->node, "offer", offer),
				    r->token)->id;
	fth_str_release(&name);
}

static void want_launched(struct fth_keeper *k, const struct fth_instance *i)
{
	const struct fth_side *s = &k->side[FTH_CAPACITY];
	if (i->state != FTH_INSTANCE_REQUESTED || k->now_ns < k->hold_launches_ns)
		return;
	struct fth_rented *r = fth_rented_of(k, i->id); /* made before the commit */
	if (r && r->state == FTH_LISTED_NOT && !r->launching && (!r->launched_by || r->launched_by < s->last_list))
		launch(k, i, r);
}

/* Tokens nobody wants: terminate what lives, forget what is gone. */
static void want_rid(struct fth_keeper *k, struct fth_rented *r)
{
	const struct fth_instance *i = r->current ? fth_cluster_instance(k->cluster, r->id) : NULL;
	bool wanted = i && i->state != FTH_INSTANCE_GONE && i->state != FTH_INSTANCE_TERMINATING;
	if (wanted || r->foreign || r->state == FTH_LISTED_NOT || k->now_ns < r->ask_again || r->launching)
		return;
	bool gone = r->state == FTH_LISTED_GONE;
	if (gone && i && i->state != FTH_INSTANCE_GONE)
		return; /* its end is not in the journal yet */
	if (r->state == FTH_LISTED_TERMINATING)
		return;
	r->ask_again = k->now_ns + AGAIN_NS;
	if (!gone)
		fth_say(FTH_LOG_INFO, r->current ? "terminate" : "terminate what is not ours to keep", "token:s", r->token);
	fth_side_ask(k, FTH_CAPACITY, gone ? FTH_OP_FORGET_TOKEN : FTH_OP_TERMINATE, json_pack("{s:s}", "token", r->token), r->token);
}

/* ---- nodes ---- */

static void want_node(struct fth_keeper *k, const struct fth_instance *i)
{
	static const char *const wants[] = {"", "up", "drain", "down"};
	struct fth_rented *r = fth_rented_of(k, i->id);
	if (!r || !r->node || r->state == FTH_LISTED_NOT)
		return;
	int want = i->state == FTH_INSTANCE_TERMINATING ? FTH_NODE_DOWN : i->leaving ? FTH_NODE_DRAIN
		   : i->acquired != FTH_NEVER		? FTH_NODE_UP
							: FTH_NODE_UNTOLD;
	if (want == FTH_NODE_UNTOLD || (int)r->told == want)
		return;
	r->told = (unsigned)want;
	fth_side_ask(k, FTH_WORKLOAD, FTH_OP_NODE, json_pack("{s:s, s:s}", "node", r->node, "want", wants[want]), r->node);
}

/* ---- workload ---- */

static json_t *run_json(struct fth_keeper *k, const struct fth_task *t, uint32_t attempt)
{
	struct fth_str run = {0};
	char instance[16];
	const struct fth_rented *r = fth_rented_of(k, t->on);
	fth_run_name(k, t, attempt, &run);
	snprintf(instance, sizeof(instance), "i%u", t->on);
	json_t *o = json_pack("{s:s, s:i, s:s, s:s}", "run", run.data, "task", (int)fth_task_index(k, t), "node", r ? r->node : instance, "instance", instance);
	fth_str_release(&run);
	return o;
}

static bool needs_start(struct fth_keeper *k, const struct fth_task *t, struct fth_listed_job *j)
{
	const struct fth_begun *b = fth_begun_of(k, t->id);
	if (t->state != FTH_TASK_STARTING || b->starting || (b->started_by && b->started_by >= k->side[FTH_WORKLOAD].last_list))
		return false;
	return !fth_run_of(j, fth_task_index(k, t), b->attempt);
}

/* All that is to start of a job, in one request. */
static void want_started(struct fth_keeper *k, struct fth_listed_job *j)
{
	const struct fth_job *job = fth_cluster_job(k->cluster, j->id);
	json_t *runs = NULL;
	for (uint32_t n = 0; n < job->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, job->first_task + n);
		if (!needs_start(k, t, j))
			continue;
		runs = runs ? runs : json_array();
		json_array_append_new(runs, run_json(k, t, fth_begun_of(k, t->id)->attempt));
	}
	if (!runs)
		return;
	struct fth_asked *a = fth_side_ask(k, FTH_WORKLOAD, FTH_OP_START, json_pack("{s:s, s:o}", "job", j->key, "runs", runs), j->key);
	for (uint32_t n = 0; n < job->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, job->first_task + n);
		if (!needs_start(k, t, j))
			continue;
		fth_begun_of(k, t->id)->starting = a->id;
		fth_vec_push(&a->tasks, t->id);
	}
}

/* Runs that are to stop: of tasks on their way out, and those that count no more. */
static void want_stopped(struct fth_keeper *k, struct fth_listed_job *j, const struct fth_job *job)
{
	for (size_t i = 0; i < j->runs.len; i++) {
		struct fth_listed_run *r = &j->runs.data[i];
		if (!fth_seen_alive(r->state) || k->now_ns < r->ask_again)
			continue;
		bool ours = job && r->job == j->id && r->task < job->ntasks;
		const struct fth_task *t = ours ? fth_cluster_task(k->cluster, job->first_task + r->task) : NULL;
		bool counts = t && t->state != FTH_TASK_DONE && t->on != FTH_NONE && fth_begun_of(k, t->id)->attempt == r->attempt;
		if (counts && t->state != FTH_TASK_STOPPING)
			continue;
		r->ask_again = k->now_ns + 4 * AGAIN_NS;
		json_t *q = json_pack("{s:s, s:s}", "job", j->key, "run", r->name);
		if (!counts)
			json_object_set_new(q, "lost", json_true());
		fth_say(FTH_LOG_INFO, counts ? "stop" : "stop what counts no more", "job:s run:s", j->key, r->name);
		fth_side_ask(k, FTH_WORKLOAD, FTH_OP_STOP, q, j->key);
	}
}

static void want_over(struct fth_keeper *k, struct fth_listed_job *j)
{
	bool ended = j->state == FTH_JOB_ENDED || j->state == FTH_JOB_CANCELLED;
	bool unwanted = j->refused || (j->over && !ended);
	if (k->now_ns < j->ask_again || (!j->over && !j->refused && !(ended && j->id == FTH_NONE)))
		return;
	j->ask_again = k->now_ns + AGAIN_NS;
	if (unwanted && !ended && !j->refused && !j->overdue) {
		j->overdue = true; /* its driver may need a moment to see the end of it, too */
		return;
	}
	fth_side_ask(k, FTH_WORKLOAD, unwanted && !ended ? FTH_OP_CANCEL : FTH_OP_FORGET_JOB, json_pack("{s:s}", "job", j->key), j->key);
}

static void workload(struct fth_keeper *k)
{
	for (size_t i = k->jobs.len; i-- > 0;) {
		struct fth_listed_job *j = k->jobs.data[i];
		const struct fth_job *job = j->id == FTH_NONE || j->over ? NULL : fth_cluster_job(k->cluster, j->id);
		if (j->gone && (j->over || j->id == FTH_NONE)) {
			fth_job_remove(k, j);
			continue;
		}
		if (job && job->tasks_left)
			want_started(k, j);
		if (j->runs.len)
			want_stopped(k, j, job);
		want_over(k, j);
	}
}

void fth_acts(struct fth_keeper *k)
{
	const struct fth_side *c = &k->side[FTH_CAPACITY], *w = &k->side[FTH_WORKLOAD];
	if (c->synced && c->greeted)
		for (size_t i = k->rented.len; i-- > 0;)
			want_rid(k, k->rented.data[i]);
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		id = i->next;
		if (c->synced && c->greeted)
			want_launched(k, i);
		if (w->synced && w->greeted && w->nodes)
			want_node(k, i);
	}
	if (w->synced && w->greeted)
		workload(k);
}

/* ---- when a driver says no ---- */

static enum fth_launch_failure why_of(const json_t *answer)
{
	static const char *const whys[] = {"capacity", "quota", "throttled"};
	const char *s = json_string_value(json_object_get(answer, "why"));
	for (int i = 0; s && i < 3; i++)
		if (!strcmp(s, whys[i]))
			return (enum fth_launch_failure)(FTH_FAIL_CAPACITY + i);
	return FTH_FAIL_OTHER;
}

/* A start that was refused: the task waits again, and is tried again after a while. */
static void start_failed(struct fth_keeper *k, const struct fth_asked *a, const char *text)
{
	for (size_t i = 0; i < a->tasks.len; i++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, a->tasks.data[i]);
		uint64_t at;
		if (!t || !fth_map_get(&k->by_task, t->id, &at) || k->begun.data[at].starting != a->id)
			continue;
		struct fth_begun *b = &k->begun.data[at];
		b->starting = 0;
		b->failures = FTH_MIN(b->failures + 1, 10u);
		b->wait_until = k->now_ns + FTH_MIN((k->cfg->retry_first << (b->failures - 1)), k->cfg->retry_most) * 1000;
		if (t->state == FTH_TASK_STARTING)
			fth_happen_task_lost(k, t, k->epoch + k->now);
	}
	fth_say(FTH_LOG_WARN, "start refused", "job:s error:s", a->what, text);
	struct fth_listed_job *j = fth_job_by_key(k, a->what);
	if (j)
		fth_happen_not_started(k, j);
}

void fth_acts_failed(struct fth_keeper *k, enum fth_role role, struct fth_asked *a, const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "error"));
	text = text ? text : "no reason given";
	if (a->op == FTH_OP_LAUNCH) {
		struct fth_rented *r = fth_rented_by_token(k, a->what);
		const struct fth_instance *i = r && r->current ? fth_cluster_instance(k->cluster, r->id) : NULL;
		if (r)
			r->launching = 0;
		if (i && i->state == FTH_INSTANCE_REQUESTED)
			fth_happen_launch_failed(k, r, why_of(answer), text);
		else if (r && !r->current && r->state == FTH_LISTED_NOT)
			fth_rented_remove(k, r);
	} else if (a->op == FTH_OP_START) {
		start_failed(k, a, text);
	} else if (!a->call) {
		fth_say(FTH_LOG_WARN, "driver refuses", "role:s what:s error:s", fth_role_names[role], a->what, text);
	}
}
