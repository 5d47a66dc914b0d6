/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the process driver share: jobs, their runs, where they are kept. */
#ifndef FTH_DRIVERS_PROCESS_H
#define FTH_DRIVERS_PROCESS_H

#include "drivers/protocol.h"
#include "drivers/supervise.h"

struct run {
	char *name, *node;
	uint32_t task;
	struct fth_run is; /* as last seen */
};

struct job {
	char *key;
	json_t *spec;       /* as submitted */
	int64_t submitted;
	bool cancelled;
	uint32_t ntasks;
	FTH_VEC(struct run) runs;
	int64_t mark;
};

struct process {
	char *state, *cgroup; /* cgroup: NULL, there is none */
	bool dry_run, keep_output;
	int64_t grace;
	int bell; /* an inotify descriptor: a run has ended */
	struct fth_marks marks;
	FTH_VEC(struct job *) jobs;
};

/* STATE/jobs/KEY, and what is below it. */
char *fth_job_path(const struct process *p, const struct job *j, const char *below);
char *fth_run_path(const struct process *p, const struct job *j, const char *run);

/* spec.c: what a job may say. -EINVAL and the error names the key. */
int fth_spec_check(const json_t *spec, struct fth_error *err);
uint32_t fth_spec_tasks(const json_t *spec);
/* What the runner is told of one task. The caller's. */
json_t *fth_spec_run(const struct process *p, const struct job *j, const char *run, uint32_t task, const char *node, const char *instance);

/* jobs.c: jobs as they are kept. */
int fth_jobs_load(struct process *p, struct fth_error *err);
struct job *fth_jobs_find(const struct process *p, const char *key);
int fth_jobs_add(struct process *p, const char *key, json_t *spec, int64_t now, struct fth_error *err);
int fth_jobs_save(struct process *p, struct job *j, struct fth_error *err);
int fth_jobs_forget(struct process *p, struct job *j, struct fth_error *err);
void fth_jobs_free(struct job *j);
/* Look at the runs that were alive; true if something changed. */
bool fth_jobs_look(struct process *p, struct job *j);
static inline bool fth_run_is_alive(const struct run *r)
{
	return r->is.state == FTH_RUN_STARTING || r->is.state == FTH_RUN_RUNNING;
}
/* "waiting", "ended" or "cancelled". */
const char *fth_job_state(const struct job *j);

#endif
