/* SPDX-License-Identifier: Apache-2.0 */
/* Text for machines (JSON, CSV, HTML escapes) and figures for people. Everything is added to a buffer. */
#ifndef FTH_REPORT_FORMAT_H
#define FTH_REPORT_FORMAT_H

#include "base/base.h"

/* ---- JSON: keys in the order written, two spaces of indent ---- */

struct fth_json {
	struct fth_str *out;
	int depth;
	bool more; /* something stands before in this object or list */
};
/* key: NULL within a list, and for the outermost value. bracket: '{' or '['. */
void fth_json_begin(struct fth_json *j, const char *key, char bracket);
void fth_json_end(struct fth_json *j, char bracket); /* '}' or ']' */
void fth_json_text(struct fth_json *j, const char *key, const char *text); /* NULL: null */
void fth_json_int(struct fth_json *j, const char *key, int64_t v);
void fth_json_real(struct fth_json *j, const char *key, double v); /* not finite: null */
void fth_json_usd(struct fth_json *j, const char *key, fth_money v); /* dollars, exactly */
void fth_json_bool(struct fth_json *j, const char *key, bool v);
void fth_json_raw(struct fth_json *j, const char *key, const char *json); /* JSON as it is; empty: {} */

/* ---- CSV (RFC 4180: CRLF, quotes only where needed) ---- */

struct fth_csvout {
	struct fth_str *out;
	bool more;
};
void fth_csvout_text(struct fth_csvout *c, const char *text);
void fth_csvout_int(struct fth_csvout *c, int64_t v);
void fth_csvout_real(struct fth_csvout *c, double v); /* not finite: empty */
void fth_csvout_usd(struct fth_csvout *c, fth_money v);
void fth_csvout_seconds(struct fth_csvout *c, fth_time t); /* FTH_NEVER: empty */
void fth_csvout_end(struct fth_csvout *c);                 /* of the row */

/* ---- HTML ---- */

/* Text from data, safe within elements and quoted attributes; bytes that are not UTF-8 are replaced. */
void fth_html_text(struct fth_str *out, const char *text);

/* ---- figures for people ---- */

void fth_human_int(struct fth_str *out, int64_t v);                 /* 12,345 */
void fth_human_real(struct fth_str *out, double v, int decimals);   /* 12,345.7 */
void fth_human_usd(struct fth_str *out, double usd, int decimals);  /* $12,345.67; -$3.00 */
void fth_human_percent(struct fth_str *out, double share, int decimals); /* 0.388 -> 38.8% */
/* A share of time, with enough digits to tell its nines: 0.9999923; not a number: -. */
void fth_human_availability(struct fth_str *out, double share);
/* Short forms for axes: $1.2k, 350, 2.5M. */
void fth_human_short(struct fth_str *out, double v, bool usd);

/* A unit in which durations up to this many seconds read well. */
struct fth_time_unit {
	const char *name; /* "s", "min", "h", "d" */
	double seconds;
};
struct fth_time_unit fth_human_unit(double longest_s);
void fth_human_duration(struct fth_str *out, double s, struct fth_time_unit unit); /* "19.65 h" */

/* Text out of a file for a terminal: control characters become \x1b, bytes that are no UTF-8 \xff. */
void fth_shown_text(struct fth_str *out, const char *text);
/* Code points, as a measure of width. */
size_t fth_text_width(const char *text);
/* Length of the UTF-8 sequence that begins here, 0 if it is not a valid one. */
size_t fth_utf8_length(const char *s);

#endif
