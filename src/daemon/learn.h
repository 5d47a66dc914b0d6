/* SPDX-License-Identifier: Apache-2.0 */
/* Two observers of the engine, from the journal's first line on, so that after a restart they know what they knew: the learner of runtimes, whose guess
 * goes with a job that brings no estimate; and the tally of what has ended. */
#ifndef FTH_DAEMON_LEARN_H
#define FTH_DAEMON_LEARN_H

#include "engine/engine.h"
#include "model/world.h"

struct fth_learner;
struct fth_learner *fth_learner_new(int64_t epoch_us);
void fth_learner_free(struct fth_learner *l);
struct fth_observer *fth_learner_observer(struct fth_learner *l);
/* For the one job of this workload; 0: nothing is known of such jobs. */
fth_time fth_learner_guess(const struct fth_learner *l, const struct fth_world *w, fth_time now);

enum { FTH_TALLY_JOBS = 1000 };
struct fth_tally_job {
	char *key, *user;
	fth_job_id id;
	uint32_t ntasks;
	int exit;
	bool cancelled;
	fth_time submitted, ended;
};
struct fth_tally {
	struct fth_observer base;
	uint64_t submitted, done, cancelled;
	fth_money charged[3];          /* by market */
	uint64_t launched[3], revoked; /* instances acquired, by market */
	uint64_t tasks_lost, moves;
	struct fth_tally_job jobs[FTH_TALLY_JOBS]; /* the last to end; a ring */
	size_t next;
	struct fth_map exits; /* of jobs not ended */
};
struct fth_tally *fth_tally_new(void);
void fth_tally_free(struct fth_tally *t);
/* A task ended with this exit code. */
void fth_tally_exit(struct fth_tally *t, fth_job_id job, int code);

#endif
