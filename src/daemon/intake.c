/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that come: from JSON to the form the engine takes. */
#include "daemon/keeper.h"

#include "trace/fields.h"

enum { GROUPS_MAX = 1000 };

static fth_sym sym_of(struct fth_world *w, const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));
	return s && *s ? fth_sym_intern(w->syms, s) : 0;
}

/* What repeats of a name: "etl-2024-03-01" is "etl", so that there are not as many kinds as jobs. */
static fth_sym label_of(struct fth_world *w, const json_t *doc)
{
	const char *s = json_string_value(json_object_get(doc, "name"));
	size_t n = s ? strlen(s) : 0;
	while (n && strchr("0123456789-_.:#", s[n - 1]))
		n--;
	return n ? fth_sym_internn(w->syms, s, FTH_MIN(n, 100)) : 0;
}

static int seconds_of(const json_t *doc, const char *key, fth_time *ret, struct fth_error *err)
{
	const json_t *v = json_object_get(doc, key);
	double s = json_number_value(v);
	if (!v)
		return 0;
	if (json_is_string(v) && !fth_parse_duration(json_string_value(v), json_string_length(v), ret) && *ret <= FTH_TRACE_TIME_MAX)
		return 0;
	if (!json_is_number(v) || !(s >= 0 && s <= (double)(FTH_TRACE_TIME_MAX / FTH_SEC)))
		return fth_fail(err, -EINVAL, "%s: a duration is needed", key);
	*ret = (fth_time)(s * 1e6);
	return 0;
}

/* What it takes of its machine as such. */
static void add_node(const struct fth_world *w, const json_t *doc, struct fth_res *demand)
{
	for (uint32_t i = FTH_RES_EXTRA; i < w->kinds.nres; i++)
		if (!strcmp(fth_sym_str(w->syms, w->kinds.res_names[i]), FTH_NODE_RESOURCE))
			demand->v[i] = json_is_true(json_object_get(doc, "exclusive")) ? FTH_NODE_WHOLE : 1;
}

static int read_group(struct fth_world *w, const json_t *doc, const json_t *t, struct fth_task_group *g, struct fth_error *err)
{
	static const struct fth_field_rule demand = {.key = "", .type = FTH_FIELD_RES, .offset = offsetof(struct fth_alt, demand)};
	struct fth_field_names names = {.syms = w->syms, .nres = w->kinds.nres, .res_names = w->kinds.res_names};
	struct fth_alt alt = {.speed_ppm = 1000000};
	const json_t *count = json_object_get(t, "count");
	const char *text = json_string_value(json_object_get(t, "demand"));
	int64_t n = count ? json_integer_value(count) : 1;
	if (!text || n < 1 || n > FTH_TRACE_TASKS_MAX)
		return fth_fail(err, -EINVAL, "tasks: each has a count and a demand, as in \"cpu:2,mem:4GiB\"");
	const char *wrong = fth_field_parse(&demand, text, strlen(text), &alt, &names);
	if (wrong)
		return fth_fail(err, -EINVAL, "demand %.60s: %s", text, wrong);
	add_node(w, doc, &alt.demand);
	struct fth_kind kind = {.label = label_of(w, doc), .klass = sym_of(w, doc, "class"), .nalts = 1, .alts = &alt};
	*g = (struct fth_task_group){.kind = fth_kinds_intern(&w->kinds, &kind), .count = (uint32_t)n, .first_own = FTH_NONE};
	return 0;
}

static void adopt_names(struct fth_world *w, const struct fth_cluster *c)
{
	fth_sym names[FTH_RES_MAX] = {0};
	for (uint32_t i = 0; i < c->catalog.nres; i++)
		names[i] = fth_sym_intern(w->syms, fth_sym_str(c->syms, c->catalog.res_names[i]));
	fth_kinds_adopt_resources(&w->kinds, c->catalog.nres, names);
}

static int kind_of(const json_t *doc, enum fth_job_kind *ret)
{
	static const char *const kinds[] = {"independent", "coupled", "rigid", "service"};
	const char *s = json_string_value(json_object_get(doc, "kind"));
	for (int i = 0; s && i < 4; i++)
		if (!strcmp(s, kinds[i])) {
			*ret = (enum fth_job_kind)i;
			return 0;
		}
	return s ? -EINVAL : 0;
}

int fth_job_read(struct fth_world *w, const struct fth_cluster *c, const json_t *doc, const char *key, fth_time submit, struct fth_error *err)
{
	const json_t *tasks = json_object_get(doc, "tasks");
	size_t n = json_array_size(tasks);
	struct fth_task_group *groups = NULL;
	fth_world_init(w);
	adopt_names(w, c);
	struct fth_job_spec job = {.key = fth_sym_intern(w->syms, key), .user = sym_of(w, doc, "user"), .submit = submit, .deadline = FTH_NEVER};
	int64_t priority = json_integer_value(json_object_get(doc, "priority"));
	job.priority = (int32_t)FTH_MAX(FTH_MIN(priority, INT32_MAX), INT32_MIN);
	if (json_is_true(json_object_get(doc, "apart")))
		job.anti_affinity = job.key; /* its own tasks keep apart */
	if (kind_of(doc, &job.kind))
		return fth_fail(err, -EINVAL, "kind: independent, coupled, rigid or service");
	if (!n || n > GROUPS_MAX)
		return fth_fail(err, -EINVAL, "tasks: 1 to %d groups are needed", GROUPS_MAX);
	int r = seconds_of(doc, "estimate", &job.estimate, err);
	groups = fth_alloc(n * sizeof(*groups));
	for (size_t i = 0; i < n && !r; i++)
		r = read_group(w, doc, json_array_get(tasks, i), &groups[i], err);
	job.ngroups = (uint32_t)n;
	if (!r)
		r = fth_workload_add(&w->workload, &job, groups, (uint32_t)n);
	free(groups);
	return r;
}
