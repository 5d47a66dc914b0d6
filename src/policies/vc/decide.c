/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/vc/vc.h"

#include "predict/runtime.h"

int vc_new(void **self, const struct vc_config *cfg)
{
	struct vc *v = fth_alloc(sizeof(*v));
	v->cfg = *cfg;
	if (cfg->history)
		v->predictor = fth_predictor_new();
	*self = v;
	return 0;
}

void vc_free(void *self)
{
	struct vc *v = self;
	fth_predictor_free(v->predictor);
	fth_vec_release(&v->predicted);
	fth_vec_release(&v->doubled);
	fth_vec_release(&v->fleeing);
	fth_map_release(&v->is_fleeing);
	fth_vec_release(&v->hopeless);
	fth_vec_release(&v->moves);
	fth_map_release(&v->arriving);
	fth_vec_release(&v->buys);
	fth_vec_release(&v->pool_bought);
	fth_vec_release(&v->inst);
	fth_vec_release(&v->inst_of);
	fth_vec_release(&v->tasks);
	fth_vec_release(&v->left);
	fth_vec_release(&v->list);
	fth_vec_release(&v->group);
	fth_vec_release(&v->sums);
	fth_vec_release(&v->runs);
	fth_vec_release(&v->run_least);
	fth_vec_release(&v->moving);
	fth_vec_release(&v->before);
	fth_vec_release(&v->kinds);
	fth_vec_release(&v->apart);
	vc_index_release(&v->index);
	free(v);
}

fth_time vc_period(void *self)
{
	return ((struct vc *)self)->cfg.round;
}

static void carry_out(struct vc *v, struct fth_plan *plan)
{
	for (size_t k = 0; k < v->tasks.len; k++) {
		const struct vc_task *t = &v->tasks.data[k];
		if (t->at == FTH_NONE)
			continue;
		const struct vc_inst *i = &v->inst.data[t->at];
		struct fth_reason why = {i->slot == FTH_NONE ? "bought for it at $0/h" : "fits on an instance of $0/h that is there",
					 {v->view->catalog->offers[i->offer].price, 0, 0}};
		if (t->from == FTH_NONE)
			fth_plan_place(plan, t->id, i->id, why);
		else
			fth_plan_migrate(plan, t->id, i->id, (struct fth_reason){"its instance is about to be taken", {0}});
	}
}

/* They go by themselves when they become empty; this is for those whose tasks never came. */
static void let_go(struct vc *v, struct fth_plan *plan)
{
	for (size_t k = 0; k < v->inst.len; k++) {
		const struct vc_inst *i = &v->inst.data[k];
		if (i->slot == FTH_NONE || i->ntasks || i->reserved)
			continue;
		fth_plan_terminate(plan, i->id,
				   (struct fth_reason){"empty, at $0/h", {v->view->catalog->offers[i->offer].price, 0, 0}});
	}
}

int vc_decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct vc *v = self;
	v->cleared = v->to_new = v->moved = 0;
	vc_look(v, round);
	vc_go_on(v, plan);
	vc_pack(v);
	vc_scale_out(v, plan);
	carry_out(v, plan);
	if (v->cfg.clear)
		vc_clear(v, plan);
	if (v->cfg.price_moves && v->price_changed)
		vc_price_moves(v, plan);
	let_go(v, plan);
	if (v->cfg.clear && v->watching)
		fth_plan_wake(plan, v->now + v->cfg.round);
	if (v->cleared || v->moved) {
		fth_plan_note(plan, "cleared", (double)v->cleared);
		fth_plan_note(plan, "cleared_to_new", (double)v->to_new);
		fth_plan_note(plan, "moved_for_price", (double)v->moved);
	}
	return 0;
}
