/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "auxtrace/verify/verify_private.h"

void ptc_verify_say(struct ptc_verify *v, const char *check, uint64_t off, const char *fmt, ...)
{
	char msg[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	v->stats.findings++;
	v->say(v->arg, &(struct ptc_finding){ check, off, msg });
}

/* A finding has the offset in a field, so it is removed from the text. */
void ptc_verify_say_err(struct ptc_verify *v, const char *check, const struct ptc_err *err)
{
	const char *end = strstr(err->msg, " (offset 0x");

	ptc_verify_say(v, check, err->off, "%.*s", end ? (int)(end - err->msg) : 320, err->msg);
}
