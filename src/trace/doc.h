/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document of bounded size, with the line of every value at hand for errors: the parser does
 * not keep lines, so the text is kept and searched along the path when something is wrong.
 * Internal to this folder.
 */
#ifndef FTH_TRACE_DOC_H
#define FTH_TRACE_DOC_H

#include <jansson.h>

#include "trace/trace.h"

enum { FTH_DOC_MAX = 256 << 20, FTH_DOC_DEPTH = 8 };

struct fth_doc {
	const char *file;
	struct fth_str text;
	json_t *root;
	/* Where we are, for errors: keys of objects, or NULL and an index of an array. */
	struct fth_doc_step {
		const char *key;
		size_t index;
	} path[FTH_DOC_DEPTH];
	int depth;
};
/* Read all of the input; the root must be an object. Duplicate keys are refused. */
int fth_doc_read(struct fth_doc *d, struct fth_input *in, struct fth_error *err);
void fth_doc_release(struct fth_doc *d);

void fth_doc_enter(struct fth_doc *d, const char *key);
void fth_doc_enter_index(struct fth_doc *d, size_t index);
void fth_doc_leave(struct fth_doc *d);
/* The line of the value the path leads to. */
uint64_t fth_doc_line(const struct fth_doc *d);
/* The lines of the members of the root object's member `key` (NULL: of the root), in order. The
 * caller frees the array. */
uint32_t *fth_doc_member_lines(const struct fth_doc *d, const char *key, size_t n);
#define fth_doc_fail(d, err, ...) fth_fail_at(err, -EINVAL, (d)->file, fth_doc_line(d), __VA_ARGS__)

/* Members of an object, checked; an error names the line of the member. */
int fth_doc_known(struct fth_doc *d, json_t *obj, const char *const *keys, struct fth_error *err);
int fth_doc_get(struct fth_doc *d, json_t *obj, const char *key, json_type type, json_t **ret, struct fth_error *err);
int fth_doc_string(struct fth_doc *d, json_t *obj, const char *key, const char **ret, struct fth_error *err);
int fth_doc_int(struct fth_doc *d, json_t *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
		struct fth_error *err);
int fth_doc_real(struct fth_doc *d, json_t *obj, const char *key, double min, double max, double *ret,
		 struct fth_error *err);
/* Seconds, whole or not, to microseconds. */
int fth_doc_seconds(struct fth_doc *d, json_t *obj, const char *key, fth_time *ret, struct fth_error *err);
/* [gpu, cpu, GB] */
int fth_doc_demand(struct fth_doc *d, json_t *obj, const char *key, struct fth_res *ret, struct fth_error *err);

#endif
