/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch queue of rigid jobs on whole nodes rented from one or several clouds: what individual, nowait, local and sec
 * share. batch.c keeps the state in step with events, schedule.c dispatches and backfills, acquire.c decides
 * how many nodes to ask for, from whom, and which to let go; sec.c has the policies' tables.
 */
#ifndef FTH_POLICIES_SEC_BATCH_H
#define FTH_POLICIES_SEC_BATCH_H

#include <farthing/policy.h>

#include "base/base.h"
#include "policies/sec/order.h"

enum sec_mode { SEC_INDIVIDUAL, SEC_NOWAIT, SEC_LOCAL, SEC_ELASTIC };
enum sec_order { SEC_FCFS, SEC_SHORTEST, SEC_PRIORITY };
enum sec_backfill { SEC_EASY, SEC_CONSERVATIVE, SEC_NO_BACKFILL };
enum sec_size { SEC_FIRST_SIZE, SEC_SUM_SIZE, SEC_BEST_SIZE };
enum sec_placement { SEC_RANDOM, SEC_MAX_MARGIN, SEC_MIN_MARGIN, SEC_MAX_IDLE, SEC_MIN_IDLE };
enum sec_predict { SEC_FROM_SUBMISSION, SEC_FROM_NOW };

/* All that any of the four may be told; each has a table of those that mean something to it. */
struct sec_params {
	int order, backfill, size, placement, predict, contract;
	fth_time t_wait, t_short, check;
	bool on_ready, clouds, reuse, punctual;
	int64_t nodes, max_nodes, depth;
	double level_weight, age_weight, size_weight;
	int64_t reserved;
	double reserved_price;
};

/* Machines of one offer. A job runs on those of one cloud. */
struct sec_cloud {
	fth_offer_id offer;
	FTH_VEC(uint32_t) idle;    /* instance slots */
	struct fth_order releases; /* by time: estimated ends of running jobs, and booting nodes */
	uint32_t nodes, booting;   /* not leaving; of them not up yet and nobody's */
	double month_hours;        /* node-hours in the present month */
};

struct sec_node {
	fth_instance_id id;
	uint32_t cloud;
	uint32_t at;       /* index in the idle list; FTH_NONE: not idle */
	uint32_t request;  /* of booting nodes: the request they came with */
	fth_job_id job;    /* whose it is; FTH_NONE: anybody's */
	fth_sym user;      /* who rented it, if a job did */
	fth_time meter;    /* when its bill began; FTH_NEVER: not yet */
	fth_time idle_since;
	bool leaving;
};

struct sec_job {
	fth_job_id id; /* FTH_NONE: not known */
	int64_t key;   /* in the queue */
	fth_time end;  /* estimated; key of its release */
	uint32_t cloud;
	bool queued, running;
	uint32_t left; /* tasks not ended */
};

/* A request whose nodes have not all come up. */
struct sec_request {
	uint32_t cloud, count, left, id;
	fth_instance_id first;
	fth_job_id job; /* FTH_NONE: anybody's */
	int64_t key;
	bool open;
};

struct sec {
	enum sec_mode mode;
	const struct sec_params *params;
	FTH_VEC(struct sec_cloud) clouds;
	FTH_VEC(struct sec_node) nodes; /* by instance slot */
	FTH_VEC(struct sec_job) jobs;   /* by job slot */
	FTH_VEC(struct sec_request) requests;
	FTH_VEC(uint32_t) open_requests; /* those whose left changed in this round */
	struct fth_order queue;
	uint64_t long_nodes; /* wanted by the queued jobs longer than t_short */
	bool started;        /* local: its nodes were asked for */
	uint32_t lost;       /* nodes that went or could not be had, in this round: local puts others in their place */
	bool trigger;        /* something happened in this round after which it may acquire */
	size_t known;        /* requests whose nodes we have seen */
	fth_time month_from, last;
	fth_time looked; /* the wake-up asked for on behalf of the first in the queue */
	fth_time next_check, woken; /* not before then is an idle node to be let go; the wake-up asked for */
	/* Of the round. */
	const struct fth_view *view;
	struct fth_plan *plan;
	fth_time now;
	FTH_VEC(struct sec_pick) picks;
	FTH_VEC(struct sec_step) profile;
};

/* Scratch of a choice of nodes, and of a free profile: from then on so many are free. */
struct sec_pick {
	int64_t key;
	uint32_t slot;
};
struct sec_step {
	fth_time at;
	int64_t free;
};

/* batch.c */
int sec_choose_clouds(struct sec *s, const struct fth_view *v);
/* Nodes asked for in the last round have slots now, or were refused. */
void sec_meet_nodes(struct sec *s);
void sec_take_events(struct sec *s, const struct fth_round *round);
struct sec_job *sec_job_of(struct sec *s, const struct fth_job *j);
struct sec_node *sec_node_at(struct sec *s, uint32_t slot);
const struct fth_billing *sec_billing(const struct sec *s, const struct sec_cloud *c);
void sec_idle_add(struct sec *s, uint32_t slot);
void sec_idle_remove(struct sec *s, uint32_t slot);
void sec_enqueue(struct sec *s, const struct fth_job *j);
void sec_dequeue(struct sec *s, const struct fth_job *j);
/* How much of its paid time the node has left now. */
fth_time sec_margin(const struct sec *s, const struct sec_node *n);
/* Idle nodes wait for another job rather than go at once. */
bool sec_keeps_idle(const struct sec *s);
void sec_release(struct sec *s);

/* schedule.c */
void sec_schedule(struct sec *s);
/* At most n of the cloud's idle nodes that the job may have, by the placement rule and in its order: into picks. */
void sec_pick_idle(struct sec *s, struct sec_cloud *c, uint32_t n, const struct fth_job *j);
void sec_start(struct sec *s, const struct fth_job *j, uint32_t cloud);
/* When the job's nodes will be there, and how many are then to spare; FTH_NEVER: never as things are. */
fth_time sec_predict(const struct sec *s, const struct sec_cloud *c, uint32_t size, uint64_t *ret_spare);
/* The earliest time from which `size` nodes are free for `length`, in a profile that ends with its last step. */
fth_time sec_profile_find(const struct sec_step *p, size_t n, uint32_t size, fth_time length);
/* Take them away over that time; returns the new number of steps (at most two more; p has room for them). */
size_t sec_profile_take(struct sec_step *p, size_t n, fth_time from, uint32_t size, fth_time length);

/* acquire.c */
void sec_acquire(struct sec *s);
void sec_let_go(struct sec *s);
fth_time sec_check_time(const struct sec *s, const struct sec_node *n);
/* Ask for n nodes; with a job they are its own from the start. */
fth_instance_id sec_ask(struct sec *s, uint32_t cloud, uint32_t n, const struct fth_job *owner);
/* Cheapest cloud for a job of this size now, by what the next nodes would cost there: among those where so many are idle, or
 * (asked: how many were chosen before it, by cloud) where the limit leaves room for them. The cheapest of all if none has. */
uint32_t sec_cheapest(const struct sec *s, uint32_t size, const uint64_t *asked);

#endif
