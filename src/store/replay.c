/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying a journal: the recorded events go into a fresh engine with the same policy; what it makes
 * of them is written again, line by line, and held against the record.
 */
#include "store/journal.h"

#include "store/record.h"
#include "trace/fields.h"

struct replay {
	struct fth_input *in;
	const char *path;
	struct fth_world world;
	bool has_world;
	struct fth_policy_choice policy;
	bool has_policy;
	const struct fth_policy_ops *fallback;
	int64_t max_instances;
	struct fth_engine *engine;
	struct fth_recorder recorder;
	FTH_VEC(char *) made; /* lines made again, not yet compared */
	size_t next;
	struct fth_replay *ret;
};

static int damaged(struct replay *p, struct fth_error *err, const char *what)
{
	uint64_t line = fth_input_line(p->in);
	return fth_fail_at(err, -EINVAL, p->path, line ? line : 1, "damaged journal: %s", what);
}

static void remember(void *arg, const char *line, size_t n)
{
	struct replay *p = arg;
	fth_vec_push(&p->made, fth_strndup(line, n));
}

/* ---- the head ---- */

static int read_section(struct replay *p, int64_t lines, struct fth_str *to, struct fth_error *err)
{
	char *line;
	size_t n;
	for (int64_t i = 0; i < lines; i++) {
		int r = fth_input_next(p->in, &line, &n, err);
		if (r <= 0)
			return r ? r : damaged(p, err, "it ends within its head");
		fth_str_addn(to, line, n);
		fth_str_addc(to, '\n');
	}
	return 0;
}

static int read_head_line(struct replay *p, const char *line, struct fth_str text[3],
			  const struct fth_policy_ops *const *table, struct fth_error *err)
{
	static const char *const names[] = {"catalog ", "profile ", "workload "};
	int64_t n;
	for (int i = 0; i < 3; i++)
		if (!strncmp(line, names[i], strlen(names[i]))) {
			const char *count = line + strlen(names[i]);
			if (fth_parse_i64(count, strlen(count), &n) || n < 0 || text[i].len)
				return damaged(p, err, "a section's length, or the section twice");
			return read_section(p, n, &text[i], err);
		}
	if (!strncmp(line, "fallback ", 9)) {
		for (int i = 0; table[i]; i++)
			if (!strcmp(table[i]->name, line + 9))
				p->fallback = table[i];
		return p->fallback ? 0 : damaged(p, err, "an unknown fallback policy");
	}
	if (!strncmp(line, "policy ", 7) && !p->has_policy) {
		int r = fth_policy_choose(&p->policy, table, line + 7, err);
		p->has_policy = !r;
		return r;
	}
	if (!strncmp(line, "max_instances ", 14))
		return fth_parse_i64(line + 14, strlen(line + 14), &p->max_instances) || p->max_instances < 0 ||
				       p->max_instances > UINT32_MAX
			       ? damaged(p, err, "max_instances")
			       : 0;
	return damaged(p, err, "an unknown line in its head");
}

static int read_head(struct replay *p, const struct fth_policy_ops *const *table, struct fth_error *err)
{
	struct fth_str text[3] = {{0}};
	char *line;
	size_t n;
	int r = fth_input_next(p->in, &line, &n, err);
	if (r > 0 && strcmp(line, "farthing-journal 1"))
		r = fth_fail_at(err, -EINVAL, p->path, 1, "not a journal: the first line is not 'farthing-journal 1'");
	bool run = false;
	while (r > 0 && !run) {
		r = fth_input_next(p->in, &line, &n, err);
		if (r <= 0)
			break;
		run = !strcmp(line, "run");
		int q = run ? 0 : read_head_line(p, line, text, table, err);
		if (q)
			r = q;
	}
	if (r == 0)
		r = damaged(p, err, fth_input_line(p->in) ? "it ends within its head" : "it is empty");
	if (r > 0)
		r = !p->has_policy ? damaged(p, err, "no policy") : fth_world_from_text(&p->world, text, p->path, err);
	p->has_world = !r;
	for (int i = 0; i < 3; i++)
		fth_str_release(&text[i]);
	return r;
}

static int start_engine(struct replay *p, struct fth_error *err)
{
	struct fth_engine_config cfg = {
		.syms = p->world.syms,
		.catalog = &p->world.catalog,
		.kinds = &p->world.kinds,
		.profile = p->world.has_profile ? &p->world.profile : NULL,
		.policy = p->policy.ops,
		.params = p->policy.params,
		.fallback = p->fallback,
		.max_instances = (uint32_t)p->max_instances,
	};
	int r = fth_engine_new(&p->engine, &cfg, err);
	if (r)
		return r;
	fth_recorder_init(&p->recorder, remember, p);
	fth_engine_observe(p->engine, &p->recorder.base);
	return 0;
}

/* ---- the run ---- */

#define RATE_MAX 10.0 /* as in profiles */

static bool is_time(int64_t t)
{
	return t >= 0 && t <= FTH_TRACE_TIME_MAX;
}

/* Numbers that later sums can bear. */
static bool is_event(const struct fth_event *ev)
{
	if (ev->kind == FTH_EV_OFFER_CHANGED && (ev->price < 0 || ev->price > FTH_TRACE_PRICE_MAX))
		return false;
	if (ev->kind == FTH_EV_THROUGHPUT && !(ev->rate >= 0 && ev->rate <= RATE_MAX))
		return false;
	return is_time(ev->time) && (ev->kind != FTH_EV_REVOCATION_NOTICE || is_time(ev->at));
}

static int submit_again(struct replay *p, const char *line, struct fth_error *err)
{
	long long time, estimate;
	unsigned long long index;
	if (sscanf(line, "S %lld index=%llu estimate=%lld", &time, &index, &estimate) != 3 ||
	    index >= p->world.workload.jobs.len || !is_time(time) || !is_time(estimate))
		return damaged(p, err, "a submission");
	const struct fth_workload *w = &p->world.workload;
	struct fth_job_item item = {.spec = &w->jobs.data[index], .works = w->works.data, .told = &w->told, .index = index};
	item.groups = &w->groups.data[item.spec->first_group];
	p->ret->submits++;
	if (fth_engine_submit(p->engine, time, &item, estimate) == FTH_NONE)
		return damaged(p, err, "a submission before what has happened");
	return 0;
}

static int finish_again(struct replay *p, const char *line, struct fth_error *err)
{
	const char *to = strstr(line, " to=");
	int64_t at;
	if (!to || fth_parse_i64(to + 4, strcspn(to + 4, " "), &at) || !is_time(at))
		return damaged(p, err, "a charge");
	fth_engine_finish(p->engine, at);
	return 0;
}

static int do_line(struct replay *p, const char *line, struct fth_error *err)
{
	struct fth_event ev;
	struct fth_accepted acts;
	long long now;
	if (line[0] == 'S')
		return submit_again(p, line, err);
	if (line[0] == 'E') {
		p->ret->events++;
		if (!fth_record_parse_event(line, &ev) || !is_event(&ev))
			return damaged(p, err, "an event");
		struct fth_error why = {0};
		return fth_engine_feed(p->engine, &ev, &why) ? damaged(p, err, why.text) : 0;
	}
	if (line[0] == 'F')
		return strlen(line) > 2 ? fth_engine_fall_back(p->engine, line + 2, err) : damaged(p, err, "a fallback");
	if (line[0] == 'R') {
		p->ret->rounds++;
		if (sscanf(line, "R %lld", &now) != 1 || !is_time(now))
			return damaged(p, err, "a round");
		int r = fth_engine_round(p->engine, now, &acts, err);
		if (r == -EINVAL) {
			struct fth_error why = *err;
			return damaged(p, err, why.text);
		}
		p->ret->actions += r ? 0 : acts.n;
		return r;
	}
	if (!strncmp(line, "end", 3))
		fth_recorder_end(&p->recorder, p->engine);
	else if (line[0] == 'C') /* meters that the end of the run closed */
		return finish_again(p, line, err);
	return 0;
}

static void differ(struct replay *p, const char *recorded, const char *again)
{
	p->ret->same = false;
	p->ret->line = fth_input_line(p->in);
	snprintf(p->ret->recorded, sizeof(p->ret->recorded), "%s", recorded);
	snprintf(p->ret->again, sizeof(p->ret->again), "%s", again);
}

static void forget(struct replay *p)
{
	for (size_t i = 0; i < p->made.len; i++)
		free(p->made.data[i]);
	fth_vec_clear(&p->made);
	p->next = 0;
}

static int run_again(struct replay *p, struct fth_error *err)
{
	char *line;
	size_t n;
	int r;
	bool end = false;
	while ((r = fth_input_next(p->in, &line, &n, err)) > 0) {
		if (end)
			return damaged(p, err, "something follows its end");
		if (p->next == p->made.len) {
			forget(p);
			int q = do_line(p, line, err);
			if (q)
				return q;
		}
		const char *again = p->next < p->made.len ? p->made.data[p->next++] : "(nothing)";
		if (strcmp(line, again)) {
			differ(p, line, again);
			return 0;
		}
		end = !strncmp(line, "end", 3);
	}
	if (r < 0)
		return r;
	if (!end)
		return damaged(p, err, "it has no end: the run was cut off");
	p->ret->cost = fth_engine_ledger(p->engine)->total;
	return 0;
}

int fth_journal_replay(const char *path, const struct fth_policy_ops *const *table, struct fth_replay *ret,
		       struct fth_error *err)
{
	struct replay p = {.path = path, .ret = ret};
	struct fth_error own;
	err = err ? err : &own;
	*ret = (struct fth_replay){.same = true};
	int r = fth_input_open(&p.in, path, err);
	if (!r)
		r = read_head(&p, table, err);
	if (!r)
		r = start_engine(&p, err);
	if (!r) {
		snprintf(ret->policy, sizeof(ret->policy), "%s", p.policy.text);
		r = run_again(&p, err);
	}
	forget(&p);
	fth_vec_release(&p.made);
	fth_engine_free(p.engine);
	fth_recorder_release(&p.recorder);
	if (p.has_policy)
		fth_policy_choice_release(&p.policy);
	if (p.has_world)
		fth_world_release(&p.world);
	fth_input_close(p.in);
	return r;
}
