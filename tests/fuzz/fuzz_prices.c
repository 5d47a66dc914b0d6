/* SPDX-License-Identifier: Apache-2.0 */
/* The list of prices beside a file of EC2 types: plain, or a SkyPilot catalog. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char types[] = "{\"InstanceTypes\":[{\"InstanceType\":\"m5.large\",\"VCpuInfo\":{\"DefaultVCpus\":2},"
				    "\"MemoryInfo\":{\"SizeInMiB\":8192}}]}";
	fuzz_read(types, sizeof(types) - 1, FTH_FORMAT_EC2_TYPES,
		  &(struct fth_import_options){.prices = fuzz_file(data, size)});
	return 0;
}
