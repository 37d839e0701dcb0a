/* SPDX-License-Identifier: MIT */
/* The reason in the signature of a crash. */
#ifndef PTC_DECODE_CRASH_SIGNATURE_REASON_H
#define PTC_DECODE_CRASH_SIGNATURE_REASON_H

struct ptc_crash_report;

/*
 * Returns the signal with the kind of the access or of the message: "SIGSEGV write". Addresses and
 * texts are left out, because they differ between runs. Caller frees it. NULL: out of memory.
 */
char *ptc_signature_reason(const struct ptc_crash_report *r);

/*
 * Returns what the C library found, by its message @text or by its function @by: "heap",
 * "assertion", and so on; static. Each may be NULL. "": not known.
 */
const char *ptc_signature_abort(const char *text, const char *by);

#endif
