/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spot markets: EC2's DescribeSpotPriceHistory, CSV of epoch,az,instance_type,price, and availability
 * probes. Rows of types that the catalog does not have are counted and passed over; rows may come in any
 * order; a price that is missing, negative or no number is an error.
 */
#include "trace/csv.h"
#include "trace/doc.h"
#include "trace/readers.h"

struct reader {
	struct fth_market_data *m;
	struct fth_catalog_store *c;
	const struct fth_market_options *o;
	struct fth_map offers; /* (zone, type) -> offer, or FTH_NONE: of no concern */
};

static bool has_own_spot(const struct reader *r, fth_type_id type)
{
	for (size_t i = 0; i < r->m->first_made; i++)
		if (r->c->offers.data[i].type == type && r->c->offers.data[i].market == FTH_SPOT)
			return true;
	return false;
}

static fth_offer_id add_spot(struct fth_catalog_store *c, fth_type_id type, fth_sym zone)
{
	struct fth_offer o = {.type = type,
			      .zone = zone,
			      .market = FTH_SPOT,
			      .billing = fth_billing_default(),
			      .available = true};
	for (size_t i = 0; i < c->offers.len; i++)
		if (c->offers.data[i].type == type && c->offers.data[i].market == FTH_ON_DEMAND) {
			o.billing = c->offers.data[i].billing;
			o.price = c->offers.data[i].price; /* until the market says otherwise */
			break;
		}
	fth_vec_push(&c->offers, o);
	return (fth_offer_id)c->offers.len - 1;
}

/*
 * The spot offer of this type in this zone. A type that the catalog offers on demand only gets a spot offer in
 * every zone that the market speaks of; where the catalog has spot offers of its own, those are meant.
 */
static fth_offer_id find_offer(struct reader *r, fth_sym zone, fth_sym name)
{
	fth_type_id type = fth_catalog_find_type(r->c, name);
	if (!fth_family_wanted(r->o->zones, fth_sym_str(r->c->syms, zone)))
		return FTH_NONE;
	if (type == FTH_NONE) {
		if (!r->o->any_type)
			return FTH_NONE;
		type = (fth_type_id)r->c->types.len;
		fth_vec_push(&r->c->types, ((struct fth_instance_type){.name = name}));
	}
	for (size_t i = 0; i < r->c->offers.len; i++) {
		const struct fth_offer *o = &r->c->offers.data[i];
		if (o->type == type && o->zone == zone && o->market == FTH_SPOT)
			return (fth_offer_id)i;
	}
	return has_own_spot(r, type) ? FTH_NONE : add_spot(r->c, type, zone);
}

static fth_offer_id offer_of(struct reader *r, const char *zone, const char *type)
{
	fth_sym z = fth_sym_intern(r->c->syms, zone), t = fth_sym_intern(r->c->syms, type);
	uint64_t key = (uint64_t)z << 32 | t, offer;
	if (fth_map_get(&r->offers, key, &offer))
		return (fth_offer_id)offer;
	offer = find_offer(r, z, t);
	fth_map_put(&r->offers, key, offer);
	return (fth_offer_id)offer;
}

/* NULL, or what is wrong with it. */
static const char *parse_price(const char *s, fth_price *ret)
{
	size_t n = strlen(s);
	double x;
	if (!n)
		return "is missing";
	if (*s == '-')
		return "is negative";
	int r = fth_parse_usd(s, n, ret);
	if (r) {
		if (fth_parse_real(s, n, &x))
			return "is not a price in dollars";
		return x > 1e6 ? "is out of range" : "has more than nine decimals";
	}
	return *ret > FTH_TRACE_PRICE_MAX ? "is out of range" : NULL;
}

/* ---- CSV ---- */

enum { EPOCH, AZ, TYPE, PRICE };
static const struct fth_csv_column spot_columns[] = {
	[EPOCH] = {"epoch", true}, [AZ] = {"az", true}, [TYPE] = {"instance_type", true}, [PRICE] = {"price", true}};

static int csv_row(struct reader *r, struct fth_csv *csv, struct fth_error *err)
{
	const char *zone = fth_csv_cell(csv, AZ), *type = fth_csv_cell(csv, TYPE), *text = fth_csv_cell(csv, PRICE);
	int64_t epoch;
	fth_price price;
	int e = fth_csv_int(csv, EPOCH, 0, FTH_TRACE_TIME_MAX / FTH_SEC, &epoch, err);
	if (e)
		return e;
	if (!*zone || !*type)
		return fth_csv_fail(csv, err, "the %s is missing", *zone ? "instance type" : "zone");
	const char *wrong = parse_price(text, &price);
	if (wrong)
		return fth_csv_fail(csv, err, "price '%.40s' %s", text, wrong);
	r->m->rows_read++;
	fth_offer_id offer = offer_of(r, zone, type);
	if (offer != FTH_NONE)
		fth_market_add(r->m, offer, FTH_MARKET_PRICE, false, epoch * FTH_SEC, price);
	return 0;
}

int fth_read_spot_csv(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
		      const struct fth_market_options *o, struct fth_error *err)
{
	struct reader r = {m, c, o, {0}};
	struct fth_csv csv;
	int e = fth_csv_open(&csv, in, spot_columns, FTH_COUNT(spot_columns), err);
	while (!e && (e = fth_csv_next(&csv, err)) > 0)
		e = csv_row(&r, &csv, err);
	fth_csv_release(&csv);
	fth_map_release(&r.offers);
	return e;
}

/* ---- EC2 ---- */

static int digits(const char **p, const char *end, int n, int64_t *ret)
{
	int64_t v = 0;
	for (int i = 0; i < n; i++, (*p)++) {
		if (*p == end || **p < '0' || **p > '9')
			return -EINVAL;
		v = v * 10 + **p - '0';
	}
	*ret = v;
	return 0;
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = y / 400, yoe = y - era * 400, doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int parse_clock(const char **p, const char *end, fth_time *ret)
{
	int64_t h, m, s, us = 0, scale = 100000;
	if (digits(p, end, 2, &h) || *p == end || *(*p)++ != ':' || digits(p, end, 2, &m) || *p == end ||
	    *(*p)++ != ':' || digits(p, end, 2, &s) || h > 23 || m > 59 || s > 60)
		return -EINVAL;
	if (*p < end && **p == '.')
		for ((*p)++; *p < end && **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
			us += (**p - '0') * scale;
	*ret = h * FTH_HOUR + m * FTH_MINUTE + s * FTH_SEC + us;
	return 0;
}

int fth_parse_when(const char *s, size_t n, fth_time *ret)
{
	const char *p = s, *end = s + n;
	int64_t y, m, d, h = 0, min = 0;
	fth_time clock = 0;
	if (!fth_parse_i64(s, n, &y)) {
		if (y < 0 || y > FTH_TRACE_TIME_MAX / FTH_SEC)
			return -ERANGE;
		*ret = y * FTH_SEC;
		return 0;
	}
	if (digits(&p, end, 4, &y) || p == end || *p++ != '-' || digits(&p, end, 2, &m) || p == end || *p++ != '-' ||
	    digits(&p, end, 2, &d) || y < 1970 || m < 1 || m > 12 || d < 1 ||
	    d > (m == 12 ? 31 : days_of(y, m + 1, 1) - days_of(y, m, 1)))
		return -EINVAL;
	if (p < end && (*p == 'T' || *p == ' ')) {
		p++;
		if (parse_clock(&p, end, &clock))
			return -EINVAL;
		int sign = p < end && (*p == '+' || *p == '-') ? (*p == '-' ? -1 : 1) : 0;
		if (sign) {
			p++;
			if (digits(&p, end, 2, &h))
				return -EINVAL;
			p += p < end && *p == ':';
			if (digits(&p, end, 2, &min))
				return -EINVAL;
			clock -= sign * (h * FTH_HOUR + min * FTH_MINUTE);
		} else if (p < end && *p == 'Z') {
			p++;
		}
	}
	if (p != end)
		return -EINVAL;
	*ret = days_of(y, m, d) * FTH_DAY + clock;
	return 0;
}

/* Prices are told per operating system; "Linux/UNIX (Amazon VPC)" is the same thing as "Linux/UNIX". */
static bool is_product(const struct fth_market_options *o, const char *text)
{
	const char *want = o->product ? o->product : "Linux/UNIX";
	size_t n = strlen(want);
	return !strncmp(text, want, n) && (!text[n] || !strcmp(text + n, " (Amazon VPC)"));
}

static int ec2_row(struct reader *r, struct fth_doc *d, json_t *row, struct fth_error *err)
{
	const char *zone, *type, *text, *stamp;
	json_t *product = json_object_get(row, "ProductDescription");
	fth_price price;
	fth_time at;
	int e;
	if (!json_is_object(row))
		return fth_doc_fail(d, err, "not an object");
	if ((e = fth_doc_string(d, row, "AvailabilityZone", &zone, err)) ||
	    (e = fth_doc_string(d, row, "InstanceType", &type, err)) ||
	    (e = fth_doc_string(d, row, "SpotPrice", &text, err)) ||
	    (e = fth_doc_string(d, row, "Timestamp", &stamp, err)))
		return e;
	if (fth_parse_when(stamp, strlen(stamp), &at))
		return fth_doc_fail(d, err, "Timestamp '%.40s' is not a time such as 2024-03-01T12:30:00Z", stamp);
	const char *wrong = parse_price(text, &price);
	if (wrong)
		return fth_doc_fail(d, err, "SpotPrice '%.40s' %s", text, wrong);
	r->m->rows_read++;
	if (json_is_string(product) && !is_product(r->o, json_string_value(product)))
		return 0;
	fth_offer_id offer = offer_of(r, zone, type);
	if (offer != FTH_NONE)
		fth_market_add(r->m, offer, FTH_MARKET_PRICE, false, at, price);
	return 0;
}

int fth_read_ec2_spot(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
		      const struct fth_market_options *o, struct fth_error *err)
{
	static const char *const keys[] = {"SpotPriceHistory", "NextToken", NULL};
	struct reader r = {m, c, o, {0}};
	struct fth_doc d;
	json_t *rows, *row;
	size_t i;
	int e = fth_doc_read(&d, in, err);
	if (!e)
		e = fth_doc_known(&d, d.root, keys, err);
	if (!e)
		e = fth_doc_get(&d, d.root, "SpotPriceHistory", JSON_ARRAY, &rows, err);
	if (!e) {
		fth_doc_enter(&d, "SpotPriceHistory");
		json_array_foreach(rows, i, row) {
			fth_doc_enter_index(&d, i);
			e = ec2_row(&r, &d, row, err);
			fth_doc_leave(&d);
			if (e)
				break;
		}
	}
	fth_doc_release(&d);
	fth_map_release(&r.offers);
	return e;
}

/* ---- availability ---- */

/* "us-west-2a_v100_8.json" names a zone and an accelerator; these types have it. */
static const struct {
	const char *accelerator, *type;
} machines[] = {
	{"v100_1", "p3.2xlarge"}, {"v100_4", "p3.8xlarge"}, {"v100_8", "p3.16xlarge"},
	{"k80_1", "p2.xlarge"},   {"k80_8", "p2.8xlarge"},  {"k80_16", "p2.16xlarge"},
	{"t4_1", "g4dn.xlarge"},  {"t4_4", "g4dn.12xlarge"}, {"a100_8", "p4d.24xlarge"},
};

static bool offer_by_name(struct reader *r, const char *file, fth_offer_id *ret)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *bar = strchr(base, '_'), *dot = bar ? strchr(bar, '.') : NULL;
	if (!bar || bar == base)
		return false;
	size_t n = dot ? (size_t)(dot - bar - 1) : strlen(bar + 1);
	for (size_t i = 0; i < FTH_COUNT(machines); i++)
		if (strlen(machines[i].accelerator) == n && !strncmp(machines[i].accelerator, bar + 1, n)) {
			char *zone = fth_strndup(base, (size_t)(bar - base));
			*ret = offer_of(r, zone, machines[i].type);
			free(zone);
			return true;
		}
	return false;
}

static int read_probes(struct reader *r, struct fth_doc *d, fth_offer_id offer, struct fth_error *err)
{
	json_t *meta, *data, *v;
	fth_time gap;
	size_t i;
	int e;
	if ((e = fth_doc_get(d, d->root, "metadata", JSON_OBJECT, &meta, err)) ||
	    (e = fth_doc_get(d, d->root, "data", JSON_ARRAY, &data, err)))
		return e;
	fth_doc_enter(d, "metadata");
	e = fth_doc_seconds(d, meta, "gap_seconds", &gap, err);
	if (!e && gap <= 0)
		e = fth_doc_fail(d, err, "gap_seconds must be above 0");
	fth_doc_leave(d);
	if (e)
		return e;
	if (!json_array_size(data))
		return fth_doc_fail(d, err, "no probe in it");
	if (json_array_size(data) > (size_t)(FTH_TRACE_TIME_MAX / gap))
		return fth_doc_fail(d, err, "probes over more than a thousand years");
	fth_doc_enter(d, "data");
	json_array_foreach(data, i, v) {
		fth_doc_enter_index(d, i);
		int64_t x = json_is_integer(v) ? json_integer_value(v) : -1;
		if (x != 0 && x != 1)
			return fth_doc_fail(d, err, "probe %zu is neither 0 nor 1", i);
		r->m->rows_read++;
		if (offer != FTH_NONE)
			fth_market_add(r->m, offer, FTH_MARKET_AVAILABLE, true, (fth_time)i * gap, x);
		fth_doc_leave(d);
	}
	fth_doc_leave(d);
	return 0;
}

int fth_read_availability(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
			  const struct fth_market_options *o, struct fth_error *err)
{
	struct reader r = {m, c, o, {0}};
	struct fth_doc d;
	fth_offer_id offer = FTH_NONE;
	int e = fth_doc_read(&d, in, err);
	if (!e && o->type && o->zone) {
		offer = offer_of(&r, o->zone, o->type);
		if (offer == FTH_NONE)
			e = fth_doc_fail(&d, err, "the catalog has no spot offer of %s in %s, and no such type to make one of",
					 o->type, o->zone);
	} else if (!e && !offer_by_name(&r, fth_input_name(in), &offer) && !o->any_type) {
		e = fth_doc_fail(&d, err, "whose availability this is cannot be told from the file's name: say TYPE@ZONE=FILE");
	}
	if (!e)
		e = read_probes(&r, &d, offer, err);
	fth_doc_release(&d);
	fth_map_release(&r.offers);
	return e;
}
