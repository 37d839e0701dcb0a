/* SPDX-License-Identifier: MIT */
/* Opens the input that the user named. base/untrusted.h opens names that others chose. */
#ifndef PTC_BASE_OPEN_INPUT_H
#define PTC_BASE_OPEN_INPUT_H

/*
 * Open the name that the user gave for a recording; "-" is standard input. Opening a FIFO waits for
 * a writer, because without a writer it would appear empty. A device is not opened. Returns a
 * descriptor, which the caller closes; -1 on failure, with errno set.
 */
int ptc_open_input(const char *path);

#endif
