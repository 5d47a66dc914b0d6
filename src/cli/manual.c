/* SPDX-License-Identifier: Apache-2.0 */
/* The man pages (mdoc) and docs/cli.md. */
#include "cli/cli.h"
#include "cli/help.h"

/* ---- mdoc ---- */

/* Text of a macro-free line: a leading dot or quote would be a request, a backslash an escape. */
static void man_text(struct fth_str *out, const char *text, size_t n)
{
	bool start = true;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		if (start && (c == '.' || c == '\''))
			fth_str_add(out, "\\&");
		if (c == '\\')
			fth_str_add(out, "\\e");
		else if (c == '-')
			fth_str_add(out, "\\-");
		else
			fth_str_addc(out, c);
		/* A sentence ends its line, so that the formatter may set the space after it. */
		start = c == '\n';
		if ((c == '.' || c == '?') && i + 1 < n && text[i + 1] == ' ') {
			fth_str_addc(out, '\n');
			i++;
			start = true;
		}
	}
	fth_str_addc(out, '\n');
}

static void man_page_name(struct fth_str *out, const struct fth_verb *v)
{
	fth_str_add(out, "farthing");
	if (v)
		fth_str_addc(out, '-');
	for (const char *c = v ? v->name : ""; *c; c++)
		fth_str_addc(out, *c == ' ' ? '-' : *c);
}

static void man_head(struct fth_str *out, const struct fth_verb *v, const char *summary)
{
	struct fth_str name = {0};
	man_page_name(&name, v);
	fth_str_add(out, ".Dd " FTH_RELEASED "\n.Dt ");
	for (const char *c = name.data; *c; c++)
		fth_str_addc(out, (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c));
	fth_str_addf(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", name.data, summary);
	fth_str_release(&name);
}

static void man_paragraphs(struct fth_str *out, const char *about)
{
	size_t n;
	bool first = true;
	for (const char *p = about; p && (p = fth_help_paragraph(p, &n)); p += n) {
		if (!first)
			fth_str_add(out, ".Pp\n");
		man_text(out, p, n);
		first = false;
	}
}

static void man_params(struct fth_str *out, const struct fth_param *table)
{
	fth_str_add(out, ".Bl -tag -width Ds\n");
	for (const struct fth_param *p = table; p->name; p++) {
		struct fth_str value = {0};
		fth_help_param(&value, p);
		fth_str_addf(out, ".It Cm %s\n", p->name);
		man_text(out, p->help, strlen(p->help));
		fth_str_add(out, ".Pq ");
		man_text(out, value.data, value.len);
		fth_str_release(&value);
	}
	fth_str_add(out, ".El\n");
}

static void man_option(struct fth_str *out, const struct fth_option *o)
{
	struct fth_str value = {0};
	fth_str_add(out, ".It ");
	if (o->letter)
		fth_str_addf(out, "Fl %c , ", o->letter);
	fth_str_addf(out, "Fl \\-%s", o->name);
	if (o->type != FTH_OPT_FLAG)
		fth_str_addf(out, " Ar %s", o->arg);
	fth_str_addc(out, '\n');
	man_text(out, o->help, strlen(o->help));
	fth_help_value(&value, o);
	if (value.len) {
		fth_str_add(out, ".Pq ");
		man_text(out, value.data, value.len);
	}
	if (o->params)
		man_params(out, o->params);
	fth_str_release(&value);
}

static void man_synopsis(struct fth_str *out, const struct fth_verb *v)
{
	fth_str_addf(out, ".Sh SYNOPSIS\n.Nm farthing %s\n.Op Ar option ...\n", v->name);
	for (const struct fth_operand *o = v->operands; o && o->name; o++)
		fth_str_addf(out, ".%sAr %s%s\n", o->optional ? "Op " : "", o->name, o->many ? " ..." : "");
}

static void man_exit(struct fth_str *out)
{
	fth_str_add(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
	for (int i = 0; fth_exit_docs[i].text; i++) {
		fth_str_addf(out, ".It %d\n", fth_exit_docs[i].code);
		man_text(out, fth_exit_docs[i].text, strlen(fth_exit_docs[i].text));
	}
	fth_str_add(out, ".El\n");
}

static void man_examples(struct fth_str *out, const struct fth_verb *v)
{
	if (!v->examples)
		return;
	fth_str_add(out, ".Sh EXAMPLES\n");
	for (int i = 0; v->examples[i]; i += 2) {
		man_text(out, v->examples[i + 1], strlen(v->examples[i + 1]));
		fth_str_add(out, ".Bd -literal -offset indent\n");
		man_text(out, v->examples[i], strlen(v->examples[i]));
		fth_str_add(out, ".Ed\n");
		if (v->examples[i + 2])
			fth_str_add(out, ".Pp\n");
	}
}

static void man_verb(struct fth_str *out, const struct fth_verb *v)
{
	man_head(out, v, v->summary);
	man_synopsis(out, v);
	fth_str_add(out, ".Sh DESCRIPTION\n");
	man_paragraphs(out, v->about);
	fth_str_add(out, ".Pp\nOperands and options:\n.Bl -tag -width Ds\n");
	for (const struct fth_operand *o = v->operands; o && o->name; o++) {
		fth_str_addf(out, ".It Ar %s\n", o->name);
		man_text(out, o->help, strlen(o->help));
	}
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			man_option(out, o);
	fth_str_add(out, ".El\n");
	man_exit(out);
	man_examples(out, v);
	fth_str_add(out, ".Sh SEE ALSO\n.Xr farthing 1 ,\n.Xr farthing-formats 5 ,\n.Xr farthing-policy 7\n");
}

static void man_overview(struct fth_str *out)
{
	man_head(out, NULL, "run a cluster's work in the cloud for the fewest dollars");
	fth_str_add(out, ".Sh SYNOPSIS\n.Nm farthing\n.Ar verb\n.Op Ar option ...\n.Op Ar operand ...\n"
		    ".Sh DESCRIPTION\n"
		    ".Nm\nreplays a job history under scheduling policies side by side and prints what each would have "
		    "cost,\nand plans what to rent for a set of tasks.\nThe verbs:\n.Bl -tag -width Ds\n");
	for (int i = 0; fth_verbs[i]; i++) {
		fth_str_addf(out, ".It Cm %s\n", fth_verbs[i]->name);
		man_text(out, fth_verbs[i]->summary, strlen(fth_verbs[i]->summary));
	}
	fth_str_add(out, ".El\n.Pp\nEach verb has a page of its own, named after it:\n");
	struct fth_str name = {0};
	for (int i = 0; fth_verbs[i]; i++) {
		fth_str_clear(&name);
		man_page_name(&name, fth_verbs[i]);
		fth_str_addf(out, ".Xr %s 1%s\n", name.data, fth_verbs[i + 1] ? " ," : " .");
	}
	fth_str_release(&name);
	fth_str_add(out, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev FARTHING_DATA\n"
		    "where\n.Cm repro\nlooks for the public data sets it repeats papers with\n"
		    ".It Ev NO_COLOR\nif set and not empty, colours are off unless\n.Fl \\-color Cm always\nis given\n.El\n");
	man_exit(out);
	fth_str_add(out, ".Sh SEE ALSO\n.Xr farthing-formats 5 ,\n.Xr farthing-policy 7\n");
}

void fth_help_man(struct fth_str *out, const struct fth_verb *v)
{
	if (v)
		man_verb(out, v);
	else
		man_overview(out);
}

/* ---- Markdown ---- */

/* Text of a table cell: a bar would end it. */
static void md_cell(struct fth_str *out, const char *text)
{
	for (; *text; text++)
		fth_str_addf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void md_params(struct fth_str *out, const struct fth_verb *v, const struct fth_option *o)
{
	fth_str_addf(out, "\nKeys of `--%s`%s:\n\n| key | value | what it is |\n|---|---|---|\n", o->name,
		     v->spread && !strcmp(v->spread, o->name) ? ", also as `--key value`" : "");
	for (const struct fth_param *p = o->params; p->name; p++) {
		struct fth_str value = {0};
		fth_help_param(&value, p);
		fth_str_addf(out, "| `%s` | ", p->name);
		md_cell(out, value.data);
		fth_str_add(out, " | ");
		md_cell(out, p->help);
		fth_str_add(out, " |\n");
		fth_str_release(&value);
	}
}

static void md_options(struct fth_str *out, const struct fth_verb *v)
{
	fth_str_add(out, "\n| option | what it does |\n|---|---|\n");
	for (const struct fth_operand *o = v->operands; o && o->name; o++) {
		fth_str_addf(out, "| `%s%s` | ", o->name, o->many ? "..." : "");
		md_cell(out, o->help);
		fth_str_add(out, " |\n");
	}
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++) {
			struct fth_str name = {0}, value = {0};
			if (o->letter)
				fth_str_addf(&name, "-%c, ", o->letter);
			fth_help_option(&name, o);
			fth_help_value(&value, o);
			fth_str_add(out, "| `");
			md_cell(out, name.data);
			fth_str_add(out, "` | ");
			md_cell(out, o->help);
			if (value.len) {
				fth_str_add(out, " (");
				md_cell(out, value.data);
				fth_str_add(out, ")");
			}
			fth_str_add(out, " |\n");
			fth_str_release(&name);
			fth_str_release(&value);
		}
	for (int g = 0; g < FTH_VERB_GROUPS && v->options[g]; g++)
		for (const struct fth_option *o = v->options[g]; o->name; o++)
			if (o->params)
				md_params(out, v, o);
}

static void md_verb(struct fth_str *out, const struct fth_verb *v)
{
	size_t n;
	fth_str_addf(out, "\n## farthing %s\n\n%s.\n\n```\n", v->name, v->summary);
	fth_help_usage(out, v);
	fth_str_add(out, "\n```\n");
	for (const char *p = v->about; p && (p = fth_help_paragraph(p, &n)); p += n) {
		fth_str_add(out, "\n");
		fth_str_addn(out, p, n);
		fth_str_add(out, "\n");
	}
	md_options(out, v);
	if (v->examples) {
		fth_str_add(out, "\n```sh\n");
		for (int i = 0; v->examples[i]; i += 2)
			fth_str_addf(out, "%s# %s\n%s\n", i ? "\n" : "", v->examples[i + 1], v->examples[i]);
		fth_str_add(out, "```\n");
	}
}

void fth_help_markdown(struct fth_str *out)
{
	fth_str_add(out, "# The command line\n\nThis file is made by `farthing help --markdown` from the tables the program "
		    "parses its options with (a test keeps it current); the man pages and shell completions come from "
		    "the same tables.\n\nOptions are written `--option value` or `--option=value`; `--` ends them. "
		    "Results go to standard output or to `--out`, everything else to standard error; a file given "
		    "with `--out` appears whole or not at all.\n\n| exit code | meaning |\n|---|---|\n");
	for (int i = 0; fth_exit_docs[i].text; i++)
		fth_str_addf(out, "| %d | %s |\n", fth_exit_docs[i].code, fth_exit_docs[i].text);
	for (int i = 0; fth_verbs[i]; i++)
		md_verb(out, fth_verbs[i]);
}
