/* SPDX-License-Identifier: Apache-2.0 */
/* market summarize, market check: what a market was like, and whether plans made from its past held in its future. */
#include "cli/cli.h"
#include "cli/realised.h"
#include "cli/spot_inputs.h"
#include "cli/verbs.h"
#include "model/market_summary.h"
#include "report/format.h"
#include "trace/spot_table.h"

static int duration_option(const struct fth_args *a, const char *name, fth_time *ret, struct fth_error *err)
{
	const char *text = fth_args_given(a, name);
	if (!text)
		return 0;
	if (fth_parse_duration(text, strlen(text), ret) || *ret < 0)
		return fth_fail(err, -EINVAL, "--%s: '%s' is not a duration such as 7d", name, text);
	return 0;
}

static int cap_option(const struct fth_args *a, double *ret, struct fth_error *err)
{
	const char *text = fth_args_text(a, "cap");
	if (fth_parse_real(text, strlen(text), ret) || !(*ret > 0.5 && *ret < 1))
		return fth_fail(err, -EINVAL, "--cap: '%s' is not between 0.5 and 1", text);
	return 0;
}

static int price_share_option(const struct fth_args *a, double *ret, struct fth_error *err)
{
	const char *text = fth_args_given(a, "price-share");
	if (text && (fth_parse_real(text, strlen(text), ret) || !(*ret > 0 && *ret <= 10)))
		return fth_fail(err, -EINVAL, "--price-share: '%s' is not above 0 and at most 10", text);
	return 0;
}

static void tell_prices(const struct fth_market_summary *s, const struct fth_args *a)
{
	if (fth_args_flag(a, "quiet"))
		return;
	if (s->without_price)
		fth_cli_error("%u spot offers are left out: neither the market nor the catalog tells their price", s->without_price);
	if (s->at_on_demand)
		fth_cli_error("of %u spot offers neither the market nor the catalog tells a price below on demand: they count at the on-demand price; "
			      "--price-share says what share of it spot costs", s->at_on_demand);
}

/* ---- summarize ---- */

static void names_row(const struct fth_spot_table *t, const char *first, struct fth_str *out)
{
	fth_str_add(out, first);
	for (size_t i = 0; i < t->offers.len; i++)
		fth_str_addf(out, ",%s@%s", t->offers.data[i].type, t->offers.data[i].zone);
	fth_str_addc(out, '\n');
}

static void write_states(const struct fth_market_summary *s, struct fth_str *out)
{
	names_row(&s->table, "Weight", out);
	for (size_t row = 0; row < s->states.weight.len; row++) {
		fth_str_real(out, s->states.weight.data[row] / 1e6);
		for (uint32_t i = 0; i < s->states.n; i++)
			fth_str_addf(out, ",%d", s->states.up.data[row * s->states.n + i]);
		fth_str_addc(out, '\n');
	}
}

static int write_correlations(const struct fth_market_summary *s, struct fth_str *out, struct fth_error *err)
{
	struct fth_joint *j;
	uint32_t n = s->states.n;
	int r = fth_joint_from_states(&j, s->states.up.data, s->states.weight.data, s->states.weight.len, n, err);
	if (r)
		return r;
	double *m = fth_alloc((size_t)n * n * sizeof(*m) + 1);
	fth_joint_correlations(j, m);
	names_row(&s->table, "", out);
	for (uint32_t i = 0; i < n; i++) {
		fth_str_addf(out, "%s@%s", s->table.offers.data[i].type, s->table.offers.data[i].zone);
		for (uint32_t k = 0; k < n; k++) {
			fth_str_addc(out, ',');
			fth_str_real(out, m[(size_t)i * n + k]);
		}
		fth_str_addc(out, '\n');
	}
	free(m);
	fth_joint_free(j);
	return 0;
}

static int summarize(const struct fth_args *a, const struct fth_world *w, struct fth_error *err)
{
	struct fth_market_window window = fth_market_whole(&w->market);
	struct fth_market_summary s = {0};
	struct fth_str table = {0}, joint = {0};
	const char *path;
	double cap;
	fth_time length = 0;
	int r = duration_option(a, "from", &window.from, err);
	if (!r)
		r = duration_option(a, "length", &length, err);
	if (length)
		window.to = FTH_MIN(window.to, window.from + length);
	if (!r)
		r = cap_option(a, &cap, err);
	if (!r)
		r = price_share_option(a, &window.price_share, err);
	if (!r)
		r = fth_market_summarize(&w->market, &w->catalog.pub, w->syms, &window, &s, err);
	if (!r) {
		fth_market_summary_cap(&s, cap);
		if (!s.table.offers.len)
			r = fth_fail(err, -EINVAL, "no spot offer was up at any time of the window");
	}
	if (!r && (path = fth_args_given(a, "states"))) {
		write_states(&s, &joint);
		r = fth_cli_write(path, joint.data, joint.len, err);
	}
	if (!r && (path = fth_args_given(a, "correlations"))) {
		fth_str_clear(&joint);
		r = write_correlations(&s, &joint, err);
		if (!r)
			r = fth_cli_write(path, joint.data, joint.len, err);
	}
	if (!r) {
		fth_write_spot_table(&s.table, &table);
		r = fth_cli_write(fth_args_given(a, "out"), table.data, table.len, err);
	}
	if (!r)
		tell_prices(&s, a);
	fth_str_release(&table);
	fth_str_release(&joint);
	fth_market_summary_release(&s);
	return r;
}

static int run_summarize(struct fth_args *a)
{
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = fth_cli_load_market(a, &w, &err);
	if (!r)
		r = summarize(a, &w, &err);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

#define CAP_OPTION                                                                                                              \
	{.name = "cap", .type = FTH_OPT_TEXT, .arg = "SHARE", .def = "0.99999",                                                  \
	 .help = "the most that an estimate of availability may be: no window shows that something is always there"},                \
	{.name = "price-share", .type = FTH_OPT_TEXT, .arg = "SHARE", .def = "the catalog's spot price",                         \
	 .help = "spot price as a share of the on-demand price, for offers whose price the market does not tell"}

static const struct fth_option summarize_options[] = {
	{.name = "from", .type = FTH_OPT_TEXT, .arg = "TIME", .def = "0", .help = "where the window begins, after the market's beginning, e.g. 14d"},
	{.name = "length", .type = FTH_OPT_TEXT, .arg = "TIME", .def = "to the end", .help = "length of the window, e.g. 7d"},
	CAP_OPTION,
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output", .help = "where to write the table"},
	{.name = "states", .type = FTH_OPT_FILE, .arg = "FILE", .help = "also write which offers were up together, for plan spot --joint"},
	{.name = "correlations", .type = FTH_OPT_FILE, .arg = "FILE", .help = "also write the correlation matrix of the offers' availability"},
	{0},
};
static const char *const summarize_examples[] = {
	"farthing market summarize -c catalog.fc --market prices.csv --length 7d --out pool.csv",
	"average price and availability of every spot offer over the first week, as plan spot reads it",
	NULL,
};
const struct fth_verb fth_verb_market_summarize = {
	.name = "market summarize",
	.summary = "Make a table of average spot prices and availabilities from a market's history",
	.about = "A spot offer counts as available while its price does not pass its on-demand price and its last probe found it. Capacity "
		 "is counted in CPUs. The table is what plan spot reads.",
	.options = {summarize_options, fth_options_market_only, fth_options_common},
	.examples = summarize_examples,
	.run = run_summarize,
};

/* ---- check ---- */

static int check(const struct fth_args *a, const struct fth_world *w, struct fth_error *err)
{
	struct fth_realised_request q = {.world = w, .method = fth_cli_spot_method(fth_args_text(a, "policy"))};
	struct fth_realised_list list = {0};
	struct fth_str out = {0};
	const char *text = fth_args_text(a, "availability");
	int r = duration_option(a, "window", &q.window, err);
	if (!r)
		r = duration_option(a, "step", &q.step, err);
	if (!r)
		r = cap_option(a, &q.cap, err);
	if (!r)
		r = price_share_option(a, &q.price_share, err);
	if (!r && (!text || fth_parse_real(text, strlen(text), &q.target) || !(q.target > 0 && q.target < 1)))
		r = fth_fail(err, -EINVAL, "--availability: a number between 0 and 1 is needed");
	if (!r && !fth_args_given(a, "capacity"))
		r = fth_fail(err, -EINVAL, "--capacity is needed");
	if (!r)
		q.capacity = (uint64_t)fth_args_int(a, "capacity");
	q.joint = fth_args_flag(a, "measured-jointly");
	if (!r && fth_args_given(a, "window") && !q.window)
		r = fth_fail(err, -EINVAL, "--window: a window of 0 tells nothing");
	if (!r)
		r = fth_realised(&q, &list, err);
	if (!r) {
		struct fth_market_window whole = fth_market_whole(&w->market);
		struct fth_market_summary s;
		whole.price_share = q.price_share;
		if (!fth_market_summarize(&w->market, &w->catalog.pub, w->syms, &whole, &s, NULL))
			tell_prices(&s, a);
		fth_market_summary_release(&s);
		fth_realised_write(&q, &list, fth_args_text(a, "format"), &out);
		r = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, err);
	}
	fth_vec_release(&list);
	fth_str_release(&out);
	return r;
}

static int run_check(struct fth_args *a)
{
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = fth_cli_load_market(a, &w, &err);
	if (!r)
		r = check(a, &w, &err);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *nth_method(unsigned i)
{
	return fth_spot_methods[i].name;
}

static const char *const formats[] = {"table", "json", "csv", NULL};
static const struct fth_option check_options[] = {
	{.name = "capacity", .type = FTH_OPT_INT, .arg = "N", .min = 1, .max = 1000000, .help = "units of capacity, in CPUs"},
	{.name = "availability", .letter = 'a', .type = FTH_OPT_TEXT, .arg = "SHARE", .help = "share of time for which the capacity must be there"},
	{.name = "window", .type = FTH_OPT_TEXT, .arg = "TIME", .def = "7d", .help = "length of the past a plan is made from, and of the future it is tried on"},
	{.name = "step", .type = FTH_OPT_TEXT, .arg = "TIME", .def = "the window", .help = "from one plan to the next"},
	CAP_OPTION,
	{.name = "policy", .type = FTH_OPT_CHOICE, .arg = "POLICY", .def = "search", .nth_choice = nth_method, .help = "what chooses the pool"},
	{.name = "measured-jointly", .type = FTH_OPT_FLAG, .help = "plan with the states measured in the past window instead of independence"},
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats, .help = "how to write the result"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output", .help = "where to write it"},
	{0},
};
const struct fth_verb fth_verb_market_check = {
	.name = "market check",
	.summary = "Plan spot pools from each window of a market and measure what they had in the next",
	.about = "For every window of the market's history a pool is planned from its prices and availabilities, and the share of the following "
		 "window for which the pool held the capacity is measured. Beside it the oracle: the pool planned from the following window "
		 "itself.",
	.options = {check_options, fth_options_market_only, fth_options_common},
	.run = run_check,
};
