/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config_yaml.h"

#include <yaml.h>

struct reading {
	struct fth_yaml *y;
	const char *name;
	yaml_parser_t parser;
	struct fth_error *err;
};

static uint64_t line_key(const json_t *object, const char *key)
{
	return fth_hash_bytes(key ? key : "", key ? strlen(key) : 0, (uint64_t)(uintptr_t)object);
}

uint64_t fth_yaml_line(const struct fth_yaml *y, const json_t *object, const char *key)
{
	uint64_t line = 0;
	if (key && *key && fth_map_get(&y->lines, line_key(object, key), &line))
		return line;
	return fth_map_get(&y->lines, line_key(object, NULL), &line) ? line : 0;
}

static int bad(struct reading *r, size_t line, const char *what)
{
	return fth_fail_at(r->err, -EINVAL, r->name, line + 1, "%s", what);
}

/* Plain words are numbers and truths where they look so; what is quoted is a text. */
static json_t *scalar(const yaml_event_t *e)
{
	const char *s = (const char *)e->data.scalar.value;
	size_t n = e->data.scalar.length;
	int64_t i;
	double d;
	if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return json_stringn(s, n);
	if (!n || !strcmp(s, "null") || !strcmp(s, "~"))
		return json_null();
	if (!strcmp(s, "true") || !strcmp(s, "false"))
		return json_boolean(s[0] == 't');
	if (!fth_parse_i64(s, n, &i))
		return json_integer(i);
	if (!fth_parse_real(s, n, &d))
		return json_real(d);
	return json_stringn(s, n);
}

static int next(struct reading *r, yaml_event_t *e)
{
	if (!yaml_parser_parse(&r->parser, e))
		return bad(r, r->parser.problem_mark.line, r->parser.problem ? r->parser.problem : "it cannot be read");
	return 0;
}

static int value(struct reading *r, yaml_event_t *e, int depth, json_t **ret);

static int sequence(struct reading *r, json_t *list, int depth)
{
	for (;;) {
		yaml_event_t e;
		json_t *v;
		int q = next(r, &e);
		if (q)
			return q;
		bool end = e.type == YAML_SEQUENCE_END_EVENT;
		q = end ? 0 : value(r, &e, depth, &v);
		if (!end && !q)
			json_array_append_new(list, v);
		yaml_event_delete(&e);
		if (end || q)
			return q;
	}
}

static int key_of(struct reading *r, const yaml_event_t *e, json_t *object)
{
	size_t line = e->start_mark.line;
	char text[128];
	if (e->type != YAML_SCALAR_EVENT)
		return bad(r, line, "a key must be a plain word");
	const char *key = (const char *)e->data.scalar.value;
	if (!*key || strlen(key) != e->data.scalar.length)
		return bad(r, line, "a key is empty or holds a NUL");
	if (json_object_get(object, key)) {
		snprintf(text, sizeof(text), "'%.60s' is given twice, first on line %llu", key,
			 (unsigned long long)fth_yaml_line(r->y, object, key));
		return bad(r, line, text);
	}
	fth_map_put(&r->y->lines, line_key(object, key), line + 1);
	return 0;
}

static int mapping(struct reading *r, json_t *object, int depth)
{
	for (;;) {
		yaml_event_t k, e;
		json_t *v;
		int q = next(r, &k);
		if (q)
			return q;
		bool end = k.type == YAML_MAPPING_END_EVENT;
		q = end ? 0 : key_of(r, &k, object);
		if (!end && !q && !(q = next(r, &e))) {
			q = value(r, &e, depth, &v);
			yaml_event_delete(&e);
			if (!q && json_object_set_new(object, (const char *)k.data.scalar.value, v))
				q = bad(r, k.start_mark.line, "a key is no UTF-8 text");
		}
		yaml_event_delete(&k);
		if (end || q)
			return q;
	}
}

static int value(struct reading *r, yaml_event_t *e, int depth, json_t **ret)
{
	size_t line = e->start_mark.line;
	const void *anchor = e->type == YAML_SCALAR_EVENT	    ? e->data.scalar.anchor
			     : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
			     : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
								    : NULL;
	if (anchor)
		return bad(r, line, "anchors and aliases are not taken");
	if (depth > FTH_YAML_DEPTH)
		return bad(r, line, "too deeply nested");
	int q = 0;
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		*ret = scalar(e);
		return *ret ? 0 : bad(r, line, "a text is no UTF-8");
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT: {
		bool list = e->type == YAML_SEQUENCE_START_EVENT;
		json_t *v = list ? json_array() : json_object();
		fth_map_put(&r->y->lines, line_key(v, NULL), line + 1);
		q = list ? sequence(r, v, depth + 1) : mapping(r, v, depth + 1);
		if (q)
			json_decref(v);
		else
			*ret = v;
		return q;
	}
	case YAML_ALIAS_EVENT:
		return bad(r, line, "anchors and aliases are not taken");
	default:
		return bad(r, line, "a value is needed here");
	}
}

/* Stream and document begin, the value, and nothing after it. */
static int document(struct reading *r)
{
	static const yaml_event_type_t before[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT};
	static const yaml_event_type_t after[] = {YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};
	yaml_event_t e;
	int q = 0;
	for (int i = 0; i < 5 && !q; i++) {
		q = next(r, &e);
		if (q)
			return q;
		if (i == 2)
			q = value(r, &e, 0, &r->y->root);
		else if (e.type != (i < 2 ? before[i] : after[i - 3]))
			q = bad(r, e.start_mark.line, i < 2 ? "it is empty" : "one document is enough");
		yaml_event_delete(&e);
	}
	return q;
}

int fth_yaml_parse(struct fth_yaml *y, const char *name, const char *text, size_t n, struct fth_error *err)
{
	struct reading r = {.y = y, .name = name, .err = err};
	*y = (struct fth_yaml){0};
	if (n > FTH_YAML_MAX)
		return fth_fail_at(err, -EFBIG, name, 0, "larger than %d bytes", FTH_YAML_MAX);
	if (!yaml_parser_initialize(&r.parser))
		return fth_fail(err, -ENOMEM, "no memory for a parser");
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
	int q = document(&r);
	yaml_parser_delete(&r.parser);
	if (!q && !json_is_object(y->root))
		q = fth_fail_at(err, -EINVAL, name, 1, "keys and values are needed");
	if (q)
		fth_yaml_release(y);
	return q;
}

int fth_yaml_load(struct fth_yaml *y, const char *path, struct fth_error *err)
{
	FILE *f = fopen(path, "re");
	char *text = f ? fth_alloc(FTH_YAML_MAX + 2) : NULL;
	if (!f)
		return fth_fail(err, -errno, "%s: %s", path, strerror(errno));
	size_t n = fread(text, 1, FTH_YAML_MAX + 1, f);
	int q = ferror(f) ? fth_fail(err, -EIO, "%s: cannot be read", path) : fth_yaml_parse(y, path, text, n, err);
	fclose(f);
	free(text);
	return q;
}

void fth_yaml_release(struct fth_yaml *y)
{
	json_decref(y->root);
	fth_map_release(&y->lines);
	*y = (struct fth_yaml){0};
}
