/* SPDX-License-Identifier: MIT */
#include "capture/emu/shm_segment.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "base/err.h"
#include "capture/emu/block_store.h"

int ptc_emu_segment_new(uint64_t arena, int *ret_id, struct ptc_emu_shared **ret,
			struct ptc_err *err)
{
	const int id =
		shmget(IPC_PRIVATE, ptc_emu_segment_size(arena), IPC_CREAT | SHM_NORESERVE | 0600);
	void *map = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (map == (void *)-1)
		(void)ptc_fail_sys(err, errno, "cannot share memory with the emulator");
	if (id >= 0)
		(void)shmctl(id, IPC_RMID, NULL);
	if (map == (void *)-1)
		return err->code;
	*ret_id = id;
	*ret = map;
	(*ret)->version = PTC_EMU_VERSION;
	return 0;
}
