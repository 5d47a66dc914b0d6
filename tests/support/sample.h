/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up comparison with plausible figures, for tests of what is written about one. */
#ifndef FTH_TESTS_SAMPLE_H
#define FTH_TESTS_SAMPLE_H

#include "report/compare.h"

struct sample {
	struct fth_comparison c;
	struct fth_symtab *syms;
	struct fth_run runs[8];
};
/* jobs finished jobs in each of nruns runs (at most 8). */
void sample_make(struct sample *s, size_t nruns, uint32_t jobs, uint64_t seed);
void sample_release(struct sample *s);

#endif
