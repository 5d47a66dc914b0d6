/* SPDX-License-Identifier: Apache-2.0 */
#include "report/settle.h"

#define WEEK (7 * FTH_DAY)

int fth_settle_demand(struct fth_demand *d, const struct fth_ledger *l, fth_offer_id offer, fth_time start, fth_time end,
		      struct fth_error *err)
{
	FTH_VEC(struct fth_demand_step) steps = {0};
	for (size_t i = 0; i < l->charges.len; i++) {
		const struct fth_charge *c = &l->charges.data[i];
		if (c->offer != offer)
			continue;
		fth_vec_push(&steps, ((struct fth_demand_step){c->from, 1}));
		fth_vec_push(&steps, ((struct fth_demand_step){c->from + c->billed, -1}));
		end = FTH_MAX(end, c->from + c->billed);
	}
	int r = fth_demand_build(d, steps.data, steps.len, start, end, WEEK, err);
	fth_vec_release(&steps);
	return r;
}

static void add_hours(struct fth_run *run, const char *name, double hours)
{
	for (uint32_t i = 0; i < run->ncontracts; i++)
		if (!strcmp(run->contracts[i].name, name)) {
			run->contracts[i].hours += hours;
			return;
		}
	if (run->ncontracts == FTH_RUN_CONTRACTS)
		return;
	struct fth_run_contract *c = &run->contracts[run->ncontracts++];
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->hours = hours;
}

/* What an offer's charges sum to at list price. */
static double listed(const struct fth_ledger *l, fth_offer_id offer, double *ret_hours)
{
	double usd = 0;
	*ret_hours = 0;
	for (size_t i = 0; i < l->charges.len; i++)
		if (l->charges.data[i].offer == offer) {
			usd += fth_usd(l->charges.data[i].amount);
			*ret_hours += (double)l->charges.data[i].billed / (double)FTH_HOUR;
		}
	return usd;
}

static double by_month(const struct fth_ledger *l, fth_offer_id offer, double price, fth_time epoch)
{
	FTH_VEC(struct fth_use) uses = {0};
	for (size_t i = 0; i < l->charges.len; i++) {
		const struct fth_charge *c = &l->charges.data[i];
		if (c->offer == offer && c->billed > 0)
			fth_vec_push(&uses, ((struct fth_use){c->from, c->from + c->billed}));
	}
	double usd = fth_sustained_cost(uses.data, uses.len, price, epoch);
	fth_vec_release(&uses);
	return usd;
}

static int with_contracts(struct fth_run *run, const struct fth_engine *e, fth_offer_id offer, enum fth_settlement how,
			  fth_time start, double *usd, struct fth_error *err)
{
	const struct fth_cluster *c = fth_engine_cluster(e);
	struct fth_reserve_market m = {0};
	struct fth_demand d = {0};
	struct fth_portfolio p = {0};
	struct fth_reserve_options o = {.full_term = how == FTH_SETTLE_COMMITTED};
	int r = fth_reserve_market_of(&m, c->syms, &c->catalog.pub, offer, err);
	if (r == -ENOENT) {
		fth_reserve_market_release(&m);
		return r;
	}
	if (!r)
		r = fth_settle_demand(&d, fth_engine_ledger(e), offer, start, 0, err);
	if (!r)
		r = fth_reserve_plan(&p, &m, &d, how == FTH_SETTLE_ONLINE ? FTH_RESERVE_ONLINE_LEVEL : FTH_RESERVE_GREEDY, &o, err);
	for (size_t k = 0; !r && k < p.hours.len; k++)
		if (p.hours.data[k] > 0)
			add_hours(run, k < m.classes.len ? fth_sym_str(c->syms, m.classes.data[k].name) : "on-demand", p.hours.data[k]);
	*usd = how == FTH_SETTLE_COMMITTED ? p.cost : p.pure;
	fth_portfolio_release(&p);
	fth_demand_release(&d);
	fth_reserve_market_release(&m);
	return r;
}

/* The first time anything was charged for, or a job came. */
static fth_time start_of(const struct fth_run *run, const struct fth_ledger *l)
{
	fth_time start = FTH_NEVER;
	for (size_t i = 0; i < l->charges.len; i++)
		start = FTH_MIN(start, l->charges.data[i].from);
	for (size_t i = 0; i < run->job_list.len; i++)
		start = FTH_MIN(start, run->job_list.data[i].submitted);
	return start;
}

/* What was gathered at list price is a part of the bill in the same proportion. */
static void set_cost(struct fth_run *run, double usd)
{
	double listed = fth_usd(run->list_cost), share = listed > 0 ? usd / listed : 1;
	run->cost = (fth_money)(usd * 1e9 + 0.5);
	run->waste_boot_usd *= share;
	run->waste_idle_usd *= share;
	run->waste_fragmentation_usd *= share;
	run->waste_rounding_usd *= share;
	for (size_t i = 0; i < run->buckets.len; i++)
		run->buckets.data[i].cost_usd *= share;
}

int fth_settle(struct fth_run *run, const struct fth_engine *e, enum fth_settlement how, fth_time epoch, struct fth_error *err)
{
	static const char *const names[] = {"on-demand", "spot", "reserved"};
	const struct fth_ledger *l = fth_engine_ledger(e);
	const struct fth_catalog *c = &fth_engine_cluster(e)->catalog.pub;
	double settled = 0;
	bool changed = false;
	fth_time start = start_of(run, l);
	run->list_cost = run->cost;
	for (fth_offer_id o = 0; o < c->noffers; o++) {
		double hours, usd = listed(l, o, &hours);
		if (hours <= 0)
			continue;
		if (c->offers[o].sustained) {
			settled += by_month(l, o, fth_usd(c->offers[o].price), epoch);
			add_hours(run, "sustained-use", hours);
			changed = true;
			continue;
		}
		/* A contract is about machines on demand; spot hours are paid for as they came. */
		bool spot = c->offers[o].market == FTH_SPOT;
		int r = how == FTH_SETTLE_LIST || spot ? -ENOENT : with_contracts(run, e, o, how, start, &usd, err);
		if (r && r != -ENOENT)
			return r;
		changed |= !r;
		settled += usd;
		if (r)
			add_hours(run, names[c->offers[o].market], hours);
	}
	if (changed)
		set_cost(run, settled);
	run->prorated = changed && (how == FTH_SETTLE_HINDSIGHT || how == FTH_SETTLE_ONLINE);
	return 0;
}
