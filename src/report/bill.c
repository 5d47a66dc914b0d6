/* SPDX-License-Identifier: Apache-2.0 */
#include "report/bill.h"

/*
 * Weights are parts per million of a machine times microseconds. Between two events nothing changes, so each
 * account of an instance grows by its share times the time that passed. A task's account is opened when it takes
 * room and closed when it leaves; it is then known whether its work counted.
 */
#define WHOLE 1000000 /* ppm */

struct account { /* of one job on one instance */
	uint32_t job;
	__int128 used, lost;
};

struct machine {
	fth_instance_id id;
	fth_offer_id offer;
	fth_time requested, acquired, ready, since;
	__int128 boot, idle, fragmented;
	FTH_VEC(struct account) accounts;
	FTH_VEC(uint32_t) tasks; /* slots of those that hold room now */
	uint64_t shares;            /* sum of theirs, may exceed a whole one */
};

struct holding { /* of a task that holds room */
	uint32_t machine; /* slot */
	uint32_t job;
	uint32_t share;   /* ppm: its dominant one */
	fth_time since;
	__int128 weight;  /* of this run so far */
};

struct fth_biller {
	struct fth_observer base;
	FTH_VEC(struct machine) machines; /* by slot of the instance */
	FTH_VEC(struct holding) holdings; /* by slot of the task; machine FTH_NONE: none */
	FTH_VEC(uint32_t) job_of;         /* by slot of the job: index into jobs */
	FTH_VEC(struct fth_bill_job) jobs;
	FTH_VEC(struct fth_bill_instance) closed;
	fth_time last;
};

const char *fth_bill_part_name(enum fth_bill_part p)
{
	static const char *const names[FTH_BILL_NPARTS] = {"used", "lost", "boot", "idle", "fragmented"};
	return names[p];
}

void fth_bill_release(struct fth_bill *b)
{
	fth_vec_release(&b->jobs);
	fth_vec_release(&b->users);
	fth_vec_release(&b->instances);
}

/* ---- the passing of time ---- */

/* Shares that exceed a whole machine together are cut down in proportion. */
static uint64_t part_of(const struct machine *m, uint32_t share)
{
	return m->shares > WHOLE ? (uint64_t)share * WHOLE / m->shares : share;
}

static void advance(struct fth_biller *b, struct machine *m, fth_time now)
{
	__int128 dt = now - m->since;
	uint64_t taken = 0;
	if (dt <= 0)
		return;
	m->since = now;
	if (m->acquired == FTH_NEVER)
		return;
	for (size_t i = 0; i < m->tasks.len; i++) {
		struct holding *h = &b->holdings.data[m->tasks.data[i]];
		uint64_t part = part_of(m, h->share);
		h->weight += dt * part;
		taken += part;
	}
	if (m->ready == FTH_NEVER)
		m->boot += dt * WHOLE;
	else if (!m->tasks.len)
		m->idle += dt * WHOLE;
	else
		m->fragmented += dt * (WHOLE - taken);
}

static struct machine *machine_of(struct fth_biller *b, const struct fth_instance *i)
{
	while (b->machines.len <= i->slot)
		fth_vec_push(&b->machines, (struct machine){.id = FTH_NONE});
	struct machine *m = &b->machines.data[i->slot];
	if (m->id != i->id) { /* a slot is used again */
		fth_vec_clear(&m->accounts);
		fth_vec_clear(&m->tasks);
		*m = (struct machine){.id = i->id, .acquired = FTH_NEVER, .ready = FTH_NEVER, .requested = i->requested,
				      .accounts.data = m->accounts.data, .accounts.cap = m->accounts.cap,
				      .tasks.data = m->tasks.data, .tasks.cap = m->tasks.cap};
	}
	return m;
}

static struct account *account_of(struct machine *m, uint32_t job)
{
	for (size_t i = 0; i < m->accounts.len; i++)
		if (m->accounts.data[i].job == job)
			return &m->accounts.data[i];
	fth_vec_push(&m->accounts, ((struct account){.job = job}));
	return &fth_vec_last(&m->accounts);
}

/* ---- tasks come and go ---- */

static uint32_t dominant_share(const struct fth_cluster *c, const struct fth_task *t, const struct fth_instance *i)
{
	const struct fth_res *room = &c->catalog.types.data[i->type].capacity;
	const struct fth_alt *alt = fth_cluster_alt(c, t, i->type);
	int64_t most = 0;
	for (int k = 0; alt && k < FTH_RES_MAX; k++)
		if (room->v[k] > 0)
			most = FTH_MAX(most, (int64_t)((__int128)alt->demand.v[k] * WHOLE / room->v[k]));
	return (uint32_t)FTH_MIN(most, WHOLE);
}

static struct holding *holding_of(struct fth_biller *b, uint32_t slot)
{
	while (b->holdings.len <= slot)
		fth_vec_push(&b->holdings, (struct holding){.machine = FTH_NONE});
	return &b->holdings.data[slot];
}

static void arrives(struct fth_biller *b, const struct fth_cluster *c, const struct fth_task *t, fth_time now)
{
	const struct fth_instance *i = fth_cluster_instance(c, t->on);
	struct machine *m = machine_of(b, i);
	advance(b, m, now);
	struct holding *h = holding_of(b, t->slot);
	*h = (struct holding){.machine = i->slot, .job = b->job_of.data[fth_cluster_job(c, t->job)->slot], .since = now};
	h->share = dominant_share(c, t, i);
	m->shares += h->share;
	fth_vec_push(&m->tasks, t->slot);
}

static void leaves(struct fth_biller *b, uint32_t slot, fth_time now, bool lost)
{
	struct holding *h = holding_of(b, slot);
	if (h->machine == FTH_NONE)
		return;
	struct machine *m = &b->machines.data[h->machine];
	advance(b, m, now);
	struct account *a = account_of(m, h->job);
	if (lost)
		a->lost += h->weight;
	else
		a->used += h->weight;
	b->jobs.data[h->job].ran += now - h->since;
	m->shares -= h->share;
	h->machine = FTH_NONE;
	for (size_t i = 0; i < m->tasks.len; i++)
		if (m->tasks.data[i] == slot) {
			memmove(&m->tasks.data[i], &m->tasks.data[i + 1], (m->tasks.len - i - 1) * sizeof(slot));
			m->tasks.len--;
			return;
		}
}

/* ---- dividing an amount ---- */

struct division {
	FTH_VEC(__int128) weights;
	FTH_VEC(fth_money) parts;
};

/* Largest remainder; ties to the earlier one. Weights are scaled down to 62 bits first where they are longer, so
 * that the products hold. */
static void divide(struct division *d, fth_money amount)
{
	__int128 sum = 0;
	size_t n = d->weights.len;
	fth_vec_clear(&d->parts);
	for (size_t i = 0; i < n; i++)
		sum += d->weights.data[i];
	int shift = 0;
	while (sum >> shift > (__int128)1 << 62)
		shift++;
	sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += d->weights.data[i] >> shift;
	fth_money left = amount;
	for (size_t i = 0; i < n; i++) {
		__int128 w = d->weights.data[i] >> shift;
		fth_vec_push(&d->parts, sum ? (fth_money)(amount * w / sum) : 0);
		left -= d->parts.data[i];
	}
	/* At most n - 1 nano-dollars are left: to those that lost most by rounding down. */
	while (left > 0 && sum) {
		size_t best = n;
		__int128 most = -1;
		for (size_t i = 0; i < n; i++) {
			__int128 w = d->weights.data[i] >> shift;
			__int128 rest = amount * w - (__int128)d->parts.data[i] * sum;
			if (rest > most) {
				most = rest;
				best = i;
			}
		}
		d->parts.data[best]++;
		left--;
	}
	if (left > 0 && n) /* nothing to go by: a machine that was billed and never had time on it */
		d->parts.data[0] += left;
}

enum { OWN_PARTS = 3 }; /* boot, idle, fragmented come first */

/* Divide what the machine cost: to its parts, and to the jobs that used it; runs not ended yet count as used. */
static void settle(const struct fth_biller *b, const struct machine *m, fth_money amount, struct division *d,
		   struct fth_bill_instance *to, struct fth_bill_job *jobs)
{
	fth_vec_clear(&d->weights);
	fth_vec_push(&d->weights, m->boot);
	fth_vec_push(&d->weights, m->idle);
	fth_vec_push(&d->weights, m->fragmented);
	for (size_t i = 0; i < m->accounts.len; i++) {
		fth_vec_push(&d->weights, m->accounts.data[i].used);
		fth_vec_push(&d->weights, m->accounts.data[i].lost);
	}
	for (size_t i = 0; i < m->tasks.len; i++)
		fth_vec_push(&d->weights, b->holdings.data[m->tasks.data[i]].weight);
	divide(d, amount);
	const fth_money *p = d->parts.data;
	to->part[FTH_BILL_BOOT] = p[0];
	to->part[FTH_BILL_IDLE] = p[1];
	to->part[FTH_BILL_FRAGMENTED] = p[2];
	p += OWN_PARTS;
	for (size_t i = 0; i < m->accounts.len; i++, p += 2) {
		to->part[FTH_BILL_USED] += p[0];
		to->part[FTH_BILL_LOST] += p[1];
		jobs[m->accounts.data[i].job].used += p[0];
		jobs[m->accounts.data[i].job].lost += p[1];
	}
	for (size_t i = 0; i < m->tasks.len; i++, p++) {
		to->part[FTH_BILL_USED] += *p;
		jobs[b->holdings.data[m->tasks.data[i]].job].used += *p;
	}
	to->total = amount;
}

static void division_release(struct division *d)
{
	fth_vec_release(&d->weights);
	fth_vec_release(&d->parts);
}

static struct fth_bill_instance row_of(const struct machine *m, fth_time gone)
{
	return (struct fth_bill_instance){.instance = m->id, .offer = m->offer, .requested = m->requested,
					  .acquired = m->acquired, .ready = m->ready, .gone = gone};
}

/* ---- what the engine shows ---- */

static void on_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *j)
{
	(void)c;
	struct fth_biller *b = (struct fth_biller *)o;
	while (b->job_of.len <= j->slot)
		fth_vec_push(&b->job_of, 0);
	b->job_of.data[j->slot] = (uint32_t)b->jobs.len;
	fth_vec_push(&b->jobs, ((struct fth_bill_job){.job = j->name, .user = j->user, .submitted = j->submitted,
						       .ended = FTH_NEVER}));
}

/* Before, because the event takes from the task where it was. */
static void before_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct fth_biller *b = (struct fth_biller *)o;
	b->last = FTH_MAX(b->last, ev->time);
	const struct fth_task *t = ev->task == FTH_NONE ? NULL : fth_cluster_task(c, ev->task);
	switch (ev->kind) {
	case FTH_EV_TASK_LEFT:
	case FTH_EV_TASK_DONE:
		leaves(b, t->slot, ev->time, false);
		return;
	case FTH_EV_TASK_LOST:
		leaves(b, t->slot, ev->time, true);
		return;
	case FTH_EV_JOB_CANCELLED: {
		const struct fth_job *j = fth_cluster_job(c, ev->job);
		for (uint32_t k = 0; k < j->ntasks; k++) {
			t = fth_cluster_task(c, j->first_task + k);
			if (t->on != FTH_NONE)
				leaves(b, t->slot, ev->time, false);
		}
		b->jobs.data[b->job_of.data[j->slot]].ended = ev->time;
		return;
	}
	case FTH_EV_JOB_DONE:
		b->jobs.data[b->job_of.data[fth_cluster_job(c, ev->job)->slot]].ended = ev->time;
		return;
	default:
		return;
	}
}

static void after_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct fth_biller *b = (struct fth_biller *)o;
	if (ev->kind == FTH_EV_TASK_STARTING)
		arrives(b, c, fth_cluster_task(c, ev->task), ev->time);
	if (ev->kind != FTH_EV_INSTANCE_ACQUIRED && ev->kind != FTH_EV_INSTANCE_READY)
		return;
	const struct fth_instance *i = fth_cluster_instance(c, ev->instance);
	struct machine *m = machine_of(b, i);
	advance(b, m, ev->time);
	m->offer = i->offer;
	m->acquired = i->acquired;
	m->ready = i->ready;
}

static void on_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	struct fth_biller *b = (struct fth_biller *)o;
	struct machine *m = machine_of(b, fth_cluster_instance(c, charge->instance));
	struct division d = {0};
	advance(b, m, charge->to);
	struct fth_bill_instance row = row_of(m, charge->to);
	settle(b, m, charge->amount, &d, &row, b->jobs.data);
	fth_vec_push(&b->closed, row);
	division_release(&d);
}

struct fth_biller *fth_biller_new(void)
{
	struct fth_biller *b = fth_alloc(sizeof(*b));
	b->base = (struct fth_observer){
		.before_event = before_event, .after_event = after_event, .on_submit = on_submit, .on_charge = on_charge};
	return b;
}

struct fth_observer *fth_biller_observer(struct fth_biller *b)
{
	return &b->base;
}

void fth_biller_free(struct fth_biller *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->machines.len; i++) {
		fth_vec_release(&b->machines.data[i].accounts);
		fth_vec_release(&b->machines.data[i].tasks);
	}
	fth_vec_release(&b->machines);
	fth_vec_release(&b->holdings);
	fth_vec_release(&b->job_of);
	fth_vec_release(&b->jobs);
	fth_vec_release(&b->closed);
	free(b);
}

/* ---- the bill ---- */

static int by_instance(const void *x, const void *y)
{
	const struct fth_bill_instance *a = x, *b = y;
	return (a->instance > b->instance) - (a->instance < b->instance);
}

static void add_users(struct fth_bill *bill)
{
	struct fth_map at = {0};
	for (size_t i = 0; i < bill->jobs.len; i++) {
		const struct fth_bill_job *j = &bill->jobs.data[i];
		uint64_t k;
		if (!fth_map_get(&at, j->user, &k)) {
			k = bill->users.len;
			fth_map_put(&at, j->user, k);
			fth_vec_push(&bill->users, ((struct fth_bill_user){.user = j->user}));
		}
		bill->users.data[k].jobs++;
		bill->users.data[k].used += j->used;
		bill->users.data[k].lost += j->lost;
	}
	fth_map_release(&at);
}

/* Time that has passed since the last event counts too. */
static void add_open(struct fth_biller *b, const struct fth_engine *e, fth_time now, struct fth_bill *bill)
{
	const struct fth_cluster *c = fth_engine_cluster(e);
	struct division d = {0};
	for (fth_instance_id id = c->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(c, id);
		id = i->next;
		if (!fth_ledger_is_open(fth_engine_ledger(e), i->id) || i->slot >= b->machines.len)
			continue;
		struct machine *m = &b->machines.data[i->slot];
		advance(b, m, now);
		struct fth_bill_instance row = row_of(m, FTH_NEVER);
		row.open = true;
		settle(b, m, fth_ledger_accrued(fth_engine_ledger(e), i->id, now), &d, &row, bill->jobs.data);
		fth_vec_push(&bill->instances, row);
	}
	division_release(&d);
}

void fth_biller_bill(struct fth_biller *b, const struct fth_engine *e, fth_time now, struct fth_bill *ret)
{
	*ret = (struct fth_bill){0};
	now = FTH_MAX(now, b->last);
	for (size_t i = 0; i < b->jobs.len; i++)
		fth_vec_push(&ret->jobs, b->jobs.data[i]);
	for (size_t i = 0; i < b->closed.len; i++)
		fth_vec_push(&ret->instances, b->closed.data[i]);
	add_open(b, e, now, ret);
	if (ret->instances.len)
		qsort(ret->instances.data, ret->instances.len, sizeof(ret->instances.data[0]), by_instance);
	add_users(ret);
	for (size_t i = 0; i < ret->instances.len; i++) {
		for (int k = 0; k < FTH_BILL_NPARTS; k++)
			ret->part[k] += ret->instances.data[i].part[k];
		ret->total += ret->instances.data[i].total;
	}
}
