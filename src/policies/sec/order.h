/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered set of things with a size and a length: a balanced tree (treap, its shape drawn from the ids, so the same
 * in every run) that knows of each subtree the sum of sizes, the least size and, by class of size, the least length. The queue of a
 * batch scheduler is one (jobs by priority: the next one that fits a hole is found without looking at all), and
 * so are the future releases of nodes (by time: when will so many be free?).
 */
#ifndef FTH_POLICIES_SEC_ORDER_H
#define FTH_POLICIES_SEC_ORDER_H

#include "base/base.h"

struct fth_order_item {
	int64_t key;     /* ascending; ties by id */
	uint32_t id;
	uint32_t size;   /* nodes */
	fth_time length; /* estimate */
};

/* Sizes by their binary logarithm; the last class is open. */
enum { FTH_ORDER_CLASSES = 8 };

struct fth_order_node {
	struct fth_order_item item;
	uint32_t left, right;
	uint32_t weight;
	uint32_t least_size;
	fth_time least_length;
	fth_time shortest[FTH_ORDER_CLASSES]; /* least length among the items of a size class */
	uint64_t sum;
};

struct fth_order {
	FTH_VEC(struct fth_order_node) nodes; /* node 0 is nobody */
	FTH_VEC(uint32_t) free;
	uint32_t root;
	size_t len;
};
void fth_order_release(struct fth_order *o);
void fth_order_add(struct fth_order *o, const struct fth_order_item *item);
/* False if it is not there. */
bool fth_order_remove(struct fth_order *o, int64_t key, uint32_t id);
const struct fth_order_item *fth_order_first(const struct fth_order *o); /* NULL: empty */
static inline uint64_t fth_order_sum(const struct fth_order *o)
{
	return o->root ? o->nodes.data[o->root].sum : 0;
}

/* What may run beside a reservation: at most `size`, and either no larger than `beside` or over within `window`. */
struct fth_hole {
	uint64_t size, beside;
	fth_time window;
};
/* The first item after `after` (NULL: of all) that fits the hole; NULL: none does. */
const struct fth_order_item *fth_order_next_fit(const struct fth_order *o, const struct fth_order_item *after,
						const struct fth_hole *h);
/* The first one no longer than this. */
const struct fth_order_item *fth_order_first_short(const struct fth_order *o, fth_time length);
/* The least key up to which the sizes sum to at least `need`, and that sum with all of the same key; false: they
 * never do. */
bool fth_order_reach(const struct fth_order *o, uint64_t need, int64_t *ret_key, uint64_t *ret_sum);
/* In order; return false to stop. */
void fth_order_each(const struct fth_order *o, bool (*f)(void *arg, const struct fth_order_item *item), void *arg);

#endif
