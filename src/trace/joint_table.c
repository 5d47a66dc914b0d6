/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/joint_table.h"

#include "trace/csv.h"

enum { STATES_MAX = 10000000 };

struct reading {
	struct fth_joint_table *t;
	const struct fth_spot_table *offers;
	struct fth_csv csv;
	size_t n;
	uint32_t *column; /* cell -> offer */
	size_t ncolumns;
	FTH_VEC(double) cells;
	FTH_VEC(double) weights;
	bool *seen; /* rows of a matrix */
};

static uint32_t find_offer(const struct fth_spot_table *t, const char *name)
{
	const char *at = strchr(name, '@');
	uint32_t found = FTH_NONE;
	for (size_t i = 0; i < t->offers.len; i++) {
		const struct fth_spot_offer *o = &t->offers.data[i];
		size_t n = strlen(o->type);
		if (at ? (size_t)(at - name) == n && !strncmp(o->type, name, n) && !strcmp(o->zone, at + 1) : !strcmp(o->type, name)) {
			if (found != FTH_NONE)
				return FTH_NONE - 1; /* in several zones */
			found = (uint32_t)i;
		}
	}
	return found;
}

static int name_of(struct reading *r, const char *name, uint32_t *ret, struct fth_error *err)
{
	*ret = find_offer(r->offers, name);
	if (*ret == FTH_NONE)
		return fth_csv_fail(&r->csv, err, "%s is not among the offers", name);
	if (*ret == FTH_NONE - 1)
		return fth_csv_fail(&r->csv, err, "%s is offered in several zones: write TYPE@ZONE", name);
	return 0;
}

static int read_head(struct reading *r, struct fth_error *err)
{
	int e = fth_csv_split_next(&r->csv, err);
	if (e <= 0)
		return e ? e : fth_fail_at(err, -EINVAL, fth_input_name(r->csv.in), 0, "the file is empty");
	r->t->states = !strcmp(r->csv.cells[0], "Weight");
	if (!r->t->states && *r->csv.cells[0])
		return fth_csv_fail(&r->csv, err, "the first row begins neither with Weight (states) nor with nothing (a matrix)");
	r->ncolumns = r->csv.ncells - 1;
	r->column = fth_alloc((r->ncolumns + 1) * sizeof(*r->column));
	bool *used = fth_alloc(r->n + 1);
	e = 0;
	for (size_t c = 0; c < r->ncolumns && !e; c++) {
		e = name_of(r, r->csv.cells[c + 1], &r->column[c], err);
		if (!e && used[r->column[c]])
			e = fth_csv_fail(&r->csv, err, "%s is there twice", r->csv.cells[c + 1]);
		if (!e)
			used[r->column[c]] = true;
	}
	free(used);
	if (!e && r->t->states && r->ncolumns != r->n)
		e = fth_csv_fail(&r->csv, err, "states of %zu offers, the pool has %zu", r->ncolumns, r->n);
	return e;
}

static int read_row(struct reading *r, struct fth_error *err)
{
	double v;
	uint32_t row = 0;
	int e = 0;
	if (r->csv.ncells != r->ncolumns + 1)
		return fth_csv_fail(&r->csv, err, "%zu cells, the first row has %zu", r->csv.ncells, r->ncolumns + 1);
	if (r->t->states) {
		e = fth_csv_real(&r->csv, r->csv.cells[0], "Weight", 0, 1e18, &v, err);
		if (!e && !(v > 0))
			e = fth_csv_fail(&r->csv, err, "Weight is not above 0");
		if (!e && r->weights.len == STATES_MAX)
			e = fth_csv_fail(&r->csv, err, "more than %d states", STATES_MAX);
		if (e)
			return e;
		fth_vec_push(&r->weights, v);
		row = (uint32_t)r->weights.len - 1;
		for (size_t i = 0; i < r->n; i++)
			fth_vec_push(&r->cells, 0);
	} else {
		e = name_of(r, r->csv.cells[0], &row, err);
		if (!e && r->seen[row])
			e = fth_csv_fail(&r->csv, err, "%s has two rows", r->csv.cells[0]);
		if (e)
			return e;
		r->seen[row] = true;
	}
	for (size_t c = 0; c < r->ncolumns && !e; c++) {
		e = fth_csv_real(&r->csv, r->csv.cells[c + 1], r->t->states ? "state" : "correlation", r->t->states ? 0 : -1, 1, &v, err);
		if (!e && r->t->states && v != 0 && v != 1)
			e = fth_csv_fail(&r->csv, err, "a state is 0 or 1, not %s", r->csv.cells[c + 1]);
		if (!e)
			r->cells.data[row * r->n + r->column[c]] = v;
	}
	return e;
}

static void start_matrix(struct reading *r)
{
	r->seen = fth_alloc(r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->n; k++)
			fth_vec_push(&r->cells, i == k ? 1.0 : 0.0);
}

static int check_rows(struct reading *r, struct fth_error *err)
{
	if (r->t->states)
		return r->weights.len ? 0 : fth_fail_at(err, -EINVAL, fth_input_name(r->csv.in), 0, "no states");
	for (size_t c = 0; c < r->ncolumns; c++)
		if (!r->seen[r->column[c]])
			return fth_fail_at(err, -EINVAL, fth_input_name(r->csv.in), 0, "%s has a column but no row",
					   r->offers->offers.data[r->column[c]].type);
	return 0;
}

int fth_read_joint_table(struct fth_joint_table *ret, const struct fth_spot_table *offers, struct fth_input *in, struct fth_error *err)
{
	struct reading r = {.t = ret, .offers = offers, .csv = {.in = in}, .n = offers->offers.len};
	*ret = (struct fth_joint_table){0};
	int e = read_head(&r, err);
	if (!e && !ret->states)
		start_matrix(&r);
	while (!e) {
		e = fth_csv_split_next(&r.csv, err);
		if (e <= 0)
			break;
		e = read_row(&r, err);
	}
	if (!e)
		e = check_rows(&r, err);
	free(r.column);
	free(r.seen);
	fth_csv_release(&r.csv);
	ret->nrows = ret->states ? r.weights.len : r.n;
	ret->cell = r.cells.data;
	ret->weight = r.weights.data;
	if (e)
		fth_joint_table_release(ret);
	return e;
}

int fth_load_joint_table(struct fth_joint_table *ret, const struct fth_spot_table *offers, const char *path, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_joint_table(ret, offers, in, err);
	fth_input_close(in);
	return r;
}

void fth_joint_table_release(struct fth_joint_table *t)
{
	free(t->cell);
	free(t->weight);
	*t = (struct fth_joint_table){0};
}
