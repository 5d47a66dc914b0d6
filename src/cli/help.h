/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of verbs and options say, as text for a terminal, man pages, Markdown and shells. */
#ifndef FTH_CLI_HELP_H
#define FTH_CLI_HELP_H

#include "cli/options.h"

/* For a terminal; v NULL: the overview of all verbs. */
void fth_help_text(struct fth_str *out, const struct fth_verb *v, unsigned width);
/* A page of section 1 in mdoc; v NULL: farthing(1). */
void fth_help_man(struct fth_str *out, const struct fth_verb *v);
/* docs/cli.md, all of it. */
void fth_help_markdown(struct fth_str *out);
/* A completion script; shell is "bash", "zsh" or "fish". */
void fth_help_completion(struct fth_str *out, const char *shell);

/* Parts shared by the writers. */

/* "--workload FILE" without its short form. */
void fth_help_option(struct fth_str *out, const struct fth_option *o);
/* "from 1 to 64", "one of a, b", "default: x": what holds of its value; empty if nothing does. */
void fth_help_value(struct fth_str *out, const struct fth_option *o);
/* The same of a parameter. */
void fth_help_param(struct fth_str *out, const struct fth_param *p);
const char *fth_help_param_type(enum fth_param_type t);
/* "farthing sim [OPTION]... FILE..." */
void fth_help_usage(struct fth_str *out, const struct fth_verb *v);
/* Words of text broken at width, each line after the first indented; the cursor stands at `at`. */
void fth_help_wrap(struct fth_str *out, const char *text, unsigned at, unsigned indent, unsigned width);
/* The next paragraph of `about` and where the one after it begins; NULL at the end. */
const char *fth_help_paragraph(const char *text, size_t *ret_len);

#endif
