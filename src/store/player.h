/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeding recorded lines to a fresh engine. What it makes of them is written again, line by line, and held
 * against the record. A replay does so to compare; a live journal, to become again what it was.
 * Internal to this folder.
 */
#ifndef FTH_STORE_PLAYER_H
#define FTH_STORE_PLAYER_H

#include "engine/engine.h"
#include "engine/registry.h"
#include "model/world.h"
#include "store/record.h"
#include "trace/trace.h"

struct fth_player {
	const char *path;
	uint64_t line; /* of the record, for errors */
	const struct fth_policy_ops *const *table;
	struct fth_observer *observers; /* watch the engine, too */

	/* the head */
	struct fth_world world;
	bool has_world;
	struct fth_policy_choice policy;
	bool has_policy;
	const struct fth_policy_ops *fallback;
	struct fth_limits limits;
	char *cluster;  /* NULL: not of a live cluster, and its jobs are all in the head */
	int64_t epoch_us;

	struct fth_engine *engine;
	struct fth_recorder recorder;
	FTH_VEC(struct fth_policy_choice) later; /* policies put in charge since */
	struct fth_str arriving;                 /* the lines of a job that is not whole yet */
	FTH_VEC(char *) made;                    /* lines made again, not yet compared */
	size_t next;
	uint64_t submits, events, rounds, actions;
	bool ended;
};

/* Read the head, up to and with the line "run". */
int fth_player_head(struct fth_player *p, struct fth_input *in, struct fth_error *err);
int fth_player_start(struct fth_player *p, struct fth_error *err);
/* One more recorded line. 1 if another one is made of the record; *again is that (valid until the next call). */
int fth_player_line(struct fth_player *p, const char *line, const char **again, struct fth_error *err);
/* Take a whole job (the lines of a workload) into the world. */
int fth_player_job(struct fth_player *p, const char *text, size_t n, struct fth_error *err);
int fth_player_damaged(struct fth_player *p, struct fth_error *err, const char *what);
void fth_player_release(struct fth_player *p);

#endif
