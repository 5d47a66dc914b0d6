/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as JSON, with the line of every key. A subset on purpose: one document, no anchors or aliases (which can make much out of little), no
 * tags, keys are texts, no key twice.
 */
#ifndef FTH_DAEMON_YAML_H
#define FTH_DAEMON_YAML_H

#include <jansson.h>

#include "base/base.h"

enum { FTH_YAML_MAX = 1 << 20, FTH_YAML_DEPTH = 32 };

struct fth_yaml {
	json_t *root;
	struct fth_map lines; /* by object and key */
};
/* name is for messages. */
int fth_yaml_parse(struct fth_yaml *y, const char *name, const char *text, size_t n, struct fth_error *err);
int fth_yaml_load(struct fth_yaml *y, const char *path, struct fth_error *err);
void fth_yaml_release(struct fth_yaml *y);
/* Where this key of this object (or, with NULL or "", the object or list itself) stands; 0 unknown. */
uint64_t fth_yaml_line(const struct fth_yaml *y, const json_t *object, const char *key);

#endif
