/* SPDX-License-Identifier: Apache-2.0 */
/* How the time of `plan spot` grows with capacity and offers: synthetic markets, six nines. CPU seconds. */
#include <time.h>

#include "optimize/spot.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Sizes and prices as in EC2's tables: capacity 6..132 units, 0.0022..0.012 dollars a unit, one to five nines. */
static void make_market(struct fth_spot_offer *o, uint32_t n, uint64_t seed)
{
	static const uint64_t sizes[] = {6, 7, 8, 13, 14, 16, 26, 28, 31, 53, 56, 62, 99, 108, 124, 132};
	for (uint32_t i = 0; i < n; i++) {
		struct fth_rng r;
		fth_rng_seed(&r, seed, 1, i);
		o[i] = (struct fth_spot_offer){.type = "type", .zone = ""};
		o[i].capacity = sizes[fth_rng_below(&r, FTH_COUNT(sizes))];
		o[i].price = (double)o[i].capacity * (0.0022 + 0.01 * fth_rng_real(&r));
		o[i].on_demand = (double)o[i].capacity * (0.0121 + 0.006 * fth_rng_real(&r));
		o[i].availability = 1 - fth_pow10(-1 - 4 * fth_rng_real(&r));
	}
}

static void measure(uint32_t n, uint64_t capacity, double target)
{
	struct fth_spot_offer *offers = fth_alloc(n * sizeof(*offers));
	struct fth_spot_plan plan;
	struct fth_error err = {0};
	make_market(offers, n, 7);
	struct fth_spot_problem p = {.offers = offers, .noffers = n, .capacity = capacity, .target = target};
	double t0 = seconds();
	if (fth_spot_search(&p, &plan, &err))
		exit(1);
	double search = seconds() - t0;
	double cost = plan.cost, bound = plan.bound.cost;
	fth_spot_plan_release(&plan);
	t0 = seconds();
	if (fth_spot_tr(&p, &plan, &err))
		exit(1);
	double tr = seconds() - t0, tr_cost = plan.cost;
	fth_spot_plan_release(&plan);
	printf("%6u offers %7llu units %-9g search %7.3f s ($%.2f/h, gap %.2f %%), tr %7.3f s ($%.2f/h)\n", n,
	       (unsigned long long)capacity, target, search, cost, 100 * (cost / bound - 1), tr, tr_cost);
	fflush(stdout);
	free(offers);
}

int main(void)
{
	for (uint32_t n = 25; n <= 800; n *= 2)
		measure(n, 5000, 0.999999);
	measure(400, 5000, 0.999999);
	for (uint64_t c = 500; c <= 50000; c *= 10)
		measure(100, c, 0.999999);
	for (int nines = 2; nines <= 6; nines++)
		measure(400, 5000, 1 - fth_pow10(-nines));
	return 0;
}
