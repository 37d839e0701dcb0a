/* SPDX-License-Identifier: MIT */
/*
 * Lets the next program of this process attach the recording's memory. For another user the
 * segment's owner is changed for a moment. In another IPC namespace a descriptor leads to the
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/shm.h>
#include <unistd.h>

#include "capture/emu/block_store.h"
#include "capture/emu/plugin.h"

/*
 * Returns true if a program of @user could attach the recording's memory. An exec drops the
 * capabilities of a process that gave up root, so @user must own the segment.
 */
static bool may_attach(uid_t user)
{
	struct shmid_ds ds;
	void *map = shmat(ptc_emu_proc.shm_id, NULL, 0);

	if (map == (void *)-1 || shmdt(map) || shmctl(ptc_emu_proc.shm_id, IPC_STAT, &ds))
		return false;
	return !user || user == ds.shm_perm.uid || user == ds.shm_perm.cuid;
}

/*
 * Takes the turn to ask for a grant. Only one user at a time may have it, until that user's program
 * has started.
 */
static bool take_turn(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	unsigned int holder = 0;

	while (!atomic_compare_exchange_strong(&sh->granting, &holder, (unsigned int)getpid())) {
		if (ptc_emu_stopped())
			return false;
		if (kill((pid_t)holder, 0) && errno == ESRCH) /* the holder died in its exec */
			(void)atomic_compare_exchange_strong(&sh->granting, &holder, 0);
		else
			ptc_emu_await(&sh->granting, holder);
		holder = 0;
	}
	return true;
}

/* Asks the trace unit, in the process that owns the memory, to make @user its owner. */
static void ask_for_grant(uid_t user)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	unsigned int mine, seen;

	atomic_store(&sh->grant_uid, user);
	mine = atomic_fetch_add(&sh->grants_asked, 1) + 1;
	while (!ptc_emu_stopped()) {
		seen = atomic_load(&sh->grants_given);
		if ((int)(seen - mine) >= 0)
			break;
		ptc_emu_await(&sh->grants_given, seen);
	}
}

void ptc_emu_end_turn(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	unsigned int holder = (unsigned int)getpid();

	if (atomic_compare_exchange_strong(&sh->granting, &holder, 0))
		ptc_emu_wake(&sh->granting);
}

static bool may_read_plugin(void)
{
	return !faccessat(AT_FDCWD, ptc_emu_proc.plugin, R_OK, AT_EACCESS);
}

/*
 * Opens the recording's memory through this process's mapping, which works from any IPC namespace.
 * It needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; unshare(CLONE_NEWIPC) also needs CAP_SYS_ADMIN.
 * Returns -1 on failure.
 */
static int open_mapping(void)
{
	const uint64_t start = (uint64_t)(uintptr_t)ptc_emu_proc.sh;
	const uint64_t size = ptc_emu_segment_size(ptc_emu_proc.sh->arena_size);
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, start,
		       start + size);
	return open(path, O_RDWR); /* without O_CLOEXEC: inherited by the exec */
}

bool ptc_emu_is_in_reach(int *ret_fd)
{
	const uid_t user = geteuid();

	*ret_fd = -1;
	if (!may_attach(user)) {
		*ret_fd = open_mapping();
		if (*ret_fd >= 0)
			return may_read_plugin();
		if (!take_turn())
			return false;
		ask_for_grant(user);
		if (!may_attach(user)) { /* another IPC or user namespace */
			ask_for_grant(PTC_EMU_NOBODY);
			return false;
		}
	}
	return may_read_plugin();
}
