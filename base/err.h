/* SPDX-License-Identifier: MIT */
/* Filling a struct ptc_err. Every function here except ptc_err_budget returns the error code. */
#ifndef PTC_BASE_ERR_H
#define PTC_BASE_ERR_H

#include <stdint.h>

#include "ptcap/error.h"

/* Set @code and the formatted message. */
int ptc_fail(struct ptc_err *err, enum ptc_errc code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As ptc_fail, for input at offset @off. Appends " (offset 0x...)". */
int ptc_fail_at(struct ptc_err *err, enum ptc_errc code, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Report a system call that failed with errno @sys. Appends ": strerror". */
int ptc_fail_sys(struct ptc_err *err, int sys, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Report that the machine's memory or the budget is exhausted. */
int ptc_fail_mem(struct ptc_err *err);

/*
 * Make the next ptc_fail_mem of this thread report that the memory budget of @mib MiB is exhausted.
 * 0: clear that. Returns the previous value.
 */
uint64_t ptc_err_budget(uint64_t mib);

/*
 * Put a context such as "'NAME': " before the existing message, and cut the end if too long.
 * Returns err->code.
 */
int ptc_err_prefix(struct ptc_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
