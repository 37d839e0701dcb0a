/* SPDX-License-Identifier: MIT */
#include "cli/serve/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/serve/call_search.h"
#include "cli/serve/query.h"
#include "cli/serve/window.h"

enum { STACK_MAX = 4096 }; /* callers of a call in an answer */

static int give_page(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		     struct ptc_err *err)
{
	(void)err;
	(void)q;
	ptc_buf_put(ret, a->page->bytes, a->page->len);
	return PTC_HTTP_OK;
}

static int status_of(int rc)
{
	return rc ? 500 : PTC_HTTP_OK;
}

static int give_window(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		       struct ptc_err *err)
{
	uint64_t axis, pixels, first, last, branches;
	struct ptc_window_ask ask;

	if (!ptc_query_number(q, "axis", a->recording->times, &axis) ||
	    !ptc_query_number(q, "from", PTC_QUERY_MAX, &ask.from) ||
	    !ptc_query_number(q, "to", PTC_QUERY_MAX, &ask.to) || ask.from > ask.to ||
	    !ptc_query_number(q, "pixels", PTC_WINDOW_PIXELS, &pixels) || !pixels ||
	    !ptc_query_number(q, "first", UINT32_MAX - 1, &first) ||
	    !ptc_query_number(q, "last", UINT32_MAX - 1, &last) || first > last ||
	    !ptc_query_number(q, "branches", 1, &branches))
		return PTC_HTTP_BAD;
	ask.axis = (int)axis;
	ask.pixels = (uint32_t)pixels;
	ask.first = (uint32_t)first;
	ask.last = (uint32_t)last;
	ask.branches = branches;
	return status_of(ptc_window_put(a->recording, &ask, ret, err));
}

static bool ask_call(const struct ptc_answers *a, struct ptc_query q, struct ptc_call_place *ret)
{
	uint64_t thread;

	if (!a->recording->calls.n ||
	    !ptc_query_number(q, "thread", a->recording->calls.n - 1, &thread) ||
	    !ptc_query_number(q, "number", PTC_QUERY_MAX, &ret->number))
		return false;
	ret->thread = (uint32_t)thread;
	return ret->number < a->recording->calls.threads[thread].entries;
}

static void put_call(const struct ptc_served_call *c, struct ptc_buf *ret)
{
	ptc_put_leb128(ret, c->number);
	ptc_put_leb128(ret, c->depth);
	ptc_put_leb128(ret, c->function);
	ptc_put_leb128(ret, c->how);
	ptc_put_leb128(ret, c->site);
	ptc_put_leb128(ret, c->begin.insns);
	ptc_put_leb128(ret, c->begin.time_ns);
	ptc_put_leb128(ret, c->end.insns);
	ptc_put_leb128(ret, c->end.time_ns);
	ptc_put_leb128(ret, c->inside.insns);
	ptc_put_leb128(ret, c->inside.time_ns);
	ptc_put_leb128(ret, c->calls);
}

static int give_call(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		     struct ptc_err *err)
{
	struct ptc_call_list calls = { .n = 0 };
	struct ptc_call_place at;
	size_t i;
	int rc;

	if (!ask_call(a, q, &at))
		return PTC_HTTP_BAD;
	rc = ptc_call_store_stack(&a->recording->calls, at.thread, at.number, &calls, err);
	if (!rc) {
		const size_t n = calls.n < STACK_MAX ? calls.n : STACK_MAX;

		ptc_put_leb128(ret, n);
		for (i = 0; i < n; i++)
			put_call(&calls.v[i], ret);
	}
	free(calls.v);
	return status_of(rc);
}

/* Puts the thread + 1 and the number of a call, or 0. */
static void put_place(bool found, struct ptc_call_place at, struct ptc_buf *ret)
{
	ptc_put_leb128(ret, found ? at.thread + 1 : 0);
	if (found)
		ptc_put_leb128(ret, at.number);
}

static int give_search(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		       struct ptc_err *err)
{
	uint32_t *functions = calloc(a->nfunctions + 1, sizeof(*functions));
	struct ptc_call_search ask = { .functions = functions };
	struct ptc_call_place found = { .thread = 0 };
	uint64_t axis, back;
	bool any;
	int rc;

	ask.whole = !ask_call(a, q, &ask.at);
	if (!functions || !ptc_query_number(q, "axis", a->recording->times, &axis) ||
	    !ptc_query_number(q, "back", 1, &back) ||
	    !ptc_query_list(q, "functions", a->nfunctions, functions, a->nfunctions,
			    &ask.nfunctions)) {
		free(functions);
		return PTC_HTTP_BAD;
	}
	ask.axis = (int)axis;
	ask.backward = back;
	rc = ptc_call_search(a->recording, &ask, &any, &found, err);
	if (!rc)
		put_place(any, found, ret);
	free(functions);
	return status_of(rc);
}

static int give_beside(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		       struct ptc_err *err)
{
	struct ptc_call_place at;
	uint64_t depth, back;
	bool any;
	int rc;

	if (!ask_call(a, q, &at) || !ptc_query_number(q, "depth", UINT32_MAX, &depth) ||
	    !ptc_query_number(q, "back", 1, &back))
		return PTC_HTTP_BAD;
	rc = ptc_call_beside(a->recording, at, (uint32_t)depth, back, &any, &at.number, err);
	if (!rc)
		put_place(any, at, ret);
	return status_of(rc);
}

static const struct route {
	const char *name, *type;
	int (*give)(const struct ptc_answers *a, struct ptc_query q, struct ptc_buf *ret,
		    struct ptc_err *err);
} routes[] = {
	{ "", "text/html; charset=utf-8", give_page },
	{ "window", "application/octet-stream", give_window },
	{ "call", "application/octet-stream", give_call },
	{ "search", "application/octet-stream", give_search },
	{ "beside", "application/octet-stream", give_beside },
};

void ptc_answers_give(void *ctx, const char *path, size_t n, struct ptc_http_answer *ret)
{
	const char *query = memchr(path, '?', n);
	const size_t len = query ? (size_t)(query - path) : n;
	const struct ptc_query q = { query ? query + 1 : path, query ? n - len - 1 : 0 };
	struct ptc_err err = { .code = PTC_OK };
	size_t i;

	for (i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct route *r = &routes[i];

		if (len != strlen(r->name) || memcmp(path, r->name, len) != 0)
			continue;
		ret->status = r->give(ctx, q, &ret->body, &err);
		ret->type = r->type;
		if (ret->status == PTC_HTTP_OK)
			return;
		ptc_buf_reset(&ret->body);
		ptc_buf_put(&ret->body, err.msg, strlen(err.msg));
		ret->type = "text/plain";
	}
}
