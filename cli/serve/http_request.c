/* SPDX-License-Identifier: MIT */
#include "cli/serve/http_request.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A part of the request. */
struct slice {
	const char *at;
	size_t n;
};

/* Takes the bytes up to @end from @rest, and drops @end. Returns false if there is none. */
static bool take_until(struct slice *rest, const char *end, struct slice *ret)
{
	const size_t len = strlen(end);
	const char *found = memmem(rest->at, rest->n, end, len);

	if (!found)
		return false;
	*ret = (struct slice){ rest->at, (size_t)(found - rest->at) };
	rest->at = found + len;
	rest->n -= ret->n + len;
	return true;
}

static bool is_text(struct slice s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.at, text, s.n);
}

static bool is_printable(struct slice s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.at[i] <= ' ' || s.at[i] > '~')
			return false;
	return true;
}

/* Returns whether two texts of @n bytes are equal, in a time that does not tell where they differ.
 */
static bool is_secret(const char *a, const char *b, size_t n)
{
	unsigned char differs = 0;
	size_t i;

	for (i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

static struct slice trimmed(struct slice s)
{
	for (; s.n && (*s.at == ' ' || *s.at == '\t'); s.n--)
		s.at++;
	while (s.n && (s.at[s.n - 1] == ' ' || s.at[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/*
 * Checks the headers: exactly one Host, which must be ours, and no body. A page of another site
 * reaches this server only with its own Host (DNS rebinding).
 */
static enum ptc_http_verdict check_headers(const struct ptc_http_door *door, struct slice headers)
{
	struct slice line;
	int hosts = 0;

	while (take_until(&headers, "\r\n", &line)) {
		struct slice name;

		if (!take_until(&line, ":", &name) || !name.n || !is_printable(name))
			return PTC_HTTP_BAD;
		line = trimmed(line);
		if (name.n == 4 && !strncasecmp(name.at, "host", 4)) {
			hosts++;
			if (!is_text(line, door->hosts[0]) && !is_text(line, door->hosts[1]))
				return PTC_HTTP_FORBIDDEN;
		}
		if ((name.n == 14 && !strncasecmp(name.at, "content-length", 14) &&
		     !is_text(line, "0")) ||
		    (name.n == 17 && !strncasecmp(name.at, "transfer-encoding", 17)))
			return PTC_HTTP_BAD;
	}
	return hosts == 1 && !headers.n ? PTC_HTTP_OK : PTC_HTTP_BAD;
}

enum ptc_http_verdict ptc_http_parse(const struct ptc_http_door *door, const char *bytes, size_t n,
				     const char **ret_path, size_t *ret_n)
{
	const size_t token = strlen(door->token);
	struct slice rest = { bytes, n }, head, line, method, path;
	enum ptc_http_verdict v;

	if (!take_until(&rest, "\r\n\r\n", &head))
		return n >= PTC_HTTP_REQUEST_MAX ? PTC_HTTP_LONG : PTC_HTTP_MORE;
	head.n += 2; /* with the end of its last line */
	if (head.n + 2 > PTC_HTTP_REQUEST_MAX)
		return PTC_HTTP_LONG;
	if (!take_until(&head, "\r\n", &line) || !take_until(&line, " ", &method) ||
	    !take_until(&line, " ", &path) || !is_printable(path) ||
	    (!is_text(line, "HTTP/1.1") && !is_text(line, "HTTP/1.0")))
		return PTC_HTTP_BAD;
	v = check_headers(door, head);
	if (v != PTC_HTTP_OK)
		return v;
	if (!is_text(method, "GET"))
		return PTC_HTTP_METHOD;
	if (path.n < token + 2 || path.at[0] != '/' || path.at[token + 1] != '/' ||
	    !is_secret(path.at + 1, door->token, token))
		return PTC_HTTP_FORBIDDEN;
	*ret_path = path.at + token + 2;
	*ret_n = path.n - token - 2;
	return PTC_HTTP_OK;
}
