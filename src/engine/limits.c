/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on dollars and disruption. They are part of the engine, not of the daemon, so that a replay
 * refuses the very actions that were refused live, and a simulation can ask what a budget would do.
 *
 * They only ever refuse: what runs goes on, what waits goes on waiting, and the reason is counted.
 */
#include "engine/internal.h"

static fth_money spent(const struct fth_engine *e, fth_time now)
{
	fth_money sum = e->ledger.total;
	for (fth_instance_id id = e->cluster.view.first_instance; id != FTH_NONE;) {
		sum += fth_ledger_accrued(&e->ledger, id, now);
		id = fth_cluster_instance(&e->cluster, id)->next;
	}
	return sum;
}

static fth_money closed_before(const struct fth_engine *e, fth_time at)
{
	fth_money sum = 0;
	for (size_t i = 0; i < e->ledger.charges.len; i++)
		sum += e->ledger.charges.data[i].to < at ? e->ledger.charges.data[i].amount : 0;
	return sum;
}

/* An instance that several offers may still give counts at the dearest of them. */
static fth_price price_of(const struct fth_engine *e, const struct fth_instance *i)
{
	const struct fth_offer *offers = e->cluster.catalog.offers.data;
	const struct wish *w = fth_engine_wish(e, i);
	fth_price most = offers[i->offer].price;
	for (size_t k = w ? w->tried + 1 : 0; w && k < w->offers.len; k++)
		most = FTH_MAX(most, offers[w->offers.data[k]].price);
	return most;
}

static fth_price rate_now(const struct fth_engine *e)
{
	fth_price sum = 0;
	for (fth_instance_id id = e->cluster.view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(&e->cluster, id);
		sum += price_of(e, i);
		id = i->next;
	}
	return sum;
}

static void disturb(struct fth_engine *e, fth_instance_id id)
{
	const struct fth_instance *i = fth_cluster_instance(&e->cluster, id);
	while (e->spending.disturbed.len <= i->slot)
		fth_vec_push(&e->spending.disturbed, false);
	e->spending.ndisturbed += !e->spending.disturbed.data[i->slot];
	e->spending.disturbed.data[i->slot] = true;
}

static void count_disturbed(struct fth_engine *e)
{
	struct fth_spending *s = &e->spending;
	if (s->disturbed.len)
		memset(s->disturbed.data, 0, s->disturbed.len * sizeof(*s->disturbed.data));
	s->ndisturbed = s->nready = 0;
	for (fth_job_id id = e->cluster.view.first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(&e->cluster, id);
		for (uint32_t k = 0; k < j->ntasks; k++) {
			const struct fth_task *t = fth_cluster_task(&e->cluster, j->first_task + k);
			if (t->state == FTH_TASK_STOPPING && t->on != FTH_NONE)
				disturb(e, t->on);
		}
		id = j->next;
	}
	for (fth_instance_id id = e->cluster.view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(&e->cluster, id);
		s->nready += i->state == FTH_INSTANCE_READY || i->state == FTH_INSTANCE_DRAINING;
		id = i->next;
	}
}

void fth_limits_begin(struct fth_engine *e, fth_time now)
{
	const struct fth_limits *l = &e->cfg.limits;
	struct fth_spending *s = &e->spending;
	if (l->usd_per_hour)
		s->rate = rate_now(e);
	if (l->usd_per_month) {
		int64_t month = fth_month_of(l->epoch_us + now) + 1;
		fth_money all = spent(e, now);
		/* What was spent before this month's first round belongs to the months before it. Of a limit that is new, the
		 * charges tell: each counts in the month in which it was closed. */
		if (month != s->month)
			s->month_base = s->month ? all : closed_before(e, fth_month_start_day(month - 1) * FTH_DAY - l->epoch_us);
		s->month = month;
		s->month_spent = all - s->month_base;
	}
	if (l->moves_per_hour) {
		size_t old = 0;
		while (old < s->moves.len && s->moves.data[old] <= now - FTH_HOUR)
			old++;
		if (old)
			memmove(s->moves.data, s->moves.data + old, (s->moves.len - old) * sizeof(*s->moves.data));
		s->moves.len -= old;
	}
	if (l->disturbed_ppm)
		count_disturbed(e);
}

enum fth_refusal fth_limits_launch(struct fth_engine *e, const fth_offer_id *offers, uint32_t n)
{
	const struct fth_limits *l = &e->cfg.limits;
	if (l->usd_per_month && e->spending.month_spent >= l->usd_per_month) {
		/* What waits for money is to be asked about when there is some. (The month's number is one too many.) */
		fth_judge_wake(e, fth_month_start_day(e->spending.month) * FTH_DAY - l->epoch_us);
		return FTH_REFUSED_MONTHLY_BUDGET;
	}
	for (uint32_t k = 0; l->usd_per_hour && k < n; k++)
		if (e->spending.rate + e->cluster.catalog.offers.data[offers[k]].price > l->usd_per_hour)
			return FTH_REFUSED_HOURLY_BUDGET;
	return FTH_ACCEPTED;
}

void fth_limits_launched(struct fth_engine *e, const struct fth_instance *i)
{
	if (e->cfg.limits.usd_per_hour)
		e->spending.rate += price_of(e, i);
}

/* How many running tasks stop if this one does: those that advance together stop together. */
static uint32_t stops_with(const struct fth_engine *e, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(&e->cluster, t->job);
	uint32_t n = 0;
	if (!fth_job_is_together(j))
		return t->state == FTH_TASK_RUNNING;
	for (uint32_t k = 0; k < j->ntasks; k++)
		n += fth_cluster_task(&e->cluster, j->first_task + k)->state == FTH_TASK_RUNNING;
	return n;
}

enum fth_refusal fth_limits_move(struct fth_engine *e, fth_time now, const struct fth_task *t)
{
	const struct fth_limits *l = &e->cfg.limits;
	struct fth_spending *s = &e->spending;
	if (t->state != FTH_TASK_RUNNING || e->ordered)
		return FTH_ACCEPTED;
	uint32_t stops = stops_with(e, t);
	if (l->moves_per_hour && s->moves.len + stops > l->moves_per_hour)
		return FTH_REFUSED_MOVES_BUDGET;
	if (l->disturbed_ppm && t->on != FTH_NONE) {
		const struct fth_instance *i = fth_cluster_instance(&e->cluster, t->on);
		bool already = i->slot < s->disturbed.len && s->disturbed.data[i->slot];
		uint64_t most = ((uint64_t)s->nready * l->disturbed_ppm + 999999) / 1000000;
		if (!already && s->ndisturbed >= most)
			return FTH_REFUSED_DISRUPTION_BUDGET;
		disturb(e, t->on);
	}
	for (uint32_t k = 0; l->moves_per_hour && k < stops; k++)
		fth_vec_push(&s->moves, now);
	return FTH_ACCEPTED;
}
