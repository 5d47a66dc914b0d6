/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/runtime.h"

/* Values and errors remembered of a group: the median is over the latest of them. */
enum { RECENT = 21 };

struct ring {
	float data[RECENT];
	uint8_t len, at;
};

struct group {
	double sum, moving, last;
	uint64_t n;
	struct ring values, errors[FTH_BY_N];
};

struct fth_runtime_predictor {
	struct fth_map index; /* feature and its value -> group */
	FTH_VEC(struct group) groups;
};

struct fth_runtime_predictor *fth_predictor_new(void)
{
	return fth_alloc(sizeof(struct fth_runtime_predictor));
}

void fth_predictor_free(struct fth_runtime_predictor *p)
{
	if (!p)
		return;
	fth_map_release(&p->index);
	fth_vec_release(&p->groups);
	free(p);
}

const char *fth_runtime_feature_name(enum fth_runtime_feature f)
{
	static const char *const names[] = {"user+name+hour", "user+name", "name+hour", "name", "user+hour", "user", "class", "all"};
	return f < FTH_FEATURE_N ? names[f] : "?";
}

const char *fth_runtime_estimator_name(enum fth_runtime_estimator e)
{
	static const char *const names[] = {"mean", "median", "moving average", "recent"};
	return e < FTH_BY_N ? names[e] : "?";
}

uint64_t fth_runtime_name(const char *key)
{
	size_t n = 0;
	while (key[n] && !(key[n] >= '0' && key[n] <= '9'))
		n++;
	while (n && strchr("-_.:/[# ", key[n - 1]))
		n--;
	return n ? fth_hash_bytes(key, n, 1) | 1 : 0;
}

/* ---- rings ---- */

static void push(struct ring *r, double x)
{
	r->data[r->at] = (float)x;
	r->at = (uint8_t)((r->at + 1) % RECENT);
	r->len = (uint8_t)FTH_MIN(r->len + 1, RECENT);
}

static double median(const struct ring *r)
{
	float a[RECENT];
	for (size_t i = 0; i < r->len; i++) {
		size_t at = i;
		for (; at && a[at - 1] > r->data[i]; at--)
			a[at] = a[at - 1];
		a[at] = r->data[i];
	}
	size_t half = r->len / 2u;
	return r->len % 2 ? (double)a[half] : ((double)a[half - 1] + (double)a[half]) / 2;
}

/* ---- groups ---- */

/* 0: the job does not have this feature. */
static uint64_t key_of(const struct fth_runtime_job *j, enum fth_runtime_feature f)
{
	bool user = f == FTH_FEATURE_USER_NAME_HOUR || f == FTH_FEATURE_USER_NAME || f == FTH_FEATURE_USER_HOUR ||
		    f == FTH_FEATURE_USER;
	bool name = f <= FTH_FEATURE_NAME;
	bool hour = f == FTH_FEATURE_USER_NAME_HOUR || f == FTH_FEATURE_NAME_HOUR || f == FTH_FEATURE_USER_HOUR;
	if ((user && !j->user) || (name && !j->name) || (f == FTH_FEATURE_CLASS && !j->klass))
		return 0;
	uint64_t parts[] = {f, user ? j->user : 0, name ? j->name : 0, hour ? j->hour + 1 : 0,
			    f == FTH_FEATURE_CLASS ? j->klass : 0};
	return fth_hash_bytes(parts, sizeof(parts), 7) | 1;
}

static double estimate(const struct group *g, enum fth_runtime_estimator e)
{
	switch (e) {
	case FTH_BY_MEAN:
		return g->sum / (double)g->n;
	case FTH_BY_MEDIAN:
		return median(&g->values);
	case FTH_BY_MOVING:
		return g->moving;
	default:
		return g->last;
	}
}

/* A group that has never been put to the test is trusted less than any that was off by less than its size. */
static double error_of(const struct group *g, enum fth_runtime_estimator e)
{
	return g->errors[e].len ? median(&g->errors[e]) : 1;
}

struct fth_runtime_guess fth_predictor_guess(const struct fth_runtime_predictor *p, const struct fth_runtime_job *job)
{
	struct fth_runtime_guess best = {0};
	double least = 0;
	for (int f = 0; f < FTH_FEATURE_N; f++) {
		uint64_t key = key_of(job, (enum fth_runtime_feature)f), at;
		if (!key || !fth_map_get(&p->index, key, &at))
			continue;
		const struct group *g = &p->groups.data[at];
		for (int e = 0; e < FTH_BY_N; e++) {
			double err = error_of(g, (enum fth_runtime_estimator)e);
			if (best.runtime && err >= least)
				continue;
			double x = estimate(g, (enum fth_runtime_estimator)e) * (double)FTH_SEC;
			best = (struct fth_runtime_guess){x < 1 ? 1 : x < 4e18 ? (fth_time)x : FTH_NEVER / 4,
							  (enum fth_runtime_feature)f, (enum fth_runtime_estimator)e};
			least = err;
		}
	}
	return best;
}

static void learn(struct group *g, double seconds)
{
	for (int e = 0; g->n && e < FTH_BY_N; e++) {
		double off = estimate(g, (enum fth_runtime_estimator)e) - seconds;
		push(&g->errors[e], (off < 0 ? -off : off) / FTH_MAX(seconds, 1e-6));
	}
	g->moving = g->n ? g->moving + (seconds - g->moving) / 2 : seconds;
	g->sum += seconds;
	g->last = seconds;
	g->n++;
	push(&g->values, seconds);
}

void fth_predictor_learn(struct fth_runtime_predictor *p, const struct fth_runtime_job *job, fth_time runtime)
{
	for (int f = 0; f < FTH_FEATURE_N; f++) {
		uint64_t key = key_of(job, (enum fth_runtime_feature)f), at;
		if (!key)
			continue;
		if (!fth_map_get(&p->index, key, &at)) {
			at = p->groups.len;
			fth_map_put(&p->index, key, at);
			fth_vec_push(&p->groups, (struct group){0});
		}
		learn(&p->groups.data[at], (double)runtime / (double)FTH_SEC);
	}
}

/* ---- for policies ---- */

static struct fth_runtime_job describe(const struct fth_view *v, const struct fth_job *j)
{
	const struct fth_task *t = fth_view_task(v, j->first_task);
	fth_sym klass = t ? v->kinds[t->kind].klass : 0;
	const char *user = j->user ? fth_sym_name(v, j->user) : NULL, *class = klass ? fth_sym_name(v, klass) : NULL;
	return (struct fth_runtime_job){
		.user = user ? fth_hash_bytes(user, strlen(user), 2) | 1 : 0,
		.name = fth_runtime_name(fth_sym_name(v, j->name)),
		.klass = class ? fth_hash_bytes(class, strlen(class), 3) | 1 : 0,
		.hour = (unsigned)(j->submitted / FTH_HOUR % 24),
	};
}

fth_time fth_predictor_submitted(struct fth_runtime_predictor *p, const struct fth_view *v, const struct fth_job *j)
{
	struct fth_runtime_job job = describe(v, j);
	return fth_predictor_guess(p, &job).runtime;
}

void fth_predictor_done(struct fth_runtime_predictor *p, const struct fth_view *v, const struct fth_job *j)
{
	struct fth_runtime_job job = describe(v, j);
	double sum = 0, n = 0;
	for (uint32_t k = 0; k < j->ntasks; k++) {
		const struct fth_task *t = fth_view_task(v, j->first_task + k);
		if (t) {
			sum += (double)t->ran;
			n++;
		}
	}
	if (n > 0)
		fth_predictor_learn(p, &job, (fth_time)(sum / n));
}
