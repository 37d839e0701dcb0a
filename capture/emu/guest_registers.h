/* SPDX-License-Identifier: MIT */
/* Registers of a guest thread, from QEMU's memory. Used by the plugin and by the trace unit. */
#ifndef PTC_CAPTURE_EMU_GUEST_REGISTERS_H
#define PTC_CAPTURE_EMU_GUEST_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/emu/shm_protocol.h"

/* Where the registers of a thread are. */
struct ptc_emu_env {
	pid_t pid;	  /* QEMU's process */
	uint64_t addr;	  /* of the thread's CPUX86State; 0: unknown */
	unsigned int rip; /* index of rip in it; 0: unknown */
	uint64_t parked;  /* the thread waits before the block at this address; 0: it does not */
	bool in_call;	  /* it is in a system call */
};

/*
 * Reads the registers of a thread that is parked or in a system call. ret->slot is not set. Returns
 * false if they cannot be read: the thread may end at any time.
 */
bool ptc_emu_env_registers(const struct ptc_emu_env *e, struct ptc_emu_regs *ret);

#endif
