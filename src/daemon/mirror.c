/* SPDX-License-Identifier: Apache-2.0 */
/* What the drivers list, as records. Nothing is concluded here. */
#include "daemon/keeper.h"

#include "daemon/log.h"

uint64_t fth_key_hash(const char *s)
{
	return fth_hash_bytes(s, strlen(s), 11);
}

static char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? fth_strdup(s) : NULL;
}

static int64_t int_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* The index of a word in a list, or -1. */
static int word_of(const json_t *o, const char *key, const char *const *words)
{
	const char *s = json_string_value(json_object_get(o, key));
	for (int i = 0; s && words[i]; i++)
		if (!strcmp(words[i], s))
			return i;
	return -1;
}

/* ---- instances ---- */

struct fth_rented *fth_rented_by_token(struct fth_keeper *k, const char *token)
{
	uint64_t at;
	return fth_map_get(&k->by_token, fth_key_hash(token), &at) ? k->rented.data[at] : NULL;
}

struct fth_rented *fth_rented_of(const struct fth_keeper *k, fth_instance_id id)
{
	uint64_t at;
	return fth_map_get(&k->by_instance, id, &at) ? k->rented.data[at] : NULL;
}

struct fth_rented *fth_rented_add(struct fth_keeper *k, const char *token)
{
	struct fth_rented *r = fth_alloc(sizeof(*r));
	r->token = fth_strdup(token);
	r->id = FTH_NONE;
	fth_map_put(&k->by_token, fth_key_hash(token), k->rented.len);
	fth_vec_push(&k->rented, r);
	return r;
}

void fth_rented_remove(struct fth_keeper *k, struct fth_rented *r)
{
	uint64_t at = 0;
	fth_map_get(&k->by_token, fth_key_hash(r->token), &at);
	struct fth_rented *last = fth_vec_last(&k->rented);
	fth_map_del(&k->by_token, fth_key_hash(r->token));
	if (r->current)
		fth_map_del(&k->by_instance, r->id);
	k->rented.data[at] = last;
	k->rented.len--;
	if (last != r) {
		fth_map_put(&k->by_token, fth_key_hash(last->token), at);
		if (last->current)
			fth_map_put(&k->by_instance, last->id, at);
	}
	free(r->token);
	free(r->node);
	free(r->error);
	free(r);
}

static void mirror_instance(struct fth_keeper *k, const json_t *o)
{
	static const char *const states[] = {"requested", "booting", "ready", "terminating", "gone", NULL};
	static const char *const whys[] = {"capacity", "quota", "throttled", "other", NULL};
	const char *token = json_string_value(json_object_get(o, "token"));
	int state = word_of(o, "state", states), why = word_of(o, "why", whys);
	if (!token || state < 0) {
		fth_say(FTH_LOG_WARN, "driver lists an instance without token or state", "");
		return;
	}
	struct fth_rented *r = fth_rented_by_token(k, token);
	if (!r) {
		r = fth_rented_add(k, token);
		r->foreign = !fth_token_is_ours(k, token);
		if (r->foreign)
			fth_say(FTH_LOG_WARN, "an instance that is not of this cluster is left alone", "token:s", token);
	}
	r->state = (enum fth_listed_state)(FTH_LISTED_REQUESTED + state);
	r->acquired = int_of(o, "acquired");
	r->ready = int_of(o, "ready");
	r->gone = int_of(o, "gone");
	r->take_at = int_of(o, "take_at");
	r->taken = json_is_true(json_object_get(o, "taken"));
	free(r->error);
	r->error = text_of(o, "error");
	r->why = why < 0 ? FTH_FAIL_OTHER : (enum fth_launch_failure)(FTH_FAIL_CAPACITY + why);
	r->seen = true;
}

void fth_mirror_instances(struct fth_keeper *k, const json_t *list, bool full)
{
	for (size_t i = 0; i < k->rented.len; i++)
		k->rented.data[i]->seen = false;
	for (size_t i = 0; i < json_array_size(list); i++)
		mirror_instance(k, json_array_get(list, i));
	for (size_t i = k->rented.len; full && i-- > 0;) {
		struct fth_rented *r = k->rented.data[i];
		if (r->seen)
			continue;
		r->state = FTH_LISTED_NOT;
		if (!r->current)
			fth_rented_remove(k, r);
	}
}

/* ---- jobs ---- */

struct fth_listed_job *fth_job_by_key(const struct fth_keeper *k, const char *key)
{
	uint64_t at;
	return fth_map_get(&k->by_key, fth_key_hash(key), &at) ? k->jobs.data[at] : NULL;
}

struct fth_listed_job *fth_job_by_id(const struct fth_keeper *k, fth_job_id id)
{
	uint64_t at;
	return fth_map_get(&k->by_job, id, &at) ? k->jobs.data[at] : NULL;
}

void fth_job_set_id(struct fth_keeper *k, struct fth_listed_job *j, fth_job_id id)
{
	uint64_t at = 0;
	fth_map_get(&k->by_key, fth_key_hash(j->key), &at);
	if (j->id != FTH_NONE)
		fth_map_del(&k->by_job, j->id);
	j->id = id;
	if (id != FTH_NONE)
		fth_map_put(&k->by_job, id, at);
}

static void clear_runs(struct fth_listed_job *j)
{
	for (size_t i = 0; i < j->runs.len; i++)
		free(j->runs.data[i].name);
	fth_vec_clear(&j->runs);
}

void fth_job_remove(struct fth_keeper *k, struct fth_listed_job *j)
{
	uint64_t at = 0;
	fth_map_get(&k->by_key, fth_key_hash(j->key), &at);
	struct fth_listed_job *last = fth_vec_last(&k->jobs);
	fth_map_del(&k->by_key, fth_key_hash(j->key));
	if (j->id != FTH_NONE)
		fth_map_del(&k->by_job, j->id);
	k->jobs.data[at] = last;
	k->jobs.len--;
	if (last != j) {
		fth_map_put(&k->by_key, fth_key_hash(last->key), at);
		if (last->id != FTH_NONE)
			fth_map_put(&k->by_job, last->id, at);
	}
	clear_runs(j);
	fth_vec_release(&j->runs);
	json_decref(j->doc);
	free(j->key);
	free(j);
}

struct fth_listed_run *fth_run_of(struct fth_listed_job *j, uint32_t index, uint32_t attempt)
{
	for (size_t i = 0; i < j->runs.len; i++) {
		struct fth_listed_run *r = &j->runs.data[i];
		if (r->job == j->id && r->task == index && r->attempt == attempt)
			return r;
	}
	return NULL;
}

const struct fth_listed_run *fth_run_ended(const struct fth_listed_job *j, uint32_t index)
{
	for (size_t i = 0; i < j->runs.len; i++) {
		const struct fth_listed_run *r = &j->runs.data[i];
		if (r->job == j->id && r->task == index && r->state == FTH_SEEN_ENDED)
			return r;
	}
	return NULL;
}

bool fth_run_lingers(const struct fth_listed_job *j, uint32_t index, uint32_t attempt)
{
	for (size_t i = 0; i < j->runs.len; i++) {
		const struct fth_listed_run *r = &j->runs.data[i];
		bool this_one = r->job == j->id && r->task == index && r->attempt == attempt;
		if (!this_one && (r->task == index || r->task == FTH_NONE) && fth_seen_alive(r->state))
			return true;
	}
	return false;
}

static void mirror_run(const struct fth_keeper *k, struct fth_listed_job *j, const json_t *o, const struct fth_listed_job *before)
{
	static const char *const states[] = {"starting", "running", "ended", "stopped", "lost", NULL};
	const char *name = json_string_value(json_object_get(o, "run"));
	int state = word_of(o, "state", states);
	struct fth_listed_run r = {.state = (enum fth_run_seen)(FTH_SEEN_STARTING + state)};
	if (!name || state < 0)
		return;
	r.name = fth_strdup(name);
	r.started = int_of(o, "started");
	r.ended = int_of(o, "ended");
	r.exit = (int)int_of(o, "exit");
	if (!fth_run_parse(k, name, &r.job, &r.task, &r.attempt))
		r.job = r.task = r.attempt = FTH_NONE;
	for (size_t i = 0; i < before->runs.len; i++)
		if (!strcmp(before->runs.data[i].name, name))
			r.ask_again = before->runs.data[i].ask_again;
	fth_vec_push(&j->runs, r);
}

/* A job that was unfinished when the journal was opened is that job again. */
static void recognise(struct fth_keeper *k, struct fth_listed_job *j)
{
	struct fth_str key = {0};
	uint64_t id;
	fth_engine_key(k, j, &key);
	if (fth_map_get(&k->recovered, fth_key_hash(key.data), &id)) {
		fth_map_del(&k->recovered, fth_key_hash(key.data));
		const struct fth_job *job = fth_cluster_job(k->cluster, (fth_job_id)id);
		if (job && job->tasks_left)
			fth_job_set_id(k, j, (fth_job_id)id);
	}
	fth_str_release(&key);
}

static void mirror_job(struct fth_keeper *k, json_t *o)
{
	static const char *const states[] = {"waiting", "held", "ended", "cancelled", NULL};
	const char *key = json_string_value(json_object_get(o, "key"));
	int state = word_of(o, "state", states);
	if (!key || !*key || strlen(key) > 200 || state < 0) {
		fth_say(FTH_LOG_WARN, "driver lists a job without key or state", "");
		return;
	}
	struct fth_listed_job *j = fth_job_by_key(k, key);
	bool new = !j;
	if (new) {
		j = fth_alloc(sizeof(*j));
		j->key = fth_strdup(key);
		j->id = FTH_NONE;
		fth_map_put(&k->by_key, fth_key_hash(key), k->jobs.len);
		fth_vec_push(&k->jobs, j);
	}
	json_decref(j->doc);
	j->doc = json_incref(o);
	j->state = (unsigned)state;
	j->seen = true;
	j->gone = false;
	if (new)
		recognise(k, j);
	struct fth_listed_job before = *j;
	j->runs.data = NULL;
	j->runs.len = j->runs.cap = 0;
	const json_t *runs = json_object_get(o, "runs");
	for (size_t i = 0; i < json_array_size(runs); i++)
		mirror_run(k, j, json_array_get(runs, i), &before);
	clear_runs(&before);
	fth_vec_release(&before.runs);
}

static void mirror_nodes(struct fth_keeper *k, const json_t *nodes)
{
	static const char *const states[] = {"absent", "ready", "down", "leaving", "booting", NULL};
	for (size_t i = 0; i < json_array_size(nodes); i++) {
		const json_t *o = json_array_get(nodes, i);
		const char *name = json_string_value(json_object_get(o, "node"));
		int state = word_of(o, "state", states);
		if (name && state >= 0)
			fth_map_put(&k->node_states, fth_key_hash(name), (uint64_t)state);
	}
}

void fth_mirror_jobs(struct fth_keeper *k, const json_t *list, const json_t *nodes, bool full)
{
	for (size_t i = 0; i < k->jobs.len; i++)
		k->jobs.data[i]->seen = false;
	for (size_t i = 0; i < json_array_size(list); i++)
		mirror_job(k, json_array_get(list, i));
	mirror_nodes(k, nodes);
	for (size_t i = k->jobs.len; full && i-- > 0;) {
		struct fth_listed_job *j = k->jobs.data[i];
		if (j->seen)
			continue;
		clear_runs(j);
		j->gone = true;
	}
}

bool fth_node_is_absent(const struct fth_keeper *k, const char *node)
{
	uint64_t state;
	return !fth_map_get(&k->node_states, fth_key_hash(node), &state) || state == 0;
}

bool fth_node_is_ready(const struct fth_keeper *k, const char *node)
{
	uint64_t state;
	return fth_map_get(&k->node_states, fth_key_hash(node), &state) && state == 1;
}
