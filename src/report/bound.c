/* SPDX-License-Identifier: Apache-2.0 */
#include "report/bound.h"

#include "report/format.h"

enum { SHOWN = 12 };

/* Its label, else its class, else its number. */
static void row_name(const struct fth_bound_report *r, uint32_t row, struct fth_str *out)
{
	const struct fth_bound_row *k = &r->bound->rows.data[row];
	fth_sym name = k->label ? k->label : k->klass;
	if (name)
		fth_shown_text(out, fth_sym_str(r->syms, name));
	else
		fth_str_addf(out, "kind %u", row + 1);
}

static const char *type_name(const struct fth_bound_report *r, const struct fth_blend_config *c)
{
	return fth_sym_str(r->syms, r->catalog->types[c->type].name);
}

/* ---- JSON ---- */

static void json_demand(const struct fth_bound_report *r, const struct fth_res *d, struct fth_json *j)
{
	fth_json_begin(j, "demand", '{');
	fth_json_real(j, "gpu", (double)d->v[FTH_GPU] / 1000);
	fth_json_real(j, "cpu", (double)d->v[FTH_CPU] / 1000);
	fth_json_int(j, "mem_mib", d->v[FTH_MEM]);
	for (uint32_t i = FTH_RES_EXTRA; i < r->catalog->nres; i++)
		fth_json_int(j, fth_sym_str(r->syms, r->catalog->res_names[i]), d->v[i]);
	fth_json_end(j, '}');
}

static void json_row(const struct fth_bound_report *r, uint32_t row, struct fth_json *j)
{
	const struct fth_bound_row *k = &r->bound->rows.data[row];
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "label", k->label ? fth_sym_str(r->syms, k->label) : NULL);
	fth_json_text(j, "class", k->klass ? fth_sym_str(r->syms, k->klass) : NULL);
	json_demand(r, &k->demand, j);
	fth_json_int(j, "kinds", k->kinds);
	fth_json_int(j, "tasks", (int64_t)k->tasks);
	fth_json_real(j, "work_h", k->hours);
	fth_json_real(j, "value_usd_per_h", k->value);
	fth_json_real(j, "usd", k->hours * k->value);
	fth_json_end(j, '}');
}

static void json_config(const struct fth_bound_report *r, const struct fth_blend_config *c, struct fth_json *j)
{
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "type", type_name(r, c));
	fth_json_real(j, "hours", c->hours);
	fth_json_real(j, "usd", c->usd);
	fth_json_begin(j, "tasks", '[');
	for (uint32_t i = 0; i < c->n; i++) {
		const struct fth_blend_part *p = &r->bound->mix.parts.data[c->first + i];
		fth_json_begin(j, NULL, '{');
		fth_json_int(j, "kind", p->row);
		fth_json_int(j, "copies", p->copies);
		fth_json_real(j, "speed", p->speed);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
	fth_json_end(j, '}');
}

void fth_bound_json(const struct fth_bound_report *r, struct fth_str *out)
{
	const struct fth_bound *b = r->bound;
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.bound/1");
	fth_json_text(&j, "workload", r->workload);
	fth_json_int(&j, "jobs", (int64_t)r->summary.jobs);
	fth_json_int(&j, "tasks", (int64_t)r->summary.tasks);
	if (b->known)
		fth_json_usd(&j, "bound_usd", b->usd);
	else
		fth_json_text(&j, "bound_usd", NULL);
	fth_json_bool(&j, "certified", b->certified);
	fth_json_bool(&j, "exact", b->exact);
	fth_json_bool(&j, "interference", b->interference);
	fth_json_text(&j, "why", b->why[0] ? b->why : NULL);
	fth_json_usd(&j, "slack_usd_per_launch", b->slack_per_launch);
	fth_json_real(&j, "lp_usd", b->lp_usd);
	fth_json_begin(&j, "remarks", '[');
	for (size_t i = 0; i < b->remarks.len; i++)
		fth_json_text(&j, NULL, b->remarks.data[i]);
	fth_json_end(&j, ']');
	fth_json_begin(&j, "kinds", '[');
	for (uint32_t i = 0; i < b->rows.len; i++)
		json_row(r, i, &j);
	fth_json_end(&j, ']');
	fth_json_begin(&j, "mix", '[');
	for (size_t i = 0; i < b->mix.configs.len; i++)
		json_config(r, &b->mix.configs.data[i], &j);
	fth_json_end(&j, ']');
	fth_json_int(&j, "rounds", (int64_t)b->mix.rounds);
	fth_json_int(&j, "columns", (int64_t)b->mix.columns);
	fth_json_int(&j, "nodes", (int64_t)b->mix.nodes);
	fth_json_real(&j, "wall_s", r->wall_s);
	fth_json_end(&j, '}');
}

/* ---- CSV ---- */

void fth_bound_csv(const struct fth_bound_report *r, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	fth_str_add(out, "label,class,kinds,tasks,gpu,cpu,mem_mib,work_h,value_usd_per_h,usd\r\n");
	for (size_t i = 0; i < r->bound->rows.len; i++) {
		const struct fth_bound_row *k = &r->bound->rows.data[i];
		fth_csvout_text(&v, fth_sym_str(r->syms, k->label));
		fth_csvout_text(&v, fth_sym_str(r->syms, k->klass));
		fth_csvout_int(&v, k->kinds);
		fth_csvout_int(&v, (int64_t)k->tasks);
		fth_csvout_real(&v, (double)k->demand.v[FTH_GPU] / 1000);
		fth_csvout_real(&v, (double)k->demand.v[FTH_CPU] / 1000);
		fth_csvout_int(&v, k->demand.v[FTH_MEM]);
		fth_csvout_real(&v, k->hours);
		fth_csvout_real(&v, k->value);
		fth_csvout_real(&v, k->hours * k->value);
		fth_csvout_end(&v);
	}
}

/* ---- table ---- */

static void padded(struct fth_str *out, struct fth_str *text, int width)
{
	int have = (int)fth_text_width(text->data ? text->data : "");
	bool left = width < 0;
	int fill = FTH_MAX((left ? -width : width) - have, 0);
	fth_str_addf(out, "%*s%s%*s", left ? 0 : fill, "", text->data ? text->data : "", left ? fill : 0, "");
	fth_str_clear(text);
}

static void demand_text(const struct fth_res *d, struct fth_str *out)
{
	if (d->v[FTH_GPU])
		fth_str_addf(out, "%.4g GPU ", (double)d->v[FTH_GPU] / 1000);
	fth_str_addf(out, "%.4g CPU %.4g GiB", (double)d->v[FTH_CPU] / 1000, (double)d->v[FTH_MEM] / 1024);
}

/* What each type costs in the mix, most first, and how it is filled. */
static void mix_block(const struct fth_bound_report *r, struct fth_str *out)
{
	const struct fth_blend *m = &r->bound->mix;
	struct fth_str v = {0};
	fth_str_add(out, "The ideal mix, if everything could wait for it:\n");
	for (size_t i = 0; i < m->configs.len && i < SHOWN; i++) {
		const struct fth_blend_config *c = &m->configs.data[i];
		fth_human_usd(&v, c->usd, 0);
		padded(out, &v, 12);
		fth_human_real(&v, c->hours, 0);
		padded(out, &v, 10);
		fth_str_add(out, " h  ");
		fth_shown_text(&v, type_name(r, c));
		padded(out, &v, -14);
		fth_str_add(out, " ");
		for (uint32_t k = 0; k < c->n; k++) {
			const struct fth_blend_part *p = &m->parts.data[c->first + k];
			fth_str_add(out, k ? ", " : "");
			if (p->copies > 1)
				fth_str_addf(out, "%u x ", p->copies);
			row_name(r, p->row, out);
			if (p->speed != 1)
				fth_str_addf(out, " at %.3g", p->speed);
		}
		fth_str_addc(out, '\n');
	}
	if (m->configs.len > SHOWN)
		fth_str_addf(out, "   and %zu more (--format json has them all)\n", m->configs.len - SHOWN);
	fth_str_release(&v);
}

static int by_usd(const void *a, const void *b)
{
	const struct fth_bound_row *x = *(struct fth_bound_row *const *)a, *y = *(struct fth_bound_row *const *)b;
	double dx = x->hours * x->value, dy = y->hours * y->value;
	return dx != dy ? (dx > dy ? -1 : 1) : (x > y) - (x < y);
}

static void rows_block(const struct fth_bound_report *r, struct fth_str *out)
{
	const struct fth_bound *b = r->bound;
	const struct fth_bound_row **order = fth_alloc((b->rows.len + 1) * sizeof(*order));
	struct fth_str v = {0};
	for (size_t i = 0; i < b->rows.len; i++)
		order[i] = &b->rows.data[i];
	qsort(order, b->rows.len, sizeof(*order), by_usd);
	fth_str_add(out, "\nWhat an hour of work is worth there (what a task should cost, by its fair share):\n");
	for (size_t i = 0; i < b->rows.len && i < SHOWN; i++) {
		const struct fth_bound_row *k = order[i];
		fth_human_usd(&v, k->hours * k->value, 0);
		padded(out, &v, 12);
		fth_human_usd(&v, k->value, 4);
		fth_str_add(&v, "/h");
		padded(out, &v, 14);
		fth_human_int(&v, (int64_t)k->tasks);
		fth_str_add(&v, k->tasks == 1 ? " task " : " tasks");
		padded(out, &v, 16);
		fth_str_add(out, "  ");
		row_name(r, (uint32_t)(k - b->rows.data), &v);
		padded(out, &v, -24);
		fth_str_add(out, " ");
		demand_text(&k->demand, out);
		fth_str_addc(out, '\n');
	}
	if (b->rows.len > SHOWN)
		fth_str_addf(out, "   and %zu more\n", b->rows.len - SHOWN);
	free(order);
	fth_str_release(&v);
}

void fth_bound_table(const struct fth_bound_report *r, bool colour, struct fth_str *out)
{
	const struct fth_bound *b = r->bound;
	fth_str_add(out, colour ? "\033[1m" : "");
	fth_shown_text(out, r->workload);
	fth_str_addf(out, "%s: ", colour ? "\033[0m" : "");
	fth_human_int(out, (int64_t)r->summary.tasks);
	fth_str_add(out, " tasks of ");
	fth_human_int(out, (int64_t)b->kinds);
	fth_str_add(out, " kinds, ");
	fth_human_int(out, (int64_t)r->summary.task_hours);
	fth_str_add(out, " h of work alone at full speed\n\n");
	if (!b->known) {
		fth_str_addf(out, "No bound: %s.\n", b->why);
		return;
	}
	fth_str_add(out, b->certified ? "No policy can run it for less than " : "The least it can cost is about ");
	fth_human_usd(out, fth_usd(b->usd), 2);
	if (b->certified)
		fth_str_add(out, ": proven.\n");
	else
		fth_str_addf(out, ": an estimate, for %s.\n", b->why);
	if (!b->interference)
		fth_str_add(out, "Tasks do not slow each other down here.\n");
	for (size_t i = 0; i < b->remarks.len; i++)
		fth_str_addf(out, "%s\n", b->remarks.data[i]);
	fth_str_addc(out, '\n');
	mix_block(r, out);
	rows_block(r, out);
}
