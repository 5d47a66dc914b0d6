/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

FUZZ_TARGET(FTH_FORMAT_SWF)
