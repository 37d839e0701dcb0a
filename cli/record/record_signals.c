/* SPDX-License-Identifier: MIT */
#include "cli/record/record_signals.h"

#include <stddef.h>
#include <sys/time.h>

int ptc_wake_signals(bool snapshot, int *ret_fd, sigset_t *ret_old)
{
	sigset_t wake, block;

	(void)sigemptyset(&wake);
	(void)sigaddset(&wake, SIGINT);
	(void)sigaddset(&wake, SIGTERM);
	(void)sigaddset(&wake, SIGHUP);
	(void)sigaddset(&wake, SIGQUIT);
	(void)sigaddset(&wake, SIGALRM);
	if (snapshot)
		(void)sigaddset(&wake, SIGUSR2);
	block = wake;
	(void)sigaddset(&block, SIGXFSZ);
	(void)sigaddset(&block, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &block, ret_old);
	*ret_fd = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -1 : 0;
}

void ptc_wake_later(const struct signalfd_siginfo *si, uint64_t grace_ns)
{
	const uint64_t us = grace_ns / 1000 + !(grace_ns / 1000);
	const struct itimerval once = { .it_value = { .tv_sec = (time_t)(us / 1000000),
						      .tv_usec = (suseconds_t)(us % 1000000) } };
	const bool key = si->ssi_code == SI_KERNEL &&
			 (si->ssi_signo == SIGINT || si->ssi_signo == SIGQUIT);

	if (!key)
		(void)setitimer(ITIMER_REAL, &once, NULL);
}
