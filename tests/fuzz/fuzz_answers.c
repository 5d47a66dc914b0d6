/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers say, whatever it is: the keeper takes it, and its journal stays one that can be opened again. A line's first byte says which driver. */
#include "live_keeper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void turn(struct fth_keeper *k)
{
	k->now_ns = fth_clock_ns();
	k->now = FTH_MAX(fth_wall_us() - k->epoch, fth_live_now(k->live));
	fth_keeper_settle(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live_keeper l;
	if (size > 8192)
		return 0;
	live_keeper_open(&l);
	fth_side_up(&l.k, FTH_WORKLOAD, 1);
	fth_side_up(&l.k, FTH_CAPACITY, 1);
	for (const char *p = (const char *)data, *end = p + size; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);
		if (n > 1)
			fth_side_line(&l.k, *p == 'w' ? FTH_WORKLOAD : FTH_CAPACITY, p + 1, n - 1);
		else if (n == 1 && *p == 'd')
			fth_side_down(&l.k, FTH_CAPACITY);
		if (!l.k.failed)
			turn(&l.k);
		p += n + 1;
	}
	fth_picture_take(&l.k);
	live_keeper_close(&l);
	return 0;
}
