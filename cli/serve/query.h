/* SPDX-License-Identifier: MIT */
/* Parses the query of a request: "from=12&to=34". Input is hostile. */
#ifndef PTC_CLI_SERVE_QUERY_H
#define PTC_CLI_SERVE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The greatest number of a query: a page has numbers of 53 bits. */
#define PTC_QUERY_MAX (UINT64_C(1) << 53)

/* Borrowed. */
struct ptc_query {
	const char *at;
	size_t n;
};

/*
 * Get the number @key, at most @most. Returns false if the query has no such key, or no such
 * number.
 */
bool ptc_query_number(struct ptc_query q, const char *key, uint64_t most, uint64_t *ret);

/*
 * Get the list @key, as "1,5-9", of numbers below @end. They are in @ret, which has @room, and must
 * grow. Returns false if the list is missing, malformed or too long.
 */
bool ptc_query_list(struct ptc_query q, const char *key, uint32_t end, uint32_t *ret, size_t room,
		    size_t *ret_n);

#endif
