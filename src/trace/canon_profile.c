/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical co-location profile: see docs/formats.md. And Eva's matrix of the same. */
#include "trace/csv.h"
#include "trace/readers.h"

enum { CLASSES_MAX = 1000 }; /* a million pairs */
#define RATE_MAX 10.0

static const struct fth_field_rule missing_rule = {.key = "missing", .type = FTH_FIELD_REAL, .required = true};

/* ---- reading our own ---- */

struct reader {
	struct fth_profile *p;
	struct fth_line line;
	FTH_VEC(fth_sym) classes;
	FTH_VEC(bool) rows; /* seen */
	bool begun;
};

static int read_class(struct reader *r, struct fth_error *err)
{
	if (r->rows.len)
		return fth_line_fail(&r->line, err, "class after the first row");
	if (!*r->line.name)
		return fth_line_fail(&r->line, err, "class: its name is missing");
	if (r->classes.len == CLASSES_MAX)
		return fth_line_fail(&r->line, err, "more than %d classes", CLASSES_MAX);
	fth_sym sym = fth_sym_intern(r->p->syms, r->line.name);
	for (size_t i = 0; i < r->classes.len; i++)
		if (r->classes.data[i] == sym)
			return fth_line_fail(&r->line, err, "class %.60s twice", r->line.name);
	fth_vec_push(&r->classes, sym);
	return fth_line_finish(&r->line, err);
}

static int read_rates(struct reader *r, fth_sym victim, char *s, struct fth_error *err)
{
	static const struct fth_field_rule rate = {.key = "rates", .type = FTH_FIELD_REAL};
	size_t i = 0;
	for (char *end = s + strlen(s); s <= end; i++) {
		char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
		double x;
		const char *wrong = fth_field_parse(&rate, s, (size_t)(stop - s), &x, NULL);
		if (!wrong && x > RATE_MAX)
			wrong = "out of range";
		if (wrong)
			return fth_line_fail(&r->line, err, "rate %zu of %.60s: %s", i + 1, r->line.name, wrong);
		if (i < r->classes.len)
			fth_profile_set(r->p, victim, r->classes.data[i], x);
		s = stop + 1;
	}
	if (i != r->classes.len)
		return fth_line_fail(&r->line, err, "row %.60s: a rate for each of the %zu classes is needed", r->line.name,
				     r->classes.len);
	return 0;
}

static int read_row(struct reader *r, struct fth_error *err)
{
	if (!r->rows.len) {
		fth_profile_set_classes(r->p, r->classes.data, (uint32_t)r->classes.len);
		for (size_t i = 0; i < r->classes.len; i++)
			fth_vec_push(&r->rows, false);
	}
	uint64_t at;
	fth_sym victim = fth_sym_find(r->p->syms, r->line.name);
	if (!victim || !fth_map_get(&r->p->index, victim, &at))
		return fth_line_fail(&r->line, err, "row %.60s: no class of this name above", r->line.name);
	if (r->rows.data[at])
		return fth_line_fail(&r->line, err, "row %.60s twice", r->line.name);
	r->rows.data[at] = true;
	for (size_t i = 0; i < r->line.fields.len; i++) {
		struct fth_field *f = &r->line.fields.data[i];
		if (strcmp(f->key, "rates"))
			continue;
		f->used = true;
		int e = read_rates(r, victim, f->value, err);
		return e ? e : fth_line_finish(&r->line, err);
	}
	return fth_line_fail(&r->line, err, "row: rates= is missing");
}

static int read_line(struct reader *r, struct fth_error *err)
{
	bool first = !r->begun;
	r->begun = true;
	if (!strcmp(r->line.word, "class"))
		return read_class(r, err);
	if (!strcmp(r->line.word, "row"))
		return read_row(r, err);
	if (strcmp(r->line.word, "profile"))
		return fth_line_fail(&r->line, err, "unknown word '%.60s'", r->line.word);
	if (!first)
		return fth_line_fail(&r->line, err, "the profile line must come first, and once");
	struct fth_field_names names = {.syms = r->p->syms};
	int e = fth_line_apply(&r->line, &missing_rule, 1, &r->p->missing, &names, err);
	return e ? e : fth_line_finish(&r->line, err);
}

int fth_read_canon_profile(struct fth_profile *p, struct fth_input *in, struct fth_error *err)
{
	struct reader r = {.p = p};
	int e = fth_line_expect_header(in, "farthing-profile", err);
	p->missing = 1;
	while (!e) {
		e = fth_line_next(&r.line, in, err);
		if (e <= 0)
			break;
		e = read_line(&r, err);
	}
	if (!e && p->missing > RATE_MAX)
		e = fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "missing=: out of range");
	for (size_t i = 0; !e && (i < r.classes.len || !r.classes.len); i++)
		if (!r.classes.len || !r.rows.len || !r.rows.data[i])
			e = fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "no row for %s",
					r.classes.len ? fth_sym_str(p->syms, r.classes.data[i]) : "any class");
	fth_vec_release(&r.classes);
	fth_vec_release(&r.rows);
	fth_line_release(&r.line);
	return e;
}

/* ---- writing ---- */

int fth_write_profile(const struct fth_profile *p, struct fth_output *o, struct fth_error *err)
{
	struct fth_str s = {0};
	size_t n = p->classes.len;
	fth_str_add(&s, "farthing-profile 1\nprofile missing=");
	fth_str_real(&s, p->missing);
	fth_str_addc(&s, '\n');
	for (size_t i = 0; i < n; i++) {
		fth_str_add(&s, "class ");
		fth_name_write(&s, fth_sym_str(p->syms, p->classes.data[i]));
		fth_str_addc(&s, '\n');
	}
	for (size_t i = 0; i < n; i++) {
		fth_str_add(&s, "row ");
		fth_name_write(&s, fth_sym_str(p->syms, p->classes.data[i]));
		for (size_t k = 0; k < n; k++) {
			fth_str_add(&s, k ? "," : " rates=");
			fth_str_real(&s, p->rate[i * n + k]);
		}
		fth_str_addc(&s, '\n');
	}
	int r = fth_output_write(o, s.data, s.len, err);
	fth_str_release(&s);
	return r;
}

/* ---- Eva's contention matrix ---- */

/* The classes are called after the tasks of Eva's catalog: "resnet18_node0". */
static fth_sym matrix_class(struct fth_profile *p, const char *cell)
{
	size_t n = strlen(cell);
	static const char tail[] = "_node0";
	if (n > sizeof(tail) - 1 && !strcmp(cell + n - (sizeof(tail) - 1), tail))
		n -= sizeof(tail) - 1;
	return fth_sym_internn(p->syms, cell, n);
}

static int matrix_header(struct fth_profile *p, struct fth_csv *csv, struct fth_error *err)
{
	FTH_VEC(fth_sym) classes = {0};
	int e = 0;
	if (csv->ncells < 2 || csv->ncells > CLASSES_MAX + 1)
		e = fth_csv_fail(csv, err, "a matrix has 1 to %d classes", CLASSES_MAX);
	for (size_t i = 1; i < csv->ncells && !e; i++) {
		fth_sym sym = matrix_class(p, csv->cells[i]);
		for (size_t k = 0; k < classes.len && !e; k++)
			if (classes.data[k] == sym)
				e = fth_csv_fail(csv, err, "class '%.60s' twice", csv->cells[i]);
		if (!e && !sym)
			e = fth_csv_fail(csv, err, "a class without a name");
		fth_vec_push(&classes, sym);
	}
	if (!e)
		fth_profile_set_classes(p, classes.data, (uint32_t)classes.len);
	fth_vec_release(&classes);
	return e;
}

static int matrix_row(struct fth_profile *p, struct fth_csv *csv, bool *seen, struct fth_error *err)
{
	uint64_t at;
	fth_sym victim = matrix_class(p, csv->cells[0]);
	if (csv->ncells != p->classes.len + 1)
		return fth_csv_fail(csv, err, "%zu columns where the header has %zu", csv->ncells, p->classes.len + 1);
	if (!fth_map_get(&p->index, victim, &at))
		return fth_csv_fail(csv, err, "row '%.60s' has no column", csv->cells[0]);
	if (seen[at])
		return fth_csv_fail(csv, err, "row '%.60s' twice", csv->cells[0]);
	seen[at] = true;
	for (size_t i = 1; i < csv->ncells; i++) {
		double x = p->missing;
		if (strcmp(csv->cells[i], "x")) {
			int e = fth_csv_real(csv, csv->cells[i], "rate", 0, RATE_MAX, &x, err);
			if (!e && x > 1)
				e = fth_csv_fail(csv, err, "rate %.60s of '%.60s' is above 1: faster than alone", csv->cells[i], csv->cells[0]);
			if (e)
				return e;
		}
		fth_profile_set(p, victim, p->classes.data[i - 1], x);
	}
	return 0;
}

int fth_read_eva_matrix(struct fth_profile *p, struct fth_input *in, struct fth_error *err)
{
	struct fth_csv csv = {.in = in};
	/* "x": never measured together; Eva takes 0.95, and so do classes it does not know. */
	p->missing = 0.95;
	int e = fth_csv_split_next(&csv, err);
	if (!e)
		e = fth_csv_fail(&csv, err, "the file is empty");
	else if (e > 0)
		e = matrix_header(p, &csv, err);
	bool *seen = fth_alloc(p->classes.len + 1);
	size_t rows = 0;
	while (!e && (e = fth_csv_split_next(&csv, err)) > 0) {
		e = matrix_row(p, &csv, seen, err);
		rows++;
	}
	if (!e && rows != p->classes.len)
		e = fth_csv_fail(&csv, err, "%zu rows for %zu classes", rows, p->classes.len);
	free(seen);
	fth_csv_release(&csv);
	return e;
}
