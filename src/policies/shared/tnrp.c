/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/shared/tnrp.h"

#include "optimize/full_reconfig.h"

void fth_tnrp_init(struct fth_tnrp *r, double t)
{
	*r = (struct fth_tnrp){.table = fth_colocation_new(t), .t = t};
}

void fth_tnrp_release(struct fth_tnrp *r)
{
	fth_colocation_free(r->table);
	fth_vec_release(&r->names);
	fth_vec_release(&r->rank);
	fth_vec_release(&r->power);
}

static void rank_name(struct fth_tnrp *r, const struct fth_view *v, fth_sym name)
{
	uint32_t rank = 0;
	for (size_t i = 0; i < r->names.len; i++) {
		if (strcmp(fth_sym_name(v, r->names.data[i]), fth_sym_name(v, name)) < 0)
			rank++;
		else
			r->rank.data[i]++;
	}
	fth_vec_push(&r->names, name);
	fth_vec_push(&r->rank, rank);
}

uint32_t fth_tnrp_key(struct fth_tnrp *r, const struct fth_view *v, fth_sym name)
{
	uint32_t key = fth_colocation_key(r->table, name);
	/* Keys may have been made by others who feed the table. */
	while (r->names.len < fth_colocation_nkeys(r->table))
		rank_name(r, v, fth_colocation_sym(r->table, (uint32_t)r->names.len));
	r->pairs = fth_colocation_pairs(r->table);
	return key;
}

void fth_party_release(struct fth_party *p)
{
	fth_vec_release(&p->list);
	fth_vec_release(&p->sorted);
}

void fth_party_clear(struct fth_party *p)
{
	fth_vec_clear(&p->list);
	fth_vec_clear(&p->sorted);
	p->hash = 0;
	p->worth = 0;
}

static void insert_by_rank(uint32_t *keys, uint32_t n, uint32_t key, const uint32_t *rank)
{
	for (; n > 0 && rank[keys[n - 1]] > rank[key]; n--)
		keys[n] = keys[n - 1];
	keys[n] = key;
}

void fth_party_add(struct fth_party *p, const struct fth_tnrp *r, const struct fth_member *m)
{
	fth_vec_reserve(&p->sorted, p->sorted.len + 2);
	insert_by_rank(p->sorted.data, (uint32_t)p->sorted.len++, m->key, r->rank.data);
	fth_vec_push(&p->list, *m);
	p->hash += fth_colocation_hash(m->key);
	p->worth += m->rp;
}

/* ---- t to the n, correctly rounded: hi + lo carries twice the digits ---- */

static void split(double x, double *hi, double *lo)
{
	double c = 134217729.0 * x; /* 2^27 + 1 */
	*hi = c - (c - x);
	*lo = x - *hi;
}

static void grow_powers(struct fth_tnrp *r, uint32_t n)
{
	double hi = 1, lo = 0, th, tl;
	split(r->t, &th, &tl);
	fth_vec_clear(&r->power);
	fth_vec_push(&r->power, 1.0);
	for (uint32_t i = 0; i < n; i++) {
		double p = hi * r->t, hh, hl;
		split(hi, &hh, &hl);
		double err = ((hh * th - p) + hh * tl + hl * th) + hl * tl + lo * r->t;
		hi = p + err;
		lo = err - (hi - p);
		fth_vec_push(&r->power, hi);
	}
}

static double power(struct fth_tnrp *r, uint32_t n)
{
	if (n >= r->power.len)
		grow_powers(r, n + 64);
	return r->power.data[n];
}

/* ---- speeds ---- */

/* All tasks in question: their keys by rank, and their set in the table (FTH_NONE: never recorded). */
struct crowd {
	const uint32_t *keys;
	uint32_t n, set;
};

static double rate_of(struct fth_tnrp *r, uint32_t key, const struct crowd *c)
{
	if (!r->pairs.known[key])
		return power(r, c->n - 1);
	if (c->set != FTH_NONE) {
		double mean = fth_colocation_member(r->table, c->set, key);
		if (mean >= 0)
			return mean;
	}
	const double *pair = &r->pairs.mean[(size_t)key * r->pairs.stride];
	double product = 1;
	bool skipped = false;
	for (uint32_t i = 0; i < c->n; i++) {
		if (!skipped && c->keys[i] == key)
			skipped = true;
		else
			product *= pair[c->keys[i]];
	}
	return product;
}

static double worth(const struct fth_member *m, double rate, enum fth_multi multi)
{
	if (multi == FTH_MULTI_CLAMPED) {
		rate = 1 - (1 - rate) * m->job_tasks;
		rate = rate > 0 ? rate : 0;
	} else if (multi == FTH_MULTI_PAPER) {
		rate = fth_multi_task_rate(rate, m->job_tasks);
	}
	return m->rp * rate;
}

double fth_tnrp_rate(struct fth_tnrp *r, uint32_t key, const uint32_t *others, uint32_t n)
{
	enum { LOCAL = 64 };
	if (r->ignore_interference)
		return 1;
	if (n == 0)
		return r->pairs.solo[key];
	if (n == 1)
		return r->pairs.mean[(size_t)key * r->pairs.stride + others[0]];
	uint32_t local[LOCAL], *keys = n < LOCAL ? local : fth_alloc((n + 1) * sizeof(*keys));
	uint64_t hash = fth_colocation_hash(key);
	keys[0] = key;
	for (uint32_t i = 0; i < n; i++) {
		insert_by_rank(keys, i + 1, others[i], r->rank.data);
		hash += fth_colocation_hash(others[i]);
	}
	struct crowd c = {keys, n + 1, fth_colocation_find(r->table, hash, keys, n + 1)};
	double rate = rate_of(r, key, &c);
	if (keys != local)
		free(keys);
	return rate;
}

/* Two tasks: their pair entries are the whole story. */
static double worth_of_two(const struct fth_tnrp *r, const struct fth_member *a, const struct fth_member *b,
			   enum fth_multi multi)
{
	const double *pair = r->pairs.mean;
	return worth(a, pair[(size_t)a->key * r->pairs.stride + b->key], multi) +
	       worth(b, pair[(size_t)b->key * r->pairs.stride + a->key], multi);
}

/* Three tasks, unless their set was recorded: two factors have the same product in any order, and two
 * unknown pairs give t squared, so neither ranks nor powers are needed. */
static double worth_of_three(struct fth_tnrp *r, const struct fth_member *const m[3], uint64_t hash,
			     enum fth_multi multi)
{
	uint32_t keys[] = {m[0]->key, m[1]->key, m[2]->key}, set = fth_colocation_find(r->table, hash, keys, 3);
	double sum = 0;
	for (int i = 0; i < 3; i++) {
		const double *pair = &r->pairs.mean[(size_t)keys[i] * r->pairs.stride];
		double rate = set == FTH_NONE ? -1 : fth_colocation_member(r->table, set, keys[i]);
		if (rate < 0)
			rate = pair[keys[i == 0 ? 1 : 0]] * pair[keys[i == 2 ? 1 : 2]];
		sum += worth(m[i], rate, multi);
	}
	return sum;
}

static double sum_worth(struct fth_tnrp *r, const struct fth_party *p, const struct fth_member *extra,
			const struct crowd *c, enum fth_multi multi)
{
	double sum = 0;
	for (size_t i = 0; i < p->list.len; i++)
		sum += worth(&p->list.data[i], rate_of(r, p->list.data[i].key, c), multi);
	return extra ? sum + worth(extra, rate_of(r, extra->key, c), multi) : sum;
}

static double plain_sum(const struct fth_party *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->list.len; i++)
		sum += p->list.data[i].rp;
	return sum;
}

double fth_tnrp_of(struct fth_tnrp *r, const struct fth_party *p, enum fth_multi multi)
{
	if (r->ignore_interference)
		return plain_sum(p);
	if (p->list.len == 1)
		return worth(&p->list.data[0], r->pairs.solo[p->list.data[0].key], multi);
	if (p->list.len == 2)
		return worth_of_two(r, &p->list.data[0], &p->list.data[1], multi);
	if (p->list.len == 3)
		return worth_of_three(r, (const struct fth_member *[]){&p->list.data[0], &p->list.data[1],
								       &p->list.data[2]}, p->hash, multi);
	struct crowd c = {p->sorted.data, (uint32_t)p->sorted.len, FTH_NONE};
	c.set = fth_colocation_find(r->table, p->hash, c.keys, c.n);
	return sum_worth(r, p, NULL, &c, multi);
}

double fth_tnrp_with(struct fth_tnrp *r, const struct fth_party *p, const struct fth_member *m, enum fth_multi multi)
{
	enum { LOCAL = 64 };
	if (r->ignore_interference)
		return plain_sum(p) + m->rp;
	if (p->list.len == 0)
		return worth(m, r->pairs.solo[m->key], multi);
	if (p->list.len == 1)
		return worth_of_two(r, &p->list.data[0], m, multi);
	uint64_t hash = p->hash + fth_colocation_hash(m->key);
	if (p->list.len == 2)
		return worth_of_three(r, (const struct fth_member *[]){&p->list.data[0], &p->list.data[1], m}, hash,
				      multi);
	uint32_t local[LOCAL], n = (uint32_t)p->sorted.len, *keys = n < LOCAL ? local : fth_alloc((n + 1) * sizeof(*keys));
	if (n)
		memcpy(keys, p->sorted.data, n * sizeof(*keys));
	insert_by_rank(keys, n, m->key, r->rank.data);
	struct crowd c = {keys, n + 1, FTH_NONE};
	c.set = fth_colocation_find(r->table, hash, keys, n + 1);
	double sum = sum_worth(r, p, m, &c, multi);
	if (keys != local)
		free(keys);
	return sum;
}
