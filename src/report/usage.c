/* SPDX-License-Identifier: Apache-2.0 */
#include "report/usage.h"

#define PPM 1000000

void fth_usage_init(struct fth_usage *u, const struct fth_catalog *c, fth_time window_from, fth_time window_to)
{
	memset(u, 0, sizeof(*u));
	u->catalog = c;
	u->window_from = window_from;
	u->window_to = window_to;
	u->offers = fth_alloc(FTH_MAX(c->noffers, 1u) * sizeof(*u->offers));
	u->types = fth_alloc(FTH_MAX(c->ntypes, 1u) * sizeof(*u->types));
	for (uint32_t i = 0; i < c->noffers; i++)
		u->offers[i].price = c->offers[i].price;
	fth_run_init(&u->series);
	u->series.ntypes = c->ntypes;
}

void fth_usage_release(struct fth_usage *u)
{
	free(u->offers);
	free(u->types);
	fth_vec_release(&u->parts);
	fth_run_release(&u->series);
	memset(u, 0, sizeof(*u));
}

static double seconds(fth_time t)
{
	return (double)t / (double)FTH_SEC;
}

/* Add rate x time to the buckets of [from, to). */
static void add_to_buckets(struct fth_usage *u, fth_time from, fth_time to)
{
	while (from < to) {
		size_t index;
		struct fth_run_bucket *b = fth_run_bucket_at(&u->series, from, &index);
		fth_time end = FTH_MIN(to, (fth_time)(index + 1) * u->series.bucket_width);
		double s = seconds(end - from);
		b->cost_usd += (double)u->cost_rate / 1e9 * s / 3600;
		b->instances += (double)u->up * s;
		b->tasks += (double)u->tasks * s;
		b->waiting += (double)u->waiting * s;
		for (int i = 0; i < 3; i++) {
			b->used[i] += (double)u->used[i] * s;
			b->capacity[i] += (double)u->capacity[i] * s;
		}
		from = end;
	}
}

static void add_to_window(struct fth_usage *u, fth_time from, fth_time to)
{
	from = FTH_MAX(from, u->window_from);
	to = FTH_MIN(to, u->window_to);
	if (from >= to)
		return;
	fth_time d = to - from;
	u->window_up += (__int128)u->up * d;
	u->window_tasks += (__int128)u->tasks * d;
	for (int i = 0; i < 3; i++) {
		u->window_used[i] += (__int128)u->used[i] * d;
		u->window_capacity[i] += (__int128)u->capacity[i] * d;
	}
}

void fth_usage_advance(struct fth_usage *u, fth_time now)
{
	if (now <= u->now)
		return;
	fth_time d = now - u->now;
	u->up_time += (__int128)u->up * d;
	u->task_time += (__int128)u->tasks * d;
	for (int i = 0; i < 3; i++) {
		u->used_time[i] += (__int128)u->used[i] * d;
		u->capacity_time[i] += (__int128)u->capacity[i] * d;
	}
	u->cost += u->cost_rate * d;
	u->boot += u->boot_rate * d;
	u->idle += u->idle_rate * d;
	u->unused += u->unused_rate * d;
	add_to_window(u, u->now, now);
	if (u->up || u->waiting || u->cost_rate)
		add_to_buckets(u, u->now, now);
	u->now = now;
}

/* Types are integrated each on its own, when their number of instances changes. */
static void settle_type(struct fth_usage *u, fth_type_id type)
{
	struct fth_usage_type *t = &u->types[type];
	fth_time from = t->since;
	while (t->up && from < u->now) {
		size_t index;
		fth_run_bucket_at(&u->series, from, &index);
		fth_time end = FTH_MIN(u->now, (fth_time)(index + 1) * u->series.bucket_width);
		u->series.type_seconds.data[index * u->series.ntypes + type] += (double)t->up * seconds(end - from);
		from = end;
	}
	t->since = u->now;
}

static int64_t share_ppm(int64_t used, int64_t of)
{
	if (!used || used == of)
		return used ? PPM : 0; /* what is sliced into workers is full or empty: no division */
	if (used < INT64_MAX / PPM)
		return used * PPM / of; /* nearly always, and much faster */
	return (int64_t)((__int128)used * PPM / of);
}

static struct fth_usage_part part_of(const struct fth_usage *u, const struct fth_instance *i)
{
	struct fth_usage_part p = {.offer = i->offer, .type = i->type};
	bool from_ready = u->catalog->offers[i->offer].billing.from == FTH_BILL_FROM_READY;
	p.paid = (from_ready ? i->ready : i->acquired) != FTH_NEVER && i->state != FTH_INSTANCE_GONE;
	p.up = p.paid && i->state != FTH_INSTANCE_TERMINATING;
	p.boot = p.paid && i->ready == FTH_NEVER;
	p.idle = p.paid && !p.boot && !i->ncommitted && !i->nheld;
	if (!p.up)
		return p;
	const struct fth_res *cap = &u->catalog->types[i->type].capacity;
	int64_t greatest = 0;
	for (int r = 0; r < FTH_RES_MAX; r++)
		if (cap->v[r] > 0)
			greatest = FTH_MAX(greatest, share_ppm(i->committed.v[r], cap->v[r]));
	for (int r = 0; r < 3; r++)
		p.used[r] = i->committed.v[r];
	p.tasks = i->ncommitted;
	p.unused_ppm = p.boot || p.idle ? 0 : PPM - FTH_MIN(greatest, (int64_t)PPM);
	return p;
}

static void apply(struct fth_usage *u, const struct fth_usage_part *p, int sign)
{
	if (!p->paid)
		return;
	struct fth_usage_offer *o = &u->offers[p->offer];
	o->paid += sign;
	o->boot += sign * p->boot;
	o->idle += sign * p->idle;
	o->unused_ppm += sign * p->unused_ppm;
	__int128 price = sign * (__int128)o->price;
	u->cost_rate += price;
	u->boot_rate += price * p->boot;
	u->idle_rate += price * p->idle;
	u->unused_rate += price * p->unused_ppm;
	if (!p->up)
		return;
	const struct fth_res *cap = &u->catalog->types[p->type].capacity;
	settle_type(u, p->type);
	u->types[p->type].up += sign;
	u->up += sign;
	u->tasks += sign * p->tasks;
	for (int r = 0; r < 3; r++) {
		u->used[r] += sign * p->used[r];
		u->capacity[r] += sign * cap->v[r];
	}
}

/* Nearly always: the machine is up as before, and only what is on it has changed. */
static void apply_change(struct fth_usage *u, const struct fth_usage_part *old, const struct fth_usage_part *p)
{
	int boot = p->boot - old->boot, idle = p->idle - old->idle;
	int64_t unused = p->unused_ppm - old->unused_ppm;
	if (boot || idle || unused) {
		struct fth_usage_offer *o = &u->offers[p->offer];
		__int128 price = o->price;
		o->boot += boot;
		o->idle += idle;
		o->unused_ppm += unused;
		u->boot_rate += price * boot;
		u->idle_rate += price * idle;
		u->unused_rate += price * unused;
	}
	u->tasks += p->tasks - old->tasks;
	for (int r = 0; r < 3; r++)
		u->used[r] += p->used[r] - old->used[r];
}

void fth_usage_touch(struct fth_usage *u, const struct fth_instance *i)
{
	size_t have = u->parts.len;
	if (i->slot >= have) {
		fth_vec_reserve(&u->parts, (size_t)i->slot + 1);
		memset(u->parts.data + have, 0, (i->slot + 1 - have) * sizeof(*u->parts.data));
		u->parts.len = (size_t)i->slot + 1;
	}
	struct fth_usage_part *old = &u->parts.data[i->slot], now = part_of(u, i);
	if (old->up && now.up && old->offer == now.offer) {
		apply_change(u, old, &now);
	} else {
		apply(u, old, -1);
		apply(u, &now, 1);
	}
	*old = now;
}

void fth_usage_reprice(struct fth_usage *u, fth_offer_id offer, fth_price price)
{
	struct fth_usage_offer *o = &u->offers[offer];
	__int128 more = (__int128)price - o->price;
	u->cost_rate += more * o->paid;
	u->boot_rate += more * o->boot;
	u->idle_rate += more * o->idle;
	u->unused_rate += more * o->unused_ppm;
	o->price = price;
}

static double ratio(__int128 a, __int128 b)
{
	return b ? (double)a / (double)b : 0;
}

/* nano-dollars per hour x microseconds, to dollars */
static double dollars(__int128 integral)
{
	return (double)integral / 1e9 / (double)FTH_HOUR;
}

void fth_usage_finish(struct fth_usage *u, struct fth_run *run)
{
	for (uint32_t t = 0; t < u->catalog->ntypes; t++)
		settle_type(u, t);
	run->tasks_per_instance = ratio(u->task_time, u->up_time);
	run->window_from = u->window_from;
	run->window_to = u->window_to;
	run->window_tasks_per_instance = ratio(u->window_tasks, u->window_up);
	for (int r = 0; r < 3; r++) {
		run->alloc[r] = ratio(u->used_time[r], u->capacity_time[r]);
		run->window_alloc[r] = ratio(u->window_used[r], u->window_capacity[r]);
	}
	run->waste_boot_usd = dollars(u->boot);
	run->waste_idle_usd = dollars(u->idle);
	run->waste_fragmentation_usd = dollars(u->unused) / PPM;
	double spent = dollars(u->cost);
	run->spent_usd = spent;
	double wasted = run->waste_boot_usd + run->waste_idle_usd + run->waste_fragmentation_usd;
	run->utilization = spent > 0 ? FTH_MAX(0.0, 1 - wasted / spent) : 0;

	fth_vec_release(&run->buckets);
	fth_vec_release(&run->type_seconds);
	memcpy(&run->buckets, &u->series.buckets, sizeof(run->buckets));
	memcpy(&run->type_seconds, &u->series.type_seconds, sizeof(run->type_seconds));
	memset(&u->series.buckets, 0, sizeof(u->series.buckets));
	memset(&u->series.type_seconds, 0, sizeof(u->series.type_seconds));
	run->bucket_width = u->series.bucket_width;
	run->ntypes = u->series.ntypes;
}
