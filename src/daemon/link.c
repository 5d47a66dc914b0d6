/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/link.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/log.h"
#include "drivers/protocol.h"

enum { WORDS_MAX = 64 << 10 };

void fth_link_init(struct fth_link *l, enum fth_role role, const struct fth_role_config *c)
{
	*l = (struct fth_link){.role = role, .program = c->program, .name = c->driver, .in = -1, .out = -1, .err = -1};
	fth_lines_init(&l->lines, FTH_PROTOCOL_LINE_MAX);
	fth_lines_init(&l->words, WORDS_MAX);
}

static void become_driver(const struct fth_link *l, const int in[2], const int out[2], const int err[2])
{
	sigset_t none;
	setsid(); /* a ^C at our terminal is for us: it is told by its input's end */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	execl(l->program, l->program, (char *)NULL);
	fprintf(stderr, "%s: %s\n", l->program, strerror(errno));
	_exit(127);
}

static void close_pair(int p[2])
{
	for (int i = 0; i < 2; i++)
		if (p[i] >= 0)
			close(p[i]);
}

int fth_link_start(struct fth_link *l, struct fth_error *err)
{
	int p[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	bool ok = true;
	for (int i = 0; i < 3 && ok; i++)
		ok = !pipe2(p[i], O_CLOEXEC);
	pid_t pid = ok ? fork() : -1;
	if (!pid)
		become_driver(l, p[0], p[1], p[2]);
	if (pid < 0) {
		int e = errno;
		for (int i = 0; i < 3; i++)
			close_pair(p[i]);
		return fth_fail(err, -e, "driver %s cannot be started: %s", l->name, strerror(e));
	}
	close(p[0][0]);
	close(p[1][1]);
	close(p[2][1]);
	l->pid = pid;
	l->in = p[0][1];
	l->out = p[1][0];
	l->err = p[2][0];
	for (int i = 0; i < 3; i++)
		fcntl(i ? (i == 1 ? l->out : l->err) : l->in, F_SETFL, O_NONBLOCK);
	l->session++;
	l->started_ns = fth_clock_ns();
	return 0;
}

void fth_link_send(struct fth_link *l, const char *line, size_t n)
{
	if (l->in < 0)
		return;
	if (l->sent && l->sent == l->unsent.len) {
		fth_str_clear(&l->unsent);
		l->sent = 0;
	}
	fth_str_addn(&l->unsent, line, n);
}

int fth_link_flush(struct fth_link *l)
{
	while (l->in >= 0 && l->sent < l->unsent.len) {
		ssize_t n = write(l->in, l->unsent.data + l->sent, l->unsent.len - l->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		l->sent += (size_t)n;
	}
	if (l->sent == l->unsent.len) {
		fth_str_release(&l->unsent);
		l->sent = 0;
	}
	return 0;
}

void fth_link_hear(struct fth_link *l)
{
	char *line;
	size_t n;
	int r = fth_lines_fill(&l->words, l->err);
	while (r > 0 && (r = fth_lines_next(&l->words, &line, &n)) > 0)
		fth_say(FTH_LOG_WARN, "driver says", "role:s driver:s text:s", fth_role_names[l->role], l->name, line);
	if (r == -EMSGSIZE) {
		fth_lines_release(&l->words);
		fth_lines_init(&l->words, WORDS_MAX);
	} else if (r < 0 && r != -EAGAIN) {
		close(l->err);
		l->err = -1;
	}
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void fth_link_close(struct fth_link *l, bool kill_it)
{
	int status = 0;
	if (l->err >= 0)
		fth_link_hear(l);
	shut(&l->in);
	shut(&l->out);
	shut(&l->err);
	if (l->pid > 0) {
		if (kill_it)
			kill(l->pid, SIGKILL);
		waitpid(l->pid, &status, 0);
	}
	l->pid = 0;
	fth_str_release(&l->unsent);
	l->sent = 0;
	fth_lines_release(&l->lines);
	fth_lines_release(&l->words);
	int64_t now = fth_clock_ns();
	l->failures = now - l->started_ns > 60 * 1000000000LL ? 1 : FTH_MIN(l->failures + 1, 8u);
	l->next_start_ns = now + (100000000LL << (l->failures - 1));
}

void fth_link_finish(struct fth_link *l, int64_t limit_us)
{
	int64_t until = fth_clock_ns() + limit_us * 1000;
	shut(&l->in);
	while (l->pid > 0 && fth_clock_ns() < until) {
		if (l->err >= 0)
			fth_link_hear(l);
		if (waitpid(l->pid, NULL, WNOHANG) == l->pid)
			l->pid = 0;
		else
			usleep(5000);
	}
	fth_link_close(l, true);
}

void fth_link_release(struct fth_link *l)
{
	fth_lines_release(&l->lines);
	fth_lines_release(&l->words);
	fth_str_release(&l->unsent);
}
