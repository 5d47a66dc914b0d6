/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target feeds bytes to one reader: it must not crash, leak or run
 * away, must say what is wrong when it fails, and, where there is a canonical form, must be able to
 * write what it read and read that back to the same bytes.
 */
#ifndef FTH_FUZZ_H
#define FTH_FUZZ_H

#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read, and if that went well write, read again, write again: the texts must be equal. */
void fuzz_read(const void *data, size_t size, enum fth_format f, const struct fth_import_options *o);
/* A market file beside a small catalog; every price it gives must be one, at a time that is one. */
void fuzz_market(const void *data, size_t size, enum fth_format f, const struct fth_market_options *o);
/* A file in memory with these bytes; its path is valid until the next call. */
const char *fuzz_file(const void *data, size_t size);

#define FUZZ_TARGET(format)                                                \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)       \
	{                                                                  \
		fuzz_read(data, size, format, NULL);                       \
		return 0;                                                  \
	}

#endif
