/* SPDX-License-Identifier: Apache-2.0 */
/* What users ask for: each call is carried out by the keeper, or handed on to the workload driver, and then answered. */
#include "daemon/keeper.h"

#include <unistd.h>

#include "daemon/log.h"
#include "drivers/protocol.h"
#include "report/format.h"

static struct fth_str object(struct fth_json *j, struct fth_str *s)
{
	fth_json_end(j, '}');
	return *s;
}

static void say_ok(struct fth_call *c, int status, const char *key, const char *value)
{
	struct fth_str s = {0};
	struct fth_json j = {.out = &s};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, key, value);
	fth_call_answer(c, status, object(&j, &s));
}

/* ---- submit ---- */

enum { CALLS_MAX = 32 }; /* less than connections: others are to be answered meanwhile */

/* One that does not answer is not given ever more to read. */
static bool has_enough(const struct fth_side *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->asked.len; i++)
		n += s->asked.data[i].call != NULL;
	return n >= CALLS_MAX;
}

/* Whether this key is somebody's: in the journal, at the driver, or on its way there. */
static bool key_is_used(const struct fth_keeper *k, const char *key)
{
	const struct fth_side *s = &k->side[FTH_WORKLOAD];
	for (size_t i = 0; i < s->asked.len; i++)
		if (s->asked.data[i].op == FTH_OP_SUBMIT && !strcmp(s->asked.data[i].what, key))
			return true;
	return fth_live_knows(k->live, key) || fth_job_by_key(k, key);
}

/* A job that has ended keeps its key; one that has not is for the driver to compare: the same again is the same job. */
static bool key_is_spent(const struct fth_keeper *k, const char *key)
{
	const struct fth_listed_job *j = fth_job_by_key(k, key);
	bool unfinished = j && !j->over && !j->gone && (j->state == FTH_JOB_WAITS || j->state == FTH_JOB_HELD);
	return !unfinished && (j || fth_live_knows(k->live, key));
}

static void next_key(struct fth_keeper *k, const char *name, struct fth_str *out)
{
	const char *last = fth_live_get(k->live, "next-key");
	int64_t n = last ? atoll(last) : 1;
	char number[24];
	struct fth_str base = {0};
	for (const char *p = name && *name ? name : "job"; *p && base.len < 60; p++)
		fth_str_addc(&base, strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p) ? *p : '-');
	if (base.data[0] == '.')
		base.data[0] = '-';
	do {
		fth_str_clear(out);
		fth_str_addf(out, "%s-%lld", base.data, (long long)n++);
	} while (key_is_used(k, out->data));
	snprintf(number, sizeof(number), "%lld", (long long)n);
	fth_live_put(k->live, "next-key", number);
	fth_str_release(&base);
}

/* Who asks decides whose job it is: what the body says of it counts only for those who may say so. */
static void sign(const struct fth_call *c, json_t *spec)
{
	json_object_del(spec, "uid");
	json_object_del(spec, "gid");
	json_object_set_new(spec, "user", json_string(c->by));
	if (c->uid >= 0) {
		json_object_set_new(spec, "uid", json_integer(c->uid));
		json_object_set_new(spec, "gid", json_integer(c->gid));
	}
}

static int check_spec(struct fth_keeper *k, json_t *spec, const char *key, struct fth_error *err)
{
	struct fth_world w;
	if (!json_object_get(spec, "tasks"))
		json_object_set_new(spec, "tasks", json_pack("[{s:i, s:s}]", "count", 1, "demand", "cpu:1"));
	int r = fth_job_read(&w, k->cluster, spec, key, k->now, err);
	for (size_t g = 0; !r && g < w.workload.groups.len; g++) {
		const struct fth_alt *alt = &w.kinds.list.data[w.workload.groups.data[g].kind].alts[0];
		bool fits = false;
		for (size_t t = 0; t < k->cluster->catalog.types.len; t++)
			fits |= fth_res_fits(&alt->demand, &k->cluster->catalog.types.data[t].capacity);
		if (!fits)
			r = fth_fail(err, -EINVAL, "no machine of the catalog holds one of its tasks");
	}
	fth_world_release(&w);
	return r;
}

static void submit(struct fth_keeper *k, struct fth_call *c)
{
	struct fth_error err = {0};
	struct fth_str key = {0};
	json_t *spec = json_deep_copy(c->body);
	const char *given = json_string_value(json_object_get(spec, "key"));
	if (!k->side[FTH_WORKLOAD].synced || has_enough(&k->side[FTH_WORKLOAD])) {
		fth_call_refuse(c, 503, "the workload driver is not there, or does not answer");
	} else if (given && !fth_name_is_plain(given)) {
		fth_call_refuse(c, 400, "key: letters, digits and . _ - + only");
	} else if (given && key_is_spent(k, given)) {
		fth_call_refuse(c, 409, "key: a job %.100s was submitted before", given);
	} else {
		if (given)
			fth_str_add(&key, given);
		else
			next_key(k, json_string_value(json_object_get(spec, "name")), &key);
		json_object_del(spec, "key");
		sign(c, spec);
		if (check_spec(k, spec, key.data, &err)) {
			fth_call_refuse(c, 400, "%s", err.text);
		} else {
			atomic_fetch_add(&c->users, 1);
			struct fth_asked *a = fth_side_ask(k, FTH_WORKLOAD, FTH_OP_SUBMIT, json_pack("{s:s, s:O}", "key", key.data, "spec", spec), key.data);
			a->call = c;
		}
	}
	json_decref(spec);
	fth_str_release(&key);
}

static void cancel(struct fth_keeper *k, struct fth_call *c)
{
	const struct fth_listed_job *j = fth_job_by_key(k, c->what);
	const char *user = j ? json_string_value(json_object_get(j->doc, "user")) : NULL;
	if (!j || j->gone) {
		fth_call_refuse(c, 404, "no unfinished job %.100s", c->what);
		return;
	}
	if (c->uid > 0 && (!user || strcmp(user, c->by)) && (uid_t)c->uid != geteuid()) {
		fth_call_refuse(c, 403, "job %.100s is another user's", c->what);
		return;
	}
	if (has_enough(&k->side[FTH_WORKLOAD])) {
		fth_call_refuse(c, 503, "the workload driver does not answer");
		return;
	}
	atomic_fetch_add(&c->users, 1);
	fth_side_ask(k, FTH_WORKLOAD, FTH_OP_CANCEL, json_pack("{s:s}", "job", c->what), c->what)->call = c;
}

void fth_call_done(struct fth_keeper *k, struct fth_asked *a, const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "error"));
	struct fth_call *c = a->call;
	a->call = NULL;
	(void)k;
	if (json_is_true(json_object_get(answer, "ok")))
		say_ok(c, a->op == FTH_OP_SUBMIT ? 201 : 200, a->op == FTH_OP_SUBMIT ? "job" : "cancelled", a->what);
	else
		fth_call_refuse(c, 400, "%s", text ? text : "the driver refuses");
	fth_call_drop(c);
}

/* ---- orders ---- */

static bool may_order(struct fth_call *c)
{
	if (c->uid <= 0 || (uid_t)c->uid == geteuid())
		return true;
	fth_call_refuse(c, 403, "only root and farthingd's own user may do this");
	return false;
}

/* An order is answered when it is in the journal and can be seen. */
static bool settled(struct fth_keeper *k, struct fth_call *c)
{
	if (!fth_keeper_commit(k)) {
		fth_call_refuse(c, 500, "the journal cannot be written");
		return false;
	}
	fth_picture_take(k);
	return true;
}

static void set_paused(struct fth_keeper *k, struct fth_call *c, bool paused)
{
	k->paused = paused;
	fth_live_put(k->live, "paused", paused ? c->by : NULL);
	fth_say(FTH_LOG_INFO, paused ? "paused" : "resumed", "by:s", c->by);
	if (settled(k, c))
		say_ok(c, 200, "state", paused ? "paused" : "running");
}

static enum fth_refusal drain_one(struct fth_keeper *k, fth_instance_id id, const char *by)
{
	struct fth_action order = {.kind = FTH_ACT_DRAIN, .task = FTH_NONE, .instance = id, .reason = {.text = "an operator's order"}};
	fth_say(FTH_LOG_INFO, "drain", "instance:u by:s", id, by);
	return fth_live_order(k->live, FTH_MAX(k->now, fth_live_now(k->live)), &order, by);
}

/* All of them: and nothing new is decided until somebody says so. */
static void drain_all(struct fth_keeper *k, struct fth_call *c)
{
	uint32_t n = 0;
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		fth_instance_id next = fth_cluster_instance(k->cluster, id)->next;
		n += !drain_one(k, id, c->by);
		id = next;
	}
	k->paused = true;
	fth_live_put(k->live, "paused", c->by);
	if (!settled(k, c))
		return;
	struct fth_str s = {0};
	struct fth_json j = {.out = &s};
	fth_json_begin(&j, NULL, '{');
	fth_json_int(&j, "draining", n);
	fth_json_text(&j, "state", "paused");
	fth_call_answer(c, 200, object(&j, &s));
}

static void drain(struct fth_keeper *k, struct fth_call *c)
{
	int64_t id = -1;
	const struct fth_instance *i = NULL;
	if (!c->what) {
		drain_all(k, c);
		return;
	}
	if (c->what[0] == 'i' && !fth_parse_i64(c->what + 1, strlen(c->what + 1), &id) && id >= 0 && id < FTH_NONE)
		i = fth_cluster_instance(k->cluster, (fth_instance_id)id);
	if (!i || i->state == FTH_INSTANCE_GONE) {
		fth_call_refuse(c, 404, "no instance %.60s", c->what);
		return;
	}
	enum fth_refusal r = drain_one(k, (fth_instance_id)id, c->by);
	if (r)
		fth_call_refuse(c, 409, "%s: %s", c->what, fth_refusal_name(r));
	else if (settled(k, c))
		say_ok(c, 200, "draining", c->what);
}

/* ---- the bill ---- */

static void add_parts(struct fth_json *j, const fth_money *part)
{
	for (int p = 0; p < FTH_BILL_NPARTS; p++)
		fth_json_usd(j, fth_bill_part_name((enum fth_bill_part)p), part[p]);
}

static void add_time(const struct fth_keeper *k, struct fth_json *j, const char *key, fth_time t)
{
	if (t == FTH_NEVER)
		fth_json_text(j, key, NULL);
	else
		fth_json_int(j, key, k->epoch + t);
}

static void bill_jobs(const struct fth_keeper *k, struct fth_json *j, const struct fth_bill *b)
{
	const struct fth_symtab *syms = k->cluster->syms;
	fth_json_begin(j, "jobs", '[');
	for (size_t i = 0; i < b->jobs.len; i++) {
		const struct fth_bill_job *r = &b->jobs.data[i];
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "job", fth_sym_str(syms, r->job));
		fth_json_text(j, "user", fth_sym_str(syms, r->user));
		add_time(k, j, "submitted", r->submitted);
		add_time(k, j, "ended", r->ended);
		fth_json_real(j, "ran_s", (double)r->ran / 1e6);
		fth_json_usd(j, "used", r->used);
		fth_json_usd(j, "lost", r->lost);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
	fth_json_begin(j, "users", '[');
	for (size_t i = 0; i < b->users.len; i++) {
		const struct fth_bill_user *r = &b->users.data[i];
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "user", fth_sym_str(syms, r->user));
		fth_json_int(j, "jobs", r->jobs);
		fth_json_usd(j, "used", r->used);
		fth_json_usd(j, "lost", r->lost);
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
}

static void bill_instances(const struct fth_keeper *k, struct fth_json *j, const struct fth_bill *b)
{
	fth_json_begin(j, "instances", '[');
	for (size_t i = 0; i < b->instances.len; i++) {
		const struct fth_bill_instance *r = &b->instances.data[i];
		struct fth_str offer = {0};
		char name[16];
		fth_offer_name(k->cluster, r->offer, &offer);
		snprintf(name, sizeof(name), "i%u", r->instance);
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "instance", name);
		fth_json_text(j, "offer", offer.data);
		add_time(k, j, "requested", r->requested);
		add_time(k, j, "acquired", r->acquired);
		add_time(k, j, "ready", r->ready);
		add_time(k, j, "gone", r->gone);
		fth_json_usd(j, "total", r->total);
		add_parts(j, r->part);
		fth_json_end(j, '}');
		fth_str_release(&offer);
	}
	fth_json_end(j, ']');
}

static void bill(struct fth_keeper *k, struct fth_call *c)
{
	struct fth_bill b = {0};
	struct fth_str s = {0};
	struct fth_json j = {.out = &s};
	fth_time at = FTH_MAX(k->now, fth_live_now(k->live));
	fth_biller_bill(k->biller, k->engine, at, &b);
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "schema", "farthing.bill/1");
	fth_json_text(&j, "cluster", k->cfg->cluster);
	fth_json_int(&j, "at", k->epoch + at);
	fth_json_usd(&j, "total", b.total);
	add_parts(&j, b.part);
	bill_jobs(k, &j, &b);
	bill_instances(k, &j, &b);
	fth_bill_release(&b);
	fth_call_answer(c, 200, object(&j, &s));
}

void fth_call_take(struct fth_keeper *k, struct fth_call *c)
{
	switch (c->kind) {
	case FTH_CALL_SUBMIT:
		submit(k, c);
		break;
	case FTH_CALL_CANCEL:
		cancel(k, c);
		break;
	case FTH_CALL_BILL:
		bill(k, c);
		break;
	case FTH_CALL_DRAIN:
		if (may_order(c))
			drain(k, c);
		break;
	case FTH_CALL_PAUSE:
	case FTH_CALL_RESUME:
		if (may_order(c))
			set_paused(k, c, c->kind == FTH_CALL_PAUSE);
		break;
	}
	fth_call_drop(c);
}
