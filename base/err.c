/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* MiB of the budget that refused memory to this thread; 0: none */
static _Thread_local uint64_t budget_mib;

static void set(struct ptc_err *err, enum ptc_errc code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void set(struct ptc_err *err, enum ptc_errc code, const char *fmt, va_list ap)
{
	err->code = code;
	err->sys = 0;
	err->off = 0;
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

static void append_to_message(struct ptc_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void append_to_message(struct ptc_err *err, const char *fmt, ...)
{
	size_t n = strlen(err->msg);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->msg + n, sizeof(err->msg) - n, fmt, ap);
	va_end(ap);
}

int ptc_fail(struct ptc_err *err, enum ptc_errc code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int ptc_fail_at(struct ptc_err *err, enum ptc_errc code, uint64_t off, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, fmt, ap);
	va_end(ap);
	err->off = off;
	append_to_message(err, " (offset 0x%" PRIx64 ")", off);
	return code;
}

int ptc_fail_sys(struct ptc_err *err, int sys, const char *fmt, ...)
{
	char text[96];
	enum ptc_errc code = PTC_E_IO;
	va_list ap;

	if (sys == EACCES || sys == EPERM)
		code = PTC_E_PERM;
	else if (sys == ENOENT || sys == ESRCH)
		code = PTC_E_NOT_EXIST;
	else if (sys == ENOMEM)
		code = PTC_E_NO_MEMORY;
	else if (sys == EBUSY)
		code = PTC_E_BUSY;
	va_start(ap, fmt);
	set(err, code, fmt, ap);
	va_end(ap);
	err->sys = sys;
	append_to_message(err, ": %s", strerror_r(sys, text, sizeof(text)));
	return code;
}

uint64_t ptc_err_budget(uint64_t mib)
{
	const uint64_t was = budget_mib;

	budget_mib = mib;
	return was;
}

int ptc_fail_mem(struct ptc_err *err)
{
	const uint64_t mib = ptc_err_budget(0);
	int code;

	if (mib)
		code = ptc_fail(err, PTC_E_NO_MEMORY,
				"out of memory: the budget is %" PRIu64 " MiB (--max-memory)", mib);
	else
		code = ptc_fail(err, PTC_E_NO_MEMORY, "out of memory");
	err->sys = ENOMEM;
	return code;
}

int ptc_err_prefix(struct ptc_err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	append_to_message(err, "%s", old);
	return err->code;
}
