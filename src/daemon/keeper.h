/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: the thread that owns the engine and its journal, and with them all that is wanted. It holds what the drivers list against what
 * the engine says: differences are fed as events, and what is missing in the world is asked for, after it was committed. What follows is the
 * keeper's own; only keeper_run, the picture and the calls are for others.
 *
 *   sides.c    requests and answers, lists when they are due
 *   mirror.c   what the drivers list, as records
 *   happen.c   what happened, as events in the order of their times
 *   starts.c   which bound tasks can start now
 *   acts.c     what to ask of the drivers, by level
 *   calls.c    what users ask for
 *   books.c    what is remembered beside the journal's lines
 */
#ifndef FTH_DAEMON_KEEPER_H
#define FTH_DAEMON_KEEPER_H

#include "daemon/config.h"
#include "daemon/learn.h"
#include "daemon/loop.h"
#include "daemon/mailbox.h"
#include "daemon/picture.h"
#include "report/bill.h"
#include "store/live.h"

/* ---- what drivers list ---- */

enum fth_listed_state { FTH_LISTED_NOT = 0, FTH_LISTED_REQUESTED, FTH_LISTED_BOOTING, FTH_LISTED_READY, FTH_LISTED_TERMINATING, FTH_LISTED_GONE };

/* One token of the capacity driver's: an attempt to have an instance. */
struct fth_rented {
	char *token, *node;
	fth_instance_id id;      /* FTH_NONE: not of our books */
	bool current;            /* the attempt that counts for that instance */
	enum fth_listed_state state;
	int64_t acquired, ready, gone, take_at; /* since 1970; 0: not */
	bool taken;
	char *error;
	enum fth_launch_failure why;
	uint64_t launching;      /* the request under way; 0: none */
	uint64_t launched_by;    /* the request that was answered well; lists asked for after it show the token */
	int64_t ask_again;       /* terminate, forget: not before (ns) */
	enum { FTH_NODE_UNTOLD, FTH_NODE_UP, FTH_NODE_DRAIN, FTH_NODE_DOWN } told; /* the workload's manager, of the node */
	bool seen;               /* in the list being read */
	bool foreign;            /* not a token of this cluster: told once, and left alone */
	int64_t end_seen_ns;     /* when we learnt that it is gone while tasks are on it; 0: not */
	uint64_t end_seen_id;    /* the workload's last request by then */
};

enum fth_run_seen { FTH_SEEN_NOT = 0, FTH_SEEN_STARTING, FTH_SEEN_RUNNING, FTH_SEEN_ENDED, FTH_SEEN_STOPPED, FTH_SEEN_LOST };

struct fth_listed_run {
	char *name;
	uint32_t task, attempt;  /* FTH_NONE: not one of our names */
	fth_job_id job;
	enum fth_run_seen state;
	int64_t started, ended;
	int exit;
	int64_t ask_again;       /* stop: not before (ns) */
};

struct fth_listed_job {
	char *key;
	json_t *doc;             /* as listed last */
	fth_job_id id;           /* in the engine; FTH_NONE: not submitted (any more) */
	bool over;               /* its end is in the journal */
	bool refused;            /* no type holds it: told once */
	bool overdue;            /* over, and after a while its driver still has it waiting */
	enum { FTH_JOB_WAITS, FTH_JOB_HELD, FTH_JOB_ENDED, FTH_JOB_CANCELLED } state;
	FTH_VEC(struct fth_listed_run) runs;
	int64_t ask_again;       /* cancel, forget: not before (ns) */
	unsigned not_started;    /* starts in a row that came to nothing */
	int64_t aside_until;     /* it is not let in before (ns) */
	bool seen;
	bool gone;               /* the driver no longer knows it */
};

/* Our side of a task of an unfinished job. */
struct fth_begun {
	fth_task_id task;
	uint32_t attempt;        /* of the run that counts; 0: none yet */
	uint64_t starting;       /* the request under way */
	uint64_t started_by;     /* the request that was answered well */
	fth_time not_before;     /* the policy's */
	int64_t wait_until;      /* after a start that failed (ns) */
	unsigned failures;
};

/* ---- the two drivers ---- */

enum fth_op { FTH_OP_HELLO, FTH_OP_LIST, FTH_OP_LAUNCH, FTH_OP_TERMINATE, FTH_OP_FORGET_TOKEN, FTH_OP_START, FTH_OP_STOP, FTH_OP_CANCEL, FTH_OP_SUBMIT,
	      FTH_OP_NODE, FTH_OP_FORGET_JOB };

struct fth_asked {
	uint64_t id;
	enum fth_op op;
	char *what;              /* a token or a job's key */
	struct fth_call *call;   /* who waits for the answer */
	FTH_VEC(fth_task_id) tasks; /* start: of these */
	int64_t since_ns;
};

struct fth_side {
	bool up, greeted, synced; /* synced: all of it was listed since it is up */
	uint32_t session;
	uint64_t next_id, last_list; /* the request whose answer was taken last */
	int64_t mark;
	bool list_wanted, listing;
	int64_t next_list_ns, listed_ns;
	int64_t list_ok_ns;       /* when a list of it was taken last */
	int64_t heard_ns;         /* when it said something last */
	bool given_up;            /* it is to be ended */
	FTH_VEC(struct fth_asked) asked; /* not answered yet, in order */
	json_t *nodes;            /* names of nodes by type; NULL: it has none of its own */
};

struct fth_offer_retry {
	unsigned failures;
	int64_t until_ns;         /* it is unavailable until then; 0: it is not */
};

struct fth_keeper {
	struct fth_config *cfg;
	struct fth_mailbox mail;
	struct fth_outbox out;
	struct fth_loop_lag lag;
	struct fth_pictures pictures;
	struct fth_world world;   /* as configured */
	struct fth_live *live;
	struct fth_engine *engine;
	const struct fth_cluster *cluster;
	struct fth_biller *biller;
	struct fth_learner *learner;
	struct fth_tally *tally;
	fth_time now;             /* of this turn, by the journal's clock */
	int64_t now_ns;           /* of the counting clock */
	int64_t epoch;
	bool paused, stopping, dry_run, once_synced;
	char *journal;            /* its path */
	const char *journal_dir;  /* NULL: the state's */
	int failed;               /* exit code, once it is more than 0 */
	struct fth_error err;
	struct fth_side side[FTH_NROLES];
	FTH_VEC(struct fth_rented *) rented;
	struct fth_map by_token;  /* hash -> index into rented */
	struct fth_map by_instance; /* the current attempt */
	FTH_VEC(struct fth_listed_job *) jobs;
	struct fth_map by_key;
	struct fth_map by_job;    /* engine's id -> index */
	struct fth_map recovered; /* hash of a name -> id: jobs that were unfinished when the journal was opened */
	FTH_VEC(struct fth_begun) begun;
	struct fth_map by_task;
	struct fth_map node_states; /* by name's hash: 0 absent, 1 ready, 2 down, 3 leaving, 4 booting */
	FTH_VEC(uint32_t) free_begun;
	FTH_VEC(struct fth_offer_retry) offers;
	int64_t hold_launches_ns; /* throttled: none before */
	unsigned throttled;
	struct fth_keeper_stats {
		uint64_t launches_failed[5]; /* by reason */
		uint64_t drivers_lost, requests_failed, refused_events, commits;
		int64_t round_ns, round_worst_ns, commit_worst_ns;
		uint64_t rounds, round_buckets[8];
	} stats;
	int64_t published_ns;
	bool dirty;               /* since the last picture */
};

/* Open the journal and all. The keeper then is to be run in a thread of its own. */
int fth_keeper_open(struct fth_keeper *k, struct fth_config *cfg, struct fth_error *err);
void fth_keeper_run(struct fth_keeper *k);
/* One turn of it, after messages were heard: take in what happened, decide, commit, ask. For tests; run does it by itself. */
void fth_keeper_settle(struct fth_keeper *k);
/* Make durable what was done in this turn so far; false: it failed, and the keeper ends. */
bool fth_keeper_commit(struct fth_keeper *k);
void fth_keeper_close(struct fth_keeper *k);

/* sides.c */
void fth_side_up(struct fth_keeper *k, enum fth_role role, uint32_t session);
void fth_side_down(struct fth_keeper *k, enum fth_role role);
void fth_side_line(struct fth_keeper *k, enum fth_role role, const char *line, size_t n);
/* Ask; request is taken over and gets its op and id. */
struct fth_asked *fth_side_ask(struct fth_keeper *k, enum fth_role role, enum fth_op op, json_t *request, const char *what);
void fth_side_lists(struct fth_keeper *k);
/* One that is asked and says nothing for too long is started again; well: it answers, and lists. */
void fth_side_watch(struct fth_keeper *k);
bool fth_side_is_well(const struct fth_keeper *k, enum fth_role role);
int64_t fth_side_due_ns(const struct fth_keeper *k);
void fth_asked_release(struct fth_asked *a);
void fth_side_answered(struct fth_keeper *k, enum fth_role role, struct fth_asked *a, const json_t *answer);

/* mirror.c */
void fth_mirror_instances(struct fth_keeper *k, const json_t *list, bool full);
void fth_mirror_jobs(struct fth_keeper *k, const json_t *list, const json_t *nodes, bool full);
struct fth_rented *fth_rented_by_token(struct fth_keeper *k, const char *token);
struct fth_rented *fth_rented_of(const struct fth_keeper *k, fth_instance_id id);
struct fth_rented *fth_rented_add(struct fth_keeper *k, const char *token);
void fth_rented_remove(struct fth_keeper *k, struct fth_rented *r);
uint64_t fth_key_hash(const char *s);
struct fth_listed_job *fth_job_by_key(const struct fth_keeper *k, const char *key);
struct fth_listed_job *fth_job_by_id(const struct fth_keeper *k, fth_job_id id);
void fth_job_remove(struct fth_keeper *k, struct fth_listed_job *j);
void fth_job_set_id(struct fth_keeper *k, struct fth_listed_job *j, fth_job_id id);
/* The run of this attempt, NULL if it is not listed; and whether an earlier one of the task is alive. */
struct fth_listed_run *fth_run_of(struct fth_listed_job *j, uint32_t index, uint32_t attempt);
/* A run of this task, of whatever attempt, that has ended by itself. */
const struct fth_listed_run *fth_run_ended(const struct fth_listed_job *j, uint32_t index);
bool fth_run_lingers(const struct fth_listed_job *j, uint32_t index, uint32_t attempt);
bool fth_node_is_ready(const struct fth_keeper *k, const char *node);
/* Its name is free: the workload's manager has put it to rest, or never told of it. */
bool fth_node_is_absent(const struct fth_keeper *k, const char *node);
static inline bool fth_seen_alive(enum fth_run_seen s)
{
	return s == FTH_SEEN_STARTING || s == FTH_SEEN_RUNNING;
}

/* happen.c */
/* The name under which the engine has, or will have, a listed job. */
void fth_engine_key(const struct fth_keeper *k, const struct fth_listed_job *j, struct fth_str *out);
void fth_happen(struct fth_keeper *k);
/* Feed one event, at this time since 1970 as near as order allows. */
int fth_happen_feed(struct fth_keeper *k, struct fth_event ev, int64_t at);
void fth_happen_launch_failed(struct fth_keeper *k, struct fth_rented *r, enum fth_launch_failure why, const char *text);
void fth_happen_done(struct fth_keeper *k, const struct fth_task *t, const struct fth_listed_run *run, struct fth_listed_job *lj);
/* A start of this job came to nothing: after some, it is put aside for a while, so that nothing is rented for what cannot run. */
void fth_happen_not_started(struct fth_keeper *k, struct fth_listed_job *j);
void fth_happen_task_lost(struct fth_keeper *k, const struct fth_task *t, int64_t at);
void fth_retry_offers(struct fth_keeper *k);
int64_t fth_retry_due_ns(const struct fth_keeper *k);

/* starts.c */
bool fth_starts(struct fth_keeper *k);

/* acts.c */
void fth_acts(struct fth_keeper *k);
void fth_acts_failed(struct fth_keeper *k, enum fth_role role, struct fth_asked *a, const json_t *answer);

/* calls.c */
void fth_call_take(struct fth_keeper *k, struct fth_call *c);
void fth_call_done(struct fth_keeper *k, struct fth_asked *a, const json_t *answer);

/* intake.c: a job out of JSON (a driver's list, or what a user submits), as a world of its own with a workload of one, to be released whatever
 * comes of it. */
int fth_job_read(struct fth_world *w, const struct fth_cluster *c, const json_t *doc, const char *key, fth_time submit, struct fth_error *err);

/* books.c */
struct fth_begun *fth_begun_of(struct fth_keeper *k, fth_task_id task); /* made if it is not there */
void fth_begun_drop(struct fth_keeper *k, fth_task_id task);
void fth_begun_save(struct fth_keeper *k, const struct fth_begun *b);
void fth_rented_save(struct fth_keeper *k, fth_instance_id id, uint32_t attempt, const char *node);
/* Whether this token could be one of this cluster's, of this journal or of another. */
bool fth_token_is_ours(const struct fth_keeper *k, const char *token);
/* The attempt under way for an instance that is not gone; made and written down if there is none. NULL: no node name is left. */
struct fth_rented *fth_rented_now(struct fth_keeper *k, const struct fth_instance *i);
/* Another attempt for the same instance. */
void fth_rented_again(struct fth_keeper *k, fth_instance_id id);
void fth_rented_ended(struct fth_keeper *k, fth_instance_id id);
void fth_books_load(struct fth_keeper *k);
void fth_offer_name(const struct fth_cluster *c, fth_offer_id id, struct fth_str *out);
uint32_t fth_task_index(const struct fth_keeper *k, const struct fth_task *t);
void fth_run_name(const struct fth_keeper *k, const struct fth_task *t, uint32_t attempt, struct fth_str *out);
bool fth_run_parse(const struct fth_keeper *k, const char *name, fth_job_id *job, uint32_t *index, uint32_t *attempt);

/* policy changes on reload: reload.c */
void fth_keeper_reload(struct fth_keeper *k);
int fth_keeper_reprice(struct fth_keeper *k, const struct fth_world *w, struct fth_error *err);

#endif
