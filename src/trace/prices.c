/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs by their price lists: SkyPilot's CSV, and EC2's DescribeInstanceTypes with prices beside it. */
#include <math.h>

#include "trace/csv.h"
#include "trace/doc.h"
#include "trace/readers.h"

/* Neither file says how long a machine takes to come: Eva measured this on EC2 (its Table 1). */
static const struct fth_delay acquire = {6 * FTH_SEC, 19 * FTH_SEC, 83 * FTH_SEC};
static const struct fth_delay setup = {140 * FTH_SEC, 190 * FTH_SEC, 251 * FTH_SEC};
static const struct fth_delay terminate = {FTH_SEC, FTH_SEC, FTH_SEC};
/* Nor how it bills: EC2 and GCP charge by the second, a minute at least. */
static const struct fth_billing billing = {.increment = FTH_SEC, .minimum = 60 * FTH_SEC, .from = FTH_BILL_FROM_ACQUIRED};

static struct fth_instance_type new_type(fth_sym name, fth_sym family)
{
	return (struct fth_instance_type){
		.name = name, .family = family, .acquire = acquire, .setup = setup, .terminate = terminate};
}

/* An offer, once per type, zone and market. -EEXIST: it is there at another price. */
static int add_offer(struct fth_catalog_store *c, struct fth_map *seen, fth_type_id type, fth_sym zone,
		     enum fth_market market, fth_price price)
{
	uint64_t key = fth_hash_u64((uint64_t)type << 32 | zone) ^ market, at;
	if (fth_map_get(seen, key, &at)) {
		const struct fth_offer *o = &c->offers.data[at];
		if (o->type == type && o->zone == zone && o->market == market)
			return o->price == price ? 0 : -EEXIST;
	}
	fth_map_put(seen, key, c->offers.len);
	fth_vec_push(&c->offers, ((struct fth_offer){.type = type,
						     .zone = zone,
						     .market = market,
						     .price = price,
						     .billing = billing,
						     .available = true}));
	return 0;
}

/* ---- SkyPilot ---- */

enum { TYPE, ACC_NAME, ACC_COUNT, VCPUS, MEMORY, GPU_INFO, PRICE, SPOT, REGION, ZONE, NCOLUMNS };
static const struct fth_csv_column sky_columns[] = {
	[TYPE] = {"InstanceType", true},        [ACC_NAME] = {"AcceleratorName", true},
	[ACC_COUNT] = {"AcceleratorCount", true}, [VCPUS] = {"vCPUs", true},
	[MEMORY] = {"MemoryGiB", true},         [GPU_INFO] = {"GpuInfo", true},
	[PRICE] = {"Price", true},              [SPOT] = {"SpotPrice", false},
	[REGION] = {"Region", true},            [ZONE] = {"AvailabilityZone", false},
	/* Newer files have these; what they say is not needed here. */
	{"Arch", false},         {"Generation", false},   {"LocalDiskType", false}, {"NVMeSupported", false},
	{"LocalDiskSize", false}, {"LocalDisksCount", false},
};

struct sky {
	struct fth_csv csv;
	struct fth_catalog_store *c;
	const struct fth_import_options *o;
	struct fth_map types, offers;
};

static int sky_real(struct sky *s, int column, double max, double *ret, struct fth_error *err)
{
	const char *cell = fth_csv_cell(&s->csv, column);
	*ret = 0;
	return *cell ? fth_csv_real(&s->csv, cell, sky_columns[column].name, 0, max, ret, err) : 0;
}

/* GCP lists accelerators apart from the machines they belong to: such a machine's price is not the
 * price of what one gets, so those families are left out. */
static bool price_is_partial(const char *type)
{
	if (strchr(type, '.'))
		return false;
	return (type[0] == 'a' && type[1] >= '0' && type[1] <= '9') || (type[0] == 'g' && type[1] >= '2' && type[1] <= '9');
}

static int sky_type(struct sky *s, const char *name, const char *family, uint64_t *ret, struct fth_error *err)
{
	fth_sym sym = fth_sym_intern(s->c->syms, name);
	struct fth_instance_type t = new_type(sym, fth_sym_intern(s->c->syms, family));
	double gpus = 0, cpus, gib;
	int e;
	if ((e = sky_real(s, VCPUS, 1e6, &cpus, err)) || (e = sky_real(s, MEMORY, 1e6, &gib, err)) ||
	    (*fth_csv_cell(&s->csv, GPU_INFO) && (e = sky_real(s, ACC_COUNT, 1e4, &gpus, err))))
		return e;
	/* Parts of a GPU cannot be shared among machines: what is given is what there is. */
	t.capacity.v[FTH_GPU] = (int64_t)floor(gpus * 1000 + 0.5);
	t.capacity.v[FTH_CPU] = (int64_t)floor(cpus * 1000 + 0.5);
	t.capacity.v[FTH_MEM] = (int64_t)floor(gib * 1024 + 0.5);
	if (fth_map_get(&s->types, sym, ret)) {
		if (!fth_res_equal(&s->c->types.data[*ret].capacity, &t.capacity))
			return fth_csv_fail(&s->csv, err, "type %.60s has another capacity above", name);
		return 0;
	}
	*ret = s->c->types.len;
	fth_map_put(&s->types, sym, *ret);
	fth_vec_push(&s->c->types, t);
	return 0;
}

static int sky_offer(struct sky *s, uint64_t type, int column, enum fth_market market, struct fth_error *err)
{
	const char *zone = fth_csv_cell(&s->csv, ZONE);
	double usd;
	if (!*fth_csv_cell(&s->csv, column))
		return 0;
	int e = sky_real(s, column, 1e6, &usd, err);
	if (e)
		return e;
	fth_sym sym = fth_sym_intern(s->c->syms, *zone ? zone : fth_csv_cell(&s->csv, REGION));
	if (add_offer(s->c, &s->offers, (fth_type_id)type, sym, market, (fth_price)floor(usd * 1e9 + 0.5)))
		return fth_csv_fail(&s->csv, err, "%.60s in %.60s has another price above", fth_csv_cell(&s->csv, TYPE),
				    *zone ? zone : fth_csv_cell(&s->csv, REGION));
	return 0;
}

static int sky_row(struct sky *s, struct fth_error *err)
{
	const char *name = fth_csv_cell(&s->csv, TYPE);
	if (!*name || price_is_partial(name))
		return 0;
	if (s->o->region && *s->o->region && strcmp(s->o->region, fth_csv_cell(&s->csv, REGION)))
		return 0;
	const char *family = fth_sym_str(s->c->syms, fth_type_family(s->c->syms, name));
	if (!fth_family_wanted(s->o->families, family))
		return 0;
	bool spot = s->o->spot && *fth_csv_cell(&s->csv, SPOT);
	if (!*fth_csv_cell(&s->csv, PRICE) && !spot)
		return 0;
	uint64_t type;
	int e = sky_type(s, name, family, &type, err);
	if (!e)
		e = sky_offer(s, type, PRICE, FTH_ON_DEMAND, err);
	if (!e && spot)
		e = sky_offer(s, type, SPOT, FTH_SPOT, err);
	return e;
}

int fth_read_skypilot(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		      struct fth_error *err)
{
	struct sky s = {.c = c, .o = o};
	int e = fth_csv_open(&s.csv, in, sky_columns, FTH_COUNT(sky_columns), err);
	while (!e && (e = fth_csv_next(&s.csv, err)) > 0)
		e = sky_row(&s, err);
	if (!e && !c->offers.len)
		e = fth_csv_fail(&s.csv, err, "no offer of the wanted region and families in it");
	fth_csv_release(&s.csv);
	fth_map_release(&s.types);
	fth_map_release(&s.offers);
	return e;
}

/* ---- EC2 ---- */

/* Prices by type: a SkyPilot catalog, or a plain list. */
struct prices {
	struct fth_catalog_store c; /* of a SkyPilot catalog */
	bool sky;
	struct fth_map by_type;     /* of a list: symbol -> price */
};

static int read_price_list(struct prices *p, struct fth_input *in, struct fth_error *err)
{
	static const struct fth_csv_column columns[] = {{"type", true}, {"price", true}};
	struct fth_csv csv;
	int e = fth_csv_open(&csv, in, columns, FTH_COUNT(columns), err);
	while (!e && (e = fth_csv_next(&csv, err)) > 0) {
		const char *name = fth_csv_cell(&csv, 0), *cell = fth_csv_cell(&csv, 1);
		fth_price price = 0;
		fth_sym sym = fth_sym_intern(p->c.syms, name);
		e = fth_parse_usd(cell, strlen(cell), &price);
		if (e || price < 0 || price > FTH_TRACE_PRICE_MAX)
			e = fth_csv_fail(&csv, err, "price '%.60s' is not a price in dollars per hour", cell);
		else if (!sym || fth_map_get(&p->by_type, sym, NULL))
			e = fth_csv_fail(&csv, err, "type '%.60s': empty or twice", name);
		else
			fth_map_put(&p->by_type, sym, (uint64_t)price);
	}
	fth_csv_release(&csv);
	return e;
}

static int read_prices(struct prices *p, const struct fth_import_options *o, struct fth_error *err)
{
	struct fth_input *in;
	const char *peek;
	size_t n;
	int e = fth_input_open(&in, o->prices, err);
	if (e)
		return e;
	e = fth_input_peek(in, &peek, &n, err);
	if (!e) {
		p->sky = memmem(peek, FTH_MIN(n, (size_t)1024), "InstanceType", 12) != NULL;
		e = p->sky ? fth_read_skypilot(&p->c, in, o, err) : read_price_list(p, in, err);
	}
	fth_input_close(in);
	return e;
}

static const char *const ec2_root_keys[] = {"InstanceTypes", "NextToken", "ResponseMetadata", NULL};
static const char *const ec2_keys[] = {
	"AutoRecoverySupported", "BareMetal", "BurstablePerformanceSupported", "CurrentGeneration",
	"DedicatedHostsSupported", "EbsInfo", "FpgaInfo", "FreeTierEligible", "GpuInfo", "HibernationSupported",
	"Hypervisor", "InferenceAcceleratorInfo", "InstanceStorageInfo", "InstanceStorageSupported", "InstanceType",
	"MediaAcceleratorInfo", "MemoryInfo", "NetworkInfo", "NeuronInfo", "NitroEnclavesSupport", "NitroTpmInfo",
	"NitroTpmSupport", "PhcSupport", "PlacementGroupInfo", "ProcessorInfo", "RebootMigrationSupport",
	"SupportedBootModes", "SupportedRootDeviceTypes", "SupportedUsageClasses", "SupportedVirtualizationTypes",
	"VCpuInfo", NULL};

static int ec2_inner_int(struct fth_doc *d, json_t *type, const char *part, const char *key, int64_t *ret,
			 struct fth_error *err)
{
	json_t *info;
	int e = fth_doc_get(d, type, part, JSON_OBJECT, &info, err);
	if (e)
		return e;
	fth_doc_enter(d, part);
	e = fth_doc_int(d, info, key, 1, (int64_t)1 << 32, ret, err);
	fth_doc_leave(d);
	return e;
}

static int ec2_gpus(struct fth_doc *d, json_t *type, int64_t *ret, struct fth_error *err)
{
	json_t *info = json_object_get(type, "GpuInfo"), *gpus, *gpu;
	size_t i;
	*ret = 0;
	if (!info)
		return 0;
	int e = fth_doc_get(d, type, "GpuInfo", JSON_OBJECT, &info, err);
	if (e)
		return e;
	fth_doc_enter(d, "GpuInfo");
	e = fth_doc_get(d, info, "Gpus", JSON_ARRAY, &gpus, err);
	fth_doc_enter(d, "Gpus");
	for (i = 0; !e && i < json_array_size(gpus); i++) {
		int64_t count = 0;
		gpu = json_array_get(gpus, i);
		fth_doc_enter_index(d, i);
		e = fth_doc_int(d, gpu, "Count", 0, 10000, &count, err);
		fth_doc_leave(d);
		*ret += count;
	}
	fth_doc_leave(d);
	fth_doc_leave(d);
	return e;
}

/* The widest of the architectures a type can run: 64 bits rather than 32. */
static fth_sym ec2_arch(struct fth_symtab *syms, json_t *type)
{
	json_t *list = json_object_get(json_object_get(type, "ProcessorInfo"), "SupportedArchitectures");
	fth_sym arch = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));
		if (s && (!arch || strstr(s, "64")))
			arch = fth_sym_intern(syms, s);
	}
	return arch;
}

static int ec2_offers(struct fth_catalog_store *c, struct prices *p, fth_type_id type, struct fth_map *seen)
{
	fth_sym name = c->types.data[type].name;
	uint64_t price;
	int n = 0;
	if (!p->sky) {
		if (!fth_map_get(&p->by_type, name, &price))
			return 0;
		add_offer(c, seen, type, 0, FTH_ON_DEMAND, (fth_price)price);
		return 1;
	}
	for (size_t i = 0; i < p->c.offers.len; i++) {
		const struct fth_offer *o = &p->c.offers.data[i];
		if (p->c.types.data[o->type].name != name)
			continue;
		add_offer(c, seen, type, o->zone, o->market, o->price);
		n++;
	}
	return n;
}

struct ec2 {
	struct fth_doc doc;
	struct fth_catalog_store *c;
	const struct fth_import_options *o;
	struct prices prices;
	struct fth_map names, offers;
};

static int ec2_type(struct ec2 *x, json_t *type, struct fth_error *err)
{
	const char *name;
	int64_t cpus, mib, gpus;
	int e;
	if (!json_is_object(type))
		return fth_doc_fail(&x->doc, err, "an instance type is an object");
	if ((e = fth_doc_known(&x->doc, type, ec2_keys, err)) ||
	    (e = fth_doc_string(&x->doc, type, "InstanceType", &name, err)) ||
	    (e = ec2_inner_int(&x->doc, type, "VCpuInfo", "DefaultVCpus", &cpus, err)) ||
	    (e = ec2_inner_int(&x->doc, type, "MemoryInfo", "SizeInMiB", &mib, err)) ||
	    (e = ec2_gpus(&x->doc, type, &gpus, err)))
		return e;
	struct fth_instance_type t = new_type(fth_sym_intern(x->c->syms, name), fth_type_family(x->c->syms, name));
	if (fth_map_get(&x->names, t.name, NULL))
		return fth_doc_fail(&x->doc, err, "type %.60s twice", name);
	fth_map_put(&x->names, t.name, 1);
	if (!fth_family_wanted(x->o->families, fth_sym_str(x->c->syms, t.family)))
		return 0;
	t.arch = ec2_arch(x->c->syms, type);
	t.capacity = (struct fth_res){{gpus * 1000, cpus * 1000, mib}};
	fth_vec_push(&x->c->types, t);
	/* What has no price cannot be bought, and is left out. */
	if (!ec2_offers(x->c, &x->prices, (fth_type_id)x->c->types.len - 1, &x->offers))
		(void)fth_vec_pop(&x->c->types);
	return 0;
}

static int ec2_all(struct ec2 *x, struct fth_error *err)
{
	json_t *types;
	int e = fth_doc_known(&x->doc, x->doc.root, ec2_root_keys, err);
	if (!e)
		e = fth_doc_get(&x->doc, x->doc.root, "InstanceTypes", JSON_ARRAY, &types, err);
	if (e)
		return e;
	fth_doc_enter(&x->doc, "InstanceTypes");
	for (size_t i = 0; !e && i < json_array_size(types); i++) {
		fth_doc_enter_index(&x->doc, i);
		e = ec2_type(x, json_array_get(types, i), err);
		fth_doc_leave(&x->doc);
	}
	if (!e && !x->c->types.len)
		e = fth_doc_fail(&x->doc, err, x->o->families ? "none of the types of the wanted families has a price" : "none of the types has a price");
	return e;
}

int fth_read_ec2_types(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err)
{
	struct ec2 x = {.c = c, .o = o};
	fth_catalog_init(&x.prices.c, c->syms);
	int e = fth_doc_read(&x.doc, in, err);
	if (!e && !o->prices)
		e = fth_fail_at(err, -EINVAL, fth_input_name(in), 1,
				"this file has no prices: name a file of them (CSV type,price or a SkyPilot catalog)");
	if (!e)
		e = read_prices(&x.prices, o, err);
	if (!e && o->region && *o->region && !x.prices.sky)
		e = fth_fail_at(err, -EINVAL, o->prices, 0, "a list of prices knows no regions: %.60s cannot be chosen", o->region);
	if (!e)
		e = ec2_all(&x, err);
	fth_doc_release(&x.doc);
	fth_catalog_release(&x.prices.c);
	fth_map_release(&x.prices.by_type);
	fth_map_release(&x.names);
	fth_map_release(&x.offers);
	return e;
}
