/* SPDX-License-Identifier: Apache-2.0 */
/* The files of data/, inside the program: so that a demo needs no file. */
#ifndef FTH_TRACE_SAMPLES_H
#define FTH_TRACE_SAMPLES_H

#include "trace/trace.h"

struct fth_sample {
	const char *name; /* of the file */
	const unsigned char *data;
	size_t size;
};
extern const struct fth_sample fth_sample_workload, fth_sample_catalog, fth_sample_profile;

/* The bundled file that holds this, as an input like any other. */
int fth_sample_open(struct fth_input **ret, enum fth_content content, struct fth_error *err);

#endif
