/* SPDX-License-Identifier: MIT */
/* The signals that a command which records listens to. */
#ifndef PTC_CLI_WAKE_H
#define PTC_CLI_WAKE_H

#include <signal.h>
#include <stdbool.h>

/*
 * SIGINT and its like come through a descriptor; SIGXFSZ and SIGPIPE are held
 * back, so that a full disk is an error of write(2). The command starts with
 * the mask we were given. SIGUSR2 is left alone where there are no snapshots.
 *ret_fd is a signalfd. -1: errno says
 * why there is none.
 */
int ptc_wake_signals(bool snapshot, int *ret_fd, sigset_t *ret_old);

#endif
