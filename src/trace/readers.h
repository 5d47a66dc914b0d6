/* SPDX-License-Identifier: Apache-2.0 */
/* The readers behind trace.h, one per format, and what they share. Internal to this folder. */
#ifndef FTH_TRACE_READERS_H
#define FTH_TRACE_READERS_H

#include "trace/fields.h"

/* Each adds to an initialised, empty target; sorting and publishing are the caller's. */
int fth_read_canon_workload(struct fth_workload *w, struct fth_input *in, struct fth_error *err);
int fth_read_eva_json(struct fth_workload *w, struct fth_input *in, struct fth_error *err);
int fth_read_eva_csv(struct fth_workload *w, struct fth_input *in, struct fth_error *err);
int fth_read_pods(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o,
		  struct fth_error *err);
int fth_read_hawk(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o,
		  struct fth_error *err);
bool fth_looks_like_hawk(const char *p, size_t n);
bool fth_ends_like_hawk(const char *path); /* .tr, perhaps compressed */
int fth_read_swf(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err);
int fth_read_sacct(struct fth_workload *w, struct fth_input *in, const struct fth_import_options *o,
		   struct fth_error *err);
int fth_read_canon_catalog(struct fth_catalog_store *c, struct fth_input *in, struct fth_error *err);
int fth_read_eva_types(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err);
int fth_read_skypilot(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		      struct fth_error *err);
int fth_read_ec2_types(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err);
int fth_read_canon_profile(struct fth_profile *p, struct fth_input *in, struct fth_error *err);
int fth_read_eva_matrix(struct fth_profile *p, struct fth_input *in, struct fth_error *err);

int fth_read_alibaba_2017(struct fth_workload *w, struct fth_input *in, struct fth_error *err);
int fth_read_google_tasks(struct fth_workload *w, struct fth_input *in, struct fth_error *err);
int fth_read_spot_csv(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
		      const struct fth_market_options *o, struct fth_error *err);
int fth_read_ec2_spot(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
		      const struct fth_market_options *o, struct fth_error *err);
int fth_read_availability(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in,
			  const struct fth_market_options *o, struct fth_error *err);

/* Keep what the options want of a catalog just read; an error if that is nothing, or cannot be told. */
int fth_catalog_choose(struct fth_catalog_store *c, struct fth_input *in, const struct fth_import_options *o,
		       struct fth_error *err);
/* Options that a file of this format cannot answer are refused. */
int fth_catalog_wishes(enum fth_format f, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err);
int fth_workload_wishes(enum fth_format f, struct fth_input *in, const struct fth_import_options *o, struct fth_error *err);

/* Letters, digits, '.', '-', '_': a resource is named inside demands without escapes. */
bool fth_resource_name_ok(const char *name);
/* What is wrong with these iterations; NULL if nothing is. */
const char *fth_iterations_wrong(int64_t iters, double rate);
/* Is this family among the wanted ones (a comma list; NULL or "" takes all)? */
bool fth_family_wanted(const char *list, const char *family);
/* The workload class in "resnet18[3]": what comes before the bracket. */
fth_sym fth_label_class(struct fth_symtab *syms, const char *label);
/* The family in an instance type's name: before the first '.' (EC2) or '-' (GCP). */
fth_sym fth_type_family(struct fth_symtab *syms, const char *type);

#endif
