/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/batch.h"

#include "trace/readers.h"

enum { GAP = 301, PICK, DEMAND, SIZE, RUN, WHO };
/* The subtrace begins with stragglers of an earlier time. */
enum { STRAGGLERS = 75 };

static double clip(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static struct fth_rng rng_of(const struct fth_batch_options *o, int stream, uint64_t id)
{
	struct fth_rng r;
	fth_rng_seed(&r, o->seed, (uint64_t)stream, id);
	return r;
}

static fth_kind_id kind_of(struct fth_workload *w, double cpus, double gib)
{
	struct fth_alt alt = {.speed_ppm = 1000000};
	alt.demand.v[FTH_CPU] = (int64_t)(cpus * 1000 + 0.5);
	alt.demand.v[FTH_MEM] = (int64_t)(gib * 1024 + 0.5);
	struct fth_kind k = {.nalts = 1, .alts = &alt};
	/* MiB to bits, over bits a microsecond. */
	k.delays.save = (fth_time)((double)alt.demand.v[FTH_MEM] * 1048576 * 8 / FTH_BATCH_MBIT);
	return fth_kinds_intern(w->kinds, &k);
}

/* Add the job whose durations were pushed to works from `first` on, unless it ends too late. */
static bool add_job(struct fth_workload *w, const struct fth_batch_options *o, struct fth_job_spec *j, fth_kind_id kind,
		    size_t first)
{
	fth_time longest = 0;
	for (size_t k = first; k < w->works.len; k++)
		longest = FTH_MAX(longest, w->works.data[k]);
	if (o->length && j->submit + longest > o->length) {
		w->works.len = first;
		return false;
	}
	struct fth_task_group g = {.kind = kind, .count = (uint32_t)(w->works.len - first), .first_own = (uint32_t)first};
	j->deadline = FTH_NEVER;
	fth_workload_add(w, j, &g, 1);
	return true;
}

/* ---- Google-like ---- */

struct history {
	FTH_VEC(uint32_t) first; /* of each job, into durations */
	FTH_VEC(fth_time) durations;
};

static int read_line(struct history *h, struct fth_input *in, char *line, struct fth_error *err)
{
	fth_vec_push(&h->first, (uint32_t)h->durations.len);
	size_t column = 0;
	for (char *p = line; *p;) {
		size_t n = strcspn(p, " \t"), skip = n + strspn(p + n, " \t");
		double x;
		if (fth_parse_real(p, n, &x) || x < 0 || x > 1e9)
			return fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "'%.*s' is not a number",
					   (int)FTH_MIN(n, (size_t)40), p);
		if (column++ >= 3)
			fth_vec_push(&h->durations, FTH_MAX((fth_time)(x * 1e6), 1));
		p += skip;
	}
	if (column < 4)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), fth_input_line(in), "a job without a duration");
	return 0;
}

static int read_history(struct history *h, struct fth_input *in, struct fth_error *err)
{
	char *line;
	size_t len;
	int r;
	while ((r = fth_input_next(in, &line, &len, err)) > 0)
		if (len && fth_input_line(in) > STRAGGLERS && (r = read_line(h, in, line, err)))
			return r;
	if (!r && !h->first.len)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "no job in it after the first %d", STRAGGLERS);
	return r;
}

int fth_google_like(struct fth_workload *w, struct fth_input *in, const struct fth_batch_options *o,
		    struct fth_error *err)
{
	struct history h = {0};
	int e = read_history(&h, in, err);
	double at = 0;
	for (uint64_t i = 0; !e; i++) {
		struct fth_rng gap = rng_of(o, GAP, i), pick = rng_of(o, PICK, i), demand = rng_of(o, DEMAND, i);
		at += fth_rng_exponential(&gap, 3600e6 / o->jobs_per_hour);
		if ((o->length && at >= (double)o->length) || (o->max_jobs && i >= (uint64_t)o->max_jobs))
			break;
		uint64_t from = fth_rng_below(&pick, h.first.len);
		size_t first = w->works.len;
		size_t end = from + 1 < h.first.len ? h.first.data[from + 1] : h.durations.len;
		for (size_t k = h.first.data[from]; k < end; k++)
			fth_vec_push(&w->works, h.durations.data[k]);
		double cpus = clip(1.4 * fth_exp(0.9 * fth_rng_normal(&demand)), 0.2, 32);
		double gib = 4 * cpus * (0.15 + 0.8 * fth_rng_real(&demand));
		char key[48], user[32];
		snprintf(key, sizeof(key), "g%llu", (unsigned long long)i);
		snprintf(user, sizeof(user), "line-%llu", (unsigned long long)from);
		struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key), .submit = (fth_time)at};
		j.user = fth_sym_intern(w->syms, user);
		add_job(w, o, &j, kind_of(w, cpus, gib), first);
	}
	w->name = fth_sym_intern(w->syms, "google-like");
	fth_workload_finish(w);
	fth_vec_release(&h.first);
	fth_vec_release(&h.durations);
	return e;
}

/* ---- TwoSigma-like ---- */

void fth_twosigma_like(struct fth_workload *w, const struct fth_batch_options *o)
{
	double at = 0;
	for (uint64_t i = 0; !o->max_jobs || i < (uint64_t)o->max_jobs; i++) {
		struct fth_rng gap = rng_of(o, GAP, i), size = rng_of(o, SIZE, i), run = rng_of(o, RUN, i);
		struct fth_rng demand = rng_of(o, DEMAND, i), who = rng_of(o, WHO, i);
		at += fth_rng_exponential(&gap, 3600e6 / o->jobs_per_hour);
		if (o->length && at >= (double)o->length)
			break;
		/* 10 to 200 tasks, their logarithm uniform. */
		uint64_t n = (uint64_t)(10 * fth_exp(fth_log(20) * fth_rng_real(&size)));
		double minutes = clip(40 * fth_exp(0.9 * fth_rng_normal(&run)), 10, 360);
		size_t first = w->works.len;
		for (uint64_t k = 0; k < n; k++)
			fth_vec_push(&w->works,
				     (fth_time)(minutes * fth_exp(o->spread * fth_rng_normal(&run)) * (double)FTH_MINUTE));
		double gib = clip(10 * fth_exp(0.7 * fth_rng_normal(&demand)), 1, 128);
		double cpus = clip(gib / 4 * (0.25 + 0.5 * fth_rng_real(&demand)), 0.1, 64);
		char key[48], user[32];
		snprintf(key, sizeof(key), "t%llu", (unsigned long long)i);
		snprintf(user, sizeof(user), "user-%llu", (unsigned long long)fth_rng_below(&who, 40));
		struct fth_job_spec j = {.key = fth_sym_intern(w->syms, key), .submit = (fth_time)at};
		j.user = fth_sym_intern(w->syms, user);
		add_job(w, o, &j, kind_of(w, cpus, gib), first);
	}
	w->name = fth_sym_intern(w->syms, "twosigma-like");
	fth_workload_finish(w);
}
