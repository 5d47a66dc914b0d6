/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small plotting layer: figures as inline SVG for a page made by page.h, drawn here and now, no script.
 *
 * A figure is one column of the page's grid. Its canvas is FTH_PLOT_WIDTH units wide whatever the screen; letters
 * are sized by the page's style sheet, so that they stay readable when a phone shrinks the canvas. Colours
 * are indices 0..7 of the page's palette, FTH_GREY for what is not a series.
 */
#ifndef FTH_REPORT_PLOT_H
#define FTH_REPORT_PLOT_H

#include "base/base.h"

enum { FTH_PLOT_WIDTH = 520, FTH_PLOT_HEIGHT = 270, FTH_COLOURS = 8, FTH_GREY = 8 };

enum fth_unit {
	FTH_UNIT_PLAIN = 0,
	FTH_UNIT_USD,
	FTH_UNIT_SHARE,   /* 0.5 is shown as 50% */
	FTH_UNIT_SECONDS, /* shown as 2 d, 5 h, 10 min */
};

struct fth_axis {
	const char *label;    /* NULL: the ticks say enough */
	enum fth_unit unit;
	bool log;
	double min, max;      /* equal: taken from the data */
};

enum fth_series_kind {
	FTH_SERIES_LINE = 0,
	FTH_SERIES_STEP,   /* keeps its value until the next point */
	FTH_SERIES_AREA,   /* stacked upon the areas before it, which must have the same x */
	FTH_SERIES_POINTS,
};

struct fth_series {
	const char *name;
	enum fth_series_kind kind;
	unsigned colour;
	unsigned dash; /* 0 solid, 1.. patterns */
	const double *x, *y;
	size_t n;
};

struct fth_plot {
	const char *id;       /* unique on the page */
	const char *title;
	const char *subtitle; /* unit or remark; may be NULL */
	const char *desc;     /* for who cannot see it; NULL: none beyond the title */
	struct fth_axis x, y;
	const struct fth_series *series;
	size_t nseries;
	int height;           /* 0: FTH_PLOT_HEIGHT */
};
void fth_plot_html(const struct fth_plot *p, struct fth_str *out);

/* ---- bars, lying, each with its label and figure above it ---- */

struct fth_bar {
	const char *label;
	const char *text;     /* the figure, at the right */
	const double *parts;  /* nparts values, side by side */
	unsigned colour;      /* where there is one part */
	bool strong;
};
struct fth_bars {
	const char *id, *title, *subtitle, *desc;
	enum fth_unit unit;
	size_t nparts;
	const char *const *part_names; /* NULL: no legend */
	const unsigned *part_colours;  /* NULL: each bar its own */
	const struct fth_bar *bars;
	size_t nbars;
};
void fth_bars_html(const struct fth_bars *b, struct fth_str *out);

/* ---- lifetimes ---- */

struct fth_span {
	double from, begun, to; /* begun: until then it is drawn pale */
	unsigned colour;
	const char *title;      /* shown on hovering */
};
struct fth_gantt {
	const char *id, *title, *subtitle, *desc;
	const struct fth_span *spans; /* one row each, from the top */
	size_t nspans;
	double min, max;              /* of the axis, seconds */
	const char *const *names;     /* legend */
	const unsigned *colours;
	size_t nnames;
};
void fth_gantt_html(const struct fth_gantt *g, struct fth_str *out);

/* ---- shared ---- */

enum { FTH_MAX_TICKS = 24 };
/* Round values within [min, max], at most about `want`; returns how many. */
size_t fth_ticks(double min, double max, unsigned want, enum fth_unit unit, bool log, double ret[FTH_MAX_TICKS]);
void fth_tick_text(struct fth_str *out, double v, double step, enum fth_unit unit);
/* A coordinate with at most one decimal. */
void fth_svg_num(struct fth_str *out, double v);
void fth_figure_begin(struct fth_str *out, const char *title, const char *subtitle);
void fth_svg_begin(struct fth_str *out, const char *id, const char *title, const char *desc, double height);
void fth_svg_end(struct fth_str *out); /* and of the figure */
void fth_legend_begin(struct fth_str *out);
void fth_legend_item(struct fth_str *out, const char *name, unsigned colour, unsigned dash, bool area);
void fth_legend_end(struct fth_str *out);

#endif
