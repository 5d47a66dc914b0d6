/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our simulator and policies against the published program of Eva's authors.
 *
 *   gold_eva small POLICY SCHEDULER     200 jobs: every job, instance and placement, to the second
 *   gold_eva full  POLICY SCHEDULER     6,274 jobs: cost, instances, migrations, completion time
 *   gold_eva near  POLICY DOLLARS       6,274 jobs: cost within 0.5 % of this, where no more is known of the run
 *
 * Data and gold results are kept beside the project (FARTHING_DATA, FARTHING_GOLD); without them the
 * test is skipped, unless CI is set.
 */
#include <math.h>
#include <time.h>

#include <jansson.h>

#include "engine/registry.h"
#include "policies/table.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { SKIP = 77 };

struct placed {
	fth_time at;
	fth_task_id task;
	fth_instance_id instance;
};

struct machine {
	fth_type_id type;
	fth_time requested, acquired, ready, gone;
};

struct watch {
	struct fth_observer observer;
	FTH_VEC(fth_time) ends, arrivals;
	FTH_VEC(uint32_t) moves;
	FTH_VEC(struct machine) machines;
	FTH_VEC(struct placed) placed;
	uint64_t full_adopted, migrations, finished;
	fth_time last;
	double jct;
	bool verbose;
};

/* ---- watching a run ---- */

static void after_event(struct fth_observer *o, const struct fth_cluster *c, const struct fth_event *ev)
{
	struct watch *w = (struct watch *)o;
	struct machine *m = ev->instance != FTH_NONE && ev->instance < w->machines.len
				    ? &w->machines.data[ev->instance] : NULL;
	w->last = ev->time;
	if (ev->kind == FTH_EV_JOB_SUBMITTED) {
		fth_vec_push(&w->ends, FTH_NEVER);
		fth_vec_push(&w->arrivals, ev->time);
		fth_vec_push(&w->moves, 0);
	} else if (ev->kind == FTH_EV_JOB_DONE) {
		w->ends.data[ev->job] = ev->time;
		w->jct += (double)(ev->time - w->arrivals.data[ev->job]) / 1e6;
		w->finished++;
		const struct fth_job *j = fth_view_job(&c->view, ev->job);
		for (uint32_t k = 0; k < j->ntasks; k++)
			w->migrations += fth_view_task(&c->view, j->first_task + k)->moves;
	} else if (m && ev->kind == FTH_EV_INSTANCE_ACQUIRED) {
		m->acquired = ev->time;
	} else if (m && ev->kind == FTH_EV_INSTANCE_READY) {
		m->ready = ev->time;
	} else if (m && ev->kind == FTH_EV_INSTANCE_GONE) {
		m->gone = ev->time;
	}
}

static void on_plan(struct fth_observer *o, const struct fth_cluster *c, fth_time now, const struct fth_plan *plan,
		    const uint8_t *verdicts, const struct fth_action *accepted, size_t n)
{
	struct watch *w = (struct watch *)o;
	for (size_t i = 0; i < plan->actions.len; i++)
		if (verdicts[i] && w->verbose)
			printf("t=%lld: action %s of task %d on %d refused: %s\n", (long long)(now / FTH_SEC),
			       fth_action_name(plan->actions.data[i].kind), (int)plan->actions.data[i].task,
			       (int)plan->actions.data[i].instance, fth_refusal_name(verdicts[i]));
	for (size_t i = 0; i < n; i++) {
		const struct fth_action *a = &accepted[i];
		if (a->kind == FTH_ACT_LAUNCH) {
			struct machine m = {fth_view_instance(&c->view, a->instance)->type, now, FTH_NEVER, FTH_NEVER,
					    FTH_NEVER};
			while (w->machines.len <= a->instance)
				fth_vec_push(&w->machines, m);
		} else if (a->kind == FTH_ACT_PLACE || a->kind == FTH_ACT_MIGRATE) {
			struct placed p = {now, a->task, a->instance};
			fth_vec_push(&w->placed, p);
		}
	}
	for (size_t i = 0; i < plan->notes.len; i++)
		if (strcmp(plan->notes.data[i].name, "full_adopted") == 0)
			w->full_adopted += plan->notes.data[i].value != 0;
}

/* ---- comparing with the log of every job and instance ---- */

static long long seconds(fth_time t)
{
	return t == FTH_NEVER ? -1 : t / FTH_SEC;
}

static int compare_placements(const struct watch *w, json_t *gold)
{
	long long first = INT64_MAX;
	size_t i, k;
	json_t *row, *step;
	char what[160] = "";
	json_array_foreach(json_object_get(gold, "placements"), i, row) {
		fth_task_id task = (fth_task_id)json_integer_value(json_array_get(row, 0));
		size_t at = 0;
		json_array_foreach(json_array_get(row, 1), k, step) {
			long long t = json_integer_value(json_array_get(step, 0));
			long long on = json_integer_value(json_array_get(step, 1));
			while (at < w->placed.len && w->placed.data[at].task != task)
				at++;
			bool none = at >= w->placed.len;
			const struct placed *p = none ? NULL : &w->placed.data[at];
			if (!none && seconds(p->at) == t && p->instance == on) {
				at++;
				continue;
			}
			long long when = none || seconds(p->at) > t ? t : seconds(p->at);
			if (when < first) {
				first = when;
				snprintf(what, sizeof(what), "task %u: gold puts it on %lld at %lld, we on %d at %lld", task,
					 on, t, none ? -1 : (int)p->instance, none ? -1 : seconds(p->at));
			}
			break;
		}
	}
	if (what[0])
		printf("first different placement: %s\n", what);
	return what[0] != 0;
}

static int compare_jobs(const struct watch *w, json_t *gold)
{
	int bad = 0;
	size_t i;
	json_t *row;
	if (json_array_size(json_object_get(gold, "jobs")) != w->finished)
		bad = 1;
	json_array_foreach(json_object_get(gold, "jobs"), i, row) {
		size_t id = (size_t)json_integer_value(json_array_get(row, 0));
		long long end = json_integer_value(json_array_get(row, 2));
		if (id < w->ends.len && seconds(w->ends.data[id]) == end)
			continue;
		if (!bad++ || w->verbose)
			printf("job %zu ends at %lld, gold has %lld\n", id,
			       id < w->ends.len ? seconds(w->ends.data[id]) : -1, end);
	}
	printf("jobs that end at another second: %d of %zu\n", bad, i);
	return bad != 0;
}

static int compare_instances(const struct watch *w, const struct fth_world *world, json_t *gold)
{
	int bad = 0;
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(gold, "instances"), i, row) {
		size_t id = (size_t)json_integer_value(json_array_get(row, 0));
		const struct machine *m = id < w->machines.len ? &w->machines.data[id] : NULL;
		const char *type = m ? fth_sym_str(world->syms, world->catalog.types.data[m->type].name) : "none";
		long long ours[] = {m ? seconds(m->requested) : -1, m ? seconds(m->acquired) : -1,
				    m ? seconds(m->ready) : -1, m ? seconds(m->gone) : -1};
		static const size_t column[] = {2, 3, 4, 6};
		bool same = strcmp(type, json_string_value(json_array_get(row, 1))) == 0;
		for (size_t k = 0; k < FTH_COUNT(ours); k++)
			same &= ours[k] == json_integer_value(json_array_get(row, column[k]));
		if (same)
			continue;
		if (!bad++ || w->verbose) {
			char *text = json_dumps(row, JSON_COMPACT);
			printf("instance %zu: %s %lld %lld %lld %lld, gold %s\n", id, type, ours[0], ours[1], ours[2],
			       ours[3], text);
			free(text);
		}
	}
	if (i != w->machines.len)
		printf("%zu instances were launched, gold has %zu\n", w->machines.len, i);
	printf("instances that differ: %d of %zu\n", bad, i);
	return bad || i != w->machines.len;
}

static int compare_small(const struct watch *w, const struct fth_world *world, const char *dir, const char *scheduler)
{
	char path[4096];
	json_error_t err;
	snprintf(path, sizeof(path), "%s/eva_canon_200/%s.json", dir, scheduler);
	json_t *gold = json_load_file(path, 0, &err);
	if (!gold) {
		printf("%s: %s\n", path, err.text);
		return 1;
	}
	int bad = compare_placements(w, gold);
	bad |= compare_jobs(w, gold);
	bad |= compare_instances(w, world, gold);
	json_decref(gold);
	return bad;
}

/* ---- comparing totals ---- */

static int differs(const char *what, double ours, double gold, double tolerance)
{
	bool bad = !(fabs(ours - gold) <= tolerance);
	printf("%-20s %16.6f  gold %16.6f%s\n", what, ours, gold, bad ? "  DIFFERS" : "");
	return bad;
}

static int compare_totals(const struct watch *w, double cost, const char *dir, const char *scheduler, const char *trace)
{
	char path[4096];
	json_error_t err;
	size_t i;
	json_t *run;
	int bad = -1;
	snprintf(path, sizeof(path), "%s/eva_gold.json", dir);
	json_t *gold = json_load_file(path, 0, &err);
	json_array_foreach(json_object_get(gold, "runs"), i, run) {
		if (strcmp(json_string_value(json_object_get(run, "scheduler")), scheduler) != 0 ||
		    strcmp(json_string_value(json_object_get(run, "trace")), trace) != 0)
			continue;
		bad = differs("cost", cost, json_real_value(json_object_get(run, "total_cost")), 0.01);
		bad |= differs("instances", (double)w->machines.len,
			       json_number_value(json_object_get(run, "instances_launched")), 0);
		bad |= differs("migrations", (double)w->migrations,
			       json_number_value(json_object_get(run, "migrations")), 0);
		bad |= differs("completion, h", w->jct / (double)FTH_MAX(1, w->finished) / 3600,
			       json_number_value(json_object_get(run, "mean_jct_h")), 1e-6);
		if (strcmp(scheduler, "EVAGangScheduler") == 0)
			bad |= differs("full adopted", (double)w->full_adopted,
				       json_number_value(json_object_get(run, "full_adopted")), 0);
	}
	json_decref(gold);
	if (bad < 0)
		printf("no gold run of %s on %s\n", scheduler, trace);
	return bad != 0;
}

/* ---- running ---- */

static int load(struct fth_world *w, const char *data, bool small, struct fth_error *err)
{
	char path[4096];
	struct fth_import_options o = {0};
	snprintf(path, sizeof(path), "%s/eva/%s", data, small ? "pai_200.json" : "pai_full_gavel.json.gz");
	int r = fth_load_workload(&w->workload, path, FTH_FORMAT_AUTO, &o, err);
	snprintf(path, sizeof(path), "%s/eva/instance_types.json", data);
	if (!r)
		r = fth_load_catalog(&w->catalog, path, FTH_FORMAT_AUTO, &o, err);
	snprintf(path, sizeof(path), "%s/eva/contention_matrix.csv", data);
	if (!r)
		r = fth_load_profile(&w->profile, path, FTH_FORMAT_AUTO, err);
	w->has_profile = !r;
	return r;
}

static int run(const struct fth_world *world, const char *policy, struct watch *w, double *cost, struct fth_error *err)
{
	struct fth_policy_choice choice;
	struct fth_sim_params params;
	struct fth_engine *engine = NULL;
	struct timespec a, b;
	int r = fth_policy_choose(&choice, fth_policies, policy, err);
	if (r)
		return r;
	fth_params_defaults(fth_sim_param_table, &params);
	clock_gettime(CLOCK_MONOTONIC, &a);
	r = fth_sim_run(&engine, world, &choice, &fth_policy_no_packing, &params, &w->observer, NULL, err);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (engine) {
		const struct fth_engine_stats *s = fth_engine_stats(engine);
		*cost = fth_usd(fth_engine_ledger(engine)->total);
		printf("%s: %.3f s (%.3f s deciding), %llu rounds, %llu actions, %llu refused\n", policy,
		       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
		       (double)s->decide_ns / 1e9, (unsigned long long)s->rounds, (unsigned long long)s->actions,
		       (unsigned long long)s->rejected);
		if (!r && s->fell_back)
			r = fth_fail(err, -EPROTO, "%s", s->why_fallback);
		if (!r && s->rejected)
			r = fth_fail(err, -EPROTO, "%llu actions were refused", (unsigned long long)s->rejected);
	}
	fth_engine_free(engine);
	fth_policy_choice_release(&choice);
	return r;
}

int main(int argc, char **argv)
{
	const char *data = getenv("FARTHING_DATA"), *gold = getenv("FARTHING_GOLD");
	data = data ? data : FTH_TEST_DATA;
	gold = gold ? gold : FTH_TEST_GOLD;
	if (argc != 4) {
		printf("usage: gold_eva small|full|near POLICY SCHEDULER|DOLLARS\n");
		return 2;
	}
	bool small = strcmp(argv[1], "small") == 0;
	char path[4096];
	snprintf(path, sizeof(path), "%s/eva_gold.json", gold);
	FILE *f = fopen(path, "r");
	if (!f) {
		printf("no gold results (FARTHING_DATA, FARTHING_GOLD)\n");
		return getenv("CI") ? 1 : SKIP;
	}
	fclose(f);
	struct fth_error err = {0};
	struct fth_world world;
	struct watch w = {.observer = {.after_event = after_event, .on_plan = on_plan}, .verbose = getenv("VERBOSE") != NULL};
	double cost = 0;
	fth_world_init(&world);
	int bad = load(&world, data, small, &err) || run(&world, argv[2], &w, &cost, &err);
	if (bad)
		printf("%s\n", err.text);
	if (small && w.finished)
		bad |= compare_small(&w, &world, gold, argv[3]);
	if (w.finished && !strcmp(argv[1], "near"))
		bad |= differs("cost", cost, strtod(argv[3], NULL), 0.005 * strtod(argv[3], NULL));
	else if (w.finished)
		bad |= compare_totals(&w, cost, gold, argv[3], small ? "pai_200_gavel.json" : "pai_full_gavel.json");
	fth_vec_release(&w.ends);
	fth_vec_release(&w.arrivals);
	fth_vec_release(&w.moves);
	fth_vec_release(&w.machines);
	fth_vec_release(&w.placed);
	fth_world_release(&world);
	return bad ? 1 : 0;
}
