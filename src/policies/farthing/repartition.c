/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest way to lay a pool of at most OWN_ITEMS items on the machines of the pool, on new machines and in the
 * queue: exact, by dynamic programming over subsets.
 *
 * First every subset is priced on each machine of the pool and on the best new one. Speeds depend on who else is there, so
 * they are kept along the walk over the subsets, one multiplication for each item when one is added; subsets that fit
 * nowhere are cut off with everything that contains them. Then
 *
 *     rest(S)   = least over the parts P of S with its lowest item: new(P) + rest(S - P), or the queue for that item alone
 *     best_b(S) = least over P of S: bin_b(P) + best_(b-1)(S - P)
 */
#include "policies/farthing/own.h"

enum { SETS = 1 << OWN_ITEMS, MEMBERS = OWN_ITEMS + OWN_FIXED, FEW = 1024, MOST_NODES = 20000 };
enum { NEW = OWN_BINS, WAITS = OWN_BINS + 1 };

/* A set that may be part of a better split. */
struct few {
	uint32_t items;
	uint32_t place; /* a bin; NEW; WAITS */
	double over;    /* dearer than its items' prices by this */
};

struct own_work {
	double fresh[SETS];           /* on the best new machine */
	uint32_t buy[SETS];           /* which is this one */
	double bin[OWN_BINS][SETS];
	double best[OWN_BINS + 1][SETS];
	double least[SETS];           /* on any of these */
	double slack[SETS];
	struct few few[FEW];          /* by lowest item */
	uint32_t first[OWN_ITEMS + 1];
	uint32_t nodes;
	double gap;
	double u[OWN_ITEMS];          /* prices of the items that prove the bound */
	uint32_t part[OWN_BINS + 1][SETS];
	uint64_t steps;
	/* of the walk */
	const struct own_pool *pool;
	const struct own_speeds *speeds;
	bool has_sets;
	const struct fth_catalog *catalog;
	const struct own_buy *buys;
	size_t nbuys;
	const char *buy_group;        /* by buy: types on which every item has the same alternative */
	uint32_t nmembers;
	const struct own_item *member[MEMBERS];
	double slow[MEMBERS][MEMBERS]; /* [neighbour][victim] */
	uint64_t hash[MEMBERS];
	double speed[MEMBERS], value[MEMBERS];
	bool plain;                   /* worth is the sum of value x rate */
	const struct fth_alt *alt[MEMBERS];
	uint32_t group;
	uint32_t bin_here;            /* the one bin that is priced, or FTH_NONE: all bins of the group without fixed tasks */
	char bin_group[OWN_BINS];
	struct fth_res most;          /* no machine of the group has more room */
};

struct own_work *own_work_new(void)
{
	return fth_alloc(sizeof(struct own_work));
}

void own_work_free(struct own_work *w)
{
	free(w);
}

uint64_t own_work_steps(const struct own_work *w)
{
	return w->steps;
}

double own_cost_on_bin(const struct own_work *w, uint32_t bin, uint32_t items)
{
	return w->bin[bin][items];
}

double own_cost_on_new(const struct own_work *w, uint32_t items)
{
	return w->fresh[items];
}

/* ---- pricing every subset ---- */

/* A subset as the walk reaches it. */
struct stop {
	uint32_t items, n; /* n: place of the next item to decide on */
	uint32_t barred;   /* bins one of them may not go to */
	struct fth_res need;
	double rate[MEMBERS]; /* of every member, were it there */
	double hours, moves, hourly, loss;
	double home[OWN_BINS]; /* of the moves, what need not be paid on each bin */
	uint64_t hash;
	uint32_t from; /* no buy before this one has room */
};

static double worth_of(const struct own_work *w, const struct stop *s, uint32_t k)
{
	const struct own_item *i = w->member[k];
	double rate = s->rate[k];
	if (w->has_sets)
		rate = own_speeds_in_set(w->speeds, i->klass, s->hash, rate);
	rate *= w->speed[k];
	return i->value * rate + (i->drag > 0 ? i->drag * FTH_MIN(rate, i->pace) : 0);
}

static double worth(const struct own_work *w, const struct stop *s)
{
	double sum = 0;
	if (w->plain) {
		for (uint32_t set = s->items; set; set &= set - 1)
			sum += w->value[__builtin_ctz(set)] * s->rate[__builtin_ctz(set)];
		return sum;
	}
	for (uint32_t set = s->items; set; set &= set - 1)
		sum += worth_of(w, s, (uint32_t)__builtin_ctz(set));
	for (uint32_t k = w->pool->nitems; k < w->nmembers; k++)
		sum += worth_of(w, s, k);
	return sum;
}

static bool fits(const struct own_work *w, const struct fth_res *need, const struct fth_res *room)
{
	bool ok = true;
	for (uint32_t r = 0; r < w->catalog->nres; r++)
		ok &= need->v[r] <= room->v[r];
	return ok;
}

static void price_bin(struct own_work *w, const struct stop *s, uint32_t b, double value)
{
	const struct own_bin *bin = &w->pool->bin[b];
	if (s->barred >> b & 1 || !fits(w, &s->need, &bin->room))
		return;
	double hours = FTH_MAX(FTH_MAX(s->hours, bin->hours), bin->linger);
	w->bin[b][s->items] = bin->as.price * hours - value + bin->as.risk * s->loss + s->moves - s->home[b];
}

static void price_new(struct own_work *w, struct stop *s, double value)
{
	double least = w->fresh[s->items], net = s->moves - value;
	bool first = true;
	for (size_t k = s->from; k < w->nbuys; k++) {
		const struct own_buy *b = &w->buys[k];
		if (b->price * s->hours + net >= least)
			break;
		if (w->buy_group[k] != (char)w->group || !fits(w, &s->need, &w->catalog->types[b->type].capacity))
			continue;
		if (first)
			s->from = (uint32_t)k;
		first = false;
		double cost = b->price * (s->hours + b->billed) + b->risk * s->loss + b->boot * s->hourly + net;
		if (cost < least) {
			least = cost;
			w->buy[s->items] = (uint32_t)k;
		}
	}
	w->fresh[s->items] = least;
}

static void price(struct own_work *w, struct stop *s)
{
	double value = worth(w, s);
	w->steps += 1;
	if (w->bin_here != FTH_NONE) {
		price_bin(w, s, w->bin_here, value);
		return;
	}
	for (uint32_t b = 0; b < w->pool->nbins; b++)
		if (w->bin_group[b] == (char)w->group && !w->pool->bin[b].nfixed)
			price_bin(w, s, b, value);
	price_new(w, s, value);
}

static bool keeps_apart(const struct own_work *w, const struct stop *s, uint32_t k)
{
	fth_sym apart = w->member[k]->apart;
	for (uint32_t set = s->items; apart && set; set &= set - 1)
		if (w->member[__builtin_ctz(set)]->apart == apart)
			return true;
	for (uint32_t f = w->pool->nitems; apart && f < w->nmembers; f++)
		if (w->member[f]->apart == apart)
			return true;
	return false;
}

static bool add(const struct own_work *w, const struct stop *s, uint32_t k, struct stop *t)
{
	const struct own_item *i = w->member[k];
	const struct fth_alt *a = w->alt[k];
	if (!a)
		return false;
	t->need = s->need;
	for (uint32_t r = 0; r < w->catalog->nres; r++)
		t->need.v[r] += a->demand.v[r] * i->count;
	if (!fits(w, &t->need, &w->most) || (i->apart && (keeps_apart(w, s, k) || i->count > 1)))
		return false;
	for (uint32_t m = 0; m < w->nmembers; m++)
		t->rate[m] = s->rate[m] * w->slow[k][m];
	t->items = s->items | 1u << k;
	t->barred = s->barred | i->barred;
	t->n = k + 1;
	t->hours = FTH_MAX(s->hours, i->hours);
	t->moves = s->moves + i->move;
	t->hourly = s->hourly + i->hourly;
	t->loss = s->loss + i->loss;
	t->hash = s->hash + w->hash[k];
	t->from = s->from;
	for (uint32_t b = 0; b < w->pool->nbins; b++)
		t->home[b] = s->home[b] + (i->home == b ? i->move : 0);
	return true;
}

/* All supersets of this one, by items from its n on. */
static void walk(struct own_work *w, const struct stop *s)
{
	struct stop t;
	for (uint32_t k = s->n; k < w->pool->nitems; k++)
		if (add(w, s, k, &t)) {
			price(w, &t);
			walk(w, &t);
		}
}

/* Members, and how each slows each. */
static void set_members(struct own_work *w, const struct own_bin *bin, fth_type_id type)
{
	const struct own_pool *p = w->pool;
	w->nmembers = p->nitems + (bin ? bin->nfixed : 0);
	w->plain = !w->has_sets;
	for (uint32_t k = 0; k < w->nmembers; k++) {
		const struct own_item *i = k < p->nitems ? &p->item[k] : &bin->fixed[k - p->nitems];
		w->member[k] = i;
		w->alt[k] = i->alt[type];
		w->speed[k] = w->alt[k] ? w->alt[k]->speed_ppm / 1e6 : 0;
		w->hash[k] = own_class_hash(i->klass) * i->count;
		w->value[k] = i->value * w->speed[k];
		w->plain &= k < p->nitems && !(i->drag > 0);
	}
	for (uint32_t a = 0; a < w->nmembers; a++)
		for (uint32_t b = 0; b < w->nmembers; b++) {
			double one = own_pair(w->speeds, w->member[b]->klass, w->member[a]->klass), all = 1;
			for (uint32_t n = w->member[a]->count - (a == b); n; n--)
				all *= one;
			w->slow[a][b] = all;
		}
}

static void start(const struct own_work *w, struct stop *s)
{
	*s = (struct stop){0};
	for (uint32_t m = 0; m < w->nmembers; m++)
		s->rate[m] = 1;
	for (uint32_t f = w->pool->nitems; f < w->nmembers; f++) {
		for (uint32_t m = 0; m < w->nmembers; m++)
			s->rate[m] *= w->slow[f][m];
		s->hash += w->hash[f];
	}
}

static void widen(const struct own_work *w, struct fth_res *most, const struct fth_res *room)
{
	for (uint32_t r = 0; r < w->catalog->nres; r++)
		most->v[r] = FTH_MAX(most->v[r], room->v[r]);
}

/* A bin whose fixed tasks slow the others, and are slowed by them. */
static void price_occupied(struct own_work *w, uint32_t b)
{
	const struct own_bin *bin = &w->pool->bin[b];
	struct stop s;
	set_members(w, bin, bin->as.type);
	start(w, &s);
	w->bin_here = b;
	w->most = bin->room;
	price_bin(w, &s, b, worth(w, &s));
	walk(w, &s);
}

static bool same_alternatives(const struct own_pool *p, fth_type_id a, fth_type_id b)
{
	for (uint32_t k = 0; k < p->nitems; k++)
		if (p->item[k].alt[a] != p->item[k].alt[b])
			return false;
	return true;
}

/* Types on which every item has the same alternative are priced in one walk. */
static void price_group(struct own_work *w, char *buy_group, uint32_t group, fth_type_id type)
{
	struct stop s;
	w->group = group;
	w->most = (struct fth_res){0};
	for (size_t k = 0; k < w->nbuys; k++)
		if (!buy_group[k] && same_alternatives(w->pool, w->buys[k].type, type)) {
			buy_group[k] = (char)group;
			widen(w, &w->most, &w->catalog->types[w->buys[k].type].capacity);
		}
	for (uint32_t b = 0; b < w->pool->nbins; b++)
		if (!w->bin_group[b] && same_alternatives(w->pool, w->pool->bin[b].as.type, type)) {
			w->bin_group[b] = (char)group;
			widen(w, &w->most, &w->pool->bin[b].room);
		}
	set_members(w, NULL, type);
	start(w, &s);
	w->bin_here = FTH_NONE;
	walk(w, &s);
}

static void price_all(struct own_work *w)
{
	char *group = fth_alloc(w->nbuys + 1);
	uint32_t groups = 0, sets = 1u << w->pool->nitems;
	w->buy_group = group;
	memset(w->bin_group, 0, sizeof(w->bin_group));
	for (uint32_t s = 0; s < sets; s++)
		w->fresh[s] = OWN_NEVER;
	w->fresh[0] = 0;
	for (uint32_t b = 0; b < w->pool->nbins; b++) {
		const struct own_bin *bin = &w->pool->bin[b];
		for (uint32_t s = 0; s < sets; s++)
			w->bin[b][s] = OWN_NEVER;
		w->bin[b][0] = bin->as.price * FTH_MAX(bin->hours, bin->linger);
	}
	for (size_t k = 0; k < w->nbuys && groups < 100; k++)
		if (!group[k])
			price_group(w, group, ++groups, w->buys[k].type);
	for (uint32_t b = 0; b < w->pool->nbins; b++) {
		if (!w->bin_group[b] && groups < 100)
			price_group(w, group, ++groups, w->pool->bin[b].as.type);
		if (w->pool->bin[b].nfixed)
			price_occupied(w, b);
	}
	free(group);
}

/* ---- putting subsets together ---- */

static void spread_over_new(struct own_work *w, uint32_t sets)
{
	double *best = w->best[0];
	best[0] = 0;
	w->part[0][0] = 0;
	for (uint32_t s = 1; s < sets; s++) {
		uint32_t low = s & -s, others = s ^ low, chosen = 0;
		double least = w->pool->item[__builtin_ctz(s)].queue + best[others];
		for (uint32_t p = others;; p = (p - 1) & others) {
			double cost = w->fresh[p | low] + best[others ^ p];
			if (cost < least) {
				least = cost;
				chosen = p | low;
			}
			if (!p)
				break;
		}
		best[s] = FTH_MIN(least, OWN_NEVER);
		w->part[0][s] = chosen; /* 0: its lowest item waits */
	}
}

static void take_bin(struct own_work *w, uint32_t b, uint32_t s)
{
	double *best = w->best[b + 1], *before = w->best[b], least = OWN_NEVER;
	uint32_t chosen = 0;
	for (uint32_t p = s;; p = (p - 1) & s) {
		double cost = w->bin[b][p] + before[s ^ p];
		if (cost < least) {
			least = cost;
			chosen = p;
		}
		if (!p)
			break;
	}
	best[s] = least;
	w->part[b + 1][s] = chosen;
}

static uint64_t power3(uint32_t n)
{
	uint64_t x = 1;
	while (n--)
		x *= 3;
	return x;
}

void own_price_pool(struct own_work *w, const struct own_pool *p, const struct own_speeds *speeds, const struct fth_catalog *c,
		    const struct own_buy *buys, size_t nbuys)
{
	w->pool = p;
	w->speeds = speeds;
	w->has_sets = own_speeds_has_sets(speeds);
	w->catalog = c;
	w->buys = buys;
	w->nbuys = nbuys;
	price_all(w);
}

/* The least a set costs, on a new machine or on one that is there. */
static void find_least(struct own_work *w, uint32_t sets)
{
	const struct own_pool *p = w->pool;
	memcpy(w->least, w->fresh, sets * sizeof(*w->least));
	for (uint32_t b = 0; b < p->nbins; b++) {
		double idle = w->bin[b][0];
		for (uint32_t s = 1; s < sets; s++)
			w->least[s] = FTH_MIN(w->least[s], w->bin[b][s] - idle);
	}
	for (uint32_t k = 0; k < p->nitems; k++)
		w->least[1u << k] = FTH_MIN(w->least[1u << k], p->item[k].queue);
}

/* Raise each item's price as far as the sets that contain it leave room. */
static void raise_prices(struct own_work *w, uint32_t sets, double *u)
{
	double *slack = w->slack;
	slack[0] = 0;
	for (uint32_t s = 1; s < sets; s++)
		slack[s] = slack[s & (s - 1)] - u[__builtin_ctz(s)];
	for (uint32_t s = 1; s < sets; s++)
		slack[s] += w->least[s];
	for (uint32_t k = 0; k < w->pool->nitems; k++) {
		uint32_t bit = 1u << k;
		double least = OWN_NEVER;
		for (uint32_t s = 0; s < sets; s += 2 * bit)
			for (uint32_t t = s + bit; t < s + 2 * bit; t++)
				least = FTH_MIN(least, slack[t]);
		if (!(least > 0) || least >= OWN_NEVER)
			continue;
		u[k] += least;
		for (uint32_t s = 0; s < sets; s += 2 * bit)
			for (uint32_t t = s + bit; t < s + 2 * bit; t++)
				slack[t] -= least;
	}
}

/*
 * Prices for the items such that no set costs less than its items together bound every split from below. Each item begins
 * with its part of what its block costs now; set by set, what is too much is taken off; then what can be is put back on.
 */
double own_bound(struct own_work *w, const uint32_t *blocks, uint32_t n)
{
	const struct own_pool *p = w->pool;
	uint32_t sets = 1u << p->nitems;
	double u[OWN_ITEMS] = {0}, sum = 0;
	w->steps += 16 * sets;
	find_least(w, sets);
	for (uint32_t k = 0; k < n; k++) {
		double worth = 0;
		for (uint32_t set = blocks[k]; set; set &= set - 1)
			worth += p->item[__builtin_ctz(set)].value;
		for (uint32_t set = blocks[k]; set; set &= set - 1) {
			const struct own_item *i = &p->item[__builtin_ctz(set)];
			u[i - p->item] = w->least[blocks[k]] * (worth > 0 ? i->value / worth : 1);
		}
	}
	for (uint32_t s = 1; s < sets; s++) {
		double all = 0;
		for (uint32_t set = s; set; set &= set - 1)
			all += u[__builtin_ctz(set)];
		if (all <= w->least[s])
			continue;
		double off = (all - w->least[s]) / __builtin_popcount(s);
		for (uint32_t set = s; set; set &= set - 1)
			u[__builtin_ctz(set)] -= off;
	}
	raise_prices(w, sets, u);
	memcpy(w->u, u, sizeof(u));
	for (uint32_t k = 0; k < p->nitems; k++)
		sum += u[k];
	for (uint32_t b = 0; b < p->nbins; b++)
		sum += w->bin[b][0];
	return sum;
}

/*
 * A split that costs less than `now` costs more than the bound by the sum of what its sets cost more than their items' prices.
 * So only sets that are dearer by less than now - bound can be part of it: usually so few that trying them all is quick.
 */
static bool list_sets(struct own_work *w, double gap)
{
	const struct own_pool *p = w->pool;
	uint32_t sets = 1u << p->nitems, n = 0;
	double *sum = w->slack;
	sum[0] = 0;
	for (uint32_t s = 1; s < sets; s++)
		sum[s] = sum[s & (s - 1)] + w->u[__builtin_ctz(s)];
	for (uint32_t k = 0; k < p->nitems; k++) {
		if (n + OWN_BINS + 1 >= FEW)
			return false; /* too many to list */
		w->first[k] = n;
		if (p->item[k].queue - w->u[k] < gap)
			w->few[n++] = (struct few){1u << k, WAITS, p->item[k].queue - w->u[k]};
		for (uint32_t s = 1u << k; s < sets && n + OWN_BINS + 1 < FEW; s += 2u << k) {
			if (w->least[s] - sum[s] >= gap)
				continue;
			if (w->fresh[s] - sum[s] < gap)
				w->few[n++] = (struct few){s, NEW, w->fresh[s] - sum[s]};
			for (uint32_t b = 0; b < p->nbins; b++)
				if (w->bin[b][s] - w->bin[b][0] - sum[s] < gap)
					w->few[n++] = (struct few){s, b, w->bin[b][s] - w->bin[b][0] - sum[s]};
		}
	}
	w->first[p->nitems] = n;
	return n + OWN_BINS + 1 < FEW;
}

struct trail {
	uint32_t set[OWN_ITEMS];
	uint32_t depth;
};

/* Cover what is left with sets of the list, for less than the gap. */
static void cover(struct own_work *w, uint32_t left, uint32_t bins, double spent, struct trail *t, struct trail *best)
{
	if (!left) {
		w->gap = spent;
		*best = *t;
		return;
	}
	uint32_t k = (uint32_t)__builtin_ctz(left);
	w->nodes++;
	for (uint32_t i = w->first[k]; i < w->first[k + 1] && w->nodes < MOST_NODES; i++) {
		const struct few *f = &w->few[i];
		if (f->items & ~left || spent + f->over >= w->gap || (f->place < OWN_BINS && bins >> f->place & 1))
			continue;
		t->set[t->depth++] = i;
		cover(w, left ^ f->items, f->place < OWN_BINS ? bins | 1u << f->place : bins, spent + f->over, t, best);
		t->depth--;
	}
}

bool own_improve(struct own_work *w, double now, double bound, struct own_split *ret)
{
	struct trail t = {.depth = 0}, best = {.depth = 0};
	double gap = now - bound;
	w->gap = gap;
	w->nodes = 0;
	if (!list_sets(w, gap)) {
		own_repartition(w, ret);
		return ret->cost < now;
	}
	cover(w, (1u << w->pool->nitems) - 1, 0, 0, &t, &best);
	w->steps += 4 * w->nodes;
	if (w->nodes >= MOST_NODES) {
		own_repartition(w, ret);
		return ret->cost < now;
	}
	*ret = (struct own_split){.cost = bound + w->gap};
	for (uint32_t d = 0; d < best.depth; d++) {
		const struct few *f = &w->few[best.set[d]];
		if (f->place == WAITS) {
			ret->queued |= f->items;
		} else if (f->place == NEW) {
			ret->fresh[ret->nnew].items = f->items;
			ret->fresh[ret->nnew++].buy = w->buy[f->items];
		} else {
			ret->bin[f->place] = f->items;
		}
	}
	return best.depth > 0;
}

void own_repartition(struct own_work *w, struct own_split *ret)
{
	const struct own_pool *p = w->pool;
	uint32_t sets = 1u << p->nitems, left = sets - 1;
	spread_over_new(w, sets);
	for (uint32_t b = 0; b + 1 < p->nbins; b++)
		for (uint32_t s = 0; s < sets; s++)
			take_bin(w, b, s);
	if (p->nbins)
		take_bin(w, p->nbins - 1, left);
	w->steps += power3(p->nitems) * (p->nbins ? 2 * p->nbins - 1 : 1) / 16;
	*ret = (struct own_split){.cost = w->best[p->nbins][left]};
	for (uint32_t b = p->nbins; b-- > 0;) {
		ret->bin[b] = w->part[b + 1][left];
		left ^= ret->bin[b];
	}
	while (left) {
		uint32_t part = w->part[0][left];
		if (!part) {
			ret->queued |= left & -left;
			left &= left - 1;
			continue;
		}
		ret->fresh[ret->nnew].items = part;
		ret->fresh[ret->nnew++].buy = w->buy[part];
		left ^= part;
	}
}
