/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of a simulated day of many short tasks with their number, under stratus and what it is measured against:
 * the same arrivals, more and more of them; and the time of Alibaba 2017 under each, with its limits. */
#include <sys/resource.h>
#include <time.h>

#include "policies/table.h"
#include "sim/sim.h"
#include "trace/batch.h"
#include "trace/generate.h"
#include "trace/trace.h"

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
	fth_catalog_add_containers(&w->catalog, 50600000, 12700000, NULL);
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

/* Other work on the machine only ever adds to the time. */
static double best_of(int n, const char *policy, const struct fth_world *w, uint64_t *events)
{
	double best = run(policy, w, events);
	for (int k = 1; k < n; k++)
		best = FTH_MIN(best, run(policy, w, events));
	return best;
}

static const char *const policies[] = {"stratus",
				       "hotspot",
				       "fleet",
				       "fleet-diversified",
				       "scloud",
				       "scloud:order=random",
				       "scloud:packing=true,order=random",
				       "scloud:packing=true,groups=true",
				       "scloud:packing=true,groups=true,clearing=true",
				       "fargate",
				       "stratus:groups=false"};

static void growth(double most)
{
	printf("%-46s %9s %10s %9s %9s %8s\n", "policy", "tasks", "events", "seconds", "us/task", "growth");
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
			double s = best_of(3, policies[k], &w, &events);
			printf("%-46s %9llu %10llu %9.3f %9.2f", policies[k], (unsigned long long)tasks,
			       (unsigned long long)events, s, s * 1e6 / (double)tasks);
			if (last > 0)
				printf(" %8.2f", s / last);
			printf("\n");
			fflush(stdout);
			last = s;
			fth_world_release(&w);
		}
	}
}

/* All 2,551,075 task instances of Alibaba 2017: stratus in 5 s, every rival in 20, and 1 GiB. */
static int alibaba(const char *data)
{
	char path[4400];
	struct fth_world w;
	struct fth_error err = {0};
	int over = 0;
	snprintf(path, sizeof(path), "%s/alibaba-2017/jobs.csv.gz", data);
	fth_world_init(&w);
	make_catalog(&w);
	if (fth_load_workload(&w.workload, path, FTH_FORMAT_ALIBABA_2017, NULL, &err)) {
		printf("Alibaba 2017 is left out: %s\n", err.text);
		fth_world_release(&w);
		return 0;
	}
	fth_vary_migration(&w.workload, FTH_BATCH_MBIT);
	printf("\n%-46s %10s %9s %9s %9s\n", "Alibaba 2017", "events", "seconds", "limit", "MB so far");
	for (size_t k = 0; k < FTH_COUNT(policies); k++) {
		struct rusage use;
		uint64_t events;
		double s = run(policies[k], &w, &events), limit = k ? 20 : 5;
		getrusage(RUSAGE_SELF, &use);
		printf("%-46s %10llu %9.2f %9.0f %9ld\n", policies[k], (unsigned long long)events, s, limit, use.ru_maxrss / 1024);
		fflush(stdout);
		over |= s > limit || use.ru_maxrss > 1 << 20;
	}
	fth_world_release(&w);
	return over;
}

int main(int argc, char **argv)
{
	const char *data = getenv("FARTHING_DATA");
	growth(argc > 1 ? strtod(argv[1], NULL) : 480);
	return data && argc < 3 ? alibaba(data) : 0;
}
