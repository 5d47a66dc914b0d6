/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes to ask for and from which cloud; which to let go. */
#include "model/catalog.h"
#include "policies/sec/batch.h"

/* ---- what the next nodes cost ---- */

/* Dollars per hour of the next `size` nodes of a cloud: reserved ones first while there are any, and under sustained
 * use what a node that is used as these have been this month would pay on average. */
static double instant_rate(const struct sec *s, const struct sec_cloud *c, uint32_t size)
{
	const struct fth_offer *o = &s->view->catalog->offers[c->offer];
	double price = fth_usd(o->price);
	if (o->sustained) {
		fth_time span = s->now - s->month_from;
		double share = span > 0 && c->nodes ? c->month_hours / ((double)span / (double)FTH_HOUR * (double)c->nodes) : 0;
		share = FTH_MIN(FTH_MAX(share, 0.0), 1.0);
		double paid = 0; /* by quarters: 100, 80, 60, 40 % */
		for (int q = 0; q < 4; q++) {
			double part = FTH_MIN(FTH_MAX(share - 0.25 * q, 0.0), 0.25);
			paid += part * (1 - 0.2 * q);
		}
		return share > 0 ? price * paid / share : price;
	}
	int64_t covered = s->params->reserved - (int64_t)c->nodes;
	if (covered <= 0 || c != s->clouds.data)
		return price;
	double n = FTH_MIN((double)covered, (double)size);
	return (n * s->params->reserved_price + ((double)size - n) * price) / (double)size;
}

static bool has_room(const struct sec *s, const struct sec_cloud *c, uint64_t n)
{
	return !s->params->max_nodes || n <= (uint64_t)FTH_MAX(s->params->max_nodes - (int64_t)c->nodes, 0) + c->idle.len + c->booting;
}

uint32_t sec_cheapest(const struct sec *s, uint32_t size, const uint64_t *asked)
{
	uint32_t best = FTH_NONE, any = FTH_NONE;
	double least = 0, least_any = 0;
	for (uint32_t k = 0; k < s->clouds.len; k++) {
		const struct sec_cloud *c = &s->clouds.data[k];
		if (!asked && c->idle.len < size)
			continue;
		double rate = s->clouds.len > 1 ? instant_rate(s, c, size) : 0;
		if (any == FTH_NONE || rate < least_any) {
			any = k;
			least_any = rate;
		}
		if ((!asked || has_room(s, c, asked[k] + size)) && (best == FTH_NONE || rate < least)) {
			best = k;
			least = rate;
		}
	}
	return best == FTH_NONE ? any : best;
}

/* ---- asking ---- */

static fth_time boot_time(const struct sec *s, const struct sec_cloud *c, uint32_t n)
{
	const struct fth_instance_type *t = &s->view->catalog->types[s->view->catalog->offers[c->offer].type];
	return t->acquire.mean + (t->boot[0].size ? fth_boot_time(t, n) : t->setup.mean);
}

fth_instance_id sec_ask(struct sec *s, uint32_t cloud, uint32_t n, const struct fth_job *owner)
{
	struct sec_cloud *c = &s->clouds.data[cloud];
	struct fth_reason why = {"the queue needs it, $0/h", {s->view->catalog->offers[c->offer].price, 0, 0}};
	fth_instance_id first = fth_plan_launch_many(s->plan, &c->offer, 1, n, why);
	struct sec_request r = {.cloud = cloud,
				.count = n,
				.left = n,
				.id = 0x80000000u | first,
				.first = first,
				.job = owner ? owner->id : FTH_NONE,
				.key = s->now + boot_time(s, c, n)};
	fth_vec_push(&s->requests, r);
	c->nodes += n;
	if (owner)
		return first;
	c->booting += n;
	fth_order_add(&c->releases, &(struct fth_order_item){r.key, r.id, n, 0});
	return first;
}

/* What is wanted of each cloud, by the strategy. */
struct wants {
	struct sec *s;
	FTH_VEC(uint64_t) of;
	bool had_short;
};

static bool want(void *arg, const struct fth_order_item *item)
{
	struct wants *w = arg;
	struct sec *s = w->s;
	enum sec_size how = (enum sec_size)s->params->size;
	bool is_short = item->length < s->params->t_short;
	if (how == SEC_BEST_SIZE && is_short && w->had_short)
		return true;
	w->had_short |= is_short;
	uint32_t cloud = sec_cheapest(s, item->size, w->of.data);
	w->of.data[cloud] += item->size;
	return how != SEC_FIRST_SIZE;
}

static void count_wants(struct sec *s, const struct fth_order_item *top, struct wants *w)
{
	fth_vec_reserve(&w->of, s->clouds.len);
	memset(w->of.data, 0, s->clouds.len * sizeof(*w->of.data));
	w->of.len = s->clouds.len;
	if (s->clouds.len > 1) {
		fth_order_each(&s->queue, want, w);
		return;
	}
	const struct fth_order_item *brief;
	switch ((enum sec_size)s->params->size) {
	case SEC_FIRST_SIZE:
		w->of.data[0] = top->size;
		return;
	case SEC_SUM_SIZE:
		w->of.data[0] = fth_order_sum(&s->queue);
		return;
	case SEC_BEST_SIZE:
		brief = fth_order_first_short(&s->queue, s->params->t_short - 1);
		w->of.data[0] = s->long_nodes + (brief ? brief->size : 0);
	}
}

/* Is the first in the queue too large for the cluster, or would it wait for too long? */
static bool needs_more(struct sec *s, const struct fth_order_item *top)
{
	fth_time start = FTH_NEVER;
	bool fits = false;
	for (uint32_t k = 0; k < s->clouds.len; k++) {
		const struct sec_cloud *c = &s->clouds.data[k];
		uint64_t spare;
		fits |= top->size <= c->nodes;
		start = FTH_MIN(start, sec_predict(s, &s->clouds.data[k], top->size, &spare));
	}
	if (!fits || start == FTH_NEVER)
		return true;
	fth_time from = s->params->predict == SEC_FROM_NOW ? s->now : fth_view_job(s->view, top->id)->submitted;
	return start - from > s->params->t_wait;
}

void sec_acquire(struct sec *s)
{
	const struct fth_order_item *top = fth_order_first(&s->queue);
	if (!top || !needs_more(s, top))
		return;
	struct wants w = {.s = s};
	count_wants(s, top, &w);
	for (uint32_t k = 0; k < s->clouds.len; k++) {
		const struct sec_cloud *c = &s->clouds.data[k];
		uint64_t have = c->idle.len + c->booting;
		uint64_t n = w.of.data[k] > have ? w.of.data[k] - have : 0;
		if (s->params->max_nodes)
			n = FTH_MIN(n, (uint64_t)FTH_MAX(s->params->max_nodes - (int64_t)c->nodes, 0));
		if (!n)
			continue;
		sec_ask(s, k, (uint32_t)FTH_MIN(n, (uint64_t)1000000), NULL);
	}
	fth_vec_release(&w.of);
}

/* ---- letting go ---- */

static fth_time round_up(fth_time t, fth_time unit)
{
	return t % unit ? t + unit - t % unit : t;
}

/* When an idle node is to be looked at: the last check before its paid time ends. */
fth_time sec_check_time(const struct sec *s, const struct sec_node *n)
{
	const struct fth_offer *o = &s->view->catalog->offers[s->clouds.data[n->cloud].offer];
	fth_time lead = s->params->check + s->view->catalog->types[o->type].terminate.mean, margin = sec_margin(s, n);
	if (s->params->punctual && !margin)
		return s->now; /* its last period ends with its job */
	return round_up(s->now + FTH_MAX(margin - lead, 0), s->params->check);
}

static void let_go(struct sec *s, struct sec_cloud *c, struct sec_node *n)
{
	const struct fth_offer *o = &s->view->catalog->offers[c->offer];
	struct fth_reason why = {"idle, and another period would cost $0", {fth_price_times(o->price, o->billing.increment), 0, 0}};
	fth_plan_terminate(s->plan, n->id, why);
	sec_idle_remove(s, c->idle.data[n->at]);
	n->leaving = true;
	c->nodes--;
}

/*
 * Idle nodes that are about to begin another billed period go at the last check before it, unless jobs wait. The
 * next check that may find one is kept (nodes that become idle bring it forward), so that rounds before it cost
 * nothing.
 */
void sec_let_go(struct sec *s)
{
	if (s->queue.len)
		return;
	if (s->now >= s->next_check) {
		s->next_check = FTH_NEVER;
		for (size_t k = 0; k < s->clouds.len; k++) {
			struct sec_cloud *c = &s->clouds.data[k];
			for (size_t i = c->idle.len; i-- > 0;) {
				struct sec_node *n = &s->nodes.data[c->idle.data[i]];
				fth_time at = sec_check_time(s, n);
				if (at == s->now)
					let_go(s, c, n);
				else
					s->next_check = FTH_MIN(s->next_check, at);
			}
		}
	}
	if (s->next_check != FTH_NEVER && s->next_check != s->woken) {
		fth_plan_wake(s->plan, s->next_check);
		s->woken = s->next_check;
	}
}
