/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: every charge, to the nano-dollar. What each offer cost when is kept as steps with the
 * running integral (nano-dollars per hour times microseconds, 128 bits); a meter runs for each instance,
 * and its charge is the integral over its life, rounded down once when it is closed. A change of price so
 * costs the same however many instances run. The ledger's total is the sum of its charges, nothing else.
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
	fth_time from;
	struct fth_billing billing;
};

/* What an offer cost over time; the first price holds before its step too. */
struct fth_tariff_step {
	fth_time at;
	fth_price price;
	__int128 sum; /* from the first step to this one */
};
struct fth_tariff {
	FTH_VEC(struct fth_tariff_step) steps;
};

struct fth_ledger {
	struct fth_map open; /* instance -> index into meters */
	FTH_VEC(struct fth_meter) meters;
	FTH_VEC(uint32_t) free_meters;
	FTH_VEC(struct fth_tariff) tariffs; /* by offer */
	FTH_VEC(struct fth_charge) charges;
	fth_money total; /* of the closed charges */
};
void fth_ledger_release(struct fth_ledger *l);
/* price: the offer's now; from may be earlier (a bill that counts back to the request). */
void fth_ledger_open(struct fth_ledger *l, fth_instance_id i, fth_offer_id o, const struct fth_billing *b,
		     fth_price price, fth_time from);
bool fth_ledger_is_open(const struct fth_ledger *l, fth_instance_id i);
/* An offer's price changes now from `was` to `price`, for all its meters, open ones and later ones. */
void fth_ledger_reprice(struct fth_ledger *l, fth_offer_id o, fth_price was, fth_price price, fth_time now);
/* What the instance would be charged if it were let go now. */
fth_money fth_ledger_accrued(const struct fth_ledger *l, fth_instance_id i, fth_time now);
/* End the meter; NULL if none was open. cut: the instance was taken, not let go. */
const struct fth_charge *fth_ledger_close(struct fth_ledger *l, fth_instance_id i, fth_time now, bool cut);

#endif
