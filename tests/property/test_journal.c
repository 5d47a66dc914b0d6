/* SPDX-License-Identifier: Apache-2.0 */
/* A run recorded and replayed gives the same bytes; a journal that was touched is found out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "store/journal.h"
#include "support.h"

static const struct fth_policy_ops *const table[] = {&toy_mover, &toy_liar, &toy_failing, NULL};

static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	struct fth_str s = {0};
	char buf[4096];
	size_t k;
	while ((k = fread(buf, 1, sizeof(buf), f)) > 0)
		fth_str_addn(&s, buf, k);
	fclose(f);
	*n = s.len;
	return s.data;
}

static void record(const char *path, const char *policy, uint64_t seed)
{
	struct fth_world raw, w;
	struct random_world_options o = {
		.seed = seed, .jobs = 40, .coupled = true, .by_family = true, .drawn_delays = true, .step = seed & 1};
	random_world(&raw, &o);
	struct fth_error err = {0};
	assert_int_equal(fth_journal_world(&raw, &w, &err), 0);
	struct fth_policy_choice choice;
	assert_int_equal(fth_policy_choose(&choice, table, policy, &err), 0);
	struct fth_sim_params p = {0};
	fth_params_defaults(fth_sim_param_table, &p);
	p.max_instances = 5000;
	p.moves_per_hour = seed % 3 ? 0 : 5;
	p.disturbed = seed % 4 ? 0 : 0.2;
	struct fth_limits limits = fth_sim_limits(&p, &w);
	struct fth_journal *j;
	assert_int_equal(fth_journal_create(&j, path, &w, &choice, &toy_liar, &limits, &err), 0);
	p.launch_failure = 0.05;
	struct fth_engine *e;
	assert_int_equal(fth_sim_run(&e, &w, &choice, &toy_liar, &p, fth_journal_observer(j), NULL, &err), 0);
	assert_int_equal(fth_journal_commit(j, e, &err), 0);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	fth_world_release(&raw);
}

static void replay_gives_the_same_bytes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++)
		for (int k = 0; table[k]; k++) {
			struct fth_replay r;
			struct fth_error err = {0};
			record("journal.tmp.zst", table[k]->name, seed);
			int code = fth_journal_replay("journal.tmp.zst", table, &r, &err);
			if (code || !r.same)
				print_error("%s: %s line %llu\n< %s\n> %s\n", table[k]->name, err.text,
					    (unsigned long long)r.line, r.recorded, r.again);
			assert_int_equal(code, 0);
			assert_true(r.same);
			assert_int_equal(r.submits, 40);
			assert_true(r.cost > 0 && r.events > 200 && r.actions > 80);
		}
	unlink("journal.tmp.zst");
}

/* Change one line of the record; the replay must say which. */
static void a_changed_record_is_found_out(void **state)
{
	(void)state;
	record("journal.tmp", "mover", 5);
	size_t n;
	char *text = read_file("journal.tmp", &n);
	char *accepted = strstr(strstr(text, "\nrun\n"), "A accepted place");
	assert_non_null(accepted);
	accepted = strstr(accepted, "task=");
	accepted[5] = accepted[5] == '9' ? '8' : '9';
	FILE *f = fopen("journal.tmp", "wb");
	fwrite(text, 1, n, f);
	fclose(f);
	struct fth_replay r;
	struct fth_error err;
	assert_int_equal(fth_journal_replay("journal.tmp", table, &r, &err), 0);
	assert_false(r.same);
	assert_true(r.line > 10 && strncmp(r.recorded, r.again, sizeof(r.again)));

	/* Cut off, empty, and not a journal at all: an error that names the file, never a crash. */
	for (int cut = 0; cut < 30; cut++) {
		f = fopen("journal.tmp", "wb");
		fwrite(text, 1, n * (size_t)cut / 30, f);
		fclose(f);
		int code = fth_journal_replay("journal.tmp", table, &r, &err);
		assert_true(code < 0 || !r.same);
		if (code < 0)
			assert_non_null(strstr(err.text, "journal.tmp"));
	}
	free(text);
	unlink("journal.tmp");
}

static void decisions_are_explained(void **state)
{
	(void)state;
	record("journal.tmp", "mover", 6);
	struct fth_str s = {0};
	struct fth_error err;
	assert_int_equal(fth_journal_explain("journal.tmp", "job-3", &s, &err), 0);
	assert_non_null(strstr(s.data, "submitted"));
	assert_non_null(strstr(s.data, "place"));
	assert_non_null(strstr(s.data, "because a toy"));
	fth_str_clear(&s);
	assert_int_equal(fth_journal_explain("journal.tmp", "i0", &s, &err), 0);
	assert_non_null(strstr(s.data, "launch"));
	assert_non_null(strstr(s.data, "charged $"));
	assert_int_equal(fth_journal_explain("journal.tmp", "no-such-job", &s, &err), -ENOENT);
	fth_str_release(&s);
	unlink("journal.tmp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_gives_the_same_bytes),
		cmocka_unit_test(a_changed_record_is_found_out),
		cmocka_unit_test(decisions_are_explained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
