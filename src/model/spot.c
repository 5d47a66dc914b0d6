/* SPDX-License-Identifier: Apache-2.0 */
#include "model/spot.h"

void fth_spot_table_release(struct fth_spot_table *t)
{
	fth_vec_release(&t->offers);
	fth_arena_release(&t->text);
}

const char *fth_spot_table_text(struct fth_spot_table *t, const char *text)
{
	size_t n = strlen(text) + 1;
	return memcpy(fth_arena_alloc(&t->text, n), text, n);
}

uint32_t fth_spot_table_find(const struct fth_spot_table *t, const char *type, const char *zone)
{
	for (size_t i = 0; i < t->offers.len; i++)
		if (!strcmp(t->offers.data[i].type, type) && !strcmp(t->offers.data[i].zone, zone))
			return (uint32_t)i;
	return FTH_NONE;
}
