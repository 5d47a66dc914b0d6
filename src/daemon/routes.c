/* SPDX-License-Identifier: Apache-2.0 */
/* Which request is answered how. What only looks is answered from the picture; the rest is a call of the keeper's. */
#include "daemon/api.h"

#include "daemon/log.h"
#include "report/format.h"
#include "store/journal.h"

enum { PATIENCE_S = 30 };

static void refuse(struct fth_answer *a, int status, const char *text)
{
	struct fth_json j = {.out = &a->text};
	fth_str_clear(&a->text);
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "error", text);
	fth_json_end(&j, '}');
	a->status = status;
}

static void call(struct fth_keeper *k, const struct fth_asker *who, enum fth_call_kind kind, const char *what, json_t *body, struct fth_answer *ret)
{
	struct fth_call *c = fth_call_new(kind);
	c->what = what ? fth_strdup(what) : NULL;
	c->body = body;
	snprintf(c->by, sizeof(c->by), "%s", who->by);
	c->uid = who->uid;
	c->gid = who->gid;
	fth_mailbox_put(&k->mail, (struct fth_message){.kind = FTH_MSG_CALL, .call = c});
	if (fth_call_wait(c, PATIENCE_S * FTH_SEC)) {
		ret->status = c->status;
		ret->text = c->text;
		c->text = (struct fth_str){0};
	} else {
		refuse(ret, 504, "no answer in time; it may still be carried out");
	}
	fth_call_drop(c);
}

static void submit(struct fth_keeper *k, const struct fth_asker *who, const char *body, size_t n, struct fth_answer *ret)
{
	json_error_t bad;
	char text[300];
	json_t *doc = json_loadb(body, n, JSON_REJECT_DUPLICATES, &bad);
	if (json_is_object(doc)) {
		call(k, who, FTH_CALL_SUBMIT, NULL, doc, ret);
		return;
	}
	snprintf(text, sizeof(text), "the body is no JSON object: %s", doc ? "another value" : bad.text);
	json_decref(doc);
	refuse(ret, 400, text);
}

static void explain(struct fth_keeper *k, const char *what, struct fth_answer *ret)
{
	struct fth_str words = {0};
	struct fth_error err = {0};
	int r = fth_journal_explain(k->journal, what, &words, &err);
	if (r) {
		refuse(ret, r == -ENOENT ? 404 : 500, err.text);
	} else {
		struct fth_json j = {.out = &ret->text};
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "about", what);
		fth_json_text(&j, "text", words.data ? words.data : "");
		fth_json_end(&j, '}');
		ret->status = 200;
	}
	fth_str_release(&words);
}

/* Alive: the loop and the keeper have been seen lately, both drivers list. */
static void health(struct fth_keeper *k, const struct fth_picture *p, struct fth_answer *ret)
{
	int64_t away = (fth_clock_ns() - atomic_load(&k->lag.last_tick_ns)) / 1000000, old = (fth_wall_us() - p->at) / 1000;
	bool ok = away < 5000 && old < 60000 && p->up[FTH_WORKLOAD] && p->up[FTH_CAPACITY];
	struct fth_json j = {.out = &ret->text};
	fth_json_begin(&j, NULL, '{');
	fth_json_bool(&j, "ok", ok);
	fth_json_bool(&j, "workload", p->up[FTH_WORKLOAD]);
	fth_json_bool(&j, "capacity", p->up[FTH_CAPACITY]);
	fth_json_int(&j, "loop_ms", away);
	fth_json_int(&j, "picture_ms", old);
	fth_json_end(&j, '}');
	ret->status = ok ? 200 : 503;
}

static void one_job(const struct fth_picture *p, const char *key, struct fth_answer *ret)
{
	for (size_t i = p->jobs.len; i-- > 0;)
		if (!strcmp(p->jobs.data[i].key, key)) {
			fth_render_job(p, &p->jobs.data[i], &ret->text);
			ret->status = 200;
			return;
		}
	refuse(ret, 404, "no such job");
}

static void look(struct fth_keeper *k, const struct fth_asker *who, const char *path, const char *state, struct fth_answer *ret)
{
	struct fth_picture *p = fth_picture_get(&k->pictures);
	ret->status = 200;
	if (!p)
		refuse(ret, 503, "not yet");
	else if (!strcmp(path, "/healthz"))
		health(k, p, ret);
	else if (!strcmp(path, "/metrics")) {
		ret->type = "text/plain; version=0.0.4";
		fth_render_metrics(p, &k->lag, &ret->text);
	} else if (!strcmp(path, "/v1/status"))
		fth_render_status(p, &ret->text);
	else if (!strcmp(path, "/v1/jobs"))
		fth_render_jobs(p, state, &ret->text);
	else if (!strncmp(path, "/v1/jobs/", 9))
		one_job(p, path + 9, ret);
	else if (!strcmp(path, "/v1/instances"))
		fth_render_instances(p, &ret->text);
	else if (!strcmp(path, "/v1/bill"))
		call(k, who, FTH_CALL_BILL, NULL, NULL, ret);
	else if (!strncmp(path, "/v1/explain/", 12))
		explain(k, path + 12, ret);
	else
		refuse(ret, 404, "no such thing here");
	fth_picture_drop(p);
}

/* The part of path between before and after; NULL if it is not so. To be freed. */
static char *between(const char *path, const char *before, const char *after)
{
	size_t n = strlen(path), nb = strlen(before), na = strlen(after);
	if (n <= nb + na || strncmp(path, before, nb) || strcmp(path + n - na, after))
		return NULL;
	return fth_strndup(path + nb, n - nb - na);
}

static void act(struct fth_keeper *k, const struct fth_asker *who, const char *path, const char *body, size_t n, struct fth_answer *ret)
{
	char *job = between(path, "/v1/jobs/", "/cancel"), *instance = between(path, "/v1/instances/", "/drain");
	if (!strcmp(path, "/v1/jobs"))
		submit(k, who, body, n, ret);
	else if (job)
		call(k, who, FTH_CALL_CANCEL, job, NULL, ret);
	else if (instance)
		call(k, who, FTH_CALL_DRAIN, instance, NULL, ret);
	else if (!strcmp(path, "/v1/drain"))
		call(k, who, FTH_CALL_DRAIN, NULL, NULL, ret);
	else if (!strcmp(path, "/v1/pause"))
		call(k, who, FTH_CALL_PAUSE, NULL, NULL, ret);
	else if (!strcmp(path, "/v1/resume"))
		call(k, who, FTH_CALL_RESUME, NULL, NULL, ret);
	else
		refuse(ret, 404, "no such thing here");
	free(job);
	free(instance);
}

void fth_route(struct fth_keeper *k, const struct fth_asker *who, const char *method, const char *path, const char *state, const char *body, size_t nbody,
	       struct fth_answer *ret)
{
	if (!strcmp(method, "GET"))
		look(k, who, path, state, ret);
	else if (!strcmp(method, "POST"))
		act(k, who, path, body, nbody, ret);
	else
		refuse(ret, 405, "GET and POST only");
}
