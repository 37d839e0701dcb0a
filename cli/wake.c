/* SPDX-License-Identifier: MIT */
#include "wake.h"

#include <stddef.h>
#include <sys/signalfd.h>

int ptc_wake_signals(bool snapshot, int *ret_fd, sigset_t *ret_old)
{
	sigset_t wake, block;

	(void)sigemptyset(&wake);
	(void)sigaddset(&wake, SIGINT);
	(void)sigaddset(&wake, SIGTERM);
	(void)sigaddset(&wake, SIGHUP);
	(void)sigaddset(&wake, SIGQUIT);
	if (snapshot)
		(void)sigaddset(&wake, SIGUSR2);
	block = wake;
	(void)sigaddset(&block, SIGXFSZ);
	(void)sigaddset(&block, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &block, ret_old);
	*ret_fd = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -1 : 0;
}
