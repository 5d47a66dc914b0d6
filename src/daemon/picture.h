/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster as it was a moment ago, for the API's threads: made by the keeper, read by anybody, never changed. So a long decision holds up
 * nobody who only looks.
 */
#ifndef FTH_DAEMON_PICTURE_H
#define FTH_DAEMON_PICTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "engine/engine.h"

struct fth_picture_job {
	const char *key, *user, *state, *where; /* where: instances, as "i3,i5" */
	uint32_t ntasks, running, done;
	int exit;
	int64_t submitted, ended; /* since 1970; 0: not yet */
	double estimate;          /* seconds; 0 unknown */
};
struct fth_picture_instance {
	fth_instance_id id;
	const char *node, *offer, *market, *state;
	fth_price price;
	fth_money accrued;
	uint32_t tasks;
	double used;              /* share of its largest resource that is held */
	int64_t requested, acquired, ready;
	bool revoked;
};

struct fth_picture {
	atomic_int users;
	struct fth_arena arena;
	int64_t at;               /* since 1970 */
	FTH_VEC(struct fth_picture_job) jobs;
	FTH_VEC(struct fth_picture_instance) instances;
	const char *cluster, *policy, *journal;
	bool paused, up[2], fell_back;
	uint32_t waiting, bound, running, by_state[6]; /* instances by state */
	fth_price hourly[3];      /* by market */
	fth_money charged[3], accrued[3];
	fth_money spent_month;
	uint64_t submitted, done, cancelled, tasks_lost, moves, launched[3], revoked;
	uint64_t rounds, lines, rejected_by[FTH_REFUSED_NKINDS], launches_failed[5], drivers_lost, requests_failed, refused_events;
	int64_t round_ns, round_worst_ns, commit_worst_ns;
	uint64_t round_buckets[8];
	struct fth_limits limits;
};
#define FTH_ROUND_BUCKETS {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5}

struct fth_pictures {
	pthread_mutex_t lock;
	struct fth_picture *last;
};
void fth_pictures_init(struct fth_pictures *p);
void fth_pictures_release(struct fth_pictures *p);
/* The last one, to be dropped; NULL if there is none yet. */
struct fth_picture *fth_picture_get(struct fth_pictures *p);
void fth_picture_drop(struct fth_picture *p);

struct fth_keeper;
void fth_picture_take(struct fth_keeper *k);

#endif
