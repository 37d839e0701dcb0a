/* SPDX-License-Identifier: MIT */
/*
 * A server of HTTP/1.1 on 127.0.0.1 for one user. Each path begins with a token of 128 random bits.
 * A request without the token, for another Host, with another method than GET, or longer than
 * 8 KiB is refused. One thread answers one request after the other.
 */
#ifndef PTC_CLI_SERVE_HTTP_SERVER_H
#define PTC_CLI_SERVE_HTTP_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/http_request.h"
#include "ptcap/error.h"

struct ptc_http_server {
	int fd; /* -1: none */
	uint16_t port;
	char token[33]; /* hex digits */
	char hosts[2][32];
	const char *policy; /* Content-Security-Policy of all answers; borrowed */
};

struct ptc_http_answer {
	int status;
	const char *type; /* borrowed */
	struct ptc_buf body;
};

/* Answers the path behind the token, with its query. *@ret starts as 404 without a body. */
typedef void (*ptc_http_handler)(void *ctx, const char *path, size_t n,
				 struct ptc_http_answer *ret);

/* Listen at @port; 0: the kernel chooses. Caller releases @s, also on failure. */
int ptc_http_listen(struct ptc_http_server *s, uint16_t port, struct ptc_err *err);
void ptc_http_server_release(struct ptc_http_server *s);

/* Answer requests until SIGINT or SIGTERM. This process has no other thread. */
int ptc_http_serve(struct ptc_http_server *s, ptc_http_handler handler, void *ctx,
		   struct ptc_err *err);

#endif
