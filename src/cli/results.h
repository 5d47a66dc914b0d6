/* SPDX-License-Identifier: Apache-2.0 */
/* From policies and options to runs, and from runs to the files asked for: what sim and compare share. */
#ifndef FTH_CLI_RESULTS_H
#define FTH_CLI_RESULTS_H

#include "cli/options.h"
#include "report/compare.h"

extern const struct fth_option fth_options_results[]; /* --format, --out, --html, ... */

/* Load the inputs, run the policies at most `parallel` at a time, write what was asked for; table adds the
 * result for people. Returns an exit code; runs that failed are told and left out. */
int fth_results_run(const struct fth_args *a, unsigned parallel,
		    void (*table)(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out),
		    void (*json)(const struct fth_comparison *c, struct fth_str *out));

#endif
