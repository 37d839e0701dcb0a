/* SPDX-License-Identifier: MIT */
/*
 * Errors of libptcap.
 *
 * Functions return 0 (or a count) or a negative enum ptc_errc. The caller owns the struct ptc_err,
 * which is always the last parameter and never NULL. A function fills it on failure only. The
 * library never prints.
 */
#ifndef PTCAP_ERROR_H
#define PTCAP_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PTC_API
#define PTC_API __attribute__((visibility("default")))
#endif

/* Error codes, grouped by what the caller does next, not by where the failure was. */
enum ptc_errc {
	PTC_OK = 0,
	PTC_E_IO = -1,		/* a system call failed; sys: errno */
	PTC_E_FORMAT = -2,	/* the input is malformed; off: where */
	PTC_E_UNSUPPORTED = -3, /* valid, but this build or machine cannot do it */
	PTC_E_NOT_EXIST = -4,	/* a file, symbol, feature or pid does not exist */
	PTC_E_NO_MEMORY = -5,
	PTC_E_LIMIT = -6,	 /* a size from outside exceeds a named limit */
	PTC_E_USAGE = -7,	 /* contradictory or invalid arguments of the caller */
	PTC_E_PERM = -8,	 /* no permission; the message names the remedy */
	PTC_E_BUSY = -9,	 /* the resource is in use; trying later may help */
	PTC_E_STOPPED = -10,	 /* a callback or a signal asked to stop */
	PTC_E_NO_COMMAND = -11,	 /* the command to run does not exist (exit code 127) */
	PTC_E_BAD_COMMAND = -12, /* the command to run cannot be run (exit code 126) */
};

/*
 * An error. @msg can be printed as is after "ptcap: ". It names its subject in quotes, and the
 * offset if there is one.
 */
struct ptc_err {
	enum ptc_errc code;
	int sys;      /* errno, or 0 */
	uint64_t off; /* offset in the input, or 0 */
	char msg[320];
};

#ifdef __cplusplus
}
#endif
#endif
