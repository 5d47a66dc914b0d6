/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The close calls of a search: comparisons of what two sets of tasks are worth (or one set and a price) that
 * were decided by so little that means moved by rounding alone could turn them. As long as all of them
 * come out as they did, the search would too.
 */
#ifndef FTH_POLICIES_EVA_ARTIFACT_CLOSE_H
#define FTH_POLICIES_EVA_ARTIFACT_CLOSE_H

#include "policies/shared/tnrp.h"

/* A set of tasks (a slice of the log's members), or, with n = 0, a price. */
struct close_term {
	uint32_t first, n;
	double price;
};

struct close_call {
	struct close_term a, b;
	enum fth_multi multi;
	int sign; /* of a - b */
};

struct close_log {
	FTH_VEC(struct fth_member) members;
	FTH_VEC(struct close_call) calls;
	bool overflow; /* there were too many to keep */
	struct fth_party party;
};
void fth_close_release(struct close_log *l);
void fth_close_clear(struct close_log *l);

/* Dollars an hour: no sum moves by so much when means move by rounding. */
static inline bool fth_is_close(double a, double b)
{
	double gap = a - b;
	return gap < 1e-7 && gap > -1e-7;
}

struct close_term fth_close_price(double price);
/* The party, with one more task if given. */
struct close_term fth_close_set(struct close_log *l, const struct fth_party *p, const struct fth_member *more);
void fth_close_note(struct close_log *l, struct close_term a, struct close_term b, enum fth_multi multi, double gap);
/* Whether every call would come out the same with the table as it is now. */
bool fth_close_same(struct close_log *l, struct fth_tnrp *r);

#endif
