/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `farthing`: re-partition of pools against trying everything, fair shares against hand-solved ones, and
 * interference learnt from sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/farthing/own.h"

enum { TYPES = 4, CLASSES = 4, KINDS = 6, MOST = 6 };

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-7 * (1 + fabs(b)))
		fail_msg("%.12g is not %.12g", a, b);
}

/* ---- pools, all drawn ---- */

struct draw {
	struct fth_instance_type types[TYPES];
	struct fth_catalog catalog;
	struct own_buy buys[TYPES];
	struct fth_alt alts[KINDS][2];
	const struct fth_alt *on[KINDS][TYPES];
	struct own_speeds speeds;
	struct own_pool pool;
	struct fth_rng rng;
};

static double real(struct draw *d, double lo, double hi)
{
	return lo + (hi - lo) * fth_rng_real(&d->rng);
}

static uint32_t below(struct draw *d, uint32_t n)
{
	return (uint32_t)fth_rng_below(&d->rng, n);
}

static void draw_market(struct draw *d)
{
	for (uint32_t t = 0; t < TYPES; t++) {
		d->types[t].capacity.v[FTH_CPU] = 2000 << t;
		d->types[t].capacity.v[FTH_MEM] = (1000 << t) * (1 + (int64_t)below(d, 4));
		d->types[t].family = 1 + t % 2;
		d->buys[t] = (struct own_buy){.offer = t, .type = t, .price = real(d, 0.8, 1.2) * (1 << t), .boot = real(d, 0, 0.1)};
		d->buys[t].billed = d->buys[t].boot / 2;
		d->buys[t].risk = below(d, 2) ? real(d, 0, 0.2) : 0;
	}
	for (uint32_t t = 1; t < TYPES; t++) /* cheapest first, as the policy has them */
		for (uint32_t k = t; k && d->buys[k - 1].price > d->buys[k].price; k--) {
			struct own_buy x = d->buys[k];
			d->buys[k] = d->buys[k - 1];
			d->buys[k - 1] = x;
		}
	d->catalog = (struct fth_catalog){.types = d->types, .ntypes = TYPES, .nres = 3};
}

static void draw_kinds(struct draw *d)
{
	for (uint32_t k = 0; k < KINDS; k++) {
		for (uint32_t f = 0; f < 2; f++) {
			struct fth_alt *a = &d->alts[k][f];
			a->family = 1 + f;
			a->speed_ppm = f ? 500000 + below(d, 500000) : 1000000;
			a->demand.v[FTH_CPU] = 300 + below(d, below(d, 8) ? 3000 : 30000);
			a->demand.v[FTH_MEM] = 300 + below(d, 3000);
		}
		bool by_family = below(d, 2);
		for (uint32_t t = 0; t < TYPES; t++) {
			const struct fth_alt *a = &d->alts[k][by_family ? t % 2 : 0];
			d->on[k][t] = fth_res_fits(&a->demand, &d->types[t].capacity) ? a : NULL;
		}
	}
	own_speeds_init(&d->speeds, 0.95, true, false);
	for (fth_sym c = 1; c <= CLASSES; c++)
		own_speeds_class(&d->speeds, c);
	for (uint32_t a = 0; a < CLASSES; a++)
		for (uint32_t b = 0; b < CLASSES; b++)
			d->speeds.pair[a * d->speeds.stride + b] = real(d, 0.6, 1);
}

static struct own_item draw_item(struct draw *d)
{
	uint32_t kind = below(d, KINDS);
	struct own_item i = {.klass = below(d, CLASSES), .count = 1 + (below(d, 5) == 0), .alt = d->on[kind]};
	i.hours = below(d, 3) ? 2 : real(d, 0.2, 2);
	i.hourly = real(d, 0.3, 3);
	i.value = i.hourly * i.hours;
	i.pace = 1;
	if (below(d, 4) == 0) {
		i.drag = real(d, 0, 3);
		i.pace = real(d, 0.5, 1);
	}
	i.move = i.hourly * real(d, 0, 0.1);
	i.loss = real(d, 0, 2);
	i.queue = below(d, 2) ? 0 : OWN_NEVER;
	i.apart = below(d, 4) == 0 ? 1 + below(d, 2) : 0;
	i.count = i.apart ? 1 : i.count;
	i.home = FTH_NONE;
	return i;
}

static void draw_pool(struct draw *d)
{
	struct own_pool *p = &d->pool;
	p->nitems = 1 + below(d, MOST);
	p->nbins = below(d, OWN_BINS + 1);
	for (uint32_t k = 0; k < p->nitems; k++) {
		p->item[k] = draw_item(d);
		p->item[k].home = p->nbins && below(d, 2) ? below(d, p->nbins) : FTH_NONE;
	}
	for (uint32_t b = 0; b < p->nbins; b++) {
		struct own_bin *x = &p->bin[b];
		*x = (struct own_bin){.as = d->buys[below(d, TYPES)], .linger = below(d, 2) ? real(d, 0, 1) : 0};
		x->room = d->types[x->as.type].capacity;
		for (uint32_t n = below(d, 3); n; n--) {
			struct own_item i = draw_item(d);
			i.count = 1;
			if (!i.alt[x->as.type] || !fth_res_fits(&i.alt[x->as.type]->demand, &x->room))
				continue;
			fth_res_sub(&x->room, &i.alt[x->as.type]->demand);
			x->fixed[x->nfixed++] = i;
			x->occupied = true;
			x->hours = FTH_MAX(x->hours, i.hours);
		}
	}
}

/* ---- trying everything ---- */

/* Worth of an item beside all the others there. */
static double plain_worth(const struct draw *d, const struct own_item *const *there, uint32_t n, uint32_t who, fth_type_id type)
{
	const struct own_item *i = there[who];
	double rate = i->alt[type]->speed_ppm / 1e6;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t c = 0; c < there[k]->count - (k == who); c++)
			rate *= own_pair(&d->speeds, i->klass, there[k]->klass);
	return i->value * rate + i->drag * FTH_MIN(rate, i->pace);
}

static double plain_cost(const struct draw *d, uint32_t items, const struct own_bin *bin, uint32_t b, const struct own_buy *buy)
{
	const struct own_item *there[MOST + OWN_FIXED];
	uint32_t n = 0, type = bin ? bin->as.type : buy->type;
	struct fth_res room = bin ? bin->room : d->types[type].capacity;
	double cost = 0, hours = bin ? FTH_MAX(bin->hours, bin->linger) : 0, worth = 0, risk = bin ? bin->as.risk : buy->risk;
	for (uint32_t k = 0; k < d->pool.nitems; k++) {
		const struct own_item *i = &d->pool.item[k];
		if (!(items >> k & 1))
			continue;
		if (!i->alt[type])
			return OWN_NEVER;
		for (uint32_t c = 0; c < i->count; c++)
			fth_res_sub(&room, &i->alt[type]->demand);
		there[n++] = i;
		hours = FTH_MAX(hours, i->hours);
		cost += (bin && i->home == b ? 0 : i->move) + risk * i->loss + (buy ? buy->boot * i->hourly : 0);
	}
	for (uint32_t r = 0; r < 3; r++)
		if (room.v[r] < 0)
			return OWN_NEVER;
	for (uint32_t f = 0; bin && f < bin->nfixed; f++)
		there[n++] = &bin->fixed[f];
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t k = 0; k < a; k++)
			if (there[a]->apart && there[a]->apart == there[k]->apart && (items || k < n))
				return items ? OWN_NEVER : cost;
	for (uint32_t k = 0; k < n; k++)
		worth += plain_worth(d, there, n, k, type);
	return cost + (bin ? bin->as.price * hours : buy->price * (hours + buy->billed)) - worth;
}

/* Items from k on, each to a bin, to a group opened before, to a new group or to the queue. */
static double try_all(const struct draw *d, uint32_t k, uint32_t *bin, uint32_t *group, uint32_t ngroups, double queued)
{
	const struct own_pool *p = &d->pool;
	if (k == p->nitems) {
		double sum = queued;
		for (uint32_t b = 0; b < p->nbins; b++)
			if (bin[b] || p->bin[b].occupied || p->bin[b].linger > 0)
				sum += plain_cost(d, bin[b], &p->bin[b], b, NULL);
		for (uint32_t g = 0; g < ngroups; g++) {
			double least = OWN_NEVER;
			for (uint32_t t = 0; t < TYPES; t++)
				least = FTH_MIN(least, plain_cost(d, group[g], NULL, 0, &d->buys[t]));
			sum += least;
		}
		return sum;
	}
	double least = try_all(d, k + 1, bin, group, ngroups, queued + p->item[k].queue);
	for (uint32_t b = 0; b < p->nbins; b++) {
		bin[b] |= 1u << k;
		least = FTH_MIN(least, try_all(d, k + 1, bin, group, ngroups, queued));
		bin[b] ^= 1u << k;
	}
	for (uint32_t g = 0; g <= ngroups; g++) {
		group[g] |= 1u << k;
		least = FTH_MIN(least, try_all(d, k + 1, bin, group, FTH_MAX(ngroups, g + 1), queued));
		group[g] ^= 1u << k;
	}
	return least;
}

/* Fixed tasks that must be kept apart but are not would make even an untouched bin impossible. */
static bool is_sound(const struct draw *d)
{
	for (uint32_t b = 0; b < d->pool.nbins; b++)
		for (uint32_t f = 0; f < d->pool.bin[b].nfixed; f++)
			for (uint32_t g = 0; g < f; g++)
				if (d->pool.bin[b].fixed[f].apart && d->pool.bin[b].fixed[f].apart == d->pool.bin[b].fixed[g].apart)
					return false;
	return true;
}

static double recount(const struct draw *d, const struct own_split *s, uint32_t *all)
{
	double sum = 0;
	*all = s->queued;
	for (uint32_t b = 0; b < d->pool.nbins; b++) {
		*all += s->bin[b];
		if (s->bin[b] || d->pool.bin[b].occupied || d->pool.bin[b].linger > 0)
			sum += plain_cost(d, s->bin[b], &d->pool.bin[b], b, NULL);
	}
	for (uint32_t f = 0; f < s->nnew; f++) {
		*all += s->fresh[f].items;
		sum += plain_cost(d, s->fresh[f].items, NULL, 0, &d->buys[s->fresh[f].buy]);
	}
	for (uint32_t k = 0; k < d->pool.nitems; k++)
		sum += s->queued >> k & 1 ? d->pool.item[k].queue : 0;
	return sum;
}

static void repartition_is_the_best_there_is(void **state)
{
	(void)state;
	struct own_work *w = own_work_new();
	uint32_t solved = 0, impossible = 0, better = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct draw d = {0};
		uint32_t bin[OWN_BINS] = {0}, group[MOST + 1] = {0}, all, blocks[MOST];
		struct own_split s;
		fth_rng_seed(&d.rng, seed, 1, 1);
		draw_market(&d);
		draw_kinds(&d);
		draw_pool(&d);
		if (is_sound(&d)) {
			double best = try_all(&d, 0, bin, group, 0, 0);
			own_price_pool(w, &d.pool, &d.speeds, &d.catalog, d.buys, TYPES);
			own_repartition(w, &s);
			if (best >= OWN_NEVER / 2) {
				assert_true(s.cost >= OWN_NEVER / 2);
				impossible++;
			} else {
				near(s.cost, best);
				near(recount(&d, &s, &all), best);
				assert_int_equal(all, (1u << d.pool.nitems) - 1);
				for (uint32_t k = 0; k < d.pool.nitems; k++)
					blocks[k] = 1u << k;
				double bound = own_bound(w, blocks, d.pool.nitems);
				assert_true(bound <= best + 1e-9 * (1 + fabs(best)));
				/* From above it is found; from itself nothing better is. */
				assert_true(own_improve(w, best + 0.5, bound, &s));
				near(s.cost, best);
				near(recount(&d, &s, &all), best);
				better += own_improve(w, best - 1e-6, bound, &s);
				solved++;
			}
		}
		own_speeds_release(&d.speeds);
	}
	own_work_free(w);
	assert_int_equal(better, 0);
	assert_true(solved > 200);
	assert_true(impossible > 0);
}

/* ---- fair shares ---- */

static void shares_are_the_cheapest_mix(void **state)
{
	(void)state;
	/* A machine for CPU, one for memory, and one with a GPU. */
	struct fth_instance_type types[3] = {{.family = 1, .capacity = {{0, 4000, 8000}}},
					     {.family = 2, .capacity = {{0, 4000, 32000}}},
					     {.family = 3, .capacity = {{1000, 8000, 61000}}}};
	struct fth_catalog catalog = {.types = types, .ntypes = 3, .nres = 3};
	struct own_buy buys[3] = {{.type = 0, .price = 0.2}, {.type = 1, .price = 0.3}, {.type = 2, .price = 3}};
	struct fth_alt alts[4] = {{.speed_ppm = 1000000, .demand = {{0, 4000, 8000}}},   /* just the first */
				  {.speed_ppm = 1000000, .demand = {{0, 1000, 5000}}},   /* an eighth of each */
				  {.speed_ppm = 1000000, .demand = {{1000, 6000, 1000}}}, /* the GPU decides */
				  {.speed_ppm = 500000, .demand = {{500, 6000, 1000}}}};  /* the CPUs do; twice as long */
	struct fth_kind kinds[4];
	for (int k = 0; k < 4; k++)
		kinds[k] = (struct fth_kind){.nalts = 1, .alts = &alts[k]};
	struct fth_view v = {.catalog = &catalog, .kinds = kinds, .nkinds = 4};
	near(own_fair_share(&v, 0, buys, 3), 0.2);
	near(own_fair_share(&v, 1, buys, 3), 0.0625);
	near(own_fair_share(&v, 2, buys, 3), 3);
	near(own_fair_share(&v, 3, buys, 3), 4.5);
	near(own_fair_share(&v, 3, buys, 2), 0); /* nothing holds it */
}

static void what_is_bought_already_adds_nothing(void **state)
{
	(void)state;
	struct fth_offer offers[3] = {{.type = 0, .price = FTH_USD, .available = true},
				      {.type = 0, .price = FTH_USD / 4, .available = true, .market = FTH_SPOT},
				      {.type = 0, .price = FTH_USD / 2, .market = FTH_RESERVED, .contract = {.term = FTH_DAY}}};
	struct fth_catalog catalog = {.offers = offers, .noffers = 3};
	struct own_buy dear = {.offer = 0, .price = 1}, spot = {.offer = 1, .price = 0.25};
	near(own_marginal(&catalog, &dear, 0, 0), 1);
	near(own_marginal(&catalog, &dear, 1, 2), 0.5); /* charged for the hours used */
	near(own_marginal(&catalog, &dear, 2, 2), 1);
	near(own_marginal(&catalog, &spot, 0, 2), 0.25);
	offers[2].contract.every_hour = true;
	near(own_marginal(&catalog, &dear, 1, 2), 0);
}

/* ---- interference ---- */

static void pairs_are_learnt_from_sets(void **state)
{
	(void)state;
	static const double truth[3][3] = {{0.9, 0.8, 0.7}, {0.95, 0.99, 0.6}, {1, 0.85, 0.75}};
	struct own_speeds s;
	own_speeds_init(&s, 0.95, true, false);
	for (fth_sym c = 1; c <= 3; c++)
		assert_int_equal(own_speeds_class(&s, c), c - 1);
	/* Never a pair alone: sets of three, each with every victim. */
	for (uint32_t times = 0; times < 20; times++)
		for (uint32_t v = 0; v < 3; v++)
			for (uint32_t a = 0; a < 3; a++)
				for (uint32_t b = a; b < 3; b++)
					own_speeds_observe(&s, v, (uint32_t[]){a, b}, 2, truth[v][a] * truth[v][b]);
	for (uint32_t v = 0; v < 3; v++)
		for (uint32_t a = 0; a < 3; a++)
			assert_true(fabs(own_pair(&s, v, a) - truth[v][a]) < 1e-3);
	assert_false(own_speeds_has_sets(&s));
	own_speeds_release(&s);
}

/* A world in which three together are far slower than their pairs say: the set speaks for itself. */
static void sets_that_break_the_model_are_remembered(void **state)
{
	(void)state;
	struct own_speeds s;
	own_speeds_init(&s, 0.95, true, false);
	for (fth_sym c = 1; c <= 3; c++)
		own_speeds_class(&s, c);
	for (uint32_t times = 0; times < 40; times++) {
		own_speeds_observe(&s, 0, (uint32_t[]){1}, 1, 0.95);
		own_speeds_observe(&s, 0, (uint32_t[]){2}, 1, 0.95);
		own_speeds_observe(&s, 0, (uint32_t[]){1, 2}, 2, 0.4);
	}
	uint64_t hash = own_class_hash(0) + own_class_hash(1);
	assert_true(own_speeds_has_sets(&s));
	double pair = own_speeds_in_set(&s, 0, hash, own_pair(&s, 0, 1));
	double three = own_speeds_in_set(&s, 0, hash + own_class_hash(2), own_pair(&s, 0, 1) * own_pair(&s, 0, 2));
	assert_true(fabs(pair - 0.95) < 0.01);
	assert_true(fabs(three - 0.4) < 0.01);
	own_speeds_release(&s);
}

/* Classes that never come back teach about those that are still to come; what was seen of a pair stays its own. */
static void pairs_never_seen_are_like_those_that_were(void **state)
{
	(void)state;
	struct own_speeds s;
	own_speeds_init(&s, 0.95, true, false);
	for (fth_sym c = 1; c <= 400; c++)
		own_speeds_class(&s, c);
	near(own_pair(&s, 398, 399), 0.95);
	own_speeds_observe(&s, 0, (uint32_t[]){1}, 1, 0.5);
	double seen = own_pair(&s, 0, 1);
	for (uint32_t c = 2; c + 1 < 398; c += 2)
		own_speeds_observe(&s, c, (uint32_t[]){c + 1}, 1, 1);
	assert_true(own_pair(&s, 398, 399) > 0.99);
	near(own_pair(&s, 0, 1), seen);
	assert_true(seen < 0.55);
	own_speeds_release(&s);
}

/* Many neighbours of few classes are no less to learn from. */
static void crowds_teach(void **state)
{
	(void)state;
	struct own_speeds s;
	uint32_t others[300] = {0};
	own_speeds_init(&s, 0.95, true, false);
	own_speeds_class(&s, 1);
	own_speeds_observe(&s, 0, others, 300, 1);
	assert_true(own_pair(&s, 0, 0) > 0.999);
	own_speeds_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repartition_is_the_best_there_is),
		cmocka_unit_test(shares_are_the_cheapest_mix),
		cmocka_unit_test(what_is_bought_already_adds_nothing),
		cmocka_unit_test(pairs_are_learnt_from_sets),
		cmocka_unit_test(pairs_never_seen_are_like_those_that_were),
		cmocka_unit_test(crowds_teach),
		cmocka_unit_test(sets_that_break_the_model_are_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
