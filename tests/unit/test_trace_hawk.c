/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads of Hawk's and Eagle's simulators, read whole and streamed. */
#include "trace_common.h"

static const char text[] = "10 2 5.9 5.2 0.8\n10 1 0.4 0.4 \n\n10.5 1 1e2 120.75\n10.5 1 2 2\n";

static void read_text(struct world *w, bool fractions)
{
	struct fth_import_options o = {.fractions = fractions};
	assert_int_equal(world_read(w, "x.tr", text, strlen(text), FTH_FORMAT_AUTO, FTH_CONTENT_WORKLOAD, &o), 0);
}

static void times_are_cut_to_seconds_and_repeats_come_later(void **state)
{
	(void)state;
	struct world *w = world_new();
	read_text(w, false);
	const struct fth_workload *l = &w->workload;
	const fth_time submits[] = {10000000, 10010000, 10500000, 10510000}, means[] = {5000000, 0, 100000000, 2000000};
	assert_int_equal(l->jobs.len, 4);
	for (int k = 0; k < 4; k++) {
		assert_int_equal(l->jobs.data[k].submit, submits[k]);
		assert_int_equal(l->jobs.data[k].estimate, means[k]);
	}
	assert_int_equal(l->groups.data[0].count, 2);
	assert_int_equal(fth_group_work(l, &l->groups.data[0], 0), 5000000);
	assert_int_equal(fth_group_work(l, &l->groups.data[0], 1), 0);
	assert_int_equal(fth_group_work(l, &l->groups.data[2], 0), 120000000);
	assert_int_equal(w->kinds.list.len, 1);
	assert_int_equal(w->kinds.list.data[0].alts[0].demand.v[FTH_CPU], 1000);
	world_free(w);
}

static void fractions_are_kept_if_asked_for(void **state)
{
	(void)state;
	struct world *w = world_new();
	read_text(w, true);
	assert_int_equal(w->workload.jobs.data[0].estimate, 5900000);
	assert_int_equal(fth_group_work(&w->workload, &w->workload.groups.data[0], 1), 800000);
	assert_int_equal(fth_group_work(&w->workload, &w->workload.groups.data[2], 0), 120750000);
	world_free(w);
}

static void a_stream_gives_the_same_jobs(void **state)
{
	(void)state;
	struct world *w = world_new();
	struct fth_world streamed;
	struct fth_job_source *s;
	struct fth_job_item item;
	char path[] = "/tmp/farthing-hawk-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	read_text(w, false);
	fth_world_init(&streamed);
	assert_int_equal(fth_stream_world(&streamed, path, false, &w->err), 0);
	assert_int_equal(streamed.stream.summary.jobs, 4);
	assert_int_equal(streamed.stream.summary.tasks, 5);
	assert_int_equal(streamed.stream.open(&streamed, &s, &w->err), 0);
	for (size_t k = 0; k < w->workload.jobs.len; k++) {
		const struct fth_job_spec *j = &w->workload.jobs.data[k];
		const struct fth_task_group *g = &w->workload.groups.data[j->first_group];
		assert_int_equal(s->next(s, &item, &w->err), 1);
		assert_int_equal(item.spec->submit, j->submit);
		assert_int_equal(item.spec->estimate, j->estimate);
		assert_int_equal(item.groups[0].count, g->count);
		for (uint32_t i = 0; i < g->count; i++)
			assert_int_equal(item.works[item.groups[0].first_own + i], fth_group_work(&w->workload, g, i));
	}
	assert_int_equal(s->next(s, &item, &w->err), 0);
	streamed.stream.close(s);
	fth_world_release(&streamed);
	unlink(path);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_cut_to_seconds_and_repeats_come_later),
		cmocka_unit_test(fractions_are_kept_if_asked_for),
		cmocka_unit_test(a_stream_gives_the_same_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
