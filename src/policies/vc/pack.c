/* SPDX-License-Identifier: Apache-2.0 */
/* Placing tasks on instances that are there. */
#include "policies/vc/vc.h"

/* Loose instances (not in the index) of a bin: the best by a rule, one by one. */
static uint32_t best_loose(struct vc *v, const struct vc_task *t, unsigned bin, bool nearest)
{
	const struct vc_index *x = &v->index;
	uint32_t best = FTH_NONE;
	fth_time least = 0;
	double most = 0;
	for (size_t k = 0; k < x->loose.len; k++) {
		uint32_t i = x->loose.data[k];
		const struct vc_inst *vi = &v->inst.data[i];
		if (vi->bin != bin || !vc_fits(v, t, i))
			continue;
		fth_time d = vi->remaining > t->remaining ? vi->remaining - t->remaining : t->remaining - vi->remaining;
		double free = 0;
		for (uint32_t r = 0; r < x->nres; r++)
			if (v->most.v[r] > 0)
				free += (double)vi->room.v[r] / (double)v->most.v[r];
		if (best == FTH_NONE || (nearest ? d < least : free > most)) {
			best = i;
			least = d;
			most = free;
		}
	}
	return best;
}

static fth_time distance(const struct vc_inst *i, const struct vc_task *t)
{
	return i->remaining > t->remaining ? i->remaining - t->remaining : t->remaining - i->remaining;
}

/* The instance of the task's own bin whose remaining runtime is closest to the task's. */
static uint32_t native(struct vc *v, const struct vc_task *t, unsigned bin)
{
	uint32_t a = vc_index_nearest(v, t, (uint32_t)v->bin_start[bin], (uint32_t)v->bin_start[bin + 1]);
	uint32_t b = v->index.loose.len ? best_loose(v, t, bin, true) : FTH_NONE;
	if (a == FTH_NONE || b == FTH_NONE)
		return a == FTH_NONE ? b : a;
	return distance(&v->inst.data[b], t) < distance(&v->inst.data[a], t) ? b : a;
}

/* The instance of another bin with the most available resources. */
static uint32_t most_free(struct vc *v, const struct vc_task *t, unsigned bin)
{
	static const double one = 1;
	double free_a = 0, free_b = 0;
	uint32_t a = vc_index_best(v, t, (uint32_t)v->bin_start[bin], (uint32_t)v->bin_start[bin + 1], &one, &free_a);
	uint32_t b = v->index.loose.len ? best_loose(v, t, bin, false) : FTH_NONE;
	if (a == FTH_NONE || b == FTH_NONE)
		return a == FTH_NONE ? b : a;
	for (uint32_t r = 0; r < v->index.nres; r++)
		if (v->most.v[r] > 0)
			free_b += (double)v->inst.data[b].room.v[r] / (double)v->most.v[r];
	return free_b > free_a ? b : a;
}

/* Up-packing: the native bin, then progressively greater ones; down-packing: progressively lesser ones. */
static uint32_t find_in_bins(struct vc *v, const struct vc_task *t)
{
	unsigned own = vc_bin(v, t->remaining);
	uint32_t found = native(v, t, own);
	for (unsigned bin = own + 1; found == FTH_NONE && v->cfg.up_pack && bin < FTH_COUNT(v->bin_start) - 1; bin++)
		found = most_free(v, t, bin);
	for (unsigned bin = own; found == FTH_NONE && v->cfg.down_pack && bin-- > 0;)
		found = most_free(v, t, bin);
	return found;
}

/* By dot product, or binpack: over all instances; those bought in this round are loose. */
static uint32_t find_best(struct vc *v, const struct vc_task *t)
{
	const struct fth_kind *k = &v->view->kinds[t->kind];
	double coef[FTH_RES_MAX] = {1}, best = 0;
	bool dot = v->cfg.pack == VC_PACK_DOT;
	for (uint32_t r = 0; dot && r < v->index.nres; r++)
		coef[r] = (double)k->alts[k->nalts - 1].demand.v[r];
	uint32_t found = vc_index_best(v, t, 0, UINT32_MAX, coef, &best);
	for (size_t n = 0; n < v->index.loose.len; n++) {
		uint32_t i = v->index.loose.data[n];
		const struct vc_inst *vi = &v->inst.data[i];
		if (!vc_fits(v, t, i))
			continue;
		double worth = dot ? 0 : -(double)vi->room.v[v->cfg.resource];
		const struct fth_res *by = v->cfg.own_capacity ? &v->view->catalog->types[vi->type].capacity : &v->most;
		for (uint32_t r = 0; dot && r < v->index.nres; r++)
			if (by->v[r] > 0)
				worth += coef[r] * ((double)vi->room.v[r] / ((double)by->v[r] * (double)by->v[r]));
		if (found == FTH_NONE || worth > best) {
			found = i;
			best = worth;
		}
	}
	return found;
}

uint32_t vc_find(struct vc *v, const struct vc_task *t)
{
	if (v->cfg.pack == VC_PACK_BINS)
		return find_in_bins(v, t);
	return v->cfg.pack == VC_PACK_NONE ? FTH_NONE : find_best(v, t);
}

void vc_put(struct vc *v, struct vc_task *t, uint32_t inst)
{
	struct vc_inst *i = &v->inst.data[inst];
	bool longer = t->remaining > i->remaining;
	fth_res_sub(&i->room, vc_demand(v, t->kind, i->type));
	i->ntasks++;
	i->settled = false;
	if (longer) { /* a longer task promotes the instance to its own bin */
		i->remaining = t->remaining;
		i->bin = (uint8_t)vc_bin(v, t->remaining);
	}
	t->at = inst;
	if (t->apart)
		fth_vec_push(&v->apart, ((struct vc_apart){inst, t->apart}));
	vc_index_touch(v, inst, longer);
}

void vc_take_off(struct vc *v, struct vc_task *t, const struct vc_inst *before)
{
	struct vc_inst *i = &v->inst.data[t->at];
	bool shorter = i->remaining != before->remaining;
	*i = *before;
	if (t->apart)
		v->apart.len--;
	vc_index_touch(v, t->at, shorter);
	t->at = FTH_NONE;
}

/* Room only shrinks while tasks are packed, but for what a promotion moves: a kind that found no place finds
 * none until then. */
static bool known_hopeless(const struct vc *v, const struct vc_task *t, const struct vc_task *failed)
{
	return failed && failed->kind == t->kind && failed->apart == t->apart && !t->apart &&
	       (v->cfg.pack != VC_PACK_BINS || (v->cfg.up_pack && v->cfg.down_pack));
}

void vc_pack(struct vc *v)
{
	const struct vc_task *failed = NULL;
	bool packs = v->cfg.pack != VC_PACK_NONE && v->tasks.len && v->inst.len;
	if (v->cfg.pack != VC_PACK_NONE)
		vc_index_build(v);
	for (uint32_t k = 0; k < v->tasks.len; k++) {
		struct vc_task *t = &v->tasks.data[k];
		uint32_t at = packs && !known_hopeless(v, t, failed) ? vc_find(v, t) : FTH_NONE;
		if (at != FTH_NONE) {
			vc_put(v, t, at);
		} else {
			failed = t;
			fth_vec_push(&v->left, k);
		}
	}
}
