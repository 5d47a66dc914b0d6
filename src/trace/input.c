/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a plain, gzip or zstd file, in bounded memory. Bytes go from the file (or memory) through
 * a decoder into one window; a line is handed out in place, or, when it is longer than the window,
 * from a buffer that grows up to FTH_LINE_MAX.
 */
#include "trace/trace.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { RAW = 64 << 10, WINDOW = 256 << 10, PEEK = 64 << 10 };

enum codec { PLAIN, GZIP, ZSTD };

struct fth_input {
	char *name;
	int fd; /* -1: memory */
	const char *mem;
	size_t mem_len;
	enum codec codec;
	z_stream z;
	ZSTD_DStream *zstd;
	char *raw;             /* bytes as they are in the file: raw[raw_pos .. raw_len) not decoded yet */
	size_t raw_pos, raw_len;
	bool raw_end;
	bool frame_open;       /* a compressed frame has begun and not ended */
	bool frame_done;       /* one has ended */
	char *window;          /* decoded: window[pos .. len) not handed out yet */
	size_t pos, len;
	bool end;              /* nothing more will be decoded */
	struct fth_str long_line;
	uint64_t line;
	bool cut;              /* the last line had no line end */
};

/* ---- bytes of the file ---- */

/* More raw bytes after those not decoded yet; 0 even at the end (raw_end). */
static int raw_fill(struct fth_input *in, struct fth_error *err)
{
	memmove(in->raw, in->raw + in->raw_pos, in->raw_len - in->raw_pos);
	in->raw_len -= in->raw_pos;
	in->raw_pos = 0;
	if (in->fd < 0) {
		size_t n = FTH_MIN(in->mem_len, RAW - in->raw_len);
		if (n)
			memcpy(in->raw + in->raw_len, in->mem, n);
		in->mem += n;
		in->mem_len -= n;
		in->raw_len += n;
		in->raw_end = !in->mem_len;
		return 0;
	}
	while (in->raw_len < RAW && !in->raw_end) {
		ssize_t n = read(in->fd, in->raw + in->raw_len, RAW - in->raw_len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fth_fail(err, -errno, "%s: %s", in->name, strerror(errno));
		in->raw_end = n == 0;
		in->raw_len += (size_t)n;
	}
	return 0;
}

/* ---- decoders: put at most room bytes at `to`, set *ret_n; *ret_n 0 means more input is wanted ---- */

static int decode_plain(struct fth_input *in, char *to, size_t room, size_t *ret_n)
{
	size_t n = FTH_MIN(room, in->raw_len - in->raw_pos);
	memcpy(to, in->raw + in->raw_pos, n);
	in->raw_pos += n;
	*ret_n = n;
	return 0;
}

static int decode_gzip(struct fth_input *in, char *to, size_t room, size_t *ret_n, struct fth_error *err)
{
	if (!in->frame_open) {
		/* Members may follow one another; zero bytes may pad the end. */
		while (in->raw_pos < in->raw_len && in->frame_done && in->raw[in->raw_pos] == 0)
			in->raw_pos++;
		if (in->raw_pos == in->raw_len) {
			*ret_n = 0;
			return 0;
		}
		inflateReset(&in->z);
		in->frame_open = true;
	}
	in->z.next_in = (unsigned char *)in->raw + in->raw_pos;
	in->z.avail_in = (unsigned)(in->raw_len - in->raw_pos);
	in->z.next_out = (unsigned char *)to;
	in->z.avail_out = (unsigned)room;
	int r = inflate(&in->z, Z_NO_FLUSH);
	in->raw_pos = in->raw_len - in->z.avail_in;
	*ret_n = room - in->z.avail_out;
	if (r == Z_STREAM_END) {
		in->frame_open = false;
		in->frame_done = true;
	} else if (r != Z_OK && r != Z_BUF_ERROR) {
		return fth_fail_at(err, -EINVAL, in->name, in->line + 1, "damaged gzip data (%s)",
				   in->z.msg ? in->z.msg : "unreadable");
	}
	return 0;
}

static int decode_zstd(struct fth_input *in, char *to, size_t room, size_t *ret_n, struct fth_error *err)
{
	ZSTD_inBuffer from = {in->raw, in->raw_len, in->raw_pos};
	ZSTD_outBuffer out = {to, room, 0};
	size_t before = in->raw_pos;
	size_t r = ZSTD_decompressStream(in->zstd, &out, &from);
	if (ZSTD_isError(r))
		return fth_fail_at(err, -EINVAL, in->name, in->line + 1, "damaged zstd data (%s)", ZSTD_getErrorName(r));
	in->raw_pos = from.pos;
	if (from.pos != before || out.pos)
		in->frame_open = r != 0;
	*ret_n = out.pos;
	return 0;
}

static int decode(struct fth_input *in, char *to, size_t room, size_t *ret_n, struct fth_error *err)
{
	switch (in->codec) {
	case GZIP:
		return decode_gzip(in, to, room, ret_n, err);
	case ZSTD:
		return decode_zstd(in, to, room, ret_n, err);
	default:
		return decode_plain(in, to, room, ret_n);
	}
}

/* Decode more into the window, which must have room; sets end when there is no more. */
static int window_fill(struct fth_input *in, struct fth_error *err)
{
	for (;;) {
		size_t n = 0, before = in->raw_pos;
		int r = decode(in, in->window + in->len, WINDOW - in->len, &n, err);
		if (r)
			return r;
		in->len += n;
		if (n)
			return 0;
		if (in->raw_pos != before)
			continue; /* a header or the like: no output yet */
		if (in->raw_end) {
			if (in->frame_open)
				return fth_fail_at(err, -EINVAL, in->name, in->line + 1, "truncated %s data",
						   in->codec == GZIP ? "gzip" : "zstd");
			in->end = true;
			return 0;
		}
		r = raw_fill(in, err);
		if (r)
			return r;
	}
}

/* ---- opening ---- */

static int start(struct fth_input *in, struct fth_error *err)
{
	in->raw = fth_alloc(RAW);
	in->window = fth_alloc(WINDOW + 1);
	int r = raw_fill(in, err);
	if (r)
		return r;
	if (in->raw_len >= 2 && !memcmp(in->raw, "\x1f\x8b", 2)) {
		in->codec = GZIP;
		if (inflateInit2(&in->z, 15 + 16) != Z_OK)
			return fth_fail(err, -ENOMEM, "%s: cannot start gzip", in->name);
	} else if (in->raw_len >= 4 && !memcmp(in->raw, "\x28\xb5\x2f\xfd", 4)) {
		in->codec = ZSTD;
		in->zstd = ZSTD_createDStream();
		if (!in->zstd)
			return fth_fail(err, -ENOMEM, "%s: cannot start zstd", in->name);
	}
	r = window_fill(in, err);
	if (!r && in->len >= 3 && !memcmp(in->window, "\xef\xbb\xbf", 3))
		in->pos = 3; /* a byte order mark, as spreadsheets write it */
	return r;
}

static int open_common(struct fth_input **ret, struct fth_input *in, struct fth_error *err)
{
	int r = start(in, err);
	if (r) {
		fth_input_close(in);
		return r;
	}
	*ret = in;
	return 0;
}

int fth_input_open(struct fth_input **ret, const char *path, struct fth_error *err)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fth_fail(err, -errno, "%s: %s", path, strerror(errno));
	struct fth_input *in = fth_alloc(sizeof(*in));
	in->name = fth_strdup(standard ? "standard input" : path);
	in->fd = fd;
	return open_common(ret, in, err);
}

int fth_input_open_memory(struct fth_input **ret, const char *name, const void *data, size_t n, struct fth_error *err)
{
	struct fth_input *in = fth_alloc(sizeof(*in));
	in->name = fth_strdup(name);
	in->fd = -1;
	in->mem = data;
	in->mem_len = n;
	return open_common(ret, in, err);
}

void fth_input_close(struct fth_input *in)
{
	if (!in)
		return;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	if (in->codec == GZIP)
		inflateEnd(&in->z);
	ZSTD_freeDStream(in->zstd);
	fth_str_release(&in->long_line);
	free(in->window);
	free(in->raw);
	free(in->name);
	free(in);
}

const char *fth_input_name(const struct fth_input *in)
{
	return in->name;
}

uint64_t fth_input_line(const struct fth_input *in)
{
	return in->line;
}

bool fth_input_cut(const struct fth_input *in)
{
	return in->cut;
}

/* ---- lines ---- */

static int check_line(struct fth_input *in, char **line, size_t *len, struct fth_error *err)
{
	if (memchr(*line, '\0', *len))
		return fth_fail_at(err, -EINVAL, in->name, in->line, "a NUL byte: this is not text");
	if (*len && (*line)[*len - 1] == '\r')
		(*len)--;
	(*line)[*len] = '\0';
	return 1;
}

/* The line does not end within the window: gather it, up to FTH_LINE_MAX. */
static int next_long(struct fth_input *in, char **ret_line, size_t *ret_len, struct fth_error *err)
{
	fth_str_clear(&in->long_line);
	for (;;) {
		char *from = in->window + in->pos, *nl = memchr(from, '\n', in->len - in->pos);
		size_t n = nl ? (size_t)(nl - from) : in->len - in->pos;
		if (in->long_line.len + n > FTH_LINE_MAX)
			return fth_fail_at(err, -EINVAL, in->name, in->line, "a line of more than %d MiB",
					   FTH_LINE_MAX >> 20);
		fth_str_addn(&in->long_line, from, n);
		in->pos += n + (nl != NULL);
		if (nl || in->end) {
			in->cut = !nl;
			*ret_line = in->long_line.data;
			*ret_len = in->long_line.len;
			return check_line(in, ret_line, ret_len, err);
		}
		in->pos = in->len = 0;
		int r = window_fill(in, err);
		if (r)
			return r;
	}
}

int fth_input_next(struct fth_input *in, char **ret_line, size_t *ret_len, struct fth_error *err)
{
	for (;;) {
		char *from = in->window + in->pos, *nl = memchr(from, '\n', in->len - in->pos);
		if (nl) {
			in->line++;
			in->pos += (size_t)(nl - from) + 1;
			*ret_line = from;
			*ret_len = (size_t)(nl - from);
			return check_line(in, ret_line, ret_len, err);
		}
		if (in->end && in->pos == in->len)
			return 0;
		if (in->end || (in->pos == 0 && in->len == WINDOW)) {
			in->line++;
			return next_long(in, ret_line, ret_len, err);
		}
		memmove(in->window, from, in->len - in->pos);
		in->len -= in->pos;
		in->pos = 0;
		int r = window_fill(in, err);
		if (r)
			return r;
	}
}

int fth_input_peek(struct fth_input *in, const char **ret, size_t *ret_len, struct fth_error *err)
{
	while (!in->end && in->len - in->pos < PEEK && in->len < WINDOW) {
		int r = window_fill(in, err);
		if (r)
			return r;
	}
	*ret = in->window + in->pos;
	*ret_len = in->len - in->pos;
	return 0;
}
