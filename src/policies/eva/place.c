/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/eva/place.h"

void fth_placing_release(struct fth_placing *p)
{
	fth_vec_release(&p->overlaps);
	fth_vec_release(&p->count);
	fth_vec_release(&p->group_of);
	fth_vec_release(&p->left);
	fth_vec_release(&p->bin_of);
	fth_vec_release(&p->first);
	fth_vec_release(&p->next);
	fth_vec_release(&p->waiting);
	fth_vec_release(&p->running);
	fth_vec_release(&p->chain);
}

#define each_item(p, packing, bin, g)                                                              \
	for (uint32_t i_ = 0, g; i_ < (bin)->n &&                                                  \
	     (g = (p)->group_of.data[(packing)->items.data[(bin)->first + i_]], true); i_++)

/* Candidates by instance, and waiting ones by group; all in order. */
static void link_candidates(struct fth_placing *p, const struct fth_board *b, const uint32_t *candidates, uint32_t n)
{
	fth_vec_reserve(&p->first, b->instances.len + 1);
	fth_vec_reserve(&p->next, b->tasks.len);
	fth_vec_reserve(&p->chain, b->tasks.len);
	fth_vec_reserve(&p->waiting, b->groups.len + 1);
	fth_vec_reserve(&p->running, b->groups.len + 1);
	fth_vec_reserve(&p->count, b->groups.len + 1);
	memset(p->first.data, 0xff, b->instances.len * sizeof(uint32_t));
	memset(p->waiting.data, 0xff, b->groups.len * sizeof(uint32_t));
	memset(p->running.data, 0xff, b->groups.len * sizeof(uint32_t));
	memset(p->count.data, 0, b->groups.len * sizeof(uint32_t));
	for (uint32_t i = n; i-- > 0;) {
		uint32_t t = candidates[i], at = b->tasks.data[t].at, g = b->tasks.data[t].group;
		uint32_t *head = at == FTH_NONE ? &p->waiting.data[g] : &p->first.data[at];
		uint32_t *link = at == FTH_NONE ? &p->chain.data[t] : &p->next.data[t];
		*link = *head;
		*head = t;
	}
}

/* What of an instance's tasks could stay if it held this bin. */
static double overlap(struct fth_placing *p, const struct fth_board *b, const struct fth_packing *packing,
		      const struct fth_packed *bin, uint32_t instance)
{
	double value = 0;
	each_item(p, packing, bin, g)
		p->count.data[g]++;
	for (uint32_t t = p->first.data[instance]; t != FTH_NONE; t = p->next.data[t]) {
		uint32_t g = b->tasks.data[t].group;
		if (p->count.data[g]) {
			p->count.data[g]--;
			value += b->groups.data[g].rp;
		}
	}
	each_item(p, packing, bin, g)
		p->count.data[g] = 0;
	return value;
}

static int greatest_first(const void *x, const void *y)
{
	const struct fth_overlap *a = x, *b = y;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	return a->bin < b->bin ? -1 : a->bin > b->bin;
}

static void find_overlaps(struct fth_placing *p, const struct fth_draft *draft, const struct fth_board *b,
			  const struct fth_packing *packing)
{
	fth_vec_clear(&p->overlaps);
	for (uint32_t i = 0; i < b->instances.len; i++) {
		if (draft->slot_at.data[i] != FTH_NONE)
			continue; /* it is kept as it is */
		for (uint32_t k = 0; k < packing->bins.len; k++) {
			if (packing->bins.data[k].offer != b->instances.data[i].offer)
				continue;
			/* Without anything in common it still saves the start of a new machine. */
			struct fth_overlap o = {overlap(p, b, packing, &packing->bins.data[k], i), i, k};
			fth_vec_push(&p->overlaps, o);
		}
	}
	if (p->overlaps.len)
		qsort(p->overlaps.data, p->overlaps.len, sizeof(*p->overlaps.data), greatest_first);
}

static void open_slot(struct fth_placing *p, struct fth_draft *draft, const struct fth_board *b,
		      const struct fth_view *v, const struct fth_packing *packing, uint32_t bin, uint32_t instance)
{
	uint32_t slot = fth_draft_add_slot(draft, b, v, instance, packing->bins.data[bin].offer);
	fth_vec_reserve(&p->bin_of, slot + 1);
	p->bin_of.data[slot] = bin;
	p->left.data[bin]--;
}

/* Tasks of the matched instance that the bin wants stay; the others look for another place. */
static void keep_common(struct fth_placing *p, struct fth_draft *draft, const struct fth_board *b,
			const struct fth_view *v, const struct fth_packing *packing, uint32_t slot)
{
	const struct fth_packed *bin = &packing->bins.data[p->bin_of.data[slot]];
	uint32_t instance = draft->slots.data[slot].instance;
	each_item(p, packing, bin, g)
		p->count.data[g]++;
	for (uint32_t t = p->first.data[instance]; t != FTH_NONE; t = p->next.data[t]) {
		uint32_t g = b->tasks.data[t].group;
		if (p->count.data[g]) {
			p->count.data[g]--;
			fth_draft_add_task(draft, b, v, slot, t);
		}
	}
	each_item(p, packing, bin, g)
		p->count.data[g] = 0;
}

/* Fill the slot up: on a running machine waiting tasks first, they start at once there. */
static void fill_up(struct fth_placing *p, struct fth_draft *draft, const struct fth_board *b,
		    const struct fth_view *v, const struct fth_packing *packing, uint32_t slot)
{
	const struct fth_packed *bin = &packing->bins.data[p->bin_of.data[slot]];
	bool runs = draft->slots.data[slot].instance != FTH_NONE;
	for (uint32_t t = draft->slots.data[slot].first; t != FTH_NONE; t = draft->next.data[t])
		p->count.data[b->tasks.data[t].group]++;
	each_item(p, packing, bin, g) {
		if (p->count.data[g]) {
			p->count.data[g]--;
			continue;
		}
		uint32_t *from = runs && p->waiting.data[g] != FTH_NONE ? &p->waiting.data[g] : &p->running.data[g];
		if (*from == FTH_NONE)
			from = &p->waiting.data[g];
		uint32_t t = *from;
		*from = p->chain.data[t];
		fth_draft_add_task(draft, b, v, slot, t);
	}
}

void fth_place(struct fth_placing *p, struct fth_draft *draft, const struct fth_board *b, const struct fth_view *v,
	       const struct fth_packing *packing, const uint32_t *candidates, uint32_t n)
{
	uint32_t kept = (uint32_t)draft->slots.len;
	link_candidates(p, b, candidates, n);
	fth_vec_reserve(&p->left, packing->bins.len);
	for (size_t k = 0; k < packing->bins.len; k++)
		p->left.data[k] = packing->bins.data[k].repeat;
	find_overlaps(p, draft, b, packing);
	for (size_t k = 0; k < p->overlaps.len; k++) {
		const struct fth_overlap *o = &p->overlaps.data[k];
		if (p->left.data[o->bin] && draft->slot_at.data[o->instance] == FTH_NONE)
			open_slot(p, draft, b, v, packing, o->bin, o->instance);
	}
	for (uint32_t k = 0; k < packing->bins.len; k++)
		while (p->left.data[k])
			open_slot(p, draft, b, v, packing, k, FTH_NONE);
	for (uint32_t s = kept; s < draft->slots.len; s++)
		if (draft->slots.data[s].instance != FTH_NONE)
			keep_common(p, draft, b, v, packing, s);
	/* Running tasks that found no place where they are. */
	for (uint32_t i = n; i-- > 0;) {
		uint32_t t = candidates[i], g = b->tasks.data[t].group;
		if (b->tasks.data[t].at == FTH_NONE || draft->slot_of.data[t] != FTH_NONE)
			continue;
		p->chain.data[t] = p->running.data[g];
		p->running.data[g] = t;
	}
	for (uint32_t s = kept; s < draft->slots.len; s++)
		fill_up(p, draft, b, v, packing, s);
}
