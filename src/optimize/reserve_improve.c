/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several classes, one at a time. While the others stay as they are, the best purchases of one class are a flow (reserve_flow.c).
 * In plans "as they are" means the contracts held; in bounds it means what an hour in force of them is worth: then
 * the flow's potentials are the best values of this class, and the sum of what each level pays at these values
 * is less than any portfolio can cost.
 */
#include "optimize/reserve_internal.h"

enum { SWEEPS_MAX = 40, SETS_MAX = 256 };
/* About how many levels may be looked at for a bound: a clock that repeats. */
static const double WORK_MAX = 1e8;

struct blocks {
	const struct fth_reserve_market *m;
	const struct fth_demand *d;
	size_t n;
	uint32_t *until; /* classes x rows */
	double *fee;
	int64_t *bought, *held; /* classes x rows */
	double *value;          /* classes x rows */
	double *base;           /* by row: the least value of the classes at work */
	struct fth_reserve_deal *deals;
	double *saved;          /* rows x (levels + 1), of the class at work */
	double *gain, *spare;   /* of a row */
};

static void open_blocks(struct blocks *b, const struct fth_reserve_market *m, const struct fth_demand *d)
{
	size_t cells = m->classes.len * d->rows;
	*b = (struct blocks){.m = m, .d = d, .n = m->classes.len};
	b->until = fth_alloc(cells * sizeof(*b->until));
	b->fee = fth_alloc(cells * sizeof(*b->fee));
	b->bought = fth_alloc(cells * sizeof(*b->bought));
	b->held = fth_alloc(cells * sizeof(*b->held));
	b->value = fth_alloc(cells * sizeof(*b->value));
	b->base = fth_alloc(d->rows * sizeof(*b->base));
	b->deals = fth_alloc(cells * sizeof(*b->deals));
	b->saved = fth_alloc((size_t)d->rows * (d->levels + 1) * sizeof(*b->saved));
	b->gain = fth_alloc((size_t)(d->levels + 1) * sizeof(*b->gain));
	b->spare = fth_alloc((size_t)(d->levels + 1) * sizeof(*b->spare));
	for (size_t k = 0; k < b->n; k++)
		for (uint32_t i = 0; i < d->rows; i++) {
			b->until[k * d->rows + i] = fth_reserve_until(&m->classes.data[k], d, i);
			b->fee[k * d->rows + i] = fth_reserve_fee(m, d, i, k);
		}
}

static void close_blocks(struct blocks *b)
{
	free(b->until);
	free(b->fee);
	free(b->bought);
	free(b->held);
	free(b->value);
	free(b->base);
	free(b->deals);
	free(b->saved);
	free(b->gain);
	free(b->spare);
}

static void sum_gains(struct blocks *b, uint32_t row)
{
	double *saved = &b->saved[(size_t)row * (b->d->levels + 1)];
	saved[0] = 0;
	for (uint32_t c = 0; c < b->d->levels; c++)
		saved[c + 1] = saved[c] + b->gain[c];
}

/* The purchases of the classes of a set, as deals. Their values above the base are the levels' to pay. */
static size_t make_deals(struct blocks *b, uint64_t set)
{
	size_t n = 0, rows = b->d->rows;
	for (uint32_t row = 0; row < rows; row++)
		for (size_t k = 0; k < b->n; k++) {
			if (!(set >> k & 1))
				continue;
			struct fth_reserve_deal e = {row, b->until[k * rows + row], b->fee[k * rows + row], b->bought[k * rows + row]};
			for (uint32_t i = row; set & (set - 1) && i < e.until; i++)
				e.fee -= b->value[k * rows + i] - b->base[i];
			e.fee = FTH_MAX(e.fee, 0.0);
			b->deals[n++] = e;
		}
	return n;
}

static void keep_deals(struct blocks *b, uint64_t set)
{
	size_t n = 0, rows = b->d->rows;
	for (uint32_t row = 0; row < rows; row++)
		for (size_t k = 0; k < b->n; k++)
			if (set >> k & 1)
				b->bought[k * rows + row] = b->deals[n++].bought;
}

static bool solve(struct blocks *b, uint64_t set, int64_t most, int64_t *held, double *value, int64_t step)
{
	struct fth_reserve_flow f = {.rows = b->d->rows,
				     .levels = b->d->levels,
				     .deals = b->deals,
				     .ndeals = make_deals(b, set),
				     .saved = b->saved,
				     .most = most,
				     .held = held,
				     .value = value};
	bool done = fth_reserve_flow_solve(&f, step);
	keep_deals(b, set);
	return done;
}

static int64_t first_step(const struct fth_demand *d)
{
	int64_t step = 1;
	while (step * 4 <= d->levels)
		step *= 2;
	return step;
}

/* ---- the bound ---- */

/* What each level of a row pays at least with the classes of a set at these values, or what it paid before. */
static void least_of(const struct blocks *b, uint32_t row, uint64_t set, double *least)
{
	const double *used = &b->d->hours[(size_t)row * b->d->levels];
	for (size_t k = 0; k < b->n; k++) {
		double price = fth_reserve_marginal(b->m, k), value = b->value[k * b->d->rows + row];
		for (uint32_t j = 0; (set >> k & 1) && j < b->d->levels; j++) {
			double own = price * used[j] + value;
			least[j] = own < least[j] ? own : least[j];
		}
	}
}

static void on_demand_alone(const struct blocks *b, uint32_t row, double *least)
{
	const double *used = &b->d->hours[(size_t)row * b->d->levels];
	for (uint32_t j = 0; j < b->d->levels; j++)
		least[j] = used[j] * b->m->on_demand;
}

/* Greatest first. The numbers come in a few rising and falling runs, which are merged. */
static void sort_runs(double *x, double *spare, uint32_t n)
{
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && x[to] >= x[to - 1]; to++)
			;
		if (x[to - 1] > x[from])
			for (uint32_t i = from, k = to - 1; i < k; i++, k--) {
				double t = x[i];
				x[i] = x[k];
				x[k] = t;
			}
		while (to < n && x[to] <= x[to - 1])
			to++;
		/* x[0, from) is in order, and so is x[from, to) */
		if (!from || x[from - 1] >= x[from])
			continue;
		memcpy(spare, x, from * sizeof(*x));
		for (uint32_t i = 0, k = from, at = 0; i < from; at++)
			x[at] = k < to && x[k] > spare[i] ? x[k++] : spare[i++];
	}
}

/* What the classes of a set save level by level, the greatest first, when they cost only what they are worth above the base. */
static void gains_at_values(struct blocks *b, uint32_t row, uint64_t set)
{
	uint32_t levels = b->d->levels;
	double base = 1e300, *with = b->spare;
	for (size_t k = 0; k < b->n; k++)
		if (set >> k & 1)
			base = FTH_MIN(base, b->value[k * b->d->rows + row]);
	for (uint32_t j = 0; j < levels; j++)
		with[j] = 1e300;
	least_of(b, row, set, with);
	on_demand_alone(b, row, b->gain);
	least_of(b, row, ~set, b->gain);
	for (uint32_t j = 0; j < levels; j++) {
		double saves = b->gain[j] - with[j] + base;
		b->gain[j] = saves > 0 ? saves : 0;
	}
	b->base[row] = base;
	sort_runs(b->gain, b->spare, levels);
	sum_gains(b, row);
}

/* The values' worth as a bound: what all levels pay at least, made less if rounding left a purchase worth more than its cost. */
static double bound_of(const struct blocks *b)
{
	double sum = 0, worst = 1;
	for (uint32_t row = 0; row < b->d->rows; row++) {
		on_demand_alone(b, row, b->gain);
		least_of(b, row, UINT64_MAX, b->gain);
		for (uint32_t j = 0; j < b->d->levels; j++)
			sum += b->gain[j];
	}
	for (size_t k = 0; k < b->n; k++)
		for (uint32_t row = 0; row < b->d->rows; row++) {
			double worth = 0, fee = b->fee[k * b->d->rows + row];
			for (uint32_t i = row; i < b->until[k * b->d->rows + row]; i++)
				worth += b->value[k * b->d->rows + i];
			if (worth > fee)
				worst = fee > 0 ? FTH_MAX(worst, worth / fee) : 1e300;
		}
	return sum / worst;
}

/* The best values for the classes of a set, their differences kept. */
static void raise_values(struct blocks *b, uint64_t set, int64_t step)
{
	size_t rows = b->d->rows;
	int64_t *held = fth_alloc(rows * sizeof(*held));
	double *value = fth_alloc(rows * sizeof(*value));
	for (uint32_t row = 0; row < rows; row++)
		gains_at_values(b, row, set);
	for (size_t k = 0; k < b->n; k++)
		for (uint32_t row = 0; (set >> k & 1) && row < rows; row++)
			held[row] += b->held[k * rows + row];
	for (size_t k = 0; k < b->n; k++)
		for (uint32_t row = 0; (set >> k & 1) && row < rows; row++)
			b->held[k * rows + row] = 0;
	solve(b, set, -1, held, value, step);
	for (size_t k = 0; k < b->n; k++)
		for (uint32_t row = 0; (set >> k & 1) && row < rows; row++) {
			b->value[k * rows + row] += value[row] - b->base[row];
			for (uint32_t i = row; i < b->until[k * rows + row]; i++)
				b->held[k * rows + i] += b->bought[k * rows + row];
		}
	free(held);
	free(value);
}

/* Which classes are to move together: every set of them if they are few, else each alone, neighbours, and all of a term. */
static size_t make_sets(const struct blocks *b, uint64_t sets[SETS_MAX])
{
	size_t n = 0;
	if (b->n <= 6) {
		for (uint64_t set = (1ull << b->n) - 1; set; set--)
			sets[n++] = set;
		return n;
	}
	for (size_t k = 0; k < b->n && n < SETS_MAX; k++) {
		uint64_t term = fth_reserve_of_term(b->m, b->m->classes.data[k].term);
		if (!(term & ((1ull << k) - 1)))
			sets[n++] = term;
	}
	for (size_t width = b->n; width; width--)
		for (size_t k = 0; k + width <= b->n && n < SETS_MAX; k++)
			sets[n++] = (width == 64 ? UINT64_MAX : (1ull << width) - 1) << k;
	return n;
}

/* Sweeps over the sets until they bring little; returns the work done. */
static double ascend(struct blocks *b, double little, double work, int64_t step)
{
	uint64_t sets[SETS_MAX];
	size_t n = make_sets(b, sets);
	double last = bound_of(b), each = (double)b->d->rows * b->d->levels * (double)(b->n + 6);
	for (double now; work > 0; last = now) {
		for (size_t i = 0; i < n && work > 0; i++, work -= each)
			raise_values(b, sets[i], step);
		now = bound_of(b);
		if (now < last * (1 + little))
			break;
	}
	return work;
}

/* The same demand with so many levels taken together as one of their mean. */
static struct fth_demand coarse(const struct fth_demand *d, uint32_t together)
{
	struct fth_demand c = *d;
	c.levels = (d->levels + together - 1) / together;
	c.hours = fth_alloc((size_t)c.rows * FTH_MAX(c.levels, 1u) * sizeof(*c.hours));
	for (uint32_t row = 0; row < d->rows; row++)
		for (uint32_t j = 0; j < d->levels; j++)
			c.hours[(size_t)row * c.levels + j / together] += fth_demand_at(d, row, j) / together;
	return c;
}

static void give_portfolio(const struct blocks *b, struct fth_portfolio *p)
{
	fth_vec_clear(&p->bought);
	for (uint32_t row = 0; row < b->d->rows; row++)
		for (size_t k = 0; k < b->n; k++) {
			int64_t count = b->bought[k * b->d->rows + row];
			if (count > 0)
				fth_vec_push(&p->bought, ((struct fth_purchase){row, (uint32_t)k, (uint32_t)count}));
		}
	fth_portfolio_price(p, b->m, b->d);
}

/* What one more of class k saves in a row, where the deeper ones are held already and the others may be had at their values. */
static void gains_diving(struct blocks *b, uint32_t row, size_t k)
{
	const double *used = &b->d->hours[(size_t)row * b->d->levels];
	uint32_t levels = b->d->levels;
	int64_t below = 0;
	for (size_t l = 0; l < k; l++)
		below += b->held[l * b->d->rows + row];
	double price = fth_reserve_marginal(b->m, k);
	on_demand_alone(b, row, b->gain);
	least_of(b, row, ~((2ull << k) - 1), b->gain);
	for (uint32_t j = 0; j < levels; j++)
		b->gain[j] = j < below ? 0 : FTH_MAX(b->gain[j] - price * used[j], 0.0);
	sort_runs(b->gain, b->spare, levels);
	sum_gains(b, row);
}

/* A plan from the values: class by class, the deepest first. */
static void dive(struct blocks *b, struct fth_portfolio *p)
{
	size_t rows = b->d->rows;
	double *value = fth_alloc(rows * sizeof(*value));
	memset(b->held, 0, b->n * rows * sizeof(*b->held));
	memset(b->bought, 0, b->n * rows * sizeof(*b->bought));
	for (size_t k = 0; k < b->n; k++) {
		for (uint32_t row = 0; row < rows; row++)
			gains_diving(b, row, k);
		solve(b, 1ull << k, b->m->classes.data[k].most, &b->held[k * rows], value, first_step(b->d));
	}
	give_portfolio(b, p);
	free(value);
}

/* The values that suit a coarse demand are near those that suit the whole. */
static double ascend_coarse(struct blocks *b, uint32_t levels, double work)
{
	struct fth_demand c;
	struct blocks few;
	if (b->d->levels < 2 * levels)
		return work;
	c = coarse(b->d, b->d->levels / levels);
	open_blocks(&few, b->m, &c);
	memcpy(few.value, b->value, b->n * c.rows * sizeof(*b->value));
	work = ascend(&few, 1e-6, work, first_step(&c));
	memcpy(b->value, few.value, b->n * c.rows * sizeof(*b->value));
	close_blocks(&few);
	fth_demand_release(&c);
	return work;
}

double fth_reserve_ascend(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d, double bound)
{
	struct blocks b;
	double work = WORK_MAX;
	open_blocks(&b, m, d);
	for (size_t k = 0; k < b.n; k++)
		for (uint32_t i = 0; i < d->rows; i++) /* each row its share of the fee: the bound of equation 5 */
			b.value[k * d->rows + i] = b.fee[k * d->rows + i] / (double)(b.until[k * d->rows + i] - i);
	bound = FTH_MAX(bound, bound_of(&b));
	work = ascend_coarse(&b, 64, work);
	bound = FTH_MAX(bound, bound_of(&b));
	work = ascend_coarse(&b, 256, work);
	bound = FTH_MAX(bound, bound_of(&b));
	ascend(&b, 1e-7, work, first_step(d));
	bound = FTH_MAX(bound, bound_of(&b));
	dive(&b, p);
	close_blocks(&b);
	return bound;
}

/* ---- the plan ---- */

/* What one more of class k saves in a row, beside what is held of the others. */
static void gains_beside(struct blocks *b, uint32_t row, size_t k)
{
	const double *used = &b->d->hours[(size_t)row * b->d->levels];
	memset(b->gain, 0, b->d->levels * sizeof(*b->gain));
	int64_t below = 0;
	for (size_t l = 0; l < b->n; l++) {
		below += l == k ? 0 : b->held[l * b->d->rows + row];
		double less = fth_reserve_marginal(b->m, l + 1) - fth_reserve_marginal(b->m, l);
		for (int64_t c = 0; l >= k && below + c < (int64_t)b->d->levels; c++)
			b->gain[c] += less * used[below + c];
	}
	sum_gains(b, row);
}

static void take_portfolio(struct blocks *b, const struct fth_portfolio *p)
{
	for (size_t i = 0; i < p->bought.len; i++) {
		const struct fth_purchase *x = &p->bought.data[i];
		size_t at = (size_t)x->class * b->d->rows;
		b->bought[at + x->row] += x->count;
		for (uint32_t row = x->row; row < b->until[at + x->row]; row++)
			b->held[at + row] += x->count;
	}
}

void fth_reserve_improve(struct fth_portfolio *p, const struct fth_reserve_market *m, const struct fth_demand *d)
{
	struct blocks b;
	open_blocks(&b, m, d);
	fth_portfolio_price(p, m, d);
	take_portfolio(&b, p);
	for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
		double last = p->pure;
		for (size_t k = 0; k < b.n; k++) {
			for (uint32_t row = 0; row < d->rows; row++)
				gains_beside(&b, row, k);
			solve(&b, 1ull << k, m->classes.data[k].most, &b.held[k * d->rows], &b.value[k * d->rows], first_step(d));
		}
		give_portfolio(&b, p);
		if (p->pure > last * (1 - 1e-9))
			break;
	}
	close_blocks(&b);
}
