/* SPDX-License-Identifier: MIT */
#include "cli/serve/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/monotonic.h"

enum { CONNECTIONS = 32 };
/* Seconds until a connection is closed: without a request, without progress, without its end. */
enum { REQUEST_SECONDS = 10, ANSWER_SECONDS = 30, END_SECONDS = 2 };

enum state { READS, WRITES, ENDS };

struct connection {
	int fd; /* -1: unused */
	enum state state;
	uint64_t deadline; /* ns */
	char in[PTC_HTTP_REQUEST_MAX];
	size_t n;
	struct ptc_buf out;
	size_t sent;
};

struct service {
	struct ptc_http_server *s;
	struct ptc_http_door door;
	ptc_http_handler handler;
	void *ctx;
	struct connection c[CONNECTIONS];
};

static volatile sig_atomic_t stopped;

static void stop_serving(int sig)
{
	(void)sig;
	stopped = 1;
}

/* --- the socket --- */

static int make_token(struct ptc_http_server *s, struct ptc_err *err)
{
	uint8_t bytes[16];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return ptc_fail_sys(err, errno, "cannot make a random token");
	for (i = 0; i < sizeof(bytes); i++)
		(void)snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Sets a value of the header Host. Browsers omit the port of http. */
static void set_host(struct ptc_http_server *s, size_t i, const char *name)
{
	if (s->port == 80)
		(void)snprintf(s->hosts[i], sizeof(s->hosts[i]), "%s", name);
	else
		(void)snprintf(s->hosts[i], sizeof(s->hosts[i]), "%s:%u", name,
			       (unsigned int)s->port);
}

int ptc_http_listen(struct ptc_http_server *s, uint16_t port, struct ptc_err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	const int on = 1;

	*s = (struct ptc_http_server){
		.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
	};
	if (s->fd < 0)
		return ptc_fail_sys(err, errno, "cannot make a socket");
	/* A port that was served a moment ago can be served again. */
	if (port && setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return ptc_fail_sys(err, errno, "cannot set up a socket");
	if (bind(s->fd, (const struct sockaddr *)&at, sizeof(at)) || listen(s->fd, CONNECTIONS))
		return ptc_fail_sys(err, errno, "cannot listen at 127.0.0.1, port %u",
				    (unsigned int)port);
	if (getsockname(s->fd, (struct sockaddr *)&at, &len))
		return ptc_fail_sys(err, errno, "cannot get the port of a socket");
	s->port = ntohs(at.sin_port);
	set_host(s, 0, "127.0.0.1");
	set_host(s, 1, "localhost");
	return make_token(s, err);
}

void ptc_http_server_release(struct ptc_http_server *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

/* --- connections --- */

static void set_state(struct connection *c, enum state state, unsigned int seconds)
{
	c->state = state;
	c->deadline = ptc_monotonic_ns() + seconds * UINT64_C(1000000000);
}

static void drop_connection(struct connection *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	ptc_buf_release(&c->out);
	c->fd = -1;
}

/* Returns an unused connection. The one nearest to its deadline makes room. */
static struct connection *free_connection(struct service *v)
{
	struct connection *best = &v->c[0];
	size_t i;

	for (i = 0; i < CONNECTIONS; i++) {
		if (v->c[i].fd < 0)
			return &v->c[i];
		if (v->c[i].deadline < best->deadline)
			best = &v->c[i];
	}
	drop_connection(best);
	return best;
}

static void accept_connection(struct service *v)
{
	const int fd = accept4(v->s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *c;

	if (fd < 0)
		return; /* the client has gone */
	c = free_connection(v);
	c->fd = fd;
	c->n = c->sent = 0;
	c->out = (struct ptc_buf)PTC_BUF_INIT;
	set_state(c, READS, REQUEST_SECONDS);
}

static const char *reason_of(int status)
{
	switch (status) {
	case PTC_HTTP_OK:
		return "OK";
	case PTC_HTTP_BAD:
		return "Bad Request";
	case PTC_HTTP_FORBIDDEN:
		return "Forbidden";
	case PTC_HTTP_NOT_FOUND:
		return "Not Found";
	case PTC_HTTP_METHOD:
		return "Method Not Allowed";
	case PTC_HTTP_LONG:
		return "Request Header Fields Too Large";
	default:
		return "Internal Server Error";
	}
}

/* Makes the answer of a connection. A refusal has its reason as the body. */
static void put_answer(struct service *v, struct connection *c, struct ptc_http_answer *a)
{
	char head[1024];
	int n;

	if (ptc_buf_failed(&a->body))
		a->status = 500;
	if (a->status != PTC_HTTP_OK && !a->body.len) {
		ptc_buf_reset(&a->body);
		ptc_buf_put(&a->body, reason_of(a->status), strlen(reason_of(a->status)));
		a->type = "text/plain";
	}
	n = snprintf(head, sizeof(head),
		     "HTTP/1.1 %d %s\r\n"
		     "Content-Type: %s\r\n"
		     "Content-Length: %zu\r\n"
		     "Content-Security-Policy: %s\r\n"
		     "Cache-Control: no-store\r\n"
		     "X-Content-Type-Options: nosniff\r\n"
		     "X-Frame-Options: DENY\r\n"
		     "Referrer-Policy: no-referrer\r\n"
		     "Cross-Origin-Opener-Policy: same-origin\r\n"
		     "Cross-Origin-Resource-Policy: same-origin\r\n"
		     "Connection: close\r\n\r\n",
		     a->status, reason_of(a->status), a->type, a->body.len, v->s->policy);
	if (n < 0 || (size_t)n >= sizeof(head)) {
		drop_connection(c);
		return;
	}
	ptc_buf_put(&c->out, head, (size_t)n);
	if (a->body.len)
		ptc_buf_put(&c->out, a->body.bytes, a->body.len);
	if (ptc_buf_failed(&c->out))
		drop_connection(c);
	else
		set_state(c, WRITES, ANSWER_SECONDS);
}

static void read_request(struct service *v, struct connection *c)
{
	const ssize_t n = read(c->fd, c->in + c->n, sizeof(c->in) - c->n);
	struct ptc_http_answer a = { .status = PTC_HTTP_NOT_FOUND,
				     .type = "text/plain",
				     .body = PTC_BUF_INIT };
	const char *path;
	size_t path_n;

	if (n <= 0) {
		if (!n || (errno != EAGAIN && errno != EINTR))
			drop_connection(c);
		return;
	}
	c->n += (size_t)n;
	switch (ptc_http_parse(&v->door, c->in, c->n, &path, &path_n)) {
	case PTC_HTTP_MORE:
		return;
	case PTC_HTTP_OK:
		v->handler(v->ctx, path, path_n, &a);
		break;
	default:
		a.status = (int)ptc_http_parse(&v->door, c->in, c->n, &path, &path_n);
	}
	put_answer(v, c, &a);
	ptc_buf_release(&a.body);
}

static void write_answer(struct connection *c)
{
	const ssize_t n = write(c->fd, c->out.bytes + c->sent, c->out.len - c->sent);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			drop_connection(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent < c->out.len) {
		set_state(c, WRITES, ANSWER_SECONDS);
		return;
	}
	ptc_buf_release(&c->out);
	set_state(c, ENDS, END_SECONDS);
}

/* Waits for the client to close: closing with unread bytes could take the answer from the client.
 */
static void read_end(struct connection *c)
{
	const ssize_t n = read(c->fd, c->in, sizeof(c->in));

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop_connection(c);
}

static void continue_connection(struct service *v, struct connection *c)
{
	switch (c->state) {
	case READS:
		read_request(v, c);
		break;
	case WRITES:
		write_answer(c);
		break;
	case ENDS:
		read_end(c);
		break;
	}
}

/* Closes connections behind their deadline. Returns the ns to the next deadline, at most 10 s. */
static uint64_t check_deadlines(struct service *v)
{
	const uint64_t now = ptc_monotonic_ns();
	uint64_t next = UINT64_C(10) * 1000000000;
	size_t i;

	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &v->c[i];

		if (c->fd >= 0 && c->deadline <= now)
			drop_connection(c);
		if (c->fd >= 0 && c->deadline - now < next)
			next = c->deadline - now;
	}
	return next;
}

/* Waits for events, and handles them. Returns false if ppoll failed. */
static bool serve_once(struct service *v, const sigset_t *mask)
{
	struct pollfd p[CONNECTIONS + 1] = { { .fd = v->s->fd, .events = POLLIN } };
	const uint64_t ns = check_deadlines(v);
	const struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	size_t i;
	int n;

	for (i = 0; i < CONNECTIONS; i++)
		p[i + 1] = (struct pollfd){ .fd = v->c[i].fd,
					    .events = v->c[i].state == WRITES ? POLLOUT : POLLIN };
	n = ppoll(p, CONNECTIONS + 1, &wait, mask);
	if (n < 0)
		return errno == EINTR;
	for (i = 0; i < CONNECTIONS && !stopped; i++)
		if (p[i + 1].revents && v->c[i].fd == p[i + 1].fd)
			continue_connection(v, &v->c[i]);
	if (p[0].revents)
		accept_connection(v);
	return true;
}

int ptc_http_serve(struct ptc_http_server *s, ptc_http_handler handler, void *ctx,
		   struct ptc_err *err)
{
	static struct service v; /* too large for a stack */
	const struct sigaction stop = { .sa_handler = stop_serving },
			       ignore = { .sa_handler = SIG_IGN };
	sigset_t block, before;
	bool works = true;
	size_t i;

	v = (struct service){ .s = s,
			      .door = { s->token, { s->hosts[0], s->hosts[1] } },
			      .handler = handler,
			      .ctx = ctx };
	for (i = 0; i < CONNECTIONS; i++)
		v.c[i].fd = -1;
	stopped = 0;
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGINT);
	(void)sigaddset(&block, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &block, &before);
	(void)sigdelset(&before, SIGINT);
	(void)sigdelset(&before, SIGTERM);
	(void)sigaction(SIGINT, &stop, NULL);
	(void)sigaction(SIGTERM, &stop, NULL);
	(void)sigaction(SIGPIPE, &ignore, NULL);
	while (works && !stopped)
		works = serve_once(&v, &before);
	for (i = 0; i < CONNECTIONS; i++)
		drop_connection(&v.c[i]);
	return works ? 0 : ptc_fail_sys(err, errno, "cannot wait for requests");
}
