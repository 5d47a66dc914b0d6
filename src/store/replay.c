/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying a journal: the recorded events go into a fresh engine with the same policy; what it makes
 * of them is written again, line by line, and held against the record.
 */
#include "store/journal.h"

#include "store/live.h"
#include "store/player.h"

int fth_journal_input(struct fth_input **ret, const char *path, struct fth_str *text, struct fth_error *err)
{
	if (!fth_live_is(path))
		return fth_input_open(ret, path, err);
	int r = fth_live_text(path, text, err);
	return r ? r : fth_input_open_memory(ret, path, text->data, text->len, err);
}

static void differ(struct fth_replay *ret, uint64_t line, const char *recorded, const char *again)
{
	ret->same = false;
	ret->line = line;
	snprintf(ret->recorded, sizeof(ret->recorded), "%s", recorded);
	snprintf(ret->again, sizeof(ret->again), "%s", again);
}

static int run_again(struct fth_player *p, struct fth_input *in, struct fth_replay *ret, struct fth_error *err)
{
	char *line;
	const char *again;
	size_t n;
	int r;
	while ((r = fth_input_next(in, &line, &n, err)) > 0) {
		p->line = fth_input_line(in);
		int q = fth_player_line(p, line, &again, err);
		if (q < 0)
			return q;
		if (q) {
			differ(ret, p->line, line, again);
			return 0;
		}
	}
	if (r < 0)
		return r;
	if (p->next < p->made.len && p->cluster) {
		differ(ret, p->line + 1, "(nothing)", p->made.data[p->next]);
		return 0;
	}
	/* A live cluster's journal ends where it was last written to. */
	if (!p->ended && !p->cluster)
		return fth_player_damaged(p, err, "it has no end: the run was cut off");
	ret->cost = fth_engine_ledger(p->engine)->total;
	return 0;
}

int fth_journal_replay(const char *path, const struct fth_policy_ops *const *table, struct fth_replay *ret,
		       struct fth_error *err)
{
	struct fth_player p = {.path = path, .table = table};
	struct fth_input *in = NULL;
	struct fth_str text = {0};
	struct fth_error own;
	err = err ? err : &own;
	*ret = (struct fth_replay){.same = true};
	int r = fth_journal_input(&in, path, &text, err);
	if (!r)
		r = fth_player_head(&p, in, err);
	if (!r)
		r = fth_player_start(&p, err);
	if (!r) {
		snprintf(ret->policy, sizeof(ret->policy), "%s", p.policy.text);
		r = run_again(&p, in, ret, err);
	}
	ret->submits = p.submits;
	ret->events = p.events;
	ret->rounds = p.rounds;
	ret->actions = p.actions;
	fth_player_release(&p);
	fth_input_close(in);
	fth_str_release(&text);
	return r;
}
