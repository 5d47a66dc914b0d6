/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/learn.h"

#include "predict/runtime.h"

struct fth_learner {
	struct fth_observer base;
	struct fth_runtime_predictor *predictor;
	int64_t epoch;
};

static uint64_t hash_of(const struct fth_symtab *syms, fth_sym sym, uint64_t seed)
{
	const char *s = sym ? fth_sym_str(syms, sym) : NULL;
	return s ? fth_hash_bytes(s, strlen(s), seed) | 1 : 0;
}

static struct fth_runtime_job describe(const struct fth_learner *l, const struct fth_symtab *syms, fth_sym user, const struct fth_kind *k, fth_time at)
{
	return (struct fth_runtime_job){.user = hash_of(syms, user, 2), .name = hash_of(syms, k->label, 4), .klass = hash_of(syms, k->klass, 3),
					.hour = (unsigned)((l->epoch + at) / FTH_HOUR % 24)};
}

static void after_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct fth_learner *l = (struct fth_learner *)o;
	const struct fth_job *j = ev->kind == FTH_EV_JOB_DONE ? fth_cluster_job(c, ev->job) : NULL;
	fth_time ran = 0;
	if (!j || !j->ntasks)
		return;
	for (uint32_t n = 0; n < j->ntasks; n++)
		ran += fth_cluster_task(c, j->first_task + n)->ran / j->ntasks;
	const struct fth_kind *k = &c->kinds->list.data[fth_cluster_task(c, j->first_task)->kind];
	struct fth_runtime_job job = describe(l, c->syms, j->user, k, j->submitted);
	fth_predictor_learn(l->predictor, &job, ran);
}

struct fth_learner *fth_learner_new(int64_t epoch_us)
{
	struct fth_learner *l = fth_alloc(sizeof(*l));
	l->base.after_event = after_event;
	l->predictor = fth_predictor_new();
	l->epoch = epoch_us;
	return l;
}

void fth_learner_free(struct fth_learner *l)
{
	if (!l)
		return;
	fth_predictor_free(l->predictor);
	free(l);
}

struct fth_observer *fth_learner_observer(struct fth_learner *l)
{
	return &l->base;
}

fth_time fth_learner_guess(const struct fth_learner *l, const struct fth_world *w, fth_time now)
{
	const struct fth_job_spec *spec = &w->workload.jobs.data[0];
	const struct fth_kind *k = &w->kinds.list.data[w->workload.groups.data[spec->first_group].kind];
	struct fth_runtime_job job = describe(l, w->syms, spec->user, k, now);
	return fth_predictor_guess(l->predictor, &job).runtime;
}

/* ---- the tally ---- */

static void tally_submit(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *j)
{
	(void)c, (void)j;
	((struct fth_tally *)o)->submitted++;
}

static void job_ended(struct fth_tally *t, const struct fth_cluster *c, const struct fth_event *ev)
{
	const struct fth_job *j = fth_cluster_job(c, ev->job);
	struct fth_tally_job *to = &t->jobs[t->next++ % FTH_TALLY_JOBS];
	uint64_t code = 0;
	free(to->key);
	free(to->user);
	fth_map_get(&t->exits, ev->job, &code);
	fth_map_del(&t->exits, ev->job);
	*to = (struct fth_tally_job){.key = fth_strdup(fth_sym_str(c->syms, j->name)), .user = fth_strdup(fth_sym_str(c->syms, j->user)),
				     .id = j->id, .ntasks = j->ntasks, .exit = (int)code, .cancelled = ev->kind == FTH_EV_JOB_CANCELLED,
				     .submitted = j->submitted, .ended = ev->time};
	t->done += ev->kind == FTH_EV_JOB_DONE;
	t->cancelled += ev->kind == FTH_EV_JOB_CANCELLED;
}

static void tally_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct fth_tally *t = (struct fth_tally *)o;
	if (ev->kind == FTH_EV_JOB_DONE || ev->kind == FTH_EV_JOB_CANCELLED)
		job_ended(t, c, ev);
	else if (ev->kind == FTH_EV_INSTANCE_ACQUIRED)
		t->launched[c->catalog.offers.data[fth_cluster_instance(c, ev->instance)->offer].market]++;
	else if (ev->kind == FTH_EV_INSTANCE_REVOKED)
		t->revoked++;
	else if (ev->kind == FTH_EV_TASK_LOST)
		t->tasks_lost++;
}

static void tally_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan, const uint8_t *verdicts,
		       const struct fth_action *accepted, size_t n)
{
	(void)c, (void)now, (void)plan, (void)verdicts;
	for (size_t i = 0; i < n; i++)
		((struct fth_tally *)o)->moves += accepted[i].kind == FTH_ACT_MIGRATE || accepted[i].kind == FTH_ACT_PREEMPT;
}

static void tally_charge(struct fth_observer *o, const struct fth_cluster *c, const struct fth_charge *charge)
{
	((struct fth_tally *)o)->charged[c->catalog.offers.data[charge->offer].market] += charge->amount;
}

struct fth_tally *fth_tally_new(void)
{
	struct fth_tally *t = fth_alloc(sizeof(*t));
	t->base = (struct fth_observer){.after_event = tally_event, .on_submit = tally_submit, .on_plan = tally_plan, .on_charge = tally_charge};
	return t;
}

void fth_tally_free(struct fth_tally *t)
{
	for (size_t i = 0; t && i < FTH_TALLY_JOBS; i++) {
		free(t->jobs[i].key);
		free(t->jobs[i].user);
	}
	if (t)
		fth_map_release(&t->exits);
	free(t);
}

void fth_tally_exit(struct fth_tally *t, fth_job_id job, int code)
{
	fth_map_put(&t->exits, job, (uint64_t)(unsigned)code);
}
