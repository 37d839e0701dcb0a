/* SPDX-License-Identifier: MIT */
/* Finds the processes that have perf events open, and may block ours. */
#ifndef PTC_CAPTURE_PERF_EVENT_OWNERS_H
#define PTC_CAPTURE_PERF_EVENT_OWNERS_H

#include <stddef.h>

/*
 * Writes a list such as "perf 4711, ptcap 4712" of the processes in @proc ("/proc") that have an
 * event open. Leaves out our own process, and processes that we may not inspect. Stops when @size
 * is full. "": none.
 */
void ptc_holders_text(const char *proc, char *out, size_t size);

#endif
