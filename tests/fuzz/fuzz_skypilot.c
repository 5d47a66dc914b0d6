/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read(data, size, FTH_FORMAT_SKYPILOT_CSV, &(struct fth_import_options){.spot = true});
	fuzz_read(data, size, FTH_FORMAT_SKYPILOT_CSV, &(struct fth_import_options){.region = "r", .families = "m5,c5"});
	return 0;
}
