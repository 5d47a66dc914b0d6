/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/draw.h"

fth_time fth_draw_gavel(struct fth_rng *r)
{
	bool usual = fth_rng_real(r) < 0.8;
	double u = fth_rng_real(r), x = usual ? 1.5 + 1.5 * u : 3 + u;
	return (fth_time)(60 * fth_pow10(x)) * FTH_SEC;
}

fth_time fth_draw_alibaba(struct fth_rng *r)
{
	/* Quantile, and the decimal logarithm of the hours there: 10.8 s, 12 min, 1 h, 5.2 h, 100 h and
	 * 2,430 h. The tail above P95, which the table does not give, is what makes the mean right. */
	static const double curve[][2] = {{0, -2.522878745280337}, {0.5, -0.6989700043360187}, {0.8, 0},
					  {0.95, 0.7160033436347992}, {0.99, 2}, {1, 3.3856062735983121}};
	double q = fth_rng_real(r);
	size_t i = 1;
	while (q >= curve[i][0] && i + 1 < FTH_COUNT(curve))
		i++;
	double part = (q - curve[i - 1][0]) / (curve[i][0] - curve[i - 1][0]);
	double x = curve[i - 1][1] + part * (curve[i][1] - curve[i - 1][1]);
	return (fth_time)(3600 * fth_pow10(x)) * FTH_SEC;
}
