/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/slurm/slurm_driver.h"

#include <signal.h>

#include "drivers/settings.h"

struct config {
	char *conf, *spool;
	int64_t poll, default_mem;
};

static const struct fth_setting settings[] = {
	{"conf", FTH_SET_TEXT, offsetof(struct config, conf), false, 0, 0, NULL},
	{"spool", FTH_SET_TEXT, offsetof(struct config, spool), false, 0, 0, NULL},
	{"poll", FTH_SET_DURATION, offsetof(struct config, poll), false, 0.1, 3600, NULL},
	{"default_mem", FTH_SET_INT, offsetof(struct config, default_mem), false, 1, 1e9, NULL},
	{0},
};

int fth_slurm_failed(struct fth_error *err, const char *what)
{
	int code = slurm_get_errno();
	bool away = code == SLURM_COMMUNICATIONS_CONNECTION_ERROR || code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
		    code == SLURM_COMMUNICATIONS_RECEIVE_ERROR || code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR ||
		    code == SLURM_COMMUNICATIONS_SEND_ERROR || code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR ||
		    code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT || code == ESLURM_IN_STANDBY_MODE;
	return fth_fail(err, away ? -EAGAIN : -EIO, "%s: %s", what, slurm_strerror(code));
}

/* ---- looking ---- */

static void hold_again(struct fth_slurm *s);

/* -EAGAIN: the controller does not answer now; what was known stays so. */
static int look(struct fth_slurm *s, bool *changed, struct fth_error *err)
{
	int r = fth_slurm_look_nodes(s, changed, err);
	if (!r)
		r = fth_slurm_look_jobs(s, changed, err);
	if (!r)
		fth_slurm_read_spool(s);
	s->last_look = fth_driver_now();
	if (r && strcmp(s->trouble, err->text))
		fprintf(stderr, "%s\n", err->text); /* once, not every second */
	snprintf(s->trouble, sizeof(s->trouble), "%s", r ? err->text : "");
	if (!r && !s->dry_run)
		hold_again(s);
	return r;
}

static bool tick(void *self, int64_t now)
{
	struct fth_slurm *s = self;
	struct fth_error err = {0};
	bool changed = false;
	if (now >= s->last_look + s->poll)
		look(s, &changed, &err);
	return changed;
}

static int64_t due(void *self, int64_t now)
{
	const struct fth_slurm *s = self;
	return FTH_MAX(now, s->last_look + s->poll);
}

static int take_types(struct fth_slurm *s, const json_t *catalog, struct fth_error *err)
{
	size_t k;
	const json_t *t, *types = json_object_get(catalog, "types");
	const char *name;
	json_t *nodes;
	s->types = json_object();
	json_array_foreach(types, k, t) {
		name = json_string_value(json_object_get(t, "name"));
		if (name)
			json_object_set_new(s->types, name, json_array());
	}
	bool changed = false;
	int r = look(s, &changed, err);
	if (r)
		return r;
	json_t *n;
	json_array_foreach(s->nodes, k, n)
		json_array_append(json_object_get(s->types, json_string_value(json_object_get(n, "type"))), json_object_get(n, "node"));
	size_t found = 0;
	json_object_foreach(s->types, name, nodes)
		found += json_array_size(nodes);
	return found ? 0
		     : fth_fail(err, -ENOENT,
				"no node of this Slurm has a type of the catalog as its feature: see farthing slurm-conf (and PrivateData=cloud)");
}

static int hello(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	struct config c = {.poll = FTH_SEC, .default_mem = 1024};
	int r = fth_driver_settings(h, settings, &c, q, err);
	if (r)
		return r;
	s->spool = c.spool;
	s->poll = c.poll;
	s->default_mem = c.default_mem;
	s->dry_run = h->dry_run;
	if (c.conf)
		setenv("SLURM_CONF", c.conf, 1);
	setenv("SLURM_BITSTR_LEN", "0", 1); /* the tasks of an array in full, however many */
	slurm_init(c.conf);
	free(c.conf);
	fth_marks_init(&s->marks);
	r = take_types(s, h->catalog, err);
	if (!r)
		json_object_set(q->out, "nodes", s->types);
	return r;
}

static int list(void *self, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	bool changed = false;
	int r = look(s, &changed, err);
	if (r)
		return r; /* not knowing is not the same as nothing */
	int64_t since = fth_marks_since(&s->marks, q);
	json_t *out = json_array();
	for (size_t i = 0; i < s->jobs.len; i++)
		if (s->jobs.data[i].mark > since)
			json_array_append(out, s->jobs.data[i].shown);
	json_object_set_new(q->out, "jobs", out);
	if (s->nodes_mark > since || !since)
		json_object_set(q->out, "nodes", s->nodes);
	return 0;
}

/* ---- requests ---- */

static int may_act(const struct fth_slurm *s, struct fth_error *err)
{
	return s->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : 0;
}

static struct fth_slurm_job *job_of(struct fth_slurm *s, struct fth_request *q, struct fth_error *err)
{
	const char *key = fth_request_text(q, "job", err);
	struct fth_slurm_job *j = key ? fth_slurm_find(s, key) : NULL;
	if (key && !j)
		fth_fail(err, -ENOENT, "no such job: %.80s", key);
	return j;
}

/* NULL or NO_VAL: as it is. */
struct change {
	uint32_t priority;
	const char *nodes, *comment;
	bool now; /* forget when it may begin at the earliest */
};

static int update_job(const char *key, const struct change *c, struct fth_error *err)
{
	job_desc_msg_t m;
	job_array_resp_msg_t *each = NULL;
	slurm_init_job_desc_msg(&m);
	m.job_id_str = (char *)key;
	m.priority = c->priority;
	m.req_nodes = (char *)c->nodes;
	m.admin_comment = (char *)c->comment;
	if (c->now)
		m.begin_time = (time_t)(fth_driver_now() / FTH_SEC);
	int r = slurm_update_job2(&m, &each) ? fth_slurm_failed(err, key) : 0;
	for (uint32_t i = 0; !r && each && i < each->job_array_count; i++)
		if (each->error_code[i])
			r = fth_fail(err, -EIO, "%s: %s", key, slurm_strerror((int)each->error_code[i]));
	if (each)
		slurm_free_job_array_resp(each);
	return r;
}

/* Its runs live or end together: whether they live, and whether this is one of them. */
static bool lives(const struct fth_slurm_job *j, const char *token, bool *same)
{
	size_t k;
	const json_t *r;
	bool alive = false;
	*same = false;
	json_array_foreach(json_object_get(j->shown, "runs"), k, r) {
		const char *state = json_string_value(json_object_get(r, "state"));
		alive |= !strcmp(state, "starting") || !strcmp(state, "running");
		*same |= !strcmp(json_string_value(json_object_get(r, "run")), token);
	}
	return alive;
}

static void begin_mark(const struct fth_slurm_job *j, struct fth_str *comment)
{
	fth_str_add(comment, FTH_SLURM_MARK);
	if (j->again)
		fth_str_addf(comment, " again=%u", j->again);
}

static bool is_token(const char *s)
{
	return s && *s && strlen(s) <= 100 && !strpbrk(s, " \t,");
}

/* All runs of a job come in one request. */
static int start(void *self, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	struct fth_slurm_job *j = job_of(s, q, err);
	const json_t *runs = json_object_get(q->in, "runs"), *one;
	int r = may_act(s, err);
	if (!j || r)
		return j ? r : -ENOENT;
	struct fth_str nodes = {0}, comment = {0};
	size_t k;
	bool same = false, alive = false;
	begin_mark(j, &comment);
	fth_str_add(&comment, " run=");
	json_array_foreach(runs, k, one) {
		const char *node = json_string_value(json_object_get(one, "node")), *token = json_string_value(json_object_get(one, "run"));
		if (!is_token(token) || !node)
			r = fth_fail(err, -EINVAL, "runs: each needs a node and a token without spaces and commas");
		fth_str_addf(&nodes, "%s%s", k ? "," : "", node ? node : "");
		fth_str_addf(&comment, "%s%s", k ? "," : "", token ? token : "");
		alive = !r && lives(j, token, &same);
	}
	fth_str_addf(&comment, " restarts=%u", j->restarts);
	if (!r && !json_array_size(runs))
		r = fth_fail(err, -EINVAL, "runs: there is none");
	if (!r && alive && !same)
		r = fth_fail(err, -EBUSY, "job %s is running as another run", j->key);
	/* After a requeue Slurm has a delay of its own, which nobody asked for. */
	if (!r && !alive)
		r = update_job(j->key, &(struct change){INFINITE, nodes.data, comment.data, j->restarts > 0}, err);
	fth_str_release(&nodes);
	fth_str_release(&comment);
	s->jobs_update = 0;
	return r;
}

/* The words of the mark, with one more. */
static int mark_stopping(const struct fth_slurm_job *j, struct fth_error *err)
{
	struct fth_str comment = {0};
	size_t k;
	const json_t *one;
	begin_mark(j, &comment);
	fth_str_add(&comment, " run=");
	json_array_foreach(json_object_get(j->shown, "runs"), k, one)
		fth_str_addf(&comment, "%s%s", k ? "," : "", json_string_value(json_object_get(one, "run")));
	fth_str_addf(&comment, " restarts=%u stopping", j->restarts);
	int r = update_job(j->key, &(struct change){NO_VAL, NULL, comment.data, false}, err);
	fth_str_release(&comment);
	return r;
}

/* Its own checkpointing is the job's: Slurm sends SIGTERM, waits, and puts it back into the queue, held. */
static int stop(void *self, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	struct fth_slurm_job *j = job_of(s, q, err);
	const char *token = fth_request_text(q, "run", err);
	int r = may_act(s, err);
	if (!j || !token || r)
		return r ? r : !j ? -ENOENT : -EINVAL;
	bool same = false;
	if (!lives(j, token, &same) || !same)
		return 0; /* it has stopped already */
	r = mark_stopping(j, err);
	const json_t *run = json_array_get(json_object_get(j->shown, "runs"), 0);
	bool pending = !strcmp(json_string_value(json_object_get(run, "state")), "starting");
	if (!r && pending) /* perhaps it waits still: holding it is enough, if it does */
		update_job(j->key, &(struct change){0, "", NULL, false}, err);
	job_array_resp_msg_t *resp = NULL;
	if (!r && slurm_requeue2(j->key, JOB_REQUEUE_HOLD, &resp) && slurm_get_errno() != ESLURM_JOB_PENDING)
		r = fth_slurm_failed(err, j->key);
	if (resp)
		slurm_free_job_array_resp(resp);
	s->jobs_update = 0;
	return r;
}

/* What Slurm has requeued by itself (a node failed) it would start again where it ran: it waits for us instead. So does what somebody
 * has requeued after its end. */
static void hold_again(struct fth_slurm *s)
{
	for (size_t i = 0; i < s->jobs.len; i++) {
		struct fth_slurm_job *j = &s->jobs.data[i];
		struct fth_error err = {0};
		struct fth_str comment = {0};
		if (!j->must_hold && !j->put_back)
			continue;
		begin_mark(j, &comment);
		if (update_job(j->key, &(struct change){0, "", j->put_back ? comment.data : NULL, false}, &err))
			fprintf(stderr, "%s\n", err.text);
		else
			j->put_back = false;
		fth_str_release(&comment);
		j->must_hold = false;
		s->jobs_update = 0;
	}
}

static int cancel(void *self, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	struct fth_slurm_job *j = job_of(s, q, err);
	int r = may_act(s, err);
	if (!j || r)
		return j ? r : -ENOENT;
	s->jobs_update = 0;
	if (slurm_kill_job2(j->key, SIGKILL, 0, NULL) && slurm_get_errno() != ESLURM_ALREADY_DONE)
		return fth_slurm_failed(err, j->key);
	return 0;
}

static int node(void *self, struct fth_request *q, struct fth_error *err)
{
	struct fth_slurm *s = self;
	const char *name = fth_request_text(q, "node", err), *want = fth_request_text(q, "want", err);
	if (!name || !want)
		return -EINVAL;
	int r = may_act(s, err);
	s->nodes_update = 0;
	return r ? r : fth_slurm_node_wanted(s, name, want, err);
}

static int forget(void *self, struct fth_request *q, struct fth_error *err)
{
	const char *key = fth_request_text(q, "job", err);
	struct fth_slurm_job *j = key ? fth_slurm_find(self, key) : NULL;
	const char *state = j ? json_string_value(json_object_get(j->shown, "state")) : NULL;
	/* The controller may list it for some minutes more; it stays known so long, as ended. */
	if (state && j->seen != ((struct fth_slurm *)self)->looks && (!strcmp(state, "ended") || !strcmp(state, "cancelled")))
		fth_slurm_drop(self, key);
	return key ? 0 : -EINVAL;
}

static const struct fth_driver_op ops[] = {
	{"list", list}, {"start", start}, {"stop", stop}, {"cancel", cancel}, {"node", node}, {"forget", forget}, {0},
};

int main(void)
{
	struct fth_slurm s = {0};
	const struct fth_driver d = {.name = "slurm", .role = "workload", .hello = hello, .ops = ops, .due = due, .tick = tick};
	return fth_driver_main(&d, &s);
}
