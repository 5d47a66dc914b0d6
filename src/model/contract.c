/* SPDX-License-Identifier: Apache-2.0 */
#include "model/contract.h"

void fth_reserve_market_release(struct fth_reserve_market *m)
{
	fth_vec_release(&m->classes);
}

/* Hours that are paid anyway are used first, then the cheapest ones; of equals the longer term. */
static bool deeper(const struct fth_reserve_class *a, const struct fth_reserve_class *b)
{
	if (a->every_hour != b->every_hour)
		return a->every_hour;
	return a->price != b->price ? a->price < b->price : a->term > b->term;
}

int fth_reserve_market_finish(struct fth_reserve_market *m, struct fth_error *err)
{
	if (m->classes.len > 64)
		return fth_fail(err, -EINVAL, "more than 64 classes");
	for (size_t i = 0; i < m->classes.len; i++) {
		struct fth_reserve_class c = m->classes.data[i];
		const char *name = fth_sym_str(m->syms, c.name);
		if (c.term <= 0 || c.upfront < 0 || c.price < 0)
			return fth_fail(err, -EINVAL, "class %s: a term above 0, a fee and an hourly price are needed", name);
		if (c.price > m->on_demand)
			return fth_fail(err, -EINVAL, "class %s: its hours cost more than on demand", name);
		size_t at = i;
		for (; at && deeper(&c, &m->classes.data[at - 1]); at--)
			m->classes.data[at] = m->classes.data[at - 1];
		m->classes.data[at] = c;
	}
	return 0;
}

int fth_reserve_market_of(struct fth_reserve_market *m, struct fth_symtab *syms, const struct fth_catalog *c, fth_offer_id o,
			  struct fth_error *err)
{
	m->syms = syms;
	m->on_demand = fth_usd(c->offers[o].price);
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *k = &c->offers[i];
		if (!k->contract.term || k->type != c->offers[o].type || k->zone != c->offers[o].zone)
			continue;
		fth_vec_push(&m->classes, ((struct fth_reserve_class){.name = k->contract.name,
								      .term = k->contract.term,
								      .upfront = fth_usd(k->contract.upfront),
								      .price = fth_usd(k->price),
								      .every_hour = k->contract.every_hour,
								      .most = -1}));
	}
	return m->classes.len ? fth_reserve_market_finish(m, err) : -ENOENT;
}

void fth_demand_series_release(struct fth_demand_series *s)
{
	fth_vec_release(&s->steps);
}
