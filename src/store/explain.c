/* SPDX-License-Identifier: Apache-2.0 */
/* Why was it done? Every decision about one job or one instance, read off a journal. */
#include "store/journal.h"

#include "store/record.h"
#include "trace/fields.h"

/* A job of the recorded workload: its tasks are numbered as they come, job by job in the order of submission. */
struct job {
	size_t name;           /* offset in names */
	uint32_t ntasks, first_task;
};

/* A task of the job that is asked about: where it is to be and where it holds room; FTH_NONE if nowhere. */
struct place {
	uint64_t task;
	fth_instance_id target, on;
};

struct explain {
	struct fth_str *out;
	char instance[24];     /* "i12", or empty when a job is asked for */
	struct fth_str job;    /* its key, as names are written */
	struct fth_map tasks;  /* of the job -> index in places */
	FTH_VEC(struct place) places;
	struct fth_map types;  /* instance -> offset of its type's name in names */
	struct fth_str names;
	FTH_VEC(struct job) jobs; /* by their place in the workload */
	size_t submitted;         /* of them */
	uint32_t ntasks;          /* of those */
	long long now;
	bool told_round, found;
	struct fth_str notes;  /* of the round, told once if anything of it is */
};

static void tell_time(struct explain *x, long long us)
{
	long long s = us / 1000000;
	fth_str_addf(x->out, "%4lldd %02lld:%02lld:%02lld  ", s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
}

/* The value after " key=", up to the next space; NULL if there is none. */
static char *value_of(const char *line, const char *key)
{
	const char *bar = strstr(line, " | "), *p = strstr(line, key);
	if (!p || (bar && p > bar))
		return NULL;
	p += strlen(key);
	return fth_strndup(p, strcspn(p, " "));
}

/* ---- what tasks are called ---- */

/* A line of the workload in the journal's head: "job KEY ... tasks=2xK1:900s,1xK2:60s". */
static void learn_job(struct explain *x, const char *line)
{
	char *groups = value_of(line, " tasks=");
	struct job j = {.name = x->names.len};
	fth_str_addn(&x->names, line + 4, strcspn(line + 4, " "));
	fth_str_addc(&x->names, '\0');
	for (const char *p = groups; p && *p; p += strcspn(p, ","), p += *p == ',')
		j.ntasks += (uint32_t)strtoul(p, NULL, 10);
	fth_vec_push(&x->jobs, j);
	free(groups);
}

static void learn_submission(struct explain *x)
{
	if (x->submitted == x->jobs.len)
		return;
	struct job *j = &x->jobs.data[x->submitted++];
	j->first_task = x->ntasks;
	x->ntasks += j->ntasks;
}

/* As plans call it: the job's key, or key/number if the job has several tasks. */
static void add_task(struct explain *x, uint64_t task)
{
	size_t lo = 0, hi = x->submitted;
	if (task >= x->ntasks) {
		fth_str_addf(x->out, "%llu", (unsigned long long)task);
		return;
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (x->jobs.data[mid].first_task <= task)
			lo = mid;
		else
			hi = mid;
	}
	const struct job *j = &x->jobs.data[lo];
	fth_str_add(x->out, x->names.data + j->name);
	if (j->ntasks > 1)
		fth_str_addf(x->out, "/%llu", (unsigned long long)task - j->first_task + 1);
}

/* ---- what the lines are about ---- */

static bool is_job(const struct explain *x, const char *line)
{
	char *job = x->job.len ? value_of(line, " job=") : NULL;
	bool same = job && !strcmp(job, x->job.data);
	free(job);
	return same;
}

static const char *type_of(struct explain *x, const char *instance)
{
	uint64_t at;
	if (!instance || fth_map_get(&x->types, strtoull(instance + 1, NULL, 10), &at) == false)
		return "?";
	return x->names.data + at;
}

static void learn_type(struct explain *x, const char *line)
{
	char *instance = value_of(line, " instance="), *offers = value_of(line, " offers=");
	if (instance && offers) {
		fth_map_put(&x->types, strtoull(instance + 1, NULL, 10), x->names.len);
		fth_str_addn(&x->names, offers, strlen(offers) + 1);
	}
	free(instance);
	free(offers);
}

/* The offer it was wanted on could not be had: the next one. False if there is none. */
static bool next_type(struct explain *x, fth_instance_id id)
{
	uint64_t at;
	const char *comma = fth_map_get(&x->types, id, &at) ? strchr(x->names.data + at, ',') : NULL;
	if (comma)
		fth_map_put(&x->types, id, (uint64_t)(comma + 1 - x->names.data));
	return comma;
}

/* ---- where the job's tasks are: an instance that falls takes them with it, and the journal has no line for each ---- */

static struct place *place_of(struct explain *x, uint64_t task)
{
	uint64_t at;
	return fth_map_get(&x->tasks, task, &at) ? &x->places.data[at] : NULL;
}

static void learn_target(struct explain *x, uint64_t task, const char *action, const char *instance)
{
	if (!place_of(x, task)) {
		fth_map_put(&x->tasks, task, x->places.len);
		fth_vec_push(&x->places, ((struct place){task, FTH_NONE, FTH_NONE}));
	}
	if (!strcmp(action, "place") || !strcmp(action, "migrate") || !strcmp(action, "preempt"))
		place_of(x, task)->target = instance ? (fth_instance_id)strtoul(instance + 1, NULL, 10) : FTH_NONE;
}

static void learn_event(struct explain *x, const struct fth_event *ev)
{
	struct place *p = ev->task == FTH_NONE ? NULL : place_of(x, ev->task);
	if (p && ev->kind == FTH_EV_TASK_STARTING)
		p->on = ev->instance;
	else if (p && (ev->kind == FTH_EV_TASK_LEFT || ev->kind == FTH_EV_TASK_DONE))
		p->on = FTH_NONE;
	if (p && ev->kind == FTH_EV_TASK_DONE)
		p->target = FTH_NONE;
}

static void tell_fall(struct explain *x, const struct fth_event *ev, const char *held_is, const char *bound_is, const char *why)
{
	for (size_t k = 0; k < x->places.len; k++) {
		struct place *p = &x->places.data[k];
		bool held = p->on == ev->instance;
		if (!held && (p->on != FTH_NONE || p->target != ev->instance))
			continue;
		tell_time(x, ev->time);
		fth_str_addf(x->out, "%-9s task ", held ? held_is : bound_is);
		add_task(x, p->task);
		fth_str_addf(x->out, ": i%u %s\n", ev->instance, why);
		if (ev->kind != FTH_EV_REVOCATION_NOTICE)
			p->on = p->target = FTH_NONE;
	}
}

/* What happens to an instance that has tasks of the job. */
static void take_event(struct explain *x, const char *line)
{
	struct fth_event ev;
	if (!fth_record_parse_event(line, &ev))
		return;
	learn_event(x, &ev);
	if (ev.kind == FTH_EV_REVOCATION_NOTICE)
		tell_fall(x, &ev, "warned", "warned", "is about to be revoked");
	else if (ev.kind == FTH_EV_INSTANCE_REVOKED)
		tell_fall(x, &ev, "lost", "unbound", "was revoked");
	else if (ev.kind == FTH_EV_LAUNCH_FAILED && !next_type(x, ev.instance))
		tell_fall(x, &ev, "unbound", "unbound", "could not be had");
}

static bool task_is_ours(const struct explain *x, const char *line)
{
	char *task = value_of(line, " task=");
	bool ours = task && fth_map_get(&x->tasks, strtoull(task, NULL, 10), NULL);
	free(task);
	return ours;
}

static bool is_about(struct explain *x, const char *line)
{
	if (!x->instance[0])
		return is_job(x, line) || (line[0] == 'E' && task_is_ours(x, line));
	char *instance = value_of(line, " instance=");
	bool same = instance && !strcmp(instance, x->instance);
	free(instance);
	return same;
}

static void tell_action(struct explain *x, const char *line)
{
	char verdict[32], action[16];
	char *instance = value_of(line, " instance="), *task = value_of(line, " task=");
	const char *bar = strstr(line, " | ");
	if (sscanf(line, "A %31s %15s", verdict, action) != 2)
		return;
	if (task && !x->instance[0])
		learn_target(x, strtoull(task, NULL, 10), strcmp(verdict, "accepted") ? "" : action, instance);
	tell_time(x, x->now);
	fth_str_addf(x->out, "%-9s", action);
	if (task) {
		fth_str_add(x->out, " task ");
		add_task(x, strtoull(task, NULL, 10));
	}
	if (instance)
		fth_str_addf(x->out, "%s %s (%.*s)", task ? " on" : "", instance,
			     (int)strcspn(type_of(x, instance), ","), type_of(x, instance));
	if (strcmp(verdict, "accepted"))
		fth_str_addf(x->out, ", REFUSED: %s", verdict);
	if (bar)
		fth_str_addf(x->out, "\n                 because %s", bar + 3);
	fth_str_addc(x->out, '\n');
	x->told_round = true;
	free(instance);
	free(task);
}

static void end_round(struct explain *x)
{
	if (x->told_round && x->notes.len)
		fth_str_addf(x->out, "                 in that round:%s\n", x->notes.data);
	x->told_round = false;
	fth_str_clear(&x->notes);
}

static void tell_event(struct explain *x, const char *line)
{
	struct fth_event ev;
	if (!fth_record_parse_event(line, &ev))
		return;
	tell_time(x, ev.time);
	fth_str_add(x->out, fth_event_name(ev.kind));
	if (ev.task != FTH_NONE) {
		fth_str_add(x->out, " task ");
		add_task(x, ev.task);
	}
	if (ev.instance != FTH_NONE && !x->instance[0])
		fth_str_addf(x->out, " on i%u", ev.instance);
	if (ev.kind == FTH_EV_THROUGHPUT)
		fth_str_addf(x->out, ": %.1f %% of full speed", ev.rate * 100);
	fth_str_addc(x->out, '\n');
}

static void tell_charge(struct explain *x, const char *line)
{
	char *billed = value_of(line, " billed="), *usd = value_of(line, " usd="), *to = value_of(line, " to=");
	tell_time(x, to ? strtoll(to, NULL, 10) : 0);
	fth_str_addf(x->out, "charged $%s for %.2f h\n", usd ? usd : "?",
		     (billed ? (double)strtoll(billed, NULL, 10) : 0) / 3.6e9);
	free(billed);
	free(usd);
	free(to);
}

static void take_line(struct explain *x, const char *line)
{
	if (line[0] == 'N' && line[1] == ' ') {
		size_t name = strcspn(line + 2, "=");
		const char *value = line + 2 + name;
		fth_str_addf(&x->notes, " %.*s=%.4g", (int)name, line + 2, *value ? strtod(value + 1, NULL) : 0);
		return;
	}
	if (line[0] != 'A')
		end_round(x);
	if (!strncmp(line, "J job ", 6))
		learn_job(x, line + 2);
	if (line[0] == 'S')
		learn_submission(x);
	if (line[0] == 'R')
		x->now = strtoll(line + 1, NULL, 10);
	if (line[0] == 'A' && strstr(line, " launch "))
		learn_type(x, line);
	if (line[0] == 'E')
		take_event(x, line);
	if (!is_about(x, line))
		return;
	x->found = true;
	if (line[0] == 'A') {
		tell_action(x, line);
	} else if (line[0] == 'E') {
		tell_event(x, line);
	} else if (line[0] == 'C') {
		tell_charge(x, line);
	} else if (line[0] == 'S') {
		tell_time(x, strtoll(line + 1, NULL, 10));
		fth_str_add(x->out, "submitted\n");
	}
}

static void learn_what(struct explain *x, const char *what)
{
	bool number = what[0] == 'i' && what[1] && strspn(what + 1, "0123456789") == strlen(what + 1);
	if (number && strlen(what) < sizeof(x->instance))
		memcpy(x->instance, what, strlen(what) + 1);
	else
		fth_name_write(&x->job, what);
}

int fth_journal_explain(const char *path, const char *what, struct fth_str *out, struct fth_error *err)
{
	struct explain x = {.out = out};
	struct fth_input *in;
	char *line;
	size_t n;
	bool run = false;
	struct fth_str text = {0};
	int r = fth_journal_input(&in, path, &text, err);
	if (r) {
		fth_str_release(&text);
		return r;
	}
	learn_what(&x, what);
	r = fth_input_next(in, &line, &n, err);
	if (r >= 0 && (r == 0 || strcmp(line, "farthing-journal 1")))
		r = fth_fail_at(err, -EINVAL, path, 1, "not a journal: the first line is not 'farthing-journal 1'");
	while (r > 0 && (r = fth_input_next(in, &line, &n, err)) > 0) {
		if (run)
			take_line(&x, line);
		else if (!strncmp(line, "job ", 4))
			learn_job(&x, line);
		else
			run = !strcmp(line, "run");
	}
	end_round(&x);
	if (!r && !x.found)
		r = fth_fail(err, -ENOENT, "%s: nothing about %s '%s'", path, x.job.len ? "a job" : "an instance", what);
	fth_input_close(in);
	fth_str_release(&text);
	fth_map_release(&x.tasks);
	fth_vec_release(&x.places);
	fth_map_release(&x.types);
	fth_str_release(&x.names);
	fth_vec_release(&x.jobs);
	fth_str_release(&x.job);
	fth_str_release(&x.notes);
	return r;
}
