/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/yardsticks/eva_artifact/close.h"

enum { CALLS_MAX = 256 }; /* beyond that it is cheaper to search again */

void fth_close_release(struct close_log *l)
{
	fth_vec_release(&l->members);
	fth_vec_release(&l->calls);
	fth_party_release(&l->party);
}

void fth_close_clear(struct close_log *l)
{
	fth_vec_clear(&l->members);
	fth_vec_clear(&l->calls);
	l->overflow = false;
}

struct close_term fth_close_price(double price)
{
	return (struct close_term){0, 0, price};
}

struct close_term fth_close_set(struct close_log *l, const struct fth_party *p, const struct fth_member *more)
{
	struct close_term t = {(uint32_t)l->members.len, (uint32_t)p->list.len + (more != NULL), 0};
	if (l->calls.len >= CALLS_MAX)
		return t;
	for (size_t i = 0; i < p->list.len; i++)
		fth_vec_push(&l->members, p->list.data[i]);
	if (more)
		fth_vec_push(&l->members, *more);
	return t;
}

static int sign_of(double gap)
{
	return gap > 0 ? 1 : gap < 0 ? -1 : 0;
}

void fth_close_note(struct close_log *l, struct close_term a, struct close_term b, enum fth_multi multi, double gap)
{
	struct close_call c = {a, b, multi, sign_of(gap)};
	if (l->calls.len < CALLS_MAX)
		fth_vec_push(&l->calls, c);
	else
		l->overflow = true;
}

static double value(struct close_log *l, struct fth_tnrp *r, const struct close_term *t, enum fth_multi multi)
{
	if (!t->n)
		return t->price;
	fth_party_clear(&l->party);
	for (uint32_t i = 0; i < t->n; i++)
		fth_party_add(&l->party, r, &l->members.data[t->first + i]);
	return fth_tnrp_of(r, &l->party, multi);
}

bool fth_close_same(struct close_log *l, struct fth_tnrp *r)
{
	if (l->overflow)
		return false;
	for (size_t i = 0; i < l->calls.len; i++) {
		const struct close_call *c = &l->calls.data[i];
		if (sign_of(value(l, r, &c->a, c->multi) - value(l, r, &c->b, c->multi)) != c->sign)
			return false;
	}
	return true;
}
