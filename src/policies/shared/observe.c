/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/shared/observe.h"

void fth_observe_init(struct fth_observer_log *o, bool by_class)
{
	*o = (struct fth_observer_log){.by_class = by_class, .last = -1};
}

void fth_observe_release(struct fth_observer_log *o)
{
	fth_vec_release(&o->seen);
	fth_vec_release(&o->together);
	fth_vec_release(&o->others);
	fth_vec_release(&o->keys);
	fth_vec_release(&o->members);
}

static bool is_observable(const struct fth_view *v, const struct fth_instance *i)
{
	if (!i->ncommitted || i->nheld != i->ncommitted)
		return false;
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		if (t->on != i->id || !(t->rate > 0))
			return false;
		id = t->next_committed;
	}
	return true;
}

/* The speed its neighbours leave it: what was observed, but for the family's own speed. */
static double left_by_others(const struct fth_view *v, const struct fth_instance *i, const struct fth_task *t)
{
	const struct fth_alt *a = fth_kind_on_type(&v->kinds[t->kind], &v->catalog->types[i->type]);
	double rate = a && a->speed_ppm && a->speed_ppm != 1000000 ? t->rate * 1e6 / a->speed_ppm : t->rate;
	return FTH_MIN(1, rate);
}

static void note_together(struct fth_observer_log *o, const struct fth_view *v, const struct fth_instance *i,
			  const struct fth_task *t, const struct fth_job *j)
{
	struct fth_together m = {t->job, j->ntasks, fth_observe_key(o, &v->kinds[t->kind]), (uint32_t)o->others.len,
				 i->ncommitted - 1, left_by_others(v, i, t)};
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *other = fth_view_task(v, id);
		if (other != t)
			fth_vec_push(&o->others, fth_observe_key(o, &v->kinds[other->kind]));
		id = other->next_committed;
	}
	fth_vec_push(&o->together, m);
}

static void note_instance(struct fth_observer_log *o, struct fth_colocation *table, const struct fth_view *v,
			  const struct fth_instance *i)
{
	fth_vec_clear(&o->keys);
	for (fth_task_id id = i->first_committed; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		fth_vec_push(&o->keys, fth_colocation_key(table, fth_observe_key(o, &v->kinds[t->kind])));
		id = t->next_committed;
	}
	uint32_t n = (uint32_t)o->keys.len, k = 0;
	for (fth_task_id id = i->first_committed; id != FTH_NONE; k++) {
		const struct fth_task *t = fth_view_task(v, id);
		const struct fth_job *j = fth_view_job(v, t->job);
		id = t->next_committed;
		if (j->ntasks > 1 && j->kind != FTH_JOB_INDEPENDENT) {
			note_together(o, v, i, t, j);
			continue;
		}
		uint32_t own = o->keys.data[k];
		o->keys.data[k] = o->keys.data[n - 1];
		struct fth_seen s = {fth_colocation_entry(table, own, o->keys.data, n - 1), left_by_others(v, i, t)};
		o->keys.data[k] = own;
		fth_vec_push(&o->seen, s);
	}
}

static int by_job(const void *a, const void *b)
{
	const struct fth_together *x = a, *y = b;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void look_around(struct fth_observer_log *o, struct fth_colocation *table, const struct fth_view *v)
{
	fth_vec_clear(&o->seen);
	fth_vec_clear(&o->together);
	fth_vec_clear(&o->others);
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		if (is_observable(v, i))
			note_instance(o, table, v, i);
		id = i->next;
	}
	if (o->together.len > 1)
		qsort(o->together.data, o->together.len, sizeof(*o->together.data), by_job);
}

/* One job of several tasks: all of them must have been seen; one entry is updated. */
static bool record_job(struct fth_observer_log *o, struct fth_colocation *table, const struct fth_together *m,
		       uint32_t n)
{
	if (n != m->tasks)
		return false;
	double least = m[0].rate;
	fth_vec_clear(&o->members);
	for (uint32_t i = 0; i < n; i++) {
		struct fth_colocation_member c = {m[i].key, o->others.data + m[i].first, m[i].n};
		fth_vec_push(&o->members, c);
		least = FTH_MIN(least, m[i].rate);
	}
	bool changed = false;
	for (uint32_t i = 0; o->each_its_own && i < n; i++)
		changed |= fth_colocation_record(table, m[i].key, o->members.data[i].others, m[i].n, least);
	if (o->each_its_own)
		return changed;
	uint32_t who = fth_colocation_attribute(table, o->members.data, n, least);
	return fth_colocation_record(table, m[who].key, o->members.data[who].others, m[who].n, least);
}

static bool record(struct fth_observer_log *o, struct fth_colocation *table, uint64_t times)
{
	bool changed = false;
	for (size_t i = 0; i < o->seen.len; i++)
		changed |= fth_colocation_add(table, o->seen.data[i].entry, o->seen.data[i].rate, times);
	for (uint64_t k = 0; k < times && o->together.len; k++)
		for (uint32_t i = 0, n; i < o->together.len; i += n) {
			const struct fth_together *m = &o->together.data[i];
			for (n = 1; i + n < o->together.len && m[n].job == m->job; n++)
				;
			changed |= record_job(o, table, m, n);
		}
	return changed;
}

bool fth_observe_round(struct fth_observer_log *o, struct fth_colocation *table, const struct fth_round *round,
		       fth_time period, bool changed)
{
	bool moved = false;
	if (o->last >= 0 && round->now > o->last + period)
		moved = record(o, table, (uint64_t)((round->now - o->last) / period) - 1);
	if (changed || o->last < 0)
		look_around(o, table, round->view);
	o->last = round->now;
	return record(o, table, 1) || moved;
}
