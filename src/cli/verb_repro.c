/* SPDX-License-Identifier: Apache-2.0 */
/* repro: a paper's tables and figures again, the paper's figure beside ours. */
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/repro.h"
#include "cli/verbs.h"

/* ---- where the data is ---- */

static bool is_dir(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* shared/data beside this folder or one above it: a few steps up, as the program may be run from build/. */
static bool find_upwards(const char *start, char *buf, size_t size)
{
	static const char *const ups[] = {"", "/..", "/../..", "/../../.."};
	for (size_t i = 0; i < FTH_COUNT(ups); i++) {
		int n = snprintf(buf, size, "%s%s/shared/data", start, ups[i]);
		if (n > 0 && (size_t)n < size && is_dir(buf))
			return true;
	}
	return false;
}

static const char *find_data(const struct fth_args *a, char *buf, size_t size, struct fth_error *err)
{
	const char *given = fth_args_given(a, "data"), *env = getenv("FARTHING_DATA");
	char exe[4096];
	if (!given && env && *env)
		given = env;
	if (given) {
		if (is_dir(given))
			return given;
		fth_fail(err, -ENOENT, "%s: no such folder of data (from %s)", given,
			 fth_args_given(a, "data") ? "--data" : "FARTHING_DATA");
		return NULL;
	}
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		if (find_upwards(exe, buf, size))
			return buf;
	}
	if (find_upwards(".", buf, size))
		return buf;
	fth_fail(err, -ENOENT, "no folder shared/data beside the project: give it with --data or FARTHING_DATA");
	return NULL;
}

/* ---- which tables ---- */

static const struct fth_repro_paper *find_paper(const char *name, struct fth_error *err)
{
	struct fth_nearest near;
	char hint[128];
	fth_nearest_init(&near, name, strlen(name));
	for (int i = 0; fth_repro_papers[i]; i++) {
		if (!strcmp(fth_repro_papers[i]->name, name))
			return fth_repro_papers[i];
		fth_nearest_try(&near, fth_repro_papers[i]->name);
	}
	fth_fail(err, -EINVAL, "repro: no paper '%s'%s", name, fth_nearest_hint(&near, "", hint, sizeof(hint)));
	return NULL;
}

/* A table by its own name, or by one under which the paper has it. */
static bool is_named(const struct fth_repro_paper *p, const char *text, const char *table)
{
	for (const struct fth_repro_alias *a = p->aliases; a && a->name; a++)
		if (!strcmp(a->name, text) && !strcmp(a->table, table))
			return true;
	return !strcmp(text, table);
}

static void list_tables(const struct fth_repro_paper *p, struct fth_str *out)
{
	for (int k = 0; p->tables[k]; k++)
		fth_str_addf(out, "%s%s", k ? ", " : "", p->tables[k]);
	for (const struct fth_repro_alias *a = p->aliases; a && a->name; a++)
		if (a == p->aliases || strcmp(a->name, a[-1].name))
			fth_str_addf(out, ", %s", a->name);
}

static int check_tables(const struct fth_args *a, const struct fth_repro_paper *p, struct fth_error *err)
{
	for (size_t i = 1; i < a->operands.len; i++) {
		struct fth_nearest near;
		struct fth_str all = {0};
		char hint[128];
		bool known = false;
		fth_nearest_init(&near, a->operands.data[i], strlen(a->operands.data[i]));
		for (int k = 0; p->tables[k]; k++) {
			known |= is_named(p, a->operands.data[i], p->tables[k]);
			fth_nearest_try(&near, p->tables[k]);
		}
		if (known)
			continue;
		list_tables(p, &all);
		int r = fth_fail(err, -EINVAL, "repro %s: no table or figure '%s'%s; there are: %s", p->name, a->operands.data[i],
				 fth_nearest_hint(&near, "", hint, sizeof(hint)), all.data);
		fth_str_release(&all);
		return r;
	}
	return 0;
}

/* The tables asked for (all if none is named), in the paper's order, each once. */
static const char **choose_tables(const struct fth_args *a, const struct fth_repro_paper *p)
{
	size_t n = 0, count = 0;
	while (p->tables[count])
		count++;
	const char **list = fth_alloc((count + 1) * sizeof(*list));
	for (size_t k = 0; k < count; k++) {
		bool wanted = a->operands.len == 1;
		for (size_t i = 1; i < a->operands.len; i++)
			wanted |= is_named(p, a->operands.data[i], p->tables[k]);
		if (wanted)
			list[n++] = p->tables[k];
	}
	return list;
}

static int write_result(const struct fth_args *a, const struct fth_repro_paper *p, struct fth_repro_book *book,
			struct fth_error *err)
{
	const char *format = fth_args_text(a, "format"), *path = fth_args_given(a, "out");
	struct fth_repro r = {.paper = p->name, .title = p->title, .version = FTH_VERSION, .command = a->command};
	struct fth_str out = {0};
	fth_repro_book_tables(book, &r);
	if (!strcmp(format, "json"))
		fth_repro_json(&r, &out);
	else if (!strcmp(format, "csv"))
		fth_repro_csv(&r, &out);
	else if (!strcmp(format, "html"))
		fth_repro_html(&r, &out);
	else
		fth_repro_table(&r, !path && fth_cli_color(a), &out);
	int e = fth_cli_write(path, out.data, out.len, err);
	fth_str_release(&out);
	return e;
}

static int run(struct fth_args *a)
{
	struct fth_error err = {0};
	struct fth_repro_book book = {0};
	char buf[4200];
	const struct fth_repro_paper *p = find_paper(a->operands.data[0], &err);
	if (!p || check_tables(a, p, &err))
		return fth_cli_fail(&err);
	struct fth_repro_request req = {
		.data = find_data(a, buf, sizeof(buf), &err),
		.parallel = (unsigned)fth_args_int(a, "jobs"),
		.seed = fth_args_int(a, "seed"),
		.quiet = fth_args_flag(a, "quiet"),
	};
	if (!req.data)
		return fth_cli_fail(&err);
	const char **tables = choose_tables(a, p);
	int e = p->make(tables, &req, &book, &err);
	if (!e)
		e = write_result(a, p, &book, &err);
	free(tables);
	fth_repro_book_release(&book);
	return e ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

/* ---- the verb ---- */

static const char *nth_paper(unsigned i)
{
	return fth_repro_papers[i] ? fth_repro_papers[i]->name : NULL;
}

static bool has_table(const struct fth_repro_paper *p, const char *name)
{
	for (int t = 0; p->tables[t]; t++)
		if (!strcmp(p->tables[t], name))
			return true;
	return false;
}

/* Several papers have a figure 4: each name once. */
static const char *nth_table(unsigned i)
{
	for (int p = 0; fth_repro_papers[p]; p++)
		for (int t = 0; fth_repro_papers[p]->tables[t]; t++) {
			const char *name = fth_repro_papers[p]->tables[t];
			bool before = false;
			for (int q = 0; q < p; q++)
				before |= has_table(fth_repro_papers[q], name);
			if (!before && i-- == 0)
				return name;
		}
	return NULL;
}

static const struct fth_operand operands[] = {
	{.name = "PAPER", .type = FTH_OPT_CHOICE, .nth_choice = nth_paper, .help = "the paper to repeat"},
	{.name = "TABLE", .type = FTH_OPT_CHOICE, .nth_choice = nth_table, .optional = true, .many = true,
	 .help = "only these tables and figures of the paper; without any, all; a name that the paper does not have is answered with its own"},
	{0},
};
static const char *const formats[] = {"table", "json", "csv", "html", NULL};
static const struct fth_option options[] = {
	{.name = "data", .type = FTH_OPT_DIR, .arg = "DIR", .def = "$FARTHING_DATA, else shared/data beside the project",
	 .help = "folder of the public data sets"},
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats,
	 .help = "how to write the result"},
	{.name = "out", .letter = 'o', .type = FTH_OPT_FILE, .arg = "FILE", .def = "standard output",
	 .help = "where to write the result; a file appears whole or not at all"},
	{.name = "seed", .type = FTH_OPT_INT, .arg = "N", .def = "1", .min = 0, .max = 9000000000000000,
	 .help = "seed of everything that is drawn"},
	{.name = "jobs", .letter = 'j', .type = FTH_OPT_INT, .arg = "N", .def = "number of cores", .min = 1, .max = 1024,
	 .help = "how many runs at a time"},
	{0},
};
static const char *const examples[] = {
	"farthing repro eva table14", "one table of the paper, its figures beside ours",
	NULL,
};
const struct fth_verb fth_verb_repro = {
	.name = "repro",
	.summary = "Repeat a paper's tables and figures, its numbers beside ours",
	.about = "Runs the experiments of a paper on its data and prints each published number with the one found here. Where "
		 "a number cannot be had, or differs for a known reason, a note says so.",
	.operands = operands,
	.options = {options, fth_options_common},
	.examples = examples,
	.run = run,
};
