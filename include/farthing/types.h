/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Farthing's domain, as a policy sees it.
 *
 * Everything here is plain data with integer time and integer money, so that a run gives the same
 * bytes on every machine.  Entities refer to one another by typed ids, never by pointer: an id is
 * given once and never reused, so a stale one is recognised instead of meaning something else.
 */
#ifndef FARTHING_TYPES_H
#define FARTHING_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Microseconds since the start of the run's clock. */
typedef int64_t fth_time;
#define FTH_US ((fth_time)1)
#define FTH_MS ((fth_time)1000)
#define FTH_SEC ((fth_time)1000000)
#define FTH_MINUTE (60 * FTH_SEC)
#define FTH_HOUR (3600 * FTH_SEC)
#define FTH_DAY (24 * FTH_HOUR)
#define FTH_NEVER INT64_MAX

/* Nano-dollars; and a rate in nano-dollars per hour. */
typedef int64_t fth_money;
typedef int64_t fth_price;
#define FTH_USD ((fth_money)1000000000)

/* An interned string (see fth_sym_name); 0 is "none". */
typedef uint32_t fth_sym;

typedef uint32_t fth_job_id;
typedef uint32_t fth_task_id;
typedef uint32_t fth_instance_id;
typedef uint32_t fth_type_id;  /* index into the catalog's types */
typedef uint32_t fth_offer_id; /* index into the catalog's offers */
typedef uint32_t fth_kind_id;  /* index into the table of task kinds */
#define FTH_NONE UINT32_MAX

/* ---- resources ------------------------------------------------------------------------- */

/* Milli-GPU, milli-CPU, MiB, then up to five extras named in the catalog (units as named). */
enum { FTH_GPU = 0, FTH_CPU = 1, FTH_MEM = 2, FTH_RES_EXTRA = 3, FTH_RES_MAX = 8 };

struct fth_res {
	int64_t v[FTH_RES_MAX];
};

static inline bool fth_res_fits(const struct fth_res *need, const struct fth_res *room)
{
	bool ok = true;
	for (int i = 0; i < FTH_RES_MAX; i++)
		ok &= need->v[i] <= room->v[i];
	return ok;
}

static inline void fth_res_add(struct fth_res *a, const struct fth_res *b)
{
	for (int i = 0; i < FTH_RES_MAX; i++)
		a->v[i] += b->v[i];
}

static inline void fth_res_sub(struct fth_res *a, const struct fth_res *b)
{
	for (int i = 0; i < FTH_RES_MAX; i++)
		a->v[i] -= b->v[i];
}

static inline bool fth_res_equal(const struct fth_res *a, const struct fth_res *b)
{
	bool same = true;
	for (int i = 0; i < FTH_RES_MAX; i++)
		same &= a->v[i] == b->v[i];
	return same;
}

/* ---- what can be bought ------------------------------------------------------------------ */

enum fth_market { FTH_ON_DEMAND = 0, FTH_SPOT = 1, FTH_RESERVED = 2 };

/* How the clock of a bill runs. A use of d is charged for max(d, minimum) rounded up to whole
 * increments; from is the moment the meter starts. */
enum fth_bill_from { FTH_BILL_FROM_ACQUIRED = 0, FTH_BILL_FROM_READY = 1, FTH_BILL_FROM_REQUEST = 2 };

struct fth_billing {
	fth_time increment; /* > 0 */
	fth_time minimum;
	enum fth_bill_from from;
	bool start_price; /* each increment at the price of its beginning, not as the price goes */
	bool cut_free;    /* an increment cut short by a revocation is free, and the minimum with it */
};

/* A delay that is fixed (min == max), or drawn between min and max with the given mean. */
struct fth_delay {
	fth_time min, mean, max;
};

/* How long machines take to boot when so many are asked for in one request; between the sizes in a straight
 * line, and beyond the last one each doubling adds what the last doubling did. None: the type's setup. */
enum { FTH_BOOT_STEPS = 8 };
struct fth_boot_step {
	uint32_t size; /* ascending; 0: no more steps */
	fth_time time;
};

struct fth_instance_type {
	fth_sym name;
	fth_sym family;
	fth_sym arch; /* 0: unsaid */
	struct fth_res capacity;
	struct fth_delay acquire;   /* request -> the machine is ours (boots) */
	struct fth_delay setup;     /* booting -> ready for tasks */
	struct fth_delay terminate; /* asked to go -> gone */
	struct fth_boot_step boot[FTH_BOOT_STEPS]; /* set-up by size of the request */
	bool container; /* a size of a container service: offered only to policies that ask for containers */
};

/* A purchase of capacity ahead of its use: one machine's worth of use for a term, for a fee paid at once and a
 * lower price per hour, charged for the hours used or for every hour of the term. It is bought, not launched. */
struct fth_contract {
	fth_sym name; /* "3y-light" */
	fth_time term; /* 0: the offer is no contract */
	fth_money upfront;
	bool every_hour;
};

struct fth_offer {
	fth_type_id type;
	fth_sym zone; /* 0: unsaid */
	enum fth_market market;
	fth_price price;            /* now */
	struct fth_billing billing;
	uint32_t interruptions_ppm; /* expected interruptions per million instance-hours; 0 unknown */
	uint32_t unavailable_ppb;   /* expected share of time for which it cannot be had, in 10^-9; 0 unknown */
	bool available;             /* may be launched now */
	bool sustained; /* by month: the 2nd, 3rd and 4th quarter of it at 80, 60 and 40 % of the price */
	struct fth_contract contract;
};

struct fth_catalog {
	const struct fth_instance_type *types;
	uint32_t ntypes;
	const struct fth_offer *offers;
	uint32_t noffers;
	uint32_t nres;                   /* 3 + extras */
	fth_sym res_names[FTH_RES_MAX];
};

/* ---- what users submit --------------------------------------------------------------------- */

enum fth_job_kind {
	FTH_JOB_INDEPENDENT = 0, /* tasks run and end each on their own */
	FTH_JOB_COUPLED = 1,     /* tasks advance together at the pace of the slowest */
	FTH_JOB_RIGID = 2,       /* all tasks start at once and end together */
	FTH_JOB_SERVICE = 3,     /* runs until cancelled */
};

/* What a task needs on one instance family (0: any), and how fast it is there (1000000 = full). */
struct fth_alt {
	fth_sym family;
	uint32_t speed_ppm;
	struct fth_res demand;
};

/* The pauses around a task's run: bring its image and data, set the image up (once per image and
 * instance), start; and on a move: stop, save its state. */
struct fth_task_delays {
	fth_time fetch, setup, init, stop, save;
};

/* All there is to say about a task but its amount of work; tasks share these. */
struct fth_kind {
	fth_sym label; /* what learning may key on, e.g. "resnet18[3]" */
	fth_sym klass; /* workload class, for interference, e.g. "resnet18" */
	fth_sym image; /* 0: no image to set up */
	fth_sym arch;  /* 0: any */
	struct fth_task_delays delays;
	uint32_t nalts; /* first match wins; a family alternative comes before "any" */
	const struct fth_alt *alts;
};

/* ---- the cluster --------------------------------------------------------------------------- */

enum fth_task_state {
	FTH_TASK_WAITING = 0, /* bound nowhere */
	FTH_TASK_BOUND,       /* committed to an instance, not started: it boots, or room is awaited */
	FTH_TASK_STARTING,    /* fetching, setting up */
	FTH_TASK_RUNNING,     /* launched (its init pause may still run) */
	FTH_TASK_STOPPING,    /* being stopped or saved; holds its place until it has left */
	FTH_TASK_DONE,
};

struct fth_task {
	fth_task_id id;
	fth_job_id job;
	fth_kind_id kind;
	uint32_t slot; /* dense index below fth_view.task_slots, reused: for a policy's side tables */
	enum fth_task_state state;
	uint32_t moves;
	fth_instance_id target; /* where it is to be: committed room; FTH_NONE when waiting */
	fth_instance_id on;     /* where it holds room now; FTH_NONE when none */
	fth_time since;         /* entered this state */
	fth_time ran;           /* executing time of ended launches */
	fth_time estimate;      /* runtime at full speed as told; 0 unknown */
	double rate;            /* last observed speed, full = 1; negative: none observed */
	fth_task_id next_committed; /* next task committed to the same instance, by order of commitment */
	fth_task_id prev_committed;
	fth_task_id next_waiting; /* next waiting task, by order of beginning to wait */
	fth_task_id prev_waiting;
};

struct fth_job {
	fth_job_id id;
	uint32_t slot;
	fth_sym name;
	fth_sym user;
	fth_sym anti_affinity; /* tasks of jobs with the same value never share an instance; 0 none */
	enum fth_job_kind kind;
	int32_t priority; /* greater goes first */
	uint32_t ntasks, tasks_left;
	fth_task_id first_task; /* ids first_task .. first_task + ntasks - 1 */
	fth_time submitted;
	fth_time deadline; /* FTH_NEVER: none */
	fth_time estimate; /* runtime at full speed as told or predicted; 0 unknown */
	fth_job_id next, prev; /* unfinished jobs, by id */
	double availability; /* of a service: share of time for which all of it must be there; 0: unsaid */
};

/* Its tasks make progress together, and are stopped together. */
static inline bool fth_job_is_together(const struct fth_job *j)
{
	return j->kind == FTH_JOB_COUPLED || j->kind == FTH_JOB_RIGID;
}

enum fth_instance_state {
	FTH_INSTANCE_REQUESTED = 0,
	FTH_INSTANCE_BOOTING,
	FTH_INSTANCE_READY,
	FTH_INSTANCE_DRAINING,    /* takes no new task; goes when empty */
	FTH_INSTANCE_TERMINATING,
	FTH_INSTANCE_GONE,
};

struct fth_instance {
	fth_instance_id id;
	uint32_t slot;
	fth_offer_id offer;
	fth_type_id type;
	enum fth_instance_state state;
	bool leaving;      /* draining or asked to terminate: takes no new task */
	bool revoked;      /* a revocation notice came */
	bool until_empty;  /* goes by itself as soon as its last task has left */
	bool changed;      /* since the policy was last asked: it is among the view's changed */
	uint32_t ncommitted; /* tasks whose target it is */
	uint32_t nbound;     /* of those, the ones not started */
	uint32_t nheld;      /* tasks that hold room on it (running, starting or on their way out) */
	fth_task_id first_committed, last_committed;
	struct fth_res committed; /* demand of the tasks committed to it */
	struct fth_res held;      /* demand of the tasks that hold room */
	fth_time requested, acquired, ready; /* FTH_NEVER until then */
	uint32_t together; /* instances asked for in the same request, itself included */
	fth_instance_id next, prev; /* instances not gone, by id */
};

#ifdef __cplusplus
}
#endif
#endif
