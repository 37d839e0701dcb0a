/* SPDX-License-Identifier: MIT */
/* The signals that a command which records listens to. */
#ifndef PTC_CLI_WAKE_H
#define PTC_CLI_WAKE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

/*
 * SIGINT and its like come through a descriptor; SIGXFSZ and SIGPIPE are held
 * back, so that a full disk is an error of write(2). The command starts with
 * the mask we were given. SIGUSR2 is left alone where there are no snapshots.
 *ret_fd is a signalfd. -1: errno says
 * why there is none.
 */
int ptc_wake_signals(bool snapshot, int *ret_fd, sigset_t *ret_old);

/* So long a command has by default to end after a first signal, ns. */
#define PTC_WAKE_GRACE UINT64_C(1000000000)

/*
 * A first signal to end by, and there is a command that has to end first: SIGALRM comes through the
 * descriptor in @grace_ns. Not after a key of the terminal (^C): the command has it, too, and may
 * be one that uses it.
 */
void ptc_wake_later(const struct signalfd_siginfo *si, uint64_t grace_ns);

#endif
