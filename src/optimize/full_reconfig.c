/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algorithm 1 on kinds with counts.
 *
 * Two things make it fast. A filling is repeated for as long as the counts allow, since the same
 * choices would be made again: what was not chosen then is not chosen now. And the best next task
 * is found in a tree over the items by descending value, whose nodes know the least and greatest
 * demand below them: a subtree in which nothing fits, or nothing can be better, is not entered.
 */
#include "optimize/full_reconfig.h"

static const double tolerance = 1e-9; /* relative: rounding alone never makes a filling too dear */

struct node {
	int64_t min[FTH_RES_MAX], max[FTH_RES_MAX];
	double value; /* greatest below */
};

struct leaf {
	uint32_t item;
	const struct fth_alt *alt;
	double value; /* reservation price per hour at this family's speed */
};

/* What adding a task of one kind of behaviour does to the filling: what the tasks in it are worth then,
 * and how fast the new one would be. Worked out when first asked for at each step. */
struct effect {
	uint64_t step;
	uint64_t planting; /* of which offer it is listed */
	double others, rate;
	fth_kind_id kind; /* one that behaves so */
};

/* The items by descending value on one family. */
struct ranking {
	fth_sym family;
	struct leaf *leaves;
	uint32_t n;
};

struct filling {
	FTH_VEC(uint32_t) leaf;      /* chosen, in order */
	FTH_VEC(fth_kind_id) kind;   /* their kinds, with room for one candidate */
	int64_t room[FTH_RES_MAX];
	double weight[FTH_RES_MAX];  /* room / capacity^2: alignment = sum of demand x weight */
	double tnrp, worth;          /* with and without interference */
};

struct search {
	const struct fth_catalog *catalog;
	const struct fth_kind *kinds;
	const struct fth_pack_item *items;
	uint32_t nitems, nres;
	fth_rate_fn *rate;
	void *rate_arg;
	double *rp;                  /* of each item */
	uint32_t *behaves;           /* of each item: index into effects */
	struct effect *effects;
	uint32_t neffects;
	FTH_VEC(uint32_t) present;   /* effects of the items of the current offer */
	uint64_t step, planting;
	double best_others;          /* of all effects: a bound, when they are few */
	fth_offer_id *reserve;
	uint32_t *left, *used;       /* not yet packed; in the current filling */
	FTH_VEC(struct ranking) rankings;
	struct leaf *leaves;         /* of the current offer */
	uint32_t nleaves, size;      /* size: power of two */
	struct node *nodes;
	const struct fth_instance_type *type;
	struct filling fill;
	struct fth_packing *out;
	uint32_t best;               /* leaf */
	double best_tnrp, best_align;
};

void fth_packing_release(struct fth_packing *p)
{
	fth_vec_release(&p->bins);
	fth_vec_release(&p->items);
	p->price = 0;
}

static bool usable(const struct fth_offer *o)
{
	return o->market == FTH_ON_DEMAND && o->available;
}

fth_offer_id fth_reservation_usd(const struct fth_catalog *c, const struct fth_kind *k, double *ret_usd)
{
	fth_offer_id best = FTH_NONE;
	double least = 0;
	for (fth_offer_id i = 0; i < c->noffers; i++) {
		const struct fth_offer *o = &c->offers[i];
		const struct fth_instance_type *t = &c->types[o->type];
		const struct fth_alt *a = usable(o) ? fth_kind_on_type(k, t) : NULL;
		if (!a || !a->speed_ppm || !fth_res_fits(&a->demand, &t->capacity))
			continue;
		double usd = fth_usd(o->price);
		if (a->speed_ppm != 1000000)
			usd = usd * 1e6 / a->speed_ppm;
		if (best == FTH_NONE || usd < least) {
			best = i;
			least = usd;
		}
	}
	if (best != FTH_NONE && ret_usd)
		*ret_usd = least;
	return best;
}

fth_offer_id fth_reservation_offer(const struct fth_catalog *c, const struct fth_kind *k, fth_price *ret_price)
{
	double usd;
	fth_offer_id o = fth_reservation_usd(c, k, &usd);
	if (o != FTH_NONE && ret_price)
		*ret_price = (fth_price)(usd * 1e9 + 0.5);
	return o;
}

/* ---- the tree over one offer's items ---- */

static int by_value(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	for (int i = 0; i < FTH_RES_MAX; i++)
		if (x->alt->demand.v[i] != y->alt->demand.v[i])
			return x->alt->demand.v[i] > y->alt->demand.v[i] ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* The resource in which these leaves differ most, for their size; -1 if they are all alike. */
static int widest(const struct leaf *l, uint32_t n)
{
	int best = -1;
	double most = 0;
	for (int r = 0; r < FTH_RES_MAX; r++) {
		int64_t lo = INT64_MAX, hi = 0;
		for (uint32_t i = 0; i < n; i++) {
			lo = FTH_MIN(lo, l[i].alt->demand.v[r]);
			hi = FTH_MAX(hi, l[i].alt->demand.v[r]);
		}
		double spread = hi > lo ? (double)(hi - lo) / (double)hi : 0;
		if (spread > most) {
			most = spread;
			best = r;
		}
	}
	return best;
}

static bool comes_before(const struct leaf *x, const struct leaf *y, int r)
{
	if (x->alt->demand.v[r] != y->alt->demand.v[r])
		return x->alt->demand.v[r] > y->alt->demand.v[r];
	return x->item < y->item;
}

/* Bring the n/2 leaves with the greatest demand of r to the front (quickselect). */
static void halve(struct leaf *l, uint32_t n, int r)
{
	uint32_t lo = 0, hi = n - 1, mid = n / 2;
	while (lo < hi) {
		struct leaf pivot = l[lo + (hi - lo) / 2], swap;
		uint32_t i = lo, j = hi;
		for (;;) {
			while (comes_before(&l[i], &pivot, r))
				i++;
			while (comes_before(&pivot, &l[j], r))
				j--;
			if (i >= j)
				break;
			swap = l[i];
			l[i++] = l[j];
			l[j--] = swap;
		}
		if (j < mid)
			lo = j + 1;
		else
			hi = j;
	}
}

/* Order equally valued leaves so that neighbours have like demands: the tree above them then prunes. */
static void cluster(struct leaf *l, uint32_t n)
{
	while (n > 4) {
		int r = widest(l, n);
		if (r < 0)
			return;
		halve(l, n, r);
		cluster(l, n / 2);
		l += n / 2;
		n -= n / 2;
	}
}

static const struct ranking *rank_family(struct search *s, fth_sym family)
{
	for (size_t i = 0; i < s->rankings.len; i++)
		if (s->rankings.data[i].family == family)
			return &s->rankings.data[i];
	struct ranking r = {.family = family, .leaves = fth_alloc((s->nitems + 1) * sizeof(*r.leaves))};
	for (uint32_t i = 0; i < s->nitems; i++) {
		const struct fth_alt *a = fth_kind_on_family(&s->kinds[s->items[i].kind], family);
		if (a && a->speed_ppm)
			r.leaves[r.n++] = (struct leaf){i, a, s->rp[i] * (a->speed_ppm / 1e6)};
	}
	qsort(r.leaves, r.n, sizeof(*r.leaves), by_value);
	for (uint32_t i = 0, n; i < r.n; i += n) {
		for (n = 1; i + n < r.n && r.leaves[i + n].value == r.leaves[i].value; n++)
			;
		cluster(&r.leaves[i], n);
	}
	fth_vec_push(&s->rankings, r);
	return &fth_vec_last(&s->rankings);
}

static void join(struct search *s, uint32_t at)
{
	struct node *n = &s->nodes[at], *l = &s->nodes[2 * at], *r = &s->nodes[2 * at + 1];
	for (uint32_t i = 0; i < s->nres; i++) {
		n->min[i] = FTH_MIN(l->min[i], r->min[i]);
		n->max[i] = FTH_MAX(l->max[i], r->max[i]);
	}
	n->value = FTH_MAX(l->value, r->value);
}

static void clear_leaf(struct search *s, uint32_t at)
{
	struct node *n = &s->nodes[at];
	n->value = -1;
	for (uint32_t i = 0; i < s->nres; i++) {
		n->min[i] = INT64_MAX;
		n->max[i] = 0;
	}
}

/* The items that are left, can run on the offer's type and fit it alone. Returns what they are worth. */
static double plant(struct search *s, const struct fth_instance_type *type)
{
	const struct ranking *r = rank_family(s, type->family);
	double worth = 0;
	s->type = type;
	s->nleaves = 0;
	s->planting++;
	fth_vec_clear(&s->present);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct leaf *l = &r->leaves[i];
		const struct fth_kind *k = &s->kinds[s->items[l->item].kind];
		if (!s->left[l->item] || (k->arch && type->arch && k->arch != type->arch) ||
		    !fth_res_fits(&l->alt->demand, &type->capacity))
			continue;
		s->leaves[s->nleaves++] = *l;
		struct effect *e = &s->effects[s->behaves[l->item]];
		if (e->planting != s->planting)
			fth_vec_push(&s->present, s->behaves[l->item]);
		e->planting = s->planting;
		worth += l->value * s->left[l->item];
	}
	for (s->size = 1; s->size < s->nleaves; s->size *= 2)
		;
	for (uint32_t i = 0; i < s->size; i++) {
		struct node *n = &s->nodes[s->size + i];
		if (i >= s->nleaves) {
			clear_leaf(s, s->size + i);
			continue;
		}
		memcpy(n->min, s->leaves[i].alt->demand.v, sizeof(n->min));
		memcpy(n->max, s->leaves[i].alt->demand.v, sizeof(n->max));
		n->value = s->leaves[i].value;
	}
	for (uint32_t i = s->size - 1; i > 0; i--)
		join(s, i);
	return worth;
}

static void uproot(struct search *s, uint32_t leaf)
{
	uint32_t at = s->size + leaf;
	clear_leaf(s, at);
	for (at /= 2; at > 0; at /= 2)
		join(s, at);
}

/* ---- one filling ---- */

static double align(const struct search *s, const int64_t *demand)
{
	double sum = 0;
	for (uint32_t i = 0; i < s->nres; i++)
		sum += (double)demand[i] * s->fill.weight[i];
	return sum;
}

static void weigh(struct search *s)
{
	for (uint32_t i = 0; i < s->nres; i++) {
		double q = (double)s->type->capacity.v[i];
		s->fill.weight[i] = q > 0 ? (double)s->fill.room[i] / q / q : 0;
	}
}

/* The filling's tasks with one more of this behaviour beside them. */
static void work_out(struct search *s, struct effect *e)
{
	struct filling *f = &s->fill;
	uint32_t n = (uint32_t)f->leaf.len;
	fth_kind_id *k = f->kind.data;
	double rate = 0;
	e->step = s->step;
	e->others = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct leaf *l = &s->leaves[f->leaf.data[i]];
		/* Neighbours in a filling are often of one kind. */
		if (!i || k[i] != k[i - 1]) {
			fth_kind_id own = k[i];
			k[i] = e->kind;
			rate = s->rate(s->rate_arg, own, k, n);
			k[i] = own;
		}
		e->others += l->value * fth_multi_task_rate(rate, s->items[l->item].job_tasks);
	}
	e->rate = s->rate(s->rate_arg, e->kind, k, n);
}

/* TNRP of the filling with this leaf added. */
static double tnrp_with(struct search *s, uint32_t leaf)
{
	const struct leaf *l = &s->leaves[leaf];
	if (!s->rate)
		return s->fill.tnrp + l->value;
	struct effect *e = &s->effects[s->behaves[l->item]];
	if (e->step != s->step)
		work_out(s, e);
	return e->others + l->value * fth_multi_task_rate(e->rate, s->items[l->item].job_tasks);
}

/* A new step: all effects are to be worked out again. Where they are few for many items, the best of
 * them bounds what any task can bring; else each is worked out when a task that fits asks for it. */
static void next_step(struct search *s)
{
	enum { FEW = 64, MANY = 512 };
	s->step++;
	s->best_others = s->fill.worth;
	if (!s->rate || s->present.len > FEW || s->nleaves < MANY)
		return;
	s->best_others = 0;
	for (size_t i = 0; i < s->present.len; i++) {
		struct effect *e = &s->effects[s->present.data[i]];
		work_out(s, e);
		s->best_others = FTH_MAX(s->best_others, e->others);
	}
}

/* Look below a node for a leaf better than the best so far. Left first: greatest values first. */
static void look(struct search *s, uint32_t at)
{
	const struct node *n = &s->nodes[at];
	const struct filling *f = &s->fill;
	if (n->value < 0)
		return;
	for (uint32_t i = 0; i < s->nres; i++)
		if (n->min[i] > f->room[i])
			return;
	double bound = s->rate ? (s->best_others + n->value) * (1 + 1e-12) : f->tnrp + n->value;
	if (s->best != FTH_NONE &&
	    (bound < s->best_tnrp || (bound == s->best_tnrp && align(s, n->max) <= s->best_align)))
		return;
	if (at < s->size) {
		look(s, 2 * at);
		look(s, 2 * at + 1);
		return;
	}
	uint32_t leaf = at - s->size;
	if (s->used[s->leaves[leaf].item] >= s->left[s->leaves[leaf].item])
		return;
	double tnrp = tnrp_with(s, leaf), a = align(s, s->leaves[leaf].alt->demand.v);
	if (s->best == FTH_NONE || tnrp > s->best_tnrp || (tnrp == s->best_tnrp && a > s->best_align)) {
		s->best = leaf;
		s->best_tnrp = tnrp;
		s->best_align = a;
	}
}

static void fill(struct search *s)
{
	struct filling *f = &s->fill;
	fth_vec_clear(&f->leaf);
	memcpy(f->room, s->type->capacity.v, sizeof(f->room));
	f->tnrp = f->worth = 0;
	for (;;) {
		fth_vec_reserve(&f->kind, f->leaf.len + 1);
		weigh(s);
		next_step(s);
		s->best = FTH_NONE;
		look(s, 1);
		if (s->best == FTH_NONE || s->best_tnrp < f->tnrp)
			return;
		const struct leaf *l = &s->leaves[s->best];
		f->kind.data[f->leaf.len] = s->items[l->item].kind;
		fth_vec_push(&f->leaf, s->best);
		s->used[l->item]++;
		for (uint32_t i = 0; i < s->nres; i++)
			f->room[i] -= l->alt->demand.v[i];
		f->tnrp = s->best_tnrp;
		f->worth += l->value;
	}
}

/* Buy as many of the current filling as the counts allow. */
static void buy(struct search *s, fth_offer_id offer)
{
	struct filling *f = &s->fill;
	uint32_t repeat = UINT32_MAX;
	struct fth_packed bin = {.offer = offer, .first = (uint32_t)s->out->items.len, .n = (uint32_t)f->leaf.len};
	for (size_t i = 0; i < f->leaf.len; i++) {
		uint32_t item = s->leaves[f->leaf.data[i]].item;
		repeat = FTH_MIN(repeat, s->left[item] / s->used[item]);
		fth_vec_push(&s->out->items, item);
	}
	bin.repeat = repeat;
	fth_vec_push(&s->out->bins, bin);
	s->out->price += s->catalog->offers[offer].price * repeat;
	for (size_t i = 0; i < f->leaf.len; i++) {
		uint32_t item = s->leaves[f->leaf.data[i]].item;
		if (!s->used[item])
			continue; /* met before in this filling */
		s->left[item] -= repeat * s->used[item];
		s->used[item] = 0;
		if (!s->left[item])
			uproot(s, f->leaf.data[i]);
	}
}

static void drop_filling(struct search *s)
{
	for (size_t i = 0; i < s->fill.leaf.len; i++)
		s->used[s->leaves[s->fill.leaf.data[i]].item] = 0;
}

/* Tasks that are worth less than their own reservation offer even alone. */
static void buy_alone(struct search *s, fth_offer_id offer)
{
	for (uint32_t i = 0; i < s->nitems; i++) {
		if (!s->left[i] || s->reserve[i] != offer)
			continue;
		struct fth_packed bin = {offer, s->left[i], (uint32_t)s->out->items.len, 1};
		fth_vec_push(&s->out->items, i);
		fth_vec_push(&s->out->bins, bin);
		s->out->price += s->catalog->offers[offer].price * s->left[i];
		s->left[i] = 0;
	}
}

static void pack_offer(struct search *s, fth_offer_id offer)
{
	const struct fth_offer *o = &s->catalog->offers[offer];
	double price = fth_usd(o->price), least = price - price * tolerance;
	if (plant(s, &s->catalog->types[o->type]) >= least * (1 - tolerance)) {
		for (;;) {
			fill(s);
			if (!s->fill.leaf.len || s->fill.tnrp < least)
				break;
			buy(s, offer);
		}
		drop_filling(s);
	}
	buy_alone(s, offer);
}

/* ---- the whole ---- */

struct ranked_offer {
	fth_price price;
	fth_offer_id id;
};

static int by_price(const void *a, const void *b)
{
	const struct ranked_offer *x = a, *y = b;
	if (x->price != y->price)
		return x->price > y->price ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Number the behaviours: items that say they are alike, else kinds. */
static void number_behaviours(struct search *s)
{
	struct fth_map seen = {0};
	for (uint32_t i = 0; i < s->nitems; i++) {
		const struct fth_pack_item *it = &s->items[i];
		uint64_t key = it->alike ? (uint64_t)1 << 32 | it->alike : it->kind, at;
		if (!fth_map_get(&seen, key, &at)) {
			at = s->neffects++;
			s->effects[at].kind = it->kind;
			fth_map_put(&seen, key, at);
		}
		s->behaves[i] = (uint32_t)at;
	}
	fth_map_release(&seen);
}

static int prepare(struct search *s, struct fth_error *err)
{
	size_t n = s->nitems + 1, size = 1;
	while (size < n)
		size *= 2;
	s->rp = fth_alloc(n * sizeof(*s->rp));
	s->behaves = fth_alloc(n * sizeof(*s->behaves));
	s->effects = fth_alloc(n * sizeof(*s->effects));
	number_behaviours(s);
	s->reserve = fth_alloc(n * sizeof(*s->reserve));
	s->left = fth_alloc(n * sizeof(*s->left));
	s->used = fth_alloc(n * sizeof(*s->used));
	s->leaves = fth_alloc(n * sizeof(*s->leaves));
	s->nodes = fth_alloc(2 * size * sizeof(*s->nodes));
	for (uint32_t i = 0; i < s->nitems; i++) {
		s->left[i] = s->items[i].count;
		s->reserve[i] = fth_reservation_usd(s->catalog, &s->kinds[s->items[i].kind], &s->rp[i]);
		if (s->reserve[i] == FTH_NONE)
			return fth_fail(err, -ENOENT, "item %u (kind %u): no on-demand offer can hold it", i,
					s->items[i].kind);
	}
	return 0;
}

static void release(struct search *s)
{
	for (size_t i = 0; i < s->rankings.len; i++)
		free(s->rankings.data[i].leaves);
	fth_vec_release(&s->rankings);
	fth_vec_release(&s->fill.leaf);
	fth_vec_release(&s->present);
	fth_vec_release(&s->fill.kind);
	free(s->rp);
	free(s->behaves);
	free(s->effects);
	free(s->reserve);
	free(s->left);
	free(s->used);
	free(s->leaves);
	free(s->nodes);
}

int fth_full_reconfig(const struct fth_catalog *c, const struct fth_kind *kinds, const struct fth_pack_item *items,
		      uint32_t nitems, fth_rate_fn *rate, void *rate_arg, struct fth_packing *ret,
		      struct fth_error *err)
{
	struct search s = {.catalog = c, .kinds = kinds, .items = items, .nitems = nitems, .nres = c->nres,
			   .rate = rate, .rate_arg = rate_arg, .out = ret};
	int r = prepare(&s, err);
	if (!r) {
		struct ranked_offer *offers = fth_alloc((c->noffers + 1) * sizeof(*offers));
		uint32_t n = 0;
		fth_vec_clear(&ret->bins);
		fth_vec_clear(&ret->items);
		ret->price = 0;
		for (fth_offer_id i = 0; i < c->noffers; i++)
			if (usable(&c->offers[i]))
				offers[n++] = (struct ranked_offer){c->offers[i].price, i};
		qsort(offers, n, sizeof(*offers), by_price);
		for (uint32_t i = 0; i < n; i++)
			pack_offer(&s, offers[i].id);
		free(offers);
	}
	release(&s);
	return r;
}
