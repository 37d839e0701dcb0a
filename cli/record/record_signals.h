/* SPDX-License-Identifier: MIT */
/* Signals handled by the recording commands. */
#ifndef PTC_CLI_RECORD_RECORD_SIGNALS_H
#define PTC_CLI_RECORD_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

/*
 * Receive SIGINT and similar signals through a descriptor. SIGXFSZ and SIGPIPE are blocked, so that
 * a full disk becomes an error of write(2). *@ret_old is the previous mask, for the command.
 * SIGUSR2 is included only if @snapshot. *@ret_fd is a signalfd. Returns -1 with errno on failure.
 */
int ptc_wake_signals(bool snapshot, int *ret_fd, sigset_t *ret_old);

/* Default time in ns that a command has to end after a first signal. */
#define PTC_WAKE_GRACE UINT64_C(1000000000)

/*
 * After the first signal to end, if a command must end first: deliver SIGALRM through the
 * descriptor in @grace_ns. Not after a key of the terminal (^C), because the command receives it
 * too and may handle it itself.
 */
void ptc_wake_later(const struct signalfd_siginfo *si, uint64_t grace_ns);

#endif
