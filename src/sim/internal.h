/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulator share. */
#ifndef FTH_SIM_INTERNAL_H
#define FTH_SIM_INTERNAL_H

#include "sim/sim.h"

/* What a heap item is about (item.a); b is the entity, c its generation. */
enum what { ACQUIRED, READY, GONE, LAUNCHED, ACTIVE, STOPPED, LEFT, COMPLETE, MARKET, NOTICE, REVOKED };
enum rank { RANK_OUTCOME = 0, RANK_ARRIVAL = 1, RANK_ROUND = 2, RANK_COMPLETION = 3, RANK_SETTLED = 4 };

/* The simulator's side of a task, by slot. Tasks that advance together share the track (progress) of
 * the job's first task. */
struct sim_task {
	uint32_t gen;      /* of its pending start or stop outcomes */
	uint32_t track_gen; /* of the pending completion and activation */
	bool launched;     /* interferes, is observed */
	bool stopping;
	bool active;       /* the track makes progress */
	bool track_dirty;
	uint32_t nlaunched; /* of a job that advances together */
	double raw;        /* speed of this task, by family and neighbours */
	double shown;      /* last speed reported; negative none */
	double total, done, saved; /* iterations, or microseconds at full speed */
	double full;       /* iterations per second; 0: work is time */
	double inc;        /* progress per step, or per microsecond */
	fth_time last;     /* done is as of here */
	fth_time not_before; /* it is not to start earlier */
	fth_time init_from; /* activation is due init after the last launch */
};

struct sim_instance {
	uint32_t gen;
	bool dirty, going;
	bool waited_for; /* something bound to it may be able to start: in sim.starts */
	FTH_VEC(fth_task_id) held;
	FTH_VEC(fth_sym) images;
	uint32_t pending; /* scratch of the all-at-once start: index into sim.pending */
};

/* What the market says of an offer now. */
struct sim_offer {
	fth_price price, bid; /* FTH_NEVER: no bid, so no price takes it away */
	bool probed;          /* the last probe found it */
};

struct sim {
	const struct fth_world *world;
	const struct fth_sim_params *params;
	const struct fth_profile *profile; /* the truth; NULL: no interference */
	struct fth_engine *engine;
	const struct fth_cluster *cluster;
	struct fth_heap heap;
	/* Outcomes of the present instant that were set up in it: they come after those of the heap, in order. */
	FTH_VEC(struct fth_heap_item) soon;
	size_t soon_at;
	struct fth_workload_source source;
	struct fth_job_source *jobs; /* that, or a stream of the world's */
	struct fth_job_item next; /* the next arrival */
	bool has_next, tell_runtime, knows_runtime;
	bool silent; /* the policy ignores speeds: full speed is not reported */
	fth_time now, step;
	fth_time ended_at; /* the last instant at which something ended */
	uint64_t jobs_done, jobs_total;
	uint32_t services; /* jobs that never end */
	FTH_VEC(struct sim_task) tasks;
	FTH_VEC(struct sim_instance) instances;
	FTH_VEC(fth_instance_id) dirty;
	FTH_VEC(fth_task_id) dirty_tracks;
	FTH_VEC(fth_instance_id) starts; /* instances on which something may start at the end of this instant */
	FTH_VEC(struct fth_res) pending; /* what a rigid job would take of an instance */
	FTH_VEC(fth_sym) rank_of; /* class symbol -> place in the order of class names */
	FTH_VEC(struct sim_offer) offers;
	struct fth_market_tape tape;
	size_t tape_pos;
	FTH_VEC(fth_instance_id) touched; /* scratch of a revocation */
	struct fth_error *err;
};

static inline struct sim_task *fth_sim_task(struct sim *s, const struct fth_task *t)
{
	return &s->tasks.data[t->slot];
}
static inline struct sim_instance *fth_sim_instance(struct sim *s, const struct fth_instance *i)
{
	while (s->instances.len <= i->slot)
		fth_vec_push(&s->instances, (struct sim_instance){0});
	return &s->instances.data[i->slot];
}
/* The task whose track the task's progress is booked on. */
const struct fth_task *fth_sim_lead(const struct sim *s, const struct fth_task *t);
int fth_sim_feed(struct sim *s, enum fth_event_kind kind, fth_task_id task, fth_instance_id instance);

/* Put something on the clock this long from now; what would be after the end of time never happens. */
void fth_sim_schedule(struct sim *s, fth_time delay, enum rank rank, enum what what, uint32_t entity, uint32_t gen);
/* Something came between, and it will not happen. */
bool fth_sim_is_void(const struct sim *s, const struct fth_heap_item *item);
/* A delay times a parameter. */
fth_time fth_sim_scaled(fth_time t, double scale);
/* A pause of a task: scaled, and drawn if the parameters say so; by task, move and kind of pause. */
enum pause { PAUSE_START = 16, PAUSE_INIT, PAUSE_STOP, PAUSE_SAVE }; /* also the streams of their draws */
fth_time fth_sim_pause(const struct sim *s, const struct fth_task *t, enum pause which, fth_time delay);

/* cloud.c: instances and the starting and stopping of tasks */
int fth_cloud_act(struct sim *s, const struct fth_accepted *acts);
int fth_cloud_outcome(struct sim *s, const struct fth_heap_item *item);
/* At the end of an instant: start what is bound and has room now, by order of commitment. */
int fth_cloud_start(struct sim *s);
/* The task no longer holds room there. */
void fth_cloud_released(struct sim *s, const struct fth_task *t, fth_instance_id from);
/* After anything was freed on an instance: others may start, or it may go. */
int fth_cloud_after_release(struct sim *s, fth_instance_id from);

/* market.c: prices, availability, revocations */
int fth_market_start(struct sim *s);
int fth_market_outcome(struct sim *s, const struct fth_heap_item *item);
void fth_market_acquired(struct sim *s, const struct fth_instance *i);

/* progress.c: speeds, progress, completion */
void fth_progress_submit(struct sim *s, const struct fth_job *j, const struct fth_job_item *item);
void fth_progress_launched(struct sim *s, const struct fth_task *t);
void fth_progress_saved(struct sim *s, const struct fth_task *t);
bool fth_progress_stopped(struct sim *s, const struct fth_task *t, bool saved);
int fth_progress_complete(struct sim *s, const struct fth_task *t);
int fth_progress_outcome(struct sim *s, const struct fth_heap_item *item);
void fth_progress_touch(struct sim *s, const struct fth_instance *i);
int fth_progress_settle(struct sim *s);
void fth_progress_rank_classes(struct sim *s);

#endif
