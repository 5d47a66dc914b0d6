/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/hybrid/central.h"

void fth_central_init(struct fth_central *c, uint32_t n, uint32_t slots, fth_time delay)
{
	*c = (struct fth_central){.n = n, .slots = slots, .leaves = 1, .two_delays = 2 * delay, .nwords = (n + 63) / 64};
	while (c->leaves < n)
		c->leaves *= 2;
	c->work = fth_alloc(n * sizeof(*c->work));
	c->booked = fth_alloc(n * sizeof(*c->booked));
	c->filed = fth_alloc(n * sizeof(*c->filed));
	c->runs = fth_alloc((size_t)n * slots * sizeof(*c->runs));
	c->trees = fth_alloc((slots + 1) * sizeof(*c->trees));
	c->bits = fth_alloc((c->nwords + 1) * sizeof(*c->bits));
	for (size_t i = 0; i < (size_t)n * slots; i++)
		c->runs[i].start = -1;
	for (uint32_t t = 0; t <= slots; t++) {
		c->trees[t] = fth_alloc(2 * c->leaves * sizeof(**c->trees));
		for (uint32_t i = 0; i < 2 * c->leaves; i++)
			c->trees[t][i] = FTH_NEVER;
	}
}

void fth_central_release(struct fth_central *c)
{
	for (uint32_t t = 0; c->trees && t <= c->slots; t++)
		free(c->trees[t]);
	free(c->trees);
	free(c->work);
	free(c->booked);
	free(c->filed);
	free(c->runs);
	free(c->bits);
	fth_vec_release(&c->ties);
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
	const struct fth_central_run *runs = &c->runs[(size_t)w * c->slots];
	fth_time key = c->work[w];
	uint8_t moving = 0;
	bool any = false;
	for (uint32_t s = 0; s < c->slots; s++) {
		if (runs[s].start < 0)
			continue;
		any = true;
		bool counts_down = now - runs[s].start < runs[s].est;
		moving += counts_down;
		key += counts_down ? runs[s].start : -runs[s].est;
	}
	key += any ? c->two_delays : 0;
	if (c->filed[w] != moving)
		tree_set(c->trees[c->filed[w]], c->leaves, w, FTH_NEVER);
	c->filed[w] = moving;
	tree_set(c->trees[moving], c->leaves, w, c->work[w] > 0 ? key : FTH_NEVER);
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
		if (c->runs[item.a].gen == item.b)
			file(c, item.a / c->slots, now);
	}
}

/* A wait in seconds, summed up as the authors' program does. */
static double wait_seconds(const struct fth_central *c, uint32_t w, double now)
{
	const struct fth_central_run *runs = &c->runs[(size_t)w * c->slots];
	double work = (double)c->work[w] / (double)FTH_SEC, done = 0;
	bool any = false;
	for (uint32_t s = 0; s < c->slots; s++) {
		if (runs[s].start < 0)
			continue;
		done += FTH_MIN(now - runs[s].when, (double)runs[s].est / (double)FTH_SEC);
		any = true;
	}
	return any ? (double)c->two_delays / (double)FTH_SEC + work - done : work;
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
	double seconds = (double)now / (double)FTH_SEC;
	fth_time least = FTH_NEVER;
	for (uint32_t t = 0; t <= c->slots; t++)
		if (c->trees[t][1] != FTH_NEVER)
			least = FTH_MIN(least, c->trees[t][1] - (fth_time)t * now);
	fth_vec_clear(&c->ties);
	for (uint32_t t = c->slots + 1; t-- > 0;)
		if (c->trees[t][1] != FTH_NEVER && c->trees[t][1] - (fth_time)t * now == least)
			tree_equal(c, c->trees[t], 1, c->trees[t][1]);
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

static void book(struct fth_central *c, uint32_t w, fth_time est, fth_time now)
{
	c->work[w] += est;
	c->booked[w]++;
	set_bit(c, w, true);
	file(c, w, now);
}

/* Then those with a slot to spare, the emptiest first. */
static uint32_t take_spare(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret)
{
	uint32_t got = 0;
	for (uint32_t level = 1; level < c->slots && got < n; level++)
		for (uint32_t w = 0; w < c->n && got < n; w++)
			if (c->booked[w] == level) {
				ret[got++] = w;
				book(c, w, est, now);
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
			book(c, last, est, now);
		}
	}
}

void fth_central_assign(struct fth_central *c, uint32_t n, fth_time est, fth_time now, uint32_t *ret)
{
	est = FTH_MAX(est, 1); /* nothing is free of charge, or one worker would get it all */
	settle(c, now);
	uint32_t got = take_empty(c, n, ret);
	for (uint32_t k = 0; k < got; k++)
		book(c, ret[k], est, now);
	if (c->slots > 1)
		got += take_spare(c, n - got, est, now, ret + got);
	take_least(c, n - got, est, now, ret + got);
}

void fth_central_started(struct fth_central *c, uint32_t w, uint32_t slot, fth_time est, fth_time now, double when)
{
	uint32_t at = w * c->slots + slot;
	struct fth_central_run *r = &c->runs[at];
	settle(c, now);
	*r = (struct fth_central_run){.start = now, .est = FTH_MAX(est, 1), .when = when, .gen = r->gen + 1};
	fth_heap_push(&c->overdue, now + r->est, 0, at, r->gen, 0);
	file(c, w, now);
}

void fth_central_unbook(struct fth_central *c, uint32_t w, fth_time est, fth_time now)
{
	c->work[w] -= FTH_MAX(est, 1);
	c->booked[w]--;
	file(c, w, now);
	if (c->work[w] <= 0)
		set_bit(c, w, false);
}

void fth_central_ended(struct fth_central *c, uint32_t w, uint32_t slot, fth_time est, fth_time now)
{
	struct fth_central_run *r = &c->runs[(size_t)w * c->slots + slot];
	r->start = -1;
	r->gen++;
	fth_central_unbook(c, w, est, now);
}

fth_time fth_central_wait(const struct fth_central *c, uint32_t w, fth_time now)
{
	const struct fth_central_run *runs = &c->runs[(size_t)w * c->slots];
	fth_time wait = c->work[w];
	bool any = false;
	for (uint32_t s = 0; s < c->slots; s++)
		if (runs[s].start >= 0) {
			wait -= FTH_MIN(now - runs[s].start, runs[s].est);
			any = true;
		}
	return any ? wait + c->two_delays : wait;
}
