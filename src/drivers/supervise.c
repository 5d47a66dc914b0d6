/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/supervise.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/protocol.h"

const char *fth_run_state_name(enum fth_run_state s)
{
	static const char *const names[] = {"none", "starting", "running", "ended", "stopped", "lost"};
	return names[s];
}

void fth_program_beside(const char *name, struct fth_str *out)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = 0;
	char *slash = strrchr(self, '/');
	fth_str_clear(out);
	fth_str_addn(out, self, slash ? (size_t)(slash - self) + 1 : 0);
	fth_str_add(out, name);
}

int fth_runner_check(struct fth_error *err)
{
	struct fth_str program = {0};
	fth_program_beside("farthing-runner", &program);
	int r = access(program.data, X_OK) ? fth_fail(err, -errno, "%s: %s", program.data, strerror(errno)) : 0;
	fth_str_release(&program);
	return r;
}

static char *in_dir(const char *dir, const char *name)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/%s", dir, name);
	return s.data;
}

static bool has(const char *dir, const char *name)
{
	char *path = in_dir(dir, name);
	bool there = !access(path, F_OK);
	free(path);
	return there;
}

/* The lock's descriptor; -EWOULDBLOCK: its runner lives; -ENOENT: there is no such run. */
static int take_lock(const char *dir, bool make)
{
	char *path = in_dir(dir, "lock");
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
	free(path);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int e = errno;
		close(fd);
		return -e;
	}
	return fd;
}

uint64_t fth_process_began(int pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	/* The 22nd field; the second is in brackets and may hold anything. */
	char *p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* ---- starting ---- */

/* In the child: a grandchild becomes the runner, so that it is nobody's zombie. Says on `tell` why it could not. */
static void become_runner(const char *program, const char *dir, int lock, int tell)
{
	setsid();
	pid_t pid = fork();
	if (pid)
		_exit(pid < 0);
	int null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	char number[16];
	snprintf(number, sizeof(number), "%d", lock);
	fcntl(lock, F_SETFD, 0);
	execl(program, program, dir, number, (char *)NULL);
	int e = errno;
	_exit(write(tell, &e, sizeof(e)) < 0);
}

static int launch_runner(const char *dir, int lock, struct fth_error *err)
{
	struct fth_str program = {0};
	int tell[2], e = 0;
	fth_program_beside("farthing-runner", &program);
	if (pipe2(tell, O_CLOEXEC)) {
		fth_str_release(&program);
		return fth_fail(err, -errno, "no pipe: %s", strerror(errno));
	}
	pid_t pid = fork();
	if (!pid)
		become_runner(program.data, dir, lock, tell[1]);
	close(tell[1]);
	int r = pid < 0 ? -errno : 0;
	if (pid > 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (read(tell[0], &e, sizeof(e)) == (ssize_t)sizeof(e))
			r = -e;
	}
	close(tell[0]);
	if (r)
		fth_fail(err, r, "%s: cannot be run: %s", program.data, strerror(-r));
	fth_str_release(&program);
	return r;
}

int fth_run_start(const char *dir, const json_t *spec, struct fth_error *err)
{
	int r = fth_keep_dir(dir, err);
	if (r)
		return r;
	int lock = take_lock(dir, true);
	if (lock == -EWOULDBLOCK)
		return 0;
	if (lock < 0)
		return fth_fail(err, lock, "%s/lock: %s", dir, strerror(-lock));
	if (!has(dir, "started") && !has(dir, "exit")) {
		char *path = in_dir(dir, "run.json");
		r = fth_keep_write(path, spec, err);
		free(path);
		if (!r)
			r = launch_runner(dir, lock, err);
	}
	close(lock);
	return r;
}

/* ---- looking ---- */

/* Whether this process is of the run: the environment it was started with says so. */
static bool is_of(int pid, const char *dir)
{
	char path[64], text[65536];
	struct fth_str mark = {0};
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	fth_str_addf(&mark, "FARTHING_RUN_DIR=%s", dir);
	bool found = memmem(text, (size_t)n, mark.data, mark.len + 1) != NULL; /* with its NUL */
	fth_str_release(&mark);
	return found;
}

static unsigned kill_leftovers(const char *dir)
{
	unsigned killed = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *d; proc && (d = readdir(proc));) {
		int pid = atoi(d->d_name);
		if (pid <= 1 || pid == getpid() || !is_of(pid, dir))
			continue;
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);
		/* Looked at again, now that it cannot become somebody else. */
		if (fd >= 0 && is_of(pid, dir))
			killed += !syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
		if (fd >= 0)
			close(fd);
	}
	if (proc)
		closedir(proc);
	return killed;
}

static void bury(const char *dir)
{
	for (int i = 0; i < 100 && kill_leftovers(dir); i++)
		usleep(10000);
	json_t *doc = json_pack("{s:s, s:I, s:i}", "how", "lost", "at", (json_int_t)fth_driver_now(), "exit", 137);
	char *path = in_dir(dir, "exit");
	fth_keep_write(path, doc, NULL);
	free(path);
	json_decref(doc);
}

static bool read_exit(const char *dir, struct fth_run *ret)
{
	char *path = in_dir(dir, "exit");
	json_t *doc = fth_keep_read(path);
	free(path);
	if (!doc)
		return false;
	const char *how = json_string_value(json_object_get(doc, "how"));
	ret->state = !how ? FTH_RUN_LOST
		     : !strcmp(how, "ended") ? FTH_RUN_ENDED
		     : !strcmp(how, "stopped") ? FTH_RUN_STOPPED
					       : FTH_RUN_LOST;
	ret->ended = json_integer_value(json_object_get(doc, "at"));
	ret->exit = (int)json_integer_value(json_object_get(doc, "exit"));
	json_decref(doc);
	return true;
}

void fth_run_look(const char *dir, struct fth_run *ret)
{
	*ret = (struct fth_run){0};
	/* The lock first: who looks at the files after it was free sees the last of them. */
	int lock = take_lock(dir, false);
	char *path = in_dir(dir, "started");
	json_t *started = fth_keep_read(path);
	free(path);
	if (started) {
		ret->started = json_integer_value(json_object_get(started, "at"));
		ret->pid = (int)json_integer_value(json_object_get(started, "runner"));
		json_decref(started);
	}
	if (!read_exit(dir, ret)) {
		if (lock == -EWOULDBLOCK) {
			ret->state = started ? FTH_RUN_RUNNING : FTH_RUN_STARTING;
		} else if (lock >= 0 && started) {
			bury(dir);
			read_exit(dir, ret);
		}
	}
	if (lock >= 0) {
		ret->pid = 0;
		close(lock);
	}
}

int fth_run_stop(const char *dir, bool at_once, struct fth_error *err)
{
	struct fth_run run;
	fth_run_look(dir, &run);
	/* A runner that has not said yet who it is will in a moment. */
	for (int i = 0; i < 200 && run.state == FTH_RUN_STARTING; i++) {
		usleep(10000);
		fth_run_look(dir, &run);
	}
	if (run.state != FTH_RUN_RUNNING || run.pid <= 1)
		return 0;
	if (kill(run.pid, at_once ? SIGUSR1 : SIGTERM) && errno != ESRCH)
		return fth_fail(err, -errno, "run %s: %s", dir, strerror(errno));
	return 0;
}
