/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from a picture; the fields are in docs/formats.md. */
#include "daemon/api.h"

#include "report/format.h"

static void add_when(struct fth_json *j, const char *key, int64_t t)
{
	if (t)
		fth_json_int(j, key, t);
	else
		fth_json_text(j, key, NULL);
}

static void add_job(struct fth_json *j, const char *name, const struct fth_picture_job *r)
{
	bool over = r->ended != 0;
	fth_json_begin(j, name, '{');
	fth_json_text(j, "job", r->key);
	fth_json_text(j, "user", r->user);
	fth_json_text(j, "state", r->state);
	fth_json_int(j, "tasks", r->ntasks);
	fth_json_int(j, "running", r->running);
	fth_json_int(j, "done", r->done);
	fth_json_text(j, "on", r->where);
	add_when(j, "submitted", r->submitted);
	add_when(j, "ended", r->ended);
	fth_json_real(j, "estimate_s", r->estimate);
	if (over)
		fth_json_int(j, "exit", r->exit);
	else
		fth_json_text(j, "exit", NULL);
	fth_json_end(j, '}');
}

static void begin(struct fth_json *j, const struct fth_picture *p, const char *schema)
{
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "schema", schema);
	fth_json_text(j, "cluster", p->cluster);
	fth_json_int(j, "at", p->at);
}

void fth_render_jobs(const struct fth_picture *p, const char *state, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	begin(&j, p, "farthing.jobs/1");
	fth_json_begin(&j, "jobs", '[');
	for (size_t i = 0; i < p->jobs.len; i++)
		if (!state || !strcmp(state, p->jobs.data[i].state))
			add_job(&j, NULL, &p->jobs.data[i]);
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
}

void fth_render_job(const struct fth_picture *p, const struct fth_picture_job *job, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	begin(&j, p, "farthing.job/1");
	add_job(&j, "job", job);
	fth_json_end(&j, '}');
}

void fth_render_instances(const struct fth_picture *p, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	begin(&j, p, "farthing.instances/1");
	fth_json_begin(&j, "instances", '[');
	for (size_t i = 0; i < p->instances.len; i++) {
		const struct fth_picture_instance *r = &p->instances.data[i];
		char name[16];
		snprintf(name, sizeof(name), "i%u", r->id);
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "instance", name);
		fth_json_text(&j, "node", r->node);
		fth_json_text(&j, "offer", r->offer);
		fth_json_text(&j, "market", r->market);
		fth_json_text(&j, "state", r->state);
		fth_json_int(&j, "tasks", r->tasks);
		fth_json_real(&j, "used", r->used);
		fth_json_usd(&j, "usd_per_hour", r->price);
		fth_json_usd(&j, "accrued", r->accrued);
		add_when(&j, "requested", r->requested);
		add_when(&j, "acquired", r->acquired);
		add_when(&j, "ready", r->ready);
		fth_json_bool(&j, "revoked", r->revoked);
		fth_json_end(&j, '}');
	}
	fth_json_end(&j, ']');
	fth_json_end(&j, '}');
}

void fth_render_status(const struct fth_picture *p, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_money total = 0;
	fth_price hourly = 0;
	for (int m = 0; m < 3; m++) {
		total += p->charged[m] + p->accrued[m];
		hourly += p->hourly[m];
	}
	begin(&j, p, "farthing.status/1");
	fth_json_text(&j, "policy", p->policy);
	fth_json_text(&j, "state", p->paused ? "paused" : "running");
	fth_json_bool(&j, "fell_back", p->fell_back);
	fth_json_text(&j, "journal", p->journal);
	fth_json_int(&j, "waiting", p->waiting);
	fth_json_int(&j, "bound", p->bound);
	fth_json_int(&j, "running", p->running);
	fth_json_int(&j, "instances", (int64_t)p->instances.len);
	fth_json_int(&j, "jobs_submitted", (int64_t)p->submitted);
	fth_json_int(&j, "jobs_done", (int64_t)p->done);
	fth_json_int(&j, "jobs_cancelled", (int64_t)p->cancelled);
	fth_json_usd(&j, "usd_per_hour", hourly);
	fth_json_usd(&j, "total", total);
	fth_json_end(&j, '}');
}
