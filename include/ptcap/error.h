/* SPDX-License-Identifier: MIT */
/*
 * Errors of libptcap.
 *
 * Functions return 0 (or a count) or a negative enum ptc_errc. The context
 * travels in a struct ptc_err owned by the caller, always the last parameter
 * and never NULL; it is filled on failure only. The library never prints.
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

/* Split by what the caller does next, not by where it failed. */
enum ptc_errc {
	PTC_OK = 0,
	PTC_E_IO = -1,		/* a system call failed: sys has errno */
	PTC_E_FORMAT = -2,	/* the input is not what it says it is: off has where */
	PTC_E_UNSUPPORTED = -3, /* valid, but not something this build or machine can do */
	PTC_E_NOT_EXIST = -4,	/* a file, symbol, feature or pid is not there */
	PTC_E_NO_MEMORY = -5,
	PTC_E_LIMIT = -6,	 /* a size from outside exceeds a named limit */
	PTC_E_USAGE = -7,	 /* the caller asked for something contradictory */
	PTC_E_PERM = -8,	 /* permission: the message names the remedy */
	PTC_E_BUSY = -9,	 /* someone else holds it; trying later may help */
	PTC_E_STOPPED = -10,	 /* a callback or a signal asked to stop */
	PTC_E_NO_COMMAND = -11,	 /* the command to run does not exist (exit code 127) */
	PTC_E_BAD_COMMAND = -12, /* the command to run cannot be run (exit code 126) */
};

/*
 * What went wrong. @msg is complete enough to be printed as is after
 * "ptcap: "; it names the subject in quotes, and the offset when there is one.
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
