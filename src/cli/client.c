/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "report/format.h"

enum { ANSWER_MAX = 256 << 20, PATIENCE_S = 60 };

static const char *const formats[] = {"table", "json", NULL};
const struct fth_option fth_options_daemon[] = {
	{.name = "format", .letter = 'f', .type = FTH_OPT_CHOICE, .arg = "FORMAT", .def = "table", .choices = formats, .help = "how to write the result"},
	{.name = "socket", .type = FTH_OPT_FILE, .arg = "FILE", .help = "farthingd's socket; else $FARTHING_SOCKET, else where farthingd puts it by itself"},
	{.name = "url", .type = FTH_OPT_TEXT, .arg = "URL", .help = "farthingd's address instead, as in http://127.0.0.1:8480; needs --token-file"},
	{.name = "token-file", .type = FTH_OPT_FILE, .arg = "FILE", .help = "the token for --url"},
	{0},
};

/* ---- connecting ---- */

/* Where farthingd puts its socket when nobody says: the same places, in the same order. */
static void default_socket(struct fth_str *out)
{
	const char *home = getenv("XDG_STATE_HOME"), *user = getenv("HOME");
	fth_str_add(out, "/run/farthing/farthingd.sock");
	if (!access(out->data, F_OK))
		return;
	fth_str_clear(out);
	if (!geteuid())
		fth_str_add(out, "/var/lib/farthing/farthingd.sock");
	else
		fth_str_addf(out, "%s%s/farthing/farthingd.sock", home ? home : user ? user : "/tmp", home ? "" : "/.local/state");
}

static int connect_unix(const struct fth_args *a, struct fth_error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct fth_str path = {0};
	const char *given = fth_args_given(a, "socket"), *env = getenv("FARTHING_SOCKET");
	if (given || (env && *env))
		fth_str_add(&path, given ? given : env);
	else
		default_socket(&path);
	int r = 0, fd = -1;
	if (path.len >= sizeof(at.sun_path)) {
		r = fth_fail(err, -ENAMETOOLONG, "%s: too long for a socket's path", path.data);
	} else {
		memcpy(at.sun_path, path.data, path.len + 1);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
			r = fth_fail(err, -EIO, "%s: %s; is farthingd running?", path.data, strerror(errno));
	}
	if (r && fd >= 0)
		close(fd);
	fth_str_release(&path);
	return r ? r : fd;
}

static int connect_tcp(const char *url, struct fth_error *err)
{
	char host[256] = "", port[16] = "";
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *at;
	if (sscanf(url, "http://%255[^:/]:%15[0-9]", host, port) != 2)
		return fth_fail(err, -EINVAL, "--url %s: http://HOST:PORT is needed", url);
	int r = getaddrinfo(host, port, &hints, &at);
	if (r)
		return fth_fail(err, -EINVAL, "--url %s: %s", url, gai_strerror(r));
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, at->ai_addr, at->ai_addrlen)) {
		r = fth_fail(err, -EIO, "%s: %s; is farthingd running?", url, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(at);
	return r ? r : fd;
}

static int add_token(const struct fth_args *a, struct fth_str *request, struct fth_error *err)
{
	char token[4096] = "";
	const char *path = fth_args_given(a, "token-file");
	FILE *f = path ? fopen(path, "re") : NULL;
	if (!f || !fgets(token, sizeof(token), f)) {
		if (f)
			fclose(f);
		return fth_fail(err, -EINVAL, "%s: no token can be read", path ? path : "--url needs --token-file");
	}
	fclose(f);
	token[strcspn(token, "\r\n")] = 0;
	fth_str_addf(request, "Authorization: Bearer %s\r\n", token);
	return 0;
}

/* ---- one request ---- */

static int send_all(int fd, const struct fth_str *s, struct fth_error *err)
{
	for (size_t at = 0; at < s->len;) {
		ssize_t n = send(fd, s->data + at, s->len - at, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return fth_fail(err, -EIO, "farthingd does not listen: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int receive_all(int fd, struct fth_str *s, struct fth_error *err)
{
	char piece[65536];
	for (;;) {
		ssize_t n = recv(fd, piece, sizeof(piece), 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fth_fail(err, -EIO, "farthingd does not answer: %s", strerror(errno));
		fth_str_addn(s, piece, (size_t)n);
		if (s->len > ANSWER_MAX)
			return fth_fail(err, -EIO, "farthingd's answer is longer than is sensible");
	}
}

static int exchange(const struct fth_args *a, const char *method, const char *path, const json_t *body, struct fth_str *answer, struct fth_error *err)
{
	const char *url = fth_args_given(a, "url");
	struct fth_str request = {0};
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	int r = 0, fd = url ? connect_tcp(url, err) : connect_unix(a, err);
	if (fd < 0) {
		free(text);
		return fd;
	}
	struct timeval patience = {.tv_sec = PATIENCE_S};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	fth_str_addf(&request, "%s %s HTTP/1.0\r\nHost: farthingd\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n", method, path,
		     text ? strlen(text) : 0);
	if (url)
		r = add_token(a, &request, err);
	fth_str_addf(&request, "\r\n%s", text ? text : "");
	if (!r)
		r = send_all(fd, &request, err);
	if (!r)
		r = receive_all(fd, answer, err);
	close(fd);
	free(text);
	fth_str_release(&request);
	return r;
}

/* Whose fault it was, as exit codes tell it. */
static int code_of(int status)
{
	return status == 401 || status == 403 ? -EACCES : status == 404 ? -ENOENT : status < 500 ? -EINVAL : -EIO;
}

int fth_client_ask(const struct fth_args *a, const char *method, const char *path, const json_t *body, json_t **ret, struct fth_str *ret_text,
		   struct fth_error *err)
{
	struct fth_str answer = {0};
	int status = 0, r = exchange(a, method, path, body, &answer, err);
	const char *text = r || !answer.len ? NULL : strstr(answer.data, "\r\n\r\n");
	if (!r && (sscanf(answer.data ? answer.data : "", "HTTP/1.%*d %d", &status) != 1 || !text))
		r = fth_fail(err, -EIO, "what answers there is no farthingd");
	json_t *doc = r ? NULL : json_loads(text + 4, 0, NULL);
	if (!r && (status >= 300 || !doc)) {
		const char *why = json_string_value(json_object_get(doc, "error"));
		r = fth_fail(err, status >= 300 ? code_of(status) : -EIO, "%s", why ? why : "farthingd gives no sensible answer");
	}
	if (!r && ret_text)
		fth_str_add(ret_text, text + 4);
	if (r || !ret)
		json_decref(doc);
	else
		*ret = doc;
	fth_str_release(&answer);
	return r;
}

int fth_client_show(const struct fth_args *a, const char *method, const char *path, const json_t *body, void (*table)(const json_t *doc))
{
	struct fth_error err = {0};
	struct fth_str text = {0};
	json_t *doc = NULL;
	int r = fth_client_ask(a, method, path, body, &doc, &text, &err);
	if (!r && !strcmp(fth_args_text(a, "format"), "json"))
		fputs(text.data, stdout);
	else if (!r)
		table(doc);
	json_decref(doc);
	fth_str_release(&text);
	return r ? fth_cli_fail(&err) : FTH_EXIT_OK;
}

/* ---- tables ---- */

void fth_columns_add(struct fth_columns *c, const char *fmt, ...)
{
	char buf[512];
	struct fth_str shown = {0};
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fth_shown_text(&shown, buf);
	fth_vec_push(&c->cells, shown.data ? shown.data : fth_strdup(""));
}

void fth_columns_time(struct fth_columns *c, const json_t *t)
{
	time_t s = (time_t)(json_integer_value(t) / FTH_SEC);
	struct tm tm;
	char text[32] = "-";
	if (json_is_integer(t) && localtime_r(&s, &tm))
		strftime(text, sizeof(text), "%m-%d %H:%M:%S", &tm);
	fth_columns_add(c, "%s", text);
}

static void print_cell(const char *text, size_t width, bool right, bool last)
{
	size_t n = fth_text_width(text), pad = width > n ? width - n : 0;
	if (right)
		printf("%*s%s", (int)pad, "", text);
	else
		printf("%s%*s", text, last ? 0 : (int)pad, "");
	fputs(last ? "\n" : "  ", stdout);
}

void fth_columns_print(struct fth_columns *c)
{
	size_t n = 0, width[16] = {0};
	while (c->titles[n])
		n++;
	for (size_t i = 0; i < n; i++)
		width[i] = strlen(c->titles[i]) - (c->titles[i][0] == '>');
	for (size_t i = 0; i < c->cells.len; i++)
		width[i % n] = FTH_MAX(width[i % n], fth_text_width(c->cells.data[i]));
	for (size_t i = 0; i < n; i++)
		print_cell(c->titles[i] + (c->titles[i][0] == '>'), width[i], c->titles[i][0] == '>', i + 1 == n);
	for (size_t i = 0; i < c->cells.len; i++) {
		print_cell(c->cells.data[i], width[i % n], c->titles[i % n][0] == '>', i % n + 1 == n);
		free(c->cells.data[i]);
	}
	fth_vec_release(&c->cells);
}

const char *fth_text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

double fth_number_at(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

char *fth_url_part(const char *text)
{
	struct fth_str s = {0};
	for (const char *p = text; *p; p++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~", *p))
			fth_str_addc(&s, *p);
		else
			fth_str_addf(&s, "%%%02X", (unsigned char)*p);
	return s.data ? s.data : fth_strdup("");
}
