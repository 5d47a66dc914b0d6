/* SPDX-License-Identifier: Apache-2.0 */
/* One file per verb; the table of them all is in verbs.c. */
#ifndef FTH_CLI_VERBS_H
#define FTH_CLI_VERBS_H

#include "cli/options.h"

extern const struct fth_verb fth_verb_sim;
extern const struct fth_verb fth_verb_bound;
extern const struct fth_verb fth_verb_compare;
extern const struct fth_verb fth_verb_plan_pack;
extern const struct fth_verb fth_verb_plan_reserve;
extern const struct fth_verb fth_verb_plan_spot;
extern const struct fth_verb fth_verb_market_summarize;
extern const struct fth_verb fth_verb_market_check;
extern const struct fth_verb fth_verb_import;
extern const struct fth_verb fth_verb_generate;
extern const struct fth_verb fth_verb_validate;
extern const struct fth_verb fth_verb_predict;
extern const struct fth_verb fth_verb_policies;
extern const struct fth_verb fth_verb_replay;
extern const struct fth_verb fth_verb_explain;
extern const struct fth_verb fth_verb_drain;
extern const struct fth_verb fth_verb_resume;
extern const struct fth_verb fth_verb_pause;
extern const struct fth_verb fth_verb_bill;
extern const struct fth_verb fth_verb_cancel;
extern const struct fth_verb fth_verb_instances;
extern const struct fth_verb fth_verb_jobs;
extern const struct fth_verb fth_verb_submit;
extern const struct fth_verb fth_verb_repro;
extern const struct fth_verb fth_verb_slurm_conf;
extern const struct fth_verb fth_verb_help;
extern const struct fth_verb fth_verb_version;
extern const struct fth_verb fth_verb_completion;

#endif
