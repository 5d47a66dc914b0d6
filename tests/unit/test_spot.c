/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "optimize/spot.h"
#include "trace/joint_table.h"
#include "trace/spot_table.h"

static void random_offers(struct fth_spot_offer *o, uint32_t n, uint64_t id)
{
	struct fth_rng r;
	fth_rng_seed(&r, 23, 1, id);
	for (uint32_t i = 0; i < n; i++) {
		o[i] = (struct fth_spot_offer){.type = "t", .zone = "", .capacity = 1 + fth_rng_below(&r, 12)};
		o[i].price = (double)o[i].capacity * (0.2 + fth_rng_real(&r));
		o[i].on_demand = (double)o[i].capacity * 3;
		o[i].availability = 0.8 + 0.199 * fth_rng_real(&r);
		o[i].memory = 100 + (int64_t)fth_rng_below(&r, 900);
	}
}

/* The cheapest pool of all there are, counts up to `most`. */
static double enumerate(const struct fth_spot_problem *p, uint32_t most)
{
	uint32_t count[4] = {0};
	double best = INFINITY;
	for (;;) {
		struct fth_pool_part parts[4];
		double cost = 0;
		for (uint32_t i = 0; i < p->noffers; i++) {
			parts[i] = (struct fth_pool_part){count[i] * p->offers[i].capacity, fth_spot_p(p, i)};
			cost += count[i] * p->offers[i].price;
		}
		if (cost < best && fth_pool_availability(parts, p->noffers, p->capacity) >= p->target)
			best = cost;
		uint32_t i = 0;
		while (i < p->noffers && ++count[i] > most)
			count[i++] = 0;
		if (i == p->noffers)
			return best;
	}
}

static void test_against_enumeration(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 12; id++) {
		struct fth_spot_offer offers[4];
		random_offers(offers, 4, id);
		struct fth_spot_problem p = {.offers = offers, .noffers = 4, .capacity = 8 + id % 5, .target = id & 1 ? 0.99 : 0.97, .effort = 1};
		struct fth_spot_plan plan;
		double best = enumerate(&p, 12);
		assert_int_equal(fth_spot_search(&p, &plan, NULL), 0);
		assert_true(plan.met);
		assert_true(plan.fallback || plan.cost >= best - 1e-9);
		assert_true(plan.cost <= best * 1.0000001 || (plan.fallback && plan.cost <= best));
		assert_true(plan.bound.cost <= best * (1 + 1e-9));
		fth_spot_plan_release(&plan);
	}
}

static void test_never_dearer(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 6; id++) {
		struct fth_spot_offer offers[12];
		random_offers(offers, 12, 100 + id);
		struct fth_spot_problem p = {.offers = offers, .noffers = 12, .capacity = 60 + 45 * id, .target = 0.9999, .effort = 2};
		struct fth_spot_plan ours, other;
		assert_int_equal(fth_spot_search(&p, &ours, NULL), 0);
		assert_true(ours.met && ours.availability >= p.target && ours.total >= p.capacity);
		assert_true(ours.bound.cost <= ours.cost || ours.fallback);
		for (size_t m = 0; fth_spot_methods[m].name; m++) {
			assert_int_equal(fth_spot_methods[m].plan(&p, &other, NULL), 0);
			if (other.met)
				assert_true(ours.cost <= other.cost + 1e-9);
			fth_spot_plan_release(&other);
		}
		fth_spot_plan_release(&ours);
	}
}

/* A pool scaled by k serves k times the capacity: bounds scale too. */
static void test_scaling(void **state)
{
	(void)state;
	struct fth_spot_offer offers[10];
	random_offers(offers, 10, 78);
	struct fth_spot_problem p = {.offers = offers, .noffers = 10, .capacity = 100, .target = 0.999, .effort = 1};
	struct fth_spot_plan small;
	struct fth_spot_bound b1, b10;
	assert_int_equal(fth_spot_search(&p, &small, NULL), 0);
	assert_int_equal(fth_spot_lower_bound(&p, 0, &b1, NULL), 0);
	struct fth_spot_problem large = p;
	large.capacity = 1000;
	assert_int_equal(fth_spot_lower_bound(&large, 0, &b10, NULL), 0);
	if (b1.exact && b10.exact)
		assert_true(fabs(b10.cost - 10 * b1.cost) < 1e-6 * b10.cost);
	for (uint32_t i = 0; i < 10; i++)
		small.count[i] *= 10;
	double before = small.availability;
	fth_spot_measure(&large, &small);
	assert_true(small.fallback || small.availability >= before - 1e-12);
	fth_spot_plan_release(&small);
}

static void test_memory_and_failure(void **state)
{
	(void)state;
	struct fth_spot_offer offers[8];
	struct fth_spot_plan free_plan, plan;
	random_offers(offers, 8, 5);
	struct fth_spot_problem p = {.offers = offers, .noffers = 8, .capacity = 100, .target = 0.999, .effort = 1};
	assert_int_equal(fth_spot_search(&p, &free_plan, NULL), 0);
	p.memory = 2 * free_plan.memory;
	assert_int_equal(fth_spot_search(&p, &plan, NULL), 0);
	assert_true(plan.met && plan.memory >= p.memory && plan.cost >= free_plan.cost - 1e-9 && plan.bound.cost <= plan.cost);
	fth_spot_plan_release(&plan);
	p.memory = 0;
	p.failure = 0.001;
	assert_int_equal(fth_spot_search(&p, &plan, NULL), 0);
	assert_true(plan.met && plan.cost >= free_plan.cost - 1e-9);
	assert_true(fabs(fth_spot_p(&p, 0) - offers[0].availability * 0.999) < 1e-15);
	fth_spot_plan_release(&plan);
	fth_spot_plan_release(&free_plan);
}

static void test_joint_search(void **state)
{
	(void)state;
	struct fth_spot_offer offers[6];
	double m[36], p6[6];
	struct fth_joint *j;
	struct fth_spot_plan alone, together;
	random_offers(offers, 6, 9);
	for (int i = 0; i < 6; i++) {
		offers[i].availability = 0.95;
		offers[i].on_demand = 0;
		p6[i] = 0.95;
		for (int k = 0; k < 6; k++)
			m[6 * i + k] = i == k ? 1 : (i < 3) == (k < 3) ? 0.1 : 0;
	}
	assert_int_equal(fth_joint_from_matrix(&j, m, p6, 6, NULL), 0);
	struct fth_spot_problem p = {.offers = offers, .noffers = 6, .capacity = 60, .target = 0.999, .effort = 1};
	assert_int_equal(fth_spot_search(&p, &alone, NULL), 0);
	p.joint = j;
	assert_int_equal(fth_spot_search(&p, &together, NULL), 0);
	assert_true(together.met && together.bound.cost <= together.cost);
	assert_true(together.cost >= alone.cost - 1e-9); /* what falls together must be held twice */
	fth_spot_plan_release(&alone);
	fth_spot_plan_release(&together);
	fth_joint_free(j);
}

static void test_refused(void **state)
{
	(void)state;
	struct fth_spot_offer o[2];
	struct fth_error err = {0};
	struct fth_spot_plan plan;
	random_offers(o, 2, 1);
	struct fth_spot_problem good = {.offers = o, .noffers = 2, .capacity = 10, .target = 0.9}, p = good;
	static const double targets[] = {0, 1, 1.5, -1, NAN};
	for (size_t i = 0; i < FTH_COUNT(targets); i++) {
		p.target = targets[i];
		assert_int_equal(fth_spot_search(&p, &plan, &err), -EINVAL);
	}
	p = good;
	p.noffers = 0;
	assert_int_equal(fth_spot_tr(&p, &plan, &err), -EINVAL);
	p = good;
	p.capacity = 0;
	assert_int_equal(fth_spot_tr_artifact(&p, &plan, &err), -EINVAL);
	p = good;
	o[1].availability = 1;
	assert_int_equal(fth_spot_search(&p, &plan, &err), -EINVAL);
	assert_non_null(strstr(err.text, "offer 2"));
	o[1].availability = NAN;
	assert_int_equal(fth_spot_cheapest(&p, &plan, &err), -EINVAL);
	o[1].availability = 0.9;
	o[0].price = INFINITY;
	assert_int_equal(fth_spot_diverse(&p, &plan, &err), -EINVAL);
}

/* ---- tables ---- */

static int read_table(struct fth_spot_table *t, const char *text, struct fth_error *err)
{
	struct fth_input *in;
	if (fth_input_open_memory(&in, "pool.csv", text, strlen(text), err))
		return -1;
	int r = fth_read_spot_table(t, in, "z", err);
	fth_input_close(in);
	return r;
}

#define HEAD "ECU,AvgSpotPrice,OnDemandPrice,VM,Availability\n"
static void test_table(void **state)
{
	(void)state;
	struct fth_spot_table t = {0}, back = {0};
	struct fth_str out = {0};
	assert_int_equal(read_table(&t, HEAD "6,0.02,0.1,\"m4,large\",0.99\n13,0.5,0,b,0.5\n1,0.1,,c,0.5\n", NULL), 0);
	assert_int_equal(t.offers.len, 3);
	assert_true(t.offers.data[2].on_demand == 0);
	assert_string_equal(t.offers.data[0].type, "m4,large");
	assert_string_equal(t.offers.data[1].zone, "z");
	fth_write_spot_table(&t, &out);
	assert_int_equal(read_table(&back, out.data, NULL), 0);
	struct fth_str again = {0};
	fth_write_spot_table(&back, &again);
	assert_string_equal(out.data, again.data);
	fth_str_release(&out);
	fth_str_release(&again);
	fth_spot_table_release(&t);
	fth_spot_table_release(&back);
}

static void test_bad_tables(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{HEAD, "pool.csv:1: the table has no rows"},
		{"", ""},
		{HEAD "6,0.02,0.1,a,1\n", "pool.csv:2"},
		{HEAD "6,0.02,0.1,a,0.9\n6,0.02,0.1,b,0\n", "pool.csv:3"},
		{HEAD "6,0.02,0.1,a,1.2\n", "pool.csv:2"},
		{HEAD "6,0.02,0.1,a,nan\n", "pool.csv:2"},
		{HEAD "6,inf,0.1,a,0.9\n", "pool.csv:2"},
		{HEAD "0,0.02,0.1,a,0.9\n", "pool.csv:2"},
		{HEAD "6,0,0.1,a,0.9\n", "pool.csv:2"},
		{HEAD "6,0.1,0.1,,0.9\n", "pool.csv:2"},
		{HEAD "6,0.1,0.1,a,0.9\n\n6,0.1,0.1,a,0.9\n", "twice"},
		{"ECU,VM\n6,a\n", "AvgSpotPrice"},
	};
	for (size_t i = 0; i < FTH_COUNT(bad); i++) {
		struct fth_spot_table t = {0};
		struct fth_error err = {0};
		assert_true(read_table(&t, bad[i].text, &err) < 0);
		assert_non_null(strstr(err.text, bad[i].says));
		fth_spot_table_release(&t);
	}
}

static int read_joint(const struct fth_spot_table *t, const char *text, struct fth_joint_table *ret, struct fth_error *err)
{
	struct fth_input *in;
	if (fth_input_open_memory(&in, "joint.csv", text, strlen(text), err))
		return -1;
	int r = fth_read_joint_table(ret, t, in, err);
	fth_input_close(in);
	return r;
}

static void test_joint_tables(void **state)
{
	(void)state;
	struct fth_spot_table t = {0};
	struct fth_joint_table j;
	struct fth_error err = {0};
	assert_int_equal(read_table(&t, HEAD "6,0.02,0.1,a,0.99\n13,0.5,0,b,0.5\n1,1,1,c,0.5\n", NULL), 0);
	assert_int_equal(read_joint(&t, ",b,a@z\na,0.5,1\nb,1,0.5\n", &j, NULL), 0);
	assert_false(j.states);
	assert_true(j.cell[0] == 1 && j.cell[1] == 0.5 && j.cell[3] == 0.5 && j.cell[2] == 0 && j.cell[8] == 1);
	fth_joint_table_release(&j);
	assert_int_equal(read_joint(&t, "Weight,a,b,c\n2.5,1,0,1\n1,1,1,1\n", &j, NULL), 0);
	assert_true(j.states && j.nrows == 2 && j.weight[0] == 2.5 && j.cell[1] == 0);
	fth_joint_table_release(&j);
	static const char *const bad[] = {"", "x,a\n", ",d\nd,1\n", ",a\na,2\n", ",a,b\na,1,0\n", ",a,a\na,1,1\n", "Weight,a\n1,1\n",
					  "Weight,a,b,c\n1,1,0,0.5\n", "Weight,a,b,c\n0,1,0,1\n", "Weight,a,b,c\n", "Weight,a,b,c\n1,1\n"};
	for (size_t i = 0; i < FTH_COUNT(bad); i++)
		assert_true(read_joint(&t, bad[i], &j, &err) < 0);
	fth_spot_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_enumeration), cmocka_unit_test(test_never_dearer), cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_memory_and_failure),  cmocka_unit_test(test_joint_search), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_table),               cmocka_unit_test(test_bad_tables),   cmocka_unit_test(test_joint_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
