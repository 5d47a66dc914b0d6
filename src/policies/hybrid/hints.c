/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/hybrid/hints.h"

void fth_hints_init(struct fth_hints *h, const struct fth_central *c)
{
	*h = (struct fth_hints){.central = c, .current = FTH_NONE};
}

void fth_hints_release(struct fth_hints *h)
{
	for (size_t i = 0; i < h->list.len; i++) {
		free(h->list.data[i].bits);
		free(h->list.data[i].before);
	}
	fth_vec_release(&h->list);
	fth_vec_release(&h->free);
}

void fth_hints_drop(struct fth_hints *h, uint32_t hint)
{
	if (hint == FTH_NONE)
		return;
	struct fth_hint *x = &h->list.data[hint];
	if (--x->keepers)
		return;
	free(x->bits);
	free(x->before);
	*x = (struct fth_hint){0};
	fth_vec_push(&h->free, hint);
	if (h->current == hint)
		h->current = FTH_NONE;
}

static uint32_t copy(struct fth_hints *h)
{
	const struct fth_central *c = h->central;
	uint32_t at;
	if (h->free.len) {
		at = fth_vec_pop(&h->free);
	} else {
		at = (uint32_t)h->list.len;
		fth_vec_push(&h->list, (struct fth_hint){0});
	}
	struct fth_hint *x = &h->list.data[at];
	x->bits = fth_realloc(NULL, c->nwords * sizeof(*x->bits));
	memcpy(x->bits, c->bits, c->nwords * sizeof(*x->bits));
	x->nclear = c->n - c->nbusy;
	h->current = at;
	h->version = c->version;
	return at;
}

uint32_t fth_hints_keep(struct fth_hints *h, uint32_t instead_of)
{
	bool same = h->current != FTH_NONE && h->version == h->central->version;
	uint32_t at = same ? h->current : copy(h);
	h->list.data[at].keepers++;
	fth_hints_drop(h, instead_of);
	return at;
}

uint32_t fth_hints_clear_count(struct fth_hints *h, uint32_t hint)
{
	struct fth_hint *x = &h->list.data[hint];
	const uint32_t n = h->central->nwords;
	if (x->before)
		return x->nclear;
	x->before = fth_realloc(NULL, (n + 1) * sizeof(*x->before));
	uint32_t sum = 0;
	for (uint32_t k = 0; k < n; k++) {
		x->before[k] = sum;
		sum += 64 - (uint32_t)__builtin_popcountll(x->bits[k]);
	}
	x->before[n] = sum; /* counts what is beyond the last worker too; nobody asks for those */
	return x->nclear;
}

uint32_t fth_hints_clear_at(const struct fth_hints *h, uint32_t hint, uint32_t k)
{
	const struct fth_hint *x = &h->list.data[hint];
	uint32_t lo = 0, hi = h->central->nwords;
	while (hi - lo > 1) {
		uint32_t mid = (lo + hi) / 2;
		if (x->before[mid] <= k)
			lo = mid;
		else
			hi = mid;
	}
	uint64_t clear = ~x->bits[lo];
	for (k -= x->before[lo]; k; k--)
		clear &= clear - 1;
	return lo * 64 + (uint32_t)__builtin_ctzll(clear);
}
