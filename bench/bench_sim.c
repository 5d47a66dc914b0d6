/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of a simulated run with the number of jobs: processor time, events and rounds a second. */
#include "bench_world.h"

int main(int argc, char **argv)
{
	const char *policy = argc > 1 ? argv[1] : "no-packing";
	uint32_t most = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 128000;
	double last = 0;
	printf("%-12s %9s %10s %9s %9s %12s %9s %8s\n", "policy", "jobs", "events", "rounds", "seconds", "events/s", "us/job",
	       "growth");
	for (uint32_t n = 1000; n <= most; n *= 2) {
		struct fth_world w;
		bench_world(&w, n, 60 * FTH_SEC, FTH_HOUR);
		double start = bench_seconds();
		struct fth_engine *e = bench_run(&w, policy, NULL, NULL);
		double s = bench_seconds() - start;
		const struct fth_engine_stats *st = fth_engine_stats(e);
		printf("%-12s %9u %10llu %9llu %9.3f %12.0f %9.2f", policy, n, (unsigned long long)st->events,
		       (unsigned long long)st->rounds, s, (double)st->events / s, s * 1e6 / n);
		if (last > 0)
			printf(" %8.2f", s / last);
		printf("\n");
		fflush(stdout);
		last = s;
		fth_engine_free(e);
		fth_world_release(&w);
	}
	return 0;
}
