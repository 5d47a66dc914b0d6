/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/dry.h"

#include <pthread.h>
#include <unistd.h>

#include "daemon/keeper.h"
#include "daemon/log.h"
#include "drivers/keep.h"

int fth_dry_check(const struct fth_config *c, struct fth_error *err)
{
	struct fth_world w;
	fth_world_init(&w);
	int r = fth_config_world(c, &w, err);
	if (!r)
		printf("%s: cluster %s, policy %s, %zu types, %zu offers, drivers %s and %s\n", c->path ? c->path : "built-in configuration", c->cluster,
		       c->policy, w.catalog.types.len, w.catalog.offers.len, c->role[FTH_WORKLOAD].driver, c->role[FTH_CAPACITY].driver);
	fth_world_release(&w);
	return r ? 2 : 0;
}

/* The journal with what is not yet in its main file. */
static int copy_journal(const char *from, const char *to, struct fth_error *err)
{
	static const char *const ends[] = {"", "-wal"};
	for (size_t i = 0; i < FTH_COUNT(ends); i++) {
		struct fth_str a = {0}, b = {0};
		char piece[65536];
		size_t n;
		fth_str_addf(&a, "%s/journal.db%s", from, ends[i]);
		fth_str_addf(&b, "%s/journal.db%s", to, ends[i]);
		FILE *in = fopen(a.data, "re"), *out = in ? fopen(b.data, "we") : NULL;
		int r = in && !out ? -errno : 0;
		while (out && (n = fread(piece, 1, sizeof(piece), in)))
			if (fwrite(piece, 1, n, out) != n)
				r = -EIO;
		if (in)
			fclose(in);
		if (out && fclose(out))
			r = -EIO;
		fth_str_release(&a);
		fth_str_release(&b);
		if (r)
			return fth_fail(err, r, "%s cannot be written: %s", to, strerror(-r));
	}
	return 0;
}

/* What the plan says, as the journal would have it: every action of the last round, with its reason. */
struct printer {
	struct fth_observer base;
	uint32_t n;
};

static void print_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan, const uint8_t *verdicts,
		       const struct fth_action *accepted, size_t naccepted)
{
	struct printer *p = (struct printer *)o;
	(void)now, (void)accepted, (void)naccepted;
	for (size_t i = 0; i < plan->actions.len; i++) {
		const struct fth_action *a = &plan->actions.data[i];
		struct fth_str s = {0};
		if (a->kind == FTH_ACT_WAKE)
			continue;
		const struct fth_task *t = a->task == FTH_NONE ? NULL : fth_cluster_task(c, a->task);
		fth_str_addf(&s, "%s %s", verdicts[i] ? "refused" : "would", fth_action_name(a->kind));
		if (t)
			fth_str_addf(&s, " a task of %s", fth_sym_str(c->syms, fth_cluster_job(c, t->job)->name));
		if (a->instance != FTH_NONE)
			fth_str_addf(&s, "%s i%u", a->kind == FTH_ACT_PLACE || a->kind == FTH_ACT_MIGRATE ? " on" : "", a->instance);
		if (a->kind == FTH_ACT_LAUNCH) {
			fth_str_add(&s, ": ");
			fth_offer_name(c, plan->offers.data[a->first_offer], &s);
		}
		if (a->reason.text) {
			fth_str_add(&s, " | ");
			fth_reason_text(&a->reason, &s);
		}
		if (verdicts[i])
			fth_str_addf(&s, " (%s)", fth_refusal_name((enum fth_refusal)verdicts[i]));
		puts(s.data);
		p->n++;
		fth_str_release(&s);
	}
}

static void *keep(void *arg)
{
	fth_keeper_run(arg);
	return NULL;
}

/* What the reconciler would end: tokens nobody has in the books. */
static void print_orphans(const struct fth_keeper *k)
{
	for (size_t i = 0; i < k->rented.len; i++) {
		const struct fth_rented *r = k->rented.data[i];
		if (!r->current && r->state != FTH_LISTED_GONE && r->state != FTH_LISTED_NOT)
			printf("would terminate %s: it is not in the journal\n", r->token);
	}
}

int fth_dry_run(struct fth_config *c, struct fth_error *err)
{
	struct fth_keeper k = {.dry_run = true};
	struct printer p = {.base = {.on_plan = print_plan}};
	char dir[] = "/tmp/farthingd-dry-XXXXXX";
	pthread_t thread;
	if (!mkdtemp(dir)) {
		fth_fail(err, -errno, "no temporary folder: %s", strerror(errno));
		return 1;
	}
	k.journal_dir = dir;
	fth_log_set(FTH_LOG_WARN, c->log_format);
	int r = copy_journal(c->state, dir, err);
	if (!r)
		r = fth_keeper_open(&k, c, err);
	if (!r) {
		fth_engine_observe(k.engine, &p.base);
		r = pthread_create(&thread, NULL, keep, &k) ? -EAGAIN : 0;
	}
	if (!r) {
		fth_loop_run(c, &k.mail, &k.out, &k.lag, err);
		pthread_join(thread, NULL);
		if (k.failed)
			*err = k.err;
		else
			print_orphans(&k);
		if (!k.failed && !p.n)
			puts("nothing to do");
	}
	int code = r ? 1 : k.failed;
	fth_keeper_close(&k);
	fth_keep_remove(dir);
	return code;
}
