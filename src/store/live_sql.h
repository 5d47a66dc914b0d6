/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database under a live journal: three tables and nothing else. Each line carries a sum over itself and all
 * lines before it, so that a line that was changed, lost or put in is found. Internal to this folder.
 */
#ifndef FTH_STORE_LIVE_SQL_H
#define FTH_STORE_LIVE_SQL_H

#include "base/base.h"

struct fth_live_db;
/* write: make it if it is not there, and keep others from writing (-EBUSY). Otherwise it is only read. */
int fth_live_db_open(struct fth_live_db **ret, const char *path, bool write, struct fth_error *err);
void fth_live_db_close(struct fth_live_db *db);

/* NULL if there is none; free it. */
char *fth_live_db_head(struct fth_live_db *db, const char *name);
int fth_live_db_lines(struct fth_live_db *db, int (*take)(void *arg, uint64_t seq, const char *line, struct fth_error *err),
		      void *arg, struct fth_error *err);
int fth_live_db_facts(struct fth_live_db *db, void (*take)(void *arg, const char *name, const char *value), void *arg,
		      struct fth_error *err);

/* All of what follows is one transaction, durable once commit has returned 0. */
int fth_live_db_begin(struct fth_live_db *db, struct fth_error *err);
int fth_live_db_put_head(struct fth_live_db *db, const char *name, const char *text, struct fth_error *err);
int fth_live_db_add_line(struct fth_live_db *db, const char *line, struct fth_error *err);
int fth_live_db_put_fact(struct fth_live_db *db, const char *name, const char *value, struct fth_error *err);
int fth_live_db_commit(struct fth_live_db *db, struct fth_error *err);
uint64_t fth_live_db_count(const struct fth_live_db *db);

#endif
