/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/fields.h"

#include <ctype.h>

enum { FIELDS_MAX = 1024 }; /* of one line: keeps the look for repeated keys cheap */

/* ---- names ---- */

static bool plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 ||
	       (c && strchr("._-+/[]()", c));
}

void fth_name_write(struct fth_str *s, const char *name)
{
	for (; *name; name++) {
		if (plain((unsigned char)*name))
			fth_str_addc(s, *name);
		else
			fth_str_addf(s, "%%%02X", (unsigned char)*name);
	}
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int fth_name_decode(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		int a = hex(s[1]), b = a < 0 ? -1 : hex(s[2]);
		if (b < 0 || a * 16 + b == 0)
			return -EINVAL;
		*to++ = (char)(a * 16 + b);
		s += 2;
	}
	*to = '\0';
	return 0;
}

/* ---- lines ---- */

void fth_line_release(struct fth_line *l)
{
	fth_vec_release(&l->fields);
}

static int add_field(struct fth_line *l, char *word, struct fth_error *err)
{
	char *eq = strchr(word, '=');
	if (!eq || eq == word)
		return fth_line_fail(l, err, "'%.60s' is not key=value", word);
	*eq = '\0';
	for (size_t i = 0; i < l->fields.len; i++)
		if (!strcmp(l->fields.data[i].key, word))
			return fth_line_fail(l, err, "%.60s= twice", word);
	if (l->fields.len == FIELDS_MAX)
		return fth_line_fail(l, err, "more than %d fields", FIELDS_MAX);
	fth_vec_push(&l->fields, ((struct fth_field){.key = word, .value = eq + 1}));
	return 0;
}

static int split(struct fth_line *l, char *text, struct fth_error *err)
{
	fth_vec_clear(&l->fields);
	l->word = text;
	l->name = (char *)"";
	char *save = NULL, *word = strtok_r(text, " \t", &save);
	for (int i = 0; word; i++, word = strtok_r(NULL, " \t", &save)) {
		int r = 0;
		if (i == 0) {
			l->word = word;
		} else if (i == 1 && !strchr(word, '=')) {
			l->name = word;
			if (fth_name_decode(word))
				r = fth_line_fail(l, err, "a bad %% escape in a name");
		} else {
			r = add_field(l, word, err);
		}
		if (r)
			return r;
	}
	return 1;
}

int fth_line_next(struct fth_line *l, struct fth_input *in, struct fth_error *err)
{
	char *text;
	size_t len;
	for (;;) {
		int r = fth_input_next(in, &text, &len, err);
		if (r <= 0)
			return r;
		l->file = fth_input_name(in);
		l->number = fth_input_line(in);
		if (fth_input_cut(in))
			return fth_line_fail(l, err, "the last line has no line end: the file is cut off");
		if (text[strspn(text, " \t")] && *text != '#')
			return split(l, text, err);
	}
}

int fth_line_expect_header(struct fth_input *in, const char *word, struct fth_error *err)
{
	char *text;
	size_t len;
	int r = fth_input_next(in, &text, &len, err);
	if (r < 0)
		return r;
	if (!r)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "the file is empty");
	size_t n = strlen(word);
	if (strncmp(text, word, n) || text[n] != ' ')
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "does not begin with '%s 1'", word);
	if (strcmp(text + n, " 1"))
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "version '%.20s' of %s is not known here",
				   text + n + 1, word);
	return 0;
}

int fth_line_apply(struct fth_line *l, const struct fth_field_rule *rules, size_t n, void *base,
		   const struct fth_field_names *names, struct fth_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct fth_field *f = NULL;
		for (size_t k = 0; k < l->fields.len && !f; k++)
			if (!strcmp(l->fields.data[k].key, rules[i].key))
				f = &l->fields.data[k];
		if (!f && rules[i].required)
			return fth_line_fail(l, err, "%s: %s= is missing", l->word, rules[i].key);
		if (!f)
			continue;
		f->used = true;
		const char *wrong = fth_field_parse(&rules[i], f->value, strlen(f->value), base, names);
		if (wrong)
			return fth_line_fail(l, err, "%s=%.60s: %s", f->key, f->value, wrong);
	}
	return 0;
}

int fth_line_finish(const struct fth_line *l, struct fth_error *err)
{
	for (size_t i = 0; i < l->fields.len; i++)
		if (!l->fields.data[i].used)
			return fth_line_fail(l, err, "%s: unknown key '%.60s'", l->word, l->fields.data[i].key);
	return 0;
}

/* ---- values from text ---- */

static const char *bounded(int r, int64_t v, int64_t max)
{
	if (r == -ERANGE || (!r && v > max))
		return "out of range";
	if (r)
		return "not a number of this kind";
	return v < 0 ? "negative" : NULL;
}

/* In files a duration has its unit: 90 alone could be seconds, minutes or a cut-off 900s. */
static const char *parse_time(const char *s, size_t n, fth_time *ret)
{
	fth_time t = 0;
	if (!n || s[n - 1] < 'a' || s[n - 1] > 'z')
		return "a duration needs a unit: us, ms, s, m, h or d";
	int r = fth_parse_duration(s, n, &t);
	if (r == -EINVAL)
		return "not a duration: a number and us, ms, s, m, h or d";
	const char *wrong = bounded(r, t, FTH_TRACE_TIME_MAX);
	if (!wrong)
		*ret = t;
	return wrong;
}

static const char *parse_delay(const char *s, size_t n, struct fth_delay *ret)
{
	struct fth_delay d;
	const char *a = memmem(s, n, "..", 2), *wrong;
	if (!a) {
		wrong = parse_time(s, n, &d.min);
		if (!wrong)
			*ret = fth_delay_fixed(d.min);
		return wrong;
	}
	const char *b = memmem(a + 2, (size_t)(s + n - a) - 2, "..", 2);
	if (!b)
		return "a drawn delay is least..mean..greatest";
	if ((wrong = parse_time(s, (size_t)(a - s), &d.min)) ||
	    (wrong = parse_time(a + 2, (size_t)(b - a) - 2, &d.mean)) ||
	    (wrong = parse_time(b + 2, (size_t)(s + n - b) - 2, &d.max)))
		return wrong;
	if (d.min > d.mean || d.mean > d.max)
		return "a drawn delay is least..mean..greatest, in this order";
	*ret = d;
	return NULL;
}

/* "1:126s,2:186s,4:252s": sizes of a request ascending, and how long it takes. */
static const char *parse_boot(const char *s, size_t n, struct fth_boot_step *ret)
{
	struct fth_boot_step b[FTH_BOOT_STEPS] = {0};
	const char *end = s + n, *wrong;
	int k = 0;
	for (; s < end; k++) {
		const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
		const char *colon = memchr(s, ':', (size_t)(stop - s));
		int64_t size;
		if (k == FTH_BOOT_STEPS)
			return "more than eight sizes";
		if (!colon || fth_parse_i64(s, (size_t)(colon - s), &size) || size < 1 || size > 1000000)
			return "boot times by size are size:time,size:time";
		if (k && size <= b[k - 1].size)
			return "sizes ascend";
		if ((wrong = parse_time(colon + 1, (size_t)(stop - colon) - 1, &b[k].time)))
			return wrong;
		b[k].size = (uint32_t)size;
		s = stop + (comma != NULL);
	}
	if (!k)
		return "boot times by size are size:time,size:time";
	memcpy(ret, b, sizeof(b));
	return NULL;
}

static void write_boot(struct fth_str *s, const struct fth_boot_step *b)
{
	for (int k = 0; k < FTH_BOOT_STEPS && b[k].size; k++) {
		fth_str_addf(s, "%s%u:", k ? "," : "", b[k].size);
		fth_str_duration(s, b[k].time);
	}
}

static const char *parse_amount(int resource, const char *s, size_t n, int64_t *ret)
{
	static const struct {
		const char *unit;
		int64_t mib;
	} units[] = {{"MiB", 1}, {"GiB", 1024}, {"TiB", 1024 * 1024}};
	int64_t v = 0;
	int r = -EINVAL;
	if (resource != FTH_MEM) {
		r = fth_parse_scaled(s, n, resource < FTH_MEM ? 1000 : 1, &v);
	} else {
		for (size_t u = 0; u < FTH_COUNT(units); u++)
			if (n > 3 && !memcmp(s + n - 3, units[u].unit, 3))
				r = fth_parse_scaled(s, n - 3, units[u].mib, &v);
		if (r == -EINVAL)
			return "memory is a number and MiB, GiB or TiB";
	}
	const char *wrong = bounded(r, v, FTH_TRACE_RES_MAX);
	if (!wrong)
		*ret = v;
	return wrong;
}

static int find_resource(const struct fth_field_names *names, const char *s, size_t n)
{
	for (uint32_t i = 0; i < names->nres; i++) {
		const char *name = fth_sym_str(names->syms, names->res_names[i]);
		if (!strncmp(name, s, n) && !name[n])
			return (int)i;
	}
	return -1;
}

static const char *parse_res(const char *s, size_t n, struct fth_res *ret, const struct fth_field_names *names)
{
	struct fth_res res = {0};
	bool seen[FTH_RES_MAX] = {0};
	for (const char *p = s, *end = s + n; p <= end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
		const char *colon = memchr(p, ':', (size_t)(stop - p));
		if (!colon)
			return "resources are written gpu:1,cpu:12,mem:16GiB";
		int i = find_resource(names, p, (size_t)(colon - p));
		if (i < 0)
			return "unknown resource (extras are named by a resource line)";
		if (seen[i])
			return "a resource twice";
		seen[i] = true;
		const char *wrong = parse_amount(i, colon + 1, (size_t)(stop - colon) - 1, &res.v[i]);
		if (wrong)
			return wrong;
		p = stop + 1;
	}
	*ret = res;
	return NULL;
}

static const char *parse_choice(const struct fth_field_rule *rule, const char *s, size_t n, void *to)
{
	for (unsigned i = 0; rule->choices[i]; i++)
		if (strlen(rule->choices[i]) == n && !memcmp(rule->choices[i], s, n)) {
			memcpy(to, &i, sizeof(i)); /* an enum is as wide as an unsigned */
			return NULL;
		}
	return "not one of the choices";
}

static const char *parse_sym(const char *s, size_t n, fth_sym *ret, const struct fth_field_names *names)
{
	char *copy = fth_strndup(s, n);
	const char *wrong = NULL;
	if (!n || fth_name_decode(copy))
		wrong = n ? "a bad % escape" : "empty";
	else
		*ret = fth_sym_intern(names->syms, copy);
	free(copy);
	return wrong;
}

/* C does not say in which order arguments are worked out: first read, then judge. */
static const char *parse_number(const struct fth_field_rule *rule, const char *s, size_t n, void *to)
{
	int64_t v = 0;
	double x = 0;
	int r;
	const char *wrong;
	switch (rule->type) {
	case FTH_FIELD_INT32:
		if (fth_parse_i64(s, n, &v) || v > INT32_MAX || v < INT32_MIN)
			return "not a whole number of 32 bits";
		*(int32_t *)to = (int32_t)v;
		return NULL;
	case FTH_FIELD_REAL:
		r = fth_parse_real(s, n, &x);
		wrong = bounded(r, x < 0 ? -1 : x > 1e15, 0);
		if (!wrong)
			*(double *)to = x;
		return wrong;
	case FTH_FIELD_COUNT32:
		r = fth_parse_i64(s, n, &v);
		wrong = bounded(r, v, UINT32_MAX - 1);
		if (!wrong)
			*(uint32_t *)to = (uint32_t)v;
		return wrong;
	case FTH_FIELD_USD:
		r = fth_parse_usd(s, n, &v);
		wrong = bounded(r, v, FTH_TRACE_PRICE_MAX);
		break;
	default:
		r = fth_parse_i64(s, n, &v);
		wrong = bounded(r, v, FTH_TRACE_ITERS_MAX);
	}
	if (!wrong)
		*(int64_t *)to = v;
	return wrong;
}

const char *fth_field_parse(const struct fth_field_rule *rule, const char *s, size_t n, void *base,
			    const struct fth_field_names *names)
{
	void *to = (char *)base + rule->offset;
	switch (rule->type) {
	case FTH_FIELD_SYM:
		return parse_sym(s, n, to, names);
	case FTH_FIELD_WHEN:
		if (n == 5 && !memcmp(s, "never", 5)) {
			*(fth_time *)to = FTH_NEVER;
			return NULL;
		}
		return parse_time(s, n, to);
	case FTH_FIELD_TIME:
		return parse_time(s, n, to);
	case FTH_FIELD_DELAY:
		return parse_delay(s, n, to);
	case FTH_FIELD_CHOICE:
		return parse_choice(rule, s, n, to);
	case FTH_FIELD_FLAG:
		if (n == 3 && !memcmp(s, "yes", 3))
			*(bool *)to = true;
		else if (n == 2 && !memcmp(s, "no", 2))
			*(bool *)to = false;
		else
			return "not yes or no";
		return NULL;
	case FTH_FIELD_BOOT:
		return parse_boot(s, n, to);
	case FTH_FIELD_RES:
		return parse_res(s, n, to, names);
	default:
		return parse_number(rule, s, n, to);
	}
}

/* ---- values to text ---- */

void fth_field_write_when(struct fth_str *s, fth_time t)
{
	if (t == FTH_NEVER)
		fth_str_add(s, "never");
	else
		fth_str_duration(s, t);
}

void fth_field_write_res(struct fth_str *s, const struct fth_res *r, const struct fth_field_names *names)
{
	bool any = false;
	for (uint32_t i = 0; i < names->nres; i++) {
		if (!r->v[i] && (any || i + 1 < names->nres))
			continue; /* a vector of zeros still names its last resource */
		fth_str_addf(s, "%s", any ? "," : "");
		fth_name_write(s, fth_sym_str(names->syms, names->res_names[i]));
		fth_str_addc(s, ':');
		if (i == FTH_MEM && r->v[i] % 1024 == 0)
			fth_str_addf(s, "%lldGiB", (long long)(r->v[i] / 1024));
		else if (i == FTH_MEM)
			fth_str_addf(s, "%lldMiB", (long long)r->v[i]);
		else
			fth_str_scaled(s, r->v[i], i < FTH_MEM ? 1000 : 1);
		any = true;
	}
}

static void write_delay(struct fth_str *s, const struct fth_delay *d)
{
	fth_str_duration(s, d->min);
	if (d->min == d->max)
		return;
	fth_str_add(s, "..");
	fth_str_duration(s, d->mean);
	fth_str_add(s, "..");
	fth_str_duration(s, d->max);
}

static size_t field_size(enum fth_field_type t)
{
	switch (t) {
	case FTH_FIELD_SYM:
	case FTH_FIELD_COUNT32:
	case FTH_FIELD_INT32:
	case FTH_FIELD_CHOICE:
		return 4;
	case FTH_FIELD_FLAG:
		return sizeof(bool);
	case FTH_FIELD_DELAY:
		return sizeof(struct fth_delay);
	case FTH_FIELD_BOOT:
		return FTH_BOOT_STEPS * sizeof(struct fth_boot_step);
	case FTH_FIELD_RES:
		return sizeof(struct fth_res);
	default:
		return 8;
	}
}

static void write_value(struct fth_str *s, const struct fth_field_rule *rule, const void *from,
			const struct fth_field_names *names)
{
	unsigned choice;
	switch (rule->type) {
	case FTH_FIELD_SYM:
		fth_name_write(s, fth_sym_str(names->syms, *(const fth_sym *)from));
		return;
	case FTH_FIELD_TIME:
	case FTH_FIELD_WHEN:
		fth_field_write_when(s, *(const fth_time *)from);
		return;
	case FTH_FIELD_COUNT:
		fth_str_addf(s, "%lld", (long long)*(const int64_t *)from);
		return;
	case FTH_FIELD_COUNT32:
		fth_str_addf(s, "%u", *(const uint32_t *)from);
		return;
	case FTH_FIELD_INT32:
		fth_str_addf(s, "%d", *(const int32_t *)from);
		return;
	case FTH_FIELD_REAL:
		fth_str_real(s, *(const double *)from);
		return;
	case FTH_FIELD_USD:
		fth_str_usd(s, *(const fth_money *)from);
		return;
	case FTH_FIELD_DELAY:
		write_delay(s, from);
		return;
	case FTH_FIELD_CHOICE:
		memcpy(&choice, from, sizeof(choice));
		fth_str_add(s, rule->choices[choice]);
		return;
	case FTH_FIELD_FLAG:
		fth_str_add(s, *(const bool *)from ? "yes" : "no");
		return;
	case FTH_FIELD_BOOT:
		write_boot(s, from);
		return;
	case FTH_FIELD_RES:
		fth_field_write_res(s, from, names);
		return;
	}
}

void fth_fields_write(struct fth_str *s, const struct fth_field_rule *rules, size_t n, const void *base,
		      const void *defaults, const struct fth_field_names *names)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)base + rules[i].offset;
		if (!rules[i].required &&
		    !memcmp(at, (const char *)defaults + rules[i].offset, field_size(rules[i].type)))
			continue;
		fth_str_addf(s, " %s=", rules[i].key);
		write_value(s, &rules[i], at, names);
	}
}
