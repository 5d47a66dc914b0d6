/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers judge their own settings: each is greeted once, told that nothing is to be made, before anything starts. */
#include "daemon/dry.h"

#include <poll.h>

#include "daemon/link.h"
#include "daemon/log.h"
#include "drivers/protocol.h"

#define PATIENCE_NS (5 * 1000000000LL)

static char *hello(const struct fth_config *c, enum fth_role role)
{
	struct fth_str dir = {0}, line = {0};
	fth_str_addf(&dir, "%s/%s", c->state, fth_role_names[role]);
	json_t *q = json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:{}, s:b}", "op", "hello", "id", 1, "protocol", FTH_PROTOCOL, "role", fth_role_names[role],
			      "cluster", c->cluster, "state", dir.data, "catalog", "dry_run", 1);
	json_object_set_new(q, "config", c->role[role].config ? json_incref(c->role[role].config) : json_object());
	char *text = json_dumps(q, JSON_COMPACT | JSON_ENSURE_ASCII);
	fth_str_addf(&line, "%s\n", text);
	free(text);
	json_decref(q);
	fth_str_release(&dir);
	return line.data;
}

/* Its first line; NULL if it says none in time. */
static json_t *hear(struct fth_link *l)
{
	int64_t until = fth_clock_ns() + PATIENCE_NS;
	while (fth_clock_ns() < until) {
		struct pollfd p[2] = {{.fd = l->out, .events = POLLIN}, {.fd = l->sent < l->unsent.len ? l->in : -1, .events = POLLOUT}};
		char *line;
		size_t n;
		if (fth_link_flush(l) || (poll(p, 2, 100) < 0 && errno != EINTR))
			return NULL;
		int r = p[0].revents ? fth_lines_fill(&l->lines, l->out) : -EAGAIN;
		if (r > 0 && fth_lines_next(&l->lines, &line, &n) > 0)
			return json_loadb(line, n, 0, NULL);
		if (r <= 0 && r != -EAGAIN)
			return NULL;
	}
	return NULL;
}

static int probe(const struct fth_config *c, enum fth_role role, struct fth_error *err)
{
	struct fth_link l;
	fth_link_init(&l, role, &c->role[role]);
	int r = fth_link_start(&l, err);
	if (r)
		return r;
	char *line = hello(c, role);
	fth_link_send(&l, line, strlen(line));
	free(line);
	json_t *answer = hear(&l);
	const char *key = json_string_value(json_object_get(answer, "key")), *text = json_string_value(json_object_get(answer, "error"));
	/* What is wrong with the world, and not with the settings, shows when it is greeted in earnest. */
	if (json_is_false(json_object_get(answer, "ok")) && key)
		r = fth_config_blame(c, role, key, text ? text : "the driver refuses it", err);
	json_decref(answer);
	fth_link_close(&l, true);
	fth_link_release(&l);
	return r;
}

int fth_dry_probe(const struct fth_config *c, struct fth_error *err)
{
	int r = 0;
	for (int role = 0; role < FTH_NROLES && !r; role++)
		r = probe(c, (enum fth_role)role, err);
	return r;
}
