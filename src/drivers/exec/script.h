/* SPDX-License-Identifier: Apache-2.0 */
/* A user's script with JSON on its input and output, and a limit to its time and to what it may say. */
#ifndef FTH_DRIVERS_EXEC_SCRIPT_H
#define FTH_DRIVERS_EXEC_SCRIPT_H

#include <jansson.h>

#include "base/base.h"

enum { FTH_SCRIPT_OUTPUT_MAX = 16 << 20 };

/* The object it printed, or NULL and the error: it failed (-EIO), was too slow (-ETIME), said too much (-EMSGSIZE) or no JSON (-EBADMSG). A
 * script that prints an object with "error" has failed in its own words, whatever its exit code. */
json_t *fth_script_run(const json_t *command, const json_t *input, int64_t limit_us, struct fth_error *err);

#endif
