/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "report/format.h"

const char *const fth_log_levels[] = {"debug", "info", "warn", "error", NULL};
const char *const fth_log_formats[] = {"logfmt", "json", NULL};

static atomic_int least = FTH_LOG_INFO, chosen;

void fth_log_set(enum fth_log_level level, int format)
{
	least = level;
	chosen = format;
}

int64_t fth_clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t offset_us;

static void find_offset(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	offset_us = t.tv_sec * FTH_SEC + t.tv_nsec / 1000 - fth_clock_ns() / 1000;
}

int64_t fth_wall_us(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, find_offset);
	return offset_us + fth_clock_ns() / 1000;
}

static void add_time(struct fth_str *s, int64_t us)
{
	time_t t = (time_t)(us / FTH_SEC);
	struct tm tm;
	char text[32];
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fth_str_addf(s, "%s.%03dZ", text, (int)(us % FTH_SEC / 1000));
}

static void add_quoted(struct fth_str *s, const char *text, bool always)
{
	if (!always && *text && !text[strcspn(text, " \"=\\")] && strlen(text) < 200) {
		bool plain = true;
		for (const char *p = text; *p; p++)
			plain &= (unsigned char)*p > ' ' && (unsigned char)*p < 127;
		if (plain) {
			fth_str_add(s, text);
			return;
		}
	}
	fth_str_addc(s, '"');
	for (const char *p = text; *p;) {
		size_t n = fth_utf8_length(p);
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\\')
			fth_str_addf(s, "\\%c", c);
		else if (c < ' ' || c == 127 || !n)
			fth_str_addf(s, "\\u%04x", c);
		else
			fth_str_addn(s, p, n);
		p += n ? n : 1;
	}
	fth_str_addc(s, '"');
}

static void add_field(struct fth_str *s, const char *name, size_t n, bool json)
{
	fth_str_addf(s, json ? ",\"%.*s\":" : " %.*s=", (int)n, name);
}

static void add_fields(struct fth_str *s, const char *fields, va_list ap, bool json)
{
	for (const char *p = fields; p && *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, ":");
		add_field(s, p, n, json);
		switch (p[n] ? p[n + 1] : 0) {
		case 's': {
			const char *text = va_arg(ap, const char *);
			add_quoted(s, text ? text : "", json);
			break;
		}
		case 'd':
			fth_str_addf(s, "%d", va_arg(ap, int));
			break;
		case 'l':
			fth_str_addf(s, "%lld", (long long)va_arg(ap, int64_t));
			break;
		case 'u':
			fth_str_addf(s, "%u", va_arg(ap, uint32_t));
			break;
		case 'f':
			fth_str_addf(s, "%.6g", va_arg(ap, double));
			break;
		default:
			assert(!"a field has no type");
		}
		p += n + 2;
	}
}

void fth_say(enum fth_log_level level, const char *what, const char *fields, ...)
{
	if ((int)level < least)
		return;
	struct fth_str s = {0};
	bool json = chosen == 1;
	va_list ap;
	fth_str_add(&s, json ? "{\"time\":\"" : "time=");
	add_time(&s, fth_wall_us());
	fth_str_addf(&s, json ? "\",\"level\":\"%s\",\"msg\":" : " level=%s msg=", fth_log_levels[level]);
	add_quoted(&s, what, json);
	va_start(ap, fields);
	add_fields(&s, fields, ap, json);
	va_end(ap);
	fth_str_add(&s, json ? "}\n" : "\n");
	/* One write, so that lines of several threads do not mix. */
	if (write(STDERR_FILENO, s.data, s.len) < 0)
		least = FTH_LOG_ERROR + 1; /* nobody reads it */
	fth_str_release(&s);
}
