/* SPDX-License-Identifier: Apache-2.0 */
/* Job durations drawn from the two distributions of Eva's Table 9. */
#ifndef FTH_TRACE_DRAW_H
#define FTH_TRACE_DRAW_H

#include "base/base.h"

/* Gavel's model: 10^x minutes, x uniform in [1.5, 3] four times out of five, else in [3, 4]. */
fth_time fth_draw_gavel(struct fth_rng *r);
/* A curve of our own through Table 9's figures of the Alibaba trace: mean 9.1 h, median 0.2, P80 1.0, P95 5.2. */
fth_time fth_draw_alibaba(struct fth_rng *r);

#endif
