/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a journal, made from what an engine shows its observers. Internal to this folder. */
#ifndef FTH_STORE_RECORD_H
#define FTH_STORE_RECORD_H

#include "engine/engine.h"
#include "model/world.h"

struct fth_recorder {
	struct fth_observer base;
	void (*emit)(void *arg, const char *line, size_t n);
	void *arg;
	struct fth_str line;
	unsigned depth;    /* implied events come inside the one that implies them, and are not recorded */
	uint64_t submits, done_jobs;
};
void fth_recorder_init(struct fth_recorder *r, void (*emit)(void *arg, const char *line, size_t n), void *arg);
void fth_recorder_release(struct fth_recorder *r);
void fth_recorder_end(struct fth_recorder *r, const struct fth_engine *e);

/* Catalog, profile (empty if there is none) and workload in canonical text, and back. */
int fth_world_text(const struct fth_world *w, struct fth_str text[3], struct fth_error *err);
/* jobs_follow: the workload may be absent, jobs come later. */
int fth_world_from_text(struct fth_world *w, const struct fth_str text[3], const char *name, bool jobs_follow,
			struct fth_error *err);

/* Read the fields of an E line; false if it is not one. */
bool fth_record_parse_event(const char *line, struct fth_event *ret);
/* And of an O line; free *by. */
bool fth_record_parse_order(const char *line, fth_time *now, struct fth_action *ret, char **by);

/* "usd_per_hour=... ...", and back. */
void fth_limits_write(struct fth_str *s, const struct fth_limits *l);
bool fth_limits_parse(const char *text, struct fth_limits *ret);

#endif
