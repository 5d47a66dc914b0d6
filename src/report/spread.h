/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How values spread: mean, percentiles, maximum. The first million are kept as they are, so that percentiles are exact
 * (with linear interpolation between neighbours); beyond that they are counted in buckets of one part in 2,048.
 */
#ifndef FTH_REPORT_SPREAD_H
#define FTH_REPORT_SPREAD_H

#include "report/run.h"

struct fth_spread {
	FTH_VEC(fth_time) values;
	uint64_t *buckets; /* NULL while all values are kept */
	uint64_t n;
	fth_time max;
	double sum;
};
void fth_spread_add(struct fth_spread *s, fth_time v); /* v >= 0 */
/* Sorts the values; q from 0 to 1. */
void fth_spread_figures(struct fth_spread *s, struct fth_run_spread *ret);
double fth_spread_at(const struct fth_spread *s, double q); /* after fth_spread_figures; seconds */
void fth_spread_release(struct fth_spread *s);

#endif
