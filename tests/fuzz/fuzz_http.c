/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a request to `ptcap view --serve`, and their path as a query. Asserted: an accepted
 * path lies in the input, behind the token, and has only printable characters. A number is in its
 * limit, and a list grows. All of this holds for each longer part of the input, too.
 */
#include <string.h>

#include "cli/serve/http_request.h"
#include "cli/serve/query.h"
#include "fuzz.h"

enum { FUNCTIONS = 100, ROOM = 20 };

static void check_query(const char *path, size_t n)
{
	const struct ptc_query q = { path, n };
	uint32_t list[ROOM];
	uint64_t number;
	size_t i, k;

	CHECK(!ptc_query_number(q, "a", 1000, &number) || number <= 1000);
	if (ptc_query_list(q, "f", FUNCTIONS, list, ROOM, &k)) {
		CHECK(k && k <= ROOM && list[k - 1] < FUNCTIONS);
		for (i = 1; i < k; i++)
			CHECK(list[i - 1] < list[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ptc_http_door door = { "token", { "h:1", "localhost:1" } };
	const char *bytes = (const char *)data, *path;
	size_t n, i;

	for (n = size ? size - 1 : 0; n <= size; n++) {
		if (ptc_http_parse(&door, bytes, n, &path, &i) != PTC_HTTP_OK)
			continue;
		CHECK(path >= bytes + 11 && i <= n && (size_t)(path - bytes) <= n - i);
		CHECK(!memcmp(bytes, "GET /token/", 11));
		check_query(path, i);
	}
	check_query(bytes, size);
	return 0;
}
