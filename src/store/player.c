/* SPDX-License-Identifier: Apache-2.0 */
#include "store/player.h"

#include "trace/fields.h"

int fth_player_damaged(struct fth_player *p, struct fth_error *err, const char *what)
{
	return fth_fail_at(err, -EINVAL, p->path, p->line ? p->line : 1, "damaged journal: %s", what);
}

static void remember(void *arg, const char *line, size_t n)
{
	struct fth_player *p = arg;
	fth_vec_push(&p->made, fth_strndup(line, n));
}

/* ---- the head ---- */

static int next_line(struct fth_player *p, struct fth_input *in, char **line, size_t *n, struct fth_error *err)
{
	int r = fth_input_next(in, line, n, err);
	p->line = fth_input_line(in);
	return r;
}

static int read_section(struct fth_player *p, struct fth_input *in, int64_t lines, struct fth_str *to, struct fth_error *err)
{
	char *line;
	size_t n;
	for (int64_t i = 0; i < lines; i++) {
		int r = next_line(p, in, &line, &n, err);
		if (r <= 0)
			return r ? r : fth_player_damaged(p, err, "it ends within its head");
		fth_str_addn(to, line, n);
		fth_str_addc(to, '\n');
	}
	return 0;
}

static int read_fallback(struct fth_player *p, const char *name, struct fth_error *err)
{
	for (int i = 0; p->table[i]; i++)
		if (!strcmp(p->table[i]->name, name))
			p->fallback = p->table[i];
	return p->fallback ? 0 : fth_player_damaged(p, err, "an unknown fallback policy");
}

static int read_number(struct fth_player *p, const char *text, int64_t most, int64_t *ret, struct fth_error *err,
		       const char *what)
{
	if (fth_parse_i64(text, strlen(text), ret) || *ret < 0 || *ret > most)
		return fth_player_damaged(p, err, what);
	return 0;
}

static int read_head_line(struct fth_player *p, struct fth_input *in, const char *line, struct fth_str text[3],
			  struct fth_error *err)
{
	static const char *const names[] = {"catalog ", "profile ", "workload "};
	int64_t n;
	for (int i = 0; i < 3; i++)
		if (!strncmp(line, names[i], strlen(names[i]))) {
			const char *count = line + strlen(names[i]);
			if (fth_parse_i64(count, strlen(count), &n) || n < 0 || text[i].len)
				return fth_player_damaged(p, err, "a section's length, or the section twice");
			return read_section(p, in, n, &text[i], err);
		}
	if (!strncmp(line, "fallback ", 9))
		return read_fallback(p, line + 9, err);
	if (!strncmp(line, "policy ", 7) && !p->has_policy) {
		int r = fth_policy_choose(&p->policy, p->table, line + 7, err);
		p->has_policy = !r;
		return r;
	}
	if (!strncmp(line, "max_instances ", 14)) {
		int r = read_number(p, line + 14, UINT32_MAX, &n, err, "max_instances");
		p->limits.max_instances = r ? 0 : (uint32_t)n;
		return r;
	}
	if (!strncmp(line, "limits ", 7))
		return fth_limits_parse(line + 7, &p->limits) ? 0 : fth_player_damaged(p, err, "limits");
	if (!strncmp(line, "epoch ", 6))
		return read_number(p, line + 6, INT64_MAX / 2, &p->epoch_us, err, "epoch");
	if (!strncmp(line, "cluster ", 8) && !p->cluster) {
		p->cluster = fth_strdup(line + 8);
		return 0;
	}
	return fth_player_damaged(p, err, "an unknown line in its head");
}

int fth_player_head(struct fth_player *p, struct fth_input *in, struct fth_error *err)
{
	struct fth_str text[3] = {{0}};
	char *line;
	size_t n;
	int r = next_line(p, in, &line, &n, err);
	if (r > 0 && strcmp(line, "farthing-journal 1"))
		r = fth_fail_at(err, -EINVAL, p->path, 1, "not a journal: the first line is not 'farthing-journal 1'");
	bool run = false;
	while (r > 0 && !run) {
		r = next_line(p, in, &line, &n, err);
		if (r <= 0)
			break;
		run = !strcmp(line, "run");
		int q = run ? 0 : read_head_line(p, in, line, text, err);
		if (q)
			r = q;
	}
	if (r == 0)
		r = fth_player_damaged(p, err, p->line ? "it ends within its head" : "it is empty");
	if (r > 0)
		r = !p->has_policy ? fth_player_damaged(p, err, "no policy")
				   : fth_world_from_text(&p->world, text, p->path, p->cluster != NULL, err);
	p->has_world = !r;
	for (int i = 0; i < 3; i++)
		fth_str_release(&text[i]);
	return r;
}

int fth_player_start(struct fth_player *p, struct fth_error *err)
{
	struct fth_engine_config cfg = {
		.syms = p->world.syms,
		.catalog = &p->world.catalog,
		.kinds = &p->world.kinds,
		.profile = p->world.has_profile ? &p->world.profile : NULL,
		.policy = p->policy.ops,
		.params = p->policy.params,
		.fallback = p->fallback,
		.limits = p->limits,
	};
	int r = fth_engine_new(&p->engine, &cfg, err);
	if (r)
		return r;
	fth_recorder_init(&p->recorder, remember, p);
	fth_engine_observe(p->engine, &p->recorder.base);
	for (struct fth_observer *o = p->observers, *next; o; o = next) {
		next = o->next; /* which becomes the engine's */
		fth_engine_observe(p->engine, o);
	}
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

static int submit_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	long long time, estimate;
	unsigned long long index;
	if (sscanf(line, "S %lld index=%llu estimate=%lld", &time, &index, &estimate) != 3 ||
	    index >= p->world.workload.jobs.len || !is_time(time) || !is_time(estimate))
		return fth_player_damaged(p, err, "a submission");
	const struct fth_workload *w = &p->world.workload;
	struct fth_job_item item = {.spec = &w->jobs.data[index], .works = w->works.data, .told = &w->told, .index = index};
	item.groups = &w->groups.data[item.spec->first_group];
	p->submits++;
	if (fth_engine_submit(p->engine, time, &item, estimate) == FTH_NONE)
		return fth_player_damaged(p, err, "a submission before what has happened");
	return 0;
}

static int finish_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	const char *to = strstr(line, " to=");
	int64_t at;
	if (!to || fth_parse_i64(to + 4, strcspn(to + 4, " "), &at) || !is_time(at))
		return fth_player_damaged(p, err, "a charge");
	fth_engine_finish(p->engine, at);
	return 0;
}

int fth_player_job(struct fth_player *p, const char *text, size_t n, struct fth_error *err)
{
	struct fth_workload one, *all = &p->world.workload;
	struct fth_input *in;
	fth_workload_init(&one, p->world.syms, &p->world.kinds);
	int r = fth_input_open_memory(&in, "job", text, n, err);
	if (r)
		return r;
	r = fth_read_workload(&one, in, FTH_FORMAT_FARTHING_WORKLOAD, NULL, err);
	fth_input_close(in);
	if (!r && one.jobs.len != 1)
		r = fth_fail(err, -EINVAL, "one job was expected");
	if (!r) {
		uint32_t shift = (uint32_t)all->works.len;
		for (size_t i = 0; i < one.works.len; i++)
			fth_vec_push(&all->works, one.works.data[i]);
		for (size_t i = 0; i < one.groups.len; i++)
			if (one.groups.data[i].first_own != FTH_NONE)
				one.groups.data[i].first_own += shift;
		const struct fth_job_spec *j = &one.jobs.data[0];
		r = fth_workload_add(all, j, one.groups.data + j->first_group, j->ngroups);
		if (r)
			fth_fail(err, r, "job %s was submitted before", fth_sym_str(p->world.syms, j->key));
	}
	fth_workload_release(&one);
	return r;
}

/* K lines gather, the J line makes the job whole. */
static int job_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	if (!p->cluster || !line[1] || line[1] != ' ')
		return fth_player_damaged(p, err, "a job outside of its head");
	remember(p, line, strlen(line));
	if (!p->arriving.len)
		fth_str_add(&p->arriving, "farthing-workload 1\n");
	fth_str_add(&p->arriving, line + 2);
	fth_str_addc(&p->arriving, '\n');
	if (line[0] == 'K')
		return 0;
	struct fth_error why = {0};
	int r = fth_player_job(p, p->arriving.data, p->arriving.len, &why);
	fth_str_clear(&p->arriving);
	return r ? fth_player_damaged(p, err, why.text) : 0;
}

static int policy_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	long long now;
	int at = 0;
	struct fth_policy_choice c;
	if (sscanf(line, "P %lld %n", &now, &at) != 1 || !at || !is_time(now))
		return fth_player_damaged(p, err, "a change of policy");
	int r = fth_policy_choose(&c, p->table, line + at, err);
	if (r)
		return r;
	fth_vec_push(&p->later, c);
	return fth_engine_change_policy(p->engine, now, c.ops, c.params, c.text, err);
}

static int limits_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	long long now;
	int at = 0;
	struct fth_limits l;
	if (sscanf(line, "L %lld %n", &now, &at) != 1 || !at || !is_time(now) || !fth_limits_parse(line + at, &l))
		return fth_player_damaged(p, err, "a change of limits");
	fth_engine_change_limits(p->engine, now, &l);
	return 0;
}

static int order_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	struct fth_action a;
	fth_time now;
	char *by;
	if (!fth_record_parse_order(line, &now, &a, &by) || !is_time(now))
		return fth_player_damaged(p, err, "an order");
	struct fth_accepted acts;
	fth_engine_order(p->engine, now, &a, by, &acts);
	free(by);
	return 0;
}

static int round_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	struct fth_accepted acts;
	long long now;
	p->rounds++;
	if (sscanf(line, "R %lld", &now) != 1 || !is_time(now))
		return fth_player_damaged(p, err, "a round");
	int r = fth_engine_round(p->engine, now, &acts, err);
	if (r == -EINVAL) {
		struct fth_error why = *err;
		return fth_player_damaged(p, err, why.text);
	}
	p->actions += r ? 0 : acts.n;
	return r;
}

static int event_again(struct fth_player *p, const char *line, struct fth_error *err)
{
	struct fth_event ev;
	struct fth_error why = {0};
	p->events++;
	if (!fth_record_parse_event(line, &ev) || !is_event(&ev))
		return fth_player_damaged(p, err, "an event");
	return fth_engine_feed(p->engine, &ev, &why) ? fth_player_damaged(p, err, why.text) : 0;
}

static int do_line(struct fth_player *p, const char *line, struct fth_error *err)
{
	switch (line[0]) {
	case 'S':
		return submit_again(p, line, err);
	case 'E':
		return event_again(p, line, err);
	case 'R':
		return round_again(p, line, err);
	case 'F':
		return strlen(line) > 2 ? fth_engine_fall_back(p->engine, line + 2, err)
					: fth_player_damaged(p, err, "a fallback");
	case 'K':
	case 'J':
		return job_again(p, line, err);
	case 'O':
		return order_again(p, line, err);
	case 'P':
		return policy_again(p, line, err);
	case 'L':
		return limits_again(p, line, err);
	case 'C': /* meters that the end of the run closed */
		return finish_again(p, line, err);
	}
	if (!strncmp(line, "end", 3))
		fth_recorder_end(&p->recorder, p->engine);
	return 0;
}

static void forget(struct fth_player *p)
{
	for (size_t i = 0; i < p->made.len; i++)
		free(p->made.data[i]);
	fth_vec_clear(&p->made);
	p->next = 0;
}

int fth_player_line(struct fth_player *p, const char *line, const char **again, struct fth_error *err)
{
	if (p->ended)
		return fth_player_damaged(p, err, "something follows its end");
	if (p->next == p->made.len) {
		forget(p);
		int r = do_line(p, line, err);
		if (r)
			return r;
	}
	*again = p->next < p->made.len ? p->made.data[p->next++] : "(nothing)";
	if (strcmp(line, *again))
		return 1;
	p->ended = !strncmp(line, "end", 3);
	return 0;
}

void fth_player_release(struct fth_player *p)
{
	forget(p);
	fth_vec_release(&p->made);
	fth_engine_free(p->engine);
	fth_recorder_release(&p->recorder);
	for (size_t i = 0; i < p->later.len; i++)
		fth_policy_choice_release(&p->later.data[i]);
	fth_vec_release(&p->later);
	if (p->has_policy)
		fth_policy_choice_release(&p->policy);
	if (p->has_world)
		fth_world_release(&p->world);
	fth_str_release(&p->arriving);
	free(p->cluster);
}
