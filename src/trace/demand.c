/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `plan reserve` reads. A demand is a CSV of one of three shapes: `instances` alone, one number an hour;
 * `time_s,instances`, a number that holds until the next row's time (the last one for as long as the one before it did);
 * or machines with their lives, as `compare --instances-csv` writes them. Classes are a CSV, or the contracts of a catalog.
 */
#include "trace/csv.h"
#include "trace/readers.h"

enum { TIME, INSTANCES, INSTANCE, TYPE, CAPACITY, REQUESTED, ACQUIRED, READY, GONE_AT, TASKS, COST, NCOLUMNS };
static const struct fth_csv_column columns[NCOLUMNS] = {
	[TIME] = {"time_s", false},	       [INSTANCES] = {"instances", false}, [INSTANCE] = {"instance", false},
	[TYPE] = {"type", false},	       [CAPACITY] = {"capacity_type", false}, [REQUESTED] = {"requested_s", false},
	[ACQUIRED] = {"acquired_s", false},    [READY] = {"ready_s", false},	   [GONE_AT] = {"gone_s", false},
	[TASKS] = {"tasks", false},	       [COST] = {"cost_usd", false},
};

static int read_seconds(const struct fth_csv *csv, int column, fth_time *ret, struct fth_error *err)
{
	double s;
	int r = fth_csv_real(csv, fth_csv_cell(csv, column), columns[column].name, 0, (double)(FTH_TRACE_TIME_MAX / FTH_SEC), &s, err);
	if (!r)
		*ret = (fth_time)(s * 1e6 + 0.5);
	return r;
}

/* ---- a number over time ---- */

static int read_numbers(struct fth_demand_series *s, struct fth_csv *csv, struct fth_error *err)
{
	bool timed = fth_csv_has(csv, TIME);
	int64_t now = 0, count;
	fth_time at = -FTH_HOUR, last = -1, gap = FTH_HOUR;
	int r;
	while ((r = fth_csv_next(csv, err)) > 0) {
		r = fth_csv_int(csv, INSTANCES, 0, 10000000, &count, err);
		if (!r && timed)
			r = read_seconds(csv, TIME, &at, err);
		else
			at += FTH_HOUR;
		if (r)
			return r;
		if (last >= 0 && at <= last)
			return fth_csv_fail(csv, err, "time_s does not go on: each row comes after the one before it");
		if (last >= 0)
			gap = at - last;
		else
			s->start = at;
		if (count != now)
			fth_vec_push(&s->steps, ((struct fth_demand_step){at, count - now}));
		now = count;
		last = at;
	}
	if (!r && last < 0)
		return fth_csv_fail(csv, err, "no row in it");
	s->end = last + gap;
	return r;
}

/* ---- lives of machines ---- */

/* One that has not gone is there to the end of what the file speaks of: its last time. */
static int read_lives(struct fth_demand_series *s, struct fth_csv *csv, struct fth_error *err)
{
	fth_time from = 0, to = 0;
	int r;
	s->start = FTH_NEVER;
	while ((r = fth_csv_next(csv, err)) > 0) {
		int column = *fth_csv_cell(csv, READY) ? READY : ACQUIRED;
		bool stays = !*fth_csv_cell(csv, GONE_AT);
		if (!*fth_csv_cell(csv, column))
			continue; /* never came */
		r = read_seconds(csv, column, &from, err);
		if (!r && !stays)
			r = read_seconds(csv, GONE_AT, &to, err);
		if (r)
			return r;
		if (!stays && to < from)
			return fth_csv_fail(csv, err, "gone before it was there");
		fth_vec_push(&s->steps, ((struct fth_demand_step){from, 1}));
		if (!stays)
			fth_vec_push(&s->steps, ((struct fth_demand_step){to, -1}));
		s->start = FTH_MIN(s->start, from);
		s->end = FTH_MAX(s->end, stays ? from : to);
	}
	if (!r && !s->steps.len)
		return fth_csv_fail(csv, err, "no machine in it that came");
	if (!r && s->end <= s->start)
		return fth_csv_fail(csv, err, "all machines came at one time and none went: nothing is known of how long they are used");
	return r;
}

int fth_read_demand(struct fth_demand_series *s, struct fth_input *in, struct fth_error *err)
{
	struct fth_csv csv;
	int r = fth_csv_open(&csv, in, columns, NCOLUMNS, err);
	if (!r && fth_csv_has(&csv, INSTANCES))
		r = read_numbers(s, &csv, err);
	else if (!r && fth_csv_has(&csv, READY) && fth_csv_has(&csv, GONE_AT))
		r = read_lives(s, &csv, err);
	else if (!r)
		r = fth_csv_fail(&csv, err, "a demand has a column 'instances', or 'ready_s' and 'gone_s'");
	fth_csv_release(&csv);
	return r;
}

int fth_load_demand(struct fth_demand_series *s, const char *path, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_demand(s, in, err);
	fth_input_close(in);
	return r;
}

/* ---- classes ---- */

enum { CLASS, TERM, UPFRONT, HOURLY, EVERY_HOUR, KIND, MOST, NCLASS };
static const struct fth_csv_column class_columns[NCLASS] = {
	[CLASS] = {"class", true},	     [TERM] = {"term", true},	   [UPFRONT] = {"upfront_usd", true},
	[HOURLY] = {"hourly_usd", true},     [EVERY_HOUR] = {"every_hour", false}, [KIND] = {"kind", false},
	[MOST] = {"max", false},
};

/* "1y", "3y" (of 365 days), or a duration. */
static int parse_term(const char *p, fth_time *ret)
{
	size_t n = strlen(p);
	int64_t years;
	if (n > 1 && p[n - 1] == 'y' && !fth_parse_i64(p, n - 1, &years) && years > 0 && years <= 100) {
		*ret = years * 365 * FTH_DAY;
		return 0;
	}
	return fth_parse_duration(p, n, ret) || *ret < 0 || *ret > FTH_TRACE_TIME_MAX ? -EINVAL : 0;
}

static int read_yes(const struct fth_csv *csv, bool *ret, struct fth_error *err)
{
	const char *p = fth_csv_cell(csv, EVERY_HOUR);
	*ret = !strcmp(p, "yes") || !strcmp(p, "true") || !strcmp(p, "1");
	if (*ret || !*p || !strcmp(p, "no") || !strcmp(p, "false") || !strcmp(p, "0"))
		return 0;
	return fth_csv_fail(csv, err, "every_hour '%.20s' is not yes or no", p);
}

static int read_class(struct fth_reserve_market *m, const struct fth_csv *csv, bool *had_base, struct fth_error *err)
{
	struct fth_reserve_class c = {.name = fth_sym_intern(m->syms, fth_csv_cell(csv, CLASS)), .most = -1};
	const char *kind = fth_csv_cell(csv, KIND), *term = fth_csv_cell(csv, TERM);
	bool base = !strcmp(kind, "on-demand") || !strcmp(fth_csv_cell(csv, CLASS), "on-demand");
	int r = 0;
	if (!c.name)
		return fth_csv_fail(csv, err, "class is empty");
	if (*kind && !base && strcmp(kind, "reserved") && strcmp(kind, "savings-plan"))
		return fth_csv_fail(csv, err, "kind '%.20s' is not on-demand, reserved or savings-plan", kind);
	if ((!base || *term) && parse_term(term, &c.term))
		return fth_csv_fail(csv, err, "term '%.20s' is not 1y, 3y or a duration such as 8760h", term);
	if (!base && c.term < 7 * FTH_DAY)
		return fth_csv_fail(csv, err, "term %.20s is shorter than a week", term);
	if ((r = fth_csv_real(csv, fth_csv_cell(csv, HOURLY), "hourly_usd", 0, 1e6, &c.price, err)))
		return r;
	if (*fth_csv_cell(csv, UPFRONT) && (r = fth_csv_real(csv, fth_csv_cell(csv, UPFRONT), "upfront_usd", 0, 1e9, &c.upfront, err)))
		return r;
	if (*fth_csv_cell(csv, MOST) && (r = fth_csv_int(csv, MOST, 0, 10000000, &c.most, err)))
		return r;
	if ((r = read_yes(csv, &c.every_hour, err)))
		return r;
	c.savings_plan = !strcmp(kind, "savings-plan");
	c.every_hour |= c.savings_plan; /* what is committed is paid, used or not */
	if (base) {
		if (*had_base)
			return fth_csv_fail(csv, err, "on-demand twice");
		*had_base = true;
		m->on_demand = c.price;
		return 0;
	}
	if (!*had_base)
		return fth_csv_fail(csv, err, "the row of on-demand comes first: classes are measured against it");
	if (c.price > m->on_demand)
		return fth_csv_fail(csv, err, "class %.40s: its hours cost more than on demand", fth_csv_cell(csv, CLASS));
	for (size_t i = 0; i < m->classes.len; i++)
		if (m->classes.data[i].name == c.name)
			return fth_csv_fail(csv, err, "class %.40s twice", fth_csv_cell(csv, CLASS));
	if (m->classes.len == 64)
		return fth_csv_fail(csv, err, "more than 64 classes");
	fth_vec_push(&m->classes, c);
	return 0;
}

int fth_read_classes(struct fth_reserve_market *m, struct fth_input *in, struct fth_error *err)
{
	struct fth_csv csv;
	bool had_base = false;
	int r = fth_csv_open(&csv, in, class_columns, NCLASS, err);
	while (!r && (r = fth_csv_next(&csv, err)) > 0)
		r = read_class(m, &csv, &had_base, err);
	if (!r && !had_base)
		r = fth_csv_fail(&csv, err, "no row of on-demand");
	fth_csv_release(&csv);
	return r ? r : fth_reserve_market_finish(m, err);
}

/* The contracts of a catalog, for its first offer on demand that has some. */
static int classes_of_catalog(struct fth_reserve_market *m, struct fth_input *in, struct fth_error *err)
{
	struct fth_catalog_store c;
	fth_catalog_init(&c, m->syms);
	int r = fth_read_catalog(&c, in, FTH_FORMAT_FARTHING_CATALOG, NULL, err), found = -ENOENT;
	for (fth_offer_id o = 0; !r && o < c.pub.noffers && found == -ENOENT; o++)
		if (c.pub.offers[o].market == FTH_ON_DEMAND)
			found = fth_reserve_market_of(m, m->syms, &c.pub, o, err);
	if (!r && found == -ENOENT)
		r = fth_fail_at(err, -EINVAL, fth_input_name(in), 0, "no contract in it for a type that can be had on demand");
	fth_catalog_release(&c);
	return r ? r : found;
}

int fth_load_classes(struct fth_reserve_market *m, const char *path, struct fth_error *err)
{
	struct fth_input *in;
	enum fth_format f = FTH_FORMAT_AUTO;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_recognise_input(in, &f, err);
	if (!r)
		r = f == FTH_FORMAT_FARTHING_CATALOG ? classes_of_catalog(m, in, err) : fth_read_classes(m, in, err);
	fth_input_close(in);
	return r;
}
