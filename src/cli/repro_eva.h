/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `farthing repro eva` among themselves. */
#ifndef FTH_CLI_REPRO_EVA_H
#define FTH_CLI_REPRO_EVA_H

#include "cli/repro_runs.h"

enum eva_trace { EVA_GAVEL, EVA_ALIBABA };

/* The 21 types, the contention matrix, and a trace (or, with NULL, no workload yet). */
int fth_eva_world(struct fth_world *w, const char *data, const char *trace, struct fth_error *err);

/* Each adds one page. */
int fth_eva_table4(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_table5(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_table6(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_figure4(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_figure5(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_figure6(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_figure7(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_eva_figure8(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);

#endif
