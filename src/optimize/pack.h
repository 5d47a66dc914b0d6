/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-shot provisioning: the cheapest multiset of machines that holds a set of tasks at once, and a
 * proven lower bound of its price. Co-location interference is not looked at: a filling is good when
 * it fits. On-demand offers that are available are considered.
 */
#ifndef FTH_OPTIMIZE_PACK_H
#define FTH_OPTIMIZE_PACK_H

#include "base/base.h"
#include "optimize/full_reconfig.h"

struct fth_pack_options {
	/* A packing of the same items to start from (Full Reconfiguration's, say); NULL: none. One that runs
	 * tasks where they are slow is left aside. */
	const struct fth_packing *start;
	const char *start_method; /* its name, for the result; NULL: "start" */
	/* Most work, in units of about 50 ns; 0: 20 million. A count and not a time, so that results repeat;
	 * it is looked at between nodes, so a hard first node may take more. */
	uint64_t max_work;
};

struct fth_pack_result {
	struct fth_packing packing; /* instances with their items */
	const char *method;         /* what found it: the start's, "greedy", "column-generation" */
	fth_price lower_bound;      /* no set of machines that holds the tasks is cheaper */
	fth_price no_packing;       /* each task alone on its cheapest machine */
	double gap;                 /* (price - lower bound) / lower bound */
	bool proven;                /* the gap is 0: nothing cheaper exists */
	uint32_t groups, types;     /* tasks that differ, types not dominated by others */
	uint64_t columns, nodes, pricing_nodes, lp_steps, work;
};

/*
 * Where a task's family alternatives differ in speed, it goes where it runs at full speed; only if there is no
 * such offer, where it is least slow. So the tasks do in an hour what they would do alone.
 *
 * -ENOENT: a task fits no offer, named in err; -ERANGE: amounts beyond 64 bits; -EINVAL: the start does not
 * hold the tasks.
 */
int fth_pack(const struct fth_catalog *c, const struct fth_kind *kinds, const struct fth_pack_item *items,
	     uint32_t nitems, const struct fth_pack_options *options, struct fth_pack_result *ret,
	     struct fth_error *err);
void fth_pack_result_release(struct fth_pack_result *r);

#endif
