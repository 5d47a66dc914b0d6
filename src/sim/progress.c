/* SPDX-License-Identifier: Apache-2.0 */
/* How fast launched tasks are, how far they got, and when they end. See README.md. */
#include "sim/internal.h"

static struct sim_task *track_of(struct sim *s, const struct fth_task *t)
{
	return fth_sim_task(s, fth_sim_lead(s, t));
}

void fth_progress_submit(struct sim *s, const struct fth_job *j, const struct fth_job_item *item)
{
	const struct fth_job_spec *spec = item->spec;
	fth_task_id id = j->first_task;
	for (uint32_t g = 0; g < spec->ngroups; g++) {
		const struct fth_task_group *group = &item->groups[g];
		for (uint32_t i = 0; i < group->count; i++, id++) {
			struct sim_task *t = fth_sim_task(s, fth_cluster_task(s->cluster, id));
			uint32_t gen = t->gen + 1, track_gen = t->track_gen + 1; /* the slot's last user's are void */
			fth_time work = group->first_own == FTH_NONE ? group->work : item->works[group->first_own + i];
			*t = (struct sim_task){.gen = gen, .track_gen = track_gen, .shown = -1, .raw = 1};
			t->full = spec->iter_rate;
			t->total = spec->iter_rate > 0 ? (double)spec->iters : (double)work;
		}
	}
	/* Together they are done when the longest is. */
	if (fth_job_is_together(j) && !(spec->iter_rate > 0))
		fth_sim_task(s, fth_cluster_task(s->cluster, j->first_task))->total =
			(double)fth_item_runtime(item);
}

static void mark_track(struct sim *s, const struct fth_task *t)
{
	const struct fth_task *lead = fth_sim_lead(s, t);
	struct sim_task *track = fth_sim_task(s, lead);
	if (!track->track_dirty) {
		track->track_dirty = true;
		fth_vec_push(&s->dirty_tracks, lead->id);
	}
}

void fth_progress_touch(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	if (!si->dirty) {
		si->dirty = true;
		fth_vec_push(&s->dirty, i->id);
	}
}

/* Book the progress made since `last`. With a step, whole steps only; the rest goes on counting. */
static void advance(struct sim *s, struct sim_task *track)
{
	if (!track->active || s->now <= track->last)
		return;
	if (s->step) {
		uint64_t n = (uint64_t)((s->now - track->last) / s->step);
		track->done = fth_repeat_add(track->done, track->inc, n);
		track->last += (fth_time)n * s->step;
	} else {
		track->done += track->inc * (double)(s->now - track->last);
		track->last = s->now;
	}
}

static void activate(struct sim *s, const struct fth_task *t, struct sim_task *track)
{
	track->active = true;
	track->last = s->now;
	mark_track(s, t);
}

void fth_progress_launched(struct sim *s, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	struct sim_task *st = fth_sim_task(s, t), *track = track_of(s, t);
	const struct fth_kind *k = &s->cluster->view.kinds[t->kind];
	st->launched = true;
	fth_progress_touch(s, fth_cluster_instance(s->cluster, t->on));
	mark_track(s, t);
	track->nlaunched++;
	fth_time init = fth_sim_pause(s, t, PAUSE_INIT, k->delays.init);
	init = init > FTH_NEVER - s->now ? FTH_NEVER : s->now + init;
	track->init_from = FTH_MAX(track->init_from, init);
	if (fth_job_is_together(j) && track->nlaunched < j->ntasks)
		return;
	if (track->init_from <= s->now)
		activate(s, t, track); /* nothing to wait for */
	else
		fth_sim_schedule(s, track->init_from - s->now, RANK_OUTCOME, ACTIVE, fth_sim_lead(s, t)->id, track->track_gen);
}

/* Its state is safe now; that of tasks which advance together, when the last of them has left. */
void fth_progress_saved(struct sim *s, const struct fth_task *t)
{
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	struct sim_task *track = track_of(s, t);
	for (uint32_t k = 0; fth_job_is_together(j) && k < j->ntasks; k++)
		if (fth_cluster_task(s->cluster, j->first_task + k)->state == FTH_TASK_STOPPING)
			return;
	track->saved = track->done;
}

/* The task runs no more; if it falls, what was not saved is lost. True if it turns out to be done. */
bool fth_progress_stopped(struct sim *s, const struct fth_task *t, bool saved)
{
	struct sim_task *st = fth_sim_task(s, t), *track = track_of(s, t);
	bool ran = track->active;
	if (st->launched)
		advance(s, track);
	if (!saved)
		track->done = track->saved;
	if (!st->launched)
		return false;
	track->active = false;
	track->track_gen++;
	track->nlaunched--;
	track->init_from = 0;
	st->launched = false;
	st->shown = -1;
	fth_progress_touch(s, fth_cluster_instance(s->cluster, t->on));
	mark_track(s, t);
	/* Continuous progress is rounded: less than a microsecond of work is none. */
	return saved && ran && track->done + (s->step ? 0 : track->inc) >= track->total;
}

/* ---- completion ---- */

static int end_task(struct sim *s, fth_task_id id)
{
	const struct fth_task *t = fth_cluster_task(s->cluster, id);
	struct sim_task *st = fth_sim_task(s, t);
	fth_instance_id on = t->on, target = t->target;
	fth_progress_touch(s, fth_cluster_instance(s->cluster, on));
	st->launched = st->stopping = false;
	st->gen++;
	fth_cloud_released(s, t, on);
	int r = fth_sim_feed(s, FTH_EV_TASK_DONE, id, on);
	if (!r)
		r = fth_cloud_after_release(s, on);
	if (!r && target != FTH_NONE && target != on)
		r = fth_cloud_after_release(s, target);
	return r;
}

static int complete(struct sim *s, fth_task_id lead)
{
	const struct fth_task *t = fth_cluster_task(s->cluster, lead);
	const struct fth_job *j = fth_cluster_job(s->cluster, t->job);
	struct sim_task *track = fth_sim_task(s, t);
	track->active = false;
	track->track_gen++;
	int r = 0;
	if (!fth_job_is_together(j)) {
		s->jobs_done += j->tasks_left == 1;
		return end_task(s, lead);
	}
	s->jobs_done++;
	fth_task_id first = j->first_task;
	for (uint32_t k = 0, n = j->ntasks; k < n && !r; k++)
		r = end_task(s, first + k);
	return r;
}

int fth_progress_complete(struct sim *s, const struct fth_task *t)
{
	return complete(s, fth_sim_lead(s, t)->id);
}

int fth_progress_outcome(struct sim *s, const struct fth_heap_item *item)
{
	const struct fth_task *t = fth_cluster_task(s->cluster, item->b);
	struct sim_task *track = fth_sim_task(s, t);
	if (item->a == COMPLETE)
		return complete(s, t->id);
	activate(s, t, track);
	return 0;
}

/* ---- speeds ---- */

void fth_progress_rank_classes(struct sim *s)
{
	const struct fth_kinds *kinds = &s->world->kinds;
	struct fth_symtab *syms = s->world->syms;
	uint32_t nsyms = fth_symtab_count(syms);
	FTH_VEC(fth_sym) classes = {0};
	fth_vec_reserve(&s->rank_of, nsyms);
	memset(s->rank_of.data, 0, nsyms * sizeof(fth_sym));
	s->rank_of.len = nsyms;
	for (size_t k = 0; k < kinds->list.len; k++) {
		fth_sym c = kinds->list.data[k].klass;
		if (s->rank_of.data[c])
			continue;
		s->rank_of.data[c] = 1;
		size_t at = classes.len;
		fth_vec_push(&classes, c);
		for (; at && strcmp(fth_sym_str(syms, classes.data[at - 1]), fth_sym_str(syms, c)) > 0; at--)
			classes.data[at] = classes.data[at - 1];
		classes.data[at] = c;
	}
	for (size_t i = 0; i < classes.len; i++)
		s->rank_of.data[classes.data[i]] = (fth_sym)i;
	fth_vec_release(&classes);
}

static double pair_speed(const struct sim *s, fth_sym victim, fth_sym neighbour)
{
	if (s->params->pair_speed > 0)
		return s->params->pair_speed;
	return s->profile ? fth_profile_rate(s->profile, victim, neighbour) : 1;
}

/* Put the held tasks in the order of their class names: the factors are multiplied in that order. */
static void order_by_class(struct sim *s, struct sim_instance *si)
{
	const struct fth_kind *kinds = s->cluster->view.kinds;
	for (size_t i = 1; i < si->held.len; i++) {
		fth_task_id id = si->held.data[i];
		fth_sym rank = s->rank_of.data[kinds[fth_cluster_task(s->cluster, id)->kind].klass];
		size_t at = i;
		for (; at; at--) {
			const struct fth_task *before = fth_cluster_task(s->cluster, si->held.data[at - 1]);
			if (s->rank_of.data[kinds[before->kind].klass] <= rank)
				break;
			si->held.data[at] = si->held.data[at - 1];
		}
		si->held.data[at] = id;
	}
}

/* What all on an instance lose because they are more than two. */
static double crowding(struct sim *s, const struct sim_instance *si)
{
	double all = 1;
	uint32_t n = 0;
	for (size_t k = 0; s->params->crowd < 1 && k < si->held.len; k++)
		if (fth_sim_task(s, fth_cluster_task(s->cluster, si->held.data[k]))->launched && ++n > 2)
			all *= s->params->crowd;
	return all;
}

static void find_speeds(struct sim *s, const struct fth_instance *i)
{
	struct sim_instance *si = fth_sim_instance(s, i);
	const struct fth_kind *kinds = s->cluster->view.kinds;
	bool interference = s->params->pair_speed > 0 || s->profile;
	double crowd = crowding(s, si);
	if (interference)
		order_by_class(s, si);
	for (size_t a = 0; a < si->held.len; a++) {
		const struct fth_task *t = fth_cluster_task(s->cluster, si->held.data[a]);
		struct sim_task *st = fth_sim_task(s, t);
		if (!st->launched)
			continue;
		double speed = 1;
		for (size_t b = 0; interference && b < si->held.len; b++) {
			const struct fth_task *other = fth_cluster_task(s->cluster, si->held.data[b]);
			if (a != b && fth_sim_task(s, other)->launched)
				speed *= pair_speed(s, kinds[t->kind].klass, kinds[other->kind].klass);
		}
		const struct fth_alt *alt = fth_cluster_alt(s->cluster, t, i->type);
		if (alt->speed_ppm != 1000000)
			speed *= (double)alt->speed_ppm / 1e6;
		if (crowd != 1)
			speed *= crowd;
		if (speed != st->raw || st->shown < 0) {
			st->raw = speed;
			mark_track(s, t);
		}
	}
}

static double track_speed(struct sim *s, const struct fth_task *lead, const struct fth_job *j)
{
	if (!fth_job_is_together(j))
		return fth_sim_task(s, lead)->raw;
	double least = 0;
	bool any = false;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct sim_task *st = fth_sim_task(s, fth_cluster_task(s->cluster, j->first_task + k));
		if (st->launched && (!any || st->raw < least)) {
			least = st->raw;
			any = true;
		}
	}
	return least;
}

static int show_speed(struct sim *s, const struct fth_task *t, double speed)
{
	struct sim_task *st = fth_sim_task(s, t);
	if (!st->launched || st->shown == speed)
		return 0;
	bool first = st->shown < 0;
	st->shown = speed;
	if (s->silent && first && speed == 1)
		return 0;
	/* What is measured is iterations per second; dividing them by the full rate may cost the last bit. */
	if (st->full > 0)
		speed = speed * st->full / st->full;
	struct fth_event ev = {.kind = FTH_EV_THROUGHPUT,
			       .time = s->now,
			       .job = FTH_NONE,
			       .task = t->id,
			       .instance = t->on,
			       .offer = FTH_NONE,
			       .rate = speed};
	return fth_engine_feed(s->engine, &ev, s->err);
}

/* When will it be done at this speed? */
static void predict(struct sim *s, const struct fth_task *lead, struct sim_task *track)
{
	track->track_gen++;
	fth_time after; /* `last` */
	if (s->step) {
		uint64_t n = fth_repeat_until(track->done, track->inc, track->total);
		if (n > (uint64_t)(FTH_NEVER / s->step))
			return;
		after = (fth_time)FTH_MAX(n, 1) * s->step;
	} else {
		double left = FTH_MAX(0, track->total - track->done) / track->inc;
		if (!(left < 9e18))
			return;
		after = (fth_time)left;
		after += (double)after < left;
	}
	fth_sim_schedule(s, FTH_MAX(after - (s->now - track->last), 0), RANK_COMPLETION, COMPLETE, lead->id,
			 track->track_gen);
}

static int settle_track(struct sim *s, fth_task_id id)
{
	const struct fth_task *lead = fth_cluster_task(s->cluster, id);
	if (!lead)
		return 0;
	struct sim_task *track = fth_sim_task(s, lead);
	track->track_dirty = false;
	if (lead->state == FTH_TASK_DONE)
		return 0;
	const struct fth_job *j = fth_cluster_job(s->cluster, lead->job);
	double speed = track_speed(s, lead, j);
	advance(s, track);
	int r = 0;
	for (uint32_t k = 0; fth_job_is_together(j) && k < j->ntasks && !r; k++)
		r = show_speed(s, fth_cluster_task(s->cluster, j->first_task + k), speed);
	if (!r && !fth_job_is_together(j))
		r = show_speed(s, lead, speed);
	if (r || !track->active || j->kind == FTH_JOB_SERVICE)
		return r;
	double inc = track->full > 0 ? speed * track->full : speed;
	if (track->full > 0 && !s->step)
		inc /= 1e6;
	else if (!(track->full > 0) && s->step)
		inc *= (double)s->step;
	track->inc = inc;
	predict(s, lead, track);
	return 0;
}

int fth_progress_settle(struct sim *s)
{
	int r = 0;
	for (size_t k = 0; k < s->dirty.len; k++) {
		const struct fth_instance *i = fth_cluster_instance(s->cluster, s->dirty.data[k]);
		if (!i)
			continue;
		fth_sim_instance(s, i)->dirty = false;
		if (i->state != FTH_INSTANCE_GONE)
			find_speeds(s, i);
	}
	fth_vec_recycle(&s->dirty);
	for (size_t k = 0; k < s->dirty_tracks.len && !r; k++)
		r = settle_track(s, s->dirty_tracks.data[k]);
	fth_vec_recycle(&s->dirty_tracks);
	return r;
}
