/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's jobs as the driver protocol shows them. */
#include "drivers/slurm/slurm_driver.h"

#include <pwd.h>

void fth_slurm_mark_parse(const char *admin_comment, const char *comment, struct fth_slurm_mark *ret)
{
	size_t n = strlen(FTH_SLURM_MARK);
	*ret = (struct fth_slurm_mark){0};
	if (!admin_comment || strncmp(admin_comment, FTH_SLURM_MARK, n) || (admin_comment[n] && admin_comment[n] != ' '))
		return;
	ret->ours = true;
	const char *run = strstr(admin_comment, " run="), *restarts = strstr(admin_comment, " restarts=");
	ret->held = comment && strstr(comment, FTH_SLURM_MARK ":held");
	ret->stopping = strstr(admin_comment, " stopping") != NULL;
	const char *again = strstr(admin_comment, " again=");
	ret->again = again ? (uint32_t)strtoul(again + 7, NULL, 10) : 0;
	if (run && restarts) {
		ret->runs = run + 5;
		ret->restarts = (uint32_t)strtoul(restarts + 10, NULL, 10);
	}
}

/* ---- what a job needs ---- */

/* "8G" in MiB; Slurm writes M, G, T or nothing, which is M. */
static int64_t mebibytes(const char *s)
{
	char *end;
	double v = strtod(s, &end);
	switch (*end) {
	case 'K':
		return (int64_t)(v / 1024 + 0.999);
	case 'G':
		return (int64_t)(v * 1024);
	case 'T':
		return (int64_t)(v * 1024 * 1024);
	default:
		return (int64_t)v;
	}
}

static const char *tres_value(const char *tres, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = tres; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

void fth_slurm_demand(const char *tres, uint32_t nodes, int64_t default_mem, struct fth_str *to)
{
	const char *cpu = tres ? tres_value(tres, "cpu") : NULL, *mem = tres ? tres_value(tres, "mem") : NULL,
		   *gpu = tres ? tres_value(tres, "gres/gpu") : NULL;
	int64_t n = nodes ? nodes : 1, cpus = cpu ? strtoll(cpu, NULL, 10) : n, gpus = gpu ? strtoll(gpu, NULL, 10) : 0,
		mems = mem ? mebibytes(mem) : default_mem * n;
	/* What does not divide evenly is rounded up: each node must hold the fullest part. */
	fth_str_addf(to, "cpu:%lld,mem:%lldMiB", (long long)((cpus + n - 1) / n), (long long)((mems + n - 1) / n));
	if (gpus)
		fth_str_addf(to, ",gpu:%lld", (long long)((gpus + n - 1) / n));
}

static json_t *user_of(const job_info_t *j)
{
	const struct passwd *p = j->user_name && *j->user_name ? NULL : getpwuid(j->user_id);
	if (j->user_name && *j->user_name)
		return json_string(j->user_name);
	return p ? json_string(p->pw_name) : json_sprintf("%u", j->user_id);
}

/* ---- where it stands ---- */

static bool is_over(uint32_t base)
{
	return base > JOB_SUSPENDED;
}

static bool said(const char *s)
{
	return s && *s;
}

/*
 * What a policy cannot know of: which of the types would do. Such a job is not offered to it, or machines would be rented for it on which
 * Slurm will not start it. Slurm's own verdict on an earlier try counts too.
 */
static const char *unplaceable(const job_info_t *j, const struct fth_slurm_mark *m)
{
	if ((j->job_state & JOB_STATE_BASE) != JOB_PENDING)
		return NULL;
	if (j->state_reason == FAIL_BAD_CONSTRAINTS)
		return "Slurm says that it fits no node as it is";
	if (said(j->features))
		return "it asks for features (--constraint)";
	if (said(j->exc_nodes))
		return "it excludes nodes (--exclude)";
	if (!m->runs && said(j->req_nodes))
		return "it names its nodes (--nodelist)";
	if (said(j->resv_name))
		return "it asks for a reservation";
	return j->het_job_id ? "it is part of a heterogeneous job" : NULL;
}

static const char *job_state(const job_info_msg_t *all, const job_info_t *j, const struct fth_slurm_mark *m, int64_t now)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;
	if (base == JOB_CANCELLED)
		return "cancelled";
	if (is_over(base) && !(j->job_state & JOB_COMPLETING))
		return "ended";
	if (base != JOB_PENDING)
		return m->runs ? "waiting" : "held"; /* an administrator has let it run: it is no longer ours to place */
	/* `scontrol requeuehold` by somebody else. */
	bool requeued = !m->stopping && !j->priority && j->state_desc && strstr(j->state_desc, "requeued in held");
	/* After a requeue the delay is Slurm's own, and not the user's --begin. */
	bool later = j->eligible_time > (time_t)(now / FTH_SEC) && !j->priority && !j->restart_cnt;
	return m->held || later || requeued || unplaceable(j, m) || !fth_slurm_may_begin(all, j) ? "held" : "waiting";
}

static const char *run_state(const job_info_t *j, const struct fth_slurm_mark *m)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;
	if (j->job_state & JOB_COMPLETING)
		return "running"; /* it still holds its nodes */
	if (base == JOB_PENDING) {
		if (j->restart_cnt > m->restarts)
			return m->stopping ? "stopped" : "lost";
		return j->priority ? "starting" : "stopped";
	}
	if (is_over(base))
		return "ended";
	return j->job_state & JOB_CONFIGURING ? "starting" : "running";
}

static int exit_of(const job_info_t *j)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;
	int status = (int)j->exit_code;
	if (base == JOB_COMPLETE && !status)
		return 0;
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return code ? code : 1; /* timeout, node failure and their like have no status of their own */
}

/* One run a node. */
static json_t *runs_of(const job_info_t *j, const struct fth_slurm_mark *m)
{
	json_t *out = json_array();
	const char *state = m->runs ? run_state(j, m) : NULL;
	hostlist_t hosts = slurm_hostlist_create(j->nodes && *j->nodes ? j->nodes : j->req_nodes ? j->req_nodes : "");
	int task = 0;
	for (const char *p = m->runs; p && *p && *p != ' '; task++) {
		size_t n = strcspn(p, ", ");
		char *host = hosts ? slurm_hostlist_shift(hosts) : NULL;
		json_t *r = json_pack("{s:s#, s:i, s:s, s:s}", "run", p, (int)n, "task", task, "node", host ? host : "", "state", state);
		if (j->start_time && strcmp(state, "starting"))
			json_object_set_new(r, "started", json_integer((json_int_t)j->start_time * FTH_SEC));
		if (!strcmp(state, "ended")) {
			json_object_set_new(r, "ended", json_integer((json_int_t)j->end_time * FTH_SEC));
			json_object_set_new(r, "exit", json_integer(exit_of(j)));
		}
		json_array_append_new(out, r);
		free(host);
		p += n + (p[n] == ',');
	}
	slurm_hostlist_destroy(hosts);
	return out;
}

static json_t *shown(const struct fth_slurm *s, const job_info_msg_t *all, const job_info_t *j, const char *key, const struct fth_slurm_mark *m, int64_t now)
{
	struct fth_str demand = {0};
	uint32_t nodes = j->num_nodes ? j->num_nodes : 1;
	fth_slurm_demand(j->tres_req_str, nodes, s->default_mem, &demand);
	json_t *o = json_pack("{s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:s, s:[{s:i, s:s}], s:o}", "key", key, "user", user_of(j), "name",
			      j->name ? j->name : "", "class", j->name ? j->name : "", "kind", nodes > 1 ? "rigid" : "independent",
			      "submitted", (json_int_t)j->submit_time * FTH_SEC, "priority",
			      (json_int_t)NICE_OFFSET - (json_int_t)j->nice, "state", job_state(all, j, m, now), "tasks", "count",
			      (int)nodes, "demand", demand.data, "runs", runs_of(j, m));
	if (o && m->again)
		json_object_set_new(o, "again", json_integer(m->again));
	if (o && nodes > 1) /* each of its tasks is a node */
		json_object_set_new(o, "apart", json_true());
	if (o && j->shared == JOB_SHARED_NONE)
		json_object_set_new(o, "exclusive", json_true());
	const char *why = unplaceable(j, m);
	if (o && why)
		json_object_set_new(o, "why", json_string(why));
	if (o && j->time_limit != INFINITE && j->time_limit != NO_VAL)
		json_object_set_new(o, "limit", json_integer((json_int_t)j->time_limit * 60));
	fth_str_release(&demand);
	return o;
}

/* ---- the table ---- */

static uint64_t hash_of(const char *key)
{
	return fth_hash_bytes(key, strlen(key), 0);
}

/* Two keys of one hash do not meet among the job numbers of one controller, but we look all the same. */
struct fth_slurm_job *fth_slurm_find(struct fth_slurm *s, const char *key)
{
	uint64_t at;
	if (!fth_map_get(&s->by_key, hash_of(key), &at) || strcmp(s->jobs.data[at].key, key))
		return NULL;
	return &s->jobs.data[at];
}

static void take(struct fth_slurm *s, const job_info_msg_t *all, const job_info_t *j, const char *key, const struct fth_slurm_mark *mark, int64_t now,
		 bool *changed)
{
	struct fth_slurm_job *known = fth_slurm_find(s, key);
	struct fth_slurm_mark own = *mark, *m = &own;
	bool pending = (j->job_state & JOB_STATE_BASE) == JOB_PENDING, put_back = known && known->over && pending;
	if (put_back && m->again == known->again) { /* its mark does not say so yet */
		m->again++;
		m->runs = NULL;
	}
	json_t *o = shown(s, all, j, key, m, now);
	if (!o)
		return; /* a name that is no UTF-8: jansson says no; such a job stays held, and Slurm's own tools show it */
	if (!known) {
		fth_map_put(&s->by_key, hash_of(key), s->jobs.len);
		fth_vec_push(&s->jobs, ((struct fth_slurm_job){.key = fth_strdup(key)}));
		known = &fth_vec_last(&s->jobs);
	}
	const char *why = unplaceable(j, m);
	if (why && why != known->told)
		fprintf(stderr, "job %s cannot be placed: %s\n", key, why);
	known->told = why;
	known->seen = s->looks;
	known->restarts = j->restart_cnt;
	known->put_back |= put_back;
	known->again = m->again;
	known->over = is_over(j->job_state & JOB_STATE_BASE) && !(j->job_state & JOB_COMPLETING);
	bool back = pending && m->runs && j->restart_cnt > m->restarts;
	known->must_hold = back && j->priority;
	if (known->shown && json_equal(known->shown, o)) {
		json_decref(o);
		return;
	}
	json_decref(known->shown);
	known->shown = o;
	known->mark = fth_marks_next(&s->marks);
	*changed = true;
}

/* Pending tasks of an array are one record until they are touched. */
static void take_array(struct fth_slurm *s, const job_info_msg_t *all, const job_info_t *j, const struct fth_slurm_mark *m, int64_t now, bool *changed)
{
	char key[48], *end;
	for (const char *p = j->array_task_str; p && *p && *p != '%';) {
		unsigned long from = strtoul(p, &end, 10), to = from, step = 1;
		if (end == p)
			return;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (*end == ':')
			step = strtoul(end + 1, &end, 10);
		for (unsigned long k = from; k <= to && k >= from; k += step ? step : 1) {
			snprintf(key, sizeof(key), "%u_%lu", j->array_job_id, k);
			take(s, all, j, key, m, now, changed);
		}
		p = *end == ',' ? end + 1 : "";
	}
}

void fth_slurm_drop(struct fth_slurm *s, const char *key)
{
	struct fth_slurm_job *j = fth_slurm_find(s, key);
	if (!j)
		return;
	size_t at = (size_t)(j - s->jobs.data);
	fth_map_del(&s->by_key, hash_of(key));
	free(j->key);
	json_decref(j->shown);
	struct fth_slurm_job last = fth_vec_pop(&s->jobs);
	if (at < s->jobs.len) {
		s->jobs.data[at] = last;
		fth_map_put(&s->by_key, hash_of(last.key), at);
	}
}

/* The controller forgets a job some minutes after its end (MinJobAge). One that we never saw end has ended all the same. */
static void miss(struct fth_slurm *s, struct fth_slurm_job *j, bool *changed)
{
	const char *state = json_string_value(json_object_get(j->shown, "state"));
	if (!strcmp(state, "ended") || !strcmp(state, "cancelled"))
		return;
	size_t k;
	json_t *r, *runs = json_object_get(j->shown, "runs");
	json_object_set_new(j->shown, "state", json_string("ended"));
	json_array_foreach(runs, k, r) {
		json_object_set_new(r, "state", json_string("ended"));
		json_object_set_new(r, "ended", json_integer(fth_driver_now()));
		json_object_set_new(r, "exit", json_integer(1));
	}
	j->mark = fth_marks_next(&s->marks);
	*changed = true;
}

int fth_slurm_look_jobs(struct fth_slurm *s, bool *changed, struct fth_error *err)
{
	job_info_msg_t *all = NULL;
	if (slurm_load_jobs(s->jobs_update, &all, SHOW_ALL | SHOW_DETAIL)) {
		if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA)
			return 0;
		return fth_slurm_failed(err, "jobs cannot be listed");
	}
	int64_t now = fth_driver_now();
	s->looks++;
	for (uint32_t i = 0; i < all->record_count; i++) {
		const job_info_t *j = &all->job_array[i];
		struct fth_slurm_mark m;
		char key[48];
		fth_slurm_mark_parse(j->admin_comment, j->comment, &m);
		if (!m.ours)
			continue;
		bool of_array = j->array_job_id && j->array_task_id == NO_VAL;
		if (of_array) {
			take_array(s, all, j, &m, now, changed);
			continue;
		}
		if (j->array_job_id)
			snprintf(key, sizeof(key), "%u_%u", j->array_job_id, j->array_task_id);
		else
			snprintf(key, sizeof(key), "%u", j->job_id);
		take(s, all, j, key, &m, now, changed);
	}
	/* The same second may bring more: ask again from just before it. */
	s->jobs_update = all->last_update - 1;
	slurm_free_job_info_msg(all);
	for (size_t i = 0; i < s->jobs.len; i++)
		if (s->jobs.data[i].seen != s->looks)
			miss(s, &s->jobs.data[i], changed);
	return 0;
}
