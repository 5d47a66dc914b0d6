/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repro_runs.h"

#include "policies/table.h"

bool fth_repro_has_policy(const char *name)
{
	for (const struct fth_policy_ops *const *p = fth_policies; *p; p++)
		if (!strcmp((*p)->name, name))
			return true;
	return false;
}

int fth_repro_runs_add(struct fth_repro_runs *r, const struct fth_world *w, const char *policy, const char *sim,
		       struct fth_error *err)
{
	char name[64];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(policy, ":"), policy);
	if (!fth_repro_has_policy(name))
		return -ENOENT;
	struct fth_policy_choice *choice = fth_alloc(sizeof(*choice));
	int e = fth_policy_choose(choice, fth_policies, policy, err);
	if (e) {
		free(choice);
		return e;
	}
	fth_vec_push(&r->policies, choice);
	struct fth_runner_job job = {
		.world = w, .policy = choice, .window_from = r->window_from, .window_to = r->window_to};
	fth_params_defaults(fth_sim_param_table, &job.sim);
	e = fth_params_parse(fth_sim_param_table, &job.sim, "sim", sim, err);
	if (e)
		return e;
	fth_vec_push(&r->jobs, job);
	return (int)r->jobs.len - 1;
}

int fth_repro_runs_go(struct fth_repro_runs *r, const struct fth_repro_request *req, struct fth_error *err)
{
	for (size_t i = 0; i < r->jobs.len; i++)
		r->jobs.data[i].sim.seed += req->seed - 1; /* the same ones for the default, and none twice in runs with seeds of their own */
	int e = fth_runner_run(r->jobs.data, r->jobs.len, req->parallel, req->quiet ? FTH_PROGRESS_OFF : FTH_PROGRESS_AUTO,
			       err);
	for (size_t i = 0; i < r->jobs.len && !e; i++) {
		const struct fth_runner_job *j = &r->jobs.data[i];
		if (!j->has_run || j->error.code || j->signal)
			e = fth_fail(err, -EIO, "repro: the run of %s failed: %s", j->policy->text,
				     j->signal ? "its process died" : j->error.text);
	}
	return e;
}

const struct fth_run *fth_repro_runs_get(const struct fth_repro_runs *r, int number)
{
	return number < 0 ? NULL : &r->jobs.data[number].run;
}

void fth_repro_runs_release(struct fth_repro_runs *r)
{
	fth_runner_release(r->jobs.data, r->jobs.len);
	fth_vec_release(&r->jobs);
	for (size_t i = 0; i < r->policies.len; i++) {
		fth_policy_choice_release(r->policies.data[i]);
		free(r->policies.data[i]);
	}
	fth_vec_release(&r->policies);
}

double fth_repro_note_sum(const struct fth_run *run, const char *name)
{
	for (size_t i = 0; i < run->notes.len; i++)
		if (!strcmp(run->notes.data[i].name, name))
			return run->notes.data[i].sum;
	return 0;
}
