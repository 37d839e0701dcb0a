/* SPDX-License-Identifier: MIT */
/* The capabilities that a recording needs once its events are open, and no others (ADR 26). */
#ifndef PTC_CAPTURE_RIGHTS_H
#define PTC_CAPTURE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/capture.h"

/* What the kernel has: for tests. */
struct ptc_rights_kernel {
	bool perfmon;  /* CAP_PERFMON: Linux 5.8 */
	long paranoid; /* kernel.perf_event_paranoid */
};

/*
 * A set of capabilities, 1 << CAP_*. @steps: a software source, which is a process of its own.
 * rights.c says why each is kept.
 */
uint64_t ptc_rights_needed(const struct ptc_record_opts *o, bool steps,
			   const struct ptc_rights_kernel *k);

/* The same, of the kernel that runs. */
uint64_t ptc_rights_needed_here(const struct ptc_record_opts *o, bool steps);

/*
 * The calling thread, and those it starts, lose the capabilities that are not in @keep, for good:
 * programs that they execute do not gain any either (PR_SET_NO_NEW_PRIVS). What the thread does not
 * have it does not get. 0, or PTC_E_IO.
 */
int ptc_rights_drop(uint64_t keep, struct ptc_err *err);

#endif
