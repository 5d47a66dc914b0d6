/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

void fth_ledger_release(struct fth_ledger *l)
{
	for (size_t i = 0; i < l->tariffs.len; i++)
		fth_vec_release(&l->tariffs.data[i].steps);
	fth_vec_release(&l->tariffs);
	fth_map_release(&l->open);
	fth_vec_release(&l->meters);
	fth_vec_release(&l->free_meters);
	fth_vec_release(&l->charges);
	l->total = 0;
}

/* ---- what offers cost over time ---- */

static struct fth_tariff *tariff_of(struct fth_ledger *l, fth_offer_id o, fth_price price, fth_time now)
{
	while (l->tariffs.len <= o)
		fth_vec_push(&l->tariffs, (struct fth_tariff){0});
	struct fth_tariff *t = &l->tariffs.data[o];
	if (!t->steps.len)
		fth_vec_push(&t->steps, ((struct fth_tariff_step){.at = now, .price = price}));
	return t;
}

/* The step that holds at a time; times before the first one belong to it. */
static size_t step_at(const struct fth_tariff *t, fth_time at)
{
	size_t lo = 0, hi = t->steps.len;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->steps.data[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

static __int128 sum_until(const struct fth_tariff *t, fth_time at)
{
	const struct fth_tariff_step *s = &t->steps.data[step_at(t, at)];
	return s->sum + (__int128)s->price * (at - s->at);
}

void fth_ledger_reprice(struct fth_ledger *l, fth_offer_id o, fth_price was, fth_price price, fth_time now)
{
	struct fth_tariff *t = tariff_of(l, o, was, now);
	struct fth_tariff_step *last = &fth_vec_last(&t->steps);
	if (last->price == price)
		return;
	if (last->at == now && t->steps.len > 1) {
		last->price = price; /* changed twice at one time: the later one holds */
		return;
	}
	struct fth_tariff_step step = {now, price, sum_until(t, now)};
	fth_vec_push(&t->steps, step);
}

/* ---- meters ---- */

void fth_ledger_open(struct fth_ledger *l, fth_instance_id i, fth_offer_id o, const struct fth_billing *b,
		     fth_price price, fth_time from)
{
	if (fth_ledger_is_open(l, i))
		return;
	uint32_t at;
	if (l->free_meters.len) {
		at = fth_vec_pop(&l->free_meters);
	} else {
		at = (uint32_t)l->meters.len;
		fth_vec_push(&l->meters, (struct fth_meter){0});
	}
	l->meters.data[at] = (struct fth_meter){.instance = i, .offer = o, .from = from, .billing = *b};
	tariff_of(l, o, price, from);
	fth_map_put(&l->open, i, at);
}

static struct fth_meter *find(const struct fth_ledger *l, fth_instance_id i)
{
	uint64_t at;
	return fth_map_get(&l->open, i, &at) ? &l->meters.data[at] : NULL;
}

bool fth_ledger_is_open(const struct fth_ledger *l, fth_instance_id i)
{
	return find(l, i) != NULL;
}

static fth_time billed_time(const struct fth_billing *b, fth_time used, bool cut)
{
	if (cut && b->cut_free)
		return used - used % b->increment;
	fth_time billed = FTH_MAX(used, b->minimum), over = billed % b->increment;
	if (!over)
		return billed;
	return billed > FTH_NEVER - b->increment ? FTH_NEVER : billed + b->increment - over;
}

/* Each increment at the price of its beginning: step by step, all increments that begin in one at once. */
static __int128 sum_of_starts(const struct fth_tariff *t, const struct fth_meter *m, fth_time billed)
{
	__int128 sum = 0;
	fth_time inc = m->billing.increment, at = m->from, end = m->from + billed;
	for (size_t k = step_at(t, at); at < end && k < t->steps.len; k++) {
		fth_time until = k + 1 < t->steps.len ? FTH_MIN(t->steps.data[k + 1].at, end) : end;
		if (until <= at)
			continue;
		fth_time n = (until - at + inc - 1) / inc;
		sum += (__int128)t->steps.data[k].price * n * inc;
		at += n * inc;
	}
	return sum;
}

/* Nine billion dollars are the end of the scale: more stays there instead of turning negative. */
static fth_money saturate(__int128 amount)
{
	return amount > INT64_MAX ? INT64_MAX : (fth_money)amount;
}

/* What minimum and increment add to the time used is charged at the last price. */
static struct fth_charge settle(const struct fth_ledger *l, const struct fth_meter *m, fth_time now, bool cut)
{
	const struct fth_tariff *t = &l->tariffs.data[m->offer];
	fth_time used = now - m->from, billed = billed_time(&m->billing, used, cut);
	__int128 sum;
	if (m->billing.start_price) {
		sum = sum_of_starts(t, m, billed);
	} else {
		fth_time to = m->from + FTH_MIN(used, billed);
		sum = sum_until(t, to) - sum_until(t, m->from);
		if (billed > used)
			sum += (__int128)t->steps.data[step_at(t, now)].price * (billed - used);
	}
	return (struct fth_charge){
		.instance = m->instance,
		.offer = m->offer,
		.from = m->from,
		.to = now,
		.billed = billed,
		.amount = saturate(sum / FTH_HOUR),
	};
}

fth_money fth_ledger_accrued(const struct fth_ledger *l, fth_instance_id i, fth_time now)
{
	const struct fth_meter *m = find(l, i);
	return m ? settle(l, m, now, false).amount : 0;
}

const struct fth_charge *fth_ledger_close(struct fth_ledger *l, fth_instance_id i, fth_time now, bool cut)
{
	const struct fth_meter *m = find(l, i);
	if (!m)
		return NULL;
	struct fth_charge charge = settle(l, m, now, cut);
	fth_vec_push(&l->free_meters, (uint32_t)(m - l->meters.data));
	fth_map_del(&l->open, i);
	l->total = saturate((__int128)l->total + charge.amount);
	fth_vec_push(&l->charges, charge);
	return &fth_vec_last(&l->charges);
}
