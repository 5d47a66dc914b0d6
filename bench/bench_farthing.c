/* SPDX-License-Identifier: Apache-2.0 */
/* How long one decision of `farthing` takes with so many live tasks: in a stream of arrivals and ends, and when all of them
 * come at once. */
#include "bench_world.h"

static void row(const char *what, uint32_t live, const struct fth_world *w)
{
	double start = bench_seconds();
	struct fth_engine *e = bench_run(w, "farthing", NULL, NULL);
	double s = bench_seconds() - start;
	const struct fth_engine_stats *st = fth_engine_stats(e);
	printf("%-14s %9u %9llu %12.2f %12.2f %9.2f\n", what, live, (unsigned long long)st->rounds,
	       (double)st->decide_ns / 1e6 / (double)FTH_MAX(st->rounds, 1), (double)st->decide_max_ns / 1e6, s);
	fflush(stdout);
	fth_engine_free(e);
}

int main(int argc, char **argv)
{
	uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	printf("%-14s %9s %9s %12s %12s %9s\n", "arrivals", "live", "rounds", "ms a round", "ms at most", "seconds");
	for (uint32_t n = 100; n <= most; n *= 10) {
		struct fth_world w;
		/* An hour and a half each, so many of them at a time. */
		bench_world(&w, 3 * n, 90 * FTH_MINUTE / n, FTH_HOUR);
		row("stream", n, &w);
		fth_world_release(&w);
		bench_world(&w, n, 0, FTH_HOUR);
		row("all at once", n, &w);
		fth_world_release(&w);
	}
	return 0;
}
