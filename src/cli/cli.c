/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/format.h"

void fth_cli_error(const char *fmt, ...)
{
	struct fth_str shown = {0};
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *buf = fth_alloc((size_t)n + 1);
	vsnprintf(buf, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	/* It may quote what stands in a file. */
	fth_shown_text(&shown, buf);
	fflush(stdout);
	fprintf(stderr, "farthing: %s\n", shown.data);
	free(buf);
	fth_str_release(&shown);
}

/* Whose fault it was decides the code: what the user gave, what the machine lacks, or us. */
static int exit_code(int code)
{
	switch (-code) {
	case ENOMEM:
		return FTH_EXIT_MEMORY;
	case ECANCELED:
	case EINTR:
		return FTH_EXIT_INTERRUPTED;
	case EPIPE:
		return FTH_EXIT_PIPE;
	case EIO:
	case ENOSPC:
	case EFBIG:
	case EROFS:
	case EDQUOT:
		return FTH_EXIT_FAILED;
	case EDEADLK:
	case ETIME:
		return FTH_EXIT_UNFINISHED;
	case EFAULT:
	case ENOTRECOVERABLE:
		return FTH_EXIT_INTERNAL;
	default:
		return FTH_EXIT_USAGE;
	}
}

int fth_cli_fail(const struct fth_error *err)
{
	if (err->code != -EPIPE)
		fth_cli_error("%s", err->text[0] ? err->text : strerror(-err->code));
	return exit_code(err->code);
}

bool fth_cli_color(const struct fth_args *a)
{
	const char *when = fth_args_text(a, "color"), *term = getenv("TERM"), *none = getenv("NO_COLOR");
	if (!strcmp(when, "always"))
		return true;
	if (!strcmp(when, "never") || (none && *none))
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

unsigned fth_cli_width(void)
{
	struct winsize w;
	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w))
		return 0;
	return w.ws_col;
}

/* ---- files that appear whole or not at all ---- */

/* What is being written now; removed by a signal that ends us. */
static const char *volatile unfinished;

static void interrupted(int sig)
{
	(void)sig;
	if (unfinished)
		unlink(unfinished);
	_exit(FTH_EXIT_INTERRUPTED);
}

/* Returns what held before; a signal that is ignored stays so. */
static void guard(const struct fth_output *o, struct sigaction before[3])
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now = {.sa_handler = interrupted};
	unfinished = o ? fth_output_unfinished(o) : NULL;
	for (int i = 0; i < 3; i++) {
		if (!o) {
			sigaction(signals[i], &before[i], NULL);
			continue;
		}
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &now, NULL);
	}
}

/* Signals that end us wait, if so wished; *ret_was is the mask to go back to. */
static void hold_signals(bool hold, sigset_t *ret_was)
{
	sigset_t ends;
	sigemptyset(&ends);
	if (hold) {
		sigaddset(&ends, SIGINT);
		sigaddset(&ends, SIGTERM);
		sigaddset(&ends, SIGHUP);
	}
	sigprocmask(SIG_BLOCK, &ends, ret_was);
}

/* A pipe may let us wait for its reader, and must be interruptible: nothing lies beside it to be removed. */
static bool is_file(const char *path)
{
	struct stat st;
	return path && strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode));
}

int fth_cli_produce(const char *path, int (*write)(void *arg, struct fth_output *o, struct fth_error *err), void *arg,
		    struct fth_error *err)
{
	struct fth_output *o;
	struct sigaction before[3];
	sigset_t was;
	hold_signals(is_file(path), &was);
	int r = fth_output_open(&o, path ? path : "-", err);
	if (!r)
		guard(o, before);
	sigprocmask(SIG_SETMASK, &was, NULL);
	if (r)
		return r;
	r = write(arg, o, err);
	/* While the file gets its name, a signal waits. */
	hold_signals(fth_output_unfinished(o) != NULL, &was);
	unfinished = NULL;
	if (r)
		fth_output_abort(o);
	else
		r = fth_output_commit(o, err);
	sigprocmask(SIG_SETMASK, &was, NULL);
	guard(NULL, before);
	return r;
}

struct bytes {
	const char *data;
	size_t n;
};

static int write_bytes(void *arg, struct fth_output *o, struct fth_error *err)
{
	const struct bytes *b = arg;
	return fth_output_write(o, b->data, b->n, err);
}

int fth_cli_write(const char *path, const char *data, size_t n, struct fth_error *err)
{
	struct bytes b = {data, n};
	return fth_cli_produce(path, write_bytes, &b, err);
}
