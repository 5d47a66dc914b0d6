/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/vc/vc.h"

void vc_index_release(struct vc_index *x)
{
	fth_vec_release(&x->order);
	fth_vec_release(&x->leaf_of);
	fth_vec_release(&x->lives);
	fth_vec_release(&x->room);
	fth_vec_release(&x->val);
	fth_vec_release(&x->loose);
}

/* The values by which instances are compared: most free, least free, or the parts of a dot product. */
static void values_of(const struct vc *v, const struct vc_inst *i, double *val)
{
	const struct fth_res *own = &v->view->catalog->types[i->type].capacity;
	uint32_t nres = v->index.nres;
	if (v->cfg.pack == VC_PACK_LEAST) {
		val[0] = -(double)i->room.v[v->cfg.resource];
	} else if (v->cfg.pack == VC_PACK_DOT) {
		const struct fth_res *by = v->cfg.own_capacity ? own : &v->most;
		for (uint32_t r = 0; r < nres; r++)
			val[r] = by->v[r] > 0 ? (double)i->room.v[r] / ((double)by->v[r] * (double)by->v[r]) : 0;
	} else {
		val[0] = 0;
		for (uint32_t r = 0; r < nres; r++)
			if (v->most.v[r] > 0)
				val[0] += (double)i->room.v[r] / (double)v->most.v[r];
	}
}

static void set_leaf(struct vc *v, uint32_t leaf)
{
	struct vc_index *x = &v->index;
	uint32_t node = x->leaves + leaf;
	int64_t *room = &x->room.data[(size_t)node * x->nres];
	double *val = &x->val.data[(size_t)node * x->nval];
	const struct vc_inst *i = leaf < x->n ? &v->inst.data[x->order.data[leaf]] : NULL;
	bool there = i && i->open && x->leaf_of.data[x->order.data[leaf]] == leaf;
	for (uint32_t r = 0; r < x->nres; r++)
		room[r] = there ? i->room.v[r] : -1;
	for (uint32_t k = 0; k < x->nval; k++)
		val[k] = -1e300;
	if (there)
		values_of(v, i, val);
}

static void join(struct vc_index *x, uint32_t node)
{
	const int64_t *a = &x->room.data[(size_t)2 * node * x->nres], *b = a + x->nres;
	const double *p = &x->val.data[(size_t)2 * node * x->nval], *q = p + x->nval;
	int64_t *room = &x->room.data[(size_t)node * x->nres];
	double *val = &x->val.data[(size_t)node * x->nval];
	for (uint32_t r = 0; r < x->nres; r++)
		room[r] = FTH_MAX(a[r], b[r]);
	for (uint32_t k = 0; k < x->nval; k++)
		val[k] = FTH_MAX(p[k], q[k]);
}

static int by_remaining(const void *a, const void *b, void *all)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct vc_inst *p = (const struct vc_inst *)all + x, *q = (const struct vc_inst *)all + y;
	if (p->bin != q->bin)
		return p->bin < q->bin ? -1 : 1;
	if (p->remaining != q->remaining)
		return p->remaining < q->remaining ? -1 : 1;
	return (x > y) - (x < y);
}

static void find_bins(struct vc *v)
{
	struct vc_index *x = &v->index;
	uint32_t at = 0;
	for (unsigned bin = 0; bin < FTH_COUNT(v->bin_start); bin++) {
		while (at < x->n && v->inst.data[x->order.data[at]].bin < bin)
			at++;
		v->bin_start[bin] = at;
	}
}

void vc_index_build(struct vc *v)
{
	struct vc_index *x = &v->index;
	x->nres = v->view->catalog->nres;
	x->nval = v->cfg.pack == VC_PACK_DOT ? x->nres : 1;
	fth_vec_clear(&x->order);
	fth_vec_clear(&x->loose);
	fth_vec_reserve(&x->leaf_of, v->inst.len);
	x->leaf_of.len = v->inst.len;
	for (uint32_t i = 0; i < v->inst.len; i++) {
		x->leaf_of.data[i] = FTH_NONE;
		if (v->inst.data[i].open)
			fth_vec_push(&x->order, i);
	}
	x->n = (uint32_t)x->order.len;
	if (v->cfg.pack == VC_PACK_BINS && x->n) {
		qsort_r(x->order.data, x->n, sizeof(*x->order.data), by_remaining, v->inst.data);
		find_bins(v);
	}
	fth_vec_reserve(&x->lives, x->n);
	for (uint32_t leaf = 0; leaf < x->n; leaf++)
		x->lives.data[leaf] = v->inst.data[x->order.data[leaf]].remaining;
	for (x->leaves = 1; x->leaves < x->n; x->leaves *= 2)
		;
	fth_vec_reserve(&x->room, (size_t)2 * x->leaves * x->nres);
	fth_vec_reserve(&x->val, (size_t)2 * x->leaves * x->nval);
	for (uint32_t leaf = 0; leaf < x->leaves; leaf++) {
		if (leaf < x->n)
			x->leaf_of.data[x->order.data[leaf]] = leaf;
		set_leaf(v, leaf);
	}
	for (uint32_t node = x->leaves - 1; node >= 1; node--)
		join(x, node);
}

static void update(struct vc *v, uint32_t leaf)
{
	set_leaf(v, leaf);
	for (uint32_t node = (v->index.leaves + leaf) / 2; node >= 1; node /= 2)
		join(&v->index, node);
}

void vc_index_touch(struct vc *v, uint32_t inst, bool remaining_changed)
{
	struct vc_index *x = &v->index;
	if (v->cfg.pack == VC_PACK_NONE)
		return;
	while (x->leaf_of.len <= inst) { /* bought since it was built */
		if (v->inst.data[x->leaf_of.len].open)
			fth_vec_push(&x->loose, (uint32_t)x->leaf_of.len);
		fth_vec_push(&x->leaf_of, FTH_NONE);
	}
	uint32_t leaf = x->leaf_of.data[inst];
	if (leaf != FTH_NONE && remaining_changed && v->cfg.pack == VC_PACK_BINS) {
		x->leaf_of.data[inst] = FTH_NONE;
		fth_vec_push(&x->loose, inst);
	}
	if (leaf != FTH_NONE)
		update(v, leaf);
	/* Loose ones are looked at one by one: when there are many, it is built afresh. */
	if (x->loose.len > 32 && x->loose.len * x->loose.len > 4 * v->inst.len)
		vc_index_build(v);
}

/* ---- queries ---- */

const struct fth_res *vc_demand(const struct vc *v, fth_kind_id kind, fth_type_id type)
{
	const struct fth_alt *a = fth_kind_on_type(&v->view->kinds[kind], &v->view->catalog->types[type]);
	return a ? &a->demand : NULL;
}

static bool is_apart(const struct vc *v, const struct vc_task *t, const struct vc_inst *i, uint32_t inst)
{
	for (size_t k = 0; k < v->apart.len; k++)
		if (v->apart.data[k].inst == inst && v->apart.data[k].group == t->apart)
			return false;
	const struct fth_instance *real = i->slot == FTH_NONE ? NULL : fth_view_instance(v->view, i->id);
	for (fth_task_id id = real ? real->first_committed : FTH_NONE; id != FTH_NONE;) {
		const struct fth_task *other = fth_view_task(v->view, id);
		if (fth_view_job(v->view, other->job)->anti_affinity == t->apart)
			return false;
		id = other->next_committed;
	}
	return true;
}

bool vc_fits(const struct vc *v, const struct vc_task *t, uint32_t inst)
{
	const struct vc_inst *i = &v->inst.data[inst];
	const struct fth_res *d = i->open ? vc_demand(v, t->kind, i->type) : NULL;
	if (!d || !fth_res_fits(d, &i->room) || i->id == t->from)
		return false;
	return !t->apart || is_apart(v, t, i, inst);
}

/* The least the task needs in each dimension, whatever the type: what a subtree must have. */
static void least_demand(const struct vc *v, fth_kind_id kind, int64_t *ret)
{
	const struct fth_kind *k = &v->view->kinds[kind];
	for (uint32_t r = 0; r < v->index.nres; r++) {
		ret[r] = INT64_MAX;
		for (uint32_t a = 0; a < k->nalts; a++)
			ret[r] = FTH_MIN(ret[r], k->alts[a].demand.v[r]);
	}
}

struct query {
	struct vc *v;
	const struct vc_task *t;
	int64_t least[FTH_RES_MAX];
	uint32_t lo, hi;
	const double *coef;
	double best;
	uint32_t found; /* leaf */
};

static bool may_hold(const struct query *q, uint32_t node)
{
	const struct vc_index *x = &q->v->index;
	const int64_t *room = &x->room.data[(size_t)node * x->nres];
	for (uint32_t r = 0; r < x->nres; r++)
		if (room[r] < q->least[r])
			return false;
	return true;
}

static double worth(const struct query *q, const double *val)
{
	double sum = 0;
	for (uint32_t k = 0; k < q->v->index.nval; k++)
		sum += q->coef[k] * val[k];
	return sum;
}

/* from..to are the leaves below the node. Ties go to the first leaf. */
static void search(struct query *q, uint32_t node, uint32_t from, uint32_t to)
{
	const struct vc_index *x = &q->v->index;
	if (from >= q->hi || to <= q->lo || !may_hold(q, node))
		return;
	double w = worth(q, &x->val.data[(size_t)node * x->nval]);
	if (q->found != FTH_NONE && w <= q->best)
		return;
	if (node >= x->leaves) {
		if (from < x->n && vc_fits(q->v, q->t, x->order.data[from])) {
			q->best = w;
			q->found = from;
		}
		return;
	}
	uint32_t mid = from + (to - from) / 2;
	search(q, 2 * node, from, mid);
	search(q, 2 * node + 1, mid, to);
}

uint32_t vc_index_best(struct vc *v, const struct vc_task *t, uint32_t lo, uint32_t hi, const double *coef, double *ret)
{
	struct query q = {.v = v, .t = t, .lo = lo, .hi = FTH_MIN(hi, v->index.n), .coef = coef, .found = FTH_NONE};
	if (q.lo >= q.hi)
		return FTH_NONE;
	least_demand(v, t->kind, q.least);
	search(&q, 1, 0, v->index.leaves);
	if (q.found == FTH_NONE)
		return FTH_NONE;
	*ret = q.best;
	return v->index.order.data[q.found];
}

/* The first leaf that fits from q->lo on, or the last one before q->hi. */
static uint32_t first_fit(const struct query *q, uint32_t node, uint32_t from, uint32_t to, bool last)
{
	const struct vc_index *x = &q->v->index;
	if (from >= q->hi || to <= q->lo || !may_hold(q, node))
		return FTH_NONE;
	if (node >= x->leaves)
		return from < x->n && vc_fits(q->v, q->t, x->order.data[from]) ? from : FTH_NONE;
	uint32_t mid = from + (to - from) / 2;
	uint32_t got = last ? first_fit(q, 2 * node + 1, mid, to, last) : first_fit(q, 2 * node, from, mid, last);
	if (got != FTH_NONE)
		return got;
	return last ? first_fit(q, 2 * node, from, mid, last) : first_fit(q, 2 * node + 1, mid, to, last);
}

static fth_time distance(const struct vc *v, const struct vc_task *t, uint32_t inst)
{
	fth_time d = v->inst.data[inst].remaining - t->remaining;
	return d < 0 ? -d : d;
}

uint32_t vc_index_nearest(struct vc *v, const struct vc_task *t, uint32_t lo, uint32_t hi)
{
	struct vc_index *x = &v->index;
	hi = FTH_MIN(hi, x->n);
	if (lo >= hi)
		return FTH_NONE;
	uint32_t a = lo, z = hi; /* the first one that lives as long as the task */
	while (a < z) {
		uint32_t mid = a + (z - a) / 2;
		if (x->lives.data[mid] < t->remaining)
			a = mid + 1;
		else
			z = mid;
	}
	struct query q = {.v = v, .t = t, .lo = a, .hi = hi};
	least_demand(v, t->kind, q.least);
	uint32_t above = a < hi ? first_fit(&q, 1, 0, x->leaves, false) : FTH_NONE;
	q.lo = lo;
	q.hi = a;
	uint32_t below = lo < a ? first_fit(&q, 1, 0, x->leaves, true) : FTH_NONE;
	if (above == FTH_NONE || below == FTH_NONE) {
		uint32_t one = above == FTH_NONE ? below : above;
		return one == FTH_NONE ? FTH_NONE : x->order.data[one];
	}
	above = x->order.data[above];
	below = x->order.data[below];
	return distance(v, t, above) <= distance(v, t, below) ? above : below;
}
