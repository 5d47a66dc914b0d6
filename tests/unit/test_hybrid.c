/* SPDX-License-Identifier: Apache-2.0 */
/* Probes, queues, stealing, hints and the central book, each on cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hybrid_rig.h"

/* ---- draws ---- */

static void draws_are_the_twisters(void **state)
{
	(void)state;
	struct fth_draw d;
	fth_draw_seed(&d, 123456798);
	assert_true(fth_draw_real(&d) == 0.07371892408507186);
	assert_true(fth_draw_real(&d) == 0.46435803918066587);
	assert_true(fth_draw_real(&d) == 0.1426420529596253);
	for (int k = 3; k < 999; k++)
		fth_draw_real(&d);
	assert_true(fth_draw_real(&d) == 0.20845083559605526);
	fth_draw_seed(&d, ((uint64_t)1 << 40) + 5);
	assert_true(fth_draw_real(&d) == 0.5043802970418443);
	for (int k = 0; k < 1000; k++)
		assert_true(fth_draw_below(&d, 7) < 7);
}

/* ---- the central book ---- */

static void empty_workers_first_then_who_waits_least(void **state)
{
	(void)state;
	struct fth_central c;
	uint32_t w[8];
	fth_central_init(&c, 4, 1, 500);
	fth_central_assign(&c, 2, 100 * FTH_SEC, 0, w);
	assert_int_equal(w[0], 0);
	assert_int_equal(w[1], 1);
	assert_int_equal(c.nbusy, 2);
	/* 2 and 3 are empty; then all wait alike, or 40 s: the two with 40 s get the rest while they wait no longer. */
	fth_central_assign(&c, 5, 40 * FTH_SEC, 0, w);
	assert_int_equal(w[0], 2);
	assert_int_equal(w[1], 3);
	assert_int_equal(w[2], 2); /* 40 -> 80 */
	assert_int_equal(w[3], 3);
	assert_int_equal(w[4], 3); /* 80 -> 120: it waits no longer than the next, so it goes on */
	/* Now 100, 100, 80, 120. */
	fth_central_assign(&c, 2, 10 * FTH_SEC, 0, w);
	assert_int_equal(w[0], 2); /* 80 -> 90 */
	assert_int_equal(w[1], 2); /* 90 -> 100 */
	fth_central_release(&c);
}

static void what_is_executed_waits_less_and_less(void **state)
{
	(void)state;
	struct fth_central c;
	uint32_t w[2];
	fth_central_init(&c, 2, 1, 500);
	fth_central_assign(&c, 2, 100 * FTH_SEC, 0, w);
	fth_central_started(&c, 1, 0, 100 * FTH_SEC, 500, 0.0005);
	assert_int_equal(fth_central_wait(&c, 0, 30 * FTH_SEC), 100 * FTH_SEC);
	assert_int_equal(fth_central_wait(&c, 1, 30 * FTH_SEC + 500), 70 * FTH_SEC + 1000);
	fth_central_assign(&c, 1, 10 * FTH_SEC, 30 * FTH_SEC + 500, w);
	assert_int_equal(w[0], 1);
	/* Its estimate used up, it counts down no further: 10 s and the two messages are left. */
	assert_int_equal(fth_central_wait(&c, 1, 500 * FTH_SEC), 10 * FTH_SEC + 1000);
	fth_central_assign(&c, 1, 5 * FTH_SEC, 500 * FTH_SEC, w);
	assert_int_equal(w[0], 1);
	fth_central_ended(&c, 1, 0, 100 * FTH_SEC, 500 * FTH_SEC);
	assert_int_equal(fth_central_wait(&c, 1, 500 * FTH_SEC), 15 * FTH_SEC);
	fth_central_ended(&c, 1, 0, 10 * FTH_SEC, 500 * FTH_SEC);
	assert_int_equal(c.nbusy, 2);
	fth_central_ended(&c, 1, 0, 5 * FTH_SEC, 500 * FTH_SEC);
	assert_int_equal(c.nbusy, 1);
	assert_int_equal(c.bits[0], 1);
	fth_central_release(&c);
}

static void every_slot_counts_down(void **state)
{
	(void)state;
	struct fth_central c;
	uint32_t w[8];
	fth_central_init(&c, 2, 2, 500);
	/* Two slots each: empty workers, then those with a slot to spare, and nobody waits so far. */
	fth_central_assign(&c, 3, 100 * FTH_SEC, 0, w);
	assert_int_equal(w[0], 0);
	assert_int_equal(w[1], 1);
	assert_int_equal(w[2], 0);
	assert_int_equal(c.nbusy, 2);
	fth_central_started(&c, 0, 0, 100 * FTH_SEC, 0, 0);
	fth_central_started(&c, 0, 1, 100 * FTH_SEC, 20 * FTH_SEC, 20);
	fth_central_started(&c, 1, 0, 100 * FTH_SEC, 0, 0);
	/* At 50 s the first has 50 s and 70 s to go, the second 50 s: both its tasks count, not only the last. */
	assert_int_equal(fth_central_wait(&c, 0, 50 * FTH_SEC), 120 * FTH_SEC + 1000);
	assert_int_equal(fth_central_wait(&c, 1, 50 * FTH_SEC), 50 * FTH_SEC + 1000);
	fth_central_assign(&c, 2, 80 * FTH_SEC, 50 * FTH_SEC, w);
	assert_int_equal(w[0], 1); /* a slot to spare */
	assert_int_equal(w[1], 0); /* 120 s to go, the other 130 s now */
	/* One slot of the first ends: the other goes on counting down, 80 s are queued. At 110 s it has 10 + 80 s to go. */
	fth_central_ended(&c, 0, 0, 100 * FTH_SEC, 100 * FTH_SEC);
	assert_int_equal(fth_central_wait(&c, 0, 110 * FTH_SEC), 90 * FTH_SEC + 1000);
	/* The second's first task is overdue: nothing of it is left, 80 s are. */
	assert_int_equal(fth_central_wait(&c, 1, 110 * FTH_SEC), 80 * FTH_SEC + 1000);
	fth_central_assign(&c, 1, FTH_SEC, 110 * FTH_SEC, w);
	assert_int_equal(w[0], 1);
	fth_central_release(&c);
}

/* Against a plain search through all workers. */
static void search_plainly(uint32_t slots)
{
	enum { N = 37 };
	struct fth_central c;
	struct fth_draw d;
	fth_time now = 0;
	fth_draw_seed(&d, 7 + slots);
	fth_central_init(&c, N, slots, 500);
	for (int round = 0; round < 3000; round++) {
		uint32_t w, least = 0, s = fth_draw_below(&d, slots);
		bool spare = false;
		now += (fth_time)fth_draw_below(&d, 1000) * 7919;
		fth_time est = 1 + fth_draw_below(&d, 50) * FTH_SEC;
		for (uint32_t k = 0; k < N; k++) {
			least = fth_central_wait(&c, k, now) < fth_central_wait(&c, least, now) ? k : least;
			spare |= c.booked[k] < slots;
		}
		fth_time wait = fth_central_wait(&c, least, now);
		fth_central_assign(&c, 1, est, now, &w);
		if (spare)
			assert_true(c.booked[w] <= slots);
		else
			assert_int_equal(fth_central_wait(&c, w, now) - FTH_MAX(est, 1), wait);
		if (c.runs[w * slots + s].start < 0)
			fth_central_started(&c, w, s, est, now, (double)now / 1e6);
		w = fth_draw_below(&d, N);
		if (c.runs[w * slots + s].start >= 0 && fth_draw_below(&d, 3))
			fth_central_ended(&c, w, s, c.runs[w * slots + s].est, now);
	}
	fth_central_release(&c);
}

static void the_book_agrees_with_a_plain_search(void **state)
{
	(void)state;
	search_plainly(1);
	search_plainly(3);
}

/* ---- hints ---- */

static void a_hint_is_the_map_as_it_was(void **state)
{
	(void)state;
	struct fth_central c;
	struct fth_hints h;
	uint32_t w[130];
	fth_central_init(&c, 130, 1, 500);
	fth_hints_init(&h, &c);
	fth_central_assign(&c, 66, FTH_SEC, 0, w);
	uint32_t a = fth_hints_keep(&h, FTH_NONE), same = fth_hints_keep(&h, FTH_NONE);
	assert_int_equal(a, same); /* shared */
	assert_int_equal(fth_hints_clear_count(&h, a), 64);
	assert_int_equal(fth_hints_clear_at(&h, a, 0), 66);
	assert_int_equal(fth_hints_clear_at(&h, a, 63), 129);
	fth_central_ended(&c, 3, 0, FTH_SEC, 0);
	uint32_t b = fth_hints_keep(&h, same);
	assert_int_not_equal(a, b);
	assert_int_equal(fth_hints_clear_count(&h, b), 65);
	assert_int_equal(fth_hints_clear_at(&h, b, 0), 3);
	assert_int_equal(fth_hints_clear_at(&h, b, 1), 66);
	assert_int_equal(fth_hints_clear_at(&h, a, 0), 66); /* the old one is as it was */
	fth_hints_drop(&h, a);
	fth_hints_drop(&h, b);
	assert_int_equal(h.free.len, 2);
	fth_hints_release(&h);
	fth_central_release(&c);
}

/* ---- queues ---- */

static void the_least_remaining_goes_first_within_the_cap(void **state)
{
	(void)state;
	struct fth_hybrid *h = rig();
	uint32_t big = job(h, 10, 10 * FTH_SEC, 100 * FTH_SEC, false), small = job(h, 2, 20 * FTH_SEC, 40 * FTH_SEC, false);
	uint32_t large = job(h, 1, 60 * FTH_SEC, 30 * FTH_SEC, false);
	queue(h, 0, big, 0);
	queue(h, 0, small, 0);
	queue(h, 0, large, 0);
	/* large has least left, but 60 s are more than the 5 x 10 s that big lets pass. */
	assert_int_equal(fth_queue_choose(h, 0), 1);
	/* Once 40 s have passed it, 20 s are too much too: in order then. */
	h->workers.data[0].queue[0].bypass = 40 * FTH_SEC;
	assert_int_equal(fth_queue_choose(h, 0), 0);
	/* What equals the best so far stays behind it. */
	h->workers.data[0].queue[0].bypass = 0;
	h->jobs.data[small].remaining = 100 * FTH_SEC;
	assert_int_equal(fth_queue_choose(h, 0), 0);
	/* Dead ones are dropped; positions close up. */
	h->jobs.data[big].remaining = -1;
	assert_int_equal(fth_queue_choose(h, 0), 1);
	assert_int_equal(h->workers.data[0].len, 2);
	assert_int_equal(queued(h, 0, 1), large);
	h->jobs.data[small].remaining = h->jobs.data[large].remaining = -1;
	assert_int_equal(fth_queue_choose(h, 0), UINT32_MAX);
	assert_int_equal(h->workers.data[0].len, 0);
	fth_hybrid_free(h);
}

static void a_long_probe_in_front_is_taken_and_one_behind_ends_the_search(void **state)
{
	(void)state;
	struct fth_hybrid *h = rig();
	uint32_t lng = job(h, 1, 100 * FTH_SEC, 100 * FTH_SEC, true), s = job(h, 1, FTH_SEC, FTH_SEC, false);
	queue(h, 5, lng, 0);
	queue(h, 5, s, 0);
	assert_int_equal(fth_queue_choose(h, 5), 0);
	assert_true(fth_hybrid_refuses(&h->workers.data[5]));
	/* A short one with more left in front, which lets 5 x 30 s pass: the long one is chosen, what is behind not looked at. */
	uint32_t more = job(h, 100, 30 * FTH_SEC, 3000 * FTH_SEC, false);
	queue(h, 6, more, 0);
	queue(h, 6, lng, 0);
	queue(h, 6, s, 0);
	assert_int_equal(fth_queue_choose(h, 6), 1);
	assert_false(fth_hybrid_refuses(&h->workers.data[4]));
	fth_hybrid_free(h);
}

static void stealing_takes_the_first_group_stuck_behind_a_long_one(void **state)
{
	(void)state;
	struct fth_hybrid *h = rig();
	uint32_t l = job(h, 9, FTH_SEC, FTH_SEC, true), a = job(h, 9, FTH_SEC, FTH_SEC, false), b = job(h, 9, FTH_SEC, FTH_SEC, false);
	const uint32_t order[] = {a, l, l, b, a, l, b};
	for (uint32_t w = 4; w < 8; w++)
		for (size_t k = 0; k < FTH_COUNT(order); k++)
			queue(h, w, order[k], 0);
	assert_true(fth_queue_steal(h, 0));
	assert_int_equal(h->workers.data[0].len, 2); /* b a: behind the longs, up to the next */
	assert_int_equal(queued(h, 0, 0), b);
	assert_int_equal(queued(h, 0, 1), a);
	uint32_t left = 0;
	for (uint32_t w = 4; w < 8; w++)
		left += h->workers.data[w].len;
	assert_int_equal(left, 4 * 7 - 2);
	/* While a long task is executed, those in front are stuck. */
	for (uint32_t w = 4; w < 8; w++)
		h->workers.data[w].long_runs = 1;
	assert_true(fth_queue_steal(h, 1));
	assert_int_equal(h->workers.data[1].len, 1);
	assert_int_equal(queued(h, 1, 0), a);
	params.steal_max = 1;
	for (uint32_t w = 4; w < 8; w++) {
		while (h->workers.data[w].len)
			fth_queue_remove(&h->workers.data[w], 0);
		h->workers.data[w].long_runs = 0;
	}
	assert_false(fth_queue_steal(h, 2));
	fth_hybrid_free(h);
}

/* ---- probing ---- */

static void probes_go_to_workers_without_long_work(void **state)
{
	(void)state;
	struct fth_hybrid *h = rig();
	uint32_t to[64], w[4];
	traits = (struct fth_hybrid_traits){.partition = true, .long_central = true, .hints = true, .srpt = true};
	params.min_probes = 20;
	/* All others have long work, and know it: first-round probes stay in the short-only part, refused ones go there too. */
	uint32_t l = job(h, 4, 100 * FTH_SEC, 400 * FTH_SEC, true);
	fth_central_assign(&h->central, 4, 100 * FTH_SEC, 0, w);
	for (uint32_t k = 4; k < 8; k++) {
		queue(h, k, l, 0);
		h->workers.data[k].hint = fth_hints_keep(&h->hints, FTH_NONE);
		h->workers.data[k].hint_time = 1;
	}
	uint32_t s = job(h, 3, FTH_SEC, 3 * FTH_SEC, false);
	fth_hybrid_arrive(h, s);
	uint32_t near = sent(h, FTH_ONE_WAY, to), far = sent(h, FTH_TWO_WAYS, to + near);
	assert_int_equal(near + far, 20);
	assert_true(near > 0 && far > 0);
	for (uint32_t k = 0; k < near + far; k++)
		assert_true(to[k] < 4);
	fth_hybrid_free(h);
}

static void stale_hints_are_refused_again_and_fall_back(void **state)
{
	(void)state;
	struct fth_hybrid *h = rig();
	uint32_t to[64];
	traits = (struct fth_hybrid_traits){.partition = true, .long_central = true, .hints = true, .srpt = true};
	params.min_probes = 40;
	/* Everyone's map says that nobody has long work, yet all but the short-only ones have: the third round finds those. */
	uint32_t l = job(h, 4, 100 * FTH_SEC, 400 * FTH_SEC, true);
	for (uint32_t k = 4; k < 8; k++) {
		h->workers.data[k].hint = fth_hints_keep(&h->hints, FTH_NONE);
		h->workers.data[k].hint_time = 1;
		queue(h, k, l, 0);
	}
	uint32_t s = job(h, 1, FTH_SEC, FTH_SEC, false);
	fth_hybrid_arrive(h, s);
	uint32_t n = sent(h, FTH_ONE_WAY, to);
	n += sent(h, FTH_TWO_WAYS, to + n);
	assert_int_equal(n, 40);
	for (uint32_t k = 0; k < n; k++)
		assert_true(to[k] < 4);
	fth_hybrid_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_the_twisters),
		cmocka_unit_test(empty_workers_first_then_who_waits_least),
		cmocka_unit_test(what_is_executed_waits_less_and_less),
		cmocka_unit_test(every_slot_counts_down),
		cmocka_unit_test(the_book_agrees_with_a_plain_search),
		cmocka_unit_test(a_hint_is_the_map_as_it_was),
		cmocka_unit_test(the_least_remaining_goes_first_within_the_cap),
		cmocka_unit_test(a_long_probe_in_front_is_taken_and_one_behind_ends_the_search),
		cmocka_unit_test(stealing_takes_the_first_group_stuck_behind_a_long_one),
		cmocka_unit_test(probes_go_to_workers_without_long_work),
		cmocka_unit_test(stale_hints_are_refused_again_and_fall_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
