/* SPDX-License-Identifier: MIT */
#include "cli/serve/query.h"

#include <string.h>

/* Finds the value of @key. Returns false if there is none. */
static bool find_value(struct ptc_query q, const char *key, struct ptc_query *ret)
{
	const size_t len = strlen(key);

	while (q.n) {
		const char *end = memchr(q.at, '&', q.n);
		const size_t n = end ? (size_t)(end - q.at) : q.n;

		if (n > len && !memcmp(q.at, key, len) && q.at[len] == '=') {
			*ret = (struct ptc_query){ q.at + len + 1, n - len - 1 };
			return true;
		}
		q.at += end ? n + 1 : n;
		q.n -= end ? n + 1 : n;
	}
	return false;
}

/* Takes a number of at most @most from the begin of @q. Returns false if there is none. */
static bool take_number(struct ptc_query *q, uint64_t most, uint64_t *ret)
{
	uint64_t v = 0;
	const char *begin = q->at;

	for (; q->n && *q->at >= '0' && *q->at <= '9'; q->n--) {
		v = v * 10 + (uint64_t)(*q->at++ - '0');
		if (v > most)
			return false;
	}
	*ret = v;
	return q->at > begin;
}

static bool take_char(struct ptc_query *q, char c)
{
	if (!q->n || *q->at != c)
		return false;
	q->at++;
	q->n--;
	return true;
}

bool ptc_query_number(struct ptc_query q, const char *key, uint64_t most, uint64_t *ret)
{
	struct ptc_query value;
	uint64_t v;

	if (!find_value(q, key, &value) || !take_number(&value, most, &v) || value.n)
		return false;
	*ret = v;
	return true;
}

bool ptc_query_list(struct ptc_query q, const char *key, uint32_t end, uint32_t *ret, size_t room,
		    size_t *ret_n)
{
	struct ptc_query value;
	uint64_t first, last;
	size_t n = 0;

	if (!end || !find_value(q, key, &value))
		return false;
	do {
		if (!take_number(&value, end - 1, &first))
			return false;
		last = first;
		if (take_char(&value, '-') && !take_number(&value, end - 1, &last))
			return false;
		if (last < first || (n && first <= ret[n - 1]) || last - first >= room - n)
			return false;
		for (; first <= last; first++)
			ret[n++] = (uint32_t)first;
	} while (take_char(&value, ','));
	if (value.n)
		return false;
	*ret_n = n;
	return true;
}
