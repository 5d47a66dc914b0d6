/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that outlive who started them: each runs under a small runner (farthing-runner) in a session of its own, and has a
 * folder in which everything about it is written down, so that a driver that was killed finds it again.
 *
 *   lock      held by the runner for as long as it lives: the kernel lets go of it whatever happens, and process ids that
 *             were given to somebody else deceive nobody
 *   run.json  what to run
 *   started   by the runner, before the program's first instruction
 *   exit      by the runner, when nothing of it is left
 *   stdout, stderr
 *
 * A folder is started once: one that has been is not started again.
 */
#ifndef FTH_DRIVERS_SUPERVISE_H
#define FTH_DRIVERS_SUPERVISE_H

#include <jansson.h>

#include "base/base.h"

enum fth_run_state {
	FTH_RUN_NONE = 0, /* never started */
	FTH_RUN_STARTING,
	FTH_RUN_RUNNING,
	FTH_RUN_ENDED,    /* by itself, or its time was over */
	FTH_RUN_STOPPED,  /* asked to: its state is as safe as it could make it */
	FTH_RUN_LOST,     /* killed, or the runner was */
};
const char *fth_run_state_name(enum fth_run_state s);

struct fth_run {
	enum fth_run_state state;
	int64_t started, ended; /* since 1970; 0: not yet */
	int exit;               /* as a shell tells it: 128 + signal */
	int pid;                /* of the runner, while it lives */
};

/* spec: "command" (list of texts), "env" (texts by name), "cwd", "uid", "gid", "user", "limit_us", "grace_us", "checkpoint" (command), "bell" (file
 * to touch at its end), "cgroup" (folder to make). */
int fth_run_start(const char *dir, const json_t *spec, struct fth_error *err);
/* What a runner that was killed left behind is ended here, and then told as lost. */
void fth_run_look(const char *dir, struct fth_run *ret);
/* Ask it to save its state and to stop; at once: to end without. */
int fth_run_stop(const char *dir, bool at_once, struct fth_error *err);
/* "DIR/NAME" of the program beside the one that runs now. */
/* -ENOENT and the like: the runner is not there. */
int fth_runner_check(struct fth_error *err);
void fth_program_beside(const char *name, struct fth_str *out);
/* Clock ticks since boot at which this process began; 0: there is none. */
uint64_t fth_process_began(int pid);

#endif
