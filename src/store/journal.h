/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a run: everything the engine was told and everything the policy answered, in plain
 * text, with the world it happened in. So it can be replayed without the simulator (or, later, without
 * the cluster it was recorded on), to the same bytes; and any decision in it can be explained.
 *
 *   farthing-journal 1
 *   policy eva:round=300s
 *   fallback no-packing  who takes over if the policy fails (absent: nobody)
 *   max_instances 1000000
 *   limits usd_per_hour=5000000000 ...   (absent if there are no others)
 *   catalog 43           the next 43 lines are a canonical catalog
 *   profile 12           (absent if there is none)
 *   workload 6375
 *   run
 *   S 960000000 index=0 estimate=0 job=0          a job is submitted
 *   E 1222000000 instance-acquired instance=i0    something happened
 *   R 1200000000                                  a round: what the policy wanted, and the verdicts
 *   A accepted launch instance=i0 offers=p3.2xlarge | cheapest machine for this task: $3.06/h
 *   F failed: ...                                 the policy failed; the fallback decides from here on
 *   X no-room=4096                               so many more were refused for this reason than are told one by one
 *   N S_full=1.25                                 a figure the policy noted
 *   C instance=i0 from=.. to=.. billed=.. usd=..  a charge
 *   end jobs=200 usd=20736.376176
 *
 * Times are microseconds. A path that ends in .gz or .zst is compressed.
 */
#ifndef FTH_STORE_JOURNAL_H
#define FTH_STORE_JOURNAL_H

#include "engine/engine.h"
#include "engine/registry.h"
#include "model/world.h"
#include "trace/trace.h"

/* The world as a journal holds it: written in canonical form and read back, so that a replay sees the
 * same numbering of kinds. Run on this one when recording. */
int fth_journal_world(const struct fth_world *from, struct fth_world *to, struct fth_error *err);

struct fth_journal;
int fth_journal_create(struct fth_journal **ret, const char *path, const struct fth_world *w,
		       const struct fth_policy_choice *policy, const struct fth_policy_ops *fallback,
		       const struct fth_limits *limits, struct fth_error *err);
struct fth_observer *fth_journal_observer(struct fth_journal *j);
/* Close it; the file appears now. Fails if any write failed. */
int fth_journal_commit(struct fth_journal *j, const struct fth_engine *e, struct fth_error *err);
void fth_journal_abort(struct fth_journal *j);

/* Open a journal's lines, of a live cluster or not; text holds them and must outlive the input. */
int fth_journal_input(struct fth_input **ret, const char *path, struct fth_str *text, struct fth_error *err);

struct fth_replay {
	bool same;
	uint64_t line;                /* of the first difference */
	char recorded[256], again[256];
	uint64_t submits, events, rounds, actions;
	fth_money cost;
	char policy[256];
};
/* 0 also when it differs (ret->same says); -errno if the journal cannot be read or is damaged. */
int fth_journal_replay(const char *path, const struct fth_policy_ops *const *table, struct fth_replay *ret,
		       struct fth_error *err);

/* Why: the decisions about a job (its key) or an instance ("i12"), in words. -ENOENT if it is not there. */
int fth_journal_explain(const char *path, const char *what, struct fth_str *out, struct fth_error *err);

#endif
