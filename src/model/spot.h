/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a transient market over a window: kinds of machines (a type in a zone) with an average price, an
 * on-demand price and an availability. Prices are averages and therefore real numbers, not money that is billed.
 */
#ifndef FTH_MODEL_SPOT_H
#define FTH_MODEL_SPOT_H

#include "base/base.h"

struct fth_spot_offer {
	const char *type, *zone; /* zone "" where there is one only */
	uint64_t capacity;       /* of one machine, >= 1 */
	double price;            /* dollars per hour, > 0 */
	double on_demand;        /* the same machine on demand; 0: not known */
	double availability;     /* 0 < p < 1 */
	int64_t memory;          /* MiB; 0: not known */
};

/* Rows of such tables, with the text they point to. */
struct fth_spot_table {
	FTH_VEC(struct fth_spot_offer) offers;
	struct fth_arena text;
};
void fth_spot_table_release(struct fth_spot_table *t);
/* A copy of the text that lives as long as the table. */
const char *fth_spot_table_text(struct fth_spot_table *t, const char *text);
/* The offer of a type in a zone; FTH_NONE. */
uint32_t fth_spot_table_find(const struct fth_spot_table *t, const char *type, const char *zone);

#endif
