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
	const struct fth_charge *c = fth_ledger_close(&l, 7, 1000 + used);
	assert_non_null(c);
	fth_money amount = c->amount;
	assert_true(amount == l.total);
	assert_false(fth_ledger_is_open(&l, 7));
	assert_null(fth_ledger_close(&l, 7, 2000 + used));
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
	fth_ledger_reprice(&l, 1, 500000000, 20 * FTH_MINUTE);
	fth_ledger_reprice(&l, 1, 2000000000, 40 * FTH_MINUTE);
	assert_int_equal(fth_ledger_accrued(&l, 1, FTH_HOUR), 1166666666); /* 1/3 + 1/6 + 2/3 */
	assert_int_equal(fth_ledger_close(&l, 1, FTH_HOUR)->amount, 1166666666);
	/* three thirds are one: nothing is lost between the steps */
	fth_ledger_open(&l, 2, 0, &b, 1000000000, 0);
	fth_ledger_reprice(&l, 2, 1000000000, 20 * FTH_MINUTE);
	fth_ledger_reprice(&l, 2, 1000000000, 40 * FTH_MINUTE);
	assert_int_equal(fth_ledger_close(&l, 2, FTH_HOUR)->amount, 1000000000);
	assert_int_equal(l.total, 2166666666);
	fth_ledger_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_on_cases_worked_by_hand),
		cmocka_unit_test(price_steps_are_integrated_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
