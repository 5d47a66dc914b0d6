/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

void fth_ledger_release(struct fth_ledger *l)
{
	fth_map_release(&l->open);
	fth_vec_release(&l->meters);
	fth_vec_release(&l->free_meters);
	fth_vec_release(&l->charges);
	l->total = 0;
}

void fth_ledger_open(struct fth_ledger *l, fth_instance_id i, fth_offer_id o, const struct fth_billing *b,
		     fth_price price, fth_time now)
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
	l->meters.data[at] =
		(struct fth_meter){.instance = i, .offer = o, .from = now, .last = now, .price = price, .billing = *b};
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

static void advance(struct fth_meter *m, fth_time now)
{
	m->integral += (__int128)m->price * (now - m->last);
	m->last = now;
}

void fth_ledger_reprice(struct fth_ledger *l, fth_instance_id i, fth_price price, fth_time now)
{
	struct fth_meter *m = find(l, i);
	if (!m)
		return;
	advance(m, now);
	m->price = price;
}

/* Nine billion dollars are the end of the scale: more stays there instead of turning negative. */
static fth_money saturate(__int128 amount)
{
	return amount > INT64_MAX ? INT64_MAX : (fth_money)amount;
}

/* What minimum and increment add to the time used is charged at the last price. */
static struct fth_charge settle(const struct fth_meter *open, fth_time now)
{
	struct fth_meter m = *open;
	advance(&m, now);
	fth_time used = now - m.from, billed = FTH_MAX(used, m.billing.minimum);
	fth_time inc = m.billing.increment, over = billed % inc;
	if (over)
		billed = billed > FTH_NEVER - inc ? FTH_NEVER : billed + inc - over;
	__int128 integral = m.integral + (__int128)m.price * (billed - used);
	return (struct fth_charge){
		.instance = m.instance,
		.offer = m.offer,
		.from = m.from,
		.to = now,
		.billed = billed,
		.amount = saturate(integral / FTH_HOUR),
	};
}

fth_money fth_ledger_accrued(const struct fth_ledger *l, fth_instance_id i, fth_time now)
{
	const struct fth_meter *m = find(l, i);
	return m ? settle(m, now).amount : 0;
}

const struct fth_charge *fth_ledger_close(struct fth_ledger *l, fth_instance_id i, fth_time now)
{
	const struct fth_meter *m = find(l, i);
	if (!m)
		return NULL;
	struct fth_charge charge = settle(m, now);
	fth_vec_push(&l->free_meters, (uint32_t)(m - l->meters.data));
	fth_map_del(&l->open, i);
	l->total = saturate((__int128)l->total + charge.amount);
	fth_vec_push(&l->charges, charge);
	return &fth_vec_last(&l->charges);
}
