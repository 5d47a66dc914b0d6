/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest mix of machines that does an amount of work, time left out: the aggregate configuration LP.
 *
 *     minimise  sum_c price(type of c) x_c    with    sum_c speed(c, r) x_c >= work(r)   for every row r
 *
 * A configuration c is a machine type with a multiset of rows that fits it; it is rented for x_c hours and does in
 * each of them speed(c, r) hours of work of row r: copies times the family's speed times what neighbours leave of it.
 * Solved by column generation. Whatever happens to it, the bound it returns is one: see fth_blend_solve.
 */
#ifndef FTH_OPTIMIZE_BLEND_H
#define FTH_OPTIMIZE_BLEND_H

#include "base/base.h"
#include "optimize/crowd.h"

struct fth_blend_input {
	uint32_t nrows, ntypes;
	const double *work;            /* by row, hours; > 0 */
	const uint32_t *class;         /* by row, below pairs->n */
	const struct fth_res *capacity; /* by type */
	const double *price;           /* by type, dollars per hour; > 0 */
	/* [type * nrows + row]; speed 0: it cannot run there. Each row can run on some type, and needs something there. */
	const struct fth_res *demand;
	const double *speed;
	const struct fth_pairs *pairs; /* NULL: nobody slows anybody down */
};

struct fth_blend_part {
	uint32_t row, copies;
	double speed; /* of each copy, alone = 1 */
};
struct fth_blend_config {
	uint32_t type;
	uint32_t first, n; /* slice of parts */
	double hours, usd;
};

struct fth_blend_effort {
	/* In units of about 50 ns, the same on every machine. */
	uint64_t quick; /* per machine type and round while columns are still found */
	uint64_t work;  /* in all; then what is proven so far stands */
};

struct fth_blend {
	double bound;     /* dollars; proven */
	double objective; /* of the LP as far as it was solved: the bound cannot be above it */
	bool exact;       /* the two agree to 10^-4 */
	double *value;    /* by row: dollars per hour of its work, scaled so that they prove the bound */
	FTH_VEC(struct fth_blend_config) configs; /* in use, most dollars first */
	FTH_VEC(struct fth_blend_part) parts;
	uint64_t rounds, columns, nodes;
};

/*
 * Why the bound holds: let v_r >= 0 be any values of the rows and z_t at least the value that the best configuration
 * of type t does in an hour. With f = min_t price_t / z_t, no configuration is worth more than its price under f v, so
 * any x that does the work costs at least f sum_r work_r v_r. v comes from the LP in floating point and need not be
 * right; z comes from an exact search with rounding counted against us, or from its bound where it was cut short.
 */
void fth_blend_solve(struct fth_blend *m, const struct fth_blend_input *in, const struct fth_blend_effort *effort);
void fth_blend_release(struct fth_blend *m);

#endif
