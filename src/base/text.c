/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text, interned strings, numbers to and from text. */
#include "base/base.h"

#include <math.h>

void fth_str_addn(struct fth_str *s, const char *text, size_t n)
{
	if (s->len + n + 1 > s->cap)
		s->data = fth_vec_grow(s->data, &s->cap, s->len + n + 1, 1);
	if (n)
		memcpy(s->data + s->len, text, n);
	s->len += n;
	s->data[s->len] = '\0';
}

void fth_str_add(struct fth_str *s, const char *text)
{
	fth_str_addn(s, text, strlen(text));
}

void fth_str_addc(struct fth_str *s, char c)
{
	fth_str_addn(s, &c, 1);
}

void fth_str_addf(struct fth_str *s, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		fth_str_addn(s, small, (size_t)n);
	} else if (n >= 0) {
		if (s->len + (size_t)n + 1 > s->cap)
			s->data = fth_vec_grow(s->data, &s->cap, s->len + (size_t)n + 1, 1);
		vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
		s->len += (size_t)n;
	}
	va_end(again);
}

void fth_str_clear(struct fth_str *s)
{
	s->len = 0;
	if (s->data)
		s->data[0] = '\0';
}

void fth_str_release(struct fth_str *s)
{
	free(s->data);
	*s = (struct fth_str){0};
}

/* ---- symbols ---- */

/* A workload has a name for each of its jobs, so a symbol is kept small: its text without padding, a pointer to it, a
 * link to the next of its bucket, and a bucket or two. */
struct fth_symtab {
	FTH_VEC(const char *) names;
	FTH_VEC(fth_sym) next;  /* chain of the same bucket */
	FTH_VEC(fth_sym) first; /* by bucket; a power of two of them */
	struct fth_arena text;
	char *chunk; /* bytes not used yet */
	size_t left;
};

enum { SYM_CHUNK = 4096 };

struct fth_symtab *fth_symtab_new(void)
{
	struct fth_symtab *t = fth_alloc(sizeof(*t));
	fth_vec_push(&t->names, "");
	fth_vec_push(&t->next, 0);
	return t;
}

void fth_symtab_free(struct fth_symtab *t)
{
	if (!t)
		return;
	fth_vec_release(&t->names);
	fth_vec_release(&t->next);
	fth_vec_release(&t->first);
	fth_arena_release(&t->text);
	free(t);
}

static fth_sym sym_lookup(const struct fth_symtab *t, const char *s, size_t n, uint64_t hash)
{
	if (!t->first.len)
		return 0;
	for (fth_sym sym = t->first.data[hash & (t->first.len - 1)]; sym; sym = t->next.data[sym])
		if (!strncmp(t->names.data[sym], s, n) && !t->names.data[sym][n])
			return sym;
	return 0;
}

static void sym_link(struct fth_symtab *t, fth_sym sym, uint64_t hash)
{
	fth_sym *first = &t->first.data[hash & (t->first.len - 1)];
	t->next.data[sym] = *first;
	*first = sym;
}

/* Twice the buckets. */
static void sym_grow(struct fth_symtab *t)
{
	size_t n = t->first.len ? t->first.len * 2 : 64;
	fth_vec_reserve(&t->first, n);
	memset(t->first.data, 0, n * sizeof(*t->first.data));
	t->first.len = n;
	for (fth_sym sym = 1; sym < t->names.len; sym++)
		sym_link(t, sym, fth_hash_bytes(t->names.data[sym], strlen(t->names.data[sym]), 0));
}

static const char *sym_text(struct fth_symtab *t, const char *s, size_t n)
{
	if (n + 1 > SYM_CHUNK / 4) {
		char *own = fth_arena_alloc(&t->text, n + 1);
		return memcpy(own, s, n);
	}
	if (n + 1 > t->left) {
		t->chunk = fth_arena_alloc(&t->text, SYM_CHUNK);
		t->left = SYM_CHUNK;
	}
	char *copy = memcpy(t->chunk, s, n);
	copy[n] = '\0';
	t->chunk += n + 1;
	t->left -= n + 1;
	return copy;
}

fth_sym fth_sym_internn(struct fth_symtab *t, const char *s, size_t n)
{
	if (!n)
		return 0;
	uint64_t hash = fth_hash_bytes(s, n, 0);
	fth_sym sym = sym_lookup(t, s, n, hash);
	if (sym)
		return sym;
	if (t->names.len >= t->first.len)
		sym_grow(t);
	sym = (fth_sym)t->names.len;
	fth_vec_push(&t->names, sym_text(t, s, n));
	fth_vec_push(&t->next, 0);
	sym_link(t, sym, hash);
	return sym;
}

fth_sym fth_sym_intern(struct fth_symtab *t, const char *s)
{
	return fth_sym_internn(t, s, strlen(s));
}

fth_sym fth_sym_find(const struct fth_symtab *t, const char *s)
{
	size_t n = strlen(s);
	return n ? sym_lookup(t, s, n, fth_hash_bytes(s, n, 0)) : 0;
}

const char *fth_sym_str(const struct fth_symtab *t, fth_sym sym)
{
	return sym < t->names.len ? t->names.data[sym] : "";
}

uint32_t fth_symtab_count(const struct fth_symtab *t)
{
	return (uint32_t)t->names.len;
}

/* ---- numbers ---- */

/* A decimal as sign, up to 38 digits and a count of decimals; -EINVAL if it is anything else. */
struct decimal {
	bool negative;
	unsigned __int128 digits;
	int decimals;
};

static int read_decimal(const char *s, size_t n, struct decimal *ret)
{
	struct decimal d = {0};
	size_t i = 0;
	int ndigits = 0, significant = 0;
	bool point = false;
	if (i < n && (s[i] == '-' || s[i] == '+'))
		d.negative = s[i++] == '-';
	for (; i < n; i++) {
		if (s[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		ndigits++;
		if (significant || s[i] != '0')
			significant++;
		if (significant > 36) {
			/* Trailing zeros after the point carry nothing; other digits would be lost. */
			if (!point || s[i] != '0')
				return -ERANGE;
			significant--;
			continue;
		}
		d.digits = d.digits * 10 + (unsigned)(s[i] - '0');
		d.decimals += point;
	}
	if (!ndigits)
		return -EINVAL;
	*ret = d;
	return 0;
}

int fth_parse_scaled(const char *s, size_t n, int64_t scale, int64_t *ret)
{
	struct decimal d;
	int r = read_decimal(s, n, &d);
	if (r)
		return r;
	while (d.decimals > 0 && d.digits % 10 == 0) {
		d.digits /= 10;
		d.decimals--;
	}
	int64_t left = scale;
	while (d.decimals > 0) {
		if (left % 10)
			return -EINVAL; /* more decimals than the unit can hold */
		left /= 10;
		d.decimals--;
	}
	if (d.digits > (unsigned __int128)INT64_MAX)
		return -ERANGE;
	unsigned __int128 v = d.digits * (unsigned __int128)left;
	if (v > (unsigned __int128)INT64_MAX)
		return -ERANGE;
	*ret = d.negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

int fth_parse_i64(const char *s, size_t n, int64_t *ret)
{
	size_t sign = n && *s == '-', at = sign;
	if (n > sign && n - sign <= 18) { /* nearly always, and much faster */
		int64_t v = 0;
		for (; at < n && s[at] >= '0' && s[at] <= '9'; at++)
			v = v * 10 + (s[at] - '0');
		if (at == n) {
			*ret = sign ? -v : v;
			return 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (s[i] == '.')
			return -EINVAL;
	return fth_parse_scaled(s, n, 1, ret);
}

int fth_parse_usd(const char *s, size_t n, fth_money *ret)
{
	return fth_parse_scaled(s, n, FTH_USD, ret);
}

int fth_parse_duration(const char *s, size_t n, fth_time *ret)
{
	static const struct {
		const char *unit;
		fth_time scale;
	} units[] = {{"us", FTH_US}, {"ms", FTH_MS}, {"s", FTH_SEC}, {"m", FTH_MINUTE}, {"h", FTH_HOUR}, {"d", FTH_DAY}};
	for (size_t u = 0; u < FTH_COUNT(units); u++) {
		size_t len = strlen(units[u].unit);
		if (n > len && !memcmp(s + n - len, units[u].unit, len))
			return fth_parse_scaled(s, n - len, units[u].scale, ret);
	}
	return fth_parse_scaled(s, n, FTH_SEC, ret);
}

int fth_parse_real(const char *s, size_t n, double *ret)
{
	char buf[64];
	if (!n || n >= sizeof(buf))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!strchr("0123456789+-.eE", s[i]) || !s[i])
			return -EINVAL;
	memcpy(buf, s, n);
	buf[n] = '\0';
	char *end;
	errno = 0;
	double x = strtod(buf, &end);
	if (end != buf + n)
		return -EINVAL;
	if (!isfinite(x))
		return -ERANGE;
	*ret = x;
	return 0;
}

void fth_str_scaled(struct fth_str *s, int64_t v, int64_t scale)
{
	uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
	if (v < 0)
		fth_str_addc(s, '-');
	fth_str_addf(s, "%llu", (unsigned long long)(u / (uint64_t)scale));
	uint64_t frac = u % (uint64_t)scale;
	if (!frac)
		return;
	/* Scales are a product of 2s, 3s and 5s; those we use for output (10^k) end exactly. */
	fth_str_addc(s, '.');
	for (int i = 0; frac && i < 18; i++) {
		unsigned __int128 next = (unsigned __int128)frac * 10;
		fth_str_addc(s, (char)('0' + (int)(next / (uint64_t)scale)));
		frac = (uint64_t)(next % (uint64_t)scale);
	}
}

void fth_str_usd(struct fth_str *s, fth_money m)
{
	fth_str_scaled(s, m, FTH_USD);
}

void fth_str_duration(struct fth_str *s, fth_time t)
{
	fth_str_scaled(s, t, FTH_SEC);
	fth_str_addc(s, 's');
}

void fth_str_real(struct fth_str *s, double x)
{
	char buf[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, x);
		if (strtod(buf, NULL) == x)
			break;
	}
	fth_str_add(s, buf);
}
