/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markets: how the price and the availability of offers change over time, as files tell it.
 *
 * A series is one offer's price, or its availability, as steps: each value holds until the next one, the last
 * one for ever. Files tell times since 1970 (prices) or since their own beginning (availability probes);
 * where on the first clock a run begins is the run's choice, the second one begins with the run.
 */
#ifndef FTH_MODEL_MARKET_H
#define FTH_MODEL_MARKET_H

#include "base/base.h"
#include "model/catalog.h"

struct fth_market_step {
	fth_time at;
	int64_t value; /* fth_price, or 0/1 */
};

enum fth_market_kind { FTH_MARKET_PRICE = 0, FTH_MARKET_AVAILABLE = 1 };

struct fth_market_series {
	fth_offer_id offer;
	enum fth_market_kind kind;
	bool from_start; /* times count from the start of the run, not from 1970 */
	bool unsorted;   /* a step came before its predecessor: fth_market_finish puts it right */
	FTH_VEC(struct fth_market_step) steps;
};

struct fth_market_data {
	FTH_VEC(struct fth_market_series) series;
	struct fth_map index; /* (offer, kind) -> series */
	uint64_t rows_read, rows_kept; /* of all files */
	fth_offer_id first_made; /* offers of the catalog from here on were made for a market file; FTH_NONE: none */
	fth_time first, last; /* of the kept steps that count from 1970; first > last: there are none */
};
void fth_market_init(struct fth_market_data *m);
void fth_market_release(struct fth_market_data *m);
/* `to` is empty. */
void fth_market_copy(struct fth_market_data *to, const struct fth_market_data *from);
/* Add a step; they may come in any order, and of two at one time the one added last holds. */
void fth_market_add(struct fth_market_data *m, fth_offer_id offer, enum fth_market_kind kind, bool from_start, fth_time at,
		    int64_t value);
/* Order the steps and drop those that change nothing. May be called again after more were added. */
void fth_market_finish(struct fth_market_data *m);
/* The value that holds at a time; the first one before the first step. The series must not be empty. */
int64_t fth_market_series_at(const struct fth_market_series *s, fth_time at);

/* The price at which this offer's type can be had on demand: in its own zone, else the lowest anywhere.
 * FTH_NEVER if it cannot. */
fth_price fth_catalog_on_demand(const struct fth_catalog *c, fth_offer_id offer);

/* Changes of all series from a run's start on, in time order: ties by series. */
struct fth_market_change {
	fth_time at; /* since the start of the run */
	uint32_t series;
	int64_t value;
};
struct fth_market_tape {
	FTH_VEC(struct fth_market_change) changes; /* those at time 0 say how it is at the start */
};
/* start: where on the clock since 1970 the run begins. */
void fth_market_play(const struct fth_market_data *m, fth_time start, struct fth_market_tape *ret);
void fth_market_tape_release(struct fth_market_tape *t);

#endif
