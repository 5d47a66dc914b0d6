/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of plain and compressed files, output that is whole or absent, streaming. */
#include "trace_common.h"

#include <dirent.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/farthing-io-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static size_t files_in_dir(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static int remove_dir(void **state)
{
	(void)state;
	DIR *d = opendir(dir);
	char path[512];
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	closedir(d);
	return rmdir(dir);
}

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

/* Write n numbered lines; every 97th is long. */
static void write_lines(const char *path, int n)
{
	struct fth_error err;
	struct fth_output *o;
	struct fth_str s = {0};
	assert_int_equal(fth_output_open(&o, path, &err), 0);
	for (int i = 1; i <= n; i++) {
		fth_str_clear(&s);
		fth_str_addf(&s, "line %d ", i);
		for (int k = 0; k < (i % 97 ? i % 50 : 300000); k++)
			fth_str_addc(&s, (char)('a' + (i + k) % 26));
		fth_str_addc(&s, '\n');
		assert_int_equal(fth_output_write(o, s.data, s.len, &err), 0);
	}
	assert_int_equal(fth_output_commit(o, &err), 0);
	fth_str_release(&s);
}

static void read_lines(const char *path, int n)
{
	struct fth_error err;
	struct fth_input *in;
	char *line, want[32];
	size_t len;
	int i = 0, r;
	assert_int_equal(fth_input_open(&in, path, &err), 0);
	while ((r = fth_input_next(in, &line, &len, &err)) > 0) {
		i++;
		assert_int_equal(fth_input_line(in), i);
		size_t head = (size_t)snprintf(want, sizeof(want), "line %d ", i);
		assert_memory_equal(line, want, head);
		assert_int_equal(len, head + (size_t)(i % 97 ? i % 50 : 300000));
		assert_int_equal(strlen(line), len);
	}
	if (r)
		fail_msg("%s", err.text);
	assert_int_equal(i, n);
	assert_false(fth_input_cut(in));
	fth_input_close(in);
}

static void plain_gzip_and_zstd_hold_the_same_lines(void **state)
{
	(void)state;
	const char *names[] = {"a.txt", "a.txt.gz", "a.txt.zst"};
	for (int i = 0; i < 3; i++) {
		const char *path = in_dir(names[i]);
		write_lines(path, 5000);
		read_lines(path, 5000);
		struct stat st;
		stat(path, &st);
		assert_true(i == 0 ? st.st_size > 15000000 : st.st_size < 1000000);
	}
}

static struct fth_str slurp(const char *path)
{
	struct fth_str s = {0};
	char buf[65536];
	size_t n;
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)))
		fth_str_addn(&s, buf, n);
	fclose(f);
	return s;
}

static int drain(const char *name, const void *data, size_t n, struct fth_error *err, uint64_t *lines)
{
	struct fth_input *in;
	char *line;
	size_t len;
	*err = (struct fth_error){0};
	int r = fth_input_open_memory(&in, name, data, n, err);
	if (r)
		return r;
	while ((r = fth_input_next(in, &line, &len, err)) > 0)
		;
	*lines = fth_input_line(in);
	fth_input_close(in);
	return r;
}

static void truncated_data_is_an_error(void **state)
{
	(void)state;
	struct fth_error err;
	uint64_t lines;
	const char *names[] = {"t.gz", "t.zst"};
	for (int i = 0; i < 2; i++) {
		write_lines(in_dir(names[i]), 200);
		struct fth_str s = slurp(in_dir(names[i]));
		assert_int_equal(drain("t", s.data, s.len, &err, &lines), 0);
		assert_int_equal(lines, 200);
		for (size_t cut = 5; cut < s.len; cut += s.len / 50) {
			assert_int_equal(drain("t", s.data, cut, &err, &lines), -EINVAL);
			assert_true(!strncmp(err.text, "t:", 2));
			assert_non_null(strstr(err.text, "truncated"));
		}
		assert_int_equal(drain("t", s.data, s.len - 1, &err, &lines), -EINVAL);
		s.data[s.len / 2] ^= 0x55;
		assert_int_equal(drain("t", s.data, s.len, &err, &lines), -EINVAL);
		fth_str_release(&s);
	}
}

static void frames_may_follow_one_another(void **state)
{
	(void)state;
	struct fth_error err;
	uint64_t lines;
	const char *names[] = {"f.gz", "f.zst"};
	for (int i = 0; i < 2; i++) {
		write_lines(in_dir(names[i]), 10);
		struct fth_str s = slurp(in_dir(names[i])), twice = {0};
		fth_str_addn(&twice, s.data, s.len);
		fth_str_addn(&twice, s.data, s.len);
		assert_int_equal(drain("f", twice.data, twice.len, &err, &lines), 0);
		assert_int_equal(lines, 20);
		fth_str_addn(&twice, "garbage!", 8);
		assert_int_equal(drain("f", twice.data, twice.len, &err, &lines), -EINVAL);
		fth_str_release(&s);
		fth_str_release(&twice);
	}
}

/* Ten times the limit in one line, a few kilobytes of gzip: refused at the limit, whatever would follow. */
static void an_endless_line_does_not_eat_memory(void **state)
{
	(void)state;
	struct fth_error err;
	uint64_t lines;
	char *block = fth_alloc(1 << 20);
	memset(block, 'x', 1 << 20);
	struct fth_output *o;
	assert_int_equal(fth_output_open(&o, in_dir("long.gz"), &err), 0);
	fth_output_write(o, "first\n", 6, &err);
	for (int i = 0; i < 160; i++)
		fth_output_write(o, block, 1 << 20, &err);
	assert_int_equal(fth_output_commit(o, &err), 0);
	struct fth_str s = slurp(in_dir("long.gz"));
	assert_int_equal(drain("long.gz", s.data, s.len, &err, &lines), -EINVAL);
	assert_string_equal(err.text, "long.gz:2: a line of more than 16 MiB");
	fth_str_release(&s);
	free(block);
	FILE *f = fopen("/proc/self/status", "r");
	char text[256];
	long peak = 0;
	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "VmHWM: %ld", &peak) == 1)
			break;
	if (f)
		fclose(f);
#ifndef __SANITIZE_ADDRESS__
	assert_true(peak < 200 * 1024); /* KiB; the tests before hold tens of megabytes at once */
#endif
}

static void nul_bytes_are_refused(void **state)
{
	(void)state;
	struct fth_error err;
	uint64_t lines;
	assert_int_equal(drain("n", "a\nb\0c\nd\n", 8, &err, &lines), -EINVAL);
	assert_non_null(strstr(err.text, "n:2: a NUL byte"));
}

static void small_things(void **state)
{
	(void)state;
	struct fth_error err;
	uint64_t lines;
	assert_int_equal(drain("e", "", 0, &err, &lines), 0);
	assert_int_equal(lines, 0);
	assert_int_equal(drain("e", "\n", 1, &err, &lines), 0);
	assert_int_equal(lines, 1);
	assert_int_equal(drain("e", "a\nb", 3, &err, &lines), 0);
	assert_int_equal(lines, 2);
	struct fth_input *in;
	char *line;
	size_t len;
	assert_int_equal(fth_input_open_memory(&in, "b", "\xef\xbb\xbfhi\r\n", 7, &err), 0);
	assert_int_equal(fth_input_next(in, &line, &len, &err), 1);
	assert_string_equal(line, "hi");
	fth_input_close(in);
	assert_int_equal(fth_input_open(&in, in_dir("none"), &err), -ENOENT);
	assert_non_null(strstr(err.text, "none"));
	assert_int_equal(fth_input_open(&in, dir, &err), -EISDIR);
}

static void output_appears_whole_or_not_at_all(void **state)
{
	(void)state;
	struct fth_error err;
	struct fth_output *o;
	size_t before = files_in_dir();
	assert_int_equal(fth_output_open(&o, in_dir("whole"), &err), 0);
	assert_int_equal(fth_output_write(o, "new", 3, &err), 0);
	assert_int_equal(access(in_dir("whole"), F_OK), -1);
	fth_output_abort(o);
	assert_int_equal(files_in_dir(), before);

	assert_int_equal(fth_output_open(&o, in_dir("whole"), &err), 0);
	assert_int_equal(fth_output_write(o, "one", 3, &err), 0);
	assert_int_equal(fth_output_commit(o, &err), 0);
	assert_int_equal(fth_output_open(&o, in_dir("whole"), &err), 0);
	assert_int_equal(fth_output_write(o, "two, but not finished", 21, &err), 0);
	fth_output_abort(o);
	struct fth_str s = slurp(in_dir("whole"));
	assert_string_equal(s.data, "one"); /* the old one stays */
	fth_str_release(&s);
	assert_int_equal(files_in_dir(), before + 1);

	assert_int_equal(fth_output_open(&o, in_dir("no/such/place"), &err), -ENOENT);
	assert_int_equal(fth_output_open(&o, "/dev/full", &err), 0);
	assert_int_equal(fth_output_write(o, "x", 1, &err), 0);
	assert_int_equal(fth_output_commit(o, &err), -ENOSPC);
	assert_int_equal(fth_output_open(&o, "/dev/null", &err), 0);
	assert_int_equal(fth_output_commit(o, &err), 0);
	struct stat st;
	stat("/dev/null", &st);
	assert_true(S_ISCHR(st.st_mode));
}

/* ---- streaming ---- */

static void put(const char *path, const char *text)
{
	struct fth_error err;
	struct fth_output *o;
	assert_int_equal(fth_output_open(&o, path, &err), 0);
	assert_int_equal(fth_output_write(o, text, strlen(text), &err), 0);
	assert_int_equal(fth_output_commit(o, &err), 0);
}

#define HEAD "farthing-workload 1\nworkload name=w step=1s\nkind K any=cpu:1\n"
static void a_stream_gives_the_jobs_in_order(void **state)
{
	(void)state;
	struct world *w = world_new();
	struct fth_job_source *s;
	struct fth_job_item item;
	put(in_dir("s.zst"), HEAD "job a submit=1s tasks=2xK:1s/2s\nkind L any=cpu:2\njob b submit=2s tasks=1xL:3s,2xK:4s\n");
	assert_int_equal(fth_stream_workload(&s, in_dir("s.zst"), w->syms, &w->kinds, &w->err), 0);
	assert_int_equal(fth_stream_head(s)->step, FTH_SEC);
	assert_string_equal(fth_sym_str(w->syms, fth_stream_head(s)->name), "w");
	assert_int_equal(s->next(s, &item, &w->err), 1);
	assert_string_equal(fth_sym_str(w->syms, item.spec->key), "a");
	assert_int_equal(item.groups[0].count, 2);
	assert_int_equal(item.works[item.groups[0].first_own + 1], 2 * FTH_SEC);
	assert_int_equal(s->next(s, &item, &w->err), 1);
	assert_int_equal(item.spec->ngroups, 2);
	assert_int_equal(item.groups[1].work, 4 * FTH_SEC);
	assert_int_equal(item.groups[0].kind, 1);
	assert_int_equal(s->next(s, &item, &w->err), 0);
	assert_int_equal(s->next(s, &item, &w->err), 0);
	fth_stream_free(s);
	world_free(w);
}

static void a_stream_refuses_disorder(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{HEAD "job a submit=2s tasks=1xK:1s\njob b submit=1s tasks=1xK:1s\n", ":5: submitted before"},
		{HEAD "job a submit=2s tasks=1xK:1s\njob a submit=3s tasks=1xK:1s\n", ":5: job a twice"},
		{HEAD "job a submit=2s tasks=1xK:1s\njob b submit=3s tasks=1xK:1", ":5: the last line has no line end"},
	};
	for (size_t i = 0; i < FTH_COUNT(bad); i++) {
		struct world *w = world_new();
		struct fth_job_source *s;
		struct fth_job_item item;
		put(in_dir("d"), bad[i].text);
		assert_int_equal(fth_stream_workload(&s, in_dir("d"), w->syms, &w->kinds, &w->err), 0);
		assert_int_equal(s->next(s, &item, &w->err), 1);
		assert_int_equal(s->next(s, &item, &w->err), -EINVAL);
		assert_non_null(strstr(w->err.text, bad[i].says));
		fth_stream_free(s);
		world_free(w);
	}
	struct world *w = world_new();
	struct fth_job_source *s;
	put(in_dir("d"), HEAD);
	assert_int_equal(fth_stream_workload(&s, in_dir("d"), w->syms, &w->kinds, &w->err), -EINVAL);
	world_free(w);
}

static void validate_says_what_a_file_is(void **state)
{
	(void)state;
	struct fth_error err;
	struct fth_str s = {0};
	put(in_dir("v"), HEAD "job a submit=1s user=u tasks=2xK:7200s\n");
	assert_int_equal(fth_validate(in_dir("v"), FTH_FORMAT_AUTO, &s, &err), 0);
	assert_non_null(strstr(s.data, "farthing-workload"));
	assert_non_null(strstr(s.data, "1 jobs, 2 tasks of 1 kinds"));
	assert_non_null(strstr(s.data, "mean 2.00 h"));
	fth_str_clear(&s);
	put(in_dir("v"), "farthing-catalog 1\ntype t family=f holds=cpu:1\noffer t price=0.5 zone=z\noffer t price=0.1 market=spot zone=z\n");
	assert_int_equal(fth_validate(in_dir("v"), FTH_FORMAT_AUTO, &s, &err), 0);
	assert_non_null(strstr(s.data, "1 instance types of 1 families; offers in 1 zones: 1 on-demand 1 spot"));
	fth_str_clear(&s);
	put(in_dir("v"), "farthing-profile 1\nclass a\nrow a rates=0.5\n");
	assert_int_equal(fth_validate(in_dir("v"), FTH_FORMAT_AUTO, &s, &err), 0);
	assert_non_null(strstr(s.data, "1 workload classes"));
	fth_str_clear(&s);
	put(in_dir("v"), HEAD "job a submit=1s tasks=2xK:7200\n");
	assert_int_equal(fth_validate(in_dir("v"), FTH_FORMAT_AUTO, &s, &err), -EINVAL);
	assert_int_equal(s.len, 0);
	put(in_dir("v"), "what is this\n");
	assert_int_equal(fth_validate(in_dir("v"), FTH_FORMAT_AUTO, &s, &err), -EINVAL);
	fth_str_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_gzip_and_zstd_hold_the_same_lines),
		cmocka_unit_test(truncated_data_is_an_error),
		cmocka_unit_test(frames_may_follow_one_another),
		cmocka_unit_test(an_endless_line_does_not_eat_memory),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(small_things),
		cmocka_unit_test(output_appears_whole_or_not_at_all),
		cmocka_unit_test(a_stream_gives_the_jobs_in_order),
		cmocka_unit_test(a_stream_refuses_disorder),
		cmocka_unit_test(validate_says_what_a_file_is),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
