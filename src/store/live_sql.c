/* SPDX-License-Identifier: Apache-2.0 */
#include "store/live_sql.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

enum { ADD_LINE, PUT_HEAD, PUT_FACT, DROP_FACT, NSTATEMENTS };

struct fth_live_db {
	char *path;
	sqlite3 *db;
	sqlite3_stmt *statements[NSTATEMENTS];
	int lock, tip;
	uint64_t count; /* lines */
	uint64_t sum;   /* over all of them */
};

static const char schema[] = "CREATE TABLE head(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
			     "CREATE TABLE lines(seq INTEGER PRIMARY KEY, sum INTEGER NOT NULL, text TEXT NOT NULL);"
			     "CREATE TABLE facts(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
			     "PRAGMA application_id=1178686537;" /* "FATI" */
			     "PRAGMA user_version=1;";

static int broken(struct fth_live_db *db, struct fth_error *err, const char *what)
{
	int code = sqlite3_errcode(db->db);
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	return fth_fail(err, damaged ? -EBADMSG : code == SQLITE_FULL ? -ENOSPC : -EIO, "%s: %s: %s", db->path, what,
			sqlite3_errmsg(db->db));
}

static int run(struct fth_live_db *db, const char *sql, struct fth_error *err)
{
	return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : broken(db, err, "cannot write");
}

/* The lock is a file of its own, so that others may read while one writes. */
static int lock(struct fth_live_db *db, struct fth_error *err)
{
	struct fth_str name = {0};
	fth_str_addf(&name, "%s.lock", db->path);
	db->lock = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r = 0;
	if (db->lock < 0)
		r = fth_fail(err, -errno, "%s: %s", name.data, strerror(errno));
	else if (flock(db->lock, LOCK_EX | LOCK_NB))
		r = fth_fail(err, -EBUSY, "%s: another farthingd is writing this journal", db->path);
	fth_str_release(&name);
	return r;
}

static uint64_t sum_of(uint64_t before, const char *line)
{
	return fth_hash_bytes(line, strlen(line), before);
}

/* ---- the tip ---- */

/*
 * SQLite drops what follows a damaged place in its write-ahead log without a word, as if it had never been committed. So a file of its
 * own says how far the journal had come when the last transaction was durable; a journal that is behind it has lost something.
 * It is written after each commit: at worst it is a transaction behind.
 */
struct tip {
	uint64_t count, sum, check;
};

static uint64_t tip_check(const struct tip *t)
{
	return fth_hash_u64(t->count ^ fth_hash_u64(t->sum + 1));
}

static char *tip_path(const struct fth_live_db *db)
{
	struct fth_str name = {0};
	fth_str_addf(&name, "%s.tip", db->path);
	return name.data;
}

static int open_tip(struct fth_live_db *db, struct fth_error *err)
{
	char *name = tip_path(db);
	db->tip = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r = db->tip < 0 ? fth_fail(err, -errno, "%s: %s", name, strerror(errno)) : 0;
	free(name);
	return r;
}

static int write_tip(struct fth_live_db *db, struct fth_error *err)
{
	struct tip t = {.count = db->count, .sum = db->sum};
	t.check = tip_check(&t);
	if (pwrite(db->tip, &t, sizeof(t), 0) != sizeof(t) || fdatasync(db->tip))
		return fth_fail(err, -EIO, "%s.tip: %s", db->path, strerror(errno));
	return 0;
}

/* After all lines were read. A tip that is torn or absent says nothing. */
static int check_tip(struct fth_live_db *db, struct fth_error *err)
{
	char *name = tip_path(db);
	struct tip t;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, &t, sizeof(t), 0);
	if (fd >= 0)
		close(fd);
	free(name);
	if (n != sizeof(t) || t.check != tip_check(&t) || t.count < db->count || !t.count)
		return 0;
	if (!db->count)
		return fth_fail(err, -EBADMSG, "%s: it is empty, but %llu lines were committed to it; to begin a new journal on purpose, remove %s.tip",
				db->path, (unsigned long long)t.count, db->path);
	if (t.count > db->count)
		return fth_fail_at(err, -EBADMSG, db->path, db->count + 1,
				   "damaged journal: %llu lines were committed, the rest is lost (damage in its write-ahead log?)",
				   (unsigned long long)t.count);
	return t.sum == db->sum ? 0 : fth_fail_at(err, -EBADMSG, db->path, db->count, "damaged journal: it is not the one that was written");
}

static int prepare(struct fth_live_db *db, struct fth_error *err)
{
	static const char *const sql[NSTATEMENTS] = {
		[ADD_LINE] = "INSERT INTO lines(seq, sum, text) VALUES(?1, ?2, ?3)",
		[PUT_HEAD] = "INSERT INTO head(name, text) VALUES(?1, ?2)",
		[PUT_FACT] = "INSERT OR REPLACE INTO facts(name, text) VALUES(?1, ?2)",
		[DROP_FACT] = "DELETE FROM facts WHERE name = ?1",
	};
	for (int i = 0; i < NSTATEMENTS; i++)
		if (sqlite3_prepare_v2(db->db, sql[i], -1, &db->statements[i], NULL) != SQLITE_OK)
			return broken(db, err, "not a journal");
	return 0;
}

/* A new one (but not in the place of one that was written to), or one that its own table of pages says is whole. */
static int check(struct fth_live_db *db, bool write, struct fth_error *err)
{
	sqlite3_stmt *s = NULL;
	int tables = -1;
	if (sqlite3_prepare_v2(db->db, "SELECT count(*) FROM sqlite_schema", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		tables = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	if (tables < 0)
		return broken(db, err, "cannot be read");
	if (!tables && write) {
		int r = check_tip(db, err);
		return r ? r : run(db, schema, err);
	}
	s = NULL;
	const unsigned char *verdict = NULL;
	if (sqlite3_prepare_v2(db->db, "PRAGMA quick_check(1)", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		verdict = sqlite3_column_text(s, 0);
	int r = !verdict ? broken(db, err, "cannot be read")
		: strcmp((const char *)verdict, "ok")
			? fth_fail(err, -EBADMSG, "%s: damaged: %s", db->path, (const char *)verdict)
			: 0;
	sqlite3_finalize(s);
	return r;
}

int fth_live_db_open(struct fth_live_db **ret, const char *path, bool write, struct fth_error *err)
{
	struct fth_live_db *db = fth_alloc(sizeof(*db));
	db->path = fth_strdup(path);
	db->lock = db->tip = -1;
	int r = write ? lock(db, err) : 0;
	int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	if (!r && sqlite3_open_v2(path, &db->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		r = fth_fail(err, -EIO, "%s: %s", path, db->db ? sqlite3_errmsg(db->db) : "out of memory");
	if (!r)
		sqlite3_busy_timeout(db->db, 5000);
	if (!r)
		r = check(db, write, err);
	if (!r && write)
		r = run(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", err);
	if (!r && write)
		r = prepare(db, err);
	if (!r && write)
		r = open_tip(db, err);
	if (r) {
		fth_live_db_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

void fth_live_db_close(struct fth_live_db *db)
{
	if (!db)
		return;
	for (int i = 0; i < NSTATEMENTS; i++)
		sqlite3_finalize(db->statements[i]);
	sqlite3_close(db->db);
	if (db->lock >= 0)
		close(db->lock);
	if (db->tip >= 0)
		close(db->tip);
	free(db->path);
	free(db);
}

char *fth_live_db_head(struct fth_live_db *db, const char *name)
{
	sqlite3_stmt *s = NULL;
	char *text = NULL;
	if (sqlite3_prepare_v2(db->db, "SELECT text FROM head WHERE name = ?1", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		text = fth_strdup((const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return text;
}

int fth_live_db_lines(struct fth_live_db *db, int (*take)(void *arg, uint64_t seq, const char *line, struct fth_error *err),
		      void *arg, struct fth_error *err)
{
	sqlite3_stmt *s = NULL;
	int r = 0, step;
	if (sqlite3_prepare_v2(db->db, "SELECT seq, sum, text FROM lines ORDER BY seq", -1, &s, NULL) != SQLITE_OK)
		return broken(db, err, "cannot be read");
	db->count = db->sum = 0;
	while (!r && (step = sqlite3_step(s)) == SQLITE_ROW) {
		uint64_t seq = (uint64_t)sqlite3_column_int64(s, 0), sum = (uint64_t)sqlite3_column_int64(s, 1);
		const char *text = (const char *)sqlite3_column_text(s, 2);
		if (!text || seq != db->count + 1)
			r = fth_fail_at(err, -EBADMSG, db->path, db->count + 1, "damaged journal: the line is missing");
		else if (sum != sum_of(db->sum, text))
			r = fth_fail_at(err, -EBADMSG, db->path, seq, "damaged journal: its sum is wrong");
		if (r)
			break;
		db->count = seq;
		db->sum = sum;
		r = take(arg, seq, text, err);
	}
	if (!r && step != SQLITE_DONE)
		r = broken(db, err, "cannot be read");
	sqlite3_finalize(s);
	return r ? r : check_tip(db, err);
}

int fth_live_db_facts(struct fth_live_db *db, void (*take)(void *arg, const char *name, const char *value), void *arg,
		      struct fth_error *err)
{
	sqlite3_stmt *s = NULL;
	int step;
	if (sqlite3_prepare_v2(db->db, "SELECT name, text FROM facts ORDER BY name", -1, &s, NULL) != SQLITE_OK)
		return broken(db, err, "cannot be read");
	while ((step = sqlite3_step(s)) == SQLITE_ROW)
		take(arg, (const char *)sqlite3_column_text(s, 0), (const char *)sqlite3_column_text(s, 1));
	int r = step == SQLITE_DONE ? 0 : broken(db, err, "cannot be read");
	sqlite3_finalize(s);
	return r;
}

int fth_live_db_begin(struct fth_live_db *db, struct fth_error *err)
{
	return run(db, "BEGIN IMMEDIATE", err);
}

int fth_live_db_commit(struct fth_live_db *db, struct fth_error *err)
{
	int r = run(db, "COMMIT", err);
	return r ? r : write_tip(db, err);
}

static int put(struct fth_live_db *db, int which, const char *name, const char *text, struct fth_error *err)
{
	sqlite3_stmt *s = db->statements[which];
	sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	if (text)
		sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
	int step = sqlite3_step(s);
	int r = step == SQLITE_DONE ? 0 : broken(db, err, "cannot write");
	sqlite3_reset(s);
	return r;
}

int fth_live_db_put_head(struct fth_live_db *db, const char *name, const char *text, struct fth_error *err)
{
	return put(db, PUT_HEAD, name, text, err);
}

int fth_live_db_put_fact(struct fth_live_db *db, const char *name, const char *value, struct fth_error *err)
{
	return put(db, value ? PUT_FACT : DROP_FACT, name, value, err);
}

int fth_live_db_add_line(struct fth_live_db *db, const char *line, struct fth_error *err)
{
	sqlite3_stmt *s = db->statements[ADD_LINE];
	uint64_t sum = sum_of(db->sum, line);
	sqlite3_bind_int64(s, 1, (int64_t)(db->count + 1));
	sqlite3_bind_int64(s, 2, (int64_t)sum);
	sqlite3_bind_text(s, 3, line, -1, SQLITE_STATIC);
	int step = sqlite3_step(s);
	int r = step == SQLITE_DONE ? 0 : broken(db, err, "cannot write");
	sqlite3_reset(s);
	if (!r) {
		db->count++;
		db->sum = sum;
	}
	return r;
}

uint64_t fth_live_db_count(const struct fth_live_db *db)
{
	return db->count;
}
