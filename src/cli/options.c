/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

const struct fth_exit_doc fth_exit_docs[] = {
	{FTH_EXIT_OK, "all went well"},
	{FTH_EXIT_FAILED, "a run failed, or a replay or comparison gave something else"},
	{FTH_EXIT_USAGE, "bad input or usage: the message names the file and line, or the option"},
	{FTH_EXIT_UNFINISHED, "a policy left jobs unfinished; what it did is reported all the same"},
	{FTH_EXIT_INTERNAL, "an internal error"},
	{FTH_EXIT_MEMORY, "out of memory"},
	{FTH_EXIT_INTERRUPTED, "interrupted"},
	{FTH_EXIT_PIPE, "who read the output has left before its end (as head does)"},
	{0, NULL},
};

const char *fth_choice(const char *const *choices, fth_nth_choice *nth, unsigned i)
{
	if (choices)
		return choices[i];
	return nth ? nth(i) : NULL;
}

/* ---- finding verbs and options ---- */

const struct fth_verb *fth_verb_find(int argc, char **argv, int *ret_words, struct fth_error *err)
{
	struct fth_nearest near;
	char hint[128], two[128];
	snprintf(two, sizeof(two), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	size_t one = strlen(argv[0]);
	bool parent = false;
	for (int i = 0; fth_verbs[i]; i++) {
		const char *name = fth_verbs[i]->name;
		if (!strcmp(name, argv[0]) || !strcmp(name, two)) {
			*ret_words = strchr(name, ' ') && strcmp(name, argv[0]) ? 2 : 1;
			return fth_verbs[i];
		}
		parent |= !strncmp(name, argv[0], one) && name[one] == ' ';
	}
	const char *asked = parent && argc > 1 && argv[1][0] != '-' ? two : argv[0];
	fth_nearest_init(&near, asked, strlen(asked));
	for (int i = 0; fth_verbs[i]; i++)
		if (!parent || strchr(fth_verbs[i]->name, ' '))
			fth_nearest_try(&near, fth_verbs[i]->name);
	if (parent && asked == argv[0])
		fth_fail(err, -EINVAL, "'%s' needs a second word%s; 'farthing help' lists the verbs", argv[0],
			 fth_nearest_hint(&near, "", hint, sizeof(hint)));
	else
		fth_fail(err, -EINVAL, "no verb '%s'%s; 'farthing help' lists them", asked,
			 fth_nearest_hint(&near, "", hint, sizeof(hint)));
	return NULL;
}

const struct fth_option *fth_verb_option(const struct fth_verb *v, const char *name, size_t len)
{
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			if (strlen(o->name) == len && !memcmp(o->name, name, len))
				return o;
	return NULL;
}

static const struct fth_option *option_by_letter(const struct fth_verb *v, char letter)
{
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

/* A setting of the verb's `spread` option written as an option: '-' stands for '_' too. */
static const struct fth_param *spread_param(const struct fth_verb *v, const char *name, size_t len)
{
	const struct fth_option *o = v->spread ? fth_verb_option(v, v->spread, strlen(v->spread)) : NULL;
	for (const struct fth_param *p = o ? o->params : NULL; p && p->name; p++) {
		size_t i = 0;
		while (i < len && p->name[i] && (p->name[i] == name[i] || (p->name[i] == '_' && name[i] == '-')))
			i++;
		if (i == len && !p->name[i])
			return p;
	}
	return NULL;
}

static int unknown_option(const struct fth_verb *v, const char *name, size_t len, struct fth_error *err)
{
	struct fth_nearest near;
	char hint[128];
	fth_nearest_init(&near, name, len);
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			fth_nearest_try(&near, o->name);
	const struct fth_option *s = v->spread ? fth_verb_option(v, v->spread, strlen(v->spread)) : NULL;
	for (const struct fth_param *p = s ? s->params : NULL; p && p->name; p++)
		fth_nearest_try(&near, p->name);
	return fth_fail(err, -EINVAL, "unknown option '--%.*s'%s; see 'farthing help %s'", (int)len, name,
			fth_nearest_hint(&near, "--", hint, sizeof(hint)), v->name);
}

/* ---- checking values ---- */

static int check_choice(const struct fth_option *o, const char *value, struct fth_error *err)
{
	struct fth_nearest near;
	struct fth_str all = {0};
	char hint[128];
	const char *c;
	fth_nearest_init(&near, value, strlen(value));
	for (unsigned i = 0; (c = fth_choice(o->choices, o->nth_choice, i)); i++) {
		if (!strcmp(c, value)) {
			fth_str_release(&all);
			return 0;
		}
		fth_nearest_try(&near, c);
		fth_str_addf(&all, "%s%s", i ? ", " : "", c);
	}
	int r = fth_fail(err, -EINVAL, "--%s: '%s' is none of %s%s", o->name, value, all.data ? all.data : "",
			 fth_nearest_hint(&near, "", hint, sizeof(hint)));
	fth_str_release(&all);
	return r;
}

static int check_setting(const struct fth_option *o, const char *value, struct fth_error *err)
{
	const char *eq = strchr(value, '=');
	if (!eq || eq == value)
		return fth_fail(err, -EINVAL, "--%s: '%s' is not of the form key=value", o->name, value);
	if (!o->params)
		return 0;
	struct fth_nearest near;
	char hint[128];
	fth_nearest_init(&near, value, (size_t)(eq - value));
	for (const struct fth_param *p = o->params; p->name; p++) {
		if (strlen(p->name) == near.len && !memcmp(p->name, value, near.len))
			return 0;
		fth_nearest_try(&near, p->name);
	}
	return fth_fail(err, -EINVAL, "--%s: no parameter '%.*s'%s", o->name, (int)near.len, value,
			fth_nearest_hint(&near, "", hint, sizeof(hint)));
}

static int check_value(const struct fth_option *o, const char *value, struct fth_error *err)
{
	int64_t n;
	switch (o->type) {
	case FTH_OPT_INT:
		if (fth_parse_i64(value, strlen(value), &n) || n < o->min || n > o->max)
			return fth_fail(err, -EINVAL, "--%s: '%s' is not a whole number from %lld to %lld", o->name,
					value, (long long)o->min, (long long)o->max);
		return 0;
	case FTH_OPT_CHOICE:
		return check_choice(o, value, err);
	case FTH_OPT_SETTING:
		return check_setting(o, value, err);
	case FTH_OPT_FILE:
	case FTH_OPT_DIR:
	case FTH_OPT_POLICY:
		if (!*value)
			return fth_fail(err, -EINVAL, "--%s: the value is empty", o->name);
		return 0;
	case FTH_OPT_FLAG:
	case FTH_OPT_TEXT:
		break;
	}
	return 0;
}

/* ---- parsing ---- */

static int add_given(struct fth_args *a, const struct fth_option *o, const char *value, struct fth_error *err)
{
	int r = check_value(o, value, err);
	if (r)
		return r;
	for (size_t i = 0; i < a->given.len && !o->many; i++)
		if (a->given.data[i].opt == o)
			return fth_fail(err, -EINVAL, "--%s is given twice", o->name);
	size_t key = o->type == FTH_OPT_SETTING ? strcspn(value, "=") + 1 : 0;
	for (size_t i = 0; i < a->given.len && key; i++)
		if (a->given.data[i].opt == o && !strncmp(a->given.data[i].value, value, key))
			return fth_fail(err, -EINVAL, "%.*s is given twice", (int)key - 1, value);
	struct fth_given g = {o, value};
	fth_vec_push(&a->given, g);
	return 0;
}

/* The value of argv[*i]: after its '=', or the next word. */
static int take_value(const char *shown, const char *attached, int argc, char **argv, int *i, const char **ret,
		      struct fth_error *err)
{
	if (attached) {
		*ret = attached;
		return 0;
	}
	if (*i + 1 >= argc)
		return fth_fail(err, -EINVAL, "%s needs a value", shown);
	*ret = argv[++*i];
	return 0;
}

static int parse_spread(struct fth_args *a, const struct fth_param *p, const char *eq, int argc, char **argv, int *i,
			struct fth_error *err)
{
	const char *value = NULL;
	int r = take_value(argv[*i], eq ? eq + 1 : NULL, argc, argv, i, &value, err);
	if (r)
		return r;
	size_t n = strlen(p->name) + strlen(value) + 2;
	char *text = fth_arena_alloc(&a->arena, n);
	snprintf(text, n, "%s=%s", p->name, value);
	return add_given(a, fth_verb_option(a->verb, a->verb->spread, strlen(a->verb->spread)), text, err);
}

static int parse_long(struct fth_args *a, int argc, char **argv, int *i, struct fth_error *err)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct fth_option *o = fth_verb_option(a->verb, name, len);
	if (!o) {
		const struct fth_param *p = spread_param(a->verb, name, len);
		return p ? parse_spread(a, p, eq, argc, argv, i, err) : unknown_option(a->verb, name, len, err);
	}
	if (o->type == FTH_OPT_FLAG) {
		if (eq)
			return fth_fail(err, -EINVAL, "--%s takes no value", o->name);
		return add_given(a, o, "", err);
	}
	const char *value = NULL;
	int r = take_value(argv[*i], eq ? eq + 1 : NULL, argc, argv, i, &value, err);
	return r ? r : add_given(a, o, value, err);
}

/* "-q", "-o FILE", "-oFILE"; letters are not joined. */
static int parse_short(struct fth_args *a, int argc, char **argv, int *i, struct fth_error *err)
{
	const char *word = argv[*i];
	const struct fth_option *o = option_by_letter(a->verb, word[1]);
	if (!o || (o->type == FTH_OPT_FLAG && word[2]))
		return fth_fail(err, -EINVAL, "unknown option '%s'; see 'farthing help %s'", word, a->verb->name);
	if (o->type == FTH_OPT_FLAG)
		return add_given(a, o, "", err);
	const char *value = NULL;
	int r = take_value(word, word[2] ? word + 2 : NULL, argc, argv, i, &value, err);
	return r ? r : add_given(a, o, value, err);
}

static int check_operands(const struct fth_args *a, struct fth_error *err)
{
	size_t least = 0, most = 0;
	const struct fth_operand *missing = NULL;
	for (const struct fth_operand *o = a->verb->operands; o && o->name; o++) {
		if (!o->optional && ++least > a->operands.len && !missing)
			missing = o;
		most = o->many ? SIZE_MAX : most + 1;
	}
	if (missing)
		return fth_fail(err, -EINVAL, "%s: %s is missing; see 'farthing help %s'", a->verb->name, missing->name,
				a->verb->name);
	if (a->operands.len > most)
		return fth_fail(err, -EINVAL, "%s: '%s' is one word too many; see 'farthing help %s'", a->verb->name,
				a->operands.data[most], a->verb->name);
	return 0;
}

int fth_args_parse(struct fth_args *a, const struct fth_verb *v, int argc, char **argv, struct fth_error *err)
{
	*a = (struct fth_args){.verb = v};
	bool only_operands = false;
	for (int i = 0; i < argc; i++) {
		int r = 0;
		if (only_operands || argv[i][0] != '-' || !argv[i][1])
			fth_vec_push(&a->operands, argv[i]);
		else if (!strcmp(argv[i], "--"))
			only_operands = true;
		else if (argv[i][1] == '-')
			r = parse_long(a, argc, argv, &i, err);
		else
			r = parse_short(a, argc, argv, &i, err);
		if (r)
			return r;
	}
	a->help = fth_args_flag(a, "help");
	return a->help ? 0 : check_operands(a, err);
}

void fth_args_release(struct fth_args *a)
{
	fth_vec_release(&a->given);
	fth_vec_release(&a->operands);
	fth_arena_release(&a->arena);
}

/* ---- reading what was given ---- */

static const struct fth_option *known(const struct fth_args *a, const char *name)
{
	const struct fth_option *o = fth_verb_option(a->verb, name, strlen(name));
	assert(o);
	return o;
}

const char *fth_args_given(const struct fth_args *a, const char *name)
{
	const struct fth_option *o = known(a, name);
	for (size_t i = a->given.len; i-- > 0;)
		if (a->given.data[i].opt == o)
			return a->given.data[i].value;
	return NULL;
}

const char *fth_args_text(const struct fth_args *a, const char *name)
{
	const char *v = fth_args_given(a, name);
	return v ? v : known(a, name)->def;
}

const char *fth_args_each(const struct fth_args *a, const char *name, size_t *pos)
{
	const struct fth_option *o = known(a, name);
	while (*pos < a->given.len) {
		const struct fth_given *g = &a->given.data[(*pos)++];
		if (g->opt == o)
			return g->value;
	}
	return NULL;
}

bool fth_args_flag(const struct fth_args *a, const char *name)
{
	return fth_args_given(a, name) != NULL;
}

int64_t fth_args_int(const struct fth_args *a, const char *name)
{
	int64_t n = 0;
	const char *v = fth_args_text(a, name);
	if (v && fth_parse_i64(v, strlen(v), &n))
		return 0;
	return n;
}
