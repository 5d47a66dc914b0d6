/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP API, over a Unix socket and, if configured, TCP. Closed by default: the socket is for our own user, root and the users named in the
 * configuration, by the kernel's word; TCP is for who has the token; and beyond loopback it is not opened without TLS, unless that is asked
 * for. Each connection has a thread of its own, so that nobody waits for another's answer; how many there are, and how much each may say, is bounded.
 */
#ifndef FTH_DAEMON_API_H
#define FTH_DAEMON_API_H

#include "daemon/keeper.h"

struct fth_api;
/* What can be said of its settings before anything is opened; key: which one is wrong. */
int fth_api_check(const struct fth_api_config *c, const char **key, struct fth_error *err);
int fth_api_start(struct fth_api **ret, struct fth_keeper *k, struct fth_error *err);
void fth_api_stop(struct fth_api *a);

/* ---- what the files of the API share ---- */

struct fth_answer {
	int status;
	const char *type;
	struct fth_str text;
};
struct fth_asker {
	char by[64];
	int64_t uid, gid; /* -1: unknown */
	bool trusted;     /* let in; if not, only /healthz is answered */
};
/* render.c: documents from a picture. */
void fth_render_jobs(const struct fth_picture *p, const char *state, struct fth_str *out);
void fth_render_job(const struct fth_picture *p, const struct fth_picture_job *j, struct fth_str *out);
void fth_render_instances(const struct fth_picture *p, struct fth_str *out);
void fth_render_status(const struct fth_picture *p, struct fth_str *out);
/* metrics.c: Prometheus text. */
void fth_render_metrics(const struct fth_picture *p, const struct fth_loop_lag *lag, struct fth_str *out);
/* routes.c: answer one request. `query` gives the value of a parameter of the URL or NULL. */
void fth_route(struct fth_keeper *k, const struct fth_asker *who, const char *method, const char *path, const char *state, const char *body, size_t nbody,
	       struct fth_answer *ret);

#endif
