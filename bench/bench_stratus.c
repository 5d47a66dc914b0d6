/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of a simulated day of many short tasks with their number, under stratus and what it is measured against:
 * the same arrivals, more and more of them. */
#include <time.h>

#include "policies/table.h"
#include "sim/sim.h"
#include "trace/batch.h"

static double seconds(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void make_catalog(struct fth_world *w)
{
	static const int cpus[] = {2, 4, 8, 16, 40, 64};
	for (size_t i = 0; i < FTH_COUNT(cpus); i++) {
		char name[32];
		snprintf(name, sizeof(name), "m%d", cpus[i]);
		struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name),
					      .setup = {30 * FTH_SEC, 95 * FTH_SEC, 160 * FTH_SEC}};
		t.capacity.v[FTH_CPU] = cpus[i] * 1000;
		t.capacity.v[FTH_MEM] = cpus[i] * 4096;
		fth_vec_push(&w->catalog.types, t);
		struct fth_offer o = {.type = (fth_type_id)i, .price = (fth_price)cpus[i] * 50000000, .available = true};
		o.billing = fth_billing_default();
		fth_vec_push(&w->catalog.offers, o);
	}
	fth_catalog_finish(&w->catalog, NULL);
}

static double run(const char *policy, const struct fth_world *w, uint64_t *events)
{
	struct fth_policy_choice choice;
	struct fth_sim_params p;
	struct fth_error err = {0};
	struct fth_engine *e = NULL;
	fth_params_defaults(fth_sim_param_table, &p);
	if (fth_policy_choose(&choice, fth_policies, policy, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	double start = seconds();
	if (fth_sim_run(&e, w, &choice, NULL, &p, NULL, NULL, &err)) {
		fprintf(stderr, "%s: %s\n", policy, err.text);
		exit(1);
	}
	double took = seconds() - start;
	*events = fth_engine_stats(e)->events;
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	return took;
}

int main(int argc, char **argv)
{
	static const char *const policies[] = {"stratus", "hotspot", "fleet", "fleet-diversified", "scloud",
					       "scloud:packing=true", "stratus:groups=false"};
	double most = argc > 1 ? strtod(argv[1], NULL) : 480;
	printf("%-24s %9s %10s %9s %9s %8s\n", "policy", "tasks", "events", "seconds", "us/task", "growth");
	for (size_t k = 0; k < FTH_COUNT(policies); k++) {
		double last = 0;
		for (double rate = 60; rate <= most; rate *= 2) {
			struct fth_world w;
			struct fth_batch_options o = {.jobs_per_hour = rate, .length = FTH_DAY, .seed = 1, .spread = 0.3};
			uint64_t tasks = 0, events;
			fth_world_init(&w);
			make_catalog(&w);
			fth_twosigma_like(&w.workload, &o);
			for (size_t g = 0; g < w.workload.groups.len; g++)
				tasks += w.workload.groups.data[g].count;
			double s = run(policies[k], &w, &events);
			printf("%-24s %9llu %10llu %9.3f %9.2f", policies[k], (unsigned long long)tasks,
			       (unsigned long long)events, s, s * 1e6 / (double)tasks);
			if (last > 0)
				printf(" %8.2f", s / last);
			printf("\n");
			fflush(stdout);
			last = s;
			fth_world_release(&w);
		}
	}
	return 0;
}
