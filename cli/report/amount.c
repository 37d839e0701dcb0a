/* SPDX-License-Identifier: MIT */
#include "cli/report/amount.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct unit {
	uint64_t size;
	const char *name;
};

/* Write @n / @u.size with four digits, cut off. */
static void put_scaled(char ret[PTC_AMOUNT_ROOM], uint64_t n, const struct unit *u)
{
	const uint64_t whole = n / u->size, rest = n % u->size / (u->size / 1000);

	if (whole < 10)
		(void)snprintf(ret, PTC_AMOUNT_ROOM, "%" PRIu64 ".%03" PRIu64 "%s", whole, rest,
			       u->name);
	else if (whole < 100)
		(void)snprintf(ret, PTC_AMOUNT_ROOM, "%" PRIu64 ".%02" PRIu64 "%s", whole,
			       rest / 10, u->name);
	else if (whole < 1000)
		(void)snprintf(ret, PTC_AMOUNT_ROOM, "%" PRIu64 ".%" PRIu64 "%s", whole, rest / 100,
			       u->name);
	else
		(void)snprintf(ret, PTC_AMOUNT_ROOM, "%" PRIu64 "%s", whole, u->name);
}

void ptc_amount(char ret[PTC_AMOUNT_ROOM], uint64_t n, bool is_time)
{
	static const struct unit times[] = { { 1000, "us" },
					     { 1000000, "ms" },
					     { 1000000000, "s" } };
	static const struct unit counts[] = { { 1000000, "M" },
					      { 1000000000, "G" },
					      { 1000000000000, "T" },
					      { 1000000000000000, "P" },
					      { 1000000000000000000, "E" } };
	const struct unit *u = is_time ? times : counts;
	const size_t count = is_time ? sizeof(times) / sizeof(times[0]) :
				       sizeof(counts) / sizeof(counts[0]);
	size_t i = 0;

	if (n < u->size) {
		(void)snprintf(ret, PTC_AMOUNT_ROOM, "%" PRIu64 "%s", n, is_time ? "ns" : "");
		return;
	}
	while (i + 1 < count && n >= u[i + 1].size)
		i++;
	put_scaled(ret, n, &u[i]);
}
