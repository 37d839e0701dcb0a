/* SPDX-License-Identifier: MIT */
#include "capture/doctor/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ptc_check_state_name(enum ptc_check_state state)
{
	static const char *const names[] = {
		[PTC_CHECK_OK] = "ok",		 [PTC_CHECK_NOTE] = "note",
		[PTC_CHECK_MISSING] = "missing", [PTC_CHECK_BROKEN] = "broken",
		[PTC_CHECK_UNKNOWN] = "unknown",
	};

	return names[state];
}

void ptc_check_set(struct ptc_check *c, enum ptc_check_state state, const char *fmt, ...)
{
	va_list ap;

	c->state = state;
	va_start(ap, fmt);
	(void)vsnprintf(c->value, sizeof(c->value), fmt, ap);
	va_end(ap);
}

void ptc_check_add(struct ptc_check *c, const char *fmt, ...)
{
	const size_t n = strlen(c->value);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(c->value + n, sizeof(c->value) - n, fmt, ap);
	va_end(ap);
}

void ptc_check_mend(struct ptc_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(c->mend, sizeof(c->mend), fmt, ap);
	va_end(ap);
}
