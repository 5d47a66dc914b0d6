/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * farthing-driver-slurm: Slurm as a workload driver. A program of its own, because libslurm's calls block and its licence is the
 * GPL's.
 *
 * Jobs are under our hand when their admin comment begins with our mark, which job_submit.lua sets; all else is left alone. What we
 * have done about a job stands in that comment too, so that it outlives us, the daemon and the controller:
 *
 *   farthing                           waits for us
 *   farthing run=TOKEN restarts=N      released for this run when it had been restarted N times
 *   farthing run=TOKEN restarts=N stopping
 *   farthing again=1 ...               it was put back into the queue after it had ended, so often
 *
 * That its user holds it himself stands in its comment, as the word farthing:held.
 *
 * A job on several nodes has a token for each of them, parted by commas, in the order of its tasks: Slurm starts and stops it as a whole.
 */
#ifndef FTH_DRIVERS_SLURM_H
#define FTH_DRIVERS_SLURM_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "drivers/protocol.h"

#define FTH_SLURM_MARK "farthing"

/* What the comment says. */
struct fth_slurm_mark {
	bool ours, held, stopping;
	const char *runs;  /* in the comment: tokens, parted by commas; NULL if it was never released */
	uint32_t restarts; /* then */
	uint32_t again;
};
void fth_slurm_mark_parse(const char *admin_comment, const char *comment, struct fth_slurm_mark *ret);

struct fth_slurm_job {
	char *key;       /* "17", or "17_4" of an array: what Slurm's own tools call it */
	json_t *shown;   /* as it is listed */
	int64_t mark;
	uint64_t seen;   /* by the look with this number */
	const char *told; /* why it cannot be placed, as last logged; NULL: it can */
	bool must_hold;  /* Slurm has put it back into its queue by itself: it is to be held again */
	bool put_back;   /* it had ended, and is to be run once more: its mark is to say so */
	bool over;       /* as last seen */
	uint32_t restarts, again;
};

struct fth_slurm {
	char *spool;     /* where the power programs leave what Slurm asked for; NULL: nowhere */
	int64_t poll;
	int64_t default_mem; /* MiB for jobs that name none */
	bool dry_run;
	struct fth_marks marks;
	FTH_VEC(struct fth_slurm_job) jobs;
	struct fth_map by_key;  /* hash of the key -> index */
	json_t *nodes;          /* as listed */
	int64_t nodes_mark;
	json_t *types;          /* catalog's type -> list of its nodes */
	time_t jobs_update, nodes_update;
	uint64_t looks;
	int64_t last_look;
	char trouble[512];      /* why the controller cannot be asked now; "" if it can */
};

/* jobs.c: ask the controller, and note what has changed. -EAGAIN: it cannot be asked now. */
int fth_slurm_look_jobs(struct fth_slurm *s, bool *changed, struct fth_error *err);
struct fth_slurm_job *fth_slurm_find(struct fth_slurm *s, const char *key);
void fth_slurm_drop(struct fth_slurm *s, const char *key);
/* "cpu:2,mem:4096MiB,gpu:1" of each of n nodes, from Slurm's "cpu=4,mem=8G,node=2,gres/gpu=2". */
void fth_slurm_demand(const char *tres, uint32_t nodes, int64_t default_mem, struct fth_str *to);

/* depends.c: whether what the job depends on has come about, as far as the list shows. */
bool fth_slurm_may_begin(const job_info_msg_t *all, const job_info_t *j);

/* nodes.c */
int fth_slurm_look_nodes(struct fth_slurm *s, bool *changed, struct fth_error *err);
int fth_slurm_node_wanted(struct fth_slurm *s, const char *node, const char *want, struct fth_error *err);
/* What the power programs have left: nodes that Slurm wants up or down by itself. */
void fth_slurm_read_spool(struct fth_slurm *s);

/* main.c */
int fth_slurm_failed(struct fth_error *err, const char *what);

#endif
