/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char prices[] = "type,price\nm5.large,0.096\np3.2xlarge,3.06\n";
	fuzz_read(data, size, FTH_FORMAT_EC2_TYPES,
		  &(struct fth_import_options){.prices = fuzz_file(prices, sizeof(prices) - 1)});
	return 0;
}
