/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs and tasks for the tests and the benchmark of packing. */
#ifndef PACK_FIXTURE_H
#define PACK_FIXTURE_H

#include "base/base.h"
#include "model/catalog.h"
#include "model/workload.h"
#include "optimize/pack.h"
#include "trace/classes.h"

struct pack_fixture {
	struct fth_symtab *syms;
	struct fth_catalog_store catalog;
	struct fth_kinds kinds;
	FTH_VEC(struct fth_pack_item) items;
};

static inline void fixture_init(struct pack_fixture *f)
{
	*f = (struct pack_fixture){.syms = fth_symtab_new()};
	fth_catalog_init(&f->catalog, f->syms);
	fth_kinds_init(&f->kinds, f->syms);
}

static inline void fixture_release(struct pack_fixture *f)
{
	fth_catalog_release(&f->catalog);
	fth_kinds_release(&f->kinds);
	fth_vec_release(&f->items);
	fth_symtab_free(f->syms);
}

static inline struct fth_res fixture_res(int64_t gpu, int64_t cpu, int64_t gb)
{
	return (struct fth_res){.v = {gpu * 1000, cpu * 1000, gb * 1024}};
}

static inline void fixture_type(struct pack_fixture *f, const char *family, struct fth_res capacity, fth_price price)
{
	char name[64];
	snprintf(name, sizeof(name), "%s.%zu", family, f->catalog.types.len);
	struct fth_instance_type t = {
		.name = fth_sym_intern(f->syms, name), .family = fth_sym_intern(f->syms, family), .capacity = capacity};
	struct fth_offer o = {.type = (fth_type_id)f->catalog.types.len,
			      .price = price,
			      .billing = fth_billing_default(),
			      .available = true};
	fth_vec_push(&f->catalog.types, t);
	fth_vec_push(&f->catalog.offers, o);
}

static inline fth_kind_id fixture_kind(struct pack_fixture *f, const char *label, const struct fth_alt *alts, uint32_t n)
{
	struct fth_kind k = {.label = fth_sym_intern(f->syms, label), .nalts = n, .alts = alts};
	return fth_kinds_intern(&f->kinds, &k);
}

static inline fth_kind_id fixture_plain_kind(struct pack_fixture *f, const char *label, struct fth_res demand)
{
	struct fth_alt any = {.speed_ppm = 1000000, .demand = demand};
	return fixture_kind(f, label, &any, 1);
}

static inline void fixture_item(struct pack_fixture *f, fth_kind_id kind, uint32_t count)
{
	struct fth_pack_item item = {.kind = kind, .count = count, .job_tasks = 1};
	fth_vec_push(&f->items, item);
}

/* The 21 EC2 types of Eva's evaluation: p3 with its GPUs, c7i and r7i in nine sizes, list prices. */
static inline void fixture_ec2(struct pack_fixture *f)
{
	const int64_t sizes[] = {1, 2, 4, 8, 16, 24, 32, 48, 96};
	for (int64_t n = 1; n <= 8; n += n == 1 ? 3 : 4)
		fixture_type(f, "p3", fixture_res(n, 8 * n, 61 * n), n * 3060000000);
	for (size_t i = 0; i < FTH_COUNT(sizes); i++)
		fixture_type(f, "c7i", fixture_res(0, 2 * sizes[i], 4 * sizes[i]), sizes[i] * 89250000);
	for (size_t i = 0; i < FTH_COUNT(sizes); i++)
		fixture_type(f, "r7i", fixture_res(0, 2 * sizes[i], 16 * sizes[i]), sizes[i] * 132300000);
}

enum { TABLE7 = FTH_NCLASSES };

/* Demands per task of Table 7 of the Eva paper: GPUs, CPUs on p3, CPUs on c7i and r7i, GB. */
static inline void fixture_table7(struct pack_fixture *f, fth_kind_id *ret)
{
	for (int i = 0; i < TABLE7; i++)
		ret[i] = fth_class_kind(&f->kinds, &fth_classes[i], fth_classes[i].name);
}

/* n tasks drawn evenly from Table 7, as in the paper's comparison with an ILP. */
static inline void fixture_draw_table7(struct pack_fixture *f, uint32_t n, uint64_t seed)
{
	fth_kind_id kinds[TABLE7];
	uint32_t count[TABLE7] = {0};
	struct fth_rng r;
	fixture_ec2(f);
	fixture_table7(f, kinds);
	fth_rng_seed(&r, seed, 7, 0);
	for (uint32_t i = 0; i < n; i++)
		count[fth_rng_below(&r, TABLE7)]++;
	for (int i = 0; i < TABLE7; i++)
		fixture_item(f, kinds[i], count[i]);
}

/* The jobs of Eva's full trace as tasks of one moment; 0, or -errno when the file is not there. */
static inline int fixture_read_pai(struct pack_fixture *f, const char *dir, uint32_t max_jobs)
{
	char path[4096], line[1024];
	snprintf(path, sizeof(path), "%s/eva/pai_full_gavel.csv", dir);
	FILE *in = fopen(path, "r");
	if (!in)
		return -errno;
	struct fth_map at = {0};
	uint32_t jobs = 0;
	while (jobs < max_jobs && fgets(line, sizeof(line), in)) {
		int gpu, cpu, gb;
		if (sscanf(line, "%*d,%*d,%*d,%d,%d,%d", &gpu, &cpu, &gb) != 3)
			continue;
		snprintf(line, sizeof(line), "%d-%d-%d", gpu, cpu, gb);
		fth_kind_id k = fixture_plain_kind(f, line, fixture_res(gpu, cpu, gb));
		uint64_t item = f->items.len;
		if (!fth_map_get(&at, k, &item)) {
			fth_map_put(&at, k, item);
			fixture_item(f, k, 0);
		}
		f->items.data[item].count++;
		jobs++;
	}
	fth_map_release(&at);
	fclose(in);
	return 0;
}

static inline int fixture_pack(struct pack_fixture *f, const struct fth_pack_options *o, struct fth_pack_result *ret,
			       struct fth_error *err)
{
	int r = f->catalog.pub.ntypes ? 0 : fth_catalog_finish(&f->catalog, err);
	return r ? r
		 : fth_pack(&f->catalog.pub, f->kinds.list.data, f->items.data, (uint32_t)f->items.len, o, ret, err);
}

#endif
