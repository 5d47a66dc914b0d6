/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/spot_inputs.h"

#include <math.h>

#include "cli/cli.h"
#include "trace/joint_table.h"
#include "trace/spot_table.h"

const struct fth_option fth_options_spot_pool[] = {
	{.name = "pool", .letter = 'p', .type = FTH_OPT_FILE, .many = true, .arg = "FILE",
	 .help = "table of spot machines: CSV with ECU, AvgSpotPrice, OnDemandPrice, VM, Availability and perhaps Zone, MemoryMiB; "
		 "several files are several zones"},
	{.name = "availability", .letter = 'a', .type = FTH_OPT_TEXT, .arg = "SHARE",
	 .help = "share of time for which the capacity must be there, e.g. 0.99999"},
	{.name = "failure", .type = FTH_OPT_TEXT, .arg = "SHARE", .def = "0",
	 .help = "share of time for which any machine has failed, taken off every availability, e.g. 0.0001"},
	{.name = "memory", .letter = 'm', .type = FTH_OPT_TEXT, .arg = "MIB", .def = "0",
	 .help = "memory that the pool as a whole must have, in MiB (or with GiB, TiB after the number)"},
	{.name = "joint", .letter = 'j', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "how machines fall together: a correlation matrix or measured states, as CSV (see farthing market summarize)"},
	{.name = "effort", .type = FTH_OPT_INT, .arg = "N", .def = "10", .min = 1, .max = 100, .help = "how long the search looks"},
	{0},
};

static int share_option(const struct fth_args *a, const char *name, double *ret, struct fth_error *err)
{
	const char *text = fth_args_text(a, name);
	if (!text)
		return fth_fail(err, -EINVAL, "--%s is needed", name);
	if (fth_parse_real(text, strlen(text), ret))
		return fth_fail(err, -EINVAL, "--%s: '%s' is not a number", name, text);
	return 0;
}

static int memory_option(const struct fth_args *a, int64_t *ret, struct fth_error *err)
{
	static const struct {
		const char *suffix;
		int64_t mib;
	} units[] = {{"TiB", 1 << 20}, {"GiB", 1 << 10}, {"MiB", 1}};
	const char *text = fth_args_text(a, "memory");
	size_t n = strlen(text);
	int64_t scale = 1;
	for (size_t i = 0; i < FTH_COUNT(units); i++)
		if (n > 3 && !strcmp(text + n - 3, units[i].suffix)) {
			n -= 3;
			scale = units[i].mib;
			break;
		}
	if (fth_parse_scaled(text, n, scale, ret) || *ret < 0)
		return fth_fail(err, -EINVAL, "--memory: '%s' is not an amount of memory", text);
	return 0;
}

/* States say themselves how often each kind is up: the table's estimates give way. */
static void take_marginals(const char *path, struct fth_spot_inputs *in, bool quiet)
{
	struct fth_spot_offer *o = in->table.offers.data;
	size_t n = in->table.offers.len, worst = 0, off = 0;
	double *p = fth_alloc((n + 1) * sizeof(*p)), most = 0, was = 0;
	fth_joint_marginals(in->joint, p);
	for (size_t i = 0; i < n; i++) {
		double now = FTH_MIN(FTH_MAX(p[i], 1 - FTH_JOINT_MEASURED_MAX), FTH_JOINT_MEASURED_MAX), far = fabs(now - o[i].availability);
		off += far > 0.001;
		if (far > most) {
			most = far;
			worst = i;
			was = o[i].availability;
		}
		o[i].availability = now;
	}
	if (off && !quiet)
		fth_cli_error("%s: the states count, not the table: of %zu offers they tell another availability, the most of %s, %.4f instead of %.4f",
			      path, off, o[worst].type, o[worst].availability, was);
	free(p);
}

/* Where a matrix cannot be taken as it is: how far off the worst pair is. */
static void tell_lowered(const char *path, const struct fth_spot_inputs *in, const double *asked)
{
	const struct fth_spot_offer *o = in->table.offers.data;
	size_t n = in->table.offers.len, off = 0, pairs = 0, worst = 0;
	double *taken = fth_alloc((n * n + 1) * sizeof(*taken)), most = 0;
	fth_joint_correlations(in->joint, taken);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			double far = fabs(FTH_MAX(asked[i * n + k], 0) - taken[i * n + k]);
			pairs += asked[i * n + k] != 0;
			off += far > 0.01;
			if (far > most) {
				most = far;
				worst = i * n + k;
			}
		}
	if (off)
		fth_cli_error("%s: common causes of kinds with these availabilities come near this matrix, not to it: %zu of %zu coefficients are off by "
			      "more than 0.01, the most %s@%s with %s@%s, %.3f instead of %.3f; measured states (market summarize --states) are exact",
			      path, off, pairs, o[worst / n].type, o[worst / n].zone, o[worst % n].type, o[worst % n].zone, taken[worst],
			      asked[worst]);
	free(taken);
}

static int load_joint(const char *path, struct fth_spot_inputs *in, bool quiet, struct fth_error *err)
{
	struct fth_joint_table t;
	uint32_t n = (uint32_t)in->table.offers.len;
	int r = fth_load_joint_table(&t, &in->table, path, err);
	if (r)
		return r;
	struct fth_error why = {0};
	if (t.states) {
		uint8_t *up = fth_alloc(t.nrows * n + 1);
		for (size_t i = 0; i < t.nrows * n; i++)
			up[i] = t.cell[i] != 0;
		r = fth_joint_from_states(&in->joint, up, t.weight, t.nrows, n, &why);
		free(up);
		if (!r)
			take_marginals(path, in, quiet);
	} else {
		double *p = fth_alloc((n + 1) * sizeof(*p));
		for (uint32_t i = 0; i < n; i++)
			p[i] = in->table.offers.data[i].availability;
		r = fth_joint_from_matrix(&in->joint, t.cell, p, n, &why);
		free(p);
		if (!r && !quiet)
			tell_lowered(path, in, t.cell);
	}
	if (r)
		fth_fail(err, r, "%s: %s", path, why.text);
	fth_joint_table_release(&t);
	return r;
}

int fth_cli_spot_inputs(const struct fth_args *a, struct fth_spot_inputs *ret, struct fth_error *err)
{
	struct fth_spot_problem *p = &ret->problem;
	const char *path;
	int r = share_option(a, "availability", &p->target, err);
	if (!r)
		r = share_option(a, "failure", &p->failure, err);
	if (!r)
		r = memory_option(a, &p->memory, err);
	if (!r && !(p->target > 0 && p->target < 1))
		r = fth_fail(err, -EINVAL, "--availability: %s is not between 0 and 1", fth_args_text(a, "availability"));
	if (!r && !fth_args_given(a, "pool"))
		r = fth_fail(err, -EINVAL, "--pool is needed: a table of spot machines");
	for (size_t pos = 0; !r && (path = fth_args_each(a, "pool", &pos));)
		r = fth_load_spot_table(&ret->table, path, NULL, err);
	p->offers = ret->table.offers.data;
	p->noffers = (uint32_t)ret->table.offers.len;
	p->effort = (uint64_t)fth_args_int(a, "effort");
	if (!r && (path = fth_args_given(a, "joint")))
		r = load_joint(path, ret, fth_args_flag(a, "quiet"), err);
	p->joint = ret->joint;
	return r;
}

void fth_cli_spot_inputs_release(struct fth_spot_inputs *in)
{
	fth_joint_free(in->joint);
	fth_spot_table_release(&in->table);
}

const struct fth_spot_method *fth_cli_spot_method(const char *name)
{
	for (size_t i = 0; fth_spot_methods[i].name; i++)
		if (!strcmp(fth_spot_methods[i].name, name))
			return &fth_spot_methods[i];
	return NULL;
}
