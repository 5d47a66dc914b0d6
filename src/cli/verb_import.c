/* SPDX-License-Identifier: Apache-2.0 */
/* import: any format we read, to the canonical text form. */
#include "cli/cli.h"
#include "cli/verbs.h"

static int find_format(const struct fth_args *a, const char *path, enum fth_format *ret, struct fth_error *err)
{
	const char *from = fth_args_given(a, "from");
	*ret = FTH_FORMAT_AUTO;
	for (int c = FTH_CONTENT_WORKLOAD; from && c <= FTH_CONTENT_PROFILE; c++)
		if (!fth_format_find(from, (enum fth_content)c, ret))
			return 0;
	if (!strcmp(path, "-"))
		return fth_fail(err, -EINVAL, "standard input is read once only: say what it is with --from");
	int r = fth_recognise(path, ret, err);
	if (!r && *ret == FTH_FORMAT_AUTO)
		r = fth_fail_at(err, -EINVAL, path, 0, "not recognised; say what it is with --from");
	return r;
}

static int load(struct fth_world *w, const char *path, enum fth_format f, const struct fth_import_options *o,
		struct fth_error *err)
{
	switch (fth_format_content(f)) {
	case FTH_CONTENT_WORKLOAD:
		return fth_load_workload(&w->workload, path, f, o, err);
	case FTH_CONTENT_CATALOG:
		return fth_load_catalog(&w->catalog, path, f, o, err);
	case FTH_CONTENT_PROFILE:
		return fth_load_profile(&w->profile, path, f, err);
	case FTH_CONTENT_MARKET:
		return fth_fail_at(err, -EINVAL, path, 0, "a market is read as it is, with --market; there is nothing to import");
	}
	return fth_fail(err, -EINVAL, "%s: cannot be imported", path);
}

struct loaded {
	const struct fth_world *world;
	enum fth_format format;
};

static int store(void *arg, struct fth_output *out, struct fth_error *err)
{
	const struct loaded *l = arg;
	switch (fth_format_content(l->format)) {
	case FTH_CONTENT_WORKLOAD:
		return fth_write_workload(&l->world->workload, out, err);
	case FTH_CONTENT_CATALOG:
		return fth_write_catalog(&l->world->catalog, out, err);
	case FTH_CONTENT_PROFILE:
		return fth_write_profile(&l->world->profile, out, err);
	case FTH_CONTENT_MARKET:
		break;
	}
	return fth_fail(err, -EINVAL, "cannot be written");
}

/* What is about another kind of file than this one. */
static int check_belongings(const struct fth_args *a, enum fth_format f, struct fth_error *err)
{
	static const struct {
		const char *option;
		enum fth_content content;
	} belongs[] = {
		{"prices", FTH_CONTENT_CATALOG}, {"region", FTH_CONTENT_CATALOG}, {"families", FTH_CONTENT_CATALOG},
		{"spot", FTH_CONTENT_CATALOG},	 {"mean-gap", FTH_CONTENT_WORKLOAD},
	};
	static const char *const of_runs[] = {"migration-rate", "estimates"};
	for (size_t i = 0; i < FTH_COUNT(of_runs); i++)
		if (fth_args_given(a, of_runs[i]))
			return fth_fail(err, -EINVAL, "--%s is about runs, not about files", of_runs[i]);
	bool workload = fth_format_content(f) == FTH_CONTENT_WORKLOAD, fit = fth_args_flag(a, "drop-unfit");
	if (fit != (fth_args_given(a, "catalog") != NULL) || (fit && !workload))
		return fth_fail(err, -EINVAL, "--drop-unfit and --catalog go together, with a workload");
	for (size_t i = 0; i < FTH_COUNT(belongs); i++)
		if (fth_args_given(a, belongs[i].option) && fth_format_content(f) != belongs[i].content &&
		    !(fit && belongs[i].content == FTH_CONTENT_CATALOG))
			return fth_fail(err, -EINVAL, "--%s does not apply to a file of %s", belongs[i].option, fth_format_name(f));
	return 0;
}

static int import_file(const struct fth_args *a, struct fth_world *w, struct fth_error *err)
{
	const char *path = a->operands.data[0];
	struct fth_import_options o;
	enum fth_format f;
	int r = find_format(a, path, &f, err);
	if (!r)
		r = check_belongings(a, f, err);
	if (!r)
		r = fth_cli_import_options(a, &o, err);
	if (r)
		return r;
	o.spot = fth_args_flag(a, "spot");
	if (fth_args_given(a, "catalog")) {
		/* First: it names the resources that demands may speak of. */
		r = fth_load_catalog(&w->catalog, fth_args_given(a, "catalog"), FTH_FORMAT_AUTO, &o, err);
		if (r)
			return r;
		fth_kinds_adopt_resources(&w->kinds, w->catalog.nres, w->catalog.res_names);
	}
	r = load(w, path, f, &o, err);
	if (!r)
		r = fth_cli_drop_unfit(a, w, err);
	if (r)
		return r;
	struct loaded l = {w, f};
	return fth_cli_produce(fth_args_given(a, "out"), store, &l, err);
}

static int run(struct fth_args *a)
{
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = import_file(a, &w, &err);
	fth_world_release(&w);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

static const struct fth_operand operands[] = {
	{.name = "FILE", .type = FTH_OPT_FILE, .help = "the file to read; '-' is standard input"},
	{0},
};
static const struct fth_option options[] = {
	{.name = "from", .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "by content", .nth_choice = fth_cli_nth_format,
	 .help = "format of the file"},
	{.name = "catalog", .letter = 'c', .type = FTH_OPT_FILE, .arg = "FILE",
	 .help = "with --drop-unfit: the instance types that the jobs must fit"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write; .gz and .zst are compressed, and a file appears whole or not at all"},
	{.name = "spot", .type = FTH_OPT_FLAG, .help = "make spot offers too, of a catalog that has spot prices"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of what is drawn (arrivals that the file does not tell)"},
	{0},
};
static const char *const examples[] = {
	"farthing import pai_full_gavel.csv --out pai.fw.zst", "a workload in another's format, as ours, compressed",
	"farthing import openb_pod_list.csv --drop-unfit --catalog types.json --out pods.fw",
	"a list of pods, without those too large for any of these types",
	"farthing import aws.csv --region us-east-1 --families c7i,r7i,p3 --out aws.fc", "a part of a price list",
	NULL,
};
const struct fth_verb fth_verb_import = {
	.name = "import",
	.summary = "Turn a file of another format into Farthing's own",
	.about = "Workloads, catalogs and interference files are read in every format the other verbs take, and written in the "
		 "canonical text form of farthing-formats(5): the same content gives the same bytes.",
	.operands = operands,
	.options = {options, fth_options_import, fth_options_common},
	.examples = examples,
	.run = run,
};
