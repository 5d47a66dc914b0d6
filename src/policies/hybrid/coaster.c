/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transient part of the short partition: how many machines there are to be, which come and which go.
 * What the paper leaves open is a parameter each; docs/short-tasks.md argues the defaults.
 */
#include "policies/hybrid/core.h"

enum machine_state { PENDING, READY, DRAINING, TAKEN };

/* A transient instance, asked for or there. */
struct machine {
	fth_instance_id instance;
	enum machine_state state;
	uint32_t first, n; /* its workers */
	fth_time since;    /* in this state */
	bool asked;        /* to go, or gone: there is nothing to ask any more */
};

struct fth_coaster {
	FTH_VEC(struct machine) machines; /* in the order in which they were asked for */
	uint32_t pending, ready, leaving; /* workers */
	uint32_t replaced;                /* short-only workers given up for transients */
	/* surge */
	fth_time seen;      /* all of them were last wanted */
	fth_time next_look; /* not before */
};

struct fth_coaster *fth_coaster_new(uint32_t replaced)
{
	struct fth_coaster *c = fth_alloc(sizeof(*c));
	c->replaced = replaced;
	return c;
}

void fth_coaster_free(struct fth_coaster *c)
{
	if (!c)
		return;
	fth_vec_release(&c->machines);
	free(c);
}

/* ---- what may be bought ---- */

static uint32_t slices_of(const struct fth_hybrid *h, fth_offer_id o)
{
	const struct fth_catalog *c = h->view->catalog;
	return (uint32_t)FTH_MIN(c->types[c->offers[o].type].capacity.v[FTH_CPU] / (1000 * h->params->slots), (int64_t)65536);
}

static double slot_price(const struct fth_hybrid *h, fth_offer_id o)
{
	return (double)h->view->catalog->offers[o].price / slices_of(h, o);
}

/* The spot offer whose price is nearest to that of the ratio, or the cheapest if the market is to say; FTH_NONE. */
static fth_offer_id choose_offer(const struct fth_hybrid *h)
{
	const struct fth_catalog *c = h->view->catalog;
	double r = h->params->r, want = r > 0 ? slot_price(h, h->offer) / r : 0, best = 0;
	fth_offer_id choice = FTH_NONE;
	for (uint32_t i = 0; i < c->noffers; i++) {
		if (c->offers[i].market != FTH_SPOT || !c->offers[i].available || !slices_of(h, i))
			continue;
		double off = slot_price(h, i) - want;
		off = off < 0 ? -off : off;
		if (choice == FTH_NONE || off < best) {
			choice = i;
			best = off;
		}
	}
	return choice;
}

/* K = r N p, with r as told or as the market has it now. */
static uint32_t budget(const struct fth_hybrid *h, fth_offer_id offer)
{
	double r = h->params->r;
	if (!(r > 0))
		r = offer == FTH_NONE ? 0 : slot_price(h, h->offer) / FTH_MAX(slot_price(h, offer), 1.0);
	double k = r * h->coaster->replaced + 1e-9;
	return k < 1e9 ? (uint32_t)k : 1000000000;
}

static uint32_t budget_now(const struct fth_hybrid *h)
{
	return budget(h, h->params->r > 0 ? FTH_NONE : choose_offer(h));
}

/* ---- coming ---- */

static bool request(struct fth_hybrid *h, const char *why)
{
	struct fth_coaster *c = h->coaster;
	fth_offer_id offer = choose_offer(h);
	uint32_t n = offer == FTH_NONE ? 0 : slices_of(h, offer);
	double most = n ? budget(h, offer) * (h->traits->surge ? h->params->peak : 1) : 0;
	if (!n || c->pending + c->ready + c->leaving + n > most)
		return false;
	struct fth_reason reason = {why, {h->view->catalog->offers[offer].price}};
	fth_instance_id id = fth_plan_launch(h->plan, &offer, 1, reason);
	fth_vec_push(&c->machines, ((struct machine){.instance = id, .state = PENDING, .n = n, .since = h->now}));
	c->pending += n;
	return true;
}

static void comes_up(struct fth_hybrid *h, struct machine *m)
{
	struct fth_coaster *c = h->coaster;
	c->pending -= m->n;
	c->ready += m->n;
	h->lag = h->now - m->since;
	m->state = READY;
	m->since = h->now;
	m->first = fth_hybrid_add_workers(h, m->instance, m->n, true);
	for (uint32_t k = 0; k < m->n; k++)
		fth_vec_push(&h->up, m->first + k);
}

/* ---- going ---- */

static void take_off_lists(struct fth_hybrid *h, const struct machine *m)
{
	size_t kept = 0;
	for (size_t k = 0; k < h->up.len; k++)
		if (h->up.data[k] < m->first || h->up.data[k] >= m->first + m->n)
			h->up.data[kept++] = h->up.data[k];
	h->up.len = kept;
}

static uint32_t load_of(const struct fth_hybrid *h, const struct machine *m)
{
	uint32_t load = 0;
	for (uint32_t k = 0; k < m->n; k++) {
		const struct fth_worker *w = &h->workers.data[m->first + k];
		load += w->len + (uint32_t)h->params->slots - w->free;
	}
	return load;
}

/* The newest request first; then, of those that are up, as the parameter says. */
static struct machine *choose_to_release(struct fth_hybrid *h)
{
	struct fth_coaster *c = h->coaster;
	struct machine *best = NULL;
	uint32_t least = 0;
	for (size_t k = c->machines.len; k-- > 0;)
		if (c->machines.data[k].state == PENDING && !c->machines.data[k].asked)
			return &c->machines.data[k];
	for (size_t k = c->machines.len; k-- > 0;) {
		struct machine *m = &c->machines.data[k];
		if (m->state != READY || m->asked)
			continue;
		uint32_t load = h->params->release == FTH_RELEASE_IDLEST ? load_of(h, m) : 0;
		if (!best || load < least || h->params->release == FTH_RELEASE_OLDEST) {
			best = m;
			least = load;
		}
	}
	return best;
}

static bool release(struct fth_hybrid *h, const char *why)
{
	struct fth_coaster *c = h->coaster;
	struct machine *m = choose_to_release(h);
	if (!m)
		return false;
	m->since = h->now;
	if (m->state == PENDING) {
		fth_plan_terminate(h->plan, m->instance, (struct fth_reason){why, {0}});
		m->asked = true;
		c->pending -= m->n;
		m->state = TAKEN; /* it never was there */
		m->n = 0;
		return true;
	}
	m->state = DRAINING;
	c->ready -= m->n;
	c->leaving += m->n;
	take_off_lists(h, m);
	for (uint32_t k = 0; k < m->n; k++) {
		h->workers.data[m->first + k].state = FTH_WORKER_DRAINING;
		fth_hybrid_later(h, FTH_DRAIN_WAIT, FTH_DUE_DRAINED, m->first + k, 0);
	}
	return true;
}

static struct machine *find(struct fth_coaster *c, fth_instance_id id)
{
	for (size_t k = 0; k < c->machines.len; k++)
		if (c->machines.data[k].instance == id)
			return &c->machines.data[k];
	return NULL;
}

/* Idle, empty, and nothing can be under way to it any more: it goes. */
void fth_coaster_drained(struct fth_hybrid *h, uint32_t w)
{
	struct machine *m = find(h->coaster, h->workers.data[w].instance);
	if (!m || m->state != DRAINING || m->asked || h->now < m->since + h->params->drain_after || load_of(h, m))
		return;
	m->asked = true;
	fth_plan_terminate(h->plan, m->instance, (struct fth_reason){"drained", {0}});
}

/* The machine will be taken: what is queued there goes on to where it is safe. */
static void notice(struct fth_hybrid *h, struct machine *m)
{
	struct fth_coaster *c = h->coaster;
	if (m->state == PENDING) {
		c->pending -= m->n;
		m->state = TAKEN;
		m->n = 0;
		return;
	}
	if (m->state == READY) {
		c->ready -= m->n;
		c->leaving += m->n;
		take_off_lists(h, m);
	}
	m->state = TAKEN;
	for (uint32_t w = m->first; w < m->first + m->n; w++) {
		h->workers.data[w].state = FTH_WORKER_TAKEN;
		for (; h->workers.data[w].len; fth_queue_remove(&h->workers.data[w], 0)) {
			struct fth_worker *x = &h->workers.data[w];
			uint32_t job = x->queue[x->head].job;
			if (fth_hybrid_has_task(&h->jobs.data[job]))
				fth_hybrid_send(h, fth_hybrid_safe_worker(h), job, FTH_ONE_WAY);
			fth_hybrid_unref(h, job);
		}
	}
}

static void gone(struct fth_hybrid *h, struct machine *m)
{
	struct fth_coaster *c = h->coaster;
	if (m->state == PENDING)
		c->pending -= m->n; /* it could not be had */
	else if (m->state == READY)
		c->ready -= m->n;
	else if (m->n)
		c->leaving -= m->n;
	if (m->state == READY)
		take_off_lists(h, m);
	if (m->state != PENDING && m->n)
		fth_hybrid_retire(h, m->first, m->n);
	size_t at = (size_t)(m - c->machines.data);
	memmove(m, m + 1, (c->machines.len - at - 1) * sizeof(*m));
	c->machines.len--;
}

void fth_coaster_doomed(struct fth_hybrid *h, fth_instance_id id)
{
	struct machine *m = find(h->coaster, id);
	if (m)
		m->asked = true;
}

bool fth_coaster_event(struct fth_hybrid *h, const struct fth_event *ev)
{
	struct machine *m = ev->instance == FTH_NONE ? NULL : find(h->coaster, ev->instance);
	if (!m)
		return false;
	bool changed = false;
	if (ev->kind == FTH_EV_INSTANCE_READY && m->state == PENDING) {
		comes_up(h, m);
		changed = true;
	} else if (ev->kind == FTH_EV_REVOCATION_NOTICE && m->state != TAKEN) {
		notice(h, m);
		changed = true;
	} else if (ev->kind == FTH_EV_INSTANCE_GONE || ev->kind == FTH_EV_INSTANCE_REVOKED) {
		changed = m->state == PENDING; /* could not be had; one that leaves was counted out when it began to */
		gone(h, m);
	}
	if (changed && !h->traits->surge)
		fth_coaster_look(h);
	return true;
}

/* ---- how many there are to be: by the long-load ratio ---- */

/* With so many workers less. */
static double long_load_without(const struct fth_hybrid *h, uint32_t less)
{
	const struct fth_coaster *c = h->coaster;
	uint32_t total = h->nstatic + c->ready + (h->params->count_pending ? c->pending : 0);
	return (double)h->central.nbusy / (double)(total - FTH_MIN(less, total - 1));
}

double fth_coaster_long_load(const struct fth_hybrid *h)
{
	return long_load_without(h, 0);
}

/* One worker too many goes. A machine of several would come back at once if the ratio were above the threshold without it:
 * it stays until it would not. */
static bool may_release(struct fth_hybrid *h, double limit)
{
	const struct machine *m = choose_to_release(h);
	return m && fth_coaster_long_load(h) < limit && (m->n == 1 || long_load_without(h, m->n) <= limit);
}

void fth_coaster_look(struct fth_hybrid *h)
{
	const char *up = "the long-load ratio is above its threshold; at $0/h", *down = "the long-load ratio is below its threshold";
	const double limit = h->params->threshold;
	int step = h->params->step;
	if (h->traits->surge) {
		fth_surge_follow(h, budget_now(h));
		return;
	}
	if (fth_coaster_long_load(h) > limit) {
		while (request(h, up) && step != FTH_STEP_ONE && fth_coaster_long_load(h) > limit)
			;
	} else {
		while (may_release(h, limit) && release(h, down) && step == FTH_STEP_LOOP)
			;
	}
}

/* A price or the availability of an offer has changed: what could not be had may be there now; and what the budget no
 * longer pays for, as the market has it, is let go. */
void fth_coaster_offer_changed(struct fth_hybrid *h)
{
	struct fth_coaster *c = h->coaster;
	fth_offer_id offer = choose_offer(h);
	if (offer == FTH_NONE)
		return;
	double most = budget(h, offer) * (h->traits->surge ? h->params->peak : 1);
	while (c->pending + c->ready > most && release(h, "the budget does not pay for it at this price"))
		;
	if (fth_coaster_long_load(h) > h->params->threshold)
		fth_coaster_look(h);
}

/* ---- or by the work that waits, and that is on its way ---- */

void fth_coaster_job(struct fth_hybrid *h, const struct fth_hjob *j)
{
	if (h->traits->surge)
		fth_surge_arrival(h, j);
}

/* Machines come as soon as they are wanted; those without work go when they were not for a while. */
void fth_coaster_round(struct fth_hybrid *h)
{
	struct fth_coaster *c = h->coaster;
	if (!h->traits->surge)
		return;
	uint32_t most = budget_now(h);
	fth_surge_pay(h, c->ready + c->leaving, most);
	if (h->now < c->next_look)
		return;
	c->next_look = h->now + FTH_SEC;
	uint32_t want = fth_surge_wanted(h, most);
	if (want >= c->ready + c->pending)
		c->seen = h->now;
	while (c->ready + c->pending < want && request(h, "short work waits; at $0/h"))
		;
	if (h->now - c->seen < h->params->keep)
		return;
	for (uint32_t n = c->ready + c->pending; n > want && release(h, "no short work waits for it"); n = c->ready + c->pending)
		;
}
