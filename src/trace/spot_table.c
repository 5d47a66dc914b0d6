/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/spot_table.h"

#include "trace/csv.h"

enum column { ECU, SPOT_PRICE, ON_DEMAND_PRICE, VM, AVAILABILITY, ZONE, MEMORY, NCOLUMNS };
static const struct fth_csv_column columns[NCOLUMNS] = {
	[ECU] = {"ECU", true},
	[SPOT_PRICE] = {"AvgSpotPrice", true},
	[ON_DEMAND_PRICE] = {"OnDemandPrice", true},
	[VM] = {"VM", true},
	[AVAILABILITY] = {"Availability", true},
	[ZONE] = {"Zone", false},
	[MEMORY] = {"MemoryMiB", false},
};
enum { PRICE_MAX = 1000000, UNITS_MAX = 1000000 };

static int row_numbers(const struct fth_csv *csv, struct fth_spot_offer *o, struct fth_error *err)
{
	int64_t units = 0, memory = 0;
	int r = fth_csv_int(csv, ECU, 1, UNITS_MAX, &units, err);
	if (!r)
		r = fth_csv_real(csv, fth_csv_cell(csv, SPOT_PRICE), "AvgSpotPrice", 0, PRICE_MAX, &o->price, err);
	if (!r && *fth_csv_cell(csv, ON_DEMAND_PRICE)) /* empty or 0: none known */
		r = fth_csv_real(csv, fth_csv_cell(csv, ON_DEMAND_PRICE), "OnDemandPrice", 0, PRICE_MAX, &o->on_demand, err);
	if (!r)
		r = fth_csv_real(csv, fth_csv_cell(csv, AVAILABILITY), "Availability", -PRICE_MAX, PRICE_MAX, &o->availability, err);
	if (!r && *fth_csv_cell(csv, MEMORY))
		r = fth_csv_int(csv, MEMORY, 0, (int64_t)1 << 40, &memory, err);
	if (r)
		return r;
	o->capacity = (uint64_t)units;
	o->memory = memory;
	if (!(o->availability > 0) || !(o->availability < 1))
		return fth_csv_fail(csv, err, "%s: Availability %s is not between 0 and 1: a kind that is never or always there has "
				    "not been watched for long enough", o->type, fth_csv_cell(csv, AVAILABILITY));
	if (!(o->price > 0))
		return fth_csv_fail(csv, err, "%s: AvgSpotPrice is not above 0", o->type);
	return 0;
}

static int read_row(struct fth_spot_table *t, const struct fth_csv *csv, const char *zone, struct fth_error *err)
{
	const char *type = fth_csv_cell(csv, VM), *z = fth_csv_cell(csv, ZONE);
	struct fth_spot_offer o = {.type = type};
	if (!*type)
		return fth_csv_fail(csv, err, "VM is empty");
	int r = row_numbers(csv, &o, err);
	if (r)
		return r;
	if (!*z)
		z = zone;
	if (fth_spot_table_find(t, type, z) != FTH_NONE)
		return fth_csv_fail(csv, err, "%s%s%s is there twice", type, *z ? " in " : "", z);
	o.type = fth_spot_table_text(t, type);
	o.zone = fth_spot_table_text(t, z);
	fth_vec_push(&t->offers, o);
	return 0;
}

int fth_read_spot_table(struct fth_spot_table *t, struct fth_input *in, const char *zone, struct fth_error *err)
{
	struct fth_csv csv = {0};
	size_t before = t->offers.len;
	int r = fth_csv_open(&csv, in, columns, NCOLUMNS, err);
	while (!r) {
		r = fth_csv_next(&csv, err);
		if (r <= 0)
			break;
		r = read_row(t, &csv, zone, err);
	}
	if (!r && t->offers.len == before)
		r = fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "the table has no rows below this one");
	fth_csv_release(&csv);
	return r;
}

static const char *zone_of_path(struct fth_spot_table *t, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strstr(name, ".csv");
	if (strncmp(name, "record-", 7) || !dot)
		return "";
	char *zone = fth_strndup(name + 7, (size_t)(dot - name - 7));
	const char *kept = fth_spot_table_text(t, zone);
	free(zone);
	return kept;
}

int fth_load_spot_table(struct fth_spot_table *t, const char *path, const char *zone, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_spot_table(t, in, zone ? zone : zone_of_path(t, path), err);
	fth_input_close(in);
	return r;
}

static void write_cell(struct fth_str *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fth_str_add(out, text);
		return;
	}
	fth_str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			fth_str_addc(out, '"');
		fth_str_addc(out, *text);
	}
	fth_str_addc(out, '"');
}

void fth_write_spot_table(const struct fth_spot_table *t, struct fth_str *out)
{
	fth_str_add(out, "ECU,AvgSpotPrice,OnDemandPrice,VM,Availability,Zone,MemoryMiB\n");
	for (size_t i = 0; i < t->offers.len; i++) {
		const struct fth_spot_offer *o = &t->offers.data[i];
		fth_str_addf(out, "%llu,", (unsigned long long)o->capacity);
		fth_str_real(out, o->price);
		fth_str_addc(out, ',');
		fth_str_real(out, o->on_demand);
		fth_str_addc(out, ',');
		write_cell(out, o->type);
		fth_str_addc(out, ',');
		fth_str_real(out, o->availability);
		fth_str_addc(out, ',');
		write_cell(out, o->zone);
		fth_str_addf(out, ",%lld\n", (long long)o->memory);
	}
}
