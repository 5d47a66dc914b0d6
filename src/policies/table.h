/* SPDX-License-Identifier: Apache-2.0 */
/* The explicit table of all built-in policies, in the order in which they are listed. NULL-ended. */
#ifndef FTH_POLICIES_TABLE_H
#define FTH_POLICIES_TABLE_H

#include <farthing/policy.h>

extern const struct fth_policy_ops *const fth_policies[];
/* Those of them that stand for another's program, to be measured against, or are for workloads with services or rigid
 * jobs only; not run unless named. */
extern const struct fth_policy_ops *const fth_yardsticks[];

/* Those of them that run a queue of rigid jobs on whole nodes of one type. NULL-ended. */
extern const struct fth_policy_ops *const fth_batch_policies[];

extern const struct fth_policy_ops fth_policy_farthing;
/* The engine's fallback when a policy fails: one instance for each task, nothing moves. */
extern const struct fth_policy_ops fth_policy_no_packing;
extern const struct fth_policy_ops fth_policy_eva;
extern const struct fth_policy_ops fth_policy_synergy;
extern const struct fth_policy_ops fth_policy_owl;
extern const struct fth_policy_ops fth_policy_individual;
extern const struct fth_policy_ops fth_policy_nowait;
extern const struct fth_policy_ops fth_policy_local;
extern const struct fth_policy_ops fth_policy_sec;
extern const struct fth_policy_ops fth_policy_stratus;
extern const struct fth_policy_ops fth_policy_hotspot;
extern const struct fth_policy_ops fth_policy_fleet;
extern const struct fth_policy_ops fth_policy_fleet_diversified;
extern const struct fth_policy_ops fth_policy_scloud;
extern const struct fth_policy_ops fth_policy_fargate;
extern const struct fth_policy_ops fth_policy_eva_artifact;
extern const struct fth_policy_ops fth_policy_sparrow;
extern const struct fth_policy_ops fth_policy_hawk;
extern const struct fth_policy_ops fth_policy_eagle;
extern const struct fth_policy_ops fth_policy_least_waiting;
extern const struct fth_policy_ops fth_policy_cloudcoaster;
extern const struct fth_policy_ops fth_policy_surge;
extern const struct fth_policy_ops fth_policy_stratus_artifact;
extern const struct fth_policy_ops fth_policy_tr;
extern const struct fth_policy_ops fth_policy_on_demand;
extern const struct fth_policy_ops fth_policy_on_demand_transient;

#endif
