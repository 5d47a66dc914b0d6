/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A correlation matrix as a few common causes.
 *
 * Cause f strikes with probability s_f; kind i is then down with probability t_if because of it. Given which causes have struck, kinds
 * fall independently, so that everything about pools can be computed exactly. Two kinds are up together more often than independent ones by
 * the factor prod_f (1 + u_if u_kf), u_if = sqrt(s_f (1 - s_f)) t_if / (1 - s_f t_if): loads u are fitted to the matrix. A cause is as rare
 * and as thorough as its loads allow: the kind with the greatest load always falls.
 */
#ifndef FTH_OPTIMIZE_COMMON_CAUSE_H
#define FTH_OPTIMIZE_COMMON_CAUSE_H

#include "base/base.h"

enum { FTH_CAUSES_MAX = 8 };

struct fth_causes {
	uint32_t n;    /* causes */
	double s[FTH_CAUSES_MAX];
	double *t;     /* kinds x FTH_CAUSES_MAX */
};
void fth_causes_release(struct fth_causes *c);

/* rho: kinds x kinds, symmetric; below 0 counts as 0. p: availabilities, 0 < p < 1. Always succeeds: where the availabilities leave no
 * room for a coefficient, what they leave room for is taken. */
void fth_causes_fit(struct fth_causes *ret, const double *rho, const double *p, uint32_t kinds);
/* The coefficient that two kinds have by these causes. */
double fth_causes_correlation(const struct fth_causes *c, const double *p, uint32_t a, uint32_t b);

#endif
