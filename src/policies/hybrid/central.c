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
	c->when = fth_alloc(n * sizeof(*c->when));
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
	free(c->when);
	fth_vec_release(&c->ties);
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

/* Add the leaves below `at` that have this key, from the left. */
static void tree_equal(struct fth_central *c, const fth_time *tree, uint32_t at, fth_time key)
{
	while (at < c->leaves) {
		bool left = tree[2 * at] == key, right = tree[2 * at + 1] == key;
		if (left && right)
			tree_equal(c, tree, 2 * at, key);
		at = 2 * at + right;
	}
	fth_vec_push(&c->ties, ((struct fth_central_tie){0, at - c->leaves}));
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

/* A wait in seconds, summed up as the authors' program does. */
static double wait_seconds(const struct fth_central *c, uint32_t w, double now)
{
	double work = (double)c->work[w] / (double)FTH_SEC, est = (double)c->est[w] / (double)FTH_SEC;
	if (c->start[w] < 0)
		return work;
	return (double)c->two_delays / (double)FTH_SEC + work - FTH_MIN(now - c->when[w], est);
}

static int by_wait(const void *a, const void *b)
{
	const struct fth_central_tie *x = a, *y = b;
	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	return (x->worker > y->worker) - (x->worker < y->worker);
}

/* All that wait least, in order: to the microsecond they are equal, rounding and then their numbers part them. The one that
 * was last served stays in front of its equals. */
static void find_least(struct fth_central *c, fth_time now, uint32_t last)
{
	fth_time a = c->moving[1] == FTH_NEVER ? FTH_NEVER : c->moving[1] - now, b = c->still[1];
	double seconds = (double)now / (double)FTH_SEC;
	fth_vec_clear(&c->ties);
	if (a <= b && a != FTH_NEVER)
		tree_equal(c, c->moving, 1, c->moving[1]);
	if (b <= a)
		tree_equal(c, c->still, 1, c->still[1]);
	for (size_t k = 0; k < c->ties.len; k++)
		c->ties.data[k].wait = wait_seconds(c, c->ties.data[k].worker, seconds);
	if (c->ties.len > 1)
		qsort(c->ties.data, c->ties.len, sizeof(*c->ties.data), by_wait);
	for (size_t k = 1; k < c->ties.len && c->ties.data[k].wait == c->ties.data[0].wait; k++)
		if (c->ties.data[k].worker == last) {
			struct fth_central_tie t = c->ties.data[k];
			memmove(&c->ties.data[1], &c->ties.data[0], k * sizeof(t));
			c->ties.data[0] = t;
		}
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
	uint32_t last = UINT32_MAX;
	for (uint32_t k = 0; k < n;) {
		find_least(c, now, last);
		for (size_t i = 0; i < c->ties.len && k < n; i++) {
			last = c->ties.data[i].worker;
			ret[k++] = last;
			c->work[last] += est;
			file(c, last, now);
		}
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

void fth_central_started(struct fth_central *c, uint32_t w, fth_time est, fth_time now, double when)
{
	settle(c, now);
	c->start[w] = now;
	c->when[w] = when;
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
