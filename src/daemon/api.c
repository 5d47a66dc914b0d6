/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pwd.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"

enum { CONNECTIONS = 64, STRANGERS = 8, TIMEOUT_S = 60, TOKEN_MIN = 16, TOKEN_MAX = 4096 };

struct fth_api {
	struct fth_keeper *k;
	struct MHD_Daemon *unix_daemon, *tcp_daemon;
	char token[TOKEN_MAX];
	char *certificate, *key;
	FTH_VEC(uid_t) users;
	int64_t token_uid, token_gid;
	char token_name[64];
	atomic_int strangers; /* connections of users who are not let in */
};

/* One request on its way in. */
struct incoming {
	struct fth_str body;
	bool too_long;
	bool unwelcome; /* what it says is not kept */
};

/* ---- who is asking ---- */

/* The time it takes tells nothing of how much is right. */
static bool same_secret(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned char diff = na != nb;
	for (size_t i = 0; i < nb; i++)
		diff |= (unsigned char)(b[i] ^ a[na ? i % na : 0]);
	return !diff;
}

static void by_token(struct fth_api *a, struct MHD_Connection *c, struct fth_asker *who)
{
	const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	if (!given || strncasecmp(given, "Bearer ", 7) || !a->token[0] || !same_secret(a->token, given + 7))
		return;
	snprintf(who->by, sizeof(who->by), "%s", a->token_name);
	who->uid = a->token_uid;
	who->gid = a->token_gid;
	who->trusted = true;
}

static void by_socket(struct fth_api *a, struct MHD_Connection *c, struct fth_asker *who)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer;
	socklen_t n = sizeof(peer);
	if (!info || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return;
	who->uid = peer.uid;
	who->gid = peer.gid;
	who->trusted = peer.uid == 0 || peer.uid == geteuid();
	for (size_t i = 0; i < a->users.len; i++)
		who->trusted |= a->users.data[i] == peer.uid;
	char buf[4096];
	struct passwd pw, *found = NULL;
	if (!getpwuid_r(peer.uid, &pw, buf, sizeof(buf), &found) && found)
		snprintf(who->by, sizeof(who->by), "%s", found->pw_name);
	else
		snprintf(who->by, sizeof(who->by), "%u", peer.uid);
}

/* Who is not let in may ask how we are, but not keep others out: a few such connections at a time. */
static void connected(void *arg, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode what)
{
	struct fth_api *a = arg;
	struct fth_asker who = {.uid = -1, .gid = -1};
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context)
			atomic_fetch_sub(&a->strangers, 1);
		*context = NULL;
		return;
	}
	by_socket(a, c, &who);
	if (who.trusted)
		return;
	*context = a;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (atomic_fetch_add(&a->strangers, 1) >= STRANGERS && info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* ---- requests ---- */

static enum MHD_Result reply(struct MHD_Connection *c, struct fth_answer *a)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(a->text.len, a->text.data ? a->text.data : (char *)"", MHD_RESPMEM_MUST_COPY);
	MHD_add_response_header(r, "Content-Type", a->type);
	MHD_add_response_header(r, "Cache-Control", "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (a->status == 401)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	enum MHD_Result ok = MHD_queue_response(c, (unsigned)a->status, r);
	MHD_destroy_response(r);
	fth_str_release(&a->text);
	return ok;
}

static enum MHD_Result refuse(struct MHD_Connection *c, int status, const char *text)
{
	struct fth_answer a = {.status = status, .type = "application/json"};
	fth_str_addf(&a.text, "{\"error\": \"%s\"}\n", text);
	return reply(c, &a);
}

static enum MHD_Result take_body(struct fth_api *a, struct incoming *in, const char *data, size_t *size)
{
	if (in->unwelcome)
		*size = 0;
	else if (in->body.len + *size > (size_t)a->k->cfg->api.max_body)
		in->too_long = true;
	else
		fth_str_addn(&in->body, data, *size);
	*size = 0;
	return MHD_YES;
}

/* A body that says it is too long is not waited for. */
static bool says_too_much(const struct fth_api *a, struct MHD_Connection *c)
{
	const char *n = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
	int64_t length = 0;
	return n && (fth_parse_i64(n, strlen(n), &length) || length > a->k->cfg->api.max_body);
}

/* Whether the asker may have this; if not, it is refused. */
static bool may_ask(struct fth_api *a, bool over_socket, struct MHD_Connection *c, const char *url, struct fth_asker *who)
{
	(over_socket ? by_socket : by_token)(a, c, who);
	if (who->trusted || !strcmp(url, "/healthz"))
		return true;
	fth_say(FTH_LOG_WARN, "refused to answer", "by:s url:s", who->by[0] ? who->by : "unknown", url);
	return false;
}

static enum MHD_Result answer(struct fth_api *a, bool over_socket, struct MHD_Connection *c, const char *url, const char *method, struct incoming *in)
{
	struct fth_asker who = {.uid = -1, .gid = -1};
	struct fth_answer out = {.status = 500, .type = "application/json"};
	(over_socket ? by_socket : by_token)(a, c, &who);
	if (in->unwelcome)
		return refuse(c, over_socket ? 403 : 401, over_socket ? "this user may not use farthingd" : "a bearer token is needed");
	if (in->too_long)
		return refuse(c, 413, "the body is longer than allowed");
	fth_route(a->k, &who, method, url, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "state"), in->body.data ? in->body.data : "", in->body.len,
		  &out);
	return reply(c, &out);
}

static enum MHD_Result handle(struct fth_api *a, bool over_socket, struct MHD_Connection *c, const char *url, const char *method, const char *data,
			      size_t *size, void **state)
{
	if (!*state) {
		struct fth_asker who = {.uid = -1, .gid = -1};
		struct incoming *in = fth_alloc(sizeof(*in));
		in->unwelcome = !may_ask(a, over_socket, c, url, &who);
		*state = in;
		return says_too_much(a, c) ? refuse(c, 413, "the body is longer than allowed") : MHD_YES;
	}
	if (*size)
		return take_body(a, *state, data, size);
	return answer(a, over_socket, c, url, method, *state);
}

static enum MHD_Result on_socket(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data,
				 size_t *size, void **state)
{
	(void)version;
	return handle(arg, true, c, url, method, data, size, state);
}

static enum MHD_Result on_tcp(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data,
			      size_t *size, void **state)
{
	(void)version;
	return handle(arg, false, c, url, method, data, size, state);
}

static void completed(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
	struct incoming *in = *state;
	(void)arg, (void)c, (void)why;
	if (in)
		fth_str_release(&in->body);
	free(in);
	*state = NULL;
}

static void say(void *arg, const char *fmt, va_list ap)
{
	char text[300];
	(void)arg;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = 0;
	fth_say(FTH_LOG_DEBUG, "http", "text:s", text);
}

/* ---- opening ---- */

static int listen_unix(const char *path, struct fth_error *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(at.sun_path))
		return fth_fail(err, -ENAMETOOLONG, "%s: too long for a socket's path", path);
	strcpy(at.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fth_fail(err, -errno, "socket: %s", strerror(errno));
	/* We hold the journal, so whoever left it there is dead. */
	struct stat st;
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	/* Anybody may knock; who is let in is decided by the kernel's word on who knocks. */
	mode_t was = umask(0111);
	int r = bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64) ? -errno : 0;
	umask(was);
	if (r) {
		close(fd);
		return fth_fail(err, r, "%s: %s", path, strerror(-r));
	}
	return fd;
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static int resolve(const struct fth_api_config *c, struct addrinfo **ret, struct fth_error *err)
{
	const char *colon = strrchr(c->listen, ':');
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE}, *at;
	int64_t port = 0;
	if (!colon || fth_parse_i64(colon + 1, strlen(colon + 1), &port) || port < 1 || port > 65535)
		return fth_fail(err, -EINVAL, "api.listen: ADDRESS:PORT is needed, not %s", c->listen);
	size_t n = (size_t)(colon - c->listen);
	bool bracketed = n > 2 && c->listen[0] == '[' && c->listen[n - 1] == ']';
	char *host = fth_strndup(c->listen + bracketed, n - 2 * bracketed);
	int r = getaddrinfo(strcmp(host, "localhost") ? host : "127.0.0.1", colon + 1, &hints, &at);
	free(host);
	if (r)
		return fth_fail(err, -EINVAL, "api.listen: %s: %s", c->listen, gai_strerror(r));
	bool tls = c->tls_certificate && c->tls_key;
	if (!is_loopback(at->ai_addr) && !tls && !c->beyond_loopback) {
		freeaddrinfo(at);
		return fth_fail(err, -EACCES,
				"api.listen: %s is not on loopback, and the token would travel in clear: give tls_certificate and tls_key, or say "
				"beyond_loopback: true",
				c->listen);
	}
	*ret = at;
	return 0;
}

static int listen_tcp(const struct fth_api_config *c, struct fth_error *err)
{
	struct addrinfo *at;
	int r = resolve(c, &at, err);
	if (r)
		return r;
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 64))
		r = fth_fail(err, -errno, "api.listen: %s: %s", c->listen, strerror(errno));
	freeaddrinfo(at);
	if (r && fd >= 0)
		close(fd);
	return r ? r : fd;
}

static char *read_file(const char *path, struct fth_error *err)
{
	FILE *f = fopen(path, "re");
	char *text = fth_alloc(65536);
	size_t n = f ? fread(text, 1, 65535, f) : 0;
	if (f)
		fclose(f);
	if (f && n)
		return text;
	free(text);
	fth_fail(err, -EINVAL, "%s: cannot be read, or is empty", path);
	return NULL;
}

static int read_token(struct fth_api *a, const struct fth_api_config *c, struct fth_error *err)
{
	struct stat st;
	if (!c->token_file)
		return fth_fail(err, -EINVAL, "api.listen needs api.token_file");
	if (stat(c->token_file, &st) || st.st_mode & 077)
		return fth_fail(err, -EACCES, "%s: a token file must be its owner's alone (chmod 600)", c->token_file);
	char *text = read_file(c->token_file, err);
	if (!text)
		return -EINVAL;
	size_t n = strcspn(text, "\r\n");
	int r = n < TOKEN_MIN || n >= TOKEN_MAX ? fth_fail(err, -EINVAL, "%s: a token has at least %d characters", c->token_file, TOKEN_MIN) : 0;
	if (!r)
		memcpy(a->token, text, n);
	free(text);
	return r;
}

/* Jobs of who has the token run as this user. */
static int find_token_user(struct fth_api *a, const struct fth_api_config *c, struct fth_error *err)
{
	struct passwd *pw = c->token_user ? getpwnam(c->token_user) : NULL;
	if (c->token_user && !pw)
		return fth_fail(err, -EINVAL, "api.token_user: no user %s", c->token_user);
	if (!geteuid() && !pw)
		return fth_fail(err, -EINVAL, "api.listen as root needs api.token_user: whose jobs those of the token's holder are");
	a->token_uid = pw ? pw->pw_uid : geteuid();
	a->token_gid = pw ? pw->pw_gid : getegid();
	snprintf(a->token_name, sizeof(a->token_name), "%s", pw ? pw->pw_name : "token");
	return 0;
}

static int find_users(struct fth_api *a, const struct fth_api_config *c, struct fth_error *err)
{
	for (size_t i = 0; i < json_array_size(c->users); i++) {
		const json_t *u = json_array_get(c->users, i);
		const char *name = json_string_value(u);
		struct passwd *pw = name ? getpwnam(name) : NULL;
		if (!pw && !json_is_integer(u))
			return fth_fail(err, -EINVAL, "api.users: no user %s", name ? name : "of that kind");
		fth_vec_push(&a->users, pw ? pw->pw_uid : (uid_t)json_integer_value(u));
	}
	return 0;
}

int fth_api_check(const struct fth_api_config *c, const char **key, struct fth_error *err)
{
	struct fth_api a = {0};
	struct addrinfo *at = NULL;
	*key = "users";
	int r = find_users(&a, c, err);
	if (!r && c->listen) {
		*key = "listen";
		r = resolve(c, &at, err);
		if (!r)
			freeaddrinfo(at);
	}
	if (!r && c->listen) {
		*key = c->token_file ? "token_file" : "listen";
		r = read_token(&a, c, err);
	}
	if (!r && c->listen) {
		*key = c->token_user ? "token_user" : "listen";
		r = find_token_user(&a, c, err);
	}
	fth_vec_release(&a.users);
	return r;
}

static struct MHD_Daemon *serve(struct fth_api *a, int fd, MHD_AccessHandlerCallback handler, bool tls)
{
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0);
	if (tls)
		return MHD_start_daemon(flags, 0, NULL, NULL, handler, a, MHD_OPTION_EXTERNAL_LOGGER, say, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
					MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_HTTPS_MEM_CERT, a->certificate, MHD_OPTION_HTTPS_MEM_KEY,
					a->key, MHD_OPTION_END);
	return MHD_start_daemon(flags, 0, NULL, NULL, handler, a, MHD_OPTION_EXTERNAL_LOGGER, say, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
				MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, handler == on_socket ? MHD_OPTION_NOTIFY_CONNECTION : MHD_OPTION_END, connected, a,
				MHD_OPTION_END);
}

static int open_tcp(struct fth_api *a, const struct fth_api_config *c, struct fth_error *err)
{
	bool tls = c->tls_certificate && c->tls_key;
	int r = read_token(a, c, err);
	if (!r)
		r = find_token_user(a, c, err);
	if (!r && tls && (!(a->certificate = read_file(c->tls_certificate, err)) || !(a->key = read_file(c->tls_key, err))))
		r = -EINVAL;
	int fd = r ? r : listen_tcp(c, err);
	if (fd < 0)
		return fd;
	a->tcp_daemon = serve(a, fd, on_tcp, tls);
	return a->tcp_daemon ? 0 : fth_fail(err, -EIO, "api.listen: the HTTP server cannot be started");
}

int fth_api_start(struct fth_api **ret, struct fth_keeper *k, struct fth_error *err)
{
	const struct fth_api_config *c = &k->cfg->api;
	struct fth_api *a = fth_alloc(sizeof(*a));
	a->k = k;
	int r = find_users(a, c, err);
	if (!r && c->listen)
		r = open_tcp(a, c, err);
	int fd = r ? r : listen_unix(c->socket, err);
	if (fd >= 0) {
		a->unix_daemon = serve(a, fd, on_socket, false);
		r = a->unix_daemon ? 0 : fth_fail(err, -EIO, "the HTTP server cannot be started");
	} else {
		r = fd;
	}
	if (r)
		fth_api_stop(a);
	else
		*ret = a;
	return r;
}

void fth_api_stop(struct fth_api *a)
{
	if (!a)
		return;
	if (a->unix_daemon) {
		MHD_stop_daemon(a->unix_daemon);
		unlink(a->k->cfg->api.socket);
	}
	if (a->tcp_daemon)
		MHD_stop_daemon(a->tcp_daemon);
	fth_vec_release(&a->users);
	free(a->certificate);
	free(a->key);
	free(a);
}
