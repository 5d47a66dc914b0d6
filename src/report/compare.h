/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs of the same workload side by side, and their writers. Every writer adds to a buffer; the
 * same comparison gives the same bytes.
 */
#ifndef FTH_REPORT_COMPARE_H
#define FTH_REPORT_COMPARE_H

#include "base/base.h"
#include "model/workload.h"
#include "optimize/bound.h"
#include "report/run.h"

struct fth_comparison {
	const char *version; /* of the program */
	const char *command; /* as given by the user; NULL: unsaid */
	int64_t seed;

	const char *workload_name; /* NULL or empty: the file's */
	const char *workload_path;
	struct fth_workload_summary workload;

	const char *catalog_path;
	uint32_t catalog_types, catalog_offers;

	const char *interference_path, *market_path; /* NULL: none */

	/* Sentences on the modelled world that are not the reports' own (delays, failures); may be NULL. */
	const char *const *assumptions;
	size_t nassumptions;

	const struct fth_bound *bound; /* what no policy can go below; NULL: it was not looked for */

	const struct fth_run *runs;
	size_t nruns;
};

/* What others are measured against: the run of no-packing, else the first; of those that ended every job, if any did. */
size_t fth_comparison_baseline(const struct fth_comparison *c);
/* Share of the baseline's cost that a run saves; NAN for the baseline itself, and where one of the two left jobs. */
double fth_comparison_saved(const struct fth_comparison *c, size_t run);
/* The cheapest of the runs that ended every job (of all, if none did). */
size_t fth_comparison_cheapest(const struct fth_comparison *c);
/* Whether that run finished all jobs under its own policy: else there is no cheapest one to speak of. */
bool fth_comparison_decided(const struct fth_comparison *c);
/* How far a run's cost is above the bound, as a share of it; NAN where there is none, or the run left jobs. */
double fth_comparison_gap(const struct fth_comparison *c, size_t run);
/* A run's name: its policy, with the parameters that differ where the same policy ran several times. */
void fth_comparison_label(const struct fth_comparison *c, size_t run, struct fth_str *out);
/* The workload's name for people: its own, else its file's. */
const char *fth_comparison_workload(const struct fth_comparison *c);

/* `farthing.compare/1` */
void fth_comparison_json(const struct fth_comparison *c, struct fth_str *out);
/* `farthing.sim/1`: the first run alone, under "run". */
void fth_comparison_json_one(const struct fth_comparison *c, struct fth_str *out);
/* One row per run. */
void fth_comparison_csv(const struct fth_comparison *c, struct fth_str *out);
/* For people; columns are left out, the least important first, until it fits width (0: no limit). */
void fth_comparison_table(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out);
/* One run in detail. */
void fth_comparison_table_one(const struct fth_comparison *c, size_t run, bool colour, struct fth_str *out);
/* One self-contained page. */
void fth_comparison_html(const struct fth_comparison *c, struct fth_str *out);

/* jobs.csv: one row per job; instances.csv: one row per instance. */
void fth_run_jobs_csv(const struct fth_run *r, const struct fth_symtab *syms, struct fth_str *out);
void fth_run_instances_csv(const struct fth_run *r, struct fth_str *out);

/* "1,000 h 3y-heavy, 20 h on-demand": hours by how they were paid for. */
/* What a service that was not there enough had, as a sentence. */
void fth_run_service_remark(const struct fth_run_service *s, struct fth_str *out);
void fth_run_paid_as(const struct fth_run *r, struct fth_str *out);
/* Dollars per node-hour in which a job ran; 0: none did. */
double fth_run_node_rate(const struct fth_run *r);

#endif
