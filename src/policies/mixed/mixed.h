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
	bool any_service;
	bool unserved;       /* some service task found no place last time */
	struct fth_res served; /* what the services demand together */
	FTH_VEC(struct mixed_spot) board;
};

/* pool.c: what to hold for the services. */
void mixed_watch(struct mixed *m, const struct fth_round *round);
int mixed_plan_pool(struct mixed *m, const struct fth_view *v, struct fth_plan *plan);

#endif
