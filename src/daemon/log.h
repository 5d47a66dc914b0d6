/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon says of itself: one line each on standard error, as logfmt or JSON, from any thread. */
#ifndef FTH_DAEMON_LOG_H
#define FTH_DAEMON_LOG_H

#include "base/base.h"

enum fth_log_level { FTH_LOG_DEBUG = 0, FTH_LOG_INFO, FTH_LOG_WARN, FTH_LOG_ERROR };
extern const char *const fth_log_levels[];  /* NULL-ended, by level */
extern const char *const fth_log_formats[]; /* "logfmt", "json" */
void fth_log_set(enum fth_log_level least, int format);

/* fields: "job:s exit:d usd:f", a name and the type of its value each: s text, d int, l int64_t, u uint32_t, f double. */
void fth_say(enum fth_log_level level, const char *what, const char *fields, ...);

/* Now, in microseconds since 1970, never running backwards within this process. */
int64_t fth_wall_us(void);
/* Of a clock that only counts. */
int64_t fth_clock_ns(void);

#endif
