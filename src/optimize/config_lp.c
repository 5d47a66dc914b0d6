/* SPDX-License-Identifier: Apache-2.0 */
#include "optimize/config_lp.h"

#include <math.h>

/* A stand-in covers one of its group for much more than it is worth: the LP always has a solution. */
enum { STAND_IN_FACTOR = 20 };

static int choose_scale(struct fth_config_lp *l, struct fth_error *err)
{
	__int128 total = 1;
	fth_price dearest = 1;
	for (uint32_t t = 0; t < l->ntypes; t++) {
		dearest = FTH_MAX(dearest, l->types[t].price);
		l->unit = fth_gcd(l->unit, l->types[t].price);
	}
	for (uint32_t g = 0; g < l->ngroups; g++)
		total += l->count[g];
	l->unit = FTH_MAX(l->unit, 1);
	__int128 room = ((__int128)1 << 60) / (total * ((__int128)dearest * STAND_IN_FACTOR + FTH_USD));
	if (room < 1)
		return fth_fail(err, -ERANGE, "too many tasks for prices this high");
	l->scale = 1;
	while (l->scale * 2 <= room && l->scale < 1024)
		l->scale *= 2;
	return 0;
}

static void build_rows(struct fth_config_lp *l)
{
	l->lp = fth_lp_new(l->ngroups + l->nsums);
	for (uint32_t g = 0; g < l->ngroups; g++) {
		double one = 1;
		fth_lp_set_row(l->lp, g, (double)l->count[g], INFINITY);
		fth_lp_add_col(l->lp, fth_usd(l->worth_most[g]) * STAND_IN_FACTOR + 1, &g, &one, 1);
	}
}

int fth_config_lp_init(struct fth_config_lp *l, uint32_t ngroups, const int64_t *count, uint32_t ntypes,
		       const struct fth_res *capacity, const fth_price *price, const struct fth_res *demand,
		       const char *usable, uint32_t nsums, const int64_t *weight, struct fth_error *err)
{
	*l = (struct fth_config_lp){.ngroups = ngroups, .ntypes = ntypes, .nsums = nsums};
	l->count = fth_alloc((ngroups + 1) * sizeof(*l->count));
	l->worth_most = fth_alloc((ngroups + 1) * sizeof(*l->worth_most));
	l->value = fth_alloc((ngroups + 1) * sizeof(*l->value));
	l->sum_dual = fth_alloc((nsums + 1) * sizeof(*l->sum_dual));
	l->reduced = fth_alloc((ntypes + 1) * sizeof(*l->reduced));
	l->types = fth_alloc((ntypes + 1) * sizeof(*l->types));
	l->weight = fth_alloc(((size_t)nsums * ntypes + 1) * sizeof(*l->weight));
	if (nsums)
		memcpy(l->weight, weight, (size_t)nsums * ntypes * sizeof(*l->weight));
	for (uint32_t g = 0; g < ngroups; g++) {
		l->count[g] = count[g];
		l->worth_most[g] = INT64_MAX;
	}
	for (uint32_t t = 0; t < ntypes; t++) {
		const struct fth_res *need = demand + (size_t)t * ngroups;
		l->types[t].price = price[t];
		l->types[t].pricer = fth_pricer_new(&capacity[t], need, usable + (size_t)t * ngroups, ngroups);
		for (uint32_t g = 0; g < ngroups; g++)
			if (usable[(size_t)t * ngroups + g] && fth_res_fits(&need[g], &capacity[t]))
				l->worth_most[g] = FTH_MIN(l->worth_most[g], price[t]);
	}
	for (uint32_t g = 0; g < ngroups; g++)
		if (l->worth_most[g] == INT64_MAX)
			return fth_fail(err, -ENOENT, "group %u fits no type", g);
	int64_t heaviest = 1;
	for (size_t i = 0; i < (size_t)nsums * ntypes; i++)
		heaviest = FTH_MAX(heaviest, l->weight[i]);
	l->dual_most = 0x1p60 / ((double)heaviest * (nsums + 1));
	int r = choose_scale(l, err);
	if (r)
		return r;
	build_rows(l);
	for (uint32_t t = 0; t < ntypes && nsums; t++)
		fth_config_lp_add(l, t, NULL, 0); /* an idle machine: bounds from below can always be met */
	return 0;
}

void fth_config_lp_release(struct fth_config_lp *l)
{
	for (uint32_t t = 0; t < l->ntypes && l->types; t++)
		fth_pricer_free(l->types[t].pricer);
	free(l->count);
	free(l->worth_most);
	free(l->value);
	free(l->sum_dual);
	free(l->reduced);
	free(l->types);
	free(l->weight);
	fth_vec_release(&l->configs);
	fth_vec_release(&l->parts);
	fth_vec_release(&l->next_same);
	fth_map_release(&l->by_hash);
	fth_lp_free(l->lp);
	*l = (struct fth_config_lp){0};
}

/* ---- columns ---- */

static int by_group(const void *a, const void *b)
{
	const struct fth_filling *x = a, *y = b;
	return (x->item > y->item) - (x->item < y->item);
}

static uint32_t find_config(const struct fth_config_lp *l, uint64_t hash, uint32_t type,
			    const struct fth_filling *parts, uint32_t n)
{
	uint64_t c = FTH_NONE;
	fth_map_get(&l->by_hash, hash, &c);
	for (; c != FTH_NONE; c = l->next_same.data[c]) {
		const struct fth_config *k = &l->configs.data[c];
		if (k->type == type && k->n == n && (!n || !memcmp(l->parts.data + k->first, parts, n * sizeof(*parts))))
			break;
	}
	return (uint32_t)c;
}

static void add_column(struct fth_config_lp *l, uint32_t type, const struct fth_filling *parts, uint32_t n)
{
	uint32_t *rows = fth_alloc((n + l->nsums + 1) * sizeof(*rows)), k = 0;
	double *coefs = fth_alloc((n + l->nsums + 1) * sizeof(*coefs));
	for (uint32_t i = 0; i < n; i++) {
		rows[k] = parts[i].item;
		coefs[k++] = parts[i].copies;
	}
	for (uint32_t s = 0; s < l->nsums; s++) {
		int64_t w = l->weight[(size_t)s * l->ntypes + type];
		if (w) {
			rows[k] = l->ngroups + s;
			coefs[k++] = (double)w;
		}
	}
	fth_lp_add_col(l->lp, fth_usd(l->types[type].price), rows, coefs, k);
	free(rows);
	free(coefs);
}

static uint32_t intern(struct fth_config_lp *l, uint32_t type, struct fth_filling *parts, uint32_t n, bool *ret_new)
{
	if (n)
		qsort(parts, n, sizeof(*parts), by_group);
	uint64_t hash = fth_hash_bytes(n ? (const void *)parts : "", n * sizeof(*parts), type + 1);
	uint32_t c = find_config(l, hash, type, parts, n);
	*ret_new = c == FTH_NONE;
	if (c != FTH_NONE)
		return c;
	uint64_t chain = FTH_NONE;
	fth_map_get(&l->by_hash, hash, &chain);
	c = (uint32_t)l->configs.len;
	struct fth_config k = {type, (uint32_t)l->parts.len, n};
	for (uint32_t i = 0; i < n; i++)
		fth_vec_push(&l->parts, parts[i]);
	fth_vec_push(&l->configs, k);
	fth_vec_push(&l->next_same, (uint32_t)chain);
	fth_map_put(&l->by_hash, hash, c);
	add_column(l, type, parts, n);
	return c;
}

uint32_t fth_config_lp_add(struct fth_config_lp *l, uint32_t type, struct fth_filling *parts, uint32_t n)
{
	bool is_new;
	return intern(l, type, parts, n, &is_new);
}

/* ---- duals in integers ---- */

void fth_config_lp_read_duals(struct fth_config_lp *l)
{
	double unit = 1e9 * (double)l->scale;
	for (uint32_t g = 0; g < l->ngroups; g++) {
		double y = fth_lp_dual(l->lp, g) * unit;
		double most = ((double)l->worth_most[g] * STAND_IN_FACTOR + 1e9) * (double)l->scale;
		l->value[g] = y > 0 ? (int64_t)FTH_MIN(y, most) : 0;
		if (!l->worth_most[g])
			l->value[g] = 0;
	}
	for (uint32_t s = 0; s < l->nsums; s++) {
		double u = fth_lp_dual(l->lp, l->ngroups + s) * unit;
		l->sum_dual[s] = (int64_t)FTH_MAX(-l->dual_most, FTH_MIN(u, l->dual_most));
	}
	for (uint32_t t = 0; t < l->ntypes; t++) {
		l->reduced[t] = l->types[t].price * l->scale;
		for (uint32_t s = 0; s < l->nsums; s++)
			l->reduced[t] -= l->sum_dual[s] * l->weight[(size_t)s * l->ntypes + t];
	}
}

static uint32_t price_type(struct fth_config_lp *l, uint32_t t, const int64_t *limit, uint64_t max_nodes,
			   struct fth_priced *ret)
{
	bool is_new = false;
	fth_pricer_solve(l->types[t].pricer, l->value, limit, FTH_MAX(l->reduced[t], 0), max_nodes, ret);
	l->pricing_nodes += ret->nodes;
	l->pricings++;
	if (ret->found)
		intern(l, t, (struct fth_filling *)ret->parts, ret->nparts, &is_new);
	return is_new;
}

uint32_t fth_config_lp_price(struct fth_config_lp *l, const int64_t *limit, uint64_t max_nodes)
{
	uint32_t added = 0;
	struct fth_priced out;
	for (uint32_t t = 0; t < l->ntypes; t++)
		added += price_type(l, t, limit, max_nodes, &out);
	return added;
}

/* ---- the proven bound ---- */

static fth_price round_up(const struct fth_config_lp *l, __int128 scaled, fth_price cutoff)
{
	__int128 step = (__int128)l->unit * l->scale;
	__int128 units = scaled > 0 ? (scaled + step - 1) / step : 0;
	__int128 price = units * l->unit;
	return price > cutoff ? cutoff : (fth_price)price;
}

/* z[t]: proven value of the best filling of type t. */
static fth_price proven_bound(const struct fth_config_lp *l, const int64_t *lo, const int64_t *hi, const int64_t *z,
			      fth_price cutoff)
{
	__int128 dual = 0, loss = 0;
	for (uint32_t g = 0; g < l->ngroups; g++)
		dual += (__int128)l->count[g] * l->value[g];
	for (uint32_t s = 0; s < l->nsums; s++) {
		int64_t u = l->sum_dual[s], at = u > 0 ? lo[s] : hi[s];
		if (u && at == FTH_NO_BOUND)
			return 0; /* a dual of a bound that is not there: rounding noise; nothing is proven */
		dual += (__int128)u * (u ? at : 0);
	}
	for (uint32_t t = 0; t < l->ntypes; t++) {
		__int128 over = (__int128)FTH_MAX(z[t], 0) - l->reduced[t];
		if (over <= 0)
			continue;
		if (!l->types[t].price)
			return 0;
		__int128 most = ((__int128)cutoff * over + l->types[t].price - 1) / l->types[t].price;
		loss = FTH_MAX(loss, most);
	}
	return round_up(l, dual - loss, cutoff);
}

static void set_sums(struct fth_config_lp *l, const int64_t *lo, const int64_t *hi)
{
	for (uint32_t s = 0; s < l->nsums; s++)
		fth_lp_set_row(l->lp, l->ngroups + s, lo[s] == FTH_NO_BOUND ? -INFINITY : (double)lo[s],
			       hi[s] == FTH_NO_BOUND ? INFINITY : (double)hi[s]);
}

/* A dual of a sum without a bound on that side can only be noise. */
static void drop_noise(struct fth_config_lp *l, const int64_t *lo, const int64_t *hi)
{
	for (uint32_t s = 0; s < l->nsums; s++) {
		int64_t u = l->sum_dual[s];
		if (u == 0 || (u > 0 ? lo[s] : hi[s]) != FTH_NO_BOUND)
			continue;
		for (uint32_t t = 0; t < l->ntypes; t++)
			l->reduced[t] += u * l->weight[(size_t)s * l->ntypes + t];
		l->sum_dual[s] = 0;
	}
}

int fth_config_lp_solve(struct fth_config_lp *l, const int64_t *lo, const int64_t *hi, fth_price cutoff,
			const struct fth_config_effort *effort, fth_price *ret_bound)
{
	fth_price best = 0;
	int64_t *z = fth_alloc((l->ntypes + 1) * sizeof(*z));
	int r = 0;
	set_sums(l, lo, hi);
	bool exact = false;
	for (uint32_t round = 0; round < effort->rounds; round++) {
		r = fth_lp_solve(l->lp);
		if (r && r != -EAGAIN)
			break;
		r = 0;
		l->rounds++;
		fth_config_lp_read_duals(l);
		drop_noise(l, lo, hi);
		uint32_t added = 0;
		bool complete = true;
		for (uint32_t t = 0; t < l->ntypes; t++) {
			struct fth_priced out;
			added += price_type(l, t, l->count, exact ? effort->exact_nodes : effort->quick_nodes, &out);
			complete &= out.complete;
			z[t] = out.bound;
		}
		best = FTH_MAX(best, proven_bound(l, lo, hi, z, cutoff));
		if (best >= cutoff || best >= round_up(l, (__int128)(fth_lp_objective(l->lp) * 1e9 * (double)l->scale), cutoff))
			break;
		if (!added && (exact || complete))
			break;
		exact = !added;
	}
	free(z);
	*ret_bound = best;
	return r;
}

uint64_t fth_config_lp_work(const struct fth_config_lp *l)
{
	return l->pricing_nodes + l->pricings * (20 + l->ngroups) + fth_lp_work(l->lp) / 30;
}

double fth_config_lp_amount(const struct fth_config_lp *l, uint32_t config)
{
	return fth_lp_value(l->lp, l->ngroups + config);
}

double fth_config_lp_sum(const struct fth_config_lp *l, uint32_t sum)
{
	double total = 0;
	for (uint32_t c = 0; c < l->configs.len; c++) {
		int64_t w = l->weight[(size_t)sum * l->ntypes + l->configs.data[c].type];
		if (w)
			total += (double)w * fth_config_lp_amount(l, c);
	}
	return total;
}

void fth_config_lp_fix(struct fth_config_lp *l, uint32_t config, double lo, double hi)
{
	fth_lp_set_col(l->lp, l->ngroups + config, lo, hi);
}
