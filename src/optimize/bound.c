/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/bound.h"

#include <farthing/policy.h>

/* Runs round: progress is summed in doubles, and the last microsecond of a task counts as done. */
#define ROUNDING 1e-8
static const fth_time LAST_BIT = 2 * FTH_US;
/* With discounts by month the whole month of a machine is had at (1 + 0.8 + 0.6 + 0.4) / 4 of its price. */
#define SUSTAINED 0.7
#define WEEK (7 * FTH_DAY)

struct builder {
	const struct fth_world *world;
	const struct fth_bound_options *o;
	struct fth_bound *b;
	__int128 *work;    /* by kind, microseconds */
	uint64_t *tasks;   /* by kind */
	uint64_t services;
	double *type_price; /* by type of the catalog; INFINITY: it cannot be had */
	bool free_increments, contracts, changing, joined;
	/* Rows of the LP: kinds whose demands may have been rounded down. */
	FTH_VEC(struct row {
		struct fth_kind proto; /* alts are the arena's */
		struct fth_bound_row shown;
		__int128 work;
		double weight; /* what it would cost at most, alone */
	}) rows;
	struct fth_arena arena;
	FTH_VEC(fth_type_id) types; /* columns of the LP */
	struct fth_res *demand, *capacity;
	double *speed, *hours, *price;
	uint32_t *class;
	struct fth_pairs pairs;
	bool crowded;
};

struct fth_bound_options fth_bound_quick(void)
{
	return (struct fth_bound_options){.rows_max = 192, .effort = {.quick = 20000, .work = 40000000}};
}

struct fth_bound_options fth_bound_thorough(void)
{
	return (struct fth_bound_options){.rows_max = 400, .effort = {.quick = 20000, .work = 600000000}};
}

static void remark(struct fth_bound *b, const char *fmt, ...) FTH_PRINTF(2, 3);
static void remark(struct fth_bound *b, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fth_vec_push(&b->remarks, fth_strdup(text));
}

static void give_up(struct fth_bound *b, const char *why)
{
	b->known = b->certified = false;
	snprintf(b->why, sizeof(b->why), "%s", why);
}

static void only_estimate(struct fth_bound *b, const char *why)
{
	if (b->certified)
		snprintf(b->why, sizeof(b->why), "%s", why);
	b->certified = false;
}

/* ---- how much there is to do ---- */

static void add_job(struct builder *k, const struct fth_job_item *item)
{
	const struct fth_job_spec *spec = item->spec;
	bool together = spec->kind == FTH_JOB_COUPLED || spec->kind == FTH_JOB_RIGID;
	if (spec->kind == FTH_JOB_SERVICE) {
		k->services++;
		return;
	}
	double iterations = spec->iter_rate > 0 ? (double)spec->iters / spec->iter_rate * 1e6 : 0;
	fth_time all = spec->iter_rate > 0 ? (fth_time)FTH_MIN(iterations, 9e18) : together ? fth_item_runtime(item) : -1;
	for (uint32_t g = 0; g < spec->ngroups; g++) {
		const struct fth_task_group *group = &item->groups[g];
		__int128 *sum = &k->work[group->kind];
		k->tasks[group->kind] += group->count;
		if (all >= 0 || group->first_own == FTH_NONE) {
			fth_time each = (all >= 0 ? all : group->work) - LAST_BIT;
			*sum += (__int128)FTH_MAX(each, 0) * group->count;
			continue;
		}
		for (uint32_t i = 0; i < group->count; i++)
			*sum += FTH_MAX(fth_item_work(item, g, i) - LAST_BIT, 0);
	}
}

static int sum_work(struct builder *k, struct fth_job_source *jobs, struct fth_error *err)
{
	struct fth_workload_source source;
	struct fth_job_item item;
	int r;
	fth_workload_source_init(&source, &k->world->workload);
	if (!jobs)
		jobs = &source.base;
	while ((r = jobs->next(jobs, &item, err)) > 0)
		add_job(k, &item);
	return r;
}

/* Progress in steps books a step at the speed at its end: exact if all that happens does so at whole steps. (Else a
 * neighbour that leaves within a step is forgotten up to a step too early. What the others gain by that is at most a
 * step of the share 1 - rate of a configuration's value, which is at most its machine's price; and nobody leaves more
 * often than it was launched.) */
static bool is_on_steps(const struct builder *k)
{
	const struct fth_world *w = k->world;
	fth_time step = w->workload.step;
	bool ok = !k->o->uneven_delays && !w->has_market && w->workload.jobs.len;
	for (size_t i = 0; step && ok && i < w->workload.jobs.len; i++)
		ok = w->workload.jobs.data[i].submit % step == 0;
	for (size_t i = 0; step && ok && i < w->kinds.list.len; i++) {
		const struct fth_task_delays *d = &w->kinds.list.data[i].delays;
		ok = !(d->fetch % step || d->setup % step || d->init % step || d->stop % step || d->save % step);
	}
	for (size_t i = 0; step && ok && i < w->catalog.types.len; i++) {
		const struct fth_instance_type *t = &w->catalog.types.data[i];
		const struct fth_delay *d[] = {&t->acquire, &t->setup, &t->terminate};
		for (int n = 0; n < 3; n++)
			ok &= d[n]->min == d[n]->max && d[n]->min % step == 0;
		for (int n = 0; n < FTH_BOOT_STEPS && t->boot[n].size; n++)
			ok = false; /* between the sizes of its table anything may come out */
	}
	return !step || ok;
}

/* ---- what an hour of each type can cost at the least ---- */

static double contract_price(const struct fth_catalog *c, const struct fth_offer *o, double price)
{
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *k = &c->offers[i];
		if (!k->contract.term || k->type != o->type || k->zone != o->zone)
			continue;
		/* A term is held for whole weeks, for one at least. */
		double held = (double)FTH_MAX(k->contract.term, WEEK) / (double)FTH_HOUR;
		price = FTH_MIN(price, fth_usd(k->price) + fth_usd(k->contract.upfront) / held);
	}
	return price;
}

/* The lowest price each offer has from the start of the run on. */
static fth_price *lowest_prices(struct builder *k)
{
	const struct fth_world *w = k->world;
	const struct fth_catalog *c = &w->catalog.pub;
	fth_price *lowest = fth_alloc((c->noffers + 1) * sizeof(*lowest));
	char *told = fth_alloc(c->noffers + 1);
	struct fth_market_tape tape = {0};
	for (uint32_t i = 0; i < c->noffers; i++)
		lowest[i] = c->offers[i].price;
	if (w->has_market)
		fth_market_play(&w->market, k->o->market_start ? k->o->market_start : w->market.first, &tape);
	for (size_t i = 0; i < tape.changes.len; i++) {
		const struct fth_market_series *s = &w->market.series.data[tape.changes.data[i].series];
		if (s->kind != FTH_MARKET_PRICE || (k->o->until && tape.changes.data[i].at > k->o->until))
			continue;
		lowest[s->offer] = told[s->offer] ? FTH_MIN(lowest[s->offer], tape.changes.data[i].value) : tape.changes.data[i].value;
		told[s->offer] = 1;
		k->changing = true;
	}
	fth_market_tape_release(&tape);
	free(told);
	return lowest;
}

static void find_prices(struct builder *k)
{
	const struct fth_catalog *c = &k->world->catalog.pub;
	fth_price *lowest = lowest_prices(k);
	k->type_price = fth_alloc((c->ntypes + 1) * sizeof(*k->type_price));
	for (uint32_t t = 0; t < c->ntypes; t++)
		k->type_price[t] = 1e300;
	for (uint32_t i = 0; i < c->noffers; i++) {
		const struct fth_offer *o = &c->offers[i];
		if (!o->available || o->contract.term)
			continue;
		double list = fth_usd(lowest[i]) * (o->sustained ? SUSTAINED : 1), price = contract_price(c, o, list);
		k->contracts |= price < list || o->sustained;
		k->free_increments |= o->market == FTH_SPOT && o->billing.cut_free;
		k->type_price[o->type] = FTH_MIN(k->type_price[o->type], price);
	}
	free(lowest);
}

/* ---- rows ---- */

/* Rounded down to so many leading bits; below 1 bit, to a power of two whose exponent is a multiple of 1 - bits. */
static int64_t round_demand(int64_t v, int bits)
{
	if (v <= 0 || bits > 62)
		return v;
	int top = 63 - __builtin_clzll((uint64_t)v);
	if (bits >= 1)
		return top < bits ? v : v >> (top - bits + 1) << (top - bits + 1);
	return (int64_t)1 << (top - top % (1 - bits));
}

static uint64_t row_hash(const struct fth_kind *p, int bits)
{
	uint64_t h = fth_hash_u64(p->klass + ((uint64_t)p->arch << 32));
	for (uint32_t a = 0; a < p->nalts; a++) {
		h = fth_hash_u64(h ^ p->alts[a].family ^ (uint64_t)p->alts[a].speed_ppm << 32);
		for (int d = 0; d < FTH_RES_MAX; d++)
			h = fth_hash_u64(h ^ (uint64_t)round_demand(p->alts[a].demand.v[d], bits));
	}
	return h;
}

static bool rows_equal(const struct fth_kind *a, const struct fth_kind *b)
{
	if (a->klass != b->klass || a->arch != b->arch || a->nalts != b->nalts)
		return false;
	for (uint32_t i = 0; i < a->nalts; i++)
		if (a->alts[i].family != b->alts[i].family || a->alts[i].speed_ppm != b->alts[i].speed_ppm ||
		    !fth_res_equal(&a->alts[i].demand, &b->alts[i].demand))
			return false;
	return true;
}

/* Add a row to the list, or to the one it equals after rounding. */
static void join_row(struct builder *k, size_t first, struct fth_map *index, const struct row *from, int bits)
{
	struct row r = *from;
	struct fth_alt *alts = fth_arena_alloc(&k->arena, FTH_MAX(r.proto.nalts, 1u) * sizeof(*alts));
	for (uint32_t a = 0; a < r.proto.nalts; a++) {
		alts[a] = r.proto.alts[a];
		for (int d = 0; d < FTH_RES_MAX; d++)
			alts[a].demand.v[d] = round_demand(alts[a].demand.v[d], bits);
	}
	r.proto.alts = alts;
	uint64_t hash = row_hash(&r.proto, 63), at;
	while (fth_map_get(index, hash, &at) && !rows_equal(&k->rows.data[at].proto, &r.proto))
		hash++;
	if (fth_map_get(index, hash, &at) && at >= first) {
		struct row *to = &k->rows.data[at];
		to->work += r.work;
		to->weight += r.weight;
		to->shown.tasks += r.shown.tasks;
		to->shown.kinds += r.shown.kinds;
		return;
	}
	fth_map_put(index, hash, k->rows.len);
	fth_vec_push(&k->rows, r);
}

/* The least that an hour of its work costs with a machine to itself; 0: some machine does it for nothing. */
static double hourly_price(const struct builder *k, const struct fth_kind *kind, bool *ret_free)
{
	const struct fth_catalog *c = &k->world->catalog.pub;
	double least = 1e300;
	*ret_free = false;
	for (uint32_t t = 0; t < c->ntypes; t++) {
		const struct fth_alt *a = k->type_price[t] < 1e300 ? fth_kind_on_type(kind, &c->types[t]) : NULL;
		if (!a || !a->speed_ppm || !fth_res_fits(&a->demand, &c->types[t].capacity))
			continue;
		*ret_free |= k->type_price[t] <= 0 || fth_res_equal(&a->demand, &(struct fth_res){{0}});
		least = FTH_MIN(least, k->type_price[t] / a->speed_ppm * 1e6);
	}
	return least;
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->shown.label > y->shown.label) - (x->shown.label < y->shown.label);
}

/* Kinds that are alike in one row each. False: no machine can run one of them. */
static bool make_rows(struct builder *k)
{
	const struct fth_kinds *kinds = &k->world->kinds;
	struct fth_map index = {0};
	uint64_t gratis = 0;
	bool ok = true;
	for (size_t i = 0; i < kinds->list.len && ok; i++) {
		const struct fth_kind *kind = &kinds->list.data[i];
		bool is_free;
		if (k->work[i] <= 0)
			continue;
		k->b->kinds++;
		double hourly = hourly_price(k, kind, &is_free);
		ok = hourly < 1e300;
		if (is_free) {
			gratis += k->tasks[i];
			continue;
		}
		struct row r = {.proto = *kind, .work = k->work[i], .weight = hourly * (double)k->work[i]};
		r.proto.klass = k->crowded ? kind->klass : 0;
		r.shown = (struct fth_bound_row){.label = kind->label, .klass = kind->klass, .kinds = 1, .tasks = k->tasks[i],
						 .demand = kind->nalts ? kind->alts[0].demand : (struct fth_res){{0}}};
		join_row(k, 0, &index, &r, 63);
	}
	fth_map_release(&index);
	if (gratis)
		remark(k->b, "%llu tasks are left out: a machine without a price can run them, or they need nothing.",
		       (unsigned long long)gratis);
	if (k->rows.len)
		qsort(k->rows.data, k->rows.len, sizeof(*k->rows.data), by_weight);
	return ok;
}

/* The greatest part of a demand that rounding takes away. */
static double rounded_off(const struct fth_kind *p, int bits)
{
	double most = 0;
	for (uint32_t a = 0; a < p->nalts; a++)
		for (int d = 0; d < FTH_RES_MAX; d++) {
			int64_t v = p->alts[a].demand.v[d];
			if (v > 0)
				most = FTH_MAX(most, 1 - (double)round_demand(v, bits) / (double)v);
		}
	return most;
}

/* How many rows are left if all but the first `keep` are rounded so, and what of their weight is lost at most. */
static size_t count_rows(const struct builder *k, size_t keep, int bits, double *ret_loss)
{
	struct fth_map seen = {0};
	size_t n = FTH_MIN(keep, k->rows.len);
	*ret_loss = 0;
	for (size_t i = keep; i < k->rows.len; i++) {
		uint64_t hash = row_hash(&k->rows.data[i].proto, bits);
		*ret_loss += k->rows.data[i].weight * rounded_off(&k->rows.data[i].proto, bits);
		if (fth_map_get(&seen, hash, NULL))
			continue;
		fth_map_put(&seen, hash, 1);
		n++;
	}
	fth_map_release(&seen);
	return n;
}

enum { COARSEST = -6 };

/* The way to be left with at most so many rows that loses least: how many to keep as they are, and how finely to round
 * the others. */
static size_t choose_rounding(const struct builder *k, size_t most, int *ret_bits)
{
	size_t best = most - most / 4;
	double least = 1e300;
	*ret_bits = COARSEST;
	for (size_t quarter = 0; quarter < 4; quarter++) {
		size_t keep = most * quarter / 4;
		double loss;
		int bits = 6;
		while (bits > COARSEST && count_rows(k, keep, bits, &loss) > most)
			bits--;
		if (bits > COARSEST && loss < least) {
			least = loss;
			best = keep;
			*ret_bits = bits;
		}
	}
	return best;
}

/* Too many rows: keep those that weigh most, round down the demands of the others until few enough are left, and leave
 * out the lightest if even that does not do. Smaller demands and less work only lower the bound. */
static void limit_rows(struct builder *k)
{
	size_t most = k->o->rows_max, n = k->rows.len;
	if (n <= most)
		return;
	int bits;
	size_t keep = choose_rounding(k, most, &bits);
	double total = 0, dropped = 0;
	struct fth_map index = {0};
	struct row *tail = fth_alloc((n - keep + 1) * sizeof(*tail));
	memcpy(tail, k->rows.data + keep, (n - keep) * sizeof(*tail));
	for (size_t i = 0; i < n; i++)
		total += k->rows.data[i].weight;
	k->joined = true;
	k->rows.len = keep;
	for (size_t i = 0; i < n - keep; i++)
		join_row(k, keep, &index, &tail[i], bits);
	fth_map_release(&index);
	free(tail);
	qsort(k->rows.data + keep, k->rows.len - keep, sizeof(*k->rows.data), by_weight);
	while (k->rows.len > most)
		dropped += fth_vec_pop(&k->rows).weight;
	remark(k->b, "%zu kinds of tasks were taken as %zu, with demands rounded down: the bound is weaker than it could be.", n,
	       k->rows.len);
	if (dropped > 0)
		remark(k->b, "Work that would cost %.1f%% of the whole, each task on a machine of its own, is left out.",
		       100 * dropped / total);
}

/* ---- the LP ---- */

/* How classes slow each other down. False: some pair is faster together, which the bound cannot use. */
static bool find_pairs(struct builder *k)
{
	const struct fth_profile *profile = k->world->has_profile ? &k->world->profile : NULL;
	FTH_VEC(fth_sym) classes = {0};
	struct fth_map index = {0};
	k->class = fth_alloc((k->rows.len + 1) * sizeof(*k->class));
	for (size_t i = 0; i < k->rows.len; i++) {
		uint64_t at = classes.len;
		if (!fth_map_get(&index, k->rows.data[i].proto.klass, &at)) {
			fth_map_put(&index, k->rows.data[i].proto.klass, at);
			fth_vec_push(&classes, k->rows.data[i].proto.klass);
		}
		k->class[i] = (uint32_t)at;
	}
	size_t n = classes.len;
	double *rate = fth_alloc((n * n + 1) * sizeof(*rate));
	bool ok = true, slower = false;
	for (size_t i = 0; k->crowded && i < n * n; i++) {
		rate[i] = k->o->pair_speed > 0 ? k->o->pair_speed
					       : fth_profile_rate(profile, classes.data[i / n], classes.data[i % n]);
		ok &= rate[i] <= 1;
		slower |= rate[i] < 1;
	}
	k->crowded = slower;
	if (slower)
		fth_pairs_init(&k->pairs, (uint32_t)n, rate);
	free(rate);
	fth_vec_release(&classes);
	fth_map_release(&index);
	return ok;
}

/* Whether everything is at least as well off on type u as on type t, for no more money. */
static bool is_better_type(const struct builder *k, uint32_t u, uint32_t t)
{
	const struct fth_catalog *c = &k->world->catalog.pub;
	const struct fth_instance_type *a = &c->types[u], *b = &c->types[t];
	if (u == t || k->type_price[u] > k->type_price[t] || !fth_res_fits(&b->capacity, &a->capacity))
		return false;
	bool same = k->type_price[u] == k->type_price[t] && fth_res_equal(&a->capacity, &b->capacity);
	for (size_t r = 0; r < k->rows.len; r++) {
		const struct fth_alt *x = fth_kind_on_type(&k->rows.data[r].proto, a), *y = fth_kind_on_type(&k->rows.data[r].proto, b);
		if (y && (!x || x->speed_ppm < y->speed_ppm || !fth_res_fits(&x->demand, &y->demand)))
			return false;
		same &= x == y;
	}
	return !same || u < t;
}

static void choose_types(struct builder *k)
{
	const struct fth_catalog *c = &k->world->catalog.pub;
	for (uint32_t t = 0; t < c->ntypes; t++) {
		bool wanted = k->type_price[t] > 0 && k->type_price[t] < 1e300;
		for (uint32_t u = 0; u < c->ntypes && wanted; u++)
			wanted = !(k->type_price[u] > 0 && is_better_type(k, u, t));
		if (wanted)
			fth_vec_push(&k->types, t);
	}
}

static void make_tables(struct builder *k)
{
	const struct fth_catalog *c = &k->world->catalog.pub;
	size_t n = k->rows.len;
	k->demand = fth_alloc((n * k->types.len + 1) * sizeof(*k->demand));
	k->speed = fth_alloc((n * k->types.len + 1) * sizeof(*k->speed));
	k->hours = fth_alloc((n + 1) * sizeof(*k->hours));
	k->price = fth_alloc((k->types.len + 1) * sizeof(*k->price));
	k->capacity = fth_alloc((k->types.len + 1) * sizeof(*k->capacity));
	for (size_t r = 0; r < n; r++)
		k->hours[r] = (double)k->rows.data[r].work / (double)FTH_HOUR * (1 - ROUNDING);
	for (size_t t = 0; t < k->types.len; t++) {
		const struct fth_instance_type *type = &c->types[k->types.data[t]];
		k->price[t] = k->type_price[k->types.data[t]];
		k->capacity[t] = type->capacity;
		for (size_t r = 0; r < n; r++) {
			const struct fth_alt *a = fth_kind_on_type(&k->rows.data[r].proto, type);
			if (!a || !fth_res_fits(&a->demand, &type->capacity))
				continue;
			k->demand[t * n + r] = a->demand;
			k->speed[t * n + r] = (double)a->speed_ppm / 1e6;
		}
	}
}

static void solve(struct builder *k)
{
	struct fth_bound *b = k->b;
	struct fth_blend_input in = {
		.nrows = (uint32_t)k->rows.len,
		.ntypes = (uint32_t)k->types.len,
		.work = k->hours,
		.class = k->class,
		.capacity = k->capacity,
		.price = k->price,
		.demand = k->demand,
		.speed = k->speed,
		.pairs = k->crowded ? &k->pairs : NULL,
	};
	struct fth_blend_effort effort = k->o->effort;
	if (k->crowded && k->joined)
		effort.work /= 4; /* it will most likely be proven without interference */
	fth_blend_solve(&b->mix, &in, &effort);
	b->interference = k->crowded;
	b->exact = b->mix.exact;
	b->lp_usd = b->mix.objective;
	b->usd = b->mix.bound < 9e9 ? (fth_money)(b->mix.bound * 1e9) : INT64_MAX;
	for (size_t i = 0; i < b->mix.configs.len; i++)
		b->mix.configs.data[i].type = k->types.data[b->mix.configs.data[i].type];
	for (size_t r = 0; r < k->rows.len; r++) {
		struct fth_bound_row shown = k->rows.data[r].shown;
		shown.hours = k->hours[r];
		shown.value = b->mix.value[r];
		if (k->rows.data[r].proto.nalts)
			shown.demand = k->rows.data[r].proto.alts[0].demand;
		fth_vec_push(&b->rows, shown);
	}
	if (!b->exact)
		remark(b, "The search was cut short: the bound is proven, but up to %.2f%% below the best of its kind.",
		       b->lp_usd > 0 ? 100 * (1 - b->mix.bound / b->lp_usd) : 0);
}

/* ---- the whole ---- */

static void tell_limits(struct builder *k)
{
	struct fth_bound *b = k->b;
	if (k->services)
		remark(b, "%llu services are left out: they end with the run, whenever that is.", (unsigned long long)k->services);
	if (k->changing && k->o->until)
		remark(b, "Every offer is taken at the lowest price it has in the first %.1f h: the bound is for runs that end by then.",
		       (double)k->o->until / (double)FTH_HOUR);
	else if (k->changing)
		remark(b, "Every offer is taken at the lowest price it has from the start of the run on.");
	if (k->contracts)
		remark(b, "Types with contracts or discounts by month are taken at the price of a machine that is used all the time.");
	if (k->free_increments)
		only_estimate(b, "what is paid for a spot machine up to its revocation may be forgiven, so work may cost nothing");
}

static void find_slack(struct builder *k)
{
	double dearest = 0, slowest = 1;
	if (!k->crowded || is_on_steps(k))
		return; /* without interference speeds never change */
	for (size_t t = 0; t < k->types.len; t++)
		dearest = FTH_MAX(dearest, k->price[t]);
	for (size_t i = 0; i < (size_t)k->pairs.n * k->pairs.n; i++)
		slowest = FTH_MIN(slowest, k->pairs.rate[i]);
	double usd = dearest * (1 - slowest) * (double)k->world->workload.step / (double)FTH_HOUR;
	k->b->slack_per_launch = (fth_money)(usd * 1e9) + 1;
	remark(k->b, "Progress is counted in steps that do not all begin when something happens: a run may be below the bound by up to "
	       "$%.5f for each launch of a task.", usd);
}

static void clear_rows(struct builder *k)
{
	free(k->class);
	free(k->demand);
	free(k->speed);
	free(k->hours);
	free(k->price);
	free(k->capacity);
	k->class = NULL;
	k->demand = k->capacity = NULL;
	k->speed = k->hours = k->price = NULL;
	fth_vec_release(&k->rows);
	fth_vec_release(&k->types);
	fth_arena_release(&k->arena);
	fth_pairs_release(&k->pairs);
}

/* One LP: tasks slow each other down, or (crowded = false) as if they did not, which is easier and joins more. */
static void attempt(struct builder *k, struct fth_bound *b, bool crowded)
{
	k->b = b;
	k->crowded = crowded;
	k->joined = false;
	*b = (struct fth_bound){.known = true, .certified = true};
	if (!make_rows(k)) {
		give_up(b, "some task fits no machine that can be had");
		return;
	}
	limit_rows(k);
	if (!find_pairs(k)) {
		give_up(b, "some pairs of tasks are faster together than alone");
		return;
	}
	tell_limits(k);
	choose_types(k);
	make_tables(k);
	find_slack(k);
	solve(k);
}

static void find(struct builder *k, struct fth_bound *b)
{
	struct fth_bound apart;
	bool crowded = k->o->pair_speed > 0 || k->world->has_profile;
	find_prices(k);
	attempt(k, b, crowded);
	bool again = b->known && b->interference && (k->joined || !b->exact);
	clear_rows(k);
	if (!again)
		return;
	attempt(k, &apart, false);
	clear_rows(k);
	bool better = apart.usd > b->usd;
	if (better)
		remark(&apart, "That tasks slow each other down is left out: with so many kinds of tasks more could be proven without.");
	struct fth_bound kept = better ? apart : *b, other = better ? *b : apart;
	*b = kept;
	fth_bound_release(&other);
}

int fth_bound_find(struct fth_bound *b, const struct fth_world *w, struct fth_job_source *jobs, const struct fth_bound_options *o,
		   struct fth_error *err)
{
	struct builder k = {.world = w, .o = o, .b = b};
	*b = (struct fth_bound){0};
	k.work = fth_alloc((w->kinds.list.len + 1) * sizeof(*k.work));
	k.tasks = fth_alloc((w->kinds.list.len + 1) * sizeof(*k.tasks));
	int r = sum_work(&k, jobs, err);
	if (!r)
		find(&k, b);
	free(k.work);
	free(k.tasks);
	free(k.type_price);
	return r;
}

void fth_bound_release(struct fth_bound *b)
{
	for (size_t i = 0; i < b->remarks.len; i++)
		free(b->remarks.data[i]);
	fth_vec_release(&b->remarks);
	fth_vec_release(&b->rows);
	fth_blend_release(&b->mix);
}
