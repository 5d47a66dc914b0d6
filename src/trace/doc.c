/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/doc.h"

#include <math.h>

#include "trace/fields.h"

int fth_doc_read(struct fth_doc *d, struct fth_input *in, struct fth_error *err)
{
	char *line;
	size_t len;
	int r;
	*d = (struct fth_doc){.file = fth_input_name(in)};
	while ((r = fth_input_next(in, &line, &len, err)) > 0) {
		if (d->text.len + len + 1 > FTH_DOC_MAX)
			return fth_fail_at(err, -EINVAL, d->file, fth_input_line(in), "more than %d MiB of JSON",
					   FTH_DOC_MAX >> 20);
		fth_str_addn(&d->text, line, len);
		fth_str_addc(&d->text, '\n');
	}
	if (r < 0)
		return r;
	if (!d->text.len)
		return fth_fail_at(err, -EINVAL, d->file, 1, "the file is empty");
	json_error_t e;
	d->root = json_loadb(d->text.data, d->text.len, JSON_REJECT_DUPLICATES, &e);
	if (!d->root)
		return fth_fail_at(err, -EINVAL, d->file, e.line > 0 ? (uint64_t)e.line : 1, "%s", e.text);
	if (!json_is_object(d->root))
		return fth_fail_at(err, -EINVAL, d->file, 1, "not a JSON object");
	return 0;
}

void fth_doc_release(struct fth_doc *d)
{
	json_decref(d->root);
	fth_str_release(&d->text);
}

/* ---- finding lines: a walk over text that has been parsed already, so it is well formed ---- */

struct walk {
	const char *p;
	uint64_t line;
};

static void skip_space(struct walk *w)
{
	for (; *w->p == ' ' || *w->p == '\t' || *w->p == '\n' || *w->p == '\r'; w->p++)
		w->line += *w->p == '\n';
}

static void skip_string(struct walk *w)
{
	for (w->p++; *w->p && *w->p != '"'; w->p++)
		if (*w->p == '\\' && w->p[1])
			w->p++;
	w->p += *w->p == '"';
}

static void skip_value(struct walk *w)
{
	int depth = 0;
	do {
		skip_space(w);
		char c = *w->p;
		if (!c)
			return;
		if (c == '"') {
			skip_string(w);
			continue;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		w->p++;
		if (depth == 0 && !strchr("}]{[:,", c))
			w->p += strcspn(w->p, " \t\r\n,}]"); /* the rest of a number or word */
	} while (depth > 0);
}

/* Step to the next member of the object or array we are in; false at its end. */
static bool next_member(struct walk *w, bool object, const char **ret_key, size_t *ret_len)
{
	skip_space(w);
	if (*w->p == ',') {
		w->p++;
		skip_space(w);
	}
	if (!*w->p || *w->p == '}' || *w->p == ']')
		return false;
	if (object) {
		const char *from = w->p + 1;
		skip_string(w);
		*ret_key = from;
		*ret_len = (size_t)(w->p - from) - 1;
		skip_space(w);
		w->p += *w->p == ':';
		skip_space(w);
	}
	return true;
}

static bool step_into(struct walk *w, const struct fth_doc_step *step)
{
	struct walk at = *w;
	const char *key = NULL;
	size_t len = 0, i = 0;
	skip_space(&at);
	bool object = *at.p == '{';
	if (!object && *at.p != '[')
		return false;
	at.p++;
	for (; next_member(&at, object, &key, &len); skip_value(&at), i++) {
		if (step->key ? object && strlen(step->key) == len && !memcmp(step->key, key, len) : step->index == i) {
			*w = at;
			return true;
		}
	}
	return false;
}

uint64_t fth_doc_line(const struct fth_doc *d)
{
	struct walk w = {d->text.data ? d->text.data : "", 1};
	skip_space(&w);
	for (int i = 0; i < d->depth; i++)
		if (!step_into(&w, &d->path[i]))
			break;
	return w.line;
}

uint32_t *fth_doc_member_lines(const struct fth_doc *d, const char *key, size_t n)
{
	uint32_t *lines = fth_alloc((n + 1) * sizeof(*lines));
	struct walk w = {d->text.data, 1};
	const char *name;
	size_t len, i = 0;
	skip_space(&w);
	if (key && !step_into(&w, &(struct fth_doc_step){.key = key}))
		return lines;
	bool object = *w.p == '{';
	w.p++;
	for (; i < n && next_member(&w, object, &name, &len); skip_value(&w))
		lines[i++] = (uint32_t)FTH_MIN(w.line, (uint64_t)UINT32_MAX);
	return lines;
}

void fth_doc_enter(struct fth_doc *d, const char *key)
{
	assert(d->depth < FTH_DOC_DEPTH);
	d->path[d->depth++] = (struct fth_doc_step){.key = key};
}

void fth_doc_enter_index(struct fth_doc *d, size_t index)
{
	assert(d->depth < FTH_DOC_DEPTH);
	d->path[d->depth++] = (struct fth_doc_step){.index = index};
}

void fth_doc_leave(struct fth_doc *d)
{
	d->depth--;
}

/* ---- members ---- */

/* Fail about a member: with its line if it is there. */
static int member_fail(struct fth_doc *d, const char *key, const char *what, struct fth_error *err)
{
	fth_doc_enter(d, key);
	int r = fth_doc_fail(d, err, "%.60s: %s", key, what);
	fth_doc_leave(d);
	return r;
}

int fth_doc_known(struct fth_doc *d, json_t *obj, const char *const *keys, struct fth_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach(obj, key, value) {
		size_t i = 0;
		while (keys[i] && strcmp(keys[i], key))
			i++;
		if (!keys[i])
			return member_fail(d, key, "unknown key", err);
	}
	return 0;
}

int fth_doc_get(struct fth_doc *d, json_t *obj, const char *key, json_type type, json_t **ret, struct fth_error *err)
{
	static const char *const want[] = {[JSON_OBJECT] = "an object is needed",
					   [JSON_ARRAY] = "an array is needed",
					   [JSON_STRING] = "a string is needed",
					   [JSON_INTEGER] = "a whole number is needed"};
	json_t *v = json_object_get(obj, key);
	if (!v)
		return member_fail(d, key, "is missing", err);
	if (json_typeof(v) != type)
		return member_fail(d, key, want[type], err);
	*ret = v;
	return 0;
}

int fth_doc_string(struct fth_doc *d, json_t *obj, const char *key, const char **ret, struct fth_error *err)
{
	json_t *v = NULL;
	int r = fth_doc_get(d, obj, key, JSON_STRING, &v, err);
	if (!r && !json_string_length(v))
		r = member_fail(d, key, "is empty", err);
	if (!r)
		*ret = json_string_value(v);
	return r;
}

int fth_doc_int(struct fth_doc *d, json_t *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
		struct fth_error *err)
{
	json_t *v = NULL;
	int r = fth_doc_get(d, obj, key, JSON_INTEGER, &v, err);
	if (r)
		return r;
	int64_t x = json_integer_value(v);
	if (x < min)
		return member_fail(d, key, x < 0 ? "negative" : "too small", err);
	if (x > max)
		return member_fail(d, key, "out of range", err);
	*ret = x;
	return 0;
}

int fth_doc_real(struct fth_doc *d, json_t *obj, const char *key, double min, double max, double *ret,
		 struct fth_error *err)
{
	json_t *v = json_object_get(obj, key);
	if (!v)
		return member_fail(d, key, "is missing", err);
	if (!json_is_number(v))
		return member_fail(d, key, "a number is needed", err);
	double x = json_number_value(v);
	if (x < min)
		return member_fail(d, key, x < 0 ? "negative" : "too small", err);
	if (x > max)
		return member_fail(d, key, "out of range", err);
	*ret = x;
	return 0;
}

int fth_doc_seconds(struct fth_doc *d, json_t *obj, const char *key, fth_time *ret, struct fth_error *err)
{
	double s = 0;
	int r = fth_doc_real(d, obj, key, 0, (double)(FTH_TRACE_TIME_MAX / FTH_SEC), &s, err);
	if (!r)
		*ret = (fth_time)floor(s * 1e6 + 0.5);
	return r;
}

int fth_doc_demand(struct fth_doc *d, json_t *obj, const char *key, struct fth_res *ret, struct fth_error *err)
{
	static const int64_t scale[3] = {1000, 1000, 1024};
	json_t *v = NULL;
	int r = fth_doc_get(d, obj, key, JSON_ARRAY, &v, err);
	if (r)
		return r;
	if (json_array_size(v) != 3)
		return member_fail(d, key, "[GPUs, CPUs, GB] is needed", err);
	struct fth_res res = {0};
	for (size_t i = 0; i < 3; i++) {
		json_t *n = json_array_get(v, i);
		double x = json_is_number(n) ? json_number_value(n) : -1;
		if (!(x >= 0 && x <= 1e9))
			return member_fail(d, key, x < 0 ? "a number that is not negative is needed" : "out of range", err);
		res.v[i] = (int64_t)floor(x * (double)scale[i] + 0.5);
	}
	*ret = res;
	return 0;
}
