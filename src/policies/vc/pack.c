/* SPDX-License-Identifier: Apache-2.0 */
/* Placing tasks on instances that are there. */
#include "policies/vc/vc.h"

static fth_time distance(const struct vc_inst *i, const struct vc_task *t)
{
	return i->remaining > t->remaining ? i->remaining - t->remaining : t->remaining - i->remaining;
}

/* The instance of the task's own bin whose remaining runtime is closest to the task's. */
static uint32_t native(struct vc *v, const struct vc_task *t, unsigned bin)
{
	uint32_t above = vc_index_first(v, t, t->remaining, vc_bin_start(v, bin + 1), false);
	uint32_t below = vc_index_first(v, t, vc_bin_start(v, bin), t->remaining, true);
	if (above == FTH_NONE || below == FTH_NONE)
		return above == FTH_NONE ? below : above;
	return distance(&v->inst.data[above], t) <= distance(&v->inst.data[below], t) ? above : below;
}

/* The instance of another bin with the most available resources. */
static uint32_t most_free(struct vc *v, const struct vc_task *t, unsigned bin)
{
	static const double one = 1;
	return vc_index_best(v, t, vc_bin_start(v, bin), vc_bin_start(v, bin + 1), &one);
}

/* Up-packing: the native bin, then progressively greater ones; down-packing: progressively lesser ones. */
static uint32_t find_in_bins(struct vc *v, const struct vc_task *t)
{
	unsigned own = vc_bin(v, t->remaining);
	uint32_t found = native(v, t, own);
	for (unsigned bin = own + 1; found == FTH_NONE && v->cfg.up_pack && bin < VC_BINS - 1; bin++)
		found = most_free(v, t, bin);
	for (unsigned bin = own; found == FTH_NONE && v->cfg.down_pack && bin-- > 0;)
		found = most_free(v, t, bin);
	return found;
}

/* By dot product over all instances. */
static uint32_t find_dot(struct vc *v, const struct vc_task *t)
{
	const struct fth_kind *k = &v->view->kinds[t->kind];
	double coef[FTH_RES_MAX];
	for (uint32_t r = 0; r < FTH_RES_MAX; r++)
		coef[r] = (double)k->alts[k->nalts - 1].demand.v[r];
	return vc_index_best(v, t, INT64_MIN, INT64_MAX, coef);
}

uint32_t vc_find(struct vc *v, const struct vc_task *t)
{
	switch (v->cfg.pack) {
	case VC_PACK_BINS:
		return find_in_bins(v, t);
	case VC_PACK_DOT:
		return find_dot(v, t);
	case VC_PACK_LEAST: /* their order is that of what is free */
		return vc_index_first(v, t, 0, INT64_MAX, false);
	case VC_PACK_NONE:
		break;
	}
	return FTH_NONE;
}

void vc_put(struct vc *v, struct vc_task *t, uint32_t inst)
{
	struct vc_inst *i = &v->inst.data[inst];
	fth_res_sub(&i->room, vc_demand(v, t->kind, i->type));
	i->ntasks++;
	i->settled = false;
	i->planned = true;
	i->remaining = FTH_MAX(i->remaining, t->remaining); /* a longer task promotes the instance to its own bin */
	t->at = inst;
	if (t->apart)
		fth_vec_push(&v->apart, ((struct vc_apart){inst, t->apart}));
	vc_index_touch(v, inst);
}

void vc_take_off(struct vc *v, struct vc_task *t, const struct vc_inst *before)
{
	v->inst.data[t->at] = *before;
	if (t->apart)
		v->apart.len--;
	vc_index_touch(v, t->at);
	t->at = FTH_NONE;
}

/* Room only shrinks while tasks are packed: a kind that found no place finds none in this round. Where only some
 * bins are looked at, that depends on the runtime too. */
static bool is_hopeless(const struct vc *v, const struct vc_task *t)
{
	return t->kind < v->hopeless.len && v->hopeless.data[t->kind] == v->rounds && !t->apart;
}

static void give_up(struct vc *v, const struct vc_task *t)
{
	if (t->apart || t->from != FTH_NONE || (v->cfg.pack == VC_PACK_BINS && !(v->cfg.up_pack && v->cfg.down_pack)))
		return;
	while (v->hopeless.len <= t->kind)
		fth_vec_push(&v->hopeless, 0);
	v->hopeless.data[t->kind] = v->rounds;
}

void vc_pack(struct vc *v)
{
	bool packs = v->cfg.pack != VC_PACK_NONE && v->tasks.len && v->inst.len;
	for (uint32_t k = 0; k < v->tasks.len; k++) {
		struct vc_task *t = &v->tasks.data[k];
		uint32_t at = packs && !is_hopeless(v, t) ? vc_find(v, t) : FTH_NONE;
		if (at != FTH_NONE) {
			vc_put(v, t, at);
		} else {
			give_up(v, t);
			fth_vec_push(&v->left, k);
		}
	}
}
