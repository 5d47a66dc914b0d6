/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of src/trace share: a whole world in one struct, text in, text out. */
#ifndef TRACE_COMMON_H
#define TRACE_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include <farthing/policy.h>

#include "trace/trace.h"

struct world {
	struct fth_symtab *syms;
	struct fth_kinds kinds;
	struct fth_workload workload;
	struct fth_catalog_store catalog;
	struct fth_profile profile;
	struct fth_error err;
};

static inline struct world *world_new(void)
{
	struct world *w = fth_alloc(sizeof(*w));
	w->syms = fth_symtab_new();
	fth_kinds_init(&w->kinds, w->syms);
	fth_workload_init(&w->workload, w->syms, &w->kinds);
	fth_catalog_init(&w->catalog, w->syms);
	fth_profile_init(&w->profile, w->syms, 1);
	return w;
}

static inline void world_free(struct world *w)
{
	fth_workload_release(&w->workload);
	fth_kinds_release(&w->kinds);
	fth_catalog_release(&w->catalog);
	fth_profile_release(&w->profile);
	fth_symtab_free(w->syms);
	free(w);
}

/* Read bytes as what the format holds (f may be AUTO with content told). */
static inline int world_read(struct world *w, const char *name, const void *text, size_t n, enum fth_format f,
			     enum fth_content content, const struct fth_import_options *o)
{
	struct fth_input *in;
	int r = fth_input_open_memory(&in, name, text, n, &w->err);
	if (r)
		return r;
	if (content == FTH_CONTENT_WORKLOAD)
		r = fth_read_workload(&w->workload, in, f, o, &w->err);
	else if (content == FTH_CONTENT_CATALOG)
		r = fth_read_catalog(&w->catalog, in, f, o, &w->err);
	else
		r = fth_read_profile(&w->profile, in, f, &w->err);
	fth_input_close(in);
	return r;
}

/* Its canonical text. */
static inline char *world_write(struct world *w, enum fth_content content, size_t *ret_n)
{
	struct fth_output *o = NULL;
	struct fth_str s = {0};
	fth_output_open_memory(&o, &s);
	int r = content == FTH_CONTENT_WORKLOAD ? fth_write_workload(&w->workload, o, &w->err)
		: content == FTH_CONTENT_CATALOG ? fth_write_catalog(&w->catalog, o, &w->err)
						 : fth_write_profile(&w->profile, o, &w->err);
	assert_int_equal(r, 0);
	assert_int_equal(fth_output_commit(o, &w->err), 0);
	*ret_n = s.len;
	return s.data;
}

/* The path of a data file; skips the test if the data is not there (fails under CI). */
static inline const char *data_file(const char *name)
{
	static char path[4096];
	const char *env = getenv("FARTHING_DATA"), *dir = env ? env : FTH_TEST_DATA;
	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
	if (!dir || access(path, R_OK)) {
		if (getenv("CI"))
			fail_msg("%s is not there (FARTHING_DATA)", path);
		print_message("skipped: %s is not there (FARTHING_DATA)\n", path);
		skip();
	}
	return path;
}

#endif
