/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the two drivers and their answers. A driver that comes up is greeted, and then lists everything. */
#include "daemon/keeper.h"

#include "daemon/log.h"
#include "drivers/protocol.h"

enum { LIST_GAP_MS = 20 };

static const char *const op_names[] = {"hello", "list", "launch", "terminate", "forget", "start", "stop", "cancel", "submit", "node", "forget"};

void fth_asked_release(struct fth_asked *a)
{
	free(a->what);
	fth_vec_release(&a->tasks);
	if (a->call) {
		fth_call_refuse(a->call, 503, "the driver ended before it answered");
		fth_call_drop(a->call);
	}
}

struct fth_asked *fth_side_ask(struct fth_keeper *k, enum fth_role role, enum fth_op op, json_t *request, const char *what)
{
	struct fth_side *s = &k->side[role];
	struct fth_asked a = {.id = ++s->next_id, .op = op, .what = what ? fth_strdup(what) : NULL, .since_ns = k->now_ns};
	json_object_set_new(request, "op", json_string(op_names[op]));
	json_object_set_new(request, "id", json_integer((json_int_t)a.id));
	char *text = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
	struct fth_str line = {0};
	fth_str_add(&line, text);
	fth_str_addc(&line, '\n');
	free(text);
	json_decref(request);
	fth_outbox_put(&k->out, (struct fth_outgoing){.role = role, .session = s->session, .line = line.data, .len = line.len});
	fth_vec_push(&s->asked, a);
	return &fth_vec_last(&s->asked);
}

/* ---- greeting ---- */

static json_t *catalog_json(const struct fth_keeper *k)
{
	const struct fth_catalog_store *c = &k->cluster->catalog;
	static const char *const markets[] = {"on-demand", "spot", "reserved"};
	json_t *types = json_array(), *offers = json_array();
	for (size_t i = 0; i < c->types.len; i++) {
		const struct fth_instance_type *t = &c->types.data[i];
		json_array_append_new(types, json_pack("{s:s, s:f, s:f, s:I}", "name", fth_sym_str(c->syms, t->name), "gpu",
						       (double)t->capacity.v[FTH_GPU] / 1000, "cpu", (double)t->capacity.v[FTH_CPU] / 1000,
						       "mem_mib", (json_int_t)t->capacity.v[FTH_MEM]));
	}
	for (fth_offer_id i = 0; i < c->offers.len; i++) {
		const struct fth_offer *o = &c->offers.data[i];
		struct fth_str name = {0};
		fth_offer_name(k->cluster, i, &name);
		json_array_append_new(offers, json_pack("{s:s, s:s, s:s, s:s, s:f}", "name", name.data, "type",
							fth_sym_str(c->syms, c->types.data[o->type].name), "zone",
							fth_sym_str(c->syms, o->zone), "market", markets[o->market], "price", fth_usd(o->price)));
		fth_str_release(&name);
	}
	return json_pack("{s:o, s:o}", "types", types, "offers", offers);
}

void fth_side_up(struct fth_keeper *k, enum fth_role role, uint32_t session)
{
	struct fth_side *s = &k->side[role];
	const struct fth_role_config *rc = &k->cfg->role[role];
	struct fth_str dir = {0};
	s->up = true;
	s->given_up = false;
	s->session = session;
	fth_str_addf(&dir, "%s/%s", k->cfg->state, fth_role_names[role]);
	json_t *hello = json_pack("{s:i, s:s, s:s, s:s, s:o, s:b}", "protocol", FTH_PROTOCOL, "role", fth_role_names[role], "cluster",
				  k->cfg->cluster, "state", dir.data, "catalog", catalog_json(k), "dry_run", k->dry_run);
	json_object_set_new(hello, "config", rc->config ? json_incref(rc->config) : json_object());
	fth_side_ask(k, role, FTH_OP_HELLO, hello, NULL);
	fth_str_release(&dir);
}

/* It is ended and started again. */
static void give_up(struct fth_keeper *k, enum fth_role role, const char *why)
{
	struct fth_side *s = &k->side[role];
	s->given_up = true;
	fth_outbox_put(&k->out, (struct fth_outgoing){.role = role, .session = s->session, .why = why});
}

/* Since when something was asked of it and it has not said a word. */
static int64_t silent_ns(const struct fth_keeper *k, const struct fth_side *s)
{
	return s->asked.len ? k->now_ns - FTH_MAX(s->asked.data[0].since_ns, s->heard_ns) : 0;
}

void fth_side_watch(struct fth_keeper *k)
{
	for (int r = 0; r < FTH_NROLES; r++) {
		struct fth_side *s = &k->side[r];
		if (!s->up || s->given_up || silent_ns(k, s) <= k->cfg->role[r].answer_limit * 1000)
			continue;
		fth_say(FTH_LOG_ERROR, "driver does not answer, and is started again", "role:s", fth_role_names[r]);
		give_up(k, (enum fth_role)r, "it did not answer");
	}
}

bool fth_side_is_well(const struct fth_keeper *k, enum fth_role role)
{
	const struct fth_side *s = &k->side[role];
	const struct fth_role_config *c = &k->cfg->role[role];
	int64_t patience = c->answer_limit * 1000 / 4;
	return s->synced && silent_ns(k, s) <= patience && k->now_ns - s->list_ok_ns <= patience + c->poll * 1000;
}

static void greeted(struct fth_keeper *k, enum fth_role role, const json_t *answer)
{
	struct fth_side *s = &k->side[role];
	struct fth_error err = {0};
	const char *text = json_string_value(json_object_get(answer, "error"));
	if (!json_is_true(json_object_get(answer, "ok")) && json_is_true(json_object_get(answer, "retry"))) {
		/* The world is not there now; our configuration is not at fault. */
		fth_say(FTH_LOG_WARN, "driver is not ready, and is tried again", "role:s error:s", fth_role_names[role], text ? text : "no reason given");
		give_up(k, role, "it was not ready");
		return;
	}
	if (!json_is_true(json_object_get(answer, "ok"))) {
		fth_config_blame(k->cfg, role, json_string_value(json_object_get(answer, "key")), text ? text : "the driver refuses", &err);
		fth_say(FTH_LOG_ERROR, "driver refuses", "role:s error:s", fth_role_names[role], err.text);
		if (!k->failed)
			k->err = err;
		k->failed = 2;
		return;
	}
	s->greeted = s->list_wanted = true;
	s->mark = 0;
	json_t *nodes = json_object_get(answer, "nodes");
	json_decref(s->nodes);
	s->nodes = json_is_object(nodes) ? json_incref(nodes) : NULL;
	fth_say(FTH_LOG_INFO, "driver is there", "role:s driver:s", fth_role_names[role], json_string_value(json_object_get(answer, "driver")));
}

void fth_side_down(struct fth_keeper *k, enum fth_role role)
{
	struct fth_side *s = &k->side[role];
	k->stats.drivers_lost++;
	for (size_t i = 0; i < s->asked.len; i++)
		fth_asked_release(&s->asked.data[i]);
	fth_vec_clear(&s->asked);
	s->up = s->greeted = s->synced = s->listing = false;
	/* What was asked for may or may not have been done: the next full list tells. */
	for (size_t i = 0; role == FTH_CAPACITY && i < k->rented.len; i++) {
		k->rented.data[i]->launching = k->rented.data[i]->launched_by = 0;
		k->rented.data[i]->ask_again = 0;
	}
	for (size_t i = 0; role == FTH_WORKLOAD && i < k->begun.len; i++)
		k->begun.data[i].starting = k->begun.data[i].started_by = 0;
	for (size_t i = 0; role == FTH_WORKLOAD && i < k->jobs.len; i++)
		k->jobs.data[i]->ask_again = 0;
	for (size_t i = 0; role == FTH_WORKLOAD && i < k->rented.len; i++)
		k->rented.data[i]->told = FTH_NODE_UNTOLD;
}

/* ---- lists ---- */

static void take_list(struct fth_keeper *k, enum fth_role role, uint64_t id, const json_t *answer)
{
	struct fth_side *s = &k->side[role];
	bool full = json_is_true(json_object_get(answer, "full"));
	const json_t *list = json_object_get(answer, role == FTH_CAPACITY ? "instances" : "jobs");
	s->listing = false;
	if (!json_is_true(json_object_get(answer, "ok")) || !json_is_array(list)) {
		const char *text = json_string_value(json_object_get(answer, "error"));
		fth_say(FTH_LOG_WARN, "driver cannot list", "role:s error:s", fth_role_names[role], text ? text : "no list in the answer");
		k->stats.requests_failed++;
		return;
	}
	if (!full && !s->synced)
		return; /* of an earlier time */
	if (role == FTH_CAPACITY)
		fth_mirror_instances(k, list, full);
	else
		fth_mirror_jobs(k, list, json_object_get(answer, "nodes"), full);
	s->mark = json_integer_value(json_object_get(answer, "mark"));
	s->synced = true;
	s->list_ok_ns = k->now_ns;
	s->last_list = id;
	k->dirty = true;
}

void fth_side_lists(struct fth_keeper *k)
{
	for (int r = 0; r < FTH_NROLES; r++) {
		struct fth_side *s = &k->side[r];
		bool due = s->list_wanted ? k->now_ns >= s->listed_ns + LIST_GAP_MS * 1000000LL : k->now_ns >= s->next_list_ns;
		if (!s->greeted || s->listing || !due)
			continue;
		s->listing = true;
		s->list_wanted = false;
		s->listed_ns = k->now_ns;
		s->next_list_ns = k->now_ns + k->cfg->role[r].poll * 1000;
		fth_side_ask(k, (enum fth_role)r, FTH_OP_LIST, json_pack("{s:I}", "since", (json_int_t)(s->synced ? s->mark : 0)), NULL);
	}
}

int64_t fth_side_due_ns(const struct fth_keeper *k)
{
	int64_t due = INT64_MAX;
	for (int r = 0; r < FTH_NROLES; r++) {
		const struct fth_side *s = &k->side[r];
		if (s->greeted && !s->listing)
			due = FTH_MIN(due, s->list_wanted ? s->listed_ns + LIST_GAP_MS * 1000000LL : s->next_list_ns);
	}
	return due;
}

/* ---- answers ---- */

static bool take_asked(struct fth_side *s, uint64_t id, struct fth_asked *ret)
{
	for (size_t i = 0; i < s->asked.len; i++)
		if (s->asked.data[i].id == id) {
			*ret = s->asked.data[i];
			memmove(&s->asked.data[i], &s->asked.data[i + 1], (s->asked.len - i - 1) * sizeof(*s->asked.data));
			s->asked.len--;
			return true;
		}
	return false;
}

void fth_side_answered(struct fth_keeper *k, enum fth_role role, struct fth_asked *a, const json_t *answer)
{
	struct fth_side *s = &k->side[role];
	bool ok = json_is_true(json_object_get(answer, "ok"));
	if (a->op == FTH_OP_HELLO) {
		greeted(k, role, answer);
		return;
	}
	if (a->op == FTH_OP_LIST) {
		take_list(k, role, a->id, answer);
		return;
	}
	s->list_wanted = true; /* something has changed, or is otherwise than we think */
	if (a->call)
		fth_call_done(k, a, answer);
	if (!ok) {
		k->stats.requests_failed++;
		fth_acts_failed(k, role, a, answer);
		return;
	}
	struct fth_rented *r = a->op == FTH_OP_LAUNCH ? fth_rented_by_token(k, a->what) : NULL;
	if (r) {
		r->launching = 0;
		r->launched_by = a->id;
		k->throttled = 0;
	}
	for (size_t i = 0; i < a->tasks.len; i++) {
		uint64_t at;
		if (!fth_map_get(&k->by_task, a->tasks.data[i], &at))
			continue;
		k->begun.data[at].starting = 0;
		k->begun.data[at].started_by = a->id;
	}
	if (a->op == FTH_OP_FORGET_TOKEN && (r = fth_rented_by_token(k, a->what)) && (!r->current || r->id == FTH_NONE))
		fth_rented_remove(k, r);
	struct fth_listed_job *j = a->op == FTH_OP_FORGET_JOB ? fth_job_by_key(k, a->what) : NULL;
	if (j)
		fth_job_remove(k, j);
}

void fth_side_line(struct fth_keeper *k, enum fth_role role, const char *line, size_t n)
{
	struct fth_side *s = &k->side[role];
	json_error_t bad;
	struct fth_asked a;
	json_t *doc = json_loadb(line, n, JSON_REJECT_DUPLICATES, &bad);
	const json_t *id = json_object_get(doc, "id");
	const char *event = json_string_value(json_object_get(doc, "event"));
	s->heard_ns = k->now_ns;
	if (event && !strcmp(event, "changed")) {
		s->list_wanted = true;
	} else if (json_is_integer(id) && take_asked(s, (uint64_t)json_integer_value(id), &a)) {
		fth_side_answered(k, role, &a, doc);
		fth_asked_release(&a);
	} else {
		fth_say(FTH_LOG_WARN, "driver says what nobody asked", "role:s text:s", fth_role_names[role], doc ? "an answer to no request" : bad.text);
		k->stats.requests_failed++;
	}
	json_decref(doc);
}
