/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the semi-elastic cluster paper as plots of the report page. */
#include "cli/repro_sec.h"

static char *keep(struct fth_repro_book *b, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;
	return text ? memcpy(fth_arena_alloc(&b->arena, n), text, n) : NULL;
}

static double *keep_values(struct fth_repro_book *b, const double *v, size_t n)
{
	return memcpy(fth_arena_alloc(&b->arena, n * sizeof(*v)), v, n * sizeof(*v));
}

void fth_sec_add_plot(struct fth_repro_book *b, struct fth_repro_page *p, const struct sec_plot *s)
{
	struct fth_series *series = fth_arena_alloc(&b->arena, s->nseries * sizeof(*series));
	for (size_t i = 0; i < s->nseries; i++)
		series[i] = (struct fth_series){.name = keep(b, s->names[i]),
						.kind = s->points ? FTH_SERIES_POINTS : FTH_SERIES_LINE,
						.colour = (unsigned)(i % FTH_COLOURS),
						.dash = (unsigned)(i / FTH_COLOURS),
						.x = keep_values(b, s->points ? &s->x[i * s->n] : s->x, s->n),
						.y = keep_values(b, &s->y[i * s->n], s->n),
						.n = s->n};
	double lo = s->y[0], hi = s->y[0];
	for (size_t i = 0; i < s->nseries * s->n; i++) {
		lo = FTH_MIN(lo, s->y[i]);
		hi = FTH_MAX(hi, s->y[i]);
	}
	double room = (hi - lo) / 10;
	struct fth_plot plot = {.id = keep(b, s->id),
				.title = keep(b, s->title),
				.subtitle = keep(b, s->subtitle),
				.x = {.label = keep(b, s->x_label), .unit = s->x_unit},
				.y = {.label = keep(b, s->y_label), .unit = s->y_unit, .log = s->y_log,
				      .min = s->tight ? lo - room : 0, .max = s->tight ? hi + room : 0},
				.series = series,
				.nseries = s->nseries};
	fth_repro_add_plot(p, &plot);
}
