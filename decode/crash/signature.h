/* SPDX-License-Identifier: MIT */
/* The signature of a crash: ptcap/crash_report.h has the functions that return it. */
#ifndef PTC_DECODE_CRASH_SIGNATURE_H
#define PTC_DECODE_CRASH_SIGNATURE_H

#include <stddef.h>

#include "ptcap/crash_report.h"

enum {
	PTC_SIGNATURE_VERSION = 1, /* any change of the rules is a new version */
	PTC_SIGNATURE_HEX = 17,	   /* 16 digits and a NUL */
};

struct ptc_crash_signature {
	char *reason;				      /* owned, as the frames */
	char *frames[PTC_CRASH_SIGNATURE_FRAMES_MAX]; /* innermost first */
	size_t nframes;
	char hex[PTC_SIGNATURE_HEX];
};

/*
 * Compute the signature of a report whose stacks and messages are known. @ret starts zeroed, and
 * the caller releases it, also on failure. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_crash_signature_make(const struct ptc_crash_report *r, struct ptc_crash_signature *ret,
			     struct ptc_err *err);
void ptc_crash_signature_release(struct ptc_crash_signature *s);

#endif
