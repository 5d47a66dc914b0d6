/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of batch clusters with CPU and memory demands: Alibaba 2017 as one row per group of equal instances,
 * and Google 2011 task_events. Demands are told as shares of a machine; machines are taken to have 64 CPUs and
 * 256 GiB, as Stratus' evaluation does.
 */
#include <math.h>

#include "trace/csv.h"
#include "trace/generate.h"
#include "trace/readers.h"

enum { MACHINE_CPUS = 64, MACHINE_GIB = 256 };

static fth_kind_id kind_of(struct fth_workload *w, double cpus, double gib)
{
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = (int64_t)ceil(cpus * 1000);
	alt.demand.v[FTH_MEM] = (int64_t)ceil(gib * 1024);
	struct fth_kind k = {.nalts = 1, .alts = &alt};
	return fth_kinds_intern(w->kinds, &k);
}

/* ---- Alibaba 2017: ,submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk ---- */

enum { INDEX, SUBMIT, DURATION, CPU, MEMORY, JOB, TASK, INSTANCES, DISK };
static const struct fth_csv_column ali_columns[] = {
	[INDEX] = {"", true},       [SUBMIT] = {"submit_time", true}, [DURATION] = {"duration", true},
	[CPU] = {"cpu", true},      [MEMORY] = {"memory", true},      [JOB] = {"job_id", true},
	[TASK] = {"task_id", true}, [INSTANCES] = {"instances_num", true}, [DISK] = {"disk", false},
};

static int ali_row(struct fth_workload *w, struct fth_csv *csv, struct fth_error *err)
{
	double submit, duration, cpu, memory;
	int64_t n;
	int e;
	if ((e = fth_csv_real(csv, fth_csv_cell(csv, SUBMIT), "submit_time", 0, 1e10, &submit, err)) ||
	    (e = fth_csv_real(csv, fth_csv_cell(csv, DURATION), "duration", 0, 1e10, &duration, err)) ||
	    (e = fth_csv_real(csv, fth_csv_cell(csv, CPU), "cpu", 0, 1e6, &cpu, err)) ||
	    (e = fth_csv_real(csv, fth_csv_cell(csv, MEMORY), "memory", 0, 1, &memory, err)) ||
	    (e = fth_csv_int(csv, INSTANCES, 1, FTH_TRACE_TASKS_MAX, &n, err)))
		return e;
	char key[160];
	snprintf(key, sizeof(key), "j%.60s.%.60s", fth_csv_cell(csv, JOB), fth_csv_cell(csv, TASK));
	struct fth_task_group g = {.kind = kind_of(w, cpu, memory * MACHINE_GIB),
				   .count = (uint32_t)n,
				   .work = (fth_time)(duration * 1e6),
				   .first_own = FTH_NONE};
	struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key),
				 .submit = (fth_time)(submit * 1e6),
				 .deadline = FTH_NEVER,
				 .line = (uint32_t)fth_input_line(csv->in)};
	if (fth_workload_add(w, &j, &g, 1))
		return fth_csv_fail(csv, err, "task %s of job %s twice", fth_csv_cell(csv, TASK), fth_csv_cell(csv, JOB));
	return 0;
}

int fth_read_alibaba_2017(struct fth_workload *w, struct fth_input *in, struct fth_error *err)
{
	struct fth_csv csv;
	int e = fth_csv_open(&csv, in, ali_columns, FTH_COUNT(ali_columns), err);
	while (!e && (e = fth_csv_next(&csv, err)) > 0)
		e = ali_row(w, &csv, err);
	if (!e && !w->jobs.len)
		e = fth_csv_fail(&csv, err, "no job in it");
	fth_csv_release(&csv);
	return e;
}

/* ---- Google 2011 task_events: no header, thirteen columns ---- */

enum { G_TIME, G_MISSING, G_JOB, G_TASK, G_MACHINE, G_EVENT, G_USER, G_CLASS, G_PRIORITY, G_CPU, G_MEM, G_DISK, G_APART, G_N };
enum { G_SUBMIT = 0, G_SCHEDULE = 1, G_FINISH = 4 };

struct google_task {
	int64_t job, index;
	fth_time began;  /* scheduled; -1 not yet */
	fth_time worked; /* of the run that finished; -1 none */
	fth_kind_id kind;
};

struct google {
	struct fth_csv csv;
	struct fth_workload *w;
	struct fth_map tasks; /* (job, index) -> list */
	FTH_VEC(struct google_task) list;
	int64_t last; /* time of the row before */
	struct fth_map jobs; /* job -> index into specs */
	FTH_VEC(struct google_job {
		struct fth_job_spec spec;
		uint32_t unfinished;
	}) specs;
};

static int g_int(struct google *g, int column, int64_t *ret, struct fth_error *err)
{
	const char *cell = g->csv.cells[column];
	if (!*cell) {
		*ret = 0;
		return 0;
	}
	if (fth_parse_i64(cell, strlen(cell), ret) || *ret < 0)
		return fth_csv_fail(&g->csv, err, "column %d: '%.40s' is not a whole number", column + 1, cell);
	return 0;
}

static int g_share(struct google *g, int column, double *ret, struct fth_error *err)
{
	const char *cell = g->csv.cells[column];
	*ret = 0;
	return *cell ? fth_csv_real(&g->csv, cell, column == G_CPU ? "CPU request" : "memory request", 0, 1, ret, err) : 0;
}

static struct google_job *g_job(struct google *g, int64_t id, fth_time time)
{
	uint64_t at;
	if (!fth_map_get(&g->jobs, (uint64_t)id, &at)) {
		char key[32];
		snprintf(key, sizeof(key), "%lld", (long long)id);
		at = g->specs.len;
		fth_map_put(&g->jobs, (uint64_t)id, at);
		struct google_job j = {.spec = {.key = fth_sym_intern(g->w->syms, key), .submit = time, .deadline = FTH_NEVER}};
		j.spec.line = (uint32_t)fth_input_line(g->csv.in);
		fth_vec_push(&g->specs, j);
	}
	return &g->specs.data[at];
}

static int g_submit(struct google *g, int64_t time, int64_t job, int64_t index, struct fth_error *err)
{
	double cpu, mem;
	int64_t priority, apart;
	int e;
	if ((e = g_share(g, G_CPU, &cpu, err)) || (e = g_share(g, G_MEM, &mem, err)) ||
	    (e = g_int(g, G_PRIORITY, &priority, err)) || (e = g_int(g, G_APART, &apart, err)))
		return e;
	struct google_job *j = g_job(g, job, time);
	j->spec.priority = (int32_t)FTH_MIN(priority, 1000);
	if (*g->csv.cells[G_USER])
		j->spec.user = fth_sym_intern(g->w->syms, g->csv.cells[G_USER]);
	if (apart)
		j->spec.anti_affinity = j->spec.key;
	uint64_t key = fth_hash_u64((uint64_t)job) ^ (uint64_t)index;
	if (fth_map_get(&g->tasks, key, NULL))
		return 0; /* submitted again after it was evicted */
	fth_map_put(&g->tasks, key, g->list.len);
	fth_kind_id kind = kind_of(g->w, cpu * MACHINE_CPUS, mem * MACHINE_GIB);
	fth_vec_push(&g->list, ((struct google_task){job, index, -1, -1, kind}));
	return 0;
}

static int g_row(struct google *g, struct fth_error *err)
{
	int64_t time, job, index, event;
	int e;
	if (g->csv.ncells != G_N)
		return fth_csv_fail(&g->csv, err, "%zu columns where task_events has %d", g->csv.ncells, G_N);
	if ((e = g_int(g, G_TIME, &time, err)) || (e = g_int(g, G_JOB, &job, err)) || (e = g_int(g, G_TASK, &index, err)) ||
	    (e = g_int(g, G_EVENT, &event, err)))
		return e;
	time = FTH_MIN(time, FTH_TRACE_TIME_MAX);
	if (time < g->last)
		return fth_csv_fail(&g->csv, err, "time %lld after %lld: task_events are in order of time", (long long)time,
				    (long long)g->last);
	g->last = time;
	if (event == G_SUBMIT)
		return g_submit(g, time, job, index, err);
	uint64_t at;
	if (!fth_map_get(&g->tasks, fth_hash_u64((uint64_t)job) ^ (uint64_t)index, &at))
		return 0; /* it began before the trace */
	struct google_task *t = &g->list.data[at];
	if (event == G_SCHEDULE)
		t->began = time;
	else if (event == G_FINISH && t->began >= 0)
		t->worked = FTH_MAX(time - t->began, 1);
	return 0;
}

static int by_job(const void *a, const void *b)
{
	const struct google_task *x = a, *y = b;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void leave_note(struct fth_workload *w, size_t left_out, size_t all)
{
	char text[96];
	snprintf(text, sizeof(text), "Left out: %zu of %zu jobs, not seen from submission to end", left_out, all);
	fth_vec_push(&w->notes, fth_sym_intern(w->syms, text));
}

/* Only jobs all of whose tasks were seen from their submission to their end: the others are cut off by the
 * borders of the trace, failed, or run for ever. */
static int g_finish(struct google *g, struct fth_error *err)
{
	FTH_VEC(struct fth_task_group) groups = {0};
	size_t all = 0, left_out = 0;
	int e = 0;
	if (g->list.len)
		qsort(g->list.data, g->list.len, sizeof(*g->list.data), by_job);
	for (size_t k = 0; k < g->list.len && !e; all++) {
		int64_t job = g->list.data[k].job;
		struct fth_job_spec *spec = &g_job(g, job, 0)->spec;
		bool whole = spec->submit > 0; /* time 0: before the trace began */
		fth_vec_clear(&groups);
		for (; k < g->list.len && g->list.data[k].job == job; k++) {
			const struct google_task *t = &g->list.data[k];
			whole &= t->worked > 0;
			if (!groups.len || fth_vec_last(&groups).kind != t->kind)
				fth_vec_push(&groups, ((struct fth_task_group){.kind = t->kind,
									       .first_own = (uint32_t)g->w->works.len}));
			fth_vec_last(&groups).count++;
			fth_vec_push(&g->w->works, FTH_MAX(t->worked, 1));
		}
		if (whole)
			e = fth_workload_add(g->w, spec, groups.data, (uint32_t)groups.len);
		else
			left_out++;
	}
	if (!e && !g->w->jobs.len)
		e = fth_csv_fail(&g->csv, err, "no job in it that was seen from its submission to its end");
	if (!e && left_out)
		leave_note(g->w, left_out, all);
	fth_vec_release(&groups);
	return e;
}

int fth_read_google_tasks(struct fth_workload *w, struct fth_input *in, struct fth_error *err)
{
	struct google g = {.csv = {.in = in}, .w = w};
	int e;
	while ((e = fth_csv_split_next(&g.csv, err)) > 0)
		if ((e = g_row(&g, err)))
			break;
	if (!e)
		e = g_finish(&g, err);
	fth_csv_release(&g.csv);
	fth_map_release(&g.tasks);
	fth_map_release(&g.jobs);
	fth_vec_release(&g.list);
	fth_vec_release(&g.specs);
	return e;
}

/* ---- the migration model ---- */

void fth_vary_migration(struct fth_workload *w, double mbit_per_s)
{
	struct fth_map again = {0};
	for (size_t i = 0; i < w->groups.len; i++) {
		fth_kind_id *kind = &w->groups.data[i].kind;
		uint64_t made;
		if (!fth_map_get(&again, *kind, &made)) {
			struct fth_kind k = w->kinds->list.data[*kind];
			/* Bits of the footprint over bits a second. */
			double mib = (double)k.alts[k.nalts - 1].demand.v[FTH_MEM];
			k.delays = (struct fth_task_delays){.save = (fth_time)(mib * 1048576 * 8 / mbit_per_s)};
			made = fth_kinds_intern(w->kinds, &k);
			fth_map_put(&again, *kind, made);
		}
		*kind = (fth_kind_id)made;
	}
	fth_map_release(&again);
}
