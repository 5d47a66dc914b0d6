/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Succinct state sharing: copies of the central bit map (which workers have long work) as workers keep them. A copy
 * is made once for each state of the map and shared by all who keep it; it goes with its last keeper.
 */
#ifndef FTH_HYBRID_HINTS_H
#define FTH_HYBRID_HINTS_H

#include "policies/hybrid/central.h"

struct fth_hint {
	uint32_t keepers;
	uint32_t nclear;  /* bits that are 0 */
	uint32_t *before; /* clear bits in the words before each; NULL until somebody draws from it */
	uint64_t *bits;
};

struct fth_hints {
	const struct fth_central *central;
	FTH_VEC(struct fth_hint) list;
	FTH_VEC(uint32_t) free;
	uint32_t current; /* a copy of the map as it is, if version is still the map's; FTH_NONE */
	uint64_t version;
};
void fth_hints_init(struct fth_hints *h, const struct fth_central *c);
void fth_hints_release(struct fth_hints *h);
/* Keep the map as it is now, in place of what was kept (FTH_NONE: nothing). */
uint32_t fth_hints_keep(struct fth_hints *h, uint32_t instead_of);
void fth_hints_drop(struct fth_hints *h, uint32_t hint);
uint32_t fth_hints_clear_count(struct fth_hints *h, uint32_t hint);
/* The k-th worker whose bit is 0. */
uint32_t fth_hints_clear_at(const struct fth_hints *h, uint32_t hint, uint32_t k);

#endif
