/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/runner.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "policies/table.h"
#include "report/classes.h"
#include "report/metrics.h"
#include "report/settle.h"
#include "store/journal.h"

/* What a child tells its parent while it runs and how it ended; in memory both can see. The run's
 * figures come through a file in memory, complete before the child exits. */
struct slot {
	_Atomic uint64_t done, total;
	struct fth_error error;
	int32_t has_run;
};

struct child {
	pid_t pid; /* 0: not started, or ended */
	int fd;
};

struct runner {
	struct fth_runner_job *jobs;
	size_t n, next, running;
	struct child *children;
	struct slot *slots;
	sigset_t signals, before;
	struct timespec started;
	bool show;
};

static double seconds_since(const struct timespec *from)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

/* ---- in the child ---- */

static bool report_progress(void *arg, uint64_t done, uint64_t total, fth_time now)
{
	struct slot *s = arg;
	(void)now;
	atomic_store_explicit(&s->done, done, memory_order_relaxed);
	atomic_store_explicit(&s->total, total, memory_order_relaxed);
	return true;
}

/* Tells the metrics each job's runtime alone, which policies and events never carry. */
struct teller {
	struct fth_observer base;
	struct fth_metrics *metrics;
	const struct fth_workload *workload;
	fth_time last; /* the run's clock when something last happened */
};

static fth_time standalone(const struct fth_workload *w, const struct fth_job_spec *j)
{
	fth_time longest = 0;
	if (j->iter_rate > 0)
		return (fth_time)((double)j->iters / j->iter_rate * (double)FTH_SEC);
	for (uint32_t g = 0; g < j->ngroups; g++) {
		const struct fth_task_group *group = &w->groups.data[j->first_group + g];
		for (uint32_t i = 0; i < group->count; i++)
			longest = FTH_MAX(longest, fth_group_work(w, group, i));
	}
	return longest;
}

static void tell_standalone(struct fth_observer *o, const struct fth_cluster *c, const struct fth_job *job)
{
	struct teller *t = (struct teller *)o;
	(void)c;
	/* Jobs are submitted in the workload's order, so their ids are its indices. */
	if (job->id < t->workload->jobs.len)
		fth_metrics_standalone(t->metrics, job->id, standalone(t->workload, &t->workload->jobs.data[job->id]));
}

static void note_time(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	(void)c;
	((struct teller *)o)->last = ev->time;
}

/* How the policy wants its use paid for: its parameter "contract", if it has one. */
static enum fth_settlement settlement_of(const struct fth_policy_choice *p)
{
	for (const struct fth_param *q = p->ops->params; q && q->name; q++)
		if (!strcmp(q->name, "contract") && q->type == FTH_PARAM_CHOICE) {
			const char *how = q->choices[*(const int *)((const char *)p->params + q->offset)];
			return !strcmp(how, "hybrid") ? FTH_SETTLE_HINDSIGHT : !strcmp(how, "online") ? FTH_SETTLE_ONLINE : !strcmp(how, "committed") ? FTH_SETTLE_COMMITTED : FTH_SETTLE_LIST;
		}
	return FTH_SETTLE_LIST;
}

/* Run with everybody watching; the figures are taken while the engine is there. */
static int run_watched(const struct fth_runner_job *job, struct slot *slot, struct fth_journal *journal,
		       struct fth_run *run)
{
	struct fth_error *err = &slot->error;
	struct timespec start;
	struct fth_engine *engine = NULL;
	struct fth_metrics *m = fth_metrics_new(&job->world->catalog.pub, job->window_from, job->window_to);
	struct teller teller = {.base = {.on_submit = tell_standalone, .after_event = note_time},
				.metrics = m,
				.workload = &job->world->workload};
	struct fth_observer *observers = fth_metrics_observer(m);
	struct fth_sim_progress progress = {report_progress, slot};
	observers->next = &teller.base;
	struct fth_observer **last = &teller.base.next;
	if (journal) {
		*last = fth_journal_observer(journal);
		last = &(*last)->next;
	}
	struct fth_classes *classes = fth_cli_cutoff(job->policy) < 0 ? NULL : fth_classes_new(fth_cli_cutoff(job->policy));
	if (classes)
		*last = fth_classes_observer(classes);
	clock_gettime(CLOCK_MONOTONIC, &start);
	int r = fth_sim_run(&engine, job->world, job->policy, &fth_policy_no_packing, &job->sim, observers, &progress, err);
	run->wall_s = seconds_since(&start);
	if (engine) {
		/* Services that are left have lasted until the horizon, though nothing may have happened for long. */
		bool lasted = !r && job->sim.horizon && fth_engine_cluster(engine)->view.njobs;
		fth_metrics_finish(m, engine, lasted || r == -ETIME ? job->sim.horizon : teller.last, run);
		if (classes)
			fth_classes_finish(classes, &job->world->catalog.pub, run);
		int e = fth_settle(run, engine, settlement_of(job->policy), job->world->workload.epoch, r ? NULL : err);
		r = r ? r : e;
		/* Also those that a horizon kept from being submitted. */
		uint64_t jobs = job->world->stream.open ? job->world->stream.summary.jobs : job->world->workload.jobs.len;
		run->jobs_unfinished = jobs - run->jobs - fth_run_lasting_services(run);
		snprintf(run->policy, sizeof(run->policy), "%s", job->policy->label);
		fth_str_clear(&run->params);
		fth_params_json(job->policy->ops->params, job->policy->params, &run->params);
		slot->has_run = true;
	}
	/* A run that left jobs is worth explaining too. */
	if (journal && engine) {
		int e = fth_journal_commit(journal, engine, r ? NULL : err);
		r = r ? r : e;
	} else if (journal) {
		fth_journal_abort(journal);
	}
	fth_classes_free(classes);
	fth_metrics_free(m);
	fth_engine_free(engine);
	return r;
}

static int child_run(const struct fth_runner_job *job, struct slot *slot, struct fth_run *run)
{
	struct fth_journal *journal = NULL;
	struct fth_limits limits = fth_sim_limits(&job->sim, job->world);
	int r = 0;
	if (job->journal)
		r = fth_journal_create(&journal, job->journal, job->world, job->policy, &fth_policy_no_packing,
				       &limits, &slot->error);
	return r ? r : run_watched(job, slot, journal, run);
}

static _Noreturn void child_main(const struct runner *x, size_t i)
{
	struct slot *slot = &x->slots[i];
	struct fth_run run;
	/* Follow the parent, should it be killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, &x->before, NULL);
	fth_run_init(&run);
	int r = child_run(&x->jobs[i], slot, &run);
	if (r && !slot->error.code)
		fth_fail(&slot->error, r, "%s", strerror(-r));
	if (slot->has_run && (r = fth_run_write(&run, x->children[i].fd))) {
		slot->has_run = false;
		fth_fail(&slot->error, r, "cannot hand back the run's figures: %s", strerror(-r));
	}
	fth_run_release(&run);
	/* Not exit(): the parent's buffers are not ours to write out. */
	_exit(0);
}

/* ---- in the parent ---- */

static int start_next(struct runner *x, struct fth_error *err)
{
	size_t i = x->next;
	struct child *c = &x->children[i];
	c->fd = memfd_create("farthing-run", MFD_CLOEXEC);
	if (c->fd < 0)
		return fth_fail(err, -errno, "cannot make a file in memory: %s", strerror(errno));
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		return fth_fail(err, -errno, "cannot start a process: %s", strerror(errno));
	}
	if (c->pid == 0)
		child_main(x, i);
	x->next++;
	x->running++;
	return 0;
}

static void collect(struct runner *x, size_t i, int status, const struct rusage *usage)
{
	struct fth_runner_job *job = &x->jobs[i];
	struct slot *slot = &x->slots[i];
	job->error = slot->error;
	if (job->journal && (WIFSIGNALED(status) || WEXITSTATUS(status)))
		fth_output_sweep(job->journal, x->children[i].pid);
	if (WIFSIGNALED(status)) {
		job->signal = WTERMSIG(status);
		fth_fail(&job->error, -EIO, "its process ended by signal %d (%s)", job->signal, strsignal(job->signal));
	} else if (WEXITSTATUS(status) == FTH_EXIT_MEMORY) {
		fth_fail(&job->error, -ENOMEM, "out of memory");
	} else if (WEXITSTATUS(status) != 0) {
		fth_fail(&job->error, -EIO, "its process ended with exit code %d", WEXITSTATUS(status));
	} else if (slot->has_run) {
		int r = lseek(x->children[i].fd, 0, SEEK_SET) < 0 ? -errno : fth_run_read(&job->run, x->children[i].fd);
		if (r)
			fth_fail(&job->error, r, "cannot read the run's figures: %s", strerror(-r));
		job->has_run = !r;
		job->run.peak_rss_mb = (double)usage->ru_maxrss / 1024;
	}
	close(x->children[i].fd);
	x->children[i] = (struct child){0, -1};
	x->running--;
}

static void reap(struct runner *x)
{
	for (size_t i = 0; i < x->next; i++) {
		int status;
		struct rusage usage;
		if (x->children[i].pid && wait4(x->children[i].pid, &status, WNOHANG, &usage) == x->children[i].pid)
			collect(x, i, status, &usage);
	}
}

/* End what was started and not yet ended; only our own children, by their ids. */
static void end_children(struct runner *x)
{
	for (size_t i = 0; i < x->next; i++) {
		struct child *c = &x->children[i];
		if (!c->pid)
			continue;
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (x->jobs[i].journal)
			fth_output_sweep(x->jobs[i].journal, c->pid);
		close(c->fd);
		*c = (struct child){0, -1};
	}
}

static void show_progress(const struct runner *x)
{
	double share = 0, elapsed = seconds_since(&x->started);
	size_t ended = x->next - x->running;
	if (!x->show || elapsed < 0.5)
		return;
	for (size_t i = 0; i < x->n; i++) {
		uint64_t total = atomic_load_explicit(&x->slots[i].total, memory_order_relaxed);
		uint64_t done = atomic_load_explicit(&x->slots[i].done, memory_order_relaxed);
		if (i < x->next && !x->children[i].pid)
			share += 1;
		else if (total)
			share += (double)done / (double)total;
	}
	share /= (double)x->n;
	fprintf(stderr, "\r\033[Kfarthing: %zu of %zu runs ended, %.0f %%", ended, x->n, 100 * share);
	if (share > 0.02)
		fprintf(stderr, ", about %.0f s left", ceil(elapsed * (1 - share) / share));
	fflush(stderr);
}

static int wait_and_reap(struct runner *x, struct fth_error *err)
{
	struct timespec tick = {.tv_nsec = 200 * 1000 * 1000};
	int sig = sigtimedwait(&x->signals, NULL, &tick);
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
		return fth_fail(err, -ECANCELED, "interrupted");
	reap(x);
	show_progress(x);
	return 0;
}

static int run_all(struct runner *x, unsigned parallel, struct fth_error *err)
{
	int r = 0;
	while (!r && (x->next < x->n || x->running)) {
		if (x->next < x->n && x->running < parallel)
			r = start_next(x, err);
		else
			r = wait_and_reap(x, err);
	}
	return r;
}

int fth_runner_run(struct fth_runner_job *jobs, size_t n, unsigned parallel, enum fth_progress progress,
		   struct fth_error *err)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct runner x = {.jobs = jobs, .n = n, .show = progress == FTH_PROGRESS_AUTO && isatty(STDERR_FILENO)};
	size_t size = n * sizeof(*x.slots);
	if (!n)
		return 0;
	if (!parallel)
		parallel = cores > 0 ? (unsigned)cores : 1;
	x.slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (x.slots == MAP_FAILED)
		return fth_fail(err, -errno, "cannot map memory: %s", strerror(errno));
	x.children = fth_alloc(n * sizeof(*x.children));
	for (size_t i = 0; i < n; i++) {
		x.children[i].fd = -1;
		fth_run_init(&jobs[i].run);
	}
	/* Signals are taken one at a time by sigtimedwait, so that nothing runs inside a handler. */
	sigemptyset(&x.signals);
	sigaddset(&x.signals, SIGCHLD);
	sigaddset(&x.signals, SIGINT);
	sigaddset(&x.signals, SIGTERM);
	sigaddset(&x.signals, SIGHUP);
	fflush(NULL);
	sigprocmask(SIG_BLOCK, &x.signals, &x.before);
	clock_gettime(CLOCK_MONOTONIC, &x.started);
	int r = run_all(&x, parallel, err);
	end_children(&x);
	if (x.show)
		fputs("\r\033[K", stderr);
	sigprocmask(SIG_SETMASK, &x.before, NULL);
	munmap(x.slots, size);
	free(x.children);
	return r;
}

void fth_runner_release(struct fth_runner_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fth_run_release(&jobs[i].run);
}

int fth_runner_exit_code(const struct fth_runner_job *jobs, size_t n)
{
	bool failed = false, unfinished = false;
	for (size_t i = 0; i < n; i++) {
		const struct fth_runner_job *j = &jobs[i];
		if (!j->error.code && j->run.jobs_unfinished) { /* a horizon ends a run well, but not for services that never came up */
			fth_cli_error("policy %s: services never had all of their tasks running", j->policy->text);
			unfinished = true;
		}
		if (!j->error.code)
			continue;
		fth_cli_error("policy %s: %s", j->policy->text, j->error.text);
		if (j->has_run && (j->error.code == -ETIME || j->error.code == -EDEADLK))
			unfinished = true;
		else
			failed = true;
	}
	return failed ? FTH_EXIT_FAILED : unfinished ? FTH_EXIT_UNFINISHED : FTH_EXIT_OK;
}
