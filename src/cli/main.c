/* SPDX-License-Identifier: Apache-2.0 */
/* farthing: find the verb, parse its options, run it. */
#include <signal.h>

#include "cli/cli.h"
#include "cli/help.h"

/* Options before a verb: the two everybody tries first. */
static int without_verb(int argc, char **argv)
{
	struct fth_str out = {0};
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts(FTH_VERSION_TEXT);
		return FTH_EXIT_OK;
	}
	if (argc > 1 && strcmp(argv[1], "--help") && strcmp(argv[1], "-h")) {
		fth_cli_error("unknown option '%s'; a verb comes first, see 'farthing help'", argv[1]);
		return FTH_EXIT_USAGE;
	}
	fth_help_text(&out, NULL, 80);
	fputs(out.data, argc > 1 ? stdout : stderr);
	fth_str_release(&out);
	return argc > 1 ? FTH_EXIT_OK : FTH_EXIT_USAGE;
}

/* The command line, quoted where a shell would need it: for the reports. */
static void add_command(struct fth_str *out, int argc, char **argv)
{
	fth_str_add(out, "farthing");
	for (int i = 1; i < argc; i++) {
		fth_str_addc(out, ' ');
		bool plain = argv[i][0] && !argv[i][strcspn(argv[i], " \t\n\"'\\$`&|;<>()*?[]{}~#!")];
		if (plain) {
			fth_str_add(out, argv[i]);
			continue;
		}
		fth_str_addc(out, '\'');
		for (const char *c = argv[i]; *c; c++)
			fth_str_addf(out, *c == '\'' ? "'\\%c'" : "%c", *c);
		fth_str_addc(out, '\'');
	}
}

static int run_verb(const struct fth_verb *v, const char *command, int argc, char **argv)
{
	struct fth_args args;
	struct fth_error err = {0};
	int code;
	if (fth_args_parse(&args, v, argc, argv, &err)) {
		code = fth_cli_fail(&err);
	} else if (args.help) {
		struct fth_str out = {0};
		fth_help_text(&out, v, 80);
		fputs(out.data, stdout);
		fth_str_release(&out);
		code = FTH_EXIT_OK;
	} else {
		args.command = command;
		code = v->run(&args);
	}
	fth_args_release(&args);
	return code;
}

int main(int argc, char **argv)
{
	struct fth_error err = {0};
	int words;
	/* The locale stays "C": numbers look the same everywhere. A reader that has left is an error we see. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2 || argv[1][0] == '-')
		return without_verb(argc, argv);
	const struct fth_verb *v = fth_verb_find(argc - 1, argv + 1, &words, &err);
	struct fth_str command = {0};
	add_command(&command, argc, argv);
	int code = v ? run_verb(v, command.data, argc - 1 - words, argv + 1 + words) : fth_cli_fail(&err);
	fth_str_release(&command);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return code ? code : FTH_EXIT_PIPE;
		fth_cli_error("cannot write to standard output: %s", strerror(errno));
		return code ? code : FTH_EXIT_FAILED;
	}
	return code;
}
