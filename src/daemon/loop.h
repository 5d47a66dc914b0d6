/* SPDX-License-Identifier: Apache-2.0 */
/* The main thread: pipes, signals, timers. It only carries things about, so that it is never long in coming back. */
#ifndef FTH_DAEMON_LOOP_H
#define FTH_DAEMON_LOOP_H

#include <stdatomic.h>

#include "daemon/config.h"
#include "daemon/mailbox.h"

/* How long it was away at most since the last look, and ever; nanoseconds. */
struct fth_loop_lag {
	atomic_llong worst, last_tick_ns;
};

/* Runs until the keeper has ended (the outbox says so). SIGTERM and SIGINT ask the keeper to stop, SIGHUP to reload; they must be blocked in
 * every thread. 0, or -errno: no driver could be started. */
int fth_loop_run(const struct fth_config *c, struct fth_mailbox *to_keeper, struct fth_outbox *from_keeper, struct fth_loop_lag *lag,
		 struct fth_error *err);

#endif
