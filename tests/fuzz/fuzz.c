/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

struct world {
	struct fth_symtab *syms;
	struct fth_kinds kinds;
	struct fth_workload workload;
	struct fth_catalog_store catalog;
	struct fth_profile profile;
	struct fth_error err;
};

static void world_init(struct world *w)
{
	*w = (struct world){.syms = fth_symtab_new()};
	fth_kinds_init(&w->kinds, w->syms);
	fth_workload_init(&w->workload, w->syms, &w->kinds);
	fth_catalog_init(&w->catalog, w->syms);
	fth_profile_init(&w->profile, w->syms, 1);
}

static void world_release(struct world *w)
{
	fth_workload_release(&w->workload);
	fth_kinds_release(&w->kinds);
	fth_catalog_release(&w->catalog);
	fth_profile_release(&w->profile);
	fth_symtab_free(w->syms);
}

static int world_read(struct world *w, const void *data, size_t n, enum fth_format f, const struct fth_import_options *o)
{
	struct fth_input *in;
	int r = fth_input_open_memory(&in, "fuzz", data, n, &w->err);
	if (r)
		return r;
	if (fth_format_content(f) == FTH_CONTENT_WORKLOAD)
		r = fth_read_workload(&w->workload, in, f, o, &w->err);
	else if (fth_format_content(f) == FTH_CONTENT_CATALOG)
		r = fth_read_catalog(&w->catalog, in, f, o, &w->err);
	else
		r = fth_read_profile(&w->profile, in, f, &w->err);
	fth_input_close(in);
	return r;
}

static struct fth_str world_write(struct world *w, enum fth_content content)
{
	struct fth_str s = {0};
	struct fth_output *o;
	fth_output_open_memory(&o, &s);
	int r = content == FTH_CONTENT_WORKLOAD ? fth_write_workload(&w->workload, o, &w->err)
		: content == FTH_CONTENT_CATALOG ? fth_write_catalog(&w->catalog, o, &w->err)
						 : fth_write_profile(&w->profile, o, &w->err);
	if (r || fth_output_commit(o, &w->err))
		abort();
	return s;
}

static enum fth_format canonical(enum fth_content content)
{
	return content == FTH_CONTENT_WORKLOAD ? FTH_FORMAT_FARTHING_WORKLOAD
	       : content == FTH_CONTENT_CATALOG ? FTH_FORMAT_FARTHING_CATALOG
						: FTH_FORMAT_FARTHING_PROFILE;
}

void fuzz_read(const void *data, size_t size, enum fth_format f, const struct fth_import_options *o)
{
	enum fth_content content = fth_format_content(f);
	struct world a, b;
	world_init(&a);
	world_init(&b);
	if (world_read(&a, data, size, f, o)) {
		if (a.err.code >= 0 || !a.err.text[0])
			abort(); /* failed without a word */
	} else {
		struct fth_str once = world_write(&a, content);
		if (world_read(&b, once.data, once.len, canonical(content), NULL)) {
			fprintf(stderr, "%s\n", b.err.text);
			abort();
		}
		struct fth_str twice = world_write(&b, content);
		if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
			abort();
		fth_str_release(&once);
		fth_str_release(&twice);
	}
	world_release(&a);
	world_release(&b);
}

static void check_series(const struct fth_market_data *m, const struct fth_catalog_store *c)
{
	for (size_t i = 0; i < m->series.len; i++) {
		const struct fth_market_series *s = &m->series.data[i];
		if (s->offer >= c->offers.len || !s->steps.len || c->offers.data[s->offer].market != FTH_SPOT)
			abort();
		for (size_t k = 0; k < s->steps.len; k++)
			if (s->steps.data[k].value < 0 || (k && s->steps.data[k].at <= s->steps.data[k - 1].at))
				abort();
	}
}

void fuzz_market(const void *data, size_t size, enum fth_format f, const struct fth_market_options *o)
{
	static const char catalog[] = "farthing-catalog 1\ntype m4.large holds=cpu:2,mem:8GiB\ntype p3.2xlarge holds=gpu:1,cpu:8,mem:61GiB\n"
				      "offer m4.large price=0.1 minimum=60s\noffer m4.large zone=a market=spot price=0.03\n"
				      "offer p3.2xlarge price=3.06\n";
	struct world w;
	struct fth_market_data m;
	struct fth_input *in;
	world_init(&w);
	fth_market_init(&m);
	if (world_read(&w, catalog, sizeof(catalog) - 1, FTH_FORMAT_FARTHING_CATALOG, NULL))
		abort();
	if (!fth_input_open_memory(&in, "us-west-2a_v100_1.json", data, size, &w.err)) {
		int r = fth_read_market(&m, &w.catalog, in, f, o, &w.err);
		if (r ? r >= 0 || !w.err.text[0] : !m.rows_read)
			abort();
		if (!r)
			check_series(&m, &w.catalog);
		fth_input_close(in);
	}
	fth_market_release(&m);
	world_release(&w);
}

const char *fuzz_file(const void *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	if (fd >= 0)
		close(fd);
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}
