/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's side of the driver protocol (docs/daemon.md): JSON, one object a line, on standard input and output. A driver
 * program gives a table of operations and calls fth_driver_main; requests are carried out one after the other, in the order they
 * came, so that a list shows the effect of every request before it. It ends when its input does.
 *
 * It needs src/base and jansson only, so that a driver under another licence can use it.
 */
#ifndef FTH_DRIVERS_PROTOCOL_H
#define FTH_DRIVERS_PROTOCOL_H

#include <jansson.h>

#include "base/base.h"

enum { FTH_PROTOCOL = 1, FTH_PROTOCOL_LINE_MAX = 64 << 20 };

/* What the daemon said first. Borrowed; valid as long as the session. */
struct fth_hello {
	const char *cluster; /* its name */
	const char *state;   /* a directory of the driver's own, which is there */
	const json_t *config, *catalog;
	bool dry_run;        /* list only; make and change nothing */
};

struct fth_request {
	const json_t *in; /* the whole request */
	json_t *out;      /* put the answer's fields here */
	int64_t now;      /* microseconds since 1970 */
	const char *why;  /* of a failure: "capacity", "quota", "throttled"; NULL: "other" */
	const char *key;  /* of a failed hello: the setting that was wrong; NULL: none */
};

struct fth_driver_op {
	const char *name; /* NULL ends a table */
	/* 0, or -errno with the error filled in: the answer says ok or not. */
	int (*run)(void *self, struct fth_request *q, struct fth_error *err);
};

struct fth_driver {
	const char *name;
	const char *role; /* "capacity" or "workload" */
	bool stateless;   /* it keeps nothing in its state directory: that is neither made nor locked */
	/* May add to q->out ("nodes"). */
	int (*hello)(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err);
	const struct fth_driver_op *ops;
	/* When (since 1970) tick wants to be called next, INT64_MAX: never; tick returns true if there is something new to
	 * list: the daemon is given a hint. Both optional. */
	int64_t (*due)(void *self, int64_t now);
	bool (*tick)(void *self, int64_t now);
	/* Another descriptor that makes tick due when it is readable (tick empties it); -1 or no op: none. */
	int (*watch)(void *self);
};

/* Speak until the input ends. Returns an exit code. */
int fth_driver_main(const struct fth_driver *d, void *self);
/* The same on other descriptors. */
int fth_driver_serve(const struct fth_driver *d, void *self, int in, int out);

int64_t fth_driver_now(void);

/* Fields of requests: NULL or a failure with the field's name where it is missing or of the wrong type. */
const char *fth_request_text(const struct fth_request *q, const char *key, struct fth_error *err);
/* A name that can be a file's: letters, digits and . _ - + , at most 200, not beginning with a dot. */
bool fth_name_is_plain(const char *s);

/* Read a driver's config by a table (settings.h); q->key says which key was wrong. */
struct fth_setting;
int fth_driver_settings(const struct fth_hello *h, const struct fth_setting *table, void *base, struct fth_request *q,
			struct fth_error *err);

/* ---- lists from a mark on ---- */

/* Marks count changes within this process; those of an earlier one are answered with a full list. */
struct fth_marks {
	int64_t first, last;
};
void fth_marks_init(struct fth_marks *m);
static inline int64_t fth_marks_next(struct fth_marks *m)
{
	return ++m->last;
}
/* Begin the answer of a list: the mark from which on things are to be listed (0: all). */
int64_t fth_marks_since(const struct fth_marks *m, struct fth_request *q);

#endif
