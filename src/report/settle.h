/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's use costs once discounts that depend on the whole of it are taken: by month (sustained use), and
 * with contracts bought for it. The ledger's own total stays what each machine's list price gives.
 */
#ifndef FTH_REPORT_SETTLE_H
#define FTH_REPORT_SETTLE_H

#include "engine/engine.h"
#include "optimize/reserve.h"
#include "report/run.h"

/* At list price; with contracts bought with hindsight, or by forecast, fees counted by the time they were held; or
 * with hindsight over whole terms, fees in full. */
enum fth_settlement { FTH_SETTLE_LIST = 0, FTH_SETTLE_HINDSIGHT, FTH_SETTLE_ONLINE, FTH_SETTLE_COMMITTED };

/* The demand (by week) for machines of this offer that the closed charges of a run tell; start: of its first week. */
int fth_settle_demand(struct fth_demand *d, const struct fth_ledger *l, fth_offer_id offer, fth_time start, fth_time end,
		      struct fth_error *err);
/* Settle the run's cost: run->cost, list_cost, contracts. epoch: see fth_workload. */
int fth_settle(struct fth_run *run, const struct fth_engine *e, enum fth_settlement how, fth_time epoch, struct fth_error *err);

#endif
