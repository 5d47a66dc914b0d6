/* SPDX-License-Identifier: Apache-2.0 */
/* The papers that can be repeated. */
#include "cli/repro.h"

const struct fth_repro_paper *const fth_repro_papers[] = {
	&fth_repro_eva,
	&fth_repro_cloudcoaster,
	&fth_repro_own,
	&fth_repro_sec,
	&fth_repro_stratus,
	&fth_repro_tr_kubernetes,
	NULL,
};
