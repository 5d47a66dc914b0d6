/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/samples.h"

int fth_sample_open(struct fth_input **ret, enum fth_content content, struct fth_error *err)
{
	const struct fth_sample *s = content == FTH_CONTENT_WORKLOAD ? &fth_sample_workload
				     : content == FTH_CONTENT_CATALOG ? &fth_sample_catalog
								      : &fth_sample_profile;
	return fth_input_open_memory(ret, s->name, s->data, s->size, err);
}
