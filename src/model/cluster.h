/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster at one moment: unfinished jobs, their tasks, instances not gone. Changed only by the
 * engine (reducer and accepted actions) through the functions here, which keep lists, sums and
 * counts in step; read by everyone else through the public view.
 */
#ifndef FTH_MODEL_CLUSTER_H
#define FTH_MODEL_CLUSTER_H

#include <farthing/policy.h>

#include "base/base.h"
#include "model/catalog.h"
#include "model/profile.h"
#include "model/workload.h"

struct fth_cluster {
	struct fth_symtab *syms; /* borrowed */
	const struct fth_kinds *kinds; /* borrowed; may grow between submissions */
	struct fth_catalog_store catalog;
	struct fth_table jobs, tasks, instances;
	struct fth_view view; /* lists and counts live here */
	/* Done or gone within this round, still readable: removed by fth_cluster_sweep. */
	FTH_VEC(fth_time) estimates; /* scratch */
	FTH_VEC(fth_job_id) dead_jobs;
	FTH_VEC(fth_instance_id) dead_instances;
	FTH_VEC(fth_instance_id) changed; /* the view's */
};
void fth_cluster_init(struct fth_cluster *c, struct fth_symtab *syms, const struct fth_catalog_store *catalog,
		      const struct fth_kinds *kinds, const struct fth_profile *profile);
void fth_cluster_release(struct fth_cluster *c);

static inline struct fth_job *fth_cluster_job(const struct fth_cluster *c, fth_job_id id)
{
	return fth_table_get(&c->jobs, id);
}
static inline struct fth_task *fth_cluster_task(const struct fth_cluster *c, fth_task_id id)
{
	return fth_table_get(&c->tasks, id);
}
static inline struct fth_instance *fth_cluster_instance(const struct fth_cluster *c, fth_instance_id id)
{
	return fth_table_get(&c->instances, id);
}

/* exactly: its tasks' runtimes are told as they are, unless the workload says how. */
struct fth_job *fth_cluster_add_job(struct fth_cluster *c, const struct fth_job_item *item, fth_time now,
				    fth_time estimate, bool exactly);
/* Its tasks must be done. */
void fth_cluster_end_job(struct fth_cluster *c, struct fth_job *j);
struct fth_instance *fth_cluster_add_instance(struct fth_cluster *c, fth_offer_id offer, fth_time now);
void fth_cluster_end_instance(struct fth_cluster *c, struct fth_instance *i);
/* Something about the instance or its tasks is not as it was. */
void fth_cluster_touch(struct fth_cluster *c, struct fth_instance *i);
/* The policy has seen what has changed. */
void fth_cluster_seen(struct fth_cluster *c);
/* Forget what ended before the last round. */
void fth_cluster_sweep(struct fth_cluster *c);

/* What the task needs where it stands; NULL if it cannot run on that type. */
const struct fth_alt *fth_cluster_alt(const struct fth_cluster *c, const struct fth_task *t, fth_type_id type);

/* Commit a task to an instance (or, with NULL, to none), leaving where it was committed before. */
void fth_cluster_commit(struct fth_cluster *c, struct fth_task *t, struct fth_instance *to);
/* Room: the task holds room on an instance from its start until it has left (NULL: holds none). */
void fth_cluster_hold(struct fth_cluster *c, struct fth_task *t, struct fth_instance *on);
void fth_cluster_set_state(struct fth_cluster *c, struct fth_task *t, enum fth_task_state s, fth_time now);
/* Give an instance another offer (and perhaps type), after a launch failed. */
void fth_cluster_set_offer(struct fth_cluster *c, struct fth_instance *i, fth_offer_id offer);

#endif
