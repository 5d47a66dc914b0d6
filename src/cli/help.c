/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

/* ---- parts shared by all forms ---- */

void fth_help_option(struct fth_str *out, const struct fth_option *o)
{
	fth_str_addf(out, "--%s", o->name);
	if (o->type != FTH_OPT_FLAG)
		fth_str_addf(out, " %s", o->arg);
}

static void add_choices(struct fth_str *out, const char *const *choices, fth_nth_choice *nth)
{
	const char *c;
	for (unsigned i = 0; (c = fth_choice(choices, nth, i)); i++)
		fth_str_addf(out, "%s%s", i ? ", " : "one of ", c);
}

static void add_part(struct fth_str *out, const char *fmt, const char *value)
{
	if (out->len)
		fth_str_add(out, "; ");
	fth_str_addf(out, "%s%s", fmt, value);
}

void fth_help_value(struct fth_str *out, const struct fth_option *o)
{
	if (o->type == FTH_OPT_CHOICE)
		add_choices(out, o->choices, o->nth_choice);
	if (o->many)
		add_part(out, "may be given more than once", "");
	if (o->def)
		add_part(out, "default: ", o->def);
}

const char *fth_help_param_type(enum fth_param_type t)
{
	static const char *const names[] = {"yes or no", "whole number", "number", "duration in seconds or with a unit", "choice"};
	return (size_t)t < FTH_COUNT(names) ? names[t] : "?";
}

void fth_help_param(struct fth_str *out, const struct fth_param *p)
{
	struct fth_str range = {0};
	fth_str_add(out, fth_help_param_type(p->type));
	if (p->type == FTH_PARAM_CHOICE) {
		fth_str_clear(out);
		add_choices(out, p->choices, NULL);
	} else if (p->type != FTH_PARAM_BOOL && p->min < p->max) {
		fth_str_real(&range, p->min);
		fth_str_add(&range, p->type == FTH_PARAM_DURATION ? " s to " : " to ");
		fth_str_real(&range, p->max);
		fth_str_add(&range, p->type == FTH_PARAM_DURATION ? " s" : "");
		fth_str_addf(out, ", %s", range.data);
	}
	if (p->def)
		add_part(out, "default: ", *p->def ? p->def : "none");
	fth_str_release(&range);
}

void fth_help_usage(struct fth_str *out, const struct fth_verb *v)
{
	fth_str_addf(out, "farthing %s [OPTION]...", v->name);
	for (const struct fth_operand *o = v->operands; o && o->name; o++)
		fth_str_addf(out, o->optional ? " [%s]%s" : " %s%s", o->name, o->many ? "..." : "");
}

void fth_help_wrap(struct fth_str *out, const char *text, unsigned at, unsigned indent, unsigned width)
{
	bool first = true;
	while (*text) {
		size_t n = strcspn(text, " \n");
		if (n) {
			if (!first && at + 1 + n > width) {
				fth_str_addf(out, "\n%*s", (int)indent, "");
				at = indent;
			} else if (!first) {
				fth_str_addc(out, ' ');
				at++;
			}
			fth_str_addn(out, text, n);
			at += (unsigned)n;
			first = false;
		}
		text += n;
		text += strspn(text, " \n");
	}
	fth_str_addc(out, '\n');
}

const char *fth_help_paragraph(const char *text, size_t *ret_len)
{
	while (*text == '\n')
		text++;
	if (!*text)
		return NULL;
	const char *end = strstr(text, "\n\n");
	*ret_len = end ? (size_t)(end - text) : strlen(text);
	return text;
}

/* ---- the terminal ---- */

enum { COLUMN = 26 };

/* A name, and what is to be said of it in the second column. */
static void add_row(struct fth_str *out, const char *name, const char *text, unsigned width)
{
	unsigned at = (unsigned)strlen(name) + 2;
	fth_str_addf(out, "  %s", name);
	if (at + 2 > COLUMN) {
		fth_str_addf(out, "\n%*s", COLUMN, "");
	} else {
		fth_str_addf(out, "%*s", (int)(COLUMN - at), "");
	}
	fth_help_wrap(out, text, COLUMN, COLUMN, width);
}

static void add_params(struct fth_str *out, const struct fth_verb *v, const struct fth_option *o, unsigned width)
{
	if (v->spread && !strcmp(v->spread, o->name))
		fth_str_addf(out, "\nParameters, as --%s key=value or --key value:\n", o->name);
	else
		fth_str_addf(out, "\nKeys of --%s:\n", o->name);
	for (const struct fth_param *p = o->params; p->name; p++) {
		struct fth_str value = {0}, text = {0};
		fth_help_param(&value, p);
		fth_str_addf(&text, "%s (%s)", p->help, value.data);
		add_row(out, p->name, text.data, width);
		fth_str_release(&value);
		fth_str_release(&text);
	}
}

static void add_options(struct fth_str *out, const struct fth_verb *v, unsigned width)
{
	fth_str_add(out, "\nOptions:\n");
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++) {
			struct fth_str name = {0}, value = {0}, text = {0};
			if (o->letter)
				fth_str_addf(&name, "-%c, ", o->letter);
			fth_help_option(&name, o);
			fth_help_value(&value, o);
			fth_str_add(&text, o->help);
			if (value.len)
				fth_str_addf(&text, " (%s)", value.data);
			add_row(out, name.data, text.data, width);
			fth_str_release(&name);
			fth_str_release(&value);
			fth_str_release(&text);
		}
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			if (o->params)
				add_params(out, v, o, width);
}

static void add_operands(struct fth_str *out, const struct fth_verb *v, unsigned width)
{
	if (!v->operands)
		return;
	fth_str_add(out, "\nOperands:\n");
	for (const struct fth_operand *o = v->operands; o->name; o++) {
		struct fth_str text = {0};
		fth_str_add(&text, o->help);
		if (o->choices || o->nth_choice) {
			fth_str_add(&text, " (");
			add_choices(&text, o->choices, o->nth_choice);
			fth_str_add(&text, ")");
		}
		add_row(out, o->name, text.data, width);
		fth_str_release(&text);
	}
}

static void add_paragraphs(struct fth_str *out, const char *about, unsigned width)
{
	size_t n;
	for (const char *p = about; p && (p = fth_help_paragraph(p, &n)); p += n) {
		char *one = fth_strndup(p, n);
		fth_str_add(out, "\n");
		fth_help_wrap(out, one, 0, 0, width);
		free(one);
	}
}

static void overview(struct fth_str *out, unsigned width)
{
	fth_str_add(out, "Usage: farthing VERB [OPTION]... [OPERAND]...\n\n");
	fth_help_wrap(out, "Runs a cluster's work in the public cloud for the fewest dollars: replays a job history "
		      "under every policy side by side, and plans what to rent.", 0, 0, width);
	fth_str_add(out, "\nVerbs:\n");
	for (int i = 0; fth_verbs[i]; i++)
		add_row(out, fth_verbs[i]->name, fth_verbs[i]->summary, width);
	fth_str_add(out, "\nExit codes:\n");
	for (int i = 0; fth_exit_docs[i].text; i++) {
		char code[8];
		snprintf(code, sizeof(code), "%d", fth_exit_docs[i].code);
		add_row(out, code, fth_exit_docs[i].text, width);
	}
	fth_str_add(out, "\n'farthing help VERB' tells more of one verb; 'farthing compare' runs the bundled sample.\n");
}

void fth_help_text(struct fth_str *out, const struct fth_verb *v, unsigned width)
{
	if (!v) {
		overview(out, width);
		return;
	}
	fth_str_add(out, "Usage: ");
	fth_help_usage(out, v);
	fth_str_addf(out, "\n\n%s.\n", v->summary);
	add_paragraphs(out, v->about, width);
	add_operands(out, v, width);
	add_options(out, v, width);
	if (v->examples) {
		fth_str_add(out, "\nExamples:\n");
		for (int i = 0; v->examples[i]; i += 2)
			fth_str_addf(out, "  %s\n      %s\n", v->examples[i], v->examples[i + 1]);
	}
}
