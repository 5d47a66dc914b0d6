/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a market was like over a window: average prices, how long each spot offer could be had, and which could be had together. A spot
 * offer can be had while its price does not pass its on-demand price and its last probe found it.
 */
#ifndef FTH_MODEL_MARKET_SUMMARY_H
#define FTH_MODEL_MARKET_SUMMARY_H

#include "model/catalog.h"
#include "model/market.h"
#include "model/spot.h"

struct fth_market_window {
	fth_time from, to; /* since the market's beginning: its first price, or its first probe */
	double price_share; /* of the on-demand price, where the market tells no price; 0: the catalog's spot price */
};
/* The whole of it: [0, last change). Probes and prices begin together. */
struct fth_market_window fth_market_whole(const struct fth_market_data *m);

/* Which offers were up together, and for how long: a row per stretch of time without a change. */
struct fth_market_states {
	uint32_t n;
	FTH_VEC(uint8_t) up; /* rows x n */
	FTH_VEC(double) weight;
};
void fth_market_states_release(struct fth_market_states *s);

struct fth_market_summary {
	struct fth_spot_table table;    /* availabilities as measured, from 0 to 1 */
	FTH_VEC(fth_offer_id) offers;   /* of the catalog, one per row */
	struct fth_market_states states;
	uint32_t at_on_demand;          /* no market tells their price, and the catalog's is no less than on demand */
	uint32_t without_price;         /* spot offers left out: neither market nor catalog tells a price */
};
/* Capacity is counted in whole CPUs (GPUs where a type has no CPUs told). -EINVAL: the window is empty or no spot offer has a series. */
int fth_market_summarize(const struct fth_market_data *m, const struct fth_catalog *c, const struct fth_symtab *syms,
			 const struct fth_market_window *w, struct fth_market_summary *ret, struct fth_error *err);
void fth_market_summary_release(struct fth_market_summary *s);
/* Estimates are kept within [1 - most, most], because no window shows that something is always or never there; rows that were never up
 * are dropped. */
void fth_market_summary_cap(struct fth_market_summary *s, double most);

#endif
