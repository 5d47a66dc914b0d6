/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears whole or not at all: bytes go to a file beside it, which takes the name only
 * when everything has been written. What is not a regular file (a pipe, /dev/null) is written directly.
 */
#include "trace/trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { CHUNK = 64 << 10 };

enum codec { PLAIN, GZIP, ZSTD };

struct fth_output {
	char *path;
	char *temp; /* NULL: written directly */
	struct fth_str *memory; /* not NULL: there is no file */
	int fd;
	enum codec codec;
	z_stream z;
	ZSTD_CStream *zstd;
	char *chunk;
	size_t len; /* plain: bytes waiting in chunk */
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

static int write_all(struct fth_output *o, const char *p, size_t n, struct fth_error *err)
{
	if (o->memory) {
		fth_str_addn(o->memory, p, n);
		return 0;
	}
	while (n) {
		ssize_t w = write(o->fd, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && o->fd == STDOUT_FILENO)
			return fth_fail(err, -errno, "cannot write to standard output: %s", strerror(errno));
		if (w < 0)
			return fth_fail(err, -errno, "%s: %s", o->path, strerror(errno));
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

enum { TEMP_NAMES = 1000 };

static void add_temp_name(struct fth_str *s, const char *path, long pid, int i)
{
	fth_str_addf(s, "%s.%ld.%d.part", path, pid, i);
}

/* Open a new file beside the path; the number makes the name ours among the writers of one program. */
static int open_beside(struct fth_output *o, struct fth_error *err)
{
	for (int i = 0; i < TEMP_NAMES; i++) {
		struct fth_str s = {0};
		add_temp_name(&s, o->path, (long)getpid(), i);
		o->fd = open(s.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd >= 0) {
			o->temp = s.data;
			return 0;
		}
		fth_str_release(&s);
		if (errno != EEXIST)
			break;
	}
	return fth_fail(err, -errno, "%s: %s", o->path, strerror(errno));
}

static int open_target(struct fth_output *o, struct fth_error *err)
{
	struct stat st;
	if (!strcmp(o->path, "-")) {
		o->fd = STDOUT_FILENO;
		return 0;
	}
	if (!stat(o->path, &st)) {
		if (!S_ISREG(st.st_mode)) {
			o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
			return o->fd >= 0 ? 0 : fth_fail(err, -errno, "%s: %s", o->path, strerror(errno));
		}
		/* Through a symbolic link, replace what it points to. */
		char *real = realpath(o->path, NULL);
		if (real) {
			free(o->path);
			o->path = real;
		}
	}
	return open_beside(o, err);
}

int fth_output_open(struct fth_output **ret, const char *path, struct fth_error *err)
{
	struct fth_output *o = fth_alloc(sizeof(*o));
	o->path = fth_strdup(path);
	o->fd = -1;
	int r = open_target(o, err);
	if (r) {
		fth_output_abort(o);
		return r;
	}
	o->chunk = fth_alloc(CHUNK);
	if (ends_with(path, ".gz")) {
		/* zlib leaves the time in the header 0: same bytes every time. */
		if (deflateInit2(&o->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
			r = -ENOMEM;
		else
			o->codec = GZIP;
	} else if (ends_with(path, ".zst")) {
		o->zstd = ZSTD_createCStream();
		if (!o->zstd)
			r = -ENOMEM;
		else
			o->codec = ZSTD;
	}
	if (r) {
		fth_output_abort(o);
		return fth_fail(err, r, "%s: cannot start the compressor", path);
	}
	*ret = o;
	return 0;
}

void fth_output_open_memory(struct fth_output **ret, struct fth_str *to)
{
	struct fth_output *o = fth_alloc(sizeof(*o));
	o->path = fth_strdup("memory");
	o->memory = to;
	o->fd = -1;
	o->chunk = fth_alloc(CHUNK);
	*ret = o;
}

static int write_gzip(struct fth_output *o, const char *data, size_t n, int flush, struct fth_error *err)
{
	o->z.next_in = (unsigned char *)(uintptr_t)data;
	int z;
	do {
		if (!o->z.avail_in && n) {
			size_t part = FTH_MIN(n, (size_t)1 << 30);
			o->z.avail_in = (unsigned)part;
			n -= part;
		}
		o->z.next_out = (unsigned char *)o->chunk;
		o->z.avail_out = CHUNK;
		z = deflate(&o->z, n ? Z_NO_FLUSH : flush);
		int r = write_all(o, o->chunk, CHUNK - o->z.avail_out, err);
		if (r)
			return r;
	} while (n || o->z.avail_in || (flush == Z_FINISH ? z != Z_STREAM_END : !o->z.avail_out));
	return 0;
}

static int write_zstd(struct fth_output *o, const char *data, size_t n, ZSTD_EndDirective end, struct fth_error *err)
{
	ZSTD_inBuffer from = {data, n, 0};
	size_t left;
	do {
		ZSTD_outBuffer to = {o->chunk, CHUNK, 0};
		left = ZSTD_compressStream2(o->zstd, &to, &from, end);
		if (ZSTD_isError(left))
			return fth_fail(err, -EIO, "%s: %s", o->path, ZSTD_getErrorName(left));
		int r = write_all(o, o->chunk, to.pos, err);
		if (r)
			return r;
	} while (from.pos < n || (end == ZSTD_e_end && left));
	return 0;
}

static int write_plain(struct fth_output *o, const char *data, size_t n, struct fth_error *err)
{
	if (o->len + n > CHUNK) {
		int r = write_all(o, o->chunk, o->len, err);
		if (r)
			return r;
		o->len = 0;
	}
	if (n > CHUNK)
		return write_all(o, data, n, err);
	memcpy(o->chunk + o->len, data, n);
	o->len += n;
	return 0;
}

int fth_output_write(struct fth_output *o, const char *data, size_t n, struct fth_error *err)
{
	if (!n)
		return 0;
	if (o->codec == GZIP)
		return write_gzip(o, data, n, Z_NO_FLUSH, err);
	if (o->codec == ZSTD)
		return write_zstd(o, data, n, ZSTD_e_continue, err);
	return write_plain(o, data, n, err);
}

static int finish(struct fth_output *o, struct fth_error *err)
{
	if (o->codec == GZIP)
		return write_gzip(o, "", 0, Z_FINISH, err);
	if (o->codec == ZSTD)
		return write_zstd(o, "", 0, ZSTD_e_end, err);
	return write_all(o, o->chunk, o->len, err);
}

int fth_output_commit(struct fth_output *o, struct fth_error *err)
{
	int r = finish(o, err);
	if (!r && o->fd != STDOUT_FILENO && !o->memory) {
		int fd = o->fd;
		o->fd = -1;
		if (close(fd) < 0)
			r = fth_fail(err, -errno, "%s: %s", o->path, strerror(errno));
	}
	if (!r && o->temp) {
		if (rename(o->temp, o->path) < 0) {
			r = fth_fail(err, -errno, "%s: %s", o->path, strerror(errno));
		} else {
			free(o->temp);
			o->temp = NULL;
		}
	}
	fth_output_abort(o);
	return r;
}

void fth_output_abort(struct fth_output *o)
{
	if (!o)
		return;
	if (o->fd >= 0 && o->fd != STDOUT_FILENO)
		close(o->fd);
	if (o->temp)
		unlink(o->temp);
	if (o->codec == GZIP)
		deflateEnd(&o->z);
	ZSTD_freeCStream(o->zstd);
	free(o->chunk);
	free(o->temp);
	free(o->path);
	free(o);
}

const char *fth_output_unfinished(const struct fth_output *o)
{
	return o->temp;
}

void fth_output_sweep(const char *path, long pid)
{
	char *real = realpath(path, NULL); /* as when it was opened: through a link */
	bool more = true;
	for (int i = 0; more && i < TEMP_NAMES; i++) {
		struct fth_str s = {0};
		add_temp_name(&s, real ? real : path, pid, i);
		more = !unlink(s.data);
		fth_str_release(&s);
	}
	free(real);
}
