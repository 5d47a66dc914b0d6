/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pack.h"

#include "report/format.h"
#include "report/page.h"

static const char *task_name(const struct fth_pack_instance *i, uint32_t copy, uint32_t task)
{
	return i->tasks[(size_t)copy * i->ntasks + task];
}

void fth_pack_json(const struct fth_pack_report *p, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.plan.pack/1");
	fth_json_text(&j, "method", p->method);
	fth_json_usd(&j, "cost_per_hour", p->cost);
	fth_json_usd(&j, "lower_bound_per_hour", p->bound);
	fth_json_real(&j, "gap", p->gap);
	fth_json_bool(&j, "optimal", p->optimal);
	fth_json_usd(&j, "no_packing_per_hour", p->no_packing);
	fth_json_begin(&j, "instances", '[');
	for (size_t n = 0; n < p->ninstances; n++) {
		const struct fth_pack_instance *i = &p->instances[n];
		for (uint32_t copy = 0; copy < i->repeat; copy++) {
			fth_json_begin(&j, NULL, '{');
			fth_json_text(&j, "type", i->type);
			fth_json_usd(&j, "price_per_hour", i->price);
			fth_json_begin(&j, "tasks", '[');
			for (uint32_t t = 0; t < i->ntasks; t++)
				fth_json_text(&j, NULL, task_name(i, copy, t));
			fth_json_end(&j, ']');
			fth_json_end(&j, '}');
		}
	}
	fth_json_end(&j, ']');
	fth_json_real(&j, "wall_s", p->wall_s);
	fth_json_end(&j, '}');
}

void fth_pack_csv(const struct fth_pack_report *p, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	int64_t number = 0;
	fth_str_add(out, "instance,type,price_per_hour,task\r\n");
	for (size_t n = 0; n < p->ninstances; n++) {
		const struct fth_pack_instance *i = &p->instances[n];
		for (uint32_t copy = 0; copy < i->repeat; copy++, number++) {
			for (uint32_t t = 0; t < i->ntasks; t++) {
				fth_csvout_int(&v, number);
				fth_csvout_text(&v, i->type);
				fth_csvout_usd(&v, i->price);
				fth_csvout_text(&v, task_name(i, copy, t));
				fth_csvout_end(&v);
			}
		}
	}
}

/* ---- table ---- */

/* A line of the table: instances of one type with equally many tasks. */
struct group {
	const char *type;
	fth_price price;
	uint32_t ntasks;
	uint64_t count;
	size_t first; /* the instance whose tasks are shown */
};

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->price != y->price)
		return x->price < y->price ? 1 : -1;
	int names = strcmp(x->type, y->type);
	if (names)
		return names;
	return x->ntasks != y->ntasks ? (x->ntasks < y->ntasks ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

static size_t merge_groups(const struct fth_pack_report *p, struct group *groups)
{
	size_t kept = 0;
	for (size_t n = 0; n < p->ninstances; n++) {
		const struct fth_pack_instance *i = &p->instances[n];
		groups[n] = (struct group){i->type, i->price, i->ntasks, i->repeat, n};
	}
	qsort(groups, p->ninstances, sizeof(*groups), compare_groups);
	for (size_t n = 0; n < p->ninstances; n++) {
		struct group *last = kept ? &groups[kept - 1] : NULL;
		if (last && !strcmp(last->type, groups[n].type) && last->price == groups[n].price &&
		    last->ntasks == groups[n].ntasks)
			last->count += groups[n].count;
		else
			groups[kept++] = groups[n];
	}
	return kept;
}

static void figure(struct fth_str *out, const char *name, fth_price v, const char *after)
{
	fth_str_addf(out, "%-14s", name);
	fth_human_usd(out, fth_usd(v), 4);
	fth_str_addf(out, "/h%s\n", after);
}

static void group_line(const struct fth_pack_report *p, const struct group *g, int width, struct fth_str *out)
{
	enum { SHOWN = 4 };
	const struct fth_pack_instance *i = &p->instances[g->first];
	struct fth_str type = {0};
	fth_shown_text(&type, g->type);
	fth_str_addf(out, "%5llu x %-*s ", (unsigned long long)g->count, width, type.data);
	fth_str_release(&type);
	fth_human_usd(out, fth_usd(g->price), 4);
	fth_str_addf(out, "/h  %u %s%s", g->ntasks, g->ntasks == 1 ? "task" : "tasks", g->count > 1 ? ", e.g. " : ": ");
	for (uint32_t t = 0; t < g->ntasks && t < SHOWN; t++) {
		fth_str_add(out, t ? ", " : "");
		fth_shown_text(out, task_name(i, 0, t));
	}
	if (g->ntasks > SHOWN)
		fth_str_addf(out, " and %u more", g->ntasks - SHOWN);
	fth_str_addc(out, '\n');
}

void fth_pack_table(const struct fth_pack_report *p, bool colour, struct fth_str *out)
{
	struct group *groups = fth_alloc((p->ninstances + 1) * sizeof(*groups));
	size_t n = merge_groups(p, groups);
	int width = 0;
	uint64_t instances = 0, tasks = 0;
	for (size_t i = 0; i < n; i++) {
		width = FTH_MAX(width, (int)strlen(groups[i].type));
		instances += groups[i].count;
		tasks += groups[i].count * groups[i].ntasks;
	}
	fth_str_add(out, colour ? "\033[1m" : "");
	fth_human_int(out, (int64_t)tasks);
	fth_str_add(out, tasks == 1 ? " task on " : " tasks on ");
	fth_human_int(out, (int64_t)instances);
	fth_str_addf(out, " instance%s%s\n\n", instances == 1 ? "" : "s", colour ? "\033[0m" : "");
	for (size_t i = 0; i < n; i++)
		group_line(p, &groups[i], width, out);
	fth_str_addc(out, '\n');
	figure(out, "cost", p->cost, "");
	struct fth_str gap = {0};
	fth_str_addf(&gap, p->optimal ? "  (proven: the plan is optimal)" : "  (gap %.3f%%)", 100 * p->gap);
	figure(out, "lower bound", p->bound, gap.data);
	fth_str_clear(&gap);
	if (p->no_packing > 0)
		fth_str_addf(&gap, "  (the plan saves %.1f%%)", 100 * (1 - (double)p->cost / (double)p->no_packing));
	figure(out, "no packing", p->no_packing, gap.len ? gap.data : "");
	fth_str_addf(out, "%-14s%s, %.3f s\n", "method", p->method, p->wall_s);
	fth_str_release(&gap);
	free(groups);
}

/* ---- page ---- */

static void tile(struct fth_str *out, const char *class, const char *text, struct fth_str *value)
{
	fth_str_addf(out, "<div class=\"tile%s\"><b>%s</b><span>%s</span></div>", class, value->data, text);
	fth_str_clear(value);
}

static void tiles(const struct fth_pack_report *p, struct fth_str *out)
{
	struct fth_str v = {0};
	fth_str_add(out, "<div class=\"tiles\">");
	fth_human_usd(&v, fth_usd(p->cost), 4);
	tile(out, "", "an hour, all instances", &v);
	fth_human_usd(&v, fth_usd(p->bound), 4);
	tile(out, "", "an hour is the least that any plan can cost", &v);
	fth_str_addf(&v, p->optimal ? "optimal" : "%.3f%%", 100 * p->gap);
	tile(out, p->optimal ? " good" : "", p->optimal ? "proven: nothing cheaper exists" : "gap to that bound", &v);
	fth_human_usd(&v, fth_usd(p->no_packing), 4);
	tile(out, "", "an hour with each task on a machine of its own", &v);
	fth_str_add(out, "</div>\n");
	fth_str_release(&v);
}

static void html_row(const struct fth_pack_report *p, size_t n, struct fth_str *out)
{
	const struct fth_pack_instance *i = &p->instances[n];
	for (uint32_t copy = 0; copy < i->repeat; copy++) {
		fth_str_add(out, "<tr><th scope=\"row\">");
		fth_html_text(out, i->type);
		fth_str_add(out, "</th><td>");
		fth_human_usd(out, fth_usd(i->price), 4);
		fth_str_addf(out, "</td><td>%u</td><td class=\"l w\">", i->ntasks);
		for (uint32_t t = 0; t < i->ntasks; t++) {
			fth_str_add(out, t ? ", " : "");
			fth_html_text(out, task_name(i, copy, t));
		}
		fth_str_add(out, "</td></tr>\n");
	}
}

void fth_pack_html(const struct fth_pack_report *p, struct fth_str *out)
{
	struct fth_str title = {0};
	int64_t instances = 0, tasks = 0;
	for (size_t n = 0; n < p->ninstances; n++) {
		instances += p->instances[n].repeat;
		tasks += (int64_t)p->instances[n].repeat * p->instances[n].ntasks;
	}
	fth_human_int(&title, tasks);
	fth_str_add(&title, tasks == 1 ? " task on " : " tasks on ");
	fth_human_int(&title, instances);
	fth_str_add(&title, instances == 1 ? " instance for " : " instances for ");
	fth_human_usd(&title, fth_usd(p->cost), 2);
	fth_str_add(&title, " an hour");
	fth_page_begin(out, title.data);
	fth_str_add(out, "<p class=\"kind\">What to rent");
	if (p->workload) {
		fth_str_add(out, " for ");
		fth_html_text(out, p->workload);
	}
	fth_str_addf(out, "</p><h1>%s</h1>\n", title.data);
	tiles(p, out);
	fth_str_add(out, "<h2>Instances</h2>\n<div class=\"card scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Instances\"><table><thead>"
			 "<tr><th scope=\"col\">Type</th><th scope=\"col\">An hour</th><th scope=\"col\">Tasks</th>"
			 "<th scope=\"col\" class=\"l\">Which</th></tr></thead><tbody>\n");
	for (size_t n = 0; n < p->ninstances; n++)
		html_row(p, n, out);
	fth_str_add(out, "</tbody></table></div>\n<p class=\"small note\">Made by ");
	fth_html_text(out, p->method);
	fth_str_addf(out, " in %.3f s. All tasks run at the same time; only room counts, not that tasks slow each other down.</p>\n", p->wall_s);
	fth_page_end(out, p->version, p->command);
	fth_str_release(&title);
}
