/* SPDX-License-Identifier: Apache-2.0 */
#include "store/live.h"

#include "store/live_sql.h"
#include "store/player.h"

struct fact {
	char *name, *value; /* value NULL: forgotten */
	bool changed;
};

struct fth_live {
	struct fth_player player;
	struct fth_live_db *db;
	char *path;
	const struct fth_policy_ops *const *table;
	struct fth_world scratch; /* where a job is looked at before it is let in: a refused one leaves no trace */
	bool has_scratch;
	FTH_VEC(char *) pending;  /* lines not yet committed */
	FTH_VEC(struct fact) facts; /* by name */
	char policy[256];         /* in charge, as written */
	uint64_t restored;        /* lines, while it recovers */
};

/* ---- the head ---- */

static const char *const head_names[] = {"cluster", "epoch", "policy", "fallback", "limits"};
static const char *const section_names[] = {"catalog", "profile"};

static size_t count_lines(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		n += *s == '\n';
	return n;
}

/* The head of the journal, as a text journal has it. */
static int head_text(struct fth_live_db *db, struct fth_str *to, const char *path, struct fth_error *err)
{
	fth_str_add(to, "farthing-journal 1\n");
	bool any = false;
	for (size_t i = 0; i < FTH_COUNT(head_names); i++) {
		char *text = fth_live_db_head(db, head_names[i]);
		if (text)
			fth_str_addf(to, "%s %s\n", head_names[i], text);
		any |= text != NULL;
		free(text);
	}
	for (size_t i = 0; i < FTH_COUNT(section_names); i++) {
		char *text = fth_live_db_head(db, section_names[i]);
		if (text)
			fth_str_addf(to, "%s %zu\n", section_names[i], count_lines(text));
		if (text)
			fth_str_add(to, text);
		free(text);
	}
	fth_str_add(to, "run\n");
	return any ? 0 : fth_fail(err, -EBADMSG, "%s: damaged journal: it has no head", path);
}

static int put_number(struct fth_live_db *db, const char *name, int64_t value, struct fth_error *err)
{
	char text[24];
	snprintf(text, sizeof(text), "%lld", (long long)value);
	return fth_live_db_put_head(db, name, text, err);
}

static int write_head(struct fth_live_db *db, const struct fth_live_head *h, struct fth_error *err)
{
	struct fth_str text[3] = {{0}}, limits = {0};
	struct fth_world without = *h->world; /* jobs come one by one */
	without.workload.jobs.len = 0;
	int r = fth_world_text(&without, text, err);
	fth_limits_write(&limits, &h->limits);
	if (!r)
		r = fth_live_db_begin(db, err);
	if (!r)
		r = fth_live_db_put_head(db, "cluster", h->cluster, err);
	if (!r)
		r = put_number(db, "epoch", h->epoch_us, err);
	if (!r)
		r = fth_live_db_put_head(db, "policy", h->policy, err);
	if (!r && h->fallback)
		r = fth_live_db_put_head(db, "fallback", h->fallback->name, err);
	if (!r)
		r = fth_live_db_put_head(db, "limits", limits.data, err);
	for (int i = 0; i < 2 && !r; i++)
		if (text[i].len)
			r = fth_live_db_put_head(db, section_names[i], text[i].data, err);
	if (!r)
		r = fth_live_db_commit(db, err);
	for (int i = 0; i < 3; i++)
		fth_str_release(&text[i]);
	fth_str_release(&limits);
	return r;
}

/* Prices may change from one start to the next (as events); everything else of a catalog may not. */
static void without_prices(char *text)
{
	char *to = text;
	for (const char *p = text; *p;) {
		if (!strncmp(p, " price=", 7))
			p += 7 + strcspn(p + 7, " \n");
		else
			*to++ = *p++;
	}
	*to = 0;
}

/* Whether it was written for the cluster and the catalog that are now asked for. */
static int same_head(struct fth_live_db *db, const struct fth_live_head *h, const char *path, struct fth_error *err)
{
	struct fth_str text[3] = {{0}};
	struct fth_world without = *h->world;
	without.workload.jobs.len = 0;
	int r = fth_world_text(&without, text, err);
	char *cluster = fth_live_db_head(db, "cluster");
	if (!r && cluster && strcmp(cluster, h->cluster))
		r = fth_fail(err, -ESTALE, "%s: this is the journal of cluster '%s', not of '%s'", path, cluster, h->cluster);
	free(cluster);
	for (int i = 0; i < 2; i++) {
		char *was = fth_live_db_head(db, section_names[i]);
		if (was && i == 0)
			without_prices(was);
		if (text[i].len && i == 0)
			without_prices(text[i].data);
		if (!r && strcmp(was ? was : "", text[i].len ? text[i].data : ""))
			r = fth_fail(err, -ESTALE,
				     "%s: it was begun with another %s; prices may change, types, offers and profile may not: "
				     "let the cluster run empty, then begin a new journal",
				     path, section_names[i]);
		free(was);
	}
	for (int i = 0; i < 3; i++)
		fth_str_release(&text[i]);
	return r;
}

/* ---- recovery ---- */

static int take_line(void *arg, uint64_t seq, const char *line, struct fth_error *err)
{
	struct fth_live *l = arg;
	const char *again;
	l->player.line = l->restored = seq;
	int r = fth_player_line(&l->player, line, &again, err);
	if (r == -EINVAL)
		return -EBADMSG;
	if (r <= 0)
		return r;
	return fth_fail_at(err, -ESTALE, l->path, seq,
			   "this program decides otherwise than the one that wrote the journal (it has '%.100s', now it would be "
			   "'%.100s'): let the cluster run empty under the old one, then begin a new journal",
			   line, again);
}

static void take_fact(void *arg, const char *name, const char *value)
{
	struct fth_live *l = arg;
	fth_vec_push(&l->facts, ((struct fact){.name = fth_strdup(name), .value = fth_strdup(value)}));
}

static void emit(void *arg, const char *line, size_t n)
{
	struct fth_live *l = arg;
	fth_vec_push(&l->pending, fth_strndup(line, n));
}

static int read_head(struct fth_live *l, struct fth_error *err)
{
	struct fth_str text = {0};
	struct fth_input *in = NULL;
	int r = head_text(l->db, &text, l->path, err);
	if (!r)
		r = fth_input_open_memory(&in, l->path, text.data, text.len, err);
	if (!r)
		r = fth_player_head(&l->player, in, err);
	fth_input_close(in);
	fth_str_release(&text);
	if (r == -EINVAL)
		r = -EBADMSG;
	return r;
}

static int recover(struct fth_live *l, const struct fth_live_head *h, struct fth_error *err)
{
	int r = read_head(l, err);
	if (!r)
		r = fth_player_start(&l->player, err);
	if (!r)
		r = fth_live_db_lines(l->db, take_line, l, err);
	if (!r && l->player.next < l->player.made.len)
		r = fth_fail_at(err, -EBADMSG, l->path, l->restored + 1, "damaged journal: it ends within what belongs together");
	if (!r)
		r = fth_live_db_facts(l->db, take_fact, l, err);
	if (r)
		return r;
	/* From here on what happens is new. */
	l->player.recorder.emit = emit;
	l->player.recorder.arg = l;
	fth_engine_set_clock(l->player.engine, h->decide_limit_ns, h->clock_ns);
	const struct fth_policy_choice *c = l->player.later.len ? &fth_vec_last(&l->player.later) : &l->player.policy;
	snprintf(l->policy, sizeof(l->policy), "%s", c->text);
	return 0;
}

static bool same_limits(const struct fth_limits *a, const struct fth_limits *b)
{
	return a->usd_per_hour == b->usd_per_hour && a->usd_per_month == b->usd_per_month &&
	       a->moves_per_hour == b->moves_per_hour && a->disturbed_ppm == b->disturbed_ppm && a->max_instances == b->max_instances;
}

/* What the configuration asks for now takes over from what the journal was written under. */
static int follow(struct fth_live *l, const struct fth_live_head *h, struct fth_error *err)
{
	int r = 0;
	if (strcmp(l->policy, h->policy))
		r = fth_live_change_policy(l, fth_live_now(l), h->policy, err);
	if (!r && !same_limits(fth_engine_limits(l->player.engine), &h->limits))
		r = fth_live_change_limits(l, fth_live_now(l), &h->limits, err);
	return r ? r : fth_live_commit(l, err);
}

static int make_scratch(struct fth_live *l, struct fth_error *err)
{
	struct fth_str text[3] = {{0}};
	char *catalog = fth_live_db_head(l->db, "catalog");
	fth_str_add(&text[0], catalog ? catalog : "");
	free(catalog);
	int r = fth_world_from_text(&l->scratch, text, l->path, true, err);
	fth_str_release(&text[0]);
	l->has_scratch = !r;
	return r;
}

int fth_live_open(struct fth_live **ret, const char *path, const struct fth_live_head *h, struct fth_error *err)
{
	struct fth_error own;
	err = err ? err : &own;
	struct fth_live *l = fth_alloc(sizeof(*l));
	l->path = fth_strdup(path);
	l->table = h->table;
	l->player = (struct fth_player){.path = l->path, .table = h->table, .observers = h->observers};
	int r = fth_live_db_open(&l->db, path, true, err);
	char *cluster = r ? NULL : fth_live_db_head(l->db, "cluster");
	bool fresh = !r && !cluster;
	free(cluster);
	struct fth_live_head head = *h;
	head.limits.epoch_us = h->epoch_us;
	if (fresh)
		r = write_head(l->db, &head, err);
	else if (!r)
		r = same_head(l->db, h, path, err);
	if (!r)
		r = recover(l, h, err);
	if (!r)
		r = make_scratch(l, err);
	if (!r)
		r = follow(l, h, err);
	if (r) {
		fth_live_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

void fth_live_close(struct fth_live *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->pending.len; i++)
		free(l->pending.data[i]);
	fth_vec_release(&l->pending);
	for (size_t i = 0; i < l->facts.len; i++) {
		free(l->facts.data[i].name);
		free(l->facts.data[i].value);
	}
	fth_vec_release(&l->facts);
	if (l->has_scratch)
		fth_world_release(&l->scratch);
	fth_player_release(&l->player);
	fth_live_db_close(l->db);
	free(l->path);
	free(l);
}

/* ---- looking at it ---- */

struct fth_engine *fth_live_engine(struct fth_live *l)
{
	return l->player.engine;
}

const struct fth_world *fth_live_world(const struct fth_live *l)
{
	return &l->player.world;
}

int64_t fth_live_epoch(const struct fth_live *l)
{
	return l->player.epoch_us;
}

fth_time fth_live_now(const struct fth_live *l)
{
	return fth_engine_now(l->player.engine);
}

const char *fth_live_policy(const struct fth_live *l)
{
	return l->policy;
}

uint64_t fth_live_lines(const struct fth_live *l)
{
	return fth_live_db_count(l->db) + l->pending.len;
}

/* ---- what happens ---- */

/* One job as a workload of its own, in canonical text. */
static int job_text(const struct fth_workload *from, uint32_t job, struct fth_str *to, struct fth_error *err)
{
	const struct fth_job_spec *j = &from->jobs.data[job];
	struct fth_workload one;
	fth_workload_init(&one, from->syms, from->kinds);
	one.works.data = from->works.data; /* borrowed */
	one.works.len = from->works.len;
	fth_workload_add(&one, j, &from->groups.data[j->first_group], j->ngroups);
	struct fth_output *o;
	fth_output_open_memory(&o, to);
	int r = fth_write_workload(&one, o, err), c = fth_output_commit(o, err);
	one.works.data = NULL;
	one.works.len = 0;
	fth_workload_release(&one);
	return r ? r : c;
}

/* Whether it would do, tried where it leaves no trace. */
static int try_job(struct fth_live *l, const struct fth_str *text, struct fth_error *err)
{
	struct fth_workload one;
	struct fth_input *in;
	fth_workload_init(&one, l->scratch.syms, &l->scratch.kinds);
	int r = fth_input_open_memory(&in, "job", text->data, text->len, err);
	if (!r) {
		r = fth_read_workload(&one, in, FTH_FORMAT_FARTHING_WORKLOAD, NULL, err);
		fth_input_close(in);
	}
	if (!r)
		r = fth_workload_check(&one, &l->scratch.catalog.pub, "job", err);
	fth_workload_release(&one);
	return r;
}

/* Its lines, less the first, as K and J lines. */
static void emit_job(struct fth_live *l, const struct fth_str *text)
{
	struct fth_str line = {0};
	for (const char *p = strchr(text->data, '\n') + 1; *p;) {
		size_t n = strcspn(p, "\n");
		fth_str_clear(&line);
		fth_str_add(&line, strncmp(p, "job ", 4) ? "K " : "J ");
		fth_str_addn(&line, p, n);
		emit(l, line.data, line.len);
		p += n + (p[n] == '\n');
	}
	fth_str_release(&line);
}

bool fth_live_knows(const struct fth_live *l, const char *key)
{
	fth_sym known = fth_sym_find(l->player.world.syms, key);
	return known && fth_map_get(&l->player.world.workload.by_key, known, NULL);
}

int fth_live_submit(struct fth_live *l, fth_time now, const struct fth_workload *from, uint32_t job, fth_time estimate,
		    fth_job_id *ret, struct fth_error *err)
{
	struct fth_workload *all = &l->player.world.workload;
	const char *key = fth_sym_str(from->syms, from->jobs.data[job].key);
	if (fth_live_knows(l, key))
		return fth_fail(err, -EEXIST, "job %s was submitted before", key);
	if (now < fth_live_now(l))
		return fth_fail(err, -EINVAL, "job %s: submitted before what has happened", key);
	struct fth_str text = {0};
	int r = job_text(from, job, &text, err);
	if (!r)
		r = try_job(l, &text, err);
	if (!r)
		r = fth_player_job(&l->player, text.data, text.len, err);
	if (!r) {
		emit_job(l, &text);
		struct fth_job_item item = {.spec = &fth_vec_last(&all->jobs), .works = all->works.data, .told = &all->told,
					    .index = all->jobs.len - 1};
		item.groups = &all->groups.data[item.spec->first_group];
		*ret = fth_engine_submit(l->player.engine, now, &item, estimate);
	}
	fth_str_release(&text);
	return r;
}

enum fth_refusal fth_live_order(struct fth_live *l, fth_time now, const struct fth_action *order, const char *by)
{
	struct fth_accepted acts;
	return fth_engine_order(l->player.engine, now, order, by, &acts);
}

int fth_live_change_policy(struct fth_live *l, fth_time now, const char *policy, struct fth_error *err)
{
	struct fth_policy_choice c;
	int r = fth_policy_choose(&c, l->table, policy, err);
	if (r)
		return r;
	r = fth_engine_change_policy(l->player.engine, now, c.ops, c.params, c.text, err);
	if (r) {
		fth_policy_choice_release(&c);
		return r;
	}
	fth_vec_push(&l->player.later, c);
	snprintf(l->policy, sizeof(l->policy), "%s", c.text);
	return 0;
}

int fth_live_change_limits(struct fth_live *l, fth_time now, const struct fth_limits *limits, struct fth_error *err)
{
	struct fth_limits own = *limits;
	if (now < fth_live_now(l))
		return fth_fail(err, -EINVAL, "a change of limits before what has happened");
	own.epoch_us = l->player.epoch_us;
	fth_engine_change_limits(l->player.engine, now, &own);
	return 0;
}

/* ---- facts ---- */

static size_t find_fact(const struct fth_live *l, const char *name, bool *found)
{
	size_t lo = 0, hi = l->facts.len;
	*found = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(l->facts.data[mid].name, name);
		if (!c) {
			*found = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void fth_live_put(struct fth_live *l, const char *name, const char *value)
{
	bool found;
	size_t at = find_fact(l, name, &found);
	if (!found && !value)
		return;
	if (!found) {
		fth_vec_push(&l->facts, (struct fact){0});
		memmove(&l->facts.data[at + 1], &l->facts.data[at], (l->facts.len - 1 - at) * sizeof(l->facts.data[0]));
		l->facts.data[at] = (struct fact){.name = fth_strdup(name)};
	}
	struct fact *f = &l->facts.data[at];
	if (f->value && value && !strcmp(f->value, value))
		return;
	free(f->value);
	f->value = value ? fth_strdup(value) : NULL;
	f->changed = true;
}

const char *fth_live_get(const struct fth_live *l, const char *name)
{
	bool found;
	size_t at = find_fact(l, name, &found);
	return found ? l->facts.data[at].value : NULL;
}

static int write_facts(struct fth_live *l, struct fth_error *err)
{
	size_t kept = 0;
	int r = 0;
	for (size_t i = 0; i < l->facts.len; i++) {
		struct fact f = l->facts.data[i];
		if (f.changed && !r)
			r = fth_live_db_put_fact(l->db, f.name, f.value, err);
		f.changed = false;
		if (f.value)
			l->facts.data[kept++] = f;
		else
			free(f.name);
	}
	l->facts.len = kept;
	return r;
}

/* ---- durability ---- */

int fth_live_commit(struct fth_live *l, struct fth_error *err)
{
	bool facts = false;
	for (size_t i = 0; i < l->facts.len && !facts; i++)
		facts = l->facts.data[i].changed;
	if (!l->pending.len && !facts)
		return 0;
	int r = fth_live_db_begin(l->db, err);
	for (size_t i = 0; i < l->pending.len; i++) {
		if (!r)
			r = fth_live_db_add_line(l->db, l->pending.data[i], err);
		free(l->pending.data[i]);
	}
	fth_vec_recycle(&l->pending);
	if (!r)
		r = write_facts(l, err);
	return r ? r : fth_live_db_commit(l->db, err);
}

/* ---- as a text journal ---- */

bool fth_live_is(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char begin[sizeof(magic)] = {0};
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(begin, 1, sizeof(begin), f) : 0;
	if (f)
		fclose(f);
	return n == sizeof(begin) && !memcmp(begin, magic, sizeof(magic));
}

static int add_line(void *arg, uint64_t seq, const char *line, struct fth_error *err)
{
	(void)seq, (void)err;
	fth_str_add(arg, line);
	fth_str_addc(arg, '\n');
	return 0;
}

int fth_live_text(const char *path, struct fth_str *ret, struct fth_error *err)
{
	struct fth_live_db *db;
	int r = fth_live_db_open(&db, path, false, err);
	if (r)
		return r;
	r = head_text(db, ret, path, err);
	if (!r)
		r = fth_live_db_lines(db, add_line, ret, err);
	fth_live_db_close(db);
	return r;
}
