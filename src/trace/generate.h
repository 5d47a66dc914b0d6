/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads of our own making, and variants of given ones: the arrivals, durations and mixes of Eva's
 * evaluation. Same parameters, same bytes, on every machine.
 */
#ifndef FTH_TRACE_GENERATE_H
#define FTH_TRACE_GENERATE_H

#include <farthing/policy.h>

#include "model/workload.h"

enum fth_arrivals { FTH_ARRIVALS_POISSON = 0, FTH_ARRIVALS_DIURNAL, FTH_ARRIVALS_BURSTY, FTH_ARRIVALS_SAMPLE };
enum fth_durations { FTH_DURATIONS_GAVEL = 0, FTH_DURATIONS_ALIBABA, FTH_DURATIONS_UNIFORM, FTH_DURATIONS_LOG };
enum fth_mix { FTH_MIX_TABLE7 = 0, FTH_MIX_ALIBABA };

struct fth_generate_params {
	int64_t jobs, seed, users, tasks_per_job;
	int arrivals, durations, workloads; /* the enums above */
	fth_time gap, min_duration, max_duration;
	double amplitude, burst_jobs, bursts_per_day;
	double multi_gpu, multi_task;
};
extern const struct fth_param fth_generate_param_table[]; /* ended by a NULL name */

/* Fill an empty workload, sorted and finished. */
int fth_generate(struct fth_workload *w, const struct fth_generate_params *p, struct fth_error *err);

/* n single tasks, all at time 0, drawn uniformly from the ten rows of Table 7 (ResNet18 has two of
 * them), with their demands per family; for one-shot packing. */
void fth_table7_pack(struct fth_workload *w, uint32_t n, uint64_t seed);

/* Variants of a workload. `to` is empty and has the symbols and kinds of `from`. */

/* Section 6.6: this share of all jobs asks for 2, 4 or 8 GPUs (5:4:1), the other GPU jobs for one; jobs
 * without GPUs stay. CPUs and memory grow with the GPUs, up to what the largest P3 machine has. */
void fth_vary_multi_gpu(struct fth_workload *to, const struct fth_workload *from, double share, uint64_t seed);
/* Section 6.5: every pause around a task's run times this factor, and every policy knows it. */
void fth_vary_delays(struct fth_workload *to, const struct fth_workload *from, double factor);
/* Section 6.7: this share of the jobs has each task two or four times (1:1), coupled. */
void fth_vary_multi_task(struct fth_workload *to, const struct fth_workload *from, double share, uint64_t seed);
/* Section 6.8: times between arrivals multiplied, to whole seconds. */
void fth_vary_gap(struct fth_workload *to, const struct fth_workload *from, double factor);
/* All but the jobs of which a task fits no type of the catalog; returns how many those are. */
uint32_t fth_vary_fitting(struct fth_workload *to, const struct fth_workload *from, const struct fth_catalog *c);
/* A task that moves is away for its memory footprint over this rate, and for nothing else. */
void fth_vary_migration(struct fth_workload *w, double mbit_per_s);
/* The first n jobs. */
void fth_vary_head(struct fth_workload *to, const struct fth_workload *from, size_t n);

/* The same kind scaled to so many GPUs; CPUs and memory in proportion, capped at 64 CPUs and 488 GiB. */
fth_kind_id fth_kind_with_gpus(struct fth_kinds *kinds, fth_kind_id id, int gpus);
bool fth_kind_needs_gpu(const struct fth_kind *k);

#endif
