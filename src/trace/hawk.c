/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads as the simulators of Hawk and Eagle have them (.tr): a line per job, "arrival tasks mean d_1 .. d_n",
 * all in seconds. Those simulators cut the mean and every duration to whole seconds when they read them, so this is
 * what is read here too unless fractions are asked for. Jobs with an arrival that was seen before come 10 ms
 * later each: the second at +10 ms, the third at +20 ms; a job is never before the one on the line above.
 */
#include "trace/readers.h"

enum { REPEAT = 10000 /* us */ };

struct hawk {
	struct fth_input *in;
	struct fth_symtab *syms;
	bool fractions;
	fth_kind_id kind;
	fth_time raw, last; /* arrival of the last line, as written and as used */
	int64_t repeats;
	uint64_t count;
	struct fth_job_spec job;
	struct fth_task_group group;
	FTH_VEC(fth_time) works;
};

#define hawk_fail(h, err, ...) fth_fail_at(err, -EINVAL, fth_input_name((h)->in), fth_input_line((h)->in), __VA_ARGS__)

/* A task takes one CPU, so a worker of one CPU has one slot. */
static fth_kind_id one_cpu(struct fth_kinds *kinds)
{
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = 1000;
	struct fth_kind k = {.label = fth_sym_intern(kinds->syms, "task"), .nalts = 1, .alts = &alt};
	k.klass = k.label;
	return fth_kinds_intern(kinds, &k);
}

static void hawk_init(struct hawk *h, struct fth_input *in, struct fth_kinds *kinds, bool fractions)
{
	*h = (struct hawk){.in = in, .syms = kinds->syms, .fractions = fractions, .kind = one_cpu(kinds), .raw = -1};
}

/* The next word of the line; *p moves behind it. NULL: there is none. */
static const char *next_word(char **p, size_t *ret_len)
{
	char *s = *p;
	while (*s == ' ' || *s == '\t' || *s == '\r')
		s++;
	char *end = s;
	while (*end && *end != ' ' && *end != '\t' && *end != '\r')
		end++;
	*p = end;
	*ret_len = (size_t)(end - s);
	return end > s ? s : NULL;
}

/* Plain decimals with few digits, which is nearly all there is, exactly and without a detour. */
static bool read_plain(const char *s, size_t n, fth_time *ret, bool whole)
{
	uint64_t v = 0, micro = 0;
	size_t i = 0;
	for (; i < n && s[i] >= '0' && s[i] <= '9'; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	if (!i || i > 10)
		return false;
	if (i < n && s[i] == '.') {
		uint64_t unit = 100000;
		for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++, unit /= 10)
			micro += (uint64_t)(s[i] - '0') * unit;
	}
	if (i < n)
		return false;
	*ret = (fth_time)v * FTH_SEC + (whole ? 0 : (fth_time)micro);
	return true;
}

static int read_seconds(struct hawk *h, const char *s, size_t n, const char *what, bool whole, fth_time *ret,
			struct fth_error *err)
{
	double x = 0;
	if (!read_plain(s, n, ret, whole)) {
		int r = fth_parse_real(s, n, &x);
		if (r == -EINVAL)
			return hawk_fail(h, err, "%s '%.*s' is not a number", what, (int)FTH_MIN(n, (size_t)40), s);
		if (r || x * 1e6 > (double)FTH_TRACE_TIME_MAX)
			return hawk_fail(h, err, "%s %.*s is out of range", what, (int)FTH_MIN(n, (size_t)40), s);
		if (x < 0)
			return hawk_fail(h, err, "%s %.*s is negative", what, (int)FTH_MIN(n, (size_t)40), s);
		*ret = whole ? (fth_time)x * FTH_SEC : (fth_time)(x * 1e6);
	}
	if (*ret > FTH_TRACE_TIME_MAX)
		return hawk_fail(h, err, "%s %.*s is out of range", what, (int)FTH_MIN(n, (size_t)40), s);
	return 0;
}

static int read_arrival(struct hawk *h, char **p, struct fth_error *err)
{
	size_t n;
	fth_time raw;
	const char *s = next_word(p, &n);
	int r = read_seconds(h, s, n, "arrival", false, &raw, err);
	if (r)
		return r;
	if (raw < h->raw)
		return hawk_fail(h, err, "arrives at %.*s s, before the job on the line above", (int)FTH_MIN(n, (size_t)40), s);
	h->repeats = raw == h->raw ? h->repeats + 1 : 0;
	h->raw = raw;
	h->last = FTH_MAX(h->last, raw + h->repeats * REPEAT);
	return 0;
}

static int read_tasks(struct hawk *h, char *p, int64_t tasks, struct fth_error *err)
{
	const char *s;
	size_t n;
	int64_t count = 0;
	fth_vec_clear(&h->works);
	while ((s = next_word(&p, &n))) {
		fth_time d = 0;
		int r = ++count > tasks ? 0 : read_seconds(h, s, n, "duration", !h->fractions, &d, err);
		if (r)
			return r;
		if (count <= tasks)
			fth_vec_push(&h->works, d);
	}
	if (count != tasks)
		return hawk_fail(h, err, "%lld task%s announced, and %lld duration%s", (long long)tasks, tasks == 1 ? " is" : "s are",
				 (long long)count, count == 1 ? " follows" : "s follow");
	return 0;
}

/* 1 and the next job in h->job, h->group, h->works; 0 at the end; -errno. */
static int hawk_next(struct hawk *h, struct fth_error *err)
{
	char *line, *p, key[32];
	const char *s;
	size_t len, n;
	int64_t tasks = 0;
	int r;
	do {
		r = fth_input_next(h->in, &line, &len, err);
		p = line;
		if (r > 0 && strlen(line) != len)
			return hawk_fail(h, err, "a NUL byte");
	} while (r > 0 && !line[strspn(line, " \t\r")]);
	if (r <= 0)
		return r;
	r = read_arrival(h, &p, err);
	if (r)
		return r;
	s = next_word(&p, &n);
	if (!s || fth_parse_i64(s, n, &tasks))
		return hawk_fail(h, err, "the number of tasks '%.*s' is not a whole number", (int)FTH_MIN(n, (size_t)40), s ? s : "");
	if (tasks < 1 || tasks > FTH_TRACE_TASKS_MAX)
		return hawk_fail(h, err, "%lld tasks, where 1 to %d are possible", (long long)tasks, FTH_TRACE_TASKS_MAX);
	h->job = (struct fth_job_spec){.submit = h->last, .deadline = FTH_NEVER, .ngroups = 1};
	h->job.line = (uint32_t)fth_input_line(h->in);
	s = next_word(&p, &n);
	r = s ? read_seconds(h, s, n, "mean", !h->fractions, &h->job.estimate, err)
	      : hawk_fail(h, err, "arrival, number of tasks and mean duration are needed");
	if (!r)
		r = read_tasks(h, p, tasks, err);
	if (r)
		return r;
	snprintf(key, sizeof(key), "job%llu", (unsigned long long)h->count++);
	h->job.key = fth_sym_intern(h->syms, key);
	h->group = (struct fth_task_group){.kind = h->kind, .count = (uint32_t)tasks, .work = h->works.data[0], .first_own = 0};
	return 1;
}

int fth_read_hawk(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err)
{
	struct hawk h;
	int r;
	hawk_init(&h, in, w->kinds, o->fractions);
	while ((r = hawk_next(&h, err)) > 0) {
		if (w->works.len + h.works.len >= FTH_NONE) {
			r = hawk_fail(&h, err, "more than four billion tasks");
			break;
		}
		h.group.first_own = (uint32_t)w->works.len;
		fth_vec_reserve(&w->works, w->works.len + h.works.len);
		memcpy(w->works.data + w->works.len, h.works.data, h.works.len * sizeof(fth_time));
		w->works.len += h.works.len;
		fth_workload_add(w, &h.job, &h.group, 1);
	}
	if (!r && !w->jobs.len)
		r = fth_fail_at(err, -EINVAL, fth_input_name(in), FTH_MAX(fth_input_line(in), (uint64_t)1), "no job in it");
	fth_vec_release(&h.works);
	return r;
}

/* ---- streaming ---- */

struct hawk_stream {
	struct fth_job_source base;
	struct hawk hawk;
};

static int stream_next(struct fth_job_source *base, struct fth_job_item *ret, struct fth_error *err)
{
	struct hawk *h = &((struct hawk_stream *)base)->hawk;
	int r = hawk_next(h, err);
	if (r > 0)
		*ret = (struct fth_job_item){.spec = &h->job, .groups = &h->group, .works = h->works.data};
	return r;
}

int fth_stream_hawk(struct fth_job_source **ret, const char *path, struct fth_kinds *kinds, bool fractions,
		    struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	struct hawk_stream *s = fth_alloc(sizeof(*s));
	s->base.next = stream_next;
	hawk_init(&s->hawk, in, kinds, fractions);
	*ret = &s->base;
	return 0;
}

void fth_stream_hawk_free(struct fth_job_source *base)
{
	struct hawk_stream *s = (struct hawk_stream *)base;
	if (!s)
		return;
	fth_input_close(s->hawk.in);
	fth_vec_release(&s->hawk.works);
	free(s);
}

static int open_again(const struct fth_world *w, struct fth_job_source **ret, struct fth_error *err)
{
	/* Its kind is there since the first pass, so nothing of the kinds is changed. */
	return fth_stream_hawk(ret, w->stream.path, (struct fth_kinds *)&w->kinds, w->stream.fractions, err);
}

static void summarize(struct fth_workload_summary *s, const struct hawk *h)
{
	if (!s->jobs++)
		s->first_submit = h->job.submit;
	s->last_submit = h->job.submit;
	s->tasks += h->works.len;
	fth_time longest = 0;
	for (size_t i = 0; i < h->works.len; i++) {
		s->task_hours += (double)h->works.data[i] / (double)FTH_HOUR;
		longest = FTH_MAX(longest, h->works.data[i]);
	}
	s->runtime_mean_h += (double)longest / (double)FTH_HOUR; /* a sum until the end */
}

int fth_stream_world(struct fth_world *w, const char *path, bool fractions, struct fth_error *err)
{
	struct fth_job_source *source;
	struct fth_job_item item;
	struct fth_workload_summary s = {.kinds = 1, .classes = 1};
	int r = fth_stream_hawk(&source, path, &w->kinds, fractions, err);
	if (r)
		return r;
	while ((r = source->next(source, &item, err)) > 0)
		summarize(&s, &((struct hawk_stream *)source)->hawk);
	fth_stream_hawk_free(source);
	if (!r && !s.jobs)
		r = fth_fail_at(err, -EINVAL, path, 1, "no job in it");
	if (r)
		return r;
	s.runtime_mean_h /= (double)s.jobs;
	w->stream = (struct fth_world_stream){open_again, fth_stream_hawk_free, fth_strdup(path), fractions, s};
	return 0;
}

/* "128248 34 4490.92 4575.40 ...": three numbers on the first line, the second a whole one. */
bool fth_looks_like_hawk(const char *p, size_t n)
{
	size_t words = 0, i = 0;
	while (words < 4) {
		while (i < n && (p[i] == ' ' || p[i] == '\t'))
			i++;
		size_t from = i;
		while (i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] == '.' && words != 1)))
			i++;
		if (i == from || (i < n && !strchr(" \t\r\n", p[i])))
			return false;
		words++;
		if (i == n || p[i] == '\n' || p[i] == '\r')
			return words == 4;
	}
	return true;
}

bool fth_ends_like_hawk(const char *path)
{
	static const char *const endings[] = {".tr", ".tr.gz", ".tr.zst"};
	size_t n = strlen(path);
	for (size_t i = 0; i < FTH_COUNT(endings); i++)
		if (n > strlen(endings[i]) && !strcmp(path + n - strlen(endings[i]), endings[i]))
			return true;
	return false;
}
