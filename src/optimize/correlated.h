/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of machines that do not fall independently.
 *
 * Two ways to say so. States: how long which kinds were up together, as measured. Causes: a correlation matrix turned into a
 * few events that several kinds share (common_cause.h), the rest of each kind's failures being its own.
 */
#ifndef FTH_OPTIMIZE_CORRELATED_H
#define FTH_OPTIMIZE_CORRELATED_H

#include "optimize/availability.h"

struct fth_joint;
void fth_joint_free(struct fth_joint *j);

/* matrix: n x n correlation coefficients of "is up", symmetric, 1 on the diagonal; p: availabilities. Negative coefficients count
 * as 0 (falling apart from each other only helps). Coefficients that do not go with these availabilities, or not with each other, are
 * taken as nearly as they can be: fth_joint_correlations() tells what they are then. */
int fth_joint_from_matrix(struct fth_joint **ret, const double *matrix, const double *p, uint32_t n, struct fth_error *err);

/* states: nstates rows of n flags (is kind i up), each with a weight > 0 (time). */
int fth_joint_from_states(struct fth_joint **ret, const uint8_t *up, const double *weight, size_t nstates, uint32_t n,
			  struct fth_error *err);
/* The share of time of each kind, and their correlation matrix (0 where a kind never changes). */
void fth_joint_marginals(const struct fth_joint *j, double *p);
void fth_joint_correlations(const struct fth_joint *j, double *matrix);
uint32_t fth_joint_kinds(const struct fth_joint *j);

/* Probability that the pool has at least m units; parts are all the kinds, in order, and every kind also fails on its own for this
 * share of the time. Their p does not count: the joint tells it. Never above the true value, and below it by
 * no more than 1e-11. */
#define FTH_JOINT_MEASURED_MAX 0.99999 /* more than this is not believed of states: no window shows that something is always there */
double fth_joint_availability(const struct fth_joint *j, const struct fth_pool_part *parts, uint64_t m, double failure);
/* Probability that all kinds of a set are down at once. */
double fth_joint_all_down(const struct fth_joint *j, const uint32_t *set, uint32_t n, double failure);

#endif
