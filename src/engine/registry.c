/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/registry.h"

#include <dlfcn.h>
#include <math.h>

/* ---- parameters ---- */

static void *field(const struct fth_param *p, void *params)
{
	return (char *)params + p->offset;
}

static int set_bool(bool *ret, const char *s, size_t n)
{
	static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
	for (size_t i = 0; i < FTH_COUNT(yes); i++) {
		if (n == strlen(yes[i]) && !memcmp(s, yes[i], n)) {
			*ret = true;
			return 0;
		}
		if (n == strlen(no[i]) && !memcmp(s, no[i], n)) {
			*ret = false;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_choice(const struct fth_param *p, int *ret, const char *s, size_t n)
{
	for (int i = 0; p->choices[i]; i++)
		if (n == strlen(p->choices[i]) && !memcmp(s, p->choices[i], n)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static int set_value(const struct fth_param *p, void *to, const char *s, size_t n)
{
	int64_t i;
	double d;
	int r;
	switch (p->type) {
	case FTH_PARAM_BOOL:
		return set_bool(to, s, n);
	case FTH_PARAM_CHOICE:
		return set_choice(p, to, s, n);
	case FTH_PARAM_INT:
		r = fth_parse_i64(s, n, &i);
		if (!r && ((double)i < p->min || (double)i > p->max))
			r = -ERANGE;
		if (!r)
			*(int64_t *)to = i;
		return r;
	case FTH_PARAM_DURATION:
		r = fth_parse_duration(s, n, &i);
		if (!r && ((double)i / 1e6 < p->min || (double)i / 1e6 > p->max))
			r = -ERANGE;
		if (!r)
			*(fth_time *)to = i;
		return r;
	case FTH_PARAM_REAL:
		r = fth_parse_real(s, n, &d);
		if (!r && (d < p->min || d > p->max))
			r = -ERANGE;
		if (!r)
			*(double *)to = d;
		return r;
	}
	return -EINVAL;
}

void fth_params_defaults(const struct fth_param *table, void *params)
{
	for (const struct fth_param *p = table; p && p->name; p++)
		if (set_value(p, field(p, params), p->def, strlen(p->def)))
			abort(); /* a default must be valid: the tests try every table */
}

/* What the parameter takes, for an error message. */
static void add_range(const struct fth_param *p, struct fth_str *out)
{
	switch (p->type) {
	case FTH_PARAM_BOOL:
		fth_str_add(out, "true or false");
		break;
	case FTH_PARAM_CHOICE:
		for (int i = 0; p->choices[i]; i++)
			fth_str_addf(out, "%s%s", i ? "|" : "", p->choices[i]);
		break;
	case FTH_PARAM_INT:
		fth_str_addf(out, "a whole number from %.0f to %.0f", p->min, p->max);
		break;
	case FTH_PARAM_REAL:
		fth_str_addf(out, "a number from %g to %g", p->min, p->max);
		break;
	case FTH_PARAM_DURATION:
		fth_str_addf(out, "a time from %g s to %g s, such as 300s, 5m or 2h", p->min, p->max);
		break;
	}
}

int fth_params_set(const struct fth_param *table, void *params, const char *owner, const char *key, size_t key_len,
		   const char *value, size_t value_len, struct fth_error *err)
{
	struct fth_str text = {0};
	int r = -ENOENT;
	for (const struct fth_param *p = table; p && p->name; p++) {
		if (strlen(p->name) != key_len || memcmp(p->name, key, key_len))
			continue;
		r = set_value(p, field(p, params), value, value_len);
		if (!r)
			return 0;
		add_range(p, &text);
		fth_fail(err, -EINVAL, "%s: %s=%.*s: takes %s", owner, p->name, (int)value_len, value, text.data);
		fth_str_release(&text);
		return -EINVAL;
	}
	for (const struct fth_param *p = table; p && p->name; p++)
		fth_str_addf(&text, "%s%s", p == table ? "" : ", ", p->name);
	fth_fail(err, -EINVAL, "%s: no parameter '%.*s' (there are: %s)", owner, (int)key_len, key,
		 text.len ? text.data : "none");
	fth_str_release(&text);
	return -EINVAL;
}

int fth_params_parse(const struct fth_param *table, void *params, const char *owner, const char *text,
		     struct fth_error *err)
{
	while (*text) {
		size_t len = strcspn(text, ",");
		const char *eq = memchr(text, '=', len);
		if (!eq)
			return fth_fail(err, -EINVAL, "%s: '%.*s' is not key=value", owner, (int)len, text);
		int r = fth_params_set(table, params, owner, text, (size_t)(eq - text), eq + 1,
				       len - (size_t)(eq + 1 - text), err);
		if (r)
			return r;
		text += len + (text[len] == ',');
	}
	return 0;
}

void fth_params_value(const struct fth_param *p, const void *params, struct fth_str *out)
{
	const void *from = (const char *)params + p->offset;
	switch (p->type) {
	case FTH_PARAM_BOOL:
		fth_str_add(out, *(const bool *)from ? "true" : "false");
		break;
	case FTH_PARAM_CHOICE:
		fth_str_add(out, p->choices[*(const int *)from]);
		break;
	case FTH_PARAM_INT:
		fth_str_addf(out, "%lld", (long long)*(const int64_t *)from);
		break;
	case FTH_PARAM_REAL:
		fth_str_real(out, *(const double *)from);
		break;
	case FTH_PARAM_DURATION:
		fth_str_duration(out, *(const fth_time *)from);
		break;
	}
}

void fth_params_json(const struct fth_param *table, const void *params, struct fth_str *out)
{
	fth_str_addc(out, '{');
	for (const struct fth_param *p = table; p && p->name; p++) {
		bool text = p->type == FTH_PARAM_CHOICE || p->type == FTH_PARAM_DURATION;
		fth_str_addf(out, "%s\"%s\":%s", p == table ? "" : ",", p->name, text ? "\"" : "");
		fth_params_value(p, params, out);
		fth_str_add(out, text ? "\"" : "");
	}
	fth_str_addc(out, '}');
}

/* ---- policies ---- */

static const struct fth_policy_ops *find_builtin(const struct fth_policy_ops *const *table, const char *name,
						 size_t n)
{
	for (; *table; table++)
		if (strlen((*table)->name) == n && !memcmp((*table)->name, name, n))
			return *table;
	return NULL;
}

static int load_file(struct fth_policy_choice *c, const char *path, struct fth_error *err)
{
	c->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!c->dl)
		return fth_fail(err, -EINVAL, "policy %s: %s", path, dlerror());
	fth_policy_entry *entry;
	*(void **)&entry = dlsym(c->dl, "farthing_policy");
	if (!entry)
		return fth_fail(err, -EINVAL, "policy %s: it does not export farthing_policy", path);
	c->ops = entry();
	if (!c->ops || c->ops->abi != FTH_POLICY_ABI || !c->ops->decide || !c->ops->name)
		return fth_fail(err, -EINVAL, "policy %s: not a policy for interface %d", path, FTH_POLICY_ABI);
	return 0;
}

static int unknown_policy(const struct fth_policy_ops *const *table, const char *name, size_t n, struct fth_error *err)
{
	struct fth_str names = {0};
	for (; *table; table++)
		fth_str_addf(&names, "%s%s", names.len ? ", " : "", (*table)->name);
	fth_fail(err, -EINVAL, "no policy '%.*s' (there are: %s; or the path of a .so)", (int)n, name, names.data);
	fth_str_release(&names);
	return -EINVAL;
}

int fth_policy_choose(struct fth_policy_choice *ret, const struct fth_policy_ops *const *table, const char *text,
		      struct fth_error *err)
{
	struct fth_policy_choice c = {0};
	size_t n = strcspn(text, ":");
	bool file = memchr(text, '/', n) != NULL;
	int r = 0;
	if (strlen(text) >= sizeof(c.text))
		return fth_fail(err, -EINVAL, "policy: more than %zu characters", sizeof(c.text) - 1);
	memcpy(c.text, text, strlen(text) + 1);
	if (file) {
		char *path = fth_strndup(text, n);
		r = load_file(&c, path, err);
		free(path);
	} else {
		c.ops = find_builtin(table, text, n);
		if (!c.ops)
			r = unknown_policy(table, text, n, err);
	}
	if (!r) {
		snprintf(c.label, sizeof(c.label), "%s", c.ops->name);
		if (c.ops->params_size)
			c.params = fth_alloc(c.ops->params_size);
		fth_params_defaults(c.ops->params, c.params);
		if (text[n] == ':')
			r = fth_params_parse(c.ops->params, c.params, c.label, text + n + 1, err);
	}
	if (r) {
		fth_policy_choice_release(&c);
		return r;
	}
	*ret = c;
	return 0;
}

void fth_policy_choice_release(struct fth_policy_choice *c)
{
	free(c->params);
	if (c->dl)
		dlclose(c->dl);
	*c = (struct fth_policy_choice){0};
}
