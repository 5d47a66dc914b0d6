/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a driver: every line is answered with an object that says ok or not. */
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/protocol.h"
#include "drivers/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct config {
	int64_t wait, count;
	char *name;
	double share;
	json_t *list;
};
static const struct fth_setting settings[] = {
	{"wait", FTH_SET_DURATION, offsetof(struct config, wait), false, 0, 100, NULL},
	{"count", FTH_SET_INT, offsetof(struct config, count), false, -5, 5, NULL},
	{"name", FTH_SET_TEXT, offsetof(struct config, name), false, 0, 0, NULL},
	{"share", FTH_SET_SHARE, offsetof(struct config, share), false, 0, 0, NULL},
	{"list", FTH_SET_TEXTS, offsetof(struct config, list), false, 0, 0, NULL},
	{0},
};

static int hello(void *self, const struct fth_hello *h, struct fth_request *q, struct fth_error *err)
{
	struct config c = {0};
	(void)self;
	int r = fth_driver_settings(h, settings, &c, q, err);
	free(c.name);
	return r;
}

static int list(void *self, struct fth_request *q, struct fth_error *err)
{
	(void)err;
	fth_marks_since(self, q);
	return 0;
}

static int launch(void *self, struct fth_request *q, struct fth_error *err)
{
	(void)self;
	const char *token = fth_request_text(q, "token", err);
	return !token ? -EINVAL : fth_name_is_plain(token) ? 0 : fth_fail(err, -EINVAL, "no plain token");
}

static const struct fth_driver_op ops[] = {{"list", list}, {"launch", launch}, {0}};
static const struct fth_driver driver = {.name = "fuzz", .role = "capacity", .stateless = true, .hello = hello, .ops = ops};

static void check_answers(const char *text, size_t n)
{
	for (const char *end; n && (end = memchr(text, '\n', n)); n -= (size_t)(end - text) + 1, text = end + 1) {
		json_t *o = json_loadb(text, (size_t)(end - text), 0, NULL);
		const json_t *ok = json_object_get(o, "ok");
		if (!json_is_boolean(ok) || (json_is_false(ok) && !json_string_length(json_object_get(o, "error"))))
			abort();
		json_decref(o);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_marks marks;
	int in = memfd_create("in", 0), out = memfd_create("out", 0);
	fth_marks_init(&marks);
	if (in < 0 || out < 0 || write(in, data, size) != (ssize_t)size || lseek(in, 0, SEEK_SET))
		abort();
	fth_driver_serve(&driver, &marks, in, out);
	off_t n = lseek(out, 0, SEEK_END);
	char *text = fth_alloc((size_t)n + 1);
	if (pread(out, text, (size_t)n, 0) != n)
		abort();
	check_answers(text, (size_t)n);
	free(text);
	close(in);
	close(out);
	return 0;
}
