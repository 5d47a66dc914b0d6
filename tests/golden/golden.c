/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden runs: a small world made by hand, a policy, and the exact journal of its run, compared byte for
 * byte; then the journal is replayed without the simulator. A folder holds workload.txt, catalog.txt,
 * perhaps profile.txt and market.csv, and `run`: the policy on the first line, parameters of the simulator on the second.
 * With a NAME those are NAME.run and NAME.journal.txt: several runs in one world.
 *
 *   golden FOLDER [NAME]              compare; says where they part
 *   GOLDEN_UPDATE=1 golden FOLDER     write the journal anew (then look at the difference before it is committed)
 */
#include <unistd.h>

#include "policies/table.h"
#include "sim/sim.h"
#include "store/journal.h"

static char *in_folder(const char *folder, const char *name)
{
	struct fth_str s = {0};
	fth_str_addf(&s, "%s/%s", folder, name);
	return s.data;
}

static int load(struct fth_world *w, const char *folder, struct fth_error *err)
{
	struct fth_world raw;
	char *catalog = in_folder(folder, "catalog.txt"), *workload = in_folder(folder, "workload.txt");
	char *profile = in_folder(folder, "profile.txt"), *market = in_folder(folder, "market.csv");
	fth_world_init(&raw);
	int r = fth_load_catalog(&raw.catalog, catalog, FTH_FORMAT_AUTO, NULL, err);
	raw.has_profile = !access(profile, R_OK);
	if (!r && raw.has_profile)
		r = fth_load_profile(&raw.profile, profile, FTH_FORMAT_AUTO, err);
	raw.has_market = !access(market, R_OK);
	if (!r && raw.has_market)
		r = fth_load_market(&raw.market, &raw.catalog, market, FTH_FORMAT_SPOT_CSV, &(struct fth_market_options){0}, err);
	if (!r)
		r = fth_load_workload(&raw.workload, workload, FTH_FORMAT_AUTO, NULL, err);
	if (!r)
		r = fth_workload_check(&raw.workload, &raw.catalog.pub, workload, err);
	if (!r)
		r = fth_journal_world(&raw, w, err); /* numbered as a replay will have it */
	fth_world_release(&raw);
	free(catalog);
	free(workload);
	free(profile);
	free(market);
	return r;
}

/* The policy and the simulator's parameters. */
static int read_run(const char *folder, const char *name, char policy[256], char sim[256], struct fth_error *err)
{
	char *path = in_folder(folder, name);
	FILE *f = fopen(path, "r");
	int r = 0;
	sim[0] = '\0';
	if (!f || !fgets(policy, 256, f))
		r = fth_fail(err, -ENOENT, "%s: no policy on its first line", path);
	else if (!fgets(sim, 256, f))
		sim[0] = '\0';
	policy[strcspn(policy, "\n")] = sim[strcspn(sim, "\n")] = '\0';
	if (f)
		fclose(f);
	free(path);
	return r;
}

static int record(const char *folder, const char *name, const char *to, struct fth_error *err)
{
	char policy[256] = "", sim[256] = "";
	struct fth_world w;
	struct fth_policy_choice choice = {0};
	struct fth_sim_params p = {0};
	struct fth_journal *j = NULL;
	struct fth_engine *e = NULL;
	fth_params_defaults(fth_sim_param_table, &p);
	int r = read_run(folder, name, policy, sim, err);
	if (!r)
		r = fth_params_parse(fth_sim_param_table, &p, "sim", sim, err);
	if (!r)
		r = load(&w, folder, err);
	if (r)
		return r;
	r = fth_policy_choose(&choice, fth_policies, policy, err);
	struct fth_limits limits = fth_sim_limits(&p, &w);
	if (!r)
		r = fth_journal_create(&j, to, &w, &choice, NULL, &limits, err);
	if (!r)
		r = fth_sim_run(&e, &w, &choice, NULL, &p, fth_journal_observer(j), NULL, err);
	if (!r)
		r = fth_journal_commit(j, e, err);
	else
		fth_journal_abort(j);
	fth_engine_free(e);
	fth_policy_choice_release(&choice);
	fth_world_release(&w);
	return r;
}

static bool next(FILE *f, char **line, size_t *cap)
{
	if (getline(line, cap, f) > 0)
		return true;
	free(*line);
	*line = fth_strdup("(the end)\n");
	*cap = strlen(*line) + 1;
	return false;
}

/* Where two files part: the last lines they share, and the first that differ. */
static bool same(const char *golden, const char *made)
{
	FILE *a = fopen(golden, "r"), *b = fopen(made, "r");
	char *x = NULL, *y = NULL, *before[3] = {NULL, NULL, NULL};
	size_t nx = 0, ny = 0, line = 0;
	bool equal = a && b, more = equal;
	if (!a)
		printf("%s is not there: GOLDEN_UPDATE=1 makes it\n", golden);
	while (more) {
		bool more_x = next(a, &x, &nx), more_y = next(b, &y, &ny);
		more = more_x || more_y;
		line++;
		if (more && strcmp(x, y)) {
			printf("%s:%zu: the run has taken another way\n", golden, line);
			for (int k = 2; k >= 0; k--)
				printf("%s%s", before[k] ? "  " : "", before[k] ? before[k] : "");
			for (int k = 0; k < 6; k++) {
				printf("- %s+ %s", x, y);
				next(a, &x, &nx);
				next(b, &y, &ny);
			}
			printf("GOLDEN_UPDATE=1 writes it anew, should that be right\n");
			equal = more = false;
		}
		free(before[2]);
		before[2] = before[1];
		before[1] = before[0];
		before[0] = fth_strdup(x);
	}
	for (int k = 0; k < 3; k++)
		free(before[k]);
	free(x);
	free(y);
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return equal;
}

static int replay(const char *path, struct fth_error *err)
{
	struct fth_replay r;
	int code = fth_journal_replay(path, fth_policies, &r, err);
	if (!code && !r.same)
		code = fth_fail(err, -EBADMSG, "%s:%llu: replayed otherwise\n- %s\n+ %s", path, (unsigned long long)r.line,
				r.recorded, r.again);
	return code;
}

int main(int argc, char **argv)
{
	struct fth_error err = {0};
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: golden FOLDER [NAME]\n");
		return 2;
	}
	const char *update = getenv("GOLDEN_UPDATE"), *base = strrchr(argv[1], '/');
	struct fth_str name = {0}, run = {0}, journal = {0};
	fth_str_addf(&run, "%s%srun", argc > 2 ? argv[2] : "", argc > 2 ? "." : "");
	fth_str_addf(&journal, "%s%sjournal.txt", argc > 2 ? argv[2] : "", argc > 2 ? "." : "");
	char *golden = in_folder(argv[1], journal.data), *made = NULL;
	bool writes = update && strcmp(update, "0");
	fth_str_addf(&name, "golden-%s-%s.tmp", base ? base + 1 : argv[1], argc > 2 ? argv[2] : "");
	made = writes ? golden : name.data;
	int r = record(argv[1], run.data, made, &err);
	bool equal = !r && same(golden, made);
	if (!r && equal)
		r = replay(made, &err);
	if (r)
		printf("%s: %s\n", argv[1], err.text);
	if (!writes && equal)
		unlink(made);
	fth_str_release(&name);
	fth_str_release(&run);
	fth_str_release(&journal);
	free(golden);
	return r || !equal;
}
