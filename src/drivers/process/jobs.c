/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as they are kept: STATE/jobs/KEY/job.json and STATE/jobs/KEY/runs/RUN/. */
#include "drivers/process/process.h"

#include <sys/stat.h>
#include <unistd.h>

#include "drivers/keep.h"

char *fth_job_path(const struct process *p, const struct job *j, const char *below)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/jobs/%s%s%s", p->state, j->key, *below ? "/" : "", below);
	return s.data;
}

char *fth_run_path(const struct process *p, const struct job *j, const char *run)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/jobs/%s/runs/%s", p->state, j->key, run);
	return s.data;
}

void fth_jobs_free(struct job *j)
{
	for (size_t k = 0; k < j->runs.len; k++) {
		free(j->runs.data[k].name);
		free(j->runs.data[k].node);
	}
	fth_vec_release(&j->runs);
	json_decref(j->spec);
	free(j->key);
	free(j);
}

struct job *fth_jobs_find(const struct process *p, const char *key)
{
	for (size_t k = 0; k < p->jobs.len; k++)
		if (!strcmp(p->jobs.data[k]->key, key))
			return p->jobs.data[k];
	return NULL;
}

const char *fth_job_state(const struct job *j)
{
	uint32_t ended = 0;
	if (j->cancelled)
		return "cancelled";
	for (size_t k = 0; k < j->runs.len; k++)
		ended += j->runs.data[k].is.state == FTH_RUN_ENDED;
	return ended >= j->ntasks ? "ended" : "waiting";
}

int fth_jobs_save(struct process *p, struct job *j, struct fth_error *err)
{
	char *dir = fth_job_path(p, j, ""), *path = fth_job_path(p, j, "job.json");
	json_t *doc = json_pack("{s:s, s:O, s:I, s:b}", "key", j->key, "spec", j->spec, "submitted", (json_int_t)j->submitted, "cancelled",
				j->cancelled);
	int r = fth_keep_dir(dir, err);
	if (!r)
		r = fth_keep_write(path, doc, err);
	json_decref(doc);
	free(path);
	free(dir);
	j->mark = fth_marks_next(&p->marks);
	return r;
}

int fth_jobs_add(struct process *p, const char *key, json_t *spec, int64_t now, struct fth_error *err)
{
	struct job *j = fth_alloc(sizeof(*j));
	j->key = fth_strdup(key);
	j->spec = json_incref(spec);
	j->submitted = now;
	j->ntasks = fth_spec_tasks(spec);
	int r = fth_jobs_save(p, j, err);
	if (r)
		fth_jobs_free(j);
	else
		fth_vec_push(&p->jobs, j);
	return r;
}

/* ---- reading them back ---- */

struct loading {
	struct process *p;
	struct job *j;
};

static int load_run(void *arg, const char *name)
{
	struct loading *l = arg;
	char *dir = fth_run_path(l->p, l->j, name);
	struct fth_str path = {0};
	fth_str_addf(&path, "%s/run.json", dir);
	json_t *doc = fth_keep_read(path.data);
	const char *node = json_string_value(json_object_get(doc, "node"));
	struct run run = {.name = fth_strdup(name), .node = fth_strdup(node ? node : ""), .task = (uint32_t)json_integer_value(json_object_get(doc, "task"))};
	fth_run_look(dir, &run.is);
	if (run.is.state != FTH_RUN_NONE) {
		fth_vec_push(&l->j->runs, run);
	} else {
		free(run.name); /* it was to be started and was not: whoever wants it asks again */
		free(run.node);
	}
	json_decref(doc);
	fth_str_release(&path);
	free(dir);
	return 0;
}

static int load_job(void *arg, const char *key)
{
	struct process *p = arg;
	struct job *j = fth_alloc(sizeof(*j));
	j->key = fth_strdup(key);
	char *path = fth_job_path(p, j, "job.json"), *runs = fth_job_path(p, j, "runs");
	json_t *doc = fth_keep_read(path);
	j->spec = json_incref(json_object_get(doc, "spec"));
	j->submitted = json_integer_value(json_object_get(doc, "submitted"));
	j->cancelled = json_is_true(json_object_get(doc, "cancelled"));
	j->mark = fth_marks_next(&p->marks);
	if (!j->spec) {
		/* One that was never answered for has nothing but its folder. */
		char *dir = fth_job_path(p, j, "");
		if (access(path, F_OK) && access(runs, F_OK) && !p->dry_run)
			fth_keep_remove(dir);
		else
			fprintf(stderr, "driver process: job %s cannot be read, and is left alone\n", key);
		free(dir);
		fth_jobs_free(j);
	} else {
		j->ntasks = fth_spec_tasks(j->spec);
		fth_keep_each(runs, load_run, &(struct loading){p, j});
		fth_vec_push(&p->jobs, j);
	}
	json_decref(doc);
	free(path);
	free(runs);
	return 0;
}

int fth_jobs_load(struct process *p, struct fth_error *err)
{
	struct fth_str path = {0};
	fth_str_addf(&path, "%s/removed", p->state);
	if (!p->dry_run)
		fth_keep_remove(path.data); /* what a removal that was cut off has left */
	fth_str_clear(&path);
	fth_str_addf(&path, "%s/jobs", p->state);
	int r = p->dry_run ? 0 : fth_keep_dir(path.data, err);
	if (!r)
		r = fth_keep_each(path.data, load_job, p);
	fth_str_release(&path);
	return r;
}

/* ---- their ends ---- */

bool fth_jobs_look(struct process *p, struct job *j)
{
	bool changed = false;
	for (size_t k = 0; k < j->runs.len; k++) {
		struct run *r = &j->runs.data[k];
		enum fth_run_state before = r->is.state;
		if (!fth_run_is_alive(r))
			continue;
		char *dir = fth_run_path(p, j, r->name);
		fth_run_look(dir, &r->is);
		free(dir);
		if (r->is.state == FTH_RUN_NONE)
			r->is.state = FTH_RUN_LOST; /* its runner died before it had said a word */
		changed |= r->is.state != before;
	}
	if (changed)
		j->mark = fth_marks_next(&p->marks);
	return changed;
}

/* What its runs wrote stays, as STATE/output/KEY.TASK.out and .err. */
static void keep_output(struct process *p, struct job *j)
{
	static const char *const from[] = {"stdout", "stderr"}, *const to[] = {"out", "err"};
	struct fth_str a = {0}, b = {0};
	fth_str_addf(&b, "%s/output", p->state);
	fth_keep_dir(b.data, NULL);
	for (size_t k = 0; k < j->runs.len; k++)
		for (int f = 0; f < 2; f++) {
			const struct run *r = &j->runs.data[k];
			fth_str_clear(&a);
			fth_str_clear(&b);
			fth_str_addf(&a, "%s/jobs/%s/runs/%s/%s", p->state, j->key, r->name, from[f]);
			fth_str_addf(&b, "%s/output/%s.%u.%s", p->state, j->key, r->task, to[f]);
			if (rename(a.data, b.data) && errno != ENOENT)
				fprintf(stderr, "driver process: %s: %s\n", b.data, strerror(errno));
		}
	fth_str_release(&a);
	fth_str_release(&b);
}

/* At once as far as anybody who looks later can tell: it is moved out of the way first. */
static int remove_job(const struct process *p, const struct job *j, struct fth_error *err)
{
	char *dir = fth_job_path(p, j, "");
	struct fth_str away = {0};
	fth_str_addf(&away, "%s/removed", p->state);
	int r = fth_keep_dir(away.data, err);
	fth_str_addf(&away, "/%s", j->key);
	if (!r && rename(dir, away.data))
		r = fth_fail(err, -errno, "%s cannot be removed: %s", dir, strerror(errno));
	if (!r)
		fth_keep_remove(away.data);
	free(dir);
	fth_str_release(&away);
	return r;
}

int fth_jobs_forget(struct process *p, struct job *j, struct fth_error *err)
{
	fth_jobs_look(p, j);
	for (size_t k = 0; k < j->runs.len; k++)
		if (fth_run_is_alive(&j->runs.data[k]))
			return fth_fail(err, -EBUSY, "run %s of job %s has not ended", j->runs.data[k].name, j->key);
	if (!strcmp(fth_job_state(j), "waiting"))
		return fth_fail(err, -EBUSY, "job %s has not ended", j->key);
	if (p->keep_output)
		keep_output(p, j);
	int r = remove_job(p, j, err);
	for (size_t k = 0; !r && k < p->jobs.len; k++)
		if (p->jobs.data[k] == j) {
			memmove(&p->jobs.data[k], &p->jobs.data[k + 1], (p->jobs.len - k - 1) * sizeof(*p->jobs.data));
			p->jobs.len--;
			fth_jobs_free(j);
			return 0;
		}
	return r;
}
