/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm's accounting as `sacct --parsable2 --format=...` prints it: columns by name, parted by '|', in any
 * order; what we do not use may be there too. A row is a rigid job.
 *
 * Rules: steps (12.batch, 12.0) are parts of their job and left out; each task of an array (12_3) is a job;
 * what still waits or runs, or never ran, is left out and counted; cancelled, failed and node-failed jobs
 * ran for as long as they did. A requeued job has several rows with one id: the later ones get "#2", "#3".
 * Times are taken as UTC, and the run's clock begins with the first submission.
 */
#include "trace/readers.h"

enum { JOB_ID, USER, ACCOUNT, JOB_NAME, SUBMIT, ELAPSED, ELAPSED_RAW, TIMELIMIT, TIMELIMIT_RAW, NNODES, REQ_NODES, NCPUS,
       REQ_CPUS, REQ_TRES, ALLOC_TRES, STATE, PRIORITY, NCOLUMNS };
static const char *const names[NCOLUMNS] = {"JobID", "User", "Account", "JobName", "Submit", "Elapsed", "ElapsedRaw", "Timelimit",
	"TimelimitRaw", "NNodes", "ReqNodes", "NCPUS", "ReqCPUS", "ReqTRES", "AllocTRES", "State", "Priority"};

enum { CELLS_MAX = 512 };

struct sacct {
	struct fth_workload *w;
	struct fth_input *in;
	uint32_t node_cpus;
	int at[NCOLUMNS];        /* column -> cell; -1: not there */
	char *cells[CELLS_MAX];
	size_t width, ncells;
	uint64_t rows, steps, left_out;
	fth_time first;
};

#define sacct_fail(s, err, ...) \
	fth_fail_at(err, -EINVAL, fth_input_name((s)->in), FTH_MAX(fth_input_line((s)->in), (uint64_t)1), __VA_ARGS__)

static int split(struct sacct *s, char *p, struct fth_error *err)
{
	p[strcspn(p, "\r")] = '\0';
	for (s->ncells = 0;; p++) {
		if (s->ncells == CELLS_MAX)
			return sacct_fail(s, err, "more than %d columns", CELLS_MAX);
		s->cells[s->ncells++] = p;
		p += strcspn(p, "|");
		if (!*p)
			return 0;
		*p = '\0';
	}
}

static const char *cell(const struct sacct *s, int column)
{
	return s->at[column] < 0 ? "" : s->cells[s->at[column]];
}

static int read_header(struct sacct *s, struct fth_error *err)
{
	for (int k = 0; k < NCOLUMNS; k++) {
		s->at[k] = -1;
		for (size_t i = 0; i < s->ncells; i++)
			if (!strcmp(s->cells[i], names[k]))
				s->at[k] = (int)i;
	}
	s->width = s->ncells;
	if (s->at[JOB_ID] < 0 || s->at[SUBMIT] < 0)
		return sacct_fail(s, err, "column '%s' is missing", s->at[JOB_ID] < 0 ? "JobID" : "Submit");
	if (s->at[ELAPSED] < 0 && s->at[ELAPSED_RAW] < 0)
		return sacct_fail(s, err, "column 'Elapsed' is missing");
	if (s->at[NNODES] < 0 && s->at[REQ_NODES] < 0 && s->at[REQ_TRES] < 0 && s->at[ALLOC_TRES] < 0 && s->at[NCPUS] < 0 &&
	    s->at[REQ_CPUS] < 0)
		return sacct_fail(s, err, "a column that tells a job's size is missing: ReqTRES, NNodes, NCPUS");
	return 0;
}

/* ---- values ---- */

/* [DD-[HH:]]MM:SS[.mmm], as sacct prints durations; -EINVAL. With days, what follows them begins with hours. */
static int parse_elapsed(const char *p, fth_time *ret)
{
	int64_t days = 0, part[3] = {0};
	const char *dash = strchr(p, '-');
	int n = 0;
	if (dash) {
		if (fth_parse_i64(p, (size_t)(dash - p), &days))
			return -EINVAL;
		p = dash + 1;
	}
	for (;; p++) {
		size_t len = strcspn(p, ":.");
		if (n == 3 || fth_parse_i64(p, len, &part[n]) || part[n] < 0 || part[n] > 100000000)
			return -EINVAL;
		n++;
		p += len;
		if (*p != ':')
			break;
	}
	if (days < 0 || days > 400000 || (n == 1 && !dash))
		return -EINVAL;
	/* Only what comes first may be more than a clock shows. */
	for (int i = dash ? 0 : 1; i < n; i++)
		if (part[i] > (dash && !i ? 23 : 59))
			return -EINVAL;
	int64_t s = dash ? part[0] * 3600 + part[1] * 60 + part[2]
		    : n == 3 ? part[0] * 3600 + part[1] * 60 + part[2]
			     : part[0] * 60 + part[1];
	*ret = (days * 86400 + s) * FTH_SEC;
	return 0;
}

static int read_elapsed(struct sacct *s, fth_time *ret, struct fth_error *err)
{
	const char *p = cell(s, ELAPSED);
	int64_t raw;
	if (s->at[ELAPSED_RAW] >= 0) {
		p = cell(s, ELAPSED_RAW);
		if (fth_parse_i64(p, strlen(p), &raw) || raw < 0 || raw > FTH_TRACE_TIME_MAX / FTH_SEC)
			return sacct_fail(s, err, "ElapsedRaw '%.40s' is not a number of seconds", p);
		*ret = raw * FTH_SEC;
		return 0;
	}
	return parse_elapsed(p, ret) ? sacct_fail(s, err, "Elapsed '%.40s' is not a duration such as 1-02:03:04", p) : 0;
}

/* 0: no limit, or none told. */
static int read_limit(struct sacct *s, fth_time *ret, struct fth_error *err)
{
	const char *p = cell(s, TIMELIMIT);
	int64_t minutes;
	*ret = 0;
	if (s->at[TIMELIMIT_RAW] >= 0) {
		p = cell(s, TIMELIMIT_RAW);
		if (!*p || !strcmp(p, "UNLIMITED") || !strcmp(p, "Partition_Limit"))
			return 0;
		if (fth_parse_i64(p, strlen(p), &minutes) || minutes < 0 || minutes > FTH_TRACE_TIME_MAX / FTH_MINUTE)
			return sacct_fail(s, err, "TimelimitRaw '%.40s' is not a number of minutes", p);
		*ret = minutes * FTH_MINUTE;
		return 0;
	}
	if (!*p || !strcmp(p, "UNLIMITED") || !strcmp(p, "Partition_Limit"))
		return 0;
	return parse_elapsed(p, ret) ? sacct_fail(s, err, "Timelimit '%.40s' is not a duration such as 1-02:03:04", p) : 0;
}

/* The count of one resource in "cpu=64,mem=8G,node=2,gres/gpu=4", unless one is known; as it was: not named. */
static int tres(struct sacct *s, int column, const char *name, int64_t *count, struct fth_error *err)
{
	size_t n = strlen(name);
	for (const char *p = cell(s, column); *p && *count <= 0;) {
		size_t len = strcspn(p, ",");
		if (len > n && !memcmp(p, name, n) && p[n] == '=' && (fth_parse_i64(p + n + 1, len - n - 1, count) || *count < 0))
			return sacct_fail(s, err, "%s: '%.*s' is not a count", names[column], (int)FTH_MIN(len, (size_t)40), p);
		p += len + (p[len] == ',');
	}
	return 0;
}

/* The first of these columns that tells a count above 0; -EINVAL if one is not a number. */
static int count_in(struct sacct *s, const int *columns, size_t n, int64_t *ret, struct fth_error *err)
{
	for (size_t i = 0; i < n && *ret <= 0; i++) {
		const char *p = cell(s, columns[i]);
		if (*p && (fth_parse_i64(p, strlen(p), ret) || *ret < 0))
			return sacct_fail(s, err, "%s '%.40s' is not a count", names[columns[i]], p);
	}
	return 0;
}

/* Processors decide, since nodes of a cloud are not the site's; its nodes only where they are all there is. */
static int read_size(struct sacct *s, int64_t *ret_nodes, int64_t *ret_gpus, struct fth_error *err)
{
	static const int cpu_columns[] = {REQ_CPUS, NCPUS}, node_columns[] = {REQ_NODES, NNODES}, lists[] = {REQ_TRES, ALLOC_TRES};
	int64_t cpus = -1, nodes = -1, gpus = -1;
	int r = 0;
	for (int i = 0; i < 2 && !r; i++) {
		r = tres(s, lists[i], "cpu", &cpus, err);
		if (!r)
			r = tres(s, lists[i], "node", &nodes, err);
		if (!r)
			r = tres(s, lists[i], "gres/gpu", &gpus, err);
	}
	if (!r)
		r = count_in(s, cpu_columns, 2, &cpus, err);
	if (!r)
		r = count_in(s, node_columns, 2, &nodes, err);
	if (r)
		return r;
	if (cpus > 0)
		nodes = (cpus - 1) / s->node_cpus + 1;
	if (nodes > FTH_TRACE_TASKS_MAX)
		return sacct_fail(s, err, "%lld nodes: no cluster gets wider than %d", (long long)nodes, FTH_TRACE_TASKS_MAX);
	*ret_nodes = FTH_MAX(nodes, 0);
	*ret_gpus = nodes > 0 && gpus > 0 ? FTH_MIN((gpus - 1) / nodes + 1, 10000) : 0;
	return 0;
}

/* ---- rows ---- */

static bool never_ran(const struct sacct *s)
{
	static const char *const states[] = {"PENDING", "RUNNING", "REQUEUED", "SUSPENDED", "CONFIGURING", "RESIZING"};
	for (size_t i = 0; i < FTH_COUNT(states); i++)
		if (!strncmp(cell(s, STATE), states[i], strlen(states[i])))
			return true;
	const char *submit = cell(s, SUBMIT);
	return !*submit || !strcmp(submit, "Unknown") || !strcmp(submit, "None") || strchr(cell(s, JOB_ID), '[');
}

static fth_kind_id kind_of(struct sacct *s, int64_t gpus)
{
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = {{gpus * 1000, (int64_t)s->node_cpus * 1000, 0}}};
	const char *label = cell(s, JOB_NAME);
	struct fth_kind k = {.label = fth_sym_intern(s->w->syms, *label ? label : "job"),
			     .klass = fth_sym_intern(s->w->syms, "parallel"),
			     .nalts = 1,
			     .alts = &alt};
	return fth_kinds_intern(s->w->kinds, &k);
}

/* A requeued job's later lives have its id too. */
static int add_job(struct sacct *s, struct fth_job_spec *j, const struct fth_task_group *g, struct fth_error *err)
{
	char key[128];
	for (int life = 1; life < 10000; life++) {
		snprintf(key, sizeof(key), life == 1 ? "%.100s" : "%.100s#%d", cell(s, JOB_ID), life);
		j->key = fth_sym_intern(s->w->syms, key);
		if (!fth_workload_add(s->w, j, g, 1))
			return 0;
	}
	return sacct_fail(s, err, "job %.60s ten thousand times", cell(s, JOB_ID));
}

static int read_row(struct sacct *s, struct fth_error *err)
{
	struct fth_job_spec j = {.kind = FTH_JOB_RIGID, .deadline = FTH_NEVER, .line = (uint32_t)fth_input_line(s->in)};
	struct fth_task_group g = {.first_own = FTH_NONE};
	int64_t nodes = 0, gpus = 0, priority;
	const char *submit = cell(s, SUBMIT);
	if (s->ncells != s->width)
		return sacct_fail(s, err, "%zu columns where the header has %zu", s->ncells, s->width);
	if (!*cell(s, JOB_ID))
		return sacct_fail(s, err, "JobID is empty");
	if (strchr(cell(s, JOB_ID), '.')) {
		s->steps++;
		return 0;
	}
	s->rows++;
	if (never_ran(s)) {
		s->left_out++;
		return 0;
	}
	if (fth_parse_when(submit, strlen(submit), &j.submit) || j.submit < 0 || j.submit > FTH_TRACE_TIME_MAX)
		return sacct_fail(s, err, "Submit '%.40s' is not a time such as 2024-03-01T12:30:00", submit);
	int r = read_elapsed(s, &g.work, err);
	if (!r)
		r = read_limit(s, &j.estimate, err);
	if (!r)
		r = read_size(s, &nodes, &gpus, err);
	if (r)
		return r;
	if (!nodes || !g.work) {
		s->left_out++;
		return 0;
	}
	j.estimate = FTH_MAX(j.estimate, g.work);
	j.user = fth_sym_intern(s->w->syms, cell(s, USER));
	const char *p = cell(s, PRIORITY);
	if (*p && !fth_parse_i64(p, strlen(p), &priority) && priority >= 0)
		j.priority = (int32_t)FTH_MIN(priority, INT32_MAX);
	g.kind = kind_of(s, gpus);
	g.count = (uint32_t)nodes;
	s->first = FTH_MIN(s->first, j.submit);
	return add_job(s, &j, &g, err);
}

static void finish(struct sacct *s)
{
	char text[160];
	s->w->epoch = s->first;
	for (size_t i = 0; i < s->w->jobs.len; i++)
		s->w->jobs.data[i].submit -= s->first;
	if (!s->left_out)
		return;
	snprintf(text, sizeof(text), "Left out: %llu of %llu jobs that did not run, or have not ended",
		 (unsigned long long)s->left_out, (unsigned long long)s->rows);
	fth_vec_push(&s->w->notes, fth_sym_intern(s->w->syms, text));
}

int fth_read_sacct(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err)
{
	struct sacct s = {.w = w, .in = in, .node_cpus = FTH_MAX(o->node_cpus, 1u), .first = FTH_NEVER};
	char *line;
	size_t len;
	int r;
	while ((r = fth_input_next(in, &line, &len, err)) > 0) {
		if (!*line || *line == '\r')
			continue;
		r = split(&s, line, err);
		if (!r)
			r = s.width ? read_row(&s, err) : read_header(&s, err);
		if (r < 0)
			break;
	}
	if (!r && !w->jobs.len)
		r = sacct_fail(&s, err, "no job in it that ran");
	if (!r)
		finish(&s);
	return r;
}
