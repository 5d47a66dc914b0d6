/* SPDX-License-Identifier: Apache-2.0 */
/* Plans made from a window of a market, tried on the next one. */
#ifndef FTH_CLI_REALISED_H
#define FTH_CLI_REALISED_H

#include "model/world.h"
#include "optimize/spot.h"

struct fth_realised_request {
	const struct fth_world *world;
	const struct fth_spot_method *method;
	fth_time window, step; /* 0: a week; the window */
	double target, cap;
	double price_share; /* see fth_market_window */
	uint64_t capacity;
	bool joint; /* plan with the states of the past window */
};
struct fth_realised_row {
	fth_time from;          /* of the future window, since the market's beginning */
	double planned;         /* what the past promised */
	double realised, oracle;
	double cost, on_demand; /* of the plan, per hour, at the past's prices */
	bool met;               /* by the past's figures */
	bool skipped;           /* nothing was up in the past window or in this one: no plan, and nothing else of this is told */
};
struct fth_realised_list {
	struct fth_realised_row *data;
	size_t len, cap;
};
int fth_realised(const struct fth_realised_request *q, struct fth_realised_list *ret, struct fth_error *err);
void fth_realised_write(const struct fth_realised_request *q, const struct fth_realised_list *l, const char *format, struct fth_str *out);

#endif
