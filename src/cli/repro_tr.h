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

/* A picture of a page: curves (or points) of ours and the paper's; what is not a number is left out. All is copied. */
enum { REPRO_TR_POINTS_MAX = 8 };
struct repro_tr_curve {
	const char *name;
	bool points;
	double x[REPRO_TR_POINTS_MAX], y[REPRO_TR_POINTS_MAX];
	size_t n;
};
void repro_tr_plot(struct repro_tr *t, struct fth_repro_page *page, const struct fth_plot *like, const struct repro_tr_curve *curves, size_t n);

/* Figures 17 and 18: batch work on the excess, in the simulator. */
int repro_tr_figure17(struct repro_tr *t, struct fth_error *err);
int repro_tr_figure18(struct repro_tr *t, struct fth_error *err);

#endif
