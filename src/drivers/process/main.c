/* SPDX-License-Identifier: Apache-2.0 */
/*
 * farthing-driver-process: jobs as processes of this machine, each under a runner that outlives us and the daemon. A run that is known is
 * never started again, a task of which a run lives or has ended is not started under another.
 */
#include "drivers/process/process.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/settings.h"

struct config {
	int64_t grace;
	bool keep_output, cgroup;
};

static const struct fth_setting settings[] = {
	{"grace", FTH_SET_DURATION, offsetof(struct config, grace), false, 0, 3600, NULL},
	{"keep_output", FTH_SET_BOOL, offsetof(struct config, keep_output), false, 0, 0, NULL},
	{"cgroup", FTH_SET_BOOL, offsetof(struct config, cgroup), false, 0, 0, NULL},
	{0},
};

/* A folder below our own in the cgroup v2 tree, where that can be made; not that of another cluster, though it has the same name. */
static char *find_cgroup(const char *cluster, const char *state)
{
	char line[4096], mount[4096] = "", own[4096] = "", kind[64];
	FILE *f = fopen("/proc/self/mounts", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %4095s %63s", mount, kind) == 2 && !strcmp(kind, "cgroup2"))
			break;
		else
			mount[0] = 0;
	if (f)
		fclose(f);
	f = mount[0] ? fopen("/proc/self/cgroup", "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "0::%4095s", own) == 1)
			break;
	if (f)
		fclose(f);
	struct fth_str path = {0};
	fth_str_addf(&path, "%s%s/farthing-%s-%016llx", mount, strcmp(own, "/") ? own : "", cluster,
		     (unsigned long long)fth_hash_bytes(state, strlen(state), 5));
	if (own[0] && (!mkdir(path.data, 0755) || errno == EEXIST))
		return path.data;
	fth_str_release(&path);
	return NULL;
}

static int watch_bell(struct process *p, struct fth_error *err)
{
	struct fth_str path = {0};
	fth_str_addf(&path, "%s/bell", p->state);
	int r = fth_keep_dir(path.data, err);
	p->bell = r ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (!r && (p->bell < 0 || inotify_add_watch(p->bell, path.data, IN_CLOSE_WRITE) < 0))
		r = fth_fail(err, -errno, "%s cannot be watched: %s", path.data, strerror(errno));
	fth_str_release(&path);
	return r;
}

static int hello(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	struct config c = {.grace = 10 * FTH_SEC, .keep_output = true, .cgroup = true};
	int r = fth_driver_settings(h, settings, &c, q, err);
	if (r)
		return r;
	p->state = fth_strdup(h->state);
	p->dry_run = h->dry_run;
	p->grace = c.grace;
	p->keep_output = c.keep_output;
	p->cgroup = c.cgroup && !p->dry_run ? find_cgroup(h->cluster, h->state) : NULL;
	fth_marks_init(&p->marks);
	r = p->dry_run ? 0 : watch_bell(p, err);
	return r ? r : fth_jobs_load(p, err);
}

/* ---- looking ---- */

static bool tick(void *self, int64_t now)
{
	struct process *p = self;
	char bells[4096];
	bool changed = false;
	(void)now;
	while (p->bell >= 0 && read(p->bell, bells, sizeof(bells)) > 0)
		;
	for (size_t k = 0; k < p->jobs.len; k++)
		changed |= fth_jobs_look(p, p->jobs.data[k]);
	return changed;
}

static bool any_alive(const struct process *p, enum fth_run_state s)
{
	for (size_t k = 0; k < p->jobs.len; k++)
		for (size_t n = 0; n < p->jobs.data[k]->runs.len; n++)
			if (p->jobs.data[k]->runs.data[n].is.state == s)
				return true;
	return false;
}

/* Ends come with the bell; those of runners that were killed are found by looking. */
static int64_t due(void *self, int64_t now)
{
	const struct process *p = self;
	if (any_alive(p, FTH_RUN_STARTING))
		return now + 20 * FTH_MS;
	return any_alive(p, FTH_RUN_RUNNING) ? now + FTH_SEC : INT64_MAX;
}

static int watch(void *self)
{
	return ((struct process *)self)->bell;
}

static json_t *shown(const struct job *j)
{
	static const char *const copied[] = {"name", "user", "kind", "priority", "estimate", "limit", "class"};
	json_t *o = json_pack("{s:s, s:I, s:s}", "key", j->key, "submitted", (json_int_t)j->submitted, "state", fth_job_state(j));
	for (size_t k = 0; k < FTH_COUNT(copied); k++) {
		json_t *v = json_object_get(j->spec, copied[k]);
		int64_t t;
		if (v && (k == 4 || k == 5) && !fth_setting_duration(v, &t))
			json_object_set_new(o, copied[k], json_real((double)t / 1e6));
		else if (v)
			json_object_set(o, copied[k], v);
	}
	json_t *tasks = json_object_get(j->spec, "tasks");
	json_object_set_new(o, "tasks", tasks ? json_incref(tasks) : json_pack("[{s:i, s:s}]", "count", 1, "demand", "cpu:1"));
	json_t *runs = json_array();
	for (size_t k = 0; k < j->runs.len; k++) {
		const struct run *r = &j->runs.data[k];
		json_t *one = json_pack("{s:s, s:i, s:s, s:s}", "run", r->name, "task", (int)r->task, "node", r->node, "state",
					fth_run_state_name(r->is.state));
		if (r->is.started)
			json_object_set_new(one, "started", json_integer(r->is.started));
		if (r->is.ended) {
			json_object_set_new(one, "ended", json_integer(r->is.ended));
			json_object_set_new(one, "exit", json_integer(r->is.exit));
		}
		json_array_append_new(runs, one);
	}
	json_object_set_new(o, "runs", runs);
	return o;
}

static int list(void *self, struct fth_request *q, struct fth_error *err)
{
	(void)err;
	struct process *p = self;
	if (!p->dry_run)
		tick(p, q->now);
	int64_t since = fth_marks_since(&p->marks, q);
	json_t *out = json_array();
	for (size_t k = 0; k < p->jobs.len; k++)
		if (p->jobs.data[k]->mark > since)
			json_array_append_new(out, shown(p->jobs.data[k]));
	json_object_set_new(q->out, "jobs", out);
	return 0;
}

/* ---- requests ---- */

/* The job a request names; NULL and the error. */
static struct job *job_of(struct process *p, struct fth_request *q, struct fth_error *err)
{
	const char *key = fth_request_text(q, "job", err);
	struct job *j = key ? fth_jobs_find(p, key) : NULL;
	if (p->dry_run) {
		fth_fail(err, -EPERM, "this is a dry run");
		return NULL;
	}
	if (key && !j)
		fth_fail(err, -ENOENT, "no such job: %.80s", key);
	return j;
}

static int submit(void *self, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	const char *key = fth_request_text(q, "key", err);
	json_t *spec = json_object_get(q->in, "spec");
	if (!key || p->dry_run)
		return p->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!fth_name_is_plain(key))
		return fth_fail(err, -EINVAL, "key: letters, digits and . _ - + only");
	const struct job *j = fth_jobs_find(p, key);
	if (j)
		return json_equal(j->spec, spec) ? 0 : fth_fail(err, -EEXIST, "there is another job %s", key);
	int r = fth_spec_check(spec, err);
	return r ? r : fth_jobs_add(p, key, spec, q->now, err);
}

static struct run *find_run(const struct job *j, const char *name)
{
	for (size_t k = 0; k < j->runs.len; k++)
		if (!strcmp(j->runs.data[k].name, name))
			return &j->runs.data[k];
	return NULL;
}

/* Whether this run may begin: 0, 1 if it has, -errno. */
static int may_start(const struct job *j, const char *name, uint32_t task, struct fth_error *err)
{
	if (find_run(j, name))
		return 1;
	if (j->cancelled)
		return fth_fail(err, -ECANCELED, "job %s is cancelled", j->key);
	if (task >= j->ntasks)
		return fth_fail(err, -EINVAL, "job %s has %u tasks", j->key, j->ntasks);
	for (size_t k = 0; k < j->runs.len; k++) {
		const struct run *r = &j->runs.data[k];
		if (r->task == task && (fth_run_is_alive(r) || r->is.state == FTH_RUN_ENDED))
			return fth_fail(err, -EALREADY, "task %u of job %s: its run %s %s", task, j->key, r->name,
					r->is.state == FTH_RUN_ENDED ? "has ended" : "is alive");
	}
	return 0;
}

static int start_one(struct process *p, struct job *j, const json_t *run, struct fth_error *err)
{
	const char *name = json_string_value(json_object_get(run, "run")), *node = json_string_value(json_object_get(run, "node"));
	const char *instance = json_string_value(json_object_get(run, "instance"));
	uint32_t task = (uint32_t)json_integer_value(json_object_get(run, "task"));
	if (!name || !node || !fth_name_is_plain(name))
		return fth_fail(err, -EINVAL, "each of 'runs' has a plain 'run', a 'task' and a 'node'");
	int r = may_start(j, name, task, err);
	if (r)
		return r < 0 ? r : 0;
	char *dir = fth_run_path(p, j, name);
	json_t *spec = fth_spec_run(p, j, name, task, node, instance ? instance : node);
	r = fth_run_start(dir, spec, err);
	json_decref(spec);
	free(dir);
	if (r)
		return r;
	struct run new = {.name = fth_strdup(name), .node = fth_strdup(node), .task = task, .is = {.state = FTH_RUN_STARTING}};
	fth_vec_push(&j->runs, new);
	j->mark = fth_marks_next(&p->marks);
	return 0;
}

static int start(void *self, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	struct job *j = job_of(p, q, err);
	json_t *runs = json_object_get(q->in, "runs");
	if (!j)
		return -ENOENT;
	if (!json_array_size(runs))
		return fth_fail(err, -EINVAL, "'runs' is missing or empty");
	int r = 0;
	fth_jobs_look(p, j);
	for (size_t k = 0; !r && k < json_array_size(runs); k++)
		r = start_one(p, j, json_array_get(runs, k), err);
	return r;
}

static int stop(void *self, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	struct job *j = job_of(p, q, err);
	const char *name = fth_request_text(q, "run", err);
	if (!j || !name || !find_run(j, name))
		return !j ? -ENOENT : !name ? -EINVAL : fth_fail(err, -ENOENT, "no such run: %.80s", name);
	char *dir = fth_run_path(p, j, name);
	int r = fth_run_stop(dir, json_is_true(json_object_get(q->in, "lost")), err);
	free(dir);
	return r;
}

static int cancel(void *self, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	struct job *j = job_of(p, q, err);
	if (!j)
		return -ENOENT;
	fth_jobs_look(p, j);
	if (!strcmp(fth_job_state(j), "ended"))
		return fth_fail(err, -EALREADY, "job %s has ended", j->key);
	bool before = j->cancelled;
	j->cancelled = true;
	int r = before ? 0 : fth_jobs_save(p, j, err);
	for (size_t k = 0; !r && k < j->runs.len; k++) {
		char *dir = fth_run_path(p, j, j->runs.data[k].name);
		if (fth_run_is_alive(&j->runs.data[k]))
			r = fth_run_stop(dir, true, err);
		free(dir);
	}
	return r;
}

static int forget(void *self, struct fth_request *q, struct fth_error *err)
{
	struct process *p = self;
	const char *key = fth_request_text(q, "job", err);
	if (!key || p->dry_run)
		return p->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	struct job *j = fth_jobs_find(p, key);
	return j ? fth_jobs_forget(p, j, err) : 0;
}

static const struct fth_driver_op ops[] = {
	{"list", list}, {"submit", submit}, {"start", start}, {"stop", stop}, {"cancel", cancel}, {"forget", forget}, {0},
};
static const struct fth_driver driver = {
	.name = "process", .role = "workload", .hello = hello, .ops = ops, .due = due, .tick = tick, .watch = watch,
};

int main(void)
{
	struct process p = {.bell = -1};
	int r = fth_driver_main(&driver, &p);
	for (size_t k = 0; k < p.jobs.len; k++)
		fth_jobs_free(p.jobs.data[k]);
	fth_vec_release(&p.jobs);
	if (p.cgroup)
		rmdir(p.cgroup); /* which it lets us if nothing runs */
	free(p.cgroup);
	free(p.state);
	return r;
}
