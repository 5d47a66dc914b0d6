/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repro.h"

#include <math.h>

#include "report/format.h"

struct fth_repro_table *fth_repro_add_table(struct fth_repro *r, const char *name, const char *title)
{
	struct fth_repro_table t = {.name = fth_strdup(name), .title = fth_strdup(title)};
	fth_vec_push(&r->tables, t);
	return &fth_vec_last(&r->tables);
}

void fth_repro_add_row(struct fth_repro_table *t, const char *id, const char *label, const char *unit, double paper,
		       double ours)
{
	struct fth_repro_row row = {fth_strdup(id), fth_strdup(label), fth_strdup(unit), paper, ours};
	fth_vec_push(&t->rows, row);
}

void fth_repro_add_note(struct fth_repro_table *t, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fth_vec_push(&t->notes, fth_strdup(buf));
}

static void release_table(struct fth_repro_table *t)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		free(t->rows.data[i].id);
		free(t->rows.data[i].label);
		free(t->rows.data[i].unit);
	}
	for (size_t i = 0; i < t->notes.len; i++)
		free(t->notes.data[i]);
	fth_vec_release(&t->rows);
	fth_vec_release(&t->notes);
	free(t->name);
	free(t->title);
}

void fth_repro_release(struct fth_repro *r)
{
	for (size_t i = 0; i < r->tables.len; i++)
		release_table(&r->tables.data[i]);
	fth_vec_release(&r->tables);
}

/* ---- writers ---- */

void fth_repro_json(const struct fth_repro *r, const char *paper, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.repro/1");
	fth_json_text(&j, "paper", paper);
	fth_json_begin(&j, "tables", '[');
	for (size_t i = 0; i < r->tables.len; i++) {
		const struct fth_repro_table *t = &r->tables.data[i];
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "name", t->name);
		fth_json_text(&j, "title", t->title);
		fth_json_begin(&j, "rows", '[');
		for (size_t k = 0; k < t->rows.len; k++) {
			const struct fth_repro_row *row = &t->rows.data[k];
			fth_json_begin(&j, NULL, '{');
			fth_json_text(&j, "id", row->id);
			fth_json_text(&j, "label", row->label);
			fth_json_text(&j, "unit", row->unit);
			fth_json_real(&j, "paper", row->paper);
			fth_json_real(&j, "ours", row->ours);
			fth_json_end(&j, '}');
		}
		fth_json_end(&j, ']');
		fth_json_begin(&j, "notes", '[');
		for (size_t k = 0; k < t->notes.len; k++)
			fth_json_text(&j, NULL, t->notes.data[k]);
		fth_json_end(&j, ']');
		fth_json_end(&j, '}');
	}
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
	fth_str_addc(out, '\n');
}

static void add_figure(struct fth_str *out, double v)
{
	struct fth_str s = {0};
	if (isfinite(v))
		fth_human_real(&s, v, fabs(v) >= 1000 ? 0 : fabs(v) >= 100 ? 1 : fabs(v) >= 1 ? 2 : 3);
	else
		fth_str_add(&s, "-");
	fth_str_addf(out, "%12s", s.data);
	fth_str_release(&s);
}

void fth_repro_text(const struct fth_repro *r, struct fth_str *out)
{
	for (size_t i = 0; i < r->tables.len; i++) {
		const struct fth_repro_table *t = &r->tables.data[i];
		fth_str_addf(out, "%s%s: %s\n\n", i ? "\n" : "", t->name, t->title);
		fth_str_addf(out, "  %-52s %-6s %12s %12s %10s\n", "", "unit", "paper", "ours", "difference");
		for (size_t k = 0; k < t->rows.len; k++) {
			const struct fth_repro_row *row = &t->rows.data[k];
			double off = (row->ours / row->paper - 1) * 100;
			int pad = 52 - (int)fth_text_width(row->label);
			fth_str_addf(out, "  %s%*s %-6s ", row->label, pad > 0 ? pad : 0, "", row->unit);
			add_figure(out, row->paper);
			fth_str_addc(out, ' ');
			add_figure(out, row->ours);
			if (isfinite(off))
				fth_str_addf(out, " %+8.1f %%", off);
			fth_str_addc(out, '\n');
		}
		for (size_t k = 0; k < t->notes.len; k++)
			fth_str_addf(out, "%s  Note: %s\n", k ? "" : "\n", t->notes.data[k]);
	}
}

void fth_repro_csv(const struct fth_repro *r, struct fth_str *out)
{
	struct fth_csvout c = {.out = out};
	static const char *const head[] = {"table", "id", "label", "unit", "paper", "ours"};
	for (size_t i = 0; i < FTH_COUNT(head); i++)
		fth_csvout_text(&c, head[i]);
	fth_csvout_end(&c);
	for (size_t i = 0; i < r->tables.len; i++)
		for (size_t k = 0; k < r->tables.data[i].rows.len; k++) {
			const struct fth_repro_row *row = &r->tables.data[i].rows.data[k];
			fth_csvout_text(&c, r->tables.data[i].name);
			fth_csvout_text(&c, row->id);
			fth_csvout_text(&c, row->label);
			fth_csvout_text(&c, row->unit);
			fth_csvout_real(&c, row->paper);
			fth_csvout_real(&c, row->ours);
			fth_csvout_end(&c);
		}
}
