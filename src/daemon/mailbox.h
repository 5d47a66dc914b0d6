/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the daemon's threads talk: the loop (pipes, signals) and the API put messages into the keeper's mailbox, the keeper puts lines for the
 * drivers into the outbox. Nobody waits for anybody but for the moment it takes to link a message in.
 */
#ifndef FTH_DAEMON_MAILBOX_H
#define FTH_DAEMON_MAILBOX_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/base.h"
#include "daemon/config.h"

/* ---- a call of the API: who asks waits for the answer ---- */

enum fth_call_kind { FTH_CALL_SUBMIT, FTH_CALL_CANCEL, FTH_CALL_BILL, FTH_CALL_DRAIN, FTH_CALL_PAUSE, FTH_CALL_RESUME };

struct fth_call {
	enum fth_call_kind kind;
	char *what;         /* a job's key, an instance's name */
	json_t *body;
	char by[64];        /* who asks */
	int64_t uid, gid;   /* -1: unknown */
	/* The answer. */
	int status;         /* of HTTP; 0: none yet */
	struct fth_str text; /* JSON */
	/* Its own. */
	atomic_int users;
	pthread_mutex_t lock;
	pthread_cond_t done;
};
struct fth_call *fth_call_new(enum fth_call_kind kind);
void fth_call_drop(struct fth_call *c); /* one of the two has done with it */
/* Answer it, once; text is JSON and taken over. */
void fth_call_answer(struct fth_call *c, int status, struct fth_str text);
/* {"error": "..."} */
void fth_call_refuse(struct fth_call *c, int status, const char *fmt, ...) FTH_PRINTF(3, 4);
/* Wait for the answer; false: none in time. */
bool fth_call_wait(struct fth_call *c, int64_t limit_us);

/* ---- the mailbox ---- */

enum fth_message_kind { FTH_MSG_UP, FTH_MSG_DOWN, FTH_MSG_LINE, FTH_MSG_CALL, FTH_MSG_RELOAD, FTH_MSG_STOP };

struct fth_message {
	enum fth_message_kind kind;
	enum fth_role role;
	char *line; /* the receiver's */
	size_t len;
	struct fth_call *call;
};

struct fth_mailbox {
	pthread_mutex_t lock;
	pthread_cond_t some;
	FTH_VEC(struct fth_message) list;
	bool closed; /* nobody takes from it any more: calls are refused */
};
void fth_mailbox_init(struct fth_mailbox *m);
void fth_mailbox_release(struct fth_mailbox *m);
void fth_mailbox_put(struct fth_mailbox *m, struct fth_message what);
/* The receiver ends: calls that are in it, and those that come, are refused at once. */
void fth_mailbox_close(struct fth_mailbox *m);
/* All there is, in order, put behind what is in `to`; waits until there is some or until this time of fth_clock_ns. */
typedef FTH_VEC(struct fth_message) fth_messages;
void fth_mailbox_take(struct fth_mailbox *m, fth_messages *to, int64_t until_ns);

/* ---- lines for the drivers ---- */

struct fth_outgoing {
	enum fth_role role;
	uint32_t session; /* of the driver for which it was made: another one does not get it */
	char *line;       /* with its end; NULL: end it, it is started again */
	const char *why;  /* then */
	size_t len;
};
struct fth_outbox {
	pthread_mutex_t lock;
	FTH_VEC(struct fth_outgoing) list;
	int bell; /* an eventfd: something is in it */
	atomic_bool over; /* the keeper has ended */
};
int fth_outbox_init(struct fth_outbox *o);
void fth_outbox_release(struct fth_outbox *o);
void fth_outbox_put(struct fth_outbox *o, struct fth_outgoing what);
typedef FTH_VEC(struct fth_outgoing) fth_outgoings;
/* All there is, in order, put behind what is in `to`. */
void fth_outbox_take(struct fth_outbox *o, fth_outgoings *to);
void fth_outbox_ring(struct fth_outbox *o);

#endif
