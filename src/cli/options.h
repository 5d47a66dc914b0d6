/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs and their options as tables. Parsing, --help, the man pages, docs/cli.md and the shell
 * completions are all made from these, so that none of them can say something the others do not.
 */
#ifndef FTH_CLI_OPTIONS_H
#define FTH_CLI_OPTIONS_H

#include <farthing/policy.h>

#include "base/base.h"

/* Exit codes: scripts rely on them. */
enum fth_exit {
	FTH_EXIT_OK = 0,
	FTH_EXIT_FAILED = 1,      /* the run failed, or a comparison or replay differs */
	FTH_EXIT_USAGE = 2,       /* bad input or usage */
	FTH_EXIT_UNFINISHED = 3,  /* a policy left jobs unfinished */
	FTH_EXIT_INTERNAL = 70,
	FTH_EXIT_MEMORY = 71,
	FTH_EXIT_INTERRUPTED = 130,
	FTH_EXIT_PIPE = 141,      /* who read standard output has left: nothing to say to anybody */
};
struct fth_exit_doc {
	int code;
	const char *text;
};
extern const struct fth_exit_doc fth_exit_docs[]; /* ended by a NULL text */

enum fth_opt_type {
	FTH_OPT_FLAG = 0, /* takes no value */
	FTH_OPT_TEXT,
	FTH_OPT_INT,      /* min .. max */
	FTH_OPT_CHOICE,   /* one of choices or nth_choice */
	FTH_OPT_FILE,
	FTH_OPT_DIR,
	FTH_OPT_POLICY,   /* a policy with parameters; completed with the names of the built-in ones */
	FTH_OPT_SETTING,  /* key=value of the table `params` */
};

/* The i-th possible value, NULL after the last: for choices that another module's table holds. */
typedef const char *fth_nth_choice(unsigned i);

struct fth_option {
	const char *name; /* without dashes; NULL ends a table */
	char letter;      /* 0: has no short form */
	enum fth_opt_type type;
	bool many;        /* may be given more than once */
	const char *arg;  /* what its value is called in the help */
	const char *def;  /* what holds when it is not given, as a user would write it; NULL: nothing */
	const char *help;
	const char *const *choices; /* NULL-ended */
	fth_nth_choice *nth_choice;
	int64_t min, max;
	const struct fth_param *params;
};

struct fth_operand {
	const char *name; /* NULL ends a list */
	enum fth_opt_type type;
	bool optional, many;
	const char *help;
	const char *const *choices;
	fth_nth_choice *nth_choice;
};

struct fth_args;

enum { FTH_VERB_GROUPS = 10 };
struct fth_verb {
	const char *name;    /* may be two words: "plan pack" */
	const char *summary; /* one line, no full stop */
	const char *about;   /* paragraphs, parted by blank lines */
	const struct fth_operand *operands;                  /* may be NULL */
	const struct fth_option *options[FTH_VERB_GROUPS];   /* tables, NULL after the last */
	/* Name of the option whose settings may also be written as options of their own: --key value. */
	const char *spread;
	const char *const *examples; /* command, what it does, ..., NULL */
	int (*run)(struct fth_args *args); /* returns an exit code */
};
extern const struct fth_verb *const fth_verbs[]; /* NULL-ended */

struct fth_given {
	const struct fth_option *opt;
	const char *value;
};

struct fth_args {
	const struct fth_verb *verb;
	FTH_VEC(struct fth_given) given;
	FTH_VEC(const char *) operands;
	struct fth_arena arena; /* holds values that were put together while parsing */
	const char *command;    /* the whole command line, for reports */
	bool help;              /* --help was among them */
};

/* The verb named by the first one or two words; *ret_words is how many it took. On failure NULL, and
 * err says what was meant perhaps. */
const struct fth_verb *fth_verb_find(int argc, char **argv, int *ret_words, struct fth_error *err);
const struct fth_option *fth_verb_option(const struct fth_verb *v, const char *name, size_t len);

int fth_args_parse(struct fth_args *a, const struct fth_verb *v, int argc, char **argv, struct fth_error *err);
void fth_args_release(struct fth_args *a);

/* The last value given, else the default, else NULL. The name must be in the verb's tables. */
const char *fth_args_text(const struct fth_args *a, const char *name);
/* The last value given, NULL if none was: tells a default from a wish. */
const char *fth_args_given(const struct fth_args *a, const char *name);
/* The next value given after *pos (start at 0); NULL at the end. */
const char *fth_args_each(const struct fth_args *a, const char *name, size_t *pos);
bool fth_args_flag(const struct fth_args *a, const char *name);
int64_t fth_args_int(const struct fth_args *a, const char *name);

/* The i-th choice of an option or operand, wherever it comes from. */
const char *fth_choice(const char *const *choices, fth_nth_choice *nth, unsigned i);

/* Collects the candidate nearest to a misspelt word; `best` stays NULL if none is near enough. */
struct fth_nearest {
	const char *word;
	size_t len;
	const char *best;
	unsigned distance;
};
void fth_nearest_init(struct fth_nearest *n, const char *word, size_t len);
void fth_nearest_try(struct fth_nearest *n, const char *candidate);
/* " (did you mean 'x'?)" or "". */
const char *fth_nearest_hint(const struct fth_nearest *n, const char *before, char *buf, size_t size);

#endif
