/* SPDX-License-Identifier: Apache-2.0 */
/*
 * farthing-driver-local: capacity on this machine. An instance is a record with delays and a price, and, if a command is
 * configured, a process; launches can be made to fail and instances to be taken away, by shares and times drawn from the token, so
 * that what happens does not depend on when the driver was restarted.
 *
 *   STATE/instances/TOKEN.json    the record; what state it is in follows from it and the clock
 *   STATE/processes/TOKEN/        the process (drivers/supervise.h)
 *   STATE/ended.jsonl             those that were forgotten, if so configured
 */
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/protocol.h"
#include "drivers/settings.h"
#include "drivers/supervise.h"

struct config {
	int64_t acquire, boot, terminate; /* delays */
	double fail_share;
	int why;
	double revoke_share;
	int64_t revoke_after, notice; /* mean time from ready on */
	int64_t seed, limit, first_port;
	json_t *command;
	bool keep_ended; /* what is forgotten goes into a list of its own, to be held against a bill */
};

static const char *const whys[] = {"capacity", "quota", "throttled", "other", NULL};
static const struct fth_setting settings[] = {
	{"acquire", FTH_SET_DURATION, offsetof(struct config, acquire), false, 0, 86400, NULL},
	{"boot", FTH_SET_DURATION, offsetof(struct config, boot), false, 0, 86400, NULL},
	{"terminate", FTH_SET_DURATION, offsetof(struct config, terminate), false, 0, 86400, NULL},
	{"fail_share", FTH_SET_SHARE, offsetof(struct config, fail_share), false, 0, 0, NULL},
	{"fail_why", FTH_SET_CHOICE, offsetof(struct config, why), false, 0, 0, whys},
	{"revoke_share", FTH_SET_SHARE, offsetof(struct config, revoke_share), false, 0, 0, NULL},
	{"revoke_after", FTH_SET_DURATION, offsetof(struct config, revoke_after), false, 0, 864000, NULL},
	{"notice", FTH_SET_DURATION, offsetof(struct config, notice), false, 0, 86400, NULL},
	{"seed", FTH_SET_INT, offsetof(struct config, seed), false, 0, 0, NULL},
	{"max_instances", FTH_SET_INT, offsetof(struct config, limit), false, 0, 0, NULL},
	{"first_port", FTH_SET_INT, offsetof(struct config, first_port), false, 1, 65535, NULL},
	{"command", FTH_SET_TEXTS, offsetof(struct config, command), false, 0, 0, NULL},
	{"keep_ended", FTH_SET_BOOL, offsetof(struct config, keep_ended), false, 0, 0, NULL},
	{0},
};

struct instance {
	char *token, *node;
	json_t *offer;
	int64_t acquired, ready, gone, take_at; /* planned or past; 0: not */
	bool taken, dead;      /* dead: its process ended by itself */
	char *error;           /* the launch failed */
	int port;
	int64_t mark;          /* of its last change */
	unsigned phase;        /* as last listed */
};

struct local {
	struct config c;
	char *state;
	bool dry_run;
	struct fth_marks marks;
	FTH_VEC(struct instance) all;
};

static char *path_of(const struct local *l, const char *folder, const char *name, const char *end)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/%s%s%s%s", l->state, folder, *name ? "/" : "", name, end);
	return s.data;
}

/* ---- records ---- */

static void release(struct instance *i)
{
	free(i->token);
	free(i->node);
	free(i->error);
	json_decref(i->offer);
}

static int save(struct local *l, struct instance *i, struct fth_error *err)
{
	char *path = path_of(l, "instances", i->token, ".json");
	json_t *doc = json_pack("{s:s, s:s, s:O, s:I, s:I, s:I, s:I, s:b, s:b, s:s*, s:i}", "token", i->token, "node", i->node, "offer",
				i->offer, "acquired", (json_int_t)i->acquired, "ready", (json_int_t)i->ready, "gone",
				(json_int_t)i->gone, "take_at", (json_int_t)i->take_at, "taken", i->taken, "dead", i->dead, "error",
				i->error, "port", i->port);
	int r = doc ? fth_keep_write(path, doc, err) : fth_fail(err, -ENOMEM, "no record");
	json_decref(doc);
	free(path);
	i->mark = fth_marks_next(&l->marks);
	return r;
}

static int load(void *arg, const char *name)
{
	struct local *l = arg;
	const char *end = strstr(name, ".json");
	if (!end || end[5])
		return 0;
	char *path = path_of(l, "instances", name, "");
	json_t *d = fth_keep_read(path), *offer = json_object_get(d, "offer");
	free(path);
	const char *token = json_string_value(json_object_get(d, "token")), *node = json_string_value(json_object_get(d, "node"));
	const char *error = json_string_value(json_object_get(d, "error"));
	if (token && node && offer) {
		struct instance i = {.token = fth_strdup(token), .node = fth_strdup(node), .offer = json_incref(offer)};
		i.acquired = json_integer_value(json_object_get(d, "acquired"));
		i.ready = json_integer_value(json_object_get(d, "ready"));
		i.gone = json_integer_value(json_object_get(d, "gone"));
		i.take_at = json_integer_value(json_object_get(d, "take_at"));
		i.taken = json_is_true(json_object_get(d, "taken"));
		i.dead = json_is_true(json_object_get(d, "dead"));
		i.error = error ? fth_strdup(error) : NULL;
		i.port = (int)json_integer_value(json_object_get(d, "port"));
		i.mark = fth_marks_next(&l->marks);
		fth_vec_push(&l->all, i);
	} else {
		fprintf(stderr, "driver local: %s cannot be read, and is left alone\n", name);
	}
	json_decref(d);
	return 0;
}

static struct instance *find(struct local *l, const char *token)
{
	for (size_t k = 0; k < l->all.len; k++)
		if (!strcmp(l->all.data[k].token, token))
			return &l->all.data[k];
	return NULL;
}

/* ---- what follows from a record and the clock ---- */

enum phase { REQUESTED, BOOTING, READY, TERMINATING, GONE };

static enum phase phase_of(const struct instance *i, int64_t now)
{
	if (i->gone && (now >= i->gone || i->error || i->dead))
		return GONE;
	if (i->gone)
		return TERMINATING;
	return now < i->acquired ? REQUESTED : now < i->ready ? BOOTING : READY;
}

static bool is_announced(const struct local *l, const struct instance *i, int64_t now)
{
	return i->take_at && now >= i->take_at - l->c.notice;
}

/* ---- its process ---- */

static void fill_in(struct fth_str *out, const char *text, const struct instance *i)
{
	char port[16];
	snprintf(port, sizeof(port), "%d", i->port);
	const char *names[] = {"{node}", "{instance}", "{port}"}, *values[] = {i->node, i->token, port};
	while (*text) {
		size_t k = 0;
		while (k < 3 && strncmp(text, names[k], strlen(names[k])))
			k++;
		if (k < 3)
			fth_str_add(out, values[k]);
		else
			fth_str_addc(out, *text);
		text += k < 3 ? strlen(names[k]) : 1;
	}
}

static json_t *command_of(const struct local *l, const struct instance *i)
{
	json_t *argv = json_array();
	for (size_t k = 0; k < json_array_size(l->c.command); k++) {
		struct fth_str word = {0};
		fill_in(&word, json_string_value(json_array_get(l->c.command, k)), i);
		json_array_append_new(argv, json_string(word.data ? word.data : ""));
		fth_str_release(&word);
	}
	return argv;
}

static int begin_process(struct local *l, struct instance *i, struct fth_error *err)
{
	if (!json_array_size(l->c.command))
		return 0;
	char *dir = path_of(l, "processes", i->token, "");
	json_t *spec = json_pack("{s:o, s:{s:s, s:s}}", "command", command_of(l, i), "env", "FARTHING_NODE", i->node,
				 "FARTHING_INSTANCE", i->token);
	int r = fth_run_start(dir, spec, err);
	json_decref(spec);
	free(dir);
	return r;
}

static void end_process(struct local *l, struct instance *i, bool at_once)
{
	if (!json_array_size(l->c.command))
		return;
	char *dir = path_of(l, "processes", i->token, "");
	fth_run_stop(dir, at_once, NULL);
	free(dir);
}

/* Whether its process has ended; it is begun if it should run and never has. */
static bool has_ended(struct local *l, struct instance *i)
{
	struct fth_run run = {0};
	if (!json_array_size(l->c.command) || l->dry_run)
		return false;
	char *dir = path_of(l, "processes", i->token, "");
	fth_run_look(dir, &run);
	free(dir);
	if (run.state == FTH_RUN_NONE && !i->gone)
		begin_process(l, i, NULL);
	return run.state >= FTH_RUN_ENDED;
}

/* ---- time goes by ---- */

static bool advance(struct local *l, struct instance *i, int64_t now)
{
	enum phase before = i->phase & 7;
	if (l->dry_run || before == GONE)
		return false;
	if (i->take_at && now >= i->take_at && !i->gone) {
		end_process(l, i, true);
		i->taken = true;
		i->gone = i->take_at;
		save(l, i, NULL);
	} else if (now >= i->acquired && !i->error && !i->gone && has_ended(l, i)) {
		i->dead = true;
		i->gone = now;
		save(l, i, NULL);
	}
	unsigned phase = phase_of(i, now) | (is_announced(l, i, now) ? 8u : 0);
	if (phase == i->phase)
		return false;
	i->phase = phase;
	i->mark = fth_marks_next(&l->marks);
	return true;
}

static bool tick(void *self, int64_t now)
{
	struct local *l = self;
	bool changed = false;
	for (size_t k = 0; k < l->all.len; k++)
		changed |= advance(l, &l->all.data[k], now);
	return changed;
}

static int64_t due(void *self, int64_t now)
{
	struct local *l = self;
	int64_t at = INT64_MAX;
	for (size_t k = 0; k < l->all.len; k++) {
		const struct instance *i = &l->all.data[k];
		int64_t times[] = {i->acquired, i->ready, i->gone, i->take_at, i->take_at ? i->take_at - l->c.notice : 0};
		if ((i->phase & 7) == GONE)
			continue;
		for (size_t n = 0; n < FTH_COUNT(times); n++)
			if (times[n] > now)
				at = FTH_MIN(at, times[n]);
		if (json_array_size(l->c.command))
			at = FTH_MIN(at, now + FTH_SEC / 2); /* its process may end */
	}
	return at;
}

/* ---- requests ---- */

static int hello(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err)
{
	struct local *l = self;
	l->c = (struct config){.boot = FTH_SEC, .revoke_after = FTH_HOUR, .notice = 120 * FTH_SEC, .seed = 1, .first_port = 16818};
	int r = fth_driver_settings(h, settings, &l->c, q, err);
	if (r)
		return r;
	if (json_is_string(l->c.command)) {
		q->key = "command";
		return fth_fail(err, -EINVAL, "command: a list of words is needed");
	}
	l->state = fth_strdup(h->state);
	l->dry_run = h->dry_run;
	fth_marks_init(&l->marks);
	char *folder = path_of(l, "instances", "", "");
	if (!l->dry_run)
		r = fth_keep_dir(folder, err);
	if (!r)
		r = fth_keep_each(folder, load, l);
	free(folder);
	for (size_t k = 0; k < l->all.len; k++)
		l->all.data[k].phase = phase_of(&l->all.data[k], q->now);
	return r;
}

static json_t *shown(const struct local *l, const struct instance *i, int64_t now)
{
	static const char *const names[] = {"requested", "booting", "ready", "terminating", "gone"};
	enum phase p = phase_of(i, now);
	json_t *o = json_pack("{s:s, s:O, s:s, s:s}", "token", i->token, "offer", i->offer, "node", i->node, "state", names[p]);
	bool had = !i->error && now >= i->acquired && (!i->gone || i->gone >= i->acquired);
	if (had)
		json_object_set_new(o, "acquired", json_integer(i->acquired));
	if (had && now >= i->ready && (!i->gone || i->gone >= i->ready))
		json_object_set_new(o, "ready", json_integer(i->ready));
	if (p == GONE)
		json_object_set_new(o, "gone", json_integer(i->gone));
	if (is_announced(l, i, now))
		json_object_set_new(o, "take_at", json_integer(i->take_at));
	if (i->taken)
		json_object_set_new(o, "taken", json_true());
	if (i->error) {
		json_object_set_new(o, "error", json_string(i->error));
		json_object_set_new(o, "why", json_string(whys[l->c.why]));
	}
	return o;
}

static int list(void *self, struct fth_request *q, struct fth_error *err)
{
	(void)err;
	struct local *l = self;
	tick(l, q->now);
	int64_t since = fth_marks_since(&l->marks, q);
	json_t *out = json_array();
	for (size_t k = 0; k < l->all.len; k++)
		if (l->all.data[k].mark > since)
			json_array_append_new(out, shown(l, &l->all.data[k], q->now));
	json_object_set_new(q->out, "instances", out);
	return 0;
}

static uint32_t alive(const struct local *l)
{
	uint32_t n = 0;
	for (size_t k = 0; k < l->all.len; k++)
		n += (l->all.data[k].phase & 7) != GONE;
	return n;
}

static int free_port(const struct local *l)
{
	for (int port = (int)l->c.first_port;; port++) {
		bool taken = false;
		for (size_t k = 0; k < l->all.len; k++)
			taken |= l->all.data[k].port == port && (l->all.data[k].phase & 7) != GONE;
		if (!taken)
			return port;
	}
}

/* What will become of it is drawn now, by its token. */
static void draw(const struct local *l, struct instance *i, int64_t now)
{
	struct fth_rng rng;
	fth_rng_seed(&rng, (uint64_t)l->c.seed, 1, fth_hash_bytes(i->token, strlen(i->token), 7));
	i->acquired = now + l->c.acquire;
	i->ready = i->acquired + l->c.boot;
	if (fth_rng_real(&rng) < l->c.fail_share) {
		struct fth_str text = {0};
		fth_str_addf(&text, "injected failure: %s", whys[l->c.why]);
		i->error = text.data;
		i->gone = now;
	}
	if (fth_rng_real(&rng) < l->c.revoke_share)
		i->take_at = i->ready + (int64_t)fth_rng_exponential(&rng, (double)l->c.revoke_after);
}

static int launch(void *self, struct fth_request *q, struct fth_error *err)
{
	struct local *l = self;
	const char *token = fth_request_text(q, "token", err), *node = fth_request_text(q, "node", err);
	json_t *offer = json_object_get(q->in, "offer");
	if (!token || !node || l->dry_run)
		return l->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!fth_name_is_plain(token) || !json_is_string(json_object_get(offer, "name")))
		return fth_fail(err, -EINVAL, "a plain 'token' and an 'offer' with a name are needed");
	if (find(l, token))
		return 0;
	if (l->c.limit && alive(l) >= (uint32_t)l->c.limit) {
		q->why = "quota";
		return fth_fail(err, -ENOSPC, "there are %lld instances already", (long long)l->c.limit);
	}
	struct instance i = {.token = fth_strdup(token), .node = fth_strdup(node), .offer = json_incref(json_object_get(offer, "name"))};
	i.port = free_port(l);
	draw(l, &i, q->now);
	int r = save(l, &i, err);
	if (r) {
		release(&i);
		return r;
	}
	fth_vec_push(&l->all, i);
	return 0;
}

static int terminate(void *self, struct fth_request *q, struct fth_error *err)
{
	struct local *l = self;
	const char *token = fth_request_text(q, "token", err);
	struct instance *i = token ? find(l, token) : NULL;
	if (!token || l->dry_run)
		return l->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!i || i->gone)
		return 0; /* it is not there, which is what is wanted */
	end_process(l, i, false);
	i->gone = q->now + l->c.terminate;
	if (i->gone < i->acquired)
		i->gone = i->acquired; /* it was on its way */
	return save(l, i, err);
}

/* Its process may take its time to end. */
static int clear_process(struct local *l, struct instance *i, const char *dir, struct fth_error *err)
{
	struct fth_run run = {0};
	if (!json_array_size(l->c.command))
		return 0;
	fth_run_look(dir, &run);
	if (run.state == FTH_RUN_STARTING || run.state == FTH_RUN_RUNNING) {
		end_process(l, i, true);
		return fth_fail(err, -EBUSY, "its process has not ended yet");
	}
	return fth_keep_remove(dir) ? fth_fail(err, -EIO, "%s cannot be removed", dir) : 0;
}

static int note_end(const struct local *l, const struct instance *i, int64_t now, struct fth_error *err)
{
	if (!l->c.keep_ended)
		return 0;
	char *path = path_of(l, "ended.jsonl", "", "");
	json_t *doc = shown(l, i, now);
	char *text = json_dumps(doc, JSON_COMPACT);
	FILE *f = fopen(path, "ae");
	int r = f && fprintf(f, "%s\n", text) > 0 ? 0 : -EIO;
	if (f && fclose(f))
		r = -EIO;
	free(text);
	json_decref(doc);
	if (r)
		fth_fail(err, r, "%s cannot be written", path);
	free(path);
	return r;
}

static int forget(void *self, struct fth_request *q, struct fth_error *err)
{
	struct local *l = self;
	const char *token = fth_request_text(q, "token", err);
	struct instance *i = token ? find(l, token) : NULL;
	if (!token || l->dry_run)
		return l->dry_run ? fth_fail(err, -EPERM, "this is a dry run") : -EINVAL;
	if (!i)
		return 0;
	if (phase_of(i, q->now) != GONE)
		return fth_fail(err, -EBUSY, "%s is not gone", token);
	char *record = path_of(l, "instances", token, ".json"), *process = path_of(l, "processes", token, "");
	int r = clear_process(l, i, process, err);
	if (!r)
		r = note_end(l, i, q->now, err);
	if (!r)
		r = unlink(record) && errno != ENOENT ? fth_fail(err, -errno, "%s: %s", record, strerror(errno)) : 0;
	free(record);
	free(process);
	if (r)
		return r;
	release(i);
	*i = fth_vec_last(&l->all);
	l->all.len--;
	return 0;
}

static const struct fth_driver_op ops[] = {
	{"list", list}, {"launch", launch}, {"terminate", terminate}, {"forget", forget}, {0},
};
static const struct fth_driver driver = {
	.name = "local", .role = "capacity", .hello = hello, .ops = ops, .due = due, .tick = tick,
};

int main(void)
{
	struct local l = {0};
	int r = fth_driver_main(&driver, &l);
	for (size_t k = 0; k < l.all.len; k++)
		release(&l.all.data[k]);
	fth_vec_release(&l.all);
	free(l.state);
	return r;
}
