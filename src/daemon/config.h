/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's configuration (docs/daemon.md has the table of keys), checked as a whole before anything starts. */
#ifndef FTH_DAEMON_CONFIG_H
#define FTH_DAEMON_CONFIG_H

#include "daemon/config_yaml.h"
#include "engine/engine.h"
#include "model/world.h"

enum fth_role { FTH_WORKLOAD = 0, FTH_CAPACITY = 1, FTH_NROLES };
extern const char *const fth_role_names[];

struct fth_role_config {
	char *driver;        /* as written: a name, or the path of a program */
	char *program;       /* found */
	json_t *config;      /* handed on; may be NULL. Borrowed */
	int64_t poll;        /* how often it is asked for a list at the least */
	int64_t answer_limit; /* one that says nothing for so long is started again */
};

struct fth_api_config {
	char *socket;        /* NULL: none */
	json_t *users;       /* names or ids that may use it besides our own; borrowed */
	char *listen;        /* ADDRESS:PORT; NULL: none */
	char *token_file, *token_user, *tls_certificate, *tls_key;
	bool beyond_loopback;
	int64_t max_body;
};

struct fth_config {
	char *path;          /* of the file; NULL: built in */
	char *dir;           /* that it is in: relative paths begin there */
	struct fth_yaml yaml;
	char *cluster, *state, *policy, *catalog, *profile;
	struct fth_role_config role[FTH_NROLES];
	struct fth_limits limits;
	int64_t decide_limit;
	struct fth_api_config api;
	int log_level, log_format;
	int64_t retry_first, retry_most;
};

/* path NULL: the one built in. state, if not NULL, is put in place of the file's. */
int fth_config_load(struct fth_config *c, const char *path, const char *state, struct fth_error *err);
/* From memory, for fuzzing and tests; no file is looked at. */
int fth_config_parse(struct fth_config *c, const char *name, const char *text, size_t n, struct fth_error *err);
void fth_config_release(struct fth_config *c);
/* "file:line: text" about a key of a driver's own settings. */
int fth_config_blame(const struct fth_config *c, enum fth_role role, const char *key, const char *text, struct fth_error *err);
/* Catalog and profile that it names. */
int fth_config_world(const struct fth_config *c, struct fth_world *w, struct fth_error *err);

/* Where the workload has nodes of its own, a machine has so much of this resource, and what runs on it takes some: 1, or more than half if it must not meet its like,
 * or all. */
#define FTH_NODE_RESOURCE "node"
enum { FTH_NODE_WHOLE = 1000 };

extern const char fth_config_default[];

#endif
