/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one header of src/base: small containers, text and number helpers. libc only.
 * See README.md in this folder for the conventions.
 */
#ifndef FTH_BASE_H
#define FTH_BASE_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <farthing/types.h>

#define FTH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define FTH_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FTH_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FTH_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- errors ------------------------------------------------------------------------------ */

/* What went wrong, for people. Functions that can fail return 0 or -errno and take one of these
 * last (it may be NULL). Library code never prints. file/line are of the user's input. */
struct fth_error {
	int code; /* -errno, 0 while nothing failed */
	char text[512];
};

/* Fill err (if any) and return code, so that a caller may `return fth_fail(err, -EINVAL, ...)`. */
int fth_fail(struct fth_error *err, int code, const char *fmt, ...) FTH_PRINTF(3, 4);
/* The same, "file:line: text" (no ":line" when line is 0). */
int fth_fail_at(struct fth_error *err, int code, const char *file, uint64_t line, const char *fmt, ...)
	FTH_PRINTF(5, 6);

/* ---- memory --------------------------------------------------------------------------------- */

/* Allocation that cannot fail: out of memory ends the program with a message and exit code 71. */
void *fth_alloc(size_t size);               /* zeroed */
void *fth_realloc(void *p, size_t size);    /* new bytes are not zeroed */
char *fth_strdup(const char *s);
char *fth_strndup(const char *s, size_t n);

/* An arena: many small objects freed at once. */
struct fth_arena {
	struct fth_arena_block *head;
	size_t used, cap;
};
void *fth_arena_alloc(struct fth_arena *a, size_t size); /* zeroed, 16-aligned */
void fth_arena_reset(struct fth_arena *a);               /* keeps the largest block */
void fth_arena_release(struct fth_arena *a);

/* ---- vectors ---------------------------------------------------------------------------------- */

/* FTH_VEC(int) v = {0}; fth_vec_push(&v, 3); v.data[0], v.len; fth_vec_release(&v). */
#define FTH_VEC(T)          \
	struct {            \
		T *data;    \
		size_t len, cap; \
	}

void *fth_vec_grow(void *data, size_t *cap, size_t need, size_t item);
#define fth_vec_reserve(v, n)                                                                    \
	((v)->cap >= (n) ? (void)0                                                               \
			 : (void)((v)->data = fth_vec_grow((v)->data, &(v)->cap, (n), sizeof(*(v)->data))))
#define fth_vec_push(v, x) (fth_vec_reserve(v, (v)->len + 1), (v)->data[(v)->len++] = (x))
#define fth_vec_pop(v) ((v)->data[--(v)->len])
#define fth_vec_last(v) ((v)->data[(v)->len - 1])
#define fth_vec_clear(v) ((void)((v)->len = 0))
/* Empty it for the next use, and give memory back that the last one did not need by far. */
#define fth_vec_recycle(v) ((v)->cap > 4096 && (v)->len < (v)->cap / 8 ? fth_vec_release(v) : fth_vec_clear(v))
/* It grows no more: give back what it does not use. */
#define fth_vec_trim(v)                                                                           \
	((void)((v)->len < (v)->cap && ((v)->data = fth_realloc((v)->data, (v)->len * sizeof(*(v)->data))) && \
		((v)->cap = (v)->len)))
#define fth_vec_release(v) ((void)(free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0))

/* ---- strings ------------------------------------------------------------------------------------ */

/* A growing text buffer; always ends in a NUL once written to. */
struct fth_str {
	char *data;
	size_t len, cap;
};
void fth_str_add(struct fth_str *s, const char *text);
void fth_str_addn(struct fth_str *s, const char *text, size_t n);
void fth_str_addc(struct fth_str *s, char c);
void fth_str_addf(struct fth_str *s, const char *fmt, ...) FTH_PRINTF(2, 3);
void fth_str_clear(struct fth_str *s);
void fth_str_release(struct fth_str *s);

/* Interned strings. Symbol 0 is the empty string. */
struct fth_symtab;
struct fth_symtab *fth_symtab_new(void);
void fth_symtab_free(struct fth_symtab *t);
fth_sym fth_sym_intern(struct fth_symtab *t, const char *s);
fth_sym fth_sym_internn(struct fth_symtab *t, const char *s, size_t n);
fth_sym fth_sym_find(const struct fth_symtab *t, const char *s); /* 0 if absent */
const char *fth_sym_str(const struct fth_symtab *t, fth_sym sym);
uint32_t fth_symtab_count(const struct fth_symtab *t);

/* ---- maps ----------------------------------------------------------------------------------------- */

/* uint64 -> uint64, open addressing. No iteration: order would depend on the hash. */
struct fth_map {
	struct fth_map_slot *slots;
	size_t cap, len;
};
void fth_map_put(struct fth_map *m, uint64_t key, uint64_t value);
bool fth_map_get(const struct fth_map *m, uint64_t key, uint64_t *ret_value);
bool fth_map_del(struct fth_map *m, uint64_t key);
void fth_map_clear(struct fth_map *m);
void fth_map_release(struct fth_map *m);

uint64_t fth_hash_bytes(const void *p, size_t n, uint64_t seed);
uint64_t fth_hash_u64(uint64_t x);

/* ---- tables of entities by id ------------------------------------------------------------------------ */

/* Items get ids 0, 1, 2, ... that are never reused, live in slots that are, and never move. Memory
 * follows the live items: a directory page goes when all of its ids are gone. The lowest free slot is taken first,
 * so that what comes together lies together. */
enum { FTH_TABLE_PAGE = 1024, FTH_TABLE_CHUNK = 64, FTH_TABLE_LEVELS = 6 };
struct fth_table {
	size_t item;        /* size of one */
	char **chunks;      /* of FTH_TABLE_CHUNK items */
	uint32_t nchunks;
	uint32_t **pages;   /* of FTH_TABLE_PAGE slots */
	uint32_t *page_live;
	uint32_t npages;
	uint32_t next_id;
	uint32_t nslots;    /* ever used at once */
	uint32_t live;
	FTH_VEC(uint64_t) free[FTH_TABLE_LEVELS]; /* a bit for each free slot; above, one for each word that is not 0 */
};
void fth_table_init(struct fth_table *t, size_t item);
void fth_table_release(struct fth_table *t);
/* A zeroed new item; its id and slot are returned too. */
void *fth_table_add(struct fth_table *t, uint32_t *ret_id, uint32_t *ret_slot);
/* UINT32_MAX if gone or never there. */
static inline uint32_t fth_table_slot(const struct fth_table *t, uint32_t id)
{
	if (id >= t->next_id || !t->pages[id / FTH_TABLE_PAGE])
		return UINT32_MAX;
	return t->pages[id / FTH_TABLE_PAGE][id % FTH_TABLE_PAGE];
}
static inline void *fth_table_at(const struct fth_table *t, uint32_t slot)
{
	return t->chunks[slot / FTH_TABLE_CHUNK] + (slot % FTH_TABLE_CHUNK) * t->item;
}
/* NULL if gone or never there. */
static inline void *fth_table_get(const struct fth_table *t, uint32_t id)
{
	uint32_t slot = fth_table_slot(t, id);
	return slot == UINT32_MAX ? NULL : fth_table_at(t, slot);
}
/* It will be needed soon: what lies in no cache takes as long to come as a hundred instructions, unless it is asked for
 * in time. */
static inline void fth_expect(const void *p, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)p + at);
}
void fth_table_remove(struct fth_table *t, uint32_t id);

/* ---- a heap of timed things --------------------------------------------------------------------------- */

/* Total order: time, then rank, then order of insertion. */
struct fth_heap_item {
	fth_time time;
	uint64_t order; /* rank, below 128, and the order of insertion */
	uint32_t rank;
	uint32_t a, b, c; /* the owner's */
};
struct fth_heap {
	struct fth_heap_item *data;
	size_t len, cap;
	uint64_t next_seq;
	size_t rose[2]; /* places one and two below the top to which the last pop brought others: they are next before long */
};
void fth_heap_push(struct fth_heap *h, fth_time time, uint32_t rank, uint32_t a, uint32_t b, uint32_t c);
struct fth_heap_item fth_heap_pop(struct fth_heap *h);
/* Make a heap again of data[0..len), from which the owner has taken items out. */
void fth_heap_rebuild(struct fth_heap *h);
void fth_heap_release(struct fth_heap *h);

/* ---- random numbers -------------------------------------------------------------------------------------- */

/* Seeded by what is drawn for, so that a draw does not depend on the order of other draws. */
struct fth_rng {
	uint64_t s[4];
};
void fth_rng_seed(struct fth_rng *r, uint64_t seed, uint64_t stream, uint64_t id);
uint64_t fth_rng_u64(struct fth_rng *r);
double fth_rng_real(struct fth_rng *r);                    /* [0, 1), 53 bits */
uint64_t fth_rng_below(struct fth_rng *r, uint64_t n);     /* [0, n), unbiased */
double fth_rng_exponential(struct fth_rng *r, double mean);
double fth_rng_normal(struct fth_rng *r); /* mean 0, deviation 1 */
/* Natural logarithm and powers computed with +-*\/ only: same bits on every machine. */
double fth_log(double x);
double fth_exp(double x);
double fth_pow10(double x);

/* ---- the calendar (UTC) ---------------------------------------------------------------------------------- */

/* Months are counted from January 1970: days since 1970 of a month's first, and the month of a moment in
 * microseconds since 1970. */
int64_t fth_month_start_day(int64_t month);
int64_t fth_month_of(int64_t at);

/* ---- numbers as text ----------------------------------------------------------------------------------------- */

/* All of these take the whole string, or fail with -EINVAL (-ERANGE on overflow) and no output. */
int fth_parse_i64(const char *s, size_t n, int64_t *ret);
int fth_parse_real(const char *s, size_t n, double *ret); /* finite; '.' whatever the locale */
/* "12", "12.5", "300s", "5m", "2h", "1d", "250ms", "10us": microseconds; a bare number is seconds. */
int fth_parse_duration(const char *s, size_t n, fth_time *ret);
/* A decimal number of dollars, "0.08925", to nano-dollars, exactly; more digits are refused. */
int fth_parse_usd(const char *s, size_t n, fth_money *ret);
/* A decimal number times scale, exactly representable, e.g. CPUs to milli-CPU with scale 1000. */
int fth_parse_scaled(const char *s, size_t n, int64_t scale, int64_t *ret);

/* Shortest forms that parse back to the same value. */
void fth_str_duration(struct fth_str *s, fth_time t);   /* "300s", "1.5s", "0s" */
void fth_str_usd(struct fth_str *s, fth_money m);       /* "0.08925" */
void fth_str_scaled(struct fth_str *s, int64_t v, int64_t scale);
void fth_str_real(struct fth_str *s, double x);         /* shortest that reads back the same */

/* price x time, rounded down once at the end. */
static inline fth_money fth_price_times(fth_price p, fth_time t)
{
	return (fth_money)((__int128)p * t / FTH_HOUR);
}

static inline double fth_usd(fth_money m)
{
	return (double)m / 1e9;
}

/* Greatest common divisor; that of 0 and a is a. */
static inline int64_t fth_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* x added n times to sum, one rounding per addition, in time that grows with the logarithm of n. */
double fth_repeat_add(double sum, double x, uint64_t n);
/* The least n with fth_repeat_add(sum, x, n) >= goal; UINT64_MAX if it never gets there. */
uint64_t fth_repeat_until(double sum, double x, double goal);

#endif
