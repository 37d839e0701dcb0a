/* SPDX-License-Identifier: MIT */
/* What a process may be started with, or meet later, that would make any command do harm. */
#ifndef PTC_CLI_BEGIN_H
#define PTC_CLI_BEGIN_H

/*
 * Call it first. Descriptors 0, 1 and 2 that are closed are taken: a file that is opened later must
 * not get their number. Reading and writing them fails as before, and a command that is run finds
 * them closed. SIGXFSZ becomes an error of write(). SIGBUS of a file that was cut while it is
 * mapped becomes a message, and exit status PTC_EXIT_FAIL. On a terminal that is not a UTF-8 one,
 * all but ASCII is escaped.
 */
void ptc_begin(void);

#endif
