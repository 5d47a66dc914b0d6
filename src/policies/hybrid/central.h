/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The central scheduler's book: for each worker the estimated work assigned to it and not done, and with it who
 * waits least. A worker's wait is its outstanding work; while one of the booked tasks is executed, what has been done
 * of it since its start is taken off (at most its estimate) and the two messages of a hand-out are added. Such waits
 * fall as time goes on, the others stand still: so there are two trees, one of `outstanding + start`, one of waits, and
 * the least of all is found in O(log workers) whatever the time is.
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

struct fth_central {
	uint32_t n, leaves;
	fth_time two_delays;
	fth_time *work;         /* outstanding */
	fth_time *start, *est;  /* of the booked task in execution; start -1: none */
	double *when;           /* start in seconds, with the rounding of the caller's clock: it parts equal waits */
	uint32_t *gen;          /* of that, for the clock of overdue ones */
	fth_time *moving, *still; /* trees; FTH_NEVER: not in it */
	struct fth_heap overdue; /* when a task in execution will have used up its estimate */
	uint64_t *bits;          /* work outstanding */
	uint32_t nwords, nbusy;  /* bits set */
	uint64_t version;        /* of bits */
	FTH_VEC(struct fth_central_tie) ties; /* scratch */
};
void fth_central_init(struct fth_central *c, uint32_t n, fth_time delay);
void fth_central_release(struct fth_central *c);
/* Choose a worker for each of n tasks with this estimate and book them: ret[0..n). */
void fth_central_assign(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret);
void fth_central_started(struct fth_central *c, uint32_t w, fth_time est, fth_time now, double when);
/* A booked task ended, or was lost: it is outstanding no more. */
void fth_central_ended(struct fth_central *c, uint32_t w, fth_time est);
fth_time fth_central_wait(const struct fth_central *c, uint32_t w, fth_time now);

#endif
