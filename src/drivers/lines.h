/* SPDX-License-Identifier: Apache-2.0 */
/* Whole lines out of a pipe, whatever the pieces they come in; a line has a greatest length, so that who is at the other end
 * cannot fill our memory. Used by drivers and by the daemon that talks to them. */
#ifndef FTH_DRIVERS_LINES_H
#define FTH_DRIVERS_LINES_H

#include "base/base.h"

struct fth_lines {
	char *data;
	size_t len, cap; /* bytes in it */
	size_t at;       /* the first that no line given out holds */
	size_t seen;     /* none before this is a line end */
	size_t max;      /* of a line */
};
void fth_lines_init(struct fth_lines *l, size_t max);
void fth_lines_release(struct fth_lines *l);
/* Read once: 1 something came, 0 the other end has closed, -EAGAIN nothing now, other -errno. */
int fth_lines_fill(struct fth_lines *l, int fd);
/* 1 and the next whole line (NUL-ended, without its end; valid until the next fill), 0 none yet, -EMSGSIZE: it is longer
 * than allowed, and nothing more can be had. */
int fth_lines_next(struct fth_lines *l, char **ret, size_t *ret_len);

#endif
