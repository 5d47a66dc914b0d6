/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairwise co-location speeds of workload classes: how fast a task of class a is beside one of class
 * b, alone = 1. The simulated world's hidden truth; given to a policy only if it asks (Owl).
 */
#ifndef FTH_MODEL_PROFILE_H
#define FTH_MODEL_PROFILE_H

#include "base/base.h"

struct fth_profile {
	struct fth_symtab *syms; /* borrowed */
	FTH_VEC(fth_sym) classes;
	struct fth_map index; /* sym -> index into classes */
	double *rate;         /* classes.len squared, [victim][neighbour] */
	double missing;       /* a pair of which a class is not listed */
};
void fth_profile_init(struct fth_profile *p, struct fth_symtab *syms, double missing);
void fth_profile_release(struct fth_profile *p);
/* Give the table its classes (distinct); all pairs start as `missing`. */
void fth_profile_set_classes(struct fth_profile *p, const fth_sym *classes, uint32_t n);
void fth_profile_set(struct fth_profile *p, fth_sym victim, fth_sym neighbour, double rate);
/* double fth_profile_rate(p, victim, neighbour) is public (farthing/policy.h). */

#endif
