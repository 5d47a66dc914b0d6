/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a live cluster: the lines of journal.h in an SQLite database (WAL), written as things
 * happen and committed before anything is done about them. It is the daemon's only memory: opening it
 * again feeds its lines to a fresh engine, whose cluster, ledger and policy are then as they were.
 *
 *   head(name, text)    'cluster', 'epoch', 'policy', 'fallback', 'limits', 'catalog', 'profile', ...
 *   lines(seq, text)    as in a text journal; and, since jobs come one by one,
 *                         K kind K0 label=...        a kind that the next job names
 *                         J job 17 submit=... ...    a job, before its S line
 *                         O 12000000 accepted drain instance=i3 by=ann  an operator's order
 *                         P 12000000 eva:round=60s   another policy is in charge from here on
 *                         L 12000000 usd_per_hour=2000000000 ...       other limits from here on
 *   facts(name, text)   what the daemon must remember of the world, e.g. which node an instance got
 *
 * Beside it: PATH.lock (one writer), PATH.tip (how far it had come, so that a lost end is found).
 *
 * Not thread-safe: one thread owns it, and with it the engine.
 */
#ifndef FTH_STORE_LIVE_H
#define FTH_STORE_LIVE_H

#include "engine/engine.h"
#include "engine/registry.h"
#include "model/world.h"

struct fth_live;

struct fth_live_head {
	const char *cluster;            /* its name */
	const struct fth_world *world;  /* catalog and profile count; its workload is not looked at */
	const char *policy;             /* as a user would write it */
	const struct fth_policy_ops *const *table;
	const struct fth_policy_ops *fallback;
	struct fth_limits limits;
	int64_t epoch_us;               /* now, since 1970: what the clock's zero is if the journal is new */
	int64_t decide_limit_ns;
	int64_t (*clock_ns)(void);      /* for the time decisions take */
	struct fth_observer *observers; /* a list (linked by next) that watches the engine from the journal's first line on */
};

/* Make it, or open it again and recover. -EBUSY: another process has it. -EBADMSG: damaged; nothing was
 * changed, the error says where. -ESTALE: it belongs to another cluster or another catalog (but for prices, which
 * the caller feeds as events). If policy or
 * limits differ from those it was written under, the new ones are put in charge (P and L lines). */
int fth_live_open(struct fth_live **ret, const char *path, const struct fth_live_head *head, struct fth_error *err);
/* What was not committed is lost. */
void fth_live_close(struct fth_live *l);

/* Feed events and ask for rounds here: what they say is recorded. */
struct fth_engine *fth_live_engine(struct fth_live *l);
/* The world as the journal holds it; jobs and kinds are added as they come. */
const struct fth_world *fth_live_world(const struct fth_live *l);
/* What the clock's zero is, in microseconds since 1970. */
int64_t fth_live_epoch(const struct fth_live *l);
/* When the last thing happened: time must not go back behind it. */
fth_time fth_live_now(const struct fth_live *l);

/* Whether a job with this key was ever submitted. */
bool fth_live_knows(const struct fth_live *l, const char *key);
/* A job arrives: job number `job` of a workload with symbols and kinds of its own. -EEXIST: a job with this key was submitted before. -EINVAL: no type holds one of its tasks. */
int fth_live_submit(struct fth_live *l, fth_time now, const struct fth_workload *from, uint32_t job, fth_time estimate,
		    fth_job_id *ret, struct fth_error *err);
/* An operator's order: drain or terminate an instance, preempt a task. */
enum fth_refusal fth_live_order(struct fth_live *l, fth_time now, const struct fth_action *order, const char *by);
int fth_live_change_policy(struct fth_live *l, fth_time now, const char *policy, struct fth_error *err);
int fth_live_change_limits(struct fth_live *l, fth_time now, const struct fth_limits *limits, struct fth_error *err);

/* The policy in charge, as written. */
const char *fth_live_policy(const struct fth_live *l);

/* Remembered facts, in the same transaction as the lines. NULL value: forget it. */
void fth_live_put(struct fth_live *l, const char *name, const char *value);
const char *fth_live_get(const struct fth_live *l, const char *name);

/* Make everything since the last commit durable. Act only after it. When it fails, memory and journal differ: close
 * it, and open it again to be what the journal says. */
int fth_live_commit(struct fth_live *l, struct fth_error *err);
uint64_t fth_live_lines(const struct fth_live *l);

/* Whether this file is a live journal; and the whole of it as a text journal, for replay and explain. */
bool fth_live_is(const char *path);
int fth_live_text(const char *path, struct fth_str *ret, struct fth_error *err);

#endif
