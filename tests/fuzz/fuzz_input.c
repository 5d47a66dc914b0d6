/* SPDX-License-Identifier: Apache-2.0 */
/* Decompression and lines; a peek before the first line must not change what follows. */
#include "fuzz.h"

static uint64_t lines(const uint8_t *data, size_t size, bool peek)
{
	struct fth_error err = {0};
	struct fth_input *in;
	const char *text;
	char *line;
	size_t n, total = 0;
	if (fth_input_open_memory(&in, "fuzz", data, size, &err))
		return 1;
	int r = peek ? fth_input_peek(in, &text, &n, &err) : 0;
	/* A bomb of a few kilobytes may hold gigabytes of short lines: that is a reader's affair, not ours. */
	while (!r && total < (64 << 20) && (r = fth_input_next(in, &line, &n, &err)) > 0) {
		if (strlen(line) != n)
			abort();
		total += n + 1;
		r = 0;
	}
	if (r < 0 && !err.text[0])
		abort();
	uint64_t count = fth_input_line(in) * 2 + (r < 0);
	fth_input_close(in);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t a = lines(data, size, false), b = lines(data, size, true);
	/* Looking ahead may find damage sooner, but never other lines. */
	if (a != b && !(b & 1))
		abort();
	return 0;
}
