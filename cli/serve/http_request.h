/* SPDX-License-Identifier: MIT */
/* Parses requests of HTTP/1.1 (RFC 9112) for `ptcap view --serve`. Input is hostile. */
#ifndef PTC_CLI_SERVE_HTTP_REQUEST_H
#define PTC_CLI_SERVE_HTTP_REQUEST_H

#include <stddef.h>

enum { PTC_HTTP_REQUEST_MAX = 8192 }; /* bytes of a request */

/* What a server accepts. Borrowed. */
struct ptc_http_door {
	const char *token;    /* first part of each path */
	const char *hosts[2]; /* values of the header Host, with the port */
};

enum ptc_http_verdict {
	PTC_HTTP_MORE = 0, /* the request is not complete */
	PTC_HTTP_OK = 200,
	PTC_HTTP_BAD = 400,
	PTC_HTTP_FORBIDDEN = 403,
	PTC_HTTP_NOT_FOUND = 404,
	PTC_HTTP_METHOD = 405,
	PTC_HTTP_LONG = 431,
};

/*
 * Parse the @n bytes that have arrived so far. PTC_HTTP_OK: *@ret_path is the path behind
 * "/TOKEN/" with its query, of *@ret_n bytes, borrowed. It has printable characters of ASCII only.
 */
enum ptc_http_verdict ptc_http_parse(const struct ptc_http_door *door, const char *bytes, size_t n,
				     const char **ret_path, size_t *ret_n);

#endif
