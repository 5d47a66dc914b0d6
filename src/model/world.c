/* SPDX-License-Identifier: Apache-2.0 */
#include "model/world.h"

void fth_world_init(struct fth_world *w)
{
	*w = (struct fth_world){.syms = fth_symtab_new()};
	fth_kinds_init(&w->kinds, w->syms);
	fth_catalog_init(&w->catalog, w->syms);
	fth_workload_init(&w->workload, w->syms, &w->kinds);
	fth_profile_init(&w->profile, w->syms, 1);
	fth_market_init(&w->market);
}

void fth_world_release(struct fth_world *w)
{
	fth_market_release(&w->market);
	fth_profile_release(&w->profile);
	fth_workload_release(&w->workload);
	fth_catalog_release(&w->catalog);
	fth_kinds_release(&w->kinds);
	fth_symtab_free(w->syms);
	*w = (struct fth_world){0};
}
