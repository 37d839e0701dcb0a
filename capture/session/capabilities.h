/* SPDX-License-Identifier: MIT */
/* The set of capabilities that a recording needs once its events are open (ADR 26). */
#ifndef PTC_CAPTURE_SESSION_CAPABILITIES_H
#define PTC_CAPTURE_SESSION_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/capture.h"

/* Properties of the kernel, as a parameter for tests. */
struct ptc_rights_kernel {
	bool perfmon;  /* the kernel has CAP_PERFMON (Linux 5.8) */
	long paranoid; /* kernel.perf_event_paranoid */
};

/*
 * Returns a set of capabilities, 1 << CAP_*. @steps: a software source, which runs in its own
 * process. capabilities.c gives the reason for each capability.
 */
uint64_t ptc_rights_needed(const struct ptc_record_opts *o, bool steps,
			   const struct ptc_rights_kernel *k);

/* Same as ptc_rights_needed, for the running kernel. */
uint64_t ptc_rights_needed_here(const struct ptc_record_opts *o, bool steps);

/*
 * Drops all capabilities that are not in @keep, for good, from the calling thread and from threads
 * it starts later. Programs that they execute gain no capabilities either (PR_SET_NO_NEW_PRIVS).
 * Capabilities in @keep that the thread lacks are not added. Returns 0 or PTC_E_IO.
 */
int ptc_rights_drop(uint64_t keep, struct ptc_err *err);

#endif
