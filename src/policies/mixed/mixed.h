/* SPDX-License-Identifier: Apache-2.0 */
/* Services that must have their capacity, batch work on what is left: what the three policies of this folder share. */
#ifndef FTH_POLICIES_MIXED_H
#define FTH_POLICIES_MIXED_H

#include <farthing/policy.h>

#include "base/base.h"
#include "optimize/spot.h"

enum mixed_batch { BATCH_STUCK = 0, BATCH_NONE, BATCH_SPOT, BATCH_ON_DEMAND };
enum mixed_pool { POOL_SEARCH = 0, POOL_TR, POOL_TR_ARTIFACT };

struct mixed_params {
	double availability;
	double failure;
	int pool;        /* enum mixed_pool */
	int batch;       /* enum mixed_batch */
	bool checkpoint;
};

/* One instance at a round, with the room that is left on it while the plan is made. */
struct mixed_spot {
	fth_instance_id id;
	fth_type_id type;
	fth_offer_id offer;
	bool ready;
	struct fth_res room;
};

/* This plan sends a task of the group to the instance. */
struct mixed_apart {
	fth_instance_id instance;
	fth_sym group;
};

/* A service, in the order in which they are served: those that must be there most go first. */
struct mixed_service {
	fth_job_id job;
	double target;
};

/* Tasks of services that are alike: what is counted is tasks, and what a machine is worth is how many of them it holds. */
struct mixed_group {
	fth_kind_id kind;
	bool apart; /* never two on a machine */
	uint32_t tasks;
};

struct mixed {
	const struct mixed_params *params;
	bool transient;      /* services on transient machines */
	uint32_t noffers;
	uint32_t *want;      /* machines of each offer that the services' pool holds */
	uint32_t *have;      /* of each offer, this round */
	fth_time *up, *seen; /* of each offer: time for which it could be had, of the time watched */
	bool *was_up;
	fth_time watched;    /* up to here */
	bool replan;         /* the services have changed */
	/* The pool planned last, if there was one, of spot machines only: what a later one grows from. */
	struct mixed_group grown_for; /* tasks 0: none */
	double grown_target;
	FTH_VEC(struct mixed_service) services;
	bool unserved;       /* some service task found no place last time */
	FTH_VEC(struct mixed_spot) board;
	FTH_VEC(struct mixed_apart) apart;
	struct fth_map sent; /* batch tasks that this plan sends away */

	/* batch.c */
	bool displaced;              /* a task may have lost its place since the list below was made */
	FTH_VEC(fth_task_id) again;  /* tasks that wait again, by the order in which their jobs came */
	bool imagined;               /* the two below are of the pool as it is wanted now */
	FTH_VEC(struct mixed_spot) ideal; /* the pool when all of it is there and holds the services */
	struct fth_map holds;        /* whether that has room for a task's kind, or (from 2^32 on) for a whole job */
};

/* pool.c: what to hold for the services. */
/* Share of time for which the service must be there: its own, or what the policy is told. */
double mixed_target(const struct mixed *m, const struct fth_job *j);
void mixed_watch(struct mixed *m, const struct fth_round *round);
int mixed_plan_pool(struct mixed *m, const struct fth_view *v, struct fth_plan *plan);

/* mixed.c: machines and the room on them while a plan is made. */
fth_price mixed_price(const struct fth_view *v, fth_offer_id o);
/* What the task needs on that type; NULL: it cannot run there. */
const struct fth_alt *mixed_alt(const struct fth_view *v, const struct fth_task *t, fth_type_id type);
struct mixed_spot *mixed_rent(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, fth_offer_id offer, const char *why);
/* A machine with room for the task, one that is ready before others; NULL: none. */
struct mixed_spot *mixed_find_room(struct mixed *m, const struct fth_view *v, const struct fth_task *t);
void mixed_take_room(struct mixed *m, const struct fth_view *v, const struct fth_task *t, struct mixed_spot *s);
void mixed_send(struct mixed *m, const struct fth_view *v, struct fth_plan *plan, const struct fth_task *t, struct mixed_spot *s,
		const char *why);

/* batch.c: batch work on the room that the services leave. */
void mixed_place_batch(struct mixed *m, const struct fth_view *v, struct fth_plan *plan);

#endif
