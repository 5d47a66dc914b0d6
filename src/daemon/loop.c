/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/link.h"
#include "daemon/log.h"

enum { TICK_MS = 100 };
enum { SIGNALS, BELL, LINKS, PER_LINK = 3, NFDS = LINKS + FTH_NROLES * PER_LINK };

struct loop {
	struct fth_link links[FTH_NROLES];
	struct fth_mailbox *to;
	struct fth_outbox *from;
	struct fth_loop_lag *lag;
	fth_outgoings taken;
	int signals;
	unsigned stops; /* how often we were asked to */
};

static void tell(struct loop *p, enum fth_message_kind kind, enum fth_role role)
{
	fth_mailbox_put(p->to, (struct fth_message){.kind = kind, .role = role, .len = p->links[role].session});
}

static void start_link(struct loop *p, struct fth_link *l)
{
	struct fth_error err = {0};
	if (fth_link_start(l, &err)) {
		fth_say(FTH_LOG_ERROR, "driver cannot be started", "role:s error:s", fth_role_names[l->role], err.text);
		l->next_start_ns = fth_clock_ns() + 1000000000;
		return;
	}
	fth_say(FTH_LOG_DEBUG, "driver started", "role:s driver:s pid:d", fth_role_names[l->role], l->name, (int)l->pid);
	tell(p, FTH_MSG_UP, l->role);
}

static void lose_link(struct loop *p, struct fth_link *l, const char *why)
{
	fth_say(FTH_LOG_WARN, "driver ended", "role:s driver:s why:s", fth_role_names[l->role], l->name, why);
	fth_link_close(l, true);
	tell(p, FTH_MSG_DOWN, l->role);
}

static void read_link(struct loop *p, struct fth_link *l)
{
	char *line;
	size_t n;
	int r = fth_lines_fill(&l->lines, l->out);
	if (r > 0) {
		while ((r = fth_lines_next(&l->lines, &line, &n)) > 0)
			fth_mailbox_put(p->to, (struct fth_message){.kind = FTH_MSG_LINE, .role = l->role, .line = fth_strndup(line, n), .len = n});
		if (r == -EMSGSIZE)
			lose_link(p, l, "it says a line longer than allowed");
	} else if (r != -EAGAIN) {
		lose_link(p, l, "its output ended");
	}
}

static void take_signal(struct loop *p)
{
	struct signalfd_siginfo s;
	while (read(p->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGHUP) {
			tell(p, FTH_MSG_RELOAD, FTH_WORKLOAD);
			continue;
		}
		fth_say(FTH_LOG_INFO, "stopping", "signal:u", s.ssi_signo);
		tell(p, FTH_MSG_STOP, FTH_WORKLOAD);
		if (++p->stops > 1)
			_exit(130); /* somebody is impatient: state is in the journal */
	}
}

static void take_outgoing(struct loop *p)
{
	uint64_t count;
	if (read(p->from->bell, &count, sizeof(count)) < 0 && errno != EAGAIN)
		fth_say(FTH_LOG_ERROR, "bell", "error:s", strerror(errno));
	fth_outbox_take(p->from, &p->taken);
	for (size_t i = 0; i < p->taken.len; i++) {
		struct fth_outgoing *o = &p->taken.data[i];
		struct fth_link *l = &p->links[o->role];
		if (o->session == l->session && l->pid && !o->line)
			lose_link(p, l, o->why);
		else if (o->session == l->session && l->pid)
			fth_link_send(l, o->line, o->len);
		free(o->line);
	}
	fth_vec_clear(&p->taken);
}

static void fill_fds(const struct loop *p, struct pollfd *fds)
{
	fds[SIGNALS] = (struct pollfd){.fd = p->signals, .events = POLLIN};
	fds[BELL] = (struct pollfd){.fd = p->from->bell, .events = POLLIN};
	for (int i = 0; i < FTH_NROLES; i++) {
		const struct fth_link *l = &p->links[i];
		struct pollfd *f = &fds[LINKS + i * PER_LINK];
		f[0] = (struct pollfd){.fd = l->out, .events = POLLIN};
		f[1] = (struct pollfd){.fd = l->err, .events = POLLIN};
		f[2] = (struct pollfd){.fd = l->sent < l->unsent.len ? l->in : -1, .events = POLLOUT};
	}
}

static void serve_links(struct loop *p, const struct pollfd *fds)
{
	for (int i = 0; i < FTH_NROLES; i++) {
		struct fth_link *l = &p->links[i];
		const struct pollfd *f = &fds[LINKS + i * PER_LINK];
		if (l->err >= 0 && f[1].revents)
			fth_link_hear(l);
		if (l->out >= 0 && f[0].revents)
			read_link(p, l);
		int r = l->pid ? fth_link_flush(l) : 0;
		if (r)
			lose_link(p, l, strerror(-r));
		if (!l->pid && !p->stops && fth_clock_ns() >= l->next_start_ns)
			start_link(p, l);
	}
}

/* From the moment something could be done to the moment we are ready for the next. */
static void note_lag(struct loop *p, int64_t since)
{
	int64_t now = fth_clock_ns(), lag = now - since;
	if (lag > atomic_load(&p->lag->worst))
		atomic_store(&p->lag->worst, lag);
	atomic_store(&p->lag->last_tick_ns, now);
}

int fth_loop_run(const struct fth_config *c, struct fth_mailbox *to_keeper, struct fth_outbox *from_keeper, struct fth_loop_lag *lag,
		 struct fth_error *err)
{
	struct loop p = {.to = to_keeper, .from = from_keeper, .lag = lag};
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	p.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p.signals < 0)
		return fth_fail(err, -errno, "signals: %s", strerror(errno));
	for (int i = 0; i < FTH_NROLES; i++)
		fth_link_init(&p.links[i], (enum fth_role)i, &c->role[i]);
	for (int i = 0; i < FTH_NROLES; i++)
		start_link(&p, &p.links[i]);
	while (!atomic_load(&from_keeper->over)) {
		struct pollfd fds[NFDS];
		fill_fds(&p, fds);
		if (poll(fds, NFDS, TICK_MS) < 0 && errno != EINTR)
			fth_say(FTH_LOG_ERROR, "poll", "error:s", strerror(errno));
		int64_t since = fth_clock_ns();
		if (fds[SIGNALS].revents)
			take_signal(&p);
		if (fds[BELL].revents)
			take_outgoing(&p);
		serve_links(&p, fds);
		note_lag(&p, since);
	}
	for (int i = 0; i < FTH_NROLES; i++) {
		fth_link_finish(&p.links[i], 3 * FTH_SEC);
		fth_link_release(&p.links[i]);
	}
	close(p.signals);
	fth_vec_release(&p.taken);
	return 0;
}
