/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task would cost per hour if machines could be bought by the slice: the least price of a mix of the types it can
 * run on that gives it its demand in every resource. Tasks that complement each other share machines at about
 * this price, so that it is what their progress is worth, while the price of a machine of their own is not.
 */
#include <math.h>

#include "optimize/lp.h"
#include "policies/farthing/own.h"

/* A unit of this machine serves so many of the task, by each resource it needs anywhere. */
static uint32_t column(const struct fth_view *v, const struct fth_kind *k, const struct own_buy *b, const uint32_t *row_of,
		       uint32_t *rows, double *coefs)
{
	const struct fth_instance_type *t = &v->catalog->types[b->type];
	const struct fth_alt *a = fth_kind_on_type(k, t);
	uint32_t n = 0;
	if (!a || !a->speed_ppm || !fth_res_fits(&a->demand, &t->capacity))
		return 0;
	for (uint32_t r = 0; r < FTH_RES_MAX; r++) {
		if (row_of[r] == FTH_NONE)
			continue;
		rows[n] = row_of[r];
		double times = a->demand.v[r] ? (double)t->capacity.v[r] / (double)a->demand.v[r] : 1e6;
		coefs[n++] = times * (a->speed_ppm / 1e6);
	}
	return n;
}

double own_fair_share(const struct fth_view *v, fth_kind_id kind, const struct own_buy *buys, size_t n)
{
	const struct fth_kind *k = &v->kinds[kind];
	uint32_t row_of[FTH_RES_MAX], nrows = 0, rows[FTH_RES_MAX];
	double coefs[FTH_RES_MAX], least = OWN_NEVER;
	for (uint32_t r = 0; r < FTH_RES_MAX; r++) {
		row_of[r] = FTH_NONE;
		for (uint32_t a = 0; a < k->nalts && row_of[r] == FTH_NONE; a++)
			if (k->alts[a].demand.v[r])
				row_of[r] = nrows++;
	}
	if (!nrows)
		return 0;
	struct fth_lp *lp = fth_lp_new(nrows);
	for (uint32_t r = 0; r < nrows; r++)
		fth_lp_set_row(lp, r, 1, INFINITY);
	for (size_t i = 0; i < n; i++) {
		uint32_t len = column(v, k, &buys[i], row_of, rows, coefs);
		if (!len)
			continue;
		fth_lp_add_col(lp, buys[i].price, rows, coefs, len);
		/* No dearer than a machine of its own, whatever comes of the LP. */
		double alone = buys[i].price * 1e6 / fth_kind_on_type(k, &v->catalog->types[buys[i].type])->speed_ppm;
		least = FTH_MIN(least, alone);
	}
	if (least < OWN_NEVER && !fth_lp_solve(lp))
		least = FTH_MIN(least, fth_lp_objective(lp));
	fth_lp_free(lp);
	return least < OWN_NEVER ? least : 0;
}
