/* SPDX-License-Identifier: Apache-2.0 */
/* Containers billed by what they hold: the sizes of a service such as AWS Fargate as types of the catalog, each at a
 * price per vCPU and per GiB. Only policies that ask for containers are offered them. */
#include "model/catalog.h"

/* Memory in GiB that goes with so many vCPUs: from, to, in steps of. Beyond 16, which Fargate does not sell, it goes on
 * in the same way. */
static const struct {
	double cpus, from, to, step;
} sizes[] = {{0.25, 0.5, 0.5, 1}, {0.25, 1, 2, 1}, {0.5, 1, 4, 1},    {1, 2, 8, 1},	   {2, 4, 16, 1},
	     {4, 8, 30, 1},	  {8, 16, 60, 4},  {16, 32, 120, 8}, {32, 64, 240, 16}, {64, 128, 480, 32}};

static void add_size(struct fth_catalog_store *c, double cpus, double gib, fth_price per_cpu, fth_price per_gib)
{
	char name[48];
	snprintf(name, sizeof(name), "fargate.%gx%g", cpus, gib);
	struct fth_instance_type t = {
		.name = fth_sym_intern(c->syms, name), .family = fth_sym_intern(c->syms, "fargate"), .container = true};
	t.capacity.v[FTH_CPU] = (int64_t)(cpus * 1000);
	t.capacity.v[FTH_MEM] = (int64_t)(gib * 1024);
	fth_vec_push(&c->types, t);
	struct fth_offer o = {.type = (fth_type_id)(c->types.len - 1),
			      .price = (fth_price)(cpus * (double)per_cpu + gib * (double)per_gib + 0.5),
			      .billing = fth_billing_default(),
			      .available = true};
	o.billing.minimum = FTH_MINUTE;
	fth_vec_push(&c->offers, o);
}

bool fth_catalog_has_containers(const struct fth_catalog_store *c)
{
	for (size_t i = 0; i < c->types.len; i++)
		if (c->types.data[i].container)
			return true;
	return false;
}

int fth_catalog_add_containers(struct fth_catalog_store *c, fth_price per_cpu, fth_price per_gib, struct fth_error *err)
{
	for (size_t i = 0; i < FTH_COUNT(sizes); i++)
		for (double gib = sizes[i].from; gib <= sizes[i].to; gib += sizes[i].step)
			add_size(c, sizes[i].cpus, gib, per_cpu, per_gib);
	return fth_catalog_finish(c, err);
}
