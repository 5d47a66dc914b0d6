/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "trace/fields.h"

enum { REFUSALS_TOLD = 16 }; /* of a reason, in a round; the others are counted */

static void flush(struct fth_recorder *r)
{
	r->emit(r->arg, r->line.data, r->line.len);
}

static void begin(struct fth_recorder *r, const char *fmt, ...) FTH_PRINTF(2, 3);
static void begin(struct fth_recorder *r, const char *fmt, ...)
{
	char buf[96];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fth_str_clear(&r->line);
	fth_str_add(&r->line, buf);
}

/* Only events that carry one of these say so. */
static void add_event(struct fth_str *s, const struct fth_event *ev)
{
	fth_str_addf(s, "E %lld %s", (long long)ev->time, fth_event_name(ev->kind));
	if (ev->job != FTH_NONE)
		fth_str_addf(s, " job=%u", ev->job);
	if (ev->task != FTH_NONE)
		fth_str_addf(s, " task=%u", ev->task);
	if (ev->instance != FTH_NONE)
		fth_str_addf(s, " instance=i%u", ev->instance);
	if (ev->offer != FTH_NONE)
		fth_str_addf(s, " offer=%u", ev->offer);
	if (ev->kind == FTH_EV_LAUNCH_FAILED)
		fth_str_addf(s, " why=%d", (int)ev->why);
	if (ev->kind == FTH_EV_OFFER_CHANGED)
		fth_str_addf(s, " price=%lld available=%d", (long long)ev->price, ev->available);
	if (ev->kind == FTH_EV_REVOCATION_NOTICE)
		fth_str_addf(s, " at=%lld", (long long)ev->at);
	if (ev->kind == FTH_EV_THROUGHPUT) {
		fth_str_add(s, " rate=");
		fth_str_real(s, ev->rate);
	}
}

static bool parse_i64(const char *line, const char *key, int64_t *ret)
{
	const char *p = strstr(line, key);
	if (!p)
		return false;
	p += strlen(key);
	return !fth_parse_i64(p, strcspn(p, " "), ret);
}

static uint32_t parse_id(const char *line, const char *key)
{
	int64_t v;
	return parse_i64(line, key, &v) && v >= 0 && v < FTH_NONE ? (uint32_t)v : FTH_NONE;
}

bool fth_record_parse_event(const char *line, struct fth_event *ret)
{
	struct fth_event ev = {.kind = FTH_EV_NKINDS};
	if (strncmp(line, "E ", 2))
		return false;
	const char *time = line + 2, *name = time + strcspn(time, " ");
	if (*name != ' ' || fth_parse_i64(time, (size_t)(name - time), &ev.time))
		return false;
	size_t n = strcspn(++name, " ");
	for (int k = 0; k < FTH_EV_NKINDS; k++) {
		const char *known = fth_event_name((enum fth_event_kind)k);
		if (strlen(known) == n && !memcmp(known, name, n))
			ev.kind = (enum fth_event_kind)k;
	}
	if (ev.kind == FTH_EV_NKINDS)
		return false;
	ev.job = parse_id(line, " job=");
	ev.task = parse_id(line, " task=");
	ev.instance = parse_id(line, " instance=i");
	ev.offer = parse_id(line, " offer=");
	int64_t v;
	if (parse_i64(line, " why=", &v))
		ev.why = (enum fth_launch_failure)v;
	if (parse_i64(line, " available=", &v))
		ev.available = v != 0;
	if (parse_i64(line, " price=", &v))
		ev.price = v;
	if (parse_i64(line, " at=", &v))
		ev.at = v;
	const char *rate = strstr(line, " rate=");
	if (rate && fth_parse_real(rate + 6, strcspn(rate + 6, " "), &ev.rate))
		return false;
	*ret = ev;
	return true;
}

void fth_limits_write(struct fth_str *s, const struct fth_limits *l)
{
	fth_str_addf(s, "usd_per_hour=%lld usd_per_month=%lld moves_per_hour=%u disturbed_ppm=%u epoch_us=%lld max_instances=%u",
		     (long long)l->usd_per_hour, (long long)l->usd_per_month, l->moves_per_hour, l->disturbed_ppm,
		     (long long)l->epoch_us, l->max_instances);
}

bool fth_limits_parse(const char *text, struct fth_limits *ret)
{
	long long hour, month, epoch;
	struct fth_limits l = {0};
	int end = 0;
	if (sscanf(text, "usd_per_hour=%lld usd_per_month=%lld moves_per_hour=%u disturbed_ppm=%u epoch_us=%lld max_instances=%u%n", &hour,
		   &month, &l.moves_per_hour, &l.disturbed_ppm, &epoch, &l.max_instances, &end) != 6 ||
	    text[end] || hour < 0 || month < 0 || epoch < 0)
		return false;
	l.usd_per_hour = hour;
	l.usd_per_month = month;
	l.epoch_us = epoch;
	*ret = l;
	return true;
}

bool fth_record_parse_order(const char *line, fth_time *now, struct fth_action *ret, char **by)
{
	struct fth_action a = {.kind = FTH_ACT_NKINDS, .task = FTH_NONE, .instance = FTH_NONE};
	char verdict[32], kind[32];
	long long at;
	if (sscanf(line, "O %lld %31s %31s", &at, verdict, kind) != 3)
		return false;
	for (int k = 0; k < FTH_ACT_NKINDS; k++)
		if (!strcmp(kind, fth_action_name((enum fth_action_kind)k)))
			a.kind = (enum fth_action_kind)k;
	const char *who = strstr(line, " by=");
	if (a.kind == FTH_ACT_NKINDS || !who)
		return false;
	a.task = parse_id(line, " task=");
	a.instance = parse_id(line, " instance=i");
	char *name = fth_strdup(who + 4);
	if (fth_name_decode(name) < 0) {
		free(name);
		return false;
	}
	*now = at;
	*ret = a;
	*by = name;
	return true;
}

/* ---- what the observers are shown ---- */

static void before_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	struct fth_recorder *r = (struct fth_recorder *)o;
	bool own = ev->kind == FTH_EV_JOB_SUBMITTED || ev->kind == FTH_EV_TIMER; /* the engine's: S and R lines */
	if (r->depth++ || own)
		return;
	fth_str_clear(&r->line);
	add_event(&r->line, ev);
	flush(r);
}

static void after_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	struct fth_recorder *r = (struct fth_recorder *)o;
	r->depth--;
	r->done_jobs += ev->kind == FTH_EV_JOB_DONE;
}

static void on_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *j)
{
	struct fth_recorder *r = (struct fth_recorder *)o;
	begin(r, "S %lld index=%llu estimate=%lld job=", (long long)j->submitted, (unsigned long long)r->submits++,
	      (long long)j->estimate);
	fth_name_write(&r->line, fth_sym_str(c->syms, j->name));
	flush(r);
}

static void add_offer(struct fth_str *s, const struct fth_cluster *c, fth_offer_id id)
{
	if (id >= c->catalog.offers.len) {
		fth_str_addf(s, "%u?", id);
		return;
	}
	const struct fth_offer *o = &c->catalog.offers.data[id];
	static const char *const markets[] = {"", ":spot", ":reserved"};
	fth_name_write(s, fth_sym_str(c->syms, c->catalog.types.data[o->type].name));
	if (o->zone) {
		fth_str_addc(s, '@');
		fth_name_write(s, fth_sym_str(c->syms, o->zone));
	}
	fth_str_add(s, markets[o->market]);
}

static void add_action(struct fth_str *s, const struct fth_cluster *c, const struct fth_plan *p,
		       const struct fth_action *a, uint8_t verdict)
{
	fth_str_addf(s, "A %s %s", fth_refusal_name((enum fth_refusal)verdict), fth_action_name(a->kind));
	const struct fth_task *t = a->task == FTH_NONE ? NULL : fth_cluster_task(c, a->task);
	if (a->task != FTH_NONE)
		fth_str_addf(s, " task=%u", a->task);
	if (a->instance != FTH_NONE)
		fth_str_addf(s, " instance=i%u", a->instance);
	for (uint32_t k = 0; k < a->noffers; k++) {
		fth_str_add(s, k ? "," : " offers=");
		add_offer(s, c, p->offers.data[a->first_offer + k]);
	}
	if (a->kind == FTH_ACT_WAKE || (a->kind == FTH_ACT_PLACE && a->at))
		fth_str_addf(s, " at=%lld", (long long)a->at);
	if (t) {
		fth_str_add(s, " job=");
		fth_name_write(s, fth_sym_str(c->syms, fth_cluster_job(c, t->job)->name));
	}
	if (a->reason.text) {
		fth_str_add(s, " | ");
		size_t from = s->len;
		fth_reason_text(&a->reason, s);
		for (; from < s->len; from++) /* whatever a policy says, it is one line */
			if ((unsigned char)s->data[from] < ' ')
				s->data[from] = ' ';
	}
}

static void on_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
		    const uint8_t *verdicts, const struct fth_action *accepted, size_t naccepted)
{
	(void)accepted, (void)naccepted;
	struct fth_recorder *r = (struct fth_recorder *)o;
	begin(r, "R %lld", (long long)now);
	flush(r);
	/* A plan that runs into a limit can be refused in tens of thousands of actions, round after round: some tell the story. */
	uint64_t refused[FTH_REFUSED_NKINDS] = {0};
	for (size_t i = 0; i < plan->actions.len; i++) {
		if (verdicts[i] != FTH_ACCEPTED && ++refused[verdicts[i]] > REFUSALS_TOLD)
			continue;
		fth_str_clear(&r->line);
		add_action(&r->line, c, plan, &plan->actions.data[i], verdicts[i]);
		flush(r);
	}
	for (int k = 1; k < FTH_REFUSED_NKINDS; k++)
		if (refused[k] > REFUSALS_TOLD) {
			begin(r, "X %s=%llu", fth_refusal_name((enum fth_refusal)k), (unsigned long long)(refused[k] - REFUSALS_TOLD));
			flush(r);
		}
	for (size_t i = 0; i < plan->notes.len; i++) {
		begin(r, "N ");
		fth_name_write(&r->line, plan->notes.data[i].name);
		fth_str_addc(&r->line, '=');
		fth_str_real(&r->line, plan->notes.data[i].value);
		flush(r);
	}
}

static void on_fallback(struct fth_observer *o, const char *why)
{
	struct fth_recorder *r = (struct fth_recorder *)o;
	fth_str_clear(&r->line);
	fth_str_addf(&r->line, "F %s", why);
	flush(r);
}

static void on_order(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_action *a,
		     enum fth_refusal verdict, const char *by)
{
	(void)c;
	struct fth_recorder *r = (struct fth_recorder *)o;
	begin(r, "O %lld %s %s", (long long)now, fth_refusal_name(verdict), fth_action_name(a->kind));
	if (a->task != FTH_NONE)
		fth_str_addf(&r->line, " task=%u", a->task);
	if (a->instance != FTH_NONE)
		fth_str_addf(&r->line, " instance=i%u", a->instance);
	fth_str_add(&r->line, " by=");
	fth_name_write(&r->line, by);
	flush(r);
}

static void on_policy(struct fth_observer *o, fth_time now, const char *text)
{
	struct fth_recorder *r = (struct fth_recorder *)o;
	begin(r, "P %lld ", (long long)now);
	fth_str_add(&r->line, text);
	flush(r);
}

static void on_limits(struct fth_observer *o, fth_time now, const struct fth_limits *limits)
{
	struct fth_recorder *r = (struct fth_recorder *)o;
	begin(r, "L %lld ", (long long)now);
	fth_limits_write(&r->line, limits);
	flush(r);
}

static void on_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	(void)c;
	struct fth_recorder *r = (struct fth_recorder *)o;
	fth_str_clear(&r->line);
	fth_str_addf(&r->line, "C instance=i%u from=%lld to=%lld billed=%lld usd=", charge->instance,
		     (long long)charge->from, (long long)charge->to, (long long)charge->billed);
	fth_str_usd(&r->line, charge->amount);
	flush(r);
}

void fth_recorder_init(struct fth_recorder *r, void (*emit)(void *arg, const char *line, size_t n), void *arg)
{
	*r = (struct fth_recorder){
		.base = {.before_event = before_event,
			 .after_event = after_event,
			 .on_submit = on_submit,
			 .on_plan = on_plan,
			 .on_fallback = on_fallback,
			 .on_order = on_order,
			 .on_policy = on_policy,
			 .on_limits = on_limits,
			 .on_charge = on_charge},
		.emit = emit,
		.arg = arg,
	};
}

void fth_recorder_release(struct fth_recorder *r)
{
	fth_str_release(&r->line);
}

void fth_recorder_end(struct fth_recorder *r, const struct fth_engine *e)
{
	begin(r, "end jobs=%llu usd=", (unsigned long long)r->done_jobs);
	fth_str_usd(&r->line, fth_engine_ledger(e)->total);
	flush(r);
}

/* ---- the world ---- */

int fth_world_text(const struct fth_world *w, struct fth_str text[3], struct fth_error *err)
{
	struct fth_output *o;
	fth_output_open_memory(&o, &text[0]);
	int r = fth_write_catalog(&w->catalog, o, err), c = fth_output_commit(o, err);
	if (!r && !c && w->has_profile) {
		fth_output_open_memory(&o, &text[1]);
		r = fth_write_profile(&w->profile, o, err);
		c = fth_output_commit(o, err);
	}
	if (!r && !c && w->workload.jobs.len) {
		fth_output_open_memory(&o, &text[2]);
		r = fth_write_workload(&w->workload, o, err);
		c = fth_output_commit(o, err);
	}
	return r ? r : c;
}

static int read_part(struct fth_world *w, int part, const struct fth_str *text, const char *name, struct fth_error *err)
{
	static const char *const parts[] = {"catalog", "profile", "workload"};
	struct fth_input *in;
	struct fth_str where = {0}; /* lines are counted within the part */
	fth_str_addf(&where, "%s (%s)", name, parts[part]);
	int r = fth_input_open_memory(&in, where.data, text->data ? text->data : "", text->len, err);
	fth_str_release(&where);
	if (r)
		return r;
	if (part == 0)
		r = fth_read_catalog(&w->catalog, in, FTH_FORMAT_FARTHING_CATALOG, NULL, err);
	else if (part == 1)
		r = fth_read_profile(&w->profile, in, FTH_FORMAT_FARTHING_PROFILE, err);
	else
		r = fth_read_workload(&w->workload, in, FTH_FORMAT_FARTHING_WORKLOAD, NULL, err);
	fth_input_close(in);
	return r;
}

int fth_world_from_text(struct fth_world *w, const struct fth_str text[3], const char *name, bool jobs_follow,
			struct fth_error *err)
{
	fth_world_init(w);
	int r = read_part(w, 0, &text[0], name, err);
	w->has_profile = text[1].len > 0;
	if (!r && w->has_profile)
		r = read_part(w, 1, &text[1], name, err);
	if (!r && jobs_follow) /* the first job may name any of the catalog's resources */
		fth_kinds_adopt_resources(&w->kinds, w->catalog.pub.nres, w->catalog.pub.res_names);
	if (!r && (text[2].len || !jobs_follow))
		r = read_part(w, 2, &text[2], name, err);
	if (r)
		fth_world_release(w);
	return r;
}
