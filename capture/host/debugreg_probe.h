/* SPDX-License-Identifier: MIT */
/* Do the processor's debug registers work? Some virtual machines accept breakpoints that never
 * fire. */
#ifndef PTC_CAPTURE_HOST_DEBUGREG_PROBE_H
#define PTC_CAPTURE_HOST_DEBUGREG_PROBE_H

#include <stdbool.h>

/*
 * Returns false if an execution breakpoint in a debug register does not stop a thread. The first
 * call tries it on a child process; later calls return the same. Returns true if the child cannot
 * be traced: then nothing is known.
 */
bool ptc_hwbreak_works(void);

#endif
