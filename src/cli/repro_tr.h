/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of TR-Kubernetes' figures share. */
#ifndef FTH_CLI_REPRO_TR_H
#define FTH_CLI_REPRO_TR_H

#include "cli/repro.h"
#include "model/spot.h"
#include "optimize/spot.h"

enum { REPRO_TR_ZONES = 6 };
struct repro_tr {
	struct fth_repro_book *book;
	const struct fth_repro_request *req;
	struct fth_spot_table zone[REPRO_TR_ZONES];
};
extern const char *const repro_tr_zones[REPRO_TR_ZONES];

/* Figures 17 and 18: batch work on the excess, in the simulator. */
int repro_tr_figure17(struct repro_tr *t, struct fth_error *err);
int repro_tr_figure18(struct repro_tr *t, struct fth_error *err);

#endif
