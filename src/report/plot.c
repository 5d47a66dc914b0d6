/* SPDX-License-Identifier: Apache-2.0 */
/* Axes and series. */
#include "report/plot.h"

#include <math.h>

#include "report/format.h"

enum { LEFT = 62, RIGHT = 16, TOP = 12, BOTTOM = 32, LABEL = 22 };

/* ---- ticks ---- */

static double nice_step(double raw)
{
	double power = 1;
	while (power > raw)
		power /= 10;
	while (power * 10 <= raw)
		power *= 10;
	static const double steps[] = {1, 2, 2.5, 5, 10};
	for (size_t i = 0; i < FTH_COUNT(steps); i++)
		if (steps[i] * power >= raw * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}

/* Steps people count time in. */
static double nice_time_step(double raw)
{
	static const double steps[] = {1,	5,	 10,	  30,	   60,	    300,     600,     1200,   1800,
				       3600,	7200,	 3 * 3600, 6 * 3600, 12 * 3600, 86400,   2 * 86400, 5 * 86400};
	for (size_t i = 0; i < FTH_COUNT(steps); i++)
		if (steps[i] >= raw * (1 - 1e-9))
			return steps[i];
	return 86400 * nice_step(raw / 86400);
}

static size_t log_ticks(double min, double max, enum fth_unit unit, double ret[FTH_MAX_TICKS])
{
	static const double times[] = {0.001,    0.01,      0.1,       1,     10,	 60,	    300,	   1800,
				       2 * 3600, 12 * 3600, 3 * 86400, 10 * 86400, 30 * 86400, 100 * 86400.0, 365 * 86400.0};
	size_t n = 0;
	if (unit == FTH_UNIT_SECONDS) {
		for (size_t i = 0; i < FTH_COUNT(times); i++)
			if (times[i] >= min * (1 - 1e-9) && times[i] <= max * (1 + 1e-9))
				ret[n++] = times[i];
		return n;
	}
	double v = 1;
	while (v > min)
		v /= 10;
	while (v < min * (1 - 1e-9))
		v *= 10;
	for (; v <= max * (1 + 1e-9) && n < FTH_MAX_TICKS; v *= 10)
		ret[n++] = v;
	return n;
}

size_t fth_ticks(double min, double max, unsigned want, enum fth_unit unit, bool log, double ret[FTH_MAX_TICKS])
{
	if (!(max > min) || !isfinite(max - min))
		return 0;
	if (log)
		return log_ticks(min, max, unit, ret);
	double raw = (max - min) / want;
	double step = unit == FTH_UNIT_SECONDS ? nice_time_step(raw) : nice_step(raw);
	size_t n = 0;
	for (double k = ceil(min / step - 1e-9); k * step <= max + step * 1e-9 && n < FTH_MAX_TICKS; k++)
		ret[n++] = k * step + 0.0; /* not minus nothing */
	return n;
}

static void time_text(struct fth_str *out, double v, double step)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {0.001, "ms"}};
	/* The greatest unit in which both the step and the value are whole. */
	size_t u = 0;
	double probe = step > 0 ? step : v;
	while (u + 1 < FTH_COUNT(units) && fabs(fmod(probe, units[u].seconds)) > 1e-9 * probe &&
	       probe != units[u].seconds)
		u++;
	fth_str_addf(out, "%.6g", v / units[u].seconds);
	fth_str_addf(out, " %s", units[u].name);
}

void fth_tick_text(struct fth_str *out, double v, double step, enum fth_unit unit)
{
	if (unit == FTH_UNIT_SECONDS)
		time_text(out, v, step);
	else if (unit == FTH_UNIT_SHARE)
		fth_human_percent(out, v, step * 100 < 0.999 && step > 0 ? 1 : 0);
	else
		fth_human_short(out, v, unit == FTH_UNIT_USD);
}

/* ---- building blocks ---- */

void fth_svg_num(struct fth_str *out, double v)
{
	char text[32];
	snprintf(text, sizeof(text), "%.1f", v);
	size_t n = strlen(text);
	if (n > 2 && !strcmp(text + n - 2, ".0"))
		text[n - 2] = '\0';
	fth_str_add(out, !strcmp(text, "-0") ? "0" : text);
}

static void point(struct fth_str *out, char how, double x, double y)
{
	fth_str_addc(out, how);
	fth_svg_num(out, x);
	fth_str_addc(out, ' ');
	fth_svg_num(out, y);
}

void fth_figure_begin(struct fth_str *out, const char *title, const char *subtitle)
{
	fth_str_add(out, "<figure class=\"card\"><figcaption><h3>");
	fth_html_text(out, title);
	fth_str_add(out, "</h3>");
	if (subtitle) {
		fth_str_add(out, "<p>");
		fth_html_text(out, subtitle);
		fth_str_add(out, "</p>");
	}
	fth_str_add(out, "</figcaption>");
}

void fth_svg_begin(struct fth_str *out, const char *id, const char *title, const char *desc, double height)
{
	fth_str_addf(out, "<svg class=\"fig\" role=\"img\" aria-labelledby=\"%s-t%s%s%s\" viewBox=\"0 0 %d ", id,
		     desc ? " " : "", desc ? id : "", desc ? "-d" : "", FTH_PLOT_WIDTH);
	fth_svg_num(out, height);
	fth_str_addf(out, "\"><title id=\"%s-t\">", id);
	fth_html_text(out, title);
	fth_str_add(out, "</title>");
	if (desc) {
		fth_str_addf(out, "<desc id=\"%s-d\">", id);
		fth_html_text(out, desc);
		fth_str_add(out, "</desc>");
	}
}

void fth_svg_end(struct fth_str *out)
{
	fth_str_add(out, "</svg></figure>\n");
}

void fth_legend_begin(struct fth_str *out)
{
	fth_str_add(out, "<ul class=\"key\">");
}

void fth_legend_item(struct fth_str *out, const char *name, unsigned colour, unsigned dash, bool area)
{
	fth_str_addf(out, "<li><svg class=\"sw s%u\" viewBox=\"0 0 24 10\" aria-hidden=\"true\">", colour);
	if (area)
		fth_str_add(out, "<rect class=\"ar\" x=\"6\" width=\"12\" height=\"10\" rx=\"2\"/>");
	else
		fth_str_addf(out, "<path class=\"ln d%u\" d=\"M0 5H24\"/>", dash);
	fth_str_add(out, "</svg>");
	fth_html_text(out, name);
	fth_str_add(out, "</li>");
}

void fth_legend_end(struct fth_str *out)
{
	fth_str_add(out, "</ul>");
}

/* ---- the frame ---- */

struct frame {
	double x0, x1, y0, y1;         /* data */
	double left, right, top, bottom; /* canvas; bottom > top */
	bool xlog, ylog;
};

static double along(double v, double lo, double hi, bool log)
{
	if (log)
		return (fth_log(FTH_MAX(v, lo)) - fth_log(lo)) / (fth_log(hi) - fth_log(lo));
	return (v - lo) / (hi - lo);
}

static double at_x(const struct frame *f, double v)
{
	return f->left + FTH_MIN(FTH_MAX(along(v, f->x0, f->x1, f->xlog), 0.0), 1.0) * (f->right - f->left);
}

static double at_y(const struct frame *f, double v)
{
	return f->bottom - FTH_MIN(FTH_MAX(along(v, f->y0, f->y1, f->ylog), 0.0), 1.0) * (f->bottom - f->top);
}

static void widen(double *lo, double *hi, double v, bool log)
{
	if (!isfinite(v) || (log && v <= 0))
		return;
	*lo = FTH_MIN(*lo, v);
	*hi = FTH_MAX(*hi, v);
}

/* An empty or flat range gets some width, so that every value has its place. */
static void settle_range(double *lo, double *hi, bool log)
{
	if (!(*hi >= *lo)) {
		*lo = log ? 1 : 0;
		*hi = log ? 10 : 1;
	}
	if (*hi == *lo) {
		*hi = log ? *lo * 10 : *lo + (*lo != 0 ? fabs(*lo) * 0.1 : 1);
		if (!log && *lo > 0)
			*lo = 0;
	}
}

static double top_of_stack(const struct fth_plot *p, size_t point_index)
{
	double sum = 0;
	for (size_t s = 0; s < p->nseries; s++)
		if (p->series[s].kind == FTH_SERIES_AREA && point_index < p->series[s].n)
			sum += p->series[s].y[point_index];
	return sum;
}

static struct frame make_frame(const struct fth_plot *p)
{
	int height = p->height ? p->height : FTH_PLOT_HEIGHT;
	struct frame f = {.x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY};
	f.left = LEFT;
	f.right = FTH_PLOT_WIDTH - RIGHT;
	f.top = TOP;
	f.bottom = height - BOTTOM - (p->x.label ? LABEL : 0);
	f.xlog = p->x.log;
	f.ylog = p->y.log;
	for (size_t s = 0; s < p->nseries; s++) {
		const struct fth_series *r = &p->series[s];
		for (size_t i = 0; i < r->n; i++) {
			widen(&f.x0, &f.x1, r->x[i], f.xlog);
			widen(&f.y0, &f.y1, r->kind == FTH_SERIES_AREA ? top_of_stack(p, i) : r->y[i], f.ylog);
		}
	}
	if (!f.ylog)
		f.y0 = FTH_MIN(f.y0, 0.0);
	if (p->x.max > p->x.min) {
		f.x0 = p->x.min;
		f.x1 = p->x.max;
	}
	if (p->y.max > p->y.min) {
		f.y0 = p->y.min;
		f.y1 = p->y.max;
	}
	settle_range(&f.x0, &f.x1, f.xlog);
	settle_range(&f.y0, &f.y1, f.ylog);
	return f;
}

/* Let the y axis end at a tick, so that no line touches the frame's top without a number beside it. */
static void round_up(struct frame *f, const struct fth_axis *y)
{
	double ticks[FTH_MAX_TICKS];
	if (f->ylog || y->max > y->min)
		return;
	size_t n = fth_ticks(f->y0, f->y1, 4, y->unit, false, ticks);
	if (n < 2)
		return;
	double step = ticks[1] - ticks[0];
	if (ticks[n - 1] < f->y1 - step * 1e-9)
		f->y1 = ticks[n - 1] + step;
}

static void draw_axes(const struct fth_plot *p, const struct frame *f, struct fth_str *out)
{
	double ticks[FTH_MAX_TICKS], last = -1000;
	size_t n = fth_ticks(f->y0, f->y1, 4, p->y.unit, f->ylog, ticks);
	for (size_t i = 0; i < n; i++) {
		double y = at_y(f, ticks[i]);
		fth_str_addf(out, "<path class=\"%s\" d=\"M%g ", ticks[i] == f->y0 ? "ax" : "gr", f->left);
		fth_svg_num(out, y);
		fth_str_addf(out, "H%g\"/><text class=\"ty\" x=\"%g\" y=\"", f->right, f->left - 7);
		fth_svg_num(out, y);
		fth_str_add(out, "\">");
		fth_tick_text(out, ticks[i], f->ylog || n < 2 ? 0 : ticks[1] - ticks[0], p->y.unit);
		fth_str_add(out, "</text>");
	}
	n = fth_ticks(f->x0, f->x1, 5, p->x.unit, f->xlog, ticks);
	for (size_t i = 0; i < n; i++) {
		double x = at_x(f, ticks[i]);
		/* Letters of a phone are larger: keep a distance that suits them too. */
		if (x - last < 58)
			continue;
		last = x;
		fth_str_add(out, "<path class=\"tk\" d=\"");
		point(out, 'M', x, f->bottom);
		fth_str_addf(out, "v5\"/><text class=\"tx\" x=\"");
		fth_svg_num(out, x);
		fth_str_addf(out, "\" y=\"%g\">", f->bottom + 22);
		fth_tick_text(out, ticks[i], f->xlog || n < 2 ? 0 : ticks[1] - ticks[0], p->x.unit);
		fth_str_add(out, "</text>");
	}
	if (p->x.label) {
		fth_str_addf(out, "<text class=\"tl\" x=\"%g\" y=\"%g\">", (f->left + f->right) / 2,
			     f->bottom + BOTTOM + 14);
		fth_html_text(out, p->x.label);
		fth_str_add(out, "</text>");
	}
}

/* ---- series ---- */

static void draw_line(const struct fth_series *s, const struct frame *f, struct fth_str *out)
{
	bool pen = false;
	double last_y = 0;
	fth_str_addf(out, "<path class=\"ln s%u d%u\" d=\"", s->colour, s->dash);
	for (size_t i = 0; i < s->n; i++) {
		if (!isfinite(s->y[i]) || (f->ylog && s->y[i] <= 0)) {
			pen = false;
			continue;
		}
		double x = at_x(f, s->x[i]), y = at_y(f, s->y[i]);
		if (pen && s->kind == FTH_SERIES_STEP) {
			fth_str_addc(out, 'H');
			fth_svg_num(out, x);
			fth_str_addc(out, 'V');
			fth_svg_num(out, y);
		} else if (!pen || y != last_y || i + 1 == s->n || s->y[i + 1] != s->y[i]) {
			/* Points within a level stretch add nothing. */
			point(out, pen ? 'L' : 'M', x, y);
		}
		pen = true;
		last_y = y;
	}
	fth_str_add(out, "\"/>");
}

static void draw_points(const struct fth_series *s, const struct frame *f, struct fth_str *out)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!isfinite(s->y[i]))
			continue;
		fth_str_addf(out, "<circle class=\"ar s%u\" r=\"4\" cx=\"", s->colour);
		fth_svg_num(out, at_x(f, s->x[i]));
		fth_str_add(out, "\" cy=\"");
		fth_svg_num(out, at_y(f, s->y[i]));
		fth_str_add(out, "\"/>");
	}
}

/* base: the height of the stack so far, raised by this area. */
static void draw_area(const struct fth_series *s, const struct frame *f, double *base, struct fth_str *out)
{
	if (!s->n)
		return;
	fth_str_addf(out, "<path class=\"ar s%u\" d=\"", s->colour);
	for (size_t i = 0; i < s->n; i++)
		point(out, i ? 'L' : 'M', at_x(f, s->x[i]), at_y(f, base[i] + s->y[i]));
	for (size_t i = s->n; i-- > 0;) {
		double below = base[i];
		bool level = i && i + 1 < s->n && base[i - 1] == below && base[i + 1] == below;
		if (!level)
			point(out, 'L', at_x(f, s->x[i]), at_y(f, below));
	}
	fth_str_add(out, "Z\"/>");
	for (size_t i = 0; i < s->n; i++)
		base[i] += s->y[i];
}

static void draw_series(const struct fth_plot *p, const struct frame *f, struct fth_str *out)
{
	size_t longest = 1;
	for (size_t s = 0; s < p->nseries; s++)
		longest = FTH_MAX(longest, p->series[s].n);
	double *base = fth_alloc(longest * sizeof(*base));
	for (size_t s = 0; s < p->nseries; s++) {
		const struct fth_series *r = &p->series[s];
		if (r->kind == FTH_SERIES_AREA)
			draw_area(r, f, base, out);
		else if (r->kind == FTH_SERIES_POINTS)
			draw_points(r, f, out);
		else
			draw_line(r, f, out);
	}
	free(base);
}

void fth_plot_html(const struct fth_plot *p, struct fth_str *out)
{
	struct frame f = make_frame(p);
	round_up(&f, &p->y);
	fth_figure_begin(out, p->title, p->subtitle);
	if (p->nseries > 1) {
		fth_legend_begin(out);
		for (size_t s = 0; s < p->nseries; s++) {
			const struct fth_series *r = &p->series[s];
			bool area = r->kind == FTH_SERIES_AREA || r->kind == FTH_SERIES_POINTS;
			fth_legend_item(out, r->name, r->colour, r->dash, area);
		}
		fth_legend_end(out);
	}
	fth_svg_begin(out, p->id, p->title, p->desc, p->height ? p->height : FTH_PLOT_HEIGHT);
	draw_axes(p, &f, out);
	draw_series(p, &f, out);
	fth_svg_end(out);
}
