/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/shared/prices.h"

#include "optimize/full_reconfig.h"

void fth_prices_release(struct fth_prices *p)
{
	fth_vec_release(&p->kinds);
	fth_vec_release(&p->offers);
}

static void list_offers(struct fth_prices *p, const struct fth_catalog *c)
{
	fth_vec_clear(&p->offers);
	for (fth_offer_id i = 0; i < c->noffers; i++) {
		if (c->offers[i].market != FTH_ON_DEMAND || !c->offers[i].available)
			continue;
		fth_vec_push(&p->offers, i);
		size_t at = p->offers.len - 1;
		for (; at && c->offers[p->offers.data[at - 1]].price < c->offers[i].price; at--)
			p->offers.data[at] = p->offers.data[at - 1];
		p->offers.data[at] = i;
	}
}

void fth_prices_round(struct fth_prices *p, const struct fth_round *round)
{
	for (size_t i = 0; i < round->nevents; i++)
		if (round->events[i].kind == FTH_EV_OFFER_CHANGED)
			p->fresh = false;
	if (p->fresh)
		return;
	p->fresh = true;
	fth_vec_clear(&p->kinds);
	list_offers(p, round->view->catalog);
}

const struct fth_kind_price *fth_prices_of(struct fth_prices *p, const struct fth_view *v, fth_kind_id k)
{
	while (p->kinds.len <= k)
		fth_vec_push(&p->kinds, (struct fth_kind_price){0});
	struct fth_kind_price *kp = &p->kinds.data[k];
	if (!kp->looked_up) {
		kp->looked_up = true;
		kp->offer = fth_reservation_usd(v->catalog, &v->kinds[k], &kp->rp);
	}
	return kp;
}
