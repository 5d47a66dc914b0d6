/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/realised.h"

#include <math.h>

#include "model/market_summary.h"
#include "report/format.h"

/* The share of a window for which a pool held the capacity. count is by row of `rows`, the states of another window's rows. */
static double held(const struct fth_market_summary *past, const struct fth_spot_plan *plan, const struct fth_market_summary *future,
		   uint64_t capacity)
{
	double good = 0, all = 0;
	uint32_t n = future->states.n;
	uint64_t *weight = fth_alloc((n + 1) * sizeof(*weight)), sure = 0;
	for (size_t i = 0; i < past->offers.len; i++) {
		sure += plan->on_demand[i] * past->table.offers.data[i].capacity;
		for (uint32_t k = 0; k < n; k++)
			if (future->offers.data[k] == past->offers.data[i])
				weight[k] = plan->count[i] * past->table.offers.data[i].capacity;
	}
	for (size_t row = 0; row < future->states.weight.len; row++) {
		uint64_t have = sure;
		for (uint32_t k = 0; k < n; k++)
			have += future->states.up.data[row * n + k] ? weight[k] : 0;
		all += future->states.weight.data[row];
		good += have >= capacity ? future->states.weight.data[row] : 0;
	}
	free(weight);
	return all > 0 ? good / all : 0;
}

static int plan_from(const struct fth_realised_request *q, struct fth_market_summary *s, struct fth_spot_plan *plan, struct fth_error *err)
{
	fth_market_summary_cap(s, q->cap);
	struct fth_spot_problem p = {.offers = s->table.offers.data, .noffers = (uint32_t)s->table.offers.len, .capacity = q->capacity,
				     .target = q->target, .effort = 3};
	struct fth_joint *joint = NULL;
	int r = 0;
	if (q->joint && p.noffers)
		r = fth_joint_from_states(&joint, s->states.up.data, s->states.weight.data, s->states.weight.len, s->states.n, err);
	p.joint = joint;
	if (!r)
		r = q->method->plan(&p, plan, err);
	fth_joint_free(joint);
	return r;
}

static int one_window(const struct fth_realised_request *q, fth_time at, struct fth_realised_row *ret, struct fth_error *err)
{
	const struct fth_world *w = q->world;
	struct fth_market_window back = {at - q->window, at, q->price_share}, ahead = {at, at + q->window, q->price_share};
	struct fth_market_summary past = {0}, future = {0}, known = {0};
	struct fth_spot_plan plan = {0}, oracle = {0};
	int r = fth_market_summarize(&w->market, &w->catalog.pub, w->syms, &back, &past, err);
	if (!r)
		r = fth_market_summarize(&w->market, &w->catalog.pub, w->syms, &ahead, &future, err);
	if (!r)
		r = fth_market_summarize(&w->market, &w->catalog.pub, w->syms, &ahead, &known, err);
	if (!r)
		r = plan_from(q, &past, &plan, err);
	if (!r)
		r = plan_from(q, &known, &oracle, err);
	if (!r) {
		struct fth_spot_problem p = {.offers = past.table.offers.data, .noffers = (uint32_t)past.table.offers.len, .capacity = q->capacity};
		*ret = (struct fth_realised_row){
			.from = at,
			.planned = plan.availability,
			.met = plan.met,
			.cost = plan.cost,
			.on_demand = fth_spot_on_demand(&p),
			.realised = held(&past, &plan, &future, q->capacity),
			.oracle = held(&known, &oracle, &future, q->capacity),
		};
	}
	fth_spot_plan_release(&plan);
	fth_spot_plan_release(&oracle);
	fth_market_summary_release(&past);
	fth_market_summary_release(&future);
	fth_market_summary_release(&known);
	return r;
}

int fth_realised(const struct fth_realised_request *request, struct fth_realised_list *ret, struct fth_error *err)
{
	struct fth_realised_request q = *request;
	struct fth_market_window whole = fth_market_whole(&q.world->market);
	if (!q.window)
		q.window = 7 * FTH_DAY;
	if (!q.step)
		q.step = q.window;
	if (2 * q.window > whole.to - whole.from)
		return fth_fail(err, -EINVAL, "the market tells of %.1f days, two windows are %.1f", (double)(whole.to - whole.from) / (double)FTH_DAY,
				2 * (double)q.window / (double)FTH_DAY);
	int r = 0;
	size_t planned = 0;
	for (fth_time at = whole.from + q.window; !r && at + q.window <= whole.to; at += q.step) {
		struct fth_realised_row row;
		struct fth_error why = {0};
		r = one_window(&q, at, &row, &why);
		if (r == -EINVAL) { /* nothing was up in one of the windows: nothing to plan with */
			row = (struct fth_realised_row){.from = at, .skipped = true};
			r = 0;
		}
		if (r)
			return fth_fail(err, r, "%s", why.text);
		planned += !row.skipped;
		fth_vec_push(ret, row);
	}
	return planned ? 0 : fth_fail(err, -EINVAL, "no window of the market can be planned from");
}

static size_t sum_up(const struct fth_realised_list *l, struct fth_realised_row *mean, double *least)
{
	size_t n = 0;
	*least = 1;
	for (size_t i = 0; i < l->len; i++) {
		const struct fth_realised_row *x = &l->data[i];
		if (x->skipped)
			continue;
		n++;
		mean->planned += x->planned;
		mean->realised += x->realised;
		mean->oracle += x->oracle;
		mean->cost += x->cost;
		*least = FTH_MIN(*least, x->realised);
	}
	mean->planned /= (double)n;
	mean->realised /= (double)n;
	mean->oracle /= (double)n;
	mean->cost /= (double)n;
	return n;
}

static void write_json(const struct fth_realised_request *q, const struct fth_realised_list *l, struct fth_str *out)
{
	struct fth_realised_row mean = {0};
	struct fth_json j = {.out = out};
	double least;
	size_t planned = sum_up(l, &mean, &least);
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.market.check/1");
	fth_json_text(&j, "policy", q->method->name);
	fth_json_real(&j, "target", q->target);
	fth_json_real(&j, "mean_realised", mean.realised);
	fth_json_real(&j, "least_realised", least);
	fth_json_real(&j, "mean_oracle", mean.oracle);
	fth_json_real(&j, "mean_cost_per_hour", mean.cost);
	fth_json_int(&j, "windows_skipped", (int64_t)(l->len - planned));
	fth_json_begin(&j, "windows", '[');
	for (size_t i = 0; i < l->len; i++) {
		const struct fth_realised_row *x = &l->data[i];
		fth_json_begin(&j, NULL, '{');
		fth_json_real(&j, "from_s", (double)x->from / 1e6);
		fth_json_real(&j, "planned", x->skipped ? NAN : x->planned);
		fth_json_real(&j, "realised", x->skipped ? NAN : x->realised);
		fth_json_real(&j, "oracle", x->skipped ? NAN : x->oracle);
		fth_json_real(&j, "cost_per_hour", x->skipped ? NAN : x->cost);
		fth_json_end(&j, '}');
	}
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
}

static void write_csv(const struct fth_realised_list *l, struct fth_str *out)
{
	fth_str_add(out, "from_s,planned,realised,oracle,cost_per_hour,on_demand_per_hour\r\n");
	for (size_t i = 0; i < l->len; i++) {
		const struct fth_realised_row *x = &l->data[i];
		fth_str_addf(out, "%.0f,", (double)x->from / 1e6);
		if (x->skipped)
			fth_str_add(out, ",,,,\r\n");
		else
			fth_str_addf(out, "%.9f,%.9f,%.9f,%.6f,%.6f\r\n", x->planned, x->realised, x->oracle, x->cost, x->on_demand);
	}
}

static void write_table(const struct fth_realised_list *l, struct fth_str *out)
{
	struct fth_realised_row mean = {0};
	double least;
	size_t planned = sum_up(l, &mean, &least);
	fth_str_add(out, "  from day   planned    realised   oracle     cost/h\n");
	for (size_t i = 0; i < l->len; i++) {
		const struct fth_realised_row *x = &l->data[i];
		fth_str_addf(out, "%10.2f   ", (double)x->from / (double)FTH_DAY);
		if (x->skipped)
			fth_str_add(out, "nothing was to be had in the window before or in this one: skipped\n");
		else
			fth_str_addf(out, "%.6f   %.6f   %.6f   %.4f%s\n", x->planned, x->realised, x->oracle, x->cost,
				     x->met ? "" : "  (target out of reach)");
	}
	fth_str_addf(out, "%10s   %.6f   %.6f   %.6f   %.4f\n%10s              %.6f\n", "mean", mean.planned, mean.realised, mean.oracle,
		     mean.cost, "least", least);
	if (planned < l->len)
		fth_str_addf(out, "%10s   %zu of %zu windows, which are in neither figure\n", "skipped", l->len - planned, l->len);
}

void fth_realised_write(const struct fth_realised_request *q, const struct fth_realised_list *l, const char *format, struct fth_str *out)
{
	if (!strcmp(format, "json"))
		write_json(q, l, out);
	else if (!strcmp(format, "csv"))
		write_csv(l, out);
	else
		write_table(l, out);
}
