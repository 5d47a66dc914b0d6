/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/colocation.h"

/* One (key, others) pair is a member of the set others + key; all entries of one set are kept
 * together, because whoever asks for one member's speed asks for the others' too. */
struct set {
	uint64_t hash;
	uint32_t n;     /* tasks in it, the member itself included */
	uint32_t first; /* into keys[] (sorted) and entry_of[] */
};

struct entry {
	double sum, mean;
	uint64_t count;
	uint32_t key, neighbour; /* neighbour: the other one of a pair, else FTH_NONE */
	bool alone;
};

struct fth_colocation {
	double t, moved;
	struct fth_map index;  /* symbol -> dense key */
	FTH_VEC(fth_sym) syms;
	uint32_t nkeys, stride;
	double *pair;          /* stride squared */
	double *solo;          /* stride */
	bool *known;
	FTH_VEC(struct set) sets;
	FTH_VEC(uint32_t) keys;
	FTH_VEC(uint32_t) entry_of;
	FTH_VEC(struct entry) entries;
	uint32_t *slots; /* open addressing: set index + 1 */
	uint32_t nslots;
};

struct fth_colocation *fth_colocation_new(double t)
{
	struct fth_colocation *c = fth_alloc(sizeof(*c));
	c->t = t;
	c->nslots = 64;
	c->slots = fth_alloc(c->nslots * sizeof(*c->slots));
	return c;
}

void fth_colocation_free(struct fth_colocation *c)
{
	if (!c)
		return;
	fth_map_release(&c->index);
	fth_vec_release(&c->syms);
	free(c->pair);
	free(c->solo);
	free(c->known);
	fth_vec_release(&c->sets);
	fth_vec_release(&c->keys);
	fth_vec_release(&c->entry_of);
	fth_vec_release(&c->entries);
	free(c->slots);
	free(c);
}

static void grow_pairs(struct fth_colocation *c, uint32_t stride)
{
	double *pair = fth_alloc((size_t)stride * stride * sizeof(*pair));
	double *solo = fth_alloc(stride * sizeof(*solo));
	bool *known = fth_alloc(stride * sizeof(*known));
	for (uint32_t a = 0; a < stride; a++)
		solo[a] = a < c->nkeys ? c->solo[a] : 1;
	for (size_t i = 0; i < (size_t)stride * stride; i++)
		pair[i] = c->t;
	for (uint32_t a = 0; a < c->nkeys; a++) {
		known[a] = c->known[a];
		memcpy(&pair[(size_t)a * stride], &c->pair[(size_t)a * c->stride], c->nkeys * sizeof(*pair));
	}
	free(c->pair);
	free(c->solo);
	free(c->known);
	c->solo = solo;
	c->pair = pair;
	c->known = known;
	c->stride = stride;
}

uint32_t fth_colocation_key(struct fth_colocation *c, fth_sym sym)
{
	uint64_t at;
	if (fth_map_get(&c->index, sym, &at))
		return (uint32_t)at;
	if (c->nkeys == c->stride)
		grow_pairs(c, c->stride ? c->stride * 2 : 16);
	fth_map_put(&c->index, sym, c->nkeys);
	fth_vec_push(&c->syms, sym);
	return c->nkeys++;
}

uint32_t fth_colocation_nkeys(const struct fth_colocation *c)
{
	return c->nkeys;
}

fth_sym fth_colocation_sym(const struct fth_colocation *c, uint32_t key)
{
	return c->syms.data[key];
}

struct fth_colocation_pairs fth_colocation_pairs(const struct fth_colocation *c)
{
	return (struct fth_colocation_pairs){c->pair, c->stride, c->solo, c->known};
}

/* ---- sets ---- */

enum { LOCAL = 64 };

static void sort_keys(uint32_t *k, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t x = k[i], j = i;
		for (; j > 0 && k[j - 1] > x; j--)
			k[j] = k[j - 1];
		k[j] = x;
	}
}

static bool same_keys(const uint32_t *sorted, const uint32_t *keys, uint32_t n)
{
	uint32_t local[LOCAL], *copy = n <= LOCAL ? local : fth_alloc(n * sizeof(*copy));
	memcpy(copy, keys, n * sizeof(*copy));
	sort_keys(copy, n);
	bool same = true;
	for (uint32_t i = 0; i < n; i++)
		same &= sorted[i] == copy[i];
	if (copy != local)
		free(copy);
	return same;
}

uint32_t fth_colocation_find(const struct fth_colocation *c, uint64_t hash, const uint32_t *keys, uint32_t n)
{
	uint32_t mask = c->nslots - 1;
	for (uint32_t at = (uint32_t)(hash >> 7) & mask; c->slots[at]; at = (at + 1) & mask) {
		const struct set *s = &c->sets.data[c->slots[at] - 1];
		if (s->hash == hash && s->n == n && same_keys(&c->keys.data[s->first], keys, n))
			return c->slots[at] - 1;
	}
	return FTH_NONE;
}

static void insert_slot(struct fth_colocation *c, uint64_t hash, uint32_t set)
{
	uint32_t mask = c->nslots - 1, at = (uint32_t)(hash >> 7) & mask;
	while (c->slots[at])
		at = (at + 1) & mask;
	c->slots[at] = set + 1;
}

static uint32_t add_set(struct fth_colocation *c, uint64_t hash, const uint32_t *keys, uint32_t n)
{
	if ((c->sets.len + 1) * 2 > c->nslots) {
		free(c->slots);
		c->nslots *= 2;
		c->slots = fth_alloc(c->nslots * sizeof(*c->slots));
		for (uint32_t i = 0; i < c->sets.len; i++)
			insert_slot(c, c->sets.data[i].hash, i);
	}
	struct set s = {hash, n, (uint32_t)c->keys.len};
	for (uint32_t i = 0; i < n; i++) {
		fth_vec_push(&c->keys, keys[i]);
		fth_vec_push(&c->entry_of, FTH_NONE);
	}
	sort_keys(&c->keys.data[s.first], n);
	fth_vec_push(&c->sets, s);
	insert_slot(c, hash, (uint32_t)c->sets.len - 1);
	return (uint32_t)c->sets.len - 1;
}

/* Position of a key within a set (the first of equal ones). */
static uint32_t member_at(const struct fth_colocation *c, const struct set *s, uint32_t key)
{
	uint32_t i = 0;
	while (c->keys.data[s->first + i] != key)
		i++;
	return s->first + i;
}

double fth_colocation_member(const struct fth_colocation *c, uint32_t set, uint32_t key)
{
	uint32_t e = c->entry_of.data[member_at(c, &c->sets.data[set], key)];
	return e == FTH_NONE || !c->entries.data[e].count ? -1 : c->entries.data[e].mean;
}

/* ---- entries ---- */

uint32_t fth_colocation_entry(struct fth_colocation *c, uint32_t key, const uint32_t *others, uint32_t n)
{
	uint32_t local[LOCAL], *keys = n < LOCAL ? local : fth_alloc((n + 1) * sizeof(*keys));
	uint64_t hash = fth_colocation_hash(key);
	keys[0] = key;
	for (uint32_t i = 0; i < n; i++) {
		keys[i + 1] = others[i];
		hash += fth_colocation_hash(others[i]);
	}
	uint32_t set = fth_colocation_find(c, hash, keys, n + 1);
	if (set == FTH_NONE)
		set = add_set(c, hash, keys, n + 1);
	if (keys != local)
		free(keys);
	uint32_t at = member_at(c, &c->sets.data[set], key);
	if (c->entry_of.data[at] == FTH_NONE) {
		c->entry_of.data[at] = (uint32_t)c->entries.len;
		struct entry e = {.key = key, .neighbour = n == 1 ? others[0] : FTH_NONE, .alone = n == 0};
		fth_vec_push(&c->entries, e);
	}
	return c->entry_of.data[at];
}

bool fth_colocation_add(struct fth_colocation *c, uint32_t entry, double rate, uint64_t times)
{
	struct entry *e = &c->entries.data[entry];
	if (!times)
		return false;
	double before = e->mean;
	bool first = e->count == 0;
	e->sum = times == 1 ? e->sum + rate : fth_repeat_add(e->sum, rate, times);
	e->count += times;
	e->mean = e->sum / (double)e->count;
	c->known[e->key] = true;
	if (e->neighbour != FTH_NONE)
		c->pair[(size_t)e->key * c->stride + e->neighbour] = e->mean;
	else if (e->alone)
		c->solo[e->key] = e->mean;
	c->moved += first ? 1 : e->mean > before ? e->mean - before : before - e->mean;
	return first || e->mean != before;
}

double fth_colocation_moved(struct fth_colocation *c)
{
	double moved = c->moved;
	c->moved = 0;
	return moved;
}

/* ---- by symbol ---- */

/* Dense keys of (key, others...); false if one is unknown. hash: of them all. */
static bool dense(const struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n, uint32_t *keys,
		  uint64_t *hash)
{
	*hash = 0;
	for (uint32_t i = 0; i <= n; i++) {
		uint64_t at;
		if (!fth_map_get(&c->index, i ? others[i - 1] : key, &at))
			return false;
		keys[i] = (uint32_t)at;
		*hash += fth_colocation_hash(keys[i]);
	}
	return true;
}

bool fth_colocation_seen(const struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n, double *ret)
{
	uint32_t local[LOCAL], *keys = n < LOCAL ? local : fth_alloc((n + 1) * sizeof(*keys));
	uint64_t hash;
	double mean = -1;
	if (dense(c, key, others, n, keys, &hash)) {
		uint32_t set = fth_colocation_find(c, hash, keys, n + 1);
		if (set != FTH_NONE)
			mean = fth_colocation_member(c, set, keys[0]);
	}
	if (keys != local)
		free(keys);
	if (mean >= 0 && ret)
		*ret = mean;
	return mean >= 0;
}

double fth_colocation_rate(const struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n)
{
	double rate;
	if (fth_colocation_seen(c, key, others, n, &rate))
		return rate;
	uint64_t a, b;
	bool known = fth_map_get(&c->index, key, &a);
	rate = 1;
	for (uint32_t i = 0; i < n; i++)
		rate *= known && fth_map_get(&c->index, others[i], &b) ? c->pair[a * c->stride + b] : c->t;
	return rate;
}

bool fth_colocation_record(struct fth_colocation *c, fth_sym key, const fth_sym *others, uint32_t n, double rate)
{
	uint32_t local[LOCAL] = {0}, *keys = n < LOCAL ? local : fth_alloc((n + 1) * sizeof(*keys));
	for (uint32_t i = 0; i < n; i++)
		keys[i] = fth_colocation_key(c, others[i]);
	uint32_t e = fth_colocation_entry(c, fth_colocation_key(c, key), keys, n);
	if (keys != local)
		free(keys);
	return fth_colocation_add(c, e, rate, 1);
}

/*
 * Only one entry is updated with the speed of a whole job, the one that most likely held it up:
 *  - nothing recorded yet: the task with the most neighbours;
 *  - some recorded entry is not above the observation: the lowest recorded one explains it;
 *  - all recorded ones are above it: an unrecorded task must be the straggler, the one with the most
 *    neighbours. If none is unrecorded, the lowest recorded one was recorded too high.
 */
uint32_t fth_colocation_attribute(const struct fth_colocation *c, const struct fth_colocation_member *m, uint32_t n,
				  double observed)
{
	uint32_t lowest = FTH_NONE, crowded = FTH_NONE;
	double low = 0;
	for (uint32_t i = 0; i < n; i++) {
		double mean;
		if (fth_colocation_seen(c, m[i].key, m[i].others, m[i].n, &mean)) {
			if (lowest == FTH_NONE || mean < low) {
				lowest = i;
				low = mean;
			}
		} else if (crowded == FTH_NONE || m[i].n > m[crowded].n) {
			crowded = i;
		}
	}
	if (lowest == FTH_NONE)
		return crowded;
	if (crowded == FTH_NONE || low <= observed)
		return lowest;
	return crowded;
}
