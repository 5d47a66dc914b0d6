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

/* Every portfolio of at most two of a class bought in a week. */
static double cheapest_of_all(const struct fth_reserve_market *m, const struct fth_demand *d)
{
	struct fth_portfolio p = {0};
	uint32_t cells = d->rows * (uint32_t)m->classes.len, all = 1;
	double least = 1e300;
	for (uint32_t i = 0; i < cells; i++)
		all *= 3;
	for (uint32_t code = 0; code < all; code++) {
		uint32_t rest = code;
		fth_vec_clear(&p.bought);
		for (uint32_t i = 0; i < cells; i++, rest /= 3)
			if (rest % 3)
				fth_vec_push(&p.bought, ((struct fth_purchase){i % d->rows, i / d->rows, rest % 3}));
		fth_portfolio_price(&p, m, d);
		least = FTH_MIN(least, p.pure);
	}
	fth_portfolio_release(&p);
	return least;
}

/* Two levels at most over four weeks: the exact plan is the best of all there are, or says by how much it may miss it. */
static void exact_like_trying_all(void **state)
{
	int met = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct fth_symtab *syms = fth_symtab_new();
		struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
		struct fth_demand d;
		struct fth_demand_step s[9];
		struct fth_portfolio p = {0};
		struct fth_rng r;
		double bound = 0;
		int64_t now = 0;
		fth_rng_seed(&r, seed, 3, 0);
		fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 3 * WEEK, 150 + (double)fth_rng_below(&r, 300), 0.361, seed & 1, false, -1}));
		if (seed & 2)
			fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 2 * WEEK, 80 + (double)fth_rng_below(&r, 100), 0.904, false, false, -1}));
		assert_int_equal(fth_reserve_market_finish(&m, NULL), 0);
		for (int i = 0; i < 8; i++) {
			int64_t count = (int64_t)fth_rng_below(&r, 3);
			s[i] = (struct fth_demand_step){i * WEEK / 2 + (fth_time)fth_rng_below(&r, 80) * FTH_HOUR, count - now};
			now = count;
		}
		s[8] = (struct fth_demand_step){0, 0};
		assert_int_equal(fth_demand_build(&d, s, 9, 0, 4 * WEEK, WEEK, NULL), 0);
		double best = cheapest_of_all(&m, &d);
		assert_int_equal(fth_reserve_exact(&p, &bound, &m, &d, NULL), 0);
		assert_true(bound <= best * (1 + 1e-9));
		assert_true(p.pure >= best * (1 - 1e-9));
		met += p.pure <= best * (1 + 1e-9);
		if (m.classes.len == 1) { /* one class is a flow: always whole, always proven */
			near(p.pure, best, 1e-6);
			near(bound, best, 1e-4);
		}
		fth_portfolio_release(&p);
		fth_demand_release(&d);
		fth_reserve_market_release(&m);
		fth_symtab_free(syms);
	}
	assert_int_equal(met, 24);
}

/* Sizes at which all purchases cannot be tried, nor the linear programme solved. */
static void large_demands_are_nearly_exact(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct fth_symtab *syms = fth_symtab_new();
		struct fth_reserve_market m = ec2(syms);
		struct fth_demand d;
		struct fth_portfolio p = {0}, greedy = {0};
		double bound = 0;
		random_demand(&d, seed, 120);
		assert_int_equal(fth_reserve_exact(&p, &bound, &m, &d, NULL), 0);
		assert_int_equal(fth_reserve_plan(&greedy, &m, &d, FTH_RESERVE_GREEDY, NULL, NULL), 0);
		assert_true(bound >= fth_reserve_lower_bound(&m, &d) * (1 - 1e-9));
		assert_true(p.pure <= greedy.pure * (1 + 1e-9));
		assert_true(p.pure >= bound * (1 - 1e-9));
		if (p.pure > bound * 1.005)
			fail_msg("seed %llu: %.6f, bound %.6f", (unsigned long long)seed, p.pure, bound);
		/* Capped: never above the cap, and dearer. */
		double free_of_caps = p.pure;
		m.classes.data[0].most = 1;
		assert_int_equal(fth_reserve_exact(&p, &bound, &m, &d, NULL), 0);
		assert_true(p.pure >= free_of_caps * (1 - 1e-9));
		for (size_t i = 0; i < p.bought.len; i++)
			for (size_t k = 0; k <= i; k++)
				assert_true(k == i || p.bought.data[i].class || p.bought.data[k].class || p.bought.data[i].row >=
					    fth_reserve_until(&m.classes.data[0], &d, p.bought.data[k].row));
		fth_portfolio_release(&p);
		fth_portfolio_release(&greedy);
		fth_demand_release(&d);
		fth_reserve_market_release(&m);
		fth_symtab_free(syms);
	}
}

/* Three years of demand and a contract of three years: it is in force to the end, also in the last, short week. */
static void a_term_as_long_as_the_demand(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = ec2(syms);
	struct fth_demand_step s = {0, 5};
	struct fth_demand d;
	struct fth_portfolio p = {0};
	double bound = 0;
	(void)state;
	assert_int_equal(fth_demand_build(&d, &s, 1, 0, 1095 * FTH_DAY, WEEK, NULL), 0);
	assert_int_equal(d.rows, 157);
	assert_int_equal(fth_reserve_until(&m.classes.data[0], &d, 0), 157);
	assert_int_equal(fth_reserve_until(&m.classes.data[1], &d, 0), 52);
	assert_int_equal(fth_reserve_exact(&p, &bound, &m, &d, NULL), 0);
	near(p.cost, 5 * (7670 + 0.361 * 26280), 1e-6);
	near(bound, p.cost, 0.01);
	assert_int_equal(fth_reserve_plan(&p, &m, &d, FTH_RESERVE_GREEDY, NULL, NULL), 0);
	near(p.cost, 5 * (7670 + 0.361 * 26280), 1e-6);
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
}

/* A contract paid for every hour is used before one that costs by use, whatever their prices: the bill is the least. */
static void paid_hours_are_used_first(void **state)
{
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = {.syms = syms, .on_demand = 2.4};
	struct fth_demand d;
	struct fth_portfolio p = {0};
	(void)state;
	fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 2 * WEEK, 50, 0.9, false, false, -1}));
	fth_vec_push(&m.classes, ((struct fth_reserve_class){0, 2 * WEEK, 0, 1.5, true, true, -1}));
	assert_int_equal(fth_reserve_market_finish(&m, NULL), 0);
	assert_true(m.classes.data[0].every_hour);
	small_demand(&d);
	fth_vec_push(&p.bought, ((struct fth_purchase){0, 0, 2}));
	fth_vec_push(&p.bought, ((struct fth_purchase){0, 1, 1}));
	fth_portfolio_price(&p, &m, &d);
	near(p.cost, 50 + 2 * 336 * 1.5 + 168 * 0.9, 1e-9);
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
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
		cmocka_unit_test(smoothing_follows_a_parabola),   cmocka_unit_test(exact_like_trying_all),
		cmocka_unit_test(large_demands_are_nearly_exact), cmocka_unit_test(a_term_as_long_as_the_demand),
		cmocka_unit_test(paid_hours_are_used_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
