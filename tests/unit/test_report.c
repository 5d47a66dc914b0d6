/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and what is written about them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/format.h"
#include "report/pack.h"
#include "report/repro.h"

#include "../support/sample.c"

static json_t *parsed(const struct fth_str *s)
{
	json_error_t err;
	json_t *j = json_loadb(s->data, s->len, JSON_REJECT_DUPLICATES, &err);
	if (!j)
		print_error("line %d: %s\n", err.line, err.text);
	assert_non_null(j);
	return j;
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_number(v))
		print_error("%s is not a number\n", key);
	assert_true(json_is_number(v));
	return json_number_value(v);
}

static void holds(const struct fth_str *s, const char *text)
{
	if (!strstr(s->data, text))
		print_error("not found: %s\n", text);
	assert_non_null(strstr(s->data, text));
}

/* ---- runs ---- */

static void percentiles_are_nearest_rank(void **state)
{
	(void)state;
	const fth_time v[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
	assert_int_equal(fth_percentile(v, 10, 50), 50);
	assert_int_equal(fth_percentile(v, 10, 51), 60);
	assert_int_equal(fth_percentile(v, 10, 95), 100);
	assert_int_equal(fth_percentile(v, 10, 0), 10);
	assert_int_equal(fth_percentile(v, 10, 100), 100);
	assert_int_equal(fth_percentile(v, 1, 99), 10);
	assert_int_equal(fth_percentile(v, 0, 50), 0);
}

static void job_figures_by_hand(void **state)
{
	(void)state;
	struct fth_run r;
	fth_run_init(&r);
	/* Two done, one started and never done, one that never started. */
	const struct fth_run_job jobs[] = {
		{.submitted = 0, .started = 10 * FTH_SEC, .ended = 110 * FTH_SEC, .executing = 80 * FTH_SEC, .standalone = 40 * FTH_SEC,
		 .speed = 0.5},
		{.submitted = 100 * FTH_SEC, .started = 130 * FTH_SEC, .ended = 150 * FTH_SEC, .executing = 20 * FTH_SEC,
		 .standalone = 20 * FTH_SEC, .speed = 1},
		{.submitted = 5 * FTH_SEC, .started = 6 * FTH_SEC, .ended = FTH_NEVER, .standalone = 1},
		{.submitted = 5 * FTH_SEC, .started = FTH_NEVER, .ended = FTH_NEVER, .standalone = 1},
	};
	for (size_t i = 0; i < FTH_COUNT(jobs); i++)
		fth_vec_push(&r.job_list, jobs[i]);
	fth_run_job_figures(&r);
	assert_int_equal(r.jobs, 2);
	assert_int_equal(r.jobs_unfinished, 2);
	/* A service that runs on is not unfinished, one that never came up is. */
	const struct fth_run_service services[] = {{.first = 6 * FTH_SEC}, {.first = FTH_NEVER}};
	for (size_t i = 0; i < FTH_COUNT(services); i++)
		fth_vec_push(&r.services, services[i]);
	fth_run_job_figures(&r);
	assert_int_equal(r.jobs_unfinished, 1);
	assert_true(r.jct_mean_s == 80);
	assert_true(r.jct_p50_s == 50);
	assert_true(r.jct_p95_s == 110);
	assert_true(r.wait_mean_s == 20);
	assert_true(r.idle_mean_s == 30);
	assert_true(r.norm_throughput == 0.75);
	assert_true(fabs(r.stretch_mean - (110.0 / 40 + 50.0 / 20) / 2) < 1e-12);
	fth_run_release(&r);
}

static void buckets_merge_two_by_two(void **state)
{
	(void)state;
	struct fth_run r;
	size_t index;
	fth_run_init(&r);
	r.ntypes = 2;
	for (int i = 0; i < 2048; i++) {
		fth_run_bucket_at(&r, i * FTH_MINUTE, &index)->cost_usd = 1;
		r.type_seconds.data[index * 2 + 1] = i;
	}
	assert_int_equal(r.buckets.len, 2048);
	assert_int_equal(r.bucket_width, FTH_MINUTE);
	/* The first moment that needs one more bucket. */
	struct fth_run_bucket *b = fth_run_bucket_at(&r, 2048 * FTH_MINUTE, &index);
	assert_int_equal(r.bucket_width, 2 * FTH_MINUTE);
	assert_int_equal(index, 1024);
	assert_true(b->cost_usd == 0);
	assert_int_equal(r.buckets.len, 1025);
	assert_int_equal(r.type_seconds.len, 2050);
	assert_true(r.buckets.data[3].cost_usd == 2);
	assert_true(r.type_seconds.data[3 * 2 + 1] == 6 + 7);
	assert_true(r.type_seconds.data[3 * 2] == 0);
	/* Far away: several times at once, and an odd bucket at the end. */
	fth_run_bucket_at(&r, 100000 * FTH_MINUTE, &index);
	assert_int_equal(r.bucket_width, 64 * FTH_MINUTE);
	assert_true(r.buckets.len <= FTH_RUN_BUCKETS);
	double sum = 0, types_sum = 0;
	for (size_t i = 0; i < r.buckets.len; i++) {
		sum += r.buckets.data[i].cost_usd;
		types_sum += r.type_seconds.data[i * 2 + 1];
	}
	assert_true(sum == 2048);
	assert_true(types_sum == 2047.0 * 2048 / 2);
	fth_run_release(&r);
}

/* ---- pipe ---- */

static int spilled(const struct fth_run *r)
{
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(fth_run_write(r, fileno(f)), 0);
	int fd = dup(fileno(f));
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void runs_pass_through_a_pipe(void **state)
{
	(void)state;
	struct sample s;
	sample_make(&s, 2, 500, 3);
	int fd[2];
	assert_int_equal(pipe(fd), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(fth_run_write(&s.runs[0], fd[1]) || fth_run_write(&s.runs[1], fd[1]));
	close(fd[1]);
	struct fth_run got[2];
	for (int i = 0; i < 2; i++) {
		fth_run_init(&got[i]);
		assert_int_equal(fth_run_read(&got[i], fd[0]), 0);
	}
	close(fd[0]);
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	/* What is written about them is the same. */
	struct fth_comparison other = s.c;
	struct fth_str a = {0}, b = {0};
	other.runs = got;
	fth_comparison_json(&s.c, &a);
	fth_comparison_json(&other, &b);
	fth_run_jobs_csv(&s.runs[1], s.syms, &a);
	fth_run_jobs_csv(&got[1], s.syms, &b);
	fth_run_instances_csv(&s.runs[1], &a);
	fth_run_instances_csv(&got[1], &b);
	fth_comparison_html(&s.c, &a);
	fth_comparison_html(&other, &b);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	fth_str_release(&a);
	fth_str_release(&b);
	fth_run_release(&got[0]);
	fth_run_release(&got[1]);
	sample_release(&s);
}

static void broken_pipes_are_refused(void **state)
{
	(void)state;
	struct sample s;
	sample_make(&s, 1, 50, 3);
	struct fth_run got;
	fth_run_init(&got);
	int fd = spilled(&s.runs[0]);
	off_t size = lseek(fd, 0, SEEK_END);
	/* Cut anywhere: an error, and nothing is changed. */
	for (off_t cut = size - 1; cut >= 0; cut -= cut > 4000 ? 997 : 61) {
		assert_int_equal(ftruncate(fd, cut), 0);
		lseek(fd, 0, SEEK_SET);
		assert_int_equal(fth_run_read(&got, fd), -EPIPE);
		assert_int_equal(got.job_list.len, 0);
	}
	close(fd);
	fd = spilled(&s.runs[0]);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(fth_run_read(&got, fd), -EBADMSG);
	close(fd);
	/* A length that no file can hold. */
	struct fth_run liar = s.runs[0];
	liar.job_list.len = SIZE_MAX / 2;
	uint64_t head[2];
	fd = spilled(&s.runs[0]);
	assert_int_equal(pread(fd, head, sizeof(head), 0), sizeof(head));
	assert_int_equal(pwrite(fd, &liar, sizeof(liar), sizeof(head)), sizeof(liar));
	assert_int_equal(fth_run_read(&got, fd), -EBADMSG);
	close(fd);
	fth_run_release(&got);
	sample_release(&s);
}

/* ---- JSON ---- */

static void compare_json_has_every_promised_field(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0};
	sample_make(&s, 3, 100, 5);
	s.runs[1].cost = 508616360000001;
	s.runs[1].rejected_actions = 3;
	fth_comparison_json(&s.c, &out);
	holds(&out, "\"cost_usd\": 508616.360000001");
	json_t *j = parsed(&out), *runs = json_object_get(j, "runs");
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "farthing.compare/1");
	assert_true(number(json_object_get(j, "workload"), "jobs") == 100);
	assert_int_equal(json_array_size(runs), 3);
	static const char *const numbers[] = {"cost_usd",    "jobs",	     "jct_mean_s",	   "jct_p50_s",	 "jct_p95_s",
					      "wait_mean_s", "idle_mean_s",  "instances_launched", "migrations", "tasks_per_instance",
					      "norm_throughput", "rejected_actions", "wall_s", "peak_rss_mb"};
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < FTH_COUNT(numbers); k++)
			number(json_array_get(runs, i), numbers[k]);
	const json_t *r = json_array_get(runs, 1);
	const struct fth_run *want = &s.runs[1];
	assert_string_equal(json_string_value(json_object_get(r, "policy")), "eva");
	assert_string_equal(json_string_value(json_object_get(json_object_get(r, "params"), "round")), "300s");
	assert_true(number(r, "jobs") == 100);
	assert_true(number(r, "jct_mean_s") == want->jct_mean_s);
	assert_true(number(r, "jct_p95_s") == want->jct_p95_s);
	assert_true(number(r, "migrations") == (double)want->migrations);
	assert_true(number(r, "rejected_actions") == 3);
	assert_true(number(json_object_get(r, "alloc"), "gpu") == want->alloc[0]);
	assert_true(number(json_object_get(r, "alloc"), "cpu") == want->alloc[1]);
	assert_true(number(json_object_get(r, "alloc"), "mem") == want->alloc[2]);
	assert_true(number(json_object_get(r, "waste_usd"), "boot") == want->waste_boot_usd);
	assert_true(number(json_object_get(r, "waste_usd"), "idle") == want->waste_idle_usd);
	assert_true(number(json_object_get(r, "waste_usd"), "fragmentation") == want->waste_fragmentation_usd);
	assert_true(number(json_object_get(r, "waste_usd"), "rounding") == want->waste_rounding_usd);
	assert_true(number(json_object_get(json_object_get(r, "notes"), "full_adopted"), "sum") == 71);
	assert_true(json_is_null(json_object_get(r, "fallback")));
	json_decref(j);
	fth_str_clear(&out);
	fth_comparison_json_one(&s.c, &out);
	j = parsed(&out);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "farthing.sim/1");
	assert_true(number(json_object_get(j, "run"), "jobs") == 100);
	json_decref(j);
	fth_str_release(&out);
	sample_release(&s);
}

static void json_text_is_quoted(void **state)
{
	(void)state;
	struct fth_str out = {0};
	struct fth_json j = {.out = &out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "a\"b", "back\\slash \"q\" \n \x01 \xc3\xa9 \xff\xc0\x80 end");
	fth_json_real(&j, "nan", NAN);
	fth_json_begin(&j, "empty", '[');
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
	json_t *v = parsed(&out);
	assert_string_equal(json_string_value(json_object_get(v, "a\"b")),
			    "back\\slash \"q\" \n \x01 \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd end");
	assert_true(json_is_null(json_object_get(v, "nan")));
	assert_int_equal(json_array_size(json_object_get(v, "empty")), 0);
	json_decref(v);
	fth_str_release(&out);
}

/* ---- CSV ---- */

/* Fields of one row by RFC 4180; moves *s past it. */
static size_t csv_row(const char **s, struct fth_str *fields, size_t max)
{
	size_t n = 0;
	for (;;) {
		assert_true(n < max);
		struct fth_str *f = &fields[n++];
		fth_str_clear(f);
		fth_str_add(f, "");
		if (**s == '"') {
			for ((*s)++; **s != '"' || (*s)[1] == '"'; (*s)++) {
				assert_true(**s);
				*s += **s == '"';
				fth_str_addc(f, **s);
			}
			(*s)++;
		} else {
			for (; !strchr(",\r", **s); (*s)++)
				fth_str_addc(f, **s);
		}
		if (**s == '\r') {
			assert_int_equal((*s)[1], '\n');
			*s += 2;
			return n;
		}
		assert_int_equal(*(*s)++, ',');
	}
}

static void csv_rows_have_all_columns(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0}, fields[40] = {0};
	sample_make(&s, 3, 40, 5);
	strcpy(s.runs[2].policy, "odd, \"quoted\"\nname");
	fth_comparison_csv(&s.c, &out);
	const char *at = out.data;
	size_t columns = csv_row(&at, fields, 40);
	assert_int_equal(columns, 37);
	assert_string_equal(fields[2].data, "cost_usd");
	for (int i = 0; i < 3; i++) {
		struct fth_str usd = {0};
		assert_int_equal(csv_row(&at, fields, 40), columns);
		fth_str_usd(&usd, s.runs[i].cost);
		assert_string_equal(fields[0].data, s.runs[i].policy);
		assert_string_equal(fields[1].data, s.runs[i].params.data);
		assert_string_equal(fields[2].data, usd.data);
		fth_str_release(&usd);
	}
	assert_int_equal(*at, 0);

	fth_str_clear(&out);
	s.runs[1].job_list.data[7].ended = FTH_NEVER;
	fth_run_jobs_csv(&s.runs[1], s.syms, &out);
	at = out.data;
	assert_int_equal(csv_row(&at, fields, 40), 9);
	for (int i = 0; i < 40; i++) {
		char key[16];
		snprintf(key, sizeof(key), "job-%d", i);
		assert_int_equal(csv_row(&at, fields, 40), 9);
		assert_string_equal(fields[0].data, key);
		assert_string_equal(fields[8].data, "5");
		assert_int_equal(fields[3].len == 0, i == 7);
	}
	assert_int_equal(*at, 0);

	fth_str_clear(&out);
	fth_run_instances_csv(&s.runs[0], &out);
	at = out.data;
	assert_int_equal(csv_row(&at, fields, 40), 9);
	for (size_t i = 0; i < s.runs[0].instance_list.len; i++) {
		assert_int_equal(csv_row(&at, fields, 40), 9);
		assert_string_equal(fields[1].data, types[s.runs[0].instance_list.data[i].type]);
		assert_string_equal(fields[2].data, "on-demand");
	}
	assert_int_equal(*at, 0);
	for (size_t i = 0; i < 40; i++)
		fth_str_release(&fields[i]);
	fth_str_release(&out);
	sample_release(&s);
}

/* ---- table ---- */

static size_t widest(const char *text)
{
	size_t most = 0;
	while (*text) {
		size_t n = strcspn(text, "\n");
		most = FTH_MAX(most, n);
		text += n + (text[n] == '\n');
	}
	return most;
}

static void table_fits_and_marks_the_cheapest(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0};
	sample_make(&s, 5, 200, 9);
	fth_comparison_table(&s.c, 0, false, &out);
	holds(&out, "wall");
	holds(&out, "mem");
	assert_true(widest(out.data) > 120);
	for (unsigned width = 80; width <= 140; width += 20) {
		fth_str_clear(&out);
		fth_comparison_table(&s.c, width, false, &out);
		assert_true(widest(out.data) <= width);
		holds(&out, "no-packing");
		holds(&out, "cost");
		assert_null(strchr(out.data, '\033'));
	}
	size_t best = fth_comparison_cheapest(&s.c);
	struct fth_str want = {0};
	fth_human_usd(&want, fth_usd(s.runs[best].cost), 2);
	fth_str_addc(&want, '*');
	holds(&out, want.data);
	/* A cost from which contracts that run on are left out says so. */
	assert_null(strchr(out.data, '~'));
	s.runs[best].prorated = true;
	want.data[want.len - 1] = '~';
	fth_str_clear(&out);
	fth_comparison_table(&s.c, 100, false, &out);
	fth_str_addc(&want, '*');
	holds(&out, want.data);
	holds(&out, "\n~ less what contracts are still worth");
	s.runs[best].prorated = false;
	fth_str_clear(&out);
	fth_comparison_table(&s.c, 100, true, &out);
	assert_non_null(strchr(out.data, '\033'));
	fth_str_clear(&out);
	fth_comparison_table_one(&s.c, 1, false, &out);
	holds(&out, "full_adopted");
	holds(&out, "completion time");
	assert_null(strchr(out.data, '\033'));
	fth_str_release(&want);
	fth_str_release(&out);
	sample_release(&s);
}

/* Nor one whose services were there for less than was asked for, while another kept its own. */
static void cheapest_must_have_kept_its_services(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0};
	sample_make(&s, 3, 50, 9);
	for (int i = 0; i < 3; i++) {
		struct fth_run_service web = {.name = "web", .target = 0.99, .tasks = 2, .over = 1000, .whole = i == 1 ? 900 : 995};
		fth_vec_push(&s.runs[i].services, web);
		s.runs[i].cost = (30 - 10 * i) * FTH_USD;
	}
	assert_int_equal(fth_comparison_cheapest(&s.c), 2);
	s.runs[2].services.data[0].first = FTH_NEVER;
	assert_int_equal(fth_comparison_cheapest(&s.c), 0);
	assert_true(fth_comparison_decided(&s.c));
	fth_comparison_table(&s.c, 80, false, &out);
	holds(&out, "service web never had all of its tasks running");
	holds(&out, "below the 0.99 asked for");
	fth_str_clear(&out);
	fth_comparison_html(&s.c, &out);
	holds(&out, "below the 0.99 asked for");
	fth_str_release(&out);
	sample_release(&s);
}

/* A policy that left jobs undone, or failed, is not the cheapest; and the reader is told. */
static void cheapest_must_have_done_the_work(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0};
	sample_make(&s, 3, 50, 9);
	s.runs[0].cost = 30 * FTH_USD;
	s.runs[1].cost = 10 * FTH_USD;
	s.runs[2].cost = 20 * FTH_USD;
	assert_int_equal(fth_comparison_cheapest(&s.c), 1);
	s.runs[1].jobs_unfinished = 4;
	assert_int_equal(fth_comparison_cheapest(&s.c), 2);
	strcpy(s.runs[2].fallback, "no-packing");
	s.runs[2].rejected_actions = 1;
	assert_int_equal(fth_comparison_cheapest(&s.c), 0);
	assert_int_equal(fth_comparison_baseline(&s.c), 0);
	fth_comparison_table(&s.c, 80, false, &out);
	holds(&out, "4 jobs did not end");
	holds(&out, "no-packing took over");
	holds(&out, "refused");
	/* The engine's reason says who took over: once is enough. */
	fth_str_add(&s.runs[2].note, "policy p failed: why; no-packing took over");
	fth_str_clear(&out);
	fth_comparison_table(&s.c, 80, false, &out);
	const char *once = strstr(out.data, "took over");
	assert_non_null(once);
	assert_null(strstr(once + 1, "took over"));
	fth_str_clear(&out);
	fth_comparison_html(&s.c, &out);
	once = strstr(out.data, "took over");
	assert_non_null(once);
	assert_null(strstr(once + 1, "took over"));
	fth_str_release(&out);
	sample_release(&s);
}

static void runs_of_one_policy_are_told_apart(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str out = {0};
	sample_make(&s, 7, 20, 9); /* 1 and 6 are both eva; their t differ, their round does not */
	fth_comparison_label(&s.c, 6, &out);
	assert_string_equal(out.data, "eva:t=0.96");
	fth_str_clear(&out);
	fth_comparison_label(&s.c, 2, &out);
	assert_string_equal(out.data, "synergy");
	fth_str_clear(&out);
	fth_str_clear(&s.runs[6].params);
	fth_str_add(&s.runs[6].params, s.runs[1].params.data);
	fth_comparison_label(&s.c, 6, &out);
	assert_string_equal(out.data, "eva (2)");
	fth_str_release(&out);
	sample_release(&s);
}

/* ---- HTML ---- */

static bool is_void(const char *name)
{
	return !strcmp(name, "meta") || !strcmp(name, "input") || !strcmp(name, "br") || !strcmp(name, "link");
}

/* Every element is closed in order; no attribute is left open; no two ids are equal. */
static void check_html(const struct fth_str *page)
{
	FTH_VEC(char *) open = {0};
	struct fth_symtab *ids = fth_symtab_new();
	const char *s = strstr(page->data, "<html");
	assert_non_null(s);
	while ((s = strchr(s, '<'))) {
		const char *end = strchr(s, '>');
		char name[32] = "";
		assert_non_null(end);
		size_t quotes = 0;
		for (const char *q = s; q < end; q++)
			quotes += *q == '"';
		assert_int_equal(quotes % 2, 0);
		bool closing = s[1] == '/', empty = end[-1] == '/';
		sscanf(s + 1 + closing, "%31[a-z0-9]", name);
		const char *id = strstr(s, " id=\"");
		if (id && id < end) {
			size_t n = strcspn(id + 5, "\"");
			uint32_t before = fth_symtab_count(ids);
			fth_sym_internn(ids, id + 5, n);
			assert_int_equal(fth_symtab_count(ids), before + 1);
		}
		if (closing) {
			if (!open.len || strcmp(fth_vec_last(&open), name))
				print_error("</%s> closes %s\n", name, open.len ? fth_vec_last(&open) : "nothing");
			assert_true(open.len && !strcmp(fth_vec_last(&open), name));
			free(fth_vec_pop(&open));
		} else if (!empty && !is_void(name)) {
			fth_vec_push(&open, fth_strdup(name));
		}
		s = end + 1;
	}
	assert_int_equal(open.len, 0);
	fth_vec_release(&open);
	fth_symtab_free(ids);
	/* Nothing is loaded, nothing runs. */
	static const char *const never[] = {"http", "<script", "<link", "@import", "url(", " src=", "<img", "<iframe", "nan ", "Mnan", "nan\"", ">nan", "inf\""};
	for (size_t i = 0; i < FTH_COUNT(never); i++) {
		if (strstr(page->data, never[i]))
			print_error("found %s\n", never[i]);
		assert_null(strstr(page->data, never[i]));
	}
}

static void page_is_whole_and_loads_nothing(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str page = {0}, again = {0};
	sample_make(&s, 6, 3000, 4);
	fth_comparison_html(&s.c, &page);
	check_html(&page);
	assert_true(page.len < 1000000);
	holds(&page, "prefers-color-scheme:dark");
	holds(&page, "name=\"viewport\"");
	holds(&page, "is cheapest");
	holds(&page, "farthing compare --workload jobs.csv");
	holds(&page, "the 60 costliest of ");
	fth_comparison_html(&s.c, &again);
	assert_string_equal(page.data, again.data);
	fth_str_release(&page);
	fth_str_release(&again);
	sample_release(&s);
}

static void page_stands_hostile_names(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str page = {0};
	sample_make(&s, 3, 40, 4);
	strcpy(s.runs[0].policy, "<script>alert('x')</script>");
	strcpy(s.runs[1].policy, "a\" onload=\"x & \xff\xfe");
	s.c.workload_name = "</title><script>";
	s.c.command = "farthing <b> & \"q\"";
	fth_str_clear(&s.runs[0].type_names);
	for (int t = 0; t < NTYPES; t++)
		fth_str_addn(&s.runs[0].type_names, "<i>&'", 6);
	s.runs[2].jobs_unfinished = 1;
	strcpy(s.runs[2].fallback, "<u>");
	fth_str_add(&s.runs[2].note, "<s>");
	strcpy(s.runs[2].notes.data[0].name, "<td>\"");
	fth_comparison_html(&s.c, &page);
	check_html(&page);
	assert_null(strstr(page.data, "<i>"));
	assert_null(strstr(page.data, "<u>"));
	holds(&page, "&lt;script&gt;");
	fth_str_release(&page);
	sample_release(&s);
}

/* Nothing finished, nothing rented, one run, none: still a page. */
static void page_of_little(void **state)
{
	(void)state;
	struct sample s;
	struct fth_str page = {0};
	sample_make(&s, 1, 20, 4);
	fth_comparison_html(&s.c, &page);
	check_html(&page);
	sample_release(&s);
	sample_make(&s, 0, 0, 4);
	fth_str_clear(&page);
	fth_comparison_html(&s.c, &page);
	check_html(&page);
	struct fth_run empty[2];
	fth_run_init(&empty[0]);
	fth_run_init(&empty[1]);
	s.c.runs = empty;
	s.c.nruns = 2;
	fth_str_clear(&page);
	fth_comparison_html(&s.c, &page);
	check_html(&page);
	fth_str_clear(&page);
	fth_comparison_table(&s.c, 100, true, &page);
	fth_comparison_table_one(&s.c, 1, true, &page);
	fth_str_clear(&page);
	fth_comparison_json(&s.c, &page);
	json_decref(parsed(&page));
	s.c.nruns = 0;
	sample_release(&s);
	fth_str_release(&page);
}

/* ---- ticks and figures ---- */

static void ticks_are_round(void **state)
{
	(void)state;
	double t[FTH_MAX_TICKS];
	assert_int_equal(fth_ticks(0, 97, 4, FTH_UNIT_PLAIN, false, t), 4);
	assert_true(t[1] == 25 && t[3] == 75);
	assert_int_equal(fth_ticks(0, 3 * 86400, 5, FTH_UNIT_SECONDS, false, t), 4);
	assert_true(t[1] == 86400);
	assert_int_equal(fth_ticks(3, 3, 4, FTH_UNIT_PLAIN, false, t), 0);
	assert_int_equal(fth_ticks(1, 1000, 4, FTH_UNIT_PLAIN, true, t), 4);
	assert_true(t[3] == 1000);
	struct fth_str s = {0};
	fth_tick_text(&s, 0, 86400, FTH_UNIT_SECONDS);
	fth_str_addc(&s, '|');
	fth_tick_text(&s, 1.5 * 3600, 1800, FTH_UNIT_SECONDS);
	fth_str_addc(&s, '|');
	fth_tick_text(&s, 1250000, 250000, FTH_UNIT_USD);
	fth_str_addc(&s, '|');
	fth_tick_text(&s, 0.25, 0.25, FTH_UNIT_SHARE);
	assert_string_equal(s.data, "0 d|90 min|$1.25M|25%");
	fth_str_release(&s);
}

static void figures_for_people(void **state)
{
	(void)state;
	struct fth_str s = {0};
	fth_human_int(&s, -1234567);
	fth_str_addc(&s, '|');
	fth_human_usd(&s, 508616.364, 2);
	fth_str_addc(&s, '|');
	fth_human_usd(&s, -0.001, 2);
	fth_str_addc(&s, '|');
	fth_human_usd(&s, -12.5, 2);
	fth_str_addc(&s, '|');
	fth_human_percent(&s, 0.388, 1);
	fth_str_addc(&s, '|');
	fth_human_short(&s, 999999, false);
	fth_str_addc(&s, '|');
	fth_human_duration(&s, 70740, fth_human_unit(70740));
	assert_string_equal(s.data, "-1,234,567|$508,616.36|$0.00|-$12.50|38.8%|1M|19.65 h");
	fth_str_release(&s);
}

/* ---- pack and repro ---- */

static void pack_is_written(void **state)
{
	(void)state;
	const char *const a[] = {"t1", "t2", "t3", "t4"}, *const b[] = {"t5"};
	const struct fth_pack_instance list[] = {
		{.type = "it1", .repeat = 2, .price = 6 * FTH_USD, .tasks = a, .ntasks = 2},
		{.type = "it4", .repeat = 1, .price = FTH_USD * 4 / 5, .tasks = b, .ntasks = 1},
	};
	struct fth_pack_report p = {.method = "full-reconfiguration", .cost = FTH_USD * 128 / 10, .bound = FTH_USD * 128 / 10,
				    .no_packing = FTH_USD * 162 / 10, .optimal = true, .instances = list, .ninstances = 2, .wall_s = 0.01};
	struct fth_str out = {0}, fields[8] = {0};
	fth_pack_json(&p, &out);
	holds(&out, "\"cost_per_hour\": 12.8,");
	json_t *j = parsed(&out), *i = json_object_get(j, "instances");
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "farthing.plan.pack/1");
	assert_string_equal(json_string_value(json_object_get(j, "method")), "full-reconfiguration");
	assert_true(number(j, "lower_bound_per_hour") == 12.8);
	assert_true(number(j, "gap") == 0);
	assert_true(number(j, "no_packing_per_hour") == 16.2);
	assert_true(number(j, "wall_s") == 0.01);
	assert_int_equal(json_array_size(i), 3);
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(i, 1), "tasks"), 0)), "t3");
	assert_string_equal(json_string_value(json_object_get(json_array_get(i, 2), "type")), "it4");
	json_decref(j);
	fth_str_clear(&out);
	fth_pack_csv(&p, &out);
	const char *at = out.data;
	for (int row = 0; row < 6; row++)
		assert_int_equal(csv_row(&at, fields, 8), 4);
	assert_string_equal(fields[0].data, "2");
	assert_string_equal(fields[3].data, "t5");
	assert_int_equal(*at, 0);
	fth_str_clear(&out);
	fth_pack_table(&p, false, &out);
	holds(&out, "5 tasks on 3 instances");
	holds(&out, "2 x it1");
	holds(&out, "$12.8000/h");
	holds(&out, "saves 21.0%");
	for (int k = 0; k < 8; k++)
		fth_str_release(&fields[k]);
	fth_str_release(&out);
}

static void repro_is_written(void **state)
{
	(void)state;
	const struct fth_repro_row rows[] = {
		{"eva-norm-cost", "Eva, cost", "%", 58, 61.25, 60, 62.5},
		{"nothing", "<not> told", "h", NAN, 2, NAN, NAN},
		{"fast", "Time", "s", 1800, 0.6, NAN, NAN},
	};
	const char *const notes[] = {"a note, with a \"quote\""};
	const double x[] = {1, 2, 3}, y[] = {3, 1, 2};
	const struct fth_series line = {.name = "ours", .x = x, .y = y, .n = 3};
	const struct fth_plot plot = {.id = "fig4", .title = "A figure", .x = {.label = "jobs"}, .series = &line, .nseries = 1};
	const struct fth_repro_table table = {"table14", "End to end", rows, 3, notes, 1, &plot, 1, NULL, 0};
	const struct fth_repro r = {.paper = "eva", .tables = &table, .ntables = 1};
	struct fth_str out = {0}, fields[10] = {0};
	fth_repro_json(&r, &out);
	json_t *j = parsed(&out), *t = json_array_get(json_object_get(j, "tables"), 0), *row = json_object_get(t, "rows");
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "farthing.repro/1");
	assert_string_equal(json_string_value(json_object_get(j, "paper")), "eva");
	assert_string_equal(json_string_value(json_object_get(t, "name")), "table14");
	assert_string_equal(json_string_value(json_array_get(json_object_get(t, "notes"), 0)), notes[0]);
	assert_string_equal(json_string_value(json_object_get(json_array_get(row, 0), "id")), "eva-norm-cost");
	assert_string_equal(json_string_value(json_object_get(json_array_get(row, 0), "unit")), "%");
	assert_true(number(json_array_get(row, 0), "paper") == 58);
	assert_true(number(json_array_get(row, 0), "ours") == 61.25);
	assert_true(json_is_null(json_object_get(json_array_get(row, 1), "paper")));
	assert_true(number(json_array_get(row, 0), "least") == 60);
	assert_true(number(json_array_get(row, 0), "greatest") == 62.5);
	assert_true(json_is_null(json_object_get(json_array_get(row, 1), "least")));
	json_decref(j);
	fth_str_clear(&out);
	fth_repro_csv(&r, &out);
	const char *at = out.data;
	for (int k = 0; k < 3; k++)
		assert_int_equal(csv_row(&at, fields, 10), 9);
	assert_string_equal(fields[5].data, "");
	assert_string_equal(fields[7].data, "");
	assert_int_equal(csv_row(&at, fields, 10), 9);
	assert_int_equal(*at, 0);
	fth_str_clear(&out);
	fth_repro_table(&r, false, &out);
	holds(&out, "61.25% [60..62.50]");
	holds(&out, "+5.6%");
	holds(&out, "1/3,000");
	fth_str_clear(&out);
	fth_repro_html(&r, &out);
	check_html(&out);
	holds(&out, "&lt;not&gt; told");
	holds(&out, "Table 14: End to end");
	for (int k = 0; k < 10; k++)
		fth_str_release(&fields[k]);
	fth_str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_nearest_rank),
		cmocka_unit_test(job_figures_by_hand),
		cmocka_unit_test(buckets_merge_two_by_two),
		cmocka_unit_test(runs_pass_through_a_pipe),
		cmocka_unit_test(broken_pipes_are_refused),
		cmocka_unit_test(compare_json_has_every_promised_field),
		cmocka_unit_test(json_text_is_quoted),
		cmocka_unit_test(csv_rows_have_all_columns),
		cmocka_unit_test(table_fits_and_marks_the_cheapest),
		cmocka_unit_test(cheapest_must_have_kept_its_services), cmocka_unit_test(cheapest_must_have_done_the_work),
		cmocka_unit_test(runs_of_one_policy_are_told_apart),
		cmocka_unit_test(page_is_whole_and_loads_nothing),
		cmocka_unit_test(page_stands_hostile_names),
		cmocka_unit_test(page_of_little),
		cmocka_unit_test(ticks_are_round),
		cmocka_unit_test(figures_for_people),
		cmocka_unit_test(pack_is_written),
		cmocka_unit_test(repro_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
