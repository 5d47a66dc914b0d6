/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the canonical forms: `word NAME key=value key=value`. What a line may say is a table of
 * rules over a struct; reading and writing go by the same table, so neither can forget a field.
 */
#ifndef FTH_TRACE_FIELDS_H
#define FTH_TRACE_FIELDS_H

#include "trace/trace.h"

/* Bounds that keep later sums far from overflow; beyond them a number is refused. */
#define FTH_TRACE_TIME_MAX (365250 * FTH_DAY)         /* a thousand years */
#define FTH_TRACE_PRICE_MAX (1000000 * FTH_USD)       /* per hour */
#define FTH_TRACE_RES_MAX ((int64_t)1 << 40)
#define FTH_TRACE_ITERS_MAX ((int64_t)1 << 52)
#define FTH_TRACE_TASKS_MAX 1000000                   /* of one job */

enum fth_field_type {
	FTH_FIELD_SYM,    /* fth_sym */
	FTH_FIELD_TIME,   /* fth_time, with a unit */
	FTH_FIELD_WHEN,   /* the same, or "never" */
	FTH_FIELD_COUNT,  /* int64_t >= 0 */
	FTH_FIELD_COUNT32, /* uint32_t */
	FTH_FIELD_INT32,  /* int32_t */
	FTH_FIELD_REAL,   /* double >= 0 */
	FTH_FIELD_USD,    /* fth_money >= 0 */
	FTH_FIELD_DELAY,  /* struct fth_delay: "10s" or "6s..19s..83s" */
	FTH_FIELD_CHOICE, /* enum, an index into choices */
	FTH_FIELD_FLAG,   /* bool: yes, no */
	FTH_FIELD_BOOT,   /* struct fth_boot_step[FTH_BOOT_STEPS]: 1:126s,2:186s */
	FTH_FIELD_RES,    /* struct fth_res: gpu:1,cpu:12,mem:16GiB */
};

struct fth_field_rule {
	const char *key;
	enum fth_field_type type;
	size_t offset;
	const char *const *choices;
	bool required;
};

/* Whose names the numbers are. */
struct fth_field_names {
	struct fth_symtab *syms;
	uint32_t nres;
	const fth_sym *res_names;
};

struct fth_field {
	char *key, *value;
	bool used;
};

struct fth_line {
	const char *file;
	uint64_t number;
	char *word;
	char *name; /* decoded; "" if there is none */
	FTH_VEC(struct fth_field) fields;
};
void fth_line_release(struct fth_line *l);
/* The next line that says something: 1, 0 at the end, -errno. Pieces are valid until the next call. */
int fth_line_next(struct fth_line *l, struct fth_input *in, struct fth_error *err);
/* The first line of a canonical file: its word and the version we know. */
int fth_line_expect_header(struct fth_input *in, const char *word, struct fth_error *err);
/* "file:line: ..." about this line. */
#define fth_line_fail(l, err, ...) fth_fail_at(err, -EINVAL, (l)->file, (l)->number, __VA_ARGS__)
/* Fill base by the rules from the fields; the ones used are marked. */
int fth_line_apply(struct fth_line *l, const struct fth_field_rule *rules, size_t n, void *base,
		   const struct fth_field_names *names, struct fth_error *err);
/* Fails on the first field nobody used. */
int fth_line_finish(const struct fth_line *l, struct fth_error *err);

/* One value, by type; base + offset is filled. Returns NULL, or what is wrong. */
const char *fth_field_parse(const struct fth_field_rule *rule, const char *s, size_t n, void *base,
			    const struct fth_field_names *names);
/* " key=value" for each rule whose field is not as in defaults (or is required). */
void fth_fields_write(struct fth_str *s, const struct fth_field_rule *rules, size_t n, const void *base,
		      const void *defaults, const struct fth_field_names *names);
void fth_field_write_res(struct fth_str *s, const struct fth_res *r, const struct fth_field_names *names);
void fth_field_write_when(struct fth_str *s, fth_time t);

/* Names: bytes other than letters, digits, the ones of UTF-8 and . _ - + / [ ] ( ) are %XX. */
void fth_name_write(struct fth_str *s, const char *name);
int fth_name_decode(char *s); /* in place; -EINVAL on a bad escape */

#endif
