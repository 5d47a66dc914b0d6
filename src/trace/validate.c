/* SPDX-License-Identifier: Apache-2.0 */
/* Read a file of any known format whole, and say in a few lines what it is. */
#include "trace/trace.h"

struct world {
	struct fth_symtab *syms;
	struct fth_kinds kinds;
	struct fth_workload workload;
	struct fth_catalog_store catalog;
	struct fth_profile profile;
	struct fth_market_data market;
};

static void say_time(struct fth_str *s, fth_time t)
{
	double h = (double)t / (double)FTH_HOUR;
	if (h >= 48)
		fth_str_addf(s, "%.1f days", h / 24);
	else if (h >= 1)
		fth_str_addf(s, "%.1f h", h);
	else
		fth_str_duration(s, t);
}

/* Least and greatest that a task asks for, over all its alternatives. */
static void say_demands(struct fth_str *s, const struct fth_kinds *k)
{
	static const char *const names[] = {"GPU", "CPU", "GiB"};
	static const double scale[] = {1000, 1000, 1024};
	struct fth_res lo = {{INT64_MAX, INT64_MAX, INT64_MAX}}, hi = {0};
	for (size_t i = 0; i < k->list.len; i++)
		for (uint32_t a = 0; a < k->list.data[i].nalts; a++)
			for (int r = 0; r < 3; r++) {
				int64_t v = k->list.data[i].alts[a].demand.v[r];
				lo.v[r] = FTH_MIN(lo.v[r], v);
				hi.v[r] = FTH_MAX(hi.v[r], v);
			}
	fth_str_add(s, "a task asks for: ");
	for (int r = 0; r < 3; r++)
		fth_str_addf(s, "%s%.4g to %.4g %s", r ? ", " : "", (double)lo.v[r] / scale[r], (double)hi.v[r] / scale[r],
			     names[r]);
	fth_str_addc(s, '\n');
}

static void say_workload(struct fth_str *s, const struct world *w)
{
	struct fth_workload_summary m;
	fth_workload_summarize(&w->workload, &m);
	fth_str_addf(s, "%llu jobs, %llu tasks of %llu kinds and %llu classes; %llu jobs use GPUs",
		     (unsigned long long)m.jobs, (unsigned long long)m.tasks, (unsigned long long)m.kinds,
		     (unsigned long long)m.classes, (unsigned long long)m.gpu_jobs);
	if (m.coupled_jobs)
		fth_str_addf(s, ", %llu are coupled", (unsigned long long)m.coupled_jobs);
	if (m.rigid_jobs)
		fth_str_addf(s, ", %llu are rigid", (unsigned long long)m.rigid_jobs);
	if (m.users)
		fth_str_addf(s, "; %llu users", (unsigned long long)m.users);
	fth_str_add(s, "\nsubmitted over ");
	say_time(s, m.last_submit - m.first_submit);
	fth_str_addf(s, "\nruntime alone: mean %.2f h, median %.2f h, P80 %.2f h, P95 %.2f h; %.0f task hours\n",
		     m.runtime_mean_h, m.runtime_p50_h, m.runtime_p80_h, m.runtime_p95_h, m.task_hours);
	say_demands(s, &w->kinds);
}

static void say_catalog(struct fth_str *s, const struct fth_catalog *c)
{
	static const char *const markets[] = {"on-demand", "spot", "reserved"};
	size_t n[3] = {0};
	fth_price lo = INT64_MAX, hi = 0;
	struct fth_map zones = {0}, families = {0};
	for (uint32_t i = 0; i < c->noffers; i++) {
		n[c->offers[i].market]++;
		lo = FTH_MIN(lo, c->offers[i].price);
		hi = FTH_MAX(hi, c->offers[i].price);
		fth_map_put(&zones, c->offers[i].zone, 1);
	}
	for (uint32_t i = 0; i < c->ntypes; i++)
		fth_map_put(&families, c->types[i].family, 1);
	fth_str_addf(s, "%u instance types of %zu families; offers in %zu zones:", c->ntypes, families.len, zones.len);
	for (int m = 0; m < 3; m++)
		if (n[m])
			fth_str_addf(s, " %zu %s", n[m], markets[m]);
	fth_str_add(s, "\n$/h: ");
	fth_str_usd(s, lo);
	fth_str_add(s, " to ");
	fth_str_usd(s, hi);
	fth_str_addc(s, '\n');
	fth_map_release(&zones);
	fth_map_release(&families);
}

static void say_profile(struct fth_str *s, const struct fth_profile *p)
{
	size_t n = p->classes.len;
	double lo = p->rate[0], hi = p->rate[0];
	for (size_t i = 0; i < n * n; i++) {
		lo = FTH_MIN(lo, p->rate[i]);
		hi = FTH_MAX(hi, p->rate[i]);
	}
	fth_str_addf(s, "%zu workload classes; speed beside another: %.3g to %.3g, %.3g where nothing is known\n", n, lo, hi,
		     p->missing);
}

static void say_market(struct fth_str *s, const struct world *w)
{
	const struct fth_market_data *m = &w->market;
	uint64_t steps = 0;
	for (size_t i = 0; i < m->series.len; i++)
		steps += m->series.data[i].steps.len;
	fth_str_addf(s, "%llu rows; %zu instance types, %zu series with %llu changes", (unsigned long long)m->rows_read,
		     w->catalog.types.len, m->series.len, (unsigned long long)steps);
	if (m->first <= m->last)
		fth_str_addf(s, " over %.4g days from %lld s after 1970", (double)(m->last - m->first) / (double)FTH_DAY,
			     (long long)(m->first / FTH_SEC));
	fth_str_addc(s, '\n');
}

static int read_and_say(struct world *w, struct fth_input *in, enum fth_format f, struct fth_str *s, struct fth_error *err)
{
	int r;
	if (fth_format_content(f) == FTH_CONTENT_WORKLOAD) {
		r = fth_read_workload(&w->workload, in, f, NULL, err);
		if (!r)
			say_workload(s, w);
	} else if (fth_format_content(f) == FTH_CONTENT_CATALOG) {
		r = fth_read_catalog(&w->catalog, in, f, NULL, err);
		if (!r)
			say_catalog(s, &w->catalog.pub);
	} else if (fth_format_content(f) == FTH_CONTENT_MARKET) {
		static const struct fth_market_options all = {.any_type = true};
		r = fth_read_market(&w->market, &w->catalog, in, f, &all, err);
		if (!r)
			say_market(s, w);
	} else {
		r = fth_read_profile(&w->profile, in, f, err);
		if (!r)
			say_profile(s, &w->profile);
	}
	return r;
}

int fth_validate(const char *path, enum fth_format f, struct fth_str *ret_summary, struct fth_error *err)
{
	struct world w = {.syms = fth_symtab_new()};
	struct fth_input *in = NULL;
	struct fth_str s = {0};
	fth_kinds_init(&w.kinds, w.syms);
	fth_workload_init(&w.workload, w.syms, &w.kinds);
	fth_catalog_init(&w.catalog, w.syms);
	fth_profile_init(&w.profile, w.syms, 1);
	fth_market_init(&w.market);
	int r = fth_input_open(&in, path, err);
	if (!r && f == FTH_FORMAT_AUTO)
		r = fth_recognise_input(in, &f, err);
	if (!r && f == FTH_FORMAT_AUTO)
		r = fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "not recognised as any known format");
	if (!r) {
		fth_str_addf(&s, "%s: %s\n", fth_input_name(in), fth_format_name(f));
		r = read_and_say(&w, in, f, &s, err);
	}
	if (!r)
		fth_str_add(ret_summary, s.data);
	fth_str_release(&s);
	fth_input_close(in);
	fth_market_release(&w.market);
	fth_profile_release(&w.profile);
	fth_catalog_release(&w.catalog);
	fth_workload_release(&w.workload);
	fth_kinds_release(&w.kinds);
	fth_symtab_free(w.syms);
	return r;
}
