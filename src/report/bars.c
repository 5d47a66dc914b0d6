/* SPDX-License-Identifier: Apache-2.0 */
/* Lying bars and lifetimes. */
#include "report/format.h"
#include "report/plot.h"

static double bar_length(const struct fth_bars *b, const struct fth_bar *bar)
{
	double sum = 0;
	for (size_t i = 0; i < b->nparts; i++)
		sum += FTH_MAX(bar->parts[i], 0.0);
	return sum;
}

static void text_at(struct fth_str *out, const char *class, double x, double y, const char *text)
{
	fth_str_addf(out, "<text class=\"%s\" x=\"", class);
	fth_svg_num(out, x);
	fth_str_add(out, "\" y=\"");
	fth_svg_num(out, y);
	fth_str_add(out, "\">");
	fth_html_text(out, text);
	fth_str_add(out, "</text>");
}

/* A label that would run into the figure at the right is cut, at a whole character. */
static void shortened(struct fth_str *out, const char *label, size_t most)
{
	if (fth_text_width(label) <= most) {
		fth_str_add(out, label);
		return;
	}
	for (size_t n = 0; n + 1 < most && *label; n++) {
		size_t len = fth_utf8_length(label);
		len = len ? len : 1;
		fth_str_addn(out, label, len);
		label += len;
	}
	fth_str_add(out, "\xe2\x80\xa6");
}

static void draw_bar(const struct fth_bars *b, const struct fth_bar *bar, double longest, double y, struct fth_str *out)
{
	struct fth_str label = {0};
	shortened(&label, bar->label, 30);
	text_at(out, bar->strong ? "bl st" : "bl", 0, y + 14, label.data ? label.data : "");
	text_at(out, bar->strong ? "bv st" : "bv", FTH_PLOT_WIDTH, y + 14, bar->text);
	fth_str_release(&label);
	fth_str_addf(out, "<rect class=\"bg\" x=\"0\" y=\"%g\" width=\"%d\" height=\"14\" rx=\"3\"/>", y + 22,
		     FTH_PLOT_WIDTH);
	double x = 0;
	for (size_t i = 0; i < b->nparts; i++) {
		double width = longest > 0 ? FTH_MAX(bar->parts[i], 0.0) / longest * FTH_PLOT_WIDTH : 0;
		if (width < 0.05)
			continue;
		fth_str_addf(out, "<rect class=\"ar s%u\" x=\"", b->part_colours ? b->part_colours[i] : bar->colour);
		fth_svg_num(out, x);
		fth_str_addf(out, "\" y=\"%g\" width=\"", y + 22);
		fth_svg_num(out, width);
		fth_str_addf(out, "\" height=\"14\"%s><title>", b->nparts == 1 ? " rx=\"3\"" : "");
		fth_html_text(out, bar->label);
		fth_str_add(out, ", ");
		if (b->part_names)
			fth_html_text(out, b->part_names[i]);
		fth_str_add(out, b->part_names ? ": " : "");
		if (b->unit == FTH_UNIT_USD)
			fth_human_usd(out, bar->parts[i], 2);
		else if (b->unit == FTH_UNIT_SECONDS)
			fth_human_duration(out, bar->parts[i], fth_human_unit(bar->parts[i]));
		else if (b->unit == FTH_UNIT_SHARE)
			fth_human_percent(out, bar->parts[i], 1);
		else
			fth_human_real(out, bar->parts[i], 2);
		fth_str_add(out, "</title></rect>");
		x += width;
	}
}

void fth_bars_html(const struct fth_bars *b, struct fth_str *out)
{
	const double row = 50;
	double longest = 0;
	for (size_t i = 0; i < b->nbars; i++)
		longest = FTH_MAX(longest, bar_length(b, &b->bars[i]));
	fth_figure_begin(out, b->title, b->subtitle);
	if (b->part_names && b->part_colours) {
		fth_legend_begin(out);
		for (size_t i = 0; i < b->nparts; i++)
			fth_legend_item(out, b->part_names[i], b->part_colours[i], 0, true);
		fth_legend_end(out);
	}
	fth_svg_begin(out, b->id, b->title, b->desc, FTH_MAX((double)b->nbars * row - 10, 10.0));
	for (size_t i = 0; i < b->nbars; i++)
		draw_bar(b, &b->bars[i], longest, (double)i * row, out);
	fth_svg_end(out);
}

/* ---- lifetimes ---- */

static void span_rect(struct fth_str *out, const char *class, unsigned colour, double x0, double x1, double y, double h)
{
	fth_str_addf(out, "<rect class=\"%s s%u\" x=\"", class, colour);
	fth_svg_num(out, x0);
	fth_str_add(out, "\" y=\"");
	fth_svg_num(out, y);
	fth_str_add(out, "\" width=\"");
	fth_svg_num(out, FTH_MAX(x1 - x0, 0.8));
	fth_str_add(out, "\" height=\"");
	fth_svg_num(out, h);
	fth_str_add(out, "\"/>");
}

static void gantt_axis(const struct fth_gantt *g, double top, double bottom, struct fth_str *out)
{
	double ticks[FTH_MAX_TICKS], last = -1000;
	size_t n = fth_ticks(g->min, g->max, 5, FTH_UNIT_SECONDS, false, ticks);
	for (size_t i = 0; i < n; i++) {
		double x = 14 + (ticks[i] - g->min) / (g->max - g->min) * (FTH_PLOT_WIDTH - 28);
		fth_str_add(out, "<path class=\"gr\" d=\"M");
		fth_svg_num(out, x);
		fth_str_addf(out, " %gV%g\"/>", top, bottom + 4);
		if (x - last < 58)
			continue;
		last = x;
		struct fth_str text = {0};
		fth_tick_text(&text, ticks[i], n < 2 ? 0 : ticks[1] - ticks[0], FTH_UNIT_SECONDS);
		text_at(out, "tx", x, bottom + 22, text.data);
		fth_str_release(&text);
	}
}

void fth_gantt_html(const struct fth_gantt *g, struct fth_str *out)
{
	/* Few rows are thick, many are thin; the whole stays about as high as the figure beside it. */
	double row = g->nspans ? 250.0 / (double)g->nspans : 16;
	row = FTH_MIN(FTH_MAX(row, 4.0), 16.0);
	double top = 6, bottom = top + row * (double)g->nspans;
	double scale = g->max > g->min ? (FTH_PLOT_WIDTH - 28) / (g->max - g->min) : 0, left = 14 - g->min * scale;
	fth_figure_begin(out, g->title, g->subtitle);
	fth_legend_begin(out);
	for (size_t i = 0; i < g->nnames; i++)
		fth_legend_item(out, g->names[i], g->colours[i], 0, true);
	fth_legend_end(out);
	fth_svg_begin(out, g->id, g->title, g->desc, bottom + 32);
	gantt_axis(g, top, bottom, out);
	for (size_t i = 0; i < g->nspans; i++) {
		const struct fth_span *s = &g->spans[i];
		double y = top + row * (double)i, h = row * 0.78;
		double x0 = left + s->from * scale, xb = left + s->begun * scale, x1 = left + s->to * scale;
		fth_str_add(out, "<g>");
		if (s->title) {
			fth_str_add(out, "<title>");
			fth_html_text(out, s->title);
			fth_str_add(out, "</title>");
		}
		if (xb - x0 >= 0.3)
			span_rect(out, "bt", s->colour, x0, xb, y, h);
		span_rect(out, "ar", s->colour, xb, x1, y, h);
		fth_str_add(out, "</g>");
	}
	fth_svg_end(out);
}
