/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `farthing repro sec` among themselves. */
#ifndef FTH_CLI_REPRO_SEC_H
#define FTH_CLI_REPRO_SEC_H

#include "cli/repro_runs.h"
#include "optimize/reserve.h"
#include "report/compare.h"

#define DATASTAR "SDSC-DS-2004-2.1-cln"

/* Which machines: EC2's of June 2013 with all contracts (and in-house ones), with those of section 8.5 only, with the two of
 * Table 1 only; the same machine billed by the minute; both clouds. */
enum sec_catalog { SEC_EC2, SEC_EC2_HL, SEC_EC2_ML, SEC_GCE, SEC_BOTH };
struct sec_setup {
	const char *trace;   /* without .swf.gz */
	enum sec_catalog catalog;
	double ratio;        /* price of the other cloud, times EC2's; 0: 1 */
	double alpha;        /* overestimation of runtimes, 1: as users did */
	bool overhead;       /* of management: Table 4, and formatting disks between jobs */
};
int fth_sec_world(struct fth_world *w, const char *data, const struct sec_setup *s, struct fth_error *err);

/* The demand by week that a run's machines on EC2 tell. */
int fth_sec_demand(struct fth_demand *d, const struct fth_run *run, struct fth_error *err);

int fth_sec_figure5(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_sec_figure6(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_sec_figure7a(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_sec_figure7b(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_sec_figure8(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);
int fth_sec_figure9(const struct fth_repro_request *req, struct fth_repro_book *b, struct fth_error *err);

/* A plot with nseries lines of n values over the same x, or (points) each with x of its own. All is copied. */
struct sec_plot {
	const char *id, *title, *subtitle, *x_label, *y_label;
	enum fth_unit x_unit, y_unit;
	bool points, y_log;
	bool tight; /* the axis begins with the least value rather than 0 */
	size_t nseries, n;
	const char *const *names;
	const double *x, *y;
};
void fth_sec_add_plot(struct fth_repro_book *b, struct fth_repro_page *p, const struct sec_plot *s);

#endif
