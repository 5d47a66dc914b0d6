/* SPDX-License-Identifier: Apache-2.0 */
#include "model/catalog.h"

void fth_catalog_init(struct fth_catalog_store *c, struct fth_symtab *syms)
{
	*c = (struct fth_catalog_store){.syms = syms, .nres = FTH_RES_EXTRA};
	c->res_names[FTH_GPU] = fth_sym_intern(syms, "gpu");
	c->res_names[FTH_CPU] = fth_sym_intern(syms, "cpu");
	c->res_names[FTH_MEM] = fth_sym_intern(syms, "mem");
}

void fth_catalog_release(struct fth_catalog_store *c)
{
	fth_vec_release(&c->types);
	fth_vec_release(&c->offers);
}

int fth_catalog_resource(struct fth_catalog_store *c, const char *name)
{
	fth_sym sym = fth_sym_intern(c->syms, name);
	for (uint32_t i = 0; i < c->nres; i++)
		if (c->res_names[i] == sym)
			return (int)i;
	if (c->nres == FTH_RES_MAX)
		return -1;
	c->res_names[c->nres] = sym;
	return (int)c->nres++;
}

fth_type_id fth_catalog_find_type(const struct fth_catalog_store *c, fth_sym name)
{
	for (size_t i = 0; i < c->types.len; i++)
		if (c->types.data[i].name == name)
			return (fth_type_id)i;
	return FTH_NONE;
}

static void publish(struct fth_catalog_store *c)
{
	c->pub = (struct fth_catalog){
		.types = c->types.data,
		.ntypes = (uint32_t)c->types.len,
		.offers = c->offers.data,
		.noffers = (uint32_t)c->offers.len,
		.nres = c->nres,
	};
	memcpy(c->pub.res_names, c->res_names, sizeof(c->res_names));
}

static int check_delay(const struct fth_delay *d)
{
	return d->min >= 0 && d->min <= d->mean && d->mean <= d->max ? 0 : -EINVAL;
}

int fth_catalog_finish(struct fth_catalog_store *c, struct fth_error *err)
{
	if (!c->types.len)
		return fth_fail(err, -EINVAL, "catalog: no instance type");
	if (!c->offers.len)
		return fth_fail(err, -EINVAL, "catalog: no offer: nothing has a price");
	for (size_t i = 0; i < c->types.len; i++) {
		const struct fth_instance_type *t = &c->types.data[i];
		for (int r = 0; r < FTH_RES_MAX; r++)
			if (t->capacity.v[r] < 0)
				return fth_fail(err, -EINVAL, "catalog: %s: negative capacity",
						fth_sym_str(c->syms, t->name));
		if (check_delay(&t->acquire) || check_delay(&t->setup) || check_delay(&t->terminate))
			return fth_fail(err, -EINVAL, "catalog: %s: a delay must be 0 <= least <= mean <= greatest",
					fth_sym_str(c->syms, t->name));
	}
	for (size_t i = 0; i < c->offers.len; i++) {
		const struct fth_offer *o = &c->offers.data[i];
		if (o->contract.term < 0 || o->contract.upfront < 0)
			return fth_fail(err, -EINVAL, "catalog: offer %zu: a negative term or fee", i);
		if (o->type >= c->types.len || o->price < 0 || o->billing.increment <= 0 || o->billing.minimum < 0)
			return fth_fail(err, -EINVAL, "catalog: offer %zu: bad type, price or billing", i);
	}
	publish(c);
	return 0;
}

void fth_catalog_copy(struct fth_catalog_store *to, const struct fth_catalog_store *from)
{
	*to = (struct fth_catalog_store){.syms = from->syms, .nres = from->nres};
	memcpy(to->res_names, from->res_names, sizeof(to->res_names));
	fth_vec_reserve(&to->types, from->types.len);
	fth_vec_reserve(&to->offers, from->offers.len);
	memcpy(to->types.data, from->types.data, from->types.len * sizeof(*to->types.data));
	memcpy(to->offers.data, from->offers.data, from->offers.len * sizeof(*to->offers.data));
	to->types.len = from->types.len;
	to->offers.len = from->offers.len;
	publish(to);
}

fth_time fth_delay_draw(const struct fth_delay *d, struct fth_rng *rng)
{
	if (d->min == d->max)
		return d->min;
	bool below = fth_rng_real(rng) * (double)(d->max - d->min) < (double)(d->max - d->mean);
	fth_time from = below ? d->min : d->mean, to = below ? d->mean : d->max;
	return from + (fth_time)(fth_rng_real(rng) * (double)(to - from));
}

struct fth_billing fth_billing_default(void)
{
	return (struct fth_billing){.increment = FTH_SEC, .minimum = 0, .from = FTH_BILL_FROM_ACQUIRED};
}

/* To whole seconds: tables of boot times are measured in minutes with one decimal. */
static fth_time to_seconds(double us)
{
	return (fth_time)(us / 1e6 + 0.5) * FTH_SEC;
}

fth_time fth_boot_time(const struct fth_instance_type *t, uint32_t n)
{
	const struct fth_boot_step *b = t->boot;
	int last = 0;
	while (last + 1 < FTH_BOOT_STEPS && b[last + 1].size)
		last++;
	if (n <= b[0].size || (!last && n >= b[0].size))
		return b[0].time;
	for (int k = 1; k <= last; k++)
		if (n <= b[k].size) {
			double share = (double)(n - b[k - 1].size) / (double)(b[k].size - b[k - 1].size);
			return to_seconds((double)b[k - 1].time + share * (double)(b[k].time - b[k - 1].time));
		}
	double per_doubling = (double)(b[last].time - b[last - 1].time) / fth_log((double)b[last].size / (double)b[last - 1].size);
	return to_seconds((double)b[last].time + per_doubling * fth_log((double)n / (double)b[last].size));
}
