/* SPDX-License-Identifier: Apache-2.0 */
/* plan pack: the cheapest machines that hold a set of tasks at once, and how far from the optimum that is. */
#include <time.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "optimize/pack.h"
#include "report/pack.h"

/* Tasks of one kind in jobs of one size are alike to the planner: an item. Their names come in the workload's order. */
struct item_tasks {
	FTH_VEC(char *) names;
	size_t used;
};

struct pack {
	struct fth_world world;
	FTH_VEC(struct fth_pack_item) items;
	FTH_VEC(struct item_tasks) tasks; /* by item */
	FTH_VEC(struct fth_pack_instance) instances;
	FTH_VEC(const char **) name_lists;
	struct fth_packing start;
	struct fth_pack_result result;
};

static size_t item_of(struct pack *p, struct fth_map *index, fth_kind_id kind, uint32_t job_tasks)
{
	uint64_t key = (uint64_t)kind << 32 | job_tasks, at;
	if (fth_map_get(index, key, &at))
		return (size_t)at;
	struct fth_pack_item item = {.kind = kind, .job_tasks = job_tasks};
	struct item_tasks none = {0};
	fth_map_put(index, key, p->items.len);
	fth_vec_push(&p->items, item);
	fth_vec_push(&p->tasks, none);
	return p->items.len - 1;
}

/* Every task of every job, whenever it was submitted: the set to be held at once. */
static void collect_items(struct pack *p)
{
	const struct fth_workload *w = &p->world.workload;
	struct fth_map index = {0};
	for (size_t i = 0; i < w->jobs.len; i++) {
		const struct fth_job_spec *j = &w->jobs.data[i];
		const char *key = fth_sym_str(w->syms, j->key);
		uint32_t total = 0, number = 0;
		for (uint32_t g = 0; g < j->ngroups; g++)
			total += w->groups.data[j->first_group + g].count;
		for (uint32_t g = 0; g < j->ngroups; g++) {
			const struct fth_task_group *group = &w->groups.data[j->first_group + g];
			uint32_t together = j->kind == FTH_JOB_INDEPENDENT ? 1 : total;
			size_t item = item_of(p, &index, group->kind, together);
			p->items.data[item].count += group->count;
			for (uint32_t t = 0; t < group->count; t++) {
				struct fth_str name = {0};
				fth_str_add(&name, key);
				if (total > 1)
					fth_str_addf(&name, "/%u", ++number);
				fth_vec_push(&p->tasks.data[item].names, name.data);
			}
		}
	}
	fth_map_release(&index);
}

/* Give the instances of the plan their tasks by name. */
static void name_instances(struct pack *p)
{
	const struct fth_catalog *c = &p->world.catalog.pub;
	const struct fth_packing *k = &p->result.packing;
	for (size_t b = 0; b < k->bins.len; b++) {
		const struct fth_packed *bin = &k->bins.data[b];
		const char **names = fth_alloc((size_t)bin->repeat * bin->n * sizeof(*names));
		size_t n = 0;
		for (uint32_t r = 0; r < bin->repeat; r++)
			for (uint32_t i = 0; i < bin->n; i++) {
				struct item_tasks *t = &p->tasks.data[k->items.data[bin->first + i]];
				assert(t->used < t->names.len);
				names[n++] = t->names.data[t->used++];
			}
		struct fth_pack_instance instance = {
			.type = fth_sym_str(p->world.syms, c->types[c->offers[bin->offer].type].name),
			.repeat = bin->repeat,
			.price = c->offers[bin->offer].price,
			.tasks = names,
			.ntasks = bin->n,
		};
		fth_vec_push(&p->instances, instance);
		fth_vec_push(&p->name_lists, names);
	}
}

static int make_plan(struct pack *p, const struct fth_args *a, double *ret_wall, struct fth_error *err)
{
	const struct fth_catalog *c = &p->world.catalog.pub;
	struct timespec from, to;
	int r = fth_cli_load_world(a, &p->world, err);
	if (r)
		return r;
	collect_items(p);
	if (!p->items.len)
		return fth_fail(err, -EINVAL, "the workload has no tasks to plan for");
	clock_gettime(CLOCK_MONOTONIC, &from);
	struct fth_pack_options o = {.start = &p->start, .start_method = "full-reconfiguration"};
	r = fth_full_reconfig(c, p->world.kinds.list.data, p->items.data, (uint32_t)p->items.len, NULL, NULL, &p->start, err);
	if (!r)
		r = fth_pack(c, p->world.kinds.list.data, p->items.data, (uint32_t)p->items.len, &o, &p->result, err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	*ret_wall = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	if (!r)
		name_instances(p);
	return r;
}

static int write_plan(const struct pack *p, const struct fth_args *a, double wall, struct fth_error *err)
{
	const char *format = fth_args_text(a, "format"), *path = fth_args_given(a, "out");
	struct fth_str out = {0};
	struct fth_pack_report report = {
		.method = p->result.method,
		.cost = p->result.packing.price,
		.bound = p->result.lower_bound,
		.gap = p->result.gap,
		.no_packing = p->result.no_packing,
		.optimal = p->result.proven,
		.instances = p->instances.data,
		.ninstances = p->instances.len,
		.wall_s = wall,
		.workload = p->world.workload.name ? fth_sym_str(p->world.syms, p->world.workload.name) : NULL,
		.version = FTH_VERSION,
		.command = a->command,
	};
	if (!strcmp(format, "json"))
		fth_pack_json(&report, &out);
	else if (!strcmp(format, "csv"))
		fth_pack_csv(&report, &out);
	else if (!strcmp(format, "html"))
		fth_pack_html(&report, &out);
	else
		fth_pack_table(&report, !path && fth_cli_color(a), &out);
	int r = fth_cli_write(path, out.data, out.len, err);
	fth_str_release(&out);
	return r;
}

static void release(struct pack *p)
{
	for (size_t i = 0; i < p->tasks.len; i++) {
		for (size_t k = 0; k < p->tasks.data[i].names.len; k++)
			free(p->tasks.data[i].names.data[k]);
		fth_vec_release(&p->tasks.data[i].names);
	}
	for (size_t i = 0; i < p->name_lists.len; i++)
		free(p->name_lists.data[i]);
	fth_vec_release(&p->name_lists);
	fth_vec_release(&p->tasks);
	fth_vec_release(&p->items);
	fth_vec_release(&p->instances);
	fth_packing_release(&p->start);
	fth_pack_result_release(&p->result);
	fth_world_release(&p->world);
}

static int run(struct fth_args *a)
{
	struct pack p = {0};
	struct fth_error err = {0};
	double wall = 0;
	fth_world_init(&p.world);
	int r = make_plan(&p, a, &wall, &err);
	if (!r)
		r = write_plan(&p, a, wall, &err);
	release(&p);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const char *const formats[] = {"table", "json", "csv", "html", NULL};
static const struct fth_option options[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the plan"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the plan; a file appears whole or not at all"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of what is drawn while reading (arrivals that the file does not tell)"},
	{0},
};
static const char *const examples[] = {
	"farthing plan pack -w tasks.fw -c catalog.fc --format json", "what to rent for these tasks, for a script to read",
	NULL,
};
const struct fth_verb fth_verb_plan_pack = {
	.name = "plan pack",
	.summary = "Find the cheapest machines that hold a set of tasks at once",
	.about = "All tasks of the workload are to run at the same time, whenever they were submitted. Full Reconfiguration makes "
		 "a first plan; column generation proves a lower bound and looks for a cheaper one. The gap between the two "
		 "is printed: 0 means that nothing cheaper exists.\n\n"
		 "Only room counts here: that tasks slow each other down is not looked at.",
	.options = {options, fth_options_inputs, fth_options_formats, fth_options_import, fth_options_common},
	.examples = examples,
	.run = run,
};
