/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full Reconfiguration (Algorithm 1) as the number of tasks grows.
 *
 * The nine single-task workloads of Eva's Table 7 (tasks alike in nine ways), without and with
 * interference, counted or one by one; and tasks that all differ. Prints one line a size, the processor
 * time of the fastest of several runs, and the growth per doubling; fails if 8,000 tasks of Table 7 take
 * over 20 ms, 128,000 over 1 s, or the last three doublings more than 2.3 times each on average.
 */
#include <time.h>

#include "model/catalog.h"
#include "model/workload.h"
#include "optimize/full_reconfig.h"
#include "trace/classes.h"

static struct fth_symtab *syms;
static struct fth_catalog_store catalog;
static struct fth_kinds kinds;

static struct fth_res res(int64_t gpu, int64_t cpu, int64_t gb)
{
	return (struct fth_res){{gpu * 1000, cpu * 1000, gb * 1024}};
}

static void add_type(const char *family, struct fth_res capacity, fth_price price)
{
	char name[32];
	snprintf(name, sizeof(name), "%s.%zu", family, catalog.types.len);
	struct fth_instance_type t = {.name = fth_sym_intern(syms, name), .family = fth_sym_intern(syms, family),
				      .capacity = capacity};
	struct fth_offer o = {.type = (fth_type_id)catalog.types.len, .price = price,
			      .billing = fth_billing_default(), .available = true};
	fth_vec_push(&catalog.types, t);
	fth_vec_push(&catalog.offers, o);
}

/* The 21 EC2 types of the paper. */
static void make_catalog(void)
{
	static const int64_t k[] = {1, 2, 4, 8, 16, 24, 32, 48, 96};
	struct fth_error err;
	for (int64_t n = 1; n <= 8; n = n == 1 ? 4 : n * 2)
		add_type("p3", res(n, 8 * n, 61 * n), n * 3060000000);
	for (size_t i = 0; i < FTH_COUNT(k); i++)
		add_type("c7i", res(0, 2 * k[i], 4 * k[i]), k[i] * 89250000);
	for (size_t i = 0; i < FTH_COUNT(k); i++)
		add_type("r7i", res(0, 2 * k[i], 16 * k[i]), k[i] * 132300000);
	fth_catalog_finish(&catalog, &err);
}

static fth_kind_id add_kind(const char *label, const struct fth_alt *alts, uint32_t n)
{
	struct fth_kind k = {.label = fth_sym_intern(syms, label), .nalts = n, .alts = alts};
	return fth_kinds_intern(&kinds, &k);
}

static fth_kind_id workload(size_t i)
{
	return fth_class_kind(&kinds, &fth_classes[i], fth_classes[i].name);
}

static double pairs(void *arg, fth_kind_id k, const fth_kind_id *others, uint32_t n)
{
	(void)arg;
	double rate = 1;
	for (uint32_t i = 0; i < n; i++)
		rate *= 1 - 0.01 * (double)((k % 9 * 7 + others[i] % 9 * 3) % 20);
	return rate;
}

/* Of the processor, not of the wall: others may be working on this machine. */
static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double measure(const struct fth_pack_item *items, uint32_t n, fth_rate_fn *rate, double *usd)
{
	struct fth_packing p = {0};
	struct fth_error err;
	double best = 1e18, begin = now_ms();
	for (int i = 0; i < 5 && (i < 2 || now_ms() - begin < 2000); i++) {
		double from = now_ms();
		if (fth_full_reconfig(&catalog.pub, kinds.list.data, items, n, rate, NULL, &p, &err)) {
			printf("%s\n", err.text);
			exit(1);
		}
		best = FTH_MIN(best, now_ms() - from);
	}
	*usd = fth_usd(p.price);
	fth_packing_release(&p);
	return best;
}

/* One task an item, so that the caller need not count; mixed: n different demands. */
static struct fth_pack_item *make_items(uint32_t n, bool mixed)
{
	struct fth_pack_item *items = fth_alloc(n * sizeof(*items));
	struct fth_rng r;
	fth_rng_seed(&r, 1, n, mixed);
	for (uint32_t i = 0; i < n; i++) {
		items[i] = (struct fth_pack_item){0, 1, 1, 0};
		if (!mixed) {
			items[i].kind = workload(fth_rng_below(&r, FTH_NCLASSES));
			continue;
		}
		char label[32];
		int64_t gpu = fth_rng_below(&r, 2) ? (int64_t)(1 + fth_rng_below(&r, 4)) * 250 : 0;
		struct fth_alt any = {0, 1000000, {{gpu, (int64_t)(1000 + fth_rng_below(&r, 7000)),
						    (int64_t)(512 + fth_rng_below(&r, 60000))}}};
		snprintf(label, sizeof(label), "mixed%u", i);
		items[i].kind = add_kind(label, &any, 1);
		items[i].alike = items[i].kind % 9 + 1; /* of nine classes */
	}
	return items;
}

/* The same, counted by kind. */
static uint32_t count_items(const struct fth_pack_item *items, uint32_t n, struct fth_pack_item *ret)
{
	uint32_t m = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;
		while (k < m && ret[k].kind != items[i].kind)
			k++;
		if (k == m)
			ret[m++] = (struct fth_pack_item){items[i].kind, 0, 1, 0};
		ret[k].count++;
	}
	return m;
}

static int curve(const char *name, bool mixed, bool counted, fth_rate_fn *rate, uint32_t most, bool strict)
{
	double last = 0, before = 0;
	int bad = 0;
	printf("%s\n%10s %12s %8s %14s\n", name, "tasks", "ms", "growth", "$/h");
	for (uint32_t n = 1000; n <= most; n *= 2) {
		struct fth_pack_item *items = make_items(n, mixed), by_kind[FTH_NCLASSES];
		uint32_t m = counted ? count_items(items, n, by_kind) : n;
		double usd, ms = measure(counted ? by_kind : items, m, rate, &usd);
		printf("%10u %12.3f %8.2f %14.2f\n", n, ms, last > 0 ? ms / last : 0, usd);
		if (n == 16000)
			before = ms;
		if (strict && ((n == 8000 && ms > 20) || (n == 128000 && (ms > 1000 || (ms > 10 && ms > before * 12.17)))))
			bad = 1; /* 12.17: 2.3 three times over */
		last = ms;
		free(items);
	}
	return bad;
}

int main(void)
{
	syms = fth_symtab_new();
	fth_catalog_init(&catalog, syms);
	fth_kinds_init(&kinds, syms);
	make_catalog();
	int bad = curve("Table 7, counted by workload", false, true, NULL, 128000, true);
	bad |= curve("Table 7 with interference, counted by workload", false, true, pairs, 128000, true);
	bad |= curve("Table 7, one item a task", false, false, NULL, 128000, true);
	curve("all tasks different", true, false, NULL, 128000, false);
	curve("all tasks different, with interference", true, false, pairs, 16000, false);
	if (bad)
		printf("too slow\n");
	fth_kinds_release(&kinds);
	fth_catalog_release(&catalog);
	fth_symtab_free(syms);
	return bad;
}
