/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch, EASY and conservative backfilling, and which nodes a job gets. */
#include "policies/sec/batch.h"

/* ---- placement ---- */

static int64_t pick_key(const struct sec *s, const struct sec_node *n, uint64_t salt)
{
	switch ((enum sec_placement)s->params->placement) {
	case SEC_MAX_MARGIN:
		return -sec_margin(s, n);
	case SEC_MIN_MARGIN:
		return sec_margin(s, n);
	case SEC_MAX_IDLE:
		return n->idle_since;
	case SEC_MIN_IDLE:
		return -n->idle_since;
	case SEC_RANDOM:
		break;
	}
	return (int64_t)(fth_hash_u64(salt << 32 ^ n->id) >> 1);
}

static bool before(const struct sec *s, const struct sec_pick *a, const struct sec_pick *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return s->nodes.data[a->slot].id < s->nodes.data[b->slot].id;
}

static void sift(const struct sec *s, struct sec_pick *h, size_t n, size_t i)
{
	for (;;) {
		size_t best = i, l = 2 * i + 1;
		for (size_t k = l; k < l + 2 && k < n; k++)
			if (before(s, &h[k], &h[best]))
				best = k;
		if (best == i)
			return;
		struct sec_pick t = h[i];
		h[i] = h[best];
		h[best] = t;
		i = best;
	}
}

/* The first n by the rule: a heap of the idle ones, of which n are taken. They end up in picks. */
void sec_pick_idle(struct sec *s, struct sec_cloud *c, uint32_t n, const struct fth_job *j)
{
	size_t all = 0;
	fth_vec_clear(&s->picks);
	fth_vec_reserve(&s->picks, c->idle.len);
	struct sec_pick *h = s->picks.data;
	for (size_t i = 0; i < c->idle.len; i++) {
		const struct sec_node *x = &s->nodes.data[c->idle.data[i]];
		if (s->mode == SEC_INDIVIDUAL && x->user != j->user)
			continue;
		h[all++] = (struct sec_pick){pick_key(s, x, j->id), c->idle.data[i]};
	}
	n = FTH_MIN(n, (uint32_t)all);
	for (size_t i = all / 2; n < all && i-- > 0;)
		sift(s, h, all, i);
	for (size_t left = all, k = 0; n < all && k < n; k++) {
		struct sec_pick t = h[0];
		h[0] = h[--left];
		h[left] = t; /* the taken ones gather at the end */
		sift(s, h, left, 0);
	}
	if (n < all)
		memmove(h, h + all - n, n * sizeof(*h));
	s->picks.len = n;
}

void sec_start(struct sec *s, const struct fth_job *j, uint32_t cloud)
{
	struct sec_cloud *c = &s->clouds.data[cloud];
	struct sec_job *q = sec_job_of(s, j);
	const struct fth_reason why = {"its turn, and so many nodes are idle", {0}};
	sec_dequeue(s, j);
	sec_pick_idle(s, c, j->ntasks, j);
	for (uint32_t k = 0; k < j->ntasks; k++) {
		struct sec_node *n = &s->nodes.data[s->picks.data[k].slot];
		sec_idle_remove(s, s->picks.data[k].slot);
		n->job = j->id;
		fth_plan_place(s->plan, j->first_task + k, n->id, why);
	}
	q->cloud = cloud;
	q->running = true;
	/* Of an unknown length nothing is promised. */
	q->end = !j->estimate || j->estimate > FTH_NEVER - s->now ? FTH_NEVER : s->now + j->estimate;
	fth_order_add(&c->releases, &(struct fth_order_item){q->end, j->id, j->ntasks, 0});
}

/* ---- EASY ---- */

fth_time sec_predict(const struct sec *s, const struct sec_cloud *c, uint32_t size, uint64_t *ret_spare)
{
	uint64_t sum = 0, idle = c->idle.len;
	fth_time at = s->now;
	if (size > idle && !fth_order_reach(&c->releases, size - idle, &at, &sum))
		return FTH_NEVER;
	*ret_spare = idle + sum - size;
	return FTH_MAX(at, s->now); /* what is overdue is about to end */
}

/* The cloud on which the job would start first. */
static uint32_t first_cloud(const struct sec *s, uint32_t size, fth_time *ret_at, uint64_t *ret_spare)
{
	uint32_t best = FTH_NONE;
	*ret_at = FTH_NEVER;
	*ret_spare = 0;
	for (uint32_t k = 0; k < s->clouds.len; k++) {
		uint64_t spare;
		fth_time at = sec_predict(s, &s->clouds.data[k], size, &spare);
		if (at < *ret_at) {
			best = k;
			*ret_at = at;
			*ret_spare = spare;
		}
	}
	return best;
}

/* Who may run now without delaying the first in the queue. */
static void backfill(struct sec *s, const struct fth_order_item *top)
{
	fth_time at;
	uint64_t spare;
	uint32_t reserved = first_cloud(s, top->size, &at, &spare);
	for (uint32_t k = 0; k < s->clouds.len; k++) {
		struct sec_cloud *c = &s->clouds.data[k];
		struct fth_hole hole = {.size = c->idle.len, .beside = c->idle.len, .window = FTH_NEVER};
		if (k == reserved)
			hole = (struct fth_hole){c->idle.len, spare, at - s->now};
		struct fth_order_item last = *top;
		const struct fth_order_item *next;
		while (c->idle.len && (next = fth_order_next_fit(&s->queue, &last, &hole))) {
			last = *next;
			if (k == reserved && last.length > hole.window)
				hole.beside -= last.size;
			sec_start(s, fth_view_job(s->view, last.id), k);
			hole.size = c->idle.len;
		}
	}
}

static void schedule_easy(struct sec *s)
{
	const struct fth_order_item *top;
	while ((top = fth_order_first(&s->queue))) {
		uint32_t cloud = sec_cheapest(s, top->size, NULL);
		if (cloud == FTH_NONE)
			break;
		sec_start(s, fth_view_job(s->view, top->id), cloud);
	}
	if (top && s->params->backfill == SEC_EASY) {
		struct fth_order_item first = *top;
		backfill(s, &first);
	}
}

/* ---- conservative ---- */

fth_time sec_profile_find(const struct sec_step *p, size_t n, uint32_t size, fth_time length)
{
	for (size_t i = 0; i < n; i++) {
		fth_time end = length > FTH_NEVER - p[i].at ? FTH_NEVER : p[i].at + length;
		size_t k = i;
		while (k < n && p[k].free >= size && p[k].at < end)
			k++;
		if (k == n || p[k].at >= end)
			return p[i].at;
		i = k; /* no start before this step will do */
	}
	return FTH_NEVER;
}

static size_t cut_at(struct sec_step *p, size_t n, fth_time at)
{
	size_t i = 0;
	while (i < n && p[i].at < at)
		i++;
	if ((i < n && p[i].at == at) || !i)
		return n;
	memmove(&p[i + 1], &p[i], (n - i) * sizeof(*p));
	p[i] = (struct sec_step){at, p[i - 1].free};
	return n + 1;
}

size_t sec_profile_take(struct sec_step *p, size_t n, fth_time from, uint32_t size, fth_time length)
{
	fth_time end = length > FTH_NEVER - from ? FTH_NEVER : from + length;
	n = cut_at(p, n, from);
	if (end != FTH_NEVER)
		n = cut_at(p, n, end);
	for (size_t i = 0; i < n; i++)
		if (p[i].at >= from && p[i].at < end)
			p[i].free -= size;
	return n;
}

struct filling {
	struct sec *s;
	size_t n, seen;
	FTH_VEC(fth_job_id) start;
};

static bool add_release(void *arg, const struct fth_order_item *item)
{
	struct filling *f = arg;
	struct sec_step *p = f->s->profile.data;
	fth_time at = FTH_MAX(item->key, f->s->now);
	if (p[f->n - 1].at == at)
		p[f->n - 1].free += item->size;
	else {
		p[f->n] = (struct sec_step){at, p[f->n - 1].free + item->size};
		f->n++;
	}
	return true;
}

static bool reserve(void *arg, const struct fth_order_item *item)
{
	struct filling *f = arg;
	struct sec *s = f->s;
	fth_time at = sec_profile_find(s->profile.data, f->n, item->size, item->length);
	if (f->seen++ >= (size_t)s->params->depth)
		return false;
	if (at == FTH_NEVER)
		return true;
	if (at == s->now)
		fth_vec_push(&f->start, item->id);
	f->n = sec_profile_take(s->profile.data, f->n, at, item->size, FTH_MAX(item->length, 1));
	return true;
}

/* Every job (the first `depth` of them) has its place in the future, and none may push one before it. Of several
 * clouds each is filled on its own, in their order. */
static void schedule_conservative(struct sec *s)
{
	for (uint32_t k = 0; k < s->clouds.len && s->queue.len; k++) {
		struct sec_cloud *c = &s->clouds.data[k];
		struct filling f = {.s = s, .n = 1};
		if (!c->idle.len)
			continue;
		fth_vec_reserve(&s->profile, c->releases.len + 4 + 2 * FTH_MIN(s->queue.len, (size_t)s->params->depth));
		s->profile.data[0] = (struct sec_step){s->now, (int64_t)c->idle.len};
		fth_order_each(&c->releases, add_release, &f);
		fth_order_each(&s->queue, reserve, &f);
		for (size_t i = 0; i < f.start.len; i++)
			sec_start(s, fth_view_job(s->view, f.start.data[i]), k);
		fth_vec_release(&f.start);
	}
}

void sec_schedule(struct sec *s)
{
	if (s->params->backfill == SEC_CONSERVATIVE)
		schedule_conservative(s);
	else
		schedule_easy(s);
}
