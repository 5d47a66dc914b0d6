/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeating a paper's tables and figures: what a paper's file provides, and the book it fills. The verb
 * (verb_repro.c) finds the data, chooses tables and writes the result (report/repro.h).
 */
#ifndef FTH_CLI_REPRO_H
#define FTH_CLI_REPRO_H

#include <math.h>

#include "base/base.h"
#include "report/repro.h"

/* Tables while they are being made. Text is copied; what plots point to must live as long as the book,
 * for which there is its arena. */
struct fth_repro_page {
	char *name, *title;
	FTH_VEC(struct fth_repro_row) rows;
	FTH_VEC(const char *) notes;
	FTH_VEC(struct fth_plot) plots;
	FTH_VEC(struct fth_bars) bars;
};
struct fth_repro_book {
	struct fth_arena arena;
	FTH_VEC(struct fth_repro_page) pages;
	FTH_VEC(struct fth_repro_table) tables; /* as the writers want them; see fth_repro_book_tables */
};
/* The pointer is good until the next page is added. */
struct fth_repro_page *fth_repro_add_page(struct fth_repro_book *b, const char *name, const char *title);
void fth_repro_add_row(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *label,
		       const char *unit, double paper, double ours);
void fth_repro_add_note(struct fth_repro_book *b, struct fth_repro_page *p, const char *fmt, ...) FTH_PRINTF(3, 4);
/* ours: the mean, the least and the greatest. */
void fth_repro_add_spread(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *label,
			  const char *unit, double paper, const double ours[3]);
void fth_repro_add_bars(struct fth_repro_page *p, const struct fth_bars *bars);
void fth_repro_add_plot(struct fth_repro_page *p, const struct fth_plot *plot);
/* The pages as tables for the writers; good until the book changes. */
void fth_repro_book_tables(struct fth_repro_book *b, struct fth_repro *ret);
void fth_repro_book_release(struct fth_repro_book *b);

struct fth_repro_request {
	const char *data;  /* folder of the public data sets */
	unsigned parallel; /* for fth_runner_run; 0: number of cores */
	int64_t seed;
	bool quiet;
};

/* The paper's name of what we have as a table of another name; all pairs of one name together. */
struct fth_repro_alias {
	const char *name, *table;
};

struct fth_repro_paper {
	const char *name;          /* "eva" */
	const char *title;
	const char *const *tables; /* NULL-ended names, in the order in which they are made */
	/* Make these of its tables (NULL-ended, in that order) and add them to the book. All at once, so that
	 * runs which several tables need are made once. */
	const struct fth_repro_alias *aliases; /* up to one without a name; NULL: none */
	int (*make)(const char *const *tables, const struct fth_repro_request *req, struct fth_repro_book *book,
		    struct fth_error *err);
};
extern const struct fth_repro_paper fth_repro_eva;
extern const struct fth_repro_paper fth_repro_cloudcoaster;
extern const struct fth_repro_paper fth_repro_own;
extern const struct fth_repro_paper fth_repro_sec;
extern const struct fth_repro_paper fth_repro_stratus;
extern const struct fth_repro_paper fth_repro_tr_kubernetes;
extern const struct fth_repro_paper *const fth_repro_papers[]; /* NULL-ended */

/* A figure over several windows or zones: mean, least and greatest. */
struct fth_repro_range {
	double sum, least, most;
	int n;
};
static inline void fth_repro_range_add(struct fth_repro_range *r, double x)
{
	r->least = r->n ? FTH_MIN(r->least, x) : x;
	r->most = r->n ? FTH_MAX(r->most, x) : x;
	r->sum += x;
	r->n++;
}
static inline double fth_repro_range_mean(const struct fth_repro_range *r)
{
	return r->n ? r->sum / r->n : NAN;
}

#endif
