/* SPDX-License-Identifier: Apache-2.0 */
/* The importers against the files they were written for. */
#include "trace_common.h"

#include "trace/classes.h"

static struct world *load_workload(const char *name, const struct fth_import_options *o)
{
	struct world *w = world_new();
	if (fth_load_workload(&w->workload, data_file(name), FTH_FORMAT_AUTO, o, &w->err))
		fail_msg("%s", w->err.text);
	return w;
}

static struct world *load_catalog(const char *name, const struct fth_import_options *o)
{
	struct world *w = world_new();
	if (fth_load_catalog(&w->catalog, data_file(name), FTH_FORMAT_AUTO, o, &w->err))
		fail_msg("%s", w->err.text);
	return w;
}

static const struct fth_kind *kind_of(struct world *w, size_t job)
{
	const struct fth_job_spec *j = &w->workload.jobs.data[job];
	return &w->kinds.list.data[w->workload.groups.data[j->first_group].kind];
}

static void evas_json_of_200_jobs(void **state)
{
	(void)state;
	struct world *w = load_workload("eva/pai_200.json", NULL);
	assert_int_equal(w->workload.jobs.len, 200);
	assert_int_equal(w->kinds.list.len, 36);
	assert_int_equal(w->workload.step, FTH_SEC);
	assert_string_equal(fth_sym_str(w->syms, w->workload.name), "pai_200");
	const struct fth_job_spec *j = &w->workload.jobs.data[0];
	const struct fth_kind *k = kind_of(w, 0);
	assert_string_equal(fth_sym_str(w->syms, j->key), "0");
	assert_int_equal(j->submit, 960 * FTH_SEC);
	assert_int_equal(j->iters, 26103);
	assert_true(j->iter_rate == 2.1);
	assert_int_equal(j->kind, FTH_JOB_INDEPENDENT);
	assert_int_equal(j->deadline, FTH_NEVER);
	assert_int_equal(j->line, 2);
	assert_int_equal(w->workload.jobs.data[1].line, 29);
	assert_int_equal(w->workload.groups.data[0].work, 12430 * FTH_SEC);
	assert_string_equal(fth_sym_str(w->syms, k->label), "resnet18[0]");
	assert_string_equal(fth_sym_str(w->syms, k->klass), "resnet18");
	assert_string_equal(fth_sym_str(w->syms, k->image), "image-7");
	assert_int_equal(k->nalts, 1);
	assert_int_equal(k->alts[0].family, 0);
	assert_int_equal(k->alts[0].demand.v[FTH_GPU], 1000);
	assert_int_equal(k->alts[0].demand.v[FTH_CPU], 12000);
	assert_int_equal(k->alts[0].demand.v[FTH_MEM], 16 * 1024);
	assert_int_equal(k->delays.fetch, FTH_SEC);
	assert_int_equal(k->delays.setup, 10 * FTH_SEC);
	assert_int_equal(k->delays.init, 80 * FTH_SEC);
	assert_int_equal(k->delays.stop, FTH_SEC);
	assert_int_equal(k->delays.save, FTH_SEC);
	world_free(w);
}

/* The CSV prints six digits of the throughput and no iterations: the import must find them again. */
static void evas_csv_is_evas_json(void **state)
{
	(void)state;
	struct world *a = load_workload("eva/pai_full_gavel.json.gz", NULL), *b = load_workload("eva/pai_full_gavel.csv", NULL);
	assert_int_equal(a->workload.jobs.len, 6274);
	assert_int_equal(b->workload.jobs.len, 6274);
	assert_int_equal(a->kinds.list.len, 94);
	assert_int_equal(b->kinds.list.len, 94);
	for (size_t i = 0; i < 6274; i++) {
		const struct fth_job_spec *x = &a->workload.jobs.data[i], *y = &b->workload.jobs.data[i];
		const struct fth_kind *k = kind_of(a, i), *l = kind_of(b, i);
		assert_string_equal(fth_sym_str(a->syms, x->key), fth_sym_str(b->syms, y->key));
		assert_int_equal(x->submit, y->submit);
		assert_int_equal(x->iters, y->iters);
		assert_true(x->iter_rate == y->iter_rate);
		assert_int_equal(a->workload.groups.data[i].work, b->workload.groups.data[i].work);
		assert_string_equal(fth_sym_str(a->syms, k->label), fth_sym_str(b->syms, l->label));
		assert_string_equal(fth_sym_str(a->syms, k->klass), fth_sym_str(b->syms, l->klass));
		assert_memory_equal(&k->delays, &l->delays, sizeof(k->delays));
		assert_true(fth_res_equal(&k->alts[0].demand, &l->alts[0].demand));
	}
	world_free(a);
	world_free(b);
}

static void evas_csv_with_alibaba_durations(void **state)
{
	(void)state;
	struct world *w = load_workload("eva/pai_full_alibaba_dur.csv", NULL);
	assert_int_equal(w->workload.jobs.len, 6274);
	size_t none = 0;
	for (size_t i = 0; i < w->workload.jobs.len; i++)
		none += w->workload.jobs.data[i].iters == 0;
	assert_int_equal(none, 62);
	world_free(w);
}

static void pods_with_and_without_times(void **state)
{
	(void)state;
	struct world *w = load_workload("alibaba-gpu-2023/openb_pod_list_default.csv", NULL);
	assert_int_equal(w->workload.jobs.len, 8152 - 1870);
	assert_string_equal(fth_sym_str(w->syms, w->workload.jobs.data[0].key), "openb-pod-0000");
	assert_int_equal(w->workload.groups.data[0].work, 12537496 * FTH_SEC);
	assert_int_equal(kind_of(w, 1)->alts[0].demand.v[FTH_GPU], 1000); /* 460 of 1000: a whole one */
	assert_int_equal(kind_of(w, 1)->alts[0].demand.v[FTH_MEM], 12 * 1024);
	world_free(w);

	struct fth_import_options o = {.mean_gap = 600 * FTH_SEC, .seed = 7};
	w = load_workload("alibaba-gpu-2023/openb_pod_list_multigpu20.csv", &o);
	size_t n = w->workload.jobs.len;
	double gap = (double)w->workload.jobs.data[n - 1].submit / (double)FTH_SEC / (double)n;
	assert_true(n > 5000 && gap > 550 && gap < 650);
	world_free(w);
}

static void evas_instance_types(void **state)
{
	(void)state;
	struct world *w = load_catalog("eva/instance_types.json", NULL);
	const struct fth_catalog *c = &w->catalog.pub;
	assert_int_equal(c->ntypes, 21);
	assert_int_equal(c->noffers, 21);
	const struct fth_instance_type *t = &c->types[0];
	assert_string_equal(fth_sym_str(w->syms, t->name), "p3.2xlarge");
	assert_string_equal(fth_sym_str(w->syms, t->family), "p3");
	assert_int_equal(t->capacity.v[FTH_GPU], 1000);
	assert_int_equal(t->capacity.v[FTH_CPU], 8000);
	assert_int_equal(t->capacity.v[FTH_MEM], 61 * 1024);
	assert_int_equal(t->acquire.mean, 22 * FTH_SEC);
	assert_int_equal(t->setup.max, 151 * FTH_SEC);
	assert_int_equal(t->terminate.min, FTH_SEC);
	assert_int_equal(c->offers[0].price, 3060000000);
	assert_int_equal(c->offers[3].price, 89250000);
	assert_int_equal(c->offers[0].billing.increment, FTH_SEC);
	assert_int_equal(c->offers[0].billing.minimum, 0);
	assert_string_equal(fth_sym_str(w->syms, c->types[20].name), "r7i.48xlarge");
	assert_int_equal(c->offers[20].price, 12700800000);
	world_free(w);
	w = load_catalog("eva/instance_types.json", &(struct fth_import_options){.families = "p3,r7i"});
	assert_int_equal(w->catalog.pub.ntypes, 12);
	world_free(w);
}

static void evas_contention_matrix(void **state)
{
	(void)state;
	struct world *w = world_new();
	if (fth_load_profile(&w->profile, data_file("eva/contention_matrix.csv"), FTH_FORMAT_AUTO, &w->err))
		fail_msg("%s", w->err.text);
	struct fth_profile *p = &w->profile;
	fth_sym sage = fth_sym_find(w->syms, "sage"), resnet = fth_sym_find(w->syms, "resnet18");
	fth_sym a3c = fth_sym_find(w->syms, "a3c");
	assert_int_equal(p->classes.len, 9);
	assert_true(fth_profile_rate(p, sage, resnet) == 0.853);
	assert_true(fth_profile_rate(p, resnet, sage) == 0.973);
	assert_true(fth_profile_rate(p, resnet, a3c) == 0.95);
	assert_true(fth_profile_rate(p, a3c, a3c) == 0.671);
	assert_true(fth_profile_rate(p, a3c, fth_sym_intern(w->syms, "new")) == 0.95);
	world_free(w);
}

static size_t count_market(const struct fth_catalog *c, enum fth_market m)
{
	size_t n = 0;
	for (uint32_t i = 0; i < c->noffers; i++)
		n += c->offers[i].market == m;
	return n;
}

static void skypilot_catalogs(void **state)
{
	(void)state;
	struct fth_import_options o = {.region = "us-east-1", .families = "g5,c7i"};
	struct world *w = load_catalog("skypilot-catalog/aws_vms.csv.gz", &o);
	const struct fth_catalog *c = &w->catalog.pub;
	fth_type_id t = fth_catalog_find_type(&w->catalog, fth_sym_find(w->syms, "g5.12xlarge"));
	assert_int_not_equal(t, FTH_NONE);
	assert_int_equal(c->types[t].capacity.v[FTH_GPU], 4000);
	assert_int_equal(c->types[t].capacity.v[FTH_MEM], 192 * 1024);
	assert_int_equal(count_market(c, FTH_SPOT), 0);
	for (uint32_t i = 0; i < c->noffers; i++)
		assert_true(!strncmp(fth_sym_str(w->syms, c->offers[i].zone), "use1-", 5));
	world_free(w);
	o.spot = true;
	w = load_catalog("skypilot-catalog/aws_vms.csv.gz", &o);
	assert_true(count_market(&w->catalog.pub, FTH_SPOT) > 50);
	world_free(w);
	o = (struct fth_import_options){.region = "us-central1"};
	w = load_catalog("skypilot-catalog/gcp_vms.csv.gz", &o); /* the other order of columns */
	t = fth_catalog_find_type(&w->catalog, fth_sym_find(w->syms, "n2-standard-4"));
	assert_int_not_equal(t, FTH_NONE);
	assert_int_equal(w->catalog.types.data[t].capacity.v[FTH_CPU], 4000);
	assert_string_equal(fth_sym_str(w->syms, w->catalog.types.data[t].family), "n2");
	world_free(w);
	w = load_catalog("skypilot-catalog/aws_vms.csv.gz", NULL);
	assert_true(w->catalog.pub.ntypes > 1300);
	world_free(w);
}

/* The table of classes is the file's, to the bit. */
static void a_table_of_classes(void **state)
{
	(void)state;
	struct world *w = load_workload("eva/pai_full_gavel.json.gz", NULL);
	size_t seen = 0;
	for (size_t i = 0; i < w->workload.jobs.len; i++) {
		const struct fth_kind *k = kind_of(w, i);
		const struct fth_class *c = fth_class_find(fth_sym_str(w->syms, k->klass));
		assert_non_null(c);
		assert_true(c->rate == w->workload.jobs.data[i].iter_rate);
		struct fth_task_delays d = fth_class_delays(c);
		assert_memory_equal(&d, &k->delays, sizeof(d));
		seen |= (size_t)1 << (c - fth_classes);
	}
	assert_int_equal(seen, 511);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evas_json_of_200_jobs),
		cmocka_unit_test(evas_csv_is_evas_json),
		cmocka_unit_test(evas_csv_with_alibaba_durations),
		cmocka_unit_test(pods_with_and_without_times),
		cmocka_unit_test(evas_instance_types),
		cmocka_unit_test(evas_contention_matrix),
		cmocka_unit_test(skypilot_catalogs),
		cmocka_unit_test(a_table_of_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
