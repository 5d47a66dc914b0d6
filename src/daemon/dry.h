/* SPDX-License-Identifier: Apache-2.0 */
/* Looking without touching: is the configuration sound; what would be done now. */
#ifndef FTH_DAEMON_DRY_H
#define FTH_DAEMON_DRY_H

#include "daemon/config.h"

/* All that can be wrong with a configuration, before anything is made: catalog, API, and by their own word the drivers' settings. */
int fth_dry_sound(const struct fth_config *c, struct fth_world *w, struct fth_error *err);
/* probe.c: the last of these. */
int fth_dry_probe(const struct fth_config *c, struct fth_error *err);
/* The configuration with its catalog. An exit code. */
int fth_dry_check(const struct fth_config *c, struct fth_error *err);
/* The drivers list (told that this is a dry run), a copy of the journal takes it in, the policy decides once; what it wants is printed, one line each.
 * An exit code. */
int fth_dry_run(struct fth_config *c, struct fth_error *err);

#endif
