/* SPDX-License-Identifier: Apache-2.0 */
/* The bundled files: valid, what data/README.md says of them, and inside the program. */
#include "trace_common.h"

#include "engine/registry.h"
#include "trace/generate.h"
#include "trace/samples.h"

/* As recorded in data/README.md. */
static const char sample_params[] = "jobs=400,seed=2026,arrivals=sample,gap=11m,amplitude=0.8,burst_jobs=12,"
				    "bursts_per_day=2,durations=log-uniform,min_duration=5m,max_duration=20h,"
				    "workloads=table7,multi_task=0.15,users=8";

static void read_sample(struct world *w, const struct fth_sample *s, enum fth_content content)
{
	if (world_read(w, s->name, s->data, s->size, FTH_FORMAT_AUTO, content, NULL))
		fail_msg("%s", w->err.text);
}

static void assert_canonical(struct world *w, const struct fth_sample *s, enum fth_content content)
{
	size_t n;
	char *text = world_write(w, content, &n);
	assert_int_equal(n, s->size);
	assert_memory_equal(text, s->data, n);
	free(text);
}

static void the_sample_workload_is_the_generators(void **state)
{
	(void)state;
	struct world *w = world_new();
	struct fth_generate_params p;
	fth_params_defaults(fth_generate_param_table, &p);
	assert_int_equal(fth_params_parse(fth_generate_param_table, &p, "generate", sample_params, &w->err), 0);
	assert_int_equal(fth_generate(&w->workload, &p, &w->err), 0);
	w->workload.name = fth_sym_intern(w->syms, "sample");
	/* UPDATE=path makes the file anew, after a wanted change of the generator. */
	const char *path = getenv("UPDATE");
	if (path) {
		struct fth_output *o;
		assert_int_equal(fth_output_open(&o, path, &w->err), 0);
		assert_int_equal(fth_write_workload(&w->workload, o, &w->err), 0);
		assert_int_equal(fth_output_commit(o, &w->err), 0);
	}
	assert_canonical(w, &fth_sample_workload, FTH_CONTENT_WORKLOAD);
	world_free(w);
}

static void the_bundled_files_fit_together(void **state)
{
	(void)state;
	struct world *w = world_new();
	read_sample(w, &fth_sample_workload, FTH_CONTENT_WORKLOAD);
	read_sample(w, &fth_sample_catalog, FTH_CONTENT_CATALOG);
	read_sample(w, &fth_sample_profile, FTH_CONTENT_PROFILE);
	assert_canonical(w, &fth_sample_catalog, FTH_CONTENT_CATALOG);
	assert_canonical(w, &fth_sample_profile, FTH_CONTENT_PROFILE);
	assert_int_equal(w->catalog.pub.ntypes, 21);
	assert_int_equal(fth_workload_check(&w->workload, &w->catalog.pub, "sample", &w->err), 0);
	struct fth_workload_summary s;
	fth_workload_summarize(&w->workload, &s);
	assert_int_equal(s.jobs, 400);
	assert_true(s.last_submit > 60 * FTH_HOUR && s.last_submit < 90 * FTH_HOUR);
	assert_true(s.gpu_jobs > 150 && s.gpu_jobs < 300 && s.coupled_jobs > 40 && s.coupled_jobs < 80);
	for (size_t i = 0; i < w->kinds.list.len; i++) {
		uint64_t at;
		assert_true(fth_map_get(&w->profile.index, w->kinds.list.data[i].klass, &at));
	}
	world_free(w);
}

/* Types, capacities and prices are those of Eva's experiment. */
static void the_catalog_has_evas_types(void **state)
{
	(void)state;
	struct world *a = world_new(), *b = world_new();
	read_sample(a, &fth_sample_catalog, FTH_CONTENT_CATALOG);
	if (fth_load_catalog(&b->catalog, data_file("eva/instance_types.json"), 0, NULL, &b->err))
		fail_msg("%s", b->err.text);
	for (uint32_t i = 0; i < 21; i++) {
		const struct fth_instance_type *s = &a->catalog.pub.types[i], *t = &b->catalog.pub.types[i];
		assert_string_equal(fth_sym_str(a->syms, s->name), fth_sym_str(b->syms, t->name));
		assert_true(fth_res_equal(&s->capacity, &t->capacity));
		assert_int_equal(a->catalog.pub.offers[i].price, b->catalog.pub.offers[i].price);
	}
	world_free(a);
	world_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_workload_is_the_generators),
		cmocka_unit_test(the_bundled_files_fit_together),
		cmocka_unit_test(the_catalog_has_evas_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
