/* SPDX-License-Identifier: Apache-2.0 */
/* A paper's figures beside ours: what `farthing repro` writes. */
#ifndef FTH_REPORT_REPRO_H
#define FTH_REPORT_REPRO_H

#include "base/base.h"
#include "report/plot.h"

struct fth_repro_row {
	const char *id;    /* stable, for scripts */
	const char *label;
	const char *unit;  /* "$", "h", "%", "s", "" */
	double paper, ours; /* NAN: none */
	double least, most; /* of several windows or seeds, of which ours is the mean; NAN: there is but one */
};

struct fth_repro_table {
	const char *name;  /* "table14" */
	const char *title;
	const struct fth_repro_row *rows;
	size_t nrows;
	const char *const *notes;
	size_t nnotes;
	const struct fth_plot *plots; /* for the page; their ids unique over all tables */
	size_t nplots;
	const struct fth_bars *bars; /* likewise */
	size_t nbars;
};

struct fth_repro {
	const char *paper;   /* "eva" */
	const char *title;   /* the paper's; may be NULL */
	const char *version; /* of the program */
	const char *command; /* may be NULL */
	const struct fth_repro_table *tables;
	size_t ntables;
};

/* `farthing.repro/1` */
void fth_repro_json(const struct fth_repro *r, struct fth_str *out);
void fth_repro_csv(const struct fth_repro *r, struct fth_str *out);
void fth_repro_table(const struct fth_repro *r, bool colour, struct fth_str *out);
void fth_repro_html(const struct fth_repro *r, struct fth_str *out);

#endif
