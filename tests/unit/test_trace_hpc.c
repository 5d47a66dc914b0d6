/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of batch systems (SWF, sacct), demands and classes: what is read, and what is refused where. */
#include "trace_common.h"

#define J1 "1 100 5 3600 32 -1 -1 40 7200 -1 1 7 3 12 0 1 -1 -1\n"
#define J2 "2 90 -1 60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
#define NEVER "3 120 -1 -1 -1 -1 -1 16 600 -1 5 7 3 12 0 1 -1 -1\n"
#define SWF_HEAD "; Computer: test\n; UnixStartTime: 1078605840\n"

static struct world *read_text(const char *text, enum fth_format f, uint32_t cpus)
{
	struct world *w = world_new();
	struct fth_import_options o = {.node_cpus = cpus};
	if (world_read(w, "x", text, strlen(text), f, FTH_CONTENT_WORKLOAD, &o))
		fail_msg("%s", w->err.text);
	return w;
}

static void swf_fields(void **state)
{
	(void)state;
	struct world *w = read_text(SWF_HEAD J1 "\n" J2 NEVER, FTH_FORMAT_AUTO, 16);
	const struct fth_workload *l = &w->workload;
	assert_int_equal(l->jobs.len, 2);
	assert_int_equal(l->epoch, 1078605840 * FTH_SEC);
	/* Put in order of time; the second asked for no time and got one processor. */
	const struct fth_job_spec *b = &l->jobs.data[0], *a = &l->jobs.data[1];
	assert_string_equal(fth_sym_str(w->syms, b->key), "2");
	assert_int_equal(b->estimate, 60 * FTH_SEC);
	assert_int_equal(b->user, 0);
	assert_int_equal(l->groups.data[b->first_group].count, 1);
	assert_string_equal(fth_sym_str(w->syms, a->key), "1");
	assert_string_equal(fth_sym_str(w->syms, a->user), "user7");
	assert_int_equal(a->kind, FTH_JOB_RIGID);
	assert_int_equal(a->submit, 100 * FTH_SEC);
	assert_int_equal(a->estimate, 7200 * FTH_SEC);
	assert_int_equal(a->line, 3);
	assert_int_equal(l->groups.data[a->first_group].count, 3); /* 40 processors on nodes of 16 */
	assert_int_equal(l->groups.data[a->first_group].work, 3600 * FTH_SEC);
	assert_int_equal(l->notes.len, 3);
	assert_string_equal(fth_sym_str(w->syms, l->notes.data[0]), "Computer: test");
	assert_string_equal(fth_sym_str(w->syms, l->notes.data[2]), "Left out: 1 of 3 jobs, without runtime or processors");
	/* The canonical form keeps all of it. */
	size_t n;
	char *text = world_write(w, FTH_CONTENT_WORKLOAD, &n);
	struct world *again = world_new();
	assert_int_equal(world_read(again, "y", text, n, FTH_FORMAT_AUTO, FTH_CONTENT_WORKLOAD, NULL), 0);
	assert_int_equal(again->workload.notes.len, 3);
	assert_int_equal(again->workload.epoch, 1078605840 * FTH_SEC);
	free(text);
	world_free(again);
	world_free(w);
}

static void overrun_limits_are_raised(void **state)
{
	(void)state;
	struct world *w = read_text("1 0 0 500 16 -1 -1 16 300 -1 1 1 1 1 1 1 -1 -1\n", FTH_FORMAT_SWF, 16);
	assert_int_equal(w->workload.jobs.data[0].estimate, 500 * FTH_SEC);
	world_free(w);
}

static void datastar_whole(void **state)
{
	(void)state;
	const char *path = data_file("swf/SDSC-DS-2004-2.1-cln.swf.gz");
	struct world *w = world_new();
	struct fth_import_options o = {.node_cpus = 16};
	if (fth_load_workload(&w->workload, path, FTH_FORMAT_AUTO, &o, &w->err))
		fail_msg("%s", w->err.text);
	struct fth_workload_summary s;
	fth_workload_summarize(&w->workload, &s);
	assert_int_equal(s.jobs, 84893);
	assert_int_equal(s.tasks, 341699);
	assert_true(s.task_hours > 647778.0 && s.task_hours < 647778.2);
	world_free(w);
}

#define SACCT "JobID|User|JobName|Submit|Elapsed|Timelimit|NNodes|ReqTRES|State\n"
static void sacct_rows(void **state)
{
	static const char text[] = SACCT
		"100|ann|cfd|2024-03-01T10:00:00|1-02:03:04|2-00:00:00|4|billing=64,cpu=64,mem=100G,node=4|COMPLETED\n"
		"100.batch||batch|2024-03-01T10:00:00|1-02:03:04||1||COMPLETED\n"
		"101_7|bob|array|2024-03-01T10:00:30|00:10:00|UNLIMITED|1|cpu=17,node=1,gres/gpu=4|CANCELLED by 1000\n"
		"101_[8-9]|bob|array|2024-03-01T10:00:30|00:00:00|01:00:00|1|cpu=1|PENDING\n"
		"102|eve|lost|2024-03-01T09:59:00|05:00|01:00:00|2||NODE_FAIL\n"
		"102|eve|lost|2024-03-01T10:10:00|02:00:00|01:00:00|2||COMPLETED\n"
		"103|eve|never|2024-03-01T10:10:00|00:00:00|01:00:00|2||CANCELLED\n";
	(void)state;
	struct world *w = read_text(text, FTH_FORMAT_AUTO, 16);
	const struct fth_workload *l = &w->workload;
	assert_int_equal(l->jobs.len, 4);
	const struct fth_job_spec *fail = &l->jobs.data[0], *cfd = &l->jobs.data[1], *array = &l->jobs.data[2], *again = &l->jobs.data[3];
	assert_string_equal(fth_sym_str(w->syms, fail->key), "102");
	assert_int_equal(fail->submit, 0); /* the clock begins with the first */
	assert_int_equal(l->groups.data[fail->first_group].work, 300 * FTH_SEC);
	assert_int_equal(l->groups.data[fail->first_group].count, 2);
	assert_string_equal(fth_sym_str(w->syms, cfd->user), "ann");
	assert_int_equal(cfd->submit, 60 * FTH_SEC);
	assert_int_equal(cfd->estimate, 2 * FTH_DAY);
	assert_int_equal(l->groups.data[cfd->first_group].work, FTH_DAY + 2 * FTH_HOUR + 184 * FTH_SEC);
	assert_int_equal(l->groups.data[cfd->first_group].count, 4);
	assert_string_equal(fth_sym_str(w->syms, array->key), "101_7");
	assert_int_equal(l->groups.data[array->first_group].count, 2);
	assert_int_equal(w->kinds.list.data[l->groups.data[array->first_group].kind].alts[0].demand.v[FTH_GPU], 2000);
	assert_string_equal(fth_sym_str(w->syms, again->key), "102#2");
	assert_int_equal(again->estimate, 2 * FTH_HOUR); /* overran its limit */
	world_free(w);
}

struct bad {
	enum fth_format format;
	int line;
	const char *says, *text;
};
static const struct bad bads[] = {
	{FTH_FORMAT_SWF, 2, "17 fields", J1 "2 90 -1 60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 2, "cut off", J1 "2 90 -1 60"},
	{FTH_FORMAT_SWF, 1, "more than the 18", "2 90 -1 60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1 9\n"},
	{FTH_FORMAT_SWF, 2, "not a whole number", J1 "x 90 -1 60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 1, "run time (field 4) is negative", "2 90 -1 -60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 1, "without submit time", "2 -1 -1 60 1 0.5 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 2, "job 1 twice", J1 J1},
	{FTH_FORMAT_SWF, 1, "no cluster gets wider", "2 90 -1 60 99999999 0 -1 99999999 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 1, "thousand years", "2 90 -1 99999999999999 1 0 -1 1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"},
	{FTH_FORMAT_SWF, 1, "no job in it that ran", NEVER},
	{FTH_FORMAT_SACCT, 1, "'Submit' is missing", "JobID|Elapsed|NNodes\n1|00:10:00|1\n"},
	{FTH_FORMAT_SACCT, 1, "job's size", "JobID|Submit|Elapsed\n"},
	{FTH_FORMAT_SACCT, 2, "2 columns where the header has 9", SACCT "1|x\n"},
	{FTH_FORMAT_SACCT, 2, "not a duration", SACCT "1|a|b|2024-03-01T10:00:00|ten|1:00|1||COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "not a time", SACCT "1|a|b|yesterday|01:00|1:00|1||COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "not a count", SACCT "1|a|b|2024-03-01T10:00:00|01:00|1:00|many||COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "ReqTRES: 'cpu=abc' is not a count", SACCT "1|a|b|2024-03-01T10:00:00|01:00|1:00|1|mem=1G,cpu=abc|COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "Timelimit '0:75:99'", SACCT "1|a|b|2024-03-01T10:00:00|01:00|0:75:99|1||COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "Elapsed '1-24:00:00'", SACCT "1|a|b|2024-03-01T10:00:00|1-24:00:00|01:00|1||COMPLETED\n"},
	{FTH_FORMAT_SACCT, 2, "no job in it", SACCT "1|a|b|2024-03-01T10:00:00|00:00|1:00|1||CANCELLED\n"},
};

static void bad_lines_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < FTH_COUNT(bads); i++) {
		struct world *w = world_new();
		char at[32];
		int r = world_read(w, "bad", bads[i].text, strlen(bads[i].text), bads[i].format, FTH_CONTENT_WORKLOAD, NULL);
		snprintf(at, sizeof(at), "bad:%d: ", bads[i].line);
		if (r != -EINVAL || strncmp(w->err.text, at, strlen(at)) || !strstr(w->err.text, bads[i].says))
			fail_msg("%s -> %d '%s', wanted '%s...%s'", bads[i].text, r, w->err.text, at, bads[i].says);
		world_free(w);
	}
}

/* ---- demands and classes ---- */

static int demand_of(const char *text, struct fth_demand_series *s, struct fth_error *err)
{
	struct fth_input *in;
	*s = (struct fth_demand_series){0};
	assert_int_equal(fth_input_open_memory(&in, "d", text, strlen(text), err), 0);
	int r = fth_read_demand(s, in, err);
	fth_input_close(in);
	return r;
}

static void demands(void **state)
{
	struct fth_demand_series s;
	struct fth_error err = {0};
	(void)state;
	assert_int_equal(demand_of("instances\n2\n2\n5\n", &s, &err), 0);
	assert_int_equal(s.steps.len, 2);
	assert_int_equal(s.steps.data[1].at, 2 * FTH_HOUR);
	assert_int_equal(s.steps.data[1].change, 3);
	assert_int_equal(s.end, 3 * FTH_HOUR);
	fth_demand_series_release(&s);
	assert_int_equal(demand_of("time_s,instances\n60,1\n120,0\n", &s, &err), 0);
	assert_int_equal(s.start, 60 * FTH_SEC);
	assert_int_equal(s.end, 180 * FTH_SEC);
	fth_demand_series_release(&s);
	/* One that has not gone is there to the end. */
	assert_int_equal(demand_of("instance,ready_s,gone_s\n0,10,70\n1,20,\n2,,\n", &s, &err), 0);
	assert_int_equal(s.steps.len, 3);
	assert_int_equal(s.steps.data[2].change, 1);
	assert_int_equal(s.end, 70 * FTH_SEC);
	fth_demand_series_release(&s);
	static const char *const wrong[] = {"instances\n-1\n", "time_s,instances\n5,1\n5,2\n", "hours\n1\n", "instances\n", "instance,ready_s,gone_s\n0,10,5\n", "instance,ready_s,gone_s\n0,10,\n"};
	for (size_t i = 0; i < FTH_COUNT(wrong); i++) {
		assert_int_equal(demand_of(wrong[i], &s, &err), -EINVAL);
		assert_non_null(strstr(err.text, "d:"));
		fth_demand_series_release(&s);
	}
}

static int classes_of(const char *text, struct fth_reserve_market *m, struct fth_symtab *syms, struct fth_error *err)
{
	struct fth_input *in;
	*m = (struct fth_reserve_market){.syms = syms};
	assert_int_equal(fth_input_open_memory(&in, "c", text, strlen(text), err), 0);
	int r = fth_read_classes(m, in, err);
	fth_input_close(in);
	return r;
}

#define CLASSES "class,term,upfront_usd,hourly_usd,every_hour,kind\non-demand,,,1.0,,\n"
static void classes(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m;
	struct fth_error err = {0};
	(void)state;
	assert_int_equal(classes_of(CLASSES "a,1y,100,0.5,no,reserved\nsp,8760h,0,0.7,,savings-plan\n", &m, syms, &err), 0);
	assert_int_equal(m.classes.len, 2);
	assert_int_equal(m.classes.data[1].term, 365 * FTH_DAY);
	assert_false(m.classes.data[1].every_hour);
	assert_true(m.classes.data[0].savings_plan && m.classes.data[0].every_hour);
	fth_reserve_market_release(&m);
	static const struct {
		int line;
		const char *says, *text;
	} wrong[] = {
		{3, "cost more than on demand", CLASSES "a,1y,0,1.5,no,reserved\n"},
		{3, "not 1y", CLASSES "a,soon,0,0.5,no,reserved\n"},
		{3, "shorter than a week", CLASSES "a,1d,0,0.5,no,reserved\n"},
		{3, "not yes or no", CLASSES "a,1y,0,0.5,maybe,reserved\n"},
		{2, "comes first", "class,term,upfront_usd,hourly_usd\na,1y,0,0.5\n"},
		{4, "class a twice", CLASSES "a,1y,0,0.5,no,reserved\na,3y,0,0.5,no,reserved\n"},
	};
	for (size_t i = 0; i < FTH_COUNT(wrong); i++) {
		char at[16];
		snprintf(at, sizeof(at), "c:%d: ", wrong[i].line);
		int r = classes_of(wrong[i].text, &m, syms, &err);
		if (r != -EINVAL || strncmp(err.text, at, strlen(at)) || !strstr(err.text, wrong[i].says))
			fail_msg("%d '%s', wanted '%s...%s'", r, err.text, at, wrong[i].says);
		fth_reserve_market_release(&m);
	}
	fth_symtab_free(syms);
}

static void contracts_in_a_catalog(void **state)
{
	static const char text[] = "farthing-catalog 1\ntype t holds=cpu:16 boot=1:126s,2:186s\noffer t price=2.4 increment=3600s\n"
				   "offer t market=reserved price=0.361 contract=1y term=31536000s upfront=5000 every-hour=yes\n";
	(void)state;
	struct world *w = world_new();
	if (world_read(w, "c", text, strlen(text), FTH_FORMAT_AUTO, FTH_CONTENT_CATALOG, NULL))
		fail_msg("%s", w->err.text);
	assert_false(w->catalog.offers.data[1].available);
	assert_int_equal(w->catalog.types.data[0].boot[1].time, 186 * FTH_SEC);
	size_t n;
	char *again = world_write(w, FTH_CONTENT_CATALOG, &n);
	assert_non_null(strstr(again, "boot=1:126s,2:186s"));
	assert_null(strstr(again, "available"));
	free(again);
	world_free(w);
	static const struct bad wrong[] = {
		{0, 4, "cost more than on demand", "farthing-catalog 1\ntype t holds=cpu:1\noffer t price=1\noffer t market=reserved price=2 contract=x term=1d\n"},
		{0, 3, "need term=", "farthing-catalog 1\ntype t holds=cpu:1\noffer t price=1 upfront=3\n"},
		{0, 3, "market=reserved", "farthing-catalog 1\ntype t holds=cpu:1\noffer t price=1 contract=x term=1d\n"},
		{0, 2, "sizes ascend", "farthing-catalog 1\ntype t holds=cpu:1 boot=2:1s,1:2s\n"},
	};
	for (size_t i = 0; i < FTH_COUNT(wrong); i++) {
		char at[16];
		w = world_new();
		snprintf(at, sizeof(at), "c:%d: ", wrong[i].line);
		int r = world_read(w, "c", wrong[i].text, strlen(wrong[i].text), FTH_FORMAT_AUTO, FTH_CONTENT_CATALOG, NULL);
		if (r != -EINVAL || strncmp(w->err.text, at, strlen(at)) || !strstr(w->err.text, wrong[i].says))
			fail_msg("%d '%s', wanted '%s...%s'", r, w->err.text, at, wrong[i].says);
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swf_fields),	 cmocka_unit_test(overrun_limits_are_raised),
		cmocka_unit_test(datastar_whole), cmocka_unit_test(sacct_rows),
		cmocka_unit_test(bad_lines_are_refused), cmocka_unit_test(demands),
		cmocka_unit_test(classes),	 cmocka_unit_test(contracts_in_a_catalog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
