/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeating a paper's tables and figures: what a paper's file provides, and what it fills. The verb
 * (verb_repro.c) finds the data, chooses tables and writes the result.
 */
#ifndef FTH_CLI_REPRO_H
#define FTH_CLI_REPRO_H

#include "base/base.h"

struct fth_repro_row {
	char *id;    /* stable, e.g. "eva-norm-cost" */
	char *label; /* for people */
	char *unit;  /* "%", "$", "h", "" */
	double paper, ours; /* NAN: not given, or not to be had */
};
struct fth_repro_table {
	char *name;  /* "table14" */
	char *title;
	FTH_VEC(struct fth_repro_row) rows;
	FTH_VEC(char *) notes; /* sentences */
};
struct fth_repro {
	FTH_VEC(struct fth_repro_table) tables;
};
/* The pointer is good until the next table is added. */
struct fth_repro_table *fth_repro_add_table(struct fth_repro *r, const char *name, const char *title);
void fth_repro_add_row(struct fth_repro_table *t, const char *id, const char *label, const char *unit, double paper,
		       double ours);
void fth_repro_add_note(struct fth_repro_table *t, const char *fmt, ...) FTH_PRINTF(2, 3);
void fth_repro_release(struct fth_repro *r);

struct fth_repro_request {
	const char *data;   /* folder of the public data sets */
	unsigned parallel;  /* for fth_runner_run; 0: number of cores */
	int64_t seed;
	bool quiet;
};

struct fth_repro_paper {
	const char *name;                /* "eva" */
	const char *title;
	const char *const *tables;       /* NULL-ended names, in the order in which they are made */
	/* Make one of the tables; add it to ret. */
	int (*make)(const char *table, const struct fth_repro_request *req, struct fth_repro *ret, struct fth_error *err);
};

/* `farthing.repro/1`; a table for people; CSV with one row per figure. */
void fth_repro_json(const struct fth_repro *r, const char *paper, struct fth_str *out);
void fth_repro_text(const struct fth_repro *r, struct fth_str *out);
void fth_repro_csv(const struct fth_repro *r, struct fth_str *out);

extern const struct fth_repro_paper *const fth_repro_papers[]; /* NULL-ended */

#endif
