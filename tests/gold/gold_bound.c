/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lower bound of Eva's traces against figures computed by another program:
 *
 *   gold_bound WORKLOAD JOBS with|without USD
 *
 * within a thousandth, proven, and within a minute of processor time. Data are kept beside the project
 * (FARTHING_DATA); without them the test is skipped, unless CI is set.
 */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "optimize/bound.h"
#include "trace/trace.h"

enum { SKIP = 77 };

static int load(struct fth_world *w, const char *data, const char *workload, bool interference, struct fth_error *err)
{
	struct fth_import_options o = {.seed = 1};
	char path[4096];
	snprintf(path, sizeof(path), "%s/eva/instance_types.json", data);
	int r = fth_load_catalog(&w->catalog, path, FTH_FORMAT_AUTO, &o, err);
	snprintf(path, sizeof(path), "%s/eva/%s", data, workload);
	if (!r)
		r = fth_load_workload(&w->workload, path, FTH_FORMAT_AUTO, &o, err);
	snprintf(path, sizeof(path), "%s/eva/contention_matrix.csv", data);
	if (!r && interference)
		r = fth_load_profile(&w->profile, path, FTH_FORMAT_AUTO, err);
	w->has_profile = interference;
	return r;
}

int main(int argc, char **argv)
{
	const char *data = getenv("FARTHING_DATA") ? getenv("FARTHING_DATA") : FTH_TEST_DATA;
	if (argc != 5)
		return 2;
	char path[4096];
	snprintf(path, sizeof(path), "%s/eva/%s", data, argv[1]);
	if (access(path, R_OK)) {
		printf("no data (FARTHING_DATA)\n");
		return getenv("CI") ? 1 : SKIP;
	}
	struct fth_world w;
	struct fth_bound b;
	struct fth_error err = {0};
	struct fth_bound_options o = fth_bound_quick();
	size_t jobs = (size_t)atol(argv[2]);
	double usd = atof(argv[4]);
	fth_world_init(&w);
	int r = load(&w, data, argv[1], !strcmp(argv[3], "with"), &err);
	if (!r && jobs < w.workload.jobs.len)
		w.workload.jobs.len = jobs;
	clock_t from = clock();
	if (!r)
		r = fth_bound_find(&b, &w, NULL, &o, &err);
	if (r) {
		printf("%s\n", err.text);
		return 1;
	}
	double cpu = (double)(clock() - from) / CLOCKS_PER_SEC;
	bool ok = b.known && b.certified && b.exact && fabs(fth_usd(b.usd) / usd - 1) < 0.001 && cpu < 60;
	printf("%s, %zu jobs, %s interference: bound %.2f, expected %.0f; %scertified, %sexact; %.2f s\n", argv[1],
	       w.workload.jobs.len, argv[3], fth_usd(b.usd), usd, b.certified ? "" : "not ", b.exact ? "" : "not ", cpu);
	fth_bound_release(&b);
	fth_world_release(&w);
	return ok ? 0 : 1;
}
