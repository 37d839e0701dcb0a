/* SPDX-License-Identifier: MIT */
#include "capture/emu/owner_liveness.h"

#include <errno.h>
#include <pthread.h>

int ptc_emu_own(struct ptc_emu_shared *sh)
{
	pthread_mutexattr_t attr;
	int sys = pthread_mutexattr_init(&attr);

	if (sys)
		return sys;
	sys = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!sys)
		sys = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (!sys)
		sys = pthread_mutex_init(&sh->owned, &attr);
	if (!sys)
		sys = pthread_mutex_lock(&sh->owned);
	(void)pthread_mutexattr_destroy(&attr);
	return sys;
}

void ptc_emu_disown(struct ptc_emu_shared *sh)
{
	(void)pthread_mutex_unlock(&sh->owned);
}

bool ptc_emu_owner_lives(struct ptc_emu_shared *sh)
{
	const int sys = pthread_mutex_trylock(&sh->owned);

	if (!sys || sys == EOWNERDEAD) /* the caller owns it now: unlock it for the next check */
		(void)pthread_mutex_unlock(&sh->owned);
	return sys == EBUSY;
}
