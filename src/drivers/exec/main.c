/* SPDX-License-Identifier: Apache-2.0 */
/*
 * farthing-driver-exec: capacity by a user's own scripts, so that any cloud can be attached. Each gets one JSON object on its
 * standard input and prints one:
 *
 *   launch      {"token", "node", "cluster", "offer": {...}}    -> {} or {"error": "...", "why": "capacity|quota|throttled|other"}
 *               asked again with the same token it must not rent again (clouds call it a client token)
 *   terminate   {"token", "node", "cluster"}                    -> {}; of one that is not there: fine
 *   list        {"cluster"}                                     -> {"instances": [{"token", "state": "booting|ready|gone", "take_at", "taken"}]}
 *
 *   STATE/instances/TOKEN.json    what was asked for, and when what was first seen of it: an end is told until it is forgotten
 */
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/protocol.h"
#include "drivers/settings.h"
#include "drivers/exec/script.h"

struct config {
	json_t *launch, *terminate, *list;
	int64_t timeout, every, lost_after;
};

static const struct fth_setting settings[] = {
	{"launch", FTH_SET_TEXTS, offsetof(struct config, launch), true, 0, 0, NULL},
	{"terminate", FTH_SET_TEXTS, offsetof(struct config, terminate), true, 0, 0, NULL},
	{"list", FTH_SET_TEXTS, offsetof(struct config, list), true, 0, 0, NULL},
	{"timeout", FTH_SET_DURATION, offsetof(struct config, timeout), false, 0.01, 3600, NULL},
	{"list_every", FTH_SET_DURATION, offsetof(struct config, every), false, 0.01, 3600, NULL},
	{"lost_after", FTH_SET_DURATION, offsetof(struct config, lost_after), false, 0, 86400, NULL},
	{0},
};

enum { ASKED, BOOTING, READY, TERMINATING, GONE };
static const char *const states[] = {"requested", "booting", "ready", "terminating", "gone"};

struct instance {
	json_t *doc; /* as it is kept and listed */
	int state;
	int64_t asked, mark;
	int64_t let_go; /* when terminate was asked of the script */
	bool seen;  /* in this round of the script */
};

struct exec {
	struct config c;
	char *state, *cluster;
	bool dry_run;
	int64_t next_list;
	bool fresh; /* the list has worked since we are here */
	struct fth_marks marks;
	FTH_VEC(struct instance) all;
};

static const char *token_of(const struct instance *i)
{
	return json_string_value(json_object_get(i->doc, "token"));
}

static struct instance *find(struct exec *x, const char *token)
{
	for (size_t k = 0; token && k < x->all.len; k++)
		if (!strcmp(token_of(&x->all.data[k]), token))
			return &x->all.data[k];
	return NULL;
}

static char *path_of(const struct exec *x, const char *name, const char *end)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/instances%s%s%s", x->state, *name ? "/" : "", name, end);
	return s.data;
}

static int set_state(struct exec *x, struct instance *i, int state, int64_t now, struct fth_error *err)
{
	static const char *const times[] = {NULL, "acquired", "ready", NULL, "gone"};
	i->state = state;
	i->mark = fth_marks_next(&x->marks);
	json_object_set_new(i->doc, "state", json_string(states[state]));
	if (state == READY && !json_object_get(i->doc, "acquired"))
		json_object_set_new(i->doc, "acquired", json_integer(now));
	if (times[state] && !json_object_get(i->doc, times[state]))
		json_object_set_new(i->doc, times[state], json_integer(now));
	char *path = path_of(x, token_of(i), ".json");
	int r = x->dry_run ? 0 : fth_keep_write(path, i->doc, err);
	free(path);
	return r;
}

static int load(void *arg, const char *name)
{
	struct exec *x = arg;
	const char *end = strstr(name, ".json");
	if (!end || end[5])
		return 0;
	char *path = path_of(x, name, "");
	struct instance i = {.doc = fth_keep_read(path), .mark = fth_marks_next(&x->marks)};
	free(path);
	const char *state = json_string_value(json_object_get(i.doc, "state"));
	while (state && i.state < GONE && strcmp(states[i.state], state))
		i.state++;
	if (!token_of(&i) || !state) {
		fprintf(stderr, "driver exec: %s cannot be read, and is left alone\n", name);
		json_decref(i.doc);
		return 0;
	}
	i.asked = json_integer_value(json_object_get(i.doc, "asked"));
	fth_vec_push(&x->all, i);
	return 0;
}

/* "a b" alone is a list of one word: no shell comes into it. */
static json_t *words(json_t *v)
{
	return json_is_string(v) ? json_pack("[O]", v) : json_incref(v);
}

static int hello(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err)
{
	struct exec *x = self;
	struct config c = {.timeout = 60 * FTH_SEC, .every = 10 * FTH_SEC, .lost_after = 60 * FTH_SEC};
	int r = fth_driver_settings(h, settings, &c, q, err);
	if (r)
		return r;
	x->c = c;
	x->c.launch = words(c.launch);
	x->c.terminate = words(c.terminate);
	x->c.list = words(c.list);
	x->state = fth_strdup(h->state);
	x->cluster = fth_strdup(h->cluster);
	x->dry_run = h->dry_run;
	fth_marks_init(&x->marks);
	char *folder = path_of(x, "", "");
	if (!x->dry_run)
		r = fth_keep_dir(folder, err);
	if (!r)
		r = fth_keep_each(folder, load, x);
	free(folder);
	return r;
}

/* ---- the list ---- */

static struct instance *stranger(struct exec *x, const char *token, int64_t now)
{
	struct instance i = {.doc = json_pack("{s:s, s:s, s:s}", "token", token, "offer", "", "node", ""), .asked = now};
	fth_vec_push(&x->all, i);
	return &fth_vec_last(&x->all);
}

static bool see_one(struct exec *x, const json_t *seen, int64_t now)
{
	const char *token = json_string_value(json_object_get(seen, "token"));
	const char *state = json_string_value(json_object_get(seen, "state"));
	int s = !state ? -1 : !strcmp(state, "booting") ? BOOTING : !strcmp(state, "ready") ? READY : !strcmp(state, "gone") ? GONE : -1;
	if (!token || !fth_name_is_plain(token) || s < 0) {
		fprintf(stderr, "driver exec: the list holds an instance without a plain 'token' or with an unknown 'state'\n");
		return false;
	}
	struct instance *i = find(x, token);
	if (!i && s == GONE)
		return false;
	i = i ? i : stranger(x, token, now);
	i->seen = true;
	bool taken = json_is_true(json_object_get(seen, "taken")), changed = false;
	json_t *take_at = json_object_get(seen, "take_at");
	if (json_is_integer(take_at) && !json_equal(take_at, json_object_get(i->doc, "take_at"))) {
		json_object_set(i->doc, "take_at", take_at);
		changed = true;
	}
	if (taken && s == GONE)
		json_object_set_new(i->doc, "taken", json_true());
	/* It was to go long ago and is still there: whoever wants it gone is to ask again. */
	if (i->state == TERMINATING && s != GONE && now >= i->let_go + x->c.lost_after)
		return set_state(x, i, s, now, NULL), true;
	if ((s > i->state && i->state < TERMINATING) || (s == GONE && i->state != GONE))
		return set_state(x, i, s, now, NULL), true;
	return changed ? set_state(x, i, i->state, now, NULL), true : false;
}

/* Those that the cloud no longer names have ended; one just asked for may take a while to show. */
static bool miss(struct exec *x, int64_t now)
{
	bool changed = false;
	for (size_t k = 0; k < x->all.len; k++) {
		struct instance *i = &x->all.data[k];
		if (i->seen || i->state == GONE || (i->state == ASKED && now < i->asked + x->c.lost_after))
			continue;
		if (i->state == ASKED) {
			json_object_set_new(i->doc, "error", json_string("it was launched and never showed"));
			json_object_set_new(i->doc, "why", json_string("other"));
		}
		set_state(x, i, GONE, now, NULL);
		changed = true;
	}
	return changed;
}

static bool look(struct exec *x, int64_t now)
{
	struct fth_error err = {0};
	json_t *in = json_pack("{s:s}", "cluster", x->cluster), *out = fth_script_run(x->c.list, in, x->c.timeout, &err);
	json_t *all = json_object_get(out, "instances");
	bool changed = false;
	json_decref(in);
	x->next_list = fth_driver_now() + x->c.every;
	if (!json_is_array(all)) {
		const char *own = json_string_value(json_object_get(out, "error"));
		fprintf(stderr, "driver exec: list: %s\n", own ? own : out ? "no 'instances'" : err.text);
		json_decref(out);
		return false;
	}
	for (size_t k = 0; k < x->all.len; k++)
		x->all.data[k].seen = false;
	for (size_t k = 0; k < json_array_size(all); k++)
		changed |= see_one(x, json_array_get(all, k), now);
	changed |= miss(x, now);
	x->fresh = true;
	json_decref(out);
	return changed;
}

static bool tick(void *self, int64_t now)
{
	struct exec *x = self;
	return now >= x->next_list && look(x, now);
}

static int64_t due(void *self, int64_t now)
{
	(void)now;
	return ((struct exec *)self)->next_list;
}

static int list(void *self, struct fth_request *q, struct fth_error *err)
{
	struct exec *x = self;
	if (!x->fresh)
		look(x, q->now);
	if (!x->fresh)
		return fth_fail(err, -EAGAIN, "the list script has not worked yet");
	int64_t since = fth_marks_since(&x->marks, q);
	json_t *out = json_array();
	for (size_t k = 0; k < x->all.len; k++)
		if (x->all.data[k].mark > since)
			json_array_append_new(out, json_deep_copy(x->all.data[k].doc));
	json_object_set_new(q->out, "instances", out);
	return 0;
}

/* ---- requests ---- */

static json_t *ask(struct exec *x, const json_t *command, json_t *in, struct fth_request *q, struct fth_error *err)
{
	json_object_set_new(in, "cluster", json_string(x->cluster));
	json_t *out = fth_script_run(command, in, x->c.timeout, err);
	const json_t *error = json_object_get(out, "error");
	static const char *const whys[] = {"capacity", "quota", "throttled"};
	json_decref(in);
	if (!error)
		return out;
	const char *why = json_string_value(json_object_get(out, "why"));
	for (size_t k = 0; why && k < FTH_COUNT(whys); k++)
		if (!strcmp(why, whys[k]))
			q->why = whys[k];
	fth_fail(err, -EIO, "%s", json_is_string(error) ? json_string_value(error) : "an error that is no text");
	json_decref(out);
	return NULL;
}

static int launch(void *self, struct fth_request *q, struct fth_error *err)
{
	struct exec *x = self;
	const char *token = fth_request_text(q, "token", err), *node = fth_request_text(q, "node", err);
	json_t *offer = json_object_get(q->in, "offer");
	if (!token || !node || x->dry_run)
		return x->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!fth_name_is_plain(token) || !json_is_string(json_object_get(offer, "name")))
		return fth_fail(err, -EINVAL, "a plain 'token' and an 'offer' with a name are needed");
	if (find(x, token))
		return 0;
	json_t *out = ask(x, x->c.launch, json_pack("{s:s, s:s, s:O}", "token", token, "node", node, "offer", offer), q, err);
	if (!out)
		return -EIO;
	json_decref(out);
	struct instance i = {.asked = q->now};
	i.doc = json_pack("{s:s, s:O, s:s, s:I}", "token", token, "offer", json_object_get(offer, "name"), "node", node, "asked", (json_int_t)i.asked);
	fth_vec_push(&x->all, i);
	x->next_list = 0;
	return set_state(x, &fth_vec_last(&x->all), ASKED, q->now, err);
}

static int terminate(void *self, struct fth_request *q, struct fth_error *err)
{
	struct exec *x = self;
	const char *token = fth_request_text(q, "token", err);
	struct instance *i = find(x, token);
	if (!token || x->dry_run)
		return x->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!i || i->state >= TERMINATING)
		return 0;
	json_t *out = ask(x, x->c.terminate, json_pack("{s:s, s:O}", "token", token, "node", json_object_get(i->doc, "node")), q, err);
	if (!out)
		return -EIO;
	json_decref(out);
	x->next_list = 0;
	i->let_go = q->now;
	return set_state(x, i, TERMINATING, q->now, err);
}

static int forget(void *self, struct fth_request *q, struct fth_error *err)
{
	struct exec *x = self;
	const char *token = fth_request_text(q, "token", err);
	struct instance *i = find(x, token);
	if (!token || x->dry_run)
		return x->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!i)
		return 0;
	if (i->state != GONE)
		return fth_fail(err, -EBUSY, "%s is not gone", token);
	char *path = path_of(x, token, ".json");
	int r = unlink(path) && errno != ENOENT ? fth_fail(err, -errno, "%s: %s", path, strerror(errno)) : 0;
	free(path);
	if (r)
		return r;
	json_decref(i->doc);
	*i = fth_vec_last(&x->all);
	x->all.len--;
	return 0;
}

static const struct fth_driver_op ops[] = {
	{"list", list}, {"launch", launch}, {"terminate", terminate}, {"forget", forget}, {0},
};
static const struct fth_driver driver = {
	.name = "exec", .role = "capacity", .hello = hello, .ops = ops, .due = due, .tick = tick,
};

int main(void)
{
	struct exec x = {0};
	int r = fth_driver_main(&driver, &x);
	for (size_t k = 0; k < x.all.len; k++)
		json_decref(x.all.data[k].doc);
	fth_vec_release(&x.all);
	json_decref(x.c.launch);
	json_decref(x.c.terminate);
	json_decref(x.c.list);
	free(x.state);
	free(x.cluster);
	return r;
}
