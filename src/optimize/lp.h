/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small linear programme, solved again and again as columns come and bounds move:
 *
 *     minimise cost . x   with   lo_i <= (A x)_i <= hi_i  for every row,   lo_j <= x_j <= hi_j.
 *
 * Made for covering masters (some hundred rows, columns added over time, bounds changed by
 * branching), where every solve starts from the basis of the one before. Same calls, same bits.
 */
#ifndef FTH_OPTIMIZE_LP_H
#define FTH_OPTIMIZE_LP_H

#include "base/base.h"

struct fth_lp;

/* All rows are there from the start, free (-inf, inf) until set. */
struct fth_lp *fth_lp_new(uint32_t rows);
void fth_lp_free(struct fth_lp *lp);

/* -INFINITY and INFINITY where there is no bound; lo <= hi. */
void fth_lp_set_row(struct fth_lp *lp, uint32_t row, double lo, double hi);
/* A column with 0 <= x; its number, counted from 0. No row twice in rows[]. */
uint32_t fth_lp_add_col(struct fth_lp *lp, double cost, const uint32_t *rows, const double *coefs, uint32_t n);
void fth_lp_set_col(struct fth_lp *lp, uint32_t col, double lo, double hi);
void fth_lp_set_cost(struct fth_lp *lp, uint32_t col, double cost);
uint32_t fth_lp_cols(const struct fth_lp *lp);

/* 0: solved; -ENOENT: no x meets the bounds; -ERANGE: cost has no lower limit; -EAGAIN: stopped after too
 * many steps (the values are then near the optimum at best). */
int fth_lp_solve(struct fth_lp *lp);

/* Of the last solve. */
double fth_lp_objective(const struct fth_lp *lp);
double fth_lp_value(const struct fth_lp *lp, uint32_t col);
/* Change of the objective per unit of the row's active bound: >= 0 where lo holds, <= 0 where hi does. */
double fth_lp_dual(const struct fth_lp *lp, uint32_t row);
uint64_t fth_lp_steps(const struct fth_lp *lp); /* pivots so far, for reports */
uint64_t fth_lp_work(const struct fth_lp *lp);  /* about how many multiplications they took: a clock that repeats */

#endif
