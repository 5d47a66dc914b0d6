/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/hybrid/central.h"

void fth_central_init(struct fth_central *c, uint32_t n, fth_time delay)
{
	*c = (struct fth_central){.n = n, .leaves = 1, .two_delays = 2 * delay, .nwords = (n + 63) / 64};
	while (c->leaves < n)
		c->leaves *= 2;
	c->work = fth_alloc(n * sizeof(*c->work));
	c->start = fth_alloc(n * sizeof(*c->start));
	c->est = fth_alloc(n * sizeof(*c->est));
	c->gen = fth_alloc(n * sizeof(*c->gen));
	c->moving = fth_alloc(2 * c->leaves * sizeof(*c->moving));
	c->still = fth_alloc(2 * c->leaves * sizeof(*c->still));
	c->bits = fth_alloc((c->nwords + 1) * sizeof(*c->bits));
	for (uint32_t i = 0; i < n; i++)
		c->start[i] = -1;
	for (uint32_t i = 0; i < 2 * c->leaves; i++)
		c->moving[i] = c->still[i] = FTH_NEVER;
}

void fth_central_release(struct fth_central *c)
{
	free(c->work);
	free(c->start);
	free(c->est);
	free(c->gen);
	free(c->moving);
	free(c->still);
	free(c->bits);
	fth_heap_release(&c->overdue);
}

static void tree_set(fth_time *tree, uint32_t leaves, uint32_t i, fth_time key)
{
	uint32_t at = leaves + i;
	tree[at] = key;
	for (at /= 2; at; at /= 2) {
		fth_time least = FTH_MIN(tree[2 * at], tree[2 * at + 1]);
		if (tree[at] == least)
			return;
		tree[at] = least;
	}
}

/* The first leaf with the least key; the tree is not empty. */
static uint32_t tree_first(const fth_time *tree, uint32_t leaves)
{
	uint32_t at = 1;
	while (at < leaves)
		at = 2 * at + (tree[2 * at] != tree[at]);
	return at - leaves;
}

/* Into the tree it belongs to; those without work are in none. */
static void file(struct fth_central *c, uint32_t w, fth_time now)
{
	fth_time moving = FTH_NEVER, still = FTH_NEVER;
	if (c->work[w] > 0) {
		if (c->start[w] < 0)
			still = c->work[w];
		else if (now - c->start[w] < c->est[w])
			moving = c->work[w] + c->two_delays + c->start[w];
		else
			still = c->work[w] + c->two_delays - c->est[w];
	}
	tree_set(c->moving, c->leaves, w, moving);
	tree_set(c->still, c->leaves, w, still);
}

static void set_bit(struct fth_central *c, uint32_t w, bool on)
{
	uint64_t bit = (uint64_t)1 << w % 64, *word = &c->bits[w / 64];
	if (!(*word & bit) == !on)
		return;
	*word ^= bit;
	c->nbusy += on ? 1 : (uint32_t)-1;
	c->version++;
}

/* Tasks that have used up their estimate stop counting down. */
static void settle(struct fth_central *c, fth_time now)
{
	while (c->overdue.len && c->overdue.data[0].time <= now) {
		struct fth_heap_item item = fth_heap_pop(&c->overdue);
		if (c->gen[item.a] == item.b)
			file(c, item.a, now);
	}
}

static bool least(const struct fth_central *c, fth_time now, fth_time *ret_wait, uint32_t *ret_w)
{
	fth_time a = c->moving[1] == FTH_NEVER ? FTH_NEVER : c->moving[1] - now, b = c->still[1];
	if (a == FTH_NEVER && b == FTH_NEVER)
		return false;
	uint32_t wa = a <= b ? tree_first(c->moving, c->leaves) : UINT32_MAX;
	uint32_t wb = b <= a ? tree_first(c->still, c->leaves) : UINT32_MAX;
	*ret_wait = FTH_MIN(a, b);
	*ret_w = FTH_MIN(wa, wb);
	return true;
}

/* Those without work first, by number. */
static uint32_t take_empty(const struct fth_central *c, uint32_t n, uint32_t *ret)
{
	uint32_t got = 0;
	for (uint32_t k = 0; k < c->nwords && got < n; k++) {
		uint64_t free_bits = ~c->bits[k];
		if (k == c->nwords - 1 && c->n % 64)
			free_bits &= ((uint64_t)1 << c->n % 64) - 1;
		for (; free_bits && got < n; free_bits &= free_bits - 1)
			ret[got++] = k * 64 + (uint32_t)__builtin_ctzll(free_bits);
	}
	return got;
}

/* The rest to who waits least, and on to the same one while it waits no longer than the next. */
static void take_least(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret)
{
	for (uint32_t k = 0; k < n;) {
		fth_time wait, next_wait = FTH_NEVER;
		uint32_t w, next;
		least(c, now, &wait, &w);
		tree_set(c->moving, c->leaves, w, FTH_NEVER);
		tree_set(c->still, c->leaves, w, FTH_NEVER);
		least(c, now, &next_wait, &next);
		do {
			ret[k++] = w;
			c->work[w] += est;
			wait += est;
		} while (k < n && wait <= next_wait);
		file(c, w, now);
	}
}

void fth_central_assign(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret)
{
	est = FTH_MAX(est, 1); /* nothing is free of charge, or one worker would get it all */
	settle(c, now);
	uint32_t empty = take_empty(c, n, ret);
	for (uint32_t k = 0; k < empty; k++) {
		c->work[ret[k]] = est;
		set_bit(c, ret[k], true);
		file(c, ret[k], now);
	}
	take_least(c, n - empty, est, now, ret + empty);
}

void fth_central_started(struct fth_central *c, uint32_t w, fth_time est, fth_time now)
{
	settle(c, now);
	c->start[w] = now;
	c->est[w] = FTH_MAX(est, 1);
	fth_heap_push(&c->overdue, now + c->est[w], 0, w, ++c->gen[w], 0);
	file(c, w, now);
}

void fth_central_ended(struct fth_central *c, uint32_t w, fth_time est)
{
	c->work[w] -= FTH_MAX(est, 1);
	c->start[w] = -1;
	c->gen[w]++;
	file(c, w, 0);
	if (c->work[w] <= 0)
		set_bit(c, w, false);
}

fth_time fth_central_wait(const struct fth_central *c, uint32_t w, fth_time now)
{
	if (c->start[w] < 0)
		return c->work[w];
	return c->work[w] + c->two_delays - FTH_MIN(now - c->start[w], c->est[w]);
}
