/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "optimize/spot.h"
#include "optimize/spot_internal.h"

const struct fth_spot_method fth_spot_methods[] = {
	{"search", "the cheapest pool a search finds, with a proven lower bound", fth_spot_search},
	{"tr", "TR-Kubernetes as published: greedy by cost and availability, on demand where that is cheaper", fth_spot_tr},
	{"tr-artifact", "TR-Kubernetes as released: whole-pool score, stops at three times the capacity", fth_spot_tr_artifact},
	{"cheapest", "Spot Fleet's cheapest: one type, no target", fth_spot_cheapest},
	{"diverse", "Spot Fleet's diversified: the ten cheapest types in turn, no target", fth_spot_diverse},
	{"availability", "greedy by availability alone", fth_spot_available},
	{"on-demand", "the cheapest on-demand machines", fth_spot_all_on_demand},
	{0},
};

void fth_spot_plan_release(struct fth_spot_plan *p)
{
	free(p->count);
	free(p->on_demand);
	*p = (struct fth_spot_plan){0};
}

void fth_spot_plan_init(const struct fth_spot_problem *p, struct fth_spot_plan *plan)
{
	*plan = (struct fth_spot_plan){
		.count = fth_alloc((p->noffers + 1) * sizeof(*plan->count)),
		.on_demand = fth_alloc((p->noffers + 1) * sizeof(*plan->on_demand)),
	};
}

static int check_offer(const struct fth_spot_offer *o, uint32_t i, struct fth_error *err)
{
	const char *type = o->type, *in = *o->zone ? " in " : "", *zone = o->zone;
	if (!(o->availability > 0) || !(o->availability < 1))
		return fth_fail(err, -EINVAL, "offer %u, %s%s%s: availability %g is not between 0 and 1", i + 1, type, in, zone,
				o->availability);
	if (!(o->price > 0) || !isfinite(o->price))
		return fth_fail(err, -EINVAL, "offer %u, %s%s%s: price %g is not a positive number", i + 1, type, in, zone, o->price);
	if (!(o->on_demand >= 0) || !isfinite(o->on_demand))
		return fth_fail(err, -EINVAL, "offer %u, %s%s%s: on-demand price %g is not a number from 0", i + 1, type, in, zone,
				o->on_demand);
	if (!o->capacity || o->capacity > FTH_SPOT_CAPACITY_MAX)
		return fth_fail(err, -EINVAL, "offer %u, %s%s%s: capacity %llu is not between 1 and %d", i + 1, type, in, zone,
				(unsigned long long)o->capacity, FTH_SPOT_CAPACITY_MAX);
	return 0;
}

int fth_spot_check(const struct fth_spot_problem *p, struct fth_error *err)
{
	if (!p->noffers)
		return fth_fail(err, -EINVAL, "the pool has no offers");
	if (!(p->target > 0) || !(p->target < 1))
		return fth_fail(err, -EINVAL, "availability %g is not between 0 and 1", p->target);
	if (!p->capacity || p->capacity > FTH_SPOT_CAPACITY_MAX)
		return fth_fail(err, -EINVAL, "capacity %llu is not between 1 and %d", (unsigned long long)p->capacity,
				FTH_SPOT_CAPACITY_MAX);
	if (!(p->failure >= 0) || !(p->failure < 1))
		return fth_fail(err, -EINVAL, "share of failures %g is not from 0 to below 1", p->failure);
	if (p->memory < 0)
		return fth_fail(err, -EINVAL, "memory of %lld MiB is below 0", (long long)p->memory);
	if (p->joint && fth_joint_kinds(p->joint) != p->noffers)
		return fth_fail(err, -EINVAL, "the correlations are of %u offers, the pool has %u", fth_joint_kinds(p->joint),
				p->noffers);
	int r = 0;
	bool memory = false;
	for (uint32_t i = 0; i < p->noffers && !r; i++) {
		r = check_offer(&p->offers[i], i, err);
		memory |= p->offers[i].memory > 0;
	}
	if (!r && p->memory && !memory)
		return fth_fail(err, -EINVAL, "a memory of the pool is asked for, but no offer tells its memory (column MemoryMiB)");
	return r;
}

double fth_spot_p(const struct fth_spot_problem *p, uint32_t offer)
{
	double a = p->offers[offer].availability;
	return p->failure > 0 ? a * (1 - p->failure) : a;
}

double fth_spot_unit_price(const struct fth_spot_offer *o)
{
	return o->price / (double)o->capacity;
}

static uint32_t best_on_demand(const struct fth_spot_problem *p)
{
	uint32_t best = FTH_NONE;
	for (uint32_t i = 0; i < p->noffers; i++) {
		const struct fth_spot_offer *o = &p->offers[i];
		if (o->on_demand > 0 && (best == FTH_NONE || o->on_demand / (double)o->capacity <
				p->offers[best].on_demand / (double)p->offers[best].capacity))
			best = i;
	}
	return best;
}

double fth_spot_on_demand(const struct fth_spot_problem *p)
{
	uint32_t best = best_on_demand(p);
	if (best == FTH_NONE)
		return 0;
	return p->offers[best].on_demand / (double)p->offers[best].capacity * (double)p->capacity;
}

/* Machines on demand are there unless they fail; the paper takes them as one more kind. */
static double plan_availability(const struct fth_spot_problem *p, const struct fth_spot_plan *plan)
{
	struct fth_pool_part *parts = fth_alloc((p->noffers + 1) * sizeof(*parts));
	uint64_t sure = 0;
	for (uint32_t i = 0; i < p->noffers; i++) {
		parts[i] = (struct fth_pool_part){plan->count[i] * p->offers[i].capacity, fth_spot_p(p, i)};
		sure += plan->on_demand[i] * p->offers[i].capacity;
	}
	uint64_t need = p->capacity > sure ? p->capacity - sure : 0;
	double up = sure ? 1 - p->failure : 1, a;
	if (p->joint)
		a = fth_joint_availability(p->joint, parts, need, p->failure);
	else
		a = fth_pool_availability(parts, p->noffers, need);
	if (sure && p->failure > 0) /* the spot part alone, while the other has failed */
		a = up * a + p->failure * (p->joint ? fth_joint_availability(p->joint, parts, p->capacity, p->failure)
						     : fth_pool_availability(parts, p->noffers, p->capacity));
	free(parts);
	return a;
}

void fth_spot_measure(const struct fth_spot_problem *p, struct fth_spot_plan *plan)
{
	plan->cost = 0;
	plan->total = 0;
	plan->memory = 0;
	for (uint32_t i = 0; i < p->noffers; i++) {
		const struct fth_spot_offer *o = &p->offers[i];
		plan->cost += plan->count[i] * o->price + plan->on_demand[i] * o->on_demand;
		plan->total += (uint64_t)(plan->count[i] + plan->on_demand[i]) * o->capacity;
		plan->memory += (int64_t)(plan->count[i] + plan->on_demand[i]) * o->memory;
	}
	plan->availability = plan->total < p->capacity ? 0 : plan_availability(p, plan);
	plan->met = plan->availability >= p->target && plan->memory >= p->memory;
}

/* The cheapest machines on demand for so many units: the last few exactly, what is far below them by the cheapest unit. */
enum { EXACT_UNITS = 20000 };
static void buy_on_demand(const struct fth_spot_problem *p, uint32_t best, uint32_t *count)
{
	uint64_t units = p->capacity, largest = 1, each = p->offers[best].capacity;
	for (uint32_t i = 0; i < p->noffers; i++)
		largest = FTH_MAX(largest, p->offers[i].on_demand > 0 ? p->offers[i].capacity : 0);
	uint64_t exact = FTH_MIN(FTH_MIN(units, 2 * largest), (uint64_t)EXACT_UNITS);
	if (units > exact) {
		count[best] = (uint32_t)((units - exact) / each);
		units -= count[best] * each;
	}
	if (units > EXACT_UNITS + each) { /* machines of more units than we look at one by one */
		count[best] += (uint32_t)((units + each - 1) / each);
		return;
	}
	double *cost = fth_alloc((units + 1) * sizeof(*cost));
	uint32_t *last = fth_alloc((units + 1) * sizeof(*last));
	for (uint64_t c = 1; c <= units; c++) {
		cost[c] = INFINITY;
		for (uint32_t i = 0; i < p->noffers; i++) {
			const struct fth_spot_offer *o = &p->offers[i];
			double with = o->on_demand > 0 ? o->on_demand + cost[c > o->capacity ? c - o->capacity : 0] : INFINITY;
			if (with < cost[c]) {
				cost[c] = with;
				last[c] = i;
			}
		}
	}
	for (uint64_t c = units; c;) {
		count[last[c]]++;
		c = c > p->offers[last[c]].capacity ? c - p->offers[last[c]].capacity : 0;
	}
	free(cost);
	free(last);
}

int fth_spot_all_on_demand(const struct fth_spot_problem *p, struct fth_spot_plan *ret, struct fth_error *err)
{
	int r = fth_spot_check(p, err);
	if (r)
		return r;
	uint32_t best = best_on_demand(p);
	if (best == FTH_NONE)
		return fth_fail(err, -EINVAL, "no offer tells an on-demand price");
	fth_spot_plan_init(p, ret);
	const struct fth_spot_offer *o = &p->offers[best];
	buy_on_demand(p, best, ret->on_demand);
	ret->fallback = true;
	fth_spot_measure(p, ret);
	if (ret->memory < p->memory && o->memory > 0) {
		ret->on_demand[best] += (uint32_t)((p->memory - ret->memory + o->memory - 1) / o->memory);
		fth_spot_measure(p, ret);
	}
	return 0;
}

bool fth_spot_try_on_demand(const struct fth_spot_problem *p, struct fth_spot_plan *plan)
{
	struct fth_spot_plan other;
	if (fth_spot_all_on_demand(p, &other, NULL))
		return false;
	bool better = other.met && (!plan->met || other.cost < plan->cost);
	if (better) {
		struct fth_spot_plan t = *plan;
		*plan = other;
		other = t;
		plan->steps = other.steps;
	}
	fth_spot_plan_release(&other);
	return better;
}

double fth_spot_best_reachable(const struct fth_spot_problem *p, double *ret_cost)
{
	struct fth_spot_plan all;
	fth_spot_plan_init(p, &all);
	for (uint32_t i = 0; i < p->noffers; i++)
		all.count[i] = (uint32_t)((p->capacity + p->offers[i].capacity - 1) / p->offers[i].capacity);
	fth_spot_measure(p, &all);
	double a = all.availability;
	*ret_cost = all.cost;
	fth_spot_plan_release(&all);
	return a;
}
