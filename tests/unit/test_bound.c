/* SPDX-License-Identifier: Apache-2.0 */
/* The lower bound: instances solved by hand, the search for the best filling against trying them all, and the whole LP
 * against one that has every configuration as a column. */
#include <math.h>

#include "optimize/bound.h"
#include "optimize/lp.h"
#include "small_world.h"

/* ---- by hand ---- */

static struct fth_bound find(const struct fth_world *w)
{
	struct fth_bound_options o = fth_bound_thorough();
	struct fth_bound b;
	assert_int_equal(fth_bound_find(&b, w, NULL, &o, NULL), 0);
	return b;
}

/* The bound is this much, but for what runs may round. */
static void expect(struct fth_world *w, double usd)
{
	struct fth_bound b = find(w);
	assert_true(b.known && b.certified && b.exact);
	if (!(fth_usd(b.usd) <= usd && fth_usd(b.usd) >= usd * (1 - 3e-6)))
		fail_msg("bound %.9f, by hand %.9f", fth_usd(b.usd), usd);
	double sum = 0;
	for (size_t i = 0; i < b.rows.len; i++)
		sum += b.rows.data[i].hours * b.rows.data[i].value;
	assert_true(fabs(sum - fth_usd(b.usd)) <= 1e-6 * usd);
	fth_bound_release(&b);
	fth_world_release(w);
}

static void profile_of(struct fth_world *w, const char *a, const char *b, double aa, double ab, double ba, double bb)
{
	fth_sym classes[] = {fth_sym_intern(w->syms, a), fth_sym_intern(w->syms, b)};
	fth_profile_set_classes(&w->profile, classes, 2);
	fth_profile_set(&w->profile, classes[0], classes[0], aa);
	fth_profile_set(&w->profile, classes[0], classes[1], ab);
	fth_profile_set(&w->profile, classes[1], classes[0], ba);
	fth_profile_set(&w->profile, classes[1], classes[1], bb);
	w->has_profile = true;
}

static void machines_are_filled(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	/* Three CPUs of four cost a whole machine. */
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 3), 1, 0, 10 * FTH_HOUR);
	expect(&w, 10);
	/* With 30 hours of one CPU beside it, ten machine hours are full, and five more do the rest by fours. */
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 3), 1, 0, 10 * FTH_HOUR);
	small_job(&w, "k", FTH_JOB_INDEPENDENT, small_cpus(&w, "y", 1), 3, 0, 10 * FTH_HOUR);
	expect(&w, 15);
}

static void neighbours_slow_down(void **state)
{
	(void)state;
	struct fth_world w;
	/* One CPU, 0.6 beside another: two on the small machine do 1.2 hours for half a dollar; three would do 1.08. */
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, 12 * FTH_HOUR);
	profile_of(&w, "x", "y", 0.6, 1, 1, 1);
	expect(&w, 5);
	/* Two CPUs: each has a small machine to itself. */
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 2), 1, 0, 12 * FTH_HOUR);
	profile_of(&w, "x", "y", 0.6, 1, 1, 1);
	expect(&w, 6);
	/* x (three CPUs) is not slowed by y (one), y by x to 0.5, y by y to 0. x fills a.big with one y: 10 h of x do 5 h of
	 * y. The other 5 h of y are on small machines, alone. */
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 3), 1, 0, 10 * FTH_HOUR);
	small_job(&w, "k", FTH_JOB_INDEPENDENT, small_cpus(&w, "y", 1), 1, 0, 10 * FTH_HOUR);
	profile_of(&w, "x", "y", 0, 1, 0.5, 0);
	expect(&w, 12.5);
}

static void jobs_of_several_tasks(void **state)
{
	(void)state;
	for (int kind = FTH_JOB_INDEPENDENT; kind <= FTH_JOB_SERVICE; kind++) {
		struct fth_world w;
		small_world(&w);
		fth_vec_push(&w.workload.works, FTH_HOUR);
		fth_vec_push(&w.workload.works, 3 * FTH_HOUR);
		struct fth_task_group g = {.kind = small_cpus(&w, "x", 4), .count = 2, .work = 3 * FTH_HOUR};
		struct fth_job_spec s = {.key = 1, .kind = (enum fth_job_kind)kind, .deadline = FTH_NEVER};
		assert_int_equal(fth_workload_add(&w.workload, &s, &g, 1), 0);
		/* Together both run as long as the longer one; a service for as long as the run lasts. */
		expect(&w, kind == FTH_JOB_INDEPENDENT ? 4 : kind == FTH_JOB_SERVICE ? 0 : 6);
	}
	struct fth_world w;
	small_world(&w);
	struct fth_job_spec *j = small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 4), 2, 0, FTH_SEC);
	j->iters = 7200;
	j->iter_rate = 0.5; /* four hours each, whatever the work says */
	expect(&w, 8);
}

static void families_differ(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	struct fth_alt alts[2] = {{.speed_ppm = 1000000}, {.speed_ppm = 250000}};
	alts[0].family = fth_sym_intern(w.syms, "b");
	alts[0].demand.v[FTH_CPU] = alts[1].demand.v[FTH_CPU] = 2000;
	struct fth_kind k = {.nalts = 2, .alts = alts};
	fth_kind_id id = fth_kinds_intern(&w.kinds, &k);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, id, 1, 0, 10 * FTH_HOUR);
	/* b at full speed: 2 $/h for two of them. a at a quarter: 0.5 $/h for one, 2 $ per hour of work. */
	expect(&w, 10);
}

static void prices_are_the_lowest(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 4), 1, 0, 10 * FTH_HOUR);
	struct fth_offer spot = w.catalog.offers.data[A_BIG];
	spot.market = FTH_SPOT;
	fth_vec_push(&w.catalog.offers, spot);
	assert_int_equal(fth_catalog_finish(&w.catalog, NULL), 0);
	const int64_t prices[] = {100000000, 700000000, 300000000, 900000000};
	for (int i = 0; i < 4; i++)
		fth_market_add(&w.market, NTYPES, FTH_MARKET_PRICE, false, (1000 + i) * FTH_SEC, prices[i]);
	fth_market_finish(&w.market);
	w.has_market = true;
	struct fth_bound_options o = fth_bound_thorough();
	o.market_start = 1001 * FTH_SEC; /* the lowest price is over */
	struct fth_bound b;
	assert_int_equal(fth_bound_find(&b, &w, NULL, &o, NULL), 0);
	assert_true(b.certified && fabs(fth_usd(b.usd) - 3) < 1e-5);
	fth_bound_release(&b);
	o.until = FTH_SEC / 2; /* before it falls */
	assert_int_equal(fth_bound_find(&b, &w, NULL, &o, NULL), 0);
	assert_true(b.certified && fabs(fth_usd(b.usd) - 7) < 1e-5);
	fth_bound_release(&b);
	/* What an hour cut short by the cloud costs is forgiven: no certain bound any more. */
	w.catalog.offers.data[NTYPES].billing.cut_free = true;
	assert_int_equal(fth_bound_find(&b, &w, NULL, &o, NULL), 0);
	assert_true(b.known && !b.certified && b.why[0]);
	fth_bound_release(&b);
	fth_world_release(&w);
}

static void contracts_lower_it(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 4), 1, 0, 10 * FTH_HOUR);
	struct fth_offer term = w.catalog.offers.data[A_BIG];
	term.market = FTH_RESERVED;
	term.available = false;
	term.price = FTH_USD / 10;
	term.contract = (struct fth_contract){.name = 1, .term = 100 * FTH_DAY, .upfront = 480 * FTH_USD};
	fth_vec_push(&w.catalog.offers, term);
	assert_int_equal(fth_catalog_finish(&w.catalog, NULL), 0);
	expect(&w, 3); /* 480 $ over 2,400 h, and 0.1 $ for each used */
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 4), 1, 0, 10 * FTH_HOUR);
	w.catalog.offers.data[A_BIG].sustained = true;
	expect(&w, 7);
}

static void none_rather_than_a_wrong_one(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, FTH_HOUR);
	profile_of(&w, "x", "y", 1.5, 1, 1, 1); /* faster together */
	struct fth_bound b = find(&w);
	assert_true(!b.known && !b.certified && b.why[0]);
	fth_bound_release(&b);
	/* Nothing to be had. */
	w.has_profile = false;
	for (int i = 0; i < NTYPES; i++)
		w.catalog.offers.data[i].available = false;
	b = find(&w);
	assert_true(!b.known && b.why[0]);
	fth_bound_release(&b);
	/* For nothing. */
	w.catalog.offers.data[B_BIG].available = true;
	w.catalog.offers.data[B_BIG].price = 0;
	b = find(&w);
	assert_true(b.known && b.usd == 0 && b.remarks.len == 1);
	fth_bound_release(&b);
	fth_world_release(&w);
}

static void steps_are_allowed_for(void **state)
{
	(void)state;
	struct fth_world w;
	small_world(&w);
	w.workload.step = FTH_SEC;
	small_job(&w, "j", FTH_JOB_INDEPENDENT, small_cpus(&w, "x", 1), 1, 0, FTH_HOUR);
	profile_of(&w, "x", "y", 0.6, 1, 1, 1);
	struct fth_bound b = find(&w);
	assert_int_equal(b.slack_per_launch, 0);
	fth_bound_release(&b);
	w.workload.jobs.data[0].submit = FTH_SEC / 2;
	b = find(&w);
	/* A second of the dearest machine that is of use (arm is not: a is cheaper), of which 0.4 may be gained. */
	assert_true(b.certified && fabs((double)b.slack_per_launch - 1e9 * 0.4 / 3600) < 2);
	fth_bound_release(&b);
	fth_world_release(&w);
}

static void many_kinds_are_joined(void **state)
{
	(void)state;
	struct fth_world w;
	struct fth_rng rng;
	fth_rng_seed(&rng, 1, 2, 3);
	small_world(&w);
	for (int i = 0; i < 200; i++) {
		char name[16];
		struct fth_alt alt;
		snprintf(name, sizeof(name), "j%d", i);
		struct fth_kind k = small_kind(&w, "x", &alt, 1);
		alt.demand.v[FTH_CPU] = 100 + (int64_t)fth_rng_below(&rng, 3900);
		alt.demand.v[FTH_MEM] = 50 + (int64_t)fth_rng_below(&rng, 8000);
		small_job(&w, name, FTH_JOB_INDEPENDENT, fth_kinds_intern(&w.kinds, &k), 1, 0,
			  (fth_time)fth_rng_below(&rng, 100) * FTH_HOUR);
	}
	fth_money before = 0;
	for (uint32_t most = 1; most <= 256; most *= 4) {
		struct fth_bound_options o = fth_bound_thorough();
		struct fth_bound b;
		o.rows_max = most;
		assert_int_equal(fth_bound_find(&b, &w, NULL, &o, NULL), 0);
		assert_true(b.known && b.certified && b.rows.len <= most);
		assert_true(b.usd >= before);
		assert_int_equal(most < 200, b.remarks.len > 0);
		before = b.usd;
		fth_bound_release(&b);
	}
	fth_world_release(&w);
}

/* ---- the best filling, against all of them ---- */

enum { MAXI = 5, MAXC = 3, MAXT = 3 };

struct drawn {
	uint32_t n, nclasses, ntypes;
	struct fth_res cap[MAXT], need[MAXT * MAXI];
	double speed[MAXT * MAXI], price[MAXT], value[MAXI], work[MAXI], rate[MAXC * MAXC];
	uint32_t class[MAXI];
};

static void draw(struct drawn *d, struct fth_rng *r)
{
	*d = (struct drawn){.n = 1 + (uint32_t)fth_rng_below(r, MAXI), .nclasses = 1 + (uint32_t)fth_rng_below(r, MAXC),
			    .ntypes = 1 + (uint32_t)fth_rng_below(r, MAXT)};
	for (uint32_t i = 0; i < d->nclasses * d->nclasses; i++)
		d->rate[i] = fth_rng_below(r, 5) ? 0.5 + 0.5 * fth_rng_real(r) : fth_rng_below(r, 4) ? 1 : 0;
	for (uint32_t t = 0; t < d->ntypes; t++) {
		for (int k = 0; k < 2; k++)
			d->cap[t].v[k] = 4 + (int64_t)fth_rng_below(r, 8);
		d->price[t] = 0.1 + fth_rng_real(r) * 3;
	}
	for (uint32_t i = 0; i < d->n; i++) {
		d->value[i] = fth_rng_below(r, 6) ? fth_rng_real(r) : -1;
		d->work[i] = 0.1 + fth_rng_real(r) * 20;
		d->class[i] = (uint32_t)fth_rng_below(r, d->nclasses);
		for (uint32_t t = 0; t < d->ntypes; t++) {
			struct fth_res *need = &d->need[t * d->n + i];
			need->v[0] = 1 + (int64_t)fth_rng_below(r, 4);
			need->v[1] = (int64_t)fth_rng_below(r, 5);
			/* Everything runs on the first type. */
			d->speed[t * d->n + i] = !t || fth_rng_below(r, 4) ? (fth_rng_below(r, 3) ? 1 : 0.7) : 0;
		}
	}
}

/* Calls try(arg, copies) for every filling of a type. */
static void each_filling(const struct drawn *d, uint32_t t, uint32_t from, struct fth_res rest, uint32_t *copies,
			 void (*try_one)(void *arg, const uint32_t *copies), void *arg)
{
	try_one(arg, copies);
	for (uint32_t i = from; i < d->n; i++) {
		if (!(d->speed[t * d->n + i] > 0) || !fth_res_fits(&d->need[t * d->n + i], &rest))
			continue;
		struct fth_res left = rest;
		fth_res_sub(&left, &d->need[t * d->n + i]);
		copies[i]++;
		each_filling(d, t, i, left, copies, try_one, arg);
		copies[i]--;
	}
}

/* What each copy of item i does beside the others. */
static double speed_of(const struct drawn *d, const uint32_t *copies, uint32_t i)
{
	double s = 1;
	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t c = k == i; c < copies[k]; c++)
			s *= d->rate[d->class[i] * d->nclasses + d->class[k]];
	return s;
}

struct best {
	const struct drawn *d;
	double value;
};

static void keep_best(void *arg, const uint32_t *copies)
{
	struct best *b = arg;
	double v = 0;
	for (uint32_t i = 0; i < b->d->n; i++)
		if (copies[i])
			v += copies[i] * FTH_MAX(b->d->value[i], 0.0) * speed_of(b->d, copies, i);
	b->value = FTH_MAX(b->value, v);
}

static void the_best_filling_is_found(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 11, 0, 0);
	for (int n = 0; n < 1500; n++) {
		struct drawn d;
		struct fth_pairs pairs;
		struct fth_crowded out;
		char usable[MAXI];
		uint32_t copies[MAXI] = {0};
		draw(&d, &r);
		for (uint32_t i = 0; i < d.n; i++)
			usable[i] = d.speed[i] > 0;
		struct best b = {.d = &d};
		each_filling(&d, 0, 0, d.cap[0], copies, keep_best, &b);
		fth_pairs_init(&pairs, d.nclasses, d.rate);
		struct fth_crowd *c = fth_crowd_new(&d.cap[0], d.need, usable, d.class, d.n, &pairs);
		for (int floor = 0; floor < 2; floor++) {
			double above = floor ? 0.9 * b.value + 0.01 : 1e-6;
			fth_crowd_solve(c, d.value, above, UINT64_MAX, &out);
			assert_true(out.complete);
			assert_true(out.bound >= FTH_MAX(b.value, above) && out.bound <= FTH_MAX(b.value, above) * (1 + 1e-8));
			assert_int_equal(out.found, b.value > above * (1 + 1e-9));
			memset(copies, 0, sizeof(copies));
			for (uint32_t i = 0; i < out.nparts; i++)
				copies[out.parts[i].item] = out.parts[i].copies;
			struct best again = {.d = &d};
			keep_best(&again, copies);
			assert_true(!out.found || fabs(again.value - out.value) < 1e-9);
		}
		/* Cut short it still is a bound. */
		fth_crowd_solve(c, d.value, 1e-6, 1, &out);
		assert_true(out.bound >= b.value);
		fth_crowd_free(c);
		fth_pairs_release(&pairs);
	}
}

/* ---- the LP, against one with every configuration ---- */

struct all_columns {
	const struct drawn *d;
	struct fth_lp *lp;
	uint32_t type;
	bool apart;
};

static void add_one(void *arg, const uint32_t *copies)
{
	struct all_columns *a = arg;
	uint32_t rows[MAXI], n = 0;
	double coefs[MAXI];
	for (uint32_t i = 0; i < a->d->n; i++)
		if (copies[i]) {
			rows[n] = i;
			coefs[n++] = copies[i] * a->d->speed[a->type * a->d->n + i] * (a->apart ? 1 : speed_of(a->d, copies, i));
		}
	if (n)
		fth_lp_add_col(a->lp, a->d->price[a->type], rows, coefs, n);
}

static void the_lp_is_solved(void **state)
{
	(void)state;
	struct fth_rng r;
	fth_rng_seed(&r, 12, 0, 0);
	for (int n = 0; n < 300; n++) {
		struct drawn d;
		struct fth_pairs pairs;
		struct fth_blend m;
		draw(&d, &r);
		struct all_columns a = {.d = &d, .lp = fth_lp_new(d.n), .apart = n & 1};
		for (uint32_t i = 0; i < d.n; i++)
			fth_lp_set_row(a.lp, i, d.work[i], INFINITY);
		for (a.type = 0; a.type < d.ntypes; a.type++) {
			uint32_t copies[MAXI] = {0};
			each_filling(&d, a.type, 0, d.cap[a.type], copies, add_one, &a);
		}
		assert_int_equal(fth_lp_solve(a.lp), 0);
		double truth = fth_lp_objective(a.lp);
		fth_pairs_init(&pairs, d.nclasses, d.rate);
		struct fth_blend_input in = {.nrows = d.n, .ntypes = d.ntypes, .work = d.work, .class = d.class, .capacity = d.cap,
					     .price = d.price, .demand = d.need, .speed = d.speed, .pairs = a.apart ? NULL : &pairs};
		struct fth_blend_effort full = {.quick = 1000, .work = 1000000000}, none = {.quick = 1, .work = 1};
		fth_blend_solve(&m, &in, &full);
		if (!(m.exact && m.bound <= truth * (1 + 1e-9) && m.bound >= truth * (1 - 1e-5)))
			fail_msg("draw %d: bound %.9f, truth %.9f", n, m.bound, truth);
		double mix = 0, *done = fth_alloc(d.n * sizeof(*done));
		for (size_t c = 0; c < m.configs.len; c++) {
			mix += m.configs.data[c].usd;
			for (uint32_t k = 0; k < m.configs.data[c].n; k++) {
				const struct fth_blend_part *p = &m.parts.data[m.configs.data[c].first + k];
				done[p->row] += p->copies * p->speed * m.configs.data[c].hours;
			}
		}
		assert_true(fabs(mix - truth) < 1e-5 * truth);
		for (uint32_t i = 0; i < d.n; i++)
			assert_true(done[i] >= d.work[i] * (1 - 1e-6));
		free(done);
		fth_blend_release(&m);
		fth_blend_solve(&m, &in, &none); /* next to no effort: weak, never wrong */
		assert_true(m.bound <= truth * (1 + 1e-9));
		fth_blend_release(&m);
		fth_lp_free(a.lp);
		fth_pairs_release(&pairs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_filled),
		cmocka_unit_test(neighbours_slow_down),
		cmocka_unit_test(jobs_of_several_tasks),
		cmocka_unit_test(families_differ),
		cmocka_unit_test(prices_are_the_lowest),
		cmocka_unit_test(contracts_lower_it),
		cmocka_unit_test(none_rather_than_a_wrong_one),
		cmocka_unit_test(steps_are_allowed_for),
		cmocka_unit_test(many_kinds_are_joined),
		cmocka_unit_test(the_best_filling_is_found),
		cmocka_unit_test(the_lp_is_solved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
