/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The central scheduler's book: for each worker the estimated work assigned to it and not done, and with it who
 * waits least. A worker's wait is its outstanding work; while booked tasks are executed, what has been done of each since
 * its start is taken off (at most its estimate) and the two messages of a hand-out are added. Such waits fall as time goes
 * on, one second a second for each task in execution that has not used up its estimate: so there is a tree for each number
 * of those, of waits with their starts added, and the least of all is found in O(slots + log workers) whatever the time is.
 * A worker with several slots that has fewer tasks than slots makes nobody wait: those come first, the emptiest ahead.
 *
 * It also keeps the bit map of workers with outstanding work, which is what Eagle shares.
 */
#ifndef FTH_HYBRID_CENTRAL_H
#define FTH_HYBRID_CENTRAL_H

#include "base/base.h"

struct fth_central_tie {
	double wait;
	uint32_t worker;
};

/* A booked task in execution; by slot. */
struct fth_central_run {
	fth_time start, est; /* start -1: none */
	double when;         /* start in seconds, with the rounding of the caller's clock: it parts equal waits */
	uint32_t gen;        /* of this, for the clock of overdue ones */
};

struct fth_central {
	uint32_t n, slots, leaves;
	fth_time two_delays;
	fth_time *work;   /* outstanding */
	uint32_t *booked; /* tasks */
	uint8_t *filed;   /* the tree it is in */
	struct fth_central_run *runs; /* slots for each worker */
	fth_time **trees; /* by the number of tasks that count down; FTH_NEVER: not in it */
	struct fth_heap overdue; /* when a task in execution will have used up its estimate */
	uint64_t *bits;          /* work outstanding */
	uint32_t nwords, nbusy;  /* bits set */
	uint64_t version;        /* of bits */
	FTH_VEC(struct fth_central_tie) ties; /* scratch */
};
void fth_central_init(struct fth_central *c, uint32_t n, uint32_t slots, fth_time delay);
void fth_central_release(struct fth_central *c);
/* Choose a worker for each of n tasks with this estimate and book them: ret[0..n). */
void fth_central_assign(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret);
void fth_central_started(struct fth_central *c, uint32_t w, uint32_t slot, fth_time est, fth_time now, double when);
/* A booked task ended, or was lost: it is outstanding no more. */
void fth_central_ended(struct fth_central *c, uint32_t w, uint32_t slot, fth_time est, fth_time now);
/* A booked task will not start there. */
void fth_central_unbook(struct fth_central *c, uint32_t w, fth_time est, fth_time now);
/* Of all its slots together. */
fth_time fth_central_wait(const struct fth_central *c, uint32_t w, fth_time now);

#endif
