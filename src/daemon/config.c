/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config.h"

#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "drivers/protocol.h"
#include "drivers/settings.h"
#include "drivers/supervise.h"
#include "engine/registry.h"
#include "policies/table.h"
#include "trace/trace.h"

const char *const fth_role_names[] = {"workload", "capacity"};

/* All the daemon knows of drivers: which program plays which role. */
static const struct {
	const char *name, *program;
	enum fth_role role;
} drivers[] = {
	{"process", "farthing-driver-process", FTH_WORKLOAD},
	{"slurm", "farthing-driver-slurm", FTH_WORKLOAD},
	{"local", "farthing-driver-local", FTH_CAPACITY},
	{"exec", "farthing-driver-exec", FTH_CAPACITY},
};

/* ---- the tables ---- */

struct sections {
	json_t *role[FTH_NROLES], *limits, *api, *log, *retry, *policy;
};
struct role_read {
	json_t *driver, *config;
	int64_t poll, answer_limit;
};
struct limits_read {
	fth_money usd_per_hour, usd_per_month;
	int64_t moves_per_hour, max_instances;
	double disturbed;
};

#define IN(type, field) offsetof(struct type, field)
static const struct fth_setting top_keys[] = {
	{"cluster", FTH_SET_TEXT, IN(fth_config, cluster), true, 0, 0, NULL},
	{"state", FTH_SET_TEXT, IN(fth_config, state), false, 0, 0, NULL},
	{"catalog", FTH_SET_TEXT, IN(fth_config, catalog), true, 0, 0, NULL},
	{"profile", FTH_SET_TEXT, IN(fth_config, profile), false, 0, 0, NULL},
	{"decide_limit", FTH_SET_DURATION, IN(fth_config, decide_limit), false, 0, 86400, NULL},
	{0},
};
static const struct fth_setting section_keys[] = {
	{"policy", FTH_SET_ANY, IN(sections, policy), true, 0, 0, NULL},
	{"workload", FTH_SET_OBJECT, IN(sections, role[FTH_WORKLOAD]), true, 0, 0, NULL},
	{"capacity", FTH_SET_OBJECT, IN(sections, role[FTH_CAPACITY]), true, 0, 0, NULL},
	{"limits", FTH_SET_OBJECT, IN(sections, limits), false, 0, 0, NULL},
	{"api", FTH_SET_OBJECT, IN(sections, api), false, 0, 0, NULL},
	{"log", FTH_SET_OBJECT, IN(sections, log), false, 0, 0, NULL},
	{"retry", FTH_SET_OBJECT, IN(sections, retry), false, 0, 0, NULL},
	{0},
};
static const struct fth_setting role_keys[] = {
	{"driver", FTH_SET_ANY, IN(role_read, driver), true, 0, 0, NULL},
	{"config", FTH_SET_OBJECT, IN(role_read, config), false, 0, 0, NULL},
	{"poll", FTH_SET_DURATION, IN(role_read, poll), false, 0.05, 3600, NULL},
	{"answer_limit", FTH_SET_DURATION, IN(role_read, answer_limit), false, 0.1, 86400, NULL},
	{0},
};
static const struct fth_setting limits_keys[] = {
	{"usd_per_hour", FTH_SET_USD, IN(limits_read, usd_per_hour), false, 0, 0, NULL},
	{"usd_per_month", FTH_SET_USD, IN(limits_read, usd_per_month), false, 0, 0, NULL},
	{"moves_per_hour", FTH_SET_INT, IN(limits_read, moves_per_hour), false, 0, 4e9, NULL},
	{"disturbed", FTH_SET_SHARE, IN(limits_read, disturbed), false, 0, 0, NULL},
	{"max_instances", FTH_SET_INT, IN(limits_read, max_instances), false, 0, 1e6, NULL},
	{0},
};
static const struct fth_setting api_keys[] = {
	{"socket", FTH_SET_TEXT, IN(fth_api_config, socket), false, 0, 0, NULL},
	{"users", FTH_SET_ANY, IN(fth_api_config, users), false, 0, 0, NULL},
	{"listen", FTH_SET_TEXT, IN(fth_api_config, listen), false, 0, 0, NULL},
	{"token_file", FTH_SET_TEXT, IN(fth_api_config, token_file), false, 0, 0, NULL},
	{"token_user", FTH_SET_TEXT, IN(fth_api_config, token_user), false, 0, 0, NULL},
	{"tls_certificate", FTH_SET_TEXT, IN(fth_api_config, tls_certificate), false, 0, 0, NULL},
	{"tls_key", FTH_SET_TEXT, IN(fth_api_config, tls_key), false, 0, 0, NULL},
	{"beyond_loopback", FTH_SET_BOOL, IN(fth_api_config, beyond_loopback), false, 0, 0, NULL},
	{"max_body", FTH_SET_INT, IN(fth_api_config, max_body), false, 1024, 1 << 30, NULL},
	{0},
};
static const struct fth_setting log_keys[] = {
	{"level", FTH_SET_CHOICE, IN(fth_config, log_level), false, 0, 0, fth_log_levels},
	{"format", FTH_SET_CHOICE, IN(fth_config, log_format), false, 0, 0, fth_log_formats},
	{0},
};
static const struct fth_setting retry_keys[] = {
	{"first", FTH_SET_DURATION, IN(fth_config, retry_first), false, 0.001, 86400, NULL},
	{"most", FTH_SET_DURATION, IN(fth_config, retry_most), false, 0.001, 864000, NULL},
	{0},
};

/* ---- reading ---- */

static const char *name_of(const struct fth_config *c)
{
	return c->path ? c->path : "built-in configuration";
}

static int blame(const struct fth_config *c, const json_t *object, const char *key, const char *text, struct fth_error *err)
{
	return fth_fail_at(err, -EINVAL, name_of(c), fth_yaml_line(&c->yaml, object, key), "%s", text);
}

int fth_config_blame(const struct fth_config *c, enum fth_role role, const char *key, const char *text, struct fth_error *err)
{
	const json_t *section = json_object_get(c->yaml.root, fth_role_names[role]);
	const json_t *own = c->role[role].config;
	return blame(c, own && key && *key ? own : section, own && key && *key ? key : "driver", text, err);
}

static int read_keys(struct fth_config *c, const json_t *object, const struct fth_setting *table, void *base, struct fth_error *err)
{
	struct fth_setting_error wrong = {0};
	return fth_settings_read(object, table, base, &wrong) ? blame(c, object, wrong.key, wrong.text, err) : 0;
}

/* Both tables of the file's first level speak of the same object. */
static int read_top(struct fth_config *c, struct sections *s, struct fth_error *err)
{
	const char *key;
	json_t *v, *plain = json_object(), *parts = json_object();
	json_object_foreach(c->yaml.root, key, v)
	{
		bool part = false;
		for (const struct fth_setting *k = section_keys; k->key; k++)
			part |= !strcmp(k->key, key);
		json_object_set(part ? parts : plain, key, v);
	}
	struct fth_setting_error wrong = {0};
	int r = fth_settings_read(plain, top_keys, c, &wrong);
	if (!r)
		r = fth_settings_read(parts, section_keys, s, &wrong);
	if (r)
		r = blame(c, c->yaml.root, wrong.key, wrong.text, err);
	json_decref(plain);
	json_decref(parts);
	return r;
}

/* "eva:round=60s", or a name with its parameters as keys. */
static int read_policy(struct fth_config *c, json_t *v, struct fth_error *err)
{
	struct fth_str s = {0};
	const char *key, *name = json_string_value(json_is_object(v) ? json_object_get(v, "name") : v);
	json_t *p;
	if (!name)
		return blame(c, c->yaml.root, "policy", "policy: a name is needed, as in eva:round=60s, or a 'name' with parameters", err);
	fth_str_add(&s, name);
	bool first = !strchr(name, ':');
	json_object_foreach(json_is_object(v) ? v : NULL, key, p)
	{
		if (!strcmp(key, "name"))
			continue;
		char *text = json_is_string(p) ? NULL : json_dumps(p, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
		fth_str_addf(&s, "%c%s=%s", first ? ':' : ',', key, text ? text : json_string_value(p));
		free(text);
		first = false;
	}
	struct fth_policy_choice choice;
	struct fth_error why = {0};
	int r = fth_policy_choose(&choice, fth_policies, s.data, &why);
	if (r)
		r = blame(c, c->yaml.root, "policy", why.text, err);
	else
		fth_policy_choice_release(&choice);
	c->policy = s.data;
	return r;
}

static int find_driver(struct fth_config *c, enum fth_role role, const json_t *section, struct fth_error *err)
{
	struct fth_role_config *rc = &c->role[role];
	struct fth_str path = {0}, known = {0};
	if (strchr(rc->driver, '/')) {
		rc->program = fth_strdup(rc->driver);
		return 0;
	}
	for (size_t i = 0; i < FTH_COUNT(drivers); i++) {
		if (drivers[i].role == role)
			fth_str_addf(&known, "%s%s", known.len ? ", " : "", drivers[i].name);
		if (strcmp(drivers[i].name, rc->driver))
			continue;
		if (drivers[i].role != role) {
			fth_str_release(&known);
			fth_str_addf(&path, "driver '%s' is for %s, not for %s", rc->driver, fth_role_names[drivers[i].role],
				     fth_role_names[role]);
			int r = blame(c, section, "driver", path.data, err);
			fth_str_release(&path);
			return r;
		}
		fth_str_add(&path, drivers[i].program);
	}
	if (!path.len) {
		fth_str_addf(&path, "unknown driver '%s'; there are %s, or the path of a program", rc->driver, known.data);
		int r = blame(c, section, "driver", path.data, err);
		fth_str_release(&path);
		fth_str_release(&known);
		return r;
	}
	rc->program = path.data;
	fth_str_release(&known);
	return 0;
}

static int read_role(struct fth_config *c, enum fth_role role, json_t *section, struct fth_error *err)
{
	struct role_read got = {.poll = FTH_SEC, .answer_limit = 2 * FTH_MINUTE};
	int r = read_keys(c, section, role_keys, &got, err);
	if (r)
		return r;
	if (!json_is_string(got.driver))
		return blame(c, section, "driver", json_is_array(got.driver) ? "one driver a role" : "driver: a name is needed", err);
	c->role[role].driver = fth_strdup(json_string_value(got.driver));
	c->role[role].config = got.config;
	c->role[role].poll = got.poll;
	c->role[role].answer_limit = got.answer_limit;
	return find_driver(c, role, section, err);
}

static int read_limits(struct fth_config *c, const json_t *section, struct fth_error *err)
{
	struct limits_read l = {0};
	int r = read_keys(c, section, limits_keys, &l, err);
	c->limits = (struct fth_limits){.usd_per_hour = l.usd_per_hour, .usd_per_month = l.usd_per_month,
					.moves_per_hour = (uint32_t)l.moves_per_hour,
					.disturbed_ppm = (uint32_t)(l.disturbed * 1e6 + 0.5)};
	c->limits.max_instances = (uint32_t)l.max_instances;
	return r;
}

static int read_all(struct fth_config *c, struct fth_error *err)
{
	struct sections s = {0};
	*c = (struct fth_config){.path = c->path, .dir = c->dir, .yaml = c->yaml, .decide_limit = 10 * FTH_SEC, .log_level = FTH_LOG_INFO,
				 .retry_first = FTH_SEC, .retry_most = 5 * FTH_MINUTE, .api = {.max_body = 1 << 20}};
	int r = read_top(c, &s, err);
	if (!r && !fth_name_is_plain(c->cluster))
		r = blame(c, c->yaml.root, "cluster", "cluster: letters, digits and . _ - + only", err);
	if (!r)
		r = read_policy(c, s.policy, err);
	for (int role = 0; role < FTH_NROLES && !r; role++)
		r = read_role(c, (enum fth_role)role, s.role[role], err);
	if (!r && s.limits)
		r = read_limits(c, s.limits, err);
	if (!r && s.api)
		r = read_keys(c, s.api, api_keys, &c->api, err);
	if (!r && s.log)
		r = read_keys(c, s.log, log_keys, c, err);
	if (!r && s.retry)
		r = read_keys(c, s.retry, retry_keys, c, err);
	return r;
}

/* ---- what it names must be there ---- */

static void make_absolute(const struct fth_config *c, char **path)
{
	struct fth_str s = {0};
	if (!*path || **path == '/' || !c->dir)
		return;
	fth_str_addf(&s, "%s/%s", c->dir, *path);
	free(*path);
	*path = s.data;
}

static int check_file(struct fth_config *c, const json_t *object, const char *key, char **path, struct fth_error *err)
{
	if (!*path)
		return 0;
	make_absolute(c, path);
	if (!access(*path, R_OK))
		return 0;
	struct fth_str s = {0};
	fth_str_addf(&s, "%s: %s: %s", key, *path, strerror(errno));
	int r = blame(c, object, key, s.data, err);
	fth_str_release(&s);
	return r;
}

static int check_programs(struct fth_config *c, struct fth_error *err)
{
	const char *where = getenv("FARTHING_LIBEXEC");
	for (int role = 0; role < FTH_NROLES; role++) {
		struct fth_role_config *rc = &c->role[role];
		struct fth_str path = {0};
		if (strchr(rc->program, '/')) {
			make_absolute(c, &rc->program);
		} else {
			/* Beside us, where the build left it, or where it was installed. */
			const char *const places[] = {"", "src/drivers/", "../libexec/farthing/"};
			bool found = false;
			for (size_t i = 0; !where && i < FTH_COUNT(places) && !found; i++) {
				struct fth_str name = {0};
				fth_str_addf(&name, "%s%s", places[i], rc->program);
				fth_program_beside(name.data, &path);
				found = !access(path.data, X_OK);
				fth_str_release(&name);
			}
			if (where)
				fth_str_addf(&path, "%s/%s", where, rc->program);
			free(rc->program);
			rc->program = path.data;
		}
		if (access(rc->program, X_OK)) {
			struct fth_str s = {0};
			fth_str_addf(&s, "driver '%s': %s: %s", rc->driver, rc->program, strerror(errno));
			int r = blame(c, json_object_get(c->yaml.root, fth_role_names[role]), "driver", s.data, err);
			fth_str_release(&s);
			return r;
		}
	}
	return 0;
}

static bool is_inline(const char *catalog)
{
	return strchr(catalog, '\n') != NULL;
}

static int check_files(struct fth_config *c, struct fth_error *err)
{
	const json_t *root = c->yaml.root, *api = json_object_get(root, "api");
	int r = is_inline(c->catalog) ? 0 : check_file(c, root, "catalog", &c->catalog, err);
	if (!r)
		r = check_file(c, root, "profile", &c->profile, err);
	if (!r)
		r = check_file(c, api, "token_file", &c->api.token_file, err);
	if (!r)
		r = check_file(c, api, "tls_certificate", &c->api.tls_certificate, err);
	if (!r)
		r = check_file(c, api, "tls_key", &c->api.tls_key, err);
	return r ? r : check_programs(c, err);
}

int fth_config_parse(struct fth_config *c, const char *name, const char *text, size_t n, struct fth_error *err)
{
	*c = (struct fth_config){.path = name ? fth_strdup(name) : NULL};
	int r = fth_yaml_parse(&c->yaml, name_of(c), text, n, err);
	return r ? r : read_all(c, err);
}

static void default_places(struct fth_config *c, const char *state)
{
	const char *home = getenv("XDG_STATE_HOME"), *user = getenv("HOME");
	struct fth_str s = {0};
	bool system = !state && !c->state && !geteuid() && !access("/run/farthing", W_OK); /* as a service has it */
	if (state) {
		free(c->state);
		c->state = fth_strdup(state);
	} else if (c->state) {
		make_absolute(c, &c->state);
	} else if (!geteuid()) {
		c->state = fth_strdup("/var/lib/farthing");
	} else {
		fth_str_addf(&s, "%s%s/farthing", home ? home : user ? user : "/tmp", home ? "" : "/.local/state");
		c->state = s.data;
	}
	char *real = realpath(c->state, NULL); /* drivers are elsewhere: no relative paths */
	if (real) {
		free(c->state);
		c->state = real;
	} else if (c->state[0] != '/') {
		char *here = getcwd(NULL, 0);
		struct fth_str full = {0};
		fth_str_addf(&full, "%s/%s", here ? here : "", c->state);
		free(here);
		free(c->state);
		c->state = full.data;
	}
	if (c->api.socket) {
		make_absolute(c, &c->api.socket);
		return;
	}
	struct fth_str socket = {0};
	fth_str_addf(&socket, "%s/farthingd.sock", system ? "/run/farthing" : c->state);
	c->api.socket = socket.data;
}

int fth_config_load(struct fth_config *c, const char *path, const char *state, struct fth_error *err)
{
	*c = (struct fth_config){0};
	int r;
	if (path) {
		char *copy = realpath(path, NULL);
		c->path = fth_strdup(path);
		c->dir = copy ? fth_strdup(dirname(copy)) : NULL;
		free(copy);
		r = fth_yaml_load(&c->yaml, path, err);
	} else {
		r = fth_yaml_parse(&c->yaml, name_of(c), fth_config_default, strlen(fth_config_default), err);
	}
	if (!r)
		r = read_all(c, err);
	if (!r) {
		default_places(c, state);
		r = check_files(c, err);
	}
	return r;
}

/* A catalog with a resource of this name already is its author's. */
static int add_node_resource(struct fth_world *w, struct fth_error *err)
{
	uint32_t before = w->catalog.nres;
	int r = fth_catalog_resource(&w->catalog, FTH_NODE_RESOURCE);
	if (r < 0 || (uint32_t)r < before)
		return fth_fail(err, -EINVAL, "the catalog: resource '%s' is farthingd's own, and one place of %d must be left for it", FTH_NODE_RESOURCE, FTH_RES_MAX);
	for (size_t i = 0; i < w->catalog.types.len; i++)
		w->catalog.types.data[i].capacity.v[r] = FTH_NODE_WHOLE;
	return fth_catalog_finish(&w->catalog, err);
}

int fth_config_world(const struct fth_config *c, struct fth_world *w, struct fth_error *err)
{
	int r;
	if (is_inline(c->catalog)) {
		struct fth_input *in;
		r = fth_input_open_memory(&in, "catalog", c->catalog, strlen(c->catalog), err);
		if (!r) {
			r = fth_read_catalog(&w->catalog, in, FTH_FORMAT_AUTO, NULL, err);
			fth_input_close(in);
		}
	} else {
		r = fth_load_catalog(&w->catalog, c->catalog, FTH_FORMAT_AUTO, NULL, err);
	}
	if (!r && strcmp(c->role[FTH_WORKLOAD].driver, "process"))
		r = add_node_resource(w, err);
	fth_kinds_adopt_resources(&w->kinds, w->catalog.nres, w->catalog.res_names);
	if (!r && c->profile) {
		r = fth_load_profile(&w->profile, c->profile, FTH_FORMAT_AUTO, err);
		w->has_profile = !r;
	}
	return r;
}

void fth_config_release(struct fth_config *c)
{
	char **texts[] = {&c->path, &c->dir, &c->cluster, &c->state, &c->policy, &c->catalog, &c->profile, &c->api.socket,
			  &c->api.listen, &c->api.token_file, &c->api.token_user, &c->api.tls_certificate, &c->api.tls_key,
			  &c->role[0].driver, &c->role[0].program, &c->role[1].driver, &c->role[1].program};
	for (size_t i = 0; i < FTH_COUNT(texts); i++)
		free(*texts[i]);
	fth_yaml_release(&c->yaml);
	*c = (struct fth_config){0};
}
