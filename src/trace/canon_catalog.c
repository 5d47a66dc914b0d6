/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical catalog: see docs/formats.md. */
#include "trace/readers.h"

static const char *const markets[] = {"on-demand", "spot", "reserved", NULL};
static const char *const meters[] = {"acquired", "ready", "request", NULL};

static const struct fth_field_rule type_rules[] = {
	{.key = "family", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_instance_type, family)},
	{.key = "arch", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_instance_type, arch)},
	{.key = "holds", .type = FTH_FIELD_RES, .offset = offsetof(struct fth_instance_type, capacity), .required = true},
	{.key = "acquire", .type = FTH_FIELD_DELAY, .offset = offsetof(struct fth_instance_type, acquire)},
	{.key = "setup", .type = FTH_FIELD_DELAY, .offset = offsetof(struct fth_instance_type, setup)},
	{.key = "terminate", .type = FTH_FIELD_DELAY, .offset = offsetof(struct fth_instance_type, terminate)},
	{.key = "boot", .type = FTH_FIELD_BOOT, .offset = offsetof(struct fth_instance_type, boot)},
	{.key = "container", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_instance_type, container)},
};

static const struct fth_field_rule offer_rules[] = {
	{.key = "zone", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_offer, zone)},
	{.key = "market", .type = FTH_FIELD_CHOICE, .offset = offsetof(struct fth_offer, market), .choices = markets},
	{.key = "price", .type = FTH_FIELD_USD, .offset = offsetof(struct fth_offer, price), .required = true},
	{.key = "increment", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_offer, billing.increment)},
	{.key = "minimum", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_offer, billing.minimum)},
	{.key = "from", .type = FTH_FIELD_CHOICE, .offset = offsetof(struct fth_offer, billing.from), .choices = meters},
	{.key = "start-price", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_offer, billing.start_price)},
	{.key = "cut-free", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_offer, billing.cut_free)},
	{.key = "interruptions", .type = FTH_FIELD_COUNT32, .offset = offsetof(struct fth_offer, interruptions_ppm)},
	{.key = "unavailable", .type = FTH_FIELD_COUNT32, .offset = offsetof(struct fth_offer, unavailable_ppb)},
	{.key = "available", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_offer, available)},
	{.key = "sustained", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_offer, sustained)},
	{.key = "contract", .type = FTH_FIELD_SYM, .offset = offsetof(struct fth_offer, contract.name)},
	{.key = "term", .type = FTH_FIELD_TIME, .offset = offsetof(struct fth_offer, contract.term)},
	{.key = "upfront", .type = FTH_FIELD_USD, .offset = offsetof(struct fth_offer, contract.upfront)},
	{.key = "every-hour", .type = FTH_FIELD_FLAG, .offset = offsetof(struct fth_offer, contract.every_hour)},
};

static const struct fth_instance_type type_defaults;

static struct fth_offer offer_defaults(void)
{
	return (struct fth_offer){.billing = fth_billing_default(), .available = true};
}

static struct fth_field_names names_of(const struct fth_catalog_store *c)
{
	return (struct fth_field_names){.syms = c->syms, .nres = c->nres, .res_names = c->res_names};
}

struct reader {
	struct fth_catalog_store *c;
	struct fth_line line;
	struct fth_map types; /* symbol of a name -> type id */
	struct fth_map seen;  /* hash of what an offer says -> its index */
};

static int read_resource(struct reader *r, struct fth_error *err)
{
	if (!fth_resource_name_ok(r->line.name))
		return fth_line_fail(&r->line, err, "resource: a name of letters, digits, '.', '-' and '_' is needed");
	if (fth_catalog_resource(r->c, r->line.name) < 0)
		return fth_line_fail(&r->line, err, "resource: more than %d extra resources", FTH_RES_MAX - FTH_RES_EXTRA);
	return fth_line_finish(&r->line, err);
}

static int read_type(struct reader *r, struct fth_error *err)
{
	struct fth_instance_type t = type_defaults;
	struct fth_field_names names = names_of(r->c);
	if (!*r->line.name)
		return fth_line_fail(&r->line, err, "type: its name is missing");
	t.name = fth_sym_intern(r->c->syms, r->line.name);
	if (fth_map_get(&r->types, t.name, NULL))
		return fth_line_fail(&r->line, err, "type %.60s twice", r->line.name);
	int e = fth_line_apply(&r->line, type_rules, FTH_COUNT(type_rules), &t, &names, err);
	if (!e)
		e = fth_line_finish(&r->line, err);
	if (e)
		return e;
	fth_map_put(&r->types, t.name, r->c->types.len);
	fth_vec_push(&r->c->types, t);
	return 0;
}

/* A contract is bought, not launched; one whose hours cost more than on demand, which come first, is a mistake. */
static int check_contract(struct reader *r, struct fth_offer *o, struct fth_error *err)
{
	const struct fth_contract *k = &o->contract;
	if (!k->term) {
		if (k->name || k->upfront || k->every_hour)
			return fth_line_fail(&r->line, err, "contract=, upfront= and every-hour= need term=");
		return 0;
	}
	if (o->market != FTH_RESERVED || !k->name)
		return fth_line_fail(&r->line, err, "term= is of an offer with market=reserved and a name of its own in contract=");
	for (size_t i = 0; i < r->c->offers.len; i++) {
		const struct fth_offer *od = &r->c->offers.data[i];
		if (od->type != o->type || od->market != FTH_ON_DEMAND || od->zone != o->zone)
			continue;
		if (o->price > od->price)
			return fth_line_fail(&r->line, err, "contract %.60s: its hours cost more than on demand",
					     fth_sym_str(r->c->syms, k->name));
	}
	o->available = false;
	return 0;
}

static bool same_billing(const struct fth_billing *a, const struct fth_billing *b)
{
	return a->increment == b->increment && a->minimum == b->minimum && a->from == b->from &&
	       a->start_price == b->start_price && a->cut_free == b->cut_free;
}

/* The same offer twice is a slip; another price or billing rule may be another class of the same thing. */
static bool said_before(struct reader *r, const struct fth_offer *o)
{
	uint64_t key = fth_hash_u64((uint64_t)o->type << 32 | o->zone) ^ o->market, at;
	key = fth_hash_u64(key ^ (uint64_t)o->price);
	key = fth_hash_u64(key ^ (uint64_t)o->billing.increment ^ fth_hash_u64((uint64_t)o->billing.minimum));
	if (!fth_map_get(&r->seen, key, &at)) {
		fth_map_put(&r->seen, key, r->c->offers.len);
		return false;
	}
	for (size_t i = at; i < r->c->offers.len; i++) {
		const struct fth_offer *old = &r->c->offers.data[i];
		if (old->type == o->type && old->zone == o->zone && old->market == o->market && old->price == o->price &&
		    same_billing(&old->billing, &o->billing) && old->contract.name == o->contract.name)
			return true;
	}
	return false;
}

static int read_offer(struct reader *r, struct fth_error *err)
{
	struct fth_offer o = offer_defaults();
	struct fth_field_names names = names_of(r->c);
	uint64_t type;
	if (!fth_map_get(&r->types, fth_sym_find(r->c->syms, r->line.name), &type))
		return fth_line_fail(&r->line, err, "offer of '%.60s': no type of this name above", r->line.name);
	o.type = (fth_type_id)type;
	int e = fth_line_apply(&r->line, offer_rules, FTH_COUNT(offer_rules), &o, &names, err);
	if (!e)
		e = fth_line_finish(&r->line, err);
	if (e)
		return e;
	if (o.billing.increment <= 0)
		return fth_line_fail(&r->line, err, "increment=: must be above 0");
	if (said_before(r, &o))
		return fth_line_fail(&r->line, err, "offer of %.60s: the same is above, at this price", r->line.name);
	e = check_contract(r, &o, err);
	if (e)
		return e;
	fth_vec_push(&r->c->offers, o);
	return 0;
}

int fth_read_canon_catalog(struct fth_catalog_store *c, struct fth_input *in, struct fth_error *err)
{
	struct reader r = {.c = c};
	int e = fth_line_expect_header(in, "farthing-catalog", err);
	while (!e) {
		e = fth_line_next(&r.line, in, err);
		if (e <= 0)
			break;
		if (!strcmp(r.line.word, "resource"))
			e = read_resource(&r, err);
		else if (!strcmp(r.line.word, "type"))
			e = read_type(&r, err);
		else if (!strcmp(r.line.word, "offer"))
			e = read_offer(&r, err);
		else
			e = fth_line_fail(&r.line, err, "unknown word '%.60s'", r.line.word);
	}
	if (!e && !c->offers.len)
		e = fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "no offer in it");
	fth_line_release(&r.line);
	fth_map_release(&r.types);
	fth_map_release(&r.seen);
	return e;
}

int fth_write_catalog(const struct fth_catalog_store *c, struct fth_output *o, struct fth_error *err)
{
	struct fth_field_names names = names_of(c);
	struct fth_offer defaults = offer_defaults();
	struct fth_str s = {0};
	fth_str_add(&s, "farthing-catalog 1\n");
	for (uint32_t i = FTH_RES_EXTRA; i < c->nres; i++)
		fth_str_addf(&s, "resource %s\n", fth_sym_str(c->syms, c->res_names[i]));
	for (size_t i = 0; i < c->types.len; i++) {
		fth_str_add(&s, "type ");
		fth_name_write(&s, fth_sym_str(c->syms, c->types.data[i].name));
		fth_fields_write(&s, type_rules, FTH_COUNT(type_rules), &c->types.data[i], &type_defaults, &names);
		fth_str_addc(&s, '\n');
	}
	for (size_t i = 0; i < c->offers.len; i++) {
		fth_str_add(&s, "offer ");
		fth_name_write(&s, fth_sym_str(c->syms, c->types.data[c->offers.data[i].type].name));
		struct fth_offer offer = c->offers.data[i];
		offer.available |= offer.contract.term > 0; /* that it cannot be launched goes without saying */
		fth_fields_write(&s, offer_rules, FTH_COUNT(offer_rules), &offer, &defaults, &names);
		fth_str_addc(&s, '\n');
	}
	int r = fth_output_write(o, s.data, s.len, err);
	fth_str_release(&s);
	return r;
}
