/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that survive: written whole beside the old one, synced, renamed. The memory of drivers. */
#ifndef FTH_DRIVERS_KEEP_H
#define FTH_DRIVERS_KEEP_H

#include <jansson.h>

#include "base/base.h"

/* The folder and those above it. */
int fth_keep_dir(const char *path, struct fth_error *err);
int fth_keep_write(const char *path, const json_t *doc, struct fth_error *err);
/* NULL if there is none or it cannot be read; the caller's. */
json_t *fth_keep_read(const char *path);
/* Call each for every plain name in the folder, by name. */
int fth_keep_each(const char *path, int (*each)(void *arg, const char *name), void *arg);
/* A folder with all that is in it. Links are removed, not followed. */
int fth_keep_remove(const char *path);

#endif
