/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 where one is not
 * known, and a header of comments. A line is a rigid job: as many whole nodes as its processors fill.
 *
 * Rules where the format leaves room: processors are those asked for, else those it got; the user's limit
 * is the estimate, missing or overrun limits are the runtime itself; a job without runtime or processors
 * (cancelled before it began, mostly) is left out and counted; the status is not looked at, since what
 * ran was paid for. Lines need not be in order of time: the workload is put in order.
 */
#include "trace/readers.h"

enum { JOB, SUBMIT, WAIT, RUN, PROCS, CPU_TIME, MEMORY, REQ_PROCS, REQ_TIME, REQ_MEMORY, STATUS, USER, GROUP, APP,
       QUEUE, PARTITION, AFTER, THINK, NFIELDS };
static const char *const names[NFIELDS] = {
	"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
	"partition", "preceding job", "think time"};

enum { NOTES_MAX = 1000 };

struct swf {
	struct fth_workload *w;
	struct fth_input *in;
	uint32_t node_cpus;
	uint64_t rows, left_out;
	struct fth_map kinds; /* executable + 1 -> kind */
};

#define swf_fail(s, err, ...) fth_fail_at(err, -EINVAL, fth_input_name((s)->in), fth_input_line((s)->in), __VA_ARGS__)

/* ---- the header ---- */

static void read_comment(struct swf *s, const char *text)
{
	int64_t start;
	text += strspn(text, "; \t");
	if (!strncmp(text, "UnixStartTime:", 14)) {
		const char *p = text + 14 + strspn(text + 14, " \t");
		if (!fth_parse_i64(p, strcspn(p, " \t\r"), &start) && start > 0 && start <= FTH_TRACE_TIME_MAX / FTH_SEC)
			s->w->epoch = start * FTH_SEC;
	}
	size_t n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		n--;
	if (n && s->w->notes.len < NOTES_MAX)
		fth_vec_push(&s->w->notes, fth_sym_internn(s->w->syms, text, n));
}

/* ---- a line ---- */

/* Times may have a fraction (some converters write averages); everything else is a whole number. */
static int parse_field(struct swf *s, int at, const char *p, size_t n, int64_t *ret, struct fth_error *err)
{
	double x = 0;
	int r = fth_parse_i64(p, n, ret);
	bool time = at == WAIT || at == RUN || at == CPU_TIME || at == REQ_TIME || at == THINK || at == MEMORY;
	if (r == -EINVAL && time && !fth_parse_real(p, n, &x) && x > -1e15 && x < 1e15) {
		*ret = (int64_t)(x + (x < 0 ? -0.5 : 0.5));
		return 0;
	}
	if (r)
		return swf_fail(s, err, "%s (field %d): '%.*s' is not a %snumber", names[at], at + 1, (int)FTH_MIN(n, (size_t)40),
				p, time ? "" : "whole ");
	if (*ret < -1 && (at == RUN || at == PROCS || at == REQ_PROCS || at == REQ_TIME || at == SUBMIT))
		return swf_fail(s, err, "%s (field %d) is negative: %lld", names[at], at + 1, (long long)*ret);
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int split(struct swf *s, const char *p, int64_t field[NFIELDS], struct fth_error *err)
{
	int n = 0;
	for (;; n++) {
		while (is_space(*p))
			p++;
		size_t len = 0;
		while (p[len] && !is_space(p[len]))
			len++;
		if (!len)
			break;
		if (n == NFIELDS)
			return swf_fail(s, err, "more than the %d fields of a job", NFIELDS);
		int r = parse_field(s, n, p, len, &field[n], err);
		if (r)
			return r;
		p += len;
	}
	if (n < NFIELDS)
		return swf_fail(s, err, "%d fields where a job has %d%s", n, NFIELDS,
				fth_input_cut(s->in) ? ": the file was cut off" : "");
	return 0;
}

static fth_kind_id kind_of(struct swf *s, int64_t app)
{
	uint64_t id;
	char label[32];
	if (fth_map_get(&s->kinds, (uint64_t)app + 1, &id))
		return (fth_kind_id)id;
	snprintf(label, sizeof(label), app >= 0 ? "app%lld" : "job", (long long)app);
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = {{0, (int64_t)s->node_cpus * 1000, 0}}};
	struct fth_kind k = {.label = fth_sym_intern(s->w->syms, label),
			     .klass = fth_sym_intern(s->w->syms, "parallel"),
			     .nalts = 1,
			     .alts = &alt};
	id = fth_kinds_intern(s->w->kinds, &k);
	fth_map_put(&s->kinds, (uint64_t)app + 1, id);
	return (fth_kind_id)id;
}

/* prefix and number; at least 0 */
static fth_sym name_of(struct swf *s, const char *prefix, int64_t number)
{
	char text[32], *p = text + sizeof(text);
	do
		*--p = (char)('0' + number % 10);
	while (number /= 10);
	size_t n = strlen(prefix);
	p -= n;
	memcpy(p, prefix, n);
	return fth_sym_internn(s->w->syms, p, (size_t)(text + sizeof(text) - p));
}

static int read_job(struct swf *s, const char *line, struct fth_error *err)
{
	int64_t f[NFIELDS], max = FTH_TRACE_TIME_MAX / FTH_SEC;
	int r = split(s, line, f, err);
	if (r)
		return r;
	s->rows++;
	int64_t procs = f[REQ_PROCS] > 0 ? f[REQ_PROCS] : f[PROCS];
	if (f[JOB] < 0 || f[SUBMIT] < 0)
		return swf_fail(s, err, "a job without %s", f[JOB] < 0 ? "number" : "submit time");
	if (procs <= 0 || f[RUN] <= 0) {
		s->left_out++;
		return 0;
	}
	if (f[SUBMIT] > max || f[RUN] > max || f[REQ_TIME] > max)
		return swf_fail(s, err, "times beyond a thousand years");
	int64_t nodes = (procs - 1) / s->node_cpus + 1;
	if (nodes > FTH_TRACE_TASKS_MAX)
		return swf_fail(s, err, "%lld nodes: no cluster gets wider than %d", (long long)nodes, FTH_TRACE_TASKS_MAX);
	struct fth_job_spec j = {.kind = FTH_JOB_RIGID, .deadline = FTH_NEVER, .submit = f[SUBMIT] * FTH_SEC};
	struct fth_task_group g = {.kind = kind_of(s, f[APP]), .count = (uint32_t)nodes, .work = f[RUN] * FTH_SEC,
				   .first_own = FTH_NONE};
	j.line = (uint32_t)fth_input_line(s->in);
	j.estimate = FTH_MAX(f[REQ_TIME], f[RUN]) * FTH_SEC;
	j.key = name_of(s, "", f[JOB]);
	j.user = f[USER] >= 0 ? name_of(s, "user", f[USER]) : 0;
	if (fth_workload_add(s->w, &j, &g, 1))
		return swf_fail(s, err, "job %lld twice", (long long)f[JOB]);
	return 0;
}

static void note_left_out(struct swf *s)
{
	char text[160];
	if (!s->left_out)
		return;
	snprintf(text, sizeof(text), "Left out: %llu of %llu jobs, without runtime or processors", (unsigned long long)s->left_out,
		 (unsigned long long)s->rows);
	fth_vec_push(&s->w->notes, fth_sym_intern(s->w->syms, text));
}

int fth_read_swf(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err)
{
	struct swf s = {.w = w, .in = in, .node_cpus = FTH_MAX(o->node_cpus, 1u)};
	char *line;
	size_t len;
	int r;
	while ((r = fth_input_next(in, &line, &len, err)) > 0) {
		const char *p = line + strspn(line, " \t\r");
		if (*p == ';')
			read_comment(&s, p);
		else if (*p)
			r = read_job(&s, p, err);
		if (r < 0)
			break;
	}
	if (!r && !w->jobs.len)
		r = fth_fail_at(err, -EINVAL, fth_input_name(in), FTH_MAX(fth_input_line(in), (uint64_t)1), "no job in it that ran");
	if (!r)
		note_left_out(&s);
	fth_map_release(&s.kinds);
	return r;
}
