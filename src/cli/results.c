/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/results.h"

#include "cli/cli.h"
#include "cli/runner.h"
#include "store/journal.h"

struct results {
	struct fth_world world;
	struct fth_cli_policies policies;
	struct fth_sim_params sim;
	struct fth_runner_job *jobs; /* one per policy */
	struct fth_comparison comparison;
	struct fth_run *runs;        /* those that gave figures, in order; they borrow from jobs */
	const char **sentences;
	struct fth_str sentence_text;
	struct fth_bound bound;
};

static const char *const formats[] = {"table", "json", "csv", "html", NULL};

const struct fth_option fth_options_results[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the result"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the result; a file appears whole or not at all"},
	{.name = "html", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "write the report as one self-contained page too"},
	{.name = "jobs-csv", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "write one row per job; with several runs, FILE gets each policy's name before its ending"},
	{.name = "instances-csv", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "write one row per rented instance; with several runs named likewise"},
	{.name = "no-bound", .type = FTH_OPT_FLAG,
	 .help = "do not look for the least that any policy could cost (farthing bound), which takes some seconds at most"},
	{.name = "journal", .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "record the run, for replay and explain; with several runs named likewise"},
	{0},
};

/* ---- making them ---- */

/* What of the simulated world is not as it comes. */
static void say_settings(struct results *r)
{
	struct fth_sim_params def;
	struct fth_str now = {0}, was = {0};
	size_t n = 0, count = 0;
	fth_params_defaults(fth_sim_param_table, &def);
	for (const struct fth_param *p = fth_sim_param_table; p->name; p++)
		count++;
	size_t *at = fth_alloc((count + 1) * sizeof(*at));
	r->sentences = fth_alloc((count + 1) * sizeof(*r->sentences));
	if (r->world.dropped_jobs) {
		at[n++] = r->sentence_text.len;
		fth_str_addf(&r->sentence_text, "%u of the jobs given %s left out: a task of theirs fits no instance type.",
			     r->world.dropped_jobs, r->world.dropped_jobs == 1 ? "was" : "were");
		fth_str_addc(&r->sentence_text, '\0');
	}
	for (const struct fth_param *p = fth_sim_param_table; p->name; p++) {
		fth_str_clear(&now);
		fth_str_clear(&was);
		fth_params_value(p, &r->sim, &now);
		fth_params_value(p, &def, &was);
		if (!strcmp(p->name, "seed") || !strcmp(now.data, was.data))
			continue;
		at[n++] = r->sentence_text.len;
		fth_str_addf(&r->sentence_text, "The simulated world has %s=%s (%s).", p->name, now.data, p->help);
		fth_str_addc(&r->sentence_text, '\0');
	}
	for (size_t i = 0; i < n; i++)
		r->sentences[i] = r->sentence_text.data + at[i];
	r->comparison.assumptions = r->sentences;
	r->comparison.nassumptions = n;
	free(at);
	fth_str_release(&now);
	fth_str_release(&was);
}

/* A market that is over when the first job comes says nothing; its clock begins with the run's, not with the jobs. */
static void say_market_is_over(const struct results *r, const struct fth_args *a)
{
	const struct fth_market_data *m = &r->world.market;
	fth_time last = -1, first = r->comparison.workload.first_submit;
	if (m->first <= m->last)
		last = m->last - (r->sim.market_start ? r->sim.market_start * FTH_SEC : m->first);
	for (size_t k = 0; k < m->series.len; k++)
		if (m->series.data[k].from_start && m->series.data[k].steps.len)
			last = FTH_MAX(last, fth_vec_last(&m->series.data[k].steps).at);
	if (m->series.len && last < first && !fth_args_flag(a, "quiet"))
		fprintf(stderr, "farthing: the market does not change any more when the first job comes, %.1f h after the start of its clock "
				"(see --market-start)\n", (double)first / (double)FTH_HOUR);
}

static void describe(struct results *r, const struct fth_args *a)
{
	struct fth_comparison *c = &r->comparison;
	const char *workload = fth_args_given(a, "workload"), *catalog = fth_args_given(a, "catalog");
	*c = (struct fth_comparison){
		.version = FTH_VERSION,
		.command = a->command,
		.seed = r->sim.seed,
		.workload_name = r->world.workload.name ? fth_sym_str(r->world.syms, r->world.workload.name) : NULL,
		.workload_path = workload ? workload : "bundled sample",
		.catalog_path = catalog ? catalog : fth_args_given(a, "workers") ? "made for --workers" : "bundled sample",
		.catalog_types = r->world.catalog.pub.ntypes,
		.catalog_offers = r->world.catalog.pub.noffers,
		.interference_path = fth_args_given(a, "interference"),
		.market_path = fth_args_given(a, "market"),
	};
	if (!c->interference_path && r->world.has_profile)
		c->interference_path = "bundled sample";
	if (r->world.stream.open)
		c->workload = r->world.stream.summary;
	else
		fth_workload_summarize(&r->world.workload, &c->workload);
	say_settings(r);
}

/* FILE for one run of several: "out/jobs.csv" becomes "out/jobs.eva.csv", a second eva "jobs.eva-2.csv". */
static char *path_of_run(const struct results *r, size_t i, const char *path)
{
	struct fth_str s = {0};
	unsigned same = 1;
	if (r->policies.n == 1 || !path)
		return path ? fth_strdup(path) : NULL;
	for (size_t k = 0; k < i; k++)
		same += !strcmp(r->policies.list[k].label, r->policies.list[i].label);
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - path) : strlen(path);
	fth_str_addn(&s, path, stem);
	fth_str_addf(&s, ".%s", r->policies.list[i].label);
	if (same > 1)
		fth_str_addf(&s, "-%u", same);
	fth_str_add(&s, path + stem);
	return s.data;
}

static void gather(struct results *r)
{
	r->runs = fth_alloc((r->policies.n + 1) * sizeof(*r->runs));
	for (size_t i = 0; i < r->policies.n; i++)
		if (r->jobs[i].has_run)
			r->runs[r->comparison.nruns++] = r->jobs[i].run;
	r->comparison.runs = r->runs;
}

static int load_given(const struct results *r, const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	int e = 0;
	if (fth_args_given(a, "workers") && !fth_args_given(a, "catalog")) {
		const char *text = fth_args_text(a, "provisioning");
		fth_time delay = 0;
		if (fth_parse_duration(text, strlen(text), &delay) || delay < 0 || delay > FTH_DAY)
			return fth_fail(err, -EINVAL, "--provisioning: '%s' is not a duration up to a day such as 120s", text);
		e = fth_cli_fleet_for(w, &r->policies, delay, err);
	}
	if (!e)
		e = fth_cli_load_world(a, w, err);
	if (!e)
		e = fth_workload_check_widths(&w->workload, (uint64_t)r->sim.max_instances, fth_args_given(a, "workload"), err);
	if (!e)
		e = fth_cli_check_workers(w, &r->policies, err);
	return e ? e : fth_cli_containers(w, &r->policies, err);
}

static int load(struct results *r, const struct fth_args *a, struct fth_error *err)
{
	struct fth_world given;
	if (!fth_args_given(a, "journal"))
		return load_given(r, a, &r->world, err);
	/* Run on the world as the journal will hold it, so that a replay sees the very same. */
	fth_world_init(&given);
	int e = load_given(r, a, &given, err);
	if (!e) {
		fth_world_release(&r->world);
		e = fth_journal_world(&given, &r->world, err);
		r->world.dropped_jobs = given.dropped_jobs;
	}
	fth_world_release(&given);
	return e;
}

/* What no policy can go below in the world that was simulated, if it ends no later than the last of these runs. */
static int find_bound(struct results *r, const struct fth_args *a, struct fth_error *err)
{
	const struct fth_world_stream *stream = &r->world.stream;
	struct fth_bound_options o = fth_bound_quick();
	struct fth_job_source *jobs = NULL;
	if (fth_args_flag(a, "no-bound"))
		return 0;
	fth_cli_bound_options(&r->sim, &o);
	o.until = 0;
	for (size_t i = 0; i < r->comparison.nruns; i++)
		o.until = FTH_MAX(o.until, r->runs[i].ended_at);
	int e = stream->open ? stream->open(&r->world, &jobs, err) : 0;
	if (!e)
		e = fth_bound_find(&r->bound, &r->world, jobs, &o, err);
	if (stream->open)
		stream->close(jobs);
	r->comparison.bound = &r->bound;
	return e;
}

/* Returns an exit code; there may be figures even if it is not 0. */
static int make_results(struct results *r, const struct fth_args *a, unsigned parallel)
{
	struct fth_error err = {0};
	memset(r, 0, sizeof(*r));
	fth_world_init(&r->world);
	int e = fth_cli_sim_params(a, &r->sim, &err);
	if (!e)
		e = fth_cli_policies(a, &r->policies, &err);
	if (!e)
		e = load(r, a, &err);
	if (e)
		return fth_cli_fail(&err);
	describe(r, a);
	say_market_is_over(r, a);
	r->jobs = fth_alloc((r->policies.n + 1) * sizeof(*r->jobs));
	for (size_t i = 0; i < r->policies.n; i++) {
		r->jobs[i] = (struct fth_runner_job){.world = &r->world, .policy = &r->policies.list[i], .sim = r->sim};
		r->jobs[i].journal = path_of_run(r, i, fth_args_given(a, "journal"));
	}
	e = fth_runner_run(r->jobs, r->policies.n, parallel,
			   fth_args_flag(a, "quiet") ? FTH_PROGRESS_OFF : FTH_PROGRESS_AUTO, &err);
	if (e)
		return fth_cli_fail(&err);
	gather(r);
	if (r->comparison.nruns && find_bound(r, a, &err))
		return fth_cli_fail(&err);
	return fth_runner_exit_code(r->jobs, r->policies.n);
}

static void release(struct results *r)
{
	for (size_t i = 0; r->jobs && i < r->policies.n; i++)
		free((char *)r->jobs[i].journal);
	if (r->jobs)
		fth_runner_release(r->jobs, r->policies.n);
	free(r->jobs);
	free(r->runs);
	free(r->sentences);
	fth_str_release(&r->sentence_text);
	fth_bound_release(&r->bound);
	fth_cli_policies_release(&r->policies);
	fth_world_release(&r->world);
}

/* ---- writing them ---- */

static int write_run_csv(const struct results *r, size_t i, const char *path, bool jobs, struct fth_error *err)
{
	struct fth_str out = {0};
	char *own = path_of_run(r, i, path);
	if (jobs)
		fth_run_jobs_csv(&r->jobs[i].run, r->world.syms, &out);
	else
		fth_run_instances_csv(&r->jobs[i].run, &out);
	int e = fth_cli_write(own, out.data, out.len, err);
	free(own);
	fth_str_release(&out);
	return e;
}

static int write_extras(const struct results *r, const struct fth_args *a, struct fth_error *err)
{
	const char *html = fth_args_given(a, "html"), *jobs = fth_args_given(a, "jobs-csv");
	const char *instances = fth_args_given(a, "instances-csv");
	int e = 0;
	if (html) {
		struct fth_str out = {0};
		fth_comparison_html(&r->comparison, &out);
		e = fth_cli_write(html, out.data, out.len, err);
		fth_str_release(&out);
	}
	for (size_t i = 0; i < r->policies.n && !e; i++) {
		if (!r->jobs[i].has_run)
			continue;
		if (jobs)
			e = write_run_csv(r, i, jobs, true, err);
		if (!e && instances)
			e = write_run_csv(r, i, instances, false, err);
	}
	return e;
}

static void render(const struct fth_comparison *c, const struct fth_args *a,
		   void (*table)(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out),
		   void (*json)(const struct fth_comparison *c, struct fth_str *out), struct fth_str *out)
{
	const char *format = fth_args_text(a, "format");
	bool to_file = fth_args_given(a, "out") != NULL;
	if (!strcmp(format, "json"))
		json(c, out);
	else if (!strcmp(format, "csv"))
		fth_comparison_csv(c, out);
	else if (!strcmp(format, "html"))
		fth_comparison_html(c, out);
	else
		table(c, to_file ? 0 : fth_cli_width(), !to_file && fth_cli_color(a), out);
}

int fth_results_run(const struct fth_args *a, unsigned parallel,
		    void (*table)(const struct fth_comparison *c, unsigned width, bool colour, struct fth_str *out),
		    void (*json)(const struct fth_comparison *c, struct fth_str *out))
{
	struct results r;
	struct fth_error err = {0};
	struct fth_str out = {0};
	int code = make_results(&r, a, parallel);
	if (r.comparison.nruns) {
		render(&r.comparison, a, table, json, &out);
		int e = write_extras(&r, a, &err);
		if (!e)
			e = fth_cli_write(fth_args_given(a, "out"), out.data, out.len, &err);
		if (e)
			code = fth_cli_fail(&err);
	}
	fth_str_release(&out);
	release(&r);
	return code;
}
