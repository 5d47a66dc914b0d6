/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy interface: what a scheduling policy is given, and what it may answer.
 *
 * A policy is one const table of operations. It is pure: events and a read-only view come in, a plan
 * goes out. It reads no clock, file, socket or random device; the one `now` of a round is handed in.
 * It therefore cannot tell a simulated cluster from a real one.
 *
 * The engine judges every action on its own: what is impossible or stale is refused, counted and
 * named, and the rest of the plan stands. Outcomes come back only as events of later rounds.
 *
 * An out-of-tree policy is a shared object that exports
 *
 *     const struct fth_policy_ops *farthing_policy(void);
 *
 * and is loaded with `--policy ./my_policy.so`; it links against nothing, the fth_* functions below
 * are found in the program that loads it.
 */
#ifndef FARTHING_POLICY_H
#define FARTHING_POLICY_H

#include <farthing/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTH_POLICY_ABI 1
#define FTH_EXPORT __attribute__((visibility("default")))

/* ---- events ---------------------------------------------------------------------------- */

enum fth_event_kind {
	FTH_EV_JOB_SUBMITTED = 0,  /* job */
	FTH_EV_JOB_CANCELLED,      /* job */
	FTH_EV_JOB_DONE,           /* job; after the TASK_DONE of its last task */
	FTH_EV_TASK_STARTING,      /* task, instance: it holds room and is brought up */
	FTH_EV_TASK_RUNNING,       /* task, instance: launched */
	FTH_EV_TASK_STOPPED,       /* task, instance: no longer runs, its state is being saved */
	FTH_EV_TASK_LEFT,          /* task, instance: has freed its room; its state is safe */
	FTH_EV_TASK_DONE,          /* task, instance */
	FTH_EV_TASK_LOST,          /* task, instance: fell with its instance; waits again */
	FTH_EV_INSTANCE_ACQUIRED,  /* instance: boots now */
	FTH_EV_INSTANCE_READY,     /* instance */
	FTH_EV_INSTANCE_GONE,      /* instance */
	FTH_EV_LAUNCH_FAILED,      /* instance, offer, why; retried on the next acceptable offer, else gone */
	FTH_EV_REVOCATION_NOTICE,  /* instance, at: it will be taken at that time */
	FTH_EV_INSTANCE_REVOKED,   /* instance: taken; TASK_LOST of its tasks came before */
	FTH_EV_OFFER_CHANGED,      /* offer, price, available */
	FTH_EV_THROUGHPUT,         /* task, rate: observed speed, full = 1; negative: none now */
	FTH_EV_TIMER,              /* a wake-up the policy asked for */
	FTH_EV_NKINDS
};

enum fth_launch_failure {
	FTH_FAIL_NONE = 0,
	FTH_FAIL_CAPACITY,
	FTH_FAIL_QUOTA,
	FTH_FAIL_THROTTLED,
	FTH_FAIL_OTHER
};

struct fth_event {
	enum fth_event_kind kind;
	enum fth_launch_failure why;
	fth_time time;
	fth_job_id job;
	fth_task_id task;
	fth_instance_id instance;
	fth_offer_id offer;
	bool available;
	union {
		double rate;
		fth_price price;
		fth_time at;
	};
};

/* ---- the read-only view ------------------------------------------------------------------- */

struct fth_cluster;  /* opaque; read through the functions below */
struct fth_profile;  /* pairwise co-location profile, where the user gave one */

struct fth_view {
	const struct fth_catalog *catalog;
	const struct fth_kind *kinds; /* nkinds; grows as jobs are submitted, never changes */
	uint32_t nkinds;
	/* Measured speeds of pairs of classes; NULL unless the policy's flags ask for it. */
	const struct fth_profile *profile;
	fth_job_id first_job, last_job;               /* unfinished jobs, by id */
	fth_instance_id first_instance, last_instance; /* instances not gone, by id */
	fth_task_id first_waiting, last_waiting;      /* tasks bound nowhere, longest waiting first */
	uint32_t njobs, ninstances, ntasks, nwaiting; /* now */
	uint32_t job_slots, task_slots, instance_slots; /* slots are below these */
	const struct fth_cluster *cluster;
	/* Instances of which, or of whose tasks, anything has changed since the policy was last asked, in order of their
	 * first change. Some may be gone. Who remembers instances from round to round need look at no others. */
	const fth_instance_id *changed;
	uint32_t nchanged;
};

/* By id; NULL if there is no such entity any more. Instances stay readable for as long as a round
 * may name them, finished tasks and jobs only within the round that reports their end. */
FTH_EXPORT const struct fth_job *fth_view_job(const struct fth_view *v, fth_job_id id);
FTH_EXPORT const struct fth_task *fth_view_task(const struct fth_view *v, fth_task_id id);
FTH_EXPORT const struct fth_instance *fth_view_instance(const struct fth_view *v, fth_instance_id id);
FTH_EXPORT const char *fth_sym_name(const struct fth_view *v, fth_sym sym);

/* What a task of this kind needs on, and how fast it is on, instances of this family or type.
 * NULL: it cannot run there. */
FTH_EXPORT const struct fth_alt *fth_kind_on_family(const struct fth_kind *k, fth_sym family);
FTH_EXPORT const struct fth_alt *fth_kind_on_type(const struct fth_kind *k, const struct fth_instance_type *t);

/* Speed of a task of class a beside one of class b. */
FTH_EXPORT double fth_profile_rate(const struct fth_profile *p, fth_sym a, fth_sym b);

/* ---- the plan ------------------------------------------------------------------------------- */

/* Why an action is taken, for `farthing explain`. text is a string constant; each "$" in it followed
 * by a digit 0..2 is replaced by that amount, e.g. "worth $0/h for a price of $1/h". */
struct fth_reason {
	const char *text;
	fth_money usd[3];
};

enum fth_action_kind {
	FTH_ACT_LAUNCH = 0,
	FTH_ACT_PLACE,
	FTH_ACT_MIGRATE,
	FTH_ACT_PREEMPT,
	FTH_ACT_DRAIN,
	FTH_ACT_TERMINATE,
	FTH_ACT_WAKE,
	FTH_ACT_UNTIL_EMPTY,
	FTH_ACT_NKINDS
};

struct fth_action {
	enum fth_action_kind kind;
	fth_task_id task;
	fth_instance_id instance;
	uint32_t first_offer, noffers; /* launch: a slice of the plan's offers, most wanted first */
	fth_time at;                   /* wake; place: not before */
	uint32_t together;             /* launch: instances of the same request */
	struct fth_reason reason;
};

struct fth_plan; /* opaque */

/* Rent one instance on the first of these offers that can be had. Returns the id the instance will
 * have, at once usable in this plan. */
FTH_EXPORT fth_instance_id fth_plan_launch(struct fth_plan *p, const fth_offer_id *offers, uint32_t n,
					   struct fth_reason why);
/* The same for several instances in one request, which clouds take longer for the larger it is. Their ids are
 * the one returned and those that follow. */
FTH_EXPORT fth_instance_id fth_plan_launch_many(struct fth_plan *p, const fth_offer_id *offers, uint32_t n, uint32_t count,
						struct fth_reason why);
/* Commit a waiting task to an instance; it starts as soon as the instance is ready and has room. */
FTH_EXPORT void fth_plan_place(struct fth_plan *p, fth_task_id t, fth_instance_id i, struct fth_reason why);
/* The same, but it starts at this time at the earliest; its room is taken from now on. */
FTH_EXPORT void fth_plan_place_at(struct fth_plan *p, fth_task_id t, fth_instance_id i, fth_time at, struct fth_reason why);
/* Move a bound or running task: it is stopped, saved, and started on the other instance. Moving one
 * task of a coupled job restarts all of them. */
FTH_EXPORT void fth_plan_migrate(struct fth_plan *p, fth_task_id t, fth_instance_id i, struct fth_reason why);
/* Take a bound or running task off its instance and let it wait. */
FTH_EXPORT void fth_plan_preempt(struct fth_plan *p, fth_task_id t, struct fth_reason why);
/* Take no new task, and go when the last one has ended. */
FTH_EXPORT void fth_plan_drain(struct fth_plan *p, fth_instance_id i, struct fth_reason why);
/* Go as soon as the tasks on their way out have left; refused while a task is committed to it. */
FTH_EXPORT void fth_plan_terminate(struct fth_plan *p, fth_instance_id i, struct fth_reason why);
/* Keep it for as long as it has tasks: it goes by itself at the moment its last one has left, between rounds too.
 * Until then it takes tasks. One that has none yet waits for its first. */
FTH_EXPORT void fth_plan_until_empty(struct fth_plan *p, fth_instance_id i, struct fth_reason why);
/* Decide again at this time even if nothing happens. Every wake-up is kept until it comes; the same time
 * asked for again is one. (Who asks anew in each round should ask for a multiple of its interval, so that
 * the times meet.) */
FTH_EXPORT void fth_plan_wake(struct fth_plan *p, fth_time at);
/* An account of the whole decision, kept with the plan (explain, journal): name a quantity. */
FTH_EXPORT void fth_plan_note(struct fth_plan *p, const char *name, double value);

/* ---- parameters ------------------------------------------------------------------------------- */

enum fth_param_type {
	FTH_PARAM_BOOL,     /* bool */
	FTH_PARAM_INT,      /* int64_t */
	FTH_PARAM_REAL,     /* double */
	FTH_PARAM_DURATION, /* fth_time; "300s", "5m", "2h", "250ms"; a bare number is seconds */
	FTH_PARAM_CHOICE,   /* int, index into choices */
};

struct fth_param {
	const char *name;
	enum fth_param_type type;
	size_t offset;          /* of the field in the policy's parameter struct */
	const char *def;        /* default, as a user would write it */
	double min, max;        /* INT, REAL; DURATION in seconds */
	const char *const *choices; /* CHOICE: NULL-ended */
	const char *help;
};

/* ---- the table of operations ------------------------------------------------------------------- */

struct fth_round {
	fth_time now;
	const struct fth_view *view;
	const struct fth_event *events; /* since the last round, in order */
	size_t nevents;
};

enum fth_policy_flags {
	FTH_POLICY_WANTS_PROFILE = 1, /* give it the user's co-location profile */
	FTH_POLICY_WANTS_RUNTIME = 2, /* give it exact runtimes as estimates, unless the workload says what is told */
	FTH_POLICY_KNOWS_RUNTIME = 4, /* exact ones even then: a rival with perfect knowledge */
	FTH_POLICY_WANTS_CONTAINERS = 16, /* offers of container sizes are for it; to others they are not available */
	FTH_POLICY_WANTS_WORKERS = 8, /* it keeps a fixed set of workers: its parameter `workers` must be told */
};

struct fth_policy_ops {
	uint32_t abi; /* FTH_POLICY_ABI */
	uint32_t flags;
	const char *name;
	const char *summary; /* one line */
	const struct fth_param *params; /* ended by a NULL name; may be NULL */
	size_t params_size;
	/* Events (1 << kind) that alone are no reason to ask it; it is told of them when it is asked next. 0: none. */
	uint32_t ignores;

	/* Make the policy's state. params points to its filled parameter struct (valid until fini).
	 * Return 0, or -errno: the run does not start (-ENODEV: no offer of the catalog suits its tasks). Optional. */
	int (*init)(void **self, const struct fth_view *view, const void *params);

	/* How often it decides: it is called at multiples of this time at which something has happened
	 * since the last call, or at which a wake-up is due. 0 or no op: after every moment at which
	 * something happened. Called once, after init. Optional. */
	fth_time (*period)(void *self);

	/* Look at the round, fill the plan. Must not keep pointers into the round. Return 0, or -errno:
	 * the plan is dropped, and the engine's fallback policy takes over for the rest of the run. */
	int (*decide)(void *self, const struct fth_round *round, struct fth_plan *plan);

	/* Free the state. Optional. */
	void (*fini)(void *self);
};

typedef const struct fth_policy_ops *fth_policy_entry(void);

#ifdef __cplusplus
}
#endif
#endif
