/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spot planners against the reference runs of the published prototype: pools exactly, availabilities to the last digit,
 * costs; the search against the best pools known, and the lower bounds against the proven ones.
 *
 *   gold_tr artifact | rivals | search
 */
#include <jansson.h>
#include <math.h>
#include <time.h>

#include "optimize/spot.h"
#include "trace/spot_table.h"

static unsigned failures, cases;

#define CHECK(cond, ...)                              \
	do {                                          \
		if (!(cond)) {                        \
			failures++;                   \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr);          \
		}                                     \
	} while (0)

static void load(struct fth_spot_table *t, const char *zone)
{
	struct fth_error err = {0};
	char path[4096];
	const char *data = getenv("FARTHING_DATA");
	snprintf(path, sizeof(path), "%s/tr-kubernetes/record-%s.csv", data ? data : FTH_TEST_DATA, zone);
	if (fth_load_spot_table(t, path, "", &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

static struct fth_spot_problem problem(const struct fth_spot_table *t, const json_t *row)
{
	return (struct fth_spot_problem){
		.offers = t->offers.data,
		.noffers = (uint32_t)t->offers.len,
		.capacity = (uint64_t)json_integer_value(json_object_get(row, "cap")),
		.target = json_number_value(json_object_get(row, "target")),
	};
}

static void check_pool(const struct fth_spot_problem *p, const struct fth_spot_plan *plan, const json_t *row, const char *what)
{
	const json_t *pool = json_object_get(row, "pool");
	double avail = json_number_value(json_object_get(row, "avail")), cost = json_number_value(json_object_get(row, "cost"));
	for (uint32_t i = 0; i < p->noffers; i++) {
		json_int_t want = json_integer_value(json_object_get(pool, p->offers[i].type));
		CHECK(want == plan->count[i], "%s: %s: %lld expected, %u", what, p->offers[i].type, (long long)want, plan->count[i]);
	}
	CHECK(plan->availability == avail, "%s: availability %.17g expected, %.17g", what, avail, plan->availability);
	CHECK(fabs(plan->cost - cost) <= 5e-9 * cost, "%s: cost %.10g expected, %.10g", what, cost, plan->cost);
	json_int_t met = json_integer_value(json_object_get(row, "met"));
	CHECK(plan->met == (met != 0), "%s: met %lld expected, %d", what, (long long)met, plan->met);
}

static fth_spot_planner *planner_of(const char *policy)
{
	static const struct {
		const char *name;
		fth_spot_planner *plan;
	} known[] = {{"TR", fth_spot_tr_artifact}, {"SF_cheapest", fth_spot_cheapest}, {"SF_diverse10", fth_spot_diverse},
		     {"Greedy_avail", fth_spot_available}};
	for (size_t i = 0; i < FTH_COUNT(known); i++)
		if (!strcmp(known[i].name, policy))
			return known[i].plan;
	return NULL;
}

static void check_plans(const json_t *rows)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *policy = json_string_value(json_object_get(row, "policy"));
		const char *zone = json_string_value(json_object_get(row, "az"));
		struct fth_spot_table t = {0};
		struct fth_spot_plan plan;
		struct fth_error err = {0};
		char what[200];
		load(&t, zone);
		struct fth_spot_problem p = problem(&t, row);
		snprintf(what, sizeof(what), "%s %s %llu %g", policy, zone, (unsigned long long)p.capacity, p.target);
		fth_spot_planner *make = planner_of(policy);
		if (!make || make(&p, &plan, &err)) {
			CHECK(false, "%s: %s", what, err.text);
		} else {
			check_pool(&p, &plan, row, what);
			fth_spot_plan_release(&plan);
		}
		fth_spot_table_release(&t);
		cases++;
	}
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The pool's availability, convolved afresh. */
static double afresh(const struct fth_spot_problem *p, const struct fth_spot_plan *plan)
{
	struct fth_pool_part parts[64];
	for (uint32_t i = 0; i < p->noffers; i++)
		parts[i] = (struct fth_pool_part){plan->count[i] * p->offers[i].capacity, p->offers[i].availability};
	return fth_pool_availability(parts, p->noffers, p->capacity);
}

static void check_search(const json_t *rows)
{
	double worst = 0, worst_gap = 0, slowest = 0;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *zone = json_string_value(json_object_get(row, "az"));
		double best = json_number_value(json_object_get(row, "best_cost"));
		struct fth_spot_table t = {0};
		struct fth_spot_plan plan;
		struct fth_error err = {0};
		load(&t, zone);
		struct fth_spot_problem p = problem(&t, row);
		double t0 = seconds();
		if (fth_spot_search(&p, &plan, &err)) {
			CHECK(false, "%s", err.text);
			continue;
		}
		const struct fth_spot_bound bound = plan.bound;
		double took = seconds() - t0, gap = (plan.cost - bound.cost) / bound.cost;
		printf("%-11s %5llu %-9g best known %9.6f ours %9.6f (%+.3f %%) bound %9.6f gap %.2f %%%s %.3f s\n", zone,
		       (unsigned long long)p.capacity, p.target, best, plan.cost, 100 * (plan.cost / best - 1), bound.cost, 100 * gap,
		       bound.exact ? " exact" : "", took);
		CHECK(plan.met && afresh(&p, &plan) >= p.target, "%s: the pool misses its target", zone);
		CHECK(plan.cost <= 1.01 * best, "%s: %g is more than 1 %% above %g", zone, plan.cost, best);
		CHECK(bound.cost <= plan.cost && bound.cost <= best * (1 + 1e-9), "%s: bound %g above a known pool", zone, bound.cost);
		worst = FTH_MAX(worst, plan.cost / best - 1);
		worst_gap = FTH_MAX(worst_gap, gap);
		slowest = FTH_MAX(slowest, took);
		fth_spot_plan_release(&plan);
		fth_spot_table_release(&t);
		cases++;
	}
	printf("worst against best known %+.3f %%, worst proven gap %.2f %%, slowest %.3f s\n", 100 * worst, 100 * worst_gap, slowest);
}

int main(int argc, char **argv)
{
	char path[4096];
	json_error_t error;
	const char *env = getenv("FARTHING_GOLD"), *gold = env ? env : FTH_TEST_GOLD, *mode = argc > 1 ? argv[1] : "";
	snprintf(path, sizeof(path), "%s/tr_gold.json", gold ? gold : "");
	json_t *root = json_load_file(path, 0, &error);
	if (!root) {
		fprintf(stderr, "%s: %s\n", path, error.text);
		return getenv("CI") ? 1 : 77; /* skipped: no reference beside the project */
	}
	if (!strcmp(mode, "artifact"))
		check_plans(json_object_get(root, "tr"));
	else if (!strcmp(mode, "rivals"))
		check_plans(json_object_get(root, "fig6"));
	else
		check_search(json_object_get(root, "optimality"));
	json_decref(root);
	printf("%u cases, %u failures\n", cases, failures);
	return failures || !cases ? 1 : 0;
}
