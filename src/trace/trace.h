/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing workloads, catalogs and co-location profiles: one canonical text form of each
 * (docs/formats.md), importers of the formats people have, and a generator.
 *
 * Every reader takes plain, gzip or zstd bytes, recognises the format by content unless told, names
 * file and line in its errors, and holds at most one bounded line at a time.
 */
#ifndef FTH_TRACE_TRACE_H
#define FTH_TRACE_TRACE_H

#include "base/base.h"
#include "model/catalog.h"
#include "model/contract.h"
#include "model/market.h"
#include "model/profile.h"
#include "model/workload.h"

/* ---- input: lines of a plain, gzip or zstd file ---- */

struct fth_input;
enum { FTH_LINE_MAX = 16 << 20 }; /* a longer line is an error, not memory */
/* path "-" is standard input. */
int fth_input_open(struct fth_input **ret, const char *path, struct fth_error *err);
/* From memory (tests, fuzzing, embedded samples); bytes may be compressed too. Borrowed. */
int fth_input_open_memory(struct fth_input **ret, const char *name, const void *data, size_t n, struct fth_error *err);
void fth_input_close(struct fth_input *in);
const char *fth_input_name(const struct fth_input *in);
uint64_t fth_input_line(const struct fth_input *in); /* of the last line returned, from 1 */
/* 1 and the next line without its end (NUL-ended, valid until the next call), 0 at the end, -errno. */
int fth_input_next(struct fth_input *in, char **ret_line, size_t *ret_len, struct fth_error *err);
/* The last line returned had no line end: a hint that the file was cut off. */
bool fth_input_cut(const struct fth_input *in);
/* The first bytes, without consuming them: for recognising a format. */
int fth_input_peek(struct fth_input *in, const char **ret, size_t *ret_len, struct fth_error *err);

/* ---- output: a file that appears whole or not at all; .gz and .zst are compressed ---- */

struct fth_output;
int fth_output_open(struct fth_output **ret, const char *path, struct fth_error *err); /* "-": standard output */
/* Into a text buffer, plain. */
void fth_output_open_memory(struct fth_output **ret, struct fth_str *to);
int fth_output_write(struct fth_output *o, const char *data, size_t n, struct fth_error *err);
int fth_output_commit(struct fth_output *o, struct fth_error *err); /* closes; on failure nothing is left */
void fth_output_abort(struct fth_output *o);
/* The unfinished file beside the path, for who must remove it in haste; NULL: there is none. */
const char *fth_output_unfinished(const struct fth_output *o);
/* Remove what a process that died while it wrote this path has left beside it. */
void fth_output_sweep(const char *path, long pid);

/* ---- formats ---- */

enum fth_format {
	FTH_FORMAT_AUTO = 0,
	FTH_FORMAT_FARTHING_WORKLOAD, /* our own */
	FTH_FORMAT_EVA_JSON,
	FTH_FORMAT_EVA_CSV,
	FTH_FORMAT_ALIBABA_PODS,      /* openb_pod_list CSV */
	FTH_FORMAT_SWF,               /* Standard Workload Format */
	FTH_FORMAT_SACCT,             /* sacct --parsable2 */
	FTH_FORMAT_FARTHING_CATALOG,
	FTH_FORMAT_EVA_TYPES,         /* Eva's instance types JSON */
	FTH_FORMAT_SKYPILOT_CSV,
	FTH_FORMAT_EC2_TYPES,         /* EC2 DescribeInstanceTypes JSON (prices from a file beside it) */
	FTH_FORMAT_FARTHING_PROFILE,
	FTH_FORMAT_EVA_MATRIX,        /* Eva's contention matrix CSV */
	FTH_FORMAT_ALIBABA_2017,      /* CSV, one row per group of equal instances */
	FTH_FORMAT_GOOGLE_TASKS,      /* Google 2011 task_events CSV */
	FTH_FORMAT_SPOT_CSV,          /* epoch,az,instance_type,price */
	FTH_FORMAT_EC2_SPOT,          /* EC2 DescribeSpotPriceHistory JSON */
	FTH_FORMAT_AVAILABILITY,      /* 0/1 probes with gap_seconds, JSON */
	FTH_FORMAT_NKINDS
};
enum fth_content { FTH_CONTENT_WORKLOAD = 1, FTH_CONTENT_CATALOG, FTH_CONTENT_PROFILE, FTH_CONTENT_MARKET };
const char *fth_format_name(enum fth_format f); /* "eva-json" */
enum fth_content fth_format_content(enum fth_format f);
int fth_format_find(const char *name, enum fth_content content, enum fth_format *ret); /* -ENOENT */

struct fth_import_options {
	const char *prices;   /* ec2-types: CSV type,price (or a SkyPilot catalog) */
	const char *region;   /* only this region; NULL or "" all; refused where the file does not know */
	const char *families; /* comma list of families to keep; NULL all */
	bool spot;            /* skypilot: make spot offers too */
	uint32_t node_cpus;   /* swf, sacct: processors of a node; 0: one */
	fth_time mean_gap;    /* alibaba pods without times: Poisson arrivals with this mean */
	uint64_t seed;
};

/* A market file speaks of offers of a catalog; it adds spot offers for types that have none of their own. */
struct fth_market_options {
	const char *zones;   /* comma list of zones to keep; NULL all */
	const char *type;    /* availability: of this type, */
	const char *zone;    /* in this zone; NULL: by the name of the file */
	const char *product; /* ec2: this ProductDescription; NULL: Linux/UNIX */
	bool any_type;       /* make types that the catalog does not have: for looking at a file alone */
};

int fth_load_workload(struct fth_workload *w, const char *path, enum fth_format f, const struct fth_import_options *o,
		      struct fth_error *err);
int fth_load_catalog(struct fth_catalog_store *c, const char *path, enum fth_format f,
		     const struct fth_import_options *o, struct fth_error *err);
int fth_load_profile(struct fth_profile *p, const char *path, enum fth_format f, struct fth_error *err);
/* The same from an open input (closed by the caller): what the paths above, the tests and fuzzers use. */
int fth_read_workload(struct fth_workload *w, struct fth_input *in, enum fth_format f, const struct fth_import_options *o,
		      struct fth_error *err);
int fth_read_catalog(struct fth_catalog_store *c, struct fth_input *in, enum fth_format f,
		     const struct fth_import_options *o, struct fth_error *err);
int fth_read_profile(struct fth_profile *p, struct fth_input *in, enum fth_format f, struct fth_error *err);
int fth_load_market(struct fth_market_data *m, struct fth_catalog_store *c, const char *path, enum fth_format f,
		    const struct fth_market_options *o, struct fth_error *err);
int fth_read_market(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in, enum fth_format f,
		    const struct fth_market_options *o, struct fth_error *err);
/* What plan reserve reads; see demand.c. */
int fth_load_demand(struct fth_demand_series *s, const char *path, struct fth_error *err);
int fth_read_demand(struct fth_demand_series *s, struct fth_input *in, struct fth_error *err);
/* m->syms is set; CSV, or a catalog with contracts. */
int fth_load_classes(struct fth_reserve_market *m, const char *path, struct fth_error *err);
int fth_read_classes(struct fth_reserve_market *m, struct fth_input *in, struct fth_error *err);
/* Microseconds since 1970 of "2024-03-01", "2024-03-01T12:30:00Z", with fraction or offset, or of plain seconds. */
int fth_parse_when(const char *s, size_t n, fth_time *ret);
/* What a file is, by content; FTH_FORMAT_AUTO if not recognised. */
int fth_recognise(const char *path, enum fth_format *ret, struct fth_error *err);
int fth_recognise_input(struct fth_input *in, enum fth_format *ret, struct fth_error *err);

/* Canonical text: reading it back gives the same thing, writing that gives the same bytes. */
int fth_write_workload(const struct fth_workload *w, struct fth_output *o, struct fth_error *err);
int fth_write_catalog(const struct fth_catalog_store *c, struct fth_output *o, struct fth_error *err);
int fth_write_profile(const struct fth_profile *p, struct fth_output *o, struct fth_error *err);

/* A job source that streams a canonical workload file sorted by submit time, in bounded memory. */
int fth_stream_workload(struct fth_job_source **ret, const char *path, struct fth_symtab *syms,
			struct fth_kinds *kinds, struct fth_error *err);
void fth_stream_free(struct fth_job_source *s);
/* What the file says of the whole: known as soon as the stream is open. */
struct fth_stream_head {
	fth_sym name;
	fth_time step;
};
const struct fth_stream_head *fth_stream_head(const struct fth_job_source *s);

/* ---- generator ---- */

struct fth_generate_params; /* see generate.h: typed parameters, as for policies */

/* ---- checking a file ---- */

/* Recognise the file (unless told), read all of it, and say in a few lines what it is. */
int fth_validate(const char *path, enum fth_format f, struct fth_str *ret_summary, struct fth_error *err);

#endif
