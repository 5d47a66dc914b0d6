/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one run of one policy gave: the figures of `compare`, and what its pictures are drawn from.
 * Filled by report/metrics.c, which watches an engine; written by report/compare_*.c.
 */
#ifndef FTH_REPORT_RUN_H
#define FTH_REPORT_RUN_H

#include "base/base.h"

struct fth_run_job {
	fth_sym key;
	uint32_t moves;
	fth_time submitted, started, ended; /* started: first task first launched; FTH_NEVER: not yet */
	fth_time executing;                 /* from launched to the next stop or the end, summed */
	fth_time standalone;                /* its runtime alone at full speed */
	double speed;                       /* mean observed speed of its launched tasks, full = 1; 0: none observed */
};

struct fth_run_instance {
	fth_instance_id id;
	fth_type_id type;
	enum fth_market market;
	uint32_t tasks; /* ever launched on it */
	fth_time requested, acquired, ready, gone; /* FTH_NEVER: did not come to that */
	fth_money cost;
};

/* Time series: integrals over buckets of equal width that double in width when there get too many. */
enum { FTH_RUN_BUCKETS = 2048 };
#define FTH_RUN_BUCKET_START FTH_MINUTE
struct fth_run_bucket {
	double cost_usd;                  /* charged for this bucket's time at the price then */
	double instances, tasks, waiting; /* time integrals, in unit-seconds; tasks: committed to up instances */
	double used[3], capacity[3];      /* gpu, cpu, mem of up instances: unit-seconds */
};

struct fth_run_note {
	char name[32];
	double last, sum, max;
	uint64_t count;
};

/* A service: how much of the time, from when it was first all there, it was. */
struct fth_run_service {
	char name[64];
	double target;  /* 0: unsaid */
	uint32_t tasks;
	fth_time first; /* when it was first whole; FTH_NEVER: never */
	fth_time whole, over; /* since then: time for which all its tasks ran, of the time that passed */
	double task_seconds;  /* since then, run by its tasks */
	bool done;            /* it ended of itself, as a job does */
};
/* 0: it was never whole. */
double fth_run_service_availability(const struct fth_run_service *s);
/* Was it there for less than the share of time that the workload asks for? */
bool fth_run_service_missed(const struct fth_run_service *s);

/* Seconds. */
struct fth_run_spread {
	uint64_t n;
	double mean, p50, p90, p99, max;
};
/* Spot machines, counted in slots of one CPU. */
struct fth_run_transient {
	uint64_t count, lost_tasks;
	double avg_active;      /* between the first and the last arrival */
	double lifetime_mean_h, lifetime_max_h;
	double cost_ratio;      /* what an on-demand slot costs over what a transient one does; 0: there were none */
	double cost_usd;
	double lost_s;          /* run by short tasks that were lost with their machine */
	double lost_usd;        /* paid for that */
};
enum { FTH_RUN_QUANTILES = 401 };
enum { FTH_RUN_CONTRACTS = 24 };
struct fth_run_contract {
	char name[40];
	double hours;
};

struct fth_run {
	char policy[64];      /* as named by the user */
	struct fth_str params; /* JSON object of all parameters */
	char fallback[64];    /* not empty: the policy failed and this one took over; how is in note */
	struct fth_str note;

	uint64_t jobs, tasks; /* finished */
	uint64_t jobs_unfinished; /* a service that ran until the end is none; one that was never whole is */
	fth_money cost;      /* after discounts by month and contracts */
	fth_money list_cost; /* the ledger's total */
	double used_node_hours, billed_node_hours; /* tasks executing; machines charged for */
	bool prorated;       /* fees of contracts are counted by the time held: what lies after the run is left out */
	uint32_t ncontracts; /* billed hours by how they were paid for */
	struct fth_run_contract contracts[FTH_RUN_CONTRACTS];
	double jct_mean_s, jct_p50_s, jct_p95_s, jct_p99_s;
	double wait_mean_s; /* submitted -> first task launched */
	double idle_mean_s; /* completion time not spent executing */
	double stretch_mean; /* completion time / runtime alone */
	uint64_t instances_launched, launch_failures, migrations, preemptions, lost_tasks;
	double tasks_per_instance; /* time-weighted over up instances */
	double alloc[3];           /* gpu, cpu, mem: allocated / rented, time-weighted */
	double norm_throughput;    /* mean over jobs of their speed */
	uint64_t rejected_actions;
	struct fth_str rejected_by; /* JSON object reason -> count; "{}" */
	double waste_boot_usd, waste_idle_usd, waste_fragmentation_usd;
	double waste_rounding_usd; /* charged beyond the time a machine was there: whole hours, minimum */
	double spent_usd;   /* as the price went, before increments and minimum */
	double utilization; /* of what is paid: share of cost that ran tasks, by the most used resource */
	uint64_t rounds, rounds_decided, events; /* decided: the plan held an action that stood */
	fth_time ended_at;
	double wall_s, decide_s, decide_max_s;
	double peak_rss_mb;
	uint64_t live_tasks_max;
	/* The same over a window of the run, for the papers' tables; window_to = 0: none was asked for. */
	fth_time window_from, window_to;
	double window_tasks_per_instance, window_alloc[3];

	/* Of runs with short and long jobs; classes: they are told apart. */
	bool classes;
	struct fth_run_spread short_task_delay, short_jobs, long_jobs;
	struct fth_run_transient transient;
	double delay_quantiles[FTH_RUN_QUANTILES]; /* of short_task_delay, at equal steps from 0 to 1 */

	FTH_VEC(struct fth_run_job) job_list;
	FTH_VEC(struct fth_run_instance) instance_list;
	fth_time bucket_width;
	FTH_VEC(struct fth_run_bucket) buckets;
	FTH_VEC(double) type_seconds; /* nbuckets x ntypes: instance-seconds by type */
	uint32_t ntypes;
	struct fth_str type_names; /* ntypes names, each ended by a NUL */
	/* Named figures a policy noted in its last plan or summed over its plans (e.g. full_adopted). */
	FTH_VEC(struct fth_run_note) notes;
	FTH_VEC(struct fth_run_service) services;
};

void fth_run_init(struct fth_run *r);
void fth_run_release(struct fth_run *r);
const char *fth_run_type_name(const struct fth_run *r, uint32_t type);
/* Completion times of the finished jobs, ascending; ret has room for job_list.len. Returns how many. */
size_t fth_run_sorted_jcts(const struct fth_run *r, fth_time *ret);
/* Nearest-rank percentile of ascending values; 0 of none. */
fth_time fth_percentile(const fth_time *sorted, size_t n, unsigned percent);

/* The figures of jobs (jobs, jobs_unfinished, jct, wait, idle, stretch, norm_throughput) from job_list. */
void fth_run_job_figures(struct fth_run *r);

/* Services that ran until the run ended. */
uint64_t fth_run_lasting_services(const struct fth_run *r);
/* The service that was there least; NULL: there was none. */
const struct fth_run_service *fth_run_worst_service(const struct fth_run *r);

/* The bucket of this time, made if need be; widens all buckets when there would be too many. ntypes must
 * be set before. The pointer is good until the next call. */
struct fth_run_bucket *fth_run_bucket_at(struct fth_run *r, fth_time t, size_t *ret_index);
/* Merge buckets two by two. */
void fth_run_widen(struct fth_run *r);

/* Between processes of the same program, over a pipe. -EPIPE: it ended early; -EBADMSG: not a run. On
 * failure nothing is changed. */
int fth_run_write(const struct fth_run *r, int fd);
int fth_run_read(struct fth_run *r, int fd);

#endif
