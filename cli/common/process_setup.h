/* SPDX-License-Identifier: MIT */
/* Protection of every command against a dangerous initial state and later signals. */
#ifndef PTC_CLI_COMMON_PROCESS_SETUP_H
#define PTC_CLI_COMMON_PROCESS_SETUP_H

/*
 * Must be called first. Opens closed descriptors 0, 1 and 2, so that no file opened later gets
 * their number. Reading and writing them still fails, and an executed command finds them closed.
 *
 * SIGXFSZ becomes an error of write(). SIGBUS in a mapped file that was truncated becomes a message
 * and exit status PTC_EXIT_FAIL. On a terminal without UTF-8, non-ASCII characters are escaped.
 */
void ptc_begin(void);

#endif
