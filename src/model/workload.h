/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workload: the jobs users submit, with what is hidden from policies (the true amount of work).
 *
 * What many tasks share is a kind (farthing/types.h), interned once; a job is a few groups of tasks
 * of one kind. So a job costs a hundred bytes or two, whatever its description was.
 */
#ifndef FTH_MODEL_WORKLOAD_H
#define FTH_MODEL_WORKLOAD_H

#include "base/base.h"

/* ---- kinds ---- */

struct fth_kinds {
	struct fth_symtab *syms; /* borrowed */
	uint32_t nres;           /* 3 + the extra resources that demands name, as in a catalog */
	fth_sym res_names[FTH_RES_MAX];
	FTH_VEC(struct fth_kind) list;
	FTH_VEC(fth_kind_id) next; /* hash chains */
	struct fth_map by_hash;
	struct fth_arena alts;
};
void fth_kinds_init(struct fth_kinds *k, struct fth_symtab *syms);
void fth_kinds_release(struct fth_kinds *k);
/* The index of the extra resource with this name, made if there is room; -1 if there is none. */
int fth_kinds_resource(struct fth_kinds *k, const char *name);
/* Number the extras as this catalog does. Call it before a workload is read: a demand for an extra
 * that the workload numbers otherwise than the catalog is refused by fth_workload_check. */
void fth_kinds_adopt_resources(struct fth_kinds *k, uint32_t nres, const fth_sym *res_names);
/* The id of a kind equal to this one; its alternatives are copied when it is new. */
fth_kind_id fth_kinds_intern(struct fth_kinds *k, const struct fth_kind *proto);

/* ---- jobs ---- */

struct fth_task_group {
	fth_kind_id kind;
	uint32_t count;     /* > 0 */
	fth_time work;      /* runtime of each task alone at full speed */
	uint32_t first_own; /* index into works[] of count runtimes, one per task; FTH_NONE: all are `work` */
};

struct fth_job_spec {
	fth_sym key;  /* the user's id for it; unique */
	fth_sym user, anti_affinity;
	enum fth_job_kind kind;
	int32_t priority;
	uint32_t first_group, ngroups;
	uint32_t line; /* of the file it was read from; 0 unknown */
	fth_time submit;
	fth_time deadline; /* FTH_NEVER none */
	fth_time estimate; /* the user's own; 0 none */
	/* Iterative jobs: total iterations and iterations per second at full speed; 0 when the work is
	 * told as time only. The job's runtime alone is iters / iter_rate. */
	int64_t iters;
	double iter_rate;
	double availability; /* of a service: share of time for which all of it must be there; 0: unsaid */
};

/* How what is told of a task's runtime comes about. */
enum fth_told_by {
	FTH_TOLD_AS_WANTED = 0, /* exactly, to policies that want exact runtimes; to others the job's own estimate */
	FTH_TOLD_AS_GIVEN,     /* the job's own estimate, 0 where it has none */
	FTH_TOLD_EXACTLY,
	FTH_TOLD_WITHIN,       /* runtime x uniform [error, 1], or [1, error]: one draw a task */
	FTH_TOLD_LOGNORMAL,    /* mean of the job's tasks x e^(error x normal), one draw a job; and spread, one a task */
};
struct fth_told {
	enum fth_told_by by;
	double error, spread;
	int64_t seed;
};

struct fth_workload {
	struct fth_symtab *syms; /* borrowed */
	struct fth_kinds *kinds; /* borrowed */
	fth_sym name;            /* for reports */
	/* Progress is made and looked at in steps of this long (0: continuously). Eva's traces: 1 s. */
	fth_time step;
	/* What the clock's zero is in microseconds since 1970; 0: unsaid. Calendars (monthly discounts) go by it. */
	fth_time epoch;
	FTH_VEC(fth_sym) notes; /* what the file says of itself: header comments, what was left out */
	struct fth_told told;
	FTH_VEC(struct fth_job_spec) jobs; /* by submit time, ties in file order */
	FTH_VEC(struct fth_task_group) groups;
	FTH_VEC(fth_time) works;
	struct fth_map by_key;
};
void fth_workload_init(struct fth_workload *w, struct fth_symtab *syms, struct fth_kinds *kinds);
void fth_workload_release(struct fth_workload *w);
/* Add a job with its groups. -EEXIST if its key is taken. groups[].first_own must be FTH_NONE or index works. */
int fth_workload_add(struct fth_workload *w, const struct fth_job_spec *job, const struct fth_task_group *groups,
		     uint32_t ngroups);
/* Order the jobs by submit time (stable). */
void fth_workload_finish(struct fth_workload *w);
/* Runtime of task i of a group alone at full speed. */
static inline fth_time fth_group_work(const struct fth_workload *w, const struct fth_task_group *g, uint32_t i)
{
	return g->first_own == FTH_NONE ? g->work : w->works.data[g->first_own + i];
}

/* ---- a stream of jobs, by submit time: what a run reads, so that memory follows live work ---- */

struct fth_job_item {
	const struct fth_job_spec *spec;
	const struct fth_task_group *groups; /* spec->ngroups; first_own indexes works */
	const fth_time *works;
	const struct fth_told *told; /* NULL: as given */
	uint64_t index;              /* of the job in the workload: what draws are keyed by */
};
/* Runtime of task i of group g alone at full speed. */
fth_time fth_item_work(const struct fth_job_item *item, uint32_t g, uint32_t i);
/* A job's runtime alone at full speed: its iterations' time, or its longest task. */
fth_time fth_item_runtime(const struct fth_job_item *item);
/* What is told of the tasks, in order; out has room for all of them. given: the job's estimate. */
void fth_item_estimates(const struct fth_job_item *item, fth_time given, bool exactly, fth_time *out);
/* What is told of the job: the longest of them. */
fth_time fth_item_estimate(const struct fth_job_item *item, fth_time given, bool exactly);
struct fth_job_source {
	/* 1 and the next job (valid until the next call), 0 at the end, -errno. */
	int (*next)(struct fth_job_source *s, struct fth_job_item *ret, struct fth_error *err);
};

struct fth_workload_source {
	struct fth_job_source base;
	const struct fth_workload *workload;
	size_t pos;
};
void fth_workload_source_init(struct fth_workload_source *s, const struct fth_workload *w);

struct fth_workload_summary {
	uint64_t jobs, tasks, kinds, classes, users;
	uint64_t coupled_jobs, rigid_jobs, gpu_jobs;
	fth_time first_submit, last_submit;
	double task_hours; /* alone at full speed */
	double runtime_mean_h, runtime_p50_h, runtime_p80_h, runtime_p95_h; /* per job */
};
void fth_workload_summarize(const struct fth_workload *w, struct fth_workload_summary *ret);

/* Fails, naming the job, if a rigid job needs more machines at once than there may be: it would wait for ever. */
int fth_workload_check_widths(const struct fth_workload *w, uint64_t most, const char *file, struct fth_error *err);
/* Fails, naming the job, if a task fits no type of the catalog. */
int fth_workload_check(const struct fth_workload *w, const struct fth_catalog *c, const char *file,
		       struct fth_error *err);

#endif
