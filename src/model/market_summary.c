/* SPDX-License-Identifier: Apache-2.0 */
#include "model/market_summary.h"

/* One spot offer while the window is walked through. */
struct walker {
	fth_offer_id offer;
	const struct fth_market_series *price, *probes;
	fth_price on_demand, fixed; /* fixed: where no series tells the price */
	fth_price now;
	bool up;
	__int128 spent; /* price x time, while it could be had: nobody pays else */
	fth_time up_time;
};

struct change {
	fth_time at;
	uint32_t walker;
};

static fth_time local_time(const struct fth_market_data *m, const struct fth_market_series *s, fth_time at)
{
	return s->from_start ? at : at - m->first;
}

static fth_time file_time(const struct fth_market_data *m, const struct fth_market_series *s, fth_time at)
{
	return s->from_start ? at : at + m->first;
}

struct fth_market_window fth_market_whole(const struct fth_market_data *m)
{
	struct fth_market_window w = {0};
	for (size_t i = 0; i < m->series.len; i++) {
		const struct fth_market_series *s = &m->series.data[i];
		if (s->steps.len)
			w.to = FTH_MAX(w.to, local_time(m, s, fth_vec_last(&s->steps).at));
	}
	return w;
}

void fth_market_states_release(struct fth_market_states *s)
{
	fth_vec_release(&s->up);
	fth_vec_release(&s->weight);
}

void fth_market_summary_release(struct fth_market_summary *s)
{
	fth_spot_table_release(&s->table);
	fth_vec_release(&s->offers);
	fth_market_states_release(&s->states);
}

static const struct fth_market_series *find_series(const struct fth_market_data *m, fth_offer_id offer, enum fth_market_kind kind)
{
	for (size_t i = 0; i < m->series.len; i++)
		if (m->series.data[i].offer == offer && m->series.data[i].kind == kind && m->series.data[i].steps.len)
			return &m->series.data[i];
	return NULL;
}

static void look(const struct fth_market_data *m, struct walker *w, fth_time at)
{
	w->now = w->price ? fth_market_series_at(w->price, file_time(m, w->price, at)) : w->fixed;
	w->up = w->now <= w->on_demand && (!w->probes || fth_market_series_at(w->probes, file_time(m, w->probes, at)));
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->walker < y->walker ? -1 : x->walker > y->walker;
}

typedef FTH_VEC(struct change) change_list;
typedef FTH_VEC(struct walker) walker_list;

static void add_changes(const struct fth_market_data *m, const struct fth_market_series *s, uint32_t walker,
			const struct fth_market_window *w, change_list *ret)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->steps.len; i++) {
		fth_time at = local_time(m, s, s->steps.data[i].at);
		if (at > w->from && at < w->to)
			fth_vec_push(ret, ((struct change){at, walker}));
	}
}

static void find_walkers(const struct fth_market_data *m, const struct fth_catalog *c, double share, walker_list *ret,
			 struct fth_market_summary *sum)
{
	for (fth_offer_id i = 0; i < c->noffers; i++) {
		struct walker w = {.offer = i};
		if (c->offers[i].market != FTH_SPOT)
			continue;
		w.price = find_series(m, i, FTH_MARKET_PRICE);
		w.probes = find_series(m, i, FTH_MARKET_AVAILABLE);
		w.on_demand = fth_catalog_on_demand(c, i);
		w.fixed = share > 0 && w.on_demand != FTH_NEVER ? (fth_price)((double)w.on_demand * share) : c->offers[i].price;
		if (!w.price && !w.probes)
			continue;
		if (!w.price && w.fixed <= 0) {
			sum->without_price++;
			continue;
		}
		sum->at_on_demand += !w.price && share <= 0 && w.fixed >= w.on_demand;
		fth_vec_push(ret, w);
	}
}

static void add_state(struct fth_market_states *s, const walker_list *walkers, fth_time length)
{
	bool same = s->weight.len > 0;
	for (uint32_t i = 0; i < s->n && same; i++)
		same = s->up.data[(s->weight.len - 1) * s->n + i] == walkers->data[i].up;
	if (same) {
		fth_vec_last(&s->weight) += (double)length;
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		fth_vec_push(&s->up, walkers->data[i].up);
	fth_vec_push(&s->weight, (double)length);
}

/* Every stretch between two changes is booked once for each offer that changes, and once for the state of all. */
static void walk(const struct fth_market_data *m, const struct fth_market_window *w, walker_list *walkers, struct fth_market_states *states)
{
	change_list changes = {0};
	fth_time *booked = fth_alloc((walkers->len + 1) * sizeof(*booked)), state_from = w->from;
	for (uint32_t i = 0; i < walkers->len; i++) {
		add_changes(m, walkers->data[i].price, i, w, &changes);
		add_changes(m, walkers->data[i].probes, i, w, &changes);
		look(m, &walkers->data[i], w->from);
		booked[i] = w->from;
	}
	for (uint32_t i = 0; i < walkers->len; i++) /* the end, for all */
		fth_vec_push(&changes, ((struct change){w->to, i}));
	qsort(changes.data, changes.len, sizeof(*changes.data), by_time);
	for (size_t k = 0; k < changes.len; k++) {
		const struct change *c = &changes.data[k];
		struct walker *x = &walkers->data[c->walker];
		bool was = x->up;
		x->spent += x->up ? (__int128)x->now * (c->at - booked[c->walker]) : 0;
		x->up_time += x->up ? c->at - booked[c->walker] : 0;
		booked[c->walker] = c->at;
		if (c->at < w->to) {
			struct walker next = *x;
			look(m, &next, c->at);
			if (next.up != was && c->at > state_from) {
				add_state(states, walkers, c->at - state_from);
				state_from = c->at;
			}
			*x = next;
		}
	}
	if (w->to > state_from)
		add_state(states, walkers, w->to - state_from);
	fth_vec_release(&changes);
	free(booked);
}

static uint64_t capacity_of(const struct fth_instance_type *t)
{
	int64_t milli = t->capacity.v[FTH_CPU] ? t->capacity.v[FTH_CPU] : t->capacity.v[FTH_GPU];
	return (uint64_t)FTH_MAX(milli / 1000, 1);
}

int fth_market_summarize(const struct fth_market_data *m, const struct fth_catalog *c, const struct fth_symtab *syms,
			 const struct fth_market_window *w, struct fth_market_summary *ret, struct fth_error *err)
{
	walker_list walkers = {0};
	*ret = (struct fth_market_summary){0};
	if (w->to <= w->from)
		return fth_fail(err, -EINVAL, "the window of the market is empty");
	find_walkers(m, c, w->price_share, &walkers, ret);
	if (!walkers.len)
		return fth_fail(err, -EINVAL, "the market tells nothing of a spot offer whose price is known");
	ret->states.n = (uint32_t)walkers.len;
	walk(m, w, &walkers, &ret->states);
	for (size_t i = 0; i < walkers.len; i++) {
		const struct walker *x = &walkers.data[i];
		const struct fth_offer *o = &c->offers[x->offer];
		const struct fth_instance_type *t = &c->types[o->type];
		double length = (double)(w->to - w->from);
		struct fth_spot_offer row = {
			.type = fth_spot_table_text(&ret->table, fth_sym_str(syms, t->name)),
			.zone = fth_spot_table_text(&ret->table, fth_sym_str(syms, o->zone)),
			.capacity = capacity_of(t),
			.price = x->up_time ? (double)x->spent / (double)x->up_time / 1e9 : 0,
			.on_demand = x->on_demand == FTH_NEVER ? 0 : fth_usd(x->on_demand),
			.availability = (double)x->up_time / length,
			.memory = t->capacity.v[FTH_MEM],
		};
		fth_vec_push(&ret->table.offers, row);
		fth_vec_push(&ret->offers, x->offer);
	}
	fth_vec_release(&walkers);
	return 0;
}

void fth_market_summary_cap(struct fth_market_summary *s, double most)
{
	uint32_t n = (uint32_t)s->table.offers.len, kept = 0;
	uint32_t *from = fth_alloc((n + 1) * sizeof(*from));
	for (uint32_t i = 0; i < n; i++) {
		struct fth_spot_offer o = s->table.offers.data[i];
		if (o.availability <= 0 || o.price <= 0)
			continue;
		o.availability = FTH_MAX(FTH_MIN(o.availability, most), 1 - most);
		s->table.offers.data[kept] = o;
		s->offers.data[kept] = s->offers.data[i];
		from[kept++] = i;
	}
	size_t at = 0;
	for (size_t row = 0; row < s->states.weight.len; row++)
		for (uint32_t i = 0; i < kept; i++)
			s->states.up.data[at++] = s->states.up.data[row * n + from[i]];
	s->table.offers.len = kept;
	s->offers.len = kept;
	s->states.n = kept;
	s->states.up.len = at;
	free(from);
}
