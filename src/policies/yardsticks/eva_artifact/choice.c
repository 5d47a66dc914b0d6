/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/yardsticks/eva_artifact/choice.h"

#include <math.h>

/* 100 x exactly, as hi + lo. */
static void hundredfold(double x, double *hi, double *lo)
{
	double c = 134217729.0 * x, xh = c - (c - x), xl = x - xh;
	*hi = x * 100;
	*lo = (xh * 100 - *hi) + xl * 100; /* 100 has few bits: both products are exact */
}

double fth_round_cents(double x)
{
	double hi, lo;
	if (!(fabs(x) < 1e13))
		return x;
	hundredfold(x, &hi, &lo);
	double n = floor(hi), above = (hi - n) - 0.5; /* exact */
	double side = above + lo;                     /* its sign is exact */
	if (side > 0 || (side == 0 && fmod(n, 2) != 0))
		n += 1;
	return n / 100;
}

void fth_event_log_release(struct event_log *l)
{
	fth_vec_release(&l->before);
	fth_vec_release(&l->ended);
}

void fth_event_log_ended(struct event_log *l, fth_job_id job, fth_time at)
{
	struct ended e = {job, at};
	fth_vec_push(&l->ended, e);
}

static fth_time end_of(const struct event_log *l, fth_job_id job)
{
	for (size_t i = 0; i < l->ended.len; i++)
		if (l->ended.data[i].job == job)
			return l->ended.data[i].at;
	return 0;
}

bool fth_event_log_update(struct event_log *l, const struct fth_view *v)
{
	fth_time least = 0, greatest = 0;
	uint64_t n = 0;
	size_t k = 0;
	fth_job_id id = v->first_job;
	/* Both lists are by id: whoever is only in one of them came or went. */
	while (id != FTH_NONE || k < l->before.len) {
		const struct fth_job *j = id == FTH_NONE ? NULL : fth_view_job(v, id);
		fth_time at;
		if (j && k < l->before.len && l->before.data[k] == id) {
			id = j->next;
			k++;
			continue;
		}
		if (j && (k == l->before.len || id < l->before.data[k])) {
			at = j->submitted;
			id = j->next;
		} else {
			at = end_of(l, l->before.data[k++]);
		}
		least = n ? FTH_MIN(least, at) : at;
		greatest = n ? FTH_MAX(greatest, at) : at;
		n++;
	}
	fth_vec_clear(&l->ended);
	if (!n)
		return false;
	if (!l->n)
		l->first = (double)least / 1e6;
	l->last = (double)greatest / 1e6;
	l->n += n;
	return true;
}

void fth_event_log_remember(struct event_log *l, const struct fth_board *b)
{
	fth_vec_clear(&l->before);
	for (size_t i = 0; i < b->tasks.len; i++)
		if (!b->tasks.data[i].pinned && (!l->before.len || fth_vec_last(&l->before) != b->tasks.data[i].job))
			fth_vec_push(&l->before, b->tasks.data[i].job);
}

double fth_event_log_horizon(const struct event_log *l, double now_s)
{
	double p = (double)l->adopted / (double)FTH_MAX(1, l->n);
	if (l->adopted == 0)
		return now_s;
	if (l->n < 2)
		return NAN;
	double lambda = 1 / ((l->last - l->first) / (double)(l->n - 1));
	return -1 / (lambda * fth_log(1 - p));
}
