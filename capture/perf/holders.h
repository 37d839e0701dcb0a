/* SPDX-License-Identifier: MIT */
/* Which processes have perf events open: who may be in the way. */
#ifndef PTC_CAPTURE_PERF_HOLDERS_H
#define PTC_CAPTURE_PERF_HOLDERS_H

#include <stddef.h>

/*
 * "perf 4711, ptcap 4712": processes of @proc ("/proc") but our own that have an event,
 * as far as they may be looked into and as many as @size has room for; "": none.
 */
void ptc_holders_text(const char *proc, char *out, size_t size);

#endif
