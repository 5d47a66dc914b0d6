/* SPDX-License-Identifier: Apache-2.0 */
/* A keeper without loop, drivers or API, in a folder of its own. */
#ifndef FTH_FUZZ_LIVE_KEEPER_H
#define FTH_FUZZ_LIVE_KEEPER_H

#include <unistd.h>

#include "daemon/api.h"
#include "daemon/log.h"
#include "drivers/keep.h"

struct live_keeper {
	struct fth_config cfg;
	struct fth_keeper k;
	char dir[64];
};

static inline void live_keeper_open(struct live_keeper *l)
{
	struct fth_error err = {0};
	*l = (struct live_keeper){0};
	/* In memory where there is such a place: each input has a journal of its own. */
	snprintf(l->dir, sizeof(l->dir), "%s/farthing-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	fth_log_set(FTH_LOG_ERROR + 1, 0);
	if (!mkdtemp(l->dir) || fth_config_parse(&l->cfg, NULL, fth_config_default, strlen(fth_config_default), &err))
		abort();
	l->cfg.state = fth_strdup(l->dir);
	if (fth_keeper_open(&l->k, &l->cfg, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

static inline void live_keeper_close(struct live_keeper *l)
{
	fth_keeper_close(&l->k);
	fth_config_release(&l->cfg);
	fth_keep_remove(l->dir);
}

#endif
