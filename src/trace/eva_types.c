/* SPDX-License-Identifier: Apache-2.0 */
/* Instance types as JSON: Eva's file, and EC2's DescribeInstanceTypes. */
#include <math.h>

#include "trace/csv.h"
#include "trace/doc.h"
#include "trace/readers.h"

static fth_price price_of(double usd)
{
	return (fth_price)floor(usd * 1e9 + 0.5);
}

static struct fth_offer on_demand(fth_type_id type, fth_price price)
{
	return (struct fth_offer){.type = type, .price = price, .billing = fth_billing_default(), .available = true};
}

/* ---- Eva ---- */

static const char *const root_keys[] = {"region", "instance_types", NULL};
static const char *const type_keys[] = {"capacity", "num_sockets", "cost", "family", "instantiate_delay",
					"run_worker_delay", "worker_register_delay", "terminate_delay",
					"launch_cfg", "ssh_user", NULL};

static int read_type(struct fth_catalog_store *c, struct fth_doc *d, const char *name, json_t *type,
		     const char *families, struct fth_error *err)
{
	struct fth_instance_type t = {.name = fth_sym_intern(c->syms, name)};
	fth_time acquire, run, reg, terminate;
	const char *family;
	double cost;
	int e = fth_doc_known(d, type, type_keys, err);
	if (e || (e = fth_doc_demand(d, type, "capacity", &t.capacity, err)) ||
	    (e = fth_doc_real(d, type, "cost", 0, (double)(FTH_TRACE_PRICE_MAX / FTH_USD), &cost, err)) ||
	    (e = fth_doc_string(d, type, "family", &family, err)) ||
	    (e = fth_doc_seconds(d, type, "instantiate_delay", &acquire, err)) ||
	    (e = fth_doc_seconds(d, type, "run_worker_delay", &run, err)) ||
	    (e = fth_doc_seconds(d, type, "worker_register_delay", &reg, err)) ||
	    (e = fth_doc_seconds(d, type, "terminate_delay", &terminate, err)))
		return e;
	if (!t.name)
		return fth_doc_fail(d, err, "a type without a name");
	if (!fth_family_wanted(families, family))
		return 0;
	t.family = fth_sym_intern(c->syms, family);
	t.acquire = fth_delay_fixed(acquire);
	t.setup = fth_delay_fixed(run + reg);
	t.terminate = fth_delay_fixed(terminate);
	fth_vec_push(&c->offers, on_demand((fth_type_id)c->types.len, price_of(cost)));
	fth_vec_push(&c->types, t);
	return 0;
}

/* The file is about one region, or does not say which. */
static int check_region(struct fth_doc *d, const char *wanted, struct fth_error *err)
{
	const char *region;
	if (!json_object_get(d->root, "region"))
		return wanted ? fth_fail_at(err, -EINVAL, d->file, 0, "it does not say of which region it is: %.60s cannot be chosen", wanted) : 0;
	int e = fth_doc_string(d, d->root, "region", &region, err);
	if (!e && wanted && strcmp(region, wanted))
		e = fth_fail_at(err, -EINVAL, d->file, 0, "no offer of the wanted region in it: it is about %.60s", region);
	return e;
}

int fth_read_eva_types(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err)
{
	struct fth_doc d;
	json_t *types, *type;
	const char *name;
	int e = fth_doc_read(&d, in, err);
	if (!e)
		e = fth_doc_known(&d, d.root, root_keys, err);
	if (!e)
		e = check_region(&d, o->region && *o->region ? o->region : NULL, err);
	if (!e)
		e = fth_doc_get(&d, d.root, "instance_types", JSON_OBJECT, &types, err);
	if (!e) {
		fth_doc_enter(&d, "instance_types");
		json_object_foreach(types, name, type) {
			fth_doc_enter(&d, name);
			e = json_is_object(type) ? read_type(c, &d, name, type, o->families, err)
						 : fth_doc_fail(&d, err, "type %.60s: not an object", name);
			fth_doc_leave(&d);
			if (e)
				break;
		}
		if (!e && !c->types.len)
			e = fth_doc_fail(&d, err, o->families ? "no instance type of the wanted families in it" : "no instance type in it");
	}
	fth_doc_release(&d);
	return e;
}
