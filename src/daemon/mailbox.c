/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mailbox.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "report/format.h"

static void init_cond(pthread_cond_t *c)
{
	pthread_condattr_t a;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(c, &a);
	pthread_condattr_destroy(&a);
}

static struct timespec at_ns(int64_t ns)
{
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

/* ---- calls ---- */

struct fth_call *fth_call_new(enum fth_call_kind kind)
{
	struct fth_call *c = fth_alloc(sizeof(*c));
	c->kind = kind;
	c->uid = c->gid = -1;
	c->users = 2;
	pthread_mutex_init(&c->lock, NULL);
	init_cond(&c->done);
	return c;
}

void fth_call_drop(struct fth_call *c)
{
	if (!c || atomic_fetch_sub(&c->users, 1) > 1)
		return;
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->done);
	fth_str_release(&c->text);
	json_decref(c->body);
	free(c->what);
	free(c);
}

void fth_call_answer(struct fth_call *c, int status, struct fth_str text)
{
	pthread_mutex_lock(&c->lock);
	if (!c->status) {
		c->status = status;
		c->text = text;
	} else {
		fth_str_release(&text);
	}
	pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
}

void fth_call_refuse(struct fth_call *c, int status, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	struct fth_str out = {0};
	struct fth_json j = {.out = &out};
	fth_json_begin(&j, NULL, '{');
	fth_json_text(&j, "error", text);
	fth_json_end(&j, '}');
	fth_call_answer(c, status, out);
}

bool fth_call_wait(struct fth_call *c, int64_t limit_us)
{
	struct timespec until = at_ns(fth_clock_ns() + limit_us * 1000);
	pthread_mutex_lock(&c->lock);
	while (!c->status && !pthread_cond_timedwait(&c->done, &c->lock, &until))
		;
	bool there = c->status;
	pthread_mutex_unlock(&c->lock);
	return there;
}

/* ---- the mailbox ---- */

void fth_mailbox_init(struct fth_mailbox *m)
{
	*m = (struct fth_mailbox){0};
	pthread_mutex_init(&m->lock, NULL);
	init_cond(&m->some);
}

static void refuse(struct fth_message *m)
{
	free(m->line);
	if (m->call)
		fth_call_refuse(m->call, 503, "farthingd is stopping");
	fth_call_drop(m->call);
}

void fth_mailbox_close(struct fth_mailbox *m)
{
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	for (size_t i = 0; i < m->list.len; i++)
		refuse(&m->list.data[i]);
	fth_vec_clear(&m->list);
	pthread_mutex_unlock(&m->lock);
}

void fth_mailbox_release(struct fth_mailbox *m)
{
	fth_mailbox_close(m);
	fth_vec_release(&m->list);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->some);
}

void fth_mailbox_put(struct fth_mailbox *m, struct fth_message what)
{
	pthread_mutex_lock(&m->lock);
	if (m->closed) {
		refuse(&what);
	} else {
		fth_vec_push(&m->list, what);
		pthread_cond_signal(&m->some);
	}
	pthread_mutex_unlock(&m->lock);
}

void fth_mailbox_take(struct fth_mailbox *m, fth_messages *to, int64_t until_ns)
{
	struct timespec until = at_ns(until_ns);
	pthread_mutex_lock(&m->lock);
	while (!m->list.len && fth_clock_ns() < until_ns)
		if (pthread_cond_timedwait(&m->some, &m->lock, &until))
			break;
	for (size_t i = 0; i < m->list.len; i++)
		fth_vec_push(to, m->list.data[i]);
	fth_vec_clear(&m->list);
	pthread_mutex_unlock(&m->lock);
}

/* ---- the outbox ---- */

int fth_outbox_init(struct fth_outbox *o)
{
	*o = (struct fth_outbox){0};
	pthread_mutex_init(&o->lock, NULL);
	o->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return o->bell < 0 ? -errno : 0;
}

void fth_outbox_release(struct fth_outbox *o)
{
	for (size_t i = 0; i < o->list.len; i++)
		free(o->list.data[i].line);
	fth_vec_release(&o->list);
	pthread_mutex_destroy(&o->lock);
	if (o->bell >= 0)
		close(o->bell);
}

void fth_outbox_ring(struct fth_outbox *o)
{
	uint64_t one = 1;
	if (write(o->bell, &one, sizeof(one)) < 0)
		return; /* it rings already */
}

void fth_outbox_put(struct fth_outbox *o, struct fth_outgoing what)
{
	pthread_mutex_lock(&o->lock);
	fth_vec_push(&o->list, what);
	pthread_mutex_unlock(&o->lock);
	fth_outbox_ring(o);
}

void fth_outbox_take(struct fth_outbox *o, fth_outgoings *to)
{
	pthread_mutex_lock(&o->lock);
	for (size_t i = 0; i < o->list.len; i++)
		fth_vec_push(to, o->list.data[i]);
	fth_vec_clear(&o->list);
	pthread_mutex_unlock(&o->lock);
}
