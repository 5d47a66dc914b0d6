/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of transient machines, one row a type: ECU,AvgSpotPrice,OnDemandPrice,VM,Availability[,Zone][,MemoryMiB]. */
#ifndef FTH_TRACE_SPOT_TABLE_H
#define FTH_TRACE_SPOT_TABLE_H

#include "model/spot.h"
#include "trace/trace.h"

/* Add the rows of a table. zone is that of rows that tell none. Errors name file and row. */
int fth_read_spot_table(struct fth_spot_table *t, struct fth_input *in, const char *zone, struct fth_error *err);
/* The same from a file; a zone that is NULL is taken from a name like record-us-east-1a.csv, else "". */
int fth_load_spot_table(struct fth_spot_table *t, const char *path, const char *zone, struct fth_error *err);
/* CSV that reads back as the same table. */
void fth_write_spot_table(const struct fth_spot_table *t, struct fth_str *out);

#endif
