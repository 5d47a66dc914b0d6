/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be bought now, cheapest first, with the risk of losing it: interruptions per hour as the catalog expects
 * them and as they have been met, and how long a machine takes to come.
 */
#include "policies/farthing/own.h"

void own_market_release(struct own_market *m)
{
	fth_vec_release(&m->buys);
	fth_vec_release(&m->share);
	fth_vec_release(&m->record);
}

static bool is_wanted(const struct fth_offer *o, const struct own_params *p)
{
	if (!o->available || o->market == FTH_RESERVED)
		return false;
	return p->market == OWN_ANY || (p->market == OWN_SPOT) == (o->market == FTH_SPOT);
}

/* The catalog's expectation counts as much as a day of holding one machine. */
static double risk_of(const struct own_market *m, const struct fth_offer *o, fth_offer_id id)
{
	if (o->market != FTH_SPOT)
		return 0;
	double expected = o->interruptions_ppm / 1e6;
	const struct own_record *r = id < m->record.len ? &m->record.data[id] : NULL;
	return r ? (expected * 24 + r->lost) / (24 + r->hours) : expected;
}

struct own_buy own_buy_of(const struct own_market *m, const struct fth_catalog *c, fth_offer_id offer)
{
	const struct fth_offer *o = &c->offers[offer];
	const struct fth_instance_type *t = &c->types[o->type];
	struct own_buy b = {.offer = offer, .type = o->type, .price = fth_usd(o->price), .risk = risk_of(m, o, offer)};
	fth_time setup = t->boot[0].size ? t->boot[0].time : t->setup.mean, all = t->acquire.mean + setup;
	b.boot = (double)all / (double)FTH_HOUR;
	b.billed = o->billing.from == FTH_BILL_FROM_REQUEST    ? b.boot
		   : o->billing.from == FTH_BILL_FROM_ACQUIRED ? (double)setup / (double)FTH_HOUR
							       : 0;
	return b;
}

double own_marginal(const struct fth_catalog *c, const struct own_buy *b, uint32_t held, int64_t committed)
{
	double least = b->price;
	if (c->offers[b->offer].market == FTH_SPOT || (int64_t)held >= committed)
		return least;
	for (fth_offer_id id = 0; id < c->noffers; id++) {
		const struct fth_offer *o = &c->offers[id];
		if (o->contract.term && o->type == b->type)
			least = FTH_MIN(least, o->contract.every_hour ? 0 : fth_usd(o->price));
	}
	return least;
}

static int by_price(const void *a, const void *b)
{
	fth_price x = *(const fth_price *)a, y = *(const fth_price *)b;
	return x < y ? -1 : x > y;
}

double own_middle_price(const struct fth_catalog *c)
{
	fth_price *prices = fth_alloc((c->noffers + 1) * sizeof(*prices));
	uint32_t n = 0;
	for (int all = 0; all < 2 && !n; all++)
		for (fth_offer_id id = 0; id < c->noffers; id++)
			if (c->offers[id].market == FTH_ON_DEMAND || all)
				prices[n++] = c->offers[id].price;
	qsort(prices, n, sizeof(*prices), by_price);
	double middle = n ? fth_usd(prices[n / 2]) : 0;
	free(prices);
	return middle;
}

/* One offer a type and market: the cheapest, of equal ones the one less often taken. */
static void list_offers(struct own_market *m, const struct fth_catalog *c, const struct own_params *p)
{
	fth_vec_clear(&m->buys);
	for (fth_offer_id id = 0; id < c->noffers; id++) {
		if (!is_wanted(&c->offers[id], p))
			continue;
		struct own_buy b = own_buy_of(m, c, id);
		size_t same = 0;
		while (same < m->buys.len && (m->buys.data[same].type != b.type ||
					      (c->offers[m->buys.data[same].offer].market == FTH_SPOT) != (c->offers[id].market == FTH_SPOT)))
			same++;
		if (same == m->buys.len) {
			fth_vec_push(&m->buys, b);
			continue;
		}
		const struct own_buy *x = &m->buys.data[same];
		if (b.price < x->price || (b.price == x->price && b.risk < x->risk))
			m->buys.data[same] = b;
	}
	for (size_t i = 1; i < m->buys.len; i++) {
		struct own_buy b = m->buys.data[i];
		size_t at = i;
		for (; at && m->buys.data[at - 1].price > b.price; at--)
			m->buys.data[at] = m->buys.data[at - 1];
		m->buys.data[at] = b;
	}
}

static void note_loss(struct own_market *m, const struct fth_view *v, const struct fth_event *ev)
{
	const struct fth_instance *i = fth_view_instance(v, ev->instance);
	if (!i)
		return;
	if (ev->kind == FTH_EV_REVOCATION_NOTICE) {
		m->notice = FTH_MAX(0, ev->at - ev->time);
		return;
	}
	if (ev->kind == FTH_EV_INSTANCE_REVOKED && !i->revoked)
		m->notice = 0;
	while (m->record.len <= i->offer)
		fth_vec_push(&m->record, (struct own_record){0});
	struct own_record *r = &m->record.data[i->offer];
	if (i->acquired != FTH_NEVER)
		r->hours += (double)(ev->time - i->acquired) / (double)FTH_HOUR;
	r->lost += ev->kind == FTH_EV_INSTANCE_REVOKED;
}

void own_market_round(struct own_market *m, const struct fth_round *round, const struct own_params *p)
{
	for (size_t i = 0; i < round->nevents; i++) {
		const struct fth_event *ev = &round->events[i];
		if (ev->kind == FTH_EV_OFFER_CHANGED)
			m->known = false;
		if (ev->kind == FTH_EV_INSTANCE_REVOKED || ev->kind == FTH_EV_INSTANCE_GONE || ev->kind == FTH_EV_REVOCATION_NOTICE)
			note_loss(m, round->view, ev);
	}
	if (m->known)
		return;
	m->known = true;
	list_offers(m, round->view->catalog, p);
	fth_vec_clear(&m->share);
}
