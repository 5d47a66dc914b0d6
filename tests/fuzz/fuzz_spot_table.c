/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/joint_table.h"
#include "trace/spot_table.h"

static int read_table(struct fth_spot_table *t, const void *data, size_t n)
{
	struct fth_input *in;
	struct fth_error err = {0};
	if (fth_input_open_memory(&in, "fuzz", data, n, &err))
		return -1;
	int r = fth_read_spot_table(t, in, "", &err);
	fth_input_close(in);
	if (r && !err.text[0])
		abort(); /* failed without saying why */
	return r;
}

/* The bytes up to a line "--" are a table, those behind it say how its offers fall together. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_spot_table t = {0}, back = {0};
	struct fth_str once = {0}, again = {0};
	const uint8_t *cut = memmem(data, size, "\n--\n", 4);
	size_t first = cut ? (size_t)(cut - data) + 1 : size;
	if (!read_table(&t, data, first)) {
		fth_write_spot_table(&t, &once);
		if (read_table(&back, once.data, once.len))
			abort();
		fth_write_spot_table(&back, &again);
		if (strcmp(once.data, again.data))
			abort();
		struct fth_input *in;
		struct fth_joint_table j;
		if (cut && !fth_input_open_memory(&in, "joint", cut + 4, size - first - 3, NULL)) {
			if (!fth_read_joint_table(&j, &t, in, NULL))
				fth_joint_table_release(&j);
			fth_input_close(in);
		}
	}
	fth_str_release(&once);
	fth_str_release(&again);
	fth_spot_table_release(&t);
	fth_spot_table_release(&back);
	return 0;
}
