/* SPDX-License-Identifier: Apache-2.0 */
/* The result of one run: its life, and its way through a pipe. */
#include "report/run.h"

#include <math.h>
#include <unistd.h>

/* What a reader accepts at most for one list: far above any run, far below what would hurt. */
#define MAX_BYTES ((uint64_t)1 << 33)
#define READ_STEP ((size_t)1 << 20)
#define MAGIC 0x31306e7572687466ull /* "fthrun01" */

void fth_run_init(struct fth_run *r)
{
	memset(r, 0, sizeof(*r));
	r->bucket_width = FTH_RUN_BUCKET_START;
}

void fth_run_release(struct fth_run *r)
{
	fth_str_release(&r->params);
	fth_str_release(&r->note);
	fth_str_release(&r->rejected_by);
	fth_str_release(&r->type_names);
	fth_vec_release(&r->job_list);
	fth_vec_release(&r->instance_list);
	fth_vec_release(&r->buckets);
	fth_vec_release(&r->type_seconds);
	fth_vec_release(&r->notes);
	fth_vec_release(&r->services);
	fth_run_init(r);
}

const char *fth_run_type_name(const struct fth_run *r, uint32_t type)
{
	size_t pos = 0;
	for (uint32_t i = 0; i < type && pos < r->type_names.len; i++)
		pos += strlen(r->type_names.data + pos) + 1;
	return pos < r->type_names.len ? r->type_names.data + pos : "";
}

static int compare_times(const void *a, const void *b)
{
	fth_time x = *(const fth_time *)a, y = *(const fth_time *)b;
	return (x > y) - (x < y);
}

size_t fth_run_sorted_jcts(const struct fth_run *r, fth_time *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < r->job_list.len; i++) {
		const struct fth_run_job *j = &r->job_list.data[i];
		if (j->ended != FTH_NEVER)
			ret[n++] = j->ended - j->submitted;
	}
	qsort(ret, n, sizeof(*ret), compare_times);
	return n;
}

fth_time fth_percentile(const fth_time *sorted, size_t n, unsigned percent)
{
	if (!n)
		return 0;
	/* The least value that at least this share of all values does not exceed (nearest rank). */
	uint64_t rank = ((uint64_t)n * percent + 99) / 100;
	return sorted[rank ? FTH_MIN(rank, n) - 1 : 0];
}

void fth_run_job_figures(struct fth_run *run)
{
	double jct = 0, wait = 0, idle = 0, stretch = 0, speed = 0;
	uint64_t stretched = 0, measured = 0;
	size_t n = run->job_list.len;
	fth_time *sorted = fth_alloc(FTH_MAX(n, (size_t)1) * sizeof(*sorted));
	run->jobs = fth_run_sorted_jcts(run, sorted);
	run->jobs_unfinished = n - run->jobs - fth_run_lasting_services(run);
	for (size_t i = 0; i < n; i++) {
		const struct fth_run_job *j = &run->job_list.data[i];
		if (j->ended == FTH_NEVER)
			continue;
		fth_time took = j->ended - j->submitted;
		jct += (double)took;
		wait += j->started == FTH_NEVER ? 0.0 : (double)(j->started - j->submitted);
		idle += (double)(took - j->executing);
		if (j->standalone > 0 && ++stretched)
			stretch += (double)took / (double)j->standalone;
		if (j->speed > 0 && ++measured)
			speed += j->speed;
	}
	double jobs = run->jobs ? (double)run->jobs : 1, sec = (double)FTH_SEC;
	run->jct_mean_s = jct / jobs / sec;
	run->jct_p50_s = (double)fth_percentile(sorted, run->jobs, 50) / sec;
	run->jct_p95_s = (double)fth_percentile(sorted, run->jobs, 95) / sec;
	run->jct_p99_s = (double)fth_percentile(sorted, run->jobs, 99) / sec;
	run->wait_mean_s = wait / jobs / sec;
	run->idle_mean_s = idle / jobs / sec;
	run->stretch_mean = stretched ? stretch / (double)stretched : 0;
	run->norm_throughput = measured ? speed / (double)measured : 0;
	free(sorted);
}

double fth_run_service_availability(const struct fth_run_service *s)
{
	return s->over > 0 ? (double)s->whole / (double)s->over : 0;
}

bool fth_run_service_missed(const struct fth_run_service *s)
{
	return s->first == FTH_NEVER || fth_run_service_availability(s) < s->target;
}

uint64_t fth_run_lasting_services(const struct fth_run *r)
{
	uint64_t n = 0;
	for (size_t i = 0; i < r->services.len; i++)
		n += r->services.data[i].first != FTH_NEVER && !r->services.data[i].done;
	return n;
}

const struct fth_run_service *fth_run_worst_service(const struct fth_run *r)
{
	const struct fth_run_service *worst = NULL;
	for (size_t i = 0; i < r->services.len; i++)
		if (!worst || fth_run_service_availability(&r->services.data[i]) < fth_run_service_availability(worst))
			worst = &r->services.data[i];
	return worst;
}

/* ---- buckets ---- */

static void bucket_add(struct fth_run_bucket *a, const struct fth_run_bucket *b)
{
	a->cost_usd += b->cost_usd;
	a->instances += b->instances;
	a->tasks += b->tasks;
	a->waiting += b->waiting;
	for (int i = 0; i < 3; i++) {
		a->used[i] += b->used[i];
		a->capacity[i] += b->capacity[i];
	}
}

void fth_run_widen(struct fth_run *r)
{
	size_t n = r->buckets.len, half = (n + 1) / 2;
	double *by_type = r->type_seconds.data;
	for (size_t i = 0; i < half; i++) {
		r->buckets.data[i] = r->buckets.data[2 * i];
		if (2 * i + 1 < n)
			bucket_add(&r->buckets.data[i], &r->buckets.data[2 * i + 1]);
		for (uint32_t t = 0; t < r->ntypes; t++) {
			double sum = by_type[2 * i * r->ntypes + t];
			if (2 * i + 1 < n)
				sum += by_type[(2 * i + 1) * r->ntypes + t];
			by_type[i * r->ntypes + t] = sum;
		}
	}
	r->buckets.len = half;
	r->type_seconds.len = half * r->ntypes;
	r->bucket_width *= 2;
}

struct fth_run_bucket *fth_run_bucket_at(struct fth_run *r, fth_time t, size_t *ret_index)
{
	while (t / r->bucket_width >= FTH_RUN_BUCKETS)
		fth_run_widen(r);
	size_t index = (size_t)(t / r->bucket_width);
	size_t have = r->buckets.len;
	if (index >= have) {
		size_t cells = (index + 1) * r->ntypes;
		fth_vec_reserve(&r->buckets, index + 1);
		memset(r->buckets.data + have, 0, (index + 1 - have) * sizeof(*r->buckets.data));
		r->buckets.len = index + 1;
		if (cells) {
			fth_vec_reserve(&r->type_seconds, cells);
			memset(r->type_seconds.data + have * r->ntypes, 0,
			       (cells - have * r->ntypes) * sizeof(double));
			r->type_seconds.len = cells;
		}
	}
	*ret_index = index;
	return &r->buckets.data[index];
}

/* ---- pipe ---- */

static int write_all(int fd, const void *p, size_t n)
{
	const char *s = p;
	while (n) {
		ssize_t done = write(fd, s, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		s += done;
		n -= (size_t)done;
	}
	return 0;
}

static int read_all(int fd, void *p, size_t n)
{
	char *s = p;
	while (n) {
		ssize_t got = read(fd, s, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EPIPE;
		s += got;
		n -= (size_t)got;
	}
	return 0;
}

/* The lists of a run, in the order in which they follow its fixed part. */
struct list {
	void **data;
	size_t *len, *cap, item;
	bool text;
};
enum { NLISTS = 10 };

#define LIST(v, is_text) ((struct list){(void **)&(v).data, &(v).len, &(v).cap, sizeof(*(v).data), is_text})

static void lists_of(struct fth_run *r, struct list ret[NLISTS])
{
	ret[0] = LIST(r->params, true);
	ret[1] = LIST(r->note, true);
	ret[2] = LIST(r->rejected_by, true);
	ret[3] = LIST(r->type_names, true);
	ret[4] = LIST(r->job_list, false);
	ret[5] = LIST(r->instance_list, false);
	ret[6] = LIST(r->buckets, false);
	ret[7] = LIST(r->type_seconds, false);
	ret[8] = LIST(r->notes, false);
	ret[9] = LIST(r->services, false);
}

int fth_run_write(const struct fth_run *r, int fd)
{
	struct fth_run copy = *r; /* the lists are looked at through it, not changed */
	struct list lists[NLISTS];
	uint64_t head[2] = {MAGIC, sizeof(copy)};
	lists_of(&copy, lists);
	int rc = write_all(fd, head, sizeof(head));
	if (!rc)
		rc = write_all(fd, &copy, sizeof(copy));
	for (int i = 0; i < NLISTS && !rc; i++)
		if (*lists[i].len)
			rc = write_all(fd, *lists[i].data, *lists[i].len * lists[i].item);
	return rc;
}

/* Grow only as fast as bytes arrive, so that a broken length costs nothing. */
static int read_list(struct list *l, size_t len, int fd)
{
	size_t bytes = len * l->item, have = 0;
	char *data = NULL;
	while (have < bytes) {
		size_t step = FTH_MIN(FTH_MAX(READ_STEP, have), bytes - have);
		data = fth_realloc(data, have + step + 1);
		int rc = read_all(fd, data + have, step);
		if (rc) {
			free(data);
			return rc;
		}
		have += step;
	}
	if (data && l->text)
		data[bytes] = '\0';
	*l->data = data;
	*l->len = len;
	*l->cap = l->text && data ? len + 1 : len;
	return 0;
}

int fth_run_read(struct fth_run *r, int fd)
{
	struct fth_run got;
	struct list lists[NLISTS];
	size_t lens[NLISTS];
	uint64_t head[2];
	int rc = read_all(fd, head, sizeof(head));
	if (rc)
		return rc;
	if (head[0] != MAGIC || head[1] != sizeof(got))
		return -EBADMSG;
	rc = read_all(fd, &got, sizeof(got));
	if (rc)
		return rc;
	lists_of(&got, lists);
	bool sane = got.bucket_width > 0;
	for (int i = 0; i < NLISTS; i++) {
		lens[i] = *lists[i].len;
		sane &= lens[i] <= MAX_BYTES / lists[i].item;
		*lists[i].data = NULL;
		*lists[i].len = *lists[i].cap = 0;
	}
	sane &= lens[7] == lens[6] * got.ntypes;
	if (!sane)
		return -EBADMSG;
	got.policy[sizeof(got.policy) - 1] = got.fallback[sizeof(got.fallback) - 1] = '\0';
	for (int i = 0; i < NLISTS && !rc; i++)
		rc = read_list(&lists[i], lens[i], fd);
	if (rc) {
		fth_run_release(&got);
		return rc;
	}
	fth_run_release(r);
	*r = got;
	return 0;
}
