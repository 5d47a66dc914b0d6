/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of a comparison; each adds one figure to the page. */
#ifndef FTH_REPORT_FIGURES_H
#define FTH_REPORT_FIGURES_H

#include "report/compare.h"

/* What is worked out once for all figures. */
struct fth_figures {
	const struct fth_comparison *c;
	struct fth_str *labels;   /* nruns */
	const char **type_names;  /* ntypes */
	uint32_t *shown_types;    /* those with a colour of their own, most used over all runs first */
	uint32_t ntypes, nshown;
};
void fth_figures_init(struct fth_figures *f, const struct fth_comparison *c);
void fth_figures_release(struct fth_figures *f);

unsigned fth_run_colour(size_t run);
unsigned fth_run_dash(size_t run);

/* Over all runs. */
void fth_figure_cost(const struct fth_figures *f, struct fth_str *out);
void fth_figure_jct(const struct fth_figures *f, struct fth_str *out);
void fth_figure_waste(const struct fth_figures *f, struct fth_str *out);
void fth_figure_cdf(const struct fth_figures *f, struct fth_str *out);
void fth_figure_cost_total(const struct fth_figures *f, struct fth_str *out);
void fth_figure_cost_rate(const struct fth_figures *f, struct fth_str *out);
/* Of the runs that part short tasks from long ones, if there are any. */
bool fth_figures_have_classes(const struct fth_figures *f);
void fth_figure_short_delay(const struct fth_figures *f, struct fth_str *out);
void fth_table_short(const struct fth_figures *f, struct fth_str *out);
/* Of one run. */
void fth_figure_types(const struct fth_figures *f, size_t run, struct fth_str *out);
void fth_figure_utilisation(const struct fth_figures *f, size_t run, struct fth_str *out);
void fth_figure_tasks(const struct fth_figures *f, size_t run, struct fth_str *out);
void fth_figure_gantt(const struct fth_figures *f, size_t run, struct fth_str *out);

#endif
