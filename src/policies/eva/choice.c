/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/eva/choice.h"

void fth_eva_clock_init(struct fth_eva_clock *c)
{
	*c = (struct fth_eva_clock){.first = FTH_NEVER};
}

void fth_eva_clock_event(struct fth_eva_clock *c, fth_time at)
{
	c->first = FTH_MIN(c->first, at);
	c->events++;
}

double fth_eva_lambda(const struct fth_eva_clock *c, fth_time now, fth_time round)
{
	if (!c->events)
		return 0;
	/* Events of the very first round: they came within one. */
	fth_time span = FTH_MAX(now - c->first, round);
	return (double)c->events / ((double)span / 1e6);
}

double fth_eva_p(const struct fth_eva_clock *c)
{
	return ((double)c->fulls + 1) / ((double)c->events + 2);
}

double fth_eva_horizon(double lambda, double p)
{
	return -1 / (lambda * fth_log(1 - p));
}

bool fth_eva_prefers_full(const struct fth_eva_option *full, const struct fth_eva_option *partial, double d)
{
	return full->saving * d - full->migration > partial->saving * d - partial->migration;
}
