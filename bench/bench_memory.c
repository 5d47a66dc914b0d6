/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a run: bytes for each live task and for each finished job, by what malloc has given out. The
 * limits are 1 KiB and 300 B; the program fails beyond them.
 */
#include <malloc.h>

#include "bench_world.h"
#include "report/metrics.h"

enum { LIVE_MAX = 1024, FINISHED_MAX = 300 };

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* Notes the most that was in use. */
struct peak {
	struct fth_observer base;
	size_t most;
	uint32_t tasks;
};

static void look(struct fth_observer *o, const struct fth_cluster *c, fth_time now)
{
	(void)now;
	struct peak *p = (struct peak *)o;
	p->most = FTH_MAX(p->most, in_use());
	p->tasks = FTH_MAX(p->tasks, c->view.ntasks);
}

/* Eight tasks to a large instance, one after the other. */
static int by_eight(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	static const struct fth_reason why = {.text = "eight to one"};
	fth_offer_id o = 3;
	const struct fth_instance *last =
		r->view->last_instance == FTH_NONE ? NULL : fth_view_instance(r->view, r->view->last_instance);
	uint32_t n = last ? last->ncommitted : 8;
	fth_instance_id i = r->view->last_instance;
	for (fth_task_id t = r->view->first_waiting; t != FTH_NONE; t = fth_view_task(r->view, t)->next_waiting, n++) {
		if (n >= 8) {
			i = fth_plan_launch(p, &o, 1, why);
			n = 0;
		}
		fth_plan_place(p, t, i, why);
	}
	return 0;
}
static const struct fth_policy_ops policy_by_eight = {.abi = FTH_POLICY_ABI, .name = "by-eight", .decide = by_eight};

static bool report(const char *what, double bytes, int limit)
{
	printf("%-62s %8.1f B (limit %d)%s\n", what, bytes, limit, bytes < limit ? "" : "  BEYOND");
	return bytes < limit;
}

/* A hundred thousand tasks that run for days, so that all of them are alive when the last has begun. */
static double live(fth_time gap, const struct fth_policy_ops *ops)
{
	struct fth_world w;
	bench_world(&w, 100000, gap, 10 * FTH_DAY);
	struct peak p = {.base.before_plan = look};
	size_t before = in_use();
	struct fth_engine *e = bench_run(&w, "no-packing", ops, &p.base);
	double bytes = (double)(p.most - before) / p.tasks;
	if (p.tasks != 100000)
		printf("  only %u were alive at once\n", p.tasks);
	fth_engine_free(e);
	fth_world_release(&w);
	return bytes;
}

static bool finished(bool with_metrics)
{
	struct fth_world w;
	struct fth_metrics *m = NULL;
	enum { N = 200000 };
	size_t empty = in_use();
	/* A hundred or so at any time. */
	bench_world(&w, N, 10 * FTH_SEC, 600 * FTH_SEC);
	size_t before = in_use();
	struct peak p = {.base.before_plan = look};
	if (with_metrics) {
		m = fth_metrics_new(&w.catalog.pub, 0, 0);
		fth_metrics_workload(m, &w.workload);
		p.base.next = fth_metrics_observer(m);
	}
	struct fth_engine *e = bench_run(&w, "no-packing", NULL, &p.base);
	double workload = (double)(before - empty) / N, run = (double)(p.most - before) / N;
	printf("  at most %u of %u tasks alive; the workload itself %.1f B a job\n", p.tasks, N, workload);
	bool ok = report(with_metrics ? "a finished job, with the figures of the report" : "a finished job", run, FINISHED_MAX);
	fth_engine_free(e);
	fth_metrics_free(m);
	fth_world_release(&w);
	return ok;
}

int main(void)
{
	bool ok = report("a live task on an instance of its own (no-packing)", live(4 * FTH_SEC, NULL), LIVE_MAX);
	ok &= report("a live task among eight on an instance", live(4 * FTH_SEC, &policy_by_eight), LIVE_MAX);
	printf("  when all are placed in one round, with the plan and the events of it: %.1f B, among eight %.1f B\n",
	       live(0, NULL), live(0, &policy_by_eight));
	ok &= finished(false);
	ok &= finished(true);
	return ok ? 0 : 1;
}
