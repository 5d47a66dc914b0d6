/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/ledger.h"

static fth_money charge(fth_time increment, fth_time minimum, fth_price price, fth_time used)
{
	struct fth_ledger l = {0};
	struct fth_billing b = {.increment = increment, .minimum = minimum};
	fth_ledger_open(&l, 7, 0, &b, price, 1000);
	const struct fth_charge *c = fth_ledger_close(&l, 7, 1000 + used, false);
	assert_non_null(c);
	fth_money amount = c->amount;
	assert_true(amount == l.total);
	assert_false(fth_ledger_is_open(&l, 7));
	assert_null(fth_ledger_close(&l, 7, 2000 + used, false));
	fth_ledger_release(&l);
	return amount;
}

static void rules_on_cases_worked_by_hand(void **state)
{
	(void)state;
	const fth_price p = 3600 * FTH_USD; /* a dollar a second */
	assert_int_equal(charge(FTH_SEC, 0, p, 90 * FTH_SEC), 90 * FTH_USD);
	assert_int_equal(charge(FTH_SEC, 60 * FTH_SEC, p, 20 * FTH_SEC), 60 * FTH_USD);
	assert_int_equal(charge(FTH_SEC, 0, p, 90 * FTH_SEC + 1), 91 * FTH_USD);
	assert_int_equal(charge(FTH_HOUR, 0, p, 1), 3600 * FTH_USD);
	assert_int_equal(charge(FTH_HOUR, 0, p, FTH_HOUR), 3600 * FTH_USD);
	assert_int_equal(charge(FTH_HOUR, 0, p, FTH_HOUR + 1), 7200 * FTH_USD);
	/* ten minutes at least, then by the minute */
	assert_int_equal(charge(FTH_MINUTE, 10 * FTH_MINUTE, p, 3 * FTH_MINUTE), 600 * FTH_USD);
	assert_int_equal(charge(FTH_MINUTE, 10 * FTH_MINUTE, p, 11 * FTH_MINUTE + 1), 720 * FTH_USD);
	assert_int_equal(charge(FTH_SEC, 0, p, 0), 0);
	/* to the nano-dollar, rounded down once: 0.08925 $/h for one second */
	assert_int_equal(charge(FTH_SEC, 0, 89250000, FTH_SEC), 24791);
}

static void price_steps_are_integrated_exactly(void **state)
{
	(void)state;
	struct fth_ledger l = {0};
	struct fth_billing b = {.increment = FTH_SEC};
	fth_ledger_open(&l, 1, 0, &b, 1000000000, 0);
	fth_ledger_reprice(&l, 0, 1000000000, 500000000, 20 * FTH_MINUTE);
	fth_ledger_reprice(&l, 0, 500000000, 2000000000, 40 * FTH_MINUTE);
	assert_int_equal(fth_ledger_accrued(&l, 1, FTH_HOUR), 1166666666); /* 1/3 + 1/6 + 2/3 */
	assert_int_equal(fth_ledger_close(&l, 1, FTH_HOUR, false)->amount, 1166666666);
	/* three thirds are one: nothing is lost between the steps */
	fth_ledger_open(&l, 2, 1, &b, 1000000000, 0);
	fth_ledger_reprice(&l, 1, 1000000000, 3000000000, 20 * FTH_MINUTE);
	fth_ledger_reprice(&l, 1, 3000000000, 1000000000, 20 * FTH_MINUTE);
	assert_int_equal(fth_ledger_close(&l, 2, FTH_HOUR, false)->amount, 1000000000);
	assert_int_equal(l.total, 2166666666);
	fth_ledger_release(&l);
}

/* The old hourly rules: the price of an hour is that of its beginning; one cut short is free. */
static void old_hourly_rules(void **state)
{
	(void)state;
	struct fth_ledger l = {0};
	struct fth_billing b = {.increment = FTH_HOUR, .start_price = true, .cut_free = true};
	for (fth_instance_id i = 0; i < 3; i++)
		fth_ledger_open(&l, i, 0, &b, FTH_USD, 0);
	fth_ledger_reprice(&l, 0, FTH_USD, 3 * FTH_USD, 30 * FTH_MINUTE);
	fth_ledger_reprice(&l, 0, 3 * FTH_USD, 2 * FTH_USD, 90 * FTH_MINUTE);
	/* hours begin at 1, 3 and 2 dollars */
	assert_int_equal(fth_ledger_close(&l, 0, 150 * FTH_MINUTE, false)->amount, 6 * FTH_USD);
	assert_int_equal(fth_ledger_close(&l, 1, 150 * FTH_MINUTE, true)->amount, 4 * FTH_USD);
	assert_int_equal(fth_ledger_close(&l, 2, 40 * FTH_MINUTE, true)->amount, 0);
	/* by the second and without that rule a cut instance pays for what it used */
	struct fth_billing now = {.increment = FTH_SEC, .minimum = FTH_MINUTE};
	fth_ledger_open(&l, 3, 1, &now, 3600 * FTH_USD, 0);
	assert_int_equal(fth_ledger_close(&l, 3, 10 * FTH_SEC, true)->amount, 60 * FTH_USD);
	fth_ledger_release(&l);
}

/* The same as adding up a plain list of steps, for many random lives. */
static void integral_is_that_of_the_steps(void **state)
{
	(void)state;
	struct fth_rng rng;
	fth_rng_seed(&rng, 5, 1, 1);
	for (int round = 0; round < 200; round++) {
		struct fth_ledger l = {0};
		struct fth_billing b = {.increment = 1};
		fth_price price = 1000, prices[50];
		fth_time times[50], now = 0, from = (fth_time)fth_rng_below(&rng, 500);
		size_t n = 0;
		fth_ledger_open(&l, 1, 0, &b, price, from);
		prices[0] = price, times[0] = 0, n = 1;
		for (int k = 0; k < 40; k++) {
			now = FTH_MAX(now, from) + (fth_time)fth_rng_below(&rng, 3 * FTH_SEC);
			fth_price next = (fth_price)fth_rng_below(&rng, 9 * FTH_USD);
			fth_ledger_reprice(&l, 0, price, next, now);
			prices[n] = price = next, times[n++] = now;
		}
		fth_time end = now + FTH_MINUTE;
		__int128 sum = 0;
		for (size_t k = 0; k < n; k++) {
			fth_time a = FTH_MAX(times[k], from), z = k + 1 < n ? times[k + 1] : end;
			if (z > a)
				sum += (__int128)prices[k] * (z - a);
		}
		assert_true(fth_ledger_close(&l, 1, end, false)->amount == (fth_money)(sum / FTH_HOUR));
		fth_ledger_release(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_on_cases_worked_by_hand),
		cmocka_unit_test(price_steps_are_integrated_exactly),
		cmocka_unit_test(old_hourly_rules),
		cmocka_unit_test(integral_is_that_of_the_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
