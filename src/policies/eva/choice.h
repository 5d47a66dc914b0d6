/* SPDX-License-Identifier: Apache-2.0 */
/* Full or Partial: how long a configuration is expected to last (section 4.5 of the paper). */
#ifndef FTH_POLICIES_EVA_CHOICE_H
#define FTH_POLICIES_EVA_CHOICE_H

#include "base/base.h"

/*
 * Events are job arrivals and ends. lambda is their number over the time since the first; p, the
 * chance that one of them brings about a Full Reconfiguration, is estimated with one success and one
 * failure added (the mean of a uniform prior), so that neither the first events nor a long series of
 * one kind make it 0 or 1.
 */
struct fth_eva_clock {
	fth_time first; /* event; FTH_NEVER: none yet */
	uint64_t events, fulls;
};
void fth_eva_clock_init(struct fth_eva_clock *c);
void fth_eva_clock_event(struct fth_eva_clock *c, fth_time at);
double fth_eva_lambda(const struct fth_eva_clock *c, fth_time now, fth_time round); /* per second */
double fth_eva_p(const struct fth_eva_clock *c);
/* D-hat = -1 / (lambda ln(1 - p)): the mean time to the next Full Reconfiguration, in seconds. */
double fth_eva_horizon(double lambda, double p);

/* A candidate configuration: what it saves a second, and what switching to it costs once. */
struct fth_eva_option {
	double saving;    /* S, dollars per second */
	double migration; /* M, dollars */
};
/* S_F D - M_F > S_P D - M_P */
bool fth_eva_prefers_full(const struct fth_eva_option *full, const struct fth_eva_option *partial, double d);

#endif
