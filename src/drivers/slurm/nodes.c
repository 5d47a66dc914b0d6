/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's nodes, and its power saving. */
#include "drivers/slurm/slurm_driver.h"

#include <dirent.h>
#include <unistd.h>

/* As `scontrol update state=POWER_DOWN_FORCE`. */
#define FORCE_DOWN (NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN)

/* A node's name is free for a new machine ("absent") only once Slurm has put it to rest. */
static const char *node_state(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE;
	if (state & (NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN))
		return "leaving";
	if (state & NODE_STATE_POWERED_DOWN)
		return "absent";
	if (state & NODE_STATE_POWERING_UP || base == NODE_STATE_UNKNOWN)
		return "booting";
	if (base == NODE_STATE_DOWN || state & (NODE_STATE_NO_RESPOND | NODE_STATE_FAIL | NODE_STATE_INVALID_REG))
		return "down";
	return "ready";
}

static bool has_feature(const char *features, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = features; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ','))
			return true;
	return false;
}

/* A node is of the type that one of its features names (`farthing slurm-conf` writes it so). */
static const char *type_of(const struct fth_slurm *s, const node_info_t *n)
{
	const char *name;
	json_t *nodes;
	json_object_foreach(s->types, name, nodes)
		if (has_feature(n->features, name))
			return name;
	return NULL;
}

int fth_slurm_look_nodes(struct fth_slurm *s, bool *changed, struct fth_error *err)
{
	node_info_msg_t *all = NULL;
	if (slurm_load_node(s->nodes_update, &all, SHOW_ALL)) {
		if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA)
			return 0;
		return fth_slurm_failed(err, "nodes cannot be listed");
	}
	json_t *out = json_array();
	for (uint32_t i = 0; i < all->record_count; i++) {
		const node_info_t *n = &all->node_array[i];
		const char *type = n->name ? type_of(s, n) : NULL;
		if (!type)
			continue;
		json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:s}", "node", n->name, "type", type, "state",
						     node_state(n->node_state), "reason", n->reason ? n->reason : ""));
	}
	s->nodes_update = all->last_update - 1;
	slurm_free_node_info_msg(all);
	if (s->nodes && json_equal(s->nodes, out)) {
		json_decref(out);
		return 0;
	}
	json_decref(s->nodes);
	s->nodes = out;
	s->nodes_mark = fth_marks_next(&s->marks);
	*changed = true;
	return 0;
}

static const char *state_now(const struct fth_slurm *s, const char *node)
{
	size_t k;
	json_t *n;
	json_array_foreach(s->nodes, k, n)
		if (!strcmp(json_string_value(json_object_get(n, "node")), node))
			return json_string_value(json_object_get(n, "state"));
	return NULL;
}

static int update(const char *node, uint32_t state, const char *reason, struct fth_error *err)
{
	update_node_msg_t m;
	slurm_init_update_node_msg(&m);
	m.node_names = (char *)node;
	m.node_state = state;
	m.reason = (char *)reason;
	m.reason_uid = getuid();
	return slurm_update_node(&m) ? fth_slurm_failed(err, node) : 0;
}

int fth_slurm_node_wanted(struct fth_slurm *s, const char *node, const char *want, struct fth_error *err)
{
	bool changed = false;
	int r = fth_slurm_look_nodes(s, &changed, err);
	const char *now = state_now(s, node);
	if (r || !now)
		return r ? r : fth_fail(err, -ENOENT, "no such node: %.80s", node);
	if (!strcmp(want, "up")) /* its slurmd reports by itself; what we drained or saw fail is to be usable again */
		return strcmp(now, "down") ? update(node, NODE_STATE_UNDRAIN, NULL, err) : update(node, NODE_RESUME, NULL, err);
	if (!strcmp(want, "drain"))
		return update(node, NODE_STATE_DRAIN, "farthing: drained", err);
	if (strcmp(want, "down"))
		return fth_fail(err, -EINVAL, "want: up, drain or down");
	if (!strcmp(now, "absent") || !strcmp(now, "leaving"))
		return 0;
	/* At once: a machine that goes is no place for a job, and one that is there by now is put back into the queue. */
	return update(node, FORCE_DOWN, "farthing: machine given back", err);
}

/* ---- what Slurm asked its power programs for ---- */

/*
 * farthing-resume leaves a file for each node Slurm wants up by itself: a job that is not under our hand was given one of
 * our nodes. No machine is rented for it (nobody would pay for it): the node is put to rest again, with the reason where
 * `sinfo -R` shows it, and Slurm lets the job wait. farthing-suspend's files are about nodes that go, which we have seen already.
 */
void fth_slurm_read_spool(struct fth_slurm *s)
{
	DIR *d = s->spool && !s->dry_run ? opendir(s->spool) : NULL;
	struct dirent *e;
	struct fth_str path = {0};
	while (d && (e = readdir(d))) {
		struct fth_error err = {0};
		bool resume = !strncmp(e->d_name, "resume-", 7);
		if (!resume && strncmp(e->d_name, "suspend-", 8))
			continue;
		const char *node = e->d_name + (resume ? 7 : 8), *now = state_now(s, node);
		fth_str_clear(&path);
		fth_str_addf(&path, "%s/%s", s->spool, e->d_name);
		if (resume && now && !strcmp(now, "booting") &&
		    update(node, FORCE_DOWN, "farthing: not rented for jobs that it does not place", &err))
			fprintf(stderr, "%s\n", err.text);
		unlink(path.data);
	}
	if (d)
		closedir(d);
	fth_str_release(&path);
}
