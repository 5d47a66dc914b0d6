/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical workload: see docs/formats.md. */
#include "trace/readers.h"

static const char *const job_kinds[] = {"independent", "coupled", "rigid", "service", NULL};

static const char *const told_by[] = {"wanted", "given", "exact", "within", "lognormal", NULL};

static const struct fth_field_rule header_rules[] = {
	{.key = "name", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_workload, name)},
	{.key = "step", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_workload, step)},
	{.key = "epoch", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_workload, epoch)},
	{.key = "estimates", .type = FTH_FIELD_CHOICE, .offset = offsetof(struct fth_workload, told.by), .choices = told_by},
	{.key = "error", .type = FTH_FIELD_REAL, .offset = offsetof(struct fth_workload, told.error)},
	{.key = "spread", .type = FTH_FIELD_REAL, .offset = offsetof(struct fth_workload, told.spread)},
	{.key = "draws", .type = FTH_FIELD_COUNT, .offset = offsetof(struct fth_workload, told.seed)},
};

static const struct fth_field_rule kind_rules[] = {
	{.key = "label", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_kind, label)},
	{.key = "class", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_kind, klass)},
	{.key = "image", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_kind, image)},
	{.key = "arch", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_kind, arch)},
	{.key = "fetch", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_kind, delays.fetch)},
	{.key = "setup", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_kind, delays.setup)},
	{.key = "init", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_kind, delays.init)},
	{.key = "stop", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_kind, delays.stop)},
	{.key = "save", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_kind, delays.save)},
};

static const struct fth_field_rule job_rules[] = {
	{.key = "submit", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_job_spec, submit), .required = true},
	{.key = "user", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_job_spec, user)},
	{.key = "kind", .type = FTH_FIELD_CHOICE, .offset = offsetof(struct fth_job_spec, kind), .choices = job_kinds},
	{.key = "priority", .type = FTH_FIELD_INT32, .offset = offsetof(struct fth_job_spec, priority)},
	{.key = "deadline", .type = FTH_FIELD_WHEN, .offset = offsetof(struct fth_job_spec, deadline)},
	{.key = "estimate", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_job_spec, estimate)},
	{.key = "iters", .type = FTH_FIELD_COUNT, .offset = offsetof(struct fth_job_spec, iters)},
	{.key = "rate", .type = FTH_FIELD_REAL, .offset = offsetof(struct fth_job_spec, iter_rate)},
	{.key = "anti_affinity", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_job_spec, anti_affinity)},
	{.key = "availability", .type = FTH_FIELD_REAL, .offset = offsetof(struct fth_job_spec, availability)},
};

static const struct fth_job_spec job_defaults = {.deadline = FTH_NEVER};
static const struct fth_kind kind_defaults;
static const struct fth_workload header_defaults;

static struct fth_field_names names_of(const struct fth_kinds *k)
{
	return (struct fth_field_names){.syms = k->syms, .nres = k->nres, .res_names = k->res_names};
}

/* ---- reading, one job at a time ---- */

struct reader {
	struct fth_input *in;
	struct fth_kinds *kinds;
	struct fth_line line;
	struct fth_workload head; /* name, step, epoch and notes only */
	struct fth_map ids;       /* symbol of the file's name of a kind -> kind id */
	FTH_VEC(struct fth_alt) alts;
	FTH_VEC(struct fth_task_group) groups;
	FTH_VEC(fth_time) works;
	bool begun;
};

static void reader_release(struct reader *r)
{
	fth_line_release(&r->line);
	fth_map_release(&r->ids);
	fth_vec_release(&r->alts);
	fth_vec_release(&r->groups);
	fth_vec_release(&r->works);
	fth_vec_release(&r->head.notes);
}

static int read_resource(struct reader *r, struct fth_error *err)
{
	if (!fth_resource_name_ok(r->line.name))
		return fth_line_fail(&r->line, err, "resource: a name of letters, digits, '.', '-' and '_' is needed");
	if (fth_kinds_resource(r->kinds, r->line.name) < 0)
		return fth_line_fail(&r->line, err, "resource: more than %d extra resources", FTH_RES_MAX - FTH_RES_EXTRA);
	return fth_line_finish(&r->line, err);
}

/* "gpu:1,cpu:8@0.95": the demand, and the speed there. */
static int read_alt(struct reader *r, struct fth_field *f, fth_sym family, struct fth_error *err)
{
	static const struct fth_field_rule demand = {
		.key = "", .type = FTH_FIELD_RES, .offset = offsetof(struct fth_alt, demand)};
	struct fth_field_names names = names_of(r->kinds);
	struct fth_alt a = {.family = family, .speed_ppm = 1000000};
	const char *at = strchr(f->value, '@'), *wrong = NULL;
	size_t n = at ? (size_t)(at - f->value) : strlen(f->value);
	if (at) {
		int64_t ppm = 0;
		int e = fth_parse_scaled(at + 1, strlen(at + 1), 1000000, &ppm);
		if (e || ppm <= 0 || ppm > 1000000000)
			wrong = "the speed after @ is a number above 0 with at most six decimals";
		else
			a.speed_ppm = (uint32_t)ppm;
	}
	if (!wrong)
		wrong = fth_field_parse(&demand, f->value, n, &a, &names);
	if (wrong)
		return fth_line_fail(&r->line, err, "%s=%.60s: %s", f->key, f->value, wrong);
	fth_vec_push(&r->alts, a);
	f->used = true;
	return 0;
}

static int read_alts(struct reader *r, struct fth_error *err)
{
	fth_vec_clear(&r->alts);
	for (size_t i = 0; i < r->line.fields.len; i++) {
		struct fth_field *f = &r->line.fields.data[i];
		fth_sym family = 0;
		if (!strncmp(f->key, "on:", 3) && f->key[3]) {
			char *name = fth_strdup(f->key + 3);
			bool bad = fth_name_decode(name) < 0;
			family = bad ? 0 : fth_sym_intern(r->kinds->syms, name);
			free(name);
			if (bad)
				return fth_line_fail(&r->line, err, "a bad %% escape in %.60s", f->key);
		} else if (strcmp(f->key, "any")) {
			continue;
		}
		if (r->alts.len && !fth_vec_last(&r->alts).family)
			return fth_line_fail(&r->line, err, "%.60s= after any= can never match", f->key);
		int e = read_alt(r, f, family, err);
		if (e)
			return e;
	}
	if (!r->alts.len)
		return fth_line_fail(&r->line, err, "kind: no demand (any= or on:FAMILY=)");
	return 0;
}

static int read_kind(struct reader *r, struct fth_error *err)
{
	struct fth_kind k = kind_defaults;
	struct fth_field_names names = names_of(r->kinds);
	if (!*r->line.name)
		return fth_line_fail(&r->line, err, "kind: its name is missing");
	fth_sym id = fth_sym_intern(r->kinds->syms, r->line.name);
	if (fth_map_get(&r->ids, id, NULL))
		return fth_line_fail(&r->line, err, "kind %.60s twice", r->line.name);
	int e = fth_line_apply(&r->line, kind_rules, FTH_COUNT(kind_rules), &k, &names, err);
	if (!e)
		e = read_alts(r, err);
	if (!e)
		e = fth_line_finish(&r->line, err);
	if (e)
		return e;
	k.alts = r->alts.data;
	k.nalts = (uint32_t)r->alts.len;
	fth_map_put(&r->ids, id, fth_kinds_intern(r->kinds, &k));
	return 0;
}

static const char *read_work(const char *s, size_t n, fth_time *ret)
{
	static const struct fth_field_rule work = {.key = "", .type = FTH_FIELD_WHEN, .offset = 0};
	return fth_field_parse(&work, s, n, ret, NULL);
}

/* "4xK3:12430s" or, each its own, "2xK3:10s/20s". */
static const char *read_group(struct reader *r, char *s, char *end, uint64_t *tasks)
{
	struct fth_task_group g = {.first_own = FTH_NONE};
	int64_t count = 0;
	char *x = memchr(s, 'x', (size_t)(end - s)), *colon = memchr(s, ':', (size_t)(end - s));
	if (!x || !colon || colon < x || fth_parse_i64(s, (size_t)(x - s), &count))
		return "tasks are written COUNTxKIND:DURATION";
	if (count < 1 || count > FTH_TRACE_TASKS_MAX || (*tasks += (uint64_t)count) > FTH_TRACE_TASKS_MAX)
		return "a job has 1 to 1000000 tasks";
	*colon = '\0';
	uint64_t kind;
	if (fth_name_decode(x + 1) || !fth_map_get(&r->ids, fth_sym_find(r->kinds->syms, x + 1), &kind))
		return "no kind of this name before this line";
	g.kind = (fth_kind_id)kind;
	g.count = (uint32_t)count;
	if (!memchr(colon + 1, '/', (size_t)(end - colon) - 1)) {
		const char *wrong = read_work(colon + 1, (size_t)(end - colon) - 1, &g.work);
		if (!wrong)
			fth_vec_push(&r->groups, g);
		return wrong;
	}
	g.first_own = (uint32_t)r->works.len;
	for (char *p = colon + 1; p <= end;) {
		char *slash = memchr(p, '/', (size_t)(end - p)), *stop = slash ? slash : end;
		fth_time work;
		const char *wrong = read_work(p, (size_t)(stop - p), &work);
		if (wrong)
			return wrong;
		fth_vec_push(&r->works, work);
		g.work = FTH_MAX(g.work, work);
		p = stop + 1;
	}
	if (r->works.len - g.first_own != g.count)
		return "as many durations as tasks are needed, or one for all";
	fth_vec_push(&r->groups, g);
	return NULL;
}

static struct fth_field *find_field(struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->line.fields.len; i++)
		if (!strcmp(r->line.fields.data[i].key, key))
			return &r->line.fields.data[i];
	return NULL;
}

static int read_tasks(struct reader *r, struct fth_error *err)
{
	fth_vec_clear(&r->groups);
	fth_vec_clear(&r->works);
	struct fth_field *f = find_field(r, "tasks");
	if (!f)
		return fth_line_fail(&r->line, err, "job: tasks= is missing");
	f->used = true;
	uint64_t tasks = 0;
	for (char *p = f->value, *end = p + strlen(p); p <= end;) {
		char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
		char shown[64] = ""; /* reading takes the text apart */
		memcpy(shown, p, FTH_MIN((size_t)(stop - p), sizeof(shown) - 1));
		const char *wrong = read_group(r, p, stop, &tasks);
		if (wrong)
			return fth_line_fail(&r->line, err, "tasks=%s: %s", shown, wrong);
		p = stop + 1;
	}
	return 0;
}

static const char *availability_wrong(struct reader *r, const struct fth_job_spec *j)
{
	if (!find_field(r, "availability"))
		return NULL;
	if (j->kind != FTH_JOB_SERVICE)
		return "availability= is for services (kind=service)";
	return j->availability > 0 && j->availability < 1 ? NULL : "availability= is a share of time above 0 and below 1";
}

static int read_job(struct reader *r, struct fth_job_spec *ret, struct fth_error *err)
{
	struct fth_job_spec j = job_defaults;
	struct fth_field_names names = names_of(r->kinds);
	if (!*r->line.name)
		return fth_line_fail(&r->line, err, "job: its id is missing");
	int e = fth_line_apply(&r->line, job_rules, FTH_COUNT(job_rules), &j, &names, err);
	if (!e)
		e = read_tasks(r, err);
	if (!e)
		e = fth_line_finish(&r->line, err);
	if (e)
		return e;
	j.key = fth_sym_intern(r->kinds->syms, r->line.name);
	j.ngroups = (uint32_t)r->groups.len;
	j.line = (uint32_t)FTH_MIN(r->line.number, (uint64_t)UINT32_MAX);
	const char *wrong = fth_iterations_wrong(j.iters, j.iter_rate);
	if (!wrong)
		wrong = availability_wrong(r, &j);
	if (wrong)
		return fth_line_fail(&r->line, err, "%s", wrong);
	*ret = j;
	return 1;
}

static int read_head(struct reader *r, struct fth_error *err)
{
	struct fth_field_names names = names_of(r->kinds);
	if (r->begun)
		return fth_line_fail(&r->line, err, "the workload line must come first, and once");
	int e = fth_line_apply(&r->line, header_rules, FTH_COUNT(header_rules), &r->head, &names, err);
	return e ? e : fth_line_finish(&r->line, err);
}

/* What the file it came from said of itself. */
static int read_note(struct reader *r, struct fth_error *err)
{
	if (!*r->line.name)
		return fth_line_fail(&r->line, err, "note: its text is missing");
	fth_vec_push(&r->head.notes, fth_sym_intern(r->kinds->syms, r->line.name));
	return fth_line_finish(&r->line, err);
}

/* 1 and the next job (groups and works in the reader), 0 at the end, -errno. */
static int reader_next(struct reader *r, struct fth_job_spec *ret, struct fth_error *err)
{
	for (;;) {
		int e = fth_line_next(&r->line, r->in, err);
		if (e <= 0)
			return e;
		const char *word = r->line.word;
		if (!strcmp(word, "job")) {
			r->begun = true;
			return read_job(r, ret, err);
		}
		if (!strcmp(word, "workload"))
			e = read_head(r, err);
		else if (!strcmp(word, "resource"))
			e = read_resource(r, err);
		else if (!strcmp(word, "note"))
			e = read_note(r, err);
		else if (!strcmp(word, "kind"))
			e = read_kind(r, err);
		else
			e = fth_line_fail(&r->line, err, "unknown word '%.60s'", word);
		if (e)
			return e;
		r->begun = true;
	}
}

int fth_read_canon_workload(struct fth_workload *w, struct fth_input *in, struct fth_error *err)
{
	struct reader r = {.in = in, .kinds = w->kinds};
	struct fth_job_spec j;
	int e = fth_line_expect_header(in, "farthing-workload", err);
	while (!e && (e = reader_next(&r, &j, err)) > 0) {
		uint32_t base = (uint32_t)w->works.len;
		for (size_t i = 0; i < r.groups.len; i++)
			if (r.groups.data[i].first_own != FTH_NONE)
				r.groups.data[i].first_own += base;
		for (size_t i = 0; i < r.works.len; i++)
			fth_vec_push(&w->works, r.works.data[i]);
		e = fth_workload_add(w, &j, r.groups.data, j.ngroups);
		if (e == -EEXIST)
			e = fth_line_fail(&r.line, err, "job %.60s twice", fth_sym_str(w->syms, j.key));
	}
	w->name = r.head.name;
	w->step = r.head.step;
	w->epoch = r.head.epoch;
	for (size_t i = 0; i < r.head.notes.len; i++)
		fth_vec_push(&w->notes, r.head.notes.data[i]);
	w->told = r.head.told;
	if (!e && !w->jobs.len)
		e = fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "no job in it");
	reader_release(&r);
	return e;
}

/* ---- streaming ---- */

struct stream {
	struct fth_job_source base;
	struct reader reader;
	struct fth_input *in;
	struct fth_job_spec job;
	fth_time last;
	FTH_VEC(uint64_t) seen; /* one bit per symbol: keys of jobs so far */
	struct fth_stream_head head;
	uint64_t index; /* of the next job */
	bool pending; /* the first job has been read while opening */
};

static int stream_check(struct stream *s, struct fth_error *err)
{
	if (s->job.submit < s->last)
		return fth_line_fail(&s->reader.line, err, "submitted before the job above: a stream must be in order");
	s->last = s->job.submit;
	size_t word = s->job.key / 64;
	while (s->seen.len <= word)
		fth_vec_push(&s->seen, 0);
	if (s->seen.data[word] >> s->job.key % 64 & 1)
		return fth_line_fail(&s->reader.line, err, "job %.60s twice",
				     fth_sym_str(s->reader.kinds->syms, s->job.key));
	s->seen.data[word] |= (uint64_t)1 << s->job.key % 64;
	return 1;
}

static int stream_read(struct stream *s, struct fth_error *err)
{
	int r = reader_next(&s->reader, &s->job, err);
	return r > 0 ? stream_check(s, err) : r;
}

static int stream_next(struct fth_job_source *base, struct fth_job_item *ret, struct fth_error *err)
{
	struct stream *s = (struct stream *)base;
	int r = s->pending ? 1 : stream_read(s, err);
	s->pending = false;
	if (r > 0)
		*ret = (struct fth_job_item){&s->job, s->reader.groups.data, s->reader.works.data, &s->reader.head.told,
					     s->index++};
	return r;
}

int fth_stream_workload(struct fth_job_source **ret, const char *path, struct fth_symtab *syms,
			struct fth_kinds *kinds, struct fth_error *err)
{
	struct fth_input *in;
	int e = fth_input_open(&in, path, err);
	if (e)
		return e;
	(void)syms; /* the kinds' own */
	struct stream *s = fth_alloc(sizeof(*s));
	*s = (struct stream){.base.next = stream_next, .reader = {.in = in, .kinds = kinds}, .in = in};
	e = fth_line_expect_header(in, "farthing-workload", err);
	if (!e) {
		e = stream_read(s, err);
		if (!e)
			e = fth_fail_at(err, -EINVAL, path, fth_input_line(in), "no job in it");
	}
	if (e < 0) {
		fth_stream_free(&s->base);
		return e;
	}
	s->pending = true;
	s->head = (struct fth_stream_head){s->reader.head.name, s->reader.head.step};
	*ret = &s->base;
	return 0;
}

const struct fth_stream_head *fth_stream_head(const struct fth_job_source *s)
{
	return &((const struct stream *)s)->head;
}

void fth_stream_free(struct fth_job_source *base)
{
	struct stream *s = (struct stream *)base;
	if (!s)
		return;
	reader_release(&s->reader);
	fth_vec_release(&s->seen);
	fth_input_close(s->in);
	free(s);
}

/* ---- writing ---- */

static void write_kind(struct fth_str *s, const struct fth_kinds *kinds, fth_kind_id id, uint64_t number)
{
	const struct fth_kind *k = &kinds->list.data[id];
	struct fth_field_names names = names_of(kinds);
	fth_str_addf(s, "kind K%llu", (unsigned long long)number);
	fth_fields_write(s, kind_rules, FTH_COUNT(kind_rules), k, &kind_defaults, &names);
	for (uint32_t i = 0; i < k->nalts; i++) {
		const struct fth_alt *a = &k->alts[i];
		fth_str_add(s, a->family ? " on:" : " any");
		if (a->family)
			fth_name_write(s, fth_sym_str(kinds->syms, a->family));
		fth_str_addc(s, '=');
		fth_field_write_res(s, &a->demand, &names);
		if (a->speed_ppm != 1000000) {
			fth_str_addc(s, '@');
			fth_str_scaled(s, a->speed_ppm, 1000000);
		}
	}
	fth_str_addc(s, '\n');
}

static void write_group(struct fth_str *s, const struct fth_workload *w, const struct fth_task_group *g, uint64_t number)
{
	fth_str_addf(s, "%ux" "K%llu:", g->count, (unsigned long long)number);
	uint32_t n = g->first_own == FTH_NONE ? 1 : g->count;
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fth_str_addc(s, '/');
		fth_field_write_when(s, fth_group_work(w, g, i));
	}
}

/* A job, after the kinds it is the first to use. */
static void write_job(struct fth_str *s, const struct fth_workload *w, const struct fth_job_spec *j, struct fth_map *numbers)
{
	struct fth_field_names names = names_of(w->kinds);
	uint64_t number;
	for (uint32_t i = 0; i < j->ngroups; i++) {
		fth_kind_id id = w->groups.data[j->first_group + i].kind;
		if (fth_map_get(numbers, id, NULL))
			continue;
		number = numbers->len;
		fth_map_put(numbers, id, number);
		write_kind(s, w->kinds, id, number);
	}
	fth_str_add(s, "job ");
	fth_name_write(s, fth_sym_str(w->syms, j->key));
	fth_fields_write(s, job_rules, FTH_COUNT(job_rules), j, &job_defaults, &names);
	fth_str_add(s, " tasks=");
	for (uint32_t i = 0; i < j->ngroups; i++) {
		const struct fth_task_group *g = &w->groups.data[j->first_group + i];
		fth_map_get(numbers, g->kind, &number);
		if (i)
			fth_str_addc(s, ',');
		write_group(s, w, g, number);
	}
	fth_str_addc(s, '\n');
}

int fth_write_workload(const struct fth_workload *w, struct fth_output *o, struct fth_error *err)
{
	struct fth_field_names names = names_of(w->kinds);
	struct fth_map numbers = {0};
	struct fth_str s = {0};
	if (!w->jobs.len)
		return fth_fail(err, -EINVAL, "a workload without a job is not written");
	fth_str_add(&s, "farthing-workload 1\n");
	if (w->name || w->step || w->epoch || w->told.by) {
		fth_str_add(&s, "workload");
		fth_fields_write(&s, header_rules, FTH_COUNT(header_rules), w, &header_defaults, &names);
		fth_str_addc(&s, '\n');
	}
	for (size_t i = 0; i < w->notes.len; i++) {
		fth_str_add(&s, "note ");
		fth_name_write(&s, fth_sym_str(w->syms, w->notes.data[i]));
		fth_str_addc(&s, '\n');
	}
	for (uint32_t i = FTH_RES_EXTRA; i < w->kinds->nres; i++)
		fth_str_addf(&s, "resource %s\n", fth_sym_str(w->syms, w->kinds->res_names[i]));
	int r = fth_output_write(o, s.data, s.len, err);
	for (size_t i = 0; i < w->jobs.len && !r; i++) {
		fth_str_clear(&s);
		write_job(&s, w, &w->jobs.data[i], &numbers);
		r = fth_output_write(o, s.data, s.len, err);
	}
	fth_str_release(&s);
	fth_map_release(&numbers);
	return r;
}
