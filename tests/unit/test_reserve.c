/* SPDX-License-Identifier: Apache-2.0 */
/* Contracts and discounts by hand: break-even points, equations 1, 2 and 5, months, and laws on random demands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/reserve.h"

#define WEEK (7 * FTH_DAY)

static void near(double a, double b, double within)
{
	if (a < b - within || a > b + within)
		fail_msg("%.9f, wanted %.9f", a, b);
}

static struct fth_reserve_market ec2(struct fth_symtab *syms)
{
	static const struct fth_reserve_class classes[] = {
		{0, 365 * FTH_DAY, 1762, 0.904, false, false, -1},  {0, 1095 * FTH_DAY, 2710, 0.904, false, false, -1},
		{0, 365 * FTH_DAY, 4146, 0.540, false, false, -1},  {0, 1095 * FTH_DAY, 6378, 0.540, false, false, -1},
		{0, 365 * FTH_DAY, 5000, 0.361, true, false, -1},   {0, 1095 * FTH_DAY, 7670, 0.361, true, false, -1},
	};
	struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
	for (size_t i = 0; i < FTH_COUNT(classes); i++)
		fth_vec_push(&m.classes, classes[i]);
	assert_int_equal(fth_reserve_market_finish(&m, NULL), 0);
	return m;
}

static void break_even_points_of_the_paper(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = ec2(syms);
	(void)state;
	/* Deepest first: 3y and 1y heavy, medium, light. */
	assert_int_equal(m.classes.data[0].term, 1095 * FTH_DAY);
	assert_true(m.classes.data[0].every_hour);
	near(fth_reserve_break_even(&m, 4, 0), 2710 / (1.496 * 26280), 1e-12);
	near(fth_reserve_break_even(&m, 4, 0), 0.0689, 0.0001);
	near(fth_reserve_break_even(&m, 2, 0), (6378.0 - 2710) / (0.364 * 26280), 1e-12);
	near(fth_reserve_break_even(&m, 2, 0), 0.383, 0.001);
	near(fth_reserve_break_even(&m, 0, 0), (7670.0 - 6378 + 0.361 * 26280) / (0.54 * 26280), 1e-12);
	/* Heavy and light alone. */
	near(fth_reserve_break_even(&m, 0, 1 | 16), (7670.0 - 2710 + 0.361 * 26280) / (0.904 * 26280), 1e-12);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
}

static void dear_hours_are_refused(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = {.syms = syms, .on_demand = 1};
	struct fth_error err = {0};
	(void)state;
	fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 365 * FTH_DAY, 0, 1.01, false, false, -1}));
	assert_int_equal(fth_reserve_market_finish(&m, &err), -EINVAL);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
}

/* Two machines all the time, a third for half of it, over two weeks. */
static void small_demand(struct fth_demand *d)
{
	struct fth_demand_step s[] = {{0, 2}, {0, 1}, {WEEK / 2, -1}, {WEEK, 1}, {WEEK + WEEK / 2, -1}};
	assert_int_equal(fth_demand_build(d, s, FTH_COUNT(s), 0, 2 * WEEK, WEEK, NULL), 0);
	assert_int_equal(d->rows, 2);
	assert_int_equal(d->levels, 3);
	near(fth_demand_at(d, 0, 0), 168, 1e-9);
	near(fth_demand_at(d, 1, 1), 168, 1e-9);
	near(fth_demand_at(d, 0, 2), 84, 1e-9);
	near(fth_demand_total(d), 2 * 168 * 2 + 168, 1e-9);
}

/* 10 hours of heavy for every hour, light for what it is used, the rest on demand: equation 2 by hand. */
static void what_a_portfolio_costs(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = ec2(syms);
	struct fth_demand d;
	struct fth_portfolio p = {0};
	(void)state;
	small_demand(&d);
	/* One heavy from the start, one light from the second week. */
	fth_vec_push(&p.bought, ((struct fth_purchase){0, 0, 1}));
	fth_vec_push(&p.bought, ((struct fth_purchase){1, 4, 1}));
	fth_portfolio_price(&p, &m, &d);
	double hourly = 336 * 0.361                     /* heavy, both weeks */
			+ 168 * 2.4 + 84 * 2.4          /* first week: the second and third machine */
			+ 168 * 0.904 + 84 * 2.4;       /* second week: light, and on demand */
	near(p.cost, 7670 + 2710 + hourly, 1e-6);
	near(p.pure, 7670 * 14.0 / 1095 + 2710 * 7.0 / 1095 + hourly, 1e-6);
	near(p.hours.data[0], 336, 1e-9);
	near(p.hours.data[4], 168, 1e-9);
	near(p.hours.data[6], 168 + 84 + 84, 1e-9);
	/* Three heavy ones for two and a half machines: the idle hours are paid too. */
	fth_vec_clear(&p.bought);
	fth_vec_push(&p.bought, ((struct fth_purchase){0, 0, 3}));
	fth_portfolio_price(&p, &m, &d);
	near(p.pure, 3 * (7670 * 14.0 / 1095 + 336 * 0.361), 1e-6);
	/* Equation 5: each level and week its best class. */
	double full = 7670 * 7.0 / 1095 + 168 * 0.361, half = 6378 * 7.0 / 1095 + 84 * 0.54;
	near(fth_reserve_lower_bound(&m, &d), 4 * full + 2 * half, 1e-6);
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
}

static void random_demand(struct fth_demand *d, uint64_t seed, uint32_t weeks)
{
	FTH_VEC(struct fth_demand_step) s = {0};
	struct fth_rng r;
	int64_t now = 0;
	fth_rng_seed(&r, seed, 0, 0);
	for (uint32_t h = 0; h < weeks * 168; h += 12) {
		int64_t count = (int64_t)fth_rng_below(&r, 3 + h / 400 % 7);
		fth_vec_push(&s, ((struct fth_demand_step){h * FTH_HOUR, count - now}));
		now = count;
	}
	assert_int_equal(fth_demand_build(d, s.data, s.len, 0, weeks * WEEK - FTH_HOUR, WEEK, NULL), 0);
	fth_vec_release(&s);
}

static void no_plan_is_below_the_bounds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct fth_symtab *syms = fth_symtab_new();
		struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
		struct fth_demand d;
		struct fth_portfolio p = {0};
		double exact = 0;
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, (2 + (fth_time)seed % 5) * WEEK, 120, 0.361, true, false, -1}));
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 6 * WEEK, 90, 0.904, false, false, -1}));
		assert_int_equal(fth_reserve_market_finish(&m, NULL), 0);
		random_demand(&d, seed, 16);
		double bound = fth_reserve_lower_bound(&m, &d);
		assert_int_equal(fth_reserve_exact(&p, &exact, &m, &d, NULL), 0);
		assert_true(exact >= bound * (1 - 1e-9));
		assert_true(p.pure >= exact * (1 - 1e-9));
		double rounded = p.pure;
		for (int method = FTH_RESERVE_NONE; method <= FTH_RESERVE_ONLINE_LEVEL; method++)
			for (int how = 0; how < 4; how++) {
				struct fth_reserve_options o = {.full_term = how & 1, .prefer_short = how & 2};
				assert_int_equal(fth_reserve_plan(&p, &m, &d, (enum fth_reserve_method)method, &o, NULL), 0);
				assert_true(p.pure >= exact * (1 - 1e-9));
				assert_true(p.cost >= p.pure - 1e-9);
				double hours = 0;
				for (size_t k = 0; k < p.hours.len; k++)
					hours += p.hours.data[k];
				near(hours, fth_demand_total(&d), 1e-6);
			}
		assert_true(rounded <= fth_demand_total(&d) * 2.4 * 1.05);
		fth_portfolio_release(&p);
		fth_demand_release(&d);
		fth_reserve_market_release(&m);
		fth_symtab_free(syms);
	}
}

static void caps_are_kept(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = ec2(syms);
	struct fth_demand d;
	struct fth_portfolio p = {0};
	(void)state;
	m.classes.data[0].most = 1;
	small_demand(&d);
	assert_int_equal(fth_reserve_plan(&p, &m, &d, FTH_RESERVE_GREEDY, NULL, NULL), 0);
	for (size_t i = 0; i < p.bought.len; i++)
		assert_true(p.bought.data[i].class != 0 || p.bought.data[i].count <= 1);
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
}

/* January 1970 has 744 hours: quarters of 186. */
static void sustained_use_by_hand(void **state)
{
	(void)state;
	struct fth_use all[] = {{0, 31 * FTH_DAY}};
	near(fth_sustained_cost(all, 1, 1, 0), 186 * (1 + 0.8 + 0.6 + 0.4), 1e-9);
	struct fth_use half[] = {{0, 372 * FTH_HOUR}};
	near(fth_sustained_cost(half, 1, 2, 0), 2 * 186 * 1.8, 1e-9);
	/* One after the other in one slot is one use; side by side are two. */
	struct fth_use turns[] = {{0, 186 * FTH_HOUR}, {186 * FTH_HOUR, 372 * FTH_HOUR}};
	near(fth_sustained_cost(turns, 2, 1, 0), 186 * 1.8, 1e-9);
	struct fth_use beside[] = {{0, 200 * FTH_HOUR}, {100 * FTH_HOUR, 286 * FTH_HOUR}};
	near(fth_sustained_cost(beside, 2, 1, 0), 186 + 14 * 0.8 + 186, 1e-9);
	/* The next month begins at full price again: February 1970 has 672 hours. */
	struct fth_use over[] = {{30 * FTH_DAY, 32 * FTH_DAY}};
	near(fth_sustained_cost(over, 1, 1, 0), 48, 1e-9);
	/* A leap February, by the epoch: from 2004-02-01 on, 696 hours, quarters of 174. */
	struct fth_use leap[] = {{0, 29 * FTH_DAY}};
	near(fth_sustained_cost(leap, 1, 1, 1075593600 * FTH_SEC), 174 * 2.8, 1e-9);
}

static void smoothing_follows_a_parabola(void **state)
{
	struct fth_smooth s = {0};
	(void)state;
	for (int i = 0; i < 200; i++)
		fth_smooth_add(&s, 50);
	near(fth_smooth_ahead(&s, 100), 50, 1e-6);
	s = (struct fth_smooth){0};
	for (int i = 0; i < 400; i++)
		fth_smooth_add(&s, 10 + 2.0 * i);
	near(fth_smooth_ahead(&s, 10), 10 + 2.0 * 409, 1e-6);
	s = (struct fth_smooth){0};
	for (int i = 0; i < 200; i++)
		fth_smooth_add(&s, 0.05 * i * i);
	near(fth_smooth_ahead(&s, 10), 0.05 * 209 * 209, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(break_even_points_of_the_paper), cmocka_unit_test(dear_hours_are_refused),
		cmocka_unit_test(what_a_portfolio_costs),	  cmocka_unit_test(no_plan_is_below_the_bounds),
		cmocka_unit_test(caps_are_kept),		  cmocka_unit_test(sustained_use_by_hand),
		cmocka_unit_test(smoothing_follows_a_parabola),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
