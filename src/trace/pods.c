/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alibaba's openb_pod_list: every pod a job of one task. Demands are rounded up to whole GPUs, CPUs
 * and GiB, failed pods are left out, and each distinct demand gets a workload class of Table 7 by lot:
 * the rules by which Eva's traces were made. Lists without times get drawn arrivals and durations.
 */
#include "trace/classes.h"
#include "trace/csv.h"
#include "trace/draw.h"
#include "trace/readers.h"

enum { NAME, CPU_MILLI, MEMORY_MIB, NUM_GPU, GPU_MILLI, GPU_SPEC, QOS, PHASE, CREATED, DELETED, SCHEDULED };
static const struct fth_csv_column columns[] = {
	[NAME] = {"name", true},          [CPU_MILLI] = {"cpu_milli", true},
	[MEMORY_MIB] = {"memory_mib", true}, [NUM_GPU] = {"num_gpu", true},
	[GPU_MILLI] = {"gpu_milli", false}, [GPU_SPEC] = {"gpu_spec", false},
	[QOS] = {"qos", false},           [PHASE] = {"pod_phase", false},
	[CREATED] = {"creation_time", false}, [DELETED] = {"deletion_time", false},
	[SCHEDULED] = {"scheduled_time", false},
};

enum stream { STREAM_GAP = 1, STREAM_DURATION, STREAM_CLASS };

struct pods {
	struct fth_csv csv;
	struct fth_workload *w;
	const struct fth_import_options *o;
	struct fth_rng gaps, durations, classes;
	struct fth_map kinds;               /* hash of a demand -> kind */
	uint32_t per_class[FTH_NCLASSES];   /* demands so far */
	fth_time clock;
};

static fth_kind_id kind_of(struct pods *p, const struct fth_res *demand, size_t *ret_class)
{
	uint64_t key = fth_hash_bytes(demand, sizeof(*demand), 0), value;
	if (fth_map_get(&p->kinds, key, &value)) {
		*ret_class = value >> 32;
		return (fth_kind_id)value;
	}
	size_t at = (size_t)fth_rng_below(&p->classes, FTH_NCLASSES);
	const struct fth_class *c = &fth_classes[at];
	char label[64];
	snprintf(label, sizeof(label), "%s[%u]", c->name, p->per_class[at]++);
	struct fth_alt alt = {.speed_ppm = 1000000, .demand = *demand};
	struct fth_kind k = {.label = fth_sym_intern(p->w->syms, label),
			     .klass = fth_sym_intern(p->w->syms, c->name),
			     .delays = fth_class_delays(c),
			     .nalts = 1,
			     .alts = &alt};
	k.image = k.klass;
	fth_kind_id id = fth_kinds_intern(p->w->kinds, &k);
	fth_map_put(&p->kinds, key, (uint64_t)at << 32 | id);
	*ret_class = at;
	return id;
}

static int read_demand(struct pods *p, struct fth_res *ret, struct fth_error *err)
{
	double gpus;
	int64_t cpu, mib;
	int e;
	if ((e = fth_csv_real(&p->csv, fth_csv_cell(&p->csv, NUM_GPU), "num_gpu", 0, 10000, &gpus, err)) ||
	    (e = fth_csv_int(&p->csv, CPU_MILLI, 0, 1000000000, &cpu, err)) ||
	    (e = fth_csv_int(&p->csv, MEMORY_MIB, 0, 1000000000, &mib, err)))
		return e;
	int64_t whole = (int64_t)gpus + ((double)(int64_t)gpus < gpus);
	*ret = (struct fth_res){{whole * 1000, (cpu + 999) / 1000 * 1000, (mib + 1023) / 1024 * 1024}};
	return 0;
}

static int read_times(struct pods *p, fth_time *ret_submit, fth_time *ret_work, struct fth_error *err)
{
	int64_t created, deleted, max = FTH_TRACE_TIME_MAX / FTH_SEC;
	if (!fth_csv_has(&p->csv, CREATED) || !fth_csv_has(&p->csv, DELETED)) {
		double mean = p->o->mean_gap > 0 ? (double)p->o->mean_gap : 1200.0 * (double)FTH_SEC;
		p->clock += (fth_time)(fth_rng_exponential(&p->gaps, mean) / (double)FTH_SEC) * FTH_SEC;
		*ret_submit = p->clock;
		*ret_work = fth_draw_gavel(&p->durations);
		return p->clock > FTH_TRACE_TIME_MAX ? fth_csv_fail(&p->csv, err, "arrivals beyond a thousand years") : 0;
	}
	int e = fth_csv_int(&p->csv, CREATED, 0, max, &created, err);
	if (!e)
		e = fth_csv_int(&p->csv, DELETED, 0, max, &deleted, err);
	if (e)
		return e;
	if (deleted < created)
		return fth_csv_fail(&p->csv, err, "deletion_time before creation_time");
	*ret_submit = created * FTH_SEC;
	*ret_work = (deleted - created) * FTH_SEC;
	return 0;
}

/* The phases that Kubernetes knows; a list that leaves them out tells of none that failed. */
static int read_phase(struct pods *p, bool *ret_failed, struct fth_error *err)
{
	static const char *const phases[] = {"", "Pending", "Running", "Succeeded", "Failed", "Unknown"};
	const char *phase = fth_csv_cell(&p->csv, PHASE);
	*ret_failed = !strcmp(phase, "Failed");
	for (size_t i = 0; i < FTH_COUNT(phases); i++)
		if (!strcmp(phase, phases[i]))
			return 0;
	return fth_csv_fail(&p->csv, err, "pod_phase '%.60s' is not one of Pending, Running, Succeeded, Failed, Unknown", phase);
}

static int read_pod(struct pods *p, struct fth_error *err)
{
	struct fth_job_spec j = {.deadline = FTH_NEVER, .line = (uint32_t)fth_input_line(p->csv.in)};
	struct fth_task_group g = {.count = 1, .first_own = FTH_NONE};
	struct fth_res demand;
	size_t class;
	bool failed = false;
	int e = read_demand(p, &demand, err);
	if (!e)
		e = read_phase(p, &failed, err);
	if (e || failed)
		return e;
	e = read_times(p, &j.submit, &g.work, err);
	if (e)
		return e;
	g.kind = kind_of(p, &demand, &class);
	j.iter_rate = fth_classes[class].rate;
	j.iters = fth_class_iters(g.work, j.iter_rate);
	j.key = fth_sym_intern(p->w->syms, fth_csv_cell(&p->csv, NAME));
	if (!j.key)
		return fth_csv_fail(&p->csv, err, "name is empty");
	if (fth_workload_add(p->w, &j, &g, 1))
		return fth_csv_fail(&p->csv, err, "pod %.60s twice", fth_csv_cell(&p->csv, NAME));
	return 0;
}

int fth_read_pods(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o,
		  struct fth_error *err)
{
	struct pods p = {.w = w, .o = o};
	fth_rng_seed(&p.gaps, o->seed, STREAM_GAP, 0);
	fth_rng_seed(&p.durations, o->seed, STREAM_DURATION, 0);
	fth_rng_seed(&p.classes, o->seed, STREAM_CLASS, 0);
	int e = fth_csv_open(&p.csv, in, columns, FTH_COUNT(columns), err);
	if (!e && o->mean_gap && fth_csv_has(&p.csv, CREATED) && fth_csv_has(&p.csv, DELETED))
		e = fth_csv_fail(&p.csv, err, "the list tells when pods came: a mean gap between arrivals does not apply");
	while (!e && (e = fth_csv_next(&p.csv, err)) > 0)
		e = read_pod(&p, err);
	if (!e && !w->jobs.len)
		e = fth_csv_fail(&p.csv, err, "no pod in it that did not fail");
	w->step = FTH_SEC;
	fth_csv_release(&p.csv);
	fth_map_release(&p.kinds);
	return e;
}
