/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of `plan pack`: processor time until the proven optimum, or the gap that remains. */
#include <time.h>

#include "../tests/unit/pack_fixture.h"

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *only = "";

static bool wanted(const char *name)
{
	return !strncmp(name, only, strlen(only));
}

static void row(const char *name, struct pack_fixture *f)
{
	if (!wanted(name))
		return;
	struct fth_pack_result r;
	struct fth_error err = {0};
	uint64_t tasks = 0;
	for (size_t i = 0; i < f->items.len; i++)
		tasks += f->items.data[i].count;
	double start = cpu_ms();
	if (fixture_pack(f, NULL, &r, &err)) {
		printf("%-22s %s\n", name, err.text);
		return;
	}
	double ms = cpu_ms() - start;
	printf("%-22s %7llu %6u %5u %12.5f %12.5f %9.5f%% %s %7llu %6llu %9llu %8llu %7.2fM %9.1f\n", name,
	       (unsigned long long)tasks, r.groups, r.types, fth_usd(r.packing.price), fth_usd(r.lower_bound),
	       100 * r.gap, r.proven ? "yes" : "no ", (unsigned long long)r.columns, (unsigned long long)r.nodes,
	       (unsigned long long)r.pricing_nodes, (unsigned long long)r.lp_steps, (double)r.work / 1e6, ms);
	fflush(stdout);
	fth_pack_result_release(&r);
}

static void table7(uint32_t tasks, uint64_t seed)
{
	struct pack_fixture f;
	char name[64];
	fixture_init(&f);
	fixture_draw_table7(&f, tasks, seed);
	snprintf(name, sizeof(name), "table7 seed %llu", (unsigned long long)seed);
	row(name, &f);
	fixture_release(&f);
}

/* `kinds` random demands over CPU, memory and GPU, each as often as it comes. */
static void mixed(uint32_t tasks, uint32_t kinds, uint64_t seed)
{
	struct pack_fixture f;
	struct fth_rng r;
	char name[64];
	fixture_init(&f);
	fixture_ec2(&f);
	fth_rng_seed(&r, seed, 8, kinds);
	for (uint32_t k = 0; k < kinds; k++) {
		int64_t gpu = fth_rng_below(&r, 3) ? 0 : 1 + (int64_t)fth_rng_below(&r, 2);
		int64_t cpu = 1 + (int64_t)fth_rng_below(&r, 24), gb = cpu * (1 + (int64_t)fth_rng_below(&r, 7));
		snprintf(name, sizeof(name), "k%u", k);
		fixture_item(&f, fixture_plain_kind(&f, name, fixture_res(gpu, cpu, gb)), 0);
	}
	for (uint32_t i = 0; i < tasks; i++)
		f.items.data[fth_rng_below(&r, kinds)].count++;
	snprintf(name, sizeof(name), "random %u kinds", kinds);
	row(name, &f);
	fixture_release(&f);
}

static void pai(const char *dir, uint32_t jobs)
{
	struct pack_fixture f;
	char name[64];
	fixture_init(&f);
	fixture_ec2(&f);
	int r = fixture_read_pai(&f, dir, jobs);
	snprintf(name, sizeof(name), "alibaba first %u", jobs);
	if (!r)
		row(name, &f);
	else if (wanted(name))
		printf("%-22s no data in %s\n", name, dir);
	fixture_release(&f);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("FARTHING_DATA");
	if (argc > 1)
		only = argv[1];
	printf("%-22s %7s %6s %5s %12s %12s %10s %s %7s %6s %9s %8s %8s %9s\n", "tasks", "n", "groups", "types", "cost/h",
	       "bound/h", "gap", "proven", "columns", "nodes", "knapsack", "pivots", "work", "cpu ms");
	for (uint64_t seed = 1; seed <= 30; seed++)
		table7(200, seed);
	table7(1000, 1);
	table7(10000, 1);
	table7(100000, 1);
	for (uint32_t n = 200; n <= 10000; n *= n == 200 ? 5 : 10) {
		mixed(n, 9, 1);
		mixed(n, 36, 1);
		mixed(n, 94, 1);
	}
	for (uint32_t n = 200; n <= 6400; n *= 2)
		pai(dir ? dir : ".", n);
	return 0;
}
