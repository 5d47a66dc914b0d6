/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Mersenne Twister (MT19937) with the rule by which the authors' simulator draws, so that a run can be
 * followed draw by draw: reals of 53 bits, and randint(a, b) = a + floor(real * (b - a + 1)).
 */
#ifndef FTH_HYBRID_DRAW_H
#define FTH_HYBRID_DRAW_H

#include <stdint.h>

enum { FTH_MT_WORDS = 624 };

struct fth_draw {
	uint32_t mt[FTH_MT_WORDS];
	uint32_t at;
};
void fth_draw_seed(struct fth_draw *d, uint64_t seed);
double fth_draw_real(struct fth_draw *d); /* [0, 1) */
static inline uint32_t fth_draw_below(struct fth_draw *d, uint32_t n)
{
	return (uint32_t)(fth_draw_real(d) * (double)n);
}

#endif
