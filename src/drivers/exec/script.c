/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/exec/script.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/protocol.h"

struct script {
	pid_t pid;
	int in, out; /* ours of its pipes; -1: closed */
	struct fth_str output;
};

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int begin(struct script *s, char **argv)
{
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		int e = errno;
		close(in[0]);
		close(in[1]);
		return -e;
	}
	s->pid = fork();
	if (!s->pid) {
		setsid();
		signal(SIGPIPE, SIG_DFL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = out[0];
	fcntl(s->in, F_SETFL, O_NONBLOCK);
	return s->pid < 0 ? -errno : 0;
}

/* Feed it, hear it; until it has closed its output, or its time is over. */
static int talk(struct script *s, const char *text, int64_t until)
{
	size_t left = strlen(text);
	while (s->out >= 0) {
		char piece[4096];
		struct pollfd p[2] = {{.fd = s->out, .events = POLLIN}, {.fd = left ? s->in : -1, .events = POLLOUT}};
		int64_t wait = until - fth_driver_now();
		if (wait <= 0)
			return -ETIME;
		if (poll(p, 2, (int)FTH_MIN(wait / 1000 + 1, 60000)) < 0 && errno != EINTR)
			return -errno;
		if (p[1].revents) {
			ssize_t w = write(s->in, text, left);
			left -= w > 0 ? (size_t)w : 0;
			text += w > 0 ? w : 0;
			if (w < 0 && errno != EAGAIN)
				left = 0; /* it does not want to hear more */
		}
		if (!left)
			shut(&s->in);
		if (!p[0].revents)
			continue;
		ssize_t n = read(s->out, piece, sizeof(piece));
		if (n <= 0)
			shut(&s->out);
		else
			fth_str_addn(&s->output, piece, (size_t)n);
		if (s->output.len > FTH_SCRIPT_OUTPUT_MAX)
			return -EMSGSIZE;
	}
	return 0;
}

/* Its exit code, or -ETIME; nothing of it is left afterwards. */
static int finish(struct script *s, int64_t until)
{
	int status = 0, r = 0;
	siginfo_t info = {0};
	while (!info.si_pid && fth_driver_now() < until) {
		if (waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOWAIT | WNOHANG))
			break;
		if (!info.si_pid)
			usleep(2000);
	}
	if (!info.si_pid)
		r = -ETIME;
	kill(-s->pid, SIGKILL);
	kill(s->pid, SIGKILL); /* it may not have got its group yet */
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	return r ? r : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static json_t *judge(const struct script *s, const char *name, int r, int code, struct fth_error *err)
{
	if (r == -EMSGSIZE)
		fth_fail(err, r, "%s says more than is allowed", name);
	else if (r || code == -ETIME)
		fth_fail(err, r ? r : -ETIME, "%s took longer than its time limit", name);
	if (r || code < 0)
		return NULL;
	json_error_t bad;
	json_t *doc = s->output.len ? json_loadb(s->output.data, s->output.len, JSON_REJECT_DUPLICATES, &bad) : json_object();
	if (json_is_object(doc) && (!code || json_object_get(doc, "error")))
		return doc;
	if (code)
		fth_fail(err, -EIO, "%s ended with exit code %d", name, code);
	else
		fth_fail(err, -EBADMSG, "%s: its output is no JSON object: %s", name, doc ? "another value" : bad.text);
	json_decref(doc);
	return NULL;
}

json_t *fth_script_run(const json_t *command, const json_t *input, int64_t limit_us, struct fth_error *err)
{
	size_t n = json_array_size(command);
	char **argv = fth_alloc((n + 1) * sizeof(*argv)), *text = json_dumps(input, JSON_COMPACT);
	struct script s = {.pid = -1, .in = -1, .out = -1};
	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)json_string_value(json_array_get(command, i));
	int64_t until = fth_driver_now() + limit_us;
	json_t *doc = NULL;
	int r = begin(&s, argv);
	if (r) {
		fth_fail(err, r, "%s: %s", argv[0], strerror(-r));
	} else {
		r = talk(&s, text, until);
		shut(&s.in);
		shut(&s.out);
		doc = judge(&s, argv[0], r, finish(&s, r ? 0 : until), err);
	}
	fth_str_release(&s.output);
	free(argv);
	free(text);
	return doc;
}
