/* SPDX-License-Identifier: Apache-2.0 */
/* The files of data/, inside the program: so that a demo needs no file. Read with fth_input_open_memory. */
#ifndef FTH_TRACE_SAMPLES_H
#define FTH_TRACE_SAMPLES_H

#include <stddef.h>

struct fth_sample {
	const char *name; /* of the file */
	const unsigned char *data;
	size_t size;
};
extern const struct fth_sample fth_sample_workload, fth_sample_catalog, fth_sample_profile;

#endif
