/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads as Eva's program has them: its JSON, and a flat CSV of the same. */
#include "trace/classes.h"
#include "trace/csv.h"
#include "trace/doc.h"
#include "trace/readers.h"

enum { RATE_MAX = 1000000000 };

/* Merge tasks of the same kind that follow one another. */
struct groups {
	FTH_VEC(struct fth_task_group) list;
};

static void add_task(struct groups *g, fth_kind_id kind, fth_time work)
{
	if (g->list.len && fth_vec_last(&g->list).kind == kind)
		fth_vec_last(&g->list).count++;
	else
		fth_vec_push(&g->list, ((struct fth_task_group){kind, 1, work, FTH_NONE}));
}

/* ---- JSON ---- */

static const char *const job_keys[] = {"name", "arrival_time", "duration", "init_delay", "full_throughput",
				       "total_iters", "support_throughput_aware", "tasks", NULL};
static const char *const task_keys[] = {"name", "demand", "shm_size", "image_id", "fetch_delay",
					"build_image_delay", "kill_delay", "upload_delay", "dir",
					"download_exclude_list", "full_throughput", NULL};

struct json_job {
	struct fth_doc *d;
	struct fth_workload *w;
	const char *name;
	fth_time init;
	fth_time work;
	bool several;
	struct groups groups;
};

static int read_alts(struct json_job *j, json_t *demand, struct fth_alt *alts, uint32_t *n, struct fth_error *err)
{
	const char *family;
	json_t *value;
	struct fth_alt any = {.speed_ppm = 1000000};
	bool has_any = false;
	*n = 0;
	if (!json_object_size(demand) || json_object_size(demand) > 64)
		return fth_doc_fail(j->d, err, "demand: 1 to 64 families are needed");
	json_object_foreach(demand, family, value) {
		struct fth_alt a = {.speed_ppm = 1000000};
		int e = fth_doc_demand(j->d, demand, family, &a.demand, err);
		if (e)
			return e;
		if (!strcmp(family, "any")) {
			any = a;
			has_any = true;
			continue;
		}
		a.family = fth_sym_intern(j->w->syms, family);
		alts[(*n)++] = a;
	}
	if (has_any)
		alts[(*n)++] = any;
	return 0;
}

static int read_image(struct json_job *j, json_t *task, struct fth_kind *k, struct fth_error *err)
{
	int64_t id;
	if (!json_object_get(task, "image_id")) {
		k->image = k->klass;
		return 0;
	}
	int e = fth_doc_int(j->d, task, "image_id", 0, INT32_MAX, &id, err);
	if (e)
		return e;
	char image[32];
	snprintf(image, sizeof(image), "image-%lld", (long long)id);
	k->image = fth_sym_intern(j->w->syms, image);
	return 0;
}

static int read_task(struct json_job *j, json_t *task, struct fth_error *err)
{
	struct fth_alt alts[65];
	struct fth_kind k = {.alts = alts, .klass = fth_label_class(j->w->syms, j->name), .delays.init = j->init};
	const char *name;
	json_t *demand;
	int e = fth_doc_known(j->d, task, task_keys, err);
	if (e || (e = fth_doc_string(j->d, task, "name", &name, err)) ||
	    (e = fth_doc_seconds(j->d, task, "fetch_delay", &k.delays.fetch, err)) ||
	    (e = fth_doc_seconds(j->d, task, "build_image_delay", &k.delays.setup, err)) ||
	    (e = fth_doc_seconds(j->d, task, "kill_delay", &k.delays.stop, err)) ||
	    (e = fth_doc_seconds(j->d, task, "upload_delay", &k.delays.save, err)) ||
	    (e = read_image(j, task, &k, err)) ||
	    (e = fth_doc_get(j->d, task, "demand", JSON_OBJECT, &demand, err)))
		return e;
	fth_doc_enter(j->d, "demand");
	e = read_alts(j, demand, alts, &k.nalts, err);
	fth_doc_leave(j->d);
	if (e)
		return e;
	struct fth_str label = {0};
	fth_str_add(&label, j->name);
	if (j->several)
		fth_str_addf(&label, "_%s", name);
	k.label = fth_sym_intern(j->w->syms, label.data);
	fth_str_release(&label);
	add_task(&j->groups, fth_kinds_intern(j->w->kinds, &k), j->work);
	return 0;
}

static int read_tasks(struct json_job *j, json_t *tasks, struct fth_error *err)
{
	const char *id;
	json_t *task;
	int e = 0;
	size_t n = json_object_size(tasks);
	if (!n || n > FTH_TRACE_TASKS_MAX)
		return fth_doc_fail(j->d, err, "tasks: 1 to %d are needed", FTH_TRACE_TASKS_MAX);
	j->several = n > 1;
	fth_vec_clear(&j->groups.list);
	json_object_foreach(tasks, id, task) {
		fth_doc_enter(j->d, id);
		e = json_is_object(task) ? read_task(j, task, err) : fth_doc_fail(j->d, err, "task %.60s: not an object", id);
		fth_doc_leave(j->d);
		if (e)
			break;
	}
	return e;
}

static int read_job(struct json_job *j, const char *id, json_t *job, uint32_t line, struct fth_error *err)
{
	struct fth_job_spec spec = {.deadline = FTH_NEVER, .line = line};
	json_t *tasks;
	int e = fth_doc_known(j->d, job, job_keys, err);
	if (e || (e = fth_doc_string(j->d, job, "name", &j->name, err)) ||
	    (e = fth_doc_seconds(j->d, job, "arrival_time", &spec.submit, err)) ||
	    (e = fth_doc_seconds(j->d, job, "duration", &j->work, err)) ||
	    (e = fth_doc_seconds(j->d, job, "init_delay", &j->init, err)) ||
	    (e = fth_doc_real(j->d, job, "full_throughput", 0, RATE_MAX, &spec.iter_rate, err)) ||
	    (e = fth_doc_int(j->d, job, "total_iters", 0, FTH_TRACE_ITERS_MAX, &spec.iters, err)) ||
	    (e = fth_doc_get(j->d, job, "tasks", JSON_OBJECT, &tasks, err)))
		return e;
	const char *wrong = fth_iterations_wrong(spec.iters, spec.iter_rate);
	if (wrong)
		return fth_doc_fail(j->d, err, "job %.60s: %s", id, wrong);
	fth_doc_enter(j->d, "tasks");
	e = read_tasks(j, tasks, err);
	fth_doc_leave(j->d);
	if (e)
		return e;
	spec.key = fth_sym_intern(j->w->syms, id);
	spec.kind = j->several ? FTH_JOB_COUPLED : FTH_JOB_INDEPENDENT;
	if (!spec.key || fth_workload_add(j->w, &spec, j->groups.list.data, (uint32_t)j->groups.list.len))
		return fth_doc_fail(j->d, err, "job '%.60s': empty or repeated id", id);
	return 0;
}

int fth_read_eva_json(struct fth_workload *w, struct fth_input *in, struct fth_error *err)
{
	struct fth_doc d;
	struct json_job j = {.d = &d, .w = w};
	const char *id;
	json_t *job;
	uint32_t *lines = NULL;
	size_t i = 0;
	int e = fth_doc_read(&d, in, err);
	if (!e && !json_object_size(d.root))
		e = fth_fail_at(err, -EINVAL, d.file, 1, "no job in it");
	if (!e) {
		lines = fth_doc_member_lines(&d, NULL, json_object_size(d.root));
		json_object_foreach(d.root, id, job) {
			fth_doc_enter(&d, id);
			e = json_is_object(job) ? read_job(&j, id, job, lines[i], err)
						: fth_doc_fail(&d, err, "job %.60s: not an object", id);
			fth_doc_leave(&d);
			if (e)
				break;
			i++;
		}
	}
	w->step = FTH_SEC;
	free(lines);
	fth_vec_release(&j.groups.list);
	fth_doc_release(&d);
	return e;
}

/* ---- CSV ---- */

enum { JOB_ID, ARRIVAL, DURATION, GPU, CPU, RAM, WORKLOAD, INIT, RATE, FETCH, BUILD, KILL, UPLOAD };
static const struct fth_csv_column columns[] = {
	[JOB_ID] = {"job_id", true},       [ARRIVAL] = {"arrival_s", true},
	[DURATION] = {"duration_s", true}, [GPU] = {"gpu", true},
	[CPU] = {"cpu", true},             [RAM] = {"ram_gb", true},
	[WORKLOAD] = {"workload", true},   [INIT] = {"init_delay", true},
	[RATE] = {"full_throughput", true}, [FETCH] = {"fetch_delay", true},
	[BUILD] = {"build_image_delay", true}, [KILL] = {"kill_delay", true},
	[UPLOAD] = {"upload_delay", true},
};

static int cell_seconds(struct fth_csv *csv, int column, fth_time *ret, struct fth_error *err)
{
	int64_t s;
	int e = fth_csv_int(csv, column, 0, FTH_TRACE_TIME_MAX / FTH_SEC, &s, err);
	if (!e)
		*ret = s * FTH_SEC;
	return e;
}

static int cell_amount(struct fth_csv *csv, int column, int64_t scale, int64_t *ret, struct fth_error *err)
{
	double x;
	int e = fth_csv_real(csv, fth_csv_cell(csv, column), columns[column].name, 0, 1e9, &x, err);
	if (!e)
		*ret = (int64_t)(x * (double)scale + 0.5);
	return e;
}

static int csv_kind(struct fth_workload *w, struct fth_csv *csv, fth_kind_id *ret, struct fth_error *err)
{
	const char *label = fth_csv_cell(csv, WORKLOAD);
	struct fth_alt alt = {.speed_ppm = 1000000};
	struct fth_kind k = {.label = fth_sym_intern(w->syms, label),
			     .klass = fth_label_class(w->syms, label),
			     .nalts = 1,
			     .alts = &alt};
	k.image = k.klass;
	if (!k.klass)
		return fth_csv_fail(csv, err, "workload is empty");
	int e;
	if ((e = cell_seconds(csv, FETCH, &k.delays.fetch, err)) || (e = cell_seconds(csv, BUILD, &k.delays.setup, err)) ||
	    (e = cell_seconds(csv, INIT, &k.delays.init, err)) || (e = cell_seconds(csv, KILL, &k.delays.stop, err)) ||
	    (e = cell_seconds(csv, UPLOAD, &k.delays.save, err)) ||
	    (e = cell_amount(csv, GPU, 1000, &alt.demand.v[FTH_GPU], err)) ||
	    (e = cell_amount(csv, CPU, 1000, &alt.demand.v[FTH_CPU], err)) ||
	    (e = cell_amount(csv, RAM, 1024, &alt.demand.v[FTH_MEM], err)))
		return e;
	*ret = fth_kinds_intern(w->kinds, &k);
	return 0;
}

static int csv_job(struct fth_workload *w, struct fth_csv *csv, struct fth_error *err)
{
	struct fth_task_group g = {.count = 1, .first_own = FTH_NONE};
	struct fth_job_spec j = {.deadline = FTH_NEVER, .line = (uint32_t)fth_input_line(csv->in)};
	double rate;
	int e;
	if ((e = csv_kind(w, csv, &g.kind, err)) || (e = cell_seconds(csv, ARRIVAL, &j.submit, err)) ||
	    (e = cell_seconds(csv, DURATION, &g.work, err)) ||
	    (e = fth_csv_real(csv, fth_csv_cell(csv, RATE), "full_throughput", 0, RATE_MAX, &rate, err)))
		return e;
	/* Six digits were printed; a whole number of iterations needs them all. */
	j.iter_rate = fth_class_exact_rate(fth_sym_str(w->syms, w->kinds->list.data[g.kind].klass), rate);
	j.iters = fth_class_iters(g.work, j.iter_rate);
	const char *wrong = fth_iterations_wrong(j.iters, j.iter_rate);
	if (wrong)
		return fth_csv_fail(csv, err, "%s", wrong);
	const char *id = fth_csv_cell(csv, JOB_ID);
	j.key = fth_sym_intern(w->syms, id);
	if (!j.key)
		return fth_csv_fail(csv, err, "job_id is empty");
	if (fth_workload_add(w, &j, &g, 1))
		return fth_csv_fail(csv, err, "job_id %.60s twice", id);
	return 0;
}

int fth_read_eva_csv(struct fth_workload *w, struct fth_input *in, struct fth_error *err)
{
	struct fth_csv csv;
	int e = fth_csv_open(&csv, in, columns, FTH_COUNT(columns), err);
	while (!e && (e = fth_csv_next(&csv, err)) > 0)
		e = csv_job(w, &csv, err);
	if (!e && !w->jobs.len)
		e = fth_csv_fail(&csv, err, "no job in it");
	w->step = FTH_SEC;
	fth_csv_release(&csv);
	return e;
}
