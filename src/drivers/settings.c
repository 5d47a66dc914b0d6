/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/settings.h"

#include <math.h>

static int wrong(struct fth_setting_error *err, const char *key, const json_t *at, const char *fmt, ...) FTH_PRINTF(4, 5);
static int wrong(struct fth_setting_error *err, const char *key, const json_t *at, const char *fmt, ...)
{
	va_list ap;
	snprintf(err->key, sizeof(err->key), "%s", key);
	err->at = at;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int fth_setting_duration(const json_t *v, int64_t *ret)
{
	if (json_is_string(v))
		return fth_parse_duration(json_string_value(v), json_string_length(v), ret);
	double s = json_is_number(v) ? json_number_value(v) : -1;
	if (!(s >= 0 && s < 1e12))
		return -EINVAL;
	*ret = json_is_integer(v) ? json_integer_value(v) * FTH_SEC : (int64_t)(s * 1e6 + 0.5);
	return 0;
}

static int share_of(const json_t *v, double *ret)
{
	double x = json_is_number(v) ? json_number_value(v) : -1;
	if (json_is_string(v)) {
		const char *s = json_string_value(v);
		size_t n = json_string_length(v);
		if (!n || s[n - 1] != '%' || fth_parse_real(s, n - 1, &x))
			return -EINVAL;
		x /= 100;
	}
	if (!(x >= 0 && x <= 1))
		return -EINVAL;
	*ret = x;
	return 0;
}

static int usd_of(const json_t *v, fth_money *ret)
{
	if (json_is_string(v))
		return fth_parse_usd(json_string_value(v), json_string_length(v), ret);
	double x = json_is_number(v) ? json_number_value(v) : -1;
	if (!(x >= 0 && x < 9e9))
		return -EINVAL;
	*ret = (fth_money)llround(x * 1e9);
	return 0;
}

static int choice_of(const struct fth_setting *s, const json_t *v, int *ret, struct fth_setting_error *err)
{
	struct fth_str all = {0};
	const char *text = json_string_value(v);
	for (int i = 0; s->choices[i]; i++) {
		if (text && !strcmp(text, s->choices[i])) {
			*ret = i;
			fth_str_release(&all);
			return 0;
		}
		fth_str_addf(&all, "%s%s", i ? ", " : "", s->choices[i]);
	}
	wrong(err, s->key, v, "%s: one of %s is needed", s->key, all.data);
	fth_str_release(&all);
	return -EINVAL;
}

static bool is_texts(const json_t *v)
{
	for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v);
}

static bool in_range(const struct fth_setting *s, double x)
{
	return s->min == 0 && s->max == 0 ? x >= 0 : x >= s->min && x <= s->max;
}

static int read_number(const struct fth_setting *s, const json_t *v, void *to, struct fth_setting_error *err)
{
	int64_t t = 0;
	if (s->type == FTH_SET_INT) {
		if (!json_is_integer(v))
			return wrong(err, s->key, v, "%s: a whole number is needed", s->key);
		t = json_integer_value(v);
		if (!in_range(s, (double)t))
			return wrong(err, s->key, v, "%s: %lld is out of range", s->key, (long long)t);
	} else {
		if (fth_setting_duration(v, &t))
			return wrong(err, s->key, v, "%s: a duration is needed, as in 90s, 5m, 2h", s->key);
		if (!in_range(s, (double)t / 1e6))
			return wrong(err, s->key, v, "%s: the duration is out of range", s->key);
	}
	*(int64_t *)to = t;
	return 0;
}

static int read_one(const struct fth_setting *s, json_t *v, void *to, struct fth_setting_error *err)
{
	switch (s->type) {
	case FTH_SET_TEXT:
		if (!json_is_string(v))
			return wrong(err, s->key, v, "%s: a text is needed", s->key);
		free(*(char **)to);
		*(char **)to = fth_strdup(json_string_value(v));
		return 0;
	case FTH_SET_BOOL:
		if (!json_is_boolean(v))
			return wrong(err, s->key, v, "%s: true or false is needed", s->key);
		*(bool *)to = json_is_true(v);
		return 0;
	case FTH_SET_INT:
	case FTH_SET_DURATION:
		return read_number(s, v, to, err);
	case FTH_SET_SHARE:
		return share_of(v, to) ? wrong(err, s->key, v, "%s: a share is needed, as in 0.2 or 20%%", s->key) : 0;
	case FTH_SET_USD:
		return usd_of(v, to) ? wrong(err, s->key, v, "%s: dollars are needed, as in 12.50", s->key) : 0;
	case FTH_SET_CHOICE:
		return choice_of(s, v, to, err);
	case FTH_SET_TEXTS:
		if (!json_is_string(v) && !is_texts(v))
			return wrong(err, s->key, v, "%s: a list of texts is needed", s->key);
		*(json_t **)to = v;
		return 0;
	case FTH_SET_OBJECT:
		if (!json_is_object(v))
			return wrong(err, s->key, v, "%s: keys and values are needed here", s->key);
		*(json_t **)to = v;
		return 0;
	case FTH_SET_ANY:
		*(json_t **)to = v;
		return 0;
	}
	return -EINVAL;
}

static const struct fth_setting *find(const struct fth_setting *table, const char *key)
{
	for (; table->key; table++)
		if (!strcmp(table->key, key))
			return table;
	return NULL;
}

int fth_settings_read(const json_t *object, const struct fth_setting *table, void *base, struct fth_setting_error *err)
{
	const char *key;
	json_t *v;
	if (object && !json_is_object(object))
		return wrong(err, "", object, "keys and values are needed here");
	json_object_foreach((json_t *)object, key, v)
	{
		const struct fth_setting *s = find(table, key);
		if (!s)
			return wrong(err, key, v, "unknown key '%s'", key);
		int r = read_one(s, v, (char *)base + s->offset, err);
		if (r)
			return r;
	}
	for (const struct fth_setting *s = table; s->key; s++)
		if (s->required && !json_object_get(object, s->key))
			return wrong(err, "", object, "'%s' is missing", s->key);
	return 0;
}
