/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wherever the program takes the first of the best over all tasks, tasks of one group are equally
 * good but for being on the instance already: it is enough to look at the first of a group, and at the
 * first of it that is there. Ties between groups go to the task that comes first in the list.
 */
#include "policies/yardsticks/eva_artifact/search.h"

static const double slack = 1e-6; /* bounds are exact but for rounding far below this */

void fth_search_release(struct search *s)
{
	fth_vec_release(&s->list);
	fth_vec_release(&s->position);
	fth_vec_release(&s->order);
	fth_vec_release(&s->groups);
	fth_vec_release(&s->start);
	fth_vec_release(&s->place);
	fth_vec_release(&s->taken);
	fth_vec_release(&s->fits);
	fth_vec_release(&s->open);
	fth_vec_release(&s->touched);
	fth_vec_release(&s->pool);
	fth_vec_release(&s->chosen);
	fth_vec_release(&s->row);
	fth_party_release(&s->party);
	fth_close_release(&s->close);
}

static enum fth_multi outside(const struct search *s)
{
	return s->multi_everywhere ? FTH_MULTI_CLAMPED : FTH_MULTI_PLAIN;
}

static struct fth_member member_of(const struct search *s, uint32_t task)
{
	const struct fth_board_group *g = &s->board->groups.data[s->board->tasks.data[task].group];
	return (struct fth_member){g->key, g->job_tasks, g->rp};
}

static void join_party(struct search *s, uint32_t task)
{
	struct fth_member m = member_of(s, task);
	fth_party_add(&s->party, s->tnrp, &m);
}

static void party_of_slot(struct search *s, const struct fth_draft *l, const struct fth_draft_slot *slot)
{
	fth_party_clear(&s->party);
	for (uint32_t t = slot->first; t != FTH_NONE; t = l->next.data[t])
		join_party(s, t);
}

double fth_search_worth(struct search *s, struct fth_draft *layout)
{
	double sum = 0;
	for (size_t i = 0; i < layout->slots.len; i++) {
		party_of_slot(s, layout, &layout->slots.data[i]);
		layout->slots.data[i].worth = fth_tnrp_of(s->tnrp, &s->party, outside(s));
		sum += layout->slots.data[i].worth;
	}
	return sum;
}

/* ---- candidates ---- */

static int dearest_first(const void *a, const void *b)
{
	const struct candidates *x = a, *y = b;
	if (x->member.rp != y->member.rp)
		return x->member.rp > y->member.rp ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* Sort the list into groups. */
static void group_up(struct search *s)
{
	const struct fth_board *b = s->board;
	fth_vec_reserve(&s->position, b->tasks.len);
	fth_vec_reserve(&s->taken, b->tasks.len);
	fth_vec_reserve(&s->order, s->list.len);
	fth_vec_reserve(&s->start, b->groups.len + 1);
	memset(s->start.data, 0, (b->groups.len + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < s->list.len; i++)
		s->start.data[b->tasks.data[s->list.data[i]].group + 1]++;
	fth_vec_clear(&s->groups);
	fth_vec_clear(&s->touched);
	for (uint32_t g = 0; g < b->groups.len; g++) {
		uint32_t first = s->start.data[g], n = s->start.data[g + 1];
		s->start.data[g + 1] += first;
		const struct fth_board_group *bg = &b->groups.data[g];
		struct candidates c = {.group = g, .member = {bg->key, bg->job_tasks, bg->rp}, .first = first, .n = n,
				       .left = n, .there = FTH_NONE};
		if (n)
			fth_vec_push(&s->groups, c);
	}
	for (uint32_t i = 0; i < s->list.len; i++) {
		uint32_t t = s->list.data[i];
		s->position.data[t] = i;
		s->taken.data[t] = false;
		s->order.data[s->start.data[b->tasks.data[t].group]++] = t;
	}
	qsort(s->groups.data, s->groups.len, sizeof(*s->groups.data), dearest_first);
	fth_vec_reserve(&s->place, b->groups.len);
	for (uint32_t i = 0; i < s->groups.len; i++) {
		struct candidates *c = &s->groups.data[i];
		c->head = s->order.data[c->first];
		s->place.data[c->group] = i;
	}
}

static struct candidates *group_of(struct search *s, uint32_t task)
{
	return &s->groups.data[s->place.data[s->board->tasks.data[task].group]];
}

static void take(struct search *s, struct candidates *c, uint32_t task)
{
	s->taken.data[task] = true;
	c->left--;
	if (task != c->head)
		return;
	uint32_t i = c->first;
	while (i < c->first + c->n && s->taken.data[s->order.data[i]])
		i++;
	/* Everything before i is taken for good: the slice shrinks from the front. */
	c->n -= i - c->first;
	c->first = i;
	c->head = c->n ? s->order.data[i] : FTH_NONE;
}

/* Which groups have a free candidate on this instance: the first of each. */
static void find_there(struct search *s, uint32_t instance)
{
	for (size_t i = 0; i < s->touched.len; i++)
		s->groups.data[s->touched.data[i]].there = FTH_NONE;
	fth_vec_clear(&s->touched);
	if (instance == FTH_NONE)
		return;
	for (uint32_t t = s->committed_first[instance]; t != FTH_NONE; t = s->committed_next[t]) {
		if (s->board->tasks.data[t].pinned || s->position.data[t] == FTH_NONE || s->taken.data[t])
			continue;
		struct candidates *c = group_of(s, t);
		if (c->there == FTH_NONE)
			fth_vec_push(&s->touched, (uint32_t)(c - s->groups.data));
		if (c->there == FTH_NONE || s->position.data[t] < s->position.data[c->there])
			c->there = t;
	}
}

static bool is_better(const struct search *s, const struct score *x, const struct score *best)
{
	if (x->tnrp != best->tnrp)
		return x->tnrp > best->tnrp;
	if (x->there != best->there)
		return x->there;
	if (x->align != best->align)
		return x->align > best->align;
	return best->task != FTH_NONE && s->position.data[x->task] < s->position.data[best->task];
}

/* ---- packing onto instances that stay ---- */

/* The next task of each group in one slot. A group that does not fit has a negative worth. */
static void score_slot(struct search *s, uint32_t at)
{
	const struct fth_draft_slot *slot = &s->layout->slots.data[at];
	const struct fth_catalog *c = s->view->catalog;
	fth_type_id type = c->offers[slot->offer].type;
	bool ready = false;
	for (size_t i = 0; i < s->groups.len; i++) {
		struct candidates *g = &s->groups.data[i];
		struct score *x = &s->row.data[at * s->groups.len + i];
		*x = (struct score){-1, -1, false, FTH_NONE};
		const struct fth_res *d = g->left ? s->board->groups.data[g->group].demand[type] : NULL;
		if (!d || !fth_fits(d, &slot->room, c->nres))
			continue;
		if (!ready)
			party_of_slot(s, s->layout, slot);
		ready = true;
		x->tnrp = fth_tnrp_with(s->tnrp, &s->party, &g->member, outside(s));
		x->align = fth_alignment(d, &slot->room, &c->types[type].capacity, c->nres);
	}
}

static struct close_term slot_term(struct search *s, uint32_t slot, uint32_t group)
{
	party_of_slot(s, s->layout, &s->layout->slots.data[slot]);
	return fth_close_set(&s->close, &s->party, &s->groups.data[group].member);
}

static void note_slots(struct search *s, uint32_t slot, uint32_t group, uint32_t best_slot, uint32_t best_group,
		       double gap)
{
	struct close_term a = slot_term(s, slot, group), b = slot_term(s, best_slot, best_group);
	fth_close_note(&s->close, a, b, outside(s), gap);
}

/* The best of one slot's row. Who goes first of a group may have changed since it was scored. */
static void best_of_row(struct search *s, uint32_t at, struct score *best, uint32_t *ret_group, uint32_t *ret_slot)
{
	bool looked = false;
	for (size_t i = 0; i < s->groups.len; i++) {
		struct score x = s->row.data[at * s->groups.len + i];
		struct candidates *g = &s->groups.data[i];
		if (x.tnrp < 0 || !g->left)
			continue;
		if (fth_is_close(x.tnrp, best->tnrp))
			note_slots(s, at, (uint32_t)i, *ret_slot, *ret_group, x.tnrp - best->tnrp);
		if (x.tnrp < best->tnrp)
			continue;
		if (!looked)
			find_there(s, s->layout->slots.data[at].instance);
		looked = true;
		x.there = g->there != FTH_NONE;
		x.task = x.there ? g->there : g->head;
		if (is_better(s, &x, best)) {
			*best = x;
			*ret_group = (uint32_t)i;
			*ret_slot = at;
		}
	}
}

/* Candidates onto the slots there are, best first, for as long as any fits anywhere. */
static void pack_onto_slots(struct search *s)
{
	uint32_t nslots = (uint32_t)s->layout->slots.len;
	if (!nslots || !s->groups.len)
		return;
	fth_vec_reserve(&s->row, nslots * s->groups.len);
	for (uint32_t i = 0; i < nslots; i++)
		score_slot(s, i);
	for (;;) {
		struct score best = {-1, -1, false, FTH_NONE};
		uint32_t group = FTH_NONE, slot = FTH_NONE;
		for (uint32_t i = 0; i < nslots; i++)
			best_of_row(s, i, &best, &group, &slot);
		if (slot == FTH_NONE)
			return;
		take(s, &s->groups.data[group], best.task);
		fth_draft_add_task(s->layout, s->board, s->view, slot, best.task);
		score_slot(s, slot);
	}
}

/* ---- Algorithm 1 ---- */

/* The groups that fit the type alone, and what their tasks are worth in all. */
static double list_fitting(struct search *s, fth_type_id type)
{
	double worth = 0;
	fth_vec_clear(&s->fits);
	for (uint32_t i = 0; i < s->groups.len; i++) {
		struct candidates *g = &s->groups.data[i];
		if (!g->left)
			continue;
		g->demand = s->board->groups.data[g->group].demand[type];
		if (!g->demand)
			continue;
		fth_vec_push(&s->fits, i);
		worth += g->member.rp * g->left;
	}
	return worth;
}

static void list_pool(struct search *s, fth_offer_id offer)
{
	fth_vec_clear(&s->pool);
	for (uint32_t i = 0; i < s->board->instances.len; i++) {
		const struct fth_board_instance *bi = &s->board->instances.data[i];
		if (bi->offer == offer && bi->ready && s->layout->slot_at.data[i] == FTH_NONE)
			fth_vec_push(&s->pool, i);
	}
}

/* The free running instance with the most tasks. */
static uint32_t fullest(const struct search *s)
{
	uint32_t best = FTH_NONE;
	for (size_t i = 0; i < s->pool.len; i++)
		if (best == FTH_NONE || s->board->instances.data[s->pool.data[i]].committed >
						s->board->instances.data[best].committed)
			best = s->pool.data[i];
	return best;
}

static void leave_pool(struct search *s, uint32_t instance)
{
	size_t i = 0;
	while (s->pool.data[i] != instance)
		i++;
	memmove(&s->pool.data[i], &s->pool.data[i + 1], (s->pool.len - i - 1) * sizeof(uint32_t));
	s->pool.len--;
}

/* Two tasks that would bring nearly the same. Alone at full speed they are worth what they are. */
static void note_tie(struct search *s, const struct fth_member *x, const struct fth_member *best, double worth_x,
		     double worth_best)
{
	if (!s->party.list.len && worth_x == x->rp && worth_best == best->rp)
		return;
	struct close_term a = fth_close_set(&s->close, &s->party, x), b = fth_close_set(&s->close, &s->party, best);
	fth_close_note(&s->close, a, b, FTH_MULTI_CLAMPED, worth_x - worth_best);
}

/* The party is worth nearly this price. */
static void note_price(struct search *s, double worth, double price, enum fth_multi multi)
{
	if (s->party.list.len == 1 && worth == s->party.list.data[0].rp)
		return;
	fth_close_note(&s->close, fth_close_set(&s->close, &s->party, NULL), fth_close_price(price), multi, worth - price);
}

/* The best next task for the filling; its group, or FTH_NONE. What does not fit now never will: it is
 * struck off. */
static uint32_t next_task(struct search *s, const struct fth_res *room, const struct fth_res *capacity,
			  struct score *best)
{
	uint32_t group = FTH_NONE, nres = s->view->catalog->nres;
	size_t i = 0, kept = 0;
	*best = (struct score){-1, -1, false, FTH_NONE};
	for (; i < s->open.len; i++) {
		const struct candidates *g = &s->groups.data[s->open.data[i]];
		if (s->party.worth + g->member.rp < best->tnrp - slack)
			break; /* the groups that follow are worth less */
		if (!g->left || !fth_fits(g->demand, room, nres))
			continue;
		s->open.data[kept++] = s->open.data[i];
		struct score x = {.there = g->there != FTH_NONE};
		x.tnrp = fth_tnrp_with(s->tnrp, &s->party, &g->member, FTH_MULTI_CLAMPED);
		if (fth_is_close(x.tnrp, best->tnrp))
			note_tie(s, &g->member, &s->groups.data[group].member, x.tnrp, best->tnrp);
		if (x.tnrp < best->tnrp)
			continue;
		x.align = fth_alignment(g->demand, room, capacity, nres);
		x.task = x.there ? g->there : g->head;
		if (is_better(s, &x, best)) {
			*best = x;
			group = s->open.data[kept - 1];
		}
	}
	for (; i < s->open.len; i++)
		s->open.data[kept++] = s->open.data[i];
	s->open.len = kept;
	return group;
}

/* Fill one instance of the type (on `instance`, if that runs already). Returns what the filling is worth. */
static double fill(struct search *s, uint32_t instance, const struct fth_res *capacity)
{
	struct fth_res room = *capacity;
	double worth = 0;
	fth_vec_clear(&s->chosen);
	fth_party_clear(&s->party);
	fth_vec_reserve(&s->open, s->fits.len);
	if (s->fits.len)
		memcpy(s->open.data, s->fits.data, s->fits.len * sizeof(*s->fits.data));
	s->open.len = s->fits.len;
	for (;;) {
		struct score best;
		find_there(s, instance);
		uint32_t g = next_task(s, &room, capacity, &best);
		if (g == FTH_NONE)
			return worth;
		if (s->chosen.len && fth_is_close(best.tnrp, worth)) {
			struct close_term a = fth_close_set(&s->close, &s->party, &s->groups.data[g].member);
			fth_close_note(&s->close, a, fth_close_set(&s->close, &s->party, NULL), FTH_MULTI_CLAMPED,
				       best.tnrp - worth);
		}
		if (best.tnrp < worth)
			return worth;
		worth = best.tnrp;
		take(s, &s->groups.data[g], best.task);
		fth_res_sub(&room, s->groups.data[g].demand);
		fth_vec_push(&s->chosen, best.task);
		join_party(s, best.task);
	}
}

/* Put the tasks of a filling that is not bought back among the candidates. */
static void give_back(struct search *s)
{
	for (size_t k = 0; k < s->chosen.len; k++)
		s->taken.data[s->chosen.data[k]] = false;
	for (size_t k = 0; k < s->chosen.len; k++) {
		uint32_t t = s->chosen.data[k];
		struct candidates *c = group_of(s, t);
		c->left++;
		while (c->head == FTH_NONE || s->position.data[t] < s->position.data[c->head]) {
			c->head = s->order.data[--c->first];
			c->n++;
		}
	}
}

/* The cheapest offer that holds the filling: all of it must be able to run there. */
static fth_offer_id downsize(const struct search *s, fth_offer_id from)
{
	const struct fth_catalog *c = s->view->catalog;
	for (size_t i = s->prices->offers.len; i-- > 0;) {
		size_t first = i; /* of equally dear ones, the lowest id */
		while (first && c->offers[s->prices->offers.data[first - 1]].price ==
					c->offers[s->prices->offers.data[i]].price)
			first--;
		for (size_t k = first; k <= i; k++) {
			fth_offer_id o = s->prices->offers.data[k];
			struct fth_res sum = {0};
			bool runs = true;
			for (size_t j = 0; j < s->chosen.len && runs; j++) {
				uint32_t g = s->board->tasks.data[s->chosen.data[j]].group;
				const struct fth_res *d = s->board->groups.data[g].demand[c->offers[o].type];
				runs = d != NULL;
				if (d)
					fth_res_add(&sum, d);
			}
			if (runs && fth_res_fits(&sum, &c->types[c->offers[o].type].capacity))
				return o;
		}
		i = first;
	}
	return from;
}

static void buy(struct search *s, uint32_t instance, fth_offer_id offer)
{
	fth_offer_id final = downsize(s, offer);
	if (final != offer)
		instance = FTH_NONE;
	if (instance != FTH_NONE)
		leave_pool(s, instance);
	uint32_t slot = fth_draft_add_slot(s->layout, s->board, s->view, instance, final);
	for (size_t i = 0; i < s->chosen.len; i++)
		fth_draft_add_task(s->layout, s->board, s->view, slot, s->chosen.data[i]);
}

/* Each remaining task whose reservation offer this is, in list order, on an instance of its own. */
static void place_leftovers(struct search *s, fth_offer_id offer)
{
	for (;;) {
		struct candidates *first = NULL;
		for (size_t i = 0; i < s->groups.len; i++) {
			struct candidates *g = &s->groups.data[i];
			if (g->left && s->board->groups.data[g->group].offer == offer &&
			    (!first || s->position.data[g->head] < s->position.data[first->head]))
				first = g;
		}
		if (!first)
			return;
		uint32_t task = first->head, instance = fullest(s);
		if (instance != FTH_NONE)
			leave_pool(s, instance);
		take(s, first, task);
		uint32_t slot = fth_draft_add_slot(s->layout, s->board, s->view, instance, offer);
		fth_draft_add_task(s->layout, s->board, s->view, slot, task);
	}
}

static void provision_offer(struct search *s, fth_offer_id offer)
{
	const struct fth_offer *o = &s->view->catalog->offers[offer];
	const struct fth_instance_type *type = &s->view->catalog->types[o->type];
	double price = fth_usd(o->price);
	/* If all that fits is not worth one instance, no filling is; and no task has its reservation
	 * price here, since it alone would be worth it. */
	if (list_fitting(s, o->type) < price - slack)
		return;
	list_pool(s, offer);
	for (;;) {
		uint32_t instance = fullest(s);
		double worth = fill(s, instance, &type->capacity);
		bool own = s->chosen.len == 1 &&
			   s->board->groups.data[s->board->tasks.data[s->chosen.data[0]].group].offer == offer;
		if (fth_is_close(worth, price))
			note_price(s, worth, price, FTH_MULTI_CLAMPED);
		if (!s->chosen.len || (worth < price && !own))
			break;
		buy(s, instance, offer);
	}
	give_back(s);
	place_leftovers(s, offer);
}

static void provision(struct search *s)
{
	for (size_t i = 0; i < s->prices->offers.len; i++)
		provision_offer(s, s->prices->offers.data[i]);
}

/* ---- the two searches ---- */

/* Instances without pinned tasks that are worth less than they cost give up their tasks. */
static void give_up_dear_instances(struct search *s)
{
	for (uint32_t i = 0; i < s->board->instances.len; i++) {
		const struct fth_board_instance *bi = &s->board->instances.data[i];
		uint32_t first = s->committed_first[i];
		if (s->layout->slot_at.data[i] != FTH_NONE || first == FTH_NONE)
			continue;
		fth_party_clear(&s->party);
		for (uint32_t t = first; t != FTH_NONE; t = s->committed_next[t])
			join_party(s, t);
		bool own = s->party.list.len == 1 &&
			   s->board->groups.data[s->board->tasks.data[first].group].offer == bi->offer;
		double worth = fth_tnrp_of(s->tnrp, &s->party, outside(s));
		if (fth_is_close(worth, bi->price))
			note_price(s, worth, bi->price, outside(s));
		if (own || !(worth < bi->price))
			continue;
		for (uint32_t t = first; t != FTH_NONE; t = s->committed_next[t]) {
			s->position.data[t] = 0; /* marks it a candidate until it gets its real place */
			fth_vec_push(&s->list, t);
		}
	}
}

void fth_search_partial(struct search *s, struct fth_draft *layout)
{
	const struct fth_board *b = s->board;
	s->layout = layout;
	fth_vec_clear(&s->list);
	fth_vec_reserve(&s->position, b->tasks.len);
	for (uint32_t t = 0; t < b->tasks.len; t++) {
		bool waits = !b->tasks.data[t].pinned && b->tasks.data[t].at == FTH_NONE;
		s->position.data[t] = waits ? 0 : FTH_NONE;
		if (waits)
			fth_vec_push(&s->list, t);
	}
	give_up_dear_instances(s);
	for (uint32_t t = 0; t < b->tasks.len; t++)
		if (!b->tasks.data[t].pinned && s->position.data[t] == FTH_NONE)
			fth_draft_keep(layout, b, s->view, t);
	if (!s->list.len)
		return;
	group_up(s);
	pack_onto_slots(s);
	provision(s);
}

void fth_search_full(struct search *s, struct fth_draft *layout)
{
	s->layout = layout;
	fth_vec_clear(&s->list);
	for (uint32_t t = 0; t < s->board->tasks.len; t++)
		if (!s->board->tasks.data[t].pinned)
			fth_vec_push(&s->list, t);
	group_up(s);
	pack_onto_slots(s);
	provision(s);
}
