/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kinds of machines fall together, as CSV. A correlation matrix: a first row ",NAME,NAME,..." and a row "NAME,1,0.2,..." for each
 * name. States: a first row "Weight,NAME,NAME,..." and rows of a weight and a 0 or 1 for each name. A NAME is a type, or TYPE@ZONE.
 */
#ifndef FTH_TRACE_JOINT_TABLE_H
#define FTH_TRACE_JOINT_TABLE_H

#include "model/spot.h"
#include "trace/trace.h"

struct fth_joint_table {
	bool states;    /* else a correlation matrix */
	size_t nrows;
	double *weight; /* nrows, of states */
	double *cell;   /* nrows x offers, in the order of the table of offers; a matrix is square */
};

/* Offers that the file does not name are independent of all others (matrix) or an error (states). */
int fth_read_joint_table(struct fth_joint_table *ret, const struct fth_spot_table *offers, struct fth_input *in, struct fth_error *err);
int fth_load_joint_table(struct fth_joint_table *ret, const struct fth_spot_table *offers, const char *path, struct fth_error *err);
void fth_joint_table_release(struct fth_joint_table *t);

#endif
