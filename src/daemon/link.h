/* SPDX-License-Identifier: Apache-2.0 */
/* A driver as the loop has it: a child process with three pipes, none of which is ever waited for; started again, ever more slowly, when it
 * ends. */
#ifndef FTH_DAEMON_LINK_H
#define FTH_DAEMON_LINK_H

#include <sys/types.h>

#include "daemon/config.h"
#include "drivers/lines.h"

struct fth_link {
	enum fth_role role;
	const char *program, *name;
	pid_t pid;          /* 0: it does not run */
	int in, out, err;   /* our ends of its input, output and messages; -1: closed */
	uint32_t session;   /* how often it was started */
	struct fth_lines lines, words;
	struct fth_str unsent;
	size_t sent;
	int64_t started_ns, next_start_ns; /* when it is to be started again */
	unsigned failures;  /* in a row */
};
void fth_link_init(struct fth_link *l, enum fth_role role, const struct fth_role_config *c);
int fth_link_start(struct fth_link *l, struct fth_error *err);
void fth_link_send(struct fth_link *l, const char *line, size_t n);
/* Write what can be written now. -errno: it no longer listens. */
int fth_link_flush(struct fth_link *l);
/* Its messages go to our log. */
void fth_link_hear(struct fth_link *l);
/* It has gone, or is to go: close all, end it if it lives, and wait a while before the next start. */
void fth_link_close(struct fth_link *l, bool kill_it);
/* Let it end by itself (its input is closed), for at most so long. */
void fth_link_finish(struct fth_link *l, int64_t limit_us);
void fth_link_release(struct fth_link *l);

#endif
