/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a run reads; loaded once, shared by all runs of a comparison, never written to by them. */
#ifndef FTH_MODEL_WORLD_H
#define FTH_MODEL_WORLD_H

#include "model/catalog.h"
#include "model/market.h"
#include "model/profile.h"
#include "model/workload.h"

struct fth_world {
	struct fth_symtab *syms;
	struct fth_kinds kinds;
	struct fth_catalog_store catalog;
	struct fth_workload workload;
	struct fth_profile profile;
	bool has_profile;
	struct fth_market_data market; /* prices and availability over time */
	bool has_market;
	uint32_t dropped_jobs; /* of the workload as it was: no type holds one of their tasks */
};
void fth_world_init(struct fth_world *w);
void fth_world_release(struct fth_world *w);

#endif
