/* SPDX-License-Identifier: Apache-2.0 */
/* What plan reserve reads: the same bytes as a demand and as classes. */
#include "fuzz.h"

static void must_say(int r, const struct fth_error *err)
{
	if (r < 0 && !err->text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_input *in;
	struct fth_error err = {0};
	struct fth_demand_series s = {0};
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_reserve_market m = {.syms = syms};
	if (!fth_input_open_memory(&in, "demand", data, size, &err)) {
		must_say(fth_read_demand(&s, in, &err), &err);
		fth_input_close(in);
	}
	err = (struct fth_error){0};
	if (!fth_input_open_memory(&in, "classes", data, size, &err)) {
		must_say(fth_read_classes(&m, in, &err), &err);
		fth_input_close(in);
	}
	fth_demand_series_release(&s);
	fth_reserve_market_release(&m);
	fth_symtab_free(syms);
	return 0;
}
