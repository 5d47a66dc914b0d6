/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast queues at workers are simulated, and how that grows: the Yahoo window, every job so many times over on so
 * many times the workers, one window after the other. Jobs are made as the run asks for them, so memory is that of the run.
 *
 *     bench_hybrid [POLICY [COPIES WINDOWS]]     FARTHING_DATA names the folder of the data sets
 */
#include <sys/resource.h>
#include <time.h>

#include "policies/table.h"
#include "report/classes.h"
#include "report/metrics.h"
#include "sim/sim.h"
#include "trace/trace.h"

struct repeat {
	struct fth_job_source base;
	const struct fth_workload *w;
	uint32_t copies, windows, copy, window;
	size_t job;
	struct fth_job_spec spec;
};
static struct repeat shape; /* what the next source is to do */

static int next(struct fth_job_source *base, struct fth_job_item *ret, struct fth_error *err)
{
	struct repeat *r = (struct repeat *)base;
	(void)err;
	if (r->window == r->windows)
		return 0;
	fth_time first = r->w->jobs.data[0].submit, span = r->w->jobs.data[r->w->jobs.len - 1].submit - first + FTH_SEC;
	r->spec = r->w->jobs.data[r->job];
	r->spec.submit = r->spec.submit - first + r->window * span + r->copy * FTH_MS;
	*ret = (struct fth_job_item){.spec = &r->spec, .groups = &r->w->groups.data[r->spec.first_group], .works = r->w->works.data};
	if (++r->copy == r->copies) {
		r->copy = 0;
		if (++r->job == r->w->jobs.len) {
			r->job = 0;
			r->window++;
		}
	}
	return 1;
}

static int open_source(const struct fth_world *w, struct fth_job_source **ret, struct fth_error *err)
{
	struct repeat *r = fth_alloc(sizeof(*r));
	(void)err;
	*r = shape;
	r->base.next = next;
	r->w = &w->workload;
	*ret = &r->base;
	return 0;
}

static void close_source(struct fth_job_source *s)
{
	free(s);
}

static void machines(struct fth_world *w)
{
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, "worker"), .family = fth_sym_intern(w->syms, "worker")};
	t.capacity.v[FTH_CPU] = 1000;
	fth_vec_push(&w->catalog.types, t);
	struct fth_offer o = {.price = FTH_USD, .available = true};
	o.billing = fth_billing_default();
	fth_vec_push(&w->catalog.offers, o);
	o.market = FTH_SPOT;
	o.price = FTH_USD / 3;
	fth_vec_push(&w->catalog.offers, o);
	fth_catalog_finish(&w->catalog, NULL);
}

static double cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
}

static int run(const struct fth_world *w, const char *policy, uint32_t copies, uint32_t windows)
{
	struct fth_error err = {0};
	struct fth_policy_choice choice;
	struct fth_sim_params p = {0};
	struct fth_engine *e = NULL;
	struct fth_run result;
	struct rusage usage;
	char text[96];
	snprintf(text, sizeof(text), "%s:workers=%u", policy, 4000 * copies);
	fth_params_defaults(fth_sim_param_table, &p);
	int r = fth_policy_choose(&choice, fth_policies, text, &err);
	if (r) {
		fprintf(stderr, "%s\n", err.text);
		return r;
	}
	shape = (struct repeat){.copies = copies, .windows = windows};
	struct fth_metrics *m = fth_metrics_new(&w->catalog.pub, 0, 0);
	struct fth_classes *classes = fth_classes_new(90581100);
	fth_metrics_observer(m)->next = fth_classes_observer(classes);
	struct timespec a, b;
	double cpu = cpu_seconds();
	clock_gettime(CLOCK_MONOTONIC, &a);
	r = fth_sim_run(&e, w, &choice, NULL, &p, fth_metrics_observer(m), NULL, &err);
	clock_gettime(CLOCK_MONOTONIC, &b);
	cpu = cpu_seconds() - cpu;
	if (r)
		fprintf(stderr, "%s\n", err.text);
	fth_run_init(&result);
	fth_metrics_finish(m, e, 0, &result);
	fth_classes_finish(classes, &w->catalog.pub, &result);
	getrusage(RUSAGE_SELF, &usage);
	printf("%-14s %8u workers %9llu tasks  %7.2f s wall  %7.2f s cpu  %5.2f us a task  %9llu events  %6.0f MB peak, %llu tasks alive at most, mean delay %.2f s\n",
	       policy, 4000 * copies, (unsigned long long)result.tasks,
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9, cpu, 1e6 * cpu / (double)result.tasks,
	       (unsigned long long)result.events, (double)usage.ru_maxrss / 1024, (unsigned long long)result.live_tasks_max,
	       result.short_task_delay.mean);
	fflush(stdout);
	fth_run_release(&result);
	fth_classes_free(classes);
	fth_metrics_free(m);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return r;
}

int main(int argc, char **argv)
{
	const char *data = getenv("FARTHING_DATA"), *policy = argc > 1 ? argv[1] : "eagle";
	struct fth_error err = {0};
	struct fth_world w;
	char path[4400];
	fth_world_init(&w);
	snprintf(path, sizeof(path), "%s/hawk/YH1_sub.tr", data ? data : "../shared/data");
	machines(&w);
	int r = fth_load_workload(&w.workload, path, FTH_FORMAT_HAWK_TR, NULL, &err);
	if (r) {
		fprintf(stderr, "bench: %s; nothing is measured\n", err.text);
		fth_world_release(&w);
		return 77;
	}
	w.stream.open = open_source;
	w.stream.close = close_source;
	if (argc > 3) {
		r = run(&w, policy, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]));
	} else {
		/* Workers and tasks doubling together, then tasks alone. */
		static const uint32_t growth[][2] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {1, 4}, {1, 8}};
		for (size_t k = 0; k < FTH_COUNT(growth) && !r; k++)
			r = run(&w, policy, growth[k][0], growth[k][1]);
	}
	fth_world_release(&w);
	return r ? 1 : 0;
}
