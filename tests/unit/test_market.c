/* SPDX-License-Identifier: Apache-2.0 */
/* Markets: their readers on good and bad files, and what the simulator does with them. */
#include "trace_common.h"

#include "sim/sim.h"

static const char catalog[] = "farthing-catalog 1\n"
			      "type m4.large holds=cpu:2,mem:8GiB\n"
			      "type m4.xlarge holds=cpu:4,mem:16GiB\n"
			      "type p3.2xlarge holds=gpu:1,cpu:8,mem:61GiB\n"
			      "offer m4.large price=0.1 minimum=60s\n"
			      "offer m4.xlarge price=0.2\n"
			      "offer m4.xlarge zone=b market=spot price=0.08\n"
			      "offer p3.2xlarge price=3.06\n";

struct loaded {
	struct world *w;
	struct fth_market_data m;
	int code;
};

static struct loaded load(const char *name, const char *text, const struct fth_market_options *o)
{
	struct loaded l = {.w = world_new()};
	struct fth_input *in;
	fth_market_init(&l.m);
	assert_int_equal(world_read(l.w, "c", catalog, strlen(catalog), FTH_FORMAT_AUTO, FTH_CONTENT_CATALOG, NULL), 0);
	assert_int_equal(fth_input_open_memory(&in, name, text, strlen(text), &l.w->err), 0);
	l.code = fth_read_market(&l.m, &l.w->catalog, in, FTH_FORMAT_AUTO, o, &l.w->err);
	fth_input_close(in);
	return l;
}

static void unload(struct loaded *l)
{
	fth_market_release(&l->m);
	world_free(l->w);
}

static const struct fth_market_series *series(const struct loaded *l, const char *type, const char *zone)
{
	for (size_t i = 0; i < l->m.series.len; i++) {
		const struct fth_offer *o = &l->w->catalog.offers.data[l->m.series.data[i].offer];
		if (!strcmp(fth_sym_str(l->w->syms, l->w->catalog.types.data[o->type].name), type) &&
		    !strcmp(fth_sym_str(l->w->syms, o->zone), zone)) {
			assert_int_equal(o->market, FTH_SPOT);
			return &l->m.series.data[i];
		}
	}
	return NULL;
}

static void csv_rows_in_any_order(void **state)
{
	(void)state;
	struct loaded l = load("p.csv",
			       "epoch,az,instance_type,price\n"
			       "300,a,m4.large,0.05\n"
			       "100,a,m4.large,0.03\n"
			       "200,a,m4.large,0.03\n" /* changes nothing */
			       "300,a,m4.large,0.06\n" /* told twice: the later one holds */
			       "100,a,z9.huge,9\n"     /* not in the catalog */
			       "100,b,m4.large,0.04\n"
			       "100,b,m4.xlarge,0.07\n"
			       "100,a,m4.xlarge,0.07\n", /* the catalog has its own spot offer, in b only */
			       NULL);
	assert_int_equal(l.code, 0);
	assert_int_equal(l.m.rows_read, 8);
	assert_int_equal(l.m.rows_kept, 6);
	const struct fth_market_series *s = series(&l, "m4.large", "a");
	assert_int_equal(s->steps.len, 2);
	assert_int_equal(s->steps.data[0].at, 100 * FTH_SEC);
	assert_int_equal(fth_market_series_at(s, 0), 30000000);
	assert_int_equal(fth_market_series_at(s, 299 * FTH_SEC), 30000000);
	assert_int_equal(fth_market_series_at(s, 300 * FTH_SEC), 60000000);
	assert_non_null(series(&l, "m4.large", "b"));
	assert_non_null(series(&l, "m4.xlarge", "b"));
	assert_null(series(&l, "m4.xlarge", "a"));
	/* a spot offer that the market made bills as the on-demand one does, and its bid is that price */
	const struct fth_offer *o = &l.w->catalog.offers.data[s->offer];
	assert_int_equal(o->billing.minimum, 60 * FTH_SEC);
	assert_int_equal(fth_catalog_on_demand(&l.w->catalog.pub, s->offer), 100000000);
	unload(&l);
}

static void zones_can_be_chosen(void **state)
{
	(void)state;
	struct fth_market_options o = {.zones = "b,c"};
	struct loaded l = load("p.csv", "price,instance_type,az,epoch\n0.05,m4.large,a,1\n0.04,m4.large,c,1\n", &o);
	assert_int_equal(l.code, 0);
	assert_null(series(&l, "m4.large", "a"));
	assert_non_null(series(&l, "m4.large", "c"));
	unload(&l);
}

static void ec2_history(void **state)
{
	(void)state;
	struct loaded l = load("h.json",
			       "{\"SpotPriceHistory\": [\n"
			       "{\"AvailabilityZone\": \"a\", \"InstanceType\": \"m4.large\", \"ProductDescription\": \"Linux/UNIX\",\n"
			       "  \"SpotPrice\": \"0.031500\", \"Timestamp\": \"2024-01-13T01:00:00+01:00\"},\n"
			       "{\"AvailabilityZone\": \"a\", \"InstanceType\": \"m4.large\", \"ProductDescription\": \"Windows\",\n"
			       "  \"SpotPrice\": \"0.9\", \"Timestamp\": \"2024-01-13T00:00:01Z\"},\n"
			       "{\"AvailabilityZone\": \"a\", \"InstanceType\": \"m4.large\",\n"
			       "  \"ProductDescription\": \"Linux/UNIX (Amazon VPC)\", \"SpotPrice\": \"0.03\",\n"
			       "  \"Timestamp\": \"2024-01-12T23:59:59.500Z\"}]}\n",
			       NULL);
	assert_int_equal(l.code, 0);
	const struct fth_market_series *s = series(&l, "m4.large", "a");
	assert_int_equal(s->steps.len, 2);
	assert_true(s->steps.data[1].at == 1705104000 * FTH_SEC);
	assert_true(s->steps.data[0].at == 1705103999 * FTH_SEC + 500000);
	assert_int_equal(s->steps.data[1].value, 31500000);
	unload(&l);
}

static void availability_files(void **state)
{
	(void)state;
	const char text[] = "{\"metadata\": {\"gap_seconds\": 600}, \"data\": [1, 1, 0, 0, 1]}";
	struct loaded l = load("x/us-west-2a_v100_1.json", text, NULL);
	assert_int_equal(l.code, 0);
	const struct fth_market_series *s = series(&l, "p3.2xlarge", "us-west-2a");
	assert_int_equal(s->steps.len, 3);
	assert_true(s->from_start && s->kind == FTH_MARKET_AVAILABLE);
	assert_int_equal(s->steps.data[1].at, 1200 * FTH_SEC);
	unload(&l);
	struct fth_market_options o = {.type = "m4.large", .zone = "q"};
	l = load("probes.json", text, &o);
	assert_int_equal(l.code, 0);
	assert_non_null(series(&l, "m4.large", "q"));
	unload(&l);
	l = load("probes.json", text, NULL);
	assert_int_equal(l.code, -EINVAL);
	assert_non_null(strstr(l.w->err.text, "TYPE@ZONE=FILE"));
	unload(&l);
}

static void bad_files_are_named_by_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"epoch,az,instance_type,price\n1,a,m4.large,0.1\n2,a,m4.large,-0.1\n", "f:3: price '-0.1' is negative"},
		{"epoch,az,instance_type,price\n1,a,m4.large,\n", "f:2: price '' is missing"},
		{"epoch,az,instance_type,price\n1,a,m4.large,nan\n", "f:2: price 'nan' is not a price"},
		{"epoch,az,instance_type,price\n1,a,m4.large,inf\n", "f:2: price 'inf'"},
		{"epoch,az,instance_type,price\n1,a,m4.large,1e99\n", "f:2: price '1e99'"},
		{"epoch,az,instance_type,price\nx,a,m4.large,1\n", "f:2: epoch 'x' is not a whole number"},
		{"epoch,az,instance_type,price\n-1,a,m4.large,1\n", "f:2: epoch -1 is negative"},
		{"epoch,az,instance_type,price\n1,,m4.large,1\n", "f:2: the zone is missing"},
		{"epoch,az,instance_type,price\n1,a,m4.large\n", "f:2: 3 columns where the header has 4"},
		{"epoch,az,instance_type,price\n", "no price in it"},
		{"{\"SpotPriceHistory\": [\n{\"AvailabilityZone\": \"a\", \"InstanceType\": \"t\", \"SpotPrice\": \"-1\",\n"
		 "\"Timestamp\": \"2024-01-01\"}]}",
		 "SpotPrice '-1' is negative"},
		{"{\"SpotPriceHistory\": [{\"AvailabilityZone\": \"a\", \"InstanceType\": \"t\", \"SpotPrice\": \"1\","
		 "\"Timestamp\": \"yesterday\"}]}",
		 "Timestamp 'yesterday' is not a time"},
		{"{\"metadata\": {\"gap_seconds\": 0}, \"data\": [1]}", "gap_seconds"},
		{"{\"metadata\": {\"gap_seconds\": 5}, \"data\": [1, 2]}", "probe 1 is neither 0 nor 1"},
	};
	struct fth_market_options o = {.type = "m4.large", .zone = "q"};
	for (size_t i = 0; i < FTH_COUNT(bad); i++) {
		struct loaded l = load("f", bad[i].text, &o);
		assert_int_equal(l.code, -EINVAL);
		assert_non_null(strstr(l.w->err.text, bad[i].says));
		unload(&l);
	}
}

static void times(void **state)
{
	(void)state;
	fth_time t;
	assert_int_equal(fth_parse_when("2024-02-29", 10, &t), 0);
	assert_true(t == 1709164800 * FTH_SEC);
	assert_int_equal(fth_parse_when("1709164800", 10, &t), 0);
	assert_true(t == 1709164800 * FTH_SEC);
	assert_int_equal(fth_parse_when("2024-02-29T01:02:03-0130", 24, &t), 0);
	assert_true(t == (1709164800 + 3723 + 5400) * FTH_SEC);
	const char *const bad[] = {"", "2024-13-01", "2024-1-1", "2024-02-29T", "2024-02-29T25:00:00", "2024-02-29x", "-5", "2024-02-30", "2023-02-29", "2024-04-31"};
	for (size_t i = 0; i < FTH_COUNT(bad); i++)
		assert_int_not_equal(fth_parse_when(bad[i], strlen(bad[i]), &t), 0);
}

/* ---- the simulator ---- */

static struct fth_event events[512];
static size_t nevents;

static void remember(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)o, (void)c;
	if (nevents < FTH_COUNT(events))
		events[nevents++] = *ev;
}

static const struct fth_event *nth(enum fth_event_kind kind, size_t n)
{
	for (size_t i = 0; i < nevents; i++)
		if (events[i].kind == kind && n-- == 0)
			return &events[i];
	return NULL;
}

/* Spot if it can be had, else on demand. */
static int spot_first(void *self, const struct fth_round *r, struct fth_plan *p)
{
	(void)self;
	const struct fth_view *v = r->view;
	for (fth_task_id id = v->first_waiting; id != FTH_NONE;) {
		const struct fth_task *t = fth_view_task(v, id);
		id = t->next_waiting;
		fth_offer_id o = v->catalog->offers[1].available ? 1 : 0;
		fth_plan_place(p, t->id, fth_plan_launch(p, &o, 1, (struct fth_reason){"", {0}}), (struct fth_reason){"", {0}});
	}
	for (fth_instance_id id = v->first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_view_instance(v, id);
		id = i->next;
		if (!i->leaving && !i->ncommitted)
			fth_plan_terminate(p, i->id, (struct fth_reason){"", {0}});
	}
	return 0;
}
static const struct fth_policy_ops spot_first_ops = {.abi = FTH_POLICY_ABI, .name = "spot-first", .decide = spot_first};

static fth_money simulate(const char *market, const char *sim)
{
	const char *text = "farthing-catalog 1\ntype t holds=cpu:2\noffer t zone=a price=1\noffer t zone=a market=spot price=0.5\n";
	struct fth_world w;
	struct fth_error err = {0};
	struct fth_input *in;
	fth_world_init(&w);
	assert_int_equal(fth_input_open_memory(&in, "c", text, strlen(text), &err), 0);
	assert_int_equal(fth_read_catalog(&w.catalog, in, FTH_FORMAT_AUTO, NULL, &err), 0);
	fth_input_close(in);
	assert_int_equal(fth_input_open_memory(&in, "m", market, strlen(market), &err), 0);
	struct fth_market_options o = {.type = "t", .zone = "a"};
	if (fth_read_market(&w.market, &w.catalog, in, FTH_FORMAT_AUTO, &o, &err))
		fail_msg("%s", err.text);
	fth_input_close(in);
	w.has_market = true;
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = 1000;
	struct fth_kind k = {.nalts = 1, .alts = &alt};
	struct fth_task_group g = {.kind = fth_kinds_intern(&w.kinds, &k), .count = 1, .work = 2 * FTH_HOUR, .first_own = FTH_NONE};
	struct fth_job_spec spec = {.key = fth_sym_intern(w.syms, "j"), .deadline = FTH_NEVER};
	fth_workload_add(&w.workload, &spec, &g, 1);
	fth_workload_finish(&w.workload);
	struct fth_sim_params p;
	fth_params_defaults(fth_sim_param_table, &p);
	assert_int_equal(fth_params_parse(fth_sim_param_table, &p, "sim", sim, &err), 0);
	struct fth_policy_choice choice = {.ops = &spot_first_ops};
	struct fth_observer watch = {.after_event = remember};
	struct fth_engine *e = NULL;
	nevents = 0;
	if (fth_sim_run(&e, &w, &choice, NULL, &p, &watch, NULL, &err))
		fail_msg("%s", err.text);
	fth_money total = fth_engine_ledger(e)->total;
	fth_engine_free(e);
	fth_world_release(&w);
	return total;
}

static void a_price_above_the_bid_takes_the_instance(void **state)
{
	(void)state;
	const char market[] = "epoch,az,instance_type,price\n1000,a,t,0.4\n4600,a,t,0.6\n6400,a,t,1.0\n8201,a,t,1.01\n";
	/* An hour at 0.4, half an hour at 0.6, half an hour at 1.0: the bid is met, not passed. Done after two hours. */
	fth_money cost = simulate(market, "");
	assert_int_equal(cost, 400000000 + 300000000 + 500000000);
	assert_null(nth(FTH_EV_REVOCATION_NOTICE, 0));
	/* Bid half of it: passed after an hour; a notice then, gone two minutes later, and all work is lost. */
	cost = simulate(market, "bid=0.5");
	const struct fth_event *notice = nth(FTH_EV_REVOCATION_NOTICE, 0), *gone = nth(FTH_EV_INSTANCE_REVOKED, 0);
	assert_non_null(notice);
	assert_int_equal(notice->time, FTH_HOUR);
	assert_int_equal(notice->at, FTH_HOUR + 120 * FTH_SEC);
	assert_int_equal(gone->time, FTH_HOUR + 120 * FTH_SEC);
	assert_int_equal(nth(FTH_EV_TASK_LOST, 0)->time, gone->time);
	/* 0.4 for the hour, 0.6 for two minutes, then two hours on demand. */
	assert_int_equal(cost, 400000000 + 20000000 + 2 * FTH_USD);
	assert_int_equal(nth(FTH_EV_JOB_DONE, 0)->time, gone->time + 2 * FTH_HOUR);
	/* A bid below the price from the start: on demand throughout. */
	assert_int_equal(simulate(market, "bid=0.3"), 2 * FTH_USD);
	assert_false(nth(FTH_EV_OFFER_CHANGED, 0)->available);
	/* Elsewhere on the market's clock. */
	assert_int_equal(simulate(market, "market_start=4600"), (600000000LL * 1800 + 1000000000LL * 1801 + 1010000000LL * 120) / 3600 + 2 * FTH_USD);
}

static void probes_take_instances_and_give_offers_back(void **state)
{
	(void)state;
	const char market[] = "{\"metadata\": {\"gap_seconds\": 1800}, \"data\": [1, 0, 0, 1]}";
	fth_money cost = simulate(market, "notice=60s");
	assert_int_equal(nth(FTH_EV_INSTANCE_REVOKED, 0)->time, 31 * FTH_MINUTE);
	/* 31 minutes of spot at 0.5, then two hours on demand. */
	assert_int_equal(cost, 31 * 500000000LL / 60 + 2 * FTH_USD);
	assert_true(nth(FTH_EV_OFFER_CHANGED, 1)->available);
}

static void random_revocations_have_the_rate_asked_for(void **state)
{
	(void)state;
	const char market[] = "epoch,az,instance_type,price\n1000,a,t,0.4\n";
	uint64_t taken = 0;
	double hours = 0;
	for (int seed = 1; seed <= 300; seed++) {
		char sim[64];
		snprintf(sim, sizeof(sim), "seed=%d,revocation_rate=0.5,notice=0s", seed);
		hours += (double)simulate(market, sim) / 0.4e9;
		for (size_t i = 0; i < nevents; i++)
			taken += events[i].kind == FTH_EV_INSTANCE_REVOKED;
	}
	assert_true((double)taken / hours > 0.45 && (double)taken / hours < 0.55);
}

static void a_large_file_loads(void **state)
{
	(void)state;
	const char *path = data_file("spot/us-west-2_families_2024.csv.zst");
	struct world *w = world_new();
	struct fth_market_data m;
	fth_market_init(&m);
	assert_int_equal(world_read(w, "c", catalog, strlen(catalog), FTH_FORMAT_AUTO, FTH_CONTENT_CATALOG, NULL), 0);
	assert_int_equal(fth_load_market(&m, &w->catalog, path, FTH_FORMAT_AUTO, NULL, &w->err), 0);
	assert_int_equal(m.rows_read, 283688);
	assert_true(m.rows_kept > 1000 && m.rows_kept < 60000);
	fth_market_release(&m);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_rows_in_any_order),
		cmocka_unit_test(zones_can_be_chosen),
		cmocka_unit_test(ec2_history),
		cmocka_unit_test(availability_files),
		cmocka_unit_test(bad_files_are_named_by_line),
		cmocka_unit_test(times),
		cmocka_unit_test(a_price_above_the_bid_takes_the_instance),
		cmocka_unit_test(probes_take_instances_and_give_offers_back),
		cmocka_unit_test(random_revocations_have_the_rate_asked_for),
		cmocka_unit_test(a_large_file_loads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
