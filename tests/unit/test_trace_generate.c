/* SPDX-License-Identifier: Apache-2.0 */
/* The generator keeps what its parameters promise; variants change what they say and nothing else. */
#include "trace_common.h"

#include "engine/registry.h"
#include "trace/classes.h"
#include "trace/draw.h"
#include "trace/generate.h"

static struct world *generate(const char *params)
{
	struct world *w = world_new();
	struct fth_generate_params p;
	fth_params_defaults(fth_generate_param_table, &p);
	if (fth_params_parse(fth_generate_param_table, &p, "generate", params, &w->err) ||
	    fth_generate(&w->workload, &p, &w->err))
		fail_msg("%s", w->err.text);
	return w;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void assert_near(double x, double want, double part)
{
	if (!(x > want * (1 - part) && x < want * (1 + part)))
		fail_msg("%g is not within %g %% of %g", x, part * 100, want);
}

/* Table 9: mean, median, P80, P95 in hours. */
static void check_durations(fth_time (*draw)(struct fth_rng *), const double want[4], double mean_part)
{
	enum { N = 400000 };
	double *h = fth_alloc(N * sizeof(*h)), sum = 0;
	struct fth_rng r;
	fth_rng_seed(&r, 5, 6, 7);
	for (int i = 0; i < N; i++)
		sum += h[i] = (double)draw(&r) / (double)FTH_HOUR;
	qsort(h, N, sizeof(*h), by_value);
	assert_near(sum / N, want[0], mean_part);
	assert_near(h[N / 2], want[1], 0.03);
	assert_near(h[N * 4 / 5], want[2], 0.03);
	assert_near(h[N * 19 / 20], want[3], 0.03);
	free(h);
}

static void durations_are_those_of_table_9(void **state)
{
	(void)state;
	/* Gavel's by its own formula: E[10^U(a,b)] = (10^b - 10^a) / ((b - a) ln 10). */
	check_durations(fth_draw_gavel, (double[]){16.6, 4.53, 16.7, 93.7}, 0.02);
	check_durations(fth_draw_alibaba, (double[]){9.1, 0.2, 1.0, 5.2}, 0.06);
}

static double mean_gap(const struct world *w)
{
	size_t n = w->workload.jobs.len;
	return (double)w->workload.jobs.data[n - 1].submit / (double)FTH_SEC / (double)n;
}

/* Jobs submitted in the hours [from, to) of their day. */
static double share_of_hours(const struct world *w, int from, int to)
{
	size_t in = 0;
	for (size_t i = 0; i < w->workload.jobs.len; i++) {
		fth_time hour = w->workload.jobs.data[i].submit / FTH_HOUR % 24;
		in += hour >= from && hour < to;
	}
	return (double)in / (double)w->workload.jobs.len;
}

/* Jobs within 10 s of the one before. */
static double share_crowded(const struct world *w)
{
	size_t close = 0;
	for (size_t i = 1; i < w->workload.jobs.len; i++)
		close += w->workload.jobs.data[i].submit - w->workload.jobs.data[i - 1].submit <= 10 * FTH_SEC;
	return (double)close / (double)w->workload.jobs.len;
}

static void arrivals_keep_their_mean_and_shape(void **state)
{
	(void)state;
	struct world *w = generate("jobs=20000,gap=600s,arrivals=poisson,seed=3");
	assert_near(mean_gap(w), 600, 0.03);
	assert_near(share_of_hours(w, 8, 20), 0.5, 0.05);
	assert_true(share_crowded(w) < 0.03);
	world_free(w);
	w = generate("jobs=20000,gap=600s,arrivals=diurnal,amplitude=0.9,seed=3");
	assert_near(mean_gap(w), 600, 0.03);
	/* By day the rate is 1 + 0.9 x 2/3 of the mean. */
	assert_near(share_of_hours(w, 8, 20), 0.8, 0.03);
	world_free(w);
	w = generate("jobs=20000,gap=600s,arrivals=bursty,bursts_per_day=3,burst_jobs=20,seed=3");
	assert_near(mean_gap(w), 600, 0.08);
	assert_near(share_of_hours(w, 8, 20), 0.5, 0.08);
	assert_true(share_crowded(w) > 0.25 && share_crowded(w) < 0.5); /* 60 of 144 jobs a day */
	world_free(w);
	w = generate("jobs=20000,gap=600s,arrivals=sample,bursts_per_day=3,burst_jobs=20,seed=3");
	assert_true(share_crowded(w) > 0.25 && share_of_hours(w, 8, 20) > 0.6);
	world_free(w);
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
	(void)state;
	struct world *a = generate("jobs=300,seed=9,arrivals=sample,multi_task=0.2"),
		     *b = generate("jobs=300,seed=9,arrivals=sample,multi_task=0.2"),
		     *c = generate("jobs=300,seed=10,arrivals=sample,multi_task=0.2");
	size_t n, m, k;
	char *x = world_write(a, FTH_CONTENT_WORKLOAD, &n), *y = world_write(b, FTH_CONTENT_WORKLOAD, &m),
	     *z = world_write(c, FTH_CONTENT_WORKLOAD, &k);
	assert_string_equal(x, y);
	assert_string_not_equal(x, z);
	free(x);
	free(y);
	free(z);
	world_free(a);
	world_free(b);
	world_free(c);
}

static const struct fth_kind *kind_of(const struct fth_workload *w, size_t job)
{
	return &w->kinds->list.data[w->groups.data[w->jobs.data[job].first_group].kind];
}

static void count_gpus(const struct fth_workload *w, size_t by_gpus[9])
{
	memset(by_gpus, 0, 9 * sizeof(*by_gpus));
	for (size_t i = 0; i < w->jobs.len; i++)
		by_gpus[kind_of(w, i)->alts[0].demand.v[FTH_GPU] / 1000]++;
}

static void mixes_have_their_shares(void **state)
{
	(void)state;
	size_t n[9];
	struct world *w = generate("jobs=20000,workloads=alibaba");
	count_gpus(&w->workload, n);
	assert_near((double)n[0] / 20000, 0.1341, 0.05);
	assert_near((double)n[1] / 20000, 0.8617, 0.02);
	assert_true(n[2] > 15 && n[2] < 80 && n[4] > 10 && n[8] < 25);
	world_free(w);
	w = generate("jobs=20000,workloads=alibaba,multi_gpu=0.5");
	count_gpus(&w->workload, n);
	assert_near((double)n[0] / 20000, 0.1341, 0.05);
	assert_near((double)n[2] / 20000, 0.25, 0.05);
	assert_near((double)n[4] / 20000, 0.20, 0.05);
	assert_near((double)n[8] / 20000, 0.05, 0.1);
	world_free(w);
	w = generate("jobs=10000,multi_task=0.4,durations=uniform,min_duration=30m,max_duration=16h");
	size_t tasks[5] = {0};
	double hours = 0;
	for (size_t i = 0; i < 10000; i++) {
		const struct fth_job_spec *j = &w->workload.jobs.data[i];
		const struct fth_task_group *g = &w->workload.groups.data[j->first_group];
		tasks[g->count]++;
		hours += (double)g->work / (double)FTH_HOUR;
		assert_true(g->work >= FTH_HOUR / 2 && g->work < 16 * FTH_HOUR);
		assert_int_equal(j->kind, g->count > 1 ? FTH_JOB_COUPLED : FTH_JOB_INDEPENDENT);
		assert_int_equal(j->iters, fth_class_iters(g->work, j->iter_rate));
	}
	assert_near((double)tasks[2], 2000, 0.1);
	assert_near((double)tasks[4], 2000, 0.1);
	assert_near(hours / 10000, 8.25, 0.03);
	/* ResNet18 has two of the ten rows. */
	size_t resnet = 0;
	for (size_t i = 0; i < 10000; i++)
		resnet += !strcmp(fth_sym_str(w->syms, kind_of(&w->workload, i)->klass), "resnet18");
	assert_near((double)resnet, 2000, 0.1);
	world_free(w);
	w = generate("jobs=10,tasks_per_job=4");
	assert_int_equal(w->workload.groups.data[7].count, 4);
	world_free(w);
}

static void variants_change_what_they_say(void **state)
{
	(void)state;
	struct world *w = generate("jobs=1000,workloads=alibaba,seed=4");
	struct fth_workload v;
	size_t was[9], is[9];
	count_gpus(&w->workload, was);
	fth_workload_init(&v, w->syms, &w->kinds);
	fth_vary_multi_gpu(&v, &w->workload, 0.4, 1);
	count_gpus(&v, is);
	assert_int_equal(is[0], was[0]);
	assert_int_equal(is[2], 200);
	assert_int_equal(is[4], 160);
	assert_int_equal(is[8], 40);
	for (size_t i = 0; i < 1000; i++) {
		const struct fth_res *d = &kind_of(&v, i)->alts[0].demand;
		assert_true(d->v[FTH_CPU] <= 64000 && d->v[FTH_MEM] <= 488 * 1024);
		assert_int_equal(kind_of(&v, i)->klass, kind_of(&w->workload, i)->klass);
		assert_int_equal(v.jobs.data[i].submit, w->workload.jobs.data[i].submit);
		assert_int_equal(v.jobs.data[i].iters, w->workload.jobs.data[i].iters);
	}
	fth_workload_release(&v);

	fth_workload_init(&v, w->syms, &w->kinds);
	fth_vary_multi_task(&v, &w->workload, 0.3, 1);
	size_t tasks[5] = {0};
	for (size_t i = 0; i < 1000; i++)
		tasks[v.groups.data[v.jobs.data[i].first_group].count]++;
	assert_int_equal(tasks[1], 700);
	assert_int_equal(tasks[2], 150);
	assert_int_equal(tasks[4], 150);
	fth_workload_release(&v);

	fth_workload_init(&v, w->syms, &w->kinds);
	fth_vary_gap(&v, &w->workload, 2.5);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(v.jobs.data[i].submit / FTH_SEC, w->workload.jobs.data[i].submit / FTH_SEC * 5 / 2);
	fth_workload_release(&v);

	fth_workload_init(&v, w->syms, &w->kinds);
	fth_vary_head(&v, &w->workload, 10);
	assert_int_equal(v.jobs.len, 10);
	fth_workload_release(&v);
	world_free(w);
}

/* Eva's trace keeps the pods that fit one of its 21 types. */
static void what_fits_no_type_is_dropped(void **state)
{
	(void)state;
	struct world *w = world_new();
	struct fth_workload v;
	if (fth_load_workload(&w->workload, data_file("alibaba-gpu-2023/openb_pod_list_default.csv"), 0, NULL, &w->err) ||
	    fth_load_catalog(&w->catalog, data_file("eva/instance_types.json"), 0, NULL, &w->err))
		fail_msg("%s", w->err.text);
	fth_workload_init(&v, w->syms, &w->kinds);
	assert_int_equal(fth_vary_fitting(&v, &w->workload, &w->catalog.pub), 8);
	assert_int_equal(v.jobs.len, 6274);
	assert_int_equal(fth_workload_check(&v, &w->catalog.pub, "v", &w->err), 0);
	fth_workload_release(&v);
	world_free(w);
}

static void tasks_for_one_shot_packing(void **state)
{
	(void)state;
	struct world *w = world_new();
	fth_table7_pack(&w->workload, 2000, 1);
	assert_int_equal(w->workload.jobs.len, 2000);
	assert_int_equal(w->kinds.list.len, 9);
	const struct fth_kind *seq = NULL;
	for (size_t i = 0; i < 9; i++)
		if (!strcmp(fth_sym_str(w->syms, w->kinds.list.data[i].klass), "seq"))
			seq = &w->kinds.list.data[i];
	assert_non_null(seq);
	const struct fth_alt *p3 = fth_kind_on_family(seq, fth_sym_find(w->syms, "p3"));
	const struct fth_alt *r7i = fth_kind_on_family(seq, fth_sym_find(w->syms, "r7i"));
	assert_int_equal(p3->demand.v[FTH_CPU], 28000);
	assert_int_equal(r7i->demand.v[FTH_CPU], 16000);
	assert_null(fth_kind_on_family(seq, fth_sym_intern(w->syms, "m5")));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_those_of_table_9),
		cmocka_unit_test(arrivals_keep_their_mean_and_shape),
		cmocka_unit_test(the_same_seed_gives_the_same_bytes),
		cmocka_unit_test(mixes_have_their_shares),
		cmocka_unit_test(variants_change_what_they_say),
		cmocka_unit_test(what_fits_no_type_is_dropped),
		cmocka_unit_test(tasks_for_one_shot_packing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
