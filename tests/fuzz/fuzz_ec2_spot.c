/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_market(data, size, FTH_FORMAT_EC2_SPOT, NULL);
	fuzz_market(data, size, FTH_FORMAT_EC2_SPOT, &(struct fth_market_options){.any_type = true, .zones = "a,us-west-2a"});
	return 0;
}
