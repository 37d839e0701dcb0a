/* SPDX-License-Identifier: MIT */
/* Description: requests of HTTP, cut and hostile. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/http_request.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct ptc_http_door door = { TOKEN, { "127.0.0.1:80", "localhost:80" } };

/* Parses @n bytes at the end of an allocation, so that tools detect reads beyond the end. */
static enum ptc_http_verdict parse(const char *text, size_t n, char *ret_path)
{
	char *bytes = malloc(n ? n : 1);
	const char *path = NULL;
	enum ptc_http_verdict v;
	size_t path_n = 0;

	cr_assert(bytes);
	memcpy(bytes, text, n);
	v = ptc_http_parse(&door, bytes, n, &path, &path_n);
	if (v == PTC_HTTP_OK && ret_path)
		(void)snprintf(ret_path, 64, "%.*s", (int)path_n, path);
	free(bytes);
	return v;
}

static void hold(const char *text, enum ptc_http_verdict want)
{
	const enum ptc_http_verdict v = parse(text, strlen(text), NULL);

	cr_assert_eq(v, want, "%d for %.60s", (int)v, text);
}

Test(http_request, a_request_is_complete_only_at_its_last_byte)
{
	static const char text[] = "GET /" TOKEN "/call?a=1 HTTP/1.1\r\nhOST:  localhost:80 \r\n"
				   "Accept: */*\r\n\r\n";
	char path[64];
	size_t n;

	for (n = 0; n < sizeof(text) - 1; n++)
		cr_assert_eq(parse(text, n, NULL), PTC_HTTP_MORE, "%zu bytes", n);
	cr_assert_eq(parse(text, n, path), PTC_HTTP_OK);
	cr_assert_str_eq(path, "call?a=1");
}

Test(http_request, other_sites_and_strangers_are_refused)
{
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_OK);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: evil:80\r\n\r\n", PTC_HTTP_FORBIDDEN);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80.evil\r\n\r\n", PTC_HTTP_FORBIDDEN);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", PTC_HTTP_FORBIDDEN);
	hold("GET /" TOKEN "/ HTTP/1.1\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nHost: 127.0.0.1:80\r\n\r\n",
	     PTC_HTTP_BAD);
	hold("GET /" TOKEN " HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_FORBIDDEN);
	hold("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_FORBIDDEN);
	hold("GET /1123456789abcdef0123456789abcdef/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
	     PTC_HTTP_FORBIDDEN);
	hold("GET /0123456789abcdef0123456789abcdee/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
	     PTC_HTTP_FORBIDDEN);
	hold("POST /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_METHOD);
}

Test(http_request, malformed_requests_are_refused)
{
	hold("\r\n\r\n", PTC_HTTP_BAD);
	hold("GET\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/2.0\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n: x\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost : 127.0.0.1:80\r\n\r\n", PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 1\r\n\r\n",
	     PTC_HTTP_BAD);
	hold("GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nTransfer-Encoding: x\r\n\r\n",
	     PTC_HTTP_BAD);
	hold("GET /" TOKEN "/\x7f HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", PTC_HTTP_BAD);
}

Test(http_request, a_long_request_is_refused)
{
	static char text[PTC_HTTP_REQUEST_MAX + 100];

	memset(text, 'x', sizeof(text));
	cr_assert_eq(parse(text, PTC_HTTP_REQUEST_MAX - 1, NULL), PTC_HTTP_MORE);
	cr_assert_eq(parse(text, PTC_HTTP_REQUEST_MAX, NULL), PTC_HTTP_LONG);
	(void)snprintf(text + PTC_HTTP_REQUEST_MAX, sizeof(text) - PTC_HTTP_REQUEST_MAX,
		       "\r\n\r\n");
	cr_assert_eq(parse(text, PTC_HTTP_REQUEST_MAX + 4, NULL), PTC_HTTP_LONG);
}

/* Each byte of a good request becomes each other one: no crash, and a path only with the token. */
Test(http_request, changed_bytes_never_open_the_door)
{
	static const char good[] = "GET /" TOKEN "/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n";
	char text[sizeof(good)];
	size_t i;
	int c;

	for (i = 0; i < sizeof(good) - 1; i++) {
		memcpy(text, good, sizeof(good));
		for (c = 0; c < 256; c++) {
			enum ptc_http_verdict v;

			text[i] = (char)c;
			v = parse(text, sizeof(good) - 1, NULL);
			cr_assert(v != PTC_HTTP_OK || !strncmp(text, "GET /" TOKEN "/", 38),
				  "byte %zu is %d", i, c);
		}
	}
}
