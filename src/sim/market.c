/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modelled market: prices and availability change as the world's market data says, and spot instances
 * are taken back: when the price passes the bid, when the offer's availability ends, or at random at the
 * offer's own rate. See README.md.
 */
#include "sim/internal.h"

enum { DRAW_REVOCATION = 100 };

static void bid_for(struct sim *s, fth_offer_id id, struct sim_offer *o)
{
	const struct fth_catalog *c = &s->world->catalog.pub;
	fth_price on_demand = c->offers[id].market == FTH_SPOT ? fth_catalog_on_demand(c, id) : FTH_NEVER;
	double bid = on_demand == FTH_NEVER ? 1e18 : (double)on_demand * s->params->bid;
	o->bid = bid < 9e17 ? (fth_price)(bid + 0.5) : FTH_NEVER;
}

static bool is_available(const struct sim *s, fth_offer_id id)
{
	const struct sim_offer *o = &s->offers.data[id];
	return s->world->catalog.offers.data[id].available && o->probed && o->price <= o->bid;
}

/* An instance will be taken: say so now, do it after the notice. */
static int give_notice(struct sim *s, const struct fth_instance *i)
{
	struct fth_event ev = {.kind = FTH_EV_REVOCATION_NOTICE,
			       .time = s->now,
			       .job = FTH_NONE,
			       .task = FTH_NONE,
			       .instance = i->id,
			       .offer = FTH_NONE,
			       .at = s->now + s->params->notice};
	if (i->revoked || i->state == FTH_INSTANCE_GONE)
		return 0;
	fth_sim_schedule(s, s->params->notice, RANK_OUTCOME, REVOKED, i->id, 0);
	return fth_engine_feed(s->engine, &ev, s->err);
}

static int take_all(struct sim *s, fth_offer_id offer)
{
	int r = 0;
	for (fth_instance_id id = s->cluster->view.first_instance; id != FTH_NONE && !r;) {
		const struct fth_instance *i = fth_cluster_instance(s->cluster, id);
		id = i->next;
		/* One not acquired yet fails when it should have been. */
		if (i->offer == offer && i->acquired != FTH_NEVER)
			r = give_notice(s, i);
	}
	return r;
}

static int tell(struct sim *s, fth_offer_id id)
{
	const struct sim_offer *o = &s->offers.data[id];
	const struct fth_offer *now = &s->cluster->catalog.offers.data[id];
	bool available = is_available(s, id), lost = now->available && !available;
	if (now->price == o->price && now->available == available)
		return 0;
	struct fth_event ev = {.kind = FTH_EV_OFFER_CHANGED,
			       .time = s->now,
			       .job = FTH_NONE,
			       .task = FTH_NONE,
			       .instance = FTH_NONE,
			       .offer = id,
			       .available = available,
			       .price = o->price};
	int r = fth_engine_feed(s->engine, &ev, s->err);
	return r || !lost || now->market != FTH_SPOT ? r : take_all(s, id);
}

/* Everything on the tape that happens now; then the next change is waited for. */
static int play(struct sim *s)
{
	const struct fth_market_change *c = s->tape.changes.data;
	size_t from = s->tape_pos, to = from;
	for (; to < s->tape.changes.len && c[to].at <= s->now; to++) {
		const struct fth_market_series *series = &s->world->market.series.data[c[to].series];
		struct sim_offer *o = &s->offers.data[series->offer];
		if (series->kind == FTH_MARKET_PRICE)
			o->price = c[to].value;
		else
			o->probed = c[to].value;
	}
	s->tape_pos = to;
	int r = 0;
	for (size_t k = from; k < to && !r; k++)
		r = tell(s, s->world->market.series.data[c[k].series].offer);
	if (to < s->tape.changes.len)
		fth_sim_schedule(s, c[to].at - s->now, RANK_OUTCOME, MARKET, 0, 0);
	return r;
}

int fth_market_start(struct sim *s)
{
	const struct fth_catalog_store *c = &s->world->catalog;
	for (size_t i = 0; i < c->offers.len; i++) {
		struct sim_offer o = {.price = c->offers.data[i].price, .probed = true};
		bid_for(s, (fth_offer_id)i, &o);
		fth_vec_push(&s->offers, o);
	}
	if (s->world->has_market) {
		fth_time start = s->params->market_start * FTH_SEC;
		fth_market_play(&s->world->market, start ? start : s->world->market.first, &s->tape);
	}
	int r = play(s);
	/* Offers without a series may still be above their bid. */
	for (size_t i = 0; i < c->offers.len && !r; i++)
		r = tell(s, (fth_offer_id)i);
	return r;
}

/* ---- taking instances back ---- */

void fth_market_acquired(struct sim *s, const struct fth_instance *i)
{
	const struct fth_offer *o = &s->cluster->catalog.offers.data[i->offer];
	double per_hour = s->params->revocation_rate > 0 ? s->params->revocation_rate : (double)o->interruptions_ppm / 1e6;
	if (o->market != FTH_SPOT || !(per_hour > 0))
		return;
	struct fth_rng rng;
	fth_rng_seed(&rng, (uint64_t)s->params->seed, DRAW_REVOCATION, i->id);
	double life = fth_rng_exponential(&rng, (double)FTH_HOUR / per_hour);
	if (life < (double)(365 * FTH_DAY))
		fth_sim_schedule(s, (fth_time)life, RANK_OUTCOME, NOTICE, i->id, 0);
}

/* The task falls with its instance: what it did since it was last saved is lost. */
static void drop(struct sim *s, const struct fth_task *t)
{
	struct sim_task *st = fth_sim_task(s, t);
	if (t->on == FTH_NONE)
		return;
	fth_progress_stopped(s, t, false);
	st->gen++;
	st->stopping = false;
	fth_cloud_released(s, t, t->on);
	if (t->target != FTH_NONE)
		fth_vec_push(&s->touched, t->target);
	fth_vec_push(&s->touched, t->on);
}

/* The tasks of a rigid job live and die together. */
static void drop_with_siblings(struct sim *s, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	if (j->kind != FTH_JOB_RIGID) {
		drop(s, t);
		return;
	}
	for (uint32_t k = 0; k < j->ntasks; k++)
		drop(s, fth_cluster_task(s->cluster, j->first_task + k));
}

static int take(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	fth_vec_clear(&s->touched);
	while (si->held.len)
		drop_with_siblings(s, fth_cluster_task(s->cluster, fth_vec_last(&si->held)));
	si->gen++;
	fth_instance_id id = i->id;
	int r = fth_sim_feed(s, FTH_EV_INSTANCE_REVOKED, FTH_NONE, id);
	/* Others may start in the room that was kept for them, or have nothing left to wait for. */
	for (size_t k = 0; k < s->touched.len && !r; k++)
		if (s->touched.data[k] != id)
			r = fth_cloud_after_release(s, s->touched.data[k]);
	return r;
}

int fth_market_outcome(struct sim *s, const struct fth_heap_item *item)
{
	if (item->a == MARKET)
		return play(s);
	const struct fth_instance *i = fth_cluster_instance(s->cluster, item->b);
	if (!i || i->state == FTH_INSTANCE_GONE)
		return 0; /* it went by itself */
	return item->a == NOTICE ? give_notice(s, i) : take(s, i);
}
