/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration: refused with words, or read; no file is looked at. */
#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fth_config c;
	struct fth_error err = {0};
	/* A policy with a path would be loaded: that is a program, not an input. */
	if (memchr(data, '/', size))
		return 0;
	if (fth_config_parse(&c, "farthing.yaml", (const char *)data, size, &err) && !err.text[0])
		abort();
	fth_config_release(&c);
	return 0;
}
