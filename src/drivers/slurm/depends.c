/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dependencies of jobs that wait. Slurm does not look at them while a job is held, as all of ours are, so "(unfulfilled)" stays in
 * its list for ever; we look ourselves, to rent nothing for a job that cannot begin yet. Slurm has the last word: it looks again when
 * the job is released. What is unknown here (a job the controller has forgotten, another cluster's) is therefore taken as fulfilled.
 */
#include "drivers/slurm/slurm_driver.h"

static bool same(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && !strncmp(p, word, n);
}

static bool started(const job_info_t *d)
{
	return (d->job_state & JOB_STATE_BASE) != JOB_PENDING;
}

static bool over(const job_info_t *d)
{
	return (d->job_state & JOB_STATE_BASE) > JOB_SUSPENDED && !(d->job_state & JOB_COMPLETING);
}

static bool well(const job_info_t *d)
{
	return over(d) && (d->job_state & JOB_STATE_BASE) == JOB_COMPLETE && !d->exit_code;
}

static bool one_met(const char *type, size_t n, const job_info_t *d)
{
	if (same(type, n, "after"))
		return started(d);
	if (same(type, n, "afterok") || same(type, n, "aftercorr"))
		return well(d);
	if (same(type, n, "afternotok"))
		return over(d) && !well(d);
	return over(d); /* afterany, and what we do not know */
}

/* All records of the job (or, of an array, of the task; "_*" or none: of all tasks). */
static bool met(const job_info_msg_t *all, const char *type, size_t n, const char *id)
{
	char *end;
	unsigned long job = strtoul(id, &end, 10), task = NO_VAL;
	if (*end == '_' && end[1] != '*')
		task = strtoul(end + 1, NULL, 10);
	for (uint32_t i = 0; i < all->record_count; i++) {
		const job_info_t *d = &all->job_array[i];
		bool it = d->job_id == job || (d->array_job_id == job && (task == NO_VAL || d->array_task_id == task));
		if (it && !one_met(type, n, d))
			return false;
	}
	return true;
}

/* No other job of this name and user that came earlier is left. */
static bool alone(const job_info_msg_t *all, const job_info_t *j)
{
	for (uint32_t i = 0; i < all->record_count; i++) {
		const job_info_t *d = &all->job_array[i];
		if (d->job_id < j->job_id && d->user_id == j->user_id && d->name && j->name && !strcmp(d->name, j->name) && !over(d))
			return false;
	}
	return true;
}

/* "afterok:2(unfulfilled),afterany:3_*(failed)"; '?' instead of ',' where one of them is enough. */
bool fth_slurm_may_begin(const job_info_msg_t *all, const job_info_t *j)
{
	const char *p = j->dependency ? j->dependency : "";
	bool any = strchr(p, '?') != NULL, one = false, every = true;
	while (*p) {
		size_t n = strcspn(p, ":(,?");
		const char *id = p[n] == ':' ? p + n + 1 : "";
		bool is = same(p, n, "singleton") ? alone(all, j) : met(all, p, n, id);
		one |= is;
		every &= is;
		p += strcspn(p, ",?");
		p += *p != '\0';
	}
	return any ? one : every;
}
