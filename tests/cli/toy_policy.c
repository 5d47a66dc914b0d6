/* SPDX-License-Identifier: Apache-2.0 */
/* A policy that misbehaves in the way asked for: what the program around it must survive. */
#include <farthing/policy.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOTHING, CRASH, ABORT, EXIT, HANG };
static const char *const ways[] = {"nothing", "crash", "abort", "exit", "hang", NULL};

struct params {
	int how;
};
static const struct fth_param table[] = {
	{"how", FTH_PARAM_CHOICE, offsetof(struct params, how), "nothing", 0, 0, ways, "what it does when asked to decide"},
	{0},
};

static int init(void **self, const struct fth_view *view, const void *params)
{
	(void)view;
	*self = (void *)params;
	return 0;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	(void)round, (void)plan;
	switch (((const struct params *)self)->how) {
	case CRASH:
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		break;
	case ABORT:
		abort();
	case EXIT:
		_exit(5);
	case HANG:
		for (;;)
			pause();
	}
	return 0;
}

FTH_EXPORT const struct fth_policy_ops *farthing_policy(void);
FTH_EXPORT const struct fth_policy_ops *farthing_policy(void)
{
	static const struct fth_policy_ops ops = {
		.abi = FTH_POLICY_ABI, .name = "toy", .summary = "misbehaves", .params = table,
		.params_size = sizeof(struct params), .init = init, .decide = decide,
	};
	return &ops;
}
