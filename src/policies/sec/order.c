/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/sec/order.h"

void fth_order_release(struct fth_order *o)
{
	fth_vec_release(&o->nodes);
	fth_vec_release(&o->free);
	o->root = 0;
	o->len = 0;
}

static struct fth_order_node *at(const struct fth_order *o, uint32_t n)
{
	return &o->nodes.data[n];
}

static int compare(int64_t key, uint32_t id, const struct fth_order_item *b)
{
	if (key != b->key)
		return key < b->key ? -1 : 1;
	return id < b->id ? -1 : id > b->id;
}

static int class_of(uint64_t size)
{
	int log2 = size > 1 ? 63 - __builtin_clzll(size) : 0;
	return FTH_MIN(log2, FTH_ORDER_CLASSES - 1);
}

static void update(struct fth_order *o, uint32_t n)
{
	struct fth_order_node *x = at(o, n);
	for (int c = 0; c < FTH_ORDER_CLASSES; c++)
		x->shortest[c] = FTH_NEVER;
	x->shortest[class_of(x->item.size)] = x->item.length;
	x->sum = x->item.size;
	x->least_size = x->item.size;
	x->least_length = x->item.length;
	const uint32_t below[] = {x->left, x->right};
	for (int k = 0; k < 2; k++) {
		if (!below[k])
			continue;
		const struct fth_order_node *y = at(o, below[k]);
		x->sum += y->sum;
		x->least_size = FTH_MIN(x->least_size, y->least_size);
		x->least_length = FTH_MIN(x->least_length, y->least_length);
		for (int c = 0; c < FTH_ORDER_CLASSES; c++)
			x->shortest[c] = FTH_MIN(x->shortest[c], y->shortest[c]);
	}
}

/* Those before (key, id) and the others. */
static void split(struct fth_order *o, uint32_t n, int64_t key, uint32_t id, uint32_t *a, uint32_t *b)
{
	if (!n) {
		*a = *b = 0;
		return;
	}
	struct fth_order_node *x = at(o, n);
	if (compare(key, id, &x->item) <= 0) {
		split(o, x->left, key, id, a, &x->left);
		*b = n;
	} else {
		split(o, x->right, key, id, &x->right, b);
		*a = n;
	}
	update(o, n);
}

static uint32_t merge(struct fth_order *o, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	if (at(o, a)->weight >= at(o, b)->weight) {
		at(o, a)->right = merge(o, at(o, a)->right, b);
		update(o, a);
		return a;
	}
	at(o, b)->left = merge(o, a, at(o, b)->left);
	update(o, b);
	return b;
}

void fth_order_add(struct fth_order *o, const struct fth_order_item *item)
{
	if (!o->nodes.len)
		fth_vec_push(&o->nodes, (struct fth_order_node){0});
	uint32_t n, a, b;
	struct fth_order_node fresh = {.item = *item, .weight = (uint32_t)(fth_hash_u64(item->id + 1) >> 32)};
	if (o->free.len) {
		n = fth_vec_pop(&o->free);
		o->nodes.data[n] = fresh;
	} else {
		n = (uint32_t)o->nodes.len;
		fth_vec_push(&o->nodes, fresh);
	}
	update(o, n);
	split(o, o->root, item->key, item->id, &a, &b);
	o->root = merge(o, merge(o, a, n), b);
	o->len++;
}

bool fth_order_remove(struct fth_order *o, int64_t key, uint32_t id)
{
	uint32_t path[128], depth = 0, n = o->root;
	while (n && depth < FTH_COUNT(path)) {
		int c = compare(key, id, &at(o, n)->item);
		if (!c)
			break;
		path[depth++] = n;
		n = c < 0 ? at(o, n)->left : at(o, n)->right;
	}
	if (!n || compare(key, id, &at(o, n)->item))
		return false;
	uint32_t rest = merge(o, at(o, n)->left, at(o, n)->right);
	if (!depth)
		o->root = rest;
	else if (at(o, path[depth - 1])->left == n)
		at(o, path[depth - 1])->left = rest;
	else
		at(o, path[depth - 1])->right = rest;
	while (depth)
		update(o, path[--depth]);
	fth_vec_push(&o->free, n);
	o->len--;
	return true;
}

const struct fth_order_item *fth_order_first(const struct fth_order *o)
{
	uint32_t n = o->root;
	while (n && at(o, n)->left)
		n = at(o, n)->left;
	return n ? &at(o, n)->item : NULL;
}

static bool fits(uint64_t size, fth_time length, const struct fth_hole *h)
{
	return size <= h->size && (size <= h->beside || length <= h->window);
}

/* May there be one below? Only in the class of the hole's own size is this a guess. */
static bool may_fit(const struct fth_order_node *x, const struct fth_hole *h, int classes)
{
	if (x->least_size > h->size)
		return false;
	bool found = x->least_size <= h->beside;
	for (int c = 0; c <= classes && !found; c++)
		found = x->shortest[c] <= h->window;
	return found;
}

static uint32_t next_fit(const struct fth_order *o, uint32_t n, const struct fth_order_item *after, const struct fth_hole *h,
			 int classes)
{
	if (!n || !may_fit(at(o, n), h, classes))
		return 0;
	const struct fth_order_node *x = at(o, n);
	bool behind = after && compare(x->item.key, x->item.id, after) <= 0;
	uint32_t found = behind ? 0 : next_fit(o, x->left, after, h, classes);
	if (found)
		return found;
	if (!behind && fits(x->item.size, x->item.length, h))
		return n;
	return next_fit(o, x->right, after, h, classes);
}

const struct fth_order_item *fth_order_next_fit(const struct fth_order *o, const struct fth_order_item *after,
						const struct fth_hole *h)
{
	uint32_t n = next_fit(o, o->root, after, h, class_of(h->size));
	return n ? &at(o, n)->item : NULL;
}

const struct fth_order_item *fth_order_first_short(const struct fth_order *o, fth_time length)
{
	uint32_t n = o->root;
	while (n && at(o, n)->least_length <= length) {
		const struct fth_order_node *x = at(o, n);
		if (x->left && at(o, x->left)->least_length <= length)
			n = x->left;
		else if (x->item.length <= length)
			return &x->item;
		else
			n = x->right;
	}
	return NULL;
}

bool fth_order_reach(const struct fth_order *o, uint64_t need, int64_t *ret_key, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	int64_t key = 0;
	if (fth_order_sum(o) < need || !o->root)
		return false;
	for (uint32_t n = o->root; n;) { /* the first at which the sum is reached */
		const struct fth_order_node *x = at(o, n);
		uint64_t left = x->left ? at(o, x->left)->sum : 0;
		if (sum + left >= need && x->left) {
			n = x->left;
			continue;
		}
		sum += left + x->item.size;
		if (sum >= need) {
			key = x->item.key;
			break;
		}
		n = x->right;
	}
	sum = 0;
	for (uint32_t n = o->root; n;) { /* all up to its key */
		const struct fth_order_node *x = at(o, n);
		if (x->item.key > key) {
			n = x->left;
			continue;
		}
		sum += (x->left ? at(o, x->left)->sum : 0) + x->item.size;
		n = x->right;
	}
	*ret_key = key;
	*ret_sum = sum;
	return true;
}

static bool each(const struct fth_order *o, uint32_t n, bool (*f)(void *arg, const struct fth_order_item *item), void *arg)
{
	return !n || (each(o, at(o, n)->left, f, arg) && f(arg, &at(o, n)->item) && each(o, at(o, n)->right, f, arg));
}

void fth_order_each(const struct fth_order *o, bool (*f)(void *arg, const struct fth_order_item *item), void *arg)
{
	each(o, o->root, f, arg);
}
