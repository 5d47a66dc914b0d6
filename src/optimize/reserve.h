/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much to commit: given the use of machines over time and the contracts on offer, what to buy and when.
 *
 * Use is told by level: level j is busy while at least j machines are. It is gathered by interval (a week), so the
 * demand is a matrix of hours. Contracts in force pay for the lowest levels, those with the lowest price per hour
 * first; what is left is paid on demand (equations 1 and 2 of the semi-elastic cluster paper).
 */
#ifndef FTH_OPTIMIZE_RESERVE_H
#define FTH_OPTIMIZE_RESERVE_H

#include "base/base.h"
#include "model/contract.h"

/* The share of its term that a level must be busy for the class to be no dearer than any weaker one of its term
 * (among those of the mask; 0: all). */
double fth_reserve_break_even(const struct fth_reserve_market *m, size_t k, uint64_t only);

/* The classes of this term, as a mask. */
uint64_t fth_reserve_of_term(const struct fth_reserve_market *m, fth_time term);

/* ---- demand ---- */

struct fth_demand {
	fth_time start, end;    /* what it speaks of */
	fth_time interval;      /* length of a row; the last one may be shorter */
	uint32_t rows, levels;
	double *hours;          /* rows x levels, level 1 first */
};
void fth_demand_release(struct fth_demand *d);
/* From steps in any order; end: of the last row. */
int fth_demand_build(struct fth_demand *d, struct fth_demand_step *steps, size_t n, fth_time start, fth_time end,
		     fth_time interval, struct fth_error *err);
double fth_demand_row_hours(const struct fth_demand *d, uint32_t row);
double fth_demand_total(const struct fth_demand *d);
static inline double fth_demand_at(const struct fth_demand *d, uint32_t row, uint32_t level)
{
	return d->hours[(size_t)row * d->levels + level];
}

/* Whole intervals of a term. */
uint32_t fth_reserve_rows(const struct fth_reserve_class *c, const struct fth_demand *d);
/* The first row in which one bought at `row` is not in force to its end; at most d->rows. */
uint32_t fth_reserve_until(const struct fth_reserve_class *c, const struct fth_demand *d, uint32_t row);

/* ---- plans ---- */

struct fth_purchase {
	uint32_t row;
	uint32_t class;
	uint32_t count;
};
struct fth_portfolio {
	FTH_VEC(struct fth_purchase) bought;
	double cost;       /* fees paid and hours, within the demand's time */
	double pure;       /* the same less the part of the fees that belongs to the time after it */
	FTH_VEC(double) hours; /* of use paid by each class, then on demand */
};
void fth_portfolio_release(struct fth_portfolio *p);
/* What these purchases cost on this demand, by equations 1 and 2. */
void fth_portfolio_price(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d);

/* A proven bound of the pure cost of any portfolio (fractions of contracts included, caps not counted), and the best plan found: the
 * optimum where it meets the bound. */
int fth_reserve_exact(struct fth_portfolio *p, double *ret_bound, const struct fth_reserve_market *m, const struct fth_demand *d,
		      struct fth_error *err);

enum fth_reserve_method {
	FTH_RESERVE_NONE,         /* all on demand */
	FTH_RESERVE_GREEDY,       /* with hindsight, interval by interval */
	FTH_RESERVE_STATIC,       /* with hindsight, once at the start */
	FTH_RESERVE_ONLINE,       /* by forecast: quadratic, never above the largest week seen */
	FTH_RESERVE_ONLINE_LEVEL, /* by forecast: the smoothed level goes on */
};
struct fth_reserve_options {
	uint64_t only;      /* bit k: class k may be bought; 0: all */
	bool full_term;     /* look ahead over whole terms, counting what lies beyond the demand as idle */
	bool prefer_short;  /* where a class of a shorter term is worth it too, take that */
	uint32_t warm_up;   /* online: intervals to watch before the first purchase; 0: one */
};
int fth_reserve_plan(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d,
		     enum fth_reserve_method method, const struct fth_reserve_options *o, struct fth_error *err);
/* Less than any portfolio's pure cost: each level in each interval by the contract that suits it best (equation 5). */
double fth_reserve_lower_bound(const struct fth_reserve_market *m, const struct fth_demand *d);

/* Triple exponential smoothing whose factors follow the errors (Trigg and Leach): the tracking signal is the level's
 * factor, half of it the trend's, a quarter of its square the bend's. Factors of their own swing ever wider. */
struct fth_smooth {
	double level, trend, bend;
	double error, spread; /* smoothed error of the forecast, and of its size */
	uint32_t seen;
};
void fth_smooth_add(struct fth_smooth *s, double value);
double fth_smooth_ahead(const struct fth_smooth *s, double steps);

/* ---- sustained use ---- */

struct fth_use {
	fth_time from, to; /* billed */
};
/* Dollars for these uses at a price per hour, when each month's use of a slot is paid by quarters of the month at 100,
 * 80, 60 and 40 %. A use takes the lowest slot that is free; months are the calendar's, epoch the clock's zero in
 * microseconds since 1970. Uses are put in order of their beginning. */
double fth_sustained_cost(struct fth_use *uses, size_t n, double price, fth_time epoch);

#endif
