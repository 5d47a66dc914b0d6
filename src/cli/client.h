/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talking to farthingd: one HTTP request over its Unix socket, or over TCP with a token. Our own few lines rather than an HTTP library: the peer is always
 * our own daemon, requests are HTTP/1.0 with one bounded answer, and every `farthing` would start with thirty more libraries.
 */
#ifndef FTH_CLI_CLIENT_H
#define FTH_CLI_CLIENT_H

#include <jansson.h>

#include "cli/cli.h"

extern const struct fth_option fth_options_daemon[]; /* --socket, --url, --token-file, --format */

/* The answer as JSON (the caller's), and its text if asked for. -errno: farthingd is not there, or refuses. */
int fth_client_ask(const struct fth_args *a, const char *method, const char *path, const json_t *body, json_t **ret, struct fth_str *ret_text,
		   struct fth_error *err);
/* For verbs that only ask: print what `table` makes of the answer, or the answer as it is with --format json. An exit code. */
int fth_client_show(const struct fth_args *a, const char *method, const char *path, const json_t *body, void (*table)(const json_t *doc));

/* ---- tables of texts, as wide as they need ---- */

struct fth_columns {
	const char *const *titles; /* NULL-ended; one that begins with '>' is of numbers, set to the right */
	FTH_VEC(char *) cells;
};
void fth_columns_add(struct fth_columns *c, const char *fmt, ...) FTH_PRINTF(2, 3);
void fth_columns_print(struct fth_columns *c); /* and release */
/* Microseconds since 1970 as local time of day, or "-" if there is none. */
void fth_columns_time(struct fth_columns *c, const json_t *t);

const char *fth_text_at(const json_t *o, const char *key); /* "" if there is none */
double fth_number_at(const json_t *o, const char *key);
/* Text for the path of a URL; to be freed. */
char *fth_url_part(const char *text);

#endif
