/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/table.h"

const struct fth_policy_ops *const fth_policies[] = {
	&fth_policy_no_packing,
	&fth_policy_eva,
	&fth_policy_synergy,
	&fth_policy_owl,
	&fth_policy_individual, /* for rigid jobs: run when named */
	&fth_policy_nowait,
	&fth_policy_local,
	&fth_policy_sec,
	&fth_policy_eva_artifact, /* a yardstick */
	NULL,
};

const struct fth_policy_ops *const fth_yardsticks[] = {
	&fth_policy_individual,
	&fth_policy_nowait,
	&fth_policy_local,
	&fth_policy_sec,
	&fth_policy_eva_artifact,
	NULL,
};
