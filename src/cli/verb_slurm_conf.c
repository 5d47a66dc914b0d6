/* SPDX-License-Identifier: Apache-2.0 */
/* slurm-conf: the lines of slurm.conf by which a Slurm cluster knows the machines of a catalog. */
#include <ctype.h>

#include "cli/cli.h"
#include "cli/verbs.h"

/* Node names are host names: letters, digits and '-'. */
static void add_prefix(struct fth_str *s, const char *type)
{
	for (const char *p = type; *p; p++)
		fth_str_addc(s, isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '-');
}

/* Whole CPUs and MiB, rounded down: Slurm refuses a node that has less than its line says. */
static void add_node(struct fth_str *s, const struct fth_world *w, const struct fth_instance_type *t, int64_t count, int64_t *port)
{
	const char *name = fth_sym_str(w->syms, t->name);
	fth_str_add(s, "NodeName=");
	add_prefix(s, name);
	fth_str_addf(s, "-[1-%lld] CPUs=%lld RealMemory=%lld", (long long)count, (long long)FTH_MAX(t->capacity.v[FTH_CPU] / 1000, 1),
		     (long long)FTH_MAX(t->capacity.v[FTH_MEM], 1));
	if (t->capacity.v[FTH_GPU] >= 1000)
		fth_str_addf(s, " Gres=gpu:%lld", (long long)(t->capacity.v[FTH_GPU] / 1000));
	if (*port) {
		fth_str_addf(s, " NodeAddr=127.0.0.1 Port=[%lld-%lld]", (long long)*port, (long long)(*port + count - 1));
		*port += count;
	}
	fth_str_addf(s, " Feature=%s State=CLOUD\n", name);
}

static bool is_feature(const char *name)
{
	return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == strlen(name);
}

static int check_names(const struct fth_world *w, struct fth_error *err)
{
	for (size_t i = 0; i < w->catalog.types.len; i++) {
		const char *name = fth_sym_str(w->syms, w->catalog.types.data[i].name);
		struct fth_str one = {0}, two = {0};
		int r = is_feature(name) ? 0 : fth_fail(err, -EINVAL, "type %s: its name cannot be a feature of Slurm's", name);
		add_prefix(&one, name);
		for (size_t k = 0; k < i && !r; k++) {
			fth_str_clear(&two);
			add_prefix(&two, fth_sym_str(w->syms, w->catalog.types.data[k].name));
			if (!strcmp(one.data, two.data))
				r = fth_fail(err, -EINVAL, "types %s and %s: their nodes would have the same names", name,
					     fth_sym_str(w->syms, w->catalog.types.data[k].name));
		}
		fth_str_release(&one);
		fth_str_release(&two);
		if (r)
			return r;
	}
	return 0;
}

static void add_settings(struct fth_str *s, const char *programs, bool gpus)
{
	fth_str_addf(s,
		     "# Jobs wait for farthingd (job_submit.lua belongs beside this file), and nodes come and go.\n"
		     "JobSubmitPlugins=lua\n"
		     "JobRequeue=1\n"
		     "ReturnToService=2\n"
		     "PrivateData=cloud\n"
		     "SelectType=select/cons_tres\n"
		     "SelectTypeParameters=CR_CPU_Memory\n"
		     "DefMemPerCPU=1024\n"
		     "SchedulerParameters=bf_interval=5,sched_min_interval=0\n"
		     "SlurmctldParameters=idle_on_node_suspend\n"
		     "CommunicationParameters=NoAddrCache\n"
		     "ResumeProgram=%s/farthing-resume\n"
		     "SuspendProgram=%s/farthing-suspend\n"
		     "# farthingd decides when a node rests, not Slurm; but INFINITE would switch power saving off.\n"
		     "SuspendTime=31536000\n"
		     "ResumeTimeout=300\n"
		     "SuspendTimeout=10\n",
		     programs, programs);
	if (gpus)
		fth_str_add(s, "GresTypes=gpu\n");
}

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_world w;
	struct fth_str out = {0};
	int64_t port = fth_args_given(a, "ports") ? fth_args_int(a, "ports") : 0, count = fth_args_int(a, "count");
	fth_world_init(&w);
	const char *catalog = fth_args_given(a, "catalog");
	int r = catalog ? fth_load_catalog(&w.catalog, catalog, FTH_FORMAT_AUTO, NULL, &err)
			: fth_fail(&err, -EINVAL, "slurm-conf: --catalog is missing: the one that farthingd is configured with");
	if (!r)
		r = check_names(&w, &err);
	bool gpus = false;
	for (size_t i = 0; !r && i < w.catalog.types.len; i++)
		gpus |= w.catalog.types.data[i].capacity.v[FTH_GPU] >= 1000;
	if (!r) {
		add_settings(&out, fth_args_text(a, "programs"), gpus);
		fth_str_add(&out, "# A node is of the catalog's type that its feature names.\n");
		for (size_t i = 0; i < w.catalog.types.len; i++)
			add_node(&out, &w, &w.catalog.types.data[i], count, &port);
		fth_str_addf(&out, "PartitionName=%s Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n", fth_args_text(a, "partition"));
		fputs(out.data, stdout);
	}
	fth_str_release(&out);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const struct fth_option options[] = {
	{.name = "catalog", .letter = 'c', .type = FTH_OPT_FILE, .arg = "FILE", .help = "the catalog that farthingd is configured with (needed)"},
	{.name = "count", .type = FTH_OPT_INT, .arg = "N", .def = "16", .min = 1, .max = 100000, .help = "nodes of each type: how many can run at once"},
	{.name = "partition", .type = FTH_OPT_TEXT, .arg = "NAME", .def = "farthing", .help = "the partition of these nodes"},
	{.name = "programs", .type = FTH_OPT_DIR, .arg = "DIR", .def = "/usr/local/libexec/farthing", .help = "where farthing-resume and farthing-suspend are"},
	{.name = "ports", .type = FTH_OPT_INT, .arg = "FIRST", .min = 1024, .max = 65000,
	 .help = "all nodes are on this machine (capacity driver local): a port for each slurmd, from this one on"},
	{0},
};
static const char *const examples[] = {
	"farthing slurm-conf --catalog catalog.txt >>/etc/slurm/slurm.conf", "the lines to add; read them first",
	NULL,
};
const struct fth_verb fth_verb_slurm_conf = {
	.name = "slurm-conf",
	.summary = "Print the lines by which Slurm knows a catalog's machines",
	.about = "Settings and node lines for slurm.conf, so that farthingd can place Slurm's jobs on machines of the catalog: nodes in state CLOUD with the type "
		 "as their feature, jobs that wait for farthingd, power saving that is farthingd's. Nothing is changed anywhere.",
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
