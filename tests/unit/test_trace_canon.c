/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical forms: what is written is read back the same, and written again to the same bytes. */
#include "trace_common.h"

#include "engine/registry.h"
#include "trace/generate.h"

static const char full_workload[] =
	"farthing-workload 1\n"
	"workload name=all%20of%20it step=1s\n"
	"resource disk\n"
	"resource licences\n"
	"kind K0 label=resnet18[0] class=resnet18 image=image-7 arch=arm64 fetch=1s setup=10s init=80s stop=1.5s save=0.000001s"
	" on:c7i=cpu:6,mem:8GiB@0.95 on:odd%3Aname=gpu:0.5,cpu:1.5,mem:1000MiB any=gpu:1,cpu:12,mem:16GiB,disk:100,licences:1\n"
	"job 0 submit=0s tasks=1xK0:12430s\n"
	"kind K1 any=licences:0\n"
	"job caf\xc3\xa9%0A submit=960s user=ann kind=coupled priority=-5 deadline=86400s estimate=3600s iters=26103"
	" rate=2.1 anti_affinity=a/b tasks=2xK0:10s,3xK1:1s/2s/3.25s\n"
	"job 2 submit=960s kind=rigid priority=2147483647 tasks=1000000xK1:0s\n"
	"job 3 submit=1000s kind=service availability=0.99999 tasks=1xK0:never\n"
	"job 4 submit=1000s rate=0.16014614275523595 tasks=1xK0:1s\n";

static const char full_catalog[] =
	"farthing-catalog 1\n"
	"resource disk\n"
	"type p3.2xlarge family=p3 arch=x86_64 holds=gpu:1,cpu:8,mem:61GiB,disk:500 acquire=6s..19s..83s setup=151s terminate=1s\n"
	"type tiny holds=cpu:0.25,mem:512MiB\n"
	"offer p3.2xlarge price=3.06\n"
	"offer p3.2xlarge zone=use1-az1 market=spot price=0.918000001 minimum=60s interruptions=5000\n"
	"offer tiny market=reserved price=0 increment=3600s minimum=3600s from=ready available=no\n"
	"offer tiny price=0.0000001 from=request\n";

static const char full_profile[] =
	"farthing-profile 1\n"
	"profile missing=0.95\n"
	"class resnet18\n"
	"class a%25b\n"
	"row resnet18 rates=0.928,0.1\n"
	"row a%25b rates=1,0.30000000000000004\n";

static void round_trip(const char *text, enum fth_content content)
{
	struct world *w = world_new();
	size_t n;
	if (world_read(w, "it", text, strlen(text), FTH_FORMAT_AUTO, content, NULL))
		fail_msg("%s", w->err.text);
	char *back = world_write(w, content, &n);
	assert_string_equal(back, text);
	assert_int_equal(n, strlen(text));
	free(back);
	world_free(w);
}

static void every_field_survives(void **state)
{
	(void)state;
	round_trip(full_workload, FTH_CONTENT_WORKLOAD);
	round_trip(full_catalog, FTH_CONTENT_CATALOG);
	round_trip(full_profile, FTH_CONTENT_PROFILE);
}

static void values_are_what_the_text_says(void **state)
{
	(void)state;
	struct world *w = world_new();
	assert_int_equal(world_read(w, "it", full_workload, strlen(full_workload), 0, FTH_CONTENT_WORKLOAD, NULL), 0);
	const struct fth_job_spec *j = &w->workload.jobs.data[1];
	assert_string_equal(fth_sym_str(w->syms, w->workload.name), "all of it");
	assert_string_equal(fth_sym_str(w->syms, j->key), "caf\xc3\xa9\n");
	assert_int_equal(j->priority, -5);
	assert_int_equal(j->deadline, 86400 * FTH_SEC);
	assert_int_equal(j->line, 8);
	const struct fth_task_group *g = &w->workload.groups.data[j->first_group];
	assert_int_equal(j->ngroups, 2);
	assert_int_equal(fth_group_work(&w->workload, &g[0], 1), 10 * FTH_SEC);
	assert_int_equal(fth_group_work(&w->workload, &g[1], 2), 3250 * FTH_MS);
	const struct fth_kind *k = &w->kinds.list.data[g[0].kind];
	assert_int_equal(k->nalts, 3);
	assert_int_equal(k->alts[0].speed_ppm, 950000);
	assert_string_equal(fth_sym_str(w->syms, k->alts[1].family), "odd:name");
	assert_int_equal(k->alts[1].demand.v[FTH_GPU], 500);
	assert_int_equal(k->alts[1].demand.v[FTH_MEM], 1000);
	assert_int_equal(k->alts[2].demand.v[3], 100);
	assert_int_equal(k->alts[2].demand.v[4], 1);
	assert_int_equal(k->delays.save, 1);
	assert_int_equal(w->workload.jobs.data[3].kind, FTH_JOB_SERVICE);
	assert_int_equal(w->workload.groups.data[w->workload.jobs.data[3].first_group].work, FTH_NEVER);
	world_free(w);

	w = world_new();
	assert_int_equal(world_read(w, "it", full_catalog, strlen(full_catalog), 0, FTH_CONTENT_CATALOG, NULL), 0);
	assert_int_equal(w->catalog.pub.nres, 4);
	assert_int_equal(w->catalog.pub.types[0].acquire.mean, 19 * FTH_SEC);
	assert_int_equal(w->catalog.pub.types[1].capacity.v[FTH_CPU], 250);
	assert_int_equal(w->catalog.pub.offers[1].price, 918000001);
	assert_int_equal(w->catalog.pub.offers[1].interruptions_ppm, 5000);
	assert_int_equal(w->catalog.pub.offers[2].billing.from, FTH_BILL_FROM_READY);
	assert_false(w->catalog.pub.offers[2].available);
	assert_int_equal(w->catalog.pub.offers[3].price, 100);
	world_free(w);
}

/* Comments, blank lines, other units and an order of one's own are read, and leave in canonical form. */
static void people_may_write_loosely(void **state)
{
	(void)state;
	static const char loose[] = "farthing-workload 1\n# a remark\n\nkind small\tany=mem:1GiB,cpu:1\n"
				    "job b tasks=1xsmall:1.5m submit=1h\r\njob a submit=0us tasks=1xsmall:250ms\n";
	struct world *w = world_new();
	size_t n;
	if (world_read(w, "it", loose, strlen(loose), 0, FTH_CONTENT_WORKLOAD, NULL))
		fail_msg("%s", w->err.text);
	char *text = world_write(w, FTH_CONTENT_WORKLOAD, &n);
	assert_string_equal(text, "farthing-workload 1\nkind K0 any=cpu:1,mem:1GiB\njob a submit=0s tasks=1xK0:0.25s\n"
				  "job b submit=3600s tasks=1xK0:90s\n");
	free(text);
	world_free(w);
}

static void assert_same_workload(struct world *a, struct world *b)
{
	const struct fth_workload *x = &a->workload, *y = &b->workload;
	assert_int_equal(x->jobs.len, y->jobs.len);
	assert_int_equal(x->step, y->step);
	for (size_t i = 0; i < x->jobs.len; i++) {
		const struct fth_job_spec *j = &x->jobs.data[i], *k = &y->jobs.data[i];
		assert_string_equal(fth_sym_str(a->syms, j->key), fth_sym_str(b->syms, k->key));
		assert_string_equal(fth_sym_str(a->syms, j->user), fth_sym_str(b->syms, k->user));
		assert_true(j->submit == k->submit && j->iters == k->iters && j->iter_rate == k->iter_rate);
		assert_true(j->kind == k->kind && j->ngroups == k->ngroups && j->deadline == k->deadline);
		for (uint32_t g = 0; g < j->ngroups; g++) {
			const struct fth_task_group *p = &x->groups.data[j->first_group + g], *q = &y->groups.data[k->first_group + g];
			const struct fth_kind *m = &a->kinds.list.data[p->kind], *o = &b->kinds.list.data[q->kind];
			assert_true(p->count == q->count && p->work == q->work && m->nalts == o->nalts);
			assert_string_equal(fth_sym_str(a->syms, m->label), fth_sym_str(b->syms, o->label));
			assert_memory_equal(&m->delays, &o->delays, sizeof(m->delays));
			assert_true(fth_res_equal(&m->alts[0].demand, &o->alts[0].demand));
		}
	}
}

static void a_generated_workload_survives(void **state)
{
	(void)state;
	for (int mix = 0; mix < 2; mix++) {
		struct world *a = world_new(), *b = world_new();
		struct fth_generate_params p;
		fth_params_defaults(fth_generate_param_table, &p);
		p.jobs = 500;
		p.workloads = mix;
		p.multi_task = 0.3;
		p.multi_gpu = 0.2;
		p.arrivals = FTH_ARRIVALS_SAMPLE;
		assert_int_equal(fth_generate(&a->workload, &p, &a->err), 0);
		size_t n, m;
		char *text = world_write(a, FTH_CONTENT_WORKLOAD, &n);
		if (world_read(b, "it", text, n, 0, FTH_CONTENT_WORKLOAD, NULL))
			fail_msg("%s", b->err.text);
		assert_same_workload(a, b);
		char *again = world_write(b, FTH_CONTENT_WORKLOAD, &m);
		assert_string_equal(again, text);
		free(text);
		free(again);
		world_free(a);
		world_free(b);
	}
}

static void an_imported_trace_survives(void **state)
{
	(void)state;
	struct world *a = world_new(), *b = world_new();
	if (fth_load_workload(&a->workload, data_file("eva/pai_full_gavel.json.gz"), 0, NULL, &a->err))
		fail_msg("%s", a->err.text);
	size_t n;
	char *text = world_write(a, FTH_CONTENT_WORKLOAD, &n);
	assert_int_equal(world_read(b, "it", text, n, 0, FTH_CONTENT_WORKLOAD, NULL), 0);
	assert_same_workload(a, b);
	free(text);
	world_free(a);
	world_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_survives),
		cmocka_unit_test(values_are_what_the_text_says),
		cmocka_unit_test(people_may_write_loosely),
		cmocka_unit_test(a_generated_workload_survives),
		cmocka_unit_test(an_imported_trace_survives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
