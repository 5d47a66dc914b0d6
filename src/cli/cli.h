/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share: messages, inputs, outputs, options. */
#ifndef FTH_CLI_CLI_H
#define FTH_CLI_CLI_H

#include "base/base.h"
#include "cli/options.h"
#include "engine/registry.h"
#include "optimize/bound.h"
#include "sim/sim.h"
#include "trace/trace.h"

#ifndef FTH_VERSION
#define FTH_VERSION "unknown"
#define FTH_RELEASED "unknown"
#endif
#define FTH_VERSION_TEXT "farthing " FTH_VERSION

/* ---- messages ---- */

/* "farthing: text" on standard error. */
void fth_cli_error(const char *fmt, ...) FTH_PRINTF(1, 2);
/* Tell the error and return the exit code that stands for it. */
int fth_cli_fail(const struct fth_error *err);
/* Whether to colour what goes to standard output, by --color. */
bool fth_cli_color(const struct fth_args *a);
/* Columns of the terminal that standard output is; 0: it is none. */
unsigned fth_cli_width(void);

/* ---- option tables that verbs share ---- */

extern const struct fth_option fth_options_common[]; /* --help, --quiet, --color */
extern const struct fth_option fth_options_inputs[];  /* --workload, --catalog */
extern const struct fth_option fth_options_formats[]; /* in which format those are */
extern const struct fth_option fth_options_interference[];
extern const struct fth_option fth_options_market[];
extern const struct fth_option fth_options_market_only[]; /* a catalog and a market, for verbs without a workload */
extern const struct fth_option fth_options_import[]; /* --prices, --region, ...: for formats that leave things unsaid */
extern const struct fth_option fth_options_runs[];   /* --sim, --seed, --jobs and the files a run can write */

/* The i-th of all file formats. */
const char *fth_cli_nth_format(unsigned i);

/* ---- inputs (inputs.c) ---- */

int fth_cli_import_options(const struct fth_args *a, struct fth_import_options *ret, struct fth_error *err);
/* Load what the input options name, or the bundled samples; interference only if the verb takes it. */
int fth_cli_load_world(const struct fth_args *a, struct fth_world *w, struct fth_error *err);
/* With --drop-unfit: jobs that the catalog cannot hold go, and that is told. */
int fth_cli_drop_unfit(const struct fth_args *a, struct fth_world *w, struct fth_error *err);
/* A catalog and a market alone, by fth_options_market_only. */
int fth_cli_load_market(const struct fth_args *a, struct fth_world *w, struct fth_error *err);
int fth_cli_sim_params(const struct fth_args *a, struct fth_sim_params *ret, struct fth_error *err);

/* What of the simulated world the lower bound must know. */
void fth_cli_bound_options(const struct fth_sim_params *sim, struct fth_bound_options *ret);

/* A policy by what the user wrote; what is unknown is refused with the nearest known name. */
int fth_cli_policy(struct fth_policy_choice *ret, const char *text, struct fth_error *err);

/* Whether compare leaves it out unless it is named. */
bool fth_cli_is_yardstick(const struct fth_policy_ops *ops);

struct fth_cli_policies {
	struct fth_policy_choice *list;
	size_t n;
};
/* All of --policy, or every product policy if there is none. */
int fth_cli_policies(const struct fth_args *a, struct fth_cli_policies *ret, struct fth_error *err);
/* --workers: tell policies that keep a fixed set of workers how many, unless they were told themselves. */
int fth_cli_set_workers(const struct fth_args *a, struct fth_cli_policies *p, struct fth_error *err);
/* A catalog of machines at a dollar an hour and slot, and of transient ones at that over each of these ratios. */
int fth_cli_fleet(struct fth_world *w, const double *ratios, size_t n, int64_t slots, fth_time provisioning,
		  struct fth_error *err);
/* Container sizes for the policies that buy them; an error if none holds some task. */
int fth_cli_containers(struct fth_world *w, const struct fth_cli_policies *p, struct fth_error *err);
/* Tasks that policies with workers can take, and parameters of theirs that belong together. */
int fth_cli_check_workers(const struct fth_world *w, const struct fth_cli_policies *p, struct fth_error *err);
/* The same as fth_cli_fleet for the ratios and slots that these policies name. */
int fth_cli_fleet_for(struct fth_world *w, const struct fth_cli_policies *p, fth_time provisioning, struct fth_error *err);
/* What parts short from long jobs for this policy; negative: it does not. */
fth_time fth_cli_cutoff(const struct fth_policy_choice *c);
void fth_cli_policies_release(struct fth_cli_policies *p);

/* ---- outputs ---- */

/* A file ("-" or NULL: standard output) as write makes it; it appears whole or not at all, also when interrupted. */
int fth_cli_produce(const char *path, int (*write)(void *arg, struct fth_output *o, struct fth_error *err), void *arg,
		    struct fth_error *err);
/* The whole of a file at once (likewise). */
int fth_cli_write(const char *path, const char *data, size_t n, struct fth_error *err);

#endif
