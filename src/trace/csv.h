/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a CSV file: quotes as in RFC 4180, but a cell stays on its line. Internal to this folder. */
#ifndef FTH_TRACE_CSV_H
#define FTH_TRACE_CSV_H

#include "trace/trace.h"

struct fth_csv_column {
	const char *name;
	bool required;
};

struct fth_csv {
	struct fth_input *in;
	char **cells;
	size_t ncells, cap;
	/* With a header: */
	const struct fth_csv_column *columns;
	size_t ncolumns;
	int at[32];     /* column -> cell, -1 absent */
	size_t width;   /* cells of the header */
};

/* The next row that is not blank, split in place: 1, 0 at the end, -errno. */
int fth_csv_split_next(struct fth_csv *csv, struct fth_error *err);
/* Read the header: every column must be known, none twice, the required ones there. */
int fth_csv_open(struct fth_csv *csv, struct fth_input *in, const struct fth_csv_column *columns, size_t n,
		 struct fth_error *err);
/* The next row of a file with a header. */
int fth_csv_next(struct fth_csv *csv, struct fth_error *err);
void fth_csv_release(struct fth_csv *csv);

/* The cell of a column; "" if the file does not have it. */
const char *fth_csv_cell(const struct fth_csv *csv, int column);
bool fth_csv_has(const struct fth_csv *csv, int column);
/* Numbers within bounds, or an error naming the column. */
int fth_csv_int(const struct fth_csv *csv, int column, int64_t min, int64_t max, int64_t *ret, struct fth_error *err);
int fth_csv_real(const struct fth_csv *csv, const char *cell, const char *what, double min, double max, double *ret,
		 struct fth_error *err);
#define fth_csv_fail(csv, err, ...) \
	fth_fail_at(err, -EINVAL, fth_input_name((csv)->in), FTH_MAX(fth_input_line((csv)->in), (uint64_t)1), __VA_ARGS__)

#endif
