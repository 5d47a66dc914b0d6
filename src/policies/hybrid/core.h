/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues at workers, probes and late binding: what sparrow, hawk, eagle and cloudcoaster share. See README.md.
 * Internal to this folder.
 */
#ifndef FTH_HYBRID_CORE_H
#define FTH_HYBRID_CORE_H

#include <farthing/policy.h>

#include "policies/hybrid/central.h"
#include "policies/hybrid/draw.h"
#include "policies/hybrid/hints.h"

enum fth_estimates { FTH_ESTIMATE_MEAN = 0, FTH_ESTIMATE_CONSTANT, FTH_ESTIMATE_RANDOM };
enum fth_coaster_step { FTH_STEP_AGGRESSIVE = 0, FTH_STEP_ONE, FTH_STEP_LOOP };
enum fth_coaster_rule { FTH_RULE_TASK = 0, FTH_RULE_JOB, FTH_RULE_NONE };
enum fth_fund { FTH_FUND_RATIO = 0, FTH_FUND_BUDGET };
enum fth_pull { FTH_PULL_SHORT = 0, FTH_PULL_TRANSIENT, FTH_PULL_NONE };
enum fth_coaster_release { FTH_RELEASE_IDLEST = 0, FTH_RELEASE_NEWEST, FTH_RELEASE_OLDEST };

/* The parameters of all these policies; each has the part that concerns it. */
struct fth_hybrid_params {
	int64_t seed, workers, slots;
	fth_time delay, cutoff;
	double probe_ratio, general;
	int64_t min_probes;
	int estimates;
	double off_bottom, off_top;
	int64_t steal_tries, steal_max;
	double bypass_cap;
	bool sticky;
	/* cloudcoaster */
	double r, p, threshold;
	int step, rule, release;
	bool count_pending;
	fth_time drain_after;
	/* surge */
	fth_time target, window, keep;
	double peak, warm;
	int pull, fund;
};

/* What a policy is made of. */
struct fth_hybrid_traits {
	bool long_central, short_central; /* by the central book, else by probes anywhere */
	bool partition;                   /* the first workers take no long work */
	bool steal;
	bool hints;                       /* refusals, bit maps, three rounds of probing */
	bool srpt;                        /* shortest remaining first with a bypass cap, else in order */
	bool transients;
	bool surge;                       /* transients follow the work that waits, not the long-load ratio; idle ones ask for it */
};

struct fth_probe {
	uint32_t job;
	fth_time bypass; /* estimated time of those that went before it though they came later */
};

enum fth_worker_state { FTH_WORKER_UP = 0, FTH_WORKER_DRAINING, FTH_WORKER_TAKEN, FTH_WORKER_OFF, FTH_WORKER_IDLE_NUMBER };

/* One queue. Several workers are slices of one instance if that has room for several. */
struct fth_worker {
	fth_instance_id instance;
	enum fth_worker_state state;
	bool transient;
	uint32_t slice, slices; /* of a gone instance: its numbers are free once nothing is under way to any */
	uint32_t free;       /* slots */
	uint32_t longs;      /* long probes queued */
	uint32_t long_runs;  /* long tasks being executed */
	uint32_t coming;     /* what is under way to it */
	uint32_t hint;       /* bit map kept; FTH_NONE */
	double hint_time;
	struct fth_probe *queue; /* queue[head .. head + len) */
	uint32_t head, len, cap;
};

/* The workers first .. first + n - 1 of an instance that is gone. */
struct fth_idle {
	uint32_t first, n;
};

/* A slot of a worker. */
struct fth_slot {
	fth_task_id task; /* FTH_NONE: none */
	uint32_t job;
	uint64_t order;   /* of its end among what happens at the same time */
	double when;      /* it starts, see struct fth_due */
	fth_time start;
};

struct fth_hjob {
	fth_job_id id;
	fth_task_id first;
	uint32_t ntasks, next; /* handed out so far */
	uint32_t left;         /* not done */
	uint32_t refs;         /* probes and updates that name it */
	uint32_t asked;        /* surge: idle workers on their way to it */
	uint32_t older, newer; /* surge: short jobs with tasks to hand out, by arrival; FTH_NONE */
	bool listed;
	bool is_long, central, live;
	fth_time est, remaining; /* remaining -1: nothing of it is left to hand out */
	FTH_VEC(fth_task_id) back; /* handed out and lost: to be handed out again */
};

enum fth_due_kind { FTH_DUE_PROBE = 0, FTH_DUE_PULL, FTH_DUE_NOOP, FTH_DUE_UPDATE, FTH_DUE_DRAINED };

/*
 * Something of ours at a time to come. Delays are few and fixed, so each has a queue that is in order by itself.
 * What happens at one time happens in the order in which it was set up. The authors' program adds up seconds as floating-point
 * numbers, which puts much of what is at one time a rounding error apart; `when` is that sum, to follow its order.
 */
struct fth_due {
	fth_time at;
	double when;
	uint64_t order;
	enum fth_due_kind kind;
	uint32_t worker, job;
};
struct fth_due_queue {
	fth_time delay;
	double seconds;
	struct fth_due *ring;
	uint32_t head, len, cap;
};
enum { FTH_AT_ONCE = 0, FTH_ONE_WAY, FTH_TWO_WAYS, FTH_DRAIN_WAIT, FTH_NQUEUES };

/* A task that ended in this round. */
struct fth_end {
	double when;
	uint64_t order;
	uint32_t worker, slot;
};

/* Transients that cloudcoaster would have asked for together. */
struct fth_followed {
	fth_time due;
	uint32_t n;
};

struct fth_hybrid {
	const struct fth_hybrid_params *params;
	const struct fth_hybrid_traits *traits;
	const struct fth_view *view; /* of the round */
	struct fth_plan *plan;
	fth_time now;
	double when; /* now, as what happens at present has it */
	struct fth_draw draw;
	uint64_t order;       /* given out so far */
	uint64_t next_arrival; /* order of the next job's arrival */
	struct fth_due_queue queues[FTH_NQUEUES];
	fth_time waking;      /* the wake-up asked for last */

	FTH_VEC(struct fth_worker) workers; /* nstatic that stay, then transients */
	FTH_VEC(struct fth_slot) slots;     /* params->slots each */
	uint32_t nstatic, nshort;           /* of the static ones, the first nshort take no long work */
	FTH_VEC(struct fth_idle) idle;      /* numbers of transients that are gone, to be used again */
	FTH_VEC(uint32_t) up;               /* transients that take probes */
	FTH_VEC(uint32_t) first_worker;     /* by instance - first_instance; FTH_NONE */
	fth_instance_id first_instance;     /* of the fleet */
	uint32_t slices;                    /* workers on a static instance */
	bool launched;
	fth_offer_id offer;                 /* of the static workers */

	struct fth_central central;
	struct fth_hints hints;
	FTH_VEC(struct fth_hjob) jobs;
	FTH_VEC(uint32_t) free_jobs;
	struct fth_map job_of;              /* job id -> jobs[] */
	FTH_VEC(uint32_t) chosen, on_transients; /* scratch of probing */
	FTH_VEC(struct fth_end) ends;       /* of this round */
	FTH_VEC(fth_job_id) arrivals;
	FTH_VEC(struct fth_event) gone;     /* instances, dealt with when what ended on them is */
	uint32_t oldest, newest;            /* of the listed jobs */
	fth_time short_work;                /* estimated, of short tasks not handed out */
	struct fth_coaster *coaster;        /* the transients; NULL: none */
	/* surge */
	double rate;                        /* short work arriving per time, fading with the window */
	fth_time rate_at;
	double bank;                        /* worker time it might have paid for and did not, so far */
	fth_time bank_at;
	uint32_t bank_in, bank_out;         /* workers that pay in and that are paid, since then */
	uint32_t followed;                  /* transients that cloudcoaster would have now, or have asked for */
	uint32_t followed_coming;           /* of those, not there yet */
	FTH_VEC(struct fth_followed) followed_asked; /* in order; those before first_asked have come */
	size_t first_asked;
	fth_time lag;                       /* the last machine took so long to come */
};

/* core.c */
int fth_hybrid_new(void **self, const struct fth_view *view, const struct fth_hybrid_params *p,
		   const struct fth_hybrid_traits *t);
int fth_hybrid_decide(void *self, const struct fth_round *round, struct fth_plan *plan);
void fth_hybrid_free(void *self);
void fth_hybrid_later(struct fth_hybrid *h, int queue, enum fth_due_kind kind, uint32_t worker, uint32_t job);
/* A probe of the job is sent to a worker: there after one delay, or two. */
void fth_hybrid_send(struct fth_hybrid *h, uint32_t worker, uint32_t job, int queue);
void fth_hybrid_unref(struct fth_hybrid *h, uint32_t job);
bool fth_hybrid_has_task(const struct fth_hjob *j);
/* Take tasks for the worker's free slots. */
void fth_hybrid_serve(struct fth_hybrid *h, uint32_t w);
/* New workers, the n slices of an instance; the first one's number. */
uint32_t fth_hybrid_add_workers(struct fth_hybrid *h, fth_instance_id i, uint32_t n, bool transient);
/* The workers of a transient instance are no more. */
void fth_hybrid_retire(struct fth_hybrid *h, uint32_t first, uint32_t n);
/* The task did not get done where it was handed out: it is handed out again. */
void fth_hybrid_give_back(struct fth_hybrid *h, uint32_t job, fth_task_id task);
/* A static worker that takes short work, for what must not be on a transient. */
uint32_t fth_hybrid_safe_worker(struct fth_hybrid *h);

/* queue.c */
void fth_queue_push(struct fth_hybrid *h, uint32_t w, struct fth_probe p);
void fth_queue_remove(struct fth_worker *w, uint32_t k);
/* Which probe is next; UINT32_MAX: none is left. Dead ones are dropped on the way. */
uint32_t fth_queue_choose(struct fth_hybrid *h, uint32_t w);
/* Take over short probes that are stuck behind long ones elsewhere. */
bool fth_queue_steal(struct fth_hybrid *h, uint32_t w);

/* probe.c: where the probes of a new job go. */
void fth_hybrid_arrive(struct fth_hybrid *h, uint32_t job);
bool fth_hybrid_refuses(const struct fth_worker *w);

/* surge.c: transients by the work that waits, and idle workers that ask for it. */
void fth_surge_list(struct fth_hybrid *h, uint32_t job);   /* it has tasks to hand out */
void fth_surge_unlist(struct fth_hybrid *h, uint32_t job); /* it has none */
void fth_surge_pull(struct fth_hybrid *h, uint32_t w);     /* the worker is idle */
/* The long load may have changed: what would the long-load ratio buy with this budget? */
void fth_surge_follow(struct fth_hybrid *h, uint32_t budget);
/* So many transient workers are paid from now on. */
void fth_surge_pay(struct fth_hybrid *h, uint32_t have, uint32_t budget);
/* How many transient workers there should be. */
uint32_t fth_surge_wanted(struct fth_hybrid *h, uint32_t budget);
/* Share of the workers that have long work. */
double fth_coaster_long_load(const struct fth_hybrid *h);
void fth_surge_arrival(struct fth_hybrid *h, const struct fth_hjob *j);

/* coaster.c: the transient part of the short partition. */
struct fth_coaster *fth_coaster_new(uint32_t replaced);
void fth_coaster_free(struct fth_coaster *c);
/* It is gone; what ended on it is dealt with first. */
void fth_coaster_doomed(struct fth_hybrid *h, fth_instance_id id);
/* True if the event was about a transient. */
bool fth_coaster_event(struct fth_hybrid *h, const struct fth_event *ev);
void fth_coaster_offer_changed(struct fth_hybrid *h);
/* The long load may have changed. */
void fth_coaster_look(struct fth_hybrid *h);
/* A slot of a draining worker was freed, or its wait is over. */
void fth_coaster_drained(struct fth_hybrid *h, uint32_t w);
/* A short job came. */
void fth_coaster_job(struct fth_hybrid *h, const struct fth_hjob *j);
void fth_coaster_round(struct fth_hybrid *h);

#endif
