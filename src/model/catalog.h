/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalog: instance types, and the offers under which they can be had.
 * The public, read-only part is struct fth_catalog (farthing/types.h); this one owns and fills it.
 */
#ifndef FTH_MODEL_CATALOG_H
#define FTH_MODEL_CATALOG_H

#include "base/base.h"

struct fth_catalog_store {
	struct fth_symtab *syms; /* borrowed */
	FTH_VEC(struct fth_instance_type) types;
	FTH_VEC(struct fth_offer) offers;
	uint32_t nres;
	fth_sym res_names[FTH_RES_MAX];
	struct fth_catalog pub; /* set by fth_catalog_finish */
};

void fth_catalog_init(struct fth_catalog_store *c, struct fth_symtab *syms);
void fth_catalog_release(struct fth_catalog_store *c);
/* The index of the extra resource with this name, made if there is room; -1 if there is none. */
int fth_catalog_resource(struct fth_catalog_store *c, const char *name);
fth_type_id fth_catalog_find_type(const struct fth_catalog_store *c, fth_sym name); /* FTH_NONE */
/* Check the whole (prices, capacities, at least one offer) and publish it. */
int fth_catalog_finish(struct fth_catalog_store *c, struct fth_error *err);
/* Sizes of containers at a price per vCPU-hour and GiB-hour; and whether there are any. */
int fth_catalog_add_containers(struct fth_catalog_store *c, fth_price per_cpu, fth_price per_gib, struct fth_error *err);
bool fth_catalog_has_containers(const struct fth_catalog_store *c);
/* A copy of its own, so that prices may change within one run. Types are shared. */
void fth_catalog_copy(struct fth_catalog_store *to, const struct fth_catalog_store *from);

/* A drawn or fixed delay: fixed when min == max; else the mean is kept exactly by drawing below it
 * with probability (max - mean) / (max - min), uniformly on either side. */
fth_time fth_delay_draw(const struct fth_delay *d, struct fth_rng *rng);
static inline struct fth_delay fth_delay_fixed(fth_time t)
{
	return (struct fth_delay){t, t, t};
}

/* How long n machines asked for in one request take to boot, by the type's table; it must have one. */
fth_time fth_boot_time(const struct fth_instance_type *t, uint32_t n);

/* The default rule: per second from the moment the machine is ours, no minimum. */
struct fth_billing fth_billing_default(void);

#endif
