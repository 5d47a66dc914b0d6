/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for shells. They hold everything themselves: no process is started per key press. */
#include "cli/help.h"
#include "policies/table.h"

static void add_choice_words(struct fth_str *out, const char *const *choices, fth_nth_choice *nth)
{
	const char *c;
	for (unsigned i = 0; (c = fth_choice(choices, nth, i)); i++)
		fth_str_addf(out, "%s%s", i ? " " : "", c);
}

static void add_policy_words(struct fth_str *out)
{
	for (int i = 0; fth_policies[i]; i++)
		fth_str_addf(out, "%s%s", i ? " " : "", fth_policies[i]->name);
}

/* Possible values, or key= of settings, as words; nothing when any text or file will do. */
static void add_value_words(struct fth_str *out, const struct fth_option *o)
{
	if (o->type == FTH_OPT_CHOICE)
		add_choice_words(out, o->choices, o->nth_choice);
	else if (o->type == FTH_OPT_POLICY)
		add_policy_words(out);
	else if (o->type == FTH_OPT_SETTING)
		for (const struct fth_param *p = o->params; p && p->name; p++)
			fth_str_addf(out, "%s%s=", p == o->params ? "" : " ", p->name);
}

/* The second word of a verb of two, and the length of the first. */
static const char *second_word(const struct fth_verb *v, int *ret_first)
{
	const char *space = strchr(v->name, ' ');
	*ret_first = space ? (int)(space - v->name) : (int)strlen(v->name);
	return space ? space + 1 : NULL;
}

/* The first word of the verb, unless an earlier verb shares it. */
static bool first_of_its_word(int index, int *ret_len)
{
	second_word(fth_verbs[index], ret_len);
	for (int i = 0, n; i < index; i++) {
		second_word(fth_verbs[i], &n);
		if (n == *ret_len && !strncmp(fth_verbs[i]->name, fth_verbs[index]->name, (size_t)n))
			return false;
	}
	return true;
}

/* ---- bash ---- */

static void bash_values(struct fth_str *out, const struct fth_verb *v, const struct fth_option *o)
{
	if (o->type == FTH_OPT_FLAG)
		return;
	struct fth_str words = {0};
	add_value_words(&words, o);
	fth_str_addf(out, "\t'%s --%s'", v->name, o->name);
	if (o->letter)
		fth_str_addf(out, "|'%s -%c'", v->name, o->letter);
	fth_str_add(out, ") ");
	if (words.len)
		fth_str_addf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", words.data);
	if (o->type == FTH_OPT_FILE)
		fth_str_add(out, "COMPREPLY+=($(compgen -f -- \"$cur\")); ");
	else if (o->type == FTH_OPT_POLICY) /* names, then what can be loaded: a path has a '/' */
		fth_str_add(out, "_farthing_objects; ");
	else if (o->type == FTH_OPT_DIR)
		fth_str_add(out, "COMPREPLY+=($(compgen -d -- \"$cur\")); ");
	fth_str_add(out, "return ;;\n");
	fth_str_release(&words);
}

/* The options of a verb as words; settings that may be options of their own among them. */
static void add_option_words(struct fth_str *out, const struct fth_verb *v)
{
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++) {
			fth_str_addf(out, "--%s ", o->name);
			if (!v->spread || strcmp(v->spread, o->name))
				continue;
			for (const struct fth_param *p = o->params; p && p->name; p++)
				fth_str_addf(out, "--%s ", p->name);
		}
}

static void bash_operands(struct fth_str *out, const struct fth_verb *v)
{
	struct fth_str words = {0};
	bool files = false;
	for (const struct fth_operand *o = v->operands; o && o->name; o++) {
		add_choice_words(&words, o->choices, o->nth_choice);
		if (o->type == FTH_OPT_POLICY)
			add_policy_words(&words);
		files |= o->type == FTH_OPT_FILE;
		if (words.len)
			fth_str_addc(&words, ' ');
	}
	fth_str_addf(out, "\t'%s') options='", v->name);
	add_option_words(out, v);
	fth_str_addf(out, "'; operands='%s'; files=%s ;;\n", words.data ? words.data : "", files ? "yes" : "");
	fth_str_release(&words);
}

static void add_first_words(struct fth_str *out)
{
	int n;
	for (int i = 0; fth_verbs[i]; i++)
		if (first_of_its_word(i, &n))
			fth_str_addf(out, "%s%.*s", i ? " " : "", n, fth_verbs[i]->name);
}

static void bash(struct fth_str *out)
{
	int n;
	const char *second;
	fth_str_add(out,
		"# bash completion for farthing; made by 'farthing completion bash'\n"
		"_farthing_objects()\n{\n"
		"\tif [[ $cur == */* ]]; then\n"
		"\t\tCOMPREPLY+=($(compgen -f -X '!*.so' -- \"$cur\") $(compgen -d -- \"$cur\"))\n"
		"\telse\n\t\tCOMPREPLY+=($(compgen -P ./ -f -X '!*.so' -- \"$cur\"))\n\tfi\n}\n"
		"_farthing()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
		"\tlocal options= operands= files=\n"
		"\tCOMPREPLY=()\n"
		"\t# --option=value comes as three words\n"
		"\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		"\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '");
	add_first_words(out);
	fth_str_add(out, " --help --version' -- \"$cur\")); return\n\tfi\n");
	for (int i = 0; fth_verbs[i]; i++)
		if ((second = second_word(fth_verbs[i], &n))) {
			fth_str_addf(out, "\tif [[ $verb == %.*s ]] && ((COMP_CWORD == 2)); then "
				     "COMPREPLY+=($(compgen -W '%s' -- \"$cur\")); fi\n", n, fth_verbs[i]->name, second);
			fth_str_addf(out, "\tif [[ $verb == %.*s && ${COMP_WORDS[2]} == %s ]]; then verb='%s'; fi\n", n,
				     fth_verbs[i]->name, second, fth_verbs[i]->name);
		}
	fth_str_add(out, "\tcase \"$verb $prev\" in\n");
	for (int i = 0; fth_verbs[i]; i++)
		for (int g = 0; g < FTH_VERB_GROUPS && fth_verbs[i]->options[g]; g++)
			for (const struct fth_option *o = fth_verbs[i]->options[g]; o->name; o++)
				bash_values(out, fth_verbs[i], o);
	fth_str_add(out, "\tesac\n\tcase $verb in\n");
	for (int i = 0; fth_verbs[i]; i++)
		bash_operands(out, fth_verbs[i]);
	fth_str_add(out, "\tesac\n"
		"\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\")); return\n\tfi\n"
		"\t[[ $operands ]] && COMPREPLY+=($(compgen -W \"$operands\" -- \"$cur\"))\n"
		"\t[[ $files ]] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
		"}\n"
		"complete -o filenames -o nosort -F _farthing farthing\n");
}

/* ---- zsh ---- */

/* Text inside single quotes of an _arguments specification. */
static void zsh_text(struct fth_str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fth_str_add(out, "'\\''");
		else if (strchr("[]:\\", *text))
			fth_str_addf(out, "\\%c", *text);
		else
			fth_str_addc(out, *text);
	}
}

static void zsh_action(struct fth_str *out, enum fth_opt_type type, const char *words)
{
	if (type == FTH_OPT_FILE)
		fth_str_add(out, "_files");
	else if (type == FTH_OPT_DIR)
		fth_str_add(out, "_files -/");
	else if (type == FTH_OPT_POLICY)
		fth_str_addf(out, "{compadd -- %s; _files -g \"*.so\"}", words);
	else if (words && *words)
		fth_str_addf(out, "(%s)", words);
}

static void zsh_option(struct fth_str *out, const struct fth_option *o)
{
	struct fth_str words = {0};
	add_value_words(&words, o);
	fth_str_addf(out, " \\\n\t\t\t'%s--%s%s[", o->many ? "*" : "", o->name, o->type == FTH_OPT_FLAG ? "" : "=");
	zsh_text(out, o->help);
	fth_str_addc(out, ']');
	if (o->type != FTH_OPT_FLAG) {
		fth_str_addf(out, ":%s:", o->arg);
		zsh_action(out, o->type, words.data);
	}
	fth_str_addc(out, '\'');
	fth_str_release(&words);
}

static void zsh_verb(struct fth_str *out, const struct fth_verb *v)
{
	int n, at = 1;
	const char *second = second_word(v, &n);
	fth_str_addf(out, "\t\t%.*s)\n\t\t\t_arguments", n, v->name);
	if (second)
		fth_str_addf(out, " '%d:verb:(%s)'", at++, second);
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			zsh_option(out, o);
	for (const struct fth_operand *o = v->operands; o && o->name; o++) {
		struct fth_str words = {0};
		add_choice_words(&words, o->choices, o->nth_choice);
		if (o->type == FTH_OPT_POLICY)
			add_policy_words(&words);
		if (o->many)
			fth_str_add(out, " \\\n\t\t\t'*:");
		else
			fth_str_addf(out, " \\\n\t\t\t'%d:", at++);
		zsh_text(out, o->name);
		fth_str_addc(out, ':');
		zsh_action(out, o->type, words.data);
		fth_str_addc(out, '\'');
		fth_str_release(&words);
	}
	fth_str_add(out, " ;;\n");
}

static void zsh(struct fth_str *out)
{
	int n;
	fth_str_add(out, "#compdef farthing\n# zsh completion for farthing; made by 'farthing completion zsh'\n"
		    "_farthing() {\n\tlocal curcontext=\"$curcontext\" state line\n\tlocal -a verbs\n"
		    "\t_arguments -C '1:verb:->verb' '*::operand:->rest'\n\tcase $state in\n\tverb)\n\t\tverbs=(\n");
	for (int i = 0; fth_verbs[i]; i++) {
		if (!first_of_its_word(i, &n))
			continue;
		fth_str_addf(out, "\t\t\t'%.*s:", n, fth_verbs[i]->name);
		zsh_text(out, fth_verbs[i]->summary);
		fth_str_add(out, "'\n");
	}
	fth_str_add(out, "\t\t)\n\t\t_describe verb verbs ;;\n\trest)\n\t\tcase $words[1] in\n");
	for (int i = 0; fth_verbs[i]; i++)
		zsh_verb(out, fth_verbs[i]);
	fth_str_add(out, "\t\tesac ;;\n\tesac\n}\n_farthing \"$@\"\n");
}

/* ---- fish ---- */

static void fish_text(struct fth_str *out, const char *text)
{
	fth_str_addc(out, '\'');
	for (; *text; text++)
		fth_str_addf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
	fth_str_addc(out, '\'');
}

static void fish_option(struct fth_str *out, const char *when, const struct fth_option *o)
{
	struct fth_str words = {0};
	add_value_words(&words, o);
	fth_str_addf(out, "complete -c farthing -n '%s' -l %s", when, o->name);
	if (o->letter)
		fth_str_addf(out, " -s %c", o->letter);
	if (o->type == FTH_OPT_FILE || o->type == FTH_OPT_DIR || o->type == FTH_OPT_POLICY)
		fth_str_add(out, " -r -F");
	else if (o->type != FTH_OPT_FLAG)
		fth_str_add(out, " -x");
	if (words.len) {
		fth_str_add(out, " -a ");
		fish_text(out, words.data);
	}
	fth_str_add(out, " -d ");
	fish_text(out, o->help);
	fth_str_addc(out, '\n');
	fth_str_release(&words);
}

static void fish_verb(struct fth_str *out, const struct fth_verb *v)
{
	int n;
	const char *second = second_word(v, &n);
	char when[96];
	struct fth_str words = {0};
	snprintf(when, sizeof(when), "__fish_seen_subcommand_from %.*s", n, v->name);
	if (second) {
		fth_str_addf(out, "complete -c farthing -n '%s; and not __fish_seen_subcommand_from %s' -f -a %s -d ", when,
			     second, second);
		fish_text(out, v->summary);
		fth_str_addc(out, '\n');
	}
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			fish_option(out, when, o);
	for (const struct fth_operand *o = v->operands; o && o->name; o++) {
		fth_str_clear(&words);
		add_choice_words(&words, o->choices, o->nth_choice);
		if (o->type == FTH_OPT_POLICY)
			add_policy_words(&words);
		if (words.len || o->type == FTH_OPT_FILE)
			fth_str_addf(out, "complete -c farthing -n '%s' %s", when, words.len ? "-f -a " : "-F");
		if (words.len)
			fish_text(out, words.data);
		if (words.len || o->type == FTH_OPT_FILE)
			fth_str_addc(out, '\n');
	}
	fth_str_release(&words);
}

static void fish(struct fth_str *out)
{
	int n;
	fth_str_add(out, "# fish completion for farthing; made by 'farthing completion fish'\n");
	for (int i = 0; fth_verbs[i]; i++) {
		if (!first_of_its_word(i, &n))
			continue;
		fth_str_addf(out, "complete -c farthing -n __fish_use_subcommand -f -a %.*s -d ", n, fth_verbs[i]->name);
		fish_text(out, fth_verbs[i]->summary);
		fth_str_addc(out, '\n');
	}
	for (int i = 0; fth_verbs[i]; i++)
		fish_verb(out, fth_verbs[i]);
}

void fth_help_completion(struct fth_str *out, const char *shell)
{
	if (!strcmp(shell, "zsh"))
		zsh(out);
	else if (!strcmp(shell, "fish"))
		fish(out);
	else
		bash(out);
}
