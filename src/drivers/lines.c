/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/lines.h"

#include <unistd.h>

enum { PIECE = 64 << 10 };

void fth_lines_init(struct fth_lines *l, size_t max)
{
	*l = (struct fth_lines){.max = max};
}

void fth_lines_release(struct fth_lines *l)
{
	free(l->data);
	l->data = NULL;
	l->len = l->cap = l->at = l->seen = 0;
}

/* What was given out is no longer needed. */
static void close_up(struct fth_lines *l)
{
	if (!l->at)
		return;
	memmove(l->data, l->data + l->at, l->len - l->at);
	l->len -= l->at;
	l->seen -= l->at;
	l->at = 0;
	if (l->cap > 16 * PIECE && l->len < l->cap / 8) {
		l->cap = l->len + PIECE + 1;
		l->data = fth_realloc(l->data, l->cap);
	}
}

int fth_lines_fill(struct fth_lines *l, int fd)
{
	close_up(l);
	if (l->cap < l->len + PIECE + 1) {
		l->cap = FTH_MAX(l->cap * 2, l->len + PIECE + 1);
		l->data = fth_realloc(l->data, l->cap);
	}
	ssize_t n;
	do
		n = read(fd, l->data + l->len, l->cap - l->len - 1);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : 0;
	l->len += (size_t)n;
	return 1;
}

int fth_lines_next(struct fth_lines *l, char **ret, size_t *ret_len)
{
	char *end = l->len > l->seen ? memchr(l->data + l->seen, '\n', l->len - l->seen) : NULL;
	size_t n = (end ? (size_t)(end - l->data) : l->len) - l->at;
	if (n > l->max)
		return -EMSGSIZE;
	if (!end) {
		l->seen = l->len;
		return 0;
	}
	*end = 0;
	*ret = l->data + l->at;
	*ret_len = n;
	l->at = l->seen = (size_t)(end - l->data) + 1;
	return 1;
}
