/* SPDX-License-Identifier: Apache-2.0 */
/* farthingd: reads its configuration, opens the journal, starts the threads, and stops them in order. */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/api.h"
#include "daemon/dry.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "drivers/keep.h"

#ifndef FTH_VERSION
#define FTH_VERSION "unknown"
#endif

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct options {
	const char *config, *state;
	bool dry_run, check, print;
};

static const char usage[] =
	"Usage: farthingd [--config FILE] [--state DIR] [--dry-run | --check | --print-config]\n"
	"\n"
	"Runs a cluster: the policy of the configuration decides which machines to rent and what runs where.\n"
	"Without --config, jobs are processes of this machine (see --print-config).\n"
	"\n"
	"  -c, --config FILE   the configuration, YAML; see farthingd(8)\n"
	"  -s, --state DIR     where journal and drivers keep their state, instead of the configuration's\n"
	"  -n, --dry-run       look at the cluster once, say what would be done, and do none of it\n"
	"      --check         check the configuration and end\n"
	"      --print-config  print the configuration that holds when none is given\n"
	"  -h, --help          this text\n"
	"  -V, --version\n"
	"\n"
	"Signals: SIGTERM, SIGINT stop it (what runs goes on and is found again); SIGHUP reads the configuration again.\n";

/* -1: go on; else an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'}, {"state", required_argument, NULL, 's'}, {"dry-run", no_argument, NULL, 'n'},
		{"check", no_argument, NULL, 'k'},	  {"print-config", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},	  {0},
	};
	for (int c; (c = getopt_long(argc, argv, "c:s:nhV", longs, NULL)) != -1;) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case 's':
			o->state = optarg;
			break;
		case 'n':
			o->dry_run = true;
			break;
		case 'k':
			o->check = true;
			break;
		case 'p':
			fputs(fth_config_default, stdout);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'V':
			puts("farthingd " FTH_VERSION);
			return 0;
		default:
			fputs("farthingd: see farthingd --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "farthingd: '%s' is too much; see farthingd --help\n", argv[optind]);
	return EXIT_USAGE;
}

static void block_signals(void)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void *keep(void *arg)
{
	fth_keeper_run(arg);
	return NULL;
}

/* Held for as long as we live: two daemons must not share drivers' state. */
static int lock_state(const char *state, struct fth_error *err)
{
	struct fth_str path = {0};
	int r = fth_keep_dir(state, err);
	fth_str_addf(&path, "%s/lock", state);
	int fd = r ? -1 : open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!r && fd < 0)
		r = fth_fail(err, -errno, "%s: %s", path.data, strerror(errno));
	else if (!r && flock(fd, LOCK_EX | LOCK_NB))
		r = fth_fail(err, -EBUSY, "%s: another farthingd runs with this state", state);
	fth_str_release(&path);
	return r ? r : fd;
}

static int run(struct fth_config *c, struct fth_error *err)
{
	struct fth_keeper k = {0};
	struct fth_api *api = NULL;
	pthread_t thread;
	struct fth_world w;
	fth_world_init(&w);
	int lock = fth_dry_sound(c, &w, err);
	fth_world_release(&w);
	if (lock)
		return EXIT_USAGE;
	lock = lock_state(c->state, err);
	if (lock < 0)
		return EXIT_FAILED;
	int r = fth_keeper_open(&k, c, err);
	if (!r)
		r = fth_api_start(&api, &k, err);
	int code = r ? (r == -EINVAL || r == -EACCES ? EXIT_USAGE : EXIT_FAILED) : 0;
	if (!r && pthread_create(&thread, NULL, keep, &k))
		r = code = EXIT_FAILED;
	if (!r) {
		fth_say(FTH_LOG_INFO, "running", "cluster:s policy:s journal:s socket:s lines:l", c->cluster, fth_live_policy(k.live), k.journal, c->api.socket,
			(int64_t)fth_live_lines(k.live));
		fth_loop_run(c, &k.mail, &k.out, &k.lag, err);
		pthread_join(thread, NULL);
		if (k.failed) {
			*err = k.err;
			code = k.failed;
		}
	}
	fth_api_stop(api);
	fth_keeper_close(&k);
	close(lock);
	return code;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct fth_config c = {0};
	struct fth_error err = {0};
	int code = parse(&o, argc, argv);
	if (code >= 0)
		return code;
	block_signals();
	if (fth_config_load(&c, o.config, o.state, &err)) {
		code = EXIT_USAGE;
	} else {
		fth_log_set((enum fth_log_level)c.log_level, c.log_format);
		code = o.check ? fth_dry_check(&c, &err) : o.dry_run ? fth_dry_run(&c, &err) : run(&c, &err);
	}
	if (code)
		fprintf(stderr, "farthingd: %s\n", err.text[0] ? err.text : "failed");
	else if (!o.check && !o.dry_run)
		fth_say(FTH_LOG_INFO, "stopped", "");
	fth_config_release(&c);
	return code;
}
