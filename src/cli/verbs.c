/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs.h"

const struct fth_verb *const fth_verbs[] = {
	&fth_verb_compare,
	&fth_verb_sim,
	&fth_verb_plan_pack,
	&fth_verb_plan_reserve,
	&fth_verb_plan_spot,
	&fth_verb_market_summarize,
	&fth_verb_market_check,
	&fth_verb_import,
	&fth_verb_generate,
	&fth_verb_validate,
	&fth_verb_predict,
	&fth_verb_policies,
	&fth_verb_replay,
	&fth_verb_explain,
	&fth_verb_repro,
	&fth_verb_slurm_conf,
	&fth_verb_help,
	&fth_verb_version,
	&fth_verb_completion,
	NULL,
};
