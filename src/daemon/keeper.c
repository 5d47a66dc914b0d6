/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/keeper.h"

#include "daemon/log.h"
#include "policies/table.h"

enum { ROUNDS_AT_ONCE = 8, PICTURE_NS = 50000000 };

/* ---- opening ---- */

static int open_journal(struct fth_keeper *k, struct fth_error *err)
{
	struct fth_live_head head = {
		.cluster = k->cfg->cluster,
		.world = &k->world,
		.policy = k->cfg->policy,
		.table = fth_policies,
		.fallback = &fth_policy_no_packing,
		.limits = k->cfg->limits,
		.epoch_us = fth_wall_us(),
		.decide_limit_ns = k->cfg->decide_limit * 1000,
		.clock_ns = fth_clock_ns,
	};
	k->biller = fth_biller_new();
	k->learner = fth_learner_new(0);
	k->tally = fth_tally_new();
	struct fth_observer *first = fth_biller_observer(k->biller), *second = fth_learner_observer(k->learner);
	first->next = second;
	second->next = &k->tally->base;
	head.observers = first;
	return fth_live_open(&k->live, k->journal, &head, err);
}

int fth_keeper_open(struct fth_keeper *k, struct fth_config *cfg, struct fth_error *err)
{
	struct fth_str path = {0};
	k->cfg = cfg;
	fth_mailbox_init(&k->mail);
	fth_pictures_init(&k->pictures);
	fth_world_init(&k->world);
	int r = fth_outbox_init(&k->out);
	if (!r)
		r = fth_config_world(cfg, &k->world, err);
	fth_str_addf(&path, "%s/journal.db", k->journal_dir ? k->journal_dir : cfg->state);
	k->journal = path.data;
	if (!r)
		r = open_journal(k, err);
	if (r)
		return r;
	k->engine = fth_live_engine(k->live);
	k->cluster = fth_engine_cluster(k->engine);
	k->epoch = fth_live_epoch(k->live);
	k->now_ns = fth_clock_ns();
	k->now = FTH_MAX(fth_wall_us() - k->epoch, fth_live_now(k->live));
	fth_books_load(k);
	r = fth_keeper_reprice(k, &k->world, err);
	if (!r)
		r = fth_live_commit(k->live, err);
	if (!r)
		fth_picture_take(k);
	return r;
}

/* Nobody will answer any more: who waits is told. */
static void forget_asked(struct fth_side *s)
{
	for (size_t i = 0; i < s->asked.len; i++)
		fth_asked_release(&s->asked.data[i]);
	fth_vec_clear(&s->asked);
}

void fth_keeper_close(struct fth_keeper *k)
{
	while (k->rented.len)
		fth_rented_remove(k, fth_vec_last(&k->rented));
	while (k->jobs.len)
		fth_job_remove(k, fth_vec_last(&k->jobs));
	for (int r = 0; r < FTH_NROLES; r++) {
		forget_asked(&k->side[r]);
		fth_vec_release(&k->side[r].asked);
		json_decref(k->side[r].nodes);
	}
	fth_vec_release(&k->rented);
	fth_vec_release(&k->jobs);
	fth_vec_release(&k->begun);
	fth_vec_release(&k->free_begun);
	fth_vec_release(&k->offers);
	fth_map_release(&k->by_token);
	fth_map_release(&k->by_instance);
	fth_map_release(&k->by_key);
	fth_map_release(&k->by_job);
	fth_map_release(&k->recovered);
	fth_map_release(&k->by_task);
	fth_map_release(&k->node_states);
	fth_live_close(k->live);
	if (k->biller)
		fth_biller_free(k->biller);
	fth_learner_free(k->learner);
	fth_tally_free(k->tally);
	fth_world_release(&k->world);
	fth_pictures_release(&k->pictures);
	fth_mailbox_release(&k->mail);
	fth_outbox_release(&k->out);
	free(k->journal);
}

/* ---- a turn ---- */

static void fail(struct fth_keeper *k, int code, const struct fth_error *err)
{
	fth_say(FTH_LOG_ERROR, "cannot go on", "error:s", err->text);
	if (!k->failed)
		k->err = *err;
	k->failed = code;
}

/* When tasks are not to start before a time, that is remembered. */
static void note_actions(struct fth_keeper *k, const struct fth_accepted *acts)
{
	for (size_t i = 0; i < acts->n; i++) {
		const struct fth_action *a = &acts->actions[i];
		if (a->kind != FTH_ACT_PLACE || (a->at <= 0 && !fth_map_get(&k->by_task, a->task, NULL)))
			continue;
		struct fth_begun *b = fth_begun_of(k, a->task);
		if (b->not_before == a->at)
			continue;
		b->not_before = a->at;
		fth_begun_save(k, b);
	}
}

static void time_round(struct fth_keeper *k, int64_t took)
{
	static const double limits[] = FTH_ROUND_BUCKETS;
	k->stats.rounds++;
	k->stats.round_ns += took;
	k->stats.round_worst_ns = FTH_MAX(k->stats.round_worst_ns, took);
	for (size_t i = 0; i < FTH_COUNT(limits); i++)
		k->stats.round_buckets[i] += (double)took / 1e9 <= limits[i];
}

static bool round_is_due(const struct fth_keeper *k, fth_time *at)
{
	fth_time next = fth_engine_next_round(k->engine, fth_live_now(k->live));
	*at = FTH_MAX(next, fth_live_now(k->live));
	return k->once_synced && !k->paused && next <= k->now;
}

static bool decide(struct fth_keeper *k)
{
	struct fth_accepted acts;
	struct fth_error err = {0};
	fth_time at;
	if (!round_is_due(k, &at))
		return false;
	int64_t before = fth_clock_ns();
	bool fell = fth_engine_stats(k->engine)->fell_back;
	int r = fth_engine_round(k->engine, at, &acts, &err);
	time_round(k, fth_clock_ns() - before);
	k->dirty = true;
	if (r) {
		fail(k, 1, &err);
		return false;
	}
	if (!fell && fth_engine_stats(k->engine)->fell_back)
		fth_say(FTH_LOG_ERROR, "policy failed", "why:s", fth_engine_stats(k->engine)->why_fallback);
	note_actions(k, &acts);
	return true;
}

/* Names for what was asked for in this turn; written down with it. */
static void name_instances(struct fth_keeper *k)
{
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		id = i->next;
		if (i->state != FTH_INSTANCE_REQUESTED || fth_rented_of(k, i->id) || !k->side[FTH_WORKLOAD].greeted)
			continue;
		if (!fth_rented_now(k, i)) {
			struct fth_rented none = {.id = i->id};
			k->offers.data[i->offer].failures = 0; /* a name comes free when a machine goes: no reason to wait ever longer */
			fth_happen_launch_failed(k, &none, FTH_FAIL_QUOTA, "the workload has no name left for a machine of this type");
		}
	}
}

bool fth_keeper_commit(struct fth_keeper *k)
{
	struct fth_error err = {0};
	int64_t before = fth_clock_ns();
	int r = fth_live_commit(k->live, &err);
	k->stats.commit_worst_ns = FTH_MAX(k->stats.commit_worst_ns, fth_clock_ns() - before);
	if (r)
		fail(k, 1, &err);
	return !r;
}

void fth_keeper_settle(struct fth_keeper *k)
{
	k->once_synced |= k->side[FTH_CAPACITY].synced && k->side[FTH_WORKLOAD].synced;
	if (k->once_synced)
		fth_happen(k);
	for (int i = 0; i < ROUNDS_AT_ONCE; i++) {
		bool started = k->once_synced && fth_starts(k);
		if (!decide(k) && !started)
			break;
	}
	name_instances(k);
	if (k->failed || !fth_keeper_commit(k))
		return;
	if (k->once_synced && !k->dry_run)
		fth_acts(k);
	fth_side_lists(k);
}

static void hear(struct fth_keeper *k, struct fth_message *m)
{
	switch (m->kind) {
	case FTH_MSG_UP:
		fth_side_up(k, m->role, (uint32_t)m->len);
		break;
	case FTH_MSG_DOWN:
		fth_side_down(k, m->role);
		break;
	case FTH_MSG_LINE:
		fth_side_line(k, m->role, m->line, m->len);
		break;
	case FTH_MSG_CALL:
		fth_call_take(k, m->call);
		break;
	case FTH_MSG_RELOAD:
		fth_keeper_reload(k);
		break;
	case FTH_MSG_STOP:
		k->stopping = true;
		break;
	}
	free(m->line);
}

/* The counting clock's time of a time of the journal's. */
static int64_t at_ns(const struct fth_keeper *k, fth_time t)
{
	return t - k->now > FTH_DAY ? INT64_MAX : k->now_ns + FTH_MAX(t - k->now, 0) * 1000;
}

static int64_t due_ns(const struct fth_keeper *k)
{
	int64_t due = FTH_MIN(fth_side_due_ns(k), fth_retry_due_ns(k));
	due = FTH_MIN(due, k->published_ns + (k->dirty ? PICTURE_NS : 1000000000));
	if (k->once_synced && !k->paused)
		due = FTH_MIN(due, at_ns(k, fth_engine_next_round(k->engine, fth_live_now(k->live))));
	for (size_t i = 0; i < k->begun.len; i++)
		if (k->begun.data[i].task != FTH_NONE && k->begun.data[i].not_before > k->now)
			due = FTH_MIN(due, at_ns(k, k->begun.data[i].not_before));
	return due;
}

void fth_keeper_run(struct fth_keeper *k)
{
	fth_messages mail = {0};
	while (!k->failed && !k->stopping && !(k->dry_run && k->once_synced)) {
		fth_mailbox_take(&k->mail, &mail, due_ns(k));
		k->now_ns = fth_clock_ns();
		k->now = FTH_MAX(fth_wall_us() - k->epoch, fth_live_now(k->live));
		for (size_t i = 0; i < mail.len; i++)
			hear(k, &mail.data[i]);
		fth_vec_clear(&mail);
		fth_side_watch(k);
		fth_keeper_settle(k);
		if (k->now_ns - k->published_ns > (k->dirty ? PICTURE_NS : 1000000000))
			fth_picture_take(k);
	}
	fth_vec_release(&mail);
	fth_mailbox_close(&k->mail);
	for (int r = 0; r < FTH_NROLES; r++)
		forget_asked(&k->side[r]);
	atomic_store(&k->out.over, true);
	fth_outbox_ring(&k->out);
}
