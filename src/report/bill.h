/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bill: who caused which part of every charge. An observer of any engine, simulated or live.
 *
 * An instance's charge is divided by what its time was: booting; idle (nothing on it); and while tasks
 * hold room, to each its dominant share of the machine, the rest being fragmentation. What a task used
 * in a run that was lost is lost work. Divided in whole nano-dollars by largest remainder, so that the
 * parts sum to the ledger exactly. Open instances count with what they have accrued.
 */
#ifndef FTH_REPORT_BILL_H
#define FTH_REPORT_BILL_H

#include "engine/engine.h"

enum fth_bill_part { FTH_BILL_USED = 0, FTH_BILL_LOST, FTH_BILL_BOOT, FTH_BILL_IDLE, FTH_BILL_FRAGMENTED, FTH_BILL_NPARTS };
const char *fth_bill_part_name(enum fth_bill_part p);

struct fth_bill_job {
	fth_sym job, user;
	fth_time submitted, ended; /* FTH_NEVER: not yet */
	fth_time ran;              /* task-time on machines, lost runs included */
	fth_money used, lost;
};
struct fth_bill_user {
	fth_sym user;
	uint32_t jobs;
	fth_money used, lost;
};
struct fth_bill_instance {
	fth_instance_id instance;
	fth_offer_id offer;
	fth_time requested, acquired, ready, gone; /* FTH_NEVER: not yet */
	fth_money part[FTH_BILL_NPARTS], total;
	bool open;
};
struct fth_bill {
	FTH_VEC(struct fth_bill_job) jobs;           /* by submission */
	FTH_VEC(struct fth_bill_user) users;         /* by first submission */
	FTH_VEC(struct fth_bill_instance) instances; /* by id; those never acquired are left out */
	fth_money part[FTH_BILL_NPARTS], total;
};
void fth_bill_release(struct fth_bill *b);

struct fth_biller;
struct fth_biller *fth_biller_new(void);
struct fth_observer *fth_biller_observer(struct fth_biller *b);
/* The bill as of now. total == the ledger's total + what open instances have accrued. */
void fth_biller_bill(struct fth_biller *b, const struct fth_engine *e, fth_time now, struct fth_bill *ret);
void fth_biller_free(struct fth_biller *b);

#endif
