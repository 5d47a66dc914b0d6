/* SPDX-License-Identifier: Apache-2.0 */
#include "report/repro.h"

#include <math.h>

#include "report/format.h"
#include "report/page.h"

static void json_table(const struct fth_repro_table *t, struct fth_json *j)
{
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "name", t->name);
	fth_json_text(j, "title", t->title);
	fth_json_begin(j, "rows", '[');
	for (size_t i = 0; i < t->nrows; i++) {
		const struct fth_repro_row *r = &t->rows[i];
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "id", r->id);
		fth_json_text(j, "label", r->label);
		fth_json_text(j, "unit", r->unit);
		fth_json_real(j, "paper", r->paper);
		fth_json_real(j, "ours", r->ours);
		fth_json_real(j, "least", r->least);
		fth_json_real(j, "greatest", r->most);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
	fth_json_begin(j, "notes", '[');
	for (size_t i = 0; i < t->nnotes; i++)
		fth_json_text(j, NULL, t->notes[i]);
	fth_json_end(j, ']');
	fth_json_end(j, '}');
}

void fth_repro_json(const struct fth_repro *r, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.repro/1");
	fth_json_text(&j, "paper", r->paper);
	fth_json_text(&j, "version", r->version);
	fth_json_begin(&j, "tables", '[');
	for (size_t i = 0; i < r->ntables; i++)
		json_table(&r->tables[i], &j);
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
}

void fth_repro_csv(const struct fth_repro *r, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	fth_str_add(out, "paper,table,id,label,unit,paper_value,ours,least,greatest\r\n");
	for (size_t t = 0; t < r->ntables; t++) {
		for (size_t i = 0; i < r->tables[t].nrows; i++) {
			const struct fth_repro_row *row = &r->tables[t].rows[i];
			fth_csvout_text(&v, r->paper);
			fth_csvout_text(&v, r->tables[t].name);
			fth_csvout_text(&v, row->id);
			fth_csvout_text(&v, row->label);
			fth_csvout_text(&v, row->unit);
			fth_csvout_real(&v, row->paper);
			fth_csvout_real(&v, row->ours);
			fth_csvout_real(&v, row->least);
			fth_csvout_real(&v, row->most);
			fth_csvout_end(&v);
		}
	}
}

/* ---- for people ---- */

/* Two or three significant digits behind the point for small figures, none for large ones. */
static void figure(struct fth_str *out, double v, const char *unit)
{
	double size = fabs(v);
	if (!isfinite(v)) {
		fth_str_addc(out, '-');
		return;
	}
	int decimals = size >= 1000 || v == floor(v) ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
	if (!strcmp(unit, "$")) {
		fth_human_usd(out, v, size >= 1000 ? 0 : 2);
		return;
	}
	fth_human_real(out, v, decimals);
	if (!strcmp(unit, "%"))
		fth_str_addc(out, '%');
	else if (*unit)
		fth_str_addf(out, " %s", unit);
}

/* Our figure, and between what it lies. */
static void ours(struct fth_str *out, const struct fth_repro_row *r)
{
	figure(out, r->ours, r->unit);
	if (!isfinite(r->least) || !isfinite(r->most))
		return;
	fth_str_add(out, " [");
	figure(out, r->least, "");
	fth_str_add(out, "..");
	figure(out, r->most, "");
	fth_str_addc(out, ']');
}

/* Ours against the paper's: in percent of it, or as a factor where percents say little. */
static void difference(struct fth_str *out, const struct fth_repro_row *r)
{
	if (!isfinite(r->paper) || !isfinite(r->ours) || r->paper == 0)
		return;
	double ratio = r->ours / r->paper, d = ratio - 1;
	if (ratio >= 10 || (ratio > 0 && ratio <= 0.1)) {
		fth_str_add(out, ratio >= 10 ? "x " : "1/");
		fth_human_real(out, ratio >= 10 ? ratio : 1 / ratio, 0);
		return;
	}
	fth_str_add(out, d >= 0 ? "+" : "");
	fth_human_percent(out, d, fabs(d) < 0.0995 ? 1 : 0);
}

/* Words of a note in lines that fit a terminal. */
static void wrapped(struct fth_str *out, const char *text)
{
	size_t column = 0;
	while (*text) {
		size_t word = strcspn(text, " ");
		if (column && column + word + 1 > 92) {
			fth_str_add(out, "\n  ");
			column = 0;
		} else if (column) {
			fth_str_addc(out, ' ');
			column++;
		}
		fth_str_addn(out, text, word);
		column += word;
		text += word + strspn(text + word, " ");
	}
	fth_str_addc(out, '\n');
}

static void text_table(const struct fth_repro_table *t, bool colour, struct fth_str *out)
{
	struct fth_str *cells = fth_alloc((t->nrows * 4 + 1) * sizeof(*cells));
	size_t widths[4] = {0, 5, 4, 0};
	for (size_t i = 0; i < t->nrows; i++) {
		const struct fth_repro_row *r = &t->rows[i];
		struct fth_str *row = &cells[4 * i];
		fth_str_add(&row[0], r->label);
		figure(&row[1], r->paper, r->unit);
		ours(&row[2], r);
		fth_str_add(&row[3], "");
		difference(&row[3], r);
		for (int k = 0; k < 4; k++)
			widths[k] = FTH_MAX(widths[k], fth_text_width(row[k].data));
	}
	fth_str_addf(out, "%s%s: %s%s\n", colour ? "\033[1m" : "", t->name, t->title ? t->title : "", colour ? "\033[0m" : "");
	fth_str_addf(out, "  %*s  %*s  %*s\n", (int)widths[0], "", (int)widths[1], "paper", (int)widths[2], "ours");
	for (size_t i = 0; i < t->nrows; i++) {
		fth_str_addf(out, "  %s", cells[4 * i].data);
		int fill = (int)(widths[0] - fth_text_width(cells[4 * i].data));
		fth_str_addf(out, "%*s  %*s  %*s", fill, "", (int)widths[1], cells[4 * i + 1].data, (int)widths[2],
			     cells[4 * i + 2].data);
		if (cells[4 * i + 3].len)
			fth_str_addf(out, "  %*s", (int)widths[3], cells[4 * i + 3].data);
		fth_str_addc(out, '\n');
	}
	for (size_t i = 0; i < t->nnotes; i++) {
		fth_str_add(out, "  ");
		wrapped(out, t->notes[i]);
	}
	for (size_t i = 0; i < 4 * t->nrows; i++)
		fth_str_release(&cells[i]);
	free(cells);
}

void fth_repro_table(const struct fth_repro *r, bool colour, struct fth_str *out)
{
	for (size_t i = 0; i < r->ntables; i++) {
		if (i)
			fth_str_addc(out, '\n');
		text_table(&r->tables[i], colour, out);
	}
}

static void html_cell(struct fth_str *out, struct fth_str *value)
{
	fth_str_add(out, "<td>");
	fth_html_text(out, value->data ? value->data : "");
	fth_str_add(out, "</td>");
	fth_str_clear(value);
}

/* "table14" as people write it. */
static void html_name(struct fth_str *out, const char *name)
{
	size_t letters = strcspn(name, "0123456789");
	struct fth_str text = {0};
	fth_str_addn(&text, name, letters && name[letters - 1] == '-' ? letters - 1 : letters);
	if (text.len && text.data[0] >= 'a' && text.data[0] <= 'z')
		text.data[0] = (char)(text.data[0] - 'a' + 'A');
	if (letters && name[letters])
		fth_str_addc(&text, ' ');
	fth_str_add(&text, name + letters);
	fth_html_text(out, text.data);
	fth_str_release(&text);
}

static void html_table(const struct fth_repro_table *t, struct fth_str *out)
{
	struct fth_str v = {0};
	fth_str_add(out, "<h2>");
	html_name(out, t->name);
	if (t->title) {
		fth_str_add(out, ": ");
		fth_html_text(out, t->title);
	}
	fth_str_add(out, "</h2>\n");
	if (t->nrows) {
		fth_str_add(out, "<div class=\"card scroll paper\"><table><thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">"
				 "Paper</th><th scope=\"col\">Ours</th><th scope=\"col\">Differ&shy;ence</th></tr></thead><tbody>\n");
		for (size_t i = 0; i < t->nrows; i++) {
			const struct fth_repro_row *r = &t->rows[i];
			fth_str_add(out, "<tr><th scope=\"row\">");
			fth_html_text(out, r->label);
			fth_str_add(out, "</th>");
			figure(&v, r->paper, r->unit);
			html_cell(out, &v);
			ours(&v, r);
			html_cell(out, &v);
			difference(&v, r);
			html_cell(out, &v);
			fth_str_add(out, "</tr>\n");
		}
		fth_str_add(out, "</tbody></table></div>\n");
	}
	for (size_t i = 0; i < t->nnotes; i++) {
		fth_str_add(out, "<p class=\"small note\">");
		fth_html_text(out, t->notes[i]);
		fth_str_add(out, "</p>\n");
	}
	if (t->nplots || t->nbars)
		fth_str_add(out, "<div class=\"grid plots\">\n");
	for (size_t i = 0; i < t->nbars; i++)
		fth_bars_html(&t->bars[i], out);
	for (size_t i = 0; i < t->nplots; i++)
		fth_plot_html(&t->plots[i], out);
	if (t->nplots || t->nbars)
		fth_str_add(out, "</div>\n");
	fth_str_release(&v);
}

void fth_repro_html(const struct fth_repro *r, struct fth_str *out)
{
	struct fth_str title = {0};
	fth_str_addf(&title, "%s: the paper's figures beside ours", r->title ? r->title : r->paper);
	fth_page_begin(out, title.data);
	fth_str_add(out, "<p class=\"kind\">Reproduction of a paper</p><h1>");
	fth_html_text(out, title.data);
	fth_str_add(out, "</h1>\n");
	for (size_t i = 0; i < r->ntables; i++)
		html_table(&r->tables[i], out);
	fth_page_end(out, r->version, r->command);
	fth_str_release(&title);
}
