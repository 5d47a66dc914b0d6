/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live journal: a toy cluster is driven by hand under real policies, and the journal is closed without
 * warning again and again. What comes back must be what was committed, to the bit.
 */
#include "small_world.h"

#include <sqlite3.h>
#include <unistd.h>

#include "policies/table.h"
#include "store/journal.h"
#include "store/live.h"

struct toy {
	struct fth_world w, jobs; /* what the daemon was configured with; where submissions are made */
	struct fth_live *live;
	struct fth_live_head head;
	struct fth_rng rng;
	char dir[64], path[96];
	fth_time now;
	uint32_t submitted;
	uint64_t done;
};

static void toy_open(struct toy *t, const char *policy, uint64_t seed)
{
	*t = (struct toy){.dir = "/tmp/farthing-live-XXXXXX"};
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->path, sizeof(t->path), "%s/journal.db", t->dir);
	small_world(&t->w);
	fth_world_init(&t->jobs);
	fth_rng_seed(&t->rng, seed, 7, 0);
	t->head = (struct fth_live_head){.cluster = "toy", .world = &t->w, .policy = policy, .table = fth_policies,
					 .fallback = fth_policies[0], .epoch_us = 1700000000 * (int64_t)FTH_SEC};
	struct fth_error err = {0};
	if (fth_live_open(&t->live, t->path, &t->head, &err))
		fail_msg("%s", err.text);
}

static void toy_close(struct toy *t)
{
	static const char *const suffixes[] = {"", ".lock", ".tip", "-wal", "-shm"};
	fth_live_close(t->live);
	for (size_t i = 0; i < FTH_COUNT(suffixes); i++) {
		char name[128];
		snprintf(name, sizeof(name), "%s%s", t->path, suffixes[i]);
		unlink(name);
	}
	rmdir(t->dir);
	fth_world_release(&t->w);
	fth_world_release(&t->jobs);
}

static uint64_t draw(struct toy *t, uint64_t n)
{
	return fth_rng_u64(&t->rng) % n;
}

static void submit(struct toy *t)
{
	char key[16];
	fth_job_id id;
	struct fth_error err = {0};
	snprintf(key, sizeof(key), "j%u", t->submitted++);
	static const enum fth_job_kind job_kinds[] = {FTH_JOB_INDEPENDENT, FTH_JOB_COUPLED};
	enum fth_job_kind kind = job_kinds[draw(t, 2)];
	fth_kind_id of = small_cpus(&t->jobs, draw(t, 2) ? "x" : "y", 1 + (int)draw(t, 2));
	small_job(&t->jobs, key, kind, of, 1 + (uint32_t)draw(t, 3), t->now, FTH_HOUR);
	if (fth_live_submit(t->live, t->now, &t->jobs.workload, t->submitted - 1, FTH_HOUR, &id, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fth_live_submit(t->live, t->now, &t->jobs.workload, t->submitted - 1, FTH_HOUR, &id, &err), -EEXIST);
}

static void feed(struct toy *t, enum fth_event_kind kind, fth_task_id task, fth_instance_id i)
{
	struct fth_event ev = {.kind = kind, .time = t->now, .job = FTH_NONE, .task = task, .instance = i, .offer = FTH_NONE};
	struct fth_error err = {0};
	if (fth_engine_feed(fth_live_engine(t->live), &ev, &err))
		fail_msg("%s", err.text);
}

/* Whatever is wanted comes about, sooner or later. */
static void instances_move_on(struct toy *t)
{
	const struct fth_cluster *c = fth_engine_cluster(fth_live_engine(t->live));
	for (fth_instance_id id = c->view.first_instance, next; id != FTH_NONE; id = next) {
		const struct fth_instance *i = fth_cluster_instance(c, id);
		next = i->next;
		if (draw(t, 3))
			continue;
		if (i->acquired == FTH_NEVER && i->state == FTH_INSTANCE_TERMINATING)
			feed(t, FTH_EV_INSTANCE_GONE, FTH_NONE, id);
		else if (i->state == FTH_INSTANCE_REQUESTED)
			feed(t, FTH_EV_INSTANCE_ACQUIRED, FTH_NONE, id);
		else if (i->state == FTH_INSTANCE_BOOTING)
			feed(t, FTH_EV_INSTANCE_READY, FTH_NONE, id);
		else if (i->state == FTH_INSTANCE_TERMINATING)
			feed(t, FTH_EV_INSTANCE_GONE, FTH_NONE, id);
		else if (!draw(t, 20))
			feed(t, FTH_EV_INSTANCE_REVOKED, FTH_NONE, id);
	}
}

static void task_moves_on(struct toy *t, const struct fth_cluster *c, const struct fth_task *task)
{
	const struct fth_instance *on = task->target == FTH_NONE ? NULL : fth_cluster_instance(c, task->target);
	struct fth_res need;
	switch (task->state) {
	case FTH_TASK_BOUND:
		if (on->state != FTH_INSTANCE_READY && on->state != FTH_INSTANCE_DRAINING)
			return;
		need = on->held;
		fth_res_add(&need, &fth_cluster_alt(c, task, on->type)->demand);
		if (!fth_res_fits(&need, &c->catalog.types.data[on->type].capacity))
			return;
		feed(t, FTH_EV_TASK_STARTING, task->id, on->id);
		feed(t, FTH_EV_TASK_RUNNING, task->id, on->id);
		return;
	case FTH_TASK_RUNNING:
		if (!draw(t, 4)) {
			t->done++;
			feed(t, FTH_EV_TASK_DONE, task->id, task->on);
		}
		return;
	case FTH_TASK_STOPPING:
		feed(t, FTH_EV_TASK_STOPPED, task->id, task->on);
		feed(t, FTH_EV_TASK_LEFT, task->id, task->on);
		return;
	default:
		return;
	}
}

static void tasks_move_on(struct toy *t)
{
	const struct fth_cluster *c = fth_engine_cluster(fth_live_engine(t->live));
	FTH_VEC(fth_task_id) all = {0};
	for (fth_job_id id = c->view.first_job; id != FTH_NONE; id = fth_cluster_job(c, id)->next)
		for (uint32_t k = 0; k < fth_cluster_job(c, id)->ntasks; k++)
			fth_vec_push(&all, fth_cluster_job(c, id)->first_task + k);
	for (size_t i = 0; i < all.len; i++) {
		const struct fth_task *task = fth_cluster_task(c, all.data[i]);
		if (task && draw(t, 2))
			task_moves_on(t, c, task);
	}
	fth_vec_release(&all);
}

static void step(struct toy *t)
{
	struct fth_engine *e = fth_live_engine(t->live);
	struct fth_accepted acts;
	t->now = FTH_MAX(t->now, fth_live_now(t->live)) + (fth_time)draw(t, 200) * FTH_SEC;
	if (draw(t, 3) == 0 && t->submitted < 60)
		submit(t);
	instances_move_on(t);
	tasks_move_on(t);
	if (fth_engine_next_round(e, fth_live_now(t->live)) <= t->now)
		assert_int_equal(fth_engine_round(e, t->now, &acts, NULL), 0);
}

/* All the cluster and the ledger say, as one number. */
static uint64_t state_of(const struct toy *t)
{
	const struct fth_engine *e = fth_live_engine(t->live);
	const struct fth_cluster *c = fth_engine_cluster(e);
	uint64_t h = fth_hash_u64((uint64_t)fth_engine_ledger(e)->total ^ (uint64_t)fth_engine_next_round(e, 0));
	for (fth_instance_id id = c->view.first_instance; id != FTH_NONE; id = fth_cluster_instance(c, id)->next)
		h = fth_hash_bytes(fth_cluster_instance(c, id), sizeof(struct fth_instance), h);
	for (fth_job_id id = c->view.first_job; id != FTH_NONE; id = fth_cluster_job(c, id)->next) {
		const struct fth_job *j = fth_cluster_job(c, id);
		h = fth_hash_bytes(fth_sym_str(c->syms, j->name), strlen(fth_sym_str(c->syms, j->name)), h);
		for (uint32_t k = 0; k < j->ntasks; k++)
			h = fth_hash_bytes(fth_cluster_task(c, j->first_task + k), sizeof(struct fth_task), h);
	}
	return h;
}

static void reopen(struct toy *t)
{
	struct fth_error err = {0};
	fth_live_close(t->live);
	t->live = NULL;
	if (fth_live_open(&t->live, t->path, &t->head, &err))
		fail_msg("%s", err.text);
}

static void crashes_change_nothing(void **state)
{
	(void)state;
	static const char *const policies[] = {"no-packing", "eva:round=300s", "stratus", "synergy", "owl"};
	for (uint64_t k = 0; k < FTH_COUNT(policies); k++) {
		struct toy t;
		struct fth_replay again;
		struct fth_error err = {0};
		toy_open(&t, policies[k], k);
		for (int n = 0; n < 300; n++) {
			step(&t);
			fth_live_put(t.live, "step", n % 3 ? "some" : NULL);
			assert_int_equal(fth_live_commit(t.live, &err), 0);
			if (draw(&t, 12))
				continue;
			uint64_t committed = state_of(&t), done = t.done;
			uint32_t submitted = t.submitted;
			for (uint64_t more = draw(&t, 3); more; more--)
				step(&t); /* never committed: it did not happen */
			reopen(&t);
			assert_true(state_of(&t) == committed);
			t.now = fth_live_now(t.live);
			t.done = done;
			t.submitted = submitted;
			t.jobs.workload.jobs.len = submitted;
			fth_map_release(&t.jobs.workload.by_key);
			assert_true(!fth_live_get(t.live, "step") == !(n % 3));
		}
		assert_true(t.done > 20);
		assert_true(fth_live_is(t.path));
		if (fth_journal_replay(t.path, fth_policies, &again, &err))
			fail_msg("%s", err.text);
		if (!again.same)
			fail_msg("%s: line %llu: %s / %s", policies[k], (unsigned long long)again.line, again.recorded, again.again);
		assert_int_equal(again.submits, t.submitted);
		struct fth_str why = {0};
		assert_int_equal(fth_journal_explain(t.path, "j0", &why, &err), 0);
		assert_non_null(strstr(why.data, "submitted"));
		fth_str_release(&why);
		toy_close(&t);
	}
}

static void orders_and_changes_are_kept(void **state)
{
	(void)state;
	struct toy t;
	struct fth_replay again;
	struct fth_error err = {0};
	toy_open(&t, "no-packing", 3);
	for (int n = 0; n < 30; n++)
		step(&t);
	const struct fth_cluster *c = fth_engine_cluster(fth_live_engine(t.live));
	struct fth_action a = {.kind = FTH_ACT_DRAIN, .task = FTH_NONE, .instance = c->view.last_instance};
	assert_int_equal(fth_live_order(t.live, t.now, &a, "ann b"), FTH_ACCEPTED);
	assert_int_equal(fth_live_commit(t.live, &err), 0);
	t.head.policy = "eva";
	t.head.limits.usd_per_hour = 5 * FTH_USD;
	reopen(&t);
	assert_string_equal(fth_live_policy(t.live), "eva");
	assert_int_equal(fth_engine_limits(fth_live_engine(t.live))->usd_per_hour, 5 * FTH_USD);
	for (int n = 0; n < 30; n++)
		step(&t);
	assert_int_equal(fth_live_commit(t.live, &err), 0);
	uint64_t was = state_of(&t);
	reopen(&t);
	assert_true(state_of(&t) == was);
	assert_int_equal(fth_journal_replay(t.path, fth_policies, &again, &err), 0);
	assert_true(again.same);
	toy_close(&t);
}

static void change(const char *path, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void assert_refused(struct toy *t, int code, const char *says)
{
	struct fth_error err = {0};
	struct fth_live *l = NULL;
	assert_int_equal(fth_live_open(&l, t->path, &t->head, &err), code);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void damage_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *says;
	} cases[] = {
		{"UPDATE lines SET text = text || ' ' WHERE seq = 9", ":9: damaged journal: its sum is wrong"},
		{"DELETE FROM lines WHERE seq = 5", ":5: damaged journal: the line is missing"},
		{"UPDATE head SET text = 'catalogue' WHERE name = 'catalog'", "another catalog"},
		{"DELETE FROM head WHERE name = 'policy'", "no policy"},
	};
	for (size_t k = 0; k < FTH_COUNT(cases); k++) {
		struct toy t;
		struct fth_error err = {0};
		toy_open(&t, "no-packing", 5);
		for (int n = 0; n < 40; n++)
			step(&t);
		assert_int_equal(fth_live_commit(t.live, &err), 0);
		fth_live_close(t.live);
		t.live = NULL;
		change(t.path, cases[k].sql);
		assert_refused(&t, k == 2 ? -ESTALE : -EBADMSG, cases[k].says);
		toy_close(&t);
	}
}

/* The end of the write-ahead log is damaged after a crash: SQLite would go on with what is before it. */
static void a_lost_tail_is_found(void **state)
{
	(void)state;
	struct toy t;
	struct fth_error err = {0};
	char wal[128], copy[3][96];
	static const char *const suffixes[] = {"", "-wal", ".tip"};
	toy_open(&t, "no-packing", 8);
	for (int n = 0; n < 40; n++) {
		step(&t);
		assert_int_equal(fth_live_commit(t.live, &err), 0);
	}
	/* As a crash leaves it: copies, taken while it is open. */
	for (int k = 0; k < 3; k++) {
		char command[512];
		snprintf(copy[k], sizeof(copy[k]), "%s/copy.db%s", t.dir, suffixes[k]);
		snprintf(command, sizeof(command), "cp %s%s %s", t.path, suffixes[k], copy[k]);
		assert_int_equal(system(command), 0);
	}
	snprintf(wal, sizeof(wal), "%s", copy[1]);
	FILE *f = fopen(wal, "r+b");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	assert_true(size > 8192);
	fseek(f, size / 2, SEEK_SET);
	int c = fgetc(f);
	fseek(f, size / 2, SEEK_SET);
	fputc(c ^ 1, f);
	fclose(f);
	struct fth_live *l = NULL;
	assert_int_equal(fth_live_open(&l, copy[0], &t.head, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "lines were committed"));
	/* Nor is a new one begun where there was one. */
	assert_int_equal(truncate(copy[0], 0), 0);
	unlink(copy[1]);
	assert_int_equal(fth_live_open(&l, copy[0], &t.head, &err), -EBADMSG);
	assert_int_equal(unlink(copy[0]), 0);
	assert_int_equal(fth_live_open(&l, copy[0], &t.head, &err), -EBADMSG);
	char rest[128];
	snprintf(rest, sizeof(rest), "rm -f %s/copy.db*", t.dir);
	assert_int_equal(system(rest), 0);
	toy_close(&t);
}

static void the_wrong_journal_is_refused(void **state)
{
	(void)state;
	struct toy t;
	toy_open(&t, "no-packing", 6);
	assert_refused(&t, -EBUSY, "another farthingd");
	fth_live_close(t.live);
	t.live = NULL;
	t.head.cluster = "other";
	assert_refused(&t, -ESTALE, "cluster 'toy'");
	t.head.cluster = "toy";
	t.w.catalog.types.data[0].capacity.v[FTH_CPU] += 1000; /* a price may change, a type may not */
	assert_refused(&t, -ESTALE, "another catalog");
	t.w.catalog.types.data[0].capacity.v[FTH_CPU] -= 1000;
	/* The journal goes by its own prices until an event says otherwise. */
	t.w.catalog.offers.data[0].price++;
	struct fth_error err = {0};
	assert_int_equal(fth_live_open(&t.live, t.path, &t.head, &err), 0);
	fth_live_close(t.live);
	t.live = NULL;
	t.w.catalog.offers.data[0].price--;
	t.head.policy = "nonesuch";
	assert_refused(&t, -EINVAL, "nonesuch");
	FILE *f = fopen(t.path, "w");
	fputs("SQLite format 3, but not really; and long enough to be looked at.", f);
	fclose(f);
	t.head.policy = "no-packing";
	assert_refused(&t, -EBADMSG, t.path);
	toy_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crashes_change_nothing),
		cmocka_unit_test(orders_and_changes_are_kept),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(a_lost_tail_is_found),
		cmocka_unit_test(the_wrong_journal_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
