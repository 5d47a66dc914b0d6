/* SPDX-License-Identifier: Apache-2.0 */
/* A journal: fed again to its policy, and explained. What is damaged is named by file and line. */
#include "fuzz.h"
#include "policies/table.h"
#include "store/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_error err = {0};
	struct fth_replay r;
	struct fth_str out = {0};
	/* A policy with a path would be loaded: that is a program, not an input. A million tasks only take time. */
	if (memmem(data, size, "policy", 6) && memchr(data, '/', size))
		return 0;
	const char *path = fuzz_file(data, size);
	if (fth_journal_replay(path, fth_policies, &r, &err) && (err.code >= 0 || !err.text[0]))
		abort();
	if (fth_journal_explain(path, "a", &out, &err) && !err.text[0])
		abort();
	if (fth_journal_explain(path, "i0", &out, &err) && !err.text[0])
		abort();
	fth_str_release(&out);
	return 0;
}
