/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: every charge, to the nano-dollar. A meter runs for each instance and integrates its
 * price over time exactly (nano-dollars per hour times microseconds, 128 bits); it is rounded down
 * once, when it is closed. The ledger's total is the sum of its charges, nothing else.
 */
#ifndef FTH_MODEL_LEDGER_H
#define FTH_MODEL_LEDGER_H

#include "base/base.h"

struct fth_charge {
	fth_instance_id instance;
	fth_offer_id offer;
	fth_time from, to;       /* used */
	fth_time billed;         /* after minimum and increment */
	fth_money amount;
};

struct fth_meter {
	fth_instance_id instance;
	fth_offer_id offer;
	fth_time from, last;
	fth_price price;
	__int128 integral; /* nano-dollars per hour x microseconds, from `from` to `last` */
	struct fth_billing billing;
};

struct fth_ledger {
	struct fth_map open; /* instance -> index into meters */
	FTH_VEC(struct fth_meter) meters;
	FTH_VEC(uint32_t) free_meters;
	FTH_VEC(struct fth_charge) charges;
	fth_money total; /* of the closed charges */
};
void fth_ledger_release(struct fth_ledger *l);
void fth_ledger_open(struct fth_ledger *l, fth_instance_id i, fth_offer_id o, const struct fth_billing *b,
		     fth_price price, fth_time now);
bool fth_ledger_is_open(const struct fth_ledger *l, fth_instance_id i);
/* The price of an open meter changes now. */
void fth_ledger_reprice(struct fth_ledger *l, fth_instance_id i, fth_price price, fth_time now);
/* What the instance would be charged if it ended now. */
fth_money fth_ledger_accrued(const struct fth_ledger *l, fth_instance_id i, fth_time now);
/* End the meter; NULL if none was open. */
const struct fth_charge *fth_ledger_close(struct fth_ledger *l, fth_instance_id i, fth_time now);

#endif
