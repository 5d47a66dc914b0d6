/* SPDX-License-Identifier: Apache-2.0 */
/* What can be bought now, and what each kind of task is worth: its reservation price. */
#ifndef FTH_POLICIES_PRICES_H
#define FTH_POLICIES_PRICES_H

#include <farthing/policy.h>

#include "base/base.h"

struct fth_kind_price {
	bool looked_up;
	fth_offer_id offer; /* cheapest on which it runs alone; FTH_NONE: there is none now */
	double rp;          /* dollars per full-speed hour */
};

struct fth_prices {
	FTH_VEC(struct fth_kind_price) kinds; /* by kind */
	FTH_VEC(fth_offer_id) offers;         /* on-demand and available, dearest first, ties by id */
	bool fresh;
};
void fth_prices_release(struct fth_prices *p);
/* Begin a round: forget everything if an offer changed. */
void fth_prices_round(struct fth_prices *p, const struct fth_round *round);
const struct fth_kind_price *fth_prices_of(struct fth_prices *p, const struct fth_view *v, fth_kind_id k);

#endif
