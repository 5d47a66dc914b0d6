/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repro.h"

#include <math.h>

static char *copy(struct fth_repro_book *b, const char *text)
{
	size_t n = strlen(text) + 1;
	return memcpy(fth_arena_alloc(&b->arena, n), text, n);
}

struct fth_repro_page *fth_repro_add_page(struct fth_repro_book *b, const char *name, const char *title)
{
	struct fth_repro_page page = {.name = copy(b, name), .title = copy(b, title)};
	fth_vec_push(&b->pages, page);
	return &fth_vec_last(&b->pages);
}

void fth_repro_add_row(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *label,
		       const char *unit, double paper, double ours)
{
	fth_repro_add_spread(b, p, id, label, unit, paper, (const double[]){ours, NAN, NAN});
}

void fth_repro_add_spread(struct fth_repro_book *b, struct fth_repro_page *p, const char *id, const char *label,
			  const char *unit, double paper, const double ours[3])
{
	struct fth_repro_row row = {copy(b, id), copy(b, label), copy(b, unit), paper, ours[0], ours[1], ours[2]};
	fth_vec_push(&p->rows, row);
}

void fth_repro_add_note(struct fth_repro_book *b, struct fth_repro_page *p, const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fth_vec_push(&p->notes, copy(b, text));
}

void fth_repro_add_plot(struct fth_repro_page *p, const struct fth_plot *plot)
{
	fth_vec_push(&p->plots, *plot);
}

void fth_repro_add_bars(struct fth_repro_page *p, const struct fth_bars *bars)
{
	fth_vec_push(&p->bars, *bars);
}

void fth_repro_book_tables(struct fth_repro_book *b, struct fth_repro *ret)
{
	fth_vec_clear(&b->tables);
	for (size_t i = 0; i < b->pages.len; i++) {
		const struct fth_repro_page *p = &b->pages.data[i];
		struct fth_repro_table t = {
			.name = p->name,
			.title = p->title,
			.rows = p->rows.data,
			.nrows = p->rows.len,
			.notes = p->notes.data,
			.nnotes = p->notes.len,
			.plots = p->plots.data,
			.nplots = p->plots.len,
			.bars = p->bars.data,
			.nbars = p->bars.len,
		};
		fth_vec_push(&b->tables, t);
	}
	ret->tables = b->tables.data;
	ret->ntables = b->tables.len;
}

void fth_repro_book_release(struct fth_repro_book *b)
{
	for (size_t i = 0; i < b->pages.len; i++) {
		fth_vec_release(&b->pages.data[i].rows);
		fth_vec_release(&b->pages.data[i].notes);
		fth_vec_release(&b->pages.data[i].plots);
		fth_vec_release(&b->pages.data[i].bars);
	}
	fth_vec_release(&b->pages);
	fth_vec_release(&b->tables);
	fth_arena_release(&b->arena);
}
