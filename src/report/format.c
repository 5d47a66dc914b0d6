/* SPDX-License-Identifier: Apache-2.0 */
#include "report/format.h"

#include <math.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

size_t fth_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	if (s[0] < 0x80)
		return 1;
	size_t n = s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : 0;
	if (!n)
		return 0;
	uint32_t code = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	bool ok = code >= least[n] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
	return ok ? n : 0;
}

size_t fth_text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void fth_shown_text(struct fth_str *out, const char *text)
{
	fth_str_add(out, "");
	while (*text) {
		const unsigned char *s = (const unsigned char *)text;
		size_t n = fth_utf8_length(text);
		/* C0, DEL, and C1 as UTF-8 has them: a terminal may take these as commands. */
		bool control = s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
		if (n && !control) {
			fth_str_addn(out, text, n);
		} else {
			n = FTH_MAX(n, (size_t)1);
			for (size_t i = 0; i < n; i++)
				fth_str_addf(out, "\\x%02x", s[i]);
		}
		text += n;
	}
}

/* ---- JSON ---- */

static void json_quote(struct fth_str *out, const char *s)
{
	fth_str_addc(out, '"');
	while (*s) {
		size_t n = fth_utf8_length(s);
		if (!n) {
			fth_str_add(out, REPLACEMENT);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fth_str_addf(out, "\\%c", *s);
		else if (*s == '\n')
			fth_str_add(out, "\\n");
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			fth_str_addf(out, "\\u%04x", (unsigned)*s);
		else
			fth_str_addn(out, s, n);
		s += n;
	}
	fth_str_addc(out, '"');
}

static void json_lead(struct fth_json *j, const char *key)
{
	if (j->more)
		fth_str_addc(j->out, ',');
	if (j->depth)
		fth_str_addf(j->out, "\n%*s", 2 * j->depth, "");
	if (key) {
		json_quote(j->out, key);
		fth_str_add(j->out, ": ");
	}
	j->more = true;
}

void fth_json_begin(struct fth_json *j, const char *key, char bracket)
{
	json_lead(j, key);
	fth_str_addc(j->out, bracket);
	j->depth++;
	j->more = false;
}

void fth_json_end(struct fth_json *j, char bracket)
{
	j->depth--;
	if (j->more)
		fth_str_addf(j->out, "\n%*s", 2 * j->depth, "");
	fth_str_addc(j->out, bracket);
	j->more = true;
	if (!j->depth)
		fth_str_addc(j->out, '\n');
}

void fth_json_text(struct fth_json *j, const char *key, const char *text)
{
	json_lead(j, key);
	if (text)
		json_quote(j->out, text);
	else
		fth_str_add(j->out, "null");
}

void fth_json_int(struct fth_json *j, const char *key, int64_t v)
{
	json_lead(j, key);
	fth_str_addf(j->out, "%lld", (long long)v);
}

void fth_json_real(struct fth_json *j, const char *key, double v)
{
	json_lead(j, key);
	if (isfinite(v))
		fth_str_real(j->out, v);
	else
		fth_str_add(j->out, "null");
}

void fth_json_usd(struct fth_json *j, const char *key, fth_money v)
{
	json_lead(j, key);
	fth_str_usd(j->out, v);
}

void fth_json_bool(struct fth_json *j, const char *key, bool v)
{
	json_lead(j, key);
	fth_str_add(j->out, v ? "true" : "false");
}

void fth_json_raw(struct fth_json *j, const char *key, const char *json)
{
	json_lead(j, key);
	fth_str_add(j->out, json && *json ? json : "{}");
}

/* ---- CSV ---- */

static void csv_lead(struct fth_csvout *c)
{
	if (c->more)
		fth_str_addc(c->out, ',');
	c->more = true;
}

void fth_csvout_text(struct fth_csvout *c, const char *text)
{
	csv_lead(c);
	if (!strpbrk(text, ",\"\r\n")) {
		fth_str_add(c->out, text);
		return;
	}
	fth_str_addc(c->out, '"');
	for (; *text; text++) {
		if (*text == '"')
			fth_str_addc(c->out, '"');
		fth_str_addc(c->out, *text);
	}
	fth_str_addc(c->out, '"');
}

void fth_csvout_int(struct fth_csvout *c, int64_t v)
{
	csv_lead(c);
	fth_str_addf(c->out, "%lld", (long long)v);
}

void fth_csvout_real(struct fth_csvout *c, double v)
{
	csv_lead(c);
	if (isfinite(v))
		fth_str_real(c->out, v);
}

void fth_csvout_usd(struct fth_csvout *c, fth_money v)
{
	csv_lead(c);
	fth_str_usd(c->out, v);
}

void fth_csvout_seconds(struct fth_csvout *c, fth_time t)
{
	csv_lead(c);
	if (t != FTH_NEVER)
		fth_str_scaled(c->out, t, FTH_SEC);
}

void fth_csvout_end(struct fth_csvout *c)
{
	fth_str_add(c->out, "\r\n");
	c->more = false;
}

/* ---- HTML ---- */

void fth_html_text(struct fth_str *out, const char *s)
{
	while (*s) {
		size_t n = fth_utf8_length(s);
		if (!n) {
			fth_str_add(out, REPLACEMENT);
			s++;
			continue;
		}
		switch (*s) {
		case '&': fth_str_add(out, "&amp;"); break;
		case '<': fth_str_add(out, "&lt;"); break;
		case '>': fth_str_add(out, "&gt;"); break;
		case '"': fth_str_add(out, "&quot;"); break;
		case '\'': fth_str_add(out, "&#39;"); break;
		default:
			if ((unsigned char)*s < 0x20 && *s != '\n' && *s != '\t')
				fth_str_add(out, REPLACEMENT);
			else
				fth_str_addn(out, s, n);
		}
		s += n;
	}
}

/* ---- figures for people ---- */

/* Digits with a comma before every third one left of the point. */
static void grouped(struct fth_str *out, const char *digits)
{
	if (*digits == '-') {
		fth_str_addc(out, '-');
		digits++;
	}
	size_t whole = strcspn(digits, ".");
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			fth_str_addc(out, ',');
		fth_str_addc(out, digits[i]);
	}
	fth_str_add(out, digits + whole);
}

void fth_human_int(struct fth_str *out, int64_t v)
{
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)v);
	grouped(out, text);
}

/* %f without a sign before what rounds to nothing. */
static void fixed(char text[64], double v, int decimals)
{
	snprintf(text, 64, "%.*f", decimals, v);
	if (text[0] == '-' && !strpbrk(text, "123456789"))
		memmove(text, text + 1, strlen(text));
}

void fth_human_real(struct fth_str *out, double v, int decimals)
{
	char text[64];
	if (!isfinite(v) || fabs(v) >= 1e18) {
		fth_str_addf(out, "%g", v);
		return;
	}
	fixed(text, v, decimals);
	grouped(out, text);
}

void fth_human_usd(struct fth_str *out, double usd, int decimals)
{
	struct fth_str text = {0};
	fth_human_real(&text, usd, decimals);
	bool minus = text.data[0] == '-';
	fth_str_addf(out, "%s$%s", minus ? "-" : "", text.data + minus);
	fth_str_release(&text);
}

void fth_human_percent(struct fth_str *out, double share, int decimals)
{
	fth_human_real(out, share * 100, decimals);
	fth_str_addc(out, '%');
}

void fth_human_availability(struct fth_str *out, double share)
{
	int digits = 4;
	for (double left = 1 - share; digits < 12 && left > 0 && left < 1e-2; left *= 10)
		digits++;
	if (isnan(share))
		fth_str_addc(out, '-');
	else
		fth_str_addf(out, "%.*f", digits, share);
}

void fth_human_short(struct fth_str *out, double v, bool usd)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
	double size = fabs(v);
	size_t u = 0;
	while (u + 1 < FTH_COUNT(units) && size < units[u].unit * 0.99999)
		u++;
	char text[64];
	snprintf(text, sizeof(text), "%.3g", size / units[u].unit);
	if (size / units[u].unit >= 999.5)
		snprintf(text, sizeof(text), "%.0f", size / units[u].unit);
	fth_str_addf(out, "%s%s%s%s", v < 0 ? "-" : "", usd ? "$" : "", text, usd && *units[u].name == 'G' ? "B" : units[u].name);
}

struct fth_time_unit fth_human_unit(double longest_s)
{
	if (longest_s >= 100 * 86400.0)
		return (struct fth_time_unit){"d", 86400};
	if (longest_s >= 2 * 3600.0)
		return (struct fth_time_unit){"h", 3600};
	if (longest_s >= 2 * 60.0)
		return (struct fth_time_unit){"min", 60};
	return (struct fth_time_unit){"s", 1};
}

void fth_human_duration(struct fth_str *out, double s, struct fth_time_unit unit)
{
	double v = s / unit.seconds;
	fth_human_real(out, v, fabs(v) >= 999.5 ? 0 : fabs(v) >= 99.95 ? 1 : 2);
	fth_str_addf(out, " %s", unit.name);
}
