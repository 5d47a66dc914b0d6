/* SPDX-License-Identifier: Apache-2.0 */
/* What a job that is submitted may say, and what its runner is told. */
#include "drivers/process/process.h"

#include "drivers/settings.h"

struct spec {
	char *name, *user, *class, *cwd;
	int64_t uid, gid, priority, estimate, limit, grace;
	int kind;
	json_t *tasks, *command, *env, *checkpoint;
};

static const char *const kinds[] = {"independent", "coupled", "rigid", "service", NULL};
static const struct fth_setting settings[] = {
	{"name", FTH_SET_TEXT, offsetof(struct spec, name), false, 0, 0, NULL},
	{"user", FTH_SET_TEXT, offsetof(struct spec, user), false, 0, 0, NULL},
	{"uid", FTH_SET_INT, offsetof(struct spec, uid), false, 0, 4294967294.0, NULL},
	{"gid", FTH_SET_INT, offsetof(struct spec, gid), false, 0, 4294967294.0, NULL},
	{"kind", FTH_SET_CHOICE, offsetof(struct spec, kind), false, 0, 0, kinds},
	{"priority", FTH_SET_INT, offsetof(struct spec, priority), false, -2147483648.0, 2147483647.0, NULL},
	{"estimate", FTH_SET_DURATION, offsetof(struct spec, estimate), false, 0, 3.2e9, NULL},
	{"limit", FTH_SET_DURATION, offsetof(struct spec, limit), false, 0, 3.2e9, NULL},
	{"class", FTH_SET_TEXT, offsetof(struct spec, class), false, 0, 0, NULL},
	{"tasks", FTH_SET_ANY, offsetof(struct spec, tasks), false, 0, 0, NULL},
	{"command", FTH_SET_TEXTS, offsetof(struct spec, command), true, 0, 0, NULL},
	{"env", FTH_SET_OBJECT, offsetof(struct spec, env), false, 0, 0, NULL},
	{"cwd", FTH_SET_TEXT, offsetof(struct spec, cwd), false, 0, 0, NULL},
	{"checkpoint", FTH_SET_TEXTS, offsetof(struct spec, checkpoint), false, 0, 0, NULL},
	{"grace", FTH_SET_DURATION, offsetof(struct spec, grace), false, 0, 3600, NULL},
	{0},
};

static void release(struct spec *s)
{
	free(s->name);
	free(s->user);
	free(s->class);
	free(s->cwd);
}

static const char *check_env(json_t *env)
{
	const char *key;
	json_t *v;
	json_object_foreach(env, key, v) if (!json_is_string(v) || !*key || strchr(key, '='))
		return "env: texts by name are needed";
	return NULL;
}

static const char *check_tasks(const json_t *tasks)
{
	int64_t all = 0;
	if (tasks && (!json_is_array(tasks) || !json_array_size(tasks)))
		return "tasks: a list of counts and demands is needed";
	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *t = json_array_get(tasks, i), *count = json_object_get(t, "count");
		int64_t n = count ? json_integer_value(count) : 1;
		if (!json_is_object(t) || n < 1 || n > 100000 || !json_is_string(json_object_get(t, "demand")))
			return "tasks: each has a count (1 to 100000) and a demand, as in \"cpu:2,mem:4GiB\"";
		all += n;
	}
	return all > 100000 ? "tasks: at most 100000" : NULL;
}

int fth_spec_check(const json_t *spec, struct fth_error *err)
{
	struct fth_setting_error wrong = {0};
	struct spec s = {0};
	const char *bad = NULL;
	int r = fth_settings_read(spec, settings, &s, &wrong);
	if (r)
		fth_fail(err, r, "%s", wrong.text);
	else if (json_is_array(s.command) && !json_array_size(s.command))
		bad = "command: it is empty";
	else if (s.cwd && s.cwd[0] != '/')
		bad = "cwd: a path that begins with / is needed";
	else if (!(bad = check_tasks(s.tasks)))
		bad = check_env(s.env);
	release(&s);
	return bad ? fth_fail(err, -EINVAL, "%s", bad) : r;
}

uint32_t fth_spec_tasks(const json_t *spec)
{
	const json_t *tasks = json_object_get(spec, "tasks");
	int64_t n = 0;
	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *count = json_object_get(json_array_get(tasks, i), "count");
		n += count ? json_integer_value(count) : 1;
	}
	return n ? (uint32_t)n : 1;
}

/* One text is for the shell, a list is a program with its arguments. */
static json_t *argv_of(json_t *command)
{
	return json_is_string(command) ? json_pack("[s, s, O]", "/bin/sh", "-c", command) : json_incref(command);
}

static void add_texts(json_t *env, const struct job *j, const char *run, uint32_t task, const char *node, const char *instance)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", task);
	json_object_set_new(env, "FARTHING_JOB", json_string(j->key));
	json_object_set_new(env, "FARTHING_RUN", json_string(run));
	json_object_set_new(env, "FARTHING_TASK", json_string(number));
	snprintf(number, sizeof(number), "%u", j->ntasks);
	json_object_set_new(env, "FARTHING_TASKS", json_string(number));
	json_object_set_new(env, "FARTHING_NODE", json_string(node));
	json_object_set_new(env, "FARTHING_INSTANCE", json_string(instance));
}

static void copy(json_t *to, const json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);
	if (v)
		json_object_set(to, key, v);
}

json_t *fth_spec_run(const struct process *p, const struct job *j, const char *run, uint32_t task, const char *node, const char *instance)
{
	json_t *checkpoint = json_object_get(j->spec, "checkpoint"), *given = json_object_get(j->spec, "env");
	json_t *env = given ? json_copy(given) : json_object();
	int64_t limit = 0, grace = p->grace;
	struct fth_str path = {0};
	add_texts(env, j, run, task, node, instance);
	if (json_object_get(j->spec, "limit"))
		fth_setting_duration(json_object_get(j->spec, "limit"), &limit);
	if (json_object_get(j->spec, "grace"))
		fth_setting_duration(json_object_get(j->spec, "grace"), &grace);
	json_t *o = json_pack("{s:o, s:o, s:I, s:I, s:i, s:s}", "command", argv_of(json_object_get(j->spec, "command")), "env", env, "limit_us",
			      (json_int_t)limit, "grace_us", (json_int_t)grace, "task", (int)task, "node", node);
	if (checkpoint)
		json_object_set_new(o, "checkpoint", argv_of(checkpoint));
	copy(o, j->spec, "cwd");
	copy(o, j->spec, "uid");
	copy(o, j->spec, "gid");
	copy(o, j->spec, "user");
	fth_str_addf(&path, "%s/bell/end", p->state);
	json_object_set_new(o, "bell", json_string(path.data));
	if (p->cgroup) {
		fth_str_clear(&path);
		fth_str_addf(&path, "%s/%s", p->cgroup, run);
		json_object_set_new(o, "cgroup", json_string(path.data));
	}
	fth_str_release(&path);
	return o;
}
