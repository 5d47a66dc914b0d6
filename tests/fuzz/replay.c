/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the fuzzer: gives every file of the named folders, and all its beginnings, to the target. */
#include "fuzz.h"

#include <dirent.h>

static int replay(const char *path)
{
	struct fth_str s = {0};
	char buf[65536];
	size_t n;
	FILE *f = fopen(path, "rb");
	if (!f)
		return -1;
	while ((n = fread(buf, 1, sizeof(buf), f)))
		fth_str_addn(&s, buf, n);
	fclose(f);
	/* A copy of the exact size: one byte too far is seen by the sanitizers. */
	for (size_t end = 0; end <= s.len; end += 1 + s.len / 64) {
		uint8_t *part = fth_alloc(end);
		memcpy(part, s.data ? s.data : "", end);
		LLVMFuzzerTestOneInput(part, end);
		free(part);
	}
	LLVMFuzzerTestOneInput((const uint8_t *)(s.data ? s.data : ""), s.len);
	fth_str_release(&s);
	return 0;
}

int main(int argc, char **argv)
{
	int files = 0;
	for (int i = 1; i < argc; i++) {
		struct dirent **list;
		int n = scandir(argv[i], &list, NULL, alphasort);
		for (int k = 0; k < n; k++) {
			char path[4096];
			snprintf(path, sizeof(path), "%s/%s", argv[i], list[k]->d_name);
			if (list[k]->d_name[0] != '.' && !replay(path))
				files++;
			free(list[k]);
		}
		if (n >= 0)
			free(list);
	}
	printf("%d files\n", files);
	return files ? 0 : 1;
}
