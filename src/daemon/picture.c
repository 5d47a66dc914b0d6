/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/picture.h"

#include "daemon/keeper.h"
#include "daemon/log.h"

void fth_pictures_init(struct fth_pictures *p)
{
	p->last = NULL;
	pthread_mutex_init(&p->lock, NULL);
}

void fth_pictures_release(struct fth_pictures *p)
{
	fth_picture_drop(p->last);
	pthread_mutex_destroy(&p->lock);
}

struct fth_picture *fth_picture_get(struct fth_pictures *p)
{
	pthread_mutex_lock(&p->lock);
	struct fth_picture *last = p->last;
	if (last)
		atomic_fetch_add(&last->users, 1);
	pthread_mutex_unlock(&p->lock);
	return last;
}

void fth_picture_drop(struct fth_picture *p)
{
	if (!p || atomic_fetch_sub(&p->users, 1) > 1)
		return;
	fth_vec_release(&p->jobs);
	fth_vec_release(&p->instances);
	fth_arena_release(&p->arena);
	free(p);
}

static const char *keep(struct fth_picture *p, const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(fth_arena_alloc(&p->arena, n), s, n);
}

static int64_t wall(const struct fth_keeper *k, fth_time t)
{
	return t == FTH_NEVER ? 0 : k->epoch + t;
}

static void count_tasks(const struct fth_keeper *k, const struct fth_job *j, struct fth_picture_job *to, struct fth_str *where, struct fth_picture *p)
{
	bool bound = false;
	fth_instance_id last = FTH_NONE;
	for (uint32_t n = 0; n < j->ntasks; n++) {
		const struct fth_task *t = fth_cluster_task(k->cluster, j->first_task + n);
		bool runs = t->state == FTH_TASK_RUNNING || t->state == FTH_TASK_STARTING || t->state == FTH_TASK_STOPPING;
		to->running += runs;
		to->done += t->state == FTH_TASK_DONE;
		bound |= t->state == FTH_TASK_BOUND;
		p->waiting += t->state == FTH_TASK_WAITING;
		p->bound += t->state == FTH_TASK_BOUND;
		p->running += runs;
		fth_instance_id on = t->on != FTH_NONE ? t->on : t->target;
		if (on != FTH_NONE && on != last && where->len < 200)
			fth_str_addf(where, "%si%u", where->len ? "," : "", on);
		last = on;
	}
	to->state = to->running ? "running" : bound ? "bound" : "waiting";
}

static void add_jobs(const struct fth_keeper *k, struct fth_picture *p)
{
	struct fth_str where = {0};
	for (fth_job_id id = k->cluster->view.first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(k->cluster, id);
		struct fth_picture_job to = {.ntasks = j->ntasks, .submitted = wall(k, j->submitted), .estimate = (double)j->estimate / 1e6};
		fth_str_clear(&where);
		count_tasks(k, j, &to, &where, p);
		to.key = keep(p, fth_sym_str(k->cluster->syms, j->name));
		to.user = keep(p, fth_sym_str(k->cluster->syms, j->user));
		to.where = where.len ? keep(p, where.data) : "";
		fth_vec_push(&p->jobs, to);
		id = j->next;
	}
	fth_str_release(&where);
	const struct fth_tally *t = k->tally;
	for (size_t i = t->next > FTH_TALLY_JOBS ? t->next - FTH_TALLY_JOBS : 0; i < t->next; i++) {
		const struct fth_tally_job *j = &t->jobs[i % FTH_TALLY_JOBS];
		fth_vec_push(&p->jobs, ((struct fth_picture_job){.key = keep(p, j->key), .user = keep(p, j->user), .where = "", .ntasks = j->ntasks,
								 .done = j->cancelled ? 0 : j->ntasks, .exit = j->exit,
								 .state = j->cancelled ? "cancelled" : j->exit ? "failed" : "done",
								 .submitted = wall(k, j->submitted), .ended = wall(k, j->ended)}));
	}
	/* What was refused waits for its driver to drop it; what is held, for its user. */
	for (size_t i = 0; i < k->jobs.len; i++) {
		const struct fth_listed_job *j = k->jobs.data[i];
		if (j->id != FTH_NONE || (!j->refused && j->state != FTH_JOB_HELD))
			continue;
		fth_vec_push(&p->jobs, ((struct fth_picture_job){.key = keep(p, j->key), .user = "", .where = "", .state = j->refused ? "refused" : "held"}));
	}
}

static double share_used(const struct fth_keeper *k, const struct fth_instance *i)
{
	const struct fth_res *room = &k->cluster->catalog.types.data[i->type].capacity;
	double most = 0;
	for (int r = 0; r < FTH_RES_MAX; r++)
		if (room->v[r] > 0)
			most = FTH_MAX(most, (double)i->held.v[r] / (double)room->v[r]);
	return most;
}

static void add_instances(const struct fth_keeper *k, struct fth_picture *p)
{
	static const char *const states[] = {"requested", "booting", "ready", "draining", "terminating", "gone"};
	static const char *const markets[] = {"on-demand", "spot", "reserved"};
	struct fth_str name = {0};
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		const struct fth_offer *o = &k->cluster->catalog.offers.data[i->offer];
		const struct fth_rented *r = fth_rented_of(k, id);
		fth_str_clear(&name);
		fth_offer_name(k->cluster, i->offer, &name);
		struct fth_picture_instance to = {.id = id, .node = r && r->node ? keep(p, r->node) : "", .offer = keep(p, name.data),
						  .market = markets[o->market], .state = states[i->state], .price = o->price, .tasks = i->nheld,
						  .used = share_used(k, i), .requested = wall(k, i->requested),
						  .acquired = wall(k, i->acquired), .ready = wall(k, i->ready), .revoked = i->revoked};
		to.accrued = fth_ledger_accrued(fth_engine_ledger(k->engine), id, k->now);
		if (i->acquired != FTH_NEVER) {
			p->hourly[o->market] += o->price;
			p->accrued[o->market] += to.accrued;
		}
		p->by_state[i->state]++;
		fth_vec_push(&p->instances, to);
		id = i->next;
	}
	fth_str_release(&name);
}

static void add_figures(const struct fth_keeper *k, struct fth_picture *p)
{
	const struct fth_engine_stats *s = fth_engine_stats(k->engine);
	const struct fth_tally *t = k->tally;
	p->fell_back = s->fell_back;
	p->submitted = t->submitted;
	p->done = t->done;
	p->cancelled = t->cancelled;
	p->tasks_lost = t->tasks_lost;
	p->moves = t->moves;
	p->revoked = t->revoked;
	memcpy(p->launched, t->launched, sizeof(p->launched));
	memcpy(p->charged, t->charged, sizeof(p->charged));
	memcpy(p->rejected_by, s->rejected_by, sizeof(p->rejected_by));
	memcpy(p->launches_failed, k->stats.launches_failed, sizeof(p->launches_failed));
	memcpy(p->round_buckets, k->stats.round_buckets, sizeof(p->round_buckets));
	p->rounds = k->stats.rounds;
	p->round_ns = k->stats.round_ns;
	p->round_worst_ns = k->stats.round_worst_ns;
	p->commit_worst_ns = k->stats.commit_worst_ns;
	p->drivers_lost = k->stats.drivers_lost;
	p->requests_failed = k->stats.requests_failed;
	p->refused_events = k->stats.refused_events;
	p->lines = fth_live_lines(k->live);
	p->limits = *fth_engine_limits(k->engine);
}

void fth_picture_take(struct fth_keeper *k)
{
	struct fth_picture *p = fth_alloc(sizeof(*p)), *was;
	p->users = 1;
	p->at = k->epoch + k->now;
	p->cluster = keep(p, k->cfg->cluster);
	p->policy = keep(p, fth_live_policy(k->live));
	p->journal = keep(p, k->journal);
	p->paused = k->paused;
	for (int r = 0; r < FTH_NROLES; r++)
		p->up[r] = fth_side_is_well(k, (enum fth_role)r);
	add_jobs(k, p);
	add_instances(k, p);
	add_figures(k, p);
	pthread_mutex_lock(&k->pictures.lock);
	was = k->pictures.last;
	k->pictures.last = p;
	pthread_mutex_unlock(&k->pictures.lock);
	fth_picture_drop(was);
	k->published_ns = k->now_ns;
	k->dirty = false;
}
