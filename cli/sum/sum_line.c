/* SPDX-License-Identifier: MIT */
#include "cli/sum/sum_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

int ptc_sum_fail(struct ptc_err *err, const struct ptc_sum_line *l, const char *fmt, ...)
{
	char text[sizeof(err->msg)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ptc_fail(err, PTC_E_FORMAT, "'%s' line %" PRIu64 ": %s", l->file, l->number, text);
}

static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

static bool take_digits(const char **at, unsigned int base, uint64_t max, uint64_t *ret)
{
	const char *s = *at;
	uint64_t v = 0;

	if (digit(*s) >= base)
		return false;
	for (; digit(*s) < base; s++) {
		if (v > (max - digit(*s)) / base)
			return false;
		v = v * base + digit(*s);
	}
	*at = s;
	*ret = v;
	return true;
}

bool ptc_sum_take_number(const char **at, uint64_t *ret)
{
	return take_digits(at, 10, PTC_SUM_MAX, ret);
}

bool ptc_sum_take_hex(const char **at, uint64_t *ret)
{
	return take_digits(at, 16, UINT64_MAX, ret);
}
