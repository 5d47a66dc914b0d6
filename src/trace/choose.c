/* SPDX-License-Identifier: Apache-2.0 */
/* Only some families or one region of a catalog; and wishes that a file's format cannot answer, which are refused. */
#include "trace/readers.h"

/* "us-east-1" takes the zones "us-east-1", "us-east-1a", "us-east-1-bos-1a"; not "us-east-10a". */
static bool zone_in_region(const char *zone, const char *region)
{
	size_t n = strlen(region);
	if (strncmp(zone, region, n))
		return false;
	return !zone[n] || zone[n] == '-' || (zone[n] >= 'a' && zone[n] <= 'z' && !zone[n + 1]);
}

static int check_region(const struct fth_catalog_store *c, struct fth_input *in, const char *region, struct fth_error *err)
{
	for (size_t i = 0; i < c->offers.len; i++)
		if (c->offers.data[i].zone)
			return 0;
	return fth_fail_at(err, -EINVAL, fth_input_name(in), 0, "none of its offers names a zone: it cannot be searched for the region %.60s",
			   region);
}

/* Types of other families go, and with a region the offers of other zones, and types that have none left. */
static void keep(struct fth_catalog_store *c, const char *families, const char *region)
{
	uint32_t *to = fth_alloc((c->types.len + 1) * sizeof(*to));
	size_t offers = 0, types = 0;
	for (size_t i = 0; i < c->types.len; i++)
		to[i] = FTH_NONE;
	for (size_t i = 0; i < c->offers.len; i++) {
		struct fth_offer o = c->offers.data[i];
		if (region && !zone_in_region(o.zone ? fth_sym_str(c->syms, o.zone) : "", region))
			continue;
		fth_sym family = c->types.data[o.type].family;
		if (!fth_family_wanted(families, family ? fth_sym_str(c->syms, family) : ""))
			continue;
		to[o.type] = 0;
		c->offers.data[offers++] = o;
	}
	c->offers.len = offers;
	for (size_t i = 0; i < c->types.len; i++)
		if (to[i] != FTH_NONE) {
			to[i] = (uint32_t)types;
			c->types.data[types++] = c->types.data[i];
		}
	c->types.len = types;
	for (size_t i = 0; i < c->offers.len; i++)
		c->offers.data[i].type = to[c->offers.data[i].type];
	free(to);
}

int fth_catalog_choose(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err)
{
	const char *families = o->families && *o->families ? o->families : NULL;
	const char *region = o->region && *o->region ? o->region : NULL;
	if (!families && !region)
		return 0;
	int e = region ? check_region(c, in, region, err) : 0;
	if (e)
		return e;
	keep(c, families, region);
	if (c->offers.len)
		return 0;
	return fth_fail_at(err, -EINVAL, fth_input_name(in), 0, "no offer of the wanted %s in it",
			   !region ? "families" : !families ? "region" : "region and families");
}

int fth_catalog_wishes(enum fth_format f, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err)
{
	if (o->prices && f != FTH_FORMAT_EC2_TYPES)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 0, "a catalog with prices of its own (%s): a file of prices goes with %s only",
				   fth_format_name(f), fth_format_name(FTH_FORMAT_EC2_TYPES));
	if (o->spot && f != FTH_FORMAT_EC2_TYPES && f != FTH_FORMAT_SKYPILOT_CSV)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 0, "a catalog of %s has no spot prices to make offers of, or has the offers",
				   fth_format_name(f));
	return 0;
}

int fth_workload_wishes(enum fth_format f, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err)
{
	if (o->mean_gap && f != FTH_FORMAT_ALIBABA_PODS)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 0,
				   "a workload that tells when jobs came (%s): a mean gap between arrivals does not apply", fth_format_name(f));
	return 0;
}
