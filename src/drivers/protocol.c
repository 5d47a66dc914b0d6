/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/protocol.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "drivers/keep.h"
#include "drivers/lines.h"
#include "drivers/settings.h"

enum { LOCK_TRIES = 500 };

struct session {
	const struct fth_driver *driver;
	void *self;
	int out;
	int lock;
	bool greeted;
	json_t *hello; /* kept: what the driver was told points into it */
};

int64_t fth_driver_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * FTH_SEC + t.tv_nsec / 1000;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t w = write(fd, data, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		data += w;
		n -= (size_t)w;
	}
	return 0;
}

static int say(const struct session *s, const json_t *what)
{
	struct fth_str line = {0};
	char *text = json_dumps(what, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text)
		return -ENOMEM;
	fth_str_add(&line, text);
	fth_str_addc(&line, '\n');
	free(text);
	int r = write_all(s->out, line.data, line.len);
	fth_str_release(&line);
	return r;
}

const char *fth_request_text(const struct fth_request *q, const char *key, struct fth_error *err)
{
	const char *s = json_string_value(json_object_get(q->in, key));
	if (!s)
		fth_fail(err, -EINVAL, "'%s' is missing or no text", key);
	return s;
}

bool fth_name_is_plain(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-~");
	return n && n <= 200 && !s[n] && s[0] != '.';
}

/* One driver at a time works on a state: of a daemon that was killed the old driver may need a moment to end. */
static int lock_state(struct session *s, const char *state, struct fth_error *err)
{
	if (state[0] != '/')
		return fth_fail(err, -EINVAL, "state: an absolute path is needed");
	struct fth_str path = {0};
	int r = fth_keep_dir(state, err);
	fth_str_addf(&path, "%s/lock", state);
	s->lock = r ? -1 : open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (!r && s->lock < 0)
		r = fth_fail(err, -errno, "%s: %s", path.data, strerror(errno));
	for (int i = 0; !r && flock(s->lock, LOCK_EX | LOCK_NB); i++) {
		if (i == LOCK_TRIES)
			r = fth_fail(err, -EBUSY, "%s: another driver works on this state", state);
		usleep(20000);
	}
	fth_str_release(&path);
	return r;
}

static int greet(struct session *s, struct fth_request *q, struct fth_error *err)
{
	const char *role = fth_request_text(q, "role", err);
	struct fth_hello h = {
		.cluster = fth_request_text(q, "cluster", err),
		.state = fth_request_text(q, "state", err),
		.config = json_object_get(q->in, "config"),
		.catalog = json_object_get(q->in, "catalog"),
		.dry_run = json_is_true(json_object_get(q->in, "dry_run")),
	};
	if (!role || !h.cluster || !h.state)
		return -EINVAL;
	if (s->greeted)
		return fth_fail(err, -EINVAL, "hello was said before");
	if (json_integer_value(json_object_get(q->in, "protocol")) != FTH_PROTOCOL)
		return fth_fail(err, -EPROTO, "this driver speaks protocol %d", FTH_PROTOCOL);
	if (strcmp(role, s->driver->role))
		return fth_fail(err, -EINVAL, "driver %s is for the role '%s', not '%s'", s->driver->name, s->driver->role, role);
	int r = s->lock >= 0 || h.dry_run || s->driver->stateless ? 0 : lock_state(s, h.state, err);
	if (!r)
		r = s->driver->hello(s->self, &h, q, err);
	if (r)
		return r;
	s->greeted = true;
	s->hello = json_incref((json_t *)q->in);
	json_object_set_new(q->out, "protocol", json_integer(FTH_PROTOCOL));
	json_object_set_new(q->out, "driver", json_string(s->driver->name));
	return 0;
}

static int carry_out(struct session *s, struct fth_request *q, struct fth_error *err)
{
	const char *op = fth_request_text(q, "op", err);
	if (!op)
		return -EINVAL;
	if (!strcmp(op, "hello"))
		return greet(s, q, err);
	if (!s->greeted)
		return fth_fail(err, -EPROTO, "'hello' comes first");
	for (const struct fth_driver_op *o = s->driver->ops; o->name; o++)
		if (!strcmp(o->name, op))
			return o->run(s->self, q, err);
	return fth_fail(err, -EOPNOTSUPP, "unknown op '%.40s'", op);
}

/* What cannot be read has no id to answer to, and is answered all the same. */
static int answer(struct session *s, const char *line, size_t n)
{
	json_error_t bad;
	struct fth_error err = {0};
	json_t *in = json_loadb(line, n, JSON_REJECT_DUPLICATES, &bad);
	struct fth_request q = {.in = in, .out = json_object(), .now = fth_driver_now()};
	json_t *id = json_object_get(in, "id");
	int r = !in ? fth_fail(&err, -EINVAL, "no JSON: %s", bad.text)
		: !json_is_object(in) || !json_is_integer(id)
			? fth_fail(&err, -EINVAL, "a request is an object with an 'id'")
			: carry_out(s, &q, &err);
	if (r) {
		json_object_clear(q.out);
		json_object_set_new(q.out, "error", json_string(err.text[0] ? err.text : strerror(-r)));
		json_object_set_new(q.out, "why", json_string(q.why ? q.why : "other"));
		if (r == -EAGAIN || r == -EIO || r == -EBUSY)
			json_object_set_new(q.out, "retry", json_true());
		if (q.key)
			json_object_set_new(q.out, "key", json_string(q.key));
	}
	json_object_set_new(q.out, "ok", json_boolean(!r));
	json_object_set(q.out, "id", json_is_integer(id) ? id : json_null());
	r = say(s, q.out);
	json_decref(q.out);
	json_decref(in);
	return r;
}

/* What is between two looks at the input. */
static int tick(struct session *s)
{
	if (!s->greeted || !s->driver->tick || !s->driver->tick(s->self, fth_driver_now()))
		return 0;
	json_t *hint = json_pack("{s:s}", "event", "changed");
	int r = say(s, hint);
	json_decref(hint);
	return r;
}

static int pause_ms(const struct session *s)
{
	int64_t now = fth_driver_now(), due = s->greeted && s->driver->due ? s->driver->due(s->self, now) : INT64_MAX;
	if (due == INT64_MAX)
		return -1;
	return due <= now ? 0 : (int)FTH_MIN((due - now + 999) / 1000, 3600000);
}

static int take_lines(struct session *s, struct fth_lines *lines)
{
	char *line;
	size_t n;
	int r;
	while ((r = fth_lines_next(lines, &line, &n)) > 0) {
		r = answer(s, line, n);
		if (r)
			return r;
	}
	return r;
}

static int talk(struct session *s, int in, struct fth_lines *lines)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = in, .events = POLLIN},
				      {.fd = s->greeted && s->driver->watch ? s->driver->watch(s->self) : -1, .events = POLLIN}};
		int wait = pause_ms(s);
		int n = poll(p, 2, wait);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0 || p[1].revents || wait == 0) {
			int r = tick(s);
			if (r)
				return r;
		}
		if (n <= 0 || !p[0].revents)
			continue;
		int r = fth_lines_fill(lines, in);
		if (r <= 0)
			return r;
		r = take_lines(s, lines);
		if (r)
			return r;
	}
}

int fth_driver_serve(const struct fth_driver *d, void *self, int in, int out)
{
	struct session s = {.driver = d, .self = self, .out = out, .lock = -1};
	struct fth_lines lines;
	fth_lines_init(&lines, FTH_PROTOCOL_LINE_MAX);
	int r = talk(&s, in, &lines);
	if (r && r != -EPIPE)
		fprintf(stderr, "driver %s: %s\n", d->name, r == -EMSGSIZE ? "a request is longer than allowed" : strerror(-r));
	fth_lines_release(&lines);
	json_decref(s.hello);
	if (s.lock >= 0)
		close(s.lock);
	return r && r != -EPIPE;
}

int fth_driver_main(const struct fth_driver *d, void *self)
{
	signal(SIGPIPE, SIG_IGN);
	return fth_driver_serve(d, self, STDIN_FILENO, STDOUT_FILENO);
}

int fth_driver_settings(const struct fth_hello *h, const struct fth_setting *table, void *base, struct fth_request *q,
			struct fth_error *err)
{
	static struct fth_setting_error wrong;
	const json_t *config = json_is_null(h->config) ? NULL : h->config;
	if (!fth_settings_read(config, table, base, &wrong))
		return 0;
	q->key = wrong.key;
	return fth_fail(err, -EINVAL, "%s", wrong.text);
}

void fth_marks_init(struct fth_marks *m)
{
	m->first = m->last = fth_driver_now();
}

int64_t fth_marks_since(const struct fth_marks *m, struct fth_request *q)
{
	int64_t since = json_integer_value(json_object_get(q->in, "since"));
	bool full = since < m->first || since > m->last;
	json_object_set_new(q->out, "full", json_boolean(full));
	json_object_set_new(q->out, "mark", json_integer(m->last));
	return full ? 0 : since;
}
