/* SPDX-License-Identifier: Apache-2.0 */
/*
 * farthing-runner FOLDER LOCK: runs one program, waits for it, and writes down how it ended. It needs nobody: the driver that
 * started it may be killed and come back. See drivers/supervise.h for the folder.
 *
 * SIGTERM: save and stop. SIGUSR1: end it now. If the runner itself is killed, the kernel kills the program.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/protocol.h"
#include "drivers/supervise.h"

extern char **environ;

struct runner {
	const char *dir;
	json_t *spec;
	pid_t pid;
	int64_t limit_at, kill_at; /* INT64_MAX: never */
	bool stopping, killing;
	bool caught;               /* it has a handler for the signal that stops it */
	char *cgroup;              /* NULL: it has none */
};

static char *in_dir(const struct runner *r, const char *name)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/%s", r->dir, name);
	return s.data;
}

static int keep(const struct runner *r, const char *name, json_t *doc)
{
	char *path = in_dir(r, name);
	struct fth_error err = {0};
	int e = fth_keep_write(path, doc, &err);
	if (e)
		fprintf(stderr, "farthing-runner: %s\n", err.text);
	json_decref(doc);
	free(path);
	return e;
}

/* ---- the program ---- */

static char **argv_of(const json_t *command)
{
	size_t n = json_array_size(command);
	char **argv = fth_alloc((n + 1) * sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = fth_strdup(json_string_value(json_array_get(command, i)));
	return argv;
}

/* Only what was given, and a PATH. */
static void set_environment(const struct runner *r)
{
	const char *key;
	json_t *v;
	clearenv();
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	json_object_foreach(json_object_get(r->spec, "env"), key, v) setenv(key, json_string_value(v), 1);
	setenv("FARTHING_RUN_DIR", r->dir, 1);
}

static void fall_to_user(const struct runner *r)
{
	const json_t *uid = json_object_get(r->spec, "uid"), *gid = json_object_get(r->spec, "gid");
	const char *user = json_string_value(json_object_get(r->spec, "user"));
	if (!uid || geteuid() || json_integer_value(uid) == 0)
		return;
	gid_t g = (gid_t)json_integer_value(gid);
	if ((user ? initgroups(user, g) : setgroups(0, NULL)) || setresgid(g, g, g) ||
	    setresuid((uid_t)json_integer_value(uid), (uid_t)json_integer_value(uid), (uid_t)json_integer_value(uid)))
		_exit(126);
}

static int out_file(const struct runner *r, const char *name)
{
	char *path = in_dir(r, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	return fd;
}

/* A word into one of the cgroup's files. */
static void tell_cgroup(const struct runner *r, const char *file, const char *word)
{
	struct fth_str path = {0};
	fth_str_addf(&path, "%s/%s", r->cgroup, file);
	int fd = open(path.data, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, word, strlen(word)) < 0)
			fprintf(stderr, "farthing-runner: %s: %s\n", path.data, strerror(errno));
		close(fd);
	}
	fth_str_release(&path);
}

/* Never returns. Waits until `go` says that its start is written down. */
static void become_program(const struct runner *r, pid_t parent, int go, const json_t *command)
{
	char c;
	sigset_t none;
	int out = out_file(r, "stdout"), err = out_file(r, "stderr");
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || read(go, &c, 1) != 1)
		_exit(125);
	if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(125);
	if (r->cgroup)
		tell_cgroup(r, "cgroup.procs", "0");
	fall_to_user(r);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user forgets it */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	const char *cwd = json_string_value(json_object_get(r->spec, "cwd"));
	if (chdir(cwd ? cwd : "/")) {
		fprintf(stderr, "%s: %s\n", cwd, strerror(errno));
		_exit(127);
	}
	set_environment(r);
	char **argv = argv_of(command);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static pid_t spawn(const struct runner *r, int go[2], const json_t *command)
{
	pid_t self = getpid();
	if (pipe2(go, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (!pid) {
		close(go[1]);
		become_program(r, self, go[0], command);
	}
	close(go[0]);
	return pid;
}

static int start(struct runner *r)
{
	int go[2];
	const char *cgroup = json_string_value(json_object_get(r->spec, "cgroup"));
	if (cgroup && (!mkdir(cgroup, 0755) || errno == EEXIST))
		r->cgroup = fth_strdup(cgroup);
	r->pid = spawn(r, go, json_object_get(r->spec, "command"));
	if (r->pid < 0)
		return -errno;
	int64_t now = fth_driver_now(), limit = json_integer_value(json_object_get(r->spec, "limit_us"));
	r->limit_at = limit > 0 && limit < INT64_MAX - now ? now + limit : INT64_MAX;
	int e = keep(r, "started",
		     json_pack("{s:I, s:i, s:i, s:I}", "at", (json_int_t)now, "runner", (int)getpid(), "pid", (int)r->pid, "began",
			       (json_int_t)fth_process_began(r->pid)));
	if (!e && write(go[1], "g", 1) != 1)
		e = -errno;
	close(go[1]);
	return e;
}

/* ---- its end ---- */

/* Whether a process handles this signal itself. */
static bool handles(pid_t pid, int sig)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask >> (sig - 1) & 1;
}

/* Everything below us but the program itself; orphans of it come to us. */
static unsigned kill_children(pid_t but)
{
	unsigned n = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *d; proc && (d = readdir(proc));) {
		char path[300], state;
		int pid = atoi(d->d_name), parent = 0;
		if (pid <= 1 || pid == but)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		FILE *f = fopen(path, "re");
		if (f && fscanf(f, "%*d (%*[^)]) %c %d", &state, &parent) == 2 && parent == getpid())
			n += !kill(pid, SIGKILL);
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return n;
}

static void run_checkpoint(const struct runner *r)
{
	const json_t *command = json_object_get(r->spec, "checkpoint");
	int go[2];
	if (!json_array_size(command))
		return;
	pid_t pid = spawn(r, go, command);
	if (pid < 0)
		return;
	if (write(go[1], "g", 1) == 1)
		for (int64_t until = r->kill_at; fth_driver_now() < until && !waitpid(pid, NULL, WNOHANG);)
			usleep(10000);
	close(go[1]);
	if (!kill(pid, SIGKILL))
		waitpid(pid, NULL, 0);
}

static void stop(struct runner *r)
{
	int64_t grace = json_integer_value(json_object_get(r->spec, "grace_us"));
	siginfo_t info = {0};
	if (r->stopping || (!waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOWAIT | WNOHANG) && info.si_pid))
		return; /* it was there already, or has got to its end */
	r->stopping = true;
	r->kill_at = fth_driver_now() + (grace > 0 ? grace : 10 * FTH_SEC);
	run_checkpoint(r);
	r->caught = handles(r->pid, SIGTERM);
	kill(-r->pid, SIGTERM);
}

static void end_now(struct runner *r)
{
	r->killing = true;
	kill(-r->pid, SIGKILL);
}

static void drop_cgroup(const struct runner *r)
{
	if (!r->cgroup)
		return;
	tell_cgroup(r, "cgroup.kill", "1");
	for (int i = 0; i < 50 && rmdir(r->cgroup) && errno == EBUSY; i++)
		usleep(10000);
}

static void ring(const struct runner *r)
{
	const char *bell = json_string_value(json_object_get(r->spec, "bell"));
	int fd = bell ? open(bell, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	if (fd >= 0)
		close(fd);
}

/* The program itself has ended; status as of waitpid. */
static int finish(struct runner *r, int status, bool late)
{
	int64_t at = fth_driver_now();
	drop_cgroup(r);
	for (int i = 0; i < 100 && kill_children(0); i++)
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	bool by_signal = WIFSIGNALED(status);
	int code = by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	/* One that has no handler and ended well was through before the signal came. */
	bool through = r->stopping && !by_signal && code == 0 && !r->caught;
	const char *how = r->killing && !late ? "lost" : r->stopping && !through ? "stopped" : "ended";
	int e = keep(r, "exit", json_pack("{s:s, s:I, s:i, s:b}", "how", how, "at", (json_int_t)at, "exit", late ? 124 : code, "late", late));
	ring(r);
	return e != 0;
}

static int64_t due(const struct runner *r)
{
	return FTH_MIN(r->limit_at, r->stopping ? r->kill_at : INT64_MAX);
}

/* Orphans that came to us; true when the program itself has ended, which is left for the caller. */
static bool reap(const struct runner *r)
{
	for (;;) {
		siginfo_t info = {0};
		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) || !info.si_pid)
			return false;
		if (info.si_pid == r->pid)
			return true;
		waitpid(info.si_pid, NULL, 0);
	}
}

static int watch(struct runner *r, const sigset_t *signals)
{
	bool late = false;
	for (;;) {
		if (reap(r)) {
			int status = 0;
			kill(-r->pid, SIGKILL); /* while its number is still its own */
			waitpid(r->pid, &status, 0);
			return finish(r, status, late);
		}
		int64_t now = fth_driver_now(), left = FTH_MAX(due(r) - now, 0);
		left = FTH_MIN(left, FTH_HOUR);
		struct timespec t = {left / FTH_SEC, left % FTH_SEC * 1000};
		int sig = sigtimedwait(signals, NULL, &t);
		if (sig == SIGTERM)
			stop(r);
		else if (sig == SIGUSR1)
			end_now(r);
		else if (fth_driver_now() >= due(r)) {
			late = late || fth_driver_now() >= r->limit_at;
			r->limit_at = INT64_MAX;
			kill(-r->pid, SIGKILL);
			r->kill_at = INT64_MAX;
		}
	}
}

int main(int argc, char **argv)
{
	sigset_t signals;
	if (argc != 3) {
		fputs("usage: farthing-runner FOLDER LOCK; started by drivers\n", stderr);
		return 2;
	}
	fcntl(atoi(argv[2]), F_SETFD, FD_CLOEXEC);
	struct runner r = {.dir = argv[1], .limit_at = INT64_MAX, .kill_at = INT64_MAX};
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	char *path = in_dir(&r, "run.json");
	r.spec = fth_keep_read(path);
	free(path);
	int e = json_array_size(json_object_get(r.spec, "command")) ? start(&r) : -EINVAL;
	if (e) {
		fprintf(stderr, "farthing-runner: %s: %s\n", r.dir, strerror(-e));
		if (r.pid > 0)
			kill(r.pid, SIGKILL);
		keep(&r, "exit", json_pack("{s:s, s:I, s:i}", "how", "lost", "at", (json_int_t)fth_driver_now(), "exit", 125));
		return 1;
	}
	e = watch(&r, &signals);
	json_decref(r.spec);
	free(r.cgroup);
	return e;
}
