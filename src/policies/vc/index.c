/* SPDX-License-Identifier: Apache-2.0 */
/* Why a round does not look at every instance for every task: see struct vc_index. */
#include "policies/vc/vc.h"

void vc_index_release(struct vc_index *x)
{
	fth_vec_release(&x->nodes);
	fth_vec_release(&x->room);
	fth_vec_release(&x->val);
	fth_vec_release(&x->own);
	fth_vec_release(&x->sorted);
	fth_vec_release(&x->other);
	fth_vec_release(&x->spine);
}

/* ---- what an instance is found by ---- */

/* The values by which instances are compared: most free, or the parts of a dot product. */
static void values_of(const struct vc *v, const struct vc_inst *i, double *val)
{
	uint32_t nres = v->index.nres;
	val[0] = 0;
	if (v->cfg.pack == VC_PACK_DOT) {
		const struct fth_res *by = v->cfg.own_capacity ? &v->view->catalog->types[i->type].capacity : &v->most;
		for (uint32_t r = 0; r < nres; r++)
			val[r] = by->v[r] > 0 ? (double)i->room.v[r] / ((double)by->v[r] * (double)by->v[r]) : 0;
	} else if (v->cfg.pack == VC_PACK_BINS) {
		for (uint32_t r = 0; r < nres; r++)
			if (v->most.v[r] > 0)
				val[0] += (double)i->room.v[r] / (double)v->most.v[r];
	}
}

/* For dot products instances of one type with about the same free shares are neighbours, so that a subtree's greatest
 * values say much about each: first the size of the type (the small ones, of which a task takes more, behind), the
 * type, then the bits of the shares by turns. */
static int64_t interleaved(const struct vc *v, const struct vc_inst *i)
{
	const struct fth_res *by = v->cfg.own_capacity ? &v->view->catalog->types[i->type].capacity : &v->most;
	uint64_t share[FTH_RES_MAX], key = 0, size = 0;
	uint32_t n = 0;
	for (uint32_t r = 0; r < v->index.nres; r++)
		if (v->most.v[r] > 0) {
			share[n++] = by->v[r] > 0 ? (uint64_t)(i->room.v[r] * 1023 / by->v[r]) : 0;
			size += (uint64_t)(by->v[r] * 65536 / v->most.v[r]);
		}
	if (v->cfg.own_capacity)
		key = (uint64_t)__builtin_clzll(size | 1) << 16 | (i->type & 0xffff);
	for (int bit = 9; bit >= 0; bit--)
		for (uint32_t k = 0; k < FTH_MIN(n, 4u); k++)
			key = key << 1 | (share[k] >> bit & 1);
	return (int64_t)key;
}

static int64_t key_of(const struct vc *v, const struct vc_inst *i)
{
	if (v->cfg.pack == VC_PACK_BINS)
		return i->remaining;
	return v->cfg.pack == VC_PACK_LEAST ? i->room.v[v->cfg.resource] : interleaved(v, i);
}

/* ---- the tree ---- */

static struct vc_node *node(const struct vc_index *x, uint32_t n)
{
	return &x->nodes.data[n];
}

/* What a subtree has at most. */
static void pull(const struct vc *v, uint32_t n)
{
	const struct vc_index *x = &v->index;
	const uint32_t kids[] = {node(x, n)->left, node(x, n)->right};
	int64_t *room = &x->room.data[(size_t)n * x->nres];
	double *val = &x->val.data[(size_t)n * x->nval];
	for (uint32_t r = 0; r < x->nres; r++)
		room[r] = v->inst.data[n].room.v[r];
	for (uint32_t k = 0; k < x->nval; k++)
		val[k] = x->own.data[(size_t)n * x->nval + k];
	for (size_t side = 0; side < 2; side++) {
		if (kids[side] == FTH_NONE)
			continue;
		const int64_t *kid_room = &x->room.data[(size_t)kids[side] * x->nres];
		const double *kid_val = &x->val.data[(size_t)kids[side] * x->nval];
		for (uint32_t r = 0; r < x->nres; r++)
			room[r] = FTH_MAX(room[r], kid_room[r]);
		for (uint32_t k = 0; k < x->nval; k++)
			val[k] = FTH_MAX(val[k], kid_val[k]);
	}
}

static bool is_before(int64_t key, uint32_t rank, const struct vc_node *n)
{
	return key != n->key ? key < n->key : rank < n->rank;
}

/* Those before (key, rank) to the left, the others to the right. */
static void split(const struct vc *v, uint32_t n, int64_t key, uint32_t rank, uint32_t *left, uint32_t *right)
{
	if (n == FTH_NONE) {
		*left = *right = FTH_NONE;
		return;
	}
	struct vc_node *at = node(&v->index, n);
	if (is_before(key, rank, at)) {
		split(v, at->left, key, rank, left, &at->left);
		*right = n;
	} else {
		split(v, at->right, key, rank, &at->right, right);
		*left = n;
	}
	pull(v, n);
}

static uint32_t merge(const struct vc *v, uint32_t a, uint32_t b)
{
	if (a == FTH_NONE || b == FTH_NONE)
		return a == FTH_NONE ? b : a;
	struct vc_node *p = node(&v->index, a), *q = node(&v->index, b);
	if (p->weight >= q->weight) {
		p->right = merge(v, p->right, b);
		pull(v, a);
		return a;
	}
	q->left = merge(v, a, q->left);
	pull(v, b);
	return b;
}

static void insert(const struct vc *v, uint32_t *at, uint32_t n)
{
	struct vc_node *new = node(&v->index, n);
	if (*at == FTH_NONE || node(&v->index, *at)->weight < new->weight) {
		split(v, *at, new->key, new->rank, &new->left, &new->right);
		*at = n;
	} else {
		struct vc_node *here = node(&v->index, *at);
		insert(v, is_before(new->key, new->rank, here) ? &here->left : &here->right, n);
	}
	pull(v, *at);
}

/* Take the node out, or only see to the subtrees above it. */
static void remove_or_pull(const struct vc *v, uint32_t *at, uint32_t n, bool out)
{
	struct vc_node *here = node(&v->index, *at);
	if (*at == n) {
		if (out) {
			*at = merge(v, here->left, here->right);
			return;
		}
	} else {
		const struct vc_node *it = node(&v->index, n);
		remove_or_pull(v, is_before(it->key, it->rank, here) ? &here->left : &here->right, n, out);
	}
	pull(v, *at);
}

static void prepare(struct vc *v, uint32_t n)
{
	struct vc_index *x = &v->index;
	const struct vc_inst *i = &v->inst.data[n];
	while (x->nodes.len <= n)
		fth_vec_push(&x->nodes, ((struct vc_node){.left = FTH_NONE, .right = FTH_NONE}));
	fth_vec_reserve(&x->room, x->nodes.len * x->nres);
	fth_vec_reserve(&x->val, x->nodes.len * x->nval);
	fth_vec_reserve(&x->own, x->nodes.len * x->nval);
	*node(x, n) = (struct vc_node){.key = key_of(v, i),
				       .left = FTH_NONE,
				       .right = FTH_NONE,
				       .rank = v->cfg.pack == VC_PACK_DOT ? UINT32_MAX - n : n,
				       .weight = (uint32_t)fth_hash_u64(i->id),
				       .in = true};
	values_of(v, i, &x->own.data[(size_t)n * x->nval]);
}

static int by_key(const void *a, const void *b)
{
	const struct vc_keyed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

enum { DIGIT = 11, FEW = 1024 };

/* Digit by digit, in time that grows with their number alone. They come by falling or rising rank, and equal keys keep
 * their order. */
static void sort_keyed(struct vc_index *x, int64_t greatest)
{
	size_t n = x->sorted.len;
	fth_vec_reserve(&x->other, n);
	for (unsigned shift = 0; shift < 63 && greatest >> shift; shift += DIGIT) {
		uint32_t start[1 << DIGIT] = {0}, sum = 0;
		for (size_t k = 0; k < n; k++)
			start[x->sorted.data[k].key >> shift & ((1 << DIGIT) - 1)]++;
		for (size_t d = 0; d < FTH_COUNT(start); d++) {
			uint32_t count = start[d];
			start[d] = sum;
			sum += count;
		}
		for (size_t k = 0; k < n; k++)
			x->other.data[start[x->sorted.data[k].key >> shift & ((1 << DIGIT) - 1)]++] = x->sorted.data[k];
		struct vc_keyed *data = x->sorted.data;
		size_t cap = x->sorted.cap;
		x->sorted.data = x->other.data;
		x->sorted.cap = x->other.cap;
		x->other.data = data;
		x->other.cap = cap;
	}
}

/* From the nodes in order: each becomes the right child of the last one on the right spine that is heavier. */
static void chain(struct vc *v)
{
	struct vc_index *x = &v->index;
	fth_vec_clear(&x->spine);
	for (size_t k = 0; k < x->sorted.len; k++) {
		uint32_t n = x->sorted.data[k].inst, last = FTH_NONE;
		while (x->spine.len && node(x, fth_vec_last(&x->spine))->weight < node(x, n)->weight) {
			last = fth_vec_pop(&x->spine);
			pull(v, last);
		}
		node(x, n)->left = last;
		if (x->spine.len)
			node(x, fth_vec_last(&x->spine))->right = n;
		fth_vec_push(&x->spine, n);
	}
	x->root = x->spine.len ? x->spine.data[0] : FTH_NONE;
	while (x->spine.len)
		pull(v, fth_vec_pop(&x->spine));
}

void vc_index_build(struct vc *v)
{
	struct vc_index *x = &v->index;
	bool sorted = true, falling = v->cfg.pack == VC_PACK_DOT;
	int64_t greatest = 0;
	x->nres = v->view->catalog->nres;
	x->nval = v->cfg.pack == VC_PACK_DOT ? x->nres : 1;
	x->built = true;
	fth_vec_clear(&x->nodes);
	fth_vec_clear(&x->sorted);
	for (uint32_t at = 0; at < v->inst.len; at++) {
		uint32_t n = falling ? (uint32_t)v->inst.len - 1 - at : at;
		if (!v->inst.data[n].open)
			continue;
		prepare(v, n);
		struct vc_keyed k = {node(x, n)->key, node(x, n)->rank, n};
		sorted &= !x->sorted.len || by_key(&fth_vec_last(&x->sorted), &k) < 0;
		greatest = FTH_MAX(greatest, k.key);
		fth_vec_push(&x->sorted, k);
	}
	if (!sorted && x->sorted.len < FEW)
		qsort(x->sorted.data, x->sorted.len, sizeof(*x->sorted.data), by_key);
	else if (!sorted)
		sort_keyed(x, greatest);
	chain(v);
}

void vc_index_touch(struct vc *v, uint32_t inst)
{
	struct vc_index *x = &v->index;
	const struct vc_inst *i = &v->inst.data[inst];
	bool was_in = inst < x->nodes.len && node(x, inst)->in;
	if (!x->built || (!was_in && !i->open))
		return;
	if (was_in && i->open && key_of(v, i) == node(x, inst)->key) {
		values_of(v, i, &x->own.data[(size_t)inst * x->nval]);
		remove_or_pull(v, &x->root, inst, false);
		return;
	}
	if (was_in)
		remove_or_pull(v, &x->root, inst, true);
	if (i->open) {
		prepare(v, inst);
		insert(v, &x->root, inst);
	} else {
		node(x, inst)->in = false;
	}
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

void vc_least_demand(const struct vc *v, fth_kind_id kind, int64_t *ret)
{
	const struct fth_kind *k = &v->view->kinds[kind];
	for (uint32_t r = 0; r < v->view->catalog->nres; r++) {
		ret[r] = INT64_MAX;
		for (uint32_t a = 0; a < k->nalts; a++)
			ret[r] = FTH_MIN(ret[r], k->alts[a].demand.v[r]);
	}
}

struct query {
	struct vc *v;
	const struct vc_task *t;
	int64_t least[FTH_RES_MAX];
	int64_t lo, hi;
	const double *coef;
	double best;
	uint32_t found;
};

static struct query ask(struct vc *v, const struct vc_task *t, int64_t lo, int64_t hi)
{
	struct query q = {.v = v, .t = t, .lo = lo, .hi = hi, .found = FTH_NONE};
	if (!v->index.built)
		vc_index_build(v);
	vc_least_demand(v, t->kind, q.least);
	return q;
}

static bool may_hold(const struct query *q, const int64_t *room)
{
	for (uint32_t r = 0; r < q->v->index.nres; r++)
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

static void consider(struct query *q, uint32_t n)
{
	const struct vc_index *x = &q->v->index;
	double w = worth(q, &x->own.data[(size_t)n * x->nval]);
	if (q->found != FTH_NONE && w <= q->best)
		return;
	if (may_hold(q, q->v->inst.data[n].room.v) && vc_fits(q->v, q->t, n)) {
		q->best = w;
		q->found = n;
	}
}

/* Of equal ones the first in order; for dot products from behind, where the most is free. */
static void search(struct query *q, uint32_t n)
{
	const struct vc_index *x = &q->v->index;
	if (n == FTH_NONE || !may_hold(q, &x->room.data[(size_t)n * x->nres]))
		return;
	if (q->found != FTH_NONE && worth(q, &x->val.data[(size_t)n * x->nval]) <= q->best)
		return;
	const struct vc_node *at = node(x, n);
	bool behind = q->v->cfg.pack == VC_PACK_DOT, to_left = at->key >= q->lo, to_right = at->key < q->hi;
	if (behind ? to_right : to_left)
		search(q, behind ? at->right : at->left);
	if (to_left && to_right)
		consider(q, n);
	if (behind ? to_left : to_right)
		search(q, behind ? at->left : at->right);
}

uint32_t vc_index_best(struct vc *v, const struct vc_task *t, int64_t lo, int64_t hi, const double *coef)
{
	struct query q = ask(v, t, lo, hi);
	q.coef = coef;
	if (lo < hi)
		search(&q, v->index.root);
	return q.found;
}

static uint32_t first_fit(const struct query *q, uint32_t n, bool last)
{
	const struct vc_index *x = &q->v->index;
	if (n == FTH_NONE || !may_hold(q, &x->room.data[(size_t)n * x->nres]))
		return FTH_NONE;
	const struct vc_node *at = node(x, n);
	bool to_left = at->key >= q->lo, to_right = at->key < q->hi;
	uint32_t got = FTH_NONE;
	if (last ? to_right : to_left)
		got = first_fit(q, last ? at->right : at->left, last);
	if (got == FTH_NONE && to_left && to_right && vc_fits(q->v, q->t, n))
		got = n;
	if (got == FTH_NONE && (last ? to_left : to_right))
		got = first_fit(q, last ? at->left : at->right, last);
	return got;
}

uint32_t vc_index_first(struct vc *v, const struct vc_task *t, int64_t lo, int64_t hi, bool last)
{
	struct query q = ask(v, t, lo, hi);
	if (v->cfg.pack == VC_PACK_LEAST)
		q.lo = FTH_MAX(lo, q.least[v->cfg.resource]);
	return q.lo < q.hi ? first_fit(&q, v->index.root, last) : FTH_NONE;
}
