/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs about spot pools share: the tables they read. */
#ifndef FTH_CLI_SPOT_INPUTS_H
#define FTH_CLI_SPOT_INPUTS_H

#include "cli/options.h"
#include "model/spot.h"
#include "optimize/spot.h"

struct fth_spot_inputs {
	struct fth_spot_table table;
	struct fth_joint *joint; /* NULL: offers fall independently */
	struct fth_spot_problem problem;
};
extern const struct fth_option fth_options_spot_pool[]; /* --pool, --availability, --failure, --memory, --joint, --effort */

/* Read what the options say; capacity is left to the caller. */
int fth_cli_spot_inputs(const struct fth_args *a, struct fth_spot_inputs *ret, struct fth_error *err);
void fth_cli_spot_inputs_release(struct fth_spot_inputs *in);
const struct fth_spot_method *fth_cli_spot_method(const char *name);

#endif
