/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/csv.h"

enum { CELLS_MAX = 4096 };

static int add_cell(struct fth_csv *csv, char *cell, struct fth_error *err)
{
	if (csv->ncells == CELLS_MAX)
		return fth_csv_fail(csv, err, "more than %d columns", CELLS_MAX);
	if (csv->ncells == csv->cap)
		csv->cells = fth_vec_grow(csv->cells, &csv->cap, csv->ncells + 1, sizeof(*csv->cells));
	csv->cells[csv->ncells++] = cell;
	return 0;
}

/* A quoted cell, unquoted in place; *p moves behind it. */
static int quoted(struct fth_csv *csv, char **p, struct fth_error *err)
{
	char *from = *p + 1, *to = from;
	int r = add_cell(csv, from, err);
	if (r)
		return r;
	for (;; from++) {
		if (!*from)
			return fth_csv_fail(csv, err, "a quote is not closed on its line");
		if (*from == '"') {
			if (from[1] != '"')
				break;
			from++;
		}
		*to++ = *from;
	}
	*p = from + 1;
	if (**p && **p != ',')
		return fth_csv_fail(csv, err, "text after a closing quote");
	bool more = **p == ',';
	*p += more;
	*to = '\0';
	return more;
}

static int split(struct fth_csv *csv, char *p, struct fth_error *err)
{
	csv->ncells = 0;
	for (int more = 1; more > 0;) {
		if (*p == '"') {
			more = quoted(csv, &p, err);
			if (more < 0)
				return more;
			continue;
		}
		int r = add_cell(csv, p, err);
		if (r)
			return r;
		char *comma = strchr(p, ',');
		more = comma != NULL;
		if (comma) {
			*comma = '\0';
			p = comma + 1;
		}
	}
	return 1;
}

int fth_csv_split_next(struct fth_csv *csv, struct fth_error *err)
{
	char *line;
	size_t len;
	int r;
	while ((r = fth_input_next(csv->in, &line, &len, err)) > 0)
		if (len)
			return split(csv, line, err);
	return r;
}

static int map_header(struct fth_csv *csv, struct fth_error *err)
{
	for (size_t i = 0; i < csv->ncolumns; i++)
		csv->at[i] = -1;
	for (size_t cell = 0; cell < csv->ncells; cell++) {
		size_t i = 0;
		while (i < csv->ncolumns && strcmp(csv->columns[i].name, csv->cells[cell]))
			i++;
		if (i == csv->ncolumns)
			return fth_csv_fail(csv, err, "unknown column '%.60s'", csv->cells[cell]);
		if (csv->at[i] >= 0)
			return fth_csv_fail(csv, err, "column '%s' twice", csv->columns[i].name);
		csv->at[i] = (int)cell;
	}
	for (size_t i = 0; i < csv->ncolumns; i++)
		if (csv->columns[i].required && csv->at[i] < 0)
			return fth_csv_fail(csv, err, "column '%s' is missing", csv->columns[i].name);
	csv->width = csv->ncells;
	return 0;
}

int fth_csv_open(struct fth_csv *csv, struct fth_input *in, const struct fth_csv_column *columns, size_t n,
		 struct fth_error *err)
{
	*csv = (struct fth_csv){.in = in, .columns = columns, .ncolumns = n};
	assert(n <= FTH_COUNT(csv->at));
	int r = fth_csv_split_next(csv, err);
	if (r < 0)
		return r;
	if (!r)
		return fth_csv_fail(csv, err, "the file is empty");
	return map_header(csv, err);
}

int fth_csv_next(struct fth_csv *csv, struct fth_error *err)
{
	int r = fth_csv_split_next(csv, err);
	if (r > 0 && csv->ncells != csv->width)
		return fth_csv_fail(csv, err, "%zu columns where the header has %zu", csv->ncells, csv->width);
	return r;
}

void fth_csv_release(struct fth_csv *csv)
{
	free(csv->cells);
	csv->cells = NULL;
}

bool fth_csv_has(const struct fth_csv *csv, int column)
{
	return csv->at[column] >= 0;
}

const char *fth_csv_cell(const struct fth_csv *csv, int column)
{
	return csv->at[column] < 0 ? "" : csv->cells[csv->at[column]];
}

int fth_csv_int(const struct fth_csv *csv, int column, int64_t min, int64_t max, int64_t *ret, struct fth_error *err)
{
	const char *cell = fth_csv_cell(csv, column), *what = csv->columns[column].name;
	int64_t v = 0;
	int r = fth_parse_i64(cell, strlen(cell), &v);
	if (r == -EINVAL)
		return fth_csv_fail(csv, err, "%s '%.60s' is not a whole number", what, cell);
	if (r || v > max)
		return fth_csv_fail(csv, err, "%s %.60s is out of range", what, cell);
	if (v < min)
		return fth_csv_fail(csv, err, "%s %.60s is %s", what, cell, v < 0 ? "negative" : "too small");
	*ret = v;
	return 0;
}

int fth_csv_real(const struct fth_csv *csv, const char *cell, const char *what, double min, double max, double *ret,
		 struct fth_error *err)
{
	double x = 0;
	int r = fth_parse_real(cell, strlen(cell), &x);
	if (r == -EINVAL)
		return fth_csv_fail(csv, err, "%s '%.60s' is not a number", what, cell);
	if (r || x > max)
		return fth_csv_fail(csv, err, "%s %.60s is out of range", what, cell);
	if (x < min)
		return fth_csv_fail(csv, err, "%s %.60s is %s", what, cell, x < 0 ? "negative" : "too small");
	*ret = x;
	return 0;
}
