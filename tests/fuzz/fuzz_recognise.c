/* SPDX-License-Identifier: Apache-2.0 */
/* A file of any kind: recognised or not, and read as what it seems to be. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_error err = {0};
	struct fth_str s = {0};
	int r = fth_validate(fuzz_file(data, size), FTH_FORMAT_AUTO, &s, &err);
	if (r ? !err.text[0] || s.len : !s.len)
		abort();
	fth_str_release(&s);
	return 0;
}
