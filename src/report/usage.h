/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrals over what is rented: instances, tasks, resources, dollars and their waste.
 *
 * Sums over all up instances are kept as integers and changed only by the instance that was touched, so
 * the work per event does not grow with the cluster and no rounding creeps in. Whoever uses it first
 * advances the clock to the moment of a change, then tells of the change.
 */
#ifndef FTH_REPORT_USAGE_H
#define FTH_REPORT_USAGE_H

#include "base/base.h"
#include "report/run.h"

/* What is rented under one offer now, so that a change of its price is one step. */
struct fth_usage_offer {
	fth_price price;
	int64_t paid, boot, idle; /* instances */
	int64_t unused_ppm;     /* sum over instances with tasks of 1 - greatest committed share */
};

/* What one instance adds to the sums. */
struct fth_usage_part {
	bool paid; /* it is ours and not gone */
	bool up;   /* and not on its way out, empty */
	bool boot, idle;
	fth_offer_id offer;
	fth_type_id type;
	int64_t tasks;
	int64_t unused_ppm;
	int64_t used[3];
};

struct fth_usage_type {
	int64_t up;
	fth_time since; /* integrated up to here */
};

struct fth_usage {
	const struct fth_catalog *catalog;
	struct fth_usage_offer *offers;
	struct fth_usage_type *types;
	FTH_VEC(struct fth_usage_part) parts; /* by instance slot */
	fth_time now;
	/* Sums now. */
	int64_t up, tasks, waiting, used[3], capacity[3];
	__int128 cost_rate, boot_rate, idle_rate, unused_rate; /* nano-dollars per hour; the last x 1e6 */
	/* Integrals, x microseconds. */
	__int128 up_time, task_time, used_time[3], capacity_time[3];
	__int128 cost, boot, idle, unused;
	fth_time window_from, window_to;
	__int128 window_up, window_tasks, window_used[3], window_capacity[3];
	struct fth_run series; /* buckets and type_seconds only */
};

void fth_usage_init(struct fth_usage *u, const struct fth_catalog *c, fth_time window_from, fth_time window_to);
void fth_usage_release(struct fth_usage *u);
/* Time passes; must not go back. */
void fth_usage_advance(struct fth_usage *u, fth_time now);
/* The instance is as it is now. */
void fth_usage_touch(struct fth_usage *u, const struct fth_instance *i);
/* The offer's price is this from now on. */
void fth_usage_reprice(struct fth_usage *u, fth_offer_id offer, fth_price price);
/* Write the figures into the run, and hand over the series. */
void fth_usage_finish(struct fth_usage *u, struct fth_run *run);

#endif
