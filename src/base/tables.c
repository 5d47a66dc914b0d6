/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map, table of entities by id, heap of timed things. */
#include "base/base.h"

uint64_t fth_hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t fth_hash_bytes(const void *p, size_t n, uint64_t seed)
{
	/* FNV-1a with a finishing mix: the strings are short. Byte order does not matter. */
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325u ^ fth_hash_u64(seed);
	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	return fth_hash_u64(h ^ n);
}

struct fth_map_slot {
	uint64_t key, value;
};
enum { EMPTY = 0, FULL = 1, DELETED = 2 };

/* What each slot is stands behind the slots, a byte each. */
static uint8_t *states(const struct fth_map *m)
{
	return (uint8_t *)(m->slots + m->cap);
}

static size_t map_find(const struct fth_map *m, uint64_t key, bool *ret_found)
{
	size_t mask = m->cap - 1, at = (size_t)fth_hash_u64(key + 0x9e3779b97f4a7c15u) & mask, hole = SIZE_MAX;
	const uint8_t *state = states(m);
	for (;; at = (at + 1) & mask) {
		if (state[at] == FULL && m->slots[at].key == key) {
			*ret_found = true;
			return at;
		}
		if (state[at] == DELETED && hole == SIZE_MAX)
			hole = at;
		if (state[at] == EMPTY) {
			*ret_found = false;
			return hole == SIZE_MAX ? at : hole;
		}
	}
}

static void map_resize(struct fth_map *m)
{
	struct fth_map old = *m;
	size_t live = 0;
	for (size_t i = 0; i < old.cap; i++)
		live += states(&old)[i] == FULL;
	m->cap = 16;
	while (m->cap < live * 3)
		m->cap *= 2;
	m->slots = fth_alloc(m->cap * (sizeof(*m->slots) + 1));
	m->len = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (states(&old)[i] == FULL)
			fth_map_put(m, old.slots[i].key, old.slots[i].value);
	free(old.slots);
}

void fth_map_put(struct fth_map *m, uint64_t key, uint64_t value)
{
	if ((m->len + 1) * 2 > m->cap) /* len counts deleted ones too */
		map_resize(m);
	bool found;
	size_t at = map_find(m, key, &found);
	if (!found && states(m)[at] == EMPTY)
		m->len++;
	m->slots[at] = (struct fth_map_slot){key, value};
	states(m)[at] = FULL;
}

bool fth_map_get(const struct fth_map *m, uint64_t key, uint64_t *ret_value)
{
	if (!m->cap)
		return false;
	bool found;
	size_t at = map_find(m, key, &found);
	if (found && ret_value)
		*ret_value = m->slots[at].value;
	return found;
}

bool fth_map_del(struct fth_map *m, uint64_t key)
{
	if (!m->cap)
		return false;
	bool found;
	size_t at = map_find(m, key, &found);
	if (found)
		states(m)[at] = DELETED;
	return found;
}

void fth_map_clear(struct fth_map *m)
{
	if (m->slots)
		memset(states(m), EMPTY, m->cap);
	m->len = 0;
}

void fth_map_release(struct fth_map *m)
{
	free(m->slots);
	*m = (struct fth_map){0};
}

/* ---- table of entities ---- */

enum { PAGE = FTH_TABLE_PAGE, CHUNK = FTH_TABLE_CHUNK, LEVELS = FTH_TABLE_LEVELS };

void fth_table_init(struct fth_table *t, size_t item)
{
	*t = (struct fth_table){.item = item};
}

void fth_table_release(struct fth_table *t)
{
	for (uint32_t i = 0; i < t->nchunks; i++)
		free(t->chunks[i]);
	for (uint32_t i = 0; i < t->npages; i++)
		free(t->pages[i]);
	free(t->chunks);
	free(t->pages);
	free(t->page_live);
	for (int k = 0; k < LEVELS; k++)
		fth_vec_release(&t->free[k]);
	*t = (struct fth_table){0};
}

static void free_slot(struct fth_table *t, uint32_t slot)
{
	uint64_t was = 0;
	for (int k = 0; k < LEVELS && !was; k++, slot /= 64) {
		while (t->free[k].len <= slot / 64)
			fth_vec_push(&t->free[k], 0);
		was = t->free[k].data[slot / 64];
		t->free[k].data[slot / 64] |= UINT64_C(1) << slot % 64;
	}
}

static uint32_t lowest_free(struct fth_table *t)
{
	uint32_t slot = 0;
	for (int k = LEVELS; k-- > 0;)
		slot = slot * 64 + (uint32_t)__builtin_ctzll(t->free[k].data[slot]);
	for (uint32_t k = 0, at = slot; k < LEVELS; k++, at /= 64)
		if (t->free[k].data[at / 64] &= ~(UINT64_C(1) << at % 64))
			break;
	return slot;
}

static uint32_t take_slot(struct fth_table *t)
{
	if (t->live < t->nslots)
		return lowest_free(t);
	if (t->nslots == t->nchunks * CHUNK) {
		t->chunks = fth_realloc(t->chunks, (t->nchunks + 1) * sizeof(*t->chunks));
		t->chunks[t->nchunks++] = fth_alloc(CHUNK * t->item);
	}
	return t->nslots++;
}

void *fth_table_add(struct fth_table *t, uint32_t *ret_id, uint32_t *ret_slot)
{
	uint32_t id = t->next_id++, page = id / PAGE, slot = take_slot(t);
	if (page == t->npages) {
		/* One pointer and one count per 1024 ids ever given: what is left of the dead. */
		t->pages = fth_realloc(t->pages, (t->npages + 1) * sizeof(*t->pages));
		t->page_live = fth_realloc(t->page_live, (t->npages + 1) * sizeof(*t->page_live));
		t->pages[page] = fth_realloc(NULL, PAGE * sizeof(uint32_t));
		memset(t->pages[page], 0xff, PAGE * sizeof(uint32_t));
		t->page_live[page] = 0;
		t->npages++;
		if (page && !t->page_live[page - 1]) { /* it was spared while it was the newest */
			free(t->pages[page - 1]);
			t->pages[page - 1] = NULL;
		}
	}
	t->pages[page][id % PAGE] = slot;
	t->page_live[page]++;
	t->live++;
	*ret_id = id;
	*ret_slot = slot;
	return memset(t->chunks[slot / CHUNK] + (slot % CHUNK) * t->item, 0, t->item);
}

void fth_table_remove(struct fth_table *t, uint32_t id)
{
	uint32_t page = id / PAGE;
	if (id >= t->next_id || !t->pages[page] || t->pages[page][id % PAGE] == UINT32_MAX)
		return;
	free_slot(t, t->pages[page][id % PAGE]);
	t->pages[page][id % PAGE] = UINT32_MAX;
	t->live--;
	/* The newest page may still be given ids. */
	if (--t->page_live[page] == 0 && (t->next_id - 1) / PAGE != page) {
		free(t->pages[page]);
		t->pages[page] = NULL;
	}
}

/* ---- heap ---- */

/* Four to a parent: half as deep as with two, and siblings are neighbours in memory. */
enum { KIDS = 4 };

/* Rank and order of insertion are one number, and with the time one comparison without a branch: which of two things is
 * earlier is a coin toss for the processor. */
static __int128 key_of(const struct fth_heap_item *a)
{
	return (__int128)a->time << 64 | a->order;
}

static bool earlier(const struct fth_heap_item *a, const struct fth_heap_item *b)
{
	return key_of(a) < key_of(b);
}

void fth_heap_push(struct fth_heap *h, fth_time time, uint32_t rank, uint32_t a, uint32_t b, uint32_t c)
{
	if (h->len == h->cap)
		h->data = fth_vec_grow(h->data, &h->cap, h->len + 1, sizeof(*h->data));
	struct fth_heap_item item = {time, (uint64_t)rank << 56 | h->next_seq++, rank, a, b, c};
	size_t i = h->len++;
	while (i && earlier(&item, &h->data[(i - 1) / KIDS])) {
		h->data[i] = h->data[(i - 1) / KIDS];
		i = (i - 1) / KIDS;
	}
	h->data[i] = item;
}

/* Put an item into the hole at i or below it. */
static void sift_down(struct fth_heap *h, size_t i, struct fth_heap_item item)
{
	for (;;) {
		size_t kid = KIDS * i + 1, end = FTH_MIN(kid + KIDS, h->len);
		if (kid >= h->len)
			break;
		__int128 least = key_of(&h->data[kid]);
		for (size_t k = kid + 1; k < end; k++) {
			__int128 key = key_of(&h->data[k]);
			kid = key < least ? k : kid;
			least = key < least ? key : least;
		}
		if (key_of(&item) < least)
			break;
		h->data[i] = h->data[kid];
		if (kid <= KIDS + KIDS * KIDS)
			h->rose[kid > KIDS] = kid;
		i = kid;
	}
	h->data[i] = item;
}

struct fth_heap_item fth_heap_pop(struct fth_heap *h)
{
	struct fth_heap_item top = h->data[0], last = h->data[--h->len];
	h->rose[0] = h->rose[1] = 0;
	if (h->len)
		sift_down(h, 0, last);
	return top;
}

void fth_heap_rebuild(struct fth_heap *h)
{
	for (size_t i = (h->len + KIDS - 1) / KIDS; i-- > 0;)
		sift_down(h, i, h->data[i]);
}

void fth_heap_release(struct fth_heap *h)
{
	free(h->data);
	*h = (struct fth_heap){0};
}
