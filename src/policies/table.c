/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/table.h"

const struct fth_policy_ops *const fth_policies[] = {
	&fth_policy_farthing,
	&fth_policy_no_packing,
	&fth_policy_eva,
	&fth_policy_synergy,
	&fth_policy_owl,
	&fth_policy_individual, /* for rigid jobs: run when named */
	&fth_policy_nowait,
	&fth_policy_local,
	&fth_policy_sec,
	&fth_policy_stratus,
	&fth_policy_hotspot,
	&fth_policy_fleet,
	&fth_policy_fleet_diversified,
	&fth_policy_scloud,
	&fth_policy_fargate,
	&fth_policy_tr,
	&fth_policy_on_demand,
	&fth_policy_on_demand_transient,
	&fth_policy_sparrow,
	&fth_policy_hawk,
	&fth_policy_eagle,
	&fth_policy_least_waiting,
	&fth_policy_cloudcoaster,
	&fth_policy_surge,
	&fth_policy_eva_artifact, /* yardsticks from here on */
	&fth_policy_stratus_artifact,
	NULL,
};

const struct fth_policy_ops *const fth_yardsticks[] = {
	&fth_policy_individual,
	&fth_policy_nowait,
	&fth_policy_local,
	&fth_policy_sec,
	&fth_policy_eva_artifact,
	&fth_policy_stratus_artifact,
	/* For workloads with services. */
	&fth_policy_tr,
	&fth_policy_on_demand,
	&fth_policy_on_demand_transient,
	NULL,
};

const struct fth_policy_ops *const fth_batch_policies[] = {
	&fth_policy_individual,
	&fth_policy_nowait,
	&fth_policy_local,
	&fth_policy_sec,
	NULL,
};
