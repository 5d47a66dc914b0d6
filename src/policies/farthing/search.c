/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pools are looked at. Tasks that wait join a machine that gains by it, or are laid on new machines together. Then
 * each machine that has changed is re-partitioned alone, with each other machine, and with pairs of the most
 * wasteful ones, always with those that wait; the best of these changes is made, and the machines it touched have
 * changed in turn. Nothing is done that does not pay for itself.
 */
#include "policies/farthing/own.h"

/* Steps of work in one round, about 5 ns each. */
static const uint64_t MOST_STEPS = 8000000;

/* Tasks in a pool: in larger clusters there are more pools to choose from, and each is smaller. */
static uint32_t pool_size(const struct own *o)
{
	uint32_t most = o->machines.len <= 40 ? OWN_ITEMS : o->machines.len <= 120 ? 9 : 8;
	return FTH_MIN(most, (uint32_t)o->params->pool);
}

/* Dollars: less is rounding. */
static const double LEAST_GAIN = 1e-6;

static bool out_of_time(const struct own *o)
{
	return own_work_steps(o->work) - o->steps_before + o->spent > MOST_STEPS;
}

/* ---- pools ---- */

static void pool_clear(struct own *o)
{
	o->pool.nitems = o->pool.nbins = 0;
	o->npooled = 0;
	fth_vec_clear(&o->members);
}

static bool is_fixed(const struct own *o, const struct own_task *t)
{
	return t->pinned || (!o->moves_left && t->at != FTH_NONE && t->at == t->to);
}

/* Beside a pool's items: counts with those of its class. False: they are of too many. */
static bool add_fixed(struct own_bin *b, const struct own_item *i)
{
	uint32_t k = 0;
	while (k < b->nfixed && (b->fixed[k].klass != i->klass || b->fixed[k].alt != i->alt || b->fixed[k].pace != i->pace ||
				 b->fixed[k].apart != i->apart))
		k++;
	b->occupied = true;
	b->hours = FTH_MAX(b->hours, i->hours);
	if (k == OWN_FIXED)
		return false;
	if (k == b->nfixed) {
		b->fixed[b->nfixed++] = *i;
		return true;
	}
	b->fixed[k].count++;
	b->fixed[k].value += i->value;
	b->fixed[k].drag += i->drag;
	return true;
}

static bool add_item(struct own *o, uint32_t task, uint32_t home, uint32_t most)
{
	struct own_pool *p = &o->pool;
	if (p->nitems == most)
		return false;
	p->item[p->nitems] = o->tasks.data[task].item;
	p->item[p->nitems].home = home;
	fth_vec_push(&o->members, ((struct own_membership){task, p->nitems}));
	p->nitems++;
	return true;
}

/* One more of the same kind on the same machine goes with it. */
static bool join_item(struct own *o, uint32_t task, uint32_t home, uint32_t most)
{
	const struct own_task *t = &o->tasks.data[task];
	for (size_t k = o->members.len; k-- > 0 && most > 1;) {
		const struct own_task *x = &o->tasks.data[o->members.data[k].task];
		uint32_t n = o->members.data[k].item;
		struct own_item *i = &o->pool.item[n];
		if (x->to != t->to || x->kind != t->kind || i->home != home || i->apart || t->item.apart || i->count >= most ||
		    x->may_wait != t->may_wait)
			continue;
		i->count++;
		i->value += t->item.value;
		i->drag += t->item.drag;
		i->hours = FTH_MAX(i->hours, t->item.hours);
		i->hourly += t->item.hourly;
		i->move += t->item.move;
		i->loss += t->item.loss;
		fth_vec_push(&o->members, ((struct own_membership){task, n}));
		return true;
	}
	return false;
}

/* With its tasks, up to so many of a kind as one. False: they are too many. */
static bool add_machine(struct own *o, uint32_t machine, uint32_t block)
{
	const struct own_machine *m = &o->machines.data[machine];
	struct own_pool *p = &o->pool;
	uint32_t bin = m->id == FTH_NONE ? FTH_NONE : p->nbins;
	if (bin != FTH_NONE) {
		p->bin[bin].as = m->as;
		p->bin[bin].room = o->view->catalog->types[m->as.type].capacity;
		p->bin[bin].occupied = false;
		p->bin[bin].nfixed = 0;
		p->bin[bin].hours = p->bin[bin].linger = 0;
		o->bin_machine[p->nbins++] = machine;
	}
	o->pooled[o->npooled++] = machine;
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next) {
		const struct own_task *x = &o->tasks.data[t];
		if (is_fixed(o, x)) {
			const struct fth_res *d = own_demand(o, t, m->as.type);
			if (bin == FTH_NONE || !d)
				return false;
			fth_res_sub(&p->bin[bin].room, d);
			if (!add_fixed(&p->bin[bin], &x->item))
				return false;
			continue;
		}
		uint32_t home = x->at == machine ? bin : FTH_NONE;
		if (home != FTH_NONE)
			p->bin[bin].linger = FTH_MAX(p->bin[bin].linger, x->item.linger);
		if (join_item(o, t, home, block))
			continue;
		if (!add_item(o, t, home, pool_size(o)))
			return false;
	}
	return true;
}

static bool fill_pool(struct own *o, const uint32_t *machines, uint32_t n, uint32_t block)
{
	pool_clear(o);
	for (uint32_t k = 0; k < n; k++)
		if (!add_machine(o, machines[k], block))
			return false;
	for (size_t k = 0; k < o->waiting.len; k++)
		if (o->tasks.data[o->waiting.data[k]].to == FTH_NONE &&
		    !add_item(o, o->waiting.data[k], FTH_NONE, pool_size(o)))
			break;
	for (size_t k = 0; k < o->members.len; k++)
		for (uint32_t b = 0; b < o->pool.nbins; b++)
			if (own_is_barred(o, o->members.data[k].task, o->bin_machine[b]))
				o->pool.item[o->members.data[k].item].barred |= 1u << b;
	return o->pool.nitems > 0;
}

/* What the pool costs as it is planned now, and which items are together. */
static double cost_now(const struct own *o, uint32_t *blocks, uint32_t *nblocks)
{
	uint32_t bin[OWN_BINS] = {0}, fresh[OWN_BINS] = {0};
	double sum = 0;
	*nblocks = 0;
	for (size_t k = 0; k < o->members.len; k++) {
		const struct own_membership *m = &o->members.data[k];
		uint32_t to = o->tasks.data[m->task].to;
		if (to == FTH_NONE) {
			sum += o->pool.item[m->item].queue;
			blocks[(*nblocks)++] = 1u << m->item;
			continue;
		}
		for (uint32_t b = 0; b < o->pool.nbins; b++)
			bin[b] |= o->bin_machine[b] == to ? 1u << m->item : 0;
		for (uint32_t i = 0; i < o->npooled; i++)
			fresh[i] |= o->pooled[i] == to && o->machines.data[to].id == FTH_NONE ? 1u << m->item : 0;
	}
	for (uint32_t b = 0; b < o->pool.nbins; b++) {
		sum += own_cost_on_bin(o->work, b, bin[b]);
		blocks[(*nblocks)++] = bin[b];
	}
	for (uint32_t i = 0; i < o->npooled; i++) {
		sum += fresh[i] ? own_cost_on_new(o->work, fresh[i]) : 0;
		blocks[(*nblocks)++] = fresh[i];
	}
	return sum;
}

static uint32_t moves_of(const struct own *o, const struct own_split *s)
{
	uint32_t n = 0;
	for (size_t k = 0; k < o->members.len; k++) {
		const struct own_membership *m = &o->members.data[k];
		const struct own_task *t = &o->tasks.data[m->task];
		uint32_t home = o->pool.item[m->item].home;
		n += t->at != FTH_NONE && !t->doomed && (home == FTH_NONE ? t->to == t->at : !(s->bin[home] >> m->item & 1));
	}
	return n;
}

/* What the best split of these machines and those that wait saves; 0 if nothing. */
static double look_at(struct own *o, const uint32_t *machines, uint32_t n, struct own_split *best)
{
	uint32_t block = 1, tasks = 0;
	for (uint32_t k = 0; k < n; k++)
		tasks += o->machines.data[machines[k]].n;
	while (block < tasks && tasks / block > pool_size(o))
		block *= 2;
	while (!fill_pool(o, machines, n, block))
		if ((block *= 2) > 2 * tasks)
			return 0;
	o->tried++;
	own_price_pool(o->work, &o->pool, &o->speeds, o->view->catalog, o->buys.data, o->buys.len);
	uint32_t blocks[OWN_ITEMS + 2 * OWN_BINS], nblocks;
	double now = cost_now(o, blocks, &nblocks);
	double bound = own_bound(o->work, blocks, nblocks);
	if (!(now - bound > LEAST_GAIN))
		return 0;
	o->solved++;
	if (!own_improve(o->work, now, bound, best))
		return 0;
	double gain = now - best->cost;
	if (best->cost >= OWN_NEVER || !(gain > LEAST_GAIN))
		return 0;
	if (o->moves_left < INT64_MAX && moves_of(o, best) > o->moves_left)
		return 0;
	return gain;
}

/* Alike in all that matters to a pool. */
static uint64_t signature(const struct own *o, uint32_t machine)
{
	const struct own_machine *m = &o->machines.data[machine];
	uint64_t sum = fth_hash_u64((uint64_t)m->as.offer << 1 | (m->id == FTH_NONE));
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next) {
		const struct own_task *x = &o->tasks.data[t];
		uint64_t h = fth_hash_u64((uint64_t)x->kind << 2 | (uint64_t)x->pinned << 1 | (x->at == machine));
		if (x->together || x->item.apart)
			h = fth_hash_u64(h ^ x->id);
		uint64_t hours;
		memcpy(&hours, &x->item.hours, sizeof(hours));
		sum += fth_hash_u64(h ^ hours);
	}
	return sum;
}

static void touch(struct own *o, uint32_t machine)
{
	struct own_machine *m = &o->machines.data[machine];
	m->waste = own_waste(o, machine, FTH_NONE);
	m->sign = signature(o, machine);
	if (m->changed)
		return;
	m->changed = true;
	fth_vec_push(&o->todo, machine);
}

static void send(struct own *o, uint32_t item, uint32_t to, double gain, double cost)
{
	for (size_t k = 0; k < o->members.len; k++) {
		if (o->members.data[k].item != item)
			continue;
		uint32_t t = o->members.data[k].task;
		struct own_task *x = &o->tasks.data[t];
		if (x->to == to)
			continue;
		if (x->to != FTH_NONE)
			own_take(o, t);
		if (to != FTH_NONE)
			own_put(o, t, to);
		x = &o->tasks.data[t];
		x->pooled = o->npooled;
		x->before = cost + gain;
		x->after = cost;
	}
}

/* Carry out the split of the pool last looked at. */
static void adopt(struct own *o, const struct own_split *s, double gain)
{
	uint32_t target[OWN_ITEMS], old[OWN_BINS], nold = o->npooled;
	memcpy(old, o->pooled, sizeof(old));
	if (o->moves_left < INT64_MAX)
		o->moves_left -= moves_of(o, s);
	for (uint32_t k = 0; k < o->pool.nitems; k++)
		target[k] = FTH_NONE;
	for (uint32_t b = 0; b < o->pool.nbins; b++)
		for (uint32_t k = 0; k < o->pool.nitems; k++)
			if (s->bin[b] >> k & 1)
				target[k] = o->bin_machine[b];
	for (uint32_t f = 0; f < s->nnew; f++) {
		uint32_t m = own_add_machine(o, &o->buys.data[s->fresh[f].buy]);
		o->machines.data[m].changed = false;
		for (uint32_t k = 0; k < o->pool.nitems; k++)
			if (s->fresh[f].items >> k & 1)
				target[k] = m;
	}
	for (uint32_t k = 0; k < o->pool.nitems; k++)
		send(o, k, target[k], gain, s->cost);
	o->taken++;
	if (o->params->committed && s->nnew)
		own_price_buys(o);
	for (uint32_t k = 0; k < nold; k++)
		touch(o, old[k]);
	for (uint32_t k = 0; k < o->pool.nitems; k++)
		if (target[k] != FTH_NONE)
			touch(o, target[k]);
}

/* ---- those that wait ---- */

static bool goes_first(const struct own_task *a, const struct own_task *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->item.hourly != b->item.hourly)
		return a->item.hourly > b->item.hourly;
	if (a->since != b->since)
		return a->since < b->since;
	return a->id < b->id;
}

static int by_urgency(const void *a, const void *b, void *arg)
{
	const struct own *o = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (x == y)
		return 0;
	return goes_first(&o->tasks.data[x], &o->tasks.data[y]) ? -1 : 1;
}

/* How much less good places may be that are preferred for their fit, as a share of the task's worth. */
static const double TIE = 0.02;

bool own_is_alike(const struct own_task *a, const struct own_task *b)
{
	return a->kind == b->kind && a->item.hours == b->item.hours && a->item.value == b->item.value && a->may_wait == b->may_wait &&
	       a->item.move == b->item.move && !a->together && !b->together && !a->item.apart && !b->item.apart &&
	       a->priority == b->priority;
}

/* What a machine's cost changes by with one more task; OWN_NEVER: it has no room. */
static double change_by(struct own *o, uint32_t machine, uint32_t task)
{
	const struct own_machine *m = &o->machines.data[machine];
	if (!own_fits(o, task, machine))
		return OWN_NEVER;
	const struct own_item *i = &o->tasks.data[task].item;
	double change = own_waste(o, machine, task) - m->waste + i->move;
	if (!m->n)
		return FTH_MIN(change, 0); /* an idle machine is better than a new one */
	/* Of places that are equally good the fullest, and one that ends when the task does. */
	double free = 0, longest = 0;
	const struct fth_res *all = &o->view->catalog->types[m->as.type].capacity;
	for (uint32_t r = 0; r < o->view->catalog->nres; r++)
		free = all->v[r] ? FTH_MAX(free, (double)m->room.v[r] / (double)all->v[r]) : free;
	for (uint32_t t = m->first; t != FTH_NONE; t = o->tasks.data[t].next)
		longest = FTH_MAX(longest, o->tasks.data[t].item.hours);
	double apart = longest > i->hours ? 1 - i->hours / longest : 0;
	return change + TIE * i->value * (free + apart);
}

/* Tasks waiting[from..to) are alike: each to the machine that gains most by it, as long as one does. */
static void join_machines(struct own *o, size_t from, size_t to)
{
	fth_vec_reserve(&o->changes, o->machines.len);
	for (uint32_t m = 0; m < o->machines.len; m++)
		o->changes.data[m] = change_by(o, m, o->waiting.data[from]);
	while (from < to) {
		uint32_t best = FTH_NONE;
		double least = 0;
		for (uint32_t m = 0; m < o->machines.len; m++)
			if (o->changes.data[m] < least) {
				least = o->changes.data[m];
				best = m;
			}
		if (best == FTH_NONE)
			return;
		own_put(o, o->waiting.data[from++], best);
		touch(o, best);
		if (from < to)
			o->changes.data[best] = change_by(o, best, o->waiting.data[from]);
	}
}

/* Of tasks that are alike, how many fit on a machine of their own kind's best number: dollars for each, over its horizon. */
static double fill_with(const struct own *o, const struct own_item *i, const struct own_buy *b, uint32_t most, uint32_t *ret)
{
	const struct fth_alt *a = i->alt[b->type];
	const struct fth_res *room = &o->view->catalog->types[b->type].capacity;
	double least = OWN_NEVER, rate = 1, pair = own_pair(&o->speeds, i->klass, i->klass);
	for (uint32_t n = 1; a && n <= most; n++, rate *= pair) {
		struct fth_res all;
		for (uint32_t r = 0; r < FTH_RES_MAX; r++)
			all.v[r] = a->demand.v[r] * n;
		if (!fth_res_fits(&all, room))
			break;
		double each = b->price * (i->hours + b->billed) / n - i->value * rate * (a->speed_ppm / 1e6) + b->risk * i->loss +
			      b->boot * i->hourly + i->move;
		if (each < least) {
			least = each;
			*ret = n;
		}
	}
	return least;
}

double own_alone(const struct own *o, uint32_t task)
{
	double least = OWN_NEVER;
	for (size_t k = 0; k < o->buys.len; k++) {
		uint32_t n;
		double each = fill_with(o, &o->tasks.data[task].item, &o->buys.data[k], 1, &n);
		least = FTH_MIN(least, each);
	}
	return least;
}

/* Tasks that are alike and enough for whole machines get them; returns how many are left over. */
static size_t buy_whole(struct own *o, size_t from, size_t to)
{
	while (to - from > (size_t)o->params->pool) {
		const struct own_item *i = &o->tasks.data[o->waiting.data[from]].item;
		uint32_t best = 0, fill = 0;
		double least = i->queue;
		for (size_t k = 0; k < o->buys.len; k++) {
			uint32_t n = 0;
			double each = fill_with(o, i, &o->buys.data[k], (uint32_t)(to - from), &n);
			if (each < least) {
				least = each;
				best = (uint32_t)k;
				fill = n;
			}
		}
		if (!fill)
			break;
		struct own_buy buy = o->buys.data[best];
		uint32_t m = own_add_machine(o, &buy);
		if (o->params->committed)
			own_price_buys(o);
		for (uint32_t k = 0; k < fill; k++)
			own_put(o, o->waiting.data[from++], m);
		o->machines.data[m].changed = false;
		touch(o, m);
	}
	return to - from;
}

/* The rest of them together, on new machines or not yet. */
static void buy_for_rest(struct own *o)
{
	for (size_t k = 0; k < o->waiting.len;) {
		struct own_split s;
		pool_clear(o);
		for (; k < o->waiting.len; k++)
			if (o->tasks.data[o->waiting.data[k]].to == FTH_NONE &&
			    !add_item(o, o->waiting.data[k], FTH_NONE, FTH_MIN(pool_size(o), 10u)))
				break;
		if (!o->pool.nitems)
			break;
		own_price_pool(o->work, &o->pool, &o->speeds, o->view->catalog, o->buys.data, o->buys.len);
		own_repartition(o->work, &s);
		if (s.cost < OWN_NEVER)
			adopt(o, &s, 0);
	}
}

void own_insert(struct own *o)
{
	if (o->waiting.len > 1)
		qsort_r(o->waiting.data, o->waiting.len, sizeof(*o->waiting.data), by_urgency, o);
	for (size_t a = 0, b; a < o->waiting.len; a = b) {
		const struct own_task *t = &o->tasks.data[o->waiting.data[a]];
		for (b = a + 1; b < o->waiting.len && own_is_alike(t, &o->tasks.data[o->waiting.data[b]]); b++)
			;
		join_machines(o, a, b);
		size_t left = a;
		while (left < b && o->tasks.data[o->waiting.data[left]].to != FTH_NONE)
			left++;
		buy_whole(o, left, b);
	}
	buy_for_rest(o);
}

/* ---- machines that changed ---- */

/* Machines to look at a changed one with, one of each likeness, the most wasteful first; fewer in larger clusters. */
static void find_partners(struct own *o, uint32_t machine)
{
	uint32_t most = (uint32_t)FTH_MAX(8, FTH_MIN(64, 4096 / (o->machines.len + 1)));
	fth_vec_clear(&o->partners);
	if (o->seen.len)
		fth_map_clear(&o->seen);
	for (uint32_t m = 0; m < o->machines.len; m++) {
		const struct own_machine *x = &o->machines.data[m];
		if (m == machine || !x->usable || (x->id == FTH_NONE && !x->n))
			continue;
		if (o->partners.len == most && o->machines.data[fth_vec_last(&o->partners)].waste >= x->waste)
			continue;
		if (fth_map_get(&o->seen, x->sign, NULL))
			continue;
		fth_map_put(&o->seen, x->sign, m);
		if (o->partners.len == most)
			o->partners.len--;
		fth_vec_push(&o->partners, m);
		size_t at = o->partners.len - 1;
		for (; at && o->machines.data[o->partners.data[at - 1]].waste < x->waste; at--)
			o->partners.data[at] = o->partners.data[at - 1];
		o->partners.data[at] = m;
	}
	o->spent += o->machines.len * 4;
}

/* The best change of a machine alone, with one other, and if that brings nothing with two; made at once. */
static bool improve(struct own *o, uint32_t machine)
{
	uint32_t set[OWN_BINS] = {machine}, best[OWN_BINS], nbest = 0;
	struct own_split s;
	double most = look_at(o, set, 1, &s);
	if (most > 0) {
		adopt(o, &s, most);
		return true;
	}
	find_partners(o, machine);
	for (size_t k = 0; k < o->partners.len && !out_of_time(o); k++) {
		set[1] = o->partners.data[k];
		double gain = look_at(o, set, 2, &s);
		if (gain > most) {
			most = gain;
			nbest = 2;
			memcpy(best, set, sizeof(best));
		}
	}
	size_t wide = o->machines.len > 64 ? 0 : FTH_MIN((size_t)o->params->triples, o->partners.len);
	for (size_t a = 0; a < wide && !nbest; a++)
		for (size_t b = a + 1; b < wide && !out_of_time(o); b++) {
			set[1] = o->partners.data[a];
			set[2] = o->partners.data[b];
			double gain = look_at(o, set, 3, &s);
			if (gain > most) {
				most = gain;
				nbest = 3;
				memcpy(best, set, sizeof(best));
			}
		}
	if (!nbest)
		return false;
	most = look_at(o, best, nbest, &s);
	adopt(o, &s, most);
	return true;
}

static int by_waste(const void *a, const void *b, void *arg)
{
	const struct own *o = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double wx = o->machines.data[x].waste, wy = o->machines.data[y].waste;
	return wx != wy ? (wx > wy ? -1 : 1) : x < y ? -1 : x > y;
}

void own_search(struct own *o)
{
	bool sweep = o->params->sweep && o->unswept && o->now >= o->next_sweep;
	o->steps_before = own_work_steps(o->work);
	fth_vec_clear(&o->todo);
	o->spent = 0;
	for (uint32_t m = 0; m < o->machines.len; m++) {
		o->machines.data[m].sign = signature(o, m);
		o->machines.data[m].changed |= sweep;
		if (o->machines.data[m].changed)
			fth_vec_push(&o->todo, m);
	}
	if (o->todo.len > 1)
		qsort_r(o->todo.data, o->todo.len, sizeof(*o->todo.data), by_waste, o);
	own_insert(o);
	for (size_t k = 0; k < o->todo.len && !out_of_time(o); k++) {
		uint32_t m = o->todo.data[k];
		o->machines.data[m].changed = false;
		if (!o->machines.data[m].usable || (o->machines.data[m].id == FTH_NONE && !o->machines.data[m].n))
			continue;
		improve(o, m);
	}
	if (sweep) {
		o->next_sweep = o->now + o->params->sweep * o->params->round;
		o->unswept = o->taken > 0;
	}
}
