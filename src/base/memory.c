/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, allocation, arenas, vectors. */
#include "base/base.h"

int fth_fail(struct fth_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		err->code = code;
	}
	return code;
}

int fth_fail_at(struct fth_error *err, int code, const char *file, uint64_t line, const char *fmt, ...)
{
	if (!err)
		return code;
	int n = line ? snprintf(err->text, sizeof(err->text), "%s:%llu: ", file, (unsigned long long)line)
		     : snprintf(err->text, sizeof(err->text), "%s: ", file);
	if (n < 0 || (size_t)n >= sizeof(err->text))
		n = (int)sizeof(err->text) - 1;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->text + n, sizeof(err->text) - (size_t)n, fmt, ap);
	va_end(ap);
	err->code = code;
	return code;
}

static void *or_die(void *p)
{
	if (!p) {
		fputs("farthing: out of memory\n", stderr);
		exit(71);
	}
	return p;
}

void *fth_alloc(size_t size)
{
	return or_die(calloc(1, size ? size : 1));
}

void *fth_realloc(void *p, size_t size)
{
	return or_die(realloc(p, size ? size : 1));
}

char *fth_strndup(const char *s, size_t n)
{
	char *p = fth_alloc(n + 1);
	memcpy(p, s, n);
	return p;
}

char *fth_strdup(const char *s)
{
	return fth_strndup(s, strlen(s));
}

struct fth_arena_block {
	struct fth_arena_block *next;
	size_t size;
	_Alignas(16) char data[];
};

void *fth_arena_alloc(struct fth_arena *a, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (a->used + size > a->cap) {
		size_t block = FTH_MAX(FTH_MAX((size_t)4096, a->cap * 2), size);
		struct fth_arena_block *b = fth_realloc(NULL, sizeof(*b) + block);
		b->next = a->head;
		b->size = block;
		a->head = b;
		a->cap = block;
		a->used = 0;
	}
	void *p = a->head->data + a->used;
	a->used += size;
	return memset(p, 0, size);
}

void fth_arena_reset(struct fth_arena *a)
{
	/* Blocks only grow, so the newest is the largest. */
	if (!a->head)
		return;
	struct fth_arena_block *b = a->head->next;
	while (b) {
		struct fth_arena_block *next = b->next;
		free(b);
		b = next;
	}
	a->head->next = NULL;
	a->used = 0;
}

void fth_arena_release(struct fth_arena *a)
{
	fth_arena_reset(a);
	free(a->head);
	*a = (struct fth_arena){0};
}

void *fth_vec_grow(void *data, size_t *cap, size_t need, size_t item)
{
	/* Twice as much, or a quarter more once it is large: the slack of a large one is worth having. */
	size_t n = !*cap ? 8 : *cap * item < (size_t)1 << 20 ? *cap * 2 : *cap + *cap / 4;
	if (n < need)
		n = need;
	if (n > SIZE_MAX / item)
		or_die(NULL);
	data = fth_realloc(data, n * item);
	*cap = n;
	return data;
}
