/* SPDX-License-Identifier: MIT */
/* A line of a file that is added, errors about the line, and the numbers in it. */
#ifndef PTC_CLI_SUM_SUM_LINE_H
#define PTC_CLI_SUM_SUM_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

/* The largest number in a file. Sums stop there, because JSON readers have no larger integers. */
#define PTC_SUM_MAX ((uint64_t)INT64_MAX)

/* A line of a file. */
struct ptc_sum_line {
	const char *file; /* as the user named it, borrowed */
	uint64_t number;  /* from 1 */
	char *text;	  /* without its newline, and without NUL inside; borrowed */
	size_t len;
	json_t *json; /* an object, borrowed; NULL: the format is text */
};

/* Sets PTC_E_FORMAT and "'FILE' line N: " with the message behind it. Returns the code. */
int ptc_sum_fail(struct ptc_err *err, const struct ptc_sum_line *l, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds @more to *@sum, which stops at PTC_SUM_MAX. */
static inline void ptc_sum_add(uint64_t *sum, uint64_t more)
{
	*sum = more > PTC_SUM_MAX - *sum ? PTC_SUM_MAX : *sum + more;
}

/*
 * Takes a decimal number from *@at, which moves behind it. Returns false, without changes, if there
 * is none, or if it is above PTC_SUM_MAX.
 */
bool ptc_sum_take_number(const char **at, uint64_t *ret);
/* The same for hex digits without 0x, up to UINT64_MAX. */
bool ptc_sum_take_hex(const char **at, uint64_t *ret);

#endif
