/* SPDX-License-Identifier: MIT */
/* Filling a struct ptc_err. Every function here returns the code it was given. */
#ifndef PTC_BASE_ERR_H
#define PTC_BASE_ERR_H

#include <stdint.h>

#include "ptcap/error.h"

/* Set @code and the formatted message. */
int ptc_fail(struct ptc_err *err, enum ptc_errc code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, for input at offset @off; " (offset 0x...)" is appended. */
int ptc_fail_at(struct ptc_err *err, enum ptc_errc code, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A system call failed with @sys (an errno value); ": strerror" is appended. */
int ptc_fail_sys(struct ptc_err *err, int sys, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Out of memory: that of the machine, or the budget. */
int ptc_fail_mem(struct ptc_err *err);

/*
 * From now on ptc_fail_mem says, once, and in this thread, that the memory budget is used up, which
 * is @mib MiB; 0: it does not. Returns what was set before.
 */
uint64_t ptc_err_budget(uint64_t mib);

/*
 * Put "'NAME': " style context in front of a message that is already there,
 * cutting the end if it does not fit. Returns err->code.
 */
int ptc_err_prefix(struct ptc_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
